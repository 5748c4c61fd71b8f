//! Corrections: what a text may take the place of, and what a memory took the place of. Place in the flow: a feed → **correction** → what leaves;
//! answers → **correction** → what they replace. Must not write anything.

use std::collections::HashSet;

use super::gone::may_replace;
use super::person::is_of_another;
use super::{Brain, BrainError};
use crate::activation::recall::{Answer, Filters};
use crate::cycle::network::TreeNetwork;
use crate::cycle::snapshot::snapshot_beside;
use crate::limits;
use crate::model::ids::{NeuronId, StimulusId, TextHash, episode_id};
use crate::model::{Kind, Level, Neuron, Origin, Stimulus, layout};
use crate::store::CommitId;

/// Memories that say the same, as far as they are looked for and named.
pub(super) const TWINS: usize = 8;

/// A memory that is to be corrected.
pub(super) struct Corrected {
    pub id: NeuronId,
    /// Its stimulus.
    pub stimulus: Stimulus,
    /// Why it stays beside the new text, if it does.
    pub stays: Option<&'static str>,
}

/// Whether a text may take the place of a memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Correcting {
    May,
    /// Its origin is trusted less.
    TrustedLess,
    /// Another person said the memory, or told a program of hers to remember it.
    OfAnother,
}

impl Correcting {
    /// Why the memory stays, in words.
    fn why(self) -> Option<&'static str> {
        match self {
            Self::May => None,
            Self::TrustedLess => Some("it is trusted more than the new text"),
            Self::OfAnother => Some("another person said it, and the new text is not approved"),
        }
    }
}

impl Brain {
    /// Whether what comes from an origin may take the place of a memory: what waits for a person may propose it.
    fn may_correct(&self, (origin, source): (&Origin, Option<&str>), old: (&Origin, Option<&str>)) -> Correcting {
        let level = self.cycle.shared.policy.settings.origins.level(origin);
        match () {
            () if matches!(level, Level::Trusted | Level::Review) => Correcting::May,
            () if !may_replace(origin, old.0) => Correcting::TrustedLess,
            () if is_of_another((origin, source), old) => Correcting::OfAnother,
            () => Correcting::May,
        }
    }

    /// The memory that a text of an origin is to correct; `or_beside`: also one that it may not replace.
    pub(super) fn corrected(
        &self,
        id: &str,
        origin: &Origin,
        source: Option<&str>,
        or_beside: bool,
    ) -> Result<Corrected, BrainError> {
        let id = self.neuron_named(id, None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let usage = |message: String, hint: &str| BrainError::Usage { message, hint: Some(hint.to_owned()) };
        let Some(neuron) = network.neuron(&id)? else {
            return Err(usage(format!("there is no neuron {id}"), "`git brain recall` shows the ids of memories"));
        };
        let stimulus = match (&neuron.stimulus, neuron.kind) {
            (Some(stimulus), Kind::Episodic) => network.stimulus_ever(stimulus)?,
            _ => None,
        };
        let Some(stimulus) = stimulus else {
            return Err(usage(
                format!("{id} is no memory of anything that was fed: it is {}", neuron.kind),
                "a concept is changed by a delta: `git brain apply`, operation `reword`",
            ));
        };
        if neuron.pinned {
            return Err(BrainError::Refused {
                message: format!("{id} is pinned, and cannot be replaced"),
                hint: Some("take \"pinned\" out of its file first".to_owned()),
            });
        }
        let may = self.may_correct((origin, source), (&neuron.origin, neuron.source.as_deref()));
        if may != Correcting::May && !or_beside {
            let from = &neuron.origin;
            let why = match may {
                Correcting::OfAnother => format!("{origin} speaks for another person"),
                _ => format!("{origin} is trusted less than that"),
            };
            return Err(BrainError::Refused {
                message: format!("{id} comes from {from}, and {why}, and lands by itself"),
                hint: Some(format!(
                    "`[origins] {} = \"review\"` of main lets it propose, and a person decide",
                    origin.class()
                )),
            });
        }
        Ok(Corrected { id, stimulus, stays: may.why() })
    }

    /// The live memories that say a text word by word, but one.
    pub(super) fn twins(&self, but: &NeuronId, text: &str) -> Result<Vec<NeuronId>, BrainError> {
        let (store, wake) = (&self.cycle.store, self.at(None)?);
        let snapshot = snapshot_beside(store, store.tree_of(wake)?)?;
        let filters = Filters { top: Some(TWINS), ..Filters::default() };
        let now = self.cycle.shared.world.now();
        let (found, _) = self.cycle.recall(wake, &snapshot, text, filters, now, &mut |_, _| ())?;
        let same = found.into_iter().filter(|one| TextHash::of(&one.neuron.concept) == TextHash::of(text));
        let ids = same.flat_map(|one| one.copies.into_iter().chain([one.neuron]).map(|copy| copy.id));
        Ok(ids.filter(|id| id != but).collect())
    }

    /// The live memories that replaced one already, which the later correction replaces as well; none where one of them says the same.
    pub(super) fn corrections_of(
        &self,
        id: &NeuronId,
        old: &Stimulus,
        origin: (&Origin, Option<&str>),
        texts: &HashSet<TextHash>,
    ) -> Result<Vec<Stimulus>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        if !network.neuron(id)?.is_some_and(|neuron| neuron.is_archived()) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut stimuli = Vec::new();
        self.cycle.store.each_file(tree, layout::STIMULI, &mut |path, _| {
            if let layout::Place::Stimulus(id) = layout::Place::of(path) {
                stimuli.push(id);
            }
            Ok(())
        })?;
        for by in &stimuli {
            let Some(by) = network.stimulus_ever(by)?.filter(|by| by.supersedes.contains(&old.id)) else { continue };
            let by_id = episode_id(&by.id);
            let neuron = network.neuron(&by_id)?;
            if neuron.as_ref().is_some_and(Neuron::is_archived) {
                continue;
            }
            if texts.contains(&TextHash::of(&by.text)) {
                return Ok(Vec::new());
            }
            let from = neuron.as_ref().map_or(&by.origin, |neuron| &neuron.origin);
            let may = self.may_correct(origin, (from, by.source.as_deref()));
            if neuron.as_ref().is_some_and(|neuron| neuron.pinned) || may != Correcting::May {
                return Err(BrainError::Usage {
                    message: format!("{id} was replaced already, by {by_id}, which stays"),
                    hint: Some(format!("to correct what replaced it: git brain feed --corrects {by_id} …")),
                });
            }
            found.push(by);
        }
        Ok(found)
    }

    /// Says of answers which older memories they replace: one that is still believed stands beside them.
    pub(super) fn name_older(&self, commit: CommitId, answers: &mut [Answer]) -> Result<(), BrainError> {
        let (store, shared) = (&self.cycle.store, &self.cycle.shared);
        let network = TreeNetwork::remembering(store, store.tree_of(commit)?, &shared.neurons);
        for answer in answers.iter_mut().filter(|answer| answer.kind == Kind::Episodic) {
            let Some(stimulus) = network.shared(&answer.id)?.and_then(|neuron| neuron.stimulus.clone()) else {
                continue;
            };
            let mut older: Vec<NeuronId> = Vec::new();
            for id in self.older_than(&network, &stimulus)?.iter().map(|stimulus| episode_id(&stimulus.id)) {
                if network.shared(&id)?.is_some_and(|neuron| !neuron.is_archived()) {
                    break;
                }
                older.push(id);
            }
            answer.older = older;
        }
        Ok(())
    }

    /// The memories that a stimulus replaced, newest first, with what those replaced.
    pub(super) fn older_than(&self, network: &TreeNetwork<'_>, id: &StimulusId) -> Result<Vec<Stimulus>, BrainError> {
        let mut older: Vec<Stimulus> = Vec::new();
        let Some(newest) = self.cycle.readable(network.stimulus_ever(id))?.flatten() else { return Ok(older) };
        let mut next = newest.supersedes;
        let mut seen = HashSet::from([id.clone()]);
        while let Some(id) = (older.len() < limits::OLDER).then(|| next.pop()).flatten() {
            if !seen.insert(id.clone()) {
                continue;
            }
            if let Some(stimulus) = self.cycle.readable(network.stimulus_ever(&id))?.flatten() {
                next.extend(stimulus.supersedes.iter().cloned());
                older.push(stimulus);
            }
        }
        Ok(older)
    }
}
