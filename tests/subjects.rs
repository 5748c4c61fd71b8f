//! Sealed memories from outside: two machines and one key, words that are nowhere on disk, keys that are gone for good, and what is refused.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::admission_signed::signing;
use crate::machines::{World, refused};
use crate::sandbox::{Sandbox, delta};
use serde_json::{Value, json};

pub const NAME: &str = "Zora Quillfeather";
/// Words that stand in no other file of these tests.
const WORDS: [&str; 3] = ["marzipan", "xylophone", "gooseberry"];

/// The keys of a sandbox, with their bytes.
pub fn keys(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = sandbox.beside("state/git-brain/subjects");
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "key"));
    files.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Files of the whole sandbox, and objects of its repositories, that have some bytes in them, whatever the case of letters.
fn places_with(sandbox: &Sandbox, repositories: &[PathBuf], wanted: &[u8]) -> Vec<String> {
    let wanted = wanted.to_ascii_lowercase();
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(sandbox.beside("")).into_iter().map(Result::unwrap) {
        let is_file = entry.file_type().is_file();
        if is_file && std::fs::read(entry.path()).is_ok_and(|bytes| has(&bytes.to_ascii_lowercase(), &wanted)) {
            found.push(entry.path().display().to_string());
        }
    }
    for repository in repositories {
        let mut command = sandbox.command("git", &["cat-file", "--batch-all-objects", "--batch", "--unordered"]);
        let objects = command.current_dir(repository).output().unwrap();
        assert!(objects.status.success() && objects.stdout.len() > 1000);
        if has(&objects.stdout.to_ascii_lowercase(), &wanted) {
            found.push(format!("objects of {}", repository.display()));
        }
    }
    found
}

pub fn recalled(answer: &Value) -> Vec<(String, Option<String>)> {
    let results = answer["results"].as_array().unwrap().iter();
    results.map(|one| (one["text"].as_str().unwrap().to_owned(), one["sealed"].as_str().map(str::to_owned))).collect()
}

/// A brain with a subject that two memories are sealed for.
fn sealed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.json(&["subject", "add", NAME]);
    sandbox.json(&["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    sandbox.json(&["feed", "--subject", NAME, "the guest plays the xylophone"]);
    sandbox
}

fn subject_of(sandbox: &Sandbox) -> Value {
    sandbox.json(&["subject", "list"])["subjects"][0].clone()
}

#[test]
fn subject_is_shared_by_its_key_and_forgotten_on_every_machine_that_syncs() {
    let world = World::new();
    world.clone("b");
    world.json("a", &["subject", "add", NAME]);
    let fed = world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    assert_eq!((&fed["sealed"], &fed["merged"]), (&json!(1), &json!(true)), "{fed}");
    world.sync("a");
    world.sync("b");
    // Without the key nothing is answered, and the memory is counted.
    assert_eq!(recalled(&world.json("b", &["recall", "--sealed", "marzipan"])), []);
    let list = world.json("b", &["subject", "list"]);
    let line = &list["subjects"][0];
    assert_eq!((&line["name"], &line["key"], &line["memories"]), (&Value::Null, &json!(false), &json!(1)), "{list}");
    let key = world.json("a", &["subject", "key", NAME])["key"].as_str().unwrap().to_owned();
    world.json("b", &["subject", "add", NAME, "--key", &key]);
    let answer = world.json("b", &["recall", "--sealed", "marzipan"]);
    assert_eq!(recalled(&answer), [("the guest cannot eat marzipan".to_owned(), Some(NAME.to_owned()))]);
    // Both seal, and the clones merge.
    world.json("a", &["feed", "--subject", NAME, "the guest plays the xylophone"]);
    world.json("b", &["feed", "--subject", NAME, "the guest likes gooseberry jam"]);
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    for name in ["a", "b"] {
        assert_eq!(recalled(&world.json(name, &["recall", "--sealed", "gooseberry xylophone"])).len(), 2, "{name}");
    }
    assert_eq!(keys(&world.sandbox).len(), 2);
    let forgot = world.json("a", &["subject", "forget", NAME]);
    assert_eq!((&forgot["destroyed"], &forgot["merged"]), (&json!(1), &json!(true)), "{forgot}");
    assert!(forgot["notes"].to_string().contains("when they sync") && forgot["notes"].to_string().contains("backup"));
    assert_eq!(keys(&world.sandbox).len(), 1, "b has not synced");
    world.sync("a");
    let report = world.sync("b");
    let id = line["id"].as_str().unwrap();
    assert!(report["notes"].to_string().contains(&format!("{id} was forgotten")), "{report}");
    assert!(keys(&world.sandbox).is_empty());
    for name in ["a", "b"] {
        assert_eq!(recalled(&world.json(name, &["recall", "--sealed", "gooseberry xylophone"])), [], "{name}");
        let line = world.json(name, &["subject", "list"])["subjects"][0].clone();
        assert_eq!((&line["forgotten"], &line["name"], &line["memories"]), (&json!(true), &Value::Null, &json!(3)));
        // Again, by its id: nothing is left to do. The name is gone.
        let again = world.json(name, &["subject", "forget", id]);
        assert_eq!((&again["run"], &again["destroyed"]), (&Value::Null, &json!(0)), "{again}");
        world.try_brain(name, &["subject", "forget", NAME]).exits(2);
        let refused = world.try_brain(name, &["feed", "--subject", id, "marzipan"]).exits(3);
        assert!(refused.err.contains("was forgotten"), "{refused}");
        assert!(world.try_brain(name, &["subject", "add", NAME, "--key", &key]).exits(3).err.contains("forgotten"));
    }
    // The name may come back, as another subject.
    let anew = world.json("a", &["subject", "add", NAME]);
    assert_ne!(anew["subjects"][0], id);
    world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "marzipan"])).len(), 1);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn words_names_and_keys_are_nowhere_on_disk() {
    let world = World::new();
    world.clone("b");
    let sandbox = &world.sandbox;
    let repositories = ["a", "b", "remote.git"].map(|name| world.dir(name));
    world.json("a", &["feed", "the harbour opens at nine"]);
    world.json("a", &["subject", "add", NAME]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guest.md");
    std::fs::write(&file, "# Guest\n\nThe guest plays the xylophone at the harbour.\n").unwrap();
    world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    world.json("a", &["feed", "--subject", NAME, file.to_str().unwrap()]);
    let dir = world.dir("a").display().to_string();
    let stdin = b"The guest likes gooseberry jam.";
    sandbox.brain_with(&["-C", &dir, "feed", "--subject", NAME, "-"], stdin).exits(0);
    let key = keys(sandbox).remove(0).1;
    let words = || WORDS.iter().map(|word| word.as_bytes()).chain([NAME.as_bytes()]);
    let look = |moment: &str| {
        for word in words() {
            let found = places_with(sandbox, &repositories, word);
            assert!(found.is_empty(), "{moment}: {:?} is in {found:?}", String::from_utf8_lossy(word));
        }
    };
    look("fed");
    let asked = "does the guest eat marzipan or gooseberry, or play the xylophone at the harbour";
    assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "--explain", asked])).len(), 4);
    world.json("a", &["recall", "--sealed", "--learn", "harbour xylophone"]);
    look("asked");
    // What other programs and models read.
    for args in [
        &["prime", "--about", asked][..],
        &["recall", asked],
        &["export"],
        &["wisdom", "list", "--all"],
        &["find", "xylophone"],
        &["log"],
        &["status"],
        &["review"],
    ] {
        let told = world.try_brain("a", &[&["--json"], args].concat()).exits(0).out.to_lowercase();
        assert!(words().all(|word| !has(told.as_bytes(), &word.to_ascii_lowercase())), "{args:?}: {told}");
    }
    world.slept("a");
    assert_eq!(
        world.git("a", &["rev-parse", "main:network/sealed"]),
        world.git("a", &["rev-parse", "wake:network/sealed"])
    );
    world.sync("a");
    world.sync("b");
    world.json(
        "b",
        &["subject", "add", NAME, "--key", world.json("a", &["subject", "key", NAME])["key"].as_str().unwrap()],
    );
    assert_eq!(recalled(&world.json("b", &["recall", "--sealed", "--at", "main", "gooseberry"])).len(), 1);
    for name in ["a", "b"] {
        world.brain(name, &["check"]);
        world.try_brain(name, &["doctor"]);
        world.brain(name, &["audit"]);
    }
    look("slept and synced");
    world.json("a", &["subject", "forget", NAME]);
    world.sync("a");
    world.sync("b");
    look("forgotten");
    // Nothing that was sealed is a lesson.
    world.try_brain("a", &["wisdom", "export"]).exits(3);
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    for wanted in [&key[..], hex.as_bytes()] {
        let found = places_with(sandbox, &repositories, wanted);
        assert!(found.is_empty(), "the key is in {found:?}");
    }
}

#[test]
fn key_is_on_disk_before_the_first_ciphertext() {
    let sandbox = Sandbox::new();
    let tip = sandbox.tip("wake");
    let folder = sandbox.beside("state/git-brain/subjects");
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    sandbox.brain(&["subject", "add", NAME]).exits(3);
    assert_eq!(sandbox.tip("wake"), tip, "no card without its key");
    std::fs::remove_file(&folder).unwrap();
    // Killed between both: the commit waits for a lock that a program without a name holds.
    let lock = sandbox.dir().join(".git/refs/heads/wake.lock");
    std::fs::write(&lock, "").unwrap();
    let mut child = sandbox.spawn(&["subject", "add", NAME], b"");
    let since = Instant::now();
    while keys(&sandbox).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(60), "no key");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(sandbox.tip("wake"), tip);
    let list = sandbox.json(&["subject", "list"]);
    assert_eq!((&list["stray_keys"], &list["subjects"]), (&json!(1), &json!([])), "{list}");
    let stray = keys(&sandbox).remove(0).0.file_stem().unwrap().to_str().unwrap().to_owned();
    assert_eq!(sandbox.json(&["subject", "forget", &stray])["destroyed"], 1);
    sandbox.json(&["subject", "add", NAME]);
    sandbox.json(&["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    assert_eq!(recalled(&sandbox.json(&["recall", "--sealed", "marzipan"])).len(), 1);
}

#[test]
fn forgetting_that_was_cut_off_is_ended_by_the_next_command() {
    let sandbox = sealed();
    let (path, key) = keys(&sandbox).remove(0);
    let run = sandbox.json(&["subject", "forget", NAME])["run"].as_str().unwrap().to_owned();
    assert!(!path.exists());
    for args in [&["recall", "--sealed", "marzipan"][..], &["subject", "list"], &["subject", "add", "Another"]] {
        // As it was killed behind the tombstone.
        std::fs::write(&path, &key).unwrap();
        let answer = sandbox.json(args);
        assert!(answer["notes"].to_string().contains("its key on this machine is destroyed"), "{answer}");
        assert!(!path.exists() && !answer.to_string().contains("cannot eat"), "{answer}");
    }
    let back = sandbox.json(&["revert", &run]);
    assert!(back["notes"].to_string().contains("stays destroyed") && !path.exists(), "{back}");
}

#[test]
fn changed_and_moved_memories_are_refused_with_their_place() {
    let world = World::new();
    for (name, text) in [(NAME, "the guest cannot eat marzipan"), ("Ben", "he likes gooseberry jam")] {
        world.json("a", &["subject", "add", name]);
        world.json("a", &["feed", "--subject", name, text]);
    }
    world.json("a", &["feed", "--subject", NAME, "the guest plays the xylophone"]);
    let wake = world.tip("a", "wake");
    let paths = world.git("a", &["ls-tree", "-r", "--name-only", &wake, "network/sealed"]);
    let document =
        |path: &str| -> Value { serde_json::from_str(&world.git("a", &["show", &format!("{wake}:{path}")])).unwrap() };
    // Cards are left out; memories are in the order of their runs.
    let mut memories: Vec<(&str, Value)> = paths.lines().map(|path| (path, document(path))).collect();
    memories.retain(|(_, document)| document["sealing"]["memories"].is_array());
    memories.sort_by_key(|(_, document)| document["run"].as_str().unwrap().to_owned());
    let [of_zora, of_ben, other_of_zora] = &memories[..] else { panic!("{memories:?}") };
    let text = |document: &Value| document["sealing"]["memories"][0]["sealed"].as_str().unwrap().to_owned();
    let sealed_as = |text: &str| {
        let mut document = of_zora.1.clone();
        document["sealing"]["memories"][0]["sealed"] = text.into();
        document
    };
    let mut changed = text(&of_zora.1).into_bytes();
    changed[40] = if changed[40] == b'0' { b'1' } else { b'0' };
    for (what, document, code) in [
        ("a digit", sealed_as(std::str::from_utf8(&changed).unwrap()), 1),
        ("the memory of another subject", sealed_as(&text(&of_ben.1)), 1),
        ("another memory of the subject", sealed_as(&text(&other_of_zora.1)), 1),
        ("the file of another run", of_ben.1.clone(), 5),
    ] {
        let file = serde_json::to_string_pretty(&document).unwrap() + "\n";
        let forged = world.commit("a", &wake, &[&wake], &[(of_zora.0, Some(&file))], "tidy\n", &[]);
        world.git("a", &["update-ref", "refs/heads/wake", &forged]);
        let check = world.try_brain("a", &["check"]).exits(1);
        assert!(check.out.contains(of_zora.0), "{what}: {check}");
        assert_eq!(check.out.contains("does not open"), code == 1, "{what}: {check}");
        let answer = world.json("a", &["recall", "--sealed", "marzipan"]);
        assert!(recalled(&answer).iter().all(|(_, sealed)| sealed.is_none()), "{what}: {answer}");
        assert!(answer["notes"].to_string().contains(of_zora.0), "{what}: {answer}");
        world.try_brain("a", &["subject", "list"]).exits(code);
        assert!(world.refused("a").contains(of_zora.0), "{what}: no other machine gets it");
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    }
    world.brain("a", &["check"]);
    assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "marzipan"])).len(), 1);
}

#[test]
fn gate_takes_no_sealing_that_no_person_made() {
    let world = World::gated();
    world.json("a", &["subject", "add", NAME]);
    world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    world.sync("a");
    let wake = world.tip("a", "wake");
    let id = world.json("a", &["subject", "list"])["subjects"][0]["id"].as_str().unwrap().to_owned();
    let runs = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/runs"]);
    let tombstone = |run: &str| {
        let run = run.rsplit('/').next().unwrap().trim_end_matches(".json");
        let sealed = json!({"run": run, "at": "2026-01-26T14:32:00Z", "sealing": {"forget": [id]}});
        serde_json::to_string_pretty(&sealed).unwrap() + "\n"
    };
    // A tombstone destroys keys, so it takes a run of a person that says so: one without, one of an agent, one that says something else.
    let of_agent = runs.lines().find(|run| run.contains("-perception.")).unwrap();
    let of_person = runs.lines().find(|run| run.contains("-human.")).unwrap();
    let of_none = of_agent.replace("-perception", "-human");
    for run in [of_agent, of_person, &of_none] {
        let path = run.replace("network/runs", "network/sealed");
        // In a commit of its own, or in a merge that decides on nothing else.
        let main = world.tip("a", "main");
        for parents in [&[wake.as_str()][..], &[&wake, &main]] {
            let forged = world.commit("a", &wake, parents, &[(&path, Some(&tombstone(run)))], "tidy\n", &[]);
            refused(&world, run, &forged, "wake", &path);
        }
    }
    // What is there stays as it is.
    let sealed = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/sealed"]);
    let path = sealed.lines().next().unwrap().to_owned();
    let forged = world.commit("a", &wake, &[&wake], &[(&path, None)], "tidy\n", &[]);
    refused(&world, "a removal", &forged, "wake", "written once");
    assert_eq!(keys(&world.sandbox).len(), 1);
}

/// A subject whose key both machines have, and both synced.
pub fn shared() -> (World, String) {
    let world = World::new();
    world.json("a", &["subject", "add", NAME]);
    world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    world.sync("a");
    world.clone("b");
    world.sync("b");
    let key = world.json("a", &["subject", "key", NAME])["key"].as_str().unwrap().to_owned();
    world.json("b", &["subject", "add", NAME, "--key", &key]);
    (world, key)
}

#[test]
fn forgetting_that_plain_git_reverts_is_one_all_the_same() {
    let (world, key) = shared();
    world.json("a", &["subject", "forget", NAME]);
    let wake = world.tip("a", "wake");
    let message = format!("Revert \"forget\"\n\nThis reverts commit {wake}.\n");
    let back = world.commit("a", &format!("{wake}^"), &[&wake], &[], &message, &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &back]);
    assert!(world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/sealed"]).lines().count() == 2);
    world.sync("a");
    let report = world.sync("b");
    assert!(report["notes"].to_string().contains("was forgotten"), "{report}");
    assert!(keys(&world.sandbox).is_empty());
    for name in ["a", "b"] {
        assert_eq!(recalled(&world.json(name, &["recall", "--sealed", "marzipan"])), [], "{name}");
        assert_eq!(world.json(name, &["subject", "list"])["subjects"][0]["forgotten"], true, "{name}");
        assert!(world.try_brain(name, &["subject", "add", NAME, "--key", &key]).exits(3).err.contains("forgotten"));
    }
}

#[test]
fn tombstone_that_sync_refuses_destroys_no_key() {
    let (world, key) = shared();
    let wake = world.tip("a", "wake");
    // The honest run of another machine, whose two files are to be told otherwise.
    world.json("b", &["subject", "forget", NAME]);
    let of_b = world.git("b", &["diff", "--name-only", "wake^", "wake"]);
    let file = |path: &str| world.git("b", &["show", &format!("wake:{path}")]) + "\n";
    let one = |folder: &str| of_b.lines().find(|path| path.starts_with(folder)).unwrap().to_owned();
    let (record, sealed) = (one("network/runs"), one("network/sealed"));
    let (record_text, sealed_text) = (file(&record), file(&sealed));
    let other = world.path_of("a", "wake", "-bootstrap.json");
    let agent = [("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")];
    let sleep = [("GIT_COMMITTER_EMAIL", "sleep@git-brain.invalid")];
    for (what, files, variables) in [
        ("no record", vec![(sealed.as_str(), Some(sealed_text.as_str()))], &[][..]),
        ("an agent", vec![(&record, Some(&record_text)), (&sealed, Some(&sealed_text))], &agent),
        ("sleep", vec![(&record, Some(&record_text)), (&sealed, Some(&sealed_text))], &sleep),
        ("a clock", vec![(&record, Some(&record_text)), (&sealed, Some(&sealed_text))], &[]),
        ("beside", vec![(&record, Some(&record_text)), (&sealed, Some(&sealed_text)), (&other, None)], &[]),
    ] {
        let message = if what == "a clock" { "tidy\n\nClock: fixed\n" } else { "tidy\n" };
        let forged = world.commit("a", &wake, &[&wake], &files, message, variables);
        world.git("a", &["update-ref", "refs/heads/wake", &forged]);
        for args in [&["recall", "--sealed", "marzipan"][..], &["subject", "list"]] {
            let answer = world.json("a", args);
            let stays = ["a clock", "beside"].contains(&what);
            assert_eq!(answer["notes"].to_string().contains("its key stays"), stays, "{what}: {answer}");
        }
        assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "marzipan"])).len(), 1, "{what}");
        assert_eq!(is_forgotten_in(&world, "a"), json!(false), "{what}");
        world.refused("a");
        assert_eq!(keys(&world.sandbox).len(), 1, "{what}");
        // Nor does it keep a key from being taken.
        std::fs::remove_file(&keys(&world.sandbox)[0].0).unwrap();
        world.json("a", &["subject", "add", NAME, "--key", &key]);
        // A sleep that carries it to main makes nothing better of it.
        if what == "no record" {
            let slept = world.commit("a", "wake", &[&forged], &[], "sleep\n\nSleep: x\n", &[]);
            world.git("a", &["update-ref", "refs/heads/wake", &slept]);
            assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "marzipan"])).len(), 1, "{what}");
        }
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    }
    // The honest one does.
    world.sync("b");
    world.sync("a");
    assert!(keys(&world.sandbox).is_empty());
}

pub fn is_forgotten_in(world: &World, name: &str) -> Value {
    world.json(name, &["subject", "list"])["subjects"][0]["forgotten"].clone()
}

#[test]
fn key_of_a_clone_that_was_moved_is_destroyed_where_it_went() {
    let (world, key) = shared();
    std::fs::rename(world.dir("b"), world.dir("c")).unwrap();
    world.json("c", &["subject", "add", NAME, "--key", &key]);
    assert_eq!(keys(&world.sandbox).len(), 3);
    let forgot = world.json("c", &["subject", "forget", NAME]);
    assert_eq!(forgot["destroyed"], 1, "{forgot}");
    assert_eq!(keys(&world.sandbox).len(), 1, "that of a, which has not synced");
}

#[test]
fn subject_is_shown_and_asked_by_name() {
    let sandbox = sealed();
    sandbox.json(&["subject", "add", "Ben"]);
    sandbox.json(&["feed", "--subject", "Ben", "he likes gooseberry jam"]);
    let shown = sandbox.json(&["subject", "show", NAME]);
    let texts: Vec<&str> = shown["memories"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["the guest cannot eat marzipan", "the guest plays the xylophone"], "{shown}");
    assert!(sandbox.brain(&["subject", "show", NAME]).exits(0).out.contains("xylophone"));
    sandbox.brain(&["subject", "show", "Nemo"]).exits(2);
    assert_eq!(recalled(&sandbox.json(&["recall", "--sealed", NAME])).len(), 2);
    assert!(recalled(&sandbox.json(&["recall", "--sealed", "what may Ben like"]))[0].0.contains("jam"));
}

#[test]
fn agents_cannot_seal_or_forget() {
    let sandbox = sealed();
    let id = subject_of(&sandbox)["id"].as_str().unwrap().to_owned();
    let forget = json!([{"op": "seal", "forget": [id]}]);
    let refused = sandbox.try_apply(&delta(forget.clone()), &["--agent", "memory"]).exits(3);
    assert!(refused.err.contains("may not seal"), "{refused}");
    // Nor one whose definition names the operation.
    let path = sandbox.dir().join("agents/memory.json");
    sandbox.git(&["checkout", "-q", "main"]);
    let mut agent: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    agent["capabilities"]["operations"].as_array_mut().unwrap().push("seal".into());
    std::fs::write(&path, serde_json::to_vec_pretty(&agent).unwrap()).unwrap();
    sandbox.git(&["commit", "-q", "--no-verify", "-am", "allow it"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let refused = sandbox.try_apply(&delta(forget), &["--agent", "memory"]).exits(3);
    assert!(refused.err.contains("only people"), "{refused}");
    assert_eq!(keys(&sandbox).len(), 1);
    assert_eq!(recalled(&sandbox.json(&["recall", "--sealed", "marzipan"])).len(), 1);
}

#[test]
fn signed_machines_seal_and_forget() {
    let Some(world) = signing() else { return };
    world.json("a", &["subject", "add", NAME]);
    world.json("a", &["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    world.json("a", &["subject", "forget", NAME]);
    world.sync("a");
    assert_eq!(world.tip("a", "wake"), world.tip("remote.git", "wake"));
    world.brain("a", &["check"]);
    world.brain("a", &["audit"]);
}

#[test]
fn sealed_memories_stand_among_the_others_by_how_close_they_come() {
    let sandbox = sealed();
    for text in ["The xylophone stands in the hall.", "The hall is swept on Monday.", "Marzipan is made of almonds."] {
        sandbox.json(&["feed", text]);
    }
    let asked =
        |question: &str, more: &[&str]| recalled(&sandbox.json(&[&["recall", "--sealed"], more, &[question]].concat()));
    // Has all words of the question, and stands before those that have some.
    let found = asked("which guest plays the xylophone", &[]);
    assert_eq!(found[0].1.as_deref(), Some(NAME), "{found:?}");
    assert!(found.iter().any(|(text, sealed)| text.contains("stands in the hall") && sealed.is_none()), "{found:?}");
    let found = asked("marzipan of almonds", &[]);
    assert!(found[0].0.contains("almonds") && found.iter().any(|(text, _)| text.contains("cannot eat")), "{found:?}");
    assert_eq!(asked("which guest plays the xylophone", &["--top", "1"]).len(), 1);
    assert_eq!(asked("xylophone", &["--until", "2020-01-01"]), []);
    assert!(asked("xylophone", &["--session", "s"]).iter().all(|(_, sealed)| sealed.is_none()));
    // A question about nothing of it brings up nothing of it.
    assert!(asked("when is the hall swept", &[]).iter().all(|(_, sealed)| sealed.is_none()));
    // No terminal: nothing without being asked for.
    let plain = recalled(&sandbox.json(&["recall", "which guest plays the xylophone"]));
    assert!(plain.iter().all(|(_, sealed)| sealed.is_none()), "{plain:?}");
    let text = sandbox.brain(&["recall", "--sealed", "which guest plays the xylophone"]).exits(0).out;
    assert!(text.lines().next().unwrap().contains(&format!("sealed: {NAME}")), "{text}");
}

#[test]
fn texts_are_sealed_once_in_pieces_and_without_secrets() {
    let sandbox = sealed();
    let again = sandbox.json(&["feed", "--subject", NAME, "the guest cannot eat marzipan"]);
    assert_eq!((&again["sealed"], &again["known"], &again["runs"]), (&json!(0), &json!(1), &json!([])), "{again}");
    let page: String = (0..40).map(|n| format!("Paragraph {n} is about gooseberry number {n}.\n\n")).collect();
    let dry = sandbox.brain_with(&["--json", "feed", "--subject", NAME, "--dry-run", "-"], page.as_bytes()).exits(0);
    let fed = sandbox.brain_with(&["--json", "feed", "--subject", NAME, "-"], page.as_bytes()).exits(0).document();
    assert_eq!(dry.document()["sealed"], fed["sealed"]);
    assert!(fed["runs"].as_array().unwrap().len() > 1 && fed["sealed"].as_u64() > Some(32), "{fed}");
    let said = sandbox.json(&["feed", "--subject", NAME, "her password is hunter2!Kx9"]);
    assert!(said["notes"].to_string().contains("not remembered"), "{said}");
    let found = recalled(&sandbox.json(&["recall", "--sealed", "her password"]));
    assert!(found[0].0.contains("[redacted:"), "{found:?}");
    // A run that is taken back hides what it sealed, and no longer.
    let run = sandbox.json(&["feed", "--subject", NAME, "the guest sails a dinghy"])["runs"][0].clone();
    assert_eq!(recalled(&sandbox.json(&["recall", "--sealed", "dinghy"])).len(), 1);
    let by = sandbox.json(&["revert", run.as_str().unwrap()]);
    assert_eq!(recalled(&sandbox.json(&["recall", "--sealed", "dinghy"])), [], "{by}");
}

#[test]
fn wrong_input_is_refused_and_writes_nothing() {
    let sandbox = sealed();
    sandbox.json(&["subject", "add", "Ben"]);
    let of_ben = sandbox.json(&["subject", "key", "Ben"])["key"].as_str().unwrap().to_owned();
    let tip = sandbox.tip("wake");
    let batch = sandbox.file("batch.jsonl", "{\"text\": \"tea\"}\n");
    let long = "x".repeat(201);
    for (args, code, says) in [
        (&["feed", "--subject", "Nemo", "tea"][..], 2, "no subject"),
        (&["feed", "--subject", NAME, "   "], 2, "empty"),
        (&["feed", "--subject", NAME, &batch], 2, "text files"),
        (&["feed", "--subject", NAME, "--source", "s", "tea"], 2, "cannot be used"),
        (&["feed", "--subject", NAME, "--at", "2999-01-01T00:00:00Z", "tea"], 2, "ahead"),
        (&["subject", "key", "Nemo"], 2, "no subject"),
        (&["subject", "forget", "Nemo"], 2, "no subject"),
        (&["subject", "add", NAME], 3, "of that name"),
        (&["subject", "add", ""], 2, "empty"),
        (&["subject", "add", &long], 2, "200 bytes"),
        (&["subject", "add", "tab\there"], 2, "control character"),
        (&["subject", "add", NAME, "--key", "0011aabb"], 2, "64 lower-case"),
        (&["subject", "add", NAME, "--key", &"0".repeat(64)], 3, "no subject"),
        (&["subject", "add", NAME, "--key", &of_ben], 3, "of another subject"),
    ] {
        let answer = sandbox.brain(args).exits(code);
        assert!(answer.err.contains(says), "{answer}");
        assert!(!answer.err.contains("0011aabb"), "a key is not told again: {answer}");
    }
    assert_eq!((sandbox.tip("wake"), keys(&sandbox).len()), (tip, 2));
    // Two machines may add one name: then it names both, and an id one.
    let id = subject_of(&sandbox)["id"].as_str().unwrap().to_owned();
    let dry = sandbox.json(&["subject", "forget", NAME, "--dry-run"]);
    assert_eq!((&dry["subjects"], &dry["run"]), (&json!([subject_id(&sandbox, NAME)]), &Value::Null));
    assert!(id.starts_with("subject-") && keys(&sandbox).len() == 2);
    // A key may come from standard input, with the end of its line.
    let taken =
        sandbox.brain_with(&["--json", "subject", "add", "Ben", "--key", "-"], format!("{of_ben}\n").as_bytes());
    assert!(taken.exits(0).document()["notes"].to_string().contains("already"));
    let other = sandbox.brain_with(&["subject", "add", NAME, "--key", "-"], of_ben.as_bytes()).exits(3);
    assert!(other.err.contains("another subject"), "{other}");
}

fn subject_id(sandbox: &Sandbox, name: &str) -> Value {
    let list = sandbox.json(&["subject", "list"]);
    list["subjects"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["id"].clone()
}

#[test]
fn brain_without_subjects_has_no_trace_of_them() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "the harbour opens at nine"]);
    sandbox.json(&["recall", "--sealed", "harbour"]);
    assert_eq!(sandbox.json(&["subject", "list"])["subjects"], json!([]));
    assert!(!Path::new(&sandbox.path("state/git-brain/subjects")).exists());
    assert!(sandbox.lines(&["ls-tree", "wake", "network/sealed"]).is_empty());
}
