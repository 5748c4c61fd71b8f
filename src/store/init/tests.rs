use std::fs;

use super::*;
use crate::store::sandbox::{Sandbox, first, git, seed, write};

fn tip(dir: &Path, name: &str) -> String {
    git(dir, &["rev-parse", name]).trim().to_owned()
}

#[test]
fn a_brain_of_its_own() {
    let sandbox = Sandbox::empty();
    let made = create(&sandbox.path(), seed(), &first(), "git-brain").unwrap();
    let dir = sandbox.path();
    assert_eq!(sandbox.git(&["status", "--porcelain", "--branch"]), "## main\n");
    assert_eq!(tip(&dir, "main"), made.commit.to_string());
    assert_eq!(tip(&dir, "wake"), tip(&dir, "main"));
    assert_eq!(fs::read_to_string(dir.join("brain.toml")).unwrap(), "# settings\n");
    assert!(!dir.join("network").exists(), "nobody asked for it yet");
    let config = |key: &str| sandbox.git(&["config", "--local", key]).trim().to_owned();
    assert_eq!(config("gc.auto"), "0");
    assert_eq!(config("merge.git-brain.driver"), "git-brain merge-driver %O %A %B %P");
    let merge = sandbox.git(&["check-attr", "merge", "network/neurons/ab/c/tea.json", "brain.toml"]);
    assert!(merge.contains("tea.json: merge: git-brain") && merge.contains("brain.toml: merge: unspecified"));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%(trailers:key=Format,valueonly)"]).trim(), "1");
    assert!(
        !dir.join(".git/hooks")
            .read_dir()
            .is_ok_and(|mut d| d.any(|e| e.is_ok_and(|e| !e.file_name().to_string_lossy().starts_with("README"))))
    );
    sandbox.fsck();
    let store = sandbox.store();
    assert_eq!((store.main().as_str(), store.wake().as_str()), ("main", "wake"));
    assert!(matches!(create(&dir, seed(), &first(), "git-brain"), Err(StoreError::AlreadyBrain { .. })));
    assert!(matches!(create_in_repo(&dir, seed(), &first(), "git-brain"), Err(StoreError::AlreadyBrain { .. })));
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let sandbox = Sandbox::empty();
    let dir = sandbox.path();
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("mine"), "").unwrap();
    assert!(matches!(create(&dir, seed(), &first(), "git-brain"), Err(StoreError::NotEmpty { .. })));
    assert!(!dir.join(".git").exists());
    fs::remove_file(dir.join("mine")).unwrap();
    git(&dir, &["init", "-q"]);
    for inside in [dir.clone(), dir.join("below")] {
        let error = create(&inside, seed(), &first(), "git-brain").unwrap_err();
        assert!(matches!(error, StoreError::InsideRepository { .. }));
        assert!(error.hint().unwrap().contains("--in-repo"));
    }
    assert!(matches!(Store::open(&dir), Err(StoreError::NoBrain { .. })));
    let error = Store::open(&sandbox.beside("")).err().unwrap();
    assert!(matches!(error, StoreError::NoRepository { .. }), "{error}");
}

#[test]
fn only_the_local_configuration_makes_a_brain() {
    let sandbox = Sandbox::brain();
    let clone = sandbox.beside("clone");
    git(&sandbox.beside(""), &["clone", "-q", sandbox.path().to_str().unwrap(), clone.to_str().unwrap()]);
    assert!(matches!(Store::open(&clone), Err(StoreError::NoBrain { .. })));
    // The clone of a brain is adopted with the origin's branches.
    let made = create_in_repo(&clone, seed(), &first(), "git-brain").unwrap();
    assert!(made.adopted);
    assert_eq!((made.main.as_str(), made.wake.as_str()), ("main", "wake"));
    assert_eq!(tip(&clone, "wake"), tip(&sandbox.path(), "wake"));
}

fn project(sandbox: &Sandbox) -> PathBuf {
    let dir = sandbox.path();
    fs::create_dir_all(dir.join("src")).unwrap();
    git(&dir, &["init", "-q", "-b", "main"]);
    fs::write(dir.join("src/code"), "code\n").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-qm", "code"]);
    fs::write(dir.join("src/code"), "edited\n").unwrap();
    fs::create_dir_all(dir.join(".git/info")).unwrap();
    fs::write(dir.join(".git/info/attributes"), "*.bin binary").unwrap();
    dir
}

#[test]
fn in_a_repository_it_touches_nothing_but_its_own() {
    let sandbox = Sandbox::empty();
    let dir = project(&sandbox);
    let state = || {
        let look = ["rev-parse HEAD main", "symbolic-ref HEAD", "status --porcelain", "ls-files -s"];
        let said: Vec<String> = look.iter().map(|l| git(&dir, &l.split(' ').collect::<Vec<_>>())).collect();
        (said, fs::read(dir.join(".git/index")).unwrap())
    };
    let before = state();
    let made = create_in_repo(&dir.join("src"), seed(), &first(), "/opt/my tools/git-brain").unwrap();
    assert_eq!(state(), before);
    assert!(!made.adopted && made.main.as_str() == "brain/main");
    assert_eq!(tip(&dir, "brain/wake"), made.commit.to_string());
    assert_eq!(git(&dir, &["rev-list", "--count", "brain/main"]).trim(), "1");
    let driver = git(&dir, &["config", "--local", "merge.git-brain.driver"]);
    assert_eq!(driver.trim(), "'/opt/my tools/git-brain' merge-driver %O %A %B %P");
    let attributes = fs::read_to_string(dir.join(".git/info/attributes")).unwrap();
    assert!(attributes.starts_with("*.bin binary\n# git-brain: begin\n"));
    let asked = git(&dir, &["check-attr", "merge", "network/neurons/ab/c/tea.json", "network/code.rs", "src/code"]);
    assert_eq!(asked.matches(": git-brain").count(), 1, "{asked}");
    assert!(matches!(create_in_repo(&dir, seed(), &first(), "x"), Err(StoreError::AlreadyBrain { .. })));
    // A clone adopts the branches from its origin.
    let clone = sandbox.beside("clone");
    git(&sandbox.beside(""), &["clone", "-q", dir.to_str().unwrap(), clone.to_str().unwrap()]);
    let adopted = create_in_repo(&clone, vec![write("network/metadata.json", "other")], &first(), "git-brain").unwrap();
    assert!(adopted.adopted);
    assert_eq!(adopted.commit, made.commit);
    assert_eq!(git(&clone, &["status", "--porcelain"]), "");
}

#[test]
fn a_killed_init_is_run_again() {
    // What each step leaves, undone to the step before the configuration.
    for cut in 0..4 {
        let sandbox = Sandbox::brain();
        let dir = sandbox.path();
        fs::write(dir.join(".git/git-brain/init"), "").unwrap();
        sandbox.git(&["config", "--unset", "brain.wake"]);
        fs::write(dir.join("_git2_a1b2"), "").unwrap();
        if cut >= 1 {
            sandbox.git(&["config", "--remove-section", "brain"]);
            fs::remove_file(dir.join(".git/info/attributes")).unwrap();
        }
        if cut >= 2 {
            fs::remove_file(dir.join("brain.toml")).unwrap();
            fs::remove_file(dir.join(".git/index")).unwrap();
        }
        if cut >= 3 {
            sandbox.git(&["update-ref", "-d", "refs/heads/main"]);
        }
        fs::write(dir.join(".git/config.lock"), "").unwrap();
        let later = FirstCommit { at: first().at + 60, ..first() };
        let made = create(&dir, seed(), &later, "git-brain").unwrap();
        assert_eq!(tip(&dir, "main"), made.commit.to_string());
        assert_eq!(tip(&dir, "wake"), tip(&dir, "main"));
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{cut}");
        assert!(!dir.join(".git/git-brain/init").exists());
        assert_eq!(fs::read_to_string(dir.join(".git/info/attributes")).unwrap().matches("begin").count(), 1);
        sandbox.fsck();
    }
}
