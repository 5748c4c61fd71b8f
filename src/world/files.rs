//! Files and standard input that people name on the command line, read within a bound.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;

use super::WorldError;

/// Reads a file of at most `max` bytes. Of what is no regular file, only the pipes that a shell hands over are read.
pub fn read_bounded(path: &Path, max: usize) -> Result<Vec<u8>, WorldError> {
    bounded(open_input(path)?, path.display().to_string(), max)
}

/// Opens a file that a person names. Of what is no regular file, only the pipes that a shell hands over are opened.
pub fn open_input(path: &Path) -> Result<std::fs::File, WorldError> {
    let name = path.display().to_string();
    let found = std::fs::metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir() && !is_handed_over(path, found)) {
        return Err(WorldError::Irregular { path: name });
    }
    let mut options = std::fs::File::options();
    // Some files of /proc look like others, and whoever reads them waits until the system has something to say.
    #[cfg(unix)]
    if found.is_some_and(|found| found.is_file()) {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options.read(true).open(path).map_err(|source| WorldError::Read { path: name, source })
}

/// A part of a file.
#[derive(Debug, Default)]
pub struct FilePart {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The bytes of the whole file.
    pub size: u64,
}

/// Reads at most `max` bytes of a regular file, from a place on.
pub fn read_part(path: &Path, from: u64, max: usize) -> Result<FilePart, WorldError> {
    let name = path.display().to_string();
    let fail = |source| WorldError::Read { path: name.clone(), source };
    let mut file = open_input(path)?;
    let found = file.metadata().map_err(fail)?;
    if !found.is_file() {
        return Err(WorldError::Irregular { path: name });
    }
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(max as u64).read_to_end(&mut bytes).map_err(fail)?;
    Ok(FilePart { bytes, size: found.len() })
}

/// Reads standard input of at most `max` bytes.
pub fn read_stdin_bounded(max: usize) -> Result<Vec<u8>, WorldError> {
    bounded(std::io::stdin().lock(), "standard input".to_owned(), max)
}

/// Whether it is a pipe that a shell opened: `/dev/stdin`, or `/dev/fd/N` of `<(…)`; or `/dev/null`, which is empty.
fn is_handed_over(path: &Path, found: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    let is_pipe = std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type());
    #[cfg(not(unix))]
    let is_pipe = !found.is_file();
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    let is_opened = path == Path::new("/dev/stdin") || path.parent().is_some_and(|parent| folders.contains(&parent));
    path == Path::new("/dev/null") || is_pipe && is_opened
}

fn bounded(reader: impl Read, name: String, max: usize) -> Result<Vec<u8>, WorldError> {
    let mut bytes = Vec::new();
    let read = reader.take(max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|source| WorldError::Read { path: name.clone(), source })?;
    if bytes.len() > max {
        return Err(WorldError::Large { path: name, max });
    }
    Ok(bytes)
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A file, or what is read like one.
    File,
    /// A folder.
    Folder,
    /// Nothing that is there.
    Nothing,
}

/// What a path names; links are followed. What may not be looked at is taken for a file: whoever reads it is told why it cannot.
pub fn named(path: &Path) -> Named {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Named::Folder,
        Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => Named::Nothing,
        Ok(_) | Err(_) => Named::File,
    }
}

/// A path without links and dots, or as it is where that cannot be told.
pub fn true_path(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // What is not there lies where its folder is.
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => true_path(folder).join(name),
        _ => whole,
    }
}

/// The files below a folder, by name, at most `most` and one. Hidden files, links and what git ignores are passed over, and folders
/// that `skip` knows.
///
/// # Errors
/// What says there what git ignores is a pipe or device: it would be waited for.
pub fn files_below(
    folder: &Path,
    most: usize,
    skip: impl Fn(&Path) -> bool + Send + Sync + 'static,
) -> Result<Below, WorldError> {
    if let Some(path) = waiting_rules(folder, FOLDERS + 1, &skip) {
        return Err(WorldError::Irregular { path: path.display().to_string() });
    }
    let mut walk = WalkBuilder::new(folder);
    walk.sort_by_file_name(|a, b| a.cmp(b)).filter_entry(move |entry| !skip(entry.path()));
    walk.max_depth(Some(FOLDERS + 1));
    let mut below = Below::default();
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                below.closed.extend(closed(&error));
                continue;
            }
        };
        match entry.file_type() {
            Some(kind) if kind.is_file() => below.files.push(entry.into_path()),
            Some(kind) if kind.is_dir() && entry.depth() > FOLDERS => below.too_deep.push(entry.into_path()),
            _ => {}
        }
        if below.files.len() > most {
            break;
        }
    }
    Ok(below)
}

/// A pipe or device in place of a file that says what git ignores, in the folders above and below one as deep as that. Hidden folders are not looked
/// into.
fn waiting_rules(folder: &Path, depth: usize, skip: &impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let waits = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
            && true_path(path) != Path::new("/dev/null")
    };
    let rules = |folder: &Path| RULES.map(|name| folder.join(name)).into_iter().find(waits);
    let whole = true_path(folder);
    if let Some(found) = whole.ancestors().find_map(rules) {
        return Some(found);
    }
    let is_hidden = |entry: &walkdir::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let below = walkdir::WalkDir::new(folder).min_depth(1).max_depth(depth).into_iter();
    below
        .filter_entry(|entry| entry.file_type().is_dir() && !is_hidden(entry) && !skip(entry.path()))
        .filter_map(Result::ok)
        .find_map(|entry| rules(entry.path()))
}

/// The files of a folder that say what git ignores.
const RULES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// What a folder has.
#[derive(Debug, Default)]
pub struct Below {
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Folders that are not looked into.
    pub too_deep: Vec<PathBuf>,
    /// Folders that may not be looked into, with the reason.
    pub closed: Vec<(PathBuf, String)>,
}

/// The place that a walk could not enter. What is gone meanwhile is none.
fn closed(error: &ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => {
            let reason = err.io_error().filter(|error| error.kind() != std::io::ErrorKind::NotFound)?;
            // The walk's own words name the place once more.
            let plain = reason.raw_os_error().map(std::io::Error::from_raw_os_error);
            Some((path.clone(), plain.as_ref().unwrap_or(reason).to_string()))
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => closed(err),
        _ => None,
    }
}

/// How deep folders are looked into: each is held against what git ignores in all above it.
const FOLDERS: usize = 128;

/// The files and folders that a pattern matches, by name, at most `most` and one: `*` and `?` inside a name, `**` across folders. Links, and
/// what is neither file nor folder, are passed over. `None`: it is no pattern.
pub fn matching(pattern: &str, most: usize) -> Option<Below> {
    let matcher = GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher();
    let parts: Vec<&str> = pattern.split('/').collect();
    let fixed = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    if fixed == parts.len() {
        return None;
    }
    let base = match parts[..fixed].join("/") {
        base if base.is_empty() && pattern.starts_with('/') => PathBuf::from("/"),
        base if base.is_empty() => PathBuf::from("."),
        base => PathBuf::from(base),
    };
    let depth = if parts[fixed..].contains(&"**") { None } else { Some(parts.len() - fixed) };
    let hidden = parts[fixed..].iter().any(|part| part.starts_with('.'));
    let mut walk = WalkBuilder::new(&base);
    walk.sort_by_file_name(|a, b| a.cmp(b)).max_depth(depth);
    if waiting_rules(&base, depth.unwrap_or(FOLDERS + 1), &|_| false).is_some() {
        // What nobody can read rules nothing out.
        walk.standard_filters(false);
    }
    walk.hidden(!hidden);
    let is_plain = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_dir());
    // The folder that the walk begins in is no match of what stands below it.
    let mut below = Below::default();
    let found = walk.build().filter_map(|entry| entry.map_err(|error| below.closed.extend(closed(&error))).ok());
    let found = found.filter(|entry| entry.depth() > 0 && is_plain(entry)).map(ignore::DirEntry::into_path);
    let plain = |path: PathBuf| match path.strip_prefix(".") {
        Ok(rest) if fixed == 0 => rest.to_owned(),
        _ => path,
    };
    let files = found.map(plain).filter(|path| matcher.is_match(path)).take(most + 1).collect();
    Some(Below { files, ..below })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in ["b.md", "a.md", "c.txt", ".hidden.md", "deep/er/d.md", "skip/e.md", ".git/f.md"] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        root
    }

    fn names(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_folder_is_walked_by_name_without_what_is_hidden() {
        let root = folder();
        let found = files_below(root.path(), 10, |path| path.ends_with("skip")).unwrap().files;
        assert_eq!(names(root.path(), &found), ["a.md", "b.md", "c.txt", "deep/er/d.md"]);
        assert_eq!(files_below(root.path(), 2, |_| false).unwrap().files.len(), 3);
    }

    #[test]
    fn patterns_match_whole_paths() {
        let root = folder();
        let ask = |pattern: &str| {
            let pattern = format!("{}/{pattern}", root.path().display());
            matching(&pattern, 10).map(|found| names(root.path(), &found.files))
        };
        assert_eq!(ask("*.md").unwrap(), ["a.md", "b.md"]);
        assert_eq!(ask("**/*.md").unwrap(), ["a.md", "b.md", "deep/er/d.md", "skip/e.md"]);
        assert_eq!(ask("?.[tm]*").unwrap(), ["a.md", "b.md", "c.txt"]);
        assert_eq!(ask(".*.md").unwrap(), [".hidden.md"]);
        assert_eq!(ask("d*").unwrap(), ["deep"]);
        assert_eq!((ask("a.md"), ask("x*").unwrap().len()), (None, 0));
        assert!(ask("**d.md**").unwrap().is_empty(), "two stars inside a name stay inside a folder");
    }

    #[test]
    #[cfg(unix)]
    fn links_and_sockets_match_no_pattern_and_a_socket_is_not_read() {
        let root = folder();
        std::os::unix::fs::symlink(root.path().join("a.md"), root.path().join("link.md")).unwrap();
        std::os::unix::fs::symlink(root.path().join("deep"), root.path().join("far")).unwrap();
        let socket = root.path().join("socket.md");
        let _open = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let ask = |pattern: &str| {
            let found = matching(&format!("{}/{pattern}", root.path().display()), 10).unwrap();
            names(root.path(), &found.files)
        };
        assert_eq!(ask("*.md"), ["a.md", "b.md"]);
        assert_eq!(ask("**/d.md"), ["deep/er/d.md"]);
        assert_eq!((ask("f*"), ask("*").contains(&String::new())), (Vec::new(), false));
        let error = read_bounded(&socket, 10).unwrap_err().to_string();
        assert!(error.ends_with("socket.md is no regular file"), "{error}");
        assert_eq!(read_bounded(&root.path().join("link.md"), 10).unwrap(), b"x");
    }

    #[test]
    fn a_path_names_a_file_a_folder_or_nothing() {
        let root = folder();
        let ask = |name: &str| named(&root.path().join(name));
        assert_eq!([ask("a.md"), ask("deep"), ask("no")], [Named::File, Named::Folder, Named::Nothing]);
        assert_eq!(true_path(&root.path().join("deep/../a.md")), true_path(root.path()).join("a.md"));
    }
}
