//! Which places of a text stand inside a sentence of running prose: not at the start of one, nor in headings, labels or code.
//!
//! A name is known by its capital, and a capital says nothing where every word has one: at the start of a sentence or a line, in a
//! heading, in a label before a colon, in a cell of a table, in code.

use super::piece::underlines;

/// A text, and where it is marked up as something else than running prose.
pub struct Markup<'t> {
    text: &'t str,
    /// Bytes of fenced code, ascending.
    fenced: Vec<std::ops::Range<usize>>,
}

impl<'t> Markup<'t> {
    /// Looks for what is fenced.
    pub fn of(text: &'t str) -> Self {
        let (mut fenced, mut open, mut at) = (Vec::new(), None, 0);
        let mut above = "";
        for line in text.split_inclusive('\n') {
            let start = line.trim();
            let is_underline = open.is_none() && underlines(start, std::mem::replace(&mut above, start));
            if (start.starts_with("```") || start.starts_with("~~~")) && !is_underline {
                match open.take() {
                    None => open = Some(at),
                    Some(from) => fenced.push(from..at + line.len()),
                }
            }
            at += line.len();
        }
        fenced.extend(open.map(|from| from..text.len()));
        Self { text, fenced }
    }

    /// Whether what starts at a byte is in a fence, between backticks, or in a heading that is marked as one.
    pub fn is_marked(&self, start: usize) -> bool {
        if self.fenced.iter().any(|range| range.contains(&start)) {
            return true;
        }
        let line = self.line(start);
        line.trim_start().starts_with('#') || line.matches('`').count() % 2 == 1
    }

    /// Whether what starts at a byte stands inside a sentence, behind other words of it.
    pub fn is_inside(&self, start: usize) -> bool {
        let before = self.line(start).trim_end_matches(|c: char| c.is_whitespace() || OPENING.contains(c));
        let marker = |word: &str| {
            let number = word.trim_end_matches(['.', ')']);
            number.len() < word.len() && number.chars().count() <= 3 && number.chars().all(char::is_alphanumeric)
        };
        let starts = before.is_empty() || before.ends_with(|c| ENDING.contains(c)) || marker(before.trim_start());
        !starts && !self.is_marked(start)
    }

    /// What stands before a byte on its line.
    fn line(&self, start: usize) -> &'t str {
        let before = &self.text[..start];
        &before[before.rfind('\n').map_or(0, |at| at + 1)..]
    }
}

/// What may stand between the last word and the next one of a sentence.
const OPENING: &str = "\"'’‘“«([*_~";
/// After these a sentence, an item, a label's text or a cell starts.
const ENDING: &str = ".!?。！？…:：;；|•·–—-+#>=<`/\\{}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_inside_sentences() {
        for (text, expected) in [
            ("We saw Oslo.", true),
            ("We saw **Oslo**.", true),
            ("We saw (Oslo).", true),
            ("Oslo is far.", false),
            ("It rained. Oslo was wet.", false),
            ("It rained.\nOslo was wet.", false),
            ("- Oslo is far", false),
            ("1. Oslo is far", false),
            ("2) **Oslo**: far", false),
            ("**Where**: Oslo", false),
            ("# The way to Oslo", false),
            ("| a | Oslo |", false),
            ("type `to Oslo` here", false),
            ("```\ngo to Oslo\n```\n", false),
            ("```\nx\n```\nWe go to Oslo.", true),
            ("A title\n~~~~~~~\n\nWe go to Oslo.", true),
            ("Nous allons à Oslo.", true),
            ("昨日Osloに行った", true),
        ] {
            let start = text.find("Oslo").unwrap();
            assert_eq!(Markup::of(text).is_inside(start), expected, "{text}");
        }
    }
}
