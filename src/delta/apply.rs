//! Applying a delta to the network: operations in, changed neurons and new messages out. Nothing is written here.
//!
//! All or nothing: the first operation that is not allowed refuses the whole delta, with its index.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::capability::{self, Limits};
use super::ledger::{LedgerEntry, Valued};
use super::operation::{Document, Edge, Operation};
use super::record::RunRecord;
use crate::limits;
use crate::model::document::{Goal, GoalLevel};
use crate::model::ids::{self, AgentName, GoalId, NeuronId, RunId, SignalId};
use crate::model::neuron::Name;
use crate::model::settings::{Activation, Learning};
use crate::model::{Acknowledgement, Flag, Kind, Link, Neuron, Origin, Signal, Stamp, salience};

/// Who applies a delta, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Author {
    /// The run.
    pub run: RunId,
    /// Its agent.
    pub agent: AgentName,
    /// Its clock.
    pub clock: Stamp,
    /// The agent's priority, frozen into the names that it gives.
    pub rank: u32,
    /// Where what it brings comes from.
    pub origin: Origin,
}

/// The network before the delta.
pub trait Lookup {
    /// What can go wrong while looking.
    type Error;
    /// The neuron with that id.
    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Self::Error>;
    /// The signal to that agent, and whether it is answered.
    fn signal(&self, to: &AgentName, id: &SignalId) -> Result<Option<(Signal, bool)>, Self::Error>;
    /// The record of that run.
    fn record(&self, run: &RunId) -> Result<Option<RunRecord>, Self::Error>;
    /// The goal with that id.
    fn goal(&self, id: &GoalId) -> Result<Option<Goal>, Self::Error>;
}

/// What a delta does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Changed neurons, before (`None`: made here) and after. Neurons that end as they were are not listed.
    pub neurons: BTreeMap<NeuronId, (Option<Neuron>, Neuron)>,
    /// New signals.
    pub signals: Vec<Signal>,
    /// New answers.
    pub acknowledgements: Vec<Acknowledgement>,
    /// Flags that are set.
    pub flags: BTreeMap<AgentName, Flag>,
    /// What came of a run.
    pub outcome: Option<LedgerEntry>,
    /// Goals that are set.
    pub goals: BTreeMap<GoalId, Goal>,
    /// What was clamped or raised, one sentence each.
    pub notes: Vec<String>,
}

/// Why a well-formed delta is not allowed, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ops[{index}] ({op}): {reason}")]
pub struct Refusal {
    /// Index of the operation, from 0.
    pub index: usize,
    /// Its `op`.
    pub op: &'static str,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with an operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A neuron that does not exist.
    #[error("there is no neuron {0}")]
    NoNeuron(NeuronId),
    /// A connection that does not exist.
    #[error("there is no connection {link} from {from} to {to}")]
    NoConnection {
        /// Its source.
        from: NeuronId,
        /// Its target.
        to: NeuronId,
        /// Its type.
        link: Link,
    },
    /// An id that stands for something else.
    #[error("{id} exists as {kind} {concept:?}")]
    Taken {
        /// The id.
        id: NeuronId,
        /// Its type.
        kind: Kind,
        /// Its concept, clipped.
        concept: String,
    },
    /// A neuron that must stay.
    #[error("{0} is core or pinned and cannot be archived")]
    Protected(NeuronId),
    /// A signal that is not this agent's.
    #[error("there is no signal {0} to this agent")]
    NoSignal(SignalId),
    /// A stamp ahead of the run's clock.
    #[error("its time {0} is later than the run's")]
    Future(Stamp),
    /// The agent may not do that.
    #[error("{0}")]
    Capability(String),
    /// A run that does not exist.
    #[error("there is no run {0} here")]
    NoRun(RunId),
    /// A second outcome in one document.
    #[error("a document holds one outcome")]
    SecondOutcome,
    /// An error that is not the difference between outcome and prediction.
    #[error("its error is not {value} − {prediction}, what came minus what the run predicted")]
    WrongError {
        /// What the outcome is worth.
        value: String,
        /// What was predicted.
        prediction: String,
    },
    /// A goal that does not exist.
    #[error("there is no goal {0}")]
    NoGoal(GoalId),
    /// A goal that only people set.
    #[error("{0} is a terminal goal, which only people set and change")]
    Terminal(GoalId),
    /// A neuron that would grow beyond its bound.
    #[error("{0} would exceed {max} bytes", max = limits::NEURON_BYTES)]
    Large(NeuronId),
}

/// Why a delta could not be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError<E> {
    /// It is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The network could not be read.
    #[error("{0}")]
    Lookup(E),
}

/// Applies a document to the network that `lookup` shows, by the rules of the network (write rule, reinforcement,
/// `triggers`). `allowed` is `None` for people, who may do everything on their machine.
pub fn apply<L: Lookup>(
    document: &Document,
    author: &Author,
    allowed: Option<&Limits>,
    lookup: &L,
    learning: &Learning,
    activation: &Activation,
) -> Result<Applied, ApplyError<L::Error>> {
    let mut work = Work {
        author,
        allowed,
        lookup,
        learning,
        before: BTreeMap::new(),
        now: BTreeMap::new(),
        out: Applied::default(),
        place: (0, "document"),
    };
    if let Some(limits) = allowed {
        limits.check_count(document.ops.len()).map_err(|m| work.refuse(Reason::Capability(m)))?;
    }
    for (index, op) in document.ops.iter().enumerate() {
        work.place = (index, op.name());
        if let Some(limits) = allowed {
            limits.check_operation(op).map_err(|m| work.refuse(Reason::Capability(m)))?;
        }
        work.operation(op)?;
    }
    work.fire_triggers(activation)?;
    work.finish()
}

struct Work<'a, L: Lookup> {
    author: &'a Author,
    allowed: Option<&'a Limits>,
    lookup: &'a L,
    learning: &'a Learning,
    before: BTreeMap<NeuronId, Option<Neuron>>,
    now: BTreeMap<NeuronId, Neuron>,
    out: Applied,
    place: (usize, &'static str),
}

impl<L: Lookup> Work<'_, L> {
    fn refuse(&self, reason: Reason) -> ApplyError<L::Error> {
        ApplyError::Refused(Refusal { index: self.place.0, op: self.place.1, reason })
    }

    /// Loads a neuron once; true if it exists now.
    fn load(&mut self, id: &NeuronId) -> Result<bool, ApplyError<L::Error>> {
        if !self.before.contains_key(id) {
            let found = self.lookup.neuron(id).map_err(ApplyError::Lookup)?;
            if let Some(neuron) = &found {
                self.now.insert(id.clone(), neuron.clone());
            }
            self.before.insert(id.clone(), found);
        }
        Ok(self.now.contains_key(id))
    }

    fn require(&mut self, id: &NeuronId) -> Result<(), ApplyError<L::Error>> {
        if self.load(id)? { Ok(()) } else { Err(self.refuse(Reason::NoNeuron(id.clone()))) }
    }

    /// The neuron, for changing: it must exist and be of a type that the agent may change.
    fn neuron(&mut self, id: &NeuronId) -> Result<&mut Neuron, ApplyError<L::Error>> {
        self.require(id)?;
        let kind = self.now[id].kind;
        self.check_kind(kind)?;
        Ok(self.now.get_mut(id).expect("invariant: it was just loaded"))
    }

    fn check_kind(&self, kind: Kind) -> Result<(), ApplyError<L::Error>> {
        match self.allowed.map(|limits| limits.check_kind(kind)) {
            Some(Err(message)) => Err(self.refuse(Reason::Capability(message))),
            _ => Ok(()),
        }
    }

    fn check_change(&self, change: i64) -> Result<(), ApplyError<L::Error>> {
        match self.allowed.map(|limits| limits.check_change(change)) {
            Some(Err(message)) => Err(self.refuse(Reason::Capability(message))),
            _ => Ok(()),
        }
    }

    fn clock(&self, at: Option<Stamp>) -> Result<Stamp, ApplyError<L::Error>> {
        match at {
            Some(at) if at > self.author.clock => Err(self.refuse(Reason::Future(at))),
            Some(at) => Ok(at),
            None => Ok(self.author.clock),
        }
    }

    fn operation(&mut self, op: &Operation) -> Result<(), ApplyError<L::Error>> {
        match op {
            Operation::Create(op) => self.create(op),
            Operation::Activate(op) => {
                let clock = self.clock(op.at)?;
                let added = salience::activation_gain(op.strength, self.learning.salience_gain);
                self.neuron(&op.id)?.activate(added, clock);
                Ok(())
            }
            Operation::Connect(op) => self.connect(op),
            Operation::Adjust(op) => {
                let edge = Edge { from: op.from.clone(), to: op.to.clone(), link: op.link };
                self.change_weight(&edge, i64::from(op.by)).map(|_| ())
            }
            Operation::Disconnect(edge) => {
                let weight = self.existing_weight(edge)?;
                self.change_weight(edge, -i64::from(weight)).map(|_| ())
            }
            Operation::Reinforce(op) => op.pathway.iter().try_for_each(|edge| self.reinforce(edge, op.error)),
            Operation::Reword(op) => {
                let (run, rank) = (self.author.run.clone(), self.author.rank);
                let origin = self.author.origin.clone();
                let neuron = self.neuron(&op.id)?;
                if neuron.concept != op.concept {
                    neuron.concept.clone_from(&op.concept);
                    neuron.named_by.concept = Name { rank: rank.max(neuron.named_by.concept.rank), run: Some(run) };
                    neuron.origin = neuron.origin.clone().least_trusted(origin);
                }
                Ok(())
            }
            Operation::Retype(op) => {
                self.check_kind(op.kind)?;
                let (run, rank) = (self.author.run.clone(), self.author.rank);
                let neuron = self.neuron(&op.id)?;
                if neuron.kind != op.kind {
                    neuron.kind = op.kind;
                    neuron.named_by.kind = Name { rank: rank.max(neuron.named_by.kind.rank), run: Some(run) };
                }
                Ok(())
            }
            Operation::Archive(op) => {
                let run = self.author.run.clone();
                let neuron = self.neuron(&op.id)?;
                if neuron.kind == Kind::Core || neuron.pinned {
                    return Err(self.refuse(Reason::Protected(op.id.clone())));
                }
                neuron.archived = Some(run);
                Ok(())
            }
            Operation::Signal(op) => {
                let id = Signal::id_of(&self.author.run, self.out.signals.len());
                self.out.signals.push(Signal {
                    id,
                    kind: Kind::Signal,
                    from: self.author.agent.clone(),
                    to: op.to.clone(),
                    run: self.author.run.clone(),
                    created_at: self.author.clock,
                    payload: op.payload.clone(),
                });
                Ok(())
            }
            Operation::Acknowledge(op) => self.acknowledge(&op.signal, &op.payload),
            Operation::Flag(op) => {
                self.out.flags.insert(
                    op.name.clone(),
                    Flag {
                        value: op.value,
                        reason: op.reason.clone(),
                        at: self.author.clock,
                        run: Some(self.author.run.clone()),
                    },
                );
                Ok(())
            }
            Operation::Outcome(op) => self.outcome(op),
            Operation::Goal(op) => self.goal(op),
        }
    }

    /// Enters an outcome into the ledger. Weights change by `reinforce`, beside it.
    fn outcome(&mut self, op: &super::operation::Outcome) -> Result<(), ApplyError<L::Error>> {
        if self.out.outcome.is_some() {
            return Err(self.refuse(Reason::SecondOutcome));
        }
        let found = self.lookup.record(&op.run).map_err(ApplyError::Lookup)?;
        let Some(record) = found else { return Err(self.refuse(Reason::NoRun(op.run.clone()))) };
        let prediction = Valued::expected(record.prediction.as_ref());
        if (op.error - (op.value - prediction.value)).abs() > ERROR_TOLERANCE {
            let (value, prediction) = (op.value.to_string(), prediction.value.to_string());
            return Err(self.refuse(Reason::WrongError { value, prediction }));
        }
        if record.prediction.as_ref().and_then(|p| p.value).is_none() {
            self.out.notes.push(format!("{} stated no value: {} is assumed", op.run, prediction.value));
        }
        self.out.outcome = Some(LedgerEntry {
            run: self.author.run.clone(),
            judged: op.run.clone(),
            agent: op.run.agent(),
            at: self.author.clock,
            prediction,
            outcome: Valued { text: op.text.clone(), value: op.value },
            error: op.error,
            method: op.method,
            pathway: op.pathway.clone(),
        });
        Ok(())
    }

    fn goal(&mut self, op: &super::operation::SetGoal) -> Result<(), ApplyError<L::Error>> {
        let id = op.id.clone().unwrap_or_else(|| Goal::id_of(&op.text));
        let there = self.find_goal(&id)?;
        let terminal = op.level == GoalLevel::Terminal || there.is_some_and(|g| g.level == GoalLevel::Terminal);
        if terminal && self.allowed.is_some() {
            return Err(self.refuse(Reason::Terminal(id)));
        }
        if let Some(neuron) = &op.neuron {
            self.require(neuron)?;
        }
        if let Some(parent) = &op.parent
            && (*parent == id || self.find_goal(parent)?.is_none())
        {
            return Err(self.refuse(Reason::NoGoal(parent.clone())));
        }
        let goal = Goal {
            id: id.clone(),
            text: op.text.clone(),
            level: op.level,
            neuron: op.neuron.clone(),
            parent: op.parent.clone(),
            state: op.state,
            at: self.author.clock,
            run: self.allowed.is_some().then(|| self.author.run.clone()),
        };
        self.out.goals.insert(id, goal);
        Ok(())
    }

    /// A goal as this delta has it so far.
    fn find_goal(&self, id: &GoalId) -> Result<Option<Goal>, ApplyError<L::Error>> {
        match self.out.goals.get(id) {
            Some(goal) => Ok(Some(goal.clone())),
            None => self.lookup.goal(id).map_err(ApplyError::Lookup),
        }
    }

    fn create(&mut self, op: &super::operation::Create) -> Result<(), ApplyError<L::Error>> {
        let clock = self.clock(op.at)?;
        self.check_kind(op.kind)?;
        let id = op.id.clone().unwrap_or_else(|| derived_id(op));
        if self.load(&id)? {
            let there = &self.now[&id];
            // Spelling may differ where the derived id does not: two agents that say "Tea" and "tea" mean the same.
            let same = ids::normalise(&there.concept) == ids::normalise(&op.concept);
            if !same || there.kind != op.kind {
                let concept = there.concept.chars().take(60).collect();
                return Err(self.refuse(Reason::Taken { kind: there.kind, id, concept }));
            }
            return Ok(());
        }
        let mut neuron = Neuron::new(id.clone(), op.concept.clone(), op.kind, clock);
        let name = Name { rank: self.author.rank, run: Some(self.author.run.clone()) };
        neuron.named_by.concept = name.clone();
        neuron.named_by.kind = name;
        neuron.origin = self.author.origin.clone();
        neuron.source.clone_from(&op.source);
        neuron.session.clone_from(&op.session);
        neuron.stimulus.clone_from(&op.stimulus);
        self.now.insert(id, neuron);
        Ok(())
    }

    fn connect(&mut self, op: &super::operation::Connect) -> Result<(), ApplyError<L::Error>> {
        self.require(&op.to)?;
        // 0 is absorbing, so what agents make starts where learning can move it. People get what they write.
        let floor = if self.allowed.is_some() { self.learning.connect_floor } else { 0 };
        let weight = op.weight.max(floor);
        self.check_change(i64::from(weight))?;
        let neuron = self.neuron(&op.from)?;
        if neuron.weight(&op.to, op.link) > 0 {
            return Ok(());
        }
        neuron.set_weight(&op.to, op.link, weight);
        if weight != op.weight {
            let note = format!("{} {} {}: weight {} raised to {weight}", op.from, op.link, op.to, op.weight);
            self.out.notes.push(note);
        }
        Ok(())
    }

    fn existing_weight(&mut self, edge: &Edge) -> Result<u16, ApplyError<L::Error>> {
        let found = self.neuron(&edge.from)?.connection(&edge.to, edge.link).map(|c| c.weight);
        found.ok_or_else(|| {
            self.refuse(Reason::NoConnection { from: edge.from.clone(), to: edge.to.clone(), link: edge.link })
        })
    }

    /// Adds to a weight and saturates it; returns the change that was asked for.
    fn change_weight(&mut self, edge: &Edge, by: i64) -> Result<i64, ApplyError<L::Error>> {
        let weight = self.existing_weight(edge)?;
        self.check_change(by)?;
        let wanted = i64::from(weight) + by;
        let clamped = wanted.clamp(0, i64::from(u16::MAX));
        if clamped != wanted {
            let note = format!("{} {} {}: {wanted} clamped to {clamped}", edge.from, edge.link, edge.to);
            self.out.notes.push(note);
        }
        self.neuron(&edge.from)?.set_weight(&edge.to, edge.link, clamped as u16);
        Ok(by)
    }

    /// `Δw = round_half_away(error · rate · w/65535)`; the target's salience gains `|Δw| · salience_boost`.
    /// Source: MagistraAI's technical note, 3.3, with the rate in weight units.
    fn reinforce(&mut self, edge: &Edge, error: f64) -> Result<(), ApplyError<L::Error>> {
        let weight = self.existing_weight(edge)?;
        let change = weight_change(error, self.learning.rate, weight);
        if change == 0 {
            return Ok(());
        }
        self.change_weight(edge, change)?;
        let boost = (change.unsigned_abs() as f64 * self.learning.salience_boost).round().min(65535.0) as u16;
        self.activate_consequently(&edge.to, boost).map(|_| ())
    }

    /// Activates a neuron as a consequence of an operation that was allowed: its type is not asked for again.
    /// False if there is no such neuron.
    fn activate_consequently(&mut self, id: &NeuronId, added: u16) -> Result<bool, ApplyError<L::Error>> {
        let exists = self.load(id)?;
        let clock = self.author.clock;
        if let Some(neuron) = self.now.get_mut(id) {
            neuron.activate(added, clock);
        }
        Ok(exists)
    }

    fn acknowledge(&mut self, id: &SignalId, payload: &serde_json::Value) -> Result<(), ApplyError<L::Error>> {
        let found = self.lookup.signal(&self.author.agent, id).map_err(ApplyError::Lookup)?;
        let twice = self.out.acknowledgements.iter().any(|a| a.signal == *id);
        match found {
            None => Err(self.refuse(Reason::NoSignal(id.clone()))),
            Some((_, true)) => Ok(()),
            Some(_) if twice => Ok(()),
            Some((signal, false)) => {
                self.out.acknowledgements.push(Acknowledgement {
                    signal: signal.id,
                    by: self.author.agent.clone(),
                    run: self.author.run.clone(),
                    created_at: self.author.clock,
                    payload: payload.clone(),
                });
                Ok(())
            }
        }
    }

    /// Where this run moved a neuron's salience by at least `theta`, its `triggers` targets are activated with that
    /// move as strength; each neuron fires once. Salience before is read at the run's clock.
    fn fire_triggers(&mut self, activation: &Activation) -> Result<(), ApplyError<L::Error>> {
        self.place = (self.place.0, "triggers");
        let mut queue: VecDeque<NeuronId> = self.now.keys().cloned().collect();
        let mut fired: BTreeSet<NeuronId> = BTreeSet::new();
        while let Some(id) = queue.pop_front() {
            let move_size = self.salience_move(&id);
            if fired.contains(&id) || f64::from(move_size) < activation.theta * 65535.0 || move_size == 0 {
                continue;
            }
            fired.insert(id.clone());
            let targets: Vec<NeuronId> = self.now[&id]
                .connections
                .iter()
                .filter(|c| c.link == Link::Triggers && c.weight > 0)
                .map(|c| c.target.clone())
                .collect();
            for target in targets {
                let added = salience::activation_gain(f64::from(move_size) / 65535.0, self.learning.salience_gain);
                if self.activate_consequently(&target, added)? {
                    queue.push_back(target);
                }
            }
        }
        Ok(())
    }

    fn salience_move(&self, id: &NeuronId) -> u16 {
        let Some(after) = self.now.get(id) else { return 0 };
        let before = self.before.get(id).and_then(Option::as_ref);
        before.map_or(after.salience, |b| after.salience.saturating_sub(b.salience_at(after.last_salience_update)))
    }

    fn finish(mut self) -> Result<Applied, ApplyError<L::Error>> {
        for (id, after) in std::mem::take(&mut self.now) {
            let before = self.before.get(&id).cloned().flatten();
            if before.as_ref() == Some(&after) {
                continue;
            }
            let mut after = after;
            after.version = after.version.toggled(&self.author.run);
            after.run = Some(self.author.run.clone());
            if after.encode().len() > limits::NEURON_BYTES {
                return Err(self.refuse(Reason::Large(id)));
            }
            self.out.neurons.insert(id, (before, after));
        }
        Ok(self.out)
    }
}

/// How far an outcome's error may be from the difference that it is: what decimal fractions lose.
const ERROR_TOLERANCE: f64 = 1e-9;

/// `round_half_away(error · rate · w/65535)`, in weight units.
pub fn weight_change(error: f64, rate: u32, weight: u16) -> i64 {
    (error * f64::from(rate) * f64::from(weight) / 65535.0).round() as i64
}

/// Growth of a connection whose ends were active together, `round(rate · a(u) · a(v) · (1 − w/65535))`, in weight units; it
/// saturates. `source` and `target` are activities, 0..=1. Source: MagistraAI's technical note, 1.3 and 9.2.
pub fn hebbian_change(rate: u32, source: f64, target: f64, weight: u16) -> i32 {
    let left = 1.0 - f64::from(weight) / 65535.0;
    (f64::from(rate) * source * target * left).round().min(65535.0) as i32
}

fn derived_id(op: &super::operation::Create) -> NeuronId {
    match (&op.stimulus, op.kind) {
        (Some(stimulus), Kind::Episodic) => ids::episode_id(stimulus),
        _ => ids::concept_id(&op.concept),
    }
}

impl From<&crate::model::Agent> for Limits {
    fn from(agent: &crate::model::Agent) -> Self {
        capability::Limits::of(&agent.name, &agent.capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Net(BTreeMap<NeuronId, Neuron>, Vec<(Signal, bool)>, Vec<RunRecord>, Vec<Goal>);

    impl Lookup for Net {
        type Error = std::convert::Infallible;
        fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Self::Error> {
            Ok(self.0.get(id).cloned())
        }
        fn signal(&self, to: &AgentName, id: &SignalId) -> Result<Option<(Signal, bool)>, Self::Error> {
            Ok(self.1.iter().find(|(s, _)| s.id == *id && s.to == *to).cloned())
        }
        fn record(&self, run: &RunId) -> Result<Option<RunRecord>, Self::Error> {
            Ok(self.2.iter().find(|r| r.run == *run).cloned())
        }
        fn goal(&self, id: &GoalId) -> Result<Option<Goal>, Self::Error> {
            Ok(self.3.iter().find(|g| g.id == *id).cloned())
        }
    }

    fn id(text: &str) -> NeuronId {
        NeuronId::parse(text).unwrap()
    }

    fn author() -> Author {
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        Author { agent: run.agent(), run, clock: Stamp::from_unix(3_600_000), rank: 5, origin: Origin::local() }
    }

    /// a --feeds_into 50000--> b, both semantic, made at hour 1000.
    fn net() -> Net {
        let mut net = Net::default();
        for name in ["a", "b"] {
            net.0.insert(id(name), Neuron::new(id(name), name, Kind::Semantic, Stamp::from_unix(3_600_000)));
        }
        net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::FeedsInto, 50000);
        net
    }

    fn run(net: &Net, ops: &str, allowed: Option<&Limits>) -> Result<Applied, Refusal> {
        let text = format!("{{\"ops\": [{ops}]}}");
        let document = Document::parse(text.as_bytes(), "test").unwrap();
        let (learning, activation) = (Learning::default(), Activation::default());
        apply(&document, &author(), allowed, net, &learning, &activation).map_err(|e| match e {
            ApplyError::Refused(refusal) => refusal,
            ApplyError::Lookup(never) => match never {},
        })
    }

    fn weight(applied: &Applied, from: &str, to: &str, link: Link) -> u16 {
        applied.neurons[&id(from)].1.weight(&id(to), link)
    }

    const EDGE: &str = r#""from": "a", "to": "b", "type": "feeds_into""#;

    #[test]
    fn creating_names_stamps_and_versions_a_neuron() {
        let out = run(&net(), r#"{"op": "create", "concept": "Green Tea", "type": "semantic"}"#, None).unwrap();
        let (before, after) = out.neurons.values().next().unwrap();
        assert!(before.is_none());
        assert_eq!(after.id, ids::concept_id("green tea"));
        assert_eq!((after.named_by.kind.rank, after.run.clone()), (5, Some(author().run)));
        assert_eq!(after.version.0, author().run.hash64());
    }

    #[test]
    fn what_exists_stays_and_another_meaning_is_refused() {
        let same =
            r#"{"op": "create", "id": "a", "concept": "a", "type": "semantic"}, {"op": "connect", EDGE, "weight": 7}"#;
        assert!(run(&net(), &same.replace("EDGE", EDGE), None).unwrap().neurons.is_empty());
        let spelt = r#"{"op": "create", "id": "a", "concept": " A", "type": "semantic"}"#;
        assert!(run(&net(), spelt, None).unwrap().neurons.is_empty());
        let other = r#"{"op": "create", "id": "a", "concept": "b", "type": "semantic"}"#;
        assert!(matches!(run(&net(), other, None).unwrap_err().reason, Reason::Taken { .. }));
    }

    #[test]
    fn weights_change_saturate_and_are_noted() {
        let adjust = |by: i32| run(&net(), &format!(r#"{{"op": "adjust", {EDGE}, "by": {by}}}"#), None).unwrap();
        assert_eq!(weight(&adjust(-120), "a", "b", Link::FeedsInto), 49880);
        let clamped = adjust(60000);
        assert_eq!((weight(&clamped, "a", "b", Link::FeedsInto), clamped.notes.len()), (65535, 1));
        let gone = run(&net(), &format!(r#"{{"op": "disconnect", {EDGE}}}"#), None).unwrap();
        assert_eq!(weight(&gone, "a", "b", Link::FeedsInto), 0);
        assert_eq!(gone.neurons[&id("a")].1.connections.len(), 1, "only sleep removes edges");
    }

    #[test]
    fn a_disconnected_edge_can_be_connected_again() {
        let ops = format!(r#"{{"op": "disconnect", {EDGE}}}, {{"op": "connect", {EDGE}, "weight": 9000}}"#);
        assert_eq!(weight(&run(&net(), &ops, None).unwrap(), "a", "b", Link::FeedsInto), 9000);
    }

    #[test]
    fn reinforcement_has_the_seeds_figure_and_wakes_the_target() {
        assert_eq!(weight_change(-0.3, 26214, 50000), -6000);
        let ops = format!(r#"{{"op": "reinforce", "error": 0.5, "pathway": [{{{EDGE}}}]}}"#);
        let out = run(&net(), &ops, None).unwrap();
        assert_eq!(weight(&out, "a", "b", Link::FeedsInto), 51250); // .5 · 3277 · 50000/65535 = 1250.1
        assert_eq!((out.neurons[&id("b")].1.salience, out.neurons[&id("b")].1.activation_count), (1250, 1));
    }

    #[test]
    fn a_great_move_fires_triggers_in_the_same_run() {
        let mut net = net();
        net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::Triggers, 1);
        let strong = run(&net, r#"{"op": "activate", "id": "a", "strength": 0.6}"#, None).unwrap();
        assert_eq!(strong.neurons[&id("b")].1.salience, 39321);
        let weak = run(&net, r#"{"op": "activate", "id": "a", "strength": 0.4}"#, None).unwrap();
        assert!(!weak.neurons.contains_key(&id("b")));
    }

    #[test]
    fn a_missing_end_refuses_the_whole_delta_with_its_index() {
        let ops = r#"{"op": "activate", "id": "a", "strength": 1},
            {"op": "connect", "from": "a", "to": "ghost", "type": "recalls", "weight": 5}"#;
        let refusal = run(&net(), ops, None).unwrap_err();
        assert_eq!((refusal.index, refusal.reason), (1, Reason::NoNeuron(id("ghost"))));
        for ops in [
            r#"{"op": "activate", "id": "ghost", "strength": 1}"#,
            r#"{"op": "adjust", "from": "b", "to": "a", "type": "recalls", "by": 1}"#,
            r#"{"op": "acknowledge", "signal": "g1", "payload": {}}"#,
            r#"{"op": "activate", "id": "a", "strength": 1, "at": "2026-01-01T00:00:00Z"}"#,
        ] {
            assert!(run(&net(), ops, None).is_err(), "{ops}");
        }
    }

    #[test]
    fn core_and_pinned_neurons_are_never_archived() {
        let archive = r#"{"op": "archive", "id": "a", "reason": "old"}"#;
        let out = run(&net(), archive, None).unwrap();
        assert!(out.neurons[&id("a")].1.is_archived());
        let mut pinned = net();
        pinned.0.get_mut(&id("a")).unwrap().pinned = true;
        assert!(run(&pinned, archive, None).is_err());
        let ops = format!(r#"{{"op": "retype", "id": "a", "type": "core"}}, {archive}"#);
        assert!(run(&net(), &ops, None).is_err());
    }

    #[test]
    fn capabilities_hold_operations_types_changes_and_counts() {
        let capabilities = crate::model::document::Capabilities {
            operations: vec!["activate".into(), "connect".into(), "adjust".into()],
            types: vec![Kind::Semantic],
            max_weight_delta: 2000,
            max_operations: 2,
        };
        let limits = Limits::of(&author().agent, &capabilities);
        let try_it = |ops: &str| run(&net(), ops, Some(&limits));
        assert!(try_it(r#"{"op": "activate", "id": "a", "strength": 1}"#).is_ok());
        assert!(try_it(&format!(r#"{{"op": "adjust", {EDGE}, "by": 2000}}"#)).is_ok());
        let low = try_it(r#"{"op": "connect", "from": "b", "to": "a", "type": "recalls", "weight": 5}"#).unwrap();
        assert_eq!((weight(&low, "b", "a", Link::Recalls), low.notes.len()), (1024, 1));
        for ops in [
            &format!(r#"{{"op": "adjust", {EDGE}, "by": -2001}}"#),
            r#"{"op": "reword", "id": "a", "concept": "x"}"#,
            r#"{"op": "create", "concept": "x", "type": "semantic"}"#,
            &[r#"{"op": "activate", "id": "a", "strength": 1}"#; 3].join(","),
        ] {
            assert!(matches!(try_it(ops).unwrap_err().reason, Reason::Capability(_)), "{ops}");
        }
        let mut core = net();
        core.0.get_mut(&id("a")).unwrap().kind = Kind::Core;
        assert!(run(&core, r#"{"op": "activate", "id": "a", "strength": 1}"#, Some(&limits)).is_err());
    }

    const JUDGED: &str = "20260126t143100000z-abcd2345-decision";

    #[test]
    fn an_outcome_becomes_a_ledger_entry_if_its_sum_is_right() {
        let mut net = net();
        let record = |prediction: &str| {
            let text = format!(
                r#"{{"run": "{JUDGED}", "agent": "decision", "trigger": "t", "cognition": "apply", "at": "2026-01-26T14:31:00Z",
                "depth": 0, "base": null, "origin": "local", "prediction": {prediction}, "ops": [], "effects": []}}"#
            );
            RunRecord::decode(text.as_bytes(), "record").unwrap()
        };
        let op = |value: f64, error: f64| {
            format!(r#"{{"op": "outcome", "run": "{JUDGED}", "value": {value}, "error": {error}, "method": "number"}}"#)
        };
        assert_eq!(run(&net, &op(0.4, -0.3), None).unwrap_err().reason, Reason::NoRun(RunId::parse(JUDGED).unwrap()));
        net.2.push(record(r#"{"text": "rain", "value": 0.7}"#));
        let entry = run(&net, &op(0.4, -0.3), None).unwrap().outcome.unwrap();
        assert_eq!((entry.run.clone(), entry.agent.as_str()), (author().run, "decision"));
        assert_eq!((entry.prediction.text.as_deref(), entry.prediction.value), (Some("rain"), 0.7));
        assert!(matches!(run(&net, &op(0.4, -0.2), None).unwrap_err().reason, Reason::WrongError { .. }));
        let twice = format!("{}, {}", op(0.4, -0.3), op(0.4, -0.3));
        assert_eq!(run(&net, &twice, None).unwrap_err().reason, Reason::SecondOutcome);
        net.2[0] = record("null");
        let assumed = run(&net, &op(1.0, 0.5), None).unwrap();
        assert!(assumed.notes[0].contains("0.5 is assumed"), "{:?}", assumed.notes);
    }

    #[test]
    fn terminal_goals_are_for_people_alone() {
        let capabilities = crate::model::document::Capabilities {
            operations: vec!["goal".into()],
            ..crate::model::document::Capabilities::default()
        };
        let limits = Limits::of(&author().agent, &capabilities);
        let mut net = net();
        let op = |level: &str, rest: &str| format!(r#"{{"op": "goal", "text": "tea", "level": "{level}"{rest}}}"#);
        let set = run(&net, &op("terminal", ""), None).unwrap();
        let goal = set.goals.values().next().unwrap().clone();
        assert_eq!((goal.level, goal.run.clone()), (GoalLevel::Terminal, None));
        let denied = Reason::Terminal(goal.id.clone());
        assert_eq!(run(&net, &op("terminal", ""), Some(&limits)).unwrap_err().reason, denied);
        net.3.push(goal.clone());
        // Neither changed, nor turned into a lesser one.
        for level in ["terminal", "sub"] {
            let close = op(level, r#", "state": "abandoned""#);
            assert_eq!(run(&net, &close, Some(&limits)).unwrap_err().reason, denied);
        }
        let rest = format!(r#", "id": "milk", "neuron": "a", "parent": "{}""#, goal.id);
        let sub = run(&net, &op("sub", &rest), Some(&limits)).unwrap().goals.into_values().next().unwrap();
        assert_eq!((sub.run, sub.parent), (Some(author().run), Some(goal.id)));
        for rest in
            [r#", "id": "g", "neuron": "ghost""#, r#", "id": "g", "parent": "ghost""#, r#", "id": "g", "parent": "g""#]
        {
            assert!(run(&net, &op("sub", rest), Some(&limits)).is_err(), "{rest}");
        }
    }

    #[test]
    fn signals_are_numbered_and_answered_once() {
        let mut net = net();
        let sent = run(&net, r#"{"op": "signal", "to": "memory", "payload": {"kind": "x"}}, {"op": "signal", "to": "memory", "payload": {}}"#, None).unwrap();
        assert_ne!(sent.signals[0].id, sent.signals[1].id);
        net.1.push((sent.signals[0].clone(), false));
        let ack = format!(r#"{{"op": "acknowledge", "signal": "{}", "payload": {{}}}}"#, sent.signals[0].id);
        assert_eq!(run(&net, &format!("{ack}, {ack}"), None).unwrap().acknowledgements.len(), 1);
        net.1[0].1 = true;
        assert!(run(&net, &ack, None).unwrap().acknowledgements.is_empty());
    }
}
