//! Main as an audit log: one line of commits, each a sleep, the undoing of one, or what a person committed. Runs reach it by
//! sleeps alone, and nothing reaches it that came of input which nobody approved.
//!
//! Asked of every commit that main did not have, also of those that wake had before.

use super::run::Grounds;
use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::cycle::sleep::{SetBy, settled_runs};
use crate::cycle::trailers::SLEEP;
use crate::delta::RunOutline;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::{Neuron, Origin, Stimulus};
use crate::store::{Commit, CommitId, FileChange};

impl Judge<'_> {
    /// Judges whether main may take a commit.
    pub(super) fn taken_by_main(&mut self, id: CommitId) -> Result<(), CycleError> {
        // What cannot be read was told already.
        let Ok(commit) = self.cycle.store.commit(id) else { return Ok(()) };
        let main = self.cycle.store.main().clone();
        if let Some(agent) = commit.agent().filter(|agent| agent.as_str() != SLEEP) {
            self.fault_of(
                Kind::WakeOnMain,
                &commit,
                "",
                0,
                format!("is by the agent {agent}: {main} takes runs by sleeps alone"),
            );
            return Ok(());
        }
        let of_wake = ["Policy", "Sleep", "Undoes"].into_iter().any(|key| commit.trailer(key).is_some());
        if commit.parents.len() > 1 && of_wake {
            let wake = self.cycle.store.wake();
            let message = format!("is a merge of {wake}: {main} takes sleeps, their undoing, and what people commit");
            self.fault_of(Kind::WakeOnMain, &commit, "", 0, message);
            return Ok(());
        }
        let before = commit.parents.first().map(|parent| self.cycle.store.tree_of(*parent)).transpose()?;
        let changes = match self.cycle.store.diff(before, Some(commit.tree), "") {
            Ok(changes) => changes,
            Err(error) => return self.unreadable(id, error.into()),
        };
        self.extend_grounds(&commit, &changes)?;
        // Taking a sleep back gives what main was.
        if commit.trailer("Undoes").is_some() {
            return Ok(());
        }
        self.approved_for_main(&commit, &changes)
    }

    /// Refuses neurons and runs of an origin that main, as the commit found it, does not trust.
    fn approved_for_main(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let found = commit.parents.first().map_or(Ok(commit.tree), |parent| store.tree_of(*parent))?;
        // Settings that cannot be read are a fault already.
        let Ok(grounds) = Grounds::of_tree(store, found) else { return Ok(()) };
        let origins = &grounds.settings.origins;
        // What a night brings is held against the day; who merges has what is merged judged by itself.
        let by_person = commit.parents.len() < 2 && commit.trailer("Sleep").is_none();
        let mut faults = Vec::new();
        let mut runs: Vec<(String, RunOutline)> = Vec::new();
        for change in changes {
            let Some(new) = change.new.filter(|file| file.is_regular()) else { continue };
            match Place::of(&change.path) {
                Place::Neuron(_) => {
                    let origin = |file| -> Result<_, CycleError> {
                        Ok(Neuron::decode(&store.content(file)?, &change.path).ok().map(|neuron| neuron.origin))
                    };
                    let tainted = origin(new.blob)?.filter(|origin| origins.is_tainted(origin));
                    let Some(tainted) = tainted else { continue };
                    let before =
                        change.old.filter(|file| file.is_regular()).map(|file| origin(file.blob)).transpose()?;
                    if before.flatten() != Some(tainted.clone()) {
                        faults.push((change.path.clone(), format!("comes from {tainted}")));
                    }
                }
                Place::Stimulus(_) if by_person && change.old.is_none() => {
                    let stimulus = Stimulus::decode(&store.content(new.blob)?, &change.path).ok();
                    let tainted = stimulus.map(|stimulus| stimulus.origin).filter(|origin| origins.is_tainted(origin));
                    faults.extend(tainted.map(|origin| (change.path.clone(), format!("comes from {origin}"))));
                }
                Place::Signal(..)
                | Place::Acknowledgement(..)
                | Place::Flag(_)
                | Place::Goal
                | Place::Ledger(_)
                | Place::Deliberation(_)
                | Place::Wisdom(_)
                | Place::Sealed(_)
                    if by_person =>
                {
                    let by = serde_json::from_slice::<SetBy>(&store.content(new.blob)?).ok().and_then(|by| by.run);
                    let origin = by.map(|run| self.origin_of(commit, &run)).transpose()?.flatten();
                    let tainted = origin.filter(|origin| origins.is_tainted(origin));
                    faults.extend(
                        tainted.map(|origin| (change.path.clone(), format!("is of a run that comes from {origin}"))),
                    );
                }
                Place::Run(_) if change.old.is_none() => {
                    if let Ok(run) = RunOutline::decode(&store.content(new.blob)?, &change.path) {
                        runs.push((change.path.clone(), run));
                    }
                }
                _ => {}
            }
        }
        // Nights of before what was taken back stayed off main have it.
        let (approved, taken_back) = settled_runs(runs.iter().map(|(_, run)| run));
        for (path, run) in &runs {
            if origins.is_tainted(&run.origin) && !approved.contains(&run.run) && !taken_back.contains(&run.run) {
                faults.push((path.clone(), format!("is of a run that comes from {}", run.origin)));
            }
        }
        for (path, what) in faults {
            let main = self.cycle.store.main();
            self.fault(commit, &path, 1, format!("{what}, and that was not approved for {main}"));
        }
        Ok(())
    }

    /// Where what a run brought comes from, by its record beside the commit or in wake; `None`: neither has one that can be read.
    fn origin_of(&self, commit: &Commit, run: &RunId) -> Result<Option<Origin>, CycleError> {
        let store = &self.cycle.store;
        let wake = store.tip(store.wake())?.map(|tip| store.tree_of(tip)).transpose()?;
        for tree in std::iter::once(commit.tree).chain(wake) {
            let path = layout::run(run);
            if let Some(bytes) = store.read(tree, &path)? {
                return Ok(RunOutline::decode(&bytes, &path).ok().map(|run| run.origin));
            }
        }
        Ok(None)
    }

    /// Main's line of first parents must go on from where it was: whoever merges main into something else, and makes that
    /// main, makes it a side line.
    pub(super) fn line_goes_on(&mut self, old: CommitId, new: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        // Two machines that slept both have their own: which stands is decided when they are joined.
        if !store.is_ancestor(old, new)? {
            return Ok(());
        }
        for commit in store.first_parents(new, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if commit.id == old {
                return Ok(());
            }
            if store.is_ancestor(commit.id, old)? {
                break;
            }
        }
        let tip = store.commit(new)?;
        let main = store.main();
        self.fault(&tip, "", 0, format!("does not go on from {main}, {old}, along first parents: merge into {main}, not {main} into another branch"));
        Ok(())
    }
}
