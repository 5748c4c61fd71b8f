//! A brain inside a code repository: `init --in-repo`, feeding, applying and merging leave everything of the people who
//! work there as it was, to the byte.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::sandbox::{Sandbox, adjust, connect, create, delta};
use serde_json::json;

/// A repository in the middle of everything: branches, tags, a stash, a staged file, an edited one, an untracked one, an
/// ignored one, hooks, a detached linked work tree, a reflog, settings.
fn busy() -> Sandbox {
    let sandbox = Sandbox::empty();
    let write = |name: &str, text: &str| {
        let path = sandbox.dir().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    sandbox.git(&["init", "-q", "-b", "trunk"]);
    sandbox.git(&["config", "user.name", "Ann"]);
    sandbox.git(&["config", "user.email", "ann@example.invalid"]);
    write("src/main.c", "int main(void) { return 0; }\n");
    write(".gitignore", "*.o\n");
    write(".gitattributes", "*.c text\n");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "-m", "first"]);
    sandbox.git(&["tag", "-a", "v1", "-m", "one"]);
    sandbox.git(&["branch", "feature/x"]);
    sandbox.git(&["branch", "agents"]);
    write("src/main.c", "int main(void) { return 1; }\n");
    sandbox.git(&["commit", "-q", "-a", "-m", "second"]);
    sandbox.git(&["tag", "v2"]);
    write("src/main.c", "int main(void) { return 2; }\n");
    sandbox.git(&["stash"]);
    sandbox.git(&["worktree", "add", "-q", "--detach", &sandbox.path("linked"), "v1"]);
    write("staged.c", "int staged;\n");
    sandbox.git(&["add", "staged.c"]);
    write("staged.c", "int staged_and_edited;\n");
    write("src/main.c", "int main(void) { return 3; }\n");
    write("untracked.txt", "mine\n");
    write("main.o", "ignored\n");
    for (hook, text) in [("pre-commit", "#!/bin/sh\nexit 1\n"), ("post-merge", "#!/bin/sh\ntouch merged-by-hook\n")] {
        let path = sandbox.dir().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::create_dir_all(sandbox.dir().join(".git/info")).unwrap();
    std::fs::write(sandbox.dir().join(".git/info/attributes"), "*.png binary\n").unwrap();
    sandbox
}

/// Every file below a folder, with its mode, except what the brain may write.
fn files(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(root).unwrap().display().to_string();
        let ours = [".git/objects/", ".git/git-brain", ".git/refs/heads/brain", ".git/logs/refs/heads/brain"];
        let shared = [".git/config", ".git/info/attributes", ".git/objects"];
        if ours.iter().any(|o| path.starts_with(o)) || shared.contains(&path.as_str()) {
            continue;
        }
        let mode = entry.metadata().unwrap().permissions().mode();
        let content = if entry.file_type().is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
        found.insert(path, (mode, content));
    }
    found
}

fn names(map: &BTreeMap<String, (u32, Vec<u8>)>) -> Vec<&String> {
    map.keys().collect()
}

fn live(sandbox: &Sandbox) {
    sandbox.json(&["feed", "--source", "s1", "Ann: the parser fails on empty input."]);
    let file = sandbox.file("notes.md", "Ben prefers tabs.\n\nAnn prefers spaces.\n");
    sandbox.json(&["feed", "--file", &file]);
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 5000)])), &[]);
    let held = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 5)])), &["--no-merge"]);
    let branch = held["branch"].as_str().unwrap();
    assert!(branch.starts_with("brain/agents/human/"), "{branch}");
    sandbox.json(&["merge", branch]);
    for look in ["status", "log", "diff"] {
        assert!(sandbox.brain(&[look]).code < 2);
    }
    assert_eq!(sandbox.json(&["recall", "empty parser input"])["results"][0]["source"], "s1");
}

#[test]
fn nothing_of_the_code_is_touched() {
    let sandbox = busy();
    let code_refs = |sandbox: &Sandbox| {
        let mut refs = sandbox.refs();
        refs.retain(|name, _| !name.starts_with("refs/heads/brain/"));
        refs
    };
    let linked = sandbox.beside("linked");
    let state = |sandbox: &Sandbox| {
        let status = sandbox.git(&["--no-optional-locks", "status", "--porcelain=v2", "--branch"]);
        (code_refs(sandbox), status, sandbox.git(&["stash", "list"]), sandbox.git(&["reflog", "show", "HEAD"]))
    };
    // git itself may refresh the index when it is asked for the status; ask it before the files are read.
    let before = state(&sandbox);
    let (tree, other) = (files(sandbox.dir()), files(&linked));
    let config = std::fs::read_to_string(sandbox.dir().join(".git/config")).unwrap();

    let made = sandbox.json(&["init", "--in-repo"]);
    assert_eq!((&made["main"], &made["wake"]), (&json!("brain/main"), &json!("brain/wake")));
    live(&sandbox);

    let after = files(sandbox.dir());
    assert_eq!(names(&after), names(&tree));
    for (path, content) in &tree {
        assert_eq!(after.get(path), Some(content), "{path} has changed");
    }
    assert!(files(&linked) == other, "the linked work tree has changed");
    assert_eq!(state(&sandbox), before);
    let branches: Vec<String> = sandbox.refs().into_keys().filter(|n| n.starts_with("refs/heads/brain/")).collect();
    assert_eq!(branches, ["refs/heads/brain/main", "refs/heads/brain/wake"]);
    // Orphans: no commit of the brain has a commit of the code behind it.
    assert_eq!(sandbox.lines(&["rev-list", "--max-parents=0", "brain/wake"]).len(), 1);
    let now = std::fs::read_to_string(sandbox.dir().join(".git/config")).unwrap();
    let kept = now.split("[merge \"git-brain\"]").next().unwrap();
    assert_eq!(kept, config, "settings of the code");
    let attributes = std::fs::read_to_string(sandbox.dir().join(".git/info/attributes")).unwrap();
    assert!(attributes.starts_with("*.png binary\n"), "{attributes}");
    assert_eq!(sandbox.git(&["check-attr", "merge", "src/main.c"]), "src/main.c: merge: unspecified");
    sandbox.fsck();
}

#[test]
fn a_brain_can_be_asked_from_any_folder_and_work_tree() {
    let sandbox = busy();
    sandbox.json(&["init", "--in-repo"]);
    let tip = sandbox.tip("brain/wake");
    let linked = sandbox.path("linked");
    for dir in ["src", linked.as_str()] {
        assert_eq!(sandbox.json(&["-C", dir, "status"])["wake"], json!(["brain/wake", tip]));
    }
    let head = std::fs::read(sandbox.dir().join(".git/worktrees/linked/HEAD")).unwrap();
    sandbox.json(&["-C", &linked, "feed", "--source", "x", "From the linked tree."]);
    assert_eq!(std::fs::read(sandbox.dir().join(".git/worktrees/linked/HEAD")).unwrap(), head);
    assert_eq!(sandbox.json(&["recall", "linked tree"])["results"][0]["source"], "x");
}

#[test]
fn plain_init_in_a_repository_is_refused() {
    let sandbox = busy();
    let before = files(sandbox.dir());
    for dir in [".", "src", "new/folder"] {
        let refused = sandbox.brain(&["init", dir]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.err.contains("hint:") && refused.err.contains("--in-repo"), "{refused}");
    }
    let mut after = files(sandbox.dir());
    // The folder that was named may have been made; nothing is in it.
    after.retain(|path, _| path != "new" && path != "new/folder");
    assert!(after == before, "{:?}", names(&after));
    assert!(sandbox.brain(&["status"]).exits(2).err.contains("--in-repo"));
    sandbox.json(&["init", "--in-repo"]);
    assert!(sandbox.brain(&["init", "--in-repo"]).exits(2).err.contains("already"));
}

#[test]
fn a_clone_adopts_the_brain_of_its_origin() {
    let sandbox = busy();
    sandbox.json(&["init", "--in-repo"]);
    live(&sandbox);
    let clone = sandbox.path("clone");
    sandbox.git(&["clone", "-q", &sandbox.dir().display().to_string(), &clone]);
    // A clone carries no brain along: it is one when its own configuration says so.
    assert!(sandbox.brain(&["-C", &clone, "status"]).exits(2).err.contains("--in-repo"));
    let adopted = sandbox.json(&["-C", &clone, "init", "--in-repo"]);
    assert_eq!(adopted["adopted"], true);
    let (here, there) = (sandbox.json(&["status"]), sandbox.json(&["-C", &clone, "status"]));
    assert_eq!((&there["wake"], &there["main"]), (&here["wake"], &here["main"]));
    assert_eq!(there["neurons"], here["neurons"]);
    let head = sandbox.git(&["-C", &clone, "symbolic-ref", "HEAD"]);
    assert_eq!(head, "refs/heads/trunk");
    assert_eq!(sandbox.git(&["-C", &clone, "status", "--porcelain"]), "");
    let answer = sandbox.json(&["-C", &clone, "recall", "empty parser input"]);
    assert_eq!(answer["results"][0]["source"], "s1");
    // What was remembered there is known here.
    let again = sandbox.json(&["-C", &clone, "feed", "--source", "s1", "Ann: the parser fails on empty input."]);
    assert_eq!(again["known"], 1);
}

#[test]
fn agents_and_settings_of_a_brain_beside_code_are_edited_in_a_work_tree_of_its_main() {
    let sandbox = busy();
    sandbox.brain(&["init", "--in-repo"]).exits(0);
    let there = sandbox.beside("edited");
    sandbox.git(&["worktree", "add", "-q", there.to_str().unwrap(), "brain/main"]);
    let settings = std::fs::read_to_string(there.join("brain.toml")).unwrap() + "\n[recall]\ntop = 1\n";
    std::fs::write(there.join("brain.toml"), settings).unwrap();
    let agent = std::fs::read_to_string(there.join("agents/memory.json")).unwrap();
    std::fs::write(there.join("agents/memory.json"), agent.replacen("\"role\": \"", "\"role\": \"Edited. ", 1))
        .unwrap();
    sandbox.git(&["-C", there.to_str().unwrap(), "commit", "-q", "--no-verify", "-am", "agents: memory"]);
    sandbox.brain(&["check", "brain/main"]).exits(0);
    assert!(sandbox.brain(&["trust", "--list"]).out.contains("agents/memory.json"));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    assert!(sandbox.brain(&["show", "memory"]).exits(0).out.contains("Edited."));
    sandbox.brain(&["feed", "Ann likes green tea.", "Ben likes green tea."]).exits(0);
    sandbox.brain(&["feed", "Cleo likes green tea."]).exits(0);
    assert_eq!(sandbox.json(&["recall", "green tea"])["results"].as_array().unwrap().len(), 1);
}
