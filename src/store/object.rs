//! Reading objects: those of the batch that is not published yet, then those of the repository.

use std::collections::HashMap;
use std::sync::Arc;

use git2::{ErrorCode, ObjectType, Oid};

use super::{BlobId, Store, StoreError};
use crate::limits;

/// The objects of a batch, by id.
pub(super) type Pending = HashMap<Oid, (ObjectType, Arc<[u8]>)>;

/// The bytes of an object.
pub(super) enum Bytes {
    Pending(Arc<[u8]>),
    Stored(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Pending(bytes) => bytes,
            Self::Stored(bytes) => bytes,
        }
    }
}

impl Store {
    /// A file's content. Refuses what is larger than any document of a brain, before reading it.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, StoreError> {
        self.object(id.0, ObjectType::Blob, "blob").map(|bytes| bytes.to_vec())
    }

    /// True if the object is in the open batch or in the repository.
    pub(super) fn has(&self, id: Oid) -> bool {
        self.pending.borrow().contains_key(&id) || self.with(|r| r.odb()?.read_header(id)).is_ok()
    }

    pub(super) fn object(&self, id: Oid, kind: ObjectType, what: &'static str) -> Result<Bytes, StoreError> {
        let bad = |reason: String| StoreError::BadObject { what, id: id.to_string(), reason };
        if let Some((found, bytes)) = self.pending.borrow().get(&id) {
            return if *found == kind {
                Ok(Bytes::Pending(bytes.clone()))
            } else {
                Err(bad(format!("it is a {found}")))
            };
        }
        let read = self.with(|repository| {
            let odb = repository.odb()?;
            let (size, found) = odb.read_header(id)?;
            if found != kind || size > limits::DOCUMENT_BYTES {
                return Ok(Err((size, found)));
            }
            Ok(Ok(odb.read(id)?.data().to_vec()))
        });
        match read {
            Ok(Ok(bytes)) => Ok(Bytes::Stored(bytes)),
            Ok(Err((size, found))) if found == kind => Err(bad(format!("it has {size} bytes"))),
            Ok(Err((_, found))) => Err(bad(format!("it is a {found}"))),
            Err(e) if e.code() == ErrorCode::NotFound => Err(StoreError::Missing { what, id: id.to_string() }),
            Err(e) => Err(StoreError::git(format!("{what} {id}"), e)),
        }
    }
}
