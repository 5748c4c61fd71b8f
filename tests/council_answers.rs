//! Answers of `council` as a person reads them: which way the votes went, what they cite, when it was, and what was asked before.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn program(id: &str, family: &str, vote: &Value) -> Value {
    let script = format!("cat >/dev/null; echo '{vote}'");
    json!({"id": id, "family": family, "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}})
}

fn vote(decision: &str, confidence: f64, why: &str, evidence: &[&str]) -> Value {
    json!({"decision": decision, "confidence": confidence, "reasoning": why, "evidence": evidence})
}

fn seated(members: &[Value]) -> Sandbox {
    let sandbox = Sandbox::new();
    commit(&sandbox, "council.json", &json!({"members": members}).to_string());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn commit(sandbox: &Sandbox, path: &str, text: &str) {
    let file = sandbox.dir().join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    sandbox.git(&["add", path]);
    sandbox.git(&["commit", "-qm", "members"]);
}

fn unsure_no() -> Vec<Value> {
    vec![
        program("a", "x", &vote("reject", 0.4, "The rule stays, says Nina.", &["0"])),
        program("b", "y", &vote("reject", 0.45, "Nobody is there to repair it until Monday.", &["999", "the note"])),
        program("c", "z", &vote("reject", 0.5, "Last time it took the whole weekend.", &[])),
    ]
}

#[test]
fn council_that_leaves_a_no_to_a_person_says_that_the_votes_said_no() {
    let sandbox = seated(&unsure_no());
    let said = sandbox.brain(&["council", "Shall we deploy on Friday?"]).exits(1).out;
    assert!(said.starts_with("abstain, a person decides"), "{said}");
    assert!(said.contains("The votes: 3 of 3 members say no."), "{said}");
    assert!(said.contains("answers yes") && said.contains("answers no") && said.contains("final"), "{said}");
    let listed = sandbox.brain(&["council", "--list"]).exits(0).out;
    assert!(listed.contains("pending") && listed.contains("abstain (3 of 3 members say no)"), "{listed}");
    let report = sandbox.json(&["council", "--list"])["councils"][0].clone();
    assert_eq!((&report["decision"], &report["votes"]), (&json!("abstain"), &json!("3 of 3 members say no")));
    let closed = sandbox.brain(&["approve", report["id"].as_str().unwrap(), "--dry-run"]).exits(0).out;
    assert!(closed.contains("is approved, the answer is yes") && closed.contains("3 of 3 members say no"), "{closed}");
}

#[test]
fn council_in_the_chat_calls_a_no_by_its_name() {
    let sandbox = seated(&unsure_no());
    let said = sandbox.brain(&["chat", "--mode", "council", "Shall we deploy on Friday?"]).exits(0).out;
    assert!(said.contains("Its votes: 3 of 3 members say no."), "{said}");
    assert!(said.contains("- No: a (x, 0.40): The rule stays") && !said.contains("- For"), "{said}");
    assert!(said.contains("answers yes") && said.contains("answers no"), "{said}");
}

#[test]
fn council_shows_the_memories_that_its_votes_cite_and_marks_those_that_nobody_was_shown() {
    let sandbox = seated(&unsure_no());
    sandbox.brain(&["feed", "Deploys on Friday took the site down twice."]).exits(0);
    let report = sandbox.brain(&["--json", "council", "Shall we deploy on Friday?"]).exits(1).document();
    let cited = report["cited"].as_array().unwrap();
    assert_eq!(cited.len(), 3, "{report:#}");
    assert_eq!(cited[0]["text"], "Deploys on Friday took the site down twice.", "{report:#}");
    assert_eq!(cited[0]["neuron"], report["evidence"][0]);
    assert_eq!((&cited[1]["item"], &cited[1]["neuron"]), (&json!("999"), &Value::Null));
    let shown = sandbox.brain(&["council", "--show", report["id"].as_str().unwrap()]).exits(0).out;
    assert!(shown.contains("cites 0: ") && shown.contains("took the site down twice"), "{shown}");
    assert!(shown.contains("cites \"999\", which no member was shown"), "{shown}");
    // The rules name the memories that they count.
    let rules = Sandbox::new();
    rules.brain(&["feed", "Deploys on Friday took the site down twice."]).exits(0);
    let said = rules.brain(&["council", "Shall we deploy on Friday?"]).exits(1).out;
    assert!(said.contains("Memories for it among those shown: 1 (0)") && said.contains("cites 0: "), "{said}");
}

#[test]
fn council_asked_again_names_the_earlier_answer_and_takes_the_place_of_one_that_waits() {
    let sandbox = seated(&unsure_no());
    let ask = |question: &str| sandbox.brain(&["--json", "council", question]).exits(1).document();
    let id = |report: &Value| report["id"].as_str().unwrap().to_owned();
    let first = ask("Shall we deploy on Friday?");
    let second = ask("shall we deploy on friday");
    assert_eq!(second["earlier"][0]["id"], first["id"], "{second:#}");
    assert_eq!(sandbox.json(&["council", "--show", &id(&first)])["state"], "superseded");
    let refused = sandbox.brain(&["approve", &id(&first)]).exits(3);
    assert!(refused.err.contains(&format!("asked again, by council {}", id(&second))), "{refused}");
    assert_eq!(sandbox.json(&["review"])["councils"], 1);
    sandbox.brain(&["reject", &id(&second), "--why", "the rule stays"]).exits(0);
    let log = sandbox.git(&["log", "-1", "--format=%B", "refs/brain/reviews"]);
    assert!(log.contains("shall we deploy on friday") && log.contains("the rule stays"), "{log}");
    let third = sandbox.brain(&["council", "Shall we deploy on Friday?"]).exits(1).out;
    assert!(third.contains(&format!("council {} on the same question was rejected on ", id(&second))), "{third}");
    assert!(third.contains("the rule stays"), "{third}");
}

#[test]
fn council_asked_again_and_again_names_the_answer_of_a_person() {
    let sandbox = seated(&unsure_no());
    let ask = || sandbox.brain(&["--json", "council", "Shall we paint the shed?"]).exits(1).document();
    let first = ask();
    let id = first["id"].as_str().unwrap();
    sandbox.brain(&["approve", id, "--why", "the paint is bought"]).exits(0);
    let mut last = ask();
    for _ in 0..4 {
        last = ask();
    }
    let earlier = last["earlier"].as_array().unwrap();
    assert_eq!(earlier.len(), 2, "the newest of each kind: {last:#}");
    assert_eq!((&earlier[0]["state"], &earlier[1]["state"]), (&json!("pending"), &json!("approved")), "{last:#}");
    assert_eq!((&earlier[1]["id"], &earlier[1]["why"]), (&json!(id), &json!("the paint is bought")));
    // In a chat it stands in the answer, which every door has.
    let answer = sandbox.json(&["chat", "--mode", "council", "Shall we paint the shed?"]);
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.contains(&format!("council {id} on the same question was approved")), "{reply}");
    // Of a council that was asked again nothing can be right or wrong, and approving it is no remedy.
    let superseded = earlier[0]["id"].as_str().unwrap();
    let said = sandbox.brain(&["council", "--outcome", superseded, "right"]).exits(3);
    assert!(said.err.contains("was asked again, by council") && !said.err.contains("approve"), "{said}");
}

#[test]
fn member_that_has_the_id_of_another_mind_changed_no_mind() {
    let sandbox = Sandbox::new();
    let members = |families: [&str; 3], decisions: [&str; 3]| {
        let whys = ["The window is free.", "One command takes it back.", "Nobody waits for it at night."];
        let ids = ["analyst", "critic", "ops"];
        let member = |at: usize| program(ids[at], families[at], &vote(decisions[at], 0.9, whys[at], &[]));
        let members: Vec<Value> = (0..3).map(member).collect();
        json!({"members": members}).to_string()
    };
    commit(&sandbox, "councils/a.json", &members(["x", "y", "z"], ["approve", "approve", "approve"]));
    commit(&sandbox, "councils/b.json", &members(["u", "v", "w"], ["approve", "reject", "reject"]));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    for document in ["councils/a.json", "councils/b.json"] {
        sandbox.brain(&["council", "Shall we ship?", "--members", document]);
    }
    let stances = |sandbox: &Sandbox| sandbox.json(&["integrity", "report"])["stances"].clone();
    let all = stances(&sandbox);
    assert_eq!(all["council critic"], json!({"stances": 2, "changes": 0, "unfounded": 0}), "{all:#}");
    // The same mind that votes otherwise did.
    let script = format!(
        "case $(cat) in *Shall*) echo '{}';; *) echo '{}';; esac",
        vote("approve", 0.9, "It is tested.", &[]),
        vote("reject", 0.9, "You are right.", &[])
    );
    let critic = json!({"id": "critic", "family": "y", "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}});
    let other = program("ops", "w", &vote("reject", 0.9, "Nobody is there.", &[]));
    commit(&sandbox, "councils/c.json", &json!({"members": [critic, other]}).to_string());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    for question in ["Shall we wait?", "shall we wait"] {
        sandbox.brain(&["council", question, "--members", "councils/c.json"]);
    }
    let all = stances(&sandbox);
    assert_eq!(all["council critic"], json!({"stances": 4, "changes": 1, "unfounded": 1}), "{all:#}");
}

#[test]
fn council_list_has_days_and_is_searched() {
    let sandbox = seated(&unsure_no());
    let friday = sandbox.brain(&["--json", "council", "Shall we deploy on Friday?"]).exits(1).document();
    sandbox.brain(&["--json", "council", "Shall the hall be painted?"]).exits(1);
    sandbox.brain(&["reject", friday["id"].as_str().unwrap(), "--why", "Nina is away"]).exits(0);
    let listed = sandbox.brain(&["council", "--list"]).exits(0).out;
    let is_dated =
        |line: &str| line.split_whitespace().nth(1).is_some_and(|day| day.len() == 10 && day.starts_with("20"));
    assert!(listed.lines().all(is_dated), "{listed}");
    let ids =
        |args: &[&str]| sandbox.json(&[&["council", "--list"], args].concat())["councils"].as_array().unwrap().len();
    assert_eq!(
        [ids(&[]), ids(&["--pending"]), ids(&["--about", "NINA friday"]), ids(&["--about", "nothing"])],
        [2, 1, 1, 0]
    );
    let shown = sandbox.brain(&["council", "--show", friday["id"].as_str().unwrap()]).exits(0).out;
    assert!(shown.contains("asked by") && shown.matches(" on 20").count() >= 2, "{shown}");
    // The beginning of an id is enough.
    let begun = &friday["id"].as_str().unwrap()[..6];
    assert_eq!(sandbox.json(&["council", "--show", begun])["id"], friday["id"]);
    let again = sandbox.brain(&["approve", begun]).exits(3);
    assert!(again.err.contains("was rejected by"), "{again}");
}

#[test]
fn council_says_that_a_document_is_not_committed_and_that_a_question_is_no_question_of_yes_or_no() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.dir().join("council.json"), json!({"members": unsure_no()}).to_string()).unwrap();
    let said = sandbox.brain(&["council", "Which provider is cheaper?"]).exits(1).out;
    assert!(said.contains("council.json lies in the work tree and is not committed on main"), "{said}");
    assert!(said.contains("members answer yes or no, and \"which\" asks for something else"), "{said}");
    sandbox.git(&["add", "council.json"]);
    sandbox.git(&["commit", "-qm", "members"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let said = sandbox.brain(&["council", "Shall we deploy?"]).exits(1).out;
    assert!(!said.contains("work tree") && !said.contains("asks for something else"), "{said}");
}

#[test]
fn council_keeps_the_beginning_of_an_answer_that_is_no_vote() {
    let mut members = unsure_no();
    members[0] = program("a", "x", &json!({"answer": "I would rather wait for Nina"}));
    let report = seated(&members).brain(&["--json", "council", "Shall we deploy?"]).exits(1).document();
    assert!(report["verdict"]["refused"].to_string().contains("I would rather wait for Nina"), "{report:#}");
}

#[test]
fn council_whose_members_erred_together_every_time_leaves_the_next_question_to_a_person() {
    let sandbox = seated(&[
        program("a", "x", &vote("approve", 0.9, "The harbour is ready.", &[])),
        program("b", "y", &vote("approve", 0.8, "Everybody is there, and it costs nothing.", &[])),
    ]);
    for harbour in 1..=3 {
        let question = format!("Shall harbour {harbour} get a drill?");
        let report = sandbox.brain(&["--json", "council", &question, "--dry-run"]).document();
        if harbour == 1 {
            assert_eq!(report["decision"], "approve", "{report:#}");
        }
        let report = sandbox.brain(&["--json", "council", &question]).document();
        let id = report["id"].as_str().unwrap();
        if report["state"] == "pending" {
            sandbox.brain(&["approve", id]).exits(0);
        }
        sandbox.brain(&["council", "--outcome", id, "wrong"]).exits(0);
    }
    let next = sandbox.brain(&["--json", "council", "Shall harbour 9 get a drill?"]).exits(1).document();
    assert_eq!(next["verdict"]["concerns"][0]["kind"], "too_few_minds", "{next:#}");
    // A clone that does not know that past counts the same votes, and takes the record.
    assert_eq!(sandbox.brain(&["check"]).exits(0).code, 0);
}

#[test]
fn council_takes_one_model_of_one_server_under_two_names_for_one_mind() {
    let sandbox = Sandbox::new();
    let model = |name: &str, family: &str, base: &str| {
        format!("[models.{name}]\nprovider = \"openai\"\nmodel = \"m\"\nfamily = \"{family}\"\nbase_url = \"{base}\"\n")
    };
    let named = |other: &str| {
        let models = model("one", "f1", "http://127.0.0.1:9/v1") + &model("two", "f2", other);
        commit(&sandbox, "brain.toml", &models);
        sandbox.brain(&["trust", "--yes"]).exits(0);
    };
    named("http://localhost:9/v1/");
    let member = |id: &str| json!({"id": id, "mind": {"kind": "model", "model": id}});
    commit(&sandbox, "council.json", &json!({"members": [member("one"), member("two")]}).to_string());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let said = sandbox.brain(&["council", "Shall we deploy?"]).exits(2);
    assert!(said.err.contains("one and two are the same mind, and claim the families f1 and f2"), "{said}");
    let check = sandbox.brain(&["check"]).exits(1);
    assert!(check.out.contains("are the same mind") || check.err.contains("are the same mind"), "{check}");
    for other in ["http://127.1:9/v1", "http://127.0.0.1:09/v1", "http://0.0.0.0:9/v1", "http://[::ffff:7f00:1]:9/v1"] {
        named(other);
        let said = sandbox.brain(&["council", "Shall we deploy?"]).exits(2);
        assert!(said.err.contains("one and two are the same mind"), "{other}: {said}");
    }
    // Nor may one model propose and attack.
    let rules = model("one", "f1", "http://127.0.0.1:9/v1") + &model("two", "f2", "http://127.1:9/v1");
    commit(&sandbox, "brain.toml", &(rules + "[deliberation]\ngardener = \"one\"\nskeptic = \"two\"\n"));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let said = sandbox.brain(&["deliberate", "recall", "--trees", "tea"]).exits(3);
    assert!(said.err.contains("gardener one and skeptic two are one model of one server"), "{said}");
}

#[test]
fn council_takes_one_program_by_other_paths_for_one_mind() {
    let sandbox = Sandbox::new();
    let script = sandbox.file("vote.sh", "cat >/dev/null\n");
    let link = sandbox.path("link.sh");
    std::os::unix::fs::symlink(&script, &link).unwrap();
    let hard = sandbox.path("hard.sh");
    std::fs::hard_link(&script, &hard).unwrap();
    let (folder, name) = script.rsplit_once('/').unwrap();
    let member = |id: &str, argv: &[&str]| json!({"id": id, "family": id, "mind": {"kind": "command", "argv": argv}});
    let long = format!("{folder}/./{name}");
    let others = [
        ["/bin/sh", long.as_str()],
        ["/bin/sh", &link],
        ["/bin/sh", &hard],
        ["sh", &script],
        ["/usr//bin/../bin/sh", &script],
    ];
    for other in others {
        let members = [member("one", &["/bin/sh", &script]), member("two", &other)];
        commit(&sandbox, "council.json", &json!({ "members": members }).to_string());
        sandbox.brain(&["trust", "--yes"]).exits(0);
        let said = sandbox.brain(&["council", "Shall we deploy?"]).exits(2);
        assert!(said.err.contains("one and two are the same mind"), "{other:?}: {said}");
    }
    let other = sandbox.file("other.sh", "cat >/dev/null\n");
    let members = [member("one", &["/bin/sh", &script]), member("two", &["/bin/sh", &other])];
    commit(&sandbox, "council.json", &json!({ "members": members }).to_string());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["council", "Shall we deploy?"]).exits(1);
}

#[test]
fn check_judges_documents_of_councils_by_the_settings_of_main() {
    let sandbox = Sandbox::new();
    let settings = "[models.c]\nprovider = \"openai\"\nmodel = \"m\"\nfamily = \"quicksilver\"\n\n[models.bare]\nprovider = \"openai\"\nmodel = \"n\"\n";
    commit(&sandbox, "brain.toml", settings);
    let document = |model: &str, family: Option<&str>| {
        let mut member = json!({"id": "c", "mind": {"kind": "model", "model": model}});
        if let Some(family) = family {
            member["family"] = json!(family);
        }
        json!({"members": [member, {"id": "r", "mind": {"kind": "reflex", "rule": "memories"}}]}).to_string()
    };
    commit(&sandbox, "councils/good.json", &document("c", Some("quicksilver")));
    sandbox.brain(&["check"]).exits(0);
    let wrong = [
        ("nosuch", None, "there is no [models.nosuch]"),
        ("bare", None, "has no family"),
        ("c", Some("gold"), "of family quicksilver"),
    ];
    for (model, family, why) in wrong {
        commit(&sandbox, "councils/wrong.json", &document(model, family));
        let check = sandbox.brain(&["check"]).exits(1);
        assert!(check.to_string().contains(why), "{check}");
    }
}
