//! Clustering, path length and efficiency of a network without directions and weights.
//!
//! Clustering is the mean over all nodes of the share of a node's neighbours that are neighbours of each other, 0 for a node of
//! fewer than two (Watts and Strogatz, *Collective dynamics of small-world networks*, 1998). Path length is the mean number of hops
//! between two nodes of the largest connected part. Efficiency is the mean of one over that number, 0 for two that are not
//! connected (Latora and Marchiori, *Efficient behavior of small-world networks*, 2001): it needs no connected part.

use super::community::Edge;
use super::null::Joined;

/// The figures of one network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Topology {
    /// Mean local clustering, 0..=1.
    pub clustering: f64,
    /// Mean hops between nodes of the largest part, 1 and more; 0 if no two are connected.
    pub path_length: f64,
    /// Mean of one over hops, 0..=1.
    pub efficiency: f64,
    /// Nodes of the largest part.
    pub giant: usize,
}

/// Measures a network. Hops are counted from at most `sources` nodes, evenly spread over their numbers.
pub fn topology(nodes: usize, edges: &[Edge], sources: usize) -> Topology {
    if nodes < 2 {
        return Topology { giant: nodes, ..Topology::default() };
    }
    let rows = rows(nodes, edges);
    let giant = giant(&rows);
    let (mut hops, mut pairs, mut inverse, mut from) = (0_usize, 0_usize, 0.0, 0_usize);
    for source in spread_over(nodes, sources) {
        from += 1;
        for (node, depth) in distances(&rows, source, usize::MAX) {
            inverse += 1.0 / depth as f64;
            if giant.binary_search(&(node as u32)).is_ok() {
                hops += depth;
                pairs += 1;
            }
        }
    }
    Topology {
        clustering: clustering(nodes, &rows, edges),
        path_length: if pairs == 0 { 0.0 } else { hops as f64 / pairs as f64 },
        efficiency: inverse / (from * (nodes - 1)) as f64,
        giant: giant.len(),
    }
}

/// At most `most` of the numbers below `nodes`, evenly spread.
pub fn spread_over(nodes: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = nodes.min(most);
    (0..count).map(move |at| at * nodes / count)
}

fn rows(nodes: usize, edges: &[Edge]) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); nodes];
    for (a, b, _) in edges {
        rows[*a as usize].push(*b);
        rows[*b as usize].push(*a);
    }
    rows
}

/// Every node that is reached from `source` in at most `deepest` hops, with their number; without the source.
pub fn distances(rows: &[Vec<u32>], source: usize, deepest: usize) -> Vec<(usize, usize)> {
    let mut seen = vec![false; rows.len()];
    seen[source] = true;
    let (mut found, mut next) = (vec![(source, 0)], 0);
    while let Some((node, depth)) = found.get(next).copied().filter(|(_, depth)| *depth < deepest) {
        next += 1;
        for to in &rows[node] {
            if !std::mem::replace(&mut seen[*to as usize], true) {
                found.push((*to as usize, depth + 1));
            }
        }
    }
    found.remove(0);
    found
}

/// The nodes of the largest connected part, ascending; of equal ones that with the lowest node.
fn giant(rows: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; rows.len()];
    let mut largest: Vec<u32> = Vec::new();
    for start in 0..rows.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut part, mut next) = (vec![start as u32], 0);
        while let Some(node) = part.get(next).copied() {
            next += 1;
            for to in &rows[node as usize] {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    part.push(*to);
                }
            }
        }
        if part.len() > largest.len() {
            largest = part;
        }
    }
    largest.sort_unstable();
    largest
}

fn clustering(nodes: usize, rows: &[Vec<u32>], edges: &[Edge]) -> f64 {
    let joined = Joined::of(nodes, edges);
    let local = |node: usize| {
        let degree = rows[node].len();
        if degree < 2 {
            return 0.0;
        }
        let own = joined.row(node);
        let shared =
            |other: &u32| own.iter().zip(joined.row(*other as usize)).map(|(a, b)| (a & b).count_ones() as usize);
        let twice: usize = rows[node].iter().flat_map(shared).sum();
        twice as f64 / (degree * (degree - 1)) as f64
    };
    (0..nodes).map(local).sum::<f64>() / nodes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn a_triangle_a_path_and_a_star() {
        let triangle = topology(3, &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)], 10);
        assert_eq!((triangle.clustering, triangle.path_length, triangle.efficiency), (1.0, 1.0, 1.0));
        let path = topology(4, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)], 10);
        near(path.path_length, 10.0 / 6.0);
        near(path.efficiency, (3.0 + 2.0 / 2.0 + 1.0 / 3.0) / 6.0);
        assert_eq!(path.clustering, 0.0, "a tree has no triangles");
        let star = topology(5, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (0, 4, 1.0)], 10);
        near(star.path_length, (4.0 + 6.0 * 2.0) / 10.0);
    }

    #[test]
    fn parts_that_are_not_connected_count_as_far() {
        let two = topology(5, &[(0, 1, 1.0), (2, 3, 1.0), (3, 4, 1.0)], 10);
        assert_eq!(two.giant, 3);
        near(two.path_length, 4.0 / 3.0);
        near(two.efficiency, (2.0 + 4.0 + 2.0 / 2.0) / 20.0);
        let none = topology(3, &[], 10);
        assert_eq!((none.path_length, none.efficiency, none.giant), (0.0, 0.0, 1));
        assert_eq!(topology(0, &[], 10), Topology::default());
    }

    #[test]
    fn hops_are_counted_level_by_level_and_no_further_than_asked() {
        let ring: Vec<Vec<u32>> = (0..9_u32).map(|n| vec![(n + 1) % 9, (n + 8) % 9]).collect();
        let all = distances(&ring, 0, usize::MAX);
        assert_eq!(all.iter().map(|(_, d)| *d).collect::<Vec<_>>(), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(distances(&ring, 0, 2).len(), 4);
        assert_eq!(distances(&ring, 0, 0).len(), 0);
        assert_eq!(spread_over(100, 4).collect::<Vec<_>>(), [0, 25, 50, 75]);
        assert_eq!(spread_over(3, 10).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
