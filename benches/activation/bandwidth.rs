//! One level with every neuron active, against how fast this machine reads memory.

use std::hint::black_box;
use std::time::Instant;

use git_brain::activation::{ColumnsBuf, Level, NodeIx, Profile};
use git_brain::model::Stamp;
use git_brain::model::settings::Activation;

use crate::network::{Dice, NOW};

const ROUNDS: usize = 25;
/// Larger than any cache but the largest. It is read in parts, each as short as a sweep.
const BUFFER_BYTES: usize = 1 << 30;
const PARTS: usize = 16;

/// What is measured in each round, milliseconds.
#[derive(Default)]
struct Times {
    sources: Vec<f64>,
    edges: Vec<f64>,
    /// Edges and nodes in one: what `propagate` does after the sources.
    arrivals: Vec<f64>,
}

/// Prints rows of a table: the bytes of rows and edges by time, as a share of the bandwidth that is measured in between. Of all
/// rounds the fastest counts, here and there, because what else the machine does only adds.
pub fn measure(columns: &ColumnsBuf, size: u64) {
    let (graph, profile) = (columns.graph(), Profile::seed(&Activation::default()));
    let mut dice = Dice(7);
    let active: Vec<(NodeIx, f64)> = graph.nodes().map(|node| (node, 0.2 + dice.below(800_000) as f64 / 1e6)).collect();
    let level = |is_portable| Level::new(&graph, Stamp::from_unix(NOW), &profile, is_portable);
    let mut levels = [(level(false), Times::default()), (level(true), Times::default())];
    let buffer = vec![1_u64; BUFFER_BYTES / 8];
    let mut reads = Vec::new();
    for _ in 0..ROUNDS {
        reads.extend(buffer.chunks_exact(buffer.len() / PARTS).map(|part| timed(|| sum(part))));
        for (level, times) in &mut levels {
            times.sources.push(timed(|| level.activate(&active)));
            times.edges.push(timed(|| level.edges()));
            times.arrivals.push(timed(|| level.arrivals().len()));
        }
    }
    let speed = (BUFFER_BYTES / PARTS) as f64 / least(&reads);
    let view = columns.view();
    let bytes = (view.in_rows.len() * 4 + view.in_sources.len() * 7) as f64;
    for ((_, times), name) in levels.iter().zip(["vectors, where there are", "portable"]) {
        let (sources, edges, arrivals) = (least(&times.sources), least(&times.edges), least(&times.arrivals));
        let share = |time: f64| 100.0 * bytes / time / speed;
        println!(
            "| {size} | {name} | {sources:.2} | {edges:.2}, {:.2} ns each | {arrivals:.2} | {:.1} | {:.0} % | {:.0} % | {:.0} % |",
            edges * 1e6 / view.in_sources.len() as f64,
            speed / 1e6,
            share(edges),
            share(sources + edges),
            share(sources + arrivals),
        );
    }
}

fn least(times_ms: &[f64]) -> f64 {
    times_ms.iter().copied().fold(f64::INFINITY, f64::min)
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
