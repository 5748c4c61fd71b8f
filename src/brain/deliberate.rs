//! `deliberate`: cycles of a deliberation, each entered by one run, and what became fruit as runs that wait for review.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::fruit::{Became, Landing, failure};
use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::cycle::deliberation::{Handoff, Measured, Question, told_live};
use crate::deliberation::classes::Class;
use crate::deliberation::contested::Contest;
use crate::deliberation::events::{Action, Event, jsonl};
use crate::deliberation::forest::Forest;
use crate::deliberation::gates::{GateRecord, GateResult};
use crate::deliberation::record::{CycleRecord, Standing};
use crate::deliberation::verdict::{Mechanism, Proposal};
use crate::delta::operation::Deliberate;
use crate::delta::{Document, Limits, Operation};
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, RunId};
use crate::model::layout::SETTINGS;
use crate::model::{Origin, Settings, json};
use crate::store::LockName;
use crate::store::handoff::Answered;

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
    pub weather: BTreeMap<String, String>,
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

/// The verdicts of the gates on a delta.
#[derive(Clone, Debug, Serialize)]
pub struct ExaminedReport {
    /// The gates.
    #[serde(flatten)]
    pub record: GateRecord,
    /// What is worth knowing, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    /// The hash of what the goal's own gates see today; absent where the brain's are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Candidates that do not count, because two cycles that did not know of each other say otherwise of them: the next cycle that proposes one measures
    /// it again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<Contest>,
    /// Fruit of own gates that no gate here has measured, by key, with the runs that claim it: the next `deliberate` measures it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Vec<RunId>>,
    /// The fates of fruit that lands, by key: several where several machines made the same. Of an earlier commit nothing is told.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub became: BTreeMap<String, Vec<Became>>,
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
        let trees: Vec<String> = request.trees.iter().map(|topic| self.topic(topic)).collect();
        let agent = self.deliberating(request.agent.as_deref())?;
        // One coordinator at a time.
        let _alone = self.cycle.store.lock(LockName::Deliberation)?;
        self.cycle.forget_handoffs()?;
        self.cycle.store.forget_live();
        let mut report =
            DeliberateReport { goal: goal.to_string(), cycles: Vec::new(), wake: String::new(), notes: Vec::new() };
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let mut refused = BTreeSet::new();
        for (run, cycle) in self.cycle.cycles_of(tree, &goal)? {
            if request.dry_run {
                refused.extend(self.refused_of(&run, &cycle)?.into_iter().map(|key| (run.clone(), key)));
                continue;
            }
            // Fruit that cannot land stops no cycle: whoever entered it may have had no right to.
            match self.land_fruits(&run, &cycle, true) {
                Ok(landing) => {
                    report.notes.extend(landing.notes(&run, &cycle));
                    report.notes.extend(landing.late_notes(&run));
                    refused.extend(landing.refused.into_iter().map(|(key, _)| (run.clone(), key)));
                }
                Err(error) => report.notes.push(format!(
                    "fruit of {run} does not land: {error}; `git brain revert {run}` takes that cycle back"
                )),
            }
        }
        for _ in 0..request.cycles.max(1) {
            let (_, limits) = self.cycle.shared.policy.authority(&agent)?;
            let base = self.at(None)?;
            let newest = self.cycle.newest_run(base)?;
            let run =
                self.cycle.new_run_id(&agent, base, newest.as_ref(), &[b"deliberate", goal.as_str().as_bytes()], 0)?;
            let initiative = if agent.as_str() == HUMAN { "person".to_owned() } else { agent.to_string() };
            let trees = trees.clone();
            let refused = refused.clone();
            let writes = !request.dry_run;
            let question =
                Question { goal: goal.clone(), trees, initiative, run, limits, waits: true, refused, writes };
            let live = told_live(self.cycle.store.common_dir());
            let cycle = self.cycle.deliberate(&question, &|event| {
                live(event);
                watch(event);
            });
            let cycle = cycle.inspect_err(|_| self.cycle.store.forget_live());
            let cycle = cycle.map_err(|error| self.with_what_counts_not(error))?;
            let (run, fruits) = match request.dry_run {
                true => (None, Vec::new()),
                false => {
                    let (run, is_in_wake) = self.enter(&goal, &agent, &cycle)?;
                    self.cycle.forget_used(&goal, &cycle)?;
                    let landing = match is_in_wake {
                        true => self.land_fruits(&run, &cycle, false)?,
                        false => Landing::default(),
                    };
                    report.notes.extend(landing.notes(&run, &cycle));
                    report.notes.extend((!is_in_wake).then(|| {
                        format!(
                            "the cycle waits, because of where an answer in it comes from: `git brain review {run}`"
                        )
                    }));
                    (Some(run), landing.landed)
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
        report.notes.extend(self.claims_that_fail(&goal)?);
        report.notes.extend(self.what_counts_not()?);
        report.wake = self.at(None)?.to_string();
        Ok(report)
    }

    /// A sentence where settings were given for this call, or lie in the work tree, that count for nothing.
    fn what_counts_not(&self) -> Result<Option<String>, BrainError> {
        let (main, of_main) = (self.cycle.store.main(), self.cycle.deliberation_of_main()?);
        let here = self.cycle.store.read_work_file(SETTINGS)?;
        // One that cannot be read says nothing yet, and `git brain check` names it.
        let here = here.and_then(|here| Settings::read(&String::from_utf8_lossy(&here), &[]).ok());
        let is_uncommitted = here.is_some_and(|here| here.deliberation != of_main);
        let differs = is_uncommitted || of_main != self.cycle.shared.policy.settings.deliberation;
        Ok(differs.then(|| {
            format!(
                "[deliberation] was read from brain.toml on {main}: what a flag, git's configuration or a file that is not committed says of it counts for nothing"
            )
        }))
    }

    /// A refusal, with a hint where the reason may be settings that count for nothing.
    fn with_what_counts_not(&self, error: BrainError) -> BrainError {
        match (error, self.what_counts_not()) {
            (BrainError::Refused { message, hint }, Ok(Some(note))) => {
                let hint = hint.map_or(note.clone(), |hint| format!("{hint}; {note}"));
                BrainError::Refused { message, hint: Some(hint) }
            }
            (error, _) => error,
        }
    }

    /// What the gates say of a delta on a topic. Nothing is written, and no mind is asked: the gate of alignment is not answered.
    ///
    /// # Errors
    /// A delta that is none (2), a topic that is missing (2).
    pub fn examine(&self, goal: &str, topic: &str, delta: &str) -> Result<ExaminedReport, BrainError> {
        let goal = AgentName::parse(goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?;
        let payload = serde_json::from_str(delta).map_err(|e| BrainError::usage(format!("the delta: {e}")))?;
        let agent = self.deliberating(None)?;
        let base = self.at(None)?;
        let run = self.cycle.new_run_id(&agent, base, self.cycle.newest_run(base)?.as_ref(), &[b"examine"], 0)?;
        let question = Question { trees: vec![self.topic(topic)], ..self.question_of(goal, run, None) };
        let record = self.cycle.gates_of(&question, &Proposal { mechanism: Mechanism::default(), payload });
        let record = record.map_err(|error| self.with_what_counts_not(error))?;
        Ok(ExaminedReport { record, notes: self.what_counts_not()?.into_iter().collect() })
    }

    /// A question that is asked of gates alone.
    pub(super) fn question_of(&self, goal: AgentName, run: RunId, limits: Option<Limits>) -> Question {
        let (trees, initiative, refused) = (Vec::new(), "person".to_owned(), BTreeSet::new());
        Question { goal, trees, initiative, run, limits, waits: true, refused, writes: false }
    }

    /// Words of a topic as they are stored: the id of a tree is made of them.
    fn topic(&self, words: &str) -> String {
        self.cycle.shared.secrets.redact(words).into_owned()
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

    /// Enters a cycle by a run of the coordinator, the only one that writes; and whether it is in wake.
    fn enter(&self, goal: &AgentName, agent: &AgentName, cycle: &CycleRecord) -> Result<(RunId, bool), BrainError> {
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
        let origin = self.cycle.origin_of_cycle(goal, cycle)?;
        let report = match origin == Origin::local() {
            true => self.apply_given(given, false, false)?,
            false => self.apply_from(given, Some(&origin), false, false)?,
        };
        let run = RunId::parse(&report.run).map_err(|e| BrainError::refused(e.to_string()))?;
        Ok((run, report.merged))
    }

    /// What a goal's cycles have left.
    pub fn forest(&self, goal: &str, at: Option<&str>) -> Result<ForestReport, BrainError> {
        let goal = AgentName::parse(goal).map_err(|e| BrainError::usage(format!("the goal {e}")))?;
        let tree = self.cycle.store.tree_of(self.at(at)?)?;
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
        let mut kept = Vec::with_capacity(cycles.len());
        let mut became: BTreeMap<String, Vec<Became>> = BTreeMap::new();
        let (mut claims, mut measured): (BTreeMap<String, Vec<RunId>>, BTreeSet<String>) = Default::default();
        let known = if at.is_none() { self.cycle.measured_in(&goal, &cycles)? } else { Vec::new() };
        for (run, mut cycle) in cycles {
            // The past is what it was; of what wake has, a claim that does not hold is no fruit.
            let mut refused = if at.is_none() { self.refused_of(&run, &cycle)? } else { Vec::new() };
            for (_, key, known) in known.iter().filter(|(of, ..)| *of == run) {
                match known {
                    Measured::Here => drop(measured.insert(key.clone())),
                    Measured::Not => claims.entry(key.clone()).or_default().push(run.clone()),
                    Measured::Otherwise(_) => refused.push(key.clone()),
                }
            }
            // Runs of fruit follow from its place in the whole cycle.
            if at.is_none() {
                for (key, fate) in self.became(&run, &cycle)?.into_iter().filter(|(key, _)| !refused.contains(key)) {
                    became.entry(key).or_default().push(fate);
                }
            }
            cycle.results.retain(|result| !refused.contains(&result.key));
            kept.push((run, cycle));
        }
        // A claim beside a measurement adds nothing to it, and its figures are not told in its place.
        let idle =
            |run: &RunId, key: &String| measured.contains(key) && claims.get(key).is_some_and(|by| by.contains(run));
        for (run, cycle) in &mut kept {
            cycle.results.retain(|result| !idle(run, &result.key));
        }
        claims.retain(|key, _| !measured.contains(key));
        let (forest, contested) = self.cycle.forest_after(&goal, &mut kept, at.is_some())?;
        became.retain(|key, _| forest.fruits.contains_key(key) || contested.iter().any(|one| one.key == *key));
        claims.retain(|key, _| forest.fruits.contains_key(key));
        // Of an earlier commit nobody knows what files there were.
        let evidence = if at.is_none() { self.cycle.evidence_of_own_gates()? } else { None };
        Ok(ForestReport { goal: goal.to_string(), forest, evidence, contested, claims, became })
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
        self.cycle.open_handoffs()
    }

    /// What a deliberation that starts now waits for: another that is under way. `None`: nothing.
    ///
    /// # Errors
    /// The folder of the locks cannot be read.
    pub fn deliberation_under_way(&self) -> Result<Option<String>, BrainError> {
        if self.cycle.store.try_lock(LockName::Deliberation)?.is_some() {
            return Ok(None);
        }
        let asked = self.handoffs()?.iter().filter(|one| one.until.is_none()).count();
        let waits = match asked {
            0 => String::new(),
            count => format!(
                ", and waits for a person with {}: `git brain deliberate --handoffs`",
                crate::model::plural(count, "question", "questions")
            ),
        };
        Ok(Some(format!("another deliberation is under way{waits}; this one starts when it has ended")))
    }

    /// The questions that runs of agents left to a person: a sentence for each.
    pub(super) fn left_questions(&self) -> Result<Vec<String>, BrainError> {
        let minutes = self.cycle.deliberation_of_main()?.handoff_minutes;
        let left = self.handoffs()?.into_iter().filter(|one| one.until.is_some());
        let told = |one: Handoff| {
            format!(
                "the deliberation on {} waits for a person: question {} to the {}; answered within {minutes} minutes, its next run goes on with it: \
                 `git brain deliberate --handoffs`",
                one.goal,
                one.id,
                one.role.as_str()
            )
        };
        Ok(left.map(told).collect())
    }

    /// Answers one of them with a JSON document. The cycle that uses it comes from where the answer does; `None`: a person at this machine gives it.
    ///
    /// # Errors
    /// There is no such question (2).
    pub fn answer_handoff(&self, id: &str, answer: &str, from: Option<&Origin>) -> Result<(), BrainError> {
        if self.cycle.is_too_late(id)? {
            return Err(BrainError::Usage {
                message: format!("the time of question {id} is over, and no answer counts any more"),
                hint: Some("the next cycle asks again: `git brain deliberate --handoffs`".to_owned()),
            });
        }
        if let Some(why) = self.cycle.wrong_answer(id, answer)? {
            self.cycle.store.refuse_answer(id, &why);
            return Err(BrainError::Usage {
                message: format!("the answer to {id} is not of the form: {why}"),
                hint: Some("`git brain --json deliberate --handoffs` prints the schema".to_owned()),
            });
        }
        match self.cycle.store.answer_handoff(id, answer.as_bytes(), from.map(Origin::as_str))? {
            Answered::Now => Ok(()),
            Answered::Before => Err(BrainError::Usage {
                message: format!("question {id} has its answer already"),
                hint: Some("the first answer counts; `git brain deliberate --handoffs` lists what is open".to_owned()),
            }),
            Answered::NoQuestion => Err(BrainError::Usage {
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
        Action::ValidatePostSave if !event.reason.is_empty() => Some(event.reason.clone()),
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

/// The word that an enum is stored as.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
