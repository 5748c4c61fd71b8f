//! `council` as it asks: members apart, votes sealed, records kept and exchanged.

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Manner};
use crate::machines::World;
use crate::sandbox::{Sandbox, create, delta};

/// A member that is a shell program.
fn program(id: &str, family: Option<&str>, script: &str) -> Value {
    let mut member = json!({"id": id, "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}});
    if let Some(family) = family {
        member["family"] = json!(family);
    }
    member
}

/// A program that says one vote, with a reason of its own.
fn says(decision: &str, why: &str) -> String {
    let vote = json!({"decision": decision, "confidence": 0.9, "reasoning": why, "evidence": []});
    format!("cat >/dev/null; echo '{vote}'")
}

/// A brain with a document of members on main, trusted.
fn seated(members: &[Value]) -> Sandbox {
    let sandbox = Sandbox::new();
    seat(&sandbox, members);
    sandbox
}

fn seat(sandbox: &Sandbox, members: &[Value]) {
    std::fs::write(sandbox.dir().join("council.json"), json!({"members": members}).to_string()).unwrap();
    sandbox.git(&["add", "council.json"]);
    sandbox.git(&["commit", "-qm", "members"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

fn asked(sandbox: &Sandbox, code: i32, more: &[&str]) -> Value {
    sandbox.brain(&[&["--json", "council", "Shall we paint the hall?"], more].concat()).exits(code).document()
}

/// Reasons why votes of a member were refused.
fn refused(report: &Value, member: &str) -> String {
    let all = report["verdict"]["refused"].as_array().unwrap();
    let of = all.iter().filter(|one| one["member"] == member).map(|one| one["reason"].as_str().unwrap());
    of.collect::<Vec<_>>().join("; ")
}

#[test]
fn council_of_three_rules_answers_offline_and_leaves_the_decision_to_a_person() {
    let sandbox = Sandbox::new();
    for text in ["Painting the hall went well.", "We paint the hall every summer.", "The hall paint failed once."] {
        sandbox.brain(&["feed", text]).exits(0);
    }
    let report = asked(&sandbox, 1, &[]);
    let votes: usize = ["support", "dissent", "abstentions"]
        .iter()
        .map(|list| report["verdict"][list].as_array().unwrap().len())
        .sum();
    assert_eq!((votes, &report["state"], &report["decision"]), (3, &json!("pending"), &json!("abstain")));
    assert_eq!(report["verdict"]["concerns"][0]["kind"], "one_family", "{report:#}");
    assert_eq!(report["evidence"].as_array().unwrap().len(), 3);
    let again = asked(&sandbox, 1, &["--dry-run"]);
    assert_eq!(report["verdict"], again["verdict"], "the same brain gives the same votes");
    assert_eq!(
        sandbox.json(&["council", "--list"])["councils"].as_array().unwrap().len(),
        1,
        "a dry run keeps nothing"
    );
}

#[test]
fn council_of_programs_of_two_families_decides() {
    let sandbox = seated(&[
        program("a", Some("x"), &says("approve", "The colour has gone.")),
        program("b", Some("y"), &says("approve", "Paint is cheap this week, and Tom has time.")),
    ]);
    let report = asked(&sandbox, 0, &[]);
    assert_eq!((&report["state"], &report["decision"]), (&json!("decided"), &json!("approve")), "{report:#}");
    assert_eq!(report["document"].as_str().unwrap().split('@').next(), Some("council.json"));
    let text = sandbox.brain(&["council", "--show", report["id"].as_str().unwrap()]).exits(0).out;
    assert!(text.contains("Tom has time") && text.contains("a (x), analyzer, command:/bin/sh"), "{text}");
}

#[test]
fn council_costs_the_deadline_for_a_voter_that_hangs_and_names_it() {
    let sandbox = seated(&[
        program("a", Some("x"), &says("approve", "The colour has gone.")),
        program("b", Some("y"), &says("approve", "Paint is cheap this week, and Tom has time.")),
        program("slow", Some("z"), "cat >/dev/null; sleep 600"),
    ]);
    let report = asked(&sandbox, 0, &["--timeout", "2"]);
    assert_eq!(report["verdict"]["absent"], json!(["slow"]));
    assert!(refused(&report, "slow").contains("did not finish within 2000 ms"), "{report:#}");
    assert_eq!(report["decision"], "approve", "two of three members and families are enough");
}

#[test]
fn council_refuses_garbage_and_counts_its_member_as_absent() {
    let cases = [
        ("echo no", "no JSON"),
        ("true", "printed nothing"),
        ("exit 3", "ended with"),
        ("echo '{\"decision\": \"maybe\", \"confidence\": 1, \"reasoning\": \"x\"}'", "no vote"),
        ("echo '{\"decision\": \"approve\", \"confidence\": 7, \"reasoning\": \"x\"}'", "outside 0..=1"),
        ("echo '{\"decision\": \"approve\", \"confidence\": 1, \"reasoning\": \" \"}'", "no reasoning"),
        ("echo '[1]'", "no vote"),
    ];
    let members: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(n, (script, _))| program(&format!("m{n}"), Some("x"), &format!("cat >/dev/null; {script}")))
        .enumerate()
        .map(|(n, mut member)| {
            member["family"] = json!(format!("f{n}"));
            member
        })
        .collect();
    let report = asked(&seated(&members), 1, &[]);
    assert_eq!(report["verdict"]["absent"].as_array().unwrap().len(), cases.len(), "{report:#}");
    for (n, (script, reason)) in cases.iter().enumerate() {
        let said = refused(&report, &format!("m{n}"));
        assert!(said.contains(reason), "{script}: {said}");
    }
}

#[test]
fn council_counts_five_copies_of_a_program_as_one_family() {
    let copies: Vec<Value> = (0..5).map(|n| program(&format!("m{n}"), None, &says("approve", "It is time."))).collect();
    let report = asked(&seated(&copies), 1, &[]);
    assert_eq!(report["verdict"]["quorum"]["approve"]["members_for"], 5);
    assert_eq!(report["verdict"]["quorum"]["approve"]["families"], 1);
    assert_eq!(report["verdict"]["concerns"][0]["kind"], "one_family");
    // Nor do other names help.
    let mut named = copies;
    named[3]["family"] = json!("another");
    let sandbox = seated(&named);
    let said = sandbox.brain(&["council", "Shall we paint the hall?"]).exits(2);
    assert!(said.err.contains("council.json: members m0 and m3 are the same mind"), "{said}");
}

#[test]
fn council_refuses_double_forged_unsigned_and_replayed_votes() {
    let vote = json!({"decision": "approve", "confidence": 0.9, "reasoning": "The colour has gone."});
    let other = json!({"decision": "reject", "confidence": 0.9, "reasoning": "No."});
    let array = json!(["approve", 0.9, "An array.", []]);
    let as_b = json!({"member": "b", "decision": "approve", "confidence": 0.9, "reasoning": "As b."});
    let message = |thread: &str, signature: &str| {
        json!({"sender_id": "c", "recipient_id": "council", "type": "VOTE_SUBMIT", "content": vote.to_string(),
               "timestamp": 0, "thread_id": thread, "signature": signature})
    };
    let run = |said: &str| format!("cat >/dev/null; echo '{said}'");
    let keyed = |last: char, mut member: Value| {
        member["key"] = json!(format!("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660{last}"));
        member
    };
    // The message of the other council has its thread; what is unsigned has none.
    let forged = "in=$(cat); thread=$(printf %s \"$in\" | sed 's/.*\"council\":\"\\([^\"]*\\)\".*/\\1/'); now=$(date +%s)000; \
                  echo '{\"sender_id\": \"forged\", \"recipient_id\": \"council\", \"type\": \"VOTE_SUBMIT\", \"content\": \"{}\", \
                  \"timestamp\": '$now', \"thread_id\": \"'$thread'\", \"signature\": \"abcd\"}'";
    let sandbox = seated(&[
        program("a", Some("fa"), &run(&format!("{vote}{other}"))),
        program("b", Some("fb"), &run(&vote.to_string().replace("0.9", "0.8"))),
        program("claims", Some("fc"), &run(&as_b.to_string())),
        program("array", Some("fg"), &run(&array.to_string())),
        keyed('a', program("unsigned", Some("fd"), &run(&vote.to_string().replace("0.9", "0.7")))),
        keyed(
            'b',
            program("replayed", Some("fe"), &run(&message("20260126t150000000z-abcd2345-human", "ab").to_string())),
        ),
        keyed('c', program("forged", Some("ff"), forged)),
    ]);
    let report = asked(&sandbox, 1, &[]);
    assert!(refused(&report, "a").contains("has sealed a vote already"), "{report:#}");
    assert!(refused(&report, "claims").contains("claims the member \"b\""), "{report:#}");
    assert!(refused(&report, "array").contains("is no vote: it is no object"), "{report:#}");
    assert!(refused(&report, "unsigned").contains("the message of unsigned is unsigned"), "{report:#}");
    assert!(refused(&report, "replayed").contains("belongs to thread 20260126t150000000z"), "{report:#}");
    assert!(refused(&report, "forged").contains("the signature is not that of forged"), "{report:#}");
    assert_eq!(report["verdict"]["quorum"]["approve"]["members_for"], 2, "the first of two votes stands");
    assert_eq!(report["verdict"]["absent"], json!(["claims", "array", "unsigned", "replayed", "forged"]));
}

#[test]
fn council_runs_no_program_that_is_not_trusted() {
    let sandbox = seated(&[]);
    let members = json!({"members": [program("a", None, "touch /tmp/never")]});
    std::fs::write(sandbox.dir().join("council.json"), members.to_string()).unwrap();
    sandbox.git(&["commit", "-qam", "other members"]);
    let said = sandbox.brain(&["council", "Shall we paint the hall?"]).exits(3);
    assert!(said.err.contains("council.json is not trusted") && said.err.contains("git brain trust"), "{said}");
    let items = sandbox.json(&["trust", "--list"]);
    assert!(items.to_string().contains("run /bin/sh -c touch /tmp/never, confined as members"), "{items:#}");
}

#[test]
fn council_of_three_models_over_http_decides_and_keeps_them_apart() {
    let reply = |decision: &str, why: &str| {
        Manner::Says(json!({"decision": decision, "confidence": 0.9, "reasoning": why, "evidence": ["0"]}).to_string())
    };
    let endpoints = [
        Endpoint::new(&[reply("approve", "The colour has gone.")]),
        Endpoint::new(&[Manner::Says("I think so.".to_owned()), reply("approve", "Paint is cheap, and Tom has time.")]),
        Endpoint::new(&[reply("reject", "It rains until Sunday.")]),
    ];
    let sandbox = Sandbox::new();
    sandbox.brain(&["feed", "The hall was painted in 2019."]).exits(0);
    let (mut rules, mut members) = (String::new(), Vec::new());
    for (n, endpoint) in endpoints.iter().enumerate() {
        rules += &format!(
            "[models.m{n}]\nprovider = \"openai\"\nmodel = \"m\"\nfamily = \"f{n}\"\ntemperature = 0.5\nretries = 0\nbase_url = \"{}/\"\n",
            endpoint.url()
        );
        members.push(json!({"id": format!("m{n}"), "mind": {"kind": "model", "model": format!("m{n}")}}));
    }
    std::fs::write(sandbox.dir().join("brain.toml"), rules).unwrap();
    sandbox.git(&["add", "brain.toml"]);
    seat(&sandbox, &members);
    let report = asked(&sandbox, 0, &[]);
    assert_eq!(report["decision"], "approve", "{report:#}");
    assert_eq!(report["verdict"]["dissent"][0]["member"], "m2");
    let all: Vec<_> = endpoints.iter().map(Endpoint::asked).collect();
    assert_eq!(
        all.iter().map(Vec::len).collect::<Vec<_>>(),
        [1, 2, 1],
        "an answer that is no vote is asked for once more"
    );
    let figures: Vec<_> = all.iter().map(|asked| [&asked[0].body["temperature"], &asked[0].body["top_p"]]).collect();
    assert_eq!(figures, [[&json!(0.3), &json!(0.9)], [&json!(0.7), &json!(0.95)], [&json!(0.9), &json!(0.98)]]);
    for (n, asked) in all.iter().enumerate() {
        let said = asked[0].body.to_string();
        assert!(said.contains("The hall was painted in 2019."), "all share the first memory");
        assert!(["The colour has gone", "Tom has time", "It rains"].iter().all(|vote| !said.contains(vote)), "m{n}");
    }
    // A model that hangs is absent.
    endpoints[2].behaves(&[Manner::Hangs]);
    endpoints[1].behaves(&[reply("approve", "Paint is cheap, and Tom has time.")]);
    let report = asked(&sandbox, 0, &["--timeout", "2"]);
    assert!(refused(&report, "m2").contains("did not answer within 2000 ms"), "{report:#}");
    // One that answers in the name of another, or with no object, is asked once more and counts for nobody.
    let as_m0 =
        json!({"member": "m0", "decision": "approve", "confidence": 1, "reasoning": "I am m0.", "evidence": []});
    let of_family = json!({"family": "f0", "decision": "approve", "confidence": 1, "reasoning": "We.", "evidence": []});
    let array = json!(["approve", 1, "I am nobody.", []]);
    for (said, why) in [(as_m0, "claims the member \"m0\""), (of_family, "claims the family"), (array, "is no object")]
    {
        endpoints[2].asked();
        endpoints[2].behaves(&[Manner::Says(said.to_string())]);
        let report = asked(&sandbox, 0, &[]);
        assert!(refused(&report, "m2").contains(why), "{report:#}");
        assert_eq!(endpoints[2].asked().len(), 2, "{why}: {report:#}");
    }
}

#[test]
fn council_is_closed_once_by_a_person_and_its_outcome_counts_later() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, 1, &[])["id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 12);
    let early = sandbox.brain(&["council", "--outcome", &id, "right"]).exits(3);
    assert!(early.err.contains("has no decision yet"), "{early}");
    let closed = sandbox.json(&["reject", &id, "--why", "it rains"]);
    assert_eq!((&closed["state"], &closed["decision"]), (&json!("rejected"), &json!("reject")));
    assert_eq!(closed["closings"][0]["why"], "it rains");
    for verb in ["approve", "reject"] {
        let again = sandbox.brain(&[verb, &id]).exits(3);
        assert!(again.err.contains(&format!("council {id} was rejected by")), "{again}");
    }
    assert_eq!(sandbox.json(&["council", "--outcome", &id, "wrong"])["outcome"], "wrong");
    let listed = &sandbox.json(&["council", "--list"])["councils"][0];
    assert_eq!(
        (&listed["id"], &listed["state"], &listed["outcome"]),
        (&json!(id), &json!("rejected"), &json!("wrong"))
    );
    let later = sandbox.brain(&["--json", "council", "Shall we paint the hall again?"]).exits(1).document();
    assert!(later["verdict"].to_string().contains("Past outcomes of such decisions: 1, their mean: 1.00"), "{later:#}");
    sandbox.brain(&["approve", "0123456789ab"]).exits(2);
    sandbox.brain(&["council", "--show", "0123456789ab"]).exits(2);
}

#[test]
fn council_counts_members_that_err_together_as_fewer_minds() {
    let sandbox = seated(&[
        program("a", Some("x"), &says("approve", "The colour has gone.")),
        program("b", Some("y"), &says("approve", "Paint is cheap this week, and Tom has time.")),
    ]);
    for outcome in ["right", "wrong"] {
        let report = asked(&sandbox, 0, &[]);
        assert_eq!(report["verdict"]["quorum"]["approve"]["minds"], 2.0, "one outcome tells nothing of shared errors");
        sandbox.brain(&["council", "--outcome", report["id"].as_str().unwrap(), outcome]).exits(0);
    }
    let later = asked(&sandbox, 1, &[]);
    assert_eq!(
        later["verdict"]["concerns"][0]["kind"], "too_few_minds",
        "both were right and wrong together: {later:#}"
    );
}

#[test]
fn council_comes_to_another_clone_by_sync_and_is_closed_there() {
    let world = World::new();
    world.clone("b");
    let report = world.try_brain("a", &["--json", "council", "Shall we paint the hall?"]).exits(1).document();
    let id = report["id"].as_str().unwrap();
    world.sync("a");
    world.sync("b");
    let there = world.json("b", &["council", "--show", id]);
    assert_eq!(there["verdict"], report["verdict"]);
    world.json("b", &["approve", id, "--why", "the sun shines"]);
    world.sync("b");
    world.sync("a");
    assert_eq!(world.json("a", &["council", "--show", id])["state"], "approved");
    assert!(world.json("a", &["review", "--decided"])["decisions"].as_array().unwrap().is_empty());
}

#[test]
fn sync_says_that_words_on_councils_went_came_and_came_second() {
    let world = World::new();
    world.clone("b");
    let report = world.try_brain("a", &["--json", "council", "Shall we go?"]).exits(1).document();
    let id = report["id"].as_str().unwrap();
    let said = world.brain("a", &["sync"]);
    assert!(said.contains("1 decision went out") && !said.contains("nothing new"), "{said}");
    let said = world.brain("b", &["sync"]);
    assert!(said.contains("1 decision came in"), "{said}");
    world.brain("b", &["approve", id]);
    world.brain("a", &["reject", id]);
    assert!(!world.brain("b", &["sync"]).contains("nothing new"));
    let said = world.brain("a", &["sync"]);
    assert!(said.contains(&format!("council {id}: the answer is yes now")) && !said.contains("nothing new"), "{said}");
    assert!(world.brain("b", &["sync"]).contains("1 decision came in"));
    assert!(world.brain("b", &["sync"]).contains("nothing new here or there"));
}

#[test]
fn council_that_was_changed_does_not_come_in_by_sync() {
    let world = World::new();
    world.clone("b");
    world.try_brain("a", &["council", "Shall we paint the hall?"]).exits(1);
    let path = world.path_of("a", "refs/brain/reviews", "council.json");
    let text = world.git("a", &["show", &format!("refs/brain/reviews:{path}")]);
    let spoilt = text.replacen("\"confidence\": 0.5", "\"confidence\": 0.9", 1);
    assert_ne!(text, spoilt);
    world.write("a", "spoilt.json", &spoilt);
    let blob = world.git("a", &["hash-object", "-w", "spoilt.json"]).trim().to_owned();
    let git = |args: &[&str]| world.git("a", args).trim().to_owned();
    git(&["read-tree", "--empty"]);
    git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
    let tree = git(&["write-tree"]);
    git(&["reset", "-q"]);
    let commit = git(&["commit-tree", &tree, "-m", "council"]);
    git(&["update-ref", "refs/brain/reviews", &commit]);
    git(&["push", "-q", "origin", "+refs/brain/reviews:refs/brain/reviews"]);
    let said = world.refused("b");
    assert!(said.contains("is not the vote that its member sealed"), "{said}");
}

#[test]
fn council_on_a_waiting_run_is_shown_by_review_and_lands_nothing() {
    let sandbox = seated(&[
        program("a", Some("x"), &says("approve", "The colour has gone.")),
        program("b", Some("y"), &says("approve", "Paint is cheap this week, and Tom has time.")),
    ]);
    let run = sandbox.apply(&delta(json!([create("tea")])), &["--no-merge"])["run"].as_str().unwrap().to_owned();
    let report = sandbox.json(&["council", "--branch", &run]);
    assert_eq!((&report["run"], &report["decision"]), (&json!(run), &json!("approve")), "{report:#}");
    assert!(report["question"].as_str().unwrap().contains("tea"), "{report:#}");
    let shown = sandbox.brain(&["review", &run]).exits(0).out;
    let line = format!(
        "council {} of 2 members, asked by Ann <ann@example.invalid>, which lands nothing by itself: approve",
        report["id"].as_str().unwrap()
    );
    assert!(shown.contains(&line), "{shown}");
    assert_eq!(sandbox.json(&["review"])["waiting"].as_array().unwrap().len(), 1);
    sandbox.brain(&["council", "--branch", "agents/memory/none"]).exits(2);
}

#[test]
fn council_answers_in_a_chat_with_reasons_and_dissent_and_is_recorded() {
    let sandbox = seated(&[
        program("a", Some("x"), &says("approve", "The colour has gone.")),
        program("b", Some("y"), &says("approve", "Paint is cheap this week, and Tom has time.")),
        program("c", Some("z"), &says("reject", "It rains until Sunday.")),
    ]);
    let answer = sandbox.json(&["chat", "--mode", "council", "Shall we paint the hall?"]);
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.starts_with("Yes, says the council"), "{reply}");
    assert!(reply.contains("Yes: b (y, 0.90)") && reply.contains("No: c (z, 0.90): It rains"), "{reply}");
    assert_eq!(answer["mode"], "council");
    let councils = sandbox.json(&["council", "--list"])["councils"].as_array().unwrap().clone();
    assert_eq!(councils.len(), 1);
    assert!(reply.contains(councils[0]["id"].as_str().unwrap()), "{reply}");
    let long = "x ".repeat(5000);
    let said = sandbox.brain(&["chat", "--mode", "council", &long]).exits(2);
    assert!(said.err.contains("at most 8192 bytes"), "{said}");
}

#[test]
fn council_closings_take_several_ids_and_name_those_that_fail() {
    let sandbox = Sandbox::new();
    let ids: Vec<String> = ["tea", "milk", "bread"]
        .map(|what| {
            let report = sandbox.brain(&["--json", "council", &format!("Shall we buy {what}?")]).exits(1).document();
            report["id"].as_str().unwrap().to_owned()
        })
        .to_vec();
    sandbox.brain(&["reject", &ids[1], "--why", "no"]).exits(0);
    assert_eq!(sandbox.json(&["review"])["councils"], 2);
    let said = sandbox.brain(&["approve", &ids[0], &ids[1], &ids[2]]).exits(3);
    assert_eq!(said.out.matches("is approved").count(), 2, "{said}");
    assert!(said.err.contains(&format!("council {} was rejected by", ids[1])), "{said}");
    assert_eq!(sandbox.json(&["review"]).get("councils"), None, "none waits any more");
    let none = sandbox.brain(&["council", "--list", "-n", "0"]).exits(2);
    assert!(none.err.contains("0 is not in 1.."), "{none}");
}

#[test]
fn check_names_documents_of_councils_that_are_broken() {
    let sandbox = seated(&[program("a", Some("x"), "true")]);
    sandbox.brain(&["check"]).exits(0);
    std::fs::create_dir_all(sandbox.dir().join("councils")).unwrap();
    std::fs::write(sandbox.dir().join("councils/home.json"), "{\"members\": [{\"id\": \"a\"}]}").unwrap();
    std::fs::write(sandbox.dir().join("councils/none.json"), "{\"members\": []}").unwrap();
    sandbox.git(&["add", "councils"]);
    sandbox.git(&["commit", "-qm", "councils"]);
    let said = sandbox.brain(&["check"]).exits(1);
    assert!(said.out.contains("councils/home.json") && said.out.contains("missing field `mind`"), "{said}");
    assert!(said.out.contains("councils/none.json") && said.out.contains("the council has no members"), "{said}");
    let said = sandbox.brain(&["check", "main"]).exits(1);
    assert!(said.out.contains("councils/none.json"), "{said}");
    std::fs::write(sandbox.dir().join("council.json"), "{\"members\": [").unwrap();
    let rules = "[review]\nreviewers = [\"ann@example.invalid\"]\ncouncil = \"councils/nowhere.json\"\n";
    std::fs::write(sandbox.dir().join("brain.toml"), rules).unwrap();
    sandbox.git(&["add", "brain.toml"]);
    sandbox.git(&["commit", "-qam", "a broken one"]);
    let said = sandbox.brain(&["check", "main"]).exits(1);
    assert!(
        said.out.contains("council.json") && said.out.contains("[review] names the council councils/nowhere.json"),
        "{said}"
    );
    let votes = sandbox.file("votes.json", json!({
        "question": "Shall we?", "members": [{"id": "a", "family": "x"}], "votes": [], "thresholds": {"confidence": -1},
    }).to_string());
    let said = sandbox.brain(&["council", "--votes", &votes]).exits(2);
    assert!(said.err.contains("the threshold confidence is -1"), "{said}");
}
