//! Reading of input: words of a command line, files, folders, patterns, standard input.
//!
//! Owns which argument is a path and which is a text, what a file is called in the brain, and that a file which cannot be
//! read stops no other. What becomes of the texts is `feed`'s.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::admission::file::is_ours;
use crate::cycle::stimulus::{self, FileText, Input, Labels};
use crate::limits;
use crate::model::ids::hash_fields;
use crate::model::json::JsonError;
use crate::world::{self, Named, WorldError};

/// Where input comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A text given directly.
    Text(String),
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// The text files below a folder.
    Folder(PathBuf),
    /// The files that a pattern matches, and those below the folders that it matches.
    Pattern(String),
}

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
#[derive(Default)]
pub(super) struct Reading {
    /// Texts and batches.
    pub inputs: Vec<Input>,
    /// Text files.
    pub files: Vec<FileText>,
    /// What the commit's subject calls them.
    pub names: Vec<String>,
    /// Files that could not be read.
    pub unread: Vec<UnreadFile>,
    /// Files of folders that are no text.
    pub passed: usize,
    failed: Option<BrainError>,
    seen: HashSet<PathBuf>,
}

/// What the words of a command line name: paths, or one text. `-` is standard input.
///
/// # Errors
/// A word that looks like a path and names nothing; paths and other words together (exit code 2).
pub fn sources(words: &[String]) -> Result<Vec<Source>, BrainError> {
    let found: Vec<Option<Source>> = words.iter().map(|word| path_of(word)).collect();
    if found.iter().all(Option::is_some) {
        return Ok(found.into_iter().flatten().collect());
    }
    let hint = || Some(format!("to remember the words themselves: git brain feed --text {}", quoted(&words.join(" "))));
    let mut missing = words.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(word, _)| word);
    let stranger = missing.clone().find(|word| !looks_like_path(word));
    let present = found.iter().position(Option::is_some);
    match (present, stranger) {
        // A file that is missing stops no other: it is told of when it is read.
        (Some(_), None) => {
            let sources =
                words.iter().zip(found).map(|(word, found)| found.unwrap_or_else(|| Source::File(word.into())));
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
fn path_of(word: &str) -> Option<Source> {
    if word == "-" {
        return Some(Source::Stdin);
    }
    let path = Path::new(word);
    match world::named(path) {
        Named::File => return Some(Source::File(path.to_owned())),
        Named::Folder => return Some(Source::Folder(path.to_owned())),
        Named::Nothing => {}
    }
    let may_be_pattern = !word.contains('\n') && (word.contains('/') || !word.contains(char::is_whitespace));
    let found = may_be_pattern.then(|| world::matching(word, 1)).flatten();
    found.is_some_and(|found| !found.is_empty()).then(|| Source::Pattern(word.to_owned()))
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

/// A text as a shell reads it back.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Brain {
    /// Reads all that is fed. What cannot be read is listed, unless nothing else is there.
    pub(super) fn read_inputs(&self, sources: &[Source], labels: &Labels) -> Result<Reading, BrainError> {
        let mut reading = Reading::default();
        for source in sources {
            match source {
                Source::Text(_) | Source::Stdin => self.read_text(source, labels, &mut reading)?,
                Source::File(path) => self.read_named(path, labels, &mut reading),
                Source::Folder(path) => self.read_below(path, labels, &mut reading)?,
                Source::Pattern(pattern) => {
                    let found = world::matching(pattern, limits::FED_FILES).unwrap_or_default();
                    check_count(pattern, found.len())?;
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
        if reading.inputs.is_empty() && reading.files.is_empty() {
            return Err(reading.failed.unwrap_or_else(|| {
                BrainError::usage(match reading.passed {
                    0 => "there is nothing to feed: the input is empty".to_owned(),
                    passed => format!("there is nothing to feed: {passed} files were found, and none is a text"),
                })
            }));
        }
        if labels.source.is_some() && reading.files.len() > 1 {
            return Err(BrainError::Usage {
                message: format!("--source labels one file, and {} are fed", reading.files.len()),
                hint: Some("without it, each file is labelled by its path".to_owned()),
            });
        }
        // The order of what came together in one command; files have one of their own.
        for (index, input) in reading.inputs.iter_mut().enumerate() {
            input.order = u32::try_from(index).unwrap_or(u32::MAX);
        }
        Ok(reading)
    }

    fn read_text(&self, source: &Source, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        let (bytes, what) = read_source(source, limits::INPUT_BYTES)?;
        let text = text_of(bytes, &what)?;
        // Before it is divided and before ids are made of it.
        let text = self.cycle.shared.secrets.redact(&text);
        reading.names.push(crate::delta::render::clip(&text));
        reading.inputs.extend(match source {
            Source::Stdin => stimulus::from_page(&text, labels),
            _ => stimulus::from_argument(&text, labels),
        });
        Ok(())
    }

    /// A file that somebody named: what is wrong with it is told.
    fn read_named(&self, path: &Path, labels: &Labels, reading: &mut Reading) {
        if let Err(error) = self.read_file(path, labels, reading) {
            reading.unread.push(UnreadFile {
                file: path.display().to_string(),
                error: error.to_string(),
                hint: error.hint(),
                code: error.exit_code(),
            });
            reading.failed.get_or_insert(error);
        }
    }

    /// A file that was come across: one that is no text is passed over.
    fn read_found(&self, path: &Path, labels: &Labels, reading: &mut Reading) {
        match world::read_bounded(path, limits::INPUT_BYTES) {
            Ok(bytes) if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() => reading.passed += 1,
            _ => self.read_named(path, labels, reading),
        }
    }

    fn read_below(&self, folder: &Path, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        // A brain does not eat itself.
        let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
        let own = move |path: &Path| {
            let inside = root.as_ref().and_then(|root| world::true_path(path).strip_prefix(root).ok().map(slashed));
            inside.is_some_and(|path| is_ours(&path) || path == "agents" || path == "hooks")
        };
        let found = world::files_below(folder, limits::FED_FILES, own);
        check_count(&folder.display().to_string(), found.len())?;
        found.iter().for_each(|path| self.read_found(path, labels, reading));
        Ok(())
    }

    fn read_file(&self, path: &Path, labels: &Labels, reading: &mut Reading) -> Result<(), BrainError> {
        let place = world::true_path(path);
        if !reading.seen.insert(place.clone()) {
            return Ok(());
        }
        let secrets = &self.cycle.shared.secrets;
        let what = path.display().to_string();
        let bytes = world::read_bounded(path, limits::INPUT_BYTES)?;
        let base = path.file_name().map_or_else(|| what.clone(), |name| name.to_string_lossy().into_owned());
        let base: String = base.chars().filter(|c| !c.is_control()).take(200).collect();
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jsonl")) {
            reading.inputs.extend(stimulus::from_jsonl(&bytes, &what, labels, secrets)?);
        } else {
            let text = text_of(bytes, &what)?;
            let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
            let home = self.cycle.shared.world.home().map(|home| world::true_path(&home));
            let name = secrets.redact(&file_label(&place, root.as_deref(), home.as_deref())).into_owned();
            reading.files.push(FileText::read(&secrets.redact(&text), name, labels));
        }
        reading.names.push(secrets.redact(&base).into_owned());
        Ok(())
    }
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

fn text_of(bytes: Vec<u8>, what: &str) -> Result<String, JsonError> {
    String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        JsonError::at(what, line, "", "is not UTF-8")
    })
}

/// What a file is called in the brain: by its place in the brain's folder, else below the home of whoever feeds it, else by
/// its whole path.
fn file_label(place: &Path, root: Option<&Path>, home: Option<&Path>) -> String {
    let below = |folder: Option<&Path>| {
        let rest = place.strip_prefix(folder?).ok().map(slashed)?;
        (!rest.is_empty()).then_some(rest)
    };
    let label = below(root).or_else(|| below(home).map(|rest| format!("~/{rest}"))).unwrap_or_else(|| slashed(place));
    let label: String = label.chars().filter(|c| !c.is_control()).collect();
    // The label of a piece ends with a sign and eight digits.
    let most = limits::LABEL_BYTES - 9;
    if label.len() <= most {
        return label;
    }
    let hash = format!("{:08x}…", hash_fields(&[label.as_bytes()]) >> 32);
    let mut from = label.len() - (most - hash.len());
    while !label.is_char_boundary(from) {
        from += 1;
    }
    hash + &label[from..]
}

/// A path with `/` between its parts.
fn slashed(path: &Path) -> String {
    let part = |part: Component<'_>| match part {
        Component::RootDir => String::new(),
        part => part.as_os_str().to_string_lossy().into_owned(),
    };
    path.components().map(part).collect::<Vec<_>>().join("/")
}

/// The bytes of one source, and what it is called.
pub(super) fn read_source(source: &Source, max: usize) -> Result<(Vec<u8>, String), WorldError> {
    match source {
        Source::Text(text) => Ok((text.clone().into_bytes(), "the text".to_owned())),
        Source::Stdin => Ok((world::read_stdin_bounded(max)?, "standard input".to_owned())),
        Source::File(path) | Source::Folder(path) => Ok((world::read_bounded(path, max)?, path.display().to_string())),
        Source::Pattern(pattern) => Ok((world::read_bounded(Path::new(pattern), max)?, pattern.clone())),
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
        let ask = |words: &[&str]| sources(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
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
        let long = |end: &str| label(&format!("/{}/{end}", "é".repeat(300)));
        assert!(long("a.md").len() <= limits::LABEL_BYTES - 9 && long("a.md").ends_with("/a.md"));
        assert_ne!(long("a.md"), label(&format!("/{}/a.md", "é".repeat(301))));
    }
}
