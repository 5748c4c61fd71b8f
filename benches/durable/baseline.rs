//! What one would write without git-brain: one exclusive lock (`flock`, through `fs2`) around one commit with its fsyncs.
//!
//! The change is that of a delta: a new neuron's file, a changed neuron's, and a record of the run of the size that
//! git-brain's has. There is no merge: whoever has the lock reads the tip, puts the three files into its tree and moves the branch.
//!
//! With libgit2 (`GIT_OPT_ENABLE_FSYNC_GITDIR` on, as it must be for anything to be durable) trees are edited in memory, without an
//! index or a work tree, and only changed folders are written. `Loose` writes each object as a file, as `git_commit_create` does;
//! `Packed` gathers a commit's objects in memory and writes them as one pack with its index, which needs fewer fsyncs. Its packs are put together by
//! `git repack --geometric` whenever there are more than a hundred, by whoever notices first, without the lock. [`grouped`] is the same with
//! group commit.
//!
//! Real git writes the files into the work tree, then `git add` and `git commit`, with `core.fsync=all`, so that objects, index and refs
//! are synced as git knows how to.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use fs2::FileExt;
use git_brain::model::{NeuronId, layout};
use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Mempack, Odb, Oid, Repository, Signature};

use crate::room::clean;
use crate::scene::{done, neuron, own, target};

/// How libgit2 stores objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Loose,
    Packed,
}

/// Packs beyond which they are put together.
const MOST_PACKS: usize = 100;

type Change = Box<dyn FnMut(usize) -> Result<String>>;
/// Paths and what they hold.
type Files = Vec<(String, Vec<u8>)>;

/// The three files of a change.
fn files(writer: usize, turn: usize) -> Result<Files> {
    let id = format!("w{writer}-{turn}");
    let changed = neuron(&own(writer), &target(writer), 20_000 + turn as u16 % 1000)?;
    let new = neuron(&id, &target(writer), 20_000)?;
    // A record of this delta's run has 1,300 bytes.
    let record =
        format!("{{\"run\": \"{id}\", \"effects\": \"{}\"}}\n", format!("{id} ").repeat(1_250 / (id.len() + 1)));
    let run = format!("network/runs/2026/01/26/{:02x}/{id}.json", (writer * 31 + turn) % 256);
    let path = |id: &str| anyhow::Ok(layout::neuron(&NeuronId::parse(id)?));
    Ok(vec![(path(&own(writer))?, changed.encode()), (path(&id)?, new.encode()), (run, record.into_bytes())])
}

fn lock(dir: &Path) -> Result<File> {
    Ok(OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(".git/the-lock"))?)
}

#[allow(unsafe_code, reason = "libgit2's global options have no safe function in git2")]
fn sync_everything() {
    // SAFETY: sets one global flag of an initialised library, before another thread exists.
    unsafe {
        libgit2_sys::git_libgit2_opts(libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR as std::ffi::c_int, 1 as std::ffi::c_int)
    };
}

pub fn libgit2(dir: &Path, writer: usize, how: How) -> Result<Change> {
    sync_everything();
    // Both live as long as the process.
    let repository: &'static Repository = Box::leak(Box::new(Repository::open(dir)?));
    let odb: &'static Odb = Box::leak(Box::new(repository.odb()?));
    let memory = (how == How::Packed).then(|| odb.add_new_mempack_backend(3)).transpose()?;
    let (lock, dir) = (lock(dir)?, dir.to_owned());
    Ok(Box::new(move |turn| {
        let files = files(writer, turn)?;
        FileExt::lock_exclusive(&lock)?;
        let made = commit(repository, &[files], memory.as_ref());
        FileExt::unlock(&lock)?;
        if memory.is_some() {
            put_together(&dir)?;
        }
        Ok(made?[0].to_string())
    }))
}

/// A commit of each change, one upon the other on wake's tip, on disk before the branch names the last. Called under the lock.
fn commit(repository: &Repository, changes: &[Files], memory: Option<&Mempack<'_>>) -> Result<Vec<Oid>> {
    let tip = repository.find_reference("refs/heads/wake")?.peel_to_commit()?;
    let mut parent = tip.clone();
    let (mut made, mut commits) = (BTreeSet::new(), Vec::new());
    for files in changes {
        let mut update = TreeUpdateBuilder::new();
        for (path, content) in files {
            let blob = repository.blob(content)?;
            made.insert(blob);
            update.upsert(path.as_str(), blob, FileMode::Blob);
        }
        let tree = repository.find_tree(update.create_updated(repository, &parent.tree()?)?)?;
        let bench = Signature::now("Bench", "bench@example.invalid")?;
        let commit = repository.commit(None, &bench, &bench, "a change", &tree, &[&parent])?;
        made.extend([commit, tree.id()]);
        for (path, _) in files {
            for folder in Path::new(path).ancestors().skip(1).filter(|folder| *folder != Path::new("")) {
                made.insert(tree.get_path(folder)?.id());
            }
        }
        parent = repository.find_commit(commit)?;
        commits.push(commit);
    }
    if let Some(memory) = memory {
        let mut pack = repository.packbuilder()?;
        pack.set_threads(1);
        made.iter().try_for_each(|id| pack.insert_object(*id, None))?;
        pack.write(&repository.path().join("objects/pack"), 0o444)?;
        memory.reset()?;
    }
    repository.reference_matching("refs/heads/wake", parent.id(), true, tip.id(), "changes")?;
    Ok(commits)
}

/// Group commit: each writer lays its change down where all find it, and whoever gets the lock commits all that lie there, as one
/// pack. What lies there is synced by nobody: it was acknowledged to nobody.
pub fn grouped(dir: &Path, writer: usize) -> Result<Change> {
    sync_everything();
    let repository: &'static Repository = Box::leak(Box::new(Repository::open(dir)?));
    let odb: &'static Odb = Box::leak(Box::new(repository.odb()?));
    let memory = odb.add_new_mempack_backend(3)?;
    let (lock, dir) = (lock(dir)?, dir.to_owned());
    let (waiting, done) = (dir.join(".git/the-waiting"), dir.join(".git/the-done"));
    [&waiting, &done].iter().try_for_each(std::fs::create_dir_all)?;
    Ok(Box::new(move |turn| {
        let name = format!("{writer}-{turn}");
        let half = dir.join(format!(".git/half-{writer}"));
        std::fs::write(&half, serde_json::to_vec(&files(writer, turn)?)?)?;
        std::fs::rename(&half, waiting.join(&name))?;
        FileExt::lock_exclusive(&lock)?;
        let committed = (|| -> Result<()> {
            if done.join(&name).exists() {
                return Ok(());
            }
            let (mut names, mut changes) = (Vec::new(), Vec::new());
            for entry in std::fs::read_dir(&waiting)? {
                let entry = entry?;
                changes.push(serde_json::from_slice(&std::fs::read(entry.path())?)?);
                names.push(entry.file_name());
            }
            for (name, commit) in names.iter().zip(commit(repository, &changes, Some(&memory))?) {
                std::fs::write(done.join(name), commit.to_string())?;
                std::fs::remove_file(waiting.join(name))?;
            }
            Ok(())
        })();
        FileExt::unlock(&lock)?;
        committed?;
        let made = std::fs::read_to_string(done.join(&name))?;
        std::fs::remove_file(done.join(&name))?;
        put_together(&dir)?;
        Ok(made)
    }))
}

/// Puts packs together when there are many, one process at a time, beside the writers.
fn put_together(dir: &Path) -> Result<()> {
    let packs = std::fs::read_dir(dir.join(".git/objects/pack"))?.flatten();
    if packs.filter(|entry| entry.path().extension().is_some_and(|e| e == "pack")).count() <= MOST_PACKS {
        return Ok(());
    }
    let alone = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(".git/the-repack"))?;
    if FileExt::try_lock_exclusive(&alone).is_ok() {
        let mut command = Command::new("git");
        clean(&mut command);
        done(command.current_dir(dir).args(["-c", "core.fsync=all", "repack", "-q", "-d", "--geometric=2"]))?;
        FileExt::unlock(&alone)?;
    }
    Ok(())
}

pub fn git(dir: &Path, writer: usize) -> Result<Change> {
    let (lock, dir) = (lock(dir)?, dir.to_owned());
    Ok(Box::new(move |turn| {
        let files = files(writer, turn)?;
        let run = |args: &[&str]| {
            let mut command = Command::new("git");
            clean(&mut command);
            done(command.current_dir(&dir).args(["-c", "core.fsync=all"]).args(args))
        };
        FileExt::lock_exclusive(&lock)?;
        let mut add = vec!["add", "--"];
        for (path, content) in &files {
            let file = dir.join(path);
            std::fs::create_dir_all(file.parent().context("a folder")?)?;
            std::fs::write(file, content)?;
            add.push(path);
        }
        run(&add)?;
        run(&["commit", "-q", "-m", "a change"])?;
        // What it was, as a file: a third process would only be slower.
        let tip = std::fs::read_to_string(dir.join(".git/refs/heads/wake"))?;
        FileExt::unlock(&lock)?;
        Ok(tip.trim().to_owned())
    }))
}
