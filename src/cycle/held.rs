//! Runs that are held for a person before they land. Place in the flow: an applied delta and `[review]` of the settings → **held** → `commit`.

use super::commit::{Draft, HELD_AS_ASKED};
use super::{EVALUATOR, HUMAN};
use crate::delta::{Applied, Effect, Valued};
use crate::model::review::Review;
use crate::review::rules::{Facts, held_by, is_beside};

impl Draft {
    /// Holds the run for a person where a rule of `[review]` fits it. Rules are about agents: what people do, what judges and what makes
    /// the brain is no matter of theirs.
    pub fn hold_by_rules(&mut self, applied: &Applied, review: &Review) {
        let agent = self.run.agent();
        let does_nothing = self.does_nothing(applied);
        self.held = self.held.take().filter(|_| !does_nothing);
        if does_nothing || review.rule.is_empty() || [HUMAN, EVALUATOR, "bootstrap"].contains(&agent.as_str()) {
            return;
        }
        let effects: Vec<Effect> =
            applied.neurons.values().map(|(before, after)| Effect::between(before.as_ref(), after)).collect();
        let kinds = applied.neurons.values().flat_map(|(before, after)| before.iter().chain([after]));
        let types: Vec<String> = kinds.map(|neuron| neuron.kind.to_string()).collect();
        let expected = Valued::expected(self.document.prediction.as_ref()).value;
        let (agent, origin, operations) = (agent.as_str(), &self.origin, &self.document.ops);
        let beside = is_beside(operations.iter());
        let facts = Facts { agent, origin, effects: &effects, types: &types, operations, beside, expected };
        // Also where it waits already: who may decide is said by the rule.
        self.held = held_by(review, &facts).map(|rule| format!("rule {}", rule.name)).or(self.held.take());
    }

    /// Whether there is nothing to decide on: an agent had nothing to say, and the texts that it was shown replace none.
    fn does_nothing(&self, applied: &Applied) -> bool {
        let asked = self.held.as_deref() == Some(HELD_AS_ASKED) || self.run.agent().as_str() == HUMAN;
        let replaces = self.consumed.iter().any(|stimulus| !stimulus.supersedes.is_empty());
        !asked && !replaces && self.document.ops.is_empty() && applied.neurons.is_empty()
    }
}
