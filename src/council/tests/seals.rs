//! Seals: each refusal, and the member that is absent for it.

use super::super::seal::{Deadlines, Nonce, Opened, Opening, Round, Seal, SealFault};
use super::super::vote::{Decision, Vote, VoteFault};
use super::{members, vote};

const DEADLINES: Deadlines = Deadlines { seal_ms: 100, open_ms: 200 };

fn nonce(place: usize) -> Nonce {
    Nonce([place as u8 + 1; 32])
}

fn ballot(place: usize) -> Vote {
    vote(&members("xyz"), place, Decision::Approve)
}

fn seal(place: usize) -> Seal {
    Seal::of(&"t1".into(), &ballot(place), &nonce(place))
}

fn opening(place: usize) -> Opening {
    Opening { thread_id: "t1".into(), vote: ballot(place), nonce: nonce(place) }
}

/// A round in which the members at some places have sealed.
fn sealed(places: &[usize]) -> Round {
    let mut round = Round::new(members("xyz"), "t1".into(), DEADLINES);
    places.iter().for_each(|place| round.seal(seal(*place), 50).unwrap());
    round
}

fn absent(opened: &Opened) -> Vec<(&str, &str)> {
    opened.absent.iter().map(|refused| (refused.member.as_str(), refused.reason.as_str())).collect()
}

#[test]
fn seal_opens_in_any_order() {
    let mut round = sealed(&[2, 0, 1]);
    [1, 2, 0].iter().for_each(|place| round.open(opening(*place), 60).unwrap());
    assert_eq!(round.finish(), Opened { votes: vec![ballot(0), ballot(1), ballot(2)], absent: vec![] });
}

#[test]
fn seal_is_refused_with_a_reason() {
    let mut round = sealed(&[0]);
    assert_eq!(round.seal(seal(0), 50), Err(SealFault::DoubleSeal("a".into())));
    let of_another_thread = Seal { thread_id: "t0".into(), ..seal(1) };
    assert_eq!(round.seal(of_another_thread, 50), Err(SealFault::WrongThread("t0".into())));
    assert_eq!(round.seal(Seal { member: "z".into(), ..seal(1) }, 50), Err(SealFault::Stranger("z".into())));
    assert_eq!(round.seal(seal(1), 101), Err(SealFault::LateSeal("b".into())));
    round.seal(seal(1), 100).unwrap();
    round.open(opening(0), 150).unwrap();
    assert_eq!(round.seal(seal(2), 90), Err(SealFault::LateSeal("c".into())), "after the first opening");
    let opened = round.finish();
    assert_eq!(opened.votes.len(), 1);
    let expected = [("b", "member b sealed a vote and did not open it"), ("c", "the seal of member c came late")];
    assert_eq!(absent(&opened), expected);
}

#[test]
fn seal_stays_closed_while_others_may_seal() {
    let mut round = sealed(&[0, 1]);
    assert_eq!(round.open(opening(0), 100), Err(SealFault::EarlyOpening(1)));
    round.open(opening(0), 101).unwrap();
    let opened = round.finish();
    assert_eq!(absent(&opened)[1], ("c", "member c has sealed no vote"));
}

#[test]
fn seal_refuses_a_late_opening() {
    let mut round = sealed(&[0, 1, 2]);
    round.open(opening(0), 200).unwrap();
    assert_eq!(round.open(opening(1), 201), Err(SealFault::LateOpening("b".into())));
    assert_eq!(absent(&round.finish())[0], ("b", "the opening of member b came late"));
}

#[test]
fn seal_refuses_a_replayed_opening() {
    // The same vote and nonce, sealed and opened in thread t0, come again in t1.
    let mut round = sealed(&[1, 2]);
    let replayed = Opening { thread_id: "t0".into(), ..opening(0) };
    let seal_of_t0 = Seal::of(&"t0".into(), &replayed.vote, &replayed.nonce);
    assert!(matches!(round.seal(seal_of_t0.clone(), 50), Err(SealFault::WrongThread(_))));
    // Renamed to this thread it is taken, and its opening does not fit: the digest covers the thread.
    round.seal(Seal { thread_id: "t1".into(), ..seal_of_t0 }, 50).unwrap();
    assert_eq!(round.open(replayed, 60), Err(SealFault::WrongThread("t0".into())));
    assert_eq!(round.open(opening(0), 60), Err(SealFault::Changed("a".into())));
    assert_eq!(round.finish().votes, []);
}

#[test]
fn seal_refuses_a_changed_opening() {
    type Change = fn(&mut Opening);
    let changes: [Change; 6] = [
        |o| o.vote.decision = Decision::Reject,
        |o| o.vote.confidence = 0.91,
        |o| o.vote.reasoning.push('.'),
        |o| o.vote.evidence.push("1".into()),
        |o| o.vote.family = "q".into(),
        |o| o.nonce.0[31] ^= 1,
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut round = sealed(&[0, 1, 2]);
        let mut changed = opening(0);
        change(&mut changed);
        assert_eq!(round.open(changed, 60), Err(SealFault::Changed("a".into())), "change {place}");
        // The sealed vote still counts in time; without it the member is absent for the change.
        let unmended = round.clone().finish();
        assert_eq!(absent(&unmended)[0], ("a", "the opening of member a is not the vote that it sealed"));
        round.open(opening(0), 61).unwrap();
        assert_eq!(round.finish().votes, [ballot(0)]);
    }
}

#[test]
fn seal_of_another_member_cannot_be_copied() {
    // Two members of one family: their votes differ in the member alone.
    let members = members("xxy");
    let original = vote(&members, 0, Decision::Approve);
    let copied = Vote { member: "b".into(), ..original.clone() };
    let seal = Seal::of(&"t1".into(), &original, &nonce(0));
    let mut round = Round::new(members, "t1".into(), DEADLINES);
    round.seal(seal.clone(), 50).unwrap();
    round.seal(Seal { member: "b".into(), ..seal }, 50).unwrap();
    round.open(Opening { vote: original, ..opening(0) }, 101).unwrap();
    assert_eq!(round.open(Opening { vote: copied, ..opening(0) }, 102), Err(SealFault::Changed("b".into())));
}

#[test]
fn seal_refuses_a_second_opening_and_one_without_a_seal() {
    let mut round = sealed(&[0, 1]);
    round.open(opening(0), 101).unwrap();
    assert_eq!(round.open(opening(0), 102), Err(SealFault::DoubleOpening("a".into())));
    assert_eq!(round.open(opening(2), 102), Err(SealFault::Unsealed("c".into())));
    assert_eq!(round.finish().votes, [ballot(0)]);
}

#[test]
fn seal_over_a_faulty_vote_opens_to_nothing() {
    let mut round = sealed(&[1, 2]);
    let faulty = Opening { vote: Vote { confidence: 1.5, ..ballot(0) }, ..opening(0) };
    round.seal(Seal::of(&"t1".into(), &faulty.vote, &faulty.nonce), 50).unwrap();
    let fault = round.open(faulty, 60).unwrap_err();
    assert!(matches!(fault, SealFault::Vote(VoteFault::Confidence { .. })), "{fault}");
    assert_eq!(absent(&round.finish())[0].1, "confidence 1.5 of member a is outside 0..=1");
}

#[test]
fn seal_hides_the_vote() {
    let digests: Vec<String> = [Decision::Approve, Decision::Reject]
        .iter()
        .flat_map(|decision| {
            let vote = Vote { decision: *decision, ..ballot(0) };
            [0, 1].map(|place| Seal::of(&"t1".into(), &vote, &nonce(place)).digest)
        })
        .collect();
    for (place, digest) in digests.iter().enumerate() {
        assert_eq!(digest.len(), 64);
        assert!(!digests[..place].contains(digest), "nonce and vote both change the digest");
    }
}

#[test]
fn nonce_survives_json_and_damaged_text_is_refused() {
    let text = serde_json::to_string(&nonce(9)).unwrap();
    assert_eq!(serde_json::from_str::<Nonce>(&text).unwrap(), nonce(9));
    for damaged in [&text[..65], "\"\"", &text.replace('0', "g"), &format!("\"{}\"", "é".repeat(32))] {
        assert!(serde_json::from_str::<Nonce>(damaged).is_err(), "{damaged}");
    }
}
