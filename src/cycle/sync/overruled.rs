//! Two machines that decided otherwise on one run before they met: the decision that reached the remote first stands, as the main that was
//! pushed first does. Read off the two wakes and the reviews of both; taking the later one back is a person's run like any other.

use std::collections::BTreeSet;

use crate::cycle::admission::{Fault, Kind, SAYS};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviews::is_of_reviewer;
use crate::cycle::{Cycle, CycleError, EVALUATOR};
use crate::delta::LedgerEntry;
use crate::model::ids::{RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::review::{LESSON, REASON, ReviewRecord, TAKEN_BACK};
use crate::store::{CommitId, LockName, TreeEdit, TreeId};

/// Runs on which the remote has another decision than wake here.
#[derive(Clone, Debug)]
pub struct Overruled {
    /// Those runs.
    pub runs: Vec<RunId>,
    /// Runs of persons here by which decisions on them were carried out, each with the run it is about.
    pub made: Vec<(RunId, RunId)>,
    /// Wake there.
    pub there: CommitId,
}

impl Cycle {
    /// The runs on which `there`, a wake with these faults, has another decision than wake here. Nothing if anything else is wrong with it.
    pub(super) fn overruled(
        &self,
        there: Option<CommitId>,
        faults: Option<&BTreeSet<Fault>>,
    ) -> Result<Option<Overruled>, CycleError> {
        let (Some(there), Some(here)) = (there, self.store.tip(self.store.wake())?) else { return Ok(None) };
        let is_sound = faults.into_iter().flatten().all(|fault| fault.kind == Kind::SecondRecord);
        if !is_sound || self.store.is_ancestor(there, here)? || self.store.is_ancestor(here, there)? {
            return Ok(None);
        }
        let (ours, theirs) = (self.store.tree_of(here)?, self.store.tree_of(there)?);
        let (mut runs, mut made, mut others) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        let (mut taught_here, mut taught_there) = (BTreeSet::new(), BTreeSet::new());
        for change in self.store.diff(Some(theirs), Some(ours), layout::RUNS)? {
            match (Place::of(&change.path), change.old, change.new) {
                (Place::Run(run), Some(_), Some(_)) => {
                    others.insert(run.clone());
                    runs.insert(run);
                }
                // Here a reviewer made something else of a run that was decided on there, or a lesson was learnt from it.
                (Place::Run(run), None, Some(_)) if run.is_a_persons() || run.agent().as_str() == EVALUATOR => {
                    let Some(about) = self.decided_by(ours, &run)? else { continue };
                    if self.takes_rejection_back(ours, &run, &about)? {
                        continue;
                    }
                    if self.store.file(theirs, &layout::run(&about))?.is_some()
                        && self.run_to_revert(&run, ours).is_ok()
                    {
                        match run.is_a_persons() {
                            true => made.push((run.clone(), about.clone())),
                            false => drop(taught_here.insert(about.clone())),
                        }
                        runs.insert(about);
                    }
                }
                (Place::Run(run), Some(_), None) if run.agent().as_str() == EVALUATOR => {
                    let Some(about) = self.decided_by(theirs, &run)? else { continue };
                    if !self.takes_rejection_back(theirs, &run, &about)? {
                        taught_there.insert(about);
                    }
                }
                _ => {}
            }
        }
        let (mut decided, settings) = (Vec::new(), self.review_of_main()?);
        for run in runs {
            let mut counted = 0;
            for review in self.reviews_of(&run)? {
                let rule = self.rule_that_held(&review)?;
                counted += usize::from(self.is_of_its_author(&review, &settings, rule.as_deref())?);
            }
            // One decision that both carried out: one lesson is enough.
            let teaches_twice = counted == 1 && taught_here.contains(&run) && taught_there.contains(&run);
            // Or one side merged by hand what the other one decided on.
            let is_merged = counted == 1 && others.contains(&run);
            if counted > 1 || teaches_twice || is_merged {
                decided.push(run);
            }
        }
        Ok((!decided.is_empty()).then_some(Overruled { runs: decided, made, there }))
    }

    /// The run about which a run of a reviewer, or of a review's lesson, is.
    fn decided_by(&self, tree: TreeId, run: &RunId) -> Result<Option<RunId>, CycleError> {
        let Some(record) = TreeNetwork::new(&self.store, tree).record(run)? else { return Ok(None) };
        if record.trigger == LESSON {
            let path = layout::ledger(run);
            let entry = self.store.read(tree, &path)?.map(|bytes| LedgerEntry::decode(&bytes, &path)).transpose()?;
            return Ok(entry.map(|entry| entry.judged));
        }
        Ok(record.trigger.strip_prefix(REASON).and_then(|about| RunId::parse(about).ok()))
    }

    /// Whether a run says again what a rejected one said, or learns from that: a rejection that is taken back is decided on no second time.
    pub fn takes_rejection_back(&self, tree: TreeId, run: &RunId, about: &RunId) -> Result<bool, CycleError> {
        if run.is_a_persons() {
            let lands = self.reviews_of(about)?.into_iter().any(|review| review.lands.as_ref() == Some(run));
            return Ok(!lands && self.remarks_of(about)?.iter().any(|remark| remark.again.as_ref() == Some(run)));
        }
        let path = layout::ledger(run);
        let entry = self.store.read(tree, &path)?.map(|bytes| LedgerEntry::decode(&bytes, &path)).transpose()?;
        Ok(entry.is_some_and(|entry| entry.outcome.text.is_some_and(|text| text.starts_with(TAKEN_BACK))))
    }

    /// Whether a review is of one who may decide on that run.
    pub fn counts_for_its_run(&self, review: &ReviewRecord) -> Result<bool, CycleError> {
        self.counts(review, &self.review_of_main()?, self.rule_that_held(review)?.as_deref())
    }

    /// Whether main names the reviewer of a review as one who may decide on that run, whoever made the commit that brought the review.
    pub fn names_its_reviewer(&self, review: &ReviewRecord) -> Result<bool, CycleError> {
        let rule = self.rule_that_held(review)?;
        Ok(review.council.is_none() && is_of_reviewer(review, &self.review_of_main()?, rule.as_deref()))
    }

    /// The rule by which the run waited that a review is about, if one did and its commit is known here.
    pub(in crate::cycle) fn rule_that_held(&self, review: &ReviewRecord) -> Result<Option<String>, CycleError> {
        let commit = CommitId::parse(&review.commit).ok().and_then(|id| self.store.commit(id).ok());
        let waits = commit.map(|commit| self.waits_of(&commit, &review.run)).transpose()?.flatten();
        Ok(waits.and_then(|waits| waits.strip_prefix("rule ").map(str::to_owned)))
    }

    /// Takes what is left of a run out of wake, so that another machine's record comes in its place: a revert of the commit that brought it,
    /// which is the one way by which a record may go. What its neurons became meanwhile stays.
    pub fn give_way(&self, run: &RunId, there: CommitId) -> Result<(), CycleError> {
        let (store, path) = (&self.store, layout::run(run));
        let _trunk = store.lock(LockName::Trunk)?;
        let here = store.need_tip(store.wake())?;
        let known = store.file(store.tree_of(here)?, &path)?;
        let mut own = None;
        // What is known there as well may have given way there.
        for beside in [&[there][..], &[]] {
            for id in store.commits_beyond(here, beside)? {
                let commit = store.commit(id)?;
                if let [parent] = commit.parents[..]
                    && commit.trailer_values("Run").any(|named| named == run.as_str())
                    && store.file(commit.tree, &path)? == known
                {
                    own = Some((commit, parent));
                    break;
                }
            }
            if own.is_some() {
                break;
            }
        }
        let Some((own, parent)) = own else { return Ok(()) };
        let brought = store.diff(Some(store.tree_of(parent)?), Some(own.tree), layout::NETWORK)?;
        self.change_wake(&format!("give way {run}\n\n{SAYS}{}.", own.id), &mut |tree| {
            let mut edits = Vec::new();
            for change in &brought {
                if store.file(tree, &change.path)? == change.new {
                    let old = change.old.map(|file| store.read_file(file, &change.path)).transpose()?;
                    edits.push(TreeEdit::new(change.path.clone(), old));
                }
            }
            Ok((edits, Vec::new()))
        })?;
        // The record that comes consumed the same stimuli: none of them waits again.
        let consumed = brought.iter().filter(|change| change.new.is_none());
        let consumed: Vec<StimulusId> = consumed
            .filter_map(|change| match Place::of(&change.path) {
                Place::Queue(id) => Some(id),
                _ => None,
            })
            .collect();
        if !consumed.is_empty() {
            self.leave_queue_alone(&consumed)?;
        }
        Ok(())
    }
}
