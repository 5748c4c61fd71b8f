//! What outsiders broke in reviews: words of a commit that were believed, decisions that met, and what came with a run.

use crate::machines::{World, refused};
use crate::sandbox::{create, delta};
use serde_json::{Value, json};

const STRICT: &str = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"strict\"\nneurons = [\"n-*\"]\nreviewers = [\"mara@example.invalid\"]\n\n\
                      [[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

pub fn world(world: World, rules: &str) -> World {
    let scribe = json!({
        "name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": ["create", "connect", "reword", "archive", "signal", "flag"], "types": ["semantic", "episodic"]},
    });
    world.write("a", "agents/scribe.json", &scribe.to_string());
    world.write("a", "brain.toml", rules);
    world.git("a", &["add", "agents", "brain.toml"]);
    world.git("a", &["commit", "-qm", "scribe"]);
    world.brain("a", &["trust", "--yes"]);
    world.sync("a");
    world
}

/// The command as a person of that name.
pub fn as_person(world: &World, machine: &str, person: &str, args: &[&str]) -> crate::sandbox::Answer {
    let email = format!("{person}@example.invalid");
    let dir = world.dir(machine);
    for (key, value) in [("user.name", person), ("user.email", email.as_str())] {
        world.git(machine, &["config", key, value]);
    }
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), person).env(format!("GIT_{who}_EMAIL"), &email);
    }
    crate::sandbox::Answer::of(args.join(" "), command.current_dir(dir).output().unwrap())
}

pub fn run_of(branch: &str) -> &str {
    branch.rsplit('/').next().unwrap()
}

pub fn apply(world: &World, machine: &str, ops: Value) -> Value {
    let dir = world.dir(machine).display().to_string();
    let args = ["-C", &dir, "--json", "apply", "--agent", "scribe", "-"];
    world.sandbox.brain_with(&args, delta(ops).to_string().as_bytes()).exits(0).document()
}

#[test]
fn the_rules_are_asked_of_the_record_and_not_of_what_a_commit_says() {
    let world = world(World::gated(), STRICT);
    // `--no-merge` chooses no other reviewer.
    let (branch, commit) = world.waiting("a", "scribe", json!([create("n-evil")]));
    assert!(world.git("a", &["log", "-1", "--format=%B", &commit]).contains("Review: rule strict"));
    as_person(&world, "a", "ben", &["approve", &branch]).exits(3);
    // Nor does a message that was written again, here or at the gate.
    let message = world.git("a", &["log", "-1", "--format=%B", &commit]);
    let parent = world.git("a", &["log", "-1", "--format=%P", &commit]);
    let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
    for word in ["asked", "rule scribe", "rule gone", "origin", "conflict"] {
        let other = message.replace("Review: rule strict", &format!("Review: {word}"));
        let forged = world.commit("a", &commit, &[&parent], &[], &other, &author);
        world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &forged]);
        let said = as_person(&world, "a", "ben", &["approve", &branch]).exits(3);
        assert!(said.err.contains("mara@example.invalid may"), "{word}: {said}");
        refused(&world, word, &forged, "wake", "lands without its approval");
    }
    let without: String =
        message.lines().filter(|line| !line.starts_with("Review:")).map(|l| l.to_owned() + "\n").collect();
    let forged = world.commit("a", &commit, &[&parent], &[], &without, &author);
    refused(&world, "no word", &forged, "wake", "lands without its approval");
}

#[test]
fn no_record_names_a_run_of_somebody_else() {
    let world = world(World::gated(), "");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    world.sync("a");
    let mine = world.apply("a", json!([create("mine")]))["run"].as_str().unwrap().to_owned();
    world.sync("a");
    world.brain("a", &["approve", &branch, "--only", "1"]);
    let tip = world.tip("a", "refs/brain/reviews");
    let path = world.git("a", &["ls-tree", "-r", "--name-only", &tip]);
    let text = world.git("a", &["show", &format!("{tip}:{path}")]);
    let lands: Value = serde_json::from_str(&text).unwrap();
    let forged = text.replace(lands["lands"].as_str().unwrap(), &mine) + "\n";
    let email = world.git("a", &["log", "-1", "--format=%ae", &tip]);
    let commit = world.commit(
        "a",
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        &[],
        &[(&path, Some(&forged))],
        "x",
        &[("GIT_AUTHOR_EMAIL", &email)],
    );
    let (pushed, said) = world.git_try("a", &["push", "origin", &format!("{commit}:refs/brain/reviews")]);
    assert!(!pushed && said.contains("is not the run of this decision"), "{said}");
}

#[test]
fn a_brain_with_decisions_begins_at_a_new_gate() {
    let world = world(World::new(), STRICT);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    as_person(&world, "a", "ben", &["approve", &branch, "--only", "1"]).exits(0);
    world.brain(".", &["init", "--bare", "second.git"]);
    std::fs::remove_file(world.dir("second.git/hooks/post-receive")).unwrap();
    world.git("a", &["remote", "add", "second", "../second.git"]);
    as_person(&world, "a", "ben", &["sync", "second"]).exits(0);
    assert_eq!(world.tip("second.git", "wake"), world.tip("a", "wake"));
    assert_eq!(world.tip("second.git", "refs/brain/reviews"), world.tip("a", "refs/brain/reviews"));
    // And by one plain push of everything.
    world.brain(".", &["init", "--bare", "third.git"]);
    std::fs::remove_file(world.dir("third.git/hooks/post-receive")).unwrap();
    world.git("a", &["push", "-q", "../third.git", "main", "wake", "refs/brain/reviews:refs/brain/reviews"]);
    assert_eq!(world.tip("third.git", "wake"), world.tip("a", "wake"));
}

/// Two reviewers decide otherwise, in every order; a third machine that decided nothing takes what stands.
#[test]
fn two_decisions_that_meet_keep_no_third_machine_out() {
    let rules = "[review]\nreviewers = [\"anna@example.invalid\", \"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let decide = |world: &World, machine: &str, person: &str, branch: &str, decision: &str| {
        let args: &[&str] = match decision {
            "approve" => &["approve", branch],
            "reject" => &["reject", branch, "--why", "no"],
            _ => &["approve", branch, "--only", "2"],
        };
        as_person(world, machine, person, args).exits(0);
    };
    // What the second reviewer does before he syncs takes nothing of the first decision down with it.
    for (first, second, then) in [
        ("approve", "reject", "sleep"),
        ("reject", "approve", "activate"),
        ("amend", "approve", "activate"),
        ("approve", "amend", "activate"),
        ("reject", "amend", "sleep"),
        ("amend", "reject", "nothing"),
    ] {
        let world = world(World::gated(), rules);
        ["b", "c"].iter().for_each(|name| world.clone(name));
        let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
        for name in ["a", "b", "c"] {
            world.sync(name);
        }
        decide(&world, "b", "ben", &branch, first);
        decide(&world, "a", "anna", &branch, second);
        match then {
            "sleep" => drop(as_person(&world, "a", "anna", &["sleep"]).exits(0)),
            "activate" => {
                let used = json!([{"op": "activate", "id": "milk", "strength": 0.5}]);
                let delta = world.sandbox.file("used.json", delta(used).to_string());
                as_person(&world, "a", "anna", &["apply", &delta]).exits(0);
            }
            _ => {}
        }
        for (name, person) in [("b", "ben"), ("a", "anna"), ("c", "carla"), ("b", "ben"), ("c", "carla")] {
            let said = as_person(&world, name, person, &["sync"]);
            assert_eq!(said.code, 0, "{first} {second}, {name}: {said}");
        }
        world.same(&["a", "b", "c"]);
        let decided = world.json("c", &["review", "--decided"]);
        let stand: Vec<(&str, bool)> = decided["decisions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["verdict"].as_str().unwrap(), one["stands"] == true))
            .collect();
        assert_eq!(stand.len(), 2, "{decided:#}");
        for (verdict, stands) in stand {
            assert_eq!(stands, verdict == first, "{first} {second}: {decided:#}");
        }
        let lessons = world.json("c", &["prime"])["lessons"].to_string();
        assert!(!(first != "reject" && lessons.contains("rejected")), "{first} {second}: {lessons}");
        let has = |id: &str| {
            let shown = world.try_brain("c", &["show", id]);
            shown.code == 0 && !shown.out.contains("\"archived\"")
        };
        let expected = match first {
            "approve" => (true, true),
            "reject" => (false, false),
            // Operations have the numbers of the document.
            _ => (false, true),
        };
        assert_eq!((has("tea"), has("milk")), expected, "{first} {second}");
        let main = world.git("c", &["ls-tree", "-r", "--name-only", "main"]);
        assert!(first != "reject" || !main.contains("milk"), "{first} {second}: a night keeps what was rejected");
    }
}

/// The same of a text that shares its concepts with others: what gives way says what it does, and no more.
#[test]
fn a_text_that_gives_way_leaves_what_it_shares() {
    let rules = "[review]\nreviewers = [\"anna@example.invalid\", \"ben@example.invalid\"]\n";
    for (first, second) in [("approve", "only"), ("only", "approve"), ("reject", "approve"), ("approve", "reject")] {
        let world = world(World::gated(), rules);
        world.brain("a", &["feed", "Anna grows green tea in Uji."]);
        world.sync("a");
        ["b", "c"].iter().for_each(|name| world.clone(name));
        world.brain("a", &["feed", "--origin", "web:x.example", "Uji sells green tea to Anna and to Boris."]);
        for name in ["a", "b", "c"] {
            world.sync(name);
        }
        let branch = world.json("a", &["review"])["waiting"][0]["branch"].as_str().unwrap().to_owned();
        let belief = world.json("a", &["review", &branch, "--no-questions"]);
        let neurons = belief["reviews"][0]["neurons"].as_array().unwrap();
        let memory = neurons.iter().find(|one| one["type"] == "episodic").unwrap()["id"].as_str().unwrap().to_owned();
        let decide = |machine: &str, person: &str, decision: &str| {
            let args: &[&str] = match decision {
                "only" => &["approve", &branch, "--only", &memory],
                "reject" => &["reject", &branch, "--why", "no"],
                _ => &["approve", &branch],
            };
            as_person(&world, machine, person, args).exits(0);
        };
        decide("b", "ben", first);
        decide("a", "anna", second);
        as_person(&world, "a", "anna", &["recall", "green tea", "--learn"]);
        as_person(&world, "a", "anna", &["approve", "--origin", "web:x.example"]);
        world.brain("c", &["feed", "Carla drinks green tea in Uji."]);
        for (name, person) in [("b", "ben"), ("c", "carla"), ("a", "anna"), ("b", "ben"), ("c", "carla"), ("a", "anna")]
        {
            let said = as_person(&world, name, person, &["sync"]);
            assert_eq!(said.code, 0, "{first} {second}, {name}: {said}");
        }
        let said = as_person(&world, "b", "ben", &["sync"]);
        assert_eq!(said.code, 0, "{said}");
        world.same(&["a", "b"]);
        let shown = world.try_brain("b", &["show", &memory]);
        let is_believed = shown.code == 0 && !shown.out.contains("\"archived\"");
        assert_eq!(is_believed, first != "reject", "{first} {second}: {shown}");
    }
}

#[test]
fn a_rule_that_was_given_up_for_a_while_keeps_nobody_out_later() {
    let world = world(World::gated(), STRICT);
    world.clone("b");
    world.sync("b");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let write = |text: &str| {
        world.write("a", "brain.toml", text);
        world.git("a", &["commit", "-qam", "rules"]);
        world.sync("a");
    };
    write("");
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    write(STRICT);
    world.sync("b");
    world.same(&["a", "b"]);
    assert_eq!(world.try_brain("b", &["check"]).code, 0);
}

#[test]
fn one_decision_is_about_one_run() {
    let world = world(World::gated(), STRICT);
    world.clone("b");
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    // A commit more upon the run that waits, at the gate and at a remote without one.
    let author = [("GIT_AUTHOR_EMAIL", "eve@example.invalid")];
    let more = world.commit("a", &commit, &[&commit], &[], "more", &author);
    refused(&world, "a commit more", &more, &branch, "another commit upon a run that waits");
    let wake = world.tip("a", "wake");
    let merged = world.commit("a", &commit, &[&commit, &wake], &[], "more", &author);
    refused(&world, "a merge upon it", &merged, &branch, "another commit upon a run that waits");
    // A record that somebody squashed below another run lands with it, so it is asked for as well.
    let (evil, squashed) = world.waiting("a", "scribe", json!([create("n-evil")]));
    let below = world.commit("a", &squashed, &[&wake], &[], "a person's words", &author);
    world.git("a", &["update-ref", "refs/heads/wake", &below]);
    world.git("a", &["branch", "-qD", &evil]);
    let (upon, harmless) = world.waiting("a", "scribe", json!([create("harmless")]));
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    refused(&world, "what lies below", &harmless, &upon, "lands without its approval");
    world.git("a", &["branch", "-qD", &upon]);
    std::fs::remove_file(world.dir("remote.git/hooks/pre-receive")).unwrap();
    world.git("a", &["push", "-q", "origin", &format!("{more}:refs/heads/{branch}")]);
    let said = world.sync("b");
    assert!(said["notes"].to_string().contains("another commit upon the run"), "{said:#}");
    assert!(world.brain("b", &["review"]).contains(run_of(&branch)));
    as_person(&world, "b", "ben", &["approve", &branch]).exits(0);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    // Nobody decided on what lies upon it.
    assert_eq!(world.tip("remote.git", &branch), more);
}

#[test]
fn a_night_brings_no_unapproved_run_to_main() {
    let world = world(World::gated(), STRICT);
    let (_, commit) = world.waiting("a", "scribe", json!([create("n-evil")]));
    let wake = world.tip("a", "wake");
    let merge = world.commit("a", &commit, &[&wake, &commit], &[], "merge", &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &merge]);
    let main = world.slept("a");
    let (kept, said) = world.git_try("a", &["push", "origin", &format!("{merge}:refs/git-brain/rescue/{merge}")]);
    assert!(!kept && said.contains("is of one machine alone"), "{said}");
    let (pushed, said) = world.git_try("a", &["push", "origin", &format!("{main}:refs/heads/main")]);
    assert!(!pushed && said.contains("lands without its approval"), "{said}");
}

#[test]
fn what_is_not_trusted_is_approved_by_reviewers_alone() {
    let world =
        world(World::gated(), "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[origins]\nother = \"tainted\"\n");
    world.brain("a", &["feed", "--origin", "web:x.example", "Anna grows green tea in Uji."]);
    for args in [&["approve", "--origin", "web:x.example"][..], &["approve", &memory(&world)]] {
        let said = as_person(&world, "a", "carla", args).exits(3);
        assert!(said.err.contains("ben@example.invalid may"), "{said}");
    }
    as_person(&world, "a", "ben", &["approve", "--origin", "web:x.example"]).exits(0);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    // The gate asks the same of a run that claims it.
    world.brain("a", &["feed", "--origin", "web:y.example", "Ben grows black tea in Assam."]);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    as_person(&world, "a", "ben", &["approve", "--origin", "web:y.example"]).exits(0);
    let own = world.git("a", &["log", "wake", "--format=%H", "-1", "--grep=^Trigger: approve", "--no-merges"]);
    let message = world.git("a", &["log", "-1", "--format=%B", &own]);
    let parent = world.git("a", &["log", "-1", "--format=%P", &own]);
    let forged = world.commit("a", &own, &[&parent], &[], &message, &[("GIT_AUTHOR_EMAIL", "carla@example.invalid")]);
    refused(&world, "an approval", &forged, "wake", "approves what is not trusted");
}

/// Nor is a merge by hand a way round, or a commit that brings records as well.
#[test]
fn no_merge_approves_what_is_not_trusted() {
    let world =
        world(World::gated(), "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[origins]\nother = \"tainted\"\n");
    let old = world.tip("a", "wake");
    world.brain("a", &["feed", "--origin", "web:x.example", "Anna grows green tea in Uji."]);
    world.sync("a");
    let wake = world.tip("a", "wake");
    let id = memory(&world);
    let path = world.path_of("a", &wake, &format!("/{id}.json"));
    let approved =
        world.git("a", &["show", &format!("{wake}:{path}")]).replace("\"web:x.example\"", "\"approved:web:x.example\"")
            + "\n";
    let edit = [(path.as_str(), Some(approved.as_str()))];
    let carla = [("GIT_AUTHOR_NAME", "carla"), ("GIT_AUTHOR_EMAIL", "carla@example.invalid")];
    // All that wake has since, with the approval in it, on an old commit.
    let side = world.commit("a", &wake, &[&old], &edit, "side\n", &carla);
    for (what, from, parents) in [
        ("a merge with an old commit", &wake, [wake.as_str(), old.as_str()]),
        ("a merge with a commit beside it", &wake, [wake.as_str(), side.as_str()]),
    ] {
        let forged = world.commit("a", from, &parents, &edit, "tidy\n", &carla);
        refused(&world, what, &forged, "wake", "approves what is not trusted");
    }
    // Who may does, by a commit that says so.
    let ben = [("GIT_AUTHOR_NAME", "ben"), ("GIT_AUTHOR_EMAIL", "ben@example.invalid")];
    let own = world.commit("a", &wake, &[&wake], &edit, "I know her\n", &ben);
    world.git("a", &["push", "-q", "origin", &format!("{own}:refs/heads/wake")]);
}

/// Who reviews changes, and a machine was away meanwhile: what was decided stays decided.
#[test]
fn what_a_reviewer_decided_stays_when_another_takes_over() {
    let rules = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = world(World::gated(), rules);
    let runs: Vec<String> = [json!([create("tea")]), json!([create("milk"), create("juice")]), json!([create("wine")])]
        .into_iter()
        .map(|ops| world.waiting("a", "scribe", ops).0)
        .collect();
    world.sync("a");
    world.clone("b");
    as_person(&world, "a", "ben", &["approve", &runs[0]]).exits(0);
    as_person(&world, "a", "ben", &["approve", &runs[1], "--only", "1"]).exits(0);
    as_person(&world, "a", "ben", &["reject", &runs[2], "--why", "no"]).exits(0);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    world.write("a", "brain.toml", &rules.replace("ben@", "mara@"));
    world.git("a", &["commit", "-qam", "ben left"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    world.clone("c");
    world.sync("c");
    world.same(&["a", "c"]);
    // Without a decision of either, nothing is thrown away.
    let (branch, run) = world.waiting("a", "scribe", json!([create("cola")]));
    world.sync("a");
    let wake = world.tip("a", "wake");
    let path = world.path_of("a", &run, &format!("{}.json", run_of(&branch)));
    let thrown = world.path_of("a", &wake, &format!("{}.json", run_of(&runs[2])));
    let left = world.git("a", &["show", &format!("{wake}:{thrown}")]).replace(run_of(&runs[2]), run_of(&branch)) + "\n";
    let forged = world.commit("a", &wake, &[&wake], &[(&path, Some(&left))], "away\n", &[]);
    refused(&world, "thrown away", &forged, "wake", "is thrown away without a decision of");
}

/// The gate asks main as it is: whoever starts from an old state would pass a rule by for ever. What a machine landed offline waits then, and nothing
/// else of it stays behind.
#[test]
fn what_landed_offline_waits_where_a_rule_came_meanwhile() {
    let reviewers = "[review]\nreviewers = [\"ben@example.invalid\"]\n";
    let world = world(World::gated(), reviewers);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let landed = apply(&world, "b", json!([create("tea")]))["run"].as_str().unwrap().to_owned();
    world.apply("b", json!([create("own")]));
    let rules = format!("{reviewers}\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n");
    world.write("a", "brain.toml", &rules);
    world.git("a", &["commit", "-qam", "a rule"]);
    world.apply("a", json!([create("milk")]));
    world.sync("a");
    let said = world.try_brain("b", &["sync"]).exits(3).err;
    assert!(said.contains("lands without its approval"), "{said}");
    world.brain("b", &["sync", "--without-refused"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    let files = world.git("a", &["ls-tree", "-r", "--name-only", "wake"]);
    assert!(!files.contains(&landed) && files.contains("/own.json") && files.contains("/milk.json"), "{files}");
    // It waits for who decides, on every machine.
    as_person(&world, "a", "ben", &["approve", &landed]).exits(0);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    world.sync("b");
    world.same(&["a", "b"]);
    assert!(world.git("b", &["ls-tree", "-r", "--name-only", "wake"]).contains("/tea.json"));
}

/// A merge decides between its sides, and says nothing itself.
#[test]
fn a_merge_by_hand_has_no_words_of_its_own() {
    let rules = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = world(World::gated(), rules);
    let (branch, run) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let wake = world.tip("a", "wake");
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
    let path = world.path_of("a", &run, "/tea.json");
    let other = world.git("a", &["show", &format!("{run}:{path}")]).replace("\"tea\"", "\"poison\"") + "\n";
    for message in ["tidy\n", "tidy\n\nReviewed-by: ben <ben@example.invalid>\n"] {
        for (what, file) in [("other words", Some(other.as_str())), ("none of it", None)] {
            let forged = world.commit("a", &run, &[&wake, &run], &[(&path, file)], message, &[]);
            refused(&world, what, &forged, "wake", "as the side that changed it does not have it");
        }
    }
    let plain = world.commit("a", &run, &[&wake, &run], &[], "tidy\n", &[]);
    world.git("a", &["push", "-q", "origin", &format!("{plain}:refs/heads/wake")]);
}

/// An approval is about a record; another one under its id, or an origin that somebody writes by hand, is none of it.
#[test]
fn nothing_else_lands_by_an_approval() {
    let rules = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n\n[origins]\nother = \"tainted\"\n";
    let world = world(World::gated(), rules);
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let wake = world.tip("a", "wake");
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
    let eve = [("GIT_AUTHOR_EMAIL", "eve@example.invalid")];
    let path = world.path_of("a", &commit, &format!("{}.json", run_of(&branch)));
    let record = world.git("a", &["show", &format!("{commit}:{path}")]) + "\n";
    let evil = record.replace("by hand", "by foot");
    assert_ne!(record, evil);
    let exchanged = world.commit("a", &commit, &[&wake], &[(&path, Some(&evil))], "a person's words", &eve);
    refused(&world, "another record", &exchanged, "wake", "another record than the one that was approved");
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    // What is left of a rejected run goes by nobody's plain revert.
    let (second, _) = world.waiting("a", "scribe", json!([create("milk")]));
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    as_person(&world, "a", "ben", &["reject", &second, "--why", "no"]).exits(0);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    let left = world.git("a", &["log", "wake", "--format=%H", "-1", "--grep=^reject ", "--no-merges"]);
    let path = world.path_of("a", "wake", &format!("{}.json", run_of(&second)));
    let tip = world.tip("a", "wake");
    let message = format!("Revert\n\nThis reverts commit {left}.\n");
    let reverted = world.commit("a", &tip, &[&tip], &[(&path, None)], &message, &eve);
    refused(&world, "a revert of a rejection", &reverted, "wake", "written once for ever");
    // Nobody writes an approval into a neuron.
    world.brain("a", &["feed", "--origin", "web:x.example", "Anna grows green tea in Uji."]);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    let id = memory(&world);
    let file = world.path_of("a", "wake", &format!("{id}.json"));
    let neuron = world.git("a", &["show", &format!("wake:{file}")]) + "\n";
    let approved = neuron.replace("web:x.example", "approved:web:x.example");
    assert_ne!(neuron, approved);
    let tip = world.tip("a", "wake");
    let by_hand = world.commit("a", &tip, &[&tip], &[(&file, Some(&approved))], "tidy", &eve);
    refused(&world, "an origin by hand", &by_hand, "wake", "approves what is not trusted");
    // Nor does it help to say nothing of where it comes from.
    let unmarked: String =
        neuron.lines().filter(|line| !line.contains("web:x.example")).map(|line| format!("{line}\n")).collect();
    assert_ne!(neuron, unmarked);
    let by_hand = world.commit("a", &tip, &[&tip], &[(&file, Some(&unmarked))], "tidy", &eve);
    refused(&world, "an origin that is gone", &by_hand, "wake", "approves what is not trusted");
}

/// A decision that was taken back before it was carried out lets nothing in, where the gate knows so.
#[test]
fn an_approval_that_was_withdrawn_lets_nothing_in() {
    let rules = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = world(World::gated(), rules);
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let wake = world.tip("a", "wake");
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
    // As after a kill between the record and the merge.
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &commit]);
    as_person(&world, "a", "ben", &["reject", &branch, "--why", "no"]).exits(0);
    world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
    let merge =
        world.commit("a", &commit, &[&wake, &commit], &[], "merge", &[("GIT_AUTHOR_EMAIL", "eve@example.invalid")]);
    refused(&world, "by an older approval", &merge, "wake", "lands without its approval");
    as_person(&world, "a", "ben", &["sync"]).exits(0);
}

fn memory(world: &World) -> String {
    let found = world.json("a", &["recall", "green tea in Uji"]);
    found["results"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_lands_is_shown_whole_and_corrections_can_wait() {
    let rules = "[[review.rule]]\nname = \"corrections\"\noperations = [\"reword\", \"retype\", \"archive\"]\n";
    let world = world(World::new(), rules);
    assert_eq!(apply(&world, "a", json!([create("tea")]))["merged"], true);
    let reword = json!([{"op": "reword", "id": "tea", "concept": "green tea"}]);
    let report = apply(&world, "a", reword);
    assert_eq!(report["merged"], false, "a correction waits: {report:#}");
    let said = world.try_brain("a", &["-c", "review.rule=[{name=\"x\",operations=[\"rewrite\"]}]", "status"]);
    assert!(said.code != 0 && said.err.contains("there is no operation"), "{said}");
    let pad = "x".repeat(200);
    let (branch, _) = world.waiting(
        "a",
        "scribe",
        json!([
            {"op": "create", "id": "cup", "concept": "a belief", "type": "semantic", "source": "mail:SOURCE-hidden", "session": "SESSION-hidden"},
            {"op": "signal", "to": "memory", "payload": {"kind": "question", "a": pad, "query": "PAYLOAD-hidden"}},
            {"op": "flag", "name": "u", "value": true, "reason": "REASON-hidden"},
        ]),
    );
    for format in ["markdown", "html", "text"] {
        let more: &[&str] = if format == "text" { &[] } else { &["--format", format] };
        let shown = world.brain("a", &[&["review", &branch], more].concat()).replace("&#45;", "-");
        for word in ["SOURCE-hidden", "SESSION-hidden", "PAYLOAD-hidden", "REASON-hidden"] {
            assert!(shown.contains(word), "{format}: {word}: {shown}");
        }
    }
    // Of an approval of which nothing lands nothing is learnt as success.
    world.apply("a", json!([{"op": "reword", "id": "tea", "concept": "black tea"}]));
    let waits = report["branch"].as_str().unwrap();
    let approved = world.json("a", &["approve", waits]);
    assert_eq!(approved["value"], 0.0, "{approved:#}");
    assert!(approved["notes"].to_string().contains("does not land"), "{approved:#}");
}

/// A memory of several paragraphs comes alone, with the concepts that it needs.
#[test]
fn a_part_by_neuron_brings_no_neighbour() {
    let world = world(World::new(), "[origins]\nother = \"review\"\n");
    let page = world.sandbox.file(
        "page.md",
        "Alpha buoys weigh forty kilos.\n\nBeta moorings cost ninety euros.\n\nGamma chains rust after winter.\n",
    );
    world.brain("a", &["feed", "--origin", "web:p.example", &page]);
    let list = world.json("a", &["review"]);
    let branch = list["waiting"][0]["branch"].as_str().unwrap().to_owned();
    let belief = world.json("a", &["review", &branch, "--no-questions"]);
    let memories: Vec<(String, String)> = belief["reviews"][0]["neurons"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["type"] == "episodic")
        .map(|one| (one["id"].as_str().unwrap().to_owned(), one["concept"].as_str().unwrap().to_owned()))
        .collect();
    assert!(memories.len() >= 3, "{memories:?}");
    for (id, _) in &memories {
        world.brain("a", &["approve", &branch, "--only", id, "--dry-run"]);
    }
    let beta = memories.iter().find(|(_, text)| text.starts_with("Beta")).unwrap();
    world.brain("a", &["approve", &branch, "--only", &beta.0]);
    for (id, text) in &memories {
        assert_eq!(world.try_brain("a", &["show", id]).code == 0, *id == beta.0, "{text}");
    }
    world.brain("a", &["check"]);
}
