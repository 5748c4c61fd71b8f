//! Sealed memories: texts about a subject (a person, a customer) under a key of that subject, so that destroying the key erases them
//! wherever their ciphertext lies.
//!
//! ```text
//! text, time → padded → sealed by a key of the memory ← subject's key        record → opened by the keys that are here → ranked beside answers
//! ```
//!
//! Pure: keys, random ids and records come in as data. Must not know where keys lie; nothing here writes a word anywhere.

pub mod cipher;
pub mod held;
pub mod padding;
pub mod rank;

pub use cipher::{SubjectKey, read_card, read_memory, seal_memory, seal_name};
pub use held::{Damage, Held, HeldMemory, HeldSubject};
pub use rank::merged;
