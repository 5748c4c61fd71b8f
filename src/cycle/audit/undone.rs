//! What a later commit of a person took back: a revert that names the commit, or a change by hand that gives back each field that it wrote.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Auditor;
use crate::audit::fields::{GivesBack, document_gives_back, document_stands, neuron_gives_back, neuron_stands};
use crate::audit::{Finding, Rule, Settled};
use crate::cycle::CycleError;
use crate::cycle::admission::SAYS;
use crate::cycle::trailers::{SLEEP_TRAILER, UNDOES_TRAILER};
use crate::model::layout::Place;
use crate::model::{Neuron, Stamp};
use crate::store::{Commit, CommitId, File, FileChange, Store, Tips, TreeId};

/// A commit that may give something back or put it back: neither a run of an agent nor a typed merge, which bring what their records and
/// parents say or have a finding of their own.
struct Hand {
    id: CommitId,
    tree: TreeId,
    parents: Vec<CommitId>,
}

/// Later commits by which people take others back.
pub(super) struct Undone<'c> {
    store: &'c Store,
    tips: &'c Tips,
    /// Those that say so, by the commit that they name.
    reverts: BTreeMap<String, Vec<CommitId>>,
    hands: Vec<Hand>,
    /// Changes by hand, by the files that they touch.
    by_hand: HashMap<String, BTreeSet<CommitId>>,
    /// Commits with something wrong, but for what is written once and no longer as it was.
    wrong: BTreeSet<String>,
    /// What was found already.
    known: RefCell<HashMap<CommitId, Option<CommitId>>>,
}

impl<'c> Undone<'c> {
    pub(super) fn of(auditor: &Auditor<'c>, tips: &'c Tips, open: &[Finding]) -> Result<Self, CycleError> {
        let mut reverts: BTreeMap<String, Vec<CommitId>> = BTreeMap::new();
        let (mut hands, mut plain) = (Vec::new(), Vec::new());
        if open.iter().any(is_undone_by_its_tree) {
            auditor.each_commit(tips, |commit| {
                if let Some(named) = named_by(&commit).filter(|_| commit.agents_hand().is_none()) {
                    reverts.entry(named.to_owned()).or_default().push(commit.id);
                }
                let says = |key: &str| commit.trailer(key).is_some();
                if says("Policy") || says("Run") && commit.agents_hand().is_some() {
                    return;
                }
                let is_by_hand = !["Run", "Stimulus", SLEEP_TRAILER, UNDOES_TRAILER].into_iter().any(says);
                if is_by_hand && commit.agents_hand().is_none() && commit.parents.len() == 1 {
                    plain.push((commit.id, commit.parents[0], commit.tree));
                }
                hands.push(Hand { id: commit.id, tree: commit.tree, parents: commit.parents });
            })?;
        }
        let faulty: BTreeSet<&str> = open.iter().map(|finding| finding.commit.as_str()).collect();
        let store = &auditor.cycle.store;
        let mut by_hand: HashMap<String, BTreeSet<CommitId>> = HashMap::new();
        for (id, parent, tree) in plain {
            if faulty.contains(id.to_string().as_str()) {
                continue;
            }
            let changes = store.tree_of(parent).and_then(|before| store.diff(Some(before), Some(tree), ""));
            for change in told_already(changes.map_err(CycleError::from))?.unwrap_or_default() {
                by_hand.entry(change.path).or_default().insert(id);
            }
        }
        let wrong = open.iter().filter(|finding| finding.rule != Rule::WrittenOnce);
        let wrong = wrong.map(|finding| finding.commit.clone()).collect();
        let known = RefCell::default();
        Ok(Self { store, tips, reverts, hands, by_hand, wrong, known })
    }

    /// The commit that took back all that a finding is about; or that of the finding, if it gives back what was written once.
    pub(super) fn settled(&self, finding: &Finding) -> Result<Option<Settled>, CycleError> {
        if !is_undone_by_its_tree(finding) {
            return Ok(None);
        }
        let Some(commit) = CommitId::parse(&finding.commit).ok().and_then(|id| self.store.commit(id).ok()) else {
            return Ok(None);
        };
        if let Some(by) = self.taken_back(&commit)? {
            return Ok(Some(settled_by(&self.store.commit(by)?, format!("taken back by the commit {by}"))));
        }
        let named = named_by(&commit).filter(|_| finding.rule == Rule::WrittenOnce);
        let named = named.and_then(|id| self.store.commit(CommitId::parse(id).ok()?).ok());
        match named {
            Some(named)
                if self.taken_back(&named)?.is_some_and(|by| by == commit.id)
                    && self.changes(&named)?.iter().any(|change| change.path == finding.path) =>
            {
                Ok(Some(settled_by(&commit, format!("gives back what the commit {} changed", named.id))))
            }
            _ => Ok(None),
        }
    }

    /// The commit that took another one back on each branch of ours that has it, and that was not taken back itself.
    fn taken_back(&self, named: &Commit) -> Result<Option<CommitId>, CycleError> {
        if let Some(known) = self.known.borrow().get(&named.id) {
            return Ok(*known);
        }
        // Each of them is upon the one that it takes back, so this comes to an end.
        let found = told_already(self.find(named))?.flatten();
        self.known.borrow_mut().insert(named.id, found);
        Ok(found)
    }

    fn find(&self, named: &Commit) -> Result<Option<CommitId>, CycleError> {
        let changes = self.changes(named)?;
        // A run that landed by a merge is also taken back by what names its own commit.
        let own = named.parents.get(1).map(ToString::to_string);
        let names = std::iter::once(named.id.to_string()).chain(own);
        let said = names.filter_map(|id| self.reverts.get(&id)).flatten().copied();
        let said = said.filter(|by| !self.wrong.contains(&by.to_string()));
        let by_hand: BTreeSet<CommitId> =
            changes.iter().filter_map(|change| self.by_hand.get(&change.path)).flatten().copied().collect();
        for by in said.chain(by_hand) {
            if self.is_taken_back_by(named, &changes, &self.store.commit(by)?)? {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    fn is_taken_back_by(&self, named: &Commit, changes: &[FileChange], by: &Commit) -> Result<bool, CycleError> {
        Ok(self.is_on_each_line(named, by)?
            && self.takes_back(by, named, changes)?
            && self.taken_back(by)?.is_none()
            && !self.is_in_force(named, changes)?
            && !self.is_put_back(named, changes, by)?)
    }

    /// The tips on which something stands until it is taken back there: main, if it was made there; else wake; else the branches that wait.
    fn lines(&self, named: &Commit) -> Result<Vec<CommitId>, CycleError> {
        let trunks = [self.store.main(), self.store.wake()].map(|branch| self.tips.get(branch));
        for tip in trunks.into_iter().flatten() {
            if self.store.is_ancestor(named.id, *tip)? {
                return Ok(vec![*tip]);
            }
        }
        let mut lines = Vec::new();
        for tip in self.tips.values() {
            if self.store.is_ancestor(named.id, *tip)? {
                lines.push(*tip);
            }
        }
        Ok(lines)
    }

    fn changes(&self, named: &Commit) -> Result<Vec<FileChange>, CycleError> {
        let before = named.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
        Ok(self.store.diff(before, Some(named.tree), "")?)
    }

    fn is_on_each_line(&self, named: &Commit, by: &Commit) -> Result<bool, CycleError> {
        for tip in self.lines(named)? {
            if !self.store.is_ancestor(by.id, tip)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a commit gives back each file that another one changed: as it was before that one, or, where a later commit changed it as well,
    /// in each field that it wrote.
    fn takes_back(&self, by: &Commit, named: &Commit, changes: &[FileChange]) -> Result<bool, CycleError> {
        let (Some(parent), false) = (by.parents.first(), named.parents.is_empty()) else { return Ok(false) };
        if by.id == named.id || !self.store.is_ancestor(named.id, by.id)? {
            return Ok(false);
        }
        let found = self.store.tree_of(*parent)?;
        let mut is_any = false;
        for change in changes {
            let (was, is) = (self.store.file(found, &change.path)?, self.store.file(by.tree, &change.path)?);
            is_any |= match is == change.old {
                true => was != is,
                false => match self.gives_back(change, was, is)? {
                    GivesBack::Nothing => return Ok(false),
                    GivesBack::Here => true,
                    GivesBack::Before => false,
                },
            };
        }
        Ok(is_any)
    }

    /// The same of the fields of one file.
    fn gives_back(&self, change: &FileChange, was: Option<File>, is: Option<File>) -> Result<GivesBack, CycleError> {
        let files = [change.old, change.new, was, is];
        let [Some(before), Some(wrote), Some(found), Some(now)] = files else { return Ok(GivesBack::Nothing) };
        if files.iter().flatten().any(|file| !file.is_regular()) {
            return Ok(GivesBack::Nothing);
        }
        let read = |file: File| self.store.content(file.blob);
        let (Ok(before), Ok(wrote), Ok(found), Ok(now)) = (read(before), read(wrote), read(found), read(now)) else {
            return Ok(GivesBack::Nothing);
        };
        if !is_neuron(&change.path) {
            return Ok(document_gives_back(&change.path, &before, &wrote, &found, &now));
        }
        let neuron = |bytes: &[u8]| Neuron::decode(bytes, &change.path);
        match (neuron(&before), neuron(&wrote), neuron(&found), neuron(&now)) {
            (Ok(before), Ok(wrote), Ok(found), Ok(now)) => Ok(neuron_gives_back(&before, &wrote, &found, &now)),
            _ => Ok(GivesBack::Nothing),
        }
    }

    /// Whether a file is again as a commit made it.
    fn is_in_force(&self, named: &Commit, changes: &[FileChange]) -> Result<bool, CycleError> {
        for change in changes.iter().filter(|change| change.new.is_some()) {
            for tip in self.lines(named)? {
                if self.store.file(self.store.tree_of(tip)?, &change.path)? == change.new {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a commit upon the one that took another back made a file again as that had made it, or all fields that it wrote there, and was
    /// not taken back itself. What a later run of an agent makes of such a file gives nothing back.
    fn is_put_back(&self, named: &Commit, changes: &[FileChange], by: &Commit) -> Result<bool, CycleError> {
        let lines = self.lines(named)?;
        for hand in self.hands.iter().filter(|hand| hand.id != by.id) {
            for change in changes.iter().filter(|change| change.new.is_some()) {
                if self.puts_back(hand, change, by.id)?
                    && self.store.is_ancestor(by.id, hand.id)?
                    && self.is_behind_one_of(hand.id, &lines)?
                    && self.taken_back(&self.store.commit(hand.id)?)?.is_none()
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn is_behind_one_of(&self, id: CommitId, tips: &[CommitId]) -> Result<bool, CycleError> {
        for tip in tips {
            if self.store.is_ancestor(id, *tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a file, or its fields, are as a commit made them, and were not before.
    fn puts_back(&self, hand: &Hand, change: &FileChange, since: CommitId) -> Result<bool, CycleError> {
        let is = self.store.file(hand.tree, &change.path)?;
        let mut parents = Vec::new();
        for parent in &hand.parents {
            let was = self.store.file(self.store.tree_of(*parent)?, &change.path)?;
            if was == is {
                // A side that never had it given back brings it anew.
                if hand.parents.len() == 1 || self.store.is_ancestor(since, *parent)? {
                    return Ok(false);
                }
                continue;
            }
            parents.push(was);
        }
        if is == change.new {
            return Ok(true);
        }
        if !self.stands(change, is)? {
            return Ok(false);
        }
        for was in parents {
            if self.stands(change, was)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the fields of a file are as a commit wrote them.
    fn stands(&self, change: &FileChange, is: Option<File>) -> Result<bool, CycleError> {
        let (Some(wrote), Some(now)) = (change.new, is) else { return Ok(false) };
        if !wrote.is_regular() || !now.is_regular() || change.old.is_some_and(|file| !file.is_regular()) {
            return Ok(false);
        }
        let read = |file: File| self.store.content(file.blob);
        let (Ok(before), Ok(wrote), Ok(now)) = (change.old.map(read).transpose(), read(wrote), read(now)) else {
            return Ok(false);
        };
        if !is_neuron(&change.path) {
            return Ok(before.is_some_and(|before| document_stands(&change.path, &before, &wrote, &now)));
        }
        let neuron = |bytes: &[u8]| Neuron::decode(bytes, &change.path).ok();
        let before = before.as_deref().and_then(neuron);
        Ok(match (neuron(&wrote), neuron(&now)) {
            (Some(wrote), Some(now)) => neuron_stands(before.as_ref(), &wrote, &now),
            _ => false,
        })
    }
}

/// Nothing, where history cannot be read: that is a finding already, and gives nothing back.
fn told_already<T>(found: Result<T, CycleError>) -> Result<Option<T>, CycleError> {
    match found {
        Err(error) if error.is_of_the_history() => Ok(None),
        found => found.map(Some),
    }
}

fn is_neuron(path: &str) -> bool {
    matches!(Place::of(path), Place::Neuron(_))
}

/// The commit that one says it reverts.
fn named_by(commit: &Commit) -> Option<&str> {
    commit.message.split_once(SAYS)?.1.get(..40)
}

pub(super) fn settled_by(commit: &Commit, why: String) -> Settled {
    let at = Stamp::from_unix(commit.committed).to_string();
    Settled { by: format!("{} <{}>", commit.author, commit.email), at, why }
}

/// Whether files as they were before end what a finding is about: history keeps a secret, and a tip that was rewritten.
fn is_undone_by_its_tree(finding: &Finding) -> bool {
    !matches!(finding.rule, Rule::Secret | Rule::Rewritten | Rule::ForeignRoot)
}
