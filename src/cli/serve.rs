//! `serve`: starts the server, and says where it is. `mcp`: speaks with one client.

use super::{Done, Session, args};
use crate::brain::client::{Client, Desk, Via};
use crate::brain::{Doors, Ended, Server, Serving};

/// The exit code of what was interrupted at the terminal.
const INTERRUPTED: u8 = 130;

pub(super) fn serve(session: &Session, args: &args::Serve, server: Server) -> Done {
    let out = &session.out;
    let serving = Serving::new(session.dir.clone(), session.world.clone(), session.flags.clone(), &args.addr)?;
    let serving = serving.allowing(args.allowed_host.clone())?;
    // What others should know first, before anything is said to it.
    drop(session.brain()?);
    if serving.has_weak_token() {
        out.say("warning: BRAIN_TOKEN is short enough to be guessed");
    }
    let ended = server(serving, &mut |listening| {
        match out.is_json() {
            true => out.document(listening),
            false => out.text(&format!("{}\n", listening.page)),
        }
        out.say(&format!("programs get this token, which remembers, recalls and proposes: {}", listening.programs));
        out.say("this machine alone can reach it; end it with Ctrl-C");
    })?;
    Ok(if ended == Ended::Interrupted { INTERRUPTED } else { 0 })
}

pub(super) fn speak(session: &Session, args: &args::Mcp, doors: &Doors) -> Done {
    let desk = Desk::new(session.dir.clone(), session.world.clone(), session.flags.clone());
    // A client shows what its server says of itself and little else: where there is no brain, each call says so.
    let ended = (doors.speak)(desk, args.client.as_deref().map(|name| Client::named(name, Via::Mcp)))?;
    Ok(if ended == Ended::Interrupted { INTERRUPTED } else { 0 })
}
