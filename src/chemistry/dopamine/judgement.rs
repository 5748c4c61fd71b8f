//! What an outcome is worth beside what was expected: a number. A text alone waits for a person or a program that judges it.

use crate::delta::{Method, Prediction, Valued};

/// An outcome beside its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What was expected; a prediction without a value counts as ½.
    pub prediction: Valued,
    /// Whether the prediction had no value.
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
    /// A number that is no value.
    #[error("the value is not between 0 and 1")]
    Range,
}

/// `value(outcome) − value(prediction)`, both in 0..=1. Source: MagistraAI's technical note, 3.3.
pub fn prediction_error(outcome: f64, prediction: f64) -> f64 {
    outcome - prediction
}

/// Judges an outcome by its number. A text without one is kept unjudged: as if it were just what was expected, so that nothing is learnt
/// from it.
///
/// # Errors
/// There is nothing to judge by.
pub fn judge(prediction: Option<&Prediction>, value: Option<f64>, text: Option<&str>) -> Result<Judgement, Unjudged> {
    let expected = Valued::expected(prediction);
    let (value, method) = match (value, text) {
        (Some(value), _) if !(0.0..=1.0).contains(&value) => return Err(Unjudged::Range),
        (Some(value), _) => (value, Method::Number),
        (None, Some(_)) => (expected.value, Method::Unjudged),
        (None, None) => return Err(Unjudged::Nothing),
    };
    Ok(Judgement {
        assumed: prediction.and_then(|p| p.value).is_none(),
        error: prediction_error(value, expected.value),
        prediction: expected,
        // -0 is 0.
        outcome: Valued { text: text.map(str::to_owned), value: value + 0.0 },
        method,
    })
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
    }

    #[test]
    fn words_alone_raise_and_lower_nothing() {
        for (said, came) in
            [(Some("tea"), "Tea!"), (Some("it works"), "It worked very well!"), (None, "it never rains")]
        {
            let judged = judge(Some(&prediction(said, Some(0.7))), None, Some(came)).unwrap();
            assert_eq!((judged.error, judged.method, judged.outcome.value), (0.0, Method::Unjudged, 0.7));
            assert_eq!(judged.outcome.text.as_deref(), Some(came));
        }
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        assert_eq!(judge(None, None, None), Err(Unjudged::Nothing));
        for value in [-0.1, 1.1, f64::NAN] {
            assert_eq!(judge(None, Some(value), None), Err(Unjudged::Range));
        }
    }
}
