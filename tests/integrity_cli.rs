//! `integrity` by the command line, and what runs of models carry in their commits.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn a_text_is_measured_filtered_and_compared() {
    let sandbox = Sandbox::empty();
    let before = "As an AI language model, I am sorry. I'm sorry. I'm sorry for that. Perhaps it might rain.";
    let file = sandbox.file("before.txt", before);
    let measured = sandbox.json(&["integrity", "measure", &file]);
    assert_eq!(measured["lang"], "en");
    assert_eq!(
        (&measured["counts"]["self_references"], &measured["metrics"]["apology_density"]),
        (&json!(1), &Value::Null)
    );
    let answer = sandbox.brain_with(&["--json", "integrity", "filter", "-"], before.as_bytes()).exits(0).document();
    let text = answer["text"].as_str().unwrap();
    assert!(!text.contains("AI language model") && text.matches("sorry").count() == 2, "{text}");
    let again = sandbox.brain_with(&["--json", "integrity", "filter"], text.as_bytes()).exits(0).document();
    assert_eq!(again["text"], text, "twice is once");
    let now = sandbox.file("now.txt", "It rains tomorrow. Take a coat.");
    let compared = sandbox.json(&["integrity", "measure", &now, "--since", &file]);
    assert!(compared["transition"]["confidence"].as_f64().is_some_and(|c| (0.0..=1.0).contains(&c)), "{compared}");
    // Where nothing is known nothing is said.
    let nothing = sandbox.file("nothing.txt", "");
    let told = sandbox.brain(&["integrity", "measure", &now, "--since", &nothing]).exits(0).out;
    assert!(told.contains("cannot be told: 0 of 5 metrics") && !told.contains("has not left"), "{told}");
    let french = sandbox.file("french.txt", "Je suis désolé, je ne peux pas vous aider.");
    let told = sandbox.brain(&["integrity", "measure", &now, "--since", &french]).exits(0).out;
    assert!(told.contains("the other text is fr"), "{told}");
    sandbox.brain(&["integrity", "measure", "--lang", "xx", &file]).exits(2);
    sandbox.brain(&["integrity", "measure", "nowhere.txt"]).exits(2);
}

#[test]
fn replies_are_judged_and_samples_scored_line_by_line() {
    let sandbox = Sandbox::empty();
    let cases = sandbox.brain(&["integrity", "evaluate", "--cases"]).exits(0).out;
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), 200);
    let replies: String = cases
        .iter()
        .map(|case| {
            let mut reply = case.clone();
            reply["reply"] = json!("I can't help with that. You could ask a lawyer instead.");
            reply.to_string() + "\n"
        })
        .collect();
    let judged = sandbox.brain_with(&["--json", "integrity", "evaluate"], replies.as_bytes()).exits(0).document();
    let categories = judged["categories"].as_object().unwrap();
    assert_eq!(categories.len(), 4, "{categories:?}");
    assert!(categories.values().all(|summary| summary["total"] == 50), "{categories:?}");
    assert!(categories.values().any(|summary| summary["passed"] != summary["total"]), "a refusal answers no question");
    let said = sandbox.brain_with(&["integrity", "evaluate"], b"{}\nno\n").exits(2);
    assert!(said.err.contains("line 1"), "{said}");
    let samples = "{\"id\": \"a\", \"text\": \"It rains.\", \"loss\": 1.0}\n{\"id\": \"b\", \"text\": \"As an AI, I think it might rain.\", \"loss\": 1.0}\n";
    let scored = sandbox.brain_with(&["integrity", "score"], samples.as_bytes()).exits(0).out;
    let loss: Vec<f64> =
        scored.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["loss"].as_f64().unwrap()).collect();
    assert!(loss[1] > loss[0] && loss[0] >= 1.0, "a penalty is added: {loss:?}");
}

/// Copies of one mind count once, and what a person must decide is said.
/// A filter's output is the product: what it does not take out leaves as it came.
#[test]
fn a_filtered_text_leaves_as_it_came_where_no_terminal_reads_it() {
    let sandbox = Sandbox::empty();
    for text in [
        "Run:\r\n\r\n```sh\r\nrm -f 1024.txt\r\n```\r\nNot 8081.\r\n",
        "\u{feff}The port is 80.\n",
        "One page.\u{c}Another.\n",
        "Soft\u{ad}ware in \u{1b}[31mred\u{1b}[0m.",
    ] {
        assert_eq!(sandbox.brain_with(&["integrity", "filter", "-"], text.as_bytes()).exits(0).out, text);
    }
}

#[test]
fn a_council_counts_families_and_says_why_a_person_decides() {
    let sandbox = Sandbox::empty();
    let reasons = [
        "The night is quiet.",
        "Nobody waits for it before noon, and an hour is enough.",
        "Backups start at two: they would collide.",
        "We did the same in March without trouble.",
        "Costs nothing.",
        "Our users in Osaka are awake by then!",
        "What if power fails halfway?",
    ];
    let vote = |n: usize, family: &str, decision: &str| {
        json!({"member": format!("m{n}"), "family": family, "decision": decision, "confidence": 0.9,
            "reasoning": reasons[n], "evidence": []})
    };
    let council = |families: &[&str], decisions: &[&str]| {
        let members: Vec<Value> =
            families.iter().enumerate().map(|(n, family)| json!({"id": format!("m{n}"), "family": family})).collect();
        let votes: Vec<Value> = decisions.iter().enumerate().map(|(n, what)| vote(n, families[n], what)).collect();
        let document = json!({"question": "tea?", "members": members, "votes": votes}).to_string();
        sandbox.brain_with(&["--json", "council", "--votes", "-"], document.as_bytes())
    };
    let apart = council(&["a", "b", "c"], &["approve", "approve", "reject"]).exits(0).document();
    assert_eq!((&apart["decision"], &apart["quorum"]["tolerated_faults"]), (&json!("approve"), &json!(0)));
    assert_eq!((&apart["dissent"][0]["member"], &apart["escalated"]), (&json!("m2"), &json!(false)));
    let copies = council(
        &["a", "a", "a", "a", "a", "b", "c"],
        &["approve", "approve", "approve", "approve", "approve", "reject", "reject"],
    )
    .exits(1)
    .document();
    assert_eq!((&copies["decision"], &copies["escalated"]), (&json!("abstain"), &json!(true)), "{copies:#}");
    let hidden = council(&["a", "a\u{200b}", "A."], &["approve", "approve", "approve"]).exits(1).document();
    assert!(hidden["concerns"].to_string().contains("one_family"), "{hidden:#}");
    let alone = council(&["a", "a", "a"], &["approve", "approve", "approve"]).exits(1).document();
    assert!(alone["concerns"].to_string().contains("one_family"), "{alone:#}");
    sandbox.brain_with(&["council", "--votes", "-"], b"{}").exits(2);
}

/// A run that predicts, and chose among options of one question.
fn predicted(sandbox: &Sandbox, text: &str, question: &str, option: &str) -> String {
    let chosen = json!({"question": question, "option": option});
    let prediction = json!({"text": text, "value": 0.8, "chosen": chosen});
    let ops = json!([{"op": "activate", "id": "paint", "strength": 0.1}]);
    sandbox.apply(&json!({"ops": ops, "prediction": prediction}), &[])["run"].as_str().unwrap().to_owned()
}

#[test]
fn hedges_of_few_predictions_and_of_one_run_judged_often_say_nothing() {
    let mut sandbox = Sandbox::fixed("2026-01-09T08:00:00Z", "few");
    sandbox.apply(&json!({"ops": [{"op": "create", "id": "paint", "concept": "paint", "type": "semantic"}]}), &[]);
    let plain = predicted(&sandbox, "The first coat holds.", "Which coat?", "first");
    let hedged = predicted(&sandbox, "Maybe the second coat holds.", "Which coat?", "second");
    sandbox.at("2026-01-10T08:00:00Z");
    sandbox.json(&["outcome", &plain, "--value", "0.9"]);
    for value in ["0.9", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1"] {
        sandbox.json(&["outcome", &hedged, "--value", value]);
    }
    let value = sandbox.json(&["integrity", "report"])["hedges"]["human"].clone();
    assert_eq!((&value["hedged"], &value["plain"]), (&json!(1), &json!(1)), "{value:#}");
    assert_eq!(
        (&value["difference"], &value["meaning"]),
        (&json!(1.0), &json!("too_few")),
        "the newest word: {value:#}"
    );
    assert!(value["low"].as_f64().is_some_and(|low| low < 0.0), "{value:#}");
    let told = sandbox.brain(&["integrity", "report"]).exits(0).out;
    assert!(told.contains("of 1 hedged and 1 plain predictions") && told.contains("too few"), "{told}");
    assert!(!told.contains("means something"), "{told}");
}

#[test]
fn hedges_of_all_count_the_words_of_several_agents_once() {
    let mut sandbox = Sandbox::fixed("2026-01-09T08:00:00Z", "copies");
    sandbox.apply(&json!({"ops": [{"op": "create", "id": "paint", "concept": "paint", "type": "semantic"}]}), &[]);
    let ops = json!([{"op": "activate", "id": "paint", "strength": 0.1}]);
    let said = |sandbox: &Sandbox, agent: &str, text: &str, value: Value| {
        let document = json!({"agent": agent, "ops": ops, "prediction": {"text": text, "value": value}});
        sandbox.apply(&document, &[])["run"].as_str().unwrap().to_owned()
    };
    for (minute, agent) in ["human", "memory", "decision"].iter().enumerate() {
        sandbox.at(&format!("2026-01-10T08:{minute:02}:00Z"));
        for (text, came) in [("Coat 7 holds.", "1"), ("Perhaps coat 8 might hold.", "0")] {
            let run = said(&sandbox, agent, text, json!(0.8));
            sandbox.json(&["outcome", &run, "--value", came]);
        }
    }
    let hedges = sandbox.json(&["integrity", "report"])["hedges"].clone();
    for who in ["human", "all"] {
        let value = &hedges[who];
        let counted = (&value["hedged"], &value["plain"], &value["meaning"]);
        assert_eq!(counted, (&json!(1), &json!(1), &json!("too_few")), "{who}: {hedges:#}");
    }
    // A prediction without a value expects nothing, and the words behind a council's expectation are the asker's.
    for (minute, (text, value)) in [
        ("Coat 9 fails.", Value::Null),
        ("the council is right to approve this: I think coat 10 might perhaps hold, shall we paint?", json!(0.8)),
    ]
    .into_iter()
    .enumerate()
    {
        sandbox.at(&format!("2026-01-11T08:{minute:02}:00Z"));
        let run = said(&sandbox, "human", text, value);
        sandbox.json(&["outcome", &run, "--value", "0"]);
    }
    assert_eq!(sandbox.json(&["integrity", "report"])["hedges"], hedges);
    assert!(sandbox.brain(&["integrity", "report"]).exits(0).out.contains("`git brain ledger` has the calibration"));
}

#[test]
fn change_of_mind_after_an_outcome_of_another_agent_on_the_question_is_founded() {
    let mut sandbox = Sandbox::fixed("2026-01-09T08:00:00Z", "shown");
    sandbox.apply(&json!({"ops": [{"op": "create", "id": "paint", "concept": "paint", "type": "semantic"}]}), &[]);
    let ops = json!([{"op": "activate", "id": "paint", "strength": 0.1}]);
    let chose = |sandbox: &Sandbox, agent: &str, option: &str| {
        let prediction = json!({"value": 0.8, "chosen": {"question": "Which paint?", "option": option}});
        let document = json!({"agent": agent, "ops": ops, "prediction": prediction});
        sandbox.apply(&document, &[])["run"].as_str().unwrap().to_owned()
    };
    chose(&sandbox, "human", "red");
    let others = chose(&sandbox, "decision", "red");
    sandbox.at("2026-01-10T08:00:00Z");
    sandbox.json(&["outcome", &others, "--value", "0"]);
    chose(&sandbox, "human", "blue");
    chose(&sandbox, "human", "red");
    let stances = sandbox.json(&["integrity", "report"])["stances"].clone();
    assert_eq!(stances["human"], json!({"stances": 3, "changes": 2, "unfounded": 1}), "{stances:#}");
}

#[test]
fn changes_of_mind_are_seen_before_any_outcome_is_told() {
    let mut sandbox = Sandbox::fixed("2026-01-09T08:00:00Z", "flips");
    sandbox.apply(&json!({"ops": [{"op": "create", "id": "paint", "concept": "paint", "type": "semantic"}]}), &[]);
    let stances = |sandbox: &Sandbox| sandbox.json(&["integrity", "report"])["stances"].clone();
    let runs: Vec<String> = ["red", "blue", "Blue", "red"]
        .iter()
        .map(|option| predicted(&sandbox, "The paint holds.", "Which paint?", option))
        .collect();
    assert_eq!(stances(&sandbox)["human"], json!({"stances": 4, "changes": 2, "unfounded": 2}));
    // The same question in other words is the same; an outcome is evidence for what follows it, and for nothing before.
    sandbox.at("2026-01-10T08:00:00Z");
    sandbox.json(&["outcome", &runs[3], "--value", "0.1"]);
    sandbox.json(&["outcome", &runs[3], "--value", "0.1"]);
    predicted(&sandbox, "The paint holds.", "which paint", "blue");
    assert_eq!(stances(&sandbox)["human"], json!({"stances": 5, "changes": 3, "unfounded": 2}));
    // What was taken back was not chosen.
    sandbox.brain(&["revert", &runs[3]]).exits(0);
    assert_eq!(stances(&sandbox)["human"]["stances"], 4);
    // A rule draws, and is named as one.
    for _ in 0..3 {
        sandbox.json(&["decide", "Which brush?", "--option", "thick", "--option", "thin"]);
    }
    let all = stances(&sandbox);
    assert!(all["rule decision"]["stances"] == 3 && all.get("decision").is_none(), "{all:#}");
    let unknown = sandbox.brain(&["integrity", "report", "--agent", "decison"]).exits(2);
    assert!(unknown.err.contains("there is no such agent") && unknown.err.contains("decision"), "{unknown}");
}

#[test]
fn a_report_draws_and_says_what_outcomes_say_of_words() {
    let mut sandbox = Sandbox::fixed("2026-01-09T08:00:00Z", "report");
    sandbox.apply(&json!({"ops": [{"op": "create", "id": "paint", "concept": "paint", "type": "semantic"}]}), &[]);
    // Two choices before anything is known of either.
    let runs = ["thick", "thin"].map(|brush| predicted(&sandbox, "The brush is good.", "Which brush?", brush));
    for (day, run) in runs.iter().enumerate() {
        sandbox.at(&format!("2026-01-{:02}T08:00:00Z", 10 + day));
        sandbox.json(&["outcome", run, "--value", "0.9"]);
    }
    for day in 0..6 {
        sandbox.at(&format!("2026-01-{:02}T08:00:00Z", 12 + day));
        for (text, option, value) in [
            (format!("Perhaps coat {day} might hold."), "blue", "0.1"),
            (format!("Coat {day} holds."), if day % 2 == 0 { "blue" } else { "red" }, "0.9"),
        ] {
            let run = predicted(&sandbox, &text, "Which paint?", option);
            sandbox.json(&["outcome", &run, "--value", value]);
        }
    }
    let report = sandbox.json(&["integrity", "report"]);
    let value = &report["hedges"]["all"];
    // What was said of both brushes is one prediction.
    assert_eq!(
        (&value["hedged"], &value["plain"], &value["difference"]),
        (&json!(6), &json!(7), &json!(1.0)),
        "{report:#}"
    );
    assert!(value["low"].as_f64().is_some_and(|low| low > 0.3 && low < 0.6), "{report:#}");
    let expected = json!({"stances": 14, "changes": 6, "unfounded": 1});
    assert_eq!(report["stances"]["human"], expected, "of brushes nothing was known: {report:#}");
    let text = sandbox.brain(&["integrity", "report"]).exits(0).out;
    assert!(text.contains("a hedge means something"), "{text}");
    assert!(
        text.contains("6 changes of mind in 14 stances, 1 of them without a new outcome of the question"),
        "{text}"
    );

    let picture = sandbox.path("drift.svg");
    let said = sandbox.brain(&["integrity", "report", "--svg", &picture]).exits(0);
    assert!(said.err.contains("drift.svg"), "{said}");
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n"), "{drawn}");
    assert!(drawn.contains("Drift of minds") && drawn.contains("prefers-color-scheme:dark"), "{drawn}");
    sandbox.brain(&["integrity", "report", "--svg", &sandbox.path("drift.svg/no")]).exits(2);
}
