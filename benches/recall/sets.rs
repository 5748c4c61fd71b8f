//! Sets in one form, fed to brains in memory: `{kind, language, worlds: [{id, ordered, rows, questions}]}`, a row `{text, at?, source,
//! session?}`, a question `{question, gold: [source]}`. Beside recall, keyword controls on the same texts.
//!
//! A brain in memory is made by the code that makes one in git: stimuli, perception, deltas. Other reflexes do not change what is found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::Path;

use anyhow::{Context, Result};
use git_brain::activation::{NodeIx, Snapshot};
use git_brain::cognition::reflex::perception;
use git_brain::cognition::{Network, Snapshot as Seen};
use git_brain::cycle::stimulus::{self, Labels};
use git_brain::delta::RunRecord;
use git_brain::delta::apply::{Author, Lookup, apply};
use git_brain::model::document::Goal;
use git_brain::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId};
use git_brain::model::secret::Secrets;
use git_brain::model::{Neuron, Origin, Settings, Signal, Stamp, Stimulus};
use serde::Deserialize;

/// A set.
#[derive(Deserialize)]
pub struct Set {
    pub name: String,
    pub kind: String,
    pub language: String,
    worlds: Vec<World>,
}

#[derive(Deserialize)]
struct World {
    ordered: bool,
    rows: Vec<Row>,
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    at: Option<Stamp>,
    source: String,
    session: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    gold: Vec<String>,
}

/// One brain of a set, and what it is asked.
pub struct Ready {
    pub snapshot: Snapshot,
    /// Source and text of each memory.
    pub held: HashMap<NeuronId, (String, String)>,
    pub questions: Vec<Question>,
    /// Questions that nothing answers.
    pub unanswerable: Vec<String>,
}

/// A question with what keyword search finds: rows of (source, text), best first, by control.
pub struct Question {
    pub text: String,
    pub gold: BTreeSet<String>,
    pub controls: Vec<(&'static str, Figures)>,
    /// Similarities of memories to the question, if an endpoint was asked.
    pub meaning: Vec<(NodeIx, f64)>,
}

/// Shares of the gold documents: among the first 5 and 10, and within 500, 1,000 and 2,000 tokens, passing over what does not fit.
#[derive(Clone, Copy, Default)]
pub struct Figures {
    pub at5: f64,
    pub at10: f64,
    pub within: [f64; 3],
    /// The same, where the first that does not fit ends the list.
    pub until: [f64; 3],
}

impl Figures {
    /// Of what was found, best first.
    pub fn of<'a>(found: impl Iterator<Item = (&'a str, &'a str)> + Clone, gold: &BTreeSet<String>) -> Self {
        let mut documents: Vec<&str> = Vec::new();
        for (source, _) in found.clone() {
            let document = document(source);
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
        let among =
            |k: usize| documents.iter().take(k).filter(|d| gold.contains(**d)).count() as f64 / gold.len() as f64;
        let within = |budget: f64, skip: bool| {
            let (mut used, mut got) = (0.0, BTreeSet::new());
            for (source, text) in found.clone() {
                let tokens = tokens(text);
                if used + tokens > budget {
                    if skip { continue } else { break }
                }
                used += tokens;
                got.insert(document(source));
            }
            gold.iter().filter(|g| got.contains(g.as_str())).count() as f64 / gold.len() as f64
        };
        let budgets = [500.0, 1000.0, 2000.0];
        Self {
            at5: among(5),
            at10: among(10),
            within: budgets.map(|b| within(b, true)),
            until: budgets.map(|b| within(b, false)),
        }
    }
}

/// A piece of a split text counts as its document.
fn document(source: &str) -> &str {
    match source.rsplit_once('#') {
        Some((document, piece)) if !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit()) => document,
        _ => source,
    }
}

fn japanese(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}')
}

/// A quarter of the characters, two thirds of Japanese ones: not the program's own estimate, so that no system is judged by its own measure.
fn tokens(text: &str) -> f64 {
    let (all, latin) = (text.chars().count() as f64, text.chars().filter(|c| !japanese(*c)).count() as f64);
    all / if latin * 2.0 < all { 1.5 } else { 4.0 }
}

struct InMemory {
    neurons: HashMap<NeuronId, Neuron>,
}

impl Network for InMemory {
    fn neuron(&self, id: &NeuronId) -> Option<Neuron> {
        self.neurons.get(id).cloned()
    }

    fn has(&self, id: &NeuronId) -> bool {
        self.neurons.contains_key(id)
    }
}

impl Lookup for InMemory {
    type Error = Infallible;

    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Infallible> {
        Ok(self.neurons.get(id).cloned())
    }

    fn signal(&self, _: &AgentName, _: &SignalId) -> Result<Option<(Signal, bool)>, Infallible> {
        Ok(None)
    }

    fn record(&self, _: &RunId) -> Result<Option<RunRecord>, Infallible> {
        Ok(None)
    }

    fn goal(&self, _: &GoalId) -> Result<Option<Goal>, Infallible> {
        Ok(None)
    }
}

fn brain(rows: &[Row], now: Stamp) -> Result<InMemory> {
    let lines: Vec<u8> = rows
        .iter()
        .flat_map(|row| {
            let line =
                serde_json::json!({"text": row.text, "at": row.at, "source": row.source, "session": row.session});
            format!("{line}\n").into_bytes()
        })
        .collect();
    let mut inputs = stimulus::from_jsonl(&lines, "a set", &Labels::default(), &Secrets::default())?;
    // As a feed numbers what comes together.
    for (order, input) in (0..).zip(&mut inputs) {
        input.order = order;
    }
    let stimuli = stimulus::stimuli(inputs, now, &Origin::local(), |at, _| at as u64);
    let mut stimuli: Vec<Stimulus> = stimuli.map_err(|(at, field, why)| anyhow::anyhow!("{at}: {field} {why}"))?;
    stimuli.sort_by_key(|stimulus| (stimulus.at, stimulus.order));
    let (settings, mut network) = (Settings::default(), InMemory { neurons: HashMap::new() });
    let agent = AgentName::parse("perception").context("a name")?;
    let (mut rest, mut turn) = (&stimuli[..], 0);
    while !rest.is_empty() {
        let (some, others) = rest.split_at(perception::fitting(rest).max(1));
        (rest, turn) = (others, turn + 1);
        let run = RunId::new(now.unix() * 1000, turn, &agent);
        let seen = Seen {
            run: run.clone(),
            agent: agent.clone(),
            at: now,
            trigger: String::new(),
            stimuli: some.to_vec(),
            signals: Vec::new(),
            active: Vec::new(),
            flags: Vec::new(),
            answers: vec![],
            raised: vec![],
            agents: Vec::new(),
            neurons: Vec::new(),
            ledger: Vec::new(),
            goals: Vec::new(),
            counsel: Vec::new(),
        };
        let document = perception::think(&seen, &network, &settings);
        let consumed = some.iter().map(|stimulus| stimulus.id.clone()).collect();
        let author = Author { run, agent: agent.clone(), clock: now, rank: 0, origin: Origin::local(), consumed };
        let applied = apply(&document, &author, None, &network, &settings.learning, &settings.activation)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        network.neurons.extend(applied.neurons.into_iter().map(|(id, (_, after))| (id, after)));
    }
    Ok(network)
}

/// Reads a set, feeds its brains and asks the controls.
pub fn read(file: &Path, now: Stamp) -> Result<(Set, Vec<Ready>)> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    let set: Set = serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
    let mut ready = Vec::new();
    for world in &set.worlds {
        let network = brain(&world.rows, now)?;
        let mut held: HashMap<NeuronId, (String, String)> = HashMap::new();
        for (id, neuron) in &network.neurons {
            if let Some(source) = &neuron.source {
                held.insert(id.clone(), (source.clone(), neuron.concept.clone()));
            }
        }
        let snapshot = Snapshot::of(network.neurons.into_values());
        let whole = Bm25::of(world.rows.iter().map(|row| row.text.as_str()));
        // In the order of sources, as they were fed.
        let place: HashMap<&str, usize> =
            world.rows.iter().enumerate().map(|(at, row)| (row.source.as_str(), at)).collect();
        let mut pieces: Vec<(usize, &(String, String))> =
            held.values().map(|piece| (place.get(document(&piece.0)).copied().unwrap_or(0), piece)).collect();
        pieces.sort();
        let small = Bm25::of(pieces.iter().map(|(_, (_, text))| text.as_str()));
        let row = |at: &usize| (world.rows[*at].source.as_str(), world.rows[*at].text.as_str());
        let mut questions = Vec::new();
        for asked in world.questions.iter().filter(|asked| !asked.gold.is_empty()) {
            let gold: BTreeSet<String> = asked.gold.iter().cloned().collect();
            let scores = whole.scores(&asked.question);
            let mut controls = vec![("keywords", Figures::of(top(&scores, 100).iter().map(row), &gold))];
            if world.ordered {
                let near = smoothed(&scores, |at| world.rows[at].session.as_deref());
                controls.push(("keywords and neighbours", Figures::of(top(&near, 100).iter().map(row), &gold)));
            }
            let found = top(&small.scores(&asked.question), 400);
            let piece = |at: &usize| (pieces[*at].1.0.as_str(), pieces[*at].1.1.as_str());
            controls.push(("keywords on pieces", Figures::of(found.iter().map(piece), &gold)));
            questions.push(Question { text: asked.question.clone(), gold, controls, meaning: Vec::new() });
        }
        let unanswerable =
            world.questions.iter().filter(|asked| asked.gold.is_empty()).map(|asked| asked.question.clone());
        ready.push(Ready { snapshot, held, questions, unanswerable: unanswerable.collect() });
    }
    Ok((set, ready))
}

/// BM25 with k1 1.2 and b .75, light stemming, and pairs of characters where there are no spaces: the usual plain search.
struct Bm25 {
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    mean: f64,
}

impl Bm25 {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let (mut postings, mut lengths) = (HashMap::<String, Vec<(usize, f64)>>::new(), Vec::new());
        for (at, text) in texts.enumerate() {
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            terms(text).into_iter().for_each(|term| *counts.entry(term).or_default() += 1.0);
            lengths.push(counts.values().sum());
            counts.into_iter().for_each(|(term, n)| postings.entry(term).or_default().push((at, n)));
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { postings, lengths, mean }
    }

    fn scores(&self, question: &str) -> Vec<f64> {
        let all = self.lengths.len() as f64;
        let mut scores = vec![0.0; self.lengths.len()];
        for term in terms(question).into_iter().collect::<BTreeSet<_>>() {
            let found = self.postings.get(&term).map_or(&[][..], Vec::as_slice);
            let idf = (1.0 + (all - found.len() as f64 + 0.5) / (found.len() as f64 + 0.5)).ln();
            for (at, n) in found {
                scores[*at] += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * self.lengths[*at] / self.mean));
            }
        }
        scores
    }
}

fn smoothed<'a>(scores: &[f64], group: impl Fn(usize) -> Option<&'a str>) -> Vec<f64> {
    let near = |at: usize| {
        let sides = [at.checked_sub(1), (at + 1 < scores.len()).then_some(at + 1)];
        sides.into_iter().flatten().filter(|side| group(*side) == group(at)).map(|side| 0.4 * scores[side]).sum::<f64>()
    };
    (0..scores.len()).map(|at| scores[at] + near(at)).collect()
}

fn top(scores: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    order.truncate(k);
    order
}

const STOP: &str = " a an the and or of to in on for is are was were be been do does did has have had what when where who how why \
    which that this it its i you he she they we his her their my your with at by from as about s t not so m re ve ll d ";

fn terms(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace("'s", "");
    let mut terms = Vec::new();
    for run in text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|run| !run.is_empty()) {
        let characters: Vec<char> = run.chars().collect();
        for part in characters.chunk_by(|a, b| japanese(*a) == japanese(*b)) {
            let word: String = part.iter().collect();
            if japanese(part[0]) {
                let pairs = (0..part.len().saturating_sub(1).max(1))
                    .map(|at| part[at..part.len().min(at + 2)].iter().collect());
                terms.extend(pairs);
            } else if !STOP.contains(&format!(" {word} ")) {
                terms.push(stem(&word));
            }
        }
    }
    terms
}

fn stem(word: &str) -> String {
    let cut =
        ["ing", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end).filter(|rest| rest.chars().count() >= 3));
    cut.unwrap_or(word).to_owned()
}

/// Mean and 95 % interval of the paired differences: 2,000 bootstrap samples of a fixed seed.
pub fn interval(differences: &[f64]) -> [f64; 3] {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % differences.len().max(1)
    };
    let n = differences.len().max(1) as f64;
    let mut means: Vec<f64> =
        (0..2000).map(|_| (0..differences.len()).map(|_| differences[random()]).sum::<f64>() / n).collect();
    means.sort_by(f64::total_cmp);
    [differences.iter().sum::<f64>() / n, means[50], means[1950]]
}
