//! Distillation: from exchanges to seeds, by rule, without a model.
//!
//! Exchanges with one action and like cases that went the same way are one teaching: at least three of them, from at least two sessions, and more than
//! went the other way. What comes of it must be surely better than nothing, and than what came of other actions in such cases (`bound`).

use std::collections::{BTreeMap, BTreeSet};

use super::bound::lower_bound;
use super::causes::{BADLY, Causes, WELL, whole};
use super::karma::{Exchange, WordedExchange, worded};
use super::words::{likeness, only, share};
use crate::limits;
use crate::model::wisdom::{Polarity, Seed};
use crate::model::within;

/// Fewest supports of a seed.
pub const SUPPORTS: usize = 3;
/// Fewest sessions that they come from.
pub const SESSIONS: usize = 2;
/// Likeness from which on two cases are one.
pub const LIKE: f64 = 0.5;

/// Seeds that exchanges, oldest first, support. The same exchanges give the same seeds, in the order of their ids.
pub fn distil(exchanges: &[Exchange]) -> Vec<Seed> {
    let all = worded(exchanges);
    let mut by_action: BTreeMap<&BTreeSet<String>, Vec<&WordedExchange<'_>>> = BTreeMap::new();
    for told in &all {
        by_action.entry(&told.action).or_default().push(told);
    }
    let mut seeds: BTreeMap<String, Seed> = BTreeMap::new();
    for group in by_action.into_values() {
        for case in cases(&group) {
            for polarity in [Polarity::Do, Polarity::Avoid] {
                if let Some(seed) = seed_of(&case, polarity, &all) {
                    seeds.entry(seed.id()).or_insert(seed);
                }
            }
        }
    }
    seeds.into_values().collect()
}

/// Exchanges of one action by like cases: each goes to the first case that it is like.
fn cases<'t, 'e>(group: &[&'t WordedExchange<'e>]) -> Vec<Vec<&'t WordedExchange<'e>>> {
    let mut found: Vec<Vec<&WordedExchange<'_>>> = Vec::new();
    for told in group {
        match found.iter_mut().find(|case| likeness(&case[0].case, &told.case) >= LIKE) {
            Some(case) => case.push(told),
            None => found.push(vec![told]),
        }
    }
    found
}

fn seed_of(case: &[&WordedExchange<'_>], polarity: Polarity, all: &[WordedExchange<'_>]) -> Option<Seed> {
    let wanted = polarity == Polarity::Do;
    let went = |good: bool| case.iter().filter(move |told| told.exchange.went_well() == Some(good));
    let supports: Vec<&&WordedExchange<'_>> = went(wanted).collect();
    let against = went(!wanted).count();
    let sessions: BTreeSet<&str> = supports.iter().map(|told| told.exchange.session.as_str()).collect();
    if supports.len() < SUPPORTS || sessions.len() < SESSIONS || supports.len() <= against {
        return None;
    }
    let newest = supports.last()?;
    let mut common = newest.case.clone();
    supports.iter().for_each(|told| common.retain(|word| told.case.contains(word)));
    let condition = only(&newest.exchange.condition, &common);
    if condition.trim().is_empty() {
        return None;
    }
    let alike: Vec<&WordedExchange<'_>> = all.iter().filter(|told| share(&common, &told.case) >= 1.0).collect();
    let judged = |told: &&&WordedExchange<'_>| Some(told.exchange.went_well()? == wanted);
    let own = case.iter().rev().filter_map(|told| judged(&told));
    let others = alike.iter().rev().filter(|told| told.action != newest.action);
    if lower_bound(own, others.filter_map(|told| judged(&told)), 0.0) <= 0.0 {
        return None;
    }
    let compared =
        Causes::of(alike.iter().copied()).strength(&whole(&newest.action), if wanted { WELL } else { BADLY });
    if compared.is_some_and(|found| found.strength < 0.0) {
        return None;
    }
    let cited = supports.iter().rev().take(limits::SEED_SOURCES);
    let said = cited.clone().map(|told| told.exchange.effect.trim()).find(|effect| !effect.is_empty());
    let effect = said.unwrap_or(polarity.plain_effect());
    let fits = |text: &str| within(text, limits::SEED_TEXT_BYTES).trim().to_owned();
    let sources = cited.rev().map(|told| told.exchange.run.clone()).collect();
    let seed = Seed {
        condition: fits(&condition),
        action: fits(&newest.exchange.action),
        effect: fits(effect),
        polarity,
        sources,
        inherited: None,
    };
    seed.check().is_ok().then_some(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wisdom::standing::fixture::exchange;
    use crate::wisdom::words::stems;

    #[test]
    fn three_supports_of_two_sessions_make_a_seed_and_fewer_none() {
        let mut told = vec![exchange(1, "rain today", "umbrella", 1.0), exchange(2, "rain today", "umbrella", 0.9)];
        assert_eq!(distil(&told), []);
        let mut third = exchange(3, "rain today", "umbrella", 0.8);
        for exchange in &mut told {
            exchange.session.clone_from(&third.session);
        }
        told.push(third.clone());
        assert_eq!(distil(&told), [], "one session");
        third.session = "another".into();
        told[2] = third;
        let seeds = distil(&told);
        assert_eq!(seeds.len(), 1);
        assert_eq!((seeds[0].polarity, seeds[0].sources.len()), (Polarity::Do, 3));
        assert_eq!(seeds[0].effect, "it went well");
    }

    #[test]
    fn what_goes_badly_is_to_be_avoided_and_what_goes_both_ways_says_nothing() {
        let told: Vec<Exchange> = (1..=4).map(|n| exchange(n, "rain", "sandals", 0.1)).collect();
        let seeds = distil(&told);
        assert_eq!(seeds.iter().map(|seed| seed.polarity).collect::<Vec<_>>(), [Polarity::Avoid]);
        let torn: Vec<Exchange> = (1..=8).map(|n| exchange(n, "rain", "boots", f64::from(n % 2))).collect();
        assert_eq!(distil(&torn), []);
    }

    #[test]
    fn the_case_is_what_its_supports_have_in_common() {
        let days = ["dawn", "noon", "dusk", "night"];
        let told: Vec<Exchange> = days
            .iter()
            .enumerate()
            .map(|(n, day)| {
                exchange(n as u32 + 1, &format!("which lever opens the old gate at {day}"), "left lever", 1.0)
            })
            .collect();
        let seeds = distil(&told);
        assert_eq!(seeds.len(), 1);
        assert_eq!(stems(&seeds[0].condition), stems("lever opens old gate"));
    }

    #[test]
    fn what_does_worse_than_the_others_is_no_advice() {
        let mut told: Vec<Exchange> = (1..=8).map(|n| exchange(n, "rain", "boots", 1.0)).collect();
        told.extend((9..=16).map(|n| exchange(n, "rain", "hat", if n % 8 < 3 { 0.0 } else { 1.0 })));
        let seeds = distil(&told);
        assert_eq!(seeds.iter().map(|seed| seed.action.as_str()).collect::<Vec<_>>(), ["boots"], "{seeds:?}");
    }
}
