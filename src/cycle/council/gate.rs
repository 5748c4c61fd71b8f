//! Councils that decide on runs: the question about a run, which follows from its commit alone, and whether a decision that cites a council is
//! its own.

use std::collections::BTreeMap;

use super::outlines::CouncilOutline;
use crate::council::gate::{Asked, Gate, GateFault, Subject};
use crate::council::record::{Council, CouncilRecord};
use crate::council::vote::Decision;
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::WaitingRun;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout;
use crate::model::settings::Review;
use crate::model::within;
use crate::review::record::COUNCIL_SAYS;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{Commit, CommitId};
use crate::world::is_signed;

/// Councils that were asked about a run before.
#[derive(Clone, Debug)]
pub struct AskedBefore {
    /// The one that had its say: the first that decided, else the first that left the run to people.
    pub stands: Option<Council>,
    /// When one was asked last of which too few members voted, milliseconds since 1970.
    pub tried_ms: Option<i64>,
}

/// The question about a run, and words that memories are recalled by.
#[derive(Clone, Debug)]
pub struct RunQuestion {
    /// The question, whole.
    pub question: String,
    /// The texts that the run brings.
    pub cue: String,
}

impl Cycle {
    /// The question whether a run shall land: its record and the words that it rests on, from its commit alone, so that every machine that has
    /// the commit makes the same. `None`: it is too long to be shown whole.
    pub fn question_of_commit(&self, run: &RunId, own: &Commit) -> Result<Option<RunQuestion>, CycleError> {
        let path = layout::run(run);
        let Some(file) = self.store.file(own.tree, &path)? else { return Ok(None) };
        let bytes = self.store.read_file(file, &path)?;
        let Some(record) = self.record_in(own.tree, run)? else { return Ok(None) };
        let mut question = format!(
            "Shall the run {run} of {} land, as it is in commit {}?\n\nIts record:\n{}",
            record.agent,
            own.id,
            String::from_utf8_lossy(&bytes)
        );
        let network = TreeNetwork::new(&self.store, own.tree);
        let mut cue: Vec<String> = Vec::new();
        for id in &record.stimuli {
            if let Some(stimulus) = network.stimulus_ever(id)? {
                question += &format!("\nIt rests on {id}, from {}:\n{}\n", stimulus.origin, stimulus.text);
                cue.push(stimulus.text);
            }
            if question.len() > limits::COUNCIL_RUN_BYTES {
                return Ok(None);
            }
        }
        for effect in &record.effects {
            cue.extend(effect.created.as_ref().map(|made| made.concept.clone()));
            cue.extend(effect.concept.as_ref().map(|(_, after)| after.value.clone()));
        }
        let mut cue = cue.join("\n");
        cue.truncate(within(&cue, limits::COUNCIL_QUESTION_BYTES).len());
        Ok((question.len() <= limits::COUNCIL_RUN_BYTES).then_some(RunQuestion { question, cue }))
    }

    /// The council that main has decide on runs that wait by that rule; `None`: people alone decide.
    ///
    /// # Errors
    /// Its document is missing, cannot be read, or names too few keys.
    pub fn gate_of(&self, settings: &Review, rule: Option<&str>) -> Result<Option<(String, Gate)>, CycleError> {
        let Some(path) = settings.council_of(rule) else { return Ok(None) };
        let refused = |message: String| CycleError::Refused {
            message,
            hint: Some("people decide meanwhile: `git brain approve RUN`".to_owned()),
        };
        let Some(seats) = settings.seats.get(path) else {
            return Err(refused(format!(
                "[review] names the council {path}, and {} has no such file",
                self.store.main()
            )));
        };
        let gate = Gate::read(seats).map_err(|fault| refused(fault.to_string()))?;
        match gate.lacks_keys() {
            Some(why) => Err(CycleError::Refused {
                message: format!("the council of {path} cannot decide on runs: {why}"),
                hint: Some(
                    "`git brain council --keys` prints the keys that are kept here, for `key` of the members"
                        .to_owned(),
                ),
            }),
            None => Ok(Some((path.to_owned(), gate))),
        }
    }

    /// The council with that thread, without what people said of it.
    pub fn council_record(&self, council: &RunId) -> Result<Option<CouncilRecord>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(None) };
        let path = CouncilRecord::path_of(council);
        let Some(file) = self.store.file(self.store.tree_of(tip)?, &path)? else { return Ok(None) };
        Ok(Some(CouncilRecord::decode(&self.store.read_file(file, &path)?, &path)?))
    }

    /// Councils about a commit of a run whose votes are bound to it, oldest first.
    pub fn councils_on(&self, run: &RunId, commit: &CommitId) -> Result<Vec<Council>, CycleError> {
        let (commit, outlines) = (commit.to_string(), self.council_outlines()?);
        let is_its = |outline: &&CouncilOutline| {
            outline.is_bound && outline.run.as_ref() == Some(run) && outline.commit.as_deref() == Some(&commit)
        };
        self.councils_of(outlines.iter().filter(is_its))
    }

    /// Councils of a document that were asked about a waiting run before.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn asked_before(
        &self,
        waiting: &WaitingRun,
        gate: &Gate,
        settings: &Review,
        rule: Option<&str>,
    ) -> Result<AskedBefore, CycleError> {
        let mut before = AskedBefore { stands: None, tried_ms: None };
        for council in self.councils_on(&waiting.run, &waiting.commit.id)? {
            match gate.asked(&council.record, &is_signed) {
                Asked::Elsewhere => {}
                Asked::TooFew => before.tried_ms = before.tried_ms.max(Some(council.record.at_ms)),
                Asked::Whole => {
                    let decides = self.decision_of(&council.record, settings, rule)?.is_ok();
                    if decides || before.stands.is_none() {
                        before.stands = Some(council);
                    }
                    if decides {
                        break;
                    }
                }
            }
        }
        Ok(before)
    }

    /// The reason that members of a gate cannot decide when they are asked on this machine; `None`: they can.
    ///
    /// # Errors
    /// The document cannot be read; no key can be made.
    pub fn lacks_kept_keys(&self, gate: &Gate, path: &str) -> Result<Option<String>, CycleError> {
        let kept: BTreeMap<String, String> =
            self.kept_keys(Some(path))?.into_iter().map(|key| (key.member, key.kept)).collect();
        Ok(gate.lacks_kept(|id| kept.get(id.as_str()).cloned()))
    }

    /// What a council has decided on the run that it is about, by the council that those settings name for a rule.
    ///
    /// # Errors
    /// The inner one is the reason why it decides nothing.
    pub fn decision_of(
        &self,
        record: &CouncilRecord,
        settings: &Review,
        rule: Option<&str>,
    ) -> Result<Result<Decision, GateFault>, CycleError> {
        let (Some(run), Some(commit)) = (&record.run, &record.commit) else { return Ok(Err(GateFault::Unbound)) };
        let seats = settings.council_of(rule).and_then(|path| settings.seats.get(path));
        let Some(seats) = seats else {
            return Ok(Err(GateFault::Document("[review] names none that is there".to_owned())));
        };
        let gate = match Gate::read(seats) {
            Ok(gate) => gate,
            Err(fault) => return Ok(Err(fault)),
        };
        // What is here is held against the question; where the commit never came, its id in the question has to do.
        let own = CommitId::parse(commit).ok().and_then(|id| self.store.commit(id).ok());
        let question = match &own {
            Some(own) => match self.question_of_commit(run, own)? {
                Some(question) => Some(question.question),
                None => return Ok(Err(GateFault::OtherSubject)),
            },
            None => None,
        };
        Ok(gate.decided(record, &Subject { run, commit, question }, &is_signed))
    }

    /// Whether a decision that cites a council is what that council decided, as every machine can judge it.
    pub fn is_by_council(
        &self,
        review: &ReviewRecord,
        council: &RunId,
        settings: &Review,
        rule: Option<&str>,
    ) -> Result<bool, CycleError> {
        let record = match self.council_record(council) {
            Err(CycleError::Json(_)) => return Ok(false),
            record => record?,
        };
        let Some(record) = record else { return Ok(false) };
        let is_its = record.run.as_ref() == Some(&review.run)
            && record.commit.as_deref() == Some(review.commit.as_str())
            && record.by == review.reviewer
            && review.via == format!("{COUNCIL_SAYS}{}", record.id);
        let wanted = match review.verdict {
            Verdict::Approve => Decision::Approve,
            Verdict::Reject => Decision::Reject,
            Verdict::Amend => return Ok(false),
        };
        Ok(is_its && self.decision_of(&record, settings, rule)? == Ok(wanted))
    }
}
