//! What was learnt, as files hold it: seeds of wisdom, and the record of the run that entered or forgot some.
//!
//! How often outcomes support or contradict a seed is stored nowhere: it follows from the ledger (`wisdom::standing`).

use serde::{Deserialize, Serialize};

use super::Stamp;
use super::ids::{HUMAN, RunId, hash_fields, plain_words};
use super::neuron::check_concept;
use crate::limits;

/// Whether an action is worth doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Polarity {
    /// It went well.
    Do,
    /// It went badly.
    Avoid,
}

impl Polarity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Do => "do",
            Self::Avoid => "avoid",
        }
    }

    /// The effect of an action of which nobody said more.
    pub fn plain_effect(self) -> &'static str {
        match self {
            Self::Do => "it went well",
            Self::Avoid => "it went badly",
        }
    }

    /// The effect of an action that nobody tried yet, as far as is known.
    pub fn expected_effect(self) -> &'static str {
        match self {
            Self::Do => "it goes well",
            Self::Avoid => "it goes badly",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Do => Self::Avoid,
            Self::Avoid => Self::Do,
        }
    }
}

/// What an heir knows of a seed that another brain learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inherited {
    /// The public key of the teacher, 64 hexadecimal digits.
    pub key: String,
    /// The teacher's confidence, 0..=1.
    pub confidence: f64,
    /// The teacher's causal strength, 0..=1.
    pub causal: f64,
    /// Runs of the teacher, without the names of their agents.
    pub sources: Vec<String>,
}

/// A teaching: in such a case, such an action has such an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// The case, in words.
    pub condition: String,
    /// The action, in words.
    pub action: String,
    /// The effect, in words.
    pub effect: String,
    /// Whether to do it.
    pub polarity: Polarity,
    /// Runs that it rests on, oldest first; none: the word of a person, or of another brain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<RunId>,
    /// Where it was inherited from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited: Option<Inherited>,
}

impl Seed {
    /// Its id: of the plain words of case and action, and of polarity, so that two clones that learn the same have one seed, and capitals and
    /// punctuation make no other one.
    pub fn id(&self) -> String {
        let (condition, action) = (plain_words(&self.condition), plain_words(&self.action));
        let fields = [condition.as_bytes(), action.as_bytes(), self.polarity.as_str().as_bytes()];
        format!("w-{:016x}", hash_fields(&fields))
    }

    /// What is wrong with it: the field, and why.
    ///
    /// # Errors
    /// A text that is empty or too long, too many sources, a figure out of range, a key that is none.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        for (field, text) in [("condition", &self.condition), ("action", &self.action), ("effect", &self.effect)] {
            check_concept(text).map_err(|why| (field, why))?;
            if text.len() > limits::SEED_TEXT_BYTES {
                return Err((field, format!("is longer than {} bytes", limits::SEED_TEXT_BYTES)));
            }
        }
        let sources = self.sources.len().max(self.inherited.as_ref().map_or(0, |from| from.sources.len()));
        if sources > limits::SEED_SOURCES {
            return Err(("sources", format!("has {sources} runs, the limit is {}", limits::SEED_SOURCES)));
        }
        let Some(from) = &self.inherited else { return Ok(()) };
        if from.sources.iter().any(|source| !is_nameless_run(source)) {
            return Err(("inherited.sources", "has a text that is no run without the name of its agent".to_owned()));
        }
        if !is_key(&from.key) {
            return Err(("inherited.key", "is not 64 lower-case hexadecimal digits".to_owned()));
        }
        for (field, x) in [("inherited.confidence", from.confidence), ("inherited.causal", from.causal)] {
            if !(0.0..=1.0).contains(&x) {
                return Err((field, format!("{x} is not between 0 and 1")));
            }
        }
        Ok(())
    }
}

/// Whether a text is a public key as seeds name it.
pub fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Bytes of a run's id without the name of its agent, which may be that of a person.
pub const NAMELESS: usize = 28;

/// Whether a text is a run's id without the name of its agent, of a day and an hour that there are.
pub fn is_nameless_run(text: &str) -> bool {
    text.len() == NAMELESS && RunId::parse(&format!("{text}-{HUMAN}")).is_ok_and(|run| run.has_a_time())
}

/// Whether a text is the id of a seed.
pub fn is_seed_id(text: &str) -> bool {
    text.strip_prefix("w-")
        .is_some_and(|hex| hex.len() == 16 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

/// What one run taught and forgot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Teaching {
    /// Seeds that it enters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<Seed>,
    /// Ids of seeds that are shown to nobody any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<String>,
}

impl Teaching {
    /// What is wrong with it: the field, and why.
    ///
    /// # Errors
    /// Nothing in it, too much in it, or what [`Seed::check`] says.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let count = self.seeds.len() + self.forget.len();
        if count == 0 || count > limits::TAUGHT_SEEDS {
            return Err(("seeds", format!("are {count} with those to forget, not 1 to {}", limits::TAUGHT_SEEDS)));
        }
        if let Some(id) = self.forget.iter().find(|id| !is_seed_id(id)) {
            return Err(("forget", format!("{id:?} is no id of a seed")));
        }
        self.seeds.iter().try_for_each(Seed::check)
    }
}

/// A record of wisdom, `network/wisdom/…/<run>.json`: written once, by the run that entered it. What is known follows from all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WisdomRecord {
    /// The run, also the file's name.
    pub run: RunId,
    /// The run's clock.
    pub at: Stamp,
    /// What it taught and forgot.
    pub teaching: Teaching,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_hang_on_capitals_accents_or_punctuation() {
        let id = |condition: &str, action: &str, polarity| {
            let [condition, action, effect] = [condition, action, "well"].map(str::to_owned);
            Seed { condition, action, effect, polarity, sources: Vec::new(), inherited: None }.id()
        };
        let plain = id("when the north pump fails", "call henrik", Polarity::Do);
        for (case, action) in [
            ("When the North pump fails?", "Call Henrik!"),
            ("when the north\u{a0} pump, fails…", "call\u{200b} henrik."),
            ("when the nörth pump fails", "call «henrik»"),
        ] {
            assert_eq!(id(case, action, Polarity::Do), plain, "{case}");
        }
        assert_ne!(id("when the south pump fails", "call henrik", Polarity::Do), plain);
        assert_ne!(id("when the north pump fails", "call henrik", Polarity::Avoid), plain);
        assert_ne!(id("x", "か", Polarity::Do), id("x", "が", Polarity::Do), "another letter is another word");
        assert_ne!(id("x > 3", "?", Polarity::Do), id("x < 3", "?", Polarity::Do));
    }
}
