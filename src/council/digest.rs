//! Canonical bytes and their SHA-256.

use sha2::{Digest, Sha256};

/// Joins fields without ambiguity: a tag, then each field behind its length. Two different lists never give the same bytes.
pub(crate) fn canonical(tag: &str, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in std::iter::once(tag.as_bytes()).chain(fields.iter().copied()) {
        bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
        bytes.extend_from_slice(field);
    }
    bytes
}

/// Lower-case hexadecimal digits of bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).collect()
}

/// SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_matches_the_standard_example() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn canonical_bytes_keep_the_borders_of_fields() {
        assert_ne!(canonical("t", &[b"ab", b"c"]), canonical("t", &[b"a", b"bc"]));
        assert_ne!(canonical("t", &[b"ab"]), canonical("t", &[b"ab", b""]));
        assert_ne!(canonical("ta", &[b"b"]), canonical("t", &[b"ab"]));
    }
}
