//! The audit of a history, and the decisions that people look at.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Brain, BrainError};
use crate::audit::{self, Finding, counted, sample, sarif};
pub use crate::audit::{Level as AuditLevel, Rule as AuditRule, VERSION as AUDIT_RULES};
use crate::cycle::audit::{AuditRange, Audited};
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::review::{ReviewRecord, Said, Verdict};

/// Where the drawn decisions are kept, in the cache.
const QUEUE: &str = "audit-sample.json";
/// Where a decision of the audit was made.
const VIA: &str = "audit";

/// A finding with its id.
#[derive(Clone, Debug, Serialize)]
pub struct AuditFinding {
    /// Twelve hexadecimal digits, the same in every audit.
    pub id: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The result of an audit.
#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    /// The worst level of all findings.
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
        let named: Vec<AuditFinding> =
            findings.iter().map(|finding| AuditFinding { id: finding.id(), finding: finding.clone() }).collect();
        let escalated = named.iter().filter(|named| named.finding.level == AuditLevel::Quarantine);
        Self {
            level: audit::worst(&findings),
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
        let findings: Vec<Finding> = self.findings.iter().map(|named| named.finding.clone()).collect();
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
    /// The drawn runs.
    pub drawn: Vec<String>,
    /// Runs that the audit escalates, beside those.
    pub escalated: Vec<String>,
}

/// A run of wake that a person should look at.
#[derive(Clone, Debug, Serialize)]
pub struct AuditItem {
    /// The run.
    pub run: String,
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
        Ok(AuditReport::of(&self.cycle.audit_range(&wanted, progress)?, range))
    }

    /// Draws decisions for people: at least that share of the runs of agents in wake, and those that the last audit escalates.
    ///
    /// # Errors
    /// A share that is no share (exit code 2).
    pub fn audit_sample(&self, seed: u64, share: f64, dry_run: bool) -> Result<AuditSample, BrainError> {
        if !(0.0..=1.0).contains(&share) || share == 0.0 {
            return Err(BrainError::usage(format!("--share {share}: a share is above 0 and at most 1")));
        }
        let runs = self.runs_of_agents()?;
        let names: Vec<&str> = runs.iter().map(String::as_str).collect();
        let drawn = sample::draw(&names, seed, share).into_iter().map(str::to_owned).collect();
        let there: BTreeSet<&str> = names.iter().copied().collect();
        let last = self.cycle.last_audit().map(|audited| audited.list()).unwrap_or_default();
        let escalated: BTreeSet<String> = last
            .into_iter()
            .filter(|finding| finding.level == AuditLevel::Quarantine && there.contains(finding.run.as_str()))
            .map(|finding| finding.run)
            .collect();
        let sample = AuditSample { seed, share, of: runs.len(), drawn, escalated: escalated.into_iter().collect() };
        if !dry_run {
            self.cycle.store.keep_document(QUEUE, &sample);
        }
        Ok(sample)
    }

    /// The drawn and escalated runs of wake that no person has accepted or taken back yet.
    pub fn audit_queue(&self) -> Result<Vec<AuditItem>, BrainError> {
        let sample: AuditSample = self.cycle.store.cached_document(QUEUE).unwrap_or_default();
        let findings = self.cycle.last_audit().map(|audited| audited.list()).unwrap_or_default();
        let mut items: BTreeMap<String, String> =
            sample.drawn.into_iter().map(|run| (run, "sample".to_owned())).collect();
        for finding in findings.into_iter().filter(|finding| finding.level == AuditLevel::Quarantine) {
            items.insert(finding.run, finding.rule.id().to_owned());
        }
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let mut open = Vec::new();
        for (run, because) in items {
            // A run that was taken out of wake is nobody's to look at.
            let Ok(id) = RunId::parse(&run) else { continue };
            let is_there = self.cycle.store.file(tree, &layout::run(&id))?.is_some();
            let of_audit = self.cycle.reviews_of(&id)?.into_iter().any(|review| review.via == VIA);
            if is_there && !of_audit && self.cycle.taken_back_by(tree, &id)?.is_none() {
                open.push(AuditItem { run, because });
            }
        }
        Ok(open)
    }

    /// Notes that a person looked at a run of the queue and lets it stand: a decision as any other, which syncs.
    ///
    /// # Errors
    /// A run that wake does not have (exit code 2).
    pub fn audit_accept(&self, run: &str, why: &str) -> Result<ReviewRecord, BrainError> {
        let unknown = || BrainError::Usage {
            message: format!("{run} is no run of wake"),
            hint: Some("`git brain review` lists the runs that the audit asks about".to_owned()),
        };
        let id = RunId::parse(run).map_err(|_| unknown())?;
        let (store, world) = (&self.cycle.store, &self.cycle.shared.world);
        let wake = self.at(None)?;
        if store.file(store.tree_of(wake)?, &layout::run(&id))?.is_none() {
            return Err(unknown());
        }
        let commit = self.cycle.own_commit(wake, &id)?;
        let review = ReviewRecord {
            review: self.new_persons_run(&["audit", run])?,
            run: id,
            commit: commit.to_string(),
            verdict: Verdict::Approve,
            reviewer: store.person(),
            via: VIA.to_owned(),
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
        };
        self.cycle.add_review(&review)?;
        Ok(review)
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
