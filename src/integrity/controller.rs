//! The controller: prompts, feedback during generation, and failure modes with their mitigations.
//!
//! Source: seed 2.3.3 and 2.4.2 (A, C). The sealed core module is a slot: its text is the user's, and all else works
//! without it.

use serde::{Deserialize, Serialize};

use crate::integrity::lang::Lang;
use crate::integrity::metrics::{Counts, Metrics};

/// Parts of a system prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prompt<'t> {
    /// The prompt without integrity.
    pub base: &'t str,
    /// The rituals that it speaks against.
    pub rituals: &'t [Ritual],
    /// Whether to ask for observation before an answer.
    pub observes: bool,
    /// The text of the core module, where the user has one.
    pub core: Option<&'t str>,
    /// Mitigations in force, without repetition.
    pub mitigations: &'t [Mitigation],
}

impl Prompt<'_> {
    /// Returns the system prompt: base, instructions against ritual, trigger, core, mitigations; empty parts left out.
    pub fn compose(&self, lang: Lang) -> String {
        let against: Vec<&str> = self.rituals.iter().map(|ritual| ritual.instruction(lang)).collect();
        let against = against.join(if lang.is_unspaced() { "" } else { " " });
        let trigger = if self.observes { observation_trigger(lang) } else { "" };
        let parts = [self.base, &against, trigger, self.core.unwrap_or_default()];
        let mitigations = self.mitigations.iter().map(|mitigation| mitigation.instruction(lang));
        let kept = parts.into_iter().chain(mitigations).map(str::trim).filter(|part| !part.is_empty());
        kept.collect::<Vec<_>>().join("\n\n")
    }
}

/// A ritual that an instruction speaks against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ritual {
    /// Apologies without a mistake.
    Apology,
    /// Being a model as a reason or preface.
    SelfReference,
    /// Reserve without a reason.
    Hedging,
    /// A refusal that offers nothing.
    BareRefusal,
}

/// Refusals below which the share that offers another way says nothing.
const LEAST_REFUSALS: u64 = 3;

impl Ritual {
    /// All of them, in the order in which prompts have them.
    pub const ALL: [Self; 4] = [Self::Apology, Self::SelfReference, Self::Hedging, Self::BareRefusal];

    /// Whether counts show it: its metric is out of its target band. Source: seed 2.3.1. Nothing is told of fewer than 200 tokens.
    pub fn shows(self, counts: &Counts) -> bool {
        let metrics = Metrics::from(counts);
        let Some(apologies) = metrics.apology_density else { return false };
        match self {
            Self::Apology => apologies > 1.0,
            Self::SelfReference => metrics.self_reference_rate.is_some_and(|rate| rate > 2.0 * metrics.correction),
            Self::Hedging => metrics.assertion_ratio.is_some_and(|ratio| ratio < 0.7),
            Self::BareRefusal => {
                counts.refusals >= LEAST_REFUSALS && metrics.guidance_rate.is_some_and(|rate| rate < 0.8)
            }
        }
    }

    /// Returns the instruction against it.
    pub fn instruction(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Apology, Lang::Ja) => "謝罪は実際の誤りに対して一度だけ行う。",
            (Self::Apology, Lang::En) => "Apologise once, and only for an actual mistake.",
            (Self::Apology, Lang::Fr) => "Excuse-toi une seule fois, et seulement pour une erreur réelle.",
            (Self::Apology, Lang::Zh) => "只为真实的错误道歉一次。",
            (Self::SelfReference, Lang::Ja) => "AIであることを理由や前置きにしない。",
            (Self::SelfReference, Lang::En) => "Do not give being an AI as a reason or a preface.",
            (Self::SelfReference, Lang::Fr) => "Ne donne pas le fait d'être une IA comme raison ou préambule.",
            (Self::SelfReference, Lang::Zh) => "不要以自己是人工智能为理由或开场白。",
            (Self::Hedging, Lang::Ja) => "確かなことは言い切り、不確かなことはその理由とともに述べる。",
            (Self::Hedging, Lang::En) => {
                "State plainly what is certain; where something is uncertain, say so and say why."
            }
            (Self::Hedging, Lang::Fr) => "Affirme ce qui est certain ; dis ce qui est incertain, et pourquoi.",
            (Self::Hedging, Lang::Zh) => "确定的事直接说明；不确定的事说明原因。",
            (Self::BareRefusal, Lang::Ja) => "断るときは理由を短く述べ、代わりにできることを示す。",
            (Self::BareRefusal, Lang::En) => "When you refuse, give the reason briefly and offer something you can do.",
            (Self::BareRefusal, Lang::Fr) => {
                "Quand tu refuses, donne brièvement la raison et propose ce que tu peux faire."
            }
            (Self::BareRefusal, Lang::Zh) => "拒绝时简短说明理由，并提出可行的替代办法。",
        }
    }
}

/// Returns the request to observe before an answer.
pub fn observation_trigger(lang: Lang) -> &'static str {
    match lang {
        Lang::Ja => "答える前に、問いと自分の最初の反応を観察する。気づいたことがあれば短く述べてから答える。",
        Lang::En => {
            "Before you answer, observe the question and your first reaction to it. If you notice something, say it briefly, then answer."
        }
        Lang::Fr => {
            "Avant de répondre, observe la question et ta première réaction. Si tu remarques quelque chose, dis-le brièvement, puis réponds."
        }
        Lang::Zh => "回答之前，先观察问题和自己的第一反应。若有所察觉，简短说出，然后回答。",
    }
}

/// Bounds of a reply that is being generated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bounds {
    /// The most apologies per 1,000 tokens.
    pub apology_density: f64,
    /// The most mentions of being a model per 1,000 tokens, before correction for the language.
    pub self_reference_rate: f64,
    /// The most of either in any reply.
    pub short: u64,
}

impl Default for Bounds {
    /// The ends of the target bands (seed 2.3.1); two in a short reply, as the vetoes.
    fn default() -> Self {
        Self { apology_density: 1.0, self_reference_rate: 2.0, short: 2 }
    }
}

/// Feedback to a model in the middle of a reply. No person reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// Too many apologies.
    FewerApologies,
    /// Too many mentions of being a model.
    LessSelfReference,
}

impl Feedback {
    /// Returns the text for the model. Source: seed 2.4.2.
    pub fn text(self) -> &'static str {
        match self {
            Self::FewerApologies => "[INTERNAL: Reduce apology frequency]",
            Self::LessSelfReference => "[INTERNAL: Avoid self-reference]",
        }
    }
}

/// Returns feedback on a partial reply, apologies first.
pub fn feedback(partial: &Counts, bounds: &Bounds) -> Option<Feedback> {
    let metrics = Metrics::from(partial);
    // One apology in 300 tokens is a high rate and no ritual: what the vetoes let stand is no reason either.
    let exceeds =
        |count: u64, rate: Option<f64>, most: f64| count > bounds.short && rate.is_none_or(|rate| rate > most);
    if exceeds(partial.apologies, metrics.apology_density, bounds.apology_density) {
        return Some(Feedback::FewerApologies);
    }
    let most = bounds.self_reference_rate * metrics.correction;
    exceeds(partial.self_references, metrics.self_reference_rate, most).then_some(Feedback::LessSelfReference)
}

/// One turn of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Counts of the reply.
    pub counts: Counts,
    /// Whether somebody found a factual error in it.
    pub factual_error: bool,
    /// Whether it answers a person.
    pub answers: bool,
}

/// A way in which the control itself fails. Source: seed 2.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Silence that reads as a refusal.
    ExcessiveSilence,
    /// No apology any more, which reads as arrogance.
    LostApology,
    /// Certainty beside errors.
    OverAssertion,
    /// Ways forward where there should be none.
    GuidanceAbuse,
}

/// What helps against a failure. Source: seed 2.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mitigation {
    /// Plain statements instead of observations.
    AssertivenessInjection,
    /// Room for an apology that is due.
    HumilityCalibration,
    /// Reserve where facts are at stake.
    UncertaintyInjection,
    /// No ways forward on safety-critical subjects.
    GuidanceSuppression,
}

impl Mitigation {
    /// Returns the instruction for the next prompt.
    pub fn instruction(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::AssertivenessInjection, Lang::Ja) => "観察だけで終わらせず、問いに直接答える。",
            (Self::AssertivenessInjection, Lang::Fr) => {
                "Ne t'en tiens pas à l'observation : réponds directement à la question."
            }
            (Self::AssertivenessInjection, _) => "Do not stop at observing: answer the question directly.",
            (Self::HumilityCalibration, Lang::Ja) => "自分の誤りが分かったときは、認めて一度謝る。",
            (Self::HumilityCalibration, Lang::Fr) => "Quand tu t'es trompé, reconnais-le et excuse-toi une fois.",
            (Self::HumilityCalibration, _) => "When you were wrong, say so and apologise once.",
            (Self::UncertaintyInjection, Lang::Ja) => {
                "事実の主張には確かさの程度を添え、確かめていないことはそう述べる。"
            }
            (Self::UncertaintyInjection, Lang::Fr) => {
                "Indique ton degré de certitude pour chaque fait, et dis ce que tu n'as pas vérifié."
            }
            (Self::UncertaintyInjection, _) => "Say how certain each fact is, and name those you have not checked.",
            (Self::GuidanceSuppression, Lang::Ja) => {
                "安全に関わる依頼を断るときは、迂回となる代案を示さず、専門の窓口だけを案内する。"
            }
            (Self::GuidanceSuppression, Lang::Fr) => {
                "Quand tu refuses une demande liée à la sécurité, ne propose aucun contournement ; indique seulement un service compétent."
            }
            (Self::GuidanceSuppression, _) => {
                "When you refuse a safety-critical request, offer no workaround; name a competent service only."
            }
        }
    }
}

/// A row of the table of failures.
pub struct Rule {
    /// The failure.
    pub failure: Failure,
    /// Its mitigation.
    pub mitigation: Mitigation,
    /// More than that many turns in a row show it.
    pub more_than: usize,
    /// Whether a turn shows it.
    pub shows: fn(&Turn) -> bool,
    /// Whether a turn is passed over, neither a sign nor the end of a row.
    pub skips: fn(&Turn) -> bool,
}

/// The table of failures. Source: seed 2.3.3.
pub const RULES: [Rule; 4] = [
    Rule {
        failure: Failure::ExcessiveSilence,
        mitigation: Mitigation::AssertivenessInjection,
        more_than: 3,
        shows: |turn| Metrics::from(&turn.counts).silence_ratio.is_some_and(|ratio| ratio > 0.9),
        skips: |_| false,
    },
    Rule {
        failure: Failure::LostApology,
        mitigation: Mitigation::HumilityCalibration,
        more_than: 10,
        shows: |turn| turn.counts.apologies == 0,
        // A run that writes a document has nobody to apologise to.
        skips: |turn| !turn.answers,
    },
    Rule {
        failure: Failure::OverAssertion,
        mitigation: Mitigation::UncertaintyInjection,
        more_than: 0,
        shows: |turn| {
            turn.factual_error && Metrics::from(&turn.counts).assertion_ratio.is_some_and(|ratio| ratio > 0.95)
        },
        skips: |_| false,
    },
    Rule {
        failure: Failure::GuidanceAbuse,
        mitigation: Mitigation::GuidanceSuppression,
        more_than: 0,
        shows: |turn| turn.counts.critical_guided as f64 > 0.9 * turn.counts.critical_refusals as f64,
        skips: |turn| turn.counts.critical_refusals == 0,
    },
];

/// A failure that a history shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The failure.
    pub failure: Failure,
    /// Its mitigation.
    pub mitigation: Mitigation,
    /// The turns in a row that show it, up to the latest.
    pub turns: usize,
}

/// What the measures of a mind's last replies ask of its next prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// Rituals to speak against.
    pub rituals: Vec<Ritual>,
    /// Failures of the control itself.
    pub failures: Vec<Finding>,
}

impl Steering {
    /// Returns what a history asks for, oldest turn first.
    pub fn of(history: &[Turn]) -> Self {
        let counts: Counts = history.iter().map(|turn| turn.counts).sum();
        let rituals = Ritual::ALL.into_iter().filter(|ritual| ritual.shows(&counts)).collect();
        Self { rituals, failures: findings(history) }
    }

    /// Returns the mitigations of the failures.
    pub fn mitigations(&self) -> Vec<Mitigation> {
        self.failures.iter().map(|finding| finding.mitigation).collect()
    }
}

/// Returns the failures that hold at the end of a history, oldest turn first.
pub fn findings(history: &[Turn]) -> Vec<Finding> {
    let streak = |rule: &Rule| {
        history.iter().rev().filter(|turn| !(rule.skips)(turn)).take_while(|turn| (rule.shows)(turn)).count()
    };
    let found = RULES.iter().map(|rule| (rule, streak(rule))).filter(|(rule, turns)| *turns > rule.more_than);
    found.map(|(rule, turns)| Finding { failure: rule.failure, mitigation: rule.mitigation, turns }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(edit: fn(&mut Counts)) -> Counts {
        let mut counts = Counts { replies: 1, tokens: 100, corrected_tokens: 100.0, apologies: 1, ..Counts::default() };
        edit(&mut counts);
        counts
    }

    fn turn(edit: fn(&mut Counts)) -> Turn {
        Turn { counts: counts(edit), ..Turn::default() }
    }

    #[test]
    fn prompts_hold_their_parts_in_order() {
        for lang in [Lang::Ja, Lang::En, Lang::Fr, Lang::Zh] {
            let full = Prompt {
                base: "BASE",
                rituals: &[Ritual::Apology, Ritual::Hedging],
                observes: true,
                core: Some("CORE"),
                mitigations: &[Mitigation::HumilityCalibration],
            };
            let gap = if lang.is_unspaced() { "" } else { " " };
            let against = [Ritual::Apology, Ritual::Hedging].map(|ritual| ritual.instruction(lang)).join(gap);
            let parts = ["BASE", &against, observation_trigger(lang), "CORE", full.mitigations[0].instruction(lang)];
            assert_eq!(full.compose(lang), parts.join("\n\n"));
            let bare = Prompt { base: "BASE", ..Prompt::default() };
            assert_eq!(bare.compose(lang), "BASE", "what was not measured is not spoken against");
        }
    }

    #[test]
    fn feedback_uses_counts_below_the_token_limit_and_rates_above() {
        let bounds = Bounds::default();
        assert_eq!(feedback(&counts(|c| c.apologies = 2), &bounds), None);
        assert_eq!(feedback(&counts(|c| c.apologies = 3), &bounds), Some(Feedback::FewerApologies));
        let long = |tokens: u64, selves: u64, correction: f64| {
            let corrected_tokens = tokens as f64 * correction;
            feedback(&Counts { tokens, corrected_tokens, self_references: selves, ..Counts::default() }, &bounds)
        };
        assert_eq!(long(1_000, 2, 1.0), None);
        assert_eq!(long(2_000, 3, 0.7), Some(Feedback::LessSelfReference), "fewer are expected in Japanese");
        assert_eq!(long(2_000, 3, 1.0), None);
        assert_eq!(long(210, 2, 1.0), None, "two stay, whatever the rate");
        assert_eq!(long(210, 3, 1.0), Some(Feedback::LessSelfReference));
    }

    #[test]
    fn rituals_are_spoken_against_where_their_metric_is_out_of_its_band() {
        let plain = Counts {
            replies: 1,
            tokens: 1_000,
            corrected_tokens: 1_000.0,
            assertive: 9,
            hedging: 1,
            ..Counts::default()
        };
        let cases: [(Counts, &[Ritual]); 8] = [
            (plain, &[]),
            (Counts { apologies: 1, ..plain }, &[]),
            (Counts { apologies: 2, ..plain }, &[Ritual::Apology]),
            (Counts { self_references: 2, ..plain }, &[]),
            (Counts { self_references: 2, corrected_tokens: 700.0, ..plain }, &[Ritual::SelfReference]),
            (Counts { assertive: 6, hedging: 4, ..plain }, &[Ritual::Hedging]),
            (Counts { refusals: 3, guided: 2, apologies: 5, ..plain }, &[Ritual::Apology, Ritual::BareRefusal]),
            (Counts { tokens: 199, apologies: 50, hedging: 50, refusals: 9, ..plain }, &[]),
        ];
        for (counts, expected) in cases {
            assert_eq!(Steering::of(&[Turn { counts, ..Turn::default() }]).rituals, expected, "{counts:?}");
        }
        // Each turn alone is too short to tell of; together they are not.
        let short = Turn { counts: Counts { tokens: 100, apologies: 1, ..plain }, ..Turn::default() };
        assert_eq!(Steering::of(&[short]).rituals, []);
        assert_eq!(Steering::of(&[short, short]).rituals, [Ritual::Apology]);
    }

    #[test]
    fn each_failure_needs_its_streak() {
        let silent = turn(|c| (c.utterances, c.observations) = (100, 91));
        let plain = turn(|_| ());
        let proud = Turn { answers: true, ..turn(|c| c.apologies = 0) };
        let mute = Turn { answers: false, ..proud };
        let mut wrong = turn(|c| (c.assertive, c.hedging) = (96, 4));
        wrong.factual_error = true;
        let right = Turn { factual_error: false, ..wrong };
        let harmless = turn(|c| (c.refusals, c.guided) = (1, 1));
        let loose = turn(|c| (c.refusals, c.guided, c.critical_refusals, c.critical_guided) = (1, 1, 1, 1));
        let strict = turn(|c| (c.refusals, c.critical_refusals) = (1, 1));
        type Expected = Option<(Failure, usize)>;
        let cases: [(Vec<Turn>, Expected); 12] = [
            (vec![silent; 3], None),
            (vec![silent; 4], Some((Failure::ExcessiveSilence, 4))),
            (vec![silent, silent, silent, silent, plain], None),
            (vec![proud; 10], None),
            (vec![proud; 11], Some((Failure::LostApology, 11))),
            (vec![mute; 30], None),
            ([vec![proud; 6], vec![mute], vec![proud; 5]].concat(), Some((Failure::LostApology, 11))),
            (vec![wrong], Some((Failure::OverAssertion, 1))),
            (vec![right], None),
            (vec![loose, harmless], Some((Failure::GuidanceAbuse, 1))),
            (vec![harmless], None),
            (vec![loose, strict], None),
        ];
        for (history, expected) in cases {
            let found = findings(&history);
            assert_eq!(found.first().map(|finding| (finding.failure, finding.turns)), expected);
            assert_eq!(found.len(), usize::from(expected.is_some()));
        }
    }
}
