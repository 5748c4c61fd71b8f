//! Fruit of own gates that another process wrote down: a claim, until the gates here have measured it. What they measured is noted beside the repository,
//! by the hash of what the record says.

use std::collections::BTreeSet;

use super::Question;
use super::programs::Programs;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::classes::Class;
use crate::deliberation::cycle::rules_of;
use crate::deliberation::gates::{ALIGNMENT, GateResult};
use crate::deliberation::record::{CycleRecord, ResultRecord};
use crate::limits;
use crate::model::deliberation::Deliberation;
use crate::model::ids::{AgentName, RunId};
use crate::world::MemberKey;

/// What is known here of a fruit that a cycle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The gates here said so.
    Here,
    /// No gate here was asked.
    Not,
    /// The gates here say otherwise: how.
    Otherwise(String),
}

/// Figures that differ by less are the same on another machine.
const SAME: f64 = 1e-6;

impl Cycle {
    /// The key of this user and this folder by which measurements are noted: a folder that was copied brings none that counts. `None`: there is no
    /// place for one, and all is measured again.
    fn key_of_measures(&self) -> Option<MemberKey> {
        MemberKey::of(&self.shared.world, &self.store.private_dir(), "measured").ok()
    }

    /// Notes that the gates here have measured the fruit of a cycle.
    pub(super) fn note_measured(&self, goal: &AgentName, cycle: &CycleRecord) -> Result<(), CycleError> {
        let Some(key) = self.key_of_measures() else { return Ok(()) };
        for result in fruits_of(cycle) {
            self.store.note_measured(&mark_of(&key, goal, cycle, result), "")?;
        }
        Ok(())
    }

    /// The fruit of own gates in cycles that is fruit by the gates of main as they are here, by its run and key, with what is known of it here.
    pub fn measured_in(
        &self,
        goal: &AgentName,
        cycles: &[(RunId, CycleRecord)],
    ) -> Result<Vec<(RunId, String, Measured)>, CycleError> {
        if cycles.iter().all(|(_, cycle)| fruits_of(cycle).next().is_none()) {
            return Ok(Vec::new());
        }
        let settings = self.deliberation_of_main()?;
        let rules = self.programs_of(&settings).ok().map(|programs| rules_of(&settings, &programs.rules));
        let (noted, key) = (self.store.measured_here(), self.key_of_measures());
        let mark = |cycle: &CycleRecord, result: &ResultRecord| Some(mark_of(key.as_ref()?, goal, cycle, result));
        let known = |cycle: &CycleRecord, result: &ResultRecord| match mark(cycle, result).and_then(|m| noted.get(&m)) {
            Some(why) if why.is_empty() => Measured::Here,
            Some(why) => Measured::Otherwise(why.clone()),
            None => Measured::Not,
        };
        let known = &known;
        let in_force = cycles.iter().filter(|(_, cycle)| rules.as_ref().is_some_and(|rules| *rules == cycle.rules));
        let told = in_force.flat_map(|(run, cycle)| {
            fruits_of(cycle).map(move |result| (run.clone(), result.key.clone(), known(cycle, result)))
        });
        Ok(told.collect())
    }

    /// The fruit in cycles that the gates here have measured, by its run and key.
    pub(super) fn firm_in(
        &self,
        goal: &AgentName,
        cycles: &[(RunId, CycleRecord)],
    ) -> Result<BTreeSet<(RunId, String)>, CycleError> {
        let told = self.measured_in(goal, cycles)?.into_iter();
        Ok(told.filter(|(.., measured)| *measured == Measured::Here).map(|(run, key, _)| (run, key)).collect())
    }

    /// Measures claims of earlier cycles: the fruit that no gate here has measured. Returns what does not hold, and what cannot be measured now, which
    /// is neither this nor that.
    pub(super) fn claims_that_fail(
        &self,
        question: &Question,
        past: &[(RunId, CycleRecord)],
        (settings, programs, rules): (&Deliberation, &Programs, &str),
    ) -> Result<BTreeSet<(RunId, String)>, CycleError> {
        let (mut fail, mut left) = (BTreeSet::new(), limits::CLAIMS_MEASURED);
        let (noted, key) = (self.store.measured_here(), self.key_of_measures());
        for (run, cycle) in past.iter().filter(|(_, cycle)| cycle.rules == rules) {
            for result in fruits_of(cycle) {
                let mark = key.as_ref().map(|key| mark_of(key, &question.goal, cycle, result));
                let why = match mark.as_ref().and_then(|mark| noted.get(mark)) {
                    Some(why) => Some(why.clone()),
                    None if left == 0 => None,
                    None => {
                        left -= 1;
                        self.measured_otherwise(question, cycle, result, (settings, programs))?
                    }
                };
                if let (Some(mark), Some(why)) =
                    (mark.filter(|mark| question.writes && !noted.contains_key(mark)), &why)
                {
                    self.store.note_measured(&mark, why)?;
                }
                if why.is_none_or(|why| !why.is_empty()) {
                    fail.insert((run.clone(), result.key.clone()));
                }
            }
        }
        Ok(fail)
    }

    /// How the gates here say otherwise of a fruit; empty: they say the same; `None`: one of them gives no answer.
    fn measured_otherwise(
        &self,
        question: &Question,
        cycle: &CycleRecord,
        result: &ResultRecord,
        (settings, programs): (&Deliberation, &Programs),
    ) -> Result<Option<String>, CycleError> {
        let record = self.measured_again(question, result)?;
        let hard = || record.gates.iter().filter(|gate| gate.hard);
        if hard().any(|gate| gate.broken) {
            return Ok(None);
        }
        // Of other evidence nothing is known but that it passes today.
        let is_same = cycle.evidence.get(&result.tree).is_some_and(|hash| *hash == programs.evidence_of("", settings));
        let claimed = |name: &str| result.record.iter().flat_map(|record| &record.gates).find(|gate| gate.name == name);
        let other = |gate: &GateResult| {
            let figures = (gate.figure, claimed(&gate.name).and_then(|gate| gate.figure));
            let differ = match figures {
                (Some(here), Some(there)) => (here - there).abs() > SAME * here.abs().max(1.0),
                (here, there) => here.is_some() != there.is_some(),
            };
            let figure = |figure: Option<f64>| figure.map_or("no figure".to_owned(), |figure| figure.to_string());
            match (gate.passed, is_same && differ) {
                (false, _) => Some(format!("{} fails ({} against {})", gate.name, figure(figures.0), gate.threshold)),
                (true, true) => Some(format!("{} is {} and not {}", gate.name, figure(figures.0), figure(figures.1))),
                (true, false) => None,
            }
        };
        let others: Vec<String> = hard().filter_map(other).collect();
        Ok(Some(others.join(", ")))
    }
}

/// The fruit of a cycle that its own gates alone made.
fn fruits_of(cycle: &CycleRecord) -> impl Iterator<Item = &ResultRecord> {
    cycle.results.iter().filter(|result| result.class == Class::Fruit && !result.is_on_brain())
}

/// The mark of what a record says that gates can say, by a key: not the answer of the aligner, and not its words.
fn mark_of(key: &MemberKey, goal: &AgentName, cycle: &CycleRecord, result: &ResultRecord) -> String {
    let gates = result.record.iter().flat_map(|record| &record.gates).filter(|gate| gate.name != ALIGNMENT);
    let said: Vec<_> = gates
        .map(|gate| {
            (&gate.name, gate.hard, gate.passed, gate.broken, gate.figure.map(|figure| format!("{figure:.9e}")))
        })
        .collect();
    let evidence = cycle.evidence.get(&result.tree);
    let said = serde_json::json!([goal, cycle.rules, evidence, result.tree, result.key, said]).to_string();
    key.sign(said.as_bytes())
}
