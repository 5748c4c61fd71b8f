//! Fruit of a deliberation: each a run that waits for review or lands, and whether what another process claims is fruit at all.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Brain, BrainError, HUMAN};
use crate::cycle::commit::{Draft, HELD_FOR_ORIGIN};
use crate::cycle::deliberation::Measured;
use crate::cycle::network::TreeNetwork;
use crate::cycle::quoted;
use crate::cycle::reviewing::WaitingRun;
use crate::deliberation::classes::Class;
use crate::deliberation::gates::{GateResult, MEASURED};
use crate::deliberation::likeness;
use crate::deliberation::record::{CycleRecord, ResultRecord};
use crate::delta::operation::Connect;
use crate::delta::{Document, Operation, Prediction};
use crate::model::Origin;
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, RunId, hash_fields};
use crate::model::neuron::Connection;
use crate::model::origin::Level;
use crate::review::Verdict;

/// The fate of a cycle's fruit.
#[derive(Default)]
pub(super) struct Landing {
    /// The key, the run that lands it, and whether it is in wake.
    pub landed: Vec<(String, RunId, bool)>,
    /// The key of what fails its gates here and now, and how.
    pub refused: Vec<(String, String)>,
    /// The runs that were made now, each with its fruit's name and whether it is in wake.
    pub made: Vec<(RunId, String, bool)>,
    /// The key of what has operations of a run that waits, which is decided first.
    pub behind: Vec<(String, RunId)>,
}

impl Landing {
    /// What a person should know, one sentence each.
    pub fn notes(&self, run: &RunId, cycle: &CycleRecord) -> Vec<String> {
        let name = |key: &str| {
            let found = cycle.results.iter().find(|result| result.key == key);
            found.map_or_else(|| key.to_owned(), |result| result.proposal.mechanism.name.clone())
        };
        let refused = self.refused.iter().map(|(_, why)| {
            format!("fruit of {run} does not land: {why}; `git brain revert {run}` takes that cycle back")
        });
        let behind = self.behind.iter().map(|(key, other)| {
            format!(
                "{} lands when {other} is decided, which makes a part of the same ties: `git brain review {other}`",
                name(key)
            )
        });
        refused.chain(behind).collect()
    }

    /// The same of fruit that an earlier process left open, and that became a run only now.
    pub fn late_notes(&self, entered: &RunId) -> Vec<String> {
        let told = |(run, name, is_in_wake): &(RunId, String, bool)| {
            let state = if *is_in_wake { "has landed as" } else { "waits for review: git brain review" };
            format!("{name}, a fruit of {entered} that was still open, {state} {run}")
        };
        self.made.iter().map(told).collect()
    }
}

/// The fate of a fruit that lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Became {
    /// The run that lands it.
    pub run: String,
    /// `landed`, `taken back`, `rejected`, `amended`, `waits` for a person, or `open`: the next `deliberate` lands it.
    pub state: String,
}

/// A fruit that waits beside another.
enum Beside {
    /// It is the same.
    Same,
    /// It makes a part of it.
    Part(RunId),
}

/// The fruit of a cycle that lands, each with its run. Where the gates of the brain were not asked nothing does.
fn fruits_of<'c>(entered: &RunId, cycle: &'c CycleRecord) -> Vec<(RunId, &'c ResultRecord)> {
    let is_delta = |result: &&ResultRecord| result.proposal.payload.get("ops").is_some() && result.is_on_brain();
    let fruits = cycle.results.iter().filter(|result| result.class == Class::Fruit).filter(is_delta);
    let run_of = |(at, result): (usize, &'c ResultRecord)| {
        let chance = hash_fields(&[entered.as_str().as_bytes(), result.key.as_bytes()]);
        (RunId::new(entered.unix_ms() + 1 + at as i64, chance, &entered.agent()), result)
    };
    fruits.enumerate().map(run_of).collect()
}

impl Brain {
    /// Makes each fruit of a cycle an ordinary run, unless it is one already: it waits for review, or lands as `[review]` says of its agent. What
    /// another process measured is measured `again`: a record is a claim. Where the gates of the brain were not asked nothing lands.
    pub(super) fn land_fruits(&self, entered: &RunId, cycle: &CycleRecord, again: bool) -> Result<Landing, BrainError> {
        let mut landing = Landing::default();
        let agent = entered.agent();
        for (run, result) in fruits_of(entered, cycle) {
            let base = self.at(None)?;
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(base)?);
            let waits = self.cycle.waiting_named(run.as_str())?.is_some();
            if let Some(record) = network.record(&run)? {
                landing.landed.push((result.key.clone(), run, !record.effects.is_empty()));
                continue;
            }
            if waits {
                landing.landed.push((result.key.clone(), run, false));
                continue;
            }
            let payload = result.proposal.payload.to_string();
            let mut document = match read_fruit(&payload) {
                Ok(document) => document,
                Err(why) => {
                    landing.refused.push((result.key.clone(), why));
                    continue;
                }
            };
            // The same delta may wait already, for a cycle that was taken back; and what waits may have a part of it: both together have not been measured.
            match self.waits_already(&document, &result.proposal.payload)? {
                Some(Beside::Same) => continue,
                Some(Beside::Part(other)) => {
                    landing.behind.push((result.key.clone(), other));
                    continue;
                }
                None => {}
            }
            // Of what hidden gates were asked about again the gates of the brain were asked in an earlier cycle.
            if (again || result.asked_again)
                && let Some(why) = self.measured_again(&run, result)?
            {
                landing.refused.push((result.key.clone(), why));
                continue;
            }
            document.agent = Some(agent.clone());
            let mechanism = &result.proposal.mechanism;
            let text = format!("{}: {}", mechanism.name, mechanism.intuition);
            document.prediction = Some(Prediction { text: Some(text), ..Prediction::default() });
            let shared = &self.cycle.shared;
            let origins = &shared.policy.settings.origins;
            let of_cycle = network.record(entered)?.map_or_else(Origin::local, |record| record.origin.passed_on());
            let origin = quoted::by_hand(&document, &network, origins)?.and(&of_cycle);
            let is_asked = (agent.as_str() == HUMAN).then(|| "asked".to_owned());
            let by_origin = (origins.level(&origin) >= Level::Review).then(|| HELD_FOR_ORIGIN.to_owned());
            let mut draft = Draft {
                reason: format!("fruit of {entered}"),
                document,
                origin,
                authority: shared.policy.authority(&agent)?,
                held: is_asked.or(by_origin),
                ..Draft::by_hand(shared, base, run.clone(), "deliberation")?
            };
            let applied = draft.apply(&self.cycle.store, shared)?;
            draft.hold_by_rules(&applied, &shared.policy.settings.review);
            let landed = self.land(draft, &applied, false)?;
            landing.made.push((run.clone(), mechanism.name.clone(), landed.merged));
            landing.landed.push((result.key.clone(), run, landed.merged));
        }
        Ok(landing)
    }

    /// Why a fruit is none by its gates here and now; `None`: it is one.
    fn measured_again(&self, run: &RunId, result: &ResultRecord) -> Result<Option<String>, BrainError> {
        let limits = self.cycle.shared.policy.authority(&run.agent())?.1;
        let question = self.question_of(run.agent(), run.clone(), limits);
        let record = self.cycle.measured_again(&question, result)?;
        if record.passes_all_but_alignment() {
            return Ok(None);
        }
        let failed: Vec<String> = record.gates.iter().filter(|gate| gate.hard && !gate.passed).map(failure).collect();
        Ok(Some(format!("measured again, {} fails {}", result.proposal.mechanism.name, failed.join(", "))))
    }

    /// A fruit that waits for a person and has operations of this one.
    fn waits_already(&self, document: &Document, payload: &Value) -> Result<Option<Beside>, BrainError> {
        for waiting in self.cycle.waiting_runs()? {
            if !waiting.commit.trailer("Trigger").is_some_and(|reason| reason.starts_with("fruit of ")) {
                continue;
            }
            let ops = self.cycle.waiting_record(&waiting)?.ops;
            if ops == document.ops {
                return Ok(Some(Beside::Same));
            }
            if likeness::overlaps(&serde_json::json!({ "ops": ops }), payload) {
                return Ok(Some(Beside::Part(waiting.run.clone())));
            }
        }
        Ok(None)
    }

    /// The keys of a cycle's fruit that is no run and fails its gates here and now: another process claimed it.
    pub(super) fn refused_of(&self, entered: &RunId, cycle: &CycleRecord) -> Result<Vec<String>, BrainError> {
        let mut refused = Vec::new();
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        for (run, result) in fruits_of(entered, cycle) {
            if network.record(&run)?.is_some() || self.cycle.waiting_named(run.as_str())?.is_some() {
                continue;
            }
            // A part of it may wait for a person, and it does not.
            let Ok(document) = read_fruit(&result.proposal.payload.to_string()) else {
                refused.push(result.key.clone());
                continue;
            };
            let waits = self.waits_already(&document, &result.proposal.payload)?;
            // What cannot be measured here, such as by programs that nobody trusted, is neither this nor that.
            if waits.is_none() && matches!(self.measured_again(&run, result), Ok(Some(_))) {
                refused.push(result.key.clone());
            }
        }
        Ok(refused)
    }

    /// The fruit of own gates that a goal's cycles claim, and of which the gates here say otherwise: one sentence each.
    pub(super) fn claims_that_fail(&self, goal: &AgentName) -> Result<Vec<String>, BrainError> {
        let mut notes = Vec::new();
        let cycles = self.cycle.cycles_of(self.cycle.store.tree_of(self.at(None)?)?, goal)?;
        for (run, key, known) in self.cycle.measured_in(goal, &cycles)? {
            let results = cycles.iter().filter(|(of, _)| *of == run).flat_map(|(_, cycle)| &cycle.results);
            let result = results.into_iter().find(|result| result.key == key);
            if let (Measured::Otherwise(why), Some(result)) = (known, result) {
                let name = &result.proposal.mechanism.name;
                notes.push(format!(
                    "{name} of {run} is no fruit: measured again here, {why}; `git brain revert {run}` takes that cycle back"
                ));
            }
        }
        Ok(notes)
    }

    /// The runs of a cycle's fruit that wait for a person, or have landed, one sentence each: taking the cycle back leaves them.
    pub(super) fn fruit_left_of(&self, entered: &RunId) -> Result<Vec<String>, BrainError> {
        let fruit = format!("fruit of {entered}");
        let waiting = self.cycle.waiting_runs()?.into_iter();
        let waiting = waiting.filter(|one| one.commit.trailer("Trigger").is_some_and(|reason| *reason == fruit));
        let mut notes: Vec<String> = waiting
            .map(|one| {
                format!("{0}, a fruit of {entered}, still waits for review: `git brain reject {0}` settles it", one.run)
            })
            .collect();
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let Some((_, cycle)) = self.cycle.cycle_of(tree, entered)? else { return Ok(notes) };
        let network = TreeNetwork::new(&self.cycle.store, tree);
        for (run, became) in self.became(entered, &cycle)?.into_values().map(|became| (became.run, became.state)) {
            if became == "landed" {
                notes.push(format!(
                    "{run}, a fruit of {entered}, stays in wake: `git brain revert {run}` takes it back"
                ));
            }
            let fruit = RunId::parse(&run).ok().filter(|_| became == "amended");
            let decided = fruit.map(|run| self.cycle.decision_that_stands(&network, &run)).transpose()?.flatten();
            if let Some(lands) = decided.and_then(|review| review.lands) {
                notes.push(format!(
                    "{lands}, what was kept of {run}, a fruit of {entered}, stays in wake: `git brain revert {lands}` takes it back"
                ));
            }
        }
        Ok(notes)
    }

    /// The fates of the fruit of a cycle, by key.
    pub(super) fn became(&self, entered: &RunId, cycle: &CycleRecord) -> Result<BTreeMap<String, Became>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut became = BTreeMap::new();
        for (run, result) in fruits_of(entered, cycle) {
            let state = match network.record(&run)? {
                _ if self.cycle.taken_back_by(tree, &run)?.is_some() => "taken back",
                Some(record) if !record.effects.is_empty() => "landed",
                _ if self.cycle.waiting_named(run.as_str())?.is_some() => "waits",
                _ => self.cycle.decision_that_stands(&network, &run)?.map_or("open", |review| review.verdict.done()),
            };
            became.insert(result.key.clone(), Became { run: run.to_string(), state: state.to_owned() });
        }
        Ok(became)
    }

    /// The other runs with the same fruit as a run that waits, each with whether it is in wake: another machine that decided the same has made one too.
    pub(super) fn twins_of(&self, waiting: &WaitingRun) -> Result<Vec<(RunId, bool)>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut twins = Vec::new();
        for run in self.same_fruit(waiting)? {
            let is_back = self.cycle.taken_back_by(tree, &run)?.is_some();
            if network.record(&run)?.is_some_and(|record| !record.effects.is_empty()) && !is_back {
                twins.push((run, true));
            } else if self.cycle.waiting_named(run.as_str())?.is_some() {
                twins.push((run, false));
            }
        }
        Ok(twins)
    }

    /// The other runs that the same fruit of a goal has, whatever became of them.
    fn same_fruit(&self, waiting: &WaitingRun) -> Result<Vec<RunId>, BrainError> {
        let Some(entered) = waiting.commit.trailer("Trigger").and_then(|reason| reason.strip_prefix("fruit of "))
        else {
            return Ok(Vec::new());
        };
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let Ok(entered) = RunId::parse(entered) else { return Ok(Vec::new()) };
        let Some((goal, cycle)) = self.cycle.cycle_of(tree, &entered)? else { return Ok(Vec::new()) };
        let fruits = fruits_of(&entered, &cycle);
        let Some((_, own)) = fruits.into_iter().find(|(run, _)| *run == waiting.run) else { return Ok(Vec::new()) };
        let is_same = |result: &ResultRecord| likeness::is_same(&result.proposal.payload, &own.proposal.payload);
        let mut same = Vec::new();
        for (other, cycle) in self.cycle.cycles_of(tree, &goal)? {
            let fruits = fruits_of(&other, &cycle).into_iter();
            same.extend(fruits.filter(|(run, one)| *run != waiting.run && is_same(one)).map(|(run, _)| run));
        }
        Ok(same)
    }

    /// Refuses to let the same fruit land twice: its weights would add up to what no gate has measured.
    pub(super) fn refuse_twin(&self, waiting: &WaitingRun) -> Result<(), BrainError> {
        let landed = self.twins_of(waiting)?.into_iter().find(|(_, is_in_wake)| *is_in_wake);
        let why = match landed {
            Some((twin, _)) => Some(format!("has the same fruit as {twin}, which has landed")),
            None => self.made_meanwhile(waiting)?.map(|tie| format!("makes {tie}, which came into wake meanwhile")),
        };
        why.map_or(Ok(()), |why| {
            Err(BrainError::Refused {
                message: format!("{} {why}: its weights would count twice", waiting.run),
                hint: Some(format!(
                    "`git brain reject {}` settles it; the next `git brain deliberate` measures what is left of it",
                    waiting.run
                )),
            })
        })
    }

    /// A tie of a fruit that waits which wake has now and had not when the fruit was measured.
    pub(super) fn made_meanwhile(&self, waiting: &WaitingRun) -> Result<Option<String>, BrainError> {
        let is_fruit = waiting.commit.trailer("Trigger").is_some_and(|reason| reason.starts_with("fruit of "));
        let Some(base) = waiting.commit.parents.first().filter(|_| is_fruit) else { return Ok(None) };
        let store = &self.cycle.store;
        let then = TreeNetwork::new(store, store.tree_of(*base)?);
        let now = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let has = |network: &TreeNetwork<'_>, op: &Connect| -> Result<bool, BrainError> {
            let is_it = |tie: &Connection| tie.target == op.to && tie.link == op.link;
            Ok(network.neuron(&op.from)?.is_some_and(|neuron| neuron.connections.iter().any(is_it)))
        };
        for op in self.cycle.waiting_record(waiting)?.ops {
            if let Operation::Connect(op) = op
                && has(&now, &op)?
                && !has(&then, &op)?
            {
                return Ok(Some(format!("the tie of {} to {}", op.from, op.to)));
            }
        }
        Ok(None)
    }

    /// Decisions that people made about the same fruit as a run that waits, one sentence each, but for those that let it in.
    pub(super) fn decided_of_twins(&self, waiting: &WaitingRun) -> Result<Vec<String>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut told = Vec::new();
        for run in self.same_fruit(waiting)? {
            let decided = self.cycle.decision_that_stands(&network, &run)?;
            if let Some(review) = decided.filter(|review| review.verdict != Verdict::Approve) {
                let why = if review.why.is_empty() { String::new() } else { format!(": {}", review.why) };
                told.push(format!("{} {} {run}, the same fruit{why}", review.reviewer, review.verdict.done()));
            }
        }
        Ok(told)
    }

    /// Lands what agents that deliberate brought to fruit in runs that have landed.
    pub(super) fn land_late(&self, merged: &[String]) -> Result<Vec<String>, BrainError> {
        let mut notes = Vec::new();
        let thinks = |agent: &AgentName| {
            let member = self.cycle.shared.policy.agents.get(agent);
            member.is_some_and(|member| matches!(member.agent.cognition, Cognition::Deliberation { .. }))
        };
        for run in merged.iter().filter_map(|run| RunId::parse(run).ok()).filter(|run| thinks(&run.agent())) {
            let tree = self.cycle.store.tree_of(self.at(None)?)?;
            if let Some((_, cycle)) = self.cycle.cycle_of(tree, &run)? {
                notes.extend(self.land_fruits(&run, &cycle, true)?.notes(&run, &cycle));
                notes.extend(self.left_questions()?);
            }
        }
        notes.dedup();
        Ok(notes)
    }
}

/// The document of a fruit; the error is why it is none, whatever its gates are said to have measured.
fn read_fruit(payload: &str) -> Result<Document, String> {
    let document = Document::parse(payload.as_bytes(), "the fruit").map_err(|error| error.to_string())?;
    match document.ops.iter().find(|op| !MEASURED.contains(&op.name())) {
        Some(op) => Err(format!("its operation {} is one that no gate measures", op.name())),
        None => Ok(document),
    }
}

/// A gate that did not pass, with its figure.
pub(super) fn failure(gate: &GateResult) -> String {
    let note = if gate.note.is_empty() { String::new() } else { format!(": {}", gate.note) };
    match gate.figure {
        Some(figure) => format!("{} ({figure} against {}{note})", gate.name, gate.threshold),
        None => format!("{} (not measured{note})", gate.name),
    }
}
