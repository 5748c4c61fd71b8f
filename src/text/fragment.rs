//! Fragments of pages: headings, rows of tables, fields of a form. Place in the flow: a memory → **fragment** → whether an agent starts with it.

use super::words;

/// Content words of a line without an end, at least.
const LINE_WORDS: usize = 4;

/// Whether no line of a text is anything but a heading or a row of a table; of a page's piece (`of_page`) also a field (`type: thing`), a line
/// of few words that ends as no sentence does, or a link.
pub fn is_fragment(text: &str, of_page: bool) -> bool {
    let is_row = |line: &str| line.starts_with('|') && line[1..].contains('|');
    let is_heading =
        |line: &str| line.trim_start_matches('#').len() < line.len() && line.trim_start_matches('#').starts_with(' ');
    let ends = |line: &str| line.ends_with(['.', '!', '?', '。', '！', '？', '…', ':']);
    let is_field = |line: &str| line.split_once(": ").is_some_and(|(key, _)| !key.contains(' ')) && !ends(line);
    let is_short = |line: &str| !ends(line) && words(line).len() < LINE_WORDS;
    let is_part = |line: &str| {
        line.is_empty() || is_row(line) || is_heading(line) || of_page && (is_field(line) || is_short(line))
    };
    text.lines().map(str::trim).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_pages_are_told_from_statements() {
        for fragment in [
            "Only\n# Only title",
            "Clara\n| a | b |\n|---|---|\n| 1 | 2 |",
            "Empty\ntype: thing",
            "ann\nann works_with [[ben]]",
        ] {
            assert!(is_fragment(fragment, true), "{fragment}");
        }
        for statement in [
            "crlf\nAnn wrote the deploy script.",
            "Deploy\nWe deploy to Fly.io on Mondays",
            "deploy\n# Where\nNever on Fridays!",
            "本番\n本番のデータベースはMariaDBに移行しました",
        ] {
            assert!(!is_fragment(statement, true), "{statement}");
        }
        for said in ["Prefer tabs", "Deploy target: Fly.io", "Tabs, not spaces"] {
            assert!(!is_fragment(said, false), "{said}");
        }
        assert!(is_fragment("# Notes", false) && is_fragment("| a | b |", false));
    }
}
