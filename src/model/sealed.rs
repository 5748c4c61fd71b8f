//! Sealed memories, as files hold them: cards of subjects, ciphertext, tombstones, and the record of the run that entered them.
//!
//! Only shapes and bounds are here. Keys and words are `crate::sealed`'s, and never in a file of the brain.

use serde::{Deserialize, Serialize};

use super::Stamp;
use super::ids::{RunId, SealedId, SubjectId};
use crate::limits;

/// Bytes of the tag that ends a ciphertext.
pub const TAG_BYTES: usize = 16;

/// The card of a subject: its name under its key. A key is that of the subject whose card it opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The subject, a random id.
    pub subject: SubjectId,
    /// The ciphertext of its name, in hexadecimal digits.
    pub card: String,
}

/// A memory about a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SealedMemory {
    /// The subject.
    pub subject: SubjectId,
    /// The memory, a random id.
    pub memory: SealedId,
    /// The ciphertext of its time and text, in hexadecimal digits.
    pub sealed: String,
}

/// The entries of one run about subjects, and the subjects that it forgot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sealing {
    /// Cards of new subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Card>,
    /// Sealed memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<SealedMemory>,
    /// Tombstones: each machine that reads one destroys its key of that subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<SubjectId>,
}

/// A record of sealed memories, `network/sealed/…/<run>.json`: written once, by the run that entered it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SealedRecord {
    /// The run, also the file's name.
    pub run: RunId,
    /// The run's clock.
    pub at: Stamp,
    /// The cards, memories and tombstones.
    pub sealing: Sealing,
}

impl Sealing {
    /// What is wrong with it: the field, and why.
    ///
    /// # Errors
    /// Nothing in it, too much in it, an id that stands twice, or a ciphertext of a length that sealing does not make.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let count = self.subjects.len() + self.memories.len() + self.forget.len();
        if count == 0 || count > limits::SEALED_AT_ONCE {
            let why = format!("are {count} with cards and tombstones, not 1 to {}", limits::SEALED_AT_ONCE);
            return Err(("memories", why));
        }
        twice(self.subjects.iter().map(|card| card.subject.as_str())).map_or(Ok(()), |id| Err(("subjects", id)))?;
        twice(self.memories.iter().map(|memory| memory.memory.as_str())).map_or(Ok(()), |id| Err(("memories", id)))?;
        twice(self.forget.iter().map(SubjectId::as_str)).map_or(Ok(()), |id| Err(("forget", id)))?;
        let is_card = |text: &str| is_ciphertext(text, &limits::SEALED_BLOCKS[..1]);
        if let Some(card) = self.subjects.iter().find(|card| !is_card(&card.card)) {
            return Err(("card", format!("of {} is no ciphertext of a name", card.subject)));
        }
        match self.memories.iter().find(|memory| !is_ciphertext(&memory.sealed, &limits::SEALED_BLOCKS)) {
            Some(memory) => Err(("sealed", format!("of {} is no ciphertext of a memory", memory.memory))),
            None => Ok(()),
        }
    }
}

/// The first id that stands twice, in words.
fn twice<'i>(ids: impl Iterator<Item = &'i str>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    ids.into_iter().find(|id| !seen.insert(*id)).map(|id| format!("has {id} twice"))
}

fn is_ciphertext(text: &str, blocks: &[usize]) -> bool {
    let is_length = |block: &usize| text.len() == 2 * (block + TAG_BYTES);
    blocks.iter().any(is_length) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(n: usize) -> SubjectId {
        SubjectId::parse(&format!("subject-{n:032x}")).unwrap()
    }

    fn memory(n: usize, block: usize) -> SealedMemory {
        let id = SealedId::parse(&format!("sealed-{n:032x}")).unwrap();
        SealedMemory { subject: subject(0), memory: id, sealed: "0".repeat(2 * (block + TAG_BYTES)) }
    }

    #[test]
    fn shapes_and_bounds_are_checked() {
        let good = Sealing { memories: vec![memory(0, 256), memory(1, 8192)], ..Sealing::default() };
        assert_eq!(good.check(), Ok(()));
        let fault = |sealing: Sealing| sealing.check().unwrap_err().0;
        assert_eq!(fault(Sealing::default()), "memories");
        assert_eq!(fault(Sealing { memories: vec![memory(0, 256), memory(0, 512)], ..Sealing::default() }), "memories");
        let many = (0..=limits::SEALED_AT_ONCE).map(|n| memory(n, 256)).collect();
        assert_eq!(fault(Sealing { memories: many, ..Sealing::default() }), "memories");
        assert_eq!(fault(Sealing { forget: vec![subject(1), subject(1)], ..Sealing::default() }), "forget");
        for bad in ["", "00", &"0".repeat(2 * (300 + TAG_BYTES)), &"A".repeat(2 * (256 + TAG_BYTES))] {
            let one = SealedMemory { sealed: bad.to_owned(), ..memory(0, 256) };
            assert_eq!(fault(Sealing { memories: vec![one], ..Sealing::default() }), "sealed", "{bad}");
        }
        let long = Card { subject: subject(0), card: "0".repeat(2 * (512 + TAG_BYTES)) };
        assert_eq!(fault(Sealing { subjects: vec![long], ..Sealing::default() }), "card");
    }
}
