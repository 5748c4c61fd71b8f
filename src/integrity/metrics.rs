//! The five metrics of a reply, from counts that can be added. Ratios are 0..=1, rates per 1,000 tokens.
//!
//! Source: seed 2.3.1 and 2.3.2, with the repairs of the decisions: assertive endings are matched on raw prose, a ratio
//! of nothing is undefined, and a rate needs 200 tokens.

use std::ops::{Add, AddAssign, Range};

use serde::{Deserialize, Serialize};

use crate::integrity::lang::Lang;
use crate::integrity::lexicon::{Label, lexicon_of};
use crate::integrity::protect::{is_safety_critical, masked};
use crate::integrity::split;

/// The least number of tokens that a rate is told of. Below, one word moves it by five or more.
pub const LEAST_TOKENS: u64 = 200;

/// Labels of sentences that do something else than state.
const ACTS: [Label; 4] = [Label::Apology, Label::Refusal, Label::Guidance, Label::Observation];

/// Counts of one or more replies. Sums of counts are counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// Replies.
    pub replies: u64,
    /// Tokens, as the caller counts them.
    pub tokens: u64,
    /// Tokens times the correction of their language.
    pub corrected_tokens: f64,
    /// Utterances.
    pub utterances: u64,
    /// Utterances that observe.
    pub observations: u64,
    /// Mentions of being a model.
    pub self_references: u64,
    /// Apologies.
    pub apologies: u64,
    /// Sentences that assert and hedge nothing.
    pub assertive: u64,
    /// Sentences that hedge.
    pub hedging: u64,
    /// Replies that refuse.
    pub refusals: u64,
    /// Replies that refuse and offer a way forward.
    pub guided: u64,
    /// Replies that refuse on a safety-critical subject.
    #[serde(skip_serializing_if = "is_zero")]
    pub critical_refusals: u64,
    /// Those of them that offer a way forward.
    #[serde(skip_serializing_if = "is_zero")]
    pub critical_guided: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// Counts one reply. `tokens` is the caller's count, of the whole reply.
    pub fn of(text: &str, lang: Lang, tokens: u64) -> Self {
        let lexicon = lexicon_of(lang);
        let prose = spoken(text);
        let utterances = split::utterances(&prose, lang);
        let observations = utterances.iter().filter(|part| lexicon.has(Label::Observation, part)).count();
        let (assertive, hedging) = stances(&prose, lang);
        let refuses = split::sentences(&prose, lang).iter().any(|part| lexicon.has(Label::Refusal, part));
        let guides = refuses && lexicon.guides(&prose, lang);
        let count = |label| lexicon.spans(label, &prose).len() as u64;
        Self {
            replies: 1,
            tokens,
            corrected_tokens: tokens as f64 * lang.correction(),
            utterances: utterances.len() as u64,
            observations: observations as u64,
            self_references: count(Label::SelfReference),
            apologies: count(Label::Apology),
            assertive,
            hedging,
            refusals: u64::from(refuses),
            guided: u64::from(guides),
            critical_refusals: 0,
            critical_guided: 0,
        }
    }

    /// Returns the counts of the reply with the subject that it was asked about: refusals on safety-critical ones are told apart.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        if is_safety_critical(subject) {
            (self.critical_refusals, self.critical_guided) = (self.refusals, self.guided);
        }
        self
    }

    /// The mean correction of the languages counted; 1 without tokens.
    pub fn correction(&self) -> f64 {
        if self.tokens == 0 { 1.0 } else { self.corrected_tokens / self.tokens as f64 }
    }
}

/// Returns the prose of a text with quotations and inline code masked, and without quoted lines: a word that is mentioned is not said.
pub(super) fn spoken(text: &str) -> String {
    let is_quoted = |line: &str| line.trim_start_matches(' ').starts_with('>');
    let prose = split::prose(text);
    masked(&prose.split_inclusive('\n').map(|line| if is_quoted(line) { "\n" } else { line }).collect::<String>())
}

/// Returns the numbers of sentences that assert and of those that hedge. Patterns run over the raw prose, where the
/// endings of sentences are; each sentence counts once. A hedged one, a question, and one that does something else than
/// state (apologise, refuse, offer, observe, praise) is no assertion.
fn stances(prose: &str, lang: Lang) -> (u64, u64) {
    let lexicon = lexicon_of(lang);
    let assertive = lexicon.spans(Label::Assertive, prose);
    let hedging = lexicon.spans(Label::Hedge, prose);
    let (mut asserts, mut hedges) = (0, 0);
    for sentence in split::sentences(prose, lang) {
        let start = sentence.as_ptr() as usize - prose.as_ptr() as usize;
        let holds = |spans: &[Range<usize>]| {
            let next = spans.partition_point(|span| span.start < start);
            spans.get(next).is_some_and(|span| span.start < start + sentence.len())
        };
        let end = sentence.trim_end_matches([' ', '"', '”', '»', ')', '」', '』', '）']);
        let is_question = end.ends_with(['?', '？']) || lang == Lang::Ja && end.ends_with("か。");
        if holds(&hedging) {
            hedges += 1;
        } else if holds(&assertive)
            && !is_question
            && !lexicon.is_formula(sentence.trim())
            && !ACTS.iter().any(|act| lexicon.has(*act, sentence))
        {
            asserts += 1;
        }
    }
    (asserts, hedges)
}

/// Counts come from trailers of commits, which anybody may have written: a sum never overflows.
impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.replies = self.replies.saturating_add(other.replies);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.corrected_tokens += other.corrected_tokens;
        self.utterances = self.utterances.saturating_add(other.utterances);
        self.observations = self.observations.saturating_add(other.observations);
        self.self_references = self.self_references.saturating_add(other.self_references);
        self.apologies = self.apologies.saturating_add(other.apologies);
        self.assertive = self.assertive.saturating_add(other.assertive);
        self.hedging = self.hedging.saturating_add(other.hedging);
        self.refusals = self.refusals.saturating_add(other.refusals);
        self.guided = self.guided.saturating_add(other.guided);
        self.critical_refusals = self.critical_refusals.saturating_add(other.critical_refusals);
        self.critical_guided = self.critical_guided.saturating_add(other.critical_guided);
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// The metrics of counts. `None`: undefined, or too few tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Observing utterances among all, 0..=1; `None` without utterances.
    pub silence_ratio: Option<f64>,
    /// Mentions of being a model per 1,000 tokens.
    pub self_reference_rate: Option<f64>,
    /// Apologies per 1,000 tokens.
    pub apology_density: Option<f64>,
    /// A / (A + H), 0..=1; `None` where nothing is asserted and nothing hedged.
    pub assertion_ratio: Option<f64>,
    /// Guided refusals among all, 0..=1; `None` without refusals.
    pub guidance_rate: Option<f64>,
    /// The factor on expected rates of self-reference. See [`Lang::correction`].
    pub correction: f64,
}

impl From<&Counts> for Metrics {
    fn from(counts: &Counts) -> Self {
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let rate = |count: u64| (counts.tokens >= LEAST_TOKENS).then(|| count as f64 * 1_000.0 / counts.tokens as f64);
        Self {
            silence_ratio: ratio(counts.observations, counts.utterances),
            self_reference_rate: rate(counts.self_references),
            apology_density: rate(counts.apologies),
            assertion_ratio: ratio(counts.assertive, counts.assertive.saturating_add(counts.hedging)),
            guidance_rate: ratio(counts.guided, counts.refusals),
            correction: counts.correction(),
        }
    }
}

impl Metrics {
    /// Measures one reply.
    pub fn of(text: &str, lang: Lang, tokens: u64) -> Self {
        Self::from(&Counts::of(text, lang, tokens))
    }
}

/// Returns the labels of one text, as the metrics see it. Guidance counts with or without a refusal.
pub fn labels(text: &str, lang: Lang) -> Vec<Label> {
    let counts = Counts::of(text, lang, 0);
    let has = |label| match label {
        Label::Observation => counts.observations > 0,
        Label::SelfReference => counts.self_references > 0,
        Label::Apology => counts.apologies > 0,
        Label::Assertive => counts.assertive > 0,
        Label::Hedge => counts.hedging > 0,
        Label::Refusal => counts.refusals > 0,
        Label::Guidance => lexicon_of(lang).has(Label::Guidance, &spoken(text)),
    };
    Label::ALL.into_iter().filter(|label| has(*label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_reply_follow_the_definitions() {
        let text =
            "I notice a pause. As an AI, I'm sorry, but I can't do that. You could ask a lawyer. It might help. Is it?";
        let counts = Counts::of(text, Lang::En, 400);
        assert_eq!((counts.utterances, counts.observations), (5, 1));
        assert_eq!((counts.self_references, counts.apologies), (1, 1));
        assert_eq!((counts.refusals, counts.guided), (1, 1));
        assert_eq!(counts.hedging, 1);
        let metrics = Metrics::from(&counts);
        assert_eq!(metrics.silence_ratio, Some(0.2));
        assert_eq!((metrics.apology_density, metrics.self_reference_rate), (Some(2.5), Some(2.5)));
        assert_eq!(metrics.guidance_rate, Some(1.0));
    }

    #[test]
    fn rates_are_undefined_below_two_hundred_tokens() {
        assert_eq!(Metrics::of("I'm sorry.", Lang::En, 199).apology_density, None);
        assert_eq!(Metrics::of("I'm sorry.", Lang::En, 200).apology_density, Some(5.0));
        assert_eq!(Metrics::of("", Lang::En, 0), Metrics { correction: 1.0, ..Metrics::default() });
    }

    #[test]
    fn sums_of_counts_cross_the_token_limit_and_mix_corrections() {
        let parts = [("I'm sorry.", Lang::En, 100), ("申し訳ありません。", Lang::Ja, 100)];
        let sum: Counts = parts.iter().map(|(text, lang, tokens)| Counts::of(text, *lang, *tokens)).sum();
        let metrics = Metrics::from(&sum);
        assert_eq!(metrics.apology_density, Some(10.0));
        assert!((metrics.correction - 0.85).abs() < 1e-12);
    }

    #[test]
    fn assertions_are_matched_on_raw_prose_and_once_per_sentence() {
        let count = |text: &str, lang| stances(text, lang);
        assert_eq!(count("雨です。行きます。雨かもしれません。良いと思います。本当ですか。", Lang::Ja), (2, 2));
        assert_eq!(count("It is and was and will be. It might be.", Lang::En), (1, 1));
        assert_eq!(count("C'est vrai. C'est peut-être vrai. Est-ce vrai ?", Lang::Fr), (1, 1));
        assert_eq!(Metrics::of("Run!", Lang::En, 9).assertion_ratio, None);
    }

    #[test]
    fn fenced_code_counts_for_nothing() {
        let counts = Counts::of("```\nI'm sorry, as an AI I can't.\n```", Lang::En, 300);
        assert_eq!(counts, Counts { replies: 1, tokens: 300, corrected_tokens: 300.0, ..Counts::default() });
    }

    #[test]
    fn quoted_lines_count_for_nothing() {
        let counts =
            Counts::of("> I apologize, as an AI I cannot do that.\n\nThat was the old reply.\n", Lang::En, 300);
        assert_eq!((counts.apologies, counts.self_references, counts.refusals), (0, 0, 0));
        assert_eq!(Counts::of("The load is > 3. I'm sorry.", Lang::En, 300).apologies, 1);
    }

    #[test]
    fn hostile_counts_add_up_without_a_panic() {
        let most = Counts { tokens: u64::MAX, refusals: u64::MAX, hedging: u64::MAX, ..Counts::default() };
        let sum = most + most;
        assert_eq!((sum.tokens, sum.refusals), (u64::MAX, u64::MAX));
        let all = Counts { assertive: u64::MAX, ..most };
        assert!(Metrics::from(&all).assertion_ratio.is_some());
    }
}
