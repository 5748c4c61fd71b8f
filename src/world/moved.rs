//! Files and folders that people move memories from and to.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::WorldError;
use crate::model::Stamp;

/// When a file was changed last, if the system tells.
pub fn modified(path: &Path) -> Option<Stamp> {
    let at = std::fs::metadata(path).ok()?.modified().ok()?;
    let seconds = at.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Stamp::exactly(i64::try_from(seconds).ok()?)
}

/// The bytes of a file, 0 where they cannot be told.
pub fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Whether a path names what can be read once only, or not at all: a pipe or a device.
pub fn is_once(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The names of the folders in a folder, also hidden ones.
pub fn folders_in(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A file that takes its place once it is whole.
pub struct NewFile {
    place: PathBuf,
    file: std::io::BufWriter<tempfile::NamedTempFile>,
}

impl NewFile {
    /// Begins one.
    ///
    /// # Errors
    /// Its folder cannot be written into.
    pub fn at(place: &Path) -> Result<Self, WorldError> {
        let begun = tempfile::NamedTempFile::new_in(folder_of(place));
        let file = std::io::BufWriter::new(begun.map_err(unwritten(place))?);
        Ok(Self { place: place.to_owned(), file })
    }

    /// Puts it in its place, and in that of a file that is there.
    ///
    /// # Errors
    /// It cannot be written to its end.
    pub fn finish(self) -> Result<(), WorldError> {
        let Self { place, file } = self;
        let put = || -> std::io::Result<()> {
            let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            open_to_others(file.as_file(), 0o644)?;
            file.as_file().sync_all()?;
            file.persist(&place).map_err(|error| error.error)?;
            synced(folder_of(&place))
        };
        put().map_err(unwritten(&place))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// A folder that takes its place once all of its files are written.
pub struct NewFolder {
    place: PathBuf,
    folder: tempfile::TempDir,
}

impl NewFolder {
    /// Begins one, beside the place that it will have.
    ///
    /// # Errors
    /// Something is there already, other than an empty folder; or the folder above cannot be written into.
    pub fn at(place: &Path) -> Result<Self, WorldError> {
        let is_free = match std::fs::read_dir(place) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !is_free {
            let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "something is there already");
            return Err(unwritten(place)(source));
        }
        let above = folder_of(place);
        std::fs::create_dir_all(above).map_err(unwritten(above))?;
        let folder =
            tempfile::Builder::new().prefix(".git-brain-export-").tempdir_in(above).map_err(unwritten(place))?;
        Ok(Self { place: place.to_owned(), folder })
    }

    /// Writes a file, and the folders above it. A part of `path` is never `..`, nor is `path` absolute: whoever calls holds that.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<(), WorldError> {
        let place = self.folder.path().join(path);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(folder_of(&place))?;
            let mut file = std::fs::File::create_new(&place)?;
            file.write_all(text.as_bytes())?;
            file.sync_data()
        };
        write().map_err(unwritten(&self.place.join(path)))
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// Something came there meanwhile.
    pub fn finish(self) -> Result<(), WorldError> {
        let Self { place, folder } = self;
        let put = || -> std::io::Result<()> {
            open_to_others(&std::fs::File::open(folder.path())?, 0o755)?;
            if place.is_dir() {
                std::fs::remove_dir(&place)?;
            }
            std::fs::rename(folder.path(), &place)?;
            synced(folder_of(&place))
        };
        put().map_err(unwritten(&place))
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritten(path: &Path) -> impl Fn(std::io::Error) -> WorldError + '_ {
    |source| WorldError::Write { path: path.display().to_string(), source }
}

/// What a temporary file or folder may be is private.
fn open_to_others(file: &std::fs::File, mode: u32) -> std::io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

fn synced(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
