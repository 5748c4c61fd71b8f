//! Branches of runs with commits of people upon them, branches that are checked out, and refs in the place of others.

use crate::machines::World;
use crate::review_second::{as_person, run_of, world};
use crate::sandbox::create;
use serde_json::json;

const TWO: &str = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

/// A run that waits in `a` and `b`: its branch and commit.
fn waits(gate: bool) -> (World, String, String) {
    let world = world(if gate { World::gated() } else { World::new() }, TWO);
    world.clone("b");
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    world.sync("a");
    world.sync("b");
    (world, branch, commit)
}

/// A person's commits upon a branch of `b`, the last one.
fn upon(world: &World, branch: &str, commits: usize) -> String {
    for number in 0..commits {
        let tip = world.tip("b", branch);
        let note = format!("work {number}");
        let made = world.commit("b", &tip, &[&tip], &[("note.txt", Some(&note))], "my work on it", &[]);
        world.git("b", &["update-ref", &format!("refs/heads/{branch}"), &made]);
    }
    world.tip("b", branch)
}

/// The commit outlives git's pruning, and a message named it.
#[track_caller]
fn is_kept(world: &World, commit: &str, said: &crate::sandbox::Answer) {
    assert!(said.to_string().contains(&format!("refs/git-brain/rescue/{commit}")), "{said}");
    world.git("b", &["reflog", "expire", "--expire=now", "--all"]);
    world.git("b", &["gc", "-q", "--prune=now"]);
    assert_eq!(world.git("b", &["cat-file", "-t", commit]), "commit");
}

#[test]
fn commits_upon_a_run_outlive_a_decision() {
    for (at, decision) in [&["approve"][..], &["reject"], &["approve", "--only", "2"]].into_iter().enumerate() {
        let (world, branch, _) = waits(at != 1);
        let mine = upon(&world, &branch, 1 + at % 2);
        let args = [&decision[..1], &[branch.as_str()], &decision[1..]].concat();
        as_person(&world, "a", "ben", &args).exits(0);
        world.sync("a");
        let said = world.try_brain("b", &["sync"]).exits(0);
        is_kept(&world, &mine, &said);
        assert_eq!(world.git("b", &["branch", "--list", "agents/*"]), "");
        assert_eq!(world.json("b", &["review"])["waiting"], json!([]));
        world.sync("a");
        world.same(&["a", "b"]);
    }
    // The same on one machine.
    let (world, branch, _) = waits(true);
    let mine = upon(&world, &branch, 1);
    let said = as_person(&world, "b", "mara", &["reject", &branch]).exits(0);
    is_kept(&world, &mine, &said);
}

#[test]
fn a_branch_of_a_remote_with_a_persons_commits_stays_there() {
    for decision in ["approve", "reject"] {
        let (world, branch, _) = waits(false);
        let mine = upon(&world, &branch, 1);
        world.git("b", &["push", "-q", "origin", &branch]);
        as_person(&world, "a", "ben", &[decision, &branch]).exits(0);
        let said = world.try_brain("a", &["sync"]).exits(0);
        assert!(said.to_string().contains(&format!("git push origin --delete {branch}")), "{said}");
        assert_eq!(world.tip("remote.git", &branch), mine);
        // It waits nowhere.
        world.sync("b");
        for machine in ["a", "b", "a"] {
            world.sync(machine);
            assert_eq!(world.json(machine, &["review"])["waiting"], json!([]), "{decision}");
        }
        assert_eq!(world.tip("remote.git", &branch), mine);
        world.same(&["a", "b"]);
        world.git("b", &["push", "-q", "origin", "--delete", &branch]);
        assert!(!world.try_brain("a", &["sync"]).exits(0).to_string().contains("--delete"));
    }
}

#[test]
fn every_machine_keeps_a_run_that_was_rejected() {
    for (decision, is_kept) in
        [(&["reject"][..], true), (&["reject", "--forget"], false), (&["approve", "--only", "2"], true)]
    {
        let (world, branch, commit) = waits(true);
        let args = [&decision[..1], &[branch.as_str()], &decision[1..]].concat();
        as_person(&world, "a", "ben", &args).exits(0);
        world.sync("a");
        world.sync("b");
        for machine in ["a", "b"] {
            let kept = world.refs(machine).contains(&format!("refs/git-brain/refused/{commit}"));
            assert_eq!(kept, is_kept, "{decision:?} {machine}");
        }
        if decision == ["reject"] {
            // Words that are taken back later go from every machine.
            as_person(&world, "a", "ben", &["review", run_of(&branch), "--forget"]).exits(0);
            world.sync("a");
            world.sync("b");
            assert!(!world.refs("b").contains("refs/git-brain/refused/"));
        }
    }
}

#[test]
fn a_branch_that_is_checked_out_goes_and_its_work_tree_stays_as_it_is() {
    for (decision, linked) in [("approve", false), ("reject", false), ("reject", true), ("approve", true)] {
        let (world, branch, commit) = waits(true);
        let tree = if linked { "tree" } else { "b" };
        match linked {
            true => world.git("b", &["worktree", "add", "-q", "../tree", &branch]),
            false => world.git("b", &["checkout", "-q", &branch]),
        };
        let clean = world.git(tree, &["status", "--porcelain"]);
        let said = match decision {
            "approve" => {
                as_person(&world, "a", "ben", &[decision, &branch]).exits(0);
                world.sync("a");
                world.try_brain("b", &["sync"]).exits(0)
            }
            _ => as_person(&world, "b", "ben", &[decision, &branch]).exits(0),
        };
        assert!(said.to_string().contains("was checked out in"), "{said}");
        assert_eq!(world.git("b", &["branch", "--list", "agents/*"]), "", "{decision}");
        assert_eq!(world.git(tree, &["rev-parse", "HEAD"]), commit);
        assert_eq!(world.git(tree, &["status", "--porcelain"]), clean);
        // A commit there has its history, and waits nowhere.
        world.git(tree, &["commit", "-q", "--allow-empty", "-m", "more"]);
        assert_eq!(world.git(tree, &["rev-parse", "HEAD^"]), commit);
        assert_eq!(world.json("b", &["review"])["waiting"], json!([]));
        world.git(tree, &["checkout", "-q", if linked { "--detach" } else { "main" }]);
        world.sync("b");
        world.sync("a");
        world.same(&["a", "b"]);
    }
}

/// The run's commit in `a` made again with another message that says which run it is, and not that it waits.
fn amended(world: &World, branch: &str, commit: &str) -> String {
    let parent = world.tip("a", &format!("{commit}^"));
    let author = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_NAME", "scribe")];
    let trailers = world.git("a", &["log", "-1", "--format=%(trailers)", commit]);
    let trailers: Vec<&str> = trailers.lines().filter(|line| !line.starts_with("Review:")).collect();
    let trailers = trailers.join("\n");
    let made = world.commit("a", commit, &[&parent], &[], &format!("Looks good to me\n\n{trailers}\n"), &author);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &made]);
    made
}

#[test]
fn a_run_that_was_amended_here_is_not_approved_beside_the_one_at_the_remote() {
    let (world, branch, commit) = waits(true);
    let other = amended(&world, &branch, &commit);
    let said = as_person(&world, "a", "ben", &["approve", &branch]).exits(3);
    assert!(said.err.contains(&commit) && said.err.contains(&other), "{said}");
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"], json!([]));
    // The way that it names.
    world.git("a", &["fetch", "-q", "origin", &format!("+refs/heads/{branch}:refs/heads/{branch}")]);
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn an_approval_of_another_commit_than_waits_at_the_remote_is_left_out_on_demand() {
    let (world, branch, commit) = waits(true);
    amended(&world, &branch, &commit);
    // Before the remote was met nobody could know.
    std::fs::remove_file(world.dir("a/.git/git-brain/waiting-there")).unwrap();
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    let said = as_person(&world, "a", "ben", &["sync"]).exits(3);
    assert!(said.err.contains("other machines refuse commits of wake here"), "{said}");
    // Once it was met, `check` and `doctor` know as well.
    assert!(as_person(&world, "a", "ben", &["check"]).to_string().contains("without its approval"));
    assert!(as_person(&world, "a", "ben", &["doctor"]).to_string().contains("without its approval"));
    as_person(&world, "a", "ben", &["sync", "--without-refused"]).exits(0);
    assert_eq!(world.tip("a", &branch), commit);
    as_person(&world, "a", "ben", &["approve", &branch]).exits(0);
    as_person(&world, "a", "ben", &["sync"]).exits(0);
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn a_ref_in_the_place_of_others_is_named_and_all_else_goes_out() {
    for (at, name) in ["agents", "agents/scribe"].into_iter().enumerate() {
        let world = world(World::gated(), TWO);
        world.clone("b");
        world.git("b", &["branch", name, "main"]);
        if at == 1 {
            world.git("b", &["pack-refs", "--all"]);
        }
        world.brain("b", &["feed", "The depot closes at six."]);
        let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
        world.sync("a");
        let remedy = format!("git branch -m {name} NAME");
        let dry = world.try_brain("b", &["sync", "--dry-run"]).exits(0);
        assert!(dry.to_string().contains(&remedy), "{dry}");
        let said = world.try_brain("b", &["sync"]).exits(0);
        assert!(said.to_string().contains(&remedy) && said.to_string().contains(&branch), "{said}");
        assert_eq!(world.tip("remote.git", "wake"), world.tip("b", "wake"));
        let doctor = world.try_brain("b", &["doctor"]);
        assert!(doctor.code == 1 && doctor.to_string().contains(&remedy), "{doctor}");
        world.git("b", &["branch", "-m", name, "mine"]);
        world.sync("b");
        assert_eq!(world.json("b", &["review"])["waiting"][0]["branch"], json!(branch));
        assert!(!world.try_brain("b", &["doctor"]).to_string().contains("in its place"));
    }
}

#[test]
fn a_feed_beside_a_ref_in_the_way_says_why() {
    let world = World::new();
    world.git("a", &["branch", "agents"]);
    let said = world.try_brain("a", &["feed", "--origin", "web:news.example", "The depot closes at six."]);
    assert!(said.to_string().contains("refs/heads/agents is in its place"), "{said}");
    world.git("a", &["branch", "-m", "agents", "mine"]);
    world.brain("a", &["run", "--agent", "perception"]);
    assert_eq!(world.json("a", &["review"])["waiting"].as_array().unwrap().len(), 1);
}

#[test]
fn a_ref_in_the_place_of_decisions_is_named() {
    for name in ["refs/brain", "refs/brain/reviews/x"] {
        let (world, branch, _) = waits(true);
        world.git("a", &["update-ref", name, "main"]);
        let remedy = format!("git update-ref -d {name}");
        let said = as_person(&world, "a", "ben", &["approve", &branch]);
        assert!(said.code != 0 && said.to_string().contains(&remedy), "{said}");
        assert!(world.try_brain("a", &["doctor"]).to_string().contains(&remedy));
        as_person(&world, "b", "mara", &["reject", &branch]).exits(0);
        world.sync("b");
        let said = world.try_brain("a", &["sync"]);
        assert!(said.code != 0 && said.to_string().contains(&remedy), "{said}");
        world.git("a", &["update-ref", "-d", name]);
        world.sync("a");
        world.same(&["a", "b"]);
    }
}

#[test]
fn decisions_that_are_spoilt_at_a_remote_are_named_as_the_cause() {
    for way in ["blob", "main", "folder"] {
        let (world, branch, _) = waits(false);
        as_person(&world, "b", "mara", &["reject", &branch]).exits(0);
        world.sync("b");
        let hub = world.tip("remote.git", "main");
        let path = world.dir("remote.git/config");
        let blob = world.git("remote.git", &["hash-object", "-w", path.to_str().unwrap()]);
        match way {
            "blob" => world.git("remote.git", &["update-ref", "refs/brain/reviews", &blob]),
            "main" => world.git("remote.git", &["update-ref", "refs/brain/reviews", &hub]),
            _ => {
                world.git("remote.git", &["update-ref", "-d", "refs/brain/reviews"]);
                world.git("remote.git", &["update-ref", "refs/brain/reviews/x", &hub])
            }
        };
        let said = world.try_brain("a", &["sync"]).exits(3);
        assert!(said.err.contains("decisions are missing here"), "{way}: {said}");
        assert!(said.err.contains("git push origin +refs/brain/reviews:refs/brain/reviews"), "{way}: {said}");
        assert!(!said.err.contains(":refs/heads/wake"), "{way}: {said}");
        // The way that it names, from the clone that has them.
        if way == "folder" {
            world.git("b", &["push", "-q", "origin", "--delete", "refs/brain/reviews/x"]);
        }
        world.git("b", &["push", "-q", "origin", "+refs/brain/reviews:refs/brain/reviews"]);
        world.sync("a");
        world.sync("b");
        world.same(&["a", "b"]);
    }
}
