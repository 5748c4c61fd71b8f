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

    /// True for a label that has a colon and nothing after it, as nobody would write it on purpose.
    pub fn is_cut_off(&self) -> bool {
        self.0.ends_with(':')
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

/// `[origins]`: how far what comes from outside is trusted, by its class, and how much of it there may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Origins {
    /// What a person imports.
    pub import: Level,
    /// What programs remember through the Model Context Protocol.
    pub mcp: Level,
    /// What comes in over HTTP.
    pub http: Level,
    /// What other clones bring.
    pub clone: Level,
    /// What webhooks bring.
    pub webhook: Level,
    /// Every class that is not known.
    pub other: Level,
    /// Most stimuli of one origin that is not trusted which are perceived in a day; the rest waits. 0: no bound.
    pub influence: u32,
    /// What the score of a memory that is not trusted counts in `recall` beside that of a trusted one, 0 to 1000 thousandths.
    pub weight: u32,
    /// Most places in a hundred that memories of one origin that is not trusted may have in an answer of `recall`, 0 to 100.
    pub share: u32,
}

impl Default for Origins {
    fn default() -> Self {
        Self {
            import: Level::Trusted,
            mcp: Level::Tainted,
            http: Level::Tainted,
            clone: Level::Tainted,
            webhook: Level::Tainted,
            other: Level::Review,
            influence: 200,
            weight: 500,
            share: 30,
        }
    }
}

impl Origins {
    /// How far an origin is trusted.
    pub fn level(&self, origin: &Origin) -> Level {
        match origin.class() {
            "bootstrap" | "local" | "approved" => Level::Trusted,
            "import" => self.import,
            "mcp" => self.mcp,
            "http" => self.http,
            "clone" => self.clone,
            "webhook" => self.webhook,
            _ => self.other,
        }
    }

    /// True if what has this origin needs approval before it may enter consolidated memory.
    pub fn is_tainted(&self, origin: &Origin) -> bool {
        self.level(origin) != Level::Trusted
    }

    /// The less trusting of two in everything: what a file that nobody here has accepted may ask for beside what a person here did.
    pub fn stricter(&self, other: &Self) -> Self {
        let bound = |a: u32, b: u32| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        Self {
            import: self.import.max(other.import),
            mcp: self.mcp.max(other.mcp),
            http: self.http.max(other.http),
            clone: self.clone.max(other.clone),
            webhook: self.webhook.max(other.webhook),
            other: self.other.max(other.other),
            influence: bound(self.influence, other.influence),
            weight: self.weight.min(other.weight),
            share: self.share.min(other.share),
        }
    }

    /// Checks the numbers.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.weight > 1000 || self.share > 100 {
            return Err("origins.weight is at most 1000, origins.share at most 100".to_owned());
        }
        Ok(())
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

    #[test]
    fn only_outsiders_are_tainted() {
        let origins = Origins::default();
        let level = |text: &str| origins.level(&Origin::parse(text).unwrap());
        for (text, expected) in [
            ("local", Level::Trusted),
            ("import", Level::Trusted),
            ("approved:mcp:x", Level::Trusted),
            ("bootstrap", Level::Trusted),
            ("mcp:x", Level::Tainted),
            ("webhook", Level::Tainted),
            ("unheard-of", Level::Review),
            ("localhost", Level::Review),
        ] {
            assert_eq!(level(text), expected, "{text}");
        }
        let lax =
            Origins { other: Level::Trusted, webhook: Level::Refused, influence: 0, share: 90, ..Origins::default() };
        let both = lax.stricter(&origins);
        assert_eq!((both.other, both.webhook), (Level::Review, Level::Refused));
        assert_eq!((both.influence, both.share), (200, 30));
        let strict = Origins { import: Level::Refused, mcp: Level::Trusted, ..Origins::default() };
        assert!(strict.is_tainted(&origin("import")) && !strict.is_tainted(&origin("mcp:a")));
    }
}
