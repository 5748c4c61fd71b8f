//! Maintenance: one pack per commit makes many packs, which are put together.
//!
//! Which packs: the smallest, so many that sizes double from one pack to the next, as in `git repack --geometric=2`. That
//! command itself is not used: it walks all commits for the names of what it packs, so that its time follows the
//! history and not what there is to do. Packs of whole objects are copied (`join`); what has deltas goes through
//! `git pack-objects`. Deltas are looked for at night, by [`Store::compact`], where nobody waits.

use std::collections::{BTreeSet, HashMap};
use std::fs::{DirEntry, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::bulk::KEEP_TEXT;
use super::bulk::hex;
use super::disk::sync_folder;
use super::intent::discard_rubbish;
use super::join::join;
use super::pack::{ID, INDEX_IDS, INDEX_MAGIC, is_sound};
use super::plumbing::tame_git;
use super::shadow::Shadow;
use super::writer::SCRATCH;
use super::{LockName, Store, StoreError, child};
use crate::limits;

/// Each pack has at least so many times the objects of the next smaller one.
const FACTOR: u64 = 2;
/// So many objects are put together though they are in few packs: a bulk feed ends with them.
const BULK: u64 = 4096;
/// So many new objects are worth a search for deltas; a pack of more than the second number is an import, or would take longer than a
/// night's other work.
const SEARCHED: u64 = 64;
const SEARCHED_AT_MOST: u64 = 65_536;
/// Beyond so many, differences that packs have already are kept, and only whole objects are searched for: two fifths of a long night were
/// that search, for a seventh of what the night adds.
const SEARCHED_ANEW: usize = 16_384;
/// The packs that a night has made, one a line.
const COMPACTED: &str = "compacted";
/// Longest note of them that is read.
const NOTE_BYTES: u64 = 1 << 20;
/// Packs with such a file beside them are kept, fetched in part, or hold what git lets expire.
const SPARED: [&str; 3] = ["keep", "promisor", "mtimes"];
/// The files of a pack in git's order of removal: without its index, a pack is not there.
const FILES: [&str; 4] = ["idx", "pack", "rev", "bitmap"];

/// How names of packs begin that nobody has finished: those that `git prune` removes as well.
const HALF_WRITTEN: [&str; 3] = ["tmp_pack_", "tmp_idx_", ".tmp-"];
/// What a killed process left half written is rubbish after this long.
const RUBBISH: Duration = Duration::from_secs(24 * 3600);

impl Store {
    /// Puts small packs together if that makes one of [`limits::JOINED`] or more, or if there are very many; true if it did.
    ///
    /// No object is dropped, reachable or not, so that this is safe beside writers; nothing is ever pruned. Skipped without
    /// a word if git is missing or another process is at it. The time follows the objects of the small packs.
    /// What goes wrong is told in a note: whatever was to be done before is done.
    pub fn maintain(&self) -> bool {
        self.maintained(limits::JOINED, BULK)
    }

    /// The same between the steps of what ends with [`Store::maintain`]: only where there would be very many packs meanwhile.
    /// What is put together after each step is copied as often as there are steps.
    pub fn maintain_between(&self) -> bool {
        self.maintained(usize::MAX, u64::MAX)
    }

    fn maintained(&self, bound: usize, bulk: u64) -> bool {
        if self.is_rehearsal() {
            return false;
        }
        self.maintain_beyond(bound, bulk).unwrap_or_else(|error| {
            self.note(format!("small packs were not put together: {error}"));
            false
        })
    }

    pub(super) fn maintain_beyond(&self, bound: usize, bulk: u64) -> Result<bool, StoreError> {
        let objects = self.common.join("objects");
        let folder = objects.join("pack");
        // Most commands end here: neither a lock nor a look at other files.
        if small_packs(&folder, bound, bulk).is_empty() {
            return Ok(false);
        }
        let Some(_alone) = self.try_lock(LockName::Maintenance)? else { return Ok(false) };
        remove_rubbish(&objects);
        let small = &small_packs(&folder, bound, bulk)[..];
        if small.is_empty() {
            return Ok(false);
        }
        let loose = loose_objects(&objects);
        let by_copying = loose.is_empty() && self.join(&folder, small)?;
        let did = by_copying || self.repack(small, &loose)?;
        if did {
            self.forget_packs();
        }
        Ok(did)
    }

    /// Packs what came since the last night as small as git does, and with it older nights' packs that are not much larger; true if it did.
    /// For when nobody waits: it takes a second for some ten thousand objects. Objects are kept as [`Store::maintain`] keeps them.
    /// What goes wrong is told in a note.
    pub fn compact(&self) -> bool {
        self.compact_now().unwrap_or_else(|error| {
            self.note(format!("the day's packs were not made smaller: {error}"));
            false
        })
    }

    fn compact_now(&self) -> Result<bool, StoreError> {
        let Some(_alone) = self.try_lock(LockName::Maintenance)? else { return Ok(false) };
        let note = self.private_dir().join(COMPACTED);
        let is_note = |m: &std::fs::Metadata| m.is_file() && m.len() <= NOTE_BYTES;
        let text =
            std::fs::symlink_metadata(&note).ok().filter(is_note).and_then(|_| std::fs::read_to_string(&note).ok());
        let done: BTreeSet<String> = text.unwrap_or_default().lines().map(str::to_owned).collect();
        let (old, mut fresh): (Vec<Pack>, Vec<Pack>) =
            packs(&self.common.join("objects/pack")).into_iter().partition(|pack| done.contains(&pack.name()));
        fresh.sort_by(by_size);
        let mut sum = 0;
        fresh.retain(|pack| {
            let fits = sum + pack.objects <= SEARCHED_AT_MOST && is_sound(&pack.stem);
            sum += if fits { pack.objects } else { 0 };
            fits
        });
        if sum < SEARCHED {
            return Ok(false);
        }
        let (mut old, mut kept) = (old, Vec::new());
        old.sort_by(by_size);
        for pack in old {
            if pack.objects < FACTOR * sum && pack.objects + sum <= SEARCHED_AT_MOST && is_sound(&pack.stem) {
                sum += pack.objects;
                fresh.push(pack);
            } else {
                kept.push(pack.name());
            }
        }
        let names = self.names(&fresh)?;
        let mut ids = BTreeSet::new();
        for pack in &fresh {
            ids.extend(pack.ids()?);
        }
        let folder = self.common.join("objects/pack");
        let Some(made) = self.pack_objects(&folder, &ids, Some(&names))? else { return Ok(false) };
        sync_folder(&folder)?;
        remove_packs(&folder, &fresh, &made)?;
        self.forget_packs();
        kept.extend(made.iter().filter_map(|stem| stem.file_name()?.to_str().map(str::to_owned)));
        // A note that is lost costs the next night some time.
        let _ = std::fs::remove_file(&note);
        let _ = std::fs::write(&note, kept.join("\n"));
        Ok(true)
    }

    /// What the folders in these packs call their files: git looks for deltas among objects of one name.
    fn names(&self, packs: &[Pack]) -> Result<HashMap<[u8; ID], String>, StoreError> {
        let mut names = HashMap::new();
        for id in packs.iter().map(Pack::ids).collect::<Result<Vec<_>, _>>()?.iter().flatten() {
            let mut look = |repository: &git2::Repository| -> Result<(), git2::Error> {
                let id = git2::Oid::from_bytes(id)?;
                if repository.odb()?.read_header(id)?.1 != git2::ObjectType::Tree {
                    return Ok(());
                }
                for entry in repository.find_tree(id)?.iter() {
                    let name = entry.name().unwrap_or_default();
                    names.extend(<[u8; ID]>::try_from(entry.id().as_bytes()).map(|id| (id, name.to_owned())));
                }
                Ok(())
            };
            // An object that cannot be read has no name; git will say what is wrong with it.
            let _ = self.with(&mut look);
        }
        Ok(names)
    }

    /// Copies packs into one and removes them; false if that cannot be done by copying.
    fn join(&self, folder: &Path, packs: &[Pack]) -> Result<bool, StoreError> {
        let stems: Vec<&Path> = packs.iter().map(|pack| pack.stem.as_path()).collect();
        let Some(hidden) = join(folder, &stems)? else { return Ok(false) };
        let made = BTreeSet::from([hidden.place("pack").with_extension("")]);
        hidden.appear()?;
        remove_packs(folder, packs, &made).map(|()| true)
    }

    /// The same by git, together with objects that are files of their own.
    fn repack(&self, packs: &[Pack], loose: &BTreeSet<[u8; ID]>) -> Result<bool, StoreError> {
        let folder = self.common.join("objects/pack");
        // Git is given nothing with which it would not end.
        let packs: Vec<&Pack> = packs.iter().filter(|pack| is_sound(&pack.stem)).collect();
        if packs.len() < 2 && loose.is_empty() {
            return Ok(false);
        }
        let mut ids = loose.clone();
        for pack in &packs {
            ids.extend(pack.ids()?);
        }
        let Some(made) = self.pack_objects(&folder, &ids, None)? else { return Ok(false) };
        sync_folder(&folder)?;
        remove_packs(&folder, packs, &made)?;
        // Not by `git prune-packed`: that takes empty folders away as well, from under a git that is about to write into one.
        for id in loose {
            let name = hex(id);
            let _ = std::fs::remove_file(self.common.join("objects").join(&name[..2]).join(&name[2..]));
        }
        Ok(true)
    }

    /// Whether there is an index of many packs that names some which are gone: git's own maintenance leaves one where it runs beside
    /// another. Git finds everything without it, and complains.
    pub fn has_stale_pack_index(&self) -> bool {
        let index = self.common.join("objects/pack/multi-pack-index");
        let is_wrong = |shadow: &Shadow| {
            let mut git = quiet_git(shadow, &["multi-pack-index", "verify", "--no-progress"]);
            child::ended(&mut git, b"").is_ok_and(|ended| !ended.status.success())
        };
        index.exists() && self.bare_shadow().is_ok_and(|shadow| is_wrong(&shadow))
    }

    /// Removes the index of many packs. Each pack has one of its own.
    pub fn remove_pack_index(&self) -> Result<(), StoreError> {
        remove(&self.common.join("objects/pack/multi-pack-index"))
    }

    /// Packs objects by id, as one pack; gives the paths of what was made, without their extensions. `None` if git is
    /// missing or refuses, for example because somebody's `git gc` removed one of the objects.
    fn pack_objects(
        &self,
        folder: &Path,
        ids: &BTreeSet<[u8; ID]>,
        names: Option<&HashMap<[u8; ID], String>>,
    ) -> Result<Option<BTreeSet<PathBuf>>, StoreError> {
        let failed = StoreError::file("git pack-objects");
        let base = folder.join("pack");
        let search = search(names.is_some(), ids.len());
        let shadow = self.bare_shadow()?;
        let mut git = quiet_git(&shadow, &["pack-objects", "-q", "--delta-base-offset"]);
        git.args(search);
        let mut lines = String::with_capacity(ids.len() * (2 * ID + 1));
        for id in ids {
            lines.push_str(&hex(id));
            if let Some(name) = names.and_then(|names| names.get(id)).filter(|name| !name.contains('\n')) {
                lines.push(' ');
                lines.push_str(name);
            }
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
}

/// How git searches for differences. Without names it does not; with them anew: what was told apart by history is not all that is alike.
fn search(named: bool, objects: usize) -> &'static [&'static str] {
    match named {
        false => &["--window=0"],
        true if objects <= SEARCHED_ANEW => &["--window=10", "--no-reuse-delta"],
        true => &["--window=10"],
    }
}

/// Git with nothing of the environment's, as durable as we are, and silent.
fn quiet_git(shadow: &Shadow, args: &[&str]) -> Command {
    let mut git = tame_git();
    let own = ["GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"];
    for (key, _) in std::env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("GIT_")) {
        if !own.iter().any(|name| key == *name) {
            git.env_remove(key);
        }
    }
    shadow.aim(&mut git);
    git.args(["-c", "core.fsync=all", "-c", "pack.packSizeLimit=0"]).args(args);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git
}

/// A pack, its path without the extension, and how many objects it has.
struct Pack {
    stem: PathBuf,
    objects: u64,
}

impl Pack {
    fn name(&self) -> String {
        self.stem.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

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
        let is_file = |kind: &str| std::fs::symlink_metadata(path.with_extension(kind)).is_ok_and(|m| m.is_file());
        if !is_file("idx") || !is_file("pack") {
            return None;
        }
        let mut head = [0; INDEX_IDS];
        File::open(&path).and_then(|mut f| f.read_exact(&mut head)).ok()?;
        let usable = head.starts_with(INDEX_MAGIC) && !spared;
        let objects = u64::from(u32::from_be_bytes(*head.last_chunk()?));
        usable.then(|| Pack { stem: path.with_extension(""), objects })
    };
    stems.filter_map(pack).collect()
}

fn by_size(a: &Pack, b: &Pack) -> std::cmp::Ordering {
    (a.objects, &a.stem).cmp(&(b.objects, &b.stem))
}

/// The packs that are worth putting together: at least `bound`, or fewer where there are very many packs or objects. None if nothing is.
fn small_packs(folder: &Path, bound: usize, bulk: u64) -> Vec<Pack> {
    let mut packs = packs(folder);
    packs.sort_by(by_size);
    let small = roll_up(&packs.iter().map(|pack| pack.objects).collect::<Vec<_>>());
    let sum: u64 = packs[..small].iter().map(|pack| pack.objects).sum();
    let is_worth = small >= bound || packs.len() > limits::PACKS || sum >= bulk;
    packs.truncate(if is_worth && small > 1 { small } else { 0 });
    packs
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

/// Removes packs whose objects are all in those that were made.
fn remove_packs<'p>(
    folder: &Path,
    packs: impl IntoIterator<Item = &'p Pack>,
    made: &BTreeSet<PathBuf>,
) -> Result<(), StoreError> {
    let index = folder.join("multi-pack-index");
    // Git without this index looks into each pack's; with one that names removed packs it complains.
    remove(&index)?;
    for pack in packs.into_iter().filter(|pack| !made.contains(&pack.stem)) {
        FILES.iter().try_for_each(|kind| remove(&pack.file(kind)))?;
    }
    // Git's own maintenance may have written one meanwhile, of packs that are gone by now.
    remove(&index)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(path)(e)),
        _ => Ok(()),
    }
}

/// What killed processes left: folders with half-made packs, half-written packs as git and libgit2 name them, and `.keep`s.
fn remove_rubbish(objects: &Path) {
    let is_old = |entry: &DirEntry| {
        let modified = entry.metadata().and_then(|m| m.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        age.is_some_and(|age| age > RUBBISH)
    };
    for entry in std::fs::read_dir(objects).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(SCRATCH) && is_old(&entry) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    for entry in std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if HALF_WRITTEN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) && is_old(&entry) {
            let _ = std::fs::remove_file(&path);
            continue;
        }
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
