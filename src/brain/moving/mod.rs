//! Moving in: memories of other programs, read file by file, and fed as any other stimulus. Place in the flow: files → **moving** → stimuli →
//! agents. Must not know what stands in a file: the room `moving` does.
//!
//! Owns that a second import adds nothing: a memory is known by its id, which follows from its content, for as long as its stimulus is in
//! the brain, whatever sleep made of it. Killed anywhere, the next import of the same goes on. Only a window of memories is held at a time.
//!
//! - here: what comes in, window by window; `files`: files of a format, one after the other; `out`: memories as files of other programs

mod files;
mod out;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use out::{ExportRequest, Exported};

use super::capture::Places;
use super::trade::{ImportProgress, ImportReport};
use super::write::RunReport;
use super::{Brain, BrainError, Progress};
use crate::cycle::stimulus::{self, Input, Labels};
use crate::limits;
use crate::model::ids::hash64;
use crate::model::{Origin, Stamp, Stimulus, layout};
use crate::moving::{self, Format, Memory, Page, Reader, Unheld, Written};
use crate::world;

/// The class of origins of what is imported.
const CLASS: &str = "import";

/// What `import` is asked for.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// The file or folder; `-` is standard input.
    pub path: PathBuf,
    /// The format; by default it is recognised.
    pub format: Option<String>,
    /// Where it comes from; by default `import:FORMAT`.
    pub origin: Option<String>,
    /// Only store it.
    pub no_run: bool,
    /// Write nothing.
    pub dry_run: bool,
}

/// What an import of memories did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MovedIn {
    /// The format.
    pub format: String,
    /// Where the memories come from.
    pub origin: String,
    /// Files that were read.
    pub files: usize,
    /// Memories that are new.
    pub new: usize,
    /// Memories that were known.
    pub known: usize,
    /// Secrets that were taken out.
    pub redacted: usize,
    /// What cannot be held, with its place, as far as there is room for it.
    pub unheld: Vec<Unheld>,
    /// How much cannot be held.
    pub unheld_count: usize,
    /// Whether nothing was written because nothing was to be.
    pub dry_run: bool,
    /// The runs that followed.
    #[serde(flatten)]
    pub ran: RunReport,
}

/// How far an import is.
#[derive(Clone, Debug)]
pub enum MoveProgress {
    /// A whole network or triples.
    Network(ImportProgress),
    /// Bytes that are read, of how many.
    Read(u64, u64),
    /// The loop.
    Loop(Progress),
}

/// What came of an import.
#[derive(Clone, Debug)]
pub enum Imported {
    /// Neurons, as they are.
    Network(ImportReport),
    /// Memories, fed as any other.
    Memories(Box<MovedIn>),
}

/// What comes in, on its way.
struct Intake<'b, 'p> {
    brain: &'b Brain,
    origin: Origin,
    /// Origins under which hooks of the same client keep the same words, or did.
    kept_as: Vec<Origin>,
    /// Folders in which sessions were, and those of other projects.
    places: Places,
    elsewhere: BTreeSet<String>,
    now: Stamp,
    /// All stimuli of the brain.
    known: HashSet<u64>,
    /// Pages as the brain would write them, once one that comes in has something new.
    written: Option<Written>,
    window: Vec<Stimulus>,
    bytes: usize,
    order: u32,
    subject: String,
    is_run: bool,
    report: MovedIn,
    /// Why agents do not run any more: what comes is stored all the same.
    failed: Option<BrainError>,
    progress: &'p mut dyn FnMut(MoveProgress),
}

impl Brain {
    /// Imports what other programs remember, or a network of the brain's own; the format is recognised where it is not said.
    ///
    /// # Errors
    /// A format that is not known, what cannot be read at all, and an origin that is reserved or refused. What cannot be held is in the report.
    pub fn import_from(
        &self,
        request: &ImportRequest,
        progress: &mut dyn FnMut(MoveProgress),
    ) -> Result<Imported, BrainError> {
        let format = self.format_of(request)?;
        let mut of_network = |of: ImportProgress| progress(MoveProgress::Network(of));
        match format.reader {
            Some(Reader::Network) => {
                only_memories(request, format)?;
                Ok(Imported::Network(self.import(&request.path, request.dry_run, &mut of_network)?))
            }
            Some(Reader::Triples) => {
                only_memories(request, format)?;
                Ok(Imported::Network(self.import_triples(&request.path, request.dry_run, &mut of_network)?))
            }
            Some(reader) => Ok(Imported::Memories(Box::new(self.move_in(request, format, reader, progress)?))),
            None => Err(BrainError::usage(format!("{} is written, and not read", format.title))),
        }
    }

    fn format_of(&self, request: &ImportRequest) -> Result<&'static Format, BrainError> {
        if let Some(name) = &request.format {
            return moving::named(name, false).map_err(BrainError::usage);
        }
        let network = || moving::named("network", false).map_err(BrainError::usage);
        // Standard input and pipes can be read once: a document of git-brain, as ever.
        if is_stdin(&request.path) || world::is_once(&request.path) {
            return network();
        }
        let peek = files::peek(&request.path, self.own_files())?;
        if let Some(format) = moving::recognised(&peek) {
            return Ok(format);
        }
        // A document that is broken is told of where it breaks.
        let begins = peek
            .heads
            .first()
            .is_some_and(|(name, head)| name.ends_with(".json") || head.trim_start().starts_with('{'));
        if !peek.is_folder && begins {
            return network();
        }
        let what = if peek.is_folder { "the directory" } else { "the file" };
        Err(BrainError::Usage {
            message: format!("{what} {} is of no format that is known", request.path.display()),
            hint: Some(format!("--format says which it is:\n{}", moving::help(false).trim_end())),
        })
    }

    fn move_in(
        &self,
        request: &ImportRequest,
        format: &'static Format,
        reader: Reader,
        progress: &mut dyn FnMut(MoveProgress),
    ) -> Result<MovedIn, BrainError> {
        // Words of sessions come in as hooks keep them, and are trusted no more.
        let kept_as = match reader {
            Reader::Turns(client) => {
                let older = format!("{}:{client}", super::person::CLASS);
                vec![self.sessions_of(client), Origin::parse(&older).expect("invariant: names of clients are labels")]
            }
            _ => Vec::new(),
        };
        let default = kept_as.first().map_or_else(|| format!("{CLASS}:{}", format.name), ToString::to_string);
        let origin = self.claimed_origin(Some(request.origin.as_deref().unwrap_or(&default)))?;
        let name = request.path.file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned());
        let subject = format!("import {} from {}", self.cycle.shared.secrets.redact(&name), format.name);
        let mut intake = Intake {
            brain: self,
            kept_as,
            places: Places::new(),
            elsewhere: BTreeSet::new(),
            now: self.cycle.shared.world.now(),
            known: self.stimuli_ever()?,
            written: None,
            window: Vec::new(),
            bytes: 0,
            order: 0,
            subject: subject.chars().filter(|c| !c.is_control()).collect(),
            is_run: !request.no_run && !request.dry_run,
            report: MovedIn {
                format: format.name.to_owned(),
                origin: origin.to_string(),
                dry_run: request.dry_run,
                ..MovedIn::default()
            },
            origin,
            failed: None,
            progress,
        };
        intake.files(&request.path, format, reader)?;
        intake.finish()
    }

    fn has_queue(&self) -> Result<bool, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        Ok(self.cycle.store.folder(tree, layout::QUEUE)?.is_some())
    }

    /// The hashes of the ids of all stimuli that the brain ever had. Costs a look at their names.
    fn stimuli_ever(&self) -> Result<HashSet<u64>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let mut found = HashSet::new();
        self.cycle.store.each_file(tree, layout::STIMULI, &mut |path, _| {
            if let layout::Place::Stimulus(id) = layout::Place::of(path) {
                found.insert(hash64(id.as_str().as_bytes()));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Refuses what only memories have.
fn only_memories(request: &ImportRequest, format: &Format) -> Result<(), BrainError> {
    match (&request.origin, request.no_run) {
        (None, false) => Ok(()),
        (Some(_), _) => {
            Err(BrainError::usage(format!("--origin goes with memories, and {} has neurons", format.title)))
        }
        (None, true) => {
            Err(BrainError::usage(format!("--no-run goes with memories: {} wakes no agents", format.title)))
        }
    }
}

impl Intake<'_, '_> {
    fn unheld(&mut self, unheld: Unheld) {
        self.report.unheld_count += 1;
        if self.report.unheld.len() < limits::MOVED_UNHELD {
            self.report.unheld.push(unheld);
        }
    }

    /// Takes a page in, but for what the brain wrote itself.
    fn page(&mut self, page: &Page, place: &str) -> Result<(), BrainError> {
        let mut unheld = Vec::new();
        let secrets = &self.brain.cycle.shared.secrets;
        let (memories, redacted) = page.memories(place, secrets, &mut self.order, &mut unheld);
        self.report.redacted += redacted;
        unheld.into_iter().for_each(|unheld| self.unheld(unheld));
        let own = match memories.iter().all(|memory| self.is_known(memory)) {
            true => Vec::new(),
            false => self.written()?.known(page),
        };
        for memory in memories {
            match own.get(memory.piece) {
                Some(true) => self.report.known += 1,
                _ => self.memory(memory, place)?,
            }
        }
        Ok(())
    }

    /// Pages as the brain would write them; read once.
    fn written(&mut self) -> Result<&Written, BrainError> {
        let written = match self.written.take() {
            Some(written) => written,
            None => self.brain.written()?,
        };
        Ok(self.written.insert(written))
    }

    /// Whether a memory came in before, or was kept by hooks.
    fn is_known(&self, memory: &Memory) -> bool {
        let Some(source) = &memory.source else { return false };
        let id = |origin| Stimulus::id_of(origin, source, memory.session.as_deref(), memory.at, &memory.text);
        let mut origins = std::iter::once(&self.origin).chain(&self.kept_as);
        origins.any(|origin| self.known.contains(&hash64(id(origin).as_str().as_bytes())))
    }

    /// Takes a memory in, whose secrets are out of it.
    fn memory(&mut self, memory: Memory, place: &str) -> Result<(), BrainError> {
        if self.is_known(&memory) {
            self.report.known += 1;
            return Ok(());
        }
        let labels = Labels { at: memory.at, source: memory.source, session: memory.session, ..Labels::default() };
        let input = Input { text: memory.text, labels, day: memory.day, order: memory.order, ..Input::default() };
        match stimulus::stimulus(input, self.now, &self.origin, |_| 0) {
            Ok(stimulus) if !self.known.insert(hash64(stimulus.id.as_str().as_bytes())) => self.report.known += 1,
            Ok(stimulus) => {
                self.bytes += stimulus.text.len();
                self.report.new += 1;
                self.window.push(stimulus);
            }
            Err((field, message)) => self.unheld(Unheld::new(place, format!("{field} {message}"))),
        }
        match self.window.len() >= limits::WINDOW_STIMULI || self.bytes >= limits::WINDOW_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Makes the window durable, and runs agents on it.
    fn flush(&mut self) -> Result<(), BrainError> {
        let window = std::mem::take(&mut self.window);
        self.bytes = 0;
        if self.report.dry_run || window.is_empty() {
            return Ok(());
        }
        let progress = &mut *self.progress;
        self.brain.cycle.store_more_stimuli(&window, &self.subject, &[], &mut |of| progress(MoveProgress::Loop(of)))?;
        self.run();
        Ok(())
    }

    /// Runs agents on all that waits.
    fn run(&mut self) {
        if !self.is_run || self.failed.is_some() {
            return;
        }
        let progress = &mut *self.progress;
        match self.brain.run_on(&mut |_| Ok(None), 0, &mut |of| progress(MoveProgress::Loop(of))) {
            Ok(ran) => {
                let all = &mut self.report.ran;
                all.runs.extend(ran.runs);
                all.failures.extend(ran.failures);
                all.notes.extend(ran.notes);
                all.unpaid = ran.unpaid;
            }
            Err(error) => self.failed = Some(error),
        }
    }

    fn finish(mut self) -> Result<MovedIn, BrainError> {
        self.flush()?;
        // What an import that was killed left is stored, and waits.
        if self.is_run && self.brain.has_queue()? {
            self.run();
        }
        if let Some(error) = self.failed {
            return Err(self.brain.cycle.on_branches(error));
        }
        if self.report.ran.runs.is_empty() && !self.report.dry_run {
            self.brain.cycle.store.maintain();
        }
        self.report.ran.wake = self.brain.at(None)?.to_string();
        Ok(self.report)
    }
}

/// Whether a path names standard input.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
