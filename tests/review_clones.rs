//! Machines that decide on the same runs before they meet: the decision that reached the remote first stands, everywhere.

use std::collections::BTreeMap;

use crate::machines::World;
use crate::sandbox::{connect, create, some_of};
use serde_json::json;

/// Decisions, with the neurons that land by each of a run that makes two.
const DECISIONS: [(&str, &[&str], [bool; 2]); 4] = [
    ("approve", &[], [true, true]),
    ("approve", &["--only", "1"], [true, false]),
    ("approve", &["--only", "2"], [false, true]),
    ("reject", &["--why", "a rumour"], [false, false]),
];

/// Machines, and runs of perception that wait on all of them; with `named`, for reviewers whom the settings name.
fn waiting_everywhere(gate: bool, named: bool, machines: &[&'static str], runs: usize) -> (World, Vec<String>) {
    let world = if gate { World::gated() } else { World::new() };
    if named {
        let rules = "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"perceived\"\nagents = [\"perception\"]\n";
        world.write("a", "brain.toml", rules);
        world.git("a", &["add", "brain.toml"]);
        world.git("a", &["commit", "-qm", "reviewers"]);
        world.sync("a");
    }
    machines[1..].iter().for_each(|name| world.clone(name));
    let ops = |run: usize| json!([create(&format!("left-{run}")), create(&format!("right-{run}"))]);
    let branches = (0..runs).map(|run| world.waiting("a", "perception", ops(run)).0).collect();
    machines.iter().for_each(|name| drop(world.sync(name)));
    (world, branches)
}

fn decide(world: &World, name: &str, branch: &str, decision: usize) {
    let (verb, more, _) = DECISIONS[decision];
    world.brain(name, &[&[verb, branch], more].concat());
}

#[track_caller]
fn landed(world: &World, name: &str, run: usize, decision: usize, what: &str) {
    for (side, lands) in ["left", "right"].iter().zip(DECISIONS[decision].2) {
        let files = world.git(name, &["ls-tree", "-r", "--name-only", "wake", "network/neurons"]);
        let file = files.lines().find(|path| path.ends_with(&format!("/{side}-{run}.json")));
        // What somebody has used stays, archived: nobody believes it.
        let is_believed = |path: &str| !world.git(name, &["show", &format!("wake:{path}")]).contains("\"archived\"");
        assert_eq!(file.is_some_and(is_believed), lands, "{what}: {side}-{run} after {:?}", DECISIONS[decision]);
    }
}

#[test]
fn of_two_decisions_on_one_run_the_first_at_the_remote_stands() {
    for first in 0..DECISIONS.len() {
        let (world, branches) = waiting_everywhere(true, first % 2 == 0, &["a", "b"], DECISIONS.len());
        for (run, branch) in branches.iter().enumerate() {
            decide(&world, "a", branch, first);
            decide(&world, "b", branch, run);
        }
        world.sync("a");
        let said = world.sync("b")["notes"].to_string();
        world.sync("a");
        world.same(&["a", "b"]);
        for (run, branch) in branches.iter().enumerate() {
            landed(&world, "b", run, first, branch);
            let run_id = branch.rsplit('/').next().unwrap();
            let is_told = said.contains(&format!("{run_id} was decided on elsewhere first"));
            assert!(is_told, "{first} {run}: {said}");
            // One decision has taught: the lesson of the other is taken back.
            let ledger = world.json("b", &["ledger"]);
            let lessons = ledger["entries"].as_array().unwrap().iter().filter(|entry| entry["judged"] == run_id);
            let lessons: Vec<&str> = lessons.map(|entry| entry["outcome"]["text"].as_str().unwrap()).collect();
            let verb = ["approved", "amended", "amended", "rejected"][first];
            assert!(matches!(lessons[..], [one] if one.starts_with(verb)), "{first} {run}: {lessons:?}");
        }
        let decided = world.json("b", &["review", "--decided"]);
        assert_eq!(decided["decisions"].as_array().unwrap().len(), 2 * branches.len());
        // What is there is there by the decision that stands, and what was kept out is shown as that.
        for (run, branch) in branches.iter().enumerate() {
            let shown = world.brain("b", &["review", branch.rsplit('/').next().unwrap()]);
            assert_eq!(shown.contains("is merged"), first == 0, "{first} {run}: {shown}");
            let Some(side) = ["left", "right"].iter().zip(DECISIONS[first].2).find(|(_, lands)| *lands) else {
                continue;
            };
            let why = world.json("b", &["why", &format!("{}-{run}", side.0)]).to_string();
            let verb = if first == 0 { "approved by" } else { "amended by" };
            assert!(why.contains(verb) && (first > 0 || !why.contains("amended by")), "{first} {run}: {why}");
        }
    }
}

/// The decision reached the others before it was carried out: as when its machine was cut off, and two bots then carry it out.
#[test]
fn one_decision_that_two_machines_carry_out_teaches_once() {
    for (decision, known) in DECISIONS.iter().enumerate() {
        let (world, branches) = waiting_everywhere(false, true, &["a", "b", "c"], 1);
        decide(&world, "a", &branches[0], decision);
        world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
        ["b", "c"].iter().for_each(|name| drop(world.sync(name)));
        ["b", "c"].iter().for_each(|name| decide(&world, name, &branches[0], decision));
        ["b", "c", "b", "c"].iter().for_each(|name| drop(world.sync(name)));
        world.same(&["b", "c"]);
        landed(&world, "c", 0, decision, "carried out twice");
        let (run, ledger) = (branches[0].rsplit('/').next().unwrap(), world.json("c", &["ledger"]));
        let lessons = ledger["entries"].as_array().unwrap().iter().filter(|entry| entry["judged"] == run).count();
        assert_eq!(lessons, 1, "{known:?}: {ledger}");
        let decided = world.json("b", &["review", "--decided"]);
        assert_eq!(decided["decisions"][0]["stands"], true, "{decided}");
    }
}

/// A night between a decision and its sync carries the run to main, and is taken back with it.
#[test]
fn nights_between_decisions_stop_no_machine() {
    for (first, second, both) in [(3, 0, false), (0, 3, false), (0, 1, false), (3, 0, true), (0, 3, true)] {
        let (world, branches) = waiting_everywhere(true, true, &["a", "b"], 1);
        decide(&world, "b", &branches[0], second);
        world.brain("b", &["sleep"]);
        decide(&world, "a", &branches[0], first);
        if both {
            world.brain("a", &["sleep"]);
        }
        ["a", "b", "a", "b"].iter().for_each(|name| drop(world.sync(name)));
        world.same(&["a", "b"]);
        landed(&world, "b", 0, first, &format!("{first} {second} {both}"));
    }
}

/// Two machines let a run in whole that a third decided on first: the run's own commit lies behind both.
#[test]
fn of_three_decisions_on_one_run_the_first_at_the_remote_stands() {
    for first in some_of(0..DECISIONS.len(), 2) {
        let (named, machines) = [(true, &["a", "b", "c"][..]), (false, &["a", "b", "c", "d"])][first % 2];
        let (world, branches) = waiting_everywhere(true, named, machines, DECISIONS.len());
        for (run, branch) in branches.iter().enumerate() {
            decide(&world, "a", branch, first);
            decide(&world, "b", branch, 0);
            machines[2..].iter().for_each(|name| decide(&world, name, branch, run));
        }
        machines.iter().chain(machines).for_each(|name| drop(world.sync(name)));
        world.same(machines);
        for (run, branch) in branches.iter().enumerate() {
            landed(&world, "c", run, first, &format!("{named} {branch}, then {:?}", DECISIONS[run]));
            let run_id = branch.rsplit('/').next().unwrap();
            let decided = world.json("c", &["review", "--decided"]);
            let stands = decided["decisions"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["run"] == run_id && one["stands"] == true);
            assert!(stands, "{first} {run} {named}: {decided}");
        }
    }
}

/// What a machine has decided first at the remote stands there, and all of it stands here.
fn meet(remote: &mut BTreeMap<usize, usize>, here: &mut BTreeMap<usize, usize>) {
    for (run, decision) in here.iter() {
        remote.entry(*run).or_insert(*decision);
    }
    here.clone_from(remote);
}

/// Random decisions and syncs of three machines, against a table of who came first.
#[test]
fn machines_that_decide_at_random_come_to_the_first_decisions() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (lives, seed) = (number("GIT_BRAIN_REVIEW_LIVES").unwrap_or(2), number("GIT_BRAIN_TEST_SEED").unwrap_or(7));
    for life in seed..seed + lives {
        let machines = ["a", "b", "c"];
        let (world, branches) = waiting_everywhere(life % 2 == 0, life % 3 > 0, &machines, 4);
        let mut state = life;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut remote: BTreeMap<usize, usize> = BTreeMap::new();
        let mut here = [remote.clone(), remote.clone(), remote.clone()];
        let (mut story, mut held) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..28 {
            let (machine, run, decision) = (below(3), below(branches.len()), below(DECISIONS.len()));
            let name = machines[machine];
            if below(3) == 0 {
                story.push(format!("{name} sync"));
                world.try_brain(name, &["sync"]).exits(0);
                meet(&mut remote, &mut here[machine]);
            } else if below(8) == 0 {
                story.push(format!("{name} sleeps"));
                world.brain(name, &["sleep"]);
            } else if below(6) == 0 {
                // What was used is no less the first decision's.
                let used = json!([{"op": "activate", "id": format!("right-{run}"), "strength": 0.5}]);
                if world.try_apply(name, used).code == 0 {
                    story.push(format!("{name} uses {run}"));
                }
            } else if below(4) == 0 {
                // What others tie to a neuron keeps it.
                let tied = json!([connect("x", &format!("left-{run}"), "feeds_into", 10)]);
                if world.try_apply(name, tied).code == 0 {
                    story.push(format!("{name} ties {run}"));
                    held.insert(run);
                }
            } else if let std::collections::btree_map::Entry::Vacant(undecided) = here[machine].entry(run) {
                story.push(format!("{name} {run} {:?}", DECISIONS[decision]));
                decide(&world, name, &branches[run], decision);
                undecided.insert(decision);
            }
        }
        for (machine, name) in machines.iter().enumerate().chain(machines.iter().enumerate()) {
            world.sync(name);
            meet(&mut remote, &mut here[machine]);
        }
        machines.iter().for_each(|name| story.push(format!("{name}: {}", world.sync(name)["notes"])));
        let tips = machines.map(|name| world.tip(name, "wake"));
        assert!(tips.iter().all(|tip| *tip == tips[0]), "life {life}: {}", story.join("; "));
        world.same(&machines);
        for (run, decision) in remote.iter().filter(|(run, _)| !held.contains(run)) {
            landed(&world, "c", *run, *decision, &format!("life {life}: {}", story.join("; ")));
        }
    }
}
