//! The audit of a history: git objects and the refs of the brain, and nothing that a machine remembers otherwise.
//!
//! ```text
//! refs ─▶ commits, parents first ─▶ the judge of the gate, by main's own versions ─┐
//!                               └▶ checks of its own, by the differences of trees ─┴▶ findings ─▶ kept up to there
//! ```
//!
//! Two paths that share no step: `admission::history` does again what commits claim, as a gate does; `commits` holds records against neurons,
//! authors, definitions of main at that time, core neurons and the ledger, and `decisions` counts votes again. A commit costs its own difference.

mod commits;
mod decisions;
mod doubles;
mod settled;
mod state;
mod story;
mod undone;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::admission::history::Historian;
use super::admission::{Fault, Kind};
use super::{Cycle, CycleError};
use crate::audit::{Finding, Level, Rule, VERSION};
use crate::limits;
use crate::model::ids::{RunId, hash_fields};
use crate::model::layout::{self, Place};
use crate::store::{Branch, Commit, CommitId, StoreError, Tips};

pub use settled::Accepted;
pub use state::Audited;

/// The part of history to audit.
#[derive(Clone, Debug, Default)]
pub struct AuditRange {
    /// The commit before it; `None`: from the beginning.
    pub after: Option<CommitId>,
    /// Its last commit.
    pub until: Option<CommitId>,
}

/// The walk over history.
struct Auditor<'c> {
    cycle: &'c Cycle,
    historian: Historian<'c>,
    audited: Audited,
    /// Commits of runs where they were made, in this walk.
    runs: BTreeMap<RunId, BTreeSet<CommitId>>,
    /// Commits that main gained.
    gained: HashSet<CommitId>,
    /// Whether the commit is audited for the first time.
    is_new: bool,
    tips: Tips,
    /// By commit, the time of the newest version of main at or behind it; made when it is first asked for.
    main_behind: OnceCell<HashMap<CommitId, i64>>,
}

impl Cycle {
    /// Audits all that is new since the last audit and what was wrong then, or everything; keeps how far it came after each step of the walk.
    pub fn audit(&self, from_start: bool, progress: &mut dyn FnMut(usize, usize)) -> Result<Audited, CycleError> {
        self.auditing(|| self.audit_new(from_start, progress))
    }

    fn auditing<T>(&self, audit: impl FnOnce() -> T) -> T {
        let before = self.is_auditing.replace(true);
        let audited = audit();
        self.is_auditing.set(before);
        self.void.take();
        audited
    }

    fn audit_new(&self, from_start: bool, progress: &mut dyn FnMut(usize, usize)) -> Result<Audited, CycleError> {
        let (tips, broken) = self.audited_tips()?;
        let grounds = self.audit_grounds()?;
        let mut audited = Audited::load(&self.store).unwrap_or_default();
        let goes_on = self.note_rewritten(&mut audited, &tips)? && !self.has_lost_decisions(&audited)?;
        if from_start || !goes_on || audited.grounds != grounds {
            audited = audited.anew(grounds);
        }
        (audited.fresh, audited.left_off) = (0, 0);
        audited.void.clear();
        audited.findings = audited.rewritten.union(&audited.drifts).chain(&broken).cloned().collect();
        let hidden = audited.known(&self.store);
        let mut auditor = Auditor::new(self, audited, &tips)?;
        let eras = auditor.historian.times();
        // What was in force when older runs were made is not what it was then.
        if !auditor.audited.goes_on_by(&eras) {
            return self.audit_new(true, progress);
        }
        auditor.audited.eras = eras;
        // A landing is judged by the decisions that count.
        let decided = auditor.decisions()?;
        self.void.replace(auditor.audited.void.clone());
        auditor.walk(&tips, &hidden, true, progress)?;
        auditor.after_decisions(&decided)?;
        let wake = self.store.need_tip(self.store.wake())?;
        let found = auditor.doubles(&tips);
        auditor.goes_on(wake, found)?;
        let found = auditor.settle(&tips);
        auditor.goes_on(wake, found)?;
        let mut audited = auditor.audited;
        audited.finish(&tips, self.store.reviews()?);
        audited.keep(&self.store);
        Ok(audited)
    }

    /// Audits a range alone. Nothing is kept.
    ///
    /// # Errors
    /// A range without commits.
    pub fn audit_range(
        &self,
        range: &AuditRange,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Option<Audited>, CycleError> {
        self.auditing(|| self.audit_part(range, progress))
    }

    fn audit_part(
        &self,
        range: &AuditRange,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Option<Audited>, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        let tip = range.until.unwrap_or(wake);
        let hidden: Vec<CommitId> = range.after.into_iter().collect();
        if self.store.commits_within(tip, &hidden, limits::AUDIT_WALK)?.is_empty() {
            return Ok(None);
        }
        let on_main = match self.store.tip(self.store.main())? {
            Some(main) => !self.store.is_ancestor(tip, wake)? && self.store.is_ancestor(tip, main)?,
            None => false,
        };
        let branch = if on_main { self.store.main().clone() } else { self.store.wake().clone() };
        let tips: Tips = [(branch, tip)].into_iter().collect();
        let waiting = self.audited_tips()?.0;
        let mut auditor = Auditor::new(self, Audited::default(), &waiting)?;
        // Decisions are judged by an audit of all, and a part goes by the newest one.
        self.void.replace(Audited::load(&self.store).map(|known| known.void).unwrap_or_default());
        auditor.walk(&tips, &hidden, false, progress)?;
        auditor.settle(&waiting)?;
        Ok(Some(auditor.audited))
    }

    /// The open findings about a commit of wake's own line and what it brings. None, where it cannot be audited.
    pub fn findings_within(&self, id: CommitId) -> Vec<Finding> {
        let parent = self.store.commit(id).ok().and_then(|commit| commit.parents.first().copied());
        let range = AuditRange { after: parent, until: Some(id) };
        self.audit_range(&range, &mut |_, _| ()).ok().flatten().map(|audited| audited.open()).unwrap_or_default()
    }

    /// What the results of an audit follow from, beside history: another one begins anew.
    fn audit_grounds(&self) -> Result<String, CycleError> {
        let store = &self.store;
        let mut text = format!("{VERSION}");
        if store.requires_signatures()? {
            text += &format!(" {:?} {}", store.signed_since()?, store.signers_text()?);
        }
        if let Some(main) = store.tip(store.main())?
            && let Ok(settings) = self.settings_at(main)
        {
            text += &format!(" {:?} {:?}", settings.review, settings.secrets);
        }
        Ok(format!("{:016x}", hash_fields(&[text.as_bytes()])))
    }

    /// What the last audit found, if its rules are those of now.
    pub fn last_audit(&self) -> Option<Audited> {
        Audited::load(&self.store)
    }

    /// The commit of a run of wake, where it was made; else the commit that brought its record.
    pub fn own_commit(&self, wake: CommitId, run: &RunId) -> Result<CommitId, CycleError> {
        Ok(self.commits_that_made(wake, run)?[0])
    }

    /// The commit of a run of wake, and the one that landed it. Another commit can say its name.
    pub fn commits_that_made(&self, wake: CommitId, run: &RunId) -> Result<[CommitId; 2], CycleError> {
        let landed = self.landed_in(wake, run)?;
        let own = match self.store.commit(landed)?.parents[..] {
            [_, own] => self.commit_of_run(own, run)?.id,
            _ => landed,
        };
        Ok([own, landed])
    }

    /// The run that a commit names and whose record it brings: who only copies a message brings none.
    pub fn run_of_commit(&self, commit: &Commit) -> Result<Option<RunId>, CycleError> {
        let before = commit.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
        for run in commit.trailer_values("Run").filter_map(|run| RunId::parse(run).ok()) {
            let path = layout::run(&run);
            let is_there = |tree| Ok::<_, CycleError>(self.store.file(tree, &path)?.is_some());
            if is_there(commit.tree)? && !before.map_or(Ok(false), is_there)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The commit of wake's line that brought the record of a run.
    pub(super) fn landed_in(&self, wake: CommitId, run: &RunId) -> Result<CommitId, CycleError> {
        let path = layout::run(run);
        let mut newest = wake;
        for commit in self.store.first_parents(wake, None).take(limits::AUDIT_WALK) {
            let commit = commit?;
            if self.store.file(commit.tree, &path)?.is_none() {
                break;
            }
            newest = commit.id;
        }
        Ok(newest)
    }

    /// Main, wake and the runs that wait; and refs that name no commit, which are left out.
    fn audited_tips(&self) -> Result<(Tips, Vec<Finding>), CycleError> {
        let (store, mut broken) = (&self.store, Vec::new());
        let none = |name: &str, id| Finding::new(Rule::Unreadable, id, format!("is what {name} names, and no commit"));
        let all = || -> Result<Tips, CycleError> {
            let mut tips: Tips = self.run_branches()?.into_iter().collect();
            for branch in [store.main(), store.wake()] {
                tips.insert(branch.clone(), store.need_tip(branch)?);
            }
            Ok(tips)
        };
        let mut tips = all()?;
        for (branch, tip) in &tips {
            let Err(error) = store.commit(*tip) else { continue };
            if store.has_no_commit(*tip) {
                broken.push(none(branch.as_str(), *tip));
            } else {
                // Of a branch that ends at what cannot be read the rest is audited, and so are all others.
                broken.push(Finding::new(Rule::Unreadable, *tip, error.to_string()));
                store.pass_over(*tip);
            }
        }
        if !broken.is_empty() {
            tips = all()?;
            tips.retain(|_, tip| store.commit(*tip).is_ok());
        }
        if let Some(tip) = store.reviews()?.filter(|tip| store.has_no_commit(*tip)) {
            broken.push(none("the ref of decisions", tip));
            store.go_on_without_reviews();
        }
        Ok((tips, broken))
    }

    /// Whether a decision that the last audit saw was changed or is gone: what landed by it is audited again.
    fn has_lost_decisions(&self, audited: &Audited) -> Result<bool, CycleError> {
        let (Some(then), Some(now)) = (audited.seen_reviews(), self.store.reviews()?) else {
            return Ok(audited.seen_reviews().is_some());
        };
        if then == now || self.store.commit(then).is_err() {
            return Ok(false);
        }
        let tree = |id| self.store.tree_of(id);
        let changes = tree(then).and_then(|then| self.store.diff(Some(then), Some(tree(now)?), ""));
        match changes.map_err(CycleError::from) {
            Err(error) if error.is_of_the_history() => Ok(true),
            changes => Ok(changes?.iter().any(|change| change.old.is_some())),
        }
    }

    /// Notes branches that no longer go on from where the last audit saw them. Whether what was audited goes on.
    ///
    /// A tip that sync gave up for another one is kept as a rescue ref, and is no fault.
    fn note_rewritten(&self, audited: &mut Audited, tips: &Tips) -> Result<bool, CycleError> {
        let store = &self.store;
        let is_behind = |then: CommitId, now: CommitId| -> Result<bool, CycleError> {
            Ok(store.commit(then).is_ok() && store.is_ancestor(then, now)?)
        };
        let mut seen: Vec<(String, CommitId, Option<CommitId>)> = Vec::new();
        for branch in [store.main(), store.wake()] {
            seen.extend(audited.seen(branch).map(|then| (branch.to_string(), then, tips.get(branch).copied())));
        }
        seen.extend(
            audited
                .seen_reviews()
                .map(|then| Ok::<_, CycleError>(("decisions".to_owned(), then, store.reviews()?)))
                .transpose()?,
        );
        let mut goes_on = true;
        for (name, then, now) in seen {
            if now == Some(then) || now.map(|now| is_behind(then, now)).transpose()?.unwrap_or(false) {
                continue;
            }
            goes_on = false;
            let mut is_rescued = false;
            for kept in store.rescued()? {
                is_rescued = is_rescued || is_behind(then, kept)?;
            }
            if !is_rescued {
                let message = match now {
                    Some(_) => {
                        format!("is the tip of {name}, which the last audit saw at {then}: that is not behind it")
                    }
                    None => format!("was the tip of {name} in the last audit, and there are none any more"),
                };
                audited.rewritten.insert(Finding::new(Rule::Rewritten, now.unwrap_or(then), message));
            }
        }
        Ok(goes_on)
    }
}

impl<'c> Auditor<'c> {
    /// An auditor who knows the history of all tips: a commit of the audited part may rest on one outside of it.
    fn new(cycle: &'c Cycle, audited: Audited, tips: &Tips) -> Result<Self, CycleError> {
        let historian = cycle.historian(tips)?;
        let (runs, gained, main_behind) = Default::default();
        Ok(Self { cycle, historian, audited, runs, gained, is_new: true, tips: tips.clone(), main_behind })
    }

    fn walk(
        &mut self,
        tips: &Tips,
        hidden: &[CommitId],
        keeps: bool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let (main, wake) = (store.main().clone(), store.wake().clone());
        let mut order: Vec<(&Branch, CommitId)> = tips.iter().map(|(branch, tip)| (branch, *tip)).collect();
        order.sort_by_key(|(branch, _)| (**branch != main, **branch != wake));
        let mut known = hidden.to_vec();
        let mut all: Vec<(CommitId, CommitId)> = Vec::new();
        for (branch, tip) in &order {
            // To learn that nothing is new behind a branch that stands far behind wake, all between would be read.
            if keeps && self.audited.head(branch) == Some(*tip) {
                known.push(*tip);
                continue;
            }
            all.extend(store.commits_within(*tip, &known, limits::AUDIT_WALK)?.into_iter().map(|id| (id, *tip)));
            known.push(*tip);
        }
        let of_main = store.need_tip(&main)?;
        let before: Vec<CommitId> = match keeps {
            true => self.audited.head(&main).into_iter().collect(),
            false => hidden.iter().copied().filter(|id| store.is_ancestor(*id, of_main).unwrap_or(false)).collect(),
        };
        if !before.contains(&of_main) {
            self.gained = store.commits_within(of_main, &before, limits::AUDIT_WALK)?.into_iter().collect();
        }
        let fresh: HashSet<CommitId> = all.iter().map(|(id, _)| *id).collect();
        self.is_new = false;
        let suspects = self.audited.suspects(store);
        for id in &suspects {
            if store.commit(*id).is_err() {
                store.pass_over(*id);
            }
        }
        let (mut behind, mut walked): (HashMap<CommitId, CommitId>, Vec<CommitId>) = Default::default();
        for (_, tip) in order.iter().filter(|_| !suspects.is_empty()) {
            let beyond = store.commits_within(*tip, &walked, limits::AUDIT_WALK)?;
            behind.extend(beyond.into_iter().map(|id| (id, *tip)));
            walked.push(*tip);
        }
        for id in suspects.into_iter().filter(|id| !fresh.contains(id)) {
            if let Some(tip) = behind.get(&id) {
                self.commit(id, *tip)?;
            }
        }
        self.is_new = true;
        let count = all.len();
        for (done, (id, tip)) in all.into_iter().enumerate() {
            progress(done, count);
            self.commit(id, tip)?;
            if keeps && (done + 1) % limits::AUDIT_STEP == 0 {
                self.audited.keep(&self.cycle.store);
            }
        }
        progress(count, count);
        if keeps {
            self.audited.keep(&self.cycle.store);
        }
        self.taken_by_main(&fresh, keeps)?;
        let Some(tip) = tips.get(&wake).copied() else { return Ok(()) };
        self.landings(tip, hidden, keeps)
    }

    /// What main gained of commits that were known otherwise: wake's, that somebody merged or made main.
    fn taken_by_main(&mut self, fresh: &HashSet<CommitId>, keeps: bool) -> Result<(), CycleError> {
        let mut gained: Vec<CommitId> = self.gained.iter().copied().filter(|id| keeps && !fresh.contains(id)).collect();
        gained.sort();
        for id in gained {
            let faults = self.historian.on_main(id);
            if let Some(faults) = self.goes_on(id, faults)? {
                self.take(id, faults)?;
            }
        }
        Ok(())
    }

    /// What new commits of wake's own line bring, and those that were wrong, by those whom main lets decide.
    fn landings(&mut self, tip: CommitId, hidden: &[CommitId], keeps: bool) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        if !self.historian.names_reviewers()? {
            return Ok(());
        }
        let stop: Vec<CommitId> = match keeps {
            true => self.audited.head(store.wake()).into_iter().collect(),
            false => hidden.to_vec(),
        };
        let new: HashSet<CommitId> = store.commits_within(tip, &stop, limits::AUDIT_WALK)?.into_iter().collect();
        let mut open: HashSet<CommitId> = self.audited.suspects(store).into_iter().collect();
        let mut wanted = Vec::new();
        for commit in store.first_parents(tip, None).take(limits::AUDIT_WALK) {
            let Ok(commit) = commit else { continue };
            let is_suspect = open.remove(&commit.id);
            if is_suspect || new.contains(&commit.id) {
                wanted.push(commit.id);
            } else if open.is_empty() {
                break;
            }
        }
        for id in wanted {
            let faults = self.historian.landing(id);
            if let Some(faults) = self.goes_on(id, faults)? {
                self.take(id, faults)?;
            }
        }
        Ok(())
    }

    fn commit(&mut self, id: CommitId, tip: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let commit = match store.commit(id) {
            Ok(commit) => commit,
            Err(error) => {
                self.audited.add(Finding::new(Rule::Unreadable, id, error.to_string()));
                self.audited.suspect(id);
                // A commit upon it is held against the newest one behind it that can be read.
                store.pass_over(id);
                if self.is_new {
                    self.audited.passed(id, &[], 0);
                }
                return Ok(());
            }
        };
        let judged = self.judged(id, tip);
        self.goes_on(id, judged)?;
        let found = self.own_checks(&commit);
        let found = self.goes_on(id, found)?.unwrap_or_default();
        let run = commit.trailer("Run").map(str::to_owned).unwrap_or_default();
        for finding in found {
            self.audited.suspect(id);
            self.audited.add(if finding.run.is_empty() { finding.of_run(&run) } else { finding });
        }
        if self.is_new {
            self.audited.passed(id, &commit.parents, commit.committed);
        }
        Ok(())
    }

    fn judged(&mut self, id: CommitId, tip: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let mut faults = self.historian.commit(id, tip)?;
        let main = store.need_tip(store.main())?;
        if self.gained.contains(&id) || !self.is_new && store.is_ancestor(id, main)? {
            faults.extend(self.historian.on_main(id)?);
        }
        self.take(id, faults)
    }

    /// Goes on where what a commit has cannot be read, and says so of it. What cannot be read of another commit is told there.
    fn goes_on<T>(&mut self, id: CommitId, found: Result<T, CycleError>) -> Result<Option<T>, CycleError> {
        match found {
            Err(error) if error.is_of_the_history() => {
                if !is_of_another(&error, id) {
                    self.audited.suspect(id);
                    self.audited.add(Finding::new(Rule::Unreadable, id, error.to_string()));
                }
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Takes in what the judge of the gate said.
    fn take(&mut self, judged: CommitId, faults: BTreeSet<Fault>) -> Result<(), CycleError> {
        let has_decisions = self.cycle.store.reviews()?.is_some();
        for fault in faults {
            self.audited.suspect(judged);
            let commit = CommitId::parse(&fault.commit).ok().and_then(|id| self.cycle.store.commit(id).ok());
            let rule = rule_of(fault.kind, commit.as_ref());
            // Of a record the run that it is of: a commit may bring it that names no run.
            let run = match Place::of(&fault.path) {
                Place::Run(run) => run.to_string(),
                _ => commit.as_ref().and_then(|commit| commit.trailer("Run")).unwrap_or_default().to_owned(),
            };
            let mut finding = Finding::new(rule, &fault.commit, fault.message).at(&fault.path, fault.line).of_run(run);
            let says_reviewed = || commit.as_ref().is_some_and(|commit| commit.trailer("Reviewed-by").is_some());
            if !has_decisions && (rule == Rule::Reviewer || rule == Rule::Unapproved && says_reviewed()) {
                // Nothing can be held against decisions that did not come yet.
                finding.level = Level::Warn;
                finding.message += ": `git brain sync` fetches decisions, and there are none here";
            }
            if fault.kind == Kind::NoDay
                && let Some(night) = &commit
                && self.came_by_sync(night.id)?
            {
                // A sync took main, which it had judged, and not the wake that came with it.
                finding.level = Level::Warn;
                finding.message += ": the wake that it came with was not let in; `git brain sync` brings it";
            }
            self.audited.add(finding);
        }
        Ok(())
    }

    /// Whether main of a remote had that commit when it was last seen.
    fn came_by_sync(&self, id: CommitId) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        for remote in store.remotes()? {
            if let Some(main) = store.seen(&remote)?.get(store.main())
                && store.is_ancestor(id, *main)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether what cannot be read is another commit.
fn is_of_another(error: &CycleError, commit: CommitId) -> bool {
    matches!(error, CycleError::Store(StoreError::BadObject { what: "commit", id, .. }) if *id != commit.to_string())
}

/// The rule that a fault of the gate breaks.
fn rule_of(kind: Kind, commit: Option<&Commit>) -> Rule {
    match kind {
        Kind::SecondRecord => return Rule::SingleWriter,
        Kind::Signature => return Rule::Signature,
        Kind::WakeOnMain => return Rule::MainLine,
        Kind::FixedClock | Kind::Ahead => return Rule::Clock,
        Kind::Reviewer => return Rule::Reviewer,
        Kind::Unapproved => return Rule::Unapproved,
        Kind::WrittenOnce => return Rule::WrittenOnce,
        Kind::Secret => return Rule::Secret,
        Kind::Trailer => return Rule::ForgedTrailer,
        Kind::Author => return Rule::ForgedAuthor,
        Kind::Agent => return Rule::SingleWriter,
        Kind::NoDay => return Rule::SleepLog,
        Kind::Ledger => return Rule::LedgerGap,
        Kind::Signal => return Rule::SignalGap,
        Kind::Wisdom => return Rule::WisdomGap,
        Kind::Sealed => return Rule::SealedGap,
        Kind::Other => {}
    }
    let Some(commit) = commit else { return Rule::Unreadable };
    let says = |key: &str| commit.trailer(key).is_some();
    match commit.parents.len() {
        _ if says("Undoes") => Rule::UndoMismatch,
        2 if says("Policy") => Rule::MergeMismatch,
        1 if says("Sleep") => Rule::SleepLog,
        1 if says("Run") => Rule::RunMismatch,
        _ => Rule::Format,
    }
}
