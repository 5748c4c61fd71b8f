//! The verdict: one function from votes to a decision, or to the reasons why a person must decide.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::diversity::{diversity, diversity_as_written};
use super::failure::{SharedFailure, shared_failures};
use super::ids::{Family, MemberId, rounded};
use super::independence::{Correlations, Minds, PastQuestion};
use super::printed::Printed;
use super::quorum::{Quorum, Tally};
use super::rules::MINDS;
use super::vote::{Ballot, Decision, Members, Refused, Vote};

/// Thresholds of a verdict, 0..=1 each. One that is no number makes every decision escalate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// The confidence below which a decision escalates.
    pub confidence: f64,
    /// The diversity below which the confidence is lowered.
    pub diversity: f64,
    /// The amount by which it is lowered.
    pub penalty: f64,
}

impl Default for Thresholds {
    /// The figures of the seed (3.3.3).
    fn default() -> Self {
        Self { confidence: 0.7, diversity: 0.3, penalty: 0.3 }
    }
}

impl Thresholds {
    /// The first threshold outside of 0 to 1, by name and value; `None`: all are in range.
    pub fn out_of_range(&self) -> Option<(&'static str, f64)> {
        let all = [("confidence", self.confidence), ("diversity", self.diversity), ("penalty", self.penalty)];
        all.into_iter().find(|(_, value)| !(0.0..=1.0).contains(value))
    }
}

/// A member's opinion, as a verdict lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// The member.
    pub member: MemberId,
    /// Its family.
    pub family: Family,
    /// Its decision.
    pub decision: Decision,
    /// Its confidence.
    pub confidence: f64,
    /// Its reasoning.
    pub reasoning: String,
}

impl From<&Vote> for Opinion {
    fn from(vote: &Vote) -> Self {
        let Vote { member, family, decision, confidence, reasoning, .. } = vote.clone();
        Self { member, family, decision, confidence, reasoning }
    }
}

/// The kind of a reason to escalate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConcernKind {
    /// Neither decision has enough members and families.
    NoQuorum,
    /// All members are of one family.
    OneFamily,
    /// Enough members and families agree, and they are too few minds.
    TooFewMinds,
    /// The confidence is below the threshold.
    LowConfidence,
    /// All votes agree and none is confident.
    UnanimousLowConfidence,
    /// Rejections give the same reasoning.
    IdenticalReasoning,
}

/// A reason to escalate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    /// Its kind.
    pub kind: ConcernKind,
    /// The reason in a sentence.
    pub sentence: String,
}

/// The verdict of a council.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The question.
    pub question: String,
    /// The decision; `abstain`: none was reached, or a shared failure withholds it.
    pub decision: Decision,
    /// The confidence of those for the decision, a family counting once, less the penalty; 0 without a decision.
    pub confidence: f64,
    /// The diversity of all cast votes.
    pub diversity: f64,
    /// The penalty that was taken off; 0: none.
    pub penalty: f64,
    /// Opinions for the decision.
    pub support: Vec<Opinion>,
    /// Opinions for the opposite. Without a decision: those for either.
    pub dissent: Vec<Opinion>,
    /// Opinions for neither.
    pub abstentions: Vec<Opinion>,
    /// Members without an admitted vote.
    pub absent: Vec<MemberId>,
    /// Votes that were refused, each with the reason.
    pub refused: Vec<Refused>,
    /// Reasons to escalate; empty: the decision stands without a person.
    pub concerns: Vec<Concern>,
    /// Both counts of both decisions, and the tolerated faults.
    pub quorum: Quorum,
    /// The result of the seed's printed rule, for comparison.
    pub printed: Printed,
}

impl Verdict {
    /// Whether a person must decide.
    pub fn escalates(&self) -> bool {
        !self.concerns.is_empty()
    }

    /// The first field that does not follow from members and votes; `None`: all do. Past questions can only lower the effective minds, and thresholds
    /// only add a concern about the confidence and a penalty: both are taken from the verdict itself.
    pub fn fault(&self, question: &str, members: &Members, votes: &[Vote]) -> Option<&'static str> {
        let (admitted, refused) = admit(members, votes);
        if !refused.is_empty() {
            return Some("votes");
        }
        let mut quorum = Quorum::count(members, &admitted, &Correlations::default());
        for (own, most) in [(&self.quorum.approve, &mut quorum.approve), (&self.quorum.reject, &mut quorum.reject)] {
            // A value that is no number, or below one mind, is not taken over, so that the counts differ.
            if own.minds <= most.minds && own.minds >= most.minds.min(1.0) {
                most.minds = own.minds;
            }
        }
        let beyond_all = |is_beyond: bool| if is_beyond { f64::INFINITY } else { f64::NEG_INFINITY };
        let is_unsure = self.concerns.iter().any(|concern| concern.kind == ConcernKind::LowConfidence);
        let thresholds = Thresholds {
            confidence: beyond_all(is_unsure),
            diversity: beyond_all(self.penalty > 0.0),
            penalty: self.penalty,
        };
        let due = settle(question, members, &admitted, (self.refused.clone(), quorum), &thresholds);
        let kinds = |of: &Self| of.concerns.iter().map(|concern| concern.kind).collect::<Vec<_>>();
        let fields = [
            ("question", self.question == due.question),
            ("quorum", self.quorum == due.quorum),
            ("decision", self.decision == due.decision),
            ("confidence", self.confidence == due.confidence && self.penalty == due.penalty),
            // Versions before compared reasonings as they are written.
            ("diversity", self.diversity == due.diversity || self.diversity == diversity_as_written(&admitted)),
            ("support", self.support == due.support),
            ("dissent", self.dissent == due.dissent),
            ("abstentions", self.abstentions == due.abstentions),
            ("absent", self.absent == due.absent),
            ("concerns", kinds(self) == kinds(&due)),
            ("printed", self.printed == due.printed),
        ];
        fields.into_iter().find(|(_, holds)| !holds).map(|(field, _)| field)
    }
}

/// Decides a question, each member being a mind of its own: by [`decide_by_minds`].
pub fn decide(
    question: &str,
    members: &Members,
    votes: &[Vote],
    history: &[PastQuestion],
    thresholds: &Thresholds,
) -> Verdict {
    let correlations = Correlations::measure(members, &Minds::default(), history);
    decide_by_minds(question, members, votes, &correlations, thresholds)
}

/// Decides a question.
///
/// Votes are admitted one by one; of a refused vote the reason is kept, and its member is absent unless another vote of it was admitted. Past
/// questions serve the correlation of errors alone; without any, families count as independent. The result depends on the order of votes
/// only where a member votes twice: its first vote stands.
pub fn decide_by_minds(
    question: &str,
    members: &Members,
    votes: &[Vote],
    correlations: &Correlations,
    thresholds: &Thresholds,
) -> Verdict {
    let (votes, refused) = admit(members, votes);
    let quorum = Quorum::count(members, &votes, correlations);
    settle(question, members, &votes, (refused, quorum), thresholds)
}

/// The verdict that follows from admitted votes and their counts.
fn settle(
    question: &str,
    members: &Members,
    votes: &[Vote],
    (refused, quorum): (Vec<Refused>, Quorum),
    thresholds: &Thresholds,
) -> Verdict {
    let failures = shared_failures(votes);
    let decision = if failures.is_empty() { quorum.decision() } else { Decision::Abstain };
    let diversity = diversity(votes);
    // Who abstains gives no reason for or against, and so makes two copies no more diverse.
    let taken: Vec<Vote> = votes.iter().filter(|vote| vote.decision != Decision::Abstain).cloned().collect();
    let is_diverse = diversity.min(self::diversity(&taken)) >= thresholds.diversity;
    let penalty = if is_diverse || decision == Decision::Abstain { 0.0 } else { thresholds.penalty };
    // `max` of NaN and 0 is 0, which escalates.
    let confidence = rounded((confidence_of(decision, votes) - penalty).max(0.0));
    let mut concerns: Vec<Concern> = one_family(members).into_iter().collect();
    concerns.extend(failures.iter().map(concern_of));
    if concerns.is_empty() {
        concerns.extend(undecided(&quorum).or_else(|| low_confidence(confidence, penalty, thresholds)));
    }
    let opinions = |has: &dyn Fn(Decision) -> bool| {
        votes.iter().filter(|vote| has(vote.decision)).map(Opinion::from).collect::<Vec<_>>()
    };
    let has_voted = |id: &MemberId| votes.iter().any(|vote| vote.member == *id);
    Verdict {
        question: question.to_owned(),
        decision,
        confidence,
        diversity,
        penalty,
        support: opinions(&|vote| vote == decision && vote != Decision::Abstain),
        dissent: opinions(&|vote| vote != decision && vote != Decision::Abstain),
        abstentions: opinions(&|vote| vote == Decision::Abstain),
        absent: members.iter().map(|member| &member.id).filter(|id| !has_voted(id)).cloned().collect(),
        refused,
        concerns,
        printed: Printed::of(members.count(), votes),
        quorum,
    }
}

fn admit(members: &Members, votes: &[Vote]) -> (Vec<Vote>, Vec<Refused>) {
    let mut ballot = Ballot::new(members);
    let mut refused = Vec::new();
    for vote in votes {
        if let Err(fault) = ballot.cast(vote.clone()) {
            refused.push(Refused { member: vote.member.clone(), reason: fault.to_string() });
        }
    }
    (ballot.into_votes(), refused)
}

/// The confidence of those for a decision: the mean over families of the mean of a family's members, so that copies cannot raise it.
fn confidence_of(decision: Decision, votes: &[Vote]) -> f64 {
    let mut families: BTreeMap<&Family, Vec<f64>> = BTreeMap::new();
    for vote in votes.iter().filter(|vote| vote.decision == decision && decision != Decision::Abstain) {
        families.entry(&vote.family).or_default().push(vote.confidence);
    }
    let mean = |of: &[f64]| if of.is_empty() { 0.0 } else { of.iter().sum::<f64>() / of.len() as f64 };
    mean(&families.values().map(|confidences| mean(confidences)).collect::<Vec<f64>>())
}

fn concern(kind: ConcernKind, sentence: String) -> Concern {
    Concern { kind, sentence }
}

fn concern_of(failure: &SharedFailure) -> Concern {
    let kind = match failure {
        SharedFailure::UnanimousLowConfidence { .. } => ConcernKind::UnanimousLowConfidence,
        SharedFailure::IdenticalReasoning { .. } => ConcernKind::IdenticalReasoning,
    };
    concern(kind, format!("The decision is withheld: {failure}."))
}

/// The reason of a council that is one mind.
fn one_family(members: &Members) -> Option<Concern> {
    let families = members.families();
    let family = families.first().filter(|_| families.len() == 1)?;
    let sentence = match members.count() {
        1 => format!("The only member is of family {family}: one mind is no council."),
        count => format!("All {count} members are of family {family}: copies of one mind count as one."),
    };
    Some(concern(ConcernKind::OneFamily, sentence))
}

/// The reason of a decision below the threshold.
fn low_confidence(confidence: f64, penalty: f64, thresholds: &Thresholds) -> Option<Concern> {
    let least = thresholds.confidence;
    if reaches(confidence, least) {
        return None;
    }
    let lowered = if penalty > 0.0 { format!(", {penalty:.2} taken off for low diversity") } else { String::new() };
    let sentence = format!("The confidence is {confidence:.2}{lowered}, below the threshold {least:.2}.");
    Some(concern(ConcernKind::LowConfidence, sentence))
}

/// The reason why no decision was reached. `None`: one was.
fn undecided(quorum: &Quorum) -> Option<Concern> {
    if quorum.decision() != Decision::Abstain {
        return None;
    }
    let tallies = [&quorum.approve, &quorum.reject];
    if let Some(tally) = tallies.into_iter().find(|tally| tally.has_members() && tally.has_families()) {
        let Tally { decision, minds, .. } = tally;
        let sentence = format!(
            "Enough members and families {decision}, but their past errors agree: they are {minds:.2} effective minds, \
             below {MINDS:.0}."
        );
        return Some(concern(ConcernKind::TooFewMinds, sentence));
    }
    let lacking = |tally: &Tally| match (tally.has_members(), tally.has_families()) {
        (true, _) => "too few families",
        (_, true) => "too few members",
        _ => "too few members and families",
    };
    let part = |tally: &Tally| {
        let Tally { decision, members_for, members, families_for, families, .. } = tally;
        let lacking = lacking(tally);
        format!("{members_for} of {members} members and {families_for} of {families} families {decision} ({lacking})")
    };
    let sentence = format!("No decision: {}, {}.", part(&quorum.approve), part(&quorum.reject));
    Some(concern(ConcernKind::NoQuorum, sentence))
}

/// Whether a value reaches a threshold. None reaches one that is no number.
fn reaches(value: f64, least: f64) -> bool {
    value >= least
}
