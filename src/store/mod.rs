//! The store: all that touches git and the files of the git folder.
//!
//! Owns objects, trees, commits, refs, locks, packs and the work trees that follow a branch. It knows nothing of what a
//! neuron or a run means: paths and bytes go in, tree and commit ids come out. The cycle calls it at both ends of
//! each stage: read from a tree before thinking, publish and move a branch after.
//!
//! *Invariants.* No checkout, index or work tree is ever needed to read or write a brain. Objects are on disk (pack,
//! index and folder fsynced) before a ref names them. A ref moves only by compare-and-swap. A lock file of ours is
//! never deleted; it is the kernel that releases it. libgit2's merge, diff and checkout are never called.
//!
//! Everything here blocks. A [`Store`] is `Send` and not `Sync`: open one per thread.

#![allow(clippy::disallowed_methods, reason = "store is the boundary to files")]

mod account;
mod bulk;
mod cache;
mod checkout;
mod child;
mod commit;
mod confine;
mod credential;
mod delta;
mod disk;
mod driver;
mod error;
mod guard;
pub mod handoff;
mod health;
mod history;
mod hooks;
mod in_the_way;
mod init;
mod intent;
mod jobs;
mod join;
mod left;
mod left_locks;
mod likeness;
mod lock;
mod maintain;
mod names;
mod notes;
mod object;
mod pack;
mod packed;
mod plumbing;
mod propose;
mod recent;
mod refs;
mod rehearsal;
mod remote;
mod reviews;
mod seam;
mod settings;
mod shadow;
mod signature;
mod sparse;
mod tree;
mod vectors;
mod waiting;
mod worktree;
mod writer;

#[cfg(test)]
mod sandbox;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

pub use account::{Account, Act, Entry};
pub use bulk::{BulkWriter, Held, Packed, Packer};
pub use cache::key_of as cache_key;
pub use checkout::Checkout;
pub use commit::{Author, Commit, CommitSpec, Trailer, address_of_agent, is_agents_address, is_unnamed};
pub use credential::{credential, printed_by};
pub use driver::DriverState;
pub use error::{StoreError, permission_hint};
pub use guard::Guard;
pub use health::Behind;
pub use hooks::{HookDone, HookName, HookReport, HookState, HooksReport};
pub use in_the_way::in_the_way;
pub use init::{FirstCommit, Made, create, create_bare, create_in_repo};
pub use jobs::{jobs, leave_job, take_job};
pub use left::Left;
pub use lock::{Lock, LockName, Turn};
pub use names::{BlobId, Branch, CommitId, TreeId};
pub use notes::Notes;
pub use object::Objects;
pub use plumbing::{LOCAL_VARIABLES, called_from, date_in_words, git_version, merge_texts, replace_file};
pub use propose::Target;
pub use recent::Recent;
pub use refs::{Races, RefChange, RefOutcome};
pub use rehearsal::Rehearsal;
pub use remote::{PushOutcome, Pushed, REVIEWS, Remote, Tips};
pub use signature::{CONFIG_REQUIRE, CONFIG_SIGNERS, CONFIG_SINCE, Signature};
pub use sparse::CheckedOut;
pub use tree::{Change, Clash, File, FileChange, TreeEdit};
pub use vectors::{OtherLength, Vectors};
pub use waiting::{Waited, Waiting};
pub use writer::{Batch, ObjectWriter};

use crate::limits;
use crate::model::secret::Secrets;
use crate::model::within;

/// The local configuration key that names the branch of consolidated memory.
pub const CONFIG_MAIN: &str = "brain.main";
/// The local configuration key that names the branch of the waking brain.
pub const CONFIG_WAKE: &str = "brain.wake";

/// One brain's git repository, opened by one thread.
pub struct Store {
    repository: git2::Repository,
    common: PathBuf,
    quarantine: RefCell<Vec<PathBuf>>,
    main: Branch,
    wake: Branch,
    pending: RefCell<object::Pending>,
    recent: Objects,
    writing: Cell<bool>,
    /// How often packs were looked for since their list was made.
    looks: Cell<usize>,
    kept: RefCell<Vec<writer::Keep>>,
    /// How commits are signed here, once it was asked for.
    signer: OnceCell<Option<signature::Signer>>,
    notes: Notes,
    secrets: Arc<Secrets>,
    /// Decisions that a push brings which is judged.
    incoming_reviews: Cell<Option<CommitId>>,
    /// Tips that cannot be read, each with the commit behind it that stands in for it.
    stand_ins: RefCell<BTreeMap<CommitId, CommitId>>,
    /// Whether the ref of decisions names what holds none, and is passed over.
    lacks_reviews: Cell<bool>,
    /// Refs that a rehearsal has moved.
    rehearsed: RefCell<Option<rehearsal::Refs>>,
}

impl Store {
    /// Finds the repository that `dir` lies in and reads which branches are its brain.
    ///
    /// The names come from the repository's own configuration file alone: a clone, a user's global file, or a file of
    /// the tree cannot make a repository a brain. libgit2's check of the folder's owner stays on.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let repository = discover(dir)?;
        if let Some(around) = confine::embedded_in(&repository) {
            return Err(StoreError::Embedded { path: repository.path().to_owned(), repository: around });
        }
        let Some((main, wake)) = brain_branches(&repository)? else {
            return Err(StoreError::NoBrain { path: dir.to_owned() });
        };
        let store = Self::over(repository, main, wake);
        confine::refuse_links(&store.private_dir())?;
        confine::refuse_links_away(store.repository.path(), &store.common)?;
        confine::refuse_borrowed(store.repository.path(), &store.common)?;
        Ok(store)
    }

    fn over(repository: git2::Repository, main: Branch, wake: Branch) -> Store {
        prepare();
        Store {
            common: repository.commondir().to_owned(),
            quarantine: RefCell::default(),
            repository,
            main,
            wake,
            pending: RefCell::default(),
            recent: Arc::new(Recent::new(limits::RECENT_BYTES)),
            writing: Cell::new(false),
            looks: Cell::new(0),
            kept: RefCell::default(),
            signer: OnceCell::new(),
            notes: Notes::default(),
            secrets: Arc::default(),
            incoming_reviews: Cell::new(None),
            lacks_reviews: Cell::new(false),
            stand_ins: RefCell::default(),
            rehearsed: RefCell::default(),
        }
    }

    /// The branch of consolidated memory.
    pub fn main(&self) -> &Branch {
        &self.main
    }

    /// The branch where runs are merged.
    pub fn wake(&self) -> &Branch {
        &self.wake
    }

    /// The git folder that all work trees share.
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// `<common git folder>/git-brain/`: locks, intents, leases, caches. Made on first use by what writes into it.
    pub fn private_dir(&self) -> PathBuf {
        self.common.join("git-brain")
    }

    /// The work tree, if there is one and it says itself that it belongs to this git folder.
    pub fn work_dir(&self) -> Option<PathBuf> {
        let root = self.repository.workdir()?;
        confine::leads_here(root, self.repository.path()).unwrap_or(false).then(|| root.to_owned())
    }

    /// Lets objects be read from one more folder. A receiving hook passes git's quarantine here, whose objects are
    /// not yet part of the repository.
    pub fn add_quarantine(&self, objects: &Path) -> Result<(), StoreError> {
        let added = self.with(|r| r.odb()?.add_disk_alternate(&objects.to_string_lossy()));
        added.map_err(|e| StoreError::git(format!("objects in {}", objects.display()), e))?;
        self.quarantine.borrow_mut().push(objects.to_owned());
        Ok(())
    }

    /// The folders of [`Store::add_quarantine`], for the stores of other threads that are to read the same.
    pub fn quarantine(&self) -> Vec<PathBuf> {
        self.quarantine.borrow().clone()
    }

    /// Reads pushed objects that are not part of the repository yet, from where git's receiving hook says that they are.
    pub fn read_quarantine(&self) -> Result<(), StoreError> {
        for name in ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"] {
            let folders = std::env::var_os(name).unwrap_or_default();
            let folders = std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty());
            folders.into_iter().try_for_each(|folder| self.add_quarantine(&folder))?;
        }
        Ok(())
    }

    /// What the store put right on the way, one sentence each, since the last call: recovered locks for example.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    /// The list of what is told, for whoever tells it when a command is done.
    pub fn notes(&self) -> Notes {
        self.notes.clone()
    }

    /// Adds a sentence to what is told: something was put right on the way.
    pub fn add_note(&self, text: String) {
        self.note(text);
    }

    fn note(&self, text: String) {
        tracing::info!("{text}");
        self.notes.add(text);
    }

    /// Runs a question to libgit2. It asks again by itself when another process has repacked: an object that is in none of
    /// the packs it knows makes it look for new ones.
    fn with<R>(&self, ask: impl FnOnce(&git2::Repository) -> Result<R, git2::Error>) -> Result<R, git2::Error> {
        ask(&self.repository)
    }

    /// Looks for packs that have come. Now and then the list is made anew: libgit2 never lets go of a pack that it has opened, so that
    /// a process that stays would hold each one that was put together with others since, its place on the disk and an open file.
    fn list_packs(&self) -> Result<(), git2::Error> {
        let objects = self.common.join("objects");
        // libgit2 takes a path as text alone.
        let Some(objects) = objects.to_str().filter(|_| self.looks.get() >= limits::PACKS) else {
            self.looks.set(self.looks.get() + 1);
            return self.with(|r| r.odb()?.refresh());
        };
        self.looks.set(0);
        let anew = git2::Odb::new()?;
        anew.add_disk_alternate(objects)?;
        for folder in self.quarantine.borrow().iter() {
            anew.add_disk_alternate(&folder.to_string_lossy())?;
        }
        self.with(|r| r.set_odb(&anew))
    }

    /// Lets go of the packs that are gone: mapped, they would take a brain's size in memory again and again. Where the list cannot be made
    /// anew, the old one still finds everything.
    fn forget_packs(&self) {
        self.looks.set(limits::PACKS);
        let _ = self.list_packs();
    }

    /// The value of a key in the repository's own configuration file.
    pub fn local_config(&self, key: &str) -> Result<Option<String>, StoreError> {
        local_value(&self.repository, key)
    }

    /// The committer as git resolves it: `GIT_COMMITTER_NAME` and `GIT_COMMITTER_EMAIL`, else `user.name` and `user.email`, else
    /// the stated fallback.
    pub fn user(&self) -> (String, String) {
        // `git -c user.email=…` reaches programs that git starts by these alone.
        if ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"].iter().any(|name| std::env::var_os(name).is_some())
            && let Some(user) = self.user_of_git()
        {
            return user;
        }
        let named = |variable: &str| {
            let value = std::env::var(variable).ok()?;
            Some(commit::clean_identity(&value)).filter(|v| !v.is_empty())
        };
        let config = self.repository.config().and_then(|mut c| c.snapshot());
        let get = |key: &str| {
            let value = config.as_ref().ok()?.get_string(key).ok()?;
            Some(commit::clean_identity(&value)).filter(|v| !v.is_empty())
        };
        let name = named("GIT_COMMITTER_NAME").or_else(|| get("user.name"));
        match (name, named("GIT_COMMITTER_EMAIL").or_else(|| get("user.email"))) {
            (Some(name), Some(email)) => (name, email),
            _ => (commit::FALLBACK_NAME.to_owned(), commit::FALLBACK_EMAIL.to_owned()),
        }
    }

    /// The same as `Name <address>`, as decisions have it: a long name is cut.
    pub fn person(&self) -> String {
        let (name, email) = self.user();
        let name = within(&name, limits::REVIEWER_BYTES.saturating_sub(email.len() + " <>".len()));
        format!("{} <{email}>", name.trim_end())
    }

    /// The committer that git itself names.
    fn user_of_git(&self) -> Option<(String, String)> {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(self.common_dir()).args(["var", "GIT_COMMITTER_IDENT"]);
        let said = child::ended(&mut git, b"").ok()?;
        let said = String::from_utf8(said.stdout).ok()?;
        let (name, rest) = said.split_once(" <")?;
        let (name, email) = (commit::clean_identity(name), commit::clean_identity(rest.split_once('>')?.0));
        (!name.is_empty() && !email.is_empty()).then_some((name, email))
    }
}

/// Process-wide settings of libgit2 and of the allocator, once.
///
/// fsync is on: libgit2 never syncs unless told. Owner validation and the verification of hashes on reading stay on (both
/// are defaults): the first keeps an enemy's repository from being opened, the second turns a damaged pack into an error
/// instead of a neuron. `strict_object_creation` plays no part, because trees and commits are written as raw
/// objects whose links this module has just made or read.
///
/// The C library gives each thread a heap of its own, up to eight for each processor, and gives none of them back while anything
/// lies in it: a third of a bulk feed's memory was that.
#[allow(unsafe_code, reason = "libgit2's global options have no safe function in git2")]
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let fsync = libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR as std::ffi::c_int;
        let cache = libgit2_sys::GIT_OPT_SET_CACHE_MAX_SIZE as std::ffi::c_int;
        // Folders are remembered by `recent`: libgit2 would spend its time on throwing them out again.
        let folders = libgit2_sys::GIT_OPT_SET_CACHE_OBJECT_LIMIT as std::ffi::c_int;
        let kind = git2::ObjectType::Tree.raw();
        // What is mapped of packs counts as memory of the process, and is never more than all of them.
        let window = libgit2_sys::GIT_OPT_SET_MWINDOW_SIZE as std::ffi::c_int;
        let mapped = libgit2_sys::GIT_OPT_SET_MWINDOW_MAPPED_LIMIT as std::ffi::c_int;
        // SAFETY: the first option takes one int, the second one ssize_t, the third a kind and one size_t, the others one size_t, and each sets one global
        // value; `Once` keeps them to one thread, and the library was initialised by whoever opened the repository.
        unsafe {
            libgit2_sys::git_libgit2_opts(fsync, 1 as std::ffi::c_int);
            libgit2_sys::git_libgit2_opts(cache, limits::GIT_CACHE_BYTES);
            libgit2_sys::git_libgit2_opts(folders, kind, 0_usize);
            libgit2_sys::git_libgit2_opts(window, limits::PACK_WINDOW_BYTES);
            libgit2_sys::git_libgit2_opts(mapped, limits::MAPPED_PACK_BYTES);
        }
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        // SAFETY: sets numbers that the allocator looks at under its own lock.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, limits::HEAPS);
            libc::mallopt(libc::M_TRIM_THRESHOLD, limits::HEAP_SLACK_BYTES);
        }
    });
}

fn discover(dir: &Path) -> Result<git2::Repository, StoreError> {
    confine::refuse_irregular(dir)?;
    git2::Repository::discover(dir).map_err(|e| match e.code() {
        git2::ErrorCode::NotFound => StoreError::NoRepository { path: dir.to_owned() },
        git2::ErrorCode::Owner => {
            // libgit2 names the folder that `safe.directory` has to name.
            let named = e.message().split('\'').nth(1).map(PathBuf::from);
            StoreError::OtherOwner { path: named.unwrap_or_else(|| dir.to_owned()) }
        }
        _ => StoreError::git(format!("repository at {}", dir.display()), e),
    })
}

fn local_value(repository: &git2::Repository, key: &str) -> Result<Option<String>, StoreError> {
    let wrap = |e| StoreError::git(format!("local configuration key {key}"), e);
    let config = repository.config().map_err(wrap)?;
    let value = match config.open_level(git2::ConfigLevel::Local) {
        Ok(mut local) => local.snapshot().and_then(|l| l.get_string(key)),
        Err(e) => Err(e),
    };
    match value {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(e) => Err(wrap(e)),
    }
}

/// Every value of a key that may be given several times.
fn local_values(repository: &git2::Repository, key: &str) -> Result<Vec<String>, StoreError> {
    let wrap = |e| StoreError::git(format!("local configuration key {key}"), e);
    let local = match repository.config().map_err(wrap)?.open_level(git2::ConfigLevel::Local) {
        Ok(local) => local,
        Err(e) if e.code() == git2::ErrorCode::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(wrap(e)),
    };
    let mut values = Vec::new();
    let entries = local.multivar(key, None).map_err(wrap)?;
    entries.for_each(|entry| values.extend(entry.value().ok().map(str::to_owned))).map_err(wrap)?;
    Ok(values)
}

fn brain_branches(repository: &git2::Repository) -> Result<Option<(Branch, Branch)>, StoreError> {
    let (main, wake) = (local_value(repository, CONFIG_MAIN)?, local_value(repository, CONFIG_WAKE)?);
    match (main, wake) {
        (Some(main), Some(wake)) => Ok(Some((Branch::parse(&main)?, Branch::parse(&wake)?))),
        _ => Ok(None),
    }
}
