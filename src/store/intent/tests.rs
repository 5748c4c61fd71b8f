use std::fs;
use std::time::{Duration, Instant};

use super::*;
use crate::store::sandbox::{Sandbox, commit_on, write};
use crate::store::{RefChange, RefOutcome};

/// An intent as a killed process leaves it: the file stays, its kernel lock does not.
fn leave_dead(store: &Store, plan: Plan) -> PathBuf {
    let intent = store.intend(plan).unwrap();
    let copy = intent.path.with_file_name("dead.intent");
    fs::copy(&intent.path, &copy).unwrap();
    copy
}

fn plan_for_wake(content: &str) -> Plan {
    Plan::default().lock("refs/heads/wake.lock", Some(content.to_owned()))
}

/// Makes a file older than the quiet second, and its intent older still.
fn age(path: &Path, seconds: u64) {
    let at = SystemTime::now() - Duration::from_secs(seconds);
    File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
}

#[test]
fn a_lock_that_a_dead_process_left_goes_away() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.wake()).unwrap();
    let new = commit_on(&store, old, vec![write("a", "1")]);
    let lock = sandbox.path().join(".git/refs/heads/wake.lock");
    for (content, aged) in [(format!("{new}\n"), true), (String::new(), true), (new.to_string()[..7].to_owned(), false)]
    {
        let intent = leave_dead(&store, plan_for_wake(&format!("{new}\n")));
        fs::write(&lock, content).unwrap();
        if aged {
            age(&intent, 20);
            age(&lock, 10);
        }
        let began = Instant::now();
        let held = store.lock(LockName::Trunk).unwrap();
        assert!(!lock.exists() && !intent.exists());
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(store.take_notes().len(), 1);
        drop(held);
    }
    // Without the trunk lock, it is whoever wants the ref that recovers.
    let intent = leave_dead(&store, plan_for_wake(""));
    fs::write(&lock, "").unwrap();
    age(&intent, 20);
    age(&lock, 10);
    let outcome = store.update_refs(&[RefChange::advance(store.wake().clone(), old, new)], "test").unwrap();
    assert_eq!(outcome, RefOutcome::Done { left: vec![] });
}

#[test]
fn a_lock_that_may_live_stays() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let lock = sandbox.path().join(".git/refs/heads/wake.lock");
    let fresh = |content: &str| {
        let intent = leave_dead(&store, plan_for_wake("0123\n"));
        fs::write(&lock, content).unwrap();
        age(&intent, 20);
        age(&lock, 10);
        intent
    };
    // Another live process intends to take it, and may be the one that did.
    let intent = fresh("0123\n");
    let living = store.intend(plan_for_wake("4567\n")).unwrap();
    store.recover().unwrap();
    assert!(lock.exists() && intent.exists(), "a living intent");
    drop(living);
    // Somebody has it open. Only Linux tells.
    if cfg!(target_os = "linux") {
        let open = File::open(&lock).unwrap();
        store.recover().unwrap();
        assert!(lock.exists() && intent.exists(), "it is open");
        drop(open);
    }
    // A program that another test starts at this moment has all files open until it begins.
    let is_gone = || {
        store.recover().unwrap();
        !lock.exists() && !intent.exists()
    };
    let waited = (0..100).any(|_| is_gone() || (std::thread::sleep(Duration::from_millis(20)), false).1);
    assert!(waited, "now nothing speaks for it");
    // Its content is not what the dead process would have written.
    fresh("9999\n");
    store.recover().unwrap();
    assert!(lock.exists(), "foreign content");
    // It is older than the intent.
    let intent = fresh("0123\n");
    age(&intent, 5);
    age(&lock, 10);
    store.recover().unwrap();
    assert!(lock.exists(), "older than the intent");
    // Nobody of ours ever intended it.
    store.recover().unwrap();
    assert!(lock.exists(), "no intent");
}

#[test]
fn work_trees_follow_what_a_dead_process_moved() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.main()).unwrap();
    let new = commit_on(&store, old, vec![write("brain.toml", "# new\n"), write("a/b", "1\n")]);
    leave_dead(&store, Plan::default().moving(store.main(), Some(old), new).lock("index.lock", None));
    sandbox.git(&["update-ref", "refs/heads/main", &new.to_string()]);
    fs::write(sandbox.path().join(".git/index.lock"), "").unwrap();
    fs::write(sandbox.path().join("brain.toml"), "# new\n").unwrap(); // half done
    drop(store.lock(LockName::Trunk).unwrap());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_work_tree_that_could_not_follow_does_so_at_the_next_command() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (index, aside) = (sandbox.path().join(".git/index"), sandbox.path().join(".git/aside"));
    let old = store.need_tip(store.main()).unwrap();
    let new = commit_on(&store, old, vec![write("a", "1"), write("brain.toml", "# other\n")]);
    // A disk that fails: the index cannot be read.
    fs::rename(&index, &aside).unwrap();
    fs::create_dir(&index).unwrap();
    let outcome = store.update_refs(&[RefChange::advance(store.main().clone(), old, new)], "test").unwrap();
    assert_eq!(outcome, RefOutcome::Done { left: vec![] }, "the branch has moved, and that counts");
    assert!(store.take_notes()[0].contains("could not follow main"));
    drop(store.lock(LockName::Trunk).unwrap());
    assert!(store.take_notes()[0].contains("could not follow main"), "it fails still");
    let (dead, _) = survey(&store.private_dir().join(FOLDER)).unwrap();
    assert!(dead.len() == 1 && dead[0].2.locks.is_empty(), "a lock of a person's editor is none of ours");
    drop(dead);
    fs::remove_dir(&index).unwrap();
    fs::rename(&aside, &index).unwrap();
    drop(store.lock(LockName::Trunk).unwrap());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_dir(store.private_dir().join(FOLDER)).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_handed_on_stays_an_intent() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.main()).unwrap();
    let new = commit_on(&store, old, vec![write("brain.toml", "# other\n")]);
    let intent = store.intend(Plan::default().moving(store.main(), Some(old), new).lock("index.lock", None)).unwrap();
    sandbox.git(&["update-ref", "refs/heads/main", &new.to_string()]);
    // A disk that takes no other file: neither a new name nor a copy.
    let name = intent.path.with_extension(UNFOLLOWED);
    fs::create_dir_all(name.join("x")).unwrap();
    intent.hand_on(store.common_dir(), false);
    fs::remove_dir_all(&name).unwrap();
    // A program that another thread starts holds the file for a moment, as if its owner were there.
    let is_clean = || {
        drop(store.lock(LockName::Trunk).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(20));
        sandbox.git(&["status", "--porcelain"]).is_empty()
    };
    assert!((0..100).any(|_| is_clean()));
}

#[test]
fn a_lock_that_the_disk_kept_after_a_removal_goes_with_the_next_command() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let lock = sandbox.path().join(".git/refs/heads/agents/memory/r1.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let plan = || Plan::default().lock("refs/heads/agents/memory/r1.lock", Some(String::new()));
    let intents =
        || fs::read_dir(store.private_dir().join(FOLDER)).unwrap().flatten().map(|e| e.path()).collect::<Vec<_>>();
    store.intend(plan()).unwrap().removed(&sandbox.path().join(".git"));
    assert!(intents().is_empty(), "nothing is left, nothing stays");
    let intent = store.intend(plan()).unwrap();
    fs::write(&lock, "").unwrap();
    intent.removed(&sandbox.path().join(".git"));
    assert_eq!(intents().len(), 1);
    age(&intents()[0], 20);
    age(&lock, 10);
    drop(store.lock(LockName::Trunk).unwrap());
    assert!(!lock.exists() && intents().is_empty());
}
