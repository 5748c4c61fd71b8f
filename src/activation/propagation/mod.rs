//! Spreading activation: one wave per cue, level by level, with context, inhibition, a beam and re-entrant passes.
//!
//! Source: MagistraAI's technical note, 2.1 and 2.2. Its queue is popped here by smallest depth, then greatest strength, then
//! smallest id, which equals a frontier per level merged by maximum, whatever the order of files. Levels and passes are
//! the clock, never wall time. Sums are taken in ascending source order, then in ascending cue order, so that the
//! result is the same to the last bit everywhere, except that an exponent other than 0, ½ and 1 goes through `powf`.
//!
//! Flow: cues → waves → per level: expand the frontiers, then each wave's barrier → per pass: report → [`Propagation`]. A query
//! costs what it touches, whatever the network's size.

mod expand;
mod table;
mod wave;

use self::expand::Expansion;
use self::table::Sums;
use self::wave::{Barrier, Wave};
use super::graph::{Graph, NodeIx};
use crate::limits;
use crate::model::settings::{Activation, Recall};
use crate::model::{Kind, Link, Stamp, salience};

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
    /// Whether it should have run until quiet and still was not after [`limits::PASSES`] passes.
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

/// The result of a propagation. Lists are ascending by the ids of the nodes.
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
    /// The places in `activation`, ascending by the number of the node.
    by_number: Vec<u32>,
    /// The weight of each wave, ascending by cue, and what it activated.
    waves: Vec<(f64, Vec<Record>)>,
}

impl Propagation {
    /// A node's summed activation, 0 if it was not activated.
    pub fn strength(&self, node: NodeIx) -> f64 {
        let found = self.by_number.binary_search_by_key(&node, |place| self.activation[*place as usize].0);
        found.map_or(0.0, |at| self.activation[self.by_number[at] as usize].1)
    }

    /// The way from a cue to a node, cue first: of the wave and pass that activated the node most (then the earliest pass,
    /// then the smallest cue). Empty for a cue itself, `None` for a node that was not activated.
    pub fn path(&self, node: NodeIx) -> Option<Vec<Step>> {
        let mut best: Option<(f64, &[Record], &Record)> = None;
        for (weight, records) in &self.waves {
            for record in records.iter().filter(|record| record.node == node) {
                let value = record.reported * weight;
                let better = best.is_none_or(|(most, _, at)| value > most || (value == most && record.pass < at.pass));
                if better {
                    best = Some((value, records, record));
                }
            }
        }
        let (_, records, mut at) = best?;
        let mut steps = Vec::new();
        while let Some(Parent { record, link }) = at.parent {
            let parent = &records[record as usize];
            steps.push(Step { from: parent.node, to: at.node, link, activation: at.value });
            at = parent;
        }
        steps.reverse();
        Some(steps)
    }
}

/// One activation of one neuron in one wave and pass.
#[derive(Clone, Copy, Debug)]
struct Record {
    node: NodeIx,
    pass: u32,
    depth: u32,
    /// What activated it; nothing for a cue.
    parent: Option<Parent>,
    /// `E·(1 + κ·min(1, C))` when it was activated; a seed's strength.
    drive: f64,
    /// What it spreads: `drive − I` when it was activated, held to 0..=1.
    value: f64,
    /// The same with inhibition as it stood at the end of the pass.
    reported: f64,
}

/// Another record of the same wave, and along which type it activated.
#[derive(Clone, Copy, Debug)]
struct Parent {
    record: u32,
    link: Link,
}

/// What a propagation works with. Kept from one to the next, it saves the time to get memory; it changes no result.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    waves: Vec<Wave>,
    /// What `influences` brought in this pass.
    context: Sums,
    /// What `inhibits` brought in this pass.
    inhibition: Sums,
    reported: Sums,
    activation: Sums,
    all_context: Sums,
    expansion: Expansion,
}

/// Runs a wave from each of `cues` and reports what is active at `now`. The order of the cues does not matter.
pub fn propagate(graph: &Graph<'_>, cues: &[Cue], now: Stamp, profile: &Profile) -> Propagation {
    propagate_with(&mut Scratch::default(), graph, cues, now, profile)
}

/// The same, with memory that is kept for many propagations, whatever their graphs.
pub fn propagate_with(
    scratch: &mut Scratch,
    graph: &Graph<'_>,
    cues: &[Cue],
    now: Stamp,
    profile: &Profile,
) -> Propagation {
    let mut cues = cues.to_vec();
    cues.sort_by(|a, b| {
        let by_node = graph.order(a.neuron).cmp(&graph.order(b.neuron));
        by_node.then(b.strength.total_cmp(&a.strength)).then(b.weight.total_cmp(&a.weight))
    });
    let query = Query { graph: *graph, now, profile };
    scratch.start(&cues);
    let settings = &profile.activation;
    let limit = if settings.passes == 0 { limits::PASSES } else { settings.passes };
    let mut result = Propagation::default();
    let mut pass = 1;
    while pass <= limit && scratch.has_seeds(pass, settings) {
        result.cut.beam += scratch.pass(&query, pass);
        result.passes.push(query.in_order(&scratch.reported));
        pass += 1;
    }
    result.cut.passes = settings.passes == 0 && scratch.has_seeds(pass, settings);
    result.activation = query.in_order(&scratch.activation);
    result.context = query.in_order(&scratch.all_context);
    result.by_number = (0..result.activation.len() as u32).collect();
    result.by_number.sort_unstable_by_key(|place| result.activation[*place as usize].0);
    let records = |wave: &mut Wave| (wave.weight, std::mem::take(&mut wave.records));
    result.waves = scratch.waves.iter_mut().take(cues.len()).map(records).collect();
    result
}

impl Scratch {
    fn start(&mut self, cues: &[Cue]) {
        self.waves.resize_with(cues.len(), Wave::default);
        for (wave, cue) in self.waves.iter_mut().zip(cues) {
            wave.start(cue);
        }
        self.activation.clear();
        self.all_context.clear();
    }

    fn has_seeds(&self, pass: u32, settings: &Activation) -> bool {
        self.waves.iter().any(|wave| wave.has_seeds(pass, settings))
    }

    /// One pass of all waves; returns how many arrivals the beam cut.
    fn pass(&mut self, query: &Query<'_>, pass: u32) -> u64 {
        let settings = &query.profile.activation;
        let mut cut = 0;
        self.context.clear();
        self.inhibition.clear();
        self.reported.clear();
        for wave in &mut self.waves {
            wave.seed(&query.graph, pass, settings);
        }
        for depth in 1..=settings.max_depth {
            if self.waves.iter().all(|wave| wave.frontier.is_empty()) {
                break;
            }
            // In lockstep: the arrivals of all waves first, then every wave's barrier.
            self.arrivals(query);
            let (graph, context, inhibition) = (&query.graph, &self.context, &self.inhibition);
            let barrier = Barrier { graph, settings, context, inhibition, pass, depth };
            cut += self.waves.iter_mut().map(|wave| wave.barrier(&barrier)).sum::<u64>();
        }
        for wave in &mut self.waves {
            wave.report(&self.inhibition, &mut self.reported);
        }
        for (sums, terms) in [(&mut self.activation, &self.reported), (&mut self.all_context, &self.context)] {
            terms.list().iter().for_each(|(node, term)| sums.add(*node, *term));
        }
        cut
    }

    /// The arrivals of one level, of all waves.
    fn arrivals(&mut self, query: &Query<'_>) {
        self.expansion.clear();
        for (at, wave) in self.waves.iter().enumerate() {
            self.expansion.add(query, at, wave);
        }
        self.expansion.run(query, &mut self.waves, &mut self.context, &mut self.inhibition);
    }
}

/// What a propagation is asked.
struct Query<'a> {
    graph: Graph<'a>,
    now: Stamp,
    profile: &'a Profile,
}

impl Query<'_> {
    /// `(max(salience, floor) / 65535) ^ exponent` of a target, `None` if it is not there. At most 1 for an exponent of 0 or more.
    fn factor(&self, node: NodeIx) -> Option<f64> {
        let target = self.graph.attributes(node.0);
        if !target.state.is_present() {
            return None;
        }
        let salience = salience::salience_at(target.salience, target.stamp(), self.now);
        let salience = salience.max(self.profile.activation.salience_floor);
        Some(power(f64::from(salience) / 65535.0, self.profile.salience_exponent))
    }

    /// What a source of activation `value` sends along `triggers`: how much it exceeds its own salience, without the floor.
    /// `None` if that is too little.
    fn change(&self, node: NodeIx, value: f64) -> Option<f64> {
        // Salience is not negative: no need to look for it.
        if value < self.profile.activation.theta {
            return None;
        }
        let change = value - f64::from(self.graph.salience_at(node, self.now)) / 65535.0;
        if change < self.profile.activation.theta { None } else { Some(change) }
    }

    /// Whether nothing arrives with more than what was sent, but for the fan.
    fn is_bounded(&self) -> bool {
        self.profile.salience_exponent >= 0.0 && self.profile.activation.decay >= 0.0
    }

    /// Sums as a list that is ascending by id.
    fn in_order(&self, sums: &Sums) -> Vec<(NodeIx, f64)> {
        let mut list: Vec<(NodeIx, f64)> = sums.list().iter().map(|(node, x)| (NodeIx(*node), *x)).collect();
        list.sort_unstable_by_key(|(node, _)| self.graph.order(*node));
        list
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
