//! Ids of members, families, threads and messages.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::text::{is_seen, looks};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// An agent that may vote.
    MemberId
}
id! {
    /// A mind, wherever it sits: by its family and its name ([`MindId::of`]), or by the id of a member of which no more is known.
    MindId
}

impl MindId {
    /// The mind of a family and a name, such as `model:opus` or `command:/opt/vote --strict`.
    pub fn of(family: &Family, name: &str) -> Self {
        Self(format!("{}\n{name}", family.look))
    }
}

impl From<&MemberId> for MindId {
    fn from(member: &MemberId) -> Self {
        Self(member.0.clone())
    }
}

id! {
    /// A thread of messages: one question, one round of votes.
    ThreadId
}
id! {
    /// A message, by the SHA-256 of its signed bytes.
    MessageId
}

/// A model family. Two that [look](looks) alike are one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Family {
    text: Box<str>,
    look: Box<str>,
}

impl Family {
    /// The family as text, in lower case.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether nothing of it is seen.
    pub fn is_blank(&self) -> bool {
        self.look.is_empty()
    }

    /// Whether it has characters that nobody sees.
    pub fn hides_letters(&self) -> bool {
        !self.text.chars().all(is_seen)
    }
}

impl From<&str> for Family {
    fn from(text: &str) -> Self {
        Self { text: text.trim().to_lowercase().into(), look: looks(text).into() }
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.look == other.look
    }
}

impl Eq for Family {}

impl PartialOrd for Family {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Family {
    fn cmp(&self, other: &Self) -> Ordering {
        self.look.cmp(&other.look)
    }
}

impl Hash for Family {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.look.hash(state);
    }
}

impl From<String> for Family {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Family> for String {
    fn from(family: Family) -> Self {
        family.text.into()
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Six digits behind the point. A stored figure decides, so that .7 three times is .7 on average.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_that_look_alike_are_one() {
        let read: Family = serde_json::from_str("\" Claude\\n\"").unwrap();
        assert_eq!(read, Family::from("claude"));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"claude\"");
        let sets =
            [["x", "x\u{200b}", "x\u{feff}"], ["é", "e\u{301}", "É"], ["x", "ｘ", "x."], ["a b", "a  b", "a\u{a0}b"]];
        for [one, second, third] in sets.map(|set| set.map(Family::from)) {
            assert!(one == second && second == third, "{one:?} {second:?} {third:?}");
            assert_eq!(MindId::of(&one, "model:m"), MindId::of(&third, "model:m"), "and have one past");
        }
        assert_ne!(Family::from("gpt-4"), Family::from("gpt-5"));
        assert!(Family::from("anthropic\u{200b}").hides_letters() && !Family::from("ｘ é").hides_letters());
        let kept = serde_json::to_string(&Family::from("A.\u{200b}")).unwrap();
        assert_eq!(kept, serde_json::to_string("a.\u{200b}").unwrap(), "records keep what was signed");
    }
}
