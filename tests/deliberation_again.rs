//! Deliberation by the command line: what is measured again, what is promoted once, and what waits for a person.

use serde_json::{Value, json};

use git_brain::deliberation::verdict::Proposal;

use crate::deliberation::{SMALL, fed, until_fruit};
use crate::machines::World;

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
    world.brain("a", &["trust", "--yes"]);
}

fn results(report: &Value) -> Vec<Value> {
    let cycles = report["cycles"].as_array().unwrap();
    cycles.iter().flat_map(|cycle| cycle["results"].as_array().unwrap().clone()).collect()
}

/// A goal whose gardener proposes one candidate, and whose gate is a script: `more` are settings of it.
fn one_candidate(judge: &str, more: &str, of_gate: &str) -> (World, String) {
    one_candidate_in(World::new(), judge, more, of_gate)
}

fn one_candidate_in(world: World, judge: &str, more: &str, of_gate: &str) -> (World, String) {
    let mechanism =
        json!({"name": "one", "intuition": "x", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0});
    let proposals = json!({"proposals": [{"mechanism": mechanism, "payload": {"x": 1}}]});
    let gardener = world.sandbox.file("propose.sh", format!("cat > /dev/null\necho '{proposals}'\n"));
    let judge = world.sandbox.file("judge.sh", judge);
    let rules = format!(
        "[deliberation]\ngardener = \"command\"\nargv = [\"sh\", \"{gardener}\"]\nslots = 1\nhypotheses = 1\nmax_debate_rounds = 0\n{more}\n\
         [deliberation.gates]\nbrain = false\n\n[[deliberation.gate]]\nname = \"known\"\nargv = [\"sh\", \"{judge}\"]\n{of_gate}"
    );
    settings(&world, &rules);
    (world, judge)
}

const NO: &str = "cat > /dev/null\necho '{\"passed\": false, \"figure\": 1, \"threshold\": 2}'\n";
const YES: &str = "cat > /dev/null\necho '{\"passed\": true, \"figure\": 3, \"threshold\": 2}'\n";

#[test]
fn a_gate_that_was_mended_is_asked_again_and_so_is_one_that_sees_other_data() {
    let (world, judge) = one_candidate(NO, "", "");
    let data = world.sandbox.file("data.txt", "1");
    let cycle = || world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(results(&cycle())[0]["class"], "dead_leaf");
    assert!(results(&cycle()).is_empty(), "the same gate on the same evidence is not asked again");
    std::fs::write(&judge, YES).unwrap();
    assert_eq!(results(&cycle())[0]["class"], "fruit", "the mended judge is another judge");
    assert!(results(&cycle()).is_empty());
    // What the gate may read is the evidence.
    let rules = std::fs::read_to_string(world.dir("a").join("brain.toml")).unwrap();
    settings(&world, &format!("{rules}reads = [\"{data}\"]\n"));
    assert_eq!(results(&cycle()).len(), 1, "other settings of gates are other rules");
    assert!(results(&cycle()).is_empty());
    std::fs::write(&data, "2").unwrap();
    assert!(
        world.brain("a", &["deliberate", "search", "--show"]).contains("on other evidence than there is here today")
    );
    assert_eq!(results(&cycle()).len(), 1, "other data are other evidence");
    assert!(!world.brain("a", &["deliberate", "search", "--show"]).contains("on other evidence"));
}

/// Gates that are what they were let through what they did, whatever other gates said in between.
#[test]
fn a_gate_that_was_changed_and_changed_back_has_its_fruit_again() {
    let (world, judge) = one_candidate(YES, "", "");
    let cycle = || results(&world.json("a", &["deliberate", "search", "--trees", "x"]));
    let fruits = || world.json("a", &["deliberate", "search", "--show"])["fruits"].as_object().unwrap().len();
    assert_eq!(cycle()[0]["class"], "fruit");
    std::fs::write(&judge, NO).unwrap();
    assert_eq!(fruits(), 0, "of the gates of today nothing is fruit yet");
    assert_eq!(cycle()[0]["class"], "dead_leaf");
    std::fs::write(&judge, YES).unwrap();
    assert_eq!(fruits(), 1);
    assert!(cycle().is_empty(), "and it is not measured again");
}

/// A claim that did not know of a measurement, such as one that is dated before it, does not set it aside: both are contested until somebody who
/// knows both has measured again.
#[test]
fn a_claim_beside_a_measurement_is_contested_until_it_is_measured_again() {
    let (world, _) = one_candidate(YES, "", "");
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let first = world.json("a", &["deliberate", "search", "--trees", "x"]);
    let run = first["cycles"][0]["run"].as_str().unwrap();
    let path = world.path_of("a", "wake", &format!("{run}.json")).replace("network/runs", "network/deliberations");
    let stored: Value = serde_json::from_str(&world.git("a", &["show", &format!("wake:{path}")])).unwrap();
    let mut claim = stored["cycle"].clone();
    let result = &mut claim["results"][0];
    result["class"] = json!("dead_leaf");
    let gates = result["record"]["gates"].as_array_mut().unwrap();
    gates.iter_mut().find(|gate| gate["name"] == "known").unwrap()["passed"] = json!(false);
    world.apply("b", json!([{"op": "deliberate", "goal": "search", "cycle": claim}]));
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    // The gates of one machine measured it, and those of the other did not.
    let shown = world.json("a", &["deliberate", "search", "--show"]);
    assert!(shown["fruits"].as_object().unwrap().len() == 1 && shown["contested"].is_null(), "{shown}");
    let shown = world.json("b", &["deliberate", "search", "--show"]);
    assert_eq!(shown["fruits"], json!({}), "{shown}");
    assert_eq!(shown["contested"][0]["runs"].as_array().unwrap().len(), 2, "{shown}");
    assert!(world.brain("b", &["deliberate", "search", "--show"]).contains("contested one"));
    // The next cycle there measures what is claimed, by the gates there.
    world.brain("b", &["deliberate", "search", "--trees", "x"]);
    world.sync("b");
    world.sync("a");
    for name in ["a", "b"] {
        let shown = world.json(name, &["deliberate", "search", "--show"]);
        assert_eq!(shown["fruits"].as_object().unwrap().len(), 1, "{shown}");
        assert!(shown["contested"].is_null(), "{shown}");
    }
    // Whoever knows of a measurement claims against it in vain.
    claim["after"] = json!([run]);
    world.apply("a", json!([{"op": "deliberate", "goal": "search", "cycle": claim}]));
    world.sync("a");
    world.sync("b");
    assert_eq!(world.json("b", &["deliberate", "search", "--show"])["fruits"].as_object().unwrap().len(), 1);
}

/// Fruit that another process claims is none where it does what no gate measures, also where a part of it waits for a person.
#[test]
fn a_claimed_fruit_that_may_not_land_is_not_listed_and_stops_no_other() {
    let world = fed(SMALL, 120);
    let report = until_fruit(&world, &[]);
    let true_ones = world.json("a", &["deliberate", "recall", "--show"])["fruits"].as_object().unwrap().len();
    let paths = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/deliberations"]);
    let cycles = paths.lines().map(|path| world.git("a", &["show", &format!("wake:{path}")]));
    let cycles = cycles.map(|text| serde_json::from_str::<Value>(&text).unwrap()["cycle"].clone());
    let is_fruit = |result: &&Value| result["class"] == "fruit";
    let mut cycle =
        cycles.into_iter().find(|cycle| cycle["results"].as_array().unwrap().iter().any(|one| is_fruit(&one)));
    let cycle = cycle.as_mut().unwrap_or_else(|| panic!("{report:#}"));
    let mut fruit = cycle["results"].as_array().unwrap().iter().find(is_fruit).unwrap().clone();
    fruit["proposal"]["payload"]["ops"].as_array_mut().unwrap().push(json!({"op": "flag", "name": "x", "value": true}));
    fruit["proposal"]["mechanism"]["name"] = json!("the claim");
    let proposal: Proposal = serde_json::from_value(fruit["proposal"].clone()).unwrap();
    (fruit["key"], fruit["record"]["candidate"]) = (json!(proposal.key()), json!(proposal.key()));
    cycle["results"] = json!([fruit]);
    let mut wrong = cycle.clone();
    wrong["results"][0]["nursery"]["fate"] = json!("quarantine");
    let claim = |cycle: &Value| json!([{"op": "deliberate", "goal": "recall", "cycle": cycle}]);
    let said = world.try_apply("a", claim(&wrong));
    assert!(said.code != 0 && said.to_string().contains("quarantine"), "{said}");
    world.apply("a", claim(cycle));
    let shown = world.json("a", &["deliberate", "recall", "--show"]);
    assert_eq!(shown["fruits"].as_object().unwrap().len(), true_ones, "{shown:#}");
    assert!(!shown["fruits"].to_string().contains("the claim"), "{shown:#}");
    let next = world.json("a", &["deliberate", "recall", "--trees", "turbine"]);
    assert!(next["notes"].to_string().contains("its operation flag is one that no gate measures"), "{next:#}");
}

/// What lies in the work tree alone counts for nothing, and is said.
#[test]
fn a_deliberation_that_is_not_committed_is_said_to_count_for_nothing() {
    let world = World::new();
    world.brain("a", &["feed", "Anna likes tea."]);
    let here = "[deliberation]\nhypotheses = 2\nslots = 1\n";
    world.write("a", "brain.toml", here);
    let said = world.try_brain("a", &["deliberate", "search", "--trees", "scales"]).exits(3);
    assert!(said.err.contains("a file that is not committed says of it counts for nothing"), "{said}");
    let file = world.sandbox.file("delta.json", "{\"ops\": []}");
    let said = world.try_brain("a", &["deliberate", "search", "--trees", "scales", "--examine", &file]).exits(3);
    assert!(said.err.contains("counts for nothing"), "{said}");
    let report = world.json("a", &["deliberate", "search", "--trees", "tea", "--dry-run"]);
    assert!(report["notes"].to_string().contains("counts for nothing"), "{report:#}");
    settings(&world, here);
    let report = world.json("a", &["deliberate", "search", "--trees", "tea", "--dry-run"]);
    assert!(!report["notes"].to_string().contains("counts for nothing"), "{report:#}");
}

#[test]
fn a_mistake_of_settings_is_found_before_any_mind_is_asked() {
    let world = World::new();
    settings(&world, "[deliberation]\nskeptic = \"command\"\n");
    let said = world.try_brain("a", &["deliberate", "recall", "--trees", "tea"]).exits(3);
    assert!(said.err.contains("deliberation.argv names no program"), "{said}");
}

#[test]
fn an_agent_leaves_its_question_to_a_person_and_goes_on_with_the_answer() {
    let (world, _) = one_candidate(YES, "aligner = \"handoff\"\nhandoff_minutes = 60\n", "");
    let agent = json!({
        "name": "searcher", "role": "Searches.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "deliberation", "goal": "search", "trees": ["x"]},
        "capabilities": {"operations": ["deliberate"], "types": ["semantic"]},
    });
    world.write("a", "agents/searcher.json", &agent.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "searcher"]);
    world.brain("a", &["trust", "--yes"]);
    let started = std::time::Instant::now();
    let fed = world.brain("a", &["feed", "Anna likes tea."]);
    assert!(started.elapsed().as_secs() < 300, "nothing waits an hour");
    assert!(fed.contains("waits for a person") && fed.contains("--handoffs"), "{fed}");
    let waiting = world.json("a", &["deliberate", "--handoffs"]);
    let id = waiting["handoffs"][0]["id"].as_str().unwrap_or_else(|| panic!("{waiting}")).to_owned();
    let long = json!({"score": 3, "reason": "x".repeat(400)}).to_string();
    let long = world.sandbox.file("long.json", long);
    let said = world.try_brain("a", &["deliberate", "--answer", &id, &long]).exits(2);
    assert!(said.err.contains("300 fit"), "{said}");
    let answer = world.sandbox.file("answer.json", json!({"score": 3, "reason": "it fits"}).to_string());
    world.brain("a", &["deliberate", "--answer", &id, &answer]);
    let said = world.try_brain("a", &["deliberate", "--answer", &id, &answer]).exits(2);
    assert!(said.err.contains("has its answer already"), "{said}");
    world.brain("a", &["feed", "Ben likes coffee."]);
    let shown = world.json("a", &["deliberate", "search", "--show"]);
    assert_eq!(shown["fruits"].as_object().unwrap().len(), 1, "{shown:#}");
}

#[test]
fn a_hidden_gate_and_a_question_that_nobody_answers_leave_a_seed() {
    let (world, _) = one_candidate(YES, "aligner = \"handoff\"\nhandoff_minutes = 0\n", "hidden = true\n");
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(report["cycles"][0]["seeds"], 1, "{report:#}");
    let shown = world.json("a", &["deliberate", "search", "--show"]);
    assert_eq!(shown["closed"], json!([]));
    let next = world.json("a", &["deliberate", "search"]);
    assert!(next["cycles"][0]["weather"].to_string().contains("fog"), "{next:#}");
    assert_eq!(results(&next).len(), 1, "it is asked about again");
}

/// The cycle of a goal's last run, as it is stored.
fn last_cycle(world: &World) -> Value {
    let paths = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/deliberations"]);
    let path = paths.lines().last().unwrap();
    let stored: Value = serde_json::from_str(&world.git("a", &["show", &format!("wake:{path}")])).unwrap();
    stored["cycle"].clone()
}

/// The same cycle with one result: the candidate `{"x": n}`, which its gate is said to have let through.
fn claim_of(cycle: &Value, n: u32) -> Value {
    let mut claim = cycle.clone();
    let mut result = claim["results"][0].clone();
    result["proposal"]["payload"] = json!({"x": n});
    result["proposal"]["mechanism"]["name"] = json!("the claim");
    let proposal: Proposal = serde_json::from_value(result["proposal"].clone()).unwrap();
    (result["key"], result["record"]["candidate"]) = (json!(proposal.key()), json!(proposal.key()));
    let gate = |name: &str, figure: f64| json!({"name": name, "hard": true, "passed": true, "figure": figure, "threshold": 1.0});
    result["record"]["gates"] = json!([gate("G7 alignment", 3.0), gate("known", 3.0)]);
    result["class"] = json!("fruit");
    (claim["results"], claim["events"], claim["seeds"]) = (json!([result]), json!([]), json!([]));
    json!([{"op": "deliberate", "goal": "search", "cycle": claim}])
}

/// A record that no gate here has measured is marked as a claim, and the next cycle measures it.
#[test]
fn a_record_of_own_gates_that_none_here_measured_is_a_claim_until_it_is_measured() {
    for (judge, figure, holds) in [(NO, 3.0, false), (YES, 3.0, true), (YES, 2.5, false)] {
        let (world, _) = one_candidate(judge, "", "");
        let cycle = || world.json("a", &["deliberate", "search", "--trees", "x"]);
        let shown = || world.json("a", &["deliberate", "search", "--show"]);
        cycle();
        let own = shown();
        assert!(own["claims"].is_null(), "{own:#}");
        let mut claim = claim_of(&last_cycle(&world), 2);
        claim[0]["cycle"]["results"][0]["record"]["gates"][1]["figure"] = json!(figure);
        world.apply("a", claim);
        let before = shown();
        assert_eq!(before["claims"].as_object().map(serde_json::Map::len), Some(1), "{before:#}");
        let text = world.brain("a", &["deliberate", "search", "--show"]);
        assert!(text.contains("(of which 1 claim not measured here)"), "{text}");
        assert!(text.contains("no gate has measured it here"), "{text}");
        let dry = world.json("a", &["deliberate", "search", "--trees", "x", "--dry-run"]);
        assert_eq!(shown(), before, "a dry run notes nothing: {dry:#}");
        let next = cycle();
        let after = shown();
        assert!(after["claims"].is_null(), "{after:#}");
        assert_eq!(after["fruits"].to_string().contains("the claim"), holds, "{after:#}");
        assert_eq!(next["notes"].to_string().contains("the claim of "), !holds, "{next:#}");
    }
}

/// A cycle measures by the gates and the data whose hash it records, and by no others.
#[test]
fn gates_that_change_while_they_measure_end_the_cycle() {
    let world = World::new();
    let data = world.sandbox.file("data/word", "no");
    let folder = std::path::Path::new(&data).parent().unwrap().display().to_string();
    // It waits for the change.
    let judge =
        format!("cat > /dev/null\nuntil grep -q yes {data}; do :; done\necho '{{\"passed\": true, \"figure\": 3}}'\n");
    let (world, _) = one_candidate_in(world, &judge, "", &format!("reads = [\"{folder}\"]\n"));
    let (wake, live) =
        (world.tip("a", "wake"), std::path::PathBuf::from(world.git("a", &["rev-parse", "--git-common-dir"]).trim()));
    let live = world.dir("a").join(live).join("git-brain/deliberation.jsonl");
    let ended = std::sync::atomic::AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The nursery is through: the gates come next.
            let is_there = || std::fs::read_to_string(&live).unwrap_or_default().contains("nursery_check");
            while !is_there() && !ended.load(std::sync::atomic::Ordering::SeqCst) {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            std::fs::write(&data, "yes").unwrap();
        });
        let said = world.try_brain("a", &["deliberate", "search", "--trees", "x"]);
        ended.store(true, std::sync::atomic::Ordering::SeqCst);
        said
    });
    assert!(said.code == 3 && said.err.contains("changed while the gates of [deliberation] measured"), "{said}");
    assert_eq!(world.tip("a", "wake"), wake, "nothing of it is kept");
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(results(&report)[0]["class"], "fruit", "at rest they measure");
}
