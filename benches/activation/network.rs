//! The synthetic network that all peers get: the same neurons, connections and cues from a seed.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use git_brain::activation::{Columns, ColumnsBuf, ColumnsBuilder, Cue, NodeIx};
use git_brain::model::{Connection, Kind, Link, Neuron, NeuronId, Stamp};

/// When the questions are asked.
pub const NOW: i64 = 1_769_437_920;
/// Connections of each neuron.
pub const CONNECTIONS: u64 = 10;
/// Cues of each question.
pub const CUES: u64 = 5;
const SEED: u64 = 20_260_126;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

pub fn name(number: u64) -> NeuronId {
    NeuronId::parse(&format!("n{number:07}")).expect("letters and digits")
}

/// Columns of `size` neurons, ten connections each to targets drawn evenly; of twenty connections sixteen are
/// `feeds_into` and one is of each other type. Weights are drawn evenly, saliences from 20000 up, a week old at most.
pub fn build(size: u64) -> ColumnsBuf {
    let mut dice = Dice(SEED);
    let mut builder = ColumnsBuilder::default();
    for number in 0..size {
        let at = Stamp::from_unix(NOW - dice.below(168 * 3600) as i64);
        let mut neuron = Neuron::new(name(number), "x", Kind::Semantic, at);
        neuron.salience = 20_000 + dice.below(45_536) as u16;
        neuron.connections = (0..CONNECTIONS).map(|_| connection(&mut dice, size)).collect();
        neuron.connections.sort();
        neuron.connections.dedup_by(|a, b| (&a.target, a.link) == (&b.target, b.link));
        builder.add(&neuron);
    }
    builder.finish()
}

fn connection(dice: &mut Dice, size: u64) -> Connection {
    let target = name(dice.below(size));
    let weight = 1 + dice.below(65_535) as u16;
    let link = match dice.below(20) {
        16 => Link::Influences,
        17 => Link::Inhibits,
        18 => Link::Recalls,
        19 => Link::Triggers,
        _ => Link::FeedsInto,
    };
    Connection { target, weight, link }
}

/// The cues of each question.
pub fn questions(size: u64, count: usize) -> Vec<Vec<Cue>> {
    let mut dice = Dice(SEED + 1);
    let cue = |dice: &mut Dice| Cue::new(NodeIx(dice.below(size) as u32), 1.0);
    let question = |_| {
        let mut cues: Vec<Cue> = (0..CUES).map(|_| cue(&mut dice)).collect();
        cues.sort_by_key(|cue| cue.neuron);
        cues.dedup_by_key(|cue| cue.neuron);
        cues
    };
    (0..count).map(question).collect()
}

/// Writes the network as raw arrays for the peers, as we follow it: `recalls` from B to A.
pub fn write(columns: &Columns<'_>, saliences: &[u16], questions: &[Vec<Cue>], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut cues: Vec<u32> = Vec::new();
    for question in questions {
        let row = (0..CUES as usize).map(|at| question.get(at).map_or(u32::MAX, |cue| cue.neuron.0));
        cues.extend(row);
    }
    let file =
        |name: &str, bytes: &[u8]| -> Result<()> { Ok(std::fs::File::create(folder.join(name))?.write_all(bytes)?) };
    file("rows.u32", bytemuck::cast_slice(columns.rows))?;
    file("targets.u32", bytemuck::cast_slice(columns.targets))?;
    file("weights.u16", bytemuck::cast_slice(columns.weights))?;
    file("links.u8", columns.links)?;
    file("saliences.u16", bytemuck::cast_slice(saliences))?;
    file("cues.u32", bytemuck::cast_slice(&cues))
}
