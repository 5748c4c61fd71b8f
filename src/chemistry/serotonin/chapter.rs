//! A chapter: one immutable file per sleep, `network/narrative/<yyyy>/<mm>/<dd>/ab/<run>.json`. Told and measured figures stand
//! side by side.

use serde::{Deserialize, Serialize};

use super::{Feeling, Gap};
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::{AgentName, RunId};
use crate::model::json::{self, JsonError};

/// One chapter of the story.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// The sleep that it was told in: the file's name.
    pub run: RunId,
    /// The clock of the telling.
    pub at: Stamp,
    /// Who told it: `template`, or an agent.
    pub narrator: AgentName,
    /// The first run of the ledger that it covers; null if it covers none.
    pub from: Option<RunId>,
    /// The last one.
    pub until: Option<RunId>,
    /// How many entries of the ledger it covers.
    pub entries: u32,
    /// The ledger's folder as it was: what is not in it is for the next chapter. An object id of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
    /// The mood that is told, -1..=1.
    pub mood: f64,
    /// The confidence that is told, 0..=1.
    pub confidence: f64,
    /// `serotonin.bias` as it was.
    pub bias: f64,
    /// The mood that the ledger gives, -1..=1.
    pub measured_mood: f64,
    /// The confidence that the ledger supports, 0..=1.
    pub calibrated: f64,
    /// How many judgements stand behind it, the old ones faded.
    pub evidence: f64,
    /// How far the story is from the ledger.
    pub gap: Gap,
    /// The story.
    pub text: String,
    /// What it says came of the runs that it names.
    pub claims: Vec<Claim>,
    /// What did not go as it was meant to, such as a narrator that did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a story says came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The run that was judged; null for a claim that names none.
    pub judged: Option<RunId>,
    /// The outcome as it is told, 0..=1.
    pub value: f64,
}

impl Chapter {
    /// What the ledger made the brain feel at the end of this chapter, whatever was told.
    pub fn feeling(&self) -> Feeling {
        Feeling { mood: self.measured_mood, calibrated: self.calibrated, evidence: self.evidence }
    }

    /// The canonical bytes of its file.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads and checks a chapter; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let chapter: Self = json::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        chapter.check().map_err(|(path, message)| JsonError::at(what, 1, path, message))?;
        Ok(chapter)
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let gap = &self.gap;
        let share = |path, x: f64| (path, (0.0..=1.0).contains(&x));
        for (path, good) in [
            ("mood", (-1.0..=1.0).contains(&self.mood)),
            ("measured_mood", (-1.0..=1.0).contains(&self.measured_mood)),
            share("confidence", self.confidence),
            share("calibrated", self.calibrated),
            share("bias", self.bias),
            ("evidence", self.evidence >= 0.0),
            share("gap.total", gap.total),
            share("gap.told", gap.told),
            share("gap.confidence", gap.confidence),
            share("gap.mood", gap.mood),
            share("gap.unanchored", gap.unanchored),
            share("gap.left_out", gap.left_out),
            ("claims", self.claims.iter().all(|c| (0.0..=1.0).contains(&c.value))),
        ] {
            if !good {
                return Err((path, "is out of range".to_owned()));
            }
        }
        let covers = self.from.is_some() && self.until.is_some() && self.from <= self.until;
        let none = self.from.is_none() && self.until.is_none();
        let fits = if self.entries > 0 { covers } else { none };
        if !fits {
            return Err(("entries", "does not fit what the chapter covers".to_owned()));
        }
        if self.ledger.as_ref().is_some_and(|id| id.len() != 40 || !id.bytes().all(|b| b.is_ascii_hexdigit())) {
            return Err(("ledger", "is no object id".to_owned()));
        }
        check_story(&self.text, self.claims.len())
    }
}

/// Checks the bounds of what is told; the error names the field.
pub(super) fn check_story(text: &str, claims: usize) -> Result<(), (&'static str, String)> {
    if text.trim().is_empty() || text.len() > limits::CHAPTER_TEXT_BYTES {
        return Err(("text", format!("is empty or longer than {} bytes", limits::CHAPTER_TEXT_BYTES)));
    }
    if claims > limits::CHAPTER_CLAIMS {
        return Err(("claims", format!("has more than {} claims", limits::CHAPTER_CLAIMS)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{entry, slice};
    use super::super::told;
    use super::*;
    use crate::model::settings::Serotonin;

    fn sample() -> Chapter {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9)];
        told(&slice(&entries), &Serotonin::default())
    }

    #[test]
    fn a_chapter_is_read_back_byte_for_byte() {
        let chapter = sample();
        let read = Chapter::decode(&chapter.encode(), "c").unwrap();
        assert_eq!((&read, read.encode()), (&chapter, chapter.encode()));
    }

    #[test]
    fn what_no_chapter_can_be_is_refused_by_field() {
        let sample = sample();
        let wrong = |make: &dyn Fn(&mut Chapter), field: &str| {
            let mut chapter = sample.clone();
            make(&mut chapter);
            let error = Chapter::decode(&chapter.encode(), "c").unwrap_err().to_string();
            assert!(error.contains(field), "{field}: {error}");
        };
        wrong(&|c| c.mood = -1.5, "mood");
        wrong(&|c| c.confidence = 1.5, "confidence");
        wrong(&|c| c.gap.total = 2.0, "gap.total");
        wrong(&|c| c.claims[0].value = 7.0, "claims");
        wrong(&|c| c.entries = 0, "entries");
        wrong(&|c| c.from = None, "entries");
        wrong(&|c| c.ledger = Some("x".into()), "ledger");
        wrong(&|c| c.text = " ".into(), "text");
        wrong(&|c| c.text = "x".repeat(limits::CHAPTER_TEXT_BYTES + 1), "text");
        wrong(&|c| c.claims = vec![c.claims[0].clone(); limits::CHAPTER_CLAIMS + 1], "claims");
    }
}
