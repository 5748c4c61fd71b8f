//! Maintenance: one pack per commit makes many packs, which git puts together.
//!
//! Which packs: the smallest, so many that sizes double from one pack to the next, as in `git repack --geometric=2`. That
//! command itself is not used: it walks all commits for the names of what it packs, so that its time follows the
//! history and not what there is to do.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::intent::discard_rubbish;
use super::plumbing::tame_git;
use super::worktree::sync_folder;
use super::writer::{KEEP_TEXT, SCRATCH};
use super::{LockName, Store, StoreError, child};
use crate::limits;

/// Each pack has at least so many times the objects of the next smaller one.
const FACTOR: u64 = 2;
/// How an index of version 2 begins, and where its ids do: after the table of 256 counts. Source: git's `gitformat-pack`.
const INDEX_MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
const INDEX_IDS: usize = 8 + 256 * 4;
/// Bytes of an id.
const ID: usize = 20;
/// Objects of a pack from which on deltas are looked for as it is made.
const SEARCHED: usize = 16_384;
/// Packs with such a file beside them are kept, fetched in part, or hold what git lets expire.
const SPARED: [&str; 3] = ["keep", "promisor", "mtimes"];
/// The files of a pack in git's order of removal: without its index, a pack is not there.
const FILES: [&str; 4] = ["idx", "pack", "rev", "bitmap"];

/// What a killed process left half written is rubbish after this long.
const RUBBISH: Duration = Duration::from_secs(24 * 3600);

impl Store {
    /// Puts small packs together if there are more than [`limits::PACKS`] packs; true if it did.
    ///
    /// No object is dropped, reachable or not, so that this is safe beside writers; nothing is ever pruned. Skipped without
    /// a word if git is missing or another process is at it. The time follows the objects of the small packs.
    pub fn maintain(&self) -> Result<bool, StoreError> {
        self.maintain_beyond(limits::PACKS)
    }

    pub(super) fn maintain_beyond(&self, bound: usize) -> Result<bool, StoreError> {
        let objects = self.common.join("objects");
        let folder = objects.join("pack");
        if count_packs(&folder) <= bound {
            return Ok(false);
        }
        let Some(_alone) = self.try_lock(LockName::Maintenance)? else { return Ok(false) };
        remove_rubbish(&objects);
        let mut packs = packs(&folder);
        packs.sort_by(|a, b| (a.objects, &a.stem).cmp(&(b.objects, &b.stem)));
        let small = roll_up(&packs.iter().map(|pack| pack.objects).collect::<Vec<_>>());
        if small < 2 {
            return Ok(false);
        }
        let loose = loose_objects(&objects);
        let mut ids = loose.clone();
        for pack in &packs[..small] {
            ids.extend(pack.ids()?);
        }
        let Some(made) = self.pack_objects(&folder, &ids)? else { return Ok(false) };
        sync_folder(&folder)?;
        // Git without this index looks into each pack's; with one that names removed packs it complains.
        remove(&folder.join("multi-pack-index"))?;
        for pack in packs[..small].iter().filter(|pack| !made.contains(&pack.stem)) {
            FILES.iter().try_for_each(|kind| remove(&pack.file(kind)))?;
        }
        // Git's own maintenance may have written one meanwhile, of packs that are gone by now.
        remove(&folder.join("multi-pack-index"))?;
        if !loose.is_empty() {
            let _ = self.quiet_git(&["prune-packed", "-q"]).status();
        }
        Ok(true)
    }

    /// True if there is an index of many packs that names some which are gone: git's own maintenance leaves one where it runs beside
    /// another. Git finds everything without it, and complains.
    pub fn has_stale_pack_index(&self) -> bool {
        let index = self.common.join("objects/pack/multi-pack-index");
        let verified = || child::ended(&mut self.quiet_git(&["multi-pack-index", "verify", "--no-progress"]), b"");
        index.exists() && verified().is_ok_and(|ended| !ended.status.success())
    }

    /// Removes the index of many packs. Each pack has one of its own.
    pub fn remove_pack_index(&self) -> Result<(), StoreError> {
        remove(&self.common.join("objects/pack/multi-pack-index"))
    }

    /// Packs objects by id, as one pack; gives the paths of what was made, without their extensions. `None` if git is
    /// missing or refuses, for example because somebody's `git gc` removed one of the objects.
    fn pack_objects(&self, folder: &Path, ids: &BTreeSet<[u8; ID]>) -> Result<Option<BTreeSet<PathBuf>>, StoreError> {
        let failed = StoreError::file("git pack-objects");
        let base = folder.join("pack");
        // Small packs are put together again and again; looking for deltas each time costs ten times as much as copying.
        let window = if ids.len() < SEARCHED { "--window=0" } else { "--window=10" };
        let mut git = self.quiet_git(&["pack-objects", "-q", window]);
        let mut lines = String::with_capacity(ids.len() * (2 * ID + 1));
        for id in ids {
            id.iter().for_each(|byte| lines.push_str(&format!("{byte:02x}")));
            lines.push('\n');
        }
        let output = match child::ended(git.arg(&base), lines.as_bytes()) {
            Ok(output) => output,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        let names = String::from_utf8_lossy(&output.stdout);
        let made: BTreeSet<PathBuf> = names.lines().map(|name| folder.join(format!("pack-{name}"))).collect();
        let whole = made.iter().all(|stem| ["pack", "idx"].iter().all(|kind| stem.with_extension(kind).exists()));
        Ok((output.status.success() && whole && !made.is_empty()).then_some(made))
    }

    /// Git on this repository, with nothing of the environment's, as durable as we are, and silent.
    fn quiet_git(&self, args: &[&str]) -> Command {
        let mut git = tame_git();
        let own = ["GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"];
        for (key, _) in std::env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("GIT_")) {
            if !own.iter().any(|name| key == *name) {
                git.env_remove(key);
            }
        }
        git.arg("--git-dir").arg(&self.common);
        git.args(["-c", "core.fsync=all", "-c", "pack.packSizeLimit=0"]).args(args);
        git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        git
    }
}

/// A pack, its path without the extension, and how many objects it has.
struct Pack {
    stem: PathBuf,
    objects: u64,
}

impl Pack {
    fn file(&self, kind: &str) -> PathBuf {
        self.stem.with_extension(kind)
    }

    /// The ids of its objects, from its index.
    fn ids(&self) -> Result<Vec<[u8; ID]>, StoreError> {
        let path = self.file("idx");
        let index = std::fs::read(&path).map_err(StoreError::file(&path))?;
        let ids = index.get(INDEX_IDS..).unwrap_or_default().chunks_exact(ID);
        Ok(ids.take(self.objects as usize).filter_map(|id| id.try_into().ok()).collect())
    }
}

/// The packs that may be put together. One whose index is of another kind stays as it is.
fn packs(folder: &Path) -> Vec<Pack> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let stems = entries.map(|e| e.path()).filter(|path| path.extension().is_some_and(|x| x == "idx"));
    let pack = |path: PathBuf| {
        let spared = SPARED.iter().any(|kind| path.with_extension(kind).exists());
        let mut head = [0; INDEX_IDS];
        File::open(&path).and_then(|mut f| f.read_exact(&mut head)).ok()?;
        let usable = head.starts_with(INDEX_MAGIC) && !spared && path.with_extension("pack").exists();
        let objects = u64::from(u32::from_be_bytes(*head.last_chunk()?));
        usable.then(|| Pack { stem: path.with_extension(""), objects })
    };
    stems.filter_map(pack).collect()
}

/// How many of the smallest packs to put together, given their sizes in ascending order, so that afterwards each pack has at
/// least [`FACTOR`] times the objects of the next smaller one. 0 if that is so already.
fn roll_up(sizes: &[u64]) -> usize {
    let crowded = |i: &usize| sizes[*i] < FACTOR * sizes[i - 1];
    let Some(mut split) = (1..sizes.len()).rev().find(crowded).map(|i| i + 1) else { return 0 };
    let mut sum: u64 = sizes[..split].iter().sum();
    while let Some(next) = sizes.get(split).filter(|next| **next < FACTOR * sum) {
        sum += next;
        split += 1;
    }
    split
}

/// The objects that are files of their own: what people's git commands wrote.
fn loose_objects(objects: &Path) -> BTreeSet<[u8; ID]> {
    let mut found = BTreeSet::new();
    for byte in 0..=u8::MAX {
        let folder = objects.join(format!("{byte:02x}"));
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{byte:02x}{}", entry.file_name().to_string_lossy());
            let id = git2::Oid::from_str(&name).ok().filter(|_| name.len() == 2 * ID);
            found.extend(id.and_then(|id| <[u8; ID]>::try_from(id.as_bytes()).ok()));
        }
    }
    found
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(path)(e)),
        _ => Ok(()),
    }
}

fn count_packs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
}

/// What killed processes left: folders with half-made packs, and `.keep`s.
fn remove_rubbish(objects: &Path) {
    for entry in std::fs::read_dir(objects).into_iter().flatten().flatten() {
        let half_made = entry.file_name().to_string_lossy().starts_with(SCRATCH);
        let modified = entry.metadata().and_then(|m| m.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if half_made && age.is_some_and(|age| age > RUBBISH) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    for entry in std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = || std::fs::read(&path).is_ok_and(|text| text == KEEP_TEXT.as_bytes());
        if path.extension().is_some_and(|x| x == "keep")
            && ours()
            && let Ok(file) = std::fs::File::open(&path)
        {
            discard_rubbish(&path, &file);
        }
    }
}

#[cfg(test)]
mod tests;
