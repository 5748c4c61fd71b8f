use super::*;
use crate::store::sandbox::{Sandbox, spec, write};

/// A commit on wake's tip that is not published, and its objects.
fn run_of(store: &Store, content: &str) -> (CommitId, Batch) {
    let parent = store.need_tip(store.wake()).unwrap();
    let writer = store.writer().unwrap();
    let tree = writer.edit(Some(store.tree_of(parent).unwrap()), vec![write("network/a", content)]).unwrap();
    let commit = writer.commit(&spec(tree, &[parent], content, &[])).unwrap();
    (commit, writer.take())
}

fn id(text: &str) -> RunId {
    RunId::parse(&format!("20260126t143200123z-abcd234{text}-memory")).unwrap()
}

fn files(store: &Store) -> Vec<String> {
    let folder = std::fs::read_dir(store.private_dir().join(FOLDER)).unwrap();
    let mut names: Vec<String> = folder.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_run_is_taken_whole_and_its_answer_comes_back() {
    let sandbox = Sandbox::brain();
    let (one, two, taker) = (sandbox.store(), sandbox.store(), sandbox.store());
    let ((first, first_batch), (second, second_batch)) = (run_of(&one, "tea"), run_of(&two, "coffee"));
    let mut later = two.hand_over(&id("3"), second, &second_batch).unwrap().unwrap();
    let mut sooner = one.hand_over(&id("2"), first, &first_batch).unwrap().unwrap();
    assert!(one.hand_over(&id("2"), first, &first_batch).unwrap().is_none(), "that run waits already");
    let mut taken = taker.take_waiting(&[]).unwrap();
    assert_eq!(
        taken.iter().map(|t| (t.run.clone(), t.commit)).collect::<Vec<_>>(),
        [(id("2"), first), (id("3"), second)]
    );
    assert_eq!(taken[0].batch.0, first_batch.0);
    assert_eq!((sooner.answer(), later.answer()), (None, None));
    assert!(!later.take_back(), "somebody is at it");
    taken.remove(0).answer(b"merged");
    assert_eq!((sooner.answer(), later.answer()), (Some(b"merged".to_vec()), None));
    // Whoever had it was killed in the midst of its answer.
    let half = taken.remove(0);
    (&half.file).seek(SeekFrom::Start(half.length)).unwrap();
    (&half.file).write_all(b"a long answer that was cut off").unwrap();
    drop(half);
    assert_eq!(later.answer(), None);
    taker.take_waiting(&[]).unwrap().remove(0).answer(b"already");
    assert_eq!(later.answer(), Some(b"already".to_vec()));
    assert_eq!(files(&taker), Vec::<String>::new());
}

#[test]
fn a_run_is_handed_over_also_while_somebody_takes_all_the_time() {
    let sandbox = Sandbox::brain();
    let (store, taker) = (sandbox.store(), sandbox.store());
    let (commit, batch) = run_of(&store, "tea");
    let done = std::sync::atomic::AtomicBool::new(false);
    let missed = std::thread::scope(|scope| {
        scope.spawn(|| {
            let taker = taker;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // Dropped without an answer, as by one that is killed.
                drop(taker.take_waiting(&[]).unwrap());
            }
        });
        let missed = (0..300).filter(|_| store.hand_over(&id("2"), commit, &batch).unwrap().is_none()).count();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        missed
    });
    assert_eq!(missed, 0);
}

#[test]
fn what_nobody_waits_for_is_removed_unread() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (commit, batch) = run_of(&store, "tea");
    let waiting = store.hand_over(&id("2"), commit, &batch).unwrap().unwrap();
    let folder = store.private_dir().join(FOLDER);
    let copy = std::fs::read(folder.join(id("2").as_str())).unwrap();
    for name in ["garbage", id("4").as_str(), &format!("{}.taken", id("5"))] {
        std::fs::write(folder.join(name), &copy).unwrap();
    }
    std::fs::create_dir(folder.join("a-folder")).unwrap();
    std::fs::write(folder.join(".tmpabc.new"), "under construction").unwrap();
    let taken = store.take_waiting(&[]).unwrap();
    assert_eq!(taken.iter().map(|t| &t.run).collect::<Vec<_>>(), [&id("2")]);
    drop(waiting);
    assert_eq!(files(&store), ["a-folder"], "and of a dead submitter nothing is left");
}

#[test]
fn a_run_that_was_taken_back_is_not_taken() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (commit, batch) = run_of(&store, "tea");
    let waiting = store.hand_over(&id("2"), commit, &batch).unwrap().unwrap();
    assert!(store.take_waiting(&[&id("2")]).unwrap().is_empty(), "one's own");
    assert!(waiting.take_back());
    assert!(store.take_waiting(&[]).unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_passed_over() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (commit, batch) = run_of(&store, "tea");
    let whole = encode(commit, &batch.0).unwrap();
    let (found, objects, length) = decode(&whole).unwrap();
    assert_eq!((found, &objects, length), (commit, &batch.0, whole.len() as u64));
    for cut in 0..whole.len() {
        assert!(decode(&whole[..cut]).is_none(), "cut at {cut}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert!(decode(&damaged).is_none(), "a bit at {at}");
    }
    let (other, _) = run_of(&store, "coffee");
    assert!(decode(&encode(other, &batch.0).unwrap()).is_none(), "its commit is not among its objects");
    // One whose submitter lives stays, and stops nobody.
    let torn = store.hand_over(&id("2"), commit, &batch).unwrap().unwrap();
    let good = store.hand_over(&id("3"), commit, &batch).unwrap().unwrap();
    torn.file.set_len(100).unwrap();
    assert_eq!(store.take_waiting(&[]).unwrap().iter().map(|t| &t.run).collect::<Vec<_>>(), [good_id()]);
    assert!(torn.take_back() && !good.take_back());

    fn good_id() -> &'static RunId {
        static ID: std::sync::OnceLock<RunId> = std::sync::OnceLock::new();
        ID.get_or_init(|| id("3"))
    }
}

#[test]
fn a_group_and_its_runs_have_bounds() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let (commit, batch) = run_of(&store, &"x".repeat(limits::WAITING_BYTES as usize));
    assert!(store.hand_over(&id("2"), commit, &batch).unwrap().is_none(), "it lands by itself");
    let (commit, batch) = run_of(&store, "tea");
    let agent = crate::model::AgentName::parse("memory").unwrap();
    let runs = (0..limits::GROUP_RUNS as i64 + 6).map(|n| RunId::new(1_769_437_920_000 + n, n as u64, &agent));
    let waiting: Vec<Waiting> = runs.map(|run| store.hand_over(&run, commit, &batch).unwrap().unwrap()).collect();
    let first = store.take_waiting(&[]).unwrap();
    assert_eq!(first.len(), limits::GROUP_RUNS);
    for waited in first {
        waited.answer(b"");
    }
    assert_eq!(store.take_waiting(&[]).unwrap().len(), 6, "the younger ones are next");
    drop(waiting);
    assert_eq!(files(&store), Vec::<String>::new());
}
