//! Stage 1, stimulus: from what people feed to stimuli, and into the queue.
//!
//! Texts come in parts, and wait in a spool: of each only its place and its hash are held. [`super::Cycle::store_stimuli`] makes stimuli
//! durable before anything acts on them.

use serde::{Deserialize, Serialize};

use super::edited::NewPiece;
use crate::limits;
use crate::model::document::FileKey;
use crate::model::ids::{RunId, StimulusId, TextHash, hash_fields};
use crate::model::json::{self, JsonError};
use crate::model::secret::{Redaction, Secrets};
use crate::model::{Origin, Stamp, Stimulus};
use crate::text::{self, Days, Splitter};
use crate::world::{Spool, Spooled, WorldError};

/// What the user said about everything in one `feed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Labels {
    /// When it happened.
    pub at: Option<Stamp>,
    /// Its label.
    pub source: Option<String>,
    /// What it belongs to.
    pub session: Option<String>,
    /// The run whose action it answers.
    pub answers: Option<RunId>,
    /// What that run's outcome is worth.
    pub value: Option<f64>,
}

/// One input before it has an id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// The text.
    pub text: String,
    /// Its labels.
    pub labels: Labels,
    /// The day that the file tells, if nobody said when it happened.
    pub day: Option<Stamp>,
    /// The file whose piece, or a correction of it, it is.
    pub file: Option<FileKey>,
    /// What it replaces.
    pub supersedes: Vec<StimulusId>,
    /// Whether it is remembered though an equal one was fed before.
    pub again: bool,
    /// Its place among the inputs that it came with.
    pub order: u32,
}

impl Input {
    /// When it happened: as it was said, else on its day, unless that is to come.
    pub fn at(&self, now: Stamp) -> Stamp {
        self.labels.at.or(self.day.filter(|day| *day <= now)).unwrap_or(now)
    }
}

/// One line of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    #[serde(default)]
    at: Option<Stamp>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    answers: Option<RunId>,
    #[serde(default)]
    value: Option<f64>,
}

/// Reads a batch: one JSON object a line, blank lines passed over. Labels of the command fill what a line leaves out.
/// A text longer than a stimulus may be is split at sentences; its parts share the labels, numbered from the second on.
pub fn from_jsonl(bytes: &[u8], what: &str, labels: &Labels, secrets: &Secrets) -> Result<Vec<Input>, JsonError> {
    let mut batch = Batch::new(what, labels, secrets);
    let mut inputs = Vec::new();
    for line in bytes.split(|b| *b == b'\n') {
        inputs.extend(batch.line(line)?);
    }
    Ok(inputs)
}

/// A batch whose lines come one by one.
pub struct Batch<'b> {
    what: &'b str,
    labels: &'b Labels,
    secrets: &'b Secrets,
    lines: usize,
}

impl<'b> Batch<'b> {
    /// One that `what` names in errors. Labels of the command fill what a line leaves out.
    pub fn new(what: &'b str, labels: &'b Labels, secrets: &'b Secrets) -> Self {
        Self { what, labels, secrets, lines: 0 }
    }

    /// The inputs of the next line.
    ///
    /// # Errors
    /// The line is none of a batch.
    pub fn line(&mut self, line: &[u8]) -> Result<Vec<Input>, JsonError> {
        if line.len() > limits::DELTA_BYTES {
            return Err(self.too_long(line.len()));
        }
        let line = if self.lines == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let fail = |e: JsonError| JsonError { line: self.lines, ..e };
        let clean = self.secrets.redact_json(line);
        let line: Line =
            json::strict(clean.as_deref().unwrap_or(line), self.what, limits::DELTA_BYTES).map_err(fail)?;
        let labels = Labels {
            at: line.at.or(self.labels.at),
            source: line.source.or_else(|| self.labels.source.clone()),
            session: line.session.or_else(|| self.labels.session.clone()),
            answers: line.answers.or_else(|| self.labels.answers.clone()),
            value: line.value.or(self.labels.value),
        };
        let parts = text::parts(&line.text);
        if parts.is_empty() {
            return Err(JsonError::at(self.what, self.lines, "text", "is empty"));
        }
        Ok(numbered(parts, &labels))
    }

    /// The number of the line that was read last.
    pub fn line_number(&self) -> usize {
        self.lines
    }

    /// Why the next line is not read, which has so many bytes.
    pub fn too_long(&self, bytes: usize) -> JsonError {
        let message = format!("{bytes} bytes, the limit is {}", limits::DELTA_BYTES);
        JsonError::at(self.what, self.lines + 1, "", message)
    }
}

/// Texts and lines of batches that wait in a spool.
#[derive(Debug, Default)]
pub struct Inputs(Vec<Spooled>);

/// What is spooled of an input.
#[derive(Serialize, Deserialize)]
struct SpooledInput {
    text: String,
    labels: Labels,
}

impl Inputs {
    /// Adds one. Those of one command are numbered in their order.
    ///
    /// # Errors
    /// The spool's.
    pub fn add(&mut self, input: Input, spool: &mut Spool) -> Result<(), WorldError> {
        let json = serde_json::to_string(&SpooledInput { text: input.text, labels: input.labels });
        self.0.push(spool.add(&json.expect("invariant: texts and numbers are JSON"))?);
        Ok(())
    }

    /// Returns one.
    ///
    /// # Errors
    /// The spool's.
    pub fn get(&self, at: usize, spool: &Spool) -> Result<Input, WorldError> {
        let json = spool.text(self.0[at])?;
        let SpooledInput { text, labels } = serde_json::from_str(&json).expect("invariant: it was written so");
        Ok(Input { text, labels, order: u32::try_from(at).unwrap_or(u32::MAX), ..Input::default() })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all but the first.
    pub fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }
}

/// A piece of a text file, in a spool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its hash.
    pub hash: TextHash,
    /// Its place.
    pub place: Spooled,
    /// Its day, as far as the file tells it and nobody said when it happened.
    pub day: Option<Stamp>,
}

/// A text that comes in parts: its secrets go, and its pieces wait in a spool.
pub struct Pages<'s> {
    redaction: Redaction<'s>,
    splitter: Splitter,
    days: Option<Days>,
    pieces: Vec<Piece>,
}

impl<'s> Pages<'s> {
    /// A text whose pieces tell their `days`.
    pub fn new(secrets: &'s Secrets, days: Option<Days>) -> Self {
        Self { redaction: secrets.in_parts(), splitter: Splitter::default(), days, pieces: Vec::new() }
    }

    /// Adds a part of the text.
    ///
    /// # Errors
    /// The spool's.
    pub fn add(&mut self, part: &str, spool: &mut Spool) -> Result<(), WorldError> {
        self.redaction.add(part, &mut |clean| self.splitter.add(clean));
        let found = self.splitter.take();
        self.hold(found, spool)
    }

    /// Ends the text. Returns its pieces, and the number of secrets that were taken out.
    ///
    /// # Errors
    /// The spool's.
    pub fn finish(mut self, spool: &mut Spool) -> Result<(Vec<Piece>, usize), WorldError> {
        let redacted = self.redaction.finish(&mut |clean| self.splitter.add(clean));
        let found = std::mem::take(&mut self.splitter).finish();
        self.hold(found, spool)?;
        Ok((self.pieces, redacted))
    }

    fn hold(&mut self, found: Vec<String>, spool: &mut Spool) -> Result<(), WorldError> {
        for text in found {
            let day = self.days.as_mut().and_then(|days| days.next(&text)).map(Stamp::from_unix);
            self.pieces.push(Piece { hash: TextHash::of(&text), place: spool.add(&text)?, day });
        }
        Ok(())
    }
}

/// A text file: its pieces, and the labels that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct FileText {
    /// The file's label.
    pub label: String,
    /// The session of its pieces.
    pub session: String,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// When it happened, and the run that it answers.
    pub labels: Labels,
    /// Whose own file it is; empty where it is everybody's.
    pub owner: String,
    /// Whether somebody gave it its label.
    pub has_label: bool,
}

impl FileText {
    /// A text file that is called `name` where it lies, before it is read.
    pub fn new(name: String, labels: &Labels, owner: String) -> Self {
        Self {
            label: labels.source.clone().unwrap_or_else(|| name.clone()),
            session: labels.session.clone().unwrap_or(name),
            pieces: Vec::new(),
            labels: labels.clone(),
            owner,
            has_label: labels.source.is_some(),
        }
    }

    /// What its pieces' ids begin with.
    pub fn key(&self, origin: &Origin) -> FileKey {
        FileKey::of(&self.label, &self.session, origin, &self.owner)
    }

    /// The same if it were everybody's.
    pub fn key_of_all(&self, origin: &Origin) -> FileKey {
        FileKey::of(&self.label, &self.session, origin, "")
    }

    /// A piece that is to be remembered, the first of them or another.
    ///
    /// # Errors
    /// The spool's.
    pub fn input(&self, new: &NewPiece, is_first: bool, origin: &Origin, spool: &Spool) -> Result<Input, WorldError> {
        let text = spool.text(self.pieces[new.piece].place)?;
        let source = Some(Stimulus::label_in(&self.label, &text));
        let answers = self.labels.answers.clone().filter(|_| is_first);
        let value = self.labels.value.filter(|_| is_first);
        Ok(Input {
            text,
            labels: Labels { at: self.labels.at, source, session: Some(self.session.clone()), answers, value },
            day: self.pieces[new.piece].day,
            file: Some(self.key(origin)),
            supersedes: new.supersedes.iter().cloned().collect(),
            again: new.again,
            order: u32::try_from(new.piece).unwrap_or(u32::MAX),
        })
    }
}

/// One text given on the command line.
pub fn from_argument(text: &str, labels: &Labels) -> Vec<Input> {
    numbered(text::parts(text), labels)
}

/// A piece of a page from standard input, by its place among `all`. Several pieces are labelled by their content.
pub fn of_page(text: String, at: usize, all: usize, labels: &Labels) -> Input {
    let source = labels.source.as_ref().map(|label| match all {
        1 => label.clone(),
        _ => Stimulus::label_in(label, &text),
    });
    // One outcome, not one a piece.
    let (answers, value) = (labels.answers.clone().filter(|_| at == 0), labels.value.filter(|_| at == 0));
    Input { text, labels: Labels { source, answers, value, ..labels.clone() }, ..Input::default() }
}

fn numbered(parts: Vec<String>, labels: &Labels) -> Vec<Input> {
    let number = |index: usize, source: &String| match index {
        0 => source.clone(),
        _ => format!("{source}#{}", index + 1),
    };
    parts
        .into_iter()
        .enumerate()
        .map(|(index, text)| Input {
            text,
            order: u32::try_from(index).unwrap_or(u32::MAX),
            labels: Labels {
                source: labels.source.as_ref().map(|s| number(index, s)),
                // One outcome, not one a part.
                answers: labels.answers.clone().filter(|_| index == 0),
                value: labels.value.filter(|_| index == 0),
                ..labels.clone()
            },
            ..Input::default()
        })
        .collect()
}

/// Gives an input its id and time. `random` makes the bits that tell an input from an equal one that was fed before.
/// The error is (field, what is wrong).
pub fn stimulus(
    input: Input,
    now: Stamp,
    origin: &Origin,
    random: impl FnOnce(&Input) -> u64,
) -> Result<Stimulus, (&'static str, String)> {
    let latest = Stamp::from_unix(now.unix() + limits::FUTURE_SECONDS);
    let labels = &input.labels;
    let again = input.again.then(|| random(&input));
    let id = match (input.file, again) {
        (Some(file), again) => Stimulus::id_in(file, labels.at, &input.text, again),
        (None, Some(bits)) => random_id(bits),
        (None, None) => match (&labels.source, labels.session.as_deref()) {
            (Some(source), session) => Stimulus::id_of(origin, source, session, labels.at, &input.text),
            (None, session) => Stimulus::id_unlabelled(origin, session, labels.at, &input.text),
        },
    };
    let at = input.at(now);
    if at > latest {
        let message = format!("{at} is more than {} minutes ahead of this machine", limits::FUTURE_SECONDS / 60);
        return Err(("at", message));
    }
    let stimulus = Stimulus {
        id,
        at,
        text: input.text,
        source: input.labels.source,
        session: input.labels.session,
        origin: origin.clone(),
        answers: input.labels.answers,
        value: input.labels.value,
        supersedes: input.supersedes,
        order: input.order,
        code: None,
    };
    stimulus.check().map(|()| stimulus)
}

/// Gives inputs their ids and times. The error is (index of the input, field, what is wrong).
pub fn stimuli(
    inputs: Vec<Input>,
    now: Stamp,
    origin: &Origin,
    mut random: impl FnMut(usize, &Input) -> u64,
) -> Result<Vec<Stimulus>, (usize, &'static str, String)> {
    let numbered = inputs.into_iter().enumerate();
    let made = numbered.map(|(index, input)| {
        stimulus(input, now, origin, |input| random(index, input)).map_err(|(field, message)| (index, field, message))
    });
    made.collect()
}

fn random_id(bits: u64) -> StimulusId {
    let id = format!("r-{:016x}", hash_fields(&[b"stimulus", &bits.to_be_bytes()]));
    StimulusId::parse(&id).expect("invariant: a prefix and a hash make an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_knows_its_lines() {
        let text = b"{\"text\": \"hi\", \"at\": \"2023-05-08T13:56:00Z\", \"source\": \"D1:1\", \"session\": null}\n\n{\"text\": \"ho\"}\n";
        let labels = Labels { session: Some("s".into()), ..Labels::default() };
        let inputs = from_jsonl(text, "x.jsonl", &labels, &Secrets::default()).unwrap();
        assert_eq!(inputs.len(), 2);
        assert_eq!(inputs[0].labels.source.as_deref(), Some("D1:1"));
        assert_eq!(inputs[1].labels.session.as_deref(), Some("s"));
        for (bad, line) in [("{\"text\": \"a\"}\n{\"txt\": 1}", 2), ("{\"text\": \" \"}", 1), ("\n{", 2)] {
            assert_eq!(from_jsonl(bad.as_bytes(), "x", &labels, &Secrets::default()).unwrap_err().line, line, "{bad}");
        }
    }

    #[test]
    fn what_answers_a_run_says_so_once() {
        let run = RunId::parse("20260126t143200123z-abcd2345-decision").unwrap();
        let labels = Labels { answers: Some(run.clone()), ..Labels::default() };
        let line = format!("{{\"text\": \"it rained\", \"answers\": \"{run}\"}}");
        assert_eq!(
            from_jsonl(line.as_bytes(), "x", &Labels::default(), &Secrets::default()).unwrap()[0].labels.answers,
            Some(run.clone())
        );
        assert_eq!(
            from_jsonl(b"{\"text\": \"it rained\"}", "x", &labels, &Secrets::default()).unwrap()[0].labels.answers,
            Some(run)
        );
        assert_eq!(
            from_jsonl(b"{\"text\": \"a\", \"answers\": \"me\"}", "x", &labels, &Secrets::default()).unwrap_err().line,
            1
        );
        let long = from_argument(&"One more sentence. ".repeat(500), &labels);
        assert!(
            long.len() > 1 && long[0].labels.answers.is_some() && long[1..].iter().all(|i| i.labels.answers.is_none())
        );
    }

    #[test]
    fn a_text_file_is_a_session_of_pieces_that_are_labelled_by_content() {
        let text = "One.\nStill one.\n\nTwo.\n";
        let read = |text: &str| {
            let (secrets, mut spool) = (Secrets::default(), Spool::within(std::path::Path::new(".")));
            let mut pages = Pages::new(&secrets, None);
            pages.add(text, &mut spool).unwrap();
            let mut file = FileText::new("notes.md".to_owned(), &Labels::default(), String::new());
            file.pieces = pages.finish(&mut spool).unwrap().0;
            let new = |piece| NewPiece { piece, supersedes: None, again: false };
            let input = |piece| file.input(&new(piece), piece == 0, &Origin::local(), &spool).unwrap();
            (0..file.pieces.len()).map(input).collect::<Vec<_>>()
        };
        let sources = |text: &str| read(text).into_iter().filter_map(|i| i.labels.source).collect::<Vec<_>>();
        let (before, after) = (sources(text), sources(&format!("Zero.\n\n{text}")));
        assert_eq!((before.len(), &before[..]), (2, &after[1..]));
        assert!(before.iter().all(|source| source.starts_with("notes.md#") && source.len() == 17));
        assert!(read(text).iter().all(|i| i.labels.session.as_deref() == Some("notes.md")));
    }

    #[test]
    fn several_pieces_of_a_page_are_labelled_by_content() {
        let labels = Labels { source: Some("s".into()), ..Labels::default() };
        let source = |at, all| of_page("One.".to_owned(), at, all, &labels).labels.source.unwrap();
        assert_eq!((source(0, 1), source(1, 2)), ("s".to_owned(), Stimulus::label_in("s", "One.")));
    }

    #[test]
    fn ids_repeat_unless_it_is_said_again_and_the_future_is_refused() {
        let now = Stamp::from_unix(1_000_000);
        let input = |source: Option<&str>, at| Input {
            text: "t".into(),
            labels: Labels { at, source: source.map(str::to_owned), ..Labels::default() },
            ..Input::default()
        };
        let make = |i: Input, bits| stimuli(vec![i], now, &Origin::local(), |_, _| bits);
        assert_eq!(make(input(Some("s"), None), 1).unwrap()[0].id, make(input(Some("s"), None), 2).unwrap()[0].id);
        assert_eq!(make(input(None, None), 1).unwrap()[0].id, make(input(None, None), 2).unwrap()[0].id);
        let again = |file| Input { again: true, file, ..input(None, None) };
        for file in [None, Some(FileKey::of("f", "f", &Origin::local(), ""))] {
            assert_ne!(make(again(file), 1).unwrap()[0].id, make(again(file), 2).unwrap()[0].id);
        }
        let piece =
            make(Input { file: Some(FileKey::of("f", "f", &Origin::local(), "")), ..input(None, None) }, 1).unwrap();
        assert_eq!(FileKey::in_id(&piece[0].id), Some(FileKey::of("f", "f", &Origin::local(), "")));
        assert_eq!(FileKey::in_id(&StimulusId::parse("f-1-2").unwrap()), None);
        let ahead = |seconds: i64| make(input(None, Some(Stamp::from_unix(1_000_000 + seconds))), 1);
        assert!(ahead(600).is_ok());
        assert_eq!(ahead(601).unwrap_err().1, "at");
    }
}
