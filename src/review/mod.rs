//! Review: a run that waits, as the change of belief that it is, and the decision of a person about it.
//!
//! Pure. Place in the flow: a run on its branch → **belief diff** → a person → **review record** → merge or rejection.
//!
//! - `belief`: the diff as data: neurons, ties, prediction, evidence, conflicts, answers that change
//! - `kept_out`: the words that a decision does not let in
//! - `words`: a text before and after, word by word
//! - `page`: the diff as blocks, printed as plain text, Markdown or HTML by one walk
//! - `part`: the operations that are about some neurons, with what they need
//! - `record`: the decision, as the file that `refs/brain/reviews` keeps
//! - `remark`: what is said of a decision later
//! - `rules`: which runs wait for a person, by `[review]` of the settings
//!
//! *Invariant:* text of the brain is data. No printer lets it become markup, an escape of a terminal or a marker of a comment.

pub mod belief;
pub mod kept_out;
pub mod page;
pub mod part;
pub mod record;
pub mod remark;
pub mod rules;
pub mod words;

pub use belief::{Answered, Belief, Change, ChangeKind, Evidence, Question, Tie, consequence};
pub use record::{LESSON, OF_AUDIT, REASON, Resolution, ReviewRecord, Said, TAKEN_BACK, Take, Verdict};
pub use remark::Remark;
