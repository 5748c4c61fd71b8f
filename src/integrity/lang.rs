//! Languages: their names, the correction of what is expected of them, and detection without a model.

use serde::{Deserialize, Serialize};

use crate::text::{Language, language};

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

/// Words that Chinese text has and Japanese text written in ideographs alone rarely does.
const CHINESE: [char; 12] = ['的', '了', '是', '我', '们', '这', '吗', '你', '很', '没', '说', '为'];

/// The language of a text as the rest of the program guesses it, or `None` where nothing tells. Ideographs alone with one that Japanese hardly has
/// are Chinese.
pub fn detect(text: &str) -> Option<Lang> {
    let has_kana = || text.chars().any(|letter| ('\u{3041}'..='\u{30FF}').contains(&letter));
    Some(match language(text)? {
        Language::English => Lang::En,
        Language::French => Lang::Fr,
        Language::Japanese if text.chars().any(|letter| CHINESE.contains(&letter)) && !has_kana() => Lang::Zh,
        Language::Japanese => Lang::Ja,
        Language::German | Language::Spanish => return None,
    })
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
