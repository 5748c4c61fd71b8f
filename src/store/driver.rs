//! How plain git finds the typed merge: the driver in the repository's own configuration, and our block of
//! `info/attributes` that leads the network's files to it. Both are local: a clone has neither until `init`.

use std::path::Path;

use super::confine::{refuse_links, refuse_waiting};
use super::disk::sync_folder;
use super::{Store, StoreError};
use crate::model::{layout, shell_word};

pub(super) const NAME_KEY: &str = "merge.git-brain.name";
pub(super) const NAME: &str = "git-brain's typed merge";
pub(super) const DRIVER_KEY: &str = "merge.git-brain.driver";
const DRIVER_ARGUMENTS: &str = " merge-driver %O %A %B %P";
const BLOCK: (&str, &str) = ("# git-brain: begin", "# git-brain: end");
/// The folders of `network/` whose files the typed merge knows.
const MERGED: [&str; 12] = [
    "neurons",
    "stimuli",
    "signals",
    "runs",
    "flags",
    "goals",
    "sleep",
    "ledger",
    "narrative",
    "wisdom",
    "sealed",
    "escalations",
];

/// How git is told about the typed merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// Its program is there.
    Configured,
    /// Nothing is configured.
    Absent,
    /// What is configured is not there any more.
    Gone,
}

impl Store {
    /// How git is told about the typed merge.
    pub fn driver_state(&self) -> Result<DriverState, StoreError> {
        let Some(value) = self.local_config(DRIVER_KEY)? else { return Ok(DriverState::Absent) };
        let Some(word) = value.strip_suffix(DRIVER_ARGUMENTS) else { return Ok(DriverState::Gone) };
        let quoted = word.strip_prefix('\'').and_then(|w| w.strip_suffix('\''));
        let program = quoted.map_or(word.to_owned(), |w| w.replace("'\\''", "'").replace("%%", "%"));
        // A bare name is looked for on the PATH of whoever merges.
        let there = !program.contains('/') || Path::new(&program).exists();
        Ok(if there { DriverState::Configured } else { DriverState::Gone })
    }

    /// Tells git about the typed merge. `program` is a path or a name on `PATH`.
    pub fn configure_driver(&self, program: &str) -> Result<(), StoreError> {
        self.set_local_config(NAME_KEY, NAME)?;
        self.set_local_config(DRIVER_KEY, &driver_command(program))
    }

    /// Whether git's attributes lead neurons to the typed merge.
    pub fn attributes_apply(&self) -> Result<bool, StoreError> {
        let sample = format!("{}/00/0/sample.json", layout::NEURONS);
        if let Some(root) = self.work_dir() {
            refuse_waiting(&root, &sample)?;
        }
        let leads = self.with(|r| {
            Ok(r.get_attr(Path::new(&sample), "merge", git2::AttrCheckFlags::default())? == Some("git-brain"))
        });
        leads.map_err(|e| StoreError::git("git's attributes", e))
    }

    /// Writes our block of `info/attributes`, in place of an older one. A guest, in a repository with other branches than
    /// the brain's, names only files that can be the network's.
    pub fn write_attributes(&self, guest: bool) -> Result<(), StoreError> {
        let mut lines = "network/** merge=git-brain -text\n".to_owned();
        if guest {
            lines = format!("/{} merge=git-brain -text\n", layout::METADATA);
            let folders = MERGED.map(|folder| format!("/network/{folder}/**/*.json merge=git-brain -text\n"));
            lines.push_str(&folders.concat());
        }
        let folder = self.common.join("info");
        refuse_links(&folder)?;
        let path = folder.join("attributes");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let text = match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(StoreError::file(&path))?,
        };
        let text = with_block(&text, &format!("{}\n{lines}{}\n", BLOCK.0, BLOCK.1));
        let made = tempfile::NamedTempFile::new_in(&folder).map_err(StoreError::file(&folder))?;
        std::fs::write(made.path(), text).map_err(StoreError::file(&path))?;
        made.as_file().sync_all().map_err(StoreError::file(&path))?;
        made.persist(&path).map_err(|e| StoreError::File { path: path.clone(), source: e.error })?;
        sync_folder(&folder)
    }
}

/// How git shall call the driver.
pub(super) fn driver_command(program: &str) -> String {
    // `%` begins a placeholder of git's.
    format!("{}{DRIVER_ARGUMENTS}", shell_word(program).replace('%', "%%"))
}

fn with_block(text: &str, block: &str) -> String {
    let old = text.find(BLOCK.0).and_then(|begin| {
        let end = begin + text[begin..].find(BLOCK.1)? + BLOCK.1.len();
        Some((begin, end + usize::from(text[end..].starts_with('\n'))))
    });
    match old {
        Some((begin, end)) => format!("{}{block}{}", &text[..begin], &text[end..]),
        None if text.is_empty() || text.ends_with('\n') => format!("{text}{block}"),
        None => format!("{text}\n{block}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::Sandbox;

    #[test]
    fn the_driver_and_the_attributes_are_put_right() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        assert_eq!(store.driver_state().unwrap(), DriverState::Configured);
        store.configure_driver("/no where/100%/it's").unwrap();
        assert_eq!(store.driver_state().unwrap(), DriverState::Gone);
        let there = sandbox.beside("100% it's");
        std::fs::write(&there, "").unwrap();
        store.configure_driver(there.to_str().unwrap()).unwrap();
        assert_eq!(store.driver_state().unwrap(), DriverState::Configured);
        sandbox.git(&["config", "--unset", DRIVER_KEY]);
        assert_eq!(store.driver_state().unwrap(), DriverState::Absent);

        let attributes = sandbox.path().join(".git/info/attributes");
        assert!(store.attributes_apply().unwrap());
        std::fs::write(&attributes, "*.md text").unwrap();
        assert!(!store.attributes_apply().unwrap());
        store.write_attributes(false).unwrap();
        assert!(store.attributes_apply().unwrap());
        let once = std::fs::read_to_string(&attributes).unwrap();
        assert!(once.starts_with("*.md text\n"), "{once}");
        store.write_attributes(false).unwrap();
        assert_eq!(std::fs::read_to_string(&attributes).unwrap(), once);
    }
}
