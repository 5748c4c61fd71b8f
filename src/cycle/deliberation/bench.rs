//! The examiner's bench: what a delta does to recall, measured on the brain as it is, in memory. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::activation::Snapshot;
use crate::activation::recall::{Filters, answer};
use crate::cycle::network::TreeNetwork;
use crate::cycle::snapshot::{KEPT_NOWHERE, snapshot};
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::gates::{MEASURED, Measured, mean};
use crate::deliberation::likeness::{known_share, names};
use crate::deliberation::trial::{ANSWERS, Evidence, Memory, Probe};
use crate::deliberation::verdict::too_large;
use crate::delta::{self, Applied, Author, Document, Limits};
use crate::limits;
use crate::model::ids::{NeuronId, RunId, concept_id, splitmix};
use crate::model::neuron::Connection;
use crate::model::{Kind, Link, Neuron, Origin, Stamp};
use crate::store::{CommitId, TreeId};

/// The least share of an effect that each part has to be worth: another neuron alone moves what is rare by less.
const LEAST_SHARE: f64 = 0.01;
/// Seconds of a week: how long an effect must last.
const WEEK: i64 = 7 * 86_400;

/// One tree's evidence, and the brain that candidates are tried on.
pub(super) struct Bench<'c> {
    cycle: &'c Cycle,
    tree: TreeId,
    snapshot: Snapshot,
    now: Stamp,
    /// The memories and what a candidate is tried with.
    pub evidence: Evidence,
    /// Whether these are all memories of the brain.
    is_whole: bool,
    neurons: Vec<Neuron>,
    /// Of memories and their concepts: what random deltas are made of.
    pools: [Vec<NeuronId>; 2],
    limits: Option<Limits>,
    author: Author,
}

/// All memories of a brain in the order of time, and those that follow one in its session.
struct Order {
    memories: Vec<NeuronId>,
    places: BTreeMap<NeuronId, usize>,
    /// By a memory, the one that the network ties to it as the turn that came next.
    next: BTreeMap<NeuronId, NeuronId>,
}

impl Order {
    fn of(snapshot: &Snapshot) -> Self {
        let (graph, index) = (snapshot.graph(), snapshot.index());
        let id = |node| NeuronId::parse(graph.id(node)).ok();
        let is_memory = |node| graph.kind(node) == Kind::Episodic && !graph.is_archived(node);
        let mut timed: Vec<(Stamp, NeuronId)> = Vec::new();
        let mut next = BTreeMap::new();
        for node in graph.nodes().filter(|node| is_memory(*node)) {
            let Some(own) = id(node) else { continue };
            let ties = graph.spread(node).filter(|tie| tie.link == Link::FeedsInto && is_memory(tie.target));
            next.extend(ties.filter_map(|tie| id(tie.target)).map(|first| (first, own.clone())));
            timed.push((index.created(node), own));
        }
        timed.sort();
        let memories: Vec<NeuronId> = timed.into_iter().map(|(_, id)| id).collect();
        let places = memories.iter().enumerate().map(|(place, id)| (id.clone(), place)).collect();
        Self { memories, places, next }
    }

    /// The memory before one in time.
    fn before(&self, id: &NeuronId) -> Option<&NeuronId> {
        self.memories.get(self.places.get(id)?.checked_sub(1)?)
    }

    /// The memories before and after one in time, and the one that came next in its session.
    fn beside(&self, id: &NeuronId) -> impl Iterator<Item = NeuronId> {
        let after = self.places.get(id).and_then(|place| self.memories.get(place + 1));
        let all = [self.before(id), after, self.next.get(id)];
        all.into_iter().flatten().cloned().collect::<Vec<_>>().into_iter()
    }

    /// Pairs of memories that follow each other, at even steps through all of time.
    fn drawn(&self) -> impl Iterator<Item = NeuronId> {
        let step = (self.memories.len() / (limits::DELIBERATED_MEMORIES / 2)).max(2);
        let pairs = self.memories.chunks(step).flat_map(|part| part.iter().take(2));
        pairs.flat_map(|id| std::iter::once(id.clone()).chain(self.next.get(id).cloned()))
    }
}

impl<'c> Bench<'c> {
    /// The bench of a tree: the memories that its words recall, as far as their origin is trusted.
    pub fn of(
        cycle: &'c Cycle,
        wake: CommitId,
        title: &str,
        (run, limits): (RunId, Option<Limits>),
    ) -> Result<Self, CycleError> {
        let tree = cycle.store.tree_of(wake)?;
        let (snapshot, now) = (snapshot(&cycle.store, tree)?, cycle.shared.world.now());
        let filters = Filters { top: Some(limits::DELIBERATED_MEMORIES), ..Filters::default() };
        let (found, _) = cycle.recall(wake, &snapshot, title, filters, now, &mut |_, _| ())?;
        let origins = &cycle.shared.policy.settings.origins;
        let fits = |neuron: &Neuron| neuron.kind == Kind::Episodic && !origins.is_tainted(&neuron.origin);
        let mut neurons: Vec<Neuron> = found.into_iter().map(|one| one.neuron).filter(fits).collect();
        let graph = snapshot.graph();
        let is_memory = |id: &NeuronId| graph.find(id).is_some_and(|node| graph.kind(node) == Kind::Episodic);
        let followed = |neuron: &Neuron| {
            let follows = |tie: &&Connection| tie.link == Link::FeedsInto && is_memory(&tie.target);
            neuron.connections.iter().find(follows).map(|tie| tie.target.clone())
        };
        // What a memory followed belongs to the evidence, whatever it is about.
        let network = TreeNetwork::remembering(&cycle.store, tree, &cycle.shared.neurons);
        let known: BTreeSet<NeuronId> = neurons.iter().map(|neuron| neuron.id.clone()).collect();
        let mut beyond: BTreeSet<NeuronId> = neurons.iter().filter_map(followed).collect();
        let order = Order::of(&snapshot);
        // A small brain is measured on whole; of a larger one also what stands beside the topic in time, and pairs from all of it, by which rarity is told.
        let is_whole = order.memories.len() <= limits::DELIBERATED_WHOLE;
        match is_whole {
            true => beyond.extend(order.memories.iter().cloned()),
            false => beyond.extend(known.iter().flat_map(|id| order.beside(id)).chain(order.drawn())),
        }
        beyond.retain(|id| !known.contains(id));
        for id in beyond {
            neurons.extend(network.neuron(&id)?.filter(|neuron| fits(neuron) && !neuron.is_archived()));
        }
        let is_concept = |id: &NeuronId| graph.find(id).is_some_and(|node| graph.kind(node) == Kind::Semantic);
        let sessions: BTreeMap<&NeuronId, bool> = neurons.iter().map(|n| (&n.id, n.session.is_some())).collect();
        // Of a part it has to be said which came next: what stands next in the part may not have.
        let by_time = |neuron: &Neuron| {
            let before = order.before(&neuron.id).filter(|_| !is_whole && neuron.session.is_none())?;
            (!sessions.get(before).is_some_and(|is_of_session| *is_of_session)).then(|| before.clone())
        };
        let memories = neurons.iter().enumerate().map(|(place, neuron)| Memory {
            id: neuron.id.clone(),
            text: neuron.concept.clone(),
            session: neuron.session.clone(),
            at: neuron.created_at,
            is_of_tree: known.contains(&neuron.id),
            place,
            after: followed(neuron).or_else(|| by_time(neuron)),
            concepts: neuron.connections.iter().map(|tie| &tie.target).filter(|id| is_concept(id)).cloned().collect(),
        });
        let evidence = Evidence::new(memories.collect());
        let concepts: BTreeSet<NeuronId> =
            evidence.older().iter().flat_map(|memory| &memory.concepts).cloned().collect();
        let pools = [concepts.into_iter().collect(), evidence.older().iter().map(|m| m.id.clone()).collect()];
        let author =
            Author { agent: run.agent(), run, clock: now, rank: 0, origin: Origin::local(), consumed: Vec::new() };
        Ok(Self { cycle, tree, snapshot, now, evidence, is_whole, neurons, pools, limits, author })
    }

    /// Refuses a topic that no memory is about.
    ///
    /// # Errors
    /// None is.
    pub fn need_memories(&self, title: &str) -> Result<(), CycleError> {
        if self.evidence.all().iter().any(|one| one.is_of_tree) {
            return Ok(());
        }
        Err(CycleError::Refused {
            message: format!("no memory is about {title:?}, so no gate could measure anything"),
            hint: Some("`git brain recall` shows what the brain remembers of a topic".to_owned()),
        })
    }

    /// What a payload does to the network; the error is a sentence.
    fn applied(&self, payload: &Value) -> Result<Applied, String> {
        if let Some(why) = too_large(payload) {
            return Err(why);
        }
        let document = Document::parse(payload.to_string().as_bytes(), "the payload").map_err(|e| e.to_string())?;
        if let Some(op) = document.ops.iter().find(|op| !MEASURED.contains(&op.name())) {
            return Err(format!("the gates cannot measure {}: a candidate may {}", op.name(), MEASURED.join(", ")));
        }
        let network = TreeNetwork::remembering(&self.cycle.store, self.tree, &self.cycle.shared.neurons);
        let settings = &self.cycle.shared.policy.settings;
        let limits = self.limits.as_ref();
        delta::apply(&document, &self.author, limits, &network, &settings.learning, &settings.activation)
            .map_err(|e| e.to_string())
    }

    /// The brain with what a delta does.
    fn with(&self, applied: &Applied, least: u16) -> Snapshot {
        let after = |neuron: &Neuron| {
            let mut neuron = neuron.clone();
            neuron.connections.retain(|tie| tie.weight >= least);
            neuron
        };
        let changes: Vec<_> =
            applied.neurons.iter().map(|(id, (_, neuron))| (id.clone(), Some(after(neuron)))).collect();
        self.snapshot.advanced(&changes, KEPT_NOWHERE)
    }

    /// What recall is worth on each probe.
    fn scores(&self, snapshot: &Snapshot, probes: &[Probe], now: Stamp) -> Vec<f64> {
        let (index, settings) = (snapshot.index(), &self.cycle.shared.policy.settings);
        // In a part of a brain most answers may be of the rest, which say nothing.
        let top = if self.is_whole { 2 * ANSWERS } else { limits::DELIBERATED_MEMORIES };
        let filters = Filters { top: Some(top), ..Filters::default() };
        let worth = |probe: &Probe| {
            let found = answer(&index, &probe.question, now, settings, &filters);
            let found: Vec<(NeuronId, f64)> = found.into_iter().map(|found| (found.id, found.activation)).collect();
            self.evidence.worth(probe, &found)
        };
        probes.iter().map(worth).collect()
    }

    fn differences(&self, snapshot: &Snapshot, probes: &[Probe], before: &[f64], now: Stamp) -> Vec<f64> {
        self.scores(snapshot, probes, now).iter().zip(before).map(|(after, before)| after - before).collect()
    }

    /// Measures a payload: its effect on both halves, that of random deltas of the same shape, and what it costs.
    pub fn measure(&self, payload: &Value, promoted: &[&Value], random: u32, seed: u64) -> Measured {
        let applied = match self.applied(payload) {
            Ok(applied) => applied,
            Err(fault) => return Measured { fault, ..Measured::default() },
        };
        if let Some(memory) = self.evidence.newer().iter().find(|memory| names(payload, memory.id.as_str())) {
            let fault = format!(
                "leakage: it names {}, a memory of the newer half that judges alone see; a cycle quarantines it",
                memory.id
            );
            return Measured { fault, ..Measured::default() };
        }
        let named = self.named_in(payload);
        let train = self.evidence.probes(self.evidence.older(), &named);
        let test = self.evidence.probes(self.evidence.newer(), &named);
        let before = self.scores(&self.snapshot, &train, self.now);
        let after = self.with(&applied, 0);
        let differences = self.differences(&after, &train, &before, self.now);
        // What recall is worth without any delta is asked once a probe.
        let mut known: BTreeMap<[NeuronId; 2], f64> = BTreeMap::new();
        let mut effect = |payload: &Value, named: &BTreeSet<NeuronId>| {
            let applied = self.applied(payload).ok()?;
            let probes = self.evidence.probes(self.evidence.older(), named);
            let mut before = Vec::with_capacity(probes.len());
            for probe in &probes {
                let ask = || self.scores(&self.snapshot, std::slice::from_ref(probe), self.now)[0];
                before.push(*known.entry(probe.aside.clone()).or_insert_with(ask));
            }
            mean(&self.differences(&self.with(&applied, 0), &probes, &before, self.now))
        };
        let whole = mean(&differences).unwrap_or(0.0);
        // What is worth nothing as a whole fails by its effect.
        if whole > 0.0
            && let Some(part) = parts(payload)
                .into_iter()
                .find(|part| effect(&part.rest, &named).unwrap_or(0.0) > (1.0 - LEAST_SHARE) * whole)
        {
            let fault = format!(
                "{} rides along: without it the rest is worth as much or more, so nothing has measured it",
                part.name
            );
            return Measured { fault, ..Measured::default() };
        }
        // Stopping at the neighbour shows whether the way by it is worth having.
        if whole > 0.0
            && let Some(part) =
                self.detours(payload).into_iter().find(|part| effect(&part.rest, &named).unwrap_or(0.0) >= whole)
        {
            let fault = format!(
                "{} is a detour: ties that pass it by are worth as much or more, so nothing has measured that it belongs there",
                part.name
            );
            return Measured { fault, ..Measured::default() };
        }
        if let Some(fault) = self.hidden_by(payload, &after) {
            return Measured { fault, ..Measured::default() };
        }
        let mut state = seed;
        // One that the brain refuses changes nothing.
        let random = (0..random)
            .map(|_| {
                let twin = self.shuffled(payload, &mut state);
                effect(&twin, &self.named_in(&twin)).unwrap_or(0.0)
            })
            .collect();
        let later = Stamp::from_unix(self.now.unix() + WEEK);
        let before_later = self.scores(&self.snapshot, &train, later);
        let least = self.cycle.shared.policy.settings.sleep.prune_weight;
        let kept = self.differences(&self.with(&applied, least), &train, &before_later, later);
        let before_test = self.scores(&self.snapshot, &test, self.now);
        Measured {
            fault: String::new(),
            test: self.differences(&after, &test, &before_test, self.now),
            train: differences,
            random,
            turnover: Some(self.turnover(&applied)),
            similarity: Some(known_share(payload, promoted, |op| self.is_there(op))),
            later: mean(&kept),
            bytes: Some(growth(&applied)),
        }
    }

    /// Of each memory that ties lead to and from, the payload with ties that pass it by.
    fn detours(&self, payload: &Value) -> Vec<Part> {
        let Some(ops) = payload.get("ops").and_then(Value::as_array) else { return Vec::new() };
        let graph = self.snapshot.graph();
        let text = |op: &Value, field: &str| op.get(field).and_then(Value::as_str).map(str::to_owned);
        let is_tie = |op: &&Value| text(op, "op").as_deref() == Some("connect");
        let ends =
            |field: &str| ops.iter().filter(is_tie).filter_map(|op| text(op, field)).collect::<BTreeSet<String>>();
        let (from, to) = (ends("from"), ends("to"));
        let is_memory = |id: &&String| {
            let node = NeuronId::parse(id).ok().and_then(|id| graph.find(&id));
            node.is_some_and(|node| graph.kind(node) == Kind::Episodic)
        };
        let past = |id: &String| {
            let (through, mut rest): (Vec<&Value>, Vec<Value>) = (
                ops.iter().filter(is_tie).filter(|op| text(op, "to").as_ref() == Some(id)).collect(),
                ops.iter()
                    .filter(|op| !["from", "to"].iter().any(|end| text(op, end).as_ref() == Some(id)))
                    .cloned()
                    .collect(),
            );
            let onwards = ops.iter().filter(is_tie).filter(|op| text(op, "from").as_ref() == Some(id));
            for onward in onwards {
                rest.extend(through.iter().filter(|op| op["from"] != onward["to"]).map(|op| {
                    let mut tie = onward.clone();
                    tie["from"] = op["from"].clone();
                    tie
                }));
            }
            let mut seen = BTreeSet::new();
            rest.retain(|op| !is_tie(&op) || seen.insert(format!("{} {} {}", op["from"], op["to"], op["type"])));
            let mut all = payload.clone();
            all["ops"] = rest.into();
            Part { name: id.clone(), rest: all }
        };
        from.intersection(&to).filter(is_memory).map(past).collect()
    }

    /// Why a concept that ties lead from does not find its own memories first any more, although it did: as strong as those, what it brings hides
    /// them. The worth of a probe says nothing of that.
    fn hidden_by(&self, payload: &Value, after: &Snapshot) -> Option<String> {
        let (index, graph, settings) = (after.index(), self.snapshot.graph(), &self.cycle.shared.policy.settings);
        let was = self.snapshot.index();
        let filters = Filters { top: Some(1), ..Filters::default() };
        let ops = payload.get("ops").and_then(Value::as_array)?;
        let from: BTreeSet<&str> = ops.iter().filter_map(|op| op.get("from")?.as_str()).collect();
        let network = TreeNetwork::remembering(&self.cycle.store, self.tree, &self.cycle.shared.neurons);
        from.into_iter().find_map(|id| {
            let id = NeuronId::parse(id).ok()?;
            let concept = graph.find(&id).filter(|node| graph.kind(*node) == Kind::Semantic)?;
            let words = network.neuron(&id).ok().flatten()?.concept;
            let first = |index: &_| {
                answer(index, &words, self.now, settings, &filters).into_iter().next().map(|found| found.id)
            };
            let is_own = |id: &NeuronId| {
                graph.find(id).is_some_and(|node| {
                    graph.kind(node) == Kind::Episodic && graph.spread(node).any(|tie| tie.target == concept)
                })
            };
            let own = first(&was).filter(is_own)?;
            let other = first(&index).filter(|id| !is_own(id))?;
            Some(format!("{words} finds {other} before {own}, a memory of its own: the ties are too strong"))
        })
    }

    /// Whether the brain has what an operation would make.
    fn is_there(&self, op: &Value) -> bool {
        let network = TreeNetwork::remembering(&self.cycle.store, self.tree, &self.cycle.shared.neurons);
        let text = |field: &str| op.get(field).and_then(Value::as_str);
        let neuron = |id: &NeuronId| network.neuron(id).ok().flatten();
        let named = |field: &str| text(field).and_then(|id| NeuronId::parse(id).ok());
        match text("op") {
            Some("connect") => named("from").and_then(|id| neuron(&id)).is_some_and(|from| {
                let is_it = |tie: &Connection| {
                    Some(tie.target.as_str()) == text("to") && Some(tie.link.to_string().as_str()) == text("type")
                };
                from.connections.iter().any(is_it)
            }),
            Some("create") => {
                let id = named("id").or_else(|| text("concept").map(concept_id));
                id.is_some_and(|id| neuron(&id).is_some())
            }
            _ => false,
        }
    }

    /// The concepts that a payload names.
    fn named_in(&self, payload: &Value) -> BTreeSet<NeuronId> {
        let graph = self.snapshot.graph();
        let mut named = BTreeSet::new();
        map_strings(payload, &mut |text| {
            let id = NeuronId::parse(text).ok();
            let is_concept = |id: &NeuronId| graph.find(id).is_some_and(|node| graph.kind(node) == Kind::Semantic);
            named.extend(id.filter(is_concept));
            String::new()
        });
        named
    }

    /// The payload with each memory that it names replaced by a random one of the older half; of one that names none, with each concept. So a
    /// random twin is asked the same questions.
    fn shuffled(&self, payload: &Value, state: &mut u64) -> Value {
        let graph = self.snapshot.graph();
        let kind = |text: &str| {
            let node = NeuronId::parse(text).ok().and_then(|id| graph.find(&id))?;
            Some(graph.kind(node))
        };
        let mut has_memory = false;
        map_strings(payload, &mut |text| {
            has_memory |= kind(text) == Some(Kind::Episodic);
            String::new()
        });
        let (moved, pool) = match has_memory {
            true => (Kind::Episodic, &self.pools[1]),
            false => (Kind::Semantic, &self.pools[0]),
        };
        let mut named: BTreeMap<String, String> = BTreeMap::new();
        map_strings(payload, &mut |text| match kind(text) == Some(moved) && !pool.is_empty() {
            true => {
                let draw = || pool[splitmix(state) as usize % pool.len()].to_string();
                named.entry(text.to_owned()).or_insert_with(draw).clone()
            }
            false => text.to_owned(),
        })
    }

    /// The share of the tree's weight that a delta changes.
    fn turnover(&self, applied: &Applied) -> f64 {
        let weight = |neuron: &Neuron| -> f64 { neuron.connections.iter().map(|tie| f64::from(tie.weight)).sum() };
        let all: f64 = self.neurons.iter().map(weight).sum();
        let moved: f64 = applied
            .neurons
            .values()
            .map(|(before, after)| {
                let of = |neuron: &Neuron| -> BTreeMap<String, f64> {
                    let ties = neuron.connections.iter();
                    ties.map(|tie| (format!("{} {}", tie.target, tie.link), f64::from(tie.weight))).collect()
                };
                let (old, new) = (before.as_ref().map(of).unwrap_or_default(), of(after));
                let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                let at = |ties: &BTreeMap<String, f64>, key: &String| ties.get(key).copied().unwrap_or(0.0);
                keys.into_iter().map(|key| (at(&new, key) - at(&old, key)).abs()).sum::<f64>()
            })
            .sum();
        if all > 0.0 { moved / all } else { 1.0 }
    }
}

/// A part of a payload, and the payload without it.
struct Part {
    name: String,
    rest: Value,
}

/// The parts that each have to be worth something: each neuron that is made, with its ties, the ties of each neuron, where several have some, and each
/// tie. A payload has room for fewer ties than there are random twins, so that they cost less than those.
fn parts(payload: &Value) -> Vec<Part> {
    let Some(ops) = payload.get("ops").and_then(Value::as_array) else { return Vec::new() };
    let text = |op: &Value, field: &str| op.get(field).and_then(Value::as_str).map(str::to_owned);
    let made = |op: &Value| match text(op, "op").as_deref() {
        Some("create") => {
            text(op, "id").or_else(|| text(op, "concept").map(|concept| concept_id(&concept).to_string()))
        }
        _ => None,
    };
    let without = |goes: &dyn Fn(&Value) -> bool| -> Value {
        let mut rest = payload.clone();
        rest["ops"] = ops.iter().filter(|op| !goes(op)).cloned().collect();
        rest
    };
    let mut parts = Vec::new();
    for id in ops.iter().filter_map(made).collect::<BTreeSet<String>>() {
        let is_of_it = |op: &Value| {
            made(op).as_ref() == Some(&id) || ["from", "to"].iter().any(|end| text(op, end).as_ref() == Some(&id))
        };
        parts.push(Part { rest: without(&is_of_it), name: id.clone() });
    }
    let sources: BTreeSet<String> = ops.iter().filter_map(|op| text(op, "from")).collect();
    if sources.len() > 1 {
        parts.extend(sources.into_iter().map(|from| {
            let is_of_it = |op: &Value| text(op, "from").as_ref() == Some(&from);
            Part { rest: without(&is_of_it), name: format!("each tie of {from}") }
        }));
    }
    let tie = |op: &Value| Some([text(op, "from")?, text(op, "to")?, text(op, "type").unwrap_or_default()]);
    let ties: BTreeSet<[String; 3]> = ops.iter().filter_map(tie).collect();
    if ties.len() > 1 {
        parts.extend(ties.into_iter().map(|of| {
            let is_it = |op: &Value| tie(op).as_ref() == Some(&of);
            Part { rest: without(&is_it), name: format!("the tie of {} to {}", of[0], of[1]) }
        }));
    }
    parts
}

/// Bytes that the files of neurons grow by.
fn growth(applied: &Applied) -> u64 {
    let size = |neuron: &Neuron| neuron.encode().len() as u64;
    applied.neurons.values().map(|(before, after)| size(after).saturating_sub(before.as_ref().map_or(0, size))).sum()
}

/// A document with every string replaced.
fn map_strings(value: &Value, with: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(with(text)),
        Value::Array(items) => Value::Array(items.iter().map(|item| map_strings(item, with)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), map_strings(value, with))).collect())
        }
        other => other.clone(),
    }
}
