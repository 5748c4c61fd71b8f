//! S and W: the consolidated tree as one commit on main, and its way back into wake.

use super::agent;
use super::journal::{Journal, largest};
use super::prepare::{Prepared, record_path};
use super::settle::Note;
use crate::consolidation::{Largest, SleepRecord, Totals};
use crate::cycle::merge::{edits_of, in_words};
use crate::cycle::network::format_of;
use crate::cycle::trailers::{SLEEP_TRAILER, SNAPSHOT_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::merge::{Options, Outcome};
use crate::model::ids::RunId;
use crate::model::layout::Place;
use crate::model::{Format, layout, plural};
use crate::store::{
    Author, BlobId, Change, CommitId, CommitSpec, Left, LockName, ObjectWriter, Trailer, TreeEdit, TreeId,
};

/// A sleep that is on main.
#[derive(Debug)]
pub struct Slept {
    /// Its record.
    pub record: SleepRecord,
    /// How many neurons were candidates.
    pub candidates: usize,
    /// S, main's new tip.
    pub main: CommitId,
    /// W, wake's new tip.
    pub wake: CommitId,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<Left>,
}

impl Cycle {
    /// Puts a consolidated tree on main as S, and merges S back into wake.
    pub(super) fn squash(&self, prepared: &Prepared) -> Result<Slept, CycleError> {
        // Told before anybody has to wait: a narrator may take its time.
        let chapter = self.tell(prepared.tree, &prepared.run, prepared.at)?.map(|chapter| chapter.encode());
        let mut races = self.store.races(self.store.main());
        loop {
            let main = self.store.need_tip(self.store.main())?;
            let writer = self.store.writer()?;
            let (squash, tree, record) = self.squash_commit(&writer, prepared, main, chapter.as_deref())?;
            // The record of a long day is on disk before anybody has to wait for the trunk.
            writer.publish()?;
            let trunk = self.store.lock(LockName::Trunk)?;
            if self.store.need_tip(self.store.main())? != main {
                drop(trunk);
                races.lost()?;
                continue;
            }
            let wake = self.store.need_tip(self.store.wake())?;
            let writer = self.store.writer()?;
            let back = self.merge_back(&writer, prepared, wake, squash, tree)?;
            writer.publish()?;
            let branch = (!prepared.waited).then(|| prepared.branch.clone());
            self.write_note(&Note::moving(&prepared.run, (wake, back), (main, squash), branch))?;
            let Some(left) = self.move_both((wake, back), (main, squash), "git-brain: sleep")? else {
                drop(trunk);
                races.lost()?;
                continue;
            };
            // A night activates nothing, so that W has no news, unless a person had committed on main. Then, or where triggers were not
            // evaluated before, all is looked at.
            if self.marker() == Some(wake) && self.store.is_ancestor(main, wake)? {
                self.set_marker(back)?;
            }
            self.remove_branch(&prepared.branch, prepared.tip)?;
            self.forget_note();
            drop(trunk);
            self.tidy_up();
            self.store.compact();
            return Ok(Slept { record, candidates: prepared.candidates, main: squash, wake: back, left });
        }
    }

    /// The record of a sleep as it would be now, without a commit.
    pub(super) fn record(&self, writer: &ObjectWriter<'_>, prepared: &Prepared) -> Result<SleepRecord, CycleError> {
        let main = self.store.need_tip(self.store.main())?;
        let tree = self.squash_tree(writer, prepared, main)?;
        self.journal(prepared, main, tree)
    }

    fn squash_commit(
        &self,
        writer: &ObjectWriter<'_>,
        prepared: &Prepared,
        main: CommitId,
        chapter: Option<&[u8]>,
    ) -> Result<(CommitId, TreeId, SleepRecord), CycleError> {
        let mut tree = self.squash_tree(writer, prepared, main)?;
        if let Some(chapter) = chapter {
            let edit = TreeEdit::new(layout::chapter(&prepared.run), Some(chapter.to_vec()));
            tree = writer.edit(Some(tree), vec![edit])?;
        }
        let Journal { record, largest } = self.journal_for_main(prepared, main, tree)?;
        let files = record.encode().into_iter().enumerate();
        let edits = files.map(|(index, bytes)| TreeEdit::new(record_path(&prepared.run, index), Some(bytes)));
        let tree = writer.edit(Some(tree), edits.collect())?;
        let (subject, body) = message(&record, &largest);
        let mut trailers = self.sleep_trailers(&prepared.run, prepared.snapshot);
        trailers.push(("Newest-Run".to_owned(), prepared.run.to_string()));
        trailers.extend(self.shared.clock_trailer());
        let commit = writer.commit(&CommitSpec {
            tree,
            parents: vec![main],
            author: Author::Agent(agent()),
            at: self.shared.world.commit_seconds(),
            subject,
            body,
            trailers,
        })?;
        Ok((commit, tree, record))
    }

    /// The record that main gets: what trees say is left out where the trees that are compared have commits.
    fn journal_for_main(&self, prepared: &Prepared, main: CommitId, tree: TreeId) -> Result<Journal, CycleError> {
        let snapshot = self.store.tree_of(prepared.snapshot)?;
        if snapshot == prepared.snapshot_tree && format_of(&self.store, tree)? == Format::Two {
            return self.brief_journal(prepared, main, tree);
        }
        let record = self.journal(prepared, main, tree)?;
        Ok(Journal { largest: largest(&record), record })
    }

    /// The tree of S without its record: three-way with main's tip, to which all outside the network belongs.
    fn squash_tree(
        &self,
        writer: &ObjectWriter<'_>,
        prepared: &Prepared,
        main: CommitId,
    ) -> Result<TreeId, CycleError> {
        let Some(base) = self.base_of(writer, main, prepared.snapshot)? else {
            return Err(CycleError::refused(format!("{} and wake have no history in common", self.store.main())));
        };
        let left = self.store.tree_of(main)?;
        let network = |tree| self.store.folder(tree, layout::NETWORK);
        // Rule 0 for the whole network: nobody touched main's, so it becomes what wake learnt.
        let tree = match network(prepared.tree)? {
            Some(learnt) if network(base)? == network(left)? => {
                let edit = TreeEdit { path: layout::NETWORK.to_owned(), change: Change::PutFolder(learnt) };
                writer.edit(Some(left), vec![edit])?
            }
            _ => {
                let options = Options::default();
                let outcome = self.decided(base, left, prepared.tree, options)?;
                writer.edit(Some(left), edits_of(&outcome))?
            }
        };
        // A sleep that waited for review carries its own record until here.
        let mut edits: Vec<TreeEdit> = Vec::new();
        while self.store.file(tree, &record_path(&prepared.run, edits.len()))?.is_some() {
            edits.push(TreeEdit::new(record_path(&prepared.run, edits.len()), None));
        }
        // What is written once stays on main, also where the day has it not: of a sleep that was taken back on another machine, say.
        for change in self.store.diff(Some(left), Some(tree), layout::NETWORK)? {
            if let (Some(kept), None) = (change.old, change.new)
                && Place::of(&change.path).is_immutable()
            {
                edits.push(TreeEdit { path: change.path, change: Change::Put(kept) });
            }
        }
        Ok(if edits.is_empty() { tree } else { writer.edit(Some(tree), edits)? })
    }

    /// W: S merged into wake's tip, from the snapshot. Wake gets main's settings, agents and hooks exactly.
    fn merge_back(
        &self,
        writer: &ObjectWriter<'_>,
        prepared: &Prepared,
        wake: CommitId,
        squash: CommitId,
        squashed: TreeId,
    ) -> Result<CommitId, CycleError> {
        let left = self.store.tree_of(wake)?;
        let tree = if left == prepared.snapshot_tree {
            squashed
        } else {
            let options = Options::default();
            let policy = self.shared.policy.settings.merge.of_a_night();
            let outcome = settled(self.merge_trees_by(&policy, prepared.snapshot_tree, left, squashed, options)?)?;
            writer.network_beside(writer.edit(Some(left), edits_of(&outcome))?, squashed)?
        };
        let newest = self.newest_run(wake)?.into_iter().chain([prepared.run.clone()]).max();
        let mut trailers = self.sleep_trailers(&prepared.run, prepared.snapshot);
        trailers.extend(newest.map(|run| ("Newest-Run".to_owned(), run.to_string())));
        trailers.extend(self.shared.clock_trailer());
        Ok(writer.commit(&CommitSpec {
            tree,
            parents: vec![wake, squash],
            author: Author::Agent(agent()),
            at: self.shared.world.commit_seconds(),
            subject: format!("merge {}", prepared.run),
            body: String::new(),
            trailers,
        })?)
    }

    fn sleep_trailers(&self, run: &RunId, snapshot: CommitId) -> Vec<Trailer> {
        let policy = self.shared.policy.blob.map_or("default".to_owned(), |blob: BlobId| blob.to_string());
        vec![
            ("Agent".to_owned(), agent().to_string()),
            ("Run".to_owned(), run.to_string()),
            (SLEEP_TRAILER.to_owned(), run.to_string()),
            (SNAPSHOT_TRAILER.to_owned(), snapshot.to_string()),
            ("Policy".to_owned(), policy),
        ]
    }

    /// The typed merge of three trees, refused where the policy leaves something to a person.
    pub(super) fn decided(
        &self,
        base: TreeId,
        left: TreeId,
        right: TreeId,
        options: Options,
    ) -> Result<Outcome, CycleError> {
        settled(self.merge_trees(base, left, right, options)?)
    }
}

/// A merge that left nothing to a person; else nothing is moved.
pub(super) fn settled(outcome: Outcome) -> Result<Outcome, CycleError> {
    if outcome.conflicts.is_empty() {
        return Ok(outcome);
    }
    Err(CycleError::Refused {
        message: format!("the policy leaves this to a person: {}", in_words(&outcome.conflicts)),
        hint: Some("settle it on main or wake, then sleep again; nothing was moved".to_owned()),
    })
}

/// Subject and body of S.
pub(in crate::cycle) fn message(record: &SleepRecord, largest: &Largest) -> (String, String) {
    let mut lines = vec![
        format!("learnt: {}", record.learnt_totals.words()),
        format!("consolidated: {}", record.consolidated_totals.words()),
    ];
    if record.left_out > 0 {
        lines.push(format!(
            "left in wake, because the origin is not approved: {}",
            plural(record.left_out, "neuron", "neurons")
        ));
    }
    let largest = largest.lines();
    if !largest.is_empty() {
        lines.push(String::new());
        lines.push("largest changes of weight:".to_owned());
        lines.extend(largest);
    }
    (format!("sleep: {}", short(&record.totals)), lines.join("\n"))
}

/// The totals of a night as a subject: what a reader of the log wants to know first.
fn short(totals: &Totals) -> String {
    let connections = totals.connections_made + totals.connections_removed + totals.strengthened + totals.weakened;
    format!(
        "{}, {} changed, {} removed; {} (+{} -{})",
        plural(totals.neurons_made, "neuron made", "neurons made"),
        totals.neurons_changed,
        totals.neurons_removed,
        plural(connections, "connection", "connections"),
        totals.weight_gained,
        totals.weight_lost
    )
}
