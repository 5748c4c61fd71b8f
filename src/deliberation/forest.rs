//! The forest: what all cycles of a goal have left. It follows from them and is stored nowhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::classes::{Class, classify};
use super::gates::{ExecutionMode, GATES, SANITY, is_reserved};
use super::nursery::Fate;
use super::record::{Amendment, CycleRecord, ResultRecord, Standing};
use super::seeds::{Seed, rank_latest};
use super::verdict::Proposal;
use crate::limits;
use crate::model::deliberation::Deliberation;

/// A tree, as the weather sees it. Counts are of cycles in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Candidates that were examined, in all.
    pub attempts: u64,
    /// Those of the last cycles.
    pub recent: Vec<u32>,
    /// Fruits, in all.
    pub fruits: u64,
    /// Dead leaves, in all.
    pub deaths: u64,
    /// Cycles with an attempt and without fruit.
    pub dry: u32,
    /// Dead leaves without another class between them.
    pub dead: u32,
    /// Cycles without an attempt.
    pub idle: u32,
    /// Cycles that it stays frozen for.
    pub frozen: u32,
    /// Whether a handoff of the last cycle was not answered.
    pub undecided: bool,
    /// Whether something of the last cycle was quarantined.
    pub burnt: bool,
}

/// Cycles whose attempts count as recent.
pub const RECENT: usize = 5;

/// A proposal that became fruit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fruit {
    /// How far it carries.
    pub standing: Standing,
    /// Its tree.
    pub tree: String,
    /// The proposal.
    pub proposal: Proposal,
    /// What gates measured of it, by their names.
    pub figures: BTreeMap<String, f64>,
    /// The hash of what it was measured on.
    pub evidence: String,
}

/// What all cycles of a goal have left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    /// The number of the last cycle; 0: there was none.
    pub cycle: u64,
    /// Trees by id.
    pub trees: BTreeMap<String, Tree>,
    /// Seeds, best first.
    pub seeds: Vec<Seed>,
    /// Gates that skeptics want changed, since gates were changed last.
    pub amendments: Vec<Amendment>,
    /// The hash of the gates of the last cycle.
    pub rules: String,
    /// The hash of the gates that fruit of own gates alone has to be of; `None`: of the last cycle's.
    #[serde(skip)]
    pub(super) in_force: Option<String>,
    /// Fruits, by key.
    pub fruits: BTreeMap<String, Fruit>,
    /// Keys that never come back: rejected by the nursery, quarantined, or fruit that lands. What gates rejected is open again on other evidence, and by
    /// other rules.
    pub closed: BTreeSet<String>,
    /// Where gates are hidden, the payloads that passed the others: newness is asked of these, because whether one was promoted is not told.
    #[serde(skip)]
    pub passed: Option<Vec<serde_json::Value>>,
    /// The cycles so far, as hashes of what they decided: two machines that decide alike have decided once.
    #[serde(skip)]
    pub(super) cycles: BTreeSet<String>,
    /// The class of what was measured, by key, rules and evidence.
    #[serde(skip)]
    pub(super) measured: BTreeMap<(String, String, String), Class>,
}

impl Forest {
    /// The forest after cycles, in the order of [`settle`](super::contested::settle). Two machines may have had a cycle of one number: both count,
    /// unless they decided the same. `rules` are those in force, if they are known here: no cycle has a say in which ones are.
    pub fn after<'c>(
        cycles: impl IntoIterator<Item = &'c CycleRecord>,
        settings: &Deliberation,
        rules: Option<&str>,
    ) -> Self {
        let none = Self { in_force: rules.map(str::to_owned), ..Self::default() };
        cycles.into_iter().fold(none, |forest, cycle| forest.with(cycle, settings))
    }

    /// The forest after one cycle more.
    #[must_use]
    pub fn with(mut self, cycle: &CycleRecord, settings: &Deliberation) -> Self {
        if !self.cycles.insert(cycle.identity()) {
            return self;
        }
        self.cycle += 1;
        // Of what was measured on the same evidence by the same rules the first counts, and what came of it later, such as by an answer.
        let (mut new, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for result in &cycle.results {
            let evidence = cycle.evidence.get(&result.tree).cloned().unwrap_or_default();
            match self.measured.insert((result.key.clone(), cycle.rules.clone(), evidence), result.class) {
                // What the coordinator asked again is no attempt of a tree: weather would tell of hidden gates.
                before if result.asked_again => {
                    let is_fruit = result.class == Class::Fruit && before != Some(Class::Fruit);
                    self.trees.entry(result.tree.clone()).or_default().fruits += u64::from(is_fruit);
                }
                None => drop((new.insert(&result.key), changed.insert(&result.key))),
                Some(before) if before != result.class => drop(changed.insert(&result.key)),
                Some(_) => {}
            }
        }
        for id in cycle.forecast.trees.keys() {
            self.trees.entry(id.clone()).or_default();
        }
        for (id, tree) in &mut self.trees {
            let results: Vec<_> =
                cycle.results.iter().filter(|result| result.tree == *id && !result.asked_again).collect();
            let examined: Vec<_> = results.iter().filter(|result| result.record.is_some()).collect();
            let attempts = examined.iter().filter(|result| new.contains(&result.key)).count();
            tree.attempts += attempts as u64;
            tree.recent.push(attempts as u32);
            if tree.recent.len() > RECENT {
                tree.recent.remove(0);
            }
            let is_fruit = |result: &&&ResultRecord| result.class == Class::Fruit && changed.contains(&result.key);
            tree.fruits += results.iter().filter(is_fruit).count() as u64;
            let is_of = |result: &&&ResultRecord, class| result.open_class(settings) == class;
            let fruits = results.iter().filter(|result| is_of(result, Class::Fruit)).count();
            let died = results.iter().filter(|result| is_of(result, Class::DeadLeaf) && changed.contains(&result.key));
            tree.deaths += died.count() as u64;
            tree.idle = if examined.is_empty() { tree.idle + 1 } else { 0 };
            tree.dry = match (fruits, examined.is_empty()) {
                (0, true) => tree.dry,
                (0, false) => tree.dry + 1,
                _ => 0,
            };
            for result in examined.iter().filter(|result| changed.contains(&result.key)) {
                tree.dead = if result.open_class(settings) == Class::DeadLeaf { tree.dead + 1 } else { 0 };
            }
            let mut records = results.iter().filter_map(|result| result.record.as_ref());
            tree.undecided = records.any(|record| record.is_undecided(settings));
            tree.burnt = results.iter().any(|result| result.class == Class::SickLeaf);
            tree.frozen = tree.frozen.saturating_sub(1);
            if cycle.forecast.trees.get(id).is_some_and(|sky| sky.freezes) {
                tree.frozen = settings.weather.freeze;
                tree.dead = 0;
            }
        }
        if settings.hides() {
            let passed = cycle.results.iter().filter(|result| !result.asked_again);
            let passed = passed.filter(|result| result.open_class(settings) == Class::Fruit);
            self.passed.get_or_insert_default().extend(passed.map(|result| result.proposal.payload.clone()));
        }
        // What other gates let through, and nothing landed of, is fruit of no gate.
        if self.in_force.is_none() && self.rules != cycle.rules {
            self.fruits.retain(|_, fruit| fruit.figures.contains_key(SANITY));
        }
        let is_in_force = self.in_force.as_ref().is_none_or(|rules| *rules == cycle.rules);
        for result in &cycle.results {
            if result.closes(settings) {
                self.closed.insert(result.key.clone());
            }
            // Nobody measured it, or by gates of another day.
            if result.record.is_none() || !is_in_force && !result.is_on_brain() {
                continue;
            }
            // Measured again: the newest counts.
            self.fruits.remove(&result.key);
            if let Some(standing) = result.standing() {
                let (tree, proposal) = (result.tree.clone(), result.proposal.clone());
                let gates = result.record.iter().flat_map(|record| &record.gates);
                let figures = gates.filter_map(|gate| Some((gate.name.clone(), gate.figure?))).collect();
                let evidence = cycle.evidence.get(&tree).cloned().unwrap_or_default();
                self.fruits.insert(result.key.clone(), Fruit { standing, tree, proposal, figures, evidence });
            }
        }
        if self.rules != cycle.rules {
            self.amendments.clear();
            self.rules.clone_from(&cycle.rules);
        }
        self.amendments.extend(cycle.amendments.iter().cloned());
        // Another machine's cycle knew nothing of seeds that were laid here meanwhile: what it has not judged stays.
        let judged = |key: &str| cycle.results.iter().any(|result| result.key == key && !result.asked_again);
        let closed = &self.closed;
        let others = self.seeds.into_iter().filter(|seed| !judged(&seed.key));
        let seeds = cycle.seeds.iter().cloned().chain(others).collect();
        self.seeds = rank_latest(seeds, |key| closed.contains(key), settings.seeds as usize);
        self
    }

    /// What a candidate must differ from: the payloads that were promoted.
    pub fn promoted(&self) -> impl Iterator<Item = &serde_json::Value> {
        let told = self.passed.is_none();
        let promoted = self.fruits.values().filter(move |fruit| told && fruit.standing == Standing::Promoted);
        promoted.map(|fruit| &fruit.proposal.payload).chain(self.passed.iter().flatten())
    }

    /// Seeds of a tree, best first.
    pub fn seeds_of(&self, tree: &str) -> impl Iterator<Item = &Seed> {
        self.seeds.iter().filter(move |seed| seed.tree == tree)
    }
}

/// Something that a cycle must not say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Fault {
    /// Where.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// The validator: what is wrong with a cycle, given the forest before it. It runs before and after every cycle.
pub fn validate(before: &Forest, cycle: &CycleRecord) -> Vec<Fault> {
    let mut faults = validate_alone(cycle);
    let mut fault = |place: &str, what: String| faults.push(Fault { place: place.to_owned(), what });
    let known = |tree: &str| cycle.forecast.trees.contains_key(tree) || before.trees.contains_key(tree);
    for result in &cycle.results {
        let place = format!("result {}", result.key);
        if !known(&result.tree) {
            fault(&place, format!("is of tree {}, which is not there", result.tree));
        }
        if before.closed.contains(&result.key) && !result.asked_again {
            fault(&place, "was closed by an earlier cycle".to_owned());
        }
    }
    for seed in &cycle.seeds {
        let place = format!("seed {}", seed.key);
        if before.closed.contains(&seed.key) {
            fault(&place, "was closed by an earlier cycle".to_owned());
        }
        if !known(&seed.tree) {
            fault(&place, format!("lies under tree {}, which is not there", seed.tree));
        }
    }
    faults
}

/// What is wrong with a cycle whatever came before it. Whoever enters one is held to this, where it is made and where it comes in.
pub fn validate_alone(cycle: &CycleRecord) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |place: &str, what: String| faults.push(Fault { place: place.to_owned(), what });
    let mut keys = BTreeSet::new();
    if cycle.after.len() > limits::DELIBERATED_AFTER {
        fault("after", format!("names more than {} cycles", limits::DELIBERATED_AFTER));
    }
    if let Err(error) = cycle.cast.plays() {
        fault("cast", error.to_string());
    }
    for result in &cycle.results {
        let place = format!("result {}", result.key);
        if !keys.insert(&result.key) {
            fault(&place, "is there twice".to_owned());
        }
        if let Some(why) = result.proposal.too_large() {
            fault(&place, why);
        }
        if result.proposal.key() != result.key {
            fault(&place, "has another payload than its key says".to_owned());
        }
        if result.is_sick != (result.nursery.fate == Fate::Quarantine) {
            fault(&place, "is quarantined by its nursery or by itself, and not by both".to_owned());
        }
        if let Some(record) = &result.record {
            let class = classify(record, result.is_sick);
            if class != result.class {
                fault(&place, format!("is called {:?}, and its gates make it {class:?}", result.class));
            }
            if result.nursery.fate != Fate::Sprout {
                fault(&place, format!("was examined, and the nursery says {:?} of it", result.nursery.fate));
            }
            if record.candidate != result.key {
                fault(&place, format!("has the gate record of {}", record.candidate));
            }
            if result.class == Class::Fruit && record.execution_mode != ExecutionMode::ToolExecuted {
                fault(&place, "is fruit, and no tool ran its gates".to_owned());
            }
            let lie = record.gates.iter().find_map(super::gates::GateResult::lies);
            if let Some(lie) = lie {
                fault(&place, lie);
            }
            let built_in = GATES.iter().filter(|(.., is_handoff)| !is_handoff).map(|(name, ..)| *name);
            let asked = |name: &str| record.asked.iter().any(|asked| asked == name);
            if built_in.clone().any(|name| asked(name) || record.gates.iter().any(|gate| gate.name == name))
                && !built_in.clone().all(asked)
            {
                fault(&place, "has not been asked all built-in gates".to_owned());
            }
            if record.asked.iter().any(|name| is_reserved(name) && !GATES.iter().any(|(known, ..)| known == name)) {
                fault(&place, "has a gate of an unknown name".to_owned());
            }
            let mut names = BTreeSet::new();
            if !record.gates.iter().all(|gate| names.insert(&gate.name)) {
                fault(&place, "has two answers of one gate".to_owned());
            }
        } else if !matches!(result.class, Class::SickLeaf | Class::DeadLeaf) {
            fault(&place, format!("is called {:?} without a gate record", result.class));
        }
    }
    for seed in &cycle.seeds {
        let place = format!("seed {}", seed.key);
        if let Some(why) = seed.proposal.too_large() {
            fault(&place, why);
        }
        if !(0.0..=1.0).contains(&seed.score) {
            fault(&place, format!("has score {}", seed.score));
        }
    }
    for event in &cycle.events {
        if event.cycle != cycle.cycle {
            fault("events", format!("one is of cycle {}", event.cycle));
        }
    }
    faults
}

/// Reads a cycle, held to its form and to what the validator asks of every cycle.
///
/// # Errors
/// What is wrong, as one sentence that names the place.
pub fn read_cycle(cycle: &serde_json::Value) -> Result<CycleRecord, String> {
    let read = CycleRecord::deserialize(cycle).map_err(|e| e.to_string())?;
    match validate_alone(&read).first() {
        None => Ok(read),
        Some(fault) => Err(fault.to_string()),
    }
}
