//! Machines and processes that write and sync at once: everybody comes in, and nothing that was acknowledged is lost.

use crate::machines::World;
use crate::sandbox::{adjust, create};
use serde_json::{Value, json};

#[test]
fn machines_that_sync_at_once_take_turns() {
    let world = World::gated();
    let names = ["a", "b", "c"];
    names[1..].iter().for_each(|name| world.clone(name));
    const ROUNDS: usize = 4;
    std::thread::scope(|scope| {
        for (index, name) in names.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let by = adjust("x", "y", "feeds_into", 1 + index as i64);
                    world.apply(name, json!([by, create(&format!("{name}{round}"))]));
                    world.sync(name);
                }
            });
        }
    });
    names.iter().for_each(|name| drop(world.sync(name)));
    names.iter().for_each(|name| drop(world.sync(name)));
    world.same(&names);
    assert_eq!(world.weight("a"), 20000 + (ROUNDS as u64) * 6);
}

#[test]
fn sixteen_writers_on_each_of_two_machines_through_one_gate() {
    let world = World::gated();
    world.clone("b");
    const WRITERS: usize = 16;
    const ROUNDS: usize = 3;
    let writing = std::sync::atomic::AtomicUsize::new(2 * WRITERS);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let (world, writing) = (&world, &writing);
        let mut writers = Vec::new();
        for (machine, name) in ["a", "b"].into_iter().enumerate() {
            for writer in 0..WRITERS {
                writers.push(scope.spawn(move || {
                    let by = (machine * WRITERS + writer) as i64 + 1;
                    let write = |_| world.apply(name, json!([adjust("x", "y", "feeds_into", by)]));
                    let answers: Vec<Value> = (0..ROUNDS).map(write).collect();
                    writing.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    answers
                }));
            }
            scope.spawn(move || {
                while writing.load(std::sync::atomic::Ordering::SeqCst) > 0 {
                    world.sync(name);
                }
            });
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    assert_eq!(answers.len(), 2 * WRITERS * ROUNDS);
    let sum: u64 = (1..=2 * WRITERS as u64).sum::<u64>() * ROUNDS as u64;
    for name in ["a", "b"] {
        assert_eq!(world.weight(name), 20000 + sum);
        let reachable = world.git(name, &["rev-list", "wake"]);
        let lost: Vec<&Value> =
            answers.iter().filter(|answer| !reachable.contains(answer["commit"].as_str().unwrap())).collect();
        assert!(lost.is_empty(), "{lost:?}");
        let recorded = world.git(name, &["ls-tree", "-r", "--name-only", "wake", "network/runs"]);
        assert!(answers.iter().all(|answer| recorded.contains(answer["run"].as_str().unwrap())));
    }
}
