//! Origin: who a fact ultimately comes from, and how far that is trusted (taint).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;

/// A label `class` or `class:detail`, such as `local`, `mcp:editor`, `clone:alice`; or several, joined by `+`, of what comes from
/// several places, such as `webhook+mcp:editor`.
///
/// The class decides the trust; an unknown class is trusted least. Of several labels the least trusted stands first, and none is
/// `local` or `bootstrap`, which add nothing to others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(String);

/// Between two labels.
const AND: char = '+';

/// Classes from most to least trusted. What is not listed ranks below all of them.
const CLASSES: [&str; 9] = ["bootstrap", "local", "approved", "import", "hook", "mcp", "http", "clone", "webhook"];

/// The number of those that are trusted whatever the settings say; of the others the settings say how far.
const SETTLED: usize = 3;

/// Of more places than can be said. It is no known class, so it is trusted least.
const MANY: &str = "many";

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

    /// Checks labels: of lower-case letters, digits, `_.:-`, starting with a letter, at most 256 bytes together.
    pub fn parse(text: &str) -> Result<Self, String> {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.:-".contains(c);
        let starts = |label: &str| label.starts_with(|c: char| c.is_ascii_lowercase());
        if text.len() > limits::LABEL_BYTES || !text.split(AND).all(|label| starts(label) && label.chars().all(good)) {
            return Err(format!("{:?} is not an origin such as local or mcp:editor", clip(text)));
        }
        let origin = Self::of(text.split(AND));
        if origin.0 != text {
            return Err(format!("{:?} are origins that are written {origin}", clip(text)));
        }
        Ok(origin)
    }

    /// The origin of what comes from all these places. Where the labels are too long together they say their classes alone, and where those
    /// are, that they are many.
    fn of<'l>(labels: impl Iterator<Item = &'l str>) -> Self {
        let mut labels: Vec<&str> = labels.collect();
        labels.sort_by_key(|label| std::cmp::Reverse((rank(label), *label)));
        labels.dedup();
        // What adds nothing stands alone, or not at all.
        let told = labels.iter().take_while(|label| !adds_nothing(label)).count();
        labels.truncate(told.max(1));
        let together = |labels: &[&str]| labels.iter().map(|label| label.len() + 1).sum::<usize>() - 1;
        if together(&labels) > limits::LABEL_BYTES && labels.len() > 1 {
            labels.iter_mut().for_each(|label| *label = class(label));
            labels.dedup();
        }
        // Whatever the order in which they came together.
        if labels.contains(&MANY) || labels.len() > 1 && together(&labels) > limits::LABEL_BYTES {
            labels = vec![MANY];
        }
        Self(labels.join(AND.encode_utf8(&mut [0; 4])))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The labels, the least trusted first.
    fn labels(&self) -> impl Iterator<Item = &str> {
        self.0.split(AND)
    }

    /// Rank of distrust, of the least trusted label: 0 is trusted most.
    pub fn distrust(&self) -> usize {
        rank(&self.0)
    }

    /// The class of the least trusted label: what stands before its first colon.
    pub fn class(&self) -> &str {
        class(self.labels().next().unwrap_or(""))
    }

    /// The classes of all labels.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.labels().map(class)
    }

    /// The classes of its labels whose level the settings say, a bit each, in the order of [`Origins::levels`].
    pub fn class_bits(&self) -> u8 {
        self.classes().filter_map(set_class).fold(0, |bits, at| bits | 1 << at)
    }

    /// Whether a part of it came by a class, whether or not a person has approved it since.
    pub fn came_by(&self, wanted: &str) -> bool {
        let first = |label: &str| {
            label.strip_prefix(APPROVED).and_then(|rest| rest.strip_prefix(':')).map(class) == Some(wanted)
        };
        self.labels().any(|label| class(label) == wanted || first(label))
    }

    /// The person whose session or program brought what comes from here: of a session the end of its label, of what a program remembered the
    /// `source` that it was fed with.
    pub fn person<'a>(&'a self, source: Option<&'a str>) -> Option<&'a str> {
        self.labels().find_map(|label| {
            let mut parts = label.splitn(3, ':');
            match parts.next() {
                Some("hook") => parts.nth(1),
                Some("mcp" | "http") => source.filter(|source| is_person(source)),
                _ => None,
            }
        })
    }

    /// Whether a person's program was told to remember what comes from here alone.
    pub fn is_remembered(&self, source: Option<&str>) -> bool {
        self.classes().all(|class| class == "mcp") && self.person(source).is_some()
    }

    /// Whether a part of it is the wanted origin, or one below it: `hook:codex:ann` is of `hook:codex`, and of `hook`.
    pub fn is_of(&self, wanted: &Origin) -> bool {
        self == wanted || self.labels().any(|label| is_of(label, &wanted.0))
    }

    /// The origin once a person has looked at what came from `wanted`, or at all of it, and approved it; it says where that came from.
    pub fn approved(&self, wanted: Option<&Origin>) -> Self {
        let chosen = |label: &str| wanted.is_none_or(|wanted| self == wanted || is_of(label, &wanted.0));
        let approved = |label: &str| match class(label) != APPROVED && chosen(label) {
            true => format!("{APPROVED}:{label}").chars().take(limits::LABEL_BYTES).collect(),
            false => label.to_owned(),
        };
        let labels: Vec<String> = self.labels().map(approved).collect();
        Self::of(labels.iter().map(String::as_str))
    }

    /// Whether a person has approved all of it.
    pub fn is_approved(&self) -> bool {
        self.classes().all(|class| class == APPROVED)
    }

    /// Whether the settings say how far it is trusted: it is neither a person's own, nor the bootstrap's, nor approved as a whole.
    pub fn is_foreign(&self) -> bool {
        self.class_bits() != 0
    }

    /// True for a label that has a colon and nothing after it, as nobody would write it on purpose.
    pub fn is_cut_off(&self) -> bool {
        self.0.ends_with(':')
    }

    /// Whether input may be said to come from there: nobody feeds as the bootstrap, or as what a person has approved.
    pub fn may_be_claimed(&self) -> bool {
        !self.classes().any(|class| matches!(class, "bootstrap" | APPROVED)) && self.labels().count() == 1
    }

    /// The origin of what comes from both.
    pub fn and(&self, other: &Self) -> Self {
        Self::of(self.labels().chain(other.labels()))
    }

    /// The origin of what is made of this. What a person has approved is fine: that it was approved is not said again.
    pub fn passed_on(&self) -> Self {
        let told: Vec<&str> = self.labels().filter(|label| class(label) != APPROVED).collect();
        if told.is_empty() { Self::local() } else { Self::of(told.into_iter()) }
    }

    /// Whether what comes from `other` may be said to come from here: each label is among these, alone or as its class, or is trusted further than
    /// one of them.
    pub fn covers(&self, other: &Self) -> bool {
        let is_said = |label: &str| self.labels().any(|l| l == label || l == class(label) || l == MANY);
        other.labels().all(|label| rank(label) < self.distrust() || adds_nothing(label) || is_said(label))
    }

    /// The origin after two sides changed it, each of them from `base`: what either adds is there, what either took away (by approving
    /// it) is gone. `fresh` says of left and of right that it brings what the other side cannot have seen: then what it has stays.
    pub fn merged(base: Option<&Self>, left: &Self, right: &Self, fresh: (bool, bool)) -> Self {
        let Some(base) = base else { return left.and(right) };
        let has = |origin: &Self, label: &str| origin.labels().any(|l| l == label);
        let stays = |label: &str, other: &Self, fresh: bool| fresh || !has(base, label) || has(other, label);
        let of_left = left.labels().filter(|label| stays(label, right, fresh.0));
        let of_right = right.labels().filter(|label| stays(label, left, fresh.1));
        let mut kept = of_left.chain(of_right).peekable();
        // Both took away what the other one kept of the base: nothing is told, so nothing may be trusted.
        if kept.peek().is_none() { left.and(right) } else { Self::of(kept) }
    }
}

/// The rank of distrust of a label.
fn rank(label: &str) -> usize {
    let class = class(label.split(AND).next().unwrap_or(""));
    CLASSES.iter().position(|c| *c == class).unwrap_or(CLASSES.len())
}

/// The place of a class among those whose level the settings say; of every other one behind the last.
fn set_class(class: &str) -> Option<usize> {
    CLASSES.iter().position(|known| *known == class).unwrap_or(CLASSES.len()).checked_sub(SETTLED)
}

fn class(label: &str) -> &str {
    label.split(':').next().unwrap_or("")
}

/// Whether a label is the name that a brain gives a person: letters of the address and a hash.
pub fn is_person(label: &str) -> bool {
    let is_hash = |hash: &str| hash.len() == 4 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    label.rsplit_once('-').is_some_and(|(name, hash)| is_hash(hash) && name.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// True for what is trusted whatever the settings say.
fn adds_nothing(label: &str) -> bool {
    matches!(class(label), "bootstrap" | "local")
}

fn is_of(label: &str, wanted: &str) -> bool {
    label.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// `[origins]`: how far what comes from outside is trusted, by its class, and how much of it there may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Origins {
    /// What a person imports.
    pub import: Level,
    /// What hooks of coding agents keep of their sessions.
    pub hook: Level,
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
    /// Most places in a hundred that memories that are not trusted may have together in an answer of `recall`, as long as others can fill
    /// the rest, 0 to 100.
    pub share: u32,
}

impl Default for Origins {
    fn default() -> Self {
        Self {
            import: Level::Trusted,
            hook: Level::Tainted,
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
    /// How far an origin is trusted: as the least trusted of its labels.
    pub fn level(&self, origin: &Origin) -> Level {
        origin.labels().map(|label| self.level_of(label)).max().unwrap_or(self.other)
    }

    /// Whether all that is not trusted of an origin is of the wanted one.
    pub fn only_of(&self, origin: &Origin, wanted: &Origin) -> bool {
        let mut tainted = origin.labels().filter(|label| self.level_of(label) != Level::Trusted);
        origin == wanted || tainted.all(|label| is_of(label, &wanted.0))
    }

    /// Most stimuli of an origin that are perceived in a day; 0: no bound. A person's sessions with a coding agent say more than programs should.
    pub fn influence_of(&self, origin: &Origin) -> u64 {
        let sessions = if origin.classes().all(|class| class == "hook") { limits::SESSION_INFLUENCE } else { 1 };
        u64::from(self.influence) * sessions
    }

    fn level_of(&self, label: &str) -> Level {
        set_class(class(label)).map_or(Level::Trusted, |at| self.levels()[at])
    }

    /// The levels that the settings say, in the order of [`CLASSES`]; that of every other class last.
    fn levels(&self) -> [Level; CLASSES.len() + 1 - SETTLED] {
        [self.import, self.hook, self.mcp, self.http, self.clone, self.webhook, self.other]
    }

    /// The classes that are not trusted, a bit each as [`Origin::class_bits`] has them: an origin that shares one is tainted, and no other.
    pub fn tainted_bits(&self) -> u8 {
        let tainted = self.levels().into_iter().enumerate().filter(|(_, level)| *level != Level::Trusted);
        tainted.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Whether what has this origin needs approval before it may enter consolidated memory.
    pub fn is_tainted(&self, origin: &Origin) -> bool {
        self.level(origin) != Level::Trusted
    }

    /// The less trusting of two in everything: what a file that nobody here has accepted may ask for beside what a person here did.
    pub fn stricter(&self, other: &Self) -> Self {
        let bound = |a: u32, b: u32| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        Self {
            import: self.import.max(other.import),
            hook: self.hook.max(other.hook),
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
        schemars::json_schema!({"type": "string", "pattern": "^[a-z][a-z0-9_.:+-]{0,255}$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    #[test]
    fn origins_add_up_in_any_order_and_the_least_trusted_stands_first() {
        for (a, b, both) in [
            ("local", "mcp:editor", "mcp:editor"),
            ("webhook:x", "clone:y", "webhook:x+clone:y"),
            ("somewhere", "webhook:x", "somewhere+webhook:x"),
            ("mcp:a", "mcp:b", "mcp:b+mcp:a"),
            ("mcp:b+mcp:a", "webhook+mcp:a", "webhook+mcp:b+mcp:a"),
            ("local", "local", "local"),
            ("bootstrap", "local", "local"),
            ("local", "approved:mcp", "approved:mcp"),
        ] {
            assert_eq!(origin(a).and(&origin(b)).as_str(), both);
            assert_eq!(origin(b).and(&origin(a)).as_str(), both);
        }
        assert_eq!(origin("mcp+approved:webhook").passed_on(), origin("mcp"));
        assert_eq!(origin("approved:webhook").passed_on(), Origin::local());
        let long = |c: &str| origin(&format!("mcp:{}", c.repeat(200)));
        assert_eq!(long("a").and(&long("b")).as_str(), "mcp", "together they are too long: their class");
        assert_eq!(origin("mcp+import").class(), "mcp");
        assert_eq!(
            Origins { import: Level::Refused, ..Origins::default() }.level(&origin("mcp+import")),
            Level::Refused
        );
        for bad in ["import+mcp", "mcp+mcp", "mcp+local", "mcp+", "+mcp"] {
            assert!(Origin::parse(bad).is_err(), "{bad}");
        }
        assert!(!origin("mcp+import").may_be_claimed());
    }

    #[test]
    fn an_origin_covers_what_is_among_it_or_trusted_further() {
        for (one, other, covers) in [
            ("mcp", "local", true),
            ("local", "mcp", false),
            ("webhook", "mcp", true),
            ("mcp:a", "mcp:b", false),
            ("webhook+mcp", "mcp", true),
            ("mcp", "webhook+mcp", false),
            ("mcp", "mcp:a", true),
            ("mcp:a", "mcp", false),
        ] {
            assert_eq!(origin(one).covers(&origin(other)), covers, "{one} {other}");
        }
    }

    proptest::proptest! {
        /// However long they are together: what is made of several places says as much as each of them.
        #[test]
        fn origins_together_cover_each_of_them(labels in proptest::collection::vec("[a-z]{1,40}(:[a-z]{1,200})?", 1..12)) {
            let labels: Vec<Origin> = labels.iter().filter_map(|label| Origin::parse(label).ok()).collect();
            let all = labels.iter().fold(Origin::local(), |all, label| all.and(label));
            for label in &labels {
                proptest::prop_assert!(all.covers(label), "{all} {label}");
            }
        }
    }

    #[test]
    fn what_one_side_approves_takes_nothing_from_what_the_other_brings() {
        let merged = |base: &str, left: &str, right: &str, fresh: bool| {
            let (base, left, right) = (origin(base), origin(left), origin(right));
            let one = Origin::merged(Some(&base), &left, &right, (fresh, false));
            assert_eq!(one, Origin::merged(Some(&base), &right, &left, (false, fresh)), "in both orders");
            one.to_string()
        };
        assert_eq!(merged("local", "webhook", "mcp", false), "webhook+mcp");
        assert_eq!(merged("webhook", "webhook+mcp", "approved:webhook", false), "mcp+approved:webhook");
        assert_eq!(merged("local", "mcp", "approved:webhook", false), "mcp+approved:webhook");
        assert_eq!(merged("webhook", "webhook", "approved:webhook", false), "approved:webhook");
        assert_eq!(merged("webhook", "webhook", "approved:webhook", true), "webhook+approved:webhook", "a new name");
        assert_eq!(
            merged("webhook+mcp", "webhook+approved:mcp", "mcp+approved:webhook", false),
            "approved:webhook+approved:mcp"
        );
        assert_eq!(Origin::merged(None, &origin("mcp"), &origin("local"), (false, false)), origin("mcp"));
    }

    #[test]
    fn bits_of_classes_tell_what_is_tainted() {
        let plain = [
            "bootstrap",
            "local",
            "approved:mcp:a",
            "import:x",
            "hook:codex",
            "mcp:a",
            "http:b",
            "clone:c",
            "webhook:d",
            "many",
            "x",
        ];
        let both = plain.iter().flat_map(|a| plain.map(|b| format!("{a}+{b}")));
        let all: Vec<Origin> = plain.map(str::to_owned).into_iter().chain(both).map(Origin).collect();
        let levels = [Level::Trusted, Level::Tainted, Level::Review, Level::Refused];
        for at in 0..7 {
            for level in levels {
                let mut settings = Origins::default();
                let of = [
                    &mut settings.import,
                    &mut settings.hook,
                    &mut settings.mcp,
                    &mut settings.http,
                    &mut settings.clone,
                    &mut settings.webhook,
                    &mut settings.other,
                ];
                *of.into_iter().nth(at).unwrap() = level;
                for origin in &all {
                    let told = origin.class_bits() & settings.tainted_bits() != 0;
                    assert_eq!(told, settings.is_tainted(origin), "{origin} {settings:?}");
                }
            }
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
        let approved = origin("mcp:editor").approved(None);
        assert_eq!((approved.as_str(), approved.approved(None)), ("approved:mcp:editor", approved.clone()));
        let both = origin("webhook+mcp:editor");
        assert_eq!(both.approved(Some(&origin("mcp"))).as_str(), "webhook+approved:mcp:editor");
        let only = |of: &Origin, wanted: &str| Origins::default().only_of(of, &origin(wanted));
        assert!(both.is_of(&origin("mcp")) && !only(&both, "mcp") && only(&both, "webhook+mcp:editor"));
        assert!(only(&both.approved(Some(&origin("mcp"))), "webhook") && only(&origin("mcp+import"), "mcp"));
        assert!(!both.approved(Some(&origin("mcp"))).is_approved() && both.approved(Some(&both)).is_approved());
        assert!(approved.is_approved() && !approved.may_be_claimed() && !Origin::bootstrap().may_be_claimed());
        let long = origin(&"x".repeat(limits::LABEL_BYTES)).approved(None);
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
