//! Ids of members, families, threads and messages.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        Self(format!("{}\n{name}", family.as_str()))
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

/// A model family. Case and surrounding space do not make another family.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Family(String);

impl Family {
    /// The family as text, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Family {
    fn from(text: &str) -> Self {
        Self(text.trim().to_lowercase())
    }
}

impl From<String> for Family {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Family> for String {
    fn from(family: Family) -> Self {
        family.0
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
    fn family_ignores_case_and_space() {
        let read: Family = serde_json::from_str("\" Claude\\n\"").unwrap();
        assert_eq!(read, Family::from("claude"));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"claude\"");
    }
}
