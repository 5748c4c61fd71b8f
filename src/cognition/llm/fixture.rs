//! A snapshot and neurons in a few words, for tests.

use crate::cognition::{AgentSummary, Snapshot};
use crate::model::ids::{AgentName, NeuronId, RunId};
use crate::model::{Kind, Neuron, Stamp};

const NOW: i64 = 1_769_437_920;

/// A run of an agent that sees nothing but itself.
pub fn snapshot(agent: &str) -> Snapshot {
    let agent = AgentName::parse(agent).unwrap();
    Snapshot {
        run: RunId::new(NOW * 1000, 1, &agent),
        answers: Vec::new(),
        raised: Vec::new(),
        agents: vec![AgentSummary { name: agent.clone(), role: "Looks.".to_owned() }],
        agent,
        at: Stamp::from_unix(NOW),
        trigger: "a test".to_owned(),
        stimuli: Vec::new(),
        signals: Vec::new(),
        active: Vec::new(),
        flags: Vec::new(),
        neurons: Vec::new(),
        ledger: Vec::new(),
        goals: Vec::new(),
        counsel: Vec::new(),
    }
}

pub fn neuron(id: &str, concept: &str) -> Neuron {
    Neuron::new(NeuronId::parse(id).unwrap(), concept, Kind::Semantic, Stamp::from_unix(NOW))
}
