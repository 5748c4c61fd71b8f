//! One look at each neuron: which rules concern it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::ids::NeuronId;
use crate::model::settings::{Origins, Sleep};
use crate::model::{Kind, Neuron, Stamp};

/// When a sleep happens, and by which settings.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// The sleep's clock.
    pub at: Stamp,
    /// Its settings.
    pub settings: &'a Sleep,
    /// How far origins are trusted.
    pub origins: &'a Origins,
}

/// What a look at one neuron tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Its salience at the sleep's clock.
    pub salience: u16,
    /// Its salience when it was last written.
    pub peak: u16,
    /// It has fallen silent, and may be pruned if nothing protects it.
    pub silent: bool,
    /// A run has archived it, and no later one has touched it.
    pub archived: bool,
    /// One of its connections is too weak to be kept.
    pub weak: bool,
    /// Its origin needs approval before it may enter consolidated memory.
    pub tainted: bool,
}

impl Now<'_> {
    /// Looks at a neuron.
    ///
    /// It is silent if it was activated less than `prune_below` times and nothing touched it for `prune_age_days`: its own stamps say
    /// so, and so does the time of the last run that changed it, because a memory of long ago that was told yesterday is
    /// young to this brain. Core, pinned and bootstrap neurons are never silent.
    pub fn glance(&self, neuron: &Neuron) -> Glance {
        let touched = [
            neuron.created_at.unix(),
            neuron.last_salience_update.unix(),
            neuron.last_activated.map_or(i64::MIN, Stamp::unix),
            neuron.run.as_ref().map_or(i64::MIN, |run| run.unix_ms() / 1000),
        ];
        let newest = touched.into_iter().max().expect("invariant: the list is not empty");
        let age = self.at.unix().saturating_sub(newest);
        let old = age > i64::from(self.settings.prune_age_days) * 86_400;
        let protected = neuron.kind == Kind::Core || neuron.pinned || neuron.origin.as_str() == "bootstrap";
        Glance {
            salience: neuron.salience_at(self.at),
            peak: neuron.salience,
            silent: old && neuron.activation_count < self.settings.prune_below && !protected,
            archived: neuron.is_archived() && !protected,
            weak: neuron.connections.iter().any(|c| c.weight < self.settings.prune_weight),
            tainted: self.origins.is_tainted(&neuron.origin),
        }
    }

    /// Whether a neuron is a candidate for its salience alone.
    pub fn is_vivid(&self, glance: &Glance) -> bool {
        glance.salience > self.settings.threshold
    }
}

/// The candidates of a sleep: of what changed since the last one what is vivid now, and the `top` that were most vivid, however
/// far it has faded (a salience of 63640 falls to 50000 in a day).
pub fn candidates(
    vivid: impl IntoIterator<Item = NeuronId>,
    changed: impl IntoIterator<Item = (u16, NeuronId)>,
    top: usize,
) -> BTreeSet<NeuronId> {
    let mut ranked: Vec<(Reverse<u16>, NeuronId)> =
        changed.into_iter().filter(|(peak, _)| *peak > 0).map(|(peak, id)| (Reverse(peak), id)).collect();
    ranked.sort();
    vivid.into_iter().chain(ranked.into_iter().take(top).map(|(_, id)| id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Origin;
    use crate::model::ids::{AgentName, RunId};

    const DAY: i64 = 86_400;

    fn id(text: &str) -> NeuronId {
        NeuronId::parse(text).unwrap()
    }

    fn neuron(at: i64) -> Neuron {
        Neuron::new(id("a"), "a", Kind::Semantic, Stamp::from_unix(at))
    }

    fn glance(neuron: &Neuron, at: i64) -> Glance {
        Now { at: Stamp::from_unix(at), settings: &Sleep::default(), origins: &Origins::default() }.glance(neuron)
    }

    #[test]
    fn silence_needs_few_activations_and_a_long_time_untouched() {
        let (born, late) = (0, 366 * DAY);
        assert!(glance(&neuron(born), late).silent);
        assert!(!glance(&neuron(born), 365 * DAY).silent, "older than the bound, not as old");
        assert!(!glance(&Neuron { activation_count: 2, ..neuron(born) }, late).silent);
        assert!(!glance(&neuron(2 * DAY), late).silent);
        let told_yesterday = RunId::new(365 * DAY * 1000, 0, &AgentName::parse("memory").unwrap());
        assert!(!glance(&Neuron { run: Some(told_yesterday), ..neuron(born) }, late).silent);
        for kept in [
            Neuron { kind: Kind::Core, ..neuron(born) },
            Neuron { pinned: true, ..neuron(born) },
            Neuron { origin: Origin::bootstrap(), ..neuron(born) },
        ] {
            assert!(!glance(&kept, late).silent, "{kept:?}");
        }
    }

    #[test]
    fn weak_connections_and_taint_are_seen() {
        let mut weak = neuron(0);
        weak.set_weight(&id("b"), crate::model::Link::FeedsInto, 63);
        assert!(glance(&weak, 0).weak);
        weak.set_weight(&id("b"), crate::model::Link::FeedsInto, 64);
        assert!(!glance(&weak, 0).weak);
        assert!(glance(&Neuron { origin: Origin::parse("mcp:editor").unwrap(), ..neuron(0) }, 0).tainted);
    }

    #[test]
    fn the_vivid_and_the_most_vivid_of_the_day_are_candidates() {
        let day = [(100, id("x")), (300, id("y")), (200, id("z")), (300, id("b")), (0, id("never"))];
        let found = candidates([id("v")], day.clone(), 2);
        assert_eq!(found, BTreeSet::from([id("v"), id("y"), id("b")]));
        assert_eq!(candidates([], day, 9).len(), 4, "what was never active is none");
    }
}
