//! A decision about a run that waits, as it is asked for and as it is reported.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::WaitingRun;
use crate::delta::{Effect, Operation, RunRecord};
use crate::merge::Conflict;
use crate::model::ids::{NeuronId, RunId};
use crate::review::belief::worth;
use crate::review::part::part_of;
use crate::review::{Resolution, ReviewRecord, Take, Verdict};

/// What a person decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReviewRequest {
    /// The run, by its branch or its id.
    pub run: String,
    /// Approve or reject; what is kept or edited makes an approval an amendment.
    pub verdict: Verdict,
    /// Why, in words.
    pub why: String,
    /// The numbers of the operations that land, from 1; empty: all.
    pub only: Vec<usize>,
    /// Conflicts that are settled: `run`, `wake`, or `N=run`.
    pub take: Vec<String>,
    /// What lands instead, as a delta document.
    pub document: Option<String>,
    /// The commit that was looked at: the decision is refused if the branch has moved since.
    pub seen: Option<String>,
    /// Where the decision was made: `cli`, or the address of a request.
    pub via: String,
    /// Who decided there, as the settings name such people: `github:anna`. Absent: the person at this machine.
    pub on_behalf: Option<String>,
    /// The council that decided. Its record has to say so.
    pub council: Option<RunId>,
    /// Keep the words that do not land out of the decision: nobody is told them.
    pub forget: bool,
    /// Write nothing.
    pub dry_run: bool,
}

impl ReviewRequest {
    /// A decision about a whole run, made here.
    pub fn new(run: &str, verdict: Verdict, why: &str) -> Self {
        Self {
            run: run.to_owned(),
            verdict,
            why: why.to_owned(),
            only: Vec::new(),
            take: Vec::new(),
            document: None,
            seen: None,
            via: "cli".to_owned(),
            on_behalf: None,
            council: None,
            forget: false,
            dry_run: false,
        }
    }
}

/// What came of a decision.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewReport {
    /// The run.
    pub run: String,
    /// Its branch; gone once the decision is carried out.
    pub branch: String,
    /// What was decided.
    pub verdict: Verdict,
    /// The review's id, in `refs/brain/reviews`.
    pub review: String,
    /// Who decided.
    pub reviewer: String,
    /// Of an amendment, the run that landed in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
    /// What the run had expected, if it expected something.
    pub expected: Option<f64>,
    /// What the decision is worth, 0..=1.
    pub value: f64,
    /// The prediction error that its pathway learns from; null where nothing is learnt.
    pub error: Option<f64>,
    /// Connections that learn from it.
    pub credited: usize,
    /// Whether a rejection is recorded for all machines.
    pub everywhere: bool,
    /// Words that do not land, as machines that sync and agents are told of them.
    pub told: Vec<String>,
    /// Statements that do not land and whose words the decision does not keep.
    pub forgotten: usize,
    /// Wake's tip.
    pub wake: String,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// Whether the same decision was carried out before, and nothing changed.
    pub already: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// What a person says of conflicts: `run` and `wake` speak of all, `N=run` of the one of that number.
pub(super) fn resolutions(take: &[String], conflicts: &[Conflict]) -> Result<Vec<Resolution>, BrainError> {
    let side = |word: &str| match word {
        "run" => Ok(Take::Run),
        "wake" => Ok(Take::Wake),
        _ => Err(BrainError::usage(format!("--take {word}: it is run or wake, or N=run"))),
    };
    if conflicts.is_empty()
        && let Some(word) = take.first()
    {
        return Err(BrainError::Usage {
            message: format!("--take {word}: the run conflicts with nothing, so there is nothing to settle"),
            hint: Some(
                "a rewording that another one keeps out lands by `git brain review RUN --edit`, or by a new one"
                    .to_owned(),
            ),
        });
    }
    let mut sides: Vec<Option<Take>> = vec![None; conflicts.len()];
    for word in take {
        match word.split_once('=') {
            None => {
                let side = side(word)?;
                sides.iter_mut().filter(|known| known.is_none()).for_each(|known| *known = Some(side));
            }
            Some((number, word)) => {
                let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let Some(known) = place.and_then(|place| sides.get_mut(place)) else {
                    let all = match conflicts.len() {
                        1 => "is 1 conflict".to_owned(),
                        all => format!("are {all} conflicts"),
                    };
                    return Err(BrainError::usage(format!("--take {number}={word}: there {all}")));
                };
                *known = Some(side(word)?);
            }
        }
    }
    let settled = conflicts.iter().zip(sides);
    Ok(settled
        .filter_map(|(conflict, take)| {
            Some(Resolution { neuron: conflict.neuron.clone(), field: conflict.field.clone(), take: take? })
        })
        .collect())
}

impl Brain {
    /// What came of a decision about a run that waited.
    pub(super) fn report(
        &self,
        review: &ReviewRecord,
        waiting: &WaitingRun,
        record: &RunRecord,
        learnt: Option<(f64, usize)>,
        dry_run: bool,
    ) -> Result<ReviewReport, BrainError> {
        self.report_of(review, waiting.branch.to_string(), record, learnt, dry_run)
    }

    /// The same, of a branch that may be gone.
    pub(super) fn report_of(
        &self,
        review: &ReviewRecord,
        branch: String,
        record: &RunRecord,
        learnt: Option<(f64, usize)>,
        dry_run: bool,
    ) -> Result<ReviewReport, BrainError> {
        Ok(ReviewReport {
            run: review.run.to_string(),
            branch,
            verdict: review.verdict,
            review: review.review.to_string(),
            reviewer: review.reviewer.clone(),
            landed: review.lands.as_ref().map(ToString::to_string),
            expected: record.prediction.as_ref().and_then(|prediction| prediction.value),
            value: self.worth(review, record)?,
            error: learnt.map(|(error, _)| error),
            credited: learnt.map_or(0, |(_, credited)| credited),
            everywhere: true,
            told: review.declined.0.clone(),
            forgotten: review.forgotten.len(),
            wake: self.at(None)?.to_string(),
            notes: Vec::new(),
            already: false,
            dry_run,
        })
    }

    /// What a run is worth by a decision that was carried out: a rewording that another one keeps out, or of a memory that is gone, brings
    /// nothing.
    pub(super) fn worth(&self, review: &ReviewRecord, record: &RunRecord) -> Result<f64, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let mut gone = BTreeSet::new();
        for op in &record.ops {
            if let Operation::Reword(reword) = op
                && network
                    .neuron(&reword.id)?
                    .is_none_or(|neuron| neuron.is_archived() || neuron.concept != reword.concept)
            {
                gone.insert(reword.id.clone());
            }
        }
        Ok(worth(review, record, |op| !matches!(op, Operation::Reword(reword) if gone.contains(&reword.id))))
    }

    /// Refuses to approve a run upon whose branch somebody put another commit: a decision is about one run, as it was shown.
    pub(super) fn refuse_more(&self, request: &ReviewRequest, waiting: &WaitingRun) -> Result<(), BrainError> {
        if request.verdict != Verdict::Reject {
            self.refuse_twin(waiting)?;
        }
        let is_whole = waiting.tip == waiting.commit.id
            || self.cycle.store.commit(waiting.tip)?.trailer("Review") == Some("conflict");
        if is_whole || request.verdict == Verdict::Reject {
            return Ok(());
        }
        Err(BrainError::Refused {
            message: format!("{} has another commit upon the run that waits: {}", waiting.branch, waiting.tip),
            hint: Some(format!(
                "`git update-ref refs/heads/{} {}` leaves that commit out",
                waiting.branch, waiting.commit.id
            )),
        })
    }

    /// The numbers of the operations of a waiting run that are about those neurons, by id or by concept, with what they need.
    ///
    /// # Errors
    /// A name of no neuron that the run changes (2).
    pub fn part_of(&self, run: &str, named: &[&str]) -> Result<Vec<usize>, BrainError> {
        let Some(waiting) = self.cycle.waiting_named(run)? else { return Ok(Vec::new()) };
        let record = self.cycle.waiting_record(&waiting)?;
        let mut ids = BTreeSet::new();
        for name in named {
            let is_meant = |effect: &&Effect| {
                let concept = effect.created.as_deref().map(|made| made.concept.as_str());
                let reworded = effect.concept.as_ref().map(|(_, after)| after.value.as_str());
                effect.id().is_some_and(|id| id.as_str() == *name) || concept.or(reworded) == Some(name)
            };
            let known: Vec<NeuronId> =
                record.effects.iter().filter(is_meant).filter_map(|effect| effect.id().cloned()).collect();
            if known.is_empty() {
                return Err(BrainError::usage(format!(
                    "--only {name}: neither a number nor a neuron that the run changes"
                )));
            }
            ids.extend(known);
        }
        Ok(part_of(&record, &ids))
    }
}

/// An error of a part with the numbers that its reviewer has typed.
pub(super) fn numbered_as(error: BrainError, kept: &[usize], is_part: bool) -> BrainError {
    let text = error.to_string();
    let place = text.split_once("ops[").and_then(|(_, rest)| rest.split_once(']'));
    let number = place.and_then(|(number, rest)| Some((kept.get(number.parse::<usize>().ok()?)?, rest)));
    match number.filter(|_| is_part) {
        Some((number, rest)) => BrainError::Refused {
            message: format!("operation {number}{rest}"),
            hint: Some("`--only NEURON`, by its id, takes what a belief needs with it".to_owned()),
        },
        None => error,
    }
}
