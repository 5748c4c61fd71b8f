//! Settings files of other programs: read and written whole, inside the folder that they belong to.
//!
//! Owns that no link leads out of that folder, and that a file is either as it was or as it shall be.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{WorldError, environment, read_bounded, true_path};
use crate::limits;

/// A settings file: where it really lies, and its text if it is there.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// Where it lies, links followed.
    pub place: PathBuf,
    /// Its text.
    pub text: Option<String>,
}

/// Reads a settings file below a folder.
///
/// # Errors
/// A link leads out of the folder or to nothing; it is no text, too large, or cannot be read.
pub fn read_settings(root: &Path, path: &Path) -> Result<SettingsFile, WorldError> {
    let (root, whole) = (true_path(root), root.join(path));
    let name = || whole.display().to_string();
    let place = true_path(&whole);
    let is_link = std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink());
    // What git reads for itself is nobody's settings of ours, also where a link of the repository leads there.
    let is_gits = place.strip_prefix(&root).is_ok_and(|below| below.iter().any(|part| part == ".git"));
    if is_link || is_gits || !place.starts_with(&root) {
        let to = std::fs::read_link(&whole).unwrap_or(place);
        return Err(WorldError::Outside { path: name(), to: to.display().to_string() });
    }
    if !place.exists() {
        return Ok(SettingsFile { place, text: None });
    }
    if !place.is_file() {
        return Err(WorldError::Irregular { path: name() });
    }
    let bytes = read_bounded(&place, limits::CLIENT_FILE_BYTES)?;
    let invalid = |error| WorldError::Read { path: name(), source: std::io::Error::other(error) };
    Ok(SettingsFile { place, text: Some(String::from_utf8(bytes).map_err(invalid)?) })
}

/// Writes a settings file in place of the one that is there, with its permissions; makes its folders.
pub fn write_settings(place: &Path, text: &str) -> Result<(), WorldError> {
    let fail = |source| WorldError::Write { path: place.display().to_string(), source };
    let folder = place.parent().unwrap_or(Path::new("/"));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        let permissions = match std::fs::metadata(place) {
            Ok(found) => found.permissions(),
            Err(_) => new_file_permissions(),
        };
        file.as_file().set_permissions(permissions)?;
        file.as_file().sync_all()?;
        file.persist(place).map(drop).map_err(|error| error.error)
    };
    write().map_err(fail)
}

#[cfg(unix)]
fn new_file_permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}

#[cfg(not(unix))]
fn new_file_permissions() -> std::fs::Permissions {
    std::fs::metadata(".").expect("invariant: the current folder is there").permissions()
}

/// Removes a settings file, and the folders above it that are empty then, up to `root`.
pub fn remove_settings(root: &Path, place: &Path) -> Result<(), WorldError> {
    let fail = |source| WorldError::Write { path: place.display().to_string(), source };
    std::fs::remove_file(place).map_err(fail)?;
    let root = true_path(root);
    for folder in place.ancestors().skip(1).take_while(|folder| folder.starts_with(&root) && **folder != root) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// The folder of Codex' settings: `$CODEX_HOME`, or `.codex` in a home.
pub fn codex_folder(home: &Path) -> PathBuf {
    environment::text("CODEX_HOME")
        .filter(|path| path.starts_with('/'))
        .map_or_else(|| home.join(".codex"), PathBuf::from)
}

/// The folder of programs' settings: `$XDG_CONFIG_HOME`, or `.config` in a home.
pub fn config_folder(home: &Path) -> PathBuf {
    let given = environment::text("XDG_CONFIG_HOME").filter(|path| path.starts_with('/'));
    given.map_or_else(|| home.join(".config"), PathBuf::from)
}

/// A command by the files that it starts: the program as the path of programs finds it, and each whole path that names a file, without links and dots; a
/// file with several names by its number.
pub fn true_command(argv: &[String]) -> Vec<String> {
    let found = |name: &str| {
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
    };
    let true_word = |(place, word): (usize, &String)| {
        let path = match place {
            0 if !word.contains('/') => found(word),
            _ => Some(PathBuf::from(word)).filter(|path| path.is_absolute() && path.exists()),
        };
        let Some(path) = path else { return word.clone() };
        match std::fs::metadata(&path) {
            Ok(file) if file.is_file() && file.nlink() > 1 => format!("file {}:{}", file.dev(), file.ino()),
            _ => true_path(&path).display().to_string(),
        }
    };
    argv.iter().enumerate().map(true_word).collect()
}

/// Whether a program is there: at its path, or on the path of programs.
pub fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}
