//! Spreading activation: one wave per cue, level by level, with context, inhibition, a beam and re-entrant passes.
//!
//! Source: MagistraAI's technical note, 2.1 and 2.2. Its queue is popped here by smallest depth, then greatest strength, then
//! smallest id, which equals a frontier per level merged by maximum, whatever the order of files. Levels and passes are
//! the clock, never wall time. Sums are taken in ascending source order, then in ascending cue order, so that the
//! result is the same to the last bit everywhere, except that an exponent other than 0, ½ and 1 goes through `powf`.

use std::collections::BTreeMap;

use super::graph::{Graph, NodeIx};
use crate::limits;
use crate::model::settings::{Activation, Recall};
use crate::model::{Kind, Link, Stamp};

/// Where a wave starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cue {
    /// The neuron.
    pub neuron: NodeIx,
    /// Starting strength, held to 0..=1. Below `min` the cue is silent.
    pub strength: f64,
    /// What every reported value of its wave is multiplied by, such as the idf of a word; 1 leaves it.
    pub weight: f64,
}

impl Cue {
    /// A cue of weight 1.
    pub fn new(neuron: NodeIx, strength: f64) -> Self {
        Self { neuron, strength, weight: 1.0 }
    }
}

/// The parameters of a propagation.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The parameters of plain propagation. `fan` in it is not read: see [`Profile::fan`].
    pub activation: Activation,
    /// Exponent of a target's salience (as a share of 65535): 1 is plain propagation, 0 ignores salience.
    pub salience_exponent: f64,
    /// Exponent φ of the fan penalty 1/outdegree^φ on each type of source, in the order of [`Kind::ALL`].
    pub fan: [f64; Kind::ALL.len()],
}

impl Profile {
    /// Plain propagation: salience as it is, one fan exponent for all.
    pub fn seed(activation: &Activation) -> Self {
        let fan = [activation.fan; Kind::ALL.len()];
        Self { activation: activation.clone(), salience_exponent: 1.0, fan }
    }

    /// Recall's: salience must not silence the old, and hubs are held back, but memories are not.
    pub fn recall(activation: &Activation, recall: &Recall) -> Self {
        let mut fan = [recall.fan; Kind::ALL.len()];
        fan[Kind::Episodic as usize] = 0.0;
        Self { activation: activation.clone(), salience_exponent: recall.salience_exponent, fan }
    }
}

/// What a propagation left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Arrivals that the beam cut, over all waves, levels and passes.
    pub beam: u64,
    /// True if it should have run until quiet and still was not after [`limits::PASSES`] passes.
    pub passes: bool,
}

/// One edge on the way from a cue to a neuron, in the direction in which it was followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Where activation came from.
    pub from: NodeIx,
    /// Where it went to.
    pub to: NodeIx,
    /// Along which type. `recalls` is stored on `to`, every other type on `from`.
    pub link: Link,
    /// The activation that `to` got in its wave.
    pub activation: f64,
}

/// The result of a propagation. Lists are ascending by node.
#[derive(Clone, Debug, Default)]
pub struct Propagation {
    /// Activation summed over cues and passes, so it may exceed 1.
    pub activation: Vec<(NodeIx, f64)>,
    /// Context (what `influences` brought) summed over passes, also of neurons that were not activated.
    pub context: Vec<(NodeIx, f64)>,
    /// Activation pass by pass, summed over cues.
    pub passes: Vec<Vec<(NodeIx, f64)>>,
    /// What was left out.
    pub cut: Cut,
    waves: Vec<Wave>,
}

impl Propagation {
    /// A node's summed activation, 0 if it was not activated.
    pub fn strength(&self, node: NodeIx) -> f64 {
        let found = self.activation.binary_search_by_key(&node, |(n, _)| *n);
        found.map_or(0.0, |at| self.activation[at].1)
    }

    /// The way from a cue to a node, cue first: of the wave and pass that activated the node most (then the earliest pass,
    /// then the smallest cue). Empty for a cue itself, `None` for a node that was not activated.
    pub fn path(&self, node: NodeIx) -> Option<Vec<Step>> {
        let mut best: Option<(f64, &Wave, usize)> = None;
        for wave in &self.waves {
            for (at, record) in wave.records.iter().enumerate().filter(|(_, r)| r.node == node) {
                let value = record.reported * wave.weight;
                let better = best.is_none_or(|(most, other, i)| {
                    value > most || (value == most && record.pass < other.records[i].pass)
                });
                if better {
                    best = Some((value, wave, at));
                }
            }
        }
        let (_, wave, mut at) = best?;
        let mut steps = Vec::new();
        while let Some((parent, link)) = wave.records[at].parent {
            let (from, to) = (wave.records[parent].node, wave.records[at].node);
            steps.push(Step { from, to, link, activation: wave.records[at].value });
            at = parent;
        }
        steps.reverse();
        Some(steps)
    }
}

/// One activation of one neuron in one wave and pass.
#[derive(Clone, Debug)]
struct Record {
    node: NodeIx,
    pass: u32,
    depth: u32,
    /// `E·(1 + κ·min(1, C))` when it was activated; a seed's strength.
    drive: f64,
    /// What it spreads: `drive − I` when it was activated, held to 0..=1.
    value: f64,
    /// The same with inhibition as it stood at the end of the pass.
    reported: f64,
    parent: Parent,
}

/// What activated a record: another record of its wave, and along which type; nothing for a cue.
type Parent = Option<(usize, Link)>;

/// A wave: all that one cue does.
#[derive(Clone, Debug)]
struct Wave {
    weight: f64,
    records: Vec<Record>,
    /// The first record of this pass.
    pass_start: usize,
    /// Visited in this pass: node → record.
    visited: BTreeMap<NodeIx, usize>,
    /// Records to expand next.
    frontier: Vec<usize>,
    /// What seeds the next pass: the cue at first, then arrivals at visited neurons.
    late: BTreeMap<NodeIx, (f64, Parent)>,
}

/// An excitation on its way.
#[derive(Clone, Copy)]
struct Arrival {
    target: NodeIx,
    strength: f64,
    parent: (usize, Link),
}

/// Runs a wave from each of `cues` and reports what is active at `now`. The order of the cues does not matter.
pub fn propagate(graph: &Graph, cues: &[Cue], now: Stamp, profile: &Profile) -> Propagation {
    let mut cues = cues.to_vec();
    cues.sort_by(|a, b| {
        let by_node = a.neuron.cmp(&b.neuron);
        by_node.then(b.strength.total_cmp(&a.strength)).then(b.weight.total_cmp(&a.weight))
    });
    let mut waves: Vec<Wave> = cues.iter().map(Wave::of).collect();
    let mut field = Field::new(graph, now, profile);
    let settings = &profile.activation;
    let limit = if settings.passes == 0 { limits::PASSES } else { settings.passes };
    let mut result = Propagation::default();
    let (mut activation, mut context) = (BTreeMap::new(), BTreeMap::new());
    let mut pass = 1;
    while pass <= limit && waves.iter().any(|w| w.has_seeds(pass, settings)) {
        waves.iter_mut().for_each(|w| w.seed(pass, settings));
        for depth in 1..=settings.max_depth {
            field.level(&mut waves, pass, depth);
        }
        let reported = field.report(&mut waves);
        add_up(&mut activation, reported.iter().copied());
        add_up(&mut context, std::mem::take(&mut field.context));
        field.inhibition.clear();
        result.passes.push(reported);
        pass += 1;
    }
    field.cut.passes = settings.passes == 0 && waves.iter().any(|w| w.has_seeds(pass, settings));
    result.activation = activation.into_iter().collect();
    result.context = context.into_iter().collect();
    result.cut = field.cut;
    result.waves = waves;
    result
}

fn add_up(sums: &mut BTreeMap<NodeIx, f64>, terms: impl IntoIterator<Item = (NodeIx, f64)>) {
    for (node, term) in terms {
        *sums.entry(node).or_insert(0.0) += term;
    }
}

impl Wave {
    fn of(cue: &Cue) -> Self {
        let strength = if cue.strength.is_nan() { 0.0 } else { cue.strength.clamp(0.0, 1.0) };
        Self {
            weight: cue.weight,
            records: Vec::new(),
            pass_start: 0,
            visited: BTreeMap::new(),
            frontier: Vec::new(),
            late: BTreeMap::from([(cue.neuron, (strength, None))]),
        }
    }

    /// Half from pass N + 1 on: this is what lets a ring die out (seed 2.2, `pass_count`). A cue itself is never halved.
    fn share(pass: u32, settings: &Activation) -> f64 {
        if pass > 1 && pass > settings.pass_count { 0.5 } else { 1.0 }
    }

    fn has_seeds(&self, pass: u32, settings: &Activation) -> bool {
        let share = Self::share(pass, settings);
        self.late.values().any(|(x, _)| x * share >= settings.min)
    }

    /// Starts a pass.
    fn seed(&mut self, pass: u32, settings: &Activation) {
        let share = Self::share(pass, settings);
        self.pass_start = self.records.len();
        self.visited.clear();
        self.frontier.clear();
        for (node, (x, parent)) in std::mem::take(&mut self.late) {
            let value = x * share;
            if value >= settings.min {
                self.frontier.push(self.records.len());
                self.visited.insert(node, self.records.len());
                self.records.push(Record { node, pass, depth: 0, drive: value, value, reported: value, parent });
            }
        }
    }
}

/// What all waves share: the network, and context and inhibition of this pass.
struct Field<'a> {
    graph: &'a Graph,
    now: Stamp,
    profile: &'a Profile,
    /// Salience factors already computed; 0: not yet, or really 0.
    factors: Vec<f64>,
    context: BTreeMap<NodeIx, f64>,
    inhibition: BTreeMap<NodeIx, f64>,
    cut: Cut,
}

impl<'a> Field<'a> {
    fn new(graph: &'a Graph, now: Stamp, profile: &'a Profile) -> Self {
        let (context, inhibition) = (BTreeMap::new(), BTreeMap::new());
        Self { graph, now, profile, factors: vec![0.0; graph.len()], context, inhibition, cut: Cut::default() }
    }

    /// One level in lockstep: the arrivals of all waves first, then every wave's barrier.
    fn level(&mut self, waves: &mut [Wave], pass: u32, depth: u32) {
        let mut sources: Vec<(NodeIx, usize, usize)> = Vec::new();
        for (at, wave) in waves.iter_mut().enumerate() {
            sources.extend(wave.frontier.drain(..).map(|record| (wave.records[record].node, at, record)));
        }
        sources.sort_unstable();
        let mut arrivals: Vec<Vec<Arrival>> = vec![Vec::new(); waves.len()];
        for (node, wave, record) in sources {
            self.expand(node, waves[wave].records[record].value, record, &mut arrivals[wave]);
        }
        for (wave, arrivals) in waves.iter_mut().zip(arrivals) {
            self.barrier(wave, arrivals, pass, depth);
        }
    }

    /// Sends a node's activation along its edges.
    fn expand(&mut self, node: NodeIx, value: f64, record: usize, arrivals: &mut Vec<Arrival>) {
        let settings = &self.profile.activation;
        let graph = self.graph;
        let own = f64::from(graph.salience_at(node, self.now)) / 65535.0;
        let change = value - own;
        let exponent = self.profile.fan[graph.kind(node) as usize];
        let fan = 1.0 / power(graph.out_degree(node) as f64, exponent);
        for edge in graph.spread(node) {
            let strength = match edge.link {
                Link::Triggers if change < settings.theta => continue,
                Link::Triggers => change,
                Link::FeedsInto | Link::Recalls | Link::Influences | Link::Inhibits => value,
            };
            let factor = self.salience_factor(edge.target);
            let strength = strength * (f64::from(edge.weight) / 65535.0) * factor * settings.decay * fan;
            if strength < settings.min {
                continue;
            }
            match edge.link {
                Link::Influences => *self.context.entry(edge.target).or_insert(0.0) += strength,
                Link::Inhibits => *self.inhibition.entry(edge.target).or_insert(0.0) += strength,
                Link::FeedsInto | Link::Recalls | Link::Triggers => {
                    arrivals.push(Arrival { target: edge.target, strength, parent: (record, edge.link) });
                }
            }
        }
    }

    /// Decides which arrivals of a wave activate: the strongest per target, under context and inhibition, then the beam.
    fn barrier(&mut self, wave: &mut Wave, mut arrivals: Vec<Arrival>, pass: u32, depth: u32) {
        let settings = &self.profile.activation;
        // Stable, so that of equal arrivals the one from the smallest source stays first.
        arrivals.sort_by(|a, b| a.target.cmp(&b.target).then(b.strength.total_cmp(&a.strength)));
        arrivals.dedup_by_key(|a| a.target);
        let mut activated: Vec<Record> = Vec::new();
        for Arrival { target, strength, parent } in arrivals {
            let context = self.context.get(&target).copied().unwrap_or(0.0);
            let drive = strength * (1.0 + settings.kappa * context.min(1.0));
            let value = self.inhibited(target, drive);
            if value < settings.min {
                continue;
            }
            if let Some(&first) = wave.visited.get(&target) {
                let refractory = depth - wave.records[first].depth <= settings.refractory;
                if !refractory && wave.late.get(&target).is_none_or(|(x, _)| value > *x) {
                    wave.late.insert(target, (value, Some(parent)));
                }
                continue;
            }
            let parent = Some(parent);
            activated.push(Record { node: target, pass, depth, drive, value, reported: value, parent });
        }
        let beam = settings.beam as usize;
        if beam > 0 && activated.len() > beam {
            activated.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.node.cmp(&b.node)));
            self.cut.beam += (activated.len() - beam) as u64;
            activated.truncate(beam);
        }
        for record in activated {
            wave.visited.insert(record.node, wave.records.len());
            wave.frontier.push(wave.records.len());
            wave.records.push(record);
        }
    }

    /// The values of a finished pass, summed over waves, with inhibition as it stands now.
    fn report(&self, waves: &mut [Wave]) -> Vec<(NodeIx, f64)> {
        let mut sums = BTreeMap::new();
        for wave in waves {
            for record in &mut wave.records[wave.pass_start..] {
                record.reported = self.inhibited(record.node, record.drive);
                *sums.entry(record.node).or_insert(0.0) += record.reported * wave.weight;
            }
        }
        sums.into_iter().collect()
    }

    fn inhibited(&self, node: NodeIx, drive: f64) -> f64 {
        (drive - self.inhibition.get(&node).copied().unwrap_or(0.0)).clamp(0.0, 1.0)
    }

    /// `(max(salience, floor) / 65535) ^ exponent` of a target.
    fn salience_factor(&mut self, node: NodeIx) -> f64 {
        let known = self.factors[node.0 as usize];
        if known > 0.0 {
            return known;
        }
        let salience = self.graph.salience_at(node, self.now).max(self.profile.activation.salience_floor);
        let factor = power(f64::from(salience) / 65535.0, self.profile.salience_exponent);
        self.factors[node.0 as usize] = factor;
        factor
    }
}

/// `x^exponent`; exact for 0 and 1, correctly rounded for ½.
fn power(x: f64, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        0.5 => x.sqrt(),
        1.0 => x,
        _ => x.powf(exponent),
    }
}
