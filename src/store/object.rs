//! Reading objects: those of the batch that is not published yet, those that this process remembers, then those of the
//! repository.

use std::collections::HashMap;
use std::sync::Arc;

use git2::{ErrorCode, ObjectType, Oid};

use super::{BlobId, Recent, Store, StoreError};
use crate::limits;

/// The objects of a batch, by id.
pub(super) type Pending = HashMap<Oid, (ObjectType, Arc<[u8]>)>;

/// Objects that this process has read, and so verified, or published. Shared by the stores of all its threads.
pub type Objects = Arc<Recent<Oid, (ObjectType, Arc<[u8]>)>>;

impl Store {
    /// A file's content. Refuses what is larger than any document of a brain, before reading it.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, StoreError> {
        self.object(id.0, ObjectType::Blob, "blob").map(|bytes| bytes.to_vec())
    }

    /// A file's content, shared with whoever else reads it.
    pub fn content(&self, id: BlobId) -> Result<Arc<[u8]>, StoreError> {
        self.object(id.0, ObjectType::Blob, "blob")
    }

    /// True if the object is in the open batch or in the repository.
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
        let read = self.with(|repository| {
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
            Err(e) => Err(StoreError::git(format!("{what} {id}"), e)),
        }
    }
}
