//! Reading documents: every operation, and every way to be wrong.

use super::*;

const ALL: &str = r#"{"agent": "memory", "prediction": {"text": "…", "value": 0.7,
 "pathway": [{"from": "a", "to": "b", "type": "feeds_into"}]}, "ops": [
  {"op": "create", "id": "tea-1f3c", "concept": "tea", "type": "semantic"},
  {"op": "activate", "id": "tea-1f3c", "strength": 0.8},
  {"op": "connect", "from": "a", "to": "b", "type": "feeds_into", "weight": 20000},
  {"op": "adjust", "from": "a", "to": "b", "type": "feeds_into", "by": -120},
  {"op": "disconnect", "from": "a", "to": "b", "type": "feeds_into"},
  {"op": "reinforce", "error": -0.3, "pathway": [{"from": "a", "to": "b", "type": "feeds_into"}]},
  {"op": "reword", "id": "a", "concept": "…"}, {"op": "retype", "id": "a", "type": "core"},
  {"op": "archive", "id": "a", "reason": "…"},
  {"op": "signal", "to": "memory", "payload": {}}, {"op": "acknowledge", "signal": "g1", "payload": {}},
  {"op": "flag", "name": "urgence", "value": true},
  {"op": "outcome", "run": "20260126t143200123z-abcd2345-decision", "value": 0.4, "text": "…", "error": -0.3, "method": "number",
   "pathway": [{"from": "a", "to": "b", "type": "feeds_into"}]},
  {"op": "goal", "text": "…", "level": "sub", "neuron": "a", "state": "reached"},
  {"op": "deliberate", "goal": "recall", "cycle": {"cycle": 1, "cast": {"gardener": {"mind": "reflex-lexical", "family": "a"},
    "skeptic": null, "inspector": {"mind": "reflex-lexical", "family": "a"}, "diverger": null,
    "aligner": {"mind": "reflex-lexical", "family": "a"}}, "rules": "0", "evidence": {},
    "forecast": {"monsoon": false, "trees": {}}, "results": [], "seeds": [], "events": []}},
  {"op": "wisdom", "seeds": [{"condition": "…", "action": "…", "effect": "…", "polarity": "do",
    "sources": ["20260126t143200123z-abcd2345-decision"]}], "forget": ["w-0123456789abcdef"]},
  {"op": "seal", "forget": ["subject-0123456789abcdef0123456789abcdef"]}]}"#;

#[test]
fn every_operation_is_read_and_written_back() {
    let document = Document::parse(ALL.as_bytes(), "delta").unwrap();
    let names: Vec<_> = document.ops.iter().map(Operation::name).collect();
    assert_eq!(names, Operation::NAMES);
    assert_eq!(Document::lines(ALL.as_bytes()), [3, 4, 5, 6, 7, 8, 9, 9, 10, 11, 11, 12, 13, 15, 16, 20, 22]);
    let again = serde_json::to_vec(&document).unwrap();
    assert_eq!(Document::parse(&again, "delta").unwrap(), document);
}

#[test]
fn wrong_documents_are_refused_with_their_line() {
    let cases: &[(&str, usize, &str)] = &[
        (
            "{\"ops\": [\n{\"op\": \"create\", \"concept\": \"a\",\n \"type\": \"core\", \"x\": 1}]}",
            3,
            "unknown field `x`",
        ),
        ("{\"ops\": [\n\n{\"op\": \"fly\"}]}", 3, "unknown op \"fly\""),
        ("{\"ops\": [{\"op\": \"activate\", \"id\": \"a\",\n\"strength\": 1.5}]}", 2, "ops[0].strength"),
        ("{\"ops\": [],\n \"extra\": 1}", 2, "extra"),
        ("{\"ops\": [{\"op\": \"activate\", \"id\": \"a\",\n\"strength\": 1, \"strength\": 1}]}", 2, "twice"),
        (
            "{\"ops\": [{\"op\": \"connect\", \"from\": \"a\", \"to\": \"b\", \"type\": \"feeds_into\", \"weight\": 0}]}",
            1,
            "weight",
        ),
        ("{\"ops\": [{\"op\": \"create\", \"id\": \"../x\", \"concept\": \"a\", \"type\": \"core\"}]}", 1, "not an id"),
        (
            "{\"ops\": [{\"op\": \"connect\", \"from\": \"a\", \"to\": \"b\", \"type\": \"feeds_into\", \"weight\": 65536}]}",
            1,
            "65536",
        ),
        ("{\"ops\": [{\"op\": \"reinforce\", \"error\": 0.1, \"pathway\": []}]}", 1, "pathway"),
        ("{\"ops\": [{\"op\": \"activate\", \"id\": \"a\"}]}", 1, "strength"),
        ("{\"prediction\": {\"value\": 3},\n \"ops\": []}", 1, "prediction.value"),
        ("{\"ops\": [{}]}", 1, "op"),
        ("{\n\"ops\": [}", 2, ""),
        (
            "{\"ops\": [\n{\"op\": \"reinforce\", \"error\": 0.1, \"pathway\": [[\"a\", \"b\", \"feeds_into\"]]}]}",
            2,
            "ops[0]",
        ),
        ("{\"prediction\": {\"pathway\": [[\"a\", \"b\", \"feeds_into\"]]},\n \"ops\": []}", 1, "sequence"),
        (
            "{\"ops\": [{\"op\": \"outcome\", \"run\": \"20260126t143200123z-abcd2345-a\", \"value\": 2, \"error\": 0, \"method\": \"number\"}]}",
            1,
            "ops[0].value",
        ),
        ("{\"ops\": [{\"op\": \"goal\", \"text\": \"\", \"level\": \"sub\"}]}", 1, "ops[0].text"),
        ("{\"prediction\": [\"x\", 0.5],\n \"ops\": []}", 1, "sequence"),
        ("", 1, ""),
    ];
    for (text, line, part) in cases {
        match Document::parse(text.as_bytes(), "delta").unwrap_err() {
            DocumentError::Json(error) => {
                assert_eq!(error.line, *line, "{error}");
                assert!(error.to_string().contains(part), "{error} has no {part:?}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn oversized_documents_are_refused_as_a_limit() {
    let op = r#"{"op":"activate","id":"a","strength":1}"#;
    let many = format!("{{\"ops\":[{}]}}", vec![op; limits::DELTA_OPS + 1].join(","));
    assert!(matches!(Document::parse(many.as_bytes(), "delta"), Err(DocumentError::Limit(_))));
    let large = vec![b' '; limits::DELTA_BYTES + 1];
    assert!(matches!(Document::parse(&large, "delta"), Err(DocumentError::Limit(_))));
}

/// The same document with one more of what is bounded.
#[test]
fn every_bound_holds_at_its_edge() {
    let parse = |text: &str| Document::parse(text.as_bytes(), "delta").map(|_| ()).map_err(|e| e.to_string());
    let op = |op: &str| parse(&format!("{{\"ops\": [{op}]}}"));
    let payload = |bytes: usize, op: &str| format!(r#"{{"op": {op}, "payload": "{}"}}"#, "x".repeat(bytes - 2));
    for to in [r#""signal", "to": "memory""#, r#""acknowledge", "signal": "g1""#] {
        assert_eq!(op(&payload(limits::PAYLOAD_BYTES, to)), Ok(()));
        assert!(op(&payload(limits::PAYLOAD_BYTES + 1, to)).unwrap_err().contains("payload"));
    }
    let edges = |n: usize| vec![r#"{"from": "a", "to": "b", "type": "feeds_into"}"#; n].join(",");
    let reinforce = |n: usize| op(&format!(r#"{{"op": "reinforce", "error": 0.1, "pathway": [{}]}}"#, edges(n)));
    assert_eq!(reinforce(limits::PATHWAY_EDGES), Ok(()));
    assert!(reinforce(limits::PATHWAY_EDGES + 1).unwrap_err().contains("pathway"));
    let run = "20260126t143200123z-abcd2345-decision";
    let outcome = |n: usize| {
        op(&format!(
            r#"{{"op": "outcome", "run": "{run}", "value": 1, "error": -1, "method": "number", "pathway": [{}]}}"#,
            edges(n)
        ))
    };
    assert_eq!(outcome(limits::CREDITED_EDGES), Ok(()));
    assert!(outcome(limits::CREDITED_EDGES + 1).unwrap_err().contains("pathway"));
    let predict = |n: usize| parse(&format!("{{\n\"prediction\": {{\"pathway\": [{}]}}, \"ops\": []}}", edges(n)));
    assert_eq!(predict(limits::CREDITED_EDGES), Ok(()));
    assert!(predict(limits::CREDITED_EDGES + 1).unwrap_err().contains("line 2, prediction.pathway"));
    let many =
        |n: usize| parse(&format!("{{\"ops\":[{}]}}", vec![r#"{"op":"activate","id":"a","strength":1}"#; n].join(",")));
    assert_eq!(many(limits::DELTA_OPS), Ok(()));
    assert!(many(limits::DELTA_OPS + 1).is_err());
    let padded = |bytes: usize| parse(&(r#"{"ops": []}"#.to_owned() + &" ".repeat(bytes - 11)));
    assert_eq!(padded(limits::DELTA_BYTES), Ok(()));
    assert!(padded(limits::DELTA_BYTES + 1).is_err());
    for (good, bad) in [
        (r#"{"op": "activate", "id": "a", "strength": 0}"#, r#"{"op": "activate", "id": "a", "strength": -0.1}"#),
        (
            r#"{"op": "adjust", "from": "a", "to": "b", "type": "recalls", "by": -65535}"#,
            r#"{"op": "adjust", "from": "a", "to": "b", "type": "recalls", "by": -65536}"#,
        ),
        (
            r#"{"op": "adjust", "from": "a", "to": "b", "type": "recalls", "by": 65535}"#,
            r#"{"op": "adjust", "from": "a", "to": "b", "type": "recalls", "by": 65536}"#,
        ),
        (r#"{"op": "reword", "id": "a", "concept": "b"}"#, r#"{"op": "reword", "id": "a", "concept": " "}"#),
        (r#"{"op": "archive", "id": "a", "reason": "b"}"#, r#"{"op": "archive", "id": "a", "reason": ""}"#),
        (
            r#"{"op": "create", "concept": "a", "type": "core", "source": "s"}"#,
            r#"{"op": "create", "concept": "a", "type": "core", "source": ""}"#,
        ),
        (
            r#"{"op": "create", "concept": "a", "type": "core", "session": "s"}"#,
            r#"{"op": "create", "concept": "a", "type": "core", "session": "\u0000"}"#,
        ),
    ] {
        assert_eq!(op(good), Ok(()), "{good}");
        assert!(op(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_line_is_that_of_the_field_also_inside_an_operation() {
    let line = |text: &str| match Document::parse(text.as_bytes(), "delta").unwrap_err() {
        DocumentError::Json(error) => error.line,
        other => panic!("{other}"),
    };
    assert_eq!(line("{\n\"ops\": [\n\n{\"op\": \"activate\",\n\"id\": \"a\",\n\"strength\": 2}]}"), 6);
    assert_eq!(line("{\n\"ops\": [\n\n{\"op\": \"activate\",\n\"id\": \"a\",\n\n\"strength\": \"x\"}]}"), 7);
    assert_eq!(line("{\n\"ops\": [\n{\n\n\"op\": \"fly\"}]}"), 5);
    assert_eq!(line("{\n\n\"prediction\": {\"value\": 3},\n \"ops\": []}"), 3);
    assert_eq!(Document::lines(b"{"), [0; 0]);
}
