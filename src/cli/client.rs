//! `hook CLIENT EVENT`, `setup`: coding agents.

use std::io::IsTerminal;

use super::args;
use super::output::safe;
use super::{Done, Session};
use crate::brain::{Brain, BrainError, Source, read_source};
use crate::limits;

/// The exit code of a hook that was called wrongly. Clients take 2 for an order to stop what they do.
const WRONG: u8 = 1;

pub(super) fn hook(session: &Session, args: &args::Hook) -> Done {
    match answered(session, args) {
        Ok(text) => {
            session.out.text(&text);
            Ok(0)
        }
        Err(error) => {
            session.out.say(&format!("error: {}", safe(&error.to_string())));
            error.hint().iter().for_each(|hint| session.out.say(&format!("hint: {}", safe(hint))));
            Ok(WRONG)
        }
    }
}

fn answered(session: &Session, args: &args::Hook) -> Result<String, BrainError> {
    let [event] = args.args.as_slice() else {
        return Err(BrainError::usage(format!("name one event: git brain hook {} EVENT", args.name)));
    };
    let input = match std::io::stdin().is_terminal() {
        true => Vec::new(),
        false => read_source(&Source::Stdin, limits::HOOK_INPUT_BYTES)?.0,
    };
    let dir = session.is_said.then_some(session.dir.as_path());
    Brain::client_hook(dir, session.world.clone(), &session.flags, &args.name, event, &input)
}
