//! What this process has just read or written, by id: so that a round of runs does not inflate, verify and parse the same
//! folders and hubs again and again.
//!
//! Two generations: what is asked for moves to the young one, and when that is half of the bound, the old one goes.
//! So the memory is bounded, and no entry needs a stamp or a place in a list. Ids are hashes of what they name,
//! so that nothing here can be out of date.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::object::Objects;
use super::{Store, StoreError};

/// Values by id, within a bound of bytes. Shared by threads.
pub struct Recent<K, V> {
    /// Bytes of one generation.
    bound: usize,
    generations: Mutex<Generations<K, V>>,
}

struct Generations<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    /// Bytes of the young.
    bytes: usize,
}

impl<K: Copy + Eq + Hash, V: Clone> Recent<K, V> {
    /// Remembers at most about so many bytes.
    pub fn new(bytes: usize) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), bytes: 0 };
        Self { bound: bytes / 2, generations: Mutex::new(generations) }
    }

    /// The value with that id, if it is remembered.
    pub fn get(&self, id: &K) -> Option<V> {
        let mut generations = self.lock();
        if let Some((value, _)) = generations.young.get(id) {
            return Some(value.clone());
        }
        let (value, bytes) = generations.old.remove(id)?;
        generations.add(*id, value.clone(), bytes, self.bound);
        Some(value)
    }

    /// Remembers a value of about so many bytes, unless one alone would push out most others.
    pub fn put(&self, id: K, value: V, bytes: usize) {
        if bytes <= self.bound / 16 {
            self.lock().add(id, value, bytes, self.bound);
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut generations = self.lock();
        *generations = Generations { young: HashMap::new(), old: HashMap::new(), bytes: 0 };
    }

    /// Whether a value that is remembered is such.
    pub fn any(&self, is_such: impl Fn(&V) -> bool) -> bool {
        let generations = self.lock();
        generations.young.values().chain(generations.old.values()).any(|(value, _)| is_such(value))
    }

    /// A thread that panicked while it held the lock left whole maps behind: each change is one call.
    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash, V> Generations<K, V> {
    fn add(&mut self, id: K, value: V, bytes: usize, bound: usize) {
        if self.bytes + bytes > bound {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        if self.young.insert(id, (value, bytes)).is_none() {
            self.bytes += bytes;
        }
    }
}

impl Store {
    /// What this store remembers, for [`Store::open_sharing`].
    pub fn recent(&self) -> Objects {
        Objects::clone(&self.recent)
    }

    /// Opens a brain for another thread of the same process, which remembers objects together with this one.
    pub fn open_sharing(dir: &std::path::Path, recent: Objects) -> Result<Store, StoreError> {
        let mut store = Self::open(dir)?;
        store.recent = recent;
        Ok(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::{Sandbox, write};
    use crate::store::{ObjectWriter, TreeId};

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let recent: Recent<u32, u32> = Recent::new(64);
        recent.put(0, 0, 1);
        recent.put(1000, 0, 3);
        assert_eq!(recent.get(&1000), None, "too large to be remembered");
        for id in 1..200 {
            recent.put(id, id, 1);
            assert_eq!(recent.get(&0), Some(0), "asked for each time");
        }
        assert_eq!((recent.get(&1), recent.get(&199)), (None, Some(199)));
        let kept = (0..200).filter(|id| recent.get(id).is_some()).count();
        assert!(kept <= 64, "{kept}");
        recent.clear();
        assert!(!recent.any(|_| true));
    }

    #[test]
    fn a_batch_that_was_dropped_is_not_remembered_and_a_published_one_is() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let other = Store::open_sharing(&sandbox.path(), store.recent()).unwrap();
        let tree = |writer: &ObjectWriter<'_>| writer.edit(None, vec![write("a", "tea")]).unwrap();
        let dropped: TreeId = tree(&store.writer().unwrap());
        assert!(matches!(other.read(dropped, "a"), Err(StoreError::Missing { .. })));
        let writer = store.writer().unwrap();
        assert_eq!(tree(&writer), dropped);
        writer.publish().unwrap();
        assert_eq!(other.read(dropped, "a").unwrap().unwrap(), b"tea");
        for pack in std::fs::read_dir(sandbox.path().join(".git/objects/pack")).unwrap() {
            std::fs::remove_file(pack.unwrap().path()).unwrap();
        }
        assert_eq!(other.read(dropped, "a").unwrap().unwrap(), b"tea", "out of memory");
    }
}
