//! The audit: rules that a history must hold, findings against them, and the report. Plain data in, plain data out.
//!
//! `rule` is the list of rules, `difference` holds a run's record against the neurons before and after its commit, `fields` says
//! whether what a commit wrote was given back, `ballot` counts the votes of a council again, `sample` draws decisions for people, `sarif` writes the report for a CI. The walk over history is `cycle::audit`'s.

pub mod ballot;
pub mod difference;
pub mod drift;
pub mod fields;
mod rule;
pub mod sample;
pub mod sarif;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use rule::{Level, Rule, VERSION};

/// A rule that a commit breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The commit.
    pub commit: String,
    /// The rule's id.
    pub rule: Rule,
    /// Its severity.
    pub level: Level,
    /// The file; empty: the commit itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The line, from 1; 0: the commit itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: usize,
    /// The fault, as the end of a sentence about the commit or its file.
    pub message: String,
    /// The run of the commit, if it names one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Finding {
    /// A finding of a commit as a whole.
    pub fn new(rule: Rule, commit: impl ToString, message: impl Into<String>) -> Self {
        Self {
            commit: commit.to_string(),
            rule,
            level: rule.level(),
            path: String::new(),
            line: 0,
            message: message.into(),
            run: String::new(),
        }
    }

    /// The same of a file.
    #[must_use]
    pub fn at(mut self, path: &str, line: usize) -> Self {
        (self.path, self.line) = (path.to_owned(), line);
        self
    }

    /// The same of a run.
    #[must_use]
    pub fn of_run(mut self, run: impl ToString) -> Self {
        self.run = run.to_string();
        self
    }

    /// A stable id: twelve hexadecimal digits of rule, commit, file and message.
    pub fn id(&self) -> String {
        let parts = [self.rule.id(), &self.commit, &self.path, &self.message];
        let hash = crate::model::ids::hash_fields(&parts.map(str::as_bytes));
        format!("{hash:016x}").chars().take(12).collect()
    }
}

/// A person's word on a finding: it stands as it is, or was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Who settled it.
    pub by: String,
    /// When.
    pub at: String,
    /// Why, in words.
    pub why: String,
}

/// The worst level of some findings.
pub fn worst(findings: &[Finding]) -> Level {
    findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok)
}

/// Numbers of findings by the rule.
pub fn counted(findings: &[Finding]) -> BTreeMap<Rule, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.rule).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_stable_ids_and_the_worst_level_stands() {
        let a = Finding::new(Rule::ForgedAuthor, "abc", "is by another");
        let b = Finding::new(Rule::MetricDrift, "abc", "apologises more");
        assert_eq!((a.id(), a.id().len()), (a.clone().id(), 12));
        assert_ne!(a.id(), b.id());
        assert_eq!(worst(&[]), Level::Ok);
        assert_eq!(worst(std::slice::from_ref(&b)), Level::Warn);
        assert_eq!(worst(&[b, a]), Level::Quarantine);
    }
}
