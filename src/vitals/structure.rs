//! The structure of a network against null models of the same degrees: modularity, small-worldness, integration.
//!
//! A figure of a network says little by itself: a dense one is clustered and close whatever it is like. So each is set against
//! networks whose neurons have the same degrees and are joined at random ([`super::null`]). Small-worldness is
//! σ = (C/C₀)/(L/L₀) (Humphries and Gurney, *Network small-world-ness*, 2008), with clustering C and path length L, and those of the
//! null models. A brain should be both segregated and integrated (Tononi, Sporns and Edelman, *A measure for brain complexity*, 1994;
//! Rubinov and Sporns, *Complex network measures of brain connectivity*, 2010): modularity says the first, and of the second
//! two figures that can be computed say something: efficiency, and how much of other groups activation can reach.

use serde::{Deserialize, Serialize};

use super::community::{Partition, partition};
use super::excerpt::Excerpt;
use super::null::{Dice, rewired};
use super::topology::{Topology, distances, spread_over, topology};
use crate::limits;

/// Where the null models' random numbers start.
const SEED: u64 = 0x0062_7261_696e;

/// A figure of the null models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Null {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation, of the sample.
    pub deviation: f64,
}

/// How far groups are more than chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Modularity {
    /// Newman's modularity of the groups found, weighted, -0.5..1.
    pub value: f64,
    /// Groups with more than one neuron.
    pub groups: usize,
    /// The same of the null models, each with its own groups.
    pub null: Null,
    /// Standard deviations between them; null where the null models do not differ.
    pub z: Option<f64>,
}

/// Clustered as a lattice, close as a random network?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SmallWorld {
    /// σ; above 1 is a small world; null without triangles or paths in the null models.
    pub sigma: Option<f64>,
    /// Mean local clustering, 0..=1.
    pub clustering: f64,
    /// The same of the null models.
    pub clustering_null: Null,
    /// Mean hops in the largest connected part.
    pub path_length: f64,
    /// The same of the null models.
    pub path_length_null: Null,
}

/// How far the groups are one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Integration {
    /// Global efficiency, 0..=1.
    pub efficiency: f64,
    /// The same of the null models.
    pub efficiency_null: Null,
    /// The first as a share of the second; near 1: as close as chance would join it; null without edges.
    pub relative: Option<f64>,
    /// Of all pairs of neurons of different groups, the share in which activation gets from the first to the second in `hops` hops,
    /// if it is strong enough, 0..=1; null with one group.
    pub reach: Option<f64>,
    /// `activation.max_depth`.
    pub hops: u32,
}

/// What was measured, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Structure {
    /// Neurons of the network.
    pub neurons: usize,
    /// Neurons that were measured: all, or those around the most salient.
    pub measured: usize,
    /// Connected pairs among them.
    pub pairs: usize,
    /// Neurons of their largest connected part.
    pub giant: usize,
    /// Null models.
    pub null_models: usize,
    /// Swaps for each edge that made a null model, the least of all models.
    pub swaps: f64,
    /// Neurons from which hops were counted.
    pub sources: usize,
    /// Groups against chance.
    pub modularity: Modularity,
    /// Clustering and path length against chance.
    pub small_world: SmallWorld,
    /// How far it is one.
    pub integration: Integration,
}

impl Structure {
    /// Of a part of a network; `None` where there are fewer than two pairs, which leave nothing to compare. `hops` is how deep
    /// activation goes.
    pub fn of(excerpt: &Excerpt, hops: u32) -> Option<Self> {
        let nodes = excerpt.nodes.len();
        if excerpt.edges.len() < 2 {
            return None;
        }
        let sources = nodes.min(limits::MEASURED_SOURCES);
        let own = topology(nodes, &excerpt.edges, sources);
        let groups = partition(nodes, &excerpt.edges);
        let mut dice = Dice(SEED);
        let mut swaps = usize::MAX;
        let nulls: Vec<(Topology, f64)> = (0..limits::NULL_MODELS)
            .map(|_| {
                let (edges, made) = rewired(nodes, &excerpt.edges, &mut dice);
                swaps = swaps.min(made);
                (topology(nodes, &edges, sources), partition(nodes, &edges).modularity)
            })
            .collect();
        let null = |figure: fn(&Topology) -> f64| Null::of(nulls.iter().map(|(null, _)| figure(null)));
        let clustering_null = null(|t| t.clustering);
        let path_length_null = null(|t| t.path_length);
        let efficiency_null = null(|t| t.efficiency);
        let whole = clustering_null.mean > 0.0 && path_length_null.mean > 0.0 && own.path_length > 0.0;
        let sigma = || (own.clustering / clustering_null.mean) / (own.path_length / path_length_null.mean);
        Some(Self {
            neurons: excerpt.of,
            measured: nodes,
            pairs: excerpt.edges.len(),
            giant: own.giant,
            null_models: nulls.len(),
            swaps: swaps as f64 / excerpt.edges.len() as f64,
            sources,
            modularity: Modularity::of(&groups, Null::of(nulls.iter().map(|(_, modularity)| *modularity))),
            small_world: SmallWorld {
                sigma: whole.then(sigma),
                clustering: own.clustering,
                clustering_null,
                path_length: own.path_length,
                path_length_null,
            },
            integration: Integration {
                efficiency: own.efficiency,
                efficiency_null,
                relative: (efficiency_null.mean > 0.0).then(|| own.efficiency / efficiency_null.mean),
                reach: reach(&excerpt.rows, &groups, sources, hops),
                hops,
            },
        })
    }
}

impl Null {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count();
        if count == 0 {
            return Self::default();
        }
        let mean = values.clone().sum::<f64>() / count as f64;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Self { mean, deviation: (squares / count.saturating_sub(1).max(1) as f64).sqrt() }
    }
}

impl Modularity {
    fn of(groups: &Partition, null: Null) -> Self {
        let mut sizes = vec![0_usize; groups.groups];
        groups.group.iter().for_each(|group| sizes[*group as usize] += 1);
        let z = (null.deviation > 1e-12).then(|| (groups.modularity - null.mean) / null.deviation);
        Self { value: groups.modularity, groups: sizes.iter().filter(|size| **size > 1).count(), null, z }
    }
}

/// The share of pairs of different groups that are within reach, from some sources.
fn reach(rows: &[Vec<u32>], groups: &Partition, sources: usize, hops: u32) -> Option<f64> {
    let mut sizes = vec![0_usize; groups.groups];
    groups.group.iter().for_each(|group| sizes[*group as usize] += 1);
    let (mut reached, mut pairs) = (0_usize, 0_usize);
    for source in spread_over(rows.len(), sources) {
        let own = groups.group[source];
        pairs += rows.len() - sizes[own as usize];
        let found = distances(rows, source, hops as usize);
        reached += found.iter().filter(|(node, _)| groups.group[*node] != own).count();
    }
    (pairs > 0).then(|| reached as f64 / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::NodeIx;
    use crate::vitals::community::Edge;

    fn excerpt(nodes: usize, edges: Vec<Edge>) -> Excerpt {
        let mut rows = vec![Vec::new(); nodes];
        for (a, b, _) in &edges {
            rows[*a as usize].push(*b);
            rows[*b as usize].push(*a);
        }
        Excerpt { nodes: (0..nodes as u32).map(NodeIx).collect(), of: nodes, edges, rows }
    }

    /// A ring in which each node is joined to its three nearest on either side; of its edges, one in `every` goes anywhere.
    fn ring(nodes: u32, every: usize) -> Vec<Edge> {
        let mut dice = Dice(5);
        let mut pairs = std::collections::BTreeSet::new();
        for (at, (node, step)) in (0..nodes).flat_map(|node| (1..=3).map(move |step| (node, step))).enumerate() {
            let far = every > 0 && at % every == 0;
            let to = if far { dice.below(nodes as usize) as u32 } else { (node + step) % nodes };
            if to != node {
                pairs.insert((node.min(to), node.max(to)));
            }
        }
        pairs.into_iter().map(|(a, b)| (a, b, 1.0)).collect()
    }

    #[test]
    fn a_ring_with_short_cuts_is_a_small_world_and_a_random_network_is_not() {
        let of = |edges| Structure::of(&excerpt(300, edges), 4).unwrap();
        let lattice = of(ring(300, 0));
        let small = of(ring(300, 10));
        let random = of(rewired(300, &ring(300, 0), &mut Dice(11)).0);
        let sigma = |s: &Structure| s.small_world.sigma.unwrap();
        assert!(sigma(&small) > 5.0, "{}", sigma(&small));
        assert!(sigma(&small) > sigma(&lattice), "short cuts help: {} against {}", sigma(&small), sigma(&lattice));
        assert!((0.6..1.6).contains(&sigma(&random)), "{}", sigma(&random));
        let z = |s: &Structure| s.modularity.z.unwrap();
        assert!(z(&small) > 5.0 && z(&random).abs() < 4.0, "{} {}", z(&small), z(&random));
        let relative = |s: &Structure| s.integration.relative.unwrap();
        let found = [&lattice, &small, &random].map(relative);
        assert!(found[0] < 0.6 && found[1] > found[0] + 0.15 && (found[2] - 1.0).abs() < 0.05, "{found:?}");
        assert!((small.swaps - 10.0).abs() < 1e-9, "{}", small.swaps);
    }

    #[test]
    fn groups_that_are_not_joined_are_out_of_reach() {
        let clique = |from: u32| (from..from + 6).flat_map(move |a| (a + 1..from + 6).map(move |b| (a, b, 1.0)));
        let apart = Structure::of(&excerpt(12, clique(0).chain(clique(6)).collect()), 4).unwrap();
        assert_eq!((apart.modularity.groups, apart.integration.reach), (2, Some(0.0)));
        assert!((apart.modularity.value - 0.5).abs() < 1e-12);
        let joined: Vec<Edge> = clique(0).chain(clique(6)).chain([(0, 6, 1.0)]).collect();
        let at = |hops| Structure::of(&excerpt(12, joined.clone()), hops).unwrap().integration.reach;
        assert_eq!((at(0), at(3)), (Some(0.0), Some(1.0)));
        // In two hops: 0 reaches all six, the five beside it one.
        assert_eq!(at(2), Some((2.0 * (6.0 + 5.0)) / 72.0));
    }

    #[test]
    fn one_network_has_one_answer_and_next_to_nothing_has_none() {
        let part = excerpt(300, ring(300, 10));
        assert_eq!(Structure::of(&part, 4), Structure::of(&part, 4));
        assert_eq!(Structure::of(&excerpt(2, vec![(0, 1, 1.0)]), 4), None);
        assert_eq!(Structure::of(&Excerpt::default(), 4), None);
    }
}
