use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::*;
use crate::store::sandbox::Sandbox;

const PROGRAM: &str = "/opt/it's here/git-brain";

/// A brain whose hooks lie where they do by default, whatever the global configuration of this machine says.
fn brain() -> Sandbox {
    let sandbox = Sandbox::brain();
    sandbox.git(&["config", "core.hooksPath", ".git/hooks"]);
    sandbox
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.path().join(".git/hooks")
}

fn put(path: &Path, content: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn done(report: &HooksReport) -> Vec<HookDone> {
    report.hooks.iter().map(|hook| hook.done).collect()
}

#[test]
fn files_that_were_not_there_are_made_and_go_again() {
    let sandbox = brain();
    let store = sandbox.store();
    assert!(store.hooks_status(PROGRAM).unwrap().all(HookState::Missing));
    let dry = store.install_hooks(PROGRAM, true).unwrap();
    assert_eq!(done(&dry), [HookDone::Created; 3]);
    assert!(!folder(&sandbox).join("pre-commit").exists(), "a dry run writes nothing");

    let report = store.install_hooks(PROGRAM, false).unwrap();
    assert_eq!((done(&report), report.shared), (vec![HookDone::Created; 3], false));
    assert_eq!(mode(&folder(&sandbox).join("post-merge")), 0o755);
    assert!(store.hooks_status(PROGRAM).unwrap().all(HookState::Installed));
    let once = std::fs::read(folder(&sandbox).join("pre-commit")).unwrap();
    assert_eq!(done(&store.install_hooks(PROGRAM, false).unwrap()), [HookDone::Nothing; 3]);
    assert_eq!(std::fs::read(folder(&sandbox).join("pre-commit")).unwrap(), once);

    assert!(store.hooks_status("/elsewhere/git-brain").unwrap().all(HookState::Altered));
    assert_eq!(done(&store.install_hooks("/elsewhere/git-brain", false).unwrap()), [HookDone::Replaced; 3]);
    assert_eq!(done(&store.remove_hooks(false).unwrap()), [HookDone::Deleted; 3]);
    for hook in HookName::ALL {
        assert!(!folder(&sandbox).join(hook.as_str()).exists());
    }
    assert_eq!(done(&store.remove_hooks(false).unwrap()), [HookDone::Nothing; 3]);
}

#[test]
fn removal_gives_back_every_byte_and_the_mode() {
    let cases = [
        "#!/bin/sh\n",
        "#!/bin/sh",
        "#!/usr/bin/env -S bash -e\necho é\n\n\n",
        "#!/bin/dash\n# no newline at the end\nexit 3",
        "echo no first line",
        "",
    ];
    for original in cases {
        let sandbox = brain();
        let path = folder(&sandbox).join("post-commit");
        put(&path, original, 0o750);
        let store = sandbox.store();
        assert_eq!(store.install_hooks(PROGRAM, false).unwrap().hooks[1].done, HookDone::Added, "{original:?}");
        let installed = std::fs::read_to_string(&path).unwrap();
        assert!(installed.contains(BEGIN) && installed.len() > original.len());
        assert_eq!(store.install_hooks(PROGRAM, false).unwrap().hooks[1].done, HookDone::Nothing, "{original:?}");
        store.install_hooks("other", false).unwrap();
        assert_eq!(store.remove_hooks(false).unwrap().hooks[1].done, HookDone::Removed);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
        assert_eq!(mode(&path), 0o750);
    }
}

#[test]
fn a_file_of_ours_that_somebody_added_to_stays() {
    let sandbox = brain();
    let store = sandbox.store();
    store.install_hooks(PROGRAM, false).unwrap();
    let path = folder(&sandbox).join("post-merge");
    let text = std::fs::read_to_string(&path).unwrap();
    put(&path, &format!("{text}echo mine\n"), 0o755);
    assert_eq!(store.remove_hooks(false).unwrap().hooks[2].done, HookDone::Removed);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\necho mine\n");
}

#[test]
fn what_is_no_shell_script_is_left_alone_with_a_reason() {
    let sandbox = brain();
    let (store, folder) = (sandbox.store(), folder(&sandbox));
    let python = "#!/usr/bin/env python3\nprint()\n";
    put(&folder.join("pre-commit"), python, 0o755);
    put(&folder.join("target"), "#!/bin/sh\n", 0o755);
    std::os::unix::fs::symlink("target", folder.join("post-commit")).unwrap();
    put(&folder.join("post-merge"), "#!/bin/sh\nswitched off\n", 0o644);
    let report = store.install_hooks(PROGRAM, false).unwrap();
    assert!(report.all(HookState::Closed), "{report:?}");
    for (hook, part) in report.hooks.iter().zip(["python3", "symlink to target", "not executable"]) {
        assert!(hook.message.as_ref().unwrap().contains(part), "{hook:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("pre-commit")).unwrap(), python);
    assert_eq!(std::fs::read_to_string(folder.join("target")).unwrap(), "#!/bin/sh\n");
    assert_eq!(mode(&folder.join("post-merge")), 0o644);
    store.remove_hooks(false).unwrap();
    assert!(folder.join("post-commit").is_symlink());
}

#[test]
fn damaged_marks_are_not_touched() {
    let sandbox = brain();
    let store = sandbox.store();
    let text = format!("#!/bin/sh\n{BEGIN}\necho half\n");
    put(&folder(&sandbox).join("pre-commit"), &text, 0o755);
    for report in [store.install_hooks(PROGRAM, false).unwrap(), store.remove_hooks(false).unwrap()] {
        assert_eq!((report.hooks[0].state, report.hooks[0].done), (HookState::Closed, HookDone::Nothing));
    }
    assert_eq!(std::fs::read_to_string(folder(&sandbox).join("pre-commit")).unwrap(), text);
}

#[test]
fn the_effective_folder_is_used_and_never_set() {
    let sandbox = brain();
    sandbox.git(&["config", "core.hooksPath", ".husky"]);
    let report = sandbox.store().install_hooks(PROGRAM, false).unwrap();
    assert_eq!((report.folder.file_name().unwrap().to_str(), report.shared), (Some(".husky"), false));
    assert!(sandbox.path().join(".husky/pre-commit").exists());
    sandbox.git(&["config", "core.hooksPath", "/dev/null"]);
    assert!(sandbox.store().install_hooks(PROGRAM, false).unwrap().all(HookState::Closed));
    assert_eq!(sandbox.git(&["config", "core.hooksPath"]).trim(), "/dev/null");
}

/// Installs around `original` with a program that notes its call and ends with `status`; runs the hook.
fn run(hook: HookName, original: &str, status: i32) -> (Option<i32>, String, String) {
    let sandbox = brain();
    let program = sandbox.beside("a dir/it's git-brain");
    let notes = sandbox.beside("notes");
    let script = format!("#!/bin/sh\nprintf '[%s]' \"$@\" >>'{}'\necho noise; exit {status}\n", notes.display());
    put(&program, &script, 0o755);
    let path = folder(&sandbox).join(hook.as_str());
    put(&path, original, 0o755);
    sandbox.store().install_hooks(program.to_str().unwrap(), false).unwrap();
    // Another test may start a program meanwhile, which has our files open until it runs.
    let busy = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ExecutableFileBusy;
    let mut outputs = std::iter::repeat_with(|| Command::new(&path).arg("an arg").output()).take(100);
    let ended = outputs.find(|output| !output.as_ref().is_err_and(busy)).unwrap().unwrap();
    let notes = std::fs::read_to_string(notes).unwrap_or_default();
    (ended.status.code(), notes, String::from_utf8(ended.stdout).unwrap())
}

#[test]
fn a_gate_refuses_and_a_doorbell_never_changes_the_status() {
    use HookName::{PostCommit, PreCommit};
    let original = "#!/bin/sh -eu\necho \"mine $1\"\nexit 7\n";
    let called = |hook: &str| format!("[hook][{hook}][an arg]");
    assert_eq!(run(PreCommit, original, 1), (Some(1), called("pre-commit"), "noise\n".into()));
    assert_eq!(run(PreCommit, original, 0), (Some(7), called("pre-commit"), "noise\nmine an arg\n".into()));
    assert_eq!(run(PostCommit, original, 1), (Some(7), called("post-commit"), "mine an arg\n".into()));
    assert_eq!(run(PostCommit, "#!/bin/sh", 1).0, Some(0));
}

#[test]
fn a_program_that_is_gone_blocks_nobody() {
    let sandbox = brain();
    let report = sandbox.store().install_hooks("/nowhere/git-brain", false).unwrap();
    for hook in report.hooks {
        let ended = Command::new(&hook.path).output().unwrap();
        assert!(ended.status.success(), "{hook:?}");
        assert_eq!(!ended.stderr.is_empty(), hook.hook.is_gate());
    }
}

/// A copied folder's configuration, or a link in it, could lead to anybody's folder.
#[test]
fn hooks_are_written_outside_at_nobodys_word_but_the_persons() {
    let sandbox = brain();
    let outside = tempfile::tempdir().unwrap();
    let refused = |store: &Store| {
        for done in [store.install_hooks(PROGRAM, false), store.install_hooks(PROGRAM, true), store.remove_hooks(false)]
        {
            assert!(matches!(done.unwrap_err(), StoreError::HooksAway { .. }));
        }
        assert!(store.hooks_status(PROGRAM).unwrap().shared, "looking is allowed");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    };
    let planted =
        [outside.path().to_owned(), outside.path().join("new"), PathBuf::from("../x"), PathBuf::from("a/../../x")];
    for path in planted {
        sandbox.git(&["config", "core.hooksPath", path.to_str().unwrap()]);
        refused(&sandbox.store());
    }
    std::os::unix::fs::symlink(outside.path(), sandbox.path().join("away")).unwrap();
    for path in ["away", "away/new"] {
        sandbox.git(&["config", "core.hooksPath", path]);
        refused(&sandbox.store());
    }
    sandbox.git(&["config", "--unset", "core.hooksPath"]);
    let _ = std::fs::remove_dir_all(folder(&sandbox));
    std::os::unix::fs::symlink(outside.path(), folder(&sandbox)).unwrap();
    refused(&sandbox.store());
}
