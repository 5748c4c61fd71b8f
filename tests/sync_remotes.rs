//! Clones that sync with two remotes come to rest: once nobody writes, a few rounds end with one wake everywhere and no commit more.

use crate::admission_signed::signing;
use crate::machines::World;
use crate::review_second::{as_person, run_of, world};
use crate::sandbox::create;
use serde_json::json;

const REMOTES: [&str; 2] = ["origin", "second"];

/// A second remote with a gate, known to all machines, which have what `a` has.
fn with_second(world: &World, machines: &[&str]) {
    world.brain(".", &["init", "--bare", "second.git"]);
    std::fs::remove_file(world.dir("second.git/hooks/post-receive")).unwrap();
    for name in machines {
        world.git(name, &["remote", "add", "second", "../second.git"]);
    }
}

fn sync(world: &World, name: &str, remote: &str) -> String {
    world.brain(name, &["sync", remote])
}

/// Machines that write at both remotes and meet at none: `b` has what the second remote has, and more.
fn crossed(world: &World, write: &dyn Fn(&str, &str)) {
    sync(world, "a", "second");
    sync(world, "b", "second");
    sync(world, "c", "origin");
    write("c", "zq1");
    sync(world, "c", "origin");
    sync(world, "a", "origin");
    write("b", "zq2");
    sync(world, "b", "second");
    write("b", "zq3");
}

/// Syncs of `a` and `b` in turn, without another command: the last of four rounds has nothing to do, and all have one tip.
fn comes_to_rest(world: &World, refs: &[&str]) {
    let mut said = Vec::new();
    for _ in 0..4 {
        said = ["a", "b"].iter().flat_map(|name| REMOTES.map(|remote| sync(world, name, remote))).collect();
    }
    for line in &said {
        assert!(line.contains("nothing new here or there"), "{said:#?}");
    }
    for name in refs {
        let tips: Vec<String> =
            ["a", "b", "remote.git", "second.git"].iter().map(|place| world.tip(place, name)).collect();
        assert!(tips.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {tips:?}");
    }
    for name in ["a", "b"] {
        world.brain(name, &["check"]);
        world.git(name, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }
}

#[test]
fn two_remotes_come_to_rest() {
    let world = World::gated();
    ["b", "c"].iter().for_each(|name| world.clone(name));
    with_second(&world, &["a", "b", "c"]);
    crossed(&world, &|name, id| drop(as_person(&world, name, name, &["feed", &format!("{id} the violin")]).exits(0)));
    comes_to_rest(&world, &["wake", "main"]);
    world.brain("a", &["audit"]);
}

#[test]
fn three_machines_with_nights_at_two_remotes_come_to_rest() {
    let world = World::gated();
    let names = ["a", "b", "c"];
    names[1..].iter().for_each(|name| world.clone(name));
    with_second(&world, &names);
    names.iter().for_each(|name| drop(sync(&world, name, "second")));
    for (name, remote, words) in [("a", "origin", "the violin is in Kyoto"), ("b", "second", "the ledger is in Oslo")] {
        world.brain(name, &["feed", words]);
        world.slept(name);
        sync(&world, name, remote);
    }
    world.brain("c", &["feed", "the bridge is cold"]);
    let round =
        || -> Vec<String> { names.iter().flat_map(|name| REMOTES.map(|remote| sync(&world, name, remote))).collect() };
    let rest = || {
        let mut said = Vec::new();
        for _ in 0..5 {
            said = round();
        }
        said
    };
    let first = round().concat();
    assert!(first.contains("have nights of their own"), "{first}");
    let said = rest();
    assert!(said.iter().all(|line| line.contains("nothing new here or there")), "{said:#?}");
    let tips: Vec<String> = ["a", "b", "c", "remote.git", "second.git"].map(|place| world.tip(place, "wake")).to_vec();
    assert!(tips.windows(2).all(|pair| pair[0] == pair[1]), "{tips:?}");
    // The next night goes to the remote whose main is here, and to wake everywhere.
    world.brain("a", &["feed", "the harp is in Bergen"]);
    world.slept("a");
    let said = rest();
    assert!(said.iter().all(|line| line.contains("nothing new here or there")), "{said:#?}");
    assert_eq!(world.tip("c", "main"), world.tip("remote.git", "main"));
    names.iter().for_each(|name| drop(world.brain(name, &["check"])));
}

#[test]
fn decisions_at_two_remotes_come_to_rest() {
    let world = world(World::gated(), "");
    let waiting: Vec<String> =
        ["zq1", "zq2", "zq3"].map(|id| world.waiting("a", "scribe", json!([create(id)])).0).to_vec();
    world.sync("a");
    ["b", "c"].iter().for_each(|name| world.clone(name));
    with_second(&world, &["a", "b", "c"]);
    crossed(&world, &|name, id| {
        let at = id[2..].parse::<usize>().unwrap() - 1;
        as_person(&world, name, name, &["approve", run_of(&waiting[at])]).exits(0);
    });
    comes_to_rest(&world, &["wake", "refs/brain/reviews"]);
}

#[test]
fn signed_machines_with_keys_of_their_own_come_to_rest() {
    let Some(world) = signing() else { return };
    world.sync("a");
    let ben = world.sandbox.path("ben");
    let made = world.sandbox.command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &ben]).status().unwrap();
    assert!(made.success());
    let mut allowed = std::fs::read_to_string(world.sandbox.path("allowed")).unwrap();
    allowed.push_str(&format!("ben@example.invalid {}", std::fs::read_to_string(format!("{ben}.pub")).unwrap()));
    std::fs::write(world.sandbox.path("allowed"), allowed).unwrap();
    with_second(&world, &["a"]);
    let settings = world.git("a", &["config", "--get-regexp", "^brain\\.(sign|agentkeys|allowed|require|signedsince)"]);
    let configure = |name: &str| {
        for (key, value) in settings.lines().filter_map(|line| line.split_once(' ')) {
            world.git(name, &["config", key, value]);
        }
    };
    configure("second.git");
    for (name, person) in [("b", "ben"), ("c", "ann")] {
        world.clone(name);
        world.git(name, &["remote", "add", "second", "../second.git"]);
        configure(name);
        world.git(name, &["config", "brain.signingKey", &world.sandbox.path(person)]);
    }
    let person = |name: &str| if name == "b" { "ben" } else { "ann" };
    let run = |name: &str, args: &[&str]| as_person(&world, name, person(name), args).exits(0).out;
    let create = |name: &str, id: &str| {
        let file = world.sandbox.file(id, crate::sandbox::delta(json!([create(id)])).to_string());
        run(name, &["apply", &file]);
    };
    for (name, remote, id) in
        [("a", "second", ""), ("b", "second", ""), ("c", "origin", "zq1"), ("a", "origin", ""), ("b", "second", "zq2")]
    {
        if !id.is_empty() {
            create(name, id);
        }
        run(name, &["sync", remote]);
    }
    create("b", "zq3");
    let mut said = Vec::new();
    for _ in 0..4 {
        said = ["a", "b"].iter().flat_map(|name| REMOTES.map(|remote| run(name, &["sync", remote]))).collect();
    }
    assert!(said.iter().all(|line| line.contains("nothing new here or there")), "{said:#?}");
    let seams = world.git("a", &["log", "--format=%an <%ae> %G?", "--grep=^seam: ", "wake"]);
    assert!(seams.starts_with("git-brain <git-brain@git-brain.invalid> N"), "{seams}");
    world.brain("a", &["check"]);
    // One byte more, and it needs a signature as any merge.
    let seam = world.git("a", &["log", "-1", "--format=%H", "--grep=^seam: ", "wake"]);
    let text = world.git("a", &["cat-file", "commit", &seam]);
    let forged =
        world.git("a", &["hash-object", "-t", "commit", "-w", &world.sandbox.file("forged", text + "\n\nmore\n")]);
    let said = world.try_brain("a", &["check", &forged]).exits(1);
    assert!((said.out.clone() + &said.err).contains("is not signed"), "{said}");
}
