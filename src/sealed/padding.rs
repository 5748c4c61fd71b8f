//! Padding: a text fills one of few lengths before it is sealed, because a ciphertext is as long as what it hides.

use crate::limits;

/// Bytes in front of a text that say its length.
const HEAD: usize = 4;

/// Bytes filled up to the next of [`limits::SEALED_BLOCKS`]: length (4 bytes, most significant first), bytes, zeros. `None`: too long.
pub fn padded(bytes: &[u8]) -> Option<Vec<u8>> {
    let block = limits::SEALED_BLOCKS.into_iter().find(|block| bytes.len() + HEAD <= *block)?;
    let length = u32::try_from(bytes.len()).ok()?;
    let mut all = Vec::with_capacity(block);
    all.extend(length.to_be_bytes());
    all.extend(bytes);
    all.resize(block, 0);
    Some(all)
}

/// The bytes that were padded; `None`: it is no padding.
pub fn unpadded(all: &[u8]) -> Option<&[u8]> {
    let (head, rest) = all.split_first_chunk::<HEAD>()?;
    let length = usize::try_from(u32::from_be_bytes(*head)).ok()?;
    let (bytes, zeros) = rest.split_at_checked(length)?;
    zeros.iter().all(|byte| *byte == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_shows_one_of_six_lengths() {
        for (length, block) in [(0, 256), (1, 256), (252, 256), (253, 512), (4108, 8192), (8188, 8192)] {
            let bytes = vec![7; length];
            let all = padded(&bytes).unwrap();
            assert_eq!((all.len(), unpadded(&all)), (block, Some(&bytes[..])), "{length}");
        }
        assert_eq!(padded(&[0; 8189]), None);
        // The longest text of a memory fits with its time.
        assert!(limits::CONCEPT_BYTES + 8 + HEAD <= limits::SEALED_BLOCKS[5]);
        assert!(limits::SUBJECT_NAME_BYTES + HEAD <= limits::SEALED_BLOCKS[0]);
    }

    #[test]
    fn broken_padding_is_none() {
        let good = padded(b"tea").unwrap();
        let broken = |at: usize, byte: u8| {
            let mut all = good.clone();
            all[at] = byte;
            unpadded(&all).map(<[u8]>::to_vec)
        };
        assert_eq!(unpadded(&good[..3]), None);
        assert_eq!(broken(0, 1), None, "longer than it is");
        assert_eq!(broken(255, 1), None, "not zeros to its end");
        assert_eq!(broken(3, 4), Some(b"tea\0".to_vec()));
    }
}
