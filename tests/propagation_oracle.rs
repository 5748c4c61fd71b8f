//! Propagation against a second, naive implementation in exact fractions, written from the specification alone: maps keyed by
//! names, no arrays, no rounding. Random small graphs with all types of connection, several cues, a beam, passes,
//! refractory periods, old saliences, archived neurons, connections to nowhere, and the fan.
//!
//! Half of the graphs have numbers that binary fractions hold exactly, so that ties, and values that lie on a threshold,
//! are the same for both and must be decided the same way. The other half have any numbers: there a decision that
//! hangs on less than rounding can tell apart is a close call, and the graph is passed over. Close calls are rare, and counted.

use std::collections::BTreeMap;

use crate::sandbox::Dice;
use git_brain::activation::{ColumnsBuf, Cue, NodeIx, Profile, Propagation, Scratch, propagate, propagate_with};
use git_brain::model::settings::Activation;
use git_brain::model::{Kind, Link, Neuron, NeuronId, RunId, Stamp};
use num_bigint::BigInt;
use num_rational::BigRational as Q;

fn q(numerator: u64, denominator: u64) -> Q {
    Q::new(BigInt::from(numerator), BigInt::from(denominator))
}

fn exactly(x: f64) -> Q {
    Q::from_float(x).unwrap()
}

/// The oracle's own network.
#[derive(Default, Debug)]
struct Brain {
    /// name → (stored salience, hours since it was stored)
    salience: BTreeMap<String, (u16, u32)>,
    /// Neurons that are archived; not in `salience`.
    archived: Vec<String>,
    /// (stored on, target, type) → weight
    edges: BTreeMap<(String, String, &'static str), u16>,
}

type Amounts = BTreeMap<String, Q>;

/// Which record of a wave activated another, and along which type.
type Parent = Option<(usize, &'static str)>;

#[derive(Clone, Debug)]
struct Record {
    wave: usize,
    name: String,
    pass: u32,
    depth: u32,
    drive: Q,
    value: Q,
    reported: Q,
    parent: Parent,
}

#[derive(Debug)]
struct Answer {
    activation: Amounts,
    context: Amounts,
    passes: Vec<Amounts>,
    cut: u64,
    unquiet: bool,
    records: Vec<Record>,
    /// Whether equal numbers are equal in binary fractions too.
    is_exact: bool,
    is_close: bool,
}

impl Answer {
    /// `a < b`, and whether rounding could say otherwise.
    fn less(&mut self, a: &Q, b: &Q) -> bool {
        let (zero, one) = (q(0, 1), q(1, 1));
        let gap = if a < b { b - a } else { a - b };
        let held = a == b && (*a == zero || *a == one);
        if !self.is_exact && !held && gap < q(1, 1_000_000_000) * (a + b) + q(1, 1_000_000_000_000) {
            self.is_close = true;
        }
        a < b
    }

    /// The way to a name from the record that reports most, then of the earliest pass, then of the first wave.
    fn path(&mut self, name: &str) -> Vec<(String, &'static str, String)> {
        let mut records: Vec<usize> = (0..self.records.len()).filter(|r| self.records[*r].name == name).collect();
        records.sort_by_key(|r| (self.records[*r].pass, self.records[*r].wave));
        let mut best = records[0];
        for &other in &records[1..] {
            let (a, b) = (self.records[best].reported.clone(), self.records[other].reported.clone());
            if self.less(&a, &b) {
                best = other;
            }
        }
        let mut way = Vec::new();
        while let Some((parent, link)) = self.records[best].parent {
            way.push((self.records[parent].name.clone(), link, self.records[best].name.clone()));
            best = parent;
        }
        way.reverse();
        way
    }
}

fn held(x: Q) -> Q {
    x.max(q(0, 1)).min(q(1, 1))
}

impl Brain {
    /// floor(stored · 0.99^hours)
    fn salience_now(&self, name: &str) -> u64 {
        let (stored, hours) = self.salience[name];
        let (faded, whole) = (BigInt::from(99).pow(hours), BigInt::from(100).pow(hours));
        u64::try_from(BigInt::from(stored) * faded / whole).unwrap()
    }

    /// (type, where it leads, weight) of what is followed out of `u`.
    fn ways(&self, u: &str) -> Vec<(&'static str, String, u64)> {
        let mut ways = Vec::new();
        for ((from, to, link), weight) in &self.edges {
            let (start, end) = if *link == "recalls" { (to, from) } else { (from, to) };
            let there = self.salience.contains_key(from) && self.salience.contains_key(to);
            if start == u && there && *weight > 0 {
                ways.push((*link, end.clone(), u64::from(*weight)));
            }
        }
        ways
    }

    fn answer(&self, cues: &[(String, f64)], s: &Activation, is_exact: bool) -> Answer {
        let mut answer = Answer {
            activation: Amounts::new(),
            context: Amounts::new(),
            passes: Vec::new(),
            cut: 0,
            unquiet: false,
            records: Vec::new(),
            is_exact,
            is_close: false,
        };
        let seed = |(name, x): &(String, f64)| BTreeMap::from([(name.clone(), (exactly(*x), None))]);
        let mut seeds: Vec<BTreeMap<String, (Q, Parent)>> = cues.iter().map(seed).collect();
        let most = if s.passes == 0 { 64 } else { s.passes };
        let mut pass = 0;
        loop {
            pass += 1;
            let share = if pass >= 2 && pass > s.pass_count { q(1, 2) } else { q(1, 1) };
            for wave in &mut seeds {
                wave.values_mut().for_each(|(x, _)| *x *= &share);
                wave.retain(|_, (x, _)| !answer.less(x, &exactly(s.min)));
            }
            if seeds.iter().all(|w| w.is_empty()) {
                return answer;
            }
            if pass > most {
                answer.unquiet = s.passes == 0;
                return answer;
            }
            seeds = self.pass(&seeds, s, pass, &mut answer);
        }
    }

    /// One pass of all waves; gives each wave's late arrivals.
    fn pass(
        &self,
        seeds: &[BTreeMap<String, (Q, Parent)>],
        s: &Activation,
        pass: u32,
        answer: &mut Answer,
    ) -> Vec<BTreeMap<String, (Q, Parent)>> {
        let (min, one) = (exactly(s.min), q(1, 1));
        let mut context = Amounts::new();
        let mut inhibition = Amounts::new();
        let mut late = vec![BTreeMap::new(); seeds.len()];
        let first = answer.records.len();
        // (wave, name) → record
        let mut visited: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut frontier: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut fresh: Vec<Record> = Vec::new();
        for (wave, starts) in seeds.iter().enumerate() {
            for (name, (x, parent)) in starts {
                let (drive, value, reported) = (x.clone(), x.clone(), x.clone());
                fresh.push(Record {
                    wave,
                    name: name.clone(),
                    pass,
                    depth: 0,
                    drive,
                    value,
                    reported,
                    parent: *parent,
                });
            }
        }
        for depth in 0..=s.max_depth {
            for record in fresh.drain(..) {
                visited.insert((record.wave, record.name.clone()), answer.records.len());
                frontier.insert((record.name.clone(), record.wave), answer.records.len());
                answer.records.push(record);
            }
            if depth == s.max_depth {
                break;
            }
            let mut excitation: BTreeMap<(usize, String), (Q, Parent)> = BTreeMap::new();
            for ((u, wave), record) in &std::mem::take(&mut frontier) {
                let a = answer.records[*record].value.clone();
                let delta = &a - q(self.salience_now(u), 65535);
                let ways = self.ways(u);
                let fan = if s.fan == 0.0 { one.clone() } else { q(1, ways.len().max(1) as u64) };
                for (link, v, weight) in &ways {
                    if *link == "triggers" && answer.less(&delta, &exactly(s.theta)) {
                        continue;
                    }
                    let strength = if *link == "triggers" { &delta } else { &a };
                    let sigma = self.salience_now(v).max(u64::from(s.salience_floor));
                    let c = strength * q(weight * sigma, 65535 * 65535) * exactly(s.decay) * &fan;
                    if answer.less(&c, &min) {
                        continue;
                    }
                    match *link {
                        "influences" => *context.entry(v.clone()).or_insert_with(|| q(0, 1)) += c,
                        "inhibits" => *inhibition.entry(v.clone()).or_insert_with(|| q(0, 1)) += c,
                        _ => {
                            let key = (*wave, v.clone());
                            let wins = excitation.get(&key).is_none_or(|(best, parent)| {
                                let (source, by) = parent.unwrap();
                                answer.less(best, &c) || (c == *best && source == *record && *link < by)
                            });
                            if wins {
                                excitation.insert(key, (c, Some((*record, *link))));
                            }
                        }
                    }
                }
            }
            let mut passed: Vec<Record> = Vec::new();
            for ((wave, name), (e, parent)) in excitation {
                let c = context.get(&name).cloned().unwrap_or(q(0, 1)).min(one.clone());
                let drive = e * (&one + exactly(s.kappa) * c);
                let value = held(&drive - inhibition.get(&name).unwrap_or(&q(0, 1)));
                if answer.less(&value, &min) {
                    continue;
                }
                let Some(first) = visited.get(&(wave, name.clone())) else {
                    let (depth, reported) = (depth + 1, value.clone());
                    passed.push(Record { wave, name, pass, depth, drive, value, reported, parent });
                    continue;
                };
                if depth + 1 - answer.records[*first].depth <= s.refractory {
                    continue;
                }
                let wins = late[wave].get(&name).is_none_or(|(known, _): &(Q, Parent)| answer.less(known, &value));
                if wins {
                    late[wave].insert(name, (value, parent));
                }
            }
            for wave in 0..seeds.len() {
                let mut mine: Vec<Record> = passed.iter().filter(|r| r.wave == wave).cloned().collect();
                mine.sort_by(|a, b| b.value.cmp(&a.value).then(a.name.cmp(&b.name)));
                let beam = if s.beam == 0 { mine.len() } else { mine.len().min(s.beam as usize) };
                if beam > 0 && beam < mine.len() {
                    answer.less(&mine[beam].value, &mine[beam - 1].value);
                }
                answer.cut += (mine.len() - beam) as u64;
                fresh.extend(mine.into_iter().take(beam));
            }
        }
        let mut reported = Amounts::new();
        for record in &mut answer.records[first..] {
            record.reported = held(&record.drive - inhibition.get(&record.name).unwrap_or(&q(0, 1)));
            *reported.entry(record.name.clone()).or_insert_with(|| q(0, 1)) += &record.reported;
        }
        for (sums, terms) in [(&mut answer.activation, &reported), (&mut answer.context, &context)] {
            for (name, x) in terms {
                *sums.entry(name.clone()).or_insert_with(|| q(0, 1)) += x;
            }
        }
        answer.passes.push(reported);
        late
    }
}

const LINKS: [&str; 5] = ["feeds_into", "influences", "inhibits", "recalls", "triggers"];
const NOW: i64 = 1_769_437_920;

/// A random network. In an exact one weights and saliences count fully or not at all.
fn random_brain(dice: &mut Dice, is_exact: bool) -> Brain {
    let mut brain = Brain::default();
    let size = 2 + dice.below(9);
    for i in 0..size {
        // Names whose order is neither that of creation nor that of numbers.
        let name = format!("n{}-{i}", dice.below(9));
        let any = (dice.roll() as u16, dice.of(&[0, 0, 1, 24, 200]));
        let salience = if is_exact { (dice.of(&[65535, 65535, 0]), dice.of(&[0, 0, 2000])) } else { any };
        match dice.below(12) {
            0 if i > 1 => brain.archived.push(name),
            _ => drop(brain.salience.insert(name, salience)),
        }
    }
    let mut names: Vec<String> = brain.salience.keys().chain(&brain.archived).cloned().collect();
    names.push("absent".into());
    for _ in 0..size + dice.below(3 * size + 1) {
        let from = names[dice.below(names.len() as u64 - 1) as usize].clone();
        let to = names[dice.below(names.len() as u64) as usize].clone();
        let link = dice.of(&[LINKS[0], LINKS[0], LINKS[0], LINKS[1], LINKS[2], LINKS[3], LINKS[4]]);
        let any = dice.roll() as u16;
        let weight = dice.of(&[any, any, any, 65535, if is_exact { 65535 } else { 655 }, 0]);
        brain.edges.insert((from, to, link), if is_exact && weight > 0 { 65535 } else { weight });
    }
    brain
}

fn random_settings(dice: &mut Dice, is_exact: bool) -> Activation {
    let plain = Activation {
        decay: dice.of(&[0.9, 0.9, 1.0, 0.5]),
        min: dice.of(&[0.01, 0.01, 0.1, 1e-6]),
        max_depth: dice.of(&[4, 4, 2, 0, 7]),
        beam: dice.of(&[0, 1024, 1, 2, 3]),
        pass_count: dice.of(&[2, 2, 0, 1, 1000]),
        passes: dice.of(&[1, 1, 1, 0, 2, 5]),
        refractory: dice.of(&[0, 0, 1, 2, 3]),
        kappa: dice.of(&[1.0, 1.0, 0.0, 0.5]),
        theta: dice.of(&[0.5, 0.1, 0.0]),
        salience_floor: dice.of(&[3277, 3277, 0, 65535]),
        fan: dice.of(&[0.0, 0.0, 1.0]),
        ..Activation::default()
    };
    if !is_exact {
        return plain;
    }
    let (min, theta) = (dice.of(&[0.0625, 0.25, 0.015625]), dice.of(&[0.5, 0.25, 0.0]));
    Activation { decay: dice.of(&[0.5, 0.5, 1.0]), min, theta, salience_floor: dice.of(&[0, 65535]), fan: 0.0, ..plain }
}

fn neurons(brain: &Brain, dice: &mut Dice) -> Vec<Neuron> {
    let id = |name: &str| NeuronId::parse(name).unwrap();
    let mut list: Vec<Neuron> = Vec::new();
    let archived = brain.archived.iter().map(|name| (name, (65535, 0)));
    for (name, (salience, hours)) in brain.salience.iter().map(|(n, s)| (n, *s)).chain(archived) {
        let at = Stamp::from_unix(NOW - i64::from(hours) * 3600);
        let mut neuron = Neuron::new(id(name), name.as_str(), Kind::Semantic, at);
        neuron.salience = salience;
        if brain.archived.contains(name) {
            neuron.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
            neuron.archived = neuron.run.clone();
        }
        for ((from, to, link), weight) in &brain.edges {
            if from == name {
                neuron.set_weight(&id(to), link.parse::<Link>().unwrap(), *weight);
            }
        }
        list.insert(dice.below(list.len() as u64 + 1) as usize, neuron);
    }
    list
}

/// A random question to a random network.
struct Question {
    is_exact: bool,
    brain: Brain,
    settings: Activation,
    cues: Vec<(String, f64)>,
    columns: ColumnsBuf,
}

impl Question {
    fn random(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let is_exact = seed.is_multiple_of(2);
        let brain = random_brain(&mut dice, is_exact);
        let settings = random_settings(&mut dice, is_exact);
        let names: Vec<&String> = brain.salience.keys().collect();
        let strengths = if is_exact { [1.0, 1.0, 0.5, 0.25] } else { [1.0, 0.7, 0.3, 0.009] };
        let mut cues: BTreeMap<String, f64> = BTreeMap::new();
        for _ in 0..=dice.below(4) {
            cues.insert(names[dice.below(names.len() as u64) as usize].clone(), dice.of(&strengths));
        }
        let columns = ColumnsBuf::build(neurons(&brain, &mut dice));
        Self { is_exact, brain, settings, cues: cues.into_iter().collect(), columns }
    }

    /// The cues, in an order that must not matter.
    fn starts(&self) -> Vec<Cue> {
        let node = |name: &str| self.columns.graph().find(&NeuronId::parse(name).unwrap()).unwrap();
        self.cues.iter().rev().map(|(name, x)| Cue::new(node(name), *x)).collect()
    }

    fn named(&self, list: &[(NodeIx, f64)]) -> Vec<(String, f64)> {
        list.iter().map(|(node, x)| (self.columns.graph().id(*node).to_owned(), *x)).collect()
    }

    fn path(&self, found: &Propagation, node: NodeIx) -> Vec<(String, &'static str, String)> {
        let id = |node| self.columns.graph().id(node).to_owned();
        let steps = found.path(node).unwrap();
        steps.iter().map(|step| (id(step.from), step.link.as_str(), id(step.to))).collect()
    }
}

/// Names agree exactly; values within 10⁻¹² of theirs, and of 0.001 where inhibition leaves less of a value near 1.
#[track_caller]
fn same(what: &str, product: &[(String, f64)], oracle: &Amounts) {
    let names: Vec<_> = product.iter().map(|(n, _)| n).collect();
    assert_eq!(names, oracle.keys().collect::<Vec<_>>(), "{what}");
    for (name, x) in product {
        let exact = &oracle[name];
        let gap = exactly(*x) - exact;
        let gap = if gap < q(0, 1) { -gap } else { gap };
        let allowed = exact.clone().max(q(1, 1000)) * q(1, 1_000_000_000_000);
        assert!(gap <= allowed, "{what} of {name}: {x} is not {exact}");
    }
}

#[test]
fn propagation_agrees_with_exact_fractions() {
    let mut scratch = Scratch::default();
    let (mut judged, mut close) = (0, 0);
    let (mut busy, mut passes, mut cut, mut context, mut silenced, mut unquiet) = (0, 0, 0, 0, 0, 0);
    for seed in 0..10_400 {
        let question = Question::random(seed);
        let mut oracle = question.brain.answer(&question.cues, &question.settings, question.is_exact);
        let names: Vec<String> = oracle.activation.keys().cloned().collect();
        let paths: Vec<_> = names.iter().map(|name| oracle.path(name)).collect();
        if oracle.is_close {
            close += 1;
            continue;
        }
        judged += 1;
        let (graph, starts) = (question.columns.graph(), question.starts());
        let profile = Profile::seed(&question.settings);
        let result = propagate_with(&mut scratch, &graph, &starts, Stamp::from_unix(NOW), &profile);
        let (brain, settings, cues) = (&question.brain, &question.settings, &question.cues);
        let place = format!("seed {seed}\n{brain:?}\n{settings:?}\ncues {cues:?}\n");
        same(&format!("{place}activation"), &question.named(&result.activation), &oracle.activation);
        same(&format!("{place}context"), &question.named(&result.context), &oracle.context);
        assert_eq!(result.passes.len(), oracle.passes.len(), "{place}");
        for (mine, theirs) in result.passes.iter().zip(&oracle.passes) {
            same(&format!("{place}a pass"), &question.named(mine), theirs);
        }
        assert_eq!((result.cut.beam, result.cut.passes), (oracle.cut, oracle.unquiet), "{place}");
        for ((node, _), path) in result.activation.iter().zip(paths) {
            assert_eq!(question.path(&result, *node), path, "{place}path to {}", graph.id(*node));
        }
        busy += usize::from(oracle.activation.len() > cues.len());
        passes += usize::from(oracle.passes.len() > 2);
        cut += usize::from(oracle.cut > 0);
        context += usize::from(!oracle.context.is_empty());
        silenced += usize::from(oracle.activation.values().any(|x| *x == q(0, 1)));
        unquiet += usize::from(oracle.unquiet);
    }
    // The graphs really exercise what they should.
    assert!(judged >= 10_000, "{judged} judged, {close} close calls");
    let seen = [busy, passes, cut, context, silenced, unquiet];
    assert!(seen.iter().all(|n| *n >= 5), "{seen:?}");
}

#[test]
fn the_bytes_are_the_same_however_many_threads_ask() {
    let questions: Vec<Question> = (0..400).map(Question::random).collect();
    let bytes = |question: &Question| {
        let profile = Profile::seed(&question.settings);
        let found = propagate(&question.columns.graph(), &question.starts(), Stamp::from_unix(NOW), &profile);
        let bits = |list: &[(NodeIx, f64)]| list.iter().map(|(n, x)| (n.0, x.to_bits())).collect::<Vec<_>>();
        let passes: Vec<_> = found.passes.iter().map(|pass| bits(pass)).collect();
        (bits(&found.activation), bits(&found.context), passes, found.cut)
    };
    let alone: Vec<_> = questions.iter().map(bytes).collect();
    for threads in [2, 3, 8] {
        let share = questions.len().div_ceil(threads);
        let together: Vec<_> = std::thread::scope(|scope| {
            let ask = |share| scope.spawn(move || (share as &[Question]).iter().map(bytes).collect::<Vec<_>>());
            let asked: Vec<_> = questions.chunks(share).map(ask).collect();
            asked.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(together == alone, "{threads} threads");
    }
}
