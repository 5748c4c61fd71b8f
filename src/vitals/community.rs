//! Communities: groups of neurons with more weight between them than their degrees let expect.
//!
//! Modularity is Newman's (*Analysis of weighted networks*, 2004): `Q = Σ_c (in_c/m − (tot_c/2m)²)`, over groups c, with the
//! weight m of all edges, of those inside c, and the summed strengths of its nodes. Groups are found by the method of Blondel,
//! Guillaume, Lambiotte and Lefebvre (*Fast unfolding of communities in large networks*, 2008), with nodes in ascending order and ties
//! to the lowest group, so that the same network gives the same groups. It finds a good partition, not the best.

/// An edge without direction between two nodes, and its weight, above 0.
pub type Edge = (u32, u32, f64);

/// Passes over all nodes of one level: gains shrink fast, and what is left then is rounding.
const PASSES: usize = 64;
/// A level has settled when no more than one node of so many moves in a pass: the level above finds what is left.
const SETTLED: usize = 200;
/// Least gain of a move: below it two sums differ by rounding.
const GAIN: f64 = 1e-12;

/// Groups of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Each node's group, numbered by first appearance.
    pub group: Vec<u32>,
    /// How many groups; a node without edges is one of its own.
    pub groups: usize,
    /// Modularity, -0.5..1.
    pub modularity: f64,
}

/// One level: what was merged is a node with a loop.
struct Level {
    rows: Vec<Vec<(u32, f64)>>,
    loops: Vec<f64>,
    strengths: Vec<f64>,
}

impl Level {
    fn of(nodes: usize, edges: impl IntoIterator<Item = Edge>) -> Self {
        let mut rows = vec![Vec::new(); nodes];
        let mut loops = vec![0.0; nodes];
        for (a, b, weight) in edges {
            if a == b {
                loops[a as usize] += weight;
                continue;
            }
            rows[a as usize].push((b, weight));
            rows[b as usize].push((a, weight));
        }
        let sum = |(row, own): (&Vec<(u32, f64)>, &f64)| row.iter().map(|(_, w)| w).sum::<f64>() + 2.0 * own;
        let strengths = rows.iter().zip(&loops).map(sum).collect();
        Self { rows, loops, strengths }
    }

    /// Moves nodes between groups as long as that gains; each node's group, and whether any moved.
    fn moved(&self, total: f64) -> (Vec<u32>, bool) {
        let nodes = self.rows.len();
        let mut group: Vec<u32> = (0..nodes as u32).collect();
        let mut sums = self.strengths.clone();
        let mut towards = vec![0.0; nodes];
        let mut near: Vec<u32> = Vec::new();
        let mut any = false;
        for _ in 0..PASSES {
            let mut moves = 0;
            for node in 0..nodes {
                let own = group[node];
                near.clear();
                for (other, weight) in &self.rows[node] {
                    let to = group[*other as usize];
                    near.push(to);
                    towards[to as usize] += weight;
                }
                near.sort_unstable();
                near.dedup();
                let strength = self.strengths[node];
                sums[own as usize] -= strength;
                let gain = |to: u32| towards[to as usize] - sums[to as usize] * strength / total;
                let mut best = (own, gain(own));
                for to in &near {
                    if gain(*to) > best.1 + GAIN {
                        best = (*to, gain(*to));
                    }
                }
                near.iter().for_each(|to| towards[*to as usize] = 0.0);
                sums[best.0 as usize] += strength;
                if best.0 != own {
                    group[node] = best.0;
                    moves += 1;
                }
            }
            any |= moves > 0;
            if moves * SETTLED < nodes.max(1) {
                break;
            }
        }
        (group, any)
    }

    /// The level above: each group a node.
    fn merged(&self, group: &[u32], groups: usize) -> Self {
        let mut edges: Vec<Edge> = Vec::new();
        for (node, row) in self.rows.iter().enumerate() {
            let from = group[node];
            edges.push((from, from, self.loops[node]));
            let later = row.iter().filter(|(other, _)| node < *other as usize);
            edges.extend(later.map(|(other, weight)| {
                let to = group[*other as usize];
                (from.min(to), from.max(to), *weight)
            }));
        }
        edges.sort_by_key(|(a, b, _)| (*a, *b));
        edges.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            first.2 += if same { later.2 } else { 0.0 };
            same
        });
        Self::of(groups, edges)
    }
}

/// Numbers groups by first appearance.
fn renumbered(group: &[u32]) -> (Vec<u32>, usize) {
    let mut names = vec![u32::MAX; group.len()];
    let mut next = 0;
    let mut name = |of: &u32| {
        let known = &mut names[*of as usize];
        if *known == u32::MAX {
            *known = next;
            next += 1;
        }
        *known
    };
    let renamed = group.iter().map(&mut name).collect();
    (renamed, next as usize)
}

/// The groups of a network of so many nodes.
pub fn partition(nodes: usize, edges: &[Edge]) -> Partition {
    let total: f64 = edges.iter().map(|(_, _, weight)| 2.0 * weight).sum();
    let mut group: Vec<u32> = (0..nodes as u32).collect();
    let mut groups = nodes;
    let mut level = Level::of(nodes, edges.iter().copied());
    loop {
        let (moved, any) = level.moved(total);
        if !any {
            break;
        }
        let (renamed, count) = renumbered(&moved);
        group.iter_mut().for_each(|of| *of = renamed[*of as usize]);
        level = level.merged(&renamed, count);
        groups = count;
    }
    let modularity = modularity(&group, groups, edges);
    Partition { group, groups, modularity }
}

/// Modularity of a partition; 0 without edges.
pub fn modularity(group: &[u32], groups: usize, edges: &[Edge]) -> f64 {
    let total: f64 = edges.iter().map(|(_, _, weight)| weight).sum();
    if total <= 0.0 {
        return 0.0;
    }
    let (mut inside, mut strength) = (vec![0.0; groups], vec![0.0; groups]);
    for (a, b, weight) in edges {
        let (a, b) = (group[*a as usize] as usize, group[*b as usize] as usize);
        inside[a] += if a == b { *weight } else { 0.0 };
        strength[a] += weight;
        strength[b] += weight;
    }
    inside.iter().zip(&strength).map(|(inside, strength)| inside / total - (strength / (2.0 * total)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clique(from: u32, size: u32) -> impl Iterator<Item = Edge> {
        (from..from + size).flat_map(move |a| (a + 1..from + size).map(move |b| (a, b, 1.0)))
    }

    #[test]
    fn two_cliques_with_a_bridge_are_two_groups() {
        let edges: Vec<Edge> = clique(0, 6).chain(clique(6, 6)).chain([(0, 6, 1.0)]).collect();
        let found = partition(12, &edges);
        assert_eq!(found.groups, 2);
        assert_eq!(found.group, [[0; 6], [1; 6]].concat());
        // 30 of 31 edges are inside, and both halves have half of the degrees.
        assert!((found.modularity - (30.0 / 31.0 - 0.5)).abs() < 1e-12, "{}", found.modularity);
    }

    #[test]
    fn weights_decide_where_edges_do_not() {
        // A square: heavy edges 0-1 and 2-3, light ones between.
        let edges = [(0, 1, 10.0), (2, 3, 10.0), (0, 2, 1.0), (1, 3, 1.0)];
        assert_eq!(partition(4, &edges).group, [0, 0, 1, 1]);
        let other = [(0, 1, 1.0), (2, 3, 1.0), (0, 2, 10.0), (1, 3, 10.0)];
        assert_eq!(partition(4, &other).group, [0, 1, 0, 1]);
    }

    #[test]
    fn one_clique_has_no_groups_and_nothing_is_zero() {
        let one: Vec<Edge> = clique(0, 8).collect();
        let found = partition(8, &one);
        assert_eq!((found.groups, found.modularity.abs() < 1e-12), (1, true), "{found:?}");
        let none = partition(3, &[]);
        assert_eq!((none.groups, none.modularity), (3, 0.0));
        assert_eq!(partition(0, &[]).groups, 0);
    }

    #[test]
    fn a_ring_of_cliques_is_found_over_several_levels() {
        let ring = |n: u32| (0..n).map(move |c| (5 * c, 5 * ((c + 1) % n) + 1, 1.0));
        let edges: Vec<Edge> = (0..8).flat_map(|c| clique(5 * c, 5)).chain(ring(8)).collect();
        let found = partition(40, &edges);
        assert_eq!(found.groups, 8);
        assert!((0..40).all(|node| found.group[node] == found.group[node / 5 * 5]));
    }
}
