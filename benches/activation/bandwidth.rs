//! One level with every neuron active, against how fast this machine reads memory.

use std::hint::black_box;
use std::time::Instant;

use git_brain::activation::{ColumnsBuf, Level, NodeIx, Profile};
use git_brain::model::Stamp;
use git_brain::model::settings::Activation;

use crate::median;
use crate::network::{Dice, NOW};

const ROUNDS: usize = 9;
/// Larger than any cache but the largest.
const BUFFER_BYTES: usize = 1 << 30;

/// What is measured in each round, milliseconds.
#[derive(Default)]
struct Times {
    sources: Vec<f64>,
    edges: Vec<f64>,
    /// Edges and nodes in one: what `propagate` does after the sources.
    arrivals: Vec<f64>,
}

/// Prints rows of a table: the bytes of rows and edges by time, as a share of the bandwidth that is measured in between.
pub fn measure(columns: &ColumnsBuf, size: u64) {
    let (graph, profile) = (columns.graph(), Profile::seed(&Activation::default()));
    let mut dice = Dice(7);
    let active: Vec<(NodeIx, f64)> = graph.nodes().map(|node| (node, 0.2 + dice.below(800_000) as f64 / 1e6)).collect();
    let level = |is_portable| Level::new(&graph, Stamp::from_unix(NOW), &profile, is_portable);
    let mut levels = [(level(false), Times::default()), (level(true), Times::default())];
    let buffer = vec![1_u64; BUFFER_BYTES / 8];
    let mut speeds = Vec::new();
    for _ in 0..ROUNDS {
        let read_ms = timed(|| sum(&buffer));
        speeds.push(BUFFER_BYTES as f64 / read_ms);
        for (level, times) in &mut levels {
            times.sources.push(timed(|| level.activate(&active)));
            times.edges.push(timed(|| level.edges()));
            times.arrivals.push(timed(|| level.arrivals().len()));
        }
    }
    let view = columns.view();
    let bytes = (view.in_rows.len() * 4 + view.in_sources.len() * 7) as f64;
    for ((_, times), name) in levels.iter().zip(["vectors, where there are", "portable"]) {
        // Shares of each round's bandwidth, because that changes with what else the machine does.
        let share = |time: &dyn Fn(usize) -> f64| {
            median(&(0..ROUNDS).map(|at| 100.0 * bytes / time(at) / speeds[at]).collect::<Vec<_>>())
        };
        println!(
            "| {size} | {name} | {:.2} | {:.2}, {:.2} ns each | {:.2} | {:.1} | {:.0} % | {:.0} % | {:.0} % |",
            median(&times.sources),
            median(&times.edges),
            median(&times.edges) * 1e6 / view.in_sources.len() as f64,
            median(&times.arrivals),
            median(&speeds) / 1e6,
            share(&|at| times.edges[at]),
            share(&|at| times.sources[at] + times.edges[at]),
            share(&|at| times.sources[at] + times.arrivals[at]),
        );
    }
}

pub fn heading() {
    println!(
        "\n| neurons | sweep | sources, ms | edges, ms | edges and nodes, ms | reading memory, GB/s | edges' share | sources' and edges' | whole level's |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
}

/// Milliseconds.
fn timed<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_secs_f64() * 1e3
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
