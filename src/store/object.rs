//! Reading objects: those of the batch that is not published yet, those that this process remembers, then those of the
//! repository.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use git2::{ErrorClass, ErrorCode, ObjectType, Oid};

use super::{BlobId, Recent, Store, StoreError};
use crate::limits;

/// The objects of a batch, by id.
pub(super) type Pending = HashMap<Oid, (ObjectType, Arc<[u8]>)>;

/// Objects that this process has read, and so verified, or published. Shared by the stores of all its threads.
pub type Objects = Arc<Recent<Oid, (ObjectType, Arc<[u8]>)>>;

/// How often an object that is not there is looked for, and how long at first between two tries, milliseconds. While `git repack`
/// puts packs together, whoever knows the old ones finds them gone, and may list the folder before the new one is in it.
const LOOKS: u32 = 5;
const LOOK_PAUSE_MS: u64 = 2;

impl Store {
    /// Asks for what needs objects, again if one was not found: git's own maintenance may be moving it just now. What this
    /// process knows of the packs is forgotten for that.
    pub(super) fn with_objects<R>(
        &self,
        ask: impl Fn(&git2::Repository) -> Result<R, git2::Error>,
    ) -> Result<R, git2::Error> {
        let mut answer = self.with(&ask);
        for look in 1..LOOKS {
            match &answer {
                // A pack that is gone between its index and itself is an error of the system.
                Err(e) if e.class() == ErrorClass::Odb || e.message().contains("packfile") => {}
                _ => break,
            }
            std::thread::sleep(Duration::from_millis(LOOK_PAUSE_MS << look));
            self.list_packs()?;
            answer = if look == 1 { self.with(&ask) } else { ask(&git2::Repository::open(&self.common)?) };
        }
        answer
    }

    /// A file's content. Refuses what is larger than any document of a brain, before reading it.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, StoreError> {
        self.object(id.0, ObjectType::Blob, "blob").map(|bytes| bytes.to_vec())
    }

    /// A file's content, shared with whoever else reads it.
    pub fn content(&self, id: BlobId) -> Result<Arc<[u8]>, StoreError> {
        self.object(id.0, ObjectType::Blob, "blob")
    }

    /// Whether the object is in the open batch or in the repository.
    pub(super) fn has(&self, id: Oid) -> bool {
        self.pending.borrow().contains_key(&id)
            || self.recent.get(&id).is_some()
            || self.with(|r| r.odb()?.read_header(id)).is_ok()
    }

    pub(super) fn object(&self, id: Oid, kind: ObjectType, what: &'static str) -> Result<Arc<[u8]>, StoreError> {
        let bad = |reason: String| StoreError::BadObject { what, id: id.to_string(), reason };
        let known = self.pending.borrow().get(&id).cloned().or_else(|| self.recent.get(&id));
        if let Some((found, bytes)) = known {
            return if found == kind { Ok(bytes) } else { Err(bad(format!("it is a {found}"))) };
        }
        let read = self.with_objects(|repository| {
            let odb = repository.odb()?;
            let (size, found) = odb.read_header(id)?;
            if found != kind || size > limits::DOCUMENT_BYTES {
                return Ok(Err((size, found)));
            }
            Ok(Ok(Arc::<[u8]>::from(odb.read(id)?.data())))
        });
        match read {
            Ok(Ok(bytes)) => {
                self.recent.put(id, (kind, Arc::clone(&bytes)), bytes.len());
                Ok(bytes)
            }
            Ok(Err((size, found))) if found == kind => Err(bad(format!("it has {size} bytes"))),
            Ok(Err((_, found))) => Err(bad(format!("it is a {found}"))),
            Err(e) if e.code() == ErrorCode::NotFound => Err(StoreError::Missing { what, id: id.to_string() }),
            Err(e) if matches!(e.class(), ErrorClass::Zlib | ErrorClass::Odb) => {
                Err(bad(format!("it is damaged: {}", e.message())))
            }
            Err(e) => Err(StoreError::git(format!("{what} {id}"), e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::Sandbox;

    #[test]
    fn what_a_repack_is_moving_is_looked_for_again() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let missing = |class| git2::Error::new(ErrorCode::NotFound, class, "object not found");
        let looks = std::cell::Cell::new(0);
        let ask = |times: u32, class| {
            looks.set(0);
            store.with_objects(|_| {
                looks.set(looks.get() + 1);
                if looks.get() < times { Err(missing(class)) } else { Ok(()) }
            })
        };
        assert!(ask(LOOKS, ErrorClass::Odb).is_ok() && looks.get() == LOOKS);
        assert!(ask(LOOKS + 1, ErrorClass::Odb).is_err(), "what is not there is not there");
        assert!(ask(2, ErrorClass::Merge).is_err() && looks.get() == 1, "no merge base is an answer");
    }
}
