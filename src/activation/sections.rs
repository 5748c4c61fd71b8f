//! The container of a snapshot: typed arrays in one row of bytes, to be looked at where they lie.
//!
//! Header, table, arrays. The header names the version, the key (of what the arrays were derived) and two checksums: of header
//! and table, which every opening verifies, and of the arrays, which costs a reading of all of them. Little-endian machines
//! alone read and write it: it never leaves the machine. Must not know files, or what the arrays mean.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use twox_hash::XxHash3_64;

/// The first bytes of every snapshot.
const MAGIC: [u8; 8] = *b"gitbrain";
/// Raised with every change of what any array means: other versions are not read, but made anew.
const VERSION: u32 = 13;
/// Arrays start at multiples of this, so that any of their types is aligned.
const ALIGN: usize = 64;

/// What a snapshot was derived from, hashed: 20 bytes, as git's object ids.
pub type Key = [u8; 20];

/// The header, as it lies in the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
struct Header {
    magic: [u8; 8],
    version: u32,
    /// How many entries the table has.
    sections: u32,
    key: Key,
    /// The key of the snapshot that this one lies over, if `over` is 1.
    beneath: Key,
    /// 1, in the byte order of the machine that wrote it.
    order: u32,
    over: u32,
    /// All bytes.
    length: u64,
    /// Of everything after the table.
    body: u64,
    /// Of this header with 0 here, and the table.
    head: u64,
}

/// One array of the table, as it lies in the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
struct Entry {
    tag: u32,
    /// Bytes of one element.
    width: u32,
    start: u64,
    /// Bytes.
    length: u64,
}

/// Why bytes are no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// Not one of ours, or another version's.
    #[error("it was made by another version")]
    Foreign,
    /// Cut off, or longer than it says.
    #[error("it has {found} bytes instead of {wanted}")]
    Length {
        /// Bytes that are there.
        found: u64,
        /// Bytes that the header says.
        wanted: u64,
    },
    /// A checksum does not fit.
    #[error("the checksum of its {0} does not fit")]
    Checksum(&'static str),
    /// It was derived from something else.
    #[error("it was made of something else")]
    Key,
    /// An array is missing or lies outside.
    #[error("array {0} is not as it must be")]
    Section(u32),
}

/// Bytes that somebody holds: made in memory, or mapped from a file.
#[derive(Clone)]
pub struct Bytes(Arc<dyn Deref<Target = [u8]> + Send + Sync>);

impl Bytes {
    /// Holds a memory map or the like.
    pub fn held(holder: impl Deref<Target = [u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(holder))
    }

    /// A copy in memory, aligned as a file's bytes are.
    pub fn copied(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::held(Aligned { words, length: bytes.len() })
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// Bytes in memory that are aligned as a file's are.
struct Aligned {
    words: Vec<u64>,
    length: usize,
}

impl Deref for Aligned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.length]
    }
}

/// Puts arrays together.
#[derive(Default)]
pub struct Writer {
    entries: Vec<Entry>,
    /// The bytes of each array, up to where the next one starts.
    arrays: Vec<Vec<u64>>,
    length: usize,
}

impl Writer {
    /// Adds an array under a tag that no other has.
    pub fn put<T: Pod>(&mut self, tag: u32, array: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(array);
        let padded = bytes.len().next_multiple_of(ALIGN);
        let mut words = vec![0_u64; padded / 8];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let width = size_of::<T>() as u32;
        self.entries.push(Entry { tag, width, start: self.length as u64, length: bytes.len() as u64 });
        self.arrays.push(words);
        self.length += padded;
    }

    /// The finished snapshot. `beneath` is what it lies over, if it says only what differs from another one.
    pub fn finish(mut self, key: Key, beneath: Option<Key>) -> Bytes {
        let first = (size_of::<Header>() + self.entries.len() * size_of::<Entry>()).next_multiple_of(ALIGN);
        self.entries.iter_mut().for_each(|entry| entry.start += first as u64);
        let length = first + self.length;
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            sections: self.entries.len() as u32,
            key,
            beneath: beneath.unwrap_or_default(),
            order: 1,
            over: u32::from(beneath.is_some()),
            length: length as u64,
            body: 0,
            head: 0,
        };
        let mut words = Vec::with_capacity(length / 8);
        words.resize(first / 8, 0);
        // Each goes as soon as it is copied.
        self.arrays.into_iter().for_each(|array| words.extend_from_slice(&array));
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let table: &[u8] = bytemuck::cast_slice(&self.entries);
        bytes[size_of::<Header>()..][..table.len()].copy_from_slice(table);
        header.body = XxHash3_64::oneshot(&bytes[first..]);
        bytes[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        header.head = XxHash3_64::oneshot(&bytes[..first]);
        bytes[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        Bytes::held(Aligned { words, length })
    }
}

/// The arrays of a snapshot whose header was verified.
#[derive(Clone, Debug)]
pub struct Sections {
    bytes: Bytes,
    entries: Vec<Entry>,
    key: Key,
    beneath: Option<Key>,
    first: usize,
    body: u64,
}

impl Sections {
    /// Reads header and table and verifies both. The arrays themselves are not looked at: see [`Sections::verify`].
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn open(bytes: Bytes) -> Result<Self, Damaged> {
        let head = bytes.get(..size_of::<Header>()).ok_or(Damaged::Foreign)?;
        let header: Header = bytemuck::pod_read_unaligned(head);
        if header.magic != MAGIC || header.version != VERSION || header.order != 1 {
            return Err(Damaged::Foreign);
        }
        if header.length != bytes.len() as u64 {
            return Err(Damaged::Length { found: bytes.len() as u64, wanted: header.length });
        }
        let table = (header.sections as usize).checked_mul(size_of::<Entry>());
        let first = table.and_then(|table| (size_of::<Header>() + table).checked_next_multiple_of(ALIGN));
        let first = first.filter(|first| *first <= bytes.len()).ok_or(Damaged::Checksum("header"))?;
        let mut covered = bytes[..first].to_vec();
        covered[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&Header { head: 0, ..header }));
        if XxHash3_64::oneshot(&covered) != header.head {
            return Err(Damaged::Checksum("header"));
        }
        let table = &covered[size_of::<Header>()..][..header.sections as usize * size_of::<Entry>()];
        let entries = table.chunks_exact(size_of::<Entry>()).map(bytemuck::pod_read_unaligned).collect();
        let beneath = (header.over == 1).then_some(header.beneath);
        Ok(Self { bytes, entries, key: header.key, beneath, first, body: header.body })
    }

    /// Verifies all arrays: reads every byte.
    ///
    /// # Errors
    /// The checksum does not fit.
    pub fn verify(&self) -> Result<(), Damaged> {
        let fits = XxHash3_64::oneshot(&self.bytes[self.first..]) == self.body;
        if fits { Ok(()) } else { Err(Damaged::Checksum("arrays")) }
    }

    /// What it was derived from.
    pub fn key(&self) -> Key {
        self.key
    }

    /// What it lies over, if it says only what differs.
    pub fn beneath(&self) -> Option<Key> {
        self.beneath
    }

    /// All bytes, as they are stored.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The array under a tag.
    ///
    /// # Errors
    /// It is missing, or of another type.
    pub fn array<T: Pod>(&self, tag: u32) -> Result<&[T], Damaged> {
        let entry = self.entries.iter().find(|entry| entry.tag == tag && entry.width as usize == size_of::<T>());
        let bytes = entry.and_then(|entry| {
            let start = usize::try_from(entry.start).ok()?;
            self.bytes.get(start..start.checked_add(usize::try_from(entry.length).ok()?)?)
        });
        bytes.and_then(|bytes| bytemuck::try_cast_slice(bytes).ok()).ok_or(Damaged::Section(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Bytes {
        let mut writer = Writer::default();
        writer.put(1, &[1_u32, 2, 3]);
        writer.put(2, &[7_u16; 100]);
        writer.put::<i64>(3, &[]);
        writer.finish([9; 20], None)
    }

    #[test]
    fn arrays_come_back_as_they_were() {
        let sections = Sections::open(sample()).unwrap();
        assert_eq!(sections.array::<u32>(1), Ok(&[1, 2, 3][..]));
        assert_eq!(sections.array::<u16>(2).map(<[u16]>::len), Ok(100));
        assert_eq!(sections.array::<i64>(3), Ok(&[][..]));
        assert_eq!(sections.array::<u16>(1), Err(Damaged::Section(1)), "of another type");
        assert_eq!(sections.array::<u16>(4), Err(Damaged::Section(4)));
        assert_eq!((sections.key(), sections.beneath(), sections.verify()), ([9; 20], None, Ok(())));
    }

    #[test]
    fn a_snapshot_of_another_version_is_not_read() {
        let mut other = sample().to_vec();
        let first = (size_of::<Header>() + 3 * size_of::<Entry>()).next_multiple_of(ALIGN);
        let mut header: Header = bytemuck::pod_read_unaligned(&other[..size_of::<Header>()]);
        (header.version, header.head) = (VERSION - 1, 0);
        other[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        header.head = XxHash3_64::oneshot(&other[..first]);
        other[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        assert_eq!(Sections::open(Bytes::held(other)).map(drop), Err(Damaged::Foreign));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let good = sample().to_vec();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            let opened = Sections::open(Bytes::held(bad)).and_then(|sections| sections.verify());
            assert!(opened.is_err(), "byte {at}");
            let cut = Sections::open(Bytes::held(good[..at].to_vec())).map(drop);
            assert!(cut.is_err(), "cut at {at}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(Sections::open(Bytes::held(longer)).is_err());
    }
}
