//! The guard: no object is made that holds a secret. Text is redacted where it enters; this is the lowest point, where a
//! forgotten entrance becomes an error instead of a leak.
//!
//! What the repository held before is let through: a secret that this process has read from it is out already, and the
//! neuron that has it must still be able to be merged.

use std::sync::Arc;

use git2::ObjectType;

use super::{Objects, Store, StoreError};
use crate::model::secret::Secrets;

/// Looks at what becomes an object.
#[derive(Clone)]
pub struct Guard {
    secrets: Arc<Secrets>,
    read: Objects,
}

impl Guard {
    /// Refuses content with a secret that the repository did not hold before. Trees are names and hashes, and are not looked at:
    /// names are ids, which stand in the files as well.
    pub(super) fn check(&self, kind: ObjectType, content: &[u8]) -> Result<(), StoreError> {
        if kind == ObjectType::Tree {
            return Ok(());
        }
        for found in self.secrets.find(content) {
            let secret = &content[found.start..found.end];
            if !self.read.any(|(_, known)| contains(known, secret)) {
                let what = if kind == ObjectType::Commit { "a commit message" } else { "a file" };
                return Err(StoreError::Secret { what: what.to_owned(), kind: found.kind });
            }
        }
        Ok(())
    }
}

/// Whether the bytes stand somewhere in the content.
fn contains(content: &[u8], part: &[u8]) -> bool {
    aho_corasick::AhoCorasick::new([part]).is_ok_and(|finder| finder.is_match(content))
}

impl Store {
    /// What counts as a secret from now on; without it, what the rules say.
    pub fn set_secrets(&mut self, secrets: Arc<Secrets>) {
        self.secrets = secrets;
    }

    /// The guard for what other threads pack.
    pub fn guard(&self) -> Guard {
        Guard { secrets: Arc::clone(&self.secrets), read: self.recent() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::{Sandbox, commit_on, write};
    use crate::store::{Packed, Packer};

    const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3d";

    #[test]
    fn no_object_with_a_secret_is_made() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let writer = store.writer().unwrap();
        let refused = writer.blob(format!("x {TOKEN}").as_bytes()).unwrap_err();
        assert!(matches!(refused, StoreError::Secret { kind: "github-token", .. }));
        assert!(!refused.to_string().contains("aB3d"), "{refused}");
        let refused = writer.edit(None, vec![write("network/a", TOKEN)]).unwrap_err().to_string();
        assert!(refused.contains("network/a") && !refused.contains("aB3d"), "{refused}");
        let mut packer = Packer::new(store.guard());
        assert!(matches!(packer.blob(TOKEN.as_bytes(), &mut Packed::default()), Err(StoreError::Secret { .. })));
        let tree = writer.edit(None, vec![write("a", "x")]).unwrap();
        let mut spec = crate::store::sandbox::spec(tree, &[], "x", &[]);
        spec.body = TOKEN.to_owned();
        assert!(writer.commit(&spec).unwrap_err().to_string().contains("commit message"));
    }

    #[test]
    fn what_was_in_the_repository_before_can_still_be_changed() {
        let sandbox = Sandbox::brain();
        let mut store = sandbox.store();
        store.set_secrets(Arc::new(Secrets::new(&["github-token".to_owned()], &[]).unwrap()));
        let parent = store.need_tip(store.wake()).unwrap();
        let old = commit_on(&store, parent, vec![write("a", &format!("1 {TOKEN}"))]);
        let fresh = sandbox.store();
        let tree = fresh.tree_of(old).unwrap();
        let writer = fresh.writer().unwrap();
        assert!(writer.edit(Some(tree), vec![write("b", TOKEN)]).is_err(), "it was not read");
        fresh.read(tree, "a").unwrap();
        writer.edit(Some(tree), vec![write("a", &format!("2 {TOKEN}"))]).unwrap();
        assert!(writer.edit(Some(tree), vec![write("a", &TOKEN.replace("aB3d", "aB4d"))]).is_err());
    }
}
