//! The three-way merge of whole trees.
//!
//! The steps, as `three_way_with` runs them: (1) runs recorded on both sides but not in the base are applied to the base,
//! in run-id order, and runs that each side took back by itself are taken back there; (2) every path that right changed is decided by its place; (3) what waited here and was consumed
//! there leaves the queue; (4) removed neurons that a connection points to stay, until nothing changes. What lies outside the
//! network is left's: who merges it, merges it as git does, by entries of trees.
//!
//! The cost is that of right's changes. Left's are asked for only where right removed neuron files.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::decision::{Conflict, Decision, How, file_value};
use super::file::{self, Pick};
use super::neuron::merge_neuron;
use super::pointing::Pointing;
use super::replay::{Direction, apply_record};
use super::shared::Shared;
use crate::delta::{Effect, RunRecord};
use crate::limits;
use crate::model::ids::{NeuronId, RunId, StimulusId};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::model::settings::MergePolicy;
use crate::model::{Format, Neuron};

/// The three trees of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The common ancestor.
    Base,
    /// The tip that moves: `Outcome::edits` are relative to it.
    Left,
    /// What is brought.
    Right,
}

/// How the merge sees its trees.
pub trait Sides {
    /// Why a tree cannot be read.
    type Error;
    /// Paths that differ between the base and `side`, sorted; removed ones as well.
    fn changed(&mut self, side: Side) -> Result<Vec<String>, Self::Error>;
    /// The content of a file on a side, `None` if it has none.
    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Self::Error>;
    /// The neuron in a file on a side, from whoever has read that content before; `None` if nobody has, or there is no file.
    fn known(&mut self, side: Side, path: &str, id: &NeuronId) -> Result<Option<Arc<Neuron>>, Self::Error> {
        let _ = (side, path, id);
        Ok(None)
    }
    /// Paths and contents of the records of a side by which people took runs back; others may be among them. Asked only where both
    /// sides took the same run back.
    fn reverting(&mut self, side: Side) -> Result<Vec<(String, Vec<u8>)>, Self::Error>;
}

/// What a merge can be told beside its policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A sleep is taken back: where the base lacks a neuron that left has, it stays as left has it, plus the connections
    /// that only right has.
    pub returning: bool,
}

/// One file of left's tree that the merge changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub path: String,
    /// Its new content; `None`: it goes.
    pub content: Option<Vec<u8>>,
}

/// A merge. With conflicts, nothing may be moved to it.
#[must_use = "a merge changes nothing until its edits are written"]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Changes of left's tree that make it the merged tree, sorted by path.
    pub edits: Vec<Edit>,
    /// What rules settled: first what shared runs lost to clamps when they were applied to the base, then by path.
    pub decisions: Vec<Decision>,
    /// What they could not.
    pub conflicts: Vec<Conflict>,
    /// Runs that both sides had already, sorted.
    pub shared: Vec<RunId>,
    /// Runs that right brings, sorted.
    pub brought: Vec<RunId>,
}

/// Why trees cannot be merged at all.
#[derive(Debug, thiserror::Error)]
pub enum MergeError<E: std::error::Error + 'static> {
    /// A tree cannot be read.
    #[error("reading {path:?} for a merge")]
    Read {
        /// The file; empty for a list of changes.
        path: String,
        /// Why.
        source: E,
    },
    /// A file lies inside `network/` where nothing belongs.
    #[error("{0}: nothing belongs there")]
    Misplaced(String),
    /// A file does not parse.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A neuron or a run record says that it is another one than its path says.
    #[error("{path}: its content calls itself {id}")]
    WrongId {
        /// The file.
        path: String,
        /// The id inside.
        id: String,
    },
}

/// Merges right into left by the policy, with nobody owning the files outside the network.
pub fn three_way<S: Sides>(sides: &mut S, policy: &MergePolicy) -> Result<Outcome, MergeError<S::Error>>
where
    S::Error: std::error::Error + 'static,
{
    three_way_with(sides, policy, Options::default())
}

/// Merges right into left.
pub fn three_way_with<S: Sides>(
    sides: &mut S,
    policy: &MergePolicy,
    options: Options,
) -> Result<Outcome, MergeError<S::Error>>
where
    S::Error: std::error::Error + 'static,
{
    let mut merge = Merge::new(sides, policy, options);
    let changed = merge.changed(Side::Right)?;
    merge.replay_shared_runs(&changed)?; // (1)
    merge.take_back_what_both_did(&changed)?;
    let mut paths: BTreeSet<String> = changed.into_iter().collect();
    paths.extend(merge.shared_neurons.keys().map(layout::neuron));
    for path in paths {
        merge.path(path)?; // (2)
    }
    merge.consume()?; // (3)
    merge.keep_what_is_pointed_to()?; // (4)
    let edits = merge.edits.into_iter().map(|(path, content)| Edit { path, content }).collect();
    Ok(Outcome { edits, ..merge.outcome })
}

/// A merge under way.
pub(super) struct Merge<'a, S> {
    pub(super) sides: &'a mut S,
    policy: &'a MergePolicy,
    options: Options,
    pub(super) outcome: Outcome,
    pub(super) edits: BTreeMap<String, Option<Vec<u8>>>,
    /// Neurons of the base with the shared runs applied.
    pub(super) shared_neurons: BTreeMap<NeuronId, Shared>,
    /// Runs that each side took back by itself.
    pub(super) both_took_back: BTreeSet<RunId>,
    /// Runs that one side or both took back, where both took back runs.
    pub(super) taken_back: BTreeSet<RunId>,
    /// Neurons that right removed and left has as the base had them.
    pub(super) removed: BTreeSet<NeuronId>,
    /// Neurons of the merged tree whose connections are not looked at yet.
    pub(super) pointing: Vec<Pointing>,
    /// Stimuli that came to both sides.
    met: Vec<StimulusId>,
    /// How merged files are written, once that was asked.
    format: Option<Format>,
}

/// What a step gives.
pub(super) type Merged<T, S> = Result<T, MergeError<<S as Sides>::Error>>;

impl<'a, S: Sides> Merge<'a, S>
where
    S::Error: std::error::Error + 'static,
{
    fn new(sides: &'a mut S, policy: &'a MergePolicy, options: Options) -> Self {
        Self {
            sides,
            policy,
            options,
            outcome: Outcome::default(),
            edits: BTreeMap::new(),
            shared_neurons: BTreeMap::new(),
            both_took_back: BTreeSet::new(),
            taken_back: BTreeSet::new(),
            removed: BTreeSet::new(),
            pointing: Vec::new(),
            met: Vec::new(),
            format: None,
        }
    }

    pub(super) fn changed(&mut self, side: Side) -> Merged<Vec<String>, S> {
        self.sides.changed(side).map_err(|source| MergeError::Read { path: String::new(), source })
    }

    pub(super) fn read(&mut self, side: Side, path: &str) -> Merged<Option<Vec<u8>>, S> {
        self.sides.read(side, path).map_err(|source| MergeError::Read { path: path.to_owned(), source })
    }

    pub(super) fn neuron(&mut self, side: Side, id: &NeuronId) -> Merged<Option<Arc<Neuron>>, S> {
        let path = layout::neuron(id);
        let known = self.sides.known(side, &path, id);
        if let Some(known) = known.map_err(|source| MergeError::Read { path: path.clone(), source })? {
            return Ok(Some(known));
        }
        let bytes = self.read(side, &path)?;
        bytes.map(|bytes| decode(&bytes, &path, id).map(Arc::new)).transpose()
    }

    // (1)

    fn replay_shared_runs(&mut self, changed: &[String]) -> Merged<(), S> {
        let mut shared: BTreeMap<RunId, String> = BTreeMap::new();
        for path in changed {
            let Place::Run(id) = Place::of(path) else { continue };
            if self.read(Side::Base, path)?.is_some() || self.read(Side::Right, path)?.is_none() {
                continue;
            }
            if self.read(Side::Left, path)?.is_some() {
                shared.insert(id, path.clone());
            } else {
                self.outcome.brought.push(id);
            }
        }
        self.outcome.brought.sort();
        for (id, path) in shared {
            let bytes = self.read(Side::Right, &path)?.expect("invariant: read a moment ago");
            let record = RunRecord::decode(&bytes, &path)?;
            if record.run != id {
                return Err(MergeError::WrongId { path, id: record.run.to_string() });
            }
            let policy = self.policy;
            let applied =
                apply_record(&record, Direction::Again, policy, |neuron| match self.shared_neurons.get(neuron) {
                    Some(shared) => Ok(Some(shared.neuron.clone())),
                    None => self.neuron(Side::Base, neuron).map(|found| found.map(Arc::unwrap_or_clone)),
                })?;
            for replayed in applied {
                let id = replayed.after.id.clone();
                self.outcome.decisions.extend(replayed.decisions.into_iter().filter(|d| d.clamped));
                let mine = |e: &&Effect| e.neuron.as_ref().or(e.created.as_ref().map(|n| &n.id)) == Some(&id);
                let effect = record.effects.iter().find(mine).expect("invariant: it came from an effect");
                match self.shared_neurons.entry(id.clone()) {
                    Entry::Occupied(mut shared) => shared.get_mut().add(effect, replayed.after),
                    Entry::Vacant(free) => {
                        free.insert(Shared::new(replayed.before, effect, replayed.after));
                    }
                }
            }
            self.outcome.shared.push(id);
        }
        Ok(())
    }

    // (2)

    fn path(&mut self, path: String) -> Merged<(), S> {
        match Place::of(&path) {
            Place::Misplaced => Err(MergeError::Misplaced(path)),
            Place::Neuron(id) => self.merge_neuron(path, id),
            Place::Agent(_) | Place::Prompt(_) | Place::Settings | Place::Other => Ok(()),
            place => self.merge_file(path, &place),
        }
    }

    fn merge_neuron(&mut self, path: String, id: NeuronId) -> Merged<(), S> {
        let base = match self.shared_neurons.get(&id) {
            Some(shared) => Some(Arc::new(shared.neuron.clone())),
            None => self.neuron(Side::Base, &id)?,
        };
        let (left, right) = (self.neuron(Side::Left, &id)?, self.neuron(Side::Right, &id)?);
        let merged = match (&base, &left, &right) {
            (None, Some(left), Some(right)) if self.options.returning => {
                let mut neuron = Neuron::clone(left);
                for connection in &right.connections {
                    if left.connection(&connection.target, connection.link).is_none() {
                        neuron.set_weight(&connection.target, connection.link, connection.weight);
                    }
                }
                super::NeuronMerge { neuron: Some(neuron), ..Default::default() }
            }
            _ if left == right => super::NeuronMerge { neuron: left.as_deref().cloned(), ..Default::default() },
            _ => self.merged(&id, base.as_deref(), left.as_deref(), right.as_deref())?,
        };
        let mut merged = merged;
        if let Some(neuron) = &mut merged.neuron {
            self.without_names_taken_back(neuron)?;
        }
        self.outcome.decisions.extend(merged.decisions);
        self.outcome.conflicts.extend(merged.conflicts);
        if merged.neuron.is_none() && left.is_some() {
            self.removed.insert(id);
        }
        // A file that comes from one side as it is keeps its bytes, whoever laid them out.
        match (merged.neuron.as_ref() == left.as_deref(), merged.neuron.as_ref() == right.as_deref()) {
            (true, true) => self.lay_out(path, merged.neuron.as_ref())?,
            (true, false) => {}
            (false, true) => {
                let content = self.read(Side::Right, &path)?;
                self.edits.insert(path, content);
            }
            (false, false) => {
                let format = self.format()?;
                self.edits.insert(path, merged.neuron.as_ref().map(|neuron| neuron.encode_as(format)));
            }
        }
        if let Some(neuron) = &merged.neuron {
            self.pointing.push(Pointing::new(neuron, left.as_deref()));
        }
        Ok(())
    }

    /// One neuron on sides that differ, which are held against the base with the shared runs applied.
    fn merged(
        &mut self,
        id: &NeuronId,
        base: Option<&Neuron>,
        left: Option<&Neuron>,
        right: Option<&Neuron>,
    ) -> Merged<super::NeuronMerge, S> {
        let settle = |side: Option<&Neuron>| match self.shared_neurons.get(id) {
            Some(shared) => side.map(|side| shared.settled(side)),
            None => side.cloned(),
        };
        let (ours, theirs) = (settle(left), settle(right));
        // What one side removed stays where the other one changed it, with what the first had learnt before.
        let kept = match (&ours, &theirs) {
            (None, Some(kept)) if base.is_some() && Some(kept) != base => Some((kept, Side::Left)),
            (Some(kept), None) if base.is_some() && Some(kept) != base => Some((kept, Side::Right)),
            _ => None,
        };
        if let Some((kept, removed_by)) = kept {
            let neuron = self.with_what_was_learnt(removed_by, kept.clone())?;
            let decision = whole(id, [base, left, right, Some(&neuron)], How::ChangedWins);
            return Ok(super::NeuronMerge { neuron: Some(neuron), decisions: vec![decision], conflicts: vec![] });
        }
        let mut merged = merge_neuron(base, ours.as_ref(), theirs.as_ref(), self.policy);
        // What is rounded in another way here stays: to merge what is there already changes nothing.
        if let (Some(neuron), Some(left), Some(shared)) = (&mut merged.neuron, left, self.shared_neurons.get(id))
            && shared.differs_by_rounding(left)
            && (neuron.salience, neuron.last_salience_update) == (shared.neuron.salience, left.last_salience_update)
        {
            neuron.salience = left.salience;
        }
        if let Some(neuron) = merged.neuron.as_mut().filter(|neuron| neuron.is_larger_than(limits::MERGED_NEURON_BYTES))
        {
            keep_the_strongest(neuron);
            let count = |side: Option<&Neuron>| side.map_or(0, |n| n.connections.len()).into();
            merged.decisions.push(Decision {
                neuron: id.to_string(),
                field: "connections".to_owned(),
                base: count(base),
                left: count(left),
                right: count(right),
                result: count(Some(neuron)),
                rule: How::Max,
                clamped: true,
            });
        }
        if ours.as_ref() != left || theirs.as_ref() != right {
            merged.decisions.push(same_runs(id, [base, left, right, merged.neuron.as_ref()]));
        }
        Ok(merged)
    }

    /// A neuron that one side removed and that stays, with what the runs did to it that this side alone has. Connections that the neuron
    /// has no more stay away.
    pub(super) fn with_what_was_learnt(&mut self, side: Side, kept: Neuron) -> Merged<Neuron, S> {
        let mut runs = BTreeMap::new();
        for path in self.changed(side)? {
            let Place::Run(run) = Place::of(&path) else { continue };
            if self.outcome.shared.binary_search(&run).is_err()
                && self.read(Side::Base, &path)?.is_none()
                && let Some(bytes) = self.read(side, &path)?
            {
                runs.insert(run, RunRecord::decode(&bytes, &path)?);
            }
        }
        let mut neuron = kept;
        for (run, record) in runs {
            let takes_back = !record.reverts.is_empty();
            for mut record in self.of_one_side(side, record, &neuron.id)? {
                let direction = match takes_back && record.run != run {
                    true => Direction::Back(&run),
                    false => Direction::Again,
                };
                for effect in &mut record.effects {
                    effect.connections.retain(|c| neuron.connection(&c.target, c.link).is_some());
                    // Nor those that it came or went with.
                    for whole in [&mut effect.created, &mut effect.removed].into_iter().flatten() {
                        whole.connections.retain(|c| neuron.connection(&c.target, c.link).is_some());
                    }
                }
                let lookup = |_: &NeuronId| Ok::<_, MergeError<S::Error>>(Some(neuron.clone()));
                let applied = apply_record(&record, direction, self.policy, lookup)?;
                neuron = applied.into_iter().next().map_or(neuron, |replayed| replayed.after);
            }
        }
        Ok(neuron)
    }

    /// A neuron that both sides have alike, in files that may not be alike: the side that laid it out anew gives the file.
    fn lay_out(&mut self, path: String, neuron: Option<&Neuron>) -> Merged<(), S> {
        let Some(neuron) = neuron else { return Ok(()) };
        let (left, right) = (self.read(Side::Left, &path)?, self.read(Side::Right, &path)?);
        if left == right {
            return Ok(());
        }
        let base = self.read(Side::Base, &path)?;
        if left == base {
            self.edits.insert(path, right);
        } else if right != base {
            let content = Some(neuron.encode_as(self.format()?));
            if content != left {
                self.edits.insert(path, content);
            }
        }
        Ok(())
    }

    /// How merged files are written: in the newer format of both sides.
    pub(super) fn format(&mut self) -> Merged<Format, S> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let mut newest = None;
        for side in [Side::Left, Side::Right] {
            if let Some(bytes) = self.read(side, layout::METADATA)? {
                newest = newest.max(Some(file::metadata(&bytes)?.form()));
            }
        }
        Ok(*self.format.insert(newest.unwrap_or(Format::NEWEST)))
    }

    fn merge_file(&mut self, path: String, place: &Place) -> Merged<(), S> {
        let mut base = self.read(Side::Base, &path)?;
        let mut left = self.read(Side::Left, &path)?;
        let mut right = self.read(Side::Right, &path)?;
        let changed = *place == Place::Metadata && file::agree_on_format(&mut base, &mut left, &mut right)?;
        if let Place::Stimulus(id) = place
            && base.is_none()
            && left.is_some()
            && right.is_some()
        {
            self.met.push(id.clone());
        }
        let (pick, how) = file::pick(place, &path, base.as_deref(), left.as_deref(), right.as_deref())?;
        let value = file_value;
        if pick == Pick::Undecided {
            self.outcome.conflicts.push(Conflict {
                neuron: path,
                field: "file".to_owned(),
                base: value(base.as_deref()),
                left: value(left.as_deref()),
                right: value(right.as_deref()),
                runs: Vec::new(),
            });
            return Ok(());
        }
        let result = if pick == Pick::Left { &left } else { &right };
        if let Some(rule) = how {
            self.outcome.decisions.push(Decision {
                neuron: path.clone(),
                field: "file".to_owned(),
                base: value(base.as_deref()),
                left: value(left.as_deref()),
                right: value(right.as_deref()),
                result: value(result.as_deref()),
                rule,
                clamped: false,
            });
        }
        if changed || *result != left {
            self.edits.insert(path, if pick == Pick::Left { left } else { right });
        }
        Ok(())
    }

    // (3)

    /// A stimulus that came to both sides and waits on one of them only was consumed on the other: it waits no more.
    fn consume(&mut self) -> Merged<(), S> {
        for id in std::mem::take(&mut self.met) {
            let path = layout::queue_entry(&id);
            let left = self.read(Side::Left, &path)?;
            let right = self.read(Side::Right, &path)?;
            if left.is_some() == right.is_some() {
                continue;
            }
            if left.is_some() {
                self.edits.insert(path.clone(), None);
            } else {
                self.edits.remove(&path);
            }
            self.outcome.decisions.push(Decision {
                neuron: path,
                field: "file".to_owned(),
                base: Value::Null,
                left: file_value(left.as_deref()),
                right: file_value(right.as_deref()),
                result: Value::Null,
                rule: How::RemovalWins,
                clamped: false,
            });
        }
        Ok(())
    }
}

/// Reads a neuron and checks that it is the one that its path names.
pub(super) fn decode<E: std::error::Error + 'static>(
    bytes: &[u8],
    path: &str,
    id: &NeuronId,
) -> Result<Neuron, MergeError<E>> {
    let neuron = Neuron::decode(bytes, path)?;
    if &neuron.id != id {
        return Err(MergeError::WrongId { path: path.to_owned(), id: neuron.id.to_string() });
    }
    Ok(neuron)
}

/// A neuron on the three sides, and as it is merged.
type Whole<'n> = [Option<&'n Neuron>; 4];

fn same_runs(id: &NeuronId, whole: Whole<'_>) -> Decision {
    let version = |side: Option<&Neuron>| side.map_or(Value::Null, |n| Value::String(format!("{:016x}", n.version.0)));
    decision(id, "version", whole.map(version), How::SameRuns)
}

fn whole(id: &NeuronId, whole: Whole<'_>, how: How) -> Decision {
    decision(id, "file", whole.map(|side| file_value(side.map(Neuron::encode).as_deref())), how)
}

fn decision(id: &NeuronId, field: &str, [base, left, right, result]: [Value; 4], rule: How) -> Decision {
    Decision { neuron: id.to_string(), field: field.to_owned(), base, left, right, result, rule, clamped: false }
}

/// Of more connections than a neuron has room for, as many of the strongest as fit, whatever the order of the sides: what nobody could read again
/// would stop every merge after it.
fn keep_the_strongest(neuron: &mut Neuron) {
    let all = std::mem::take(&mut neuron.connections);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| {
        let strength = |at: usize| (std::cmp::Reverse(all[at].weight), &all[at].target, all[at].link);
        strength(*a).cmp(&strength(*b))
    });
    let mut with = |count: usize| {
        let mut kept: Vec<usize> = order[..count].to_vec();
        kept.sort_unstable();
        neuron.connections = kept.into_iter().map(|at| all[at].clone()).collect();
        !neuron.is_larger_than(limits::MERGED_NEURON_BYTES)
    };
    // The largest count that fits.
    let (mut fits, mut beyond) = (0, all.len());
    while beyond - fits > 1 {
        let middle = fits.midpoint(beyond);
        if with(middle) { fits = middle } else { beyond = middle }
    }
    with(fits);
}
