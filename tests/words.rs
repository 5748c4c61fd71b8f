//! The words of help and messages: a noun or a verb first, no free relative where a noun belongs, and nobody named `nobody`.

use std::path::Path;

use clap::Command;
use git_brain::cli::help;

/// First words of no help text: a command begins with an imperative, an option with a noun or an imperative.
const OPENINGS: [&str; 9] = ["what", "how", "who", "whoever", "which", "where", "when", "why", "whether"];
/// First words of no message.
const OPENINGS_OF_MESSAGES: [&str; 5] = ["what", "how", "who", "whoever", "true if"];
/// Words of no help text and no message.
const BANNED: [&str; 9] =
    ["whoever", "whomever", "nobody", "somebody", "that which", "for who", "of who", "to who", "by who"];
/// Most characters of the summary of a command, so that it has one line.
const SUMMARY: usize = 80;
/// Files and folders of texts that are no messages: grammars, stories, examples, and what models are told.
const NO_MESSAGES: [&str; 5] =
    ["src/text/", "src/cognition/", "src/chemistry/serotonin/", "src/cli/life/texts.rs", "src/cli/demo.rs"];

/// The rule that a text breaks.
fn fault(text: &str, openings: &[&str]) -> Option<String> {
    let text = text.trim().to_lowercase();
    let has = |words: &str| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        text.match_indices(words)
            .any(|(at, _)| edge(text[..at].chars().next_back()) && edge(text[at + words.len()..].chars().next()))
    };
    let opening =
        openings.iter().find(|opening| text.strip_prefix(**opening).is_some_and(|rest| rest.starts_with(' ')));
    let banned = BANNED.iter().find(|words| has(words));
    opening.map(|opening| format!("begins with {opening:?}")).or(banned.map(|words| format!("has {words:?}")))
}

/// What is wrong with the help of a command and of those below it.
fn faults_of_help(command: &Command, path: &str, found: &mut Vec<String>) {
    let path = format!("{path} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let first = about.split(' ').next().unwrap_or_default();
    // The root says what the program is.
    if path != " git-brain" {
        let is_imperative = !first.is_empty() && !first.ends_with('s') && !["A", "An", "The"].contains(&first);
        if !is_imperative || about.ends_with('.') || about.contains('\n') || about.chars().count() > SUMMARY {
            found.push(format!("{path}: no imperative of one line: {about:?}"));
        }
    }
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let mut texts = vec![(path.clone(), about), (path.clone(), long)];
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let place = format!("{path} {}", arg.get_id());
        let help = [arg.get_help(), arg.get_long_help()].into_iter().flatten().map(ToString::to_string);
        texts.extend(help.map(|text| (place.clone(), text)));
        let values = arg.get_possible_values();
        let values = values.iter().filter_map(|value| value.get_help()).map(ToString::to_string);
        texts.extend(values.map(|text| (place.clone(), text)));
    }
    for (place, text) in texts {
        found.extend(fault(&text, &OPENINGS).map(|fault| format!("{place}: {fault}: {text}")));
    }
    command.get_subcommands().for_each(|below| faults_of_help(below, &path, found));
}

/// The texts between double quotes of a source, outside comments and its tests, with their lines.
fn literals(source: &str) -> Vec<(usize, String)> {
    let opens = |rest: &str| {
        let line = rest.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
        line.starts_with("mod ") && line.ends_with('{')
    };
    let mut gated = source
        .match_indices("\n#[cfg(")
        .filter(|(at, _)| source[*at..].lines().nth(1).is_some_and(|line| line.contains("test")));
    let tests = gated.find(|(at, _)| opens(&source[at + 1..]));
    let source = &source[..tests.map_or(source.len(), |(at, _)| at)];
    let mut found = Vec::new();
    let (mut line, mut rest) = (1, source);
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find("'").map_or(1, |end| end + 2)
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let end = raw.find("\"#").map_or(rest.len(), |end| 3 + end);
            found.push((line, rest[3..end].to_owned()));
            (end + 2).min(rest.len())
        } else if c == '"' {
            let mut is_escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            let end = 1 + end.unwrap_or(rest.len() - 1);
            found.push((line, rest[1..end].to_owned()));
            (end + 1).min(rest.len())
        } else {
            c.len_utf8()
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    found
}

fn faults_of_messages(path: &str, source: &str) -> Vec<String> {
    let messages = literals(source).into_iter().filter(|(_, text)| text.contains(' '));
    let fault = |(line, text): (usize, String)| {
        fault(&text, &OPENINGS_OF_MESSAGES).map(|fault| format!("{path}:{line}: {fault}: {text}"))
    };
    messages.filter_map(fault).collect()
}

/// Every source, as (path from the root, text).
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap().to_owned();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn help_begins_with_nouns_and_imperatives() {
    let mut found = Vec::new();
    faults_of_help(&help::command(), "", &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn messages_begin_with_nouns() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let is_test =
        |path: &str| path.ends_with("tests.rs") || path.ends_with("fixture.rs") || path.ends_with("sandbox.rs");
    all.retain(|(path, _)| !is_test(path) && !NO_MESSAGES.iter().any(|place| path.starts_with(place)));
    assert!(all.len() > 200, "{}", all.len());
    let found: Vec<String> = all.iter().flat_map(|(path, text)| faults_of_messages(path, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_rule_finds_what_breaks_it() {
    let source = "// \"nobody\" in a comment\nlet a = \"what is here\";\nlet b = '\"'; let c = \"a \\\"word\\\" of nobody\";\n\
                  let d = \"whoever\";\nlet e = \"a nobodyness\";\n#[cfg(test)]\nmod tests {\n\"nobody is here\" }";
    let found = faults_of_messages("x.rs", source);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("x.rs:2: begins with \"what\"") && found[1].starts_with("x.rs:3: has \"nobody\""));
    let mut found = Vec::new();
    let option = clap::Arg::new("x").help("How many");
    let command = Command::new("root")
        .subcommand(Command::new("one").about("Lists things"))
        .subcommand(Command::new("two").about("List things").arg(option))
        .subcommand(Command::new("three").about("List things for who wants them"));
    faults_of_help(&command, " git-brain", &mut found);
    assert_eq!(found.len(), 4, "the root has no summary: {found:?}");
}
