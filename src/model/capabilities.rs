//! What an agent's deltas may do, as its definition says it: data and its reading. `delta::capability` checks deltas by it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Link;
use super::ids::{self, AgentName, NeuronId};
use super::neuron::Kind;
use super::origin::{Level, Origin};

/// Every word that the `op` of an operation can be.
pub const OPERATIONS: [&str; 17] = [
    "create",
    "activate",
    "connect",
    "adjust",
    "disconnect",
    "reinforce",
    "reword",
    "retype",
    "archive",
    "signal",
    "acknowledge",
    "flag",
    "outcome",
    "goal",
    "deliberate",
    "wisdom",
    "seal",
];

/// What an agent's deltas may do. Checked by the engine, whatever the cognition says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Operations it may use, by their `op`; empty: none.
    #[serde(default)]
    pub operations: Vec<String>,
    /// Types of neurons that it may create, change or retype to.
    #[serde(default)]
    pub types: Vec<Kind>,
    /// Neurons that it may create and change; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<Region>>,
    /// Neurons that its connections may point to; absent: as `regions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<Region>>,
    /// Types of connections that it may make and change; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<Link>>,
    /// Largest change of one weight by one delta, in weight units.
    #[serde(default = "default_weight_delta")]
    pub max_weight_delta: u32,
    /// Most operations in one delta.
    #[serde(default = "default_operations")]
    pub max_operations: u32,
    /// Most neurons that one delta may make; absent: as many as it has operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_created: Option<u32>,
    /// Largest strength, 0..=1, by which one delta may activate one neuron, its activations added up; absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_strength: Option<f64>,
    /// Largest strength, 0 or more, by which one delta may activate all neurons together; absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total_strength: Option<f64>,
    /// Agents that it may signal; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals_to: Option<Vec<AgentName>>,
    /// Flags that it may set; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<Vec<AgentName>>,
    /// Sub-goals that it may set, by their ids; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Vec<Region>>,
    /// Agents whose runs it may judge; absent: all. Never its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<Vec<AgentName>>,
    /// Classes of origins from which its runs are merged at once; what comes from others waits for a person. Absent: what the
    /// settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
}

fn default_weight_delta() -> u32 {
    u32::from(u16::MAX)
}

fn default_operations() -> u32 {
    crate::limits::RUN_OPS as u32
}

impl Default for Capabilities {
    /// Nothing is allowed that is not named.
    fn default() -> Self {
        Self {
            operations: Vec::new(),
            types: Vec::new(),
            regions: None,
            targets: None,
            links: None,
            max_weight_delta: default_weight_delta(),
            max_operations: default_operations(),
            max_created: None,
            max_strength: None,
            max_total_strength: None,
            signals_to: None,
            flags: None,
            goals: None,
            judges: None,
            origins: None,
        }
    }
}

impl Capabilities {
    /// Checks the numbers and labels; the error names the field.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let most = default_weight_delta();
        if self.max_weight_delta > most {
            return Err(("max_weight_delta", format!("is {}, the limit is {most}", self.max_weight_delta)));
        }
        for (field, strength, most) in
            [("max_strength", self.max_strength, 1.0), ("max_total_strength", self.max_total_strength, 1e6)]
        {
            if strength.is_some_and(|x| !(0.0..=most).contains(&x)) {
                return Err((field, format!("is not between 0 and {most}")));
            }
        }
        for class in self.origins.iter().flatten() {
            let plain = Origin::parse(class).map_err(|m| ("origins", m))?;
            if plain.class() != class {
                return Err(("origins", format!("{class:?} is not a class such as local or mcp")));
            }
        }
        Ok(())
    }

    /// Whether a run of what came from there is merged at once, as far as the agent's definition has a say.
    pub fn takes(&self, origin: &Origin) -> bool {
        let Some(classes) = &self.origins else { return true };
        origin.classes().all(|from| classes.iter().any(|class| class == from))
    }

    /// How a run of that origin is treated: as the settings say, or as the definition has it if that trusts less.
    pub fn level(&self, origin: &Origin, settings: Level) -> Level {
        if self.takes(origin) { settings } else { settings.max(Level::Review) }
    }
}

/// A set of neurons that can be told from an id and the neuron alone: an id, the beginning of ids and a `*`, or `@own`, what the
/// agent itself has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// That neuron.
    One(String),
    /// All whose ids begin so; empty: all there are.
    Prefix(String),
    /// Neurons whose concept the agent gave, or gives now.
    Own,
}

impl Region {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("{:?} is not an id, the beginning of ids and a *, or @own", clip(text));
        if text == "@own" {
            return Ok(Self::Own);
        }
        let (name, is_prefix) = text.strip_suffix('*').map_or((text, false), |name| (name, true));
        match is_prefix {
            false => NeuronId::parse(name).map(|id| Self::One(id.to_string())).map_err(|_| bad()),
            // Every beginning of an id is one itself, but for the bound of its length and for the device names.
            true if name.len() <= crate::limits::ID_BYTES && name.chars().all(ids::is_id_char) => {
                Ok(Self::Prefix(name.to_owned()))
            }
            true => Err(bad()),
        }
    }

    /// Does it have that id? `own` says whether the agent gave the concept.
    pub fn has(&self, id: &str, own: bool) -> bool {
        match self {
            Self::One(one) => one == id,
            Self::Prefix(prefix) => id.starts_with(prefix.as_str()),
            Self::Own => own,
        }
    }
}

fn clip(text: &str) -> String {
    text.chars().take(64).collect()
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(id) => serializer.serialize_str(id),
            Self::Prefix(prefix) => serializer.serialize_str(&format!("{prefix}*")),
            Self::Own => serializer.serialize_str("@own"),
        }
    }
}

impl<'de> Deserialize<'de> for Region {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Region {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Region".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^(@own|[a-z0-9_-]{0,64}\\*|[a-z0-9][a-z0-9_-]{0,63})$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_ids_beginnings_or_what_is_ones_own() {
        let has = |pattern: &str, id: &str, own| Region::parse(pattern).unwrap().has(id, own);
        assert!(has("tea-*", "tea-1f3c", false) && !has("tea-*", "teapot-1f3c", false));
        assert!(has("tea", "tea", false) && !has("tea", "tea-1f3c", true));
        assert!(has("*", "anything", false));
        assert!(has("@own", "anything", true) && !has("@own", "anything", false));
        for bad in ["", "Tea*", "a*b", "**", "@me", "../x", "a b*", "-a"] {
            assert!(Region::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_definition_of_before_means_what_it_meant() {
        let old: Capabilities = serde_json::from_str(r#"{"operations": ["create"], "types": ["semantic"]}"#).unwrap();
        let same =
            Capabilities { operations: vec!["create".into()], types: vec![Kind::Semantic], ..Capabilities::default() };
        assert_eq!(old, same);
        assert_eq!(old.check(), Ok(()));
        for bad in [r#"{"max_strength": 1.5}"#, r#"{"max_total_strength": -1}"#, r#"{"origins": ["mcp:editor"]}"#] {
            let read: Capabilities = serde_json::from_str(bad).unwrap();
            assert!(read.check().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_agent_can_only_ask_for_more_care() {
        let mcp = Origin::parse("mcp:editor").unwrap();
        let choosy = Capabilities { origins: Some(vec!["local".into()]), ..Capabilities::default() };
        assert_eq!(choosy.level(&mcp, Level::Tainted), Level::Review);
        assert_eq!(choosy.level(&mcp, Level::Refused), Level::Refused);
        assert_eq!(choosy.level(&Origin::local(), Level::Trusted), Level::Trusted);
        assert_eq!(Capabilities::default().level(&mcp, Level::Tainted), Level::Tainted);
    }
}
