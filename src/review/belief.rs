//! The belief diff: what one run would change, as data.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::record::{ReviewRecord, Verdict};
use super::rules::is_beside;
use super::words::{Part, difference};
use crate::delta::{Effect, Operation, RunRecord, render};
use crate::merge::Conflict;
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Neuron, json};
use crate::text;

/// A run that waits, and what it would change.
#[derive(Clone, Debug, Serialize)]
pub struct Belief {
    /// Its branch.
    pub branch: String,
    /// The run's commit: a decision is about this one and no other.
    pub commit: String,
    /// The run.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// The run's clock, RFC 3339.
    pub at: String,
    /// Why it waits: `asked`, `origin`, `conflict`, `rule NAME`; `pending`: it waits for no person.
    pub waits: String,
    /// What woke it.
    pub trigger: String,
    /// How it thought.
    pub cognition: String,
    /// Where what it brings comes from.
    pub origin: String,
    /// Whether that origin is trusted less than you are.
    pub tainted: bool,
    /// What it expected in words.
    pub expects: Option<String>,
    /// What it expected as a number, 0..=1.
    pub expected: Option<f64>,
    /// How consequential it is, see [`consequence`].
    pub consequence: f64,
    /// The words that it rests on.
    pub evidence: Vec<Evidence>,
    /// Neurons that are made or changed.
    pub neurons: Vec<Change>,
    /// What it does beside beliefs: signals, answers, flags, goals, outcomes, whole.
    pub further: Vec<String>,
    /// Its operations, one line each, by the number that partial approval names them by.
    pub operations: Vec<String>,
    /// What the merge leaves to a person.
    pub conflicts: Vec<Conflict>,
    /// What is worth knowing: what the engine clamped, what the run may not, why it cannot land.
    pub notes: Vec<String>,
    /// Memories of wake that speak of the same as new ones, and say something else.
    pub beside: Vec<Beside>,
    /// Questions that recall would answer differently.
    pub questions: Vec<Question>,
}

/// A memory that speaks of the same as a new one: perhaps it contradicts that.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// The new memory.
    pub new: String,
    /// The one that wake has.
    pub id: String,
    /// What that says.
    pub text: String,
    /// When that happened, RFC 3339.
    pub at: String,
}

/// Whether two texts speak of the same and do not say the same: they share two content words, and half of those of the shorter.
pub fn speak_of_the_same(one: &str, other: &str) -> bool {
    let stems = |text: &str| -> BTreeSet<String> {
        crate::text::words(text).into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
    };
    let (one, other) = (stems(one), stems(other));
    let shared = one.intersection(&other).count();
    one != other && shared >= 2 && 2 * shared >= one.len().min(other.len())
}

/// A stimulus that a run rests on.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// Its id.
    pub stimulus: String,
    /// Where it comes from.
    pub origin: String,
    /// The label that it was fed with, such as an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its words.
    pub text: String,
}

/// A question, with the answers before and after the change.
#[derive(Clone, Debug, Serialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The best answers before.
    pub before: Vec<Answered>,
    /// The best answers after.
    pub after: Vec<Answered>,
}

/// An answer of recall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// The memory.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// What becomes of a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is made.
    Born,
    /// Something of it changes.
    Changed,
    /// The next sleep removes it.
    Archived,
    /// It goes.
    Removed,
}

/// One neuron, before and after.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The neuron.
    pub id: String,
    /// What becomes of it.
    pub what: ChangeKind,
    /// Its type afterwards.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its concept afterwards.
    pub concept: String,
    /// Its concept word by word, where that changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Part>,
    /// Other fields: name, value before, value after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String, String)>,
    /// Connections that come, go or change their weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<Tie>,
    /// Numbers of the run's operations that are about it, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<usize>,
    /// Why it is archived, as the run says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One connection, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tie {
    /// Its type.
    #[serde(rename = "type")]
    pub link: Link,
    /// The neuron that it points to.
    pub target: NeuronId,
    /// That neuron's concept, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concept: Option<String>,
    /// Weight before; null: no such connection.
    pub before: Option<u16>,
    /// Weight after; null: no such connection.
    pub after: Option<u16>,
}

impl Tie {
    /// By how much the weight moves, −65535..=65535.
    pub fn by(&self) -> i32 {
        i32::from(self.after.unwrap_or(0)) - i32::from(self.before.unwrap_or(0))
    }
}

impl Change {
    /// Whether there is more to it than bookkeeping.
    pub fn shows(&self) -> bool {
        let counts = |name: &str| !matches!(name, "salience" | "activations");
        let is_empty =
            self.words.is_empty() && !self.fields.iter().any(|(name, ..)| counts(name)) && self.ties.is_empty();
        self.what != ChangeKind::Changed || !is_empty
    }

    /// A memory that is archived because the run replaces its text.
    pub fn replaced(neuron: &Neuron) -> Self {
        Self {
            id: neuron.id.to_string(),
            what: ChangeKind::Archived,
            kind: neuron.kind.to_string(),
            concept: neuron.concept.clone(),
            words: Vec::new(),
            fields: Vec::new(),
            ties: Vec::new(),
            operations: Vec::new(),
            reason: Some("replaced by what lands".to_owned()),
        }
    }

    /// The change that an effect makes. `after` is the neuron with it, where it is known; `concept_of` names targets.
    pub fn of(
        effect: &Effect,
        after: Option<&Neuron>,
        concept_of: &dyn Fn(&NeuronId) -> Option<String>,
    ) -> Option<Self> {
        let id = effect.id()?;
        let whole = effect.created.as_deref().or(effect.removed.as_deref());
        let known = whole.or(after);
        let what = match effect {
            Effect { created: Some(_), .. } => ChangeKind::Born,
            Effect { removed: Some(_), .. } => ChangeKind::Removed,
            Effect { archived: Some((None, Some(_))), .. } => ChangeKind::Archived,
            _ => ChangeKind::Changed,
        };
        let words = effect.concept.as_ref().map(|(old, new)| difference(&old.value, &new.value)).unwrap_or_default();
        let reworded = effect.concept.as_ref().map(|(_, new)| new.value.clone());
        let mut ties: Vec<Tie> = match whole {
            Some(neuron) => {
                let made = |weight| if what == ChangeKind::Born { (None, Some(weight)) } else { (Some(weight), None) };
                let tie = |c: &crate::model::neuron::Connection| {
                    let (before, after) = made(c.weight);
                    Tie { link: c.link, target: c.target.clone(), concept: None, before, after }
                };
                neuron.connections.iter().map(tie).collect()
            }
            None => {
                let tie = |c: &crate::delta::record::WeightEffect| Tie {
                    link: c.link,
                    target: c.target.clone(),
                    concept: None,
                    before: c.weight.0,
                    after: c.weight.1,
                };
                effect.connections.iter().map(tie).collect()
            }
        };
        ties.iter_mut().for_each(|tie| tie.concept = concept_of(&tie.target));
        Some(Self {
            id: id.to_string(),
            what,
            kind: known.map_or_else(|| "neuron".to_owned(), |neuron| neuron.kind.to_string()),
            concept: reworded.or(known.map(|neuron| neuron.concept.clone())).unwrap_or_default(),
            words,
            fields: fields(effect),
            ties,
            operations: Vec::new(),
            reason: None,
        })
    }
}

/// The fields that an effect changes, beside concept and connections, and beside bookkeeping.
fn fields(effect: &Effect) -> Vec<(String, String, String)> {
    let mut fields = Vec::new();
    let mut add = |name: &str, before: String, after: String| {
        if before != after {
            fields.push((name.to_owned(), before, after));
        }
    };
    if let Some((before, after)) = &effect.kind {
        add("type", before.value.to_string(), after.value.to_string());
    }
    if let Some((before, after)) = &effect.salience {
        let share = |salience: u16| format!("{:.0} %", f64::from(salience) * 100.0 / f64::from(u16::MAX));
        add("salience", share(before.salience), share(after.salience));
    }
    if let Some((before, after)) = &effect.activation_count {
        add("activations", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.origin {
        add("origin", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.pinned {
        add("pinned", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.archived {
        let by = |run: &Option<_>| run.as_ref().map_or("no".to_owned(), ToString::to_string);
        add("archived", by(before), by(after));
    }
    if let Some(made) = &effect.created {
        for (name, label) in [("source", &made.source), ("session", &made.session)] {
            add(name, String::new(), label.clone().unwrap_or_default());
        }
    }
    fields
}

/// How consequential a record is, the larger the sooner a person should look: 0.1 for each neuron that is made, 0.02 if it is a word or a name, 1 for each that is
/// reworded, retyped, archived, restored or removed and for each text that it replaces, the weight that moves in existing connections as a share of the
/// greatest weight, 0.5 for each flag, 1 for each goal; 2 more for a conflict, 1 more for an origin that is not trusted.
pub fn consequence(record: &RunRecord, replaces: usize, conflict: bool, tainted: bool) -> f64 {
    let of_effect = |effect: &Effect| -> f64 {
        if let Some(made) = &effect.created {
            return if is_said(made.kind, &made.concept) { 0.1 } else { 0.02 };
        }
        let whole = [
            effect.removed.is_some(),
            effect.concept.is_some(),
            effect.kind.is_some(),
            effect.archived.is_some(),
            effect.pinned.is_some(),
        ];
        let moved: f64 = effect.connections.iter().map(|c| moved(c.weight)).sum();
        whole.iter().filter(|one| **one).count() as f64 + moved
    };
    let of_operation = |op: &Operation| match op {
        Operation::Flag(_) => 0.5,
        Operation::Goal(_) | Operation::Wisdom(_) | Operation::Seal(_) => 1.0,
        _ => 0.0,
    };
    let effects: f64 = record.effects.iter().map(of_effect).sum();
    let operations: f64 = record.ops.iter().map(of_operation).sum();
    ((effects + operations + replaces as f64 + standing(conflict, tainted)) * 1000.0).round() / 1000.0
}

/// The part of [`consequence`] that does not follow from the record.
pub fn standing(conflict: bool, tainted: bool) -> f64 {
    let of = |holds, weight| if holds { weight } else { 0.0 };
    of(conflict, 2.0) + of(tainted, 1.0)
}

/// The share of the greatest weight that a connection moves by; a tenth of it for one that is new, because it takes nothing back.
fn moved((before, after): (Option<u16>, Option<u16>)) -> f64 {
    let by = f64::from((i32::from(after.unwrap_or(0)) - i32::from(before.unwrap_or(0))).abs()) / f64::from(u16::MAX);
    if before.is_none() { by / 10.0 } else { by }
}

/// What comes first in a diff: what is archived or removed, then what changes, most first, then what is new.
pub fn order(change: &Change) -> (u8, std::cmp::Reverse<i64>, String) {
    let moved: i64 = change.ties.iter().map(|tie| i64::from(tie.by().abs())).sum();
    let place = match change.what {
        ChangeKind::Removed | ChangeKind::Archived => 0,
        ChangeKind::Changed if !change.words.is_empty() => 1,
        ChangeKind::Changed => 2,
        ChangeKind::Born => 3,
    };
    (place, std::cmp::Reverse(moved), change.id.clone())
}

/// The reasons that a record's operations give for archiving neurons.
pub fn reasons(record: &RunRecord) -> BTreeMap<NeuronId, String> {
    let reason = |op: &Operation| match op {
        Operation::Archive(archive) => Some((archive.id.clone(), archive.reason.clone())),
        _ => None,
    };
    record.ops.iter().filter_map(reason).collect()
}

/// The numbers of a record's operations, from 1, by the neuron that they are about: of a connection, the one that it starts from.
pub fn numbered(record: &RunRecord) -> BTreeMap<NeuronId, Vec<usize>> {
    let made = record.effects.iter().filter_map(|effect| effect.created.as_deref());
    let made: BTreeMap<&str, &NeuronId> = made.map(|neuron| (neuron.concept.as_str(), &neuron.id)).collect();
    let mut numbers: BTreeMap<NeuronId, Vec<usize>> = BTreeMap::new();
    for (at, op) in record.ops.iter().enumerate() {
        let about: Vec<&NeuronId> = match op {
            Operation::Create(op) => op.id.as_ref().or(made.get(op.concept.as_str()).copied()).into_iter().collect(),
            Operation::Reword(op) => vec![&op.id],
            Operation::Retype(op) => vec![&op.id],
            Operation::Archive(op) => vec![&op.id],
            Operation::Activate(op) => vec![&op.id],
            Operation::Connect(op) => vec![&op.from],
            Operation::Adjust(op) => vec![&op.from],
            Operation::Disconnect(edge) => vec![&edge.from],
            Operation::Reinforce(op) => op.pathway.iter().map(|edge| &edge.from).collect(),
            _ => Vec::new(),
        };
        for id in about {
            let numbers = numbers.entry(id.clone()).or_default();
            if numbers.last() != Some(&(at + 1)) {
                numbers.push(at + 1);
            }
        }
    }
    numbers
}

/// Whether neurons show what an operation does.
pub fn is_of_beliefs(op: &Operation) -> bool {
    !is_beside(std::iter::once(op)) && !matches!(op, Operation::Acknowledge(_))
}

/// An operation on one line.
pub fn operation(op: &Operation) -> String {
    let weight = |w: u16| w.to_string();
    let clip = |text: &str| format!("{:?}", render::clip(text));
    match op {
        Operation::Create(op) => format!("create {} {}", op.kind, clip(&op.concept)),
        Operation::Activate(op) => format!("activate {} by {}", op.id, render::short(op.strength)),
        Operation::Connect(op) => format!("connect {} {} {} with {}", op.from, op.link, op.to, weight(op.weight)),
        Operation::Adjust(op) => format!("adjust {} {} {} by {:+}", op.from, op.link, op.to, op.by),
        Operation::Reword(op) => format!("reword {} to {}", op.id, clip(&op.concept)),
        Operation::Retype(op) => format!("retype {} to {}", op.id, op.kind),
        Operation::Archive(op) => format!("archive {}: {}", op.id, clip(&op.reason)),
        // Whole: nothing else shows what these say.
        Operation::Flag(op) => {
            format!("flag {} {}: {:?}", op.name, if op.value { "on" } else { "off" }, op.reason)
        }
        Operation::Goal(op) => format!("goal {:?}", op.text),
        Operation::Signal(send) => format!("signal {}: {}", send.to, json::inline(&send.payload)),
        Operation::Reinforce(op) => {
            format!(
                "reinforce {} by {:+}",
                crate::model::plural(op.pathway.len(), "connection", "connections"),
                op.error
            )
        }
        other => json::inline(other),
    }
}

/// A record in a line: how many neurons it makes, changes and archives, and how many weights of others it moves. `replaces`: how many texts it
/// replaces; `tainted`: whether it comes from elsewhere.
pub fn outline(record: &RunRecord, replaces: usize, tainted: bool) -> String {
    let count = |keep: &dyn Fn(&Effect) -> bool| record.effects.iter().filter(|effect| keep(effect)).count();
    let born = count(&|effect| effect.created.is_some());
    // What is trusted stays beside what corrects it from elsewhere.
    let (corrected, replaced) = if tainted { (replaces, 0) } else { (0, replaces) };
    let archived = replaced + count(&|effect| matches!(effect.archived, Some((None, Some(_)))));
    let removed = count(&|effect| effect.removed.is_some());
    let changed = count(&|effect| {
        let whole = effect.created.is_some() || effect.removed.is_some();
        let is_archived = matches!(effect.archived, Some((None, Some(_))));
        !whole && !is_archived && says_more(effect)
    });
    let weights: usize = record.effects.iter().map(|effect| effect.connections.len()).sum();
    let reworded = record.effects.iter().find_map(|effect| effect.concept.as_ref());
    let mut parts: Vec<String> =
        [(born, "new"), (changed, "changed"), (corrected, "corrected"), (archived, "archived"), (removed, "removed")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
    if weights > 0 {
        parts.push(crate::model::plural(weights, "weight moves", "weights move"));
    }
    if let Some((before, after)) = reworded {
        parts.push(format!("{:?} becomes {:?}", render::clip(&before.value), render::clip(&after.value)));
    } else if let Some(said) = headline(record) {
        parts.push(format!("such as {:?}", render::clip(said)));
    }
    if parts.is_empty() { "no belief changes".to_owned() } else { parts.join(", ") }
}

/// Whether there is more to an effect than counters.
fn says_more(effect: &Effect) -> bool {
    let others = [effect.concept.is_some(), effect.kind.is_some(), effect.archived.is_some(), effect.pinned.is_some()];
    others.contains(&true) || effect.origin.is_some() || !effect.connections.is_empty()
}

/// What a run is about: the longest text of what it makes, of memories before concepts.
pub fn headline(record: &RunRecord) -> Option<&str> {
    let made = record.effects.iter().filter_map(|effect| effect.created.as_deref());
    made.max_by_key(|made| (made.kind == Kind::Episodic, made.concept.len())).map(|made| made.concept.as_str())
}

/// Whether a neuron says something: it is no concept, speaker or session, or one in a whole sentence.
pub fn is_said(kind: Kind, concept: &str) -> bool {
    !matches!(kind, Kind::Semantic | Kind::Contextual) || text::states(concept)
}

/// Whether an operation says something by itself: connections, activations, signals and new concepts belong to what others say.
fn states(op: &Operation) -> bool {
    match op {
        // A concept is a word or a name; a sentence is a belief, whatever its type.
        Operation::Create(create) => is_said(create.kind, &create.concept),
        Operation::Reword(_)
        | Operation::Retype(_)
        | Operation::Archive(_)
        | Operation::Flag(_)
        | Operation::Goal(_)
        | Operation::Wisdom(_) => true,
        _ => false,
    }
}

/// What a run is worth by a decision: the share of what it states that the decision keeps and that `holds` in the brain afterwards; where it
/// states nothing, of all its operations.
pub fn worth(review: &ReviewRecord, record: &RunRecord, holds: impl Fn(&Operation) -> bool) -> f64 {
    let stated: Vec<usize> = (1..=record.ops.len()).filter(|number| states(&record.ops[number - 1])).collect();
    if stated.is_empty() {
        return review.verdict.value(review.kept.len(), review.edited, review.of);
    }
    let lost = |number: &&usize| !holds(&record.ops[**number - 1]);
    match review.verdict {
        Verdict::Approve => 1.0 - stated.iter().filter(lost).count() as f64 / stated.len() as f64,
        verdict => {
            let kept = stated.iter().filter(|number| review.kept.contains(number) && !lost(number)).count();
            verdict.value(kept, review.edited, stated.len())
        }
    }
}

/// Whether an operation changes that field of that neuron, as a conflict names both.
pub fn touches(op: &Operation, neuron: &str, field: &str) -> bool {
    let tie = |from: &NeuronId, to: &NeuronId, link: Link| {
        from.as_str() == neuron && field == format!("connections.{to}.{link}")
    };
    match op {
        Operation::Create(create) => {
            create.id.as_ref().is_some_and(|id| id.as_str() == neuron) && !field.starts_with("connections.")
        }
        Operation::Reword(op) => op.id.as_str() == neuron && field == "concept",
        Operation::Retype(op) => op.id.as_str() == neuron && field == "type",
        Operation::Archive(op) => op.id.as_str() == neuron && matches!(field, "archived" | "file"),
        Operation::Activate(op) => {
            op.id.as_str() == neuron && matches!(field, "salience" | "activation_count" | "last_activated")
        }
        Operation::Connect(op) => tie(&op.from, &op.to, op.link),
        Operation::Adjust(op) => tie(&op.from, &op.to, op.link),
        Operation::Disconnect(edge) => tie(&edge.from, &edge.to, edge.link),
        Operation::Reinforce(op) => op.pathway.iter().any(|edge| tie(&edge.from, &edge.to, edge.link)),
        Operation::Flag(op) => neuron == crate::model::layout::flag(&op.name),
        Operation::Goal(op) => neuron == crate::model::layout::goal(&op.goal_id()),
        _ => false,
    }
}
