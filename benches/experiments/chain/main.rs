//! The chain against a single small model, on the same questions, with models by script.
//!
//! ```text
//! cargo bench --bench chain -- [--seeds 20]
//! ```
//!
//! **The task.** 48 questions; the answers of half of them were said to a brain, the others stand in files that tools may read. An answer
//! counts if it has the word that it takes. A seed says what the small model does with each question (`models.rs` has the shares, which
//! are an assumption, not a measurement of any model): it lists one folder again and again, calls tools that are not there, calls in a
//! form that is none, answers with nothing in it, or looks as it should. The large ones look for what is missing and conclude
//! from what they are shown; each is not there for one question in twenty.
//!
//! Conditions, all with the same prompts, tools and models: the small model in a loop of fifteen turns that failures
//! alone end (the control, see `control.rs`); the small model as a chain of one step of fifteen turns, which a repeated call ends; the chain
//! of three (4, 3, 2 turns, 8 in all); the large model alone, with 8 turns; and the large model with the other large one as its fallback. Where no model says anything, the program answers by an extract
//! of its memory: this is counted by itself. Nothing is remembered between questions. Figures are means over questions
//! and seeds, 95 % intervals by bootstrap over questions.

#![allow(clippy::disallowed_methods, reason = "a benchmark makes its folders, and its control reads them")]

mod control;
mod models;
#[path = "../statistics.rs"]
mod statistics;
mod task;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::{Context, Result, bail, ensure};
use git_brain::brain::{Brain, ChatMode, ChatRequest};
use git_brain::cognition::exchange::Request;
use git_brain::model::Origin;
use models::{Habit, Models};
use statistics::Interval;
use task::{Question, Scene};

const NAMES: [&str; 5] = [
    "small model, 15 turns, ended by failures alone (control)",
    "small model, 15 turns, ended by a repeated call",
    "chain of three: small 4, large 3, coder 2; 8 in all",
    "large model alone, 8 turns",
    "large model, 8 turns; another one if it says nothing",
];
const ONE: &str = r#"[{name = "OL1", model = "small", role = "research", turns = 15}]"#;
const THREE: &str = r#"[{name = "OL1", model = "small", role = "research", turns = 4}, {name = "M1", model = "large", role = "analysis", turns = 3}, {name = "M2", model = "coder", role = "review", turns = 2}]"#;
const LARGE: &str = r#"[{name = "M1", model = "large", role = "research", turns = 8}]"#;
const OTHER: &str = r#"[{name = "M2", model = "coder", role = "research", turns = 8}]"#;

/// What came of one question.
#[derive(Clone, Copy, Default)]
struct Outcome {
    turns: f64,
    input: f64,
    output: f64,
    /// A model answered it.
    answered: f64,
    /// A model did, or the extract.
    with_extract: f64,
}

impl Outcome {
    fn of(models: &Models<'_>, reply: Option<&str>, by_model: bool, value: &str) -> Self {
        let right = f64::from(u8::from(reply.is_some_and(|text| text.contains(value))));
        Self {
            turns: models.turns.into(),
            input: models.usage.input as f64,
            output: models.usage.output as f64,
            answered: if by_model { right } else { 0.0 },
            with_extract: right,
        }
    }
}

/// The brain as each condition has it.
struct Brains {
    one: Brain,
    three: Brain,
    large: Brain,
    other: Brain,
}

fn chat(brain: &Brain, question: &Question, mode: ChatMode, mut models: Models<'_>) -> Outcome {
    let request = ChatRequest { message: question.text(), mode, dry_run: true, ..ChatRequest::default() };
    let answer = brain.chat_with(&request, &Origin::local(), &mut models, &mut |_| ControlFlow::Continue(())).ok();
    let by_model = answer.as_ref().is_some_and(|answer| answer.chain.iter().all(|node| node.model != "extractive"));
    Outcome::of(&models, answer.as_ref().map(|answer| answer.reply.as_str()), by_model, question.value)
}

/// The large model; where no model answers, the other large one, with what both cost.
fn with_fallback<'q>(brains: &Brains, question: &'q Question, models: impl Fn() -> Models<'q>) -> Outcome {
    let first = chat(&brains.large, question, ChatMode::Simple, models());
    if first.answered > 0.0 {
        return first;
    }
    let second = chat(&brains.other, question, ChatMode::Simple, models());
    Outcome {
        turns: first.turns + second.turns,
        input: first.input + second.input,
        output: first.output + second.output,
        ..second
    }
}

fn outcomes(scene: &Scene, brains: &Brains, question: &Question, opening: &Request, seed: u64) -> [Outcome; 5] {
    let models = || Models::new(question, seed);
    let mut alone = models();
    let reply = control::answer(&brains.one, &scene.root(), opening.clone(), &mut alone);
    [
        Outcome::of(&alone, reply.as_deref(), true, question.value),
        chat(&brains.one, question, ChatMode::Simple, models()),
        chat(&brains.three, question, ChatMode::Reflexive, models()),
        chat(&brains.large, question, ChatMode::Simple, models()),
        with_fallback(brains, question, models),
    ]
}

/// A figure of each question under a condition, its mean over the seeds.
fn figure(all: &[Vec<[Outcome; 5]>], condition: usize, of: fn(&Outcome) -> f64) -> Vec<f64> {
    let mean = |seeds: &Vec<[Outcome; 5]>| seeds.iter().map(|o| of(&o[condition])).sum::<f64>() / seeds.len() as f64;
    all.iter().map(mean).collect()
}

fn print(all: &[Vec<[Outcome; 5]>]) {
    println!(
        "| | turns | tokens read | tokens written | answered by a model | or by the extract | tokens for each answer |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (condition, name) in NAMES.iter().enumerate() {
        let of = |figure_of| figure(all, condition, figure_of);
        let mean = |figure_of| Interval::mean(&of(figure_of));
        let price = Interval::ratio(&of(|o| o.input + o.output), &of(|o| o.answered));
        println!(
            "| {name} | {:.2} | {:.0} | {:.0} | {:.3} | {:.3} | {price:.0} |",
            mean(|o| o.turns),
            mean(|o| o.input),
            mean(|o| o.output),
            mean(|o| o.answered),
            mean(|o| o.with_extract)
        );
    }
    println!();
    for (above, below) in [(1, 0), (2, 0), (2, 1), (2, 3), (2, 4)] {
        let gain = |of| Interval::gain(&figure(all, above, of), &figure(all, below, of));
        let (answered, turns, tokens) =
            (gain(|o: &Outcome| o.answered), gain(|o| o.turns), gain(|o| o.input + o.output));
        println!(
            "- {} − {}: answered {answered:+.3} ({}), turns {turns:+.2}, tokens {tokens:+.0}.",
            NAMES[above],
            NAMES[below],
            answered.sign()
        );
    }
}

fn main() -> Result<()> {
    let mut seeds = 20;
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--seeds" => seeds = args.next().context("--seeds: how many?")?.parse().context("--seeds N")?,
            _ => bail!("{flag}: see the head of benches/experiments/chain/main.rs"),
        }
    }
    ensure!(seeds > 0, "at least one seed");
    let scene = Scene::new()?;
    let brains = Brains {
        one: scene.brain(ONE, 15)?,
        three: scene.brain(THREE, 8)?,
        large: scene.brain(LARGE, 8)?,
        other: scene.brain(OTHER, 8)?,
    };
    let (mut all, mut by_habit) = (Vec::new(), BTreeMap::<(Habit, bool), (usize, [Outcome; 5])>::new());
    for question in &Question::all() {
        let opening = control::opening(&brains.one, &question.text())?;
        let mut own = Vec::new();
        for seed in 1..=seeds {
            let outcomes = outcomes(&scene, &brains, question, &opening, seed);
            let (count, sums) =
                by_habit.entry((Models::new(question, seed).habit, question.is_remembered())).or_default();
            *count += 1;
            for (sum, outcome) in sums.iter_mut().zip(&outcomes) {
                sum.turns += outcome.turns;
                sum.answered += outcome.answered;
            }
            own.push(outcomes);
        }
        all.push(own);
    }
    println!("{} questions, {seeds} seeds.\n", all.len());
    print(&all);
    println!(
        "\n| the small model | the answer is in | n | turns: control | no repeats | chain | large | with fallback | answered: control | no repeats | chain | large | with fallback |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for ((habit, remembered), (count, sums)) in by_habit {
        let place = if remembered { "memory" } else { "a file" };
        let cells = |of: fn(&Outcome) -> f64| {
            sums.iter().map(|sum| format!("{:.2}", of(sum) / count as f64)).collect::<Vec<_>>().join(" | ")
        };
        println!("| {} | {place} | {count} | {} | {} |", habit.name(), cells(|o| o.turns), cells(|o| o.answered));
    }
    Ok(())
}
