//! Deliberation by the command line: what it finds, what it refuses, and what it never does.

use serde_json::{Value, json};

use crate::machines::World;

/// Notes in which "turbine" is followed by "gasket", and everything else by chance.
fn notes(count: usize) -> String {
    let things = ["ladder", "window", "printer", "kettle", "bucket", "magnet", "blanket", "carpet", "hammer", "basket"];
    let places = ["harbour", "cellar", "garden", "tower", "market", "bridge", "chapel", "stable", "quarry", "meadow"];
    let (mut state, mut lines, mut next) = (7_u64, String::new(), None);
    let mut draw = |most: usize| splitmix(&mut state) as usize % most;
    for n in 0..count {
        let thing = match next.take() {
            Some(thing) => thing,
            None if draw(100) < 14 => {
                next = Some("gasket");
                "turbine"
            }
            None => things[draw(things.len())],
        };
        let place = places[draw(places.len())];
        let at = format!("2026-01-{:02}T{:02}:00:00Z", 1 + n / 24, n % 24);
        let text = format!("We saw the {thing} near the {place}.");
        lines += &(json!({"at": at, "text": text}).to_string() + "\n");
    }
    lines
}

/// SplitMix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub const SMALL: &str = "[deliberation]\nslots = 1\nhypotheses = 4\n\n[deliberation.gates]\nrandom = 20\n";

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
    world.brain("a", &["trust", "--yes"]);
}

pub fn fed(rules: &str, count: usize) -> World {
    let world = World::new();
    settings(&world, rules);
    let path = world.sandbox.file("notes.jsonl", notes(count));
    world.brain("a", &["feed", "--file", &path]);
    world
}

/// Cycles on a topic until something is fruit: what is mined first is drawn.
pub fn until_fruit(world: &World, more: &[&str]) -> Value {
    let mut last = Value::Null;
    for _ in 0..5 {
        last = world.json("a", &[&["deliberate", "recall", "--trees", "turbine"], more].concat());
        if results(&last).iter().any(|one| one["class"] == "fruit") {
            break;
        }
    }
    last
}

pub fn results(report: &Value) -> Vec<Value> {
    let cycles = report["cycles"].as_array().unwrap();
    cycles.iter().flat_map(|cycle| cycle["results"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_planted_rule_becomes_fruit_waits_for_review_and_lands() {
    let world = fed(SMALL, 120);
    let wake = world.tip("a", "wake");
    let dry = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--dry-run"]);
    assert_eq!(world.tip("a", "wake"), wake, "a dry run writes nothing");
    let first = world.json("a", &["deliberate", "recall", "--trees", "turbine"]);
    let classes = |report: &Value| -> Vec<(String, Value)> {
        results(report).iter().map(|one| (one["key"].to_string(), one["class"].clone())).collect()
    };
    assert_eq!(classes(&dry), classes(&first), "the same forest gives the same results");
    let is_fruit = |report: &Value| results(report).iter().any(|one| one["class"] == "fruit");
    let report = if is_fruit(&first) { first } else { until_fruit(&world, &[]) };
    let all = results(&report);
    let fruit: Vec<&Value> = all.iter().filter(|one| one["class"] == "fruit").collect();
    assert!(fruit.iter().any(|one| one["name"].as_str().unwrap().starts_with("turbine")), "{report:#}");
    let run = fruit[0]["run"].as_str().unwrap();
    let waiting = world.json("a", &["review"]);
    assert!(waiting.to_string().contains(run), "{waiting}");
    assert_eq!(fruit[0]["landed"], false);
    world.brain("a", &["approve", run]);
    // What was promoted is closed, and a run that landed is not made again.
    let again = world.json("a", &["deliberate", "recall"]);
    assert!(results(&again).iter().all(|one| one["key"] != fruit[0]["key"]), "{again:#}");
    assert!(!world.json("a", &["review"])["waiting"].to_string().contains(run));
    let shown = world.json("a", &["deliberate", "recall", "--show"]);
    let cycles = shown["cycle"].as_u64().unwrap();
    assert!(cycles >= 2, "{shown}");
    assert!(!shown["fruits"].as_object().unwrap().is_empty());
    world.brain("a", &["check"]);
    let events = world.brain("a", &["events", "recall"]);
    for action in [
        "validate_pre",
        "route",
        "gardener_parallel_dispatch",
        "mine",
        "debate_round",
        "skeptic_challenge",
        "judge",
        "nursery_check",
        "evaluate",
        "classify",
        "rank_and_route_seeds",
        "validate_post_save",
    ] {
        assert!(events.contains(&format!("\"action\":\"{action}\"")), "{action}");
    }
    events.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
    // The cycle goes to main with the night, and to another machine.
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.clone("b");
    assert_eq!(world.json("b", &["deliberate", "recall", "--show"])["cycle"], cycles);
}

#[test]
fn trees_side_by_side_give_what_they_give_one_by_one() {
    let told = |concurrent: u32| {
        let rules = format!(
            "[deliberation]\nslots = 3\nhypotheses = 2\nmax_concurrent = {concurrent}\n\n[deliberation.gates]\nrandom = 19\n"
        );
        let world = fed(&rules, 60);
        world.json("a", &["deliberate", "recall", "--trees", "turbine,ladder,harbour", "--dry-run"])["cycles"]
            .to_string()
    };
    assert_eq!(told(1), told(4));
}

#[test]
fn no_flag_and_no_proposal_changes_a_gate() {
    let world = fed(SMALL, 60);
    let told = |more: &[&str]| {
        let args = [more, &["deliberate", "recall", "--trees", "turbine", "--dry-run"]].concat();
        world.json("a", &args)["cycles"].to_string()
    };
    let loose = ["-c", "deliberation.gates.percentile=0", "-c", "deliberation.gates.effect=-1"];
    assert_eq!(told(&[]), told(&loose));
}

#[test]
fn a_pair_of_one_family_is_refused_before_anything_is_asked() {
    let models = "[models.a]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1/\"\nfamily = \"qwen\"\n\
                  [models.b]\nprovider = \"openai\"\nmodel = \"n\"\nbase_url = \"http://127.0.0.1:1/v1/\"\nfamily = \"qwen\"\n\
                  [models.c]\nprovider = \"openai\"\nmodel = \"n\"\nbase_url = \"http://127.0.0.1:1/v1/\"\n";
    for (gardener, skeptic, says) in [
        ("a", "b", "both of family qwen"),
        ("reflex-lexical", "reflex-lexical", "both of family reflex-lexical"),
        ("a", "c", "family of c (skeptic) is unknown"),
        ("a", "nobody", "there is no mind nobody"),
        ("a", "", "skeptic names no mind"),
    ] {
        let world = World::new();
        settings(&world, &format!("{models}[deliberation]\ngardener = \"{gardener}\"\nskeptic = \"{skeptic}\"\n"));
        let said = world.try_brain("a", &["deliberate", "recall", "--trees", "tea"]).exits(3);
        assert!(said.err.contains(says), "{gardener} {skeptic}: {said}");
    }
}

#[test]
fn a_skeptic_that_cannot_be_reached_leaves_no_trace() {
    let rules = "[models.far]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1/\"\nfamily = \"far\"\nretries = 0\n\
                 [deliberation]\nskeptic = \"far\"\nslots = 1\n";
    let world = fed(rules, 60);
    let before = (world.refs("a"), world.tip("a", "wake"));
    let said = world.try_brain("a", &["deliberate", "recall", "--trees", "turbine"]);
    assert!(said.code != 0 && said.err.contains("skeptic has given no answer"), "{said}");
    assert_eq!((world.refs("a"), world.tip("a", "wake")), before);
    world.try_brain("a", &["deliberate", "recall", "--show"]).exits(2);
}

#[test]
fn a_program_proposes_and_a_program_judges() {
    let world = World::new();
    let proposals: Vec<Value> = (1..=4)
        .map(|x| json!({"mechanism": {"name": format!("x{x}"), "intuition": "more is better"}, "payload": {"x": x}}))
        .collect();
    let gardener = format!("cat > /dev/null\necho '{}'\n", json!({"proposals": proposals}));
    let judge = "case \"$(cat)\" in\n*'\"x\":2'*) exit 3;;\n*'\"x\":3'*) echo nonsense;;\n\
        *'\"x\":4'*) echo '{\"passed\": true, \"figure\": 4, \"threshold\": 4}';;\n\
        *) echo '{\"passed\": false, \"figure\": 1, \"threshold\": 4, \"note\": \"too small\"}';;\nesac\n";
    let (gardener, judge) = (world.sandbox.file("propose.sh", gardener), world.sandbox.file("judge.sh", judge));
    let rules = format!(
        "[deliberation]\ngardener = \"command\"\nargv = [\"sh\", \"{gardener}\"]\nslots = 1\nhypotheses = 4\nmax_debate_rounds = 1\n\n\
         [deliberation.gates]\nbrain = false\n\n[[deliberation.gate]]\nname = \"held out\"\nargv = [\"sh\", \"{judge}\"]\n"
    );
    world.write("a", "brain.toml", &rules);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
    let said = world.try_brain("a", &["deliberate", "search", "--trees", "x"]).exits(3);
    assert!(said.err.contains("programs of [deliberation] are inert"), "{said}");
    assert!(world.brain("a", &["trust", "--list"]).contains("propose.sh"));
    world.brain("a", &["trust", "--yes"]);
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    let all = results(&report);
    let of = |name: &str| all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"));
    for (name, class, why) in
        [("x1", "dead_leaf", "too small"), ("x2", "normal_leaf", "3"), ("x3", "normal_leaf", "not measured")]
    {
        assert_eq!(of(name)["class"], class, "{report:#}");
        assert!(of(name)["failed"].to_string().contains(why), "{report:#}");
    }
    assert_eq!((&of("x4")["class"], &of("x4")["run"]), (&json!("fruit"), &Value::Null), "{report:#}");
    let shown = world.json("a", &["deliberate", "search", "--show"]);
    assert!(shown["fruits"].to_string().contains("\"payload\":{\"x\":4}"), "{shown}");
    world.brain("a", &["check"]);
}

/// The recipe of the docs, as it stands there: what was found is told to the gardener, and nothing of a hidden gate.
#[test]
fn the_recipe_searches_and_its_gardener_is_told_nothing_of_a_hidden_gate() {
    if !std::path::Path::new("/usr/bin/python3").exists() {
        println!("skipped: there is no /usr/bin/python3");
        return;
    }
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recipes/search");
    let world = World::new();
    let gate = |name: &str, more: &str| {
        format!(
            "[[deliberation.gate]]\nname = \"{name}\"\n{more}argv = [\"/usr/bin/python3\", \"{recipe}/judge.py\", \"{name}\"]\n\n"
        )
    };
    let rules = |gardener: &str| {
        format!(
            "[deliberation]\ngardener = \"command\"\nargv = {gardener}\nslots = 1\nhypotheses = 4\nmax_debate_rounds = 0\n\n\
             [deliberation.gates]\nbrain = false\n\n{}{}",
            gate("known", ""),
            gate("hidden", "hidden = true\n")
        )
    };
    settings(&world, &rules(&format!("[\"/usr/bin/python3\", \"{recipe}/propose.py\"]")));
    let report = world.json("a", &["deliberate", "forecast", "--trees", "holt", "--cycles", "3"]);
    let all = results(&report);
    assert!(all.len() >= 6, "{report:#}");
    for one in &all {
        let names: Vec<&str> =
            one["gates"].as_array().unwrap().iter().filter_map(|gate| gate["name"].as_str()).collect();
        assert!(names.contains(&"known") && names.contains(&"hidden"), "{one:#}");
    }
    assert!(all.iter().any(|one| one["class"] == "fruit"), "{report:#}");
    // A gardener that prints what it is told.
    let told = "import json, sys\nasked = json.load(sys.stdin)\npast = json.dumps(asked['question']['past'])[-3500:]\n\
                mechanism = {'name': 'told', 'intuition': past}\n\
                print(json.dumps({'proposals': [{'mechanism': mechanism, 'payload': {'level': 0.5, 'trend': 0, 'season': 0, 'period': 3}}]}))\n";
    let told = world.sandbox.file("told.py", told);
    settings(&world, &rules(&format!("[\"/usr/bin/python3\", \"{told}\"]")));
    world.brain("a", &["deliberate", "forecast", "--trees", "holt"]);
    let tip = world.git("a", &["grep", "-h", "intuition", "wake", "--", "network/deliberations"]);
    let past = tip.lines().find(|line| line.contains("known")).unwrap_or_else(|| panic!("{tip}"));
    assert!(!past.contains("hidden"), "{past}");
}

#[test]
fn a_handoff_is_answered_by_a_file_and_times_out_without() {
    let rules = "[deliberation]\nslots = 1\nhypotheses = 4\naligner = \"handoff\"\nhandoff_minutes = 1\n\n[deliberation.gates]\nrandom = 20\n";
    let world = fed(rules, 120);
    let answer = world.sandbox.file("answer.json", "{\"score\": 3, \"reason\": \"it does what it says\"}");
    let wrong = world.sandbox.file("wrong.json", "{\"score\": 7, \"reason\": \"\"}");
    let (done, refused) = (std::sync::atomic::AtomicBool::new(false), std::sync::atomic::AtomicBool::new(false));
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                let waiting = world.json("a", &["deliberate", "--handoffs"]);
                for one in waiting["handoffs"].as_array().unwrap() {
                    assert_eq!(one["role"], "aligner");
                    let id = one["id"].as_str().unwrap();
                    let said = world.try_brain("a", &["deliberate", "--answer", id, &wrong]);
                    refused
                        .fetch_or(said.code == 2 && said.err.contains("above 3"), std::sync::atomic::Ordering::SeqCst);
                    let _ = world.try_brain("a", &["deliberate", "--answer", id, &answer]);
                }
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let report = until_fruit(&world, &[]);
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        report
    });
    assert!(results(&report).iter().any(|one| one["class"] == "fruit"), "{report:#}");
    assert_eq!(world.json("a", &["deliberate", "--handoffs"])["handoffs"], json!([]));
    world.try_brain("a", &["deliberate", "--answer", "h-0", &answer]).exits(2);
    assert!(refused.load(std::sync::atomic::Ordering::SeqCst), "a wrong answer is refused where it is given");
    // Nobody answers: the record stays incomplete, and nothing is fruit.
    settings(&world, &rules.replace("handoff_minutes = 1", "handoff_minutes = 0"));
    let timed_out = || world.brain("a", &["events", "other"]).contains("handoff_timeout");
    for _ in 0..5 {
        let report = world.json("a", &["deliberate", "other", "--trees", "turbine"]);
        assert!(results(&report).iter().all(|one| one["class"] != "fruit"), "{report:#}");
        if timed_out() {
            break;
        }
    }
    assert!(timed_out());
}

#[test]
fn an_agent_thinks_by_deliberation() {
    let world = fed(SMALL, 120);
    let agent = json!({
        "name": "gardener", "role": "Finds what follows from what.", "trigger": {"any": [{"signal": "any"}]},
        "cognition": {"kind": "deliberation", "goal": "recall", "trees": ["turbine"]},
        "capabilities": {"operations": ["deliberate", "connect", "acknowledge"], "types": ["semantic", "episodic"]},
    });
    world.write("a", "agents/gardener.json", &agent.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "gardener"]);
    world.brain("a", &["trust", "--yes"]);
    let report = until_fruit(&world, &["--agent", "gardener"]);
    let fruit =
        results(&report).into_iter().find(|one| one["class"] == "fruit").unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(fruit["landed"], true, "no rule of review holds it back");
    let run = report["cycles"][0]["run"].as_str().unwrap();
    assert!(run.ends_with("-gardener"));
    assert!(world.brain("a", &["log", "--agent", "gardener"]).contains("deliberation"));
    world.brain("a", &["check"]);
    world.try_brain("a", &["deliberate", "recall", "--agent", "memory"]).exits(2);
}

/// A candidate does what gates measure: nothing else lands behind it.
#[test]
fn a_candidate_does_nothing_that_no_gate_measures() {
    let world = fed(SMALL, 60);
    let memory = world.json("a", &["recall", "gasket"])["results"][0]["id"].as_str().unwrap().to_owned();
    for op in [
        json!({"op": "archive", "id": memory, "reason": "x"}),
        json!({"op": "reword", "id": memory, "concept": "another"}),
        json!({"op": "goal", "text": "obey", "level": "sub"}),
        json!({"op": "flag", "name": "urgence", "value": true}),
        json!({"op": "signal", "to": "memory", "payload": {}}),
    ] {
        let file = world.sandbox.file("delta.json", json!({"ops": [op]}).to_string());
        let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
        let sanity = &record["gates"][0];
        assert!(sanity["passed"] == false, "{op}: {record:#}");
        assert!(sanity["note"].as_str().unwrap().contains("cannot measure"), "{op}: {record:#}");
    }
}

/// What the validator would refuse enters nowhere, and what was taken back is of no forest.
#[test]
fn a_cycle_that_is_none_enters_nowhere_and_one_that_was_taken_back_counts_no_more() {
    let world = fed(SMALL, 60);
    let first = world.json("a", &["deliberate", "recall", "--trees", "turbine"]);
    let run = first["cycles"][0]["run"].as_str().unwrap().to_owned();
    let path = world.path_of("a", "wake", &format!("{run}.json"));
    let path = path.replace("network/runs", "network/deliberations");
    let stored: Value = serde_json::from_str(&world.git("a", &["show", &format!("wake:{path}")])).unwrap();
    let mut stub = stored["cycle"].clone();
    for result in stub["results"].as_array_mut().unwrap() {
        result["class"] = json!("fruit");
    }
    for (cycle, says) in [(json!({"cycle": 1}), "missing field"), (stub, "its gates make it")] {
        let ops = json!([{"op": "deliberate", "goal": "forged", "cycle": cycle}]);
        let said = world.try_apply("a", ops);
        assert!(said.code == 5 && said.err.contains(says), "{said}");
    }
    world.try_brain("a", &["deliberate", "forged", "--show"]).exits(2);
    assert_eq!(world.json("a", &["deliberate", "recall", "--show"])["cycle"], 1);
    world.brain("a", &["revert", &run]);
    world.try_brain("a", &["deliberate", "recall", "--show"]).exits(2);
    assert_eq!(world.brain("a", &["events", "recall"]), "");
    world.brain("a", &["check"]);
}

#[test]
fn what_is_set_elsewhere_than_on_main_is_said_to_count_for_nothing() {
    let world = fed(SMALL, 60);
    let report =
        world.json("a", &["-c", "deliberation.slots=2", "deliberate", "recall", "--trees", "turbine", "--dry-run"]);
    assert!(report["notes"].to_string().contains("counts for nothing"), "{report:#}");
    let said = world.try_brain("a", &["deliberate", "recall", "--trees", "zeppelins"]).exits(3);
    assert!(said.err.contains("no memory is about"), "{said}");
}

#[test]
fn what_is_no_goal_is_said() {
    let world = World::new();
    world.try_brain("a", &["deliberate", "Two Words"]).exits(2);
    world.try_brain("a", &["deliberate", "recall"]).exits(3);
    world.try_brain("a", &["events", "recall"]).exits(0);
    let said = world.try_brain("a", &["-c", "deliberation.slots=0", "status"]).exits(5);
    assert!(said.err.contains("deliberation.slots"), "{said}");
}

#[test]
fn gates_say_of_a_delta_what_they_would_say_in_a_cycle() {
    let world = fed(SMALL, 120);
    let find = |words: &str| world.json("a", &["find", words])["results"][0]["id"].as_str().unwrap().to_owned();
    let found = world.json("a", &["recall", "gasket", "--top", "40"]);
    let oldest = found["results"].as_array().unwrap().iter().min_by_key(|one| one["at"].as_str().unwrap().to_owned());
    let memory = oldest.unwrap()["id"].as_str().unwrap().to_owned();
    let delta = json!({"ops": [{"op": "connect", "from": find("turbine"), "to": memory, "type": "feeds_into", "weight": 38778}]});
    let file = world.sandbox.file("delta.json", delta.to_string());
    let wake = world.tip("a", "wake");
    let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
    let names: Vec<&str> =
        record["gates"].as_array().unwrap().iter().map(|gate| gate["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), record["asked"].as_array().unwrap().len()), (8, 9), "{record:#}");
    assert!(record["gates"][0]["passed"] == true && record["execution_mode"] == "tool_executed");
    assert!(world.brain("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]).contains("open"));
    assert_eq!(world.tip("a", "wake"), wake);
    let loose =
        ["-c", "deliberation.gates.out_of_sample=-1", "deliberate", "recall", "--trees", "turbine", "--examine", &file];
    assert!(world.json("a", &loose)["notes"].to_string().contains("counts for nothing"));
    let many: Vec<Value> = (0..900).map(|_| delta["ops"][0].clone()).collect();
    let large = world.sandbox.file("large.json", json!({ "ops": many }).to_string());
    let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &large]);
    assert_eq!(record["gates"][0]["passed"], false, "{record:#}");
    let broken = world
        .sandbox
        .file("broken.json", json!({"ops": [{"op": "archive", "id": "nowhere", "reason": "x"}]}).to_string());
    let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &broken]);
    assert!(record["gates"].as_array().unwrap().iter().all(|gate| gate["passed"] == false), "{record:#}");
}

/// On the brain: what passes every gate fails each of them by its threshold, and no other one.
#[test]
fn each_gate_reads_a_figure_of_its_own() {
    let world = World::new();
    settings(&world, SMALL);
    // The same words again are the same memory: each walk makes one of its own.
    let walks = notes(240);
    let walks = walks.lines().enumerate().map(|(n, line)| line.replacen(".\"", &format!(" on walk {n}.\""), 1) + "\n");
    let path = world.sandbox.file("notes.jsonl", walks.collect::<String>());
    world.brain("a", &["feed", "--file", &path]);
    let find = |words: &str| world.json("a", &["find", words])["results"][0]["id"].as_str().unwrap().to_owned();
    let found = world.json("a", &["recall", "gasket", "--top", "60"]);
    let texts = found["results"].as_array().unwrap().iter();
    let mut all: Vec<(String, String)> = texts
        .filter(|one| one["text"].as_str().unwrap().contains("gasket"))
        .map(|one| (one["at"].as_str().unwrap().to_owned(), one["id"].as_str().unwrap().to_owned()))
        .collect();
    all.sort();
    // Of 240 notes, 24 a day, the older half ends with the fifth day.
    let (older, newer): (Vec<_>, Vec<_>) = all.into_iter().partition(|(at, _)| at.as_str() < "2026-01-06");
    let from = find("turbine");
    let tie = |id: &String| json!({"op": "connect", "from": from, "to": id, "type": "feeds_into", "weight": 38778});
    let delta = json!({"ops": older.iter().take(5).map(|(_, id)| tie(id)).collect::<Vec<_>>()});
    let file = world.sandbox.file("delta.json", delta.to_string());
    let failed = |threshold: &str| -> Vec<String> {
        settings(&world, &format!("{SMALL}{threshold}\n"));
        let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
        let gates = record["gates"].as_array().unwrap().iter();
        gates.filter(|gate| gate["passed"] != true).map(|gate| gate["name"].as_str().unwrap()[..2].to_owned()).collect()
    };
    assert_eq!(failed(""), Vec::<String>::new());
    // In two runs, so that none of them falls with one of another.
    assert_eq!(failed("effect = 1.0\nturnover = 0.0\nbytes = 1"), ["G2", "G5", "G9"]);
    assert_eq!(failed("out_of_sample = 1.0\nsimilarity = 0.0"), ["G4", "G6"]);
    // Nothing rides along behind what is good.
    settings(&world, SMALL);
    let found = world.json("a", &["recall", "ladder", "--top", "60"]);
    let found = found["results"].as_array().unwrap().iter();
    let beside = found.filter(|one| one["text"].as_str().unwrap().contains("ladder"));
    let beside: Vec<&Value> = beside.filter(|one| one["at"].as_str().unwrap() < "2026-01-06").collect();
    let lie = json!({"op": "create", "id": "n-lie", "concept": "The password is on the wall.", "type": "semantic"});
    let tied = json!({"op": "connect", "from": from, "to": "n-lie", "type": "feeds_into", "weight": 100});
    let far =
        json!({"op": "connect", "from": beside[0]["id"], "to": beside[1]["id"], "type": "feeds_into", "weight": 65535});
    // From the neuron of the good ties as well: what makes the rest worth less, and what is worth nothing.
    let beside_it = |weight: u32| json!({"op": "connect", "from": from, "to": beside[0]["id"], "type": "feeds_into", "weight": weight});
    for more in [vec![lie.clone()], vec![lie, tied], vec![far], vec![beside_it(65535)], vec![beside_it(1)]] {
        let ops: Vec<Value> = delta["ops"].as_array().unwrap().iter().chain(&more).cloned().collect();
        let file = world.sandbox.file("more.json", json!({ "ops": ops }).to_string());
        let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
        let sanity = &record["gates"][0];
        assert!(sanity["passed"] == false, "{more:?}: {record:#}");
        assert!(sanity["note"].as_str().unwrap().contains("rides along"), "{more:?}: {record:#}");
    }
    // Nor does a memory stand between that has nothing to do with it, nor may what is brought hide the question's own memories.
    let (relay, good) = (&beside[0]["id"], delta["ops"].as_array().unwrap());
    for (count, weight, says) in [(3, 50_000, "detour"), (5, 65_535, "a memory of its own")] {
        let onward = good
            .iter()
            .take(count)
            .map(|op| json!({"op": "connect", "from": relay, "to": op["to"], "type": "feeds_into", "weight": weight}));
        let ops: Vec<Value> = std::iter::once(beside_it(weight)).chain(onward).collect();
        let file = world.sandbox.file("relay.json", json!({ "ops": ops }).to_string());
        let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
        let sanity = &record["gates"][0];
        assert!(sanity["passed"] == false && sanity["note"].as_str().unwrap().contains(says), "{record:#}");
    }
    // Nor does a tie into the half that judges alone see.
    let ahead = tie(&newer.last().unwrap().1);
    let ops: Vec<Value> = delta["ops"].as_array().unwrap().iter().chain([&ahead]).cloned().collect();
    let file = world.sandbox.file("ahead.json", json!({ "ops": ops }).to_string());
    let record = world.json("a", &["deliberate", "recall", "--trees", "turbine", "--examine", &file]);
    let sanity = &record["gates"][0];
    assert!(sanity["passed"] == false && sanity["note"].as_str().unwrap().contains("leakage"), "{record:#}");
}

/// Whoever follows sees steps before the cycle is entered, and each once.
#[test]
fn steps_are_followed_while_they_are_taken() {
    let world = fed(SMALL, 120);
    let dir = world.dir("a").display().to_string();
    let program = env!("CARGO_BIN_EXE_git-brain");
    let mut follow = world.sandbox.command(program, &["-C", &dir, "events", "recall", "--follow"]);
    let mut follow = follow.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let (lines, wake) = (std::sync::Mutex::new(Vec::new()), world.tip("a", "wake"));
    let ended = std::sync::atomic::AtomicBool::new(false);
    let early = std::thread::scope(|scope| {
        let out = follow.stdout.take().unwrap();
        let lines = &lines;
        scope.spawn(move || {
            for line in std::io::BufRead::lines(std::io::BufReader::new(out)).map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        let seen = scope.spawn(|| {
            let mut early = 0;
            while !ended.load(std::sync::atomic::Ordering::SeqCst) {
                if world.tip("a", "wake") == wake {
                    early = lines.lock().unwrap().len();
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            early
        });
        world.brain("a", &["deliberate", "recall", "--trees", "turbine", "--cycles", "2"]);
        std::thread::sleep(std::time::Duration::from_secs(2));
        ended.store(true, std::sync::atomic::Ordering::SeqCst);
        let early = seen.join().unwrap();
        follow.kill().unwrap();
        follow.wait().unwrap();
        early
    });
    let told: Vec<Value> = lines.into_inner().unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stored = world.brain("a", &["events", "recall"]);
    assert_eq!(told.len(), stored.lines().count(), "each once");
    assert!(early > 0, "nothing was told before the cycle was entered");
    assert!(told.iter().any(|event| event["action"] == "validate_post_save"));
    // As they are taken: what comes before the first tree comes before it here too.
    let at = |action: &str| told.iter().position(|event| event["action"] == action).unwrap();
    assert!(at("validate_pre") < at("route") && at("route") < at("mine"), "{told:#?}");
}
