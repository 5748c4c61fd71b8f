//! Git hooks of ours: a marked block in the files that git runs, put in, looked at, taken out again to the byte.
//!
//! The block goes into the effective hooks folder, wherever `core.hooksPath` says that is; that key is never set. It
//! stands right behind the first line, so that a hook that ends with `exit` or `exec` cannot step over it. What was there
//! stays byte for byte around it and runs as before: a doorbell leaves its exit status alone, a gate goes first and may
//! refuse.
//!
//! What is not edited, but reported with the line to add by hand: symlinks and programs that are no shell scripts.
//! Moving such a hook aside and calling it from a script of ours would change its `$0`, by which the usual hook
//! managers know what to do. Nor is a hook edited that is not executable: its owner switched it off, and making it
//! executable would switch it on.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::disk::sync_folder;
use super::{Store, StoreError};

const BEGIN: &str = "# >>> git-brain >>>";
const END: &str = "# <<< git-brain <<<";
const FIRST_LINE: &str = "#!/bin/sh\n";
/// Inside the block of a file that was not there before: with nothing else in it, the file goes with the block.
const MADE: &str = "# git-brain made this file.";
/// Shells that understand the block.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"];

/// A hook of git that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookName {
    /// A gate: refuses a commit that would damage the network.
    PreCommit,
    /// A doorbell: a commit was made.
    PostCommit,
    /// A doorbell: a merge was made.
    PostMerge,
    /// A gate of a bare repository: refuses a push that is not admitted.
    PreReceive,
    /// A doorbell of a bare repository: something was pushed.
    PostReceive,
}

impl HookName {
    /// Those of a repository that people commit in.
    pub const ALL: [Self; 3] = [Self::PreCommit, Self::PostCommit, Self::PostMerge];
    /// Those of a bare repository, which people push to.
    pub const BARE: [Self; 2] = [Self::PreReceive, Self::PostReceive];

    /// The name of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PostCommit => "post-commit",
            Self::PostMerge => "post-merge",
            Self::PreReceive => "pre-receive",
            Self::PostReceive => "post-receive",
        }
    }

    /// The hook with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::BARE).find(|hook| hook.as_str() == name)
    }

    /// Whether a non-zero exit of it refuses what git is about to do.
    pub fn is_gate(self) -> bool {
        matches!(self, Self::PreCommit | Self::PreReceive)
    }
}

/// How one hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// The block is there, as this program writes it.
    Installed,
    /// A block is there, but another: edited by hand, or for a program at another place.
    Altered,
    /// No block.
    Missing,
    /// A file that is not edited; the message says why and what to add by hand.
    Closed,
}

/// What was done to one hook, or in a dry run would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookDone {
    /// Nothing; there was nothing to do, or the file is closed.
    Nothing,
    /// The file was made.
    Created,
    /// The block was added to a file that was there.
    Added,
    /// Another block was replaced.
    Replaced,
    /// The block was taken out; the file is what it was before.
    Removed,
    /// The file was ours alone, and is gone.
    Deleted,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookReport {
    /// Which.
    pub hook: HookName,
    /// Its file.
    pub path: PathBuf,
    /// How it was found.
    pub state: HookState,
    /// What was done.
    pub done: HookDone,
    /// Why nothing could be done.
    pub message: Option<String>,
}

/// All hooks of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HooksReport {
    /// The folder where git looks for hooks.
    pub folder: PathBuf,
    /// Whether `core.hooksPath` names a folder outside the repository, which other repositories may use as well.
    pub shared: bool,
    /// One entry a hook.
    pub hooks: Vec<HookReport>,
}

impl HooksReport {
    /// Whether every hook is in this state.
    pub fn all(&self, state: HookState) -> bool {
        self.hooks.iter().all(|hook| hook.state == state)
    }
}

enum Task<'a> {
    Install(&'a str),
    Remove,
    Look(&'a str),
}

impl Store {
    /// Puts our block into each hook. `program` is how the shell shall call this program: a path, or a name on `PATH`.
    /// Doing it again changes nothing. With `dry_run` nothing is written.
    pub fn install_hooks(&self, program: &str, dry_run: bool) -> Result<HooksReport, StoreError> {
        self.each_hook(&Task::Install(program), dry_run)
    }

    /// Takes our block out of each hook. The files are then what they were, to the byte; those that we made are gone.
    pub fn remove_hooks(&self, dry_run: bool) -> Result<HooksReport, StoreError> {
        self.each_hook(&Task::Remove, dry_run)
    }

    /// How each hook is.
    pub fn hooks_status(&self, program: &str) -> Result<HooksReport, StoreError> {
        self.each_hook(&Task::Look(program), true)
    }

    fn each_hook(&self, task: &Task<'_>, dry_run: bool) -> Result<HooksReport, StoreError> {
        let (folder, planted) = self.hooks_folder()?;
        let shared = !self.holds(&folder);
        if planted && shared && !matches!(task, Task::Look(_)) && !is_no_folder(&folder) {
            return Err(StoreError::HooksAway { folder });
        }
        let mut hooks = Vec::new();
        let wanted = if self.repository.is_bare() { &HookName::BARE[..] } else { &HookName::ALL[..] };
        for hook in wanted.iter().copied() {
            hooks.push(one_hook(&folder, hook, task, dry_run)?);
        }
        Ok(HooksReport { folder, shared, hooks })
    }

    /// Whether a path lies in the git folder or the work tree, links and `..` followed as far as it exists.
    fn holds(&self, path: &Path) -> bool {
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        let there = path.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
        let Some((ancestor, real)) = there.filter(|(ancestor, _)| !climbs || *ancestor == path) else { return false };
        let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
        let inside = |root: &Path| root.canonicalize().is_ok_and(|root| real.join(rest).starts_with(root));
        inside(&self.common) || self.work_dir().is_some_and(|root| inside(&root))
    }

    /// The folder where git looks for hooks, as git itself finds it; and whether it is the repository that says so, and not the person's
    /// own configuration.
    fn hooks_folder(&self) -> Result<(PathBuf, bool), StoreError> {
        let here = self.work_dir().unwrap_or_else(|| self.common.clone());
        Ok(match super::plumbing::configured_path(self.repository.path(), "core.hooksPath")? {
            Some((scope, path)) => (here.join(path), matches!(scope.as_str(), "local" | "worktree")),
            None => (self.common.join("hooks"), true),
        })
    }
}

/// Whether there is something else than a folder: no hook is there, and none can be written.
fn is_no_folder(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_dir())
}

fn one_hook(folder: &Path, hook: HookName, task: &Task<'_>, dry_run: bool) -> Result<HookReport, StoreError> {
    let path = folder.join(hook.as_str());
    let found = look(folder, &path)?;
    let mut report =
        HookReport { hook, path: path.clone(), state: HookState::Missing, done: HookDone::Nothing, message: None };
    let content = match &found {
        Found::Closed(reason) => {
            report.state = HookState::Closed;
            report.message = Some(format!("{reason}; add to it by hand: git-brain hook {} \"$@\"", hook.as_str()));
            return Ok(report);
        }
        Found::Absent => None,
        Found::Script(content) => Some(content.as_slice()),
    };
    let parts = match content.map(split).transpose() {
        Ok(parts) => parts.flatten(),
        Err(reason) => {
            report.state = HookState::Closed;
            report.message = Some(reason.to_owned());
            return Ok(report);
        }
    };
    let made = match (&parts, content) {
        (Some(parts), _) => parts.is_made(),
        (None, content) => content.is_none(),
    };
    if let Task::Install(program) | Task::Look(program) = task {
        report.state = match &parts {
            None => HookState::Missing,
            Some(parts) if parts.block.trim_ascii_end() == block(hook, program, made).trim_end().as_bytes() => {
                HookState::Installed
            }
            Some(_) => HookState::Altered,
        };
    } else if parts.is_some() {
        report.state = HookState::Installed;
    }
    let new: Option<Vec<u8>> = match (task, &parts, content) {
        (Task::Install(program), None, None) => {
            report.done = HookDone::Created;
            Some([FIRST_LINE.as_bytes(), block(hook, program, true).as_bytes()].concat())
        }
        (Task::Install(program), None, Some(content)) => {
            report.done = HookDone::Added;
            Some(with_block(content, &block(hook, program, false)))
        }
        (Task::Install(program), Some(parts), _) if report.state == HookState::Altered => {
            report.done = HookDone::Replaced;
            Some(parts.replaced(&block(hook, program, made)))
        }
        (Task::Remove, Some(parts), _) if made && parts.rest() == FIRST_LINE.as_bytes() => {
            report.done = HookDone::Deleted;
            None
        }
        (Task::Remove, Some(parts), _) => {
            report.done = HookDone::Removed;
            Some(parts.rest())
        }
        _ => return Ok(report),
    };
    if !dry_run {
        match new {
            Some(content) => write(folder, &path, &content)?,
            None => std::fs::remove_file(&path).map_err(StoreError::file(&path))?,
        }
    }
    Ok(report)
}

enum Found {
    Absent,
    Script(Vec<u8>),
    Closed(String),
}

fn look(folder: &Path, path: &Path) -> Result<Found, StoreError> {
    if is_no_folder(folder) {
        return Ok(Found::Closed(format!("core.hooksPath is {}, so git runs no hooks", folder.display())));
    }
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Absent),
        Err(e) => return Err(StoreError::file(path)(e)),
    };
    if meta.is_symlink() {
        let target = std::fs::read_link(path).map_err(StoreError::file(path))?;
        return Ok(Found::Closed(format!("it is a symlink to {}", target.display())));
    }
    if !meta.is_file() {
        return Ok(Found::Closed("it is no file".to_owned()));
    }
    if !is_executable(&meta) {
        return Ok(Found::Closed("it is not executable, so git passes over it".to_owned()));
    }
    let content = std::fs::read(path).map_err(StoreError::file(path))?;
    Ok(match foreign_interpreter(&content) {
        Some(interpreter) => Found::Closed(format!("it is a program for {interpreter}, not a shell script")),
        None => Found::Script(content),
    })
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// What runs the hook, if it is no shell that we know. A text without `#!` is run by `sh`.
fn foreign_interpreter(content: &[u8]) -> Option<String> {
    let Some(rest) = content.strip_prefix(b"#!") else {
        return content.contains(&0).then(|| "the machine".to_owned());
    };
    let line = String::from_utf8_lossy(rest.split(|b| *b == b'\n').next().unwrap_or_default()).into_owned();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    // Split at spaces and tabs only, as the kernel does: with `sh\r` the kernel finds no program.
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    let mut name = base(words.next().unwrap_or_default());
    if name == "env" {
        name = base(words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default());
    }
    (!SHELLS.contains(&name.as_str())).then(|| format!("{name:?}"))
}

/// The block of one hook, with a newline at its end.
fn block(hook: HookName, program: &str, made: bool) -> String {
    let program = format!("'{}'", program.replace('\'', "'\\''"));
    let name = hook.as_str();
    let made = if made { format!("{MADE}\n") } else { String::new() };
    let act = match hook.is_gate() {
        // Without it nobody looks at what comes: nothing comes.
        true if hook == HookName::PreReceive => format!(
            "  {program} hook {name} \"$@\" || exit 1\nelse\n  echo 'git-brain: its program is gone, so nothing is let in' >&2\n  \
             exit 1\n"
        ),
        // Its words are for the person who commits; its refusal is the hook's.
        true => format!(
            "  {program} hook {name} \"$@\" || exit $?\nelse\n  echo 'git-brain: its program is gone, so the network was \
             not checked' >&2\n"
        ),
        false => format!("  {program} hook {name} \"$@\" </dev/null >/dev/null 2>&1 || :\n"),
    };
    format!(
        "{BEGIN}\n# By `git brain hooks install`; `git brain hooks remove` takes it out again.\n{made}\
         if command -v {program} >/dev/null 2>&1; then\n{act}fi\n{END}\n"
    )
}

/// A hook's content around our block.
struct Parts<'c> {
    before: &'c [u8],
    /// From the first mark to the last, with the newline behind it if there is one.
    block: &'c [u8],
    after: &'c [u8],
}

impl Parts<'_> {
    fn is_made(&self) -> bool {
        self.block.split(|b| *b == b'\n').any(|line| line == MADE.as_bytes())
    }

    /// Whether the block was put behind a last line that had no newline.
    fn at_ragged_end(&self) -> bool {
        !self.block.ends_with(b"\n")
    }

    fn rest(&self) -> Vec<u8> {
        let before = match self.at_ragged_end() {
            true => self.before.strip_suffix(b"\n").unwrap_or(self.before),
            false => self.before,
        };
        [before, self.after].concat()
    }

    fn replaced(&self, block: &str) -> Vec<u8> {
        let block = if self.at_ragged_end() { block.trim_end() } else { block };
        [self.before, block.as_bytes(), self.after].concat()
    }
}

fn split(content: &[u8]) -> Result<Option<Parts<'_>>, &'static str> {
    let (begins, ends) = (lines_that_are(content, BEGIN), lines_that_are(content, END));
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin.0 < end.0 => {
            Ok(Some(Parts { before: &content[..begin.0], block: &content[begin.0..end.1], after: &content[end.1..] }))
        }
        _ => Err("the marks of git-brain's block are damaged: remove what is left of it by hand, then install again"),
    }
}

/// Where lines with exactly that text begin, and where they end with their newline.
fn lines_that_are(content: &[u8], text: &str) -> Vec<(usize, usize)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in content.split_inclusive(|b| *b == b'\n') {
        if line.strip_suffix(b"\n").unwrap_or(line) == text.as_bytes() {
            found.push((at, at + line.len()));
        }
        at += line.len();
    }
    found
}

fn with_block(content: &[u8], block: &str) -> Vec<u8> {
    if !content.starts_with(b"#!") {
        return [block.as_bytes(), content].concat();
    }
    match content.iter().position(|b| *b == b'\n') {
        Some(end) => [&content[..=end], block.as_bytes(), &content[end + 1..]].concat(),
        None => [content, b"\n", block.trim_end().as_bytes()].concat(),
    }
}

/// Replaces a hook whole or not at all; a new one is executable, another keeps its permissions.
fn write(folder: &Path, path: &Path, content: &[u8]) -> Result<(), StoreError> {
    std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    let permissions = match std::fs::metadata(path) {
        Ok(meta) => Some(meta.permissions()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(StoreError::file(path)(e)),
    };
    let fill = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".git-brain-").tempfile_in(folder)?;
        file.write_all(content)?;
        match permissions {
            Some(permissions) => std::fs::set_permissions(file.path(), permissions)?,
            None => make_executable(file.path())?,
        }
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    fill().map_err(StoreError::file(path))?;
    sync_folder(folder)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
