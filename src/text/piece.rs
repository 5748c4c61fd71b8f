//! Pieces: how a page of text becomes memories of a size that a person would recall.
//!
//! A page (a file, standard input) is cut at blank lines. A heading belongs to what follows it, a list or a block of code
//! to the sentence that introduces it, and tiny lines stay together. Prose keeps its paragraphs. What is longer than a
//! memory may be is packed into pieces of about [`limits::PIECE_BYTES`], at ends of lines and sentences. Each rule looks
//! at neighbours only, so that an edit changes the pieces around it and no other.

use std::collections::VecDeque;

use super::sentence::{cut, segments};
use super::speaker;
use crate::limits;

/// Longest line that can be a heading without a mark, characters and words.
const HEADING_CHARS: usize = 60;
const HEADING_WORDS: usize = 8;
/// The same for a line that is written without spaces, characters.
const UNSPACED_CHARS: usize = 20;
/// So many short lines in a row are statements or a list, and not headings.
const LINES_OF_A_LIST: usize = 3;
/// Most words of a line that is too little to be a memory.
const TINY_WORDS: usize = 2;
/// Longest item of a list with blank lines that shares a memory with its neighbours, bytes.
const SMALL_ITEM: usize = 200;
/// Longest run of headings without a text below them, bytes.
const HEADINGS: usize = 400;
/// Most lines of a title that is underlined.
const TITLE_LINES: usize = 3;
/// A last piece that is shorter than this goes to the one before, bytes.
const REMAINDER: usize = 160;

/// The memories that one text makes: itself, or packed pieces of a text that is too long.
pub fn parts(text: &str) -> Vec<String> {
    let text = text.trim();
    let plain = !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if plain && !text.is_empty() && text.len() <= limits::STIMULUS_BYTES {
        return vec![text.to_owned()];
    }
    let clean = cleaned(text);
    let mut packed = Packing::default();
    for block in paragraphs(&clean) {
        if block.len() <= limits::PIECE_BYTES {
            packed.add(block, "\n\n");
            continue;
        }
        // A long block fills what is left of the piece before it, line by line: its first sentence alone says little.
        let mut joint = "\n\n";
        for line in block.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if line.len() <= limits::PIECE_BYTES {
                packed.add(line, joint);
            } else {
                packs(line).iter().for_each(|unit| packed.add(unit, joint));
            }
            joint = "\n";
        }
    }
    packed.finish()
}

/// Pieces of a text that is too long, in the making.
#[derive(Default)]
struct Packing {
    pieces: Vec<String>,
    held: String,
    /// Where the headings begin with which the held piece ends.
    headings: Option<usize>,
}

impl Packing {
    /// Adds a unit to the piece, or begins one with it, and with the headings above it.
    fn add(&mut self, unit: &str, joint: &str) {
        if !self.held.is_empty() && self.held.len() + joint.len() + unit.len() > limits::PIECE_BYTES {
            let from = self.headings.filter(|at| *at > 0 && self.held.len() - at <= HEADINGS);
            let above = from.map(|at| self.held.split_off(at)).unwrap_or_default();
            let full = std::mem::replace(&mut self.held, above.trim_start().to_owned());
            self.pieces.push(full.trim_end().to_owned());
            self.headings = (!self.held.is_empty()).then_some(0);
        }
        let is_heading = is_marked_heading(unit) && !unit.contains('\n');
        self.headings = is_heading.then(|| self.headings.unwrap_or(self.held.len()));
        if !self.held.is_empty() {
            self.held.push_str(joint);
        }
        self.held.push_str(unit);
    }

    fn finish(mut self) -> Vec<String> {
        if !self.held.trim().is_empty() {
            self.pieces.push(self.held.trim().to_owned());
        }
        self.pieces
    }
}

/// Returns the paragraphs of a text, without lines that only divide.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches('\n');
            if rest.is_empty() {
                return None;
            }
            let mut end = 0;
            for line in rest.split_inclusive('\n') {
                if line.trim().is_empty() {
                    break;
                }
                end += line.len();
            }
            let (block, after) =
                if end == 0 { rest.split_once('\n').unwrap_or((rest, "")) } else { rest.split_at(end) };
            rest = after;
            let block = block.trim_end();
            if !block.trim().is_empty() && !is_rule(block.trim()) {
                return Some(block);
            }
        }
    })
}

/// A text whose lines end with newlines, without other control characters than tabs.
fn cleaned(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}

/// The memories that a page makes, in order, each a valid stimulus text. Control characters but tab and newline become
/// spaces; lines that only divide are left out.
pub fn pieces(text: &str) -> Vec<String> {
    let mut page = Splitter::default();
    page.add(text);
    page.finish()
}

/// Cuts a page that comes in parts, wherever these end, into the pieces that it makes as a whole. Holds the block of lines under way,
/// and the blocks that decide about the one before.
#[derive(Default)]
pub struct Splitter {
    begun: bool,
    /// Whether the last character was a carriage return: a newline behind it ends the same line.
    returned: bool,
    line: String,
    blocks: Blocks,
    page: Page,
}

impl Splitter {
    /// Adds a part of the text.
    pub fn add(&mut self, text: &str) {
        let mut rest = if self.begun { text } else { text.strip_prefix('\u{feff}').unwrap_or(text) };
        self.begun |= !text.is_empty();
        loop {
            if !rest.is_empty() && std::mem::take(&mut self.returned) {
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
            let Some(end) = rest.find(['\n', '\r']) else { break };
            self.hold(&rest[..end]);
            self.blocks.line(&self.line);
            self.line.clear();
            self.returned = rest[end..].starts_with('\r');
            rest = &rest[end + 1..];
        }
        self.hold(rest);
        self.settle(AHEAD);
    }

    /// Takes out the pieces that nothing which follows can change.
    pub fn take(&mut self) -> Vec<String> {
        let last = self.page.pieces.pop();
        std::mem::replace(&mut self.page.pieces, last.into_iter().collect())
    }

    /// Ends the page, and returns the pieces that were not taken.
    pub fn finish(mut self) -> Vec<String> {
        self.blocks.line(&self.line);
        // A fence that nobody closes reaches to the end.
        self.blocks.end(self.blocks.fence.map(|_| Form::Code));
        self.settle(0);
        self.page.finish()
    }

    /// Adds to the line under way.
    fn hold(&mut self, text: &str) {
        match text.chars().any(|c| c.is_control() && c != '\t') {
            true => self.line.extend(text.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c })),
            false => self.line.push_str(text),
        }
    }

    /// Puts together the blocks behind which there are more than so many.
    fn settle(&mut self, ahead: usize) {
        while self.blocks.found.len() > ahead
            && let Some(block) = self.blocks.found.pop_front()
        {
            self.page.add(block, &self.blocks.found);
        }
    }
}

/// Blocks that decide about the one before them: a second short line, and what follows it.
const AHEAD: usize = LINES_OF_A_LIST - 1;

/// What a block of lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Marked as a heading.
    Heading,
    /// One short line that does not end as a sentence does.
    Short,
    /// It ends with a colon: something follows.
    Lead,
    List,
    Code,
    Prose,
}

#[derive(Debug)]
struct Block {
    text: String,
    form: Form,
}

/// Cuts lines into blocks.
#[derive(Default)]
struct Blocks {
    /// The lines of the block under way.
    held: String,
    lines: usize,
    /// Whether the first of them begins with a day.
    is_dated: bool,
    /// The mark that closes it.
    fence: Option<&'static str>,
    found: VecDeque<Block>,
}

impl Blocks {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(mark) = self.fence {
            self.hold(line);
            if trimmed.starts_with(mark) && trimmed.trim_start_matches(&mark[..1]).is_empty() {
                self.fence = None;
                let title = self.held.lines().nth(1).filter(|_| self.lines == 3);
                let is_title =
                    trimmed.len() > mark.len() && title.is_some_and(|title| underlines(trimmed, title.trim()));
                self.end(Some(if is_title { Form::Heading } else { Form::Code }));
            }
        } else if self.is_title(trimmed) {
            self.hold(line);
            self.end(Some(Form::Heading));
        } else if let Some(mark) = opened_fence(trimmed) {
            self.end(None);
            self.hold(line);
            self.fence = Some(mark);
        } else if trimmed.is_empty() {
            self.end(None);
        } else if is_marked_heading(trimmed) {
            self.end(None);
            self.hold(line);
            self.end(Some(Form::Heading));
        } else if is_rule(trimmed) {
            self.rule(line, trimmed);
        } else {
            if self.is_dated && starts_with_day(trimmed) {
                self.end(None);
            }
            self.hold(line);
        }
    }

    /// Whether a line underlines what is held: one line, or a few of which the last is a release or a date, where the signs would open code.
    fn is_title(&self, line: &str) -> bool {
        let above = self.held.lines().next_back().unwrap_or_default().trim();
        let most = if opened_fence(line).is_some() { TITLE_LINES } else { 1 };
        (1..=most).contains(&self.lines) && underlines(line, above) && item(self.held.trim()).is_none()
    }

    fn hold(&mut self, line: &str) {
        match self.lines {
            0 => self.is_dated = starts_with_day(line.trim()),
            _ => self.held.push('\n'),
        }
        self.held.push_str(line);
        self.lines += 1;
    }

    /// A line of signs: it underlines the one line above it, divides the rows of a table, or divides and says nothing.
    fn rule(&mut self, line: &str, trimmed: &str) {
        match self.lines {
            0 => {}
            1 if trimmed.chars().all(|c| c == '=' || c == '-') && item(self.held.trim()).is_none() => {
                self.hold(line);
                self.end(Some(Form::Heading));
            }
            _ => self.hold(line),
        }
    }

    fn end(&mut self, form: Option<Form>) {
        let single = self.lines == 1;
        let mut text = std::mem::take(&mut self.held);
        (self.lines, self.is_dated) = (0, false);
        text.truncate(text.trim_end().len());
        if text.starts_with(char::is_whitespace) {
            text = text.trim_start().to_owned();
        }
        if text.is_empty() {
            return;
        }
        let form = form.unwrap_or_else(|| {
            if item(&text).is_some() {
                Form::List
            } else if text.ends_with([':', '：']) {
                Form::Lead
            } else if single && is_short(&text) {
                Form::Short
            } else {
                Form::Prose
            }
        });
        self.found.push_back(Block { text, form });
    }
}

/// Puts blocks together.
#[derive(Default)]
struct Page {
    /// Headings and introductions that wait for what they belong to.
    waiting: Vec<String>,
    pieces: Vec<String>,
    /// What the last piece ends with, if nothing waits behind it.
    last: Option<Form>,
    /// Whether the short lines that follow are statements.
    is_stating: bool,
}

impl Page {
    /// Adds a block, which as many of `rest` follow as decide about it.
    fn add(&mut self, block: Block, rest: &VecDeque<Block>) {
        let next = rest.front().map(|block| block.form);
        if block.form == Form::Short {
            return self.short(block, rest);
        }
        self.is_stating = false;
        match block.form {
            Form::Heading => self.wait(block),
            Form::Lead if matches!(next, Some(Form::List | Form::Code)) => self.wait(block),
            Form::List if self.last == Some(Form::List) && block.text.len() <= SMALL_ITEM => {
                self.join(block, "\n", limits::PIECE_BYTES);
            }
            Form::Code if self.last.is_some() => self.join(block, "\n\n", limits::STIMULUS_BYTES),
            _ => self.push(block.text, block.form),
        }
    }

    /// One or two short lines before a text are its headings; more of them, or the last ones, say something themselves.
    fn short(&mut self, block: Block, rest: &VecDeque<Block>) {
        if !self.is_stating {
            let more = rest.iter().take_while(|block| block.form == Form::Short).count();
            let before_text = rest.get(more).is_some_and(|block| block.form != Form::Heading);
            if more + 1 < LINES_OF_A_LIST && before_text {
                return self.wait(block);
            }
            self.is_stating = true;
            self.push(block.text, Form::Short);
        } else if is_tiny(&block.text) && self.last == Some(Form::Short) {
            self.join(block, "\n\n", limits::PIECE_BYTES);
        } else {
            self.push(block.text, Form::Short);
        }
    }

    fn wait(&mut self, block: Block) {
        if self.waiting.iter().map(String::len).sum::<usize>() + block.text.len() > HEADINGS && !self.waiting.is_empty()
        {
            let headings = std::mem::take(&mut self.waiting).join("\n\n");
            self.push(headings, Form::Heading);
        }
        self.waiting.push(block.text);
        self.last = None;
    }

    fn join(&mut self, block: Block, between: &str, most: usize) {
        match self.pieces.last_mut() {
            Some(last) if last.len() + between.len() + block.text.len() <= most => {
                last.push_str(between);
                last.push_str(&block.text);
                self.last = Some(block.form);
            }
            _ => self.push(block.text, block.form),
        }
    }

    fn push(&mut self, text: String, form: Form) {
        let whole = if self.waiting.is_empty() {
            text
        } else {
            let mut whole = std::mem::take(&mut self.waiting);
            whole.push(text);
            whole.join("\n\n")
        };
        match whole.len() <= limits::STIMULUS_BYTES {
            true => self.pieces.push(whole),
            false => self.pieces.extend(packs(&whole)),
        }
        self.last = Some(form);
    }

    fn finish(mut self) -> Vec<String> {
        if !self.waiting.is_empty() {
            let text = std::mem::take(&mut self.waiting).join("\n\n");
            self.join(Block { text, form: Form::Heading }, "\n\n", limits::STIMULUS_BYTES);
        }
        self.pieces
    }
}

/// Packs a text that is too long: whole lines, with what is indented below them, then whole sentences, then words.
fn packs(text: &str) -> Vec<String> {
    const WANTED: usize = limits::PIECE_BYTES;
    let mut units: Vec<&str> = Vec::new();
    for unit in items(text) {
        match unit.len() <= WANTED {
            true => units.push(unit),
            false => segments(unit).into_iter().for_each(|sentence| split_words(sentence, &mut units)),
        }
    }
    let mut found: Vec<&str> = Vec::new();
    let mut held = 0..0;
    for unit in units {
        if held.end + unit.len() - held.start > WANTED && !text[held.clone()].trim().is_empty() {
            found.push(&text[held.clone()]);
            held.start = held.end;
        }
        held.end += unit.len();
    }
    let rest = text[held.clone()].trim();
    let mut pieces: Vec<String> = found.into_iter().map(|piece| piece.trim().to_owned()).collect();
    match pieces.last_mut() {
        Some(last) if rest.len() < REMAINDER && last.len() + rest.len() < limits::STIMULUS_BYTES => {
            last.push('\n');
            last.push_str(rest);
            last.truncate(last.trim_end().len());
        }
        _ if rest.is_empty() => {}
        _ => pieces.push(rest.to_owned()),
    }
    pieces
}

/// The lines of a text with what is indented below them, as far as it fits; nothing dropped.
fn items(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let belongs = line.starts_with([' ', '\t']) || line.trim().is_empty();
        if end > start && (!belongs || end + line.len() - start > limits::PIECE_BYTES) {
            found.push(&text[start..end]);
            start = end;
        }
        end += line.len();
    }
    found.push(&text[start..end]);
    found
}

/// A sentence, in parts where it is longer than a memory may be.
fn split_words<'t>(sentence: &'t str, units: &mut Vec<&'t str>) {
    let mut rest = sentence;
    while rest.len() > limits::STIMULUS_BYTES {
        let at = cut(rest, limits::PIECE_BYTES);
        units.push(&rest[..at]);
        rest = &rest[at..];
    }
    units.push(rest);
}

/// The mark of a fence that a line opens. One that closes on the same line is code inside a sentence.
fn opened_fence(line: &str) -> Option<&'static str> {
    let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))?;
    (!line.trim_start_matches(&mark[..1]).contains('`')).then_some(mark)
}

pub(super) fn is_marked_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with(' ') && !text.trim().is_empty()
}

/// Three and more signs of those that divide, or four and more of one that only underlines.
pub(super) fn is_rule(line: &str) -> bool {
    let signs = line.chars().filter(|c| !c.is_whitespace()).count();
    let divides = |c: char| c.is_whitespace() || matches!(c, '-' | '=' | '*' | '_' | '~');
    signs >= 3 && line.chars().all(divides) || is_row(line) && !line.starts_with('`')
}

/// Whether a line makes the one above it a title: a row of one sign, at least as long, as in reStructuredText.
pub(super) fn underlines(line: &str, above: &str) -> bool {
    // Three tildes below a word of three letters underline it as well; three backticks below a short line open code.
    is_row(line) && line.chars().count() >= above.chars().count() && above.chars().any(char::is_alphanumeric)
}

/// A row of one of the signs that titles are underlined with: four and more, of tildes three.
fn is_row(line: &str) -> bool {
    let least = if line.starts_with('~') { 3 } else { 4 };
    let sign = line.chars().next().filter(|sign| "=-~^\"'*+#`".contains(*sign));
    line.len() >= least && sign.is_some_and(|sign| line.chars().all(|c| c == sign))
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+', '•'])?,
        1..=3 => line[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

/// Whether a line begins with a day as `2026-01-26`: an entry of a diary or a log.
pub(super) fn starts_with_day(line: &str) -> bool {
    let Some(day) = line.trim_start_matches(['[', '(']).as_bytes().get(..10) else { return false };
    day.iter().enumerate().all(|(at, byte)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() })
}

fn is_short(line: &str) -> bool {
    let (chars, words) = (line.chars().count(), line.split_whitespace().count());
    let most = if line.is_ascii() || words > 2 { HEADING_CHARS } else { UNSPACED_CHARS.max(words * UNSPACED_CHARS) };
    let ends = line.ends_with(['.', '!', '?', '。', '！', '？', '…', ';', ',', '、', '"', '”', '»', '」', ')']);
    chars <= most
        && words <= HEADING_WORDS
        && !ends
        && !line.starts_with(['>', '|', '"', '“', '«', '「'])
        && line.chars().any(char::is_alphanumeric)
        && speaker(line).is_none()
}

fn is_tiny(line: &str) -> bool {
    line.split_whitespace().count() <= TINY_WORDS && line.chars().count() <= UNSPACED_CHARS
}

#[cfg(test)]
#[path = "piece_tests.rs"]
mod tests;
