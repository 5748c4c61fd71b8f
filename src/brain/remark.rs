//! What a person says of a decision later: a reason, and that the words which it kept out are told nobody any more.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::plural;
use crate::review::kept_out::digest;
use crate::review::page::visible;
use crate::review::{Remark, ReviewRecord};
use crate::store::{LockName, is_agents_address, is_unnamed};

/// What is said of a decision: a reason or that its words are forgotten, or both.
#[derive(Clone, Debug, Default)]
pub struct RemarkRequest {
    /// The run that was decided on, by its id or a part of it.
    pub run: String,
    /// The reason from now on.
    pub why: Option<String>,
    /// Tell nobody any more what was kept out.
    pub forget: bool,
    /// The run by which a rejection is taken back.
    pub again: Option<RunId>,
    /// Write nothing.
    pub dry_run: bool,
}

impl RemarkRequest {
    /// To tell nobody any more what a decision on that run kept out.
    pub(super) fn forget(run: &RunId) -> Self {
        Self { run: run.to_string(), forget: true, ..Self::default() }
    }
}

/// What was said of a decision.
#[derive(Clone, Debug, Serialize)]
pub struct RemarkReport {
    /// The run.
    pub run: String,
    /// The decision on it.
    pub review: String,
    /// The remark's id, in `refs/brain/reviews`; null where nothing had to be said.
    pub remark: Option<String>,
    /// Who says so.
    pub by: String,
    /// The reason as it is told now.
    pub why: String,
    /// Statements that are told nobody any more.
    pub forgotten: usize,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl Brain {
    /// Says something of the decision on a run, beside the decision, which stays as it was written. Nothing is learnt by it, and what was decided
    /// stays decided.
    ///
    /// # Errors
    /// Nobody has decided on such a run (2); somebody else has (3).
    pub fn remark_on(&self, request: &RemarkRequest) -> Result<RemarkReport, BrainError> {
        if self.cycle.shared.world.in_hook() {
            return Err(BrainError::Refused {
                message: "nothing was said: git-brain started this program (BRAIN_IN_HOOK is set), and only a person speaks of decisions".to_owned(),
                hint: Some("`git brain review --decided` in a terminal of yours".to_owned()),
            });
        }
        let _alone = self.cycle.store.lock(LockName::Review)?;
        self.remark_alone(request)
    }

    /// The same, by whoever has the lock of decisions.
    pub(super) fn remark_alone(&self, request: &RemarkRequest) -> Result<RemarkReport, BrainError> {
        let review = self.decision_named(&request.run)?;
        let (name, address) = self.deciding_person()?;
        let why = request.why.as_deref().unwrap_or_default();
        let why = visible(&self.cycle.shared.secrets.redact(why.trim()));
        if why.len() > limits::CONCEPT_BYTES {
            let most = limits::CONCEPT_BYTES;
            return Err(BrainError::usage(format!("--why has {} bytes, the limit is {most}", why.len())));
        }
        // Whoever takes words back takes them back from every decision on the run, of which only one stands.
        let others = match request.forget {
            true => self.cycle.reviews_of(&review.run)?,
            false => Vec::new(),
        };
        let is_own = address == review.address();
        if !is_own && (!why.is_empty() && request.again.is_none() || !self.cycle.may_forget(&address)?) {
            return Err(BrainError::Refused {
                message: format!(
                    "{} was decided on by {}, and {address} has nothing to say of it",
                    review.run, review.reviewer
                ),
                hint: Some(
                    "the reason is given by the person who decided; `--forget` is for all who may decide".to_owned(),
                ),
            });
        }
        let told = self.cycle.with_remarks(review.clone())?;
        let forgets: Vec<String> = match request.forget {
            true => told.declined.0.iter().map(|said| digest(&review.review, said)).collect(),
            false => Vec::new(),
        };
        let why = if why == told.why { String::new() } else { why };
        let (mut notes, mut remark) = (Vec::new(), None);
        if why.is_empty() && forgets.is_empty() {
            notes.push(format!("{}: that is what is told already", review.run));
        } else {
            let new = Remark {
                remark: self.new_persons_run(&["remark", review.review.as_str()])?,
                review: review.review.clone(),
                run: review.run.clone(),
                by: format!("{name} <{address}>"),
                at: self.cycle.shared.world.now(),
                why: why.clone(),
                again: request.again.clone(),
                forgets: forgets.clone(),
            };
            if !request.dry_run {
                self.cycle.add_remark(&new)?;
            }
            remark = Some(new.remark.to_string()).filter(|_| !request.dry_run);
        }
        let mut taken_back = forgets.len();
        for other in others.into_iter().filter(|other| other.review != review.review) {
            let told = self.cycle.with_remarks(other)?;
            let forgets: Vec<String> = told.declined.0.iter().map(|said| digest(&told.review, said)).collect();
            if forgets.is_empty() {
                continue;
            }
            taken_back += forgets.len();
            let new = Remark {
                remark: self.new_persons_run(&["remark", told.review.as_str()])?,
                review: told.review.clone(),
                run: told.run.clone(),
                by: format!("{name} <{address}>"),
                at: self.cycle.shared.world.now(),
                why: String::new(),
                again: None,
                forgets,
            };
            if !request.dry_run {
                self.cycle.add_remark(&new)?;
                self.cycle.store.drop_refused(&told.commit)?;
                remark = remark.or(Some(new.remark.to_string()));
            }
        }
        if taken_back > forgets.len() {
            notes.retain(|note| !note.ends_with("told already"));
        }
        if !why.is_empty() {
            notes.push(format!("{}: the reason is {why:?} from now on; nothing is learnt twice", review.run));
        }
        if request.forget && !request.dry_run {
            self.cycle.store.drop_refused(&review.commit)?;
        }
        if taken_back > 0 {
            let (count, run) = (plural(taken_back, "statement", "statements"), &review.run);
            let is = if taken_back == 1 { "is" } else { "are" };
            notes.push(format!(
                "{count} of {run} {is} kept back from now on, elsewhere with the next sync; git keeps what it had before: docs/review.md, \"Taking words back\""
            ));
        }
        Ok(RemarkReport {
            run: review.run.to_string(),
            review: review.review.to_string(),
            remark,
            by: format!("{name} <{address}>"),
            why: if why.is_empty() { told.why } else { why },
            forgotten: taken_back,
            notes,
            dry_run: request.dry_run,
        })
    }

    /// Name and address of the person who decides here: an agent decides nothing, and neither does a committer whom git cannot name.
    pub(super) fn deciding_person(&self) -> Result<(String, String), BrainError> {
        let (name, address) = self.cycle.store.user();
        let why = if is_unnamed(&address) {
            "git names no committer here, and a decision is a person's".to_owned()
        } else if is_agents_address(&address) {
            format!("{address} is an agent's address, and agents review nothing")
        } else {
            return Ok((name, address));
        };
        Err(BrainError::Refused {
            message: why,
            hint: Some(
                "`git config user.name NAME` and `git config user.email ADDRESS` name the person who decides"
                    .to_owned(),
            ),
        })
    }

    /// The decision that stands on a run which a person names.
    pub(super) fn decision_named(&self, name: &str) -> Result<ReviewRecord, BrainError> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let run = match RunId::parse(last) {
            Ok(run) => Some(run),
            Err(_) => self.cycle.decided_like(last)?,
        };
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let review = run.map(|run| self.cycle.decision_that_stands(&network, &run)).transpose()?.flatten();
        review.ok_or_else(|| BrainError::Usage {
            message: format!("{name}: no decision on such a run is known here"),
            hint: Some(
                "`git brain review --decided` lists decisions; of a run that waits, `approve` and `reject` take --why and --forget".to_owned(),
            ),
        })
    }
}
