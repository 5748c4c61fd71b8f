//! Deliberation: which hypotheses deserve to land, by bounded debate and by gates that no mind can override.
//!
//! ```text
//!                    ┌─────────────── one state machine for each tree ───────────────┐
//! forest ─▶ weather ─▶ mine ─▶ debate ─▶ inspect ─▶ nursery ─▶ gates ─▶ challenge ─▶ align ─▶ classes ─▶ cycle ─▶ forest
//! ```
//!
//! Pure. [`forest`] is what all cycles of a goal have left, and the validator; [`weather`] divides attention; [`roles`] says who plays, and that
//! gardener and skeptic are of two families; [`tree`] is the debate of one tree; [`wants`] what it asks for, [`steps`] what it did; [`verdict`] the forms of what minds say, [`held`] how an answer is held to one; [`likeness`] says what is new; [`nursery`], [`gates`],
//! [`classes`] and [`seeds`] judge; [`cycle`] puts together what trees gave; [`record`] and [`sky`] are what is stored; [`contested`] says what counts where records contradict each other; [`events`] tells every step; [`trial`] is what built-in gates measure
//! on, and [`reflex`] the minds that need no model.
//!
//! *Invariant:* [`classes::classify`] reads a gate record and a flag of the nursery. What a skeptic says of a candidate lies beside the record, in
//! a field that nothing reads which decides.

pub mod classes;
pub mod contested;
pub mod cycle;
pub mod events;
pub mod forest;
pub mod gates;
pub mod held;
pub mod likeness;
pub mod nursery;
pub mod record;
pub mod reflex;
pub mod roles;
pub mod seeds;
pub mod sky;
pub mod steps;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_again;
pub mod tree;
pub mod trial;
pub mod verdict;
pub mod wants;
pub mod weather;
