//! Reflexes: agents that think by rules of this program, offline, without any model.

pub mod perception;
