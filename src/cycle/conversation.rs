//! A conversation in the network: what was said before, and what is remembered of it now.
//!
//! What a person says is a stimulus with the source `chat:NAME`, what the brain answers one with `answer:NAME`; the session of
//! both is the conversation. An answer has the origins of all that it was made of. What of it is evidence, and what only
//! [talk], is told by its source and its text, and stored nowhere.

use std::collections::BTreeSet;

use super::network::TreeNetwork;
use super::stimulus::{self, Labels};
use super::{Cycle, CycleError, Progress};
use crate::delta::render;
use crate::limits;
use crate::model::ids::{NeuronId, StimulusId, session_id};
use crate::model::{Kind, Link, Neuron, Origin, Stamp, Stimulus};
use crate::store::{CommitId, Trailer};
use crate::text::talk::{self, ANSWERED, ASKED, Talk};

/// Who said something in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The person.
    Person,
    /// The brain.
    Brain,
}

/// Which kind of talk a memory is; `None`: it is evidence.
pub fn talk_of(neuron: &Neuron) -> Option<Talk> {
    talk::talk(neuron.source.as_deref(), neuron.session.as_deref(), &neuron.concept)
}

/// Checks the name of a conversation.
pub(super) fn check_name(name: &str) -> Result<(), CycleError> {
    let good = !name.trim().is_empty() && name.len() <= limits::CONVERSATION_BYTES;
    if good && crate::model::neuron::check_label(name).is_ok() {
        return Ok(());
    }
    let most = limits::CONVERSATION_BYTES;
    Err(CycleError::usage(format!(
        "{name:?} is no name of a conversation: at most {most} bytes, no control characters"
    )))
}

impl Cycle {
    /// A name for a conversation that has none yet.
    pub(super) fn new_conversation(&self, message: &str, tip: CommitId) -> String {
        let bits = self.shared.world.id_bits(&[b"conversation", tip.to_string().as_bytes(), message.as_bytes()]);
        format!("c-{:012x}", bits >> 16)
    }

    /// What was said in a conversation, for people: true where the brain said it; the newest turns, oldest first.
    ///
    /// # Errors
    /// No name of a conversation; the network cannot be read.
    pub fn said_in(&self, tip: CommitId, name: &str, most: usize) -> Result<Vec<(bool, Neuron)>, CycleError> {
        check_name(name)?;
        let turns = self.said_before(tip, name, most)?;
        Ok(turns.into_iter().map(|(who, neuron)| (who == Speaker::Brain, neuron)).collect())
    }

    /// The newest turns of a conversation so far, oldest first, as the network of a commit has them; with each its neuron.
    pub(super) fn said_before(
        &self,
        tip: CommitId,
        name: &str,
        most: usize,
    ) -> Result<Vec<(Speaker, Neuron)>, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(tip)?);
        let is_turn = |neuron: &Neuron| neuron.kind == Kind::Episodic && neuron.session.as_deref() == Some(name);
        let Some(session) = network.neuron(&session_id(name))? else { return Ok(Vec::new()) };
        // Two turns that were perceived side by side lead to nothing of each other: the session leads to both.
        let mut open = led_to(&network, &session, is_turn)?;
        let mut turns: Vec<(Speaker, Neuron)> = Vec::new();
        let mut seen: BTreeSet<NeuronId> = open.iter().map(|turn| turn.id.clone()).collect();
        while let Some(newest) = (0..open.len()).max_by_key(|at| order(&open[*at])) {
            if turns.len() == most {
                break;
            }
            let turn = open.swap_remove(newest);
            open.extend(led_to(&network, &turn, |before| is_turn(before) && seen.insert(before.id.clone()))?);
            turns.push((if is_answer(&turn) { Speaker::Brain } else { Speaker::Person }, turn));
        }
        turns.reverse();
        Ok(turns)
    }

    /// The stimuli that a text of a conversation makes; `order` places them among those of the same second.
    pub(super) fn turn(
        &self,
        who: Speaker,
        name: &str,
        text: &str,
        origin: &Origin,
        order: usize,
    ) -> Result<Vec<Stimulus>, CycleError> {
        let world = &self.shared.world;
        let now = world.now();
        let prefix = if who == Speaker::Person { ASKED } else { ANSWERED };
        let source = Some(format!("{prefix}{name}"));
        let labels = Labels { at: Some(now), source, session: Some(name.to_owned()), answers: None, value: None };
        let inputs = stimulus::from_argument(text, &labels);
        let made = stimulus::stimuli(inputs, now, origin, |index, input| {
            world.id_bits(&[input.text.as_bytes(), &(index as u64).to_be_bytes()])
        });
        let mut made =
            made.map_err(|(index, field, why)| CycleError::refused(format!("part {}, {field}: {why}", index + 1)))?;
        for stimulus in &mut made {
            stimulus.order = stimulus.order.saturating_add(u32::try_from(order).unwrap_or(u32::MAX));
        }
        Ok(made)
    }

    /// Makes what was said durable, with what its commit is to say of it.
    pub(super) fn hear(&self, stimuli: &[Stimulus], trailers: &[Trailer]) -> Result<Vec<StimulusId>, CycleError> {
        let subject = stimuli.first().map(|stimulus| render::clip(&stimulus.text)).unwrap_or_default();
        self.store_stimuli(stimuli, &subject, trailers, &mut |_: Progress| {})
    }
}

/// The place of a turn in its conversation: by time, and in one second an answer behind what was asked.
fn order(turn: &Neuron) -> (Stamp, bool, NeuronId) {
    (turn.created_at, is_answer(turn), turn.id.clone())
}

fn is_answer(turn: &Neuron) -> bool {
    talk_of(turn) == Some(Talk::Answer)
}

/// The turns that a neuron leads to.
fn led_to(
    network: &TreeNetwork<'_>,
    from: &Neuron,
    mut is_turn: impl FnMut(&Neuron) -> bool,
) -> Result<Vec<Neuron>, CycleError> {
    let mut found = Vec::new();
    for connection in from.connections.iter().filter(|c| c.link == Link::FeedsInto && c.weight > 0) {
        found.extend(network.neuron(&connection.target)?.filter(|neuron| is_turn(neuron)));
    }
    Ok(found)
}
