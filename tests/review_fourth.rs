//! Decisions that come late, twice or back: the order of closings, records that gave way, runs said to be taken back, types of old wakes.

use crate::machines::{World, refused};
use crate::review_second::{apply, as_person, run_of, world};
use crate::sandbox::create;
use serde_json::{Value, json};

const BOTH: &str = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n";
const SCRIBE: &str = "\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

/// A commit upon the decisions of a machine with one file more.
fn with_file(world: &World, machine: &str, person: &str, parents: &[&str], path: &str, text: &str) -> String {
    let email = format!("{person}@example.invalid");
    let author = [
        ("GIT_AUTHOR_NAME", person),
        ("GIT_AUTHOR_EMAIL", &email),
        ("GIT_COMMITTER_NAME", person),
        ("GIT_COMMITTER_EMAIL", &email),
    ];
    world.commit(machine, parents[0], parents, &[(path, Some(text))], "approve council\n", &author)
}

#[test]
fn closing_that_is_dated_back_comes_after_the_one_that_was_there() {
    let world = world(World::gated(), BOTH);
    world.clone("b");
    let report = world.try_brain("a", &["--json", "council", "Shall we burn the books?"]).exits(1).document();
    let (id, council) = (report["id"].as_str().unwrap(), report["council"].as_str().unwrap());
    world.sync("a");
    world.sync("b");
    let state = |machine: &str| world.json(machine, &["council", "--show", id])["state"].clone();
    let was = world.tip("b", "refs/brain/reviews");
    as_person(&world, "a", "mara", &["reject", id, "--why", "never"]).exits(0);
    as_person(&world, "a", "mara", &["sync"]).exits(0);
    let stood = world.tip("remote.git", "refs/brain/reviews");
    // As old as the council itself, by one who may, from a clone that was away.
    let closing = format!("{}-zzzzzzzz-human", council.split('-').next().unwrap());
    let path =
        world.path_of("a", "refs/brain/reviews", "council.json").replace("council.json", &format!("{closing}.json"));
    let text = format!(
        "{{\n  \"closing\": \"{closing}\",\n  \"council\": \"{council}\",\n  \"word\": \"approve\",\n  \"by\": \"ben <ben@example.invalid>\",\n  \"at_ms\": {}\n}}\n",
        report["at_ms"]
    );
    let backdated = with_file(&world, "b", "ben", &[&was], &path, &text);
    // A join that says that it was there first is refused.
    world.git("b", &["fetch", "-q", "origin", "refs/brain/reviews"]);
    let first = with_file(&world, "b", "ben", &[&stood, &backdated], &path, &text);
    let (taken, said) = world.git_try("b", &["push", "origin", &format!("{first}:refs/brain/reviews")]);
    assert!(!taken && said.contains("would come before the word that closed its council here"), "{said}");
    // Joined as every sync does, it is kept and changes nothing.
    world.git("b", &["update-ref", "refs/brain/reviews", &backdated]);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    world.sync("a");
    assert_eq!((state("a"), state("b")), (json!("rejected"), json!("rejected")));
    let closings = world.json("a", &["council", "--show", id])["closings"].clone();
    let words: Vec<_> = closings.as_array().unwrap().iter().map(|closing| &closing["word"]).collect();
    assert_eq!(words, [&json!("reject"), &json!("approve")], "{closings}");
}

#[test]
fn closing_of_a_dismissed_reviewer_counts_no_earlier_than_the_decisions_before_it() {
    let world = world(World::gated(), BOTH);
    let report = world.try_brain("a", &["--json", "council", "Shall we burn the books?"]).exits(1).document();
    let (id, council) = (report["id"].as_str().unwrap(), report["council"].as_str().unwrap());
    world.sync("a");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    world.write("a", "brain.toml", "[review]\nreviewers = [\"mara@example.invalid\"]\n");
    world.git("a", &["commit", "-qam", "Ben has left"]);
    world.brain("a", &["trust", "--yes"]);
    // Something that is decided after that: another council.
    world.try_brain("a", &["--json", "council", "Shall we paint the hall?"]).exits(1);
    world.sync("a");
    let tip = world.tip("a", "refs/brain/reviews");
    let closing = format!("{}-zzzzzzzz-human", council.split('-').next().unwrap());
    let folder = world.git("a", &["ls-tree", "-r", "--name-only", "refs/brain/reviews"]);
    let path = folder.lines().find(|path| path.contains(council)).unwrap().replace("council.json", "");
    let text = format!(
        "{{\n  \"closing\": \"{closing}\",\n  \"council\": \"{council}\",\n  \"word\": \"approve\",\n  \"by\": \"ben <ben@example.invalid>\",\n  \"at_ms\": {}\n}}\n",
        report["at_ms"]
    );
    let forged = with_file(&world, "a", "ben", &[&tip], &format!("{path}{closing}.json"), &text);
    world.git("a", &["push", "-q", "origin", &format!("{forged}:refs/brain/reviews")]);
    world.sync("a");
    assert_eq!(world.json("a", &["council", "--show", id])["state"], "pending");
    as_person(&world, "a", "mara", &["reject", id]).exits(0);
    assert_eq!(world.json("a", &["council", "--show", id])["state"], "rejected");
}

#[test]
fn decision_that_gave_way_does_not_come_back_in_place_of_the_record_that_stood() {
    let world = world(World::gated(), &format!("{BOTH}{SCRIBE}"));
    world.clone("b");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    world.sync("b");
    as_person(&world, "b", "ben", &["reject", &branch, "--why", "no"]).exits(0);
    as_person(&world, "a", "mara", &["approve", &branch]).exits(0);
    world.sync("a");
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    world.git("b", &["checkout", "-q", "-f", "-B", "work", "wake"]);
    let log = world.git("b", &["log", "--format=%H %s", "wake"]);
    let named = |says: &str| log.lines().find(|line| line.contains(says)).unwrap()[..40].to_owned();
    let (landed, gave_way) = (named("merge scribe: 1 new"), named("give way"));
    world.git("b", &["revert", "--no-edit", "-m", "1", &landed]);
    world.git("b", &["push", "-q", "origin", "HEAD:wake"]);
    world.git("b", &["revert", "--no-edit", &gave_way]);
    let (taken, said) = world.git_try("b", &["push", "origin", "HEAD:wake"]);
    assert!(!taken && said.contains("the first one was taken back"), "{said}");
    world.git("b", &["checkout", "-q", "-f", "main"]);
    for machine in ["a", "b"] {
        world.apply(machine, json!([create(&format!("own-{machine}"))]));
        world.sync(machine);
    }
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn record_that_takes_a_run_back_has_undone_it() {
    let world = world(World::gated(), BOTH);
    let report = apply(&world, "a", json!([create("tea")]));
    let run = report["run"].as_str().unwrap();
    world.sync("a");
    let own = world.apply("a", json!([create("milk")]));
    let commit = own["commit"].as_str().unwrap();
    let path = format!("{}.json", own["run"].as_str().unwrap());
    let path = world.path_of("a", commit, &path);
    let record = world.git("a", &["show", &format!("{commit}:{path}")]);
    let record = record.trim_end().strip_suffix('}').unwrap().trim_end().to_owned();
    let forged = format!("{record},\n  \"reverts\": [\n    \"{run}\"\n  ]\n}}\n");
    let forged = world.recommit("a", commit, &[(&path, Some(&forged))]);
    refused(&world, "a record that takes nothing back", &forged, "wake", "and leaves tea as that made it");
    // What undoes it is taken.
    world.brain("a", &["revert", run]);
    world.sync("a");
}

#[test]
fn rule_about_types_holds_a_run_that_retypes_from_an_old_wake() {
    let rule = format!("{BOTH}{SCRIBE}types = [\"semantic\"]\n");
    let world = world(World::gated(), &rule);
    let scribe = world.read("a", "agents/scribe.json").replace("\"reword\"", "\"reword\", \"retype\"");
    let scribe = scribe.replace("\"operations\":[", "\"operations\":[\"retype\",");
    let scribe = scribe.replace("\"types\":[", "\"types\":[\"contextual\",");
    world.write("a", "agents/scribe.json", &scribe);
    world.git("a", &["commit", "-qam", "scribe may retype"]);
    world.brain("a", &["trust", "--yes"]);
    world.apply("a", json!([{"op": "create", "id": "n-x", "concept": "tea is green", "type": "episodic"}]));
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    world.apply("a", json!([{"op": "retype", "id": "n-x", "type": "semantic"}]));
    world.sync("a");
    apply(&world, "b", json!([{"op": "retype", "id": "n-x", "type": "contextual"}]));
    let said = world.try_brain("b", &["sync"]).exits(3).err;
    assert!(said.contains("lands without its approval"), "{said}");
    world.brain("b", &["sync", "--without-refused"]);
    world.sync("b");
    world.sync("a");
    assert_eq!(world.neuron("a", "wake", "n-x")["type"], "semantic");
    let waiting: Value = world.json("a", &["review"]);
    assert_eq!(waiting["waiting"].as_array().map_or(0, Vec::len), 1, "{waiting}");
}

#[test]
fn council_that_its_votes_do_not_carry_is_refused() {
    let world = world(World::gated(), &format!("{BOTH}{SCRIBE}"));
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.try_brain("a", &["council", "--branch", &branch]).exits(1);
    world.sync("a");
    let tip = world.tip("a", "refs/brain/reviews");
    let path = world.path_of("a", &tip, "council.json");
    let text = world.git("a", &["show", &format!("{tip}:{path}")]) + "\n";
    let council: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(council["commit"], json!(commit));
    let run = run_of(&branch);
    let turn = |from: &str, to: &str| {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text, "{from}");
        other
    };
    let end = text.find("\"verdict\"").unwrap();
    let verdict = |from: &str, to: &str| format!("{}{}", &text[..end], text[end..].replacen(from, to, 1));
    for (other, says) in [
        (verdict("\"decision\": \"abstain\"", "\"decision\": \"approve\""), "(decision)"),
        (verdict("\"confidence\": 0.0", "\"confidence\": 1.0"), "(confidence)"),
        (turn(&format!("\n  \"run\": \"{run}\",\n  \"commit\": \"{commit}\",\n"), "\n"), "binds: does not follow"),
    ] {
        let forged = world.commit("a", &tip, &[], &[(&path, Some(&other))], "council\n", &[]);
        let hub = World::gated();
        let (taken, said) = world.git_try(
            "a",
            &["push", &hub.dir("remote.git").display().to_string(), &format!("{forged}:refs/brain/reviews")],
        );
        assert!(!taken && said.contains(says), "{said}");
    }
    assert!(world.brain("a", &["review", run]).contains(", asked by "));
}

#[test]
fn recall_finds_a_concept_that_a_person_named_however_often_it_was_active() {
    let world = World::new();
    world.apply("a", json!([create("n-tea")]));
    let named = json!([{"op": "reword", "id": "n-tea", "concept": "tea one of the monks in the hills"}]);
    world.apply("a", named);
    let found = || world.json("a", &["recall", "monks"])["results"].as_array().unwrap().len();
    assert_eq!(found(), 1);
    world.apply("a", json!([{"op": "activate", "id": "n-tea", "strength": 0.9}]));
    assert_eq!(found(), 1);
}

#[test]
fn decision_of_a_clock_that_was_ahead_keeps_no_later_one_at_home() {
    let world = world(World::gated(), &format!("{BOTH}{SCRIBE}"));
    let (first, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    let (second, _) = world.waiting("a", "scribe", json!([create("milk")]));
    let (third, _) = world.waiting("a", "scribe", json!([create("salt")]));
    let (fourth, _) = world.waiting("a", "scribe", json!([create("bread")]));
    world.sync("a");
    world.clone("b");
    as_person(&world, "a", "mara", &["reject", &fourth, "--why", "no bread"]).exits(0);
    as_person(&world, "a", "mara", &["sync"]).exits(0);
    let before = world.tip("a", "refs/brain/reviews");
    // The decision as a clock of 2031 would have made it.
    let run = run_of(&first);
    let id = format!("20311201t000000000z-{}-human", &run["20261127t000000000z-".len()..][..8]);
    let path = world.path_of("a", &before, ".json");
    let text = world.git("a", &["show", &format!("{before}:{path}")]) + "\n";
    let honest: Value = serde_json::from_str(&text).unwrap();
    let word = |key: &str| honest[key].as_str().unwrap().to_owned();
    let text = text
        .replace(&word("review"), &id)
        .replace(&word("run"), run)
        .replace(&word("commit"), &commit)
        .replace(&word("at"), "2031-12-01T00:00:00Z");
    let folder = path.rsplit('/').nth(1).unwrap();
    let path = path.replace(&format!("{}.json", word("review")), &format!("{id}.json")).replace(folder, run);
    let mara = [("GIT_AUTHOR_NAME", "mara"), ("GIT_AUTHOR_EMAIL", "mara@example.invalid")];
    let late = [("GIT_COMMITTER_NAME", "mara"), ("GIT_COMMITTER_EMAIL", "mara@example.invalid")];
    let dated = [("GIT_AUTHOR_DATE", "2031-12-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2031-12-01T00:00:00Z")];
    let author: Vec<_> = mara.into_iter().chain(late).chain(dated).collect();
    let planted = world.commit("a", &before, &[&before], &[(&path, Some(&text))], "reject\n", &author);
    world.git("a", &["update-ref", "refs/brain/reviews", &planted]);
    let checked = world.try_brain("a", &["check"]).exits(1);
    assert!(checked.out.contains(&planted[..10]) && checked.out.contains("--without-refused"), "{checked}");
    let said = as_person(&world, "a", "mara", &["sync"]).exits(0);
    assert!(said.out.contains("reviews stay here") && said.out.contains("--without-refused"), "{said}");
    // Those of the right clock lie upon it.
    as_person(&world, "a", "mara", &["approve", &second]).exits(0);
    as_person(&world, "a", "mara", &["reject", &third, "--why", "no salt"]).exits(0);
    as_person(&world, "a", "mara", &["sync"]).exits(3);
    let refs = world.refs("a");
    let told = as_person(&world, "a", "mara", &["sync", "--without-refused", "--dry-run"]).exits(0).out;
    assert!(told.contains("left out: the decision") && told.contains("ahead of the clock"), "{told}");
    assert_eq!(world.refs("a"), refs, "a dry run moves nothing");
    as_person(&world, "a", "mara", &["sync", "--without-refused"]).exits(0);
    assert!(world.try_brain("a", &["check"]).exits(0).out.contains("all good"));
    world.sync("b");
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        assert_eq!(world.tip(machine, "refs/brain/reviews"), world.tip("remote.git", "refs/brain/reviews"));
        let decided = world.brain(machine, &["review", "--decided"]);
        assert!(!decided.contains(run) && decided.contains(run_of(&second)), "{decided}");
        assert!(decided.contains(run_of(&third)) && decided.contains(run_of(&fourth)), "{decided}");
        assert_eq!(world.neuron(machine, "wake", "milk")["id"], "milk");
        assert!(world.brain(machine, &["review"]).contains(run), "it waits again");
    }
    as_person(&world, "a", "mara", &["approve", &first]).exits(0);
    as_person(&world, "a", "mara", &["sync"]).exits(0);
    world.sync("b");
    assert_eq!(world.neuron("b", "wake", "tea")["id"], "tea");
}

#[test]
fn long_name_of_a_person_is_cut_in_decisions() {
    let world = world(World::gated(), SCRIBE);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let name = "Ä".repeat(500);
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["approve", &branch]);
    command.env("GIT_COMMITTER_NAME", &name).env("GIT_AUTHOR_NAME", &name).current_dir(world.dir("a"));
    crate::sandbox::Answer::of("approve".to_owned(), command.output().unwrap()).exits(0);
    assert!(world.brain("a", &["review", "--decided"]).contains(run_of(&branch)));
    world.sync("a");
}

#[test]
fn run_taken_back_beside_a_night_that_let_its_neuron_go_leaves_no_edge() {
    let world = World::new();
    let tie = json!({"op": "connect", "from": "n-a", "to": "n-b", "type": "feeds_into", "weight": 1000});
    let made = world.apply("a", json!([create("n-a"), create("n-b"), tie]));
    world.sync("a");
    world.clone("b");
    world.brain("b", &["revert", made["run"].as_str().unwrap()]);
    world.apply("a", json!([{"op": "archive", "id": "n-b", "reason": "not needed"}]));
    world.brain("a", &["sleep"]);
    for machine in ["b", "a", "b"] {
        world.sync(machine);
    }
    world.same(&["a", "b"]);
    assert!(world.brain("a", &["check"]).contains("all good"));
}
