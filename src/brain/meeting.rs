//! Corrections of one memory that machines made before they met: of two the later one stays, as on one machine. Place in the flow: `sync` →
//! **meeting** → a run of `human` that archives, which the next exchange brings to all.

use std::collections::{BTreeMap, BTreeSet};

use super::gone::{Leaving, may_replace};
use super::person::is_of_another;
use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::cycle::network::TreeNetwork;
use crate::cycle::revert::Chosen;
use crate::cycle::snapshot::snapshot_beside;
use crate::delta::operation::Archive;
use crate::delta::{APPLIED, Document, Effect, Operation, RunRecord};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Neuron, Stimulus, json};
use crate::store::CommitId;

/// Where it is kept from which commit on two machines went apart, until what they corrected is settled: in the cache.
const KEPT: &str = "meeting.json";

/// A correction that came since machines went apart.
struct Candidate {
    stimulus: Stimulus,
    memory: Neuron,
    /// All that it replaces.
    replaces: BTreeSet<StimulusId>,
}

impl Brain {
    /// The commit of wake from which on this machine and a remote went apart, and whether a sync before was cut off; kept until
    /// [`Brain::settle_meeting`].
    pub(super) fn before_meeting(&self, remote: Option<&str>) -> Result<(Option<CommitId>, bool), BrainError> {
        let store = &self.cycle.store;
        if let Some(Some(kept)) = store.cached_document::<Option<String>>(KEPT)
            && let Ok(commit) = CommitId::parse(&kept)
            && store.commit(commit).is_ok()
        {
            return Ok((Some(commit), true));
        }
        let base = store.seen(&store.remote(remote)?)?.get(store.wake()).copied();
        store.keep_document(KEPT, &base.map(|base| base.to_string()));
        Ok((base, false))
    }

    /// Archives the earlier one of two live corrections of one memory that came since machines went apart. Returns the notes on it.
    pub(super) fn settle_meeting(&self, base: Option<CommitId>, has_met: bool) -> Result<Vec<String>, BrainError> {
        let mut notes = if has_met { self.bring_back_what_they_replaced(base)? } else { Vec::new() };
        let mut found = if has_met { self.corrections_since(base)? } else { Vec::new() };
        found.sort_by(|a, b| (a.stimulus.at, &a.stimulus.id).cmp(&(b.stimulus.at, &b.stimulus.id)));
        let mut by_memory: BTreeMap<&StimulusId, Vec<usize>> = BTreeMap::new();
        for (at, one) in found.iter().enumerate() {
            one.replaces.iter().for_each(|old| by_memory.entry(old).or_default().push(at));
        }
        let mut leaving: BTreeMap<usize, usize> = BTreeMap::new();
        for together in by_memory.values() {
            let Some((latest, earlier)) = together.split_last() else { continue };
            let may = |at: &&usize| self.may_overtake(&found[*latest], &found[**at]);
            leaving.extend(earlier.iter().filter(may).map(|at| (*at, *latest)));
        }
        let mut gone = Vec::new();
        for (earlier, later) in leaving {
            let (old, new) = (&found[earlier], &found[later]);
            let reason = format!("replaced by {}", new.memory.id);
            notes.push(format!(
                "{} and {} corrected one memory: the later, {}, stays",
                old.memory.id, new.memory.id, new.memory.id
            ));
            gone.push(Leaving { stimulus: old.stimulus.clone(), reason, is_let_in: true });
        }
        self.archive(&gone, None)?;
        self.cycle.store.keep_document(KEPT, &None::<String>);
        Ok(notes)
    }

    /// Takes back what archived the memories that runs replaced which a machine has taken back since that commit: another one carried them out
    /// meanwhile. Of memories that a night has removed since, history has the last state.
    fn bring_back_what_they_replaced(&self, base: Option<CommitId>) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let old = base.map(|base| store.tree_of(base)).transpose()?;
        let changes = store.diff_within(old, Some(tree), layout::RUNS, limits::FOLLOWED_NEURONS)?;
        let network = TreeNetwork::new(store, tree);
        let mut taken_back = BTreeMap::new();
        for change in changes.unwrap_or_default().into_iter().filter(|change| change.old.is_none()) {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            let by = network.record(&run)?.filter(|_| run.is_a_persons());
            for run in by.into_iter().flat_map(|by| by.reverts) {
                if self.cycle.taken_back_by(tree, &run)?.is_some() {
                    taken_back.extend(network.record(&run)?.map(|record| (run, record)));
                }
            }
        }
        let mut notes = Vec::new();
        for (run, record) in taken_back {
            notes.extend(self.settle_statements(&record)?);
            let chosen = vec![record];
            let (archivals, _) = self.archivals_beside(&chosen)?;
            let is_reverted = |one: &RunRecord| self.cycle.taken_back_by(tree, &one.run).is_ok_and(|by| by.is_some());
            let (reverted, still): (Chosen, Chosen) = archivals.into_iter().partition(is_reverted);
            if !still.is_empty() {
                notes.extend(still.iter().map(|one| {
                    format!("{} archived what {run} replaced, which is taken back, and is taken back with it", one.run)
                }));
                self.revert(still, None, false)?;
            }
            // A merge archives again what one side unarchived and the other one removed, and a night removes it.
            let archived = reverted.into_iter().flat_map(|one| one.ops).filter_map(|op| match op {
                Operation::Archive(archive) => Some(archive.id),
                _ => None,
            });
            for id in archived.chain(self.cycle.archivals_of(&chosen, tree)?.removed) {
                if self.is_missed(&id, &chosen)? {
                    let by = self.restore(id.as_str(), false)?.run;
                    notes.push(format!("{id}, which {run} replaced, is brought back by {by}: {run} is taken back"));
                }
            }
        }
        Ok(notes)
    }

    /// Brings back memories that a run made which is taken back, where another one that made them stands, and archives those of which none does:
    /// machines that took one back did not know of the others.
    fn settle_statements(&self, record: &RunRecord) -> Result<Vec<String>, BrainError> {
        let (store, mut notes) = (&self.cycle.store, Vec::new());
        for id in record.effects.iter().filter(|effect| effect.created.is_some()).filter_map(Effect::id) {
            let tree = store.tree_of(self.at(None)?)?;
            let reverted = self.cycle.reverted(tree)?;
            let Some(neuron) = TreeNetwork::new(store, tree).neuron(id)? else { continue };
            let stands = self.cycle.is_made_by_another(record, id, |run| reverted.contains_key(run))?;
            let is_revert = |run: &Option<RunId>| run.as_ref().is_some_and(|run| reverted.values().any(|by| by == run));
            match stands {
                Some(true) if is_revert(&neuron.archived) => {
                    let by = self.restore(id.as_str(), false)?.run;
                    notes.push(format!("{id} is brought back by {by}: not all that say so are taken back"));
                }
                // What people did with it since stays.
                Some(false) if !neuron.is_archived() && !neuron.pinned && is_revert(&neuron.run) => {
                    let reason = format!("{} is taken back, and all that said so", record.run);
                    let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
                    let ops = vec![Operation::Archive(Archive { id: id.clone(), reason })];
                    let document = Document { agent: Some(agent.clone()), prediction: None, ops };
                    let (bytes, cognition) = (json::pretty(&document), APPLIED.to_owned());
                    let given = Given { document, bytes, lines: Vec::new(), agent, reason: "revert", cognition };
                    self.apply_given(given, false, false)?;
                    notes.push(format!("{id} is archived: all that say so are taken back"));
                }
                _ => {}
            }
        }
        Ok(notes)
    }

    /// Whether a memory is archived or gone because of these runs, which are taken back, and none that lives replaces it.
    fn is_missed(&self, id: &NeuronId, chosen: &Chosen) -> Result<bool, BrainError> {
        let (store, wake) = (&self.cycle.store, self.at(None)?);
        let tree = store.tree_of(wake)?;
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let memory = match network.neuron(id)? {
            Some(memory) if !memory.is_archived() => return Ok(false),
            Some(memory) => memory,
            None => match self.cycle.as_it_went(id) {
                Ok((memory, ..)) => memory,
                // A shallow clone may have no history of it.
                Err(_) => return Ok(false),
            },
        };
        let is_theirs = self.cycle.went_for(chosen, &memory, tree)?;
        Ok(is_theirs && self.replacers(wake, &network, &snapshot_beside(store, tree)?, &memory)?.is_empty())
    }

    /// The live memories that came since a commit and replace others; of files none, whose newest feed says what they have.
    fn corrections_since(&self, base: Option<CommitId>) -> Result<Vec<Candidate>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let old = base.map(|base| store.tree_of(base)).transpose()?;
        let changes = store.diff_within(old, Some(tree), layout::STIMULI, limits::FOLLOWED_NEURONS)?;
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let mut found = Vec::new();
        for change in changes.unwrap_or_default().into_iter().filter(|change| change.old.is_none()) {
            let Place::Stimulus(id) = Place::of(&change.path) else { continue };
            let of_text = |stimulus: &Stimulus| {
                !stimulus.supersedes.is_empty() && stimulus.source.as_ref().is_none_or(|source| !source.contains('#'))
            };
            let Some(stimulus) = network.stimulus_ever(&id)?.filter(of_text) else { continue };
            let Some(memory) = network.neuron(&episode_id(&id))?.filter(|memory| !memory.is_archived()) else {
                continue;
            };
            let older = self.older_than(&network, &id)?;
            let replaces = older.into_iter().map(|older| older.id).chain(stimulus.supersedes.iter().cloned()).collect();
            found.push(Candidate { stimulus, memory, replaces });
        }
        Ok(found)
    }

    /// Whether a correction may take the place of an earlier one of the same memory.
    fn may_overtake(&self, later: &Candidate, earlier: &Candidate) -> bool {
        let origins = &self.cycle.shared.policy.settings.origins;
        let (new, old) = (&later.memory, &earlier.memory);
        let is_less = origins.is_tainted(&new.origin) && !origins.is_tainted(&old.origin);
        let of_another = is_of_another((&new.origin, new.source.as_deref()), (&old.origin, old.source.as_deref()));
        !old.pinned && !is_less && may_replace(&new.origin, &old.origin) && !of_another
    }
}
