//! The history of one neuron: the runs that made and changed it, on this machine and on others.
//!
//! Wake's own line says which run did what. Where two machines were brought together, the merge is nobody's act: the change is followed to
//! the runs on the other side of it.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::look::value;
use super::look::{BlameLine, Replaced, WhyEntry};
use super::{Brain, BrainError};
use crate::cycle::network::{TreeNetwork, decode_neuron};
use crate::delta::{Effect, Operation, RunRecord, render};
use crate::limits;
use crate::model::ids::{NeuronId, RunId, StimulusId, episode_id, looks_derived};
use crate::model::{Neuron, Stimulus, json, layout};
use crate::store::{Commit, CommitId, TreeId};

impl Brain {
    /// The runs that made and changed a neuron, oldest first.
    pub fn why(&self, id: &NeuronId, at: Option<&str>) -> Result<Vec<WhyEntry>, BrainError> {
        let mut entries = Vec::new();
        for (commit, before, after) in self.life(id, self.at(at)?)? {
            let entry = self.entry(&commit)?;
            let record = match entry.run.as_deref().and_then(|r| RunId::parse(r).ok()) {
                Some(run) => TreeNetwork::new(&self.cycle.store, commit.tree).record(&run)?,
                None => None,
            };
            let reason = record.as_ref().and_then(|record| stimulus_behind(record, id, after.as_ref()));
            let because = match reason {
                Some(stimulus) => {
                    let network = TreeNetwork::new(&self.cycle.store, commit.tree);
                    self.cycle.readable(network.stimulus(stimulus))?.flatten().map(|s| render::clip(&s.text))
                }
                None => None,
            };
            let made = after.as_ref().filter(|_| before.is_none()).and_then(|neuron| neuron.stimulus.as_ref());
            let older = match made {
                Some(stimulus) => self.older_than(&TreeNetwork::new(&self.cycle.store, commit.tree), stimulus)?,
                None => Vec::new(),
            };
            let replaced =
                |old: Stimulus| Replaced { id: episode_id(&old.id).to_string(), text: render::clip(&old.text) };
            let stimuli = record.as_ref().map(|r| r.stimuli.as_slice()).unwrap_or_default();
            let effects = match &after {
                Some(after) => render::effect(&Effect::between(before.as_ref(), after), None),
                None => vec![format!("- {id}")],
            };
            let decision = match &entry.run {
                Some(run) => self.decision_on(run, entry.trigger.as_deref())?,
                None => None,
            };
            let words = after.as_ref().map(|neuron| neuron.concept.as_str());
            let is_new = words != before.as_ref().map(|neuron| neuron.concept.as_str());
            let says = words.filter(|words| is_new && render::clip(words) != **words).map(str::to_owned);
            entries.push(WhyEntry {
                decision,
                says,
                commit: entry.commit,
                at: entry.at,
                run: entry.run,
                agent: entry.agent,
                author: entry.author,
                trigger: entry.trigger,
                stimuli: stimuli.iter().map(ToString::to_string).collect(),
                because,
                reason: record.as_ref().and_then(|record| archived_for(record, id)),
                replaces: older.into_iter().map(replaced).collect(),
                effects,
            });
        }
        Ok(entries)
    }

    /// Which run last changed each field.
    pub fn blame(&self, id: &NeuronId, at: Option<&str>) -> Result<Vec<BlameLine>, BrainError> {
        let tip = self.at(at)?;
        let mut last: BTreeMap<String, BlameLine> = BTreeMap::new();
        let mut newest = None;
        for (commit, before, after) in self.life(id, tip)? {
            let entry = self.entry(&commit)?;
            let (old, new) = (before.as_ref().map(fields).unwrap_or_default(), after.as_ref().map(fields));
            for (field, value) in new.unwrap_or_default() {
                let line = BlameLine {
                    field: field.clone(),
                    value,
                    commit: entry.commit.clone(),
                    run: entry.run.clone(),
                    at: entry.at.clone(),
                };
                let same = old.iter().any(|(f, v)| *f == field && *v == line.value);
                newest = Some(line.clone());
                if !same || !last.contains_key(&field) {
                    last.insert(field, line);
                }
            }
        }
        // The value is the merged one, where several machines changed it.
        let now = self.neuron_in(id, self.cycle.store.tree_of(tip)?)?;
        let line = |(field, value): (String, String)| {
            let line = last.remove(&field).or_else(|| newest.clone())?;
            Some(BlameLine { field, value, ..line })
        };
        Ok(now.as_ref().map(fields).unwrap_or_default().into_iter().filter_map(line).collect())
    }

    /// The commits that changed a neuron, oldest first, with the neuron before and after.
    fn life(&self, id: &NeuronId, tip: CommitId) -> Result<Vec<Change>, BrainError> {
        let mut life = self.changes_of(id, tip, None)?;
        if life.is_empty() {
            let text = id.as_str();
            let begins = text
                .split_once('-')
                .is_some_and(|(kind, rest)| kind.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let is_short = begins && text.len() < limits::ID_PREFIX_CHARS;
            // What is gone is found by its whole id alone.
            let is_part = begins && !looks_derived(id);
            let hint = match (is_short, begins) {
                (true, _) => "six or more characters after the `-` name a neuron".to_owned(),
                (false, true) => "`git brain recall` finds neurons by what they mean".to_owned(),
                (false, false) if RunId::parse(text).is_ok() => format!("`git brain show {id}` tells of a run"),
                (false, false) => format!("`git brain find {id}` finds concepts by their words"),
            };
            return Err(BrainError::Usage {
                message: match is_short {
                    true => format!("{id} is too short for the beginning of an id"),
                    false if is_part => {
                        format!(
                            "no neuron that is there now begins with {id}; one that is gone has to be named in full"
                        )
                    }
                    false => format!("there is no neuron {id}, and there never was"),
                },
                hint: Some(hint),
            });
        }
        life.reverse();
        Ok(life)
    }

    /// The commits up to one that changed a neuron, newest first. With bounds (commits that are looked at, changes) the walk also
    /// ends where the neuron was made.
    pub(super) fn changes_of(
        &self,
        id: &NeuronId,
        from: CommitId,
        bounds: Option<(usize, usize)>,
    ) -> Result<Vec<Change>, BrainError> {
        let mut walk = Walk {
            brain: self,
            id,
            path: layout::neuron(id),
            bounds,
            seen: HashSet::new(),
            followed: false,
            changes: Vec::new(),
        };
        walk.line(from, None)?;
        let mut changes = walk.changes;
        if walk.followed {
            changes.sort_by_key(|(commit, ..)| std::cmp::Reverse(commit.at));
        }
        Ok(changes)
    }

    fn neuron_in(&self, id: &NeuronId, tree: TreeId) -> Result<Option<Neuron>, BrainError> {
        let path = layout::neuron(id);
        self.cycle.store.read(tree, &path)?.map(|bytes| decode_neuron(&bytes, &path, id)).transpose()
    }
}

/// A walk along a line of commits, and along those that its merges bring.
struct Walk<'b> {
    brain: &'b Brain,
    id: &'b NeuronId,
    path: String,
    bounds: Option<(usize, usize)>,
    seen: HashSet<CommitId>,
    /// Whether a merge led to another line.
    followed: bool,
    changes: Vec<Change>,
}

impl Walk<'_> {
    /// The first parents of `from`; of a line that a merge brings, those alone that `without` has not.
    fn line(&mut self, from: CommitId, without: Option<CommitId>) -> Result<(), BrainError> {
        let store = &self.brain.cycle.store;
        let beyond = |from, without| -> Result<HashSet<CommitId>, BrainError> {
            Ok(store.commits_beyond(from, &[without])?.into_iter().collect())
        };
        let side = without.map(|without| beyond(from, without)).transpose()?;
        let (commits, most) = self.bounds.unwrap_or((usize::MAX, usize::MAX));
        for commit in store.first_parents(from, None) {
            let commit = commit?;
            let elsewhere = side.as_ref().is_some_and(|side| !side.contains(&commit.id));
            if elsewhere || self.seen.len() >= commits || !self.seen.insert(commit.id) {
                break;
            }
            // On its way into wake a night is what it added to the day, which wake has.
            let day = commit.trailer("Snapshot").filter(|_| side.is_some() && commit.parents.len() == 1);
            let parent = match day.and_then(|day| CommitId::parse(day).ok()) {
                Some(day) => Some(day),
                None => commit.parents.first().copied(),
            };
            let parent = parent.map(|parent| store.tree_of(parent)).transpose()?;
            let here = store.file(commit.tree, &self.path)?.map(|file| file.blob);
            let there = match parent {
                Some(tree) => store.file(tree, &self.path)?.map(|file| file.blob),
                None => None,
            };
            if here != there {
                let known = self.changes.len();
                if let [first, other] = commit.parents[..]
                    && beyond(other, first)?.len() > 1
                {
                    self.followed = true;
                    self.line(other, Some(first))?;
                }
                // One that only lays it out anew changes nothing.
                let before = parent.map(|tree| self.brain.neuron_in(self.id, tree)).transpose()?.flatten();
                let after = self.brain.neuron_in(self.id, commit.tree)?;
                if self.changes.len() == known && before != after {
                    self.changes.push((commit, before, after));
                }
            }
            if self.bounds.is_some() && (there.is_none() || self.changes.len() >= most) {
                break;
            }
        }
        Ok(())
    }
}

/// A commit that changed a neuron, with the neuron before and after.
pub(super) type Change = (Commit, Option<Neuron>, Option<Neuron>);

/// The stimulus for whose sake a run touched a neuron: the one that the neuron remembers, else the one of a memory that
/// the run connected to it, else the run's first.
fn stimulus_behind<'a>(record: &'a RunRecord, id: &NeuronId, after: Option<&'a Neuron>) -> Option<&'a StimulusId> {
    let own = after.and_then(|neuron| neuron.stimulus.as_ref()).filter(|s| record.stimuli.contains(s));
    let mut made = record.effects.iter().filter_map(|effect| effect.created.as_deref());
    let memory = made.find(|n| n.stimulus.is_some() && n.connections.iter().any(|c| c.target == *id));
    own.or(memory.and_then(|n| n.stimulus.as_ref())).or(record.stimuli.first())
}

/// Why a run archived a neuron, if it did.
fn archived_for(record: &RunRecord, id: &NeuronId) -> Option<String> {
    record.ops.iter().find_map(|op| match op {
        Operation::Archive(op) if op.id == *id => Some(op.reason.clone()),
        _ => None,
    })
}

/// The fields of a neuron as (name, value), connections included, in the order of the file.
fn fields(neuron: &Neuron) -> Vec<(String, String)> {
    let Value::Object(object) = value(neuron) else { return Vec::new() };
    let plain = object.into_iter().filter(|(key, _)| key != "connections");
    let mut list: Vec<(String, String)> = plain.map(|(key, v)| (key, json::inline(&v))).collect();
    list.extend(neuron.connections.iter().map(|c| (format!("{} {}", c.link, c.target), c.weight.to_string())));
    list
}
