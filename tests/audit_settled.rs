//! Findings of `git brain audit` that a later commit settles, or does not; and what an audit that goes on asks again.

use serde_json::{Value, json};

use crate::audit::{agree, audit, lived, named, scribes, upon};
use crate::machines::World;
use crate::sandbox::{adjust, create};

const AGENT: [(&str, &str); 1] = [("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")];

/// The commit that `git revert` of the tip of a branch would make, upon that tip.
fn reverted(world: &World, tip: &str) -> String {
    let message = format!("Revert \"x\"\n\nThis reverts commit {tip}.\n");
    world.commit("a", &format!("{tip}^"), &[tip], &[], &message, &[])
}

fn moved(world: &World, branch: &str, tip: &str) {
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), tip]);
}

/// A commit in an agent's name that makes a connection heavier.
fn heavier(world: &World) -> String {
    let path = world.path_of("a", "wake", "/tea.json");
    let heavier = (world.git("a", &["show", &format!("wake:{path}")]) + "\n").replace(": 3100", ": 60000");
    upon(world, "wake", &[(&path, Some(&heavier))], "tidy", &AGENT)
}

fn is_settled(report: &Value, commit: &str) -> bool {
    let mut findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["commit"] == commit);
    findings.all(|finding| finding["settled"].is_object())
}

/// A commit that only names an honest run did nothing that taking back this run takes back.
#[test]
fn revert_of_a_run_settles_nothing_of_a_commit_that_borrows_its_name() {
    let world = lived();
    let made = scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let run = made["run"].as_str().unwrap();
    let own =
        world.git("a", &["log", "-1", "--format=%H", "--grep", &format!("^Run: {run}"), "--author=scribe", "wake"]);
    let message = world.git("a", &["log", "-1", "--format=%B", &own]);
    let path = world.path_of("a", "wake", "/cup.json");
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let salience = text.split("\"salience\": ").nth(1).unwrap().split([',', '\n']).next().unwrap();
    let louder = text.replace(&format!("\"salience\": {salience}"), "\"salience\": 60001");
    assert_ne!(text, louder);
    let forged = upon(&world, "wake", &[(&path, Some(&louder))], &message, &[]);
    assert!(named(&agree(&world, 3), &forged, "forged-trailer"));
    world.brain("a", &["revert", run]);
    let report = agree(&world, 3);
    assert!(named(&report, &forged, "forged-trailer") && !is_settled(&report, &forged), "{report}");
}

#[test]
fn revert_settles_only_where_the_commit_stands_and_only_while_it_is_in_force() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let wrong = heavier(&world);
    agree(&world, 3);
    let back = reverted(&world, &wrong);
    // On a branch beside wake nothing was given back.
    moved(&world, "agents/x", &back);
    agree(&world, 3);
    moved(&world, "wake", &back);
    assert!(is_settled(&agree(&world, 0), &wrong));
    // A revert of the revert brings the change back.
    moved(&world, "wake", &reverted(&world, &back));
    agree(&world, 3);
    moved(&world, "wake", &reverted(&world, &world.tip("a", "wake")));
    assert!(is_settled(&agree(&world, 0), &wrong));
    // The same of settings on main.
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n# gentler\n";
    let policy = upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &AGENT);
    agree(&world, 3);
    moved(&world, "main", &reverted(&world, &policy));
    agree(&world, 0);
    moved(&world, "main", &reverted(&world, &world.tip("a", "main")));
    assert!(named(&agree(&world, 3), &policy, "policy-by-agent"));
}

#[test]
fn record_that_was_edited_and_given_back_is_settled_with_the_commit_that_gave_it_back() {
    let world = lived();
    let record = world.path_of("a", "wake", "-bootstrap.json");
    let other = world.git("a", &["show", &format!("wake:{record}")]).replacen("reflex:", "reflex: ", 1) + "\n";
    let wrong = upon(&world, "wake", &[(&record, Some(&other))], "notes", &[]);
    assert!(named(&agree(&world, 3), &wrong, "written-once"));
    let back = reverted(&world, &wrong);
    moved(&world, "wake", &back);
    let report = agree(&world, 0);
    assert!(named(&report, &back, "written-once") && is_settled(&report, &wrong), "{report}");
    // A revert that changes another record as well settles nothing.
    let runs = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/runs"]);
    let beside = runs.lines().find(|path| **path != *record).unwrap().to_owned();
    let text = world.git("a", &["show", &format!("wake:{beside}")]).replacen("\"at\"", " \"at\"", 1) + "\n";
    let message = format!("Revert \"x\"\n\nThis reverts commit {wrong}.\n");
    let more = world.commit("a", &format!("{wrong}^"), &[&wrong], &[(&beside, Some(&text))], &message, &[]);
    moved(&world, "wake", &more);
    agree(&world, 3);
}

/// A run that had to wait and was merged by plain git, with the merge.
fn landed_unapproved() -> (World, String, String) {
    let rules =
        "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"all\"\nagents = [\"scribe\"]\n";
    let world = crate::review_second::world(World::new(), rules);
    let (branch, _) = world.waiting("a", "scribe", json!([create("plate")]));
    let (wake, run) = (world.tip("a", "wake"), world.tip("a", &branch));
    let landed = world.commit("a", &run, &[&wake, &run], &[], "merge", &[]);
    moved(&world, "wake", &landed);
    assert!(named(&agree(&world, 3), &landed, "unapproved"));
    (world, branch.rsplit('/').next().unwrap().to_owned(), landed)
}

#[test]
fn run_that_landed_unapproved_is_accepted_by_its_name() {
    let (world, run, landed) = landed_unapproved();
    let accepted = world.json("a", &["audit", "accept", &run, "--why", "seen"]);
    assert_eq!(accepted["decisions"][0]["commit"], *landed, "{accepted}");
    assert!(is_settled(&agree(&world, 0), &landed));
}

#[test]
fn run_that_landed_unapproved_is_told_also_once_it_was_taken_back() {
    let (world, _, landed) = landed_unapproved();
    let wake = world.tip("a", "wake^");
    let message = format!("Revert \"merge\"\n\nThis reverts commit {landed}, reversing\nchanges made to {wake}.\n");
    moved(&world, "wake", &world.commit("a", &wake, &[&landed], &[], &message, &[]));
    let report = agree(&world, 0);
    assert!(named(&report, &landed, "unapproved") && is_settled(&report, &landed), "{report}");
}

#[test]
fn commit_of_which_git_reads_another_author_is_named() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let honest = heavier(&world);
    let header = world.git("a", &["cat-file", "commit", &honest]) + "\n";
    let author = header.lines().find(|line| line.starts_with("author ")).unwrap().to_owned();
    let (by, when) = author.rsplit_once("> ").unwrap();
    let atta = format!("author Atta <atta@example.org> {when}");
    for lines in [
        format!("{atta}\n{author}"),
        format!("{by}> Atta <atta@example.org> {when}"),
        author.replace("invalid>", "invalid\t>"),
    ] {
        let path = world.sandbox.file("commit", header.replace(&author, &lines));
        let made = world.git("a", &["hash-object", "-t", "commit", "-w", "--literally", &path]);
        moved(&world, "wake", &made);
        let report = agree(&world, 3);
        assert!(report["findings"].as_array().unwrap().iter().any(|one| one["commit"] == *made), "{lines}: {report}");
        moved(&world, "wake", &format!("{honest}^"));
        world.try_brain("a", &["audit", "--all"]);
    }
}

#[test]
fn audit_that_goes_on_asks_again_what_a_late_change_of_agents_allows_and_nothing_after_a_settled_one() {
    let world = lived();
    let main = world.tip("a", "main");
    // Another machine takes the agent away; this one has not got it, and goes on.
    let dates = [("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z"), ("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z")];
    let away = world.commit("a", &main, &[&main], &[("agents/scribe.json", None)], "no scribe", &dates);
    // Of one second nobody can tell which definition was in force.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scribes(&world, json!([create("plate")]));
    audit(&world, &[], 0);
    moved(&world, "main", &away);
    assert!(agree(&world, 0)["counts"]["old-authority"].as_u64().unwrap() > 0);
    moved(&world, "main", &main);
    // A finding on main does not make each later audit a whole one.
    world.try_brain("a", &["audit", "--all"]);
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n# gentler\n";
    upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &AGENT);
    audit(&world, &[], 3);
    world.brain("a", &["feed", "Clara moved to the lake"]);
    let report = audit(&world, &[], 3);
    assert!(report["new_commits"].as_u64().unwrap() < 6, "{report}");
}

#[test]
fn change_that_a_person_put_back_is_settled_by_no_later_run() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let wrong = heavier(&world);
    moved(&world, "wake", &reverted(&world, &wrong));
    assert!(is_settled(&agree(&world, 0), &wrong));
    // In words of the person's own: no revert of a revert.
    let put_back = || {
        let tip = world.tip("a", "wake");
        let again = world.commit("a", &wrong, &[&tip], &[], "own words", &[]);
        moved(&world, "wake", &again);
        agree(&world, 3);
        again
    };
    let again = put_back();
    moved(&world, "wake", &reverted(&world, &again));
    assert!(is_settled(&agree(&world, 0), &wrong));
    put_back();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 10)]));
    assert!(!is_settled(&agree(&world, 3), &wrong));
}

/// A tip with a weight of tea that was not there, in words of a person's own.
fn weighing(world: &World, from: &str, to: &str, more: (&str, &str)) -> String {
    let path = world.path_of("a", "wake", "/tea.json");
    let text = (world.git("a", &["show", &format!("wake:{path}")]) + "\n").replace(from, to).replace(more.0, more.1);
    upon(world, "wake", &[(&path, Some(&text))], "own words", &[])
}

#[test]
fn revert_after_a_later_run_settles_once_no_field_holds_what_was_forged() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let wrong = heavier(&world);
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 10)]));
    assert!(!is_settled(&agree(&world, 3), &wrong));
    let tip = world.tip("a", "wake");
    // Another number is none that was there, nor that less what the run added.
    weighing(&world, ": 60010", ": 60009", ("", ""));
    assert!(!is_settled(&agree(&world, 3), &wrong));
    moved(&world, "wake", &tip);
    world.try_brain("a", &["audit", "--all"]);
    // By hand, in words of a person's own.
    let back = weighing(&world, ": 60010", ": 3110", ("", ""));
    let report = audit(&world, &["--all"], 3);
    assert!(is_settled(&report, &wrong), "{report}");
    assert!(report.to_string().contains(&format!("taken back by the commit {back}")), "{report}");
    // Put back with another change of the same file, also by a person.
    weighing(&world, ": 3110", ": 60000", ("\"concept\": \"tea\"", "\"concept\": \"black tea\""));
    assert!(!is_settled(&audit(&world, &[], 3), &wrong));
}

#[test]
fn hand_of_an_agent_takes_nothing_back() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let wrong = heavier(&world);
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 10)]));
    let path = world.path_of("a", "wake", "/tea.json");
    let text = (world.git("a", &["show", &format!("wake:{path}")]) + "\n").replace(": 60010", ": 3110");
    let message = format!("Revert \"x\"\n\nThis reverts commit {wrong}.\n");
    upon(&world, "wake", &[(&path, Some(&text))], &message, &AGENT);
    assert!(!is_settled(&agree(&world, 3), &wrong));
}

#[test]
fn settings_that_an_agent_changed_are_given_back_key_by_key() {
    let world = lived();
    let before = world.git("a", &["show", "main:brain.toml"]) + "\n";
    let forged = before.clone() + "\n[review]\nreviewers = [\"mallory@example.invalid\"]\n";
    let policy = upon(&world, "main", &[("brain.toml", Some(&forged))], "settings", &AGENT);
    let more = forged.clone() + "\n[sleep]\nprune_below = 7\n";
    upon(&world, "main", &[("brain.toml", Some(&more))], "more", &[]);
    assert!(!is_settled(&agree(&world, 3), &policy));
    let back = before + "\n[sleep]\nprune_below = 7\n";
    upon(&world, "main", &[("brain.toml", Some(&back))], "no reviewers", &[]);
    assert!(is_settled(&agree(&world, 0), &policy));
}

#[test]
fn link_that_a_person_put_into_the_network_is_a_finding_and_no_error() {
    let world = lived();
    let wake = world.tip("a", "wake");
    let blob = world.git("a", &["hash-object", "-w", &world.sandbox.file("target", "/etc/passwd")]);
    let index = world.sandbox.path("link.index");
    let git = |args: &[&str]| {
        let done =
            world.sandbox.command("git", args).current_dir(world.dir("a")).env("GIT_INDEX_FILE", &index).output();
        String::from_utf8(done.unwrap().stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", &wake]);
    git(&["update-index", "--add", "--cacheinfo", &format!("120000,{blob},network/neurons/00/0/link.json")]);
    let linked = git(&["commit-tree", &git(&["write-tree"]), "-p", &wake, "-m", "link"]);
    moved(&world, "wake", &linked);
    let report = agree(&world, 3);
    assert!(report["findings"].as_array().unwrap().iter().any(|finding| finding["commit"] == *linked), "{report}");
}
