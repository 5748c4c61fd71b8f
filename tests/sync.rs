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

    /// Runs git: whether it succeeded, and what it said.
    fn git_try(&self, name: &str, args: &[&str]) -> (bool, String) {
        let dir = self.dir(name);
        let ended = self.sandbox.command("git", args).current_dir(dir).output().unwrap();
        (ended.status.success(), String::from_utf8_lossy(&ended.stderr).into_owned())
    }

    /// Runs git, which must fail; what it said.
    fn git_fails(&self, name: &str, args: &[&str]) -> String {
        let (succeeded, said) = self.git_try(name, args);
        assert!(!succeeded, "git {args:?} succeeded");
        said
    }

    /// Brings all refs back to what they were.
    fn reset(&self, name: &str, refs: &str) {
        for line in self.refs(name).lines() {
            let gone = line.split(' ').next().unwrap();
            if !refs.contains(&format!("{gone} ")) {
                self.git(name, &["update-ref", "-d", gone]);
            }
        }
        for line in refs.lines() {
            let (there, id) = line.split_once(' ').unwrap();
            self.git(name, &["update-ref", there, id]);
        }
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
    let world = World::gated();
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

impl World {
    /// The same with a gate at the remote, and no doorbell: nobody works there but who pushes.
    fn gated() -> Self {
        let world = Self { sandbox: Sandbox::empty() };
        world.brain(".", &["init", "--bare", "remote.git"]);
        std::fs::remove_file(world.dir("remote.git/hooks/post-receive")).unwrap();
        world.first();
        world
    }

    /// A commit like `commit`, on the same parents, with files written otherwise (`None`: removed).
    fn recommit(&self, name: &str, commit: &str, files: &[(&str, Option<&str>)]) -> String {
        let message = self.git(name, &["log", "-1", "--format=%B", commit]);
        let parents = self.git(name, &["log", "-1", "--format=%P", commit]);
        let email = self.git(name, &["log", "-1", "--format=%ae", commit]);
        self.commit(
            name,
            commit,
            &parents.split(' ').collect::<Vec<_>>(),
            files,
            &message,
            &[("GIT_AUTHOR_EMAIL", &email)],
        )
    }

    /// A commit of the tree of `from` with files written otherwise.
    fn commit(
        &self,
        name: &str,
        from: &str,
        parents: &[&str],
        files: &[(&str, Option<&str>)],
        message: &str,
        variables: &[(&str, &str)],
    ) -> String {
        let index = self.sandbox.path("forged-index");
        let _ = std::fs::remove_file(&index);
        let git = |args: &[&str], input: &str| {
            let mut command = self.sandbox.command("git", args);
            command.current_dir(self.dir(name)).env("GIT_INDEX_FILE", &index).envs(variables.iter().copied());
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "git {args:?}");
            String::from_utf8(ended.stdout).unwrap().trim().to_owned()
        };
        git(&["read-tree", from], "");
        for (path, content) in files {
            match content {
                None => drop(git(&["update-index", "--force-remove", "--", path], "")),
                Some(content) => {
                    let (mode, blob) = match content.strip_prefix("link:") {
                        Some(target) => ("120000", git(&["hash-object", "-w", "--stdin"], target)),
                        None => ("100644", git(&["hash-object", "-w", "--stdin"], content)),
                    };
                    git(&["update-index", "--add", "--cacheinfo", &format!("{mode},{blob},{path}")], "");
                }
            }
        }
        let tree = git(&["write-tree"], "");
        let mut args = vec!["commit-tree", &tree];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        git(&args, message)
    }

    /// A run of an agent that waits on its branch in `name`: branch, commit.
    fn waiting(&self, name: &str, agent: &str, ops: Value) -> (String, String) {
        let dir = self.dir(name).display().to_string();
        let input = delta(ops).to_string();
        let args = ["-C", &dir, "--json", "apply", "--agent", agent, "--no-merge", "-"];
        let report = self.sandbox.brain_with(&args, input.as_bytes()).exits(0).document();
        (report["branch"].as_str().unwrap().to_owned(), report["commit"].as_str().unwrap().to_owned())
    }

    fn path_of(&self, name: &str, revision: &str, end: &str) -> String {
        let paths = self.git(name, &["ls-tree", "-r", "--name-only", revision]);
        paths.lines().find(|path| path.ends_with(end)).unwrap_or_else(|| panic!("no {end} in {revision}")).to_owned()
    }
}

/// Each forbidden thing: what it is called, a commit in `a`, the branch that it is pushed to, and what the refusal says.
fn forbidden(world: &World) -> Vec<(&'static str, String, String, &'static str)> {
    let (wake, main) = (world.tip("a", "wake"), world.tip("a", "main"));
    let y = world.path_of("a", "wake", "/y.json");
    let record = world.path_of("a", "wake", "-human.json");
    let neuron = world.git("a", &["show", &format!("wake:{y}")]) + "\n";
    let on_wake = |files: &[(&str, Option<&str>)], variables: &[(&str, &str)]| {
        world.commit("a", &wake, &[&wake], files, "by hand\n", variables)
    };
    let dangling = neuron.replace(
        "\"connections\": []",
        "\"connections\": [\n    {\"target\": \"nowhere\", \"weight\": 9, \"type\": \"feeds_into\"}\n  ]",
    );
    assert_ne!(dangling, neuron);
    let future = neuron.replacen("\"last_salience_update\": \"20", "\"last_salience_update\": \"21", 1);
    assert_ne!(future, neuron);
    let (branch, run) = world.waiting("a", "perception", json!([create("z"), connect("x", "z", "feeds_into", 2000)]));
    let own = world.path_of("a", &run, &format!("{}.json", branch.rsplit('/').next().unwrap()));
    let x = world.path_of("a", &run, "/x.json");
    let (said, did) =
        (world.git("a", &["show", &format!("{run}:{own}")]), world.git("a", &["show", &format!("{run}:{x}")]));
    let forged = did.replace("\"weight\": 2000", "\"weight\": 60000") + "\n";
    assert!(forged.contains("60000") && did.contains("2000"), "{did}");
    let quiet_record = said.replace("2000", "2001") + "\n";
    let renamed = |from: &str, to: &str| {
        let path = own.replace(from, to);
        let id = path.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned();
        (id, said.replace(from, to) + "\n")
    };
    let (stranger, text) = renamed("perception", "stranger");
    let shard = |id: &str| {
        use sha2::Digest;
        let hash = sha2::Sha256::digest(id.as_bytes());
        format!("{:02x}", hash[0])
    };
    let folder = own.rsplitn(3, '/').last().unwrap().to_owned();
    let strange_path = format!("{folder}/{}/{stranger}.json", shard(&stranger));
    let strange = world.recommit("a", &run, &[(&own, None), (&strange_path, Some(&text))]);
    // One operation a line.
    let archive = |line: &str| match line.contains("connect\"") {
        true => format!(
            "    {{\"op\":\"archive\",\"id\":\"y\",\"reason\":\"so\"}}{}\n",
            if line.ends_with(',') { "," } else { "" }
        ),
        false => format!("{line}\n"),
    };
    let ops = said.find("\"effects\"").unwrap();
    let wide: String = said[..ops].lines().map(archive).collect::<String>().trim_end().to_owned() + &said[ops..] + "\n";
    assert!(wide.contains("archive"), "{said}");
    let core = world.path_of("a", "wake", "/decision_point.json");
    let changed =
        world.git("a", &["show", &format!("wake:{core}")]).replacen("\"salience\": ", "\"salience\": 1", 1) + "\n";
    assert_ne!(changed.trim(), world.git("a", &["show", &format!("wake:{core}")]));
    let agent = world.read("a", "agents/affect.json");
    // A true sleep, of another machine.
    world.clone("sleeper");
    let slept = world.slept("sleeper");
    world.git("a", &["fetch", "-q", "../sleeper", "main"]);
    vec![
        (
            "a sleep that brings what its day had not",
            world.recommit("a", &slept, &[(&own, Some(&wide))]),
            "main".into(),
            "slept over",
        ),
        (
            "a sleep that says nothing of a neuron",
            world.recommit("a", &slept, &[(&core, Some(&changed))]),
            "main".into(),
            "does not name it",
        ),
        (
            "a sleep that changes an agent",
            world.recommit(
                "a",
                &slept,
                &[("agents/affect.json", Some(&agent.replace("\"priority\": 6", "\"priority\": 7")))],
            ),
            "main".into(),
            "outside the network",
        ),
        ("bad JSON", on_wake(&[(&y, Some("{\n  \"id\": \"y\",,\n}\n"))], &[]), "wake".into(), "y.json:2"),
        (
            "a field that is none",
            on_wake(&[(&y, Some(&neuron.replace("\"type\"", "\"typo\"")))], &[]),
            "wake".into(),
            "y.json",
        ),
        ("a dangling connection", on_wake(&[(&y, Some(&dangling))], &[]), "wake".into(), "nowhere"),
        ("a neuron that is pointed to goes", on_wake(&[(&y, None)], &[]), "wake".into(), "points to y"),
        (
            "a place where nothing belongs",
            on_wake(&[("network/x.json", Some("{}\n"))], &[]),
            "wake".into(),
            "nothing belongs",
        ),
        ("a symlink", on_wake(&[(&y, Some("link:/etc/passwd"))], &[]), "wake".into(), "symlink"),
        ("a record is changed", on_wake(&[(&record, Some("{}\n"))], &[]), "wake".into(), "written once"),
        ("a record is removed", on_wake(&[(&record, None)], &[]), "wake".into(), "written once"),
        (
            "a stamp ahead of the clock",
            on_wake(&[(&y, Some(&future))], &[]),
            "wake".into(),
            "last_salience_update is ahead",
        ),
        (
            "a commit ahead of the clock",
            on_wake(&[("notes", Some("x"))], &[("GIT_AUTHOR_DATE", "2099-01-01T00:00:00Z")]),
            "wake".into(),
            "dated ahead",
        ),
        (
            "a committer ahead of the clock",
            on_wake(&[("notes", Some("x"))], &[("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z")]),
            "wake".into(),
            "dated ahead",
        ),
        (
            "a fixed clock",
            world.commit("a", &wake, &[&wake], &[("notes", Some("x"))], "by hand\n\nClock: fixed\n", &[]),
            "wake".into(),
            "fixed clock",
        ),
        (
            "an agent without a record",
            on_wake(&[("notes", Some("x"))], &[("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")]),
            "wake".into(),
            "no record of a run",
        ),
        (
            "forged effects",
            world.recommit("a", &run, &[(&x, Some(&forged))]),
            branch.clone(),
            "not what its operations do",
        ),
        (
            "a forged record",
            world.recommit("a", &run, &[(&own, Some(&quiet_record))]),
            branch.clone(),
            "not what its operations do",
        ),
        ("beyond capabilities", world.recommit("a", &run, &[(&own, Some(&wide))]), branch.clone(), "may not archive"),
        ("an agent that nobody knows", strange, branch.replace("perception", "stranger"), "no agent stranger"),
        (
            "beyond the network",
            world.recommit("a", &run, &[("brain.toml", Some("[merge]\nweight = \"max\"\n"))]),
            branch.clone(),
            "not what its operations do",
        ),
        (
            "broken settings on main",
            world.commit("a", &main, &[&main], &[("brain.toml", Some("[merge\n"))], "x\n", &[]),
            "main".into(),
            "brain.toml",
        ),
        (
            "a forged merge",
            world.commit("a", &wake, &[&wake, &run], &[], "merge\n\nPolicy: default\n", &[]),
            "wake".into(),
            "not that of its parents' merge",
        ),
        (
            "a sleep without a record",
            world.commit("a", &main, &[&main], &[], "sleep\n\nSleep: 20260126t143200123z-abcd2345-sleep\n", &[]),
            "main".into(),
            "no record of it",
        ),
        ("another history", world.commit("a", &wake, &[], &[], "x\n", &[]), "wake".into(), ""),
        ("a branch that is none of the brain's", wake.clone(), "feature".into(), "none of the brain's"),
        ("a run's branch that names no run", wake.clone(), "agents/memory/x".into(), "none of the brain's"),
        ("fewer commits", world.tip("a", "wake^"), "wake".into(), ""),
    ]
}

#[test]
fn the_gate_refuses_each_forbidden_thing_and_takes_good_ones() {
    let world = World::gated();
    let before = world.refs("remote.git");
    let mut wrong = Vec::new();
    for (what, commit, branch, says) in forbidden(&world) {
        let (pushed, said) = world.git_try("a", &["push", "origin", &format!("+{commit}:refs/heads/{branch}")]);
        let declined = says.is_empty() || said.contains("hook declined");
        if pushed || !said.contains(says) || !declined || world.refs("remote.git") != before {
            wrong.push(format!("{what}: {said}"));
            world.reset("remote.git", &before);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let declined = |args: &[&str], says: &str| {
        let said = world.git_fails("a", &[&["push", "origin"], args].concat());
        assert!(said.contains(says), "{said}");
    };
    declined(&[":refs/heads/wake"], "never removed");
    declined(&["wake:refs/tags/v1"], "none of the brain's");
    assert_eq!(world.refs("remote.git"), before);
    // What is good goes by plain git too: a run that waits, a person's settings, a stimulus by hand.
    let (branch, _) = world.waiting("a", "perception", json!([create("good")]));
    world.git("a", &["push", "-q", "origin", &branch]);
    world.write("a", "brain.toml", &format!("{}\n# a remark\n", world.read("a", "brain.toml")));
    world.git("a", &["commit", "-q", "-am", "a remark"]);
    world.git("a", &["push", "-q", "origin", "main"]);
    world.brain("a", &["feed", "Ann saw a heron at the canal."]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    declined(&[&format!(":refs/heads/{branch}")], "not in wake");
    world.brain("a", &["merge", &branch]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.git("a", &["push", "-q", "origin", &format!(":refs/heads/{branch}")]);
    world.git("a", &["checkout", "-q", "wake"]);
    world.git("a", &["revert", "--no-edit", "-m", "1", "HEAD"]);
    world.git("a", &["checkout", "-q", "main"]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.sync("a");
    world.clone("b");
    world.same(&["a", "b"]);
    // Without its configuration, or its program, nothing comes in.
    world.apply("b", json!([adjust("x", "y", "feeds_into", 1)]));
    let tip = world.tip("remote.git", "wake");
    world.git("remote.git", &["config", "--unset", "brain.wake"]);
    world.git_fails("b", &["push", "origin", "wake"]);
    world.git("remote.git", &["config", "brain.wake", "wake"]);
    let hook = world.read("remote.git", "hooks/pre-receive");
    world.write("remote.git", "hooks/pre-receive", &hook.replace(sandbox::PROGRAM, "/nowhere/git-brain"));
    let said = world.git_fails("b", &["push", "origin", "wake"]);
    assert!(said.contains("nothing is let in"), "{said}");
    assert_eq!(world.tip("remote.git", "wake"), tip);
    world.write("remote.git", "hooks/pre-receive", &hook);
    world.sync("b");
}

#[test]
fn a_remote_without_a_gate_that_carries_bad_things_moves_nothing_here() {
    let world = World::new();
    world.clone("b");
    let good = world.refs("remote.git");
    let before = world.refs("b");
    let mut wrong = Vec::new();
    for (what, commit, branch, says) in forbidden(&world) {
        if ["feature", "agents/memory/x"].contains(&branch.as_str()) {
            continue;
        }
        world.git("a", &["push", "-q", "origin", &format!("+{commit}:refs/heads/{branch}")]);
        let answer = world.try_brain("b", &["sync"]);
        let after: Vec<String> =
            world.refs("b").lines().filter(|line| !line.contains("refs/git-brain/rescue")).map(str::to_owned).collect();
        if answer.code != 3 || !answer.err.contains(says) || after != before.lines().collect::<Vec<_>>() {
            wrong.push(format!("{what}: {answer}"));
            world.reset("b", &before);
        }
        world.reset("remote.git", &good);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 1)]));
    world.sync("b");
}

#[test]
fn a_rewritten_an_emptied_and_a_lost_remote_lose_nothing() {
    let world = World::new();
    world.clone("b");
    world.apply("a", json!([create("late")]));
    world.sync("a");
    world.sync("b");
    let tip = world.tip("b", "wake");
    let heads = world.git("b", &["for-each-ref", "refs/heads"]);
    let rewritten = world.git("a", &["commit-tree", "-m", "empty", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    for spec in
        [format!("+{rewritten}:refs/heads/wake"), format!("+{tip}^1:refs/heads/wake"), ":refs/heads/wake".to_owned()]
    {
        world.git("a", &["push", "-q", "origin", &spec]);
        let said = world.refused("b");
        assert!(said.contains(&tip) && said.contains("Nothing was moved"), "{said}");
        assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), heads);
        assert_eq!(world.tip("b", &format!("refs/git-brain/rescue/{tip}")), tip);
    }
    // As the hint says: forgotten, the next sync brings all of it back.
    world.git("b", &["update-ref", "-d", "refs/git-brain/remotes/origin/wake"]);
    world.sync("b");
    assert_eq!(world.tip("remote.git", "wake"), tip);
    // A remote that is gone, one that is another brain, none at all.
    std::fs::rename(world.dir("remote.git"), world.dir("moved.git")).unwrap();
    assert_eq!(world.try_brain("b", &["sync"]).code, 2);
    world.git(".", &["init", "-q", "--bare", "remote.git"]);
    let said = world.refused("b");
    assert!(said.contains("has no branch"), "{said}");
    world.git("b", &["remote", "remove", "origin"]);
    let said = world.try_brain("b", &["sync"]).exits(2).err;
    assert!(said.contains("git remote add origin"), "{said}");
    world.brain(".", &["init", "--no-hooks", "other"]);
    let dir = world.dir("other").display().to_string();
    let said = world.try_brain("b", &["sync", &dir]).exits(3).err;
    assert!(said.contains("another brain") || said.contains("two brains"), "{said}");
    assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), heads);
}

#[test]
fn people_edit_settings_on_both_sides() {
    let world = World::gated();
    world.clone("b");
    let settings = world.read("a", "brain.toml");
    world.write("a", "brain.toml", &format!("{settings}\n# by a\n"));
    world.git("a", &["commit", "-q", "-am", "a remark of a"]);
    world.write("b", "agents/notes.md", "who is who\n");
    world.git("b", &["add", "agents"]);
    world.git("b", &["commit", "-q", "-m", "notes of b"]);
    world.apply("b", json!([create("of-b")]));
    let given_up = world.slept("b");
    world.sync("a");
    assert_eq!(world.sync("b")["rescued"], json!(given_up));
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.git("a", &["log", "-2", "--format=%s", "main"]), "notes of b\na remark of a");
    assert_eq!(world.git("a", &["rev-list", "--merges", "--count", "main"]), "0");
    for branch in ["main", "wake"] {
        assert!(world.git("b", &["show", &format!("{branch}:brain.toml")]).contains("# by a"));
        assert_eq!(world.git("b", &["show", &format!("{branch}:agents/notes.md")]), "who is who");
    }
    // The same file on both sides is a person's to decide.
    for name in ["a", "b"] {
        world.write(name, "brain.toml", &format!("{settings}\n# only {name}\n"));
        world.git(name, &["commit", "-q", "-am", name]);
    }
    world.sync("a");
    let before = world.git("b", &["for-each-ref", "refs/heads"]);
    assert!(world.refused("b").contains("brain.toml"));
    assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), before);
    world.write("b", "brain.toml", &format!("{settings}\n# only a\n"));
    world.git("b", &["commit", "-q", "-am", "theirs"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn agents_that_are_new_on_main_bring_their_runs_along() {
    let world = World::gated();
    world.clone("b");
    let agent = world.read("a", "agents/perception.json").replace("\"name\": \"perception\"", "\"name\": \"second\"");
    world.write("a", "agents/second.json", &agent);
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-q", "-m", "a second memory"]);
    world.brain("a", &["trust"]);
    let (branch, _) = world.waiting("a", "second", json!([create("by-second")]));
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    assert_eq!(world.neuron("b", "wake", "by-second")["id"], "by-second");
    // A machine that was offline while settings and agents changed ran by those that it knew.
    let settings = world.read("a", "brain.toml");
    let weaker = settings.replace("[learning]\n", "[learning]\nsalience_gain = 30000\n");
    assert_ne!(weaker, settings);
    world.write("a", "brain.toml", &weaker);
    world.git("a", &["rm", "-q", "agents/second.json"]);
    world.git("a", &["commit", "-q", "-am", "salience is gained slower, by one agent less"]);
    world.sync("a");
    world.brain("b", &["trust"]);
    for agent in ["second", "perception"] {
        let (branch, _) = world.waiting("b", agent, json!([{"op": "activate", "id": "by-second", "strength": 0.5}]));
        world.brain("b", &["merge", &branch]);
    }
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    // From now on it is over.
    let dir = world.dir("b").display().to_string();
    let input = delta(json!([create("late")])).to_string();
    world.sandbox.brain_with(&["-C", &dir, "apply", "--agent", "second", "-"], input.as_bytes()).exits(3);
}

#[test]
fn what_waits_for_review_waits_everywhere() {
    let world = World::gated();
    world.clone("b");
    let (branch, commit) = world.waiting("a", "perception", json!([create("maybe")]));
    world.sync("a");
    world.sync("b");
    assert_eq!(world.tip("b", &branch), commit);
    world.brain("b", &["merge", &branch]);
    world.sync("b");
    assert!(!world.refs("remote.git").contains(&branch));
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn the_doorbell_of_a_remote_brings_what_was_pushed_into_the_loop() {
    let world = World::gated();
    world.brain("remote.git", &["hooks", "install"]);
    world.write("a", "brain.toml", &format!("{}\n# pushed\n", world.read("a", "brain.toml")));
    world.git("a", &["commit", "-q", "-am", "a remark"]);
    let wake = world.tip("remote.git", "wake");
    world.git("a", &["push", "-q", "origin", "main"]);
    // In the background, by a process that outlives the push.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !world.git("remote.git", &["show", "wake:brain.toml"]).contains("# pushed") {
        assert!(std::time::Instant::now() < end, "nobody came: {}", world.read("remote.git", "git-brain/hook.log"));
        std::thread::yield_now();
    }
    world.git("remote.git", &["merge-base", "--is-ancestor", &wake, "wake"]);
    world.sync("a");
    world.brain("a", &["check"]);
}

#[test]
fn nothing_of_a_hostile_remote_runs() {
    let world = World::new();
    let trap = world.sandbox.path("sprung");
    let command = format!("touch {trap}");
    for address in [format!("--upload-pack={command};"), format!("ext::sh -c {command}"), "-x".to_owned()] {
        assert_ne!(world.try_brain("a", &["sync", "--", &address]).code, 0, "{address}");
    }
    world.git("a", &["remote", "add", "evil", &format!("ext::sh -c {command}")]);
    assert_ne!(world.try_brain("a", &["sync", "evil"]).code, 0);
    // Hooks and filters that the tree and the remote would like to see run here.
    let script = format!("#!/bin/sh\ntouch {trap}\n");
    for hook in ["post-merge", "post-checkout", "reference-transaction", "pre-push", "post-update"] {
        world.write("a", &format!(".git/hooks/{hook}"), &script);
        let path = world.dir("a").join(".git/hooks").join(hook);
        std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&path).unwrap().permissions(), 0o755);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let main = world.tip("a", "main");
    let files = [(".gitattributes", Some("* filter=evil merge=evil\n")), ("hooks/post-merge", Some(script.as_str()))];
    let evil = world.commit("a", &main, &[&main], &files, "attributes\n", &[]);
    world.git("remote.git", &["fetch", "-q", "../a", &evil]);
    world.git("remote.git", &["update-ref", "refs/heads/main", &evil]);
    world.git("remote.git", &["config", "core.fsmonitor", &command]);
    world.git("remote.git", &["config", "filter.evil.smudge", &command]);
    world.sync("a");
    assert_eq!(world.tip("a", "main"), evil);
    assert!(!std::path::Path::new(&trap).exists(), "something ran");
}

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
