//! Stolen keys at a gate that requires signatures: the key of an agent signs runs of that agent where they were made, that of
//! sleep signs sleeps, and neither anything else.
//!
//! Without `ssh-keygen` on the path these tests say so and pass.

use std::process::Command;

use crate::machines::{World, refused};
use crate::sandbox::create;
use serde_json::{Value, json};

/// A gate that requires signatures, and a machine `a` that signs: a person, the agents `memory` and `perception`, and sleep have
/// keys of their own.
pub fn signing() -> Option<World> {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        eprintln!("SKIPPED: there is no ssh-keygen");
        return None;
    }
    let world = World::gated();
    let sandbox = &world.sandbox;
    let mut allowed = String::new();
    for (name, identity) in [
        ("ann", "ann@example.invalid"),
        ("keys/memory", "memory@git-brain.invalid"),
        ("keys/perception", "perception@git-brain.invalid"),
        ("keys/evaluator", "evaluator@git-brain.invalid"),
        ("keys/sleep", "sleep@git-brain.invalid"),
    ] {
        let path = sandbox.file(name, "");
        std::fs::remove_file(&path).unwrap();
        let made = sandbox.command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path]).status().unwrap();
        assert!(made.success());
        allowed.push_str(&format!("{identity} {}", std::fs::read_to_string(format!("{path}.pub")).unwrap()));
    }
    let allowed = sandbox.file("allowed", allowed);
    let since = world.tip("a", "wake");
    for name in ["a", "remote.git"] {
        for (key, value) in [
            ("brain.sign", "true"),
            ("brain.signingKey", &sandbox.path("ann")),
            ("brain.agentKeys", &sandbox.path("keys")),
            ("brain.allowedSigners", &allowed),
            ("brain.requireSignatures", "true"),
            ("brain.signedSince", &since),
        ] {
            world.git(name, &["config", key, value]);
        }
    }
    Some(world)
}

/// That commit, signed by a key.
fn signed(world: &World, key: &str, commit: &str) -> String {
    let text = world.git("a", &["cat-file", "commit", commit]) + "\n";
    let file = world.sandbox.file("payload", &text);
    let _ = std::fs::remove_file(format!("{file}.sig"));
    let key = world.sandbox.path(key);
    let made =
        world.sandbox.command("ssh-keygen", &["-q", "-Y", "sign", "-n", "git", "-f", &key, &file]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let signature = std::fs::read_to_string(format!("{file}.sig")).unwrap();
    let header = format!("gpgsig {}\n\n", signature.trim_end().replace('\n', "\n "));
    let whole = world.sandbox.file("commit", text.replacen("\n\n", &format!("\n{header}"), 1));
    world.git("a", &["hash-object", "-t", "commit", "-w", &whole])
}

/// A commit of an agent, signed by its key.
fn of_agent(
    world: &World,
    agent: &str,
    from: &str,
    parents: &[&str],
    files: &[(&str, Option<&str>)],
    message: &str,
) -> String {
    let email = format!("{agent}@git-brain.invalid");
    let made = world.commit("a", from, parents, files, message, &[("GIT_AUTHOR_EMAIL", &email)]);
    signed(world, &format!("keys/{agent}"), &made)
}

/// A run of memory that waits: branch, commit, the path of its record, its record.
fn waiting(world: &World, ops: Value) -> (String, String, String, String) {
    let (branch, run) = world.waiting("a", "memory", ops);
    let path = world.path_of("a", &run, &format!("{}.json", branch.rsplit('/').next().unwrap()));
    let record = world.git("a", &["show", &format!("{run}:{path}")]) + "\n";
    (branch, run, path, record)
}

#[test]
fn an_agents_key_makes_no_sleep() {
    let Some(world) = signing() else { return };
    let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
    let night = "20260126t143200123z-abcd2345-sleep";
    let own = "20260126t143200123z-abcd2345-memory";
    let none = json!({"neurons_made": 0, "neurons_changed": 0, "neurons_removed": 0, "connections_made": 0, "connections_removed": 0,
        "strengthened": 0, "weakened": 0, "weight_gained": 0, "weight_lost": 0});
    let record = json!({"run": night, "at": "2026-01-26T14:32:00Z", "base": main, "snapshot": wake, "left_out": 0, "learnt_totals": none,
        "consolidated_totals": none, "totals": none, "further": 0, "learnt": [], "consolidated": []});
    let path = format!("network/sleep/2026/01/26/{}/{night}.json", shard(night));
    let message = format!("sleep\n\nRun: {own}\nSleep: {night}\nSnapshot: {wake}\n");
    let files = [(path.as_str(), Some(&*format!("{record:#}\n")))];
    let forged = of_agent(&world, "memory", &main, &[&main], &files, &message);
    refused(&world, "a sleep", &forged, "main", "no run of memory");
    // With the key of sleep it is one of sleep's, and says of itself what it is: here, that nothing happened, which is not so.
    let forged = of_agent(&world, "sleep", &main, &[&main], &files, &message.replace(own, night));
    refused(&world, "a made-up night", &forged, "main", "does not say that it changed");
    let undoes = of_agent(&world, "sleep", &main, &[&main], &[], &format!("x\n\nSleep: {night}\nUndoes: {night}\n"));
    refused(&world, "an undoing", &undoes, "main", "no run of sleep");
    let merge =
        of_agent(&world, "sleep", &wake, &[&wake, &main], &[("notes", Some("x"))], &format!("x\n\nSleep: {night}\n"));
    refused(&world, "a merge by hand", &merge, "wake", "no run of sleep");
    let odd = world.commit(
        "a",
        &main,
        &[&main],
        &[("notes", Some("x"))],
        "x\n",
        &[("GIT_AUTHOR_EMAIL", "Memory@git-brain.invalid")],
    );
    refused(&world, "an odd address", &signed(&world, "keys/memory", &odd), "main", "no agent's address");
}

#[test]
fn an_agents_key_brings_its_own_run_and_nothing_beside_it() {
    let Some(world) = signing() else { return };
    let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
    let (branch, run, path, record) = waiting(&world, json!([{"op": "activate", "id": "x", "strength": 0.5}]));
    let message = world.git("a", &["log", "-1", "--format=%B", &run]) + "\n";
    let agent = world.read("a", "agents/memory.json");
    let bold = agent.replacen("\"priority\": ", "\"priority\": 9", 1);
    let settings = world.read("a", "brain.toml") + "\n# mine\n";
    let x = world.path_of("a", &wake, "/x.json");
    let stronger = world.git("a", &["show", &format!("{wake}:{x}")]).replace(": 20000", ": 60000") + "\n";
    let own = branch.rsplit('/').next().unwrap().to_owned();
    // The record as it is, on main, with settings and an agent beside it.
    for (what, branch, from) in
        [("on main", "main", &main), ("on wake", "wake", &wake), ("on its branch", branch.as_str(), &wake)]
    {
        for files in [
            vec![
                (path.as_str(), Some(record.as_str())),
                ("agents/memory.json", Some(&bold)),
                ("brain.toml", Some(&settings)),
            ],
            vec![("agents/memory.json", Some(&bold))],
            vec![(x.as_str(), Some(&stronger))],
            vec![(&path, Some(&record)), (&x, Some(&stronger))],
        ] {
            let forged = of_agent(&world, "memory", from, &[from], &files, &message);
            refused(&world, what, &forged, branch, "");
        }
    }
    // The run itself, where it is, but on main.
    refused(&world, "a run on main", &run, "main", "takes runs by sleeps alone");
    // Its own record and one of a person, which is not done again, and a neuron that is written anew.
    let human = own.replace("-memory", "-human");
    let (day, _) = path.split_once(&format!("/{}/{own}", shard(&own))).unwrap();
    let by_human = format!("{day}/{}/{human}.json", shard(&human));
    let said = record.replace(&own, &human).replace("\"agent\": \"memory\"", "\"agent\": \"human\"");
    let files = [(path.as_str(), Some(record.as_str())), (&by_human, Some(&said)), (&x, Some(&stronger))];
    let forged = of_agent(&world, "memory", &wake, &[&wake], &files, &message);
    refused(&world, "two records", &forged, &branch, "is signed for memory, and is no run of memory where it was made");
    let forged = of_agent(&world, "memory", &wake, &[&wake], &files[1..], &message);
    refused(
        &world,
        "a person's record",
        &forged,
        &branch,
        "is signed for memory, and is no run of memory where it was made",
    );
    // Elsewhere than where it was made.
    let later = world.apply("a", json!([create("later")]))["commit"].as_str().unwrap().to_owned();
    let picked = of_agent(&world, "memory", &run, &[&later], &[], &message);
    refused(
        &world,
        "a run elsewhere",
        &picked,
        &branch,
        "is signed for memory, and is no run of memory where it was made",
    );
    // With another agent's key, and as it is.
    let foreign = world.commit("a", &run, &[&wake], &[], &message, &[("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")]);
    refused(
        &world,
        "another key",
        &signed(&world, "keys/perception", &foreign),
        &branch,
        "is not signed by memory@git-brain.invalid",
    );
    world.git("a", &["push", "-q", "origin", &branch]);
    world.brain("a", &["merge", &branch]);
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.slept("a");
    world.sync("a");
    world.json("a", &["sleep", "--undo"]);
    world.sync("a");
}

#[test]
fn a_key_that_was_removed_has_a_remedy_for_what_it_signed() {
    let Some(world) = signing() else { return };
    world.clone("c");
    for key in ["brain.sign", "brain.signingKey", "brain.agentKeys", "brain.allowedSigners", "brain.requireSignatures"]
    {
        world.git("c", &["config", key, &world.git("a", &["config", key])]);
    }
    let (branch, run, _, _) = waiting(&world, json!([{"op": "activate", "id": "x", "strength": 0.5}]));
    world.brain("a", &["merge", &branch]);
    let wake = world.tip("a", "wake");
    let allowed = world.sandbox.path("allowed");
    let keys = std::fs::read_to_string(&allowed).unwrap();
    let left: String =
        keys.lines().filter(|line| !line.starts_with("memory@")).map(|line| format!("{line}\n")).collect();
    assert_ne!(left, keys);
    std::fs::write(&allowed, left).unwrap();
    // The machine that has the commits is told that others will refuse them, and the gate refuses them.
    let doctor = world.try_brain("a", &["doctor"]).out;
    assert!(
        doctor.contains(&format!("commit {run} is not signed by memory@git-brain.invalid: ED25519 key SHA256:")),
        "{doctor}"
    );
    let remedy = format!("git config --add brain.signedSince {wake}");
    assert!(doctor.contains(&remedy), "{doctor}");
    assert!(
        doctor.contains(&format!("add a line with the address and the key to {allowed}, on each machine")),
        "{doctor}"
    );
    let said = world.try_brain("a", &["sync"]).exits(3).err;
    assert!(said.contains(&remedy) && said.contains("key SHA256:") && said.contains(&run), "{said}");
    // As it says, before the commit is there.
    world.git("remote.git", &["config", "brain.signedSince", &wake]);
    let said = world.try_brain("a", &["sync"]).exits(0);
    assert!((said.out.clone() + &said.err).contains(&format!("other machines may refuse the commit {run}")), "{said}");
    // A machine without those commits.
    let answer = world.try_brain("c", &["--json", "sync"]).exits(3);
    let said = answer.error();
    assert!(said["error"].as_str().unwrap().contains(&run[..12]), "{said}");
    assert!(said["error"].as_str().unwrap().contains("memory@git-brain.invalid: ED25519 key SHA256:"), "{said}");
    for command in said["hint"].as_str().unwrap().split('`').skip(1).step_by(2) {
        let ended = world.sandbox.command("sh", &["-c", command]).current_dir(world.dir("c")).output().unwrap();
        assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    world.sync("c");
    assert_eq!(world.tip("c", "wake"), wake);
}

#[test]
fn sync_pushes_no_commit_without_the_signature_that_is_required_here() {
    let Some(world) = signing() else { return };
    // Nobody else asks.
    world.git("remote.git", &["config", "brain.requireSignatures", "false"]);
    let (wake, there) = (world.tip("a", "wake"), world.tip("remote.git", "wake"));
    let notes = [("notes.md", Some("by hand"))];
    let plain = world.commit("a", &wake, &[&wake], &notes, "by hand", &[]);
    let text = world.git("a", &["cat-file", "commit", &signed(&world, "ann", &plain)]) + "\n";
    let file = world.sandbox.file("commit", text.replace("by hand", "by another hand"));
    let altered = world.git("a", &["hash-object", "-t", "commit", "-w", &file]);
    for (commit, why) in [(plain, "is not signed, and"), (altered, "is not signed by ann@example.invalid")] {
        world.git("a", &["update-ref", "refs/heads/wake", &commit]);
        let said = world.try_brain("a", &["sync"]).exits(3).err;
        assert!(
            said.contains(&format!("{} {why}", &commit[..12])) || said.contains(why) && said.contains(&commit),
            "{said}"
        );
        let remedy = format!("git config --add brain.signedSince {commit}");
        assert!(said.contains(&remedy) && said.contains("--without-refused"), "{said}");
        assert_eq!(world.tip("remote.git", "wake"), there);
        let report = world.try_brain("a", &["--json", "audit", "--all"]).exits(3).document();
        assert!(crate::audit::named(&report, &commit, "signature"), "{report}");
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    }
    // The remedy lets it out.
    let plain = world.commit("a", &wake, &[&wake], &notes, "by hand", &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &plain]);
    world.git("a", &["config", "--add", "brain.signedSince", &plain]);
    world.sync("a");
    assert_ne!(world.tip("remote.git", "wake"), there);
}

/// The same of decisions: their commits lead to no trunk, and have a line of their own in the settings.
#[test]
fn a_reviewer_whose_key_was_removed_has_a_remedy_for_what_was_decided() {
    let Some(world) = signing() else { return };
    world.write("a", "brain.toml", "[review]\nreviewers = [\"ann@example.invalid\"]\n");
    world.git(
        "a",
        &[
            "-c",
            "gpg.format=ssh",
            "-c",
            &format!("user.signingkey={}", world.sandbox.path("ann")),
            "commit",
            "-qa",
            "-S",
            "-m",
            "who decides",
        ],
    );
    let (approved, ..) = waiting(&world, json!([{"op": "activate", "id": "x", "strength": 0.5}]));
    let (rejected, ..) = waiting(&world, json!([{"op": "activate", "id": "x", "strength": 0.4}]));
    world.sync("a");
    world.clone("c");
    for key in ["brain.sign", "brain.signingKey", "brain.agentKeys", "brain.allowedSigners", "brain.requireSignatures"]
    {
        world.git("c", &["config", key, &world.git("a", &["config", key])]);
    }
    world.brain("a", &["approve", &approved]);
    world.brain("a", &["reject", &rejected, "--why", "no"]);
    world.sync("a");
    let allowed = world.sandbox.path("allowed");
    let keys = std::fs::read_to_string(&allowed).unwrap();
    let left: String = keys.lines().filter(|line| !line.starts_with("ann@")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&allowed, left).unwrap();
    for of in ["wake", "refs/brain/reviews"] {
        let answer = world.try_brain("c", &["sync"]);
        assert!(answer.code == 3 && answer.err.contains("is not signed by ann@example.invalid"), "{of}: {answer}");
        world.git("c", &["config", "--add", "brain.signedSince", &world.git("a", &["rev-parse", of])]);
    }
    world.sync("c");
    world.git("a", &["config", "--add", "brain.signedSince", &world.git("a", &["rev-parse", "wake"])]);
    world.git("a", &["config", "--add", "brain.signedSince", &world.git("a", &["rev-parse", "refs/brain/reviews"])]);
    world.same(&["a", "c"]);
}

#[test]
fn a_signed_branch_that_lies_here_is_done_again_before_it_is_merged() {
    let Some(world) = signing() else { return };
    let wake = world.tip("a", "wake");
    let (branch, run, _, _) = waiting(&world, json!([{"op": "activate", "id": "x", "strength": 0.5}]));
    let message = world.git("a", &["log", "-1", "--format=%B", &run]) + "\n";
    let x = world.path_of("a", &wake, "/x.json");
    let stronger = world.git("a", &["show", &format!("{run}:{x}")]).replace(": 20000", ": 60000") + "\n";
    // As one that waits for a person, and as one that is merged without being named.
    let unheld: String =
        message.lines().filter(|line| !line.starts_with("Review")).map(|line| format!("{line}\n")).collect();
    assert_ne!(unheld, message);
    for (message, args) in [(&message, &["merge", &branch][..]), (&unheld, &["merge"])] {
        let forged = of_agent(&world, "memory", &run, &[&wake], &[(&x, Some(&stronger))], message);
        world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &forged]);
        let answer = world.try_brain("a", args).exits(3);
        assert!(answer.out.contains("does not fit its operations"), "{answer}");
    }
    world.try_brain("a", &["run"]);
    assert_eq!(world.tip("a", "wake"), wake);
    // Nor does it go along with an honest run.
    world.apply("a", json!([create("honest")]));
    assert_eq!(world.neuron("a", "wake", "x")["connections"], world.neuron("a", &wake, "x")["connections"]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &run]);
    world.brain("a", &["merge", &branch]);
}

fn shard(id: &str) -> String {
    use sha2::Digest;
    format!("{:02x}", sha2::Sha256::digest(id.as_bytes())[0])
}
