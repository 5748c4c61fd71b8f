//! Bootstrap: makes what the minimal network still lacks, wakes its core lightly, and introduces the agents to each
//! other. Source: MagistraAI's technical note, 7.2. That the bootstrap is complete is recorded by the engine.

use serde_json::json;

use super::proposal::{Proposal, clip, constant_id};
use super::{FOUNDATIONS, kind};
use crate::cognition::{Network, Snapshot};
use crate::delta::{Document, Edge};
use crate::limits;
use crate::model::{Kind, Link};

/// What a core neuron gets at birth: enough to be seen, far too little to trigger anyone.
const BIRTH_STRENGTH: f64 = 0.1;
/// How much the brain's idea of itself colours what it decides and feels.
const SELF_WEIGHT: u16 = 16384;
/// Agents named in one introduction: five hundred introductions still fit a document.
const NAMES: usize = 32;

/// What bootstrap proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let me = constant_id("self");
    proposal.create_if_missing(&me, "self", Kind::Contextual);
    for id in ["external_stimulus", "decision_point"] {
        proposal.create_if_missing(&constant_id(id), id, Kind::Core);
    }
    for id in FOUNDATIONS.into_iter().filter(|id| id.starts_with("n_core_")) {
        proposal.activate(&constant_id(id), BIRTH_STRENGTH);
    }
    for to in ["n_core_decision", "n_core_affect"].map(constant_id) {
        if proposal.knows(&to) && proposal.knows(&me) {
            proposal.connect(Edge { from: me.clone(), to, link: Link::Influences }, SELF_WEIGHT);
        }
    }
    let names: Vec<_> = snapshot.agents.iter().map(|a| &a.name).filter(|n| **n != snapshot.agent).take(NAMES).collect();
    for agent in snapshot.agents.iter().take(limits::DELTA_OPS / 2) {
        let role = clip(&agent.role, limits::LABEL_BYTES);
        proposal.send(&agent.name, json!({"kind": kind::INTRODUCTION, "role": role, "agents": names}));
    }
    for signal in proposal.signals() {
        proposal.acknowledge_other(signal);
    }
    proposal.finish()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use crate::model::Kind;
    use crate::model::document::Rule;

    #[test]
    fn it_introduces_everyone_but_itself_and_completes_the_network() {
        let mut world = World::new("bootstrap");
        world.core();
        let ops = world.think(Rule::Bootstrap);
        let others = "[\"perception\",\"memory\",\"decision\",\"affect\"]";
        let hello = |to: &str| {
            format!("signal {to} {{\"kind\":\"introduction\",\"role\":\"role of {to}\",\"agents\":{others}}}")
        };
        let expected = [
            "create self contextual".to_owned(),
            "activate n_core_perception 0.1".into(),
            "activate n_core_memory 0.1".into(),
            "activate n_core_decision 0.1".into(),
            "activate n_core_affect 0.1".into(),
            "connect self influences n_core_decision 16384".into(),
            "connect self influences n_core_affect 16384".into(),
            hello("perception"),
            hello("memory"),
            hello("decision"),
            hello("affect"),
        ];
        assert_eq!(ops, expected);
    }

    #[test]
    fn it_makes_only_what_is_missing() {
        let mut world = World::new("bootstrap");
        world.neuron("self", "self", Kind::Contextual, 0);
        world.agents(&["bootstrap"]);
        assert_eq!(world.think(Rule::Bootstrap), ["create external_stimulus core", "create decision_point core"]);
    }
}
