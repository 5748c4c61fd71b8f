//! Language analysis: words and their stems, sentences, names, urgency, what a message does. What perception and recall see of a text.
//!
//! Pure, and without memory: a text in, plain data out. It must not know neurons, agents or time. English, French, German, Spanish and
//! Japanese have stop lists, all but Japanese a stemmer; every other language is segmented by Unicode's rules and compared by
//! folded form. No list here is made from any data set.
//!
//! Place in the flow: stimulus → **text** → perception (what to remember), and question → **text** → recall (cues).

pub mod change;
pub mod date;
mod diary;
mod fragment;
mod language;
mod looks;
mod markup;
mod phrase;
mod piece;
mod prose;
mod sentence;
mod shared;
mod surface;
pub mod talk;
mod urgency;
pub mod wiki;
mod word;
mod xml;

pub use diary::Days;
pub use fragment::is_fragment;
pub use language::{Language, is_stop, language, stem};
pub use looks::{is_seen, looks};
pub use markup::Markup;
pub use phrase::{Phrase, asks, bare_title, is_askable, named_title, phrases, speaker, states, title};
pub use piece::{Splitter, parts, pieces};
pub use prose::{sentences, unwrapped};
pub use shared::{Shared, around, said_from, shared};
pub use surface::{fold, key};
pub use urgency::{Urgency, urgency};
pub use word::{Word, has_few_words_of, identifier_parts, read, same_said, tokens, words, words_in};
pub use xml::xml;
