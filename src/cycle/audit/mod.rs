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
mod state;
mod story;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::admission::history::Historian;
use super::admission::{Fault, Kind};
use super::{Cycle, CycleError};
use crate::audit::{Finding, Rule};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout;
use crate::store::{Branch, Commit, CommitId, Tips};

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
    runs: HashMap<RunId, CommitId>,
    main_line: HashSet<CommitId>,
}

impl Cycle {
    /// Audits all that is new since the last audit, or everything; keeps how far it came after each step of the walk.
    pub fn audit(&self, from_start: bool, progress: &mut dyn FnMut(usize, usize)) -> Result<Audited, CycleError> {
        let mut audited = if from_start { Audited::default() } else { Audited::load(&self.store).unwrap_or_default() };
        let tips = self.audited_tips()?;
        self.note_rewritten(&mut audited, &tips)?;
        audited.fresh = 0;
        let hidden = audited.known(&self.store);
        let mut auditor = Auditor::new(self, &tips, audited)?;
        auditor.walk(&tips, &hidden, true, progress)?;
        auditor.decisions(true)?;
        let mut audited = auditor.audited;
        audited.finish(&tips, self.store.reviews()?);
        audited.keep(&self.store);
        Ok(audited)
    }

    /// Audits a range alone. Nothing is kept.
    pub fn audit_range(
        &self,
        range: &AuditRange,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Audited, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        let tip = range.until.unwrap_or(wake);
        let on_main = match self.store.tip(self.store.main())? {
            Some(main) => !self.store.is_ancestor(tip, wake)? && self.store.is_ancestor(tip, main)?,
            None => false,
        };
        let branch = if on_main { self.store.main().clone() } else { self.store.wake().clone() };
        let tips: Tips = [(branch, tip)].into_iter().collect();
        let hidden: Vec<CommitId> = range.after.into_iter().collect();
        let mut auditor = Auditor::new(self, &tips, Audited::default())?;
        auditor.walk(&tips, &hidden, false, progress)?;
        Ok(auditor.audited)
    }

    /// What the last audit found, if its rules are those of now.
    pub fn last_audit(&self) -> Option<Audited> {
        Audited::load(&self.store)
    }

    /// The commit of a run of wake, where it was made; else the commit that brought its record.
    pub fn own_commit(&self, wake: CommitId, run: &RunId) -> Result<CommitId, CycleError> {
        let landed = self.landed_in(wake, run)?;
        match self.store.commit(landed)?.parents[..] {
            [_, own] => Ok(self.commit_of_run(own, run)?.id),
            _ => Ok(landed),
        }
    }

    /// The commit of wake's line that brought the record of a run.
    fn landed_in(&self, wake: CommitId, run: &RunId) -> Result<CommitId, CycleError> {
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

    /// Main, wake and the runs that wait.
    fn audited_tips(&self) -> Result<Tips, CycleError> {
        let mut tips = Tips::new();
        for branch in [self.store.main(), self.store.wake()] {
            tips.insert(branch.clone(), self.store.need_tip(branch)?);
        }
        tips.extend(self.run_branches()?);
        Ok(tips)
    }

    /// Notes branches that no longer go on from where the last audit saw them.
    fn note_rewritten(&self, audited: &mut Audited, tips: &Tips) -> Result<(), CycleError> {
        for branch in [self.store.main(), self.store.wake()] {
            let (Some(then), Some(now)) = (audited.head(branch), tips.get(branch)) else { continue };
            let goes_on = self.store.commit(then).is_ok() && self.store.is_ancestor(then, *now)?;
            if !goes_on {
                let message =
                    format!("is the tip of {branch}, which the last audit saw at {then}: that is not behind it");
                audited.add(Finding::new(Rule::Rewritten, now, message));
            }
        }
        if let Some(then) = audited.reviews() {
            let now = self.store.reviews()?;
            let goes_on = match now {
                Some(now) => self.store.commit(then).is_ok() && self.store.is_ancestor(then, now)?,
                None => false,
            };
            if !goes_on {
                let now = now.map_or_else(|| then.to_string(), |now| now.to_string());
                let message =
                    format!("is the tip of decisions, which the last audit saw at {then}: that is not behind it");
                audited.add(Finding::new(Rule::Rewritten, now, message));
            }
        }
        Ok(())
    }
}

impl<'c> Auditor<'c> {
    fn new(cycle: &'c Cycle, tips: &Tips, audited: Audited) -> Result<Self, CycleError> {
        let store = &cycle.store;
        let main = store.need_tip(store.main())?;
        let line = store.first_parents(main, None).take(limits::AUDIT_WALK);
        let main_line = line.map(|commit| commit.map(|commit| commit.id)).collect::<Result<_, _>>()?;
        Ok(Self { cycle, historian: cycle.historian(tips)?, audited, runs: HashMap::new(), main_line })
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
        let (mut known, mut all) = (hidden.to_vec(), Vec::new());
        let mut fresh: Vec<(Branch, CommitId, HashSet<CommitId>)> = Vec::new();
        for (branch, tip) in order {
            let commits = store.commits_within(tip, &known, limits::AUDIT_WALK)?;
            known.push(tip);
            fresh.push((branch.clone(), tip, commits.iter().copied().collect()));
            all.extend(commits);
        }
        // What an audit that was cut off did of those is behind its frontier, and not among them.
        let count = all.len();
        for (done, id) in all.into_iter().enumerate() {
            progress(done, count);
            self.commit(id)?;
            if keeps && (done + 1) % limits::AUDIT_STEP == 0 {
                self.audited.keep(&self.cycle.store);
            }
        }
        progress(count, count);
        if keeps {
            self.audited.keep(&self.cycle.store);
        }
        for (branch, tip, new) in fresh {
            let new = self.audited.since_last(&self.cycle.store, &branch, tip, new)?;
            let faults = self.historian.at_tip(&branch, tip, &new)?;
            self.take(faults)?;
        }
        Ok(())
    }

    fn commit(&mut self, id: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let commit = match store.commit(id) {
            Ok(commit) => commit,
            Err(error) => {
                self.audited.add(Finding::new(Rule::Unreadable, id, error.to_string()));
                self.audited.passed(id, &[]);
                return Ok(());
            }
        };
        let mut faults = self.historian.commit(id)?;
        if self.main_line.contains(&id) {
            faults.extend(self.historian.on_main(id)?);
        }
        self.take(faults)?;
        let found = match self.own_checks(&commit) {
            Ok(found) => found,
            // The judge has said that already, or this machine fails.
            Err(error) if is_of_the_history(&error) => {
                vec![Finding::new(Rule::Unreadable, id, error.to_string())]
            }
            Err(error) => return Err(error),
        };
        let run = commit.trailer("Run").map(str::to_owned).unwrap_or_default();
        for finding in found {
            self.audited.add(if finding.run.is_empty() { finding.of_run(&run) } else { finding });
        }
        self.audited.passed(id, &commit.parents);
        Ok(())
    }

    /// Takes in what the judge of the gate said.
    fn take(&mut self, faults: BTreeSet<Fault>) -> Result<(), CycleError> {
        for fault in faults {
            let commit = CommitId::parse(&fault.commit).ok().and_then(|id| self.cycle.store.commit(id).ok());
            let rule = rule_of(fault.kind, commit.as_ref());
            let run = commit.as_ref().and_then(|commit| commit.trailer("Run")).unwrap_or_default().to_owned();
            self.audited.add(Finding::new(rule, &fault.commit, fault.message).at(&fault.path, fault.line).of_run(run));
        }
        Ok(())
    }
}

fn is_of_the_history(error: &CycleError) -> bool {
    use crate::store::StoreError;
    matches!(
        error,
        CycleError::Json(_)
            | CycleError::Store(StoreError::BadObject { .. } | StoreError::BadPath { .. } | StoreError::Missing { .. })
    )
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
