//! The template's sentences in three languages. `{}` are filled in order.

use crate::text::Language;

/// The sentences of one language.
pub(super) struct Wording {
    /// The aim: goals.
    pub(super) aim: &'static str,
    /// The aim where no goal is known.
    pub(super) no_aim: &'static str,
    /// The first chapter: how many judgements.
    pub(super) first: &'static str,
    /// A later one: since when, how many judgements.
    pub(super) since: &'static str,
    /// How many were better, as expected, partial failures.
    pub(super) counts: &'static str,
    /// The best surprise: agent, what, outcome, prediction.
    pub(super) best: &'static str,
    /// A negative error, reframed: agent, what, outcome, prediction.
    pub(super) learnt: &'static str,
    /// How many further partial failures there are.
    pub(super) more_learnt: &'static str,
    /// The mood: a word, the figure; then the confidence.
    pub(super) mood: &'static str,
    /// Words of moods: low, even, high.
    pub(super) moods: [&'static str; 3],
    /// What comes next: a pathway to keep to.
    pub(super) keep: &'static str,
    /// What comes next: a pathway beside which to look for another.
    pub(super) other: &'static str,
    /// What comes next where no pathway is known.
    pub(super) next: &'static str,
    /// Between sentences.
    pub(super) space: &'static str,
    /// Between goals.
    pub(super) comma: &'static str,
}

const ENGLISH: Wording = Wording {
    aim: "My aim stays the same: {}.",
    no_aim: "I go on with what I was given to do.",
    first: "This is my first chapter. Expectations judged: {}.",
    since: "Since my chapter of {}, expectations judged: {}.",
    counts: "Better than I expected: {}; as expected: {}; partial failures, which are lessons: {}.",
    best: "What {} tried, “{}”, came to {} where I had hoped for {}.",
    learnt: "What {} tried, “{}”, reached {} of the {} I had hoped for: a partial failure, and something learnt.",
    more_learnt: "Others of that kind that taught me: {}.",
    mood: "I feel {} ({}), and trust myself with {}.",
    moods: ["put to the test", "steady", "encouraged"],
    keep: "Next I keep to the way {}.",
    other: "I will look for another way than {}.",
    next: "Next I try again, knowing more.",
    space: " ",
    comma: "; ",
};

const FRENCH: Wording = Wording {
    aim: "Mon but reste le même : {}.",
    no_aim: "Je poursuis ce qui m'a été confié.",
    first: "Ceci est mon premier chapitre. Attentes jugées : {}.",
    since: "Depuis mon chapitre du {}, attentes jugées : {}.",
    counts: "Mieux que prévu : {} ; comme prévu : {} ; échecs partiels, donc leçons : {}.",
    best: "Ce que {} a tenté, « {} », a donné {} là où j'espérais {}.",
    learnt: "Ce que {} a tenté, « {} », a atteint {} des {} espérés : un échec partiel, donc un apprentissage.",
    more_learnt: "Autres du même genre qui m'ont instruit : {}.",
    mood: "Je me sens {} ({}) et je me fais confiance à {}.",
    moods: ["à l'épreuve", "stable", "encouragé"],
    keep: "Ensuite je garde le chemin {}.",
    other: "Je chercherai un autre chemin que {}.",
    next: "Ensuite je réessaie, en en sachant plus.",
    space: " ",
    comma: " ; ",
};

const JAPANESE: Wording = Wording {
    aim: "目標は変わらない:{}。",
    no_aim: "任されたことを続けている。",
    first: "これが最初の章である。予測のうち{}件が評価された。",
    since: "{}の章のあと、予測のうち{}件が評価された。",
    counts: "予想より良かったもの{}件、予想どおり{}件、部分的な失敗すなわち学び{}件。",
    best: "{}が試みた「{}」は{}となり、予想の{}を上回った。",
    learnt: "{}が試みた「{}」は{}で、予想の{}に届かなかった。部分的な失敗であり、学びである。",
    more_learnt: "同様の{}件からも学んだ。",
    mood: "気分は{}({})、自信は{}である。",
    moods: ["試練のなか", "安定", "前向き"],
    keep: "次は{}の道を続ける。",
    other: "{}とは別の道を探す。",
    next: "次は、より多くを知って再び試みる。",
    space: "",
    comma: "、",
};

pub(super) fn of(language: Option<Language>) -> &'static Wording {
    match language {
        Some(Language::French) => &FRENCH,
        Some(Language::Japanese) => &JAPANESE,
        Some(Language::English | Language::German | Language::Spanish) | None => &ENGLISH,
    }
}

/// Puts `parts` into the places of a sentence. What a part contains is not looked at again.
pub(super) fn fill(sentence: &str, parts: &[&str]) -> String {
    let mut pieces = sentence.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut parts = parts.iter();
    for piece in pieces {
        text.push_str(parts.next().copied().unwrap_or_default());
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_the_same_places() {
        let sentences = |w: &Wording| {
            [
                w.aim,
                w.no_aim,
                w.first,
                w.since,
                w.counts,
                w.best,
                w.learnt,
                w.more_learnt,
                w.mood,
                w.keep,
                w.other,
                w.next,
            ]
            .map(|sentence| sentence.matches("{}").count())
        };
        assert_eq!(sentences(&FRENCH), sentences(&ENGLISH));
        assert_eq!(sentences(&JAPANESE), sentences(&ENGLISH));
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(fill("{} and {}.", &["{}", "b"]), "{} and b.");
    }
}
