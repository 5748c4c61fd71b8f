//! Admission: one judge for all that comes from outside, before it is merged (`sync`) and before a remote takes it
//! (the gate of a bare repository).
//!
//! Each new commit is judged once, against its parents, by what it claims to be:
//!
//! | commit | claims by | held against |
//! |---|---|---|
//! | of a run | the record that it adds | its operations, done again on its parent: the same tree, to the byte (`run`) |
//! | of a merge | its `Policy:` | the typed merge of its parents, done again (`trunk`) |
//! | of a sleep, or of its undoing | its `Sleep:` or `Undoes:` | its record; what it takes back (`trunk`) |
//! | of a person | nothing | the rules of the format (here and in `file`) |
//!
//! And for all of them: every file is a plain one, at its place, and readable; what is written once stays; no new
//! connection dangles; nothing is dated ahead of the clock, or made under a fixed one (`stamps`); where it goes out, or comes to the gate, it
//! adds no secret (`secrets`). Main takes sleeps and what people commit, and nothing that came of input which nobody approved
//! (`main_line`). A commit that is signed for an agent is that agent's own run where it was made, or nothing.
//!
//! *Grounds.* Agents are judged by main as it is here. Where new commits of main change settings or agents, runs made under
//! them are judged by those as well: whoever may push to main decides about agents, as whoever may commit there does. A
//! machine that was offline while main went on ran by main as it was where its run started, and is judged by that.
//!
//! The cost is that of what is new, except where neurons go: then who still points to them is looked for in the whole network.

pub(in crate::cycle) mod author;
mod decided;
mod events;
pub(in crate::cycle) mod history;
mod kind;
mod landing;
mod left;
mod main_line;
mod merged;
mod night;
mod records;
mod revert;
mod run;
pub(crate) mod secrets;
mod signing;
mod squashed;
mod stamps;
mod trunk;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde::Serialize;

use super::file::{Content, Level, examine, examine_place};
use super::network::metadata_of;
use super::trailers::SLEEP;
use super::{Cycle, CycleError};
use crate::delta::RunRecord;
use crate::limits;
use crate::model::document::FORMAT;
use crate::model::ids::{AgentName, NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::model::secret::Secrets;
use crate::model::{Neuron, Settings};
use crate::store::{Branch, Commit, CommitId, File, FileChange, StoreError, Tips, TreeId};
use crate::world::progress::Work;

pub use kind::Kind;
use records::Records;
pub(crate) use revert::SAYS;
use run::{Grounds, is_in_place};
use signing::Signing;
pub(crate) use stamps::late_fields;
pub use stamps::{is_dated_ahead, late_run};

/// Something that keeps a commit out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fault {
    /// The commit.
    pub commit: String,
    /// The file; empty if it is the commit itself.
    pub path: String,
    /// The line, from 1; 0 if it is the commit itself.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// Its kind.
    #[serde(skip)]
    pub kind: Kind,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let commit: String = self.commit.chars().take(12).collect();
        match self.path.is_empty() {
            true => write!(f, "{commit}: {}", self.message),
            false => write!(f, "{commit}: {}:{}: {}", self.path, self.line, self.message),
        }
    }
}

/// What was judged.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// How many commits were new, and may come in.
    pub commits: usize,
    /// The branches that may not come in, each with what is wrong with its commits.
    pub refused: BTreeMap<Branch, BTreeSet<Fault>>,
    /// Commits on the way out that other machines may refuse for the key that signed them, with why.
    pub other_keys: BTreeSet<String>,
}

impl Judged {
    /// What is wrong, each once.
    pub fn faults(self) -> Vec<Fault> {
        self.refused.into_values().flatten().collect::<BTreeSet<Fault>>().into_iter().collect()
    }
}

impl Cycle {
    /// Commits that this repository has and let in, and so need not judge: a rescue ref lets nothing in.
    pub fn known(&self) -> Result<Vec<CommitId>, CycleError> {
        let store = &self.store;
        let mut known = store.seen_anywhere()?;
        for branch in [store.main(), store.wake()] {
            known.extend(store.tip(branch)?);
        }
        known.extend(self.run_branches()?.into_iter().map(|(_, tip)| tip));
        known.sort();
        known.dedup();
        Ok(known)
    }

    /// Judges every commit behind those tips that is not behind `known`: main's first, then wake's, then those of runs.
    pub fn judge(&self, tips: &Tips, known: &[CommitId], door: &Door) -> Result<Judged, CycleError> {
        let store = &self.store;
        let mut judge = self.judge_at(tips, known, door)?;
        let (main, wake) = (store.main(), store.wake());
        let mut order: Vec<(&Branch, CommitId)> = tips.iter().map(|(branch, tip)| (branch, *tip)).collect();
        order.sort_by_key(|(branch, _)| (*branch != main, *branch != wake));
        let mut known = known.to_vec();
        let mut told: HashMap<CommitId, BTreeSet<Fault>> = HashMap::new();
        let (mut commits, mut refused) = (HashSet::new(), BTreeMap::new());
        for (branch, tip) in order {
            let mut faults = BTreeSet::new();
            let new = store.commits_beyond(tip, &known)?;
            let fresh: HashSet<CommitId> = new.iter().copied().collect();
            // Wake may have had a commit before main: that main takes it too is judged then.
            let old_main = match door {
                Door::Out { main, .. } => *main,
                _ => store.tip(main)?,
            };
            let walked = if branch == main { store.commits_beyond(tip, old_main.as_slice())? } else { new };
            let work = Work::begin("judging commits", walked.len());
            for id in walked {
                work.step();
                if fresh.contains(&id) {
                    let found = match told.get(&id) {
                        Some(found) => found,
                        None => {
                            judge.commit(id)?;
                            told.entry(id).or_insert(std::mem::take(&mut judge.faults))
                        }
                    };
                    faults.extend(found.iter().cloned());
                }
                if branch == main {
                    judge.taken_by_main(id)?;
                }
            }
            if let (true, Some(old)) = (branch == main, old_main) {
                judge.line_goes_on(old, tip)?;
            }
            judge.still_missing(tip)?;
            judge.still_linked(tip)?;
            judge.one_record(branch, tip, &fresh)?;
            judge.landings(branch, tip, &fresh)?;
            faults.append(&mut judge.faults);
            // What is not good is judged again where another branch has it as well.
            if faults.is_empty() {
                known.push(tip);
                if branch == main {
                    judge.main = Some(tip);
                } else if branch == wake {
                    judge.wake = Some(tip);
                }
                judge.records.take_in(store, branch, tip)?;
                commits.extend(fresh);
            } else {
                refused.insert(branch.clone(), faults);
            }
        }
        Ok(Judged { commits: commits.len(), refused, other_keys: judge.other_keys })
    }

    fn judge_at(&self, tips: &Tips, known: &[CommitId], door: &Door) -> Result<Judge<'_>, CycleError> {
        let store = &self.store;
        let lets_other_keys = matches!(door, Door::Out { .. });
        let signing = match store.requires_signatures()? {
            true => Some(Signing { since: store.signed_since()?, lets_other_keys }),
            false => None,
        };
        let grounds = self.grounds_for(door)?;
        Ok(Judge {
            cycle: self,
            signing,
            other_keys: BTreeSet::new(),
            secrets: self.secrets_for(door, tips, &grounds.settings.secrets.allow)?,
            latest: self.shared.world.latest_seconds(),
            records: Records::of(self, door)?,
            main: store.tip(store.main())?,
            wake: None,
            fixed_clock: matches!(door, Door::Merge),
            is_audit: false,
            going_out: matches!(door, Door::Out { .. }),
            grounds: vec![grounds],
            first: known.is_empty(),
            had: match door {
                Door::Out { had, .. } => *had,
                _ => store.tip(store.wake())?,
            },
            // A main that comes with the push judges beside the one that is there: what was made before it was made under that.
            before: match door {
                Door::Out { main, .. } => *main,
                _ => store.tip(store.main())?,
            },
            as_now: match door {
                Door::Push { .. } | Door::Out { .. } => !known.is_empty(),
                Door::Sync | Door::Merge => false,
            },
            waiting_there: match door {
                Door::Out { waiting, .. } => waiting.clone(),
                _ => Tips::new(),
            },
            meanwhile: HashMap::new(),
            tips: tips.values().chain(known).copied().collect(),
            examined: HashSet::new(),
            missing: Vec::new(),
            links: Vec::new(),
            decisions: None,
            decisions_known: !matches!(door, Door::Sync),
            faults: BTreeSet::new(),
        })
    }
}

/// The way by which commits come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Door {
    /// A push to the gate, with the branches that it removes.
    Push {
        /// Those branches.
        removed: BTreeSet<Branch>,
    },
    /// A remote that this machine syncs with: main and wake come before what waits on a branch here.
    Sync,
    /// A push of this machine.
    Out {
        /// Main there.
        main: Option<CommitId>,
        /// Wake there, if it may not come in.
        wake: Option<CommitId>,
        /// Wake there, as far as it is known here.
        had: Option<CommitId>,
        /// Branches of runs that wait there.
        waiting: Tips,
    },
    /// A branch that lies here already, which a person merges. What was made here under a fixed clock stays here.
    Merge,
}

/// Settings of main by main and by a commit of it.
type Meanwhile = HashMap<(Option<CommitId>, Option<CommitId>), Rc<[Settings]>>;

/// A look at many commits.
struct Judge<'c> {
    cycle: &'c Cycle,
    /// Where signatures are required here.
    signing: Option<Signing>,
    /// Commits that another key signed, where that is no fault, with why their signature does not count.
    other_keys: BTreeSet<String>,
    /// Secrets that no commit may add; `None`: nobody asks.
    secrets: Option<Secrets>,
    /// Seconds since 1970: nothing may be dated later.
    latest: i64,
    /// The records of runs that branches have.
    records: Records,
    /// Main as it is with what was judged so far.
    main: Option<CommitId>,
    /// Wake as it would be, if it was judged and may come in.
    wake: Option<CommitId>,
    /// True where a fixed clock is let in.
    fixed_clock: bool,
    /// True where history is audited: nothing may cost the size of the network for each commit.
    is_audit: bool,
    /// True for what this machine is about to push.
    going_out: bool,
    /// By what runs are judged; the first is this brain's own.
    grounds: Vec<Grounds>,
    /// Whether there is nothing here yet: then histories may begin.
    first: bool,
    /// Wake as the other side has it: what it has was judged when it came.
    had: Option<CommitId>,
    /// Main as the other side has it.
    before: Option<CommitId>,
    /// Whether reviewers and rules are those of main as it is now, as at a gate, which saw each thing when it came. A machine that was away
    /// asks what main was meanwhile as well.
    as_now: bool,
    /// Branches of runs that wait where this is to go: a gate there asks them.
    waiting_there: Tips,
    /// By main, and by where a history left it: the settings that main had since.
    meanwhile: Meanwhile,
    /// What is here, and what is to come: the histories that are judged, or were.
    tips: Vec<CommitId>,
    /// Files that were found good, by path and content.
    examined: HashSet<(String, String)>,
    /// Connections to what was not there: commit, the source's file, the target.
    missing: Vec<(Commit, String, NeuronId)>,
    /// Symlinks and submodules where nothing of ours lies: commit, path.
    links: Vec<(Commit, String)>,
    /// Where each decision lies that is known here.
    decisions: Option<Vec<(RunId, String)>>,
    /// True where all decisions are here that wake rests on.
    decisions_known: bool,
    faults: BTreeSet<Fault>,
}

impl Judge<'_> {
    fn fault(&mut self, commit: &Commit, path: &str, line: usize, message: impl Into<String>) {
        self.fault_of(Kind::Other, commit, path, line, message);
    }

    fn fault_of(&mut self, kind: Kind, commit: &Commit, path: &str, line: usize, message: impl Into<String>) {
        let commit = commit.id.to_string();
        self.faults.insert(Fault { commit, path: path.to_owned(), line, message: message.into(), kind });
    }

    /// A commit of the histories that are judged or were. Another object can come along in a push, and nobody looks at it.
    fn judged(&self, id: &str) -> Result<Option<Commit>, CycleError> {
        let Ok(id) = CommitId::parse(id) else { return Ok(None) };
        let Ok(commit) = self.cycle.store.commit(id) else { return Ok(None) };
        for tip in &self.tips {
            if self.cycle.store.is_ancestor(id, *tip)? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    fn commit(&mut self, id: CommitId) -> Result<(), CycleError> {
        let commit = match self.cycle.store.commit(id) {
            Ok(commit) => commit,
            Err(error) => return self.unreadable(id, error.into()),
        };
        self.clock(&commit);
        self.signature(&commit)?;
        self.secrets_of_message(&commit)?;
        self.reviewers(&commit)?;
        let judged = match commit.parents[..] {
            [] => self.beginning(&commit),
            [parent] => self.step(&commit, parent),
            [left, right] => self.merge(&commit, left, right),
            _ => {
                self.fault(&commit, "", 0, "merges more than two histories at once");
                Ok(())
            }
        };
        judged.or_else(|error| self.unreadable(id, error))
    }

    /// What cannot be read is a fault of the commit, unless it is this machine that fails.
    fn unreadable(&mut self, id: CommitId, error: CycleError) -> Result<(), CycleError> {
        use StoreError::{BadObject, BadPath, Missing};
        match error {
            // The audit has told that of the other commit.
            CycleError::Store(BadObject { what: "commit", id: it, .. }) if self.is_audit && it != id.to_string() => {}
            CycleError::Store(BadObject { .. } | BadPath { .. } | Missing { .. }) | CycleError::Json(_) => {
                self.note_unreadable(id, error.to_string());
            }
            CycleError::Merge(_) | CycleError::Settings(_) | CycleError::Refused { .. } => {
                self.note_unreadable(id, error.to_string());
            }
            other => return Err(other),
        }
        Ok(())
    }

    fn note_unreadable(&mut self, id: CommitId, message: String) {
        self.faults.insert(Fault { commit: id.to_string(), message, ..Fault::default() });
    }

    fn beginning(&mut self, commit: &Commit) -> Result<(), CycleError> {
        if !self.first {
            self.fault(commit, "", 0, "begins a history of its own: that of another brain");
            return Ok(());
        }
        let changes = self.cycle.store.diff(None, Some(commit.tree), "")?;
        self.files(commit, &changes)?;
        self.connections(commit, &changes, None)
    }

    fn step(&mut self, commit: &Commit, parent: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let before = store.tree_of(parent)?;
        let changes = store.diff(Some(before), Some(commit.tree), "")?;
        self.files(commit, &changes)?;
        let added = |change: &FileChange| match Place::of(&change.path) {
            Place::Run(run) if change.old.is_none() => Some(run),
            _ => None,
        };
        let records: Vec<RunId> = changes.iter().filter_map(added).collect();
        self.records.note(commit.id, &records);
        let agent = commit.agent().filter(|agent| agent.as_str() != SLEEP);
        if let Some(agent) = &agent
            && self.must_be_signed(commit)?
        {
            return self.signed_run(commit, agent, (parent, before), &records, &changes);
        }
        if let Some(hand) = commit.waking_hand()
            && let Some(key) = ["Sleep", "Undoes"].into_iter().find(|key| commit.trailer(key).is_some())
        {
            self.fault(commit, "", 0, format!("is by the agent {hand}, and says {key}: that is for sleep and people"));
            return Ok(());
        }
        if commit.trailer("Sleep").is_some() && commit.trailer("Undoes").is_some() {
            self.fault(commit, "", 0, "says that it is a sleep, and that it takes one back");
            return Ok(());
        }
        if commit.trailer("Sleep").is_some() {
            self.squash(commit, parent, &changes)?;
            self.logged(commit, before)?;
            return self.connections(commit, &changes, Some(before));
        }
        if commit.trailer("Undoes").is_some() {
            return self.undone(commit, parent);
        }
        if let Some(record) = self.in_place(commit, parent, &records)? {
            return self.run(commit, &record, before, &changes);
        }
        self.by_hand(commit, &records, before, &changes)
    }

    /// The record of the agent's run that a commit is, where it was made.
    fn in_place(&self, commit: &Commit, parent: CommitId, records: &[RunId]) -> Result<Option<RunRecord>, CycleError> {
        let [run] = records else { return Ok(None) };
        if run.is_a_persons() {
            return Ok(None);
        }
        Ok(self.record(commit.tree, run)?.filter(|record| is_in_place(record, parent)))
    }

    /// A commit that is signed for an agent: its own run where it was made, and nothing else.
    fn signed_run(
        &mut self,
        commit: &Commit,
        agent: &AgentName,
        (parent, before): (CommitId, TreeId),
        records: &[RunId],
        changes: &[FileChange],
    ) -> Result<(), CycleError> {
        match self.in_place(commit, parent, records)? {
            Some(record) if record.agent == *agent => self.run(commit, &record, before, changes),
            _ => {
                self.fault(commit, "", 0, format!("is signed for {agent}, and is no run of {agent} where it was made"));
                Ok(())
            }
        }
    }

    /// What a person committed, also if it brings records of runs: by cherry-pick, by squash, by an import, by hand.
    fn by_hand(
        &mut self,
        commit: &Commit,
        records: &[RunId],
        before: TreeId,
        changes: &[FileChange],
    ) -> Result<(), CycleError> {
        if records.is_empty()
            && let Some(agent) = commit.agents_hand()
        {
            let message = format!("is by the agent {agent}, and has no record of a run");
            self.fault_of(Kind::Agent, commit, "", 0, message);
        }
        self.claims_a_run(commit, records, changes);
        self.night_by_hand(commit)?;
        let reverted = self.reverted(commit, before, changes)?;
        for change in changes {
            if Place::of(&change.path).is_immutable()
                && change.old.is_some()
                && !self.is_answered(change)?
                && !(change.new.is_none() && reverted.contains(&change.path))
            {
                let what = if change.new.is_some() { "is changed" } else { "is removed" };
                let message = format!("{what}, and it is written once for ever");
                self.fault_of(Kind::WrittenOnce, commit, &change.path, 1, message);
            }
            if change.path == layout::METADATA {
                self.metadata(commit, before)?;
            }
            self.size_by_hand(commit, change)?;
        }
        self.events_by_hand(commit, changes)?;
        self.approves_by_hand(commit, changes, None)?;
        let cycle = self.cycle;
        let writer = cycle.store.writer()?;
        let mut brought = Vec::new();
        for run in records {
            brought.extend(self.brought(commit, run, (&writer, before), changes, records.len() == 1)?);
        }
        self.brings_whole(&writer, commit, (records, before), &brought)?;
        drop(writer);
        self.connections(commit, changes, Some(before))
    }

    /// Refuses a neuron to which a person adds beyond what a run may: merges need the room.
    fn size_by_hand(&mut self, commit: &Commit, change: &FileChange) -> Result<(), CycleError> {
        let Some(new) = change.new.filter(|_| matches!(Place::of(&change.path), Place::Neuron(_))) else {
            return Ok(());
        };
        let store = &self.cycle.store;
        let large = |file: File| -> Result<Option<Neuron>, CycleError> {
            let bytes = store.content(file.blob)?;
            // A short file says much less than it has room for.
            let may_be_large = bytes.len() > limits::NEURON_BYTES / 4;
            Ok(may_be_large.then(|| Neuron::decode(&bytes, &change.path).ok()).flatten())
        };
        let Some(neuron) = large(new)?.filter(|neuron| neuron.is_larger_than(limits::NEURON_BYTES)) else {
            return Ok(());
        };
        let before = change.old.map(large).transpose()?.flatten();
        if before.is_none_or(|before| before.connections.len() < neuron.connections.len()) {
            let message = format!("grows beyond {} bytes", limits::NEURON_BYTES);
            self.fault(commit, &change.path, 0, message);
        }
        Ok(())
    }

    /// Refuses a person's commit that removes `network/metadata.json`, or goes back to an older format.
    fn metadata(&mut self, commit: &Commit, before: TreeId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let there = |tree| store.file(tree, layout::METADATA);
        let (old, new) = (there(before)?, there(commit.tree)?);
        if old == new {
            return Ok(());
        }
        if new.is_none() {
            self.fault(commit, layout::METADATA, 1, "is removed");
            return Ok(());
        }
        // What does not parse was told already.
        let format = |tree| metadata_of(store, tree).ok().map(|metadata| metadata.format);
        if let (Some(old), Some(new)) = (format(before), format(commit.tree))
            && new < old.min(FORMAT)
        {
            self.fault(commit, layout::METADATA, 1, format!("goes back from format {old} to {new}"));
        }
        Ok(())
    }

    /// Places, modes, formats and dates of what a commit writes.
    fn files(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        for change in changes {
            let Some(new) = change.new else { continue };
            let key = (change.path.clone(), new.blob.to_string());
            if self.examined.contains(&key) && new.is_regular() && !new.is_executable() {
                continue;
            }
            if !new.is_regular() && Place::of(&change.path) == Place::Other {
                self.links.push((commit.clone(), change.path.clone()));
                continue;
            }
            let place = match examine_place(&change.path, new) {
                Ok(finding) => finding,
                Err(finding) => {
                    self.fault(commit, &finding.path, finding.line, finding.message);
                    continue;
                }
            };
            for finding in place.into_iter().filter(|finding| finding.level == Level::Error) {
                self.fault(commit, &finding.path, finding.line, finding.message);
            }
            if Place::of(&change.path) == Place::Other {
                continue;
            }
            let bytes = self.cycle.store.blob(new.blob)?;
            let examined = examine(&change.path, &bytes);
            let mut good = true;
            for finding in examined.findings.into_iter().filter(|finding| finding.level == Level::Error) {
                good = false;
                self.fault(commit, &finding.path, finding.line, finding.message);
            }
            self.dates(commit, &change.path, &bytes, &examined.content);
            good &= !self.secrets_of(commit, change, &bytes)?;
            if let Content::Queue(_, named) = &examined.content
                && self.cycle.store.file(commit.tree, named)?.is_none()
            {
                self.fault(commit, &change.path, 1, format!("names {named}, which is not there"));
            }
            if good {
                self.examined.insert(key);
            }
        }
        Ok(())
    }
}
