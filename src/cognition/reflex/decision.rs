//! Decision: scores options by what a query activates, looks back on how their pathways did, predicts, and tells whoever asked.
//!
//! It never sees raw input, only neurons and signals that others have already worked on (MagistraAI's technical note, 4.2):
//! nothing here reads the snapshot's stimuli.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::proposal::{Proposal, clip};
use super::{kind, query};
use crate::activation::Profile;
use crate::chemistry::dopamine::{Stance, Track, errors_of, track};
use crate::cognition::{Network, Snapshot};
use crate::delta::{Document, Edge};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::neuron::check_concept;
use crate::model::settings::Learning;
use crate::model::{Kind, Link, Neuron, Settings, Signal};

/// Options that are weighed, and how long one may be: an answer lists all of them within one payload.
const OPTIONS: usize = 24;
const OPTION_BYTES: usize = limits::LABEL_BYTES;
/// Ideas of its own that it weighs where no options are given.
const IDEAS: usize = 5;
/// Requests decided in one run: each costs a propagation and up to five operations.
const REQUESTS: usize = 50;
/// The agent that reads drafts of predictions.
const JUDGE: &str = "evaluator";

/// What decision proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let profile = Profile::seed(&settings.activation);
    let mut expected = Vec::new();
    for signal in proposal.signals() {
        // An answer carries the query that it answers; it is no new request.
        let tells = signal.payload_kind() == Some(kind::DECISION);
        match signal.payload.get("query").and_then(Value::as_str).filter(|_| !tells) {
            Some(query) if expected.len() < REQUESTS => {
                let choice = weigh(&proposal, signal, query, &profile, &settings.learning);
                let pathway = choice.tell(&mut proposal, signal, query, &settings.learning);
                expected.push((choice.expectation(query), choice.value, pathway));
            }
            // Stays unanswered, so that the next run takes it.
            Some(_) => {}
            None if signal.payload_kind() == Some(kind::ACTION_REQUIRED) => {
                proposal.acknowledge(signal, json!({"understood": false, "missing": "query"}));
            }
            None => proposal.acknowledge_other(signal),
        }
    }
    if !expected.is_empty() {
        let texts: Vec<&str> = expected.iter().map(|(text, ..)| text.as_str()).collect();
        let mean = expected.iter().map(|(_, value, _)| value).sum::<f64>() / expected.len() as f64;
        let text = clip(&texts.join("; "), limits::CONCEPT_BYTES);
        let pathways = expected.into_iter().flat_map(|(.., pathway)| pathway).collect();
        proposal.predict(&text, mean, pathways);
        // A draft of the future, for others to read; it strengthens nothing.
        if let Some(judge) = snapshot.agents.iter().find(|agent| agent.name.as_str() == JUDGE) {
            proposal.send(&judge.name, json!({"kind": kind::PREDICTION, "text": text, "value": mean}));
        }
    }
    proposal.finish()
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
    /// True if that one is still to be made.
    is_new: bool,
    /// How the pathway did so far.
    track: Track,
}

/// What was chosen, out of what.
struct Choice {
    /// In the order given.
    candidates: Vec<Candidate>,
    /// Options that were left out: no text, too long, too many.
    ignored: usize,
    /// The chosen one's place; none if there was nothing to choose from.
    best: Option<usize>,
    /// How good the outcome is expected to be, 0..=1.
    value: f64,
}

/// Scores the options of a request; without options, what the query itself brings up.
fn weigh(proposal: &Proposal<'_>, signal: &Signal, query: &str, profile: &Profile, learning: &Learning) -> Choice {
    let given = signal.payload.get("options").and_then(Value::as_array);
    let mut options: Vec<String> = Vec::new();
    for option in given.into_iter().flatten().filter_map(Value::as_str) {
        let usable = option.len() <= OPTION_BYTES && check_concept(option).is_ok();
        if usable && options.len() < OPTIONS && !options.iter().any(|o| o == option) {
            options.push(option.to_owned());
        }
    }
    let ignored = given.map_or(0, Vec::len) - options.len();
    let concepts: Vec<Vec<NeuronId>> = options.iter().map(|o| query::concept_ids(proposal.network, o)).collect();
    let found = query::ask(proposal, query, &concepts.concat(), profile);
    let candidates: Vec<Candidate> = if given.is_some() {
        let weighed = options.into_iter().zip(&concepts).map(|(option, ids)| {
            let score = ids.iter().map(|id| found.strength(id)).sum();
            let reached = ids.iter().filter(|id| found.strength(id) > 0.0);
            let most = reached.max_by(|a, b| found.strength(a).total_cmp(&found.strength(b)).then_with(|| b.cmp(a)));
            let id = proposal.network.concept_named(&option);
            candidate(proposal, &found, option, id, most, score, learning)
        });
        weighed.collect()
    } else {
        let ideas = found.ranked(&[Kind::Semantic]).into_iter().filter(|(n, _)| n.concept.len() <= OPTION_BYTES);
        let ideas = ideas.take(IDEAS);
        let idea = |(n, x): (&Neuron, f64)| {
            candidate(proposal, &found, n.concept.clone(), n.id.clone(), Some(&n.id), x, learning)
        };
        ideas.map(idea).collect()
    };
    let best = choose(&candidates);
    // The share of the evidence, drawn to ½ by one unit of doubt: no evidence promises nothing.
    let total: f64 = candidates.iter().map(|c| c.score).sum();
    let value = best.map_or(0.0, |b| (candidates[b].score + 0.5) / (total + 1.0));
    Choice { candidates, ignored, best, value }
}

/// A candidate with its pathway: the way by which the query reaches it, else a connection from what the query names, which is made if it is
/// chosen, so that there is something to learn by.
fn candidate(
    proposal: &Proposal<'_>,
    found: &query::Answer,
    option: String,
    id: NeuronId,
    reached: Option<&NeuronId>,
    score: f64,
    learning: &Learning,
) -> Candidate {
    let mut pathway = reached.map(|id| found.pathway(id)).unwrap_or_default();
    let is_new = pathway.is_empty() && !found.cues.contains(&id);
    if is_new {
        let kinds = [Kind::Core, Kind::Contextual, Kind::Semantic];
        let cue = found.cues.iter().find(|cue| found.neurons.get(*cue).is_some_and(|n| kinds.contains(&n.kind)));
        pathway.extend(cue.map(|cue| Edge { from: cue.clone(), to: id.clone(), link: Link::FeedsInto }));
    }
    let track = track(&errors_of(&proposal.snapshot.ledger, &pathway), learning);
    Candidate { option, id, score, is_new: is_new && !pathway.is_empty(), pathway, track }
}

/// Exploit what has proved itself, by the greatest score; else explore what is not abandoned, the least tried first, then the greatest
/// score; what is abandoned only if nothing else is there. Of equal ones the first. Source: MagistraAI's technical note, 3.3.
fn choose(candidates: &[Candidate]) -> Option<usize> {
    let best = |stance: Stance, before: &dyn Fn(&Candidate, &Candidate) -> Ordering| {
        let of = candidates.iter().enumerate().filter(|(_, c)| c.track.stance == stance);
        of.min_by(|(i, a), (j, b)| before(a, b).then(i.cmp(j))).map(|(at, _)| at)
    };
    let by_score = |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score);
    let by_tries = |a: &Candidate, b: &Candidate| a.track.count.cmp(&b.track.count).then_with(|| by_score(a, b));
    best(Stance::Exploit, &by_score)
        .or_else(|| best(Stance::Explore, &by_tries))
        .or_else(|| best(Stance::Abandon, &by_score))
}

impl Candidate {
    /// Why it was chosen, in words.
    fn why(&self) -> String {
        let (count, mean) = (self.track.count, (self.track.mean * 1000.0).round() / 1000.0);
        match self.track.stance {
            Stance::Explore if count == 0 => "nothing has proved itself, and this was never judged".to_owned(),
            Stance::Explore => format!("nothing has proved itself; judged {count} times, mean error {mean:+}"),
            Stance::Exploit => format!("it has proved itself: judged {count} times, mean error {mean:+}"),
            Stance::Abandon => {
                format!("nothing else is left; it disappointed {} times in a row", self.track.negative_in_row)
            }
        }
    }

    fn shown(&self) -> Value {
        let mut shown = json!({"option": self.option, "score": self.score});
        if self.track.count > 0 {
            shown["stance"] = json!(self.track.stance);
            shown["judged"] = json!(self.track.count);
        }
        shown
    }
}

impl Choice {
    fn chosen(&self) -> Option<&Candidate> {
        self.best.map(|b| &self.candidates[b])
    }

    fn expectation(&self, query: &str) -> String {
        let query = clip(query, limits::LABEL_BYTES);
        match self.chosen() {
            Some(choice) => format!("\"{}\" serves \"{query}\"", choice.option),
            None => format!("nothing known serves \"{query}\""),
        }
    }

    /// Makes the choice a concept that is active, and answers. Returns the pathway that the choice relies on.
    fn tell(&self, proposal: &mut Proposal<'_>, signal: &Signal, query: &str, learning: &Learning) -> Vec<Edge> {
        let chosen = self.chosen();
        if let Some(choice) = chosen {
            proposal.create_if_missing(&choice.id, &choice.option, Kind::Semantic);
            proposal.activate(&choice.id, self.value);
        }
        let option = chosen.map(|choice| choice.option.as_str());
        let mut payload = json!({
            "kind": kind::DECISION,
            "request": signal.id,
            "query": clip(query, limits::LABEL_BYTES),
            "choice": option,
            "expected": self.value,
        });
        if let Some(choice) = chosen {
            payload["stance"] = json!(choice.track.stance);
            payload["why"] = json!(choice.why());
        }
        payload["scores"] = self.candidates.iter().map(Candidate::shown).collect();
        if self.ignored > 0 {
            payload["ignored"] = json!(self.ignored);
        }
        proposal.send(&signal.from, payload);
        proposal.acknowledge(signal, json!({"done": "decided", "choice": option}));
        let Some(choice) = chosen else { return Vec::new() };
        if choice.is_new {
            match proposal.knows(&choice.id) {
                true => choice.pathway.iter().for_each(|edge| proposal.connect(edge.clone(), learning.connect_floor)),
                // Archived: nothing is connected to it.
                false => return Vec::new(),
            }
        }
        choice.pathway.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::World;
    use crate::model::document::Rule;
    use crate::model::ids::concept_id;
    use crate::model::{Kind, Link};

    /// Rain brings up umbrella strongly and boots weakly.
    fn rain() -> World {
        let mut world = World::new("decision");
        for name in ["rain", "umbrella", "boots"] {
            world.concept(name, 65535);
        }
        world.link("rain", Link::FeedsInto, "umbrella", 65535);
        world.link("rain", Link::FeedsInto, "boots", 26214);
        world
    }

    #[test]
    fn it_chooses_what_the_query_activates_most_and_tells_the_asker() {
        let mut world = rain();
        let options = ["boots", "an umbrella", "sandals"];
        world.signal("affect", json!({"kind": "action_required", "query": "Rain today", "options": options}));
        let ops = world.think(Rule::Decision);
        let choice = concept_id("an umbrella");
        assert_eq!(ops[0], format!("create {choice} semantic"));
        assert!(ops[1].starts_with(&format!("activate {choice} 0.6")), "{}", ops[1]);
        assert!(ops[2].starts_with("signal affect {\"kind\":\"decision\",\"request\":\"g1\""), "{}", ops[2]);
        assert!(
            ops[2].contains("\"choice\":\"an umbrella\"") && ops[2].contains("{\"option\":\"sandals\",\"score\":0.0}")
        );
        assert_eq!(ops[3..], ["acknowledge g1 {\"done\":\"decided\",\"choice\":\"an umbrella\"}"]);
        let prediction = world.document(Rule::Decision).prediction.unwrap();
        assert_eq!(prediction.text.unwrap(), "\"an umbrella\" serves \"Rain today\"");
        assert!((prediction.value.unwrap() - 1.4 / 2.26).abs() < 1e-12);
    }

    #[test]
    fn it_never_sees_raw_input() {
        let mut world = rain();
        world.signal("affect", json!({"kind": "action_required", "query": "rain", "options": ["boots", "umbrella"]}));
        let blind = world.document(Rule::Decision);
        world.stimulus("Take the boots, boots, boots: rain boots!");
        assert_eq!(world.document(Rule::Decision), blind);
        let mut world = World::new("decision");
        world.stimulus("Decide now: what is the best umbrella?");
        assert!(world.think(Rule::Decision).is_empty());
    }

    #[test]
    fn of_equal_options_the_first_wins_and_nothing_is_promised() {
        let mut world = rain();
        world.signal("memory", json!({"kind": "action_required", "query": "snow", "options": ["ski", "sledge"]}));
        let document = world.document(Rule::Decision);
        assert_eq!(document.prediction.unwrap().value, Some(0.5));
        assert!(world.think(Rule::Decision)[3].contains("\"choice\":\"ski\""));
    }

    #[test]
    fn without_options_it_has_ideas_of_its_own() {
        let mut world = rain();
        world.neuron("e1", "raw words about rain", Kind::Episodic, 65535);
        world.link("e1", Link::Recalls, "rain", 65535);
        world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
        let ops = world.think(Rule::Decision);
        assert!(ops[0].starts_with(&format!("activate {} ", concept_id("umbrella"))), "{}", ops[0]);
        assert!(!ops.concat().contains("raw words"));
        // An idea is the neuron it came from, whatever its id.
        let mut world = World::new("decision");
        world.concept("rain", 65535);
        world.neuron("hat", "a hat", Kind::Semantic, 65535);
        world.link("rain", Link::FeedsInto, "hat", 65535);
        world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
        assert!(world.think(Rule::Decision)[0].starts_with("activate hat "));
        let mut world = World::new("decision");
        world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
        let ops = world.think(Rule::Decision);
        assert!(ops[0].contains("\"choice\":null") && ops.len() == 2, "{ops:?}");
    }

    #[test]
    fn it_never_writes_to_itself_and_answers_everything() {
        let mut world = rain();
        world.signal("decision", json!({"query": "rain", "options": ["boots"]}));
        world.signal("affect", json!({"kind": "action_required"}));
        world.signal("memory", json!({"kind": "weather"}));
        world.signal("affect", json!({"kind": "decision", "query": "rain", "options": ["boots"]}));
        let ops = world.think(Rule::Decision);
        assert!(!ops.iter().any(|op| op.starts_with("signal")), "{ops:?}");
        assert_eq!(ops.iter().filter(|op| op.starts_with("acknowledge")).count(), 4);
    }

    #[test]
    fn hostile_options_stay_within_the_limits() {
        let mut world = rain();
        let mut options: Vec<serde_json::Value> = (0..60).map(|i| json!(format!("{i}{}", "\"".repeat(200)))).collect();
        options.extend([json!(""), json!(7), json!("a\u{7}"), json!("x".repeat(257))]);
        world.signal("affect", json!({"query": "rain", "options": options}));
        let ops = world.think(Rule::Decision);
        assert!(ops[2].contains("\"ignored\":40"), "{}", ops[2]);
    }

    /// Rain brings up an umbrella; boots are known, and nothing leads there yet.
    fn asked(errors: &[(&str, f64)]) -> World {
        let mut world = World::new("decision");
        world.agents(&["affect", "decision", "evaluator"]);
        for name in ["rain", "umbrella", "boots"] {
            world.concept(name, 65535);
        }
        world.link("rain", Link::FeedsInto, "umbrella", 65535);
        for (to, error) in errors {
            world.judged(&[("rain", Link::FeedsInto, to)], *error);
        }
        world.signal("affect", json!({"query": "rain", "options": ["boots", "umbrella"]}));
        world
    }

    /// The choice, its stance, and the whole answer.
    fn answered(world: &World) -> (String, String, String) {
        let ops = world.think(Rule::Decision);
        let answer = ops.iter().find(|op| op.starts_with("signal affect ")).unwrap();
        let payload: serde_json::Value = serde_json::from_str(&answer["signal affect ".len()..]).unwrap();
        let word = |key: &str| payload[key].as_str().unwrap().to_owned();
        (word("choice"), word("stance"), answer.clone())
    }

    #[test]
    fn what_was_never_judged_is_explored_by_its_score_then_what_was_tried_least() {
        let (choice, stance, answer) = answered(&asked(&[]));
        assert_eq!((choice.as_str(), stance.as_str()), ("umbrella", "explore"));
        assert!(answer.contains("never judged"), "{answer}");
        let (choice, _, answer) = answered(&asked(&[("umbrella", 0.1)]));
        assert_eq!(choice, "boots", "the other has been tried once");
        assert!(
            answer.contains("{\"option\":\"umbrella\",\"score\":0.9,\"stance\":\"explore\",\"judged\":1}"),
            "{answer}"
        );
        assert_eq!(answered(&asked(&[("umbrella", 0.1), ("boots", 0.1)])).0, "umbrella");
    }

    #[test]
    fn what_proved_itself_is_exploited_and_what_disappoints_is_left() {
        let good = [("boots", 0.2), ("boots", 0.3), ("boots", 0.25)];
        let (choice, stance, answer) = answered(&asked(&good));
        assert_eq!((choice.as_str(), stance.as_str()), ("boots", "exploit"));
        assert!(answer.contains("judged 3 times, mean error +0.25"), "{answer}");
        let bad = [("umbrella", -0.1); 3];
        assert_eq!(answered(&asked(&bad)).0, "boots");
        let worse: Vec<(&str, f64)> = bad.into_iter().chain([("boots", -0.1); 9]).collect();
        let (choice, stance, answer) = answered(&asked(&worse));
        assert_eq!((choice.as_str(), stance.as_str()), ("umbrella", "abandon"), "nothing else is left");
        assert!(answer.contains("disappointed 3 times in a row"), "{answer}");
        let other = [("snow", 0.3), ("snow", 0.3), ("snow", 0.3)];
        let mut world = asked(&[]);
        world.concept("snow", 65535);
        other.iter().for_each(|(from, error)| world.judged(&[(from, Link::FeedsInto, "boots")], *error));
        assert_eq!(answered(&world).0, "umbrella", "what served in snow says nothing of rain");
    }

    #[test]
    fn it_predicts_by_the_way_it_came_and_makes_one_where_there_is_none() {
        let document = asked(&[]).document(Rule::Decision);
        let prediction = document.prediction.unwrap();
        let [edge] = prediction.pathway.as_slice() else { panic!("{:?}", prediction.pathway) };
        assert_eq!((&edge.from, &edge.to, edge.link), (&concept_id("rain"), &concept_id("umbrella"), Link::FeedsInto));
        let world = asked(&[("umbrella", 0.1)]);
        let (ops, document) = (world.think(Rule::Decision), world.document(Rule::Decision));
        let made = format!("connect {} feeds_into {} 1024", concept_id("rain"), concept_id("boots"));
        assert!(ops.contains(&made), "{ops:?}");
        assert_eq!(document.prediction.unwrap().pathway[0].to, concept_id("boots"));
    }

    #[test]
    fn its_prediction_goes_round_as_a_draft() {
        let ops = asked(&[]).think(Rule::Decision);
        let draft = ops.iter().find(|op| op.starts_with("signal evaluator ")).unwrap();
        let start =
            "signal evaluator {\"kind\":\"prediction\",\"text\":\"\\\"umbrella\\\" serves \\\"rain\\\"\",\"value\":";
        assert!(draft.starts_with(start), "{draft}");
    }
}
