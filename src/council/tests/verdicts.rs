//! Verdicts: each reason to escalate, and the parts that are listed apart.

use super::super::independence::PastQuestion;
use super::super::verdict::{ConcernKind, Thresholds, Verdict, decide};
use super::super::vote::{Decision, Members, Vote};
use super::{SplitMix, members, vote, votes};

fn verdict(members: &Members, votes: &[Vote]) -> Verdict {
    decide("merge it?", members, votes, &[], &Thresholds::default())
}

fn kinds(verdict: &Verdict) -> Vec<ConcernKind> {
    verdict.concerns.iter().map(|concern| concern.kind).collect()
}

#[test]
fn verdict_of_healthy_unanimity_does_not_escalate() {
    for decisions in ["AAA", "RRR"] {
        let members = members("xyz");
        let verdict = verdict(&members, &votes(&members, decisions));
        assert_eq!((verdict.escalates(), verdict.confidence, verdict.penalty), (false, 0.9, 0.0));
        assert_eq!((verdict.support.len(), verdict.dissent.len()), (3, 0));
    }
}

#[test]
fn verdict_of_identical_rejections_escalates() {
    let members = members("xyz");
    let mut votes = votes(&members, "RRR");
    votes.iter_mut().for_each(|vote| vote.reasoning = "Policy forbids this, reject it now".into());
    let identical = verdict(&members, &votes);
    assert_eq!(kinds(&identical), [ConcernKind::IdenticalReasoning]);
    assert_eq!((identical.decision, identical.confidence), (Decision::Abstain, 0.0));
    assert_eq!(identical.quorum.decision(), Decision::Reject, "the counts stay visible");
    let sentence = &identical.concerns[0].sentence;
    assert!(sentence.starts_with("The decision is withheld: 3 of 3 rejections give the same reasoning"), "{sentence}");
    assert!(!identical.printed.escalates, "the printed rule does not see it");
    // Approvals for one reason stand, and lose confidence for their low diversity.
    votes.iter_mut().for_each(|vote| vote.decision = Decision::Approve);
    let alike = verdict(&members, &votes);
    assert_eq!((alike.decision, alike.confidence, alike.penalty), (Decision::Approve, 0.6, 0.3));
    assert_eq!(kinds(&alike), [ConcernKind::LowConfidence]);
    let sentence = &alike.concerns[0].sentence;
    assert_eq!(sentence, "The confidence is 0.60, 0.30 taken off for low diversity, below the threshold 0.70.");
}

#[test]
fn verdict_of_unanimous_low_confidence_escalates() {
    let members = members("xyz");
    let mut votes = votes(&members, "AAA");
    votes.iter_mut().for_each(|vote| vote.confidence = 0.4);
    let verdict = verdict(&members, &votes);
    assert_eq!(kinds(&verdict), [ConcernKind::UnanimousLowConfidence]);
    assert_eq!(verdict.decision, Decision::Abstain);
}

#[test]
fn verdict_of_one_family_says_so() {
    let members = members("xxxxx");
    let mut votes = votes(&members, "AAAAA");
    let unanimous = verdict(&members, &votes);
    assert_eq!((unanimous.decision, kinds(&unanimous)), (Decision::Abstain, vec![ConcernKind::OneFamily]));
    assert_eq!(unanimous.concerns[0].sentence, "All 5 members are of family x: copies of one mind count as one.");
    assert_eq!(unanimous.quorum.approve.minds, 1.0);
    assert_eq!(unanimous.printed.decision, Some(Decision::Approve), "the printed rule counts five");
    votes.iter_mut().for_each(|vote| (vote.decision, vote.reasoning) = (Decision::Reject, "no".into()));
    let identical = verdict(&members, &votes);
    assert_eq!(kinds(&identical), [ConcernKind::OneFamily, ConcernKind::IdenticalReasoning]);
}

#[test]
fn verdict_without_quorum_names_the_missing_count() {
    let members = members("xxxxxyz");
    let outvoted = verdict(&members, &votes(&members, "AAAAARR"));
    assert_eq!((outvoted.decision, kinds(&outvoted)), (Decision::Abstain, vec![ConcernKind::NoQuorum]));
    let expected = "No decision: 5 of 7 members and 1 of 3 families approve (too few families), \
                    2 of 7 members and 2 of 3 families reject (too few members).";
    assert_eq!(outvoted.concerns[0].sentence, expected);
    assert_eq!(outvoted.printed.decision, Some(Decision::Approve));
    assert_eq!((outvoted.support.len(), outvoted.dissent.len()), (0, 7), "without a decision both sides are listed");
}

#[test]
fn verdict_of_low_confidence_escalates_at_the_threshold() {
    let members = members("xyz");
    let with = |confidence: f64, thresholds: Thresholds| {
        let mut votes = votes(&members, "AAA");
        votes.iter_mut().for_each(|vote| vote.confidence = confidence);
        decide("q", &members, &votes, &[], &thresholds)
    };
    assert!(!with(0.7, Thresholds::default()).escalates(), "the mean of .7 three times is .7");
    let low = with(0.69, Thresholds::default());
    assert_eq!((low.decision, kinds(&low)), (Decision::Approve, vec![ConcernKind::LowConfidence]));
    for broken in [
        Thresholds { confidence: f64::NAN, ..Thresholds::default() },
        Thresholds { diversity: f64::NAN, penalty: f64::NAN, ..Thresholds::default() },
    ] {
        assert!(with(0.9, broken).escalates(), "a threshold that is no number is never reached");
    }
}

#[test]
fn verdict_confidence_is_that_of_the_supporters() {
    let members = members("wxyz");
    let mut votes = votes(&members, "AAAR");
    votes[3].confidence = 0.1;
    assert_eq!(verdict(&members, &votes).confidence, 0.9);
    votes[3].decision = Decision::Abstain;
    let abstained = verdict(&members, &votes);
    assert_eq!((abstained.confidence, abstained.dissent.len(), abstained.abstentions.len()), (0.9, 0, 1));
}

#[test]
fn verdict_confidence_counts_a_family_once() {
    let members = members("xxxxyz");
    let mut votes = votes(&members, "AAAAAA");
    for (vote, confidence) in votes.iter_mut().zip([1.0, 1.0, 1.0, 1.0, 0.5, 0.45]) {
        vote.confidence = confidence;
    }
    assert_eq!(verdict(&members, &votes).confidence, 0.65);
}

#[test]
fn verdict_lists_refused_votes_and_their_members_as_absent() {
    let members = members("wxyz");
    let mut votes = votes(&members, "AAAA");
    votes[3].reasoning = " ".into();
    votes.push(vote(&members, 0, Decision::Reject));
    votes.push(Vote { member: "stranger".into(), ..vote(&members, 0, Decision::Reject) });
    let verdict = verdict(&members, &votes);
    let reasons: Vec<&str> = verdict.refused.iter().map(|refused| refused.reason.as_str()).collect();
    let expected =
        ["member d gives no reasoning", "member a has voted already", "stranger is not a member of this council"];
    assert_eq!(reasons, expected);
    assert_eq!(verdict.absent, ["d".into()]);
    assert_eq!(verdict.decision, Decision::Approve);
}

/// Past questions on which all members erred together, half of the time.
fn shared_errors(members: &Members) -> Vec<PastQuestion> {
    let question = |place: usize| PastQuestion {
        outcome: Decision::Approve,
        votes: members.iter().map(|m| ((&m.id).into(), [Decision::Approve, Decision::Reject][place % 2])).collect(),
    };
    (0..90).map(question).collect()
}

#[test]
fn verdict_of_members_with_shared_errors_escalates() {
    let members = members("wxyz");
    let votes = votes(&members, "AAAA");
    let discounted = decide("q", &members, &votes, &shared_errors(&members), &Thresholds::default());
    assert_eq!((discounted.decision, kinds(&discounted)), (Decision::Abstain, vec![ConcernKind::TooFewMinds]));
    assert_eq!(discounted.quorum.approve.minds, 1.081081, "4 / (1 + 3 * .9)");
    assert!(discounted.concerns[0].sentence.ends_with("they are 1.08 effective minds, below 2."));
    assert!(!verdict(&members, &votes).escalates());
}

/// The order of votes changes nothing, as long as no member votes twice.
#[test]
fn verdict_does_not_depend_on_the_order_of_votes() {
    let mut random = SplitMix(3);
    let members = members("xxyyzw");
    for _ in 0..300 {
        let decisions: String = (0..6).map(|_| ['A', 'A', 'R', '-', '.'][random.below(5)]).collect();
        let mut votes = votes(&members, &decisions);
        votes.iter_mut().for_each(|vote| vote.confidence = random.unit());
        let expected = verdict(&members, &votes);
        for place in (1..votes.len()).rev() {
            votes.swap(place, random.below(place + 1));
        }
        assert_eq!(verdict(&members, &votes), expected);
    }
}

#[test]
fn verdict_survives_json() {
    let members = members("xyz");
    let expected = verdict(&members, &votes(&members, "AR."));
    let text = serde_json::to_string(&expected).unwrap();
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), expected);
}

#[test]
fn verdict_without_votes_escalates() {
    let members = members("xyz");
    let verdict = verdict(&members, &[]);
    assert_eq!((verdict.decision, kinds(&verdict)), (Decision::Abstain, vec![ConcernKind::NoQuorum]));
    assert_eq!(verdict.absent.len(), 3);
    assert_eq!(verdict.printed.decision, None);
}
