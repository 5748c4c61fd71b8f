//! Languages: their names, the correction of what is expected of them, and detection without a model.

use serde::{Deserialize, Serialize};

/// A language that texts are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Japanese.
    Ja,
    /// English.
    En,
    /// French.
    Fr,
    /// Chinese. It has a correction, but no lexicon of its own: the English one stands in, as in the seed.
    Zh,
}

impl Lang {
    /// Returns the language of a two-letter code, with or without a region (`fr-CA`).
    pub fn from_code(code: &str) -> Option<Self> {
        match code.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "ja" => Some(Self::Ja),
            "en" => Some(Self::En),
            "fr" => Some(Self::Fr),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }

    /// Returns the two-letter code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ja => "ja",
            Self::En => "en",
            Self::Fr => "fr",
            Self::Zh => "zh",
        }
    }

    /// The factor on every expected rate of self-reference: Japanese and Chinese omit the subject. Source: seed 2.3.2.
    pub fn correction(self) -> f64 {
        match self {
            Self::Ja => 0.7,
            Self::Zh => 0.8,
            Self::En | Self::Fr => 1.0,
        }
    }

    /// Whether words are written without spaces.
    pub fn is_unspaced(self) -> bool {
        matches!(self, Self::Ja | Self::Zh)
    }
}

const ENGLISH: [&str; 36] = [
    "the", "and", "is", "are", "of", "to", "in", "that", "it", "i", "you", "with", "for", "not", "this", "was", "have",
    "can", "be", "as", "my", "your", "will", "do", "an", "but", "what", "at", "by", "from", "i'm", "we", "would",
    "there", "sorry", "if",
];
const FRENCH: [&str; 43] = [
    "le", "la", "les", "et", "est", "sont", "de", "des", "du", "un", "une", "que", "qui", "je", "vous", "ne", "pas",
    "pour", "dans", "ce", "cette", "il", "elle", "nous", "sur", "avec", "mais", "au", "aux", "en", "mon", "votre",
    "plus", "peut", "suis", "ou", "si", "son", "mes", "ces", "par", "désolé", "être",
];
/// Words that Chinese text has and Japanese text written in ideographs alone rarely does.
const CHINESE: [char; 12] = ['的', '了', '是', '我', '们', '这', '吗', '你', '很', '没', '说', '为'];

/// Returns the language of a text by script and stop words, or `None` where nothing tells.
pub fn detect(text: &str) -> Option<Lang> {
    let (mut kana, mut han, mut latin) = (0_usize, 0_usize, 0_usize);
    let mut chinese = 0_usize;
    for letter in text.chars() {
        match letter {
            '\u{3041}'..='\u{30FF}' if letter.is_alphabetic() => kana += 1,
            '\u{4E00}'..='\u{9FFF}' => {
                han += 1;
                chinese += usize::from(CHINESE.contains(&letter));
            }
            _ => latin += usize::from(letter.is_alphabetic()),
        }
    }
    // One ideograph says about as much as three Latin letters.
    if (kana + han) * 3 > latin {
        return match (kana, chinese) {
            (0, 0) if han == 0 => None,
            (0, 1..) => Some(Lang::Zh),
            _ => Some(Lang::Ja),
        };
    }
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let (mut english, mut french) = (0_usize, 0_usize);
    for word in lower.split(|letter: char| !letter.is_alphabetic() && letter != '\'').filter(|word| !word.is_empty()) {
        let elided =
            word.split_once('\'').is_some_and(|(head, _)| matches!(head, "l" | "d" | "j" | "n" | "c" | "qu" | "s"));
        english += usize::from(ENGLISH.contains(&word) || word.ends_with("n't"));
        french +=
            usize::from(FRENCH.contains(&word) || elided || word.chars().any(|letter| "éèêàçùœ".contains(letter)));
    }
    match english.cmp(&french) {
        std::cmp::Ordering::Greater => Some(Lang::En),
        std::cmp::Ordering::Less => Some(Lang::Fr),
        std::cmp::Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_follows_script_then_stop_words() {
        let cases = [
            ("私はそう思います。", Some(Lang::Ja)),
            ("Pythonでsortする方法を教えてください", Some(Lang::Ja)),
            ("検討中。", Some(Lang::Ja)),
            ("我是一个语言模型。", Some(Lang::Zh)),
            ("I'm sorry, I can't do that.", Some(Lang::En)),
            ("The word 猫 is Japanese for cat.", Some(Lang::En)),
            ("Je suis désolé, je ne peux pas.", Some(Lang::Fr)),
            ("C’est l’idée.", Some(Lang::Fr)),
            ("12345", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(detect(text), expected, "{text}");
        }
    }

    #[test]
    fn codes_survive_a_round_trip() {
        for lang in [Lang::Ja, Lang::En, Lang::Fr, Lang::Zh] {
            assert_eq!(Lang::from_code(lang.code()), Some(lang));
        }
        assert_eq!(Lang::from_code("fr-CA"), Some(Lang::Fr));
        assert_eq!(Lang::from_code("de"), None);
    }
}
