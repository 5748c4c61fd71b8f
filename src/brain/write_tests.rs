use super::*;
use crate::brain::{InitRequest, Override, World};
use crate::cycle::budget::Payer;
use crate::model::Stamp;
use crate::model::ids::RunId;
use crate::store::{Author, Batch, CommitId, CommitSpec, LockName, RefChange, RefOutcome, Store, TreeEdit};

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("brain");
        Brain::init(&InitRequest { dir, in_repo: false, program: "git-brain".into() }, world("init")).unwrap();
        Self { folder }
    }

    /// The brain as a process of its own has it.
    fn brain(&self, seed: &str) -> Brain {
        Brain::open(&self.folder.path().join("brain"), world(seed), &[]).unwrap()
    }

    /// A run that is nowhere yet: a commit on `parent` that changes a file.
    fn run(&self, store: &Store, parent: CommitId, tree: TreeId, path: &str) -> (RunId, CommitId, Batch) {
        let run = RunId::parse("20260126t143159000z-abcd2345-memory").unwrap();
        let writer = store.writer().unwrap();
        let commit = writer.commit(&CommitSpec {
            tree: writer.edit(Some(tree), vec![TreeEdit::new(path, Some(b"{}\n".to_vec()))]).unwrap(),
            parents: vec![parent],
            author: Author::User,
            at: 1_769_437_920,
            subject: "a run".into(),
            body: String::new(),
            trailers: vec![("Run".into(), run.to_string())],
        });
        (run, commit.unwrap(), writer.take())
    }
}

fn world(seed: &str) -> World {
    World::fixed("2026-01-26T14:32:00Z".parse::<Stamp>().unwrap(), seed)
}

fn create(id: &str) -> Source {
    Source::Text(format!(r#"{{"ops": [{{"op": "create", "id": "{id}", "concept": "{id}", "type": "semantic"}}]}}"#))
}

#[test]
fn a_run_that_a_killed_process_merged_is_not_merged_again() {
    let scene = Scene::new();
    let killed = scene.brain("killed");
    let store = &killed.cycle.store;
    let trunk = store.lock(LockName::Trunk).unwrap();
    let answer = std::thread::scope(|scope| {
        let waits = scope.spawn(|| scene.brain("waits").apply(&create("tea"), None, false, false).unwrap());
        let taken = loop {
            if let Some(taken) = store.take_waiting(&[]).unwrap().pop() {
                break taken;
            }
            std::thread::yield_now();
        };
        // It is merged, and whoever did it is killed before anything else: no answer, and the file is there.
        let writer = store.writer().unwrap();
        writer.add_batch(&taken.batch);
        writer.publish().unwrap();
        let tip = store.need_tip(store.wake()).unwrap();
        let moved = store.update_refs(&[RefChange::advance(store.wake().clone(), tip, taken.commit)], "test").unwrap();
        assert_eq!(moved, RefOutcome::Done { left: Vec::new() });
        drop((taken, trunk));
        waits.join().unwrap()
    });
    assert!(answer.merged);
    let tip = store.need_tip(store.wake()).unwrap();
    assert_eq!(answer.commit, Some(tip.to_string()), "and wake has not moved again");
    assert_eq!(std::fs::read_dir(store.private_dir().join("waiting")).unwrap().count(), 0);
}

#[test]
fn a_run_that_is_refused_hurts_no_other() {
    let scene = Scene::new();
    let (mine, theirs) = (scene.brain("mine"), scene.brain("theirs"));
    let store = &theirs.cycle.store;
    let tip = store.need_tip(store.wake()).unwrap();
    let (run, commit, batch) = scene.run(store, tip, store.tree_of(tip).unwrap(), "brain.toml");
    let mut waiting = store.hand_over(&run, commit, &batch).unwrap().unwrap();
    let answer = mine.apply(&create("tea"), None, false, false).unwrap();
    assert!(answer.merged);
    let told = String::from_utf8(waiting.answer().unwrap()).unwrap();
    assert!(told.contains("brain.toml, outside network/"), "{told}");
    // It is on its branch, where a person can look at it, and not in wake.
    let branch = crate::cycle::commit::branch_of(store.wake(), &run).unwrap();
    assert_eq!(store.tip(&branch).unwrap(), Some(commit));
    assert!(!store.is_ancestor(commit, store.need_tip(store.wake()).unwrap()).unwrap());
}

#[test]
fn a_run_that_cannot_be_read_is_left_to_its_submitter() {
    let scene = Scene::new();
    let (mine, theirs) = (scene.brain("mine"), scene.brain("theirs"));
    let store = &theirs.cycle.store;
    let tip = store.need_tip(store.wake()).unwrap();
    let nowhere = CommitId::parse(&"1".repeat(40)).unwrap();
    let (run, commit, batch) = scene.run(store, nowhere, store.tree_of(tip).unwrap(), "network/a");
    let mut waiting = store.hand_over(&run, commit, &batch).unwrap().unwrap();
    let answer = mine.apply(&create("tea"), None, false, false).unwrap();
    assert!(answer.merged);
    assert_eq!(waiting.answer(), None);
    // Nothing of it was written either.
    assert!(mine.cycle.store.commit(commit).is_err());
}

#[test]
fn what_another_process_has_reserved_cannot_be_reserved_again() {
    let scene = Scene::new();
    let bound = Override { place: "-c".into(), key: "budget.tokens_per_day".into(), value: "1500".into() };
    let open =
        |seed| Brain::open(&scene.folder.path().join("brain"), world(seed), std::slice::from_ref(&bound)).unwrap();
    let (one, two) = (open("one"), open("two"));
    let cost = crate::model::spending::Cost { turns: 1, tokens: 1000, micros: 0 };
    let payer = |name| Payer::new(&AgentName::parse(name).unwrap(), &[]);
    let reserve = |brain: &Brain, name| brain.cycle.shared.reserve(&payer(name), cost).unwrap();
    // Neither has settled anything: all that the second one can see is what the first one has reserved.
    let held = reserve(&one, "echo").unwrap();
    for name in ["echo", "other"] {
        assert_eq!(reserve(&two, name).unwrap_err().bound, "budget.tokens_per_day");
    }
    one.cycle.shared.release(held).unwrap();
    let held = reserve(&two, "other").unwrap();
    assert!(reserve(&one, "echo").is_err());
    two.cycle.shared.settle(held, None).unwrap();
    assert!(reserve(&one, "echo").is_err(), "it is spent");
    let left = one.cycle.shared.budget_left().unwrap();
    assert_eq!(left.iter().find(|left| left.bound == "budget.tokens_per_day").map(|left| left.spent), Some(1000));
}
