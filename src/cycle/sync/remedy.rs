//! The ways out of what a sync refuses, as commands.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::cycle::admission::{Fault, Kind};
use crate::cycle::trailers::SLEEP;
use crate::cycle::{Cycle, CycleError, signed};
use crate::limits;
use crate::merge::Conflict;
use crate::model::plural;
use crate::store::{Branch, Commit, CommitId, Remote, Tips};

/// The option of `git brain sync` that goes on without refused commits.
pub(super) const WITHOUT_REFUSED: &str = "--without-refused";

/// A branch that lies here with another record of its run than wake has.
pub(super) fn second_record(branch: &Branch, wake: &Branch) -> String {
    format!(
        "{branch} was left alone: {wake} has another record of its run. `git log -p {wake}..{branch}` shows it, \
         `git brain reject {branch}` removes it"
    )
}

/// The way out of files beside the network that people changed on main here and there: their file comes first, and what is to stand after it.
pub(super) fn changed_twice(main: &Branch, ours: CommitId, theirs: CommitId, paths: &[String]) -> String {
    // A name in a shell's quotation marks.
    let quoted: Vec<String> = paths.iter().map(|path| format!("'{}'", path.replace('\'', "'\\''"))).collect();
    format!(
        "nothing was moved; on {main}, `git restore --source={theirs} --staged --worktree -- {} && git commit -m theirs` takes over what is there; \
         sync, then commit what is to stand (`git show {ours}:PATH` has yours)",
        quoted.join(" ")
    )
}

/// The way out of what the merge of two machines leaves to a person. Names that people wrote into files by hand are settled by taking over
/// the other machine's.
pub(super) fn undecided(conflicts: &[Conflict], left_is_ours: bool) -> String {
    let named = |conflict: &Conflict| {
        let op = match conflict.field.as_str() {
            "concept" => "reword",
            "type" => "retype",
            _ => return None,
        };
        let theirs = if left_is_ours { &conflict.right } else { &conflict.left };
        Some(json!({"op": op, "id": conflict.neuron, conflict.field.as_str(): theirs}))
    };
    match conflicts.iter().map(named).collect::<Option<Vec<Value>>>() {
        Some(ops) => {
            // Inside the quotation marks of a shell.
            let delta = json!({"ops": ops}).to_string().replace('\'', "\\u0027");
            format!(
                "nothing was moved; `echo '{delta}' | git brain apply -` takes over what the other machine says, then sync again; \
                 a `reword` or `retype` after that gives another name on both"
            )
        }
        None => "nothing was moved; one of the two machines must go back to the value from before both changed it, then sync again".to_owned(),
    }
}

/// Main from before commits of wake came on it.
struct Before {
    /// The first of those commits.
    first: CommitId,
    /// Main before it.
    good: CommitId,
    /// What people committed on main since, oldest first.
    since: Vec<CommitId>,
}

/// Faults, a line each, as many as are named.
pub(super) fn lines(refused: &BTreeMap<Branch, BTreeSet<Fault>>) -> String {
    let all = refused.iter().flat_map(|(branch, faults)| faults.iter().map(move |fault| format!("{branch}: {fault}")));
    bounded(all.collect()).join("\n")
}

/// Whether a fault may be that a decision is not known here.
pub(super) fn is_about_decisions(fault: &Fault) -> bool {
    matches!(fault.kind, Kind::Unapproved | Kind::Reviewer)
}

/// The beginning of a commit's id.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn bounded(faults: Vec<String>) -> Vec<String> {
    let mut lines = faults[..faults.len().min(limits::NAMED_FAULTS)].to_vec();
    if faults.len() > limits::NAMED_FAULTS {
        lines.push(format!("… and {} more", faults.len() - limits::NAMED_FAULTS));
    }
    lines
}

impl Cycle {
    /// The worst fault of each commit, oldest commits first, a line each, as many as are named. A commit of main is in wake as well.
    pub(super) fn commit_lines(&self, refused: &BTreeMap<Branch, BTreeSet<Fault>>) -> Result<Vec<String>, CycleError> {
        let mut of_commit: BTreeMap<&str, (&Branch, BTreeSet<&Fault>)> = BTreeMap::new();
        for (branch, fault) in
            refused.iter().flat_map(|(branch, faults)| faults.iter().map(move |fault| (branch, fault)))
        {
            of_commit.entry(&fault.commit).or_insert((branch, BTreeSet::new())).1.insert(fault);
        }
        let mut dated = Vec::new();
        for (id, (branch, faults)) in of_commit {
            let commit = CommitId::parse(id).and_then(|id| self.store.commit(id));
            let age = commit.map(|commit| (commit.committed, commit.parents.len())).unwrap_or_default();
            let Some(worst) = faults.iter().rev().max_by_key(|fault| fault.kind) else { continue };
            let more = faults.len() - 1;
            let more = if more > 0 { format!(" (and {more} more of that commit)") } else { String::new() };
            dated.push((age, format!("{branch}: {worst}{more}")));
        }
        dated.sort();
        Ok(bounded(dated.into_iter().map(|(_, line)| line).collect()))
    }

    /// Commits of main and wake here that the other side would refuse, and the way on.
    pub(super) fn refused_outgoing(
        &self,
        remote: &Remote,
        refused: &BTreeMap<Branch, BTreeSet<Fault>>,
    ) -> Result<CycleError, CycleError> {
        let names: Vec<&str> = refused.keys().map(Branch::as_str).collect();
        let asked = self.store.remote(None).is_ok_and(|usual| usual.name == remote.name);
        let named = if asked { String::new() } else { format!(" {}", remote.name) };
        let mut hint = format!(
            "`git brain sync{named} {WITHOUT_REFUSED}` goes on without these commits: {} and {} are kept as rescue refs and go back to \
             before them, what was good is done again upon that, and texts that were fed wait to be perceived again; \
             with --dry-run it only says so",
            self.store.main(),
            self.store.wake()
        );
        let unsigned = refused.values().flatten().filter(|fault| fault.kind == Kind::Signature);
        let mut unsigned: Vec<CommitId> = unsigned.filter_map(|fault| CommitId::parse(&fault.commit).ok()).collect();
        unsigned.dedup();
        if let Some(newest) = self.newest_of(unsigned)? {
            hint += &format!("\n{}", signed::remedy(&self.store, &newest.to_string()));
        }
        Ok(CycleError::Refused {
            message: format!(
                "other machines refuse commits of {} here, so nothing was pushed to {}; what came from there is merged here:\n{}",
                names.join(" and "),
                remote.name,
                self.commit_lines(refused)?.join("\n")
            ),
            hint: Some(hint),
        })
    }

    /// The commit among several that the others lead to, as far as one does.
    fn newest_of(&self, commits: Vec<CommitId>) -> Result<Option<CommitId>, CycleError> {
        let mut newest: Option<CommitId> = None;
        for id in commits {
            if newest.map_or(Ok(true), |newest| self.store.is_ancestor(newest, id))? {
                newest = Some(id);
            }
        }
        Ok(newest)
    }

    /// The hint of a refusal: one way out for each kind of fault.
    pub(super) fn remedies(
        &self,
        remote: &Remote,
        refused: &BTreeMap<Branch, BTreeSet<Fault>>,
        there: &Tips,
        last_good: Option<CommitId>,
    ) -> Result<String, CycleError> {
        let (main, wake, name) = (self.store.main(), self.store.wake(), &remote.name);
        let good = last_good.map_or_else(|| "COMMIT".to_owned(), |tip| tip.to_string());
        let all = || refused.iter().flat_map(|(branch, faults)| faults.iter().map(move |fault| (branch, fault)));
        let is_other = |fault: &Fault| !matches!(fault.kind, Kind::SecondRecord | Kind::Signature | Kind::WakeOnMain);
        let mut hints = Vec::new();
        if let Some((branch, fault)) = all().find(|(_, fault)| fault.kind == Kind::SecondRecord) {
            hints.push(if branch == main || branch == wake {
                format!(
                    "one of the two records must go: on {wake} here, `git revert -m 1 MERGE` of the first merge that \
                     `git log --reverse --merges --full-history -m --format=%H {wake} -- {}` names takes this machine's back",
                    fault.path
                )
            } else {
                format!("a second record goes with its branch: `git push {name} --delete {branch}`")
            });
        }
        if let Some((branch, _)) = all().find(|(_, fault)| fault.kind == Kind::Signature) {
            let then = signed::remedy(&self.store, "\"$(git rev-parse FETCH_HEAD)\"");
            hints.push(format!("`git fetch {name} {branch}`; {then}"));
        }
        if all().any(|(_, fault)| fault.kind == Kind::WakeOnMain) {
            hints.push(format!(
                "a commit on {main} merges {wake} with plain git: `git push {name} +{good}:refs/heads/{main}` puts {main} back to the \
                 last good commit, and nothing is lost, because {wake} has it all; the machine that merged says the rest at its next sync"
            ));
        }
        let is_another_brain = |fault: &Fault| fault.message.starts_with("begins a history of its own");
        if all().any(|(_, fault)| is_another_brain(fault)) {
            hints.push(format!(
                "{name} has another brain than this folder, and two are never merged. To go on with that one, and feed it again what only this one has \
                 (`git brain export --format markdown --to FOLDER` keeps it): {}",
                self.store.take_commands(name).join(", ")
            ));
        } else if let Some((branch, fault)) = all().find(|(_, fault)| is_other(fault)) {
            hints.push(format!(
                "nothing here is lost; sync again first, because more may have been pushed meanwhile. If it stays, ask {}: docs/scale.md says what \
                 is looked at, and a symlink or submodule goes by one more commit on that branch (`git rm PATH`)",
                self.author_of(fault, name)
            ));
            hints.push(format!(
                "only what should never have come there goes by `git push {name} +{good}:refs/heads/{branch}`, which a gate refuses, and which takes \
                 the branch back to the last good commit for everybody{}",
                self.lost_with(there.get(branch).copied(), last_good, &refused[branch])?
            ));
        }
        Ok(hints.join("\n"))
    }

    /// Who made the commit of a fault, or who looks after the remote.
    fn author_of(&self, fault: &Fault, name: &str) -> String {
        let commit = CommitId::parse(&fault.commit).and_then(|id| self.store.commit(id)).ok();
        let person = commit.filter(|commit| !commit.is_of_agents_domain());
        match person {
            Some(commit) => format!("{} <{}>, who made {}", commit.author, commit.email, short(&fault.commit)),
            None => format!("the person who pushed {} to {name}", short(&fault.commit)),
        }
    }

    /// The commits with which nothing is wrong and that a branch would lose, in words.
    fn lost_with(
        &self,
        tip: Option<CommitId>,
        good: Option<CommitId>,
        faults: &BTreeSet<Fault>,
    ) -> Result<String, CycleError> {
        let (Some(tip), Some(good)) = (tip, good) else { return Ok(String::new()) };
        let bad: BTreeSet<&str> = faults.iter().map(|fault| fault.commit.as_str()).collect();
        let mut lost = Vec::new();
        for id in self.store.commits_beyond(tip, &[good])? {
            if !bad.contains(id.to_string().as_str()) {
                let commit = self.store.commit(id)?;
                lost.push(format!("{} ({}, {})", short(&id.to_string()), commit.subject(), commit.author));
            }
        }
        if lost.is_empty() {
            return Ok(String::new());
        }
        let count = plural(lost.len(), "more commit", "more commits");
        let more = lost.len().saturating_sub(limits::NAMED_RUNS);
        lost.truncate(limits::NAMED_RUNS);
        let more = if more > 0 { format!(" and {more} others") } else { String::new() };
        Ok(format!(": {count} would be lost there, {}{more}", lost.join(", ")))
    }

    /// Refuses to push a main that has commits of wake, which no other machine would take.
    pub(super) fn refuse_wake_on_main(&self, remote: &Remote, theirs: Option<CommitId>) -> Result<(), CycleError> {
        let seen = self.store.seen(remote)?.get(self.store.main()).copied();
        self.wake_on_main(theirs.or(seen))?.map_or(Ok(()), Err)
    }

    /// Commits of wake on main, beyond what a remote has, as a refusal with the way back.
    pub fn wake_on_main(&self, known: Option<CommitId>) -> Result<Option<CycleError>, CycleError> {
        let main = self.store.main();
        let Some(tip) = self.store.tip(main)? else { return Ok(None) };
        let Some(before) = self.before_wake(tip, known)? else { return Ok(None) };
        Ok(Some(CycleError::Refused {
            message: format!(
                "{main} has commits of {} since {}: it takes sleeps, their undoing, and what people commit. Nothing was moved",
                self.store.wake(),
                before.first
            ),
            hint: Some(self.way_back(&before)?),
        }))
    }

    /// The commands that take main back to before commits of wake came on it.
    fn way_back(&self, before: &Before) -> Result<String, CycleError> {
        let (main, wake, good) = (self.store.main(), self.store.wake(), before.good);
        let mut hint = match self.store.head()?.0 {
            Some(head) if head == *main => format!("`git reset --keep {good}`"),
            _ => format!("`git branch -f {main} {good}`"),
        };
        if !before.since.is_empty() {
            let since: Vec<String> = before.since.iter().map(CommitId::to_string).collect();
            hint += &format!(" and, on {main}, `git cherry-pick {}`", since.join(" "));
        }
        Ok(format!("{hint}, then sync again; {wake} keeps all that was merged, and the next sleep brings it to {main}"))
    }

    /// Main before the commits of wake that it has and `known` has not, if it has any.
    fn before_wake(&self, tip: CommitId, known: Option<CommitId>) -> Result<Option<Before>, CycleError> {
        let store = &self.store;
        let (mut found, mut newer): (Option<Before>, Vec<CommitId>) = (None, Vec::new());
        for commit in store.first_parents(tip, known).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if let Some(known) = known
                && store.is_ancestor(commit.id, known)?
            {
                break;
            }
            let Some(parent) = commit.parents.first().copied() else { break };
            if of_wake(&commit) || self.brings_wake(&commit)? {
                let since = found.map_or_else(|| std::mem::take(&mut newer), |before| before.since);
                // A night on its way back into wake has main as its other parent.
                let night = commit.parents.get(1).filter(|_| commit.trailer("Sleep").is_some());
                found = Some(Before { first: commit.id, good: night.copied().unwrap_or(parent), since });
                if night.is_some() {
                    break;
                }
            } else if commit.parents.len() == 1 && !["Sleep", "Undoes"].iter().any(|key| commit.trailer(key).is_some())
            {
                newer.insert(0, commit.id);
            }
        }
        // Where main went on as wake, its own line is not among wake's first parents.
        if let (Some(before), Some(known)) = (&mut found, known)
            && store.is_ancestor(known, tip)?
            && !store.is_ancestor(known, before.good)?
        {
            before.good = known;
        }
        Ok(found)
    }

    /// Whether a person's merge brings commits of wake.
    fn brings_wake(&self, commit: &Commit) -> Result<bool, CycleError> {
        let [first, others @ ..] = commit.parents.as_slice() else { return Ok(false) };
        for other in others {
            for id in self.store.commits_beyond(*other, &[*first])? {
                if of_wake(&self.store.commit(id)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A run, or a merge of the engine: a commit that main takes by sleeps alone.
fn of_wake(commit: &Commit) -> bool {
    let merged = ["Policy", "Sleep", "Undoes"].into_iter().any(|key| commit.trailer(key).is_some());
    commit.agent().is_some_and(|agent| agent.as_str() != SLEEP) || commit.parents.len() > 1 && merged
}
