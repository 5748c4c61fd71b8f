//! `git brain audit` and `git brain bisect`: violations that git's plumbing plants are named, honest life is not; `.ci/battery/planted.py` has many more.

use serde_json::{Value, json};

use crate::machines::World;
use crate::sandbox::{Sandbox, adjust, connect, create, delta};

/// A brain on machine `a` with an agent that writes, and some life.
pub fn lived() -> World {
    let world = World::new();
    let operations = ["create", "connect", "adjust", "activate", "reword"];
    let scribe = json!({
        "name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": operations, "types": ["semantic", "episodic", "contextual"]},
    });
    world.write("a", "agents/scribe.json", &scribe.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "scribe"]);
    world.brain("a", &["trust", "--yes"]);
    scribes(&world, json!([create("tea"), create("cup"), connect("tea", "cup", "feeds_into", 3000)]));
    world.brain("a", &["feed", "Anna moved to Kyoto in May"]);
    world
}

pub fn scribes(world: &World, ops: Value) -> Value {
    let dir = world.dir("a").display().to_string();
    let input = delta(ops).to_string();
    world
        .sandbox
        .brain_with(&["-C", &dir, "--json", "apply", "--agent", "scribe", "-"], input.as_bytes())
        .exits(0)
        .document()
}

pub fn audit(world: &World, args: &[&str], code: i32) -> Value {
    let all: Vec<&str> = ["--json", "audit"].iter().chain(args).copied().collect();
    world.try_brain("a", &all).exits(code).document()
}

pub fn named(report: &Value, commit: &str, rule: &str) -> bool {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().any(|finding| finding["commit"] == commit && finding["rule"] == rule)
}

/// Puts another commit in the place of the newest run, and its merge with it; the commit.
fn replant(world: &World, files: &[(&str, Option<&str>)], email: Option<&str>) -> String {
    let (run, merge) = (world.tip("a", "wake^2"), world.tip("a", "wake"));
    let base = world.tip("a", "wake^1");
    let of = |commit: &str, form: &str| world.git("a", &["log", "-1", &format!("--format={form}"), commit]);
    let email = email.map_or_else(|| of(&run, "%ae"), str::to_owned);
    let planted = world.commit("a", &run, &[&of(&run, "%P")], files, &of(&run, "%B"), &[("GIT_AUTHOR_EMAIL", &email)]);
    let merged = world.commit("a", &merge, &[&base, &planted], files, &of(&merge, "%B"), &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &merged]);
    planted
}

#[test]
fn audit_of_an_honest_life_finds_nothing_and_looks_at_what_is_new_alone() {
    let world = lived();
    world.brain("a", &["sleep"]);
    let (branch, _) = world.waiting("a", "scribe", json!([create("plate")]));
    world.brain("a", &["approve", &branch]);
    let first = audit(&world, &[], 0);
    assert_eq!((&first["level"], &first["findings"]), (&json!("ok"), &json!([])), "{first}");
    assert_eq!(first["commits"], first["new_commits"]);
    assert_eq!(audit(&world, &[], 0)["new_commits"], 0);
    world.brain("a", &["feed", "Ben likes green tea"]);
    let second = audit(&world, &[], 0);
    let new = second["new_commits"].as_u64().unwrap();
    assert!(new > 0 && new < first["commits"].as_u64().unwrap(), "{second}");
    // Of all of it, by a range, and anew: the same commits.
    assert_eq!(audit(&world, &["--all"], 0)["commits"], second["commits"]);
    let range = audit(&world, &["wake~1..wake"], 0);
    assert!(range["commits"].as_u64().unwrap() <= 2, "{range}");
}

#[test]
fn audit_names_a_rewritten_weight_at_its_commit_in_every_form() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let path = world.path_of("a", "wake", "/tea.json");
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let heavier = text.replace(": 3100", ": 3101");
    assert_ne!(text, heavier);
    let planted = replant(&world, &[(&path, Some(&heavier))], None);
    let report = audit(&world, &[], 3);
    assert!(named(&report, &planted, "record-mismatch") && named(&report, &planted, "run-mismatch"), "{report}");
    assert_eq!(report["escalated"].as_array().unwrap().len(), report["findings"].as_array().unwrap().len());
    let finding = &report["findings"][0];
    assert_eq!(finding["commit"], planted);

    let said = world.try_brain("a", &["audit"]).exits(3);
    assert!(said.out.contains("record-mismatch") && said.out.contains("connections.cup.feeds_into"), "{said}");
    let sarif = world.try_brain("a", &["audit", "--sarif"]).exits(3);
    let sarif: Value = serde_json::from_str(&sarif.out).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(
        results.iter().any(|result| result["ruleId"] == "record-mismatch" && result["level"] == "error"),
        "{sarif}"
    );

    // The next audit says it again; the run waits for a person, who accepts it.
    assert!(named(&audit(&world, &[], 3), &planted, "record-mismatch"));
    let list = world.json("a", &["review"]);
    let run = report["findings"][0]["run"].as_str().unwrap();
    assert_eq!(list["audit"][0]["run"], run, "{list}");
    assert!(world.brain("a", &["review"]).contains("The audit asks about 1 run"));
    world.brain("a", &["audit", "accept", run, "--why", "we know"]);
    assert!(world.json("a", &["review"])["audit"].is_null());
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"][0]["via"], "audit");
    world.try_brain("a", &["audit", "accept", "20260101t100000000z-abcd2345-scribe"]).exits(2);
    agree(&world, 0);
    assert!(world.brain("a", &["audit"]).contains("settled"));
}

/// What is new and all of it say the same; the report.
pub fn agree(world: &World, code: i32) -> Value {
    let (new, all) = (audit(world, &[], code), audit(world, &["--all"], code));
    assert_eq!((&new["findings"], &new["level"]), (&all["findings"], &all["level"]));
    all
}

fn brain_with(world: &World, variables: &[(&str, &str)], args: &[&str], code: i32) {
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
    let ended = command.current_dir(world.dir("a")).envs(variables.iter().copied()).output().unwrap();
    assert_eq!(ended.status.code(), Some(code), "{}", String::from_utf8_lossy(&ended.stderr));
}

pub fn upon(
    world: &World,
    branch: &str,
    files: &[(&str, Option<&str>)],
    message: &str,
    env: &[(&str, &str)],
) -> String {
    let tip = world.tip("a", branch);
    let made = world.commit("a", &tip, &[&tip], files, message, env);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &made]);
    made
}

#[test]
fn audit_finds_wake_on_main_merged_or_moved() {
    for merges in [true, false] {
        let world = lived();
        world.brain("a", &["sleep"]);
        audit(&world, &[], 0);
        let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
        let moved = match merges {
            true => world.commit("a", &wake, &[&main, &wake], &[], "Merge branch wake", &[]),
            false => wake,
        };
        world.git("a", &["update-ref", "refs/heads/main", &moved]);
        let report = agree(&world, 3);
        assert!(report["counts"]["main-line"].as_u64().unwrap() > 0, "{report}");
    }
}

#[test]
fn audit_names_what_is_done_in_an_agents_name() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    audit(&world, &[], 0);
    let of_run = world.git("a", &["log", "-1", "--format=%B", "wake^2"]);
    let path = world.path_of("a", "wake", "/tea.json");
    let heavier = (world.git("a", &["show", &format!("wake:{path}")]) + "\n").replace(": 3100", ": 60000");
    let claimed = upon(&world, "wake", &[(&path, Some(&heavier))], &of_run, &[]);
    assert!(named(&agree(&world, 3), &claimed, "forged-trailer"));

    let scribe = [("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid")];
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n# gentler\n";
    let policy = upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &scribe);
    assert!(named(&agree(&world, 3), &policy, "policy-by-agent"));

    world.git("a", &["update-ref", "refs/heads/wake", &world.tip("a", &format!("{claimed}^"))]);
    let (branch, _) = world.waiting("a", "scribe", json!([create("plate")]));
    let (wake, run) = (world.tip("a", "wake"), world.tip("a", &branch));
    let files: Vec<String> = world.git("a", &["diff", "--name-only", &wake, &run]).lines().map(str::to_owned).collect();
    let texts: Vec<(String, String)> =
        files.into_iter().map(|f| (f.clone(), world.git("a", &["show", &format!("{run}:{f}")]) + "\n")).collect();
    let texts: Vec<(&str, Option<&str>)> = texts.iter().map(|(f, text)| (f.as_str(), Some(text.as_str()))).collect();
    let merged = world.commit("a", &wake, &[&wake, &run], &texts, "merge", &scribe);
    world.git("a", &["update-ref", "refs/heads/wake", &merged]);
    assert!(named(&agree(&world, 3), &merged, "single-writer"));
}

/// A merge in the name of another run or agent is named, and `review` of a run or a commit says what the audit asks about.
#[test]
fn audit_names_merges_by_what_they_do_not_bring_and_review_says_so() {
    let world = lived();
    let before = scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let made = scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    audit(&world, &[], 0);
    let (run, merge) = (made["run"].as_str().unwrap(), world.tip("a", "wake"));
    let honest = world.git("a", &["log", "-1", "--format=%B", "wake"]);
    let (left, right) = (world.tip("a", "wake^1"), world.tip("a", "wake^2"));
    let line = |key: &str| honest.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    let forged: Vec<String> = [
        honest.replace(&line("Run: "), &format!("Run: {}", before["run"].as_str().unwrap())),
        honest.replace(&line("Run: "), "Run: none"),
        honest.replace(&line("Agent: "), "Agent: memory"),
    ]
    .map(|message| world.commit("a", &merge, &[&left, &right], &[], &message, &[]))
    .into();
    for merge in &forged {
        world.git("a", &["update-ref", "refs/heads/wake", merge]);
        assert!(named(&agree(&world, 3), merge, "forged-trailer"));
    }
    let list = world.brain("a", &["review"]);
    assert!(list.contains(&forged[2][..10]), "{list}");
    let said = world.try_brain("a", &["review", &forged[2][..10]]).exits(2);
    assert!(said.err.contains("forged-trailer") && said.err.contains("git show"), "{said}");
    // The commit that a review is about is the run's own, also where wake went on.
    let review = world.json("a", &["review", run]);
    assert_eq!(review["reviews"][0]["commit"], right, "{review}");
    world.git("a", &["update-ref", "refs/heads/wake", &merge]);
    let claimed = upon(
        &world,
        "wake",
        &[(&world.path_of("a", "wake", "/tea.json"), None)],
        &world.git("a", &["log", "-1", "--format=%B", &right]),
        &[],
    );
    agree(&world, 3);
    let review = world.brain("a", &["review", run]);
    assert!(review.contains(&format!("commit {}, forged-trailer", &claimed[..10])), "{review}");
}

#[test]
fn audit_names_a_goal_that_says_otherwise_than_its_run() {
    let world = lived();
    world.brain("a", &["goal", "add", "Drink less coffee"]);
    audit(&world, &[], 0);
    let path = world.git("a", &["diff", "--name-only", "wake^1", "wake", "--", "network/goals"]);
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let planted = replant(&world, &[(&path, Some(&text.replace("less coffee", "more whisky")))], None);
    let report = agree(&world, 3);
    assert!(named(&report, &planted, "run-mismatch"), "{report}");
}

#[test]
fn audit_quarantine_ends_by_a_person_who_may_decide() {
    let world = lived();
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n[review]\nreviewers = [\"ann@example.invalid\"]\n";
    let scribe = [("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid")];
    let policy = upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &scribe);
    assert!(named(&agree(&world, 3), &policy, "policy-by-agent"));
    let list = world.json("a", &["review"]);
    assert!(list["audit"].as_array().unwrap().iter().any(|item| item["commit"] == *policy), "{list}");
    let accept = ["audit", "accept", &policy[..10], "--why", "known"];
    for address in ["scribe@git-brain.invalid", "bob@example.invalid"] {
        brain_with(&world, &[("GIT_COMMITTER_EMAIL", address), ("GIT_AUTHOR_EMAIL", address)], &accept, 3);
    }
    world.brain("a", &accept);
    assert!(world.json("a", &["review"])["audit"].is_null());
    let report = agree(&world, 0);
    let found = report["findings"].as_array().unwrap().iter().find(|one| one["commit"] == *policy).unwrap().clone();
    assert_eq!((&found["settled"]["why"], report["level"] == "quarantine"), (&json!("known"), false), "{report}");

    // What a plain `git revert` gives back is settled as well.
    let wrong = upon(&world, "main", &[("agents/scribe.json", None)], "no scribe", &scribe);
    agree(&world, 3);
    let before = world.git("a", &["show", &format!("{wrong}^:agents/scribe.json")]);
    let message = format!("Revert \"no scribe\"\n\nThis reverts commit {wrong}.\n");
    upon(&world, "main", &[("agents/scribe.json", Some(&before))], &message, &[]);
    agree(&world, 0);
}

#[test]
fn audit_says_fixed_clocks_and_refuses_grafts() {
    let world = lived();
    audit(&world, &[], 0);
    let graft = world.dir("a").join(".git/info/grafts");
    std::fs::create_dir_all(graft.parent().unwrap()).unwrap();
    std::fs::write(&graft, format!("{}\n", world.tip("a", "wake"))).unwrap();
    assert!(world.try_brain("a", &["audit", "--all"]).exits(2).err.contains("graft"));
    std::fs::remove_file(graft).unwrap();
    let tip = world.tip("a", "wake");
    brain_with(&world, &[("BRAIN_NOW", "2026-01-01T03:00:00Z")], &["feed", "a fixed clock"], 0);
    assert_ne!(world.tip("a", "wake"), tip);
    assert!(agree(&world, 3)["counts"]["clock"].as_u64().unwrap() > 0);
}

#[test]
fn bisect_names_the_run_under_a_fixed_clock_and_review_folds_what_the_audit_asks() {
    let mut sandbox = Sandbox::fixed("2026-11-01T08:00:00Z", "ferry");
    sandbox.brain(&["feed", "The Gull carries 148 passengers"]).exits(0);
    let good = sandbox.tip("wake");
    for day in 2..9 {
        sandbox.at(&format!("2026-11-0{day}T08:00:00Z"));
        let text =
            if day == 5 { "The Gull carries 248 passengers".to_owned() } else { format!("Deck {day} was washed") };
        sandbox.brain(&["feed", &text]).exits(0);
    }
    let asked = ["bisect", "how many passengers does the Gull carry", "--good", &good, "--avoid", "248"];
    let found = sandbox.json(&asked);
    let run = found["run"].as_str().unwrap_or_else(|| panic!("{found}"));
    assert_eq!(found["undo"], format!("git brain revert {run}"));
    assert_eq!(found["because"], json!(["The Gull carries 248 passengers"]));
    assert!(found["notes"].to_string().contains("clock"), "the audit asks about its date all the same: {found}");
    let wrong = ["bisect", "how many passengers does the Gull carry", "--good", &good, "--expect", "148"];
    assert!(sandbox.brain(&wrong).exits(2).err.contains("--top 1"));
    sandbox.brain(&["audit"]).exits(3);
    let (few, all) = (sandbox.brain(&["review"]).out, sandbox.brain(&["review", "--all"]).out);
    let lines = |text: &str| text.lines().filter(|line| line.ends_with("  clock")).count();
    assert_eq!(lines(&few), 10, "{few}");
    assert!(few.contains("others  clock: git brain review --all") && lines(&all) > 10, "{few}{all}");
}

#[test]
fn audit_of_a_clone_before_its_first_sync_warns() {
    let world = lived();
    let (branch, _) = world.waiting("a", "scribe", json!([create("plate")]));
    world.brain("a", &["approve", &branch]);
    world.sync("a");
    world.clone("fresh");
    let said = world.try_brain("fresh", &["audit"]).exits(0);
    assert!(said.out.contains("git brain sync"), "{said}");
    world.sync("fresh");
    assert!(world.brain("fresh", &["audit"]).starts_with("OK"));
}

#[test]
fn audit_knows_the_main_that_sync_gave_up() {
    let world = lived();
    world.sync("a");
    world.clone("b");
    for name in ["a", "b"] {
        world.brain(name, &["feed", "Clara moved to the lake"]);
        world.brain(name, &["sleep"]);
    }
    world.sync("a");
    world.try_brain("b", &["audit"]).exits(0);
    world.sync("b");
    world.try_brain("b", &["audit"]).exits(0);
}

#[test]
fn audit_names_forged_authors_policy_and_rewritten_files() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let forged = replant(&world, &[], Some("mallory@example.invalid"));
    assert!(named(&audit(&world, &[], 3), &forged, "forged-author"));

    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    let settings = world.git("a", &["show", "wake:brain.toml"]) + "\n[deliberation]\n";
    let policy = replant(&world, &[("brain.toml", Some(&settings))], None);
    assert!(named(&audit(&world, &[], 3), &policy, "policy-by-agent"));

    let record = world.path_of("a", "wake", "-bootstrap.json");
    let other = world.git("a", &["show", &format!("wake:{record}")]).replacen("reflex:", "reflex: ", 1) + "\n";
    let wake = world.tip("a", "wake");
    let rewritten = world.commit("a", &wake, &[&wake], &[(&record, Some(&other))], "notes", &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &rewritten]);
    let report = audit(&world, &[], 3);
    assert!(named(&report, &rewritten, "written-once"), "{report}");
    // What was found before stands.
    assert!(named(&report, &forged, "forged-author") && named(&report, &policy, "policy-by-agent"));

    world.git("a", &["update-ref", "refs/heads/wake", &world.tip("a", "wake~3")]);
    assert!(named(&audit(&world, &[], 3), &world.tip("a", "wake"), "rewritten-history"));
}

#[test]
fn audit_that_lost_what_it_kept_finds_the_same_again() {
    let world = lived();
    scribes(&world, json!([adjust("tea", "cup", "feeds_into", 100)]));
    replant(&world, &[], Some("mallory@example.invalid"));
    let first = audit(&world, &[], 3);
    let kept = world.dir("a").join(".git/git-brain/cache/audit.json");
    let bytes = std::fs::read(&kept).unwrap();
    for damage in [&bytes[..bytes.len() / 2], b"", b"{}"] {
        std::fs::write(&kept, damage).unwrap();
        let again = audit(&world, &[], 3);
        assert_eq!((&again["findings"], &again["commits"]), (&first["findings"], &first["commits"]));
        assert_eq!(again["new_commits"], first["commits"]);
    }
}

#[test]
fn audit_draws_a_sample_that_people_look_at() {
    let world = lived();
    for turn in 0..19 {
        scribes(&world, json!([adjust("tea", "cup", "feeds_into", turn + 1)]));
    }
    let sample = world.json("a", &["audit", "sample", "--seed", "7"]);
    let (of, drawn) = (sample["of"].as_u64().unwrap(), sample["drawn"].as_array().unwrap().len() as u64);
    assert!(of >= 20 && drawn == of.div_ceil(20), "{sample}");
    assert_eq!(world.json("a", &["audit", "sample", "--seed", "7"]), sample);
    let half = world.json("a", &["audit", "sample", "--seed", "7", "--share", "0.5", "--dry-run"]);
    assert_eq!(half["drawn"].as_array().unwrap().len() as u64, of.div_ceil(2));
    let list = world.json("a", &["review"]);
    assert_eq!((&list["audit"][0]["run"], &list["audit"][0]["because"]), (&sample["drawn"][0], &json!("sample")));
    let words: Vec<&Value> = list["audit"].as_array().unwrap().iter().map(|item| &item["words"]).collect();
    let text = world.brain("a", &["review"]);
    assert!(words.iter().filter_map(|words| words.as_str()).all(|words| text.contains(words)), "{list}");
    // What nobody looked at stays drawn, and a seed that nobody knew before is the default.
    let other = world.json("a", &["audit", "sample"]);
    let drawn: Vec<&Value> = ["drawn", "earlier"].iter().filter_map(|part| other[part].as_array()).flatten().collect();
    assert!(drawn.contains(&&sample["drawn"][0]) && other["seed"] != 0, "{other}");
    assert_eq!(other["drawn"].as_array().unwrap().len() as u64, of.div_ceil(20), "{other}");
    for share in ["0", "0.01", "1.5", "-1", "NaN"] {
        world.try_brain("a", &["audit", "sample", &format!("--share={share}")]).exits(2);
    }
}

#[test]
fn audit_workflows_keep_what_was_seen_and_install_from_a_named_repository() {
    let world = World::new();
    for (forge, path) in [
        ("github", ".github/workflows/brain-audit.yml"),
        ("forgejo", ".forgejo/workflows/brain-audit.yml"),
        ("gitlab", ".gitlab/brain-audit.yml"),
    ] {
        world.try_brain("a", &["audit", "--ci", forge]).exits(2);
        world.try_brain("a", &["audit", "--ci", forge, "--git", "https://example.org/x; rm"]).exits(2);
        world.brain("a", &["audit", "--ci", forge, "--git", "https://example.org/git-brain"]);
        let text = world.read("a", path);
        for part in
            ["--git https://example.org/git-brain", "cache/audit.json", "refs/heads/agents/*", "requireSignatures"]
        {
            assert!(text.contains(part), "{forge}: {part}");
        }
    }
}

#[test]
fn audit_refuses_wrong_ranges() {
    let world = lived();
    for range in ["nowhere", "wake...main", "nowhere..wake", "wake..wake~1", "wake..wake", "wake.."] {
        world.try_brain("a", &["audit", range]).exits(2);
    }
    world.brain("a", &["sleep"]);
    world.brain("a", &["sleep"]);
    audit(&world, &["main"], 0);
    audit(&world, &["main~1..main"], 0);
    world.try_brain("a", &["audit", "--all", "wake"]).exits(2);
}

/// A brain with many runs about harbours, of which one about Anna is bad; the runs' ids.
fn many(runs: usize, bad: &[(usize, &str, &str)]) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let concept = |id: &str, text: &str| json!({"op": "create", "id": id, "concept": text, "type": "semantic"});
    sandbox.apply(&delta(json!([concept("anna", "anna"), concept("m0", "Anna lives in Kyoto")])), &[]);
    let start = sandbox.tip("wake");
    for run in 0..runs {
        let ops = match bad.iter().find(|(at, ..)| *at == run) {
            Some((_, id, text)) => json!([{"op": "reword", "id": id, "concept": text}]),
            None => json!([concept(&format!("h{run}"), &format!("The harbour has {run} boats"))]),
        };
        sandbox.apply(&delta(ops), &[]);
    }
    (sandbox, start)
}

/// The last run of wake and its merge, made again with another content of one file.
fn made_otherwise(world: &World, path: &str, text: Option<&str>) -> String {
    let [left, own] = ["wake^1", "wake^2"].map(|side| world.tip("a", side));
    let message = world.git("a", &["log", "-1", "--format=%B", "wake"]);
    let other = world.recommit("a", &own, &[(path, text)]);
    let merge = world.commit("a", "wake", &[&left, &other], &[(path, text)], &message, &[]);
    world.git("a", &["update-ref", "refs/heads/wake", &merge]);
    other
}

#[test]
fn wisdom_and_tombstones_are_what_the_record_of_their_run_says() {
    let teach = ["wisdom", "teach", "--when", "frost comes", "--do", "cover the hay"];
    for (commands, folder, change, rule) in [
        (&[&teach[..]][..], "wisdom", Some(("hay", "rye")), "wisdom-gap"),
        (&[&teach], "wisdom", None, "wisdom-gap"),
        (&[&["subject", "add", "Quux"], &["subject", "forget", "Quux"]], "sealed", None, "sealed-gap"),
    ] {
        let world = lived();
        for args in commands {
            world.brain("a", args);
        }
        agree(&world, 0);
        let folder = format!("network/{folder}");
        let path = world.git("a", &["diff", "--name-only", "wake^1", "wake", "--", &folder]);
        let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
        let other = made_otherwise(&world, &path, change.map(|(from, to)| text.replace(from, to)).as_deref());
        let report = agree(&world, 3);
        assert!(named(&report, &other, rule), "{report}");
    }
}

#[test]
fn bisect_finds_the_run_since_which_recall_answers_wrongly() {
    let (sandbox, start) = many(120, &[(77, "m0", "Anna lives in Osaka")]);
    let ask = |args: &[&str]| {
        let all: Vec<&str> = ["bisect", "where", "does", "Anna", "live", "--good", &start]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        sandbox.json(&all)
    };
    let found = ask(&["--expect", "kyoto"]);
    assert!(found["questions"].as_u64().unwrap() <= 9, "{found}");
    assert_eq!(found["words"], json!(["Anna lives in Osaka"]));
    let run = found["run"].as_str().unwrap();
    assert_eq!((&found["by"], &found["undo"]), (&json!("human"), &json!(format!("git brain revert {run}"))));
    let author = sandbox.git(&["log", "-1", "--format=%an <%ae>", "wake"]);
    assert_eq!(found["author"], author, "a person did it, and is named");
    assert_eq!(ask(&["--avoid", "Osaka"])["run"], run);
    let judged = ask(&["--run", "! grep -q Osaka"]);
    assert_eq!((&judged["run"], judged["questions"].as_u64().unwrap() <= 9), (&found["run"], true), "{judged}");
    // A command that says the same of both ends finds nothing.
    for command in ["exit 0", "exit 1", "exit 125"] {
        sandbox.brain(&["bisect", "where does Anna live", "--good", start.as_str(), "--run", command]).exits(2);
    }
    // Where answers are skipped, all that it may be is named.
    let wake = sandbox.tip("wake");
    let skips = format!("grep -q Osaka || exit 0; [ $BRAIN_REV = {wake} ] && exit 1; exit 125");
    let skipped = ask(&["--run", &skips]);
    assert!(!skipped["or"].as_array().unwrap().is_empty(), "{skipped}");
    // The command that it names undoes it.
    sandbox.brain(&["revert", run]).exits(0);
    let again = ["bisect", "where does Anna live", "--good", start.as_str(), "--expect", "Kyoto"];
    let refused = sandbox.brain(&again).exits(2);
    assert!(refused.err.contains("answers right"), "{refused}");
}

#[test]
fn bisect_refuses_what_has_no_answer() {
    let (sandbox, start) = many(3, &[(1, "m0", "Anna lives in Osaka")]);
    for args in [
        &["bisect", "where does Anna live", "--good", "wake", "--bad", start.as_str(), "--expect", "Kyoto"][..],
        &["bisect", "where does Anna live", "--good", "wake", "--expect", "Kyoto"],
        &["bisect", "where does Anna live", "--good", "nowhere", "--expect", "Kyoto"],
        &["bisect", "where does Anna live", "--good", start.as_str(), "--expect", " "],
        &["bisect", "where does Anna live", "--good", start.as_str(), "--expect", "Paris"],
        &["bisect", "where does Anna live", "--good", start.as_str(), "--expect", "a", "--avoid", "b"],
        &["bisect", "where does Anna live", "--good", start.as_str()],
        &["bisect", " ", "--good", start.as_str(), "--expect", "Kyoto"],
        &["bisect", "where does Anna live", "--good", start.as_str(), "--run", "kill -9 $$"],
    ] {
        sandbox.brain(args).exits(2);
    }
    assert!(sandbox.run_branches().is_empty());
}

#[test]
fn audit_that_goes_on_says_what_landed_by_a_decision_that_was_changed() {
    let world = lived();
    let rules =
        "\n[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"all\"\nagents = [\"scribe\"]\n";
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n" + rules;
    world.write("a", "brain.toml", &settings);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "rules"]);
    world.brain("a", &["trust", "--yes"]);
    scribes(&world, json!([create("plate")]));
    let waiting = world.git("a", &["for-each-ref", "--format=%(refname:lstrip=-1)", "refs/heads/agents"]);
    assert!(!waiting.trim().is_empty(), "the run waits");
    let said = world.brain("a", &["approve", waiting.trim(), "--why", "ok"]);
    audit(&world, &[], 0);
    let decisions = "refs/brain/reviews";
    let path = world.git("a", &["ls-tree", "-r", "--name-only", decisions]);
    let path = path.lines().next().unwrap_or_else(|| panic!("no decision: {said}")).to_owned();
    let edited = world.git("a", &["show", &format!("{decisions}:{path}")]).replace("\"approve\"", "\"reject\"") + "\n";
    let tip = world.tip("a", decisions);
    let changed = world.commit("a", &tip, &[&tip], &[(&path, Some(&edited))], "mend", &[]);
    world.git("a", &["update-ref", decisions, &changed]);
    let report = agree(&world, 3);
    assert!(report["counts"]["written-once"].as_u64().unwrap_or_default() > 0, "{report}");
}

/// Who was away decides by the main that he has: nothing of it counts, and nothing was forged.
#[test]
fn audit_warns_of_a_decision_of_one_whom_main_named_before() {
    let both = "[review]\nreviewers = [\"ann@example.invalid\", \"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = crate::review_second::world(World::gated(), both);
    world.clone("b");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    std::thread::sleep(std::time::Duration::from_millis(2100));
    world.write("a", "brain.toml", &both.replace(", \"ben@example.invalid\"", ""));
    world.git("a", &["commit", "-qam", "ben leaves"]);
    world.brain("a", &["trust", "--yes"]);
    world.sync("a");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let as_person = crate::review_second::as_person;
    as_person(&world, "b", "ben", &["reject", &branch, "--why", "no"]).exits(0);
    world.git("b", &["push", "-q", "origin", "refs/brain/reviews"]);
    world.sync("a");
    let report = audit(&world, &["--all"], 0);
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "review-late");
    assert!(found.is_some_and(|finding| finding["level"] == "warn"), "{report}");
    // One whom main never named decides nothing.
    as_person(&world, "a", "mallory", &["reject", &branch, "--why", "no"]).exits(3);
}
