//! Small hash tables that are emptied in no time: what a query needs to remember of the neurons that it touches, so that
//! it costs what it touches and not the size of the network.

/// Keys with the place of each in some list. Open addressing, at most half full.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    used: usize,
    /// Entries of other epochs are empty.
    epoch: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    epoch: u32,
    key: u32,
    place: u32,
}

const SMALLEST: usize = 64;

impl Table {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.used = 0;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.entries.fill(Entry::default());
            self.epoch = 1;
        }
    }

    /// The place of a key.
    pub fn find(&self, key: u32) -> Option<usize> {
        if self.used == 0 {
            return None;
        }
        let entry = &self.entries[self.probe(key)];
        (entry.epoch == self.epoch).then_some(entry.place as usize)
    }

    /// The place of a key, `next` if it is new.
    pub fn place(&mut self, key: u32, next: usize) -> usize {
        if 2 * self.used >= self.entries.len() {
            self.grow();
        }
        let at = self.probe(key);
        let entry = &mut self.entries[at];
        if entry.epoch != self.epoch {
            *entry = Entry { epoch: self.epoch, key, place: next as u32 };
            self.used += 1;
        }
        entry.place as usize
    }

    /// The entry of a key, or the empty one where it belongs. There is an empty one, because half of them are.
    fn probe(&self, key: u32) -> usize {
        let mask = self.entries.len() - 1;
        // Fibonacci hashing (Knuth 6.4): the high bits are the good ones.
        let hash = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let entry = &self.entries[at];
            if entry.epoch != self.epoch || entry.key == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.entries.len()).max(SMALLEST);
        let old = std::mem::replace(&mut self.entries, vec![Entry::default(); size]);
        self.epoch = self.epoch.max(1);
        for entry in old.into_iter().filter(|entry| entry.epoch == self.epoch) {
            let at = self.probe(entry.key);
            self.entries[at] = entry;
        }
    }
}

/// Sums by key, each in the order in which its terms came.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    table: Table,
    list: Vec<(u32, f64)>,
}

impl Sums {
    pub fn clear(&mut self) {
        self.table.clear();
        self.list.clear();
    }

    pub fn add(&mut self, key: u32, term: f64) {
        let place = self.table.place(key, self.list.len());
        if place == self.list.len() {
            self.list.push((key, 0.0));
        }
        self.list[place].1 += term;
    }

    /// The sum of a key, 0 if nothing was added to it.
    pub fn of(&self, key: u32) -> f64 {
        self.table.find(key).map_or(0.0, |place| self.list[place].1)
    }

    /// All sums, in no order.
    pub fn list(&self) -> &[(u32, f64)] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_remembers_what_a_map_does() {
        let mut table = Table::default();
        for round in 0..4_u32 {
            let mut map = std::collections::BTreeMap::new();
            assert_eq!(table.find(7), None);
            for i in 0..3_000_u32 {
                let key = i.wrapping_mul(2_654_435_761).rotate_left(round) % 2_000;
                let next = map.len();
                assert_eq!(table.place(key, next), *map.entry(key).or_insert(next));
            }
            assert!((0..2_100).all(|key| table.find(key) == map.get(&key).copied()));
            table.clear();
        }
    }

    #[test]
    fn an_epoch_that_wraps_forgets_too() {
        let mut table = Table { epoch: u32::MAX - 1, ..Table::default() };
        for _ in 0..3 {
            assert_eq!(table.find(3), None);
            assert_eq!((table.place(3, 0), table.place(4, 1), table.find(3)), (0, 1, Some(0)));
            table.clear();
        }
    }
}
