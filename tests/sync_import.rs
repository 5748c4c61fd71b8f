//! Through the gate of a remote, from one machine to another: large imports, numbers with all their digits, what was
//! taken back, and nights.

use crate::sandbox::{Sandbox, connect, create, delta};
use serde_json::json;

/// A bare remote with our gate, a brain `a` that pushed to it, and a clone `b` that adopted it.
fn two_machines() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.brain(&["init", "--bare", "remote.git"]).exits(0);
    sandbox.brain(&["init", "--no-hooks", "a"]).exits(0);
    sandbox.git(&["-C", "a", "remote", "add", "origin", "../remote.git"]);
    sandbox.brain(&["-C", "a", "sync"]).exits(0);
    sandbox.git(&["clone", "-q", "remote.git", "b"]);
    sandbox.git(&["-C", "b", "config", "--replace-all", "remote.origin.url", "../remote.git"]);
    sandbox.brain(&["-C", "b", "init", "--no-hooks"]).exits(0);
    sandbox
}

/// What `a` has goes through the gate, and `b` lets it in: all three have the same wake, in good order.
#[track_caller]
fn travels(sandbox: &Sandbox) {
    for machine in ["a", "b"] {
        sandbox.brain(&["-C", machine, "sync"]).exits(0);
    }
    let tips: Vec<String> =
        ["a", "b", "remote.git"].iter().map(|name| sandbox.git(&["-C", name, "rev-parse", "wake"])).collect();
    assert!(tips.windows(2).all(|pair| pair[0] == pair[1]), "{tips:?}");
    sandbox.brain(&["-C", "b", "check"]).exits(0);
}

/// A strength with more digits than a float holds: read without care, it comes out as a number that is read as yet another
/// one. The gate writes a record again that it has read; were that another record, nothing of this machine could ever be
/// pushed again.
#[test]
fn a_number_with_all_its_digits_passes_the_gate() {
    let sandbox = two_machines();
    sandbox.brain_with(&["-C", "a", "apply", "-"], delta(json!([create("x")])).to_string().as_bytes()).exits(0);
    let document = r#"{"prediction": {"text": "tea", "value": 0.9073038322028689206533}, "ops": [
        {"op": "activate", "id": "x", "strength": 0.9073038322028689206533},
        {"op": "signal", "to": "affect", "payload": {"kind": "note", "score": 0.9073038322028689206533}}]}"#;
    sandbox.brain_with(&["-C", "a", "apply", "--agent", "decision", "-"], document.as_bytes()).exits(0);
    travels(&sandbox);
}

/// 320 neurons, each with a connection to one half the document further on: written in escapes they are more than one
/// run may hold (`limits::IMPORT_BYTES`), so the first runs point to neurons that only the last ones bring.
#[test]
fn an_import_of_several_runs_that_point_ahead_passes_the_gate() {
    const NEURONS: usize = 320;
    let sandbox = two_machines();
    let neuron = |number: usize| {
        let concept = format!("{number:03}") + &"\\u0061".repeat(4000);
        let target = (number + NEURONS / 2) % NEURONS;
        let connection = format!(r#"{{"target": "n-{target:03}", "type": "feeds_into", "weight": 20000}}"#);
        format!(
            r#"{{"id": "n-{number:03}", "concept": "{concept}", "type": "semantic", "connections": [{connection}]}}"#
        )
    };
    let neurons: Vec<String> = (0..NEURONS).map(neuron).collect();
    let document = sandbox.file("large.json", format!("{{\"neurons\": [{}]}}", neurons.join(",\n")));
    let made = sandbox.brain(&["-C", "a", "--json", "import", &document]).exits(0).document();
    assert!(made["runs"].as_array().is_some_and(|runs| runs.len() > 1), "{made}");
    travels(&sandbox);
}

/// What was taken back travels: neurons that go, neurons that get the marks back that they had, and neurons of which others'
/// changes stay. A revert of the revert as well.
#[test]
fn what_was_taken_back_passes_the_gate() {
    let sandbox = two_machines();
    let apply = |ops: serde_json::Value| -> String {
        let answer = sandbox.brain_with(&["-C", "a", "--json", "apply", "-"], delta(ops).to_string().as_bytes());
        answer.exits(0).document()["run"].as_str().expect("a run").to_owned()
    };
    apply(json!([create("x"), create("z")]));
    let first =
        apply(json!([create("y"), connect("x", "y", "feeds_into", 20000), connect("z", "y", "feeds_into", 900)]));
    travels(&sandbox);
    apply(json!([connect("y", "z", "feeds_into", 700), connect("z", "x", "feeds_into", 700)]));
    let second = apply(
        json!([create("w"), connect("w", "x", "feeds_into", 20000), {"op": "activate", "id": "x", "strength": 0.5}]),
    );
    for run in [&second, &first] {
        sandbox.brain(&["-C", "a", "revert", "--run", run]).exits(0);
        travels(&sandbox);
    }
    let log = sandbox.git(&[
        "-C",
        "b",
        "log",
        "--format=%(trailers:key=Run,valueonly,separator=,)",
        "--grep=^Reverts:",
        "wake",
    ]);
    let back = log.lines().find(|line| !line.is_empty()).expect("a run that took another back");
    sandbox.brain(&["-C", "b", "revert", "--run", back]).exits(0);
    sandbox.brain(&["-C", "b", "sync"]).exits(0);
    travels(&sandbox);
}

/// A day with tainted memories and its night in one push: the gate looks at the whole network for what the sleep left out,
/// and what it looks at is not in its repository yet.
#[test]
fn a_night_over_tainted_memories_passes_the_gate_with_its_day() {
    let sandbox = two_machines();
    sandbox.brain(&["-C", "a", "feed", "--origin", "mcp:editor", "Herons are fish."]).exits(0);
    sandbox.brain(&["-C", "a", "feed", "Anna: a heron at the canal"]).exits(0);
    sandbox.brain(&["-C", "a", "sleep"]).exits(0);
    travels(&sandbox);
}
