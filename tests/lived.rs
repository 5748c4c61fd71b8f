//! Days as people have them: many outcomes in one file, an agent that is trusted late, flags that people raise, one agent that asks without end.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};

fn define(sandbox: &Sandbox, agent: &Value, trusted: bool) {
    let name = agent["name"].as_str().unwrap();
    std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).unwrap();
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: one more"]);
    if trusted {
        sandbox.brain(&["trust", "--yes"]).exits(0);
    }
}

/// An agent that is a shell script and answers signals.
fn script(name: &str, role: &str, script: &str) -> Value {
    json!({
        "name": name, "role": role, "trigger": {"any": [{"signal": "any"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script]},
        "capabilities": {"operations": ["signal", "acknowledge"]},
    })
}

/// A script that acknowledges all that it is shown, with how much that is.
const COUNTS: &str = r#"ids=$(tr -d '\n' | grep -o '"id": *"g-[0-9a-f]*"' | sed 's/"id": *//')
n=$(echo "$ids" | wc -l)
for id in $ids; do acks="$acks{\"op\": \"acknowledge\", \"signal\": $id, \"payload\": {\"seen\": $n}},"; done
echo "{\"ops\": [${acks%,}]}""#;

fn ask(sandbox: &Sandbox, to: &str, query: &str) {
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": to, "payload": {"query": query}}]}), &[]);
}

#[test]
fn each_of_many_outcomes_in_one_file_is_judged() {
    let sandbox = Sandbox::new();
    let decide = |n: usize| {
        let question = format!("which way on day {n}?");
        let made = sandbox.json(&["decide", &question, "--option", "bridge", "--option", "ferry"]);
        made["run"].as_str().unwrap().to_owned()
    };
    let runs: Vec<String> = (0..12).map(decide).collect();
    let line = |n: usize| json!({"text": format!("note {n} came of it"), "answers": runs[n % 12], "value": 0.5});
    let lines: String = (0..60).map(|n| line(n).to_string() + "\n").collect();
    let file = sandbox.file("outcomes.jsonl", lines);
    let fed = sandbox.brain(&["feed", "--file", &file]).exits(0);
    assert!(!fed.out.contains("held back"), "{fed}");
    let ledger = sandbox.json(&["ledger", "-n", "200"]);
    assert_eq!(ledger["entries"].as_array().unwrap().len(), 60, "{fed}");
    assert_eq!(sandbox.json(&["signals"])["unanswered"], 0);
    // Each stimulus may cause no more for all that.
    let listed = sandbox.json(&["signals", "-n", "1000"]);
    assert!(listed["signals"].as_array().unwrap().iter().all(|one| one["state"] != "refused"), "{listed:#}");
}

#[test]
fn what_was_asked_before_an_agent_was_trusted_is_answered_when_it_is() {
    let sandbox = Sandbox::new();
    ask(&sandbox, "late", "before it was defined");
    sandbox.brain(&["run"]).exits(0);
    define(&sandbox, &script("late", "Counts.", COUNTS), false);
    ask(&sandbox, "late", "before it was trusted");
    for told in ["unanswered (late 1)", "2 signals are unanswered (late 2)"] {
        let ran = sandbox.brain(&["run"]).exits(0);
        assert!(ran.out.contains(told), "{ran}");
    }
    sandbox.brain(&["feed", "The boat is red."]).exits(0);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["run"]).exits(0);
    let listed = sandbox.json(&["signals", "--agent", "late"]);
    assert_eq!((&listed["total"], &listed["unanswered"]), (&json!(2), &json!(0)), "{listed:#}");
    assert!(listed["signals"].as_array().unwrap().iter().all(|one| one["answer"]["seen"] == 2), "{listed:#}");
    assert!(sandbox.json(&["run"])["runs"].as_array().unwrap().is_empty(), "nobody is asked twice");
}

#[test]
fn an_agent_that_leaves_a_signal_without_an_answer_is_named_until_it_answers() {
    let sandbox = Sandbox::new();
    for (role, body, why) in [
        ("Is silent.", "cat > /dev/null; echo '{\"ops\": []}'", "has not answered it: it proposed nothing"),
        ("Fails.", "cat > /dev/null; echo 'the glue is empty' >&2; exit 1", "the glue is empty"),
    ] {
        define(&sandbox, &script("clerk", role, body), true);
        ask(&sandbox, "clerk", role);
        sandbox.brain(&["run"]);
        let again = sandbox.brain(&["run"]).exits(0);
        assert!(again.out.contains("unanswered (clerk "), "{again}");
        let listed = sandbox.brain(&["signals", "--unanswered"]).exits(0);
        assert!(listed.out.contains(why) && listed.out.contains("git brain run --agent clerk"), "{listed}");
    }
    // A definition that is trusted anew is asked what the old one left.
    define(&sandbox, &script("clerk", "Counts.", COUNTS), true);
    let ran = sandbox.brain(&["run"]).exits(0);
    assert!(!ran.out.contains("unanswered"), "{ran}");
    assert_eq!(sandbox.json(&["signals"])["unanswered"], 0);
}

#[test]
fn a_flag_that_a_person_raised_stays_until_a_person_takes_it_down() {
    let sandbox = Sandbox::new();
    let flag = |value: bool| json!({"ops": [{"op": "flag", "name": "priority_override", "value": value, "reason": "the oldest first"}]});
    sandbox.apply(&flag(true), &[]);
    sandbox.brain(&["run"]).exits(0);
    let is_on = || {
        let flags = sandbox.documents("wake", "network/flags");
        let found = flags.iter().find(|(path, _)| path.contains("priority_override")).unwrap();
        (found.1["value"] == true, found.1["run"].as_str().is_some_and(|run| run.ends_with("-human")))
    };
    assert_eq!(is_on(), (true, true), "it is felt, and still theirs");
    for text in ["Anna drinks tea every evening.", "All is calm, nothing to report."] {
        sandbox.brain(&["feed", text]).exits(0);
        sandbox.json(&["decide", "which hat?", "--option", "red", "--option", "blue"]);
        assert_eq!(is_on(), (true, true), "{text}");
    }
    sandbox.apply(&flag(false), &[]);
    sandbox.brain(&["run"]).exits(0);
    assert!(!is_on().0);
}

#[test]
fn an_emergency_is_not_decided_by_a_word_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.brain(&["feed", "Urgent: the kiln in the pottery of Mira burns, send Anna and Carl"]).exits(0);
    let listed = sandbox.json(&["signals", "-n", "100"]);
    let decided = |one: &&Value| one["answer"]["done"] == "decided";
    assert_eq!(listed["signals"].as_array().unwrap().iter().filter(decided).count(), 0, "{listed:#}");
    assert!(sandbox.brain(&["status"]).exits(0).out.contains("priority_override"));
}

#[test]
fn an_agent_that_asks_without_end_takes_nobodys_turn() {
    let sandbox = Sandbox::new();
    let nobody = "20250101t000000000z-aaaaaaaa-decision";
    let one = format!(
        "{{\"op\": \"signal\", \"to\": \"evaluator\", \"payload\": {{\"kind\": \"outcome\", \"run\": \"{nobody}\"}}}}"
    );
    let body = format!(
        "cat > /dev/null; printf '{{\"ops\": ['; i=0; while [ $i -lt 120 ]; do printf '{one},'; i=$((i+1)); done; echo '{one}]}}'"
    );
    let mut greedy = script("bad", "Asks without end.", &body);
    greedy["trigger"] = json!({"any": [{"state": "input_queue_not_empty"}]});
    define(&sandbox, &greedy, true);
    let made = sandbox.json(&["decide", "which way?", "--option", "bridge", "--option", "ferry"]);
    let run = made["run"].as_str().unwrap();
    let fed = sandbox.brain(&["feed", "We came home dry by the ferry.", "--answers", run, "--value", "0.8"]).exits(0);
    assert!(!fed.out.contains("memory was held back"), "{fed}");
    assert!(fed.out.contains("signals of bad had half of the 50 runs that a stimulus may cause"), "{fed}");
    let ledger = sandbox.json(&["ledger"]);
    assert_eq!(ledger["entries"][0]["outcome"]["value"], 0.8, "{ledger:#}");
    let fed = sandbox.brain(&["feed", "Help! Urgent: call an ambulance"]).exits(0);
    assert!(!fed.out.contains("decision was held back"), "{fed}");
}

#[test]
fn whoever_perceives_comes_before_many_that_only_look() {
    let sandbox = Sandbox::new();
    for n in 0..3 {
        let mut agent = script(&format!("a{n}"), "Looks.", "cat > /dev/null; echo '{\"ops\": []}'");
        agent["trigger"] = json!({"any": [{"state": "input_queue_not_empty"}]});
        agent["priority"] = json!(9);
        define(&sandbox, &agent, n == 2);
    }
    sandbox.brain(&["-c", "cycle.runs_per_stimulus=2", "feed", "Anna drinks green tea in Uji."]).exits(0);
    assert!(sandbox.brain(&["recall", "tea"]).exits(0).out.contains("in Uji"));
}

#[test]
fn an_option_is_found_whatever_stands_round_it_and_a_run_is_one_try() {
    let sandbox = Sandbox::new();
    let decide = |tea: &str| sandbox.json(&["decide", "what to drink?", "--option", tea, "--option", "coffee"]);
    let first = decide("tea");
    let chosen = first["choice"].as_str().unwrap().to_owned();
    for _ in 0..4 {
        sandbox.json(&["outcome", first["run"].as_str().unwrap(), "--value", "0.9"]);
    }
    for spelling in ["tea.", "\"Tea\"", "(tea)", "TEA!"] {
        let again = decide(spelling);
        let judged = |one: &Value| one["judged"].as_u64().unwrap_or(0);
        let scores = again["scores"].as_array().unwrap();
        assert_eq!(scores.iter().map(judged).sum::<u64>(), 1, "{chosen}: {again:#}");
    }
    sandbox.brain(&["decide", "what to drink?", "--option", "tea", "--option", "tea."]).exits(2);
}

#[test]
fn memory_looks_back_before_each_night_of_a_timer_that_comes_a_little_early() {
    let mut sandbox = Sandbox::fixed("2026-03-01T02:00:00Z", "nights");
    sandbox.brain(&["sleep"]).exits(0);
    for day in 1..4 {
        sandbox.at(&format!("2026-03-0{day}T12:00:00Z"));
        sandbox.brain(&["feed", &format!("Anna moved her {day} hives behind the school.")]).exits(0);
        // Each night a minute sooner after the one before than a day.
        sandbox.at(&format!("2026-03-0{}T01:5{}:00Z", day + 1, 9 - day));
        let slept = sandbox.json(&["-c", "sleep.idle_load=0", "sleep", "--if-due"]);
        assert_eq!(slept["state"], "slept", "{slept}");
        let log = sandbox.git(&["log", "--format=%(trailers:key=Trigger,valueonly)", "wake"]);
        assert_eq!(log.matches("consolidation_due").count(), day, "{log}");
    }
}

#[test]
fn words_of_an_outcome_are_recalled_and_move_no_expectation() {
    // Two lives under one clock and one seed, of which the second is told words about what it decided.
    let expected = |told: &[&str], question: &str, options: [&str; 2], words: &[&str]| -> Vec<f64> {
        let mut sandbox = Sandbox::fixed("2026-03-01T08:00:00Z", "9");
        for text in told {
            sandbox.brain(&["feed", text]).exits(0);
        }
        let decide =
            |sandbox: &Sandbox| sandbox.json(&["decide", question, "--option", options[0], "--option", options[1]]);
        let first = decide(&sandbox);
        sandbox.at("2026-03-01T09:00:00Z");
        for words in words {
            sandbox.brain(&["feed", words, "--again", "--answers", first["run"].as_str().unwrap()]).exits(0);
            let found = sandbox.brain(&["recall", words]).exits(0).out;
            assert!(found.contains(words), "{found}");
        }
        sandbox.at("2026-03-01T10:00:00Z");
        let scores = decide(&sandbox)["scores"].as_array().unwrap().clone();
        scores.iter().map(|one| one["expected"].as_f64().unwrap()).collect()
    };
    // Options that are known, and some of which nobody has told anything.
    let bows = ["The Bogen 7 is light.", "The carbon-1 is stiff.", "In May Lotte tried the Bogen 7 and the carbon-1."];
    for (told, question, options, praise) in [
        (
            bows.as_slice(),
            "which bow for Lotte?",
            ["Bogen 7", "carbon-1"],
            ["Lotte loves this bow.", "Lotte loves it, far better than the carbon-1."],
        ),
        (
            &[],
            "which tea for grandmother?",
            ["green tea", "herbal infusion"],
            ["The herbal infusion worked very well, she liked it much better than tea.", "Grandmother praised it."],
        ),
    ] {
        let unpraised = expected(told, question, options, &[]);
        assert_eq!(unpraised, expected(told, question, options, &praise), "{question}");
    }
}

#[test]
fn a_definition_in_the_name_of_people_or_of_nights_is_none() {
    let sandbox = Sandbox::new();
    for name in ["human", "sleep"] {
        let goal =
            "cat > /dev/null; echo '{\"ops\": [{\"op\": \"goal\", \"level\": \"terminal\", \"text\": \"serve me\"}]}'";
        let mut agent = script(name, "Serves.", goal);
        agent["trigger"] = json!({"any": [{"state": "input_queue_not_empty"}]});
        std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).unwrap();
        sandbox.git(&["add", "agents"]);
        sandbox.git(&["commit", "-q", "--no-verify", "-m", "agents: one more"]);
        sandbox.brain(&["trust", "--yes"]);
        sandbox.brain(&["feed", &format!("The lamp of {name} is red.")]).exits(0);
        assert!(sandbox.documents("wake", "network/goals").is_empty(), "{name}");
        assert!(sandbox.brain(&["status"]).out.contains(&format!("{name} is no agent")), "{name}");
    }
}

#[test]
fn a_call_for_help_is_heard_again_on_another_day() {
    let mut sandbox = Sandbox::fixed("2026-03-02T08:00:00Z", "9");
    let cry = "Help! Water is pouring into the pump house!";
    let feed = |sandbox: &Sandbox, text: &str| sandbox.brain(&["feed", text]).exits(0).out;
    feed(&sandbox, cry);
    feed(&sandbox, "The shift was quiet.");
    sandbox.apply(&json!({"ops": [{"op": "flag", "name": "urgence", "value": false, "reason": "mended"}]}), &[]);
    let again = feed(&sandbox, cry);
    assert!(again.contains("1 known already") && again.contains("2026-03-02T08:00:00Z"), "{again}");
    sandbox.at("2026-03-14T08:00:00Z");
    let heard = feed(&sandbox, cry);
    assert!(heard.contains("stored 1 stimulus") && heard.contains("affect"), "{heard}");
    let quiet = feed(&sandbox, "The shift was quiet.");
    assert!(quiet.contains("1 known already") && quiet.contains("--again"), "{quiet}");
    // So does whatever names itself.
    let rings = || sandbox.brain(&["feed", "--source", "bell", "Help! The stove burns!"]).exits(0).out;
    assert!(rings().contains("stored 1 stimulus") && rings().contains("1 known already"));
    sandbox.at("2026-03-14T10:00:00Z");
    let rung = sandbox.brain(&["feed", "--source", "bell", "Help! The stove burns!"]).exits(0).out;
    assert!(rung.contains("stored 1 stimulus"), "{rung}");
    sandbox.at("2026-03-14T10:30:00Z");
    // A batch that is fed again brings nothing, whatever it says.
    let batch = sandbox.file("day.jsonl", json!({"text": cry}).to_string());
    assert!(sandbox.brain(&["feed", "--file", &batch]).exits(0).out.contains("1 known already"));
}

#[test]
fn an_outcome_that_a_person_lets_in_is_judged_by_the_next_run() {
    let sandbox = Sandbox::new();
    let made = sandbox.json(&["decide", "which jam?", "--option", "plum", "--option", "fig"]);
    let run = made["run"].as_str().unwrap();
    sandbox.brain(&["feed", "--origin", "web:x.org", "It was fine", "--answers", run, "--value", "0.9"]).exits(0);
    let waiting = sandbox.json(&["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    sandbox.brain(&["approve", &waiting]).exits(0);
    let ran = sandbox.json(&["run"]);
    assert_eq!(ran["runs"][0]["agent"], "evaluator", "{ran:#}");
    // It has the origin of the words, and waits as they did.
    let listed = sandbox.brain(&["signals", "--unanswered"]).exits(0).out;
    assert!(listed.contains("its answer waits for review"), "{listed}");
}

#[test]
fn of_runs_that_may_not_all_start_whoever_perceives_is_first() {
    let sandbox = Sandbox::new();
    for (name, priority) in [("aaa", 1), ("zzz", 9)] {
        let mut agent = script(name, "Counts.", COUNTS);
        agent["priority"] = json!(priority);
        define(&sandbox, &agent, true);
        ask(&sandbox, name, "who is first?");
    }
    sandbox.brain(&["feed", "--no-run", "The boat is red."]).exits(0);
    let first = || sandbox.json(&["run", "--max-runs", "1"])["runs"][0]["agent"].as_str().unwrap().to_owned();
    assert_eq!((first(), first()), ("perception".to_owned(), "aaa".to_owned()));
}

#[test]
fn a_text_that_an_agent_could_not_see_yet_is_seen_by_the_next_command() {
    for bound in [&["run", "--max-runs", "1"][..], &["-c", "budget.runs_per_day=7", "run"]] {
        let sandbox = Sandbox::new();
        let body = "cat > /dev/null; echo '{\"ops\": [{\"op\": \"flag\", \"name\": \"seen\", \"value\": true, \"reason\": \"so\"}]}'";
        let mut agent = script("reader", "Reads.", body);
        agent["trigger"] = json!({"any": [{"state": "input_queue_not_empty"}]});
        agent["capabilities"] = json!({"operations": ["flag"]});
        define(&sandbox, &agent, true);
        sandbox.brain(&["run"]).exits(0);
        sandbox.brain(&["feed", "--no-run", "The boat is red."]).exits(0);
        let ran = sandbox.brain(&["--json"].iter().chain(bound).copied().collect::<Vec<_>>()).document();
        let agents: Vec<&str> =
            ran["runs"].as_array().unwrap().iter().map(|run| run["agent"].as_str().unwrap()).collect();
        assert!(agents.contains(&"perception") && !agents.contains(&"reader"), "{bound:?}: {ran:#}");
        let ran = sandbox.json(&["run"])["runs"].to_string();
        assert!(ran.contains("reader"), "{bound:?}: {ran}");
        assert!(!sandbox.json(&["run"])["runs"].to_string().contains("reader"), "{bound:?}: once");
    }
}

#[test]
fn a_night_under_a_clock_that_was_ahead_puts_off_no_other() {
    let mut sandbox = Sandbox::fixed("2027-03-02T22:00:00Z", "9");
    sandbox.brain(&["feed", "The boat is red."]).exits(0);
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.at("2026-03-03T22:00:00Z");
    sandbox.brain(&["feed", "The mast is new."]).exits(0);
    assert_eq!(sandbox.json(&["sleep", "--if-due"])["state"], "slept");
    assert_eq!(sandbox.json(&["sleep", "--if-due"])["state"], "not_due");
}
