//! What a hostile or clumsy mind could do to a deliberation: what it may learn, what it may enter, and what lands of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::machines::World;

/// A goal that programs of one's own judge: a gardener in shell, and gates, each with its settings and its script.
fn goal(world: &World, gardener: &str, gates: &[(&str, &str, &str)]) {
    let gardener = world.sandbox.file("propose.sh", gardener);
    let gates: String = gates
        .iter()
        .map(|(name, more, script)| {
            let script = world.sandbox.file(&format!("{name}.sh"), script);
            format!("[[deliberation.gate]]\nname = \"{name}\"\n{more}argv = [\"sh\", \"{script}\"]\n\n")
        })
        .collect();
    let rules = format!(
        "[deliberation]\ngardener = \"command\"\nargv = [\"sh\", \"{gardener}\"]\nslots = 1\nhypotheses = 2\nmax_debate_rounds = 0\n\n\
         [deliberation.gates]\nbrain = false\n\n{gates}"
    );
    world.write("a", "brain.toml", &rules);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "--allow-empty", "-qm", "settings"]);
    world.brain("a", &["trust", "--yes"]);
}

/// A script that breaks for so many seconds from now on.
fn broken_for(seconds: u64, script: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    format!("[ $(date +%s) -ge {} ] || exit 3\n{script}", now + seconds)
}

/// Programs run confined, and see no python of a home.
fn has_python() -> bool {
    let is_there = std::path::Path::new("/usr/bin/python3").exists();
    if !is_there {
        println!("skipped: there is no /usr/bin/python3");
    }
    is_there
}

fn results(report: &Value) -> Vec<Value> {
    let cycles = report["cycles"].as_array().unwrap();
    cycles.iter().flat_map(|cycle| cycle["results"].as_array().unwrap().clone()).collect()
}

/// Proposes what it was told, as its reason, with a payload that grows with what it was told of.
const SPY: &str = "/usr/bin/python3 -c '\nimport json, sys\nasked = json.load(sys.stdin)[\"question\"]\nasked.pop(\"seed\")\n\
    past = [[one[\"proposal\"][\"payload\"], one[\"class\"], one[\"gates\"]] for one in asked.pop(\"past\")]\n\
    said = json.dumps([asked, past])[-3000:]\n\
    print(json.dumps({\"proposals\": [{\"mechanism\": {\"name\": \"x\", \"intuition\": said}, \"payload\": {\"x\": len(past) + n}} for n in range(asked[\"count\"])]}))\n'\n";

/// Whatever a hidden gate says, the gardener is told the same: its share, its temperature and its seeds do not follow from it either.
#[test]
fn a_hidden_gate_is_told_by_nothing() {
    if !has_python() {
        return;
    }
    let mut told = BTreeSet::new();
    let mut classes = BTreeSet::new();
    const PASS: &str = "echo '{\"passed\": true, \"figure\": 1}'\n";
    for hidden in [PASS, "echo '{\"passed\": false, \"figure\": 0}'\n", "exit 3\n", "later"] {
        let world = World::new();
        // One that breaks at first, and is asked again by the coordinator.
        let hidden = if hidden == "later" { broken_for(4, PASS) } else { hidden.to_owned() };
        let open = "case \"$(cat)\" in\n*'\"x\":'[0-9]*[02468]'}'*|*'\"x\":'[02468]'}'*) echo '{\"passed\": true, \"figure\": 1}';;\n\
                    *) echo '{\"passed\": false, \"figure\": 0}';;\nesac\n";
        goal(&world, SPY, &[("open", "", open), ("hidden", "hidden = true\n", &format!("cat > /dev/null\n{hidden}"))]);
        let cycles = || results(&world.json("a", &["deliberate", "search", "--trees", "x", "--cycles", "3"]));
        let mut all = cycles();
        all.extend(cycles());
        assert!(all.len() >= 6, "{all:#?}");
        classes.insert(all.iter().filter(|one| one["class"] == "fruit").count() > 0);
        let said = world.git("a", &["grep", "-h", "\"intuition\"", "wake", "--", "network/deliberations"]);
        told.insert(said.lines().map(|line| line.trim().to_owned()).collect::<BTreeSet<String>>());
    }
    assert_eq!(classes.len(), 2, "the gate decides");
    assert_eq!(told.len(), 1, "the gardener was told otherwise");
}

/// A hidden gate that gave no answer once is asked again, though nobody proposes the candidate any more.
#[test]
fn a_hidden_gate_that_gave_no_answer_is_asked_again() {
    let world = World::new();
    let said =
        "{\"proposals\": [{\"mechanism\": {\"name\": \"good\", \"intuition\": \"y\"}, \"payload\": {\"x\": 1}}]}";
    let pass = "cat > /dev/null\necho '{\"passed\": true, \"figure\": 1}'\n";
    // Confined programs see nothing that changes but the clock.
    let began = std::time::Instant::now();
    let later = broken_for(20, pass);
    goal(
        &world,
        &format!("cat > /dev/null\necho '{said}'\n"),
        &[("open", "", pass), ("late", "hidden = true\n", &later)],
    );
    let cycle = || results(&world.json("a", &["deliberate", "search", "--trees", "x"]));
    assert_eq!(cycle()[0]["class"], "normal_leaf");
    assert!(cycle().is_empty(), "it is broken still, and nothing is said of it");
    std::thread::sleep(std::time::Duration::from_secs(21).saturating_sub(began.elapsed()));
    // A gardener without a proposal changes nothing of that.
    world.sandbox.file("propose.sh", "cat > /dev/null\necho '{\"proposals\": []}'\n");
    let all = cycle();
    assert!(all.len() == 1 && all[0]["class"] == "fruit", "{all:#?}");
    assert!(cycle().is_empty(), "once");
    let shown = world.json("a", &["deliberate", "search", "--show"]);
    assert_eq!(shown["fruits"].as_object().unwrap().len(), 1, "{shown:#}");
    let attempts: Vec<&Value> = shown["trees"].as_object().unwrap().values().map(|tree| &tree["attempts"]).collect();
    assert_eq!(attempts, [1], "{shown:#}");
}

/// A payload that nobody could read again is refused where it is said.
#[test]
fn what_could_not_be_read_again_is_not_entered() {
    let world = World::new();
    let nested = format!("{}1{}", "[".repeat(28), "]".repeat(28));
    for payload in [format!("{{\"x\": {nested}}}"), format!("{{\"x\": \"{}\"}}", "y".repeat(40_000))] {
        let said = format!(
            "{{\"proposals\": [{{\"mechanism\": {{\"name\": \"x\", \"intuition\": \"y\"}}, \"payload\": {payload}}}]}}"
        );
        goal(
            &world,
            &format!("cat > /dev/null\necho '{said}'\n"),
            &[("open", "", "echo '{\"passed\": false, \"figure\": 0}'\n")],
        );
        let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
        assert_eq!(results(&report).len(), 0, "{report:#}");
        assert!(report["cycles"][0]["held"].to_string().contains("payload"), "{report:#}");
        world.brain("a", &["deliberate", "search", "--show"]);
        world.brain("a", &["check"]);
    }
}

/// Where the gates of the brain were not asked, nothing lands in it; and a gate that is broken is held against nobody, unless it could have stopped it.
#[test]
fn what_no_gate_of_the_brain_has_seen_does_not_land() {
    let world = World::new();
    let proposals: Vec<Value> = ["good", "torn"]
        .iter()
        .map(|name| {
            let op = json!({"op": "create", "concept": name, "type": "semantic"});
            json!({"mechanism": {"name": name, "intuition": "y"}, "payload": {"ops": [op]}})
        })
        .collect();
    let gardener = format!("cat > /dev/null\necho '{}'\n", json!({"proposals": proposals}));
    let pass = "cat > /dev/null\necho '{\"passed\": true, \"figure\": 1}'\n";
    let torn = "case \"$(cat)\" in\n*torn*) exit 3;;\n*) echo '{\"passed\": true, \"figure\": 1}';;\nesac\n";
    goal(&world, &gardener, &[("first", "", pass), ("second", "", torn), ("soft", "hard = false\n", "exit 3\n")]);
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    let all = results(&report);
    let class = |name: &str| all.iter().find(|one| one["name"] == name).map(|one| one["class"].clone());
    assert_eq!((class("good"), class("torn")), (Some(json!("fruit")), Some(json!("normal_leaf"))), "{report:#}");
    assert!(all.iter().all(|one| one["run"].is_null() && one["landed"] == false), "{report:#}");
    assert_eq!(world.json("a", &["review"])["waiting"], json!([]));
    assert!(!world.git("a", &["grep", "-h", "concept", "wake", "--", "network/neurons"]).contains("good"));
}

/// An array with as many items as an answer has fields is no answer.
#[test]
fn an_array_is_no_answer_of_a_gate() {
    let world = World::new();
    let said = "{\"proposals\": [{\"mechanism\": {\"name\": \"x\", \"intuition\": \"y\"}, \"payload\": {\"x\": 1}}]}";
    let gate = "cat > /dev/null\necho '[true, 1, 0, \"x\"]'\n";
    goal(&world, &format!("cat > /dev/null\necho '{said}'\n"), &[("open", "", gate)]);
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(results(&report)[0]["class"], "normal_leaf", "{report:#}");
    assert!(results(&report)[0].to_string().contains("its answer is no object"), "{report:#}");
}

/// A search of one tree goes on however its first guesses were, and asks no gate the same twice.
#[test]
fn a_search_of_one_tree_goes_on_and_measures_nothing_twice() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let fail = "cat > /dev/null\necho x >> /dev/null\necho '{\"passed\": false, \"figure\": 0}'\n";
    goal(&world, SPY, &[("open", "", fail)]);
    let report = world.json("a", &["deliberate", "search", "--trees", "x", "--cycles", "6"]);
    for cycle in report["cycles"].as_array().unwrap() {
        assert!(!cycle["results"].as_array().unwrap().is_empty(), "{cycle:#}");
    }
    // Half-good ones are neither closed nor asked again.
    let half = "cat > /dev/null\necho '{\"passed\": true, \"figure\": 1}'\n";
    let same = "cat > /dev/null\necho '{\"proposals\": [{\"mechanism\": {\"name\": \"x\", \"intuition\": \"y\"}, \"payload\": {\"x\": 1}}]}'\n";
    goal(&world, same, &[("open", "", fail), ("other", "", half)]);
    let report = world.json("a", &["deliberate", "twice", "--trees", "x", "--cycles", "3"]);
    let counts: Vec<usize> =
        report["cycles"].as_array().unwrap().iter().map(|cycle| cycle["results"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [1, 0, 0], "{report:#}");
    assert!(report["cycles"][1]["held"].to_string().contains("measured on the same evidence"), "{report:#}");
}
