//! `trust`, `hooks`, `check`, `doctor`, `schema`, `import`, `export`: the house around the network.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use super::args;
use super::output::safe;
use super::{Done, Session};
use crate::brain::{Brain, BrainError, TrustReport};

/// Installs our hooks; called by `init`.
pub(super) fn install_hooks(session: &Session, dir: &Path) -> Result<(), BrainError> {
    let answer = Brain::install_hooks(dir, &super::write::program(), false)?;
    answer.notes.iter().for_each(|note| session.out.say(note));
    Ok(())
}

pub(super) fn trust(session: &Session, args: &args::Trust) -> Done {
    let brain = session.brain()?;
    if args.revoke {
        if !args.writer.dry_run {
            let report = brain.revoke_trust()?;
            session.out.report(&report, |_| "nothing of this brain is trusted on this machine any more\n".to_owned());
        }
        return Ok(0);
    }
    let found = brain.trust_list()?;
    let open: Vec<_> = found.items.iter().filter(|item| !item.trusted).cloned().collect();
    if args.list || args.writer.dry_run || open.is_empty() {
        session.out.report(&found, listed);
        return Ok(0);
    }
    session.out.say(&listed(&found));
    if std::io::stdin().is_terminal() && !confirmed(session) {
        return Err(BrainError::refused("nothing was trusted"));
    }
    let report = brain.trust(&open)?;
    session.out.report(&report, |r| format!("trusted {}\n", super::write::plural(r.items.len(), "file", "files")));
    Ok(0)
}

fn listed(report: &TrustReport) -> String {
    if report.items.is_empty() {
        return "nothing here needs trust: all agents are the bootstrap's own\n".to_owned();
    }
    let line = |item: &crate::brain::TrustItem| {
        let state = if item.trusted { "trusted" } else { "inert  " };
        format!(
            "{state}  {} ({})\n           may {}\n",
            safe(&item.path),
            super::write::short(&item.blob),
            safe(&item.grants)
        )
    };
    report.items.iter().map(line).collect()
}

fn confirmed(session: &Session) -> bool {
    session.out.say("Trust exactly these files on this machine? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
