//! `deliberate`: cycles of a deliberation, each entered by one run, and what became fruit as runs that wait for review.

use serde::Serialize;

use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::cycle::commit::Draft;
use crate::cycle::deliberation::{Handoff, Question, told_live};
use crate::cycle::network::TreeNetwork;
use crate::deliberation::classes::Class;
use crate::deliberation::events::{Action, Event, jsonl};
use crate::deliberation::forest::Forest;
use crate::deliberation::gates::{GateRecord, GateResult, MEASURED, SANITY};
use crate::deliberation::record::{CycleRecord, ResultRecord, Standing};
use crate::deliberation::verdict::{Mechanism, Proposal};
use crate::delta::operation::Deliberate;
use crate::delta::{Document, Operation, Prediction};
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, RunId, hash_fields};
use crate::model::json;
use crate::store::LockName;

/// What to deliberate on.
#[derive(Clone, Debug)]
pub struct DeliberateRequest {
    /// The goal: lowercase letters, digits and dashes.
    pub goal: String,
    /// Words of topics, one a tree; none: those of earlier cycles, or the concepts with most memories.
    pub trees: Vec<String>,
    /// How many cycles.
    pub cycles: u32,
    /// The agent that thinks by deliberation; absent: you.
    pub agent: Option<String>,
    /// Write nothing.
    pub dry_run: bool,
}

/// A result, in a line.
#[derive(Clone, Debug, Serialize)]
pub struct ResultLine {
    /// Its key.
    pub key: String,
    /// Its tree.
    pub tree: String,
    /// The mechanism's name.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// How far it carries, if it is fruit: `promoted` or `ensemble`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What each gate said.
    pub gates: Vec<GateResult>,
    /// Gates that it failed.
    pub failed: Vec<String>,
    /// What the skeptic said of it as a candidate: recorded only.
    pub risks: Vec<String>,
    /// The run that lands it, if it is fruit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether it is in wake.
    pub landed: bool,
}

/// What a cycle came to.
#[derive(Clone, Debug, Serialize)]
pub struct CycleLine {
    /// Its number.
    pub cycle: u64,
    /// The run that entered it; null with `--dry-run`.
    pub run: Option<String>,
    /// Weather by tree.
    pub weather: std::collections::BTreeMap<String, String>,
    /// Results, by tree and key.
    pub results: Vec<ResultLine>,
    /// Hypotheses that no gate was asked about, and minds whose answer had no form: what the nursery or the reader said.
    pub held: Vec<String>,
    /// The debates, round by round.
    pub debates: Vec<String>,
    /// Seeds that are carried on.
    pub seeds: usize,
    /// Gates that the skeptic wants changed; a person may change the settings.
    pub amendments: Vec<String>,
}

/// What the cycles came to.
#[derive(Clone, Debug, Serialize)]
pub struct DeliberateReport {
    /// The goal.
    pub goal: String,
    /// The cycles.
    pub cycles: Vec<CycleLine>,
    /// Wake's tip.
    pub wake: String,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
}

/// A forest, as it follows from its cycles.
#[derive(Clone, Debug, Serialize)]
pub struct ForestReport {
    /// The goal.
    pub goal: String,
    /// What all cycles have left.
    #[serde(flatten)]
    pub forest: Forest,
}

impl Brain {
    /// Runs cycles. Each is entered whole or not at all; fruit that an earlier call did not come to land is landed first.
    ///
    /// # Errors
    /// A goal that is no name (2); a cast that does not play, a program that is not trusted (3); a mind that cannot be reached.
    pub fn deliberate(
        &self,
        request: &DeliberateRequest,
        told: &mut dyn FnMut(&CycleLine),
        watch: &(dyn Fn(&Event) + Sync),
    ) -> Result<DeliberateReport, BrainError> {
        let goal = AgentName::parse(&request.goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?;
        let agent = self.deliberating(request.agent.as_deref())?;
        // One coordinator at a time.
        let _alone = self.cycle.store.lock(LockName::Deliberation)?;
        self.cycle.forget_handoffs()?;
        self.cycle.store.forget_live();
        let mut report =
            DeliberateReport { goal: goal.to_string(), cycles: Vec::new(), wake: String::new(), notes: Vec::new() };
        if !request.dry_run {
            let tree = self.cycle.store.tree_of(self.at(None)?)?;
            for (run, cycle) in self.cycle.cycles_of(tree, &goal)? {
                // Fruit that cannot land stops no cycle: whoever entered it may have had no right to.
                if let Err(error) = self.land_fruits(&run, &cycle, true) {
                    report.notes.push(format!(
                        "fruit of {run} does not land: {error}; `git brain revert {run}` takes that cycle back"
                    ));
                }
            }
        }
        for _ in 0..request.cycles.max(1) {
            let (_, limits) = self.cycle.shared.policy.authority(&agent)?;
            let base = self.at(None)?;
            let newest = self.cycle.newest_run(base)?;
            let run =
                self.cycle.new_run_id(&agent, base, newest.as_ref(), &[b"deliberate", goal.as_str().as_bytes()], 0)?;
            let initiative = if agent.as_str() == HUMAN { "person".to_owned() } else { agent.to_string() };
            let trees = request.trees.clone();
            let question = Question { goal: goal.clone(), trees, initiative, run, limits };
            let live = told_live(self.cycle.store.common_dir());
            let cycle = self.cycle.deliberate(&question, &|event| {
                live(event);
                watch(event);
            });
            let cycle = cycle.inspect_err(|_| self.cycle.store.forget_live())?;
            let (run, fruits) = match request.dry_run {
                true => (None, Vec::new()),
                false => {
                    let run = self.enter(&goal, &agent, &cycle)?;
                    let fruits = self.land_fruits(&run, &cycle, false)?;
                    (Some(run), fruits)
                }
            };
            self.cycle.store.forget_live();
            let line = line_of(run.as_ref(), &cycle, &fruits);
            told(&line);
            report.cycles.push(line);
            if request.dry_run {
                break;
            }
        }
        if self.cycle.deliberation_of_main()? != self.cycle.shared.policy.settings.deliberation {
            let main = self.cycle.store.main();
            report.notes.push(format!(
                "[deliberation] was read from brain.toml on {main}: what a flag, git's configuration or a file that is not committed says of it counts for nothing"
            ));
        }
        report.wake = self.at(None)?.to_string();
        Ok(report)
    }

    /// What the gates say of a delta on a topic. Nothing is written, and no mind is asked: the gate of alignment is not answered.
    ///
    /// # Errors
    /// A delta that is none (2), a topic that is missing (2).
    pub fn examine(&self, goal: &str, topic: &str, delta: &str) -> Result<GateRecord, BrainError> {
        let goal = AgentName::parse(goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?;
        let payload = serde_json::from_str(delta).map_err(|e| BrainError::usage(format!("the delta: {e}")))?;
        let agent = self.deliberating(None)?;
        let base = self.at(None)?;
        let run = self.cycle.new_run_id(&agent, base, self.cycle.newest_run(base)?.as_ref(), &[b"examine"], 0)?;
        let question =
            Question { goal, trees: vec![topic.to_owned()], initiative: "person".to_owned(), run, limits: None };
        self.cycle.gates_of(&question, &Proposal { mechanism: Mechanism::default(), payload })
    }

    /// Who deliberates: an agent of that cognition, or the person.
    fn deliberating(&self, agent: Option<&str>) -> Result<AgentName, BrainError> {
        let person = || AgentName::parse(HUMAN).expect("invariant: a valid name");
        let Some(agent) = agent else { return Ok(person()) };
        let name = AgentName::parse(agent).map_err(|e| BrainError::usage(e.to_string()))?;
        match self.cycle.shared.policy.agents.get(&name).map(|member| &member.agent.cognition) {
            Some(Cognition::Deliberation { .. }) => Ok(name),
            Some(_) => Err(BrainError::usage(format!("{name} does not think by deliberation"))),
            None => Err(BrainError::usage(format!("there is no agent {name}"))),
        }
    }

    /// Enters a cycle by a run of the coordinator, the only one that writes.
    fn enter(&self, goal: &AgentName, agent: &AgentName, cycle: &CycleRecord) -> Result<RunId, BrainError> {
        let value = serde_json::to_value(cycle).expect("invariant: a cycle is JSON");
        let ops = vec![Operation::Deliberate(Deliberate { goal: goal.clone(), cycle: value })];
        let document = Document { agent: Some(agent.clone()), prediction: None, ops };
        let bytes = json::pretty(&document);
        // Nothing is entered that nobody could read.
        Document::parse(&bytes, "the cycle")?;
        let cast = &cycle.cast;
        let cognition = match &cast.skeptic {
            Some(skeptic) => format!("deliberation:{},{}", cast.gardener.mind, skeptic.mind),
            None => format!("deliberation:{}", cast.gardener.mind),
        };
        let given = Given { document, bytes, lines: Vec::new(), agent: agent.clone(), reason: "deliberate", cognition };
        let report = self.apply_given(given, false, false)?;
        RunId::parse(&report.run).map_err(|e| BrainError::refused(e.to_string()))
    }

    /// Makes each fruit of a cycle an ordinary run, unless it is one already: it waits for review, or lands as `[review]` says of its agent. What
    /// another process measured is measured `again`: a record is a claim. Where the gates of the brain were not asked nothing lands.
    fn land_fruits(
        &self,
        entered: &RunId,
        cycle: &CycleRecord,
        again: bool,
    ) -> Result<Vec<(String, RunId, bool)>, BrainError> {
        let mut fruits = Vec::new();
        let on_brain = |record: &GateRecord| record.asked.iter().any(|name| name == SANITY);
        let is_fruit = |result: &&ResultRecord| {
            let is_delta = result.proposal.payload.get("ops").is_some() && result.record.as_ref().is_some_and(on_brain);
            result.class == Class::Fruit && is_delta
        };
        for (at, result) in cycle.results.iter().filter(is_fruit).enumerate() {
            let agent = entered.agent();
            let chance = hash_fields(&[entered.as_str().as_bytes(), result.key.as_bytes()]);
            let run = RunId::new(entered.unix_ms() + 1 + at as i64, chance, &agent);
            let base = self.at(None)?;
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(base)?);
            let waits = self.cycle.waiting_named(run.as_str())?.is_some();
            if let Some(record) = network.record(&run)? {
                fruits.push((result.key.clone(), run, !record.effects.is_empty()));
                continue;
            }
            if waits {
                fruits.push((result.key.clone(), run, false));
                continue;
            }
            let payload = result.proposal.payload.to_string();
            let mut document = Document::parse(payload.as_bytes(), "the fruit").map_err(BrainError::from)?;
            if let Some(op) = document.ops.iter().find(|op| !MEASURED.contains(&op.name())) {
                return Err(BrainError::refused(format!("its operation {} is one that no gate measures", op.name())));
            }
            // The same delta may wait already, for a cycle that was taken back.
            if self.waits_already(&document)? {
                continue;
            }
            if again {
                self.measured_again(&run, result)?;
            }
            document.agent = Some(agent.clone());
            let mechanism = &result.proposal.mechanism;
            let text = format!("{}: {}", mechanism.name, mechanism.intuition);
            document.prediction = Some(Prediction { text: Some(text), ..Prediction::default() });
            let shared = &self.cycle.shared;
            let origin = crate::cycle::quoted::by_hand(&document, &network, &shared.policy.settings.origins)?;
            let mut draft = Draft {
                reason: format!("fruit of {entered}"),
                document,
                origin,
                authority: shared.policy.authority(&agent)?,
                held: (agent.as_str() == HUMAN).then(|| "asked".to_owned()),
                ..Draft::by_hand(shared, base, run.clone(), "deliberation")?
            };
            let applied = draft.apply(&self.cycle.store, shared)?;
            draft.hold_by_rules(&applied, &shared.policy.settings.review);
            let landed = self.land(draft, &applied, false)?;
            fruits.push((result.key.clone(), run, landed.merged));
        }
        Ok(fruits)
    }

    /// Refuses a fruit whose gates say otherwise here and now.
    fn measured_again(&self, run: &RunId, result: &ResultRecord) -> Result<(), BrainError> {
        let question = Question {
            goal: run.agent(),
            trees: Vec::new(),
            initiative: String::new(),
            run: run.clone(),
            limits: self.cycle.shared.policy.authority(&run.agent())?.1,
        };
        let record = self.cycle.measured_again(&question, result)?;
        if record.passes_all_but_alignment() {
            return Ok(());
        }
        let failed: Vec<String> = record.gates.iter().filter(|gate| gate.hard && !gate.passed).map(failure).collect();
        Err(BrainError::refused(format!(
            "measured again, {} fails {}",
            result.proposal.mechanism.name,
            failed.join(", ")
        )))
    }

    /// Whether a fruit of the same operations waits for a person.
    fn waits_already(&self, document: &Document) -> Result<bool, BrainError> {
        for waiting in self.cycle.waiting_runs()? {
            let is_fruit = waiting.commit.trailer("Trigger").is_some_and(|reason| reason.starts_with("fruit of "));
            if is_fruit && self.cycle.waiting_record(&waiting)?.ops == document.ops {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lands what agents that deliberate brought to fruit in runs that have landed.
    pub(super) fn land_late(&self, merged: &[String]) -> Result<(), BrainError> {
        let thinks = |agent: &AgentName| {
            let member = self.cycle.shared.policy.agents.get(agent);
            member.is_some_and(|member| matches!(member.agent.cognition, Cognition::Deliberation { .. }))
        };
        for run in merged.iter().filter_map(|run| RunId::parse(run).ok()).filter(|run| thinks(&run.agent())) {
            let tree = self.cycle.store.tree_of(self.at(None)?)?;
            if let Some(cycle) = self.cycle.cycle_of(tree, &run)? {
                self.land_fruits(&run, &cycle, true)?;
            }
        }
        Ok(())
    }

    /// What a goal's cycles have left.
    pub fn forest(&self, goal: &str, at: Option<&str>) -> Result<ForestReport, BrainError> {
        let goal = AgentName::parse(goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?;
        let tree = self.cycle.store.tree_of(self.at(at)?)?;
        let settings = self.cycle.deliberation_of_main()?;
        let cycles = self.cycle.cycles_of(tree, &goal)?;
        if cycles.is_empty() {
            let others = self.cycle.deliberated_goals(tree)?.into_iter().filter(|other| *other != goal);
            let goals: Vec<String> = others.map(|other| other.to_string()).collect();
            let hint = if goals.is_empty() {
                "`git brain deliberate GOAL` runs a cycle".to_owned()
            } else {
                format!("there are {}", goals.join(", "))
            };
            return Err(BrainError::Usage { message: format!("there is no cycle of {goal}"), hint: Some(hint) });
        }
        let forest = Forest::after(cycles.iter().map(|(_, cycle)| cycle), &settings);
        Ok(ForestReport { goal: goal.to_string(), forest })
    }

    /// The events of a goal's cycles, or of all goals, oldest first, of runs after one.
    pub fn events(&self, goal: Option<&str>, after: Option<&str>) -> Result<(Vec<Event>, Option<String>), BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let goals = match goal {
            Some(goal) => vec![AgentName::parse(goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?],
            None => self.cycle.deliberated_goals(tree)?,
        };
        let mut cycles = Vec::new();
        for of in &goals {
            // Asked for all goals, one that cannot be read stops no other; `check` names its file.
            match self.cycle.cycles_of(tree, of) {
                Err(_) if goal.is_none() => {}
                read => cycles.extend(read?),
            }
        }
        cycles.sort_by(|a, b| a.0.cmp(&b.0));
        cycles.retain(|(run, _)| after.is_none_or(|after| run.as_str() > after));
        let last = cycles.last().map(|(run, _)| run.to_string());
        Ok((cycles.into_iter().flat_map(|(_, cycle)| cycle.events).collect(), last))
    }

    /// The steps of a deliberation that is under way, oldest first. Its cycle has them again, once it is entered.
    pub fn live_events(&self) -> Vec<Event> {
        let lines = self.cycle.store.told_live(crate::limits::DELIBERATION_BYTES);
        lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Events as lines of JSON.
    pub fn events_as_lines(events: &[Event]) -> String {
        jsonl(events)
    }

    /// The questions of a deliberation that wait for a person or a watching agent.
    pub fn handoffs(&self) -> Result<Vec<Handoff>, BrainError> {
        self.cycle.handoffs()
    }

    /// Answers one of them with a JSON document.
    ///
    /// # Errors
    /// There is no such question (2).
    pub fn answer_handoff(&self, id: &str, answer: &str) -> Result<(), BrainError> {
        if let Some(why) = self.cycle.wrong_answer(id, answer)? {
            return Err(BrainError::Usage {
                message: format!("the answer to {id} is not of the form: {why}"),
                hint: Some("`git brain --json deliberate --handoffs` prints the schema".to_owned()),
            });
        }
        match self.cycle.store.answer_handoff(id, answer.as_bytes())? {
            true => Ok(()),
            false => Err(BrainError::Usage {
                message: format!("no question {id} waits"),
                hint: Some("`git brain deliberate --handoffs` lists them".to_owned()),
            }),
        }
    }
}

fn line_of(run: Option<&RunId>, cycle: &CycleRecord, fruits: &[(String, RunId, bool)]) -> CycleLine {
    let results = cycle.results.iter().map(|result| {
        let fruit = fruits.iter().find(|(key, ..)| *key == result.key);
        let gates = result.record.iter().flat_map(|record| &record.gates);
        // A question that nobody was asked is no failure.
        let unanswered = result.record.iter().filter(|record| record.lacks_alignment_alone()).flat_map(|record| {
            record.asked.iter().filter(|name| record.gates.iter().all(|gate| gate.name != **name)).cloned()
        });
        ResultLine {
            key: result.key.clone(),
            tree: result.tree.clone(),
            name: result.proposal.mechanism.name.clone(),
            class: result.class,
            standing: result.standing(),
            gates: result.record.iter().flat_map(|record| record.gates.clone()).collect(),
            failed: match &result.record {
                None => {
                    let checks = result.nursery.checks.iter().filter(|check| !check.passed);
                    checks.map(|check| format!("{} of the nursery ({})", check.name, check.figure)).collect()
                }
                Some(_) => gates.filter(|gate| !gate.passed).map(failure).chain(unanswered).collect(),
            },
            risks: result.risks.iter().flat_map(|verdict| verdict.weaknesses.clone()).collect(),
            run: fruit.map(|(_, run, _)| run.to_string()),
            landed: fruit.is_some_and(|(.., landed)| *landed),
        }
    });
    CycleLine {
        cycle: cycle.cycle,
        run: run.map(ToString::to_string),
        weather: cycle.forecast.trees.iter().map(|(id, sky)| (id.clone(), word(&sky.weather))).collect(),
        results: results.collect(),
        held: held_of(cycle),
        debates: debated(cycle),
        seeds: cycle.seeds.len(),
        amendments: cycle.amendments.iter().map(|one| one.text.clone()).collect(),
    }
}

/// What was not examined, and why.
fn held_of(cycle: &CycleRecord) -> Vec<String> {
    let named = |key: &str| {
        let of_seed = cycle.seeds.iter().find(|seed| seed.key == key).map(|seed| &seed.proposal);
        let of_result = cycle.results.iter().find(|result| result.key == key).map(|result| &result.proposal);
        of_seed.or(of_result).map_or_else(|| key.to_owned(), |proposal| proposal.mechanism.name.clone())
    };
    let is_result = |key: &str| cycle.results.iter().any(|result| result.key == key);
    let culled = |key: &str| {
        let rounds = cycle.events.iter().filter(|event| event.action == Action::DebateRound);
        rounds.flat_map(|event| event.inputs["culled"].as_array().into_iter().flatten()).any(|one| one == key)
    };
    let told = |event: &Event| match event.action {
        Action::SkepticChallenge if event.outputs["kind"] == "hypothesis" && culled(&event.target) => {
            let risks = event.outputs["risks"].as_array().into_iter().flatten().filter_map(|one| one.as_str());
            let (name, severity) = (event.outputs["name"].as_str(), event.outputs["severity"].as_str());
            Some(format!(
                "{}: culled by the skeptic ({}: {})",
                name.unwrap_or(&event.target),
                severity.unwrap_or_default(),
                risks.collect::<Vec<_>>().join("; ")
            ))
        }
        // What is a result says it there.
        Action::NurseryCheck if event.outputs["fate"] != "sprout" && !is_result(&event.target) => {
            let failed = event.outputs["failed"].as_array().into_iter().flatten().filter_map(|one| one.as_str());
            let failed = failed.collect::<Vec<_>>().join(", ");
            let fate = event.outputs["fate"].as_str().unwrap_or_default();
            Some(format!("{}: {fate} by the nursery ({failed})", named(&event.target)))
        }
        Action::Mine | Action::HandoffSchemaViolation if !event.reason.is_empty() => {
            Some(format!("{} on {}: {}", event.role.as_str(), event.target, event.reason))
        }
        _ => None,
    };
    let mut held: Vec<String> = cycle.events.iter().filter_map(told).collect();
    if cycle.forecast.allocated().next().is_none() {
        held.push("no tree had a slot: all burn (something of theirs was quarantined in the last cycle)".to_owned());
    }
    held
}

/// The debates of each tree, round by round.
fn debated(cycle: &CycleRecord) -> Vec<String> {
    let rounds = cycle.events.iter().filter(|event| event.action == Action::DebateRound);
    let told = rounds.map(|event| {
        let of = |key: &str| event.outputs[key].as_u64().unwrap_or(0);
        format!(
            "{} round {}: {} attacked, {} culled, {} sent back, {} let through",
            event.target,
            of("round"),
            of("in"),
            of("culled"),
            of("revised"),
            of("proceeded")
        )
    });
    told.collect()
}

/// A gate that did not pass, with its figure.
fn failure(gate: &GateResult) -> String {
    let note = if gate.note.is_empty() { String::new() } else { format!(": {}", gate.note) };
    match gate.figure {
        Some(figure) => format!("{} ({figure} against {}{note})", gate.name, gate.threshold),
        None => format!("{} (not measured{note})", gate.name),
    }
}

/// The word that an enum is stored as.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
