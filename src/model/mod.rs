//! The network's nouns: neurons, connections, salience, ids, stamps, and their canonical JSON.
//!
//! Pure: no git, clock, network, environment or randomness. Everything above builds on these types; this folder
//! imports nothing of the crate but `limits`.

pub mod capabilities;
pub mod chain;
pub mod code;
mod cognition;
pub mod cutter;
pub mod deliberation;
pub mod document;
pub mod forge;
pub mod form;
pub mod ids;
pub mod integrity;
pub mod json;
pub mod layout;
pub mod models;
pub mod neuron;
pub mod origin;
pub mod plural;
pub mod portable;
pub mod review;
pub mod salience;
pub mod sealed;
pub mod secret;
pub mod settings;
pub mod shell;
pub mod spending;
pub mod stamp;
pub mod wisdom;

pub use document::{Acknowledgement, Agent, Flag, Metadata, Signal, Stimulus};
pub use form::Format;
pub use ids::{AgentName, HUMAN, IdError, NeuronId, RunId, SignalId, StimulusId};
pub use neuron::{Connection, Kind, Link, Name, NamedBy, Neuron};
pub use origin::{Level, Origin};
pub use plural::{plural, ranges, within};
pub use settings::Settings;
pub use shell::shell_word;
pub use stamp::{BEYOND, Stamp};
