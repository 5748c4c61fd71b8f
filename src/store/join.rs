//! Joining packs: what is in several packs, put into one, smaller.
//!
//! Nothing has to be searched: entries are copied byte by byte, and the indexes say what they are and whether they are still what
//! was written. A whole object that [resembles](super::likeness) another of them becomes the difference to it, as a commit leaves
//! most of a folder as it was. That takes a small part of the processor time of `git pack-objects`, which is left with packs that name
//! objects outside of them.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use git2::Oid;
use sha1::{Digest, Sha1};

use super::StoreError;
use super::bulk::{BUFFER, Entry, Hidden, STORED_BLOCK, header, hex, index_bytes, temporary};
use super::delta::Base;
use super::likeness::Likeness;
use super::pack::{BLOB, COMMIT, Head, ID, OBJECT_DELTA, TREE};
use super::packed::Packed;

/// So many differences are put together at most to read one object, as git has it.
const DEPTH: u16 = 50;
/// Beyond so many objects nothing is looked for that resembles another: it would take minutes.
const COMPARED: usize = 1 << 22;
/// The share of a whole entry that a difference may take at most: reading it is reading two entries.
const WORTH: (usize, usize) = (9, 10);

/// Makes one pack of several, durable and under names that git does not look at. `None` if that cannot be done by copying: one names
/// objects outside of it, is damaged, or went away meanwhile.
pub(super) fn join(folder: &Path, stems: &[&Path]) -> Result<Option<Hidden>, StoreError> {
    use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    match copy(folder, stems) {
        Ok(made) => Ok(made),
        Err(e) if [NotFound, UnexpectedEof, InvalidData].contains(&e.kind()) => Ok(None),
        Err(e) => Err(StoreError::file(folder)(e)),
    }
}

fn copy(folder: &Path, stems: &[&Path]) -> io::Result<Option<Hidden>> {
    let mut packed = Packed::open(stems)?;
    let numbers = 0..packed.len() as u32;
    if numbers.clone().any(|number| packed.kind(number) == OBJECT_DELTA) {
        return Ok(None);
    }
    // What is a difference lies behind what it is one to.
    let mut heights = vec![0_u16; packed.len()];
    for number in numbers.clone().rev() {
        if let Some(base) = packed.base(number) {
            let below = heights[number as usize].saturating_add(1);
            heights[base as usize] = heights[base as usize].max(below);
        }
    }
    for number in numbers.clone() {
        let first = packed.first(number) as usize;
        heights[first] = heights[first].max(heights[number as usize]);
    }
    let likeness = if packed.distinct() > COMPARED {
        Likeness::none()
    } else {
        let commits: Vec<u32> = numbers.clone().rev().filter(|number| packed.kind(*number) == COMMIT).collect();
        Likeness::of(&mut packed, &commits)
    };
    let mut joined = Joined {
        placed: vec![None; packed.len()],
        out: Out::new(folder, packed.distinct() as u32)?,
        packed,
        heights,
        likeness,
        open: HashSet::new(),
        zlib: Zlib::new(),
        base: None,
    };
    for number in numbers {
        if joined.place(number)?.is_none() {
            return Ok(None);
        }
    }
    joined.out.finish().map(Some)
}

/// A pack under way: where its entries come from, and which are in it.
struct Joined {
    packed: Packed,
    /// The length of the longest chain of differences that ends in an object, in its pack.
    heights: Vec<u16>,
    likeness: Likeness,
    placed: Vec<Option<Placed>>,
    /// Objects on the way to which this one is placed.
    open: HashSet<u32>,
    zlib: Zlib,
    /// The object that another became the difference to last: files that are made together all become the difference to one.
    base: Option<(u32, Option<Base>)>,
    out: Out,
}

/// Where an entry is, and how many differences it takes to read it.
#[derive(Clone, Copy)]
struct Placed {
    offset: NonZeroU64,
    depth: u16,
}

impl Joined {
    /// Places an object, and before it what it is the difference to. `None` if it waits for itself, or too many wait.
    fn place(&mut self, number: u32) -> io::Result<Option<Placed>> {
        let number = self.packed.first(number);
        if let Some(placed) = self.placed[number as usize] {
            return Ok(Some(placed));
        }
        if self.open.len() > usize::from(DEPTH) || !self.open.insert(number) {
            return Ok(None);
        }
        let placed = self.place_entry(number);
        self.open.remove(&number);
        if let Ok(placed) = &placed {
            self.placed[number as usize] = *placed;
        }
        placed
    }

    fn place_entry(&mut self, number: u32) -> io::Result<Option<Placed>> {
        let bytes = self.packed.read(number)?;
        if let Some(base) = self.packed.base(number) {
            let Some(base) = self.place(base)? else { return Ok(None) };
            let head = Head::of(&bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut moved = Head::write(head.size, self.out.at - base.offset.get());
            moved.extend_from_slice(&bytes[head.bytes..]);
            return self.append(number, &moved, base.depth.saturating_add(1)).map(Some);
        }
        if let Some(placed) = self.place_difference(number, &bytes)? {
            return Ok(Some(placed));
        }
        let bytes = if self.packed.kind(number) == TREE { self.deflated(bytes)? } else { bytes };
        self.append(number, &bytes, 0).map(Some)
    }

    fn append(&mut self, number: u32, bytes: &[u8], depth: u16) -> io::Result<Placed> {
        let offset = self.out.append(self.packed.entry(number).id, bytes)?;
        Ok(Placed { offset: NonZeroU64::new(offset).ok_or(io::ErrorKind::InvalidData)?, depth })
    }

    /// The difference of a whole object, with its entry, to one that it resembles, if that is worth it.
    fn place_difference(&mut self, number: u32, whole: &[u8]) -> io::Result<Option<Placed>> {
        let kind = self.packed.kind(number);
        let Some(base) = self.likeness.like(number).filter(|_| [TREE, BLOB].contains(&kind)) else { return Ok(None) };
        let height = self.heights[number as usize];
        let placed = self.place(base)?.filter(|base| base.depth.saturating_add(height) < DEPTH);
        let Some(placed) = placed else { return Ok(None) };
        if self.base.as_ref().is_none_or(|(known, _)| *known != base) {
            let content = self.packed.content(base).filter(|(of, _)| *of == kind);
            self.base = Some((base, content.and_then(|(_, content)| Base::new(content.to_vec()))));
        }
        let content = self.packed.inflated(whole)?;
        let delta = self.base.as_ref().and_then(|(_, base)| base.as_ref()?.delta(&content));
        let Some(delta) = delta else { return Ok(None) };
        let mut entry = Head::write(delta.len() as u64, self.out.at - placed.offset.get());
        self.zlib.deflate(&delta, &mut entry)?;
        if entry.len() * WORTH.1 > whole.len() * WORTH.0 {
            return Ok(None);
        }
        self.append(number, &entry, placed.depth + 1).map(Some)
    }

    /// A folder's entry; if it was written without compression, compressed.
    fn deflated(&mut self, entry: Vec<u8>) -> io::Result<Vec<u8>> {
        let head = Head::of(&entry).ok_or(io::ErrorKind::UnexpectedEof)?;
        if !entry[head.bytes..].starts_with(STORED_BLOCK) {
            return Ok(entry);
        }
        let content = self.packed.inflated(&entry)?;
        let mut smaller = entry[..head.bytes].to_vec();
        self.zlib.deflate(&content, &mut smaller)?;
        Ok(if smaller.len() < entry.len() { smaller } else { entry })
    }
}

/// A compressor, used for one content after another: to make one takes longer than to compress a small content.
struct Zlib(Compress);

impl Zlib {
    fn new() -> Self {
        Self(Compress::new(Compression::default(), true))
    }

    fn deflate(&mut self, content: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
        self.0.reset();
        loop {
            into.reserve(content.len() / 2 + 64);
            let rest = &content[self.0.total_in() as usize..];
            if self.0.compress_vec(rest, into, FlushCompress::Finish)? == Status::StreamEnd {
                return Ok(());
            }
        }
    }
}

/// The pack that is written.
struct Out {
    folder: PathBuf,
    file: BufWriter<tempfile::NamedTempFile>,
    sha: Sha1,
    at: u64,
    entries: Vec<Entry>,
}

impl Out {
    fn new(folder: &Path, count: u32) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER, temporary(folder)?);
        let entries = Vec::with_capacity(count as usize);
        let mut out = Self { folder: folder.to_owned(), file, sha: Sha1::new(), at: 0, entries };
        out.write(&header(count))?;
        Ok(out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sha.update(bytes);
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn append(&mut self, id: Oid, bytes: &[u8]) -> io::Result<u64> {
        let mut crc = Crc::new();
        crc.update(bytes);
        let offset = self.at;
        self.entries.push(Entry { id, crc: crc.sum(), offset });
        self.write(bytes).map(|()| offset)
    }

    fn finish(mut self) -> io::Result<Hidden> {
        let checksum: [u8; ID] = self.sha.finalize().into();
        self.file.write_all(&checksum)?;
        let pack = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        pack.as_file().sync_all()?;
        self.entries.sort_unstable_by_key(|entry| entry.id);
        let mut index = temporary(&self.folder)?;
        index.write_all(&index_bytes(&self.entries, &checksum))?;
        index.as_file().sync_all()?;
        Ok(Hidden { name: format!("pack-{}", hex(&checksum)), folder: self.folder, pack, index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::CommitId;
    use crate::store::pack::Source;
    use crate::store::sandbox::{Sandbox, advance, write};

    fn stems(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let mut found: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|x| x == "idx")).map(|p| p.with_extension("")).collect();
        found.sort();
        found
    }

    fn joined(sandbox: &Sandbox) -> Option<Hidden> {
        let folder = sandbox.path().join(".git/objects/pack");
        let stems = stems(&folder);
        join(&folder, &stems.iter().map(PathBuf::as_path).collect::<Vec<_>>()).unwrap()
    }

    /// A brain whose packs have some objects twice: a file goes back to what it was, in a store that knows nothing of before.
    fn with_packs() -> Sandbox {
        let sandbox = Sandbox::brain();
        for n in 0..6 {
            let store = sandbox.store();
            advance(&store, store.wake(), vec![write("count", &format!("{}\n", n % 3))]);
        }
        sandbox
    }

    #[test]
    fn git_reads_the_joined_pack_and_needs_no_other() {
        let sandbox = with_packs();
        let folder = sandbox.path().join(".git/objects/pack");
        let ids = |stem: &Path| {
            let source = Source::open(stem).unwrap();
            source.entries.iter().map(|entry| entry.id).collect::<Vec<_>>()
        };
        let old = stems(&folder);
        let all: Vec<Oid> = old.iter().flat_map(|stem| ids(stem)).collect();
        let distinct: HashSet<Oid> = all.iter().copied().collect();
        assert!(distinct.len() < all.len(), "the example has something twice");
        let hidden = joined(&sandbox).unwrap();
        assert_eq!(stems(&folder), old, "not there yet");
        let made = hidden.place("pack").with_extension("");
        hidden.appear().unwrap();
        for stem in &old {
            ["idx", "pack"].iter().for_each(|kind| std::fs::remove_file(stem.with_extension(kind)).unwrap());
        }
        let found = ids(&made);
        assert_eq!(found.iter().copied().collect::<HashSet<_>>(), distinct);
        assert_eq!(found.len(), distinct.len(), "each once");
        sandbox.git(&["verify-pack", &made.with_extension("idx").to_string_lossy()]);
        sandbox.fsck();
    }

    #[test]
    fn versions_are_told_apart_and_joined_again_and_git_reads_them_all() {
        let sandbox = Sandbox::brain();
        let folder = sandbox.path().join(".git/objects/pack");
        let size = || {
            let packs = stems(&folder).into_iter().map(|stem| stem.with_extension("pack"));
            packs.map(|pack| std::fs::metadata(pack).unwrap().len()).sum::<u64>()
        };
        let long = |n: usize| {
            (0..300).map(|k| if k == n { "new\n".to_owned() } else { format!("line {k}\n") }).collect::<String>()
        };
        let mut sizes = Vec::new();
        let mut kept: Vec<(CommitId, usize)> = Vec::new();
        for round in 0..4 {
            for n in 0..70 {
                let store = sandbox.store();
                let n = round * 70 + n;
                let files = vec![
                    write("network/long", &long(n)),
                    write(&format!("network/neurons/ab/e-{n}.json"), &format!("{}{n}\n", long(300))),
                ];
                let (tip, _) = advance(&store, store.wake(), files);
                kept.push((tip, n));
            }
            let before = size();
            let old = stems(&folder);
            joined(&sandbox).unwrap().appear().unwrap();
            for stem in &old {
                ["idx", "pack"].iter().for_each(|kind| std::fs::remove_file(stem.with_extension(kind)).unwrap());
            }
            assert_eq!(stems(&folder).len(), 1);
            sizes.push((before, size()));
            sandbox.fsck();
        }
        assert!(sizes.iter().all(|(before, after)| after * 2 < *before), "{sizes:?}");
        let chains = sandbox.git(&["verify-pack", "-v", &stems(&folder)[0].with_extension("idx").to_string_lossy()]);
        let depths =
            chains.lines().filter_map(|line| line.strip_prefix("chain length = ")?.split(':').next()?.parse().ok());
        let deepest: usize = depths.max().unwrap();
        assert!((20..=usize::from(DEPTH)).contains(&deepest), "{deepest}");
        let store = sandbox.store();
        for (commit, n) in kept {
            assert_eq!(
                store.read(store.tree_of(commit).unwrap(), "network/long").unwrap().unwrap(),
                long(n).as_bytes()
            );
        }
    }

    #[test]
    fn packs_of_git_are_joined_and_damaged_ones_are_left_to_it() {
        let sandbox = with_packs();
        let folder = sandbox.path().join(".git/objects/pack");
        let pack = stems(&folder)[0].with_extension("pack");
        let whole = std::fs::read(&pack).unwrap();
        let replace = |bytes: &[u8]| {
            std::fs::remove_file(&pack).unwrap();
            std::fs::write(&pack, bytes).unwrap();
            // The oldest: the others' copies of what it holds are not looked at.
            std::fs::File::open(&pack).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        };
        for at in [12, whole.len() / 2, whole.len() - ID - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            replace(&damaged);
            assert!(joined(&sandbox).is_none(), "damaged at {at}");
        }
        replace(&whole[..whole.len() / 2]);
        assert!(joined(&sandbox).is_none(), "cut off");
        replace(&whole);
        assert!(joined(&sandbox).is_some());
        let long: String = (0..4000).map(|n| format!("{n} ")).collect();
        for n in 0..4 {
            let store = sandbox.store();
            advance(&store, store.wake(), vec![write("long", &format!("{long}{n}"))]);
        }
        sandbox.git(&["repack", "-adfq", "--depth=50", "--window=50"]);
        let store = sandbox.store();
        advance(&store, store.wake(), vec![write("long", &format!("{long}new"))]);
        let old = stems(&folder);
        joined(&sandbox).unwrap().appear().unwrap();
        for stem in &old {
            ["idx", "pack"].iter().for_each(|kind| std::fs::remove_file(stem.with_extension(kind)).unwrap());
        }
        sandbox.fsck();
        // Differences to objects that are named, wherever these are, are git's affair. It makes them if it is told to.
        sandbox.git(&["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50", "--window=50"]);
        assert!(joined(&sandbox).is_none(), "by name");
        assert!(
            !std::fs::read_dir(&folder).unwrap().flatten().any(|e| e.file_name().to_string_lossy().starts_with("tmp"))
        );
    }
}
