//! Values as they are written inside other texts: base64, hexadecimal, percent and JSON.

use std::collections::BTreeSet;

use crate::limits;

/// How a program would print a value: as it is, and in the encodings of the web.
pub(super) fn encodings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex = |upper: bool, before: &str, part: &[u8]| -> String {
        part.iter().map(|b| if upper { format!("{before}{b:02X}") } else { format!("{before}{b:02x}") }).collect()
    };
    // What each language leaves as it stands: RFC 3986 alone, Python's `quote`, `encodeURIComponent`, `encodeURI`, and HTML forms.
    const PLAIN: [&[u8]; 5] = [b"~", b"~/", b"~!'()*", b"~!'()*;,/?:@&=+$#", b"*"];
    let percent = |upper: bool, plain: &[u8]| -> String {
        let one = |b: &u8| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(*b).to_string(),
            b if plain.contains(b) => char::from(*b).to_string(),
            other => hex(upper, "%", &[*other]),
        };
        bytes.iter().map(one).collect()
    };
    let escaped = |text: &str| -> String {
        let quoted = serde_json::to_string(text).expect("invariant: a text is JSON");
        quoted[1..quoted.len() - 1].to_owned()
    };
    let once = escaped(value);
    let mut all: BTreeSet<String> = BTreeSet::from([
        value.to_owned(),
        escaped(&once),
        hex(false, "", bytes),
        hex(true, "", bytes),
        hex(false, "%", bytes),
        hex(true, "%", bytes),
    ]);
    for plain in PLAIN {
        for upper in [true, false] {
            let text = percent(upper, plain);
            all.extend([text.replace("%20", "+"), text]);
        }
    }
    // As PHP writes `/`, as Go writes what HTML reads, as Python writes what is not ASCII, and all of these together.
    for (slash, html) in [(false, false), (true, false), (false, true), (true, true)] {
        let text = if slash { once.replace('/', "\\/") } else { once.clone() };
        let text = if html { escape(&text, |c| "&<>".contains(c), false) } else { text };
        all.extend([escape(&text, |c| !c.is_ascii(), false), escape(&text, |c| !c.is_ascii(), true), text]);
    }
    all.insert(
        value
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;"),
    );
    for alphabet in [STANDARD, URL_SAFE] {
        all.extend((0..3).map(|shift| base64_within(bytes, shift, alphabet)));
    }
    all.into_iter().filter(|text| text.len() >= limits::SECRET_BYTES).map(String::into_bytes).collect()
}

/// Those characters as JSON's `\u` has them.
fn escape(text: &str, is: impl Fn(char) -> bool, upper: bool) -> String {
    let mut units = [0; 2];
    let mut one = |c: char| -> String {
        let units = c.encode_utf16(&mut units).iter();
        units.map(|unit| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }).collect()
    };
    text.chars().map(|c| if is(c) { one(c) } else { c.to_string() }).collect()
}

pub(super) const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub(super) const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is the same of a value in base64 whatever stands before and after it, where `shift` bytes do before. Source: RFC 4648.
pub(super) fn base64_within(value: &[u8], shift: usize, alphabet: &[u8; 64]) -> String {
    let bit = |at: usize| value[at / 8] >> (7 - at % 8) & 1;
    let (from, to) = ((shift * 8).div_ceil(6), (shift + value.len()) * 8 / 6);
    let sixth = |at: usize| (0..6).fold(0_u8, |n, k| n << 1 | bit(at * 6 + k - shift * 8));
    (from..to).map(|at| char::from(alphabet[usize::from(sixth(at))])).collect()
}
