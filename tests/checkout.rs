//! What of a brain lies in the work tree: settings and agents from the start, the network for who asks.

use crate::real_git::{self, Brain, said};

const STIMULUS: &str = "network/neurons/14/2/external_stimulus.json";

/// Files of a folder of the work tree.
fn files(brain: &Brain, folder: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(brain.path().join(folder)) else { return 0 };
    let each = entries.map(|entry| {
        let path = format!("{folder}/{}", entry.unwrap().file_name().into_string().unwrap());
        if brain.path().join(&path).is_dir() { files(brain, &path) } else { 1 }
    });
    each.sum()
}

fn count(brain: &Brain, revision: &str, folder: &str) -> usize {
    brain.git(&["ls-tree", "-r", "--name-only", revision, folder]).lines().count()
}

fn clean(brain: &Brain) {
    assert_eq!(brain.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_new_brain_has_its_settings_on_disk_and_its_network_in_git() {
    let brain = Brain::as_made();
    assert!(files(&brain, "agents") > 0 && brain.path().join("brain.toml").exists());
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    brain.brain(&["sleep"]);
    assert!(count(&brain, "main", "network") > 20);
    assert_eq!(files(&brain, "network"), 0);
    clean(&brain);
    // What people do with plain git goes on.
    brain.edit("brain.toml", "[", "# by hand\n[");
    brain.git(&["commit", "-q", "-am", "settings"]);
    brain.git(&["checkout", "-q", "wake"]);
    assert_eq!((files(&brain, "network"), files(&brain, "agents") > 0), (0, true));
    brain.git(&["merge", "-q", "-m", "settings", "main"]);
    clean(&brain);
    brain.brain(&["feed", "Bob drinks coffee in Oslo."]);
    assert!(brain.git(&["grep", "-l", "coffee in Oslo", "wake", "--", "network/"]).contains("wake:network/"));
    assert_eq!(files(&brain, "network"), 0);
    clean(&brain);
}

#[test]
fn the_network_comes_and_goes_and_what_is_edited_stays() {
    let brain = Brain::as_made();
    let all = count(&brain, "main", "network");
    assert!(brain.brain(&["checkout"]).starts_with(&format!("{all} files of network/")));
    assert_eq!(files(&brain, "network"), all);
    clean(&brain);
    // It follows its branch as a whole work tree does.
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    brain.brain(&["sleep"]);
    assert_eq!(files(&brain, "network"), count(&brain, "main", "network"));
    let text = brain.read(STIMULUS);
    let (before, after) = text.split_once("\"concept\": \"").unwrap();
    brain.write(STIMULUS, &format!("{before}\"concept\": \"the {after}"));
    let said = brain.brain(&["checkout", "--none"]);
    assert!(said.contains("git add --sparse") && said.contains(&format!("  {STIMULUS}\n")), "{said}");
    assert_eq!(files(&brain, "network"), 1, "what is edited stays");
    brain.git(&["add", "--sparse", STIMULUS]);
    brain.git(&["commit", "-q", "--no-verify", "-m", "by hand"]);
    assert!(brain.git(&["show", &format!("main:{STIMULUS}")]).contains("\"the external"));
    brain.brain(&["checkout", "--none"]);
    assert_eq!(files(&brain, "network"), 0);
    clean(&brain);
}

#[test]
fn a_part_of_the_network_follows_and_the_rest_stays_out() {
    let brain = Brain::as_made();
    brain.brain(&["checkout", "neurons"]);
    assert_eq!(files(&brain, "network"), count(&brain, "main", "network/neurons"));
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    brain.brain(&["sleep"]);
    assert_eq!(files(&brain, "network/neurons"), count(&brain, "main", "network/neurons"));
    assert_eq!(files(&brain, "network/runs") + files(&brain, "network/stimuli"), 0);
    clean(&brain);
    brain.brain(&["checkout", "network/neurons/", "network/runs"]);
    assert_eq!(files(&brain, "network/runs"), count(&brain, "main", "network/runs"));
    brain.brain(&["checkout", "--none"]);
    brain.brain(&["checkout", "neurons/14"]);
    let told = brain.brain(&["checkout", "network/runs"]);
    assert!(told.contains("network/neurons/14, network/runs"), "{told}");
    assert!(brain.path().join(STIMULUS).exists(), "a folder is added to those that are there");
    assert_eq!(files(&brain, "network/runs"), count(&brain, "main", "network/runs"));
    assert_eq!(files(&brain, "network/neurons"), count(&brain, "main", "network/neurons/14"));
    brain.brain(&["checkout"]);
    brain.brain(&["checkout", "neurons/14"]);
    assert_eq!(files(&brain, "network"), count(&brain, "main", "network"), "all of it stays");
    for (folder, why) in [("neuron", "no folder network/neuron"), ("../x", "no folder"), ("neurons/*", "no folder")] {
        let ended = brain.try_brain(&["checkout", folder]);
        assert_eq!(ended.status.code(), Some(2), "{folder}");
        assert!(said(&ended).contains(why), "{folder}: {}", said(&ended));
    }
}

#[test]
fn a_file_that_is_edited_while_the_brain_moves_on_stays_and_takes_nothing_back() {
    let brain = Brain::as_made();
    brain.brain(&["feed", "Jonas met Marta in Lisbon."]);
    brain.brain(&["sleep"]);
    brain.brain(&["checkout", "neurons"]);
    let jonas = brain.git(&["ls-files", "network/neurons"]);
    let jonas = jonas.lines().find(|path| path.contains("/jonas-")).unwrap();
    brain.edit(jonas, "\"concept\": \"jonas\"", "\"concept\": \"Jonas M.\"");
    brain.brain(&["feed", "Jonas bought a bicycle for Marta."]);
    brain.brain(&["sleep"]);
    assert_eq!(brain.git(&["status", "--porcelain"]), format!(" M {jonas}\n"));
    // A commit of something else has nothing of it.
    brain.edit("brain.toml", "[", "# by hand\n[");
    brain.git(&["add", "brain.toml"]);
    brain.git(&["commit", "-q", "-m", "settings"]);
    assert_eq!(brain.git(&["show", "--name-only", "--format=", "HEAD"]), "brain.toml\n");
    // One of the file does what it says, and is told what that takes back.
    let ended = brain.try_git(&["commit", "-q", "-am", "Jonas M."]);
    assert!(ended.status.success() && said(&ended).contains("warning: network/"), "{}", said(&ended));
    assert!(said(&ended).contains("takes back what the brain did"), "{}", said(&ended));
}

#[test]
fn cones_that_a_person_set_are_kept_to() {
    let brain = Brain::as_made();
    brain.git(&["sparse-checkout", "set", "--cone", "agents"]);
    assert!(!brain.path().join("hooks").exists());
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    brain.brain(&["sleep"]);
    assert_eq!((files(&brain, "network"), files(&brain, "agents") > 0), (0, true));
    clean(&brain);
}

#[test]
fn a_linked_work_tree_is_asked_for_by_itself_and_code_has_none() {
    let brain = Brain::as_made();
    let linked = brain.path().with_file_name("linked");
    brain.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "wake"]);
    let ended = brain.command(real_git::PROGRAM, &linked, &["checkout"]).output().unwrap();
    assert!(ended.status.success(), "{}", said(&ended));
    assert!(linked.join("network/metadata.json").exists());
    assert_eq!(files(&brain, "network"), 0, "the other one is as it was");
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    let ended = brain.command("git", &linked, &["status", "--porcelain"]).output().unwrap();
    assert_eq!(said(&ended), "");

    let code = Brain::code();
    code.brain(&["init", "--in-repo", "."]);
    let ended = code.try_brain(&["checkout"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(said(&ended).contains("git worktree add ../brain brain/wake"), "{}", said(&ended));
}

#[test]
fn a_checkout_brings_back_what_somebody_removed_from_the_disk() {
    let brain = Brain::as_made();
    brain.brain(&["checkout"]);
    let all = files(&brain, "network");
    brain.write(STIMULUS, "{}");
    std::fs::rename(brain.path().join("network"), brain.path().join("away")).unwrap();
    std::fs::create_dir_all(brain.path().join(STIMULUS).parent().unwrap()).unwrap();
    brain.write(STIMULUS, "{}");
    std::fs::remove_dir_all(brain.path().join("away")).unwrap();
    brain.brain(&["checkout"]);
    assert_eq!((files(&brain, "network"), brain.read(STIMULUS)), (all, "{}".to_owned()), "and writes over no edit");
    brain.git(&["checkout", "-q", "--", "network"]);
    clean(&brain);
}

#[test]
fn a_clone_that_git_did_not_check_out_gets_the_settings_alone() {
    let brain = Brain::as_made();
    brain.brain(&["feed", "Alice drinks green tea in Kyoto."]);
    brain.brain(&["sleep"]);
    let from = brain.path().display().to_string();
    brain.git(&["clone", "-q", "--no-checkout", &from, "inside"]);
    let inside = |args: &[&str]| brain.git(&[&["-C", "inside"], args].concat());
    brain.brain(&["-C", "inside", "init", "--no-hooks"]);
    assert_eq!(inside(&["status", "--porcelain"]), "");
    assert!(files(&brain, "inside/agents") > 0 && brain.path().join("inside/brain.toml").exists());
    assert_eq!(files(&brain, "inside/network"), 0);
    brain.brain(&["-C", "inside", "feed", "Bob drinks coffee in Oslo."]);
    brain.brain(&["-C", "inside", "sleep"]);
    assert_eq!(inside(&["status", "--porcelain"]), "");
}
