//! The brain's context against the last turns and against keywords, at equal tokens.
//!
//! ```text
//! cargo bench --bench against-plain -- --data FILE [--keep DIR] [--budgets 500,1000,2000,5000]
//! cargo bench --bench against-plain -- --data FILE [--keep DIR] --brain DIR --model NAME [--budgets 1000] [--questions 100] [--seed 1]
//! ```
//!
//! **The task.** LoCoMo's conversations (`--data`), fed to a brain each, asked a day after the last turn. For every question that has
//! evidence three contexts, each a list of turns that fits the budget by the program's estimate of tokens: what the brain's recall
//! answers; the last turns before the question, as a plain wrapper around a model shows; and turns by BM25 over the same words that
//! the brain reads (stems, no function words). All three stop at the first turn that does not fit.
//!
//! Figures: the share of questions whose evidence is in the context, all of it and some of it; turns of evidence for each
//! 1,000 tokens of context, sum by sum; 95 % intervals by bootstrap over questions, differences paired.
//!
//! With `--model`, a model of the settings of the brain in `--brain` (trusted there, within its budget) is asked `--questions`
//! of them, drawn by the seed, with each context; its answers count by the F1 of tokens against the right answer.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the files that it is given")]

mod contexts;
#[path = "../../recall/data.rs"]
#[allow(dead_code, reason = "the recall bench uses the rest")]
mod data;
mod model;
#[path = "../statistics.rs"]
mod statistics;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use contexts::{Context, Turns, WAYS, fitting};
use data::Corpus;
use git_brain::brain::{Brain, World};
use model::Case;
use statistics::{Dice, Interval};

/// What is asked for on the command line.
struct Wanted {
    data: PathBuf,
    keep: Option<PathBuf>,
    budgets: Vec<usize>,
    brain: Option<PathBuf>,
    model: Option<String>,
    questions: usize,
    seed: u64,
}

impl Wanted {
    fn read() -> Result<Self> {
        let (mut data, mut keep, mut budgets, mut brain, mut model) = (None, None, None, None, None);
        let (mut questions, mut seed) = (100, 1);
        let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag}: what?"))?;
            match flag.as_str() {
                "--data" => data = Some(value.into()),
                "--keep" => keep = Some(value.into()),
                "--budgets" => budgets = Some(value),
                "--brain" => brain = Some(value.into()),
                "--model" => model = Some(value),
                "--questions" => questions = value.parse().context("--questions N")?,
                "--seed" => seed = value.parse().context("--seed N")?,
                _ => bail!("{flag}: see the head of benches/experiments/against-plain/main.rs"),
            }
        }
        let usual = if model.is_some() { "1000" } else { "500,1000,2000,5000" };
        let budgets = budgets.as_deref().unwrap_or(usual).split(',');
        let budgets: Vec<usize> = budgets.map(|n| n.parse().context("--budgets N,N")).collect::<Result<_>>()?;
        ensure!(brain.is_some() == model.is_some(), "--model NAME is one of --brain DIR: both, or neither");
        ensure!(questions > 0 && budgets.iter().all(|budget| *budget > 0), "at least one question and one token");
        Ok(Self { data: data.context("--data FILE is needed")?, keep, budgets, brain, model, questions, seed })
    }
}

/// A question, and for each budget its context by each way.
struct Asked {
    question: String,
    answer: String,
    gold: Vec<String>,
    category: i64,
    contexts: Vec<Vec<Context>>,
}

/// All questions of a conversation.
fn asked(corpus: &Corpus, budgets: &[usize]) -> Result<Vec<Asked>> {
    // Asked when the conversation was over for a day, whatever the clock says.
    let brain = Brain::open(&corpus.dir, World::fixed(corpus.asked, "against-plain"), &[])?;
    let said = brain.neurons(None)?.into_iter().filter_map(|neuron| Some((neuron.source?, neuron.concept)));
    let turns = Turns::new(said);
    let most = budgets.iter().copied().max().unwrap_or(0);
    let of = |question: &data::Question| {
        let (recalled, keywords) = (turns.recalled(&brain, &question.text, most)?, turns.by_keywords(&question.text));
        let within = |budget: &usize| {
            vec![
                fitting(&recalled, *budget),
                fitting(turns.last(), *budget),
                fitting(keywords.iter().copied(), *budget),
            ]
        };
        Ok(Asked {
            question: question.text.clone(),
            answer: question.answer.clone(),
            gold: question.gold.clone(),
            category: question.category.unwrap_or(0),
            contexts: budgets.iter().map(within).collect(),
        })
    };
    corpus.questions.iter().map(of).collect()
}

/// What one way found, question by question.
struct Found {
    whole: Vec<f64>,
    some: Vec<f64>,
    hits: Vec<f64>,
    tokens: Vec<f64>,
}

impl Found {
    fn of(questions: &[&Asked], budget: usize, way: usize) -> Self {
        let mut found = Self { whole: Vec::new(), some: Vec::new(), hits: Vec::new(), tokens: Vec::new() };
        for asked in questions {
            let context = &asked.contexts[budget][way];
            let hits = context.has(&asked.gold);
            found.whole.push(f64::from(u8::from(hits == asked.gold.len())));
            found.some.push(f64::from(u8::from(hits > 0)));
            found.hits.push(hits as f64);
            found.tokens.push(context.tokens() as f64);
        }
        found
    }

    /// Turns of evidence for each 1,000 tokens of the questions that were drawn.
    fn dense(&self, drawn: &[usize]) -> f64 {
        let sum = |list: &[f64]| drawn.iter().map(|at| list[*at]).sum::<f64>();
        1000.0 * sum(&self.hits) / sum(&self.tokens).max(1.0)
    }

    fn density(&self) -> Interval {
        Interval::of(self.hits.len(), |drawn| self.dense(drawn))
    }

    fn denser(&self, other: &Self) -> Interval {
        Interval::of(self.hits.len(), |drawn| self.dense(drawn) - other.dense(drawn))
    }
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

fn print_found(all: &[Asked], budgets: &[usize]) {
    let every: Vec<&Asked> = all.iter().collect();
    println!(
        "| tokens at most | context | tokens | all evidence in it (95 %) | some of it | turns of evidence per 1,000 tokens |"
    );
    println!("|---:|---|---:|---:|---:|---:|");
    for (at, budget) in budgets.iter().enumerate() {
        for (way, name) in WAYS.iter().enumerate() {
            let found = Found::of(&every, at, way);
            let (whole, some) = (Interval::mean(&found.whole), Interval::mean(&found.some));
            let (tokens, density) = (mean(&found.tokens), found.density());
            println!("| {budget} | {name} | {tokens:.0} | {whole:.3} | {some:.3} | {density:.2} |");
        }
    }
    println!("\n| tokens at most | recall − | all evidence | some of it | turns of evidence per 1,000 tokens |");
    println!("|---:|---|---:|---:|---:|");
    for (at, budget) in budgets.iter().enumerate() {
        let own = Found::of(&every, at, 0);
        for way in [1, 2] {
            let other = Found::of(&every, at, way);
            let (whole, some) = (Interval::gain(&own.whole, &other.whole), Interval::gain(&own.some, &other.some));
            println!("| {budget} | {} | {whole:+.3} | {some:+.3} | {:+.2} |", WAYS[way], own.denser(&other));
        }
    }
}

fn print_categories(all: &[Asked], budgets: &[usize]) {
    println!(
        "\n| category | tokens at most | all evidence: recall | last turns | keywords | recall − keywords | the same per 1,000 tokens |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut categories: Vec<i64> = all.iter().map(|asked| asked.category).collect();
    categories.sort_unstable();
    categories.dedup();
    for category in categories {
        let own: Vec<&Asked> = all.iter().filter(|asked| asked.category == category).collect();
        for (at, budget) in budgets.iter().enumerate() {
            let found = [0, 1, 2].map(|way| Found::of(&own, at, way));
            let gain = Interval::gain(&found[0].whole, &found[2].whole);
            let [recall, last, keywords] = [0, 1, 2].map(|way| mean(&found[way].whole));
            let denser = found[0].denser(&found[2]);
            println!(
                "| {category} ({}) | {budget} | {recall:.3} | {last:.3} | {keywords:.3} | {gain:+.3} | {denser:+.2} |",
                own.len()
            );
        }
    }
}

fn main() -> Result<()> {
    let wanted = Wanted::read()?;
    let corpora = data::locomo(&wanted.data, wanted.keep.as_deref(), 24)?;
    let mut all = Vec::new();
    for corpus in &corpora {
        all.extend(asked(corpus, &wanted.budgets)?);
    }
    println!("{} questions with evidence, {} conversations.\n", all.len(), corpora.len());
    let (Some(brain), Some(model)) = (&wanted.brain, &wanted.model) else {
        print_found(&all, &wanted.budgets);
        print_categories(&all, &wanted.budgets);
        return Ok(());
    };
    Dice::new(wanted.seed).shuffle(&mut all);
    all.truncate(wanted.questions);
    for (at, budget) in wanted.budgets.iter().enumerate() {
        let case = |asked: &Asked| Case {
            question: asked.question.clone(),
            answer: asked.answer.clone(),
            contexts: asked.contexts[at].clone(),
        };
        model::measure(brain, model, *budget, &all.iter().map(case).collect::<Vec<_>>())?;
    }
    Ok(())
}
