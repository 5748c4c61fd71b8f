//! Consolidation: what sleep strengthens, replays, scales down and prunes, as arithmetic on neurons; and the log of it.
//!
//! Pure. In the flow: quiet → **sleep** → main. The cycle shows each neuron once ([`Glance`]), then gives the few that the
//! rules concern to them. Source of the rules: MagistraAI's technical note, 6.
//!
//! - `glance`: what one look at a neuron tells: candidate, prunable, weak, tainted
//! - `strengthen`: connections between candidates; `replay`: the ledger once more; `prune`: what goes
//! - `record`: every change, one line each, and their totals; `largest`: the weights that moved most

mod glance;
mod largest;
mod prune;
pub mod record;
mod replay;
mod strengthen;

pub use glance::{Glance, Now, candidates};
pub use largest::{Largest, Moved};
pub use prune::{Pruned, prune};
pub use record::{Line, SleepRecord, Totals, Why};
pub use replay::{interleaved, replay};
pub use strengthen::{downscale, strengthen};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Neuron;
use crate::model::ids::NeuronId;

/// The neurons that a rule works on, by id. What is not in it is not touched. A rule copies what it changes and nothing else: states
/// before and after share the rest.
pub type Neurons = BTreeMap<NeuronId, Arc<Neuron>>;
