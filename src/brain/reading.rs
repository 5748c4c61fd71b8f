//! Reading of input: each text in parts, into a spool, so that no file is held whole.
//!
//! Owns that a file which cannot be read stops no other, and that a file is fed whole or not at all. What becomes of the texts is `feed`'s.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::inputs::{Source, slashed};
use super::{Brain, BrainError};
use crate::cycle::file::is_ours;
use crate::cycle::stimulus::{self, Batch, FileText, Input, Inputs, Labels, Pages, Piece};
use crate::limits;
use crate::model::Origin;
use crate::model::ids::RunId;
use crate::model::json::JsonError;
use crate::text::Days;
use crate::world::progress::Work;
use crate::world::{self, Chunks, Named, NotText, Spool, WorldError};

/// A file that could not be read, or is not what its name says.
#[derive(Clone, Debug, Serialize)]
pub struct UnreadFile {
    /// The file, as it was named.
    pub file: String,
    /// Why.
    pub error: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The exit code that this failure has.
    pub code: u8,
}

/// All that was read.
pub(super) struct Reading {
    /// What is held of texts.
    pub spool: Spool,
    /// Texts and batches.
    pub inputs: Inputs,
    /// The runs that lines of batches say they answer.
    pub answers: BTreeSet<RunId>,
    /// Text files.
    pub files: Vec<FileText>,
    /// What the commit's subject calls them.
    pub names: Vec<String>,
    /// Files that could not be read.
    pub unread: Vec<UnreadFile>,
    /// Files of folders that are no text.
    pub passed: usize,
    /// Secrets that were taken out of texts.
    pub redacted: usize,
    /// Folders that were read: what was fed from below them and is not there is noticed.
    pub scopes: Vec<PathBuf>,
    /// Files and folders of which somebody says that what is not there is gone.
    pub said_gone: Vec<PathBuf>,
    failed: Option<BrainError>,
    seen: HashSet<PathBuf>,
}

impl Reading {
    /// Nothing yet; what has no room in memory lies in the folder.
    fn new(folder: &Path) -> Self {
        Self {
            spool: Spool::within(folder),
            inputs: Inputs::default(),
            answers: BTreeSet::new(),
            files: Vec::new(),
            names: Vec::new(),
            unread: Vec::new(),
            passed: 0,
            redacted: 0,
            scopes: Vec::new(),
            said_gone: Vec::new(),
            failed: None,
            seen: HashSet::new(),
        }
    }

    /// The texts and lines of batches, one after the other.
    pub fn each_input(&self) -> impl Iterator<Item = Result<Input, WorldError>> {
        (0..self.inputs.len()).map(|at| self.inputs.get(at, &self.spool))
    }

    /// The first label among the first inputs that is an address on the web.
    pub fn address(&self) -> Option<String> {
        const LOOKED_AT: usize = 64;
        let labels = self.each_input().take(LOOKED_AT).filter_map(|input| input.ok()?.labels.source);
        labels.into_iter().find(|label| label.starts_with("https://") || label.starts_with("http://"))
    }

    fn add(&mut self, input: Input) -> Result<(), WorldError> {
        self.answers.extend(input.labels.answers.clone());
        self.inputs.add(input, &mut self.spool)
    }

    /// Whether files that are not there any more are looked for.
    pub fn has_places(&self) -> bool {
        !self.scopes.is_empty() || !self.said_gone.is_empty()
    }

    /// Lists folders that may not be looked into.
    fn note_closed(&mut self, closed: Vec<(PathBuf, String)>) {
        self.unread.extend(closed.into_iter().map(|(folder, reason)| UnreadFile {
            file: folder.display().to_string(),
            error: format!("cannot look into {}: {reason}", folder.display()),
            hint: None,
            code: DEEP,
        }));
    }

    /// Why there is nothing to feed.
    pub fn nothing(self, sources: &[Source]) -> BrainError {
        let passed = self.passed;
        if let Some(unread) = self.unread.first().filter(|_| self.failed.is_none()) {
            return BrainError::usage(format!("there is nothing to feed: {}", unread.error));
        }
        if !self.said_gone.is_empty() && self.failed.is_none() {
            return BrainError::usage("nothing is remembered of files that are not there");
        }
        let found = sources.iter().all(|source| matches!(source, Source::Folder(_) | Source::Pattern(_)));
        self.failed.unwrap_or_else(|| {
            BrainError::usage(match passed {
                0 if found => "there is nothing to feed: nothing in it is a text file that is read".to_owned(),
                0 => "there is nothing to feed: the input is empty".to_owned(),
                passed => format!("there is nothing to feed: {passed} files were found, and none is a text"),
            })
        })
    }
}

impl Brain {
    /// Reads all that is fed. What cannot be read is listed, unless nothing else is there.
    pub(super) fn read_inputs(&self, sources: &[Source], labels: &Labels) -> Result<Reading, BrainError> {
        let mut reading = Reading::new(&self.cycle.store.private_dir());
        for source in sources {
            match source {
                Source::Text(_) | Source::Stdin => self.read_text(source, labels, &mut reading)?,
                Source::Lines(name, lines) => self.read_lines(name, lines, labels, &mut reading)?,
                Source::File(path) => self.read_named(path, labels, &mut reading),
                Source::Folder(path) => self.read_below(path, labels, &mut reading)?,
                Source::Gone(path) => {
                    if !matches!(world::named(path), Named::Nothing | Named::Folder) {
                        return Err(BrainError::Usage {
                            message: format!("{} is still there", path.display()),
                            hint: Some(
                                "--gone archives what is remembered of files that are not there any more".to_owned(),
                            ),
                        });
                    }
                    let place = world::true_path(path);
                    if self.files_below(&[], std::slice::from_ref(&place))?.is_empty() {
                        return Err(BrainError::usage(format!("nothing was fed from {}", path.display())));
                    }
                    reading.said_gone.push(place);
                }
                Source::Pattern(pattern) => {
                    let found = world::matching(pattern, limits::FED_FILES).unwrap_or_default();
                    check_count(pattern, found.files.len())?;
                    reading.note_closed(found.closed);
                    let own = self.own_files();
                    let found = found.files.into_iter().filter(|path| !own(path));
                    for path in found {
                        match world::named(&path) {
                            Named::Folder => self.read_below(&path, labels, &mut reading)?,
                            _ => self.read_found(&path, labels, &mut reading),
                        }
                    }
                }
            }
        }
        // A file that has become empty is told of by what it loses.
        if reading.inputs.is_empty() && reading.files.is_empty() && !reading.has_places() {
            return Err(reading.nothing(sources));
        }
        if labels.source.is_some() && reading.files.len() > 1 {
            return Err(BrainError::Usage {
                message: format!("--source labels one file, and {} are fed", reading.files.len()),
                hint: Some("without it, each file is labelled by its path".to_owned()),
            });
        }
        Ok(reading)
    }

    /// Reads lines of a batch that are in memory.
    fn read_lines(&self, name: &str, lines: &str, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        let secrets = &self.cycle.shared.secrets;
        let mut batch = Batch::new(name, labels, secrets);
        for line in lines.lines() {
            reading.redacted += secrets.find(line.as_bytes()).len();
            for input in batch.line(line.as_bytes())? {
                self.check_line(&input, name, batch.line_number())?;
                reading.add(input)?;
            }
        }
        reading.names.push(name.to_owned());
        Ok(())
    }

    /// Refuses a line of a batch whose text or labels cannot be remembered, by its place.
    fn check_line(&self, input: &Input, what: &str, line: usize) -> Result<(), BrainError> {
        stimulus::stimulus(input.clone(), self.cycle.shared.world.now(), &Origin::local(), |_| 0)
            .map(drop)
            .map_err(|(field, message)| BrainError::refused(format!("{what}, line {line}, {field}: {message}")))
    }

    fn read_text(&self, source: &Source, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        let secrets = &self.cycle.shared.secrets;
        let Source::Text(text) = source else { return self.read_page(labels, reading) };
        // Before it is divided and before ids are made of it.
        let clean = secrets.redact(text);
        if let Cow::Owned(_) = clean {
            reading.redacted += secrets.find(text.as_bytes()).len();
        }
        reading.names.push(crate::delta::render::clip(&clean));
        for input in stimulus::from_argument(&clean, labels) {
            reading.add(input)?;
        }
        Ok(())
    }

    /// Reads standard input.
    fn read_page(&self, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        let mut chunks = Chunks::of_stdin(limits::INPUT_BYTES);
        let what = chunks.name().to_owned();
        let (pieces, redacted, _) = self.pieces_of(&mut chunks, &what, None, false, &mut reading.spool)?;
        reading.redacted += redacted;
        let first = pieces.first().map(|piece| reading.spool.text(piece.place)).transpose()?;
        reading.names.push(crate::delta::render::clip(&first.unwrap_or_default()));
        for (at, piece) in pieces.iter().enumerate() {
            let text = reading.spool.text(piece.place)?;
            reading.add(stimulus::of_page(text, at, pieces.len(), labels))?;
        }
        Ok(())
    }

    /// Reads a text into the spool; of `found` ones, whether it is a text at all is said instead of what is wrong with it.
    fn pieces_of(
        &self,
        chunks: &mut Chunks,
        what: &str,
        days: Option<Days>,
        is_found: bool,
        spool: &mut Spool,
    ) -> Result<(Vec<Piece>, usize, bool), BrainError> {
        let (mut pages, start) = (Pages::new(&self.cycle.shared.secrets, days), spool.end());
        loop {
            let part = chunks.next(|part| match is_found && part.contains('\0') {
                true => Ok(false),
                false => pages.add(part, spool).map(|()| true),
            });
            match part {
                Ok(Some(Ok(true))) => {}
                Ok(Some(Ok(false))) | Err(NotText::Line(_)) if is_found => {
                    spool.cut(start);
                    return Ok((Vec::new(), 0, false));
                }
                Ok(None) => break,
                failed => {
                    spool.cut(start);
                    return Err(match failed {
                        Err(NotText::Line(line)) => JsonError::at(what, line, "", "is not UTF-8").into(),
                        Err(NotText::World(error)) | Ok(Some(Err(error))) => error.into(),
                        Ok(_) => unreachable!("invariant: parts of named files are added"),
                    });
                }
            }
        }
        let (pieces, redacted) = pages.finish(spool)?;
        Ok((pieces, redacted, true))
    }

    /// A file that somebody named: what is wrong with it is told.
    fn read_named(&self, path: &Path, labels: &Labels, reading: &mut Reading) {
        self.read_or_tell(path, labels, reading, false);
    }

    /// A file that was come across: one that is no text is passed over.
    fn read_found(&self, path: &Path, labels: &Labels, reading: &mut Reading) {
        self.read_or_tell(path, labels, reading, true);
    }

    fn read_or_tell(&self, path: &Path, labels: &Labels, reading: &mut Reading, is_found: bool) {
        if let Err(error) = self.read_file(path, labels, reading, is_found) {
            reading.unread.push(UnreadFile {
                file: path.display().to_string(),
                error: error.to_string(),
                hint: error.hint(),
                code: error.exit_code(),
            });
            reading.failed.get_or_insert(error);
        }
    }

    /// Tells the brain's own files and git's from others: a brain does not eat itself.
    pub(super) fn own_files(&self) -> impl Fn(&Path) -> bool + Send + Sync + 'static {
        let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
        move |path: &Path| {
            let place = world::true_path(path);
            let inside = root.as_ref().and_then(|root| place.strip_prefix(root).ok().map(slashed));
            let is_own =
                |path: &str| is_ours(path) || path == "agents" || path == "hooks" || path.starts_with("hooks/");
            is_of_git(&place) || inside.is_some_and(|path| is_own(&path))
        }
    }

    fn read_below(&self, folder: &Path, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        check_not_git(folder)?;
        let found = world::files_below(folder, limits::FED_FILES, self.own_files())?;
        reading.scopes.push(world::true_path(folder));
        check_count(&folder.display().to_string(), found.files.len())?;
        let work = Work::begin("reading files", found.files.len());
        for path in &found.files {
            self.read_found(path, labels, reading);
            work.step();
        }
        reading.note_closed(found.closed);
        for folder in found.too_deep {
            let error = format!("{}: too deep to be looked into", folder.display());
            reading.unread.push(UnreadFile { file: folder.display().to_string(), error, hint: None, code: DEEP });
        }
        Ok(())
    }

    fn read_file(&self, path: &Path, labels: &Labels, reading: &mut Reading, is_found: bool) -> Result<(), BrainError> {
        check_not_git(path)?;
        let place = world::true_path(path);
        if !reading.seen.insert(place.clone()) {
            return Ok(());
        }
        let what = path.display().to_string();
        let mut chunks = Chunks::of_file(path, limits::INPUT_BYTES)?;
        let base = path.file_name().map_or_else(|| what.clone(), |name| name.to_string_lossy().into_owned());
        let base: String = base.chars().filter(|c| !c.is_control()).take(200).collect();
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jsonl")) {
            let (count, start, answers) = (reading.inputs.len(), reading.spool.end(), reading.answers.clone());
            let read = self.read_batch(&mut chunks, &what, labels, reading, is_found);
            // A batch is taken whole or not at all.
            if !matches!(read, Ok(true)) {
                reading.inputs.truncate(count);
                reading.spool.cut(start);
                reading.answers = answers;
            }
            if !read? {
                reading.passed += 1;
                return Ok(());
            }
        } else {
            let name = self.label_of(&place);
            let owner = self.owner_of(&place, &name, labels.source.is_some())?;
            let days = labels.at.is_none().then(|| Days::of(&name));
            let (pieces, redacted, is_text) = self.pieces_of(&mut chunks, &what, days, is_found, &mut reading.spool)?;
            if !is_text {
                reading.passed += 1;
                return Ok(());
            }
            reading.redacted += redacted;
            reading.files.push(FileText { pieces, ..FileText::new(name, labels, owner) });
        }
        reading.names.push(self.cycle.shared.secrets.redact(&base).into_owned());
        Ok(())
    }

    /// Reads a batch line by line; false for one that was come across and is no text.
    fn read_batch(
        &self,
        chunks: &mut Chunks,
        what: &str,
        labels: &Labels,
        reading: &mut Reading,
        is_found: bool,
    ) -> Result<bool, BrainError> {
        let secrets = &self.cycle.shared.secrets;
        let mut batch = Batch::new(what, labels, secrets);
        let (mut line, mut length, mut redacted) = (String::new(), 0, 0);
        let mut take = |line: &str, length: usize, reading: &mut Reading| -> Result<(), BrainError> {
            if length > line.len() {
                return Err(batch.too_long(length).into());
            }
            redacted += secrets.find(line.as_bytes()).len();
            for input in batch.line(line.as_bytes())? {
                self.check_line(&input, what, batch.line_number())?;
                reading.add(input)?;
            }
            Ok(())
        };
        loop {
            let part = chunks.next(|part| -> Result<bool, BrainError> {
                if is_found && part.contains('\0') {
                    return Ok(false);
                }
                for part in part.split_inclusive('\n') {
                    let (text, ends) = part.strip_suffix('\n').map_or((part, false), |text| (text, true));
                    length += text.len();
                    // Of what is too long no more is held than says so.
                    if line.len() <= limits::DELTA_BYTES {
                        line.push_str(text);
                    }
                    if ends {
                        take(&line, length, reading)?;
                        line.clear();
                        length = 0;
                    }
                }
                Ok(true)
            });
            match part {
                Ok(Some(Ok(true))) => {}
                Ok(None) => break,
                Ok(Some(Ok(false))) => return Ok(false),
                Err(NotText::Line(_)) if is_found => return Ok(false),
                Err(NotText::Line(line)) => return Err(JsonError::at(what, line, "", "is not UTF-8").into()),
                Err(NotText::World(error)) => return Err(error.into()),
                Ok(Some(Err(error))) => return Err(error),
            }
        }
        take(&line, length, reading)?;
        reading.redacted += redacted;
        Ok(true)
    }
}

/// Whether it lies in a folder of git's own.
fn is_of_git(place: &Path) -> bool {
    place.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

fn check_not_git(path: &Path) -> Result<(), BrainError> {
    if !is_of_git(&world::true_path(path)) {
        return Ok(());
    }
    Err(BrainError::Refused {
        message: format!("{} is git's own, and no memory", path.display()),
        hint: Some(
            "to remember it all the same, feed a copy that lies elsewhere, or `-` from standard input".to_owned(),
        ),
    })
}

fn check_count(what: &str, found: usize) -> Result<(), BrainError> {
    if found <= limits::FED_FILES {
        return Ok(());
    }
    Err(BrainError::Usage {
        message: format!("{what} has more than {} files", limits::FED_FILES),
        hint: Some("feed the folders that matter, one by one".to_owned()),
    })
}

/// The exit code of a folder that is not looked into.
const DEEP: u8 = 2;
