//! Lines of a file: the hash of some of them, and where they are in another version of it.

use std::collections::HashSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use twox_hash::XxHash3_64;

use super::mention::{Lines, Mention};
use crate::limits;
use crate::model::code::Cite;

/// The factor of a line's hash for each line behind it: odd, so that no bit is lost.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The citation that is kept of a mention of a file with this content; none where the file has no such lines. `blob` names the content.
pub fn cite(mention: &Mention, path: &str, content: &str, blob: &str) -> Option<Cite> {
    let all = lines(content);
    let (line, last) = match &mention.lines {
        Lines::Numbers(first, last) => (*first, *last),
        Lines::Symbol(symbol) => {
            let line = u32::try_from(definition(&all, symbol)?).ok()?.checked_add(1)?;
            (line, line)
        }
    };
    let count = last.checked_sub(line)?.checked_add(1).filter(|count| *count <= limits::CITED_LINES)?;
    let cited = all.get(line.checked_sub(1)? as usize..last as usize)?;
    // A blank line says nothing by which it could be found again.
    let says = cited.iter().any(|line| !line.trim().is_empty());
    let hash = format!("{:016x}", hash(cited));
    says.then(|| Cite { path: path.to_owned(), line, lines: count, blob: blob.to_owned(), hash })
}

/// The first of the cited lines in `now`, from 1; none where they were changed or are gone. `was` is the content that the citation was made
/// of, if it is known: then lines that say the same are told apart by what stands around them.
pub fn place(cite: &Cite, was: Option<&str>, now: &str) -> Option<u32> {
    let (from, count) = (cite.line.checked_sub(1)? as usize, cite.lines as usize);
    let new = lines(now);
    let old = was.map(lines).filter(|old| old.get(from..from + count).is_some_and(|cited| is_of(cite, cited)));
    let found = match old.and_then(|old| followed(&old, &new)) {
        Some(Followed { places, is_new }) => {
            let start = places[from];
            let stays = start.is_some_and(|start| (1..count).all(|at| places[from + at] == Some(start + at)));
            // A block that was moved within the file goes here and comes there. Of one that stays, a line such as `}` may be followed to an
            // equal one beside it: then another of its lines, which says something, tells where it is.
            let went = |at: usize, n: usize| places[from + n] == Some(at + n);
            let says = |at: usize| new[at].chars().any(char::is_alphanumeric);
            let is_anchored = |at: usize| (0..count).any(|n| went(at, n) && says(at + n));
            let is_it =
                |at: usize, n: usize| went(at, n) || is_new[at + n] || places[from + n].is_none() && is_anchored(at);
            let moved = |at: &usize| (0..count).all(|n| is_it(*at, n));
            start.filter(|_| stays).or_else(|| only(windows(&new, cite).filter(moved)))
        }
        None if new.get(from..from + count).is_some_and(|cited| is_of(cite, cited)) => Some(from),
        None => only(windows(&new, cite)),
    };
    u32::try_from(found? + 1).ok()
}

/// [`place`] in another file, `now`, which came since and whose path is `there`. A line like `}` is in every file: unless the file is the same one
/// under another name, what is cited must say something.
pub fn found_in(cite: &Cite, there: &str, was: Option<&str>, now: &str) -> Option<u32> {
    const LETTERS: usize = 24;
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let is_likely = match was {
        None => name(there) == name(&cite.path),
        Some(was) => {
            let cited = was.lines().skip((cite.line - 1) as usize).take(cite.lines as usize);
            let letters = cited.flat_map(str::chars).filter(|c| c.is_alphanumeric()).count();
            letters >= LETTERS || is_renamed(was, now)
        }
    };
    is_likely.then(|| place(cite, was, now)).flatten()
}

/// Whether half of the lines of a file are in another one, as git tells a file that was renamed.
fn is_renamed(was: &str, now: &str) -> bool {
    let says = |line: &&str| !line.trim().is_empty();
    let there: HashSet<&str> = now.lines().collect();
    let (kept, gone): (Vec<&str>, Vec<&str>) = was.lines().filter(says).partition(|line| there.contains(line));
    !kept.is_empty() && kept.len() >= gone.len()
}

/// Where each line of an older version is in a newer one, and which lines of that came.
struct Followed {
    places: Vec<Option<usize>>,
    is_new: Vec<bool>,
}

/// Follows lines from one version to another; none where they differ in too much.
fn followed(old: &[&str], new: &[&str]) -> Option<Followed> {
    let begin = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[begin..].iter().rev().zip(new[begin..].iter().rev());
    let end = rest.take_while(|(a, b)| a == b).count();
    let (middle_old, middle_new) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    if middle_old.len().saturating_mul(middle_new.len()) > limits::CITED_DIFFERENCE {
        return None;
    }
    let mut places = vec![None; old.len()];
    let mut is_new = vec![true; new.len()];
    let mut same = |at: usize, there: usize, count: usize| {
        for n in 0..count {
            places[at + n] = Some(there + n);
            is_new[there + n] = false;
        }
    };
    same(0, 0, begin);
    same(old.len() - end, new.len() - end, end);
    for operation in capture_diff_slices(Algorithm::Patience, middle_old, middle_new) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            same(begin + old_index, begin + new_index, len);
        }
    }
    Some(Followed { places, is_new })
}

/// A content's lines, without their ends.
pub(super) fn lines(content: &str) -> Vec<&str> {
    content.lines().collect()
}

fn is_of(cite: &Cite, lines: &[&str]) -> bool {
    format!("{:016x}", hash(lines)) == cite.hash
}

/// The hash of lines. That of the next window follows from it, its first line and the one that comes.
fn hash(lines: &[&str]) -> u64 {
    lines.iter().fold(0, |sum: u64, line| sum.wrapping_mul(STEP).wrapping_add(of_line(line)))
}

fn of_line(line: &str) -> u64 {
    XxHash3_64::oneshot(line.as_bytes())
}

/// Where as many lines with the cited hash begin, ascending.
fn windows<'l>(lines: &'l [&'l str], cite: &'l Cite) -> impl Iterator<Item = usize> + 'l {
    let count = cite.lines as usize;
    let wanted = u64::from_str_radix(&cite.hash, 16).ok().filter(|_| lines.len() >= count);
    let first = (1..count).fold(1_u64, |step, _| step.wrapping_mul(STEP));
    let mut sum = hash(lines.get(..count).unwrap_or_default());
    let ends = wanted.into_iter().flat_map(move |wanted| (count..=lines.len()).map(move |end| (end, wanted)));
    ends.filter_map(move |(end, wanted)| {
        let is_found = sum == wanted;
        if let Some(next) = lines.get(end) {
            let gone = of_line(lines[end - count]).wrapping_mul(first);
            sum = sum.wrapping_sub(gone).wrapping_mul(STEP).wrapping_add(of_line(next));
        }
        is_found.then_some(end - count)
    })
}

/// The one place; none where there are several.
fn only(mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

/// Words that stand before the name of what a line defines.
const DEFINING: [&str; 32] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "type",
    "const",
    "static",
    "let",
    "var",
    "function",
    "func",
    "mod",
    "module",
    "macro_rules!",
    "namespace",
    "union",
    "record",
    "object",
    "val",
    "sub",
    "package",
    "table",
    "define",
    "void",
    "int",
    "bool",
    "string",
    "protocol",
];

/// The line that defines a symbol; where none does, the first that has it.
fn definition(lines: &[&str], symbol: &str) -> Option<usize> {
    let has = |line: &str| words(line).any(|word| word == symbol);
    let defines = |line: &str| {
        let mut before = None;
        words(line).any(|word| {
            let is_defined = word == symbol && before.is_some_and(|before| DEFINING.contains(&before));
            before = Some(word);
            is_defined
        })
    };
    lines.iter().position(|line| defines(line)).or_else(|| lines.iter().position(|line| has(line)))
}

/// A line's words, as identifiers have them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '!')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "use std::fs;\n\nfn open(path: &str) {\n    if path.is_empty() {\n    }\n}\n\nfn close() {\n}\n";

    fn of(line: u32, last: u32, content: &str) -> Option<Cite> {
        cite(&Mention { path: "a.rs".to_owned(), lines: Lines::Numbers(line, last) }, "a.rs", content, &"0".repeat(40))
    }

    fn of_symbol(symbol: &str, content: &str) -> Option<u32> {
        let mention = Mention { path: "a.rs".to_owned(), lines: Lines::Symbol(symbol.to_owned()) };
        cite(&mention, "a.rs", content, &"0".repeat(40)).map(|cite| cite.line)
    }

    #[test]
    fn lines_that_are_not_there_or_blank_are_not_cited() {
        assert!(of(3, 3, FILE).is_some() && of(3, 9, FILE).is_some());
        for (line, last) in [(0, 0), (2, 2), (10, 10), (9, 10), (4, 3), (u32::MAX, u32::MAX)] {
            assert_eq!(of(line, last, FILE), None, "{line}-{last}");
        }
        assert_eq!(of(1, limits::CITED_LINES + 1, &"x\n".repeat(900)), None);
    }

    #[test]
    fn a_symbol_is_where_it_is_defined() {
        let text = "open close\nimpl Store {\n    pub fn open(&self) {}\n    fn close() {}\n}\nclass Shop(Store):\n";
        for (symbol, line) in
            [("open", Some(3)), ("close", Some(4)), ("Shop", Some(6)), ("Store", Some(2)), ("x", None)]
        {
            assert_eq!(of_symbol(symbol, text), line, "{symbol}");
        }
        assert_eq!(of_symbol("self", text), Some(3), "the first line that has it");
    }

    #[test]
    fn lines_are_followed_and_equal_ones_told_apart() {
        let brace = of(6, 6, FILE).unwrap();
        // One line more above it: line 6 is the brace of the `if` now.
        let longer = FILE.replace("\n\nfn open", "\nuse std::io;\n\nfn open");
        assert_eq!(place(&brace, Some(FILE), &longer), Some(7));
        // Without the older version, a brace is one of several.
        assert_eq!(place(&brace, None, &longer), None);
        let open = of(3, 3, FILE).unwrap();
        assert_eq!(place(&open, None, &longer), Some(4));
        assert_eq!(place(&open, Some(FILE), FILE), Some(3));
        assert_eq!(place(&open, Some(FILE), &FILE.replace("open(path: &str)", "open()")), None);
        // A carriage return is an end of a line.
        assert_eq!(place(&open, Some(FILE), &FILE.replace('\n', "\r\n")), Some(3));
        // A block that was moved down, and one whose copy was there before.
        let block = of(3, 6, FILE).unwrap();
        let moved = "fn close() {\n}\n\nuse std::fs;\n\nfn open(path: &str) {\n    if path.is_empty() {\n    }\n}\n";
        assert_eq!(place(&block, Some(FILE), moved), Some(6));
        let twice = "x = 1\ny = 2\nx = 1\n";
        assert_eq!(place(&of(1, 1, twice).unwrap(), Some(twice), "y = 2\nx = 1\n"), None, "that is the other one");
        // The brace is not told from the one below, and the lines are there as they were.
        let braces = "a\nb\n}\nc\nd\ne\n}\nf\n";
        assert_eq!(place(&of(3, 5, braces).unwrap(), Some(braces), "b\n}\n}\nc\nd\ne\nf\n"), Some(3));
        // Another line between them.
        assert_eq!(place(&block, Some(FILE), &FILE.replace("    }\n", "    }\n    // so\n")), None);
        // Another hash than that of the older version: it is not what was cited.
        let other = Cite { hash: "0".repeat(16), ..open };
        assert_eq!(place(&other, Some(FILE), FILE), None);
    }

    #[test]
    fn versions_that_differ_in_too_much_are_searched() {
        let text = |word: &str, count: usize| (0..count).map(|n| format!("{word} {n}\n")).collect::<String>();
        let old = format!("{}here it is\n{}", text("a", 4000), text("b", 4000));
        let new = format!("{}here it is\n{}", text("c", 4000), text("d", 4000));
        assert_eq!(place(&of(4001, 4001, &old).unwrap(), Some(&old), &new), Some(4001));
        let cite = of(4000, 4001, &old).unwrap();
        assert_eq!(place(&cite, Some(&old), &new), None);
    }

    #[test]
    fn a_file_that_came_is_the_same_one_or_has_lines_that_say_something() {
        let (brace, open) = (of(6, 6, FILE).unwrap(), of(3, 3, FILE).unwrap());
        let other = "struct Other {\n}\n";
        assert_eq!(found_in(&brace, "b.rs", Some(FILE), other), None);
        assert_eq!(found_in(&brace, "b.rs", Some(FILE), &format!("// renamed\n{FILE}")), Some(7));
        assert_eq!(found_in(&open, "b.rs", Some(FILE), "fn open(path: &str) {\n"), None, "12 letters");
        let long = format!("{FILE}fn open_with_everything_that_is_there() {{}}\n");
        let cited = of(10, 10, &long).unwrap();
        assert_eq!(found_in(&cited, "b.rs", Some(&long), "//\nfn open_with_everything_that_is_there() {}\n"), Some(2));
        // Nothing is known of what it was but its hash.
        assert_eq!(found_in(&open, "x/a.rs", None, "\n\nfn open(path: &str) {\n"), Some(3));
        assert_eq!(found_in(&open, "x/b.rs", None, "\n\nfn open(path: &str) {\n"), None);
    }

    proptest! {
        /// The hash that rolls is that of each window.
        #[test]
        fn windows_are_found_wherever_they_begin(
            all in proptest::collection::vec(0_u8..4, 1..40), from in 0_usize..40, count in 1_usize..5
        ) {
            let text: String = all.iter().map(|n| format!("line {n}\n")).collect();
            let (from, all) = (from % all.len(), lines(&text));
            let count = count.min(all.len() - from);
            let cite = of(from as u32 + 1, (from + count) as u32, &text).unwrap();
            let found: Vec<usize> = windows(&all, &cite).collect();
            let expected: Vec<usize> =
                (0..=all.len() - count).filter(|at| all[*at..at + count] == all[from..from + count]).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
