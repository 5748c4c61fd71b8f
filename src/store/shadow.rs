//! A git folder whose configuration is ours, over the objects, refs and index of a repository.
//!
//! Git reads some hundred keys of a repository's own configuration; dozens of them name programs, and each release brings more.
//! A folder that somebody else made brings that file along. So git is never run on a repository's own git folder: it is given
//! this one, which has the repository's content by links, and of its configuration the keys of [`READ`] alone. What the user's and the
//! machine's configuration say holds as ever.
//!
//! The folder lies below the private one, so that `includeIf "gitdir:…"` of the user's configuration matches as before. It goes
//! away with the value; what a killed process left goes with the next.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::plumbing::tame_git;
use super::{LOCAL_VARIABLES, Store, StoreError, confine};

/// The keys of a repository's own configuration that git is told, in small letters; `*` stands for a subsection. None of them names a
/// program, a file to write or a place to send to, but for the addresses of remotes, which `remote` looks at first.
const READ: [&str; 19] = [
    "core.autocrlf",
    "core.checkstat",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.splitindex",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "http.*.extraheader",
    "http.extraheader",
    "index.sparse",
    "index.version",
    "remote.*.pushurl",
    "remote.*.url",
];
/// The folder of these folders, in the private one.
const FOLDER: &str = "git";
/// Longest `HEAD` that is read, bytes.
const HEAD_BYTES: u64 = 4096;
/// What is older was left by a killed process: no command of git's that is run here takes so long.
const RUBBISH: Duration = Duration::from_secs(24 * 3600);

/// The folder, for as long as git needs it.
pub(super) struct Shadow {
    folder: tempfile::TempDir,
    /// The repository's own git folder: not the common one, in a linked work tree.
    git_dir: PathBuf,
    /// True: its commands are told that there is no work tree.
    is_bare: bool,
}

impl Shadow {
    /// Of a work tree's git folder, in the repository with that common one and that private folder.
    ///
    /// # Errors
    /// It cannot be written, or `info` is a link.
    pub fn over(git_dir: &Path, common: &Path, private: &Path) -> Result<Self, StoreError> {
        let config = config_of(git_dir)?;
        let folder = private.join(FOLDER);
        let fail = || StoreError::file(folder.clone());
        let infos = [git_dir.join("info"), common.join("info")];
        infos.iter().try_for_each(|info| confine::refuse_links(info))?;
        std::fs::create_dir_all(&folder).map_err(fail())?;
        remove_rubbish(&folder);
        let made = tempfile::Builder::new().prefix("").tempdir_in(&folder).map_err(fail())?;
        let fill = || -> std::io::Result<()> {
            let (own, shared) = (made.path().join("own"), made.path().join("common"));
            std::fs::create_dir(&own)?;
            std::fs::create_dir(&shared)?;
            for name in ["objects", "refs", "packed-refs", "shallow", "info"] {
                link(common, name, &shared)?;
            }
            link(git_dir, "info", &own)?;
            // A split index has its other half in a file beside it.
            for entry in std::fs::read_dir(git_dir)?.flatten() {
                let name = entry.file_name();
                if let Some(name) = name.to_str().filter(|name| name.starts_with("sharedindex.")) {
                    link(git_dir, name, &own)?;
                }
            }
            std::fs::write(shared.join("config"), config)?;
            std::fs::write(own.join("commondir"), "../common\n")?;
            // Git takes no link for one.
            std::fs::write(own.join("HEAD"), head_of(git_dir))
        };
        fill().map_err(fail())?;
        Ok(Self { folder: made, git_dir: git_dir.to_owned(), is_bare: false })
    }

    /// Git on this folder and in no other repository, whatever the environment names.
    pub fn git(&self) -> Command {
        let mut git = tame_git();
        self.aim(&mut git);
        git
    }

    /// Lets a command of git's work on this folder.
    pub fn aim(&self, git: &mut Command) {
        for name in LOCAL_VARIABLES {
            git.env_remove(name);
        }
        git.env("GIT_DIR", self.folder.path().join("own")).env("GIT_INDEX_FILE", self.git_dir.join("index"));
        if self.is_bare {
            git.env("GIT_IMPLICIT_WORK_TREE", "0");
        }
    }
}

impl Store {
    /// The folder for git commands on this repository.
    pub(super) fn shadow(&self) -> Result<Shadow, StoreError> {
        Shadow::over(self.repository.path(), &self.common, &self.private_dir())
    }

    /// The same for commands that need no work tree: git takes the repository for a bare one and looks at no file beside it. To pack objects it
    /// would read `.gitattributes`, and wait for a pipe of that name.
    pub(super) fn bare_shadow(&self) -> Result<Shadow, StoreError> {
        let shadow = Shadow { is_bare: true, ..self.shadow()? };
        let path = shadow.folder.path().join("common/config");
        let as_bare = |text: String| std::fs::write(&path, text.replacen("bare = false", "bare = true", 1));
        std::fs::read_to_string(&path).and_then(as_bare).map_err(StoreError::file(&path))?;
        Ok(shadow)
    }
}

#[cfg(unix)]
fn link(from: &Path, name: &str, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(std::path::absolute(from)?.join(name), to.join(name))
}

fn head_of(git_dir: &Path) -> Vec<u8> {
    let path = git_dir.join("HEAD");
    let plain = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= HEAD_BYTES);
    let text = plain.then(|| std::fs::read(&path).ok()).flatten();
    text.unwrap_or_else(|| b"ref: refs/heads/main\n".to_vec())
}

/// The configuration that git is given: what [`READ`] names of the repository's own.
fn config_of(git_dir: &Path) -> Result<String, StoreError> {
    let wrap = |e| StoreError::git(format!("configuration of {}", git_dir.display()), e);
    let config = git2::Repository::open(git_dir).and_then(|repository| repository.config()).map_err(wrap)?;
    let mut text = "[core]\nrepositoryformatversion = 0\nbare = false\n".to_owned();
    for level in [git2::ConfigLevel::Local, git2::ConfigLevel::Worktree] {
        let own = match config.open_level(level) {
            Ok(own) => own,
            Err(e) if e.code() == git2::ErrorCode::NotFound => continue,
            Err(e) => return Err(wrap(e)),
        };
        let take = |entry: &git2::ConfigEntry<'_>| {
            // A key without `=` has no value, and none that is told to git needs to be written so.
            if let (Ok(name), true) = (entry.name(), entry.has_value()) {
                text.extend(entry.value().ok().and_then(|value| line_of(name, value)));
            }
        };
        own.entries(None).map_err(wrap)?.for_each(take).map_err(wrap)?;
    }
    Ok(text)
}

/// A key as a section of its own; `None` if git is not told that key.
fn line_of(name: &str, value: &str) -> Option<String> {
    let (section, rest) = name.split_once('.')?;
    let (subsection, key) = rest.rsplit_once('.').map_or((None, rest), |(subsection, key)| (Some(subsection), key));
    let shape = match subsection {
        Some(_) => format!("{section}.*.{key}"),
        None => format!("{section}.{key}"),
    };
    if !READ.contains(&shape.to_ascii_lowercase().as_str()) || name.chars().chain(value.chars()).any(char::is_control) {
        return None;
    }
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut line = format!("[{section}");
    if let Some(subsection) = subsection {
        let _ = write!(line, " {}", quoted(subsection));
    }
    let _ = writeln!(line, "]\n{key} = {}", quoted(value));
    Some(line)
}

fn remove_rubbish(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|meta| meta.modified()).ok();
        let age = modified.and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > RUBBISH) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::child;
    use crate::store::sandbox::{self, Sandbox};

    #[test]
    fn only_keys_that_are_listed_are_told_to_git() {
        for (name, value) in [("core.fsmonitor", "x"), ("remote.o.uploadpack", "x"), ("remote.url", "x"), ("core", "x")]
        {
            assert_eq!(line_of(name, value), None, "{name}");
        }
        assert_eq!(line_of("core.eol", "lf\n[core]"), None, "no value brings another line");
        assert_eq!(line_of("core.EOL", "lf").unwrap(), "[core]\nEOL = \"lf\"\n");
        let odd = line_of("remote.a.b \"c\\.url", "C:\\x \"y\" # z").unwrap();
        assert_eq!(odd, "[remote \"a.b \\\"c\\\\\"]\nurl = \"C:\\\\x \\\"y\\\" # z\"\n");
    }

    #[test]
    fn git_sees_the_content_and_not_the_configuration() {
        let brain = Sandbox::brain();
        for (key, value) in [("core.fsmonitor", "/bin/evil"), ("remote.o.url", "../a \"b\""), ("alias.x", "!evil")] {
            brain.git(&["config", key, value]);
        }
        brain.git(&["worktree", "add", "-q", "-b", "topic", "linked"]);
        for place in [brain.path(), brain.path().join("linked")] {
            let store = Store::open(&place).unwrap();
            let shadow = store.shadow().unwrap();
            let said = |arguments: &[&str]| {
                let ended = child::ended(shadow.git().env("GIT_WORK_TREE", &place).args(arguments), b"").unwrap();
                assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
                String::from_utf8(ended.stdout).unwrap()
            };
            assert_eq!(said(&["rev-parse", "HEAD"]).trim(), store.head().unwrap().1.unwrap().to_string());
            assert_eq!(said(&["ls-files"]), sandbox::git(&place, &["ls-files"]));
            assert_eq!(said(&["config", "--local", "remote.o.url"]), "../a \"b\"\n");
            assert!(!said(&["config", "--local", "--list"]).contains("evil"));
            let folder = shadow.folder.path().to_owned();
            drop(shadow);
            assert!(!folder.exists() && folder.parent().unwrap().exists());
        }
        brain.fsck();
    }

    #[test]
    fn what_a_killed_process_left_goes_and_nothing_that_it_led_to() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let left = std::mem::ManuallyDrop::new(store.shadow().unwrap()).folder.path().to_owned();
        let young = std::mem::ManuallyDrop::new(store.shadow().unwrap()).folder.path().to_owned();
        let past = SystemTime::now() - RUBBISH - Duration::from_secs(60);
        std::fs::File::open(&left).unwrap().set_modified(past).unwrap();
        drop(store.shadow().unwrap());
        assert!(!left.exists() && young.exists());
        sandbox.fsck();
    }
}
