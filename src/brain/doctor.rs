//! `doctor`: looks at what is around the network, repairs what can be repaired, and says what a person must do.
//!
//! Every repair is one that the brain would do by itself sooner or later, or one that loses nothing.

mod elsewhere;

use std::path::Path;

use serde::Serialize;

use super::check::{Look, check_branches, check_tree};
use super::hook::is_of_the_brain;
use super::{Brain, BrainError, Level, Override, World};
use crate::cycle::confine::Confinement;
use crate::cycle::doorbell::{self, belled};
use crate::cycle::merge::{Candidate, Fate};
use crate::cycle::upgrade::check_known;
use crate::cycle::{Cycle, network, remedy};
use crate::limits;
use crate::model::document::FORMAT;
use crate::model::ids::{StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Format, Neuron, plural};
use crate::review::rules::matches;
use crate::store::{DriverState, HookState, Store, TreeEdit, git_version};

/// The oldest git whose repack is used.
const GIT: (u32, u32) = (2, 34);

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Put right, or in a dry run: would be.
    Repaired,
    /// A person must decide or act.
    NeedsYou,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkup {
    /// What.
    pub what: &'static str,
    /// How it is.
    pub state: Health,
    /// In a sentence.
    pub message: String,
    /// What the person can do.
    pub hint: Option<String>,
}

/// What the doctor found.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorReport {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// One entry a finding.
    pub findings: Vec<Checkup>,
}

impl DoctorReport {
    /// 0: nothing is left to do; 1: something needs a person.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.findings.iter().any(|f| f.state == Health::NeedsYou))
    }
}

impl Brain {
    /// Looks at everything around the network. `program` is how git shall call this program.
    pub fn doctor(
        dir: &Path,
        world: World,
        flags: &[Override],
        program: &str,
        dry_run: bool,
    ) -> Result<DoctorReport, BrainError> {
        let store = Store::open(dir)?;
        let mut visit = Visit { store: &store, program, dry_run, findings: Vec::new() };
        visit.git();
        visit.branches()?;
        visit.locks()?;
        visit.look("merge driver", None, Visit::merge_driver);
        visit.look("hooks", None, Visit::hooks);
        visit.clients();
        visit.look("work tree", None, Visit::work_tree);
        visit.look("packs", None, Visit::packs);
        // What is right in a newer format looks wrong here.
        if let Err(error) = check_known(&store) {
            visit.needs("format", error.to_string(), error.hint());
            return Ok(DoctorReport { dry_run, findings: visit.findings });
        }
        visit.look("files", None, Visit::files);
        visit.look("refs", None, Visit::in_the_way);
        match Cycle::open(dir, world, flags) {
            Ok(cycle) => {
                let brain = Some(&cycle);
                visit.look("format", brain, Visit::format);
                visit.agents(&cycle);
                visit.confinement();
                visit.look("runs", brain, |visit| visit.runs(&cycle));
                visit.look("main", brain, |visit| visit.main(&cycle));
                visit.look("main", brain, |visit| visit.wake_on_main(&cycle));
                visit.look("sync", brain, |visit| visit.standoffs(&cycle));
                visit.look("commits", brain, |visit| visit.outgoing(&cycle));
                visit.look("signatures", brain, Visit::signatures);
                visit.look("triggers", brain, |visit| visit.marks(&cycle));
                visit.look("queue", brain, |visit| visit.queue(&cycle));
                visit.look("signals", brain, |visit| visit.signals(&cycle));
            }
            Err(error) => {
                visit.needs("policy", error.to_string(), error.hint().or_else(|| hint("git brain check main")))
            }
        }
        Ok(DoctorReport { dry_run, findings: visit.findings })
    }
}

fn hint(command: &str) -> Option<String> {
    Some(format!("`{command}`"))
}

struct Visit<'a> {
    store: &'a Store,
    program: &'a str,
    dry_run: bool,
    findings: Vec<Checkup>,
}

impl Visit<'_> {
    fn note(&mut self, what: &'static str, state: Health, message: String, hint: Option<String>) {
        self.findings.push(Checkup { what, state, message, hint });
    }

    /// One part of the visit. What makes it fail is a finding, and the next part is looked at.
    fn look(
        &mut self,
        what: &'static str,
        cycle: Option<&Cycle>,
        part: impl FnOnce(&mut Self) -> Result<(), BrainError>,
    ) {
        let Err(error) = part(self) else { return };
        let error = match cycle {
            Some(cycle) => cycle.on_branches(error),
            None => error,
        };
        self.needs(what, error.to_string(), error.hint());
    }

    /// Coding agents that are set up in this project.
    fn clients(&mut self) {
        let (well, faults) = Brain::client_faults(self.store, self.program);
        if !well.is_empty() {
            self.note("coding agents", Health::Ok, format!("{} set up", well.join(", ")), None);
        }
        for (client, why) in faults {
            self.needs("coding agents", why, Some(super::setup::call(client)));
        }
    }

    /// Files that cannot be read, on wake, on main and on the branches of runs that wait.
    fn files(&mut self) -> Result<(), BrainError> {
        let (wake, tip) = (self.store.wake().to_string(), self.store.need_tip(self.store.wake())?);
        let (files, findings) = check_tree(self.store, self.store.tree_of(tip)?, Look::default())?;
        let elsewhere =
            check_branches(self.store, Look::default())?.into_iter().map(|check| (check.branch, check.findings));
        let mut broken = 0_usize;
        for (branch, findings) in std::iter::once((wake.clone(), findings)).chain(elsewhere) {
            let run = branch != wake && branch != self.store.main().as_str();
            for finding in findings.iter().filter(|finding| finding.level == Level::Error) {
                broken += 1;
                if broken <= limits::TOLD_FILES {
                    let hint = remedy(&branch, &finding.path, !run);
                    self.needs("files", format!("{branch}: {finding}"), Some(hint));
                }
            }
        }
        match broken {
            0 => self.fine("files", format!("{} can be read", plural(files, "file", "files"))),
            _ if broken > limits::TOLD_FILES => {
                self.needs("files", format!("and {} more", broken - limits::TOLD_FILES), hint("git brain check"))
            }
            _ => {}
        }
        Ok(())
    }

    fn format(&mut self) -> Result<(), BrainError> {
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let format = network::metadata_of(self.store, tree)?.format;
        let (mut looked, mut older) = (0, 0);
        for (path, file) in self.store.files(tree, layout::NEURONS)?.into_iter().take(limits::MEASURED_NEURONS) {
            looked += 1;
            let bytes = self.store.content(file.blob)?;
            let neuron = Neuron::decode(&bytes, &path).ok();
            older += usize::from(neuron.is_some_and(|n| n.canonical_format(&bytes) == Some(Format::One)));
        }
        let message = match (format == FORMAT, older) {
            (true, 0) => {
                self.fine("format", format!("{FORMAT}, the newest"));
                return Ok(());
            }
            (true, older) => format!(
                "{FORMAT}, and {older} of {looked} neurons that were looked at are in format 1: an undo, or a run from before the \
                 upgrade, brought them back, and they stay so until something touches them"
            ),
            (false, _) => format!(
                "{format}, which this program goes on writing. What is written in format {FORMAT} takes less room; programs that \
                 know only {format} read it no more, on any machine that shares the brain"
            ),
        };
        self.note("format", Health::Ok, message, hint("git brain upgrade"));
        Ok(())
    }

    fn fine(&mut self, what: &'static str, message: impl Into<String>) {
        self.note(what, Health::Ok, message.into(), None);
    }

    fn needs(&mut self, what: &'static str, message: impl Into<String>, hint: Option<String>) {
        self.note(what, Health::NeedsYou, message.into(), hint);
    }

    /// How far programs of agents can be confined here.
    fn confinement(&mut self) {
        self.fine("confinement", Confinement::of_machine().to_string());
    }

    /// Repairs, unless this is a dry run.
    fn repair(
        &mut self,
        what: &'static str,
        message: impl Into<String>,
        act: impl FnOnce() -> Result<(), BrainError>,
    ) -> Result<(), BrainError> {
        if !self.dry_run {
            act()?;
        }
        self.note(what, Health::Repaired, message.into(), None);
        Ok(())
    }

    fn git(&mut self) {
        match git_version() {
            Some(version) if version >= GIT => self.fine("git", format!("git {}.{}", version.0, version.1)),
            Some((major, minor)) => {
                let message = format!("git {major}.{minor} cannot keep packs few; {}.{} can", GIT.0, GIT.1);
                self.needs("git", message, Some("install a newer git".to_owned()));
            }
            None => self.needs("git", "there is no git command", Some("install git".to_owned())),
        }
    }

    /// Branches that cannot be read come back to the newest commit that their reflog names and that is there.
    fn branches(&mut self) -> Result<(), BrainError> {
        let store = self.store;
        for branch in [store.main(), store.wake()].into_iter().filter(|branch| store.is_damaged(branch)) {
            match store.last_readable(branch) {
                Some(commit) => {
                    let message =
                        format!("{branch} could not be read, and is back at {commit}, the newest of its reflog");
                    self.repair("branches", message, || Ok(store.restore_branch(branch, commit)?))?;
                }
                None => self.needs(
                    "branches",
                    format!("{branch} cannot be read, and its reflog names no commit that is there"),
                    Some("fetch it from a remote or another clone: `git fetch REMOTE main wake`".to_owned()),
                ),
            }
        }
        Ok(())
    }

    fn locks(&mut self) -> Result<(), BrainError> {
        if !self.dry_run {
            self.store.recover()?;
            for note in self.store.take_notes() {
                self.note("locks", Health::Repaired, note, None);
            }
        }
        let stray = self.store.stray_locks();
        for path in &stray {
            let message = format!("{} has lain there for over an hour", path.display());
            let advice = format!("if no git command is running in this repository, remove {}", path.display());
            self.needs("locks", message, Some(advice));
        }
        if stray.is_empty() {
            self.fine("locks", "no lock is left over");
        }
        Ok(())
    }

    fn merge_driver(&mut self) -> Result<(), BrainError> {
        let (store, program) = (self.store, self.program);
        match store.driver_state()? {
            DriverState::Configured => self.fine("merge driver", "git knows the typed merge"),
            state => {
                let was = if state == DriverState::Absent {
                    "was not configured"
                } else {
                    "pointed to a program that is gone"
                };
                self.repair("merge driver", format!("the typed merge {was}"), || Ok(store.configure_driver(program)?))?;
            }
        }
        match store.attributes_apply()? {
            true => self.fine("attributes", "neurons are led to the typed merge"),
            false => self.repair("attributes", "nothing led neurons to the typed merge", || {
                Ok(store.write_attributes(store.is_in_repo())?)
            })?,
        }
        if !store.is_in_repo() && store.local_config("gc.auto")?.as_deref() != Some("0") {
            let message = "git's own gc, which prunes, is switched off: packs are kept few without it";
            self.repair("gc.auto", message, || Ok(store.set_local_config("gc.auto", "0")?))?;
        }
        Ok(())
    }

    fn hooks(&mut self) -> Result<(), BrainError> {
        let (store, program) = (self.store, self.program);
        let report = store.hooks_status(program)?;
        let count = |state| report.hooks.iter().filter(|hook| hook.state == state).count();
        let (altered, missing) = (count(HookState::Altered), count(HookState::Missing));
        for hook in report.hooks.iter().filter(|hook| hook.state == HookState::Closed) {
            let message =
                format!("{} is not ours to edit: {}", hook.path.display(), hook.message.clone().unwrap_or_default());
            self.needs("hooks", message, None);
        }
        if missing == report.hooks.len() {
            match store.is_in_repo() {
                true => self.fine("hooks", "none are installed; `git brain hooks install` adds them"),
                false => self.needs(
                    "hooks",
                    "none are installed: commits by hand wake no agent",
                    hint("git brain hooks install"),
                ),
            }
        } else if altered + missing > 0 {
            let message = format!("{altered} blocks in hooks were altered and {missing} missing");
            self.repair("hooks", message, || Ok(store.install_hooks(program, false).map(drop)?))?;
        } else if report.all(HookState::Installed) {
            self.fine("hooks", format!("installed in {}", report.folder.display()));
        }
        Ok(())
    }

    fn work_tree(&mut self) -> Result<(), BrainError> {
        let store = self.store;
        let (branch, head) = store.head()?;
        if store.work_dir().is_none() || !is_of_the_brain(store, branch.as_ref(), head)? {
            return Ok(());
        }
        match store.behind()? {
            None => match store.under_way() {
                Some(command) => {
                    let message = format!("a {command} of git's is under way, and was left alone");
                    let advice = format!("end it, or `git {command} --abort`");
                    self.needs("work tree", message, Some(advice));
                }
                None => self.fine("work tree", "the index is not behind its branch"),
            },
            Some(behind) => {
                let missing = plural(behind.missing, "file", "files");
                match (behind.stems_from, branch) {
                    (Some(from), Some(_)) => {
                        let mut left = Vec::new();
                        let message = format!("the index lacked {missing} of its branch; it has followed");
                        self.repair("work tree", message, || {
                            left = store.catch_up(from)?;
                            Ok(())
                        })?;
                        for left in left {
                            let advice = "`git diff`, then keep it or `git restore` it".to_owned();
                            self.needs("work tree", format!("{} was left: {}", left.path, left.reason), Some(advice));
                        }
                    }
                    _ => {
                        let message = format!(
                            "the index lacks {missing} of its branch that are written once: a removal is staged"
                        );
                        self.needs("work tree", message, hint("git reset"));
                    }
                }
            }
        }
        let Some(head) = head else { return Ok(()) };
        let neurons = store.files(store.tree_of(head)?, layout::NEURONS)?.len();
        if neurons > limits::CHECKED_OUT_NEURONS && !store.is_sparse() {
            let message = format!("{neurons} neurons are checked out, and no agent ever looks at them");
            self.needs("checkout", message, hint("git brain checkout --none"));
        }
        Ok(())
    }

    fn packs(&mut self) -> Result<(), BrainError> {
        let store = self.store;
        if store.has_stale_pack_index() {
            let message = "an index of many packs named some that are gone";
            self.repair("packs", message, || Ok(store.remove_pack_index()?))?;
        }
        if !store.needs_maintenance() {
            self.fine("packs", "few");
            return Ok(());
        }
        if !self.dry_run && !store.maintain() {
            self.needs(
                "packs",
                "there are many, and they could not be put together",
                hint("git repack --geometric=2 -d"),
            );
            return Ok(());
        }
        self.note("packs", Health::Repaired, "many small packs were put together".to_owned(), None);
        Ok(())
    }

    fn agents(&mut self, cycle: &Cycle) {
        let policy = &cycle.shared.policy;
        for error in &policy.broken {
            self.needs("agents", format!("inert: {error}"), Some(format!("correct {} on main", error.what)));
        }
        for member in policy.agents.values().filter(|member| !member.trusted) {
            let message = format!("{} is not trusted on this machine, so {} is inert", member.path, member.agent.name);
            self.needs("agents", message, Some("look at it, then `git brain trust`".to_owned()));
        }
        for rule in &policy.settings.review.rule {
            for name in
                rule.agents.iter().filter(|name| !policy.agents.keys().any(|agent| matches(name, agent.as_str())))
            {
                let message = format!("rule {} of [review] speaks of agent {name}, and there is none", rule.name);
                self.needs("agents", message, Some("correct brain.toml on main, or define the agent".to_owned()));
            }
        }
        let awake = policy.agents.values().filter(|member| member.trusted).count();
        self.fine("agents", format!("{awake} can run"));
    }

    fn runs(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let pending = cycle.pending()?;
        self.waiting(cycle, &pending)?;
        if pending.is_empty() {
            self.fine("runs", "none waits to be merged");
            return Ok(());
        }
        let report = cycle.merge_judged(pending, false, self.dry_run)?;
        for (candidate, fate) in report.fates {
            self.fate("runs", &candidate.name, &fate, &format!("git brain merge {}", candidate.name));
        }
        Ok(())
    }

    fn main(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let main = self.store.main();
        let candidate = Candidate {
            name: main.to_string(),
            commit: self.store.need_tip(main)?,
            branch: None,
            run: None,
            reviewed_by: None,
        };
        let report = cycle.merge_each(vec![candidate], self.dry_run)?;
        for (candidate, fate) in report.fates {
            self.fate("main", &candidate.name, &fate, &format!("git brain merge {main}"));
        }
        Ok(())
    }

    fn fate(&mut self, what: &'static str, name: &str, fate: &Fate, command: &str) {
        match fate {
            Fate::Merged { .. } => self.note(what, Health::Repaired, format!("{name} was merged into wake"), None),
            Fate::Already => self.fine(what, format!("wake has all of {name}")),
            Fate::Conflict(conflicts) => {
                let lines: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
                self.needs(what, format!("{name} waits for a decision: {}", lines.join("; ")), hint(command));
            }
            Fate::Refused(why) => self.needs(what, format!("{name} is not merged: {why}"), None),
        }
    }

    fn marks(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let store = self.store;
        match cycle.marker() {
            Some(_) => self.fine("triggers", "it is known how far they were evaluated"),
            None => self.fine("triggers", "they will be evaluated from the beginning; nothing runs twice for it"),
        }
        for (branch, tip) in belled(store)? {
            if doorbell::mark(store, &branch) == Some(tip) {
                self.fine("doorbell", format!("all of {branch} was looked at"));
                continue;
            }
            // Commits of the engine ring no bell, and most of people's bring nothing to perceive: only what nobody queued was missed.
            let rung = if self.dry_run { Default::default() } else { cycle.ring(&branch)? };
            match rung.queued.len() {
                0 if rung.merged.is_some() => {
                    let message = format!("{branch} had changes that wake lacked, and has them now");
                    self.note("doorbell", Health::Repaired, message, None);
                }
                0 => self.fine("doorbell", format!("all of {branch} was looked at")),
                count => {
                    let message =
                        format!("{branch} had {} that no doorbell had queued", plural(count, "stimulus", "stimuli"));
                    self.note("doorbell", Health::Repaired, message, None);
                }
            }
        }
        Ok(())
    }

    fn queue(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let store = self.store;
        let tree = store.tree_of(store.need_tip(store.wake())?)?;
        let looking = network::TreeNetwork::new(store, tree);
        let (mut waiting, mut consumed): (usize, Vec<StimulusId>) = (0, Vec::new());
        for (path, file) in store.files(tree, layout::QUEUE)? {
            let Place::Queue(id) = Place::of(&path) else { continue };
            match looking.queued(&id, &store.blob(file.blob)?) {
                Ok(Some(_)) if store.file(tree, &layout::neuron(&episode_id(&id)))?.is_some() => consumed.push(id),
                Ok(Some(_)) => waiting += 1,
                Ok(None) => self.needs("queue", format!("{path} names a stimulus that is not there"), None),
                Err(error) => {
                    let error = cycle.on_branches(error);
                    self.needs("queue", error.to_string(), error.hint());
                }
            }
        }
        let next = (waiting > 0).then(|| "`git brain run` lets agents look at them".to_owned());
        self.note("queue", Health::Ok, plural(waiting, "stimulus waits", "stimuli wait"), next);
        if let Err(error) = cycle.shared.budget_left() {
            self.needs("budget", error.to_string(), error.hint());
        }
        let aside = cycle.aside_in(tree)?;
        let signals = aside.signals.iter().map(|(id, reason)| ("signals", id.as_str(), reason));
        for (what, id, reason) in aside.stimuli.iter().map(|(id, reason)| ("queue", id.as_str(), reason)).chain(signals)
        {
            let again = format!("`git brain run --agent {}` tries it again", reason.agent);
            self.needs(what, format!("{id} is set aside: {}", reason.why), Some(again));
        }
        if !consumed.is_empty() {
            let message = match consumed.len() {
                1 => "1 stimulus waited that is remembered already".to_owned(),
                many => format!("{many} stimuli waited that are remembered already"),
            };
            self.repair("queue", message, || unqueue(cycle, &consumed))?;
        }
        Ok(())
    }

    fn signals(&mut self, _: &Cycle) -> Result<(), BrainError> {
        let store = self.store;
        let tree = store.tree_of(store.need_tip(store.wake())?)?;
        let (mut sent, mut answered) = (0_usize, 0_usize);
        for (path, _) in store.files(tree, layout::SIGNALS)? {
            match Place::of(&path) {
                Place::Signal(..) => sent += 1,
                Place::Acknowledgement(..) => answered += 1,
                _ => {}
            }
        }
        self.fine("signals", format!("{} of {sent} are unanswered", sent.saturating_sub(answered)));
        Ok(())
    }
}

/// Takes entries out of wake's queue.
fn unqueue(cycle: &Cycle, stimuli: &[StimulusId]) -> Result<(), BrainError> {
    let store = &cycle.store;
    let _trunk = store.lock(crate::store::LockName::Trunk)?;
    cycle.change_wake("doctor: what is remembered waits no more", &mut |_| {
        Ok((stimuli.iter().map(|id| TreeEdit::new(layout::queue_entry(id), None)).collect(), Vec::new()))
    })?;
    Ok(())
}
