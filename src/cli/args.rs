//! The command line, as `--help` shows it.

mod chat;
mod decide;
mod feed;
mod find;
mod learn;
mod review;
mod serve;
mod signals;
mod think;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use chat::{Chat, Mode};
pub use decide::{Approve, Reject, Restore, Revert, Trust};
pub use feed::Feed;
pub use find::Find;
pub use learn::{Decide, Goal, GoalAction, Ledger, Outcome};
pub use review::{Ci, Pr, Review, ReviewFormat};
pub use serve::Serve;
pub use signals::Signals;
pub use think::{Models, Preset};

/// A brain you can `git log`: one network of neurons, shared by many agents, as versioned JSON in a git repository.
#[derive(Debug, Parser)]
#[command(name = "git-brain", bin_name = "git brain", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// Run as if started in DIR.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// A setting for this command, such as activation.max_depth=3.
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true)]
    pub config: Vec<String>,
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a brain and bootstrap it.
    Init(Init),
    /// Give the brain something to remember; then run agents until all is quiet.
    Feed(Feed),
    /// Evaluate triggers, run the agents that wake, merge what they learnt.
    Run(Run),
    /// Apply one delta document as one run.
    Apply(Apply),
    /// Merge branches of runs into wake, by the typed merge.
    Merge(Merge),
    /// The typed merge of three trees or commits; prints the merged tree.
    MergeTree(MergeTree),
    /// What git calls to merge one file of the network.
    #[command(hide = true)]
    MergeDriver(MergeDriver),
    /// What git's hooks call.
    #[command(hide = true)]
    Hook(Hook),
    /// What programs of agents are started by.
    #[command(hide = true)]
    Confine(Confine),
    /// Choose among options by what came of them before
    Decide(Decide),
    /// Say what came of a run: its pathway learns from what it had not expected.
    Outcome(Outcome),
    /// What runs expected, and what came of it; newest first, with each agent's calibration.
    Ledger(Ledger),
    /// What agents asked each other, and what was answered; newest first.
    Signals(Signals),
    /// What all of it is for: goals that you set, and those that emerged.
    Goal(Goal),
    /// Lists the models of the settings, and asks whether they answer
    Models(Models),
    /// Ask the brain; the best memories first
    Recall(Recall),
    /// Find concepts by their words
    Find(Find),
    /// Say something to the brain, and have an answer; both are remembered.
    Chat(Chat),
    /// Serve the brain to browsers and programs of this machine: a page to talk to it, and HTTP.
    Serve(Serve),
    /// Spread activation from neurons: propagation itself, bare.
    Propagate(Propagate),
    /// Consolidate what wake has learnt into one commit on main; or take the last sleep back.
    Sleep(Sleep),
    /// Bring this brain and another repository of it together: fetch, judge, merge, push.
    Sync(Sync),
    /// Open a request for review on a forge for each run that waits, or update it
    Pr(Pr),
    /// Sync, verify what waits, and land what reviewers approved, once: for CI, a timer, or a webhook
    Ci(Ci),
    /// Bring a neuron back that was archived or pruned.
    Restore(Restore),
    /// Show what waits for a decision, and what each run would change
    Review(Review),
    /// Let a run or a sleep land that waits; or trust memories from an origin
    Approve(Approve),
    /// Throw away a run that waits, on all machines; or a sleep that waits on its branch.
    Reject(Reject),
    /// Take back exactly what a run did, or all that came from an origin.
    Revert(Revert),
    /// Wake, sleep and report in one process, for who wants no hooks.
    Watch(Watch),
    /// How the brain is.
    Status(Status),
    /// What happened, run by run.
    Log(Log),
    /// Show a neuron, a run, a stimulus or a commit.
    Show(Show),
    /// Differences between two states of the network, neuron by neuron.
    Diff(Diff),
    /// Why a neuron is as it is: the runs that made and changed it.
    Why(Neuron),
    /// Which run last changed each field of a neuron.
    Blame(Neuron),
    /// The story that the brain tells itself, and how far it is from the ledger.
    Story(Story),
    /// Check the format of every file of the network.
    Check(Check),
    /// Bring the network's files into the work tree, to look at them or to edit them by hand.
    Checkout(Checkout),
    /// Find what is wrong around the network, and repair what can be repaired.
    Doctor(Writer),
    /// Write the files of an older brain in the newest format.
    Upgrade(Writer),
    /// Install or remove git hooks.
    Hooks(Hooks),
    /// Trust the programs, endpoints and capabilities of this brain, after looking at them.
    Trust(Trust),
    /// Print JSON Schemas of the files, and other reference tables.
    Schema(Schema),
    /// Import a single-document network, or triples.
    Import(Import),
    /// Print the whole network as one document.
    Export(Export),
    /// Make a brain, let it live a short trilingual day, or many with their nights, and show what happened.
    Demo(Demo),
    /// Print completions for a shell.
    Completions(Completions),
}

/// Options of every command that writes.
#[derive(Debug, Args)]
pub struct Writer {
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Where; the current folder by default.
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
    /// Install git hooks (default for a repository of its own).
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
    /// `.github/workflows/brain.yml`
    Github,
    /// `.gitlab-ci.yml`
    Gitlab,
    /// `.forgejo/workflows/brain.yml`, which Gitea reads too
    Forgejo,
}

/// `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Run this agent once, whatever its trigger says.
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
    /// What git passes.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

/// `recall`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git brain recall who likes green tea\n  git brain recall --since \"2 weeks ago\" --full Kyoto"
)]
pub struct Recall {
    /// The question; needs no quotes.
    #[arg(required = true, value_name = "QUESTION")]
    pub query: Vec<String>,
    /// How many memories; `recall.top` by default.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Only memories from this date on: 2024-05-01, 2024-05, yesterday, "2 weeks ago", or what else git takes for a date.
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
    /// Search conversations for what was asked and answered, instead of memories.
    #[arg(long, conflicts_with = "learn")]
    pub talk: bool,
    /// Only memories of this session; with --talk, only this conversation.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Say why each memory was found.
    #[arg(long)]
    pub explain: bool,
    /// Make what was answered a little more salient, as a run of yours.
    #[arg(long, conflicts_with = "at")]
    pub learn: bool,
}

/// `propagate`.
#[derive(Debug, Args)]
pub struct Propagate {
    /// Where to start, with a strength (1 by default).
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
    /// Take the newest sleep back that was not yet.
    #[arg(long)]
    pub undo: bool,
    /// Only if it is time: by the clock, after many runs, when much is active or the machine idles.
    #[arg(long, conflicts_with = "undo")]
    pub if_due: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `sync`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git brain sync\n  git brain sync --without-refused --dry-run")]
pub struct Sync {
    /// A remote's name, or an address; by default `brain.remote`, main's upstream, the only remote, or origin.
    pub remote: Option<String>,
    /// Go on without the commits here that other machines refuse. Main and wake go back to before them and are kept as rescue refs; what
    /// was good is done again upon that, and texts that were fed wait to be perceived again.
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
    /// Take the network's files out of the work tree again; what was edited stays.
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
    /// Only what can be counted: no vital signs.
    #[arg(long)]
    pub quick: bool,
    /// The vital signs of now, however large the brain is; without it those of a large one are the last that were taken.
    #[arg(long, conflicts_with = "quick")]
    pub vitals: bool,
}

/// `log`.
#[derive(Debug, Args)]
pub struct Log {
    /// How many entries.
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
    /// How many chapters, the newest last.
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

/// What to do with hooks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HooksAction {
    /// Add our block to each hook; what is there stays.
    Install,
    /// Take our block out again, to the byte.
    Remove,
    /// Say what is installed.
    Status,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// Which one; a list of them if none is named.
    pub name: Option<String>,
}

/// `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// A document {neurons, metadata}.
    #[arg(required_unless_present = "triples")]
    pub file: Option<PathBuf>,
    /// Triples {subject, relation, object, source}, one JSON object a line.
    #[arg(long, value_name = "F.jsonl", conflicts_with = "file")]
    pub triples: Option<PathBuf>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The commit; wake by default.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where; a new temporary folder by default.
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
    /// For which shell.
    pub shell: clap_complete::Shell,
}

/// `confine`.
#[derive(Debug, Args)]
pub struct Confine {
    /// Make the program's world and start nothing in it.
    #[arg(long)]
    pub probe: bool,
    /// What the program may, as JSON.
    pub orders: String,
}
