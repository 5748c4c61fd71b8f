//! The worked numbers of the specification of propagation, O1 to O7, from the outside: each network is built by a delta
//! of `human` under a fixed clock and asked through `propagate --json`.

use std::collections::BTreeMap;

use crate::sandbox::{NOW, Sandbox, connect, create, delta};
use serde_json::{Value, json};

/// Edges in lines such as `a>b 52428` and `k>m 26214 influences`; saliences are 65535 unless said.
fn network(edges: &str, saliences: &[(&str, u64)]) -> Sandbox {
    let mut ids: Vec<&str> = Vec::new();
    let mut links = Vec::new();
    for line in edges.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let mut parts = line.split_whitespace();
        let (from, to) = parts.next().unwrap().split_once('>').unwrap();
        let weight = parts.next().unwrap().parse().unwrap();
        links.push(connect(from, to, parts.next().unwrap_or("feeds_into"), weight));
        ids.extend([from, to]);
    }
    ids.sort_unstable();
    ids.dedup();
    let mut ops: Vec<Value> = ids.iter().map(|id| create(id)).collect();
    for id in &ids {
        let salience = saliences.iter().find(|(name, _)| name == id).map_or(65535, |(_, s)| *s);
        // Strengths in 65535ths give back the salience exactly.
        ops.push(json!({"op": "activate", "id": id, "strength": salience as f64 / 65535.0}));
    }
    ops.extend(links);
    let sandbox = Sandbox::fixed(NOW, "worked numbers");
    sandbox.apply(&delta(json!(ops)), &[]);
    for id in ids {
        let salience = saliences.iter().find(|(name, _)| *name == id).map_or(65535, |(_, s)| *s);
        assert_eq!(sandbox.neuron(id)["salience"], salience, "{id}");
    }
    sandbox
}

/// The answer to cues such as `p=.5`, under settings such as `beam=2`.
fn ask(sandbox: &Sandbox, cues: &[&str], settings: &[&str]) -> Value {
    let plain = ["decay=0.9", "min=0.01", "max_depth=4", "beam=0", "passes=1", "pass_count=2", "refractory=0"];
    let settings: Vec<String> = plain.iter().chain(settings).map(|s| format!("activation.{s}")).collect();
    let mut args = vec!["propagate"];
    args.extend(settings.iter().flat_map(|s| ["-c", s]));
    args.extend(cues.iter().flat_map(|c| ["--from", c]));
    sandbox.json(&args)
}

#[track_caller]
fn same(found: &Value, expected: &[(&str, f64)]) {
    let found: BTreeMap<String, f64> = serde_json::from_value(found.clone()).unwrap();
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let mut wanted: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted, "{found:?}");
    for (name, x) in expected {
        // The specification prints ten digits of the longest.
        assert!((found[*name] - x).abs() <= 5e-11, "{name}: {} is not {x}", found[*name]);
    }
}

#[test]
fn o1_strength_falls_along_a_chain() {
    let brain = network("a>b 52428\nb>c 39321\nc>d 65535", &[("c", 52428), ("d", 39321)]);
    same(&ask(&brain, &["a"], &[])["activation"], &[("a", 1.0), ("b", 0.72), ("c", 0.31104), ("d", 0.1679616)]);
    for bound in ["max_depth=2", "min=0.2"] {
        same(&ask(&brain, &["a"], &[bound])["activation"], &[("a", 1.0), ("b", 0.72), ("c", 0.31104)]);
    }
}

#[test]
fn o2_the_strongest_way_wins_whatever_the_order_of_files() {
    let brain = network("a>b 52428\na>c 26214\nb>d 26214\nc>d 65535\nd>e 65535", &[]);
    let expected = [("a", 1.0), ("b", 0.72), ("c", 0.36), ("d", 0.324), ("e", 0.2916)];
    same(&ask(&brain, &["a"], &[])["activation"], &expected);
}

#[test]
fn o2b_the_first_level_wins_over_a_later_one() {
    let brain = network("a>b 65535\na>c 65535\nc>b 65535\nb>d 65535", &[]);
    let expected = [("a", 1.0), ("b", 0.9), ("c", 0.9), ("d", 0.81)];
    same(&ask(&brain, &["a"], &["max_depth=2"])["activation"], &expected);
}

#[test]
fn o3_what_is_rejected_has_not_been_visited() {
    let brain = network("a>t 655\na>b 65535\nb>t 65535", &[]);
    same(&ask(&brain, &["a"], &[])["activation"], &[("a", 1.0), ("b", 0.9), ("t", 0.81)]);
}

#[test]
fn o4_every_type_of_connection_has_its_effect() {
    let edges = "p>m 52428\nk>m 26214 influences\nx>m 26214 inhibits\nep>p 39321 recalls\nm>al 65535 triggers";
    let brain = network(edges, &[]);
    let active = |cues: &[&str], expected: &[(&str, f64)]| {
        let answer = ask(&brain, cues, &[]);
        same(&answer["activation"], expected);
        answer
    };
    active(&["p=1"], &[("p", 1.0), ("m", 0.72), ("ep", 0.54)]);
    let answer = active(&["p=.5", "k=1"], &[("p", 0.5), ("k", 1.0), ("m", 0.4896), ("ep", 0.27)]);
    same(&answer["context"], &[("m", 0.36)]);
    active(&["p=1", "x=1"], &[("p", 1.0), ("x", 1.0), ("m", 0.36), ("ep", 0.54)]);
    active(&["p=.5", "k=1", "x=1"], &[("p", 0.5), ("k", 1.0), ("x", 1.0), ("m", 0.1296), ("ep", 0.27)]);
    let answer = active(&["k=1"], &[("k", 1.0)]);
    same(&answer["context"], &[("m", 0.36)]);
    active(&["ep=1"], &[("ep", 1.0)]);
    let brain = network(edges, &[("m", 13107)]);
    same(&ask(&brain, &["m=1"], &[])["activation"], &[("m", 1.0), ("al", 0.72)]);
    let brain = network(edges, &[("m", 39321)]);
    same(&ask(&brain, &["m=1"], &[])["activation"], &[("m", 1.0)]);
}

#[test]
fn o5_a_ring_comes_back_weaker_and_dies() {
    let brain = network("p>m 52428\nm>q 52428\nq>p 52428", &[]);
    let first = [("p", 1.0), ("m", 0.72), ("q", 0.5184)];
    for refractory in ["refractory=0", "refractory=2"] {
        let answer = ask(&brain, &["p"], &["passes=0", "pass_count=2", refractory]);
        let passes = answer["passes"].as_array().unwrap();
        same(&passes[0], &first);
        same(&passes[1], &[("p", 0.373248), ("m", 0.26873856), ("q", 0.1934917632)]);
        let starts: Vec<f64> = passes.iter().map(|pass| pass["p"].as_f64().unwrap()).collect();
        let expected = [1.0, 0.373248, 0.069657034752, 0.01299967445];
        assert_eq!(starts.len(), expected.len(), "{passes:?}");
        for (start, x) in starts.iter().zip(expected) {
            assert!((start - x).abs() <= 5e-11, "{start} is not {x}");
        }
    }
    let answer = ask(&brain, &["p"], &["passes=0", "pass_count=2", "refractory=3"]);
    assert_eq!(answer["passes"].as_array().unwrap().len(), 1);
    same(&answer["activation"], &first);
    let answer = ask(&brain, &["p"], &["passes=1"]);
    same(&answer["activation"], &first);
}

#[test]
fn o6_a_beam_keeps_the_best_and_counts_what_it_cuts() {
    let edges = "a>b 65535\na>c 52428\na>d 52428\na>e 13107\nb>f 26214\nc>f 26214\nd>g 65535\ne>h 65535";
    let brain = network(edges, &[]);
    let answer = ask(&brain, &["a"], &["beam=2"]);
    same(&answer["activation"], &[("a", 1.0), ("b", 0.9), ("c", 0.72), ("f", 0.324)]);
    assert_eq!(answer["cut"], 2);
    let answer = ask(&brain, &["a"], &["beam=0"]);
    let all = [("a", 1.0), ("b", 0.9), ("c", 0.72), ("d", 0.72), ("e", 0.18), ("f", 0.324), ("g", 0.648), ("h", 0.162)];
    same(&answer["activation"], &all);
    assert_eq!(answer["cut"], 0);
}

#[test]
fn o7_the_seeds_own_example() {
    let (perception, memory, decision) = ("n_perception_001", "n_memory_001", "n_decision_001");
    let edges = format!("{perception}>{memory} 50000\n{perception}>{decision} 35000 influences");
    let brain = network(&edges, &[(perception, 45000), (memory, 45000), (decision, 45000)]);
    let answer = ask(&brain, &[perception], &[]);
    same(&answer["activation"], &[(perception, 1.0), (memory, 0.4714964422)]);
    same(&answer["context"], &[(decision, 0.3300475096)]);
}

#[test]
fn settings_come_from_flag_environment_git_and_file_in_that_order() {
    let mut brain = network("a>b 65535\nb>c 65535\nc>d 65535\nd>e 65535\ne>f 65535", &[]);
    let depth = |brain: &Sandbox, args: &[&str]| {
        let answer = brain.json(&[args, &["propagate", "--from", "a"]].concat());
        answer["activation"].as_object().unwrap().len() - 1
    };
    assert_eq!(depth(&brain, &[]), 4, "brain.toml");
    brain.git(&["config", "brain.activation.max-depth", "3"]);
    assert_eq!(depth(&brain, &[]), 3, "git config");
    brain = brain.with("BRAIN_ACTIVATION_MAX_DEPTH", "2");
    assert_eq!(depth(&brain, &[]), 2, "environment");
    assert_eq!(depth(&brain, &["-c", "activation.max-depth=1"]), 1, "flag");
    brain.brain(&["-c", "activation.max_depht=1", "propagate", "--from", "a"]).exits(5);
    brain.brain(&["-c", "activation.max_depth", "propagate", "--from", "a"]).exits(2);
}

#[test]
fn an_older_state_can_be_asked() {
    let brain = network("a>b 65535", &[]);
    let before = brain.tip("wake");
    brain.apply(&delta(json!([create("c"), connect("b", "c", "feeds_into", 65535)])), &[]);
    let names = |answer: Value| answer["activation"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(brain.json(&["propagate", "--from", "a", "--at", &before])), ["a", "b"]);
    assert_eq!(brain.brain(&["propagate", "--from", "c", "--at", &before]).code, 3);
    for wrong in ["a=2", "a=x", "A", "../a"] {
        brain.brain(&["propagate", "--from", wrong]).exits(2);
    }
}
