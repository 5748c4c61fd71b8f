//! Ids: one grammar for neurons, runs, stimuli, signals; slugs and hashes that make them.

use std::borrow::Borrow;
use std::fmt;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::limits;

/// The name of the person at this machine: needs no definition and is unrestricted.
pub const HUMAN: &str = "human";

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not of the grammar.
    #[error("{0:?} is not an id: 1 to 64 characters of a-z, 0-9, '_' and '-', the first a letter or digit")]
    Grammar(String),
    /// A name that some file systems reserve.
    #[error("{0:?} is a reserved device name on some systems")]
    Device(String),
    /// An agent's name that would make run ids too long.
    #[error("agent name {0:?} is longer than {max} characters", max = limits::AGENT_NAME_BYTES)]
    LongAgent(String),
    /// Not a run id.
    #[error("{0:?} is not a run id such as 20260126t143200000z-abcd2345-memory")]
    Run(String),
    /// Not the id of a subject.
    #[error("{0:?} is not the id of a subject: subject- and 32 hexadecimal digits")]
    Subject(String),
    /// Not the id of a sealed memory.
    #[error("{0:?} is not the id of a sealed memory: sealed- and 32 hexadecimal digits")]
    Sealed(String),
}

const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks `^[a-z0-9][a-z0-9_-]{0,63}$` and refuses Windows device names (also `com1`, `lpt9`).
pub fn check(text: &str) -> Result<(), IdError> {
    let clipped = || clipped(text);
    let good = |b: u8| is_id_char(char::from(b));
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !first || text.len() > limits::ID_BYTES || !text.bytes().all(good) {
        return Err(IdError::Grammar(clipped()));
    }
    let numbered = |prefix: &str| text.len() == 4 && text.starts_with(prefix) && text.as_bytes()[3].is_ascii_digit();
    if DEVICES.contains(&text) || numbered("com") || numbered("lpt") {
        return Err(IdError::Device(clipped()));
    }
    Ok(())
}

/// May an id have that character, behind its first?
pub fn is_id_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-'
}

/// Whether an id has the form of those that are derived by a hash: it stands for what was hashed, and nothing else.
pub fn looks_derived(id: &NeuronId) -> bool {
    let Some((start, hash)) = id.as_str().rsplit_once('-') else { return false };
    let digits = if matches!(start, "c" | "e") { 16 } else { 8 };
    hash.len() == digits && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $check:expr, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Checks the grammar.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> Result<(), IdError> = $check;
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    };
}

id_type!(
    /// A neuron's id, also its file's name.
    NeuronId, check, "^[a-z0-9][a-z0-9_-]{0,63}$"
);
id_type!(
    /// A stimulus' id.
    StimulusId, check, "^[a-z0-9][a-z0-9_-]{0,63}$"
);
id_type!(
    /// A signal's id.
    SignalId, check, "^[a-z0-9][a-z0-9_-]{0,63}$"
);
id_type!(
    /// A goal's id.
    GoalId, check, "^[a-z0-9][a-z0-9_-]{0,63}$"
);
id_type!(
    /// An agent's name.
    AgentName, check_agent, "^[a-z0-9][a-z0-9_-]{0,34}$"
);
id_type!(
    /// A run's id, `<yyyymmdd>t<hhmmssmmm>z-<8 base32>-<agent>`: its text order is its order in time.
    RunId, check_run, "^[0-9]{8}t[0-9]{9}z-[a-z2-7]{8}-[a-z0-9][a-z0-9_-]{0,34}$"
);

id_type!(
    /// A subject's id, `subject-` and 32 random hexadecimal digits: it says nothing of the name.
    SubjectId, check_subject, "^subject-[0-9a-f]{32}$"
);
id_type!(
    /// The id of a sealed memory, `sealed-` and 32 random hexadecimal digits.
    SealedId, check_sealed, "^sealed-[0-9a-f]{32}$"
);

fn check_subject(text: &str) -> Result<(), IdError> {
    check_random(text, "subject-").ok_or_else(|| IdError::Subject(clipped(text)))
}

fn check_sealed(text: &str) -> Result<(), IdError> {
    check_random(text, "sealed-").ok_or_else(|| IdError::Sealed(clipped(text)))
}

fn check_random(text: &str, prefix: &str) -> Option<()> {
    let digits = text.strip_prefix(prefix)?;
    (digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))).then_some(())
}

fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

fn check_agent(text: &str) -> Result<(), IdError> {
    check(text)?;
    if text.len() > limits::AGENT_NAME_BYTES {
        return Err(IdError::LongAgent(text.to_owned()));
    }
    Ok(())
}

fn check_run(text: &str) -> Result<(), IdError> {
    let fail = || IdError::Run(text.chars().take(80).collect());
    let b = text.as_bytes();
    let digits = |from: usize, to: usize| b[from..to].iter().all(u8::is_ascii_digit);
    if b.len() < 30 || !text.is_ascii() || check(text).is_err() {
        return Err(fail());
    }
    let shape = digits(0, 8) && b[8] == b't' && digits(9, 18) && b[18] == b'z' && b[19] == b'-' && b[28] == b'-';
    let middle = b[20..28].iter().all(|c| c.is_ascii_lowercase() || (b'2'..=b'7').contains(c));
    let (month, day) = (&text[4..6], &text[6..8]);
    let dated = ("01"..="12").contains(&month) && ("01"..="31").contains(&day);
    if !shape || !middle || !dated || check_agent(&text[29..]).is_err() {
        return Err(fail());
    }
    Ok(())
}

impl RunId {
    /// Builds an id from milliseconds since the epoch, 40 bits of `middle`, and the agent.
    pub fn new(unix_ms: i64, middle: u64, agent: &AgentName) -> Self {
        let t = super::Stamp::from_unix(unix_ms.div_euclid(1000)).civil();
        let text = format!(
            "{:04}{:02}{:02}t{:02}{:02}{:02}{:03}z-{}-{}",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second(),
            unix_ms.rem_euclid(1000),
            base32(middle),
            agent
        );
        Self(text.into())
    }

    /// Whether there is the time that it names.
    pub fn has_a_time(&self) -> bool {
        Self::new(self.unix_ms(), 0, &self.agent()).0[..19] == self.0[..19]
    }

    /// True for a run of a person: of what was said by the command line.
    pub fn is_a_persons(&self) -> bool {
        &self.0[29..] == HUMAN
    }

    /// The id's time, milliseconds since the epoch. Impossible days and hours count as the nearest possible ones.
    pub fn unix_ms(&self) -> i64 {
        let n = |from: usize, to: usize| self.0[from..to].parse::<i64>().unwrap_or(0);
        let days = days_from_civil(n(0, 4), n(4, 6), n(6, 8));
        days * 86_400_000 + n(9, 11) * 3_600_000 + n(11, 13) * 60_000 + n(13, 15) * 1000 + n(15, 18)
    }

    /// The agent that the run executes.
    pub fn agent(&self) -> AgentName {
        AgentName::parse(&self.0[29..]).expect("invariant: checked when the id was made")
    }

    /// The 64-bit hash that a neuron's `version` collects by xor.
    pub fn hash64(&self) -> u64 {
        hash64(self.0.as_bytes())
    }
}

/// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's `days_from_civil`).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The low 40 bits as eight characters of RFC 4648 base32, lower case.
fn base32(bits: u64) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    (0..8).rev().map(|i| char::from(ALPHABET[(bits >> (5 * i) & 31) as usize])).collect()
}

/// The first eight bytes of SHA-256, big-endian.
pub fn hash64(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    u64::from_be_bytes(digest[..8].try_into().expect("invariant: a SHA-256 has 32 bytes"))
}

/// The first `digits` hex digits (at most 16) of SHA-256.
pub fn hex_hash(bytes: &[u8], digits: usize) -> String {
    format!("{:016x}", hash64(bytes))[..digits].to_owned()
}

/// SHA-256 over several fields, each with its length before it, so that no two lists of fields collide by joining.
pub fn hash_fields(fields: &[&[u8]]) -> u64 {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    u64::from_be_bytes(hasher.finalize()[..8].try_into().expect("invariant: a SHA-256 has 32 bytes"))
}

/// The hash by which two texts are told to be the same: the first half of a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextHash([u8; 16]);

impl TextHash {
    /// That of a text.
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        Self(digest[..16].try_into().expect("invariant: a SHA-256 has 32 bytes"))
    }
}

/// Characters that are not seen: zero width, bidirectional controls, variation selectors, tags, soft hyphens.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A concept as ids compare it: Unicode NFKC, lower case, white space folded to single spaces.
pub fn normalise(concept: &str) -> String {
    let folded = ComposingNormalizerBorrowed::new_nfkc().normalize(concept).to_lowercase();
    // Lower-casing can leave a form that composes further (dotted capital I), so normalise once more.
    let folded = ComposingNormalizerBorrowed::new_nfkc().normalize(&folded).into_owned();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a text as ids of lessons compare it: normalised, without accents, invisible characters and punctuation. A text of nothing else
/// stays as it is.
pub fn plain_words(text: &str) -> String {
    const PUNCTUATION: &str = ".,;:!?\u{2026}'\"\u{2018}\u{2019}\u{201c}\u{201d}\u{ab}\u{bb}()[]{}\u{bf}\u{a1}、。・「」『』-\u{2010}\u{2013}\u{2014}_*`";
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let plain: String = plain.chars().filter(|c| !is_accent(*c) && !is_invisible(*c)).collect();
    let plain = normalise(&plain);
    let words: Vec<&str> =
        plain.split(|c: char| c.is_whitespace() || PUNCTUATION.contains(c)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { normalise(text) } else { words.join(" ") }
}

/// A concept's id: a readable slug and eight hex digits of a hash of the normalised concept.
///
/// Two agents that find the same concept on two branches make the same id, hence the same file, and merge.
pub fn concept_id(concept: &str) -> NeuronId {
    let normal = normalise(concept);
    hashed_id(&normal, hash64(normal.as_bytes()))
}

/// An id from a label for the eye, its accents taken off, and a hash that identifies: eight digits behind a readable label,
/// all sixteen where nothing is readable in ASCII.
pub fn hashed_id(label: &str, hash: u64) -> NeuronId {
    let mut slug = String::new();
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(label);
    for c in plain.chars().filter(|c| !is_accent(*c)) {
        if slug.len() >= 40 {
            break;
        }
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            'A'..='Z' => slug.push(c.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_end_matches('-');
    let hash = format!("{hash:016x}");
    let text = if slug.is_empty() { format!("c-{hash}") } else { format!("{slug}-{}", &hash[..8]) };
    NeuronId::parse(&text).expect("invariant: a slug and a hash make an id")
}

/// The id of the contextual neuron of whoever speaks: `speaker-<name>-<hash>`. Names are compared as concepts are.
pub fn speaker_id(name: &str) -> NeuronId {
    let normal = normalise(name);
    hashed_id(&format!("speaker-{normal}"), hash_fields(&[b"speaker", normal.as_bytes()]))
}

/// The id of the contextual neuron of a session: `session-<label>-<hash>`. Labels are compared byte by byte.
pub fn session_id(label: &str) -> NeuronId {
    hashed_id(&format!("session-{label}"), hash_fields(&[b"session", label.as_bytes()]))
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// The id of the episodic neuron that remembers a stimulus.
pub fn episode_id(stimulus: &StimulusId) -> NeuronId {
    let text = format!("e-{:016x}", hash_fields(&[b"episode", stimulus.as_str().as_bytes()]));
    NeuronId::parse(&text).expect("invariant: a prefix and a hash make an id")
}

/// The label of a text whose later piece this label names, if it does: `LABEL#2`, `LABEL#3`, …
pub fn later_piece(source: &str) -> Option<&str> {
    let is_number = |piece: &str| (1..=6).contains(&piece.len()) && piece.bytes().all(|b| b.is_ascii_digit());
    source.rsplit_once('#').filter(|(_, piece)| is_number(piece)).map(|(label, _)| label)
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_refuses_what_paths_and_terminals_cannot_bear() {
        for good in ["a", "0", "n_core_memory", "tea-1f3c", &"a".repeat(64), "com10", "console"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = "a".repeat(65);
        let huge = "a".repeat(10_000);
        for bad in [
            "",
            "-a",
            "_a",
            "A",
            "a b",
            "a/b",
            "..",
            ".git",
            "a.b",
            "é",
            "a\n",
            "a\0",
            "\u{202e}a",
            "con",
            "nul",
            "com1",
            "lpt9",
            "aux",
            "prn",
            &long,
            &huge,
            "ａ",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn run_ids_sort_by_time_and_give_it_back() {
        let agent = AgentName::parse("memory").unwrap();
        let ms = 1_769_437_920_123; // 2026-01-26T14:32:00.123Z
        let id = RunId::new(ms, 0, &agent);
        assert_eq!(id.as_str(), "20260126t143200123z-aaaaaaaa-memory");
        assert_eq!(id.unix_ms(), ms);
        assert_eq!(id.agent(), agent);
        assert_eq!(RunId::parse(id.as_str()).unwrap(), id);
        assert!(id < RunId::new(ms + 1, 0, &agent));
        for bad in [
            "",
            "x",
            "20261326t143200123z-aaaaaaaa-memory",
            "20260126t143200123z-aaaaaaa1-memory",
            "20260126t143200123z-aaaaaaaa-",
            "20260126t143200123z-aaaaaaaa",
        ] {
            assert!(RunId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_same_concept_makes_the_same_id() {
        assert_eq!(concept_id("Green  Tea"), concept_id("green tea"));
        assert_eq!(concept_id("ｔｅａ"), concept_id("TEA"));
        assert_ne!(concept_id("thé"), concept_id("the"));
        assert!(concept_id("Green Tea").as_str().starts_with("green-tea-"));
        assert!(concept_id("délicieux thé").as_str().starts_with("delicieux-the-"));
        assert!(concept_id("お茶").as_str().starts_with("c-"));
        assert_eq!(concept_id("お茶").as_str().len(), 18, "where the label says nothing, the hash is long");
        assert!(concept_id(&"long ".repeat(100)).as_str().len() <= 64);
    }

    #[test]
    fn contexts_have_readable_ids_of_their_own() {
        assert!(speaker_id("Anna Lee").as_str().starts_with("speaker-anna-lee-"));
        assert_eq!(speaker_id("Anna"), speaker_id("ANNA"));
        assert_ne!(session_id("S"), session_id("s"));
        assert!(session_id("会話").as_str().starts_with("session-"));
        assert_ne!(speaker_id("anna"), concept_id("speaker-anna"));
        assert!(session_id(&"x".repeat(256)).as_str().len() <= 64);
    }

    #[test]
    fn joined_fields_do_not_collide() {
        assert_ne!(hash_fields(&[b"ab", b"c"]), hash_fields(&[b"a", b"bc"]));
    }

    #[test]
    fn a_run_id_has_each_mark_in_its_place() {
        let good = "20260126t143200123z-abcd2345-memory";
        assert!(RunId::parse(good).is_ok());
        // Another character at each place of the frame, and of the digits.
        for at in (0..20).chain([28]) {
            for other in ["x", "-", "é", "0t"] {
                let bad = format!("{}{other}{}", &good[..at], &good[at + 1..]);
                let same = bad == good || (other == "0t" && at < 18);
                assert!(RunId::parse(&bad).is_err() || same, "{bad}");
            }
        }
        for (middle, expected) in
            [("abcdz234", true), ("22277777", true), ("abcd1345", false), ("abcd8345", false), ("abcD2345", false)]
        {
            let id = format!("20260126t143200123z-{middle}-memory");
            assert_eq!(RunId::parse(&id).is_ok(), expected, "{id}");
        }
        for (day, expected) in
            [("0101", true), ("1231", true), ("0001", false), ("1301", false), ("0100", false), ("0132", false)]
        {
            assert_eq!(RunId::parse(&format!("2026{day}t000000000z-aaaaaaaa-m")).is_ok(), expected, "{day}");
        }
        let agent = "a".repeat(limits::AGENT_NAME_BYTES);
        assert!(
            RunId::parse(&format!("20260126t143200123z-abcd2345-{agent}")).is_ok() && AgentName::parse(&agent).is_ok()
        );
        assert!(AgentName::parse(&format!("{agent}a")).is_err());
        assert!(RunId::parse("20260126t143200123z-abcd2345-m").is_ok(), "the shortest there is");
        assert!(RunId::parse("20260126t143200123z-abcd2345--m").is_err());
    }

    #[test]
    fn the_time_of_a_run_id_is_that_of_the_calendar() {
        for (text, ms) in [
            ("19700101t000000000z", 0),
            ("19700101t000000001z", 1),
            ("19700101t000001000z", 1_000),
            ("19700101t000100000z", 60_000),
            ("19700101t010000000z", 3_600_000),
            ("19700102t000000000z", 86_400_000),
            ("19691231t235959999z", -1),
            ("20000229t000000000z", 951_782_400_000),
            ("20000301t000000000z", 951_868_800_000),
            ("21000228t000000000z", 4_107_456_000_000),
            ("21000301t000000000z", 4_107_542_400_000),
            ("20241231t000000000z", 1_735_603_200_000),
        ] {
            let id = RunId::parse(&format!("{text}-aaaaaaaa-memory")).unwrap();
            assert_eq!(id.unix_ms(), ms, "{text}");
            assert_eq!(RunId::new(ms, 0, &id.agent()), id);
        }
        // Every day of four hundred years and more, against the calendar that makes the ids.
        for day in 0..150_000_i64 {
            let date = super::super::Stamp::from_unix(day * 86_400).civil();
            assert_eq!(days_from_civil(date.year().into(), date.month().into(), date.day().into()), day, "{date}");
        }
    }

    #[test]
    fn forty_bits_make_eight_letters() {
        assert_eq!(base32(0), "aaaaaaaa");
        assert_eq!(base32(1), "aaaaaaab");
        assert_eq!(base32(31 << 5), "aaaaaa7a");
        assert_eq!(base32((1 << 40) - 1), "77777777");
        assert_eq!(base32(1 << 40 | 1 << 35), "baaaaaaa");
        // SHA-256 of "abc" begins ba7816bf8f01cfea.
        assert_eq!((hash64(b"abc"), hex_hash(b"abc", 16).as_str()), (0xba78_16bf_8f01_cfea, "ba7816bf8f01cfea"));
        assert_eq!(hex_hash(b"abc", 5), "ba781");
        let agent = AgentName::parse("m").unwrap();
        assert_ne!(RunId::new(0, 0, &agent).hash64(), RunId::new(0, 1, &agent).hash64());
        assert_eq!(RunId::new(0, 0, &agent).hash64(), hash64(b"19700101t000000000z-aaaaaaaa-m"));
    }

    #[test]
    fn ids_of_a_hash_are_told_from_others() {
        let derived = |text: &str| looks_derived(&NeuronId::parse(text).unwrap());
        for text in ["tea-01234567", "green-tea-89abcdef", "c-0123456789abcdef", "e-0123456789abcdef"] {
            assert!(derived(text), "{text}");
        }
        for text in
            ["tea", "tea-0123456", "tea-012345678", "tea-0123456g", "c-01234567", "e-01234567", "t-0123456789abcdef"]
        {
            assert!(!derived(text), "{text}");
        }
        let stimulus = StimulusId::parse("s1").unwrap();
        for id in [concept_id("tea"), concept_id("お茶"), speaker_id("Anna"), session_id("S"), episode_id(&stimulus)]
        {
            assert!(looks_derived(&id), "{id}");
        }
        assert_ne!(episode_id(&stimulus), episode_id(&StimulusId::parse("s2").unwrap()));
    }

    #[test]
    fn a_label_is_cut_and_its_marks_are_one_dash() {
        let label = |text: &str| hashed_id(text, 0).as_str().rsplit_once('-').unwrap().0.to_owned();
        assert_eq!(label("--A  &  b!! 9?"), "a-b-9");
        assert_eq!(label(&"x".repeat(41)), "x".repeat(40));
        assert_eq!(label(&"x".repeat(39)), "x".repeat(39));
        assert_eq!(label("e\u{301}\u{300}\u{36f}te"), "ete");
        assert_eq!(label("e\u{370}te"), "e-te");
        assert_eq!(hashed_id("a", 0x0123_4567_89ab_cdef).as_str(), "a-01234567");
        assert_eq!(hashed_id("!", 0x0123_4567_89ab_cdef).as_str(), "c-0123456789abcdef");
    }

    #[test]
    fn ids_are_shown_borrowed_and_written_as_their_text() {
        let id: NeuronId = "tea".parse().unwrap();
        assert_eq!((format!("{id:>5}|{id}"), id.as_str()), ("  tea|tea".to_owned(), "tea"));
        assert_eq!(std::collections::HashSet::from([id.clone()]).get("tea"), Some(&id));
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"tea\"");
        assert_eq!(serde_json::from_str::<NeuronId>("\"te\\u0061\"").unwrap(), id);
        assert!(serde_json::from_str::<NeuronId>("\"../tea\"").is_err());
        assert!("com".parse::<NeuronId>().is_ok() && "lpt".parse::<NeuronId>().is_ok());
        assert!("comx".parse::<NeuronId>().is_ok() && "lpt1x".parse::<NeuronId>().is_ok());
    }
}
