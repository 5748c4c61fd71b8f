//! Secrets: what no object of the repository may hold, and its removal from text that comes in.
//!
//! Two kinds of knowledge. **Rules**: formats that vendors document for their keys, and assignments whose value looks like
//! one. **Known values**: what variables of this machine hold, in every encoding that a program would print them in. Text is
//! redacted where it enters, before ids are made of it; the store refuses what still holds one when it makes an object.
//!
//! Git hashes, UUIDs, run ids and images in base64 are no secrets: nothing here goes by looks alone.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use icu_normalizer::DecomposingNormalizerBorrowed;
use regex::Regex as TextRegex;
use regex::bytes::{Regex, RegexBuilder};

use super::ids::is_invisible;
use super::plural::plural;
use crate::limits;
use encoding::encodings;
use everyday::RULES;
use form::{Alphabet, Form};
pub use parts::Redaction;

mod encoding;
mod everyday;
mod form;
mod parts;
mod placeholder;
mod rules;
#[cfg(test)]
mod tests;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub kind: &'static str,
    /// Where it stands, bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A secret in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFile {
    /// Its kind.
    pub kind: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// It, as it stands there; where escapes of JSON hide it, its line.
    pub text: Vec<u8>,
}

/// The kind of what a variable of this machine holds.
pub const KNOWN: &str = "known-value";

/// Where to look for what, and the patterns of the rules that have one, made when they are first needed.
struct Finder {
    anchors: AhoCorasick,
    /// The rule of each anchor, and the anchor.
    of_anchor: Vec<(usize, &'static [u8])>,
    patterns: Vec<OnceLock<Regex>>,
}

static FINDER: LazyLock<Finder> = LazyLock::new(|| {
    let mut of_anchor = Vec::new();
    for (number, rule) in RULES.iter().enumerate() {
        of_anchor.extend(rule.anchors.iter().map(|anchor| (number, anchor.as_bytes())));
    }
    let anchors = RULES.iter().flat_map(|rule| rule.anchors);
    let anchors = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(anchors);
    Finder {
        anchors: anchors.expect("invariant: a few short anchors"),
        of_anchor,
        patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
    }
});

impl Finder {
    fn pattern(&self, number: usize, pattern: &str) -> &Regex {
        let build = |text: &str| RegexBuilder::new(text).unicode(false).build().expect("invariant: tested patterns");
        self.patterns[number].get_or_init(|| match RULES[number].form {
            Form::Around(..) => build(pattern),
            _ => build(&format!("^(?:{pattern})")),
        })
    }

    /// What a rule finds at an anchor: from where to where.
    fn at(&self, number: usize, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        let run = |alphabet: Alphabet, most: usize| {
            text[end..].iter().take(most).take_while(|byte| alphabet.has(**byte)).count()
        };
        match RULES[number].form {
            Form::Tail(alphabet, least) => {
                // So short a beginning stands in every large blob.
                let found = run(alphabet, usize::MAX);
                (found >= least && (end - start > BRIEF || !is_in_blob(text, start))).then_some((start, end + found))
            }
            Form::Exactly(alphabet, count) | Form::Mixed(alphabet, count) => {
                let found = run(alphabet, count + 1);
                let words = matches!(RULES[number].form, Form::Mixed(..)) && !looks_made(&text[end..end + found]);
                (found == count && !words && !is_in_blob(text, start)).then_some((start, end + found))
            }
            Form::Weak(alphabet, least) => {
                let found = run(alphabet, usize::MAX);
                (found >= least && starts_afresh(text, start) && looks_made(&text[end..end + found]))
                    .then_some((start, end + found))
            }
            Form::From(pattern) => {
                let captures = self.pattern(number, pattern).captures(&text[end..])?;
                let (from, to) = match captures.get(1) {
                    Some(group) => (end + group.start(), end + group.end()),
                    None => (start, end + captures.get(0)?.end()),
                };
                Some((from, to))
            }
            Form::Around(before, pattern) => {
                let from = start.saturating_sub(before);
                let found = self.pattern(number, pattern).find(&text[from..text.len().min(end + AROUND)])?;
                Some((from + found.start(), from + found.end()))
            }
            Form::Spoken(looks, pattern) => {
                let begins = start == 0 || !(text[start - 1].is_ascii_alphanumeric() || text[start - 1] == b'_');
                let value = begins.then(|| self.pattern(number, pattern).captures(&text[end..])).flatten()?.get(1)?;
                let made = looks_made(value.as_bytes()) && !is_plain(value.as_bytes()) && looks.fits(value.as_bytes());
                let next = text.get(end + value.end()).copied();
                (made && !placeholder::is_placeholder(value.as_bytes(), next))
                    .then_some((end + value.start(), end + value.end()))
            }
            Form::Doubtful(pattern) => {
                let captures = self.pattern(number, pattern).captures(&text[end..])?;
                let (name, value) = (captures.get(1)?, captures.get(2)?);
                let made = looks_made(value.as_bytes()) && !is_plain(value.as_bytes()) && !tells_of(name.as_bytes());
                let next = text.get(end + value.end()).copied();
                (made && !placeholder::is_placeholder(value.as_bytes(), next))
                    .then_some((end + value.start(), end + value.end()))
            }
        }
    }
}

/// Beginnings of secrets up to this length stand by chance in data of some megabytes.
const BRIEF: usize = 4;

/// Bytes that a pattern around an anchor may take behind it.
const AROUND: usize = 128;

/// A run of letters and figures that is longer than this is data, and what stands in it by chance no secret.
const BLOB: usize = 64;

/// Whether a place lies inside of a long run of what base64 is written in.
fn is_in_blob(text: &[u8], at: usize) -> bool {
    let before = text[..at].iter().rev().take(BLOB + 1).take_while(|byte| Alphabet::Base64.has(**byte));
    before.count() > BLOB
}

/// Whether no word reaches up to a place: nothing, no letter or figure, or the end of an escape (`\n`, `%3D`, `\u003d`, a colour of the
/// terminal) stands before it.
fn starts_afresh(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let hex = |digits: usize, mark: &[u8]| {
        let (rest, last) = before.split_at(at.saturating_sub(digits));
        last.len() == digits && last.iter().all(u8::is_ascii_hexdigit) && rest.ends_with(mark)
    };
    let coloured = || {
        let rest = before.strip_suffix(b"m").map(|rest| rest.trim_ascii_end());
        let bare = rest.map(|rest| {
            let codes = rest.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            &rest[..rest.len() - codes]
        });
        bare.is_some_and(|bare| bare.ends_with(b"["))
    };
    match before {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'0'] => true,
        _ => hex(2, b"%") || hex(2, b"\\x") || hex(4, b"\\u") || coloured(),
    }
}

/// True for a value that is no secret whatever its name: a place, a moment, a number with its unit, words.
fn is_plain(value: &[u8]) -> bool {
    let figures = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let counts = figures > 0 && value[figures..].iter().all(u8::is_ascii_alphabetic) && value.len() - figures <= UNIT;
    let begins = |start: &[u8]| value.starts_with(start);
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let moment =
        figures >= 2 && letters <= 2 && value.iter().all(|byte| byte.is_ascii_digit() || b"-:+.TZ/".contains(byte));
    let leads = value.windows(3).any(|part| part == b"://");
    let spaced = value.windows(3).any(|part| part == b"%20");
    counts || moment || leads || spaced || begins(b"/") || begins(b"~/") || begins(b"./") || begins(b"../")
}

/// Letters of the longest unit that follows a number.
const UNIT: usize = 12;

/// Whether the rest of a name says that its value is something about a secret, and not the secret.
fn tells_of(name: &[u8]) -> bool {
    const ABOUT: &str = "age algo algorithm ary class config count date days dir endpoint env expires expiry field file \
        format header hint host hours id ids interval ization ized izer izers kind length lifetime \
        limit max method min minutes mode model name path pattern period policy prefix regex scheme \
        seconds size timeout ttl type uri url";
    let name: String = name.iter().map(|byte| char::from(*byte)).collect();
    let hump = |(at, c): (usize, char)| {
        (c.is_ascii_uppercase() && name[..at].ends_with(|b: char| b.is_ascii_lowercase())).then_some(at)
    };
    let last = name.char_indices().filter_map(hump).next_back().unwrap_or(0);
    let word = name[last..].rsplit(['_', '-']).next().unwrap_or_default().to_ascii_lowercase();
    ABOUT.split(' ').any(|about| about == word)
}

/// A list of secrets that cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// An entry of `secrets.allow` that is neither a kind nor a pattern.
    #[error("secrets.allow: {text:?} is no kind and no pattern: {source}")]
    Pattern {
        /// The entry.
        text: String,
        /// The fault of the pattern.
        source: regex::Error,
    },
    /// Values of variables that no search can be built of.
    #[error("the values of this machine's secrets: {0}")]
    Values(#[from] aho_corasick::BuildError),
}

/// What counts as a secret here.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Values of this machine, in every encoding.
    known: Option<Arc<AhoCorasick>>,
    kinds: BTreeSet<String>,
    patterns: Vec<TextRegex>,
}

impl Secrets {
    /// The rules, less what is allowed (a kind, or a pattern that the whole secret matches), and the values of variables.
    /// Values shorter than [`limits::SECRET_BYTES`] are passed over.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn new(allow: &[String], values: &[String]) -> Result<Self, SecretsError> {
        let is_kind = |text: &str| text == KNOWN || RULES.iter().any(|rule| rule.kind == text);
        let mut secrets = Self::default();
        for text in allow {
            if is_kind(text) {
                secrets.kinds.insert(text.clone());
                continue;
            }
            let whole = TextRegex::new(&format!("^(?:{text})$"));
            let whole = whole.map_err(|source| SecretsError::Pattern { text: text.clone(), source })?;
            secrets.patterns.push(whole);
        }
        let values = values.iter().map(String::as_str).filter(|value| value.len() >= limits::SECRET_BYTES);
        let needles: BTreeSet<Vec<u8>> = values.flat_map(encodings).collect();
        if !needles.is_empty() {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&needles);
            secrets.known = Some(Arc::new(built?));
        }
        Ok(secrets)
    }

    /// A sentence about the secrets that are taken out of a text, if it has any.
    #[must_use]
    pub fn notice(&self, text: &[u8]) -> Option<String> {
        let count = self.find(text).len();
        let secrets = plural(count, "secret is", "secrets are");
        (count > 0).then(|| format!("{secrets} not remembered: the text reads [redacted:KIND] there"))
    }

    /// The secrets of a text, in order, none over another: as it stands, and as a concept would have it, whose letters are plain
    /// and visible.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Vec<Found> {
        let mut found = self.find_as_it_stands(text);
        if let Some(plain) = Plain::of(text) {
            let back = |f: Found| Found { start: plain.start(f.start), end: plain.end(f.end), ..f };
            found.extend(self.find_as_it_stands(&plain.text).into_iter().map(back));
        }
        found.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end)));
        let mut apart: Vec<Found> = Vec::with_capacity(found.len());
        for next in found {
            match apart.last_mut().filter(|last| next.start < last.end) {
                Some(last) => last.end = last.end.max(next.end),
                None => apart.push(next),
            }
        }
        apart
    }

    /// The secrets of a file: as it stands, and behind the escapes of JSON.
    #[must_use]
    pub fn in_file(&self, content: &[u8]) -> Vec<InFile> {
        let line = |at: usize| content[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let found: Vec<InFile> = self
            .find(content)
            .into_iter()
            .map(|f| InFile { kind: f.kind.to_owned(), line: line(f.start), text: content[f.start..f.end].to_vec() })
            .collect();
        if !found.is_empty() {
            return found;
        }
        let Some(clean) = self.redact_json(content) else { return found };
        let same = content.iter().zip(&clean).take_while(|(a, b)| a == b).count();
        let hidden = content.split(|byte| *byte == b'\n').nth(line(same) - 1).unwrap_or_default();
        let kind = clean[same..]
            .split(|byte| *byte == b']')
            .next()
            .and_then(|start| start.rsplit(|byte| *byte == b':').next());
        let kind = String::from_utf8_lossy(kind.unwrap_or_default()).into_owned();
        vec![InFile { kind, line: line(same), text: hidden.to_vec() }]
    }

    fn find_as_it_stands(&self, text: &[u8]) -> Vec<Found> {
        let mut found: Vec<Found> = self.hits(text).into_iter().map(|(_, found)| found).collect();
        found.retain(|f| !self.is_allowed(f, text));
        found
    }

    /// All that a rule or a value matches, allowed or not, each with the place from which on it was looked at.
    fn hits(&self, text: &[u8]) -> Vec<(usize, Found)> {
        let mut found = Vec::new();
        if let Some(known) = &self.known {
            let of = |start, end| (start, Found { kind: KNOWN, start, end });
            found.extend(known.find_iter(text).map(|m| of(m.start(), m.end())));
        }
        let mut of_rules = Vec::new();
        // What lies inside of what a rule has taken is not looked at again by it: no text takes more than its length in time.
        let mut taken = [0; RULES.len()];
        for hit in FINDER.anchors.find_overlapping_iter(text) {
            let (number, anchor) = FINDER.of_anchor[hit.pattern().as_usize()];
            if hit.start() < taken[number] || !is_spelt(anchor, &text[hit.range()]) {
                continue;
            }
            if let Some((start, end)) = FINDER.at(number, text, hit.start(), hit.end()) {
                taken[number] = end;
                let from = hit.start().min(start);
                of_rules.push((number, (from, Found { kind: RULES[number].kind, start, end })));
            }
        }
        of_rules.sort_by_key(|(number, _)| *number);
        found.extend(of_rules.into_iter().map(|(_, hit)| hit));
        found
    }

    fn is_allowed(&self, found: &Found, text: &[u8]) -> bool {
        if self.kinds.contains(found.kind) {
            return true;
        }
        let text = String::from_utf8_lossy(&text[found.start..found.end]);
        self.patterns.iter().any(|pattern| pattern.is_match(&text))
    }

    /// The text with `[redacted:KIND]` in place of each secret.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, &found))
    }

    /// The same for every text inside a JSON document, names of fields included, and nothing else of it is changed; `None`: it
    /// holds no secret, or is no JSON.
    #[must_use]
    pub fn redact_json(&self, document: &[u8]) -> Option<Vec<u8>> {
        // Only an escape that was not needed can hide a secret from a look at the bytes.
        let hides = document.windows(2).any(|pair| matches!(pair, [b'\\', b'u' | b'/']));
        if !hides && self.find(document).is_empty() {
            return None;
        }
        serde_json::from_slice::<serde::de::IgnoredAny>(document).ok()?;
        self.redact_texts(document)
    }

    /// One text after the other, so that all around them stays where it is: what else is wrong with the document is told with
    /// its own line, and a key that stands twice still does.
    fn redact_texts(&self, document: &[u8]) -> Option<Vec<u8>> {
        let mut clean = Vec::new();
        let (mut at, mut any) = (0, false);
        let mut before = String::new();
        while let Some(start) = document[at..].iter().position(|b| *b == b'"').map(|offset| at + offset) {
            let between = document[at..start].trim_ascii();
            clean.extend_from_slice(&document[at..start]);
            at = end_of_text(document, start)?;
            let literal = &document[start..at];
            let text: String = serde_json::from_slice(literal).ok()?;
            // `{"password": "…"}`: the field says what its text is, which neither says alone.
            let field = (between == b":").then_some(before.as_str());
            let redacted = self.redact_field(field, &text);
            match &redacted {
                Cow::Borrowed(_) => clean.extend_from_slice(literal),
                Cow::Owned(redacted) => {
                    any = true;
                    clean.extend_from_slice(super::json::inline(redacted).as_bytes());
                }
            }
            before = redacted.into_owned();
        }
        clean.extend_from_slice(&document[at..]);
        any.then_some(clean)
    }

    /// A text by itself, and as the value of its field.
    fn redact_field<'t>(&self, field: Option<&str>, text: &'t str) -> Cow<'t, str> {
        let alone = self.redact(text);
        let Some(field) = field else { return alone };
        let start = format!("{field}=");
        match self.redact(&format!("{start}{alone}")) {
            Cow::Borrowed(_) => alone,
            Cow::Owned(both) => both.strip_prefix(&start).unwrap_or(&both).to_owned().into(),
        }
    }
}

/// A text with `[redacted:KIND]` in place of its secrets.
fn without(text: &str, found: &[Found]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for secret in found {
        // Secrets begin and end at characters: patterns are of ASCII, and values are whole texts.
        clean.push_str(text.get(at..secret.start).unwrap_or_default());
        clean.push_str("[redacted:");
        clean.push_str(secret.kind);
        clean.push(']');
        at = secret.end;
    }
    clean.push_str(text.get(at..).unwrap_or_default());
    clean
}

/// Whether an anchor stands in the text as it is spelt; one in small letters may stand in capitals.
fn is_spelt(anchor: &[u8], found: &[u8]) -> bool {
    anchor == found || !anchor.iter().any(u8::is_ascii_uppercase)
}

/// A text in plain letters: those of full width, of mathematics or in circles are read as the letters that they mean, and what is
/// not seen is left out, as in a concept's words.
struct Plain {
    text: Vec<u8>,
    /// Where the plain text goes on otherwise than the original: (place in the plain text, in the original, whether what follows is
    /// the same in both).
    turns: Vec<(usize, usize, bool)>,
}

impl Plain {
    /// `None`: the text is plain as it stands, or no text.
    fn of(text: &[u8]) -> Option<Self> {
        if text.is_ascii() {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        let mut plain = Self { text: Vec::new(), turns: Vec::new() };
        let mut copied = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| may_mean_another(*c)) {
            let Some(meant) = meant_by(c) else { continue };
            plain.copy(&text[copied..at], copied);
            plain.turns.push((plain.text.len(), at, false));
            plain.text.extend_from_slice(meant.as_bytes());
            copied = at + c.len_utf8();
        }
        if plain.turns.is_empty() {
            return None;
        }
        plain.copy(&text[copied..], copied);
        Some(plain)
    }

    fn copy(&mut self, part: &str, at: usize) {
        self.turns.push((self.text.len(), at, true));
        self.text.extend_from_slice(part.as_bytes());
    }

    /// The turn that a place of the plain text belongs to.
    fn turn(&self, at: usize) -> usize {
        self.turns.partition_point(|(plain, _, _)| *plain <= at) - 1
    }

    /// Where the character begins in the original that a place of the plain text comes from.
    fn start(&self, at: usize) -> usize {
        let (plain, original, same) = self.turns[self.turn(at)];
        if same { original + at - plain } else { original }
    }

    /// Where the character ends in the original that the byte before a place of the plain text comes from.
    fn end(&self, at: usize) -> usize {
        let turn = self.turn(at - 1);
        let (plain, original, same) = self.turns[turn];
        // A copy follows every character that means another.
        if same { original + at - plain } else { self.turns[turn + 1].1 }
    }
}

/// False for most letters of most scripts, which mean themselves.
fn may_mean_another(c: char) -> bool {
    !matches!(c, '\0'..='\u{7f}' | '\u{c0}'..='\u{12f}' | '\u{370}'..='\u{600}' | '\u{2010}'..='\u{2023}'
        | '\u{3001}'..='\u{3163}' | '\u{3400}'..='\u{d7a3}')
}

/// The plain letters that a character means; nothing for one that is not seen, `None` for one that means itself.
fn meant_by(c: char) -> Option<String> {
    if is_invisible(c) {
        return Some(String::new());
    }
    let mut own = [0; 4];
    let meant = DecomposingNormalizerBorrowed::new_nfkd().normalize(c.encode_utf8(&mut own)).into_owned();
    meant.is_ascii().then_some(meant)
}

/// Where the text that begins at a quotation mark has ended.
fn end_of_text(document: &[u8], start: usize) -> Option<usize> {
    let mut escaped = false;
    let end = document[start + 1..].iter().position(|b| match b {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        b => *b == b'"',
    })?;
    Some(start + end + 2)
}

/// True for a value that no person would think of as a word: letters and figures mixed, and many different ones.
fn looks_made(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let (letters, figures) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
    let different: BTreeSet<u8> = value.iter().copied().collect();
    letters && figures && different.len() * 2 >= value.len().min(16)
}

/// Whether a variable that an agent may see holds a secret by its name, or by its looks.
#[must_use]
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    const NAMES: [&str; 11] =
        ["KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "COOKIE", "SESSION", "PRIVATE", "DSN"];
    let upper = name.to_ascii_uppercase();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-+=".contains(&b);
    NAMES.iter().any(|part| upper.contains(part))
        || (value.len() >= 16 && value.bytes().all(plain) && looks_made(value.as_bytes()))
}
