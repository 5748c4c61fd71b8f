//! Sleep through the program, on real repositories: one commit on main, every change in its record, and a way back.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::sandbox::{self, Sandbox, connect, create, delta};
use serde_json::{Value, json};

const EVENING: &str = "2026-01-26T23:00:00Z";

fn activate(id: &str, strength: f64) -> Value {
    json!({"op": "activate", "id": id, "strength": strength})
}

/// A brain whose day has made `a` (vivid), `b` (vivid) and `c` (not active), with connections between all.
fn after_a_day() -> Sandbox {
    let mut sandbox = Sandbox::fixed(sandbox::NOW, "night");
    sandbox.apply(
        &delta(json!([
            create("a"),
            create("b"),
            create("c"),
            connect("a", "b", "feeds_into", 50000),
            connect("b", "a", "recalls", 65000),
            connect("a", "c", "feeds_into", 2000),
            connect("c", "a", "feeds_into", 3000),
            activate("a", 1.0),
            activate("b", 0.9)
        ])),
        &[],
    );
    sandbox.at(EVENING);
    sandbox
}

/// The file of the record of main's newest sleep.
fn file(sandbox: &Sandbox) -> Value {
    let report = sandbox.documents("main", "network/sleep");
    let newest = report.into_iter().filter(|(path, _)| path.ends_with("-sleep.json")).max_by(|a, b| {
        let run = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        run(&a.0).cmp(&run(&b.0))
    });
    newest.expect("a sleep").1
}

/// The record of main's newest sleep, with all of its lines.
fn record(sandbox: &Sandbox) -> Value {
    let run = file(sandbox)["run"].as_str().unwrap().to_owned();
    let shown = sandbox.json(&["show", &run, "--at", "main"]);
    assert_eq!(shown["kind"], "sleep");
    shown["document"].clone()
}

/// What differs between two states, as a reader of git without this program would find it: field by field of each neuron.
fn fields(neurons: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (id, neuron) in neurons {
        for (field, value) in neuron.as_object().unwrap() {
            let name = match field.as_str() {
                "connections" | "id" => continue,
                "last_salience_update" => continue,
                "salience" => {
                    let vivid = json!({"salience": value, "at": neuron["last_salience_update"]});
                    found.insert(format!("{id} salience"), vivid);
                    continue;
                }
                name => name,
            };
            found.insert(format!("{id} {name}"), value.clone());
        }
        for edge in neuron["connections"].as_array().unwrap() {
            let name =
                format!("{id} connections.{}.{}", edge["target"].as_str().unwrap(), edge["type"].as_str().unwrap());
            found.insert(name, edge["weight"].clone());
        }
        found.insert(format!("neuron {id}"), Value::Null);
    }
    found
}

/// Plays the lines of a record on the state before and compares with the state after. Only fields and connections of neurons.
#[track_caller]
fn lines_lead_from_to(record: &Value, before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) {
    let mut state = fields(before);
    for list in ["learnt", "consolidated"] {
        for line in record[list].as_array().unwrap() {
            let what = line["what"].as_str().unwrap();
            if what.starts_with("network/") {
                continue;
            }
            if let Some(id) = what.strip_prefix("neuron ") {
                let own = |key: &str| key == what || key.starts_with(&format!("{id} "));
                if line["new"].is_null() {
                    assert!(state.remove(what).is_some(), "{what} was not there");
                    state.retain(|key, _| !own(key));
                } else {
                    assert!(state.insert(what.to_owned(), Value::Null).is_none(), "{what} was there");
                    for edge in line["new"]["connections"].as_array().unwrap() {
                        let name =
                            format!("{id} connections.{}.{}", edge[0].as_str().unwrap(), edge[1].as_str().unwrap());
                        state.insert(name, edge[2].clone());
                    }
                }
                continue;
            }
            if what.contains(" connections.") {
                assert_eq!(state.get(what).cloned().unwrap_or(Value::Null), line["old"], "{what}");
                match &line["new"] {
                    Value::Null => state.remove(what),
                    weight => state.insert(what.to_owned(), weight.clone()),
                };
            }
        }
    }
    let weights = |state: &BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        let kept = state.iter().filter(|(key, _)| key.contains(" connections.") || key.starts_with("neuron "));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    assert_eq!(weights(&state), weights(&fields(after)));
    // Each field that differs on a neuron of both sides has its line, from the old value to the new one.
    let (old, new) = (fields(before), fields(after));
    for (what, value) in &new {
        let id = what.split(' ').next().unwrap();
        if !before.contains_key(id)
            || what.starts_with("neuron ")
            || old.get(what) == Some(value)
            || what.ends_with(" named_by")
        {
            continue;
        }
        let lines: Vec<&Value> = ["learnt", "consolidated"]
            .iter()
            .flat_map(|list| record[list].as_array().unwrap())
            .filter(|line| line["what"] == what.as_str())
            .collect();
        assert!(!lines.is_empty(), "{what} has no line");
        assert_eq!(&lines.last().unwrap()["new"], value, "{what}");
        assert_eq!(lines[0]["old"], old.get(what).cloned().unwrap_or(Value::Null), "{what}");
    }
}

#[test]
fn a_night_is_one_commit_and_its_record_is_the_difference() {
    let sandbox = after_a_day();
    let before = sandbox.neurons("main");
    let snapshot = sandbox.tip("wake");
    let report = sandbox.json(&["sleep"]);
    assert_eq!(report["state"], "slept");
    assert_eq!(sandbox.lines(&["rev-list", "--count", "main"]), ["2"]);
    assert_eq!(
        sandbox.lines(&["rev-list", "--parents", "-1", "wake"])[0].split(' ').skip(1).collect::<Vec<_>>(),
        [snapshot.as_str(), report["main"].as_str().unwrap()]
    );
    assert_eq!(sandbox.lines(&["merge-base", "main", "wake"]), [sandbox.tip("main")]);
    let after = sandbox.neurons("main");
    // Vivid is what is above 50000 at 23:00: a and b, and c is one of the most vivid of the day only if it was active.
    let weight = |from: &str, to: &str, link| sandbox::weight(&after[from], to, link);
    assert_eq!(weight("a", "b", "feeds_into"), Some(53277));
    assert_eq!(weight("b", "a", "recalls"), Some(65535), "saturates");
    assert_eq!(weight("a", "c", "feeds_into"), Some(2000), "c was never active");
    lines_lead_from_to(&record(&sandbox), &before, &after);
    assert_eq!(sandbox.neurons("wake"), after, "wake has what main has");
    let message = sandbox.git(&["log", "-1", "--format=%B", "main"]);
    let totals = &record(&sandbox)["totals"];
    let made = after.len() - before.len();
    assert_eq!(totals["neurons_made"], made);
    assert!(message.starts_with(&format!("sleep: {made} neurons made, ")), "{message}");
    let gained: i64 = weights(&after).iter().map(|(key, w)| (w - weights(&before).get(key).unwrap_or(&0)).max(0)).sum();
    assert_eq!(totals["weight_gained"], gained);
    assert!(message.contains(&format!("(+{gained} -0)")), "{message}");
    assert_eq!(sandbox.lines(&["log", "-1", "--format=%an %(trailers:key=Agent,valueonly)", "main"])[0], "sleep sleep");
    sandbox.brain(&["check", "main"]).exits(0);
    sandbox.fsck();
}

#[test]
fn the_file_of_a_record_has_what_its_trees_do_not_say() {
    let mut sandbox = after_a_day();
    sandbox.apply(&delta(json!([{"op": "archive", "id": "c", "reason": "no use"}])), &[]);
    sandbox.json(&["sleep"]);
    let (file, whole) = (file(&sandbox), record(&sandbox));
    assert_eq!((&file["format"], &file["usual"]), (&json!(2), &json!("consolidated: both ends were active")));
    assert!(file.get("learnt").is_none() && whole["learnt"].as_array().unwrap().len() > 3);
    let said: Vec<&Value> = file["consolidated"].as_array().unwrap().iter().map(|line| &line["what"]).collect();
    assert!(said.contains(&&json!("neuron c")) && said.contains(&&json!("a connections.c.feeds_into")), "{said:?}");
    assert!(!said.contains(&&json!("a connections.b.feeds_into")) && !said.contains(&&json!("a run")), "{said:?}");
    let why = |what: &str| {
        let lines = whole["consolidated"].as_array().unwrap();
        lines.iter().find(|line| line["what"] == what).unwrap()["why"].clone()
    };
    assert_eq!(why("a connections.b.feeds_into"), "consolidated: both ends were active");
    assert_eq!(why("a connections.c.feeds_into"), "its target went");
    assert_eq!(why("a run"), "this sleep");
    for part in ["base", "snapshot", "totals", "learnt_totals", "consolidated_totals"] {
        assert_eq!(file[part], whole[part], "{part}");
    }
    // What the message shows is in the whole record, and is what a record with every line would show.
    let message = sandbox.git(&["log", "-1", "--format=%b", "main"]);
    let shown: Vec<&str> = message.lines().filter(|line| line.contains(" → ")).collect();
    assert!(shown.iter().any(|line| line.contains("a → b.feeds_into  50000 → 53277 (+3277)")), "{message}");
    // An older night is shown as it was, wherever wake and main are now.
    let first = file["run"].as_str().unwrap().to_owned();
    sandbox.at("2026-01-27T20:00:00Z");
    sandbox.apply(&delta(json!([activate("a", 1.0), activate("b", 1.0)])), &[]);
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.json(&["show", &first])["document"], whole);
    sandbox.json(&["sleep", "--undo"]);
    let shown = sandbox.brain(&["show", &first]).exits(0);
    assert!(shown.out.contains("a connections.b.feeds_into  50000 → 53277"), "{shown}");
    // A change of the other kind of file, and a person's change of a weight, have their lines.
    sandbox.at("2026-01-27T23:00:00Z");
    sandbox.apply(&delta(json!([activate("a", 1.0), activate("b", 1.0)])), &[]);
    let branch = sandbox.json(&["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    let path = sandbox.neuron_path(&branch, "a").unwrap();
    sandbox.git(&["checkout", "-q", &branch]);
    sandbox.git(&["sparse-checkout", "disable"]);
    let text = std::fs::read_to_string(sandbox.path(&format!("here/{path}"))).unwrap();
    let now = sandbox::weight(&sandbox.neurons(&branch)["a"], "b", "feeds_into").unwrap();
    sandbox.file(&format!("here/{path}"), text.replace(&now.to_string(), "12345"));
    sandbox.git(&["commit", "-qam", "less of it"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.json(&["approve", &branch]);
    let whole = record(&sandbox);
    let lines = whole["consolidated"].as_array().unwrap();
    let edited = lines.iter().find(|line| line["what"] == "a connections.b.feeds_into").expect("a line");
    assert_eq!(edited["new"], 12345);
    sandbox.brain(&["check", "main"]).exits(0);
}

fn weights(neurons: &BTreeMap<String, Value>) -> BTreeMap<String, i64> {
    fields(neurons)
        .into_iter()
        .filter(|(key, _)| key.contains(" connections."))
        .map(|(k, v)| (k, v.as_i64().unwrap()))
        .collect()
}

#[test]
fn a_night_without_activity_makes_no_commit() {
    let sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    let refs = sandbox.refs();
    assert_eq!(sandbox.json(&["sleep"])["state"], "quiet");
    assert_eq!(sandbox.json(&["sleep", "--if-due"])["state"], "not_due");
    assert_eq!(sandbox.refs(), refs);
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let sandbox = after_a_day();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let dry = sandbox.json(&["sleep", "--dry-run"]);
    let told = sandbox.brain(&["sleep", "--dry-run"]).exits(0).out;
    assert!(told.starts_with("Would sleep") && told.lines().count() <= 10, "a summary: {told}");
    assert!(told.contains(" more; --json has all"), "{told}");
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
    let done = sandbox.json(&["sleep"]);
    for part in ["learnt", "consolidated", "totals", "run"] {
        assert_eq!(dry[part], done[part], "{part}");
    }
}

#[test]
fn what_people_change_on_main_survives_and_reaches_wake() {
    let sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    let settings = "[activation]\nmax_depth = 3\n";
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.file("here/brain.toml", settings);
    sandbox.git(&["commit", "-qam", "shallower"]);
    sandbox.apply(&delta(json!([activate("c", 1.0)])), &[]);
    sandbox.json(&["sleep"]);
    for branch in ["main", "wake"] {
        assert_eq!(sandbox.git(&["show", &format!("{branch}:brain.toml")]), settings.trim_end());
    }
    assert_eq!(sandbox.lines(&["log", "--format=%s", "main"]).len(), 4);
    assert_eq!(sandbox.lines(&["merge-base", "main", "wake"]), [sandbox.tip("main")]);
}

#[test]
fn runs_under_way_during_sleep_are_kept() {
    let sandbox = after_a_day();
    let strengthen = delta(json!([
        sandbox::adjust("a", "b", "feeds_into", 5),
        create("late"),
        connect("late", "c", "feeds_into", 4000)
    ]));
    let under_way = sandbox.apply(&strengthen, &["--no-merge"]);
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(53277));
    let merged = sandbox.json(&["merge", under_way["branch"].as_str().unwrap()]);
    assert_eq!(merged["merges"][0]["merged"], true);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(53282), "both add up");
    sandbox.at_next_night();
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox::weight(&sandbox.neuron_at("main", "late"), "c", "feeds_into"), Some(4000));
}

#[test]
fn an_undone_sleep_gives_main_the_tree_before_it_and_wake_loses_only_the_consolidation() {
    let mut sandbox = after_a_day();
    let learnt = sandbox.neurons("wake");
    let first = sandbox.lines(&["rev-parse", "main^{tree}"]);
    sandbox.json(&["sleep"]);
    sandbox.at("2026-01-27T08:00:00Z");
    sandbox.apply(&delta(json!([sandbox::adjust("a", "b", "feeds_into", -7), create("d")])), &[]);
    let slept = sandbox.tip("main");
    sandbox.brain(&["sleep", "--undo", "--dry-run"]).exits(0);
    assert_eq!(sandbox.tip("main"), slept);
    sandbox.json(&["sleep", "--undo"]);
    assert_eq!(sandbox.lines(&["rev-parse", "main^{tree}"]), first, "exactly the tree before");
    assert!(sandbox.git(&["log", "-1", "--format=%B", "main"]).contains("Undoes: "));
    let now = sandbox.neurons("wake");
    assert_eq!(sandbox::weight(&now["a"], "b", "feeds_into"), Some(50000 - 7), "the day after stays");
    assert!(now.contains_key("d"));
    for (id, neuron) in &learnt {
        assert_eq!(now[id]["salience"], neuron["salience"], "{id}");
    }
    assert_eq!(sandbox::weight(&now["b"], "a", "recalls"), Some(65000), "also what had saturated");
    assert_eq!(sandbox.lines(&["merge-base", "main", "wake"]), [sandbox.tip("main")]);
    assert_eq!(sandbox.brain(&["sleep", "--undo"]).code, 2, "nothing left to take back");
    // The same day can be slept over again.
    assert_eq!(sandbox.json(&["sleep"])["state"], "slept");
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(50000 - 7 + 3277));
    sandbox.brain(&["check", "main"]).exits(0);
}

#[test]
fn taking_back_subtracts_whatever_the_policy_says() {
    for policy in ["max", "right", "review"] {
        let sandbox = after_a_day();
        let settings = sandbox.git(&["show", "main:brain.toml"]);
        let changed = settings.replace("weight = \"sum\"", &format!("weight = \"{policy}\""));
        assert_ne!(changed, settings);
        sandbox.file("here/brain.toml", changed + "\n");
        sandbox.git(&["commit", "-qam", "policy"]);
        sandbox.json(&["sleep"]);
        sandbox.apply(&delta(json!([sandbox::adjust("a", "b", "feeds_into", 5)])), &[]);
        sandbox.json(&["sleep", "--undo"]);
        assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(50005), "{policy}");
    }
}

#[test]
fn who_only_looks_waits_for_no_sleep() {
    let sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    sandbox.at_next_night();
    let waits = sandbox.json(&["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    let lock = std::fs::File::options().write(true).open(sandbox.dir().join(".git/git-brain/locks/sleep")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    for looks in [vec!["sleep"], vec!["sleep", "--undo"], vec!["approve", &waits], vec!["reject", &waits]] {
        sandbox.json(&[looks, vec!["--dry-run"]].concat());
    }
}

#[test]
fn two_nights_are_taken_back_one_after_the_other() {
    let sandbox = after_a_day();
    let trees = |sandbox: &Sandbox| sandbox.lines(&["rev-parse", "main^{tree}"]);
    let first = trees(&sandbox);
    sandbox.json(&["sleep"]);
    let second = trees(&sandbox);
    sandbox.apply(&delta(json!([create("e"), activate("e", 1.0), connect("e", "a", "feeds_into", 9000)])), &[]);
    sandbox.json(&["sleep"]);
    sandbox.json(&["sleep", "--undo"]);
    assert_eq!(trees(&sandbox), second);
    sandbox.json(&["sleep", "--undo"]);
    assert_eq!(trees(&sandbox), first);
    assert_eq!(sandbox.weight("e", "a", "feeds_into"), Some(9000));
}

#[test]
fn review_leaves_a_branch_that_a_person_approves_or_rejects() {
    let sandbox = after_a_day();
    let (main, wake) = (sandbox.tip("main"), sandbox.tip("wake"));
    let waiting = sandbox.json(&["sleep", "--review"]);
    let branch = waiting["branch"].as_str().unwrap().to_owned();
    assert_eq!(
        (waiting["state"].as_str(), sandbox.tip("main"), sandbox.tip("wake")),
        (Some("waiting"), main.clone(), wake)
    );
    let changes: Vec<String> =
        waiting["changes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()).collect();
    assert!(changes.iter().any(|c| c.contains("a connections.b.feeds_into  50000 → 53277")), "{changes:?}");
    let refs = sandbox.refs();
    for command in ["approve", "reject"] {
        let tried = sandbox.json(&[command, &branch, "--dry-run"]);
        assert_eq!((&tried["state"], &tried["run"]), (&json!("dry_run"), &waiting["run"]), "{command}");
    }
    let shown = sandbox.json(&["approve", &branch, "--dry-run"]);
    assert_eq!(shown["consolidated"], waiting["consolidated"]);
    assert_eq!(sandbox.refs(), refs, "nothing was written");
    sandbox.json(&["reject", &branch]);
    assert!(!sandbox.refs().keys().any(|name| name.contains("sleep/")));
    assert_eq!(sandbox.brain(&["reject", &branch, "--dry-run"]).code, 2, "it is gone");
    let branch = sandbox.json(&["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    let done = sandbox.json(&["approve", &branch]);
    assert_eq!(done["state"], "slept");
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(53277));
    let why = record(&sandbox)["consolidated"]
        .as_array()
        .unwrap()
        .iter()
        .find(|l| l["what"] == "a connections.b.feeds_into")
        .unwrap()["why"]
        .clone();
    assert_eq!(why, "consolidated: both ends were active");
    assert!(!sandbox.refs().keys().any(|name| name.contains("sleep/")));
    // What was consolidated before another sleep is not put on top of it.
    sandbox.apply(&delta(json!([create("z"), activate("z", 1.0)])), &[]);
    let stale = sandbox.json(&["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.brain(&["approve", &stale]).code, 3);
    sandbox.json(&["reject", &stale]);
    assert_eq!(sandbox.brain(&["approve", "wake"]).code, 2);
}

#[test]
fn waiting_sleep_whose_words_a_person_changed_is_not_approved() {
    let world = crate::machines::World::new();
    world.apply("a", json!([activate("x", 1.0), activate("y", 1.0)]));
    let branch = world.json("a", &["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    let (tip, main) = (world.tip("a", &branch), world.tip("a", "main"));
    let path = world.path_of("a", &branch, "/x.json");
    let text = world.git("a", &["show", &format!("{branch}:{path}")]) + "\n";
    let mut neuron: Value = serde_json::from_str(&text).unwrap();
    neuron["concept"] = "something else".into();
    let other = serde_json::to_string_pretty(&neuron).unwrap() + "\n";
    let changed = world.commit("a", &tip, &[&tip], &[(&path, Some(&other))], "it was that\n", &[]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &changed]);
    let refused = world.try_brain("a", &["approve", &branch]).exits(3);
    assert!(refused.err.contains("is called otherwise"), "{refused}");
    assert_eq!(world.tip("a", "main"), main);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &tip]);
    world.json("a", &["approve", &branch]);
    world.sync("a");
}

#[test]
fn archived_and_silent_neurons_go_and_come_back() {
    let mut sandbox = after_a_day();
    sandbox.apply(&delta(json!([{"op": "archive", "id": "c", "reason": "no use"}])), &[]);
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "c").is_none() && sandbox.neuron_path("wake", "c").is_none());
    assert_eq!(sandbox.weight("a", "c", "feeds_into"), None, "what pointed to it went along");
    let lines = record(&sandbox);
    let went = lines["consolidated"].as_array().unwrap().iter().find(|l| l["what"] == "neuron c").unwrap();
    assert!(went["new"].is_null() && went["why"].as_str().unwrap().starts_with("archived by "), "{went}");
    sandbox.at("2026-01-28T08:00:00Z");
    sandbox.json(&["restore", "c"]);
    assert_eq!(sandbox.weight("a", "c", "feeds_into"), Some(2000));
    assert_eq!(sandbox.weight("c", "a", "feeds_into"), Some(3000));
    assert!(sandbox.neuron("c").get("archived").is_none());
    assert_eq!(sandbox.brain(&["restore", "c"]).code, 3, "it is there");
    assert_eq!(sandbox.brain(&["restore", "nowhere"]).code, 2);
    // A year without a touch: c was never activated.
    sandbox.at("2027-02-28T08:00:00Z");
    sandbox.json(&["sleep"]);
    let kept = sandbox.neurons("main");
    assert!(!kept.contains_key("c"), "silent for a year");
    assert!(kept.contains_key("n_core_memory"), "core neurons stay");
    assert!(!kept.contains_key("a"), "activated once, a year ago");
}

#[test]
fn what_is_pinned_or_connected_later_stays() {
    let mut sandbox = after_a_day();
    sandbox.apply(&delta(json!([{"op": "archive", "id": "c", "reason": "no use"}])), &[]);
    sandbox.apply(&delta(json!([create("later"), connect("later", "c", "feeds_into", 4000)])), &[]);
    let document =
        json!({"neurons": [{"id": "kept", "concept": "kept", "type": "semantic", "pinned": true, "connections": []}]});
    let file = sandbox.file("pinned.json", document.to_string());
    sandbox.json(&["import", &file]);
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "c").is_some(), "a later run connected to it");
    sandbox.at("2027-02-28T08:00:00Z");
    sandbox.apply(&delta(json!([create("now")])), &[]);
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "kept").is_some(), "pinned");
}

#[test]
fn what_one_sleep_spares_the_next_one_spares_too() {
    let sandbox = after_a_day();
    sandbox.apply(&delta(json!([{"op": "archive", "id": "c", "reason": "no use"}])), &[]);
    sandbox.apply(&delta(json!([create("later"), connect("later", "c", "feeds_into", 4000)])), &[]);
    for _ in 0..2 {
        sandbox.json(&["sleep"]);
        assert!(sandbox.neuron_path("main", "c").is_some(), "a later run connected to it");
        sandbox.apply(&delta(json!([activate("later", 0.1)])), &[]);
    }
    let cut = |from: &str| json!({"op": "disconnect", "from": from, "to": "c", "type": "feeds_into"});
    sandbox.apply(&delta(json!([cut("later"), cut("a")])), &[]);
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "c").is_none(), "nothing points to it any more");
}

#[test]
fn what_comes_back_knows_what_its_last_day_taught() {
    let sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    let learnt = [sandbox::adjust("c", "a", "feeds_into", 500), sandbox::adjust("a", "c", "feeds_into", 700)];
    sandbox.apply(&delta(json!(learnt)), &[]);
    let before = sandbox.weight("a", "c", "feeds_into");
    let own = sandbox.weight("c", "a", "feeds_into");
    sandbox.apply(&delta(json!([{"op": "archive", "id": "c", "reason": "no use"}])), &[]);
    sandbox.json(&["sleep"]);
    sandbox.json(&["restore", "c"]);
    assert_eq!((sandbox.weight("a", "c", "feeds_into"), sandbox.weight("c", "a", "feeds_into")), (before, own));
}

#[test]
fn what_was_merged_while_the_brain_slept_is_the_next_day() {
    let sandbox = after_a_day();
    let waits = sandbox.json(&["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
    sandbox.apply(&delta(json!([create("meanwhile")])), &[]);
    sandbox.json(&["approve", &waits]);
    assert!(sandbox.neuron_path("main", "meanwhile").is_none());
    assert_eq!(sandbox.json(&["sleep"])["state"], "slept");
    assert!(sandbox.neuron_path("main", "meanwhile").is_some());
    assert_eq!(sandbox.json(&["sleep"])["state"], "quiet");
}

#[test]
fn weak_connections_go() {
    let sandbox = after_a_day();
    sandbox.apply(&delta(json!([sandbox::adjust("c", "a", "feeds_into", -2937)])), &[]);
    assert_eq!(sandbox.weight("c", "a", "feeds_into"), Some(63));
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.weight("c", "a", "feeds_into"), None);
}

#[test]
fn a_sleep_cut_off_between_its_branches_is_completed_and_one_cut_off_before_is_forgotten() {
    let mut sandbox = after_a_day();
    let (main, wake) = (sandbox.tip("main"), sandbox.tip("wake"));
    let done = sandbox.json(&["sleep"]);
    let (squash, back) = (done["main"].as_str().unwrap().to_owned(), done["wake"].as_str().unwrap().to_owned());
    let run = done["run"].as_str().unwrap();
    // As a process leaves it that was killed after wake had moved.
    sandbox.git(&["update-ref", "refs/heads/main", &main]);
    let note = json!({"run": run, "wake": [wake, back], "main": [main, squash], "branch": null});
    let file = sandbox.dir().join(".git/git-brain/sleep");
    std::fs::write(&file, note.to_string()).unwrap();
    let told = sandbox.brain(&["log", "-n", "1"]).exits(0);
    assert!(told.err.contains("is completed: this is the state after it"), "{told}");
    assert_eq!(sandbox.tip("main"), squash);
    assert!(!file.exists());
    // The same without the note, as in a clone that has only wake, or after a person's `git reset`.
    sandbox.git(&["update-ref", "refs/heads/main", &main]);
    let told = sandbox.brain(&["sleep"]).exits(0);
    assert!(told.err.contains("main stood before") && told.err.contains("git brain sleep --undo"), "{told}");
    assert_eq!(sandbox.tip("main"), squash);
    // Killed before anything had moved.
    sandbox.git(&["update-ref", &format!("refs/heads/sleep/{run}"), &squash]);
    std::fs::write(&file, json!({"run": run, "wake": null, "main": null, "branch": null}).to_string()).unwrap();
    let told = sandbox.brain(&["status"]).exits(0);
    assert!(told.err.contains("this is the state before it"), "{told}");
    assert!(!sandbox.refs().keys().any(|name| name.contains("sleep/")));
    // Somebody moved main on meanwhile: it is not moved over him.
    sandbox.git(&["update-ref", "refs/heads/main", &main]);
    let other = sandbox.git(&["commit-tree", "-m", "other", "-p", &main, &format!("{main}^{{tree}}")]);
    sandbox.git(&["update-ref", "refs/heads/main", other.trim()]);
    std::fs::write(&file, note.to_string()).unwrap();
    let told = sandbox.brain(&["log", "-n", "1"]).exits(0);
    assert!(told.err.contains("has moved on since"), "{told}");
    assert_eq!(sandbox.tip("main"), other.trim());
    sandbox.at("2026-01-29T23:00:00Z");
    sandbox.apply(&delta(json!([create("tomorrow")])), &[]);
    let next = sandbox.json(&["sleep"]);
    assert_eq!(next["state"], "slept");
    assert_eq!(sandbox::weight(&sandbox.neuron_at("main", "a"), "b", "feeds_into"), Some(53277), "its effect is kept");
    sandbox.fsck();
}

#[test]
fn what_the_day_weakened_is_not_strengthened_by_its_night() {
    let mut sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    sandbox.at("2026-01-27T20:00:00Z");
    let weakened = json!({"op": "adjust", "from": "a", "to": "b", "type": "feeds_into", "by": -1});
    let new = [create("d"), activate("d", 1.0), connect("b", "d", "feeds_into", 1000)];
    let mut ops = vec![activate("a", 1.0), activate("b", 0.9), weakened];
    ops.extend(new);
    sandbox.apply(&delta(json!(ops)), &[]);
    sandbox.at("2026-01-27T23:00:00Z");
    let before = weights(&sandbox.neurons("wake"));
    sandbox.json(&["sleep"]);
    let after = weights(&sandbox.neurons("main"));
    let changed: Vec<&String> = before.keys().filter(|key| before[*key] != after[*key]).collect();
    assert_eq!(changed, ["b connections.d.feeds_into"], "b to a is as great as can be, and a to b was weakened");
}

/// A nap after a night strengthens what was told since, and nothing for the second time.
#[test]
fn two_sleeps_in_a_row_strengthen_once() {
    let sandbox = after_a_day();
    sandbox.json(&["sleep"]);
    let before = sandbox.weight("a", "b", "feeds_into");
    sandbox.apply(&delta(json!([create("d")])), &[]);
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), before);
    sandbox.json(&["sleep", "--undo"]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), before);
}

#[test]
fn what_is_not_approved_stays_in_wake() {
    let sandbox = after_a_day();
    // No front door brings tainted memories in yet, so a person commits what one would.
    sandbox.git(&["checkout", "-q", "wake"]);
    let path = sandbox.neuron_path("wake", "c").unwrap();
    let text =
        sandbox.git(&["show", &format!("wake:{path}")]).replace("  \"conn", "  \"origin\": \"mcp:editor\",\n  \"conn");
    assert!(text.contains("mcp:editor"));
    sandbox.file(&format!("here/{path}"), format!("{text}\n"));
    sandbox.git(&["add", "--sparse", &path]);
    sandbox.git(&["commit", "-qm", "from outside"]);
    let report = sandbox.json(&["sleep"]);
    assert_eq!(report["left_out"], 1);
    assert!(sandbox.neuron_path("main", "c").is_none());
    assert_eq!(sandbox::weight(&sandbox.neuron_at("main", "a"), "c", "feeds_into"), None);
    assert_eq!(sandbox.weight("a", "c", "feeds_into"), Some(2000), "wake keeps it");
    assert_eq!(sandbox.weight("c", "a", "feeds_into"), Some(3000));
    sandbox.brain(&["check", "main"]).exits(0);
    sandbox.json(&["sleep", "--undo"]);
    assert_eq!(sandbox.weight("a", "c", "feeds_into"), Some(2000));
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(50000));
}

#[test]
fn the_record_of_what_is_not_approved_stays_in_wake_on_later_nights_too() {
    let sandbox = after_a_day();
    let run = sandbox.apply(&delta(json!([create("d")])), &[])["run"].as_str().unwrap().to_owned();
    let path = paths(&sandbox, "wake").into_iter().find(|path| path.ends_with(&format!("{run}.json"))).unwrap();
    sandbox.git(&["checkout", "-q", "wake"]);
    let text = sandbox
        .git(&["show", &format!("wake:{path}")])
        .replace("  \"implied", "  \"origin\": \"mcp:editor\",\n  \"implied");
    assert!(text.contains("mcp:editor"), "{text}");
    sandbox.file(&format!("here/{path}"), format!("{text}\n"));
    sandbox.git(&["add", "--sparse", &path]);
    sandbox.git(&["commit", "-qm", "from outside"]);
    for _ in 0..2 {
        sandbox.json(&["sleep"]);
        assert!(!paths(&sandbox, "main").contains(&path));
        assert!(paths(&sandbox, "wake").contains(&path));
        sandbox.at_next_night();
    }
}

#[test]
fn watch_runs_what_is_due_and_sleeps_when_it_is_time() {
    let mut sandbox = after_a_day();
    sandbox.brain(&["feed", "Anna drinks green tea in Kyoto.", "--no-run"]).exits(0);
    let events = sandbox.lines_of(&["--json", "watch", "--once"]);
    assert_eq!(events.iter().map(|e| e["event"].as_str().unwrap()).collect::<Vec<_>>(), ["ran"], "{events:?}");
    sandbox.at("2026-01-27T23:30:00Z");
    let events = sandbox.lines_of(&["--json", "watch", "--once"]);
    // Before it sleeps, memory looks back on the day.
    assert_eq!(events.iter().map(|e| e["event"].as_str().unwrap()).collect::<Vec<_>>(), ["ran", "slept"], "{events:?}");
    assert!(events[1]["because"].as_str().unwrap().contains("hours since the last sleep"));
    assert!(sandbox.lines_of(&["--json", "watch", "--once"]).is_empty());
}

#[test]
fn a_watch_outlives_settings_that_somebody_breaks_and_mends() {
    let sandbox = Sandbox::new();
    let mut watch = sandbox
        .command(sandbox::PROGRAM, &["--json", "watch", "--interval", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut events = BufReader::new(watch.stdout.take().unwrap()).lines();
    sandbox.brain(&["feed", "Anna drinks green tea.", "--no-run"]).exits(0);
    assert!(events.next().expect("it lives").unwrap().contains("\"ran\""));
    let settings = sandbox.git(&["show", "main:brain.toml"]);
    sandbox.file("here/brain.toml", "nonsense = 1\n");
    sandbox.git(&["commit", "-qam", "broken"]);
    assert!(events.next().expect("it lives").unwrap().contains("the watch goes on, but"));
    sandbox.file("here/brain.toml", settings + "\n");
    sandbox.git(&["commit", "-qam", "mended"]);
    sandbox.brain(&["feed", "Ben drinks black tea.", "--no-run"]).exits(0);
    assert!(events.next().expect("it lives").unwrap().contains("\"ran\""));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

fn paths(sandbox: &Sandbox, revision: &str) -> Vec<String> {
    sandbox.lines(&["ls-tree", "-r", "--name-only", revision])
}

trait Nights {
    fn at_next_night(&self);
    fn lines_of(&self, args: &[&str]) -> Vec<Value>;
}

impl Nights for Sandbox {
    /// Makes sure that there is something to sleep over.
    fn at_next_night(&self) {
        self.apply(&delta(json!([activate("c", 0.1)])), &[]);
    }

    fn lines_of(&self, args: &[&str]) -> Vec<Value> {
        let answer = self.brain(args).exits(0);
        answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn sleep_is_due_by_runs_by_saturation_and_by_load() {
    let sandbox = Sandbox::new();
    sandbox.brain(&["feed", "--source", "s", "Anna drinks green tea in Uji."]).exits(0);
    let due = |setting: &str| {
        let off = ["sleep.every_hours=0", "sleep.after_runs=0", "sleep.saturation=0", "sleep.idle_load=0"];
        let settings = off.iter().chain([&setting]).flat_map(|setting| ["-c", setting]);
        let args: Vec<&str> = settings.chain(["sleep", "--if-due", "--dry-run"]).collect();
        let told = sandbox.json(&args);
        (told["state"].as_str().unwrap().to_owned(), told["because"].as_str().unwrap_or_default().to_owned())
    };
    let not = ("not_due".to_owned(), String::new());
    assert_eq!(due("sleep.after_runs=0"), not);
    // As many as wake's history tells.
    let told = sandbox.git(&["log", "--first-parent", "--format=%(trailers:key=Run,valueonly,separator=%x0a)", "wake"]);
    let runs = told.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(runs > 2, "{told}");
    let after = |runs: usize| due(&format!("sleep.after_runs={runs}"));
    assert_eq!(after(runs), ("dry_run".to_owned(), format!("{runs} runs since the last sleep")));
    assert_eq!(after(runs + 1), not);
    assert_eq!(due("sleep.saturation=100000"), not);
    let (state, because) = due("sleep.saturation=1");
    assert!(state == "dry_run" && because.ends_with("vivid neurons"), "{because}");
    let vivid: usize = because.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(due(&format!("sleep.saturation={vivid}")).0, "dry_run");
    assert_eq!(due(&format!("sleep.saturation={}", vivid + 1)), not);
    if std::path::Path::new("/proc/loadavg").exists() {
        let (state, because) = due("sleep.idle_load=16");
        assert!(state == "dry_run" && because.starts_with("the machine is idle"), "{because}");
    }
}

#[test]
fn the_neuron_of_an_open_terminal_goal_is_never_pruned() {
    let mut sandbox = Sandbox::fixed(sandbox::NOW, "goal");
    sandbox.apply(&delta(json!([create("aim"), create("forgotten")])), &[]);
    sandbox.brain(&["goal", "add", "learn to make tea", "--neuron", "aim"]).exits(0);
    let goal = sandbox.json(&["goal", "list"])["goals"][0]["id"].as_str().unwrap().to_owned();
    let sleep = |sandbox: &Sandbox| sandbox.json(&["-c", "sleep.prune_age_days=1", "sleep"]);
    sandbox.at("2026-02-26T23:00:00Z");
    assert_eq!(sleep(&sandbox)["state"], "slept");
    assert!(sandbox.neuron_path("wake", "forgotten").is_none(), "nothing touched it for a month");
    assert!(sandbox.neuron_path("wake", "aim").is_some() && sandbox.neuron_path("main", "aim").is_some());
    // Once it is reached, its neuron fades as any other.
    sandbox.brain(&["goal", "close", &goal]).exits(0);
    sandbox.at("2026-03-26T23:00:00Z");
    assert_eq!(sleep(&sandbox)["state"], "slept");
    assert!(sandbox.neuron_path("wake", "aim").is_none());
}
