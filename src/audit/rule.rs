//! The rules, each with its id, its level and a sentence.

use serde::{Deserialize, Serialize};

/// The version of the rules: a result by other rules is of no use.
pub const VERSION: u32 = 8;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is wrong.
    #[default]
    Ok,
    /// A person should know.
    Warn,
    /// The commit, and what rests on it, is not to be relied upon until a person has decided.
    Quarantine,
}

impl Level {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warn => "warn",
            Self::Quarantine => "quarantine",
        }
    }
}

macro_rules! rules {
    ($($name:ident = $id:literal, $level:ident, $text:literal;)+) => {
        /// A rule of the audit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule { $(#[doc = $text] #[serde(rename = $id)] $name),+ }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$name),+];

            /// The id, as reports have it.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id),+ }
            }

            /// The level of its findings.
            pub fn level(self) -> Level {
                match self { $(Rule::$name => Level::$level),+ }
            }

            /// The rule in a sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(Rule::$name => $text),+ }
            }
        }
    };
}

rules! {
    Unreadable = "unreadable", Quarantine, "Every object of the history can be read.";
    Format = "format", Quarantine, "Every commit has the form of what it claims to be, and its files that of their place.";
    ForeignRoot = "foreign-root", Quarantine, "A brain has one beginning.";
    Rewritten = "rewritten-history", Quarantine, "A branch goes on from where the last audit saw it.";
    MainLine = "main-line", Quarantine, "Main takes sleeps and commits of people along its own line.";
    Clock = "clock", Quarantine, "No commit is dated ahead of the clock, before its parents or by a fixed clock, and the ids of runs grow.";
    Signature = "signature", Quarantine, "Where signatures are required, each commit is signed by a key that may sign for its author.";
    Secret = "secret", Warn, "No commit adds a secret.";
    ForgedAuthor = "forged-author", Quarantine, "A run's commit is by the agent that the record names, and a person's run by people.";
    ForgedTrailer = "forged-trailer", Quarantine, "The trailers of a run's commit say what its record says.";
    SingleWriter = "single-writer", Quarantine, "A run has one record and one commit, and an agent commits its own runs alone.";
    WrittenOnce = "written-once", Quarantine, "Records, stimuli, signals and ledger entries are written once and stay.";
    RecordMismatch = "record-mismatch", Quarantine, "A record says what its commit did to the network, field by field.";
    RunMismatch = "run-mismatch", Quarantine, "The operations of a run, done again, give its commit.";
    Capability = "capability", Quarantine, "A run does what the agents of main at its time were allowed to do.";
    OldAuthority = "old-authority", Warn, "A run rests on the definitions of main at its time, and not on those before or after.";
    PolicyByAgent = "policy-by-agent", Quarantine, "Agents change no settings, thresholds, definitions, prompts or council members.";
    CorePruned = "core-pruned", Quarantine, "Sleep and agents remove, archive or unpin no core or pinned neuron.";
    MergeMismatch = "merge-mismatch", Quarantine, "A merge that names its policy has the tree of the typed merge of its parents.";
    SleepLog = "sleep-log", Quarantine, "The log of a sleep says all that the sleep changed, and nothing else.";
    UndoMismatch = "undo-mismatch", Quarantine, "An undone sleep leaves the state before that sleep.";
    Reviewer = "reviewer", Quarantine, "A commit names reviewers that decided.";
    Unapproved = "unapproved", Quarantine, "A run that had to wait lands with the approval of a person that may decide.";
    ReviewForged = "review-forged", Quarantine, "A decision is by the person that it names, who may decide.";
    ReviewLate = "review-late", Warn, "A decision is by a person whom main still names when it is made.";
    ReviewTwice = "review-contradiction", Warn, "People decide on a run once, or agree.";
    CouncilVerdict = "council-verdict", Quarantine, "The verdict of a council follows from its votes.";
    CouncilMembers = "council-members", Quarantine, "The members of a council are those of its document on main.";
    CouncilBypass = "council-bypass", Quarantine, "A run that a council did not approve lands by the decision of a person.";
    CouncilTwice = "council-twice", Warn, "A council of one document has its say on a commit of a run once.";
    LedgerGap = "ledger-gap", Quarantine, "A ledger entry belongs to a corrective run and a prediction that the judged run made.";
    SignalGap = "signal-gap", Quarantine, "A signal belongs to the run that sent it, and an answer to the one that gave it.";
    WisdomGap = "wisdom-gap", Quarantine, "Wisdom belongs to a run that taught it.";
    SealedGap = "sealed-gap", Quarantine, "Sealed memories and tombstones belong to a run of a person that sealed them.";
    NarrativeGap = "narrative-gap", Warn, "The story stays near the ledger.";
    NarrativeForged = "narrative-forged", Quarantine, "Chapters of the story are told by sleeps alone.";
    MetricForged = "metric-forged", Quarantine, "The measures in a commit are those of what its run said.";
    MetricDrift = "metric-drift", Warn, "An agent speaks as it did at first: no more apologies, hedges or talk about itself.";
    Contradiction = "contradiction", Warn, "Two connections between the same neurons do not say opposite things.";
}

impl Rule {
    /// Whether a run that breaks it is as good as gone once a `revert` took back all that its record says.
    pub fn ends_with_revert(self) -> bool {
        matches!(
            self,
            Self::Clock
                | Self::Signature
                | Self::ForgedAuthor
                | Self::ForgedTrailer
                | Self::Capability
                | Self::OldAuthority
                | Self::Reviewer
                | Self::Unapproved
                | Self::CouncilBypass
                | Self::MetricForged
                | Self::MetricDrift
                | Self::Contradiction
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_as_they_are_written() {
        let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.id());
            assert!(rule.sentence().ends_with('.') && rule.level() != Level::Ok);
        }
    }
}
