//! From waves to the best memories: their sum, salience, speakers, and what sessions add.

use std::collections::HashMap;

use super::question::{Asked, Cue};
use super::wave::Wave;
use super::{Evidence, Filters, Method, Way};
use crate::activation::graph::NodeIx;
use crate::activation::index::{Forms, Index, SessionIx};
use crate::model::settings::Activation;
use crate::model::{Link, Settings, Stamp};

/// What brought a neuron into the answers.
#[derive(Clone, Copy)]
pub(super) enum By {
    Waves,
    Session,
    Words,
}

/// A neuron that may be answered.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub node: NodeIx,
    pub score: f64,
    pub by: By,
    /// What `influences` of other candidates bring, as a share of the best one's score.
    pub context: f64,
    /// The same of `inhibits`.
    pub inhibition: f64,
    /// The older candidate before which it was put, and what tells that it changes it.
    pub changes: Option<(NodeIx, Evidence)>,
}

impl Candidate {
    pub fn new(node: NodeIx, score: f64, by: By) -> Self {
        Self { node, score, by, context: 0.0, inhibition: 0.0, changes: None }
    }
}

/// Keeps the best, best first; of equal ones the newest, then by id.
pub(super) fn rank(index: &Index<'_>, found: &mut Vec<Candidate>, top: usize) {
    let order = |a: &Candidate, b: &Candidate| {
        let newest = || index.created(b.node).cmp(&index.created(a.node));
        let by_id = || index.graph.order(a.node).cmp(&index.graph.order(b.node));
        b.score.total_cmp(&a.score).then_with(newest).then_with(by_id)
    };
    if found.len() > top {
        found.select_nth_unstable_by(top, order);
        found.truncate(top);
    }
    found.sort_unstable_by(order);
}

/// Lets candidates, best first, influence and inhibit each other, as propagation has it at the end of a level: with a score
/// as a share of the best one, `score · (1 + κ · min(1, context)) − inhibition`. What is inhibited to nothing is not answered.
pub(super) fn interact(index: &Index<'_>, found: &mut Vec<Candidate>, settings: &Activation) {
    let most = found.first().map_or(0.0, |best| best.score);
    let places: HashMap<NodeIx, usize> = found.iter().enumerate().map(|(at, candidate)| (candidate.node, at)).collect();
    let mut is_touched = false;
    for source in 0..found.len() {
        let share = found[source].score / most;
        for (to, link, weight) in index.effects(found[source].node) {
            let brought = share * weight * settings.decay;
            let Some(target) = places.get(&to).filter(|_| brought >= settings.min) else { continue };
            is_touched = true;
            match link {
                Link::Influences => found[*target].context += brought,
                _ => found[*target].inhibition += brought,
            }
        }
    }
    if is_touched {
        for candidate in &mut *found {
            let drive = candidate.score / most * (1.0 + settings.kappa * candidate.context.min(1.0));
            candidate.score = most * (drive - candidate.inhibition).max(0.0);
        }
        found.retain(|candidate| candidate.score > 0.0);
    }
}

/// What all waves bring to each memory.
pub(super) struct Scores {
    sum: Vec<f64>,
    reached: Vec<NodeIx>,
    waves: Vec<Wave>,
}

impl Scores {
    pub fn new(index: &Index<'_>) -> Self {
        Self { sum: vec![0.0; index.graph.len()], reached: Vec::new(), waves: Vec::new() }
    }

    pub fn add(&mut self, wave: Wave, cue: &Cue) {
        for (node, _, strength) in &wave.reached {
            let sum = &mut self.sum[node.0 as usize];
            if *sum == 0.0 {
                self.reached.push(*node);
            }
            *sum += cue.weight * strength;
        }
        self.waves.push(wave);
    }

    fn get(&self, node: NodeIx) -> f64 {
        self.sum[node.0 as usize]
    }

    /// Salience with its small exponent, and speakers.
    pub fn weigh(&mut self, index: &Index<'_>, asked: &Asked, now: Stamp, settings: &Settings, method: &Method) {
        for node in &self.reached {
            let salience = index.graph.salience_at(*node, now).max(settings.activation.salience_floor.max(1));
            let mut factor = (f64::from(salience) / 65535.0).powf(settings.recall.salience_exponent);
            if !asked.speakers.is_empty() {
                factor *= match asked.speakers.get(&index.speaker(*node)) {
                    Some(true) => method.speaker,
                    Some(false) => 1.0 + (method.speaker - 1.0) * method.part_of_speaker,
                    None => 1.0,
                };
            }
            self.sum[node.0 as usize] *= factor;
        }
    }

    /// The best memories, as many as `wide`, of which the first `top` are sure to be the best, best first: what the waves bring, and what each session's own score adds to its turns, if there
    /// are sessions to tell apart.
    pub fn ranking(
        &self,
        index: &Index<'_>,
        asked: &Asked,
        filters: &Filters,
        method: &Method,
        (top, wide): (usize, usize),
    ) -> Vec<Candidate> {
        let sessions = self.sessions(index, asked, method);
        let share = |node: NodeIx| index.session_of(node).map_or(0.0, |session| sessions.get(session));
        // Who asks for no time needs no look at when each was.
        let wanted = filters.session.as_deref().map(|label| index.session(label));
        let within = |node: NodeIx| {
            if wanted.is_some_and(|session| session.is_none() || index.session_of(node) != session) {
                return false;
            }
            let bounds = filters.since.or(filters.until);
            let at = bounds.map_or_else(Stamp::default, |_| index.created(node));
            filters.holds(at)
        };
        let reached = self.reached.iter().copied().filter(|node| self.get(*node) > 0.0 && within(*node));
        let score = |node: NodeIx| Candidate::new(node, self.get(node) + share(node), By::Waves);
        let mut found: Vec<Candidate> = reached.map(score).collect();
        rank(index, &mut found, wide);
        // Turns that no wave reached have their session's share alone: the best sessions first, while that can matter.
        for (session, share) in sessions.best_first() {
            if top == 0 || found.get(top - 1).is_some_and(|least| share < least.score) {
                break;
            }
            let unreached = index.members(session).into_iter().filter(|node| self.get(*node) == 0.0 && within(*node));
            found.extend(unreached.map(|node| Candidate::new(node, share, By::Session)));
            rank(index, &mut found, wide);
        }
        found
    }

    /// What each session adds to its turns.
    fn sessions(&self, index: &Index<'_>, asked: &Asked, method: &Method) -> Shares {
        let best = self.reached.iter().map(|node| self.get(*node)).fold(0.0, f64::max);
        if index.sessions() < 2 || best <= 0.0 || method.session <= 0.0 {
            return Shares::default();
        }
        let mut scores = index.session_scores(&asked.words);
        let most = scores.iter().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return Shares::default();
        }
        scores.iter_mut().for_each(|score| *score *= method.session * best / most);
        Shares { of: scores }
    }

    /// The way of the wave that brought most.
    pub fn path(&self, index: &Index<'_>, node: NodeIx, asked: &Asked) -> Vec<Way> {
        let mut most: Option<(f64, &Wave, &Cue)> = None;
        for (wave, cue) in self.waves.iter().zip(&asked.cues) {
            let brought = wave.get(node).map_or(0.0, |(strength, _)| cue.weight * strength);
            if brought > most.map_or(0.0, |(most, ..)| most) {
                most = Some((brought, wave, cue));
            }
        }
        most.map_or_else(Vec::new, |(_, wave, cue)| wave.path(index, node, cue))
    }
}

/// What each session adds to its turns, by session.
#[derive(Default)]
struct Shares {
    of: Vec<f64>,
}

impl Shares {
    fn get(&self, session: SessionIx) -> f64 {
        self.of.get(session.at()).copied().unwrap_or(0.0)
    }

    fn best_first(&self) -> Vec<(SessionIx, f64)> {
        let mut list: Vec<(SessionIx, f64)> = (0..)
            .zip(&self.of)
            .filter(|(_, share)| **share > 0.0)
            .map(|(at, share)| (SessionIx::new(at), *share))
            .collect();
        list.sort_unstable_by(|(s, a), (t, b)| b.total_cmp(a).then(s.cmp(t)));
        list
    }
}

/// Concepts whose words the question has, by the share of their words that it has and how rare those are.
pub(super) fn concepts(index: &Index<'_>, asked: &Asked) -> Vec<Candidate> {
    let of = |forms: &Forms| (index.idf_of(forms), forms.stems().map(str::to_owned).collect::<Vec<_>>());
    let words: Vec<(f64, Vec<String>)> = asked.words.iter().map(of).collect();
    let stems = || words.iter().flat_map(|(rarity, stems)| stems.iter().map(move |stem| (stem.as_str(), *rarity)));
    let rarity: HashMap<&str, f64> = stems().collect();
    let mut nodes: Vec<NodeIx> = stems().flat_map(|(stem, _)| index.concepts_with(stem)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let score = |node: NodeIx| {
        let stems = index.stems_in(node);
        let weight: f64 = stems.iter().filter_map(|stem| rarity.get(stem)).sum();
        weight / stems.len().max(1) as f64
    };
    let scored = nodes.into_iter().map(|node| Candidate::new(node, score(node), By::Words));
    scored.filter(|candidate| candidate.score > 0.0).collect()
}
