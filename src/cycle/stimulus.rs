//! Stage 1, stimulus: from what people feed to stimuli, and into the queue.
//!
//! Reading input is pure; [`super::Cycle::store_stimuli`] makes it durable before anything acts on it.

use serde::Deserialize;

use crate::limits;
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
}

/// One input before it has an id.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The text.
    pub text: String,
    /// Its labels.
    pub labels: Labels,
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
}

/// Reads a batch: one JSON object a line, blank lines passed over. Labels of the command fill what a line leaves out.
/// A text longer than a stimulus may be is split at sentences; its parts share the labels, numbered from the second on.
pub fn from_jsonl(bytes: &[u8], what: &str, labels: &Labels, secrets: &Secrets) -> Result<Vec<Input>, JsonError> {
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
        };
        let parts = parts(&line.text);
        if parts.is_empty() {
            return Err(JsonError::at(what, index + 1, "text", "is empty"));
        }
        inputs.extend(numbered(parts, &labels));
    }
    Ok(inputs)
}

/// Reads any other text file: a session of its paragraphs, `source` = the file's name and the paragraph's number.
pub fn from_text(text: &str, name: &str, labels: &Labels) -> Vec<Input> {
    let session = labels.session.clone().unwrap_or_else(|| name.to_owned());
    let label = labels.source.clone().unwrap_or_else(|| name.to_owned());
    text::paragraphs(text)
        .into_iter()
        .enumerate()
        .map(|(index, text)| Input {
            text,
            labels: Labels {
                at: labels.at,
                source: Some(format!("{label}:{}", index + 1)),
                session: Some(session.clone()),
                answers: labels.answers.clone().filter(|_| index == 0),
            },
        })
        .collect()
}

/// One text given on the command line or standard input.
pub fn from_argument(text: &str, labels: &Labels) -> Vec<Input> {
    numbered(parts(text), labels)
}

/// A text that is a valid stimulus stays whole; a longer one is split at paragraphs and sentences.
fn parts(text: &str) -> Vec<String> {
    let text = text.trim();
    let plain = !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if plain && !text.is_empty() && text.len() <= limits::STIMULUS_BYTES {
        return vec![text.to_owned()];
    }
    text::paragraphs(text)
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
            labels: Labels {
                source: labels.source.as_ref().map(|s| number(index, s)),
                // One outcome, not one a part.
                answers: labels.answers.clone().filter(|_| index == 0),
                ..labels.clone()
            },
        })
        .collect()
}

/// Gives inputs their ids and times. `random` makes the id bits of an input that has no source.
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
        let id = match &labels.source {
            Some(source) => Stimulus::id_of(source, labels.session.as_deref(), labels.at, &input.text),
            None => random_id(random(index, &input)),
        };
        let at = labels.at.unwrap_or(now);
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
            order: u32::try_from(index).unwrap_or(u32::MAX),
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
    fn a_text_file_is_a_session_of_its_paragraphs() {
        let inputs = from_text("One.\nStill one.\n\nTwo.\n", "notes.md", &Labels::default());
        let sources: Vec<_> = inputs.iter().filter_map(|i| i.labels.source.as_deref()).collect();
        assert_eq!(sources, ["notes.md:1", "notes.md:2"]);
        assert!(inputs.iter().all(|i| i.labels.session.as_deref() == Some("notes.md")));
    }

    #[test]
    fn ids_repeat_with_a_source_and_the_future_is_refused() {
        let now = Stamp::from_unix(1_000_000);
        let input = |source: Option<&str>, at| Input {
            text: "t".into(),
            labels: Labels { at, source: source.map(str::to_owned), ..Labels::default() },
        };
        let make = |i: Input, bits| stimuli(vec![i], now, &Origin::local(), |_, _| bits);
        assert_eq!(make(input(Some("s"), None), 1).unwrap()[0].id, make(input(Some("s"), None), 2).unwrap()[0].id);
        assert_ne!(make(input(None, None), 1).unwrap()[0].id, make(input(None, None), 2).unwrap()[0].id);
        let ahead = |seconds: i64| make(input(None, Some(Stamp::from_unix(1_000_000 + seconds))), 1);
        assert!(ahead(600).is_ok());
        assert_eq!(ahead(601).unwrap_err().1, "at");
    }
}
