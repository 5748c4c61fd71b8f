//! A council as a person looks at it: where it stands, and the memories that its votes cite.

use super::council::{CitedItem, CouncilReport};
use super::{Brain, BrainError};
use crate::council::minds::{most_alike, pasts};
use crate::council::record::{Council, CouncilRecord};
use crate::council::vote::Decision;
use crate::cycle::council::{CouncilOutline, Settled};
use crate::cycle::network::TreeNetwork;
use crate::model::ids::NeuronId;

/// The number of an item of evidence as voters write it: `3`, `[3]`, `item 3`.
fn number_of(item: &str) -> Option<usize> {
    item.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Whether a name may be the id of a council or the beginning of one.
fn could_be_id(name: &str) -> bool {
    (ID_PREFIX..=12).contains(&name.len()) && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Digits of an id that name a council at least: fewer are typed by mistake.
const ID_PREFIX: usize = 4;

impl Brain {
    /// Whether a name is the id of a council, or the beginning of one, and of no run.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn is_council(&self, name: &str) -> Result<bool, BrainError> {
        if !could_be_id(name) {
            return Ok(false);
        }
        let outlines = self.cycle.council_outlines()?;
        Ok(match outlines.iter().any(|outline| outline.id == name) {
            true => true,
            false => outlines.iter().any(|outline| outline.id.starts_with(name)) && !self.is_reviewed(name)?,
        })
    }

    /// The council of an id, or of its beginning, with its outcome.
    pub(super) fn council_named(&self, id: &str) -> Result<Council, BrainError> {
        let outlines = self.cycle.council_outlines()?;
        let named: Vec<_> = match outlines.iter().find(|outline| outline.id == id) {
            Some(outline) => vec![outline],
            None => outlines.iter().filter(|outline| could_be_id(id) && outline.id.starts_with(id)).collect(),
        };
        if let [one, other, ..] = named.as_slice() {
            return Err(BrainError::usage(format!("{id} begins the ids of councils {} and {}", one.id, other.id)));
        }
        let mut councils = self.cycle.councils_of(named)?;
        self.cycle.tell_outcomes(&mut councils)?;
        councils.pop().ok_or_else(|| BrainError::Usage {
            message: format!("there is no council {id}"),
            hint: Some("`git brain council --list` lists them".to_owned()),
        })
    }

    /// The report of a council, with the memories that its votes cite, and the past of its minds.
    pub(super) fn council_view(&self, council: Council, dry_run: bool) -> Result<CouncilReport, BrainError> {
        let cited = self.cited_in(&council.record)?;
        let outlines = self.cycle.council_outlines()?;
        let history: Vec<_> = self.cycle.past_councils()?.iter().filter_map(Council::past).collect();
        let (minds, most_alike) = (pasts(&council.record, &history), most_alike(&council.record, &history));
        Ok(CouncilReport { cited, minds, most_alike, ..self.council_line(council, &outlines, dry_run)? })
    }

    /// The report of a council as a list has it. `outlines` are those of all councils.
    pub(super) fn council_line(
        &self,
        council: Council,
        outlines: &[CouncilOutline],
        dry_run: bool,
    ) -> Result<CouncilReport, BrainError> {
        let settled = self.cycle.waits_no_more(&council, outlines)?;
        let withheld = self.cycle.withheld(&council.record)?;
        let is_decided = withheld.is_some() && self.cycle.is_run_decided(&council.record)?;
        let mut report = CouncilReport::of(council, dry_run);
        if let Some(why) = withheld {
            report.state = if is_decided { "settled" } else { "pending" };
            report.decision = Decision::Abstain;
            report.note = Some(format!("it decides nothing on its run: {why}"));
        }
        match settled {
            Some(Settled::AskedAgain(id)) => (report.state, report.superseded_by) = ("superseded", Some(id)),
            Some(Settled::ByRun) => report.state = "settled",
            None => {}
        }
        Ok(report)
    }

    fn cited_in(&self, record: &CouncilRecord) -> Result<Vec<CitedItem>, BrainError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(store.need_tip(store.wake())?)?);
        let mut cited = Vec::new();
        for cast in &record.votes {
            let vote = &cast.opening.vote;
            for item in &vote.evidence {
                let neuron = number_of(item).and_then(|number| record.evidence.get(number));
                let id = neuron.and_then(|id| NeuronId::parse(id).ok());
                let text = id.map(|id| network.neuron(&id)).transpose()?.flatten().map(|neuron| neuron.concept.clone());
                let (member, item, neuron) = (vote.member.to_string(), item.clone(), neuron.cloned());
                cited.push(CitedItem { member, item, neuron, text });
            }
        }
        // Votes are kept as they came.
        cited.sort_by(|one: &CitedItem, other| one.member.cmp(&other.member));
        Ok(cited)
    }
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn number_of_an_item_is_read_as_voters_write_it() {
        assert_eq!(["3", "[3]", "item 3", "#12."].map(number_of), [Some(3), Some(3), Some(3), Some(12)]);
        assert_eq!(["", "the note", "1 and 2"].map(number_of), [None, None, None]);
    }
}
