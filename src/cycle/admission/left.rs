//! What the tip of a branch decides: connections to what is not there, and links beside the network. A commit more can mend both.

use std::collections::{HashMap, HashSet};

use super::Judge;
use crate::cycle::CycleError;
use crate::cycle::file::{self, examine_place};
use crate::cycle::network::TreeNetwork;
use crate::model::Neuron;
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::store::{Commit, CommitId, FileChange, TreeId};

impl Judge<'_> {
    /// New connections to what is not there; and, where neurons go, old ones.
    pub(super) fn connections(
        &mut self,
        commit: &Commit,
        changes: &[FileChange],
        before: Option<TreeId>,
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::remembering(store, commit.tree, &self.cycle.shared.neurons);
        let mut gone: HashSet<NeuronId> = HashSet::new();
        let mut missing: Vec<(String, NeuronId)> = Vec::new();
        for change in changes {
            let Place::Neuron(id) = Place::of(&change.path) else { continue };
            let Some(new) = change.new.filter(|file| file.is_regular()) else {
                gone.insert(id);
                continue;
            };
            let Ok(after) = Neuron::decode(&store.blob(new.blob)?, &change.path) else { continue };
            let old = change.old.map(|old| store.blob(old.blob)).transpose()?;
            let old = old.and_then(|bytes| Neuron::decode(&bytes, &change.path).ok());
            let was_there: HashSet<&NeuronId> = old.iter().flat_map(file::targets).collect();
            for target in file::targets(&after).into_iter().filter(|target| !was_there.contains(target)) {
                if network.shared(target)?.is_none() {
                    missing.push((change.path.clone(), target.clone()));
                }
            }
        }
        // An audit asks the tip, once: `check` finds the same there.
        if let (false, Some(_), false) = (gone.is_empty(), before, self.is_audit) {
            for (path, file) in store.files(commit.tree, layout::NEURONS)? {
                let Ok(neuron) = Neuron::decode(&store.blob(file.blob)?, &path) else { continue };
                let lost = file::targets(&neuron).into_iter().filter(|target| gone.contains(*target)).cloned();
                missing.extend(lost.map(|target| (path.clone(), target)));
            }
        }
        // The runs of an import are a chain, and point to what its later runs bring: the tip decides.
        self.missing.extend(missing.into_iter().map(|(path, target)| (commit.clone(), path, target)));
        Ok(())
    }

    /// Of the symlinks and submodules beside the network, those that are still there at the tip: whoever has put one there takes
    /// it away by a commit more, and need not rewrite anything.
    pub(super) fn still_linked(&mut self, tip: CommitId) -> Result<(), CycleError> {
        // Of what goes out, one commit more mends it: nothing has to be left out for it.
        let links = if self.going_out { Vec::new() } else { std::mem::take(&mut self.links) };
        let tree = self.cycle.store.tree_of(tip)?;
        for (commit, path) in links {
            if let Some(file) = self.cycle.store.file(tree, &path)?
                && let Err(finding) = examine_place(&path, file)
            {
                self.fault(&commit, &finding.path, finding.line, finding.message);
            }
        }
        Ok(())
    }

    /// Of the connections to what was not there, those that are still so at the tip.
    pub(super) fn still_missing(&mut self, tip: CommitId) -> Result<(), CycleError> {
        let missing = std::mem::take(&mut self.missing);
        if missing.is_empty() {
            return Ok(());
        }
        let store = &self.cycle.store;
        let tree = store.tree_of(tip)?;
        // A neuron that points to many is read once.
        let mut sources: HashMap<String, HashSet<NeuronId>> = HashMap::new();
        for (commit, path, target) in missing {
            if store.file(tree, &layout::neuron(&target))?.is_some() {
                continue;
            }
            if !sources.contains_key(&path) {
                let source = store.read(tree, &path)?.and_then(|bytes| Neuron::decode(&bytes, &path).ok());
                let targets = source.iter().flat_map(file::targets).cloned().collect();
                sources.insert(path.clone(), targets);
            }
            if sources[&path].contains(&target) {
                self.fault(&commit, &path, 1, format!("a connection points to {target}, which is not there"));
            }
        }
        Ok(())
    }
}
