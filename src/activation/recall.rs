//! Recall: a question in, memories out, best first.
//!
//! One wave per cue, the greatest arrival inside a wave, the sum over cues, each wave weighted by its cue's idf. A cue is
//! a content word, by its stem, a name that the question holds, longest first, or a date. A wave goes
//! cue → memories → (from the best of them) names they share → other memories, then along the turns of a session.
//! Memories of a speaker whom the question names count double, and a session adds a share of its own lexical score.
//!
//! Deviations from [`super::propagate`], each because it was measured to answer better: a wave starts at many memories
//! at once with the saturated frequency of its word, salience counts once per answer with a small exponent instead of at every hop,
//! and only concepts are held back by their fan. Must not know where neurons come from, or clocks.

use std::collections::BTreeSet;

use serde::Serialize;

use super::index::{Index, Place};
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Neuron, Origin, Settings, Stamp};
use crate::text::{self, Word};

/// Weaker arrivals are dropped.
const LEAST: f64 = 0.01;

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
    /// A name's wave beside those of its words.
    pub name: f64,
    /// What naming a speaker multiplies his turns by.
    pub speaker: f64,
    /// What the best session adds to its turns, as a share of the best turn.
    pub session: f64,
    /// The wave of a date that the question names, beside that of a word.
    pub date: f64,
}

impl Default for Method {
    fn default() -> Self {
        Self { rarity: 1.5, spreading: 50, turns: 3, name: 0.5, speaker: 2.0, session: 0.3, date: 1.0 }
    }
}

impl Method {
    /// Words, how rare they are, and salience: nothing that memories have to do with each other.
    pub fn words_alone() -> Self {
        Self { rarity: 1.0, spreading: 0, turns: 0, name: 0.0, speaker: 1.0, session: 0.0, date: 0.0 }
    }

    /// How much the wave of a cue counts that brings `found` of `all` memories.
    fn weight(&self, found: usize, all: usize) -> f64 {
        Index::idf(found, all).powf(self.rarity)
    }
}

/// What a question asks for beside its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Most answers; `None`: as the settings say.
    pub top: Option<usize>,
    /// Only memories of this moment or later.
    pub since: Option<Stamp>,
    /// Only memories of this moment or earlier.
    pub until: Option<Stamp>,
    /// Stop before the texts have more tokens than that, by [`text::tokens`].
    pub tokens: Option<usize>,
    /// Answer concepts as well; they are answered anyway where no memory is found.
    pub concepts: bool,
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
    /// The memory's label.
    pub source: Option<String>,
    /// The memory's session.
    pub session: Option<String>,
    /// The memory's text; of a concept, the concept.
    pub text: String,
    /// Where it ultimately comes from.
    pub origin: Origin,
    /// The way of the wave that brought most, cue first.
    pub path: Vec<Way>,
}

/// One step on the way to an answer.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Way {
    /// The cue's words, a neuron's id, or a name without a neuron.
    pub at: String,
    /// `cue`; what a memory has of the cue: `text` (the word), `name`, `date` or `speaker`; `name` (they share it);
    /// `session`; or the type of the edge.
    pub via: &'static str,
    /// Strength in its wave, before the cue's weight.
    pub activation: f64,
}

/// The memories that a question brings to mind. For more than one question build an [`Index`] once and [`answer`] each.
pub fn recall(
    neurons: impl IntoIterator<Item = Neuron>,
    question: &str,
    now: Stamp,
    settings: &Settings,
    filters: &Filters,
) -> Vec<Answer> {
    answer(&Index::build(neurons), question, now, settings, filters)
}

/// The memories that a question brings to mind, best first; equal ones by id.
pub fn answer(index: &Index, question: &str, now: Stamp, settings: &Settings, filters: &Filters) -> Vec<Answer> {
    answer_by(index, question, now, settings, filters, &Method::default())
}

/// [`answer`] by a method that differs from the default one.
pub fn answer_by(
    index: &Index,
    question: &str,
    now: Stamp,
    settings: &Settings,
    filters: &Filters,
    method: &Method,
) -> Vec<Answer> {
    let asked = Asked::of(index, question, method);
    let mut scores = Scores::new(index);
    let direct = asked.direct(index);
    for cue in &asked.cues {
        let wave = Wave::run(index, cue, settings.recall.fan, method, &direct);
        scores.add(wave, cue);
    }
    scores.weigh(index, &asked, now, settings, method);
    scores.sessions(index, &asked, method);
    let mut found: Vec<(f64, Answer)> = scores.answers(index, &asked, filters);
    if filters.concepts || found.is_empty() {
        found.extend(concepts(index, &asked));
    }
    found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.id.cmp(&y.id)));
    let mut tokens = 0;
    let fits = |answer: &Answer| {
        tokens += text::tokens(&answer.text);
        filters.tokens.is_none_or(|most| tokens <= most)
    };
    let top = filters.top.unwrap_or(settings.recall.top);
    found.into_iter().map(|(_, answer)| answer).take(top).take_while(fits).collect()
}

/// One cue: what it is called, how much its wave counts, where it starts.
struct Cue {
    words: String,
    weight: f64,
    seeds: Vec<(Place, f64)>,
    /// What its seeds have of it: `text` (a word), `name`, `date` or `speaker`.
    from: &'static str,
}

/// A question as recall sees it.
struct Asked {
    cues: Vec<Cue>,
    stems: Vec<String>,
    speakers: BTreeSet<NeuronId>,
}

impl Asked {
    fn of(index: &Index, question: &str, method: &Method) -> Self {
        let words = text::words_in(question, index.language);
        let mut speakers = BTreeSet::new();
        let mut spoken = vec![false; words.len()];
        for (parts, id) in &index.speakers {
            for at in (0..words.len()).filter(|at| at + parts.len() <= words.len() && !parts.is_empty()) {
                let row = at..at + parts.len();
                if words[row.clone()].iter().map(|word| &word.key).eq(parts) {
                    speakers.insert(id.clone());
                    spoken[row].fill(true);
                }
            }
        }
        let rest: Vec<&Word<'_>> = words.iter().zip(&spoken).filter(|(_, s)| !**s).map(|(word, _)| word).collect();
        // A question of function words alone is asked with them, and one of a name alone with the name.
        let stems = [rest.iter().filter(|word| !word.is_stop).map(|word| &word.stem).collect::<Vec<_>>()]
            .into_iter()
            .chain([rest.iter().map(|word| &word.stem).collect(), words.iter().map(|word| &word.stem).collect()])
            .find(|stems| !stems.is_empty())
            .unwrap_or_default();
        let mut distinct: Vec<String> = Vec::new();
        for stem in stems {
            if !distinct.contains(stem) {
                distinct.push(stem.clone());
            }
        }
        let mut cues = name_cues(index, &words, method);
        cues.extend(distinct.iter().filter_map(|stem| {
            let seeds = index.word(stem);
            let weight = method.weight(seeds.len(), index.memories.len());
            (!seeds.is_empty()).then(|| Cue { words: stem.clone(), weight, seeds, from: "text" })
        }));
        if method.date > 0.0 {
            cues.extend(text::date::asked(question).into_iter().filter_map(|asked| {
                let seeds = index.date(&asked);
                let weight = method.date * method.weight(seeds.len(), index.memories.len());
                (!seeds.is_empty()).then(|| Cue { words: asked.to_string(), weight, seeds, from: "date" })
            }));
        }
        if cues.is_empty() && !speakers.is_empty() {
            let spoke = |m: &super::index::Memory| m.speaker.as_ref().is_some_and(|s| speakers.contains(s));
            let turns = index.memories.iter().enumerate().filter(|(_, m)| spoke(m));
            let seeds: Vec<(Place, f64)> = turns.map(|(place, _)| (place, 0.5)).collect();
            cues.push(Cue { words: question.to_owned(), weight: 1.0, seeds, from: "speaker" });
        }
        Self { cues, stems: distinct, speakers }
    }

    /// What all cues together bring to each memory before anything spreads.
    fn direct(&self, index: &Index) -> Vec<f64> {
        let mut direct = vec![0.0; index.memories.len()];
        for cue in &self.cues {
            for (place, strength) in &cue.seeds {
                direct[*place] += cue.weight * strength;
            }
        }
        direct
    }
}

/// The names of several words in a question, the longest first at each place.
fn name_cues(index: &Index, words: &[Word<'_>], method: &Method) -> Vec<Cue> {
    let stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
    let mut cues: Vec<Cue> = Vec::new();
    let mut at = 0;
    while at < stems.len() {
        let longest = stems.len().min(at + index.longest);
        let found = (at + 2..=longest).rev().find_map(|to| Some((to, index.name(&stems[at..to])?)));
        let Some((to, name)) = found else {
            at += 1;
            continue;
        };
        let seeds = index.names[name].memories.clone();
        let words = stems[at..to].join(" ");
        if method.name > 0.0 && !seeds.is_empty() && cues.iter().all(|cue| cue.words != words) {
            let weight = method.name * method.weight(seeds.len(), index.memories.len());
            cues.push(Cue { words, weight, seeds, from: "name" });
        }
        at = to;
    }
    cues
}

/// What brought a memory to mind.
#[derive(Clone, Copy)]
enum Parent {
    Cue,
    /// A name that this memory has too.
    Name(usize, Place),
    Turn(Link, Place),
}

/// All that one cue does: strength and parent per memory.
struct Wave {
    strength: Vec<f64>,
    parent: Vec<Parent>,
    touched: BTreeSet<Place>,
}

impl Wave {
    fn run(index: &Index, cue: &Cue, fan: f64, method: &Method, direct: &[f64]) -> Self {
        let all = index.memories.len();
        let mut wave = Self { strength: vec![0.0; all], parent: vec![Parent::Cue; all], touched: BTreeSet::new() };
        for (place, strength) in &cue.seeds {
            wave.arrive(*place, *strength, Parent::Cue);
        }
        wave.share_names(index, cue, fan, method, direct);
        wave.follow_turns(index, method.turns);
        wave
    }

    /// Keeps the greatest arrival; true if this is one.
    fn arrive(&mut self, place: Place, strength: f64, parent: Parent) -> bool {
        let better = strength >= LEAST && strength > self.strength[place];
        if better {
            (self.strength[place], self.parent[place]) = (strength, parent);
            self.touched.insert(place);
        }
        better
    }

    /// The best memories of the wave, by all cues together, bring others to mind by the names they share, the less the
    /// more share one.
    fn share_names(&mut self, index: &Index, cue: &Cue, fan: f64, method: &Method, direct: &[f64]) {
        let mut best = cue.seeds.clone();
        best.sort_by(|(p, _), (q, _)| direct[*q].total_cmp(&direct[*p]).then(p.cmp(q)));
        best.truncate(method.spreading);
        for (from, strength) in best {
            for (name, _) in &index.memories[from].names {
                let sharing = &index.names[*name].memories;
                let held_back = strength * (sharing.len() as f64).powf(-fan);
                if held_back < LEAST {
                    continue;
                }
                for (to, weight) in sharing {
                    self.arrive(*to, held_back * weight, Parent::Name(*name, from));
                }
            }
        }
    }

    fn follow_turns(&mut self, index: &Index, turns: usize) {
        let mut frontier: BTreeSet<Place> = self.touched.clone();
        for _ in 0..turns {
            let sources: Vec<(Place, f64)> = frontier.iter().map(|place| (*place, self.strength[*place])).collect();
            frontier.clear();
            for (from, strength) in sources {
                for (to, link, weight) in &index.memories[from].turns {
                    if self.arrive(*to, strength * weight, Parent::Turn(*link, from)) {
                        frontier.insert(*to);
                    }
                }
            }
        }
    }

    /// The way to a memory, cue first. Turn links never lead back: an arrival is always weaker than what it came from.
    fn path(&self, index: &Index, place: Place, cue: &Cue) -> Vec<Way> {
        let id = |place: Place| index.memories[place].neuron.id.to_string();
        let mut steps = Vec::new();
        let mut at = place;
        loop {
            let activation = self.strength[at];
            let step = |via| Way { at: id(at), via, activation };
            match self.parent[at] {
                Parent::Turn(link, from) => {
                    steps.push(step(link.as_str()));
                    at = from;
                }
                Parent::Name(name, from) => {
                    steps.push(step("name"));
                    let neuron = index.names[name].neuron.as_ref();
                    if let Some(neuron) = neuron {
                        steps.push(Way { at: neuron.to_string(), via: "name", activation });
                    }
                    at = from;
                }
                Parent::Cue => {
                    steps.push(step(cue.from));
                    break;
                }
            }
        }
        steps.push(Way { at: cue.words.clone(), via: "cue", activation: 1.0 });
        steps.reverse();
        steps
    }
}

/// What all waves bring to each memory, and the way of the wave that brought most.
struct Scores {
    sum: Vec<f64>,
    most: Vec<(f64, usize)>,
    waves: Vec<Wave>,
}

impl Scores {
    fn new(index: &Index) -> Self {
        let all = index.memories.len();
        Self { sum: vec![0.0; all], most: vec![(0.0, 0); all], waves: Vec::new() }
    }

    fn add(&mut self, wave: Wave, cue: &Cue) {
        for place in &wave.touched {
            let brought = cue.weight * wave.strength[*place];
            self.sum[*place] += brought;
            if brought > self.most[*place].0 {
                self.most[*place] = (brought, self.waves.len());
            }
        }
        self.waves.push(wave);
    }

    /// Salience with its small exponent, and speakers.
    fn weigh(&mut self, index: &Index, asked: &Asked, now: Stamp, settings: &Settings, method: &Method) {
        for (memory, sum) in index.memories.iter().zip(&mut self.sum).filter(|(_, sum)| **sum > 0.0) {
            let salience = index.graph().salience_at(memory.node, now).max(settings.activation.salience_floor.max(1));
            let mut factor = (f64::from(salience) / 65535.0).powf(settings.recall.salience_exponent);
            if memory.speaker.as_ref().is_some_and(|speaker| asked.speakers.contains(speaker)) {
                factor *= method.speaker;
            }
            *sum *= factor;
        }
    }

    /// Adds each session's own score to its turns, if there are sessions to tell apart.
    fn sessions(&mut self, index: &Index, asked: &Asked, method: &Method) {
        if index.sessions.len() < 2 {
            return;
        }
        let best = self.sum.iter().copied().fold(0.0, f64::max);
        let stems: Vec<&str> = asked.stems.iter().map(String::as_str).collect();
        let scores = index.session_scores(&stems);
        let most = scores.iter().copied().fold(0.0, f64::max);
        if best <= 0.0 || most <= 0.0 {
            return;
        }
        for (session, score) in index.sessions.iter().zip(scores) {
            for place in &session.memories {
                self.sum[*place] += method.session * best * score / most;
            }
        }
    }

    fn answers(&self, index: &Index, asked: &Asked, filters: &Filters) -> Vec<(f64, Answer)> {
        let within = |place: Place| {
            let at = index.at(place);
            filters.since.is_none_or(|since| at >= since) && filters.until.is_none_or(|until| at <= until)
        };
        let places = (0..self.sum.len()).filter(|place| self.sum[*place] > 0.0 && within(*place));
        let path = |place: Place| match self.most[place] {
            (brought, cue) if brought > 0.0 => self.waves[cue].path(index, place, &asked.cues[cue]),
            _ => {
                let at = index.memories[place].neuron.id.to_string();
                vec![Way { at, via: "session", activation: 0.0 }]
            }
        };
        places
            .map(|place| (self.sum[place], found(&index.memories[place].neuron, self.sum[place], path(place))))
            .collect()
    }
}

fn found(neuron: &Neuron, activation: f64, path: Vec<Way>) -> Answer {
    Answer {
        id: neuron.id.clone(),
        concept: neuron.concept.clone(),
        kind: neuron.kind,
        activation,
        source: neuron.source.clone(),
        session: neuron.session.clone(),
        text: neuron.concept.clone(),
        origin: neuron.origin.clone(),
        path,
    }
}

/// Concepts whose words the question has, by the share of their words that it has and how rare those are.
fn concepts(index: &Index, asked: &Asked) -> Vec<(f64, Answer)> {
    let mut list = Vec::new();
    for concept in &index.concepts {
        let words = text::words(&concept.concept);
        let hit = words.iter().filter(|word| asked.stems.contains(&word.stem));
        let weight: f64 = hit.map(|word| Index::idf(index.word(&word.stem).len(), index.memories.len().max(1))).sum();
        let score = weight / words.len().max(1) as f64;
        if score > 0.0 {
            let path = vec![Way { at: concept.id.to_string(), via: "text", activation: score }];
            list.push((score, found(concept, score, path)));
        }
    }
    list
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
