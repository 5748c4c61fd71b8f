//! Commits that are about to be pushed, held against the same judge that the gate and the other machines ask; and the way on where it
//! refuses some of them.
//!
//! A refused commit of wake or main stays in their history whatever is committed after it. So the way on is another history: both branches
//! go back to before it, and what was good is done again upon that. The old tips are kept as rescue refs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::again::{Left, Rebuilt};
use super::owed::Owed;
use super::remedy::WITHOUT_REFUSED;
use super::{Synced, Theirs};
use crate::cycle::admission::{Door, Fault, Judged, Kind};
use crate::cycle::commit::run_of;
use crate::cycle::file::{Level, examine, examine_place};
use crate::cycle::merge::{Candidate, Fate};
use crate::cycle::settled::rescued_words;
use crate::cycle::trailers::SLEEP;
use crate::cycle::{Cycle, CycleError, HUMAN};
use crate::delta::{APPLIED, RunRecord};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::plural;
use crate::store::{
    Branch, Change, Commit, CommitId, FileChange, LockName, ObjectWriter, RefChange, RefOutcome, Remote, StoreError,
    Tips, TreeEdit, TreeId,
};

impl Cycle {
    /// Judges what a remote, which has `there`, would get. `not_taken` is its wake where that may not come in.
    pub(super) fn judge_outgoing(
        &self,
        tips: &Tips,
        there: &Tips,
        not_taken: Option<CommitId>,
    ) -> Result<Judged, CycleError> {
        let known: Vec<CommitId> = there.values().copied().collect();
        let at = |branch| there.get(branch).copied();
        let (main, had) = (at(self.store.main()), at(self.store.wake()));
        let prefix = self.store.runs_prefix();
        let waiting = there.iter().filter(|(branch, _)| run_of(&prefix, branch).is_some());
        let waiting = waiting.map(|(branch, tip)| (branch.clone(), *tip)).collect();
        self.judge(tips, &known, &Door::Out { main, wake: not_taken, had, waiting })
    }

    /// The faults of what is here and was not at the remote when it was last seen; none where there is no remote.
    pub fn refused_here(&self) -> Result<BTreeMap<Branch, BTreeSet<Fault>>, CycleError> {
        if !self.store.has_remote()? {
            return Ok(BTreeMap::new());
        }
        let there = match self.store.remote(None) {
            Ok(remote) => {
                let mut there = self.store.seen(&remote)?;
                there.extend(self.waiting_there(&remote));
                there
            }
            // Several, and none is the one to sync with.
            Err(StoreError::NoRemote { .. } | StoreError::BadRemote { .. }) => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.into()),
        };
        Ok(self.judge_outgoing(&self.outgoing()?, &there, None)?.refused)
    }

    /// Main, wake, and the branches that wait for review.
    fn outgoing(&self) -> Result<Tips, CycleError> {
        let mut tips = Tips::new();
        for branch in [self.store.main(), self.store.wake()] {
            tips.extend(self.store.tip(branch)?.map(|tip| (branch.clone(), tip)));
        }
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        for (branch, tip) in self.run_branches()? {
            // One of which wake has another record is never pushed.
            if self.waits_for_review(tip)? && !self.is_second_record(&branch, tip, &[wake])? {
                tips.insert(branch, tip);
            }
        }
        Ok(tips)
    }

    /// Sets main and wake back to before what the remote would refuse, and does upon that what was good since.
    pub(super) fn leave_refused_out(
        &self,
        remote: &Remote,
        theirs: &mut Theirs,
        synced: &mut Synced,
    ) -> Result<(), CycleError> {
        if self.shared.world.is_fixed() {
            return Err(CycleError::Refused {
                message: format!("{WITHOUT_REFUSED} makes commits, and other machines refuse those of a fixed clock"),
                hint: Some("`unset BRAIN_NOW BRAIN_SEED`, then try again".to_owned()),
            });
        }
        // Decisions first: wake is judged by them.
        let (_, reviews) = self.store.remote_tips(remote)?;
        let decisions = self.leave_decisions_out(remote, reviews)?;
        if !decisions.is_empty() {
            theirs.reviewed = self.sync_reviews(remote, reviews);
        }
        let is_all = decisions.is_empty();
        decisions.into_iter().for_each(|note| synced.note(note));
        let mut there = self.store.seen(remote)?;
        there.extend(theirs.tips.clone());
        let trunk = self.store.lock(LockName::Trunk)?;
        let here = (self.store.need_tip(self.store.main())?, self.store.need_tip(self.store.wake())?);
        let both: Tips = [(self.store.main().clone(), here.0), (self.store.wake().clone(), here.1)].into();
        let refused = self.judge_outgoing(&both, &there, None)?.refused;
        if refused.is_empty() {
            if !is_all {
                return Ok(());
            }
            synced.note(format!("nothing here is refused by {}, so nothing was left out", remote.name));
            return Ok(());
        }
        let left = self.left_out(&both, &there, &refused)?;
        let writer = self.store.writer()?;
        let mut rebuilt = self.rebuilt(&writer, here, &left, &refused)?;
        for (branch, commit) in &mut rebuilt.held {
            // As it waits there: another commit of it could not be decided on.
            *commit = theirs.tips.get(branch).copied().unwrap_or(*commit);
        }
        for (branch, tip) in &rebuilt.gone {
            let run = run_of(&self.store.runs_prefix(), branch);
            if run.map(|run| self.is_run_alone(&run, *tip)).transpose()? == Some(false) {
                self.store.rescue(*tip)?;
                rebuilt.notes.push(rescued_words(branch, *tip));
            }
        }
        writer.publish()?;
        let mut changes = Vec::new();
        for (branch, old, new) in [(self.store.wake(), here.1, rebuilt.wake), (self.store.main(), here.0, rebuilt.main)]
        {
            if old != new {
                // Kept before the branch leaves it.
                self.store.rescue(old)?;
                changes.push(RefChange::advance(branch.clone(), old, new));
            }
        }
        changes.extend(rebuilt.held.iter().map(|(branch, commit)| RefChange::create(branch.clone(), *commit)));
        changes.extend(rebuilt.gone.iter().map(|(branch, tip)| RefChange::delete(branch.clone(), *tip)));
        match self.store.update_refs(&changes, "git-brain: sync --without-refused")? {
            RefOutcome::Done { left } => synced.left.extend(left),
            RefOutcome::Modified { branch, .. } => {
                return Err(CycleError::Busy(format!(
                    "{branch} was moved meanwhile, by something that does not know our locks"
                )));
            }
        }
        drop(trunk);
        synced.moved = true;
        for change in &changes {
            let (Some(old), Some(new)) = (change.expected, change.new) else { continue };
            synced
                .note(format!("{0} is {new} now; {0} as it was is kept as refs/git-brain/rescue/{old}", change.branch));
        }
        synced.owed = Some(rebuilt.owed);
        rebuilt.notes.into_iter().for_each(|note| synced.note(note));
        Ok(())
    }

    fn left_out(
        &self,
        tips: &Tips,
        there: &Tips,
        refused: &BTreeMap<Branch, BTreeSet<Fault>>,
    ) -> Result<Left, CycleError> {
        // A run that waits there on its branch may have landed here, and that is what is wrong.
        let trunks = [self.store.main(), self.store.wake()];
        let known: Vec<CommitId> = trunks.into_iter().filter_map(|branch| there.get(branch).copied()).collect();
        let bad: HashSet<&str> = refused.values().flatten().map(|fault| fault.commit.as_str()).collect();
        let mut new: Vec<Commit> = Vec::new();
        let mut seen = HashSet::new();
        for tip in tips.values() {
            for id in self.store.commits_beyond(*tip, &known)? {
                if seen.insert(id) {
                    new.push(self.store.commit(id)?);
                }
            }
        }
        let mut ids: HashSet<CommitId> = HashSet::new();
        loop {
            let before = ids.len();
            for commit in &new {
                // A night over a day that is left out is one over a day that nobody has.
                let day = commit.trailer("Snapshot").and_then(|id| CommitId::parse(id).ok());
                let above = |id: &CommitId| ids.contains(id);
                if bad.contains(commit.id.to_string().as_str())
                    || commit.parents.iter().any(above)
                    || day.as_ref().is_some_and(above)
                {
                    ids.insert(commit.id);
                }
            }
            if ids.len() == before {
                break;
            }
        }
        let (commits, good): (Vec<Commit>, Vec<Commit>) = new.into_iter().partition(|commit| ids.contains(&commit.id));
        let unapproved = refused.values().flatten().filter(|fault| fault.kind == Kind::Unapproved);
        let unapproved = unapproved.filter_map(|fault| match Place::of(&fault.path) {
            Place::Run(run) => Some(run),
            _ => None,
        });
        let unapproved = unapproved.collect();
        Ok(Left { commits, ids, good: good.into_iter().map(|commit| commit.id).collect(), unapproved })
    }

    /// The newest commit along first parents that is not left out.
    fn newest_good(&self, tip: CommitId, left: &Left) -> Result<CommitId, CycleError> {
        for commit in self.store.first_parents(tip, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if !left.ids.contains(&commit.id) {
                return Ok(commit.id);
            }
        }
        Err(CycleError::Refused {
            message: "the first commit of this brain is refused, so there is nothing to go back to".to_owned(),
            hint: Some(
                "`git brain export FILE` here, then `git brain init` in a new folder, `git brain import FILE` and `git brain sync` there carry the memories over"
                    .to_owned(),
            ),
        })
    }

    fn rebuilt(
        &self,
        writer: &ObjectWriter<'_>,
        here: (CommitId, CommitId),
        left: &Left,
        refused: &BTreeMap<Branch, BTreeSet<Fault>>,
    ) -> Result<Rebuilt, CycleError> {
        let good = (self.newest_good(here.0, left)?, self.newest_good(here.1, left)?);
        let mut rebuilt = Rebuilt {
            main: good.0,
            wake: good.1,
            notes: Vec::new(),
            held: Vec::new(),
            gone: Vec::new(),
            owed: Owed::of(here.1),
        };
        let faults: BTreeSet<&Fault> = refused.values().flatten().collect();
        rebuilt.notes.extend(self.commit_lines(refused)?.into_iter().map(|line| format!("left out: {line}")));
        if here.0 != good.0 {
            self.main_again(writer, here.0, left, &mut rebuilt)?;
        }
        if here.1 != good.1 {
            self.runs_again(writer, left, &mut rebuilt)?;
        }
        rebuilt.wake = self.with_main(writer, rebuilt.wake, rebuilt.main)?;
        if here.1 != good.1 {
            let records = self.records_of(left)?;
            self.people_again(writer, (left, &records), &mut rebuilt)?;
            self.waiting_again(writer, left, &mut rebuilt)?;
            self.thrown_away_again(left, &mut rebuilt)?;
            self.texts_again(writer, &records, &mut rebuilt)?;
            self.tell_of_the_rest(left, &faults, &mut rebuilt)?;
        }
        Ok(rebuilt)
    }

    /// What people committed on main since, as far as it is good as it is now, as one commit.
    fn main_again(
        &self,
        writer: &ObjectWriter<'_>,
        tip: CommitId,
        left: &Left,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CycleError> {
        let store = &self.store;
        let base = rebuilt.main;
        let (old, new) = (store.tree_of(base)?, store.tree_of(tip)?);
        let slept = |commit: &Commit| commit.trailer("Sleep").is_some() || commit.trailer("Undoes").is_some();
        let line: HashSet<CommitId> = store
            .first_parents(tip, Some(base))
            .map(|commit| commit.map(|commit| commit.id))
            .collect::<Result<_, _>>()?;
        let nights = left.commits.iter().any(|commit| line.contains(&commit.id) && slept(commit));
        let (mut edits, mut bad) = (Vec::new(), Vec::new());
        for change in store.diff(Some(old), Some(new), "")? {
            let in_network = change.path.starts_with("network/");
            // What a night put on main comes back with the next.
            if in_network && nights {
                continue;
            }
            match self.is_good(&change)? {
                true => edits.push(change),
                false => bad.push(change.path),
            }
        }
        rebuilt.notes.extend(
            bad.iter().map(|path| format!("not on {} again: {path}, which is not good as it is", store.main())),
        );
        if edits.is_empty() {
            return Ok(());
        }
        let edit =
            |change: FileChange| TreeEdit { path: change.path, change: change.new.map_or(Change::Remove, Change::Put) };
        let edits = edits.into_iter().map(edit).collect();
        let tree = writer.edit(Some(old), edits)?;
        let subject = |_| format!("sync: {} as it was, without what is refused", store.main());
        rebuilt.main = self.replayed(writer, tree, base, (tip, base), &subject)?;
        Ok(())
    }

    /// Whether a person may have committed that file as it is now.
    fn is_good(&self, change: &FileChange) -> Result<bool, CycleError> {
        let place = Place::of(&change.path);
        let Some(file) = change.new else { return Ok(!place.is_immutable() && place != Place::Metadata) };
        if examine_place(&change.path, file)
            .map_or(true, |found| found.is_some_and(|found| found.level == Level::Error))
        {
            return Ok(false);
        }
        match place {
            Place::Other => Ok(true),
            Place::Neuron(_) | Place::Goal | Place::Flag(_) | Place::Agent(_) | Place::Prompt(_) | Place::Settings => {
                let bytes = self.store.content(file.blob)?;
                let found = examine(&change.path, &bytes);
                let ahead = crate::cycle::admission::late_fields(
                    &change.path,
                    &bytes,
                    &found.content,
                    self.shared.world.latest_seconds(),
                );
                let clean = self.shared.secrets.in_file(&bytes).is_empty();
                Ok(clean && ahead.is_empty() && found.findings.iter().all(|finding| finding.level != Level::Error))
            }
            _ => Ok(false),
        }
    }

    /// Merges again the runs that started before what is left out and were merged after it.
    fn runs_again(&self, writer: &ObjectWriter<'_>, left: &Left, rebuilt: &mut Rebuilt) -> Result<(), CycleError> {
        let mut newest = self.newest_run(rebuilt.wake)?;
        // Children first: a tip brings what is behind it.
        for id in left.good.iter().rev() {
            // What main has comes with main.
            if self.store.is_ancestor(*id, rebuilt.wake)? || self.store.is_ancestor(*id, rebuilt.main)? {
                continue;
            }
            let commit = self.store.commit(*id)?;
            let run = commit.trailer("Run").and_then(|run| RunId::parse(run).ok());
            // What may not land without an approval is no more good than its merge was.
            if let Some(run) = &run
                && let Some(why) = match left.unapproved.contains(run) {
                    true => Some(format!("{run} waits for a decision")),
                    false => self.lacks_approval(&commit, run)?,
                }
            {
                rebuilt.notes.push(format!("not merged again: {why}"));
                let held = self.held_again(writer, &commit, run)?;
                rebuilt.held.extend(held.filter(|(branch, _)| rebuilt.held.iter().all(|(known, _)| known != branch)));
                continue;
            }
            let candidate = Candidate { name: id.to_string(), commit: *id, branch: None, run, reviewed_by: None };
            match self.merge_one(writer, rebuilt.wake, &candidate, &mut newest)? {
                Fate::Merged { commit, .. } => rebuilt.wake = commit,
                Fate::Already => {}
                Fate::Conflict(_) | Fate::Refused(_) => {
                    rebuilt.notes.push(format!("not merged again: commit {id}; `git brain merge {id}` says why"));
                }
            }
        }
        Ok(())
    }

    /// Names what is neither in the new history nor done again by the next run.
    fn tell_of_the_rest(
        &self,
        left: &Left,
        faults: &BTreeSet<&Fault>,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CycleError> {
        let mut agents = 0;
        for commit in left.commits.iter().filter(|commit| commit.parents.len() == 1) {
            let sleeps = commit.trailer("Sleep").is_some() || commit.trailer("Undoes").is_some();
            let told = faults.iter().any(|fault| fault.commit == commit.id.to_string());
            match commit.agent() {
                Some(agent) if agent.as_str() != SLEEP && agent.as_str() != HUMAN => {
                    let run = commit.trailer("Run").and_then(|run| RunId::parse(run).ok());
                    let record = run.map(|run| self.record_in(commit.tree, &run)).transpose()?.flatten();
                    let again = |record: RunRecord| record.cognition != APPLIED && !record.is_left_over();
                    agents += usize::from(record.is_none_or(again));
                }
                _ if sleeps => rebuilt
                    .notes
                    .push(format!("left out: the night of commit {}; the next sleep consolidates again", commit.id)),
                None if !told
                    && self.edits_wake_by_hand(commit)?
                    && !self.store.is_ancestor(commit.id, rebuilt.main)? =>
                {
                    rebuilt.notes.push(format!(
                        "left out: commit {} ({}); `git cherry-pick {0}` on {2} does it again",
                        commit.id,
                        commit.subject(),
                        self.store.wake()
                    ));
                }
                _ => {}
            }
        }
        if agents > 0 {
            rebuilt.notes.push(format!(
                "left out: {}; agents run again for what waits",
                plural(agents, "run of an agent", "runs of agents")
            ));
        }
        Ok(())
    }

    /// Whether a commit without a record changes files of the network that are no stimuli, outside of main.
    fn edits_wake_by_hand(&self, commit: &Commit) -> Result<bool, CycleError> {
        let before: TreeId = self.store.tree_of(commit.parents[0])?;
        let changes = self.store.diff(Some(before), Some(commit.tree), layout::NETWORK)?;
        let main = self.store.need_tip(self.store.main())?;
        let stimuli = |change: &FileChange| matches!(Place::of(&change.path), Place::Stimulus(_) | Place::Queue(_));
        let records = changes.iter().any(|change| matches!(Place::of(&change.path), Place::Run(_)));
        Ok(!records && !changes.iter().all(stimuli) && !self.store.is_ancestor(commit.id, main)?)
    }
}
