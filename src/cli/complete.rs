//! Completion: the scripts of `git brain completions`, and the answer to a shell that asks at a tab.
//!
//! A script knows nothing of the commands: it asks the program, so that it is never older than the program is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use super::{Session, help};
use crate::brain::{Brain, BrainError, COMPLETE, World, asking_shell};

/// The program, as scripts call it and as shells know it.
const PROGRAM: &str = "git-brain";
/// Ends a script's own arguments; the words of the command line follow.
const WORDS: &str = "--";

/// Arguments that take a run that waits: a command, and the name of its argument.
const RUNS: [(&str, &str); 5] =
    [("approve", "what"), ("reject", "branches"), ("review", "runs"), ("merge", "branch"), ("show", "what")];
/// Commands with `--agent`.
const AGENTS: [&str; 5] = ["run", "apply", "log", "ledger", "signals"];

/// The completion of git asks a function of this name for `git brain`.
const BASH: &str = r#"
# The completion of git calls this for `git brain`, with the words of the command line in `words`.
_git_brain() {
    local at=${__git_cmd_idx:-1}
    local -a COMP_WORDS=(git-brain "${__git_C_args[@]}" "${words[@]:at+1}")
    local COMP_CWORD=$((cword - at + ${#__git_C_args[@]}))
    _clap_complete_git_brain git-brain "$cur" "$prev"
    if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*=}"}"}")
    fi
}
"#;

/// The completion of git calls `_git-brain` for `git brain`. As a file `_git-brain` of `fpath` the script is that function.
const ZSH: &str = r#"
_git-brain() {
    local -a said=("${words[@]}")
    local -a words=(git-brain ${opt_args[-C]+-C} ${opt_args[-C]+"${opt_args[-C]}"} "${(@)said[2,-1]}")
    local CURRENT=$((CURRENT + $#words - $#said))
    _clap_dynamic_completer_git_brain
}

if [[ $funcstack[1] == _git-brain ]]; then
    _git-brain "$@"
fi
"#;

/// The completion of git asks for that of `git-brain`, but for fish 3.6, where this is asked. It counts where fish reads it at its start.
const FISH: &str = r#"
function __git_brain_words
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l at (contains --index -- brain $words)
    BRAIN_COMPLETE=fish git-brain -- git-brain $words[(math $at + 1)..] (commandline --current-token)
end
complete --keep-order --exclusive --command git --condition '__fish_git_using_command brain' --arguments '(__git_brain_words)'
"#;

/// The script for a shell. It completes `git-brain` and, in bash, zsh and fish, `git brain`.
pub(super) fn script(shell: Shell) -> String {
    let shells = Shells::builtins();
    let completer =
        shells.completer(&shell.to_string()).expect("invariant: both lists of the library have the same shells");
    let mut script = Vec::new();
    let written = completer.write_registration(COMPLETE, PROGRAM, PROGRAM, PROGRAM, &mut script);
    written.expect("invariant: a vector takes everything");
    let script = String::from_utf8(script).expect("invariant: the script is made of text");
    let script = script.trim();
    match shell {
        Shell::Bash => format!("{script}\n{BASH}"),
        Shell::Zsh => match script.split_once('\n') {
            // The completion of git looks for a description in the second line.
            Some((first, rest)) => {
                format!("{first}\n#description remember, recall and review with a brain\n{rest}\n{ZSH}")
            }
            None => format!("{script}\n{ZSH}"),
        },
        Shell::Fish => format!("{script}\n{FISH}"),
        _ => format!("{script}\n"),
    }
}

/// The answer to a shell that asks how a word goes on; `None` if none asks. An empty answer lets the shell do as it likes.
#[allow(clippy::disallowed_methods, reason = "the arguments of this process")]
pub(super) fn answer() -> Option<String> {
    let shell = asking_shell()?;
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != WORDS).skip(1).collect();
    if words.is_empty() {
        return None;
    }
    let folder = folder(&words);
    let mut reply = Vec::new();
    let mut command = with_names(help::command(), &folder);
    if let Some(shell) = Shells::builtins().completer(&shell)
        && shell.write_complete(&mut command, words, Some(&folder), &mut reply).is_err()
    {
        reply.clear();
    }
    Some(String::from_utf8_lossy(&reply).into_owned())
}

/// The folder of `-C`, else the current one.
fn folder(words: &[OsString]) -> PathBuf {
    let said = words.iter().zip(words.iter().skip(1)).find(|(word, _)| *word == "-C");
    said.map_or_else(|| PathBuf::from("."), |(_, folder)| PathBuf::from(folder))
}

/// Lets the brain in that folder tell names for the arguments that take them.
fn with_names(mut command: Command, folder: &Path) -> Command {
    for (name, argument) in RUNS {
        let names = asked(folder, Brain::runs_on_branches);
        command = command.mut_subcommand(name, |c| c.mut_arg(argument, |arg| arg.add(names)));
    }
    for name in AGENTS {
        let names = asked(folder, |brain| Ok(brain.agent_names()));
        command = command.mut_subcommand(name, |c| c.mut_arg("agent", |arg| arg.add(names)));
    }
    command
}

/// Names that are looked up when an argument is completed; none where there is no brain.
fn asked(folder: &Path, names: fn(&Brain) -> Result<Vec<String>, BrainError>) -> ArgValueCandidates {
    let folder = folder.to_owned();
    ArgValueCandidates::new(move || {
        let found = World::from_environment().map_err(BrainError::from).and_then(|world| {
            let (brain, _) = Brain::open_to_look(&folder, world, &[])?;
            names(&brain)
        });
        found.unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
    })
}

/// `completions`.
pub(super) fn completions(session: &Session, args: &super::args::Completions) -> super::Done {
    session.out.text(&script(args.shell));
    Ok(0)
}
