//! A message that a council answers: its verdict with reasons and dissent, and the record of it.

use std::collections::BTreeMap;

use super::talk::Talk;
use super::{ChainNode, ChatAnswer, ChatEvent};
use crate::cognition::chain::{Mode, Why};
use crate::cognition::exchange::Usage;
use crate::council::ids::MemberId;
use crate::council::record::{CouncilRecord, SeatRecord};
use crate::cycle::CycleError;
use crate::cycle::council::{Convened, Spent};
use crate::cycle::network::TreeNetwork;
use crate::cycle::policy::HUMAN;
use crate::limits;
use crate::model::ids::{AgentName, NeuronId};

/// The step that a council is.
const STEP: &str = "council";

impl Talk<'_, '_> {
    /// Asks the council of main, or the three rules, and words what it decided.
    ///
    /// # Errors
    /// The message is longer than a question may be; the document is not trusted or names no council.
    pub(super) fn council_answer(&mut self, dry_run: bool) -> Result<ChatAnswer, CycleError> {
        let mode = Mode::Council;
        self.say(ChatEvent::Begins { conversation: self.name.clone(), mode, why: "it was asked for".to_owned() });
        let most = limits::COUNCIL_QUESTION_BYTES;
        if self.message.len() > most {
            return Err(CycleError::usage(format!(
                "a council is asked at most {most} bytes, and the message has {}",
                self.message.len()
            )));
        }
        let cycle = self.cycle;
        let notes = cycle.council_notes(&self.message, None)?;
        // In the answer itself: whoever reads a document of fixed fields reads no notes.
        let earlier = cycle.earlier_councils(&self.message)?;
        let earlier: Vec<String> = earlier.iter().map(|one| format!("\n- {}", one.sentence())).collect();
        let earlier = if earlier.is_empty() { String::new() } else { format!("\n\nEarlier:{}", earlier.concat()) };
        let person = AgentName::parse(HUMAN).expect("invariant: a name");
        let newest = cycle.newest_run(self.tip)?;
        let (record, spent) = cycle.hold_paid_council(&Convened {
            council: cycle.new_run_id(&person, self.tip, newest.as_ref(), &[b"council", self.message.as_bytes()], 0)?,
            question: &self.message,
            document: None,
            timeout_ms: limits::COUNCIL_TIMEOUT_S * 1000,
            run: None,
            binds: false,
            cue: None,
            by: cycle.store.person(),
        })?;
        if !dry_run {
            cycle.keep_council(&record)?;
        }
        // Memories that members were shown stand behind the answer.
        let network = TreeNetwork::new(&cycle.store, cycle.store.tree_of(self.tip)?);
        for id in record.evidence.iter().filter_map(|id| NeuronId::parse(id).ok()) {
            if let Some(neuron) = network.neuron(&id)? {
                self.tools.shown(&neuron);
            }
        }
        let chain = members(&record, &spent);
        let voted = record.members.iter().filter(|seat| has_voted(&record, seat));
        for (seat, ChainNode { node, model, turns, duration_ms, .. }) in voted.zip(&chain) {
            let (node, model, turns, duration_ms) = (node.clone(), model.clone(), *turns, *duration_ms);
            let usage = spent.get(&seat.id).map_or_else(Usage::default, |spent| spent.usage);
            let price = cycle.shared.policy.settings.models.get(&model).filter(|_| turns > 0);
            let cost = price.map_or(0, |price| price.cost(usage.input, usage.output).micros);
            self.say(ChatEvent::StepBegins { node: node.clone(), model: model.clone() });
            self.say(ChatEvent::StepEnds { node, model, turns, duration_ms, usage, cost, stopped: None });
        }
        for refused in &record.verdict.refused {
            let (node, why) = (refused.member.to_string(), refused.reason.clone());
            self.say(ChatEvent::Skipped { node, model: String::new(), cause: Why::Refused, why });
        }
        Ok(ChatAnswer {
            reply: record.answer() + &earlier,
            mode,
            turns: chain.iter().map(|node| node.turns).sum(),
            chain,
            tools_used: Vec::new(),
            conversation: self.name.clone(),
            citations: Vec::new(),
            by: STEP.to_owned(),
            said: record.reasonings_of_models().join("\n"),
            notes,
        })
    }
}

fn has_voted(record: &CouncilRecord, seat: &SeatRecord) -> bool {
    record.votes.iter().any(|cast| cast.opening.vote.member == seat.id)
}

/// Members that voted, as steps.
fn members(record: &CouncilRecord, spent: &BTreeMap<MemberId, Spent>) -> Vec<ChainNode> {
    let node = |seat: &SeatRecord| {
        let spent = spent.get(&seat.id).copied().unwrap_or_default();
        let (kind, named) = seat.mind.split_once(':').unwrap_or((&seat.mind, ""));
        let is_model = kind == "model";
        // The arguments of a program are no name.
        let model = if is_model { named } else { kind };
        ChainNode {
            node: seat.id.to_string().split_whitespace().collect::<Vec<_>>().join("-"),
            model: model.to_owned(),
            turns: spent.turns,
            tools_used: Vec::new(),
            duration_ms: spent.duration_ms,
        }
    };
    record.members.iter().filter(|seat| has_voted(record, seat)).map(node).collect()
}
