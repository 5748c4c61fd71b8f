//! The cloze self-test: does the brain still know what it was told? A word is taken out of a memory's sentence, and the rest asked.
//!
//! The word is the rarest one of the memory that another memory or concept could also have (Taylor, *Cloze procedure*, 1953, took every
//! fifth). The question is the rest of that word's sentence, so that what a memory says beside it does not help.
//! An answer counts if the missing word stands in it, whichever memory it is; how often the memory itself comes first is a
//! figure of its own. Evidence alone is asked for and answers: what was only talked would repeat the question. A question is asked
//! among distractors, the other memories that share a word with it, and no more answers are looked at than half of all those,
//! so that a small brain does not pass by answering everything. It measures whether a memory can still be found by what it
//! says; not understanding.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::Stamp;
use crate::text;

/// Least number of content words that are left to ask with.
const LEAST_WORDS: usize = 2;
/// Characters of the least word to ask for, unless it is of a script without spaces.
const LEAST_CHARACTERS: usize = 3;

/// A question made of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloze {
    /// The sentence without the word.
    pub question: String,
    /// The word, as words are compared.
    pub missing: String,
    /// The words that are left to ask with, as words are compared.
    pub stems: BTreeSet<String>,
}

/// The memories among which a question is asked: its own, and the distractors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// How many share a word with the question.
    pub memories: usize,
    /// How many of those have the missing word.
    pub having: usize,
}

impl Field {
    /// Memories beside the question's own.
    pub fn distractors(&self) -> usize {
        self.memories.saturating_sub(1)
    }

    /// How many answers are looked at: at most half of the field.
    pub fn looked_at(&self, top: usize) -> usize {
        top.min(self.memories.div_ceil(2))
    }

    /// How probable it is that the missing word stands in one of so many memories of the field that are taken at random, 0..=1.
    pub fn chance(&self, looked_at: usize) -> f64 {
        let without = |drawn: usize| {
            let left = self.memories.saturating_sub(drawn) as f64;
            (left - self.having as f64).max(0.0) / left.max(1.0)
        };
        1.0 - (0..looked_at.min(self.memories)).map(without).product::<f64>()
    }
}

/// The ages by which memories are told apart: name, and bound in hours (`None`: any age).
pub const AGES: [(&str, Option<i64>); 5] =
    [("day", Some(24)), ("week", Some(168)), ("month", Some(730)), ("year", Some(8766)), ("older", None)];

/// Which of [`AGES`] something of that time has.
pub fn age(at: Stamp, now: Stamp) -> usize {
    let hours = now.seconds_since(at) / 3600;
    AGES.iter().position(|(_, bound)| bound.is_none_or(|bound| (hours as i64) < bound)).unwrap_or(AGES.len() - 1)
}

impl Cloze {
    /// The question of a memory's text. `rarity` says how many memories have a word, by its stem. `None` where no word can be
    /// taken out, or too little is left.
    pub fn of(memory: &str, rarity: impl Fn(&str) -> usize) -> Option<Self> {
        let said = text::speaker(memory).map_or(memory, |(_, said)| said);
        let mut best: Option<(usize, std::cmp::Reverse<usize>, &str, String)> = None;
        for sentence in text::sentences(said) {
            for word in text::words(sentence) {
                let long = word.surface.chars().count() >= LEAST_CHARACTERS || !word.surface.is_ascii();
                let number = word.surface.chars().any(|c| c.is_numeric());
                if word.is_stop || !long || number {
                    continue;
                }
                let length = std::cmp::Reverse(word.surface.chars().count());
                let found = (rarity(&word.stem), length, sentence, word.stem);
                if found.0 > 0 && best.as_ref().is_none_or(|best| (found.0, found.1) < (best.0, best.1)) {
                    best = Some(found);
                }
            }
        }
        let (_, _, sentence, missing) = best?;
        let question = without(sentence, &missing);
        let stems: BTreeSet<String> =
            text::words(&question).into_iter().filter(|w| !w.is_stop).map(|w| w.stem).collect();
        (stems.len() >= LEAST_WORDS && !stems.contains(&missing)).then_some(Self { question, missing, stems })
    }

    /// Whether the missing word stands in an answer.
    pub fn is_answered_by(&self, answer: &str) -> bool {
        text::words(answer).iter().any(|word| word.stem == self.missing)
    }
}

/// A sentence without a word, wherever it stands.
fn without(sentence: &str, stem: &str) -> String {
    let mut left = String::with_capacity(sentence.len());
    let mut from = 0;
    for word in text::words(sentence).iter().filter(|word| word.stem == stem) {
        left.push_str(&sentence[from..word.start]);
        from = word.start + word.surface.len();
    }
    left.push_str(&sentence[from..]);
    left.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a self-test found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecallByAge {
    /// By age, youngest first.
    pub ages: Vec<Recalled>,
    /// How many answers were looked at, at most.
    pub top: usize,
}

/// The memories of one age.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Recalled {
    /// `day`, `week`, `month`, `year`: younger than that; `older`.
    pub age: String,
    /// Memories of that age.
    pub memories: usize,
    /// Questions that were asked.
    pub asked: usize,
    /// Questions with the missing word in an answer.
    pub hits: usize,
    /// Hits over questions, 0..=1; null where nothing was asked.
    pub share: Option<f64>,
    /// The same if as many memories were taken at random out of those that share a word with the question.
    pub chance: Option<f64>,
    /// Mean number of other memories that share a word with a question; null where nothing was asked.
    pub distractors: Option<f64>,
    /// Questions whose own memory was answered first.
    pub first: usize,
    /// Mean of one over the rank of the question's own memory, 0 where it was not answered, 0..=1; null where nothing was asked.
    pub reciprocal_rank: Option<f64>,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// The missing word stood in an answer.
    pub hit: bool,
    /// At which place the question's own memory was answered, from 1.
    pub rank: Option<usize>,
    /// See [`Field::chance`].
    pub chance: f64,
    /// See [`Field::distractors`].
    pub distractors: usize,
}

impl Recalled {
    /// Of so many memories and the questions that some of them gave.
    pub fn of(age: &'static str, memories: usize, asked: &[Asked]) -> Self {
        let mean = |figure: &dyn Fn(&Asked) -> f64| {
            (!asked.is_empty()).then(|| asked.iter().map(figure).sum::<f64>() / asked.len() as f64)
        };
        Self {
            age: age.to_owned(),
            memories,
            asked: asked.len(),
            hits: asked.iter().filter(|one| one.hit).count(),
            share: mean(&|one| f64::from(u8::from(one.hit))),
            chance: mean(&|one| one.chance),
            distractors: mean(&|one| one.distractors as f64),
            first: asked.iter().filter(|one| one.rank == Some(1)).count(),
            reciprocal_rank: mean(&|one| one.rank.map_or(0.0, |rank| 1.0 / rank as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything is common but these.
    fn rare<'w>(words: &'w [(&'w str, usize)]) -> impl Fn(&str) -> usize + 'w {
        move |stem| words.iter().find(|(word, _)| *word == stem).map_or(50, |(_, n)| *n)
    }

    #[test]
    fn the_rarest_word_is_taken_out_of_its_sentence_wherever_it_stands() {
        let text = "Ann: We went home. The heron caught a trout, and the heron ate it by the lock.";
        let cloze = Cloze::of(text, rare(&[("heron", 2), ("trout", 3)])).unwrap();
        assert_eq!(cloze.missing, "heron");
        assert_eq!(cloze.stems.iter().map(String::as_str).collect::<Vec<_>>(), ["ate", "caught", "lock", "trout"]);
        assert_eq!(cloze.question, "The caught a trout, and the ate it by the lock.");
        assert!(cloze.is_answered_by("Two herons stood there.") && !cloze.is_answered_by("A trout swam by."));
        let other = Cloze::of(text, rare(&[("trout", 1)])).unwrap();
        assert!(other.question.contains("heron") && !other.question.contains("trout"));
    }

    #[test]
    fn what_leaves_too_little_to_ask_with_is_no_question() {
        for text in ["", "Yes.", "Herons sleep.", "12 34 56.", "It is what it is."] {
            assert_eq!(Cloze::of(text, |_| 1), None, "{text}");
        }
        assert_eq!(Cloze::of("The heron caught a trout.", |_| 0), None, "a word that recall does not know");
        assert!(Cloze::of("Le héron a mangé une truite près du moulin.", |_| 1).is_some());
        assert!(Cloze::of("京都の緑茶は静かな朝に飲む。", |_| 1).is_some());
    }

    #[test]
    fn chance_is_that_of_the_field() {
        let field = Field { memories: 4, having: 2 };
        assert_eq!((field.distractors(), field.looked_at(10), field.looked_at(1)), (3, 2, 1));
        let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
        // Of four, two have it: taken twice, without putting back, 1 - 2/4 · 1/3.
        assert!(near(field.chance(1), 0.5) && near(field.chance(2), 1.0 - 1.0 / 6.0) && near(field.chance(3), 1.0));
        assert!(near(Field { memories: 1, having: 1 }.chance(1), 1.0) && near(Field::default().chance(3), 0.0));
    }

    #[test]
    fn ages_and_figures() {
        let now = Stamp::from_unix(400 * 86_400);
        let at = |days: i64| age(Stamp::from_unix((400 - days) * 86_400), now);
        assert_eq!([0, 1, 6, 7, 29, 31, 364, 366].map(at), [0, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(age(Stamp::from_unix(500 * 86_400), now), 0, "what is ahead of the clock is young");
        let one = |hit, rank| Asked { hit, rank, chance: 0.25, distractors: 3 };
        let found =
            Recalled::of("day", 9, &[one(true, Some(1)), one(true, None), one(false, None), one(true, Some(2))]);
        assert_eq!((found.asked, found.hits, found.share, found.first), (4, 3, Some(0.75), 1));
        assert_eq!((found.reciprocal_rank, found.chance, found.distractors), (Some(0.375), Some(0.25), Some(3.0)));
        assert_eq!(Recalled::of("day", 0, &[]).share, None);
    }
}
