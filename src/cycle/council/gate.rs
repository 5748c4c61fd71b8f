//! Councils that decide on runs: the question about a run, which follows from its commit alone, and whether a decision that cites a council is
//! its own.

use std::collections::BTreeMap;

use super::outlines::CouncilOutline;
use crate::council::gate::{Asked, Gate, GateFault, Subject};
use crate::council::record::{Council, CouncilRecord};
use crate::council::vote::Decision;
use crate::cycle::network::TreeNetwork;
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
    /// The one that had its say: the first that reached the decisions of those for which enough members voted.
    pub stands: Option<Council>,
    /// When one was asked last of which too few members voted, milliseconds since 1970.
    pub tried_ms: Option<i64>,
    /// Whether the members were asked as often as they may, and too few of them voted.
    pub is_spent: bool,
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

    /// Councils about a commit of a run whose votes are bound to it, in the order in which they reached the decisions; those that came together are
    /// in the order in which they were asked.
    pub fn councils_on(&self, run: &RunId, commit: &str) -> Result<Vec<Council>, CycleError> {
        let outlines = self.council_outlines()?;
        let is_its = |outline: &&CouncilOutline| {
            outline.is_bound && outline.run.as_ref() == Some(run) && outline.commit.as_deref() == Some(commit)
        };
        let mut councils = self.councils_of(outlines.iter().filter(is_its))?;
        if councils.len() > 1
            && let Some(tip) = self.store.reviews()?
        {
            let arrivals = self.arrivals(tip)?;
            let place =
                |council: &Council| arrivals.get(&council.record.path()).map_or(usize::MAX, |(place, _)| *place);
            councils.sort_by_key(place);
        }
        Ok(councils)
    }

    /// Councils of a gate's document that were asked about a commit before.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn asked_before(&self, run: &RunId, commit: &str, gate: &Gate) -> Result<AskedBefore, CycleError> {
        let mut before = AskedBefore { stands: None, tried_ms: None, is_spent: false };
        let mut tries = 0;
        for council in self.councils_on(run, commit)? {
            let asked = gate.asked(&council.record, &is_signed);
            match asked {
                Asked::Elsewhere => {}
                Asked::TooFew | Asked::Nobody => {
                    // A machine without the keys says nothing of those who vote elsewhere.
                    if asked == Asked::TooFew || council.record.without_kept_key().next().is_none() {
                        before.tried_ms = before.tried_ms.max(Some(council.record.at_ms));
                    }
                    tries += usize::from(asked == Asked::TooFew);
                    before.is_spent = tries >= limits::COUNCIL_TRIES;
                }
                Asked::Whole => before.stands = Some(council),
            }
            if before.stands.is_some() || before.is_spent {
                break;
            }
        }
        Ok(before)
    }

    /// The reason that a council whose votes decide decides nothing on the run that they are bound to, by the council that main names; `None`: it
    /// decides, is about no run, or main has another document now.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn withheld(&self, record: &CouncilRecord) -> Result<Option<String>, CycleError> {
        let (Some(run), Some(commit)) = (&record.run, &record.commit) else { return Ok(None) };
        if !record.may_decide() || record.verdict.escalates() {
            return Ok(None);
        }
        let (settings, mut why) = (self.review_of_main()?, None);
        for rule in std::iter::once(None).chain(settings.rule.iter().map(|rule| Some(rule.name.as_str()))) {
            let Some(Ok(gate)) = settings.seats_of(rule).map(Gate::read) else { continue };
            match self.decision_of(record, &settings, rule)? {
                Ok(_) => match self.asked_before(run, commit, &gate)? {
                    AskedBefore { stands: Some(first), .. } if first.record.council != record.council => {
                        why = Some(format!("council {} had its say on that commit before", first.record.id));
                    }
                    AskedBefore { is_spent: true, .. } => {
                        why = Some("its members had been asked as often as they may".to_owned());
                    }
                    _ => return Ok(None),
                },
                Err(fault @ GateFault::Undecided(_)) => why = Some(fault.to_string()),
                Err(_) => {}
            }
        }
        Ok(why)
    }

    /// The reason that members of a gate cannot decide when they are asked on this machine; `None`: they can. That a program leaves its vote
    /// unsigned is known once a council has said so.
    ///
    /// # Errors
    /// The document cannot be read; no key can be made.
    pub fn lacks_kept_keys(&self, gate: &Gate, path: &str) -> Result<Option<String>, CycleError> {
        let kept: BTreeMap<String, String> =
            self.kept_keys(Some(path))?.into_iter().map(|key| (key.member, key.kept)).collect();
        let outlines = self.council_outlines()?;
        let by_it = outlines.iter().filter(|outline| outline.document == gate.source());
        let unsigned = by_it.flat_map(|outline| &outline.without_kept_key).cloned().collect();
        Ok(gate.lacks_kept(|id| kept.get(id.as_str()).cloned(), &unsigned))
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
        let Some(seats) = settings.seats_of(rule) else {
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

    /// Whether a decision is what the first council of its document decided on that commit.
    pub fn is_by_first_council(
        &self,
        review: &ReviewRecord,
        settings: &Review,
        rule: Option<&str>,
    ) -> Result<bool, CycleError> {
        let Some(council) = &review.council else { return Ok(false) };
        if !self.is_by_council(review, council, settings, rule)? {
            return Ok(false);
        }
        let Some(Ok(gate)) = settings.seats_of(rule).map(Gate::read) else { return Ok(false) };
        let first = self.asked_before(&review.run, &review.commit, &gate)?.stands;
        Ok(first.is_some_and(|first| first.record.council == *council))
    }

    /// Whether a decision that cites a council is what that council decided, as every machine can judge it. Another may have had its say before.
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
