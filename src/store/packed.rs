//! The objects of several packs by number, and what each holds.
//!
//! A table of objects by their ids would take a multiple of this. Contents are put together here and not asked of libgit2: it looks
//! each object up in all packs twice, and follows its differences twice, for its size and for its content.

use std::fs::metadata;
use std::io;
use std::path::Path;
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use git2::Oid;

use super::bulk::Entry;
use super::pack::{Head, Source};
use super::{Recent, delta};
use crate::limits;

/// Bytes of contents that are remembered: the versions of one file are read one after the other.
const REMEMBERED: usize = 16 << 20;
/// More differences are never put together to read one object: git itself allows 4095.
const DEEPEST: usize = 4096;
/// In a table of numbers: none.
pub(super) const NONE: u32 = u32::MAX;

/// Objects are numbered as the packs hold them, one pack after the other.
pub(super) struct Packed {
    sources: Vec<Source>,
    /// The number of the first object of each pack, and of the one after the last.
    firsts: Vec<u32>,
    kinds: Vec<u8>,
    /// The object that one is the difference to, or [`NONE`].
    bases: Vec<u32>,
    /// Numbers in the order of their ids; of an object that several packs hold, the first.
    by_id: Vec<u32>,
    /// Where in that order ids begin whose first two bytes are at least these.
    fan: Vec<u32>,
    inflate: Inflate,
    recent: Recent<u32, (u8, Arc<[u8]>)>,
}

impl Packed {
    /// Oldest first: of two packs that hold an object, the older one's is taken.
    pub fn open(stems: &[&Path]) -> io::Result<Self> {
        let mut stems = stems.to_vec();
        stems.sort_by_cached_key(|stem| metadata(stem.with_extension("pack")).and_then(|m| m.modified()).ok());
        let (mut sources, mut firsts) = (Vec::new(), vec![0]);
        let (mut kinds, mut bases) = (Vec::new(), Vec::new());
        for stem in stems {
            let source = Source::open(stem)?;
            let first = firsts[firsts.len() - 1];
            for (kind, base) in source.shapes()? {
                kinds.push(kind);
                bases.push(base.map_or(NONE, |row| first + row as u32));
            }
            let next = u32::try_from(kinds.len()).ok().filter(|next| *next < NONE);
            firsts.push(next.ok_or(io::ErrorKind::InvalidData)?);
            sources.push(source);
        }
        let recent = Recent::new(REMEMBERED);
        let (by_id, fan) = (Vec::new(), Vec::new());
        let mut packed = Self { sources, firsts, kinds, bases, by_id, fan, inflate: Inflate::new(), recent };
        packed.sort();
        Ok(packed)
    }

    fn sort(&mut self) {
        let mut by_id: Vec<u32> = (0..self.kinds.len() as u32).collect();
        by_id.sort_unstable_by_key(|number| (self.entry(*number).id, *number));
        by_id.dedup_by_key(|number| self.entry(*number).id);
        let mut fan = vec![0; (1 << 16) + 1];
        for number in &by_id {
            fan[bucket(self.entry(*number).id) + 1] += 1;
        }
        for at in 1..fan.len() {
            fan[at] += fan[at - 1];
        }
        (self.by_id, self.fan) = (by_id, fan);
    }

    /// The count of numbers; an object that several packs hold has as many.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The count of objects.
    pub fn distinct(&self) -> usize {
        self.by_id.len()
    }

    /// The number of an object, if it is here.
    pub fn number(&self, id: Oid) -> Option<u32> {
        let at = bucket(id);
        let among = &self.by_id[self.fan[at] as usize..self.fan[at + 1] as usize];
        among.binary_search_by_key(&id, |number| self.entry(*number).id).ok().map(|at| among[at])
    }

    /// The number by which an object with several is read.
    pub fn first(&self, number: u32) -> u32 {
        self.number(self.entry(number).id).unwrap_or(number)
    }

    fn place(&self, number: u32) -> (usize, usize) {
        let source = self.firsts.partition_point(|first| *first <= number) - 1;
        (source, (number - self.firsts[source]) as usize)
    }

    /// An object's id and where its entry lies.
    pub fn entry(&self, number: u32) -> Entry {
        let (source, row) = self.place(number);
        self.sources[source].entries[row]
    }

    /// The kind of an entry, as git's packs number them.
    pub fn kind(&self, number: u32) -> u8 {
        self.kinds[number as usize]
    }

    /// The object to which an entry is the difference.
    pub fn base(&self, number: u32) -> Option<u32> {
        Some(self.bases[number as usize]).filter(|base| *base != NONE)
    }

    /// An entry as it stands in its pack.
    pub fn read(&mut self, number: u32) -> io::Result<Vec<u8>> {
        let (source, row) = self.place(number);
        self.sources[source].read(row)
    }

    /// The bytes that an entry holds: a content, or a difference.
    pub fn inflated(&mut self, entry: &[u8]) -> io::Result<Vec<u8>> {
        let head = Head::of(entry).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.inflate.content(&entry[head.bytes..], head.size)
    }

    /// The kind and the content of an object; `None` if it cannot be read, or is larger than any document.
    pub fn content(&mut self, number: u32) -> Option<(u8, Arc<[u8]>)> {
        let (mut at, mut way) = (number, Vec::new());
        let (kind, mut content) = loop {
            if let Some(known) = self.recent.get(&at) {
                break known;
            }
            match self.base(at) {
                Some(base) if way.len() < DEEPEST => {
                    way.push(at);
                    at = base;
                }
                Some(_) => return None,
                None => break self.remembered(at, self.kind(at), None)?,
            }
        };
        for at in way.into_iter().rev() {
            content = self.remembered(at, kind, Some(&content))?.1;
        }
        Some((kind, content))
    }

    fn remembered(&mut self, number: u32, kind: u8, base: Option<&[u8]>) -> Option<(u8, Arc<[u8]>)> {
        let entry = self.read(number).ok()?;
        let said = self.inflated(&entry).ok()?;
        let content: Arc<[u8]> = match base {
            Some(base) => delta::apply(base, &said, limits::DOCUMENT_BYTES)?.into(),
            None => said.into(),
        };
        self.recent.put(number, (kind, Arc::clone(&content)), content.len());
        Some((kind, content))
    }
}

fn bucket(id: Oid) -> usize {
    id.as_bytes().first_chunk().map_or(0, |first| usize::from(u16::from_be_bytes(*first)))
}

/// Used for one content after another: to make one takes longer than to read a small content.
struct Inflate(Decompress);

impl Inflate {
    fn new() -> Self {
        Self(Decompress::new(true))
    }

    fn content(&mut self, stream: &[u8], size: u64) -> io::Result<Vec<u8>> {
        self.0.reset(true);
        let size = usize::try_from(size).ok().filter(|size| *size <= limits::DOCUMENT_BYTES);
        let mut content = Vec::with_capacity(size.ok_or(io::ErrorKind::InvalidData)? + 1);
        let status = self.0.decompress_vec(stream, &mut content, FlushDecompress::Finish)?;
        if status == Status::StreamEnd && Some(content.len()) == size {
            Ok(content)
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}
