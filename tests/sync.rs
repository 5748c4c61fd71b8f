//! Many machines over one remote: real git, bare remotes in folders, the real clock.

mod sandbox;

use std::path::PathBuf;

use sandbox::{Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

/// A bare remote and the machines that sync with it.
struct World {
    sandbox: Sandbox,
}

impl World {
    /// A brain `a` with its first neurons, at a bare remote without a gate.
    fn new() -> Self {
        let world = Self { sandbox: Sandbox::empty() };
        world.git(".", &["init", "-q", "--bare", "-b", "main", "remote.git"]);
        world.first();
        world
    }

    fn first(&self) {
        self.brain(".", &["init", "--no-hooks", "a"]);
        self.git("a", &["remote", "add", "origin", "../remote.git"]);
        self.apply("a", json!([create("x"), create("y"), connect("x", "y", "feeds_into", 20000)]));
        self.sync("a");
    }

    /// One more machine.
    fn clone(&self, name: &str) {
        self.git(".", &["clone", "-q", "remote.git", name]);
        self.git(name, &["config", "--replace-all", "remote.origin.url", "../remote.git"]);
        let made = self.json(name, &["init", "--no-hooks"]);
        assert_eq!(made["adopted"], true, "{made}");
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.sandbox.dir().join(name)
    }

    fn git(&self, name: &str, args: &[&str]) -> String {
        let dir = self.dir(name).display().to_string();
        self.sandbox.git(&[&["-C", dir.as_str()], args].concat())
    }

    /// Runs git, which must fail; what it said.
    fn git_fails(&self, name: &str, args: &[&str]) -> String {
        let dir = self.dir(name);
        let ended = self.sandbox.command("git", args).current_dir(dir).output().unwrap();
        assert!(!ended.status.success(), "git {args:?} succeeded");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    fn try_brain(&self, name: &str, args: &[&str]) -> sandbox::Answer {
        let dir = self.dir(name).display().to_string();
        self.sandbox.brain(&[&["-C", dir.as_str()], args].concat())
    }

    fn brain(&self, name: &str, args: &[&str]) -> String {
        self.try_brain(name, args).exits(0).out
    }

    fn json(&self, name: &str, args: &[&str]) -> Value {
        self.try_brain(name, &[&["--json"], args].concat()).exits(0).document()
    }

    fn sync(&self, name: &str) -> Value {
        self.json(name, &["sync"])
    }

    fn refused(&self, name: &str) -> String {
        let answer = self.try_brain(name, &["--json", "sync"]).exits(3);
        answer.error()["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn try_apply(&self, name: &str, ops: Value) -> sandbox::Answer {
        let dir = self.dir(name).display().to_string();
        self.sandbox.brain_with(&["-C", &dir, "--json", "apply", "-"], delta(ops).to_string().as_bytes())
    }

    fn apply(&self, name: &str, ops: Value) -> Value {
        self.try_apply(name, ops).exits(0).document()
    }

    fn tip(&self, name: &str, revision: &str) -> String {
        self.git(name, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
    }

    fn refs(&self, name: &str) -> String {
        self.git(name, &["for-each-ref", "--format=%(refname) %(objectname)"])
    }

    fn neuron(&self, name: &str, revision: &str, id: &str) -> Value {
        let paths = self.git(name, &["ls-tree", "-r", "--name-only", revision, "network/neurons"]);
        let path = paths.lines().find(|path| path.ends_with(&format!("/{id}.json")));
        let path = path.unwrap_or_else(|| panic!("{revision} of {name} has no {id}"));
        serde_json::from_str(&self.git(name, &["show", &format!("{revision}:{path}")])).unwrap()
    }

    fn weight(&self, name: &str) -> u64 {
        sandbox::weight(&self.neuron(name, "wake", "x"), "y", "feeds_into").unwrap()
    }

    /// Both machines and the remote have the same main and wake, which are in good order.
    #[track_caller]
    fn same(&self, names: &[&str]) {
        for branch in ["main", "wake"] {
            let tips: Vec<String> = names.iter().chain(&["remote.git"]).map(|name| self.tip(name, branch)).collect();
            assert!(tips.windows(2).all(|pair| pair[0] == pair[1]), "{branch}: {tips:?}");
        }
        for name in names {
            self.brain(name, &["check"]);
            self.brain(name, &["check", "main"]);
            self.git(name, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
        }
    }

    fn write(&self, name: &str, path: &str, text: &str) {
        let path = self.dir(name).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str, path: &str) -> String {
        std::fs::read_to_string(self.dir(name).join(path)).unwrap()
    }

    fn slept(&self, name: &str) -> String {
        let slept = self.json(name, &["sleep"]);
        assert_eq!(slept["state"], "slept", "{slept}");
        slept["main"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_clone_becomes_a_brain_and_both_write() {
    let world = World::new();
    world.clone("b");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("of-a")]));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 30), create("of-b")]));
    let dry = world.json("b", &["sync", "--dry-run"]);
    assert_eq!((&dry["dry_run"], &dry["pushed"]), (&json!(true), &json!([])));
    world.sync("a");
    let report = world.sync("b");
    assert_eq!(report["races"], 0, "{report}");
    world.sync("a");
    world.same(&["a", "b"]);
    for name in ["a", "b"] {
        assert_eq!(world.weight(name), 20130);
        assert_eq!(world.neuron(name, "wake", "of-a")["id"], "of-a");
        assert_eq!(world.neuron(name, "wake", "of-b")["id"], "of-b");
    }
    // Again: nothing moves.
    let before = (world.refs("a"), world.refs("remote.git"));
    let report = world.sync("a");
    assert_eq!((&report["fetched"], &report["pushed"]), (&json!(0), &json!([])));
    assert_eq!((world.refs("a"), world.refs("remote.git")), before);
}

#[test]
fn two_machines_that_both_slept_become_one_again() {
    let world = World::new();
    world.clone("b");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("of-a")]));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 30), create("of-b")]));
    let (of_a, of_b) = (world.slept("a"), world.slept("b"));
    world.sync("a");
    let report = world.sync("b");
    assert_eq!(report["rescued"], json!(of_b));
    assert_eq!(world.tip("b", "main"), of_a);
    assert_eq!(world.tip("b", &format!("refs/git-brain/rescue/{of_b}")), of_b);
    world.sync("a");
    world.same(&["a", "b"]);
    assert!(world.weight("a") >= 20130);
    assert_eq!(world.git("a", &["merge-base", "main", "wake"]), of_a);
    world.git("a", &["merge-base", "--is-ancestor", &of_b, "wake"]);
    // The next sleep brings to main what the given up one had consolidated, and says so.
    let next = world.slept("b");
    let record = world.json("b", &["sleep", "--undo", "--dry-run"]);
    assert_eq!(record["commit"], json!(next));
    assert_eq!(world.neuron("b", "main", "of-b")["id"], "of-b");
    let learnt = world.git("b", &["show", "main", "--stat=300", "--format="]);
    assert!(learnt.contains("of-b"), "{learnt}");
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.json("a", &["sleep"])["state"], "quiet");
    world.brain("a", &["sleep", "--undo"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}
