//! Tests of the documents.

use super::*;

#[test]
fn a_stimulus_with_a_source_has_one_id_however_often_it_is_fed() {
    let at: Stamp = "2023-05-08T13:56:00Z".parse().unwrap();
    let id = |source, session, given, text| Stimulus::id_of(&Origin::local(), source, session, given, text);
    assert_eq!(id("D1:1", Some("s"), Some(at), "hi"), id("D1:1", Some("s"), Some(at), "hi"));
    assert_ne!(id("D1:1", Some("s"), Some(at), "hi"), id("D1:1", Some("s"), None, "hi"));
    assert_ne!(id("D1:1", Some("s"), None, "hi"), id("D1:1s", None, None, "hi"));
    let (mcp, local) = (Origin::parse("mcp:editor").unwrap(), Origin::local());
    let labelled = |origin: &Origin| Stimulus::id_of(origin, "D1:1", None, None, "hi");
    assert_eq!((labelled(&local), labelled(&mcp)), (id("D1:1", None, None, "hi"), labelled(&mcp)));
    assert_ne!(labelled(&local), labelled(&mcp), "a label is no proof of who said it");
    let unlabelled = |origin: &Origin| Stimulus::id_unlabelled(origin, None, None, "hi");
    assert_eq!(unlabelled(&local), unlabelled(&local));
    assert_ne!(unlabelled(&local), unlabelled(&mcp), "what a person says is not what a program said");
    assert_ne!(FileKey::of("d.md", "d.md", &local, ""), FileKey::of("d.md", "d.md", &mcp, ""));
}

#[test]
fn a_goal_is_read_back_and_a_terminal_one_is_no_runs() {
    let goal = Goal {
        id: Goal::id_of("Be useful"),
        text: "Be useful".into(),
        level: GoalLevel::Sub,
        neuron: None,
        parent: None,
        state: GoalState::Open,
        at: Stamp::from_unix(0),
        run: Some(RunId::parse("20260126t143200123z-abcd2345-evaluator").unwrap()),
    };
    assert_eq!(Goal::decode(&goal.encode(), "g").unwrap(), goal);
    assert_eq!(Goal::id_of(" be USEFUL"), goal.id);
    let terminal = Goal { level: GoalLevel::Terminal, ..goal.clone() };
    assert!(Goal::decode(&terminal.encode(), "g").unwrap_err().to_string().contains("run"));
    let by_a_person = RunId::parse("20260126t143200123z-abcd2345-human").ok();
    for run in [by_a_person, None] {
        let goal = Goal { run, ..terminal.clone() };
        assert_eq!(Goal::decode(&goal.encode(), "g").unwrap(), goal);
    }
    assert!(Goal::decode(&Goal { text: String::new(), ..goal }.encode(), "g").is_err());
}

#[test]
fn definitions_read_the_seeds_triggers() {
    let text = r#"{"name": "memory", "role": "r",
        "trigger": {"any": [{"state": "consolidation_due"}, {"active": {"count": 3, "salience_above": 45000}},
          {"neuron": {"id": "decision_point", "salience_above": 40000, "with_query": true}},
          {"signal": "any"}, {"flag": "urgence"}]},
        "cognition": {"kind": "reflex", "rule": "memory"}}"#;
    let agent = Agent::decode(text.as_bytes(), "agents/memory.json").unwrap();
    assert_eq!(agent.trigger.any.len(), 5);
    assert!(agent.capabilities.operations.is_empty());
}

#[test]
fn wrong_definitions_are_refused() {
    for (cognition, part) in [
        (r#"{"kind": "command", "argv": []}"#, "argv"),
        (r#"{"kind": "command", "argv": ["x"], "timeout_ms": 0}"#, "timeout_ms"),
        (r#"{"kind": "oracle"}"#, "oracle"),
        (r#"{"kind": "llm", "model": ""}"#, "model"),
        (r#"{"kind": "chain", "repairs": 6}"#, "repairs"),
        (r#"{"kind": "reflex", "rule": "memory", "x": 1}"#, "x"),
    ] {
        let text = format!(r#"{{"name": "a", "role": "r", "trigger": {{"any": []}}, "cognition": {cognition}}}"#);
        let error = Agent::decode(text.as_bytes(), "agents/a.json").unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
