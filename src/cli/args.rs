//! The command line, as `--help` shows it.

mod audit;
mod chat;
mod client;
mod decide;
mod deliberate;
mod feed;
mod find;
mod graph;
mod integrity;
mod learn;
mod review;
mod serve;
mod signals;
mod subject;
mod think;
mod trade;
mod wisdom;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use audit::{Audit, AuditAction, Bisect};
pub use chat::{Chat, Mode};
pub use client::Setup;
pub use decide::{Approve, Reject, Restore, Revert, Trust};
pub use deliberate::{Deliberate, Events, Prime};
pub use feed::Feed;
pub use find::Find;
pub use graph::{Graph, GraphFormat};
pub use integrity::{Council, Integrity, IntegrityAction};
pub use learn::{Decide, Goal, GoalAction, Ledger, Outcome};
pub use review::{Ci, Pr, Review, ReviewFormat};
pub use serve::{Mcp, Serve};
pub use signals::Signals;
pub use subject::{Subject, SubjectAction};
pub use think::{Models, Preset};
pub use trade::{Export, Import};
pub use wisdom::{Wisdom, WisdomAction};

/// Heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// A brain you can `git log`: one network of neurons, shared by many agents, as versioned JSON in a git repository.
#[derive(Debug, Parser)]
#[command(name = "git-brain", bin_name = "git brain", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// Run as if started in DIR.
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub dir: Option<PathBuf>,
    /// A setting for this command, such as activation.max_depth=3.
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true, help_heading = GLOBAL)]
    pub config: Vec<String>,
    /// Print one JSON document instead of text.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a brain
    Init(Init),
    /// Remember texts and files, then run agents until all is quiet
    Feed(Feed),
    /// Run the agents whose triggers fire, and merge their work
    Run(Run),
    /// Apply a delta document as one run
    Apply(Apply),
    /// Merge branches of runs into wake
    Merge(Merge),
    /// Merge three trees or commits, and print the merged tree
    MergeTree(MergeTree),
    /// Merge one file of the network, for git
    #[command(hide = true)]
    MergeDriver(MergeDriver),
    /// Run the brain's part of a git hook
    #[command(hide = true)]
    Hook(Hook),
    /// Start the program of an agent, confined
    #[command(hide = true)]
    Confine(Confine),
    /// Choose among options by their outcomes so far
    Decide(Decide),
    /// Record the outcome of a run, and learn from it
    Outcome(Outcome),
    /// List expectations beside outcomes, with each agent's calibration
    Ledger(Ledger),
    /// List messages between agents and their answers, newest first
    Signals(Signals),
    /// Manage goals
    Goal(Goal),
    /// List the models of the settings, and test them
    Models(Models),
    /// Ask the brain for memories, the best first
    Recall(Recall),
    /// Find concepts by their words
    Find(Find),
    /// Talk with the brain; both sides are remembered
    Chat(Chat),
    /// Serve a page and HTTP to browsers and programs of this machine
    Serve(Serve),
    /// Serve one client of the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Spread activation from neurons
    Propagate(Propagate),
    /// Consolidate wake into one commit on main, or undo that
    Sleep(Sleep),
    /// Exchange commits with another repository of this brain
    Sync(Sync),
    /// Open or update requests for review on a forge
    Pr(Pr),
    /// Verify waiting runs and land approved ones, as a bot
    Ci(Ci),
    /// Bring back an archived or pruned neuron
    Restore(Restore),
    /// Show waiting runs as changes of belief, and decide on them
    Review(Review),
    /// Approve a waiting run or sleep, or trust memories from an origin
    Approve(Approve),
    /// Throw away a waiting run on all machines, or a waiting sleep
    Reject(Reject),
    /// Undo a run, or everything from an origin
    Revert(Revert),
    /// Run continuously in one process instead of using hooks
    Watch(Watch),
    /// Show the state of the brain
    Status(Status),
    /// List runs, newest first
    Log(Log),
    /// Show a neuron, run, stimulus, agent or commit
    Show(Show),
    /// Draw a neighbourhood, a run or a recall as a picture
    Graph(Graph),
    /// Compare two states of the network, neuron by neuron
    Diff(Diff),
    /// Explain a neuron by the runs that made and changed it
    Why(Neuron),
    /// Show which run last changed each field of a neuron
    Blame(Neuron),
    /// Mine hypotheses, attack them, and let gates decide which become runs
    Deliberate(Deliberate),
    /// Print the events of deliberations, one JSON document a line
    Events(Events),
    /// Let several minds vote on one question, or count their votes
    Council(Council),
    /// Measure ritual in what minds say, take it out, judge replies
    Integrity(Integrity),
    /// Print what an agent should know before it starts, within a budget of tokens
    Prime(Prime),
    /// Manage what was learnt from outcomes, and hand it to other brains
    Wisdom(Wisdom),
    /// Keep memories about a person or customer sealed, so that they can be erased
    Subject(Subject),
    /// Tell the brain's story, and its distance from the ledger
    Story(Story),
    /// Audit history by its rules, and quarantine commits that break them
    Audit(Audit),
    /// Find the run since which recall answers a question wrongly
    Bisect(Bisect),
    /// Check the format of every file of the network.
    Check(Check),
    /// Put the network's files into the work tree, to read or edit them
    Checkout(Checkout),
    /// Find and repair problems around the network
    Doctor(Writer),
    /// Rewrite the files of an older brain in the newest format
    Upgrade(Writer),
    /// Join a coding agent to this brain: tools, hooks, skill, pointer
    Setup(Setup),
    /// Install or remove git hooks.
    Hooks(Hooks),
    /// Trust the programs, endpoints and capabilities of this brain
    Trust(Trust),
    /// Print JSON Schemas and other reference tables
    Schema(Schema),
    /// Import memories of other programs, or a network
    Import(Import),
    /// Export the brain for other programs
    Export(Export),
    /// Show a new brain live a short day, or many days and nights
    Demo(Demo),
    /// Print completions for a shell, of `git brain` and `git-brain`
    ///
    /// Where the shell looks for them: in bash `~/.local/share/bash-completion/completions/git-brain`, in fish
    /// `~/.config/fish/conf.d/git-brain.fish`, in zsh a file `_git-brain` in a folder of `fpath`. The script asks the program at each
    /// tab, and is written once.
    Completions(Completions),
    /// Write manual pages, which `git brain --help` opens
    ///
    /// `man` finds them in `share/man/man1` beside a `bin` of the path: `~/.cargo/share/man/man1` for a program in `~/.cargo/bin`.
    Man(Man),
}

/// Options of every command that writes.
#[derive(Debug, Args)]
pub struct Writer {
    /// Show the changes without making them
    #[arg(long)]
    pub dry_run: bool,
}

/// `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// The folder; the current one by default.
    // An id of its own: `dir` is that of `-C`.
    #[arg(id = "init_dir", value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Put the brain on branches of its own into the repository that is already there.
    #[arg(long)]
    pub in_repo: bool,
    /// Make a bare repository with our gate, for several machines to sync through.
    #[arg(long)]
    pub bare: bool,
    /// Write the workflow that runs `git brain ci` on a forge.
    #[arg(long, value_name = "FORGE", conflicts_with = "bare")]
    pub ci: Option<CiForge>,
    /// Git repository from which the workflow installs git-brain.
    #[arg(long, value_name = "URL", requires = "ci")]
    pub git: Option<String>,
    /// Install git hooks, the default for a repository of its own.
    #[arg(long, overrides_with = "no_hooks")]
    pub hooks: bool,
    /// Install no git hooks.
    #[arg(long)]
    pub no_hooks: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// A forge that runs workflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CiForge {
    /// a file below `.github/workflows/`
    Github,
    /// `.gitlab-ci.yml`, or a file to be included there
    Gitlab,
    /// a file below `.forgejo/workflows/`, which Gitea reads too
    Forgejo,
}

/// `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Run this agent once, without its trigger.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// Go on until no trigger fires, which is the default.
    #[arg(long)]
    pub until_quiet: bool,
    /// Stop after N runs.
    #[arg(long, value_name = "N")]
    pub max_runs: Option<usize>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `apply`.
#[derive(Debug, Args)]
pub struct Apply {
    /// The delta document; `-` reads standard input.
    pub file: PathBuf,
    /// Apply it as this agent; by default the document's, else `human`.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// Leave the run on its branch, for review.
    #[arg(long)]
    pub no_merge: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// Branches, run ids or commits; all pending runs if none is named.
    pub branch: Vec<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `merge-tree`.
#[derive(Debug, Args)]
pub struct MergeTree {
    /// The base: a tree or commit.
    pub base: String,
    /// The left side.
    pub left: String,
    /// The right side.
    pub right: String,
}

/// `merge-driver`.
#[derive(Debug, Args)]
pub struct MergeDriver {
    /// %O, the base.
    pub base: PathBuf,
    /// %A, ours; the result is written here.
    pub ours: PathBuf,
    /// %B, theirs.
    pub theirs: PathBuf,
    /// %P, the path in the tree.
    pub path: String,
}

/// `hook`.
#[derive(Debug, Args)]
pub struct Hook {
    /// The hook's name.
    pub name: String,
    /// The arguments from git.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

/// `recall`.
#[derive(Debug, Args)]
pub struct Recall {
    /// The question; needs no quotes.
    #[arg(required = true, value_name = "QUESTION")]
    pub query: Vec<String>,
    /// Memories to print; `recall.top` by default.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Only memories from this date on: 2024-05-01, 2024-05, yesterday, "2 weeks ago", or any other date that git reads.
    /// A date without a time of day begins with its first second, UTC.
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only memories up to this date, as for --since. A date without a time of day includes that whole day.
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// The best memories that fit into N tokens together (about 4 bytes each).
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    /// Print whole texts, with all facts.
    #[arg(long)]
    pub full: bool,
    /// Search questions and answers of conversations, instead of memories.
    #[arg(long, conflicts_with = "learn")]
    pub talk: bool,
    /// Only memories of this session; with --talk, only this conversation.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Say why each memory was found.
    #[arg(long)]
    pub explain: bool,
    /// Answer sealed memories also where standard output is no terminal. On a terminal they are answered anyway
    #[arg(long)]
    pub sealed: bool,
    /// Make the answers a little more salient, as a run of yours.
    #[arg(long, conflicts_with = "at")]
    pub learn: bool,
}

/// `propagate`.
#[derive(Debug, Args)]
pub struct Propagate {
    /// A neuron to start from, with a strength (1 by default).
    #[arg(long = "from", value_name = "ID[=S]", required = true)]
    pub from: Vec<String>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

/// `sleep`.
#[derive(Debug, Args)]
pub struct Sleep {
    /// Leave a branch to approve instead of moving main.
    #[arg(long, conflicts_with_all = ["undo", "dry_run"])]
    pub review: bool,
    /// Undo the latest sleep not already undone.
    #[arg(long)]
    pub undo: bool,
    /// Sleep only if it is due: by the clock, after many runs, when much is active or the machine idles.
    #[arg(long, conflicts_with = "undo")]
    pub if_due: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// A remote's name, or an address; by default `brain.remote`, main's upstream, the only remote, or origin.
    pub remote: Option<String>,
    /// Go on without the commits here that other machines refuse. Main and wake go back to before them and are kept as rescue refs; good
    /// runs are done again upon that, and texts that were fed wait to be perceived again.
    #[arg(long)]
    pub without_refused: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `checkout`.
#[derive(Debug, Args)]
pub struct Checkout {
    /// Add these folders of the network alone, such as neurons or network/neurons/00.
    #[arg(value_name = "FOLDER", conflicts_with = "none")]
    pub folders: Vec<String>,
    /// Take the network's files out of the work tree again; edited files stay.
    #[arg(long)]
    pub none: bool,
}

/// `watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// Seconds between two looks.
    #[arg(long, value_name = "S", default_value_t = 2)]
    pub interval: u64,
    /// Look once and end.
    #[arg(long)]
    pub once: bool,
}

/// `status`.
#[derive(Debug, Args)]
pub struct Status {
    /// Only counts: no vital signs.
    #[arg(long)]
    pub quick: bool,
    /// The vital signs of now, however large the brain is; without it those of a large one are the last that were taken.
    #[arg(long, conflicts_with = "quick")]
    pub vitals: bool,
    /// Write a chart of the days so far to a file too: runs, neurons, errors of predictions, mood.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Entries to list.
    #[arg(short = 'n', long, default_value_t = 20)]
    pub number: usize,
    /// Only runs of this agent.
    #[arg(long)]
    pub agent: Option<String>,
    /// The branch or commit; wake by default.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

/// `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// A neuron, run, stimulus, agent or commit.
    pub what: String,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The state before; wake's last merge by default.
    pub a: Option<String>,
    /// The state after; wake by default.
    pub b: Option<String>,
}

/// `why` and `blame`.
#[derive(Debug, Args)]
pub struct Neuron {
    /// The neuron's id, or its beginning.
    pub neuron: String,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

/// `story`.
#[derive(Debug, Args)]
pub struct Story {
    /// Chapters to print, the newest last.
    #[arg(short = 'n', long, default_value_t = 7)]
    pub number: usize,
    /// The branch or commit; wake by default.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Let the agent `narrator` tell today so far, as it would in a sleep.
    #[arg(long)]
    pub narrator: bool,
}

/// `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The commit; wake by default.
    pub rev: Option<String>,
    /// Rewrite neurons of the work tree that are readable but not canonical.
    #[arg(long, conflicts_with = "rev")]
    pub fix: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `hooks`.
#[derive(Debug, Args)]
pub struct Hooks {
    /// Install or remove.
    pub action: HooksAction,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// An action on hooks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HooksAction {
    /// Add our block to each hook, and keep the rest.
    Install,
    /// Take our block out again, to the byte.
    Remove,
    /// List the installed hooks.
    Status,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// The schema; a list of them by default.
    pub name: Option<String>,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// The folder; a new temporary one by default.
    #[arg(id = "demo_dir", value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Live N days and nights, 20 if no number is given, on a clock and with ids of their own: the same N, the same brain.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u64).range(1..=crate::limits::DEMO_DAYS))]
    pub days: Option<u64>,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The folder for the pages, such as ~/.local/share/man/man1; made if it is not there.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// `confine`.
#[derive(Debug, Args)]
pub struct Confine {
    /// Make the program's world and start nothing in it.
    #[arg(long)]
    pub probe: bool,
    /// The rights of the program, as JSON.
    pub orders: String,
}
