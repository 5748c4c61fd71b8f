//! `git brain graph`: pictures of neighbourhoods, runs and recalls, in every format.

use crate::sandbox::{NOW, Sandbox, adjust, connect, create};
use serde_json::{Value, json};

/// A brain that knows Ann, Oslo and tea.
fn fed() -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "graph");
    sandbox.json(&["feed", "Ann moved to Oslo in May."]);
    sandbox.json(&["feed", "Ben likes green tea. Ann likes coffee."]);
    sandbox
}

fn marks(picture: &Value, mark: &str) -> Vec<String> {
    let nodes = picture["nodes"].as_array().unwrap().iter().filter(|node| node["mark"] == mark);
    nodes.map(|node| node["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn graph_without_words_draws_the_salient_and_says_how_many_of_how_many() {
    let sandbox = fed();
    let all = sandbox.json(&["graph"]);
    let of = all["of"].as_u64().unwrap();
    assert!(all["caption"].as_str().unwrap().starts_with(&format!("all {of} neurons, commit ")), "{}", all["caption"]);
    assert_eq!(all["nodes"].as_array().unwrap().len() as u64, of);
    let part = sandbox.json(&["graph", "-n", "5"]);
    assert!(part["caption"].as_str().unwrap().starts_with(&format!("showing 5 of {of} neurons")));
    // The same commit has the same picture, to the byte.
    let svg = sandbox.brain(&["graph"]).exits(0).out;
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>") && svg.contains(&format!("all {of} neurons"))
    );
    assert_eq!(svg, sandbox.brain(&["graph", "--at", "wake"]).exits(0).out);
    for wrong in [["graph", "-n", "0"], ["graph", "-n", "9999999"]] {
        assert!(sandbox.brain(&wrong).exits(2).err.contains("a picture has 1 to"), "{wrong:?}");
    }
    sandbox.brain(&["graph", "--at", "nowhere"]).exits(2);
}

#[test]
fn graph_of_a_neuron_draws_its_neighbourhood_in_every_format() {
    let sandbox = fed();
    sandbox.apply(&json!({"ops": [create("tea-x"), create("cup-x"), create("far-x"), connect("tea-x", "cup-x", "feeds_into", 50_000)]}), &[]);
    let picture = sandbox.json(&["graph", "tea-x"]);
    let ids: Vec<&str> = picture["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(ids[..2], ["tea-x", "cup-x"]);
    assert!(!ids.contains(&"far-x"), "{ids:?}");
    assert_eq!(picture["nodes"][0]["mark"], "focus");
    let mermaid = sandbox.brain(&["graph", "tea-x", "--format", "mermaid"]).exits(0).out;
    assert!(mermaid.contains("flowchart LR") && mermaid.contains("n0 --> n1"), "{mermaid}");
    let dot = sandbox.brain(&["graph", "tea-x", "--format", "dot"]).exits(0).out;
    assert!(dot.contains("\"tea-x\" -> \"cup-x\" [weight=50000"), "{dot}");
    let graphml = sandbox.brain(&["graph", "tea-x", "--format", "graphml"]).exits(0).out;
    assert!(graphml.contains("<data key=\"neuron\">cup-x</data>") && graphml.trim_end().ends_with("</graphml>"));
    sandbox.apply(&json!({"ops": [{"op": "archive", "id": "tea-x", "reason": "cold"}]}), &[]);
    assert!(sandbox.brain(&["graph", "tea-x"]).exits(2).err.contains("tea-x is archived"));
    sandbox.brain(&["graph", "tea-x", "--at", "wake~1"]).exits(0);
}

#[test]
fn graph_of_a_run_marks_what_it_changes_before_and_after_it_lands() {
    let sandbox = fed();
    sandbox.apply(&json!({"ops": [create("x"), create("y"), connect("x", "y", "feeds_into", 30_000)]}), &[]);
    let ops = json!({"ops": [create("z"), adjust("x", "y", "feeds_into", -500), connect("y", "z", "inhibits", 9_000)]});
    let waiting = sandbox.apply(&ops, &["--no-merge"]);
    let run = waiting["run"].as_str().unwrap();
    let before = sandbox.json(&["graph", run]);
    assert_eq!(marks(&before, "born"), ["z"]);
    assert_eq!(marks(&before, "changed").len(), 2);
    let edges = before["edges"].as_array().unwrap();
    assert!(
        edges.iter().any(|edge| edge["mark"] == "weakened") && edges.iter().any(|edge| edge["mark"] == "born"),
        "{edges:?}"
    );
    sandbox.brain(&["merge", run]).exits(0);
    let after = sandbox.json(&["graph", run]);
    assert_eq!((marks(&after, "born"), &after["edges"]), (marks(&before, "born"), &before["edges"]));
    // What changed since a commit, with its neighbourhood.
    let since = sandbox.json(&["graph", "--since", "wake~1", "-n", "4"]);
    assert_eq!((since["title"].as_str(), marks(&since, "born")), (Some("Changes since wake~1"), vec!["z".to_owned()]));
    assert!(sandbox.brain(&["graph", "20991231t000000000z-aaaaaaaa-human"]).exits(2).err.contains("there is no run"));
}

#[test]
fn graph_of_a_question_draws_the_ways_to_its_answers() {
    let sandbox = fed();
    let picture = sandbox.json(&["graph", "who", "likes", "green", "tea"]);
    let answers = marks(&picture, "answer");
    assert!(answers[0].starts_with("1. Ben likes green tea."), "{answers:?}");
    assert_eq!(marks(&picture, "focus"), ["who likes green tea"]);
    // Every answer can be reached from the question.
    let edges: Vec<(u64, u64)> = picture["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["from"].as_u64().unwrap(), e["to"].as_u64().unwrap()))
        .collect();
    let mut reached = vec![0];
    for _ in 0..edges.len() {
        let next: Vec<u64> = edges
            .iter()
            .filter(|(from, to)| reached.contains(from) && !reached.contains(to))
            .map(|(_, to)| *to)
            .collect();
        reached.extend(next);
    }
    let nodes = picture["nodes"].as_array().unwrap();
    let lost: Vec<&Value> =
        nodes.iter().enumerate().filter(|(at, _)| !reached.contains(&(*at as u64))).map(|(_, n)| n).collect();
    assert!(lost.is_empty(), "{lost:?}");
    // A word that is also an id is a neuron, unless a question is asked for.
    sandbox.apply(&json!({"ops": [create("green-tea")]}), &[]);
    assert_eq!(sandbox.json(&["graph", "green-tea"])["nodes"][0]["id"], "green-tea");
    assert_eq!(sandbox.json(&["graph", "--recall", "green-tea"])["nodes"][0]["id"], "?");
}

#[test]
fn graph_of_hostile_texts_is_text() {
    let sandbox = Sandbox::fixed(NOW, "evil");
    sandbox.json(&["feed", "Mallory says </text><script>alert(1)</script> \"]; end --> \u{202e}x"]);
    for format in ["svg", "graphml", "mermaid", "dot"] {
        let text = sandbox.brain(&["graph", "--recall", "Mallory", "--format", format]).exits(0).out;
        assert!(text.contains("Mallory"), "{format}");
        assert!(!text.contains('\u{202e}'), "{format}");
        if format != "dot" {
            assert!(!text.contains("<script"), "{format}");
        }
    }
}
