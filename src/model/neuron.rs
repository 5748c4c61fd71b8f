//! Neurons and connections. `form` reads and writes their files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ids::{NeuronId, RunId, StimulusId};
use super::{Origin, Stamp, salience};
use crate::limits;

/// A concept with decaying salience and weighted typed connections: one file of the network. Written out with every field
/// where a program reads it; as its file has it in [`Neuron::encode`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neuron {
    /// The id, also the file's name.
    pub id: NeuronId,
    /// What it stands for, 1 to 4096 bytes; for an episodic neuron, the text.
    pub concept: String,
    /// What kind of neuron it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Salience as stored at `last_salience_update`, 0..=65535. Its value now is [`Neuron::salience_at`].
    pub salience: u16,
    /// When `salience` was stored.
    pub last_salience_update: Stamp,
    /// When the neuron was created.
    pub created_at: Stamp,
    /// When it was last activated; null if never.
    pub last_activated: Option<Stamp>,
    /// How many activations it has had, saturating.
    pub activation_count: u32,
    /// The last run that touched it.
    pub run: Option<RunId>,
    /// Xor of the 64-bit hashes of all runs that changed it, so that equal numbers by different runs differ as files.
    pub version: Version,
    /// Who gave it its concept and its type.
    pub named_by: NamedBy,
    /// Where it ultimately comes from.
    pub origin: Origin,
    /// People only: never pruned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// The run that archived it. In force only while it equals `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<RunId>,
    /// Episodic: the label of the stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Episodic: the session of the stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Episodic: the stimulus that it remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<StimulusId>,
    /// Outgoing connections, sorted by target and type, each pair at most once.
    pub connections: Vec<Connection>,
}

/// A weighted typed edge, stored on its source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The neuron it points to.
    pub target: NeuronId,
    /// Strength, 0..=65535. At 0 it is not followed, and sleep removes it.
    pub weight: u16,
    /// What it does.
    #[serde(rename = "type")]
    pub link: Link,
}

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The word used in files and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    format!("{text:?} is none of {}", words.join(", "))
                })
            }
        }
    };
}

word_enum!(
    /// What kind of neuron it is. Source: MagistraAI's technical note, 1.1, and `signal` from 5.3.
    Kind {
        /// Part of the brain's own structure; never pruned.
        Core = "core",
        /// A circumstance: a session, a speaker, a place.
        Contextual = "contextual",
        /// One remembered input.
        Episodic = "episodic",
        /// A word, phrase or idea.
        Semantic = "semantic",
        /// A message kept as a neuron.
        Signal = "signal",
    }
);

word_enum!(
    /// What a connection does in propagation. Source: MagistraAI's technical note, 1.3. The order is the order in files.
    Link {
        /// A feeds the activation of B.
        FeedsInto = "feeds_into",
        /// A changes the context of B and never activates it.
        Influences = "influences",
        /// A lowers B.
        Inhibits = "inhibits",
        /// B can retrieve A: stored on A, followed from B.
        Recalls = "recalls",
        /// A change of A activates B.
        Triggers = "triggers",
    }
);

/// Xor of the 64-bit hashes of runs; sixteen hex digits in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub u64);

impl Version {
    /// Adds a run's hash, or takes it out again.
    #[must_use]
    pub fn toggled(self, run: &RunId) -> Self {
        Self(self.0 ^ run.hash64())
    }

    /// What two versions differ by.
    #[must_use]
    pub fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let value = u64::from_str_radix(&text, 16).ok().filter(|_| hex);
        value.map(Self).ok_or_else(|| serde::de::Error::custom("a version is sixteen hex digits"))
    }
}

impl schemars::JsonSchema for Version {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Version".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9a-f]{16}$"})
    }
}

/// Who gave a neuron its concept and its type; the merge lets the greater name win.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedBy {
    /// For `concept`.
    #[serde(default)]
    pub concept: Name,
    /// For `type`.
    #[serde(default, rename = "type")]
    pub kind: Name,
}

/// Rank and run of a name. Greater is stronger: first by rank, then by run id.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// The greater of the priority of the agent when its run gave the name, and the rank of the name it replaced.
    #[serde(default)]
    pub rank: u32,
    /// The run that gave it; null if the name came with an import or from a person's hand.
    #[serde(default)]
    pub run: Option<RunId>,
}

impl Neuron {
    /// About how many bytes it takes in memory: several times what its file does.
    pub fn bytes(&self) -> usize {
        const NAME: usize = 48;
        let names = 1 + self.connections.len() + usize::from(self.stimulus.is_some());
        let texts = [Some(&self.concept), self.source.as_ref(), self.session.as_ref()];
        size_of::<Self>()
            + self.connections.len() * size_of::<Connection>()
            + names * NAME
            + texts.into_iter().flatten().map(|text| text.len()).sum::<usize>()
    }

    /// The neuron without its texts and connections: what triggers judge.
    #[must_use]
    pub fn outline(&self) -> Self {
        Self {
            salience: self.salience,
            last_salience_update: self.last_salience_update,
            last_activated: self.last_activated,
            activation_count: self.activation_count,
            run: self.run.clone(),
            pinned: self.pinned,
            archived: self.archived.clone(),
            ..Self::new(self.id.clone(), "", self.kind, self.created_at)
        }
    }

    /// A new neuron with neutral values, created at `at`.
    pub fn new(id: NeuronId, concept: impl Into<String>, kind: Kind, at: Stamp) -> Self {
        Self {
            id,
            concept: concept.into(),
            kind,
            salience: 0,
            last_salience_update: at,
            created_at: at,
            last_activated: None,
            activation_count: 0,
            run: None,
            version: Version::default(),
            named_by: NamedBy::default(),
            origin: Origin::default(),
            pinned: false,
            archived: None,
            source: None,
            session: None,
            stimulus: None,
            connections: Vec::new(),
        }
    }

    /// Salience at `now`, 0..=65535: a pure read.
    pub fn salience_at(&self, now: Stamp) -> u16 {
        salience::salience_at(self.salience, self.last_salience_update, now)
    }

    /// The write rule: decay to the clock, add, saturate, stamp, count. Stamps never run backwards.
    pub fn activate(&mut self, added: u16, clock: Stamp) {
        let now = self.last_salience_update.max(clock);
        self.salience = self.salience_at(now).saturating_add(added);
        self.last_salience_update = now;
        self.last_activated = Some(self.last_activated.map_or(now, |last| last.max(now)));
        self.activation_count = self.activation_count.saturating_add(1);
    }

    /// The connection to `target` of that type, if the file has it.
    pub fn connection(&self, target: &NeuronId, link: Link) -> Option<&Connection> {
        self.position(target, link).ok().map(|i| &self.connections[i])
    }

    /// The weight of a connection; an absent one counts as 0.
    pub fn weight(&self, target: &NeuronId, link: Link) -> u16 {
        self.connection(target, link).map_or(0, |c| c.weight)
    }

    /// Sets a connection's weight, adding the connection in its place if it is absent.
    pub fn set_weight(&mut self, target: &NeuronId, link: Link, weight: u16) {
        match self.position(target, link) {
            Ok(i) => self.connections[i].weight = weight,
            Err(i) => self.connections.insert(i, Connection { target: target.clone(), weight, link }),
        }
    }

    fn position(&self, target: &NeuronId, link: Link) -> Result<usize, usize> {
        self.connections.binary_search_by(|c| (&c.target, c.link).cmp(&(target, link)))
    }

    /// Archived: by the run that touched it last, or by a person. What a person archived stays so until the field is cleared, whoever
    /// touches it later without knowing; what an agent archived, any later touch brings back.
    pub fn is_archived(&self) -> bool {
        self.archived.as_ref().is_some_and(|by| by.is_a_persons() || self.run.as_ref() == Some(by))
    }

    pub(super) fn check_bounds(&self) -> Result<(), (&'static str, String)> {
        check_concept(&self.concept).map_err(|m| ("concept", m))?;
        for (path, label) in [("source", &self.source), ("session", &self.session)] {
            if let Some(label) = label {
                check_label(label).map_err(|m| (path, m))?;
            }
        }
        let pairs = self.connections.windows(2);
        if let Some(pair) = pairs.into_iter().find(|p| (&p[0].target, p[0].link) == (&p[1].target, p[1].link)) {
            let message = format!("two connections {} to {}", pair[0].link, pair[0].target);
            return Err(("connections", message));
        }
        Ok(())
    }
}

/// A concept has 1 to 4096 bytes, is not blank, and has no control characters but tab and newline.
pub fn check_concept(text: &str) -> Result<(), String> {
    check_text(text, limits::CONCEPT_BYTES, &['\n', '\t'])
}

/// A label has 1 to 256 bytes, is not blank, and has no control characters.
pub fn check_label(text: &str) -> Result<(), String> {
    check_text(text, limits::LABEL_BYTES, &[])
}

fn check_text(text: &str, max: usize, allowed: &[char]) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if text.len() > max {
        return Err(format!("has {} bytes, the limit is {max}", text.len()));
    }
    match text.chars().find(|c| c.is_control() && !allowed.contains(c)) {
        Some(c) => Err(format!("has the control character U+{:04X}", c as u32)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Neuron {
        let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let mut n = Neuron::new(NeuronId::parse("tea-1f3c").unwrap(), "tea \"vert\"", Kind::Episodic, at);
        n.activate(45000, at);
        n.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
        n.version = Version::default().toggled(n.run.as_ref().unwrap());
        n
    }

    #[test]
    fn activation_decays_adds_saturates_and_never_turns_back() {
        let mut n = sample();
        let later = Stamp::from_unix(n.last_salience_update.unix() + 24 * 3600);
        n.activate(1000, later);
        assert_eq!((n.salience, n.activation_count), (35355 + 1000, 2));
        n.activate(65535, Stamp::from_unix(0));
        assert_eq!((n.salience, n.last_salience_update, n.last_activated), (65535, later, Some(later)));
    }

    #[test]
    fn an_agents_archive_holds_until_the_next_touch_and_a_persons_until_it_is_cleared() {
        let run = |text: &str| Some(RunId::parse(text).unwrap());
        let mut n = sample();
        n.run = run("20260126t143200123z-abcd2345-memory");
        n.archived = n.run.clone();
        assert!(n.is_archived());
        n.run = run("20260127t143200123z-abcd2345-memory");
        assert!(!n.is_archived());
        n.archived = run("20260126t143200123z-abcd2345-human");
        for later in ["20260127t143200123z-abcd2345-sleep", "20260127t143200123z-abcd2345-human"] {
            n.run = run(later);
            assert!(n.is_archived(), "{later}");
        }
        n.archived = None;
        assert!(!n.is_archived());
    }
}
