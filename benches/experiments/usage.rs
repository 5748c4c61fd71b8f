//! Learning from use: do rewarded answers to half of the questions help the other half?
//!
//! ```text
//! cargo bench --bench usage -- --locomo FILE [--keep DIR] [--splits N] [--seed N] [--conversations N] [--passes N]
//! ```
//!
//! **The task.** LoCoMo's conversations, fed through the library as `feed` does. The seed draws half of each conversation's
//! questions. Each of them is recalled; an answer's outcome is 1 if it is evidence, else 0, its prediction the mean outcome of all answers
//! before, and the connections on the answer's way get the error, by one `reinforce` per answer through
//! [`git_brain::delta::apply`]. Then the other half is recalled.
//!
//! Beside that, the answers that were evidence are activated as `recall --learn` does it, without touching a weight.
//!
//! Control: the same errors and outcomes, dealt to the answers at random. Figure: the change of recall@5 and @10 of the questions that were not asked
//! against before, a question's mean over the splits that left it out; 95 % intervals by bootstrap over questions. In memory; all
//! happens in one moment, a day after the last turn, so nothing decays in between.
//!
//! The way of an answer is what [`Found::path`] says: from the cue's concept, if it is one, over memories and shared names to the
//! answer. Each pair of neighbours on it stands for the connections that lead from one to the other.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the files that it is given")]

#[path = "../recall/data.rs"]
#[allow(dead_code, reason = "the recall bench uses the rest")]
mod data;
mod laboratory;
mod statistics;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use data::{Corpus, Question};
use git_brain::activation::recall::{Filters, Found, answer};
use git_brain::activation::{self, Index, Snapshot};
use git_brain::brain::{Brain, World};
use git_brain::delta::operation::Reinforce;
use git_brain::delta::{Edge, Operation};
use git_brain::model::ids::concept_id;
use git_brain::model::{Link, Neuron, NeuronId, Settings};
use laboratory::Laboratory;
use statistics::{Dice, Interval};

/// What is asked for on the command line.
struct Wanted {
    locomo: PathBuf,
    keep: Option<PathBuf>,
    splits: u64,
    seed: u64,
    conversations: usize,
    passes: usize,
}

impl Wanted {
    fn read() -> Result<Self> {
        let (mut locomo, mut keep) = (None, None);
        let (mut splits, mut seed, mut conversations, mut passes) = (5, 1, usize::MAX, 10);
        let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag}: what?"))?;
            match flag.as_str() {
                "--locomo" => locomo = Some(value.into()),
                "--keep" => keep = Some(value.into()),
                "--splits" => splits = value.parse().context("--splits N")?,
                "--seed" => seed = value.parse().context("--seed N")?,
                "--conversations" => conversations = value.parse().context("--conversations N")?,
                "--passes" => passes = value.parse().context("--passes N")?,
                _ => bail!("{flag}: see the head of benches/experiments/usage.rs"),
            }
        }
        let locomo = locomo.context("--locomo FILE is needed")?;
        ensure!(splits > 0 && conversations > 0 && passes > 0, "at least one split, conversation and pass");
        Ok(Self { locomo, keep, splits, seed, conversations, passes })
    }
}

/// One way of learning.
struct Condition {
    name: String,
    passes: usize,
    /// Whether outcomes and errors are dealt to the answers at random.
    shuffled: bool,
    /// Whether right answers are activated, instead of ways reinforced.
    activates: bool,
    settings: Settings,
}

fn conditions(passes: usize) -> Vec<Condition> {
    let plain = Settings::default();
    let (mut weights_alone, mut fast) = (plain.clone(), plain.clone());
    weights_alone.learning.salience_boost = 0.0;
    fast.learning.rate = 26214;
    let mut list = Vec::new();
    for (name, passes, activates, settings) in [
        ("ways reinforced".to_owned(), 1, false, plain.clone()),
        (format!("ways reinforced {passes} times"), passes, false, plain.clone()),
        (format!("ways reinforced {passes} times, weights alone"), passes, false, weights_alone),
        (format!("ways reinforced {passes} times, rate 26214"), passes, false, fast),
        ("right answers activated".to_owned(), 1, true, plain),
    ] {
        for shuffled in [false, true] {
            let name = if shuffled { format!("control: {name}, rewards shuffled") } else { name.clone() };
            list.push(Condition { name, passes, shuffled, activates, settings: settings.clone() });
        }
    }
    list
}

/// The connections along an answer's way, in its order.
fn pathway(found: &Found, neurons: &BTreeMap<NeuronId, Neuron>) -> Vec<Edge> {
    let place = |at: &str, via: &str| match via {
        "cue" => Some(concept_id(at)),
        _ => NeuronId::parse(at).ok(),
    };
    let stops: Vec<Option<NeuronId>> = found.path.iter().map(|way| place(&way.at, way.via)).collect();
    let mut edges = Vec::new();
    for pair in stops.windows(2) {
        let [Some(from), Some(to)] = pair else { continue };
        let leading = [
            Edge { from: from.clone(), to: to.clone(), link: Link::FeedsInto },
            Edge { from: to.clone(), to: from.clone(), link: Link::Recalls },
        ];
        let there = |edge: &Edge| neurons.get(&edge.from).is_some_and(|n| n.weight(&edge.to, edge.link) > 0);
        edges.extend(leading.into_iter().filter(|edge| there(edge)));
    }
    edges
}

/// Recall's answers to a question, ten.
fn ask(index: &Index<'_>, corpus: &Corpus, question: &Question, settings: &Settings) -> Vec<Found> {
    let filters = Filters { top: Some(10), ..Filters::default() };
    answer(index, &question.text, corpus.asked, settings, &filters)
}

fn is_evidence(corpus: &Corpus, question: &Question, found: &Found) -> bool {
    corpus.sources.get(&found.id).is_some_and(|source| question.gold.contains(source))
}

/// Recall at 5 and at 10 of some questions.
fn quality(snapshot: &Snapshot, corpus: &Corpus, questions: &[usize], settings: &Settings) -> Vec<[f64; 2]> {
    let index = snapshot.index();
    let of = |question: &Question| {
        let found = ask(&index, corpus, question, settings);
        [5, 10].map(|k| {
            let hits = found.iter().take(k).filter(|f| is_evidence(corpus, question, f)).count();
            hits as f64 / question.gold.len() as f64
        })
    };
    questions.iter().map(|at| of(&corpus.questions[*at])).collect()
}

/// What learning came to.
#[derive(Default)]
struct Learnt {
    /// Answers that were judged, and how many of them were evidence.
    answers: usize,
    hits: usize,
    /// Connections that got an error, each time counted.
    reinforced: usize,
}

/// Learns from `used`, and gives the network after it.
fn learn(
    condition: &Condition,
    corpus: &Corpus,
    fresh: &[Neuron],
    used: &[usize],
    dice: &mut Dice,
    learnt: &mut Learnt,
) -> Result<Snapshot> {
    let mut laboratory = Laboratory::new(fresh.iter().cloned(), condition.settings.clone());
    let mut snapshot = Snapshot::of(fresh.iter().cloned());
    let (mut answers, mut hits) = (0_usize, 0_usize);
    for _ in 0..condition.passes {
        let index = snapshot.index();
        let (mut rewards, mut found) = (Vec::new(), Vec::new());
        for at in used {
            let question = &corpus.questions[*at];
            for answer in ask(&index, corpus, question, &condition.settings) {
                let prediction = if answers == 0 { 0.0 } else { hits as f64 / answers as f64 };
                let right = is_evidence(corpus, question, &answer);
                (answers, hits) = (answers + 1, hits + usize::from(right));
                rewards.push((right, f64::from(u8::from(right)) - prediction));
                found.push((*at, answer));
            }
        }
        if condition.shuffled {
            dice.shuffle(&mut rewards);
        }
        let judged: Vec<(usize, Found, bool, f64)> =
            found.into_iter().zip(rewards).map(|((at, found), (right, error))| (at, found, right, error)).collect();
        // One corrective run for each question.
        for run in judged.chunk_by(|a, b| a.0 == b.0) {
            let ops: Vec<Operation> = if condition.activates {
                activation::learn(&index, run.iter().filter(|(_, _, right, _)| *right).map(|(_, found, ..)| found))
            } else {
                let way = |(_, found, _, error): &(usize, Found, bool, f64)| {
                    let pathway = pathway(found, &laboratory.neurons);
                    learnt.reinforced += pathway.len();
                    (!pathway.is_empty()).then(|| Operation::Reinforce(Reinforce { error: *error, pathway }))
                };
                run.iter().filter_map(way).collect()
            };
            laboratory.run(ops, corpus.asked)?;
        }
        snapshot = Snapshot::of(laboratory.neurons.values().cloned());
    }
    learnt.answers += answers;
    learnt.hits += hits;
    Ok(snapshot)
}

/// Sums of changes of each question, and how often it was measured.
#[derive(Clone, Copy, Default)]
struct Change {
    sums: [f64; 2],
    times: usize,
}

impl Change {
    fn add(&mut self, after: [f64; 2], before: [f64; 2]) {
        (0..2).for_each(|k| self.sums[k] += after[k] - before[k]);
        self.times += 1;
    }
}

/// Mean changes of those questions that were measured, at 5 and at 10.
fn means(changes: &[Change]) -> [Vec<f64>; 2] {
    let measured = changes.iter().filter(|change| change.times > 0);
    [0, 1].map(|k| measured.clone().map(|change| change.sums[k] / change.times as f64).collect())
}

fn main() -> Result<()> {
    let wanted = Wanted::read()?;
    let mut corpora = data::locomo(&wanted.locomo, wanted.keep.as_deref(), 24)?;
    corpora.truncate(wanted.conversations);
    let conditions = conditions(wanted.passes);
    let total: usize = corpora.iter().map(|corpus| corpus.questions.len()).sum();
    let mut others = vec![vec![Change::default(); total]; conditions.len()];
    let mut asked = others.clone();
    let mut learnt: Vec<Learnt> = conditions.iter().map(|_| Learnt::default()).collect();
    let (mut base, mut start) = ([0.0; 2], 0);
    for corpus in &corpora {
        let fresh = Brain::open(&corpus.dir, World::default(), &[])?.neurons(None)?;
        let all: Vec<usize> = (0..corpus.questions.len()).collect();
        let before = quality(&Snapshot::of(fresh.iter().cloned()), corpus, &all, &Settings::default());
        before.iter().for_each(|at| (0..2).for_each(|k| base[k] += at[k] / total as f64));
        for split in 0..wanted.splits {
            // Each conversation and split has dice of its own; all conditions of it get the same halves.
            let seed = wanted.seed.wrapping_mul(1_000_003).wrapping_add(split * 1009 + start as u64);
            let mut order = all.clone();
            Dice::new(seed).shuffle(&mut order);
            let (used, left) = order.split_at(order.len() / 2);
            for (at, condition) in conditions.iter().enumerate() {
                let mut dice = Dice::new(!seed);
                let snapshot = learn(condition, corpus, &fresh, used, &mut dice, &mut learnt[at])?;
                for (questions, changes) in [(left, &mut others[at]), (used, &mut asked[at])] {
                    let after = quality(&snapshot, corpus, questions, &condition.settings);
                    questions.iter().zip(after).for_each(|(q, after)| changes[start + q].add(after, before[*q]));
                }
            }
        }
        start += corpus.questions.len();
    }
    println!(
        "LoCoMo: {total} questions of {} conversations, {} splits, seed {}; before learning @5 {:.3}, @10 {:.3}\n",
        corpora.len(),
        wanted.splits,
        wanted.seed,
        base[0],
        base[1]
    );
    println!(
        "| half of the questions | others: @5, change | others: @10, change | the same ones: @10, change | edges on a way |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (at, condition) in conditions.iter().enumerate() {
        let [five, ten] = means(&others[at]).map(|values| Interval::mean(&values));
        let [_, same] = means(&asked[at]).map(|values| Interval::mean(&values));
        let edges = learnt[at].reinforced as f64 / learnt[at].answers as f64;
        println!("| {} | {five:+.4} | {ten:+.4} | {same:+.4} | {edges:.1} |", condition.name);
    }
    println!();
    for at in (0..conditions.len()).step_by(2) {
        let [five, ten] = [0, 1].map(|k| Interval::gain(&means(&others[at])[k], &means(&others[at + 1])[k]));
        println!(
            "- {} − shuffled: @5 {five:+.4} ({}), @10 {ten:+.4} ({}).",
            conditions[at].name,
            five.sign(),
            ten.sign()
        );
    }
    let (gain, against) =
        (Interval::mean(&means(&others[0])[1]), Interval::gain(&means(&others[0])[1], &means(&others[1])[1]));
    let said = if gain.low > 0.0 && against.low > 0.0 { "a gain" } else { "no gain is shown" };
    println!("- Ways reinforced once, @10 of the others: {gain:+.4}, {against:+.4} against shuffled rewards: {said}.");
    println!("- {:.3} of the answers were evidence.", learnt[0].hits as f64 / learnt[0].answers.max(1) as f64);
    Ok(())
}
