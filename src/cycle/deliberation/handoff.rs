//! Handoffs: a question to a person or a watching agent, as a file beside the repository, and the answer as another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Job;
use crate::cycle::network::TreeNetwork;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::events::{Action, Event};
use crate::deliberation::gates::{ALIGNMENT, GateRecord};
use crate::deliberation::held;
use crate::deliberation::record::CycleRecord;
use crate::deliberation::roles::Role;
use crate::deliberation::tree::{HANDOFF, Step, Told, ToldStep, TreeDeliberation, Unanswered};
use crate::deliberation::verdict::{self, Alignment, Proposal, Said};
use crate::limits;
use crate::model::ids::{AgentName, hash_fields};
use crate::model::{Origin, Stamp};

/// How often it is looked for an answer.
const LOOK: Duration = Duration::from_millis(200);

/// A question that waits for somebody.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// Its id.
    pub id: String,
    /// `diverger` or `aligner`.
    pub role: Role,
    /// The goal.
    pub goal: String,
    /// The tree.
    pub tree: String,
    /// What is asked about.
    pub about: Value,
    /// The schema of the answer.
    pub schema: Value,
    /// Until when an answer counts, where no deliberation waits for it: a later run of the agent finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Stamp>,
}

/// A question before it is put.
struct Asked {
    id: String,
    role: Role,
    about: Value,
    schema: Value,
}

/// An answer, and the question that it was given to: as it was then.
struct Heard {
    asked: Handoff,
    said: String,
}

impl Handoff {
    /// The subject that events name: the candidate, or the tree.
    fn target(&self) -> String {
        match (self.role, self.proposal()) {
            (Role::Aligner, Some(proposal)) => proposal.key(),
            _ => self.tree.clone(),
        }
    }

    /// Whether an event of a cycle says that of it.
    fn is_told_by(&self, cycle: &CycleRecord, action: Action) -> bool {
        let target = self.target();
        let is_it = |event: &Event| event.action == action && event.role == self.role && event.target == target;
        cycle.events.iter().any(is_it)
    }

    /// The candidate that an aligner is asked about.
    pub(super) fn proposal(&self) -> Option<Proposal> {
        (self.role == Role::Aligner).then(|| serde_json::from_value(self.about["proposal"].clone()).ok()).flatten()
    }
}

/// The id of the question how far a mechanism and its evidence agree. The answer is about the mechanism, the payload, the rules of the gates and what each
/// of them decided: as long as these are the same it is the same question, whichever run asks it, on whichever tree. What else was learnt meanwhile moves
/// figures, and an answer says which ([`moved`]).
fn alignment_id(goal: &str, rules: &str, proposal: &Proposal, record: &GateRecord) -> String {
    let mechanism = serde_json::to_string(&proposal.mechanism).unwrap_or_default();
    let decided: Vec<String> = record.gates.iter().map(|gate| format!("{} {}", gate.name, gate.passed)).collect();
    let (key, decided) = (proposal.key(), decided.join("\n"));
    let fields = [goal, Role::Aligner.as_str(), &key, &mechanism, rules, &decided];
    format!("h-{:016x}", hash_fields(&fields.map(str::as_bytes)))
}

/// Figures of gates that are others than when a question was put; empty: none are.
fn moved(then: &Value, now: &GateRecord) -> String {
    let Ok(then) = GateRecord::deserialize(then) else { return String::new() };
    let was = |name: &str| then.gates.iter().find(|gate| gate.name == name).and_then(|gate| gate.figure);
    let told = |figure: Option<f64>| figure.map_or("nothing".to_owned(), |figure| figure.to_string());
    let others = now.gates.iter().filter(|gate| gate.name != ALIGNMENT && gate.figure != was(&gate.name));
    let said: Vec<String> = others
        .map(|gate| format!("{} was {} and is {}", gate.name, told(was(&gate.name)), told(gate.figure)))
        .collect();
    said.join(", ")
}

impl Cycle {
    /// Asks for alternatives. What was answered to a question of an earlier cycle on the tree counts: alternatives are hypotheses of their own.
    pub(super) fn hand_off_alternatives(
        &self,
        job: &Job<'_>,
        tree: &mut TreeDeliberation,
        id: &str,
        all: &[Proposal],
    ) -> Result<Told, CycleError> {
        let goal = job.question.goal.as_str();
        let keys: Vec<String> = all.iter().map(Proposal::key).collect();
        let mut fields = vec![goal.as_bytes(), id.as_bytes(), Role::Diverger.as_str().as_bytes()];
        fields.extend(keys.iter().map(String::as_bytes));
        let most = 2 * all.len();
        let asked = Asked {
            id: format!("h-{:016x}", hash_fields(&fields)),
            role: Role::Diverger,
            about: json!({"proposals": all}),
            schema: verdict::proposals_schema(&json!({"type": "object"}), (0, most)),
        };
        let mut earlier = None;
        for one in self.handoffs_of(goal)?.into_iter().filter(|one| one.role == Role::Diverger && one.tree == id) {
            match self.store.answered_handoff(&one.id)? {
                Some(answer) => earlier = Some(String::from_utf8_lossy(&answer).into_owned()),
                // Another cycle asked about other hypotheses: this question is in its place.
                None if one.until.is_some() && one.id != asked.id => self.store.forget_handoff(&one.id)?,
                None => {}
            }
        }
        let answer = match earlier {
            Some(said) => Some(said),
            None => self.hand_off(job, (tree, id), vec![asked])?.pop().flatten().map(|heard| heard.said),
        };
        Ok(match answer.map(|text| verdict::proposals(&text, usize::MAX).and_then(Said::whole)) {
            None if job.leaves() => Told::Left,
            None => Told::TimedOut,
            Some(Ok(proposals)) => Told::Proposals(proposals),
            Some(Err(error)) => Told::Malformed(error.to_string()),
        })
    }

    /// Asks for an alignment of each candidate, all at once.
    pub(super) fn hand_off_alignments(
        &self,
        job: &Job<'_>,
        tree: &mut TreeDeliberation,
        id: &str,
        all: &[(Proposal, GateRecord)],
    ) -> Result<Vec<Result<Alignment, Unanswered>>, CycleError> {
        let (goal, before) = (job.question.goal.as_str(), self.handoffs_of(job.question.goal.as_str())?);
        let mut asked = Vec::with_capacity(all.len());
        for (proposal, record) in all {
            let question = alignment_id(goal, job.rules, proposal, record);
            // Another tree of this cycle may be about to use its own.
            let is_same = |of: Proposal| of.key() == proposal.key();
            let is_of_it = |one: &&Handoff| one.id != question && one.tree == id && one.proposal().is_some_and(is_same);
            for other in before.iter().filter(is_of_it) {
                if self.store.answered_handoff(&other.id)?.is_some() {
                    let why = format!(
                        "the answer to {} does not count any more: the mechanism, the gates or what they decide are others now",
                        other.id
                    );
                    tree.hear(Role::Aligner, Action::HandoffResponse, &proposal.key(), &why);
                }
                self.store.forget_handoff(&other.id)?;
            }
            asked.push(Asked {
                id: question,
                role: Role::Aligner,
                about: json!({"proposal": proposal, "gates": record}),
                schema: verdict::alignment_schema(),
            });
        }
        let answers = self.hand_off(job, (tree, id), asked)?;
        let read = |(heard, (_, record)): (Option<Heard>, &(Proposal, GateRecord))| {
            let nobody = if job.leaves() { Unanswered::Left } else { Unanswered::TimedOut };
            let Heard { asked, said } = heard.ok_or(nobody)?;
            let mut alignment = verdict::alignment(&said).map_err(|error| Unanswered::Malformed(error.to_string()))?;
            let moved = moved(&asked.about["gates"], record);
            if !moved.is_empty() {
                alignment.reason += &format!(" (answered on other evidence: {moved})");
            }
            Ok(alignment)
        };
        Ok(answers.into_iter().zip(all).map(read).collect())
    }

    /// Puts questions, and waits for the answers: for all of them no longer than for one. A run of an agent waits for none: its questions stay. What was
    /// answered stays until the cycle is entered ([`Self::forget_used`]).
    fn hand_off(
        &self,
        job: &Job<'_>,
        (tree, id): (&mut TreeDeliberation, &str),
        all: Vec<Asked>,
    ) -> Result<Vec<Option<Heard>>, CycleError> {
        let (goal, minutes) = (job.question.goal.to_string(), job.settings.handoff_minutes);
        let later = self.shared.world.now().unix() + 60 * i64::from(minutes);
        let until = (!job.question.waits).then(|| Stamp::from_unix(later));
        let mut questions = Vec::with_capacity(all.len());
        for Asked { id: question, role, about, schema } in all {
            let before = self.handoffs()?.into_iter().find(|one| one.id == question);
            let has_answer = self.store.answered_handoff(&question)?.is_some();
            if let Some(before) = before.filter(|_| has_answer) {
                questions.push(before);
                continue;
            }
            let (goal, tree) = (goal.clone(), id.to_owned());
            let handoff = Handoff { id: question, role, goal, tree, about, schema, until };
            self.store.put_handoff(&handoff.id, &serde_json::to_vec_pretty(&handoff).unwrap_or_default())?;
            questions.push(handoff);
        }
        let looks_for = if job.question.waits { 60_000 * u64::from(minutes) / LOOK.as_millis() as u64 } else { 0 };
        let mut answers: Vec<Option<Heard>> = questions.iter().map(|_| None).collect();
        for look in 0..=looks_for {
            for (asked, answer) in questions.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                *answer = self
                    .store
                    .answered_handoff(&asked.id)?
                    .map(|said| Heard { asked: asked.clone(), said: String::from_utf8_lossy(&said).into_owned() });
            }
            if answers.iter().all(Option::is_some) {
                break;
            }
            if look < looks_for {
                std::thread::sleep(LOOK);
            }
        }
        for (asked, answer) in questions.iter().zip(&answers) {
            for why in self.store.refused_answers(&asked.id) {
                tree.hear(asked.role, Action::HandoffSchemaViolation, &asked.target(), &why);
            }
            if answer.is_none() && !job.leaves() {
                self.store.forget_handoff(&asked.id)?;
            }
        }
        Ok(answers)
    }

    /// The questions of a goal.
    pub(super) fn handoffs_of(&self, goal: &str) -> Result<Vec<Handoff>, CycleError> {
        Ok(self.handoffs()?.into_iter().filter(|one| one.goal == goal).collect())
    }

    /// The questions of a goal that have an answer, which no cycle has used yet.
    pub(super) fn answered_handoffs(&self, goal: &str) -> Result<Vec<Handoff>, CycleError> {
        let mut answered = Vec::new();
        for one in self.handoffs_of(goal)? {
            if self.store.answered_handoff(&one.id)?.is_some() {
                answered.push(one);
            }
        }
        Ok(answered)
    }

    /// The steps that tell of questions to which nobody gave an answer while one would have counted.
    pub(super) fn timed_out(&self, goal: &str, minutes: u32) -> Result<Vec<ToldStep>, CycleError> {
        let (now, mut steps) = (self.shared.world.now(), Vec::new());
        for one in self.handoffs_of(goal)? {
            if self.is_over(&one, now)? {
                let reason = format!("question {} had no answer within {minutes} minutes", one.id);
                let step = Step { inputs: json!({}), outputs: json!({"score": null}), reason };
                let (role, action) = (one.role, Action::HandoffTimeout);
                steps.push(ToldStep { agent: HANDOFF.to_owned(), role, action, target: one.target(), step });
            }
        }
        Ok(steps)
    }

    fn is_over(&self, one: &Handoff, now: Stamp) -> Result<bool, CycleError> {
        Ok(one.until.is_some_and(|until| until <= now) && self.store.answered_handoff(&one.id)?.is_none())
    }

    /// Where a cycle comes from: the answers to questions that it has, and the cycles of its goal that it goes on from.
    pub fn origin_of_cycle(&self, goal: &AgentName, cycle: &CycleRecord) -> Result<Origin, CycleError> {
        let mut origin = Origin::local();
        for one in self.handoffs_of(goal.as_str())? {
            if self.store.answered_handoff(&one.id)?.is_some() && one.is_told_by(cycle, Action::HandoffResponse) {
                for from in self.store.answer_is_from(&one.id)? {
                    let from = Origin::parse(&from)
                        .map_err(|why| CycleError::refused(format!("question {}: {why}", one.id)))?;
                    origin = origin.and(&from);
                }
            }
        }
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::new(&self.store, tree);
        for (run, _) in self.cycles_of(tree, goal)? {
            if let Some(record) = network.record(&run)? {
                origin = origin.and(&record.origin.passed_on());
            }
        }
        Ok(origin)
    }

    /// Forgets the questions whose answer a cycle has, which is entered now, and those that it says nobody answered.
    pub fn forget_used(&self, goal: &AgentName, cycle: &CycleRecord) -> Result<(), CycleError> {
        let now = self.shared.world.now();
        for one in self.handoffs_of(goal.as_str())? {
            let is_answered = self.store.answered_handoff(&one.id)?.is_some();
            if is_answered && one.is_told_by(cycle, Action::HandoffResponse)
                || self.is_over(&one, now)? && one.is_told_by(cycle, Action::HandoffTimeout)
            {
                self.store.forget_handoff(&one.id)?;
            }
        }
        Ok(())
    }

    /// Why an answer is none to that question; `None`: it is one, or there is no such question.
    pub fn wrong_answer(&self, id: &str, answer: &str) -> Result<Option<String>, CycleError> {
        let Some(asked) = self.handoffs()?.into_iter().find(|one| one.id == id) else { return Ok(None) };
        let document = match serde_json::from_str(answer) {
            Ok(document) => document,
            Err(error) => return Ok(Some(format!("line {}: {error}", error.line()))),
        };
        let read = match asked.role {
            Role::Diverger => verdict::proposals(answer, usize::MAX).and_then(Said::whole).map(drop),
            _ => verdict::alignment(answer).map(drop),
        };
        Ok(held::hold(&document, &asked.schema).and(read).err().map(|error| error.to_string()))
    }

    /// Whether a question is there to which no answer counts any more.
    pub fn is_too_late(&self, id: &str) -> Result<bool, CycleError> {
        let (now, asked) = (self.shared.world.now(), self.handoffs()?.into_iter().find(|one| one.id == id));
        asked.map_or(Ok(false), |one| self.is_over(&one, now))
    }

    /// Forgets the questions of a deliberation that was cut off. One that was answered meanwhile stays for the deliberation that asks it again. Only who
    /// alone deliberates may.
    pub fn forget_handoffs(&self) -> Result<(), CycleError> {
        for one in self.handoffs()?.into_iter().filter(|one| one.until.is_none()) {
            if self.store.answered_handoff(&one.id)?.is_none() {
                self.store.forget_handoff(&one.id)?;
            }
        }
        Ok(())
    }

    /// Those that have no answer yet, and for which one would count.
    pub fn open_handoffs(&self) -> Result<Vec<Handoff>, CycleError> {
        let (now, mut open) = (self.shared.world.now(), Vec::new());
        for one in self.handoffs()? {
            if one.until.is_none_or(|until| until > now) && self.store.answered_handoff(&one.id)?.is_none() {
                open.push(one);
            }
        }
        Ok(open)
    }

    /// The questions that wait for somebody, or for whoever reads the answer, by id.
    pub fn handoffs(&self) -> Result<Vec<Handoff>, CycleError> {
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        Ok(self.store.handoffs(limits::DELIBERATION_BYTES)?.into_iter().filter_map(read).collect())
    }
}
