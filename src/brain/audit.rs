//! The audit of a history, and the decisions that people look at.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Brain, BrainError};
use crate::audit::{Finding, Settled, counted, sample, sarif};
pub use crate::audit::{Level as AuditLevel, Rule as AuditRule, VERSION as AUDIT_RULES};
use crate::cycle::audit::{Accepted, AuditRange, Audited};
use crate::cycle::network::TreeNetwork;
use crate::delta::render;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::review::{OF_AUDIT, ReviewRecord, Verdict};
use crate::store::{CommitId, StoreError};

/// Where the drawn decisions are kept, in the cache.
const QUEUE: &str = "audit-sample.json";
/// Items of the queue that say how they are taken back.
const UNDONE: usize = 50;
/// Fewest characters that name a commit.
const SHORTEST: usize = 7;
/// The least share of runs that people look at.
const LEAST_SHARE: f64 = 0.05;

/// A finding with its id.
#[derive(Clone, Debug, Serialize)]
pub struct AuditFinding {
    /// Twelve hexadecimal digits, the same in every audit.
    pub id: String,
    /// Who settled it, and why; absent: nobody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The result of an audit.
#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    /// The worst level of the findings that are not settled.
    pub level: AuditLevel,
    /// The version of the rules.
    pub rules: u32,
    /// The part of history; empty: all of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub range: String,
    /// Commits that were audited, those of earlier audits included.
    pub commits: usize,
    /// Commits that this audit looked at.
    pub new_commits: usize,
    /// Runs among all.
    pub runs: usize,
    /// Commits of decisions among all.
    pub decisions: usize,
    /// Findings by rule.
    pub counts: BTreeMap<AuditRule, usize>,
    /// Findings, by commit.
    pub findings: Vec<AuditFinding>,
    /// Ids of the findings that a person must decide on.
    pub escalated: Vec<String>,
    /// Findings beyond the most that are kept.
    pub left_off: usize,
}

impl AuditFinding {
    fn of(finding: &Finding) -> Self {
        Self { id: finding.id(), settled: None, finding: finding.clone() }
    }
}

impl AuditReport {
    fn of(audited: &Audited, range: &str) -> Self {
        let findings = audited.list();
        let named = |finding: &Finding| {
            let named = AuditFinding::of(finding);
            AuditFinding { settled: audited.settled.get(&named.id).cloned(), ..named }
        };
        let named: Vec<AuditFinding> = findings.iter().map(named).collect();
        let is_open = |named: &&AuditFinding| named.settled.is_none() && named.finding.level == AuditLevel::Quarantine;
        let escalated = named.iter().filter(is_open);
        Self {
            level: audited.level(),
            rules: AUDIT_RULES,
            range: range.to_owned(),
            commits: audited.commits,
            new_commits: audited.fresh,
            runs: audited.runs,
            decisions: audited.decisions,
            counts: counted(&findings),
            escalated: escalated.map(|named| named.id.clone()).collect(),
            findings: named,
            left_off: audited.left_off,
        }
    }

    /// 0: nothing is to be quarantined; 3: something is.
    pub fn exit_code(&self) -> u8 {
        if self.level == AuditLevel::Quarantine { 3 } else { 0 }
    }

    /// The report as SARIF 2.1.0.
    pub fn sarif(&self) -> Value {
        let findings: Vec<(Finding, Option<Settled>)> =
            self.findings.iter().map(|named| (named.finding.clone(), named.settled.clone())).collect();
        sarif::document(&findings, env!("CARGO_PKG_VERSION"))
    }
}

/// Decisions that were drawn for people.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AuditSample {
    /// The seed.
    pub seed: u64,
    /// The share of runs.
    pub share: f64,
    /// The runs that it was drawn from.
    pub of: usize,
    /// The runs that the seed draws.
    pub drawn: Vec<String>,
    /// Runs of earlier draws that nobody looked at yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// Runs that the audit escalates, beside those.
    pub escalated: Vec<String>,
}

/// What a person accepted.
#[derive(Clone, Debug, Serialize)]
pub struct AuditAccepted {
    /// Who accepted it.
    pub reviewer: String,
    /// The findings that it settles, and no others; absent: the run had none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settles: Vec<AuditFinding>,
    /// Open findings about other commits that say the run's name, a sentence for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The decisions, one on each commit.
    pub decisions: Vec<ReviewRecord>,
}

/// A run of wake, or a commit, that a person should look at.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditItem {
    /// The run; empty: the commit is of none.
    pub run: String,
    /// The commit that breaks the rule; absent for a run of the sample.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// `sample`, or the rules that it breaks.
    pub because: String,
    /// Of a run of the sample, the words that it rests on, clipped; absent: it rests on none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The command that takes it back; absent where none does, and beyond the first fifty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub undo: String,
}

impl Brain {
    /// Audits history: a range `A..B`, or one commit's past, or all that is new since the last audit (`from_start`: everything).
    ///
    /// # Errors
    /// A range that names no commits (exit code 2).
    pub fn audit(
        &self,
        range: Option<&str>,
        from_start: bool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<AuditReport, BrainError> {
        if self.cycle.store.is_shallow() {
            return Err(BrainError::Usage {
                message: "this clone is shallow: its history begins in the middle, and cannot be audited".to_owned(),
                hint: Some("`git fetch --unshallow` brings the rest".to_owned()),
            });
        }
        if self.cycle.store.has_grafts() {
            return Err(BrainError::Usage {
                message: "this clone has grafts, which hide parts of its history (info/grafts in the git folder)"
                    .to_owned(),
                hint: Some(
                    "move that file away: `git replace` says the same for one machine, and the audit ignores it"
                        .to_owned(),
                ),
            });
        }
        let Some(range) = range else {
            let audited = self.cycle.audit(from_start, progress).or_else(|error| self.cut_off(error))?;
            return Ok(AuditReport::of(&audited, ""));
        };
        let (after, until) = match range.split_once("..") {
            Some((_, rest)) if rest.starts_with('.') => {
                return Err(BrainError::usage(format!("{range}: a range is A..B, with two dots")));
            }
            Some((after, until)) => (Some(after).filter(|text| !text.is_empty()), until),
            None => (None, range),
        };
        let until = self.at(Some(until).filter(|text| !text.is_empty()))?;
        let after = after.map(|after| self.at(Some(after))).transpose()?;
        let wanted = AuditRange { after, until: Some(until) };
        match self.cycle.audit_range(&wanted, progress).or_else(|error| self.cut_off(error).map(Some))? {
            Some(audited) => Ok(AuditReport::of(&audited, range)),
            None => Err(BrainError::Usage {
                message: format!("{range} has no commits"),
                hint: Some("A..B has what leads to B and not to A: A is the older one".to_owned()),
            }),
        }
    }

    /// The findings of a history that could not be audited to its end: the object that cannot be read, and all that was found before.
    fn cut_off(&self, error: BrainError) -> Result<Audited, BrainError> {
        if !error.is_of_the_history() {
            return Err(error);
        }
        let mut audited = self.cycle.last_audit().unwrap_or_default();
        let message = format!("cannot be audited to its end: {error}");
        let commit = match &error {
            BrainError::Store(StoreError::BadObject { what: "commit", id, .. }) => id.clone(),
            _ => self.at(None)?.to_string(),
        };
        audited.findings.insert(Finding::new(AuditRule::Unreadable, commit, message));
        Ok(audited)
    }

    /// Draws decisions for people: at least that share of the runs of agents in wake, and those that the last audit escalates. Without a seed, the
    /// tip of wake and the ids of all runs are: nobody knew them who chose an id. What was drawn before and nobody looked at stays drawn.
    ///
    /// # Errors
    /// A share below the least one, or above 1 (exit code 2).
    pub fn audit_sample(&self, seed: Option<u64>, share: f64, dry_run: bool) -> Result<AuditSample, BrainError> {
        if !(LEAST_SHARE..=1.0).contains(&share) {
            return Err(BrainError::usage(format!("--share {share}: a share is at least {LEAST_SHARE} and at most 1")));
        }
        let runs = self.runs_of_agents()?;
        let names: Vec<&str> = runs.iter().map(String::as_str).collect();
        let seed = match seed {
            Some(seed) => seed,
            None => sample::seed_of(&self.at(None)?.to_string(), &names),
        };
        let drawn: BTreeSet<String> = sample::draw(&names, seed, share).into_iter().map(str::to_owned).collect();
        let there: BTreeSet<&str> = names.iter().copied().collect();
        let before: AuditSample = self.cycle.store.cached_document(QUEUE).unwrap_or_default();
        let before: BTreeSet<String> = before.drawn.into_iter().chain(before.earlier).collect();
        let mut earlier = Vec::new();
        for run in before.into_iter().filter(|run| there.contains(run.as_str()) && !drawn.contains(run)) {
            if !self.is_looked_at(&run)? {
                earlier.push(run);
            }
        }
        let drawn = drawn.into_iter().collect();
        let last = self.open_findings()?;
        let escalated: BTreeSet<String> = last
            .into_iter()
            .filter(|finding| finding.level == AuditLevel::Quarantine && there.contains(finding.run.as_str()))
            .map(|finding| finding.run)
            .collect();
        let escalated = escalated.into_iter().collect();
        let sample = AuditSample { seed, share, of: runs.len(), drawn, earlier, escalated };
        if !dry_run {
            self.cycle.store.keep_document(QUEUE, &sample);
        }
        Ok(sample)
    }

    /// Whether a person accepted a run that was drawn, or took it back.
    fn is_looked_at(&self, run: &str) -> Result<bool, BrainError> {
        let Ok(id) = RunId::parse(run) else { return Ok(true) };
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        if self.cycle.store.file(tree, &layout::run(&id))?.is_none() || self.cycle.taken_back_by(tree, &id)?.is_some() {
            return Ok(true);
        }
        let reviews: Vec<ReviewRecord> =
            self.cycle.reviews_of(&id)?.into_iter().filter(ReviewRecord::is_of_audit).collect();
        if reviews.is_empty() {
            return Ok(false);
        }
        let its = self.commits_of(&id)?;
        for review in reviews.iter().filter(|review| its.contains(&review.commit)) {
            if self.cycle.may_not_accept(review.address())?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commits that made a run of wake, as findings and decisions name them.
    fn commits_of(&self, run: &RunId) -> Result<[String; 2], BrainError> {
        Ok(self.cycle.commits_that_made(self.at(None)?, run)?.map(|commit| commit.to_string()))
    }

    /// The drawn runs of wake that nobody looked at, and all that the last audit put under quarantine and nobody settled.
    pub fn audit_queue(&self) -> Result<Vec<AuditItem>, BrainError> {
        let sample: AuditSample = self.cycle.store.cached_document(QUEUE).unwrap_or_default();
        let findings = self.open_findings()?;
        let mut items = Vec::new();
        for run in sample.drawn.into_iter().chain(sample.earlier) {
            if !findings.iter().any(|finding| finding.run == run) && !self.is_looked_at(&run)? {
                let words = self.words_behind(&run)?;
                items.push(AuditItem { run, words, because: "sample".to_owned(), ..AuditItem::default() });
            }
        }
        let mut asked: BTreeMap<(String, String), Vec<Finding>> = BTreeMap::new();
        for finding in findings.into_iter().filter(|finding| finding.level == AuditLevel::Quarantine) {
            if !self.is_taken_back_since(&finding)? {
                asked.entry((finding.commit.clone(), finding.run.clone())).or_default().push(finding);
            }
        }
        for (at, ((commit, run), findings)) in asked.into_iter().enumerate() {
            let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.id()).collect();
            let because = rules.into_iter().collect::<Vec<_>>().join(", ");
            let undo = if at < UNDONE { self.way_back(&findings).unwrap_or_default() } else { String::new() };
            items.push(AuditItem { run, commit, because, undo, ..AuditItem::default() });
        }
        Ok(items)
    }

    /// The first stimulus that a run of wake rests on, clipped; empty: none.
    fn words_behind(&self, run: &str) -> Result<String, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let Ok(run) = RunId::parse(run) else { return Ok(String::new()) };
        let first = network.record(&run)?.and_then(|record| record.stimuli.first().cloned());
        let stimulus = first.map(|id| network.stimulus(&id)).transpose()?.flatten();
        Ok(stimulus.map(|stimulus| render::clip(&stimulus.text)).unwrap_or_default())
    }

    /// The command that takes back what findings on one commit are about, if one does.
    fn way_back(&self, findings: &[Finding]) -> Option<String> {
        let first = findings.first()?;
        let is_of_run = |finding: &Finding| {
            finding.rule.ends_with_revert() && finding.rule != AuditRule::ForgedTrailer && !finding.run.is_empty()
        };
        let store = &self.cycle.store;
        let commit = store.commit(CommitId::parse(&first.commit).ok()?).ok()?;
        let is_behind = |branch| store.need_tip(branch).and_then(|tip| store.is_ancestor(commit.id, tip));
        if ![store.main(), store.wake()].into_iter().any(|branch| is_behind(branch).unwrap_or(false)) {
            // What waits on a branch is thrown away with it, and decisions are taken back by none.
            let waiting = self.cycle.waiting_named(&first.run).ok().flatten()?;
            return (waiting.commit.id == commit.id).then(|| format!("git brain reject {}", first.run));
        }
        if commit.trailer("Sleep").is_some() {
            // One that a later sleep has gone on from is undone after that.
            let is_newest = store.tip(store.main()).ok().flatten() == Some(commit.id);
            return is_newest.then(|| "git brain sleep --undo".to_owned());
        }
        match findings.iter().all(is_of_run) {
            true => Some(format!("git brain revert {}", first.run)),
            false => {
                findings.iter().all(|finding| finding.rule != AuditRule::Rewritten).then(|| self.git_revert(&commit))
            }
        }
    }

    /// The open findings of the last audit, without those that a person accepted since.
    fn open_findings(&self) -> Result<Vec<Finding>, BrainError> {
        let mut findings = self.cycle.last_audit().map(|audited| audited.open()).unwrap_or_default();
        let accepted = if findings.is_empty() { Accepted::new() } else { self.cycle.accepted(&findings)? };
        let mut may = BTreeMap::new();
        for (review, _) in accepted.values().flatten() {
            if !may.contains_key(review.address()) {
                may.insert(review.address().to_owned(), self.cycle.may_not_accept(review.address())?.is_none());
            }
        }
        findings.retain(|finding| {
            let decisions = accepted.get(&finding.id()).into_iter().flatten();
            !decisions.into_iter().any(|(review, _)| review.commit == finding.commit && may[review.address()])
        });
        Ok(findings)
    }

    /// Whether the run whose own commit a finding is about was taken back since, and nothing stays of what is wrong with it: the next audit settles it.
    fn is_taken_back_since(&self, finding: &Finding) -> Result<bool, BrainError> {
        let Some(run) = RunId::parse(&finding.run).ok().filter(|_| finding.rule.ends_with_revert()) else {
            return Ok(false);
        };
        let wake = self.at(None)?;
        Ok(self.cycle.taken_back_by(self.cycle.store.tree_of(wake)?, &run)?.is_some()
            && self.cycle.own_commit(wake, &run)?.to_string() == finding.commit)
    }

    /// The open findings of the last audit, a sentence for each.
    pub(super) fn audit_notes(&self, is_meant: impl Fn(&Finding) -> bool) -> Vec<String> {
        let findings = self.open_findings().unwrap_or_default();
        findings.iter().filter(|finding| is_meant(finding)).map(said).collect()
    }

    /// The open findings about commits that bear the name of a run and are not that run's, a sentence for each.
    pub(super) fn asked_beside(&self, run: &RunId) -> Result<Vec<String>, BrainError> {
        let mut findings = self.open_findings()?;
        findings.retain(|finding| finding.run == run.as_str());
        if findings.is_empty() {
            return Ok(Vec::new());
        }
        let its = self.commits_of(run)?;
        Ok(findings.iter().filter(|finding| !its.contains(&finding.commit)).map(said).collect())
    }

    /// The error that a commit is none of a run, where the last audit asks about it.
    pub(super) fn asked_about(&self, name: &str) -> Option<BrainError> {
        let asked = self.audit_notes(|finding| name.len() >= SHORTEST && finding.commit.starts_with(name));
        (!asked.is_empty()).then(|| BrainError::Usage {
            message: format!("{name} is a commit and no run; {}", asked.join("; ")),
            hint: Some(format!(
                "`git show {name}` shows it; `git brain audit accept {name} --why TEXT` lets it stand, `git revert {name}` on the branch that it was made on (`-m 1` of a merge) takes it back"
            )),
        })
    }

    /// Notes that a person looked at a run, a sleep or a commit, and lets it stand: a decision as any other, which syncs, on each commit that
    /// findings are about.
    ///
    /// # Errors
    /// Neither a run of wake nor the subject of a finding (exit code 2); main does not let that person decide (3).
    pub fn audit_accept(&self, name: &str, why: &str) -> Result<AuditAccepted, BrainError> {
        if self.cycle.shared.world.in_hook() {
            return Err(BrainError::refused(
                "git-brain started this program (BRAIN_IN_HOOK is set), and only a person decides",
            ));
        }
        let (store, world) = (&self.cycle.store, &self.cycle.shared.world);
        if let Some(message) = self.cycle.may_not_accept(&store.user().1)? {
            return Err(BrainError::Refused {
                message,
                hint: Some(
                    "`[review]` of brain.toml names the reviewers, `git config user.email` the person who decides"
                        .to_owned(),
                ),
            });
        }
        let findings = self.open_findings()?;
        let is_commit = name.len() >= SHORTEST;
        let its = match RunId::parse(name) {
            Ok(run) if store.file(store.tree_of(self.at(None)?)?, &layout::run(&run))?.is_some() => {
                Some(self.commits_of(&run)?)
            }
            _ => None,
        };
        // A run that is not in wake has no commits there that others could be told from. That a branch was moved is about no run.
        let is_its = |finding: &Finding| match &its {
            None => finding.run == name,
            Some(its) => {
                its.contains(&finding.commit)
                    && (finding.run == name || finding.run.is_empty() && finding.rule != AuditRule::Rewritten)
            }
        };
        let is_meant = |finding: &&Finding| is_its(finding) || is_commit && finding.commit.starts_with(name);
        let meant: Vec<&Finding> = findings.iter().filter(is_meant).collect();
        let mut subjects: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
        for finding in &meant {
            let (run, ids) = subjects.entry(finding.commit.clone()).or_default();
            ids.push(finding.id());
            if run.is_empty() {
                run.clone_from(&finding.run);
            }
        }
        if !subjects.is_empty() && why.trim().is_empty() {
            return Err(BrainError::usage("an acceptance of what the audit found needs a reason: --why TEXT"));
        }
        if subjects.is_empty()
            && let Ok(id) = RunId::parse(name)
        {
            let wake = self.at(None)?;
            if store.file(store.tree_of(wake)?, &layout::run(&id))?.is_some() {
                subjects.insert(self.cycle.own_commit(wake, &id)?.to_string(), (name.to_owned(), Vec::new()));
            }
        }
        if subjects.is_empty() {
            return Err(BrainError::Usage {
                message: format!("{name} is no run of wake, and no commit of an open finding"),
                hint: Some("`git brain review` lists the runs and commits that the audit asks about".to_owned()),
            });
        }
        let mut decisions = Vec::new();
        for (commit, (run, ids)) in subjects {
            let parts = if ids.is_empty() { vec![&ids[..]] } else { ids.chunks(limits::AUDIT_ACCEPTS).collect() };
            for (part, accepts) in parts.into_iter().enumerate() {
                let own = self.new_persons_run(&["audit", &commit, &part.to_string()])?;
                // A commit of no run is decided on under the decision's own name.
                let is_over = |run: &RunId| run.unix_ms().div_euclid(1000) <= world.latest_seconds();
                let named = RunId::parse(&run).ok().filter(is_over).unwrap_or_else(|| own.clone());
                let review = ReviewRecord {
                    via: OF_AUDIT.to_owned(),
                    why: self.cycle.shared.secrets.redact(why).into_owned(),
                    accepts: accepts.to_vec(),
                    ..ReviewRecord::bare(own, (named, commit.clone()), Verdict::Approve, store.person(), world.now())
                };
                self.cycle.add_review(&review)?;
                decisions.push(review);
            }
        }
        let settles = meant.into_iter().map(AuditFinding::of).collect();
        let others = findings.iter().filter(|finding| finding.run == name && !is_meant(finding));
        let notes = others.map(said).collect();
        Ok(AuditAccepted { reviewer: store.person(), settles, notes, decisions })
    }

    /// The runs of agents in wake, by their records' names.
    fn runs_of_agents(&self) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let mut runs = Vec::new();
        for (path, _) in store.files(tree, layout::RUNS)? {
            if let Place::Run(run) = Place::of(&path)
                && !run.is_a_persons()
            {
                runs.push(run.to_string());
            }
        }
        Ok(runs)
    }
}

/// A finding in a sentence.
pub(super) fn said(finding: &Finding) -> String {
    let commit: String = finding.commit.chars().take(SHORTEST + 3).collect();
    let path = if finding.path.is_empty() { String::new() } else { format!("{} ", finding.path) };
    format!("the audit asks about commit {commit}, {}: {path}{}", finding.rule.id(), finding.message)
}
