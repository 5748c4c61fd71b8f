//! Memory: links what fired together, answers questions, archives what is asked and what fell silent.
//!
//! Links: the strongest concepts of one episode, in pairs, both ways. A new link gets a fixed weight; an existing one
//! grows by the Hebbian rule, which saturates: Δw = round(HEBB · a(u) · a(v) · (1 − w/65535)). Source:
//! MagistraAI's technical note, 1.3 and 9.2. Each pair is linked once a signal, however many of its episodes name it: what
//! one run perceived is one coincidence. So it plays no part how many signals one run answers. A concept that has very many connections
//! gets no new ones from here; what it goes with is tied to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::proposal::{Proposal, clip};
use super::query::{self, Concept};
use super::{FOUNDATIONS, kind};
use crate::cognition::{Network, Snapshot};
use crate::delta::{Document, Edge, hebbian_change};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::settings::Learning;
use crate::model::{Kind, Link, Neuron, Settings, Signal};

/// Weight of a new link between concepts, unless the least allowed one is greater.
const NEW_LINK: u16 = 2048;
/// A circumstance that was silent for longer, and never came up twice, is archived. Hours: 30 days.
const SILENT_HOURS: u64 = 720;
const SILENT_COUNT: u32 = 2;
/// Circumstances archived in one run.
const ARCHIVES: usize = 50;
/// Bytes of a concept in an answer, so that ten of them fit a payload whatever they hold.
const EXCERPT_BYTES: usize = 480;
/// Bytes of the best memory, which is answered in full as far as it fits beside the excerpts.
const ANSWER_BYTES: usize = 2048;
/// Questions answered in one run: full answers to all of them still fit a document. The rest wait for the next run.
const QUESTIONS: usize = 40;

/// Operations that link one episode: its strongest concepts in pairs, both ways.
const LINKS: usize = query::STRONGEST * (query::STRONGEST - 1);

/// How many of the first signals one run can answer: all that tell of episodes whose links fit, and of others few, because
/// a question takes long.
pub(super) fn answerable(signals: &[Signal]) -> usize {
    let mut left = limits::RUN_OPS - ARCHIVES;
    let fits = |signal: &&Signal| {
        let cost = match signal.payload_kind() {
            Some(kind::PERCEIVED) => 1 + LINKS * listed(signal).len(),
            _ => limits::RUN_OPS / (limits::SIGNALS_PER_RUN + 1),
        };
        left.checked_sub(cost).map(|rest| left = rest).is_some()
    };
    signals.iter().take_while(fits).count()
}

/// The episodes that a signal names, as they stand there.
fn listed(signal: &Signal) -> &[Value] {
    signal.payload.get("episodes").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What memory proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let signals = proposal.signals();
    // Archives first, so that nothing is linked to what goes.
    let mut archive_answers = Vec::new();
    for signal in signals.iter().filter(|s| s.payload_kind() == Some(kind::ARCHIVE)) {
        archive_answers.push(archive_on_request(&mut proposal, signal));
    }
    archive_silent(&mut proposal);

    let mut archive_answers = archive_answers.into_iter();
    let mut links = Links { reserve: signals.len(), ..Links::default() };
    let mut questions = 0;
    let mut answers = Vec::new();
    for signal in signals {
        let question = signal.payload.get("query").and_then(Value::as_str);
        let answer = match (signal.payload_kind(), question) {
            (Some(kind::ARCHIVE), _) => archive_answers.next(),
            (Some(kind::DECISION), _) => None,
            (Some(kind::PERCEIVED), _) => {
                let ids = listed(signal).iter().filter_map(Value::as_str);
                let episodes = ids.filter_map(|id| NeuronId::parse(id).ok());
                links.pairs.clear();
                let (mut linked, mut left) = (0, 0);
                for episode in episodes {
                    match links.link(&proposal, &episode, &settings.learning) {
                        Linked::Done => linked += 1,
                        Linked::Nothing => {}
                        Linked::Full => left += 1,
                    }
                }
                let pairs = links.pairs.len();
                Some(json!({"done": "linked", "episodes": linked, "pairs": pairs, "left": left}))
            }
            (_, Some(_)) if questions == QUESTIONS => continue,
            (_, Some(question)) => {
                questions += 1;
                Some(answer(&proposal, signal, question, settings))
            }
            _ => None,
        };
        answers.push((signal, answer));
    }
    links.pairs.clear();
    for episode in &snapshot.active {
        links.link(&proposal, episode, &settings.learning);
    }
    links.propose(&mut proposal);
    for (signal, answer) in answers {
        match answer {
            Some(answer) => proposal.acknowledge(signal, answer),
            None => proposal.acknowledge_other(signal),
        }
    }
    proposal.finish()
}

/// What came of an episode.
enum Linked {
    /// Its concepts are linked.
    Done,
    /// It is none, names no active concept, or was linked before.
    Nothing,
    /// It does not fit this document any more.
    Full,
}

/// What was linked so far.
#[derive(Default)]
struct Links {
    /// Pairs that the signal at hand has linked.
    pairs: BTreeSet<(NeuronId, NeuronId)>,
    /// By how much each connection is to grow, and its weight in the network; `None`: it is new.
    grown: BTreeMap<Edge, (Option<u16>, i32)>,
    episodes: BTreeSet<NeuronId>,
    /// Operations to leave for answers.
    reserve: usize,
}

impl Links {
    /// Links the strongest concepts of an episode.
    fn link(&mut self, proposal: &Proposal<'_>, episode: &NeuronId, learning: &Learning) -> Linked {
        if self.episodes.contains(episode) {
            return Linked::Nothing;
        }
        if proposal.room() < self.grown.len() + self.reserve + LINKS {
            return Linked::Full;
        }
        let concepts = query::strongest_concepts(proposal, episode);
        if concepts.is_empty() {
            return Linked::Nothing;
        }
        self.episodes.insert(episode.clone());
        for (i, a) in concepts.iter().enumerate() {
            for b in &concepts[i + 1..] {
                let (a, b) = if a.neuron.id < b.neuron.id { (a, b) } else { (b, a) };
                if self.pairs.insert((a.neuron.id.clone(), b.neuron.id.clone())) {
                    self.strengthen(a, b, learning);
                    self.strengthen(b, a, learning);
                }
            }
        }
        Linked::Done
    }
}

impl Links {
    /// Lets the connection from one concept to another grow. A new one gets the weight of a new one as often as an episode asks
    /// for it, as if each had had its own run.
    fn strengthen(&mut self, from: &Concept, to: &Concept, learning: &Learning) {
        let edge = Edge { from: from.neuron.id.clone(), to: to.neuron.id.clone(), link: Link::FeedsInto };
        let there = from.neuron.connection(&edge.to, edge.link).map(|c| c.weight);
        if there.is_none() && from.neuron.connections.len() >= limits::LINKED_CONCEPTS {
            return;
        }
        let by = match there {
            None => i32::from(NEW_LINK.max(learning.connect_floor)),
            Some(weight) => hebbian_change(learning.hebb, from.activity, to.activity, weight),
        };
        let grown = &mut self.grown.entry(edge).or_insert((there, 0)).1;
        *grown = grown.saturating_add(by);
    }

    /// Proposes what has grown: one operation a connection, and no weight above the greatest.
    fn propose(self, proposal: &mut Proposal<'_>) {
        for (edge, (there, by)) in self.grown {
            match there {
                None => proposal.connect(edge, u16::try_from(by).unwrap_or(u16::MAX)),
                Some(weight) => proposal.adjust(edge, by.min(i32::from(u16::MAX - weight))),
            }
        }
    }
}

/// Archives the neuron that a signal names, and says so, or why not.
fn archive_on_request(proposal: &mut Proposal<'_>, signal: &Signal) -> Value {
    let named = signal.payload.get("id").and_then(Value::as_str);
    let shown = named.map(|id| clip(id, limits::ID_BYTES));
    let refused = |why: &str| json!({"done": false, "id": shown, "refused": why});
    let Some(id) = named.and_then(|id| NeuronId::parse(id).ok()) else { return refused("no id") };
    let Some(neuron) = proposal.network.neuron(&id) else { return refused("absent") };
    if let Some(why) = protection(&neuron) {
        return refused(why);
    }
    if !neuron.is_archived() {
        let reason = signal.payload.get("reason").and_then(Value::as_str).unwrap_or("");
        let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
        let reason = match reason.trim() {
            "" => format!("asked by {}", signal.from),
            reason => format!("asked by {}: {}", signal.from, clip(reason, limits::LABEL_BYTES)),
        };
        proposal.archive(&id, reason);
    }
    json!({"done": "archived", "id": id})
}

/// Why a neuron must stay, if it must.
fn protection(neuron: &Neuron) -> Option<&'static str> {
    match neuron {
        n if n.pinned => Some("pinned"),
        n if n.kind == Kind::Core => Some("core"),
        n if FOUNDATIONS.contains(&n.id.as_str()) => Some("foundation"),
        _ => None,
    }
}

/// Archives circumstances of the context that came up at most once, long ago.
fn archive_silent(proposal: &mut Proposal<'_>) {
    let snapshot = proposal.snapshot;
    let silent = snapshot.neurons.iter().filter(|n| {
        let last = n.last_activated.unwrap_or(n.created_at);
        n.kind == Kind::Contextual
            && protection(n).is_none()
            && !n.is_archived()
            && n.activation_count < SILENT_COUNT
            && snapshot.at.seconds_since(last) > SILENT_HOURS * 3600
    });
    for neuron in silent.take(ARCHIVES) {
        proposal.archive(&neuron.id, format!("silent for more than {SILENT_HOURS} hours"));
    }
}

/// The memories that a question recalls, and the best of them in its own words. A note in which the asker keeps that it asked this comes last.
fn answer(proposal: &Proposal<'_>, signal: &Signal, question: &str, settings: &Settings) -> Value {
    let found = proposal.network.recall(question, proposal.snapshot.at, settings.recall.top);
    let found = found.into_iter().filter_map(|(id, activation)| Some((proposal.live(&id)?, activation)));
    let is_echo = |neuron: &Neuron| {
        let is_own = neuron.named_by.concept.run.as_ref().is_some_and(|run| run.agent() == signal.from);
        is_own && neuron.concept.to_lowercase().contains(&question.trim().to_lowercase())
    };
    let (echoes, others): (Vec<_>, Vec<_>) = found.partition(|(neuron, _)| is_echo(neuron));
    let mut found = others.into_iter().chain(echoes).peekable();
    let text = found.peek().map(|(best, _)| clip(&best.concept, ANSWER_BYTES));
    let mut results = Vec::new();
    let mut bytes = 1024 + json!(text).to_string().len();
    for (neuron, activation) in found {
        let concept = clip(&neuron.concept, EXCERPT_BYTES);
        let result = json!({"id": neuron.id, "concept": concept, "activation": activation});
        bytes += result.to_string().len() + 1;
        if bytes > limits::PAYLOAD_BYTES {
            break;
        }
        results.push(result);
    }
    json!({"done": "recalled", "text": text, "results": results})
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::World;
    use crate::model::document::Rule;
    use crate::model::ids::concept_id;
    use crate::model::{Kind, Link};

    /// An episode `e1` of tea and milk, which are both active.
    fn tea_and_milk() -> World {
        let mut world = World::new("memory");
        world.concept("tea", 65535);
        world.concept("milk", 65535);
        world.neuron("e1", "Anna drinks tea with milk.", Kind::Episodic, 65535);
        world.link("e1", Link::FeedsInto, "tea", 50000);
        world.link("e1", Link::FeedsInto, "milk", 40000);
        world
    }

    fn edge(from: &str, to: &str) -> String {
        format!("{} feeds_into {}", concept_id(from), concept_id(to))
    }

    #[test]
    fn what_fires_together_is_linked_both_ways_and_acknowledged() {
        let mut world = tea_and_milk();
        world.signal("perception", json!({"kind": "perceived", "episodes": ["e1", "e1", "gone", "NOT AN ID", 7]}));
        let ops = world.think(Rule::Memory);
        let expected = [
            format!("connect {} 2048", edge("milk", "tea")),
            format!("connect {} 2048", edge("tea", "milk")),
            "acknowledge g1 {\"done\":\"linked\",\"episodes\":1,\"pairs\":1,\"left\":0}".into(),
        ];
        assert_eq!(ops, expected);
    }

    #[test]
    fn an_activation_alone_is_enough_to_link() {
        let mut world = tea_and_milk();
        world.active(&["e1", "tea"]);
        assert_eq!(world.think(Rule::Memory).len(), 2);
        world.active(&[]);
        assert!(world.think(Rule::Memory).is_empty());
    }

    #[test]
    fn what_two_runs_perceived_is_linked_twice() {
        let mut world = tea_and_milk();
        world.neuron("e2", "Milk goes into tea.", Kind::Episodic, 65535);
        world.link("e2", Link::FeedsInto, "tea", 40000);
        world.link("e2", Link::FeedsInto, "milk", 50000);
        world.signal("perception", json!({"kind": "perceived", "episodes": ["e1"]}));
        world.signal("perception", json!({"kind": "perceived", "episodes": ["e2"]}));
        let ops = world.think(Rule::Memory);
        let pair = [edge("milk", "tea"), edge("tea", "milk")];
        let expected = [format!("connect {} 4096", pair[0]), format!("connect {} 4096", pair[1])];
        assert_eq!(ops[..2], expected);
        assert!(ops[2..].iter().all(|op| op.starts_with("acknowledge")), "{ops:?}");
    }

    #[test]
    fn links_grow_by_the_hebbian_rule() {
        let mut world = tea_and_milk();
        world.link("tea", Link::FeedsInto, "milk", 32768);
        world.link("milk", Link::FeedsInto, "tea", 65535);
        world.concept("tea", 32768);
        world.concept("milk", 16384);
        world.active(&["e1"]);
        // 655 · ½ · ¼ · ½; a full connection grows no more.
        assert_eq!(world.think(Rule::Memory), [format!("adjust {} 41", edge("tea", "milk"))]);
    }

    #[test]
    fn what_is_silent_or_goes_is_not_linked() {
        let mut world = tea_and_milk();
        world.active(&["e1"]);
        world.concept("milk", 0);
        assert!(world.think(Rule::Memory).is_empty());
        world.concept("milk", 65535);
        world.signal("human", json!({"kind": "archive", "id": concept_id("milk")}));
        let ops = world.think(Rule::Memory);
        assert_eq!((ops.len(), ops[0].starts_with("archive milk-")), (2, true), "{ops:?}");
    }

    #[test]
    fn the_strongest_four_make_six_pairs_and_the_silent_none() {
        let mut world = World::new("memory");
        world.neuron("e1", "text", Kind::Episodic, 65535);
        for (i, name) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
            world.concept(name, if name == "a" { 0 } else { 60000 + i as u16 });
            world.link("e1", Link::FeedsInto, name, 30000);
        }
        world.neuron("place", "a place", Kind::Contextual, 65535);
        world.link("e1", Link::FeedsInto, "place", 65535);
        world.active(&["e1"]);
        let ops = world.think(Rule::Memory);
        assert_eq!(ops.len(), 12, "{ops:?}");
        let named = |name: &str| ops.iter().any(|op| op.contains(concept_id(name).as_str()));
        assert!(named("c") && named("f") && !named("a") && !named("b") && !ops.iter().any(|op| op.contains("place")));
    }

    #[test]
    fn however_much_was_perceived_a_document_stays_within_its_limit() {
        let mut world = World::new("memory");
        let mut ids = Vec::new();
        for i in 0..4500 {
            let id = format!("e{i}");
            world.neuron(&id, "text", Kind::Episodic, 65535);
            for j in 0..4 {
                let name = format!("c{i}x{j}");
                world.concept(&name, 65535);
                world.link(&id, Link::FeedsInto, &name, 30000);
            }
            ids.push(id);
        }
        world.signal("perception", json!({"kind": "perceived", "episodes": ids}));
        let ops = world.think(Rule::Memory);
        assert!((47_900..=crate::limits::RUN_OPS).contains(&ops.len()), "{}", ops.len());
        assert!(ops.last().unwrap().contains("\"episodes\":3999,\"pairs\":23994,\"left\":501"), "{:?}", ops.last());
    }

    #[test]
    fn a_question_is_answered_with_the_memory_that_it_recalls() {
        let mut world = tea_and_milk();
        world.neuron("e2", "Bob likes coffee.", Kind::Episodic, 65535);
        world.concept("coffee", 65535);
        world.link("e2", Link::FeedsInto, "coffee", 65535);
        world.signal("decision", json!({"kind": "question", "query": "Who drinks TEA?"}));
        // Whatever the context holds.
        for context in [&["e1", "e2", "tea"][..], &[]] {
            world.context(context);
            let ops = world.think(Rule::Memory);
            assert_eq!(ops.len(), 1);
            let answer = "{\"done\":\"recalled\",\"text\":\"Anna drinks tea with milk.\",\"results\":[{\"id\":\"e1\"";
            assert!(ops[0].contains(answer) && !ops[0].contains("coffee"), "{}", ops[0]);
        }
    }

    #[test]
    fn a_note_of_the_question_itself_answers_it_last() {
        for (asker, first) in [("clerk", "Anna drinks tea"), ("decision", "Asked: who")] {
            let mut world = tea_and_milk();
            world.neuron("a-note", "Asked: who drinks tea? Answered: unknown", Kind::Semantic, 65535);
            world.link("a-note", Link::Recalls, "tea", 65535);
            world.named_by("a-note", "clerk");
            world.signal(asker, json!({"query": "Who drinks tea?"}));
            let ops = world.think(Rule::Memory);
            assert!(ops[0].contains(&format!("\"text\":\"{first}")), "{asker}: {}", ops[0]);
        }
    }

    #[test]
    fn a_question_that_recalls_nothing_is_answered_with_nothing() {
        let mut world = tea_and_milk();
        world.signal("decision", json!({"query": "volcanoes"}));
        assert_eq!(world.think(Rule::Memory), ["acknowledge g1 {\"done\":\"recalled\",\"text\":null,\"results\":[]}"]);
    }

    #[test]
    fn more_questions_than_fit_a_document_wait() {
        let mut world = World::new("memory");
        world.settings.recall.top = 1000;
        world.concept("tea", 65535);
        for i in 0..40 {
            let id = format!("e{i}");
            world.neuron(&id, &"\"".repeat(4000), Kind::Episodic, 65535);
            world.link(&id, Link::FeedsInto, "tea", 65535);
        }
        for _ in 0..60 {
            world.signal("decision", json!({"query": "tea"}));
        }
        world.signal("decision", json!({"kind": "decision", "query": "tea"}));
        let ops = world.think(Rule::Memory);
        assert_eq!((ops.len(), ops[40].as_str()), (41, "acknowledge g61 {\"done\":\"noted\"}"));
    }

    #[test]
    fn a_long_answer_still_fits_its_payload() {
        let mut world = World::new("memory");
        world.settings.recall.top = 1000;
        world.concept("tea", 65535);
        for i in 0..100 {
            let id = format!("e{i}");
            world.neuron(&id, &"\"\n".repeat(2000), Kind::Episodic, 65535);
            world.link(&id, Link::Recalls, "tea", 65535);
        }
        world.signal("decision", json!({"query": "tea"}));
        assert!(world.think(Rule::Memory)[0].contains("e11"));
    }

    #[test]
    fn it_archives_on_request_but_never_what_must_stay() {
        let mut world = World::new("memory");
        world.core();
        world.concept("old", 0);
        world.concept("dear", 0);
        world.pin("dear");
        let ask = |id: &str| json!({"kind": "archive", "id": id, "reason": "no\nlonger true"});
        for id in ["old", "dear"] {
            world.signal("human", ask(concept_id(id).as_str()));
        }
        for id in ["n_core_memory", "gone", "../x"] {
            world.signal("human", ask(id));
        }
        let ops = world.think(Rule::Memory);
        assert_eq!(ops[0], format!("archive {} asked by human: nolonger true", concept_id("old")));
        let refusals = ["\"done\":\"archived\"", "\"pinned\"", "\"core\"", "\"absent\"", "\"no id\""];
        assert_eq!(ops.len(), 6);
        for (op, part) in ops[1..].iter().zip(refusals) {
            assert!(op.contains(part), "{op} has no {part}");
        }
    }

    #[test]
    fn circumstances_that_fell_silent_are_archived_and_nothing_else_is() {
        let mut world = World::new("memory");
        for (name, kind, hours, count) in [
            ("old-room", Kind::Contextual, 721, 1),
            ("never", Kind::Contextual, 721, 0),
            ("recent", Kind::Contextual, 720, 1),
            ("often", Kind::Contextual, 9999, 2),
            ("word", Kind::Semantic, 9999, 0),
            ("decision_point", Kind::Contextual, 9999, 0),
        ] {
            world.aged(name, kind, hours, count);
        }
        let reason = "silent for more than 720 hours";
        assert_eq!(
            world.think(Rule::Memory),
            [format!("archive never {reason}"), format!("archive old-room {reason}")]
        );
    }

    #[test]
    fn every_signal_is_acknowledged_also_what_it_does_not_know() {
        let mut world = World::new("memory");
        world.signal("bootstrap", json!({"kind": "introduction", "role": "r"}));
        world.signal("decision", json!({"kind": "weather"}));
        world.signal("decision", json!("text"));
        let unknown = "{\"understood\":false}";
        let expected = [
            "acknowledge g1 {\"done\":\"noted\"}".to_owned(),
            format!("acknowledge g2 {unknown}"),
            format!("acknowledge g3 {unknown}"),
        ];
        assert_eq!(world.think(Rule::Memory), expected);
    }
}
