//! Machines of one brain over a bare remote, and commits that no machine of ours would make: for the tests of `sync` and of the gate.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::sandbox::{self, Picture, Sandbox, connect, create, delta};

/// A bare remote and the machines that sync with it.
pub struct World {
    pub sandbox: Sandbox,
}

impl World {
    /// A brain `a` with its first neurons, at a bare remote without a gate: the same one for every test.
    pub fn new() -> Self {
        static FIRST: OnceLock<Picture> = OnceLock::new();
        let make = |world: &Self| {
            world.git(".", &["init", "-q", "--bare", "-b", "main", "remote.git"]);
            world.first();
        };
        Self::copied(&FIRST, make)
    }

    fn copied(first: &OnceLock<Picture>, make: fn(&Self)) -> Self {
        let made = || {
            let world = Self { sandbox: Sandbox::empty() };
            make(&world);
            world.sandbox
        };
        Self { sandbox: Sandbox::copied(first, made) }
    }

    pub fn first(&self) {
        self.brain(".", &["init", "--no-hooks", "a"]);
        self.git("a", &["remote", "add", "origin", "../remote.git"]);
        self.apply("a", json!([create("x"), create("y"), connect("x", "y", "feeds_into", 20000)]));
        self.sync("a");
    }

    /// One more machine.
    pub fn clone(&self, name: &str) {
        self.git(".", &["clone", "-q", "remote.git", name]);
        self.git(name, &["config", "--replace-all", "remote.origin.url", "../remote.git"]);
        let made = self.json(name, &["init", "--no-hooks"]);
        assert_eq!(made["adopted"], true, "{made}");
    }

    pub fn dir(&self, name: &str) -> PathBuf {
        self.sandbox.dir().join(name)
    }

    pub fn git(&self, name: &str, args: &[&str]) -> String {
        let dir = self.dir(name).display().to_string();
        self.sandbox.git(&[&["-C", dir.as_str()], args].concat())
    }

    /// Runs git: whether it succeeded, and what it said.
    pub fn git_try(&self, name: &str, args: &[&str]) -> (bool, String) {
        let dir = self.dir(name);
        let ended = self.sandbox.command("git", args).current_dir(dir).output().unwrap();
        (ended.status.success(), String::from_utf8_lossy(&ended.stderr).into_owned())
    }

    /// Runs git, which must fail; what it said.
    pub fn git_fails(&self, name: &str, args: &[&str]) -> String {
        let (succeeded, said) = self.git_try(name, args);
        assert!(!succeeded, "git {args:?} succeeded");
        said
    }

    /// Brings all refs back to what they were.
    pub fn reset(&self, name: &str, refs: &str) {
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

    pub fn try_brain(&self, name: &str, args: &[&str]) -> sandbox::Answer {
        let dir = self.dir(name).display().to_string();
        self.sandbox.brain(&[&["-C", dir.as_str()], args].concat())
    }

    pub fn brain(&self, name: &str, args: &[&str]) -> String {
        self.try_brain(name, args).exits(0).out
    }

    pub fn json(&self, name: &str, args: &[&str]) -> Value {
        self.try_brain(name, &[&["--json"], args].concat()).exits(0).document()
    }

    pub fn sync(&self, name: &str) -> Value {
        self.json(name, &["sync"])
    }

    pub fn refused(&self, name: &str) -> String {
        let answer = self.try_brain(name, &["--json", "sync"]).exits(3);
        answer.error()["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub fn try_apply(&self, name: &str, ops: Value) -> sandbox::Answer {
        let dir = self.dir(name).display().to_string();
        self.sandbox.brain_with(&["-C", &dir, "--json", "apply", "-"], delta(ops).to_string().as_bytes())
    }

    pub fn apply(&self, name: &str, ops: Value) -> Value {
        self.try_apply(name, ops).exits(0).document()
    }

    pub fn tip(&self, name: &str, revision: &str) -> String {
        self.git(name, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
    }

    pub fn refs(&self, name: &str) -> String {
        self.git(name, &["for-each-ref", "--format=%(refname) %(objectname)"])
    }

    pub fn neuron(&self, name: &str, revision: &str, id: &str) -> Value {
        let paths = self.git(name, &["ls-tree", "-r", "--name-only", revision, "network/neurons"]);
        let path = paths.lines().find(|path| path.ends_with(&format!("/{id}.json")));
        let path = path.unwrap_or_else(|| panic!("{revision} of {name} has no {id}"));
        sandbox::whole(serde_json::from_str(&self.git(name, &["show", &format!("{revision}:{path}")])).unwrap())
    }

    pub fn weight(&self, name: &str) -> u64 {
        sandbox::weight(&self.neuron(name, "wake", "x"), "y", "feeds_into").unwrap()
    }

    /// Both machines and the remote have the same main and wake, which are in good order.
    #[track_caller]
    pub fn same(&self, names: &[&str]) {
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

    pub fn write(&self, name: &str, path: &str, text: &str) {
        let path = self.dir(name).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str, path: &str) -> String {
        std::fs::read_to_string(self.dir(name).join(path)).unwrap()
    }

    pub fn slept(&self, name: &str) -> String {
        let slept = self.json(name, &["sleep"]);
        assert_eq!(slept["state"], "slept", "{slept}");
        slept["main"].as_str().unwrap().to_owned()
    }

    /// The same with a gate at the remote, and no doorbell: nobody works there but who pushes.
    pub fn gated() -> Self {
        static FIRST: OnceLock<Picture> = OnceLock::new();
        let make = |world: &Self| {
            world.brain(".", &["init", "--bare", "remote.git"]);
            std::fs::remove_file(world.dir("remote.git/hooks/post-receive")).unwrap();
            world.first();
        };
        Self::copied(&FIRST, make)
    }

    /// A commit like `commit`, on the same parents, with files written otherwise (`None`: removed).
    pub fn recommit(&self, name: &str, commit: &str, files: &[(&str, Option<&str>)]) -> String {
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
    pub fn commit(
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
    pub fn waiting(&self, name: &str, agent: &str, ops: Value) -> (String, String) {
        let dir = self.dir(name).display().to_string();
        let input = delta(ops).to_string();
        let args = ["-C", &dir, "--json", "apply", "--agent", agent, "--no-merge", "-"];
        let report = self.sandbox.brain_with(&args, input.as_bytes()).exits(0).document();
        (report["branch"].as_str().unwrap().to_owned(), report["commit"].as_str().unwrap().to_owned())
    }

    pub fn path_of(&self, name: &str, revision: &str, end: &str) -> String {
        let paths = self.git(name, &["ls-tree", "-r", "--name-only", revision]);
        paths.lines().find(|path| path.ends_with(end)).unwrap_or_else(|| panic!("no {end} in {revision}")).to_owned()
    }
}

/// The gate refuses a push of that commit, for that reason, and nothing moves.
#[track_caller]
pub fn refused(world: &World, what: &str, commit: &str, branch: &str, says: &str) {
    let before = world.refs("remote.git");
    let (pushed, said) = world.git_try("a", &["push", "origin", &format!("+{commit}:refs/heads/{branch}")]);
    assert!(!pushed && said.contains("hook declined"), "{what} is let in: {said}");
    assert!(said.contains(says), "{what}: {said}");
    assert_eq!(world.refs("remote.git"), before, "{what}");
}
