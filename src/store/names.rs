//! Newtypes for what the store is asked about: object ids by kind, branch names.

use std::fmt;

use git2::Oid;

use super::StoreError;

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) Oid);

        impl $name {
            /// Reads the 40 hex digits of an id.
            pub fn parse(text: &str) -> Result<Self, StoreError> {
                let whole = text.len() == 40;
                let id = Oid::from_str(text).ok().filter(|_| whole);
                id.map(Self).ok_or_else(|| StoreError::BadObject {
                    what: "object",
                    id: text.chars().take(80).collect(),
                    reason: "not an object id".to_owned(),
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

object_id!(
    /// A file's content.
    BlobId
);
object_id!(
    /// A folder.
    TreeId
);
object_id!(
    /// A commit.
    CommitId
);

/// A branch's short name, such as `wake` or `agents/memory/20260126t…`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Branch(String);

/// Longest branch name, bytes: a ref is a file, with `.lock` behind it.
const BRANCH_BYTES: usize = 200;

impl Branch {
    /// Checks the name: what git allows, without what terminals and command lines cannot bear.
    pub fn parse(name: &str) -> Result<Self, StoreError> {
        let fail = |reason| StoreError::BadBranch { name: name.chars().take(80).collect(), reason };
        if name.len() > BRANCH_BYTES {
            return Err(fail("longer than 200 bytes"));
        }
        if name.starts_with('-') {
            return Err(fail("it starts with '-'"));
        }
        let plain = |c: char| c.is_alphanumeric() || "/._-+@#=".contains(c);
        if !name.chars().all(plain) {
            return Err(fail("it has characters other than letters, digits and /._-+@#="));
        }
        if name == "HEAD" || name.starts_with("refs/") || !git2::Reference::is_valid_name(&format!("refs/heads/{name}"))
        {
            return Err(fail("git does not allow it"));
        }
        Ok(Self(name.to_owned()))
    }

    /// The short name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `refs/heads/<name>`.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for Branch {
    type Err = StoreError;
    fn from_str(name: &str) -> Result<Self, StoreError> {
        Self::parse(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_that_hurt_are_refused() {
        for good in ["main", "brain/main", "agents/memory/20260126t143200123z-abcd2345-memory", "été"] {
            assert!(Branch::parse(good).is_ok(), "{good}");
        }
        let long = "a".repeat(201);
        for bad in [
            "",
            "-x",
            "a..b",
            "a b",
            "a.lock",
            "HEAD",
            "refs/heads/x",
            "a/",
            "/a",
            "a\n",
            "a\u{202e}b",
            "a:b",
            "@{1}",
            ".a",
            &long,
        ] {
            assert!(Branch::parse(bad).is_err(), "{bad:?}");
        }
    }
}
