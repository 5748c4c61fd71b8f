//! Vectors of texts in the private folder: what an endpoint was paid for once, by the hash of the text.
//!
//! One file a model: a header, then records of one size, which are only ever added. Who adds holds
//! [`LockName::Vectors`](super::LockName::Vectors), and cuts off what a killed process left half-written behind the last whole record,
//! so that whole records never change, and whoever has mapped them goes on with them. Each has a checksum; one that does not fit is
//! passed over, and its text is new again. A file whose header does not fit is replaced as a whole. Nothing is synced to the disk.
//!
//! Numbers are kept as whole ones from -127 to 127, in proportion: a quarter of the bytes, and the angle between two vectors of some
//! hundred numbers changes in its third digit.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{Read, Write};
use std::path::PathBuf;

use bytemuck::{Pod, Zeroable};
use twox_hash::XxHash3_64;

use super::{Store, cache};
use crate::activation::sections::Bytes;
use crate::limits;
use crate::model::ids::hex_hash;

const MAGIC: [u8; 8] = *b"gbvector";
/// Raised with every change of what a record means.
const VERSION: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable, Pod)]
struct Header {
    magic: [u8; 8],
    version: u32,
    /// Numbers of each vector.
    dimensions: u32,
    /// 1, in the byte order of the machine that wrote it.
    order: u64,
    /// Of all before it.
    checksum: u64,
}

/// What stands before the numbers of a record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
struct Head {
    /// Hash of the text.
    text: u64,
    /// Of all that stands behind it in the record, seeded with the hash.
    checksum: u64,
    /// Length of the vector of whole numbers; 0 for a text that the model refuses.
    norm: f32,
    padding: u32,
}

const HEADER: usize = size_of::<Header>();
const HEAD: usize = size_of::<Head>();

impl Header {
    fn new(dimensions: usize) -> Self {
        let mut header = Self { magic: MAGIC, version: VERSION, dimensions: dimensions as u32, order: 1, checksum: 0 };
        header.checksum = XxHash3_64::oneshot(&bytemuck::bytes_of(&header)[..HEADER - 8]);
        header
    }

    /// The header of a file that begins so, if it is one of ours and whole.
    fn read(bytes: &[u8]) -> Option<Self> {
        let header: Self = bytemuck::pod_read_unaligned(bytes.get(..HEADER)?);
        let dimensions = header.dimensions as usize;
        let sane = (1..=limits::EMBEDDING_DIMENSIONS).contains(&dimensions);
        (sane && header == Self::new(dimensions)).then_some(header)
    }
}

/// Bytes of a record.
fn width(dimensions: usize) -> usize {
    HEAD + dimensions.next_multiple_of(8)
}

/// The bytes of one record.
fn record(text: u64, codes: &[i8]) -> Vec<u8> {
    let norm = f64::from(dot(codes, codes)).sqrt() as f32;
    let mut bytes = vec![0; width(codes.len())];
    let mut head = Head { text, checksum: 0, norm, padding: 0 };
    bytes[HEAD..HEAD + codes.len()].copy_from_slice(bytemuck::cast_slice(codes));
    bytes[..HEAD].copy_from_slice(bytemuck::bytes_of(&head));
    head.checksum = checksum(&bytes);
    bytes[..HEAD].copy_from_slice(bytemuck::bytes_of(&head));
    bytes
}

fn checksum(record: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(head(record).text, &record[16..])
}

fn head(record: &[u8]) -> Head {
    bytemuck::pod_read_unaligned(&record[..HEAD])
}

fn is_whole(record: &[u8]) -> bool {
    checksum(record) == head(record).checksum
}

/// Whole numbers from -127 to 127 in the proportions of a vector.
fn codes(vector: &[f32]) -> Vec<i8> {
    let most = vector.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    vector.iter().map(|x| (x / most * 127.0).round() as i8).collect()
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// Keys are hashes already.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = XxHash3_64::oneshot(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A vector of another length than the model's others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a vector of {found} numbers, where the kept ones have {kept}; if the model was changed, remove {path}")]
pub struct OtherLength {
    /// Its numbers.
    pub found: usize,
    /// Those of the others.
    pub kept: usize,
    /// Where the others are.
    pub path: String,
}

/// The vectors of one model: those that are kept, and those that were added since.
pub struct Vectors {
    path: PathBuf,
    dimensions: Option<usize>,
    kept: Option<Bytes>,
    added: Vec<u8>,
    /// How many bytes of those lie in the file by now.
    written: usize,
    /// Number of the record of each text: of the kept ones, then of the added ones.
    places: HashMap<u64, u32, BuildHasherDefault<Same>>,
    /// How many records `kept` has.
    whole: usize,
}

impl Vectors {
    /// Whether it is known what a text is to the model: a vector, or nothing that it takes.
    pub fn has(&self, text: u64) -> bool {
        self.places.contains_key(&text)
    }

    /// The cosine of the angle between the vectors of two texts, -1 to 1; `None` unless both have one.
    pub fn cosine(&self, a: u64, b: u64) -> Option<f64> {
        let ((norm_a, a), (norm_b, b)) = (self.get(a)?, self.get(b)?);
        Some((f64::from(dot(a, b)) / (norm_a * norm_b)).clamp(-1.0, 1.0))
    }

    fn get(&self, text: u64) -> Option<(f64, &[i8])> {
        let dimensions = self.dimensions?;
        let (at, width) = (*self.places.get(&text)? as usize, width(dimensions));
        let record = match at.checked_sub(self.whole) {
            None => self.kept.as_ref()?.get(HEADER + at * width..)?.get(..width)?,
            Some(at) => self.added.get(at * width..)?.get(..width)?,
        };
        let norm = f64::from(head(record).norm);
        (norm > 0.0).then(|| (norm, bytemuck::cast_slice(&record[HEAD..HEAD + dimensions])))
    }

    /// Adds the vector of a text.
    ///
    /// # Errors
    /// It is of another length than the others.
    pub fn add(&mut self, text: u64, vector: &[f32]) -> Result<(), OtherLength> {
        let kept = *self.dimensions.get_or_insert(vector.len());
        if kept != vector.len() {
            return Err(OtherLength { found: vector.len(), kept, path: self.path.display().to_string() });
        }
        self.push(text, &codes(vector));
        Ok(())
    }

    /// Remembers that the model takes no such text, so that it is not asked again. Nothing, while no vector is known.
    pub fn refuse(&mut self, text: u64) {
        if let Some(dimensions) = self.dimensions {
            self.push(text, &vec![0; dimensions]);
        }
    }

    fn push(&mut self, text: u64, codes: &[i8]) {
        let at = self.whole + self.added.len() / width(codes.len());
        self.added.extend(record(text, codes));
        self.places.insert(text, at as u32);
    }

    fn open(path: PathBuf) -> Self {
        let places = HashMap::default();
        let mut vectors = Self { path, dimensions: None, kept: None, added: Vec::new(), written: 0, places, whole: 0 };
        let mapped = File::open(&vectors.path).ok().and_then(|file| cache::map(&file).ok());
        let Some(bytes) = mapped else { return vectors };
        let Some(header) = Header::read(&bytes) else {
            tracing::info!("{} is damaged and will be made anew", vectors.path.display());
            return vectors;
        };
        let dimensions = header.dimensions as usize;
        let records = bytes[HEADER..].chunks_exact(width(dimensions));
        vectors.whole = records.len();
        vectors.places.reserve(records.len());
        let whole = records.zip(0_u32..).filter(|(record, _)| is_whole(record));
        vectors.places.extend(whole.map(|(record, at)| (head(record).text, at)));
        (vectors.dimensions, vectors.kept) = (Some(dimensions), Some(bytes));
        vectors
    }

    /// Puts what was added behind what lies in the file, or makes the file.
    fn write(&self, dimensions: usize) -> std::io::Result<()> {
        let new = &self.added[self.written..];
        if let Ok(mut file) = OpenOptions::new().read(true).append(true).open(&self.path) {
            let mut first = [0; HEADER];
            let fits = file.read_exact(&mut first).is_ok() && Header::read(&first) == Some(Header::new(dimensions));
            if fits {
                let length = file.metadata()?.len();
                let torn = (length - HEADER as u64) % width(dimensions) as u64;
                file.set_len(length - torn)?;
                return file.write_all(new);
            }
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix("tmp-").tempfile_in(folder)?;
        file.write_all(bytemuck::bytes_of(&Header::new(dimensions)))?;
        file.write_all(new)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl Store {
    /// The vectors that are kept of a model, which its name and address tell from all others.
    pub fn vectors(&self, model: &str) -> Vectors {
        let name = hex_hash(model.as_bytes(), 16);
        Vectors::open(self.private_dir().join("embeddings").join(name).with_extension("vectors"))
    }

    /// Keeps what was added. Only for who holds [`LockName::Vectors`](super::LockName::Vectors), and has read them since. What cannot
    /// be written stays known to this process.
    pub fn keep_vectors(&self, vectors: &mut Vectors) {
        let Some(dimensions) = vectors.dimensions.filter(|_| vectors.written < vectors.added.len()) else { return };
        match vectors.write(dimensions) {
            Ok(()) => vectors.written = vectors.added.len(),
            Err(error) => tracing::info!("{} could not be kept: {error}", vectors.path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::Sandbox;

    fn wave(seed: u64, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|at| ((seed as f32 + 1.0) * (at as f32 + 0.3)).sin()).collect()
    }

    fn exact(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn angles_are_kept_to_the_third_digit_whatever_the_length() {
        for dimensions in [1, 7, 8, 384, 1536] {
            let sandbox = Sandbox::brain();
            let store = sandbox.store();
            let mut vectors = store.vectors("m");
            for text in 1..20 {
                let vector: Vec<f32> =
                    wave(text, dimensions).iter().map(|x| x * 10_f32.powi(text as i32 - 9)).collect();
                vectors.add(text, &vector).unwrap();
            }
            let before = vectors.cosine(1, 2);
            store.keep_vectors(&mut vectors);
            let kept = store.vectors("m");
            assert_eq!(kept.cosine(1, 2), before, "the same to the bit, from the file");
            for (a, b) in (1..20).flat_map(|a| (1..20).map(move |b| (a, b))) {
                let expected = exact(&wave(a, dimensions), &wave(b, dimensions));
                let found = kept.cosine(a, b).unwrap();
                assert!((found - expected).abs() < 0.01, "{dimensions}: {a}, {b}: {found} for {expected}");
            }
            assert!(kept.has(19) && !kept.has(20));
            assert_eq!(kept.cosine(1, 20), None);
            assert!(!store.vectors("another").has(1), "each model has its own");
        }
    }

    #[test]
    fn what_two_processes_add_is_all_there() {
        let sandbox = Sandbox::brain();
        let (one, two) = (sandbox.store(), sandbox.store());
        let (mut first, mut second) = (one.vectors("m"), two.vectors("m"));
        first.add(1, &[1.0, 0.0]).unwrap();
        one.keep_vectors(&mut first);
        second.add(2, &[0.0, 1.0]).unwrap();
        two.keep_vectors(&mut second);
        first.add(3, &[1.0, 1.0]).unwrap();
        one.keep_vectors(&mut first);
        let all = one.vectors("m");
        assert!((1..=3).all(|text| all.has(text)));
        assert_eq!(all.cosine(1, 2), Some(0.0));
        assert!((all.cosine(1, 3).unwrap() - 0.5_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn what_a_killed_process_left_is_cut_off_and_every_damage_is_noticed() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let mut vectors = store.vectors("m");
        (1..=3).for_each(|text| vectors.add(text, &wave(text, 9)).unwrap());
        store.keep_vectors(&mut vectors);
        let path = vectors.path.clone();
        let good = std::fs::read(&path).unwrap();
        let known = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            (1..=3).filter(|text| store.vectors("m").has(*text)).count()
        };
        assert_eq!(known(&good), 3);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x20;
            assert_eq!(known(&bad), if at < HEADER { 0 } else { 2 }, "byte {at}");
            let whole = at.saturating_sub(HEADER) / width(9);
            assert_eq!(known(&good[..at]), whole, "cut at {at}");
            let mut again = store.vectors("m");
            again.add(9, &wave(9, 9)).unwrap();
            store.keep_vectors(&mut again);
            assert!(store.vectors("m").has(9), "cut at {at}: what is added is found");
            assert_eq!((1..=3).filter(|text| store.vectors("m").has(*text)).count(), whole, "cut at {at}");
        }
    }

    #[test]
    fn other_lengths_are_refused_and_refused_texts_are_known_without_a_vector() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let mut vectors = store.vectors("m");
        vectors.refuse(7);
        assert!(!vectors.has(7), "nothing is known of a model that never answered");
        vectors.add(1, &[1.0, 2.0]).unwrap();
        vectors.refuse(7);
        store.keep_vectors(&mut vectors);
        let mut kept = store.vectors("m");
        assert!(kept.has(7));
        assert_eq!((kept.cosine(1, 7), kept.cosine(7, 7)), (None, None));
        let error = kept.add(2, &[1.0]).unwrap_err();
        assert_eq!((error.found, error.kept), (1, 2));
        assert!(error.to_string().contains("git-brain/embeddings/"), "{error}");
    }
}
