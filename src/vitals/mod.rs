//! Vital signs: figures that say how far a network is a brain.
//!
//! Pure: a graph, records and memories in, figures out. Nothing in the cycle depends on them. Place in the flow: what is there →
//! **figures** → `git brain status`. Each figure's definition, source and what is a good sign stand in `docs/vitals.md`. Where a
//! network is too large to be measured whole in the time that a person waits, a part is measured, and the figures say which.

pub mod branching;
pub mod cloze;
pub mod community;
pub mod excerpt;
pub mod null;
pub mod salience;
pub mod structure;
pub mod topology;
pub mod verdict;

pub use branching::Branching;
pub use cloze::{Cloze, RecallByAge};
pub use excerpt::Excerpt;
pub use salience::Saliences;
pub use structure::Structure;
pub use verdict::Verdict;
