//! Vital signs: figures that say how far a network is a brain.
//!
//! Pure: a graph, records and a ledger in, figures out. Nothing in the cycle depends on them.
