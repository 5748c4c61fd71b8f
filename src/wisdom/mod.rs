//! Wisdom: what came of past actions, distilled into seeds that outlive the session and can be handed to another brain.
//!
//! ```text
//! ledger, councils, trailers → exchanges → karma → seeds → standing (support, contradict, confidence, causal) → counsel
//! ```
//!
//! Pure: exchanges come in as data. The first half of the Alaya document is published and ends before this part: all formulas here are ours.

pub mod bound;
pub mod bundle;
pub mod causes;
pub mod distil;
pub mod karma;
pub mod personal;
pub mod standing;
pub mod words;

pub use bundle::{Bundle, BundleFault, BundledSeed};
pub use causes::{BADLY, Causal, Causes, WELL, spelt};
pub use distil::distil;
pub use karma::{Exchange, Karma, WordedExchange, worded};
pub use standing::{
    Counsel, SeedStanding, State, about, against, applicable, expected_of, is_kept_out, standings, waiting,
};
