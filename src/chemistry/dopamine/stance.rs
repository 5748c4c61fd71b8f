//! What a pathway's history says about using it again: exploit, explore, or abandon.

use serde::Serialize;

use crate::delta::{Edge, LedgerEntry};
use crate::model::settings::Learning;

/// What to do with a pathway. Source: MagistraAI's technical note, 3.3, exploration and exploitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stance {
    /// Its mean error is significantly positive: take it again.
    Exploit,
    /// Nothing significant is known: try it.
    Explore,
    /// It disappointed several times in a row: leave it.
    Abandon,
}

impl Stance {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exploit => "exploit",
            Self::Explore => "explore",
            Self::Abandon => "abandon",
        }
    }
}

/// The history of a pathway.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// How often it was judged.
    pub count: usize,
    /// The mean of its errors; 0 without any.
    pub mean: f64,
    /// True if that is significantly above 0.
    pub significant: bool,
    /// How many of the newest errors in a row are negative.
    pub negative_in_row: u32,
    /// What follows.
    pub stance: Stance,
}

/// Errors from which on a history can be significant: two that happen to agree are none.
const LEAST: usize = 3;
/// Student's t for a one-sided test at 5 %, by degrees of freedom from 1; beyond the table the last value, which is a little strict.
const STUDENT: [f64; 30] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
    1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
];

/// What a history of errors, newest first, says. A pathway is abandoned after `learning.abandon_after` negative errors in a row (0:
/// never); else it is exploited if a one-sided t-test at 5 % says that its mean error is above 0: of at least three errors,
/// `mean/(s/√n) > t(n − 1)`; else it is to be explored. Errors that all are the same and positive are significant.
pub fn track(newest_first: &[f64], learning: &Learning) -> Track {
    let n = newest_first.len();
    let count = n as f64;
    let mean = if n == 0 { 0.0 } else { newest_first.iter().sum::<f64>() / count };
    let significant = n >= LEAST && mean > 0.0 && {
        let variance = newest_first.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (count - 1.0);
        mean > STUDENT[(n - 2).min(STUDENT.len() - 1)] * (variance / count).sqrt()
    };
    let negative_in_row = newest_first.iter().take_while(|e| **e < 0.0).count() as u32;
    let stance = match learning.abandon_after {
        most if most > 0 && negative_in_row >= most => Stance::Abandon,
        _ if significant => Stance::Exploit,
        _ => Stance::Explore,
    };
    Track { count: n, mean, significant, negative_in_row, stance }
}

/// The errors of a pathway, in the order of the entries: of those whose pathway has the same last connection, the one nearest to the
/// outcome. A pathway without connections has no history.
pub fn errors_of<'e>(entries: impl IntoIterator<Item = &'e LedgerEntry>, pathway: &[Edge]) -> Vec<f64> {
    let Some(last) = pathway.last() else { return Vec::new() };
    entries.into_iter().filter(|entry| entry.pathway.last() == Some(last)).map(|entry| entry.error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(newest_first: &[f64]) -> Track {
        track(newest_first, &Learning::default())
    }

    #[test]
    fn nothing_known_is_explored() {
        assert_eq!(of(&[]).stance, Stance::Explore);
        assert_eq!(of(&[0.4, 0.4]).stance, Stance::Explore, "two are too few");
        assert_eq!(of(&[0.4, -0.4, 0.4]).stance, Stance::Explore, "they scatter");
        assert_eq!(of(&[0.0, 0.0, 0.0, 0.0]).stance, Stance::Explore, "what was expected teaches nothing");
    }

    #[test]
    fn a_significantly_positive_mean_is_exploited() {
        assert_eq!(of(&[0.2, 0.2, 0.2]).stance, Stance::Exploit);
        // Mean .3, s .1, n 3: t = 5.196 > 2.920. With .1, .3, .5 it is 2.598.
        assert_eq!(of(&[0.2, 0.3, 0.4]).stance, Stance::Exploit);
        assert_eq!(of(&[0.1, 0.3, 0.5]).stance, Stance::Explore);
        let long: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 0.5 } else { -0.3 }).collect();
        assert_eq!(of(&long).stance, Stance::Exploit, "t = 2.5 with 99 degrees of freedom");
    }

    #[test]
    fn negative_errors_in_a_row_end_it() {
        assert_eq!(of(&[-0.1, -0.1]).stance, Stance::Explore);
        let gone = of(&[-0.1, -0.2, -0.3, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]);
        assert_eq!((gone.stance, gone.negative_in_row), (Stance::Abandon, 3));
        assert_eq!(of(&[0.1, -0.2, -0.3, -0.9]).stance, Stance::Explore, "it came back");
        let patient = Learning { abandon_after: 0, ..Learning::default() };
        assert_eq!(track(&[-0.1; 50], &patient).stance, Stance::Explore);
    }
}
