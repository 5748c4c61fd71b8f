//! A repository's worth of files that somebody else made: three trees of records, neurons and definitions, most of them damaged examples of
//! `docs/format.md`, with settings and a configuration. It is opened, checked and brought together as `sync` does it: nothing panics, and
//! what comes out of a merge is read.

#![no_main]

mod trees;

use std::convert::Infallible;
use std::sync::OnceLock;

use arbitrary::Arbitrary;
use git_brain::chemistry::serotonin::Chapter;
use git_brain::consolidation::SleepRecord;
use git_brain::delta::{Document, LedgerEntry, RunOutline, RunRecord};
use git_brain::limits::DOCUMENT_BYTES;
use git_brain::model::sealed::SealedRecord;
use git_brain::model::wisdom::WisdomRecord;
use git_brain::merge::{Direction, apply_record, take_back, three_way};
use git_brain::model::deliberation::DeliberationCycle;
use git_brain::model::document::Goal;
use git_brain::model::json;
use git_brain::model::layout::{self, Place};
use git_brain::model::settings::Override;
use git_brain::model::{Acknowledgement, Agent, Flag, Metadata, Neuron, NeuronId, RunId, Settings, Signal, Stimulus};
use libfuzzer_sys::fuzz_target;
use trees::{Tree, Trees};

#[derive(Arbitrary, Debug)]
struct Case {
    settings: Vec<Edit>,
    config: Vec<(String, String)>,
    base: Vec<File>,
    left: Vec<File>,
    right: Vec<File>,
}

#[derive(Arbitrary, Debug)]
struct File {
    place: At,
    content: Content,
}

/// Where a file lies: where one of its kind belongs, or anywhere.
#[derive(Arbitrary, Debug)]
enum At {
    Home,
    Other(u8),
    Named(String),
}

#[derive(Arbitrary, Debug)]
enum Content {
    Example(u8, Vec<Edit>),
    Bytes(Vec<u8>),
    Gone,
}

/// A piece of text put in place of another, at a place that is counted in the numbers and strings of the text or in its bytes.
#[derive(Arbitrary, Debug)]
enum Edit {
    Byte(u16, u8),
    Number(u8, i64),
    Text(u8, String),
    Cut(u16),
}

/// The settings, and the examples of every kind of document, with their kinds.
fn examples() -> &'static [(&'static str, String)] {
    static EXAMPLES: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    EXAMPLES.get_or_init(|| {
        let blocks = include_str!("../../docs/format.md").split("```json ").skip(1);
        let mut found: Vec<(&str, String)> = blocks
            .filter_map(|block| block.split_once("```")?.0.split_once('\n'))
            .map(|(kind, text)| (kind.trim(), text.to_owned()))
            .collect();
        found.push(("neuron", include_str!("../../tests/golden/neuron.json").to_owned()));
        found.push(("neuron", include_str!("../../tests/golden/neuron-1.json").to_owned()));
        found
    })
}

fn edited(text: &str, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for edit in edits.iter().take(8) {
        let starts = |bytes: &[u8], wanted: fn(u8) -> bool| -> Vec<usize> {
            let begins = |at: &usize| wanted(bytes[*at]) && (*at == 0 || !wanted(bytes[*at - 1]));
            (0..bytes.len()).filter(begins).collect()
        };
        match edit {
            Edit::Byte(at, byte) if !bytes.is_empty() => {
                let at = usize::from(*at) % bytes.len();
                bytes[at] = *byte;
            }
            Edit::Number(which, number) => {
                let places = starts(&bytes, |b| b.is_ascii_digit());
                let Some(from) = places.get(usize::from(*which) % places.len().max(1)) else { continue };
                let to = from + bytes[*from..].iter().take_while(|b| b.is_ascii_digit()).count();
                bytes.splice(from..&to, number.to_string().into_bytes());
            }
            Edit::Text(which, text) => {
                let quotes: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'"').collect();
                let Some(pair) = quotes.chunks_exact(2).nth(usize::from(*which) % (quotes.len() / 2).max(1)) else { continue };
                let quoted = serde_json::to_string(text).expect("a text is JSON");
                bytes.splice(pair[0]..=pair[1], quoted.into_bytes());
            }
            Edit::Cut(at) => bytes.truncate(usize::from(*at)),
            Edit::Byte(..) => {}
        }
    }
    bytes
}

/// Where a document of that kind belongs, by its own ids where it has some.
fn home(kind: &str, bytes: &[u8]) -> Option<String> {
    let run = |id: &RunId| id.clone();
    Some(match kind {
        "neuron" => layout::neuron(&Neuron::decode(bytes, "x").ok()?.id),
        "run" => layout::run(&run(&RunRecord::decode(bytes, "x").ok()?.run)),
        "stimulus" => {
            let stimulus = Stimulus::decode(bytes, "x").ok()?;
            layout::stimulus(&stimulus.id, stimulus.at)
        }
        "goal" => layout::goal(&Goal::decode(bytes, "x").ok()?.id),
        "metadata" => layout::METADATA.to_owned(),
        "agent" => layout::agent(&Agent::decode(bytes, "x").ok()?.name),
        _ => return None,
    })
}

fn planted(onto: &Tree, files: &[File]) -> Tree {
    let mut tree = onto.clone();
    for (n, file) in files.iter().take(24).enumerate() {
        let (kind, bytes) = match &file.content {
            Content::Example(which, edits) => {
                let (kind, text) = &examples()[usize::from(*which) % examples().len()];
                (*kind, Some(edited(text, edits)))
            }
            Content::Bytes(bytes) => ("", Some(bytes.clone())),
            Content::Gone => ("", None),
        };
        let there = |which: u8| tree.keys().nth(usize::from(which) % tree.len().max(1)).cloned();
        let path = match &file.place {
            At::Home => bytes.as_ref().and_then(|bytes| home(kind, bytes)).or_else(|| there(n as u8)),
            At::Other(which) => there(*which),
            At::Named(path) => Some(path.clone()),
        };
        let path = path.unwrap_or_else(|| "network/metadata.json".to_owned());
        match bytes {
            Some(bytes) => drop(tree.insert(path, bytes)),
            None => drop(tree.remove(&path)),
        }
    }
    tree
}

/// Every file as its place says, and each run's record held against the neurons that there are.
fn check(tree: &Tree, settings: &Settings) {
    let neuron = |id: &NeuronId| -> Result<Option<Neuron>, Infallible> {
        let path = layout::neuron(id);
        Ok(tree.get(&path).and_then(|bytes| Neuron::decode(bytes, &path).ok()))
    };
    for (path, bytes) in tree {
        match Place::of(path) {
            Place::Neuron(_) => drop(Neuron::decode(bytes, path).map(|neuron| neuron.encode())),
            Place::Stimulus(id) => {
                let _ = Stimulus::decode(bytes, path).map(|stimulus| stimulus.id == id);
            }
            Place::Queue(id) => drop(layout::queued_path(&id, bytes)),
            Place::Signal(..) => drop(json::strict::<Signal>(bytes, path, DOCUMENT_BYTES)),
            Place::Acknowledgement(..) => drop(json::strict::<Acknowledgement>(bytes, path, DOCUMENT_BYTES)),
            Place::Run(_) | Place::RunNote(_) => {
                let _ = RunOutline::decode(bytes, path);
                let Ok(record) = RunRecord::decode(bytes, path) else { continue };
                let Ok(_) = apply_record(&record, Direction::Again, &settings.merge, neuron);
                let Ok(_) = apply_record(&record, Direction::Back(&record.run), &settings.merge, neuron);
                for effect in &record.effects {
                    let target = effect.id().and_then(|id| neuron(id).ok().flatten());
                    let _ = target.map(|target| take_back(effect, &record.run, &target, &settings.merge));
                }
            }
            Place::Flag(_) => drop(json::strict::<Flag>(bytes, path, DOCUMENT_BYTES)),
            Place::Goal => drop(Goal::decode(bytes, path)),
            Place::Ledger(_) => drop(LedgerEntry::decode(bytes, path)),
            Place::Chapter(_) => drop(Chapter::decode(bytes, path)),
            Place::Deliberation(_) => drop(json::strict::<DeliberationCycle>(bytes, path, DOCUMENT_BYTES)),
            Place::Wisdom(_) => {
                let _ = json::strict::<WisdomRecord>(bytes, path, DOCUMENT_BYTES).map(|record| record.teaching.check());
            }
            Place::Sealed(_) => drop(json::strict::<SealedRecord>(bytes, path, DOCUMENT_BYTES)),
            Place::Sleep(_) => drop(SleepRecord::decode(bytes, path)),
            Place::Agent(_) => drop(Agent::decode(bytes, path)),
            Place::Metadata => drop(json::strict::<Metadata>(bytes, path, DOCUMENT_BYTES)),
            Place::Settings => drop(std::str::from_utf8(bytes).map(|text| Settings::read(text, &[]))),
            Place::Event | Place::Prompt(_) | Place::Other | Place::Misplaced => drop(Document::parse(bytes, path)),
        }
    }
}

fuzz_target!(|case: Case| {
    let text = edited(include_str!("../../brain.toml"), &case.settings);
    let config = case.config.iter().take(8).map(|(key, value)| Override {
        place: format!("git config brain.{key}"),
        key: key.clone(),
        value: value.clone(),
    });
    let config: Vec<Override> = config.collect();
    let settings = std::str::from_utf8(&text).ok().and_then(|text| Settings::read(text, &config).ok()).unwrap_or_default();
    let base = planted(&Tree::new(), &case.base);
    let (left, right) = (planted(&base, &case.left), planted(&base, &case.right));
    for tree in [&base, &left, &right] {
        check(tree, &settings);
    }
    for (one, other) in [(&left, &right), (&right, &left)] {
        let Ok(outcome) = three_way(&mut Trees([&base, one, other]), &settings.merge) else { continue };
        for edit in outcome.edits {
            let Some(content) = edit.content else { continue };
            // What was damaged on one side may stand as it is; what the merge has made is whole.
            let made = ![&base, one, other].iter().any(|tree| tree.get(&edit.path) == Some(&content));
            if made && matches!(Place::of(&edit.path), Place::Neuron(_)) {
                Neuron::decode(&content, &edit.path).expect("a merged neuron is read");
            }
        }
    }
});
