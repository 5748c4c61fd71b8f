//! Pages: as much of a long answer as fits into a budget of tokens, and the place where the next one begins.

use serde::Serialize;

use crate::brain::BrainError;
use crate::limits;
use crate::text::tokens;

/// A part of a text.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// What its words are.
    pub notice: &'static str,
    /// What it is of: an id and the commit at which it was read.
    pub cite: String,
    /// Its kind: `neuron`, `run`, `stimulus`, `commit`, `sleep`, `syntax`, `question`.
    pub kind: String,
    /// The text.
    pub text: String,
    /// Where the next page begins; absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The budget of an answer.
pub(super) fn budget(asked: Option<usize>) -> Result<usize, BrainError> {
    let asked = asked.unwrap_or(limits::CLIENT_TOKENS);
    match (limits::CLIENT_TOKENS_LEAST..=limits::CLIENT_TOKENS_MOST).contains(&asked) {
        true => Ok(asked),
        false => Err(BrainError::usage(format!(
            "tokens is {asked}, and must lie between {} and {}",
            limits::CLIENT_TOKENS_LEAST,
            limits::CLIENT_TOKENS_MOST
        ))),
    }
}

/// Where a page begins: at that commit, behind so much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub commit: String,
    pub at: usize,
}

impl Cursor {
    pub fn parse(text: &str) -> Result<Self, BrainError> {
        let wrong = || BrainError::Usage {
            message: "the cursor is none that an answer gave".to_owned(),
            hint: Some("pass `next` of the answer before, with the same question".to_owned()),
        };
        let (commit, at) = text.split_once('.').ok_or_else(wrong)?;
        let is_id = (4..=64).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let at = at.parse().ok().filter(|_| is_id).ok_or_else(wrong)?;
        Ok(Self { commit: commit.to_owned(), at })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.commit, self.at)
    }
}

/// Tokens of a value as the JSON text that a client reads.
pub(super) fn cost(value: &impl Serialize) -> usize {
    tokens(&serde_json::to_string(value).expect("invariant: our documents have string keys"))
}

/// The longest beginning of a text that costs no more than that as JSON: it ends at a line where one ends in its second half.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    if cost(&text) <= most {
        return text;
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fits = ends.partition_point(|end| cost(&&text[..*end]) <= most);
    let end = ends[fits.saturating_sub(1)];
    match text[..end].rfind('\n').map(|line| line + 1).filter(|line| *line > end / 2) {
        Some(line) => &text[..line],
        None => &text[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_fits_and_all_beginnings_are_the_text() {
        for text in ["", "short", &"日本語の文です。\n".repeat(200), &"\u{1}\"\\\n".repeat(500), &"word ".repeat(900)]
        {
            let mut rest = text;
            let mut whole = String::new();
            loop {
                let part = beginning(rest, 60);
                assert!(cost(&part) <= 60, "{}", cost(&part));
                whole += part;
                rest = &rest[part.len()..];
                if rest.is_empty() {
                    break;
                }
                assert!(!part.is_empty());
            }
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn cursors_that_no_answer_gave_are_refused() {
        let cursor = Cursor { commit: "ab12cd34".to_owned(), at: 7 };
        assert_eq!(Cursor::parse(&cursor.to_string()).unwrap(), cursor);
        for bad in ["", "x", "ab12", "ab12.", "ab12.-1", "HEAD~1.3", "ab12.3.4", "ab12.99999999999999999999999"] {
            assert!(Cursor::parse(bad).is_err(), "{bad}");
        }
    }
}
