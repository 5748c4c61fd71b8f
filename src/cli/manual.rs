//! `man`: manual pages, from the same definitions as the help.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use serde::Serialize;

use super::output::safe;
use super::{Done, Session, args, help};
use crate::brain::{Brain, path_in};

/// Name of the whole manual, in the foot of each page.
const MANUAL: &str = "git-brain manual";

/// Pages that were written.
#[derive(Serialize)]
struct Written {
    folder: String,
    pages: Vec<String>,
}

pub(super) fn man(session: &Session, args: &args::Man) -> Done {
    let folder = path_in(&session.dir, &args.folder);
    let mut pages = Vec::new();
    for (name, text) in pages_of(&help::command()) {
        Brain::write_manual(&folder.join(&name), &text)?;
        pages.push(name);
    }
    let written = Written { folder: folder.display().to_string(), pages };
    session
        .out
        .report(&written, |written| format!("{} manual pages in {}\n", written.pages.len(), safe(&written.folder)));
    Ok(0)
}

/// The pages by their file names: one of the program, one of each command and of each command below it.
pub(super) fn pages_of(command: &Command) -> Vec<(String, String)> {
    let mut command = command.clone().disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default().to_owned();
    let mut pages = Vec::new();
    add_pages(&command, &version, &mut pages);
    pages
}

fn add_pages(command: &Command, version: &str, pages: &mut Vec<(String, String)>) {
    // The synopsis is the usage of the help: what `clap_mangen` makes of many options fills the page.
    let usage = command.clone().render_usage().to_string();
    let told = command.clone().override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let man = Man::new(told.subcommand_help_heading("COMMANDS")).source(format!("git-brain {version}")).manual(MANUAL);
    pages.push((man.get_filename(), page(&man, command)));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        add_pages(below, version, pages);
    }
}

fn page(man: &Man, command: &Command) -> String {
    let mut text = Vec::new();
    let has_options = command.get_arguments().any(|arg| !arg.is_hide_set());
    let written = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| if has_options { man.render_options_section(&mut text) } else { Ok(()) })
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut text),
            false => Ok(()),
        })
        .and_then(|()| examples(command).to_writer(&mut text));
    written.expect("invariant: a vector takes everything");
    String::from_utf8(text).expect("invariant: the page is made of text")
}

/// The examples of the help, line by line.
fn examples(command: &Command) -> Roff {
    let mut roff = Roff::default();
    let Some(help) = command.get_after_help().map(ToString::to_string) else { return roff };
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in help.lines().filter(|line| !line.starts_with("Example")) {
        roff.text([roman(line.trim())]);
    }
    roff.control("fi", []);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_there_for_every_command_with_its_options_and_examples() {
        let pages: std::collections::BTreeMap<String, String> = pages_of(&help::command()).into_iter().collect();
        // As it is read: dashes and apostrophes are written otherwise.
        let plain = |page: &str| page.replace("\\-", "-").replace("\\*(Aq", "'");
        let root = plain(&pages["git-brain.1"]);
        for command in help::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let page = &pages[&format!("git-brain-{name}.1")];
            let plain = plain(page);
            assert!(plain.contains(&command.get_about().unwrap().to_string()), "{name}: {page}");
            assert!(root.contains(&format!("git-brain-{name}(1)")), "{name}");
            let options = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long());
            for option in options {
                assert!(plain.contains(&format!("--{option}")), "{name} --{option}: {page}");
            }
            let example = command.get_after_help().unwrap().to_string();
            let example = example.lines().nth(1).unwrap().trim();
            assert!(plain.contains(example), "{name}: {example}: {page}");
        }
    }
}
