//! Is it a brain yet: a verdict in words on each open question of the design, by the vital signs, each figure against what chance or the
//! absence of the mechanism would give. Source: MagistraAI's technical note, 10.

use serde::{Deserialize, Serialize};

use super::{Branching, RecallByAge, Structure};
use crate::chemistry::dopamine::Calibration;

/// Neurons from which on a network says something about growth. Source: MagistraAI's technical note, 10.
pub const GROWN: usize = 10_000;
/// Answers, runs and predictions from which on a share of them says something.
const ENOUGH: usize = 20;
/// Standard normal quantile of a one-sided 95 % bound.
const BOUND: f64 = 1.645;
/// A modularity so many deviations above its null models is no chance.
const APART: f64 = 2.0;
/// Efficiency as a share of chance from which on a network counts as integrated.
const INTEGRATED: f64 = 0.75;
/// The share of activation that a beam has to keep.
const KEPT: f64 = 0.95;

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is so.
    Yes,
    /// It was measured, and is not so.
    NotYet,
    /// There is too little to measure.
    TooLittle,
}

/// The verdict on one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verdict {
    /// The criterion, in a word.
    pub criterion: String,
    /// The verdict.
    pub answer: Answer,
    /// The figure; null where there is none.
    pub figure: Option<f64>,
    /// The same by chance, or without the mechanism; null where there is none.
    pub null: Option<f64>,
    /// The verdict in words.
    pub text: String,
}

/// How far waves reach in the network, measured from its most salient neurons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waves {
    /// Waves that were sent.
    pub count: usize,
    /// Of those, the waves that the beam cut.
    pub cut: usize,
    /// The mean share of the network that a wave activates.
    pub reached: f64,
    /// The share of activation that the beam keeps, of the waves that it cut.
    pub kept: f64,
}

/// Predictions against the best constant: the mean of all outcomes, known afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constant {
    /// Its Brier score.
    pub brier: f64,
    /// By how much predictions are better, and the deviation of the mean of that.
    pub gain: (f64, f64),
}

impl Constant {
    /// Of predictions and outcomes.
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let count = pairs.len().max(1) as f64;
        let mean = pairs.iter().map(|(_, outcome)| outcome).sum::<f64>() / count;
        let square = |x: f64| x * x;
        let gains = pairs.iter().map(|(predicted, came)| square(mean - came) - square(predicted - came));
        let gains: Vec<f64> = gains.collect();
        let gain = gains.iter().sum::<f64>() / count;
        let spread = gains.iter().map(|one| square(one - gain)).sum::<f64>() / (count - 1.0).max(1.0);
        let brier = pairs.iter().map(|(_, came)| square(mean - came)).sum::<f64>() / count;
        Self { brier, gain: (gain, (spread / count).sqrt()) }
    }
}

/// All that verdicts are reached by.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'v> {
    /// Files of neurons, and of those the files that could be read.
    pub files: (usize, usize),
    /// Newest runs that started beside others, of how many, and runs that wait in conflict.
    pub beside: (usize, usize, usize),
    /// Differences that merges settled by the rules, among the newest.
    pub settled: usize,
    /// How far waves reach.
    pub waves: Waves,
    /// Runs that runs cause, and the bound from which on they are braked.
    pub branching: (&'v Branching, f64),
    /// Structure.
    pub structure: Option<&'v Structure>,
    /// Predictions, and the best constant.
    pub predictions: Option<(&'v Calibration, Constant)>,
    /// What is still known.
    pub recall: &'v RecallByAge,
}

impl Findings<'_> {
    /// The verdicts, in the order of the questions.
    pub fn verdicts(&self) -> Vec<Verdict> {
        vec![
            self.format(),
            self.months(),
            self.races(),
            self.order(),
            self.growth(),
            self.beam(),
            self.circulation(),
            self.specialised(),
            self.integrated(),
            self.foresight(),
            self.comprehension(),
        ]
    }

    fn format(&self) -> Verdict {
        let (files, read) = self.files;
        let share = read as f64 / files.max(1) as f64;
        let answer = judged(files >= GROWN, read == files);
        let of = format!("{read} of {files} files of neurons can be read");
        verdict("format", answer, share, 1.0, format!("{of}{}", from(answer, GROWN)))
    }

    fn months(&self) -> Verdict {
        let old = self.recall.ages.iter().skip(1);
        let (hits, asked, chance) = pooled(old.map(|age| (age.hits, age.asked, age.chance.unwrap_or(0.0))));
        let text = format!("of memories older than a day {hits} of {asked} are found, {} by chance", percent(chance));
        share("months", hits, asked, chance, text)
    }

    fn races(&self) -> Verdict {
        let (beside, of, conflicts) = self.beside;
        let lost = conflicts as f64 / (beside + conflicts).max(1) as f64;
        let answer = judged(beside + conflicts >= ENOUGH, lost <= 0.01);
        let alone = beside as f64 / of.max(1) as f64;
        let text = format!(
            "{conflicts} of {} runs beside others wait in conflict; overwriting loses {}",
            beside + conflicts,
            percent(alone)
        );
        verdict("races", answer, lost, alone, format!("{text}{}", from(answer, ENOUGH)))
    }

    fn order(&self) -> Verdict {
        let (settled, left) = (self.settled, self.beside.2);
        let share = settled as f64 / (settled + left).max(1) as f64;
        let answer = judged(settled + left > 0, share >= 0.9);
        let text = match settled + left {
            0 => "no two deltas conflicted lately".to_owned(),
            all => format!("{settled} of {all} conflicts were settled by rank and rule, none without"),
        };
        verdict("order", answer, share, 0.0, text)
    }

    fn growth(&self) -> Verdict {
        let (files, reached) = (self.files.0, self.waves.reached);
        let answer = judged(files >= GROWN && self.waves.count > 0, reached <= 0.5);
        let text = format!("a wave activates {} of {files} neurons, all without a bound", percent(reached));
        verdict("growth", answer, reached, 1.0, format!("{text}{}", from(answer, GROWN)))
    }

    fn beam(&self) -> Verdict {
        let Waves { count, cut, kept, .. } = self.waves;
        let answer = judged(cut > 0, kept >= KEPT);
        let text = match cut {
            0 => format!("no wave of {count} was wider than the beam"),
            cut => format!("the beam cut {cut} of {count} waves and kept {} of their activation", percent(kept)),
        };
        verdict("beam", answer, kept, 1.0, text)
    }

    fn circulation(&self) -> Verdict {
        let (branching, most) = self.branching;
        let ratio = branching.ratio.unwrap_or(0.0);
        let answer = judged(branching.parents >= ENOUGH, ratio > 0.1 && ratio <= most);
        let runs = branching.parents;
        let text = format!("{runs} runs cause {ratio:.2} others each; 0 is silence, above {most:.2} a flood");
        verdict("circulation", answer, ratio, 0.0, format!("{text}{}", from(answer, ENOUGH)))
    }

    fn specialised(&self) -> Verdict {
        let Some(s) = self.structure.filter(|s| s.measured >= 2 * ENOUGH) else {
            return unknown("specialised", "too few connected neurons");
        };
        let (value, null) = (s.modularity.value, s.modularity.null.mean);
        let answer = judged(true, s.modularity.z.is_some_and(|z| z >= APART));
        let groups = s.modularity.groups;
        let text = format!("{groups} groups with modularity {value:.2}, by chance {null:.2}");
        verdict("specialised", answer, value, null, text)
    }

    fn integrated(&self) -> Verdict {
        let relative = self.structure.filter(|s| s.measured >= 2 * ENOUGH).and_then(|s| s.integration.relative);
        let Some(relative) = relative else { return unknown("integrated", "too few connected neurons") };
        let (has, least) = (relative * 100.0, percent(INTEGRATED));
        let text = format!("{has:.1} % of the efficiency of a random network; it takes {least}");
        verdict("integrated", judged(true, relative >= INTEGRATED), relative, 1.0, text)
    }

    fn foresight(&self) -> Verdict {
        let Some((calibration, constant)) = self.predictions else {
            return unknown("foresight", "no prediction was judged yet");
        };
        let (gain, deviation) = constant.gain;
        let answer = judged(calibration.count >= ENOUGH, gain > BOUND * deviation);
        let (count, brier) = (calibration.count, calibration.brier);
        let (null, least) = (constant.brier, BOUND * deviation);
        if null <= least {
            return unknown("foresight", "outcomes were nearly always the same, so that none could be foreseen better");
        }
        let text = format!(
            "Brier {brier:.3} in {count} predictions; the best constant earns {null:.3}, and it takes {least:.3} less"
        );
        verdict("foresight", answer, brier, constant.brier, format!("{text}{}", from(answer, ENOUGH)))
    }

    fn comprehension(&self) -> Verdict {
        let ages = self.recall.ages.iter();
        let (hits, asked, chance) = pooled(ages.map(|age| (age.hits, age.asked, age.chance.unwrap_or(0.0))));
        let text = format!("{hits} of {asked} missing words are found, {} by chance", percent(chance));
        share("comprehension", hits, asked, chance, text)
    }
}

/// What all verdicts come to: yes if every answer is, and how many of each there are.
pub fn summed_up(verdicts: &[Verdict]) -> (Answer, [usize; 3]) {
    let count = |answer: Answer| verdicts.iter().filter(|verdict| verdict.answer == answer).count();
    let counts = [count(Answer::Yes), count(Answer::NotYet), count(Answer::TooLittle)];
    let whole = match counts {
        [_, 0, 0] => Answer::Yes,
        [0, 0, _] => Answer::TooLittle,
        _ => Answer::NotYet,
    };
    (whole, counts)
}

fn judged(is_enough: bool, holds: bool) -> Answer {
    match (is_enough, holds) {
        (false, _) => Answer::TooLittle,
        (true, true) => Answer::Yes,
        (true, false) => Answer::NotYet,
    }
}

/// From how many on there would be enough.
fn from(answer: Answer, enough: usize) -> String {
    if answer == Answer::TooLittle { format!("; it takes {enough}") } else { String::new() }
}

fn verdict(criterion: &str, answer: Answer, figure: f64, null: f64, text: String) -> Verdict {
    let words = match answer {
        Answer::Yes => "yes",
        Answer::NotYet => "not yet",
        Answer::TooLittle => "too little to tell",
    };
    let (criterion, text) = (criterion.to_owned(), format!("{words}: {text}"));
    Verdict { criterion, answer, figure: Some(figure), null: Some(null), text }
}

fn unknown(criterion: &str, why: &str) -> Verdict {
    let (figure, null) = (None, None);
    Verdict { figure, null, ..verdict(criterion, Answer::TooLittle, 0.0, 0.0, why.to_owned()) }
}

/// Hits and questions together, and the mean chance.
fn pooled(parts: impl Iterator<Item = (usize, usize, f64)>) -> (usize, usize, f64) {
    let (hits, asked, chance) = parts.fold((0, 0, 0.0), |(hits, asked, chance), (hit, of, by_chance)| {
        (hits + hit, asked + of, chance + by_chance * of as f64)
    });
    (hits, asked, chance / asked.max(1) as f64)
}

/// A share of answers against chance: yes where even the lower bound of the share (Wilson 1927) is above it.
fn share(criterion: &str, hits: usize, asked: usize, chance: f64, text: String) -> Verdict {
    let (n, p) = (asked.max(1) as f64, hits as f64 / asked.max(1) as f64);
    let (z, middle) = (BOUND * BOUND, p + BOUND * BOUND / (2.0 * n));
    let least = (middle - BOUND * ((p * (1.0 - p) + z / (4.0 * n)) / n).sqrt()) / (1.0 + z / n);
    let answer = judged(asked >= ENOUGH, least > chance);
    verdict(criterion, answer, p, chance, format!("{text}{}", from(answer, ENOUGH)))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vitals::cloze::Recalled;

    fn recall(ages: [(usize, usize); 2]) -> RecallByAge {
        let age = |(hits, asked)| Recalled {
            age: "day".to_owned(),
            memories: asked,
            asked,
            hits,
            share: None,
            chance: Some(0.2),
            distractors: None,
            first: 0,
            reciprocal_rank: None,
        };
        RecallByAge { ages: ages.map(age).into(), top: 10 }
    }

    fn findings<'v>(branching: &'v Branching, recall: &'v RecallByAge) -> Findings<'v> {
        Findings {
            files: (61, 61),
            beside: (0, 0, 0),
            settled: 0,
            waves: Waves::default(),
            branching: (branching, 1.0),
            structure: None,
            predictions: None,
            recall,
        }
    }

    #[test]
    fn a_new_brain_has_too_little_to_tell() {
        let (branching, recall) = (Branching::of(&[]), recall([(0, 0), (0, 0)]));
        let verdicts = findings(&branching, &recall).verdicts();
        assert_eq!(summed_up(&verdicts), (Answer::TooLittle, [0, 0, 11]));
        assert_eq!(verdicts[0].text, "too little to tell: 61 of 61 files of neurons can be read; it takes 10000");
        assert_eq!((verdicts[9].figure, verdicts[9].null), (None, None));
    }

    #[test]
    fn each_figure_is_judged_against_its_null() {
        let branching = Branching { ratio: Some(0.6), children: 24, parents: 40, rounds: 20 };
        let found = recall([(30, 40), (12, 40)]);
        let mut findings = findings(&branching, &found);
        let answers = |findings: &Findings<'_>| {
            let verdicts = findings.verdicts();
            verdicts.into_iter().map(|verdict| (verdict.criterion, verdict.answer)).collect::<Vec<_>>()
        };
        let of = |findings: &Findings<'_>, name: &str| {
            answers(findings).into_iter().find(|(known, _)| known == name).unwrap().1
        };
        assert_eq!((of(&findings, "circulation"), of(&findings, "comprehension")), (Answer::Yes, Answer::Yes));
        assert_eq!(of(&findings, "months"), Answer::NotYet, "12 of 40 may be chance of a fifth");
        findings.branching.1 = 0.5;
        assert_eq!(of(&findings, "circulation"), Answer::NotYet, "it runs away");
        (findings.beside, findings.settled) = ((40, 100, 0), 3);
        assert_eq!((of(&findings, "races"), of(&findings, "order")), (Answer::Yes, Answer::Yes));
        findings.beside.2 = 4;
        assert_eq!((of(&findings, "races"), of(&findings, "order")), (Answer::NotYet, Answer::NotYet));
        findings.files = (20_000, 19_999);
        findings.waves = Waves { count: 10, cut: 10, reached: 0.02, kept: 0.99 };
        assert_eq!(of(&findings, "format"), Answer::NotYet, "one cannot be read");
        assert_eq!((of(&findings, "growth"), of(&findings, "beam")), (Answer::Yes, Answer::Yes));
        (findings.waves.reached, findings.waves.kept) = (0.6, 0.9);
        assert_eq!((of(&findings, "growth"), of(&findings, "beam")), (Answer::NotYet, Answer::NotYet));
    }

    #[test]
    fn predictions_are_judged_against_the_best_constant() {
        let came = |n: usize| if n.is_multiple_of(2) { 0.9 } else { 0.1 };
        let good: Vec<(f64, f64)> = (0..30).map(|n| (came(n), came(n) - 0.05)).collect();
        let blind: Vec<(f64, f64)> = (0..30).map(|n| (0.5, came(n))).collect();
        let (good, blind) = (Constant::of(&good), Constant::of(&blind));
        assert!(good.gain.0 > BOUND * good.gain.1, "{good:?}");
        assert!((blind.gain.0, blind.brier) == (0.0, 0.16000000000000003) || blind.gain.0.abs() < 1e-9, "{blind:?}");
    }
}
