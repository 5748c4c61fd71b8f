//! Decision: scores options by what a query activates, predicts, and tells whoever asked.
//!
//! It never sees raw input, only neurons and signals that others have already worked on (MagistraAI's technical note, 4.2):
//! nothing here reads the snapshot's stimuli.

use serde_json::{Value, json};

use super::proposal::{Proposal, clip};
use super::{kind, query};
use crate::activation::Profile;
use crate::cognition::{Network, Snapshot};
use crate::delta::Document;
use crate::limits;
use crate::model::ids::{NeuronId, concept_id};
use crate::model::neuron::check_concept;
use crate::model::{Kind, Settings, Signal};

/// Options that are weighed, and how long one may be: an answer lists all of them within one payload.
const OPTIONS: usize = 24;
const OPTION_BYTES: usize = limits::LABEL_BYTES;
/// Ideas of its own that it weighs where no options are given.
const IDEAS: usize = 5;
/// Requests decided in one run: each costs a propagation and up to four operations.
const REQUESTS: usize = 50;

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
                let choice = weigh(&proposal, signal, query, &profile);
                expected.push((choice.expectation(query), choice.value));
                choice.tell(&mut proposal, signal, query);
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
        let texts: Vec<&str> = expected.iter().map(|(text, _)| text.as_str()).collect();
        let mean = expected.iter().map(|(_, value)| value).sum::<f64>() / expected.len() as f64;
        proposal.predict(&texts.join("; "), mean, Vec::new());
    }
    proposal.finish()
}

/// What was chosen, out of what.
struct Choice {
    /// Options in the order given, each with the neuron it is and its score.
    scores: Vec<(String, NeuronId, f64)>,
    /// Options that were left out: no text, too long, too many.
    ignored: usize,
    /// The chosen one's place in `scores`; none if there was nothing to choose from.
    best: Option<usize>,
    /// How good the outcome is expected to be, 0..=1.
    value: f64,
}

/// Scores the options of a request; without options, what the query itself brings up.
fn weigh(proposal: &Proposal<'_>, signal: &Signal, query: &str, profile: &Profile) -> Choice {
    let given = signal.payload.get("options").and_then(Value::as_array);
    let mut options: Vec<String> = Vec::new();
    for option in given.into_iter().flatten().filter_map(Value::as_str) {
        let usable = option.len() <= OPTION_BYTES && check_concept(option).is_ok();
        if usable && options.len() < OPTIONS && !options.iter().any(|o| o == option) {
            options.push(option.to_owned());
        }
    }
    let ignored = given.map_or(0, Vec::len) - options.len();
    let concepts: Vec<Vec<NeuronId>> = options.iter().map(|o| query::concept_ids(o)).collect();
    let found = query::ask(proposal, query, &concepts.concat(), profile);
    let scores: Vec<(String, NeuronId, f64)> = if given.is_some() {
        let score = |ids: &Vec<NeuronId>| ids.iter().map(|id| found.strength(id)).sum();
        options.into_iter().zip(&concepts).map(|(o, ids)| (o.clone(), concept_id(&o), score(ids))).collect()
    } else {
        let ideas = found.ranked(&[Kind::Semantic]).into_iter().filter(|(n, _)| n.concept.len() <= OPTION_BYTES);
        ideas.take(IDEAS).map(|(n, x)| (n.concept.clone(), n.id.clone(), x)).collect()
    };
    let mut best: Option<usize> = None;
    for (at, (_, _, score)) in scores.iter().enumerate() {
        if best.is_none_or(|b| *score > scores[b].2) {
            best = Some(at);
        }
    }
    // The share of the evidence, drawn to ½ by one unit of doubt: no evidence promises nothing.
    let total: f64 = scores.iter().map(|(_, _, s)| s).sum();
    let value = best.map_or(0.0, |b| (scores[b].2 + 0.5) / (total + 1.0));
    Choice { scores, ignored, best, value }
}

impl Choice {
    fn chosen(&self) -> Option<&str> {
        self.best.map(|b| self.scores[b].0.as_str())
    }

    fn expectation(&self, query: &str) -> String {
        let query = clip(query, limits::LABEL_BYTES);
        match self.chosen() {
            Some(choice) => format!("\"{choice}\" serves \"{query}\""),
            None => format!("nothing known serves \"{query}\""),
        }
    }

    /// Makes the choice a concept that is active, and answers.
    fn tell(&self, proposal: &mut Proposal<'_>, signal: &Signal, query: &str) {
        if let Some((choice, id, _)) = self.best.map(|b| &self.scores[b]) {
            proposal.create_if_missing(id, choice, Kind::Semantic);
            proposal.activate(id, self.value);
        }
        let scores: Vec<Value> =
            self.scores.iter().map(|(option, _, score)| json!({"option": option, "score": score})).collect();
        let mut payload = json!({
            "kind": kind::DECISION,
            "request": signal.id,
            "query": clip(query, limits::LABEL_BYTES),
            "choice": self.chosen(),
            "expected": self.value,
            "scores": scores,
        });
        if self.ignored > 0 {
            payload["ignored"] = json!(self.ignored);
        }
        proposal.send(&signal.from, payload);
        proposal.acknowledge(signal, json!({"done": "decided", "choice": self.chosen()}));
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
}
