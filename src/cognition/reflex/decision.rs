//! Decision: scores options by what a query activates, expects of each what came of it before, chooses, predicts, and tells the agent
//! that asked.
//!
//! It never sees raw input, only neurons and signals that others have already worked on (MagistraAI's technical note, 4.2):
//! nothing here reads the snapshot's stimuli.

use serde_json::{Value, json};

use super::proposal::{Proposal, clip, constant_id};
use super::{kind, query, reached};
use crate::activation::Profile;
use crate::activation::ripple::RISE;
use crate::chemistry::dopamine::{Expectation, History, Prospect, Stance, Temper, choose, expectations, normal};
use crate::cognition::{Network, Snapshot};
use crate::delta::{Chosen, Document, Edge, Prediction, UNSTATED};
use crate::limits;
use crate::model::ids::{NeuronId, concept_id, hash_fields};
use crate::model::neuron::check_concept;
use crate::model::settings::Learning;
use crate::model::{Kind, Link, Neuron, Settings, Signal};
use crate::wisdom::{about, expected_of};

/// How long an option may be: an answer lists all of them within one payload.
const OPTION_BYTES: usize = limits::LABEL_BYTES;
/// Ideas of its own that it weighs where no options are given.
const IDEAS: usize = 5;
/// Outcomes from which on an option can have proved itself, and the normal quantile of 95 %.
const LEAST: usize = 3;
const NORMAL: f64 = 1.645;
/// Strength with which the wave of an open goal starts. What arrives counts in proportion to `learning.goals`.
const GOAL_CUE: f64 = 0.2;
/// The neuron that stands for deciding, and the level to which a decision lights it.
const DECISION: &str = "n_core_decision";
const LIT: f64 = 0.5;
/// The agent that reads drafts of predictions.
const JUDGE: &str = "evaluator";
/// The agent that feels what came otherwise than expected, by as much as activation would be written back for.
const FEELER: &str = "affect";

/// How many of the first signals one run can answer: up to the second request, because a run has one prediction, and its outcome is that
/// of one choice.
pub(super) fn answerable(signals: &[Signal]) -> usize {
    let requests = signals.iter().enumerate().filter(|(_, signal)| request(signal).is_some());
    requests.map(|(at, _)| at).nth(1).unwrap_or(signals.len()).min(limits::SIGNALS_PER_RUN)
}

/// The query of a request. An answer carries the query that it answers; it is no new request.
fn request(signal: &Signal) -> Option<&str> {
    let tells = signal.payload_kind() == Some(kind::DECISION);
    signal.payload.get("query").and_then(Value::as_str).filter(|_| !tells)
}

/// The document that decision proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let profile = Profile::seed(&settings.activation);
    let mut decided = false;
    for signal in proposal.signals() {
        match request(signal) {
            // Stays unanswered, so that the next run takes it.
            Some(_) if decided => {}
            Some(query) => {
                let weighed = weigh(&proposal, signal, query, &profile, settings);
                decided = weighed.best.is_some();
                weighed.tell(&mut proposal, signal, query, &settings.learning);
                if decided {
                    light(&mut proposal, settings);
                }
            }
            None if signal.payload_kind() == Some(kind::ACTION_REQUIRED) => {
                proposal.acknowledge(signal, json!({"understood": false, "missing": "query"}));
            }
            None => proposal.acknowledge_other(signal),
        }
    }
    proposal.finish()
}

/// Lights the core of decision, and what that reaches: the way back to perception.
fn light(proposal: &mut Proposal<'_>, settings: &Settings) {
    if settings.activation.write_back == 0 {
        return;
    }
    let core = constant_id(DECISION);
    let Some(now) = proposal.live(&core).map(|n| f64::from(n.salience_at(proposal.snapshot.at)) / 65535.0) else {
        return;
    };
    if now < LIT {
        proposal.activate(&core, ((LIT - now) * 1000.0).round() / 1000.0);
    }
    for (id, rise) in reached(&[(core, 1.0)], proposal.snapshot, proposal.network, settings) {
        proposal.activate(&id, rise);
    }
}

/// One of the things to choose from.
struct Candidate {
    /// In words.
    option: String,
    /// The neuron that it is.
    id: NeuronId,
    /// How much the query activates it.
    score: f64,
    /// The connections by which, or the one that would be made.
    pathway: Vec<Edge>,
    /// Whether that one is still to be made.
    is_new: bool,
    /// What to expect of it.
    expected: Expectation,
    /// How often it was judged, and how many of its newest errors in a row are negative.
    judged: usize,
    disappointed: u32,
    /// Seeds of wisdom that its expectation began with.
    seeds: Vec<String>,
    /// Whether that is enough to leave it if another one is expected to be better.
    is_disappointing: bool,
    is_abandoned: bool,
}

/// What was weighed, and the choice.
struct Weighed {
    /// In the order given.
    candidates: Vec<Candidate>,
    /// Options that were left out: no text, too long, too many.
    ignored: usize,
    /// The chosen one's place, and its stance; none if there was nothing to choose from.
    best: Option<(usize, Stance)>,
    /// The error of the newest outcome of the question.
    newest_error: Option<f64>,
}

/// Scores the options of a request; without options, what the query itself brings up. Then expects of each what came of it before, and
/// chooses. Source: MagistraAI's technical note, 3.3.
fn weigh(proposal: &Proposal<'_>, signal: &Signal, query: &str, profile: &Profile, settings: &Settings) -> Weighed {
    let learning = &settings.learning;
    let given = signal.payload.get("options").and_then(Value::as_array);
    let mut options: Vec<String> = Vec::new();
    for option in given.into_iter().flatten().filter_map(Value::as_str) {
        let usable = option.len() <= OPTION_BYTES && check_concept(option).is_ok();
        if usable && options.len() < limits::OPTIONS && !options.iter().any(|o| o == option) {
            options.push(option.to_owned());
        }
    }
    let ignored = given.map_or(0, Vec::len) - options.len();
    let known = |option: &String| NeuronId::parse(option).ok().filter(|id| proposal.live(id).is_some());
    let ids: Vec<NeuronId> =
        options.iter().map(|o| known(o).unwrap_or_else(|| proposal.network.concept_named(o))).collect();
    let concepts: Vec<Vec<NeuronId>> = options.iter().map(|o| query::concept_ids(proposal.network, o)).collect();
    // A sub-goal says that an option has proved itself, and so does what is expected of it: it is counted once.
    let goals = proposal.snapshot.goals.iter().filter(|goal| goal.is_a_persons());
    let goals = goals.filter_map(|goal| goal.neuron.clone());
    let aims: Vec<(NeuronId, f64)> = goals.filter(|_| learning.goals > 0.0).map(|id| (id, GOAL_CUE)).collect();
    let aimed = aims.iter().map(|(id, _)| id.clone());
    let also: Vec<NeuronId> = ids.iter().cloned().chain(concepts.concat()).chain(aimed).collect();
    let found = query::ask(proposal, query, &also, profile);
    // What serves a goal counts beside what the query activates; the pathway is that of the query.
    // The wave is the same whatever the setting: one that starts stronger may reach an option by a weaker way, and first.
    let goals = found.strength_by(&aims, proposal.snapshot.at, profile);
    let by_goals = |id: &NeuronId| goals(id) * learning.goals / GOAL_CUE;
    let mut candidates: Vec<Candidate> = if given.is_some() {
        let weighed = options.into_iter().zip(&concepts).zip(&ids).map(|((option, concepts), id)| {
            let named = || concepts.iter().chain((!concepts.contains(id)).then_some(id));
            let score = named().map(|id| found.strength(id) + by_goals(id)).sum();
            let reached = named().filter(|id| found.strength(id) > 0.0);
            let most = reached.max_by(|a, b| found.strength(a).total_cmp(&found.strength(b)).then_with(|| b.cmp(a)));
            candidate(&found, query, option, id.clone(), most, score, &ids)
        });
        weighed.collect()
    } else {
        let ideas = found.ranked(&[Kind::Semantic]).into_iter();
        let trusted = |n: &Neuron| !settings.origins.is_tainted(&n.origin);
        // Words of the text that asks for action are no way to act on it.
        let said = named_in_episode(proposal, signal);
        let usable = |n: &Neuron| n.concept.len() <= OPTION_BYTES && is_idea(&n.concept) && !said.contains(&n.id);
        let ideas = ideas.filter(|(n, _)| usable(n) && trusted(n)).take(IDEAS);
        let idea =
            |(n, x): (&Neuron, f64)| candidate(&found, query, n.concept.clone(), n.id.clone(), Some(&n.id), x, &[]);
        ideas.map(idea).collect()
    };
    let temper = Temper::of(&proposal.snapshot.ledger, &proposal.snapshot.agent);
    let newest_error = look_back(proposal, query, &mut candidates, temper.patience(learning), learning);
    let best = decide(proposal, signal, &candidates, temper.exploration(learning));
    Weighed { candidates, ignored, best, newest_error }
}

/// The neurons that the memory behind a request names.
fn named_in_episode(proposal: &Proposal<'_>, signal: &Signal) -> Vec<NeuronId> {
    let episode = signal.payload.get("episode").and_then(Value::as_str).and_then(|id| NeuronId::parse(id).ok());
    let episode = episode.and_then(|id| proposal.live(&id));
    episode.into_iter().flat_map(|n| n.connections).map(|tie| tie.target).collect()
}

/// Whether a concept can be an idea: it has a word. Numbers and fragments of stamps are none.
fn is_idea(concept: &str) -> bool {
    let is_word =
        |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() > 1 && !word.contains(char::is_numeric);
    concept.split(|c: char| c.is_whitespace() || c == '-').any(is_word)
        || concept.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

/// A candidate with its pathway: the way by which the query reaches it, else a connection from what the query names, or from the question
/// itself, which is made if it is chosen, so that there is something to learn by.
fn candidate(
    found: &query::Answer,
    question: &str,
    option: String,
    id: NeuronId,
    reached: Option<&NeuronId>,
    score: f64,
    options: &[NeuronId],
) -> Candidate {
    let mut pathway = reached.map(|id| found.pathway(id)).unwrap_or_default();
    let is_new = pathway.is_empty();
    if is_new {
        let kinds = [Kind::Core, Kind::Contextual, Kind::Semantic];
        let names = |cue: &&NeuronId| {
            found.neurons.get(*cue).is_some_and(|n| kinds.contains(&n.kind)) && !options.contains(cue) && **cue != id
        };
        let cue = found.cues.iter().find(names).cloned().or_else(|| own_cue(question).filter(|cue| *cue != id));
        pathway.extend(cue.map(|from| Edge { from, to: id.clone(), link: Link::FeedsInto }));
    }
    let is_new = is_new && !pathway.is_empty();
    let expected = Expectation { value: 0.5, spread: 0.0, evidence: 0.0 };
    Candidate {
        option,
        id,
        score,
        pathway,
        is_new,
        expected,
        judged: 0,
        disappointed: 0,
        seeds: Vec::new(),
        is_disappointing: false,
        is_abandoned: false,
    }
}

/// The neuron that a question is, where it names nothing that is known.
fn own_cue(question: &str) -> Option<NeuronId> {
    (question.len() <= limits::LABEL_BYTES && check_concept(question).is_ok()).then(|| concept_id(question))
}

/// Fills in what to expect of each candidate, from the ledger. Returns the error of the newest outcome of the question.
fn look_back(
    proposal: &Proposal<'_>,
    question: &str,
    candidates: &mut [Candidate],
    patience: u32,
    learning: &Learning,
) -> Option<f64> {
    let question = clip(question, limits::LABEL_BYTES);
    let options: Vec<(&str, &[Edge])> = candidates.iter().map(|c| (c.option.as_str(), c.pathway.as_slice())).collect();
    let history = History::of(&proposal.snapshot.ledger, &proposal.snapshot.agent, &question, &options);
    // The share of the evidence, drawn to ½ by one unit of doubt: no evidence promises nothing.
    let total: f64 = candidates.iter().map(|c| c.score).sum();
    let counsel = &proposal.snapshot.counsel;
    let prior = |c: &Candidate| expected_of((c.score + 0.5) / (total + 1.0), &question, &c.option, counsel);
    let priors: Vec<f64> = candidates.iter().map(prior).collect();
    let expected = expectations(&priors, &history.outcomes(), learning.kept);
    let most = expected.iter().map(|e| e.value).fold(0.0, f64::max);
    for (at, (candidate, expected)) in candidates.iter_mut().zip(expected).enumerate() {
        candidate.expected = expected;
        candidate.judged = history.count(at);
        candidate.seeds = about(&candidate.option, counsel).map(|one| one.seed.clone()).collect();
        candidate.disappointed = history.disappointed(at);
        candidate.is_disappointing = patience > 0
            && candidate.disappointed >= patience
            && expected.value < UNSTATED
            && history.is_fresh(at, learning.kept);
        candidate.is_abandoned = candidate.is_disappointing && expected.value < most;
    }
    history.newest_error()
}

/// The choice: by expectation, explored by draws that the run's own id seeds.
fn decide(proposal: &Proposal<'_>, signal: &Signal, candidates: &[Candidate], width: f64) -> Option<(usize, Stance)> {
    let prospect = |c: &Candidate| Prospect { expected: c.expected, is_abandoned: c.is_abandoned };
    let prospects: Vec<Prospect> = candidates.iter().map(prospect).collect();
    let (run, request) = (proposal.snapshot.run.as_str(), signal.id.as_str());
    let draw = |at: usize| normal(hash_fields(&[run.as_bytes(), request.as_bytes(), candidates[at].option.as_bytes()]));
    let (at, leads) = choose(&prospects, width, draw)?;
    let chosen = &candidates[at];
    let stance = match (chosen.is_disappointing, leads && chosen.has_proved_itself()) {
        (true, _) => Stance::Abandon,
        (_, true) => Stance::Exploit,
        _ => Stance::Explore,
    };
    Some((at, stance))
}

impl Candidate {
    /// Whether its expectation is significantly above ½, by at least three outcomes: one-sided at 5 %.
    fn has_proved_itself(&self) -> bool {
        self.judged >= LEAST && self.expected.value - NORMAL * self.expected.spread > UNSTATED
    }

    /// Why it was chosen, in words.
    fn why(&self, stance: Stance) -> String {
        let Expectation { value, spread, .. } = self.expected;
        let expected = format!("expected {value:.2} ± {spread:.2}");
        let times = crate::model::plural(self.judged, "outcome", "outcomes");
        match stance {
            Stance::Explore if self.judged == 0 => {
                format!("nothing is known to be better, and of the outcomes looked back on none is of this: {expected}")
            }
            Stance::Explore => format!("nothing is known to be better: {expected} by {times}"),
            Stance::Exploit => format!("it has proved itself: {expected} by {times}"),
            Stance::Abandon => {
                format!("nothing better is left; it disappointed {} times in a row: {expected}", self.disappointed)
            }
        }
    }

    fn shown(&self) -> Value {
        let Expectation { value, spread, .. } = self.expected;
        let mut shown = json!({"option": self.option, "score": self.score});
        shown["expected"] = json!(rounded(value));
        shown["spread"] = json!(rounded(spread));
        if self.judged > 0 {
            shown["judged"] = json!(self.judged);
        }
        if !self.seeds.is_empty() {
            shown["seeds"] = json!(self.seeds);
        }
        if self.is_abandoned {
            shown["stance"] = json!(Stance::Abandon);
        }
        shown
    }
}

/// To a millionth, so that files stay legible.
fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

impl Weighed {
    /// Makes the choice a concept that is active, predicts, and answers.
    fn tell(&self, proposal: &mut Proposal<'_>, signal: &Signal, query: &str, learning: &Learning) {
        let Some((best, stance)) = self.best else {
            let mut payload = json!({"done": "nothing to decide", "choice": null});
            if self.ignored > 0 {
                payload["ignored"] = json!(self.ignored);
            }
            return proposal.acknowledge(signal, payload);
        };
        let choice = &self.candidates[best];
        let question = clip(query, limits::LABEL_BYTES);
        let (value, spread) = (rounded(choice.expected.value), rounded(choice.expected.spread));
        proposal.create_if_missing(&choice.id, &choice.option, Kind::Semantic);
        proposal.activate(&choice.id, value);
        let mut payload = json!({
            "kind": kind::DECISION,
            "request": signal.id,
            "query": question,
            "choice": choice.option,
            "expected": value,
            "spread": spread,
            "stance": stance,
            "why": choice.why(stance),
        });
        payload["scores"] = self.candidates.iter().map(Candidate::shown).collect();
        if self.ignored > 0 {
            payload["ignored"] = json!(self.ignored);
        }
        let is_agent = proposal.snapshot.agents.iter().any(|agent| agent.name == signal.from);
        if is_agent {
            proposal.send(&signal.from, payload);
            proposal.acknowledge(signal, json!({"done": "decided", "choice": choice.option}));
        } else {
            // A person reads the acknowledgement; nobody would answer a signal to one.
            payload["done"] = json!("decided");
            proposal.acknowledge(signal, payload);
        }
        let text = format!("\"{}\" serves \"{question}\"", choice.option);
        let chosen = check_concept(&question).is_ok().then(|| Chosen { question, option: choice.option.clone() });
        let pathway = choice.connect(proposal, query, learning);
        let (said, value) = (Some(clip(&text, limits::CONCEPT_BYTES)), Some(value));
        let draft = json!({"kind": kind::PREDICTION, "text": said, "value": value});
        proposal.predict(Prediction { text: said, value, pathway, spread: Some(spread), chosen });
        // A draft of the future, for others to read; it strengthens nothing.
        if let Some(judge) = proposal.snapshot.agents.iter().find(|agent| agent.name.as_str() == JUDGE) {
            proposal.send(&judge.name, draft);
        }
        self.tell_surprise(proposal);
    }

    /// Tells affect how far the newest outcome of the question was from what was expected.
    fn tell_surprise(&self, proposal: &mut Proposal<'_>) {
        let Some(error) = self.newest_error.filter(|error| error.abs() >= RISE) else { return };
        if let Some(feeler) = proposal.snapshot.agents.iter().find(|agent| agent.name.as_str() == FEELER) {
            proposal.send(&feeler.name, json!({"kind": kind::SURPRISE, "error": rounded(error)}));
        }
    }
}

impl Candidate {
    /// The pathway that the choice relies on, made if it is new.
    fn connect(&self, proposal: &mut Proposal<'_>, question: &str, learning: &Learning) -> Vec<Edge> {
        if !self.is_new {
            return self.pathway.clone();
        }
        for edge in &self.pathway {
            if own_cue(question).is_some_and(|cue| cue == edge.from) {
                proposal.create_if_missing(&edge.from, question, Kind::Contextual);
            }
        }
        // Nothing is connected to what is archived.
        if !self.pathway.iter().all(|edge| proposal.knows(&edge.from) && proposal.knows(&edge.to)) {
            return Vec::new();
        }
        self.pathway.iter().for_each(|edge| proposal.connect(edge.clone(), learning.connect_floor));
        self.pathway.clone()
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
