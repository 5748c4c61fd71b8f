//! A single-document network as parts of an import.
//!
//! Read twice: first only cut, for the neurons' ids and places; then part by part, in the order of the tree. So a file
//! of any size needs a few dozen bytes a neuron.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::patch::Patch;
use super::{ImportProgress, Input, Label, Parts, folder_number};
use crate::cycle::CycleError;
use crate::limits;
use crate::model::Stamp;
use crate::model::cutter::{Cutter, Piece};
use crate::model::ids::NeuronId;
use crate::model::json::{self, JsonError};
use crate::model::portable::{PortableMetadata, PortableNeuron};
use crate::model::secret::Secrets;
use crate::world::WorldError;

/// What is read at once, bytes.
const CHUNK: usize = 4 << 20;

/// A document of which the places of all neurons are known.
pub(super) struct Document {
    file: std::path::PathBuf,
    name: String,
    /// Sorted by (folder, id).
    rows: Vec<Row>,
    places: Places,
    /// Where each part begins in `rows`.
    starts: Vec<usize>,
    latest: Stamp,
    secrets: Arc<Secrets>,
}

/// One neuron's place.
struct Row {
    id: NeuronId,
    folder: u16,
    length: u32,
    ordinal: u32,
    line: u32,
    offset: u64,
}

/// Which ids are in the rows: a hash table of their numbers, as each connection of a document asks for one.
#[derive(Default)]
struct Places {
    /// Number of a row, from 1; 0: free. A power of two, at most half full.
    table: Vec<u32>,
    /// Random, so that no document can be made to collide.
    hasher: RandomState,
}

impl Places {
    fn of(rows: &[Row]) -> Self {
        let mut places = Self { table: vec![0; (rows.len() * 2).next_power_of_two()], hasher: RandomState::new() };
        for (number, row) in (1..).zip(rows) {
            let free = places.probe(&row.id).find(|at| places.table[*at] == 0);
            places.table[free.expect("invariant: the table is at most half full")] = number;
        }
        places
    }

    fn has(&self, rows: &[Row], id: &NeuronId) -> bool {
        let found = self.probe(id).map(|at| self.table[at]).take_while(|number| *number != 0);
        found.into_iter().any(|number| rows[number as usize - 1].id == *id)
    }

    /// Where an id may stand, in the order of looking.
    fn probe(&self, id: &NeuronId) -> impl Iterator<Item = usize> + use<> {
        let (mask, start) = (self.table.len() - 1, self.hasher.hash_one(id.as_str()) as usize);
        (0..=mask).map(move |step| (start.wrapping_add(step)) & mask)
    }
}

/// Complete pieces of the document, with the bytes that they lie in.
struct Batch {
    bytes: Vec<u8>,
    start: u64,
    first: u32,
    pieces: Vec<Piece>,
}

impl Document {
    /// Cuts a file, and checks what is outside its neurons and that no id stands twice.
    pub fn read(
        input: &Input,
        now: Stamp,
        secrets: &Arc<Secrets>,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<(Self, Label), CycleError> {
        let (file, name) = (&input.path, input.name.clone());
        let (rows, sha256) = index(file, &name, progress)?;
        let latest = Stamp::from_unix(now.unix() + limits::FUTURE_SECONDS);
        let mut document = Self {
            file: file.clone(),
            name: name.clone(),
            rows,
            places: Places::default(),
            starts: Vec::new(),
            latest,
            secrets: Arc::clone(secrets),
        };
        document.sort()?;
        document.places = Places::of(&document.rows);
        document.divide();
        Ok((document, Label { file: name, name: input.short(secrets), sha256 }))
    }

    fn sort(&mut self) -> Result<(), CycleError> {
        self.rows.sort_unstable_by(|a, b| (a.folder, &a.id, a.ordinal).cmp(&(b.folder, &b.id, b.ordinal)));
        let twice = self.rows.windows(2).filter(|pair| pair[0].id == pair[1].id).map(|pair| &pair[1]);
        let Some(row) = twice.min_by_key(|row| row.ordinal) else { return Ok(()) };
        let path = format!("neurons[{}].id", row.ordinal);
        Err(JsonError::at(&self.name, row.line as usize, &path, format!("{} stands here twice", row.id)).into())
    }

    fn divide(&mut self) {
        let (mut neurons, mut bytes) = (0, 0);
        for (at, row) in self.rows.iter().enumerate() {
            let length = u64::from(row.length);
            if at == 0 || neurons == limits::IMPORT_NEURONS || bytes + length > limits::IMPORT_BYTES {
                self.starts.push(at);
                (neurons, bytes) = (0, 0);
            }
            neurons += 1;
            bytes += length;
        }
    }

    fn patch(&self, row: &Row, bytes: &[u8]) -> Result<Patch, CycleError> {
        let place = format!("neurons[{}]", row.ordinal);
        let clean = self.secrets.redact_json(bytes);
        let wish = PortableNeuron::decode(clean.as_deref().unwrap_or(bytes), &self.name)
            .map_err(|e| placed(e, u64::from(row.line), row.ordinal))?;
        if wish.id != row.id {
            let message = "the file was changed while it was read";
            return Err(JsonError::at(&self.name, row.line as usize, &place, message).into());
        }
        if let Some((stamp, field)) = wish.latest_stamp().filter(|(stamp, _)| *stamp > self.latest) {
            return Err(CycleError::refused(format!(
                "{}, line {}, {place}.{field}: {stamp} is more than {} minutes ahead of this machine",
                self.name,
                row.line,
                limits::FUTURE_SECONDS / 60
            )));
        }
        Ok(Patch::of_document(wish, place, u64::from(row.line)))
    }
}

impl Parts for Document {
    fn count(&self) -> usize {
        self.starts.len()
    }

    fn neurons(&self) -> usize {
        self.rows.len()
    }

    fn part(&self, index: usize) -> Result<Vec<Patch>, CycleError> {
        let end = self.starts.get(index + 1).copied().unwrap_or(self.rows.len());
        let rows = &self.rows[self.starts[index]..end];
        let mut file = open(&self.file)?;
        let mut patches = Vec::with_capacity(rows.len());
        let mut bytes = Vec::new();
        // In the order of the file, so that the first error is the first for its reader too.
        let mut order: Vec<&Row> = rows.iter().collect();
        order.sort_unstable_by_key(|row| row.offset);
        for row in order {
            bytes.resize(row.length as usize, 0);
            file.seek(SeekFrom::Start(row.offset))
                .and_then(|_| file.read_exact(&mut bytes))
                .map_err(unread(&self.file))?;
            patches.push(self.patch(row, &bytes)?);
        }
        patches.sort_by_cached_key(|patch| (folder_number(&patch.wish.id), patch.wish.id.clone()));
        Ok(patches)
    }

    fn brings(&self, id: &NeuronId) -> bool {
        self.places.has(&self.rows, id)
    }
}

fn open(file: &Path) -> Result<File, CycleError> {
    File::open(file).map_err(unread(file))
}

fn unread(file: &Path) -> impl Fn(std::io::Error) -> CycleError + '_ {
    |source| WorldError::Read { path: file.display().to_string(), source }.into()
}

/// An error inside a neuron, in the document's lines and paths.
fn placed(error: JsonError, line: u64, ordinal: u32) -> CycleError {
    let path = match error.path.as_str() {
        "" => format!("neurons[{ordinal}]"),
        inside => format!("neurons[{ordinal}].{inside}"),
    };
    let column = if error.line == 1 { 0 } else { error.column };
    JsonError { line: error.line + line as usize - 1, column, path, ..error }.into()
}

/// Cuts the file on one thread while another reads the ids: a row for each neuron, and the SHA-256 of the file.
fn index(file: &Path, name: &str, progress: &mut dyn FnMut(ImportProgress)) -> Result<(Vec<Row>, String), CycleError> {
    let (sender, receiver) = sync_channel::<Batch>(2);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut rows = Vec::new();
            for batch in receiver {
                ids(&batch, name, &mut rows)?;
            }
            Ok::<_, CycleError>(rows)
        });
        let mut send = |batch| sender.send(batch).is_ok();
        let cut = cut(file, name, &mut send, progress);
        drop(sender);
        // An error inside a neuron stands before whatever the cutter stumbled over behind it.
        let rows = reader.join().unwrap_or_else(|_| Err(CycleError::Busy("a thread was cut off".to_owned())))?;
        Ok((rows, cut?))
    })
}

fn cut(
    path: &Path,
    name: &str,
    send: &mut dyn FnMut(Batch) -> bool,
    progress: &mut dyn FnMut(ImportProgress),
) -> Result<String, CycleError> {
    let mut file = open(path)?;
    let total = file.metadata().map_err(unread(path))?.len();
    let mut sha = Sha256::new();
    let mut cutter = Cutter::new(name);
    let (mut bytes, mut start, mut done) = (Vec::new(), 0_u64, 0_u64);
    let mut count = 0_u32;
    loop {
        let fresh = bytes.len();
        let read = (&mut file).take(CHUNK as u64).read_to_end(&mut bytes).map_err(unread(path))?;
        if read == 0 {
            break;
        }
        sha.update(&bytes[fresh..]);
        let mut pieces = Vec::new();
        let cut = cutter.feed(&bytes[fresh..], &mut pieces);
        done += read as u64;
        progress(ImportProgress::Reading(done, total));
        let kept = (cutter.needed_from() - start) as usize;
        let rest = bytes.get(kept..).unwrap_or_default().to_vec();
        if rest.len() > limits::IMPORT_NEURON_BYTES {
            let message = format!("is longer than {} bytes", limits::IMPORT_NEURON_BYTES);
            return Err(JsonError::at(name, cutter.line() as usize, &format!("neurons[{count}]"), message).into());
        }
        let first = count;
        for piece in &pieces {
            match &piece.field {
                None => count = count.checked_add(1).ok_or_else(|| CycleError::refused("too many neurons"))?,
                Some(field) => {
                    let from = (piece.offset - start) as usize;
                    check_field(field, &bytes[from..from + piece.length as usize], name, piece.line)?;
                }
            }
        }
        pieces.retain(|piece| piece.field.is_none());
        let next = start + kept as u64;
        // The reader stops at its first error, which is the answer.
        if !send(Batch { bytes, start, first, pieces }) {
            return Ok(String::new());
        }
        cut?;
        (bytes, start) = (rest, next);
    }
    cutter.finish()?;
    Ok(sha.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn check_field(field: &str, bytes: &[u8], name: &str, line: u64) -> Result<(), CycleError> {
    let placed = |e: JsonError| {
        let path = if e.path.is_empty() { field.to_owned() } else { format!("{field}.{}", e.path) };
        CycleError::Json(JsonError { line: e.line + line as usize - 1, path, ..e })
    };
    match field {
        "$schema" => json::strict::<String>(bytes, name, limits::DELTA_BYTES).map(drop).map_err(placed),
        "metadata" => json::strict::<PortableMetadata>(bytes, name, limits::DELTA_BYTES).map(drop).map_err(placed),
        _ => Err(JsonError::at(name, line as usize, "", format!("unknown field `{field}`")).into()),
    }
}

/// The ids of a batch's neurons. A neuron that cannot be read is refused here.
fn ids(batch: &Batch, name: &str, rows: &mut Vec<Row>) -> Result<(), CycleError> {
    #[derive(Deserialize)]
    struct Named {
        id: NeuronId,
    }
    for (piece, ordinal) in batch.pieces.iter().zip(batch.first..) {
        let from = (piece.offset - batch.start) as usize;
        let bytes = &batch.bytes[from..from + piece.length as usize];
        let id = match serde_json::from_slice::<Named>(bytes) {
            Ok(named) => named.id,
            Err(error) => {
                let precise = PortableNeuron::decode(bytes, name).err();
                let plain = || JsonError::at(name, error.line().max(1), "", error.to_string());
                return Err(placed(precise.unwrap_or_else(plain), piece.line, ordinal));
            }
        };
        let too_long = || JsonError::at(name, piece.line as usize, &format!("neurons[{ordinal}]"), "is too far down");
        rows.push(Row {
            folder: folder_number(&id),
            id,
            length: u32::try_from(piece.length).map_err(|_| too_long())?,
            ordinal,
            line: u32::try_from(piece.line).map_err(|_| too_long())?,
            offset: piece.offset,
        });
    }
    Ok(())
}
