//! The null model: the same network with its edges exchanged at random, so that each neuron keeps its degree and nothing else.
//!
//! Double edge swaps (Maslov and Sneppen, *Specificity and stability in topology of protein networks*, 2002): two edges a–b and c–d
//! become a–d and c–b, unless that makes a loop or an edge that is there. Each edge takes its weight along. Random numbers are
//! SplitMix64's (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014), from a fixed seed: the
//! same network has the same null models on every machine.

use super::community::Edge;

/// Swaps for each edge: ten mix a network well beyond what its figures can tell.
pub const SWAPS: usize = 10;
/// Attempts for each swap before a network counts as too dense to be mixed further.
const ATTEMPTS: usize = 10;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is above 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }
}

/// The network with its edges exchanged, and how many swaps were made. Edges are without direction, loops and doubles.
pub fn rewired(nodes: usize, edges: &[Edge], dice: &mut Dice) -> (Vec<Edge>, usize) {
    let mut edges = edges.to_vec();
    if edges.len() < 2 {
        return (edges, 0);
    }
    let mut joined = Joined::of(nodes, &edges);
    let wanted = SWAPS * edges.len();
    let mut made = 0;
    for _ in 0..wanted * ATTEMPTS {
        if made == wanted {
            break;
        }
        let (first, second) = (dice.below(edges.len()), dice.below(edges.len()));
        let (a, b, one) = edges[first];
        let (mut c, mut d, other) = edges[second];
        // Either end can be the one that is exchanged.
        if dice.roll() & 1 == 1 {
            (c, d) = (d, c);
        }
        if a == c || a == d || b == c || b == d || joined.has(a, d) || joined.has(c, b) {
            continue;
        }
        joined.set(a, b, false);
        joined.set(c, d, false);
        joined.set(a, d, true);
        joined.set(c, b, true);
        edges[first] = (a, d, one);
        edges[second] = (c, b, other);
        made += 1;
    }
    (edges, made)
}

/// Which nodes are joined: a bit for each pair.
pub(super) struct Joined {
    words: usize,
    bits: Vec<u64>,
}

impl Joined {
    pub(super) fn of(nodes: usize, edges: &[Edge]) -> Self {
        let words = nodes.div_ceil(64);
        let mut this = Self { words, bits: vec![0; words * nodes] };
        edges.iter().for_each(|(a, b, _)| this.set(*a, *b, true));
        this
    }

    /// The nodes that a node is joined to, as bits.
    pub(super) fn row(&self, node: usize) -> &[u64] {
        &self.bits[node * self.words..(node + 1) * self.words]
    }

    fn has(&self, a: u32, b: u32) -> bool {
        self.row(a as usize)[b as usize / 64] >> (b % 64) & 1 == 1
    }

    fn set(&mut self, a: u32, b: u32, joined: bool) {
        for (from, to) in [(a as usize, b), (b as usize, a)] {
            let word = &mut self.bits[from * self.words + to as usize / 64];
            *word = *word & !(1 << (to % 64)) | u64::from(joined) << (to % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn degrees(nodes: usize, edges: &[Edge]) -> Vec<usize> {
        let mut degrees = vec![0; nodes];
        edges.iter().for_each(|(a, b, _)| {
            degrees[*a as usize] += 1;
            degrees[*b as usize] += 1;
        });
        degrees
    }

    #[test]
    fn degrees_stay_and_no_edge_is_double_or_a_loop() {
        let mut dice = Dice(7);
        let nodes = 80;
        let mut pairs = BTreeSet::new();
        while pairs.len() < 240 {
            // Low numbers are hubs.
            let (a, b) = (dice.below(80) as u32, (dice.below(80) * dice.below(80) / 80) as u32);
            if a != b {
                pairs.insert((a.min(b), a.max(b)));
            }
        }
        let edges: Vec<Edge> = pairs.iter().enumerate().map(|(n, (a, b))| (*a, *b, n as f64 + 1.0)).collect();
        let (null, made) = rewired(nodes, &edges, &mut dice);
        assert_eq!(made, SWAPS * edges.len());
        assert_eq!(degrees(nodes, &null), degrees(nodes, &edges));
        let kept: BTreeSet<(u32, u32)> = null.iter().map(|(a, b, _)| (*a.min(b), *a.max(b))).collect();
        assert_eq!((kept.len(), kept.iter().any(|(a, b)| a == b)), (edges.len(), false));
        assert!(kept.intersection(&pairs).count() < edges.len() / 2, "it is another network");
        let weights = |list: &[Edge]| list.iter().map(|(_, _, w)| *w as u64).collect::<BTreeSet<_>>();
        assert_eq!(weights(&null), weights(&edges));
        let again = rewired(nodes, &edges, &mut Dice(3)).0;
        assert_eq!(again, rewired(nodes, &edges, &mut Dice(3)).0, "one seed, one network");
    }

    #[test]
    fn what_cannot_be_exchanged_stays() {
        let triangle = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)];
        assert_eq!(rewired(3, &triangle, &mut Dice(1)), (triangle.to_vec(), 0));
        assert_eq!(rewired(2, &[(0, 1, 1.0)], &mut Dice(1)).1, 0);
        assert_eq!(rewired(0, &[], &mut Dice(1)).1, 0);
    }
}
