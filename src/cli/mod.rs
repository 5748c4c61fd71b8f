//! The command line: parse, call `brain`, print. Data goes to standard output, progress and hints to standard error.
//!
//! Exit codes: 0 done, 1 the answer is no, 2 usage, 3 conflict or refused, 4 provider failed, 5 bad data, 6 busy.

mod again;
mod amend;
pub mod args;
mod ask;
mod audit;
mod chat;
mod client;
mod complete;
mod council;
mod deliberate;
mod demo;
mod editor;
mod fit;
mod graph;
pub mod help;
mod hits;
mod house;
mod integrity;
mod interrupt;
mod learn;
mod life;
mod look;
mod manual;
mod models;
mod night;
mod output;
mod pr;
mod progress;
mod review;
mod serve;
mod signals;
mod story;
mod subject;
mod sync;
mod trade;
mod vitals;
mod wisdom;
mod write;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::brain::{
    Brain, BrainError, Chart, Doors, Notes, Override, Source, World, path_in, read_source, write_chart,
};
use args::{Cli, Command};
use output::Output;

/// The exit code where all was done but to say so.
const UNPRINTED: u8 = 2;

/// Parses the arguments of the process, does what they say, and returns the exit code. `doors` are the front doors that `serve`
/// and `mcp` open.
pub fn main(doors: &Doors) -> ExitCode {
    if let Some(answer) = complete::answer() {
        output::raw(&answer);
        return ExitCode::SUCCESS;
    }
    let parsed = help::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            // Help and version go to standard output; a closed pipe is no matter.
            output::usage(&error, asks_for_json());
            return ExitCode::from(code);
        }
    };
    output::trace();
    let json = cli.json;
    match Session::of(cli).and_then(|(session, command)| session.run(command, doors)) {
        // Whoever reads the answer from a file does not take half of it, or none, for all.
        Ok(0) if output::is_cut_off() => ExitCode::from(UNPRINTED),
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::failure(&error, json);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whether `--json` is among the options, where they could not be parsed.
#[allow(clippy::disallowed_methods, reason = "the arguments of this process")]
fn asks_for_json() -> bool {
    std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// True for a command that may make commits by the settings of whoever gives it.
fn commits(command: &Command) -> bool {
    match command {
        Command::Feed(args::Feed { writer, .. })
        | Command::Run(args::Run { writer, .. })
        | Command::Apply(args::Apply { writer, .. })
        | Command::Merge(args::Merge { writer, .. })
        | Command::Outcome(args::Outcome { writer, .. })
        | Command::Deliberate(args::Deliberate { writer, .. })
        | Command::Sleep(args::Sleep { writer, .. })
        | Command::Sync(args::Sync { writer, .. })
        | Command::Ci(args::Ci { writer, .. })
        | Command::Restore(args::Restore { writer, .. })
        | Command::Approve(args::Approve { writer, .. })
        | Command::Reject(args::Reject { writer, .. })
        | Command::Revert(args::Revert { writer, .. })
        | Command::Import(args::Import { writer, .. }) => !writer.dry_run,
        Command::Council(council) => {
            (!council.question.is_empty() || council.branch.is_some()) && !council.writer.dry_run
        }
        Command::Goal(goal) => !matches!(goal.action, args::GoalAction::List { .. }),
        Command::Wisdom(wisdom) => match &wisdom.action {
            args::WisdomAction::Teach { writer, .. }
            | args::WisdomAction::Forget { writer, .. }
            | args::WisdomAction::Distil { writer }
            | args::WisdomAction::Inherit { writer, .. } => !writer.dry_run,
            _ => false,
        },
        Command::Subject(subject) => match &subject.action {
            args::SubjectAction::Add { writer, .. } | args::SubjectAction::Forget { writer, .. } => !writer.dry_run,
            _ => false,
        },
        Command::Recall(recall) => recall.learn,
        Command::Signals(signals) => signals.replay.is_some(),
        Command::Decide(_) | Command::Watch(_) | Command::Serve(_) => true,
        _ => false,
    }
}

/// What all commands share: where, with which settings, and how to print.
pub(crate) struct Session {
    dir: PathBuf,
    /// Whether `-C` names the folder.
    is_said: bool,
    flags: Vec<Override>,
    world: World,
    out: Output,
    /// True until whoever commits has been told what other machines would refuse; false from the start for who only reads.
    to_warn: Cell<bool>,
    /// Lists of what was put right or left alone, of the brains that were opened and are not told of yet.
    notes: RefCell<Vec<Notes>>,
}

/// The exit code of a command that was carried out.
pub(crate) type Done = Result<u8, BrainError>;

impl Session {
    fn of(cli: Cli) -> Result<(Self, Command), BrainError> {
        let world = World::from_environment()?;
        let mut flags = Vec::new();
        for text in &cli.config {
            let Some((key, value)) = text.split_once('=') else {
                return Err(BrainError::usage(format!("-c {text}: not of the form KEY=VALUE")));
            };
            flags.push(Override { place: format!("-c {text}"), key: key.to_owned(), value: value.to_owned() });
        }
        let is_said = cli.dir.is_some();
        let dir = cli.dir.unwrap_or_else(|| PathBuf::from("."));
        let to_warn = Cell::new(commits(&cli.command));
        let (out, notes) = (Output::new(cli.json), RefCell::default());
        Ok((Self { dir, is_said, flags, world, out, to_warn, notes }, cli.command))
    }

    /// A text that the command line names; `-` is standard input.
    fn text_of(&self, file: &Path, most: usize) -> Result<String, BrainError> {
        let source = match file == Path::new("-") {
            true => Source::Stdin,
            false => Source::File(path_in(&self.dir, file)),
        };
        let (bytes, name) = read_source(&source, most)?;
        String::from_utf8(bytes).map_err(|_| BrainError::usage(format!("{name} is no text")))
    }

    /// Writes a chart to a file that the command line names, and says so.
    fn chart(&self, file: &Path, chart: &Chart) -> Result<(), BrainError> {
        let file = path_in(&self.dir, file);
        write_chart(&file, chart)?;
        self.out.say(&format!("wrote {}", file.display()));
        Ok(())
    }

    /// Opens the brain around the folder of `-C`.
    pub(crate) fn brain(&self) -> Result<Brain, BrainError> {
        let brain = Brain::open(&self.dir, self.world.clone(), &self.flags)?;
        self.tell_notes();
        self.notes.borrow_mut().push(brain.notes());
        if self.to_warn.take() && !self.out.is_json() {
            brain.warnings()?.iter().for_each(|warning| self.out.say(&format!("warning: {warning}")));
        }
        if !self.out.is_json() {
            brain.take_notes().iter().for_each(|note| self.out.say(note));
        }
        Ok(brain)
    }

    /// Opens the brain for a command that only looks. It returns what it could not look at as its error, when it has said the rest.
    pub(crate) fn look(&self) -> Result<(Brain, Option<BrainError>), BrainError> {
        let (brain, fault) = Brain::open_to_look(&self.dir, self.world.clone(), &self.flags)?;
        self.tell_notes();
        self.notes.borrow_mut().push(brain.notes());
        if !self.out.is_json() {
            brain.take_notes().iter().for_each(|note| self.out.say(note));
        }
        Ok((brain, fault))
    }

    fn run(self, command: Command, doors: &Doors) -> Done {
        if !self.out.is_json() {
            interrupt::listen(&command);
        }
        progress::begin(&command, self.out.is_json());
        let done = self.carry_out(command, doors);
        self.tell_notes();
        done
    }

    /// Tells the notes of brains that are closed and that no report told: an answer without them would pass for whole.
    fn tell_notes(&self) {
        for list in self.notes.borrow_mut().extract_if(.., |list| list.is_closed()) {
            list.take().iter().for_each(|note| output::say(&format!("note: {note}")));
        }
    }

    fn carry_out(&self, command: Command, doors: &Doors) -> Done {
        match command {
            Command::Init(args) => write::init(self, &args),
            Command::Feed(args) => write::feed(self, &args),
            Command::Run(args) => write::run(self, &args),
            Command::Apply(args) => write::apply(self, &args),
            Command::Merge(args) => write::merge(self, &args),
            Command::MergeTree(args) => write::merge_tree(self, &args),
            Command::Decide(args) => learn::decide(self, &args),
            Command::Outcome(args) => learn::outcome(self, &args),
            Command::Ledger(args) => learn::ledger(self, &args),
            Command::Signals(args) => signals::signals(self, &args),
            Command::Goal(args) => learn::goal(self, &args),
            Command::Models(args) => models::models(self, &args),
            Command::Recall(args) => ask::recall(self, &args),
            Command::Find(args) => ask::find(self, &args),
            Command::Chat(args) => chat::chat(self, &args),
            Command::Serve(args) => serve::serve(self, &args, doors.serve),
            Command::Mcp(args) => serve::speak(self, &args, doors),
            Command::Propagate(args) => ask::propagate(self, &args),
            Command::Sleep(args) => night::sleep(self, &args),
            Command::Restore(args) => night::restore(self, &args),
            Command::Review(args) => review::review(self, &args),
            Command::Approve(args) => amend::approve(self, &args),
            Command::Revert(args) => amend::revert(self, &args),
            Command::Reject(args) => night::reject(self, &args),
            Command::Watch(args) => night::watch(self, &args),
            Command::Status(args) => look::status(self, &args),
            Command::Log(args) => look::log(self, &args),
            Command::Show(args) => look::show(self, &args),
            Command::Graph(args) => graph::graph(self, &args),
            Command::Diff(args) => look::diff(self, &args),
            Command::Why(args) => look::why(self, &args),
            Command::Blame(args) => look::blame(self, &args),
            Command::Deliberate(args) => deliberate::deliberate(self, &args),
            Command::Events(args) => deliberate::events(self, &args),
            Command::Wisdom(args) => wisdom::wisdom(self, &args),
            Command::Subject(args) => subject::subject(self, &args),
            Command::Council(args) => council::council(self, &args),
            Command::Integrity(args) => integrity::integrity(self, &args),
            Command::Prime(args) => look::prime(self, &args),
            Command::Story(args) => story::story(self, &args),
            Command::Sync(args) => sync::sync(self, &args),
            Command::Pr(args) => pr::pr(self, &args),
            Command::Ci(args) => pr::ci(self, &args),
            Command::Trust(args) => house::trust(self, &args),
            Command::Setup(args) => client::setup(self, &args),
            Command::Hooks(args) => house::hooks(self, &args),
            Command::Hook(args) => house::hook(self, &args),
            Command::Confine(args) => Ok(house::confine(&args)),
            Command::MergeDriver(args) => house::merge_driver(self, &args),
            Command::Audit(args) => audit::audit(self, &args),
            Command::Bisect(args) => audit::bisect(self, &args),
            Command::Check(args) => house::check(self, &args),
            Command::Checkout(args) => house::checkout(self, &args),
            Command::Doctor(args) => house::doctor(self, &args),
            Command::Upgrade(args) => house::upgrade(self, &args),
            Command::Demo(args) => demo::demo(self, &args),
            Command::Completions(args) => complete::completions(self, &args),
            Command::Man(args) => manual::man(self, &args),
            Command::Import(args) => trade::import(self, &args),
            Command::Export(args) => trade::export(self, &args),
            Command::Schema(args) => trade::schema(self, &args),
        }
    }
}
