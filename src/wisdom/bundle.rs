//! A bundle: seeds of one brain for another, signed, good for some time, and without personal facts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::personal;
use super::standing::{SeedStanding, State};
use crate::council::digest::canonical;
use crate::limits;
use crate::model::wisdom::{Inherited, NAMELESS, Polarity, Seed, is_key};
use crate::model::{Stamp, json};

/// The only format of bundles that is known; also what is signed begins with it.
pub const FORMAT: &str = "git-brain wisdom 1";

/// A seed in a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BundledSeed {
    /// The case, in words.
    pub condition: String,
    /// The action, in words.
    pub action: String,
    /// The effect, in words.
    pub effect: String,
    /// Whether to do it.
    pub polarity: Polarity,
    /// Outcomes for it.
    pub support: usize,
    /// Outcomes against it.
    pub contradict: usize,
    /// The teacher's confidence.
    pub confidence: f64,
    /// The teacher's causal strength.
    pub causal: f64,
    /// Runs that it rests on, without the names of their agents: the teacher can say which.
    pub sources: Vec<String>,
}

/// Seeds of one brain for another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// `git-brain wisdom 1`.
    pub format: String,
    /// The teacher's public key, 64 hexadecimal digits.
    pub key: String,
    /// When it was made.
    pub made: Stamp,
    /// Until when it is good.
    pub expires: Stamp,
    /// The seeds.
    pub seeds: Vec<BundledSeed>,
    /// The teacher's ed25519 signature over all of that.
    pub signature: String,
}

/// A reason to refuse a bundle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BundleFault {
    /// It is no bundle, or one of another version.
    #[error("it is no bundle of the format {FORMAT:?}: {0}")]
    Format(String),
    /// A key that was not named.
    #[error("it is signed by the key {0}, which is not the one that was named")]
    Key(String),
    /// A signature that is not the key's over this.
    #[error("its signature is not that of its key: it was changed, or forged")]
    Signature,
    /// It is no longer good.
    #[error("it was good until {0}")]
    Expired(Stamp),
    /// It was made later than now.
    #[error("it was made at {0}, which is ahead of the clock here")]
    Ahead(Stamp),
    /// Seeds that break a rule.
    #[error("seed {number}: {message}")]
    Seed {
        /// Its place, from 1.
        number: usize,
        /// What is wrong.
        message: String,
    },
}

impl Bundle {
    /// A bundle without a signature, of the best active seeds that hold no personal fact; and those that do, each with what was found.
    pub fn of(
        standings: &[SeedStanding],
        key: &str,
        made: Stamp,
        expires: Stamp,
    ) -> (Self, Vec<(String, &'static str)>) {
        let mut active: Vec<&SeedStanding> = standings.iter().filter(|s| s.state == State::Active).collect();
        let worth = |s: &SeedStanding| 0.3 * s.causal + 0.2 * s.confidence;
        active.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.id.cmp(&b.id)));
        let (mut seeds, mut left_out) = (Vec::new(), Vec::new());
        for standing in active {
            let seed = &standing.seed;
            let found = [&seed.condition, &seed.action].into_iter().find_map(|text| personal::first(text));
            match found {
                Some(kind) => left_out.push((standing.id.clone(), kind)),
                None if seeds.len() < limits::BUNDLE_SEEDS => seeds.push(BundledSeed {
                    condition: seed.condition.clone(),
                    action: seed.action.clone(),
                    // Reasons are where people are spoken of, and an heir judges by its own outcomes.
                    effect: match standing.support {
                        0 => seed.polarity.expected_effect(),
                        _ => seed.polarity.plain_effect(),
                    }
                    .to_owned(),
                    polarity: seed.polarity,
                    support: standing.support,
                    contradict: standing.contradict,
                    confidence: standing.confidence,
                    causal: standing.causal,
                    // The end of a run's id names its agent, and agents may be called after people.
                    sources: seed.sources.iter().map(|run| run.as_str()[..NAMELESS].to_owned()).collect(),
                }),
                None => {}
            }
        }
        let (format, key) = (FORMAT.to_owned(), key.to_owned());
        (Self { format, key, made, expires, seeds, signature: String::new() }, left_out)
    }

    /// The bytes that are signed: all but the signature.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let unsigned = Self { signature: String::new(), ..self.clone() };
        canonical(FORMAT, &[json::inline(&unsigned).as_bytes()])
    }

    /// Reads a bundle that must be signed by `key` and good now.
    ///
    /// # Errors
    /// The first reason to refuse it. Nothing of a bundle that is refused is taken over.
    pub fn read(
        bytes: &[u8],
        key: &str,
        now: Stamp,
        is_signed: &dyn Fn(&str, &[u8], &str) -> bool,
    ) -> Result<Self, BundleFault> {
        let bundle: Self = json::strict(bytes, "the bundle", limits::BUNDLE_BYTES)
            .map_err(|error| BundleFault::Format(error.to_string()))?;
        if bundle.format != FORMAT {
            return Err(BundleFault::Format(format!("it says {:?}", bundle.format)));
        }
        if !is_key(&bundle.key) || bundle.key != key {
            return Err(BundleFault::Key(bundle.key));
        }
        if !is_signed(key, &bundle.signed_bytes(), &bundle.signature) {
            return Err(BundleFault::Signature);
        }
        if bundle.expires < now {
            return Err(BundleFault::Expired(bundle.expires));
        }
        if bundle.made > now {
            return Err(BundleFault::Ahead(bundle.made));
        }
        if bundle.seeds.is_empty() || bundle.seeds.len() > limits::BUNDLE_SEEDS {
            let message = format!("it holds {} seeds, not 1 to {}", bundle.seeds.len(), limits::BUNDLE_SEEDS);
            return Err(BundleFault::Format(message));
        }
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (at, (seed, bundled)) in bundle.heirs().iter().zip(&bundle.seeds).enumerate() {
            let fault = |message| BundleFault::Seed { number: at + 1, message };
            seed.check().map_err(|(field, why)| fault(format!("{field} {why}")))?;
            if let Some(first) = known.insert(seed.id(), at + 1) {
                return Err(fault(format!("says the same as seed {first}")));
            }
            for text in [&bundled.condition, &bundled.action, &bundled.effect] {
                if let Some(kind) = personal::first(text) {
                    return Err(fault(format!("holds a personal fact ({kind})")));
                }
            }
        }
        Ok(bundle)
    }

    /// The seeds as the heir keeps them. Halving is in the formula of confidence: the teacher's stands in for the first support.
    pub fn heirs(&self) -> Vec<Seed> {
        let heir = |seed: &BundledSeed| Seed {
            condition: seed.condition.clone(),
            action: seed.action.clone(),
            effect: seed.effect.clone(),
            polarity: seed.polarity,
            sources: Vec::new(),
            inherited: Some(Inherited {
                key: self.key.clone(),
                confidence: seed.confidence,
                causal: seed.causal,
                sources: seed.sources.clone(),
            }),
        };
        self.seeds.iter().map(heir).collect()
    }
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
