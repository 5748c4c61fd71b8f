//! Dopamine: by how much an expectation was wrong, and what follows from it for the connections that led there.
//!
//! Pure: predictions, outcomes and ledger entries in, numbers and operations out. Must not know who asks, git, or clocks. Place in the
//! flow: a judged run's record and its outcome → [`judge`] → [`pathway`] → [`credits`] → [`reinforcements`], a corrective delta; and
//! back: the ledger → [`expectations`] → what decision does with a pathway next time; the ledger → [`calibration`], for people.
//!
//! It is no reward but a prediction error: what was expected teaches nothing. Source: MagistraAI's technical note, 3.3 (after TD
//! learning, Sutton and Barto).

mod calibration;
mod expectation;
mod judgement;
mod pathway;
mod stance;
mod temper;

pub use calibration::{Bin, Calibration, LEAST_STATED, calibration};
pub use expectation::{Expectation, Prospect, choose, expectations, normal};
pub use judgement::{Judgement, Unjudged, judge, prediction_error};
pub use pathway::{Credit, credits, end, pathway, reinforcements};
pub use stance::{History, Stance, judgements_of, option_id, question_key, stance};
pub use temper::Temper;
