//! The deliberation of one tree, as a state machine that is driven from outside: it says what it wants, and is told what came of it.
//!
//! ```text
//! mine ─▶ critique ⇄ revise ─▶ diverge ─▶ inspect ─▶ nursery ─▶ examine ─▶ challenge ─▶ align ─▶ classes
//! ```
//!
//! A want is a batch: its members may be asked side by side, and are told all at once, in its order. So nobody sees another's answer
//! before his own is given, and what comes of it does not depend on who was done first. A mind that cannot be reached ends the tree, and
//! with it the cycle.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::classes::{Class, classify};
use super::events::Action;
use super::gates::GateRecord;
use super::likeness;
use super::nursery::{Fate, Report, nurse};
use super::record::{Amendment, ResultRecord};
use super::roles::{Cast, Role};
use super::seeds::Kept;
pub use super::steps::{Grown, Step, ToldStep, TreeError};
use super::verdict::{Alignment, Decision, Judgement, Proposal, Verdict};
pub use super::wants::{Told, Unanswered, Want};
use crate::model::deliberation::{Deliberation, Severity};

#[derive(Clone, Debug)]
struct Hypothesis {
    proposal: Proposal,
    /// The gardener, or the diverger.
    by: Role,
    /// True once a skeptic let it proceed, or there is no more to say of it.
    is_settled: bool,
    uncritiqued: bool,
    weaknesses: Vec<String>,
}

/// The deliberation of one tree.
#[derive(Clone, Debug)]
pub struct TreeDeliberation {
    tree: String,
    rounds: u32,
    cull: Severity,
    settings: Deliberation,
    cast: Cast,
    closed: BTreeSet<String>,
    round: u32,
    hypotheses: Vec<Hypothesis>,
    refused: Vec<(Proposal, Vec<String>)>,
    judged: Vec<(Hypothesis, Judgement, Report)>,
    records: Vec<(usize, GateRecord, Vec<Verdict>)>,
    amendments: Vec<Amendment>,
    told: Vec<ToldStep>,
    want: Want,
    /// Keys of candidates of earlier cycles that a person has answered about, and that this cycle has not used the answer of.
    answered: BTreeSet<String>,
    /// Whether questions to a person are left for a later cycle.
    leaves: bool,
    /// Whether alternatives to an earlier cycle's hypotheses were answered: they count also where there are none now.
    alternatives: bool,
    /// Memories that judges alone see: what names one of them leaks.
    sealed: BTreeSet<String>,
    /// Proposals of the last answer that had no form.
    left_out: Vec<String>,
}

impl TreeDeliberation {
    /// Starts with the seeds of a tree, and wants the rest of its share mined.
    pub fn new(
        tree: &str,
        (share, temperature): (u32, f64),
        seeds: Vec<Proposal>,
        closed: &BTreeSet<String>,
        cast: &Cast,
        settings: &Deliberation,
    ) -> Self {
        let share = share as usize;
        // Half of a share at most comes from the bank, so that something new is tried.
        let hypotheses: Vec<Hypothesis> =
            seeds.into_iter().take(share / 2).map(|seed| Hypothesis::new(seed, Role::Gardener)).collect();
        let count = share - hypotheses.len();
        Self {
            tree: tree.to_owned(),
            rounds: if cast.skeptic.is_some() { settings.max_debate_rounds } else { 0 },
            cull: settings.cull_severity,
            settings: settings.clone(),
            cast: cast.clone(),
            closed: closed.clone(),
            round: 0,
            hypotheses,
            refused: Vec::new(),
            judged: Vec::new(),
            records: Vec::new(),
            amendments: Vec::new(),
            told: Vec::new(),
            want: Want::Mine { count, temperature },
            answered: BTreeSet::new(),
            leaves: false,
            alternatives: false,
            sealed: BTreeSet::new(),
            left_out: Vec::new(),
        }
    }

    /// Begins with candidates of earlier cycles that a person has answered about. They were debated there, and are beside the half of the bank.
    #[must_use]
    pub fn going_on_with(mut self, answered: Vec<Proposal>) -> Self {
        let Want::Mine { count, temperature } = self.want else { return self };
        let (share, seeds) = (count + self.hypotheses.len(), std::mem::take(&mut self.hypotheses));
        for proposal in answered {
            self.answered.insert(proposal.key());
            self.add(proposal, Role::Gardener);
        }
        self.hypotheses.iter_mut().for_each(|one| one.is_settled = true);
        let room = share.saturating_sub(self.hypotheses.len());
        for seed in seeds.into_iter().take(room / 2) {
            self.add(seed.proposal, Role::Gardener);
        }
        match share.saturating_sub(self.hypotheses.len()) {
            0 => self.next_round(),
            count => self.want = Want::Mine { count, temperature },
        }
        self
    }

    /// Leaves questions to a person for a later cycle, as runs of agents do; `alternatives`: one of an earlier cycle has been answered.
    #[must_use]
    pub fn with_questions(mut self, leaves: bool, alternatives: bool) -> Self {
        (self.leaves, self.alternatives) = (leaves, alternatives);
        self
    }

    /// Holds hypotheses against memories that judges alone see.
    #[must_use]
    pub fn with_sealed(mut self, sealed: BTreeSet<String>) -> Self {
        self.sealed = sealed;
        self
    }

    /// Says what the next answer had beside its proposals: some without a form.
    pub fn leave_out(&mut self, faults: Vec<String>) {
        self.left_out = faults;
    }

    /// Enters what became of an answer of a person that is none: it had no form, or does not count any more.
    pub fn hear(&mut self, role: Role, action: Action, target: &str, why: &str) {
        if action == Action::HandoffResponse {
            self.answered.remove(target);
        }
        self.enter(role, action, target, (json!({}), json!({"score": null}), why));
    }

    /// What it wants next.
    pub fn want(&self) -> &Want {
        &self.want
    }

    /// Takes what came of it.
    ///
    /// # Errors
    /// A mind that cannot be reached, or an answer to another question.
    pub fn take(&mut self, told: Told) -> Result<(), TreeError> {
        if let Told::Unreachable(role, why) = told {
            return Err(TreeError::Unreachable { role, why });
        }
        match (std::mem::replace(&mut self.want, Want::Done), told) {
            (Want::Mine { count, temperature }, Told::Proposals(proposals)) => {
                self.mined(count, temperature, proposals, "")
            }
            (Want::Mine { count, temperature }, Told::Malformed(why)) => {
                self.mined(count, temperature, Vec::new(), &format!("the answer had no form: {why}"))
            }
            (Want::Critique(asked), Told::Verdicts(verdicts)) if asked.len() == verdicts.len() => {
                self.critiqued(verdicts)
            }
            (Want::Revise { of, .. }, Told::Replacements(new)) if of.len() == new.len() => self.revised(new),
            (Want::Diverge(asked), Told::Proposals(more)) => self.diverged(asked.len(), more),
            (Want::Diverge(_), Told::Left) => self.inspect(),
            (Want::Diverge(_), Told::TimedOut) => self.not_diverged(Action::HandoffTimeout, String::new()),
            (Want::Diverge(_), Told::Malformed(why)) => self.not_diverged(Action::HandoffSchemaViolation, why),
            (Want::Inspect(asked), Told::Judgements(judged)) if asked.len() == judged.len() => self.inspected(judged),
            (Want::Examine(asked), Told::Records(records)) if asked.len() == records.len() => self.examined(records),
            (Want::Challenge(asked), Told::Verdicts(verdicts)) if asked.len() == verdicts.len() => {
                self.challenged(verdicts);
            }
            (Want::Align(asked), Told::Alignments(aligned)) if asked.len() == aligned.len() => self.aligned(aligned),
            (want, _) => return Err(TreeError::Mismatch(want.name())),
        }
        Ok(())
    }

    /// The steps so far.
    pub fn steps(&self) -> &[ToldStep] {
        &self.told
    }

    /// What it gave, once it is done.
    pub fn grown(self) -> Grown {
        let mut leaves = Vec::new();
        let mut records = self.records.into_iter().peekable();
        for (at, (hypothesis, judgement, nursery)) in self.judged.into_iter().enumerate() {
            let examined = records.next_if(|(of, ..)| *of == at);
            let is_sick = nursery.fate == Fate::Quarantine;
            let (record, risks) = examined.map_or((None, Vec::new()), |(_, record, risks)| (Some(record), risks));
            let class = match (&record, nursery.fate) {
                (Some(record), _) => classify(record, is_sick),
                (None, Fate::Quarantine) => Class::SickLeaf,
                (None, Fate::Reject) => Class::DeadLeaf,
                (None, _) => Class::NormalLeaf,
            };
            let kept = match nursery.fate {
                Fate::Hold => Some(Kept::Hold),
                Fate::Dormant => Some(Kept::Dormant),
                _ => None,
            };
            let result = ResultRecord {
                key: hypothesis.proposal.key(),
                by: (hypothesis.by != Role::Gardener).then_some(hypothesis.by),
                tree: self.tree.clone(),
                proposal: hypothesis.proposal,
                uncritiqued: hypothesis.uncritiqued,
                nursery,
                is_sick,
                record,
                asked_again: false,
                class,
                risks,
            };
            leaves.push((result, judgement, kept));
        }
        Grown { tree: self.tree, leaves, amendments: self.amendments, told: self.told }
    }

    fn enter(&mut self, role: Role, action: Action, target: &str, (inputs, outputs, reason): (Value, Value, &str)) {
        let agent = match role {
            Role::Gardener => self.cast.gardener.mind.clone(),
            Role::Inspector => self.cast.inspector.mind.clone(),
            Role::Aligner => self.cast.aligner.mind.clone(),
            Role::Skeptic => self.cast.skeptic.as_ref().map(|member| member.mind.clone()).unwrap_or_default(),
            Role::Diverger => self.cast.diverger.as_ref().map(|member| member.mind.clone()).unwrap_or_default(),
            Role::Coordinator | Role::Meteorologist | Role::Examiner => "rules".to_owned(),
        };
        let step = Step { inputs, outputs, reason: reason.to_owned() };
        self.told.push(ToldStep { agent, role, action, target: target.to_owned(), step });
    }

    /// Whether two proposals say the same: deltas of the brain where they differ in weights alone, what other gates judge only as it is.
    fn is_same(&self, one: &Proposal, other: &Proposal) -> bool {
        let (one, other) = (&one.payload, &other.payload);
        if self.settings.gates.brain { likeness::is_same(one, other) } else { one == other }
    }

    /// A new hypothesis, unless it is here already or never comes back.
    fn add(&mut self, proposal: Proposal, by: Role) -> bool {
        let is_same = |one: &Hypothesis| self.is_same(&one.proposal, &proposal);
        let is_new = !self.closed.contains(&proposal.key()) && !self.hypotheses.iter().any(is_same);
        if is_new {
            self.hypotheses.push(Hypothesis::new(proposal, by));
        }
        is_new
    }

    fn mined(&mut self, count: usize, temperature: f64, proposals: Vec<Proposal>, why: &str) {
        let seeds = self.hypotheses.len();
        let (said, all) = (proposals.len().min(count), self.hypotheses.len());
        let new =
            proposals.into_iter().take(count).filter(|proposal| self.add(proposal.clone(), Role::Gardener)).count();
        let tree = self.tree.clone();
        let why = match (why.is_empty(), new + all) {
            (true, 0) if said > 0 => {
                format!("{said} proposed, and all are closed or were measured on the same evidence")
            }
            (true, 0) => "proposed nothing".to_owned(),
            _ => why.to_owned(),
        };
        let why = self.with_left_out(why);
        let names: Vec<String> = self.hypotheses.iter().map(|one| one.proposal.mechanism.name.clone()).collect();
        let inputs = json!({"asked": count, "temperature": temperature, "seeds": seeds});
        self.enter(
            Role::Gardener,
            Action::Mine,
            &tree,
            (inputs, json!({"new": new, "hypotheses": names}), why.as_str()),
        );
        self.next_round();
    }

    /// A reason, and what of the answer had no form.
    fn with_left_out(&mut self, why: String) -> String {
        let faults = std::mem::take(&mut self.left_out);
        if faults.is_empty() {
            return why;
        }
        let said = format!("left out, without a form: {}", faults.join("; "));
        if why.is_empty() { said } else { format!("{why}; {said}") }
    }

    fn open(&self) -> impl Iterator<Item = &Hypothesis> {
        self.hypotheses.iter().filter(|one| !one.is_settled)
    }

    fn next_round(&mut self) {
        self.round += 1;
        if self.round <= self.rounds && self.open().next().is_some() {
            self.want = Want::Critique(self.open().map(|one| one.proposal.clone()).collect());
        } else {
            self.after_debate();
        }
    }

    fn critiqued(&mut self, verdicts: Vec<Verdict>) {
        let (asked, tree) = (verdicts.len(), self.tree.clone());
        let (mut culled, mut revised, mut proceeded) = (Vec::new(), Vec::new(), Vec::new());
        let mut verdicts = verdicts.into_iter();
        for at in 0..self.hypotheses.len() {
            if self.hypotheses[at].is_settled {
                continue;
            }
            let Some(verdict) = verdicts.next() else { break };
            let key = self.hypotheses[at].proposal.key();
            let name = &self.hypotheses[at].proposal.mechanism.name;
            let told = json!({"kind": "hypothesis", "name": name, "verdict": verdict.verdict, "severity": verdict.severity, "risks": verdict.weaknesses});
            self.enter(Role::Skeptic, Action::SkepticChallenge, &key, (json!({"round": self.round}), told, ""));
            match verdict.verdict {
                Decision::Reject if verdict.severity >= self.cull => {
                    self.refused.push((self.hypotheses[at].proposal.clone(), verdict.weaknesses));
                    culled.push(key);
                }
                Decision::Proceed => {
                    self.hypotheses[at].is_settled = true;
                    proceeded.push(key);
                }
                Decision::Reject | Decision::Revise => {
                    self.hypotheses[at].weaknesses = verdict.weaknesses;
                    revised.push(key);
                }
            }
        }
        let outputs = json!({
            "round": self.round, "in": asked, "culled": culled.len(), "revised": revised.len(), "proceeded": proceeded.len(),
        });
        self.enter(Role::Skeptic, Action::DebateRound, &tree, (json!({"culled": culled}), outputs, ""));
        self.hypotheses.retain(|one| !culled.contains(&one.proposal.key()));
        if self.open().next().is_none() {
            self.after_debate();
        } else {
            let open = self.open().map(|one| (one.proposal.clone(), one.weaknesses.clone()));
            self.want = Want::Revise { of: open.collect(), refused: self.refused.clone() };
        }
    }

    fn revised(&mut self, replacements: Vec<Option<Proposal>>) {
        let is_last = self.round >= self.rounds;
        let (why, tree) = (self.with_left_out(String::new()), self.tree.clone());
        if !why.is_empty() {
            let (asked, said) = (replacements.len(), replacements.iter().flatten().count());
            let told = (json!({"asked": asked}), json!({"replacements": said}), why.as_str());
            self.enter(Role::Gardener, Action::Mine, &tree, told);
        }
        let mut replacements = replacements.into_iter();
        for at in 0..self.hypotheses.len() {
            if self.hypotheses[at].is_settled {
                continue;
            }
            let Some(replacement) = replacements.next() else { break };
            let is_new = |proposal: &Proposal| {
                !self.closed.contains(&proposal.key())
                    && !self.hypotheses.iter().any(|one| self.is_same(&one.proposal, proposal))
                    && !self.refused.iter().any(|(one, _)| self.is_same(one, proposal))
            };
            match replacement.filter(is_new) {
                Some(proposal) => {
                    let new = Hypothesis { uncritiqued: is_last, ..Hypothesis::new(proposal, Role::Gardener) };
                    let old = std::mem::replace(&mut self.hypotheses[at], new);
                    self.refused.push((old.proposal, old.weaknesses));
                }
                // The gardener has nothing better: the hypothesis stays as it is.
                None => self.hypotheses[at].is_settled = true,
            }
        }
        self.next_round();
    }

    fn proposals(&self) -> Vec<Proposal> {
        self.hypotheses.iter().map(|one| one.proposal.clone()).collect()
    }

    fn after_debate(&mut self) {
        if self.cast.diverger.is_some() && (self.alternatives || !self.hypotheses.is_empty()) {
            let tree = self.tree.clone();
            if self.hands_off(Role::Diverger) {
                let inputs = json!({"hypotheses": self.hypotheses.len()});
                self.enter(
                    Role::Coordinator,
                    Action::HandoffRequest,
                    &tree,
                    (inputs, self.question_to("diverger"), self.why_left()),
                );
            }
            self.want = Want::Diverge(self.proposals());
        } else {
            self.inspect();
        }
    }

    fn hands_off(&self, role: Role) -> bool {
        let member = if role == Role::Aligner { Some(&self.cast.aligner) } else { self.cast.diverger.as_ref() };
        member.is_some_and(|member| member.mind == HANDOFF)
    }

    fn diverged(&mut self, asked: usize, more: Vec<Proposal>) {
        let tree = self.tree.clone();
        let added = |proposal: Proposal| {
            let name = proposal.mechanism.name.clone();
            self.add(proposal, Role::Diverger).then_some(name)
        };
        let names: Vec<String> = more.into_iter().filter_map(added).collect();
        let action = if self.hands_off(Role::Diverger) { Action::HandoffResponse } else { Action::Diverge };
        let why = self.with_left_out(String::new());
        let told = (json!({"hypotheses": asked}), json!({"new": names.len(), "hypotheses": names}), why.as_str());
        self.enter(Role::Diverger, action, &tree, told);
        self.inspect();
    }

    fn not_diverged(&mut self, action: Action, why: String) {
        let tree = self.tree.clone();
        self.enter(Role::Diverger, action, &tree, (json!({}), json!({}), &why));
        self.inspect();
    }

    fn inspect(&mut self) {
        match self.hypotheses.is_empty() {
            true => self.end(),
            false => self.want = Want::Inspect(self.proposals()),
        }
    }

    fn inspected(&mut self, judgements: Vec<Option<Judgement>>) {
        let hypotheses = std::mem::take(&mut self.hypotheses);
        for (hypothesis, judgement) in hypotheses.into_iter().zip(judgements) {
            let key = hypothesis.proposal.key();
            let reason = if judgement.is_none() { "the answer had no form" } else { "" };
            let judgement = judgement.unwrap_or_default();
            let told = serde_json::to_value(&judgement).unwrap_or_default();
            self.enter(Role::Inspector, Action::Judge, &key, (json!({}), told, reason));
            let leaks = likeness::names_any(&hypothesis.proposal.payload, &self.sealed);
            let nursery = nurse(&hypothesis.proposal, &judgement, true, leaks);
            let failed: Vec<&str> =
                nursery.checks.iter().filter(|check| !check.passed).map(|check| check.name.as_str()).collect();
            self.enter(
                Role::Examiner,
                Action::NurseryCheck,
                &key,
                (json!({}), json!({"fate": nursery.fate, "failed": failed}), ""),
            );
            self.judged.push((hypothesis, judgement, nursery));
        }
        let sprouts: Vec<Proposal> = self.sprouts().map(|at| self.judged[at].0.proposal.clone()).collect();
        match sprouts.is_empty() {
            true => self.end(),
            false => self.want = Want::Examine(sprouts),
        }
    }

    fn sprouts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.judged.len()).filter(|at| self.judged[*at].2.fate == Fate::Sprout)
    }

    fn examined(&mut self, records: Vec<GateRecord>) {
        let sprouts: Vec<usize> = self.sprouts().collect();
        for (at, record) in sprouts.into_iter().zip(records) {
            let failed: Vec<&str> =
                record.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.name.as_str()).collect();
            let told = (json!({"domain": record.domain}), json!({"failed": failed, "mode": record.execution_mode}), "");
            let key = record.candidate.clone();
            self.enter(Role::Examiner, Action::Evaluate, &key, told);
            self.records.push((at, record, Vec::new()));
        }
        match !self.candidates().is_empty() && self.cast.skeptic.is_some() {
            true => self.want = Want::Challenge(self.candidates()),
            false => self.align(),
        }
    }

    /// Those that passed all gates but the handoff.
    fn candidates(&self) -> Vec<(Proposal, GateRecord)> {
        let passed = self.records.iter().filter(|(_, record, _)| record.passes_all_but_alignment());
        passed.map(|(at, record, _)| (self.judged[*at].0.proposal.clone(), record.clone())).collect()
    }

    /// Keeps what the skeptic says beside the records, which it cannot reach.
    fn challenged(&mut self, verdicts: Vec<Verdict>) {
        let candidates: Vec<usize> =
            (0..self.records.len()).filter(|n| self.records[*n].1.passes_all_but_alignment()).collect();
        for (n, verdict) in candidates.into_iter().zip(verdicts) {
            let key = self.records[n].1.candidate.clone();
            let told = json!({"kind": "fruit_candidate", "verdict": verdict.verdict, "severity": verdict.severity, "risks": verdict.weaknesses});
            self.enter(Role::Skeptic, Action::SkepticChallenge, &key, (json!({}), told, "recorded only"));
            if verdict.verdict == Decision::Reject {
                let text = format!("a gate should have stopped this: {}", verdict.weaknesses.join("; "));
                self.amendments.push(Amendment { candidate: key, text });
            }
            self.records[n].2.push(verdict);
        }
        self.align();
    }

    fn align(&mut self) {
        if self.hands_off(Role::Aligner) {
            for (_, record) in self.to_align() {
                let told = (json!({}), self.question_to("aligner"), self.why_left());
                self.enter(Role::Coordinator, Action::HandoffRequest, &record.candidate, told);
            }
        }
        self.want = match self.to_align() {
            none if none.is_empty() => return self.classes(),
            some => Want::Align(some),
        };
    }

    fn question_to(&self, role: &str) -> Value {
        json!({"to": role, "minutes": self.settings.handoff_minutes, "waits": !self.leaves})
    }

    fn why_left(&self) -> &'static str {
        if self.leaves {
            "this cycle does not wait for the answer: the next one on this tree goes on with it"
        } else {
            ""
        }
    }

    /// Those that the aligner is asked of, as he sees them: where gates are hidden, all that pass the others, without the hidden ones.
    fn to_align(&self) -> Vec<(Proposal, GateRecord)> {
        let asked = self.records.iter().filter(|(_, record, _)| record.asks_aligner(&self.settings));
        let shown = |record: &GateRecord| record.without_hidden(&self.settings);
        asked.map(|(at, record, _)| (self.judged[*at].0.proposal.clone(), shown(record))).collect()
    }

    fn aligned(&mut self, alignments: Vec<Result<Alignment, Unanswered>>) {
        let is_handoff = self.hands_off(Role::Aligner);
        let candidates: Vec<usize> =
            (0..self.records.len()).filter(|n| self.records[*n].1.asks_aligner(&self.settings)).collect();
        for (n, alignment) in candidates.into_iter().zip(alignments) {
            let key = self.records[n].1.candidate.clone();
            let answered = if is_handoff { Action::HandoffResponse } else { Action::Align };
            if is_handoff && alignment.is_ok() {
                self.answered.remove(&key);
            }
            let (action, score, reason) = match alignment {
                Ok(one) => (answered, Some(one.score), one.reason),
                Err(Unanswered::Left) => continue,
                Err(Unanswered::TimedOut) => (Action::HandoffTimeout, None, String::new()),
                Err(Unanswered::Malformed(why)) => (Action::HandoffSchemaViolation, None, why),
            };
            self.enter(Role::Aligner, action, &key, (json!({}), json!({"score": score}), &reason));
            self.records[n].1.align(score, self.settings.gates.alignment, &reason);
        }
        self.classes();
    }

    fn classes(&mut self) {
        for n in 0..self.records.len() {
            let (_, record, _) = &self.records[n];
            let (key, class) = (record.candidate.clone(), classify(record, false));
            self.enter(Role::Coordinator, Action::Classify, &key, (json!({}), json!({"class": class}), ""));
        }
        self.end();
    }

    /// Ends, and says of answers that were not used why: a person gave them.
    fn end(&mut self) {
        self.want = Want::Done;
        for key in std::mem::take(&mut self.answered) {
            let record =
                self.records.iter().find(|(_, record, _)| record.candidate == key).map(|(_, record, _)| record);
            let shown = record.map(|record| record.without_hidden(&self.settings));
            let failed = shown.iter().flat_map(|record| &record.gates).filter(|gate| gate.hard && !gate.passed);
            let failed: Vec<String> = failed.map(|gate| gate.name.clone()).collect();
            let why = match (failed.is_empty(), self.judged.iter().any(|(one, ..)| one.proposal.key() == key)) {
                (false, _) => format!("the answer was not used: measured again, it fails {}", failed.join(", ")),
                (true, true) => "the answer was not used: nothing is asked about it".to_owned(),
                (true, false) => {
                    "the answer was not used: it is closed, or was measured on the same evidence".to_owned()
                }
            };
            self.hear(Role::Aligner, Action::HandoffResponse, &key, &why);
        }
    }
}

/// The mind that stands for a watching person or agent.
pub const HANDOFF: &str = "handoff";

impl Hypothesis {
    fn new(proposal: Proposal, by: Role) -> Self {
        Self { proposal, by, is_settled: false, uncritiqued: false, weaknesses: Vec::new() }
    }
}
