//! Recall at a commit: from a question to the best memories, read from git, with what is not trusted held back. For whoever
//! asks: a person, or a tool that a model calls.

use std::collections::{BTreeMap, HashMap};

use super::code::Here;
use super::conversation::talk_of;
use super::network::TreeNetwork;
use super::{Cycle, CycleError, EmbeddingProgress, Meaning};
use crate::activation::Snapshot;
use crate::activation::recall::{Filters, Found, answer_trusted, found_talk, talk};
use crate::limits;
use crate::model::ids::{HUMAN, NeuronId, concept_id};
use crate::model::settings::Origins;
use crate::model::{Kind, Neuron, Origin, Stamp, plural};
use crate::store::CommitId;
use crate::text;
use crate::text::talk::{Said, Talk, is_said_in};

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// How it was found.
    pub found: Found,
    /// What it says.
    pub neuron: Neuron,
    /// Other memories that were found and say the same, best first.
    pub copies: Vec<Neuron>,
}

/// Circumstances of a question: when it is asked, for how much room, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The moment of whose salience memories are.
    pub now: Stamp,
    /// So many tokens are to be enough for all texts together.
    pub tokens: Option<usize>,
    /// The sessions of the person who asks: what she said in them herself is as good as trusted to her.
    pub own: Option<&'a Origin>,
}

/// What was found, best first, and what a person should know about it.
pub type Remembered = (Vec<Recalled>, Vec<String>);

/// How a neuron is read.
type NeuronById<'a> = &'a dyn Fn(&NeuronId) -> Result<Option<Neuron>, CycleError>;

impl Cycle {
    /// The best memories of a commit for a question, no two of which say the same. The vectors of embeddings are filled in where the
    /// settings ask for them. Salience is that of the moment `now`.
    ///
    /// # Errors
    /// Neurons that cannot be read. An endpoint that fails is a note.
    pub fn recall(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: Filters,
        now: Stamp,
        progress: EmbeddingProgress<'_>,
    ) -> Result<Remembered, CycleError> {
        self.recall_fitting(commit, snapshot, query, filters, Asker { now, tokens: None, own: None }, progress)
    }

    /// [`Cycle::recall`] of memories whose texts fit into so many tokens together: one that does not fit makes room for worse ones
    /// that do. Without a `top` of its own, tokens alone bound the answer.
    ///
    /// # Errors
    /// The same.
    pub fn recall_fitting(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: Filters,
        asker: Asker<'_>,
        progress: EmbeddingProgress<'_>,
    ) -> Result<Remembered, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let neuron = |id: &NeuronId| network.neuron(id);
        self.recall_by(commit, snapshot, query, filters, asker, (progress, &neuron))
    }

    /// [`Cycle::recall`] as it would be if these neurons were otherwise, or gone; `snapshot` has them.
    ///
    /// # Errors
    /// The same.
    pub fn recall_if(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: Filters,
        changed: &BTreeMap<NeuronId, Option<Neuron>>,
    ) -> Result<Remembered, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let neuron = |id: &NeuronId| match changed.get(id) {
            Some(changed) => Ok(changed.clone()),
            None => Ok(network.neuron(id)?),
        };
        let now = self.shared.world.now();
        let asker = Asker { now, tokens: None, own: None };
        self.recall_by(commit, snapshot, query, filters, asker, (&mut |_, _| (), &neuron))
    }

    fn recall_by(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: Filters,
        Asker { now, tokens, own }: Asker<'_>,
        (progress, neuron): (EmbeddingProgress<'_>, NeuronById<'_>),
    ) -> Result<Remembered, CycleError> {
        let settings = &self.shared.policy.settings;
        let Meaning { alike, mut notes } = self.meaning(commit, snapshot, query, progress)?;
        let top = filters.top;
        let mut filters = Filters { meaning: alike, ..filters };
        let index = snapshot.index();
        let said = |found: &Found| index.graph.find(&found.id).map_or(0, |node| index.text_hash(node));
        // An untrusted memory changes no older one.
        let origins = &settings.origins;
        let is_own = |neuron: &Neuron| own.is_some_and(|own| is_said_in(own, &neuron.origin, neuron.source.as_deref()));
        let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin) && !is_own(neuron);
        filters.tainted = origins.tainted_bits();
        let bits = filters.tainted;
        let is_tainted = |id: &NeuronId| index.graph.find(id).is_some_and(|node| index.origins(node) & bits != 0);
        let is_trusted = |id: &str| NeuronId::parse(id).is_ok_and(|id| !is_tainted(&id));
        let mut ask = |most: usize, apart: Option<usize>| {
            (filters.top, filters.apart) = (Some(most), apart);
            let found = answer_trusted(&index, query, now, settings, &filters, &is_trusted);
            let is_all = found.len() < most;
            (together(found, said), is_all)
        };
        // Concepts stay where the memories that made them are archived: nobody asks for those. Reflexes name them by their normal form; what a person
        // named, or an agent under an id of its own, was stated, however often it was active.
        let is_remnant = |neuron: &Neuron| {
            let leads = || index.graph.find(&neuron.id).is_some_and(|node| index.leads_to_memory(node));
            let namer = neuron.named_by.concept.run.as_ref().or(neuron.run.as_ref());
            let is_made_of_text =
                || namer.is_none_or(|run| run.agent().as_str() != HUMAN) && concept_id(&neuron.concept) == neuron.id;
            neuron.kind == Kind::Semantic && neuron.activation_count > 0 && is_made_of_text() && !leads()
        };
        let read = |found: &Found| Ok(neuron(&found.id)?.filter(|neuron| !is_remnant(neuron)));
        let places = top.unwrap_or(settings.recall.top);
        let most = tokens.map_or(places, |_| places.max(limits::FITTED_MEMORIES));
        let here = self.here(self.store.tree_of(commit)?);
        // Where memories of another line of the code move down, others are there to take their places.
        let read_most = most.saturating_add(if here.is_some() { limits::SPARE_MEMORIES } else { 0 });
        let spare = read_most.saturating_add(limits::SPARE_MEMORIES);
        let (mut found, is_all) = ask(spare, Some(spare.saturating_mul(2)));
        if found.len() < read_most && !is_all {
            (found, _) = ask(limits::RANKED_WIDELY.max(read_most), None);
        }
        let is_any_tainted = found.iter().take(read_most).flatten().any(|found| is_tainted(&found.id));
        if !is_any_tainted {
            found.truncate(read_most);
        }
        let mut found = as_far_as(found, if is_any_tainted { read_most } else { usize::MAX }, tainted, read)?;
        if let Some(here) = &here {
            prefer_here(&mut found, here, read_most);
        }
        if is_any_tainted {
            hold_back_tainted(&mut found, most, places, origins, tainted);
        }
        found.truncate(most);
        if let Some(tokens) = tokens {
            notes.extend(keep_fitting(&mut found, Some(tokens)));
            found.truncate(top.unwrap_or(usize::MAX));
        }
        Ok((found, notes))
    }

    /// The best turns of conversations of a commit for a question: what was asked, ordered and answered, and is no evidence. `said`
    /// leaves out what the other side said.
    ///
    /// # Errors
    /// Neurons that cannot be read.
    pub fn recall_talk(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: &Filters,
        said: Said,
    ) -> Result<Vec<Recalled>, CycleError> {
        let (index, now) = (snapshot.index(), self.shared.world.now());
        let top = filters.top.unwrap_or(self.shared.policy.settings.recall.top);
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let mut turns = Vec::new();
        for (node, score) in talk(&index, query, now, filters) {
            if turns.len() == top {
                break;
            }
            let Some(found) = found_talk(&index, node, score, now) else { continue };
            let Some(neuron) = network.neuron(&found.id)? else { continue };
            let is_answer = talk_of(&neuron) == Some(Talk::Answer);
            if said == Said::ByBoth || is_answer == (said == Said::ByBrain) {
                turns.push(Recalled { found, neuron, copies: Vec::new() });
            }
        }
        Ok(turns)
    }
}

/// What was found, best first, with those that say the same at the place of the best of them. `said`: what tells equal texts; 0 is
/// equal to nothing.
fn together(found: Vec<Found>, said: impl Fn(&Found) -> u64) -> Vec<Vec<Found>> {
    let mut groups: Vec<Vec<Found>> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for found in found {
        let said = said(&found);
        let place = *places.entry(said).or_insert(groups.len());
        match groups.get_mut(place).filter(|_| said != 0) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups
}

/// What was found with its neurons, best first, until so many are there whose best is not tainted. What comes after them has no greater
/// activation, and of the tainted an even smaller one: none of it is among the best. Of those that say the same, one that is not tainted stands
/// for the others.
fn as_far_as(
    found: Vec<Vec<Found>>,
    enough: usize,
    tainted: impl Fn(&Neuron) -> bool,
    read: impl Fn(&Found) -> Result<Option<Neuron>, CycleError>,
) -> Result<Vec<Recalled>, CycleError> {
    let (mut kept, mut trusted) = (Vec::new(), 0);
    for group in found {
        if trusted >= enough {
            break;
        }
        let mut same: Vec<(Found, Neuron)> = Vec::new();
        for found in group.into_iter().take(limits::COPIES) {
            if let Some(neuron) = read(&found)? {
                same.push((found, neuron));
            }
        }
        let best = same.iter().min_by_key(|(_, neuron)| tainted(neuron)).map(|(best, _)| best.id.clone());
        if let Some(stands) = same.iter().position(|(found, _)| Some(&found.id) == best.as_ref()) {
            let (found, neuron) = same.remove(stands);
            trusted += usize::from(stands == 0 && !tainted(&neuron));
            let copies = same.into_iter().map(|(_, neuron)| neuron).collect();
            kept.push((stands > 0, Recalled { found, neuron, copies }));
        }
    }
    Ok(moved_down(kept))
}

/// The order in which they were found, of which those that are marked stand behind all that have a greater activation: their own is less
/// than it was when they were found.
fn moved_down(found: Vec<(bool, Recalled)>) -> Vec<Recalled> {
    let mut ordered = Vec::with_capacity(found.len());
    let mut waiting: Vec<Recalled> = Vec::new();
    for (is_marked, recalled) in found {
        let activation = recalled.found.activation;
        let at = waiting.partition_point(|other| other.found.activation >= activation);
        if is_marked {
            waiting.insert(at, recalled);
        } else {
            ordered.extend(waiting.drain(..at));
            ordered.push(recalled);
        }
    }
    ordered.append(&mut waiting);
    ordered
}

/// The score of a memory of another line of the code beside one of the present line.
const ELSEWHERE: f64 = 0.7;

/// Moves memories down that were made on another line of the code, as far as `most` of the best tell. None is lost.
fn prefer_here(found: &mut Vec<Recalled>, here: &Here<'_>, most: usize) {
    let weighed = std::mem::take(found).into_iter().enumerate().map(|(at, mut recalled)| {
        let is_elsewhere = at < most && here.is_elsewhere(&recalled.neuron);
        if is_elsewhere {
            recalled.found.activation *= ELSEWHERE;
        }
        (is_elsewhere, recalled)
    });
    *found = moved_down(weighed.collect());
}

/// Keeps the best `top` of what was found, where some is not trusted: that counts less by `[origins] weight`, and has at most
/// `[origins] share` of `places`, all its origins together, unless nothing else is there to fill them.
fn hold_back_tainted(
    found: &mut Vec<Recalled>,
    top: usize,
    places: usize,
    origins: &Origins,
    tainted: impl Fn(&Neuron) -> bool,
) {
    let tainted = |recalled: &Recalled| tainted(&recalled.neuron);
    let weighed = std::mem::take(found).into_iter().map(|mut recalled| {
        let is_tainted = tainted(&recalled);
        if is_tainted {
            recalled.found.activation *= f64::from(origins.weight) / 1000.0;
        }
        (is_tainted, recalled)
    });
    *found = moved_down(weighed.collect());
    let most = (places * origins.share as usize).div_ceil(100);
    let mut taken = 0;
    let (kept, mut late): (Vec<_>, Vec<_>) = std::mem::take(found).into_iter().partition(|recalled| {
        taken += usize::from(tainted(recalled));
        !tainted(recalled) || taken <= most
    });
    *found = kept;
    found.truncate(top);
    late.truncate(top - found.len());
    found.append(&mut late);
}

/// Keeps the best whose texts have no more tokens than that together, passing over those that do not fit. Where none fits, a note.
pub fn keep_fitting(found: &mut Vec<Recalled>, most: Option<usize>) -> Option<String> {
    let most = most?;
    let mut left = most;
    let least = found.iter().map(|recalled| text::tokens(&recalled.neuron.concept)).min()?;
    found.retain(|recalled| {
        let tokens = text::tokens(&recalled.neuron.concept);
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    });
    found
        .is_empty()
        .then(|| format!("nothing fits into {}: the smallest needs {least}", plural(most, "token", "tokens")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Kind, Origin, Stamp};

    /// A neuron, tainted or not, as a recall finds it.
    fn found(n: usize, activation: f64) -> Found {
        let id = format!("n-{n:03}").parse().unwrap();
        Found { id, activation, salience: 0, context: 0.0, inhibition: 0.0, changes: None, path: Vec::new() }
    }

    fn recalled(n: usize, activation: f64, concept: &str) -> Recalled {
        let found = found(n, activation);
        let neuron = Neuron::new(found.id.clone(), concept, Kind::Episodic, Stamp::from_unix(0));
        Recalled { found, neuron, copies: Vec::new() }
    }

    #[test]
    fn memories_that_do_not_fit_are_passed_over() {
        let mut all: Vec<Recalled> =
            ["tea", &"long ".repeat(40), "cup"].iter().enumerate().map(|(n, text)| recalled(n, 1.0, text)).collect();
        let needed = text::tokens("tea") + text::tokens("cup");
        keep_fitting(&mut all, Some(needed));
        let texts: Vec<&str> = all.iter().map(|recalled| recalled.neuron.concept.as_str()).collect();
        assert_eq!(texts, ["tea", "cup"]);
        keep_fitting(&mut all, Some(needed - 1));
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn a_trusted_memory_stands_for_its_tainted_copies() {
        let group = vec![found(0, 3.0), found(1, 2.0), found(2, 1.0)];
        let read = |found: &Found| {
            let mut neuron = Neuron::new(found.id.clone(), "x", Kind::Episodic, Stamp::from_unix(0));
            neuron.origin = Origin::parse(if found.id.as_str() == "n-001" { "local" } else { "http" }).unwrap();
            Ok(Some(neuron))
        };
        let origins = Origins::default();
        let all = as_far_as(vec![group], 1, |neuron| origins.is_tainted(&neuron.origin), read).unwrap();
        assert_eq!((all.len(), all[0].found.activation), (1, 2.0));
        let copies: Vec<&str> = all[0].copies.iter().map(|neuron| neuron.id.as_str()).collect();
        assert_eq!((all[0].neuron.id.as_str(), &copies[..]), ("n-001", &["n-000", "n-002"][..]));
    }

    #[test]
    fn a_trusted_memory_stands_for_one_that_is_not() {
        let read = |found: &Found| {
            let mut neuron = Neuron::new(found.id.clone(), "x", Kind::Episodic, Stamp::from_unix(0));
            neuron.source = (found.id.as_str() == "n-000").then(|| "elsewhere".to_owned());
            Ok(Some(neuron))
        };
        let tainted = |neuron: &Neuron| neuron.source.is_some();
        let all = as_far_as(vec![vec![found(0, 3.0), found(1, 2.0)], vec![found(2, 2.5)]], 9, tainted, read).unwrap();
        let ids: Vec<&str> = all.iter().map(|recalled| recalled.neuron.id.as_str()).collect();
        assert_eq!(ids, ["n-002", "n-001"], "by its own activation");
    }

    #[test]
    fn the_order_of_the_search_stays_and_what_counts_less_only_moves_down() {
        // What search says stays, whatever its figures.
        let all = [(0, 0.95, false), (1, 1.0, false), (2, 0.97, true), (3, 0.5, false), (4, 0.6, true), (5, 0.4, true)];
        let all = all.map(|(n, activation, is_marked)| (is_marked, recalled(n, activation, "x")));
        let ids = |found: &[Recalled]| found.iter().map(|one| one.found.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(&moved_down(all.to_vec())), ["n-000", "n-001", "n-002", "n-003", "n-004", "n-005"]);
        let mut lowered = all.to_vec();
        lowered[2].1.found.activation = 0.3;
        assert_eq!(ids(&moved_down(lowered)), ["n-000", "n-001", "n-003", "n-004", "n-005", "n-002"]);
    }

    #[test]
    fn tainted_memories_have_their_share_of_the_places_together() {
        // Of two origins, and better than all trusted ones.
        let ranked = |tainted: usize, trusted: usize| -> Vec<Recalled> {
            let one = |n: usize| {
                let mut one = recalled(n, 100.0 - n as f64, "x");
                let origin = if n >= tainted { "local" } else { ["http", "mcp:a"][n % 2] };
                one.neuron.origin = Origin::parse(origin).unwrap();
                one
            };
            (0..tainted + trusted).map(one).collect()
        };
        for (share, places, tainted, trusted, expected) in [
            (30, 10, 8, 10, 3),
            (30, 10, 2, 10, 2),
            (30, 4, 8, 10, 2),
            (30, 10, 8, 4, 6),
            (30, 10, 8, 0, 8),
            (0, 10, 8, 10, 0),
            (100, 10, 8, 10, 8),
            (50, 10, 8, 10, 5),
        ] {
            let origins = Origins { weight: 1000, share, ..Origins::default() };
            let mut found = ranked(tainted, trusted);
            hold_back_tainted(&mut found, places, places, &origins, |neuron| origins.is_tainted(&neuron.origin));
            let is_tainted = |recalled: &&Recalled| recalled.neuron.origin != Origin::local();
            let (kept, all) = (found.iter().filter(is_tainted).count(), (tainted + trusted).min(places));
            assert_eq!((kept, found.len()), (expected, all), "{share} % of {places}: {tainted} and {trusted}");
        }
        // Half as good as it is: the trusted one comes first, and the order tells.
        let mut found = ranked(1, 1);
        let origins = Origins { weight: 500, ..Origins::default() };
        hold_back_tainted(&mut found, 2, 2, &origins, |neuron| origins.is_tainted(&neuron.origin));
        assert_eq!(found.iter().map(|r| r.found.activation).collect::<Vec<_>>(), [99.0, 50.0]);
    }

    proptest! {
        /// Nothing is lost or moved but what says the same, and that stands behind the best of it.
        #[test]
        fn equal_texts_come_together(said in proptest::collection::vec(0_u64..5, 0..30)) {
            let all: Vec<Found> = (0..said.len()).map(|n| found(n, 0.0)).collect();
            let number = |found: &Found| found.id.as_str()[2..].parse::<usize>().unwrap();
            let groups = together(all, |found| said[number(found)]);
            let firsts: Vec<usize> = groups.iter().map(|group| number(&group[0])).collect();
            prop_assert!(firsts.is_sorted());
            prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), said.len());
            for group in &groups {
                let hash = said[number(&group[0])];
                let same: Vec<usize> = (0..said.len()).filter(|n| said[*n] == hash).collect();
                let expected = if hash == 0 { vec![number(&group[0])] } else { same };
                prop_assert_eq!(group.iter().map(number).collect::<Vec<_>>(), expected);
            }
        }

        /// To read no more than is needed gives what reading all of it gives.
        #[test]
        fn the_best_are_among_what_is_read(
            ranked in proptest::collection::vec((0_u8..20, any::<bool>(), 0_u64..40), 0..60), top in 1_usize..12, weight in 0_u32..=1000, share in 0_u32..=100
        ) {
            let origins = Origins { weight, share, ..Origins::default() };
            let mut all: Vec<(Found, bool, u64)> = (ranked.iter().enumerate())
                .map(|(n, (rank, tainted, said))| (found(n, f64::from(*rank)), *tainted, *said))
                .collect();
            all.sort_by(|(a, ..), (b, ..)| b.activation.total_cmp(&a.activation).then_with(|| a.id.cmp(&b.id)));
            let known = |one: &Found| all.iter().find(|(known, ..)| known.id == one.id).unwrap();
            let origin = |tainted: bool| Origin::parse(if tainted { "http" } else { "local" }).unwrap();
            let read = |one: &Found| {
                let mut neuron = Neuron::new(one.id.clone(), "x", Kind::Semantic, Stamp::from_unix(0));
                neuron.origin = origin(known(one).1);
                Ok(Some(neuron))
            };
            let groups = || together(all.iter().map(|(found, ..)| found.clone()).collect(), |found| known(found).2);
            let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin);
            let mut whole = as_far_as(groups(), usize::MAX, tainted, read).unwrap();
            let mut part = as_far_as(groups(), top, tainted, read).unwrap();
            let mut trusted = 0;
            let needed = groups().iter().take_while(|group| {
                let go_on = trusted < top;
                trusted += usize::from(!known(&group[0]).1);
                go_on
            }).count();
            prop_assert_eq!(part.len(), needed);
            hold_back_tainted(&mut whole, top, top, &origins, tainted);
            hold_back_tainted(&mut part, top, top, &origins, tainted);
            let ids = |found: &[Recalled]| found.iter().map(|recalled| recalled.found.id.to_string()).collect::<Vec<_>>();
            prop_assert_eq!(ids(&part), ids(&whole));
        }
    }
}
