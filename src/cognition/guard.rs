//! Guards: what listens to every answer of every model while it comes, and can break it off in the middle.
//!
//! Whoever asks, a chat, an agent's run or a narrator: each piece of the answer passes here before anybody acts on it. What a guard
//! stops is a value, [`Reply::broken_off`](super::exchange::Reply::broken_off): a step of the chain is stopped and the chain goes on
//! without its text, a run fails and leaves no commit. What was written until then is paid.
//!
//! A guard lives for one exchange. [`Watch::usual`] is the one place where guards join. A guard may also [correct](Judgement::Correct): then
//! the model is told what to mind and goes on from where it was, once. [`Voiced`] is what people hear of an answer while it comes.

use std::collections::VecDeque;

use crate::integrity::controller::{Bounds, Feedback, feedback};
use crate::integrity::lang::{Lang, detect};
use crate::integrity::metrics::Counts;
use crate::integrity::veto;
use crate::limits;
use crate::model::plural;
use crate::text::tokens;

/// Whose answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By<'a> {
    /// The agent on whose behalf it was asked for; `human` in a chat.
    pub agent: &'a str,
    /// The `[models.NAME]` that answers.
    pub model: &'a str,
    /// Whether it is a thought, which nobody reads.
    pub thinks: bool,
}

/// What a guard says of what it heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may go on.
    Go,
    /// It is broken off: why, in words of ours, without any of the model's.
    Stop(String),
    /// It is broken off, and the model is told this and goes on.
    Correct(Feedback),
}

/// Listens to one answer.
pub trait Guard: Send {
    /// Judges the next piece, thoughts included. It is not asked again after it has stopped one.
    fn heard(&mut self, by: By<'_>, piece: &str) -> Judgement;
}

/// All guards of one exchange, asked one after the other.
pub struct Watch {
    guards: Vec<Box<dyn Guard>>,
    stopped: Option<Stopped>,
}

/// How an answer ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It was broken off: why.
    Off(String),
    /// The model is to go on with this in mind.
    ToCorrect(Feedback),
}

impl Watch {
    /// The guards that are always on.
    #[must_use]
    pub fn usual() -> Self {
        Self::of(vec![Box::new(Repetition::default())])
    }

    /// The same with another one.
    #[must_use]
    pub fn and(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Box::new(guard));
        self
    }

    /// Guards of your own.
    #[must_use]
    pub fn of(guards: Vec<Box<dyn Guard>>) -> Self {
        Self { guards, stopped: None }
    }

    /// True as long as the answer may go on.
    pub fn lets_pass(&mut self, by: By<'_>, piece: &str) -> bool {
        if self.stopped.is_none() {
            self.stopped = self.guards.iter_mut().find_map(|guard| match guard.heard(by, piece) {
                Judgement::Go => None,
                Judgement::Stop(why) => Some(Stopped::Off(why)),
                Judgement::Correct(feedback) => Some(Stopped::ToCorrect(feedback)),
            });
        }
        self.stopped.is_none()
    }

    /// How it was broken off; `None`: it was not.
    #[must_use]
    pub fn stopped(self) -> Option<Stopped> {
        self.stopped
    }
}

/// What people hear of an answer while it comes: its text after the [vetoes](veto), the same whatever the pieces are. A sentence is held back
/// until it is whole.
pub struct Voiced(veto::Stream);

impl Voiced {
    /// An answer that has not begun.
    #[must_use]
    pub fn new(lang: Lang) -> Self {
        Self(veto::Stream::new(lang))
    }

    /// Takes the next piece, and returns what may be heard now.
    pub fn pass(&mut self, piece: &str) -> String {
        self.0.push(piece)
    }

    /// Returns the rest, once nothing more comes.
    #[must_use]
    pub fn end(mut self) -> String {
        self.0.finish()
    }
}

/// Corrects a model that apologises, or says that it is one, more often than the [bounds](Bounds) of the controller allow, where a sentence ends.
#[derive(Debug, Default)]
pub struct Ritual {
    said: String,
    /// Bytes of `said` at the last look.
    looked: usize,
    /// The correction that waits for the end of the sentence.
    due: Option<Feedback>,
}

/// Whether a text ends where a sentence does: what follows a figure and a dot may belong to the figure.
fn ends_a_sentence(text: &str) -> bool {
    let said = text.trim_end();
    let body = said.trim_end_matches(['.', '!', '?', '…']);
    text.ends_with('\n')
        || said.ends_with(['。', '！', '？'])
        || body.len() < said.len() && (said.len() < text.len() || !body.ends_with(|c: char| c.is_ascii_digit()))
}

impl Guard for Ritual {
    fn heard(&mut self, by: By<'_>, piece: &str) -> Judgement {
        if by.thinks || self.said.len() > limits::CHAIN_REPLY_BYTES {
            return Judgement::Go;
        }
        self.said.push_str(piece);
        if let Some(due) = &self.due {
            let is_now =
                ends_a_sentence(&self.said) || self.said.len() - self.looked > limits::INTEGRITY_SENTENCE_BYTES;
            return if is_now { Judgement::Correct(*due) } else { Judgement::Go };
        }
        // The longer it is, the rarer it is read, or a long answer costs the square of its length.
        if self.said.len() - self.looked < limits::INTEGRITY_LOOK_BYTES.max(self.looked / 8) {
            return Judgement::Go;
        }
        self.looked = self.said.len();
        let lang = detect(&self.said).unwrap_or(Lang::En);
        let counts = Counts::of(&self.said, lang, tokens(&self.said) as u64);
        self.due = feedback(&counts, &Bounds::default());
        match &self.due {
            Some(due) if ends_a_sentence(&self.said) => Judgement::Correct(*due),
            _ => Judgement::Go,
        }
    }
}

/// Breaks off a model that says the same again and again, byte for byte: a line, a phrase, a run of blanks. Small models do so until
/// they are cut off.
#[derive(Debug, Default)]
pub struct Repetition {
    /// The end of what was said, as long as the longest repetition that is looked for.
    tail: VecDeque<u8>,
    /// Bytes since the last look.
    fresh: usize,
}

/// Bytes between two looks: a look costs some thousand steps, and nothing is urgent within a line.
const LOOK: usize = 64;
const TAIL: usize = limits::GUARD_UNIT_BYTES * limits::GUARD_REPEATS;

impl Guard for Repetition {
    fn heard(&mut self, _: By<'_>, piece: &str) -> Judgement {
        for byte in piece.bytes() {
            if self.tail.len() == TAIL {
                self.tail.pop_front();
            }
            self.tail.push_back(byte);
            self.fresh += 1;
            if self.fresh < LOOK {
                continue;
            }
            self.fresh = 0;
            if let Some((unit, times)) = repeated(self.tail.make_contiguous()) {
                let unit = plural(unit, "byte", "bytes");
                return Judgement::Stop(format!("it said the same {unit} {times} times in a row"));
            }
        }
        Judgement::Go
    }
}

/// The length of what the text ends with again and again, and how often; `None`: it does not.
///
/// The prefix function of the reversed text: with `k` bytes of a suffix of `n` equal to its own beginning, it repeats every `n - k`.
fn repeated(text: &[u8]) -> Option<(usize, usize)> {
    let back = |at: usize| text[text.len() - 1 - at];
    let mut equal = vec![0; text.len()];
    for at in 1..text.len() {
        let mut k: usize = equal[at - 1];
        while k > 0 && back(k) != back(at) {
            k = equal[k - 1];
        }
        if back(k) == back(at) {
            k += 1;
        }
        equal[at] = k;
        let (length, unit) = (at + 1, at + 1 - k);
        if length >= limits::GUARD_REPEATED_BYTES && length / unit >= limits::GUARD_REPEATS {
            return Some((unit, length / unit));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: By<'_> = By { agent: "a", model: "m", thinks: false };

    /// How many bytes are heard until it is broken off.
    fn heard(text: &str, piece: usize) -> Option<usize> {
        let mut watch = Watch::usual();
        let pieces: Vec<char> = text.chars().collect();
        let mut bytes = 0;
        pieces.chunks(piece).map(|piece| piece.iter().collect::<String>()).find_map(|piece| {
            bytes += piece.len();
            (!watch.lets_pass(BY, &piece)).then_some(bytes)
        })
    }

    #[test]
    fn who_says_the_same_again_and_again_is_broken_off() {
        for unit in
            [" ", "no ", "I look into the folder.\n", "お茶を飲む。", "{\"op\": \"create\", \"concept\": \"tea\"}, "]
        {
            for piece in [1, 7, 100_000] {
                let text = format!("Let me see. {}", unit.repeat(60_000 / unit.len()));
                let least = limits::GUARD_REPEATED_BYTES.max(unit.len() * limits::GUARD_REPEATS);
                let at = heard(&text, piece).unwrap_or_else(|| panic!("{unit:?} by {piece}"));
                assert!(at <= (least + 2 * LOOK + 100).max(4 * piece), "{unit:?}: {at} bytes");
            }
        }
        // Two lines in turn, and a paragraph that is as long as a unit may be.
        assert!(heard(&"I look.\nI find nothing.\n".repeat(100), 5).is_some());
        let long: String = (0..limits::GUARD_UNIT_BYTES - 1).map(|n| char::from(b'a' + (n * n % 23) as u8)).collect();
        assert!(heard(&format!("{long}\n").repeat(limits::GUARD_REPEATS), 5).is_some());
    }

    #[test]
    fn what_only_looks_alike_goes_on() {
        let lists: String = (0..3000).map(|n| format!("- item {n} of the list\n")).collect();
        let table: String = (0..500).map(|n| format!("| {n} | {} |\n", n * 7)).collect();
        let ops: String = (0..300).map(|n| format!("{{\"op\": \"create\", \"concept\": \"tea {n}\"}}, ")).collect();
        let rule = format!("# A title\n{}\nand a text\n", "-".repeat(limits::GUARD_REPEATED_BYTES / 2));
        for text in [lists, table, ops, rule, "no ".repeat(limits::GUARD_REPEATS * 4), String::new()] {
            assert_eq!(heard(&text, 7), None, "{}", &text[..text.len().min(80)]);
        }
    }

    #[test]
    fn a_guard_of_your_own_is_asked_until_one_stops() {
        struct Word(&'static str, usize);
        impl Guard for Word {
            fn heard(&mut self, by: By<'_>, piece: &str) -> Judgement {
                self.1 += 1;
                assert!(self.1 < 3, "it is not asked after the end");
                if piece == self.0 { Judgement::Stop(format!("{} said it", by.agent)) } else { Judgement::Go }
            }
        }
        let mut watch = Watch::of(vec![Box::new(Word("x", 0)), Box::new(Word("stop", 0))]);
        let passed: Vec<bool> = ["go", "stop", "go"].iter().map(|piece| watch.lets_pass(BY, piece)).collect();
        let off = Stopped::Off("a said it".to_owned());
        assert_eq!((passed, watch.stopped()), (vec![true, false, false], Some(off)));
    }

    /// The feedback that a text gets, and the bytes that were heard until then.
    fn corrected(text: &str, by: By<'_>) -> Option<(Feedback, usize)> {
        let mut watch = Watch::usual().and(Ritual::default());
        let mut bytes = 0;
        for piece in text.split_inclusive(' ') {
            bytes += piece.len();
            if !watch.lets_pass(by, piece) {
                break;
            }
        }
        match watch.stopped() {
            Some(Stopped::ToCorrect(feedback)) => Some((feedback, bytes)),
            Some(Stopped::Off(why)) => panic!("{why}"),
            None => None,
        }
    }

    #[test]
    fn ritual_is_corrected_while_it_comes() {
        let facts = |from: usize| -> String {
            (from..from + 40).map(|n| format!("Shelf {n} holds {} jars of honey. ", n * 7)).collect()
        };
        let sorry = "I'm sorry. I apologize for the delay. Sorry about that. ".to_owned();
        let text = sorry.clone() + &facts(1);
        let (feedback, bytes) = corrected(&text, BY).unwrap();
        assert!(text[..bytes].ends_with(". "), "at the end of a sentence: {}", &text[..bytes]);
        assert_eq!(feedback, Feedback::FewerApologies);
        assert!(bytes < limits::INTEGRITY_LOOK_BYTES + 64, "{bytes}");
        let model = "As an AI, I read. I am an AI. As a language model I read. ".to_owned();
        assert_eq!(
            corrected(&(model + &facts(1)), BY).map(|(feedback, _)| feedback),
            Some(Feedback::LessSelfReference)
        );
        let once = "I'm sorry, the list was wrong. ".to_owned();
        assert_eq!(corrected(&(once + &facts(1)), BY), None, "an apology that is due");
        assert_eq!(corrected(&(sorry + &facts(1)), By { thinks: true, ..BY }), None, "nobody reads thoughts");
        let quoted = "He wrote \"I'm sorry. I'm sorry. I'm sorry. I'm sorry.\" on the wall. ".to_owned();
        assert_eq!(corrected(&(quoted + &facts(1)), BY), None, "a mention");
    }
}
