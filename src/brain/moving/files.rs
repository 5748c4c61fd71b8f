//! Files of a format, one after the other: lines, documents, notes, session logs.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::capture::{session_label, source_of};
use super::super::inputs::slashed;
use super::{Brain, BrainError, Intake, MoveProgress, is_stdin};
use crate::client::{Client, turns};
use crate::limits;
use crate::moving::{Format, Found, Memory, Peek, Reader, Unheld, markdown, stream};
use crate::world::{self, Named};

/// Extensions of files that are read: of values and session logs, and of notes.
const VALUES: [&str; 2] = ["jsonl", "json"];
const NOTES: [&str; 2] = ["md", "markdown"];

/// What an input looks like from outside.
pub(super) fn peek(path: &Path, skip: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Result<Peek, BrainError> {
    let mut peek = Peek { is_folder: world::named(path) == Named::Folder, ..Peek::default() };
    let files = match peek.is_folder {
        false => vec![path.to_owned()],
        true => {
            peek.folders = world::folders_in(path);
            let below = world::files_below(path, limits::MOVED_FILES, skip)?;
            let mut files: Vec<PathBuf> =
                below.files.into_iter().filter(|file| is_one_of(file, &NOTES) || is_one_of(file, &VALUES)).collect();
            // Some of all: what tells a format may stand in the last one. Letta's own folder comes first.
            files.sort_by_key(|file| !file.starts_with(path.join("system")));
            let step = files.len().div_ceil(limits::MOVED_HEADS).max(1);
            files.into_iter().step_by(step).collect()
        }
    };
    for file in files {
        let part = world::read_part(&file, 0, limits::MOVED_HEAD_BYTES);
        let part = if peek.is_folder { part.unwrap_or_default() } else { part? };
        let name = file
            .strip_prefix(path)
            .ok()
            .filter(|rest| !rest.as_os_str().is_empty())
            .map_or_else(|| slashed(&file), slashed);
        peek.heads.push((name, String::from_utf8_lossy(&part.bytes).into_owned()));
    }
    Ok(peek)
}

fn is_one_of(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension)))
}

impl Intake<'_, '_> {
    /// Reads a file, all files of a folder that belong to the format, or standard input.
    pub(super) fn files(&mut self, path: &Path, format: &Format, reader: Reader) -> Result<(), BrainError> {
        if is_stdin(path) {
            let mut input = BufReader::with_capacity(limits::MOVED_HEAD_BYTES, std::io::stdin());
            self.report.files = 1;
            return match reader {
                Reader::Values(read) => self.values(&mut input, "standard input", (0, 0), read),
                Reader::Turns(client) => self.turns(&mut input, Path::new("-"), (0, 0), client),
                _ => {
                    Err(BrainError::usage(format!("{} is a folder, and cannot come from standard input", format.title)))
                }
            };
        }
        let is_folder = match world::named(path) {
            Named::Nothing => return Err(BrainError::usage(format!("there is no file or folder {}", path.display()))),
            named => named == Named::Folder,
        };
        let extensions: &[&str] = if matches!(reader, Reader::Notes(_)) { &NOTES } else { &VALUES };
        let mut others = 0;
        let (root, found) = match is_folder {
            false => (path.parent().unwrap_or(Path::new("")).to_owned(), vec![path.to_owned()]),
            true => {
                let below = world::files_below(path, limits::MOVED_FILES, self.brain.own_files())?;
                if below.files.len() > limits::MOVED_FILES {
                    return Err(BrainError::usage(format!(
                        "{} has more than {} files",
                        path.display(),
                        limits::MOVED_FILES
                    )));
                }
                for folder in below.too_deep {
                    self.unheld(Unheld::new(folder.display().to_string(), "is too deep to be looked into"));
                }
                for (folder, reason) in below.closed {
                    self.unheld(Unheld::new(folder.display().to_string(), format!("cannot be looked into: {reason}")));
                }
                let (mut found, mut passed) = (Vec::new(), Vec::new());
                for file in below.files {
                    if is_one_of(&file, extensions) { found.push(file) } else { passed.push(file) }
                }
                for file in passed {
                    others += 1;
                    self.unheld(Unheld::new(name_in(path, &file), "is no file of this format"));
                }
                (path.to_owned(), found)
            }
        };
        if found.is_empty() {
            let extensions = extensions.join("` or `.");
            return Err(BrainError::usage(format!(
                "{} has no file that ends with `.{extensions}`; {others} others were found",
                path.display()
            )));
        }
        let total: u64 = found.iter().map(|file| world::size(file)).sum();
        let mut done = 0;
        for file in found {
            let place = name_in(&root, &file);
            if let Err(error) = self.file(&file, &place, (done, total), reader) {
                // What stands in one file stops no other; what the brain says stops all.
                if !matches!(error, BrainError::World(_)) || !is_folder {
                    return Err(error);
                }
                self.unheld(Unheld::new(place, error.to_string()));
            }
            done += world::size(&file);
            (self.progress)(MoveProgress::Read(done, total));
        }
        Ok(())
    }

    fn file(&mut self, file: &Path, place: &str, at: (u64, u64), reader: Reader) -> Result<(), BrainError> {
        match reader {
            Reader::Notes(by_line) => self.note(file, place, by_line)?,
            Reader::Values(read) => {
                let opened = world::open_input(file)?;
                self.values(&mut BufReader::with_capacity(limits::MOVED_HEAD_BYTES, opened), place, at, read)?;
            }
            Reader::Turns(client) => {
                let opened = world::open_input(file)?;
                self.turns(&mut BufReader::with_capacity(limits::MOVED_HEAD_BYTES, opened), file, at, client)?;
            }
            Reader::Network | Reader::Triples => unreachable!("invariant: networks are imported whole"),
        }
        self.report.files += 1;
        Ok(())
    }

    fn note(&mut self, file: &Path, place: &str, by_line: bool) -> Result<(), BrainError> {
        let bytes = world::read_bounded(file, limits::MOVED_BYTES)?;
        let Ok(text) = String::from_utf8(bytes) else {
            self.unheld(Unheld::new(place, "is not UTF-8"));
            return Ok(());
        };
        if text.contains('\0') {
            self.unheld(Unheld::new(place, "is no text"));
            return Ok(());
        }
        if text.trim().is_empty() {
            self.unheld(Unheld::new(place, "is empty"));
            return Ok(());
        }
        let name = NOTES.iter().find_map(|extension| place.strip_suffix(&format!(".{extension}"))).unwrap_or(place);
        if text.starts_with('\u{feff}') || text.contains("\r\n") {
            self.unheld(Unheld::new(place, "carriage returns or a mark of byte order"));
        }
        let mut page = markdown::read(name, &text, by_line);
        page.at = page.at.or_else(|| world::modified(file));
        self.page(&page, place)
    }

    /// Values of a file: one a line, or a document.
    fn values(
        &mut self,
        input: &mut dyn BufRead,
        place: &str,
        at: (u64, u64),
        read: fn(&str, &Value, &str) -> Found,
    ) -> Result<(), BrainError> {
        let head = String::from_utf8_lossy(input.fill_buf().map_err(unread(place))?).into_owned();
        if stream::is_lines(&head) {
            return self.lines(
                input,
                place,
                at,
                &mut |intake, line, place| match serde_json::from_slice::<Value>(line) {
                    Ok(value) => intake.found(read("", &value, place), place),
                    Err(error) => {
                        intake.unheld(Unheld::new(place, format!("is no JSON: {}", without_place(&error))));
                        Ok(())
                    }
                },
            );
        }
        let mut failed = None;
        let mut see = |list: &str, value: Value, number: usize| {
            let of = if list.is_empty() { String::new() } else { format!(" of `{list}`") };
            let place = format!("{place}, value {number}{of}");
            match self.found(read(list, &value, &place), &place) {
                Ok(()) => true,
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        };
        let ended = stream::document(&mut &mut *input, &mut see);
        if let Some(error) = failed {
            return Err(error);
        }
        if let Err(error) = ended {
            self.unheld(Unheld::new(
                format!("{place}, line {}", error.line()),
                format!("is no JSON from here on: {}", without_place(&error)),
            ));
        }
        (self.progress)(MoveProgress::Read(at.0, at.1));
        Ok(())
    }

    fn found(&mut self, found: Found, place: &str) -> Result<(), BrainError> {
        found.unheld.into_iter().for_each(|unheld| self.unheld(unheld));
        found.pages.iter().try_for_each(|page| self.page(page, place))
    }

    /// Each line that is not blank, with its place. A line that is too long is passed over.
    #[allow(clippy::type_complexity, reason = "a callback with a place")]
    fn lines(
        &mut self,
        input: &mut dyn BufRead,
        place: &str,
        (before, total): (u64, u64),
        each: &mut dyn FnMut(&mut Self, &[u8], &str) -> Result<(), BrainError>,
    ) -> Result<(), BrainError> {
        let (mut line, mut number, mut done) = (Vec::new(), 0_u64, before);
        loop {
            line.clear();
            let read =
                (&mut *input).take(limits::MOVED_BYTES as u64).read_until(b'\n', &mut line).map_err(unread(place))?;
            if read == 0 {
                return Ok(());
            }
            number += 1;
            done += read as u64;
            let place = format!("{place}, line {number}");
            if read == limits::MOVED_BYTES && !line.ends_with(b"\n") {
                self.unheld(Unheld::new(&place, format!("has more than {} bytes", limits::MOVED_BYTES)));
                done += skip_line(input).map_err(unread(&place))?;
                continue;
            }
            let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
            if !text.is_empty() {
                each(self, text, &place)?;
            }
            if number % 1_000 == 0 {
                (self.progress)(MoveProgress::Read(done, total));
            }
        }
    }

    /// Turns of a session log, in parts of whole lines.
    fn turns(
        &mut self,
        input: &mut dyn BufRead,
        file: &Path,
        at: (u64, u64),
        client: Client,
    ) -> Result<(), BrainError> {
        let place =
            file.file_name().map_or_else(|| "standard input".to_owned(), |name| name.to_string_lossy().into_owned());
        let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let label = session_label(client, &stem);
        let mut held = String::new();
        let mut broken = Vec::new();
        self.lines(input, &place, at, &mut |intake, line, place| {
            match std::str::from_utf8(line) {
                Ok(line)
                    if line.len() <= limits::TRANSCRIPT_LINE_BYTES && line.starts_with('{') && line.ends_with('}') =>
                {
                    held.push_str(line);
                    held.push('\n');
                }
                Ok(line) if line.len() > limits::TRANSCRIPT_LINE_BYTES => {
                    broken.push(Unheld::new(place, "is too long"))
                }
                _ => broken.push(Unheld::new(place, "is no JSON")),
            }
            if held.len() >= limits::TRANSCRIPT_BYTES / 2 {
                intake.said(client, &label, &std::mem::take(&mut held), place)?;
            }
            Ok(())
        })?;
        broken.into_iter().for_each(|unheld| self.unheld(unheld));
        self.said(client, &label, &held, &place)
    }

    fn said(&mut self, client: Client, label: &str, lines: &str, place: &str) -> Result<(), BrainError> {
        for turn in turns(client, lines) {
            if !self.brain.was_said_here(&turn, &mut self.places) {
                let folder = turn.cwd.as_deref().unwrap_or_default();
                if self.elsewhere.insert(folder.to_owned()) {
                    self.unheld(Unheld::new(
                        place,
                        format!("was said in {folder}, of another project: import it there"),
                    ));
                }
                continue;
            }
            let secrets = &self.brain.cycle.shared.secrets;
            let text = turn.kept(secrets);
            self.report.redacted += secrets.find(turn.text.as_bytes()).len();
            let Some(source) = source_of(turn.by, &text, label) else { continue };
            let text: String =
                text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect();
            let order = self.order;
            self.order = self.order.saturating_add(1);
            let at = turn.at.filter(|at| *at <= self.now);
            let memory =
                Memory { text, source: Some(source), session: Some(label.to_owned()), at, order, ..Memory::default() };
            self.memory(memory, place)?;
        }
        Ok(())
    }
}

/// A file's path below a folder, as people write it.
fn name_in(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).map_or_else(|_| slashed(file), slashed)
}

fn unread(place: &str) -> impl Fn(std::io::Error) -> BrainError + '_ {
    |source| world::WorldError::Read { path: place.to_owned(), source }.into()
}

/// Reads to the end of a line, and returns the number of its bytes.
fn skip_line(input: &mut dyn BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let held = input.fill_buf()?;
        if held.is_empty() {
            return Ok(skipped);
        }
        let end = held.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let read = end.unwrap_or(held.len());
        input.consume(read);
        skipped += read as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}

/// What is wrong, without the line and column of the part that was read.
fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.split(" at line ").next().unwrap_or(&said).to_owned()
}

impl Brain {
    /// The names of the formats, for help: of those that are read, or written.
    pub fn formats(is_written: bool) -> String {
        crate::moving::help(is_written)
    }
}
