//! Words in the open that say the name of a subject: no key seals them, and they go on being told.

use std::collections::BTreeSet;

use super::{Brain, BrainError};
use crate::activation::recall::{Filters, answer};
use crate::cycle::goals;
use crate::cycle::network::TreeNetwork;
use crate::text;
use crate::wisdom::State as SeedState;

/// Answers that are looked through for the name of a subject.
const LOOKED_AT: usize = 200;
/// Ids that a note names.
const SHOWN: usize = 5;

impl Brain {
    /// A note about memories, goals and seeds that say a name, as far as recall finds them by it.
    pub(super) fn in_the_open(&self, name: &str) -> Result<Option<String>, BrainError> {
        let wake = self.at(None)?;
        let (snapshot, tree) = (self.snapshot_of(wake)?, self.cycle.store.tree_of(wake)?);
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let (shared, filters) = (&self.cycle.shared, Filters { top: Some(LOOKED_AT), ..Filters::default() });
        let name_of = Name::of(name);
        let mut ids = Vec::new();
        for found in answer(&snapshot.index(), name, shared.world.now(), &shared.policy.settings, &filters) {
            let neuron = network.neuron(&found.id)?;
            ids.extend(neuron.filter(|neuron| name_of.is_said(&neuron.concept)).map(|neuron| neuron.id.to_string()));
        }
        let goals = goals::all(&self.cycle.store, tree)?.into_iter().filter(|goal| name_of.is_said(&goal.text));
        ids.extend(goals.map(|goal| goal.id.to_string()));
        let seeds = self.cycle.standings(tree)?.into_iter().filter(|one| one.state != SeedState::Forgotten);
        let says = |text: &&String| name_of.is_said(text);
        let seeds = seeds.filter(|one| [&one.seed.condition, &one.seed.action, &one.seed.effect].iter().any(says));
        ids.extend(seeds.map(|one| one.id));
        let more = if ids.len() > SHOWN { format!(" and {} more", ids.len() - SHOWN) } else { String::new() };
        Ok((!ids.is_empty()).then(|| {
            format!(
                "{name} is named in words that no key seals, and goes on being told: {}{more}",
                ids[..ids.len().min(SHOWN)].join(", ")
            )
        }))
    }
}

/// A name as texts write it.
struct Name {
    letters: String,
    words: BTreeSet<String>,
}

impl Name {
    fn of(name: &str) -> Self {
        Self { letters: letters(name), words: words(name) }
    }

    /// Whether a text has all words of it, in whatever order and case, or its letters in a row.
    fn is_said(&self, text: &str) -> bool {
        !self.letters.is_empty()
            && (letters(text).contains(&self.letters) || !self.words.is_empty() && self.words.is_subset(&words(text)))
    }
}

fn letters(text: &str) -> String {
    text::fold(&text.to_lowercase()).chars().filter(|c| c.is_alphanumeric()).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    text::words(text).into_iter().map(|word| text::fold(&word.key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_found_however_it_is_written() {
        let name = Name::of("Dora Klein");
        for text in [
            "Dora Klein's refund",
            "dora klein was angry",
            "DORA KLEIN",
            "Dora-Klein wrote",
            "Klein, Dora: asked",
            "Dora\nKlein",
            "Dóra Klein",
        ] {
            assert!(name.is_said(text), "{text}");
        }
        for text in ["Dora was here", "Klein bottles", ""] {
            assert!(!name.is_said(text), "{text}");
        }
        assert!(Name::of("田中太郎").is_said("昨日、田中 太郎さんが来た"));
    }
}
