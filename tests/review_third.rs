//! What strangers met in a week of reviews: reviewers of rules, decisions that do not count, what a revert forgot, nights under changed rules.

use crate::machines::World;
use crate::review_second::{apply, as_person, run_of, world};
use crate::sandbox::create;
use serde_json::{Value, json};

/// Ben decides on all, Mara on what the scribe writes; another rule is Lena's.
const OWN: &str = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\nreviewers = [\"mara@example.invalid\"]\n\n\
                   [[review.rule]]\nname = \"large\"\nat_least = 50\nreviewers = [\"lena@example.invalid\"]\n";
const BEN: &str = "[review]\nreviewers = [\"ben@example.invalid\"]\n";
const SCRIBE: &str = "\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

fn settings(world: &World, machine: &str, text: &str) {
    world.write(machine, "brain.toml", text);
    world.git(machine, &["commit", "-qam", "settings"]);
    world.brain(machine, &["trust", "--yes"]);
}

fn has(world: &World, machine: &str, neuron: &str) -> bool {
    world.git(machine, &["ls-tree", "-r", "--name-only", "wake"]).contains(&format!("/{neuron}.json"))
}

#[test]
fn the_reviewers_of_a_rule_throw_away_and_amend_whatever_word_a_commit_has() {
    for word in [None, Some("rule large"), Some("rule gone"), Some("asked")] {
        for decision in [&["reject", "--why", "no"][..], &["approve", "--only", "1"]] {
            let world = world(World::gated(), OWN);
            world.clone("b");
            let (branch, commit) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
            if let Some(word) = word {
                let message = world.git("a", &["log", "-1", "--format=%B", &commit]);
                let parent = world.git("a", &["log", "-1", "--format=%P", &commit]);
                let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
                let other = message.replace("Review: rule scribe", &format!("Review: {word}"));
                let forged = world.commit("a", &commit, &[&parent], &[], &other, &author);
                world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &forged]);
            }
            world.sync("a");
            world.sync("b");
            let mut args = decision.to_vec();
            args.insert(1, &branch);
            as_person(&world, "b", "ben", &args).exits(3);
            as_person(&world, "b", "mara", &args).exits(0);
            as_person(&world, "b", "mara", &["sync"]).exits(0);
            world.sync("a");
            world.same(&["a", "b"]);
            assert_eq!(
                (has(&world, "a", "tea"), has(&world, "a", "milk")),
                (decision[0] == "approve", false),
                "{word:?}"
            );
        }
    }
}

#[test]
fn an_amendment_that_does_not_count_lands_nothing() {
    let both = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n";
    let world = world(World::gated(), both);
    world.clone("b");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    world.sync("a");
    world.sync("b");
    as_person(&world, "b", "mara", &["approve", &branch, "--only", "2"]).exits(0);
    settings(&world, "a", BEN);
    world.sync("a");
    let said = as_person(&world, "b", "mara", &["sync"]).exits(3);
    assert!(said.err.contains("may not decide on that"), "{said}");
    as_person(&world, "b", "mara", &["sync", "--without-refused"]).exits(0);
    world.sync("a");
    for neuron in ["tea", "milk"] {
        assert!(!has(&world, "a", neuron) && !has(&world, "b", neuron), "{neuron}");
    }
    // Who decides now decides on all of it.
    as_person(&world, "a", "ben", &["reject", &branch, "--why", "all wrong"]).exits(0);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    let decided = world.json("a", &["review", "--decided"]);
    let stands: Vec<_> =
        decided["decisions"].as_array().unwrap().iter().map(|d| (&d["verdict"], &d["stands"])).collect();
    assert_eq!(stands, [(&json!("reject"), &json!(true)), (&json!("amend"), &json!(false))], "{decided}");
}

#[test]
fn a_revert_brings_back_what_was_replaced() {
    let texts = |world: &World| -> Vec<String> {
        let answer = world.json("a", &["recall", "newsletter"]);
        answer["results"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
    };
    for origin in [None, Some("webhook:forum")] {
        let world = World::new();
        settings(&world, "a", "[origins]\nwebhook = \"review\"\n");
        world.brain("a", &["feed", "The newsletter goes out on Tuesday."]);
        let old = world.json("a", &["recall", "newsletter"])["results"][0]["id"].as_str().unwrap().to_owned();
        let new = "The newsletter goes out on Monday.";
        let mut args = vec!["feed", "--corrects", &old, new];
        args.extend(origin.iter().flat_map(|origin| ["--origin", origin]));
        world.brain("a", &args);
        if origin.is_some() {
            let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
            world.brain("a", &["approve", &run]);
        }
        if let Some(origin) = origin {
            // What is believed gives way to what comes from elsewhere once that is let in.
            assert_eq!(texts(&world).len(), 2);
            world.brain("a", &["approve", "--origin", origin]);
        }
        assert_eq!(texts(&world), [new], "{origin:?}");
        let log = world
            .git("a", &["log", "--format=%(trailers:key=Run,valueonly)", "--grep", "Goes out on Monday", "-i", "wake"]);
        let run = log.lines().find(|line| line.ends_with("-perception")).unwrap();
        let said = world.brain("a", &["revert", run]);
        assert!(said.contains("archived what that replaces, and is taken back with it"), "{said}");
        assert_eq!(texts(&world), ["The newsletter goes out on Tuesday."], "{origin:?}");
        // Taking that back in turn is as if nothing had been.
        let by =
            said.lines().find_map(|line| line.strip_suffix(|c: char| c.is_ascii_hexdigit())?.split_once(" in wake"));
        let by = by.map(|(run, _)| run.to_owned()).unwrap();
        world.brain("a", &["revert", &by]);
        assert_eq!(texts(&world), [new], "{origin:?}");
    }
}

#[test]
fn a_memory_that_another_correction_replaces_stays_archived_until_that_goes_too() {
    let texts = |world: &World| -> Vec<String> {
        let answer = world.json("a", &["recall", "museum"]);
        answer["results"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
    };
    let [ten, eleven, twelve] = ["ten", "eleven", "twelve"].map(|hour| format!("The museum opens at {hour}."));
    for is_chain in [false, true] {
        let world = World::new();
        let feed = |text: &str, corrects: Option<&str>| -> (String, String) {
            let mut args = vec!["feed", text];
            args.extend(corrects.iter().flat_map(|id| ["--corrects", *id]));
            world.brain("a", &args);
            let log = world.git("a", &["log", "--format=%(trailers:key=Run,valueonly)", "wake"]);
            let run = log.lines().find(|line| line.ends_with("-perception")).unwrap().to_owned();
            let answer = world.json("a", &["recall", text]);
            (answer["results"][0]["id"].as_str().unwrap().to_owned(), run)
        };
        let (old, _) = feed(&ten, None);
        // Both correct the first, as on two machines, or the second corrects the first correction.
        let (first, first_run) = feed(&eleven, Some(&old));
        let (_, second_run) = match is_chain {
            true => feed(&twelve, Some(&first)),
            false => {
                world.brain("a", &["restore", &old]);
                feed(&twelve, Some(&old))
            }
        };
        if is_chain {
            world.brain("a", &["revert", &first_run]);
            assert_eq!(texts(&world).join("|"), twelve, "what replaces it stands");
        } else {
            assert!(!texts(&world).contains(&ten));
            world.brain("a", &["revert", &second_run]);
            assert!(texts(&world).contains(&eleven) && !texts(&world).contains(&ten), "{:?}", texts(&world));
            world.brain("a", &["revert", &first_run]);
            assert_eq!(texts(&world).join("|"), ten);
        }
    }
}

#[test]
fn sentences_in_the_form_of_names_are_found_as_memories_are() {
    let world = World::new();
    world.brain("a", &["feed", "The kiln is hot."]);
    world.apply(
        "a",
        json!([
            {"op": "create", "concept": "the oven needs a new door", "type": "semantic"},
            {"op": "create", "concept": "green tea", "type": "semantic"},
        ]),
    );
    let found = world.json("a", &["recall", "who repairs the oven door"]);
    assert_eq!(found["results"][0]["text"], "the oven needs a new door", "{found}");
    assert!(world.brain("a", &["prime"]).contains("the oven needs a new door"));
    assert!(!world.brain("a", &["prime"]).contains("green tea"));
    // Stated twice it is one.
    world.apply("a", json!([{"op": "create", "concept": "the oven needs a new door", "type": "semantic"}]));
    assert_eq!(world.json("a", &["recall", "oven door"])["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_is_shown_with_the_decision_that_stands() {
    let world = world(World::gated(), "");
    world.clone("b");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    world.sync("a");
    world.sync("b");
    as_person(&world, "a", "ben", &["approve", &branch, "--only", "1"]).exits(0);
    as_person(&world, "b", "mara", &["reject", &branch, "--why", "never said"]).exits(0);
    world.sync("a");
    let told = world.sync("b")["notes"].to_string();
    assert!(told.contains("decided on elsewhere first (amended by ben)"), "{told}");
    for machine in ["a", "b"] {
        world.sync(machine);
    }
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        let shown = world.brain(machine, &["review", run_of(&branch)]);
        assert!(shown.contains("amended by ben") && !shown.contains("rejected by mara"), "{machine}: {shown}");
        assert!(world.brain(machine, &["show", run_of(&branch)]).contains("amended by ben"), "{machine}");
    }
    // A decision whose run was taken back stands no more.
    let (branch, _) = world.waiting("a", "scribe", json!([create("bread")]));
    world.brain("a", &["approve", &branch]);
    let newest = |world: &World| world.json("a", &["review", "--decided"])["decisions"][0].clone();
    assert_eq!(newest(&world)["stands"], true);
    world.brain("a", &["revert", run_of(&branch)]);
    assert_eq!(newest(&world)["stands"], false);
}

#[test]
fn another_commit_of_a_run_that_waits_or_landed_decides_nothing() {
    let world = world(World::gated(), BEN);
    world.clone("b");
    let again = |world: &World, branch: &str| {
        let commit = world.tip("a", branch);
        let parent = world.git("a", &["log", "-1", "--format=%P", &commit]);
        let message = world.git("a", &["log", "-1", "--format=%B", &commit]);
        let message = message.lines().filter(|line| !line.starts_with("Review:")).collect::<Vec<_>>().join("\n");
        let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
        let other = world.commit("a", &commit, &[&parent], &[], &format!("{message}\n"), &author);
        world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &other]);
    };
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    world.sync("b");
    again(&world, &branch);
    let told = world.sync("a");
    assert!(told["notes"].to_string().contains("which waits for a decision"), "{told}");
    assert!(!has(&world, "a", "tea"));
    as_person(&world, "b", "ben", &["approve", &branch]).exits(0);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    assert!(has(&world, "a", "tea") && world.git("a", &["branch", "--list", "agents/*"]).is_empty());
    // What cannot land by an approval does not land without one.
    let (branch, commit) = world.waiting("a", "scribe", json!([create("milk")]));
    let path = world.path_of("a", &commit, "/milk.json");
    let poison = world.git("a", &["show", &format!("{commit}:{path}")]).replace("\"milk\"", "\"poison\"") + "\n";
    let parent = world.git("a", &["log", "-1", "--format=%P", &commit]);
    let run = run_of(&branch);
    let message = format!("attic\n\nAgent: scribe\nRun: {run}\n");
    let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
    let forged = world.commit("a", &commit, &[&parent], &[(&path, Some(&poison))], &message, &author);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &forged]);
    world.sync("a");
    assert!(!has(&world, "a", "milk"));
}

#[test]
fn a_night_brings_what_landed_by_rules_that_main_has_given_up() {
    for change in [BEN.to_owned(), format!("{BEN}{SCRIBE}then = \"land\"\n"), format!("{BEN}{SCRIBE}at_least = 50\n")] {
        let world = world(World::gated(), &format!("{BEN}{SCRIBE}"));
        world.clone("b");
        world.sync("b");
        settings(&world, "a", &change);
        world.sync("a");
        apply(&world, "a", json!([create("tea")]));
        world.brain("a", &["sleep"]);
        world.sync("a");
        world.sync("b");
        world.same(&["a", "b"]);
        assert!(has(&world, "b", "tea"), "{change}");
        // All at once, as from a machine that was offline.
        settings(&world, "b", &format!("{BEN}{SCRIBE}"));
        world.sync("b");
        world.sync("a");
        settings(&world, "a", &change);
        apply(&world, "a", json!([create("milk")]));
        world.brain("a", &["sleep"]);
        world.sync("a");
        world.sync("b");
        world.same(&["a", "b"]);
        assert!(has(&world, "b", "milk"), "{change}");
    }
}

#[test]
fn what_was_applied_offline_upon_a_run_that_waits_now_is_done_again() {
    let world = world(World::gated(), BEN);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    apply(&world, "b", json!([create("tea")]));
    apply(&world, "b", json!([create("milk")]));
    world.write("a", "brain.toml", &format!("{BEN}{SCRIBE}neurons = [\"tea*\"]\n"));
    world.git("a", &["commit", "-qam", "a rule"]);
    world.sync("a");
    world.try_brain("b", &["sync"]).exits(3);
    world.brain("b", &["sync", "--without-refused"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!((has(&world, "a", "tea"), has(&world, "a", "milk")), (false, true));
    let waiting = world.json("a", &["review"]);
    assert_eq!(waiting["waiting"].as_array().map_or(0, Vec::len), 1, "{waiting}");
}

#[test]
fn a_copied_record_is_held_to_the_branch_that_waits_and_waits_nowhere_once_it_has_landed() {
    let world = world(World::gated(), BEN);
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let (wake, run) = (world.tip("a", "wake"), run_of(&branch));
    let squashed = world.commit("a", &commit, &[&wake], &[], "tidy\n", &[]);
    let (taken, said) = world.git_try("a", &["push", "origin", &format!("{squashed}:refs/heads/wake")]);
    assert!(!taken && said.contains("lands without its approval"), "{said}");
    // A remote without a gate takes it; then it has landed, on all machines.
    std::fs::remove_file(world.dir("remote.git").join("hooks/pre-receive")).unwrap();
    world.git("a", &["push", "-q", "origin", &format!("{squashed}:refs/heads/wake")]);
    world.sync("a");
    world.sync("a");
    let list = world.json("a", &["review"]);
    assert!(!list.to_string().contains(run), "{list}");
    assert!(!world.git("remote.git", &["for-each-ref"]).contains(run));
}

#[test]
fn decisions_that_cannot_go_out_shut_nobody_out() {
    let world = world(World::gated(), &format!("{BEN}{SCRIBE}"));
    std::fs::remove_file(world.dir("remote.git").join("hooks/pre-receive")).unwrap();
    world.clone("b");
    let waits: Vec<String> =
        ["tea", "milk"].iter().map(|id| world.waiting("a", "scribe", json!([create(id)])).0).collect();
    as_person(&world, "a", "ben", &["approve", &waits[0]]).exits(0);
    world.sync("a");
    world.sync("b");
    let good = world.tip("remote.git", "refs/brain/reviews");
    let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    let bad = world.git("remote.git", &["commit-tree", empty, "-p", &good, "-m", "gone"]);
    world.git("remote.git", &["update-ref", "refs/brain/reviews", &bad]);
    as_person(&world, "a", "ben", &["reject", &waits[1], "--why", "no"]).exits(0);
    let said = world.try_brain("a", &["sync"]).exits(3).err;
    assert!(said.contains("main and wake stay here"), "{said}");
    world.apply("b", json!([create("own")]));
    let said = world.try_brain("b", &["sync"]).exits(3).err;
    assert!(said.contains("all else is done"), "{said}");
    assert!(world.git("remote.git", &["ls-tree", "-r", "--name-only", "wake"]).contains("/own.json"));
    // The command that is named mends it.
    world.git("a", &["push", "-q", "origin", "+refs/brain/reviews:refs/brain/reviews"]);
    for machine in ["a", "b", "a"] {
        world.sync(machine);
    }
    world.same(&["a", "b"]);
}

#[test]
fn a_record_in_the_name_of_another_counts_nowhere() {
    let world = world(World::gated(), &format!("{BEN}{SCRIBE}"));
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    // What Ben would write, in a commit of somebody else.
    world.clone("c");
    world.sync("a");
    world.sync("c");
    as_person(&world, "c", "ben", &["approve", &branch]).exits(0);
    let tip = world.tip("c", "refs/brain/reviews");
    let forged = world.commit("c", &tip, &[], &[], "approve\n", &[("GIT_AUTHOR_EMAIL", "mallory@example.invalid")]);
    let c = world.dir("c").display().to_string();
    world.git("a", &["fetch", "-q", &c, &format!("+{forged}:refs/brain/reviews")]);
    as_person(&world, "a", "mallory", &["merge", &branch]).exits(3);
    assert!(!has(&world, "a", "tea"));
    let decided = world.json("a", &["review", "--decided"]);
    assert_eq!(decided["decisions"][0]["counts"], Value::Bool(false), "{decided}");
}

#[test]
fn what_waits_upon_a_run_that_is_refused_waits_for_everybody() {
    let world = world(World::gated(), BEN);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    apply(&world, "b", json!([create("tea")]));
    let (branch, _) = world.waiting("b", "scribe", json!([create("milk")]));
    world.write("a", "brain.toml", &format!("{BEN}{SCRIBE}"));
    world.git("a", &["commit", "-qam", "a rule"]);
    world.sync("a");
    world.try_brain("b", &["sync"]).exits(3);
    let told = world.json("b", &["sync", "--without-refused"]);
    assert!(told["notes"].to_string().contains(&format!("{} waits for review, as", run_of(&branch))), "{told}");
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    let lists = ["a", "b"].map(|machine| world.brain(machine, &["review"]));
    assert_eq!(lists[0], lists[1]);
    assert!(lists[0].contains("\"milk\"") && lists[0].contains("\"tea\""), "{}", lists[0]);
    assert!(world.brain("b", &["check"]).contains("all good"));
}

#[test]
fn a_run_made_again_is_held_to_what_waits_and_to_what_was_decided() {
    let world = world(World::gated(), BEN);
    world.clone("b");
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    world.sync("b");
    let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
    let message = world.git("a", &["log", "-1", "--format=%B", &commit]);
    let silent = message.lines().filter(|line| !line.starts_with("Review:")).collect::<Vec<_>>().join("\n") + "\n";
    let parent = world.git("a", &["log", "-1", "--format=%P", &commit]);
    let again = world.commit("a", &commit, &[&parent], &[], &silent, &author);
    let (taken, said) = world.git_try("a", &["push", "origin", &format!("{again}:refs/heads/wake")]);
    assert!(!taken && said.contains("lands without its approval"), "{said}");
    // It lands by an approval, is taken back by git, and comes again with other words.
    as_person(&world, "b", "ben", &["approve", &branch]).exits(0);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    world.sync("a");
    let merge = world.git("a", &["log", "-1", "--format=%H", "--grep", "^merge scribe", "wake"]);
    world.git("a", &["worktree", "add", "-q", "../wt", "--detach", "wake"]);
    let wt = world.dir("a").join("../wt").display().to_string();
    world.git("a", &["-C", &wt, "revert", "-m", "1", "--no-edit", &merge]);
    let back = world.git("a", &["-C", &wt, "rev-parse", "HEAD"]);
    world.git("a", &["push", "-q", "origin", &format!("{back}:refs/heads/wake")]);
    let path = world.path_of("a", &commit, "/tea.json");
    let poison = world.git("a", &["show", &format!("{commit}:{path}")]).replace("\"tea\"", "\"poison\"") + "\n";
    let run = world.path_of("a", &commit, "-scribe.json");
    let record = world.git("a", &["show", &format!("{commit}:{run}")]).replace("\"tea\"", "\"poison\"") + "\n";
    let files = [(path.as_str(), Some(poison.as_str())), (run.as_str(), Some(record.as_str()))];
    let forged = world.commit("a", &back, &[&back], &files, &silent, &author);
    let (taken, said) = world.git_try("a", &["push", "origin", &format!("{forged}:refs/heads/wake")]);
    assert!(!taken && said.contains("second record of its run"), "{said}");
}

#[test]
fn a_dry_run_says_what_lands_and_what_was_kept_out_before_is_said_again() {
    let world = world(World::gated(), "");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    let said = world.brain("a", &["approve", &branch, "--only", "1", "--dry-run"]);
    assert!(said.contains("lands: create") && said.contains("does not land: 2 create"), "{said}");
    let said = world.brain("a", &["reject", &branch, "--dry-run"]);
    assert!(!said.contains("note: lands") && said.contains("does not land: 1 create"), "{said}");
    world.brain("a", &["reject", &branch, "--why", "nobody drinks that"]);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    let shown = world.brain("a", &["review", &branch]);
    assert!(shown.contains("was kept out before: rejected by") && shown.contains("nobody drinks that"), "{shown}");
}

#[test]
fn a_revert_of_an_archiving_brings_back_what_a_night_removed() {
    let world = World::new();
    world.brain("a", &["feed", "The museum opens at ten."]);
    let old = world.json("a", &["recall", "museum"])["results"][0]["id"].as_str().unwrap().to_owned();
    let run =
        world.apply("a", json!([{"op": "archive", "id": old, "reason": "closed"}]))["run"].as_str().unwrap().to_owned();
    world.brain("a", &["sleep"]);
    let said = world.brain("a", &["revert", &run]);
    assert!(said.contains(&format!("{old}, which {run} archived or replaced, is brought back by")), "{said}");
    assert!(world.brain("a", &["recall", "museum"]).contains("opens at ten"));
}
