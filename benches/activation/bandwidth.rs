//! One level with every neuron active, against how fast this machine reads memory.

use std::hint::black_box;
use std::time::Instant;

use git_brain::activation::{ColumnsBuf, Level, NodeIx, Profile};
use git_brain::model::Stamp;
use git_brain::model::settings::Activation;

use crate::network::{Dice, NOW};

const ROUNDS: usize = 7;
/// Larger than any cache but the largest.
const BUFFER_BYTES: usize = 1 << 30;

/// Prints bytes of rows and edges by time, as a share of the bandwidth measured beside it.
pub fn measure(columns: &ColumnsBuf, size: u64) {
    let (graph, profile) = (columns.graph(), Profile::seed(&Activation::default()));
    let mut dice = Dice(7);
    let active: Vec<(NodeIx, f64)> = graph.nodes().map(|node| (node, 0.2 + dice.below(800_000) as f64 / 1e6)).collect();
    let mut level = Level::new(&graph, Stamp::from_unix(NOW), &profile);
    let buffer = vec![1_u64; BUFFER_BYTES / 8];
    let view = columns.view();
    let bytes = (view.rows.len() * 4 + view.targets.len() * 7) as f64;
    let (mut shares, mut sends, mut nodes, mut speeds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(sum(&buffer));
        let speed = BUFFER_BYTES as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        level.send(&active);
        let send = start.elapsed().as_secs_f64();
        let start = Instant::now();
        black_box(level.arrivals());
        nodes.push(start.elapsed().as_secs_f64() * 1e3);
        shares.push(100.0 * bytes / send / speed);
        sends.push(send * 1e3);
        speeds.push(speed / 1e9);
    }
    println!(
        "\nSweep, {size} neurons, {:.1} MB of rows and edges: {:.1} ms over the edges ({:.1} ns each), {:.1} ms over the nodes; \
         reading memory {:.1} GB/s; **{:.1} %** of it over the edges (medians of {ROUNDS}).",
        bytes / 1e6,
        crate::median(&sends),
        crate::median(&sends) * 1e6 / view.targets.len() as f64,
        crate::median(&nodes),
        crate::median(&speeds),
        crate::median(&shares),
    );
}

/// A sum that the compiler turns into vector instructions.
fn sum(buffer: &[u64]) -> [u64; 16] {
    let mut sums = [0_u64; 16];
    for chunk in buffer.chunks_exact(16) {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*x);
        }
    }
    sums
}
