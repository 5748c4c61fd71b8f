//! Through the gate of a remote, from one machine to another: large imports, and numbers with all their digits.

mod sandbox;

use sandbox::{Sandbox, create, delta};
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
