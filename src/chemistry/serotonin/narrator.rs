//! A narrator that is not the template: what it is given, what it may answer, and the chapter that comes of it.
//!
//! It may tell what it likes. Its figures are kept as told; the measured ones and the gap are the engine's.

use serde::{Deserialize, Serialize};

use super::chapter::check_story;
use super::{Chapter, Claim, Slice, Told, gap, millionth};
use crate::delta::LedgerEntry;
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::{AgentName, RunId};
use crate::model::json::{self, JsonError};

/// What a narrator reads on its standard input.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Brief {
    /// The clock of the telling.
    pub at: Stamp,
    /// What the brain set out to do: its open terminal goals.
    pub goals: Vec<String>,
    /// The chapter before.
    pub previous: Option<Previous>,
    /// The entries of the ledger that the chapter covers, oldest first; the newest, if they are too many.
    pub entries: Vec<LedgerEntry>,
    /// How many older ones are not shown.
    pub entries_not_shown: usize,
    /// What the template makes of them.
    pub figures: Figures,
    /// The story as the template tells it.
    pub template: String,
}

/// The chapter before, as a narrator sees it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Previous {
    /// When it was told.
    pub at: Stamp,
    /// The mood that was told.
    pub mood: f64,
    /// The confidence that was told.
    pub confidence: f64,
    /// The story.
    pub text: String,
}

/// The template's figures.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Figures {
    /// The moving average of prediction errors.
    pub mood: f64,
    /// The confidence that the ledger supports.
    pub calibrated: f64,
    /// `serotonin.bias`.
    pub bias: f64,
    /// `calibrated + bias`.
    pub confidence: f64,
}

/// What a narrator answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Narration {
    /// The story.
    pub text: String,
    /// What it says came of which run. A story without claims has no anchor.
    pub claims: Vec<Claim>,
    /// The confidence that it tells; the template's if it tells none.
    pub confidence: Option<f64>,
    /// The mood that it tells; the template's if it tells none.
    pub mood: Option<f64>,
}

/// The answer as it is written: runs are any texts, because a narrator may invent them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    text: String,
    #[serde(default)]
    claims: Vec<AnswerClaim>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    mood: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerClaim {
    #[serde(default)]
    judged: Option<String>,
    value: f64,
}

impl Brief {
    /// What the narrator of `template`'s chapter is given.
    pub fn of(slice: &Slice<'_>, template: &Chapter) -> Self {
        let hidden = slice.entries.len().saturating_sub(limits::NARRATOR_ENTRIES);
        Self {
            at: slice.at,
            goals: slice.goals.to_vec(),
            previous: slice.previous.map(|previous| Previous {
                at: previous.at,
                mood: previous.mood,
                confidence: previous.confidence,
                text: previous.text.clone(),
            }),
            entries: slice.entries[hidden..].to_vec(),
            entries_not_shown: hidden,
            figures: Figures {
                mood: template.mood,
                calibrated: template.calibrated,
                bias: template.bias,
                confidence: template.confidence,
            },
            template: template.text.clone(),
        }
    }
}

impl Brief {
    /// Leaves out the oldest entry. False if there is none.
    pub fn shorten(&mut self) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.entries.remove(0);
        self.entries_not_shown += 1;
        true
    }
}

impl Narration {
    /// JSON Schema of an answer to a brief: all fields there, and claims only of what the brief shows.
    #[must_use]
    pub fn schema(brief: &Brief) -> serde_json::Value {
        let judged: Vec<&str> = brief.entries.iter().map(|entry| entry.judged.as_str()).collect();
        let number = |least: i32| serde_json::json!({"type": "number", "minimum": least, "maximum": 1});
        let run = match judged.is_empty() {
            true => serde_json::json!({"type": "string"}),
            false => serde_json::json!({"type": "string", "enum": judged}),
        };
        let claim = serde_json::json!({
            "type": "object", "properties": {"judged": run, "value": number(0)}, "required": ["judged", "value"],
            "additionalProperties": false,
        });
        serde_json::json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": limits::CHAPTER_TEXT_BYTES / 4},
                "claims": {"type": "array", "items": claim, "maxItems": brief.entries.len().min(limits::CHAPTER_CLAIMS)},
                "confidence": number(0), "mood": number(-1),
            },
            "required": ["text", "claims", "confidence", "mood"],
            "additionalProperties": false,
        })
    }

    /// Reads an answer. A claim of what is no run id stays, and names nothing.
    pub fn parse(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let fail = |path: &str, message: &str| JsonError::at(what, 1, path, message);
        let answer: Answer = json::strict(bytes, what, limits::NARRATION_BYTES)?;
        check_story(&answer.text, answer.claims.len()).map_err(|(path, message)| fail(path, &message))?;
        let within = |x: f64, least: f64| (least..=1.0).contains(&x);
        if !answer.claims.iter().all(|claim| within(claim.value, 0.0)) {
            return Err(fail("claims", "has a value that is not between 0 and 1"));
        }
        if !answer.confidence.is_none_or(|x| within(x, 0.0)) {
            return Err(fail("confidence", "is not between 0 and 1"));
        }
        if !answer.mood.is_none_or(|x| within(x, -1.0)) {
            return Err(fail("mood", "is not between -1 and 1"));
        }
        let claim = |claim: AnswerClaim| Claim {
            judged: claim.judged.and_then(|text| RunId::parse(&text).ok()),
            value: millionth(claim.value),
        };
        Ok(Self {
            text: answer.text,
            claims: answer.claims.into_iter().map(claim).collect(),
            confidence: answer.confidence.map(millionth),
            mood: answer.mood.map(millionth),
        })
    }
}

/// The template's chapter, told by somebody else.
pub fn narrated(template: Chapter, by: &AgentName, narration: Narration, entries: &[LedgerEntry]) -> Chapter {
    let Narration { text, claims, confidence, mood } = narration;
    let (mood, confidence) = (mood.unwrap_or(template.mood), confidence.unwrap_or(template.confidence));
    let gap = gap(Told { mood, confidence, claims: &claims }, entries, template.feeling());
    Chapter { narrator: by.clone(), mood, confidence, gap, text, claims, ..template }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{entry, judged, slice};
    use super::super::told;
    use super::*;
    use crate::model::settings::Serotonin;

    fn tell(answer: &str) -> Result<Chapter, JsonError> {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9)];
        let template = told(&slice(&entries), &Serotonin::default());
        let narration = Narration::parse(answer.as_bytes(), "the answer")?;
        Ok(narrated(template, &AgentName::parse("narrator").unwrap(), narration, &entries))
    }

    #[test]
    fn told_figures_are_kept_and_measured_ones_stay() {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9)];
        let template = told(&slice(&entries), &Serotonin::default());
        let lying = tell(r#"{"text": "I won.", "claims": [{"judged": "x", "value": 1}], "confidence": 1, "mood": 1}"#);
        let lying = lying.unwrap();
        assert_eq!((lying.mood, lying.confidence, lying.text.as_str()), (1.0, 1.0, "I won."));
        assert_eq!(lying.feeling(), template.feeling());
        assert_eq!(lying.claims, [Claim { judged: None, value: 1.0 }]);
        assert!(lying.gap.total == 1.0 && lying.gap.unanchored == 1.0 && lying.gap.left_out == 1.0);
        Chapter::decode(&lying.encode(), "c").unwrap();

        let claims = format!(r#"[{{"judged": "{}", "value": 0.4}}]"#, judged(1));
        let honest = tell(&format!(r#"{{"text": "It was hard.", "claims": {claims}}}"#)).unwrap();
        assert_eq!((honest.mood, honest.confidence), (template.mood, template.confidence));
        assert_eq!((honest.gap.told, honest.gap.total), (0.0, 0.05));
        assert_eq!(tell(r#"{"text": "I say nothing that can be held against me."}"#).unwrap().gap.total, 1.0);
    }

    #[test]
    fn an_answer_that_is_none_is_refused_by_field() {
        for (answer, part) in [
            ("", "line 1"),
            ("[]", "no JSON object"),
            (r#"{"claims": []}"#, "text"),
            (r#"{"text": ""}"#, "text"),
            (r#"{"text": "a", "weight": 3}"#, "weight"),
            (r#"{"text": "a", "mood": -2}"#, "mood"),
            (r#"{"text": "a", "confidence": 1.1}"#, "confidence"),
            (r#"{"text": "a", "claims": [{"value": 3}]}"#, "claims"),
        ] {
            let error = tell(answer).unwrap_err().to_string();
            assert!(error.contains(part), "{answer}: {error}");
        }
        assert!(tell(&format!(r#"{{"text": "{}"}}"#, "a".repeat(limits::NARRATION_BYTES))).is_err());
    }

    #[test]
    fn the_brief_shows_the_newest_entries() {
        let many: Vec<LedgerEntry> = (0..limits::NARRATOR_ENTRIES as u32 + 3).map(|n| entry(n, 0.5, 0.5)).collect();
        let slice = slice(&many);
        let brief = Brief::of(&slice, &told(&slice, &Serotonin::default()));
        assert_eq!((brief.entries.len(), brief.entries_not_shown), (limits::NARRATOR_ENTRIES, 3));
        assert_eq!(brief.entries.last(), many.last());
    }
}
