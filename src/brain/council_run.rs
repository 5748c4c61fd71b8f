//! A council that decides on a run that waits, where `[review] council` of main names one.

use std::time::Duration;

use super::council::{CouncilReport, Verdict as CouncilVerdict};
use super::{Brain, BrainError, ReviewRequest};
use crate::council::record::{Council, CouncilRecord};
use crate::council::vote::Decision;
use crate::cycle::council::Convened;
use crate::cycle::reviewing::WaitingRun;
use crate::limits;
use crate::model::settings::Review;
use crate::model::within;
use crate::review::record::COUNCIL_SAYS;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{Lock, LockName, is_agents_address};

impl Brain {
    /// The council that decides on a waiting run, with the rule by which it waits; `None`: people alone do.
    pub(super) fn council_for(&self, waiting: &WaitingRun) -> Result<Option<(Review, Option<String>)>, BrainError> {
        let (settings, rule) = (self.cycle.review_of_main()?, self.cycle.rule_of(waiting)?);
        Ok(settings.council_of(rule.as_deref()).is_some().then_some((settings, rule)))
    }

    /// Puts a run that waits to the council that main names, and carries out its decision. Cut off behind the verdict, the same call goes on there.
    /// `turn` is held until the record is kept, so that another command on this machine finds it.
    pub(super) fn council_decides(
        &self,
        waiting: &WaitingRun,
        (settings, rule): &(Review, Option<String>),
        timeout_ms: u64,
        dry_run: bool,
        turn: Lock,
    ) -> Result<CouncilReport, BrainError> {
        let (run, rule) = (&waiting.run, rule.as_deref());
        if self.cycle.shared.world.in_hook() {
            return Err(BrainError::Refused {
                message: "nothing was asked: git-brain started this program (BRAIN_IN_HOOK is set), and it may put no run to a council".to_owned(),
                hint: Some(format!("`git brain council --branch {run}` in a terminal of yours")),
            });
        }
        let Some((path, gate)) = self.cycle.gate_of(settings, rule)? else {
            return Err(BrainError::refused(format!("people alone decide on {run}")));
        };
        for review in self.cycle.reviews_of(run)?.iter().filter(|review| review.council.is_none()) {
            if review.commit == waiting.commit.id.to_string() && self.cycle.counts(review, settings, rule)? {
                let (done, by) = (review.verdict.done(), &review.reviewer);
                return Err(BrainError::refused(format!(
                    "{run} was {done} by {by}, and a council decides nothing against a person"
                )));
            }
        }
        let commit = waiting.commit.id.to_string();
        let before = self.cycle.asked_before(run, &commit, &gate)?;
        if let Some(council) = before.stands {
            return self.goes_on(waiting, council, settings, rule, dry_run);
        }
        if before.is_spent {
            return Err(BrainError::Refused {
                message: format!(
                    "the members of {path} were asked about {run} {} times, and too few of them voted",
                    limits::COUNCIL_TRIES
                ),
                hint: Some(format!("`git brain approve {run}` or `git brain reject {run}` decides")),
            });
        }
        if let Some(why) = self.cycle.lacks_kept_keys(&gate, &path)? {
            return Err(BrainError::Refused {
                message: format!("no member was asked about {run}: {why}"),
                hint: Some(format!(
                    "a machine that keeps them asks: `git brain council --branch {run}`; `git brain council --keys` prints the ones here"
                )),
            });
        }
        let belief = self.cycle.belief(waiting)?;
        if !belief.conflicts.is_empty() {
            return Err(BrainError::Refused {
                message: format!(
                    "{run} conflicts with wake in {} fields, and a council settles no conflict",
                    belief.conflicts.len()
                ),
                hint: Some(format!("`git brain review {run}` shows them")),
            });
        }
        let asked = self.cycle.question_of_commit(run, &waiting.commit)?;
        let asked = asked.filter(|asked| self.cycle.shared.secrets.redact(&asked.question) == asked.question);
        let Some(asked) = asked else {
            return Err(BrainError::Refused {
                message: format!(
                    "{run} cannot be shown to a council whole: it has more than {} bytes, or a secret",
                    limits::COUNCIL_RUN_BYTES
                ),
                hint: Some(format!("`git brain review {run}` shows it, and people decide")),
            });
        };
        let record = self.cycle.hold_council(&Convened {
            council: self.new_persons_run(&["council", run.as_str()])?,
            question: &asked.question,
            document: Some(&path),
            timeout_ms,
            run: Some((run.clone(), waiting.commit.id)),
            binds: true,
            cue: Some(asked.cue.as_str()).filter(|cue| !cue.trim().is_empty()),
            by: self.asker()?,
        })?;
        if !dry_run {
            self.cycle.keep_council(&record)?;
            // Another machine's may have come in meanwhile.
            let first = self.cycle.asked_before(run, &commit, &gate)?.stands;
            if let Some(first) = first.filter(|first| first.record.council != record.council) {
                return self.goes_on(waiting, first, settings, rule, dry_run);
            }
        }
        drop(turn);
        self.carried(waiting, Council { record, closings: Vec::new(), told: None }, settings, rule, dry_run)
    }

    /// Waits until no other command on this machine asks a council about that commit.
    pub(super) fn council_turn(&self, waiting: &WaitingRun, timeout_ms: u64) -> Result<Lock, BrainError> {
        let wait = Duration::from_millis(timeout_ms.saturating_add(limits::LOCK_WAIT_MS));
        Ok(self.cycle.store.lock_within(lock_of(waiting), wait)?)
    }

    /// Puts runs that wait to the council that decides on them, and carries out decisions of councils that this person asked. A sentence for each; an
    /// error of one stops no other, and a council whose members may not be asked here, or whose keys lie elsewhere, is left alone.
    pub(super) fn ask_councils(&self) -> Result<Vec<String>, BrainError> {
        let settings = self.cycle.review_of_main()?;
        if settings.councils().next().is_none() || self.cycle.shared.world.in_hook() {
            return Ok(Vec::new());
        }
        let mut said = Vec::new();
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            let Ok(waiting) = self.cycle.waiting_run(branch, tip, run) else { continue };
            let Some(gate) = self.council_for(&waiting)? else { continue };
            let path = gate.0.council_of(gate.1.as_deref()).unwrap_or_default();
            // Another command that asks about it now also carries the decision out.
            let Some(turn) = self.cycle.store.try_lock(lock_of(&waiting))? else { continue };
            if !self.is_due(&waiting, &gate, path)? {
                continue;
            }
            said.push(match self.council_decides(&waiting, &gate, limits::COUNCIL_TIMEOUT_S * 1000, false, turn) {
                Ok(CouncilReport { carried: Some(done), id, .. }) => {
                    format!("council {id} {} {}", done.verdict.done(), waiting.run)
                }
                Ok(report) if report.note.as_deref().is_some_and(|note| note.starts_with(KEYS_ELSEWHERE)) => {
                    format!("council {}: {}", report.id, report.note.unwrap_or_default())
                }
                Ok(report) => {
                    let why = report.verdict.concerns.first().map(|concern| concern.sentence.clone()).or(report.note);
                    format!("council {} leaves {} to people: {}", report.id, waiting.run, why.unwrap_or_default())
                }
                Err(error) => format!("no council decides on {}: {error}", waiting.run),
            });
        }
        Ok(said)
    }

    /// Whether `git brain run` puts a run to its council: no council was asked, or too few of its members voted and that was a while ago, or one that
    /// this person asked decided and its decision was not carried out.
    fn is_due(
        &self,
        waiting: &WaitingRun,
        (settings, rule): &(Review, Option<String>),
        path: &str,
    ) -> Result<bool, BrainError> {
        let reviews = self.cycle.reviews_of(&waiting.run)?;
        if reviews.iter().any(|review| review.council.is_none()) {
            return Ok(false);
        }
        let gate = match self.cycle.gate_of(settings, rule.as_deref()) {
            // Said once more by the call itself.
            Err(_) => return Ok(reviews.is_empty() && self.cycle.may_ask_council(path)?),
            Ok(None) => return Ok(false),
            Ok(Some((_, gate))) => gate,
        };
        let before = self.cycle.asked_before(&waiting.run, &waiting.commit.id.to_string(), &gate)?;
        if let Some(council) = before.stands {
            let decides = self.cycle.decision_of(&council.record, settings, rule.as_deref())?.is_ok();
            return Ok(decides && council.record.by == self.asker()?);
        }
        let again_ms = before.tried_ms.map_or(0, |at| at.saturating_add(limits::COUNCIL_AGAIN_MS));
        Ok(reviews.is_empty()
            && !before.is_spent
            && self.cycle.shared.world.now_ms() >= again_ms
            && self.cycle.may_ask_council(path)?
            && self.cycle.lacks_kept_keys(&gate, path)?.is_none())
    }

    /// The person that asks a council.
    pub(super) fn asker(&self) -> Result<String, BrainError> {
        let (_, address) = self.cycle.store.user();
        if is_agents_address(&address) {
            return Err(BrainError::Refused {
                message: format!("{address} is an agent's address, and agents ask no council"),
                hint: Some("`git config user.email` names the person who asks".to_owned()),
            });
        }
        Ok(self.cycle.store.person())
    }

    /// A council was asked about this commit already: its decision is carried out, and it is not asked again until it likes the run.
    fn goes_on(
        &self,
        waiting: &WaitingRun,
        council: Council,
        settings: &Review,
        rule: Option<&str>,
        dry_run: bool,
    ) -> Result<CouncilReport, BrainError> {
        let record = &council.record;
        if self.cycle.decision_of(record, settings, rule)?.is_err() {
            return Err(BrainError::Refused {
                message: format!(
                    "council {} was asked about {} already, and left it to people",
                    record.id, waiting.run
                ),
                hint: Some(format!("`git brain approve {0}` or `git brain reject {0}` decides", waiting.run)),
            });
        }
        let asker = self.asker()?;
        if record.by != asker {
            return Err(BrainError::refused(format!(
                "council {} decided on {}, and {} who asked it carries that out",
                record.id, waiting.run, record.by
            )));
        }
        self.carried(waiting, council, settings, rule, dry_run)
    }

    fn carried(
        &self,
        waiting: &WaitingRun,
        council: Council,
        settings: &Review,
        rule: Option<&str>,
        dry_run: bool,
    ) -> Result<CouncilReport, BrainError> {
        let record = &council.record;
        let decision = self.cycle.decision_of(record, settings, rule)?;
        let (mut carried, mut note) = (None, None);
        let mut unsigned: Vec<String> = record.without_kept_key().map(ToString::to_string).collect();
        unsigned.sort();
        match decision {
            Ok(Decision::Approve | Decision::Reject) if dry_run => {}
            Ok(decision @ (Decision::Approve | Decision::Reject)) => {
                let verdict = if decision == Decision::Approve { Verdict::Approve } else { Verdict::Reject };
                let why = reasons(&record.verdict);
                let request = ReviewRequest {
                    via: format!("{COUNCIL_SAYS}{}", record.id),
                    council: Some(record.council.clone()),
                    seen: Some(waiting.commit.id.to_string()),
                    ..ReviewRequest::new(waiting.branch.as_str(), verdict, &why)
                };
                carried = Some(self.decide_run(&request)?);
            }
            Ok(Decision::Abstain) => {}
            Err(_) if !unsigned.is_empty() => {
                let (who, run) = (unsigned.join(", "), &waiting.run);
                note = Some(format!(
                    "{KEYS_ELSEWHERE} of {who} are not kept on this machine, and they sign no vote by themselves: {run} waits for a machine that keeps them, or for people"
                ));
            }
            Err(fault) => note = Some(format!("{} waits for people: {fault}", waiting.run)),
        }
        let mut report = self.council_view(council, dry_run)?;
        (report.carried, report.note) = (carried, note);
        Ok(report)
    }

    /// The decision of a council as the file that is kept of it: everything in it follows from the council, so that two machines write the same.
    pub(super) fn review_of_council(&self, review: ReviewRecord) -> Result<ReviewRecord, BrainError> {
        let Some(council) = &review.council else { return Ok(review) };
        let unknown = || BrainError::refused(format!("{} is not known here", review.via));
        let record: CouncilRecord = self.cycle.council_record(council)?.ok_or_else(unknown)?;
        Ok(ReviewRecord {
            review: ReviewRecord::id_by_council(council, &review.run, &review.commit),
            at: crate::model::Stamp::from_unix(record.at_ms.div_euclid(1000)),
            reviewer: record.by,
            of: 0,
            ..review
        })
    }
}

/// Beginning of a note on members whose votes went unsigned for lack of their keys.
const KEYS_ELSEWHERE: &str = "the keys that the document names for votes";

/// The lock under which councils are asked about the commit of a run.
fn lock_of(waiting: &WaitingRun) -> LockName {
    let last = waiting.commit.id.to_string().chars().next_back().and_then(|digit| digit.to_digit(16));
    let number = last.and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0);
    LockName::Council(number % limits::COUNCIL_LOCKS)
}

/// The reasons of those for a decision, as far as they fit.
fn reasons(verdict: &CouncilVerdict) -> String {
    let said: Vec<String> = verdict.support.iter().map(|one| format!("{}: {}", one.member, one.reasoning)).collect();
    within(&said.join("; "), limits::CONCEPT_BYTES).to_owned()
}
