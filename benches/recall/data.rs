//! The data sets: read, fed to brains, indexed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use git_brain::activation::{NodeIx, Snapshot};
use git_brain::brain::{Brain, FeedRequest, InitRequest, Source, World};
use git_brain::model::Stamp;
use git_brain::model::ids::NeuronId;
use serde_json::{Value, json};

/// A question and the sources that answer it.
pub struct Question {
    pub text: String,
    /// The right answer, in words.
    #[allow(dead_code, reason = "only who asks a model needs it")]
    pub answer: String,
    pub gold: Vec<String>,
    pub category: Option<i64>,
    /// How alike the memories are, if an endpoint was asked.
    pub meaning: Vec<(NodeIx, f64)>,
}

/// A brain, as a snapshot, and what it is asked.
pub struct Corpus {
    pub snapshot: Snapshot,
    /// The label of each memory.
    pub sources: HashMap<NeuronId, String>,
    /// The brain's folder, while it is there.
    pub dir: PathBuf,
    pub asked: Stamp,
    pub questions: Vec<Question>,
    _folder: Option<tempfile::TempDir>,
}

/// LoCoMo's conversations, asked so many hours after the last turn. Questions of category 5 have no answer.
pub fn locomo(file: &Path, keep: Option<&Path>, after_hours: i64) -> Result<Vec<Corpus>> {
    let samples: Value = read(file)?;
    let mut corpora = Vec::new();
    for sample in samples.as_array().context("not a list")? {
        let talk = &sample["conversation"];
        let (mut rows, mut known, mut last) = (Vec::new(), BTreeSet::new(), None);
        for k in 1.. {
            let Some(turns) = talk[format!("session_{k}")].as_array() else { break };
            let at = time(talk[format!("session_{k}_date_time")].as_str().unwrap_or_default());
            last = last.max(at);
            for turn in turns {
                let text = |key: &str| turn[key].as_str().unwrap_or_default();
                let said = format!("{}: {} {}", text("speaker"), text("text"), text("blip_caption"));
                let at = at.map(|at| at.to_string());
                let (said, id) = (said.trim(), text("dia_id"));
                rows.push(json!({"text": said, "at": at, "source": id, "session": format!("session_{k}")}));
                known.insert(id.to_owned());
            }
        }
        let mut questions = Vec::new();
        for asked in sample["qa"].as_array().into_iter().flatten().filter(|q| q["category"] != 5) {
            let evidence = asked["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let gold: BTreeSet<String> = evidence.flat_map(turn_ids).filter(|id| known.contains(id.as_str())).collect();
            if !gold.is_empty() {
                let text = asked["question"].as_str().unwrap_or_default().to_owned();
                let answer = asked["answer"].as_str().map_or_else(|| asked["answer"].to_string(), str::to_owned);
                questions.push(Question {
                    text,
                    answer,
                    gold: gold.into_iter().collect(),
                    category: asked["category"].as_i64(),
                    meaning: Vec::new(),
                });
            }
        }
        let name = sample["sample_id"].as_str().context("a sample without an id")?;
        let (dir, folder) = brain(keep, name, &rows, None)?;
        let asked = Stamp::from_unix(last.context("a conversation without times")?.unix() + after_hours * 3600);
        let (snapshot, sources) = open(&dir)?;
        corpora.push(Corpus { snapshot, sources, dir, asked, questions, _folder: folder });
    }
    Ok(corpora)
}

/// MuSiQue's passages and questions, with triples or without.
pub fn musique(file: &Path, passages: &Path, triples: Option<&Path>, keep: Option<&Path>) -> Result<Corpus> {
    let rows = lines(passages)?.into_iter().map(|p| {
        let (title, text) = (p["title"].as_str().unwrap_or_default(), p["text"].as_str().unwrap_or_default());
        json!({"text": format!("{title}\n{text}"), "source": format!("p{}", p["passage"])})
    });
    let rows: Vec<Value> = rows.collect();
    let facts = match triples {
        None => None,
        Some(path) => Some(
            lines(path)?
                .into_iter()
                .map(|t| {
                    json!({"subject": t["subject"], "relation": t["relation"], "object": t["object"],
                        "source": format!("p{}", t["passage"])})
                })
                .collect::<Vec<_>>(),
        ),
    };
    let name = if facts.is_some() { "musique-triples" } else { "musique" };
    let (dir, folder) = brain(keep, name, &rows, facts.as_deref())?;
    let asked: Value = read(file)?;
    let questions = asked.as_array().context("not a list")?.iter().map(|q| Question {
        text: q["question"].as_str().unwrap_or_default().to_owned(),
        answer: q["answer"].as_str().unwrap_or_default().to_owned(),
        gold: q["gold"].as_array().into_iter().flatten().map(|g| format!("p{g}")).collect(),
        category: None,
        meaning: Vec::new(),
    });
    let questions = questions.collect();
    let asked = World::default().now();
    let (snapshot, sources) = open(&dir)?;
    Ok(Corpus { snapshot, sources, dir, asked, questions, _folder: folder })
}

/// A brain's snapshot, and the labels of its memories.
fn open(dir: &Path) -> Result<(Snapshot, HashMap<NeuronId, String>)> {
    let brain = Brain::open(dir, World::default(), &[])?;
    let sources = brain.neurons(None)?.into_iter().filter_map(|neuron| Some((neuron.id, neuron.source?))).collect();
    Ok((brain.snapshot(None)?, sources))
}

/// Makes and feeds a brain, or takes the one that was kept.
fn brain(
    keep: Option<&Path>,
    name: &str,
    rows: &[Value],
    triples: Option<&[Value]>,
) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    let folder = if keep.is_none() { Some(tempfile::tempdir()?) } else { None };
    let dir = folder.as_ref().map_or(keep.unwrap_or(Path::new("")), |f| f.path()).join(name);
    if dir.is_dir() {
        return Ok((dir, folder));
    }
    eprintln!("… feeding {name}, {} texts", rows.len());
    let making = dir.with_extension("part");
    let request = InitRequest { dir: making.clone(), in_repo: false, program: "git-brain".to_owned() };
    let (brain, _) = Brain::init(&request, World::default())?;
    let file = jsonl(rows)?;
    let request = FeedRequest { sources: vec![Source::File(file.path().to_owned())], ..FeedRequest::default() };
    brain.feed(&request, &mut |_| {})?;
    if let Some(triples) = triples {
        brain.import_triples(jsonl(triples)?.path(), false, &mut |_| {})?;
    }
    drop(brain);
    std::fs::rename(&making, &dir)?;
    Ok((dir, folder))
}

fn jsonl(rows: &[Value]) -> Result<tempfile::NamedTempFile> {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(file.path(), text)?;
    Ok(file)
}

fn read(file: &Path) -> Result<Value> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| file.display().to_string())
}

fn lines(file: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| file.display().to_string())).collect()
}

/// `1:56 pm on 8 May, 2023`.
fn time(text: &str) -> Option<Stamp> {
    let text = text.replace(" am ", " AM ").replace(" pm ", " PM ");
    let at = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", text.trim()).ok()?;
    Some(Stamp::from_unix(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second()))
}

/// Everything like `D1:12`.
fn turn_ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split(|c: char| !(c == 'D' || c == ':' || c.is_ascii_digit())) {
        for id in part.split('D').filter(|id| !id.is_empty()) {
            if let Some((session, turn)) = id.split_once(':')
                && !session.is_empty()
                && !turn.is_empty()
            {
                found.push(format!("D{session}:{}", turn.trim_end_matches(':')));
            }
        }
    }
    found
}
