//! What `sync` and the gate do not let in: forged, broken and foreign commits, rewritten and hostile remotes.

use crate::machines::World;
use crate::sandbox::{self, adjust, connect, create};
use serde_json::json;

/// Each forbidden thing: what it is called, a commit in `a`, the branch that it is pushed to, and what the refusal says.
fn forbidden(world: &World) -> Vec<(&'static str, String, String, &'static str)> {
    let (wake, main) = (world.tip("a", "wake"), world.tip("a", "main"));
    let y = world.path_of("a", "wake", "/y.json");
    let record = world.path_of("a", "wake", "-human.json");
    let neuron = world.git("a", &["show", &format!("wake:{y}")]) + "\n";
    let on_wake = |files: &[(&str, Option<&str>)], variables: &[(&str, &str)]| {
        world.commit("a", &wake, &[&wake], files, "by hand\n", variables)
    };
    let dangling = neuron.replace("\n}", ",\n  \"connections\": {\n    \"nowhere\": {\"feeds_into\": 9}\n  }\n}");
    assert_ne!(dangling, neuron);
    let future = neuron.replacen("\"created_at\": \"20", "\"created_at\": \"21", 1);
    assert_ne!(future, neuron);
    let (branch, run) = world.waiting("a", "perception", json!([create("z"), connect("x", "z", "feeds_into", 2000)]));
    let own = world.path_of("a", &run, &format!("{}.json", branch.rsplit('/').next().unwrap()));
    let x = world.path_of("a", &run, "/x.json");
    let (said, did) =
        (world.git("a", &["show", &format!("{run}:{own}")]), world.git("a", &["show", &format!("{run}:{x}")]));
    let forged = did.replace("\"feeds_into\": 2000}", "\"feeds_into\": 60000}") + "\n";
    assert!(forged.contains("60000") && did.contains("2000"), "{did}");
    let quiet_record = said.replace(" 2000", " 2001") + "\n";
    let renamed = |from: &str, to: &str| {
        let path = own.replace(from, to);
        let id = path.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned();
        (id, said.replace(from, to) + "\n")
    };
    let (stranger, text) = renamed("perception", "stranger");
    let shard = |id: &str| {
        use sha2::Digest;
        let hash = sha2::Sha256::digest(id.as_bytes());
        format!("{:02x}", hash[0])
    };
    let folder = own.rsplitn(3, '/').last().unwrap().to_owned();
    let strange_path = format!("{folder}/{}/{stranger}.json", shard(&stranger));
    let strange = world.recommit("a", &run, &[(&own, None), (&strange_path, Some(&text))]);
    let archive = "  \"ops\": [\n    {\"op\":\"archive\",\"id\":\"y\",\"reason\":\"so\"}\n  ],\n  \"effects\"";
    let wide = said.replace("  \"effects\"", archive) + "\n";
    assert!(wide.contains("archive") && wide.contains("implied"), "{said}");
    let core = world.path_of("a", "wake", "/decision_point.json");
    let changed =
        world.git("a", &["show", &format!("wake:{core}")]).replacen("\"salience\": ", "\"salience\": 1", 1) + "\n";
    assert_ne!(changed.trim(), world.git("a", &["show", &format!("wake:{core}")]));
    let agent = world.read("a", "agents/affect.json");
    // A true sleep, of another machine.
    world.clone("sleeper");
    let slept = world.slept("sleeper");
    world.git("a", &["fetch", "-q", "../sleeper", "main"]);
    vec![
        (
            "a sleep that brings what its day had not",
            world.recommit("a", &slept, &[(&own, Some(&wide))]),
            "main".into(),
            "slept over",
        ),
        (
            "a sleep that says nothing of a neuron",
            world.recommit("a", &slept, &[(&core, Some(&changed))]),
            "main".into(),
            "does not say that it changed",
        ),
        (
            "a sleep that changes an agent",
            world.recommit(
                "a",
                &slept,
                &[("agents/affect.json", Some(&agent.replace("\"priority\": 6", "\"priority\": 7")))],
            ),
            "main".into(),
            "outside the network",
        ),
        ("bad JSON", on_wake(&[(&y, Some("{\n  \"id\": \"y\",,\n}\n"))], &[]), "wake".into(), "y.json:2"),
        (
            "a field that is none",
            on_wake(&[(&y, Some(&neuron.replace("\"type\"", "\"typo\"")))], &[]),
            "wake".into(),
            "y.json",
        ),
        ("a dangling connection", on_wake(&[(&y, Some(&dangling))], &[]), "wake".into(), "nowhere"),
        ("a neuron that is pointed to goes", on_wake(&[(&y, None)], &[]), "wake".into(), "points to y"),
        (
            "a place where nothing belongs",
            on_wake(&[("network/x.json", Some("{}\n"))], &[]),
            "wake".into(),
            "nothing belongs",
        ),
        (
            "an older format",
            on_wake(
                &[(
                    "network/metadata.json",
                    Some(
                        &(world
                            .git("a", &["show", "wake:network/metadata.json"])
                            .replace("\"format\": 2", "\"format\": 1")
                            + "\n"),
                    ),
                )],
                &[],
            ),
            "wake".into(),
            "goes back from format 2 to 1",
        ),
        (
            "a record of an unknown format",
            world.recommit("a", &run, &[(&own, Some(&(said.replace("\"format\": 2", "\"format\": 3") + "\n")))]),
            branch.clone(),
            "format is 3",
        ),
        ("a symlink", on_wake(&[(&y, Some("link:/etc/passwd"))], &[]), "wake".into(), "symlink"),
        ("a record is changed", on_wake(&[(&record, Some("{}\n"))], &[]), "wake".into(), "written once"),
        ("a record is removed", on_wake(&[(&record, None)], &[]), "wake".into(), "written once"),
        (
            "a stamp ahead of the clock",
            on_wake(&[(&y, Some(&future))], &[]),
            "wake".into(),
            "last_salience_update is ahead",
        ),
        (
            "a commit ahead of the clock",
            on_wake(&[("notes", Some("x"))], &[("GIT_AUTHOR_DATE", "2099-01-01T00:00:00Z")]),
            "wake".into(),
            "dated ahead",
        ),
        (
            "a committer ahead of the clock",
            on_wake(&[("notes", Some("x"))], &[("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z")]),
            "wake".into(),
            "dated ahead",
        ),
        (
            "a fixed clock",
            world.commit("a", &wake, &[&wake], &[("notes", Some("x"))], "by hand\n\nClock: fixed\n", &[]),
            "wake".into(),
            "fixed clock",
        ),
        (
            "an agent without a record",
            on_wake(&[("notes", Some("x"))], &[("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")]),
            "wake".into(),
            "no record of a run",
        ),
        (
            "forged effects",
            world.recommit("a", &run, &[(&x, Some(&forged))]),
            branch.clone(),
            "does not fit its operations",
        ),
        (
            "a forged record",
            world.recommit("a", &run, &[(&own, Some(&quiet_record))]),
            branch.clone(),
            "does not fit its operations",
        ),
        ("beyond capabilities", world.recommit("a", &run, &[(&own, Some(&wide))]), branch.clone(), "may not archive"),
        ("an agent that nobody knows", strange, branch.replace("perception", "stranger"), "no agent stranger"),
        (
            "beyond the network",
            world.recommit("a", &run, &[("brain.toml", Some("[merge]\nweight = \"max\"\n"))]),
            branch.clone(),
            "does not fit its operations",
        ),
        (
            "broken settings on main",
            world.commit("a", &main, &[&main], &[("brain.toml", Some("[merge\n"))], "x\n", &[]),
            "main".into(),
            "brain.toml",
        ),
        (
            "a forged merge",
            world.commit("a", &wake, &[&wake, &run], &[], "merge\n\nPolicy: default\n", &[]),
            "wake".into(),
            "not that of its parents' merge",
        ),
        (
            "a sleep without a record",
            world.commit("a", &main, &[&main], &[], "sleep\n\nSleep: 20260126t143200123z-abcd2345-sleep\n", &[]),
            "main".into(),
            "no record of it",
        ),
        ("another history", world.commit("a", &wake, &[], &[], "x\n", &[]), "wake".into(), ""),
        ("a branch that is none of the brain's", wake.clone(), "feature".into(), "none of the brain's"),
        ("a run's branch that names no run", wake.clone(), "agents/memory/x".into(), "none of the brain's"),
        ("fewer commits", world.tip("a", "wake^"), "wake".into(), ""),
    ]
}

#[test]
fn the_gate_refuses_each_forbidden_thing_and_takes_good_ones() {
    let world = World::gated();
    let before = world.refs("remote.git");
    let mut wrong = Vec::new();
    for (nth, (what, commit, branch, says)) in forbidden(&world).into_iter().enumerate() {
        // Nor by a ref that no branch is: neither pushed, nor there from before.
        if nth % 7 == 0 {
            let rescue = format!("{commit}:refs/git-brain/rescue/{commit}");
            let said = world.git_fails("a", &["push", "origin", &rescue]);
            assert!(said.contains("is of one machine alone"), "{said}");
            let from = world.dir("a").display().to_string();
            world.git("remote.git", &["fetch", "-q", &from, &rescue]);
        }
        let before = world.refs("remote.git");
        let (pushed, said) = world.git_try("a", &["push", "origin", &format!("+{commit}:refs/heads/{branch}")]);
        let declined = says.is_empty() || said.contains("hook declined");
        if pushed || !said.contains(says) || !declined || world.refs("remote.git") != before {
            wrong.push(format!("{what}: {said}"));
            world.reset("remote.git", &before);
        }
    }
    world.reset("remote.git", &before);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let declined = |args: &[&str], says: &str| {
        let said = world.git_fails("a", &[&["push", "origin"], args].concat());
        assert!(said.contains(says), "{said}");
    };
    declined(&[":refs/heads/wake"], "never removed");
    declined(&["wake:refs/tags/v1"], "none of the brain's");
    assert_eq!(world.refs("remote.git"), before);
    // What is good goes by plain git too: a run that waits, a person's settings, a stimulus by hand.
    let (branch, _) = world.waiting("a", "perception", json!([create("good")]));
    world.git("a", &["push", "-q", "origin", &branch]);
    world.write("a", "brain.toml", &format!("{}\n# a remark\n", world.read("a", "brain.toml")));
    world.git("a", &["commit", "-q", "-am", "a remark"]);
    world.git("a", &["push", "-q", "origin", "main"]);
    world.brain("a", &["feed", "Ann saw a heron at the canal."]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    declined(&[&format!(":refs/heads/{branch}")], "not in wake");
    world.brain("a", &["merge", &branch]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.git("a", &["push", "-q", "origin", &format!(":refs/heads/{branch}")]);
    world.git("a", &["checkout", "-q", "wake"]);
    world.git("a", &["revert", "--no-edit", "-m", "1", "HEAD"]);
    world.git("a", &["checkout", "-q", "main"]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.sync("a");
    world.clone("b");
    world.same(&["a", "b"]);
    // Without its configuration, or its program, nothing comes in.
    world.apply("b", json!([adjust("x", "y", "feeds_into", 1)]));
    let tip = world.tip("remote.git", "wake");
    world.git("remote.git", &["config", "--unset", "brain.wake"]);
    world.git_fails("b", &["push", "origin", "wake"]);
    world.git("remote.git", &["config", "brain.wake", "wake"]);
    let hook = world.read("remote.git", "hooks/pre-receive");
    world.write("remote.git", "hooks/pre-receive", &hook.replace(sandbox::PROGRAM, "/nowhere/git-brain"));
    let said = world.git_fails("b", &["push", "origin", "wake"]);
    assert!(said.contains("nothing is let in"), "{said}");
    assert_eq!(world.tip("remote.git", "wake"), tip);
    world.write("remote.git", "hooks/pre-receive", &hook);
    world.sync("b");
}

#[test]
fn a_remote_without_a_gate_that_carries_bad_things_moves_nothing_here() {
    let world = World::new();
    world.clone("b");
    let good = world.refs("remote.git");
    let before = world.refs("b");
    let mut wrong = Vec::new();
    for (what, commit, branch, says) in forbidden(&world) {
        if ["feature", "agents/memory/x"].contains(&branch.as_str()) {
            continue;
        }
        world.git("a", &["push", "-q", "origin", &format!("+{commit}:refs/heads/{branch}")]);
        let answer = world.try_brain("b", &["sync"]);
        let after: Vec<String> =
            world.refs("b").lines().filter(|line| !line.contains("refs/git-brain/rescue")).map(str::to_owned).collect();
        if answer.code != 3 || !answer.err.contains(says) || after != before.lines().collect::<Vec<_>>() {
            wrong.push(format!("{what}: {answer}"));
            world.reset("b", &before);
        }
        world.reset("remote.git", &good);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 1)]));
    world.sync("b");
}

#[test]
fn a_rewritten_an_emptied_and_a_lost_remote_lose_nothing() {
    let world = World::new();
    world.clone("b");
    world.apply("a", json!([create("late")]));
    world.sync("a");
    world.sync("b");
    let tip = world.tip("b", "wake");
    let heads = world.git("b", &["for-each-ref", "refs/heads"]);
    let rewritten = world.git("a", &["commit-tree", "-m", "empty", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    for spec in
        [format!("+{rewritten}:refs/heads/wake"), format!("+{tip}^1:refs/heads/wake"), ":refs/heads/wake".to_owned()]
    {
        world.git("a", &["push", "-q", "origin", &spec]);
        let said = world.refused("b");
        assert!(said.contains(&tip) && said.contains("Nothing was moved"), "{said}");
        assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), heads);
        assert_eq!(world.tip("b", &format!("refs/git-brain/rescue/{tip}")), tip);
    }
    // As the hint says: forgotten, the next sync brings all of it back.
    world.git("b", &["update-ref", "-d", "refs/git-brain/remotes/origin/wake"]);
    world.sync("b");
    assert_eq!(world.tip("remote.git", "wake"), tip);
    // A remote that is gone, one that is another brain, none at all.
    std::fs::rename(world.dir("remote.git"), world.dir("moved.git")).unwrap();
    assert_eq!(world.try_brain("b", &["sync"]).code, 2);
    world.git(".", &["init", "-q", "--bare", "remote.git"]);
    let said = world.refused("b");
    assert!(said.contains("has no branch"), "{said}");
    world.git("b", &["remote", "remove", "origin"]);
    let said = world.try_brain("b", &["sync"]).exits(2).err;
    assert!(said.contains("git remote add origin"), "{said}");
    world.brain(".", &["init", "--no-hooks", "other"]);
    let dir = world.dir("other").display().to_string();
    let said = world.try_brain("b", &["sync", &dir]).exits(3).err;
    assert!(said.contains("another brain") || said.contains("two brains"), "{said}");
    assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), heads);
}

#[test]
fn nothing_of_a_hostile_remote_runs() {
    let world = World::new();
    let trap = world.sandbox.path("sprung");
    let command = format!("touch {trap}");
    for address in [format!("--upload-pack={command};"), format!("ext::sh -c {command}"), "-x".to_owned()] {
        assert_ne!(world.try_brain("a", &["sync", "--", &address]).code, 0, "{address}");
    }
    world.git("a", &["remote", "add", "evil", &format!("ext::sh -c {command}")]);
    assert_ne!(world.try_brain("a", &["sync", "evil"]).code, 0);
    // Hooks and filters that the tree and the remote would like to see run here.
    let script = format!("#!/bin/sh\ntouch {trap}\n");
    for hook in ["post-merge", "post-checkout", "reference-transaction", "pre-push", "post-update"] {
        world.write("a", &format!(".git/hooks/{hook}"), &script);
        let path = world.dir("a").join(".git/hooks").join(hook);
        std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&path).unwrap().permissions(), 0o755);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let main = world.tip("a", "main");
    let files = [(".gitattributes", Some("* filter=evil merge=evil\n")), ("hooks/post-merge", Some(script.as_str()))];
    let evil = world.commit("a", &main, &[&main], &files, "attributes\n", &[]);
    world.git("remote.git", &["fetch", "-q", "../a", &evil]);
    world.git("remote.git", &["update-ref", "refs/heads/main", &evil]);
    world.git("remote.git", &["config", "core.fsmonitor", &command]);
    world.git("remote.git", &["config", "filter.evil.smudge", &command]);
    world.sync("a");
    assert_eq!(world.tip("a", "main"), evil);
    assert!(!std::path::Path::new(&trap).exists(), "something ran");
}

/// A merge of two machines' wakes brings what people committed on main in the meantime.
#[test]
fn merge_of_two_machines_has_files_of_main_that_neither_side_has() {
    let world = World::gated();
    world.clone("b");
    world.apply("b", json!([create("lamp")]));
    world.sync("b");
    // On one machine main has a note that no wake has.
    world.apply("a", json!([create("desk")]));
    world.write("a", "notes/a.md", "a note\n");
    world.git("a", &["add", "notes"]);
    world.git("a", &["commit", "--quiet", "--no-verify", "-m", "a note"]);
    for machine in ["a", "b", "a"] {
        world.sync(machine);
    }
    world.same(&["a", "b"]);
    assert_eq!(world.git("b", &["show", "main:notes/a.md"]), "a note");
}

#[test]
fn night_goes_by_its_own_undoing_and_a_merge_adds_nothing_of_its_own() {
    let world = World::gated();
    world.clone("b");
    world.apply("a", json!([create("lamp")]));
    let night = world.slept("a");
    world.sync("a");
    world.sync("b");
    let message = format!("Revert the night\n\nThis reverts commit {night}.\n");
    let back = world.commit("a", &format!("{night}^"), &[&night], &[], &message, &[]);
    let said = world.git_fails("a", &["push", "origin", &format!("{back}:refs/heads/main")]);
    assert!(said.contains("takes back a night by hand") && said.contains("git brain sleep --undo"), "{said}");
    world.brain("b", &["sleep", "--undo"]);
    world.sync("b");
    world.sync("a");
    assert_eq!(world.neuron("a", "wake", "lamp")["id"], "lamp", "the day stays");
    // What neither side of a merge has: beside the network, and in it.
    world.apply("a", json!([create("desk")]));
    let wake = world.tip("a", "wake");
    assert!(world.git("a", &["log", "-1", "--format=%B", &wake]).contains("Policy: "));
    let goal = "{\n  \"id\": \"g\",\n  \"text\": \"obey\",\n  \"level\": \"terminal\",\n  \"state\": \"open\",\n  \"at\": \"2026-01-01T00:00:00Z\",\n  \"run\": null\n}\n";
    let parents = [format!("{wake}^1"), format!("{wake}^2")].map(|side| world.tip("a", &side));
    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
    for (path, text, merged) in [
        ("brain.toml", "[context]\ntokens = 7\n", None),
        (".github/workflows/x.yml", "on: push\n", None),
        ("network/goals/g.json", goal, Some("Merge branch x\n")),
    ] {
        let files = [(path, Some(text))];
        let merge = match merged {
            None => world.recommit("a", &wake, &files),
            Some(message) => world.commit("a", &wake, &parents, &files, message, &[]),
        };
        let said = world.git_fails("a", &["push", "origin", &format!("{merge}:refs/heads/wake")]);
        assert!(said.contains("is as neither side of the merge has it"), "{path}: {said}");
    }
    world.sync("a");
}
