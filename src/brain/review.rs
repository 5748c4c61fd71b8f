//! Review: the runs that wait, each as a belief diff; and what a person decides: recorded, landed or thrown away, and learnt from.

use serde::Serialize;

use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::cycle::commit::Draft;
use crate::cycle::judging::Corrective;
use crate::cycle::merge::Fate;
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::WaitingRun;
use crate::cycle::{EVALUATOR, quoted};
use crate::delta::{Document, Operation, RunRecord};
use crate::limits;
use crate::merge::Conflict;
use crate::model::ids::{AgentName, RunId};
use crate::model::{json, plural};
use crate::review::belief::{outline, touches};
use crate::review::{Answered, Belief, ChangeKind, Question, Resolution, ReviewRecord, Take, Verdict};
use crate::store::CommitId;

/// Answers of recall that are compared before and after a change.
const ANSWERS: usize = 3;

/// A run that waits, in a line.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewLine {
    /// Its branch.
    pub branch: String,
    /// The run.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// Why it waits: `asked`, `origin`, `conflict`, `rule NAME`; `pending`: it waits for no person.
    pub waits: String,
    /// Its clock, RFC 3339.
    pub at: String,
    /// How consequential it is.
    pub consequence: f64,
    /// What it expected as a number, 0..=1.
    pub expected: Option<f64>,
    /// What it changes.
    pub changes: String,
    /// Addresses of the people who may decide; empty: everybody.
    pub reviewers: Vec<String>,
    /// Why it cannot be read, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// The runs that wait, the most consequential first.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewList {
    /// Those runs.
    pub waiting: Vec<ReviewLine>,
}

/// What a person decides.
#[derive(Clone, Debug)]
pub struct ReviewRequest {
    /// The run, by its branch or its id.
    pub run: String,
    /// Approve or reject; what is kept or edited makes an approval an amendment.
    pub verdict: Verdict,
    /// Why, in words.
    pub why: String,
    /// The numbers of the operations that land, from 1; empty: all.
    pub only: Vec<usize>,
    /// Conflicts that are settled: `run`, `wake`, or `N=run`.
    pub take: Vec<String>,
    /// What lands instead, as a delta document.
    pub document: Option<String>,
    /// The commit that was looked at: the decision is refused if the branch has moved since.
    pub seen: Option<String>,
    /// Where the decision was made: `cli`, or the address of a request.
    pub via: String,
    /// Write nothing.
    pub dry_run: bool,
}

impl ReviewRequest {
    /// A decision about a whole run, made here.
    pub fn new(run: &str, verdict: Verdict, why: &str) -> Self {
        Self {
            run: run.to_owned(),
            verdict,
            why: why.to_owned(),
            only: Vec::new(),
            take: Vec::new(),
            document: None,
            seen: None,
            via: "cli".to_owned(),
            dry_run: false,
        }
    }
}

/// What came of a decision.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewReport {
    /// The run.
    pub run: String,
    /// Its branch; gone once the decision is carried out.
    pub branch: String,
    /// What was decided.
    pub verdict: Verdict,
    /// The review's id, in `refs/brain/reviews`.
    pub review: String,
    /// Who decided.
    pub reviewer: String,
    /// Of an amendment, the run that landed in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
    /// What the run had expected, if it expected something.
    pub expected: Option<f64>,
    /// What the decision is worth, 0..=1.
    pub value: f64,
    /// The prediction error that its pathway learns from; null where nothing is learnt.
    pub error: Option<f64>,
    /// Connections that learn from it.
    pub credited: usize,
    /// True if a rejection is recorded for all machines.
    pub everywhere: bool,
    /// Wake's tip.
    pub wake: String,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// True if nothing was written.
    pub dry_run: bool,
}

/// What a decision means for the operations of a run.
struct Meant {
    verdict: Verdict,
    kept: Vec<usize>,
    document: Option<Document>,
    resolved: Vec<Resolution>,
}

impl Brain {
    /// The runs that wait, the most consequential first. Costs one small record for each.
    pub fn reviews(&self) -> Result<ReviewList, BrainError> {
        let review = &self.cycle.shared.policy.settings.review;
        let mut waiting = Vec::new();
        for run in self.cycle.waiting_runs()? {
            let reviewers = review.reviewers_of(run.rule()).to_vec();
            let mut line = ReviewLine {
                branch: run.branch.to_string(),
                run: run.run.to_string(),
                agent: run.run.agent().to_string(),
                waits: run.waits.clone(),
                at: String::new(),
                consequence: 0.0,
                expected: None,
                changes: String::new(),
                reviewers,
                broken: None,
            };
            // One that cannot be read hides no other.
            match self.cycle.weighed(&run) {
                Ok((weight, record)) => {
                    line.consequence = weight;
                    line.at = record.at.to_string();
                    line.expected = record.prediction.as_ref().and_then(|prediction| prediction.value);
                    line.changes = outline(&record);
                }
                Err(error) => line.broken = Some(error.to_string()),
            }
            waiting.push(line);
        }
        waiting.sort_by(|a, b| b.consequence.total_cmp(&a.consequence).then_with(|| a.run.cmp(&b.run)));
        Ok(ReviewList { waiting })
    }

    /// What a run changes, as a belief diff: one that waits, or one of wake. With `ask`, what recall would answer differently.
    ///
    /// # Errors
    /// There is no such run (exit code 2).
    pub fn review(&self, name: &str, ask: bool) -> Result<Belief, BrainError> {
        if let Some(waiting) = self.cycle.waiting_named(name)? {
            let mut belief = self.cycle.belief(&waiting)?;
            if ask && let Some(base) = waiting.commit.parents.first() {
                self.ask_both(&mut belief, *base, waiting.commit.id)?;
            }
            return Ok(belief);
        }
        let last = name.rsplit('/').next().unwrap_or(name);
        let unknown = |message: String| BrainError::Usage {
            message,
            hint: Some("`git brain review` lists the runs that wait, `git brain log` those of wake".to_owned()),
        };
        let run = RunId::parse(last).map_err(|_| unknown(format!("{name} is no run, and no branch of one")))?;
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        match network.record(&run)? {
            Some(record) => Ok(self.cycle.belief_of_merged(&record, wake)?),
            None => Err(unknown(format!("there is no run {run}, neither waiting nor in wake"))),
        }
    }

    /// Asks recall the questions that a change touches, before and after it, and keeps those whose answers differ.
    fn ask_both(&self, belief: &mut Belief, before: CommitId, after: CommitId) -> Result<(), BrainError> {
        let mut questions: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() && !questions.contains(&text) && questions.len() < limits::REVIEW_QUESTIONS {
                questions.push(text);
            }
        };
        for change in &belief.neurons {
            let whole = change.words.iter().filter(|part| part.became != crate::review::words::Became::Added);
            let old: String = whole.map(|part| part.text.as_str()).collect();
            match change.what {
                ChangeKind::Archived | ChangeKind::Removed => add(&change.concept),
                ChangeKind::Changed if !change.words.is_empty() => add(&old),
                ChangeKind::Born if change.kind == "semantic" => add(&change.concept),
                _ => {}
            }
        }
        // Names that new memories are about.
        for change in belief.neurons.iter().filter(|change| change.what == ChangeKind::Born) {
            let ties = change.ties.iter().filter_map(|tie| tie.concept.as_deref());
            ties.filter(|concept| concept.len() <= limits::LABEL_BYTES).for_each(&mut add);
            if change.kind == "episodic" {
                add(&change.concept);
            }
        }
        if questions.is_empty() {
            return Ok(());
        }
        let (old, new) = (self.snapshot_of(before)?, self.snapshot_of(after)?);
        for question in questions {
            let answers = |commit, snapshot: &_| -> Result<Vec<Answered>, BrainError> {
                let filters = crate::activation::recall::Filters { top: Some(ANSWERS), ..Default::default() };
                let now = self.cycle.shared.world.now();
                let (found, _) = self.cycle.recall(commit, snapshot, &question, filters, now, &mut |_, _| ())?;
                Ok(found
                    .into_iter()
                    .map(|one| Answered { id: one.neuron.id.to_string(), text: one.neuron.concept.clone() })
                    .collect())
            };
            let (was, is) = (answers(before, &old)?, answers(after, &new)?);
            if was != is {
                belief.questions.push(Question { question, before: was, after: is });
            }
        }
        Ok(())
    }

    /// The decisions that were made, newest first.
    pub fn decisions(&self, most: usize) -> Result<Vec<ReviewRecord>, BrainError> {
        Ok(self.cycle.newest_reviews(most)?)
    }

    /// The decisions about a run, oldest first.
    pub fn decisions_on(&self, run: &str) -> Result<Vec<ReviewRecord>, BrainError> {
        let run = RunId::parse(run).map_err(|e| BrainError::usage(e.to_string()))?;
        Ok(self.cycle.reviews_of(&run)?)
    }

    /// A run's operations as the delta document that a person edits.
    pub fn document_of(&self, name: &str) -> Result<String, BrainError> {
        let waiting = self.need_waiting(name)?;
        let record = self.cycle.waiting_record(&waiting)?;
        let ops = record.ops.into_iter().filter(lands).collect();
        let document = Document { agent: None, prediction: None, ops };
        Ok(String::from_utf8_lossy(&json::pretty(&document)).into_owned())
    }

    fn need_waiting(&self, name: &str) -> Result<WaitingRun, BrainError> {
        self.cycle.waiting_named(name)?.ok_or_else(|| BrainError::Usage {
            message: format!("{name} is no run that waits"),
            hint: Some("`git brain review` lists the runs that wait".to_owned()),
        })
    }

    /// Carries a decision out: the review is recorded, the run lands or is thrown away, and its pathway learns. Cut off anywhere, the
    /// same decision goes on where it was.
    ///
    /// # Errors
    /// No such run waits (2); the reviewer may not decide, the branch has moved since it was looked at, or it conflicts with wake (3).
    pub fn decide_run(&self, request: &ReviewRequest) -> Result<ReviewReport, BrainError> {
        let Some(waiting) = self.cycle.waiting_named(&request.run)? else {
            return self.finish_decision(request);
        };
        let record = match self.cycle.waiting_record(&waiting) {
            // Of a run that says nothing there is nothing to judge; it can only go.
            Err(_) if request.verdict == Verdict::Reject => return self.reject_unread(request, &waiting),
            record => record?,
        };
        if let Some(seen) = &request.seen
            && *seen != waiting.commit.id.to_string()
            && *seen != waiting.tip.to_string()
        {
            return Err(BrainError::Refused {
                message: format!("{} is {} now, and the decision is about {seen}", waiting.branch, waiting.commit.id),
                hint: Some(format!("`git brain review {}` shows what it is now", waiting.branch)),
            });
        }
        let reviewer = self.reviewer(&waiting)?;
        let meant = self.meant(request, &waiting, &record)?;
        let why = self.cycle.shared.secrets.redact(&request.why).into_owned();
        let begun = self.cycle.reviews_of(&waiting.run)?.into_iter().next_back().filter(|review| {
            review.commit == waiting.commit.id.to_string()
                && review.verdict == meant.verdict
                && review.kept == meant.kept
        });
        let review = match begun {
            Some(review) => review,
            None => {
                let by = self.new_persons_run(&["review", waiting.run.as_str(), meant.verdict.as_str()])?;
                let lands = match meant.document {
                    Some(_) => Some(self.new_persons_run(&["amend", waiting.run.as_str()])?),
                    None => None,
                };
                ReviewRecord {
                    review: by,
                    run: waiting.run.clone(),
                    commit: waiting.commit.id.to_string(),
                    verdict: meant.verdict,
                    reviewer,
                    via: request.via.clone(),
                    at: self.cycle.shared.world.now(),
                    why,
                    kept: meant.kept.clone(),
                    of: if meant.verdict == Verdict::Amend { record.ops.len() } else { 0 },
                    resolved: meant.resolved.clone(),
                    lands,
                }
            }
        };
        let bytes = review.encode();
        if bytes.len() > limits::REVIEW_BYTES {
            return Err(BrainError::usage(format!(
                "the review is longer than {} bytes: a shorter reason fits",
                limits::REVIEW_BYTES
            )));
        }
        if request.dry_run {
            return self.report(&review, &waiting, &record, None, true);
        }
        self.cycle.add_review(&review)?;
        let mut notes = Vec::new();
        let everywhere = match meant.verdict {
            Verdict::Approve => self.land_reviewed(&waiting, &review)?,
            Verdict::Amend => {
                let document = meant.document.unwrap_or_default();
                self.land_amended(&record, &review, document)?;
                self.cycle.reject_run(waiting.branch.as_str(), Some(review.reviewer.clone()), false)?.everywhere
            }
            Verdict::Reject => {
                self.cycle.reject_run(waiting.branch.as_str(), Some(review.reviewer.clone()), false)?.everywhere
            }
        };
        if !everywhere {
            notes.push(format!(
                "the branch is removed here; no other machine could have taken it, and {} learns nothing",
                record.agent
            ));
        }
        let learnt = if everywhere { self.learn_from_review(&record, &review, &mut notes)? } else { None };
        let mut report = self.report(&review, &waiting, &record, learnt, false)?;
        (report.everywhere, report.notes) = (everywhere, notes);
        if self.cycle.shared.policy.settings.origins.is_tainted(&record.origin) && meant.verdict != Verdict::Reject {
            let (origin, store) = (&record.origin, &self.cycle.store);
            report.notes.push(format!(
                "it is in {}, marked as from {origin}: `git brain approve --origin {origin}` lets it into {}",
                store.wake(),
                store.main()
            ));
        }
        Ok(report)
    }

    /// Throws a run away whose record cannot be read: nothing is recorded, and nothing learns from it.
    fn reject_unread(&self, request: &ReviewRequest, waiting: &WaitingRun) -> Result<ReviewReport, BrainError> {
        let reviewer = self.reviewer(waiting)?;
        let rejected = self.cycle.reject_run(waiting.branch.as_str(), Some(reviewer.clone()), request.dry_run)?;
        Ok(ReviewReport {
            run: waiting.run.to_string(),
            branch: waiting.branch.to_string(),
            verdict: Verdict::Reject,
            review: String::new(),
            reviewer,
            landed: None,
            expected: None,
            value: 0.0,
            error: None,
            credited: 0,
            everywhere: rejected.everywhere,
            wake: self.at(None)?.to_string(),
            notes: vec!["its record cannot be read: nothing learns from it".to_owned()],
            dry_run: request.dry_run,
        })
    }

    /// Goes on with a decision whose run waits nowhere any more: what is left is to learn from it.
    fn finish_decision(&self, request: &ReviewRequest) -> Result<ReviewReport, BrainError> {
        let last = request.run.rsplit('/').next().unwrap_or(&request.run);
        let unknown = || BrainError::Usage {
            message: format!("{} is no branch of a run or a sleep that waits", request.run),
            hint: Some("`git brain review` lists the runs that wait".to_owned()),
        };
        let run = RunId::parse(last).map_err(|_| unknown())?;
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        let Some(record) = network.record(&run)? else { return Err(unknown()) };
        let Some(review) = self.cycle.reviews_of(&run)?.into_iter().next_back() else {
            return Err(BrainError::Refused {
                message: format!("{run} is in wake already, and waits nowhere"),
                hint: Some(format!("`git brain revert --run {run}` takes back what it did")),
            });
        };
        let mut notes = vec![format!("{run} was {} by {} at {}", review.verdict.done(), review.reviewer, review.at)];
        let learnt = match request.dry_run {
            true => None,
            false => self.learn_from_review(&record, &review, &mut notes)?,
        };
        let branch = crate::cycle::commit::branch_of(self.cycle.store.wake(), &run)?.to_string();
        let mut report = self.report_of(&review, branch, &record, learnt, request.dry_run)?;
        report.notes = notes;
        let wanted = if request.verdict == Verdict::Reject { Verdict::Reject } else { Verdict::Approve };
        let other = (review.verdict == Verdict::Reject) != (wanted == Verdict::Reject);
        if other {
            return Err(BrainError::Refused { message: report.notes.remove(0), hint: None });
        }
        Ok(report)
    }

    /// Who decides here, if that is a person who may.
    fn reviewer(&self, waiting: &WaitingRun) -> Result<String, BrainError> {
        let (name, address) = self.cycle.store.user();
        let domain = "@git-brain.invalid";
        if address.to_ascii_lowercase().ends_with(domain) && address != format!("git-brain{domain}") {
            return Err(BrainError::Refused {
                message: format!("{address} is an agent's address, and agents review nothing"),
                hint: Some("`git config user.email` names the person who decides".to_owned()),
            });
        }
        let may = self.cycle.shared.policy.settings.review.reviewers_of(waiting.rule());
        if !may.is_empty() && !may.contains(&address) {
            return Err(BrainError::Refused {
                message: format!("{address} may not decide on {}: {} may", waiting.run, may.join(", ")),
                hint: Some("`[review]` of brain.toml names the reviewers".to_owned()),
            });
        }
        Ok(format!("{name} <{address}>"))
    }

    /// What a request means for this run.
    fn meant(&self, request: &ReviewRequest, waiting: &WaitingRun, record: &RunRecord) -> Result<Meant, BrainError> {
        let nothing = Meant { verdict: Verdict::Reject, kept: Vec::new(), document: None, resolved: Vec::new() };
        if request.verdict == Verdict::Reject {
            return Ok(nothing);
        }
        let all = record.ops.len();
        if let Some(number) = request.only.iter().find(|number| !(1..=all).contains(*number)) {
            return Err(BrainError::usage(format!("--only {number}: the run has operations 1 to {all}")));
        }
        if let Some(text) = &request.document {
            let text =
                self.cycle.shared.secrets.redact_json(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
            let document = Document::parse(&text, "the edited document").map_err(BrainError::from)?;
            let kept: Vec<usize> = (1..=all).filter(|number| document.ops.contains(&record.ops[number - 1])).collect();
            if document.ops.is_empty() {
                return Err(BrainError::usage("nothing is left of the run: `git brain reject` throws it away"));
            }
            return Ok(Meant { verdict: Verdict::Amend, kept, document: Some(document), resolved: Vec::new() });
        }
        let conflicts = self.cycle.belief(waiting)?.conflicts;
        let resolved = resolutions(&request.take, &conflicts)?;
        if !conflicts.is_empty() && resolved.len() < conflicts.len() && request.only.is_empty() {
            let count = plural(conflicts.len() - resolved.len(), "field", "fields");
            return Err(BrainError::Refused {
                message: format!("{} conflicts with wake in {count}", waiting.branch),
                hint: Some(format!(
                    "`git brain review {0}` numbers them; `--take run`, `--take wake` or `--take N=run` settles them",
                    waiting.branch
                )),
            });
        }
        if request.only.is_empty() && resolved.is_empty() {
            return Ok(Meant { verdict: Verdict::Approve, ..nothing });
        }
        let stays =
            |op: &Operation| resolved.iter().any(|one| one.take == Take::Wake && touches(op, &one.neuron, &one.field));
        let wanted = |number: usize| request.only.is_empty() || request.only.contains(&number);
        let kept: Vec<usize> = (1..=all).filter(|number| wanted(*number) && !stays(&record.ops[number - 1])).collect();
        let ops: Vec<Operation> = kept.iter().map(|number| record.ops[number - 1].clone()).filter(lands).collect();
        if ops.is_empty() {
            return Err(BrainError::usage("nothing is left of the run: `git brain reject` throws it away"));
        }
        let document = Some(Document { agent: None, prediction: None, ops });
        Ok(Meant { verdict: Verdict::Amend, kept, document, resolved })
    }

    fn new_persons_run(&self, words: &[&str]) -> Result<RunId, BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let base = self.at(None)?;
        let newest = self.cycle.newest_run(base)?;
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.cycle.new_run_id(&agent, base, newest.as_ref(), &words, 0)
    }

    /// Merges an approved run as it is.
    fn land_reviewed(&self, waiting: &WaitingRun, review: &ReviewRecord) -> Result<bool, BrainError> {
        let mut candidate = self.cycle.candidate(waiting.branch.as_str())?;
        candidate.reviewed_by = Some(review.reviewer.clone());
        let report = self.cycle.merge_judged(vec![candidate], true, false)?;
        match report.fates.into_iter().next() {
            Some((_, Fate::Merged { .. } | Fate::Already)) => Ok(true),
            Some((_, Fate::Conflict(conflicts))) => Err(BrainError::Refused {
                message: format!(
                    "{} conflicts with wake in {}",
                    waiting.branch,
                    plural(conflicts.len(), "field", "fields")
                ),
                hint: Some(format!("`git brain review {}` shows them, `--take` settles them", waiting.branch)),
            }),
            Some((_, Fate::Refused(why))) => Err(BrainError::refused(why)),
            None => Err(BrainError::refused(format!("{} is gone", waiting.branch))),
        }
    }

    /// Lands what a reviewer made of a run, as a run of that person that comes from where the run came from.
    fn land_amended(&self, record: &RunRecord, review: &ReviewRecord, document: Document) -> Result<(), BrainError> {
        let Some(run) = review.lands.clone() else { return Ok(()) };
        let (base, store) = (self.at(None)?, &self.cycle.store);
        let network = TreeNetwork::new(store, store.tree_of(base)?);
        if network.record(&run)?.is_some() {
            return Ok(());
        }
        let shared = &self.cycle.shared;
        let (mut document, mut lines) = (document, Vec::new());
        document.agent = Some(run.agent());
        shared.make_no_doubles(&network, &mut document, &mut lines)?;
        let seen = quoted::by_hand(&document, &network, &shared.policy.settings.origins)?;
        let draft = Draft {
            reason: format!("review of {}", record.run),
            document,
            origin: record.origin.and(&seen),
            roots: record.stimuli.clone(),
            ..Draft::by_hand(shared, base, run, "review")?
        };
        let applied = draft.apply(store, shared)?;
        let landed = self.land(draft, &applied, false)?;
        if !landed.merged {
            let conflicts: Vec<String> = landed.conflicts.iter().map(ToString::to_string).collect();
            return Err(BrainError::Refused {
                message: format!("{} stays on its branch: {}", landed.run, conflicts.join("; ")),
                hint: Some(format!("`git brain merge {}` once it is settled", landed.branch)),
            });
        }
        Ok(())
    }

    /// Judges a run by what a person decided about it: its error and the connections that learn.
    fn learn_from_review(
        &self,
        record: &RunRecord,
        review: &ReviewRecord,
        notes: &mut Vec<String>,
    ) -> Result<Option<(f64, usize)>, BrainError> {
        if [HUMAN, EVALUATOR].contains(&record.agent.as_str()) {
            return Ok(None);
        }
        let name = review.reviewer.split(" <").next().unwrap_or_default();
        let mut text = format!("{} by {name}", review.verdict.done());
        if !review.why.is_empty() {
            text = format!("{text}: {}", review.why.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        let mut end = text.len().min(limits::CONCEPT_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        let known = self.entries_of(&record.run)?;
        if let Some(entry) = known.iter().find(|entry| entry.outcome.text.as_deref() == Some(text.as_str())) {
            return Ok(Some((entry.error, entry.pathway.len())));
        }
        let value = review.verdict.value(review.kept.len(), review.of);
        let made = self.cycle.corrective(self.at(None)?, record, Some(value), Some(&text))?;
        let Corrective { document, judgement, credited, cognition, .. } = made;
        let agent = AgentName::parse(EVALUATOR).expect("invariant: a constant name");
        let bytes = json::pretty(&document);
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: "review", cognition };
        let applied = self.apply_given(given, false, false)?;
        if !applied.merged {
            notes.push(format!("what is learnt from it waits on {}", applied.branch));
        }
        if judgement.assumed {
            notes.push(format!("{} had predicted no value: {} is assumed", record.run, judgement.prediction.value));
        }
        Ok(Some((judgement.error, credited)))
    }

    fn report(
        &self,
        review: &ReviewRecord,
        waiting: &WaitingRun,
        record: &RunRecord,
        learnt: Option<(f64, usize)>,
        dry_run: bool,
    ) -> Result<ReviewReport, BrainError> {
        self.report_of(review, waiting.branch.to_string(), record, learnt, dry_run)
    }

    fn report_of(
        &self,
        review: &ReviewRecord,
        branch: String,
        record: &RunRecord,
        learnt: Option<(f64, usize)>,
        dry_run: bool,
    ) -> Result<ReviewReport, BrainError> {
        Ok(ReviewReport {
            run: review.run.to_string(),
            branch,
            verdict: review.verdict,
            review: review.review.to_string(),
            reviewer: review.reviewer.clone(),
            landed: review.lands.as_ref().map(ToString::to_string),
            expected: record.prediction.as_ref().and_then(|prediction| prediction.value),
            value: review.verdict.value(review.kept.len(), review.of),
            error: learnt.map(|(error, _)| error),
            credited: learnt.map_or(0, |(_, credited)| credited),
            everywhere: true,
            wake: self.at(None)?.to_string(),
            notes: Vec::new(),
            dry_run,
        })
    }
}

/// Whether an operation lands by a reviewer's hand: what answers a signal is kept with the run itself.
fn lands(op: &Operation) -> bool {
    !matches!(op, Operation::Acknowledge(_))
}

/// What a person says of conflicts: `run` and `wake` speak of all, `N=run` of the one of that number.
fn resolutions(take: &[String], conflicts: &[Conflict]) -> Result<Vec<Resolution>, BrainError> {
    let side = |word: &str| match word {
        "run" => Ok(Take::Run),
        "wake" => Ok(Take::Wake),
        _ => Err(BrainError::usage(format!("--take {word}: it is run or wake, or N=run"))),
    };
    let mut sides: Vec<Option<Take>> = vec![None; conflicts.len()];
    for word in take {
        match word.split_once('=') {
            None => {
                let side = side(word)?;
                sides.iter_mut().filter(|known| known.is_none()).for_each(|known| *known = Some(side));
            }
            Some((number, word)) => {
                let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let Some(known) = place.and_then(|place| sides.get_mut(place)) else {
                    let all = conflicts.len();
                    return Err(BrainError::usage(format!("--take {number}={word}: there are {all} conflicts")));
                };
                *known = Some(side(word)?);
            }
        }
    }
    let settled = conflicts.iter().zip(sides);
    Ok(settled
        .filter_map(|(conflict, take)| {
            Some(Resolution { neuron: conflict.neuron.clone(), field: conflict.field.clone(), take: take? })
        })
        .collect())
}
