use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::super::{Applied, ApplyError, Author, Document, Limits, Lookup, apply};
use super::*;
use crate::model::document::{Capabilities, Goal};
use crate::model::ids::{GoalId, SignalId};
use crate::model::settings::{Activation, Learning};
use crate::model::{Kind, Signal};

#[derive(Default)]
struct Net(BTreeMap<NeuronId, Neuron>);

impl Lookup for Net {
    type Error = Infallible;
    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Infallible> {
        Ok(self.0.get(id).cloned())
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

fn id(text: &str) -> NeuronId {
    NeuronId::parse(text).unwrap()
}

/// a, b and c, of which a feeds b.
fn net() -> Net {
    let made = |name: &str| (id(name), Neuron::new(id(name), name, Kind::Semantic, Stamp::from_unix(3_600)));
    let mut net = Net(["a", "b", "c"].map(made).into());
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::FeedsInto, 50_000);
    net
}

fn author() -> Author {
    let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
    let (agent, clock) = (run.agent(), Stamp::from_unix(7_200));
    Author { agent, run, clock, rank: 5, origin: Origin::local(), consumed: vec![] }
}

fn applied(ops: &[Operation], limits: Option<&Limits>) -> Option<Applied> {
    let document = Document { ops: ops.to_vec(), ..Document::default() };
    match apply(&document, &author(), limits, &net(), &Learning::default(), &Activation::default()) {
        Ok(applied) => Some(applied),
        Err(ApplyError::Refused(_)) => None,
        Err(ApplyError::Lookup(never)) => match never {},
    }
}

fn record(ops: Vec<Operation>, applied: &Applied) -> RunRecord {
    let author = author();
    RunRecord {
        run: author.run,
        agent: author.agent,
        trigger: "by hand".into(),
        cognition: "reflex:perception".into(),
        at: author.clock,
        depth: 0,
        base: None,
        origin: author.origin,
        stimuli: vec![],
        prediction: None,
        ops,
        effects: applied.neurons.values().map(|(before, after)| Effect::between(before.as_ref(), after)).collect(),
        notes: applied.notes.clone(),
        reverts: vec![],
        approves: vec![],
    }
}

fn parse(ops: &str) -> Vec<Operation> {
    Document::parse(format!("{{\"ops\": [{ops}]}}").as_bytes(), "test").unwrap().ops
}

fn text(record: &RunRecord) -> String {
    String::from_utf8(record.encode()).unwrap()
}

/// What perception does: it makes, connects and activates.
const PERCEIVED: &str = r#"
    {"op": "activate", "id": "a", "strength": 0.5},
    {"op": "create", "id": "tea", "concept": "tea", "type": "semantic"},
    {"op": "activate", "id": "tea", "strength": 0.7},
    {"op": "connect", "from": "tea", "to": "a", "type": "recalls", "weight": 300},
    {"op": "connect", "from": "tea", "to": "a", "type": "feeds_into", "weight": 300},
    {"op": "connect", "from": "a", "to": "tea", "type": "feeds_into", "weight": 9},
    {"op": "adjust", "from": "a", "to": "b", "type": "feeds_into", "by": -40},
    {"op": "connect", "from": "a", "to": "b", "type": "feeds_into", "weight": 7}"#;

#[test]
fn what_the_effects_say_is_no_operation_of_the_file() {
    let ops = parse(PERCEIVED);
    let record = record(ops.clone(), &applied(&ops, None).unwrap());
    let text = text(&record);
    assert!(text.contains("\"implied\": 5,"), "{text}");
    assert!(text.contains("{\"b\": {\"feeds_into\": [50000, 49960]}, \"tea\": {\"feeds_into\": [null, 9]}"), "{text}");
    assert!(text.contains("\"connections\": {\"a\": 300}"), "{text}");
    let kept: Vec<&str> = text.lines().filter(|line| line.contains("\"op\"")).collect();
    // Two are activated, and the last connects what is connected.
    assert_eq!(kept.len(), 3, "{text}");
    let read = RunRecord::decode(text.as_bytes(), "r").unwrap();
    assert_eq!(read.ops.len(), ops.len());
    assert!(ops.iter().all(|op| read.ops.contains(op)));
    assert_eq!(RunRecord { ops, ..read }, record);
    assert!(text.len() < record.encode_as(Format::One).len() * 3 / 4, "{text}");
}

/// People name the operations of a document by their numbers in it.
#[test]
fn a_document_that_was_applied_keeps_its_order() {
    let ops = parse(PERCEIVED);
    let record = RunRecord { cognition: APPLIED.to_owned(), ..record(ops.clone(), &applied(&ops, None).unwrap()) };
    assert!(!text(&record).contains("implied"), "{}", text(&record));
    let read = RunRecord::decode(&record.encode(), "r").unwrap();
    assert_eq!(read, record);
    // In the order of the effects there is nothing to keep, as in records of before.
    let same = RunRecord { cognition: "x".to_owned(), ..record };
    let ordered = RunRecord { cognition: APPLIED.to_owned(), ..RunRecord::decode(&same.encode(), "r").unwrap() };
    assert!(text(&ordered).contains("\"implied\": 5,"), "{}", text(&ordered));
    assert_eq!(RunRecord::decode(&ordered.encode(), "r").unwrap(), ordered);
}

#[test]
fn a_count_that_the_effects_do_not_bear_out_is_refused() {
    let ops = parse(PERCEIVED);
    let text = text(&record(ops.clone(), &applied(&ops, None).unwrap()));
    let error = RunRecord::decode(text.replace("\"implied\": 5", "\"implied\": 6").as_bytes(), "r").unwrap_err();
    assert!(error.to_string().contains("its effects say 5 operations"), "{error}");
}

/// Whatever could tell the order, or comes out otherwise than it was asked for.
#[test]
fn what_the_effects_do_not_say_word_for_word_stays_whole() {
    for ops in [
        r#"{"op": "create", "concept": "tea", "type": "semantic"}"#,
        r#"{"op": "create", "id": "tea", "concept": "tea", "type": "semantic"}, {"op": "reword", "id": "tea", "concept": "chai"}"#,
        r#"{"op": "create", "id": "tea", "concept": "tea", "type": "semantic"}, {"op": "archive", "id": "tea", "reason": "x"}"#,
        r#"{"op": "connect", "from": "b", "to": "c", "type": "recalls", "weight": 5}, {"op": "adjust", "from": "b", "to": "c", "type": "recalls", "by": 5}"#,
        r#"{"op": "connect", "from": "b", "to": "c", "type": "recalls", "weight": 5}, {"op": "retype", "id": "b", "type": "episodic"}"#,
        r#"{"op": "activate", "id": "a", "strength": 0.5}"#,
    ] {
        let ops = parse(ops);
        let record = record(ops.clone(), &applied(&ops, None).unwrap());
        assert!(!text(&record).contains("implied"), "{}", text(&record));
        assert_eq!(RunRecord::decode(&record.encode(), "r").unwrap(), record);
    }
}

/// Taken back and brought back, as only a person's runs do.
#[test]
fn removals_and_marks_are_read_back() {
    let (one, other) = (net().0[&id("a")].clone(), net().0[&id("b")].clone());
    let after = Neuron { salience: 9, ..other.clone() };
    let mut record = record(vec![], &Applied::default());
    record.effects = vec![Effect::removal(&one), Effect::unmarked(Some(&other), &after), Effect::unmarked(None, &one)];
    record.effects.push(Effect { created: Some(Box::new(one.clone())), ..Effect::removal(&one) });
    for format in [Format::One, Format::Two] {
        assert_eq!(RunRecord::decode(&record.encode_as(format), "r").unwrap(), record);
    }
}

fn operations() -> impl Strategy<Value = Operation> {
    let name = || prop::sample::select(vec!["a", "b", "c", "x", "y", "z"]);
    let kind = || prop::sample::select(vec!["semantic", "episodic", "contextual"]);
    let link = || prop::sample::select(vec!["feeds_into", "recalls", "triggers", "inhibits"]);
    let at = || prop::sample::select(vec!["", r#", "at": "1970-01-01T01:30:00Z""#]);
    let concept = || prop::sample::select(vec!["", "2"]);
    let made = (name(), concept(), kind(), at()).prop_map(|(n, more, kind, at)| {
        format!(r#"{{"op": "create", "id": "{n}", "concept": "{n}{more}", "type": "{kind}"{at}}}"#)
    });
    let linked = (name(), name(), link(), 1..4_u16).prop_map(|(from, to, link, w)| {
        format!(r#"{{"op": "connect", "from": "{from}", "to": "{to}", "type": "{link}", "weight": {}}}"#, w * 9_000)
    });
    let excited = (name(), 0..3_u8, at())
        .prop_map(|(n, s, at)| format!(r#"{{"op": "activate", "id": "{n}", "strength": 0.{s}{at}}}"#));
    let edge = (
        name(),
        name(),
        link(),
        -2..3_i32,
        prop::sample::select(vec!["adjust", "disconnect", "disconnect", "reinforce"]),
    );
    let weighed = edge.prop_map(|(from, to, link, by, op)| {
        let edge = format!(r#""from": "{from}", "to": "{to}", "type": "{link}""#);
        match op {
            "adjust" => format!(r#"{{"op": "adjust", {edge}, "by": {}}}"#, by * 1_000),
            "disconnect" => format!(r#"{{"op": "disconnect", {edge}}}"#),
            _ => format!(r#"{{"op": "reinforce", "error": 0.5, "pathway": [{{{edge}}}]}}"#),
        }
    });
    let named = (name(), kind(), prop::sample::select(vec!["reword", "retype", "archive"])).prop_map(
        |(n, kind, op)| match op {
            "reword" => format!(r#"{{"op": "reword", "id": "{n}", "concept": "{kind}"}}"#),
            "retype" => format!(r#"{{"op": "retype", "id": "{n}", "type": "{kind}"}}"#),
            _ => format!(r#"{{"op": "archive", "id": "{n}", "reason": "x"}}"#),
        },
    );
    let grown = (name(), name(), link(), 1..4_u16).prop_map(|(from, to, link, by)| {
        format!(r#"{{"op": "adjust", "from": "{from}", "to": "{to}", "type": "{link}", "by": {}}}"#, by * 9_000)
    });
    let told = prop::sample::select(vec![
        r#"{"op": "signal", "to": "affect", "payload": {"kind": "x"}}"#.to_owned(),
        r#"{"op": "flag", "name": "urgence", "value": true}"#.to_owned(),
    ]);
    prop_oneof![6 => made, 8 => linked, 4 => excited, 3 => grown, 1 => weighed, 1 => named, 1 => told]
        .prop_map(|text| parse(&text).remove(0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// A record that is read proposes what does the same, by the same limits, and its file is its only file.
    #[test]
    fn a_record_that_is_read_does_what_was_done(
        wanted in prop::collection::vec(operations(), 1..14),
        bounded in any::<bool>(),
    ) {
        let limits = bounded.then(|| Limits::of(&author().agent, &Capabilities::default()));
        // Those of which each is allowed after the others.
        let mut ops = Vec::new();
        for op in wanted {
            ops.push(op);
            if applied(&ops, limits.as_ref()).is_none() {
                ops.pop();
            }
        }
        let done = applied(&ops, limits.as_ref()).unwrap();
        let record = record(ops, &done);
        prop_assert_eq!(&RunRecord::decode(&record.encode_as(Format::One), "r").unwrap(), &record);
        let bytes = record.encode();
        let read = RunRecord::decode(&bytes, "r").unwrap();
        prop_assert_eq!(&read.effects, &record.effects);
        prop_assert_eq!(applied(&read.ops, limits.as_ref()), Some(done));
        prop_assert_eq!(read.encode(), bytes);
    }
}
