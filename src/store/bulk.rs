//! Writing very many objects: one pack, streamed to disk, packed on as many threads as the caller likes.
//!
//! [`ObjectWriter`](super::ObjectWriter) keeps its batch in memory, which is right for a run and wrong for a hundred
//! thousand files. Here a [`Packer`] per thread turns contents into pack entries (hashed, deflated, no deltas), and one
//! [`BulkWriter`] appends them to a temporary file beside the packs. Memory is 32 bytes an object. Nothing is
//! visible before [`BulkWriter::finish`], and a writer that is dropped leaves nothing behind.

use std::collections::{BTreeMap, HashSet};
use std::fs::File as DiskFile;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use fs2::FileExt;
use git2::{ObjectType, Oid};
use sha1::{Digest, Sha1};
use tempfile::NamedTempFile;

use super::disk::sync_folder;
use super::{BlobId, File, Guard, Store, StoreError, TreeId};

/// Neurons are small and alike: beyond this level zlib takes twice the time for some percent.
const LEVEL: u32 = 3;
/// Folders up to so many bytes are not compressed: they are mostly hashes, and zlib takes most of the time of a commit to
/// save four bytes of a hundred.
const STORED: usize = 4096;
/// What is written to the disk at once, bytes.
pub(super) const BUFFER: usize = 1 << 20;
/// Objects that are not worth a thread of their own.
const FEW: usize = 256;
/// What is in a `.keep` of ours.
pub(super) const KEEP_TEXT: &str = "git-brain\n";
/// Offsets from here on stand in the index' table of long ones.
pub(super) const LONG: u64 = 1 << 31;

/// Turns contents into pack entries. One per thread.
pub struct Packer {
    guard: Option<Guard>,
    zlib: Compress,
    /// Where zlib writes to: handing it the end of a large buffer would clear the rest of that each time.
    out: Vec<u8>,
}

/// Pack entries that wait to be appended.
#[derive(Default)]
pub struct Packed {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// One object: its id, the checksum of its packed bytes, and where these start.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub id: Oid,
    pub crc: u32,
    pub offset: u64,
}

impl Packer {
    /// A packer of objects that were looked at when they were made.
    fn of_objects() -> Self {
        Self { guard: None, zlib: Compress::new(Compression::new(LEVEL), true), out: vec![0; 16 << 10] }
    }
}

impl Packer {
    /// A packer of contents that nobody has looked at yet.
    #[must_use]
    pub fn new(guard: Guard) -> Self {
        Self { guard: Some(guard), ..Self::of_objects() }
    }

    /// Adds a file's content.
    pub fn blob(&mut self, content: &[u8], into: &mut Packed) -> Result<BlobId, StoreError> {
        let guard = self.guard.as_ref().expect("invariant: only packers with a guard take contents");
        guard.check(ObjectType::Blob, content)?;
        let id = hash(ObjectType::Blob, content)?;
        self.pack(ObjectType::Blob, id, content, into)?;
        Ok(BlobId(id))
    }

    fn pack(&mut self, kind: ObjectType, id: Oid, content: &[u8], into: &mut Packed) -> Result<(), StoreError> {
        let start = into.bytes.len();
        entry_header(kind, content.len(), &mut into.bytes);
        if kind == ObjectType::Tree && content.len() <= STORED {
            stored(content, &mut into.bytes);
        } else {
            self.deflate(content, into)?;
        }
        let mut crc = Crc::new();
        crc.update(&into.bytes[start..]);
        into.entries.push(Entry { id, crc: crc.sum(), offset: start as u64 });
        Ok(())
    }

    fn deflate(&mut self, content: &[u8], into: &mut Packed) -> Result<(), StoreError> {
        self.zlib.reset();
        loop {
            let (read, written) = (self.zlib.total_in() as usize, self.zlib.total_out());
            let status = self.zlib.compress(&content[read..], &mut self.out, FlushCompress::Finish);
            let status =
                status.map_err(|e| StoreError::git("packing an object", git2::Error::from_str(&e.to_string())))?;
            into.bytes.extend_from_slice(&self.out[..(self.zlib.total_out() - written) as usize]);
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }
}

/// The first bytes of a zlib stream whose only block is not compressed.
pub(super) const STORED_BLOCK: &[u8] = &[0x78, 0x01, 0x01];

/// A zlib stream of one block that is not compressed. Source: RFC 1950 and RFC 1951, 3.2.4.
fn stored(content: &[u8], into: &mut Vec<u8>) {
    let length = u16::try_from(content.len()).expect("invariant: shorter than a block");
    into.extend_from_slice(STORED_BLOCK);
    into.extend_from_slice(&length.to_le_bytes());
    into.extend_from_slice(&(!length).to_le_bytes());
    into.extend_from_slice(content);
    into.extend_from_slice(&adler32(content).to_be_bytes());
}

/// The checksum of a zlib stream, of at most [`STORED`] bytes: below 5552 the sums cannot overflow. Source: RFC 1950.
fn adler32(content: &[u8]) -> u32 {
    let (a, b) = content.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = a + u32::from(*byte);
        (a, b + a)
    });
    ((b % 65_521) << 16) | (a % 65_521)
}

fn hash(kind: ObjectType, content: &[u8]) -> Result<Oid, StoreError> {
    // libgit2's, which notices known attacks on SHA-1.
    Oid::hash_object(kind, content).map_err(|e| StoreError::git(format!("hash of a {kind}"), e))
}

/// The kind and length that stand before an object in a pack. Source: git's `gitformat-pack`.
fn entry_header(kind: ObjectType, length: usize, into: &mut Vec<u8>) {
    let number: u8 = match kind {
        ObjectType::Commit => 1,
        ObjectType::Tree => 2,
        ObjectType::Tag => 4,
        _ => 3,
    };
    entry_head(number, length as u64, into);
}

/// The same by the number of the kind.
pub(super) fn entry_head(number: u8, length: u64, into: &mut Vec<u8>) {
    let mut byte = number << 4 | (length & 15) as u8;
    let mut rest = length >> 4;
    while rest > 0 {
        into.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    into.push(byte);
}

/// A pack of objects that are in memory, with its index.
///
/// Without deltas: looking for them takes half the processor time of a merge of a hundred runs, and saves 8 % of the
/// space of one run and a third of such a merge's. A night finds them (`maintain`).
pub(super) struct WholePack {
    bytes: Vec<u8>,
    index: Vec<u8>,
    name: String,
}

impl WholePack {
    /// Packs objects, sorted by id, on as many processors as there are.
    pub fn of(objects: &[(Oid, ObjectType, &[u8])]) -> Result<Self, StoreError> {
        let count = u32::try_from(objects.len()).map_err(|_| too_many("of this batch"))?;
        let mut bytes = header(count).to_vec();
        let mut entries = Vec::with_capacity(objects.len());
        for packed in pack_all(objects)? {
            let start = bytes.len() as u64;
            entries.extend(packed.entries.iter().map(|e| Entry { offset: start + e.offset, ..*e }));
            bytes.extend_from_slice(&packed.bytes);
        }
        let checksum: [u8; 20] = Sha1::digest(&bytes).into();
        bytes.extend_from_slice(&checksum);
        Ok(Self { index: index_bytes(&entries, &checksum), name: format!("pack-{}", hex(&checksum)), bytes })
    }

    /// Writes both files, under names that mean nothing yet, and waits for the disk.
    pub fn write(&self, folder: &Path) -> Result<Hidden, StoreError> {
        let written = |bytes: &[u8]| {
            let mut file = temporary(folder)?;
            file.write_all(bytes).map(|()| file)
        };
        let (pack, index) =
            (|| Ok((written(&self.bytes)?, written(&self.index)?)))().map_err(StoreError::file(folder))?;
        // Side by side, so that a file system with a journal needs one step for both.
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| index.as_file().sync_all());
            (pack.as_file().sync_all(), other.join().expect("invariant: syncing does not panic"))
        });
        one.and(other).map_err(StoreError::file(folder))?;
        Ok(Hidden { folder: folder.to_owned(), name: self.name.clone(), pack, index })
    }
}

/// Packs objects in their order, a part on each processor.
fn pack_all(objects: &[(Oid, ObjectType, &[u8])]) -> Result<Vec<Packed>, StoreError> {
    let part = |objects: &[(Oid, ObjectType, &[u8])]| {
        let (mut packer, mut packed) = (Packer::of_objects(), Packed::default());
        for (id, kind, content) in objects {
            packer.pack(*kind, *id, content, &mut packed)?;
        }
        Ok(packed)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = objects.len().div_ceil(threads).max(FEW);
    if objects.len() <= size {
        return Ok(vec![part(objects)?]);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = objects.chunks(size).map(|objects| scope.spawn(move || part(objects))).collect();
        threads.into_iter().map(|thread| thread.join().expect("invariant: packing does not panic")).collect()
    })
}

/// A pack and its index on disk, under names that git does not look at.
#[must_use = "the files go when this is dropped"]
pub(super) struct Hidden {
    pub folder: PathBuf,
    pub name: String,
    pub pack: NamedTempFile,
    pub index: NamedTempFile,
}

impl Hidden {
    /// Where one of the pack's files belongs.
    pub fn place(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// Gives the files their names, the index last: the pack exists from then on. Waits for the disk.
    pub fn appear(self) -> Result<(), StoreError> {
        let places = [self.place("pack"), self.place("idx")];
        for (made, path) in [self.pack, self.index].into_iter().zip(places) {
            made.persist(&path).map_err(|e| StoreError::file(&path)(e.error))?;
        }
        sync_folder(&self.folder)
    }
}

fn too_many(what: &str) -> StoreError {
    let reason = "it has more objects than a pack may have".to_owned();
    StoreError::BadObject { what: "pack", id: what.to_owned(), reason }
}

/// A pack under way.
#[must_use = "a pack that is not finished is lost"]
pub struct BulkWriter {
    folder: PathBuf,
    file: BufWriter<NamedTempFile>,
    at: u64,
    entries: Vec<Entry>,
    trees: HashSet<Oid>,
    packer: Packer,
}

impl Store {
    /// Begins a pack.
    pub fn bulk(&self) -> Result<BulkWriter, StoreError> {
        let folder = self.common_dir().join("objects/pack");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let mut file = BufWriter::with_capacity(BUFFER, temporary(&folder).map_err(StoreError::file(&folder))?);
        file.write_all(&header(0)).map_err(StoreError::file(&folder))?;
        Ok(BulkWriter {
            folder,
            file,
            at: header(0).len() as u64,
            entries: Vec::new(),
            trees: HashSet::new(),
            packer: Packer::of_objects(),
        })
    }

    /// The files right inside a folder, by name. A folder inside it is refused.
    pub fn plain_files(&self, folder: TreeId, what: &str) -> Result<BTreeMap<String, File>, StoreError> {
        let mut found = BTreeMap::new();
        for (path, file) in self.files(folder, "")? {
            if path.contains('/') || !file.is_regular() {
                let path = format!("{what}/{path}");
                return Err(StoreError::BadPath { path, reason: "nothing but files belongs there" });
            }
            found.insert(path, file);
        }
        Ok(found)
    }
}

/// A name that git's own cleaning knows as rubbish, should we be killed.
pub(super) fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tmp_pack_");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As git has its packs: readable by who may read the repository, writable by nobody.
        builder.permissions(std::fs::Permissions::from_mode(0o444));
    }
    builder.tempfile_in(folder)
}

pub(super) fn header(objects: u32) -> [u8; 12] {
    let mut bytes = *b"PACK\0\0\0\x02\0\0\0\0";
    bytes[8..].copy_from_slice(&objects.to_be_bytes());
    bytes
}

impl BulkWriter {
    /// Appends what a packer made. No object may be appended twice.
    pub fn append(&mut self, packed: &Packed) -> Result<(), StoreError> {
        self.file.write_all(&packed.bytes).map_err(StoreError::file(&self.folder))?;
        let start = self.at;
        self.entries.extend(packed.entries.iter().map(|e| Entry { offset: start + e.offset, ..*e }));
        self.at += packed.bytes.len() as u64;
        Ok(())
    }

    /// Adds a folder of files, by name.
    pub fn folder(&mut self, files: &BTreeMap<String, File>) -> Result<TreeId, StoreError> {
        let mut bytes = Vec::with_capacity(files.len() * 64);
        // Without folders among them, names in the order of their bytes are in git's order.
        for (name, file) in files {
            bytes.extend_from_slice(format!("{:o} {name}\0", file.mode).as_bytes());
            bytes.extend_from_slice(file.blob.0.as_bytes());
        }
        let id = hash(ObjectType::Tree, &bytes)?;
        if self.trees.insert(id) {
            let mut packed = Packed::default();
            self.packer.pack(ObjectType::Tree, id, &bytes, &mut packed)?;
            self.append(&packed)?;
        }
        Ok(TreeId(id))
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Completes the pack and its index and waits until both and their folder are on disk.
    ///
    /// What it gives saves the pack from git's own cleaning: hold it until a ref names what is in the pack.
    pub fn finish(mut self) -> Result<Option<Held>, StoreError> {
        if self.is_empty() {
            return Ok(None);
        }
        let folder = self.folder.clone();
        let file = || StoreError::file(&folder);
        let objects = u32::try_from(self.entries.len()).map_err(|_| too_many("of this import"))?;
        self.file.flush().map_err(file())?;
        let mut pack = self.file.into_inner().map_err(|e| StoreError::file(&folder)(e.into_error()))?;
        let checksum = seal(pack.as_file_mut(), objects).map_err(file())?;
        self.entries.sort_unstable_by_key(|e| e.id);
        let index = temporary(&folder).map_err(file())?;
        let mut out = BufWriter::with_capacity(BUFFER, index);
        out.write_all(&index_bytes(&self.entries, &checksum)).map_err(file())?;
        let index = out.into_inner().map_err(|e| StoreError::file(&folder)(e.into_error()))?;
        index.as_file().sync_all().map_err(file())?;
        let hidden = Hidden { name: format!("pack-{}", hex(&checksum)), pack, index, folder };
        let held = Held::new(hidden.place("keep"))?;
        hidden.appear()?;
        Ok(Some(held))
    }
}

/// A pack's `.keep`, as the batches of [`ObjectWriter`](super::ObjectWriter) have it: locked while it is meant, so that
/// one whose writer was killed is known.
#[must_use = "the pack is safe while this lives"]
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    _file: DiskFile,
}

impl Held {
    fn new(path: PathBuf) -> Result<Self, StoreError> {
        let mut file = DiskFile::create(&path).map_err(StoreError::file(&path))?;
        // Only another writer of the very same pack can hold it; it saves the pack as well.
        let _ = FileExt::try_lock_exclusive(&file);
        file.write_all(KEEP_TEXT.as_bytes()).map_err(StoreError::file(&path))?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Writes the number of objects and the checksum of everything, and waits for the disk.
fn seal(file: &mut DiskFile, objects: u32) -> std::io::Result<[u8; 20]> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header(objects))?;
    file.seek(SeekFrom::Start(0))?;
    let mut sha = Sha1::new();
    let mut buffer = vec![0_u8; BUFFER];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        sha.update(&buffer[..read]);
    }
    let checksum: [u8; 20] = sha.finalize().into();
    file.write_all(&checksum)?;
    file.sync_all()?;
    Ok(checksum)
}

/// The index of a pack, version 2. Source: git's `gitformat-pack`.
pub(super) fn index_bytes(entries: &[Entry], pack: &[u8; 20]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1100 + entries.len() * 28);
    bytes.extend_from_slice(&[0xff, b't', b'O', b'c', 0, 0, 0, 2]);
    for first in 0..=255_u8 {
        let below = entries.partition_point(|e| e.id.as_bytes()[0] <= first);
        bytes.extend_from_slice(&(below as u32).to_be_bytes());
    }
    entries.iter().for_each(|e| bytes.extend_from_slice(e.id.as_bytes()));
    entries.iter().for_each(|e| bytes.extend_from_slice(&e.crc.to_be_bytes()));
    let mut long: Vec<u8> = Vec::new();
    for entry in entries {
        let offset = match u32::try_from(entry.offset) {
            Ok(offset) if entry.offset < LONG => offset,
            _ => {
                let row = (long.len() / 8) as u32;
                long.extend_from_slice(&entry.offset.to_be_bytes());
                row | LONG as u32
            }
        };
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    bytes.extend_from_slice(&long);
    bytes.extend_from_slice(pack);
    let checksum: [u8; 20] = Sha1::digest(&bytes).into();
    bytes.extend_from_slice(&checksum);
    bytes
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::{Sandbox, spec};
    use crate::store::{Change, TreeEdit};

    #[test]
    fn git_reads_what_was_streamed() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let mut bulk = store.bulk().unwrap();
        let (mut packer, mut packed) = (Packer::new(store.guard()), Packed::default());
        let mut files = BTreeMap::new();
        // Lengths around the borders of the length's encoding, one that does not shrink, and an empty one.
        let noise: Vec<u8> = (0..100_000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let contents = [0, 1, 15, 16, 2047, 2048, 70_000].map(|n| noise[..n].to_vec());
        for (i, content) in contents.iter().enumerate() {
            let blob = packer.blob(content, &mut packed).unwrap();
            files.insert(format!("f{i}"), File::plain(blob));
        }
        bulk.append(&packed).unwrap();
        let folder = bulk.folder(&files).unwrap();
        assert_eq!(bulk.folder(&files).unwrap(), folder, "the same folder is stored once");
        let held = bulk.finish().unwrap();
        sandbox.git(&["gc", "-q", "--prune=now"]);
        let tip = store.need_tip(store.wake()).unwrap();
        let writer = store.writer().unwrap();
        let edit = TreeEdit { path: "network/flags".into(), change: Change::PutFolder(folder) };
        let tree = writer.edit(Some(store.tree_of(tip).unwrap()), vec![edit]).unwrap();
        let commit = writer.commit(&spec(tree, &[tip], "bulk", &[])).unwrap();
        writer.publish().unwrap();
        drop(held);
        let keeps = std::fs::read_dir(store.common_dir().join("objects/pack")).unwrap().flatten();
        let bulk_keeps = keeps.filter(|e| e.path().extension().is_some_and(|x| x == "keep")).count();
        assert_eq!(bulk_keeps, 1, "the batch's own alone");
        for (i, content) in contents.iter().enumerate() {
            assert_eq!(store.read(tree, &format!("network/flags/f{i}")).unwrap().as_ref(), Some(content));
        }
        sandbox.git(&["branch", "bulk", &commit.to_string()]);
        sandbox.git(&["fsck", "--full", "--strict"]);
        for pack in std::fs::read_dir(store.common_dir().join("objects/pack")).unwrap() {
            let path = pack.unwrap().path();
            if path.extension().is_some_and(|e| e == "idx") {
                sandbox.git(&["verify-pack", &path.to_string_lossy()]);
            }
        }
    }

    #[test]
    fn offsets_beyond_31_bits_go_to_the_long_table() {
        let id = |n: u8| Oid::from_bytes(&[n; 20]).unwrap();
        let entries: Vec<Entry> =
            [(1, LONG - 1), (2, LONG), (3, 1 << 40)].map(|(n, offset)| Entry { id: id(n), crc: 0, offset }).into();
        let bytes = index_bytes(&entries, &[0; 20]);
        let offsets = 8 + 256 * 4 + 3 * 24;
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([word(offsets), word(offsets + 4), word(offsets + 8)], [0x7fff_ffff, 0x8000_0000, 0x8000_0001]);
        assert_eq!(u64::from_be_bytes(bytes[offsets + 20..offsets + 28].try_into().unwrap()), 1 << 40);
    }

    #[test]
    fn a_dropped_pack_leaves_nothing() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let count = || std::fs::read_dir(store.common_dir().join("objects/pack")).unwrap().count();
        let before = count();
        let mut bulk = store.bulk().unwrap();
        let mut packed = Packed::default();
        Packer::new(store.guard()).blob(b"x", &mut packed).unwrap();
        bulk.append(&packed).unwrap();
        drop(bulk);
        assert_eq!(count(), before);
        assert!(store.bulk().unwrap().finish().unwrap().is_none());
        assert_eq!(count(), before, "and neither does an empty one");
    }
}
