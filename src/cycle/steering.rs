//! Steering: what was measured of a mind's last replies is read off the history, and the [controller](crate::integrity::controller) says
//! what that adds to its next prompt.
//!
//! Where nothing was measured that asks for it, a prompt is what it would be without.

use std::collections::BTreeSet;

use super::said::replies;
use super::{CycleError, Shared, ledger};
use crate::integrity::controller::{Prompt, Ritual, Steering, Turn};
use crate::integrity::lang::{Lang, detect};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::settings::Steer;
use crate::store::{CommitId, Store};

/// What comes of a prediction below this, where more was expected, is an error of fact.
const RIGHT: f64 = 0.5;

/// What the last replies of a mind ask of its next prompt; `None`: the chat.
///
/// # Errors
/// Commits or entries of the ledger that cannot be read.
pub fn steering(
    store: &Store,
    shared: &Shared,
    tip: CommitId,
    agent: Option<&AgentName>,
) -> Result<Steering, CycleError> {
    let mut turns: Vec<(Option<RunId>, Turn)> = Vec::new();
    for reply in replies(store, tip).take(limits::INTEGRITY_WALK) {
        let Some(reply) = reply?.filter(|reply| reply.agent.as_ref() == agent) else { continue };
        turns.push((reply.run, Turn { counts: reply.counts, answers: agent.is_none(), ..Turn::default() }));
        if turns.len() == shared.policy.settings.integrity.history {
            break;
        }
    }
    // Only what was judged can have been wrong.
    if turns.iter().any(|(run, _)| run.is_some()) {
        let entries = ledger::newest(store, store.tree_of(tip)?, shared.policy.settings.learning.history)?;
        let is_wrong =
            |entry: &&crate::delta::LedgerEntry| entry.outcome.value < RIGHT && entry.prediction.value >= RIGHT;
        let wrong: BTreeSet<&RunId> = entries.iter().filter(is_wrong).map(|entry| &entry.judged).collect();
        for (run, turn) in &mut turns {
            turn.factual_error = run.as_ref().is_some_and(|run| wrong.contains(run));
        }
    }
    let history: Vec<Turn> = turns.into_iter().rev().map(|(_, turn)| turn).collect();
    Ok(Steering::of(&history))
}

/// What is added to the instructions of a model that speaks for an agent or, with `None`, in a chat, in the language of what it reads.
///
/// # Errors
/// As [`steering`].
pub(super) fn addition(
    store: &Store,
    shared: &Shared,
    tip: CommitId,
    agent: Option<&AgentName>,
    read: &str,
) -> Result<String, CycleError> {
    let settings = &shared.policy.settings.integrity;
    let mut asked = match settings.steer {
        Steer::Off => Steering::default(),
        Steer::Measured | Steer::Always => steering(store, shared, tip, agent)?,
    };
    if settings.steer == Steer::Always {
        asked.rituals = Ritual::ALL.to_vec();
    }
    let prompt = Prompt {
        base: "",
        rituals: &asked.rituals,
        observes: settings.observe,
        core: shared.policy.core_module().unwrap_or_default(),
        mitigations: &asked.mitigations(),
    };
    Ok(prompt.compose(lang_of(read)))
}

/// The language of a text, in which whoever wrote it is answered.
pub(super) fn lang_of(text: &str) -> Lang {
    detect(text).unwrap_or(Lang::En)
}
