//! Signed runs: with real SSH keys, through `ssh-keygen` and git's own verification.
//!
//! Without `ssh-keygen` on the path these tests say so and pass.

use std::process::Command;

use crate::sandbox::{Sandbox, connect, create, delta};
use serde_json::json;

/// A brain whose person and whose agent `memory` have keys of their own; a stranger has one too.
fn signing() -> Option<Sandbox> {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        eprintln!("SKIPPED: there is no ssh-keygen");
        return None;
    }
    let sandbox = Sandbox::new();
    let mut allowed = String::new();
    for (name, identity) in [
        ("ann", Some("ann@example.invalid,perception@git-brain.invalid,sleep@git-brain.invalid")),
        ("keys/memory", Some("memory@git-brain.invalid")),
        ("keys/decision", Some("decision@git-brain.invalid")),
        ("stranger", None),
    ] {
        let path = sandbox.file(name, "");
        std::fs::remove_file(&path).unwrap();
        let made = sandbox.command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path]).status().unwrap();
        assert!(made.success());
        if let Some(identity) = identity {
            allowed.push_str(&format!("{identity} {}", std::fs::read_to_string(format!("{path}.pub")).unwrap()));
        }
    }
    let allowed = sandbox.file("allowed", allowed);
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    sandbox.git(&["config", "brain.sign", "true"]);
    sandbox.git(&["config", "brain.signingKey", &sandbox.path("ann")]);
    sandbox.git(&["config", "brain.agentKeys", &sandbox.path("keys")]);
    sandbox.git(&["config", "brain.allowedSigners", &allowed]);
    sandbox.git(&["config", "gpg.ssh.allowedSignersFile", &allowed]);
    sandbox.git(&["config", "brain.requireSignatures", "true"]);
    sandbox.git(&["config", "brain.signedSince", &sandbox.tip("wake")]);
    Some(sandbox)
}

/// The branch of a run that waits: memory activates, a person creates.
fn held(sandbox: &Sandbox, agent: &str) -> String {
    let op = match agent {
        "memory" => json!({"op": "activate", "id": "tea", "strength": 0.5}),
        _ => create("coffee"),
    };
    let run = sandbox.apply(&delta(json!([op])), &["--agent", agent, "--no-merge"]);
    run["branch"].as_str().unwrap().to_owned()
}

/// Merging it is refused for that reason, and wake stays.
#[track_caller]
fn refused(sandbox: &Sandbox, branch: &str, why: &str) {
    let before = sandbox.tip("wake");
    let answer = sandbox.brain(&["merge", branch]).exits(3);
    assert!(format!("{}{}", answer.out, answer.err).contains(why), "{answer}");
    assert_eq!(sandbox.tip("wake"), before);
}

/// The commit of a branch, remade by `change`, as a branch of its own.
fn remade(sandbox: &Sandbox, branch: &str, name: &str, change: impl Fn(String) -> String) -> String {
    let commit = change(sandbox.git(&["cat-file", "commit", branch]) + "\n");
    let file = sandbox.file("commit", commit);
    let id = sandbox.git(&["hash-object", "-t", "commit", "-w", &file]);
    sandbox.git(&["branch", "-f", name, &id]);
    name.to_owned()
}

/// A commit without its signature.
fn stripped(commit: String) -> String {
    let mut inside = false;
    let kept = commit.split_inclusive('\n').filter(|line| {
        inside = line.starts_with("gpgsig ") || (inside && line.starts_with(' '));
        !inside
    });
    kept.collect()
}

#[test]
fn a_whole_day_is_signed_and_git_verifies_it() {
    let Some(sandbox) = signing() else { return };
    let since = sandbox.tip("wake");
    let branch = held(&sandbox, "memory");
    sandbox.git(&["verify-commit", &branch]);
    sandbox.brain(&["merge", &branch]).exits(0);
    let fed = sandbox.json(&["feed", "we drink tea in the morning"]);
    assert!(fed["runs"].as_array().unwrap().iter().all(|run| run["merged"].is_string()), "{fed}");
    sandbox.apply(&delta(json!([connect("tea", "n_core_memory", "feeds_into", 20000)])), &[]);
    sandbox.brain(&["sleep"]).exits(0);
    let new = sandbox.lines(&["rev-list", "wake", "main", &format!("^{since}"), "^main~1"]);
    assert!(new.len() >= 8, "{}", sandbox.git(&["log", "--oneline", "--graph", "wake", "main"]));
    new.iter().for_each(|commit| drop(sandbox.git(&["verify-commit", commit])));
    sandbox.brain(&["check"]).exits(0);
    sandbox.fsck();
}

#[test]
fn what_is_unsigned_or_by_another_key_is_not_merged() {
    let Some(sandbox) = signing() else { return };
    let branch = held(&sandbox, "memory");
    let bare = remade(&sandbox, &branch, "bare", stripped);
    refused(&sandbox, &bare, "is not signed");
    let changed = remade(&sandbox, &branch, "changed", |commit| commit.replace("Agent: memory", "Agent: Memory"));
    assert_ne!(sandbox.tip(&changed), sandbox.tip(&branch), "the text that is replaced is there");
    refused(&sandbox, &changed, "is not signed by memory@git-brain.invalid");
    sandbox.git(&["config", "brain.signingKey", &sandbox.path("stranger")]);
    let foreign = held(&sandbox, "human");
    refused(&sandbox, &foreign, "is not signed by ann@example.invalid");
    sandbox.brain(&["merge", &branch]).exits(0);
}

#[test]
fn a_key_signs_for_its_own_role_alone() {
    let Some(sandbox) = signing() else { return };
    // The key of decision, for a run of memory.
    for kind in ["", ".pub"] {
        let [from, to] = ["decision", "memory"].map(|agent| sandbox.beside(&format!("keys/{agent}{kind}")));
        std::fs::copy(from, to).unwrap();
    }
    let forged = held(&sandbox, "memory");
    refused(&sandbox, &forged, "is not signed by memory@git-brain.invalid");
    // An agent's key, for a merge that says it is a person's.
    sandbox.git(&["config", "brain.signingKey", &sandbox.path("keys/decision")]);
    let forged = held(&sandbox, "human");
    refused(&sandbox, &forged, "is not signed by ann@example.invalid");
}

#[test]
fn an_agents_key_signs_nothing_but_runs_of_its_own() {
    let Some(sandbox) = signing() else { return };
    let branch = held(&sandbox, "memory");
    sandbox.git(&["config", "gpg.format", "ssh"]);
    sandbox.git(&["config", "user.signingKey", &sandbox.path("keys/memory")]);
    let tree = format!("{branch}^{{tree}}");
    let mut sign = sandbox.command("git", &["commit-tree", "-S", "-p", "wake", "-m", "no run", &tree]);
    for role in ["AUTHOR", "COMMITTER"] {
        sign.env(format!("GIT_{role}_EMAIL"), "memory@git-brain.invalid");
    }
    let made = sign.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let commit = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    sandbox.git(&["verify-commit", &commit]);
    refused(&sandbox, &commit, "is by memory, and no run of memory");
}

#[test]
fn a_replayed_run_changes_nothing() {
    let Some(sandbox) = signing() else { return };
    let branch = held(&sandbox, "memory");
    let commit = sandbox.tip(&branch);
    sandbox.brain(&["merge", &branch]).exits(0);
    let before = sandbox.tip("wake");
    // The very commit again, and the same change on top of what came since.
    sandbox.brain(&["merge", &commit]).exits(0);
    assert_eq!(sandbox.tip("wake"), before);
    let onto = remade(&sandbox, &commit, "replayed", |text| {
        let parent = sandbox.tip(&format!("{commit}~1"));
        text.replace(&format!("parent {parent}"), &format!("parent {before}"))
    });
    refused(&sandbox, &onto, "is not signed by memory@git-brain.invalid");
}

#[test]
fn what_cannot_be_verified_is_refused_and_says_why() {
    let Some(sandbox) = signing() else { return };
    let branch = held(&sandbox, "memory");
    sandbox.git(&["config", "--unset", "brain.allowedSigners"]);
    sandbox.git(&["config", "--unset", "gpg.ssh.allowedSignersFile"]);
    let before = sandbox.tip("wake");
    let answer = sandbox.brain(&["merge", &branch]).exits(2);
    assert!(answer.err.contains("brain.allowedSigners"), "{answer}");
    // A file of the tree cannot name who may sign.
    sandbox.git(&["config", "brain.allowedSigners", "allowed"]);
    sandbox.brain(&["merge", &branch]).exits(2);
    sandbox.git(&["config", "brain.signingKey", "/nonexistent"]);
    let answer = sandbox.try_apply(&delta(json!([create("coffee")])), &[]).exits(2);
    assert!(answer.err.contains("/nonexistent"), "{answer}");
    assert_eq!(sandbox.tip("wake"), before);
}

#[test]
fn nothing_unsigned_is_made_where_signatures_are_required() {
    let Some(sandbox) = signing() else { return };
    sandbox.git(&["config", "brain.sign", "false"]);
    let before = sandbox.tip("wake");
    let answer = sandbox.brain(&["feed", "tea"]).exits(2);
    assert!(answer.err.contains("brain.sign"), "{answer}");
    assert_eq!(sandbox.tip("wake"), before);
}

#[test]
fn check_names_what_is_not_signed() {
    let Some(sandbox) = signing() else { return };
    sandbox.git(&["config", "brain.sign", "false"]);
    sandbox.git(&["config", "brain.requireSignatures", "false"]);
    let run = sandbox.apply(&delta(json!([create("coffee")])), &[]);
    sandbox.brain(&["check"]).exits(0);
    sandbox.git(&["config", "brain.requireSignatures", "true"]);
    let answer = sandbox.brain(&["check"]).exits(1);
    // What is wrong with a commit has no line.
    let commit = run["commit"].as_str().unwrap();
    assert!(answer.out.lines().any(|line| line.starts_with(&format!("{commit}: is "))), "{answer}");
    let found = sandbox.brain(&["--json", "check"]).exits(1).document();
    let finding = found["findings"].as_array().unwrap().iter().find(|f| f["path"] == commit).unwrap();
    assert!(finding.get("line").is_none(), "{finding}");
    sandbox.git(&["config", "brain.signedSince", &sandbox.tip("wake")]);
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn what_a_person_committed_unsigned_does_not_reach_wake_and_the_way_out_works() {
    let Some(sandbox) = signing() else { return };
    let bare = sandbox.path("remote.git");
    sandbox.git(&["config", "brain.requireSignatures", "false"]);
    sandbox.brain(&["init", "--bare", &bare]).exits(0);
    sandbox.git(&["remote", "add", "origin", &bare]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["sync"]).exits(0);
    sandbox.git(&["config", "brain.requireSignatures", "true"]);
    sandbox.git(&["checkout", "-q", "main"]);
    for name in ["one", "two"] {
        std::fs::write(sandbox.dir().join(format!("{name}.md")), name).unwrap();
        sandbox.git(&["add", "."]);
        sandbox.git(&["commit", "-q", "--no-verify", "-m", name]);
    }
    let (wake, unsigned) = (sandbox.tip("wake"), sandbox.tip("main"));
    let refused = sandbox.brain(&["sync"]).exits(3).err;
    assert!(refused.contains(&unsigned) && refused.contains("is not signed"), "{refused}");
    assert_eq!(sandbox.tip("wake"), wake);
    // The command stands in the hint, as it is typed.
    let command = refused.split('`').find(|part| part.starts_with("git rebase")).unwrap().to_owned();
    sandbox.git(&["config", "gpg.format", "ssh"]);
    sandbox.git(&["config", "user.signingKey", &sandbox.path("ann")]);
    sandbox.git(&["config", "user.email", "ann@example.invalid"]);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let done = sandbox.command("git", &words).env("GIT_AUTHOR_EMAIL", "ann@example.invalid").status().unwrap();
    assert!(done.success());
    sandbox.brain(&["sync"]).exits(0);
    assert_ne!(sandbox.tip("wake"), wake);
}

#[test]
fn a_decision_teaches_once_where_its_lesson_has_no_key_yet() {
    let Some(sandbox) = signing() else { return };
    sandbox.brain(&["feed", "--origin", "web:example.org", "The vault code was moved to the blue drawer"]).exits(0);
    let run = sandbox.json(&["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    let said = sandbox.brain(&["approve", &run, "--why", "ok"]).exits(0);
    assert!(said.out.contains("Approved"), "{said}");
    let told = said.out.clone() + &said.err;
    assert!(told.contains("the decision is carried out") && told.contains("evaluator"), "{told}");
    for _ in 0..2 {
        sandbox.brain(&["run"]);
        sandbox.brain(&["approve", &run, "--why", "ok"]).exits(0);
    }
    let lessons = sandbox.run_branches().into_iter().filter(|branch| branch.contains("evaluator")).count();
    assert_eq!(lessons, 1, "{:?}", sandbox.run_branches());
    let allowed = sandbox.path("allowed");
    let key = std::fs::read_to_string(sandbox.path("ann.pub")).unwrap();
    let signers = std::fs::read_to_string(&allowed).unwrap();
    std::fs::write(&allowed, format!("{signers}evaluator@git-brain.invalid {key}")).unwrap();
    sandbox.brain(&["run"]).exits(0);
    sandbox.brain(&["approve", &run]).exits(0);
    assert_eq!(sandbox.documents("wake", "network/ledger").len(), 1);
    assert!(sandbox.run_branches().is_empty());
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn the_sample_of_allowed_signers_names_every_agent_of_a_new_brain() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/signing.md")).unwrap();
    let sample: String = page.lines().filter(|line| line.contains(" ssh-ed25519 AAAA")).collect();
    let mut agents = vec!["sleep".to_owned()];
    for file in std::fs::read_dir(root.join("agents")).unwrap() {
        agents.push(file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
    }
    assert!(agents.len() > 5, "{agents:?}");
    for agent in agents.iter().filter(|agent| !agent.contains('.')) {
        assert!(
            sample.contains(&format!("{agent}@git-brain.invalid")),
            "{agent} is not in the sample of docs/signing.md"
        );
    }
}

/// Signatures are chance, and chance spells every token some day: what is looked at for secrets is what was signed.
#[test]
fn a_signature_that_spells_a_token_is_no_secret() {
    let sandbox = Sandbox::new();
    let token = format!("ATBB{}", "aB3dE5gH7jK9mN1p".repeat(2));
    let script = format!(
        "#!/bin/sh\ncat >/dev/null\nprintf -- '-----BEGIN SSH SIGNATURE-----\\n{token}\\n-----END SSH SIGNATURE-----\\n'\n"
    );
    let tool = sandbox.file("bin/ssh-keygen", script);
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.git(&["config", "brain.sign", "true"]);
    sandbox.git(&["config", "brain.signingKey", &sandbox.file("key", "no key")]);
    let path = format!("{}:{}", sandbox.path("bin"), std::env::var("PATH").unwrap());
    let sandbox = sandbox.with("PATH", &path);
    sandbox.brain(&["feed", "--no-run", "tea in the morning"]).exits(0);
    assert!(sandbox.git(&["cat-file", "commit", "wake"]).contains(&token));
    // What is signed is still looked at: a token in a text is redacted where it comes in.
    sandbox.brain(&["feed", "--no-run", &format!("the token is {token}")]).exits(0);
    assert_eq!(sandbox.git(&["grep", "-c", "the token is", "wake"]).lines().count(), 1);
    assert!(!sandbox.git(&["grep", "-h", "the token is", "wake"]).contains(&token));
}
