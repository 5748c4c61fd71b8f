//! Decisions that say another time than theirs, trees that no git writes, and commits as long as no program writes them: the audit names them and no honest run.

use serde_json::json;

use crate::audit::{agree, audit, lived, named, scribes, upon};
use crate::machines::World;
use crate::review_second::as_person;
use crate::sandbox::{Sandbox, adjust, create};

/// The same world at another time of its first day.
fn at(world: World, time: &str) -> World {
    let now = format!("2026-01-01T{time}:00Z");
    let dates = ["BRAIN_NOW", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"];
    World { sandbox: dates.into_iter().fold(world.sandbox, |sandbox, name| sandbox.with(name, &now)) }
}

#[test]
fn decision_counts_by_the_main_of_a_time_at_which_its_run_was_there() {
    let both = "[review]\nreviewers = [\"ann@example.invalid\", \"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = at(World { sandbox: Sandbox::empty().with("BRAIN_SEED", "dated") }, "08:00");
    world.brain(".", &["init", "--no-hooks", "a"]);
    let scribe = json!({
        "name": "scribe", "role": "Writes.", "trigger": {"any": []}, "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    world.write("a", "agents/scribe.json", &scribe.to_string());
    world.write("a", "brain.toml", both);
    world.git("a", &["add", "agents", "brain.toml"]);
    world.git("a", &["commit", "-qm", "scribe"]);
    world.brain("a", &["trust", "--yes"]);
    world.apply("a", json!([create("cup")]));
    // A night brings the rules to wake, from which the run starts.
    world.brain("a", &["sleep"]);
    let world = at(world, "08:30");
    world.write("a", "brain.toml", &both.replace(", \"ben@example.invalid\"", ""));
    world.git("a", &["commit", "-qam", "ben leaves"]);
    world.brain("a", &["trust", "--yes"]);
    let mut world = at(world, "09:00");
    let (branch, run) = world.waiting("a", "scribe", json!([create("tea")]));
    let (main, wake, reviews) = (world.tip("a", "main"), world.tip("a", "wake"), "refs/brain/reviews");
    // By a main of his own, on which he is still named.
    let by_ben = |world: &World, args: &[&str]| {
        world.git("a", &["reset", "-q", "--hard", "main~1"]);
        as_person(world, "a", "ben", args).exits(0);
        world.git("a", &["reset", "-q", "--hard", &main]);
        for (name, tip) in [("refs/heads/wake", &wake), (&format!("refs/heads/{branch}"), &run)] {
            world.git("a", &["update-ref", name, tip]);
        }
    };
    // The same decisions as if he had made them while he was named.
    let backdated = |world: &World| {
        let paths = world.git("a", &["ls-tree", "-r", "--name-only", reviews]);
        let mut files: Vec<(String, Option<String>)> = Vec::new();
        for path in paths.lines() {
            let text = world.git("a", &["show", &format!("{reviews}:{path}")]) + "\n";
            files.push((path.to_owned(), None));
            files.push((
                path.replace("t0920", "t0810"),
                Some(text.replace("t0920", "t0810").replace("T09:20", "T08:10")),
            ));
        }
        let files: Vec<(&str, Option<&str>)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_deref())).collect();
        let ben = "ben@example.invalid";
        let mut variables = vec![("GIT_AUTHOR_EMAIL", ben), ("GIT_COMMITTER_EMAIL", ben)];
        variables.extend(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-01T08:10:00Z")));
        let made = world.commit("a", reviews, &[], &files, "decisions", &variables);
        world.git("a", &["update-ref", reviews, &made]);
    };
    for is_backdated in [false, true] {
        world = at(world, "09:20");
        by_ben(&world, &["approve", &branch]);
        if is_backdated {
            backdated(&world);
        }
        world = at(world, "09:30");
        let merged = world.commit("a", &run, &[&wake, &run], &[], "Merge a run", &[]);
        world.git("a", &["update-ref", "refs/heads/wake", &merged]);
        let report = agree(&world, 3);
        assert!(named(&report, &merged, "unapproved"), "{is_backdated}: {report:#}");
        assert_eq!(report["counts"]["review-late"], 1, "{is_backdated}: {report:#}");
        // Nor does he settle that, whenever he says that he did.
        world = at(world, "09:20");
        by_ben(&world, &["audit", "accept", &merged, "--why", "seen"]);
        if is_backdated {
            backdated(&world);
        }
        world.git("a", &["update-ref", "refs/heads/wake", &merged]);
        world = at(world, "09:30");
        let report = agree(&world, 3);
        let of = |one: &&serde_json::Value| one["commit"] == merged && one["rule"] == "unapproved";
        let found = report["findings"].as_array().unwrap().iter().find(of);
        assert!(found.is_some_and(|one| one["settled"].is_null()), "{is_backdated}: {report:#}");
        world.git("a", &["update-ref", "-d", reviews]);
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
        std::fs::remove_file(world.dir("a").join(".git/git-brain/cache/audit.json")).unwrap();
    }
}

#[test]
fn trees_and_modes_that_no_git_writes_are_named_and_not_the_runs_upon_them() {
    let world = lived();
    let neuron = world.path_of("a", "wake", "/tea.json");
    let wake = world.tip("a", "wake");
    for (entry, twice) in [("100664", false), ("100644", true)] {
        let odd = odd_tree(&world, &wake, &neuron, entry, twice);
        let commit = world.git("a", &["commit-tree", &odd, "-p", &wake, "-m", "by hand"]);
        world.git("a", &["update-ref", "refs/heads/wake", &commit]);
        let report = agree(&world, 3);
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().any(|one| one["commit"] == commit), "{entry}: {report:#}");
        assert!(findings.iter().all(|one| one["commit"] == commit), "{entry}: {report:#}");
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
        std::fs::remove_file(world.dir("a").join(".git/git-brain/cache/audit.json")).unwrap();
    }
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 10)]));
    assert_eq!(agree(&world, 0)["level"], "ok");
}

/// The tree of a commit in which the entry of a path has another mode, or is there twice.
fn odd_tree(world: &World, commit: &str, path: &str, mode: &str, twice: bool) -> String {
    let mut tree = String::new();
    let parts: Vec<&str> = path.split('/').collect();
    for depth in (0..parts.len()).rev() {
        let folder = parts[..depth].join("/");
        let rows = world.git("a", &["ls-tree", &format!("{commit}:{folder}")]);
        let mut bytes = Vec::new();
        for row in rows.lines() {
            let (about, name) = row.split_once('\t').unwrap();
            let [mode_of, kind, id] = about.split(' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let is_it = name == parts[depth];
            let is_file = depth + 1 == parts.len();
            let id = if is_it && !is_file { &tree } else { id };
            let mode_of = if is_it && is_file {
                mode
            } else if kind == "tree" {
                "40000"
            } else {
                mode_of
            };
            for _ in 0..(1 + usize::from(is_it && is_file && twice)) {
                bytes.extend_from_slice(format!("{mode_of} {name}\0").as_bytes());
                bytes.extend((0..40).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()));
            }
        }
        tree = crate::audit_unread::object(world, "tree", &bytes);
    }
    tree
}

#[test]
fn commit_with_endless_trailers_is_named_and_what_stands_upon_a_long_one_is_judged() {
    let world = lived();
    let wake = world.tip("a", "wake");
    let long = world.commit("a", &wake, &[&wake], &[], &format!("by hand\n\n{}", "R: x\n".repeat(20_001)), &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &long]);
    let report = agree(&world, 3);
    assert!(named(&report, &long, "format") && report.to_string().contains("more than 20000 trailers"), "{report:#}");
    let long = world.commit("a", &wake, &[&wake], &[], &"x".repeat(5 << 20), &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &long]);
    let scribe =
        [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid"), ("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid")];
    let neuron = world.path_of("a", "wake~1", "/tea.json");
    let text = world.git("a", &["show", &format!("{wake}:{neuron}")]).replace("tea", "black tea") + "\n";
    let forged = upon(&world, "wake", &[(&neuron, Some(&text))], "own words", &scribe);
    for args in [&["--all"][..], &[]] {
        let report = audit(&world, args, 3);
        assert!(named(&report, &long, "unreadable"), "{args:?}: {report:#}");
        assert!(
            report["findings"].as_array().unwrap().iter().any(|one| one["commit"] == forged),
            "{args:?}: {report:#}"
        );
    }
}

#[test]
fn rejected_run_that_is_merged_again_names_the_merge_and_not_its_agent() {
    let rules = "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = crate::review_second::world(World::new(), rules);
    let (branch, run) = world.waiting("a", "scribe", json!([create("tea")]));
    as_person(&world, "a", "ann", &["reject", &branch, "--why", "no"]).exits(0);
    // Main has what is left of it.
    world.apply("a", json!([create("cup")]));
    as_person(&world, "a", "ann", &["sleep"]).exits(0);
    let wake = world.tip("a", "wake");
    let paths = [world.path_of("a", &run, "/tea.json"), world.path_of("a", &run, "-scribe.json")];
    let texts = paths.each_ref().map(|path| world.git("a", &["show", &format!("{run}:{path}")]) + "\n");
    let files: Vec<(&str, Option<&str>)> =
        paths.iter().zip(&texts).map(|(p, t)| (p.as_str(), Some(t.as_str()))).collect();
    let merged = world.commit("a", &wake, &[&wake, &run], &files, "Merge a run", &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &merged]);
    let report = agree(&world, 3);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| one["commit"] == merged && one["rule"] == "single-writer"), "{report:#}");
    assert!(findings.iter().all(|one| one["commit"] != run), "{report:#}");
}

#[test]
fn decision_under_the_id_of_another_takes_nothing_from_it() {
    let rules = "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = crate::review_second::world(World::new(), rules);
    // A commit of the same second met the settings before as well.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    // A night brings the rules to wake.
    world.apply("a", json!([create("cup")]));
    as_person(&world, "a", "ann", &["sleep"]).exits(0);
    let (branch, own) = world.waiting("a", "scribe", json!([create("tea")]));
    let (other, its) = world.waiting("a", "scribe", json!([create("milk")]));
    as_person(&world, "a", "ann", &["approve", &branch]).exits(0);
    let (landed, reviews) = (world.tip("a", "wake"), "refs/brain/reviews");
    let [run, second] = [&branch, &other].map(|branch| crate::review_second::run_of(branch).to_owned());
    let path = world.path_of("a", reviews, "-human.json");
    let text = world.git("a", &["show", &format!("{reviews}:{path}")]) + "\n";
    let text = text
        .replace(&run, &second)
        .replace(&own, &its)
        .replace("ann <ann@example.invalid>", "carl <carl@example.invalid>");
    let carl = [("GIT_AUTHOR_EMAIL", "carl@example.invalid"), ("GIT_COMMITTER_EMAIL", "carl@example.invalid")];
    let tip = world.git("a", &["rev-parse", reviews]);
    let forged = world.commit("a", &tip, &[&tip], &[(&path.replace(&run, &second), Some(&text))], "decision", &carl);
    world.git("a", &["update-ref", reviews, &forged]);
    let report = agree(&world, 3);
    assert!(named(&report, &forged, "review-forged"), "{report:#}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|one| one["commit"] != landed && one["commit"] != own), "{report:#}");
    // A clone without decisions cannot know, and says so.
    world.git("a", &["update-ref", "-d", reviews]);
    std::fs::remove_file(world.dir("a").join(".git/git-brain/cache/audit.json")).unwrap();
    let report = audit(&world, &[], 0);
    assert!(report["counts"]["unapproved"] == 1 && report.to_string().contains("git brain sync"), "{report:#}");
}
