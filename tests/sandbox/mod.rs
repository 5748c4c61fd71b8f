//! The world of an end-to-end test: a folder of its own, the real binary, the real git, and an environment in which
//! nothing of this machine can be seen.
//!
//! Nothing is inherited but `PATH`: no configuration of git, no `BRAIN_*`, no home, no locale. Clock and ids are fixed
//! where a test asks for it ([`Sandbox::fixed`]). A command that fails tells its arguments and all that it printed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

mod picture;

pub use picture::Picture;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_git-brain");

/// A moment for tests that fix the clock.
pub const NOW: &str = "2026-01-26T14:32:00Z";

/// The file of a program on the path. A command with an environment of its own that is named without its folder is
/// started by a copy of the whole process, which costs more than what many of them do.
pub fn place_of(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|place| place.is_file());
    found.unwrap_or_else(|| program.into())
}

/// So many of several cases that each take seconds, others each day. With `GIT_BRAIN_ALL_CASES` in the environment, as in
/// `.ci/long`, all of them.
pub fn some_of<T>(cases: impl IntoIterator<Item = T>, count: usize) -> Vec<T> {
    let mut cases: Vec<T> = cases.into_iter().collect();
    if std::env::var_os("GIT_BRAIN_ALL_CASES").is_none() && count < cases.len() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
        let day = usize::try_from(now.as_secs() / 86_400).expect("a day");
        let first = day * count % cases.len();
        cases.rotate_left(first);
        cases.truncate(count);
    }
    cases
}

/// What a command of ours said.
#[derive(Debug)]
pub struct Answer {
    /// What was called, for messages.
    pub called: String,
    /// The exit code; -1 for a signal.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Answer {
    pub fn of(called: String, output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        let answer = Self {
            called,
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        // Exit code 101 is Rust's panic: never an answer, whatever the test expects.
        assert!(answer.code != 101 && !answer.err.contains("panicked at"), "panic: {answer}");
        answer
    }

    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// The one JSON document on standard output, with its version.
    #[track_caller]
    pub fn document(&self) -> Value {
        let document: Value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self}"));
        assert_eq!(document["version"], 1, "{self}");
        document
    }

    /// The JSON error on standard error of a command with `--json`.
    #[track_caller]
    pub fn error(&self) -> Value {
        let line = self.err.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {self}"));
        assert_eq!((error["version"].as_i64(), error["code"].as_i64()), (Some(1), Some(self.code.into())), "{self}");
        error
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} → {}\nstdout: {}\nstderr: {}", self.called, self.code, self.out, self.err)
    }
}

/// The value of a variable that commands do not get.
pub const UNSET: &str = "(unset)";

/// A folder with a brain, or for one.
pub struct Sandbox {
    root: TempDir,
    dir: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Sandbox {
    /// An empty folder.
    pub fn empty() -> Self {
        let root = tempfile::Builder::new().prefix("git-brain-test-").tempdir().expect("a temporary folder");
        let dir = root.path().join("here");
        for folder in ["home", "state", "here"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        Self { root, dir, variables: BTreeMap::new() }
    }

    /// A brain, bootstrapped: the same one for every test. [`Sandbox::another`] is of another history.
    pub fn new() -> Self {
        static FIRST: OnceLock<Picture> = OnceLock::new();
        Self::copied(&FIRST, Self::another)
    }

    /// A brain, bootstrapped here.
    pub fn another() -> Self {
        Self::empty().initialised()
    }

    /// A copy of the world that `make` makes once.
    pub fn copied(first: &OnceLock<Picture>, make: impl FnOnce() -> Self) -> Self {
        let picture = first.get_or_init(|| Picture::of(make().root.path()));
        let root = tempfile::Builder::new().prefix("git-brain-test-").tempdir().expect("a temporary folder");
        picture.put(root.path());
        let dir = root.path().join("here");
        Self { root, dir, variables: BTreeMap::new() }
    }

    /// A brain under a fixed clock with fixed ids.
    pub fn fixed(now: &str, seed: &str) -> Self {
        Self::empty().with("BRAIN_NOW", now).with("BRAIN_SEED", seed).initialised()
    }

    /// The same with a variable more.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Moves the fixed clock.
    pub fn at(&mut self, now: &str) {
        self.variables.insert("BRAIN_NOW".to_owned(), now.to_owned());
    }

    fn initialised(self) -> Self {
        self.brain(&["init", "--no-hooks", "."]).exits(0);
        self
    }

    /// The folder that commands run in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A place beside the brain, inside the sandbox.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Another folder of the same world: same home, same trust record.
    pub fn path(&self, name: &str) -> String {
        self.beside(name).display().to_string()
    }

    /// Writes a file beside the brain and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.beside(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, content).expect("a file");
        path.display().to_string()
    }

    /// A command of `program` in the sandbox's world, not started.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(place_of(program));
        command.args(args).current_dir(&self.dir).env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command.envs([
            ("HOME", self.root.path().join("home").display().to_string()),
            ("XDG_STATE_HOME", self.root.path().join("state").display().to_string()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_AUTHOR_NAME", "Ann".to_owned()),
            ("GIT_AUTHOR_EMAIL", "ann@example.invalid".to_owned()),
            ("GIT_COMMITTER_NAME", "Ann".to_owned()),
            ("GIT_COMMITTER_EMAIL", "ann@example.invalid".to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]);
        command.envs(&self.variables);
        self.variables.iter().filter(|(_, value)| *value == UNSET).for_each(|(name, _)| {
            command.env_remove(name);
        });
        command
    }

    /// Runs the brain and waits for it; standard input is empty.
    pub fn brain(&self, args: &[&str]) -> Answer {
        self.brain_with(args, b"")
    }

    /// Runs the brain with something on standard input.
    pub fn brain_with(&self, args: &[&str], input: &[u8]) -> Answer {
        let child = self.spawn(args, input);
        let output = child.wait_with_output().expect("a child that ends");
        Answer::of(format!("git brain {}", args.join(" ")), output)
    }

    /// Starts the brain and feeds it `input`, which must fit into a pipe.
    pub fn spawn(&self, args: &[&str], input: &[u8]) -> Child {
        let mut command = self.command(PROGRAM, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A command that refuses its arguments does not read its input.
        let _ = stdin.write_all(input);
        child
    }

    /// Runs the brain with `--json`, which must succeed.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        self.brain(&args).exits(0).document()
    }

    /// Runs git, which must succeed; its output without the last newline.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command("git", args).stdin(Stdio::null()).output().expect("git is on the path");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {}: {err}", args.join(" "));
        String::from_utf8(output.stdout).expect("git prints UTF-8").trim_end_matches('\n').to_owned()
    }

    /// Lines of git's output; none for empty output.
    #[track_caller]
    pub fn lines(&self, args: &[&str]) -> Vec<String> {
        self.git(args).lines().map(str::to_owned).collect()
    }

    /// The commit that a revision names.
    #[track_caller]
    pub fn tip(&self, revision: &str) -> String {
        self.git(&["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
    }

    /// Applies a delta document given as JSON, which must succeed.
    #[track_caller]
    pub fn apply(&self, document: &Value, args: &[&str]) -> Value {
        self.try_apply(document, args).exits(0).document()
    }

    /// Applies a delta document given as JSON.
    pub fn try_apply(&self, document: &Value, args: &[&str]) -> Answer {
        let args: Vec<&str> = ["--json", "apply", "-"].iter().chain(args).copied().collect();
        self.brain_with(&args, document.to_string().as_bytes())
    }

    /// The path of a neuron's file at a revision, if it is there.
    pub fn neuron_path(&self, revision: &str, id: &str) -> Option<String> {
        let name = format!("/{id}.json");
        self.lines(&["ls-tree", "-r", "--name-only", revision, "network/neurons"])
            .into_iter()
            .find(|path| path.ends_with(&name))
    }

    /// A neuron's file at a revision, with what it leaves out.
    #[track_caller]
    pub fn neuron_at(&self, revision: &str, id: &str) -> Value {
        let path = self.neuron_path(revision, id).unwrap_or_else(|| panic!("{revision} has no neuron {id}"));
        whole(serde_json::from_str(&self.git(&["show", &format!("{revision}:{path}")])).expect("a neuron is JSON"))
    }

    /// A neuron in wake.
    #[track_caller]
    pub fn neuron(&self, id: &str) -> Value {
        self.neuron_at("wake", id)
    }

    /// The weight of a connection in wake.
    #[track_caller]
    pub fn weight(&self, from: &str, to: &str, link: &str) -> Option<u64> {
        weight(&self.neuron(from), to, link)
    }

    /// Every neuron of a revision by its id.
    pub fn neurons(&self, revision: &str) -> BTreeMap<String, Value> {
        let all = self.documents(revision, "network/neurons").into_values().map(whole);
        all.map(|n| (n["id"].as_str().expect("an id").to_owned(), n)).collect()
    }

    /// Every JSON file below a folder of a revision, by its path, in one call of git.
    pub fn documents(&self, revision: &str, folder: &str) -> BTreeMap<String, Value> {
        // A server may move the branch meanwhile.
        let revision = &self.tip(revision);
        let paths = self.lines(&["ls-tree", "-r", "--name-only", revision, folder]);
        let wanted: String = paths.iter().map(|path| format!("{revision}:{path}\n")).collect();
        let mut child = self
            .command("git", &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git is on the path");
        let mut stdin = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(wanted.as_bytes()));
        let output = child.wait_with_output().expect("git ends").stdout;
        writer.join().expect("no panic").expect("git reads all names");
        let mut rest = output.as_slice();
        let mut found = BTreeMap::new();
        for path in paths {
            let end = rest.iter().position(|b| *b == b'\n').expect("a header");
            let header = std::str::from_utf8(&rest[..end]).expect("a header");
            let size: usize = header.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a size");
            if path.ends_with(".json") {
                let document = serde_json::from_slice(&rest[end + 1..end + 1 + size]);
                found.insert(path.clone(), document.unwrap_or_else(|e| panic!("{path}: {e}")));
            }
            rest = &rest[end + 2 + size..];
        }
        found
    }

    /// Ids of the runs recorded in a revision.
    pub fn recorded_runs(&self, revision: &str) -> BTreeSet<String> {
        let paths = self.lines(&["ls-tree", "-r", "--name-only", revision, "network/runs"]);
        let name = |p: &String| p.rsplit('/').next()?.strip_suffix(".json").map(str::to_owned);
        paths.iter().filter_map(name).filter(|n| !n.ends_with(".conflicts")).collect()
    }

    /// All refs with their commits.
    pub fn refs(&self) -> BTreeMap<String, String> {
        let lines = self.lines(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        lines.iter().filter_map(|l| l.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    /// Branches of runs that are not merged.
    pub fn run_branches(&self) -> Vec<String> {
        let all = self.refs().into_keys();
        all.filter_map(|name| name.strip_prefix("refs/heads/").map(str::to_owned))
            .filter(|name| name.starts_with("agents/") || name.starts_with("brain/agents/"))
            .collect()
    }

    /// How many objects the repository has, loose and packed.
    pub fn object_count(&self) -> usize {
        self.lines(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]).len()
    }

    /// Fails unless git finds nothing wrong: neither errors nor warnings. Unreachable objects are no fault.
    #[track_caller]
    pub fn fsck(&self) {
        let output = self
            .command("git", &["fsck", "--strict", "--full", "--no-dangling", "--no-progress"])
            .output()
            .expect("git is on the path");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.trim().is_empty(), "git fsck: {said}");
    }

    /// Locks that somebody left behind and that would block others. libgit2's half-written packs are named
    /// `pack_git2_….lock`, never twice the same; they block nobody, and maintenance takes them away after a day.
    pub fn stale_locks(&self) -> Vec<PathBuf> {
        let git_dir = PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]));
        walkdir::WalkDir::new(&git_dir)
            .into_iter()
            .map(|entry| entry.expect("a readable folder"))
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with("pack_git2_"))
            .map(walkdir::DirEntry::into_path)
            .filter(|path| path.extension().is_some_and(|e| e == "lock"))
            .collect()
    }
}

/// A neuron with what its file leaves out, as docs/format.md says: every field with its value, connections one by one.
pub fn whole(neuron: Value) -> Value {
    let own = |field: &str| neuron.get(field).cloned();
    let created = own("created_at").unwrap_or_default();
    let updated = own("last_salience_update").unwrap_or(created.clone());
    let count = own("activation_count").unwrap_or(json!(0));
    let last = if count == json!(0) { Value::Null } else { updated.clone() };
    let run = own("run").unwrap_or_default();
    let hash = run.as_str().map_or_else(
        || "0".repeat(16),
        |run| {
            use sha2::Digest;
            sha2::Sha256::digest(run.as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
        },
    );
    let both = |name: Value| json!({"concept": name, "type": name});
    let named_by = match own("named_by") {
        None => both(json!({"rank": 0, "run": run})),
        Some(Value::Null) => both(json!({"rank": 0, "run": null})),
        Some(Value::Number(rank)) => both(json!({"rank": rank, "run": run})),
        Some(named) if named.get("rank").is_some() => both(named),
        Some(named) => named,
    };
    let connections = match own("connections").unwrap_or(json!([])) {
        Value::Object(by_target) => {
            let single = by_target.iter().flat_map(|(target, weights)| {
                let by_type = match weights {
                    Value::Object(by_type) => by_type.clone(),
                    both => ["feeds_into", "recalls"].map(|link| (link.to_owned(), both.clone())).into_iter().collect(),
                };
                by_type.into_iter().map(move |(link, weight)| json!({"target": target, "weight": weight, "type": link}))
            });
            single.collect()
        }
        list => list,
    };
    let mut whole = json!({
        "id": neuron["id"],
        "concept": neuron["concept"],
        "type": neuron["type"],
        "salience": own("salience").unwrap_or(json!(0)),
        "last_salience_update": updated,
        "created_at": created,
        "last_activated": own("last_activated").unwrap_or(last),
        "activation_count": count,
        "run": run,
        "version": own("version").unwrap_or(json!(hash)),
        "named_by": named_by,
        "origin": own("origin").unwrap_or(json!("local")),
    });
    for field in ["pinned", "archived", "source", "session", "stimulus"] {
        if let Some(value) = own(field) {
            whole[field] = value;
        }
    }
    whole["connections"] = connections;
    whole
}

/// The weight of a connection of a neuron's document.
pub fn weight(neuron: &Value, to: &str, link: &str) -> Option<u64> {
    let list = neuron["connections"].as_array().expect("connections");
    list.iter().find(|c| c["target"] == to && c["type"] == link)?["weight"].as_u64()
}

/// A delta document of operations.
pub fn delta(ops: Value) -> Value {
    json!({ "ops": ops })
}

/// `create` of a semantic neuron whose concept is its id.
pub fn create(id: &str) -> Value {
    json!({"op": "create", "id": id, "concept": id, "type": "semantic"})
}

/// `connect`.
pub fn connect(from: &str, to: &str, link: &str, weight: u64) -> Value {
    json!({"op": "connect", "from": from, "to": to, "type": link, "weight": weight})
}

/// `adjust`.
pub fn adjust(from: &str, to: &str, link: &str, by: i64) -> Value {
    json!({"op": "adjust", "from": from, "to": to, "type": link, "by": by})
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Dice(pub u64);

impl Dice {
    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.roll() % n.max(1)
    }

    /// One of a list.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}
