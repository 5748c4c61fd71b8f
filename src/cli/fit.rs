//! Text that fits a width: cut and wrapped between characters as people see them, of which some are two columns wide.

use std::ops::Range;

use icu_segmenter::GraphemeClusterSegmenter;
use unicode_width::UnicodeWidthStr;

use super::output::{STYLES, safe_line};

const CUT: &str = "…";

/// A character as people see it, safe for a terminal.
#[derive(Clone, Debug)]
struct Cell {
    shown: String,
    width: usize,
    /// Which of the marks it belongs to.
    mark: Option<usize>,
}

/// Text as cells, with marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

impl Cells {
    /// A text on one line, each row of white space as one space. `marks`: byte ranges of the text, ascending.
    pub(super) fn of(text: &str, marks: &[Range<usize>]) -> Self {
        let mut cells: Vec<Cell> = Vec::new();
        let mut start = 0;
        for end in GraphemeClusterSegmenter::new().segment_str(text).skip(1) {
            let grapheme = &text[start..end];
            let mark = marks.iter().position(|mark| mark.start < end && start < mark.end);
            start = end;
            if !grapheme.trim().is_empty() {
                let shown = safe_line(grapheme);
                cells.push(Cell { width: width(&shown), shown, mark });
            } else if cells.last().is_some_and(|last| last.shown != " ") {
                cells.push(Cell { shown: " ".to_owned(), width: 1, mark: None });
            }
        }
        if cells.last().is_some_and(|last| last.shown == " ") {
            cells.pop();
        }
        Self { cells }
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        wide(&self.cells)
    }

    /// All of it, with marks in bold.
    pub(super) fn styled(&self) -> String {
        styled(&self.cells)
    }

    /// The part with most of the marks that fits into so many columns, with marks in bold. What is left out shows as `…`.
    pub(super) fn around_marks(&self, columns: usize) -> String {
        if self.width() <= columns {
            return self.styled();
        }
        let (start, end) = self.window(columns);
        let before = if start > 0 { CUT } else { "" };
        let after = if end < self.cells.len() { CUT } else { "" };
        format!("{before}{}{after}", styled(&self.cells[start..end]))
    }

    /// The first and the last cell but one of the best part.
    fn window(&self, columns: usize) -> (usize, usize) {
        let ends_at = |start: usize| {
            let left = columns.saturating_sub(usize::from(start > 0));
            if wide(&self.cells[start..]) <= left {
                return self.cells.len();
            }
            let mut left = left.saturating_sub(1);
            let mut end = start;
            while let Some(cell) = self.cells.get(end).filter(|cell| cell.width <= left) {
                left -= cell.width;
                end += 1;
            }
            end
        };
        let marked = |start: usize, end: usize| {
            let mut marks: Vec<usize> = self.cells[start..end].iter().filter_map(|cell| cell.mark).collect();
            marks.dedup();
            // Half a word is none.
            let is_cut =
                self.cells.get(end).is_some_and(|next| next.mark.is_some() && next.mark.as_ref() == marks.last());
            marks.len() - usize::from(is_cut)
        };
        // A part begins where the text does, or some words before a mark, not in the middle of a word.
        let before = |mark: usize, mut room: usize| {
            let mut start = mark;
            while start > 0 && self.cells[start - 1].width <= room {
                start -= 1;
                room -= self.cells[start].width;
            }
            let word = self.cells[start..mark].iter().position(|cell| cell.shown == " ").filter(|_| start > 0);
            word.map_or(start, |space| start + space + 1)
        };
        let begins = self.cells.iter().enumerate().filter(|(at, cell)| {
            cell.mark.is_some() && at.checked_sub(1).is_none_or(|before| self.cells[before].mark != cell.mark)
        });
        let starts = std::iter::once(0).chain(begins.map(|(at, _)| before(at, columns / 4)));
        let parts = starts.map(|start| (start, ends_at(start)));
        // Of equal ones the first.
        let best = parts.reduce(|best, next| if marked(next.0, next.1) > marked(best.0, best.1) { next } else { best });
        let (start, end) = best.unwrap_or((0, 0));
        // At the end of the text there may be room before it.
        let room = columns.saturating_sub(1 + wide(&self.cells[start..end]));
        let start = if end == self.cells.len() { before(start, room) } else { start };
        (start, end)
    }

    /// Lines of at most so many columns, broken at spaces and between wide characters.
    pub(super) fn wrapped(&self, columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = &self.cells[..];
        while wide(rest) > columns {
            let mut end = 0;
            let mut taken = 0;
            while let Some(cell) = rest.get(end).filter(|cell| taken + cell.width <= columns) {
                taken += cell.width;
                end += 1;
            }
            let end = end.max(1);
            let breaks = |at: &usize| {
                let (before, after) = (&rest[at - 1], rest.get(*at));
                after.is_some_and(|after| after.shown == " " || (before.width > 1 && after.width > 1))
            };
            let end = (1..=end).rev().find(breaks).unwrap_or(end);
            lines.push(styled(&rest[..end]));
            rest = &rest[end..];
            rest = if rest.first().is_some_and(|cell| cell.shown == " ") { &rest[1..] } else { rest };
        }
        if !rest.is_empty() {
            lines.push(styled(rest));
        }
        lines
    }
}

fn wide(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

fn styled(cells: &[Cell]) -> String {
    let mut text = String::new();
    let mut is_bold = false;
    for cell in cells {
        if cell.mark.is_some() != is_bold {
            is_bold = !is_bold;
            text += STYLES[usize::from(!is_bold)];
        }
        text += &cell.shown;
    }
    text + if is_bold { STYLES[1] } else { "" }
}

/// A label that fits, cut at its beginning: of paths and places the end tells more.
pub(super) fn label(text: &str, columns: usize) -> String {
    let cells = Cells::of(text, &[]).cells;
    if wide(&cells) <= columns {
        return styled(&cells);
    }
    let mut start = cells.len();
    let mut left = columns.saturating_sub(1);
    while start > 0 && cells[start - 1].width <= left {
        start -= 1;
        left -= cells[start].width;
    }
    format!("{CUT}{}", styled(&cells[start..]))
}

/// A text with spaces behind it, up to so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        text.replace(STYLES[0], "*").replace(STYLES[1], "*")
    }

    fn marks(text: &str, words: &[&str]) -> Vec<Range<usize>> {
        words.iter().map(|word| text.find(word).map(|at| at..at + word.len()).unwrap()).collect()
    }

    #[test]
    fn a_part_shows_most_of_the_marks() {
        let text = "Anna: Good morning! We went to the market, then to the shop, and bought green tea and rice.";
        let cells = Cells::of(text, &marks(text, &["market", "green", "tea"]));
        assert_eq!(plain(&cells.around_marks(40)), "…shop, and bought *green* *tea* and rice.");
        assert_eq!(plain(&cells.around_marks(20)), "…*green* *tea* and rice.");
        assert_eq!(plain(&Cells::of(text, &[]).around_marks(20)), "Anna: Good morning!…");
        assert_eq!(plain(&cells.around_marks(200)).replace('*', ""), text);
    }

    #[test]
    fn wide_characters_count_two_and_stay_whole() {
        let text = "ベン: アンナさんは京都で抹茶を飲みました。";
        let cells = Cells::of(text, &marks(text, &["京都"]));
        let shown = plain(&cells.around_marks(17));
        assert!(shown.contains("*京都*") && width(&shown.replace('*', "")) <= 17, "{shown}");
        let family = "a👨‍👩‍👧e\u{301}b";
        assert_eq!(Cells::of(family, &[]).cells.len(), 4);
        assert_eq!(Cells::of(family, &[]).width(), 5);
    }

    #[test]
    fn lines_break_at_spaces_and_between_wide_characters() {
        assert_eq!(Cells::of("one two  three\nfour", &[]).wrapped(9), ["one two", "three", "four"]);
        assert_eq!(Cells::of("aaaaaaaaaa b", &[]).wrapped(4), ["aaaa", "aaaa", "aa b"]);
        assert_eq!(Cells::of("抹茶を飲む", &[]).wrapped(5), ["抹茶", "を飲", "む"]);
        assert!(Cells::of("", &[]).wrapped(5).is_empty());
        assert_eq!(Cells::of("茶", &[]).wrapped(1), ["茶"]);
    }

    #[test]
    fn labels_keep_their_end_and_nothing_steers() {
        assert_eq!(label("notes/2024/diary.md:12", 12), "…diary.md:12");
        assert_eq!(label("short", 12), "short");
        assert_eq!(Cells::of("a\u{1b}[2J\tb\u{202e}", &[]).styled(), "a\\u{1b}[2J b\\u{202e}");
    }

    proptest! {
        /// Whatever the text: no part is wider than asked for, and no line of a text whose characters fit.
        #[test]
        fn what_is_cut_fits(text in "\\PC{0,60}", columns in 3_usize..40, mark in 0_usize..60) {
            let start = text.char_indices().map(|(at, _)| at).nth(mark).unwrap_or(0);
            let cells = Cells::of(&text, std::slice::from_ref(&(start..start + 1)));
            let bare = |text: &str| text.replace(STYLES[0], "").replace(STYLES[1], "");
            prop_assert!(wide(&Cells::of(&bare(&cells.around_marks(columns)), &[]).cells) <= columns);
            prop_assert!(wide(&Cells::of(&label(&text, columns), &[]).cells) <= columns);
            let lines = cells.wrapped(columns);
            let spaceless = |text: &str| text.replace(' ', "");
            prop_assert_eq!(spaceless(&bare(&lines.concat())), spaceless(&bare(&cells.styled())));
        }
    }
}
