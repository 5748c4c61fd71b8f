//! The meteorologist: which trees get attention in a cycle, by rules alone.
//!
//! | weather | when | what it does |
//! |---|---|---|
//! | wildfire | something of the tree was quarantined in the last cycle | no slot: it is not fed while it burns |
//! | frost | a thunderstorm froze it | no slot until the countdown ends; every fifth cycle it is tried |
//! | thunderstorm | three dead leaves in a row | no slot, and it freezes for two cycles |
//! | heatwave | three cycles with attempts and without fruit | temperature half as much again |
//! | fog | a handoff was not answered | half the weight |
//! | wind | a seed from another tree lies there | weight and a half |
//! | flood | more than two fifths of the recent attempts were its own | a quarter of the weight |
//! | drought | three cycles without an attempt | twice the weight |
//! | heavy rain, rain | five seeds, or two, wait there | three times, twice the weight |
//! | drizzle | nothing of all that | weight one |
//!
//! The first that holds counts. Trees of questions that a person has answered get a slot before all others, whatever their weather. Where that leaves no tree a slot, those that do not burn are tried, and none freezes. Every seventh cycle is a monsoon: trees that are neither burning nor frozen are equal, at the highest temperature.

use std::collections::{BTreeMap, BTreeSet};

use super::forest::{Forest, Tree};
use super::gates::rounded;
use super::sky::{Forecast, Sky, Weather};
use crate::model::deliberation::Deliberation;
use crate::model::ids::hash_fields;

/// Divides the attention of the next cycle among trees; those of `answered` questions of earlier cycles come first.
pub fn forecast(forest: &Forest, trees: &[String], answered: &BTreeSet<String>, settings: &Deliberation) -> Forecast {
    let next = forest.cycle + 1;
    let every = |count: u32| count > 0 && next.is_multiple_of(u64::from(count));
    let monsoon = every(settings.weather.monsoon_every);
    let recent: u32 = forest.trees.values().flat_map(|tree| &tree.recent).sum();
    let fresh = Tree::default();
    let mut skies = BTreeMap::new();
    let mut weights: BTreeMap<&String, f64> = BTreeMap::new();
    for id in trees {
        let tree = forest.trees.get(id).unwrap_or(&fresh);
        let weather = weather_of(forest, id, tree, recent, settings);
        let is_tried = weather == Weather::Frost && every(settings.weather.recheck_every);
        let weight: f64 = match weather {
            Weather::Frost if is_tried => 1.0,
            Weather::Wildfire | Weather::Frost | Weather::Thunderstorm => 0.0,
            _ if monsoon => 1.0,
            Weather::Fog => 0.5,
            Weather::Wind => 1.5,
            Weather::Flood => 0.25,
            Weather::Drought | Weather::Rain => 2.0,
            Weather::HeavyRain => 3.0,
            Weather::Heatwave | Weather::Drizzle => 1.0,
        };
        let answered = answered.contains(id);
        weights.insert(id, if answered { weight.max(1.0) } else { weight });
        let temperature = temperature_of(id, weather, monsoon, &settings.temperature_spread);
        let freezes = weather == Weather::Thunderstorm && !answered;
        skies.insert(id.clone(), Sky { weather, hypotheses: 0, temperature, answered, freezes });
    }
    // Where all are frozen there is no better place for the attention: they are tried, and none freezes anew.
    if weights.values().all(|weight| *weight == 0.0) {
        for (id, weight) in &mut weights {
            if let Some(sky) = skies.get_mut(*id).filter(|sky| sky.weather != Weather::Wildfire) {
                (*weight, sky.freezes) = (1.0, false);
            }
        }
    }
    for (id, share) in allocate(&weights, answered, settings.slots, settings.hypotheses) {
        if let Some(sky) = skies.get_mut(id) {
            sky.hypotheses = share;
        }
    }
    Forecast { monsoon, trees: skies }
}

fn weather_of(forest: &Forest, id: &str, tree: &Tree, recent: u32, settings: &Deliberation) -> Weather {
    let weather = &settings.weather;
    let seeds = forest.seeds_of(id).count();
    let own: u32 = tree.recent.iter().sum();
    let is_flooded = forest.trees.len() > 1 && recent > 0 && f64::from(own) / f64::from(recent) > weather.flood_share;
    if tree.burnt {
        Weather::Wildfire
    } else if tree.frozen > 0 {
        Weather::Frost
    } else if tree.dead >= weather.thunderstorm_after {
        Weather::Thunderstorm
    } else if tree.dry >= weather.heatwave_after {
        Weather::Heatwave
    } else if tree.undecided {
        Weather::Fog
    } else if forest.seeds_of(id).any(|seed| seed.from.is_some()) {
        Weather::Wind
    } else if is_flooded {
        Weather::Flood
    } else if tree.idle >= weather.drought_after {
        Weather::Drought
    } else if seeds >= 5 {
        Weather::HeavyRain
    } else if seeds >= 2 {
        Weather::Rain
    } else {
        Weather::Drizzle
    }
}

/// The temperature of a tree's gardener: bound to the tree's id, and not to its place among others.
fn temperature_of(id: &str, weather: Weather, monsoon: bool, spread: &[f64]) -> f64 {
    let highest = spread.iter().copied().fold(0.0, f64::max);
    let own = spread[hash_fields(&[b"temperature", id.as_bytes()]) as usize % spread.len()];
    rounded(match (monsoon, weather) {
        (true, _) => highest,
        (_, Weather::Heatwave) => own * 1.5,
        _ => own,
    })
}

/// Divides `slots` times `each` hypotheses among the trees that come `first` and the heaviest of the others: one at least for each that gets any, the rest by weight and the largest
/// remainders. Ties by id.
fn allocate<'t>(
    weights: &BTreeMap<&'t String, f64>,
    first: &BTreeSet<String>,
    slots: u32,
    each: u32,
) -> Vec<(&'t String, u32)> {
    let mut chosen: Vec<(&'t String, f64)> =
        weights.iter().filter(|(_, weight)| **weight > 0.0).map(|(id, weight)| (*id, *weight)).collect();
    let waits = |id: &String| !first.contains(id);
    chosen.sort_by(|a, b| waits(a.0).cmp(&waits(b.0)).then_with(|| b.1.total_cmp(&a.1)).then_with(|| a.0.cmp(b.0)));
    chosen.truncate(slots as usize);
    let all: f64 = chosen.iter().map(|(_, weight)| weight).sum();
    let rest = chosen.len() as u32 * each.saturating_sub(1);
    let exact = |weight: f64| f64::from(rest) * weight / all;
    let mut shares: Vec<(&'t String, u32, f64)> =
        chosen.iter().map(|(id, weight)| (*id, exact(*weight) as u32, exact(*weight).fract())).collect();
    let mut left = rest - shares.iter().map(|(_, share, _)| share).sum::<u32>();
    shares.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(b.0)));
    for (_, share, _) in &mut shares {
        if left > 0 {
            (*share, left) = (*share + 1, left - 1);
        }
    }
    shares.into_iter().map(|(id, share, _)| (id, share + 1)).collect()
}
