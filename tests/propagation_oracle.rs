//! Propagation against a second, naive implementation, written from the specification alone: maps keyed by names, no
//! arrays, no indices, one loop over everything at each level. Random small graphs with all types of connection, several
//! cues, a beam, passes, refractory periods, old saliences and the fan.

use std::collections::BTreeMap;

use git_brain::activation::{ColumnsBuf, Cue, Profile, propagate};
use git_brain::model::settings::Activation;
use git_brain::model::{Kind, Link, Neuron, NeuronId, Stamp};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// The oracle's own network.
#[derive(Default, Debug)]
struct Brain {
    /// name → (stored salience, hours since it was stored)
    salience: BTreeMap<String, (u16, u32)>,
    /// (stored on, target, type) → weight
    edges: BTreeMap<(String, String, &'static str), u16>,
}

type Amounts = BTreeMap<String, f64>;

#[derive(Default, Debug)]
struct Answer {
    activation: Amounts,
    context: Amounts,
    passes: Vec<Amounts>,
    cut: u64,
    unquiet: bool,
}

impl Brain {
    fn salience_now(&self, name: &str) -> f64 {
        let (stored, hours) = self.salience[name];
        (f64::from(stored) * 0.99_f64.powi(hours as i32)).floor()
    }

    /// (type, where it leads, weight) of what is followed out of `u`.
    fn ways(&self, u: &str) -> Vec<(&'static str, String, f64)> {
        let mut ways = Vec::new();
        for ((from, to, link), weight) in &self.edges {
            let (start, end) = if *link == "recalls" { (to, from) } else { (from, to) };
            let there = self.salience.contains_key(from) && self.salience.contains_key(to);
            if start == u && there && *weight > 0 {
                ways.push((*link, end.clone(), f64::from(*weight)));
            }
        }
        ways
    }

    fn answer(&self, cues: &[(String, f64)], s: &Activation) -> Answer {
        let mut answer = Answer::default();
        let mut seeds: Vec<Amounts> = cues.iter().map(|(n, x)| Amounts::from([(n.clone(), *x)])).collect();
        let most = if s.passes == 0 { 64 } else { s.passes };
        let mut pass = 0;
        loop {
            pass += 1;
            for wave in &mut seeds {
                for x in wave.values_mut() {
                    *x *= if pass >= 2 && pass > s.pass_count { 0.5 } else { 1.0 };
                }
                wave.retain(|_, x| *x >= s.min);
            }
            if seeds.iter().all(|w| w.is_empty()) {
                return answer;
            }
            if pass > most {
                answer.unquiet = s.passes == 0;
                return answer;
            }
            seeds = self.pass(&seeds, s, &mut answer);
        }
    }

    /// One pass of all waves; gives each wave's late arrivals.
    fn pass(&self, seeds: &[Amounts], s: &Activation, answer: &mut Answer) -> Vec<Amounts> {
        let mut context = Amounts::new();
        let mut inhibition = Amounts::new();
        let mut late = vec![Amounts::new(); seeds.len()];
        // (wave, name) → (depth, E·(1 + κ·min(1, C)))
        let mut visited: BTreeMap<(usize, String), (u32, f64)> = BTreeMap::new();
        // (name, wave) → what it spreads: a map in this order is the order of summation.
        let mut frontier: BTreeMap<(String, usize), f64> = BTreeMap::new();
        for (wave, starts) in seeds.iter().enumerate() {
            for (name, x) in starts {
                visited.insert((wave, name.clone()), (0, *x));
                frontier.insert((name.clone(), wave), *x);
            }
        }
        for depth in 0..s.max_depth {
            let mut excitation: BTreeMap<(usize, String), f64> = BTreeMap::new();
            for ((u, wave), a) in &frontier {
                let delta = a - self.salience_now(u) / 65535.0;
                let ways = self.ways(u);
                let fan = 1.0 / (ways.len() as f64).powf(s.fan);
                for (link, v, weight) in &ways {
                    if *link == "triggers" && delta < s.theta {
                        continue;
                    }
                    let strength = if *link == "triggers" { delta } else { *a };
                    let sigma = self.salience_now(v).max(f64::from(s.salience_floor)) / 65535.0;
                    let c = strength * (weight / 65535.0) * sigma * s.decay * fan;
                    if c < s.min {
                        continue;
                    }
                    match *link {
                        "influences" => *context.entry(v.clone()).or_default() += c,
                        "inhibits" => *inhibition.entry(v.clone()).or_default() += c,
                        _ => {
                            let e = excitation.entry((*wave, v.clone())).or_default();
                            *e = e.max(c);
                        }
                    }
                }
            }
            frontier.clear();
            let mut fresh: Vec<(usize, String, f64, f64)> = Vec::new();
            for ((wave, v), e) in excitation {
                let drive = e * (1.0 + s.kappa * context.get(&v).copied().unwrap_or(0.0).min(1.0));
                let x = (drive - inhibition.get(&v).copied().unwrap_or(0.0)).clamp(0.0, 1.0);
                if x < s.min {
                    continue;
                }
                match visited.get(&(wave, v.clone())) {
                    Some((first, _)) if depth + 1 - first <= s.refractory => {}
                    Some(_) => {
                        let kept = late[wave].entry(v).or_insert(x);
                        *kept = kept.max(x);
                    }
                    None => fresh.push((wave, v, x, drive)),
                }
            }
            for wave in 0..seeds.len() {
                let mut mine: Vec<_> = fresh.iter().filter(|f| f.0 == wave).cloned().collect();
                mine.sort_by(|a, b| b.2.partial_cmp(&a.2).unwrap().then(a.1.cmp(&b.1)));
                for (place, (wave, v, x, drive)) in mine.into_iter().enumerate() {
                    if s.beam > 0 && place >= s.beam as usize {
                        answer.cut += 1;
                        continue;
                    }
                    visited.insert((wave, v.clone()), (depth + 1, drive));
                    frontier.insert((v, wave), x);
                }
            }
        }
        let mut reported = Amounts::new();
        for ((_, name), (_, drive)) in visited {
            let x = (drive - inhibition.get(&name).copied().unwrap_or(0.0)).clamp(0.0, 1.0);
            *reported.entry(name.clone()).or_default() += x;
        }
        for (name, x) in &reported {
            *answer.activation.entry(name.clone()).or_default() += x;
        }
        for (name, c) in context {
            *answer.context.entry(name).or_default() += c;
        }
        answer.passes.push(reported);
        late
    }
}

const LINKS: [&str; 5] = ["feeds_into", "influences", "inhibits", "recalls", "triggers"];
const NOW: i64 = 1_769_437_920;

fn random_brain(dice: &mut Dice) -> Brain {
    let mut brain = Brain::default();
    let size = 2 + dice.below(11);
    for i in 0..size {
        let stored = dice.of(&[65535, 65535, 65535, 65535, 52428, 30000, 0]);
        let hours = dice.of(&[0, 0, 0, 0, 1, 24, 200]);
        // Names whose order is neither that of creation nor that of numbers.
        brain.salience.insert(format!("n{}-{i}", dice.below(9)), (stored, hours));
    }
    let names: Vec<String> = brain.salience.keys().cloned().collect();
    for _ in 0..size + dice.below(3 * size + 1) {
        let from = names[dice.below(size) as usize].clone();
        let mut to = names[dice.below(size) as usize].clone();
        if dice.below(30) == 0 {
            to = "absent".into();
        }
        let link = dice.of(&[LINKS[0], LINKS[0], LINKS[0], LINKS[1], LINKS[2], LINKS[3], LINKS[4]]);
        // Few different weights, so that ties happen.
        brain.edges.insert((from, to, link), dice.of(&[65535, 65535, 65535, 52428, 52428, 39321, 26214, 655, 0]));
    }
    brain
}

fn random_settings(dice: &mut Dice) -> Activation {
    Activation {
        decay: dice.of(&[0.9, 0.9, 0.9, 1.0, 0.5]),
        min: dice.of(&[0.01, 0.01, 0.1, 1e-6]),
        max_depth: dice.of(&[4, 4, 2, 0, 9]),
        beam: dice.of(&[0, 1024, 1, 2, 3]),
        pass_count: dice.of(&[2, 2, 0, 1, 1000]),
        passes: dice.of(&[1, 1, 0, 0, 2, 5]),
        refractory: dice.of(&[0, 0, 1, 2, 3]),
        kappa: dice.of(&[1.0, 1.0, 0.0, 0.5]),
        theta: dice.of(&[0.5, 0.1, 0.0]),
        salience_floor: dice.of(&[3277, 3277, 0, 65535]),
        fan: dice.of(&[0.0, 0.0, 0.5, 1.0, 0.3]),
    }
}

fn neurons(brain: &Brain, dice: &mut Dice) -> Vec<Neuron> {
    let id = |name: &str| NeuronId::parse(name).unwrap();
    let mut list: Vec<Neuron> = Vec::new();
    for (name, (salience, hours)) in &brain.salience {
        let at = Stamp::from_unix(NOW - i64::from(*hours) * 3600);
        let mut neuron = Neuron::new(id(name), name.as_str(), Kind::Semantic, at);
        neuron.salience = *salience;
        for ((from, to, link), weight) in &brain.edges {
            if from == name {
                neuron.set_weight(&id(to), link.parse::<Link>().unwrap(), *weight);
            }
        }
        list.insert(dice.below(list.len() as u64 + 1) as usize, neuron);
    }
    list
}

#[track_caller]
fn same(what: &str, product: &[(String, f64)], oracle: &Amounts) {
    let names: Vec<_> = product.iter().map(|(n, _)| n).collect();
    assert_eq!(names, oracle.keys().collect::<Vec<_>>(), "{what}");
    for (name, x) in product {
        let y = oracle[name];
        assert!((x - y).abs() <= 1e-12 * y.abs().max(1e-3), "{what} of {name}: {x} is not {y}");
    }
}

#[test]
fn propagation_agrees_with_the_oracle() {
    let (mut busy, mut passes, mut cut, mut context, mut silenced, mut unquiet) = (0, 0, 0, 0, 0, 0);
    for seed in 0..6_000 {
        let mut dice = Dice(seed);
        let brain = random_brain(&mut dice);
        let settings = random_settings(&mut dice);
        let names: Vec<&String> = brain.salience.keys().collect();
        let strengths = [1.0, 1.0, 1.0, 1.0, 0.5, 0.3, 0.009];
        let mut cues: BTreeMap<String, f64> = BTreeMap::new();
        for _ in 0..=dice.below(4) {
            cues.insert(names[dice.below(names.len() as u64) as usize].clone(), dice.of(&strengths));
        }
        let cues: Vec<(String, f64)> = cues.into_iter().collect();
        let oracle = brain.answer(&cues, &settings);

        let columns = ColumnsBuf::build(neurons(&brain, &mut dice));
        let graph = columns.graph();
        let start = |(n, x): &(String, f64)| Cue::new(graph.find(&NeuronId::parse(n).unwrap()).unwrap(), *x);
        let mut starts: Vec<Cue> = cues.iter().map(start).collect();
        starts.reverse();
        let result = propagate(&graph, &starts, Stamp::from_unix(NOW), &Profile::seed(&settings));
        let named = |list: &[(git_brain::activation::NodeIx, f64)]| -> Vec<(String, f64)> {
            list.iter().map(|(n, x)| (graph.id(*n).to_string(), *x)).collect()
        };
        let place = format!("seed {seed}\n{brain:?}\n{settings:?}\ncues {cues:?}\n");
        same(&format!("{place}activation"), &named(&result.activation), &oracle.activation);
        same(&format!("{place}context"), &named(&result.context), &oracle.context);
        assert_eq!(result.passes.len(), oracle.passes.len(), "{place}");
        for (mine, theirs) in result.passes.iter().zip(&oracle.passes) {
            same(&format!("{place}a pass"), &named(mine), theirs);
        }
        assert_eq!((result.cut.beam, result.cut.passes), (oracle.cut, oracle.unquiet), "{place}");
        for (node, _) in &result.activation {
            let path = result.path(*node).unwrap();
            let first = path.first().map_or(*node, |s| s.from);
            assert!(starts.iter().any(|c| c.neuron == first), "{place}a path starts elsewhere");
            assert!(path.windows(2).all(|w| w[0].to == w[1].from) && path.last().is_none_or(|s| s.to == *node));
        }
        busy += usize::from(oracle.activation.len() > cues.len());
        passes += usize::from(oracle.passes.len() > 2);
        cut += usize::from(oracle.cut > 0);
        context += usize::from(!oracle.context.is_empty());
        silenced += usize::from(oracle.activation.values().any(|x| *x == 0.0));
        unquiet += usize::from(oracle.unquiet);
    }
    // The graphs really exercise what they should.
    let seen = [busy, passes, cut, context, silenced, unquiet];
    assert!(seen.iter().all(|n| *n >= 5), "{seen:?}");
}
