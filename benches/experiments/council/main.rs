//! A council against its best member and against a plain majority, on simulated panels whose errors are correlated by a known amount.
//!
//! ```text
//! cargo bench --bench council [-- --seeds N]
//! ```
//!
//! A question has one right answer. A member errs with its own rate. With the share `within` a member takes its family's draw instead of its own,
//! and with the share `across` a family takes that of all: two members that both take one draw err together or not at all. Confidence is drawn around
//! .80 for a right vote and .72 for a wrong one: it knows a little, as that of models does. Members of one family that share a draw give nearly the
//! same reasons.
//!
//! Each seed is a panel's life: 100 questions whose outcomes are told, by which the best member is chosen and correlations are measured, then 200
//! that count. `passed on` are the questions that the council leaves to a person. As a person would answer any question that is passed on to him,
//! the fair comparison is a majority that passes on as many: those with the narrowest margin, and of equal ones the least confident. Prints
//! Markdown; nothing is asserted.

#[path = "../statistics.rs"]
mod statistics;

use git_brain::council::ids::MindId;
use git_brain::council::independence::PastQuestion;
use git_brain::council::verdict::{Thresholds, decide};
use git_brain::council::vote::{Decision, Member, Members, Vote};
use statistics::{Dice, Interval, for_each_seed};

const PAST: usize = 100;
const QUESTIONS: usize = 200;
const SEEDS: u64 = 60;

/// A panel: the family of each member with its rate of error, and how errors are shared.
struct Panel {
    name: &'static str,
    members: &'static [(&'static str, f64)],
    within: f64,
    across: f64,
}

const PANELS: [Panel; 7] = [
    Panel { name: "3 families, apart", members: &[("a", 0.3), ("b", 0.3), ("c", 0.3)], within: 0.0, across: 0.0 },
    Panel {
        name: "5 families, apart",
        members: &[("a", 0.3), ("b", 0.3), ("c", 0.3), ("d", 0.3), ("e", 0.3)],
        within: 0.0,
        across: 0.0,
    },
    Panel {
        name: "5 families, errors shared",
        members: &[("a", 0.3), ("b", 0.3), ("c", 0.3), ("d", 0.3), ("e", 0.3)],
        within: 0.0,
        across: 0.75,
    },
    Panel {
        name: "one good member, 4 weak",
        members: &[("a", 0.1), ("b", 0.4), ("c", 0.4), ("d", 0.4), ("e", 0.4)],
        within: 0.0,
        across: 0.0,
    },
    Panel {
        name: "5 copies and 2 others",
        members: &[("a", 0.35), ("a", 0.35), ("a", 0.35), ("a", 0.35), ("a", 0.35), ("b", 0.25), ("c", 0.25)],
        within: 0.95,
        across: 0.0,
    },
    Panel {
        name: "3 families of 2",
        members: &[("a", 0.3), ("a", 0.3), ("b", 0.3), ("b", 0.3), ("c", 0.3), ("c", 0.3)],
        within: 0.8,
        across: 0.0,
    },
    Panel {
        name: "3 families of 2, errors shared",
        members: &[("a", 0.3), ("a", 0.3), ("b", 0.3), ("b", 0.3), ("c", 0.3), ("c", 0.3)],
        within: 0.8,
        across: 0.6,
    },
];

const WORDS: [&str; 24] = [
    "night", "backup", "index", "disk", "hour", "people", "noon", "cost", "risk", "log", "cache", "port", "queue",
    "test", "branch", "merge", "power", "price", "key", "rule", "memory", "signal", "clock", "network",
];

/// The shares of one panel's life.
struct Life {
    best: f64,
    majority: f64,
    printed: f64,
    /// Of the questions that the council decided.
    decided: f64,
    /// Of all, where a person answers rightly what is passed on.
    council: f64,
    /// The same of a majority that passes on as many.
    majority_passing: f64,
    passed_on: f64,
    correlation: f64,
}

fn main() {
    let mut seeds = SEEDS;
    let mut args = std::env::args();
    while let Some(arg) = args.next() {
        if arg == "--seeds" {
            seeds = args.next().and_then(|n| n.parse().ok()).expect("--seeds N");
        }
    }
    println!("Shares of right answers, means over {seeds} panels with 95 % intervals; {QUESTIONS} questions each.\n");
    println!(
        "| panel | correlation | best member | majority | printed rule + person | council, decided | passed on | council + person | majority + person | difference |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for panel in &PANELS {
        let lives = for_each_seed(0..seeds, |seed| live(panel, seed));
        let of = |figure: fn(&Life) -> f64| {
            Interval::mean(&lives.iter().map(figure).filter(|x| x.is_finite()).collect::<Vec<_>>())
        };
        let gain = Interval::gain(
            &lives.iter().map(|life| life.council).collect::<Vec<_>>(),
            &lives.iter().map(|life| life.majority_passing).collect::<Vec<_>>(),
        );
        println!(
            "| {} | {:.2} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} | {:.3} | {:.3} | {gain:+.3} |",
            panel.name,
            of(|life| life.correlation).value,
            of(|life| life.best),
            of(|life| life.majority),
            of(|life| life.printed),
            of(|life| life.decided),
            of(|life| life.passed_on).value,
            of(|life| life.council),
            of(|life| life.majority_passing),
        );
    }
}

/// The votes on one question; the right answer is to approve or to reject, by turns.
fn asked(panel: &Panel, members: &Members, right: Decision, dice: &mut Dice) -> Vec<Vote> {
    let wrong = if right == Decision::Approve { Decision::Reject } else { Decision::Approve };
    let all = dice.unit();
    let families = ["a", "b", "c", "d", "e"].map(|family| {
        let draw = if dice.unit() < panel.across { all } else { dice.unit() };
        (family, draw, sentence(dice))
    });
    let of = |family: &str| families.iter().find(|(name, ..)| *name == family).expect("a family of the panel");
    members
        .iter()
        .zip(panel.members)
        .map(|(member, (family, rate))| {
            let (_, draw, reason) = of(family);
            let shares = dice.unit() < panel.within;
            // A family of one has no draw but its own.
            let alone = panel.members.iter().filter(|(other, _)| other == family).count() == 1;
            let errs = if shares || alone { *draw } else { dice.unit() } < *rate;
            let own = sentence(dice);
            let reasoning = if shares { format!("{reason} {}", WORDS[dice.below(WORDS.len())]) } else { own };
            let middle = if errs { 0.72 } else { 0.80 };
            Vote {
                member: member.id.clone(),
                family: member.family.clone(),
                decision: if errs { wrong } else { right },
                confidence: (middle + dice.between(-0.2, 0.2)).clamp(0.0, 1.0),
                reasoning,
                evidence: Vec::new(),
            }
        })
        .collect()
}

fn sentence(dice: &mut Dice) -> String {
    (0..12).map(|_| WORDS[dice.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

fn live(panel: &Panel, seed: u64) -> Life {
    let mut dice = Dice::new(seed);
    let member = |(place, (family, _)): (usize, &(&str, f64))| Member {
        id: format!("m{place}").as_str().into(),
        family: (*family).into(),
    };
    let members = Members::new(panel.members.iter().enumerate().map(member).collect()).expect("members of the panel");
    let right_of = |dice: &mut Dice| if dice.below(2) == 0 { Decision::Approve } else { Decision::Reject };
    let mut past = Vec::new();
    let mut hits = vec![0_usize; members.count()];
    for _ in 0..PAST {
        let right = right_of(&mut dice);
        let votes = asked(panel, &members, right, &mut dice);
        votes.iter().zip(&mut hits).for_each(|(vote, hits)| *hits += usize::from(vote.decision == right));
        past.push(PastQuestion {
            outcome: right,
            votes: votes.into_iter().map(|vote| ((&vote.member).into(), vote.decision)).collect(),
        });
    }
    let best = (0..hits.len()).rev().max_by_key(|place| hits[*place]).unwrap_or_default();
    let (mut best_right, mut majority_right, mut printed_right) = (0.0, 0.0, 0.0);
    let (mut decided, mut decided_right) = (0.0, 0.0);
    // How sure the majority is of a question, and whether it is right.
    let mut margins: Vec<(f64, bool)> = Vec::new();
    for _ in 0..QUESTIONS {
        let right = right_of(&mut dice);
        let votes = asked(panel, &members, right, &mut dice);
        let verdict = decide("?", &members, &votes, &past, &Thresholds::default());
        let is_right = |decision: Decision| f64::from(u8::from(decision == right));
        best_right += is_right(votes[best].decision);
        let approve: Vec<f64> =
            votes.iter().filter(|vote| vote.decision == Decision::Approve).map(|vote| vote.confidence).collect();
        let reject: Vec<f64> =
            votes.iter().filter(|vote| vote.decision == Decision::Reject).map(|vote| vote.confidence).collect();
        let sums = (approve.iter().sum::<f64>(), reject.iter().sum::<f64>());
        // Of an even split the more confident half.
        let approves = (approve.len(), sums.0) > (reject.len(), sums.1);
        let majority = if approves { Decision::Approve } else { Decision::Reject };
        majority_right += is_right(majority);
        let sure = approve.len().abs_diff(reject.len()) as f64 + (sums.0 - sums.1).abs() / 100.0;
        margins.push((sure, majority == right));
        // What it leaves to a person is answered rightly as well.
        printed_right += match (verdict.printed.escalates, verdict.printed.decision) {
            (false, Some(decision)) => is_right(decision),
            _ => 1.0,
        };
        if !verdict.escalates() {
            decided += 1.0;
            decided_right += is_right(verdict.decision);
        }
    }
    let all = QUESTIONS as f64;
    margins.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kept = margins.iter().take(decided as usize).filter(|(_, right)| *right).count() as f64;
    Life {
        best: best_right / all,
        majority: majority_right / all,
        printed: printed_right / all,
        decided: decided_right / decided,
        council: (decided_right + all - decided) / all,
        majority_passing: (kept + all - decided) / all,
        passed_on: (all - decided) / all,
        correlation: correlation(&members, &past),
    }
}

/// The mean phi of the errors of two members in the past.
fn correlation(members: &Members, past: &[PastQuestion]) -> f64 {
    let errors: Vec<Vec<f64>> = members
        .iter()
        .map(|member| {
            past.iter()
                .map(|question| f64::from(u8::from(question.votes[&MindId::from(&member.id)] != question.outcome)))
                .collect()
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let mut all = Vec::new();
    for (place, one) in errors.iter().enumerate() {
        for other in &errors[place + 1..] {
            let (a, b) = (mean(one), mean(other));
            let both = one.iter().zip(other).map(|(x, y)| (x - a) * (y - b)).sum::<f64>() / one.len() as f64;
            let spread = (a * (1.0 - a) * b * (1.0 - b)).sqrt();
            if spread > 0.0 {
                all.push(both / spread);
            }
        }
    }
    mean(&all)
}
