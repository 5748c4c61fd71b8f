//! Operations that leave something beside the neurons: answers, outcomes, goals.

use super::{ApplyError, ERROR_TOLERANCE, Lookup, Reason, Work};
use crate::delta::ledger::{LedgerEntry, Method, Valued};
use crate::delta::operation::{Deliberate, Outcome, SetGoal};
use crate::limits;
use crate::model::Acknowledgement;
use crate::model::deliberation::DeliberationCycle;
use crate::model::document::{Goal, GoalLevel};
use crate::model::ids::{GoalId, SignalId};
use crate::model::neuron::check_concept;
use crate::model::sealed::{SealedRecord, Sealing};
use crate::model::wisdom::{Polarity, Seed, Teaching, WisdomRecord};
use crate::model::within;

impl<L: Lookup> Work<'_, L> {
    pub(super) fn acknowledge(
        &mut self,
        id: &SignalId,
        payload: &serde_json::Value,
    ) -> Result<(), ApplyError<L::Error>> {
        let found = self.lookup.signal(&self.author.agent, id).map_err(ApplyError::Lookup)?;
        let twice = self.out.acknowledgements.iter().any(|a| a.signal == *id);
        match found {
            None => Err(self.refuse(Reason::NoSignal(id.clone()))),
            Some((_, true)) => Ok(()),
            Some(_) if twice => Ok(()),
            Some((signal, false)) => {
                self.out.acknowledgements.push(Acknowledgement {
                    signal: signal.id,
                    by: self.author.agent.clone(),
                    run: self.author.run.clone(),
                    created_at: self.author.clock,
                    payload: payload.clone(),
                });
                Ok(())
            }
        }
    }

    /// Enters an outcome into the ledger. Weights change by `reinforce`, beside it.
    pub(super) fn outcome(&mut self, op: &Outcome) -> Result<(), ApplyError<L::Error>> {
        if self.out.outcome.is_some() {
            return Err(self.refuse(Reason::SecondOutcome));
        }
        let found = self.lookup.record(&op.run).map_err(ApplyError::Lookup)?;
        let Some(record) = found else { return Err(self.refuse(Reason::NoRun(op.run.clone()))) };
        let prediction = Valued::expected(record.prediction.as_ref());
        let is_kept = op.text.is_some() && op.error == 0.0;
        if (op.method == Method::Unjudged && !is_kept)
            || (op.error - (op.value - prediction.value)).abs() > ERROR_TOLERANCE
        {
            let (value, prediction) = (op.value.to_string(), prediction.value.to_string());
            return Err(self.refuse(Reason::WrongError { value, prediction }));
        }
        if record.prediction.as_ref().and_then(|p| p.value).is_none() {
            self.out.notes.push(format!("{} stated no value: {} is assumed", op.run, prediction.value));
        }
        self.out.outcome = Some(LedgerEntry {
            run: self.author.run.clone(),
            judged: op.run.clone(),
            agent: op.run.agent(),
            at: self.author.clock,
            prediction,
            outcome: Valued { text: op.text.clone(), value: op.value },
            error: op.error,
            method: op.method,
            chosen: record.prediction.as_ref().and_then(|p| p.chosen.clone()),
            pathway: op.pathway.clone(),
        });
        Ok(())
    }

    /// Enters a cycle of a deliberation.
    pub(super) fn deliberate(&mut self, op: &Deliberate) -> Result<(), ApplyError<L::Error>> {
        if self.out.deliberation.is_some() {
            return Err(self.refuse(Reason::SecondCycle));
        }
        self.out.deliberation = Some(DeliberationCycle {
            run: self.author.run.clone(),
            goal: op.goal.clone(),
            at: self.author.clock,
            cycle: op.cycle.clone(),
        });
        Ok(())
    }

    /// Enters what was learnt. An agent's seeds rest on runs that are here: the word of a person and of another brain is a person's to bring.
    pub(super) fn wisdom(&mut self, teaching: &Teaching) -> Result<(), ApplyError<L::Error>> {
        if self.out.wisdom.is_some() {
            return Err(self.refuse(Reason::SecondTeaching));
        }
        for seed in &teaching.seeds {
            if self.allowed.is_some() && (seed.sources.is_empty() || seed.inherited.is_some()) {
                return Err(self.refuse(Reason::Unfounded(seed.id())));
            }
            for run in &seed.sources {
                if self.lookup.record(run).map_err(ApplyError::Lookup)?.is_none() {
                    return Err(self.refuse(Reason::NoRun(run.clone())));
                }
            }
        }
        let (run, at) = (self.author.run.clone(), self.author.clock);
        let mut teaching = teaching.clone();
        if self.allowed.is_some() {
            for seed in &mut teaching.seeds {
                let effect = self.effect_of(seed)?;
                if effect != seed.effect {
                    self.out.notes.push(format!("{}: its effect is what came of its runs: {effect}", seed.id()));
                    seed.effect = effect;
                }
            }
        }
        self.out.wisdom = Some(WisdomRecord { run, at, teaching });
        Ok(())
    }

    /// Enters sealed memories. No agent does, whatever its definition says: what it could seal, it was shown.
    pub(super) fn seal(&mut self, sealing: &Sealing) -> Result<(), ApplyError<L::Error>> {
        if self.allowed.is_some() {
            return Err(self.refuse(Reason::Sealing));
        }
        if self.out.sealed.is_some() {
            return Err(self.refuse(Reason::SecondSealing));
        }
        let (run, at) = (self.author.run.clone(), self.author.clock);
        self.out.sealed = Some(SealedRecord { run, at, sealing: sealing.clone() });
        Ok(())
    }

    /// What came of the runs that a seed cites, in the newest words: an agent says no effect of its own.
    fn effect_of(&self, seed: &Seed) -> Result<String, ApplyError<L::Error>> {
        let came = self.lookup.outcomes(&seed.sources).map_err(ApplyError::Lookup)?;
        let is_said = |entry: &&LedgerEntry| match seed.polarity {
            Polarity::Do => entry.outcome.value > 0.5,
            Polarity::Avoid => entry.outcome.value < 0.5,
        };
        let texts = came.iter().filter(is_said).filter_map(|entry| entry.outcome.text.as_deref());
        let mut texts = texts.map(|text| within(text, limits::SEED_TEXT_BYTES).trim());
        Ok(texts.find(|text| check_concept(text).is_ok()).unwrap_or(seed.polarity.plain_effect()).to_owned())
    }

    pub(super) fn goal(&mut self, op: &SetGoal) -> Result<(), ApplyError<L::Error>> {
        let id = op.goal_id();
        let there = self.find_goal(&id)?;
        let terminal =
            op.level == GoalLevel::Terminal || there.as_ref().is_some_and(|g| g.level == GoalLevel::Terminal);
        if terminal && self.allowed.is_some() {
            return Err(self.refuse(Reason::Terminal(id)));
        }
        let own = there.as_ref().is_none_or(|g| g.run.as_ref().is_some_and(|run| run.agent() == self.author.agent));
        self.check(|limits, _| limits.check_goal(&id, own))?;
        if let Some(neuron) = &op.neuron {
            self.require(neuron)?;
        }
        if let Some(parent) = &op.parent
            && (*parent == id || self.find_goal(parent)?.is_none())
        {
            return Err(self.refuse(Reason::NoGoal(parent.clone())));
        }
        let goal = Goal {
            id: id.clone(),
            text: op.text.clone(),
            level: op.level,
            neuron: op.neuron.clone(),
            parent: op.parent.clone(),
            state: op.state,
            at: self.author.clock,
            run: Some(self.author.run.clone()),
        };
        self.out.goals.insert(id, goal);
        Ok(())
    }

    /// A goal as this delta has it so far.
    pub(super) fn find_goal(&self, id: &GoalId) -> Result<Option<Goal>, ApplyError<L::Error>> {
        match self.out.goals.get(id) {
            Some(goal) => Ok(Some(goal.clone())),
            None => self.lookup.goal(id).map_err(ApplyError::Lookup),
        }
    }
}
