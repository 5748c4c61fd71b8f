//! What a candidate is in the end, read off its gate record and nothing else: no mind's opinion comes in here.

use serde::{Deserialize, Serialize};

use super::gates::{ExecutionMode, GateRecord, GateResult, SANITY, is_reserved};

/// The class of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It leaked, or its data were invalid.
    SickLeaf,
    /// All hard gates passed, the record is complete, and tools made it.
    Fruit,
    /// Sound and promising: it seeds the next cycle.
    GoldenLeaf,
    /// Nothing passed.
    DeadLeaf,
    /// Anything else.
    NormalLeaf,
}

impl Class {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SickLeaf => "sick leaf",
            Self::Fruit => "fruit",
            Self::GoldenLeaf => "golden leaf",
            Self::DeadLeaf => "dead leaf",
            Self::NormalLeaf => "normal leaf",
        }
    }
}

/// Classifies a gate record, in this order: sick, fruit, golden, dead, normal. `is_sick`: it was flagged for leakage or invalid data.
pub fn classify(record: &GateRecord, is_sick: bool) -> Class {
    let is_real = record.execution_mode == ExecutionMode::ToolExecuted;
    let passed: Vec<_> = record.gates.iter().filter(|gate| gate.passed).collect();
    // A goal with gates of its own alone asks nothing of the brain.
    let is_sound = passed.iter().any(|gate| gate.name == SANITY) || !record.asked.iter().any(|name| name == SANITY);
    // Sanity, size and newness pass without any effect: what speaks for a candidate is the rest.
    let speaks = |name: &str| ["G2", "G3", "G4"].iter().any(|gate| name.starts_with(gate)) || !name.starts_with('G');
    // What was not measured says nothing against a candidate.
    let answered = |gate: &GateResult| !gate.broken && (gate.figure.is_some() || !is_reserved(&gate.name));
    // A gate without an answer could have stopped it.
    let is_broken = record.gates.iter().any(|gate| gate.hard && gate.broken);
    let promising = passed.iter().filter(|gate| gate.hard && speaks(&gate.name)).count();
    if is_sick {
        Class::SickLeaf
    } else if is_real && record.is_complete() && record.passes() {
        Class::Fruit
    } else if is_real && is_sound && promising > 0 && !is_broken {
        Class::GoldenLeaf
    } else if promising == 0 && is_real && record.gates.iter().all(answered) {
        Class::DeadLeaf
    } else {
        Class::NormalLeaf
    }
}

#[cfg(test)]
mod tests {
    use super::super::gates::{ALIGNMENT, GATES};
    use super::*;

    fn record(passed: impl Fn(&str) -> bool, mode: ExecutionMode) -> GateRecord {
        let gates = GATES.iter().map(|(name, hard, _)| GateResult {
            name: (*name).to_owned(),
            hard: *hard,
            passed: passed(name),
            figure: Some(1.0),
            threshold: 1.0,
            note: String::new(),
            broken: false,
        });
        GateRecord {
            domain: "tea".into(),
            candidate: "c".into(),
            asked: GATES.iter().map(|(name, ..)| (*name).to_owned()).collect(),
            gates: gates.collect(),
            execution_mode: mode,
        }
    }

    #[test]
    fn only_a_complete_record_that_tools_made_is_fruit() {
        let modes = [
            ExecutionMode::PlanOnly,
            ExecutionMode::ManualResult,
            ExecutionMode::StubResult,
            ExecutionMode::ToolExecuted,
        ];
        for mode in modes {
            let all = record(|_| true, mode);
            let is_fruit = classify(&all, false) == Class::Fruit;
            assert_eq!(is_fruit, mode == ExecutionMode::ToolExecuted, "{mode:?}");
            assert_eq!(classify(&all, true), Class::SickLeaf);
        }
        assert_eq!(classify(&record(|_| true, ExecutionMode::StubResult), false), Class::NormalLeaf);
        for (failing, ..) in GATES {
            let one = record(|name| name != failing, ExecutionMode::ToolExecuted);
            assert_ne!(classify(&one, false), Class::Fruit, "{failing} can fail alone");
        }
        let mut open = record(|_| true, ExecutionMode::ToolExecuted);
        open.gates.retain(|gate| gate.name != ALIGNMENT);
        assert_eq!(classify(&open, false), Class::GoldenLeaf, "a handoff that nobody answered");
    }

    #[test]
    fn leaves_are_told_apart() {
        let real = ExecutionMode::ToolExecuted;
        assert_eq!(
            classify(&record(|name| name.starts_with("G1") || name.starts_with("G4"), real), false),
            Class::GoldenLeaf
        );
        assert_eq!(classify(&record(|name| name.starts_with("G4"), real), false), Class::NormalLeaf);
        assert_eq!(
            classify(&record(|name| name.starts_with("G1") || name.starts_with("G9"), real), false),
            Class::DeadLeaf
        );
        assert_eq!(classify(&record(|_| false, real), false), Class::DeadLeaf);
    }
}
