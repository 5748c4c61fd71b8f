//! What commands say to do: each hint is one that works.

use crate::machines::World;
use crate::sandbox::{PROGRAM, Sandbox, create};
use serde_json::json;

#[test]
fn a_clone_of_an_empty_remote_says_what_comes_first() {
    let world = World { sandbox: Sandbox::empty() };
    world.brain(".", &["init", "--bare", "remote.git"]);
    world.git(".", &["clone", "-q", "remote.git", "b"]);
    world.git("b", &["config", "--replace-all", "remote.origin.url", "../remote.git"]);
    let said = world.try_brain("b", &["init", "--no-hooks"]).exits(2).err;
    assert!(said.contains("no commit yet") && said.contains("git fetch && git brain init"), "{said}");
    assert!(!said.contains("--in-repo"), "{said}");
    world.first();
    world.git("b", &["fetch", "-q"]);
    assert_eq!(world.json("b", &["init", "--no-hooks"])["adopted"], true);
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn a_night_and_a_run_of_elsewhere_have_their_own_hints() {
    let world = World::new();
    world.apply("a", json!([create("tea")]));
    world.slept("a");
    let night = world.json("a", &["log", "--at", "main"]).to_string();
    let start = night.find("-sleep\"").unwrap_or_else(|| panic!("{night}"));
    let night = night[..start].rsplit('"').next().unwrap().to_owned() + "-sleep";
    let said = world.try_brain("a", &["revert", "--run", &night]).exits(3).err;
    assert!(said.contains("git brain sleep --undo"), "{said}");
    let unknown = "20260126t143200123z-abcd2345-decision";
    for (args, code) in [
        (&["outcome", unknown, "--value", "0.5"][..], 2),
        (&["feed", "--answers", unknown, "It rained."], 2),
        (&["revert", "--run", unknown], 3),
    ] {
        let said = world.try_brain("a", args).exits(code).err;
        assert!(said.contains("git brain sync"), "{args:?}: {said}");
    }
    let said = world.try_brain("a", &["goal", "add", "--neuron", "nowhere", "Grow tea"]).exits(3).err;
    assert!(said.contains("git brain find nowhere"), "{said}");
}

#[test]
fn triples_that_are_imported_as_a_document_are_recognised() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("t.jsonl", "{\"subject\": \"tea\", \"predicate\": \"grows in\", \"object\": \"Uji\"}\n");
    let said = sandbox.brain(&["import", &file]).exits(2).err;
    assert!(said.contains(&format!("git brain import --triples {file}")) && said.contains("relation"), "{said}");
}

#[test]
fn feed_says_how_many_secrets_it_took_out() {
    let sandbox = Sandbox::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let answer = sandbox.json(&["feed", &format!("The key is {token}, and AKIAQ3EGRTPVZ7KLMN2D too.")]);
    let notes = answer["notes"].to_string();
    assert!(notes.contains("2 secrets are not remembered") && !notes.contains(token), "{answer}");
    assert!(!sandbox.json(&["feed", "No key here."])["notes"].to_string().contains("secret"));
}

#[test]
fn a_redaction_is_told_by_every_command_that_takes_text() {
    let sandbox = Sandbox::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text = format!("Use {token} for tea");
    let made = sandbox.apply(&json!({"prediction": {"text": "tea", "value": 0.5}, "ops": [create("tea")]}), &[]);
    let run = made["run"].as_str().unwrap().to_owned();
    let delta = json!({"ops": [{"op": "create", "id": "x", "concept": text, "type": "semantic"}]}).to_string();
    for (args, input) in [
        (vec!["goal", "add", text.as_str()], ""),
        (vec!["outcome", run.as_str(), "--text", text.as_str()], ""),
        (vec!["apply", "-"], delta.as_str()),
        (vec!["chat", text.as_str()], ""),
    ] {
        let said = sandbox.brain_with(&args, input.as_bytes());
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("note: 1 secret is not remembered") && !all.contains(token), "{args:?}: {said}");
        let times = all.matches("not remembered").count();
        assert_eq!(times, 1, "{args:?}: {said}");
    }
}

#[test]
fn paths_with_spaces_are_quoted_in_what_comes_next() {
    let sandbox = Sandbox::empty();
    let said = sandbox.brain(&["init", "--no-hooks", "my notes"]).exits(0).out;
    assert!(
        said.contains(&format!("Next: git brain -C '{}' feed", sandbox.beside("here/my notes").display())),
        "{said}"
    );
    let said = sandbox.brain(&["init", "--bare", "my remote.git"]).exits(0).out;
    assert!(
        said.contains(&format!("git remote add origin '{}' &&", sandbox.beside("here/my remote.git").display())),
        "{said}"
    );
    let file =
        sandbox.file("my triples.jsonl", "{\"subject\": \"tea\", \"predicate\": \"grows in\", \"object\": \"Uji\"}\n");
    let said = sandbox.brain(&["-C", "my notes", "import", &file]).exits(2).err;
    assert!(said.contains(&format!("--triples '{file}'")), "{said}");
}

#[test]
fn an_agent_that_was_changed_since_it_was_trusted_is_named_by_every_feed() {
    let sandbox = Sandbox::new();
    let path = sandbox.dir().join("agents/memory.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = |role: &str| {
        std::fs::write(&path, text.replacen("\"role\": \"", &format!("\"role\": \"{role} "), 1)).unwrap();
        sandbox.git(&["commit", "-qam", "agents: memory"]);
    };
    changed("Once");
    // Never trusted here: `trust --list` and `doctor` say so.
    assert!(!sandbox.json(&["feed", "Anna grows tea."])["notes"].to_string().contains("does not run here"));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    changed("Twice");
    let answer = sandbox.json(&["feed", "Boris drinks coffee."]);
    assert!(
        answer["notes"].to_string().contains("memory does not run here: agents/memory.json was changed"),
        "{answer}"
    );
    sandbox.brain(&["trust", "--yes"]).exits(0);
    assert!(!sandbox.json(&["feed", "Chloe bakes bread."])["notes"].to_string().contains("does not run here"));
}

#[test]
fn after_a_conflict_of_settings_the_hint_shows_your_file() {
    let world = World::new();
    world.clone("b");
    for (name, gain) in [("a", "20000"), ("b", "21000")] {
        let settings = format!("# {name}\n[learning]\nsalience_gain = {gain}\n");
        let main = world.tip(name, "main");
        let commit = world.commit(name, &main, &[&main], &[("brain.toml", Some(&settings))], "gain\n", &[]);
        world.git(name, &["update-ref", "refs/heads/main", &commit]);
        world.git(name, &["reset", "-q", "--hard"]);
    }
    world.sync("a");
    let answer = world.try_brain("b", &["--json", "sync"]).exits(3);
    let hint = answer.error()["hint"].as_str().unwrap().to_owned();
    let commands: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let theirs = commands.iter().find(|command| command.starts_with("git restore")).unwrap();
    let ended = world.sandbox.command("sh", &["-c", theirs]).current_dir(world.dir("b")).output().unwrap();
    assert!(ended.status.success(), "{theirs}");
    world.sync("b");
    let show = commands.iter().find(|command| command.starts_with("git show")).unwrap().replace("PATH", "brain.toml");
    let shown = world.git("b", &show.split(' ').skip(1).collect::<Vec<_>>());
    assert!(shown.starts_with("# b"), "{show}: {shown}");
}

/// Commands in backticks, given to a shell.
fn give(world: &World, name: &str, hint: &str) {
    let command = hint.split('`').nth(1).unwrap().replace("git brain", PROGRAM);
    let ended = world.sandbox.command("sh", &["-c", &command]).current_dir(world.dir(name)).output().unwrap();
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn a_clone_of_main_alone_is_told_how_to_get_the_rest() {
    let world = World::new();
    world.brain("a", &["feed", "The boiler is in the cellar."]);
    world.sync("a");
    let remote = format!("file://{}", world.dir("remote.git").display());
    world.git(".", &["clone", "-q", "--single-branch", "-b", "main", &remote, "b"]);
    for args in [&["init"][..], &["init", "--in-repo"]] {
        let said = world.try_brain("b", args).exits(2).err;
        assert!(said.contains("one branch of a brain alone"), "{said}");
        assert!(!world.git("b", &["branch", "--list"]).contains("brain/"), "no second brain");
    }
    give(&world, "b", &world.try_brain("b", &["init"]).err);
    assert!(world.brain("b", &["recall", "boiler"]).contains("cellar"));
}

#[test]
fn a_clone_without_history_files_or_work_tree_is_no_brain() {
    let world = World::new();
    world.brain("a", &["feed", "The boiler is in the cellar."]);
    world.sync("a");
    world.git("remote.git", &["config", "uploadpack.allowFilter", "true"]);
    let remote = format!("file://{}", world.dir("remote.git").display());
    for (name, option, says) in [
        ("shallow", "--depth=1", "history alone"),
        ("partial", "--filter=blob:none", "files alone"),
        ("mirror", "--mirror", "as a mirror"),
    ] {
        let kept = if name == "shallow" { "--no-single-branch" } else { "--quiet" };
        world.git(".", &["clone", "-q", option, kept, &remote, name]);
        let said = world.try_brain(name, &["init"]).exits(2).err;
        assert!(said.contains(says), "{name}: {said}");
        let configured = world.git_try(name, &["config", "--local", "brain.wake"]);
        assert!(!configured.0, "{name}: nothing is left half-way");
        if name == "shallow" {
            give(&world, name, &said);
            assert!(world.brain(name, &["recall", "boiler"]).contains("cellar"));
        }
    }
}

#[test]
fn a_clone_of_main_without_its_past_gets_all_by_one_hint() {
    let world = World::new();
    world.brain("a", &["feed", "The boiler is in the cellar."]);
    world.sync("a");
    world.brain("a", &["feed", "The kettle is in the kitchen."]);
    world.brain("a", &["sleep"]);
    world.sync("a");
    let remote = format!("file://{}", world.dir("remote.git").display());
    world.git(".", &["clone", "-q", "--depth=1", &remote, "b"]);
    give(&world, "b", &world.try_brain("b", &["init"]).exits(2).err);
    assert!(world.brain("b", &["recall", "boiler"]).contains("cellar"));
}
