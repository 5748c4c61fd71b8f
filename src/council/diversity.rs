//! Diversity of votes, measured. A low one lowers the confidence.

use super::ids::rounded;
use super::likeness::Trigrams;
use super::vote::Vote;

/// The share of its own, of two reasonings, from which on they are as unlike as can be: sentences of one language share their small words.
const OWN_SHARE: f64 = 0.6;
/// The weight of the reasonings. Source: seed 3.3.3.
const REASONING_WEIGHT: f64 = 0.7;
/// The weight of the confidences. Source: seed 3.3.3.
const CONFIDENCE_WEIGHT: f64 = 0.3;
/// The factor that brings a variance of confidences, at most .25, to a range up to 1 and above. Source: seed 3.3.3.
const VARIANCE_FACTOR: f64 = 10.0;

/// Diversity of votes, 0..=1: `.7 · mean of min(own / .6, 1) over pairs of reasonings + .3 · min(10 · variance of confidences, 1)`.
///
/// `own` is the share of the shorter reasoning of a pair that the other does not have, so that a copy with an addition is a copy. The variance is that
/// of a population. Fewer than two votes have none: 0, and so have votes with one reasoning, whatever their confidences. Source: seed 3.3.3, its placeholder .5 replaced by the shares.
pub fn diversity(votes: &[Vote]) -> f64 {
    let trigrams: Vec<Trigrams> = votes.iter().map(|vote| Trigrams::of(&vote.reasoning)).collect();
    weighed(votes, &trigrams, |one, other| (one.own_share(other) / OWN_SHARE).min(1.0))
}

/// The same as versions before measured it, by 1 − cosine of reasonings as they are written. For records that are there.
pub fn diversity_as_written(votes: &[Vote]) -> f64 {
    let trigrams: Vec<Trigrams> = votes.iter().map(|vote| Trigrams::as_written(&vote.reasoning)).collect();
    weighed(votes, &trigrams, |one, other| 1.0 - one.cosine(other))
}

fn weighed(votes: &[Vote], trigrams: &[Trigrams], unlike: impl Fn(&Trigrams, &Trigrams) -> f64) -> f64 {
    if votes.len() < 2 {
        return 0.0;
    }
    let mut unlikeness = 0.0;
    for (place, one) in trigrams.iter().enumerate() {
        unlikeness += trigrams[place + 1..].iter().map(|other| unlike(one, other)).sum::<f64>();
    }
    // Copies with confidences of their own are copies.
    if unlikeness <= 0.0 {
        return 0.0;
    }
    let count = votes.len() as f64;
    let pairs = count * (count - 1.0) / 2.0;
    let mean = votes.iter().map(|vote| vote.confidence).sum::<f64>() / count;
    let variance = votes.iter().map(|vote| (vote.confidence - mean).powi(2)).sum::<f64>() / count;
    rounded(REASONING_WEIGHT * unlikeness / pairs + CONFIDENCE_WEIGHT * (VARIANCE_FACTOR * variance).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, votes};
    use super::*;

    fn of(reasonings: &[&str], confidences: &[f64]) -> f64 {
        let members = members(&"xyz"[..reasonings.len()]);
        let mut votes = votes(&members, &"AAA"[..reasonings.len()]);
        for ((vote, reasoning), confidence) in votes.iter_mut().zip(reasonings).zip(confidences) {
            (vote.reasoning, vote.confidence) = ((*reasoning).to_owned(), *confidence);
        }
        diversity(&votes)
    }

    #[test]
    fn diversity_matches_figures_worked_by_hand() {
        assert_eq!(of(&["abc", "abc"], &[0.8, 0.8]), 0.0);
        assert_eq!(of(&["abc", "xyz"], &[0.8, 0.8]), 0.7);
        // Two thirds of their own; variance .01 of .7 and .9.
        assert_eq!(of(&["abc", "abd"], &[0.7, 0.9]), 0.73);
        // Half of their own: .7 · .5 / .6.
        assert_eq!(of(&["ab cd", "ab ef"], &[0.8, 0.8]), 0.583333);
        // Variance .25 is bounded.
        assert_eq!(of(&["abc", "xyz"], &[0.0, 1.0]), 1.0);
        // Of three pairs one is equal.
        assert_eq!(of(&["abc", "abc", "xyz"], &[0.8, 0.8, 0.8]), 0.466667);
        assert_eq!(of(&["abc"], &[0.8]), 0.0);
    }

    #[test]
    fn diversity_as_written_is_the_figure_of_records_that_are_there() {
        let members = members("xy");
        let mut votes = votes(&members, "AA");
        for (vote, (reasoning, confidence)) in votes.iter_mut().zip([("abc", 0.7), ("Abd", 0.9)]) {
            (vote.reasoning, vote.confidence) = (reasoning.to_owned(), confidence);
        }
        // One third alike; variance .01.
        assert_eq!(diversity_as_written(&votes), 0.496667);
    }

    /// The threshold of the seed.
    const LEAST: f64 = 0.3;

    #[test]
    fn copies_of_one_reason_are_not_diverse() {
        let plain = "The backup holds its lock at two.";
        let between = |mark: &str| plain.chars().map(|c| format!("{c}{mark}")).collect::<String>();
        let more = |words: &str| format!("{plain} {words}");
        for copies in [
            [plain.to_uppercase(), plain.to_lowercase()],
            [plain.replace(' ', "  "), plain.replace(' ', "   ")],
            [plain.replace(' ', ", "), plain.replace(' ', " - ")],
            [between("\u{200b}"), between("\u{200d}")],
            [between("\u{ad}"), between("\u{fe0f}")],
            [between("\u{301}"), between("\u{300}")],
            [more(&"\u{e0041}".repeat(60)), more(&"\u{3164}".repeat(40))],
            ["At two its lock the backup holds.".to_owned(), "Its lock at two holds the backup.".to_owned()],
            [
                more("I looked at nothing else whatever today, alas."),
                more("Please mind the schedule of the other team as well."),
            ],
        ] {
            let measured = of(&[plain, &copies[0], &copies[1]], &[0.9, 0.85, 0.8]);
            assert!(measured < LEAST, "{measured}: {copies:?}");
        }
        let measured = of(&[&more("I agree."), &more("Please stop."), &more("No doubt.")], &[0.9, 0.85, 0.8]);
        assert!(measured < LEAST, "each with two words more: {measured}");
    }

    #[test]
    fn reasons_of_their_own_are_diverse_also_where_their_sentences_are_built_alike() {
        for reasons in [
            [
                "The run adds one note that contradicts the memory of May.",
                "The run adds one note that names a customer.",
                "The run adds one note that cites no source.",
            ],
            [
                "この記録は二時のバックアップについての短い記録で、既存の記憶と矛盾しません。",
                "この記録は二時のバックアップについての短い記録で、個人情報を含みません。",
                "この記録は二時のバックアップについての短い記録で、アンが求めたものです。",
            ],
            [
                "La note est courte et ne contredit aucune mémoire.",
                "La note est courte et ne nomme personne.",
                "La note est courte et Anne l'a demandée.",
            ],
            [
                "Je refuse la note car elle contredit la mémoire de mai.",
                "Je refuse la note car elle nomme une cliente.",
                "Je refuse la note car elle ne cite aucune source.",
            ],
            ["危険。", "当番不在。", "容量不足。"],
            ["Backup runs.", "Nobody on call.", "Disk full."],
        ] {
            let measured = of(&reasons, &[0.9, 0.85, 0.8]);
            assert!(measured >= LEAST, "{measured}: {reasons:?}");
        }
        // The example of docs/council.md.
        let form = ["contradicts the memory of May.", "names a customer.", "cites no source."];
        let reasons = form.map(|end| format!("The run adds one note that {end}"));
        assert_eq!(of(&[&reasons[0], &reasons[1], &reasons[2]], &[0.9, 0.85, 0.8]), 0.446503);
    }
}
