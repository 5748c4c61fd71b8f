//! Taking runs back, and approving what came from origins that are not trusted: runs of a person, recorded like any other.

use std::collections::BTreeSet;

use serde::Serialize;

use super::unapproved::is_told;
use super::{Brain, BrainError};
use crate::cycle::commit::{Amends, Draft};
use crate::cycle::network::{TreeNetwork, all_neurons};
use crate::cycle::revert::{Chosen, Reverted};
use crate::cycle::{Cycle, HUMAN};
use crate::delta::{Applied, Operation};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, RunId};
use crate::model::{Neuron, Origin};
use crate::review::page::visible;
use crate::store::{Commit, CommitId};

/// Origins that are named where the wanted one has nothing, at most.
const NAMED: usize = 4;

/// What a person said of what others brought, and what came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AmendReport {
    /// The runs that were taken back or approved.
    pub runs: Vec<String>,
    /// The person's own runs that did it; several if it is much.
    pub by: Vec<String>,
    /// Neurons that changed.
    pub neurons: Vec<String>,
    /// Neurons that are gone, because nothing but what is taken back had made and touched them.
    pub removed: Vec<String>,
    /// How many of both are exactly as they were before.
    pub exact: usize,
    /// What changed, a line each.
    pub effects: Vec<String>,
    /// The statements that would be approved, oldest first; absent but in a dry run of `approve`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// Wake's tip.
    pub wake: String,
    /// What was not done, and why, one sentence each.
    pub notes: Vec<String>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// A statement that would be approved.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// Its memory.
    pub id: String,
    /// When it happened, RFC 3339.
    pub at: String,
    /// Where it comes from.
    pub origin: String,
    /// What it says.
    pub text: String,
}

/// Whether that is the name of a branch of a sleep.
pub fn is_sleep_branch(name: &str) -> bool {
    crate::cycle::sleep::run_of(name).is_some()
}

/// Whether that is the id of a run, or the name of a branch of one.
pub fn is_run(name: &str) -> bool {
    RunId::parse(name.rsplit('/').next().unwrap_or(name)).is_ok()
}

impl Brain {
    /// Undoes one run, named by its id or by a commit of it.
    ///
    /// # Errors
    /// It is not in wake, or taken back already; the name is that of something else.
    pub fn revert_run(&self, what: &str, dry_run: bool) -> Result<AmendReport, BrainError> {
        let run = self.run_named(what)?;
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let chosen = self.cycle.run_to_revert(&run, tree)?;
        // What was done is done, whether or not a branch can be read.
        let fruit = self.fruit_left_of(&run).unwrap_or_default();
        let mut report = self.revert_with_archivals(chosen, None, dry_run)?;
        report.notes.extend(fruit);
        report.notes.extend(self.asked_beside(&run).unwrap_or_default());
        Ok(report)
    }

    /// The same with what archived the memories that those runs replaced.
    fn revert_with_archivals(
        &self,
        mut chosen: Chosen,
        origin: Option<&Origin>,
        dry_run: bool,
    ) -> Result<AmendReport, BrainError> {
        let (alone, notes) = self.archivals_beside(&chosen)?;
        let taken_back = chosen.clone();
        chosen.extend(alone);
        chosen.sort_by(|a, b| b.run.cmp(&a.run));
        let mut report = self.revert(chosen, origin, dry_run)?;
        report.notes.extend(notes);
        let forgets = |op: &Operation| matches!(op, Operation::Seal(sealing) if !sealing.forget.is_empty());
        if taken_back.iter().any(|record| record.ops.iter().any(forgets)) {
            report
                .notes
                .push("the key of a forgotten subject stays destroyed: nothing brings back what it opened".to_owned());
        }
        if !dry_run {
            // As another machine would bring it back that meets this one.
            for record in taken_back {
                report.notes.extend(self.bring_back_below(record)?);
            }
            report.notes.extend(self.settle_rivals(&report.neurons)?);
            report.wake = self.at(None)?.to_string();
        }
        Ok(report)
    }

    /// The runs that did nothing but archive what those runs replace and nothing else does, which are taken back with them; and notes on these and on others.
    pub(super) fn archivals_beside(&self, chosen: &Chosen) -> Result<(Chosen, Vec<String>), BrainError> {
        let archivals = self.cycle.archivals_of(chosen, self.cycle.store.tree_of(self.at(None)?)?)?;
        // Two may correct one memory: while one of them stands, what it replaces does not come back.
        let mut stays = Vec::new();
        let mut alone = Chosen::new();
        for record in archivals.alone {
            match self.replaced_by_another(&record, chosen)? {
                Some((old, by)) => stays.push(format!("{old} stays archived: {by} replaces it as well")),
                None => alone.push(record),
            }
        }
        let with_it =
            alone.iter().map(|record| format!("{} archived what that replaces, and is taken back with it", record.run));
        let beside = archivals.wider.iter().map(|record| {
            format!(
                "{0} archived what that replaces, and more: `git brain revert {0}` brings all of it back",
                record.run
            )
        });
        let notes = with_it.chain(beside).chain(stays).collect();
        Ok((alone, notes))
    }

    /// The run of an id or commit.
    fn run_named(&self, what: &str) -> Result<RunId, BrainError> {
        let unknown = match RunId::parse(what) {
            Ok(run) => return Ok(run),
            Err(error) => error,
        };
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let is_neuron = |id: &NeuronId| network.neuron(id).map(|found| found.is_some());
        if let Ok(id) = NeuronId::parse(what)
            && is_neuron(&id)?
        {
            return Err(self.whole_runs(&id));
        }
        if let Some(commit) = store.resolve(what)? {
            let commit = store.commit(commit)?;
            return self.cycle.run_of_commit(&commit)?.ok_or_else(|| match commit.trailer("Run") {
                Some(run) => BrainError::Refused {
                    message: format!("commit {what} names {run} and is not that run's: it brings no record of it"),
                    hint: Some(format!("`{}` takes it back", self.git_revert(&commit))),
                },
                None => BrainError::Refused {
                    message: format!("commit {what} is of no run"),
                    hint: Some(format!("`{}` takes it back; `git brain log` lists runs", self.git_revert(&commit))),
                },
            });
        }
        // The name of its agent alone names no run that is to be taken back.
        let is_part =
            |run: &RunId| run.as_str().strip_suffix(run.agent().as_str()).is_some_and(|own| own.contains(what));
        if let Some(run) = self.cycle.decided_like(what)?.filter(is_part) {
            return Ok(run);
        }
        match self.neuron_named(what, None) {
            Ok(id) if is_neuron(&id)? => Err(self.whole_runs(&id)),
            _ => Err(BrainError::Usage {
                message: unknown.to_string(),
                hint: Some("`git brain log` lists runs and commits".to_owned()),
            }),
        }
    }

    /// The commands by which plain git takes a commit back, on the branch that it was made on.
    pub(super) fn git_revert(&self, commit: &Commit) -> String {
        let store = &self.cycle.store;
        let is_of_main = store
            .tip(store.main())
            .ok()
            .flatten()
            .is_some_and(|main| store.is_ancestor(commit.id, main).unwrap_or(false));
        let branch = if is_of_main { store.main() } else { store.wake() };
        let side = if commit.parents.len() > 1 { "-m 1 " } else { "" };
        format!("git checkout {branch} && git revert {side}{}", commit.id)
    }

    /// The refusal to take back a neuron, with the runs to take back instead.
    fn whole_runs(&self, id: &NeuronId) -> BrainError {
        BrainError::Refused {
            message: format!("{id} is a neuron, and only runs can be reverted"),
            hint: Some(format!(
                "`git brain why {id}` lists the runs that made and changed it; `git brain revert RUN` undoes one"
            )),
        }
    }

    /// Takes back what all runs of an origin did, and those that descend from its stimuli, the newest first; what of it still waits in
    /// the queue goes.
    pub fn revert_origin(&self, origin: &str, dry_run: bool) -> Result<AmendReport, BrainError> {
        let origin = Origin::parse(origin).map_err(BrainError::usage)?;
        if matches!(origin.class(), "local" | "bootstrap") {
            return Err(BrainError::Refused {
                message: format!("{origin} is all that this machine did"),
                hint: Some("`git brain revert RUN` undoes one run".to_owned()),
            });
        }
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let chosen = self.cycle.runs_of_origin(&origin, tree)?;
        self.revert_with_archivals(chosen, Some(&origin), dry_run)
    }

    pub(super) fn revert(
        &self,
        chosen: Chosen,
        origin: Option<&Origin>,
        dry_run: bool,
    ) -> Result<AmendReport, BrainError> {
        self.revert_beside(chosen, origin, None, dry_run)
    }

    /// Takes runs back for a decision that stands elsewhere: what wake there has of their neurons stays, and becomes what it is there.
    pub(super) fn revert_but(&self, chosen: Chosen, there: CommitId) -> Result<AmendReport, BrainError> {
        self.revert_beside(chosen, None, Some(there), false)
    }

    fn revert_beside(
        &self,
        chosen: Chosen,
        origin: Option<&Origin>,
        there: Option<CommitId>,
        dry_run: bool,
    ) -> Result<AmendReport, BrainError> {
        let cycle = &self.cycle;
        let mut report = AmendReport { wake: self.at(None)?.to_string(), dry_run, ..AmendReport::default() };
        let mut parts = Cycle::parts_to_revert(chosen);
        if parts.is_empty() && origin.is_some() {
            // The queue may still have something.
            parts.push(Chosen::new());
        }
        let count = parts.len();
        for (index, part) in parts.into_iter().enumerate() {
            let (base, by) = self.person_run(&[b"revert", &(index as u64).to_be_bytes()])?;
            let clock = cycle.shared.world.now();
            let mut reverted = cycle.reverting(&part, base, &by, clock)?;
            if let Some(there) = there {
                cycle.as_there(&mut reverted, (base, there))?;
            }
            if let (Some(origin), true) = (origin, index + 1 == count) {
                let queued = cycle.queued_of_origin(origin, cycle.store.tree_of(base)?)?;
                reverted.amends.files.extend(queued);
            }
            if part.is_empty() && reverted.amends.files.is_empty() {
                report.notes.push("nothing in wake comes from there, or all of it is taken back already".to_owned());
                break;
            }
            self.keep_marks(&mut reverted.applied, &reverted.amends.unmarked)?;
            report.exact += reverted.exact;
            let Reverted { applied, amends, .. } = reverted;
            let reason = match origin {
                Some(origin) => format!("revert origin {origin}"),
                None => "revert run".to_owned(),
            };
            self.amend((base, by, "revert", reason), &applied, amends, &mut report)?;
        }
        Ok(report)
    }

    /// Leaves the marks of origins that are not trusted where reviewers are named and this person is none: nobody else takes one off.
    pub(super) fn keep_marks(&self, applied: &mut Applied, exact: &BTreeSet<NeuronId>) -> Result<(), BrainError> {
        let reviewers = self.cycle.review_of_main()?.reviewers;
        if reviewers.is_empty() || self.deciding_person().is_ok_and(|(_, address)| reviewers.contains(&address)) {
            return Ok(());
        }
        let origins = &self.cycle.shared.policy.settings.origins;
        let mut kept = Vec::new();
        for (id, (before, after)) in &mut applied.neurons {
            let Some(before) = before else { continue };
            let is_unmarked = origins.is_tainted(&before.origin) && !origins.is_tainted(&after.origin);
            if is_unmarked && !after.is_archived() && !exact.contains(id) {
                after.origin = before.origin.clone();
                kept.push(format!("{id} stays marked as of {}: {} may approve it", after.origin, reviewers.join(", ")));
            }
        }
        applied.notes.extend(kept);
        Ok(())
    }

    /// Approves everything of an origin: its neurons enter main with the next sleep, and so does what its runs did to others.
    pub fn approve_origin(&self, origin: &str, why: &str, dry_run: bool) -> Result<AmendReport, BrainError> {
        let origin = Origin::parse(origin).map_err(BrainError::usage)?;
        let cycle = &self.cycle;
        let tree = cycle.store.tree_of(self.at(None)?)?;
        let main = cycle.store.tree_of(cycle.store.need_tip(cycle.store.main())?)?;
        let (neurons, others): (Vec<Neuron>, Vec<Neuron>) =
            all_neurons(&cycle.store, tree)?.into_iter().partition(|n| n.origin.is_of(&origin));
        let unknown = neurons.is_empty().then(|| {
            let origins = &cycle.shared.policy.settings.origins;
            let waiting = others.iter().map(|neuron| &neuron.origin).filter(|other| origins.is_tainted(other));
            waiting.map(Origin::as_str).collect::<BTreeSet<_>>().into_iter().take(NAMED).collect::<Vec<_>>().join(", ")
        });
        // What is trusted enters main without anybody's word.
        let (runs, mixed) = match cycle.shared.policy.settings.origins.is_tainted(&origin) {
            true => cycle.runs_of_origin_since(&origin, main, tree)?,
            false => Default::default(),
        };
        let mut report = self.approve_all(neurons, (Some(&origin), why), runs, dry_run)?;
        if let Some(waiting) = unknown.filter(|waiting| !waiting.is_empty()) {
            report.notes.push(format!("no neuron is of {origin}; those that are not trusted are of {waiting}"));
        }
        report.notes.extend(mixed.iter().map(|mixed| {
            format!(
                "runs of {mixed} come from elsewhere too: `git brain approve --origin {mixed}` approves what they moved"
            )
        }));
        Ok(report)
    }

    /// Approves some neurons, with their connections and those to them.
    pub fn approve_neurons(&self, ids: &[String], why: &str, dry_run: bool) -> Result<AmendReport, BrainError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let mut neurons = Vec::new();
        for id in ids {
            let id = NeuronId::parse(id).map_err(|e| BrainError::usage(e.to_string()))?;
            let Some(neuron) = network.neuron(&id)? else {
                return Err(BrainError::Usage {
                    message: format!("{id} is no neuron, no council, and no branch of a sleep or a run that waits"),
                    hint: Some(
                        "`git brain review` lists what waits, `git brain recall WORDS` has ids of neurons".to_owned(),
                    ),
                });
            };
            neurons.push(neuron);
        }
        self.approve_all(neurons, (None, why), Vec::new(), dry_run)
    }

    fn approve_all(
        &self,
        neurons: Vec<Neuron>,
        (wanted, why): (Option<&Origin>, &str),
        runs: Vec<RunId>,
        dry_run: bool,
    ) -> Result<AmendReport, BrainError> {
        let (review, (_, address)) = (self.cycle.review_of_main()?, self.deciding_person()?);
        if !review.reviewers.is_empty() && !review.reviewers.contains(&address) {
            return Err(BrainError::Refused {
                message: format!("{address} may not approve what is not trusted: {} may", review.reviewers.join(", ")),
                hint: Some("`[review]` of brain.toml names the reviewers".to_owned()),
            });
        }
        let why =
            visible(&self.cycle.shared.secrets.redact(why.trim())).split_whitespace().collect::<Vec<_>>().join(" ");
        if why.len() > limits::CONCEPT_BYTES {
            let most = limits::CONCEPT_BYTES;
            return Err(BrainError::usage(format!("--why has {} bytes, the limit is {most}", why.len())));
        }
        let reason = if why.is_empty() { "approve".to_owned() } else { format!("approve: {why}") };
        let origins = &self.cycle.shared.policy.settings.origins;
        let mut report = AmendReport { wake: self.at(None)?.to_string(), dry_run, ..AmendReport::default() };
        let tainted: Vec<Neuron> = neurons.into_iter().filter(|n| origins.is_tainted(&n.origin)).collect();
        if tainted.is_empty() && runs.is_empty() {
            report.notes.push("nothing there needs approval".to_owned());
            return Ok(report);
        }
        if dry_run {
            let mut told: Vec<&Neuron> = tainted.iter().filter(|neuron| is_told(neuron)).collect();
            told.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            report.statements.extend(told.into_iter().map(|neuron| Statement {
                id: neuron.id.to_string(),
                at: neuron.created_at.to_string(),
                origin: neuron.origin.to_string(),
                text: neuron.concept.clone(),
            }));
        }
        let replacing: Vec<Neuron> = tainted.iter().filter(|neuron| neuron.stimulus.is_some()).cloned().collect();
        let parts = tainted.len().max(1).div_ceil(limits::REVERTED_EFFECTS);
        let mut waiting = tainted.into_iter();
        for index in 0..parts {
            let (base, by) = self.person_run(&[b"approve", &(index as u64).to_be_bytes()])?;
            let mut applied = Applied::default();
            for before in waiting.by_ref().take(limits::REVERTED_EFFECTS) {
                let mut after = Neuron { origin: before.origin.approved(wanted), ..before.clone() };
                after.version = after.version.toggled(&by);
                after.run = Some(by.clone());
                applied.neurons.insert(before.id.clone(), (Some(before), after));
            }
            let approves = if index == 0 { runs.clone() } else { Vec::new() };
            let amends = Amends { approves, ..Amends::default() };
            self.amend((base, by, "approve", reason.clone()), &applied, amends, &mut report)?;
        }
        if dry_run {
            report.notes.extend(
                self.would_go(&replacing)?
                    .into_iter()
                    .map(|id| format!("{id} would be archived: one of these replaces it")),
            );
        } else {
            let archived = self.archive_let_in(&replacing)?;
            report.notes.extend(archived.iter().map(|run| format!("{run} archived the memories that these replace")));
            report.wake = self.at(None)?.to_string();
        }
        Ok(report)
    }

    /// A new run of the person at this machine, and the commit that it starts from.
    pub(super) fn person_run(&self, document: &[&[u8]]) -> Result<(CommitId, RunId), BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let base = self.at(None)?;
        let newest = self.cycle.newest_run(base)?;
        let run = self.cycle.new_run_id(&agent, base, newest.as_ref(), document, 0)?;
        Ok((base, run))
    }

    /// Commits and merges what a person amends, and adds it to the report.
    fn amend(
        &self,
        (base, by, cognition, reason): (CommitId, RunId, &str, String),
        applied: &Applied,
        amends: Amends,
        report: &mut AmendReport,
    ) -> Result<(), BrainError> {
        let runs = amends.reverts.iter().chain(&amends.approves);
        report.runs.extend(runs.map(ToString::to_string));
        report.neurons.extend(applied.neurons.keys().map(ToString::to_string));
        report.removed.extend(amends.removed.keys().map(ToString::to_string));
        report.effects.extend(amends.removed.keys().map(|id| format!("{id}  taken away")));
        let draft = Draft { reason, amends, ..Draft::by_hand(&self.cycle.shared, base, by.clone(), cognition)? };
        let landed = self.land(draft, applied, report.dry_run)?;
        report.effects.extend(landed.effects);
        report.notes.extend(landed.notes);
        if !report.dry_run && !landed.merged {
            let conflicts: Vec<String> = landed.conflicts.iter().map(ToString::to_string).collect();
            return Err(BrainError::Refused {
                message: format!("{by} stays on its branch: {}", conflicts.join("; ")),
                hint: Some(format!("`git brain merge {}` once it is settled", landed.branch)),
            });
        }
        report.by.push(by.to_string());
        report.wake = landed.wake;
        Ok(())
    }
}
