//! Stage 1, stimulus: from what people feed to stimuli, and into the queue.
//!
//! Reading input is pure; [`super::Cycle::store_stimuli`] makes it durable before anything acts on it.

use serde::Deserialize;

use super::edited::NewPiece;
use crate::limits;
use crate::model::document::FileKey;
use crate::model::ids::{RunId, StimulusId, hash_fields};
use crate::model::json::{self, JsonError};
use crate::model::secret::Secrets;
use crate::model::{Origin, Stamp, Stimulus};
use crate::text;

/// What the user said about everything in one `feed`.
#[derive(Clone, Debug, Default, PartialEq)]
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
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut inputs = Vec::new();
    for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fail = |e: JsonError| JsonError { line: index + 1, ..e };
        let clean = secrets.redact_json(line);
        let line: Line = json::strict(clean.as_deref().unwrap_or(line), what, limits::DELTA_BYTES).map_err(fail)?;
        let labels = Labels {
            at: line.at.or(labels.at),
            source: line.source.or_else(|| labels.source.clone()),
            session: line.session.or_else(|| labels.session.clone()),
            answers: line.answers.or_else(|| labels.answers.clone()),
            value: line.value.or(labels.value),
        };
        let parts = text::parts(&line.text);
        if parts.is_empty() {
            return Err(JsonError::at(what, index + 1, "text", "is empty"));
        }
        inputs.extend(numbered(parts, &labels));
    }
    Ok(inputs)
}

/// A text file: its pieces, and the labels that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct FileText {
    /// The file's label.
    pub label: String,
    /// The session of its pieces.
    pub session: String,
    /// Its pieces, in order.
    pub pieces: Vec<String>,
    /// The days of its pieces, as far as it tells them and nobody said when it happened.
    pub days: Vec<Option<Stamp>>,
    /// When it happened, and the run that it answers.
    pub labels: Labels,
    /// Whose file it is, where it lies outside of the repository and nobody gave it a label.
    pub owner: String,
}

impl FileText {
    /// Reads a text file that is called `name` where it lies: a session of its pieces.
    pub fn read(text: &str, name: String, labels: &Labels) -> Self {
        let pieces = text::pieces(text);
        let days = match labels.at {
            Some(_) => vec![None; pieces.len()],
            None => text::days(&pieces, &name).into_iter().map(|day| day.map(Stamp::from_unix)).collect(),
        };
        Self {
            label: labels.source.clone().unwrap_or_else(|| name.clone()),
            session: labels.session.clone().unwrap_or(name),
            pieces,
            days,
            labels: labels.clone(),
            owner: String::new(),
        }
    }

    /// What its pieces' ids begin with.
    pub fn key(&self, origin: &Origin) -> FileKey {
        FileKey::of(&self.label, &self.session, origin, &self.owner)
    }

    /// Those of its pieces that are to be remembered.
    pub fn inputs(&self, new: &[NewPiece], origin: &Origin) -> Vec<Input> {
        let input = |(index, new): (usize, &NewPiece)| {
            let text = self.pieces[new.piece].clone();
            let source = Some(Stimulus::label_in(&self.label, &text));
            let answers = self.labels.answers.clone().filter(|_| index == 0);
            let value = self.labels.value.filter(|_| index == 0);
            Input {
                text,
                labels: Labels { at: self.labels.at, source, session: Some(self.session.clone()), answers, value },
                day: self.days[new.piece],
                file: Some(self.key(origin)),
                supersedes: new.supersedes.iter().cloned().collect(),
                again: new.again,
                order: u32::try_from(new.piece).unwrap_or(u32::MAX),
            }
        };
        new.iter().enumerate().map(input).collect()
    }
}

/// One text given on the command line.
pub fn from_argument(text: &str, labels: &Labels) -> Vec<Input> {
    numbered(text::parts(text), labels)
}

/// A page of text from standard input, split as a file is. Several pieces are labelled by their content.
pub fn from_page(text: &str, labels: &Labels) -> Vec<Input> {
    let pieces = text::pieces(text);
    let alone = pieces.len() == 1;
    let mut inputs = numbered(pieces, labels);
    if let (Some(label), false) = (&labels.source, alone) {
        for input in &mut inputs {
            input.labels.source = Some(Stimulus::label_in(label, &input.text));
        }
    }
    inputs
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

/// Gives inputs their ids and times. `random` makes the bits that tell an input from an equal one that was fed before.
/// The error is (index of the input, field, what is wrong).
pub fn stimuli(
    inputs: Vec<Input>,
    now: Stamp,
    origin: &Origin,
    mut random: impl FnMut(usize, &Input) -> u64,
) -> Result<Vec<Stimulus>, (usize, &'static str, String)> {
    let latest = Stamp::from_unix(now.unix() + limits::FUTURE_SECONDS);
    let mut out = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.into_iter().enumerate() {
        let labels = &input.labels;
        let again = input.again.then(|| random(index, &input));
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
            return Err((index, "at", message));
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
        };
        stimulus.check().map_err(|(field, message)| (index, field, message))?;
        out.push(stimulus);
    }
    Ok(out)
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
            let file = FileText::read(text, "notes.md".to_owned(), &Labels::default());
            let new = |piece| NewPiece { piece, supersedes: None, again: false };
            file.inputs(&(0..file.pieces.len()).map(new).collect::<Vec<_>>(), &Origin::local())
        };
        let sources = |text: &str| read(text).into_iter().filter_map(|i| i.labels.source).collect::<Vec<_>>();
        let (before, after) = (sources(text), sources(&format!("Zero.\n\n{text}")));
        assert_eq!((before.len(), &before[..]), (2, &after[1..]));
        assert!(before.iter().all(|source| source.starts_with("notes.md#") && source.len() == 17));
        assert!(read(text).iter().all(|i| i.labels.session.as_deref() == Some("notes.md")));
    }

    #[test]
    fn a_page_is_split_and_a_line_is_not() {
        let labels = Labels { source: Some("s".into()), ..Labels::default() };
        let sources =
            |text: &str| from_page(text, &labels).into_iter().filter_map(|i| i.labels.source).collect::<Vec<_>>();
        assert_eq!(sources("One line.\n"), ["s"]);
        assert_eq!(sources("One.\n\nTwo."), [Stimulus::label_in("s", "One."), Stimulus::label_in("s", "Two.")]);
        assert_eq!(from_page("# A\n\nOne.\n\nTwo.", &Labels::default()).len(), 2);
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
