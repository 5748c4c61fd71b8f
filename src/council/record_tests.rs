//! Records of councils and words of people on them: read as they were written, and what follows from them.

use super::super::seal::Nonce;
use super::super::tests::{members, votes};
use super::super::verdict::{Concern, ConcernKind, Thresholds, decide};
use super::*;

fn run(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn record(decisions: &str) -> CouncilRecord {
    let (members, council) = (members("xyz"), run("20260126t150000000z-abcd2345-human"));
    let thread = CouncilRecord::thread_of(&council, "");
    let all = votes(&members, decisions);
    let cast = all.iter().map(|vote| {
        let nonce = Nonce([7; 32]);
        let seal = Seal::of(&thread, vote, &nonce);
        let message = AgentMessage {
            sender_id: vote.member.clone(),
            thread_id: thread.clone(),
            content: serde_json::to_string(&seal).unwrap(),
            ..AgentMessage::default()
        };
        CastVote { opening: Opening { thread_id: thread.clone(), vote: vote.clone(), nonce }, seal, message }
    });
    CouncilRecord {
        id: CouncilRecord::id_of(&council, "tea?"),
        question: "tea?".to_owned(),
        by: "Anna <anna@example.org>".to_owned(),
        at_ms: 1_769_438_000_000,
        run: None,
        commit: None,
        binds: String::new(),
        document: String::new(),
        members: members
            .iter()
            .map(|member| SeatRecord {
                id: member.id.clone(),
                family: member.family.clone(),
                role: "critic".to_owned(),
                mind: "reflex:memories".to_owned(),
                key: String::new(),
            })
            .collect(),
        evidence: Vec::new(),
        votes: cast.collect(),
        verdict: decide("tea?", &members, &all, &[], &Thresholds::default()),
        council,
    }
}

fn closing(word: Word, second: u32) -> Closing {
    Closing {
        closing: run(&format!("20260126t1500{second:02}000z-abcd2345-human")),
        council: run("20260126t150000000z-abcd2345-human"),
        word,
        by: "Bob <bob@example.org>".to_owned(),
        at_ms: 1_769_438_000_000 + i64::from(second),
        about: None,
        why: String::new(),
    }
}

#[test]
fn record_is_read_as_it_was_written_and_not_changed() {
    let record = record("AAR");
    let path = "councils/2026/01/26/20260126t150000000z-abcd2345-human/council.json";
    assert_eq!(record.path(), path);
    assert_eq!(CouncilRecord::decode(&record.encode(), path).unwrap(), record);
    type Spoil = fn(&mut CouncilRecord);
    let spoilt: [Spoil; 6] = [
        |r| r.question.push('!'),
        |r| r.id = "000000000000".to_owned(),
        |r| r.by = "nobody".to_owned(),
        |r| r.votes[0].opening.vote.decision = Decision::Reject,
        |r| r.votes[0].message.sender_id = "b".into(),
        |r| r.votes[1].opening.vote.member = "z".into(),
    ];
    for (at, spoil) in spoilt.iter().enumerate() {
        let mut other = record.clone();
        spoil(&mut other);
        assert!(CouncilRecord::decode(&other.encode(), path).is_err(), "{at}");
    }
    assert!(CouncilRecord::decode(&record.encode(), "councils/x/council.json").is_err());
}

#[test]
fn record_of_votes_put_under_another_question_is_none() {
    let mut record = record("AAR");
    record.binds = CouncilRecord::advice(&record.question, None, None, "");
    let thread = CouncilRecord::thread_of(&record.council, &record.binds);
    for cast in &mut record.votes {
        cast.opening.thread_id = thread.clone();
        cast.seal = Seal::of(&thread, &cast.opening.vote, &cast.opening.nonce);
        cast.message.thread_id = thread.clone();
        cast.message.content = serde_json::to_string(&cast.seal).unwrap();
    }
    assert_eq!(CouncilRecord::decode(&record.encode(), &record.path()).unwrap(), record);
    assert!(!record.may_decide());
    record.question = "coffee?".to_owned();
    record.verdict.question = record.question.clone();
    record.id = CouncilRecord::id_of(&record.council, &record.question);
    let fault =
        |record: &CouncilRecord| CouncilRecord::decode(&record.encode(), &record.path()).unwrap_err().to_string();
    assert!(fault(&record).contains("does not follow from question"), "{}", fault(&record));
    for binds in [CouncilRecord::advice("coffee?", None, None, ""), String::new()] {
        record.binds = binds;
        assert!(fault(&record).contains("is not the vote that its member sealed"), "{}", fault(&record));
    }
}

#[test]
fn record_whose_verdict_does_not_follow_from_its_votes_has_a_fault() {
    for decisions in ["AAR", "AR-", "AAA", "RR.", "...", "A--"] {
        assert_eq!(record(decisions).fault(), None, "{decisions}");
    }
    type Spoil = fn(&mut CouncilRecord);
    let spoilt: [(&str, Spoil); 12] = [
        ("members", |r| r.members.clear()),
        ("members", |r| r.members[1].id = "a".into()),
        ("quorum", |r| r.members.push(SeatRecord { id: "late".into(), ..r.members[0].clone() })),
        ("quorum", |r| r.votes.clear()),
        ("decision", |r| r.verdict.decision = Decision::Reject),
        ("confidence", |r| r.verdict.confidence = 1.0),
        ("quorum", |r| r.verdict.quorum.approve.minds = 9.0),
        ("quorum", |r| r.verdict.quorum.approve.members_for = 3),
        ("dissent", |r| r.verdict.dissent.clear()),
        ("question", |r| r.verdict.question.push('!')),
        ("run", |r| r.run = Some(run("20260126t150000000z-abcd2345-scribe"))),
        ("concerns", |r| {
            r.verdict.concerns.push(Concern { kind: ConcernKind::NoQuorum, sentence: String::new() });
        }),
    ];
    for (at, (field, spoil)) in spoilt.iter().enumerate() {
        let mut other = record("AAR");
        spoil(&mut other);
        assert_eq!(other.fault(), Some(*field), "{at}");
    }
    // A shared past lowers the minds, and may withhold a decision.
    let mut doubted = record("AAR");
    doubted.verdict.quorum.approve.minds = 1.5;
    assert_eq!(doubted.fault(), Some("decision"));
}

#[test]
fn record_of_an_escalation_is_closed_by_the_first_ruling() {
    let mut council = Council { record: record("AR-"), closings: Vec::new(), told: None };
    assert_eq!((council.state(), council.decision(), council.past()), ("pending", Decision::Abstain, None));
    assert_eq!(council.escalation().unwrap().id, council.record.id);
    council.closings = vec![closing(Word::Reject, 1), closing(Word::Approve, 2), closing(Word::Right, 3)];
    assert_eq!((council.state(), council.decision()), ("rejected", Decision::Reject));
    assert_eq!(council.past().unwrap().outcome, Decision::Reject);
    council.closings.push(closing(Word::Wrong, 4));
    assert_eq!(council.past().unwrap().outcome, Decision::Approve, "the newest word on the outcome counts");
}

#[test]
fn outcome_that_counts_is_the_newest_by_its_time_and_not_the_one_that_came_last() {
    let said = |word, second| Closing { about: Some(Decision::Approve), ..closing(word, second) };
    let (wrong, right) = (said(Word::Wrong, 38), said(Word::Right, 41));
    for closings in [vec![right.clone(), wrong.clone()], vec![wrong.clone(), right.clone()]] {
        let council = Council { record: record("AAR"), closings, told: None };
        assert_eq!(council.is_right(), Some(true));
    }
    // Of one time the greater id counts, on every machine the same.
    let twin = Closing { at_ms: right.at_ms, ..wrong };
    let council = Council { record: record("AAR"), closings: vec![right, twin], told: None };
    assert_eq!(council.is_right(), Some(true));
}

#[test]
fn vote_of_a_mind_with_several_seats_is_that_of_most_of_them() {
    let of_two_minds = |decisions: &str| {
        let mut record = record(decisions);
        for (seat, mind) in record.members.iter_mut().zip(["model:one", "model:one", "model:two"]) {
            (seat.family, seat.mind) = ("x".into(), mind.to_owned());
        }
        let votes = record.votes_of_minds();
        ["model:one", "model:two"].map(|mind| votes.get(&MindId::of(&"x".into(), mind)).copied())
    };
    let [approve, reject, abstain] = [Decision::Approve, Decision::Reject, Decision::Abstain].map(Some);
    assert_eq!(of_two_minds("AAR"), [approve, reject]);
    assert_eq!(of_two_minds("ARR"), [abstain, reject], "half is not most");
    assert_eq!(of_two_minds("A.."), [approve, None]);
}

#[test]
fn outcome_stays_about_the_decision_that_it_was_told_of() {
    let right = Closing { about: Some(Decision::Approve), ..closing(Word::Right, 3) };
    let mut council = Council { record: record("AR-"), closings: vec![closing(Word::Approve, 2), right], told: None };
    assert_eq!((council.state(), council.is_right()), ("approved", Some(true)));
    // Elsewhere it had been rejected before.
    council.closings.insert(0, closing(Word::Reject, 1));
    assert_eq!((council.state(), council.is_right()), ("rejected", Some(false)));
    assert_eq!(council.past().unwrap().outcome, Decision::Approve);
}

#[test]
fn record_of_a_decision_needs_no_person() {
    let mut council = Council { record: record("AAR"), closings: vec![closing(Word::Reject, 1)], told: None };
    assert_eq!((council.state(), council.decision()), ("decided", Decision::Approve));
    council.closings.push(closing(Word::Wrong, 2));
    assert_eq!(council.past().unwrap().outcome, Decision::Reject);
}

#[test]
fn outcome_of_the_run_of_an_agent_counts_where_nobody_spoke_on_its_council() {
    let of = |decisions: &str, told| Council { record: record(decisions), closings: Vec::new(), told };
    let was = |council: &Council| (council.is_right(), council.past().map(|past| past.outcome));
    assert_eq!(was(&of("AAR", Some(false))), (Some(false), Some(Decision::Reject)));
    assert_eq!(was(&of("AAR", Some(true))), (Some(true), Some(Decision::Approve)));
    assert_eq!(was(&of("RRA", Some(false))), (Some(false), Some(Decision::Approve)));
    assert_eq!(was(&of("AAR", None)), (None, None));
    assert_eq!(was(&of("AR-", Some(true))), (None, None), "it left the decision to a person");
    let mut council = of("AAR", Some(false));
    council.closings.push(closing(Word::Right, 2));
    assert_eq!(was(&council), (Some(true), Some(Decision::Approve)), "the word of a person on the council");
}

#[test]
fn closing_is_read_as_it_was_written() {
    let closing = closing(Word::Approve, 9);
    assert_eq!(Closing::decode(&closing.encode(), &closing.path()).unwrap(), closing);
    assert!(Closing::decode(&closing.encode(), "councils/x.json").is_err());
}
