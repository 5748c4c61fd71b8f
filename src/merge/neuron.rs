//! The three-way merge of one neuron, field by field.
//!
//! Scenarios, in order: (1) one side or no side changed the file, or both made it equal: that file; (2) one side removed
//! it and the other changed it: the change; (3) both changed or both made it: unit by unit, by the policy.
//! Whether a removed file must stay because something points to it is the tree's question.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use super::decision::{Conflict, Decision, How, file_value};
use super::field::{self, Unit, Verdict};
use crate::delta::record::Vivid;
use crate::model::ids::RunId;
use crate::model::neuron::{Connection, Name, NamedBy, Neuron, Version};
use crate::model::settings::{MergePolicy, Rule};
use crate::model::{Origin, Stamp};

/// A merged neuron and what was decided on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeuronMerge {
    /// The result; `None`: its file goes.
    pub neuron: Option<Neuron>,
    /// What rules settled.
    pub decisions: Vec<Decision>,
    /// What they could not. Not empty: nothing may be moved to this result.
    pub conflicts: Vec<Conflict>,
}

/// Merges one neuron on three sides; `None`: the side has no such file. All that exist must have the same id.
pub fn merge_neuron(
    base: Option<&Neuron>,
    left: Option<&Neuron>,
    right: Option<&Neuron>,
    policy: &MergePolicy,
) -> NeuronMerge {
    let plain = |neuron: Option<&Neuron>| NeuronMerge { neuron: neuron.cloned(), ..NeuronMerge::default() };
    // (1) Equal files have an equal version, so they hold the same set of runs.
    if left == base {
        return plain(right);
    }
    if right == base || left == right {
        return plain(left);
    }
    match (left, right) {
        (Some(left), Some(right)) => Fields::new(base, left, right).merge(policy),
        // (2)
        (kept, other) => {
            let neuron = kept.or(other);
            let value = |side: Option<&Neuron>| file_value(side.map(Neuron::encode).as_deref());
            let decision = neuron.map(|n| Decision {
                neuron: n.id.to_string(),
                field: "file".to_owned(),
                base: value(base),
                left: value(left),
                right: value(right),
                result: value(neuron),
                rule: How::ChangedWins,
                clamped: false,
            });
            NeuronMerge { decisions: decision.into_iter().collect(), ..plain(neuron) }
        }
    }
}

/// Scenario (3).
struct Fields<'a> {
    base: Option<&'a Neuron>,
    left: &'a Neuron,
    right: &'a Neuron,
    decisions: Vec<Decision>,
    conflicts: Vec<Conflict>,
}

impl<'a> Fields<'a> {
    fn new(base: Option<&'a Neuron>, left: &'a Neuron, right: &'a Neuron) -> Self {
        Self { base, left, right, decisions: Vec::new(), conflicts: Vec::new() }
    }

    fn merge(mut self, policy: &MergePolicy) -> NeuronMerge {
        let later = self.left.run.cmp(&self.right.run);
        let (salience, last_salience_update) = self.vivid(policy.salience, later);
        let (concept, concept_name) =
            self.named("concept", policy.concept, |n| (n.concept.clone(), n.named_by.concept.clone()));
        let (kind, kind_name) = self.named("type", policy.kind, |n| (n.kind, n.named_by.kind.clone()));
        let activation_count = self.count(policy.activation_count, later);
        let unit = self.unit(|n| n.last_activated);
        let last_activated =
            self.settle("last_activated", unit.clone(), field::stamp(unit, policy.last_activated, later));
        let unit = self.unit(|n| n.created_at);
        let created_at = self.settle("created_at", unit.clone(), unit.join(How::Min, Ord::min));
        let origin = self.origin();
        let unit = self.unit(|n| n.archived.clone());
        let archived = self.settle("archived", unit.clone(), unit.join(How::LaterRun, Ord::max));
        // Labels are written once, when the neuron is made: two makers that disagree keep the greater text.
        let source = self.label("source", |n| n.source.clone());
        let session = self.label("session", |n| n.session.clone());
        let stimulus = self.label("stimulus", |n| n.stimulus.clone());
        // Two values only: where both sides changed it they agree.
        let unit = Unit { base: Some(self.base.is_some_and(|n| n.pinned)), ..self.unit(|n| n.pinned) };
        let pinned = self.settle("pinned", unit.clone(), unit.join(How::Max, |l, r| l | r));
        let connections = self.connections(policy.weight, later);
        let neuron = Neuron {
            id: self.left.id.clone(),
            concept,
            kind,
            salience,
            last_salience_update,
            created_at,
            last_activated,
            activation_count,
            run: self.run(),
            version: self.version(),
            named_by: NamedBy { concept: concept_name, kind: kind_name },
            origin,
            pinned,
            archived,
            source,
            session,
            stimulus,
            connections,
        };
        NeuronMerge { neuron: Some(neuron), decisions: self.decisions, conflicts: self.conflicts }
    }

    fn unit<T>(&self, of: impl Fn(&Neuron) -> T) -> Unit<T> {
        Unit { base: self.base.map(&of), left: of(self.left), right: of(self.right) }
    }

    fn vivid(&mut self, rule: Rule, later: Ordering) -> (u16, Stamp) {
        let unit = self.unit(|n| (n.salience, n.last_salience_update));
        let verdict = field::vivid(&unit, rule, later);
        self.settle_shown("salience", unit, verdict, |(salience, at)| to_value(&Vivid { salience: *salience, at: *at }))
    }

    fn named<T>(&mut self, name: &str, rule: Rule, of: impl Fn(&Neuron) -> (T, Name)) -> (T, Name)
    where
        T: Clone + Ord + Serialize,
    {
        let unit = self.unit(of);
        let verdict = field::named(unit.clone(), rule);
        self.settle_shown(name, unit, verdict, |(value, _)| to_value(value))
    }

    fn count(&mut self, rule: Rule, later: Ordering) -> u32 {
        let unit = self.unit(|n| i64::from(n.activation_count));
        let verdict = field::number(&unit, rule, i64::from(u32::MAX), later);
        let count = self.settle("activation_count", unit, verdict);
        u32::try_from(count).expect("invariant: held to 0..=u32::MAX")
    }

    fn label<T: Clone + Ord + Serialize>(&mut self, name: &str, of: impl Fn(&Neuron) -> Option<T>) -> Option<T> {
        let unit = self.unit(of);
        self.settle(name, unit.clone(), unit.join(How::Max, Ord::max))
    }

    /// Where what is told came from: a side that renamed it brings what an approval on the other side has not seen.
    fn origin(&mut self) -> Origin {
        let named = |n: &Neuron| (n.concept.clone(), n.kind, n.named_by.clone());
        let fresh = |side: &Neuron| self.base.is_some_and(|base| named(base) != named(side));
        let unit = self.unit(|n| n.origin.clone());
        let fresh = (fresh(self.left), fresh(self.right));
        let merged = Origin::merged(unit.base.as_ref(), &unit.left, &unit.right, fresh);
        let verdict = match &unit.base {
            Some(base) if *base == unit.left || *base == unit.right || unit.left == unit.right => {
                Verdict::Plain(merged)
            }
            _ => Verdict::Decided(merged, How::Union),
        };
        self.settle("origin", unit, verdict)
    }

    /// The larger id, where both touched it. Bookkeeping: not listed among the decisions.
    fn run(&self) -> Option<RunId> {
        let unit = self.unit(|n| n.run.clone());
        match unit.join(How::LaterRun, Ord::max) {
            Verdict::Plain(run) | Verdict::Decided(run, _) | Verdict::Clamped(run, _) => run,
            Verdict::Undecided => self.left.run.clone(),
        }
    }

    /// base ⊕ left ⊕ right: the runs of both sides, each once.
    fn version(&self) -> Version {
        let base = self.base.map_or(0, |n| n.version.0);
        Version(base ^ self.left.version.0 ^ self.right.version.0)
    }

    /// A connection is there if either side has it: a file that both sides changed never loses one, so that a removal
    /// beside +10 and −10 gives the same whatever is merged first. Only its weight can be 0.
    fn connections(&mut self, rule: Rule, later: Ordering) -> Vec<Connection> {
        let mut keys: Vec<_> =
            self.left.connections.iter().chain(&self.right.connections).map(|c| (&c.target, c.link)).collect();
        keys.sort();
        keys.dedup();
        let mut merged = Vec::with_capacity(keys.len());
        for (target, link) in keys {
            let unit = self.unit(|n| i64::from(n.weight(target, link)));
            let verdict = field::number(&unit, rule, i64::from(u16::MAX), later);
            let weight = match verdict {
                Verdict::Plain(weight) => weight,
                decided => self.settle(&format!("connections.{target}.{link}"), unit, decided),
            };
            let weight = u16::try_from(weight).expect("invariant: held to 0..=65535");
            merged.push(Connection { target: target.clone(), weight, link });
        }
        merged
    }

    fn settle<T: Clone + PartialEq + Serialize>(&mut self, name: &str, unit: Unit<T>, verdict: Verdict<T>) -> T {
        self.settle_shown(name, unit, verdict, to_value)
    }

    /// Records what was decided and gives the value; what is undecided stays as left has it.
    fn settle_shown<T: Clone + PartialEq>(
        &mut self,
        name: &str,
        unit: Unit<T>,
        verdict: Verdict<T>,
        show: impl Fn(&T) -> Value,
    ) -> T {
        let (neuron, field) = (self.left.id.to_string(), name.to_owned());
        let base = unit.base.as_ref().map_or(Value::Null, &show);
        let (left, right) = (show(&unit.left), show(&unit.right));
        let (value, rule, clamped) = match verdict {
            Verdict::Plain(value) => return value,
            Verdict::Decided(value, how) => (value, how, false),
            Verdict::Clamped(value, how) => (value, how, true),
            Verdict::Undecided => {
                let runs = self.left.run.iter().chain(&self.right.run).cloned().collect();
                self.conflicts.push(Conflict { neuron, field, base, left, right, runs });
                return unit.left;
            }
        };
        // Two zeros that add up to zero are nothing to tell.
        if clamped || value != unit.left || value != unit.right {
            let result = show(&value);
            self.decisions.push(Decision { neuron, field, base, left, right, result, rule, clamped });
        }
        value
    }
}

fn to_value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("invariant: a unit has string keys")
}
