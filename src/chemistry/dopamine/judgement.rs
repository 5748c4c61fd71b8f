//! What an outcome is worth beside what was expected: a number where one is given, else how alike two texts are.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::delta::{Method, Prediction, Valued};
use crate::limits;
use crate::text;

/// An outcome beside its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What was expected; a prediction without a value counts as ½.
    pub prediction: Valued,
    /// True if the prediction had no value.
    pub assumed: bool,
    /// What came of it.
    pub outcome: Valued,
    /// `outcome.value − prediction.value`, -1..=1.
    pub error: f64,
    /// How the outcome got its value.
    pub method: Method,
}

/// Why an outcome has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unjudged {
    /// Neither a number nor a text.
    #[error("an outcome needs a value or a text")]
    Nothing,
    /// A text, and a prediction that is none.
    #[error("its prediction has no text to compare the outcome with")]
    NoText,
    /// A number that is no value.
    #[error("the value is not between 0 and 1")]
    Range,
}

/// `value(outcome) − value(prediction)`, both in 0..=1. Source: MagistraAI's technical note, 3.3.
pub fn prediction_error(outcome: f64, prediction: f64) -> f64 {
    outcome - prediction
}

/// Judges an outcome: by its number, else by how alike its text and the predicted one are.
///
/// # Errors
/// There is nothing to judge by.
pub fn judge(prediction: Option<&Prediction>, value: Option<f64>, text: Option<&str>) -> Result<Judgement, Unjudged> {
    let expected = Valued::expected(prediction);
    let (value, method) = match (value, text, &expected.text) {
        (Some(value), ..) if !(0.0..=1.0).contains(&value) => return Err(Unjudged::Range),
        (Some(value), ..) => (value, Method::Number),
        (None, Some(text), Some(predicted)) => (similarity(predicted, text), Method::Similarity),
        (None, Some(_), None) => return Err(Unjudged::NoText),
        (None, None, _) => return Err(Unjudged::Nothing),
    };
    Ok(Judgement {
        assumed: prediction.and_then(|p| p.value).is_none(),
        error: prediction_error(value, expected.value),
        prediction: expected,
        outcome: Valued { text: text.map(str::to_owned), value },
        method,
    })
}

/// How alike two texts are, 0..=1: `2·M/(m + n)`, with M the words that a shortest edit script keeps, of m and n. Words are compared by
/// their keys (NFKC, lower case, no punctuation), at most [`limits::COMPARED_WORDS`] of each; texts without words letter by letter.
/// Symmetric, and the same whoever wrote which.
///
/// It counts words and knows no meaning: `it rains` and `it never rains` are alike to four fifths. Who needs more gives a number, or an
/// agent that thinks with a model. Source of the ratio: Ratcliff and Metzener (1988), over Myers' diff (1986).
pub fn similarity(one: &str, other: &str) -> f64 {
    let keys = |text: &str| -> Vec<String> {
        text::words(text).into_iter().map(|word| word.key).take(limits::COMPARED_WORDS).collect()
    };
    let letters = |text: &str| -> Vec<String> {
        text.trim().to_lowercase().chars().map(String::from).take(limits::COMPARED_WORDS).collect()
    };
    let (mut a, mut b) = (keys(one), keys(other));
    if a.is_empty() && b.is_empty() {
        (a, b) = (letters(one), letters(other));
    }
    if a == b {
        return 1.0;
    }
    // A diff heuristic may depend on which side is which; the order of the texts does not.
    if a > b {
        std::mem::swap(&mut a, &mut b);
    }
    let kept = |op: DiffOp| if let DiffOp::Equal { len, .. } = op { len } else { 0 };
    let matches: usize = capture_diff_slices(Algorithm::Myers, &a, &b).into_iter().map(kept).sum();
    2.0 * matches as f64 / (a.len() + b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prediction(text: Option<&str>, value: Option<f64>) -> Prediction {
        Prediction { text: text.map(str::to_owned), value, ..Prediction::default() }
    }

    #[test]
    fn a_number_goes_before_a_text() {
        let said = prediction(Some("it rains"), Some(0.7));
        let judged = judge(Some(&said), Some(0.4), Some("it rains")).unwrap();
        assert_eq!((judged.method, judged.assumed), (Method::Number, false));
        assert!((judged.error + 0.3).abs() < 1e-12);
        assert_eq!(judged.outcome.text.as_deref(), Some("it rains"));
    }

    #[test]
    fn what_was_not_stated_counts_as_a_half() {
        let judged = judge(None, Some(1.0), None).unwrap();
        assert_eq!((judged.error, judged.assumed), (0.5, true));
        let judged = judge(Some(&prediction(Some("tea"), None)), None, Some("Tea!")).unwrap();
        assert_eq!((judged.error, judged.method), (0.5, Method::Similarity));
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        assert_eq!(judge(None, None, None), Err(Unjudged::Nothing));
        assert_eq!(judge(None, None, Some("x")), Err(Unjudged::NoText));
        for value in [-0.1, 1.1, f64::NAN] {
            assert_eq!(judge(None, Some(value), None), Err(Unjudged::Range));
        }
    }

    #[test]
    fn similarity_counts_words_both_ways_in_any_script() {
        for (a, b, expected) in [
            ("Anna drinks green tea", "anna drinks GREEN tea.", 1.0),
            ("it rains", "it never rains", 0.8),
            ("green tea", "black coffee", 0.0),
            ("tea", "", 0.0),
            ("", "", 1.0),
            ("!!", "!?", 0.5),
            ("お茶を飲む", "お茶を飲む。", 1.0),
        ] {
            assert_eq!(similarity(a, b), expected, "{a:?} {b:?}");
            assert_eq!(similarity(b, a), expected, "{b:?} {a:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn similarity_is_symmetric_and_a_share(a in "[abc ]{0,24}", b in "[abc ]{0,24}") {
            let (one, other) = (similarity(&a, &b), similarity(&b, &a));
            proptest::prop_assert_eq!(one, other);
            proptest::prop_assert!((0.0..=1.0).contains(&one));
        }
    }
}
