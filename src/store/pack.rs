//! Reading packs: what an index says of them, and what stands before each entry.
//!
//! A pack may be anybody's, in a folder that was copied: an index is believed no further than its pack bears it out.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use git2::Oid;

use super::bulk::{Entry, LONG, entry_head};

/// How an index of version 2 begins, and where its ids do: after the table of 256 counts. Source: git's `gitformat-pack`.
pub(super) const INDEX_MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
pub(super) const INDEX_IDS: usize = 8 + 256 * 4;
/// Bytes of an id, and of a checksum of a whole file.
pub(super) const ID: usize = 20;
/// The kinds of entries, in the bits 4 to 6 of their first byte: a tag is 4.
const KINDS: [u8; 6] = [1, 2, 3, 4, 6, 7];
pub(super) const COMMIT: u8 = 1;
pub(super) const TREE: u8 = 2;
pub(super) const BLOB: u8 = 3;
/// The difference to an entry that lies so many bytes before.
pub(super) const OFFSET_DELTA: u8 = 6;
/// The difference to an object that may be anywhere.
pub(super) const OBJECT_DELTA: u8 = 7;
/// A length takes at most ten bytes, and so does a distance.
const HEAD: usize = 20;
/// Bytes that are read at once where heads of entries are looked at.
const READ_AHEAD: usize = 256 << 10;
/// No entry of ours is longer: documents are bounded, and zlib never makes them twice as long.
const ENTRY_BYTES: u64 = 2 * crate::limits::DOCUMENT_BYTES as u64;
/// More differences are never put together to read one object: git itself allows 4095.
const DEEPEST: usize = 4096;

/// A pack to copy from: its entries in the order of their offsets, and where the last one ends.
pub(super) struct Source {
    pub entries: Vec<Entry>,
    end: u64,
    pack: File,
}

impl Source {
    pub fn open(stem: &Path) -> io::Result<Self> {
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
        let pack = File::open(stem.with_extension("pack"))?;
        let length = pack.metadata()?.len();
        Ok(Self { entries, end: length.checked_sub(ID as u64).ok_or_else(cut_off)?, pack })
    }

    /// An entry as it stands in the pack, held against its checksum.
    pub fn read(&mut self, row: usize) -> io::Result<Vec<u8>> {
        let entry = self.entries[row];
        let end = self.entries.get(row + 1).map_or(self.end, |next| next.offset);
        let length = end.saturating_sub(entry.offset);
        if length == 0 || length > ENTRY_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; length as usize];
        self.pack.seek(SeekFrom::Start(entry.offset))?;
        self.pack.read_exact(&mut bytes)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        if crc.sum() == entry.crc { Ok(bytes) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// The object, by its name, that an entry is the difference to.
    fn named(&mut self, row: usize) -> io::Result<Option<Oid>> {
        let mut head = [0; 40];
        self.pack.seek(SeekFrom::Start(self.entries[row].offset))?;
        let read = self.pack.read(&mut head)?;
        let bytes = Head::of(&head[..read]).ok_or(io::ErrorKind::UnexpectedEof)?.bytes;
        Ok(head.get(bytes..bytes + ID).and_then(|name| Oid::from_bytes(name).ok()))
    }

    /// The kind of each entry, and of a difference the row of what it is one to.
    pub fn shapes(&self) -> io::Result<Vec<(u8, Option<usize>)>> {
        let mut pack = BufReader::with_capacity(READ_AHEAD, &self.pack);
        let mut at = pack.seek(SeekFrom::Start(0))?;
        let mut shapes = Vec::with_capacity(self.entries.len());
        let mut head = Vec::with_capacity(HEAD);
        for Entry { offset, .. } in &self.entries {
            pack.seek_relative((offset - at) as i64)?;
            head.clear();
            at = offset + pack.by_ref().take(HEAD as u64).read_to_end(&mut head)? as u64;
            pack.seek_relative(*offset as i64 - at as i64)?;
            at = *offset;
            let parts = Head::of(&head).ok_or(io::ErrorKind::UnexpectedEof)?;
            if !KINDS.contains(&parts.kind) || parts.distance == Some(0) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let base = parts.distance.map(|distance| {
                let at = offset.checked_sub(distance).ok_or(io::ErrorKind::InvalidData)?;
                self.entries.binary_search_by_key(&at, |entry| entry.offset).map_err(|_| io::ErrorKind::InvalidData)
            });
            shapes.push((parts.kind, base.transpose()?));
        }
        Ok(shapes)
    }
}

/// What stands before the compressed bytes of an entry. Source: git's `gitformat-pack`.
pub(super) struct Head {
    pub kind: u8,
    /// Length of what is compressed.
    pub size: u64,
    /// How far before it lies what it is the difference to.
    pub distance: Option<u64>,
    /// Bytes of all this.
    pub bytes: usize,
}

impl Head {
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let first = *bytes.first()?;
        let (mut size, mut shift, mut at) = (u64::from(first & 15), 4, 1);
        let mut last = first;
        while last & 0x80 > 0 {
            last = *bytes.get(at)?;
            size |= u64::from(last & 0x7f).checked_shl(shift)?;
            (shift, at) = (shift + 7, at + 1);
        }
        let kind = first >> 4 & 7;
        let mut distance = None;
        if kind == OFFSET_DELTA {
            let mut byte = *bytes.get(at)?;
            let mut value = u64::from(byte & 0x7f);
            at += 1;
            while byte & 0x80 > 0 {
                byte = *bytes.get(at)?;
                value = (value.checked_add(1)?).checked_mul(128)? | u64::from(byte & 0x7f);
                at += 1;
            }
            distance = Some(value);
        }
        Some(Self { kind, size, distance, bytes: at })
    }

    /// Of a difference to what lies so many bytes before.
    pub fn write(size: u64, distance: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        entry_head(OFFSET_DELTA, size, &mut bytes);
        let mut digits = vec![(distance & 0x7f) as u8];
        let mut rest = distance >> 7;
        while rest > 0 {
            rest -= 1;
            digits.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.extend(digits.iter().rev());
        bytes
    }
}

/// Whether git can be given a pack to work on: each entry is of a known kind, and no difference leads back to itself or on for very long. Git looks
/// for neither, and would not end.
pub(super) fn is_sound(stem: &Path) -> bool {
    let depths = || -> io::Result<bool> {
        let mut source = Source::open(stem)?;
        let mut bases = Vec::with_capacity(source.entries.len());
        let mut rows: Vec<(Oid, usize)> = source.entries.iter().enumerate().map(|(row, e)| (e.id, row)).collect();
        rows.sort_unstable();
        for (row, (kind, base)) in source.shapes()?.into_iter().enumerate() {
            let named = if kind == OBJECT_DELTA { source.named(row)? } else { None };
            let here = named.and_then(|id| rows.binary_search_by_key(&id, |(id, _)| *id).ok().map(|at| rows[at].1));
            bases.push(base.or(here));
        }
        let mut known = vec![None; bases.len()];
        for row in 0..bases.len() {
            let (mut at, mut way) = (row, Vec::new());
            let below = loop {
                match (known[at], bases[at]) {
                    (Some(depth), _) => break depth,
                    (None, None) => break 0,
                    _ if way.len() > DEEPEST => return Ok(false),
                    (None, Some(base)) => {
                        way.push(at);
                        at = base;
                    }
                }
            };
            known[at] = Some(below);
            for (more, at) in way.iter().rev().enumerate() {
                known[*at] = Some(below + more + 1);
            }
            if below + way.len() > DEEPEST {
                return Ok(false);
            }
        }
        Ok(true)
    };
    depths().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::bulk::{header, hex, index_bytes};
    use sha1::{Digest, Sha1};

    #[test]
    fn heads_of_entries_are_read_as_they_are_written() {
        for size in [0, 1, 15, 16, 2047, 2048, 1 << 20, u64::from(u32::MAX)] {
            for distance in [1, 127, 128, 16_511, 16_512, 2_113_663, 2_113_664, 1 << 40] {
                let bytes = Head::write(size, distance);
                let head = Head::of(&bytes).unwrap();
                assert_eq!((head.size, head.distance, head.bytes), (size, Some(distance), bytes.len()));
                assert!(Head::of(&bytes[..bytes.len() - 1]).is_none(), "cut off");
            }
        }
    }

    /// A pack of these entries, without their compressed bytes.
    fn pack(folder: &Path, entries: &[(u8, Vec<u8>)]) -> std::path::PathBuf {
        let mut bytes = header(entries.len() as u32).to_vec();
        let mut list = Vec::new();
        for (n, (id, entry)) in entries.iter().enumerate() {
            let mut name = [*id; 20];
            name[19] = if *id == 0 { n as u8 } else { *id };
            name[18] = if *id == 0 { (n >> 8) as u8 } else { *id };
            list.push(Entry { id: Oid::from_bytes(&name).unwrap(), crc: 0, offset: bytes.len() as u64 });
            bytes.extend_from_slice(entry);
        }
        let checksum: [u8; 20] = Sha1::digest(&bytes).into();
        bytes.extend_from_slice(&checksum);
        list.sort_unstable_by_key(|entry| entry.id);
        let stem = folder.join(format!("pack-{}", hex(&checksum)));
        std::fs::write(stem.with_extension("idx"), index_bytes(&list, &checksum)).unwrap();
        std::fs::write(stem.with_extension("pack"), bytes).unwrap();
        stem
    }

    #[test]
    fn what_git_would_never_end_with_is_known() {
        let room = tempfile::tempdir().unwrap();
        let by_name = |id: u8| [&[7 << 4][..], &[id; 20]].concat();
        let sound = |entries: &[(u8, Vec<u8>)]| is_sound(&pack(room.path(), entries));
        assert!(sound(&[(1, vec![3 << 4]), (2, Head::write(0, 1)), (3, by_name(2)), (4, by_name(9))]));
        assert!(!sound(&[(1, by_name(1))]), "itself");
        assert!(!sound(&[(1, by_name(2)), (2, by_name(1))]), "each other");
        assert!(!sound(&[(1, vec![3 << 4]), (2, Head::write(0, 0))]), "no distance");
        assert!(!sound(&[(1, vec![5 << 4])]), "no kind");
        let chain = |length: usize| -> Vec<(u8, Vec<u8>)> {
            let next = |n: usize| Head::write(0, if n == 1 { 1 } else { 2 });
            (0..length).map(|n| (0, if n == 0 { vec![3 << 4] } else { next(n) })).collect()
        };
        assert!(sound(&chain(DEEPEST)));
        assert!(!sound(&chain(DEEPEST + 10)), "too long a way");
    }
}
