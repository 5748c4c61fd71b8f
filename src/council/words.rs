//! A verdict in words, as an answer to whoever asked.

use super::record::CouncilRecord;
use super::verdict::{Opinion, Verdict};
use super::vote::Decision;

impl Verdict {
    /// The votes in words: `2 of 3 members say yes, 1 says no`.
    pub fn votes_in_words(&self) -> String {
        let of = self.quorum.approve.members;
        let mut parts = Vec::new();
        let mut part = |count: usize, said: [&str; 2]| {
            if count > 0 {
                let whole = if parts.is_empty() { format!(" of {of} members") } else { String::new() };
                let [one, many] = said;
                parts.push(format!("{count}{whole} {}", if count == 1 { one } else { many }));
            }
        };
        part(self.quorum.approve.members_for, ["says yes", "say yes"]);
        part(self.quorum.reject.members_for, ["says no", "say no"]);
        part(self.abstentions.len(), ["abstains", "abstain"]);
        part(self.absent.len(), ["is absent", "are absent"]);
        parts.join(", ")
    }
}

impl CouncilRecord {
    /// The verdict with the reasons of all sides, for a conversation.
    pub fn answer(&self) -> String {
        let verdict = &self.verdict;
        let mut lines = Vec::new();
        lines.push(match (verdict.decision, verdict.escalates()) {
            (Decision::Approve, false) => format!("Yes, says the council, with confidence {:.2}.", verdict.confidence),
            (Decision::Reject, false) => format!("No, says the council, with confidence {:.2}.", verdict.confidence),
            _ => format!("The council leaves the answer to a person. Its votes: {}.", verdict.votes_in_words()),
        });
        lines.extend(verdict.concerns.iter().map(|concern| concern.sentence.clone()));
        let line = |one: &Opinion| {
            let heading = match one.decision {
                Decision::Approve => "Yes",
                Decision::Reject => "No",
                Decision::Abstain => "Abstains",
            };
            let reasoning = one.reasoning.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("- {heading}: {} ({}, {:.2}): {reasoning}", one.member, one.family, one.confidence)
        };
        lines.extend(verdict.support.iter().chain(&verdict.dissent).chain(&verdict.abstentions).map(line));
        lines.extend(verdict.absent.iter().map(|member| format!("- Absent: {member}")));
        lines.push(match verdict.escalates() {
            true => format!("`git brain approve {0}` answers yes, `git brain reject {0}` answers no.", self.id),
            false => format!("`git brain council --show {}` has the votes.", self.id),
        });
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, votes};
    use super::super::verdict::{Thresholds, decide};

    #[test]
    fn votes_in_words_name_each_side_and_who_is_missing() {
        let said = |decisions: &str| {
            let members = members(&"vwxyz"[..decisions.len()]);
            decide("tea?", &members, &votes(&members, decisions), &[], &Thresholds::default()).votes_in_words()
        };
        assert_eq!(said("RRR"), "3 of 3 members say no");
        assert_eq!(said("AR-."), "1 of 4 members says yes, 1 says no, 1 abstains, 1 is absent");
        assert_eq!(said("AARR"), "2 of 4 members say yes, 2 say no");
    }
}
