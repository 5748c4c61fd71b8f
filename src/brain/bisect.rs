//! `bisect`: the run since which recall answers a question wrongly, by halving the history of wake.

use serde::Serialize;

use super::audit::said;
use super::{AuditLevel, Brain, BrainError, HUMAN, RecallRequest};
use crate::audit::Finding;
use crate::cycle::network::TreeNetwork;
use crate::limits;
use crate::model::layout::{self, Place};
use crate::store::{CommitId, TreeId};

/// Answers of a question in which a text is looked for.
const TOP: usize = 3;
/// Texts of a run that are named.
const WORDS: usize = 8;

/// What a right answer looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// One of the best answers holds this text.
    Holds(String),
    /// None of the best answers holds this text.
    Avoids(String),
    /// A command says it.
    Judged,
    /// A person says it.
    Asked,
}

/// The question and the part of history.
#[derive(Clone, Debug)]
pub struct BisectRequest {
    /// The question.
    pub question: String,
    /// A revision that answers right.
    pub good: String,
    /// A later one that answers wrongly.
    pub bad: String,
    /// What a right answer looks like.
    pub expectation: Expectation,
    /// The number of best answers that count; the default is three.
    pub top: Option<usize>,
}

/// The word on the answers of one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answered {
    /// They are right.
    Good,
    /// They are wrong.
    Bad,
    /// They say nothing.
    Skip,
}

/// One revision that was asked.
#[derive(Clone, Debug, Serialize)]
pub struct BisectStep {
    /// The commit.
    pub commit: String,
    /// The word on its answers.
    pub answered: Answered,
    /// The best answers, best first.
    pub answers: Vec<String>,
}

/// The run that was found.
#[derive(Clone, Debug, Serialize)]
pub struct BisectReport {
    /// The question.
    pub question: String,
    /// The first commit of wake that answers wrongly.
    pub commit: String,
    /// The run that it brought; absent if it brought none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The agent of that run, or who made the commit.
    pub by: String,
    /// Of a run by hand, the person who made it; absent of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The first line of the commit of the run.
    pub subject: String,
    /// The texts that it brought, or made of others.
    pub words: Vec<String>,
    /// The texts that it took away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The texts that it was woken by.
    pub because: Vec<String>,
    /// The decision by which that run was let in, with its reason, in words; absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The command that undoes it; absent if no command does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Commits that may be it as well, because answers between were skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
    /// Open findings of an audit of it, a sentence for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Questions that were asked of recall.
    pub questions: usize,
    /// Each of them.
    pub steps: Vec<BisectStep>,
}

/// Says whether answers are right, where no text does: commit, answers, revisions left.
pub type Asking<'a> = dyn FnMut(&str, &[String], usize) -> Result<Answered, BrainError> + 'a;

struct Bisection<'b, 'a> {
    brain: &'b Brain,
    request: &'b BisectRequest,
    asking: &'a mut Asking<'a>,
    steps: Vec<BisectStep>,
}

impl Brain {
    /// Finds the first commit on wake's line that answers wrongly.
    ///
    /// # Errors
    /// Revisions that name no commits, that are not one behind the other, or that answer otherwise than is said (exit code 2).
    pub fn bisect<'a>(&self, request: &BisectRequest, asking: &'a mut Asking<'a>) -> Result<BisectReport, BrainError> {
        if request.question.trim().is_empty() {
            return Err(BrainError::usage("the question is empty"));
        }
        let (good, bad) = (self.at(Some(&request.good))?, self.at(Some(&request.bad))?);
        let line = self.line_between(good, bad, &request.good, &request.bad)?;
        let mut bisection = Bisection { brain: self, request, asking, steps: Vec::new() };
        if request.expectation != Expectation::Asked {
            bisection.holds(good, Answered::Good, &request.good, "--good")?;
            bisection.holds(bad, Answered::Bad, &request.bad, "--bad")?;
        }
        let (mut first, mut or) = bisection.first_bad(self.that_change(line)?)?;
        // A merge with another machine's wake: the run lies on its line.
        while or.is_empty()
            && let [left, right] = self.cycle.store.commit(first)?.parents[..]
            && let line = self.side_line(left, right)?
            && line.len() > 1
            && bisection.ask(right, line.len())? == Answered::Bad
        {
            (first, or) = bisection.first_bad(line)?;
        }
        let steps = bisection.steps;
        self.found(request, first, or, steps)
    }

    /// The commits of a line of first parents behind `bad` that `good` does not have, oldest first.
    fn line_between(
        &self,
        good: CommitId,
        bad: CommitId,
        good_name: &str,
        bad_name: &str,
    ) -> Result<Vec<CommitId>, BrainError> {
        let store = &self.cycle.store;
        if good == bad || !store.is_ancestor(good, bad)? {
            return Err(BrainError::Usage {
                message: format!("{good_name} is not behind {bad_name}"),
                hint: Some("--good is a revision from before --bad, such as wake~100".to_owned()),
            });
        }
        let mut line = Vec::new();
        for commit in store.first_parents(bad, Some(good)).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if store.is_ancestor(commit.id, good)? {
                break;
            }
            line.push(commit.id);
        }
        line.reverse();
        Ok(line)
    }

    /// The commits of a line that change neurons or settings, and its last one: no other changes an answer.
    fn that_change(&self, line: Vec<CommitId>) -> Result<Vec<CommitId>, BrainError> {
        let store = &self.cycle.store;
        let answers = |id: CommitId| -> Result<_, BrainError> {
            let tree = store.tree_of(id)?;
            Ok((store.folder(tree, layout::NEURONS)?, store.file(tree, layout::SETTINGS)?.map(|file| file.blob)))
        };
        let last = line.last().copied();
        let mut kept = Vec::new();
        for id in line {
            let parent = store.commit(id)?.parents.first().copied();
            if parent.map(answers).transpose()? != Some(answers(id)?) {
                kept.push(id);
            }
        }
        // What answers wrongly at the end does so since the last change.
        Ok(if kept.is_empty() { last.into_iter().collect() } else { kept })
    }

    /// The line of a merge's second parent beyond the first, oldest first.
    fn side_line(&self, left: CommitId, right: CommitId) -> Result<Vec<CommitId>, BrainError> {
        let store = &self.cycle.store;
        let mut line = Vec::new();
        for commit in store.first_parents(right, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if store.is_ancestor(commit.id, left)? {
                break;
            }
            line.push(commit.id);
        }
        line.reverse();
        Ok(line)
    }

    fn found(
        &self,
        request: &BisectRequest,
        first: CommitId,
        or: Vec<CommitId>,
        steps: Vec<BisectStep>,
    ) -> Result<BisectReport, BrainError> {
        let store = &self.cycle.store;
        let commit = store.commit(first)?;
        let own = match commit.parents[..] {
            [_, right] => store.commit(right)?,
            _ => commit.clone(),
        };
        let asked = self.cycle.findings_within(first);
        let of = |id: CommitId| asked.iter().filter(move |finding| finding.commit == id.to_string());
        // What a merge says that none of its sides does is no run's. Its date, its keys and who may make it say nothing of that.
        let says_more = |finding: &Finding| finding.level == AuditLevel::Quarantine && !finding.rule.ends_with_revert();
        let is_of_merge = own.id != first && of(first).any(says_more);
        let notes: Vec<String> = of(first).chain(of(own.id).filter(|_| own.id != first)).map(said).collect();
        let (own, run) = match is_of_merge {
            true => (commit, None),
            false => {
                let run = self.cycle.run_of_commit(&own)?;
                // A merge that brings no run and no night is what a person made of both sides.
                let is_of_person = own.id != first && run.is_none() && own.trailer("Sleep").is_none();
                (if is_of_person { commit } else { own }, run)
            }
        };
        let network = TreeNetwork::new(store, own.tree);
        let record = run.as_ref().map(|run| network.record(run)).transpose()?.flatten();
        let sleep = own.trailer("Sleep").map(str::to_owned);
        let mut because = Vec::new();
        let (words, gone) = match own.parents[..] {
            [parent, ..] if sleep.is_none() => self.texts_changed(store.tree_of(parent)?, own.tree)?,
            _ => (Vec::new(), Vec::new()),
        };
        // A run that waited began before its stimuli were in wake.
        let landed = TreeNetwork::new(store, store.tree_of(first)?);
        for stimulus in record.iter().flat_map(|record| &record.stimuli).take(WORDS) {
            because.extend(landed.stimulus(stimulus)?.map(|stimulus| stimulus.text.clone()));
        }
        let decision = match &record {
            Some(record) => self.decision_on(record.run.as_str(), Some(&record.trigger))?,
            None => None,
        };
        let person = format!("{} <{}>", own.author, own.email);
        let undo = match (&run, &sleep) {
            (Some(run), _) => Some(format!("git brain revert {run}")),
            (None, Some(_)) => Some("git brain sleep --undo".to_owned()),
            (None, None) => Some(self.git_revert(&own)),
        };
        Ok(BisectReport {
            question: request.question.clone(),
            commit: first.to_string(),
            author: record.as_ref().is_some_and(|record| record.agent.as_str() == HUMAN).then(|| person.clone()),
            by: record.map_or(person, |record| record.agent.to_string()),
            run: run.map(|run| run.to_string()),
            subject: own.subject().to_owned(),
            words,
            gone,
            because,
            decision,
            notes,
            undo,
            or: or.iter().map(ToString::to_string).collect(),
            questions: steps.len(),
            steps,
        })
    }
}

impl Brain {
    /// The texts that a commit brings, made of others or not, and those that it takes away, the longest first: memories say most.
    fn texts_changed(&self, before: TreeId, after: TreeId) -> Result<(Vec<String>, Vec<String>), BrainError> {
        let store = &self.cycle.store;
        let (old, new) = (TreeNetwork::new(store, before), TreeNetwork::new(store, after));
        let (mut brought, mut gone) = (Vec::new(), Vec::new());
        for change in store.diff(Some(before), Some(after), layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&change.path) else { continue };
            let said = |network: &TreeNetwork<'_>| -> Result<Option<String>, BrainError> {
                Ok(network.neuron(&id)?.filter(|neuron| !neuron.is_archived()).map(|neuron| neuron.concept))
            };
            let (was, is) = (said(&old)?, said(&new)?);
            if was != is {
                match is {
                    Some(text) => brought.push(text),
                    None => gone.extend(was),
                }
            }
        }
        for texts in [&mut brought, &mut gone] {
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
            texts.truncate(WORDS);
        }
        Ok((brought, gone))
    }
}

impl Bisection<'_, '_> {
    fn holds(&mut self, commit: CommitId, wanted: Answered, name: &str, flag: &str) -> Result<(), BrainError> {
        let answered = self.ask(commit, 0)?;
        if answered == wanted {
            return Ok(());
        }
        let is = match answered {
            Answered::Good => "right",
            Answered::Bad => "wrong",
            Answered::Skip => "neither right nor wrong",
        };
        Err(BrainError::Usage {
            message: format!("{flag} {name} answers {is}: there is nothing to find between"),
            hint: Some(format!(
                "`git brain recall --at {name} …` shows its answers, of which the best {} count; `--top 1` counts the best alone, `--avoid TEXT` \
                 says which text is wrong",
                self.request.top.unwrap_or(TOP)
            )),
        })
    }

    /// The first commit of a line whose last one is bad, by halving it; and those that skipped answers leave beside it.
    fn first_bad(&mut self, line: Vec<CommitId>) -> Result<(CommitId, Vec<CommitId>), BrainError> {
        // All below `low` are good, the one at `high` is bad.
        let (mut low, mut high) = (0, line.len() - 1);
        let mut skipped = std::collections::BTreeSet::new();
        while low < high {
            let middle = low + (high - low) / 2;
            let near = (low..high).filter(|at| !skipped.contains(at)).min_by_key(|at| at.abs_diff(middle));
            let Some(at) = near else { break };
            match self.ask(line[at], high - low)? {
                Answered::Good => low = at + 1,
                Answered::Bad => high = at,
                Answered::Skip => drop(skipped.insert(at)),
            }
        }
        Ok((line[high], line[low..high].to_vec()))
    }

    fn ask(&mut self, commit: CommitId, left: usize) -> Result<Answered, BrainError> {
        let id = commit.to_string();
        if let Some(step) = self.steps.iter().find(|step| step.commit == id) {
            return Ok(step.answered);
        }
        let top = self.request.top.unwrap_or(TOP);
        let request = RecallRequest {
            query: self.request.question.clone(),
            top: Some(top),
            at: Some(id.clone()),
            ..RecallRequest::default()
        };
        let found = self.brain.recall(&request)?;
        let answers: Vec<String> = found.results.into_iter().map(|answer| answer.concept).collect();
        let holds = |text: &str| answers.iter().any(|answer| plain(answer).contains(&plain(text)));
        let said = |right: bool| if right { Answered::Good } else { Answered::Bad };
        let answered = match &self.request.expectation {
            Expectation::Holds(text) => said(holds(text)),
            Expectation::Avoids(text) => said(!holds(text)),
            Expectation::Judged | Expectation::Asked => (self.asking)(&id, &answers, left)?,
        };
        self.steps.push(BisectStep { commit: id, answered, answers });
        Ok(answered)
    }
}

/// A text as texts are compared: in lower case, with single blanks.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
