//! Author and committer of a commit, held against the record of the run that it brings.

use super::{Judge, Kind};
use crate::cycle::HUMAN;
use crate::delta::RunRecord;
use crate::model::layout;
use crate::store::{Commit, address_of_agent};

/// Why a commit is not by the one who made a run; `None`: it is.
///
/// A person's run is by people alone. An agent's is by that agent, whoever else committed it, or by a person who says of it that no agent's run it is:
/// a squash by hand.
pub(super) fn forged_author(commit: &Commit, record: &RunRecord) -> Option<String> {
    let is_persons = record.agent.as_str() == HUMAN;
    let own = (!is_persons && record.run.agent() == record.agent).then(|| address_of_agent(&record.agent));
    let by = |hand: &str| {
        let maker = if is_persons { "a person" } else { record.agent.as_str() };
        format!("is by {hand}, and its record says that {maker} made it")
    };
    if let Some(hand) = commit.agents_hands().find(|hand| own.as_deref() != Some(*hand)) {
        return Some(by(hand));
    }
    let is_right = is_persons || is_squashed(commit) || own.as_deref() == Some(commit.email.as_str());
    (!is_right).then(|| by(&commit.email))
}

/// Whether a person brings runs in a name of their own, and says no other.
pub(in crate::cycle) fn is_squashed(commit: &Commit) -> bool {
    commit.agents_hand().is_none() && ["Run", "Agent"].iter().all(|key| commit.trailer(key).is_none())
}

impl Judge<'_> {
    /// Refuses a commit in the name of an agent that did not make the run that it brings. A person who squashed an agent's run with its message, as
    /// the button of a forge does, is let in: the audit asks about it.
    pub(super) fn author(&mut self, commit: &Commit, record: &RunRecord) {
        if let Some(why) =
            forged_author(commit, record).filter(|_| self.is_audit || commit.agents_hands().next().is_some())
        {
            self.fault_of(Kind::Author, commit, &layout::run(&record.run), 1, why);
        }
    }
}
