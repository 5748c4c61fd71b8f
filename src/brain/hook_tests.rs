use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::brain::{InitRequest, World};
use crate::cycle::doorbell::{Rung, mark};
use crate::model::ids::StimulusId;
use crate::model::{Origin, Stimulus};

struct Folder(tempfile::TempDir);

impl Folder {
    fn brain() -> (Self, Brain) {
        let folder = Self(tempfile::tempdir().unwrap());
        let now: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let request = InitRequest { dir: folder.path(), in_repo: false, program: "git-brain".into() };
        let (brain, _) = Brain::init(&request, World::fixed(now, "s")).unwrap();
        Brain::checkout(&folder.path(), &[], false).unwrap();
        // Not by `install_hooks`: that asks git, which may know another hooks folder on this machine.
        for (branch, tip) in belled(&brain.cycle.store).unwrap() {
            doorbell::set_mark(&brain.cycle.store, &branch, tip).unwrap();
        }
        (folder, brain)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("brain")
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        for name in crate::store::LOCAL_VARIABLES {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.0.path());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ann").env(format!("GIT_{role}_EMAIL"), "ann@example.invalid");
        }
        let ended = command.current_dir(self.path()).args(arguments).output().unwrap();
        assert!(ended.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    }

    fn commit(&self, path: &str, text: &str, message: &str) {
        let file = self.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }
}

fn ring(brain: &Brain) -> Rung {
    let store = &brain.cycle.store;
    let rung = brain.cycle.ring(store.main()).unwrap();
    assert_eq!(mark(store, store.main()), store.tip(store.main()).unwrap());
    rung
}

fn wake_has(brain: &Brain, path: &str) -> bool {
    let store = &brain.cycle.store;
    let tree = store.tree_of(store.need_tip(store.wake()).unwrap()).unwrap();
    store.file(tree, path).unwrap().is_some()
}

fn stimulus(name: &str) -> (String, String, StimulusId) {
    let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
    let id = StimulusId::parse(name).unwrap();
    let text = "Alice drinks tea.".to_owned();
    let origin = Origin::local();
    let (answers, value, supersedes) = Default::default();
    let stimulus = Stimulus {
        id: id.clone(),
        at,
        text,
        source: None,
        session: None,
        origin,
        answers,
        value,
        supersedes,
        order: 0,
        code: None,
    };
    (layout::stimulus(&id, at), String::from_utf8(stimulus.encode()).unwrap(), id)
}

#[test]
fn people_s_other_files_wake_nobody() {
    let (folder, brain) = Folder::brain();
    assert_eq!(ring(&brain), Rung::default());
    folder.commit("README.md", "mine\n", "mine");
    assert_eq!(ring(&brain), Rung::default());
}

#[test]
fn a_change_of_main_comes_into_wake_once() {
    let (folder, brain) = Folder::brain();
    folder.commit("network/goals/g.json", "{\"run\": null}\n", "a goal");
    let rung = ring(&brain);
    assert!(rung.wakes && rung.merged.is_some() && rung.notes.is_empty(), "{rung:?}");
    assert!(wake_has(&brain, "network/goals/g.json"));
    assert_eq!(ring(&brain), Rung::default());
}

#[test]
fn a_stimulus_is_queued_unless_it_waits_or_is_remembered() {
    let (folder, brain) = Folder::brain();
    let (path, text, id) = stimulus("s1");
    folder.commit(&path, &text, "a stimulus");
    assert_eq!(ring(&brain).queued, std::slice::from_ref(&id));
    assert!(wake_has(&brain, &layout::queue_entry(&id)));
    let store = &brain.cycle.store;
    // Looking again from the beginning, as after a lost mark: it waits, then it is remembered.
    let first = store.first_parents(store.need_tip(store.main()).unwrap(), None).last().unwrap().unwrap().id;
    doorbell::set_mark(store, store.main(), first).unwrap();
    assert_eq!(ring(&brain).queued, []);
    brain.run(&RunBounds::default(), &mut |_| {}).unwrap();
    assert!(!wake_has(&brain, &layout::queue_entry(&id)));
    doorbell::set_mark(store, store.main(), first).unwrap();
    assert_eq!(ring(&brain).queued, []);
    assert!(!wake_has(&brain, &layout::queue_entry(&id)));
}

#[test]
fn only_a_commit_that_brings_its_run_s_record_is_the_engine_s_own() {
    let (folder, brain) = Folder::brain();
    let run = folder.git(&["log", "-1", "--format=%(trailers:key=Run,valueonly)", "wake"]);
    // Runs and their merges on main: each brings its record along.
    folder.git(&["merge", "-q", "--ff-only", "wake"]);
    assert!(!ring(&brain).wakes);
    let forged = format!("forged\n\nRun: {}", run.trim());
    folder.commit("network/goals/g.json", "{\"run\": null}\n", &forged);
    assert!(ring(&brain).wakes, "a trailer alone proves nothing");
}

#[test]
fn a_rewritten_branch_is_looked_at_from_where_it_parted() {
    let (folder, brain) = Folder::brain();
    folder.commit("network/goals/g.json", "{\"run\": null}\n", "a goal");
    ring(&brain);
    let (path, text, id) = stimulus("s1");
    folder.git(&["reset", "-q", "--hard", "HEAD^"]);
    folder.commit(&path, &text, "another history");
    let rung = ring(&brain);
    assert_eq!((rung.wakes, rung.queued), (true, vec![id]));
}

#[test]
fn doctor_merges_what_waits_and_empties_the_queue_of_what_is_remembered() {
    let (folder, brain) = Folder::brain();
    let (path, text, id) = stimulus("s1");
    folder.commit(&path, &text, "a stimulus");
    ring(&brain);
    brain.run(&RunBounds::default(), &mut |_| {}).unwrap();
    // Somebody puts the entry back.
    folder.git(&["checkout", "-q", "wake"]);
    folder.commit(&layout::queue_entry(&id), &format!("{path}\n"), "again");
    let world = || brain.cycle.shared.world.clone();
    let visit = |dry_run| Brain::doctor(&folder.path(), world(), &[], "git-brain", dry_run).unwrap();
    let states = |dry_run| {
        let found = visit(dry_run).findings;
        let queue: Vec<_> = found.iter().filter(|f| f.what == "queue").map(|f| f.state).collect();
        queue
    };
    use crate::brain::Health::{Ok, Repaired};
    assert_eq!(states(true), [Ok, Repaired]);
    assert!(wake_has(&brain, &layout::queue_entry(&id)), "a dry run changes nothing");
    assert_eq!(states(false), [Ok, Repaired]);
    assert_eq!(states(false), [Ok]);
    assert!(!wake_has(&brain, &layout::queue_entry(&id)));
}

#[test]
fn doctor_makes_up_for_a_bell_that_did_not_ring() {
    let (folder, brain) = Folder::brain();
    let (path, text, id) = stimulus("s1");
    folder.commit(&path, &text, "a stimulus");
    let world = brain.cycle.shared.world.clone();
    Brain::doctor(&folder.path(), world, &[], "git-brain", false).unwrap();
    assert!(wake_has(&brain, &layout::queue_entry(&id)));
    assert_eq!(ring(&brain), Rung::default());
}
