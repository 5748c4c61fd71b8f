//! A small world for the reflexes' tests: neurons, signals and agents in a few words. Every document that a rule proposes
//! in it is checked: it must be read back from its own JSON, refer only to neurons that are there, and never write to
//! its own agent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::activation::recall::{Filters, answer};
use crate::cognition::{AgentSummary, Network, Snapshot};
use crate::delta::{Chosen, Document, Edge, LedgerEntry, Method, Operation, Prediction, RunRecord, Valued};
use crate::limits;
use crate::model::document::{Goal, GoalLevel, GoalState, Rule};
use crate::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, StimulusId, concept_id};
use crate::model::{Kind, Link, Neuron, Settings, Signal, Stamp, Stimulus};

const NOW: i64 = 1_769_437_920;

pub struct World {
    neurons: BTreeMap<NeuronId, Neuron>,
    snapshot: Snapshot,
    /// What the agent sees; none: everything.
    context: Option<Vec<NeuronId>>,
    records: Vec<RunRecord>,
    senders: BTreeMap<SignalId, RunId>,
    pub settings: Settings,
}

impl Network for World {
    fn neuron(&self, id: &NeuronId) -> Option<Neuron> {
        self.neurons.get(id).cloned()
    }

    fn concept_named(&self, words: &str) -> NeuronId {
        let id = concept_id(words);
        let says_it = |n: &&Neuron| n.kind == Kind::Semantic && !n.is_archived() && concept_id(&n.concept) == id;
        if self.neurons.get(&id).is_some_and(|n| !n.is_archived()) {
            return id;
        }
        self.neurons.values().find(says_it).map_or(id, |n| n.id.clone())
    }

    fn recall(&self, question: &str, at: Stamp, top: usize) -> Vec<(NeuronId, f64)> {
        let network = crate::activation::Snapshot::of(self.neurons.values().cloned());
        let filters = Filters { top: Some(top), ..Filters::default() };
        let found = answer(&network.index(), question, at, &self.settings, &filters);
        found.into_iter().map(|found| (found.id, found.activation)).collect()
    }

    fn record(&self, run: &RunId) -> Option<RunRecord> {
        self.records.iter().find(|record| record.run == *run).cloned()
    }

    fn goal(&self, id: &GoalId) -> Option<Goal> {
        self.snapshot.goals.iter().find(|goal| goal.id == *id).cloned()
    }

    fn sender(&self, _: &AgentName, id: &SignalId) -> Option<RunId> {
        self.senders.get(id).cloned()
    }
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

impl World {
    /// A world without neurons, with five agents; `name` is the one that thinks.
    pub fn new(name: &str) -> Self {
        let snapshot = Snapshot {
            run: RunId::new(NOW * 1000, 1, &agent(name)),
            agent: agent(name),
            at: Stamp::from_unix(NOW),
            trigger: "a test".into(),
            stimuli: vec![],
            signals: vec![],
            active: vec![],
            flags: vec![],
            answers: Vec::new(),
            raised: Vec::new(),
            agents: vec![],
            neurons: vec![],
            ledger: vec![],
            goals: vec![],
            counsel: vec![],
        };
        let (records, senders, settings) = (Vec::new(), BTreeMap::new(), Settings::default());
        let mut world = Self { neurons: BTreeMap::new(), snapshot, context: None, records, senders, settings };
        world.agents(&["bootstrap", "perception", "memory", "decision", "affect"]);
        world
    }

    pub fn agents(&mut self, names: &[&str]) {
        let summary = |n: &&str| AgentSummary { name: agent(n), role: format!("role of {n}") };
        self.snapshot.agents = names.iter().map(summary).collect();
    }

    /// A neuron by its name: an id, or a concept made with [`World::concept`].
    fn id(&self, name: &str) -> NeuronId {
        let concept = concept_id(name);
        if self.neurons.contains_key(&concept) { concept } else { NeuronId::parse(name).unwrap() }
    }

    pub fn neuron(&mut self, id: &str, concept: &str, kind: Kind, salience: u16) {
        let id = NeuronId::parse(id).unwrap();
        let mut neuron = Neuron::new(id.clone(), concept, kind, self.snapshot.at);
        neuron.salience = salience;
        self.neurons.insert(id, neuron);
    }

    /// A semantic neuron, or a new salience for it.
    pub fn concept(&mut self, concept: &str, salience: u16) {
        let id = concept_id(concept);
        match self.neurons.get_mut(&id) {
            Some(neuron) => neuron.salience = salience,
            None => self.neuron(id.as_str(), concept, Kind::Semantic, salience),
        }
    }

    /// The neurons of the embedded network.
    pub fn core(&mut self) {
        for id in super::FOUNDATIONS.into_iter().filter(|id| *id != "self") {
            self.neuron(id, id, Kind::Core, 0);
        }
    }

    /// A neuron that was made and last activated hours ago.
    pub fn aged(&mut self, id: &str, kind: Kind, hours: i64, count: u32) {
        let at = Stamp::from_unix(NOW - hours * 3600);
        let id = NeuronId::parse(id).unwrap();
        let mut neuron = Neuron::new(id.clone(), id.as_str(), kind, at);
        (neuron.activation_count, neuron.last_activated) = (count, (count > 0).then_some(at));
        self.neurons.insert(id, neuron);
    }

    /// Makes an agent the one whose run gave a neuron its concept.
    pub fn named_by(&mut self, name: &str, by: &str) {
        self.change(name).named_by.concept.run = Some(RunId::new(NOW * 1000, 4, &agent(by)));
    }

    fn change(&mut self, name: &str) -> &mut Neuron {
        let id = self.id(name);
        self.neurons.get_mut(&id).unwrap()
    }

    pub fn link(&mut self, from: &str, link: Link, to: &str, weight: u16) {
        let to = self.id(to);
        self.change(from).set_weight(&to, link, weight);
    }

    pub fn salience(&mut self, name: &str, salience: u16) {
        self.change(name).salience = salience;
    }

    pub fn pin(&mut self, name: &str) {
        self.change(name).pinned = true;
    }

    /// The next unanswered signal: g1, g2…
    pub fn signal(&mut self, from: &str, payload: Value) {
        let id = SignalId::parse(&format!("g{}", self.snapshot.signals.len() + 1)).unwrap();
        let (from, to, run) = (agent(from), self.snapshot.agent.clone(), self.snapshot.run.clone());
        let created_at = self.snapshot.at;
        self.snapshot.signals.push(Signal { id, kind: Kind::Signal, from, to, run, created_at, payload });
    }

    /// The signals so far.
    pub fn signals(&self) -> &[Signal] {
        &self.snapshot.signals
    }

    /// An outcome that the ledger has, newer than those before: the pathway, and the error.
    pub fn judged(&mut self, pathway: &[(&str, Link, &str)], error: f64) {
        let edge = |(from, link, to): &(&str, Link, &str)| Edge { from: self.id(from), to: self.id(to), link: *link };
        let (run, value) = (self.snapshot.run.clone(), |value| Valued { text: None, value });
        let entry = LedgerEntry {
            judged: RunId::new(run.unix_ms(), self.snapshot.ledger.len() as u64, &run.agent()),
            agent: run.agent(),
            run,
            at: self.snapshot.at,
            prediction: value(0.5),
            outcome: value(0.5 + error),
            error,
            method: Method::Number,
            chosen: None,
            pathway: pathway.iter().map(edge).collect(),
        };
        self.snapshot.ledger.insert(0, entry);
    }

    /// An outcome of a choice that a run of this agent made, newer than those before: the prediction was right.
    pub fn chose(&mut self, question: &str, option: &str, outcome: f64) {
        self.judged(&[], outcome - 0.5);
        let entry = &mut self.snapshot.ledger[0];
        entry.chosen = Some(Chosen { question: question.to_owned(), option: option.to_owned() });
        (entry.prediction.value, entry.error) = (outcome, 0.0);
    }

    /// The error of the newest outcome.
    pub fn wrong_by(&mut self, error: f64) {
        self.snapshot.ledger[0].error = error;
    }

    /// Another run of the same agent.
    pub fn run(&mut self, seed: u64) {
        self.snapshot.run = RunId::new(NOW * 1000, seed, &self.snapshot.agent);
    }

    /// An open goal.
    pub fn wants(&mut self, id: &str, level: GoalLevel, neuron: &str, by: Option<&str>) {
        let run = by.map(|name| RunId::new(NOW * 1000, 2, &agent(name)));
        let (neuron, text) = (Some(self.id(neuron)), id.to_owned());
        let (id, at) = (GoalId::parse(id).unwrap(), self.snapshot.at);
        self.snapshot.goals.push(Goal { id, text, level, neuron, parent: None, state: GoalState::Open, at, run });
    }

    /// The record of a run that predicted, and relied on a pathway.
    pub fn recorded(&mut self, run: &str, value: f64, pathway: &[(&str, Link, &str)], ops: Vec<Operation>) -> RunId {
        let run = RunId::new(NOW * 1000 - 1000 - self.records.len() as i64, 3, &agent(run));
        let edge = |(from, link, to): &(&str, Link, &str)| Edge { from: self.id(from), to: self.id(to), link: *link };
        let (text, pathway) = (Some("it rains".to_owned()), pathway.iter().map(edge).collect());
        self.records.push(RunRecord {
            agent: run.agent(),
            run: run.clone(),
            trigger: "a test".into(),
            cognition: "reflex".into(),
            at: self.snapshot.at,
            depth: 1,
            base: None,
            origin: Default::default(),
            stimuli: vec![],
            prediction: Some(Prediction { text, value: Some(value), pathway, ..Prediction::default() }),
            ops,
            effects: vec![],
            notes: vec![],
            reverts: vec![],
            approves: vec![],
        });
        run
    }

    /// Who sent a signal that a recorded run has answered.
    pub fn sent(&mut self, signal: &str, run: &RunId) {
        self.senders.insert(SignalId::parse(signal).unwrap(), run.clone());
    }

    pub fn stimulus(&mut self, text: &str) {
        self.snapshot.stimuli.push(Stimulus {
            id: StimulusId::parse("s1").unwrap(),
            at: self.snapshot.at,
            text: text.into(),
            source: None,
            session: None,
            origin: Default::default(),
            answers: None,
            value: None,
            supersedes: Vec::new(),
            order: 0,
            code: None,
        });
    }

    /// The reason why the agent woke.
    pub fn trigger(&mut self, why: &str) {
        self.snapshot.trigger = why.to_owned();
    }

    /// A flag that is on, and who raised it.
    pub fn raised(&mut self, name: &str, by: &str, reason: &str) {
        let name = AgentName::parse(name).unwrap();
        self.snapshot.flags.push(name.clone());
        let by = Some(AgentName::parse(by).unwrap());
        self.snapshot.raised.push(crate::cognition::Raised { name, by, reason: reason.to_owned() });
    }

    pub fn flags(&mut self, names: &[&str]) {
        self.snapshot.flags = names.iter().map(|n| agent(n)).collect();
    }

    pub fn active(&mut self, names: &[&str]) {
        self.snapshot.active = names.iter().map(|n| self.id(n)).collect();
    }

    /// Lets the agent see these neurons only; the rest it has to look up.
    pub fn context(&mut self, names: &[&str]) {
        self.context = Some(names.iter().map(|n| self.id(n)).collect());
    }

    /// What the rule proposes. Checked.
    pub fn document(&self, rule: Rule) -> Document {
        let mut snapshot = self.snapshot.clone();
        let seen = |id: &NeuronId| self.context.as_ref().is_none_or(|c| c.contains(id));
        snapshot.neurons = self.neurons.values().filter(|n| seen(&n.id)).cloned().collect();
        let document = super::think(rule, &snapshot, self, &self.settings);
        self.check(&document);
        document
    }

    /// The operations of [`World::document`], one line each.
    pub fn think(&self, rule: Rule) -> Vec<String> {
        self.document(rule).ops.iter().map(line).collect()
    }

    fn check(&self, document: &Document) {
        let json = serde_json::to_vec(document).unwrap();
        assert!(document.ops.len() <= limits::RUN_OPS);
        if document.ops.len() <= limits::DELTA_OPS {
            assert_eq!(&Document::parse(&json, "proposal").unwrap(), document);
        }
        assert_eq!(document.agent.as_ref(), Some(&self.snapshot.agent));
        let mut known: BTreeSet<&NeuronId> = self.neurons.keys().collect();
        for op in &document.ops {
            let ends: Vec<&NeuronId> = match op {
                Operation::Create(op) => {
                    assert!(known.insert(op.id.as_ref().unwrap()), "{op:?} exists already");
                    vec![]
                }
                Operation::Activate(op) => vec![&op.id],
                Operation::Archive(op) => vec![&op.id],
                Operation::Connect(op) => vec![&op.from, &op.to],
                Operation::Adjust(op) => vec![&op.from, &op.to],
                Operation::Signal(op) => {
                    assert_ne!(op.to, self.snapshot.agent, "writes to itself");
                    vec![]
                }
                Operation::Acknowledge(op) => {
                    assert!(self.snapshot.signals.iter().any(|s| s.id == op.signal), "{op:?} answers nothing");
                    vec![]
                }
                Operation::Flag(_) | Operation::Outcome(_) | Operation::Deliberate(_) | Operation::Wisdom(_) => vec![],
                Operation::Reinforce(op) => op.pathway.iter().flat_map(|edge| [&edge.from, &edge.to]).collect(),
                Operation::Goal(op) => op.neuron.iter().collect(),
                other => panic!("no reflex proposes {other:?}"),
            };
            assert!(ends.iter().all(|id| known.contains(id)), "{op:?} refers to a neuron that is not there");
        }
    }
}

fn line(op: &Operation) -> String {
    let name = op.name();
    match op {
        Operation::Create(op) => format!("{name} {} {}", op.id.as_ref().unwrap(), op.kind),
        Operation::Activate(op) => format!("{name} {} {}", op.id, op.strength),
        Operation::Archive(op) => format!("{name} {} {}", op.id, op.reason),
        Operation::Connect(op) => format!("{name} {} {} {} {}", op.from, op.link, op.to, op.weight),
        Operation::Adjust(op) => format!("{name} {} {} {} {}", op.from, op.link, op.to, op.by),
        Operation::Signal(op) => format!("{name} {} {}", op.to, op.payload),
        Operation::Acknowledge(op) => format!("{name} {} {}", op.signal, op.payload),
        Operation::Reinforce(op) => {
            let edges: Vec<String> = op.pathway.iter().map(|e| format!("{} {} {}", e.from, e.link, e.to)).collect();
            format!("{name} {:.3} {}", op.error, edges.join(", "))
        }
        Operation::Outcome(op) => {
            format!("{name} {} {} {:.3} {}", op.run.agent(), op.value, op.error, op.method.as_str())
        }
        Operation::Goal(op) => {
            let parent = op.parent.as_ref().map_or("none", GoalId::as_str);
            format!("{name} {:?} {} parent {parent}", op.text, op.state.as_str())
        }
        Operation::Flag(op) => format!("{name} {} {} {}", op.name, op.value, op.reason),
        other => format!("{other:?}"),
    }
}
