//! Review: the runs that wait, each as a belief diff.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AuditItem, Brain, BrainError, Unapproved};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::{After, PENDING};
use crate::cycle::snapshot::{KEPT_NOWHERE, snapshot_beside};
use crate::cycle::statement::statements;
use crate::cycle::sync::Standoff;
use crate::limits;
use crate::model::ids::{RunId, hash_fields};
use crate::model::{Kind, Origin};
use crate::review::belief::{Beside, consequence, is_said, outline, speak_of_the_same, standing};
use crate::review::page;
use crate::review::{Answered, Belief, Change, ChangeKind, Question, ReviewRecord, Verdict};
use crate::store::{Branch, CommitId};

/// Answers of recall that are compared before and after a change.
const ANSWERS: usize = 3;

/// Words of a question that is made of a text.
const QUESTION_WORDS: usize = 24;

/// Where the outlines of runs that wait are kept, in the cache.
const KEPT: &str = "waiting.json";

/// A run in a list, as its record has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outline {
    /// The rules by which it was made.
    rules: String,
    waits: String,
    at: String,
    origin: Origin,
    expected: Option<f64>,
    changes: String,
    consequence: f64,
}

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
    /// The clock of what it is about, RFC 3339.
    pub at: String,
    /// Where what it brings comes from.
    pub origin: String,
    /// How consequential it is.
    pub consequence: f64,
    /// What it expected as a number, 0..=1.
    pub expected: Option<f64>,
    /// What it changes.
    pub changes: String,
    /// Addresses of the people who may decide; empty: everybody.
    pub reviewers: Vec<String>,
    /// The document of the council that decides on it, before those people; empty: they alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub council: String,
    /// Why it cannot be read, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// The runs that wait, the most consequential first.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewList {
    /// Those runs.
    pub waiting: Vec<ReviewLine>,
    /// The branches of sleeps that wait to be approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sleeps: Vec<String>,
    /// Statements that wait for a person's approval, by origin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unapproved: Vec<Unapproved>,
    /// Councils that left their decision to a person; absent if there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub councils: usize,
    /// Runs of wake that the audit asks about; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<AuditItem>,
    /// What stopped a sync and is not settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standoffs: Vec<Standoff>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A decision that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    /// The decision.
    #[serde(flatten)]
    pub review: ReviewRecord,
    /// Whether main names its reviewer, or nobody, as one who may decide on that run, and its commit is that reviewer's, signed where signatures
    /// are required.
    pub counts: bool,
    /// Whether it does not count for its commit alone: that is by somebody else, or lacks the signature that is required here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unsigned: bool,
    /// Whether wake has what it decided: of several decisions on a run, one stands.
    pub stands: bool,
    /// Whether the run still waits: the decision is not carried out.
    pub is_open: bool,
    /// Whether it approved another commit of the run than the one that waits, or that wake has.
    pub of_another: bool,
}

impl Brain {
    /// The runs that wait, the most consequential first. Costs one small record for each that has come since the last list.
    pub fn reviews(&self) -> Result<ReviewList, BrainError> {
        let (review, store) = (self.cycle.review_of_main()?, &self.cycle.store);
        let origins = &self.cycle.shared.policy.settings.origins;
        let rules = format!(
            "{:016x}",
            hash_fields(&[
                b"texts that it replaces count, and are corrected",
                crate::model::json::inline(&review).as_bytes()
            ])
        );
        // A commit never changes, so neither does what its record says, and by the same rules it waits as before.
        let known: BTreeMap<String, Outline> = store.cached_document(KEPT).unwrap_or_default();
        let mut kept = BTreeMap::new();
        let mut waiting = Vec::new();
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            let outline = match known.get(&tip.to_string()).filter(|outline| outline.rules == rules) {
                Some(outline) => Ok(outline.clone()),
                None => self.outline(&branch, tip, &run, &rules),
            };
            let waits = outline.as_ref().map_or_else(|_| PENDING.to_owned(), |outline| outline.waits.clone());
            let mut line = ReviewLine {
                branch: branch.to_string(),
                run: run.to_string(),
                agent: run.agent().to_string(),
                at: String::new(),
                origin: String::new(),
                consequence: 0.0,
                expected: None,
                changes: String::new(),
                reviewers: review.reviewers_of(waits.strip_prefix("rule ")).to_vec(),
                council: review.council_of(waits.strip_prefix("rule ")).unwrap_or_default().to_owned(),
                broken: None,
                waits,
            };
            if line.waits == PENDING {
                (line.reviewers, line.council) = (Vec::new(), String::new());
            }
            // One that cannot be read hides no other.
            match outline {
                Ok(outline) => {
                    let tainted = origins.is_tainted(&outline.origin);
                    // A run that does nothing stands last, wherever it comes from.
                    let tainted = tainted && outline.consequence > 0.0;
                    let all = outline.consequence + standing(outline.waits == "conflict", tainted);
                    line.consequence = (all * 1000.0).round() / 1000.0;
                    (line.at, line.expected, line.changes) =
                        (outline.at.clone(), outline.expected, outline.changes.clone());
                    line.origin = outline.origin.to_string();
                    kept.insert(tip.to_string(), outline);
                }
                Err(error) => line.broken = Some(error.to_string()),
            }
            waiting.push(line);
        }
        if kept.len() != known.len()
            || kept.iter().any(|(tip, outline)| known.get(tip).is_none_or(|known| known.rules != outline.rules))
        {
            store.keep_document(KEPT, &kept);
        }
        waiting.sort_by(|a, b| b.consequence.total_cmp(&a.consequence).then_with(|| a.run.cmp(&b.run)));
        // A record that cannot be read hides no run: `council --list` names it.
        let councils = self.cycle.pending_councils().map_or(0, |pending| pending.len());
        // Nor does a remote that cannot be read: `doctor` names it.
        let standoffs = self.cycle.standoffs().unwrap_or_default();
        // What cannot be counted hides no run that waits.
        let unapproved = self.unapproved().unwrap_or_default();
        let sleeps = self.cycle.waiting_sleeps()?.iter().map(ToString::to_string).collect();
        Ok(ReviewList { waiting, sleeps, unapproved, councils, audit: self.audit_queue()?, standoffs })
    }

    fn outline(&self, branch: &Branch, tip: CommitId, run: &RunId, rules: &str) -> Result<Outline, BrainError> {
        let waiting = self.cycle.waiting_run(branch.clone(), tip, run.clone())?;
        let record = self.cycle.waiting_record(&waiting)?;
        let rule = self.cycle.rule_of(&waiting)?.filter(|_| waiting.waits != "conflict");
        let replaces = self.cycle.replaces(&waiting, &record)?;
        Ok(Outline {
            rules: rules.to_owned(),
            waits: rule.map_or(waiting.waits, |rule| format!("rule {rule}")),
            at: record.at.to_string(),
            expected: record.prediction.as_ref().and_then(|prediction| prediction.value),
            changes: outline(&record, replaces, self.cycle.shared.policy.settings.origins.is_tainted(&record.origin)),
            consequence: consequence(&record, replaces, false, false),
            origin: record.origin,
        })
    }

    /// What a run changes, as a belief diff: one that waits, or one of wake. With `ask`, what recall would answer differently.
    ///
    /// # Errors
    /// There is no such run (exit code 2).
    pub fn review(&self, name: &str, ask: bool) -> Result<Belief, BrainError> {
        if let Some(waiting) = self.cycle.waiting_named(name)? {
            let mut after = After::new();
            let mut belief = self.cycle.belief_with(&waiting, ask.then_some(&mut after))?;
            belief.notes.extend(self.declined_before(&belief)?);
            belief.notes.extend(self.twins_of(&waiting)?.into_iter().map(|(twin, landed)| match landed {
                true => format!("the same fruit as {twin}, which has landed: it cannot be approved"),
                false => format!("the same fruit as {twin}, which waits too: one of the two can be approved"),
            }));
            belief.notes.extend(self.decided_of_twins(&waiting)?);
            let meanwhile = self.made_meanwhile(&waiting)?;
            belief.notes.extend(
                meanwhile.map(|tie| format!("{tie} came into wake since this was measured: it cannot be approved")),
            );
            if belief.waits == PENDING {
                belief.notes.extend(self.cycle.fault_of(&self.cycle.candidate(waiting.branch.as_str())?)?);
            }
            if ask {
                self.ask_both(&mut belief, after)?;
            }
            belief.notes.extend(self.advice_on(&belief.run, &belief.commit)?);
            return Ok(belief);
        }
        let last = name.rsplit('/').next().unwrap_or(name);
        let unknown = |message: String| {
            BrainError::Usage {
            message,
            hint: Some("`git brain review` lists the runs that wait, `git brain log` those of wake; `git brain show COMMIT` shows a commit".to_owned()),
        }
        };
        let run = match RunId::parse(last) {
            Ok(run) => run,
            Err(_) => match (self.cycle.decided_like(last)?, self.asked_about(last)) {
                (Some(run), _) => run,
                (None, Some(asked)) => return Err(asked),
                (None, None) => return Err(unknown(format!("{name} is no run, and no branch of one"))),
            },
        };
        let mut belief = self.review_of_wake(&run, unknown)?;
        let asked = self.audit_notes(|finding| finding.run == run.as_str() || finding.commit == belief.commit);
        belief.notes.splice(0..0, asked);
        Ok(belief)
    }

    /// The belief diff of a run of wake.
    fn review_of_wake(&self, run: &RunId, unknown: impl Fn(String) -> BrainError) -> Result<Belief, BrainError> {
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        match network.record(run)? {
            Some(record) if record.effects.is_empty() => match self.refused(run)? {
                Some(belief) => Ok(belief),
                None => {
                    let mut belief = self.cycle.belief_of_merged(&record, self.cycle.own_commit(wake, run)?)?;
                    if let Some(review) = self.cycle.decision_that_stands(&network, run)? {
                        let review = self.cycle.with_remarks(review)?;
                        belief.waits = format!("{} by {}", review.verdict.done(), review.reviewer);
                        belief.commit.clone_from(&review.commit);
                        belief.notes.push(format!("{}, {}; its words are not kept", review.words(), review.at));
                    }
                    Ok(belief)
                }
            },
            Some(record) => {
                let mut belief = self.cycle.belief_of_merged(&record, self.cycle.own_commit(wake, run)?)?;
                if let Some(review) = self.cycle.decision_that_stands(&network, run)? {
                    let review = self.cycle.with_remarks(review)?;
                    belief.notes.insert(0, format!("{}, {}", review.words(), review.at));
                }
                let by = self.cycle.taken_back_by(self.cycle.store.tree_of(wake)?, run)?;
                if let Some(by) = by {
                    let mut stays = Vec::new();
                    for id in statements(&record) {
                        stays.extend(
                            network.neuron(&id)?.filter(|now| !now.is_archived()).map(|now| now.id.to_string()),
                        );
                    }
                    belief.notes.push(match stays.is_empty() {
                        true => format!("taken back by {by}: wake has nothing of it any more"),
                        false => format!("taken back by {by}; of others wake has {}", stays.join(", ")),
                    });
                }
                Ok(belief)
            }
            None => Err(unknown(format!("there is no run {run}, neither waiting nor in wake"))),
        }
    }

    /// The belief diff of a run that was rejected or amended, where its commit is still here.
    fn refused(&self, run: &RunId) -> Result<Option<Belief>, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let stands = self.cycle.decision_that_stands(&network, run)?;
        // Words that the standing decision took back are in none of the others either.
        if let Some(review) = stands.clone() {
            let review = self.cycle.with_remarks(review)?;
            if self.cycle.is_untold(&review)? {
                return Ok(None);
            }
        }
        let others = self.cycle.reviews_of(run)?.into_iter().rev();
        for review in stands.into_iter().chain(others).filter(|review| review.verdict != Verdict::Approve) {
            let review = self.cycle.with_remarks(review)?;
            if self.cycle.is_untold(&review)? {
                continue;
            }
            let Ok(commit) = CommitId::parse(&review.commit) else { continue };
            let Ok(commit) = self.cycle.store.commit(commit) else { continue };
            let Some(record) = TreeNetwork::new(&self.cycle.store, commit.tree).record(run)? else { continue };
            let mut belief = self.cycle.belief_of_merged(&record, commit.id)?;
            belief.waits = format!("{} by {}", review.verdict.done(), review.reviewer);
            belief.notes.extend((!review.why.is_empty()).then(|| format!("why: {}", review.why)));
            belief.notes.extend(review.lands.as_ref().map(|landed| {
                let kept = crate::model::ranges(&review.kept);
                let kept = if kept.is_empty() { "none".to_owned() } else { kept };
                format!("of these operations {kept} landed, and {} edited, as {landed}", review.edited)
            }));
            return Ok(Some(belief));
        }
        Ok(None)
    }

    /// Asks recall the questions that a change touches, of wake as it is and as it would be, and keeps those whose answers differ.
    fn ask_both(&self, belief: &mut Belief, after: After) -> Result<(), BrainError> {
        let mut questions: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            // A long text is asked for by its beginning: an answer costs the words of the question.
            let text: String = text.split_whitespace().take(QUESTION_WORDS).collect::<Vec<_>>().join(" ");
            let text: String = text.chars().take(limits::LABEL_BYTES).collect();
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
        // What a correction archives when it lands is among what would be otherwise, and in no effect of its own.
        for neuron in after.values().flatten().filter(|neuron| neuron.is_archived()) {
            add(&neuron.concept);
        }
        // Names that new memories are about.
        for change in belief.neurons.iter().filter(|change| change.what == ChangeKind::Born) {
            let ties = change.ties.iter().filter_map(|tie| tie.concept.as_deref());
            ties.filter(|concept| concept.len() <= limits::LABEL_BYTES).for_each(&mut add);
            if change.kind == "episodic" {
                add(&change.concept);
            }
        }
        self.look_beside(belief)?;
        // Where two memories speak of the same, what recall says of that is what matters most.
        belief.beside.iter().for_each(|beside| add(&beside.text));
        if questions.is_empty() {
            return Ok(());
        }
        let wake = self.at(None)?;
        let old = snapshot_beside(&self.cycle.store, self.cycle.store.tree_of(wake)?)?;
        let changes: Vec<_> = after.iter().map(|(id, neuron)| (id.clone(), neuron.clone())).collect();
        let (new, none) = (old.advanced(&changes, KEPT_NOWHERE), After::new());
        for question in questions {
            let answers = |snapshot: &_, changed: &After| -> Result<Vec<Answered>, BrainError> {
                let filters = crate::activation::recall::Filters { top: Some(ANSWERS), ..Default::default() };
                let (found, _) = self.cycle.recall_if(wake, snapshot, &question, filters, changed)?;
                Ok(found
                    .into_iter()
                    .map(|one| Answered { id: one.neuron.id.to_string(), text: one.neuron.concept.clone() })
                    .collect())
            };
            let (was, is) = (answers(&old, &none)?, answers(&new, &after)?);
            let same = |a: &[Answered], b: &[Answered]| a.iter().all(|one| b.contains(one));
            // An order that changes behind the first is no other answer.
            if was.first() != is.first() || !same(&was, &is) || !same(&is, &was) {
                belief.questions.push(Question { question, before: was, after: is });
            }
        }
        Ok(())
    }

    /// Finds memories of wake that speak of the same as new ones.
    fn look_beside(&self, belief: &mut Belief) -> Result<(), BrainError> {
        let says = |change: &&Change| match change.what {
            ChangeKind::Born => {
                change.kind == "episodic" || change.kind == "semantic" && is_said(Kind::Semantic, &change.concept)
            }
            ChangeKind::Changed => !change.words.is_empty(),
            _ => false,
        };
        let told: Vec<(String, String)> = belief
            .neurons
            .iter()
            .filter(says)
            .take(limits::REVIEW_QUESTIONS)
            .map(|change| (change.id.clone(), change.concept.clone()))
            .collect();
        if told.is_empty() {
            return Ok(());
        }
        let (wake, now) = (self.at(None)?, self.cycle.shared.world.now());
        let snapshot = snapshot_beside(&self.cycle.store, self.cycle.store.tree_of(wake)?)?;
        for (id, text) in told {
            let question: String = text.split_whitespace().take(QUESTION_WORDS).collect::<Vec<_>>().join(" ");
            let filters = crate::activation::recall::Filters { top: Some(ANSWERS), ..Default::default() };
            let (found, _) = self.cycle.recall(wake, &snapshot, &question, filters, now, &mut |_, _| ())?;
            for one in found.into_iter().map(|one| one.neuron) {
                let is_gone = belief.neurons.iter().any(|change| {
                    change.id == one.id.as_str() && matches!(change.what, ChangeKind::Archived | ChangeKind::Removed)
                });
                let is_other = !is_gone
                    && one.id.as_str() != id
                    && (one.kind == Kind::Episodic || is_said(one.kind, &one.concept));
                if is_other && speak_of_the_same(&text, &one.concept) {
                    belief.beside.push(Beside {
                        new: text.clone(),
                        id: one.id.to_string(),
                        at: one.created_at.to_string(),
                        text: one.concept,
                    });
                }
            }
        }
        Ok(())
    }

    /// Title and Markdown body of a request about the branch of a run: its belief diff, in which no text of a memory is markup.
    pub fn belief_markdown(&self, branch: &str) -> Result<(String, String), BrainError> {
        let belief = self.review(branch, true)?;
        Ok((page::title(&belief), page::markdown(&page::blocks(&belief, false))))
    }

    /// Refuses a decision again whose run somebody took back since: it does not stand, and is carried out by nothing.
    pub(super) fn refuse_taken_back(
        &self,
        network: &TreeNetwork<'_>,
        review: &ReviewRecord,
        said: &str,
    ) -> Result<(), BrainError> {
        let landed = review.lands.as_ref().unwrap_or(&review.run);
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        match self.cycle.taken_back_by(tree, landed)? {
            Some(by) if review.verdict != Verdict::Reject && !self.cycle.stands(network, review)? => {
                Err(BrainError::Refused {
                    message: format!("{said}, and {by} took {landed} back"),
                    hint: Some(format!("`git brain revert {by}` brings it again")),
                })
            }
            _ => Ok(()),
        }
    }

    /// The decisions that were made, newest first.
    pub fn decisions(&self, most: usize) -> Result<Vec<Decision>, BrainError> {
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        let made = |review: ReviewRecord| {
            if review.is_of_audit() {
                let counts = self.cycle.may_not_accept(review.address())?.is_none();
                let is_unsigned = !self.cycle.names_its_reviewer(&review)?;
                return Ok(Decision { counts, is_unsigned, stands: true, is_open: false, of_another: false, review });
            }
            let (counts, stands) = (self.cycle.counts_for_its_run(&review)?, self.cycle.stands(&network, &review)?);
            let is_unsigned = !counts && self.cycle.names_its_reviewer(&review)?;
            let waiting = self.cycle.waiting_named(review.run.as_str())?;
            let store = &self.cycle.store;
            let of_another = review.verdict == Verdict::Approve
                && match (&waiting, CommitId::parse(&review.commit)) {
                    (Some(waiting), _) if !stands => waiting.commit.id.to_string() != review.commit,
                    (_, Ok(approved)) if stands => !store.is_ancestor(approved, wake).unwrap_or(false),
                    _ => false,
                };
            let review = self.cycle.with_remarks(review)?;
            Ok(Decision { counts, is_unsigned, stands, is_open: !stands && waiting.is_some(), of_another, review })
        };
        self.cycle.newest_reviews(most)?.into_iter().map(made).collect()
    }
}
