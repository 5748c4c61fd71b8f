//! Urgency: words that ask for help or haste, whatever else a text says.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::language::{self, Language, is_japanese};
use super::word::{fold, key, surfaces};

/// How urgent a text is, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Urgency {
    /// 0 (not at all) ..=1.
    pub level: f64,
    /// The markers that say so, as listed here, in the order of the list.
    pub words: Vec<String>,
}

/// Markers of English and French with their level, as folded keys with single spaces. Several add up as independent evidence.
const MARKERS: [(&str, f64); 44] = [
    ("emergency", 0.9),
    ("urgent", 0.8),
    ("urgently", 0.8),
    ("immediately", 0.6),
    ("asap", 0.6),
    ("as soon as possible", 0.6),
    ("right now", 0.4),
    ("right away", 0.5),
    ("at once", 0.4),
    ("straight away", 0.5),
    ("without delay", 0.6),
    ("critical", 0.4),
    ("mayday", 0.95),
    ("sos", 0.9),
    ("help me", 0.6),
    ("save me", 0.7),
    ("call 911", 0.95),
    ("call 112", 0.95),
    ("call an ambulance", 0.95),
    ("call the police", 0.9),
    ("life threatening", 0.9),
    ("time sensitive", 0.5),
    ("hurry", 0.5),
    ("danger", 0.6),
    ("au secours", 0.95),
    ("a l aide", 0.8),
    ("aidez moi", 0.7),
    ("aide moi", 0.6),
    ("urgente", 0.8),
    ("urgents", 0.8),
    ("urgentes", 0.8),
    ("urgence", 0.85),
    ("d urgence", 0.85),
    ("urgemment", 0.8),
    ("immediatement", 0.6),
    ("tout de suite", 0.5),
    ("sans delai", 0.6),
    ("sans tarder", 0.5),
    ("des que possible", 0.5),
    ("au plus vite", 0.6),
    ("le plus vite possible", 0.6),
    ("appelez les pompiers", 0.95),
    ("appelez une ambulance", 0.95),
    ("depechez vous", 0.6),
];

/// Markers of Japanese, found anywhere.
const MARKERS_JA: [(&str, f64); 16] = [
    ("緊急", 0.9),
    ("至急", 0.85),
    ("大至急", 0.9),
    ("助けて", 0.8),
    ("たすけて", 0.8),
    ("救急", 0.9),
    ("危険", 0.6),
    ("急いで", 0.6),
    ("今すぐ", 0.6),
    ("直ちに", 0.6),
    ("ただちに", 0.6),
    ("急ぎで", 0.6),
    ("一刻も早く", 0.7),
    ("非常事態", 0.9),
    ("警察を呼", 0.9),
    ("火事", 0.8),
];

/// The first words of [`MARKERS`]: a plain text without any of them needs no closer look.
static FIRST_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let first = MARKERS.iter().filter_map(|(marker, _)| marker.split(' ').next());
    AhoCorasick::builder().ascii_case_insensitive(true).build(first).expect("invariant: a short list of words")
});

/// Words that take a marker back if one of them stands among the two words before it.
const NEGATIONS: [&str; 14] = [
    "not", "no", "never", "isn't", "wasn't", "nothing", "without", "pas", "non", "jamais", "aucun", "aucune", "rien",
    "sans",
];
/// The same in Japanese, right after it.
const NEGATIONS_JA: [&str; 7] = ["ではな", "じゃな", "でな", "はな", "ではあり", "じゃあり", "性はな"];

/// How urgent a text is. `level` is `1 − Π(1 − level of a marker)` over the different markers found.
pub fn urgency(text: &str) -> Urgency {
    let mut found: Vec<(&str, f64)> = Vec::new();
    if text.is_ascii() {
        if FIRST_WORDS.is_match(text) {
            latin(text, &mut found);
        }
    } else if !text.chars().any(is_japanese) || language::language(text) != Some(Language::Japanese) {
        latin(text, &mut found);
    }
    let normal = if text.is_ascii() { String::new() } else { crate::model::ids::normalise(text) };
    for (marker, level) in MARKERS_JA {
        let meant = normal.match_indices(marker).any(|(at, _)| {
            let after = &normal[at + marker.len()..];
            !NEGATIONS_JA.iter().any(|n| after.starts_with(n))
        });
        if meant {
            found.push((marker, level));
        }
    }
    // A marker inside a longer one that was found as well is not evidence of its own.
    let listed = found.clone();
    found.retain(|(marker, _)| !listed.iter().any(|(other, _)| other != marker && other.contains(marker)));
    let calm = found.iter().fold(1.0, |calm, (_, level)| calm * (1.0 - level));
    Urgency { level: 1.0 - calm, words: found.into_iter().map(|(marker, _)| marker.to_owned()).collect() }
}

fn latin(text: &str, found: &mut Vec<(&'static str, f64)>) {
    let keys = surfaces(text).into_iter().map(|(_, surface)| fold(&key(surface)));
    let keys: Vec<String> = keys.filter(|key| !key.is_empty()).collect();
    for (marker, level) in MARKERS {
        let parts: Vec<&str> = marker.split(' ').collect();
        let meant = keys.windows(parts.len()).enumerate().any(|(at, row)| {
            let same = row.iter().zip(&parts).all(|(key, part)| key == part);
            let before = &keys[at.saturating_sub(2)..at];
            same && !before.iter().any(|key| NEGATIONS.contains(&key.as_str()))
        });
        if meant {
            found.push((marker, level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_in_three_languages() {
        for (text, marker) in [
            ("This is URGENT, call me", "urgent"),
            ("Come right away!", "right away"),
            ("Au secours !", "au secours"),
            ("À l’aide !", "a l aide"),
            ("Viens tout de suite", "tout de suite"),
            ("Dépêchez-vous", "depechez vous"),
            ("緊急です", "緊急"),
            ("誰か助けて！", "助けて"),
            ("大至急お願いします", "大至急"),
        ] {
            let found = urgency(text);
            assert_eq!(found.words, [marker], "{text}");
            assert!(found.level > 0.3 && found.level < 1.0, "{text}: {}", found.level);
        }
    }

    #[test]
    fn calm_and_negated_texts_are_not_urgent() {
        for text in [
            "The surgeon had tea.",
            "It is not urgent.",
            "Ce n'est pas urgent.",
            "緊急ではない",
            "お茶を飲む",
            "",
            "resurgent",
        ] {
            assert_eq!(urgency(text), Urgency::default(), "{text}");
        }
    }

    #[test]
    fn several_markers_add_up_and_stay_below_one() {
        let one = urgency("urgent").level;
        let two = urgency("Emergency! Urgent! urgent urgent").level;
        assert!(one < two && two < 1.0);
        let all: String = MARKERS.iter().map(|(m, _)| format!("{m}. ")).collect();
        assert!((0.0..=1.0).contains(&urgency(&all).level));
    }
}
