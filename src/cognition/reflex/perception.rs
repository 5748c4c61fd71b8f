//! Perception: turns stimuli into episodic and concept neurons.

use crate::cognition::{Network, Snapshot};
use crate::delta::Document;
use crate::model::Settings;

/// What perception proposes.
pub(super) fn think(_snapshot: &Snapshot, _network: &dyn Network, _settings: &Settings) -> Document {
    Document::default()
}
