//! Triggers: from what changed in the network to the agents that wake.
//!
//! Pure. The cycle says what happened since an agent last looked; this decides. Cost grows with what happened, never
//! with the size of the brain. An agent is not woken by what its own runs changed.

pub mod brake;

use std::sync::Arc;

use crate::limits;
use crate::model::document::{Answered, Condition, State};
use crate::model::ids::{AgentName, NeuronId};
use crate::model::{Agent, Flag, Neuron, Signal, Stamp, plural};

/// What happened in the network since an agent last looked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Happened {
    /// The newest clock of what happened; salience is judged at it.
    pub clock: Stamp,
    /// Outlines of neurons that changed, before (`None`: new) and after.
    pub neurons: Vec<(Option<Arc<Neuron>>, Arc<Neuron>)>,
    /// Signals sent and not answered.
    pub signals: Vec<Signal>,
    /// Answers to signals, with the signals.
    pub answers: Vec<Answered>,
    /// Flags that were changed.
    pub flags: Vec<(AgentName, Flag)>,
    /// Stimuli wait.
    pub queue_not_empty: bool,
    /// The bootstrap has not been completed.
    pub bootstrap_incomplete: bool,
    /// Sleep is due.
    pub consolidation_due: bool,
}

/// Why an agent wakes, and what it should look at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Woken {
    /// In words, for the run's record and trailer.
    pub reason: String,
    /// Neurons whose activation woke it.
    pub active: Vec<NeuronId>,
    /// Unanswered signals to it.
    pub signals: Vec<Signal>,
    /// Answers to its own signals.
    pub answers: Vec<Answered>,
    /// Whether an answer woke it; else it sees them as well.
    pub heard: bool,
    /// Whether sleep is due, and it waits for that.
    pub evening: bool,
}

/// Does what happened wake this agent?
pub fn wakes(agent: &Agent, happened: &Happened) -> Option<Woken> {
    let signals: Vec<Signal> =
        happened.signals.iter().filter(|s| s.to == agent.name && s.from != agent.name).cloned().collect();
    let answers: Vec<Answered> =
        happened.answers.iter().filter(|a| a.signal.from == agent.name && a.answer.by != agent.name).cloned().collect();
    let view = View { agent, happened, signals: &signals, answers: &answers };
    let evening = happened.consolidation_due && agent.trigger.any.contains(&EVENING);
    let mut reasons = Vec::new();
    let mut active = Vec::new();
    let mut heard = false;
    for condition in &agent.trigger.any {
        if let Some((reason, neurons)) = view.holds(condition) {
            heard |= matches!(condition, Condition::Ack(_));
            reasons.push(reason);
            active.extend(neurons);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    active.sort();
    active.dedup();
    reasons.dedup();
    Some(Woken { reason: reasons.join("; "), active, signals, answers, heard, evening })
}

/// Its name, as reasons have it.
pub const CONSOLIDATION_DUE: &str = "consolidation_due";
/// The condition that holds once before each sleep.
pub const EVENING: Condition = Condition::State(State::ConsolidationDue);

struct View<'a> {
    agent: &'a Agent,
    happened: &'a Happened,
    signals: &'a [Signal],
    answers: &'a [Answered],
}

impl View<'_> {
    /// The reason in words and the neurons concerned, if the condition holds.
    fn holds(&self, condition: &Condition) -> Option<(String, Vec<NeuronId>)> {
        let plain = |yes: bool| yes.then(|| (condition.to_string(), Vec::new()));
        match condition {
            Condition::State(State::BootstrapIncomplete) => plain(self.happened.bootstrap_incomplete),
            Condition::State(State::InputQueueNotEmpty) => plain(self.happened.queue_not_empty),
            Condition::State(State::ConsolidationDue) => plain(self.happened.consolidation_due),
            Condition::State(State::ActionRequired) => plain(self.signalled("action_required")),
            Condition::State(State::PriorityOverrideDetected) => plain(self.flag_raised("priority_override")),
            Condition::Flag(name) => plain(self.flag_raised(name.as_str())),
            Condition::Signal(kind) => plain(self.signalled(kind)),
            Condition::Ack(kind) => plain(self.answered(kind)),
            Condition::Neuron { id, salience_above, with_query } => {
                let asked = !with_query || self.signals.iter().any(|s| s.payload.get("query").is_some());
                let found = self.activated(*salience_above).find(|n| n.id == *id).filter(|_| asked)?;
                let mut active = vec![id.clone()];
                active.extend(self.beside(found, *salience_above));
                Some((format!("neuron {id} above {salience_above}"), active))
            }
            Condition::Active { count, salience_above } => {
                let found: Vec<NeuronId> = self.activated(*salience_above).map(|n| n.id.clone()).collect();
                let enough = found.len() >= *count as usize && !found.is_empty();
                enough.then(|| (format!("{} above {salience_above}", plural(found.len(), "neuron", "neurons")), found))
            }
        }
    }

    /// Neurons that another agent's run or a person activated, whose salience is above the bound now.
    fn activated(&self, above: u16) -> impl Iterator<Item = &Neuron> {
        let mine = move |n: &Neuron| n.run.as_ref().is_some_and(|run| run.agent() == self.agent.name);
        self.happened
            .neurons
            .iter()
            .filter(|(before, after)| before.as_ref().map_or(0, |b| b.activation_count) < after.activation_count)
            .map(|(_, after)| &**after)
            .filter(move |n| !mine(n) && n.salience_at(self.happened.clock) > above)
    }

    /// Other neurons that the same run lit as brightly, brightest first, so that the agent sees what the neuron was lit with.
    fn beside(&self, lit: &Neuron, above: u16) -> Vec<NeuronId> {
        let clock = self.happened.clock;
        let with = |n: &&Neuron| n.id != lit.id && n.run.is_some() && n.run == lit.run;
        let mut others: Vec<&Neuron> = self.activated(above).filter(with).collect();
        others.sort_by(|a, b| b.salience_at(clock).cmp(&a.salience_at(clock)).then_with(|| a.id.cmp(&b.id)));
        others.into_iter().take(limits::ACTIVE_BESIDE).map(|n| n.id.clone()).collect()
    }

    fn answered(&self, kind: &str) -> bool {
        self.answers.iter().any(|a| kind == "any" || a.signal.payload_kind() == Some(kind))
    }

    fn signalled(&self, kind: &str) -> bool {
        self.signals.iter().any(|s| kind == "any" || s.payload_kind() == Some(kind))
    }

    fn flag_raised(&self, name: &str) -> bool {
        let by_itself = |f: &Flag| f.run.as_ref().is_some_and(|run| run.agent() == self.agent.name);
        self.happened.flags.iter().any(|(n, flag)| n.as_str() == name && flag.value && !by_itself(flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{RunId, SignalId};
    use crate::model::{Kind, Stamp};

    fn agent(condition: &str) -> Agent {
        let text = format!(
            r#"{{"name": "memory", "role": "r", "trigger": {{"any": [{condition}]}},
            "cognition": {{"kind": "reflex", "rule": "memory"}}}}"#
        );
        Agent::decode(text.as_bytes(), "agents/memory.json").unwrap()
    }

    fn activated(id: &str, salience: u16, by: &str) -> (Option<Arc<Neuron>>, Arc<Neuron>) {
        let before = Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, Stamp::from_unix(0));
        let mut after = before.clone();
        after.activate(salience, Stamp::from_unix(0));
        after.run = Some(RunId::new(0, 0, &AgentName::parse(by).unwrap()));
        (Some(Arc::new(before)), Arc::new(after))
    }

    fn signal(kind: &str, from: &str) -> Signal {
        Signal {
            id: SignalId::parse("g1").unwrap(),
            kind: Kind::Signal,
            from: AgentName::parse(from).unwrap(),
            to: AgentName::parse("memory").unwrap(),
            run: RunId::new(0, 0, &AgentName::parse(from).unwrap()),
            created_at: Stamp::from_unix(0),
            payload: serde_json::json!({"kind": kind, "query": "q"}),
        }
    }

    #[test]
    fn states_wake_by_what_happened() {
        let happened = Happened { queue_not_empty: true, ..Happened::default() };
        assert!(wakes(&agent(r#"{"state": "input_queue_not_empty"}"#), &happened).is_some());
        assert!(wakes(&agent(r#"{"state": "consolidation_due"}"#), &happened).is_none());
        assert!(wakes(&agent(""), &happened).is_none());
    }

    #[test]
    fn three_vivid_neurons_wake_memory_and_its_own_do_not() {
        let three = agent(r#"{"active": {"count": 3, "salience_above": 45000}}"#);
        let happen = |list: Vec<_>| Happened { neurons: list, ..Happened::default() };
        let vivid = |id| activated(id, 50000, "perception");
        let woken = wakes(&three, &happen(vec![vivid("a"), vivid("b"), vivid("c")])).unwrap();
        assert_eq!(woken.active.len(), 3);
        assert!(wakes(&three, &happen(vec![vivid("a"), vivid("b"), activated("c", 45000, "perception")])).is_none());
        assert!(wakes(&three, &happen(vec![vivid("a"), vivid("b"), activated("c", 50000, "memory")])).is_none());
        let mut late = happen(vec![vivid("a"), vivid("b"), vivid("c")]);
        late.clock = Stamp::from_unix(24 * 3600);
        assert!(wakes(&three, &late).is_none(), "salience is judged at the clock of what happened");
    }

    #[test]
    fn signals_wake_by_kind_and_never_by_oneself() {
        let by = |kind, from| Happened { signals: vec![signal(kind, from)], ..Happened::default() };
        let action = agent(r#"{"state": "action_required"}"#);
        assert_eq!(wakes(&action, &by("action_required", "affect")).unwrap().signals.len(), 1);
        assert!(wakes(&action, &by("perceived", "affect")).is_none());
        assert!(wakes(&agent(r#"{"signal": "any"}"#), &by("x", "affect")).is_some());
        assert!(wakes(&agent(r#"{"signal": "any"}"#), &by("x", "memory")).is_none());
    }

    #[test]
    fn a_query_can_be_required_beside_a_neuron() {
        let point = agent(r#"{"neuron": {"id": "a", "salience_above": 40000, "with_query": true}}"#);
        let mut happened = Happened { neurons: vec![activated("a", 50000, "human")], ..Happened::default() };
        assert!(wakes(&point, &happened).is_none());
        happened.signals.push(signal("x", "perception"));
        assert!(wakes(&point, &happened).is_some());
    }

    #[test]
    fn a_raised_flag_wakes_and_a_lowered_one_does_not() {
        let urgent = agent(r#"{"flag": "urgence"}"#);
        let flag = |value| Flag { value, reason: String::new(), at: Stamp::from_unix(0), run: None };
        let happen = |value| Happened {
            flags: vec![(AgentName::parse("urgence").unwrap(), flag(value))],
            ..Happened::default()
        };
        assert!(wakes(&urgent, &happen(true)).is_some());
        assert!(wakes(&urgent, &happen(false)).is_none());
    }
}
