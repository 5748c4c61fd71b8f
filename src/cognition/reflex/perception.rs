//! Perception: stimuli become episodic neurons, and names and a few words in them concepts.
//!
//! Owns which neurons and connections a stimulus makes. Must not know how recall reads them, git, or any clock but the
//! stimuli's own. Place in the flow: stimulus → **perception** → delta, whose signals wake memory, affect and, where a stimulus answers a
//! run, the evaluator: action feedback is a memory as any other, and an outcome (MagistraAI's technical note, 2.2).
//!
//! Everything is stored on the new episode's own file, so that frequent concepts stay small files and two runs that
//! perceive different stimuli hardly ever touch the same one:
//!
//! ```text
//! episode --recalls-->    concept, speaker, session    each of them can retrieve the episode
//! episode --feeds_into--> concept, speaker, session    the episode brings them to mind
//! episode --recalls-->    previous turn                the previous turn retrieves this one
//! episode --feeds_into--> previous turn
//! session --feeds_into--> latest turn                  one live connection, moved by each run
//! ```
//!
//! Stimuli without a session are never linked by the order in which they were fed. Talk (a question to the brain, its answer) is an
//! episode of its session and nothing else: words that were only asked with must not become names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::json;

use super::proposal::constant_id;
use super::reached;
use crate::activation::ripple::Source;
use crate::cognition::{Network, Snapshot};
use crate::delta::operation::{Acknowledge, Activate, Connect, Create, Send};
use crate::delta::{Document, Edge, Operation};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, RunId, episode_id, later_piece, session_id, speaker_id};
use crate::model::{Kind, Link, Neuron, Settings, Stamp, Stimulus};
use crate::text;
use crate::text::talk::{self, Talk};

/// Operations that a document has beside those of its stimuli: two activations of core neurons, the write-back, a signal to memory, one
/// of calm to affect, and answers.
const OVERHEAD: usize = 4 + limits::WRITE_BACK + limits::SIGNALS_PER_RUN;
/// Most stimuli of one run: what the signal to `memory` names.
const STIMULI: usize = 2_048;

/// Strength with which an episode is activated.
const EPISODE: f64 = 0.8;
/// Half-saturation of a concept's activation: once .8, twice .89. Once must exceed 45000/65535, memory's trigger.
const CONCEPT_HALF: f64 = 0.25;
/// Saturation of term frequency in weights, and how much a text's length counts (BM25's k1 and b).
const K1: f64 = 0.9;
const B: f64 = 0.4;
/// The length, in content words, at which a text is neither long nor short. Recall knows the network's mean; a run cannot.
const USUAL_LENGTH: f64 = 12.0;
const SPEAKER: f64 = 0.5;
const SESSION: f64 = 0.3;
/// The previous turn retrieves this one; this one brings the previous one back; a question retrieves its answer.
const FORWARD: f64 = 0.55;
const BACKWARD: f64 = 0.45;
const ANSWER: f64 = 0.8;
const LATEST: f64 = 0.5;
/// Live connections to a latest turn that one run takes back. More than one exist only after a merge.
const LATEST_LINKS: usize = 4;
/// Archived turns that are passed over to find the one that a new turn follows.
const ARCHIVED_TURNS: usize = 64;
/// Activation of the core neurons that stand for input, and the salience above which they get no more: perception must
/// not wake itself by what it says about its input.
const CORE: f64 = 0.1;
const CORE_ENOUGH: u16 = 16_384;
/// The neuron that stands for input, from which each wave starts.
const INPUT: &str = "external_stimulus";
/// Perception itself, from which it goes on.
const PERCEPTION: &str = "n_core_perception";
/// Known concepts from which a wave starts as well, at most: the strongest of the run.
const SOURCES: usize = 16;

/// Most operations that one stimulus needs, whatever the network holds; at most [`limits::RUN_OPS`] − [`OVERHEAD`]. Names are looked for, other words not.
pub fn cost(stimulus: &Stimulus) -> usize {
    let (context, urgency) = (4, 1);
    let session = context + 2 + LATEST_LINKS + 1;
    let concepts = evidence(stimulus).map_or(0, |evidence| {
        let said = text::speaker(&evidence).map_or(&*evidence, |(_, said)| said);
        let Names { single, names, .. } = Names::of(said, stimulus);
        (single.len() + names.len()).min(limits::STIMULUS_CONCEPTS - limits::STIMULUS_TERMS) + limits::STIMULUS_TERMS
    });
    2 + 4 * concepts
        + text::speaker(&stimulus.text).map_or(0, |_| context)
        + stimulus.session.as_ref().map_or(0, |_| session)
        + urgency
        + usize::from(stimulus.answers.is_some())
}

/// The number of the first stimuli that one run can carry: at least one of a list that is not empty.
pub fn fitting(stimuli: &[Stimulus]) -> usize {
    let mut load = Load::default();
    stimuli.iter().take_while(|stimulus| load.add(Load::of(stimulus))).count()
}

/// The load of stimuli on the run that perceives them.
#[derive(Clone, Copy, Default)]
pub struct Load {
    stimuli: usize,
    operations: usize,
    bytes: usize,
}

impl Load {
    /// Of one.
    pub fn of(stimulus: &Stimulus) -> Self {
        Self { stimuli: 1, operations: cost(stimulus), bytes: stimulus.text.len() }
    }

    /// Adds another load if one run can carry both, and returns whether it can. A run can carry any single stimulus.
    #[must_use]
    pub fn add(&mut self, other: Self) -> bool {
        let sum = Self {
            stimuli: self.stimuli + other.stimuli,
            operations: self.operations + other.operations,
            bytes: self.bytes + other.bytes,
        };
        let fits =
            sum.stimuli <= STIMULI && sum.operations <= limits::RUN_OPS - OVERHEAD && sum.bytes <= limits::RUN_BYTES;
        if fits {
            *self = sum;
        }
        fits
    }
}

/// What the agent proposes for the snapshot's stimuli, of which [`fitting`] says how many there should be.
///
/// A stimulus whose episode exists already, in the network or in this document, adds nothing; without a new episode the
/// document is empty.
pub fn think(snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    let mut stimuli: Vec<&Stimulus> = snapshot.stimuli.iter().collect();
    stimuli.sort_by_key(|s| (s.at, s.order));
    let mut run = Run::new(snapshot, network, settings);
    for stimulus in stimuli {
        run.perceive(stimulus);
    }
    run.finish();
    Document { agent: Some(snapshot.agent.clone()), prediction: None, ops: run.ops }
}

/// A turn, or the newest before it that is not archived: what is replaced is no turn that the next one follows.
fn remembered_turn(network: &dyn Network, mut turn: Neuron) -> Option<Neuron> {
    for _ in 0..ARCHIVED_TURNS {
        if !turn.is_archived() {
            return Some(turn);
        }
        let before = turn.connections.iter().filter(|c| c.link == Link::FeedsInto && c.weight > 0);
        let before = before.filter_map(|c| network.neuron(&c.target));
        let before = before.filter(|n| n.kind == Kind::Episodic && n.session == turn.session && n.id != turn.id);
        turn = before.max_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)))?;
    }
    None
}

/// The part of a stimulus that can be true; `None` for talk.
fn evidence(stimulus: &Stimulus) -> Option<Cow<'_, str>> {
    talk::evidence(stimulus.source.as_deref(), stimulus.session.as_deref(), &stimulus.text)
}

/// The names in a text.
#[derive(Default)]
struct Names {
    /// Names of one word, by their keys.
    single: BTreeSet<String>,
    /// Where longer ones stand.
    spans: Vec<std::ops::Range<usize>>,
    /// Longer ones and the title: (place, frequency) by key.
    names: HashMap<String, (usize, u32)>,
}

impl Names {
    fn of(said: &str, stimulus: &Stimulus) -> Self {
        let mut found = Self::default();
        // `2026-01-26t14` is written as a name is, and names nothing; nor does a letter.
        let named = |phrase: &text::Phrase<'_>| {
            phrase.inside
                && phrase.key.len() > 1
                && phrase.key.starts_with(char::is_alphabetic)
                && text::is_askable(&phrase.key)
        };
        for phrase in text::phrases(said).into_iter().filter(named) {
            if phrase.words == 1 {
                found.single.insert(phrase.key);
            } else {
                found.spans.push(phrase.start..phrase.start + phrase.surface.len());
                found.names.entry(phrase.key).or_insert((phrase.start, 0)).1 += 1;
            }
        }
        found.add_page(stimulus);
        // A heading in the middle of a text is not what the text is called.
        let is_later = stimulus.source.as_deref().is_some_and(|source| later_piece(source).is_some());
        if let Some(title) = text::named_title(said).filter(|_| !is_later) {
            let key = text::key(title);
            if text::is_askable(&key) && !key.is_empty() {
                found.names.entry(key).or_insert((0, 0)).1 += 1;
            }
        }
        found
    }

    /// Names that are written as such: of a page, its own, its title, links, tags, and other names in its front matter.
    fn add_page(&mut self, stimulus: &Stimulus) {
        let Some(page) = stimulus.source.as_deref().and_then(text::wiki::page_name) else { return };
        let mut names = text::wiki::names(&stimulus.text);
        names.push((0, page.to_owned()));
        for list in ["tags", "aliases"] {
            names.extend(text::wiki::listed(&stimulus.text, list).into_iter().map(|name| (0, name)));
        }
        let mut seen = BTreeSet::new();
        for (place, name) in names {
            let key = text::key(&name);
            if !key.trim().is_empty() && text::is_askable(&key) && seen.insert(key.clone()) {
                self.names.entry(key).or_insert((place, 0)).1 += 1;
            }
        }
    }
}

/// What a text says, as far as perception goes.
struct Said<'t> {
    speaker: Option<&'t str>,
    /// (key, term frequency), in the order of the text.
    concepts: Vec<(String, u32)>,
    /// Content words.
    length: usize,
    urgency: text::Urgency,
    /// It is evidence for nothing: an episode of its session, without concepts or speaker.
    is_talk: bool,
}

impl<'t> Said<'t> {
    fn of(stimulus: &'t Stimulus) -> Self {
        let whole = stimulus.text.as_str();
        let (source, session) = (stimulus.source.as_deref(), stimulus.session.as_deref());
        let urgency = match evidence(stimulus) {
            Some(evidence) => text::urgency(text::speaker(&evidence).map_or(&*evidence, |(_, said)| said)),
            // That the brain repeats what is urgent is no new alarm.
            None if talk::talk(source, session, whole) == Some(Talk::Answer) => text::Urgency::default(),
            None => text::urgency(whole),
        };
        Self { urgency, ..Self::without_urgency(stimulus) }
    }

    fn without_urgency(stimulus: &'t Stimulus) -> Self {
        let whole = stimulus.text.as_str();
        let Some(evidence) = evidence(stimulus) else {
            let urgency = text::Urgency::default();
            return Self { speaker: None, concepts: Vec::new(), length: 0, urgency, is_talk: true };
        };
        let speaker = text::speaker(whole).map(|(name, _)| name);
        let said = text::speaker(&evidence).map_or(&*evidence, |(_, said)| said);
        let Names { single, spans, mut names } = Names::of(said, stimulus);
        let mut words: HashMap<String, (usize, u32)> = HashMap::new();
        let mut length = 0;
        for word in text::words(said).into_iter().filter(|word| !word.is_stop) {
            length += 1;
            // Of a name of one word every mention counts, also one that begins a sentence.
            if single.contains(&word.key) {
                names.entry(word.key).or_insert((word.start, 0)).1 += 1;
            } else if is_term(&word.key) && !spans.iter().any(|span| span.contains(&word.start)) {
                words.entry(word.key).or_insert((word.start, 0)).1 += 1;
            }
        }
        let mut words: Vec<(String, (usize, u32))> = words.into_iter().collect();
        let letters = |key: &str| if is_inflected(key) { 0 } else { key.chars().count() };
        words.sort_by(|(a, (at, n)), (b, (bt, m))| (m, letters(b), at, a).cmp(&(n, letters(a), bt, b)));
        words.truncate(limits::STIMULUS_TERMS);
        let mut ranked: Vec<(String, (usize, u32))> = names.into_iter().collect();
        // What is said most often, then first, says most about a text that has too many names.
        ranked.sort_by(|(a, (at, n)), (b, (bt, m))| (m, at, a).cmp(&(n, bt, b)));
        ranked.truncate(limits::STIMULUS_CONCEPTS - limits::STIMULUS_TERMS);
        ranked.extend(words);
        ranked.sort_by(|(a, (at, _)), (b, (bt, _))| (at, a).cmp(&(bt, b)));
        let concepts = ranked.into_iter().map(|(key, (_, n))| (key, n)).collect();
        Self { speaker, concepts, length, urgency: text::Urgency::default(), is_talk: false }
    }

    /// Saturated term frequency, in (0, 1).
    fn saturated(&self, frequency: u32) -> f64 {
        let n = f64::from(frequency);
        n / (n + K1 * (1.0 - B + B * self.length as f64 / USUAL_LENGTH))
    }
}

/// Whether a word can stand for something: no number, no date, no code.
fn is_term(key: &str) -> bool {
    let code = |c: char| c.is_numeric() || "_.:/\\@=<>".contains(c);
    !key.chars().any(code) && (key.len() > 2 || !key.is_ascii()) && text::is_askable(key)
}

/// Whether a word is written as an English form of a verb or an adverb, which seldom name a thing.
fn is_inflected(key: &str) -> bool {
    key.len() > 4 && ["ed", "ing", "ly"].iter().any(|end| key.ends_with(end))
}

/// A session while a document is written.
struct Session {
    id: NeuronId,
    /// Its latest turn, and whether that asks.
    last: Option<(NeuronId, bool)>,
    /// Latest turns that it is connected to so far.
    live: Vec<NeuronId>,
    /// It keeps as many connections as it may.
    full: bool,
    /// The newest turn of this document.
    newest: Option<NeuronId>,
    at: Stamp,
}

struct Run<'a> {
    snapshot: &'a Snapshot,
    network: &'a dyn Network,
    settings: &'a Settings,
    connect_floor: u16,
    ops: Vec<Operation>,
    created: BTreeSet<NeuronId>,
    sessions: BTreeMap<String, Session>,
    speakers: BTreeMap<NeuronId, Stamp>,
    /// Whether any episode was made.
    perceived: bool,
    /// Those that are memories.
    episodes: Vec<NeuronId>,
    /// Concepts that the network knew already, and how strongly they were named.
    known: BTreeMap<NeuronId, f64>,
    urgent: Vec<(NeuronId, text::Urgency)>,
    /// What came of runs, in words.
    outcomes: Vec<(RunId, String, Option<f64>)>,
}

impl<'a> Run<'a> {
    fn new(snapshot: &'a Snapshot, network: &'a dyn Network, settings: &'a Settings) -> Self {
        Self {
            snapshot,
            network,
            settings,
            connect_floor: settings.learning.connect_floor.max(1),
            ops: Vec::new(),
            created: BTreeSet::new(),
            sessions: BTreeMap::new(),
            speakers: BTreeMap::new(),
            perceived: false,
            episodes: Vec::new(),
            known: BTreeMap::new(),
            urgent: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn perceive(&mut self, stimulus: &Stimulus) {
        let episode = episode_id(&stimulus.id);
        if !self.exists(&episode) {
            let said = Said::of(stimulus);
            self.remember(stimulus, &episode, &said);
            if let Some(name) = said.speaker {
                let speaker = speaker_id(name);
                self.context(&speaker, name, &episode, SPEAKER, stimulus.at);
                self.speakers.insert(speaker, stimulus.at);
            }
            if let Some(label) = &stimulus.session {
                self.turn(label, &episode, stimulus.at);
            }
            if said.urgency.level > 0.0 {
                self.urgent.push((episode.clone(), said.urgency));
            }
            self.outcomes.extend(stimulus.answers.clone().map(|run| (run, stimulus.text.clone(), stimulus.value)));
            self.perceived = true;
            // Memory has nothing to tie where a text lights nothing.
            if !said.is_talk && stimulus.answers.is_none() {
                self.episodes.push(episode.clone());
            }
        }
        if let Some(label) = &stimulus.session {
            self.session(label).last = Some((episode, text::asks(&stimulus.text)));
        }
    }

    /// The episode itself, and its concepts.
    fn remember(&mut self, stimulus: &Stimulus, episode: &NeuronId, said: &Said<'_>) {
        self.created.insert(episode.clone());
        self.ops.push(Operation::Create(Create {
            id: Some(episode.clone()),
            concept: stimulus.text.clone(),
            kind: Kind::Episodic,
            source: stimulus.source.clone(),
            session: stimulus.session.clone(),
            stimulus: Some(stimulus.id.clone()),
            at: self.clock(stimulus.at),
        }));
        self.activate(episode, EPISODE, stimulus.at);
        for (key, frequency) in &said.concepts {
            let id = self.network.concept_named(key);
            // Words about an outcome are found by what they name, and neither light nor make it: what is expected of options follows values alone.
            if stimulus.answers.is_some() {
                if self.exists(&id) {
                    self.connect(episode, &id, Link::Recalls, said.saturated(*frequency));
                }
                continue;
            }
            let n = f64::from(*frequency);
            let strength = n / (n + CONCEPT_HALF);
            if !self.created.contains(&id) && self.network.has(&id) {
                let named = self.known.entry(id.clone()).or_default();
                *named = named.max(strength);
            }
            self.create(&id, key, Kind::Semantic, stimulus.at);
            self.activate(&id, strength, stimulus.at);
            self.link_both(episode, &id, said.saturated(*frequency));
        }
    }

    /// A contextual neuron, and the episode's connections to it.
    fn context(&mut self, id: &NeuronId, label: &str, episode: &NeuronId, strength: f64, at: Stamp) {
        self.create(id, label, Kind::Contextual, at);
        self.link_both(episode, id, strength);
    }

    /// The episode's place in its session: linked to the session, and to the turn before it.
    fn turn(&mut self, label: &str, episode: &NeuronId, at: Stamp) {
        let session = self.session(label);
        let (id, last) = (session.id.clone(), session.last.clone());
        (session.newest, session.at) = (Some(episode.clone()), at);
        self.context(&id, label, episode, SESSION, at);
        if let Some((previous, asks)) = last.filter(|(previous, _)| previous != episode) {
            self.connect(episode, &previous, Link::Recalls, if asks { ANSWER } else { FORWARD });
            self.connect(episode, &previous, Link::FeedsInto, BACKWARD);
        }
    }

    /// The state of a session, read from the network when it is first met.
    fn session(&mut self, label: &str) -> &mut Session {
        let (network, at) = (self.network, self.snapshot.at);
        self.sessions.entry(label.to_owned()).or_insert_with(|| {
            let id = session_id(label);
            let mut live: Vec<Neuron> = Vec::new();
            let mut full = false;
            if let Some(neuron) = network.neuron(&id) {
                full = neuron.connections.len() >= limits::SESSION_LINKS;
                let links = neuron.connections.iter().filter(|c| c.link == Link::FeedsInto && c.weight > 0);
                let turns = links.filter_map(|c| network.neuron(&c.target));
                live = turns.filter(|n| n.kind == Kind::Episodic && n.session.as_deref() == Some(label)).collect();
            }
            live.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            let last = live.last().cloned().and_then(|newest| remembered_turn(network, newest));
            let last = last.map(|n| (n.id.clone(), text::asks(&n.concept)));
            let live = live.into_iter().map(|n| n.id).rev().take(LATEST_LINKS).collect();
            Session { id, last, live, full, newest: None, at }
        })
    }

    /// What is said once per document.
    fn finish(&mut self) {
        for signal in self.snapshot.signals.iter().take(limits::SIGNALS_PER_RUN) {
            let op = Acknowledge { signal: signal.id.clone(), payload: json!({"done": "heard"}) };
            self.ops.push(Operation::Acknowledge(op));
        }
        if !self.perceived {
            if self.snapshot.active.iter().any(|id| id.as_str() == INPUT) {
                self.look();
            }
            return;
        }
        for (speaker, at) in std::mem::take(&mut self.speakers) {
            self.activate(&speaker, EPISODE, at);
        }
        for session in std::mem::take(&mut self.sessions).into_values() {
            let Some(newest) = &session.newest else { continue };
            self.activate(&session.id, EPISODE, session.at);
            for old in session.live {
                let edge = Edge { from: session.id.clone(), to: old, link: Link::FeedsInto };
                self.ops.push(Operation::Disconnect(edge));
            }
            // A full session forgets its latest turn rather than keep a wrong one.
            if !session.full {
                self.connect(&session.id, newest, Link::FeedsInto, LATEST);
            }
        }
        self.light(INPUT);
        self.light(PERCEPTION);
        let mut sources: Vec<Source> = std::mem::take(&mut self.known).into_iter().collect();
        sources.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sources.truncate(SOURCES);
        self.spread(sources);
        let named = &self.episodes[..self.episodes.len().min(STIMULI)];
        if !named.is_empty() {
            self.signal("memory", json!({"kind": "perceived", "episodes": named}));
        }
        let alarmed = self.snapshot.flags.iter().any(|flag| flag.as_str() == "urgence");
        // Calm words of an origin that nobody trusts end no alarm.
        let origins = &self.settings.origins;
        let trusted = |stimulus: &Stimulus| !origins.is_tainted(&stimulus.origin);
        if alarmed && self.urgent.is_empty() && self.snapshot.stimuli.iter().any(trusted) {
            self.signal("affect", json!({"kind": "urgency", "level": 0}));
        }
        for (episode, urgency) in std::mem::take(&mut self.urgent) {
            let level = (urgency.level * 1000.0).round() / 1000.0;
            let payload = json!({"kind": "urgency", "level": level, "episode": episode, "words": urgency.words});
            self.signal("affect", payload);
        }
        for (run, text, value) in std::mem::take(&mut self.outcomes) {
            let mut payload = json!({"kind": "outcome", "run": run, "text": text});
            if let Some(value) = value {
                payload["value"] = json!(value);
            }
            self.signal("evaluator", payload);
        }
    }

    /// Lights a core neuron, unless it is bright already.
    fn light(&mut self, core: &str) {
        let id = constant_id(core);
        if self.network.neuron(&id).is_some_and(|n| n.salience_at(self.snapshot.at) < CORE_ENOUGH) {
            self.activate(&id, CORE, self.snapshot.at);
        }
    }

    /// Writes back what a wave from the input, from perception itself and from `sources` reaches.
    fn spread(&mut self, mut sources: Vec<Source>) {
        sources.extend([INPUT, PERCEPTION].map(|id| (constant_id(id), 1.0)));
        for (id, rise) in reached(&sources, self.snapshot, self.network, self.settings) {
            self.activate(&id, rise, self.snapshot.at);
        }
    }

    /// Input without words: somebody lit `external_stimulus`, and what they lit with it is looked at.
    fn look(&mut self) {
        let mut sources: Vec<Source> = Vec::new();
        let mut episodes = Vec::new();
        for id in self.snapshot.active.iter().filter(|id| id.as_str() != INPUT).take(SOURCES) {
            let Some(neuron) = self.network.neuron(id) else { continue };
            if neuron.kind == Kind::Episodic {
                episodes.push(id.clone());
            }
            sources.push((id.clone(), f64::from(neuron.salience_at(self.snapshot.at)) / 65535.0));
        }
        self.spread(sources);
        if !episodes.is_empty() {
            self.signal("memory", json!({"kind": "perceived", "episodes": episodes}));
        }
    }

    fn exists(&self, id: &NeuronId) -> bool {
        self.created.contains(id) || self.network.has(id)
    }

    /// Creates what does not exist. A neuron that somebody reworded is used as it is.
    fn create(&mut self, id: &NeuronId, concept: &str, kind: Kind, at: Stamp) {
        if self.exists(id) {
            return;
        }
        self.created.insert(id.clone());
        self.ops.push(Operation::Create(Create {
            id: Some(id.clone()),
            concept: concept.to_owned(),
            kind,
            source: None,
            session: None,
            stimulus: None,
            at: self.clock(at),
        }));
    }

    fn activate(&mut self, id: &NeuronId, strength: f64, at: Stamp) {
        let at = self.clock(at);
        self.ops.push(Operation::Activate(Activate { id: id.clone(), strength, at }));
    }

    fn link_both(&mut self, episode: &NeuronId, id: &NeuronId, strength: f64) {
        self.connect(episode, id, Link::Recalls, strength);
        self.connect(episode, id, Link::FeedsInto, strength);
    }

    fn connect(&mut self, from: &NeuronId, to: &NeuronId, link: Link, strength: f64) {
        let weight = ((strength * 65535.0).round() as u16).max(self.connect_floor);
        self.ops.push(Operation::Connect(Connect { from: from.clone(), to: to.clone(), link, weight }));
    }

    fn signal(&mut self, to: &str, payload: serde_json::Value) {
        let to = AgentName::parse(to).expect("invariant: a literal name");
        if self.snapshot.agents.iter().any(|agent| agent.name == to) {
            self.ops.push(Operation::Signal(Send { to, payload }));
        }
    }

    /// An operation's own clock, where it differs from the run's. It is never later: a stimulus is, where this machine's clock was put back.
    fn clock(&self, at: Stamp) -> Option<Stamp> {
        (at < self.snapshot.at).then_some(at)
    }
}

#[cfg(test)]
#[path = "perception_tests.rs"]
mod tests;
