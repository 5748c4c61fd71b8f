//! Two machines that correct one memory before they meet: of the two corrections the later stays, everywhere.

use crate::machines::World;

/// The texts that a machine recalls.
fn recalls(world: &World, name: &str, question: &str) -> Vec<String> {
    let found = world.json(name, &["recall", question]);
    let texts = found["results"].as_array().unwrap().iter();
    texts.map(|one| one["text"].as_str().unwrap().to_owned()).filter(|text| text.contains("cache host")).collect()
}

fn met(world: &World) {
    world.brain("a", &["feed", "The cache host is redis3."]);
    world.sync("a");
    world.clone("b");
}

fn id(world: &World) -> String {
    world.json("a", &["recall", "cache host"])["results"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn later_of_two_corrections_stays_on_every_machine() {
    let world = World::new();
    met(&world);
    let old = id(&world);
    world.brain("a", &["feed", "--corrects", &old, "The cache host is redis5.", "--at", "2026-01-03T10:00:00Z"]);
    world.brain("b", &["feed", "--corrects", &old, "The cache host is redis4.", "--at", "2026-01-02T10:00:00Z"]);
    world.sync("a");
    let synced = world.sync("b");
    assert!(synced["notes"].to_string().contains("corrected one memory"), "{synced}");
    world.sync("a");
    for name in ["a", "b"] {
        assert_eq!(recalls(&world, name, "cache host"), ["The cache host is redis5."], "{name}");
        let again = world.sync(name);
        assert!(!again["notes"].to_string().contains("corrected one memory"), "{again}");
    }
    world.same(&["a", "b"]);
}

#[test]
fn chain_of_corrections_meets_a_correction_of_its_beginning() {
    let world = World::new();
    met(&world);
    let old = id(&world);
    world.brain("a", &["feed", "--corrects", &old, "The cache host is redis5.", "--at", "2026-01-02T10:00:00Z"]);
    world.brain("b", &["feed", "--corrects", &old, "The cache host is redis4.", "--at", "2026-01-01T10:00:00Z"]);
    let four = world.json("b", &["recall", "cache host"])["results"][0]["id"].as_str().unwrap().to_owned();
    world.brain("b", &["feed", "--corrects", &four, "The cache host is redis6.", "--at", "2026-01-03T10:00:00Z"]);
    world.sync("b");
    world.sync("a");
    world.sync("b");
    for name in ["a", "b"] {
        assert_eq!(recalls(&world, name, "cache host"), ["The cache host is redis6."], "{name}");
    }
    world.same(&["a", "b"]);
}

#[test]
fn correction_that_is_trusted_less_overtakes_nothing() {
    let world = World::new();
    met(&world);
    let old = id(&world);
    world.brain("a", &["feed", "--corrects", &old, "The cache host is redis5.", "--at", "2026-01-02T10:00:00Z"]);
    world.sync("a");
    world.try_brain("b", &["feed", "--origin", "mcp:x", "--corrects", &old, "The cache host is evil."]).exits(3);
    world.sync("b");
    assert_eq!(recalls(&world, "b", "cache host"), ["The cache host is redis5."]);
}
