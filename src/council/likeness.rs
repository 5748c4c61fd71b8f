//! Likeness of texts by the character trigrams of their words: needs no model and no language.
//!
//! A weakness: the same argument in other words, or in another language, is not seen as alike.

use super::ids::rounded;
use crate::text::looks;

/// Trigrams of the words of a text, as it [looks], with their counts. The order of words does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigrams {
    /// In the order of trigrams, so that two texts are compared in one pass.
    counts: Vec<([char; 3], f64)>,
    norm: f64,
}

impl Trigrams {
    /// Counts the trigrams of each word, with a space before and behind it, so that a word of one character has one.
    pub fn of(text: &str) -> Self {
        Self::count(&looks(text), |gram| gram[1] != ' ')
    }

    /// Counts the trigrams of a text as it is written, those between words and of marks too, as versions before counted.
    pub fn as_written(text: &str) -> Self {
        Self::count(&text.to_lowercase(), |_| true)
    }

    fn count(text: &str, counts: impl Fn(&[char]) -> bool) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let chars: Vec<char> = format!(" {} ", words.join(" ")).chars().collect();
        let grams = chars.windows(3).filter(|window| counts(window));
        let mut grams: Vec<[char; 3]> = grams.map(|window| [window[0], window[1], window[2]]).collect();
        grams.sort_unstable();
        let counts: Vec<_> = grams.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as f64)).collect();
        let norm = counts.iter().map(|(_, count)| count * count).sum::<f64>().sqrt();
        Self { counts, norm }
    }

    /// Cosine of two counts, 0..=1. A text without trigrams is like nothing.
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.norm == 0.0 || other.norm == 0.0 {
            return 0.0;
        }
        let dot = self.sum_over_shared(other, |one, other| one * other);
        rounded((dot / (self.norm * other.norm)).clamp(0.0, 1.0))
    }

    /// The share of the shorter text that the other does not have, 0..=1: what each of both says of its own. A text without trigrams is like nothing.
    pub fn own_share(&self, other: &Self) -> f64 {
        let all = |of: &Self| of.counts.iter().map(|(_, count)| count).sum::<f64>();
        let shorter = all(self).min(all(other));
        if shorter == 0.0 {
            return 1.0;
        }
        rounded((1.0 - self.sum_over_shared(other, f64::min) / shorter).clamp(0.0, 1.0))
    }

    fn sum_over_shared(&self, other: &Self, of: fn(f64, f64) -> f64) -> f64 {
        let (mut sum, mut others) = (0.0, other.counts.iter().peekable());
        for (gram, count) in &self.counts {
            while others.next_if(|(other, _)| other < gram).is_some() {}
            sum += others.next_if(|(other, _)| other == gram).map_or(0.0, |(_, other)| of(*count, *other));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &str, other: &str) -> f64 {
        Trigrams::of(one).cosine(&Trigrams::of(other))
    }

    #[test]
    fn likeness_of_equal_texts_is_one() {
        for text in ["a", "否", "The tests fail.", "試験が失敗した。", "Les tests échouent"] {
            assert_eq!(cosine(text, text), 1.0, "{text}");
        }
        assert_eq!(cosine("The  tests\nFAIL", "the tests fail"), 1.0, "case and space");
    }

    #[test]
    fn likeness_matches_figures_worked_by_hand() {
        // " ab", "abc", "bc " against " ab", "abd", "bd ": one of three is shared.
        assert_eq!(cosine("abc", "abd"), 0.333333);
        // "aaaa" has " aa", "aaa" twice, "aa "; "aa" has " aa", "aa ": 2 / (sqrt 6 * sqrt 2).
        assert_eq!(cosine("aaaa", "aa"), 0.57735);
        assert_eq!(cosine("abc", "xyz"), 0.0);
        assert_eq!(cosine("", "abc"), 0.0);
        // " ab", "ab " and " cd", "cd ": nothing across words, and their order says nothing.
        assert_eq!((cosine("ab cd", "cd, ab"), cosine("ab cd ef", "ab")), (1.0, 0.57735));
        let as_written = |one: &str, other: &str| Trigrams::as_written(one).cosine(&Trigrams::as_written(other));
        assert_eq!((as_written("ab", "AB"), as_written("ab cd", "cd ab")), (1.0, 0.8));
    }

    #[test]
    fn own_share_matches_figures_worked_by_hand() {
        let own = |one: &str, other: &str| Trigrams::of(one).own_share(&Trigrams::of(other));
        assert_eq!(own("abc", "abc"), 0.0);
        // One of three is shared.
        assert_eq!(own("abc", "abd"), 0.666667);
        assert_eq!(own("abc", "abc and more words"), 0.0, "a longer copy");
        assert_eq!(own("ab cd", "ab ef gh"), 0.5);
        assert_eq!((own("", "abc"), own("abc", "xyz")), (1.0, 1.0));
    }

    #[test]
    fn likeness_tells_a_small_edit_from_another_argument() {
        let one = "The change breaks the public interface of the parser and has no test that would show it";
        assert!(cosine(one, &format!("{one}.")) > 0.9);
        assert!(cosine(one, "Upgrading needs downtime which operators have not agreed to this quarter") < 0.5);
        let one = "この変更は公開された解析器の仕様を壊し、それを示す試験がない";
        assert!(cosine(one, &format!("{one}。")) > 0.9);
        assert!(cosine(one, "運用者は今期の停止に同意していないので、更新はできない") < 0.5);
    }
}
