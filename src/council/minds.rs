//! The past of the minds of a council: how often each was right, and which two erred most alike.

use serde::Serialize;

use super::ids::{Family, MemberId, MindId};
use super::independence::{Correlations, PastQuestion, SharedErrors};
use super::record::{CouncilRecord, SeatRecord};
use super::vote::{Decision, Member, Members};

/// A mind on past questions with an outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MindPast {
    /// Its seats.
    pub members: Vec<MemberId>,
    /// Its family.
    pub family: Family,
    /// Its name.
    pub mind: String,
    /// Questions on which it was right.
    pub right: usize,
    /// Questions on which it was right or wrong.
    pub judged: usize,
}

/// Two minds of different families that voted alike, and whose errors agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlikeMinds {
    /// The seats of the one.
    pub one: Vec<MemberId>,
    /// The seats of the other.
    pub other: Vec<MemberId>,
    /// Their correlation of errors, and over how many questions.
    #[serde(flatten)]
    pub shared: SharedErrors,
}

/// Counts of how often each mind of a council was right, in the order of its members.
pub fn pasts(record: &CouncilRecord, history: &[PastQuestion]) -> Vec<MindPast> {
    let past = |(mind, seats): (MindId, Vec<&SeatRecord>)| {
        let erred: Vec<bool> = history.iter().filter_map(|question| question.has_erred(&mind)).collect();
        Some(MindPast {
            members: ids_of(&seats),
            family: seats.first()?.family.clone(),
            mind: seats.first()?.mind.clone(),
            right: erred.iter().filter(|erred| !**erred).count(),
            judged: erred.len(),
        })
    };
    seats_of_minds(record).into_iter().filter_map(past).collect()
}

/// The two minds of different families that voted alike and have the highest correlation of errors; `None`: no two have one above 0.
pub fn most_alike(record: &CouncilRecord, history: &[PastQuestion]) -> Option<AlikeMinds> {
    let member = |seat: &SeatRecord| Member { id: seat.id.clone(), family: seat.family.clone() };
    let members = Members::new(record.members.iter().map(member).collect()).ok()?;
    let correlations = Correlations::measure(&members, &record.minds(), history);
    let (minds, votes) = (seats_of_minds(record), record.votes_of_minds());
    let mut most: Option<AlikeMinds> = None;
    for (place, (one, seats)) in minds.iter().enumerate() {
        for (other, others) in &minds[place + 1..] {
            let (Some(seat), Some(twin)) = (seats.first(), others.first()) else { continue };
            let agree =
                votes.get(one).is_some_and(|vote| *vote != Decision::Abstain) && votes.get(one) == votes.get(other);
            let Some(shared) = correlations.shared(&seat.id, &twin.id) else { continue };
            let least = most.as_ref().map_or(0.0, |most| most.shared.correlation);
            if agree && seat.family != twin.family && shared.correlation > least {
                most = Some(AlikeMinds { one: ids_of(seats), other: ids_of(others), shared });
            }
        }
    }
    most
}

fn ids_of(seats: &[&SeatRecord]) -> Vec<MemberId> {
    seats.iter().map(|seat| seat.id.clone()).collect()
}

/// The seats of each mind, in the order of members.
fn seats_of_minds(record: &CouncilRecord) -> Vec<(MindId, Vec<&SeatRecord>)> {
    let mut minds: Vec<(MindId, Vec<&SeatRecord>)> = Vec::new();
    for seat in &record.members {
        match minds.iter_mut().find(|(mind, _)| *mind == seat.mind_id()) {
            Some((_, seats)) => seats.push(seat),
            None => minds.push((seat.mind_id(), vec![seat])),
        }
    }
    minds
}
