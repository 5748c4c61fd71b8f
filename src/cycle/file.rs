//! The format of one file of a brain: what admission, `check`, the gate of commits and `doctor` have in common.
//!
//! Looks at a path, a mode and bytes, and at nothing else. What needs other files (connections that dangle, queue entries
//! without their stimulus) is asked of the caller.

use serde::Serialize;
use serde_json::Value;

use crate::chemistry::serotonin::Chapter;
use crate::consolidation::SleepRecord;
use crate::consolidation::record::SleepPart;
use crate::deliberation::forest::read_cycle;
use crate::delta::{LedgerEntry, Operation, RunRecord};
use crate::limits;
use crate::model::deliberation::DeliberationCycle;
use crate::model::document::{FORMAT, Goal};
use crate::model::ids::{NeuronId, RunId, StimulusId};
use crate::model::json::{self, JsonError};
use crate::model::layout::{self, Place};
use crate::model::sealed::SealedRecord;
use crate::model::wisdom::WisdomRecord;
use crate::model::{Acknowledgement, Agent, Flag, Format, Metadata, Neuron, Settings, Signal, Stimulus};
use crate::store::File;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The brain cannot read it, or it breaks a rule of the format.
    Error,
    /// Harmless, and not as it should be.
    Warning,
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file, or the commit.
    pub path: String,
    /// The line, from 1; 0, and left out where it is written: the whole, such as a commit, is wrong.
    #[serde(skip_serializing_if = "is_nowhere")]
    pub line: usize,
    /// Its severity.
    pub level: Level,
    /// What is wrong.
    pub message: String,
}

fn is_nowhere(line: &usize) -> bool {
    *line == 0
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

impl Finding {
    pub(crate) fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, level: Level::Error, message: message.into() }
    }

    pub(crate) fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, level: Level::Warning, message: message.into() }
    }

    fn json(path: &str, error: JsonError) -> Self {
        let message = if error.path.is_empty() { error.message } else { format!("{}: {}", error.path, error.message) };
        Self::error(path, error.line, message)
    }
}

/// What a file says about others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A neuron, which may point to others.
    Neuron(Box<Neuron>),
    /// A queue entry, and the stimulus file that it names.
    Queue(StimulusId, String),
    /// Nothing.
    Alone,
}

/// A file that was looked at.
pub(crate) struct Examined {
    pub(crate) findings: Vec<Finding>,
    pub(crate) content: Content,
}

/// True for the files that are the brain's own.
pub(crate) fn is_ours(path: &str) -> bool {
    path == layout::SETTINGS || path.starts_with("network/") || path.starts_with("agents/") || path == layout::NETWORK
}

/// True for what a sleep itself writes and keeps for ever.
pub(crate) fn told_by_sleep(place: &Place, run: &RunId) -> bool {
    matches!(place, Place::Sleep(by) | Place::Chapter(by) if by == run)
}

/// Judges place and mode; what is not even to be read gives `Err`.
pub(crate) fn examine_place(path: &str, file: File) -> Result<Option<Finding>, Finding> {
    let in_network = !matches!(Place::of(path), Place::Agent(_) | Place::Prompt(_) | Place::Settings | Place::Other);
    if !file.is_regular() {
        return Err(Finding::error(
            path,
            1,
            "is a symlink or submodule; only plain files belong on the brain's branches",
        ));
    }
    match Place::of(path) {
        Place::Misplaced => Err(Finding::error(path, 1, "nothing belongs at this place")),
        Place::Other if path.starts_with("agents/") => {
            Ok(Some(Finding::warning(path, 1, "is no agent's definition: those are agents/<name>.json")))
        }
        _ if in_network && file.is_executable() => Ok(Some(Finding::error(path, 1, "is executable"))),
        _ => Ok(None),
    }
}

/// Judges a file by itself.
pub(crate) fn examine(path: &str, bytes: &[u8]) -> Examined {
    let mut content = Content::Alone;
    let mut findings = Vec::new();
    let outcome = match Place::of(path) {
        Place::Neuron(id) => neuron(path, bytes, &id, &mut findings).map(|n| content = Content::Neuron(Box::new(n))),
        Place::Queue(id) => queue_entry(path, bytes, &id).map(|named| content = Content::Queue(id, named)),
        Place::Stimulus(_) => Stimulus::decode(bytes, path)
            .and_then(|s| lies_at(path, bytes, "id", &layout::stimulus(&s.id, s.at), &format!("{} of {}", s.id, s.at))),
        Place::Signal(..) => document::<Signal>(bytes, path)
            .and_then(|s| lies_at(path, bytes, "id", &layout::signal(&s.to, &s.id), &format!("{} to {}", s.id, s.to))),
        Place::Acknowledgement(..) => document::<Acknowledgement>(bytes, path).and_then(|a| {
            let calls = format!("{}'s answer to {}", a.by, a.signal);
            lies_at(path, bytes, "signal", &layout::acknowledgement(&a.by, &a.signal), &calls)
        }),
        Place::Run(id) => RunRecord::decode(bytes, path).and_then(|record| {
            lies_at(path, bytes, "run", &layout::run(&record.run), record.run.as_str())?;
            match record.agent == id.agent() {
                true => Ok(()),
                false => Err(JsonError::at(path, json::line_of_key(bytes, "agent"), "agent", "is not the run's agent")),
            }
        }),
        Place::Flag(_) => document::<Flag>(bytes, path).map(drop),
        Place::Metadata => document::<Metadata>(bytes, path).and_then(|m| match m.format {
            1..=FORMAT => Ok(()),
            newer => {
                let message = format!("is {newer}; this program knows formats from 1 up to {FORMAT}");
                Err(JsonError::at(path, json::line_of_key(bytes, "format"), "format", message))
            }
        }),
        Place::Ledger(_) => LedgerEntry::decode(bytes, path)
            .and_then(|e| lies_at(path, bytes, "run", &layout::ledger(&e.run), e.run.as_str())),
        Place::Deliberation(_) => document::<DeliberationCycle>(bytes, path)
            .and_then(|c| {
                read_cycle(&c.cycle)
                    .map(|_| c)
                    .map_err(|m| JsonError::at(path, json::line_of_key(bytes, "cycle"), "cycle", m))
            })
            .and_then(|c| lies_at(path, bytes, "run", &layout::deliberation(&c.run), c.run.as_str())),
        Place::Wisdom(_) => document::<WisdomRecord>(bytes, path)
            .and_then(|w| {
                w.teaching
                    .check()
                    .map(|()| w)
                    .map_err(|(field, m)| JsonError::at(path, json::line_of_key(bytes, field), field, m))
            })
            .and_then(|w| lies_at(path, bytes, "run", &layout::wisdom(&w.run), w.run.as_str())),
        Place::Sealed(_) => document::<SealedRecord>(bytes, path)
            .and_then(|s| {
                s.sealing
                    .check()
                    .map(|()| s)
                    .map_err(|(field, m)| JsonError::at(path, json::line_of_key(bytes, field), field, m))
            })
            .and_then(|s| lies_at(path, bytes, "run", &layout::sealed(&s.run), s.run.as_str())),
        Place::Goal => goal(path, bytes, &mut findings),
        Place::Sleep(run) if path == layout::sleep(&run) => SleepRecord::decode(bytes, path)
            .and_then(|r| lies_at(path, bytes, "run", &layout::sleep(&r.run), r.run.as_str())),
        Place::Sleep(_) => document::<SleepPart>(bytes, path).map(drop),
        Place::Chapter(_) => Chapter::decode(bytes, path)
            .and_then(|c| lies_at(path, bytes, "run", &layout::chapter(&c.run), c.run.as_str())),
        Place::RunNote(_) | Place::Event => document::<Value>(bytes, path).map(drop),
        Place::Agent(_) => Agent::decode(bytes, path)
            .inspect(|agent| findings.extend(unknown_operations(path, bytes, agent)))
            .and_then(|a| lies_at(path, bytes, "name", &layout::agent(&a.name), a.name.as_str())),
        Place::Settings => settings(path, bytes),
        Place::Prompt(_) | Place::Other | Place::Misplaced => Ok(()),
    };
    findings.extend(outcome.err().map(|error| Finding::json(path, error)));
    Examined { findings, content }
}

/// Operations that an agent may do and that nobody can: misspelt, or of a newer program.
fn unknown_operations(path: &str, bytes: &[u8], agent: &Agent) -> Vec<Finding> {
    let unknown = agent.capabilities.operations.iter().filter(|name| !Operation::NAMES.contains(&name.as_str()));
    let line = json::line_of_key(bytes, "operations");
    unknown.map(|name| Finding::warning(path, line, format!("allows {name}, and no operation is called so"))).collect()
}

fn document<T: serde::de::DeserializeOwned>(bytes: &[u8], path: &str) -> Result<T, JsonError> {
    json::strict(bytes, path, limits::DOCUMENT_BYTES)
}

/// Refuses a document that belongs elsewhere by what it calls itself.
fn lies_at(path: &str, bytes: &[u8], field: &str, belongs: &str, calls: &str) -> Result<(), JsonError> {
    if belongs == path {
        return Ok(());
    }
    let line = json::line_of_key(bytes, field);
    Err(JsonError::at(path, line, field, format!("it calls itself {calls}, which belongs at {belongs}")))
}

fn neuron(path: &str, bytes: &[u8], id: &NeuronId, findings: &mut Vec<Finding>) -> Result<Neuron, JsonError> {
    let neuron = Neuron::decode(bytes, path)?;
    lies_at(path, bytes, "id", &layout::neuron(&neuron.id), neuron.id.as_str())?;
    debug_assert_eq!(&neuron.id, id);
    if neuron.canonical_format(bytes).is_none() {
        // Held against the format that it is nearer to.
        let nearest = [Format::Two, Format::One].map(|format| first_difference(bytes, &neuron.encode_as(format)));
        let line = nearest.into_iter().max().unwrap_or(1);
        findings.push(Finding::error(path, line, "is not in canonical form"));
    }
    Ok(neuron)
}

fn goal(path: &str, bytes: &[u8], findings: &mut Vec<Finding>) -> Result<(), JsonError> {
    let goal = Goal::decode(bytes, path)?;
    lies_at(path, bytes, "id", &layout::goal(&goal.id), goal.id.as_str())?;
    let canonical = goal.encode();
    if canonical != bytes {
        findings.push(Finding::error(path, first_difference(bytes, &canonical), "is not in canonical form"));
    }
    Ok(())
}

fn queue_entry(path: &str, bytes: &[u8], id: &StimulusId) -> Result<String, JsonError> {
    layout::queued_path(id, bytes)
        .ok_or_else(|| JsonError::at(path, 1, "", format!("does not name the file of stimulus {id}")))
}

fn settings(path: &str, bytes: &[u8]) -> Result<(), JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::at(path, 1, "", "is not UTF-8"))?;
    Settings::read(text, &[]).map(drop).map_err(|error| {
        // The toml crate says where in words only.
        let line = error.message.split("at line ").nth(1).and_then(|rest| rest.split(',').next()?.trim().parse().ok());
        JsonError::at(path, line.unwrap_or(1), "", error.message.lines().last().unwrap_or_default())
    })
}

/// Connections of a neuron to what is not there, with their lines.
pub(crate) fn dangling(path: &str, bytes: &[u8], missing: &[&NeuronId]) -> Vec<Finding> {
    let found = |target: &&NeuronId| {
        let target_as = [format!("    \"{target}\": "), format!("\"target\": \"{target}\"")];
        let line = target_as.iter().map(|text| json::line_of(bytes, text)).max().unwrap_or(1);
        Finding::error(path, line, format!("a connection points to {target}, which is not there"))
    };
    missing.iter().map(found).collect()
}

/// The targets of a neuron, each once.
pub(crate) fn targets(neuron: &Neuron) -> Vec<&NeuronId> {
    // Connections are sorted by target.
    let mut targets: Vec<&NeuronId> = neuron.connections.iter().map(|c| &c.target).collect();
    targets.dedup();
    targets
}

fn first_difference(left: &[u8], right: &[u8]) -> usize {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    left[..same].iter().filter(|b| **b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Link, Stamp};

    fn sample() -> (String, Neuron) {
        let id = NeuronId::parse("tea").unwrap();
        let mut neuron = Neuron::new(id.clone(), "tea", Kind::Semantic, Stamp::from_unix(0));
        neuron.set_weight(&NeuronId::parse("cup").unwrap(), Link::FeedsInto, 7);
        (layout::neuron(&id), neuron)
    }

    fn only(path: &str, text: &str) -> (usize, String) {
        let findings = examine(path, text.as_bytes()).findings;
        assert_eq!(findings.len(), 1, "{path}: {findings:?}");
        (findings[0].line, findings[0].message.clone())
    }

    #[test]
    fn a_weight_edited_by_hand_is_still_canonical_and_a_moved_line_is_not() {
        let (path, neuron) = sample();
        let text = String::from_utf8(neuron.encode()).unwrap();
        assert!(examine(&path, text.replace("\"weight\": 7", "\"weight\": 9").as_bytes()).findings.is_empty());
        let spaced = text.replace("\"salience\": 0", "\"salience\":  0");
        assert_eq!(only(&path, &spaced), (5, "is not in canonical form".into()));
        assert!(only(&path, text.trim_end()).1.contains("canonical"));
    }

    #[test]
    fn every_kind_of_file_is_read_and_must_lie_where_it_says() {
        let (path, neuron) = sample();
        let other = String::from_utf8(neuron.encode()).unwrap().replace("\"id\": \"tea\"", "\"id\": \"cup\"");
        assert!(only(&path, &other).1.contains("calls itself cup"));
        let stimulus = StimulusId::parse("s1").unwrap();
        let file = layout::stimulus(&stimulus, Stamp::from_unix(0));
        assert!(examine(&file, br#"{"id": "s1", "at": "1970-01-01T00:00:00Z", "text": "hi"}"#).findings.is_empty());
        assert!(only(&file, r#"{"id": "s1", "at": "2020-01-01T00:00:00Z", "text": "hi"}"#).1.contains("2020/01"));
        let entry = layout::queue_entry(&stimulus);
        for format in [Format::One, Format::Two] {
            let text = layout::queued(&file, format);
            assert_eq!(examine(&entry, &text).content, Content::Queue(stimulus.clone(), file.clone()));
        }
        assert_eq!(layout::queued(&file, Format::Two), b"1970/01\n");
        for wrong in ["1970/1\n", "1970/01/01\n", "../01\n", "1970/\n", "\n"] {
            assert!(only(&entry, wrong).1.contains("does not name"), "{wrong}");
        }
        assert!(only(&entry, "network/stimuli/queue/x\n").1.contains("does not name"));
        for (path, text, line) in [
            ("network/flags/urgence.json", "{\n\"value\": 1}", 2),
            ("network/goals/g.json", "[\n\n{", 3),
            ("network/metadata.json", "{\"bootstrap_complete\": true, \"seed_timestamp\": null,\n\"format\": 99}", 2),
            ("agents/a.json", "{\n\"name\": \"a\", \"speed\": 1}", 2),
            ("brain.toml", "[activation]\ndecay = 7\n", 1),
            ("brain.toml", "[activation]\nspeed = 7\n", 2),
        ] {
            assert_eq!(only(path, text).0, line, "{path} {text}");
        }
    }

    #[test]
    fn places_and_modes() {
        use crate::store::BlobId;
        let blob = BlobId::parse(&"0".repeat(40)).unwrap();
        let judge = |path: &str, mode| examine_place(path, File { blob, mode });
        let (path, _) = sample();
        assert_eq!(judge(&path, 0o100_644), Ok(None));
        assert_eq!(judge(&path, 0o100_755).unwrap().unwrap().level, Level::Error);
        for (path, mode) in [(path.as_str(), 0o120_000), ("network/x", 0o100_644), ("brain.toml", 0o160_000)] {
            assert!(judge(path, mode).is_err(), "{path}");
        }
        assert_eq!(judge("agents/Notes.md", 0o100_644).unwrap().unwrap().level, Level::Warning);
        assert_eq!(judge("hooks/post-commit", 0o100_755), Ok(None));
    }

    #[test]
    fn a_dangling_connection_is_named_with_its_line() {
        let (path, neuron) = sample();
        let (bytes, cup) = (neuron.encode(), NeuronId::parse("cup").unwrap());
        assert_eq!(targets(&neuron), [&cup]);
        let found = dangling(&path, &bytes, &[&cup]);
        let line = String::from_utf8(bytes).unwrap().lines().position(|l| l.contains("cup")).unwrap() + 1;
        assert_eq!((found[0].line, found.len()), (line, 1));
    }
}
