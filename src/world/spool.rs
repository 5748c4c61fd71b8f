//! Texts that are read once and used later: in memory as long as they are few, in a file without a name beyond. Place in the flow: input →
//! **spool** → stimuli. Must not know what the texts are.

use std::cell::RefCell;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::WorldError;
use crate::limits;

/// Texts in the order in which they came. The file has no name, so that nothing of it is left, whatever ends the process.
pub struct Spool {
    file: RefCell<SpooledTempFile>,
    end: u64,
}

/// The place of a text in its spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spooled {
    at: u64,
    length: u32,
}

impl Spool {
    /// An empty spool. A file that it needs lies in the folder.
    pub fn within(folder: &Path) -> Self {
        Self { file: RefCell::new(spooled_tempfile_in(limits::SPOOL_BYTES, folder)), end: 0 }
    }

    /// Adds a text.
    ///
    /// # Errors
    /// The disk is full.
    pub fn add(&mut self, text: &str) -> Result<Spooled, WorldError> {
        let length = u32::try_from(text.len()).expect("invariant: no text is longer than a line of a batch");
        let place = Spooled { at: self.end, length };
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(text.as_bytes())).map_err(failed)?;
        self.end += u64::from(length);
        Ok(place)
    }

    /// The end of what was added so far.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Forgets what was added behind a place.
    pub fn cut(&mut self, end: u64) {
        self.end = self.end.min(end);
    }

    /// Returns a text.
    ///
    /// # Errors
    /// The disk fails.
    pub fn text(&self, place: Spooled) -> Result<String, WorldError> {
        let mut bytes = vec![0; place.length as usize];
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(place.at)).and_then(|_| file.read_exact(&mut bytes)).map_err(failed)?;
        String::from_utf8(bytes).map_err(|error| failed(std::io::Error::other(error)))
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Spool of {} bytes", self.end)
    }
}

fn failed(source: std::io::Error) -> WorldError {
    WorldError::Read { path: "the file that holds what is fed".to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_memory_and_from_the_file_and_what_was_cut_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::within(folder.path());
        let long = "é".repeat(limits::SPOOL_BYTES / 8);
        let texts = ["Tea.", "", &long, "Milk.", &long, &long, &long, &long, "Cake."];
        let places: Vec<Spooled> = texts.iter().map(|text| spool.add(text).unwrap()).collect();
        assert!(spool.file.borrow().is_rolled());
        assert!(texts.iter().zip(&places).all(|(text, place)| spool.text(*place).unwrap() == *text));
        let end = spool.end();
        spool.add("a file that is none").unwrap();
        spool.cut(end);
        assert_eq!(spool.end(), end);
        let last = spool.add("Bread.").unwrap();
        assert_eq!((spool.text(last).unwrap().as_str(), spool.text(places[8]).unwrap().as_str()), ("Bread.", "Cake."));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    }
}
