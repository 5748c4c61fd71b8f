//! A council: several different minds vote on a question, and copies of one mind count once.
//!
//! ```text
//! roles ──prompts──▶ voters (outside) ──replies──▶ vote
//!                                                   │
//!           message (signed, in thread, fresh) ◀────┤
//!                                                   ▼
//!                             seal (all sealed, then opened)
//!                                                   │
//! past votes ──▶ independence ──▶ quorum ──▶ verdict ◀── failure, diversity
//!                                                   │
//!                                                   ▼
//!                                    decision, or escalation to a person
//! ```
//!
//! | layer | modules | may use |
//! |---|---|---|
//! | 6 | `gate`, `minds`, `words` | all below |
//! | 5 | `document`, `record` | all below |
//! | 4 | `verdict`, `escalation` | all below |
//! | 3 | `quorum`, `printed`, `failure`, `diversity`, `seal`, `reflex` | 2, 1 |
//! | 2 | `vote`, `message`, `independence`, `roles` | 1 |
//! | 1 | `ids`, `likeness`, `digest`, `rules`, `question`, `against` | `limits`, `model` and `text` alone |
//!
//! **Architecture Invariant:** no files, clock, network or randomness. Times, nonces and signatures come in as data.
//!
//! Source: seed `alaya.md`, section 3 (AI Sangha), as mended by the decisions on phase 2.

mod against;
pub(crate) mod digest;
pub mod diversity;
pub mod document;
pub mod escalation;
pub mod failure;
pub mod gate;
pub mod ids;
pub mod independence;
pub mod likeness;
pub mod message;
pub mod minds;
pub mod printed;
pub mod question;
pub mod quorum;
pub mod record;
pub mod reflex;
pub mod roles;
pub mod rules;
pub mod seal;
pub mod verdict;
pub mod vote;
mod words;

#[cfg(test)]
mod tests;
