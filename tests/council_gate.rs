//! `[review] council`: what a council decides on a run that waits, and what a gate believes of it.

use git_brain::council::record::CouncilRecord;
use git_brain::model::ids::RunId;
use git_brain::review::{ReviewRecord, Verdict};
use serde_json::{Value, json};

use crate::machines::World;
use crate::sandbox::create;

const SETTINGS: &str = "[review]\nreviewers = [\"boss@example.invalid\"]\ncouncil = \"council.json\"\n\n[[review.rule]]\nname = \"all\"\nagents = [\"scribe\"]\n";

pub fn says(decision: &str, why: &str) -> String {
    let vote = json!({"decision": decision, "confidence": 0.9, "reasoning": why, "evidence": []});
    format!("cat >/dev/null; echo '{vote}'")
}

pub fn commit(world: &World, name: &str, files: &[(&str, String)]) {
    for (path, text) in files {
        world.write(name, path, text);
        world.git(name, &["add", path]);
    }
    world.git(name, &["commit", "-qm", "settings"]);
    world.brain(name, &["trust", "--yes"]);
}

fn members(scripts: &[String], keys: &[String]) -> String {
    members_that_read(scripts, keys, &[])
}

fn members_that_read(scripts: &[String], keys: &[String], reads: &[String]) -> String {
    let member = |(n, script): (usize, &String)| {
        let mut member = json!({"id": format!("m{n}"), "family": format!("f{n}"),
                                "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}});
        if !reads.is_empty() {
            member["mind"]["reads"] = json!(reads);
        }
        if let Some(key) = keys.get(n) {
            member["key"] = json!(key);
        }
        member
    };
    json!({"members": scripts.iter().enumerate().map(member).collect::<Vec<_>>()}).to_string()
}

/// A gated brain whose runs of `scribe` a council of programs decides on, with keys that `a` keeps.
pub fn seated(scripts: &[String], keyed: usize) -> World {
    seated_by(|_| scripts.to_vec(), keyed, |_| Vec::new())
}

/// The same with scripts, and what they may read, that depend on where the brain lies.
pub fn seated_by(
    scripts: impl Fn(&World) -> Vec<String>,
    keyed: usize,
    reads: impl Fn(&World) -> Vec<String>,
) -> World {
    let world = World::gated();
    let (scripts, reads) = (scripts(&world), reads(&world));
    let operations = ["create", "connect", "adjust", "reword"];
    let scribe = json!({
        "name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": operations, "types": ["semantic", "episodic", "contextual", "core"]},
    });
    commit(
        &world,
        "a",
        &[("agents/scribe.json", scribe.to_string()), ("council.json", members_that_read(&scripts, &[], &reads))],
    );
    let kept = world.json("a", &["council", "--keys"])["keys"].as_array().unwrap().clone();
    let keys: Vec<String> = kept.iter().take(keyed).map(|key| key["kept"].as_str().unwrap().to_owned()).collect();
    commit(
        &world,
        "a",
        &[("council.json", members_that_read(&scripts, &keys, &reads)), ("brain.toml", SETTINGS.to_owned())],
    );
    world.sync("a");
    world
}

fn yes() -> Vec<String> {
    vec![
        says("approve", "The record states one thing."),
        says("approve", "Nobody else says otherwise, and it is short."),
    ]
}

pub fn run_of(branch: &str) -> String {
    branch.rsplit('/').next().unwrap().to_owned()
}

pub fn has(world: &World, name: &str, neuron: &str) -> bool {
    world.try_brain(name, &["show", neuron]).code == 0
}

#[test]
fn council_gate_lands_a_run_that_its_members_approve_and_other_clones_believe_it() {
    let world = seated(&yes(), 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    assert!(!has(&world, "a", "tea"));
    let dry = world.json("a", &["council", "--branch", &run, "--dry-run"]);
    assert_eq!((&dry["decision"], &dry["dry_run"]), (&json!("approve"), &json!(true)), "{dry:#}");
    assert!(!has(&world, "a", "tea"), "a dry run lands nothing");
    let report = world.json("a", &["council", "--branch", &run]);
    let id = report["id"].as_str().unwrap();
    assert_eq!(report["carried"]["verdict"], "approve", "{report:#}");
    assert!(has(&world, "a", "tea"));
    let decided = world.json("a", &["review", "--decided"])["decisions"][0].clone();
    assert_eq!((&decided["via"], &decided["counts"]), (&json!(format!("council {id}")), &json!(true)), "{decided:#}");
    assert_eq!(decided["council"], report["council"]);
    let log = world.git("a", &["log", "wake", "--format=%(trailers:key=Reviewed-by)"]);
    assert!(log.contains(&format!("council {id}, asked by ")), "{log}");
    world.sync("a");
    world.clone("b");
    world.sync("b");
    assert!(has(&world, "b", "tea"), "the gate and another clone believe the record");
    let check = world.try_brain("b", &["check"]);
    assert_eq!(check.code, 0, "{check}");
    // Whoever asked: the votes decide, and not the person.
    let audit = world.try_brain("b", &["audit"]);
    assert!(audit.code == 0 && !audit.out.contains("review-forged"), "{audit}");
}

#[test]
fn council_gate_rejects_a_run_and_its_reason_is_told() {
    let no = vec![says("reject", "The record names no source."), says("reject", "It says the opposite of last week.")];
    let world = seated(&no, 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let report = world.json("a", &["council", "--branch", &run_of(&branch)]);
    assert_eq!(report["carried"]["verdict"], "reject", "{report:#}");
    assert_eq!(world.json("a", &["review"])["waiting"], json!([]));
    let decided = world.json("a", &["review", "--decided"]);
    assert!(decided["decisions"][0]["why"].as_str().unwrap().contains("names no source"), "{decided:#}");
    assert!(!decided["decisions"][0]["declined"].is_null(), "what it kept out is known again: {decided:#}");
    world.sync("a");
    assert!(!has(&world, "a", "tea"));
}

#[test]
fn council_gate_decides_by_itself_in_run() {
    let world = seated(&yes(), 2);
    world.waiting("a", "scribe", json!([create("tea")]));
    let report = world.json("a", &["run"]);
    assert!(report["notes"].to_string().contains("approved"), "{report:#}");
    assert!(has(&world, "a", "tea"));
}

#[test]
fn council_gate_escalates_to_people_and_is_not_asked_again() {
    let split = vec![says("approve", "It is short."), says("reject", "It names no source.")];
    let world = seated(&split, 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let said = world.try_brain("a", &["council", "--branch", &run]).exits(1);
    assert!(said.out.contains(&format!("People decide on the run: git brain approve {run}")), "{said}");
    let again = world.try_brain("a", &["council", "--branch", &run]).exits(3);
    assert!(again.err.contains("was asked about") && again.err.contains("left it to people"), "{again}");
    let mine = world.try_brain("a", &["approve", &run]).exits(3);
    assert!(mine.err.contains("boss@example.invalid"), "{mine}");
}

#[test]
fn council_gate_needs_keys_of_two_thirds_and_two_families() {
    let mut three = yes();
    three.push(says("approve", "I like it."));
    let world = seated(&three, 1);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let said = world.try_brain("a", &["council", "--branch", &run_of(&branch)]).exits(3);
    assert!(said.err.contains("1 of 3 members and 1 of 3 families have a key"), "{said}");
    assert!(said.err.contains("git brain council --keys"), "{said}");
    assert!(!has(&world, "a", "tea"));
}

#[test]
fn council_gate_takes_no_vote_of_a_member_whose_key_lies_elsewhere() {
    let world = seated(&yes(), 2);
    world.clone("b");
    world.sync("b");
    world.brain("b", &["trust", "--yes"]);
    let (branch, _) = world.waiting("b", "scribe", json!([create("tea")]));
    let said = world.try_brain("b", &["--json", "council", "--branch", &run_of(&branch)]).exits(1);
    let report = said.document();
    assert_eq!(report["verdict"]["absent"], json!(["m0", "m1"]), "{report:#}");
    assert!(report["verdict"]["refused"].to_string().contains("is unsigned"), "{report:#}");
    assert!(!has(&world, "b", "tea"));
}

/// Puts files into the decisions of `b` in one commit, and pushes them.
fn smuggle(world: &World, files: &[(String, String)]) {
    let files: Vec<(&str, Option<&str>)> =
        files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    let tip = world.git("b", &["rev-parse", "refs/brain/reviews"]).trim().to_owned();
    let commit = world.commit("b", &tip, &[&tip], &files, "approve", &[]);
    world.git("b", &["update-ref", "refs/brain/reviews", &commit]);
}

pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// A review that says that a council approved a run.
pub fn claim(record: &CouncilRecord, run: &str, commit: &str) -> ReviewRecord {
    let run = RunId::parse(run).unwrap();
    serde_json::from_value(json!({
        "review": ReviewRecord::id_by_council(&record.council, &run, commit),
        "run": run, "commit": commit, "verdict": Verdict::Approve, "reviewer": record.by,
        "via": format!("council {}", record.id), "council": record.council, "at": "2026-01-01T00:00:00Z",
    }))
    .unwrap()
}

/// The record of the one council that `b` has, another run that waits there, and its commit.
fn after_a_council(world: &World) -> (CouncilRecord, String, String) {
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.json("a", &["council", "--branch", &run_of(&branch)]);
    world.sync("a");
    world.clone("b");
    world.sync("b");
    let path = world.path_of("b", "refs/brain/reviews", "council.json");
    let bytes = world.git("b", &["show", &format!("refs/brain/reviews:{path}")]);
    let record = CouncilRecord::decode(format!("{}\n", bytes.trim_end()).as_bytes(), &path).unwrap();
    world.brain("b", &["trust", "--yes"]);
    let (branch, commit) = world.waiting("b", "scribe", json!([create("poison")]));
    (record, run_of(&branch), commit)
}

/// Merges the run into wake of `b` by plain git, and tries to push all of it.
#[track_caller]
fn lands_nowhere(world: &World, run: &str, what: &str) {
    let merged = world.try_brain("b", &["merge", &format!("agents/scribe/{run}")]);
    assert!(!has(world, "b", "poison"), "{what}: {merged}");
    let listed = world.json("b", &["review", "--decided"]);
    let of_run = listed["decisions"].as_array().unwrap().iter().find(|one| one["run"] == run);
    assert!(of_run.is_none_or(|one| one["counts"] == false), "{what}: {listed:#}");
    // By plain git, past all that our commands would refuse, to the gate.
    let branch = format!("agents/scribe/{run}");
    let before = world.tip("remote.git", "wake");
    world.git("b", &["push", "-q", "origin", "refs/brain/reviews:refs/brain/reviews"]);
    let (pushed, said) = world.git_try("b", &["push", "origin", &format!("{branch}:refs/heads/wake")]);
    assert!(
        !pushed && said.contains("waits for a decision of boss@example.invalid or of the council"),
        "{what}: {said}"
    );
    assert_eq!(world.tip("remote.git", "wake"), before, "{what}");
}

#[test]
fn council_gate_refuses_a_decision_that_cites_the_council_of_another_run() {
    let world = seated(&yes(), 2);
    let (record, run, commit) = after_a_council(&world);
    let review = claim(&record, &run, &commit);
    smuggle(&world, &[(review.path(), text(review.encode()))]);
    lands_nowhere(&world, &run, "replayed");
}

#[test]
fn council_gate_refuses_votes_that_were_moved_to_another_run() {
    let world = seated(&yes(), 2);
    let (record, run, commit) = after_a_council(&world);
    // The same signed votes in a record about the other run, with the digest that belongs to it, seals made anew.
    let mut moved = record.clone();
    let other = git_brain::model::ids::AgentName::parse("human").unwrap();
    moved.council = RunId::new(record.council.unix_ms() + 1, 7, &other);
    moved.run = Some(RunId::parse(&run).unwrap());
    moved.commit = Some(commit.clone());
    moved.id = CouncilRecord::id_of(&moved.council, &moved.question);
    moved.binds = CouncilRecord::binding(&moved.question, moved.run.as_ref().unwrap(), &commit, &moved.document);
    let thread = CouncilRecord::thread_of(&moved.council, &moved.binds);
    for cast in &mut moved.votes {
        cast.opening.thread_id = thread.clone();
        cast.seal = git_brain::council::seal::Seal::of(&thread, &cast.opening.vote, &cast.opening.nonce);
        cast.message.thread_id = thread.clone();
        cast.message.content = serde_json::to_string(&cast.seal).unwrap();
    }
    assert!(
        CouncilRecord::decode(&moved.encode(), &moved.path()).is_ok(),
        "nothing but the signatures is wrong with it"
    );
    let review = claim(&moved, &run, &commit);
    smuggle(&world, &[(moved.path(), text(moved.encode())), (review.path(), text(review.encode()))]);
    let merged = world.try_brain("b", &["merge", &format!("agents/scribe/{run}")]);
    assert!(!has(&world, "b", "poison"), "{merged}");
    let (pushed, said) = world.git_try("b", &["push", "origin", "refs/brain/reviews:refs/brain/reviews"]);
    assert!(!pushed && said.contains("did not sign"), "{said}");
}

#[test]
fn council_gate_refuses_a_record_of_another_time_than_its_name() {
    let world = seated(&yes(), 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.json("a", &["council", "--branch", &run_of(&branch)]);
    let path = world.path_of("a", "refs/brain/reviews", "council.json");
    let bytes = world.git("a", &["show", &format!("refs/brain/reviews:{path}")]);
    let record = CouncilRecord::decode(format!("{}\n", bytes.trim_end()).as_bytes(), &path).unwrap();
    let honest = world.tip("a", "refs/brain/reviews");
    for days in [-365, 2] {
        let at_ms = record.at_ms + days * 86_400_000;
        let moved = text(CouncilRecord { at_ms, ..record.clone() }.encode());
        let dated = world.commit("a", &honest, &[], &[(&path, Some(&moved))], "approve", &[]);
        world.git("a", &["update-ref", "refs/brain/reviews", &dated]);
        let (pushed, said) = world.git_try("a", &["push", "origin", "refs/brain/reviews:refs/brain/reviews"]);
        assert!(!pushed && said.contains("has another time than its name"), "{days}: {said}");
    }
    world.git("a", &["update-ref", "refs/brain/reviews", &honest]);
    world.sync("a");
}

#[test]
fn council_gate_refuses_members_that_main_does_not_name() {
    let world = seated(&yes(), 2);
    let (_, run, _) = after_a_council(&world);
    // `b` names members of its own on a main of its own, and keeps their keys.
    let main = world.tip("b", "main");
    let kept = world.json("b", &["council", "--keys"])["keys"].as_array().unwrap().clone();
    let keys: Vec<String> = kept.iter().map(|key| key["kept"].as_str().unwrap().to_owned()).collect();
    commit_on_main(&world, &members(&yes(), &keys));
    let report = world.json("b", &["council", "--branch", &run]);
    assert_eq!(report["carried"]["verdict"], "approve", "by its own main the members may: {report:#}");
    assert!(has(&world, "b", "poison"));
    world.git("b", &["update-ref", "refs/heads/main", &main]);
    world.git("b", &["reset", "-q", "--hard"]);
    let said = world.refused("b");
    assert!(said.contains("waits for a decision of boss@example.invalid or of the council"), "{said}");
}

fn commit_on_main(world: &World, document: &str) {
    commit(world, "b", &[("council.json", document.to_owned())]);
}

#[test]
fn council_gate_refuses_a_verdict_that_the_votes_do_not_give() {
    let split = vec![says("approve", "It is short."), says("reject", "It names no source.")];
    let world = seated(&split, 2);
    let (branch, commit) = world.waiting("a", "scribe", json!([create("poison")]));
    let run = run_of(&branch);
    world.try_brain("a", &["council", "--branch", &run]).exits(1);
    world.sync("a");
    world.clone("b");
    world.sync("b");
    let path = world.path_of("b", "refs/brain/reviews", "council.json");
    let bytes = world.git("b", &["show", &format!("refs/brain/reviews:{path}")]);
    let mut value: Value = serde_json::from_str(&bytes).unwrap();
    value["verdict"]["decision"] = json!("approve");
    value["verdict"]["concerns"] = json!([]);
    let mut record: CouncilRecord = serde_json::from_value(value).unwrap();
    // Under the name of another council, as if it had been asked a second time; its votes are those of the first.
    let other = git_brain::model::ids::AgentName::parse("human").unwrap();
    record.council = RunId::new(record.council.unix_ms() + 1, 7, &other);
    record.id = CouncilRecord::id_of(&record.council, &record.question);
    let review = claim(&record, &run, &commit);
    smuggle(&world, &[(record.path(), text(record.encode())), (review.path(), text(review.encode()))]);
    let merged = world.try_brain("b", &["merge", &branch]);
    assert!(!has(&world, "b", "poison"), "{merged}");
    let (pushed, said) = world.git_try("b", &["push", "origin", "refs/brain/reviews:refs/brain/reviews"]);
    assert!(!pushed && said.contains("is not the vote that its member sealed"), "{said}");
}

/// A council of a rule and a program, with the keys that `a` keeps.
fn seated_with_a_rule() -> World {
    let world = seated(&yes(), 2);
    let document = |keys: &[String]| {
        let vote = says("approve", "It is short.");
        let mut members = json!([
            {"id": "rule", "mind": {"kind": "reflex", "rule": "memories"}},
            {"id": "program", "family": "house", "mind": {"kind": "command", "argv": ["/bin/sh", "-c", vote]}},
        ]);
        for (member, key) in members.as_array_mut().unwrap().iter_mut().zip(keys) {
            member["key"] = json!(key);
        }
        json!({ "members": members }).to_string()
    };
    commit(&world, "a", &[("council.json", document(&[]))]);
    let kept = world.json("a", &["council", "--keys"])["keys"].as_array().unwrap().clone();
    let keys: Vec<String> = kept.iter().map(|key| key["kept"].as_str().unwrap().to_owned()).collect();
    commit(&world, "a", &[("council.json", document(&keys))]);
    world.sync("a");
    world
}

#[test]
fn council_gate_asks_nobody_on_a_machine_without_the_keys() {
    let world = seated_with_a_rule();
    world.clone("b");
    world.sync("b");
    world.brain("b", &["trust", "--yes"]);
    let (branch, _) = world.waiting("b", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    world.json("b", &["run"]);
    let said = world.try_brain("b", &["council", "--branch", &run]).exits(3);
    assert!(said.err.contains("no member was asked") && said.err.contains("for rule are not kept"), "{said}");
    assert_eq!(world.json("b", &["council", "--list"])["councils"], json!([]), "no record, no vote spent");
    world.sync("b");
    world.sync("a");
    let asked = world.try_brain("a", &["--json", "council", "--branch", &run]).document();
    assert_eq!(asked["verdict"]["absent"], json!([]), "{asked:#}");
}

#[test]
fn council_gate_may_be_asked_again_where_too_few_members_voted() {
    let mut scripts = yes();
    scripts[1] = "cat >/dev/null; exit 3".to_owned();
    let world = seated(&scripts, 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let councils = || world.json("a", &["council", "--list"])["councils"].as_array().unwrap().len();
    world.json("a", &["run"]);
    assert_eq!(councils(), 1);
    world.json("a", &["run"]);
    assert_eq!(councils(), 1, "`run` asks no endpoint that was down a moment ago");
    world.try_brain("a", &["council", "--branch", &run]).exits(1);
    assert_eq!(councils(), 2, "a person may");
    let said = world.try_brain("a", &["council", "--branch", &run]).exits(3);
    assert!(said.err.contains("asked about") && said.err.contains("2 times"), "{said}");
    assert_eq!(councils(), 2, "the votes of those who answered are not rolled until they please");
}

#[test]
fn council_gate_may_be_asked_until_somebody_votes() {
    let dead = |code: u8| format!("cat >/dev/null; exit {code}");
    let world = seated(&[dead(3), dead(4)], 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    for _ in 0..3 {
        world.try_brain("a", &["council", "--branch", &run_of(&branch)]).exits(1);
    }
}

#[test]
fn council_whose_keyed_votes_decide_nothing_is_not_called_decided() {
    let scripts = vec![
        says("approve", "The record states one thing."),
        says("reject", "It names no source."),
        says("approve", "Nobody else says otherwise."),
        says("approve", "It is short, and I have no key."),
    ];
    let world = seated(&scripts, 3);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let report = world.try_brain("a", &["--json", "council", "--branch", &run]).exits(1).document();
    assert!(
        report["note"].as_str().unwrap().contains("the votes under keys of the document decide nothing"),
        "{report:#}"
    );
    let listed = || world.json("a", &["council", "--list"])["councils"][0].clone();
    assert_eq!((&listed()["state"], &listed()["decision"]), (&json!("pending"), &json!("abstain")), "{:#}", listed());
    let id = report["id"].as_str().unwrap();
    let shown = world.brain("a", &["council", "--show", id]);
    assert!(shown.contains("it decides nothing on its run: the votes under keys"), "{shown}");
    let review = world.brain("a", &["review", &run]);
    assert!(review.contains("it decides nothing: the votes under keys"), "{review}");
    world.try_brain("a", &["council", "--outcome", id, "wrong"]).exits(3);
    let said = world.try_brain("a", &["approve", id]).exits(3);
    assert!(said.err.contains("nothing lands by a word on the council"), "{said}");
    let boss = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "boss@example.invalid"));
    let mut reject = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["reject", &run, "--why", "no source"]);
    assert!(reject.current_dir(world.dir("a")).envs(boss).status().unwrap().success());
    assert_eq!((&listed()["state"], &listed()["decision"]), (&json!("settled"), &json!("abstain")));
}

#[test]
fn council_gate_carries_out_a_decision_that_was_cut_off_behind_its_record() {
    let world = seated(&yes(), 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let refs = ["refs/heads/wake", &format!("refs/heads/{branch}")]
        .map(|name| (name.to_owned(), world.git("a", &["rev-parse", name]).trim().to_owned()));
    world.json("a", &["council", "--branch", &run]);
    assert!(has(&world, "a", "tea"));
    // As a process that is killed behind the record of the council leaves it.
    let record = world.git("a", &["rev-list", "--grep", "^council ", "-1", "refs/brain/reviews"]).trim().to_owned();
    world.git("a", &["update-ref", "refs/brain/reviews", &record]);
    for (name, tip) in &refs {
        world.git("a", &["update-ref", name, tip]);
    }
    assert!(!has(&world, "a", "tea"));
    let report = world.json("a", &["run"]);
    assert!(report["notes"].to_string().contains("approved"), "{report:#}");
    assert!(has(&world, "a", "tea"));
    assert_eq!(
        world.json("a", &["council", "--list"])["councils"].as_array().unwrap().len(),
        1,
        "nobody was asked again"
    );
}

#[test]
fn council_gate_sends_out_no_record_that_no_machine_would_take() {
    let world = seated(&yes(), 2);
    let (record, run, commit) = after_a_council(&world);
    let mut other = record.clone();
    other.verdict.confidence = 0.99;
    other.council =
        RunId::new(record.council.unix_ms() + 1, 7, &git_brain::model::ids::AgentName::parse("human").unwrap());
    let review = claim(&record, &run, &commit);
    smuggle(&world, &[(other.path(), text(other.encode())), (review.path(), text(review.encode()))]);
    let before = world.git("remote.git", &["rev-parse", "refs/brain/reviews"]);
    let said = world.try_brain("b", &["sync"]);
    assert!(said.to_string().contains("reviews stay here, no machine would take them"), "{said}");
    assert_eq!(world.git("remote.git", &["rev-parse", "refs/brain/reviews"]), before);
}
