//! The help of `git brain`: commands in groups by purpose, each with the summary of its own help, and examples for every command.

use clap::{Command, CommandFactory};

use super::args::Cli;
use crate::brain::Brain;

/// Headings of the groups and their commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Remember", &["init", "feed", "outcome", "goal", "sleep", "wisdom", "subject"]),
    ("Ask", &["recall", "find", "graph", "prime", "chat", "decide", "serve", "mcp", "propagate"]),
    (
        "Agents",
        &["run", "watch", "apply", "deliberate", "events", "council", "integrity", "trust", "models", "signals"],
    ),
    ("History", &["log", "show", "diff", "why", "blame", "ledger", "story", "bisect", "revert", "restore"]),
    ("Review", &["review", "approve", "reject", "pr", "ci"]),
    ("Share", &["sync", "merge", "import", "export", "merge-tree"]),
    (
        "Look after",
        &[
            "status",
            "check",
            "audit",
            "doctor",
            "checkout",
            "setup",
            "hooks",
            "upgrade",
            "schema",
            "demo",
            "completions",
            "man",
        ],
    ),
];

/// The heading of commands without a group.
const OTHER: &str = "Other";

/// Columns of a line of the groups.
const WIDTH: usize = 80;
/// Columns before a summary.
const INDENT: usize = 15;

const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

const START: &str = "Examples:\n  git brain init notes\n  git brain -C notes feed \"Anna moved to Kyoto in May\"\n  \
                     git brain -C notes recall where does Anna live\n\n`git brain help COMMAND` describes a command.";

/// Examples by command. A command that is not here has examples of its own.
const EXAMPLES: &[(&str, &str)] = &[
    ("mcp", "git brain mcp\ngit brain -C ~/work/billing mcp --client editor"),
    (
        "feed",
        "git brain feed \"Anna moved to Kyoto in May\"\ngit brain feed diary.md notes/ 'letters/*.txt'\n\
         git brain feed --corrects e-6eab17af346303bb \"Anna moved to Osaka in May\"\n\
         git brain feed --subject Anna \"Anna is allergic to nuts\"",
    ),
    (
        "recall",
        "git brain recall who likes green tea\ngit brain recall --since \"2 weeks ago\" --full Kyoto\ngit brain recall --sealed Anna allergy",
    ),
    (
        "setup",
        "git brain setup claude-code\ngit brain setup codex --check\ngit brain setup cursor --user --dry-run\ngit brain setup claude-code --plugin ./git-brain-plugin",
    ),
    ("find", "git brain find tea\ngit brain find green tea --top 3"),
    (
        "decide",
        "git brain decide \"what to drink?\" --option tea --option coffee\n\
         git brain decide \"which way home?\" --option bridge --option ferry --why",
    ),
    (
        "deliberate",
        "git brain deliberate recall --cycles 3\ngit brain deliberate recall --trees \"billing,hall two\" --dry-run\n\
         git brain deliberate recall --show",
    ),
    (
        "council",
        "git brain council Shall the index be rebuilt tonight\ngit brain council \"Shall we move?\" --members councils/home.json --timeout 20\n\
         git brain council --branch 20261125t140116623z-gyefw5fd-memory\ngit brain council --list\ngit brain council --outcome 32d4380d9782 right\ngit brain council --votes votes.json",
    ),
    (
        "integrity",
        "git brain integrity measure reply.txt --since before.txt\ngit brain integrity filter reply.txt\n\
         git brain integrity evaluate --cases\ngit brain integrity report",
    ),
    ("events", "git brain events recall\ngit brain events --follow"),
    ("prime", "git brain prime\ngit brain prime --client editor --about \"billing release-2\" --tokens 600"),
    ("sync", "git brain sync\ngit brain sync --without-refused --dry-run"),
    ("init", "git brain init notes\ngit brain init --in-repo ."),
    ("run", "git brain run\ngit brain run --agent memory"),
    ("apply", "git brain apply delta.json\ngit brain apply --agent memory --no-merge -"),
    ("merge", "git brain merge\ngit brain merge --dry-run agents/memory/20261125t140116623z-gyefw5fd-memory"),
    ("merge-tree", "git brain merge-tree main wake agents/memory/20261125t140116623z-gyefw5fd-memory"),
    ("outcome", "git brain outcome 20261125t140116623z-gyefw5fd-decision --value 0.8"),
    ("ledger", "git brain ledger\ngit brain ledger --agent decision -n 5"),
    ("signals", "git brain signals --unanswered\ngit brain signals --agent evaluator -n 5"),
    ("goal", "git brain goal add \"Drink less coffee\"\ngit brain goal list"),
    ("models", "git brain models --test\ngit brain models --define decision --preset claude"),
    ("chat", "git brain chat\ngit brain chat \"Where does Anna live?\""),
    ("serve", "git brain serve\ngit brain serve --addr 127.0.0.1:0"),
    ("propagate", "git brain propagate --from n_core_memory\ngit brain propagate --from tea-a9f74d1e=0.5 --at main"),
    (
        "wisdom",
        "git brain wisdom list\ngit brain wisdom why w-0123456789abcdef\n\
         git brain wisdom teach --when \"rain is forecast\" --do umbrella --because \"all stay dry\"\n\
         git brain wisdom export --days 30\ngit brain wisdom inherit bundle.json --key 0011aabb",
    ),
    (
        "subject",
        "git brain subject add \"Anna Moreau\"\ngit brain subject list\ngit brain subject show \"Anna Moreau\"\n\
         git brain subject add \"Anna Moreau\" --key -\ngit brain subject forget \"Anna Moreau\"",
    ),
    ("sleep", "git brain sleep --dry-run\ngit brain sleep --undo"),
    ("restore", "git brain restore tea-a9f74d1e"),
    (
        "revert",
        "git brain revert 20261125t140116623z-gyefw5fd-memory\ngit brain revert --origin webhook:forge --dry-run",
    ),
    ("watch", "git brain watch\ngit brain watch --once --json"),
    ("status", "git brain status\ngit brain status --quick --json\ngit brain status --svg days.svg"),
    ("log", "git brain log -n 5\ngit brain log --agent memory --at main"),
    ("show", "git brain show tea-a9f74d1e\ngit brain show main"),
    (
        "graph",
        "git brain graph > brain.svg\ngit brain graph tea-a9f74d1e --format mermaid\ngit brain graph where does Anna live > recall.svg",
    ),
    ("diff", "git brain diff\ngit brain diff main wake"),
    ("why", "git brain why tea-a9f74d1e"),
    ("blame", "git brain blame tea-a9f74d1e"),
    ("story", "git brain story\ngit brain story -n 1 --narrator"),
    (
        "audit",
        "git brain audit\ngit brain audit wake~100..wake --json\ngit brain audit --sarif\ngit brain audit sample --seed 7",
    ),
    (
        "bisect",
        "git brain bisect where does Anna live --good wake~100 --expect Kyoto\n\
         git brain bisect where does Anna live --good main --bad wake --avoid Osaka",
    ),
    ("check", "git brain check\ngit brain check --fix"),
    ("checkout", "git brain checkout\ngit brain checkout --none"),
    ("doctor", "git brain doctor --dry-run\ngit brain doctor"),
    ("upgrade", "git brain upgrade --dry-run"),
    ("hooks", "git brain hooks install\ngit brain hooks status"),
    ("trust", "git brain trust --list\ngit brain trust"),
    ("schema", "git brain schema\ngit brain schema delta"),
    ("import", "git brain import ~/vault\ngit brain import memory.jsonl --dry-run\ngit brain import network.json"),
    ("export", "git brain export --to network.json\ngit brain export --format markdown --to ~/vault"),
    ("demo", "git brain demo\ngit brain demo --days 20"),
    ("completions", "git brain completions bash\ngit brain completions zsh"),
    ("man", "git brain man ~/.local/share/man/man1"),
];

/// The parser of the command line, with its help.
pub fn command() -> Command {
    let mut command = Cli::command();
    for (name, lines) in EXAMPLES {
        let heading = if lines.contains('\n') { "Examples" } else { "Example" };
        let text = format!("{heading}:\n  {}", lines.replace('\n', "\n  "));
        let text = match *name {
            "import" | "export" => format!("Formats:\n{}\n{text}", Brain::formats(*name == "export")),
            _ => text,
        };
        if command.find_subcommand(name).is_some() {
            command = command.mut_subcommand(name, |command| command.after_help(text));
        }
    }
    let groups = groups(&command);
    command.before_help(groups).after_help(START).help_template(TEMPLATE)
}

/// The groups as text: a heading, then a line for each command.
fn groups(command: &Command) -> String {
    let visible: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let is_grouped = |command: &Command| GROUPS.iter().any(|(_, names)| names.contains(&command.get_name()));
    let named = |name: &&str| visible.iter().find(|command| command.get_name() == *name).copied();
    let groups = GROUPS.iter().map(|(heading, names)| (*heading, names.iter().filter_map(named).collect::<Vec<_>>()));
    let other = visible.iter().copied().filter(|command| !is_grouped(command)).collect::<Vec<_>>();
    let mut text = String::new();
    for (heading, commands) in groups.chain([(OTHER, other)]).filter(|(_, commands)| !commands.is_empty()) {
        text += &format!("{heading}:\n");
        commands.iter().for_each(|command| text += &line(command));
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// A command and its summary, which goes on below itself where it is long.
fn line(command: &Command) -> String {
    let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("  {:<1$}", command.get_name(), INDENT - 2);
    let mut column = INDENT;
    for word in summary.split(' ') {
        let length = word.chars().count();
        if column > INDENT && column + 1 + length > WIDTH {
            text += &format!("\n{:INDENT$}", "");
            column = INDENT;
        }
        if column > INDENT {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible() -> Vec<Command> {
        command().get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
    }

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for command in visible() {
            let times = grouped.iter().filter(|name| **name == command.get_name()).count();
            assert_eq!(times, 1, "{}", command.get_name());
        }
        assert_eq!(grouped.len(), visible().len());
    }

    /// The words of a line as a shell splits them; double quotes alone.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in line.trim().chars() {
            match c {
                '"' | '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        for own in visible() {
            let after = own.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = after.lines().filter(|line| line.starts_with("  git brain ")).collect();
            assert!(!examples.is_empty() && after.contains("Example"), "{}: {after}", own.get_name());
            for example in examples {
                let words = words(example.trim().strip_prefix("git ").unwrap());
                let parsed = command().try_get_matches_from(words);
                let matches = parsed.unwrap_or_else(|error| panic!("{example}: {error}"));
                assert_eq!(matches.subcommand_name(), Some(own.get_name()), "{example}");
            }
        }
    }
}
