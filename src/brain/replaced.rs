//! Memories that wait with what replaces them: a run that a person must approve replaces nothing before it lands. Place in the flow: a
//! landing → **replaced** → a run of `human` that archives.

use super::gone::{Leaving, may_replace};
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::Replaced;
use crate::delta::RunRecord;
use crate::model::ids::{RunId, StimulusId, episode_id};
use crate::model::review::Then;
use crate::review::REASON;

/// The landing that archives something.
pub(super) struct Landing<'a> {
    /// The run that landed.
    pub record: &'a RunRecord,
    /// Who approved it, as `Name <address>`; `None`: it landed by itself.
    pub by: Option<&'a str>,
}

impl Landing<'_> {
    /// The trigger of the run that archives: that of a review is taken back with it.
    pub fn reason(&self) -> String {
        self.by.map_or_else(|| "feed".to_owned(), |_| format!("{REASON}{}", self.record.run))
    }
}

impl Brain {
    /// Whether a rule of `[review]` may make the run of a feed wait.
    pub(super) fn rules_may_hold(&self) -> bool {
        self.cycle.shared.policy.settings.review.rule.iter().any(|rule| rule.then == Then::Wait)
    }

    /// Archives the memories that the stimuli of a landed run replace, where those stimuli are memories now. Returns the runs that archived.
    pub(super) fn archive_replaced(&self, landing: &Landing<'_>) -> Result<Vec<String>, BrainError> {
        let replaced = {
            let (store, shared) = (&self.cycle.store, &self.cycle.shared);
            let network = TreeNetwork::remembering(store, store.tree_of(self.at(None)?)?, &shared.neurons);
            self.cycle.replaced_by(&network, landing.record, true)?
        };
        // What a person has approved may replace anything: the belief diff says what goes.
        let may =
            |replaced: &Replaced| landing.by.is_some() || may_replace(&landing.record.origin, &replaced.neuron.origin);
        let leaving: Vec<Leaving> = replaced
            .into_iter()
            .filter(may)
            .map(|Replaced { by, stimulus, .. }| Leaving {
                reason: format!("replaced by {}", episode_id(&by)),
                stimulus,
                is_let_in: true,
            })
            .collect();
        self.archive(&leaving, Some(landing))
    }

    /// The same for runs that landed by themselves or by a merge; those that wake does not have are passed over.
    pub(super) fn archive_replaced_by<'r>(
        &self,
        runs: impl Iterator<Item = &'r str>,
    ) -> Result<Vec<String>, BrainError> {
        let mut archived = Vec::new();
        for run in runs.filter_map(|run| RunId::parse(run).ok()) {
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
            if let Some(record) = network.record(&run)? {
                archived.extend(self.archive_replaced(&Landing { record: &record, by: None })?);
            }
        }
        Ok(archived)
    }

    /// Those stimuli whose memory is live in wake.
    pub(super) fn live_of(&self, stimuli: &[StimulusId]) -> Result<usize, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let mut live = 0;
        for id in stimuli {
            live += usize::from(network.neuron(&episode_id(id))?.is_some_and(|neuron| !neuron.is_archived()));
        }
        Ok(live)
    }
}
