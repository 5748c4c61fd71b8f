//! The branching ratio of the last rounds: how many runs a run causes.
//!
//! Children over parents, after Beggs and Plenz, *Neuronal avalanches in neocortical circuits* (2003). A child is a run that runs
//! caused: two steps or more from a stimulus. The parents of a round's children are the runs of the round before.

use serde::{Deserialize, Serialize};

use crate::trigger::brake::Round;

/// How the last rounds branched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Branching {
    /// Children over parents, 0 and more; null where no run could have children.
    pub ratio: Option<f64>,
    /// Runs that runs caused.
    pub children: usize,
    /// Runs of the rounds that another round followed.
    pub parents: usize,
    /// Rounds that were looked at.
    pub rounds: usize,
}

impl Branching {
    /// Of these rounds, oldest first. The last round's runs have had no time for children: it has parents in none.
    pub fn of(rounds: &[Round]) -> Self {
        let children = rounds.iter().skip(1).map(|round| round.caused).sum();
        let parents = rounds.iter().rev().skip(1).map(|round| round.started).sum();
        let ratio = (parents > 0).then(|| children as f64 / parents as f64);
        Self { ratio, children, parents, rounds: rounds.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_counted_against_the_round_before() {
        let round = |started, caused| Round { started, caused, at_bound: false };
        let found = Branching::of(&[round(2, 0), round(3, 3), round(1, 1)]);
        assert_eq!((found.ratio, found.children, found.parents), (Some(0.8), 4, 5));
        assert_eq!(Branching::of(&[round(2, 0)]).ratio, None);
        assert_eq!(Branching::of(&[]).rounds, 0);
    }
}
