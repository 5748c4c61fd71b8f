//! Sealing: ChaCha20-Poly1305 (RFC 8439) under a key of its own for each memory.
//!
//! That key is HKDF-SHA256 (RFC 5869) of the subject's key and the memory's random id, so it seals once and its nonce is zero. Kind, subject and
//! id are bound as additional data too: a ciphertext that was moved to another subject or id, or changed, does not open.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use super::padding::{padded, unpadded};
use crate::model::Stamp;
use crate::model::ids::{SealedId, SubjectId};
use crate::model::sealed::{Card, SealedMemory};

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// The version of the format, in every derivation.
const FORMAT: &[u8] = b"git-brain sealed 1";
/// Bytes of a time.
const TIME: usize = 8;

/// The key of a subject. Its text is never printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct SubjectKey([u8; KEY_BYTES]);

impl std::fmt::Debug for SubjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SubjectKey(…)")
    }
}

impl SubjectKey {
    /// The key of these bytes.
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// The key that 64 hexadecimal digits name.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = unhex(text)?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// It in 64 hexadecimal digits.
    pub fn text(&self) -> String {
        hex(&self.0)
    }

    /// The key of one card or memory, and the data that is bound to it.
    fn of(&self, kind: &str, subject: &SubjectId, id: &str) -> (LessSafeKey, Vec<u8>) {
        let mut bound = Vec::new();
        for field in [FORMAT, kind.as_bytes(), subject.as_str().as_bytes(), id.as_bytes()] {
            bound.extend((field.len() as u64).to_be_bytes());
            bound.extend(field);
        }
        let derived = Salt::new(HKDF_SHA256, FORMAT).extract(&self.0);
        let info = [&bound[..]];
        let expanded = derived.expand(&info, &CHACHA20_POLY1305).expect("invariant: HKDF gives 32 bytes");
        (LessSafeKey::new(UnboundKey::from(expanded)), bound)
    }

    fn seal(&self, kind: &str, subject: &SubjectId, id: &str, bytes: &[u8]) -> Option<String> {
        let mut text = padded(bytes)?;
        let (key, bound) = self.of(kind, subject, id);
        key.seal_in_place_append_tag(no_nonce(), Aad::from(bound), &mut text).ok()?;
        Some(hex(&text))
    }

    fn open(&self, kind: &str, subject: &SubjectId, id: &str, sealed: &str) -> Option<Vec<u8>> {
        let mut bytes = unhex(sealed)?;
        let (key, bound) = self.of(kind, subject, id);
        let opened = key.open_in_place(no_nonce(), Aad::from(bound), &mut bytes).ok()?;
        unpadded(opened).map(<[u8]>::to_vec)
    }
}

/// Each key seals one text, so no nonce is used twice under it.
fn no_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// A subject's card; `None`: the name is too long.
pub fn seal_name(key: &SubjectKey, subject: &SubjectId, name: &str) -> Option<Card> {
    let card = key.seal("card", subject, "", name.as_bytes())?;
    Some(Card { subject: subject.clone(), card })
}

/// The name on a card; `None`: the key is another subject's, or the card was changed.
pub fn read_card(key: &SubjectKey, card: &Card) -> Option<String> {
    String::from_utf8(key.open("card", &card.subject, "", &card.card)?).ok()
}

/// A memory, sealed; `None`: the text is too long. Its id must be random: it makes the key.
pub fn seal_memory(
    key: &SubjectKey,
    subject: &SubjectId,
    memory: &SealedId,
    at: Stamp,
    text: &str,
) -> Option<SealedMemory> {
    let mut bytes = at.unix().to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    let sealed = key.seal("memory", subject, memory.as_str(), &bytes)?;
    Some(SealedMemory { subject: subject.clone(), memory: memory.clone(), sealed })
}

/// Time and text of a memory; `None`: it was changed or moved, or the key is another subject's.
pub fn read_memory(key: &SubjectKey, memory: &SealedMemory) -> Option<(Stamp, String)> {
    let bytes = key.open("memory", &memory.subject, memory.memory.as_str(), &memory.sealed)?;
    let (at, text) = bytes.split_first_chunk::<TIME>()?;
    let at = Stamp::exactly(i64::from_be_bytes(*at))?;
    Some((at, String::from_utf8(text.to_vec()).ok()?))
}

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).filter(|_| !b.is_ascii_uppercase());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::try_from(digit(pair[0])? << 4 | digit(*pair.get(1)?)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(n: u8) -> SubjectId {
        SubjectId::parse(&format!("subject-{n:032x}")).unwrap()
    }

    fn id(n: u8) -> SealedId {
        SealedId::parse(&format!("sealed-{n:032x}")).unwrap()
    }

    fn sealed(key: u8) -> SealedMemory {
        let at = "2026-01-26T14:32:00Z".parse().unwrap();
        seal_memory(&SubjectKey::new([key; 32]), &subject(1), &id(1), at, "Anna is allergic to nuts").unwrap()
    }

    #[test]
    fn memory_opens_with_its_key_alone_and_where_it_was_sealed() {
        let (key, memory) = (SubjectKey::new([7; 32]), sealed(7));
        assert_eq!(memory.sealed.len(), 2 * (256 + 16));
        assert_eq!(read_memory(&key, &memory).unwrap().1, "Anna is allergic to nuts");
        assert_eq!(read_memory(&SubjectKey::new([8; 32]), &memory), None, "another key");
        let moved = SealedMemory { subject: subject(2), ..memory.clone() };
        assert_eq!(read_memory(&key, &moved), None, "another subject");
        let moved = SealedMemory { memory: id(2), ..memory.clone() };
        assert_eq!(read_memory(&key, &moved), None, "another id");
        // Each digit counts.
        for at in [0, memory.sealed.len() / 2, memory.sealed.len() - 1] {
            let mut text = memory.sealed.clone().into_bytes();
            text[at] = if text[at] == b'0' { b'1' } else { b'0' };
            let changed = SealedMemory { sealed: String::from_utf8(text).unwrap(), ..memory.clone() };
            assert_eq!(read_memory(&key, &changed), None, "{at}");
        }
        let cut = SealedMemory { sealed: memory.sealed[2..].to_owned(), ..memory };
        assert_eq!(read_memory(&key, &cut), None);
    }

    #[test]
    fn card_is_no_memory_and_names_its_subject_alone() {
        let key = SubjectKey::new([7; 32]);
        let card = seal_name(&key, &subject(1), "Anna").unwrap();
        assert_eq!(read_card(&key, &card).as_deref(), Some("Anna"));
        assert_eq!(read_card(&SubjectKey::new([9; 32]), &card), None);
        assert_eq!(read_card(&key, &Card { subject: subject(2), ..card.clone() }), None);
        assert_eq!(read_card(&key, &Card { subject: subject(1), card: sealed(7).sealed }), None);
    }

    #[test]
    fn the_same_text_is_sealed_otherwise_under_another_id() {
        let key = SubjectKey::new([7; 32]);
        let at = Stamp::from_unix(0);
        let of = |n| seal_memory(&key, &subject(1), &id(n), at, "tea").unwrap().sealed;
        let (one, other) = (of(1), of(2));
        let same = one.bytes().zip(other.bytes()).filter(|(a, b)| a == b).count();
        // A sixteenth of the digits is alike by chance.
        assert!(same < one.len() / 8, "{same} of {}", one.len());
    }

    #[test]
    fn key_is_64_lower_case_digits_and_not_printed() {
        let key = SubjectKey::new([0xab; 32]);
        assert_eq!(SubjectKey::parse(&key.text()), Some(key.clone()));
        for bad in ["", "ab", &"AB".repeat(32), &"zz".repeat(32), &"ab".repeat(33), &"é".repeat(32)] {
            assert_eq!(SubjectKey::parse(bad), None, "{bad}");
        }
        assert!(!format!("{key:?}").contains("ab"));
    }
}
