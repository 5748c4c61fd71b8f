//! Texts that say by their own hash that they are ours, whichever version wrote them: what a person changed in one is theirs.

use crate::model::ids::hash_fields;

/// The hash of a text, whatever ends its lines.
pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", hash_fields(&[text.replace("\r\n", "\n").trim_end().as_bytes()]))
}

/// A text with its hash in a comment as its last line.
pub fn signed(text: &str, (open, close): (&str, &str)) -> String {
    let text = text.trim_end();
    format!("{text}\n{}\n", format!("{open} git-brain {} {close}", hash(text)).trim_end())
}

/// The text before its signature, if it has one, and whether that is right.
fn parts(text: &str) -> Option<(&str, bool)> {
    let (body, last) = text.trim_end().rsplit_once('\n')?;
    let said = last.split_once("git-brain ")?.1.split(' ').next()?;
    Some((body, said == hash(body)))
}

/// Whether a text is one of ours: signed, or what we write but for the signature.
pub(super) fn is_ours(text: &str, own: &str) -> bool {
    let plain = parts(own).map_or(own, |(body, _)| body);
    parts(text).is_some_and(|(_, is_right)| is_right) || hash(text) == hash(plain) || is_same_but_version(text, own)
}

/// Whether two texts are one JSON object but for its version: what describes a plugin has no place for a comment.
fn is_same_but_version(text: &str, own: &str) -> bool {
    let read = |text: &str| {
        let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
        fields.remove("version");
        Some(fields)
    };
    let own = read(own);
    own.is_some() && read(text) == own
}
