//! The audit of a history, and the decisions that people look at.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Brain, BrainError};
use crate::audit::{Finding, Settled, counted, sample, sarif};
pub use crate::audit::{Level as AuditLevel, Rule as AuditRule, VERSION as AUDIT_RULES};
use crate::cycle::audit::{AuditRange, Audited};
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::review::{OF_AUDIT, ReviewRecord, Said, Verdict};

/// Where the drawn decisions are kept, in the cache.
const QUEUE: &str = "audit-sample.json";
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

impl AuditReport {
    fn of(audited: &Audited, range: &str) -> Self {
        let findings = audited.list();
        let named = |finding: &Finding| {
            let id = finding.id();
            AuditFinding { settled: audited.settled.get(&id).cloned(), id, finding: finding.clone() }
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
    /// Open findings about other commits that say the run's name, a sentence for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The decisions, one on each commit.
    pub decisions: Vec<ReviewRecord>,
}

/// A run of wake, or a commit, that a person should look at.
#[derive(Clone, Debug, Serialize)]
pub struct AuditItem {
    /// The run; empty: the commit is of none.
    pub run: String,
    /// The commit that breaks the rule; absent for a run of the sample.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// `sample`, or the rule that it breaks.
    pub because: String,
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
            return Ok(AuditReport::of(&self.cycle.audit(from_start, progress)?, ""));
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
        match self.cycle.audit_range(&wanted, progress)? {
            Some(audited) => Ok(AuditReport::of(&audited, range)),
            None => Err(BrainError::Usage {
                message: format!("{range} has no commits"),
                hint: Some("A..B has what leads to B and not to A: A is the older one".to_owned()),
            }),
        }
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
        let last = self.cycle.last_audit().map(|audited| audited.open()).unwrap_or_default();
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
        let findings = self.cycle.last_audit().map(|audited| audited.open()).unwrap_or_default();
        let mut items = Vec::new();
        for run in sample.drawn.into_iter().chain(sample.earlier) {
            if !findings.iter().any(|finding| finding.run == run) && !self.is_looked_at(&run)? {
                items.push(AuditItem { run, commit: String::new(), because: "sample".to_owned() });
            }
        }
        let findings: Vec<Finding> =
            findings.into_iter().filter(|finding| finding.level == AuditLevel::Quarantine).collect();
        if findings.is_empty() {
            return Ok(items);
        }
        let mut accepted = self.cycle.accepted()?;
        let mut asked = BTreeSet::new();
        for finding in findings {
            if let Some((review, _)) = accepted.remove(&finding.commit)
                && self.cycle.may_not_accept(review.address())?.is_none()
            {
                asked.insert(finding.commit.clone());
            }
            if !self.is_taken_back_since(&finding)? && asked.insert(finding.commit.clone()) {
                let Finding { run, commit, rule, .. } = finding;
                items.push(AuditItem { run, commit, because: rule.id().to_owned() });
            }
        }
        Ok(items)
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
        let findings = self.cycle.last_audit().map(|audited| audited.open()).unwrap_or_default();
        findings.iter().filter(|finding| is_meant(finding)).map(said).collect()
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
        let findings = self.cycle.last_audit().map(|audited| audited.open()).unwrap_or_default();
        let is_commit = name.len() >= SHORTEST;
        let its = match RunId::parse(name) {
            Ok(run) if store.file(store.tree_of(self.at(None)?)?, &layout::run(&run))?.is_some() => {
                Some(self.commits_of(&run)?)
            }
            _ => None,
        };
        // A run that is not in wake has no commits there that others could be told from.
        let is_its = |finding: &Finding| its.as_ref().map_or(finding.run == name, |its| its.contains(&finding.commit));
        let is_meant = |finding: &&Finding| is_its(finding) || is_commit && finding.commit.starts_with(name);
        let mut subjects: BTreeMap<String, String> =
            findings.iter().filter(is_meant).map(|finding| (finding.commit.clone(), finding.run.clone())).collect();
        if !subjects.is_empty() && why.trim().is_empty() {
            return Err(BrainError::usage("an acceptance of what the audit found needs a reason: --why TEXT"));
        }
        if subjects.is_empty()
            && let Ok(id) = RunId::parse(name)
        {
            let wake = self.at(None)?;
            if store.file(store.tree_of(wake)?, &layout::run(&id))?.is_some() {
                subjects.insert(self.cycle.own_commit(wake, &id)?.to_string(), name.to_owned());
            }
        }
        if subjects.is_empty() {
            return Err(BrainError::Usage {
                message: format!("{name} is no run of wake, and no commit of an open finding"),
                hint: Some("`git brain review` lists the runs and commits that the audit asks about".to_owned()),
            });
        }
        let mut decisions = Vec::new();
        for (commit, run) in subjects {
            let own = self.new_persons_run(&["audit", &commit])?;
            // A commit of no run is decided on under the decision's own name.
            let named = RunId::parse(&run).ok().filter(|run| run.unix_ms().div_euclid(1000) <= world.latest_seconds());
            let review = ReviewRecord {
                run: named.unwrap_or_else(|| own.clone()),
                review: own,
                commit,
                verdict: Verdict::Approve,
                reviewer: store.person(),
                via: OF_AUDIT.to_owned(),
                council: None,
                at: world.now(),
                why: self.cycle.shared.secrets.redact(why).into_owned(),
                kept: Vec::new(),
                edited: 0,
                of: 0,
                resolved: Vec::new(),
                lands: None,
                declined: Said::default(),
                forgotten: Vec::new(),
                again: None,
            };
            self.cycle.add_review(&review)?;
            decisions.push(review);
        }
        let others = findings.iter().filter(|finding| finding.run == name && !is_meant(finding));
        Ok(AuditAccepted { reviewer: store.person(), notes: others.map(said).collect(), decisions })
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
fn said(finding: &Finding) -> String {
    let commit: String = finding.commit.chars().take(SHORTEST + 3).collect();
    let path = if finding.path.is_empty() { String::new() } else { format!("{} ", finding.path) };
    format!("the audit asks about commit {commit}, {}: {path}{}", finding.rule.id(), finding.message)
}
