use std::fs;

use super::*;
use crate::store::sandbox::{Sandbox, advance, commit_on, git, remove, write};
use crate::store::{RefChange, RefOutcome};

fn status(dir: &Path) -> String {
    git(dir, &["status", "--porcelain"])
}

const TEA: &str = "network/neurons/ab/c/tea.json";

#[test]
fn untouched_files_follow_and_folders_come_and_go() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let linked = sandbox.beside("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "wake"]);
    for (branch, root) in [(store.main().clone(), sandbox.path()), (store.wake().clone(), linked.clone())] {
        let edits = vec![
            write("x/y/z", "1\n"),
            remove(TEA),
            write("brain.toml", "# other\n"),
            write("hooks/post-commit", "#!\n"),
        ];
        assert_eq!(advance(&store, &branch, edits).1, []);
        assert_eq!(status(&root), "");
        assert_eq!(fs::read_to_string(root.join("x/y/z")).unwrap(), "1\n");
        assert!(!root.join("network/neurons").exists());
        // A file makes room for a folder of its name.
        assert_eq!(advance(&store, &branch, vec![remove("brain.toml"), write("brain.toml/x", "1\n")]).1, []);
        assert_eq!(status(&root), "");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o111;
            assert!(mode("hooks/post-commit") != 0 && mode("x/y/z") == 0);
        }
    }
    fs::remove_dir_all(&linked).unwrap();
    assert_eq!(advance(&store, store.wake(), vec![write("a", "1")]).1, [], "a work tree that is gone");
}

#[test]
fn what_a_person_did_is_left_alone_and_reported() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let root = sandbox.path();
    fs::write(root.join(TEA), "mine\n").unwrap();
    fs::write(root.join("new"), "mine\n").unwrap();
    fs::write(root.join("staged"), "mine\n").unwrap();
    sandbox.git(&["add", "staged"]);
    // Staged, and on disk as it was.
    fs::write(root.join("brain.toml"), "mine\n").unwrap();
    sandbox.git(&["add", "brain.toml"]);
    fs::write(root.join("brain.toml"), "# settings\n").unwrap();
    fs::remove_file(root.join("hooks/post-commit")).unwrap();
    let edits = vec![
        write(TEA, "theirs\n"),
        write("new", "theirs\n"),
        write("staged", "theirs\n"),
        write("hooks/post-commit", "theirs\n"),
        write("brain.toml", "theirs\n"),
        write("network/metadata.json", "theirs\n"),
    ];
    let (_, left) = advance(&store, store.main(), edits);
    let paths: Vec<&str> = left.iter().map(|l| l.path.as_str()).collect();
    assert_eq!(paths, ["brain.toml", "hooks/post-commit", TEA, "new", "staged"]);
    assert!(left[0].reason.contains("staged") && left[1].reason.contains("edited"));
    for path in [TEA, "new", "staged"] {
        assert_eq!(fs::read_to_string(root.join(path)).unwrap(), "mine\n", "{path}");
    }
    assert!(!root.join("hooks/post-commit").exists());
    assert_eq!(fs::read_to_string(root.join("network/metadata.json")).unwrap(), "theirs\n");
    assert_eq!(sandbox.git(&["show", ":staged", ":brain.toml"]), "mine\nmine\n");
    // What is only edited is no change that the next commit would make.
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "brain.toml\nstaged\n");
    assert_eq!(sandbox.git(&["diff", "--name-only", "--diff-filter=M", "--", TEA]), format!("{TEA}\n"));
    // A removal does not take an edited file.
    let (_, left) = advance(&store, store.main(), vec![remove(TEA), remove("network/metadata.json")]);
    assert_eq!(left.len(), 1);
    assert!(root.join(TEA).exists() && !root.join("network/metadata.json").exists());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_symlink() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let outside = sandbox.beside("outside");
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.path().join("x")).unwrap();
    fs::write(outside.join("there"), "1\n").unwrap();
    let (_, left) = advance(&store, store.main(), vec![write("x/y", "1\n"), write("x/there", "1\n")]);
    assert_eq!(left.len(), 2);
    assert!(!outside.join("y").exists());
    advance(&store, store.main(), vec![remove("x/y"), remove("x/there")]);
    assert!(outside.join("there").exists());
}

#[test]
fn a_held_index_lock_leaves_everything_and_is_not_ours_to_remove() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let lock = sandbox.path().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let (_, left) = advance(&store, store.main(), vec![write("brain.toml", "theirs\n")]);
    assert_eq!(left.len(), 1);
    assert!(lock.exists());
    assert_eq!(fs::read_to_string(sandbox.path().join("brain.toml")).unwrap(), "# settings\n");
    drop(store);
    // The next commands try again, and leave the lock to whoever has it.
    sandbox.store().recover().unwrap();
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    // A process that another test starts holds what is open here for a moment, and the command after that finds it free.
    let is_followed = || fs::read_to_string(sandbox.path().join("brain.toml")).unwrap() == "theirs\n";
    for _ in 0..100 {
        sandbox.store().recover().unwrap();
        if is_followed() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(is_followed());
    assert_eq!(status(&sandbox.path()), "");
}

#[test]
fn what_a_sparse_checkout_leaves_out_stays_out() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    sandbox.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/network/"]);
    assert!(!sandbox.path().join(TEA).exists());
    assert_eq!(advance(&store, store.main(), vec![write(TEA, "more\n"), write("brain.toml", "x\n")]).1, []);
    assert!(!sandbox.path().join(TEA).exists());
    assert_eq!(status(&sandbox.path()), "");
}

#[test]
fn every_kind_of_index_follows_what_is_left_out_and_what_is_not() {
    let plain: &[&str] = &["update-index", "--index-version", "3"];
    let kinds: [&[&str]; 4] = [
        plain,
        &["update-index", "--index-version", "4"],
        &["update-index", "--split-index"],
        &["sparse-checkout", "set", "--cone", "--sparse-index", "hooks"],
    ];
    for kind in kinds {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        sandbox.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/network/"]);
        sandbox.git(kind);
        for text in ["one\n", "two\n"] {
            let edits = vec![write(TEA, text), write("network/runs/new", text), write("hooks/post-commit", text)];
            assert_eq!(advance(&store, store.main(), edits).1, [], "{kind:?}");
            assert_eq!(status(&sandbox.path()), "", "{kind:?}");
            assert_eq!(fs::read_to_string(sandbox.path().join("hooks/post-commit")).unwrap(), text);
        }
        assert_eq!(advance(&store, store.main(), vec![remove(TEA)]).1, [], "{kind:?}");
        assert_eq!(status(&sandbox.path()), "", "{kind:?}");
        assert!(!sandbox.path().join("network").exists(), "{kind:?}");
    }
}

#[test]
fn new_index_shares_the_beginnings_of_names() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let index = sandbox.path().join(".git/index");
    let version = || fs::read(&index).unwrap()[7];
    assert_eq!(version(), 4);
    let many = (0..100).map(|n| write(&format!("network/neurons/ab/c/n{n:03}.json"), "x\n")).collect();
    assert_eq!(advance(&store, store.main(), many).1, []);
    let shared = fs::metadata(&index).unwrap().len();
    // An index that a person has in another version stays in it.
    sandbox.git(&["update-index", "--index-version", "2"]);
    assert!(shared < fs::metadata(&index).unwrap().len() * 9 / 10, "{shared} bytes");
    assert_eq!(advance(&store, store.main(), vec![write(TEA, "more\n")]).1, []);
    assert_eq!((version(), status(&sandbox.path()).as_str()), (2, ""));
}

#[test]
fn what_lies_where_nothing_is_checked_out_is_in_nobodys_way() {
    for obstacle in ["network", "network/neurons"] {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        sandbox.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/network/"]);
        let place = sandbox.path().join(obstacle);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "mine\n").unwrap();
        let edits = vec![write(TEA, "theirs\n"), write("network/neurons/ab/c/new.json", "theirs\n")];
        assert_eq!(advance(&store, store.main(), edits).1, [], "{obstacle}");
        assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "", "no commit takes it back");
        assert_eq!(fs::read_to_string(&place).unwrap(), "mine\n");
    }
}

#[test]
fn another_branch_or_a_bare_repository_is_nothing_to_follow() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    advance(&store, store.wake(), vec![write("brain.toml", "theirs\n")]);
    assert_eq!(status(&sandbox.path()), "");
    sandbox.git(&["config", "core.bare", "true"]);
    let store = sandbox.store();
    advance(&store, store.main(), vec![write("brain.toml", "theirs\n")]);
    assert_eq!(fs::read_to_string(sandbox.path().join("brain.toml")).unwrap(), "# settings\n");
}

#[cfg(unix)]
#[test]
fn a_work_tree_whose_branch_cannot_be_read_is_not_taken_for_none() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let linked = sandbox.beside("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "wake"]);
    let (head, aside) = (store.common_dir().join("worktrees/linked/HEAD"), sandbox.beside("HEAD"));
    fs::rename(&head, &aside).unwrap();
    std::os::unix::fs::symlink("HEAD", &head).unwrap();
    let old = store.need_tip(store.wake()).unwrap();
    let new = commit_on(&store, old, vec![write("brain.toml", "# other\n")]);
    let change = [RefChange::advance(store.wake().clone(), old, new)];
    let error = store.update_refs(&change, "test").unwrap_err().to_string();
    assert!(error.contains("worktrees/linked/HEAD"), "{error}");
    assert_eq!(store.need_tip(store.wake()).unwrap(), old, "nothing moved that could not be followed");
    fs::rename(&aside, &head).unwrap();
    assert_eq!(store.update_refs(&change, "test").unwrap(), RefOutcome::Done { left: vec![] });
    assert_eq!(status(&linked), "");
}
