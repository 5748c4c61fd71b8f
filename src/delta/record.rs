//! The record of a run: immutable, self-contained, one file under `network/runs/`.
//!
//! Its effects are stored field by field (before, after), so that a recorded run can be applied to another tree without
//! executing its operations again: `reinforce` or `activate` would give other numbers on another base. `record_form` reads and
//! writes its file.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::operation::{Operation, Prediction};
use crate::model::form;
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::json::{self, JsonError};
use crate::model::neuron::{Name, Version};
use crate::model::{Kind, Link, Neuron, Origin, Stamp};

/// How a run thought whose document a person or a program applied, by whatever agent.
pub const APPLIED: &str = "apply";
/// The trigger of a run by which a person says what came of another one.
pub const OUTCOME: &str = "outcome";

/// What a run saw, predicted, proposed and did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRecord {
    /// The run.
    pub run: RunId,
    /// The agent that it executed.
    pub agent: AgentName,
    /// What woke it.
    pub trigger: String,
    /// How it thought, such as `reflex:memory` or `apply`.
    pub cognition: String,
    /// The run's clock: its stimulus' time.
    pub at: Stamp,
    /// Causal distance from a stimulus; 0: by hand.
    pub depth: u32,
    /// The commit that it started from; null for the very first.
    pub base: Option<String>,
    /// Where what it brings comes from.
    pub origin: Origin,
    /// The stimuli that it consumed or descends from.
    pub stimuli: Vec<StimulusId>,
    /// What it expected, said before the act.
    pub prediction: Option<Prediction>,
    /// What it proposed.
    pub ops: Vec<Operation>,
    /// What that did, one entry a neuron, sorted by id.
    pub effects: Vec<Effect>,
    /// What the engine changed of the proposal or clamped, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The runs whose effects a person takes back by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reverts: Vec<RunId>,
    /// The runs of origins that are not trusted which a person approves by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approves: Vec<RunId>,
}

/// Of a record, who did what, without the values: a record of an import is as long as the neurons that it made.
#[derive(Debug)]
pub struct RunOutline {
    /// The run.
    pub run: RunId,
    /// Where what it brings comes from.
    pub origin: Origin,
    /// Of what it proposed, the operations on other files than neurons.
    pub ops: Vec<Operation>,
    /// The neurons that it touched, one entry each.
    pub effects: Vec<EffectOutline>,
    /// The runs that it takes back.
    pub reverts: Vec<RunId>,
    /// The runs that it approves.
    pub approves: Vec<RunId>,
}

/// Which parts of a neuron a run touched.
#[derive(Debug)]
pub struct EffectOutline {
    /// The neuron.
    pub neuron: NeuronId,
    /// Whether the run made it.
    pub created: bool,
    /// The connections, by the neuron that they point to and their type.
    pub connections: Vec<(NeuronId, Link)>,
    /// The other fields, by their names in [`Effect`].
    pub fields: Vec<&'static str>,
}

impl RunOutline {
    /// Reads the outline of a record that was checked when it was merged; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        json::typed(bytes, what)
    }

    pub(super) fn of(
        run: RunId,
        origin: Origin,
        ops: Vec<Operation>,
        effects: Vec<Effect>,
        reverts: Vec<RunId>,
        approves: Vec<RunId>,
    ) -> Self {
        let elsewhere = |op: &Operation| {
            matches!(
                op,
                Operation::Outcome(_)
                    | Operation::Flag(_)
                    | Operation::Goal(_)
                    | Operation::Deliberate(_)
                    | Operation::Wisdom(_)
                    | Operation::Seal(_)
            )
        };
        let outline = |effect: Effect| {
            Some(EffectOutline {
                neuron: effect.id()?.clone(),
                created: effect.created.is_some(),
                fields: effect.fields(),
                connections: effect.connections.into_iter().map(|c| (c.target, c.link)).collect(),
            })
        };
        let mut ops: Vec<Operation> = ops.into_iter().filter(elsewhere).collect();
        ops.shrink_to_fit();
        let effects = effects.into_iter().filter_map(outline).collect();
        Self { run, origin, ops, effects, reverts, approves }
    }
}

/// The note in what is left of a run that was thrown away or amended.
pub const REJECTED: &str = "rejected by a person";

impl RunRecord {
    /// Whether it is what is left of a run that was thrown away or amended.
    pub fn is_left_over(&self) -> bool {
        self.effects.is_empty() && self.notes.first().is_some_and(|note| note == REJECTED)
    }

    /// The same without words of its prediction: of a run that a person threw away the numbers teach.
    #[must_use]
    pub fn without_words(mut self) -> Self {
        if let Some(prediction) = &mut self.prediction {
            (prediction.text, prediction.chosen) = (None, None);
        }
        self
    }

    /// Whether its agent had nothing to do: it has no operations, and not because a decision took them out.
    pub fn did_nothing(&self) -> bool {
        self.ops.is_empty() && !self.is_left_over()
    }
}

/// Of records, newest first, the runs that people took back, each with the run that did. Taking back can itself be taken back.
pub fn reverted_among(records: &[RunRecord]) -> BTreeMap<RunId, RunId> {
    let mut reverted = BTreeMap::new();
    for record in records.iter().filter(|record| record.run.is_a_persons()) {
        if !reverted.contains_key(&record.run) {
            reverted.extend(record.reverts.iter().map(|run| (run.clone(), record.run.clone())));
        }
    }
    reverted
}

/// A value before and after.
pub type Pair<T> = (T, T);

/// What a run did to one neuron. Fields that did not change are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Effect {
    /// The neuron; absent only in a value under construction.
    pub neuron: Option<NeuronId>,
    /// The whole neuron, where the run made it; then nothing else is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Box<Neuron>>,
    /// The whole neuron, where the run took it away, as only taking back does; then nothing else is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Box<Neuron>>,
    /// `version` and `run`, where the run did not mark the neuron as its own: it left it exactly as it was before others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Pair<Marks>>,
    /// `concept` and who named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concept: Option<Pair<Named<String>>>,
    /// `type` and who gave it.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Pair<Named<Kind>>>,
    /// `salience` and `last_salience_update`, one unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salience: Option<Pair<Vivid>>,
    /// `activation_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_count: Option<Pair<u32>>,
    /// `last_activated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activated: Option<Pair<Option<Stamp>>>,
    /// `origin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Pair<Origin>>,
    /// `pinned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pair<bool>>,
    /// `archived`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<Pair<Option<RunId>>>,
    /// `created_at`, which only an import sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Pair<Stamp>>,
    /// `source`, `session` and `stimulus`, which only an import sets, one unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Pair<Labels>>,
    /// Weights, sorted by target and type; null: no such connection. Format 2 has them by target.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "weights")]
    #[schemars(with = "form::EdgesSchema<Pair<Option<u16>>, WeightEffect>")]
    pub connections: Vec<WeightEffect>,
}

/// Reads connections of any format.
fn weights<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WeightEffect>, D::Error> {
    let list = form::edges(deserializer, |e: WeightEffect| (e.target, e.link, e.weight))?;
    Ok(list.into_iter().map(|(target, link, weight)| WeightEffect { target, link, weight }).collect())
}

/// A name with its rank and run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named<T> {
    /// The concept or type.
    pub value: T,
    /// Who gave it.
    pub by: Name,
}

/// The marks that runs leave on a neuron.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// The neuron's version.
    pub version: Version,
    /// The last run that touched it.
    pub run: Option<RunId>,
}

/// Salience as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vivid {
    /// 0..=65535.
    pub salience: u16,
    /// When it was stored.
    pub at: Stamp,
}

/// Which stimulus an episodic neuron remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Labels {
    /// Its label.
    pub source: Option<String>,
    /// Its session.
    pub session: Option<String>,
    /// Its id.
    pub stimulus: Option<StimulusId>,
}

/// What a run did to one connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightEffect {
    /// The neuron it points to.
    pub target: NeuronId,
    /// Its type.
    #[serde(rename = "type")]
    pub link: Link,
    /// Weight before and after; null: no such connection.
    pub weight: Pair<Option<u16>>,
}

impl Effect {
    /// The words that the run gave the neuron; `None`: it left those that were there.
    pub fn said(&self) -> Option<&str> {
        let reworded = || self.concept.as_ref().map(|(_, now)| now.value.as_str());
        self.created.as_ref().map(|made| made.concept.as_str()).or_else(reworded)
    }

    /// The difference between a neuron before a run (`None`: it did not exist) and after it.
    pub fn between(before: Option<&Neuron>, after: &Neuron) -> Self {
        let mut effect = Self { neuron: Some(after.id.clone()), ..Self::default() };
        let Some(before) = before else {
            effect.created = Some(Box::new(after.clone()));
            return effect;
        };
        let concept = |n: &Neuron| Named { value: n.concept.clone(), by: n.named_by.concept.clone() };
        let kind = |n: &Neuron| Named { value: n.kind, by: n.named_by.kind.clone() };
        let vivid = |n: &Neuron| Vivid { salience: n.salience, at: n.last_salience_update };
        effect.concept = changed(concept(before), concept(after));
        effect.kind = changed(kind(before), kind(after));
        effect.salience = changed(vivid(before), vivid(after));
        effect.activation_count = changed(before.activation_count, after.activation_count);
        effect.last_activated = changed(before.last_activated, after.last_activated);
        effect.origin = changed(before.origin.clone(), after.origin.clone());
        effect.pinned = changed(before.pinned, after.pinned);
        effect.archived = changed(before.archived.clone(), after.archived.clone());
        effect.created_at = changed(before.created_at, after.created_at);
        let labels =
            |n: &Neuron| Labels { source: n.source.clone(), session: n.session.clone(), stimulus: n.stimulus.clone() };
        effect.labels = changed(labels(before), labels(after));
        effect.connections = weight_effects(before, after);
        effect
    }

    /// That a run took a neuron away.
    pub fn removal(before: &Neuron) -> Self {
        Self { neuron: Some(before.id.clone()), removed: Some(Box::new(before.clone())), ..Self::default() }
    }

    /// The same as [`Effect::between`] for a run that leaves no mark of its own.
    pub fn unmarked(before: Option<&Neuron>, after: &Neuron) -> Self {
        let marks = |n: &Neuron| Marks { version: n.version, run: n.run.clone() };
        let pair = before.map(|before| (marks(before), marks(after)));
        Self { marks: pair, ..Self::between(before, after) }
    }

    /// By what the run that has this effect changed the neuron's version.
    pub fn version_moved(&self, run: &RunId) -> Version {
        match (&self.removed, &self.marks, &self.created) {
            (Some(removed), ..) => removed.version,
            (_, Some((before, after)), _) => before.version.xor(after.version),
            (_, _, Some(created)) => created.version,
            _ => Version::default().toggled(run),
        }
    }

    /// The fields that the run touched beside connections, by their names in the record.
    pub fn fields(&self) -> Vec<&'static str> {
        let fields = [
            ("concept", self.concept.is_some()),
            ("type", self.kind.is_some()),
            ("salience", self.salience.is_some()),
            ("activation_count", self.activation_count.is_some()),
            ("last_activated", self.last_activated.is_some()),
            ("origin", self.origin.is_some()),
            ("pinned", self.pinned.is_some()),
            ("archived", self.archived.is_some()),
            ("created_at", self.created_at.is_some()),
            ("labels", self.labels.is_some()),
        ];
        fields.into_iter().filter(|(_, touched)| *touched).map(|(name, _)| name).collect()
    }

    /// The id of the neuron that it is about.
    pub fn id(&self) -> Option<&NeuronId> {
        self.neuron.as_ref().or(self.created.as_ref().map(|n| &n.id))
    }

    /// `neuron` with every field of the effect set to its value before (`after == false`) or after the run.
    /// Fields that the effect does not name stay as they are.
    pub fn set_on(&self, neuron: &Neuron, after: bool) -> Neuron {
        fn pick<T: Clone>(pair: &Pair<T>, after: bool) -> T {
            if after { pair.1.clone() } else { pair.0.clone() }
        }
        let mut n = neuron.clone();
        if let Some(pair) = &self.concept {
            let named = pick(pair, after);
            (n.concept, n.named_by.concept) = (named.value, named.by);
        }
        if let Some(pair) = &self.kind {
            let named = pick(pair, after);
            (n.kind, n.named_by.kind) = (named.value, named.by);
        }
        if let Some(pair) = &self.salience {
            let vivid = pick(pair, after);
            (n.salience, n.last_salience_update) = (vivid.salience, vivid.at);
        }
        if let Some(pair) = &self.activation_count {
            n.activation_count = pick(pair, after);
        }
        if let Some(pair) = &self.last_activated {
            n.last_activated = pick(pair, after);
        }
        if let Some(pair) = &self.origin {
            n.origin = pick(pair, after);
        }
        if let Some(pair) = &self.pinned {
            n.pinned = pick(pair, after);
        }
        if let Some(pair) = &self.archived {
            n.archived = pick(pair, after);
        }
        if let Some(pair) = &self.created_at {
            n.created_at = pick(pair, after);
        }
        if let Some(pair) = &self.labels {
            let labels = pick(pair, after);
            (n.source, n.session, n.stimulus) = (labels.source, labels.session, labels.stimulus);
        }
        for change in &self.connections {
            match pick(&change.weight, after) {
                Some(weight) => n.set_weight(&change.target, change.link, weight),
                None => n.connections.retain(|c| (&c.target, c.link) != (&change.target, change.link)),
            }
        }
        n
    }
}

fn changed<T: PartialEq>(before: T, after: T) -> Option<Pair<T>> {
    (before != after).then_some((before, after))
}

fn weight_effects(before: &Neuron, after: &Neuron) -> Vec<WeightEffect> {
    let mut keys: Vec<(&NeuronId, Link)> =
        before.connections.iter().chain(&after.connections).map(|c| (&c.target, c.link)).collect();
    keys.sort();
    keys.dedup();
    let weight = |n: &Neuron, target: &NeuronId, link| n.connection(target, link).map(|c| c.weight);
    keys.into_iter()
        .map(|(target, link)| WeightEffect {
            target: target.clone(),
            link,
            weight: (weight(before, target, link), weight(after, target, link)),
        })
        .filter(|e| e.weight.0 != e.weight.1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neuron(id: &str) -> Neuron {
        Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, Stamp::from_unix(1000))
    }

    #[test]
    fn an_effect_turns_before_into_after_and_back() {
        let before = neuron("a");
        let mut after = before.clone();
        after.activate(500, Stamp::from_unix(5000));
        after.concept = "b".into();
        after.named_by.concept.rank = 3;
        after.created_at = Stamp::from_unix(7);
        after.source = Some("D1:1".into());
        after.set_weight(&NeuronId::parse("x").unwrap(), Link::Recalls, 7);
        let effect = Effect::between(Some(&before), &after);
        assert_eq!(effect.set_on(&before, true), after);
        assert_eq!(effect.set_on(&after, false), before);
        let other = Neuron { pinned: true, ..neuron("a") };
        assert!(effect.set_on(&other, true).pinned, "untouched fields stay");
        // The fields by their names.
        let text = serde_json::to_string(&effect).unwrap();
        let fields = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).unwrap();
        let named: Vec<&str> =
            fields.keys().map(String::as_str).filter(|k| !["neuron", "connections"].contains(k)).collect();
        assert_eq!(effect.fields(), named);
    }

    /// A record of a run that did nothing.
    fn empty() -> RunRecord {
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        RunRecord {
            agent: run.agent(),
            run,
            trigger: "by hand".into(),
            cognition: "apply".into(),
            at: Stamp::from_unix(1000),
            depth: 0,
            base: None,
            origin: Origin::local(),
            stimuli: vec![],
            prediction: None,
            ops: vec![],
            effects: vec![],
            notes: vec![],
            reverts: vec![],
            approves: vec![],
        }
    }

    #[test]
    fn a_record_is_read_back() {
        let record =
            RunRecord { effects: vec![Effect::between(None, &neuron("a"))], notes: vec!["x".into()], ..empty() };
        assert_eq!(RunRecord::decode(&record.encode(), "r").unwrap(), record);
        let outline = RunOutline::decode(&record.encode(), "r").unwrap();
        assert_eq!((outline.run, outline.origin), (record.run, record.origin));
        assert!(outline.effects[0].created);
        assert_eq!(outline.effects[0].neuron.as_str(), "a");
    }

    /// One change of each field there is: a field that were left out would not come back.
    #[test]
    fn every_field_of_a_neuron_is_in_its_effect() {
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let mut before = neuron("a");
        before.set_weight(&NeuronId::parse("gone").unwrap(), Link::Recalls, 3);
        before.set_weight(&NeuronId::parse("same").unwrap(), Link::Recalls, 4);
        let target = |name: &str| NeuronId::parse(name).unwrap();
        type Change = fn(&mut Neuron);
        let changes: [(&str, Change); 14] = [
            ("concept", |n| n.concept = "b".into()),
            ("concept", |n| n.named_by.concept.rank = 3),
            ("type", |n| n.kind = Kind::Core),
            ("type", |n| n.named_by.kind.rank = 3),
            ("salience", |n| n.salience = 9),
            ("salience", |n| n.last_salience_update = Stamp::from_unix(2000)),
            ("activation_count", |n| n.activation_count = 9),
            ("last_activated", |n| n.last_activated = Some(Stamp::from_unix(2000))),
            ("origin", |n| n.origin = Origin::parse("http").unwrap()),
            ("pinned", |n| n.pinned = true),
            ("created_at", |n| n.created_at = Stamp::from_unix(2)),
            ("labels", |n| n.source = Some("s".into())),
            ("labels", |n| n.session = Some("s".into())),
            ("labels", |n| n.stimulus = Some(StimulusId::parse("s").unwrap())),
        ];
        for (name, change) in changes {
            let mut after = before.clone();
            change(&mut after);
            let effect = Effect::between(Some(&before), &after);
            let fields = serde_json::to_value(&effect).unwrap();
            assert_eq!(fields.as_object().unwrap().keys().collect::<Vec<_>>(), ["neuron", name]);
            assert_eq!((effect.set_on(&before, true), effect.set_on(&after, false)), (after.clone(), before.clone()));
        }
        let archived = Neuron { archived: Some(run), ..before.clone() };
        let effect = Effect::between(Some(&before), &archived);
        assert_eq!((effect.set_on(&before, true), effect.set_on(&archived, false)), (archived.clone(), before.clone()));
        // Connections: one goes, one comes, one stays as it is, and another type to the same target is another one.
        let mut after = before.clone();
        after.connections.retain(|c| c.target != target("gone"));
        after.set_weight(&target("new"), Link::Recalls, 5);
        let effect = Effect::between(Some(&before), &after);
        let touched: Vec<_> = effect.connections.iter().map(|c| (c.target.as_str(), c.weight)).collect();
        assert_eq!(touched, [("gone", (Some(3), None)), ("new", (None, Some(5)))]);
        assert_eq!((effect.set_on(&before, true), effect.set_on(&after, false)), (after, before.clone()));
        let mut other = before.clone();
        other.set_weight(&target("gone"), Link::Inhibits, 8);
        let kept = effect.set_on(&other, true);
        assert_eq!((kept.weight(&target("gone"), Link::Inhibits), kept.weight(&target("same"), Link::Recalls)), (8, 4));
    }

    #[test]
    fn a_version_moves_by_what_the_effect_says() {
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let toggled = |v: u64| Version(v).toggled(&run);
        let (mut before, mut after) = (neuron("a"), neuron("a"));
        (before.version, after.version) = (Version(0b1100), Version(0b1010));
        let plain = Effect::between(Some(&before), &after);
        assert_eq!(plain.version_moved(&run), toggled(0));
        assert_eq!(Effect::unmarked(Some(&before), &after).version_moved(&run), Version(0b0110));
        assert_eq!(Effect::between(None, &after).version_moved(&run), after.version);
        assert_eq!(Effect::unmarked(None, &after).version_moved(&run), after.version);
        let removal = Effect::removal(&before);
        assert_eq!((removal.version_moved(&run), removal.id()), (before.version, Some(&before.id)));
        assert_eq!((plain.id(), Effect::default().id()), (Some(&after.id), None));
        let nameless = Effect { neuron: None, ..Effect::between(None, &after) };
        assert_eq!(nameless.id(), Some(&after.id));
        let marks = Effect::unmarked(Some(&before), &after).marks.unwrap();
        assert_eq!((marks.0.version, marks.1.version), (before.version, after.version));
    }

    #[test]
    fn a_record_has_lists_where_there_is_something_to_list() {
        let mut record = empty();
        let run = record.run.clone();
        let plain = String::from_utf8(record.encode_as(crate::model::Format::One)).unwrap();
        assert!(plain.contains("\"ops\": [],\n  \"effects\": []\n}"), "{plain}");
        for word in ["notes", "reverts", "approves"] {
            assert!(!plain.contains(word), "{plain}");
        }
        (record.notes, record.reverts, record.approves) = (vec!["x".into()], vec![run.clone()], vec![run]);
        assert_eq!(RunRecord::decode(&record.encode(), "r").unwrap(), record);
    }
}
