//! The typed three-way merge: three trees in; edits, decisions and conflicts out.
//!
//! Pure: no git, clock, files, environment or randomness. Trees are seen through [`Sides`], so that the cost is that of
//! what right changed. In the flow: a commit of deltas on a branch → **merge** → wake. Sides are always base, left (the
//! tip that moves) and right (what is brought).
//!
//! - `decision`: what a merge says about itself
//! - `field`: one combinator per rule; `neuron`: one neuron by the policy table; `file`: files that are no neurons
//! - `replay`: a recorded run applied to another tree; `tree`: whole trees; `dangling`: what must stay
//! - `shared`: a neuron of the base after the runs that both sides have; `taken_back`: runs that each side reverted
//! - `driver`: the same rules for plain git, one file at a time
//!
//! *Invariant:* text markers never enter a file. What the policy cannot decide is a [`Conflict`], and nothing moves.

mod dangling;
pub mod decision;
pub mod driver;
mod field;
mod file;
pub mod neuron;
mod pointing;
pub mod replay;
mod shared;
mod taken_back;
pub mod tree;

pub(crate) use decision::file_value;
pub use decision::{Conflict, Decision, How};
pub use driver::{Drive, DriverAnswer, drive};
pub use neuron::{NeuronMerge, merge_neuron};
pub use replay::{Direction, Replayed, again, apply_record, give_way, take_back};
pub use tree::{Edit, MergeError, Options, Outcome, Side, Sides, three_way, three_way_with};
