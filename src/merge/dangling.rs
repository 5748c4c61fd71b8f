//! The last step of a tree's merge: a removed neuron that a connection of the merged tree points to stays, with what it
//! points to itself, until nothing changes. So no connection dangles that did not dangle before.

use serde_json::Value;

use super::decision::{Decision, How, file_value};
use super::pointing::Pointing;
use super::tree::{Merge, Merged, Side, Sides, decode};
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};

impl<S: Sides> Merge<'_, S>
where
    S::Error: std::error::Error + 'static,
{
    /// Adds to the result what its connections point to, until nothing changes.
    pub(super) fn keep_what_is_pointed_to(&mut self) -> Merged<(), S> {
        if !self.removed.is_empty() {
            // What right did not change is in the merged tree as left has it.
            for path in self.changed(Side::Left)? {
                let Place::Neuron(id) = Place::of(&path) else { continue };
                if !self.edits.contains_key(&path)
                    && let Some(neuron) = self.neuron(Side::Left, &id)?
                {
                    self.pointing.push(Pointing::new(&neuron, Some(&neuron)));
                }
            }
        }
        while let Some(Pointing { targets, known }) = self.pointing.pop() {
            for target in targets {
                if self.removed.remove(&target) {
                    self.keep(target, Side::Left)?;
                } else if !known.contains(&target) && !self.is_in_the_result(&target)? {
                    self.keep(target, Side::Right)?;
                }
            }
        }
        Ok(())
    }

    fn is_in_the_result(&mut self, id: &NeuronId) -> Merged<bool, S> {
        let path = layout::neuron(id);
        match self.edits.get(&path) {
            Some(content) => Ok(content.is_some()),
            None => Ok(self.read(Side::Left, &path)?.is_some()),
        }
    }

    /// Keeps a removed neuron as the side that still has it has it, with what the other one had learnt before it removed it. A target
    /// that no side has was dangling before.
    fn keep(&mut self, id: NeuronId, side: Side) -> Merged<(), S> {
        let path = layout::neuron(&id);
        let Some(bytes) = self.read(side, &path)? else { return Ok(()) };
        let there = decode(&bytes, &path, &id)?;
        let here = side == Side::Left;
        let neuron = self.with_what_was_learnt(if here { Side::Right } else { Side::Left }, there.clone())?;
        let base = self.read(Side::Base, &path)?;
        let result = if neuron == there { bytes.clone() } else { neuron.encode_as(self.format()?) };
        let (value, kept) = (file_value(Some(&bytes)), file_value(Some(&result)));
        if here && result == bytes {
            self.edits.remove(&path);
        } else {
            self.edits.insert(path, Some(result));
        }
        self.pointing.push(Pointing::new(&neuron, here.then_some(&there)));
        self.outcome.decisions.push(Decision {
            neuron: id.to_string(),
            field: "file".to_owned(),
            base: file_value(base.as_deref()),
            left: if here { value.clone() } else { Value::Null },
            right: if here { Value::Null } else { value },
            result: kept,
            rule: How::PointedTo,
            clamped: false,
        });
        Ok(())
    }
}
