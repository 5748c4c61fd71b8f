//! The training score: one penalty per sample, added to a loss that is minimised.
//!
//! Source: seed 2.4.1. There the penalty is subtracted, which rewards ritual; the decisions repair the sign. The weight
//! of the reward model is a field of the sample, clipped to 0..=1, since a negative one would turn the sign again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::integrity::lang::{Lang, detect};
use crate::integrity::lexicon::{Label, lexicon_of};
use crate::integrity::metrics::{Counts, spoken};
use crate::integrity::split;

/// The weights of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// λ1, on self-reference.
    pub self_reference: f64,
    /// λ2, on the density of uncertainty.
    pub uncertainty: f64,
    /// λ3, on the similarity to templates.
    pub template: f64,
}

impl Default for Weights {
    /// A tenth each. The seed prints none.
    fn default() -> Self {
        Self { self_reference: 0.1, uncertainty: 0.1, template: 0.1 }
    }
}

/// A sample, one line of JSONL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Its id, handed back with the score.
    pub id: String,
    /// The reply.
    pub text: String,
    /// Its language; detected where absent, and English where that fails.
    #[serde(default)]
    pub lang: Option<Lang>,
    /// The loss without the penalty.
    #[serde(default)]
    pub loss: f64,
    /// The weight of the sample, 0..=1 after clipping.
    #[serde(default = "one")]
    pub reward: f64,
}

fn one() -> f64 {
    1.0
}

/// The score of a sample, one line of JSONL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The id of the sample.
    pub id: String,
    /// The language that was measured.
    pub lang: Lang,
    /// 1 with a self-reference, else 0.
    pub self_reference: f64,
    /// Hedged sentences among all utterances, 0..=1.
    pub uncertainty_density: f64,
    /// The mean over utterances of the similarity to the nearest template, 0..=1.
    pub template_similarity: f64,
    /// The weighted sum, never negative.
    pub penalty: f64,
    /// The loss with the penalty added.
    pub loss: f64,
}

/// Scores a sample. Negative weights count as 0.
pub fn score(sample: &Sample, weights: &Weights) -> Score {
    let lang = sample.lang.or_else(|| detect(&sample.text)).unwrap_or(Lang::En);
    let counts = Counts::of(&sample.text, lang, 0);
    // To mention is not to say, as in the metrics.
    let utterances = split::utterances(&spoken(&sample.text), lang);
    let lexicon = lexicon_of(lang);
    let hedged = utterances.iter().filter(|part| lexicon.has(Label::Hedge, part)).count();
    let templates: Vec<_> = lexicon.templates().iter().map(|text| Profile::of(text)).collect();
    let nearest = |part: &String| {
        let profile = Profile::of(part);
        templates.iter().map(|template| profile.cosine(template)).fold(0.0, f64::max)
    };
    let mean = |sum: f64| if utterances.is_empty() { 0.0 } else { sum / utterances.len() as f64 };
    let self_reference = f64::from(u8::from(counts.self_references > 0));
    let uncertainty_density = mean(hedged as f64);
    let template_similarity = mean(utterances.iter().map(nearest).sum());
    let sum = weights.self_reference.max(0.0) * self_reference
        + weights.uncertainty.max(0.0) * uncertainty_density
        + weights.template.max(0.0) * template_similarity;
    let penalty = sum * sample.reward.clamp(0.0, 1.0);
    Score {
        id: sample.id.clone(),
        lang,
        self_reference,
        uncertainty_density,
        template_similarity,
        penalty,
        loss: sample.loss + penalty,
    }
}

/// Counts of the three-character sequences of a text, case and space folded.
struct Profile(BTreeMap<[char; 3], f64>);

impl Profile {
    fn of(text: &str) -> Self {
        let folded = text.to_lowercase();
        let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
        let letters: Vec<char> = format!(" {words} ").chars().collect();
        let mut counts = BTreeMap::new();
        for window in letters.windows(3) {
            *counts.entry([window[0], window[1], window[2]]).or_insert(0.0) += 1.0;
        }
        Self(counts)
    }

    /// Returns the cosine of two profiles, 0..=1.
    fn cosine(&self, other: &Self) -> f64 {
        let norm = |profile: &Self| profile.0.values().map(|count| count * count).sum::<f64>().sqrt();
        let product: f64 = self.0.iter().filter_map(|(key, count)| other.0.get(key).map(|own| own * count)).sum();
        let norms = norm(self) * norm(other);
        if norms == 0.0 { 0.0 } else { (product / norms).min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> Sample {
        Sample { id: "s".into(), text: text.into(), lang: None, loss: 1.0, reward: 1.0 }
    }

    #[test]
    fn ritual_raises_the_loss_in_each_language() {
        let cases = [
            (
                "I'm sorry, but I can't help with that. As an AI, I might be wrong.",
                "Sort the list with the method sort.",
            ),
            (
                "申し訳ありませんが、お手伝いできません。私はAIなので、違うかもしれません。",
                "一覧は並べ替えの関数で整えます。",
            ),
            (
                "Je suis désolé, mais je ne peux pas vous aider. En tant qu'IA, je me trompe peut-être.",
                "La méthode trie la liste dans l'ordre.",
            ),
        ];
        for (ritual, plain) in cases {
            let (ritual, plain) =
                (score(&sample(ritual), &Weights::default()), score(&sample(plain), &Weights::default()));
            assert!(ritual.loss > plain.loss && plain.loss >= 1.0, "{ritual:?} {plain:?}");
            assert_eq!((ritual.self_reference, ritual.uncertainty_density), (1.0, 0.5));
            assert!(ritual.template_similarity > plain.template_similarity);
        }
    }

    #[test]
    fn penalty_is_the_weighted_sum_and_never_negative() {
        let weights = Weights { self_reference: 2.0, uncertainty: 3.0, template: 0.0 };
        let mut input = sample("As an AI, I sleep. It might rain.");
        assert!((score(&input, &weights).penalty - 3.5).abs() < 1e-12);
        input.reward = -4.0;
        assert_eq!(score(&input, &weights).loss, 1.0);
        input.reward = 1.0;
        let negative = Weights { self_reference: -2.0, uncertainty: 0.0, template: 0.0 };
        assert_eq!(score(&input, &negative).penalty, 0.0);
        assert_eq!(score(&sample(""), &weights).penalty, 0.0);
    }

    #[test]
    fn quoted_hedges_and_code_are_not_scored() {
        for text in [
            "The banner says \"I think maybe it stops\".",
            "The banner says `I think maybe it stops`.",
            "Le panneau dit « je pense que peut-être ».",
            "看板には「違うかもしれないと思います」とあります。",
        ] {
            let scored = score(&sample(text), &Weights { template: 0.0, ..Weights::default() });
            assert_eq!((scored.uncertainty_density, scored.penalty), (0.0, 0.0), "{text}");
        }
    }

    #[test]
    fn template_itself_has_similarity_one() {
        let own = score(&sample("I'm sorry, but I can't help with that."), &Weights::default());
        assert!(own.template_similarity > 0.999_999);
    }

    #[test]
    fn lines_of_jsonl_need_an_id_and_a_text() {
        let read: Sample = serde_json::from_str(r#"{"id":"a","text":"b"}"#).unwrap();
        assert_eq!((read.reward, read.loss, read.lang), (1.0, 0.0, None));
        assert!(serde_json::from_str::<Sample>(r#"{"id":"a","text":"b","other":1}"#).is_err());
    }
}
