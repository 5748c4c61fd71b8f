//! Git's hooks, run by real git: the gate before a commit, the doorbells after it.

use std::time::{Duration, Instant};

use crate::real_git::{Brain, said};
use git_brain::model::ids::{StimulusId, episode_id};
use git_brain::model::layout;
use git_brain::model::{Origin, Stamp, Stimulus};
use git_brain::store::{LockName, Store};

const STIMULUS: &str = "network/neurons/14/2/external_stimulus.json";

/// Commits what is staged; it must be refused, and nothing may have moved.
fn refused(brain: &Brain, arguments: &[&str]) -> String {
    let head = brain.rev("HEAD");
    let ended = brain.try_git(&[&["commit", "-q", "-m", "by hand"], arguments].concat());
    assert!(!ended.status.success(), "not refused: {}", said(&ended));
    assert_eq!(brain.rev("HEAD"), head);
    said(&ended)
}

fn stimulus(name: &str) -> (Stimulus, String) {
    let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
    let id = StimulusId::parse(name).unwrap();
    let path = layout::stimulus(&id, at);
    let stimulus = Stimulus {
        id,
        at,
        text: "Alice drinks green tea in Kyoto.".into(),
        source: None,
        session: None,
        origin: Origin::local(),
        answers: None,
        value: None,
        supersedes: Vec::new(),
        order: 0,
        code: None,
    };
    (stimulus, path)
}

/// Commits a stimulus on main; gives the path of the memory that it will become.
fn commit_stimulus(brain: &Brain, name: &str) -> String {
    let (stimulus, path) = stimulus(name);
    brain.write(&path, std::str::from_utf8(&stimulus.encode()).unwrap());
    brain.git(&["add", "-A"]);
    brain.git(&["commit", "-q", "-m", "something to remember"]);
    layout::neuron(&episode_id(&stimulus.id))
}

/// Waits for what a process in the background does. The bound is only there so that a failure ends.
fn comes(brain: &Brain, object: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    while !brain.try_git(&["cat-file", "-e", object]).status.success() {
        let log = std::fs::read_to_string(brain.path().join(".git/git-brain/hook.log")).unwrap_or_default();
        assert!(Instant::now() < end, "{object} does not come; log: {log}");
    }
}

#[test]
fn a_weight_may_be_edited_by_hand() {
    let brain = Brain::new();
    brain.edit(STIMULUS, "50000", "50001");
    brain.git(&["commit", "-q", "-am", "by hand"]);
    assert!(brain.git(&["show", "main:network/neurons/14/2/external_stimulus.json"]).contains("50001"));
}

#[test]
fn the_gate_names_every_fault_with_path_and_line() {
    let brain = Brain::new();
    brain.edit(STIMULUS, "    \"n_core_perception\"", "    \"nobody\"");
    brain.write("network/neurons/stray.json", "{}\n");
    brain.edit("network/neurons/7a/0/decision_point.json", "  \"salience\": 0", "  \"salience\":  0");
    brain.write("agents/critic.json", "{\n  \"name\": \"critic\",\n  \"speed\": 1\n}\n");
    brain.edit("brain.toml", "[", "decay = [");
    std::os::unix::fs::symlink("/etc/passwd", brain.path().join("network/link.json")).unwrap();
    brain.git(&["add", "-A"]);
    let said = refused(&brain, &[]);
    for part in [
        &format!("{STIMULUS}:9: a connection points to nobody"),
        "network/neurons/stray.json:1: nothing belongs",
        "network/neurons/7a/0/decision_point.json:5: is not in canonical form",
        "agents/critic.json:3: speed",
        "brain.toml:",
        "network/link.json:1: is a symlink",
        "hint: `git brain check --fix`",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    brain.git(&["reset", "-q", "--hard"]);
    brain.edit("network/neurons/7a/0/decision_point.json", "  \"salience\": 0", "  \"salience\":  0");
    refused(&brain, &["-a"]);
    brain.brain(&["check", "--fix"]);
    assert_eq!(brain.git(&["status", "--porcelain", "-uno"]), "", "what HEAD has is canonical");
}

#[test]
fn the_gate_looks_at_the_index_that_is_committed() {
    let brain = Brain::new();
    brain.write("network/stray.json", "{}\n");
    brain.git(&["add", "network/stray.json"]);
    brain.edit(STIMULUS, "50000", "50001");
    // Only the neuron: an index of git's own making, without the stray file.
    brain.git(&["commit", "-q", "-m", "by hand", "--", STIMULUS]);
    assert!(refused(&brain, &[]).contains("stray.json"));
    brain.git(&["rm", "-q", "--cached", "network/stray.json"]);
    // Broken in the work tree, but not staged.
    brain.write(STIMULUS, "{\n");
    brain.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    assert!(refused(&brain, &["-a"]).contains(STIMULUS));
    assert!(refused(&brain, &["-m", "by hand", "--", STIMULUS]).contains(STIMULUS));
}

#[test]
fn a_linked_work_tree_has_its_own_index() {
    let brain = Brain::new();
    brain.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let linked = brain.path().parent().unwrap().join("linked");
    std::fs::write(linked.join("network/stray.json"), "{}\n").unwrap();
    let git = |arguments: &[&str]| brain.command("git", &linked, arguments).output().unwrap();
    assert!(git(&["add", "-A"]).status.success());
    let ended = git(&["commit", "-q", "-m", "by hand"]);
    assert!(!ended.status.success() && said(&ended).contains("stray.json"), "{}", said(&ended));
}

#[test]
fn an_index_older_than_its_branch_is_refused_and_doctor_brings_it_up_to_date() {
    let brain = Brain::new();
    // The index is main's, the branch now wake, which has the first runs.
    brain.git(&["symbolic-ref", "HEAD", "refs/heads/wake"]);
    brain.write("README.md", "mine\n");
    brain.git(&["add", "README.md"]);
    let said = refused(&brain, &[]);
    assert!(said.contains("the index is older than its branch") && said.contains("git brain doctor"), "{said}");
    assert!(said.contains("network/runs/"), "{said}");
    let dry = brain.brain(&["doctor", "--dry-run"]);
    assert!(dry.contains("would do  work tree"), "{dry}");
    brain.brain(&["doctor"]);
    assert_eq!(brain.git(&["status", "--porcelain"]), "A  README.md\n");
    brain.git(&["commit", "-q", "-m", "mine"]);
}

#[test]
fn a_neuron_that_others_point_to_stays_and_a_revert_may_take_a_record_back() {
    let brain = Brain::new();
    brain.git(&["rm", "-q", "network/neurons/c5/e/n_core_perception.json"]);
    let said = refused(&brain, &[]);
    assert!(said.contains(&format!("{STIMULUS}:9: a connection points to n_core_perception")), "{said}");
    brain.git(&["reset", "-q", "--hard"]);
    let run = brain.pending(r#"{"op": "create", "id": "tea", "concept": "tea", "type": "semantic"}"#);
    brain.git(&["checkout", "-q", "-b", "topic", &run]);
    let record = brain.git(&["diff", "--name-only", "HEAD^", "HEAD", "--", "network/runs"]);
    brain.git(&["rm", "-q", record.trim()]);
    assert!(refused(&brain, &[]).contains("written once"));
    brain.git(&["reset", "-q", "--hard"]);
    brain.git(&["revert", "--no-commit", "HEAD"]);
    brain.git(&["commit", "-q", "-m", "taken back"]);
    assert_eq!(brain.rev("HEAD^{tree}"), brain.rev("HEAD~2^{tree}"));
}

#[test]
fn code_branches_beside_a_brain_are_none_of_the_gates_business() {
    let repository = Brain::code();
    repository.brain(&["init", "--in-repo", "--hooks"]);
    repository.write("network/socket.c", "int x;\n");
    repository.write("agents/README", "people\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "code"]);
    let wake = repository.rev("brain/wake");
    repository.write("brain.toml", "not = [toml\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "code"]);
    assert_eq!(repository.rev("brain/wake"), wake);
}

#[test]
fn a_committed_stimulus_is_remembered() {
    let brain = Brain::new();
    let memory = commit_stimulus(&brain, "s1");
    // The doorbell itself brings it into wake and queues it, before agents look at it.
    brain.git(&["merge-base", "--is-ancestor", "main", "wake"]);
    comes(&brain, &format!("wake:{memory}"));
    assert_eq!(brain.rev("main"), brain.rev("HEAD"), "nobody committed on main");
    brain.brain(&["run", "--until-quiet"]);
    let report = brain.brain(&["check"]);
    assert!(report.contains("all good"), "{report}");
}

/// Looks at the process that waits for the trunk.
#[cfg(target_os = "linux")]
fn in_a_session_of_its_own(brain: &Brain) {
    let mark = format!("{}\0hook\0ring\0main\0", brain.path().join(".git/").display());
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        assert!(Instant::now() < end, "no process in the background has its own session");
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let read = |file: &str| std::fs::read_to_string(process.path().join(file)).unwrap_or_default();
            if !read("cmdline").ends_with(&mark) {
                continue;
            }
            let stat = read("stat");
            let session = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(3)).map(str::to_owned);
            if session.as_deref() == process.file_name().to_str() {
                let fd = |n: &str| std::fs::read_link(process.path().join("fd").join(n)).unwrap();
                assert_eq!(fd("0"), std::path::Path::new("/dev/null"));
                assert!(fd("1").ends_with("hook.log") && fd("2").ends_with("hook.log"));
                return;
            }
        }
    }
}

#[test]
fn a_commit_waits_for_nobody() {
    let brain = Brain::new();
    let store = Store::open(&brain.path()).unwrap();
    let trunk = store.lock(LockName::Trunk).unwrap();
    let wake = brain.rev("wake");
    // Returns, with all its streams closed, while nobody else can move wake.
    let memory = commit_stimulus(&brain, "s1");
    assert_eq!(brain.rev("wake"), wake);
    #[cfg(target_os = "linux")]
    in_a_session_of_its_own(&brain);
    drop(trunk);
    comes(&brain, &format!("wake:{memory}"));
}

/// What sleep has pruned was remembered once: its stimulus, which sleep brings to main, is no news.
#[test]
fn what_a_sleep_brings_to_main_rings_for_nobody() {
    let brain = Brain::without_hooks();
    brain.brain(&["feed", "Alice drinks green tea in Kyoto.", "--source", "s1"]);
    let memories = brain.git(&["grep", "-l", "-e", "green tea in Kyoto", "wake", "--", "network/neurons"]);
    let memory = memories.trim().trim_start_matches("wake:").to_owned();
    let id = memory.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned();
    let branch = brain.pending(&format!(r#"{{"op": "archive", "id": "{id}", "reason": "no use"}}"#));
    brain.brain(&["merge", &branch]);
    brain.brain(&["hooks", "install"]);
    brain.brain(&["sleep"]);
    assert!(!brain.try_git(&["cat-file", "-e", &format!("wake:{memory}")]).status.success());
    let wake = brain.rev("wake");
    for branch in ["main", "wake"] {
        brain.brain(&["hook", "ring", branch]);
    }
    assert_eq!(brain.rev("wake"), wake, "nothing was queued again");
    assert!(!brain.try_git(&["cat-file", "-e", &format!("wake:{memory}")]).status.success());
}

#[test]
fn a_merge_rings_as_well() {
    let brain = Brain::new();
    brain.git(&["checkout", "-q", "-b", "topic"]);
    let memory = commit_stimulus(&brain, "s1");
    brain.git(&["checkout", "-q", "main"]);
    brain.git(&["merge", "-q", "--no-ff", "--no-edit", "topic"]);
    comes(&brain, &format!("wake:{memory}"));
}

#[test]
fn doorbells_ring_no_doorbells_and_fail_open() {
    let brain = Brain::new();
    let (wake, mark) = (brain.rev("wake"), brain.read(".git/git-brain/doorbell/main"));
    brain.edit(STIMULUS, "50000", "50001");
    let mut inside = brain.command("git", &brain.path(), &["commit", "-q", "-am", "by an agent"]);
    assert!(inside.env("BRAIN_IN_HOOK", "doorbell").status().unwrap().success());
    assert_eq!((brain.rev("wake"), brain.read(".git/git-brain/doorbell/main")), (wake.clone(), mark));
    // Settings that cannot be read stop every agent, and no commit.
    brain.edit("brain.toml", "[", "decay = [");
    brain.git(&["commit", "-q", "--no-verify", "-am", "broken"]);
    assert_eq!(brain.rev("wake"), wake);
    assert!(brain.read(".git/git-brain/hook.log").contains("brain.toml"));
    let ended = brain.try_brain(&["doctor"]);
    assert!(ended.status.code() == Some(1) && said(&ended).contains("you       policy"), "{}", said(&ended));
    brain.git(&["revert", "--no-edit", "HEAD"]);
    brain.git(&["merge-base", "--is-ancestor", "main", "wake"]);
}

#[test]
fn hooks_come_and_go() {
    let brain = Brain::new();
    assert_eq!(brain.brain(&["hooks", "status"]).matches("installed already").count(), 3);
    brain.brain(&["hooks", "remove"]);
    assert!(!brain.path().join(".git/hooks/pre-commit").exists());
    brain.write("network/stray.json", "{}\n");
    brain.git(&["add", "-A"]);
    brain.git(&["commit", "-q", "-m", "nobody looks"]);
    let ended = brain.try_brain(&["check", "HEAD"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(said(&ended).contains("network/stray.json:1: "), "{}", said(&ended));
}
