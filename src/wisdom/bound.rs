//! How surely an action has its effect: the lower bound of what it does, by outcomes of which the newer ones count more.
//!
//! Rates have a uniform prior (Beta(1, 1)), so that their posterior is Beta(1 + s, 1 + c); the bound is the 10 % quantile of the posterior of the
//! difference, which is taken for normal (Gelman et al., Bayesian Data Analysis, 4.1).

/// Share of its weight that an outcome keeps with each newer one of the same action.
const KEPT: f64 = 0.9;
/// The 10 % quantile of the standard normal distribution, without its sign.
const QUANTILE: f64 = 1.281_551_565_5;
/// A rate that says nothing: well as often as badly.
const NOTHING: f64 = 0.5;
/// Supports that the word of a person or of a teacher stands for.
pub const WORD: f64 = 4.0;

/// A rate: its mean, and the variance of that.
#[derive(Clone, Copy)]
struct Rate {
    mean: f64,
    variance: f64,
}

impl Rate {
    /// The posterior of outcomes, the newest first, beside supports that stand before them; and the number of outcomes.
    fn of(outcomes: impl Iterator<Item = bool>, before: f64) -> (Self, usize) {
        let (mut good, mut bad, mut weight, mut count) = (1.0 + before, 1.0, 1.0, 0);
        for outcome in outcomes {
            *(if outcome { &mut good } else { &mut bad }) += weight;
            weight *= KEPT;
            count += 1;
        }
        let all: f64 = good + bad;
        (Self { mean: good / all, variance: good * bad / (all * all * (all + 1.0)) }, count)
    }
}

/// The lower bound of what an action does, from -1 to 1: how much more often it has its effect than not, and than other actions have it, where there
/// are outcomes of such. Outcomes come newest first; `word` counts supports that it has beside them.
pub fn lower_bound(own: impl Iterator<Item = bool>, others: impl Iterator<Item = bool>, word: f64) -> f64 {
    let (own, _) = Rate::of(own, word);
    let alone = own.mean - NOTHING - QUANTILE * own.variance.sqrt();
    match Rate::of(others, 0.0) {
        (_, 0) => alone,
        (others, _) => alone.min(own.mean - others.mean - QUANTILE * (own.variance + others.variance).sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of outcomes, the oldest first.
    fn bound(own: &[u8], others: &[u8], word: f64) -> f64 {
        let read = |outcomes: &[u8]| -> Vec<bool> { outcomes.iter().rev().map(|one| *one == 1).collect() };
        lower_bound(read(own).into_iter(), read(others).into_iter(), word)
    }

    #[test]
    fn three_of_three_are_enough_and_four_of_seven_are_not() {
        assert!(bound(&[1, 1, 1], &[], 0.0) > 0.0);
        assert!(bound(&[1, 1], &[], 0.0) < 0.0);
        assert!(bound(&[0, 1, 0, 1, 1, 0, 1], &[], 0.0) < 0.0);
        assert!(bound(&[1; 9], &[0; 9], 0.0) > 0.2);
    }

    #[test]
    fn an_action_must_do_better_than_the_others() {
        assert!(bound(&[1, 1, 1], &[0], 0.0) > 0.0);
        assert!(bound(&[1, 1, 1], &[1], 0.0) < 0.0);
        assert!(bound(&[1; 30], &[1; 30], 0.0) < 0.0);
    }

    #[test]
    fn the_newest_outcomes_count_most() {
        assert!(bound(&[1, 1, 1, 1, 0, 0, 0], &[], 0.0) < 0.0);
        let mut long = vec![1; 60];
        long.extend([0; 4]);
        assert!(bound(&long, &[], 0.0) < 0.0, "four in a row weigh more than sixty before them");
        assert!(bound(&[0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], &[], 0.0) > 0.0);
    }

    #[test]
    fn a_word_stands_until_two_outcomes_are_against_it() {
        assert!(bound(&[], &[], WORD) > 0.0 && bound(&[0], &[], WORD) > 0.0);
        assert!(bound(&[0, 0], &[], WORD) < 0.0 && bound(&[0, 0, 1, 1, 1], &[], WORD) > 0.0);
    }
}
