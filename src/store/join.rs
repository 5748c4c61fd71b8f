//! Joining packs: what is in several packs, put into one, smaller.
//!
//! Nothing has to be searched: entries are copied byte by byte, and the indexes say what they are and whether they are still what
//! was written. A whole object that [resembles](super::likeness) another of them becomes the difference to it, as a commit leaves
//! most of a folder as it was. That takes a small part of the processor time of `git pack-objects`, which is left with packs that name
//! objects outside of them.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use git2::{ObjectType, Oid};
use sha1::{Digest, Sha1};

use super::bulk::{BUFFER, Entry, Hidden, STORED_BLOCK, header, hex, index_bytes, temporary};
use super::delta::Base;
use super::likeness::{ById, Likeness};
use super::pack::{BLOB, COMMIT, Head, ID, OBJECT_DELTA, Source, TREE};
use super::{Store, StoreError};

/// So many differences are put together at most to read one object, as git has it.
const DEPTH: usize = 50;
/// Beyond so many objects nothing is looked for that resembles another: the table of them would be large.
const COMPARED: usize = 1 << 20;
/// The share of a whole entry that a difference may take at most: reading it is reading two entries.
const WORTH: (usize, usize) = (9, 10);

/// Makes one pack of several, durable and under names that git does not look at. `None` if that cannot be done by copying: one names
/// objects outside of it, is damaged, or went away meanwhile.
pub(super) fn join(store: &Store, folder: &Path, stems: &[&Path]) -> Result<Option<Hidden>, StoreError> {
    use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    match copy(store, folder, stems) {
        Ok(made) => Ok(made),
        Err(e) if [NotFound, UnexpectedEof, InvalidData].contains(&e.kind()) => Ok(None),
        Err(e) => Err(StoreError::file(folder)(e)),
    }
}

fn copy(store: &Store, folder: &Path, stems: &[&Path]) -> io::Result<Option<Hidden>> {
    // Oldest first: what was there before is what later versions are told apart from.
    let mut stems = stems.to_vec();
    stems.sort_by_cached_key(|stem| std::fs::metadata(stem.with_extension("pack")).and_then(|m| m.modified()).ok());
    let mut sources = stems.iter().map(|stem| Source::open(stem)).collect::<io::Result<Vec<_>>>()?;
    let mut chosen = ById::default();
    let (mut commits, mut heights) = (Vec::new(), ById::default());
    for (at, source) in sources.iter_mut().enumerate() {
        let mut tall = vec![0; source.entries.len()];
        let mut shapes = Vec::with_capacity(tall.len());
        for row in 0..source.entries.len() {
            shapes.push(source.shape(row)?);
        }
        for (row, (kind, base)) in shapes.into_iter().enumerate().rev() {
            if kind == OBJECT_DELTA {
                return Ok(None);
            }
            if let Some(base) = base {
                tall[base] = tall[base].max(tall[row] + 1);
            }
            let id = source.entries[row].id;
            if kind == COMMIT {
                commits.push(id);
            }
            if tall[row] > 0 {
                let known = heights.entry(id).or_insert(0);
                *known = tall[row].max(*known);
            }
        }
        for (row, entry) in source.entries.iter().enumerate() {
            chosen.entry(entry.id).or_insert((at, row));
        }
    }
    let Ok(count) = u32::try_from(chosen.len()) else { return Ok(None) };
    let commits = if chosen.len() > COMPARED { &[] } else { &commits[..] };
    let likeness = Likeness::of(store, &chosen, commits);
    let rows: Vec<(usize, usize)> = sources
        .iter()
        .enumerate()
        .flat_map(|(at, source)| (0..source.entries.len()).map(move |row| (at, row)))
        .collect();
    let mut joined = Joined {
        sources,
        chosen,
        heights,
        likeness,
        placed: ById::default(),
        open: HashSet::new(),
        zlib: Zlib::new(),
        base: None,
        out: Out::new(folder, count)?,
    };
    for (at, row) in rows {
        let id = joined.sources[at].entries[row].id;
        if joined.place(id)?.is_none() {
            return Ok(None);
        }
    }
    joined.out.finish().map(Some)
}

/// A pack under way: where its entries come from, and which are in it.
struct Joined<'s> {
    sources: Vec<Source>,
    /// The source and row of each object, of several the first.
    chosen: ById<(usize, usize)>,
    /// The length of the longest chain of differences that ends in an object, in its source.
    heights: ById<usize>,
    likeness: Likeness<'s>,
    placed: ById<Placed>,
    /// Objects on the way to which this one is placed.
    open: HashSet<Oid>,
    zlib: Zlib,
    /// The object that another became the difference to last: files that are made together all become the difference to one.
    base: Option<(Oid, Option<Base>)>,
    out: Out,
}

/// Where an entry is, and how many differences it takes to read it.
#[derive(Clone, Copy)]
struct Placed {
    offset: u64,
    depth: usize,
}

impl Joined<'_> {
    /// Places an object, and before it what it is the difference to. `None` if it waits for itself, or too many wait.
    fn place(&mut self, id: Oid) -> io::Result<Option<Placed>> {
        if let Some(placed) = self.placed.get(&id) {
            return Ok(Some(*placed));
        }
        let Some((at, row)) = self.chosen.get(&id).copied() else { return Ok(None) };
        if self.open.len() > DEPTH || !self.open.insert(id) {
            return Ok(None);
        }
        let placed = self.place_entry(id, at, row);
        self.open.remove(&id);
        if let Ok(Some(placed)) = &placed {
            self.placed.insert(id, *placed);
        }
        placed
    }

    fn place_entry(&mut self, id: Oid, at: usize, row: usize) -> io::Result<Option<Placed>> {
        let (kind, base) = self.sources[at].shape(row)?;
        let bytes = self.sources[at].read(row)?;
        if let Some(base) = base {
            let base = self.sources[at].entries[base].id;
            let Some(base) = self.place(base)? else { return Ok(None) };
            let head = Head::of(&bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut moved = Head::write(head.size, self.out.at - base.offset);
            moved.extend_from_slice(&bytes[head.bytes..]);
            return self.out.append(id, &moved).map(|offset| Some(Placed { offset, depth: base.depth + 1 }));
        }
        if let Some(placed) = self.place_difference(id, kind, &bytes)? {
            return Ok(Some(placed));
        }
        let offset = match kind {
            TREE => {
                let smaller = self.deflated(bytes)?;
                self.out.append(id, &smaller)?
            }
            _ => self.out.append(id, &bytes)?,
        };
        Ok(Some(Placed { offset, depth: 0 }))
    }

    /// The difference of a whole object, with its entry, to one that it resembles, if that is worth it.
    fn place_difference(&mut self, id: Oid, kind: u8, whole: &[u8]) -> io::Result<Option<Placed>> {
        let kind = match kind {
            TREE => ObjectType::Tree,
            BLOB => ObjectType::Blob,
            _ => return Ok(None),
        };
        let Some(base) = self.likeness.like(id) else { return Ok(None) };
        let height = self.heights.get(&id).copied().unwrap_or(0);
        let Some(placed) = self.place(base)?.filter(|base| base.depth + 1 + height <= DEPTH) else { return Ok(None) };
        if self.base.as_ref().is_none_or(|(known, _)| *known != base) {
            self.base = Some((base, self.likeness.content(base, kind).and_then(Base::new)));
        }
        let head = Head::of(whole).ok_or(io::ErrorKind::UnexpectedEof)?;
        let content = self.zlib.inflate(&whole[head.bytes..], head.size)?;
        let delta = self.base.as_ref().and_then(|(_, base)| base.as_ref()?.delta(&content));
        let Some(delta) = delta else { return Ok(None) };
        let mut entry = Head::write(delta.len() as u64, self.out.at - placed.offset);
        self.zlib.deflate(&delta, &mut entry)?;
        if entry.len() * WORTH.1 > whole.len() * WORTH.0 {
            return Ok(None);
        }
        let offset = self.out.append(id, &entry)?;
        Ok(Some(Placed { offset, depth: placed.depth + 1 }))
    }

    /// A folder's entry; if it was written without compression, compressed.
    fn deflated(&mut self, entry: Vec<u8>) -> io::Result<Vec<u8>> {
        let head = Head::of(&entry).ok_or(io::ErrorKind::UnexpectedEof)?;
        if !entry[head.bytes..].starts_with(STORED_BLOCK) {
            return Ok(entry);
        }
        let content = self.zlib.inflate(&entry[head.bytes..], head.size)?;
        let mut smaller = entry[..head.bytes].to_vec();
        self.zlib.deflate(&content, &mut smaller)?;
        Ok(if smaller.len() < entry.len() { smaller } else { entry })
    }
}

/// A compressor and its opposite, used for one content after another: to make one takes longer than to compress a small content.
struct Zlib {
    deflate: Compress,
    inflate: Decompress,
}

impl Zlib {
    fn new() -> Self {
        Self { deflate: Compress::new(Compression::default(), true), inflate: Decompress::new(true) }
    }

    fn deflate(&mut self, content: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
        self.deflate.reset();
        loop {
            into.reserve(content.len() / 2 + 64);
            let rest = &content[self.deflate.total_in() as usize..];
            if self.deflate.compress_vec(rest, into, FlushCompress::Finish)? == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    fn inflate(&mut self, stream: &[u8], size: u64) -> io::Result<Vec<u8>> {
        self.inflate.reset(true);
        let size = usize::try_from(size).ok().filter(|size| *size <= crate::limits::DOCUMENT_BYTES);
        let mut content = Vec::with_capacity(size.ok_or(io::ErrorKind::InvalidData)? + 1);
        let status = self.inflate.decompress_vec(stream, &mut content, FlushDecompress::Finish)?;
        if status == Status::StreamEnd && Some(content.len()) == size {
            Ok(content)
        } else {
            Err(io::ErrorKind::InvalidData.into())
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
        join(&sandbox.store(), &folder, &stems.iter().map(PathBuf::as_path).collect::<Vec<_>>()).unwrap()
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
        assert!((20..=DEPTH).contains(&deepest), "{deepest}");
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
