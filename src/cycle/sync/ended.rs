//! The end of texts in commits that are left out: what was taken back, archived, rejected or let in is not perceived again.
//! Place in the flow: what is left out → **ended** → `again`.

use std::collections::{BTreeMap, BTreeSet};

use crate::cycle::network::TreeNetwork;
use crate::cycle::revert::replacer;
use crate::cycle::{Cycle, CycleError, HUMAN};
use crate::delta::{Operation, RunRecord};
use crate::model::ids::{RunId, StimulusId, episode_id};
use crate::review::{LESSON, Verdict};
use crate::store::{CommitId, TreeId};

/// The end of a text in what is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The memory of it was taken back, archived or rejected, in a word: it is not perceived again.
    Gone(&'static str),
    /// A decision let it in, which is carried out again.
    LetIn,
}

/// The records that are left out, each with the commit that brings it.
pub(super) type Records = [(CommitId, RunRecord)];

impl Cycle {
    /// The runs of agents that are left out, that the person here approved, and that nobody took back; `was`: wake as it was.
    pub(super) fn approved_of(&self, records: &Records, was: TreeId) -> Result<Vec<RunId>, CycleError> {
        let taken_back = self.reverted(was)?;
        let (_, person) = self.store.user();
        let mut approved = Vec::new();
        for (_, record) in records {
            if record.agent.as_str() == HUMAN || record.is_left_over() || taken_back.contains_key(&record.run) {
                continue;
            }
            for review in self.reviews_of(&record.run)? {
                let is_own = review.verdict == Verdict::Approve && review.address() == person;
                if is_own && review.council.is_none() && self.counts_for_its_run(&review)? {
                    approved.push(record.run.clone());
                    break;
                }
            }
        }
        Ok(approved)
    }

    /// The texts that are left out and need not be perceived again; `let_in`: the runs that were approved and are let in again.
    pub(super) fn ended(
        &self,
        records: &Records,
        was: TreeId,
        let_in: &BTreeSet<RunId>,
    ) -> Result<BTreeMap<StimulusId, Ended>, CycleError> {
        let (network, taken_back) = (TreeNetwork::new(&self.store, was), self.reverted(was)?);
        let mut ended: BTreeMap<StimulusId, Option<Ended>> = BTreeMap::new();
        for (_, record) in records {
            if record.depth != 1 || record.agent.as_str() == HUMAN || record.trigger == LESSON {
                continue;
            }
            let end = match () {
                () if taken_back.contains_key(&record.run) => Some(Ended::Gone("taken back")),
                () if let_in.contains(&record.run) => Some(Ended::LetIn),
                () if record.is_left_over() => self.end_of_thrown_away(&record.run, &taken_back)?,
                () => None,
            };
            for id in &record.stimuli {
                let end = match end {
                    None if self.is_archived_by_hand(&network, id)? => Some(Ended::Gone("archived")),
                    end => end,
                };
                // One run of it that stands is enough.
                ended.entry(id.clone()).and_modify(|known| *known = known.and(end)).or_insert(end);
            }
        }
        Ok(ended.into_iter().filter_map(|(id, end)| Some((id, end?))).collect())
    }

    /// The end of what a run that was thrown away rested on, by the decisions of the person here.
    fn end_of_thrown_away(
        &self,
        run: &RunId,
        taken_back: &BTreeMap<RunId, RunId>,
    ) -> Result<Option<Ended>, CycleError> {
        let (_, person) = self.store.user();
        for review in self.reviews_of(run)?.into_iter().rev() {
            if review.address() != person || !self.counts_for_its_run(&review)? {
                continue;
            }
            let review = self.with_remarks(review)?;
            return Ok(Some(match review.again.as_ref().or(review.lands.as_ref()) {
                Some(landed) if taken_back.contains_key(landed) => Ended::Gone("taken back"),
                Some(_) => Ended::LetIn,
                None => Ended::Gone("rejected"),
            }));
        }
        Ok(None)
    }

    /// Whether a person archived the memory of a text, and no correction did.
    fn is_archived_by_hand(&self, network: &TreeNetwork<'_>, id: &StimulusId) -> Result<bool, CycleError> {
        let episode = episode_id(id);
        let Some(by) = network.neuron(&episode)?.and_then(|neuron| neuron.archived) else { return Ok(false) };
        let Some(record) = network.record(&by)?.filter(|record| record.agent.as_str() == HUMAN) else {
            return Ok(false);
        };
        Ok(record.ops.iter().any(|op| match op {
            Operation::Archive(archive) => archive.id == episode && replacer(&archive.reason).is_none(),
            _ => false,
        }))
    }
}
