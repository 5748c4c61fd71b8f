//! Operations on connections: made, moved, reinforced; and what a great move of salience fires.

use std::collections::{BTreeSet, VecDeque};

use super::{ApplyError, Lookup, Reason, Work};
use crate::delta::operation::{Connect, Edge};
use crate::model::ids::NeuronId;
use crate::model::settings::Activation;
use crate::model::{Link, salience};

impl<L: Lookup> Work<'_, L> {
    pub(super) fn connect(&mut self, op: &Connect) -> Result<(), ApplyError<L::Error>> {
        self.require(&op.to)?;
        // 0 is absorbing, so what agents make starts where learning can move it. People get what they write.
        let floor = if self.allowed.is_some() { self.learning.connect_floor } else { 0 };
        let weight = op.weight.max(floor);
        self.check_change(i64::from(weight))?;
        let edge = Edge { from: op.from.clone(), to: op.to.clone(), link: op.link };
        self.neuron(&op.from)?;
        self.check_edge(&edge, i64::from(weight))?;
        let neuron = self.neuron(&op.from)?;
        if neuron.weight(&op.to, op.link) > 0 {
            return Ok(());
        }
        neuron.set_weight(&op.to, op.link, weight);
        if weight != op.weight {
            let note = format!("{} {} {}: weight {} raised to {weight}", op.from, op.link, op.to, op.weight);
            self.out.notes.push(note);
        }
        Ok(())
    }

    pub(super) fn existing_weight(&mut self, edge: &Edge) -> Result<u16, ApplyError<L::Error>> {
        let found = self.neuron(&edge.from)?.connection(&edge.to, edge.link).map(|c| c.weight);
        found.ok_or_else(|| {
            self.refuse(Reason::NoConnection { from: edge.from.clone(), to: edge.to.clone(), link: edge.link })
        })
    }

    /// Asks whether a connection may be made or changed so that it has that weight: by its type, by where it points to, and by how
    /// far that is from its weight before the delta.
    fn check_edge(&mut self, edge: &Edge, weight: i64) -> Result<(), ApplyError<L::Error>> {
        if self.allowed.is_none() {
            return Ok(());
        }
        self.load(&edge.to)?;
        self.check(|limits, this| limits.check_target(&edge.to, this.now.get(&edge.to), edge.link))?;
        let before = self.before.get(&edge.from).and_then(Option::as_ref).map_or(0, |n| n.weight(&edge.to, edge.link));
        self.check_change(weight - i64::from(before))
    }

    /// Adds to a weight and saturates it; returns the change that was asked for.
    pub(super) fn change_weight(&mut self, edge: &Edge, by: i64) -> Result<i64, ApplyError<L::Error>> {
        let weight = self.existing_weight(edge)?;
        self.check_change(by)?;
        let wanted = i64::from(weight) + by;
        let clamped = wanted.clamp(0, i64::from(u16::MAX));
        if clamped != wanted {
            let note = format!("{} {} {}: {wanted} clamped to {clamped}", edge.from, edge.link, edge.to);
            self.out.notes.push(note);
        }
        self.check_edge(edge, clamped)?;
        self.neuron(&edge.from)?.set_weight(&edge.to, edge.link, clamped as u16);
        Ok(by)
    }

    /// `Δw = round_half_away(error · rate · w/65535)`; the target's salience gains `|Δw| · salience_boost`.
    /// Source: MagistraAI's technical note, 3.3, with the rate in weight units.
    pub(super) fn reinforce(&mut self, edge: &Edge, error: f64) -> Result<(), ApplyError<L::Error>> {
        let weight = self.existing_weight(edge)?;
        let change = weight_change(error, self.learning.rate, weight);
        if change == 0 {
            return Ok(());
        }
        self.change_weight(edge, change)?;
        // Its salience grows with the weight.
        self.check(|limits, this| limits.check_region(&edge.to, this.now.get(&edge.to)))?;
        let boost = (change.unsigned_abs() as f64 * self.learning.salience_boost).round().min(65535.0) as u16;
        self.activate_consequently(&edge.to, boost).map(|_| ())
    }

    /// Activates a neuron as a consequence of an operation that was allowed: its type is not asked for again.
    /// False if there is no such neuron.
    pub(super) fn activate_consequently(&mut self, id: &NeuronId, added: u16) -> Result<bool, ApplyError<L::Error>> {
        let exists = self.load(id)?;
        if exists {
            let strength = f64::from(added) / 65535.0;
            self.spend(|limits, spent| limits.check_strength(id, strength, spent))?;
        }
        let clock = self.author.clock;
        if let Some(neuron) = self.now.get_mut(id) {
            neuron.activate(added, clock);
        }
        Ok(exists)
    }

    /// Where this run moved a neuron's salience by at least `theta`, its `triggers` targets are activated with that
    /// move as strength; each neuron fires once. Salience before is read at the run's clock.
    pub(super) fn fire_triggers(&mut self, activation: &Activation) -> Result<(), ApplyError<L::Error>> {
        self.place = (self.place.0, "triggers");
        let mut queue: VecDeque<NeuronId> = self.now.keys().cloned().collect();
        let mut fired: BTreeSet<NeuronId> = BTreeSet::new();
        while let Some(id) = queue.pop_front() {
            let move_size = self.salience_move(&id);
            if fired.contains(&id) || f64::from(move_size) < activation.theta * 65535.0 || move_size == 0 {
                continue;
            }
            fired.insert(id.clone());
            let targets: Vec<NeuronId> = self.now[&id]
                .connections
                .iter()
                .filter(|c| c.link == Link::Triggers && c.weight > 0)
                .map(|c| c.target.clone())
                .collect();
            for target in targets {
                let added = salience::activation_gain(f64::from(move_size) / 65535.0, self.learning.salience_gain);
                if self.activate_consequently(&target, added)? {
                    queue.push_back(target);
                }
            }
        }
        Ok(())
    }

    pub(super) fn salience_move(&self, id: &NeuronId) -> u16 {
        let Some(after) = self.now.get(id) else { return 0 };
        let before = self.before.get(id).and_then(Option::as_ref);
        before.map_or(after.salience, |b| after.salience.saturating_sub(b.salience_at(after.last_salience_update)))
    }
}

/// `round_half_away(error · rate · w/65535)`, in weight units.
pub fn weight_change(error: f64, rate: u32, weight: u16) -> i64 {
    (error * f64::from(rate) * f64::from(weight) / 65535.0).round() as i64
}

/// Growth of a connection whose ends were active together, `round(rate · a(u) · a(v) · (1 − w/65535))`, in weight units; it
/// saturates. `source` and `target` are activities, 0..=1. Source: MagistraAI's technical note, 1.3 and 9.2.
pub fn hebbian_change(rate: u32, source: f64, target: f64, weight: u16) -> i32 {
    let left = 1.0 - f64::from(weight) / 65535.0;
    (f64::from(rate) * source * target * left).round().min(65535.0) as i32
}
