//! Signals and what became of them: who asked whom, and who has answered what.
//!
//! Beside the loop: nothing here wakes anybody. A signal waits as long as its answer's file is not there.

use std::collections::BTreeMap;

use super::policy::HUMAN;
use super::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::{AgentName, RunId, SignalId};
use crate::model::layout::{self, Place};
use crate::model::{Acknowledgement, Signal, Stamp, json, plural};
use crate::store::{CommitId, TreeId};

/// A signal, and its answer if there is one.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The signal.
    pub signal: Signal,
    /// Its answer.
    pub answer: Option<Acknowledgement>,
}

impl Cycle {
    /// All signals of a tree, oldest first. Costs all of them.
    pub fn signals(&self, tree: TreeId) -> Result<Vec<Sent>, CycleError> {
        self.signals_in(tree, layout::SIGNALS)
    }

    /// Signals to an agent that nobody has answered, oldest first. Costs all signals that it ever got.
    pub(super) fn unanswered_to(&self, tree: TreeId, agent: &AgentName) -> Result<Vec<Signal>, CycleError> {
        let sent = self.signals_in(tree, &format!("{}/{agent}", layout::SIGNALS))?;
        Ok(sent.into_iter().filter(|sent| sent.answer.is_none()).map(|sent| sent.signal).collect())
    }

    fn signals_in(&self, tree: TreeId, folder: &str) -> Result<Vec<Sent>, CycleError> {
        let mut signals: BTreeMap<SignalId, Signal> = BTreeMap::new();
        let mut answers: BTreeMap<SignalId, Acknowledgement> = BTreeMap::new();
        for (path, file) in self.store.files(tree, folder)? {
            let bytes = || self.store.blob(file.blob);
            match Place::of(&path) {
                Place::Signal(_, id) => {
                    let read = json::strict(&bytes()?, &path, limits::DOCUMENT_BYTES).map_err(CycleError::from);
                    signals.extend(self.readable(read)?.map(|signal| (id, signal)));
                }
                Place::Acknowledgement(_, id) => {
                    let read = json::strict(&bytes()?, &path, limits::DOCUMENT_BYTES).map_err(CycleError::from);
                    answers.extend(self.readable(read)?.map(|answer| (id, answer)));
                }
                _ => {}
            }
        }
        let mut sent: Vec<Sent> =
            signals.into_iter().map(|(id, signal)| Sent { answer: answers.remove(&id), signal }).collect();
        sent.sort_by(|a, b| by_time(&a.signal).cmp(&by_time(&b.signal)));
        Ok(sent)
    }

    /// How many signals to each agent nobody has answered, of those that came between two commits of wake; `None`: since ever. A
    /// person's are not counted: people read them, and need not answer.
    pub fn unanswered_since(
        &self,
        from: Option<CommitId>,
        tip: CommitId,
    ) -> Result<BTreeMap<AgentName, usize>, CycleError> {
        let old = from.map(|c| self.store.tree_of(c)).transpose()?;
        let tree = self.store.tree_of(tip)?;
        let mut waiting: BTreeMap<AgentName, usize> = BTreeMap::new();
        for change in self.store.diff(old, Some(tree), layout::SIGNALS)? {
            let (Place::Signal(to, id), Some(_)) = (Place::of(&change.path), change.new) else { continue };
            if to.as_str() != HUMAN && self.store.file(tree, &layout::acknowledgement(&to, &id))?.is_none() {
                *waiting.entry(to).or_default() += 1;
            }
        }
        Ok(waiting)
    }

    /// A sentence on signals of earlier commands that are still unanswered because their agent failed, was silent, or may not run here. Costs the
    /// signals to agents that may not run.
    pub fn silent_note(&self, tip: CommitId) -> Result<Option<String>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let aside = self.aside_in(tree)?;
        let mut waiting: BTreeMap<AgentName, usize> = BTreeMap::new();
        for reason in aside.signals.values().chain(aside.silent.values()) {
            *waiting.entry(reason.agent.clone()).or_default() += 1;
        }
        for member in self.shared.policy.agents.values().filter(|member| !member.trusted) {
            let missed = self.unanswered_to(tree, &member.agent.name)?.len();
            waiting.extend((missed > 0).then(|| (member.agent.name.clone(), missed)));
        }
        Ok(unanswered(&waiting))
    }

    /// A sentence on the signals that stay unanswered, if any do.
    pub(super) fn unanswered_note(&self, from: Option<CommitId>, tip: CommitId) -> Result<Option<String>, CycleError> {
        Ok(unanswered(&self.unanswered_since(from, tip)?))
    }
}

fn unanswered(waiting: &BTreeMap<AgentName, usize>) -> Option<String> {
    let all: usize = waiting.values().sum();
    let to: Vec<String> = waiting.iter().map(|(agent, count)| format!("{agent} {count}")).collect();
    (all > 0).then(|| {
        let signals = plural(all, "signal is", "signals are");
        format!("{signals} unanswered ({}): `git brain signals --unanswered` says why", to.join(", "))
    })
}

fn by_time(signal: &Signal) -> (Stamp, &RunId, &SignalId) {
    (signal.created_at, &signal.run, &signal.id)
}
