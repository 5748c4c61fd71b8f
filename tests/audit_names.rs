//! Commits in the name of runs that are not theirs: the audit names them, `review` shows them, and no way out takes the honest run for them.

use serde_json::json;

use crate::audit::{agree, audit, lived, named, scribes, upon};
use crate::machines::World;
use crate::sandbox::adjust;

/// The id and the own commit of a run that an agent made just now.
fn made(world: &World) -> (String, String) {
    let made = scribes(world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    (made["run"].as_str().unwrap().to_owned(), world.tip("a", "wake^2"))
}

fn message_of(world: &World, revision: &str) -> String {
    world.git("a", &["log", "-1", "--format=%B", revision])
}

fn moved(world: &World, branch: &str, tip: &str) {
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), tip]);
}

/// A commit that only copies the message of a run, and makes a neuron louder.
fn borrowed(world: &World, own: &str) -> String {
    let path = world.path_of("a", "wake", "/cup.json");
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let salience = text.split("\"salience\": ").nth(1).unwrap().split([',', '\n']).next().unwrap();
    let louder = text.replace(&format!("\"salience\": {salience}"), "\"salience\": 60001");
    assert_ne!(text, louder);
    upon(world, "wake", &[(&path, Some(&louder))], &message_of(world, own), &[])
}

#[test]
fn merges_and_nights_name_no_run_and_no_agent_but_their_own() {
    let world = lived();
    let ((before, _), _) = (made(&world), made(&world));
    world.brain("a", &["sleep"]);
    audit(&world, &[], 0);
    let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
    for trailers in [format!("Run: {before}"), "Agent: memory".to_owned()] {
        // Without a policy it is a person's merge, which may say what it likes but this.
        let parents = [world.tip("a", "wake~1"), world.tip("a", "wake~1^2")];
        let [left, right] = [parents[0].as_str(), parents[1].as_str()];
        let by_hand = world.commit("a", left, &[left, right], &[], &format!("Merge\n\n{trailers}\n"), &[]);
        moved(&world, "wake", &by_hand);
        assert!(named(&agree(&world, 3), &by_hand, "forged-trailer"), "{trailers}");
        moved(&world, "wake", &wake);
        let (key, _) = trailers.split_once(": ").unwrap();
        let message = message_of(&world, "main");
        let line = message.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
        let night = world.commit("a", &main, &[&format!("{main}^")], &[], &message.replace(&line, &trailers), &[]);
        moved(&world, "main", &night);
        assert!(named(&agree(&world, 3), &night, "forged-trailer"), "{trailers}");
        moved(&world, "main", &main);
    }
}

#[test]
fn run_of_an_agent_says_which_it_is() {
    let world = lived();
    for key in ["Run: ", "Agent: "] {
        let (_, own) = made(&world);
        let (left, merge) = (world.tip("a", "wake^1"), world.tip("a", "wake"));
        let message: String = message_of(&world, &own)
            .lines()
            .filter(|line| !line.starts_with(key))
            .map(|line| format!("{line}\n"))
            .collect();
        let unnamed =
            world.commit("a", &own, &[&left], &[], &message, &[("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid")]);
        let merged = world.commit("a", &merge, &[&left, &unnamed], &[], "merge", &[]);
        moved(&world, "wake", &merged);
        assert!(named(&agree(&world, 3), &unnamed, "forged-trailer"), "{key}");
        moved(&world, "wake", &left);
    }
}

#[test]
fn acceptance_of_a_run_covers_nothing_that_borrows_its_name() {
    let world = lived();
    let (run, own) = made(&world);
    world.brain("a", &["audit", "sample", "--share", "1"]);
    world.brain("a", &["audit", "accept", &run]);
    let forged = borrowed(&world, &own);
    assert!(named(&agree(&world, 3), &forged, "forged-trailer"));
    // An earlier acceptance hides nothing.
    let list = world.json("a", &["review"]);
    assert!(list["audit"].as_array().unwrap().iter().any(|item| item["commit"] == *forged), "{list}");
    // Nor does the run's name accept it, or take it back.
    let said = world.brain("a", &["audit", "accept", &run, "--why", "seen"]);
    assert!(said.contains(&forged[..10]) && !said.contains(&format!("Accepted {run}: {}", &forged[..10])), "{said}");
    agree(&world, 3);
    let said = world.try_brain("a", &["revert", &forged[..12]]).exits(3);
    assert!(said.err.contains("not that run's") && said.err.contains("git checkout wake && git revert"), "{said}");
    // A finding is accepted with a reason, and a run of the sample that its name was borrowed from stays to be looked at.
    let (other, own) = made(&world);
    world.brain("a", &["audit", "sample", "--share", "1"]);
    let second = borrowed_again(&world, &own);
    agree(&world, 3);
    world.try_brain("a", &["audit", "accept", &second[..12]]).exits(2);
    for commit in [&forged, &second] {
        world.brain("a", &["audit", "accept", &commit[..12], "--why", "known"]);
    }
    agree(&world, 0);
    let list = world.json("a", &["review"]);
    assert!(list["audit"].as_array().unwrap().iter().any(|item| item["run"] == *other), "{list}");
}

/// Another such commit, of another value.
fn borrowed_again(world: &World, own: &str) -> String {
    let path = world.path_of("a", "wake", "/cup.json");
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let louder = text.replace("\"salience\": 60001", "\"salience\": 60002");
    upon(world, "wake", &[(&path, Some(&louder))], &message_of(world, own), &[])
}

#[test]
fn bisect_tells_a_commit_that_borrows_a_name_from_its_run() {
    let world = lived();
    let good = world.tip("a", "wake");
    let (run, own) = made(&world);
    let path = world.git("a", &["grep", "-l", "Anna moved to Kyoto", "wake", "--", "network/neurons"]);
    let path = path.split_once(':').unwrap().1.lines().next().unwrap().to_owned();
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let wrong = upon(&world, "wake", &[(&path, Some(&text.replace("Kyoto", "Osaka")))], &message_of(&world, &own), &[]);
    audit(&world, &[], 3);
    let found = world.json("a", &["bisect", "where did Anna move", "--good", &good, "--expect", "Kyoto"]);
    assert_eq!((&found["commit"], &found["run"]), (&json!(wrong), &json!(null)), "{found}");
    assert_eq!(found["undo"], format!("git checkout wake && git revert {wrong}"));
    assert!(
        found["notes"].to_string().contains("forged-trailer") && found["words"].to_string().contains("Osaka"),
        "{found}"
    );
    assert!(!found.to_string().contains(&format!("git brain revert {run}")), "{found}");
    // Words that a commit takes away are told apart from those that it says.
    moved(&world, "wake", &format!("{wrong}^"));
    let gone = upon(&world, "wake", &[(&path, None)], "tidy", &[]);
    let found = world.json("a", &["bisect", "where did Anna move", "--good", &good, "--expect", "Kyoto"]);
    assert_eq!((&found["commit"], &found["words"]), (&json!(gone), &json!([])), "{found}");
    assert!(found["gone"].to_string().contains("Kyoto"), "{found}");
}

#[test]
fn decision_that_cannot_be_read_is_named_and_hides_nothing() {
    let world = crate::review_second::world(World::new(), "[review]\nreviewers = [\"ann@example.invalid\"]\n");
    let (branch, _) = world.waiting("a", "scribe", json!([crate::sandbox::create("plate")]));
    world.brain("a", &["approve", &branch]);
    audit(&world, &[], 0);
    let reviews = "refs/brain/reviews";
    let tip = world.tip("a", reviews);
    let path = world.git("a", &["ls-tree", "-r", "--name-only", reviews]).lines().next().unwrap().to_owned();
    let (folder, name) = path.rsplit_once('/').unwrap();
    let other = format!("{folder}/{}", name.replacen("z-", "z-b", 1));
    for text in ["{ no json\n", "{\"verdict\": \"approve\"}\n"] {
        let broken = world.commit("a", &tip, &[&tip], &[(&other, Some(text))], "approve", &[]);
        world.git("a", &["update-ref", reviews, &broken]);
        let settings = world.git("a", &["show", "main:brain.toml"]) + "\n# gentler\n";
        let scribe = [("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid")];
        let policy = upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &scribe);
        let report = agree(&world, 3);
        assert!(named(&report, &broken, "review-forged") && named(&report, &policy, "policy-by-agent"), "{report}");
        world.git("a", &["update-ref", reviews, &tip]);
        moved(&world, "main", &format!("{policy}^"));
    }
}

#[test]
fn settings_and_formats_that_cannot_be_read_are_named_and_hide_nothing() {
    let world = lived();
    audit(&world, &[], 0);
    let scribe = [("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid")];
    let settings = world.git("a", &["show", "main:brain.toml"]);
    let policy = upon(&world, "main", &[("brain.toml", Some(&format!("{settings}\n# gentler\n")))], "gentler", &scribe);
    let unknown = format!("{settings}\n[reviewing]\nx = 1\n");
    let broken = upon(&world, "main", &[("brain.toml", Some(&unknown))], "settings", &scribe);
    let report = agree(&world, 3);
    assert!(named(&report, &policy, "policy-by-agent") && named(&report, &broken, "format"), "{report}");
    let range = audit(&world, &["main~2..main"], 3);
    assert!(named(&range, &policy, "policy-by-agent") && named(&range, &broken, "format"), "{range}");
    let said = world.try_brain("a", &["audit"]).exits(3);
    assert!(said.err.contains("reviewing"), "{}", said.err);
    assert!(world.try_brain("a", &["audit", "--sarif"]).exits(3).out.contains(&broken));
    // Nothing else goes by settings that cannot be read.
    world.try_brain("a", &["feed", "the lamp is on"]).exits(5);
    let world = lived();
    let metadata = world.git("a", &["show", "wake:network/metadata.json"]) + "\n";
    let newer = metadata.replace("\"format\": 2", "\"format\": 3");
    assert_ne!(newer, metadata);
    let raised = upon(&world, "wake", &[("network/metadata.json", Some(&newer))], "by hand", &[]);
    let report = agree(&world, 3);
    assert!(named(&report, &raised, "format"), "{report}");
    world.try_brain("a", &["feed", "the lamp is on"]).exits(3);
    // Back to the format that it was is no way back from one.
    let message = format!("Revert\n\nThis reverts commit {raised}.\n");
    upon(&world, "wake", &[("network/metadata.json", Some(&metadata))], &message, &[]);
    assert_eq!(agree(&world, 0)["level"], "ok");
}

#[test]
fn bisect_names_a_merge_that_a_person_amended_and_not_the_run_that_it_brought() {
    let world = lived();
    let good = world.tip("a", "wake");
    let (run, own) = made(&world);
    let (left, merge) = (world.tip("a", "wake^1"), world.tip("a", "wake"));
    let path = world.git("a", &["grep", "-l", "Anna moved to Kyoto", "wake", "--", "network/neurons"]);
    let path = path.split_once(':').unwrap().1.lines().next().unwrap().to_owned();
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let other = text.replace("Kyoto", "Osaka");
    let message = message_of(&world, &merge);
    let amended = world.commit("a", &merge, &[&left, &own], &[(&path, Some(&other))], &message, &[]);
    moved(&world, "wake", &amended);
    // No audit has to be run before.
    let found = world.json("a", &["bisect", "where did Anna move", "--good", &good, "--expect", "Kyoto"]);
    assert_eq!((&found["commit"], &found["run"]), (&json!(amended), &json!(null)), "{found}");
    assert_eq!(found["undo"], format!("git checkout wake && git revert -m 1 {amended}"));
    assert!(found["notes"].to_string().contains("merge-mismatch"), "{found}");
    assert!(!found.to_string().contains(&format!("git brain revert {run}")), "{found}");
}

#[test]
fn bisect_names_a_merge_in_which_a_person_settled_what_two_lines_say() {
    let world = lived();
    let (base, mut sides) = (world.tip("a", "wake"), Vec::new());
    let path = world.git("a", &["grep", "-l", "Anna moved to Kyoto", "wake", "--", "network/neurons"]);
    let path = path.split_once(':').unwrap().1.lines().next().unwrap().to_owned();
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let said = |city: &str| text.replace("Kyoto", city);
    for concept in ["Kyoto, in Japan", "old Kyoto"] {
        sides.push(world.commit("a", &base, &[&base], &[(&path, Some(&said(concept)))], "by hand", &[]));
    }
    let both = [sides[0].as_str(), sides[1].as_str()];
    let merge = world.commit("a", &base, &both, &[(&path, Some(&said("Osaka")))], "Both, settled", &[]);
    moved(&world, "wake", &merge);
    let found = world.json("a", &["bisect", "where did Anna move", "--good", &base, "--expect", "Kyoto"]);
    assert_eq!((&found["commit"], &found["run"]), (&json!(merge), &json!(null)), "{found}");
    assert_eq!(found["undo"], format!("git checkout wake && git revert -m 1 {merge}"));
}

#[test]
fn acceptance_settles_what_was_found_then_and_nothing_that_is_found_later() {
    let world = lived();
    let ((run, _), later) = (made(&world), made(&world));
    audit(&world, &[], 0);
    world.brain("a", &["audit", "sample", "--share", "1"]);
    let said = world.brain("a", &["audit", "accept", &run, "--why", "a good run"]);
    assert!(!said.contains("settles"), "{said}");
    let list = world.brain("a", &["review", "--decided"]);
    assert!(list.contains("accepted") && list.contains(&run) && !list.contains("does not stand"), "{list}");
    // Wake is put back to the commit that was accepted.
    let back = world.tip("a", "wake^1");
    assert_ne!(later.1, back);
    moved(&world, "wake", &back);
    assert!(named(&audit(&world, &[], 3), &back, "rewritten-history"));
    // The run's name does not accept that, and the commit's does, once.
    let list = world.json("a", &["review"]);
    let item = list["audit"].as_array().unwrap().iter().find(|item| item["commit"] == *back).unwrap().clone();
    assert!(item["because"] == "rewritten-history" && item["undo"].is_null(), "{list}");
    world.try_brain("a", &["audit", "accept", &run, "--why", "the evening was bad"]);
    audit(&world, &[], 3);
    let said = world.brain("a", &["audit", "accept", &back[..12], "--why", "the evening was bad"]);
    assert!(said.contains("settles rewritten-history"), "{said}");
    audit(&world, &[], 0);
    let list = world.json("a", &["review"]);
    assert!(list["audit"].as_array().unwrap().iter().all(|item| item["because"] == "sample"), "{list}");
    made(&world);
    audit(&world, &[], 0);
    moved(&world, "wake", &back);
    audit(&world, &[], 3);
}

#[test]
fn twin_of_a_run_is_named_and_the_run_that_landed_is_not() {
    let world = lived();
    for _ in 0..3 {
        let (run, own) = made(&world);
        let path = world.path_of("a", "wake", "/cup.json");
        let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
        let salience = text.split("\"salience\": ").nth(1).unwrap().split([',', '\n']).next().unwrap();
        let other = text.replace(&format!("\"salience\": {salience}"), "\"salience\": 7");
        let date = world.git("a", &["log", "-1", "--format=%cI", &own]);
        let agent = "scribe@git-brain.invalid";
        let env = [("GIT_AUTHOR_EMAIL", agent), ("GIT_COMMITTER_EMAIL", agent), ("GIT_COMMITTER_DATE", &date)];
        let parent = world.tip("a", &format!("{own}^"));
        let twin = world.commit("a", &own, &[&parent], &[(&path, Some(&other))], &message_of(&world, &own), &env);
        let branch = format!("agents/scribe/{run}");
        moved(&world, &branch, &twin);
        let report = agree(&world, 3);
        assert!(named(&report, &twin, "single-writer") && !named(&report, &own, "single-writer"), "{report:#}");
        let list = world.json("a", &["review"]);
        let item = list["audit"].as_array().unwrap().iter().find(|item| item["commit"] == *twin).unwrap().clone();
        assert_eq!(item["undo"], format!("git brain reject {run}"), "{list}");
        let said = world.try_brain("a", &["approve", &run]).exits(3);
        assert!(!said.err.contains("git brain revert"), "{said}");
        world.brain("a", &["reject", &run, "--why", "a twin"]);
        agree(&world, 0);
    }
}

#[test]
fn wake_and_main_are_those_of_the_brain_beside_code() {
    let world = lived();
    for branch in ["main", "wake"] {
        let tip = world.tip("a", branch);
        world.git("a", &["config", &format!("brain.{branch}"), &format!("brain/{branch}")]);
        moved(&world, &format!("brain/{branch}"), &tip);
    }
    let code = world.git("a", &["commit-tree", "main^{tree}", "-m", "a history of code"]);
    world.git("a", &["checkout", "-q", "--detach"]);
    moved(&world, "main", &code);
    world.git("a", &["branch", "-D", "wake"]);
    world.brain("a", &["feed", "Ben waters the plants"]);
    audit(&world, &["main"], 0);
    audit(&world, &["wake~1..wake"], 0);
    world.brain("a", &["recall", "Anna", "--at", "wake~1"]);
    let found = world.json("a", &["bisect", "who waters the plants", "--good", "wake~3", "--avoid", "Ben"]);
    assert!(found["words"].to_string().contains("Ben"), "{found}");
}
