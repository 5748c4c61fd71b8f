//! Activation: how strength spreads through the network.
//!
//! [`Graph`] is the network as arrays, [`propagate`] waves over it. Pure: plain data in, plain data out; no
//! file, clock or randomness. Nothing here changes a neuron: activation is never stored; [`learn()`] only proposes.
//!
//! Flow: neurons → `Graph` → cues → `propagate` → what is active, in which context, along which path.

pub mod find;
pub mod graph;
pub mod index;
pub mod learn;
mod lexicon;
pub mod propagation;
pub mod reading;
pub mod recall;
pub mod ripple;
pub mod sections;
pub mod snapshot;
#[cfg(test)]
mod worked_numbers;

pub use find::{Match, find};
pub use graph::{Change, Columns, ColumnsBuf, ColumnsBuilder, Graph, NodeIx, Patch, PatchView, Spread};
pub use index::Index;
pub use learn::{learn, ways};
pub use propagation::{Cue, Cut, Profile, Propagation, Scratch, Step, propagate, propagate_with};
pub use recall::{Also, Answer, Filters, Found, Way, answer};
pub use snapshot::{Collector, Snapshot};
