//! Models by script: what they do follows from the seed, the question and what they are shown, and from nothing else.

use std::ops::ControlFlow;

use git_brain::brain::{Asks, Unanswered};
use git_brain::cognition::chain::Why;
use git_brain::cognition::exchange::{Reply, Request, ToolCall, Usage};
use git_brain::text;
use serde_json::{Value, json};

use super::statistics::Dice;
use super::task::Question;

/// What a small model does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Habit {
    /// Lists one folder as long as it may.
    Loops,
    /// Calls tools that are not there.
    Invents,
    /// Calls a tool in a form that is none.
    Stammers,
    /// Answers at once, with nothing in it.
    Shallow,
    /// Says dots.
    Empty,
    /// Looks as it should, and in one case of two says what it found.
    Fair,
    /// Is not there.
    Offline,
}

impl Habit {
    /// All of them, with their shares of a hundred: an assumption, after what is told of small models.
    pub const ALL: [(Self, usize); 7] = [
        (Self::Loops, 35),
        (Self::Invents, 10),
        (Self::Stammers, 10),
        (Self::Shallow, 15),
        (Self::Empty, 10),
        (Self::Fair, 15),
        (Self::Offline, 5),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Loops => "lists one folder again and again",
            Self::Invents => "calls tools that are not there",
            Self::Stammers => "calls in a form that is none",
            Self::Shallow => "answers at once, with nothing in it",
            Self::Empty => "says dots",
            Self::Fair => "looks; concludes in one case of two",
            Self::Offline => "is not there",
        }
    }

    fn drawn(dice: &mut Dice) -> Self {
        let mut left = dice.below(100);
        for (habit, share) in Self::ALL {
            if left < share {
                return habit;
            }
            left -= share;
        }
        Self::Offline
    }
}

/// Of a hundred questions a large model is not there for so many.
const LARGE_OFFLINE: usize = 5;

/// The models as they are for one question, and what was asked of them.
pub struct Models<'q> {
    question: &'q Question,
    pub habit: Habit,
    /// Whether the fair one concludes.
    concludes: bool,
    large_is_there: bool,
    coder_is_there: bool,
    pub turns: u32,
    pub usage: Usage,
}

impl<'q> Models<'q> {
    /// Those of a seed: the same for every condition.
    pub fn new(question: &'q Question, seed: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003) ^ question.number as u64);
        let habit = Habit::drawn(&mut dice);
        let concludes = dice.below(2) == 0;
        let mut is_there = || dice.below(100) >= LARGE_OFFLINE;
        let (large_is_there, coder_is_there) = (is_there(), is_there());
        Self { question, habit, concludes, large_is_there, coder_is_there, turns: 0, usage: Usage::default() }
    }

    fn small(&self, request: &Request, seen: &str) -> Option<Reply> {
        let tools = !request.tools.is_empty();
        let turn = self.turns as usize;
        Some(match self.habit {
            Habit::Offline => return None,
            // The same call in three ways of writing it.
            Habit::Loops if tools => {
                calls("list_dir", [json!({"path": "."}), json!({"path": "./"}), json!({})][turn % 3].clone())
            }
            Habit::Loops => says("I have looked at the folder."),
            Habit::Invents if tools => calls(["ls", "move_file", "cat"][turn % 3], json!({"path": "."})),
            Habit::Invents => says("I could not look."),
            Habit::Stammers if tools => says(&format!("[TOOL:read_file:{}]", self.question.file())),
            Habit::Stammers => says("The file could not be read."),
            Habit::Shallow => says("It is as one would expect."),
            Habit::Empty => says("..."),
            Habit::Fair => match self.looks(request, seen) {
                Some(call) => call,
                None if self.concludes && seen.contains(self.question.value) => says(&self.question.fact()),
                None => says("I have found a note about it."),
            },
        })
    }

    /// One that concludes from what it is shown, and looks for what is missing.
    fn large(&self, request: &Request, seen: &str) -> Reply {
        match self.looks(request, seen) {
            Some(call) => call,
            None if seen.contains(self.question.value) => says(&self.question.fact()),
            None => says("Nothing that I was shown says it."),
        }
    }

    /// The next look that is missing: into the folder, then into the file.
    fn looks(&self, request: &Request, seen: &str) -> Option<Reply> {
        if request.tools.is_empty() || seen.contains(self.question.value) {
            return None;
        }
        let file = self.question.file();
        let read = seen.contains(&format!("read_file {{\"path\":\"{file}\"}} gave"))
            || seen.contains("[data: read_file gave]");
        match (read, seen.contains(&file)) {
            (true, _) => None,
            (_, true) => Some(calls("read_file", json!({"path": file}))),
            _ => Some(calls("list_dir", json!({"path": "."}))),
        }
    }
}

impl Asks for Models<'_> {
    fn ask(
        &mut self,
        model: &str,
        request: &Request,
        hear: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Reply, Unanswered> {
        let seen: String = request.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n");
        let reply = match model {
            "small" => self.small(request, &seen),
            "large" => self.large_is_there.then(|| self.large(request, &seen)),
            _ => self.coder_is_there.then(|| self.large(request, &seen)),
        };
        let Some(mut reply) = reply else {
            return Err(Unanswered { why: Why::Offline, message: "it cannot be reached".to_owned() });
        };
        let tools: usize = request.tools.iter().map(|tool| text::tokens(&tool.parameters.to_string())).sum();
        let written: usize = reply.calls.iter().map(|call| text::tokens(&call.arguments.to_string()) + 8).sum();
        reply.usage =
            Usage { input: (text::tokens(&seen) + tools) as u64, output: (text::tokens(&reply.text) + written) as u64 };
        self.turns += 1;
        self.usage.input += reply.usage.input;
        self.usage.output += reply.usage.output;
        let _ = hear(&reply.text);
        Ok(reply)
    }
}

fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn calls(name: &str, arguments: Value) -> Reply {
    let call = ToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments };
    Reply { calls: vec![call], ..Reply::default() }
}
