//! Settings that other machines do not have: who commits by them is told that nobody else can do it again.

use crate::machines::World;
use crate::sandbox::{create, delta};
use serde_json::json;

#[test]
fn who_commits_by_settings_of_his_own_is_warned() {
    let world = World::new();
    world.git("a", &["config", "brain.learning.salience-gain", "30000"]);
    let warned = |args: &[&str]| {
        let answer = world.try_brain("a", args).exits(0);
        let lines: Vec<&str> = answer.err.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert!(lines.len() < 2, "{answer}");
        lines.first().map(|line| (*line).to_owned())
    };
    for args in [&["feed", "Anna grows tea."][..], &["run"], &["sleep"]] {
        let said = warned(args).unwrap_or_else(|| panic!("{args:?} warns of nothing"));
        assert!(said.contains("learning.salience_gain (git config brain.learning.salience-gain)"), "{said}");
        assert!(said.contains("sync") && said.contains("brain.toml"), "{said}");
    }
    // Sync refuses to push it, and goes on without it. Programs that call it read the warning in its report.
    let said = world.try_brain("a", &["sync"]).exits(3).err;
    assert!(said.starts_with("warning: learning.salience_gain") && said.contains("--without-refused"), "{said}");
    let report = world.json("a", &["sync", "--without-refused"]);
    assert!(report["warnings"][0].as_str().unwrap().contains("learning.salience_gain"), "{report}");
    // Who only reads, or says what would be, is left alone.
    for args in [&["status", "--quick"][..], &["recall", "tea"], &["feed", "--dry-run", "Tea."], &["goal", "list"]] {
        assert_eq!(warned(args), None, "{args:?}");
    }
    // A setting for this command, of another section that counts, and one of a section that only concerns this machine.
    world.git("a", &["config", "--unset", "brain.learning.salience-gain"]);
    assert_eq!(warned(&["run"]), None);
    assert!(warned(&["-c", "activation.max_depth=2", "run"]).unwrap().contains("activation.max_depth (-c "));
    assert_eq!(warned(&["-c", "recall.top=3", "run"]), None);
    // The same as in brain.toml is no other.
    let settings = world.read("a", "brain.toml").replace("[learning]\n", "[learning]\nsalience_gain = 30000\n");
    world.write("a", "brain.toml", &settings);
    world.git("a", &["commit", "-q", "-am", "salience is gained slower"]);
    assert_eq!(warned(&["-c", "learning.salience_gain=30000", "run"]), None);
    assert!(world.sync("a")["warnings"].as_array().unwrap().is_empty());
    // Nobody else, nobody to refuse it.
    world.git("a", &["remote", "remove", "origin"]);
    assert_eq!(warned(&["-c", "activation.max_depth=2", "feed", "Boris drinks tea."]), None);
}

/// What the warning says is so.
#[test]
fn what_was_committed_by_settings_of_its_own_is_refused_elsewhere() {
    let world = World::gated();
    let ops = json!([create("z"), {"op": "activate", "id": "x", "strength": 0.5}]);
    let dir = world.dir("a").display().to_string();
    let args = ["-C", &dir, "-c", "learning.salience_gain=30000", "apply", "--agent", "perception", "-"];
    let answer = world.sandbox.brain_with(&args, delta(ops).to_string().as_bytes()).exits(0);
    assert!(answer.err.starts_with("warning: learning.salience_gain (-c learning.salience_gain=30000)"), "{answer}");
    let said = world.try_brain("a", &["sync"]).exits(3).err;
    assert!(said.contains("does not fit its operations"), "{said}");
}
