//! Questions to people and watching agents, as files beside the repository: `handoffs/<id>.json`, and `<id>.answer.json` for the answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::cache::{write_new, write_whole};
use super::{Store, StoreError};

/// Longest answer that is read, bytes.
const ANSWER_BYTES: u64 = 1 << 20;

/// Characters of a reason that are noted of one refused answer: it names fields as long as whoever answers likes.
const REFUSED_CHARS: usize = 300;

/// Bytes of refused answers that are noted of one question.
const REFUSED_BYTES: u64 = 4 << 10;

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It is there.
    Now,
    /// Another answer was there, and counts.
    Before,
    /// There is no question of that id.
    NoQuestion,
}

impl Store {
    fn live_file(&self) -> PathBuf {
        self.private_dir().join("deliberation.jsonl")
    }

    /// Adds a line to what a deliberation under way tells. It is for whoever watches: what is lost of it is in the cycle.
    pub fn tell_live(&self, line: &str) {
        let open = || std::fs::OpenOptions::new().create(true).append(true).open(self.live_file());
        if std::fs::create_dir_all(self.private_dir()).is_ok()
            && let Ok(mut file) = open()
        {
            let _ = std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes());
        }
    }

    /// What a deliberation under way has told, at most the last `most` bytes.
    pub fn told_live(&self, most: usize) -> Vec<String> {
        let text = std::fs::read_to_string(self.live_file()).unwrap_or_default();
        let start = text.len().saturating_sub(most);
        let lines = text.get(start..).unwrap_or_default().lines();
        lines.map(str::to_owned).collect()
    }

    /// Forgets what a deliberation has told: its cycle has it.
    pub fn forget_live(&self) {
        let _ = std::fs::remove_file(self.live_file());
    }

    fn measured_file(&self) -> PathBuf {
        self.private_dir().join("measured.txt")
    }

    /// Notes what gates here said of a record that a cycle has, by its hash: why they say otherwise; empty: they say the same.
    pub fn note_measured(&self, mark: &str, why: &str) -> Result<(), StoreError> {
        let path = self.measured_file();
        let line = format!("{mark} {}\n", why.replace(char::is_control, " "));
        let open = || std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let add = |mut file: std::fs::File| std::io::Write::write_all(&mut file, line.as_bytes());
        std::fs::create_dir_all(self.private_dir())
            .and_then(|()| open())
            .and_then(add)
            .map_err(|e| StoreError::file(&path)(e))
    }

    /// What [`Self::note_measured`] has noted, by hash; the newest counts. What cannot be read was not measured.
    pub fn measured_here(&self) -> BTreeMap<String, String> {
        let bytes = std::fs::read(self.measured_file()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // A line that was cut off says nothing.
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.split_once(' '));
        lines.map(|(mark, why)| (mark.to_owned(), why.to_owned())).collect()
    }

    fn handoff_dir(&self) -> PathBuf {
        self.private_dir().join("handoffs")
    }

    /// Puts a question where people and agents look for it.
    pub fn put_handoff(&self, id: &str, question: &[u8]) -> Result<(), StoreError> {
        let folder = self.handoff_dir();
        let path = folder.join(format!("{id}.json"));
        std::fs::create_dir_all(&folder)
            .and_then(|()| write_whole(&path, question))
            .map_err(|e| StoreError::file(&path)(e))
    }

    /// Answers a question, unless it has an answer. Whoever is no person at this machine says where the answer comes `from`.
    pub fn answer_handoff(&self, id: &str, answer: &[u8], from: Option<&str>) -> Result<Answered, StoreError> {
        let folder = self.handoff_dir();
        let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !is_name || !folder.join(format!("{id}.json")).is_file() {
            return Ok(Answered::NoQuestion);
        }
        let path = folder.join(format!("{id}.answer.json"));
        // A file that was never finished keeps nobody from answering.
        if path.exists() && self.answered_handoff(id)?.is_none() {
            std::fs::remove_file(&path).map_err(|e| StoreError::file(&path)(e))?;
        }
        // Where it comes from is there before it. Of two that answer at once both are named: too much rather than too little.
        if let Some(from) = from.filter(|_| !path.exists()) {
            let place = folder.join(format!("{id}.from"));
            let add = |mut file: std::fs::File| std::io::Write::write_all(&mut file, format!("{from}\n").as_bytes());
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(&place);
            opened.and_then(add).map_err(|e| StoreError::file(&place)(e))?;
        }
        match write_new(&path, answer).map_err(|e| StoreError::file(&path)(e))? {
            true => Ok(Answered::Now),
            false => Ok(Answered::Before),
        }
    }

    /// The answer to a question, if it has come. One that ends in the middle is still being written.
    pub fn answered_handoff(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.handoff_dir().join(format!("{id}.answer.json"));
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_file() && meta.len() <= ANSWER_BYTES => {
                let said = std::fs::read(&path).map_err(|e| StoreError::file(&path)(e))?;
                let whole = serde_json::from_slice::<serde::de::IgnoredAny>(&said);
                Ok(Some(said).filter(|_| !whole.is_err_and(|error| error.is_eof())))
            }
            // Too long an answer is none of the form.
            Ok(_) => Ok(Some(Vec::new())),
            Err(_) => Ok(None),
        }
    }

    /// The origins of the answer to a question; none: a person at this machine gave it.
    pub fn answer_is_from(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let path = self.handoff_dir().join(format!("{id}.from"));
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::file(&path)(error)),
        }
    }

    /// Notes why an answer was refused: a line for each, and no more of them than somebody reads.
    pub fn refuse_answer(&self, id: &str, why: &str) {
        let path = self.handoff_dir().join(format!("{id}.refused"));
        let short: String = why.chars().take(REFUSED_CHARS).collect();
        let line = format!("{}\n", short.replace('\n', " "));
        let has_room = std::fs::metadata(&path).map_or(true, |meta| meta.len() < REFUSED_BYTES);
        let open = || std::fs::OpenOptions::new().create(true).append(true).open(&path);
        // What is lost of it is lost to the events alone: who answered was told.
        if has_room && let Ok(mut file) = open() {
            let _ = std::io::Write::write_all(&mut file, line.as_bytes());
        }
    }

    /// Takes what [`Self::refuse_answer`] has noted.
    pub fn refused_answers(&self, id: &str) -> Vec<String> {
        let path = self.handoff_dir().join(format!("{id}.refused"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        text.lines().map(str::to_owned).collect()
    }

    /// Takes a question and its answer away.
    pub fn forget_handoff(&self, id: &str) -> Result<(), StoreError> {
        for end in ["json", "answer.json", "refused", "from"] {
            let name = format!("{id}.{end}");
            let path = self.handoff_dir().join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::file(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The questions that wait, by id, those below a size.
    pub fn handoffs(&self, most: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        let Ok(entries) = std::fs::read_dir(self.handoff_dir()) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        paths.sort();
        let is_question = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".json") && !name.ends_with(".answer.json")
        };
        let small = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= most as u64);
        let read = |path: &PathBuf| std::fs::read(path).map_err(|e| StoreError::file(path)(e));
        paths.iter().filter(is_question).filter(small).map(read).collect()
    }
}
