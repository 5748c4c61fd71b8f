//! Joining packs: what is in several packs, copied as it stands into one.
//!
//! Our own packs hold whole objects. To put such packs together, nothing has to be unpacked, hashed or compared: entries are
//! copied byte by byte, and the indexes say what they are and whether they are still what was written. That takes a
//! tenth of the processor time of `git pack-objects`, which is left with what needs thought: packs with deltas.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;
use git2::Oid;
use sha1::{Digest, Sha1};

use super::StoreError;
use super::bulk::{BUFFER, Entry, Hidden, LONG, header, hex, index_bytes, temporary};

/// How an index of version 2 begins, and where its ids do: after the table of 256 counts. Source: git's `gitformat-pack`.
pub(super) const INDEX_MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
pub(super) const INDEX_IDS: usize = 8 + 256 * 4;
/// Bytes of an id, and of a checksum of a whole file.
pub(super) const ID: usize = 20;
/// The bits of an entry's first byte that tell its kind, and the two kinds that need another object.
const KIND: u8 = 0x70;
const DELTAS: [u8; 2] = [6 << 4, 7 << 4];
/// Entries that are looked at to tell whether a pack has deltas.
const LOOKED_AT: usize = 64;
/// No entry of ours is longer: documents are bounded, and zlib never makes them twice as long.
const ENTRY_BYTES: u64 = 2 * crate::limits::DOCUMENT_BYTES as u64;

/// Makes one pack of several, durable and under names that git does not look at. `None` if that cannot be done by copying: one has
/// deltas, is damaged, or went away meanwhile.
pub(super) fn join(folder: &Path, stems: &[&Path]) -> Result<Option<Hidden>, StoreError> {
    match copy(folder, stems) {
        Ok(made) => Ok(made),
        Err(e) if [io::ErrorKind::NotFound, io::ErrorKind::UnexpectedEof].contains(&e.kind()) => Ok(None),
        Err(e) => Err(StoreError::file(folder)(e)),
    }
}

/// True if a pack seems to hold whole objects only. Looks at some entries.
pub(super) fn is_plain(stem: &Path) -> io::Result<bool> {
    let source = Source::open(stem)?;
    let mut file = File::open(stem.with_extension("pack"))?;
    for entry in source.entries.iter().step_by(source.entries.len().div_ceil(LOOKED_AT).max(1)) {
        let mut kind = [0];
        file.seek(SeekFrom::Start(entry.offset))?;
        file.read_exact(&mut kind)?;
        if DELTAS.contains(&(kind[0] & KIND)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pack to copy from: its entries in the order of their offsets, and where the last one ends.
struct Source {
    entries: Vec<Entry>,
    end: u64,
}

impl Source {
    fn open(stem: &Path) -> io::Result<Self> {
        let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let index = std::fs::read(stem.with_extension("idx"))?;
        let body = index.strip_prefix(INDEX_MAGIC).ok_or_else(cut_off)?;
        let count = index.get(INDEX_IDS - 4..INDEX_IDS).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
        let count = count.ok_or_else(cut_off)? as usize;
        let (ids, rest) = body.get(256 * 4..).and_then(|b| b.split_at_checked(count * ID)).ok_or_else(cut_off)?;
        let (crcs, rest) = rest.split_at_checked(count * 4).ok_or_else(cut_off)?;
        let (offsets, long) = rest.split_at_checked(count * 4).ok_or_else(cut_off)?;
        let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("invariant: four bytes"));
        let offset = |short: u32| match u64::from(short) {
            short if short < LONG => Some(short),
            short => {
                let row = (short - LONG) as usize * 8;
                long.get(row..row + 8)?.try_into().ok().map(u64::from_be_bytes)
            }
        };
        let rows = ids.chunks_exact(ID).zip(crcs.chunks_exact(4)).zip(offsets.chunks_exact(4));
        let entry = |((id, crc), short): ((&[u8], &[u8]), &[u8])| {
            Some(Entry { id: Oid::from_bytes(id).ok()?, crc: word(crc), offset: offset(word(short))? })
        };
        let mut entries = rows.map(entry).collect::<Option<Vec<_>>>().ok_or_else(cut_off)?;
        entries.sort_unstable_by_key(|entry| entry.offset);
        let length = std::fs::metadata(stem.with_extension("pack"))?.len();
        Ok(Self { entries, end: length.checked_sub(ID as u64).ok_or_else(cut_off)? })
    }

    /// Each entry and how many bytes it has.
    fn lengths(&self) -> impl Iterator<Item = (&Entry, u64)> {
        let ends = self.entries.iter().skip(1).map(|next| next.offset).chain([self.end]);
        self.entries.iter().zip(ends).map(|(entry, end)| (entry, end.saturating_sub(entry.offset)))
    }
}

fn copy(folder: &Path, stems: &[&Path]) -> io::Result<Option<Hidden>> {
    let sources = stems.iter().map(|stem| Source::open(stem)).collect::<io::Result<Vec<_>>>()?;
    let distinct: HashSet<Oid> = sources.iter().flat_map(|source| &source.entries).map(|entry| entry.id).collect();
    let Ok(count) = u32::try_from(distinct.len()) else { return Ok(None) };
    let mut out = Out::new(folder, count)?;
    let mut left = distinct;
    let mut bytes = Vec::new();
    for (source, stem) in sources.iter().zip(stems) {
        let mut pack = BufReader::with_capacity(BUFFER, File::open(stem.with_extension("pack"))?);
        let first = source.entries.first().map_or(0, |entry| entry.offset);
        pack.seek(SeekFrom::Start(first))?;
        for (entry, length) in source.lengths() {
            if length == 0 || length > ENTRY_BYTES {
                return Ok(None);
            }
            bytes.resize(length as usize, 0);
            pack.read_exact(&mut bytes)?;
            if !left.remove(&entry.id) {
                continue;
            }
            let mut crc = Crc::new();
            crc.update(&bytes);
            if crc.sum() != entry.crc || DELTAS.contains(&(bytes[0] & KIND)) {
                return Ok(None);
            }
            out.append(entry, &bytes)?;
        }
    }
    out.finish().map(Some)
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

    fn append(&mut self, entry: &Entry, bytes: &[u8]) -> io::Result<()> {
        self.entries.push(Entry { offset: self.at, ..*entry });
        self.write(bytes)
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
    fn packs_with_deltas_and_damaged_ones_are_left_to_git() {
        let sandbox = with_packs();
        let folder = sandbox.path().join(".git/objects/pack");
        assert!(stems(&folder).iter().all(|stem| is_plain(stem).unwrap()));
        let pack = stems(&folder)[0].with_extension("pack");
        let whole = std::fs::read(&pack).unwrap();
        let replace = |bytes: &[u8]| {
            std::fs::remove_file(&pack).unwrap();
            std::fs::write(&pack, bytes).unwrap();
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
        let store = sandbox.store();
        let long: String = (0..4000).map(|n| format!("{n} ")).collect();
        for n in 0..4 {
            advance(&store, store.wake(), vec![write("long", &format!("{long}{n}"))]);
        }
        sandbox.git(&["repack", "-adfq", "--depth=50", "--window=50"]);
        assert!(!is_plain(&stems(&folder)[0]).unwrap());
        assert!(joined(&sandbox).is_none(), "deltas");
        assert!(
            !std::fs::read_dir(&folder).unwrap().flatten().any(|e| e.file_name().to_string_lossy().starts_with("tmp"))
        );
    }
}
