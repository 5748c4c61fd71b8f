//! Base64 (RFC 4648, section 4): the JSON form of the proto's `bytes`.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Text of bytes, padded.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let digit = char::from(ALPHABET[(group >> (18 - 6 * place)) as usize & 63]);
            text.push(if place <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

/// Bytes of a text. `None`: it is not padded base64, or its unused bits are not zero, so that each value has one text.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    for chunk in digits.as_bytes().chunks(4) {
        let mut group = 0;
        for place in 0..4 {
            let value = match chunk.get(place) {
                Some(digit) => ALPHABET.iter().position(|known| known == digit)?,
                None => 0,
            };
            group = group << 6 | value as u32;
        }
        let [_, whole @ ..] = group.to_be_bytes();
        let length = chunk.len().checked_sub(1).filter(|length| *length > 0)?;
        if whole[length..].iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(&whole[..length]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::SplitMix;
    use super::*;

    #[test]
    fn base64_matches_the_standard_examples() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn base64_refuses_damaged_text() {
        for text in ["Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Z g=", "Zg==Zg==", "====", "Zm9é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn base64_returns_any_bytes() {
        let mut random = SplitMix(64);
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
