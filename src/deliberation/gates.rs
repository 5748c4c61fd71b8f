//! Gates: what a candidate must hold against, each a figure and a threshold that no proposer can reach.

use serde::{Deserialize, Serialize};

use crate::model::deliberation::{Deliberation, Gates};
use crate::model::ids::splitmix;

/// A built-in gate: name, whether it is hard, whether a mind answers it.
pub const GATES: [(&str, bool, bool); 9] = [
    (SANITY, true, false),
    ("G2 effect", true, false),
    ("G3 percentile", true, false),
    (OUT_OF_SAMPLE, true, false),
    ("G5 turnover", true, false),
    (NOVELTY, true, false),
    (ALIGNMENT, true, true),
    ("G8 decay", true, false),
    ("G9 cost", true, false),
];

/// Whether a name is that of a built-in gate, or could be taken for one.
pub fn is_reserved(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next() == Some('G') && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// The gate that asks for an effect on the half that nobody mined.
pub const OUT_OF_SAMPLE: &str = "G4 out of sample";
/// The gate that asks whether a delta can be applied.
pub const SANITY: &str = "G1 sanity";
/// The gate that asks whether a delta is new.
pub const NOVELTY: &str = "G6 novelty";
/// The gate that a mind answers.
pub const ALIGNMENT: &str = "G7 alignment";

/// Operations of which the gates measure what they do. Another one would land unseen behind one that they do.
pub const MEASURED: [&str; 4] = ["create", "connect", "adjust", "disconnect"];

/// How figures came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// Nothing was run.
    PlanOnly,
    /// A person entered them.
    ManualResult,
    /// A placeholder entered them.
    StubResult,
    /// The gates were run.
    ToolExecuted,
}

/// What a gate says of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    /// Its name.
    pub name: String,
    /// Whether a candidate that fails it cannot become fruit.
    pub hard: bool,
    /// Whether it passed.
    pub passed: bool,
    /// What was measured; null: nothing could be, and then it is not passed.
    pub figure: Option<f64>,
    /// What was asked for.
    pub threshold: f64,
    /// What else is worth knowing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it gave no answer, such as a program that fails: that says nothing about the candidate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
}

impl GateResult {
    /// What is wrong with an answer of a built-in gate: what it says does not follow from its figure. `None`: nothing, or the gate is a program.
    pub fn lies(&self) -> Option<String> {
        let (_, hard, _) = GATES.iter().find(|(name, ..)| *name == self.name)?;
        let holds = |figure: f64| match self.name.as_str() {
            // Cycles of before passed an effect of nothing.
            "G2 effect" if figure == self.threshold => self.passed,
            OUT_OF_SAMPLE => figure > self.threshold,
            "G5 turnover" | "G9 cost" => figure <= self.threshold,
            NOVELTY => figure < self.threshold,
            _ => figure >= self.threshold,
        };
        if self.hard != *hard {
            return Some(format!("{} is not as hard as it is", self.name));
        }
        (self.passed != self.figure.is_some_and(holds)).then(|| format!("{} says otherwise than its figure", self.name))
    }
}

/// What all gates say of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRecord {
    /// What it was measured on: the tree and the hash of its evidence.
    pub domain: String,
    /// The candidate's key.
    pub candidate: String,
    /// The gates that must be here.
    pub asked: Vec<String>,
    /// Those that answered.
    pub gates: Vec<GateResult>,
    /// How.
    pub execution_mode: ExecutionMode,
}

impl GateRecord {
    /// Whether every gate that was asked has answered, and there was one that decides.
    pub fn is_complete(&self) -> bool {
        self.gates.iter().any(|gate| gate.hard) && self.asked.iter().all(|name| self.has_answered(name))
    }

    /// Whether a gate has answered. One that is not hard keeps nothing waiting: not even where it is broken.
    fn has_answered(&self, name: &str) -> bool {
        self.gates.iter().any(|gate| gate.name == name && !(gate.broken && gate.hard))
    }

    /// The record as proposers may know it: without gates that are hidden. Whether the aligner is asked, and what he is shown, follows from the others
    /// alone ([`Self::asks_aligner`]), and so does his answer.
    #[must_use]
    pub fn without_hidden(&self, settings: &Deliberation) -> Self {
        if !settings.hides() {
            return self.clone();
        }
        let is_hidden = |name: &str| settings.gate.iter().any(|gate| gate.hidden && gate.name == name);
        let shows = |name: &str| !is_hidden(name);
        let mut seen = self.clone();
        seen.asked.retain(|name| shows(name));
        seen.gates.retain(|gate| shows(&gate.name));
        seen
    }

    /// Whether only the answer to the handoff is missing.
    pub fn lacks_alignment_alone(&self) -> bool {
        self.passes_all_but_alignment() && !self.is_complete()
    }

    /// Whether every hard gate that has answered passed, and all but the handoff have.
    pub fn passes_all_but_alignment(&self) -> bool {
        self.asked.iter().any(|name| name != ALIGNMENT) && self.awaits_alignment()
    }

    /// Whether the aligner is asked of it: nothing that is shown speaks against it. Asked of what passed the hidden gates alone, he would tell of them.
    pub fn asks_aligner(&self, settings: &Deliberation) -> bool {
        if settings.hides() {
            self.without_hidden(settings).awaits_alignment()
        } else {
            self.passes_all_but_alignment()
        }
    }

    /// Whether the answer of the aligner is missing, as far as proposers may know it.
    pub fn is_undecided(&self, settings: &Deliberation) -> bool {
        self.asks_aligner(settings) && !self.has_answered(ALIGNMENT) && self.asked.iter().any(|name| name == ALIGNMENT)
    }

    fn awaits_alignment(&self) -> bool {
        self.asked.iter().filter(|name| *name != ALIGNMENT).all(|name| self.has_answered(name))
            && self.gates.iter().all(|gate| gate.passed || !gate.hard || gate.name == ALIGNMENT)
    }

    /// Whether every hard gate passed.
    pub fn passes(&self) -> bool {
        self.gates.iter().all(|gate| gate.passed || !gate.hard)
    }

    /// Enters how much of a candidate was promoted in the same cycle, by those that were judged before it. False: that changes nothing.
    pub fn enter_likeness(&mut self, share: f64) -> bool {
        let Some(gate) = self.gates.iter_mut().find(|gate| gate.name == NOVELTY) else { return false };
        let share = rounded(share);
        if gate.figure.is_none_or(|figure| figure >= share) {
            return false;
        }
        (gate.figure, gate.passed) = (Some(share), share < gate.threshold);
        gate.note = "a fruit of the same cycle says so".to_owned();
        true
    }

    /// Enters the answer to the handoff; without one the record stays incomplete.
    pub fn align(&mut self, score: Option<u32>, least: u32, reason: &str) {
        let Some(score) = score else { return };
        self.gates.retain(|gate| gate.name != ALIGNMENT);
        self.gates.push(GateResult {
            name: ALIGNMENT.to_owned(),
            hard: true,
            passed: score >= least.max(1),
            figure: Some(f64::from(score)),
            threshold: f64::from(least.max(1)),
            note: reason.to_owned(),
            broken: false,
        });
        self.gates.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// The share of its gates that passed.
    pub fn share_passed(&self) -> f64 {
        let passed = self.gates.iter().filter(|gate| gate.passed).count();
        if self.asked.is_empty() { 0.0 } else { passed as f64 / self.asked.len() as f64 }
    }
}

/// What is measured of a delta on the brain. What could not be measured is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Why it cannot be applied; empty: it can.
    pub fault: String,
    /// The change of each probe of the older half.
    pub train: Vec<f64>,
    /// The mean change there of each random delta of the same shape.
    pub random: Vec<f64>,
    /// The change of each probe of the newer half.
    pub test: Vec<f64>,
    /// The share of the tree's weight that changes.
    pub turnover: Option<f64>,
    /// The share of its facts that were promoted or are there.
    pub similarity: Option<f64>,
    /// The mean change of the older half after seven days and a sleep.
    pub later: Option<f64>,
    /// Bytes that neurons grow by.
    pub bytes: Option<u64>,
}

/// Judges what was measured. A gate without a figure is not passed.
pub fn judge(measured: &Measured, thresholds: &Gates, domain: String, candidate: String, seed: u64) -> GateRecord {
    let effect = mean(&measured.train);
    let lower = lower_bound(&measured.train, seed);
    let percentile = percentile(effect, &measured.random);
    let left = measured.later.zip(effect).map(|(later, effect)| if effect > 0.0 { later / effect } else { 0.0 });
    let sound = f64::from(u8::from(measured.fault.is_empty()));
    let at_least = |figure: Option<f64>, least: f64| (figure, least, figure.is_some_and(|figure| figure >= least));
    let above = |figure: Option<f64>, least: f64| (figure, least, figure.is_some_and(|figure| figure > least));
    let at_most = |figure: Option<f64>, most: f64| (figure, most, figure.is_some_and(|figure| figure <= most));
    let below = |figure: Option<f64>, most: f64| (figure, most, figure.is_some_and(|figure| figure < most));
    // What is stored is what decides.
    let (lower, percentile, left) = (lower.map(rounded), percentile.map(rounded), left.map(rounded));
    let test = lower_bound(&measured.test, seed).map(rounded);
    let turnover = measured.turnover.map(rounded);
    let similarity = measured.similarity.map(rounded);
    let mut gates = Vec::new();
    for (name, hard, _) in GATES.into_iter().filter(|(.., is_handoff)| !is_handoff) {
        let (figure, threshold, passed) = match name {
            SANITY => at_least(Some(sound), 1.0),
            "G2 effect" => above(lower, thresholds.effect),
            "G3 percentile" => at_least(percentile, thresholds.percentile),
            OUT_OF_SAMPLE => above(test, thresholds.out_of_sample),
            "G5 turnover" => at_most(turnover, thresholds.turnover),
            NOVELTY => below(similarity, thresholds.similarity),
            "G8 decay" => at_least(left, thresholds.decay),
            _ => at_most(measured.bytes.map(|bytes| bytes as f64), thresholds.bytes as f64),
        };
        let note = match (name, figure) {
            (SANITY, _) => measured.fault.clone(),
            _ if !measured.fault.is_empty() => String::new(),
            ("G2 effect", None) => too_few(&measured.train, "older"),
            (OUT_OF_SAMPLE, None) => too_few(&measured.test, "newer"),
            ("G3 percentile", None) => too_few(&measured.train, "older"),
            ("G8 decay", None) => "there is no effect to keep".to_owned(),
            _ => String::new(),
        };
        gates.push(GateResult {
            name: name.to_owned(),
            hard,
            passed,
            figure: figure.map(rounded),
            threshold,
            note,
            broken: false,
        });
    }
    let asked = GATES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    GateRecord { domain, candidate, asked, gates, execution_mode: ExecutionMode::ToolExecuted }
}

/// Why a half says nothing.
fn too_few(probes: &[f64], half: &str) -> String {
    match probes.len() {
        asked if asked < LEAST_PROBES => {
            format!("{asked} memories of the {half} half ask what it touches, {LEAST_PROBES} are needed")
        }
        asked => format!("none of {asked} answers of the {half} half changes"),
    }
}

/// Six digits behind the point: what is stored has no noise.
pub fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6 + 0.0
}

/// The mean; of nothing there is none.
pub fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// Differences below which a half says nothing.
const LEAST_PROBES: usize = 5;

/// Resamples of the bootstrap.
const RESAMPLES: u64 = 1000;

/// The lower end of the 90 % interval of the mean of paired differences, by the bootstrap (Efron 1979): its fifth percentile. Fewer than five
/// differences, or none that is not zero, say nothing.
pub fn lower_bound(differences: &[f64], seed: u64) -> Option<f64> {
    if differences.len() < LEAST_PROBES || differences.iter().all(|difference| *difference == 0.0) {
        return None;
    }
    let mut state = seed;
    let mut draw = || (splitmix(&mut state) >> 11) as usize % differences.len();
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..differences.len()).map(|_| differences[draw()]).sum::<f64>() / differences.len() as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    Some(means[RESAMPLES as usize / 20])
}

/// The share of random effects that lie below one, in percent; half of those that are equal count.
pub fn percentile(effect: Option<f64>, random: &[f64]) -> Option<f64> {
    let effect = effect.filter(|_| !random.is_empty())?;
    let below = random.iter().filter(|other| **other < effect).count() as f64;
    let equal = random.iter().filter(|other| **other == effect).count() as f64;
    Some(100.0 * (below + equal / 2.0) / random.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every gate a candidate that passes all others and fails it.
    #[test]
    fn each_gate_can_fail_alone() {
        let good = || Measured {
            fault: String::new(),
            train: vec![1.0; 10],
            random: vec![0.0; 99],
            test: vec![1.0; 10],
            turnover: Some(0.1),
            similarity: Some(0.1),
            later: Some(1.0),
            bytes: Some(100),
        };
        let failed = |measured: &Measured, alignment: Option<u32>| -> Vec<String> {
            let mut record = judge(measured, &Gates::default(), "d".into(), "c".into(), 7);
            record.align(alignment, 1, "");
            let answered = |name: &String| record.gates.iter().any(|gate| gate.name == *name && gate.passed);
            record.asked.iter().filter(|name| !answered(name)).cloned().collect()
        };
        assert_eq!(failed(&good(), Some(1)), Vec::<String>::new());
        let mut uneven = vec![-0.1; 10];
        uneven[0] = 5.0;
        let worse = [
            ("G1 sanity", Measured { fault: "dangles".into(), ..good() }),
            ("G2 effect", Measured { later: mean(&uneven), train: uneven, ..good() }),
            ("G3 percentile", Measured { random: vec![2.0; 99], ..good() }),
            ("G4 out of sample", Measured { test: vec![-1.0; 10], ..good() }),
            ("G5 turnover", Measured { turnover: Some(0.5), ..good() }),
            ("G6 novelty", Measured { similarity: Some(0.95), ..good() }),
            ("G8 decay", Measured { later: Some(0.2), ..good() }),
            ("G9 cost", Measured { bytes: Some(20_000), ..good() }),
        ];
        for (name, measured) in worse {
            assert_eq!(failed(&measured, Some(1)), [name]);
        }
        assert_eq!(failed(&good(), Some(0)), [ALIGNMENT]);
        assert_eq!(failed(&good(), None), [ALIGNMENT], "nobody answered");
    }
}
