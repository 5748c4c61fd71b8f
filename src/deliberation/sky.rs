//! The weather of a cycle, as it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A kind of weather, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weather {
    /// Something was quarantined.
    Wildfire,
    /// Frozen.
    Frost,
    /// Dead leaves in a row.
    Thunderstorm,
    /// No fruit for long.
    Heatwave,
    /// Undecided.
    Fog,
    /// Seeds from elsewhere.
    Wind,
    /// Too much of the attention.
    Flood,
    /// No attention for long.
    Drought,
    /// Many seeds.
    HeavyRain,
    /// Some seeds.
    Rain,
    /// Nothing particular.
    Drizzle,
}

/// The sky over a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sky {
    /// The weather.
    pub weather: Weather,
    /// Hypotheses that its gardener is to mine; 0: no gardener is sent.
    pub hypotheses: u32,
    /// The gardener's temperature.
    pub temperature: f64,
    /// Whether a person has answered a question of an earlier cycle on it: then it gets its slot before the others, whatever the weather.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// Whether it freezes from this cycle on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub freezes: bool,
}

/// The forecast of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    /// Whether it is a monsoon.
    pub monsoon: bool,
    /// By tree.
    pub trees: BTreeMap<String, Sky>,
}

impl Forecast {
    /// Trees that get a gardener, by id.
    pub fn allocated(&self) -> impl Iterator<Item = (&String, &Sky)> {
        self.trees.iter().filter(|(_, sky)| sky.hypotheses > 0)
    }
}
