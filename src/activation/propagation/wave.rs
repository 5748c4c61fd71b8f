//! A wave: what one cue does. It keeps what it has activated, and what is on its way to be.

use std::cmp::Ordering;

use super::table::{Sums, Table};
use super::{Cue, Parent, Record};
use crate::activation::graph::{Graph, NodeIx};
use crate::model::settings::Activation;

/// No record, and no place in a list.
const NONE: u32 = u32::MAX;

/// What a wave knows of a neuron that it has reached.
#[derive(Clone, Copy, Debug)]
struct Slot {
    node: NodeIx,
    /// The strongest arrival of this level, if it has a parent.
    strength: f64,
    parent: Option<Parent>,
    /// The record of this pass, or [`NONE`].
    record: u32,
    /// The place in `late`, or [`NONE`].
    late: u32,
}

/// An arrival at a neuron that was visited already: a seed of the next pass.
#[derive(Clone, Copy, Debug)]
struct Late {
    node: NodeIx,
    value: f64,
    parent: Option<Parent>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wave {
    pub weight: f64,
    pub records: Vec<Record>,
    /// The first record of this pass.
    pass_start: usize,
    /// Records to expand next.
    pub frontier: Vec<u32>,
    table: Table,
    slots: Vec<Slot>,
    /// Slots with an arrival in this level.
    arrived: Vec<u32>,
    /// Slots and records that a barrier lets through, before the beam.
    passed: Vec<(u32, Record)>,
    /// What seeds the next pass: the cue at first, then arrivals at visited neurons.
    late: Vec<Late>,
}

/// What a barrier decides by: the settings, and context and inhibition as they stand.
pub(super) struct Barrier<'a> {
    pub graph: &'a Graph<'a>,
    pub settings: &'a Activation,
    pub context: &'a Sums,
    pub inhibition: &'a Sums,
    pub pass: u32,
    pub depth: u32,
}

fn inhibited(inhibition: &Sums, node: NodeIx, drive: f64) -> f64 {
    (drive - inhibition.of(node.0)).clamp(0.0, 1.0)
}

impl Wave {
    /// Makes it the wave of a cue, whatever it was before.
    pub fn start(&mut self, cue: &Cue) {
        let value = if cue.strength.is_nan() { 0.0 } else { cue.strength.clamp(0.0, 1.0) };
        self.weight = cue.weight;
        self.records.clear();
        self.table.clear();
        self.slots.clear();
        self.arrived.clear();
        self.late.clear();
        self.late.push(Late { node: cue.neuron, value, parent: None });
    }

    /// Half from pass N + 1 on: this is what lets a ring die out (seed 2.2, `pass_count`). A cue itself is never halved.
    fn share(pass: u32, settings: &Activation) -> f64 {
        if pass > 1 && pass > settings.pass_count { 0.5 } else { 1.0 }
    }

    pub fn has_seeds(&self, pass: u32, settings: &Activation) -> bool {
        let share = Self::share(pass, settings);
        self.late.iter().any(|late| late.value * share >= settings.min)
    }

    /// Starts a pass. A cue whose neuron is not there is silent.
    pub fn seed(&mut self, graph: &Graph<'_>, pass: u32, settings: &Activation) {
        let share = Self::share(pass, settings);
        self.pass_start = self.records.len();
        self.frontier.clear();
        for slot in &mut self.slots {
            (slot.record, slot.late) = (NONE, NONE);
        }
        for Late { node, value, parent } in std::mem::take(&mut self.late) {
            let value = value * share;
            if value >= settings.min && graph.is_present(node) {
                let place = self.slot(node);
                let record = Record { node, pass, depth: 0, drive: value, value, reported: value, parent };
                self.activate(place as u32, record);
            }
        }
    }

    fn activate(&mut self, place: u32, record: Record) {
        let at = self.records.len() as u32;
        self.slots[place as usize].record = at;
        self.frontier.push(at);
        self.records.push(record);
    }

    /// The place of a neuron among the slots.
    fn slot(&mut self, node: NodeIx) -> usize {
        let next = self.slots.len();
        let place = self.table.place(node.0, next);
        if place == next {
            self.slots.push(Slot { node, strength: 0.0, parent: None, record: NONE, late: NONE });
        }
        place
    }

    /// Keeps the strongest arrival at a neuron. Arrivals come in ascending order of their sources: of equal ones the first
    /// source wins, and of that source the first type.
    pub fn arrive(&mut self, node: NodeIx, strength: f64, from: Parent) {
        let place = self.slot(node);
        let slot = &mut self.slots[place];
        let wins = match slot.parent {
            None => {
                self.arrived.push(place as u32);
                true
            }
            Some(best) => match strength.total_cmp(&slot.strength) {
                Ordering::Greater => true,
                Ordering::Equal => from.record == best.record && from.link < best.link,
                Ordering::Less => false,
            },
        };
        if wins {
            (slot.strength, slot.parent) = (strength, Some(from));
        }
    }

    /// Decides which arrivals activate, under context and inhibition, then by the beam. Returns how many that cut.
    pub fn barrier(&mut self, by: &Barrier<'_>) -> u64 {
        let settings = by.settings;
        self.frontier.clear();
        let mut passed = std::mem::take(&mut self.passed);
        for place in std::mem::take(&mut self.arrived) {
            let slot = &mut self.slots[place as usize];
            let (node, parent) = (slot.node, slot.parent.take());
            let drive = slot.strength * (1.0 + settings.kappa * by.context.of(node.0).min(1.0));
            let value = inhibited(by.inhibition, node, drive);
            if value < settings.min {
                continue;
            }
            if slot.record != NONE {
                let refractory = by.depth - self.records[slot.record as usize].depth <= settings.refractory;
                if !refractory {
                    self.arrive_late(place, Late { node, value, parent });
                }
                continue;
            }
            let (pass, depth) = (by.pass, by.depth);
            passed.push((place, Record { node, pass, depth, drive, value, reported: value, parent }));
        }
        let (all, beam) = (passed.len(), settings.beam as usize);
        if beam > 0 && all > beam {
            let order = |record: &Record| by.graph.order(record.node);
            let best_first = |(_, a): &(u32, Record), (_, b): &(u32, Record)| {
                b.value.total_cmp(&a.value).then_with(|| order(a).cmp(&order(b)))
            };
            passed.select_nth_unstable_by(beam, best_first);
            passed.truncate(beam);
        }
        let cut = (all - passed.len()) as u64;
        for (place, record) in passed.drain(..) {
            self.activate(place, record);
        }
        self.passed = passed;
        cut
    }

    /// Keeps the strongest of a neuron's late arrivals, of equal ones the first.
    fn arrive_late(&mut self, place: u32, late: Late) {
        let slot = &mut self.slots[place as usize];
        match self.late.get_mut(slot.late as usize) {
            Some(known) if late.value > known.value => *known = late,
            Some(_) => {}
            None => {
                slot.late = self.late.len() as u32;
                self.late.push(late);
            }
        }
    }

    /// Adds the values of the finished pass, with inhibition as it stands now.
    pub fn report(&mut self, inhibition: &Sums, sums: &mut Sums) {
        for record in &mut self.records[self.pass_start..] {
            record.reported = inhibited(inhibition, record.node, record.drive);
            sums.add(record.node.0, record.reported * self.weight);
        }
    }
}
