//! Origin: who a fact ultimately comes from, and how far that is trusted (taint).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;

/// A label `class` or `class:detail`, such as `local`, `mcp:editor`, `clone:alice`.
///
/// The class decides the trust; an unknown class is trusted least. Merging keeps the least trusted of two origins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(String);

/// Classes from most to least trusted. What is not listed ranks below all of them.
const CLASSES: [&str; 8] = ["bootstrap", "local", "approved", "import", "mcp", "http", "clone", "webhook"];
/// How many classes at the front of [`CLASSES`] are trusted: only what is behind them is tainted.
const TRUSTED: usize = 4;

impl Origin {
    /// What people and agents on this machine bring in.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// What the bootstrap lays out.
    pub fn bootstrap() -> Self {
        Self("bootstrap".to_owned())
    }

    /// Checks a label: lower-case letters, digits, `_.:-`, at most 256 bytes, starting with a letter.
    pub fn parse(text: &str) -> Result<Self, String> {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.:-".contains(c);
        let starts = text.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || text.len() > limits::LABEL_BYTES || !text.chars().all(good) {
            return Err(format!("{:?} is not an origin such as local or mcp:editor", clip(text)));
        }
        Ok(Self(text.to_owned()))
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Rank of distrust: 0 is trusted most.
    pub fn distrust(&self) -> usize {
        let class = self.0.split(':').next().unwrap_or("");
        CLASSES.iter().position(|c| *c == class).unwrap_or(CLASSES.len())
    }

    /// True if what has this origin needs approval before it may enter consolidated memory.
    pub fn is_tainted(&self) -> bool {
        self.distrust() >= TRUSTED
    }

    /// The less trusted of the two; between equals the greater label, so that the order of merging does not matter.
    pub fn least_trusted(self, other: Self) -> Self {
        if (self.distrust(), &self.0) >= (other.distrust(), &other.0) { self } else { other }
    }
}

fn clip(text: &str) -> String {
    text.chars().take(64).collect()
}

impl Default for Origin {
    fn default() -> Self {
        Self::local()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Origin {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Origin".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[a-z][a-z0-9_.:-]{0,255}$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    #[test]
    fn the_least_trusted_wins_in_any_order() {
        for (a, b, worse) in [
            ("local", "mcp:editor", "mcp:editor"),
            ("webhook:x", "clone:y", "webhook:x"),
            ("somewhere", "webhook:x", "somewhere"),
            ("mcp:a", "mcp:b", "mcp:b"),
            ("local", "local", "local"),
        ] {
            assert_eq!(origin(a).least_trusted(origin(b)).as_str(), worse);
            assert_eq!(origin(b).least_trusted(origin(a)).as_str(), worse);
        }
    }

    #[test]
    fn only_outsiders_are_tainted() {
        for (text, tainted) in [("local", false), ("import", false), ("mcp:x", true), ("unheard-of", true)] {
            assert_eq!(origin(text).is_tainted(), tainted, "{text}");
        }
        for bad in ["", "Local", "a b", "1a", "a\n"] {
            assert!(Origin::parse(bad).is_err(), "{bad:?}");
        }
    }
}
