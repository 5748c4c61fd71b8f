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

/// The class of what a person has approved.
const APPROVED: &str = "approved";

/// How far what comes from a class of origins is trusted, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As what people on this machine say.
    Trusted,
    /// It lands in wake at once, where recall sees it, and enters consolidated memory only once a person approves.
    Tainted,
    /// Its runs stay on their branches until a person merges them.
    Review,
    /// It is not taken in.
    Refused,
}

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
        CLASSES.iter().position(|c| *c == self.class()).unwrap_or(CLASSES.len())
    }

    /// The class: what stands before the first colon.
    pub fn class(&self) -> &str {
        self.0.split(':').next().unwrap_or("")
    }

    /// True if this is the wanted origin, or one of the wanted class where that is all that is wanted.
    pub fn is_of(&self, wanted: &Origin) -> bool {
        self == wanted || (wanted.class() == wanted.as_str() && self.class() == wanted.class())
    }

    /// The origin of what a person has looked at and approved; it says where that came from.
    pub fn approved(&self) -> Self {
        if self.class() == APPROVED {
            return self.clone();
        }
        let label: String = format!("{APPROVED}:{}", self.0).chars().take(limits::LABEL_BYTES).collect();
        Self(label)
    }

    /// True if a person has approved it.
    pub fn is_approved(&self) -> bool {
        self.class() == APPROVED
    }

    /// True if input may be said to come from there: nobody feeds as the bootstrap, or as what a person has approved.
    pub fn may_be_claimed(&self) -> bool {
        !matches!(self.class(), "bootstrap" | APPROVED)
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
    fn labels_have_a_class_and_a_grammar() {
        assert_eq!((origin("mcp:editor:1").class(), origin("local").class()), ("mcp", "local"));
        for (text, wanted, is) in [
            ("mcp:editor", "mcp:editor", true),
            ("mcp:editor", "mcp", true),
            ("mcp:editor", "mcp:edit", false),
            ("mcp", "mcp:editor", false),
            ("mcpx:editor", "mcp", false),
        ] {
            assert_eq!(origin(text).is_of(&origin(wanted)), is, "{text} {wanted}");
        }
        for bad in ["", "Local", "a b", "1a", "a\n"] {
            assert!(Origin::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_approved_says_where_it_came_from_and_cannot_be_claimed() {
        let approved = origin("mcp:editor").approved();
        assert_eq!((approved.as_str(), approved.approved()), ("approved:mcp:editor", approved.clone()));
        assert!(approved.is_approved() && !approved.may_be_claimed() && !Origin::bootstrap().may_be_claimed());
        let long = origin(&"x".repeat(limits::LABEL_BYTES)).approved();
        assert_eq!(Origin::parse(long.as_str()), Ok(long));
        assert!(Level::Trusted < Level::Tainted && Level::Review < Level::Refused);
    }
}
