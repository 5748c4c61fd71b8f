//! A brain that lives twenty days and nights, by one command on an injected clock, and what plain git says of it. Every figure
//! is worked out here again from the trees of main and wake; nothing is taken from the program but its records and messages,
//! which are what is judged.

use std::collections::{BTreeMap, BTreeSet};

use crate::sandbox::{self, Sandbox};
use serde_json::{Value, json};

const DAYS: usize = 20;
/// After the last night.
const MORNING: &str = "2026-01-25T07:00:00Z";

type Neurons = BTreeMap<String, Value>;
/// Connections by source, target and type, with their weights.
type Weights = BTreeMap<(String, String, String), i64>;

/// A life, and what its command said of it.
struct Lived {
    sandbox: Sandbox,
    told: Value,
}

fn live(days: usize) -> Lived {
    let mut sandbox = Sandbox::empty();
    let told = sandbox.json(&["demo", "--days", &days.to_string(), "."]);
    sandbox.at(MORNING);
    Lived { sandbox, told }
}

/// A commit of main.
struct Commit {
    id: String,
    date: String,
    subject: String,
    body: String,
}

impl Commit {
    fn is_sleep(&self) -> bool {
        self.subject.starts_with("sleep: ")
    }

    fn run(&self) -> &str {
        let line = self.body.lines().find_map(|line| line.strip_prefix("Sleep: "));
        line.unwrap_or_else(|| panic!("no sleep in {}", self.body))
    }
}

/// Commits of main, oldest first.
fn main_of(sandbox: &Sandbox) -> Vec<Commit> {
    let log = sandbox.git(&["log", "--reverse", "--format=%H%x01%as%x01%s%x01%B%x00", "main"]);
    let commits = log.split('\0').map(str::trim).filter(|c| !c.is_empty()).map(|commit| {
        let [id, date, subject, body] = commit.splitn(4, '\u{1}').collect::<Vec<_>>().try_into().expect("four fields");
        let own = str::to_owned;
        Commit { id: own(id), date: own(date), subject: own(subject), body: own(body) }
    });
    commits.collect()
}

fn weights(neurons: &Neurons) -> Weights {
    let mut all = Weights::new();
    for (id, neuron) in neurons {
        for edge in neuron["connections"].as_array().expect("connections") {
            let name = |field: &str| edge[field].as_str().expect("a text").to_owned();
            all.insert((id.clone(), name("target"), name("type")), edge["weight"].as_i64().expect("a weight"));
        }
    }
    all
}

/// The nine totals of a night, by nothing but the two trees.
fn totals(before: &Neurons, after: &Neurons) -> Value {
    let (old, new) = (weights(before), weights(after));
    let gone = |a: &Neurons, b: &Neurons| a.keys().filter(|id| !b.contains_key(*id)).count();
    let changed = before.iter().filter(|(id, neuron)| after.get(*id).is_some_and(|now| now != *neuron)).count();
    let moved = |sign: i64| -> Vec<i64> {
        let both = old.iter().filter_map(|(edge, was)| Some(sign * (new.get(edge)? - was)));
        both.filter(|by| *by > 0).collect()
    };
    let only = |a: &Weights, b: &Weights| -> Vec<i64> {
        a.iter().filter(|(edge, _)| !b.contains_key(*edge)).map(|(_, weight)| *weight).collect()
    };
    let (made, lost, stronger, weaker) = (only(&new, &old), only(&old, &new), moved(1), moved(-1));
    json!({
        "neurons_made": gone(after, before),
        "neurons_changed": changed,
        "neurons_removed": gone(before, after),
        "connections_made": made.len(),
        "connections_removed": lost.len(),
        "strengthened": stronger.len(),
        "weakened": weaker.len(),
        "weight_gained": made.iter().chain(&stronger).sum::<i64>(),
        "weight_lost": lost.iter().chain(&weaker).sum::<i64>(),
    })
}

/// The subject that a night with those totals has.
fn subject(totals: &Value) -> String {
    let n = |name: &str| totals[name].as_i64().expect("a number");
    let connections = n("connections_made") + n("connections_removed") + n("strengthened") + n("weakened");
    format!(
        "sleep: {} neurons made, {} changed, {} removed; {connections} connections (+{} -{})",
        n("neurons_made"),
        n("neurons_changed"),
        n("neurons_removed"),
        n("weight_gained"),
        n("weight_lost")
    )
}

/// The record of a night in the tree of its commit, all its lines.
fn record(sandbox: &Sandbox, night: &Commit) -> Value {
    let shown = sandbox.json(&["show", night.run(), "--at", &night.id]);
    assert_eq!(shown["kind"], "sleep", "{} has no record", night.subject);
    shown["document"].clone()
}

#[test]
fn a_brain_of_twenty_days_reads_as_its_diary() {
    let Lived { sandbox, told } = live(DAYS);
    let days = told["days"].as_array().expect("days");
    let main = main_of(&sandbox);
    one_commit_a_night(&sandbox, days, &main);
    let states: Vec<Neurons> = main.iter().map(|commit| sandbox.neurons(&commit.id)).collect();
    for (pair, states) in main.windows(2).zip(states.windows(2)) {
        a_message_is_the_difference(&sandbox, (&pair[0], &pair[1]), &totals(&states[0], &states[1]));
    }
    a_person_and_a_run_under_way(&sandbox, days, &main);
    a_neuron_reads_as_its_life(&sandbox, &main, &states, &told);
    it_learnt(&sandbox, &told, &main);
    the_last_night_is_taken_back(&sandbox, &main);
}

/// One commit a night with activity, none for the quiet one; linear; `merge-base` is the last sleep; all sound.
#[track_caller]
fn one_commit_a_night(sandbox: &Sandbox, days: &[Value], main: &[Commit]) {
    assert_eq!(days.len(), DAYS);
    let active = days.iter().filter(|day| !day["texts"].as_array().expect("texts").is_empty());
    let active: Vec<&str> = active.map(|day| day["date"].as_str().expect("a date")).collect();
    let nights: Vec<&str> = main.iter().filter(|c| c.is_sleep()).map(|c| c.date.as_str()).collect();
    assert_eq!((active.len(), &nights), (DAYS - 1, &active), "a commit a night");
    let quiet = days.iter().find(|day| day["sleep"]["state"] == "quiet").expect("a quiet night");
    assert!(quiet["texts"].as_array().expect("texts").is_empty() && quiet["runs"] == 0, "{quiet}");
    assert_eq!(main.len(), 1 + nights.len() + 1, "the birth, the nights, and a person's commit");
    assert!(sandbox.lines(&["rev-list", "--min-parents=2", "main"]).is_empty(), "main is linear");
    let last = &main.last().expect("commits").id;
    assert_eq!(&sandbox.lines(&["merge-base", "main", "wake"]), std::slice::from_ref(last));
    let fixed = sandbox.lines(&["log", "--format=%(trailers:key=Clock,valueonly,separator=)", "main"]);
    assert_eq!(fixed.iter().filter(|clock| *clock == "fixed").count(), main.len() - 1, "all but the person's");
    for branch in ["main", "wake"] {
        sandbox.brain(&["check", branch]).exits(0);
    }
    sandbox.fsck();
    assert!(sandbox.stale_locks().is_empty() && sandbox.run_branches().is_empty());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "the work tree follows main");
}

/// Totals in the message and in the record are those of `git diff S^ S`, worked out from the two trees.
#[track_caller]
fn a_message_is_the_difference(sandbox: &Sandbox, (before, after): (&Commit, &Commit), found: &Value) {
    if !after.is_sleep() {
        assert_eq!(*found, totals(&Neurons::new(), &Neurons::new()), "a person touched no neuron");
        return;
    }
    assert_eq!(after.subject, subject(found), "{}", after.date);
    let record = record(sandbox, after);
    assert_eq!((&record["totals"], &record["base"]), (found, &json!(before.id)), "{}", after.date);
    // What is shown as the largest changes happened.
    let shown: Vec<&str> = after.body.lines().filter(|line| line.starts_with("  ") && line.contains(" → ")).collect();
    assert!(!shown.is_empty(), "{}", after.body);
    let lines = ["learnt", "consolidated"].map(|list| record[list].as_array().expect("a list"));
    for line in shown {
        let (what, rest) = line.trim().split_once("  ").expect("two parts");
        let (what, numbers) = (what.replacen(" → ", " connections.", 1), rest.split(" (").next().expect("numbers"));
        let fits = |entry: &&Value| {
            let weight = |side: &str| entry[side].as_i64().unwrap_or(0);
            entry["what"] == what && numbers == format!("{} → {}", weight("old"), weight("new"))
        };
        assert!(lines.iter().any(|list| list.iter().any(|entry| fits(&entry))), "{line} is in no list");
    }
    assert!(!lines.iter().any(|list| list.iter().any(|entry| entry["why"] == "no run")), "somebody did it");
}

/// A person's change of `brain.toml` on main survives and reaches wake; a run under way at night is kept.
#[track_caller]
fn a_person_and_a_run_under_way(sandbox: &Sandbox, days: &[Value], main: &[Commit]) {
    let [at] = places(main, |c| !c.is_sleep() && c.subject != "init: a brain").try_into().expect("one commit");
    let day = days.iter().find(|day| !day["person"].is_null()).expect("a person's day");
    assert_eq!((&day["person"], day["date"].as_str()), (&json!(main[at].id), Some(main[at].date.as_str())));
    assert_eq!(sandbox.lines(&["diff", "--name-only", &main[at - 1].id, &main[at].id]), ["brain.toml"]);
    let text = sandbox.git(&["show", &format!("{}:brain.toml", main[at].id)]);
    assert!(text.contains("prune_age_days = 5"), "{text}");
    for revision in main[at..].iter().map(|c| c.id.as_str()).chain(["wake"]) {
        assert_eq!(sandbox.git(&["show", &format!("{revision}:brain.toml")]), text, "{revision}");
    }
    // It took effect: neurons went that had come up once, which nobody had asked for.
    let forgotten = main[at..].iter().filter(|c| c.is_sleep()).flat_map(|night| {
        let record = record(sandbox, night);
        let gone =
            |line: &&Value| line["what"].as_str().is_some_and(|w| w.starts_with("neuron ")) && line["new"].is_null();
        record["consolidated"].as_array().expect("a list").iter().filter(gone).cloned().collect::<Vec<_>>()
    });
    let forgotten: Vec<Value> = forgotten.collect();
    assert!(forgotten.iter().filter(|line| line["why"].to_string().contains("pruned")).count() > 20, "{forgotten:?}");
    assert!(forgotten.iter().any(|line| line["why"].to_string().contains("archived")), "{forgotten:?}");
    let number = days.iter().position(|day| !day["under_way"].is_null()).expect("a run under way");
    let run = days[number]["under_way"].as_str().expect("a branch").rsplit('/').next().expect("a run").to_owned();
    assert_eq!(days[number + 1]["merged"], days[number]["under_way"]);
    let night = |day: &Value| main.iter().find(|c| c.is_sleep() && day["date"] == c.date.as_str()).expect("a night");
    let birthday = |revision: &str| {
        let neurons = sandbox.neurons(revision);
        neurons.into_values().find(|n| n["concept"] == "Anna's birthday")
    };
    assert!(
        sandbox.recorded_runs("wake").contains(&run) && !sandbox.recorded_runs(&night(&days[number]).id).contains(&run)
    );
    assert!(birthday(&night(&days[number]).id).is_none(), "it was not merged that night");
    for revision in [night(&days[number + 1]).id.as_str(), "main", "wake"] {
        let made = birthday(revision).unwrap_or_else(|| panic!("{revision} lacks what the run under way made"));
        let to_anna = sandbox::weight(&made, "anna-55579b55", "feeds_into");
        assert!(to_anna.is_some_and(|weight| weight >= 30_000), "{made}");
        assert!(sandbox.recorded_runs(revision).contains(&run), "{revision}");
    }
}

fn places(main: &[Commit], wanted: impl Fn(&Commit) -> bool) -> Vec<usize> {
    main.iter().enumerate().filter(|(_, commit)| wanted(commit)).map(|(at, _)| at).collect()
}

/// `git log -p` of the neuron that changed in most nights has a commit for each of them, and each patch is the change.
#[track_caller]
fn a_neuron_reads_as_its_life(sandbox: &Sandbox, main: &[Commit], states: &[Neurons], told: &Value) {
    let mut nights: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, pair) in states.windows(2).enumerate() {
        for id in pair[0].keys().chain(pair[1].keys()).collect::<BTreeSet<_>>() {
            if pair[0].get(id) != pair[1].get(id) {
                nights.entry(id).or_default().push(at + 1);
            }
        }
    }
    let (id, path) = (told["neuron"]["id"].as_str().expect("an id"), told["neuron"]["path"].as_str().expect("a path"));
    let semantic = states.last().expect("states").iter().filter(|(_, n)| n["type"] == "semantic");
    let most = semantic.map(|(id, _)| nights[id.as_str()].len()).max().expect("neurons");
    let own = &nights[id];
    assert!(own.len() == most && most > DAYS / 2, "{id} changed in {} nights, the most is {most}", own.len());
    let log = sandbox.git(&["log", "-p", "--reverse", "--no-color", "--format=%x00%H%n", "main", "--", path]);
    let patches: Vec<(&str, &str)> = log.split('\0').filter_map(|part| part.split_once('\n')).collect();
    let commits: Vec<&str> = patches.iter().map(|(commit, _)| *commit).collect();
    assert_eq!(commits, own.iter().map(|at| main[*at].id.as_str()).collect::<Vec<_>>(), "a commit for each night");
    for ((_, patch), at) in patches.iter().zip(own) {
        let weight = |state: &Neurons| {
            let mut by_target: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
            for ((_, to, link), weight) in weights(state).into_iter().filter(|((from, ..), _)| from == id) {
                by_target.entry(to).or_default().insert(link, weight);
            }
            let both = |of: &BTreeMap<String, i64>| match of.iter().collect::<Vec<_>>().as_slice() {
                [(one, w), (other, v)] if w == v && *one == "feeds_into" && *other == "recalls" => Some(**w),
                _ => None,
            };
            let line = |of: &BTreeMap<String, i64>| {
                let by_type: Vec<String> = of.iter().map(|(link, w)| format!("\"{link}\": {w}")).collect();
                both(of).map_or_else(|| format!("{{{}}}", by_type.join(", ")), |w| w.to_string())
            };
            by_target.iter().map(|(to, of)| format!("    \"{to}\": {}", line(of))).collect::<BTreeSet<_>>()
        };
        let (before, after) = (weight(&states[at - 1]), weight(&states[*at]));
        let has = |sign: char, edge: &String| patch.lines().any(|l| l.starts_with(sign) && l.contains(edge.as_str()));
        assert!(after.difference(&before).all(|edge| has('+', edge)), "{patch}");
        assert!(before.difference(&after).all(|edge| has('-', edge)), "{patch}");
    }
}

/// Outcomes turned stances, sub-goals emerged, the story has a chapter a night with judgements, and all of it can be asked.
#[track_caller]
fn it_learnt(sandbox: &Sandbox, told: &Value, main: &[Commit]) {
    let days = told["days"].as_array().expect("days");
    let tried: Vec<&Value> = days.iter().flat_map(|day| day["tried"].as_array().expect("a list")).collect();
    let better = ["noodle stall", "cycle lane"];
    assert!(tried.iter().any(|t| t["stance"] == "exploit"), "{tried:?}");
    assert!(tried.iter().filter(|t| t["stance"] == "exploit").all(|t| better.iter().any(|b| t["choice"] == *b)));
    let goals = sandbox.json(&["goal", "list"]);
    let sub = goals["goals"].as_array().expect("goals").iter().filter(|g| g["level"] == "sub").count();
    assert!(sub > 0, "{goals}");
    let ledger = sandbox.documents("wake", "network/ledger");
    assert_eq!((ledger.len(), &told["ledger"]["considered"]), (tried.len(), &json!(tried.len())));
    let story = sandbox.json(&["story", "-n", "100"]);
    let told_on = story["chapters"]
        .as_array()
        .expect("chapters")
        .iter()
        .map(|c| c["at"].as_str().expect("a time")[..10].to_owned());
    let judged: BTreeSet<String> =
        ledger.values().map(|e| e["at"].as_str().expect("a time")[..10].to_owned()).collect();
    assert_eq!(
        told_on.collect::<Vec<_>>(),
        judged.into_iter().collect::<Vec<_>>(),
        "a chapter a night with judgements"
    );
    assert_eq!(story["chapters"].as_array().map(Vec::len), Some(main.iter().filter(|c| c.is_sleep()).count()));
    let status = sandbox.json(&["status"]);
    assert_eq!((&status["queue"], &status["main"][1]), (&json!(0), &json!(sandbox.tip("main"))));
    assert!(
        !sandbox.json(&["recall", "Who walked along the river?"])["results"].as_array().expect("a list").is_empty()
    );
}

/// `sleep --undo` gives main the previous tree, and costs wake nothing but the consolidation.
#[track_caller]
fn the_last_night_is_taken_back(sandbox: &Sandbox, main: &[Commit]) {
    let [previous, last] = [&main[main.len() - 2], &main[main.len() - 1]];
    let record = record(sandbox, last);
    let (wake, before) = (sandbox.tip("wake"), sandbox.neurons("wake"));
    sandbox.json(&["sleep", "--undo"]);
    let tree = |revision: &str| sandbox.git(&["rev-parse", &format!("{revision}^{{tree}}")]);
    assert_eq!(tree("main"), tree(&previous.id), "main has the tree of the night before");
    assert!(sandbox.lines(&["rev-list", "main"]).contains(&last.id), "the night stays in history");
    assert_eq!(sandbox.lines(&["merge-base", "main", "wake"]), [sandbox.tip("main")]);
    sandbox.git(&["merge-base", "--is-ancestor", &wake, "wake"]);
    // The consolidation subtracted from wake by hand, line by line.
    let mut expected = weights(&before);
    let mut neurons: BTreeSet<String> = before.keys().cloned().collect();
    let lines = record["consolidated"].as_array().expect("a list");
    let mut subtracted = 0;
    for line in lines {
        let what = line["what"].as_str().expect("a text");
        if let Some(id) = what.strip_prefix("neuron ") {
            assert!(line["new"].is_null(), "sleep makes no neuron: {line}");
            neurons.insert(id.to_owned());
            for edge in line["old"]["connections"].as_array().expect("a list") {
                let name = |at: usize| edge[at].as_str().expect("a text").to_owned();
                expected.insert((id.to_owned(), name(0), name(1)), edge[2].as_i64().expect("a weight"));
            }
        } else if let Some((id, edge)) = what.split_once(" connections.") {
            let (target, link) = edge.rsplit_once('.').expect("target and type");
            let key = (id.to_owned(), target.to_owned(), link.to_owned());
            let (old, new) = (line["old"].as_i64().unwrap_or(0), line["new"].as_i64().unwrap_or(0));
            let now = expected.get(&key).copied().unwrap_or(0) - (new - old);
            expected.insert(key, now);
        }
        subtracted += 1;
    }
    assert!(subtracted > 50, "the night has done something: {subtracted}");
    let after = sandbox.neurons("wake");
    assert_eq!(after.keys().cloned().collect::<BTreeSet<_>>(), neurons);
    let found = weights(&after);
    let differ: Vec<_> = expected.iter().filter(|(key, w)| found.get(*key) != Some(w)).collect();
    assert!(differ.is_empty() && found.len() == expected.len(), "{differ:?}");
    // What was learnt is still there: runs, judgements, goals, what was told.
    for folder in ["network/runs", "network/ledger", "network/goals", "network/stimuli", "network/signals"] {
        assert_eq!(
            sandbox.git(&["rev-parse", &format!("wake:{folder}")]),
            sandbox.git(&["rev-parse", &format!("{wake}:{folder}")]),
            "{folder}"
        );
    }
    for branch in ["main", "wake"] {
        sandbox.brain(&["check", branch]).exits(0);
    }
    sandbox.fsck();
}

#[test]
fn the_same_command_gives_the_same_brain() {
    let tips = |sandbox: &Sandbox| ["main", "wake"].map(|branch| sandbox.tip(branch));
    let [one, other] = [live(2), live(2)];
    assert_eq!(tips(&one.sandbox), tips(&other.sandbox));
}

#[test]
fn the_command_tells_what_it_shows_and_refuses_what_it_cannot() {
    let sandbox = Sandbox::empty();
    let told = sandbox.brain(&["demo", "life", "--days", "3"]).exits(0);
    let shown = [
        "$ git log --oneline main\n",
        "sleep: ",
        "a person set `prune_age_days`",
        "$ git log -p --reverse main -- network/neurons/",
        "$ git brain story -n 1",
        "decision ",
        "would take back ",
        "Clock: fixed",
    ];
    for part in shown {
        assert!(told.out.contains(part), "{part}: {told}");
    }
    assert!(told.err.contains("day 3 of 3") && !told.out.contains("day 3 of 3"), "{told}");
    for bad in ["0", "1000", "many"] {
        sandbox.brain(&["demo", "--days", bad]).exits(2);
    }
    // One day is a life as well.
    sandbox.json(&["demo", "--days", "1", "short"]);
}
