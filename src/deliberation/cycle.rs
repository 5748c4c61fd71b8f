//! A cycle as it is stored, and how one is made of what the trees gave: in the order of their ids, whoever was done first.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::classes::{Class, classify};
use super::events::{Action, Event};
use super::forest::{Forest, validate};
use super::likeness;
use super::record::{Amendment, CycleRecord, ResultRecord, Standing};
use super::roles::{Cast, Role};
use super::seeds::{Features, Kept, Seed, rank};
use super::sky::{Forecast, Weather};
use super::tree::{Grown, Step, ToldStep};
use super::verdict::{Mechanism, SAID_CHARS};
use crate::limits;
use crate::model::Stamp;
use crate::model::deliberation::Deliberation;
use crate::model::ids::RunId;

/// What a cycle is made from, beside what the trees gave.
pub struct Setting<'a> {
    /// The goal.
    pub goal: &'a str,
    /// The forest before.
    pub before: &'a Forest,
    /// The newest cycles that are known, by their runs.
    pub after: &'a [RunId],
    /// The settings.
    pub settings: &'a Deliberation,
    /// The cast.
    pub cast: &'a Cast,
    /// The forecast.
    pub forecast: &'a Forecast,
    /// The hash of the rules: [`rules_of`].
    pub rules: String,
    /// The hash of what each tree was measured on.
    pub evidence: &'a BTreeMap<String, String>,
    /// The clock.
    pub at: Stamp,
    /// What started it.
    pub initiative: &'a str,
    /// Steps that tell of questions of earlier cycles that nobody answered in time.
    pub timed_out: &'a [ToldStep],
}

/// The hash of gates and thresholds, and of the files of their programs, whose own hash is `programs`; empty: they have none.
pub fn rules_of(settings: &Deliberation, programs: &str) -> String {
    let text = json!({"gates": settings.gates, "gate": settings.gate}).to_string();
    let fields = [text.as_bytes(), programs.as_bytes()];
    format!("{:016x}", crate::model::ids::hash_fields(if programs.is_empty() { &fields[..1] } else { &fields }))
}

/// What a tree's candidates are judged on: its evidence, and the rules.
pub fn judged_on(evidence: Option<&String>, rules: &str) -> String {
    format!("{}-{rules}", evidence.map_or("", String::as_str))
}

/// What became of the amendments that skeptics asked for: a person who changed the gates has answered them all.
pub fn answers(before: &Forest, settings: &Deliberation, rules: &str) -> Vec<Value> {
    let answer = match before.rules == rules {
        true => "open: the gates are as they were",
        false => "answered: the gates were changed",
    };
    let told = |one: &Amendment| json!({"candidate": one.candidate, "text": one.text, "answer": answer});
    // They are asked for where a candidate passed every gate, and so would tell of hidden ones.
    let told_of = if settings.hides() { &[][..] } else { &before.amendments };
    told_of.iter().rev().take(limits::DELIBERATED_AMENDMENTS).map(told).collect()
}

/// The steps before any tree is asked: the forest was checked, attention divided, gardeners sent.
pub fn opening(setting: &Setting<'_>) -> Vec<Event> {
    let (before, sky) = (setting.before, setting.forecast);
    let answers = answers(before, setting.settings, &setting.rules);
    let weathers: BTreeMap<&String, Weather> = sky.trees.iter().map(|(id, sky)| (id, sky.weather)).collect();
    let dispatch: BTreeMap<&String, f64> = sky.allocated().map(|(id, sky)| (id, sky.temperature)).collect();
    let sent: Vec<&&String> = dispatch.keys().collect();
    let steps = [
        (
            Role::Coordinator,
            Action::ValidatePre,
            json!({"cycle": before.cycle}),
            json!({"faults": 0, "amendments": answers}),
        ),
        (Role::Meteorologist, Action::Route, json!({"monsoon": sky.monsoon}), json!(weathers)),
        (Role::Coordinator, Action::GardenerParallelDispatch, json!({}), json!({"trees": sent, "dispatch": dispatch})),
    ];
    let told = |(role, action, inputs, outputs)| {
        let step = Step { inputs, outputs, reason: String::new() };
        let target = setting.goal.to_owned();
        setting.event(ToldStep { agent: "rules".to_owned(), role, action, target, step })
    };
    let late = setting.timed_out.iter().map(|step| setting.event(step.clone()));
    steps.into_iter().map(told).chain(late).collect()
}

impl Setting<'_> {
    fn event(&self, told: ToldStep) -> Event {
        Event {
            ts: self.at,
            agent: told.agent,
            role: told.role,
            action: told.action,
            target: told.target,
            inputs: told.step.inputs,
            outputs: told.step.outputs,
            reason: told.step.reason,
            cycle: self.before.cycle + 1,
            initiative: self.initiative.to_owned(),
        }
    }
}

/// Makes a cycle of what trees gave, and of results of earlier cycles whose hidden gates were asked `again`. The order of the trees does not matter.
///
/// # Errors
/// What the validator finds: then nothing of the cycle is kept.
pub fn conclude(
    setting: &Setting<'_>,
    mut trees: Vec<Grown>,
    again: Vec<ResultRecord>,
) -> Result<CycleRecord, Vec<super::forest::Fault>> {
    let (before, settings) = (setting.before, setting.settings);
    let cycle = before.cycle + 1;
    trees.sort_by(|a, b| a.tree.cmp(&b.tree));
    let mut events = opening(setting);
    let mut told = |told: ToldStep| events.push(setting.event(told));
    let rules = |action: Action, target: &str, inputs: Value, outputs: Value, reason: &str| ToldStep {
        agent: "rules".to_owned(),
        role: Role::Coordinator,
        action,
        target: target.to_owned(),
        step: Step { inputs, outputs, reason: reason.to_owned() },
    };
    // What this cycle promotes is not new any more for what comes after it.
    let mut promoted: Vec<Value> = Vec::new();
    let (mut results, mut seeds, mut amendments) = (Vec::new(), before.seeds.clone(), Vec::new());
    let mut seen = std::collections::BTreeSet::new();
    for grown in trees {
        for told_by in grown.told {
            told(told_by);
        }
        amendments.extend(grown.amendments);
        let of_tree = before.trees.get(&grown.tree);
        let option = of_tree.map_or(1.0, |tree| 1.0 - tree.deaths as f64 / tree.attempts.max(1) as f64);
        for (mut result, judgement, kept) in grown.leaves {
            // Two trees may come to the same: the first by id has it.
            if before.closed.contains(&result.key) || !seen.insert(result.key.clone()) {
                continue;
            }
            if settings.gates.brain && is_known_by(&mut result, before, &promoted) {
                let why = "a fruit of the same cycle says so";
                told(rules(Action::Classify, &result.key, json!({}), json!({"class": result.class}), why));
            }
            let open = result.open_class(settings);
            let carries =
                if settings.hides() { open == Class::Fruit } else { result.standing() == Some(Standing::Promoted) };
            if carries {
                promoted.push(result.proposal.payload.clone());
            }
            let kept = if open == Class::GoldenLeaf { Some(Kept::Golden) } else { kept };
            let known = seeds.iter().find(|seed| seed.key == result.key);
            let (since, from) = known.map_or((cycle, None), |seed| (seed.since, seed.from.clone()));
            seeds.retain(|seed| seed.key != result.key);
            if let Some(kept) = kept {
                let evidence = result.record.as_ref().map(|record| record.without_hidden(settings).share_passed());
                let evidence = evidence.unwrap_or(0.0);
                let features = Features::of(&judgement, &result.proposal, option, from.is_some(), evidence);
                seeds.push(Seed {
                    key: result.key.clone(),
                    tree: result.tree.clone(),
                    from,
                    proposal: result.proposal.clone(),
                    kept,
                    score: features.score(),
                    since,
                    judged_on: match result.record.as_ref().is_some_and(|record| record.is_undecided(settings)) {
                        // Nobody has answered yet: it is asked about again.
                        true => String::new(),
                        false => judged_on(setting.evidence.get(&result.tree), &setting.rules),
                    },
                });
            }
            if result.record.is_some() || matches!(result.class, Class::SickLeaf | Class::DeadLeaf) {
                results.push(result);
            }
        }
    }
    for result in again.into_iter().filter(|result| !seen.contains(&result.key)) {
        let why = "a hidden gate that had given no answer was asked again";
        told(rules(Action::Classify, &result.key, json!({}), json!({"class": result.class}), why));
        results.push(result);
    }
    results.sort_by(|a, b| (&a.tree, &a.key).cmp(&(&b.tree, &b.key)));
    let is_closed = |key: &str| {
        before.closed.contains(key) || results.iter().any(|result| result.key == key && result.closes(settings))
    };
    let mut seeds = rank(seeds, is_closed, settings.seeds as usize);
    blow(&mut seeds, setting.forecast);
    let (was, is) = (json!({"before": before.seeds.len()}), json!({"after": seeds.len()}));
    told(rules(Action::RankAndRouteSeeds, setting.goal, was, is, ""));
    let fruits = results.iter().filter(|result| result.class == Class::Fruit).count();
    let (was, is) = (json!({"results": results.len()}), json!({"faults": 0, "fruits": fruits}));
    told(rules(Action::ValidatePostSave, setting.goal, was, is, ""));
    let mut record = CycleRecord {
        cycle,
        after: setting.after.to_vec(),
        cast: setting.cast.clone(),
        rules: setting.rules.clone(),
        evidence: setting.evidence.clone(),
        forecast: setting.forecast.clone(),
        results,
        seeds,
        amendments,
        events,
    };
    // What does not fit into one run goes from the end of the bank, where the least is.
    while !fits(&record) && record.seeds.pop().is_some() {}
    if !fits(&record) {
        make_room(&mut record, setting.goal);
    }
    let faults = validate(before, &record);
    if faults.is_empty() { Ok(record) } else { Err(faults) }
}

/// Whether a candidate says what fruit of the same cycle says: then it is not new, and gets the class that follows from that.
fn is_known_by(result: &mut ResultRecord, before: &Forest, promoted: &[Value]) -> bool {
    let Some(record) = &mut result.record else { return false };
    if !likeness_counts(&result.proposal.payload, promoted) {
        return false;
    }
    let known: Vec<&Value> = before.promoted().chain(promoted).collect();
    let share = likeness::known_share(&result.proposal.payload, &known, |_| false);
    let was = result.class;
    if record.enter_likeness(share) {
        result.class = classify(record, result.is_sick);
    }
    result.class != was
}

fn likeness_counts(payload: &Value, promoted: &[Value]) -> bool {
    promoted.iter().any(|other| likeness::overlaps(payload, other))
}

/// Whether a run can hold a cycle, with what its document has around it.
fn fits(record: &CycleRecord) -> bool {
    let (dense, laid_out) = (crate::model::json::inline(record).len(), crate::model::json::pretty(record).len());
    laid_out + laid_out / 4 <= limits::DELTA_BYTES && dense <= limits::DELIBERATION_BYTES
}

/// Makes a cycle fit that is too long without its seeds: texts are cut to what other minds may say, and then results go with their steps, those that
/// carry least first. They can be proposed again. The last step says how many went.
fn make_room(record: &mut CycleRecord, goal: &str) {
    for result in &mut record.results {
        let Mechanism { name, intuition, pseudocode, regime_suggestion, .. } = &mut result.proposal.mechanism;
        [name, intuition, pseudocode, regime_suggestion].into_iter().for_each(shorten);
    }
    for event in &mut record.events {
        shorten(&mut event.reason);
        for value in [&mut event.inputs, &mut event.outputs] {
            if value.to_string().len() > EVENT_BYTES {
                *value = json!({"left_out": "too long for its cycle"});
            }
        }
    }
    let carries = |class: Class| match class {
        Class::Fruit => 4,
        Class::GoldenLeaf => 3,
        Class::SickLeaf => 2,
        Class::NormalLeaf => 1,
        Class::DeadLeaf => 0,
    };
    let mut gone = 0;
    while !fits(record) && !record.results.is_empty() {
        let least = (0..record.results.len()).rev().min_by_key(|at| carries(record.results[*at].class)).unwrap_or(0);
        let result = record.results.remove(least);
        record.events.retain(|event| event.target != result.key);
        gone += 1;
    }
    if let Some(last) = record.events.iter_mut().rev().find(|event| event.target == goal).filter(|_| gone > 0) {
        last.reason = format!("{gone} results did not fit into the cycle, and may be proposed again");
    }
}

/// Most bytes of what a step went by, or of what came of it, in a cycle that is too long.
const EVENT_BYTES: usize = 1 << 10;

fn shorten(text: &mut String) {
    *text = text.chars().take(SAID_CHARS).collect();
}

/// Seeds of trees that freeze blow to the tree with the fewest seeds that does not: hypotheses outlive a place that gave nothing.
fn blow(seeds: &mut [Seed], forecast: &Forecast) {
    let is_cold = |id: &str| forecast.trees.get(id).is_some_and(|sky| sky.freezes);
    for at in 0..seeds.len() {
        if !is_cold(&seeds[at].tree) {
            continue;
        }
        let warm = forecast.trees.keys().filter(|id| !is_cold(id));
        let fewest = warm.min_by_key(|id| (seeds.iter().filter(|seed| seed.tree == **id).count(), (*id).clone()));
        if let Some(fewest) = fewest {
            seeds[at].from = Some(std::mem::replace(&mut seeds[at].tree, fewest.clone()));
        }
    }
}
