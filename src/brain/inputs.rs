//! What is fed: words of a command line, files, folders, patterns, standard input.
//!
//! Owns which argument is a path and which is a text, and what a file is called in the brain. `reading` reads them; what becomes of the
//! texts is `feed`'s.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::edited::Comparison;
use crate::limits;
use crate::model::document::FileKey;
use crate::model::ids::hash_fields;
use crate::model::shell_word;
use crate::world::{self, Named, WorldError};

/// Where input comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A text given directly.
    Text(String),
    /// Lines of a batch given directly, and what they are called.
    Lines(String, String),
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// The text files below a folder.
    Folder(PathBuf),
    /// A file or folder that is not there any more.
    Gone(PathBuf),
    /// The files that a pattern matches, and those below the folders that it matches.
    Pattern(String),
}

/// The changes of a text file. Each number counts memories.
#[derive(Clone, Debug, Serialize)]
pub struct FedFile {
    /// Its label.
    pub file: String,
    /// Those that replace nothing.
    pub new: usize,
    /// Those that replace an older one.
    pub changed: usize,
    /// Those that the file no longer has; they are archived.
    pub removed: usize,
    /// Those that are as they were.
    pub known: usize,
    /// Those that replace one of a file that is gone.
    pub moved: usize,
    /// Of those that were replaced or removed, how many each other person fed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, usize>,
}

/// A file that was fed before.
pub(super) struct FedBefore {
    /// What its pieces' ids begin with.
    pub key: FileKey,
    /// What it is called.
    pub label: String,
    /// Where it lies, or lay.
    pub place: PathBuf,
    /// Whether somebody says that it is gone.
    pub is_said: bool,
}

/// Reads the words of a command line in the folder `dir`: paths, or one text. `-` is standard input.
///
/// # Errors
/// A word that looks like a path and names nothing; paths and other words together (exit code 2).
pub fn sources(dir: &Path, words: &[String]) -> Result<Vec<Source>, BrainError> {
    let found: Vec<Option<Source>> = words.iter().map(|word| path_of(dir, word)).collect();
    if found.iter().all(Option::is_some) {
        return Ok(found.into_iter().flatten().collect());
    }
    let hint =
        || Some(format!("to remember the words themselves: git brain feed --text {}", shell_word(&words.join(" "))));
    let mut missing = words.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(word, _)| word);
    let stranger = missing.clone().find(|word| !looks_like_path(word));
    let present = found.iter().position(Option::is_some);
    match (present, stranger) {
        // A file that is missing stops no other: it is told of when it is read.
        (Some(_), None) => {
            let sources =
                words.iter().zip(found).map(|(word, found)| found.unwrap_or_else(|| Source::File(path_in(dir, word))));
            Ok(sources.collect())
        }
        (Some(at), Some(stranger)) => Err(BrainError::Usage {
            message: format!("{} is a file or folder, and {stranger} is not", words[at]),
            hint: hint(),
        }),
        (None, None) => Err(BrainError::Usage {
            message: format!("there is no file {}", missing.next().map_or("", String::as_str)),
            hint: hint(),
        }),
        (None, Some(_)) => Ok(vec![Source::Text(words.join(" "))]),
    }
}

/// What a word of a command line names, if that is there.
fn path_of(dir: &Path, word: &str) -> Option<Source> {
    if word == "-" {
        return Some(Source::Stdin);
    }
    let path = path_in(dir, word);
    match world::named(&path) {
        Named::File => return Some(Source::File(path)),
        Named::Folder => return Some(Source::Folder(path)),
        Named::Nothing => {}
    }
    let may_be_pattern = !word.contains('\n') && (word.contains('/') || !word.contains(char::is_whitespace));
    let pattern = path_in(dir, word).to_string_lossy().into_owned();
    let found = may_be_pattern.then(|| world::matching(&pattern, 1)).flatten();
    found.is_some_and(|found| !found.files.is_empty()).then_some(Source::Pattern(pattern))
}

/// Returns the place of a path that is written in the folder `dir`; in `.` it stays as it is written.
pub fn path_in(dir: &Path, path: impl AsRef<Path>) -> PathBuf {
    if dir == Path::new(".") { path.as_ref().to_owned() } else { dir.join(path) }
}

/// Whether a word is written as a path is: it begins or ends as one, or has an extension, or folders.
fn looks_like_path(word: &str) -> bool {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || "<>\"'():;,=?!|&".contains(c)) {
        return false;
    }
    let begins = ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start));
    let extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        let mut chars = extension.chars();
        let is_word = chars.next().is_some_and(|c| c.is_ascii_lowercase()) && chars.all(|c| c.is_ascii_alphanumeric());
        !stem.is_empty() && !stem.ends_with('.') && is_word && extension.len() <= 8
    });
    begins || word.ends_with('/') || extension || (word.is_ascii() && word.contains('/'))
}

impl Brain {
    /// The files that were fed from below some places, whoever fed them.
    pub(super) fn files_below(&self, scopes: &[PathBuf], gone: &[PathBuf]) -> Result<Vec<FedBefore>, BrainError> {
        if scopes.is_empty() && gone.is_empty() {
            return Ok(Vec::new());
        }
        let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
        let home = self.cycle.shared.world.home().map(|home| world::true_path(&home));
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let fed = self.cycle.files_fed(tree)?.into_iter().filter_map(|(key, label)| {
            let place = place_of(&label, root.as_deref(), home.as_deref())?;
            let below = |places: &[PathBuf]| places.iter().any(|above| place.starts_with(above));
            let is_said = below(gone);
            (is_said || below(scopes)).then_some(FedBefore { key, label, place, is_said })
        });
        Ok(fed.collect())
    }

    /// What is wrong with words that name no file, where one of them named a file that is remembered.
    pub fn missing(&self, words: &[String], error: BrainError) -> BrainError {
        let missing = words.iter().filter(|word| world::named(Path::new(word)) == Named::Nothing);
        for word in missing.filter(|word| looks_like_path(word)) {
            if self.files_below(&[world::true_path(Path::new(word))], &[]).is_ok_and(|fed| !fed.is_empty()) {
                return BrainError::Usage {
                    message: format!("there is no file {word} any more, and it was fed before"),
                    hint: Some(format!(
                        "to archive what is remembered of it: git brain feed --gone {}",
                        shell_word(word)
                    )),
                };
            }
        }
        error
    }

    /// What a path is called in the brain.
    pub(super) fn label_of(&self, path: &Path) -> String {
        let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
        let home = self.cycle.shared.world.home().map(|home| world::true_path(&home));
        let place = world::true_path(path);
        let label = file_label(&place, root.as_deref(), home.as_deref());
        match self.cycle.shared.secrets.redact(&label) {
            name if *name == label => label,
            // Two names that differ in a secret are two files.
            name => hashed(&name, &raw(&place)),
        }
    }
}

/// What a file is called in the brain: by its place in the brain's folder, else below the home of whoever feeds it, else by
/// its whole path.
fn file_label(place: &Path, root: Option<&Path>, home: Option<&Path>) -> String {
    let below = |folder: Option<&Path>| {
        let rest = place.strip_prefix(folder?).ok().map(raw)?;
        (!rest.is_empty()).then_some(rest)
    };
    // A folder called `~` in the brain is not somebody's home.
    let inside = |rest: Vec<u8>| if rest.starts_with(b"~/") { [b"./".as_slice(), &rest].concat() } else { rest };
    let bytes = below(root)
        .map(inside)
        .or_else(|| below(home).map(|rest| [b"~/".as_slice(), &rest].concat()))
        .unwrap_or_else(|| raw(place));
    let label: String = String::from_utf8_lossy(&bytes).chars().filter(|c| !c.is_control()).collect();
    // A name that reads as if it were hashed is hashed as well, or it could be another's.
    let is_plain = label.as_bytes() == bytes && label.chars().nth(8) != Some('…');
    if is_plain && label.len() <= LABEL_MOST { label } else { hashed(&label, &bytes) }
}

/// Most bytes of a file's label: that of a piece ends with a sign and eight digits.
const LABEL_MOST: usize = limits::LABEL_BYTES - 9;

/// A label that does not say all of a path, told from others like it by a hash of the path.
fn hashed(label: &str, path: &[u8]) -> String {
    let hash = format!("{:08x}…", hash_fields(&[path]) >> 32);
    let mut from = (label.len() + hash.len()).saturating_sub(LABEL_MOST);
    while !label.is_char_boundary(from) {
        from += 1;
    }
    hash + &label[from..]
}

/// Where the file of a label lies. `None`: the label does not tell all of it.
fn place_of(label: &str, root: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if label.is_empty() || label.get(8..).is_some_and(|rest| rest.starts_with('…')) {
        return None;
    }
    match label.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None if Path::new(label).is_absolute() => Some(PathBuf::from(label)),
        None => Some(root?.join(label)),
    }
}

/// A path with `/` between its parts.
pub(super) fn slashed(path: &Path) -> String {
    String::from_utf8_lossy(&raw(path)).into_owned()
}

/// The bytes of a path with `/` between its parts.
fn raw(path: &Path) -> Vec<u8> {
    let part = |part: Component<'_>| match part {
        Component::RootDir => Vec::new(),
        part => part.as_os_str().as_encoded_bytes().to_vec(),
    };
    path.components().map(part).collect::<Vec<_>>().join(&b'/')
}

/// The bytes of one source, and what it is called.
pub fn read_source(source: &Source, max: usize) -> Result<(Vec<u8>, String), WorldError> {
    match source {
        Source::Text(text) => Ok((text.clone().into_bytes(), "the text".to_owned())),
        Source::Lines(name, lines) => Ok((lines.clone().into_bytes(), name.clone())),
        Source::Stdin => Ok((world::read_stdin_bounded(max)?, "standard input".to_owned())),
        Source::File(path) | Source::Folder(path) | Source::Gone(path) => {
            Ok((world::read_bounded(path, max)?, path.display().to_string()))
        }
        Source::Pattern(pattern) => Ok((world::read_bounded(Path::new(pattern), max)?, pattern.clone())),
    }
}

/// What the commit's subject calls all that is fed.
pub(super) fn subject(names: &[String]) -> String {
    const NAMED: usize = 5;
    match names.len().checked_sub(NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

/// What became of a file's pieces.
pub(super) fn counted(label: &str, found: &Comparison) -> FedFile {
    let replaced = found.retired.iter().filter(|retired| retired.by.is_some()).count();
    FedFile {
        file: label.to_owned(),
        new: found.new.iter().filter(|new| new.supersedes.is_none()).count(),
        changed: replaced,
        removed: found.retired.len() - replaced,
        known: found.known,
        moved: 0,
        others: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_paths() {
        for path in ["diary.md", "./x", "../x", "~/x", "/x", "notes/", "a/b", "x.tar.gz", "a.JSONL.txt"] {
            assert!(looks_like_path(path), "{path}");
        }
        for word in [
            "tea",
            "e.g.",
            "3.5",
            "U.S.A",
            "today.",
            "see notes.md",
            "今日は3/4に会議",
            "...",
            "",
            "Hello.World",
            "https://a.example/b",
            "<b>x</b>",
        ] {
            assert!(!looks_like_path(word), "{word}");
        }
    }

    #[test]
    fn words_that_name_nothing_are_one_text() {
        let ask =
            |words: &[&str]| sources(Path::new("."), &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(ask(&["Anna", "likes", "tea?"]).unwrap(), [Source::Text("Anna likes tea?".into())]);
        assert_eq!(ask(&["see no-such.md today"]).unwrap().len(), 1);
        assert_eq!(ask(&["see", "no-such.md", "today"]).unwrap().len(), 1);
        assert_eq!(ask(&["-"]).unwrap(), [Source::Stdin]);
        assert_eq!(ask(&["-", "no-such.md"]).unwrap(), [Source::Stdin, Source::File("no-such.md".into())]);
        for missing in [&["no-such.md"][..], &["no/such", "no-such.md"]] {
            let error = ask(missing).unwrap_err();
            assert!(error.to_string().contains("no") && error.hint().unwrap().contains("--text"), "{error}");
        }
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(ask(&[here]).unwrap(), [Source::Folder(here.into())]);
        assert!(ask(&[here, "tea"]).unwrap_err().to_string().contains("tea"));
    }

    #[test]
    fn a_file_is_called_by_where_it_lies() {
        let label = |path: &str| file_label(Path::new(path), Some(Path::new("/h/brain")), Some(Path::new("/h")));
        assert_eq!(label("/h/brain/notes/a.md"), "notes/a.md");
        assert_eq!(label("/h/notes/a.md"), "~/notes/a.md");
        assert_eq!(label("/tmp/a.md"), "/tmp/a.md");
        assert!(label("/h/brain/a\u{1}b.md").ends_with("…ab.md"));
        assert_ne!(label("/h/brain/a\u{1}b.md"), label("/h/brain/a\u{2}b.md"));
        let hashed = label("/h/brain/a\u{1}b.md");
        assert_ne!(label(&format!("/h/brain/{hashed}")), hashed, "no name can be another's label");
        let long = |end: &str| label(&format!("/{}/{end}", "é".repeat(300)));
        assert!(long("a.md").len() <= limits::LABEL_BYTES - 9 && long("a.md").ends_with("/a.md"));
        assert_ne!(long("a.md"), label(&format!("/{}/a.md", "é".repeat(301))));
    }
}
