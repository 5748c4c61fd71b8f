use super::*;
use crate::store::LockName;
use crate::store::TreeEdit;
use crate::store::sandbox::{Sandbox, commit_on, git, spec, write};

fn branch(name: &str) -> Branch {
    Branch::parse(name).unwrap()
}

#[test]
fn a_lost_race_is_a_value() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.wake()).unwrap();
    let (one, two) = (commit_on(&store, old, vec![write("a", "1")]), commit_on(&store, old, vec![write("a", "2")]));
    let (wake, new) = (store.wake().clone(), branch("agents/memory/r1"));
    let done = RefOutcome::Done { left: vec![] };
    let lost = |found| RefOutcome::Modified { branch: wake.clone(), found };
    let update = |change| store.update_refs(&[change], "test").unwrap();
    assert_eq!(update(RefChange::advance(wake.clone(), old, one)), done);
    assert_eq!(update(RefChange::advance(wake.clone(), old, two)), lost(Some(one)));
    assert_eq!(update(RefChange::create(wake.clone(), two)), lost(Some(one)));
    assert_eq!(update(RefChange::delete(wake.clone(), old)), lost(Some(one)));
    assert_eq!(store.tip(&wake).unwrap(), Some(one));
    assert_eq!(update(RefChange::create(new.clone(), two)), done);
    assert_eq!(store.branches("agents/").unwrap(), [(new.clone(), two)]);
    sandbox.git(&["pack-refs", "--all"]);
    assert_eq!(
        update(RefChange::create(new.clone(), two)),
        RefOutcome::Modified { branch: new.clone(), found: Some(two) }
    );
    assert!(store.update_refs(&[RefChange::create(branch("agents/memory/r1/x"), two)], "test").is_err());
    assert_eq!(update(RefChange::delete(new.clone(), two)), done);
    assert_eq!(store.tip(&new).unwrap(), None);
    assert_eq!(update(RefChange::delete(new.clone(), two)), RefOutcome::Modified { branch: new, found: None });
    assert!(!sandbox.path().join(".git/git-brain/intents").read_dir().unwrap().flatten().any(|_| true));
}

#[test]
fn changes_before_a_lost_race_stand() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.wake()).unwrap();
    let new = commit_on(&store, old, vec![write("a", "1")]);
    let changes = [RefChange::advance(store.wake().clone(), old, new), RefChange::delete(branch("agents/a/gone"), old)];
    let outcome = store.update_refs(&changes, "test").unwrap();
    assert_eq!(outcome, RefOutcome::Modified { branch: branch("agents/a/gone"), found: None });
    assert_eq!(store.tip(store.wake()).unwrap(), Some(new));
}

/// Adds one line to a file on wake, `times` times, by compare-and-swap.
fn count_up(sandbox: &Sandbox, name: usize, times: usize, locked: bool) {
    let store = sandbox.store();
    for _ in 0..times {
        loop {
            let _alone = locked.then(|| store.lock(LockName::Trunk).unwrap());
            let old = store.need_tip(store.wake()).unwrap();
            let mut text = store.read(store.tree_of(old).unwrap(), "count").unwrap().unwrap_or_default();
            text.extend(b"+\n");
            let writer = store.writer().unwrap();
            let edits = vec![TreeEdit::new("count", Some(text))];
            let tree = writer.edit(Some(store.tree_of(old).unwrap()), edits).unwrap();
            // As runs have their ids: two writers never make the same commit.
            let new = writer.commit(&spec(tree, &[old], &format!("by {name}"), &[])).unwrap();
            writer.publish().unwrap();
            let change = RefChange::advance(store.wake().clone(), old, new);
            if matches!(store.update_refs(&[change], "test").unwrap(), RefOutcome::Done { .. }) {
                break;
            }
            assert!(!locked, "nobody moves wake beside the lock");
        }
    }
}

#[test]
fn eight_writers_lose_nothing_with_and_without_the_lock() {
    for locked in [true, false] {
        let sandbox = Sandbox::brain();
        std::thread::scope(|scope| {
            for name in 0..8 {
                let sandbox = &sandbox;
                scope.spawn(move || count_up(sandbox, name, 5, locked));
            }
        });
        assert_eq!(sandbox.git(&["show", "wake:count"]).lines().count(), 40);
        assert_eq!(sandbox.git(&["rev-list", "--count", "wake"]).trim(), "41");
        sandbox.fsck();
    }
}

#[test]
fn branches_of_one_agent_come_and_go_side_by_side() {
    let sandbox = Sandbox::brain();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let store = sandbox.store();
                let tip = store.need_tip(store.wake()).unwrap();
                for run in 0..30 {
                    // The folder agents/memory vanishes with its last branch, under the feet of the others.
                    let name = branch(&format!("agents/memory/{writer}-{run}"));
                    for change in [RefChange::create(name.clone(), tip), RefChange::delete(name, tip)] {
                        let outcome = store.update_refs(&[change], "test").unwrap();
                        assert_eq!(outcome, RefOutcome::Done { left: vec![] });
                    }
                }
            });
        }
    });
    assert_eq!(sandbox.store().branches("agents/").unwrap(), []);
}

#[test]
fn revisions_and_rescues() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let tip = store.need_tip(store.wake()).unwrap();
    assert_eq!(store.resolve("wake").unwrap(), Some(tip));
    assert_eq!(store.resolve("wake~1").unwrap(), None);
    assert_eq!(store.resolve("no such thing").unwrap(), None);
    let lost = commit_on(&store, tip, vec![write("a", "1")]);
    store.rescue(lost).unwrap();
    store.rescue(lost).unwrap();
    assert_eq!(store.rescued().unwrap(), [lost]);
    git(&sandbox.path(), &["gc", "-q", "--prune=now"]);
    assert_eq!(store.commit(lost).unwrap().id, lost);
}

#[test]
fn a_branch_moves_as_git_moves_it() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let wake = store.wake().clone();
    let mut old = store.need_tip(&wake).unwrap();
    let mut step = |text: &str| {
        let new = commit_on(&store, old, vec![write("a", text)]);
        let moved = store.update_refs(&[RefChange::advance(wake.clone(), old, new)], "test:\n twice").unwrap();
        assert_eq!(moved, RefOutcome::Done { left: vec![] });
        assert_eq!(sandbox.git(&["rev-parse", "wake"]).trim(), new.to_string());
        old = new;
    };
    step("1");
    // As a file, packed, and packed with an empty folder in its place.
    sandbox.git(&["pack-refs", "--all"]);
    step("2");
    sandbox.git(&["pack-refs", "--all"]);
    std::fs::create_dir_all(sandbox.path().join(".git/refs/heads/wake/empty")).unwrap();
    step("3");
    let log = sandbox.git(&["reflog", "show", "--format=%H %gs %gn", "wake"]);
    assert!(log.starts_with(&format!("{old} test:  twice Ann\n")), "{log}");
    assert_eq!(log.lines().filter(|line| line.contains("twice")).count(), 3, "{log}");
    // Checked out, HEAD has a log too.
    sandbox.git(&["checkout", "-q", "wake"]);
    let new = commit_on(&store, old, vec![write("a", "4")]);
    let _ = store.update_refs(&[RefChange::advance(wake.clone(), old, new)], "checked out").unwrap();
    assert!(sandbox.git(&["reflog", "-1", "--format=%gs", "HEAD"]).contains("checked out"));
    // A lock of somebody else's is waited for, and stays.
    sandbox.git(&["checkout", "-q", "main"]);
    let lock = sandbox.path().join(".git/refs/heads/wake.lock");
    std::fs::write(&lock, "").unwrap();
    let newer = commit_on(&store, new, vec![write("a", "5")]);
    let error = store.advance(&wake, new, newer, "test").err().expect("locked");
    assert_eq!(error.code(), ErrorCode::Locked);
    assert!(lock.exists());
    std::fs::remove_file(&lock).unwrap();
    assert!(matches!(store.advance(&wake, old, newer, "test"), Ok(Some(Step::Found(Some(found)))) if found == new));
    assert!(!lock.exists(), "a lost race leaves no lock");
    sandbox.fsck();
}

#[test]
fn reflog_of_wake_is_bounded_and_those_of_others_are_peoples() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (wake, other) = (store.wake().clone(), branch("other"));
    let old = store.need_tip(&wake).unwrap();
    let _ = store.update_refs(&[RefChange::create(other.clone(), old)], "test").unwrap();
    let mut tips = [old, old];
    for n in 0..300 {
        for (name, tip) in [&wake, &other].into_iter().zip(&mut tips) {
            let new = commit_on(&store, *tip, vec![write("a", &n.to_string())]);
            let _ = store.update_refs(&[RefChange::advance(name.clone(), *tip, new)], "test").unwrap();
            *tip = new;
        }
    }
    let log = |name: &str| std::fs::read_to_string(sandbox.path().join(".git/logs/refs/heads").join(name)).unwrap();
    let (own, theirs) = (log("wake"), log("other"));
    assert!((own.len() as u64) <= limits::WAKE_REFLOG_BYTES, "{} bytes", own.len());
    assert!(own.lines().count() > 30 && own.lines().all(|line| line.len() > 82), "whole lines:\n{own}");
    assert!(own.lines().last().unwrap().contains(&tips[0].to_string()));
    assert_eq!(theirs.lines().count(), 301);
    sandbox.fsck();
}

#[test]
fn lost_races_have_an_end() {
    assert_eq!(pauses().build().count(), limits::REF_RETRIES);
    let mut races = Races { branch: branch("wake"), pauses: pauses().with_max_times(1).build() };
    races.lost().unwrap();
    let error = races.lost().unwrap_err();
    assert!(matches!(&error, StoreError::Busy { what, .. } if what.starts_with("wake, ")), "{error}");
}

#[test]
fn a_branch_that_may_have_moved_is_followed_once_that_is_known() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.main()).unwrap();
    let new = commit_on(&store, old, vec![write("brain.toml", "# other\n")]);
    // A disk that does not say what the branch is.
    let path = sandbox.path().join(".git/refs/heads/main");
    std::fs::write(&path, "?").unwrap();
    assert!(store.update_refs(&[RefChange::advance(store.main().clone(), old, new)], "test").is_err());
    std::fs::write(&path, format!("{new}\n")).unwrap();
    drop(store.lock(LockName::Trunk).unwrap());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}
