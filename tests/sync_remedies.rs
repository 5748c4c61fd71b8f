//! What stops machines from meeting, and whether the commands that the refusal names mend it.

use crate::machines::World;
use crate::sandbox::{self, adjust, create};
use serde_json::{Value, json};

/// A bare remote with the gate, or without one.
fn remote(gate: bool) -> World {
    let world = if gate { World::gated() } else { World::new() };
    world.clone("b");
    world
}

/// The commands in backticks of a refusal's hint.
fn commands(answer: &sandbox::Answer) -> Vec<String> {
    let hint = answer.error()["hint"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    hint.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The command of a refusal that begins so, given to a shell in that machine.
#[track_caller]
fn give(world: &World, name: &str, answer: &sandbox::Answer, begins: &str) {
    let command = commands(answer).into_iter().find(|command| command.starts_with(begins));
    let command = command.unwrap_or_else(|| panic!("no {begins}: {answer}"));
    let ended = world.sandbox.command("sh", &["-c", &command]).current_dir(world.dir(name)).output().unwrap();
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// A run's branch in `a`, and another commit of that run with another record.
fn two_records(world: &World) -> (String, String, String) {
    let (branch, first) = world.waiting("a", "perception", json!([create("tea")]));
    let record = world.path_of("a", &first, &format!("{}.json", branch.rsplit('/').next().unwrap()));
    let tea = world.path_of("a", &first, "/tea.json");
    let other =
        |path: &str| world.git("a", &["show", &format!("{first}:{path}")]).replace("\"tea\"", "\"teas\"") + "\n";
    let (record_text, tea_text) = (
        other(&record).replace("\"id\": \"teas\"", "\"id\": \"tea\"").replace("\"id\":\"teas\"", "\"id\":\"tea\""),
        other(&tea).replace("\"id\": \"teas\"", "\"id\": \"tea\""),
    );
    let second = world.recommit("a", &first, &[(&record, Some(&record_text)), (&tea, Some(&tea_text))]);
    (branch, first, second)
}

#[test]
fn the_gate_refuses_a_second_record_of_a_run() {
    let world = remote(true);
    let (branch, first, second) = two_records(&world);
    world.git("a", &["push", "-q", "origin", &format!("{first}:refs/heads/{branch}")]);
    // Wake with another record than a branch has.
    let wake = world.git_fails("a", &["push", "origin", &format!("{second}:refs/heads/wake")]);
    assert!(wake.contains("is a second record of its run") && wake.contains(&branch), "{wake}");
    // A branch with another one than wake has. The branch goes with the push that brings wake's.
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    let said = world.git_fails("a", &["push", "origin", &format!("{second}:refs/heads/{branch}")]);
    assert!(said.contains("is a second record of its run: wake has another one"), "{said}");
    world.git("a", &["branch", &branch, &second]);
    let said = world.try_brain("a", &["merge", &branch]).exits(3);
    assert!(said.out.contains("second record"), "{said}");
    world.same(&["a"]);
}

#[test]
fn a_second_record_that_is_met_stops_nothing_else() {
    let world = remote(false);
    let (branch, first, second) = two_records(&world);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &first]);
    world.brain("a", &["merge", &branch]);
    // One waits at the remote, wake has the other.
    world.git("a", &["push", "-q", "origin", &format!("{second}:refs/heads/{branch}")]);
    world.try_brain("a", &["sync"]).exits(3);
    let answer = world.try_brain("b", &["--json", "sync"]).exits(3);
    assert!(answer.err.contains(&branch) && answer.err.contains("is a second record of its run"), "{answer}");
    assert_eq!(world.tip("b", "wake"), world.tip("a", "wake"), "the rest goes on");
    give(&world, "b", &answer, "git push origin --delete");
    world.sync("b");
    // One waits here, wake there gets the other.
    let (branch, first, second) = two_records(&world);
    world.git("b", &["fetch", "-q", "../a", &second]);
    world.git("b", &["update-ref", &format!("refs/heads/{branch}"), &second]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &first]);
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    let synced = world.sync("b");
    let note = synced["notes"][0].as_str().unwrap();
    assert!(note.contains(&branch) && note.contains("git brain reject"), "{note}");
    world.brain("b", &["reject", &branch]);
    assert_eq!(world.sync("b")["notes"], json!([]));
    world.same(&["a", "b"]);
}

#[test]
fn two_wakes_with_two_records_of_a_run_have_a_way_out() {
    let world = remote(false);
    let (branch, first, second) = two_records(&world);
    world.git("b", &["fetch", "-q", "../a", &second]);
    world.git("b", &["update-ref", &format!("refs/heads/{branch}"), &second]);
    world.brain("b", &["merge", &branch]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &first]);
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    let answer = world.try_brain("b", &["--json", "sync"]).exits(3);
    let said = answer.err.clone();
    assert!(said.contains("is a second record of its run: wake has another one"), "{said}");
    let log = commands(&answer).into_iter().find(|command| command.starts_with("git log")).unwrap();
    let found = world.git("b", &log.split(' ').skip(1).collect::<Vec<_>>());
    world.git("b", &["switch", "-q", "wake"]);
    world.git("b", &["revert", "--no-edit", "-m", "1", found.lines().next().unwrap()]);
    world.git("b", &["switch", "-q", "main"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.neuron("b", "wake", "tea")["concept"], "tea");
}

#[test]
fn wake_merged_into_main_by_plain_git_has_a_way_back() {
    for (gate, forward) in [(true, true), (true, false), (false, true), (false, false)] {
        let world = remote(gate);
        world.apply("a", json!([create("tea")]));
        if !forward {
            world.write("a", "notes.txt", "mine\n");
            world.git("a", &["add", "--sparse", "notes.txt"]);
            world.git("a", &["commit", "-qm", "a note"]);
        }
        let good = world.tip("a", "main");
        world.git("a", &["merge", "-q", "--no-edit", "wake"]);
        let answer = world.try_brain("a", &["--json", "sync"]).exits(3);
        assert!(answer.err.contains("main has commits of wake since"), "{answer}");
        // A night and a person's commit upon it change nothing.
        world.slept("a");
        world.write("a", "later.txt", "later\n");
        world.git("a", &["add", "--sparse", "later.txt"]);
        world.git("a", &["commit", "-qm", "later"]);
        let answer = world.try_brain("a", &["--json", "sync"]).exits(3);
        if !gate {
            // An older program pushes it. The others put it back.
            world.git("a", &["push", "-q", "origin", "main", "wake"]);
            let theirs = world.try_brain("b", &["--json", "sync"]).exits(3);
            assert!(theirs.err.contains("plain git"), "{theirs}");
            give(&world, "b", &theirs, "git push origin +");
            world.sync("b");
        }
        give(&world, "a", &answer, "git reset --keep");
        assert_eq!(world.tip("a", "main"), good, "{gate} {forward}");
        give(&world, "a", &answer, "git cherry-pick");
        let synced = world.sync("a");
        assert_eq!(synced["main"], json!(world.tip("a", "main")), "{synced}");
        world.sync("b");
        // The night that was given up comes back with the next.
        world.apply("a", json!([create("uji")]));
        world.slept("a");
        world.sync("a");
        world.sync("b");
        world.same(&["a", "b"]);
        assert_eq!(world.neuron("b", "main", "tea")["id"], "tea", "{gate} {forward}");
        assert_eq!(world.git("b", &["show", "main:later.txt"]), "later");
    }
}

/// The run and the agent of each entry of `why` that says that text.
fn acts(world: &World, name: &str, says: &str) -> Vec<(Value, Value)> {
    let why = world.json(name, &["why", "x"]);
    let runs = why["runs"].as_array().unwrap().iter().filter(|entry| entry["effects"].to_string().contains(says));
    runs.map(|entry| (entry["run"].clone(), entry["agent"].clone())).collect()
}

#[test]
fn why_and_blame_follow_a_change_to_the_machine_that_made_it() {
    let world = remote(false);
    let one = world.apply("a", json!([adjust("x", "y", "feeds_into", 5)]))["run"].clone();
    let one_more = world.apply("a", json!([create("elsewhere")]))["run"].clone();
    let (branch, _) = world.waiting("b", "memory", json!([adjust("x", "y", "feeds_into", 7)]));
    world.brain("b", &["merge", &branch]);
    let two = json!(branch.rsplit('/').next().unwrap());
    world.apply("b", json!([create("another")]));
    for (first, second) in [("a", "b"), ("b", "a")] {
        world.sync(first);
        world.sync(second);
    }
    world.same(&["a", "b"]);
    for name in ["a", "b"] {
        let all = acts(&world, name, "feeds_into");
        assert!(all.contains(&(two.clone(), json!("memory"))), "{name}: {all:?}");
        assert!(all.iter().any(|(run, _)| *run == one), "{name}: {all:?}");
        assert!(!all.iter().any(|(run, _)| *run == one_more), "{name}: {all:?}");
        let blame = world.json(name, &["blame", "x"]);
        let line = blame["fields"].as_array().unwrap().iter().find(|line| line["field"] == "feeds_into y").unwrap();
        assert_eq!((&line["run"], &line["value"]), (&two, &json!("20012")), "{name}: {blame}");
    }
    // Both sleep, and one night is given up.
    for name in ["a", "b"] {
        let active = |id: &str| json!({"op": "activate", "id": id, "strength": 0.9});
        world.apply(name, json!([active("x"), active("y")]));
        world.slept(name);
    }
    world.sync("a");
    world.sync("b");
    world.sync("a");
    for name in ["a", "b"] {
        let all = acts(&world, name, "feeds_into");
        assert!(all.contains(&(two.clone(), json!("memory"))), "{name}: {all:?}");
        assert_eq!(all.iter().filter(|(_, agent)| agent == "sleep").count(), 2, "{name}: {all:?}");
        assert!(all.iter().all(|(run, _)| !run.is_null()), "{name}: {all:?}");
    }
}

#[test]
fn check_and_merge_refuse_what_the_gate_refuses() {
    let world = remote(false);
    let last = "99991231t235959999z-zzzzzzzz-memory";
    let wake = world.tip("a", "wake");
    let far =
        world.commit("a", &wake, &[&wake], &[("notes.txt", Some("x\n"))], &format!("far\n\nNewest-Run: {last}\n"), &[]);
    world.git("a", &["branch", "far", &far]);
    let said = world.try_brain("a", &["merge", "far"]).exits(3).out;
    assert!(said.contains("Newest-Run") && said.contains("ahead of the clock"), "{said}");
    let stimulus = json!({"id": "s-1", "at": "9999-01-01T00:00:00Z", "text": "late"}).to_string();
    let shard = {
        use sha2::Digest;
        format!("{:02x}", sha2::Sha256::digest(b"s-1")[0])
    };
    let path = format!("network/stimuli/9999/01/{shard}/s-1.json");
    let fed = world.commit("a", &wake, &[&wake], &[(&path, Some(&stimulus))], "fed\n", &[]);
    let said = world.try_brain("a", &["check", &fed]).exits(1).out;
    assert!(said.contains("at is ahead of the clock"), "{said}");
    assert_eq!(world.tip("a", "wake"), wake);
    world.git("a", &["update-ref", "refs/heads/wake", &far]);
    let said = world.try_brain("a", &["check"]).exits(1).out;
    assert!(said.contains("Newest-Run") && said.contains(&far), "{said}");
}

#[test]
fn two_people_who_rename_a_neuron_by_hand_are_told_how_to_settle_it() {
    let world = remote(true);
    let path = world.path_of("a", "wake", "/x.json");
    for (name, concept) in [("a", "Anna's name"), ("b", "Ben's name")] {
        let wake = world.tip(name, "wake");
        let text = world
            .git(name, &["show", &format!("wake:{path}")])
            .replace("\"concept\": \"x\"", &format!("\"concept\": \"{concept}\""));
        let commit = world.commit(name, &wake, &[&wake], &[(&path, Some(&(text + "\n")))], "renamed\n", &[]);
        world.git(name, &["update-ref", "refs/heads/wake", &commit]);
    }
    world.sync("a");
    let answer = world.try_brain("b", &["--json", "sync"]).exits(3);
    assert!(answer.err.contains("Anna's name") && answer.err.contains("Ben's name"), "{answer}");
    let command = commands(&answer)[0].replace("git brain", &format!("{} ", env!("CARGO_BIN_EXE_git-brain")));
    let ended = world.sandbox.command("sh", &["-c", &command]).current_dir(world.dir("b")).output().unwrap();
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.neuron("b", "wake", "x")["concept"], "Anna's name");
    world.apply("b", json!([{"op": "reword", "id": "x", "concept": "Ben's name"}]));
    world.sync("b");
    world.sync("a");
    assert_eq!(world.neuron("a", "wake", "x")["concept"], "Ben's name");
}

/// A night upon an older main tells what its day and the one before it did, and the gate reads the same off the trees.
#[test]
fn a_night_after_main_was_moved_back_is_let_in() {
    let world = World::gated();
    let texts =
        ["The office code of the door is 4711.", "Mara has the office code of the door.", "The bakery opens at 7."];
    world.brain("a", &["feed", texts[0]]);
    world.brain("a", &["sleep"]);
    world.write("a", "NOTE", "by hand\n");
    world.git("a", &["add", "NOTE"]);
    world.git("a", &["commit", "-qm", "a note"]);
    world.brain("a", &["feed", texts[1]]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.git("a", &["reset", "-q", "--hard", "main~2"]);
    world.brain("a", &["feed", texts[2]]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.clone("b");
    world.sync("b");
    world.same(&["a", "b"]);
}

/// To git a name is a branch or a folder of branches: what somebody pushed in the place of ours stops nothing else.
#[test]
fn a_ref_in_the_way_at_the_remote_is_named_and_the_rest_goes_on() {
    for other in ["agents", "agents/perception"] {
        let world = World::new();
        world.write("a", "brain.toml", "[[review.rule]]\nname = \"perceived\"\nagents = [\"perception\"]\n");
        world.git("a", &["add", "brain.toml"]);
        world.git("a", &["commit", "-qm", "rules"]);
        world.sync("a");
        world.git("a", &["push", "-q", "origin", &format!("HEAD:refs/heads/{other}")]);
        let (branch, _) = world.waiting("a", "perception", json!([create("held")]));
        world.apply("a", json!([create("landed")]));
        let notes = world.sync("a")["notes"].to_string();
        assert!(notes.contains(&format!("{branch} stays here: origin has refs/heads/{other}")), "{notes}");
        assert_eq!(world.git("a", &["ls-remote", "origin", "refs/heads/wake"])[..40], world.tip("a", "wake")[..]);
        // Decisions go the same way, and in the end there is room.
        world.git("a", &["push", "-q", "origin", "HEAD:refs/brain/reviews/x"]);
        world.brain("a", &["approve", &branch]);
        let notes = world.sync("a")["notes"].to_string();
        assert!(notes.contains("reviews stay here: origin has refs/brain/reviews/x"), "{notes}");
        world.git("a", &["push", "-q", "origin", "--delete", &format!("refs/heads/{other}"), "refs/brain/reviews/x"]);
        assert_eq!(world.sync("a")["notes"], json!([]));
        assert!(world.git("a", &["ls-remote", "origin"]).contains("refs/brain/reviews"));
    }
}
