//! The chemistry of learning: dopamine says by how much an expectation was wrong, serotonin tells the story of it.
//!
//! Pure. In the flow: a run's prediction and its outcome → **prediction error** → a corrective delta; and, on a path of its own,
//! the ledger → **narrative**. Inhibition (GABA) is part of propagation and of the cycle's brake.
//!
//! *Invariant:* the ledger and the weights depend on nothing in `serotonin`.

pub mod dopamine;
pub mod serotonin;
