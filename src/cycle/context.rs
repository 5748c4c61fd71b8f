//! The part of the network that a run sees: the most active and salient neurons that fit its tokens.
//!
//! Activation starts at what woke the run, at what its signals name and at the memories that these and its stimuli recall, and
//! propagates through the network as everywhere. A neuron's place is its activation plus its salience, as shares of 1.

use std::collections::{BTreeMap, BTreeSet};

use super::CycleError;
use super::network::TreeNetwork;
use super::policy::DECISION;
use super::snapshot::snapshot;
use super::spawn::Spawn;
use crate::activation::{Cue, Graph, NodeIx, Profile, propagate};
use crate::cognition::{Snapshot, llm, reflex};
use crate::model::document::{Cognition, Rule};
use crate::model::ids::NeuronId;
use crate::model::wisdom::Polarity;
use crate::model::{Format, Kind, Neuron, Stamp};

/// The neurons of the bootstrap that every agent sees where they fit.
const CORE: [&str; 6] =
    ["n_core_perception", "n_core_memory", "n_core_decision", "n_core_affect", "external_stimulus", "decision_point"];
/// The activation of those that nothing else activates.
const KNOWN: f64 = 0.05;
/// The activation of a concept that a signal speaks of: less than that of a neuron that it names.
const SPOKEN_OF: f64 = 0.75;
/// The most salient neurons that are looked at beside the active ones, and neurons that are read at most: about ten times as many as fit.
const SALIENT: usize = 256;
const READ: usize = 1024;
/// Where so few tokens are left, no neuron fits.
const FULL: usize = 16;
/// Connections of one neuron that a rule's context follows.
const FOLLOWED: usize = 8;

impl Spawn {
    /// The neurons that the run sees, most first.
    pub(super) fn context(&self, network: &TreeNetwork<'_>, tokens: u32) -> Result<Vec<Neuron>, CycleError> {
        let member = self.cycle.shared.policy.agents.get(&self.job.agent).map(|member| &member.agent.cognition);
        match member {
            Some(Cognition::Reflex { rule: Rule::Memory }) => self.nearby(network, tokens as usize * 4),
            Some(Cognition::Reflex { rule: Rule::Decision }) => self.most_active(network, tokens, &json_size),
            // The other rules look up what they need.
            Some(Cognition::Reflex { .. }) => Ok(Vec::new()),
            Some(Cognition::Llm { .. } | Cognition::Chain { .. }) => {
                self.most_active(network, tokens, &|neuron| llm::size(neuron, self.job.clock))
            }
            _ => self.most_active(network, tokens, &json_size),
        }
    }

    /// The most active and salient neurons, as many as fit by `size`. What does not fit makes room for what does.
    fn most_active(
        &self,
        network: &TreeNetwork<'_>,
        tokens: u32,
        size: &dyn Fn(&Neuron) -> usize,
    ) -> Result<Vec<Neuron>, CycleError> {
        let (shared, now) = (&self.cycle.shared, self.job.clock);
        let mut starts = self.starts();
        for text in self.job.signals.iter().filter_map(|signal| signal.payload.get("query")?.as_str()) {
            for id in reflex::concepts_in(&|words| shared.concept(network, words), text)? {
                starts.push((id, SPOKEN_OF));
            }
        }
        let snapshot = snapshot(network.store, network.tree)?;
        let graph = snapshot.graph();
        let profile = Profile::seed(&shared.policy.settings.activation);
        let reads_text = self.shows_raw_input();
        let mut found = Vec::new();
        let mut left = tokens as usize;
        let origins = &shared.policy.settings.origins;
        for (node, is_active) in ranked(&graph, &starts, now, &profile).into_iter().take(READ) {
            if left < FULL {
                break;
            }
            let Some(id) = NeuronId::parse(graph.id(node)).ok() else { continue };
            let Some(neuron) = network.neuron(&id)? else { continue };
            // Salience alone shows nobody what comes from elsewhere: it would make the run as little trusted, for nothing that it is about.
            let is_strange = !is_active && origins.is_tainted(&neuron.origin);
            if is_strange || neuron.kind == Kind::Episodic && !reads_text {
                continue;
            }
            let size = size(&neuron);
            if size <= left {
                left -= size;
                found.push(neuron);
            }
        }
        Ok(found)
    }

    /// Neurons that activation starts at, each once, with its strength.
    fn starts(&self) -> Vec<(NeuronId, f64)> {
        let mut starts: Vec<(NeuronId, f64)> = self.job.active.iter().map(|id| (id.clone(), 1.0)).collect();
        let mut named = Vec::new();
        for signal in &self.job.signals {
            named_neurons(&signal.payload, &mut named);
        }
        starts.extend(named.into_iter().map(|id| (id, 1.0)));
        starts.extend(self.reminded.iter().cloned());
        starts.extend(CORE.iter().map(|id| (NeuronId::parse(id).expect("invariant: core ids are ids"), KNOWN)));
        starts
    }

    /// What woke the run, what its signals name, the core neurons, and what is connected to those, within so many bytes of JSON; most
    /// salient first. Costs what is looked at, whatever the size of the network.
    fn nearby(&self, network: &TreeNetwork<'_>, budget: usize) -> Result<Vec<Neuron>, CycleError> {
        let mut wanted: Vec<NeuronId> = self.starts().into_iter().map(|(id, _)| id).collect();
        let mut seen: BTreeSet<NeuronId> = BTreeSet::new();
        let mut found: Vec<Neuron> = Vec::new();
        let mut bytes = 0_usize;
        let mut at = 0;
        while at < wanted.len() && bytes < budget {
            let id = wanted[at].clone();
            at += 1;
            if !seen.insert(id.clone()) {
                continue;
            }
            let Some(neuron) = network.neuron(&id)? else { continue };
            bytes += neuron.encode_as(Format::One).len();
            if bytes > budget && !found.is_empty() {
                break;
            }
            let mut strongest: Vec<_> = neuron.connections.iter().filter(|c| c.weight > 0).collect();
            strongest.sort_by_key(|c| std::cmp::Reverse(c.weight));
            wanted.extend(strongest.iter().take(FOLLOWED).map(|c| c.target.clone()));
            found.push(neuron);
        }
        let now = self.job.clock;
        found.sort_by(|a, b| b.salience_at(now).cmp(&a.salience_at(now)).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// Whether the run is shown texts as they came: not a program or a model that decides. It sees what others made of them. The rule that
    /// decides propagates through memories, and reads none.
    pub(super) fn shows_raw_input(&self) -> bool {
        let member = self.cycle.shared.policy.agents.get(&self.job.agent).map(|member| &member.agent.cognition);
        self.job.agent.as_str() != DECISION || matches!(member, Some(Cognition::Reflex { .. }))
    }
}

/// A snapshot without any text as it came.
pub(super) fn without_raw_input(mut snapshot: Snapshot) -> Snapshot {
    snapshot.stimuli.clear();
    snapshot.neurons.retain(|neuron| neuron.kind != Kind::Episodic);
    // An outcome in words is what somebody fed.
    snapshot.ledger.iter_mut().for_each(|entry| entry.outcome.text = None);
    let came = |polarity| if polarity == Polarity::Do { "it went well" } else { "it went badly" };
    snapshot.counsel.iter_mut().for_each(|one| one.effect = came(one.polarity).to_owned());
    snapshot
}

/// The tokens of a neuron as a program reads it.
fn json_size(neuron: &Neuron) -> usize {
    neuron.encode_as(Format::One).len().div_ceil(4)
}

/// The nodes that are active or very salient, by activation plus salience, most first, and whether each is active; of equal ones the one that
/// was activated last, then by id.
fn ranked(graph: &Graph<'_>, starts: &[(NeuronId, f64)], now: Stamp, profile: &Profile) -> Vec<(NodeIx, bool)> {
    let mut strengths: BTreeMap<NodeIx, f64> = BTreeMap::new();
    for (id, strength) in starts {
        if let Some(node) = graph.find(id) {
            let known = strengths.entry(node).or_insert(0.0);
            *known = strength.max(*known);
        }
    }
    let cues: Vec<Cue> = strengths.iter().map(|(node, strength)| Cue::new(*node, *strength)).collect();
    let salience = |node: NodeIx| graph.salience_at(node, now);
    let mut activation: BTreeMap<NodeIx, f64> = propagate(graph, &cues, now, profile).activation.into_iter().collect();
    strengths.into_keys().for_each(|node| _ = activation.entry(node).or_insert(0.0));
    let mut salient: Vec<(u16, u64, NodeIx)> = graph
        .nodes()
        .map(|node| (salience(node), graph.order(node), node))
        .filter(|(salience, ..)| *salience > 0)
        .collect();
    let order = |(salience, order, _): &(u16, u64, NodeIx)| (std::cmp::Reverse(*salience), *order);
    if salient.len() > SALIENT {
        salient.select_nth_unstable_by_key(SALIENT, order);
        salient.truncate(SALIENT);
    }
    salient.into_iter().for_each(|(.., node)| _ = activation.entry(node).or_insert(0.0));
    let mut ranked: Vec<(f64, i64, u64, (NodeIx, bool))> = activation
        .into_iter()
        .filter(|(node, _)| graph.is_present(*node))
        .map(|(node, active)| {
            let place = active + f64::from(salience(node)) / f64::from(u16::MAX);
            (place, graph.stored_salience(node).1.unix(), graph.order(node), (node, active > 0.0))
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
    ranked.into_iter().map(|(.., node)| node).collect()
}

/// Every text inside a payload that could be a neuron's id.
fn named_neurons(payload: &serde_json::Value, out: &mut Vec<NeuronId>) {
    match payload {
        serde_json::Value::String(text) => out.extend(NeuronId::parse(text)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| named_neurons(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| named_neurons(value, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation;
    use crate::model::Link;
    use crate::model::ids::RunId;

    const NOW: i64 = 1_769_437_920;

    fn neuron(id: &str, salience: u16) -> Neuron {
        let at = Stamp::from_unix(NOW);
        let mut neuron = Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, at);
        neuron.salience = salience;
        neuron
    }

    fn order(neurons: Vec<Neuron>, starts: &[(&str, f64)]) -> Vec<String> {
        let snapshot = activation::Snapshot::of(neurons);
        let graph = snapshot.graph();
        let starts: Vec<_> = starts.iter().map(|(id, x)| (NeuronId::parse(id).unwrap(), *x)).collect();
        let profile = Profile::seed(&crate::model::Settings::default().activation);
        let ranked = ranked(&graph, &starts, Stamp::from_unix(NOW), &profile);
        ranked.into_iter().map(|(node, _)| graph.id(node).to_owned()).collect()
    }

    #[test]
    fn the_most_active_and_salient_come_first_whatever_their_ids() {
        let mut start = neuron("zz-start", 0);
        start.set_weight(&NeuronId::parse("zz-near").unwrap(), Link::FeedsInto, 65535);
        start.set_weight(&NeuronId::parse("aa-weak").unwrap(), Link::FeedsInto, 6553);
        let neurons = vec![start, neuron("zz-near", 30000), neuron("aa-weak", 30000), neuron("mm-salient", 50000)];
        assert_eq!(
            order(neurons.clone(), &[("zz-start", 1.0), ("gone", 1.0)]),
            ["zz-start", "zz-near", "mm-salient", "aa-weak"]
        );
        // Nothing starts: salience alone, and the silent are left out.
        assert_eq!(order(neurons, &[]), ["mm-salient", "aa-weak", "zz-near"]);
    }

    #[test]
    fn equal_ones_are_told_apart_by_their_stamps_and_ids() {
        let mut late = neuron("c", 100);
        late.last_salience_update = Stamp::from_unix(NOW + 1);
        assert_eq!(order(vec![neuron("b", 100), neuron("a", 100), late], &[]), ["c", "a", "b"]);
    }

    #[test]
    fn archived_neurons_are_never_shown() {
        let mut gone = neuron("gone", 60000);
        gone.set_weight(&NeuronId::parse("b").unwrap(), Link::FeedsInto, 65535);
        gone.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
        gone.archived.clone_from(&gone.run);
        assert_eq!(order(vec![gone, neuron("b", 1)], &[("gone", 1.0)]), ["b"]);
    }
}
