//! The pure rooms that are fuzzed, as a library of the product's name: the sources are the product's own. All of it, with
//! git, HTTP and the command line, takes several times as long to build for fuzzing.

#[path = "../../src/chemistry/mod.rs"]
pub mod chemistry;
pub mod cognition;
#[path = "../../src/consolidation/mod.rs"]
pub mod consolidation;
#[path = "../../src/deliberation/mod.rs"]
pub mod deliberation;
#[path = "../../src/delta/mod.rs"]
pub mod delta;
#[path = "../../src/limits/mod.rs"]
pub mod limits;
#[path = "../../src/merge/mod.rs"]
pub mod merge;
#[path = "../../src/model/mod.rs"]
pub mod model;
#[path = "../../src/text/mod.rs"]
pub mod text;
