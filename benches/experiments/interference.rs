//! A-B/A-C interference: does sleep keep what the next day would write over? And what does downscaling cost?
//!
//! ```text
//! cargo bench --bench interference -- [--seeds N]
//! ```
//!
//! **The task.** Sixteen cues A; on day 1 each is paired with a word B in the context of list 1, on day 2 with a word C in the context of
//! list 2; on day 3 B is asked for in context 1, and C in context 2. Before all that every cue is connected to six other
//! words, at weights drawn by the seed, as are the pairs, the order, and how much attention each trial gets.
//!
//! **A trial** is anticipation, as in the experiments with people (Barnes and Underwood 1959): [`propagate`] from cue and context gives an
//! answer, the strongest of all B, C and other words; its connection gets the prediction error (1 if right, else 0, minus the
//! running mean) by `reinforce`; then the right pair is shown: cue, word and context are activated, and their connections made, or
//! grown by the Hebbian rule. Six rounds a day.
//! **Sleep**, at the end of both days, is [`git_brain::consolidation`]'s, with the salience of that hour. Beside it: sleep that also
//! strengthens what its day weakened, and no sleep, but the boost for each pair of the day in its evening.
//!
//! Figure: the share of cues whose B (C) is the strongest word on day 3; its change by sleep, paired over seeds; 95 % intervals by
//! bootstrap over seeds. The boost is chosen on other seeds than those of the verdict.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads its command line")]

mod laboratory;
mod statistics;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use git_brain::activation::{ColumnsBuf, Cue, Profile, propagate};
use git_brain::consolidation::{Neurons, Now, candidates, downscale, interleaved, replay, strengthen};
use git_brain::delta::operation::{Activate, Adjust, Connect, Reinforce};
use git_brain::delta::{Edge, LedgerEntry, Method, Operation, Valued, hebbian_change};
use git_brain::model::ids::{AgentName, RunId};
use git_brain::model::settings::{Origins, Sleep};
use git_brain::model::{Kind, Link, Neuron, NeuronId, Settings, Stamp};
use laboratory::{Laboratory, id};
use statistics::{Dice, Interval, for_each_seed};

const PAIRS: usize = 16;
/// Words that belong to no list.
const OTHERS: usize = 32;
/// How much of a new outcome enters the running mean.
const RECENT: f64 = 0.05;
/// Midnight of day 1.
const MIDNIGHT: i64 = 1_769_385_600;
const HOUR: i64 = 3600;
/// Where the seeds begin on which the boost is chosen.
const TUNING: u64 = 1_000_000;
const BOOSTS: [u16; 6] = [328, 655, 1311, 3277, 6554, 13107];

/// How the lists are learnt.
#[derive(Clone, Copy)]
struct Design {
    name: &'static str,
    /// Trials of each pair.
    rounds: usize,
    /// Words that each cue is connected to beforehand.
    known: usize,
    /// The weight of a new connection from a cue to a word.
    new: u16,
    /// The weight of a connection from a context to a word.
    context: u16,
    /// Exponent of salience: 1 in propagation, less in recall.
    salience_exponent: f64,
}

/// The one of the verdict: the memory agent's weight for what is new, and half the greatest weight for a context.
const DESIGN: Design =
    Design { name: "as above", rounds: 6, known: 6, new: 2048, context: 32768, salience_exponent: 1.0 };
/// Salience counts as little as in recall's answers.
const AS_RECALL: Design = Design { name: "salience to the power .1, as in recall", salience_exponent: 0.1, ..DESIGN };

const OTHER_DESIGNS: [Design; 7] = [
    Design { name: "3 rounds", rounds: 3, ..DESIGN },
    Design { name: "12 rounds", rounds: 12, ..DESIGN },
    Design { name: "24 rounds", rounds: 24, ..DESIGN },
    Design { name: "new connections of 16384", new: 16384, ..DESIGN },
    Design { name: "context of 8192", context: 8192, ..DESIGN },
    AS_RECALL,
    Design { name: "no connections beforehand", known: 0, ..DESIGN },
];

/// What happens in the nights.
#[derive(Clone)]
struct Condition {
    name: String,
    /// Nights with sleep: after day 1, after day 2.
    nights: [bool; 2],
    sleep: Sleep,
    /// Whether the words of day 2 are paired with the same cues.
    same_cues: bool,
    /// Whether as many candidates are drawn at random instead of the right ones.
    at_random: bool,
    /// Whether what the day weakened is spared the boost.
    sparing: bool,
    /// Whether each pair of the day gets the boost in the evening, awake.
    by_day: bool,
    /// Days after day 2 on which other words are paired with other cues, each with its night.
    later: usize,
    design: Design,
}

/// What one seed comes to, as shares of the cues.
struct Recalled {
    /// B, on the morning of day 2.
    early: f64,
    /// B, on day 3.
    first: f64,
    /// C, on day 3.
    second: f64,
}

/// One seed's network and its day.
struct Subject {
    laboratory: Laboratory,
    design: Design,
    /// How strongly trial after trial is attended to, and in which order they come: the same in all conditions of a seed.
    dice: Dice,
    words: Vec<NeuronId>,
    ledger: Vec<LedgerEntry>,
    right: f64,
    last_sleep: Stamp,
    /// The network as the sleep before left it.
    evening: Neurons,
}

/// The network as the rules of sleep take it.
fn shared(laboratory: &Laboratory) -> Neurons {
    laboratory.neurons.iter().map(|(id, neuron)| (id.clone(), Arc::new(neuron.clone()))).collect()
}

/// A list of pairs and its context.
struct List {
    context: NeuronId,
    pairs: Vec<(NeuronId, NeuronId)>,
}

fn named(prefix: &str, count: usize) -> Vec<NeuronId> {
    (0..count).map(|at| id(&format!("{prefix}{at:02}"))).collect()
}

impl Subject {
    fn new(seed: u64, same_cues: bool, design: Design) -> (Self, [List; 2]) {
        let mut dice = Dice::new(seed);
        let at = Stamp::from_unix(MIDNIGHT);
        let lists = ["b", "c"].map(|prefix| named(prefix, PAIRS));
        let words: Vec<NeuronId> = lists.iter().flatten().cloned().chain(named("other", OTHERS)).collect();
        let cues = [named("a", PAIRS), named("d", PAIRS)];
        let contexts = [id("list-1"), id("list-2"), id("list-3")];
        let mut neurons = Vec::new();
        for name in cues.iter().flatten().chain(&words).chain(&contexts) {
            let kind = if contexts.contains(name) { Kind::Contextual } else { Kind::Semantic };
            let mut neuron = Neuron::new(name.clone(), name.as_str(), kind, at);
            if cues.iter().flatten().any(|cue| cue == name) {
                for _ in 0..design.known {
                    let word = &words[dice.below(words.len())];
                    neuron.set_weight(word, Link::FeedsInto, dice.between(1024.0, 8192.0) as u16);
                }
            }
            neurons.push(neuron);
        }
        let list = |which: usize, dice: &mut Dice| {
            let mut targets = lists[which].clone();
            dice.shuffle(&mut targets);
            let of = if which == 1 && !same_cues { &cues[1] } else { &cues[0] };
            List { context: contexts[which].clone(), pairs: of.iter().cloned().zip(targets).collect() }
        };
        let lists = [list(0, &mut dice), list(1, &mut dice)];
        let laboratory = Laboratory::new(neurons, Settings::default());
        let evening = shared(&laboratory);
        (Self { laboratory, design, dice, words, ledger: Vec::new(), right: 0.0, last_sleep: at, evening }, lists)
    }

    /// The word that cue and context bring to mind most; `None` if none.
    fn answer(&self, cue: &NeuronId, context: &NeuronId, at: Stamp) -> Option<NeuronId> {
        let columns = ColumnsBuf::build(self.laboratory.neurons.values());
        let graph = columns.graph();
        let cues: Vec<Cue> = [cue, context].iter().filter_map(|id| Some(Cue::new(graph.find(id)?, 1.0))).collect();
        let salience_exponent = self.design.salience_exponent;
        let profile = Profile { salience_exponent, ..Profile::seed(&self.laboratory.settings.activation) };
        let active = propagate(&graph, &cues, at, &profile);
        let strength = |word: &&NeuronId| graph.find(word).map_or(0.0, |node| active.strength(node));
        let best = self.words.iter().max_by(|a, b| strength(a).total_cmp(&strength(b)).then(b.cmp(a)))?;
        (strength(&best) > 0.0).then(|| best.clone())
    }

    /// The share of a list that is answered right.
    fn test(&self, list: &List, at: Stamp) -> f64 {
        let right = list.pairs.iter().filter(|(cue, word)| self.answer(cue, &list.context, at).as_ref() == Some(word));
        right.count() as f64 / list.pairs.len() as f64
    }

    /// A day of trials, one a minute from ten o'clock on.
    fn study(&mut self, list: &List, midnight: i64) -> Result<()> {
        let mut at = midnight + 10 * HOUR;
        for _ in 0..self.design.rounds {
            let mut order: Vec<usize> = (0..list.pairs.len()).collect();
            self.dice.shuffle(&mut order);
            for pair in order {
                let (cue, word) = &list.pairs[pair];
                self.anticipate(cue, word, &list.context, Stamp::from_unix(at))?;
                self.show(cue, word, &list.context, Stamp::from_unix(at))?;
                at += 60;
            }
        }
        Ok(())
    }

    /// The answer before the right one is shown, and its prediction error.
    fn anticipate(&mut self, cue: &NeuronId, word: &NeuronId, context: &NeuronId, at: Stamp) -> Result<()> {
        let Some(answer) = self.answer(cue, context, at) else { return Ok(()) };
        let outcome = if answer == *word { 1.0 } else { 0.0 };
        let (prediction, error) = (self.right, outcome - self.right);
        self.right += RECENT * error;
        let edge = Edge { from: cue.clone(), to: answer, link: Link::FeedsInto };
        if self.laboratory.neurons[cue].weight(&edge.to, edge.link) == 0 {
            return Ok(());
        }
        let pathway = vec![edge];
        self.laboratory.run(vec![Operation::Reinforce(Reinforce { error, pathway: pathway.clone() })], at)?;
        let agent = AgentName::parse("experiment").expect("a name");
        let run = RunId::new(at.unix() * 1000, self.ledger.len() as u64, &agent);
        let valued = |value| Valued { text: None, value };
        let (prediction, outcome) = (valued(prediction), valued(outcome));
        let judged = run.clone();
        self.ledger.push(LedgerEntry {
            run,
            judged,
            agent,
            at,
            prediction,
            outcome,
            error,
            method: Method::Number,
            pathway,
            chosen: None,
        });
        Ok(())
    }

    /// The pair is shown: activated, and connected as the memory agent connects what was active together.
    fn show(&mut self, cue: &NeuronId, word: &NeuronId, context: &NeuronId, at: Stamp) -> Result<()> {
        let strength = self.dice.between(0.5, 1.0);
        let activate = |id: &NeuronId| Operation::Activate(Activate { id: id.clone(), strength, at: None });
        self.laboratory.run([cue, word, context].map(activate).to_vec(), at)?;
        let neurons = &self.laboratory.neurons;
        let link = Link::FeedsInto;
        let (from, to) = (cue.clone(), word.clone());
        let wired = match neurons[cue].weight(word, link) {
            0 => Operation::Connect(Connect { from, to, link, weight: self.design.new }),
            weight => {
                let activity = |id: &NeuronId| f64::from(neurons[id].salience_at(at)) / 65535.0;
                let hebb = self.laboratory.settings.learning.hebb;
                let by = hebbian_change(hebb, activity(cue), activity(word), weight);
                Operation::Adjust(Adjust { from, to, link, by })
            }
        };
        let (from, to, link) = (context.clone(), word.clone(), Link::Influences);
        let placed = Operation::Connect(Connect { from, to, link, weight: self.design.context });
        self.laboratory.run(vec![wired, placed], at).map(|_| ())
    }

    /// A night's sleep, in the order of the sleep of a brain.
    fn sleep(&mut self, at: Stamp, condition: &Condition, placebo: &mut Dice) {
        let settings = &condition.sleep;
        let origins = Origins::default();
        let now = Now { at, settings, origins: &origins };
        let neurons = &self.laboratory.neurons;
        let vivid = neurons.values().filter(|neuron| now.is_vivid(&now.glance(neuron))).map(|n| n.id.clone());
        let touched = neurons.values().filter(|neuron| neuron.last_activated > Some(self.last_sleep));
        let mut found = candidates(vivid, touched.map(|n| (n.salience, n.id.clone())), settings.top);
        if condition.at_random {
            let mut all: Vec<NeuronId> = neurons.keys().cloned().collect();
            placebo.shuffle(&mut all);
            found = all.into_iter().take(found.len()).collect();
        }
        let run = RunId::new(at.unix() * 1000, 0, &AgentName::parse("sleep").expect("a name"));
        let mut neurons = shared(&self.laboratory);
        let nothing = Neurons::new();
        let evening = if condition.sparing { &self.evening } else { &nothing };
        let _ = strengthen(&mut neurons, evening, &found, settings.boost, &run);
        if settings.replay {
            let rate = self.laboratory.settings.learning.rate;
            let _ = replay(&mut neurons, interleaved(&self.ledger), rate, &run);
        }
        if settings.downscale > 0.0 {
            let _ = downscale(&mut neurons, &found, settings.downscale, &run);
        }
        self.laboratory.neurons = neurons.iter().map(|(id, neuron)| (id.clone(), Neuron::clone(neuron))).collect();
        self.evening = neurons;
        self.last_sleep = at;
    }
}

impl Subject {
    /// The boost without a night: to each pair that was shown, and to nothing else.
    fn by_day(&mut self, list: &List, at: Stamp, boost: u16) -> Result<()> {
        let more = |(from, to): &(NeuronId, NeuronId)| {
            let (from, to) = (from.clone(), to.clone());
            Operation::Adjust(Adjust { from, to, link: Link::FeedsInto, by: i32::from(boost) })
        };
        self.laboratory.run(list.pairs.iter().map(more).collect(), at).map(|_| ())
    }
}

/// Three days of one seed.
fn live(condition: &Condition, seed: u64) -> Result<Recalled> {
    let (mut subject, lists) = Subject::new(seed, condition.same_cues, condition.design);
    let mut placebo = Dice::new(!seed);
    let mut early = 0.0;
    for (day, list) in lists.iter().enumerate() {
        let midnight = MIDNIGHT + day as i64 * 24 * HOUR;
        subject.ledger.clear();
        subject.study(list, midnight)?;
        let evening = Stamp::from_unix(midnight + 23 * HOUR);
        if condition.nights[day] {
            subject.sleep(evening, condition, &mut placebo);
        }
        if condition.by_day {
            subject.by_day(list, evening, condition.sleep.boost)?;
        }
        if day == 0 {
            early = subject.test(&lists[0], Stamp::from_unix(midnight + 33 * HOUR));
        }
    }
    for later in 0..condition.later {
        let midnight = MIDNIGHT + (2 + later) as i64 * 24 * HOUR;
        let mut words = named("other", OTHERS);
        subject.dice.shuffle(&mut words);
        let list = List { context: id("list-3"), pairs: named("d", PAIRS).into_iter().zip(words).collect() };
        subject.ledger.clear();
        subject.study(&list, midnight)?;
        let evening = Stamp::from_unix(midnight + 23 * HOUR);
        if condition.nights[0] {
            subject.sleep(evening, condition, &mut placebo);
        }
        if condition.by_day {
            subject.by_day(&list, evening, condition.sleep.boost)?;
        }
    }
    let at = Stamp::from_unix(MIDNIGHT + (condition.later as i64 * 24 + 48 + 9) * HOUR);
    Ok(Recalled { early, first: subject.test(&lists[0], at), second: subject.test(&lists[1], at) })
}

fn condition(name: impl Into<String>, nights: [bool; 2], change: impl Fn(&mut Sleep)) -> Condition {
    let mut sleep = Sleep { replay: false, downscale: 0.0, ..Sleep::default() };
    change(&mut sleep);
    Condition {
        name: name.into(),
        nights,
        sleep,
        same_cues: true,
        at_random: false,
        sparing: true,
        by_day: false,
        later: 0,
        design: DESIGN,
    }
}

const BOTH: [bool; 2] = [true, true];

fn conditions() -> Vec<Condition> {
    let awake = condition("no sleep (control)", [false, false], |_| ());
    vec![
        awake.clone(),
        condition("sleep: boost alone", BOTH, |_| ()),
        Condition { at_random: true, ..condition("boost between as many neurons at random (control)", BOTH, |_| ()) },
        condition("boost, and replay", BOTH, |s| s.replay = true),
        condition("boost, and downscaling by .1", BOTH, |s| s.downscale = 0.1),
        condition("boost, and downscaling by .2", BOTH, |s| s.downscale = 0.2),
        condition("replay alone", BOTH, |s| (s.boost, s.replay) = (0, true)),
        condition("downscaling by .1 alone", BOTH, |s| (s.boost, s.downscale) = (0, 0.1)),
        condition("boost, after day 1 only", [true, false], |_| ()),
        condition("boost, after day 2 only", [false, true], |_| ()),
        Condition { sparing: false, ..condition("boost, of what the day weakened too", BOTH, |_| ()) },
        Condition {
            by_day: true,
            ..condition("no sleep, the same weight to the day's pairs by day (control)", [false, false], |_| ())
        },
        Condition { name: "no sleep, day 2 has other cues".to_owned(), same_cues: false, ..awake.clone() },
        Condition { name: "boost, day 2 has other cues".to_owned(), same_cues: false, nights: BOTH, ..awake },
    ]
}

/// The results of all seeds: early, first, second.
fn measure(condition: &Condition, seeds: std::ops::Range<u64>) -> Result<[Vec<f64>; 3]> {
    let all: Vec<Recalled> = for_each_seed(seeds, |seed| live(condition, seed)).into_iter().collect::<Result<_>>()?;
    let column = |of: fn(&Recalled) -> f64| all.iter().map(of).collect();
    Ok([column(|r| r.early), column(|r| r.first), column(|r| r.second)])
}

fn doses(seeds: u64) -> Result<()> {
    println!("The boost, on {seeds} other seeds: change against no sleep\n");
    println!("| boost | B on day 3 | C on day 3 | both |\n|---:|---:|---:|---:|");
    let seeds = TUNING..TUNING + seeds;
    let [_, b0, c0] = measure(&conditions()[0], seeds.clone())?;
    for boost in BOOSTS {
        let [_, b, c] = measure(&condition("", BOTH, |s| s.boost = boost), seeds.clone())?;
        let mean = |b: &[f64], c: &[f64]| -> Vec<f64> { b.iter().zip(c).map(|(b, c)| (b + c) / 2.0).collect() };
        let (first, second) = (Interval::gain(&b, &b0), Interval::gain(&c, &c0));
        println!("| {boost} | {first:+.3} | {second:+.3} | {:+.3} |", Interval::gain(&mean(&b, &c), &mean(&b0, &c0)));
    }
    Ok(())
}

/// The boost and its variants where the lists are learnt in other ways.
fn other_designs(seeds: u64) -> Result<()> {
    println!("\nOther designs, {seeds} seeds: change against no sleep\n");
    println!(
        "| design | no sleep: B | C | boost: B | C | of what the day weakened too: B | C | by day: B | C |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let all = conditions();
    for design in OTHER_DESIGNS {
        let [_, b0, c0] = measure(&Condition { design, ..all[AWAKE].clone() }, 0..seeds)?;
        let mut row =
            format!("| {} | {:.3} | {:.3} |", design.name, Interval::mean(&b0).value, Interval::mean(&c0).value);
        for which in [BOOST, WEAKENED, BY_DAY] {
            let [_, b, c] = measure(&Condition { design, ..all[which].clone() }, 0..seeds)?;
            row += &format!(" {:+.3} | {:+.3} |", Interval::gain(&b, &b0), Interval::gain(&c, &c0));
        }
        println!("{row}");
    }
    Ok(())
}

/// Eight more days with other words and other cues: what the nights do to what nobody asks for. Salience counts as in recall;
/// else all that is ten days old is below the least activation.
fn later(seeds: u64) -> Result<()> {
    println!("\nAsked eight days later, other lists and their nights in between, {}, {seeds} seeds\n", AS_RECALL.name);
    println!("| condition | B | C | B, change | C, change |\n|---|---:|---:|---:|---:|");
    let all = conditions();
    let mut results: Vec<[Vec<f64>; 3]> = Vec::new();
    for which in [AWAKE, BOOST, WEAKENED, BY_DAY, REPLAY, DOWNSCALING, DOWNSCALING + 1] {
        let condition = Condition { later: 8, design: AS_RECALL, ..all[which].clone() };
        results.push(measure(&condition, 0..seeds)?);
        let ([_, b, c], [_, b0, c0]) = (&results[results.len() - 1], &results[0]);
        let (gain, other) = (Interval::gain(b, b0), Interval::gain(c, c0));
        let (b, c) = (Interval::mean(b).value, Interval::mean(c).value);
        println!("| {} | {b:.3} | {c:.3} | {gain:+.3} | {other:+.3} |", condition.name);
    }
    let [b, c] = [1, 2].map(|column| Interval::gain(&results[5][column], &results[1][column]));
    println!("\nWhat downscaling by .1 adds to the boost by then: B {b:+.3} ({}), C {c:+.3} ({}).", b.sign(), c.sign());
    Ok(())
}

/// Places in [`conditions`].
const AWAKE: usize = 0;
const BOOST: usize = 1;
const AT_RANDOM: usize = 2;
const REPLAY: usize = 3;
const DOWNSCALING: usize = 4;
const WEAKENED: usize = 10;
const BY_DAY: usize = 11;

fn main() -> Result<()> {
    let mut seeds = 200_u64;
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(flag) = args.next() {
        let value = args.next().with_context(|| format!("{flag}: what?"))?;
        match flag.as_str() {
            "--seeds" => seeds = value.parse().context("--seeds N")?,
            _ => bail!("{flag}: see the head of benches/experiments/interference.rs"),
        }
    }
    anyhow::ensure!(seeds > 1, "at least 2 seeds");
    doses(seeds.min(100))?;
    let boost = Sleep::default().boost;
    println!("\nA-B/A-C: {seeds} seeds, {PAIRS} pairs, {} rounds, boost {boost}\n", DESIGN.rounds);
    println!("| condition | B, morning of day 2 | B on day 3 | C on day 3 | B, change | C, change |");
    println!("|---|---:|---:|---:|---:|---:|");
    let mut results: Vec<[Vec<f64>; 3]> = Vec::new();
    for condition in conditions() {
        results.push(measure(&condition, 0..seeds)?);
        let ([early, b, c], [_, b0, c0]) = (&results[results.len() - 1], &results[AWAKE]);
        let (gain, other) = (Interval::gain(b, b0), Interval::gain(c, c0));
        let [early, b, c] = [early, b, c].map(|column| Interval::mean(column).value);
        println!("| {} | {early:.3} | {b:.3} | {c:.3} | {gain:+.3} | {other:+.3} |", condition.name);
    }
    other_designs(seeds.min(100))?;
    later(seeds.min(50))?;
    let of = |which: usize, from: usize, column: usize| Interval::gain(&results[which][column], &results[from][column]);
    let kept = of(BOOST, AWAKE, 1);
    let said = if kept.low > 0.0 { "met" } else { "missed" };
    println!("\n- Retention of B, boost alone − no sleep: {kept:+.3}. Target, above 0 with its interval: {said}.");
    println!("- The same − the boost at random: {:+.3}.", of(BOOST, AT_RANDOM, 1));
    for (which, what) in [(REPLAY, "replay"), (DOWNSCALING, "downscaling by .1")] {
        let (b, c) = (of(which, BOOST, 1), of(which, BOOST, 2));
        println!("- What {what} adds to the boost: B {b:+.3} ({}), C {c:+.3} ({}).", b.sign(), c.sign());
    }
    Ok(())
}
