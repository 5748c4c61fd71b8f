//! The façade: everything that a front door can ask of a brain, as functions from plain data to plain data.
//!
//! Front doors (`cli`, later `http` and `mcp`) know this room and `model` types, nothing else. Every answer is a value
//! that serialises; how it is printed is the front door's business.

pub mod schema;
pub mod trade;

use std::path::Path;

use crate::cycle::Cycle;
pub use crate::cycle::{CycleError as BrainError, HUMAN, Progress};
pub use crate::model::settings::Override;
pub use crate::world::World;

/// One brain, opened by one command.
pub struct Brain {
    pub(crate) cycle: Cycle,
}

impl Brain {
    /// Opens the brain that `dir` lies in, with settings from flags.
    pub fn open(dir: &Path, world: World, flags: &[Override]) -> Result<Self, BrainError> {
        Ok(Self { cycle: Cycle::open(dir, world, flags)? })
    }
}
