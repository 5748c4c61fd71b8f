//! From records and keys to what is here: subjects by name, memories that open, and counts of those that do not.

use std::collections::{BTreeMap, BTreeSet};

use super::cipher::{SubjectKey, read_card, read_memory};
use crate::model::Stamp;
use crate::model::ids::{RunId, SealedId, SubjectId, normalise};
use crate::model::sealed::{Card, SealedRecord};

/// A subject of the brain.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSubject {
    /// Its id.
    pub id: SubjectId,
    /// Its name; `None`: its key is not here, or opens no card.
    pub name: Option<String>,
    /// Whether its key is here.
    pub has_key: bool,
    /// Whether it was forgotten: no key of it is to be anywhere.
    pub is_forgotten: bool,
    /// Memories that are sealed for it.
    pub memories: usize,
}

/// A memory that a key of this machine opens.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldMemory {
    /// Its id.
    pub id: SealedId,
    /// Its subject.
    pub subject: SubjectId,
    /// Its subject's name.
    pub name: String,
    /// When it happened.
    pub at: Stamp,
    /// Its text.
    pub text: String,
}

/// A card or memory that does not open though its subject's key is here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The file.
    pub path: String,
    /// The subject or memory in it.
    pub id: String,
    /// Its subject.
    pub subject: SubjectId,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, id, subject } = self;
        write!(f, "{path}: {id} does not open with the key of {subject}: it was changed, or moved from another place")
    }
}

/// The subjects and sealed memories of a tree, as far as keys open them.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Subjects, by id.
    pub subjects: BTreeMap<SubjectId, HeldSubject>,
    /// Memories that open, in the order of their runs.
    pub memories: Vec<HeldMemory>,
    /// Cards and memories that do not open and should.
    pub damages: Vec<Damage>,
}

impl Held {
    /// Opens records, each with its path. Of two cards of a subject, and of two memories of one id, the first that opens counts. Memories of runs
    /// that were taken back are left out. Nothing of a forgotten subject opens, whatever key is here.
    pub fn of(
        mut records: Vec<(String, SealedRecord)>,
        keys: &BTreeMap<SubjectId, SubjectKey>,
        taken_back: &BTreeSet<RunId>,
        forgotten: &BTreeSet<SubjectId>,
    ) -> Self {
        records.sort_by(|(_, a), (_, b)| a.run.cmp(&b.run));
        let mut held = Self::default();
        for id in forgotten {
            held.subject(id, keys).is_forgotten = true;
        }
        for (path, record) in &records {
            record.sealing.subjects.iter().for_each(|card| held.name(path, card, keys));
        }
        let mut seen: BTreeSet<&SealedId> = BTreeSet::new();
        let counted = records.iter().filter(|(_, record)| !taken_back.contains(&record.run));
        for (path, memory) in counted.flat_map(|(path, r)| r.sealing.memories.iter().map(move |m| (path, m))) {
            let subject = held.subject(&memory.subject, keys);
            let name = subject.name.clone().unwrap_or_else(|| memory.subject.to_string());
            let key = keys.get(&memory.subject).filter(|_| !subject.is_forgotten);
            let opened = key.map(|key| read_memory(key, memory));
            if !matches!(opened, Some(None)) && seen.insert(&memory.memory) {
                subject.memories += 1;
                if let Some((at, text)) = opened.flatten() {
                    let (id, subject) = (memory.memory.clone(), memory.subject.clone());
                    held.memories.push(HeldMemory { id, subject, name, at, text });
                }
            } else if matches!(opened, Some(None)) {
                let (id, subject) = (memory.memory.to_string(), memory.subject.clone());
                held.damages.push(Damage { path: path.clone(), id, subject });
            }
        }
        held
    }

    fn subject(&mut self, id: &SubjectId, keys: &BTreeMap<SubjectId, SubjectKey>) -> &mut HeldSubject {
        let has_key = keys.contains_key(id);
        let new = || HeldSubject { id: id.clone(), name: None, has_key, is_forgotten: false, memories: 0 };
        self.subjects.entry(id.clone()).or_insert_with(new)
    }

    fn name(&mut self, path: &str, card: &Card, keys: &BTreeMap<SubjectId, SubjectKey>) {
        let subject = self.subject(&card.subject, keys);
        let Some(key) = keys.get(&card.subject).filter(|_| !subject.is_forgotten) else { return };
        match read_card(key, card) {
            Some(name) => {
                subject.name.get_or_insert(name);
            }
            None => {
                let (id, subject) = (card.subject.to_string(), card.subject.clone());
                self.damages.push(Damage { path: path.to_owned(), id, subject });
            }
        }
    }

    /// The subjects that a name or an id means.
    pub fn named(&self, text: &str) -> Vec<&HeldSubject> {
        // A letter with its accent may be one character or two.
        let wanted = normalise(text);
        let is_it = |subject: &&HeldSubject| {
            subject.id.as_str() == text || subject.name.as_deref().is_some_and(|name| normalise(name) == wanted)
        };
        self.subjects.values().filter(is_it).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::layout;
    use crate::model::sealed::Sealing;
    use crate::sealed::{seal_memory, seal_name};

    fn subject(n: u8) -> SubjectId {
        SubjectId::parse(&format!("subject-{n:032x}")).unwrap()
    }

    fn key(n: u8) -> SubjectKey {
        SubjectKey::new([n; 32])
    }

    fn record(n: u8, sealing: Sealing) -> (String, SealedRecord) {
        let run = RunId::parse(&format!("20260126t14320{n}123z-abcd2345-human")).unwrap();
        (layout::sealed(&run), SealedRecord { run, at: Stamp::from_unix(0), sealing })
    }

    fn memory(of: u8, n: u8, text: &str) -> crate::model::sealed::SealedMemory {
        let id = SealedId::parse(&format!("sealed-{n:032x}")).unwrap();
        seal_memory(&key(of), &subject(of), &id, Stamp::from_unix(60), text).unwrap()
    }

    fn brain() -> Vec<(String, SealedRecord)> {
        let cards = [(1, "Anna"), (2, "Ben")].map(|(n, name)| seal_name(&key(n), &subject(n), name).unwrap());
        vec![
            record(0, Sealing { subjects: cards.to_vec(), ..Sealing::default() }),
            record(1, Sealing { memories: vec![memory(1, 1, "nuts"), memory(2, 2, "milk")], ..Sealing::default() }),
        ]
    }

    #[test]
    fn keys_open_their_own_subjects_and_others_are_counted() {
        let keys = BTreeMap::from([(subject(1), key(1))]);
        let held = Held::of(brain(), &keys, &BTreeSet::new(), &BTreeSet::new());
        let texts: Vec<_> = held.memories.iter().map(|m| (m.name.as_str(), m.text.as_str())).collect();
        assert_eq!((texts, held.damages.len()), (vec![("Anna", "nuts")], 0));
        let ben = &held.subjects[&subject(2)];
        assert_eq!((&ben.name, ben.has_key, ben.memories), (&None, false, 1));
        assert_eq!(held.named("Anna")[0].id, subject(1));
        assert_eq!(held.named("A\u{ff4e}na")[0].id, subject(1), "whichever characters a name is composed of");
        assert!(held.named("Ben").is_empty() && held.named(subject(2).as_str()).len() == 1);
    }

    #[test]
    fn moved_memory_is_damage_with_its_place() {
        let mut records = brain();
        let place = records[1].0.clone();
        let memories = &mut records[1].1.sealing.memories;
        let (one, two) = (memories[0].sealed.clone(), memories[1].sealed.clone());
        (memories[0].sealed, memories[1].sealed) = (two, one);
        let keys = BTreeMap::from([(subject(1), key(1)), (subject(2), key(2))]);
        let held = Held::of(records, &keys, &BTreeSet::new(), &BTreeSet::new());
        assert_eq!((held.memories.len(), held.damages.len()), (0, 2));
        assert!(held.damages.iter().all(|damage| damage.path == place), "{:?}", held.damages);
    }

    #[test]
    fn copy_of_a_memory_counts_once_and_one_taken_back_not_at_all() {
        let mut records = brain();
        records.push(record(2, records[1].1.sealing.clone()));
        let keys = BTreeMap::from([(subject(1), key(1))]);
        let none = BTreeSet::new();
        assert_eq!(Held::of(records.clone(), &keys, &BTreeSet::new(), &none).memories.len(), 1);
        let back = records[1..].iter().map(|(_, record)| record.run.clone()).collect();
        assert_eq!(Held::of(records, &keys, &back, &none).memories.len(), 0);
    }

    #[test]
    fn nothing_of_a_forgotten_subject_opens_whatever_key_is_here() {
        let keys = BTreeMap::from([(subject(1), key(1))]);
        let held = Held::of(brain(), &keys, &BTreeSet::new(), &BTreeSet::from([subject(1)]));
        assert!(held.subjects[&subject(1)].is_forgotten && held.memories.is_empty());
        assert_eq!(held.subjects[&subject(1)].name, None);
    }
}
