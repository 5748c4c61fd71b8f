//! Applying a delta to the network: operations in, changed neurons and new messages out. Nothing is written here.
//!
//! All or nothing: the first operation that is not allowed refuses the whole delta, with its index.

mod events;
mod weights;

use std::collections::BTreeMap;

pub use weights::{hebbian_change, weight_change};

use super::capability::{self, Limits, Spent};
use super::ledger::LedgerEntry;
use super::operation::{Document, Edge, Operation};
use super::record::RunRecord;
use crate::limits;
use crate::model::deliberation::DeliberationCycle;
use crate::model::document::Goal;
use crate::model::ids::{self, AgentName, GoalId, NeuronId, RunId, SignalId, StimulusId};
use crate::model::neuron::Name;
use crate::model::sealed::SealedRecord;
use crate::model::settings::{Activation, Learning};
use crate::model::wisdom::WisdomRecord;
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
    /// The stimuli that it consumes: of these alone an agent makes episodes.
    pub consumed: Vec<StimulusId>,
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
    /// What came of runs, in words and numbers, newest first, by those who judge here; not what comes from elsewhere.
    fn outcomes(&self, _: &[RunId]) -> Result<Vec<LedgerEntry>, Self::Error> {
        Ok(Vec::new())
    }
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
    /// A cycle of a deliberation.
    pub deliberation: Option<DeliberationCycle>,
    /// What was learnt.
    pub wisdom: Option<WisdomRecord>,
    /// The sealed memories.
    pub sealed: Option<SealedRecord>,
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
    /// A neuron whose name and type only people change.
    #[error("{0} is core or pinned: its concept and type are for people to change")]
    Kept(NeuronId),
    /// An episode of a stimulus that the run does not consume.
    #[error("the run does not consume the stimulus {0}, so it cannot remember it")]
    NotConsumed(StimulusId),
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
    /// A second cycle of a deliberation in one document.
    #[error("a document holds one cycle of a deliberation")]
    SecondCycle,
    /// A second lesson in one document.
    #[error("a document holds one operation `wisdom`")]
    SecondTeaching,
    /// A second sealing in one document.
    #[error("a document holds one operation `seal`")]
    SecondSealing,
    /// A sealing of an agent.
    #[error("only people seal memories and forget subjects")]
    Sealing,
    /// A seed of an agent without a run that it rests on.
    #[error("{0} names no run that it rests on, which only people may leave out")]
    Unfounded(String),
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
        spent: Spent::default(),
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
    spent: Spent,
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
        self.check(|limits, this| limits.check_region(id, this.now.get(id)))?;
        Ok(self.now.get_mut(id).expect("invariant: it was just loaded"))
    }

    /// Asks the agent's limits; people have none.
    fn check(&self, ask: impl FnOnce(&Limits, &Self) -> Result<(), String>) -> Result<(), ApplyError<L::Error>> {
        match self.allowed.map(|limits| ask(limits, self)) {
            Some(Err(message)) => Err(self.refuse(Reason::Capability(message))),
            _ => Ok(()),
        }
    }

    /// Asks for a share of what is bounded as a sum.
    fn spend(
        &mut self,
        ask: impl FnOnce(&Limits, &mut Spent) -> Result<(), String>,
    ) -> Result<(), ApplyError<L::Error>> {
        match self.allowed.map(|limits| ask(limits, &mut self.spent)) {
            Some(Err(message)) => Err(self.refuse(Reason::Capability(message))),
            _ => Ok(()),
        }
    }

    fn check_kind(&self, kind: Kind) -> Result<(), ApplyError<L::Error>> {
        self.check(|limits, _| limits.check_kind(kind))
    }

    fn check_change(&self, change: i64) -> Result<(), ApplyError<L::Error>> {
        self.check(|limits, _| limits.check_change(change))
    }

    /// Refuses agents to rename what only people rename: a core neuron of another type could be archived.
    fn check_name_is_free(&self, id: &NeuronId) -> Result<(), ApplyError<L::Error>> {
        let kept = self.now.get(id).is_some_and(|n| n.kind == Kind::Core || n.pinned);
        if kept && self.allowed.is_some() { Err(self.refuse(Reason::Kept(id.clone()))) } else { Ok(()) }
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
                let neuron = self.neuron(&op.id)?;
                neuron.activate(added, clock);
                // Whoever activates knows of it: it is of use again. Any touch says so of what an agent archived.
                neuron.archived.take_if(|by| by.is_a_persons());
                self.spend(|limits, spent| limits.check_strength(&op.id, op.strength, spent))
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
                self.neuron(&op.id)?;
                self.check_name_is_free(&op.id)?;
                let neuron = self.neuron(&op.id)?;
                if neuron.concept != op.concept {
                    neuron.concept.clone_from(&op.concept);
                    neuron.named_by.concept = Name { rank: rank.max(neuron.named_by.concept.rank), run: Some(run) };
                    neuron.origin = neuron.origin.and(&origin);
                }
                Ok(())
            }
            Operation::Retype(op) => {
                self.check_kind(op.kind)?;
                let (run, rank) = (self.author.run.clone(), self.author.rank);
                let origin = self.author.origin.clone();
                self.neuron(&op.id)?;
                self.check_name_is_free(&op.id)?;
                let neuron = self.neuron(&op.id)?;
                if neuron.kind != op.kind {
                    neuron.kind = op.kind;
                    neuron.named_by.kind = Name { rank: rank.max(neuron.named_by.kind.rank), run: Some(run) };
                    neuron.origin = neuron.origin.and(&origin);
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
            Operation::Deliberate(op) => self.deliberate(op),
            Operation::Wisdom(op) => self.wisdom(op),
            Operation::Seal(op) => self.seal(op),
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
            // A person who says what is archived says it again.
            if let Some(by) = there.archived.clone().filter(|_| self.author.run.is_a_persons()) {
                self.now.entry(id.clone()).and_modify(|neuron| neuron.archived = None);
                self.out.notes.push(format!("{id} was archived by {by}, and is there again"));
            }
            return Ok(());
        }
        if let Some(stimulus) = &op.stimulus
            && self.allowed.is_some()
            && !self.author.consumed.contains(stimulus)
        {
            return Err(self.refuse(Reason::NotConsumed(stimulus.clone())));
        }
        self.check(|limits, _| limits.check_region(&id, None))?;
        self.spend(|limits, spent| limits.check_created(spent))?;
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

    fn finish(mut self) -> Result<Applied, ApplyError<L::Error>> {
        for (id, after) in std::mem::take(&mut self.now) {
            let before = self.before.get(&id).cloned().flatten();
            if before.as_ref() == Some(&after) {
                continue;
            }
            let mut after = after;
            after.version = after.version.toggled(&self.author.run);
            after.run = Some(self.author.run.clone());
            // What is large already, through an import or a merge, may still fire and fade.
            let grows = before.as_ref().is_none_or(|before| {
                after.connections.len() > before.connections.len() || after.concept.len() > before.concept.len()
            });
            if grows && after.is_larger_than(limits::NEURON_BYTES) {
                return Err(self.refuse(Reason::Large(id)));
            }
            self.out.neurons.insert(id, (before, after));
        }
        Ok(self.out)
    }
}

/// How far an outcome's error may be from the difference that it is: what decimal fractions lose.
const ERROR_TOLERANCE: f64 = 1e-9;

/// The id of what is made without one.
pub fn derived_id(op: &super::operation::Create) -> NeuronId {
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
mod tests;
