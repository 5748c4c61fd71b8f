//! Making a brain: a repository of its own, or orphan branches in an existing one.
//!
//! A repository is a brain when its local configuration names `brain.main` and `brain.wake`. Those two keys are written
//! last, so that an `init` that was killed is none yet and can simply be run again; a marker in the private folder,
//! written before `git init`, tells such a folder from somebody else's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{Repository, RepositoryInitOptions};

use super::disk::{absent_is_fine, sync_folder};
use super::driver::{DRIVER_KEY, NAME, NAME_KEY, driver_command};
use super::intent::Plan;
use super::lock::acquire;
use super::plumbing::tame_git;
use super::{
    Author, Branch, CONFIG_MAIN, CONFIG_WAKE, CommitId, CommitSpec, LockName, RefChange, RefOutcome, Store, StoreError,
    Trailer, TreeEdit, brain_branches, discover,
};
use crate::limits;
use crate::model::layout;

const MARKER: &str = "init";

/// What the first commit says.
#[derive(Clone, Debug)]
pub struct FirstCommit {
    /// Its author.
    pub author: Author,
    /// Its time, seconds since 1970.
    pub at: i64,
    /// Its first line.
    pub subject: String,
    /// Its text.
    pub body: String,
    /// Its trailers.
    pub trailers: Vec<Trailer>,
}

/// A brain that was made or adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The common git folder.
    pub git_dir: PathBuf,
    /// The branch of consolidated memory.
    pub main: Branch,
    /// The branch of the waking brain.
    pub wake: Branch,
    /// Main's tip.
    pub commit: CommitId,
    /// Whether the branches were there already, here or at the origin.
    pub adopted: bool,
    /// Why the origin could not be asked for a brain, where it has to be.
    pub unasked: Option<String>,
}

/// Makes a repository at `dir`, which is absent or empty and in no repository: branches `main` and `wake` at one first
/// commit of `files`, main checked out. The clone of a brain's own repository becomes a brain as it is. `program` is how git shall call this program's merge driver.
pub fn create(dir: &Path, files: Vec<TreeEdit>, first: &FirstCommit, program: &str) -> Result<Made, StoreError> {
    let is_new = !dir.exists();
    let made = create_at(dir, files, first, program);
    // What is refused leaves nothing: a folder with something in it is not removed.
    if made.is_err() && is_new {
        let _ = std::fs::remove_dir(dir);
    }
    made
}

fn create_at(dir: &Path, files: Vec<TreeEdit>, first: &FirstCommit, program: &str) -> Result<Made, StoreError> {
    std::fs::create_dir_all(dir).map_err(StoreError::file(dir))?;
    let dir = dir.canonicalize().map_err(StoreError::file(dir))?;
    let git_dir = dir.join(".git");
    let marker = git_dir.join("git-brain").join(MARKER);
    if let Ok(around) = discover(&dir) {
        let own = around.workdir().is_some_and(|root| root.canonicalize().is_ok_and(|root| root == dir));
        if own && brain_branches(&around)?.is_some() {
            return Err(StoreError::AlreadyBrain { path: dir });
        }
        if own
            && !marker.exists()
            && let Some(made) = adopt_clone(around.path(), program)?
        {
            return Ok(made);
        }
        if own
            && !marker.exists()
            && around.references().is_ok_and(|mut found| found.next().is_none())
            && around.remotes().is_ok_and(|names| !names.is_empty())
        {
            return Err(StoreError::EmptyClone { path: dir });
        }
        if !own || !marker.exists() {
            let repository = around.commondir().to_owned();
            require_no_part(&Store::over(around, Branch::parse("main")?, Branch::parse("wake")?), &dir)?;
            return Err(StoreError::InsideRepository { path: dir, repository });
        }
    } else if !marker.exists() && !is_empty(&dir)? {
        return Err(StoreError::NotEmpty { path: dir });
    }
    let wait = Duration::from_millis(limits::LOCK_WAIT_MS);
    let _alone = acquire(&git_dir.join("git-brain"), LockName::Trunk, wait)?;
    if marker.exists() {
        remove_locks_of_init(&git_dir)?;
        // By these libgit2 finds out what the file system can do.
        let entries = std::fs::read_dir(&dir).map_err(StoreError::file(&dir))?;
        for probe in entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with("_git2_")) {
            std::fs::remove_file(probe.path()).or_else(absent_is_fine).map_err(StoreError::file(probe.path()))?;
        }
    }
    std::fs::write(&marker, "").map_err(StoreError::file(&marker))?;

    let (main, wake) = (Branch::parse("main")?, Branch::parse("wake")?);
    let mut options = RepositoryInitOptions::new();
    // No template: it could bring hooks.
    options.external_template(false).initial_head(main.as_str());
    let made = Repository::init_opts(&dir, &options);
    let repository = made.map_err(|e| StoreError::git(format!("new repository {}", dir.display()), e))?;
    // libgit2 does not say that it could not remove them.
    remove_locks_of_init(&git_dir)?;
    // Where everything else will be, and what makes it a repository; libgit2 does not wait for them.
    for place in ["objects", "refs", "HEAD", "."].map(|name| git_dir.join(name)) {
        sync_folder(&place)?;
    }
    let store = Store::over(repository, main, wake);
    store.recover()?;
    store.start_sparse()?;
    store.complete_checkout()?;
    let commit = store.first_commit(files, first)?;
    for branch in [&store.wake, &store.main] {
        store.set_branch(branch, commit)?;
    }
    store.write_attributes(false)?;
    store.configure(program, true)?;
    sync_folder(&git_dir)?;
    sync_folder(&dir)?;
    // One that may not be read is somebody else's, and was there before.
    let _ = dir.parent().map(sync_folder);
    std::fs::remove_file(&marker).map_err(StoreError::file(&marker))?;
    Ok(store.made(commit, false))
}

/// What `git init` itself was killed at. Nobody else works in a repository that is none yet.
fn remove_locks_of_init(git_dir: &Path) -> Result<(), StoreError> {
    ["config.lock", "HEAD.lock"]
        .map(|name| git_dir.join(name))
        .iter()
        .try_for_each(|lock| std::fs::remove_file(lock).or_else(absent_is_fine).map_err(StoreError::file(lock)))
}

/// Makes a bare repository at `dir`, absent, empty or bare already, that machines of a brain sync through; its branches are
/// `main` and `wake`, or `brain/main` and `brain/wake`. It is empty until somebody pushes. Hooks are another step.
pub fn create_bare(dir: &Path, in_repo: bool, program: &str) -> Result<Made, StoreError> {
    std::fs::create_dir_all(dir).map_err(StoreError::file(dir))?;
    let dir = dir.canonicalize().map_err(StoreError::file(dir))?;
    let prefix = if in_repo { "brain/" } else { "" };
    let (main, wake) = (Branch::parse(&format!("{prefix}main"))?, Branch::parse(&format!("{prefix}wake"))?);
    let repository = match Repository::open_bare(&dir) {
        Ok(there) if there.is_bare() => there,
        _ if !is_empty(&dir)? => return Err(StoreError::NotEmpty { path: dir }),
        _ => {
            let mut options = RepositoryInitOptions::new();
            options.bare(true).external_template(false).initial_head("main");
            Repository::init_opts(&dir, &options)
                .map_err(|e| StoreError::git(format!("new repository {}", dir.display()), e))?
        }
    };
    if brain_branches(&repository)?.is_some() {
        return Err(StoreError::AlreadyBrain { path: dir });
    }
    let store = Store::over(repository, main, wake);
    let path = store.common.join("config");
    let mut config = git2::Config::open(&path).map_err(|e| StoreError::git(path.display().to_string(), e))?;
    // What git itself can hold on to, also if our hook is taken away; and what makes a push durable, and findable later.
    let keys = [
        ("receive.fsckObjects", "true"),
        ("receive.autogc", "false"),
        ("core.fsync", "all"),
        ("core.logAllRefUpdates", "true"),
    ];
    let own = (!in_repo).then_some(("receive.denyNonFastForwards", "true"));
    for (key, value) in keys.into_iter().chain(own) {
        config.set_str(key, value).map_err(|e| StoreError::git(format!("configuration key {key}"), e))?;
    }
    store.configure(program, !in_repo)?;
    let commit = store.tip(&store.main)?;
    let adopted = commit.is_some();
    Ok(Made {
        commit: commit.unwrap_or(CommitId(git2::Oid::ZERO_SHA1)),
        ..store.made(CommitId(git2::Oid::ZERO_SHA1), adopted)
    })
}

/// Puts a brain into the repository around `dir`, on orphan branches `brain/main` and `brain/wake`.
///
/// Branches that are there already are used: local ones, then the origin's, which is asked for them where no fetch has brought them, then, in the
/// clone of a repository that is a brain, the origin's `main` and `wake`. A brain both of whose branches are gone is made again in the same way.
/// HEAD, index, work tree, code branches and hooks are not touched.
pub fn create_in_repo(
    dir: &Path,
    files: Vec<TreeEdit>,
    first: &FirstCommit,
    program: &str,
) -> Result<Made, StoreError> {
    let repository = discover(dir)?;
    if let Some((main, wake)) = brain_branches(&repository)? {
        let there = |branch: &Branch| repository.find_reference(&branch.full()).is_ok();
        if there(&main) || there(&wake) {
            return Err(StoreError::AlreadyBrain { path: dir.to_owned() });
        }
    }
    let store = Store::over(repository, Branch::parse("brain/main")?, Branch::parse("brain/wake")?);
    let _alone = store.lock(LockName::Trunk)?;
    let unasked = match store.tip(&store.main)?.is_none() && store.at_origin(&store.wake)?.is_none() {
        true => store.ask_origin().err().map(|error| error.to_string()),
        false => None,
    };
    if store.at_origin(&store.wake)?.is_some() {
        require_whole(&store, true)?;
    }
    if let Some(commit) = store.adopt()? {
        store.finish_in_repo(program, false)?;
        return Ok(store.made(commit, true));
    }
    if let Some(made) = adopt_clone(store.repository.path(), program)? {
        return Ok(made);
    }
    require_no_part(&store, dir)?;
    let commit = store.first_commit(files, first)?;
    for branch in [&store.wake, &store.main] {
        store.set_branch(branch, commit)?;
    }
    store.finish_in_repo(program, false)?;
    Ok(Made { unasked, ..store.made(commit, false) })
}

/// Makes the clone of a repository that is a brain a brain: the origin's `main` and `wake` become its branches. `None`: its
/// origin is no brain.
fn adopt_clone(git_dir: &Path, program: &str) -> Result<Option<Made>, StoreError> {
    let store = Store::over(discover(git_dir)?, Branch::parse("main")?, Branch::parse("wake")?);
    if store.at_origin(&store.wake)?.is_none() {
        return Ok(None);
    }
    require_whole(&store, false)?;
    let Some(commit) = store.adopt()? else { return Ok(None) };
    // What git did not check out comes as in a brain that was made here: without the network.
    let has_nothing = !store.repository.is_worktree() && !store.repository.path().join("index").exists();
    if has_nothing && store.work_dir().is_some() && store.head()?.0.as_ref() == Some(&store.main) {
        store.start_sparse()?;
        store.complete_checkout()?;
    }
    store.finish_in_repo(program, true)?;
    Ok(Some(store.made(commit, true)))
}

/// Refuses the clone of a brain whose history or files stayed where it was cloned from.
fn require_whole(store: &Store, in_repo: bool) -> Result<(), StoreError> {
    let repository = &store.repository;
    let path: PathBuf = repository.workdir().unwrap_or(repository.path()).components().collect();
    if store.is_shallow() {
        let what = "a part of a brain's history alone";
        let remedy = match in_repo {
            true => "`git fetch --unshallow && git brain init --in-repo` brings the rest and adopts it",
            false => {
                "`git remote set-branches origin '*' && git fetch --unshallow && git brain init` brings the rest and adopts it"
            }
        };
        return Err(StoreError::PartOfBrain { path, what, remedy });
    }
    let config = repository.config().map_err(|e| StoreError::git("configuration", e))?;
    let may_lack = config.get_string("extensions.partialclone").is_ok()
        || config.get_bool("remote.origin.promisor").unwrap_or(false);
    // A remote may have ignored the filter, and a person may have fetched the rest.
    if may_lack && lacks_objects(repository.path())? {
        let (what, remedy) = (
            "a part of a brain's files alone",
            "clone it without --filter: runs and merges read what was there before",
        );
        return Err(StoreError::PartOfBrain { path, what, remedy });
    }
    Ok(())
}

fn lacks_objects(git_dir: &Path) -> Result<bool, StoreError> {
    let mut git = tame_git();
    git.current_dir(git_dir).args(["rev-list", "--objects", "--all", "--missing=print"]);
    let ended = super::child::ended(&mut git, b"").map_err(StoreError::file("git rev-list"))?;
    Ok(!ended.status.success() || ended.stdout.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"?")))
}

/// Refuses a repository that has a brain's memory checked out but is none: another brain beside that one would know nothing of it.
fn require_no_part(store: &Store, dir: &Path) -> Result<(), StoreError> {
    let repository = &store.repository;
    let head = repository.head().and_then(|head| head.peel_to_tree());
    if head.is_ok_and(|tree| tree.get_path(Path::new(layout::METADATA)).is_ok()) {
        if !repository.is_bare() {
            require_whole(store, false)?;
        }
        let is_mirror =
            repository.config().is_ok_and(|config| config.get_bool("remote.origin.mirror").unwrap_or(false));
        let (what, remedy) = match (repository.is_bare(), is_mirror) {
            (true, true) => (
                "a brain as a mirror, which is overwritten",
                "`git clone` what it mirrors (`git remote get-url origin`), and `git brain init` in the clone",
            ),
            (true, false) => (
                "a brain for others to clone, as a bare repository",
                "`git clone` it, and `git brain init` in the clone",
            ),
            (false, _) => (
                "one branch of a brain alone",
                "`git remote set-branches origin '*' && git fetch && git brain init` brings the others and adopts it",
            ),
        };
        return Err(StoreError::PartOfBrain { path: dir.to_owned(), what, remedy });
    }
    Ok(())
}

fn is_empty(dir: &Path) -> Result<bool, StoreError> {
    let mut entries = std::fs::read_dir(dir).map_err(StoreError::file(dir))?;
    // A `.git` with nothing but our empty private folder is what a kill before the marker leaves.
    Ok(entries.all(|entry| {
        entry.is_ok_and(|e| {
            e.file_name() == ".git"
                && std::fs::read_dir(e.path())
                    .is_ok_and(|inside| inside.flatten().all(|i| i.file_name() == "git-brain"))
        })
    }))
}

impl Store {
    fn made(&self, commit: CommitId, adopted: bool) -> Made {
        Made {
            git_dir: self.common.clone(),
            main: self.main.clone(),
            wake: self.wake.clone(),
            commit,
            adopted,
            unasked: None,
        }
    }

    fn first_commit(&self, files: Vec<TreeEdit>, first: &FirstCommit) -> Result<CommitId, StoreError> {
        let writer = self.writer()?;
        let tree = writer.edit(None, files)?;
        let commit = writer.commit(&CommitSpec {
            tree,
            parents: Vec::new(),
            author: first.author.clone(),
            at: first.at,
            subject: first.subject.clone(),
            body: first.body.clone(),
            trailers: first.trailers.clone(),
        })?;
        writer.publish()?;
        Ok(commit)
    }

    /// Points a branch at a commit. Only a repetition of a killed `init` finds the branch there already.
    fn set_branch(&self, branch: &Branch, commit: CommitId) -> Result<(), StoreError> {
        let change = RefChange { branch: branch.clone(), expected: self.tip(branch)?, new: Some(commit) };
        match self.update_refs(&[change], "git-brain: init")? {
            RefOutcome::Done { .. } => Ok(()),
            RefOutcome::Modified { .. } => Err(StoreError::Busy { what: format!("branch {branch}"), holder: None }),
        }
    }

    /// Completes the work tree of an `init` that was killed while it made it.
    fn complete_checkout(&self) -> Result<(), StoreError> {
        if let Some(tip) = self.tip(&self.main)? {
            let _intent = self.intend(Plan::default().lock("index.lock", None))?;
            self.follow(&self.main, None, tip)?;
        }
        Ok(())
    }

    /// The commands, in backticks, that take the brain of a remote in place of this one.
    pub fn take_commands(&self, remote: &str) -> Vec<String> {
        let mut commands = match self.is_in_repo() {
            true => {
                vec![format!("`git branch -D {} {}`", self.main, self.wake), "`git brain init --in-repo`".to_owned()]
            }
            // Its main is checked out, so that git would not delete it.
            false => {
                let named = self.remote_names().is_ok_and(|names| names.iter().any(|name| name == remote));
                let from = if named { format!("\"$(git remote get-url {remote})\"") } else { remote.to_owned() };
                vec![format!("`git clone {from} ../team-brain`"), "`git brain init ../team-brain`".to_owned()]
            }
        };
        if self.is_in_repo() && remote != "origin" {
            let folder = self.runs_prefix().trim_end_matches("agents/").to_owned();
            commands.insert(1, format!("`git fetch {remote} '+refs/heads/{folder}*:refs/remotes/origin/{folder}*'`"));
        }
        commands
    }

    /// Brings the brain of the remote `origin` to where plain git keeps its branches: the clone of a single branch, and one that has not fetched
    /// since, know nothing of it.
    fn ask_origin(&self) -> Result<(), StoreError> {
        let origin = super::Remote::origin();
        if !self.remote_names()?.contains(&origin.name)
            || self.places(&origin)?.iter().any(|place| self.is_inside(place))
        {
            return Ok(());
        }
        let (tips, _) = self.remote_tips(&origin)?;
        if ![&self.main, &self.wake].iter().all(|branch| tips.contains_key(*branch)) {
            return Ok(());
        }
        self.fetch_to(&origin, &[&self.main, &self.wake])
    }

    /// Whether a place of this machine lies inside the repository: it came with the folder.
    fn is_inside(&self, place: &str) -> bool {
        let inside = |root: &Path| Path::new(place).starts_with(root);
        self.work_dir().is_some_and(|root| inside(&root)) || inside(&self.common)
    }

    fn at_origin(&self, branch: &Branch) -> Result<Option<CommitId>, StoreError> {
        self.ref_target(&format!("refs/remotes/origin/{branch}"))
    }

    /// The tips of this store's two branches, if both are a brain's; those of the origin become local branches.
    fn adopt(&self) -> Result<Option<CommitId>, StoreError> {
        let mut tips = Vec::new();
        for branch in [&self.main, &self.wake] {
            let local = self.tip(branch)?;
            let found = match local {
                Some(commit) => Some(commit),
                None => self.at_origin(branch)?,
            };
            let Some(commit) = found else { return Ok(None) };
            if self.file(self.tree_of(commit)?, layout::METADATA)?.is_none() {
                return Ok(None);
            }
            tips.push((branch, local, commit));
        }
        let mut there = super::Tips::new();
        for (branch, local, commit) in &tips {
            if local.is_none() {
                self.set_branch(branch, *commit)?;
            }
            there.extend(self.at_origin(branch)?.map(|tip| ((*branch).clone(), tip)));
        }
        // What was cloned was seen: if it is rewritten before the first sync, that is noticed.
        self.set_seen(&super::Remote::origin(), &there)?;
        Ok(tips.first().map(|(_, _, commit)| *commit))
    }

    fn finish_in_repo(&self, program: &str, own: bool) -> Result<(), StoreError> {
        self.write_attributes(true)?;
        self.configure(program, own)
    }

    /// Writes the configuration, `brain.wake` last: with it the repository is a brain.
    fn configure(&self, program: &str, own: bool) -> Result<(), StoreError> {
        let _intent = self.intend(Plan::default().lock("config.lock", None))?;
        let path = self.common.join("config");
        let driver = driver_command(program);
        let mut keys = vec![(NAME_KEY, NAME), (DRIVER_KEY, driver.as_str())];
        if own {
            // A repack of our own keeps the packs few; git's would prune.
            keys.push(("gc.auto", "0"));
        }
        keys.extend([(CONFIG_MAIN, self.main.as_str()), (CONFIG_WAKE, self.wake.as_str())]);
        let mut config = git2::Config::open(&path).map_err(|e| StoreError::git(path.display().to_string(), e))?;
        for (key, value) in keys {
            config.set_str(key, value).map_err(|e| StoreError::git(format!("configuration key {key}"), e))?;
        }
        std::fs::File::open(&path).and_then(|f| f.sync_all()).map_err(StoreError::file(&path))?;
        sync_folder(&self.common)
    }
}

#[cfg(test)]
mod tests;
