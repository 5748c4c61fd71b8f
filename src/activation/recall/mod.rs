//! Recall: a question in, memories out, best first.
//!
//! One wave per cue, the greatest arrival inside a wave, the sum over cues, each wave weighted by its cue's idf. A cue is
//! a content word, by its stem, a name or title that the question holds, longest first, a date, or what the whole
//! question means. A wave goes cue → memories → (from the best of them) names they share and the question has not → other memories, then along the
//! turns of a session.
//! Memories of a speaker whom the question names count double, and a session adds a share of its own lexical score.
//!
//! At the end the best memories influence and inhibit each other by the edges of those types.
//!
//! Deviations from [`super::propagate`], each because it was measured to answer better: a wave starts at many memories
//! at once with the saturated frequency of its word, salience counts once per answer with a small exponent instead of at every hop,
//! and only concepts are held back by their fan. Must not know where neurons come from, or clocks.

mod closeness;
mod newest;
mod question;
mod ranking;
mod talk;
#[cfg(test)]
mod tests;
mod wave;

pub use closeness::{CLOSE, closeness, closeness_of_text};
pub use newest::{changing, names_change};
use serde::Serialize;

use super::graph::NodeIx;
use super::index::{Index, Length, idf};
use crate::citation::Seen;
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::{Kind, Neuron, Origin, Settings, Stamp};
use crate::text;
use question::Asked;
use ranking::{By, Candidate, Scores, concepts, interact, rank};
pub use talk::{found as found_talk, talk};
use wave::{Front, Surroundings};

/// Weaker arrivals are dropped.
const LEAST: f64 = 0.01;
/// Trusted memories that are ranked for each other one where some are not trusted: many may say the same.
const OTHERS: usize = 4;

/// The constants of recall, so that a measurement can leave a part out. `docs/recall.md` says what each brings, and why it
/// is what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Exponent of the inverse document frequency by which a cue's wave counts.
    pub rarity: f64,
    /// How many memories of a wave pass it on to the names in them; 0: none.
    pub spreading: usize,
    /// How far a wave follows turns.
    pub turns: usize,
    /// Of how many memories a wave follows turns at each level, and how many of the best influence and inhibit each other.
    pub beam: usize,
    /// How much of a shared name's fan holds back a memory that the name is the title of; 1: as much as any other.
    pub about: f64,
    /// Whether names that the question has itself are gone through as well.
    pub asked_names: bool,
    /// Whether the weight of a memory's edge to a name counts on the way to the name, as it does on the way back.
    pub both_ways: bool,
    /// A name's wave beside that of a word.
    pub name: f64,
    /// The wave of a title beside that of a word.
    pub title: f64,
    /// The wave of a word inside a name or title, beside that of another word.
    pub inside: f64,
    /// The wave of a word of a date, or of one like `happened`, where a date is a cue.
    pub dated: f64,
    /// What naming a speaker multiplies his turns by.
    pub speaker: f64,
    /// What the best session adds to its turns, as a share of the best turn.
    pub session: f64,
    /// The wave of a date that the question names, beside that of a word.
    pub date: f64,
    /// The wave of what means the same, beside those of all words, names, titles and dates of the question together.
    pub meaning: f64,
    /// In how many memories, the most alike, that wave starts.
    pub alike: usize,
    /// How much the length of a memory counts for the words in it.
    pub length: Length,
    /// How much of a word's wave a memory loses if no passage of it has the words of the question together: 0 to 1.
    pub passage: f64,
    /// Words of a passage.
    pub window: usize,
    /// What the weights of turns are multiplied by.
    pub turn: f64,
    /// A turn that is so many times as long as the mean brings as much as a short one; a longer one by the root of it less.
    pub long_turn: f64,
    /// The share of a name's wave that stays inside a session.
    pub inside_session: f64,
    /// Whether turns inside one split text bring each other to mind.
    pub inside_text: bool,
    /// A name is followed by so many times the share of the question that the best memory leaves open, at most in full…
    pub open: f64,
    /// …and at least by so much.
    pub followed: f64,
    /// Of what naming a speaker adds, the share that a part of the name adds.
    pub part_of_speaker: f64,
    /// The wave of a part of an identifier beside that of a word.
    pub part: f64,
    /// Before how many of the best answers what is newer and changes them is put; 0: none.
    pub older: usize,
    /// Content words of an answer that may be older or newer than another.
    pub brief: usize,
    /// Whether a newer memory changes an older one that says that something changed.
    pub change: bool,
    /// Whether a newer memory changes an older one that says the same but for one value.
    pub value: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self {
            rarity: 1.5,
            spreading: 10,
            turns: 3,
            beam: 256,
            about: 0.5,
            asked_names: false,
            both_ways: true,
            name: 0.5,
            title: 0.5,
            inside: 0.5,
            dated: 0.25,
            speaker: 2.0,
            session: 0.2,
            date: 1.0,
            meaning: 0.3,
            alike: 100,
            length: Length { k1: 1.2, b: 0.75, short: 30.0 },
            passage: 0.3,
            window: 40,
            turn: 1.1,
            long_turn: 1.4,
            inside_session: 0.0,
            inside_text: false,
            open: 2.0,
            followed: 0.2,
            part_of_speaker: 0.5,
            part: 1.0,
            older: 20,
            brief: 30,
            change: true,
            value: true,
        }
    }
}

impl Method {
    /// Words, how rare they are, and salience: nothing that memories have to do with each other.
    pub fn words_alone() -> Self {
        let parts = Self { about: 1.0, asked_names: true, name: 0.0, title: 0.0, inside: 1.0, ..Self::default() };
        let parts = Self { older: 0, change: false, value: false, ..parts };
        Self { rarity: 1.0, spreading: 0, turns: 0, speaker: 1.0, session: 0.0, date: 0.0, meaning: 0.0, ..parts }
    }

    /// Sets a constant by its name; false if there is none of that name.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        match name {
            "rarity" => self.rarity = value,
            "spreading" => self.spreading = value as usize,
            "turns" => self.turns = value as usize,
            "beam" => self.beam = value as usize,
            "about" => self.about = value,
            "name" => self.name = value,
            "title" => self.title = value,
            "inside" => self.inside = value,
            "speaker" => self.speaker = value,
            "session" => self.session = value,
            "date" => self.date = value,
            "meaning" => self.meaning = value,
            "b" => self.length.b = value,
            "k1" => self.length.k1 = value,
            "passage" => self.passage = value,
            "window" => self.window = value as usize,
            "turn" => self.turn = value,
            "short" => self.length.short = value,
            "long_turn" => self.long_turn = value,
            "inside_session" => self.inside_session = value,
            "inside_text" => self.inside_text = value > 0.0,
            "open" => self.open = value,
            "followed" => self.followed = value,
            "part_of_speaker" => self.part_of_speaker = value,
            "part" => self.part = value,
            "older" => self.older = value as usize,
            "brief" => self.brief = value as usize,
            "change" => self.change = value > 0.0,
            "value" => self.value = value > 0.0,
            _ => return false,
        }
        true
    }

    /// How much the wave of a cue counts that brings `found` of `all` memories.
    fn weight(&self, found: usize, all: usize) -> f64 {
        idf(found, all).powf(self.rarity)
    }
}

/// What a question asks for beside its words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    /// Most answers; `None`: as the settings say.
    pub top: Option<usize>,
    /// Only memories of this moment or later.
    pub since: Option<Stamp>,
    /// Only memories of this moment or earlier.
    pub until: Option<Stamp>,
    /// Only memories of the session with this label.
    pub session: Option<String>,
    /// Answer concepts as well; they are answered anyway where no memory is found.
    pub concepts: bool,
    /// Classes of origins that are not trusted: see [`crate::model::settings::Origins::tainted_bits`].
    pub tainted: u8,
    /// The number of memories of them that are ranked where some of the best are, with [`OTHERS`] times as many others, whatever `top` says: none of
    /// these is pushed out of sight, and not all of those have to be read.
    pub apart: Option<usize>,
    /// How much memories mean what the question means, -1 to 1, as far as somebody can tell: the cosines of embeddings.
    pub meaning: Vec<(NodeIx, f64)>,
}

impl Filters {
    /// Whether a moment lies in the time that is asked for.
    fn holds(&self, at: Stamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// The neuron.
    pub id: NeuronId,
    /// Its concept; of a memory, the text.
    pub concept: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Summed over cues, so it may exceed 1. Comparable inside one answer only.
    pub activation: f64,
    /// Its salience when it was asked, 0..=65535.
    pub salience: u16,
    /// What `influences` of other memories that were found bring, as a share of the best one's activation.
    pub context: f64,
    /// The same of `inhibits`; it is subtracted.
    pub inhibition: f64,
    /// The memory's label.
    pub source: Option<String>,
    /// The memory's session.
    pub session: Option<String>,
    /// Which kind of talk it is, if it is no evidence: `question`, `order`, `small talk`, `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talk: Option<&'static str>,
    /// The memory's text; of a concept, the concept.
    pub text: String,
    /// Where it ultimately comes from.
    pub origin: Origin,
    /// When it happened; of a concept, when it was first named.
    pub at: Stamp,
    /// Other memories that were found and say the same; this one stands for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    /// Why it was found, in sentences for people, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// The older memories that it replaces, newest first; they are archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<NeuronId>,
    /// The older answer before which it stands because it is newer, and changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The code that it was said about, as the present checkout has it; absent: about none, or none is checked out here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Seen>,
    /// The subject that it is sealed for, by name; its neuron is none, and `id` the sealed memory's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The way of the wave that brought most, cue first.
    pub path: Vec<Way>,
}

/// An older answer that is changed by a newer one.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Changes {
    /// The older one.
    pub older: NeuronId,
    /// The evidence.
    pub by: Evidence,
}

/// Evidence that a newer memory changes an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It says that something changed, and is about the same.
    Change,
    /// It says the same but for one value.
    Value,
}

/// Whether a neuron may go before an older one that it changes, by its id.
pub type Trust<'t> = &'t dyn Fn(&str) -> bool;

/// A memory that says the same as an answer.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Also {
    /// The neuron.
    pub id: NeuronId,
    /// When it happened.
    pub at: Stamp,
    /// The memory's label.
    pub source: Option<String>,
    /// The memory's session.
    pub session: Option<String>,
    /// Who says it, if the memory tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

impl Also {
    /// A memory, without what it says.
    pub fn of(neuron: &Neuron) -> Self {
        Self {
            id: neuron.id.clone(),
            at: neuron.created_at,
            source: neuron.source.clone(),
            session: neuron.session.clone(),
            speaker: text::speaker(&neuron.concept).map(|(name, _)| name.to_owned()),
        }
    }
}

/// One step on the way to an answer.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Way {
    /// The cue's words, a neuron's id, or a name without a neuron.
    pub at: String,
    /// `cue`; what a memory has of the cue: `text` (the word), `name`, `title`, `date`, `speaker` or
    /// `meaning`; `name` (they share it); `session`; or the type of the edge.
    pub via: &'static str,
    /// What the hop multiplied the strength by: an edge's weight, or what a name's fan left; of a seed its strength.
    pub weight: f64,
    /// Strength in its wave, before the cue's weight.
    pub activation: f64,
}

/// What a question brings to mind, before the neuron itself is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The neuron.
    pub id: NeuronId,
    /// Summed over cues, so it may exceed 1. Comparable inside one answer only.
    pub activation: f64,
    /// Its salience when it was asked, 0..=65535.
    pub salience: u16,
    /// What `influences` of other memories that were found bring, as a share of the best one's activation.
    pub context: f64,
    /// The same of `inhibits`; it is subtracted.
    pub inhibition: f64,
    /// The older answer before which it stands because it is newer, and changes it; then it has the score of that one.
    pub changes: Option<Changes>,
    /// The way of the wave that brought most, cue first.
    pub path: Vec<Way>,
}

impl Answer {
    /// What was found, with what its neuron says, and other memories that say the same.
    pub fn of(found: Found, neuron: &Neuron, copies: &[Neuron]) -> Self {
        Self {
            id: found.id,
            concept: neuron.concept.clone(),
            kind: neuron.kind,
            activation: found.activation,
            salience: found.salience,
            context: found.context,
            inhibition: found.inhibition,
            source: neuron.source.clone(),
            session: neuron.session.clone(),
            talk: text::talk::talk(neuron.source.as_deref(), neuron.session.as_deref(), &neuron.concept)
                .map(text::talk::Talk::as_str),
            text: neuron.concept.clone(),
            origin: neuron.origin.clone(),
            at: neuron.created_at,
            also: copies.iter().map(Also::of).collect(),
            why: Vec::new(),
            older: Vec::new(),
            changes: found.changes,
            code: None,
            sealed: None,
            path: found.path,
        }
    }
}

/// The memories that a question brings to mind, best first; of those that are as good the newest, then by id.
pub fn answer(index: &Index<'_>, question: &str, now: Stamp, settings: &Settings, filters: &Filters) -> Vec<Found> {
    answer_by(index, question, now, settings, filters, &Method::default())
}

/// [`answer`], where nothing goes before an older answer that is not trusted: neurons by their ids.
pub fn answer_trusted(
    index: &Index<'_>,
    question: &str,
    now: Stamp,
    settings: &Settings,
    filters: &Filters,
    is_trusted: Trust<'_>,
) -> Vec<Found> {
    answer_with(index, question, (now, settings), filters, &Method::default(), is_trusted)
}

/// [`answer`] by a method that differs from the default one.
pub fn answer_by(
    index: &Index<'_>,
    question: &str,
    now: Stamp,
    settings: &Settings,
    filters: &Filters,
    method: &Method,
) -> Vec<Found> {
    answer_with(index, question, (now, settings), filters, method, &|_| true)
}

fn answer_with(
    index: &Index<'_>,
    question: &str,
    (now, settings): (Stamp, &Settings),
    filters: &Filters,
    method: &Method,
    is_trusted: Trust<'_>,
) -> Vec<Found> {
    let mut asked = Asked::of(index, question, now, &filters.meaning, method);
    let mut direct = asked.direct(index);
    if method.passage > 0.0 {
        asked.prefer_passages(index, method, &mut direct);
    }
    let mut surroundings = Surroundings::new(index, settings.recall.fan, method);
    let open = asked.left_open(index, &direct);
    let (mut front, mut scores) = (Front::new(index), Scores::new(index));
    for cue in &asked.cues {
        front.seed(cue);
        front.share_names(&mut surroundings, &asked, cue, method, &direct, open);
        front.follow_turns(&mut surroundings, method, &direct);
        scores.add(front.take(), cue);
    }
    scores.weigh(index, &asked, now, settings, method);
    let top = filters.top.unwrap_or(settings.recall.top);
    let mut wide = top.max(method.beam);
    let mut found = scores.ranking(index, &asked, filters, method, (top, wide));
    let is_tainted = |one: &Candidate| index.origins(one.node) & filters.tainted != 0;
    let apart = filters.apart.filter(|_| found.iter().take(top).any(is_tainted));
    if let Some(most) = apart {
        found = scores.ranking(index, &asked, filters, method, (limits::RANKED_WIDELY, limits::RANKED_WIDELY));
        let mut left = [most * OTHERS, most];
        found.retain(|one| {
            let left = &mut left[usize::from(is_tainted(one))];
            let has_room = *left > 0;
            *left = left.saturating_sub(1);
            has_room
        });
        wide = wide.max(found.len());
    }
    let is_bounded = filters.session.is_some() || filters.since.is_some() || filters.until.is_some();
    if filters.concepts || found.is_empty() && !is_bounded {
        found.extend(concepts(index, &asked));
        rank(index, &mut found, wide);
    }
    if found.is_empty() && filters.since.is_some() && filters.session.is_none() {
        // Nothing of that time has the words: then what there was.
        let within = |node: &NodeIx| filters.holds(index.created(*node));
        found.extend(index.all_memories().filter(within).map(|node| Candidate::new(node, 0.0, By::Words)));
        rank(index, &mut found, top);
    }
    interact(index, &mut found, &settings.activation);
    rank(index, &mut found, wide);
    newest::newest_first(index, question, &asked, &mut found, method, is_trusted);
    found.truncate(if apart.is_some() { wide } else { top });
    let id_of = |node: NodeIx| NeuronId::parse(index.graph.id(node)).ok();
    let found = found.into_iter().filter_map(|Candidate { node, score, by, context, inhibition, changes }| {
        let id = id_of(node)?;
        let changes = changes.and_then(|(older, by)| Some(Changes { older: id_of(older)?, by }));
        let way = |via, activation| Way { at: id.to_string(), via, weight: activation, activation };
        let path = match by {
            By::Waves => scores.path(index, node, &asked),
            By::Session => vec![way("session", 0.0)],
            By::Words => vec![way("text", score)],
        };
        let salience = index.graph.salience_at(node, now);
        Some(Found { id, activation: score, salience, context, inhibition, changes, path })
    });
    found.collect()
}
