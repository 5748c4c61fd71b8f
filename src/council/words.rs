//! A verdict in words, as an answer to whoever asked.

use super::record::CouncilRecord;
use super::verdict::Opinion;
use super::vote::Decision;

impl CouncilRecord {
    /// The verdict with the reasons of all sides, for a conversation.
    pub fn answer(&self) -> String {
        let verdict = &self.verdict;
        let mut lines = Vec::new();
        lines.push(match (verdict.decision, verdict.escalates()) {
            (Decision::Approve, false) => format!("Yes, says the council, with confidence {:.2}.", verdict.confidence),
            (Decision::Reject, false) => format!("No, says the council, with confidence {:.2}.", verdict.confidence),
            _ => "The council leaves the answer to a person.".to_owned(),
        });
        lines.extend(verdict.concerns.iter().map(|concern| concern.sentence.clone()));
        let is_decided = !verdict.support.is_empty();
        let heading = |default: &'static str, one: &Opinion| match (is_decided, one.decision) {
            (true, _) => default,
            (false, Decision::Approve) => "Yes",
            (false, Decision::Reject) => "No",
            (false, Decision::Abstain) => "Abstains",
        };
        let line = |heading: &str, one: &Opinion| {
            let reasoning = one.reasoning.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("- {heading}: {} ({}, {:.2}): {reasoning}", one.member, one.family, one.confidence)
        };
        lines.extend(verdict.support.iter().map(|one| line(heading("For", one), one)));
        lines.extend(verdict.dissent.iter().map(|one| line(heading("Against", one), one)));
        lines.extend(verdict.abstentions.iter().map(|one| line("Abstains", one)));
        lines.extend(verdict.absent.iter().map(|member| format!("- Absent: {member}")));
        lines.push(match verdict.escalates() {
            true => format!("`git brain approve {0}` or `git brain reject {0}` decides.", self.id),
            false => format!("`git brain council --show {}` has the votes.", self.id),
        });
        lines.join("\n")
    }
}
