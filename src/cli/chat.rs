//! `chat`: one question, or a conversation on a terminal. Who answered stands on badges, on standard error.

use std::io::{BufRead, IsTerminal, Write};
use std::ops::ControlFlow;

use super::args;
use super::output::{Output, safe, safe_line};
use super::{Done, Session};
use crate::brain::{Brain, BrainError, ChatAnswer, ChatEvent, ChatMode, ChatRequest, Confirmations};
use crate::model::plural;

pub(super) fn chat(session: &Session, args: &args::Chat) -> Done {
    let brain = session.brain()?;
    let mut request = ChatRequest {
        message: String::new(),
        conversation: args.conversation.clone(),
        mode: match args.mode {
            args::Mode::Auto => ChatMode::Auto,
            args::Mode::Simple => ChatMode::Simple,
            args::Mode::Reflexive => ChatMode::Reflexive,
            args::Mode::Council => ChatMode::Council,
        },
        category: args.category.clone(),
        dry_run: args.writer.dry_run,
    };
    match args.message.as_deref() {
        Some("-") => request.message = Brain::read_message()?,
        Some(message) => request.message = message.to_owned(),
        None if std::io::stdin().is_terminal() && !session.out.is_json() => return converse(session, request),
        None => return Err(BrainError::usage("say what: git brain chat MESSAGE, or `-` for standard input")),
    }
    answer(session, &brain, &request)?;
    Ok(0)
}

/// Question and answer until the end of the input. The brain is opened for each: settings and trust may have changed, and nothing of
/// a long conversation is kept in memory.
fn converse(session: &Session, mut request: ChatRequest) -> Done {
    session.out.say("end the conversation with Ctrl-D");
    loop {
        prompt("> ");
        let mut line = String::new();
        // Not locked for longer: a confirmation is read from there as well.
        if !matches!(std::io::stdin().lock().read_line(&mut line), Ok(1..)) {
            prompt("\n");
            return Ok(0);
        }
        if line.trim().is_empty() {
            continue;
        }
        request.message = line;
        match session.brain().and_then(|brain| answer(session, &brain, &request)) {
            Ok(answer) => request.conversation = Some(answer.conversation),
            // One question without an answer does not end a conversation.
            Err(error) => super::output::failure(&error, false),
        }
    }
}

fn answer(session: &Session, brain: &Brain, request: &ChatRequest) -> Result<ChatAnswer, BrainError> {
    let out = &session.out;
    let confirmations = brain.confirmations();
    let mut shown = false;
    let answer = brain.chat(request, &mut |event| {
        if let ChatEvent::Answered { answer, .. } = &event {
            // People need not wait until it is remembered.
            shown = !out.is_json();
            out.line(worded(answer).trim_end());
            out.say(&badges(answer, out));
        }
        happened(out, &confirmations, &event);
        ControlFlow::Continue(())
    })?;
    if !shown {
        out.report(&answer, worded);
    }
    answer.notes.iter().for_each(|note| out.say(&format!("note: {}", safe(note))));
    Ok(answer)
}

fn worded(answer: &ChatAnswer) -> String {
    let mut text = format!("{}\n", safe(&answer.reply));
    text.extend(answer.citations.iter().map(|c| format!("  [{}] {}\n", c.n, safe_line(&c.id))));
    text
}

/// `[OL1 ▸ 2 turns] [M1 ▸ 1 turn]`.
fn badges(answer: &ChatAnswer, out: &Output) -> String {
    let mark = if out.is_unicode() { "▸" } else { ">" };
    let badge = |name: &str, turns: u32| match turns {
        0 => format!("[{} {mark} no model]", safe_line(name)),
        turns => format!("[{} {mark} {}]", safe_line(name), plural(turns as usize, "turn", "turns")),
    };
    let all: Vec<String> = answer.chain.iter().map(|node| badge(&node.node, node.turns)).collect();
    format!("{} {}", all.join(" "), safe_line(&answer.conversation))
}

fn happened(out: &Output, confirmations: &Confirmations, event: &ChatEvent) {
    match event {
        ChatEvent::NeedsConfirm { id, node, name, args, .. } => {
            confirmations.answer(id, allowed(out, node, name, &args.to_string()));
        }
        // What an answer without a model looks up is shown on its badges.
        ChatEvent::ToolCalled { node, name, args } if !matches!(node.as_str(), "recall" | "check") => {
            out.say(&format!("{}: {} {}", safe_line(node), safe_line(name), safe_line(&args.to_string())));
        }
        ChatEvent::Skipped { node, why, .. } => {
            out.say(&format!("{}: no answer: {}", safe_line(node), safe_line(why)));
        }
        _ => {}
    }
}

/// Asks on the terminal; where there is none, nobody allows anything.
fn allowed(out: &Output, node: &str, name: &str, args: &str) -> bool {
    let what = format!("{} wants to {} {}", safe_line(node), safe_line(name), safe_line(args));
    if out.is_json() || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        out.say(&format!("{what}: refused, because there is no terminal to confirm it on"));
        return false;
    }
    prompt(&format!("{what}\nallow it? [y/N] "));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

/// Words before what the person types.
fn prompt(text: &str) {
    let mut err = anstream::stderr();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
