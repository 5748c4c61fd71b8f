//! A cycle as it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::classes::{Class, classify};
use super::events::Event;
use super::gates::{ALIGNMENT, GateRecord, SANITY};
use super::nursery::Report;
use super::roles::{Cast, Role};
use super::seeds::Seed;
use super::sky::Forecast;
use super::verdict::{Proposal, Verdict};
use crate::model::deliberation::Deliberation;
use crate::model::ids::RunId;

/// What became of a hypothesis that was closed or examined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRecord {
    /// The proposal's key.
    pub key: String,
    /// The role that proposed it; absent: the gardener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Role>,
    /// Its tree.
    pub tree: String,
    /// The proposal.
    pub proposal: Proposal,
    /// Whether it entered without a skeptic's look: a replacement of the last round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncritiqued: bool,
    /// The nursery's report.
    pub nursery: Report,
    /// Whether it leaked, or its data were invalid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sick: bool,
    /// What the gates said; absent: it was not examined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<GateRecord>,
    /// Whether nothing but hidden gates that had given no answer were asked again, by the coordinator: nobody who proposes is told of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_again: bool,
    /// Its class.
    pub class: Class,
    /// What the skeptic said of the candidate: recorded, and read by nothing that decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<Verdict>,
}

/// How far a fruit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Aligned at 2 or more: what is like it is not new any more.
    Promoted,
    /// Aligned at 1: one of several that may say the same.
    Ensemble,
}

impl ResultRecord {
    /// Whether it never comes back: what leaked, what the nursery rejected, and what landed or may land. What gates of other rules or on other evidence
    /// rejected is open again. A candidate that passed all that is shown is closed, whatever a hidden gate said.
    pub fn closes(&self, settings: &Deliberation) -> bool {
        match self.open_class(settings) {
            Class::SickLeaf => true,
            Class::DeadLeaf => self.record.is_none(),
            Class::Fruit => self.is_on_brain(),
            _ => false,
        }
    }

    /// Whether the gates of the brain were asked about it, so that it lands where it is fruit.
    pub fn is_on_brain(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.asked.iter().any(|name| name == SANITY))
    }

    /// Whether it was measured as far as proposers may know, and a hidden gate gave no answer.
    pub fn lacks_hidden(&self, settings: &Deliberation) -> bool {
        let is_hidden = |name: &str| settings.gate.iter().any(|gate| gate.hidden && gate.name == name);
        let gates = || self.record.iter().flat_map(|record| &record.gates);
        self.is_measured(settings) && gates().any(|gate| gate.broken && is_hidden(&gate.name))
    }

    /// Whether it was measured, and every gate and the aligner answered, as far as proposers may know it: then on the same evidence by the same rules it
    /// is not measured again.
    pub fn is_measured(&self, settings: &Deliberation) -> bool {
        let has_answers = |record: &GateRecord| {
            let shown = record.without_hidden(settings);
            !record.is_undecided(settings) && shown.gates.iter().all(|gate| !gate.broken)
        };
        self.record.as_ref().is_some_and(has_answers)
    }

    /// Its class as who proposes may know it: where gates are hidden, by the others alone. What proposers see, their share, their temperature and
    /// their seeds among it, follows from this one.
    pub fn open_class(&self, settings: &Deliberation) -> Class {
        match &self.record {
            Some(record) if settings.hides() => {
                let seen = record.without_hidden(settings);
                let shows_nothing = seen.asked.iter().all(|name| name == ALIGNMENT);
                match (shows_nothing, record.is_undecided(settings)) {
                    (true, true) => Class::GoldenLeaf,
                    (true, false) => Class::NormalLeaf,
                    _ => classify(&seen, self.is_sick),
                }
            }
            _ => self.class,
        }
    }

    /// How far it carries; `None`: it is no fruit.
    pub fn standing(&self) -> Option<Standing> {
        let aligned = self.record.iter().flat_map(|record| &record.gates).find(|gate| gate.name == ALIGNMENT);
        let is_promoted = aligned.and_then(|gate| gate.figure).is_some_and(|score| score >= 2.0);
        let standing = if is_promoted { Standing::Promoted } else { Standing::Ensemble };
        (self.class == Class::Fruit).then_some(standing)
    }
}

/// A gate that a skeptic wants changed: in force only once a person has changed the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// The candidate whose passing gave rise to it.
    pub candidate: String,
    /// What should be asked for.
    pub text: String,
}

/// A cycle, as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CycleRecord {
    /// Its number on the machine that made it.
    pub cycle: u64,
    /// The newest cycles of the goal that it knew, by their runs: with those that they knew, all. A cycle without it knew none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<RunId>,
    /// Who played.
    pub cast: Cast,
    /// The hash of gates and thresholds, as main has them.
    pub rules: String,
    /// The hash of what each tree was measured on.
    pub evidence: BTreeMap<String, String>,
    /// The weather log.
    pub forecast: Forecast,
    /// Results, by tree and key.
    pub results: Vec<ResultRecord>,
    /// The seed bank after it, best first.
    pub seeds: Vec<Seed>,
    /// Gates that a skeptic wants changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amendments: Vec<Amendment>,
    /// Every step.
    pub events: Vec<Event>,
}

impl CycleRecord {
    /// A hash of what was decided on which grounds, whenever that was: equal for two machines that had the same cycle.
    pub fn identity(&self) -> String {
        let decided: Vec<_> = self.results.iter().map(|result| (&result.key, &result.tree, result.class)).collect();
        let told = serde_json::json!([self.cycle, self.rules, self.evidence, self.forecast, decided, self.seeds]);
        format!("{:016x}", crate::model::ids::hash_fields(&[told.to_string().as_bytes()]))
    }
}
