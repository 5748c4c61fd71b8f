//! The book: its summary has every page, and the shell of its tour and recipes prints what the pages show.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The pages of a folder of docs/, as paths from there.
fn pages_of(folder: &str) -> Vec<String> {
    let listed = std::fs::read_dir(root().join("docs").join(folder)).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned());
    names.filter(|name| name.ends_with(".md")).map(|name| Path::new(folder).join(name).display().to_string()).collect()
}

#[test]
fn summary_has_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(listed.len(), once.len(), "{listed:?}");
    let mut pages: BTreeSet<String> = pages_of("").into_iter().chain(pages_of("recipes")).collect();
    pages.remove("SUMMARY.md");
    assert_eq!(once, pages.iter().map(String::as_str).collect());
}

/// A part of a page that something is done with.
enum Step {
    /// A command, and what it prints.
    Command { said: String, printed: Vec<String> },
    /// A file to write.
    File { path: String, text: String },
    /// A line of a crontab.
    Cron(String),
}

/// The steps of a page: blocks of `console`; other blocks behind a line that is a path in backticks are files.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    let mut path = None;
    while let Some(line) = lines.next() {
        let alone = line.strip_prefix('`').and_then(|l| l.strip_suffix('`')).filter(|l| !l.contains('`'));
        if !line.is_empty() && !line.starts_with("```") {
            path = alone.map(str::to_owned);
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match (language.split(' ').next().unwrap_or_default(), path.take()) {
            ("console", _) => steps.extend(commands(&block)),
            ("cron", _) => steps.extend(block.iter().map(|line| Step::Cron((*line).to_owned()))),
            (_, Some(path)) => steps.push(Step::File { path, text: block.join("\n") + "\n" }),
            (language @ ("sh" | "bash"), None) => panic!("a block of {language} is run by nothing: {block:?}"),
            _ => {}
        }
    }
    steps
}

/// The commands of a block: `$ ` begins one, `> ` goes on with it, and what follows is printed.
fn commands(block: &[&str]) -> Vec<Step> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), found.last_mut()) {
            (Some(said), _, _) => found.push((said.to_owned(), Vec::new())),
            (_, Some(more), Some((said, printed))) if printed.is_empty() => *said += &format!("\n{more}"),
            (_, _, Some((_, printed))) => printed.push((*line).to_owned()),
            _ => panic!("{line:?} stands before any command"),
        }
    }
    found.into_iter().map(|(said, printed)| Step::Command { said, printed }).collect()
}

/// Ends what a command printed.
const END: &str = "\u{1e}";

/// One script for all steps of a page, in one shell, as a reader types them.
fn script(steps: &[Step]) -> String {
    let mut script = "exec 2>&1\n".to_owned();
    for step in steps {
        match step {
            Step::Command { said, .. } => _ = writeln!(script, "{said}\nprintf '{END}\\n'"),
            Step::File { path, text } => {
                _ = writeln!(script, "mkdir -p \"$(dirname {path})\"\ncat >{path} <<'END OF FILE'\n{text}END OF FILE");
            }
            // Cron has no variables but these, no folder but home, and takes % for the end of a line.
            Step::Cron(line) => {
                let command = line.split_whitespace().skip(5).collect::<Vec<_>>().join(" ");
                assert!(!command.contains('%'), "{line}");
                let quoted = command.replace('\'', "'\\''");
                _ = writeln!(
                    script,
                    "(cd \"$HOME\" && env -i HOME=\"$HOME\" LOGNAME=ann SHELL=/bin/sh PATH=\"$PATH\" GIT_CONFIG_GLOBAL=/dev/null sh -c \
                     '{quoted}') || echo \"cron: exit $?\"\nprintf '{END}\\n'"
                );
            }
        }
    }
    script
}

/// A line without what differs each time: ids, commits, dates.
fn plain(line: &str) -> Vec<String> {
    let is_hex = |word: &str| word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    let word = |word: &str| {
        let id = word.find(|c: char| c.is_ascii_digit()).filter(|at| {
            let rest = &word[*at..];
            rest.len() > 19 && rest.as_bytes()[8] == b't' && rest.as_bytes()[18] == b'z'
        });
        if let Some(at) = id {
            let tail: String = word[at..].chars().skip(28).collect();
            return format!("{}RUN{tail}", &word[..at]);
        }
        let cut: Vec<&str> = word.split(['-', '.', ':', '(', ')', '@', ',', '/']).collect();
        let is_number =
            |part: &str, digits: usize| part.len() >= digits && part.bytes().take(digits).all(|b| b.is_ascii_digit());
        if let [year, month, day, ..] = cut[..]
            && year.len() == 4
            && is_number(year, 4)
            && is_number(month, 2)
            && is_number(day, 2)
        {
            return "DATE".to_owned();
        }
        cut.iter().map(|part| if is_hex(part) { "#" } else { part }).collect::<Vec<_>>().join("-")
    };
    line.split_whitespace().map(word).collect()
}

/// True if a line was printed as it is shown; `…` stands for anything.
fn is_shown(shown: &str, printed: &str) -> bool {
    let mut rest = plain(printed).join(" ");
    let parts: Vec<String> = shown.split('…').map(|part| plain(part).join(" ")).collect();
    for (at, part) in parts.iter().enumerate() {
        let found = match at {
            0 => rest.starts_with(part.as_str()).then_some(0),
            _ => rest.find(part.as_str()),
        };
        let Some(found) = found else { return false };
        rest = rest[found + part.len()..].to_owned();
    }
    shown.ends_with('…') || rest.is_empty()
}

/// What differs between what a page shows and what was printed. A line that is `…` alone stands for any lines.
fn difference(shown: &[String], printed: &[&str]) -> Option<String> {
    let mut rest = printed.iter().filter(|line| !line.trim().is_empty());
    let mut skips = false;
    for line in shown.iter().filter(|line| !line.trim().is_empty()) {
        if line.trim() == "…" {
            skips = true;
            continue;
        }
        let found = if skips { rest.find(|said| is_shown(line, said)) } else { rest.next() };
        skips = false;
        match found {
            Some(said) if is_shown(line, said) => {}
            other => return Some(format!("shown:   {line}\nprinted: {}", other.unwrap_or(&"nothing more"))),
        }
    }
    rest.next().filter(|_| !skips).map(|more| format!("printed as well: {more}"))
}

/// Runs a page's shell in an empty folder, and compares.
fn run(page: &str) {
    let steps = steps(&read(page));
    let sandbox = Sandbox::empty();
    let programs = sandbox.beside("bin");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-brain"), programs.join("git-brain")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let sources = root().display().to_string();
    let mut command = sandbox.command("sh", &["-c", &script(&steps)]);
    command.env("PATH", path).env("SOURCES", sources).env("COLUMNS", "140");
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut answers = printed.split(END);
    for step in &steps {
        let (said, shown) = match step {
            Step::Command { said, printed } => (said.as_str(), printed.as_slice()),
            // What cron has to say comes as mail: nothing goes wrong.
            Step::Cron(line) => {
                let answer = answers.next().unwrap_or_default();
                assert!(!answer.contains("cron: exit") && !answer.contains("error:"), "{page}: {line}: {answer}");
                continue;
            }
            Step::File { .. } => continue,
        };
        let answer: Vec<&str> = answers.next().unwrap_or_default().lines().collect();
        if let Some(difference) = difference(shown, &answer) {
            panic!("{page}\n$ {said}\n{difference}\n\nIn full:\n{}", answer.join("\n"));
        }
    }
}

#[test]
fn tour_prints_what_it_shows() {
    run("docs/tour.md");
}

#[test]
fn recipes_print_what_they_show() {
    for page in pages_of("recipes") {
        run(&format!("docs/{page}"));
    }
}

#[test]
fn difference_is_found_and_ids_are_none() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let same = |a: &str, b: &str| difference(&shown(a), &b.lines().collect::<Vec<_>>()).is_none();
    assert!(same(
        "run 20261125t140116623z-gyefw5fd-memory in 91d06414b0",
        "run 20270101t000000000z-aaaaaaaa-memory in 0000000000"
    ));
    assert!(!same("run 20261125t140116623z-gyefw5fd-memory", "run 20261125t140116623z-gyefw5fd-affect"));
    assert!(same("a\n…\nz", "a\nb\nc\nz") && !same("a\n…\nz", "a\nb") && !same("a", "a\nb") && !same("a\nb", "a"));
    assert!(same("0.70, … came", "0.70, it came") && !same("0.70", "0.71"));
}

#[test]
fn every_command_of_the_help_has_a_page_in_the_book() {
    let listed = Sandbox::empty().brain(&["help"]).exits(0).out;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  ").map(|(name, _)| name))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    let known: Vec<String> = {
        let command = git_brain::cli::help::command();
        command.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name().to_owned()).collect()
    };
    // `packaging/book.py` finds the commands in the same way.
    assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), known.iter().map(String::as_str).collect());
}
