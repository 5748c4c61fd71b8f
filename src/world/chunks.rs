//! Text of files and of standard input in parts, so that no file is held whole. Place in the flow: files → **chunks** → text. Must not know
//! what the text is.

use std::io::Read;
use std::path::Path;

use super::WorldError;
use super::files::open_input;
use crate::limits;

/// Why a text could not be read.
#[derive(Debug)]
pub enum NotText {
    /// It cannot be read, or is larger than it may be.
    World(WorldError),
    /// That line, from 1, is not UTF-8.
    Line(usize),
}

impl From<WorldError> for NotText {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

/// A file or standard input, read part by part.
pub struct Chunks {
    name: String,
    reader: Box<dyn Read>,
    /// Bytes of a character that the last part ended in, before those of the next.
    held: Vec<u8>,
    read: usize,
    most: usize,
    lines: usize,
}

impl Chunks {
    /// Opens a file of at most `most` bytes. Of what is no regular file, only the pipes that a shell hands over are opened.
    ///
    /// # Errors
    /// It cannot be opened, or is larger.
    pub fn of_file(path: &Path, most: usize) -> Result<Self, WorldError> {
        let file = open_input(path)?;
        let name = path.display().to_string();
        if file.metadata().is_ok_and(|found| found.is_file() && found.len() > most as u64) {
            return Err(WorldError::Large { path: name, max: most });
        }
        Ok(Self::of(name, Box::new(file), most))
    }

    /// Standard input of at most `most` bytes.
    pub fn of_stdin(most: usize) -> Self {
        Self::of("standard input".to_owned(), Box::new(std::io::stdin().lock()), most)
    }

    /// What a reader has.
    pub fn of(name: String, reader: Box<dyn Read>, most: usize) -> Self {
        Self { name, reader, held: Vec::new(), read: 0, most, lines: 0 }
    }

    /// The name by which errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hands the next part to `with`; `None` at the end.
    ///
    /// # Errors
    /// It cannot be read, is larger than it may be, or is no text.
    pub fn next<R>(&mut self, with: impl FnOnce(&str) -> R) -> Result<Option<R>, NotText> {
        let begun = self.held.len();
        let fail = |source| WorldError::Read { path: self.name.clone(), source };
        let count = self.reader.by_ref().take(limits::CHUNK_BYTES as u64).read_to_end(&mut self.held).map_err(fail)?;
        self.read += count;
        if self.read > self.most {
            return Err(WorldError::Large { path: self.name.clone(), max: self.most }.into());
        }
        if count == 0 && begun == 0 {
            return Ok(None);
        }
        let valid = match std::str::from_utf8(&self.held) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && count > 0 => error.valid_up_to(),
            Err(error) => {
                let before = &self.held[..error.valid_up_to()];
                return Err(NotText::Line(self.lines + newlines(before) + 1));
            }
        };
        let rest = self.held.split_off(valid);
        let text = String::from_utf8(std::mem::replace(&mut self.held, rest)).expect("invariant: looked at above");
        self.lines += newlines(text.as_bytes());
        Ok(Some(with(&text)))
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives one byte at a time.
    struct Slow(std::io::Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(1);
            self.0.read(&mut into[..most])
        }
    }

    fn read(bytes: Vec<u8>, most: usize) -> Result<String, NotText> {
        let mut chunks = Chunks::of("x".to_owned(), Box::new(Slow(std::io::Cursor::new(bytes))), most);
        let mut text = String::new();
        while chunks.next(|part| text.push_str(part))?.is_some() {}
        Ok(text)
    }

    #[test]
    fn parts_end_between_characters_and_errors_name_the_line() {
        let text = "猫é\n".repeat(limits::CHUNK_BYTES / 3);
        assert_eq!(read(text.clone().into_bytes(), usize::MAX).unwrap(), text);
        assert!(matches!(
            read(text.clone().into_bytes(), text.len() - 1),
            Err(NotText::World(WorldError::Large { .. }))
        ));
        let lines = text.lines().count();
        for end in [&b"\xff"[..], b"a\xe7\x8c", b"\xe7\x8c\n"] {
            let bytes = [text.as_bytes(), end].concat();
            assert!(matches!(read(bytes, usize::MAX), Err(NotText::Line(line)) if line == lines + 1), "{end:?}");
        }
        assert_eq!(read(Vec::new(), 0).unwrap(), "");
    }
}
