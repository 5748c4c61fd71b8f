//! How vivid the network is at one moment.

use serde::{Deserialize, Serialize};

use crate::activation::Graph;
use crate::model::Stamp;

/// Salience above which a neuron counts as active: a fifth of the range. A neuron that fired fully stays above it for 160 hours.
pub const ACTIVE: u16 = 13107;

/// The saliences of all neurons at a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Saliences {
    /// The clock.
    pub at: Stamp,
    /// Neurons.
    pub neurons: usize,
    /// Neurons with a salience above `threshold`.
    pub active: usize,
    /// Their share, 0..=1.
    pub active_share: f64,
    /// See [`ACTIVE`].
    pub threshold: u16,
    /// How many neurons have a salience in each tenth of the range 0..=65535.
    pub histogram: [usize; 10],
    /// The least salience, nine deciles, the greatest; by nearest rank. Empty without neurons.
    pub deciles: Vec<u16>,
}

impl Saliences {
    /// Of a network.
    pub fn of(graph: &Graph<'_>, at: Stamp) -> Self {
        Self::of_values(graph.nodes().map(|node| graph.salience_at(node, at)).collect(), at)
    }

    fn of_values(mut values: Vec<u16>, at: Stamp) -> Self {
        values.sort_unstable();
        let mut histogram = [0; 10];
        for value in &values {
            histogram[usize::from(*value) * 10 / 65536] += 1;
        }
        let active = values.len() - values.partition_point(|value| *value <= ACTIVE);
        let rank = |tenth: usize| (values.len() * tenth).div_ceil(10).saturating_sub(1);
        let deciles = (0..=10).filter_map(|tenth| values.get(rank(tenth)).copied()).collect();
        let active_share = if values.is_empty() { 0.0 } else { active as f64 / values.len() as f64 };
        Self { at, neurons: values.len(), active, active_share, threshold: ACTIVE, histogram, deciles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_tenths_and_deciles() {
        let at = Stamp::from_unix(0);
        let values: Vec<u16> = (0..100).map(|n| (n * 65535 / 99) as u16).rev().collect();
        let found = Saliences::of_values(values, at);
        assert_eq!(found.histogram, [10; 10]);
        assert_eq!((found.deciles.len(), found.deciles[0], found.deciles[10]), (11, 0, 65535));
        assert_eq!(found.deciles[5], 32436, "the fiftieth of a hundred: 49/99 of 65535");
        assert_eq!((found.active, found.active_share), (80, 0.8));
        let none = Saliences::of_values(Vec::new(), at);
        assert_eq!((none.active_share, none.deciles), (0.0, vec![]));
        let edge = Saliences::of_values(vec![ACTIVE, ACTIVE + 1], at);
        assert_eq!(edge.active, 1, "above, not at");
    }
}
