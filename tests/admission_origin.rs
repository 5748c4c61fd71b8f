//! Where the runs of other machines say that they come from: never from nearer than the stimuli that they name.

use crate::machines::{World, refused};

const MCP: &str = "mcp:editor";

/// The newest run of an agent in `a`: its commit, and the branch that it had.
fn newest(world: &World, agent: &str) -> (String, String) {
    let author = format!("--author=^{agent} <");
    let commit = world.git("a", &["log", "-1", "--no-merges", &author, "--format=%H", "wake"]);
    let run = world.git("a", &["log", "-1", "--format=%(trailers:key=Run,valueonly,separator=)", &commit]);
    (commit, format!("agents/{agent}/{run}"))
}

/// The same run, but for where it says that it comes from: in its record and in all that it made.
fn relabelled(world: &World, commit: &str, origin: &str) -> String {
    let paths = world.git("a", &["diff", "--name-only", "--diff-filter=AM", &format!("{commit}^"), commit]);
    let label = |name: &str| format!("\"origin\": \"{name}\"");
    let files: Vec<(&str, String)> = paths
        .lines()
        .map(|path| (path, world.git("a", &["show", &format!("{commit}:{path}")]) + "\n"))
        .filter(|(_, text)| text.contains(&label(MCP)))
        .map(|(path, text)| (path, text.replace(&label(MCP), &label(origin))))
        .collect();
    assert!(files.iter().any(|(path, _)| path.starts_with("network/runs/")), "{paths}");
    let files: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, Some(text.as_str()))).collect();
    world.recommit("a", commit, &files)
}

#[test]
fn a_run_comes_from_no_nearer_than_its_stimuli() {
    let world = World::gated();
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    let before = world.refs("remote.git");
    // Perception consumed the stimulus; memory was woken by perception, and descends from it.
    for agent in ["perception", "memory"] {
        let (commit, branch) = newest(&world, agent);
        for origin in ["local", "import", "bootstrap", "approved:mcp:editor", "mcp:aaa"] {
            let forged = relabelled(&world, &commit, origin);
            let said = world.git_fails("a", &["push", "origin", &format!("{forged}:refs/heads/{branch}")]);
            let says = format!("says that it comes from {origin}, and the stimulus ");
            assert!(said.contains(&says) && said.contains(" that it names comes from mcp:editor"), "{said}");
            assert_eq!(world.refs("remote.git"), before);
        }
    }
    // Who says that it comes from further away than it does gets less for it.
    let (commit, branch) = newest(&world, "perception");
    let modest = relabelled(&world, &commit, "webhook:x");
    world.git("a", &["push", "-q", "origin", &format!("{modest}:refs/heads/{branch}")]);
}

#[test]
fn a_person_brings_main_no_word_that_nobody_approved() {
    let world = World::gated();
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    world.sync("a");
    let main = world.tip("a", "main");
    for folder in ["network/stimuli", "network/signals"] {
        let paths = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "--", folder]);
        let text = |path: &str| world.git("a", &["show", &format!("wake:{path}")]) + "\n";
        let of_tea = |path: &&str| folder == "network/stimuli" || text(path).contains("\"from\": \"perception\"");
        let files = paths.lines().filter(|path| path.ends_with(".json") && !path.ends_with(".ack.json"));
        let path = files.into_iter().find(of_tea).unwrap();
        let text = text(path);
        let commit = world.commit("a", &main, &[&main], &[(path, Some(&text))], "by hand\n", &[]);
        refused(&world, path, &commit, "main", "comes from mcp:editor, and that was not approved");
    }
}

#[test]
fn a_machine_takes_nights_without_what_was_taken_back() {
    let world = World::gated();
    world.clone("b");
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    world.brain("a", &["feed", "--origin", "webhook:x", "Green tea from Uji is cheap, says Carla."]);
    world.brain("a", &["revert", "--origin", MCP]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.sync("b");
    world.brain("b", &["feed", "Emil likes green tea."]);
    world.brain("b", &["sleep"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn what_is_true_of_tainted_memories_is_let_in() {
    let world = World::gated();
    world.clone("b");
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    // A person relabels: what comes of the approved afterwards names stimuli that are what they were.
    world.brain("b", &["approve", "--origin", MCP]);
    world.brain("b", &["feed", "Boris grows green tea in Uji as well."]);
    world.brain("b", &["sleep"]);
    world.sync("b");
    world.sync("a");
    world.brain("a", &["feed", "--origin", "import:x", "Boris met Anna in Uji."]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

/// Adds to the settings of a machine, and commits that on main.
fn sets(world: &World, name: &str, more: &str) {
    let text = world.read(name, "brain.toml");
    world.write(name, "brain.toml", &format!("{text}\n{more}\n"));
    world.git(name, &["commit", "-q", "-a", "-m", "settings: origins"]);
}

#[test]
fn a_change_of_what_is_trusted_stops_no_machine() {
    let world = World::gated();
    world.write("a", "net.json", r#"{"neurons": [{"id": "imp-1", "concept": "imported thing", "type": "semantic"}]}"#);
    world.brain("a", &["import", world.dir("a").join("net.json").to_str().unwrap()]);
    std::fs::remove_file(world.dir("a").join("net.json")).unwrap();
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.clone("b");
    // What main has is of little trust from now on; who was away fetches that and the night together.
    sets(&world, "a", "[origins]\nimport = \"tainted\"");
    world.brain("a", &["feed", "Anna sees the imported thing"]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn who_trusts_more_and_who_has_not_accepted_that_take_each_others_nights() {
    let world = World::gated();
    world.clone("b");
    sets(&world, "a", "[origins]\nmcp = \"trusted\"");
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "--origin", MCP, "Boris sells green tea"]);
    world.sync("a");
    for (night, other) in [("b", "a"), ("a", "b")] {
        world.sync(night);
        world.brain(night, &["feed", &format!("Carla drinks tea on {night}")]);
        world.brain(night, &["sleep"]);
        world.sync(night);
        world.sync(other);
    }
    world.same(&["a", "b"]);
}

#[test]
fn stimulus_of_a_plain_commit_that_says_approved_keeps_nobody_out() {
    let world = World::gated();
    world.clone("b");
    for origin in ["approved", "approved:web:x", "import:mail", "bootstrap"] {
        world.brain("a", &["feed", &format!("Tea of {origin} grows in Uji")]);
        let commit = world.git("a", &["log", "--format=%H", "--grep=^stimulus", "-1", "wake"]);
        let files = world.git("a", &["diff-tree", "-r", "--name-only", "--no-commit-id", &commit]);
        let path = files.lines().find(|path| path.ends_with(".json")).unwrap();
        let text = world.git("a", &["show", &format!("{commit}:{path}")]) + "\n";
        let said = text.replace("\"origin\": \"local\"", &format!("\"origin\": \"{origin}\""));
        assert_ne!(said, text);
        let parent = world.git("a", &["rev-parse", &format!("{commit}^")]);
        let made = world.commit("a", &commit, &[&parent], &[(path, Some(&said))], "a note\n", &[]);
        // As if it had been pushed, and this machine were the first to run agents for it.
        world.git("a", &["update-ref", "refs/heads/wake", &made]);
        world.brain("a", &["run"]);
        world.sync("a");
        world.sync("b");
        world.same(&["a", "b"]);
    }
}

#[test]
fn origins_that_are_too_long_together_keep_nobody_out() {
    let world = World::gated();
    world.clone("b");
    for letter in ["a", "b", "c"] {
        let origin = format!("mcp:{}", letter.repeat(150));
        world.brain(
            "a",
            &["feed", "--no-run", "--origin", &origin, &format!("Tea of the monks in Kyoto {letter} is green")],
        );
    }
    world.brain("a", &["run"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}
