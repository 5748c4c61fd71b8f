//! Integrity: measures ritual speech in the replies of one mind, and removes it. Plain data in, plain data out.
//!
//! ```text
//! reply ──► split ──► metrics ──► transition    has the mind left its rituals?
//!             ▲          ├──────► controller    prompt, feedback, failure modes
//!          lexicon       ├──────► evaluation    does one reply pass its case?
//!             ▼          └──────► score         penalty for a training loss
//! reply ──► veto ──► (inject, off by default) ──► reader
//! ledger ─► calibration                         two measures that need no lexicon
//! ```
//!
//! | layer | modules | may use |
//! |---|---|---|
//! | 0 | `lang`, `seeded` | nothing of the room |
//! | 1 | `split`, `protect`, `lexicon` | layer 0 |
//! | 2 | `metrics`, `veto`, `inject`, `calibration` | layers 0 and 1 |
//! | 3 | `transition`, `controller`, `evaluation`, `score` | all below |
//!
//! **Invariant:** no module reads a file, a clock, the network or the environment. Seeds are parameters.
//! Source: `alaya.md` section 2, as repaired by the decisions on it.

pub mod calibration;
pub mod controller;
pub mod evaluation;
pub mod inject;
pub mod lang;
pub mod lexicon;
pub mod metrics;
pub mod protect;
pub mod score;
pub mod seeded;
pub mod split;
pub mod transition;
pub mod veto;
