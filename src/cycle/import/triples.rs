//! Triples as parts of an import: `{subject, relation, object, source}` a line.
//!
//! ```text
//! subject --feeds_into--> object                 as strong as the evidence for it in the file
//! episode --recalls-->    subject, object        each of them can retrieve the memory with that source
//! episode --feeds_into--> subject, object        the memory brings them to mind
//! ```
//!
//! A relation's name is evidence and not stored: two relations between the same two concepts count twice, the same line
//! counts once. So the same file again asks for what is there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::patch::{Mode, Patch, Wanted, WeightRule, presence};
use super::{ImportProgress, Input, Label, Parts, folder_number};
use crate::cycle::CycleError;
use crate::limits;
use crate::model::ids::{NeuronId, concept_id, hash_fields};
use crate::model::json::{self, JsonError};
use crate::model::neuron::check_label;
use crate::model::secret::Secrets;
use crate::model::{Kind, Link, layout};
use crate::store::{Store, StoreError, TreeId};
use crate::text;
use crate::world::WorldError;

/// Evidence at which a weight is half of the greatest; as perception has it for words in a text of usual length.
const HALF: f64 = 0.9;
/// Sources without a memory that a note names.
const NAMED: usize = 5;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Triple {
    /// What is spoken of.
    pub subject: String,
    /// What is said of it.
    pub relation: String,
    /// What it is said with.
    pub object: String,
    /// The label of the memory that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// All triples of a file, summed up.
#[derive(Default)]
pub(super) struct Triples {
    concepts: HashMap<NeuronId, (String, u64)>,
    /// Evidence for subject → object.
    edges: HashMap<NeuronId, BTreeMap<NeuronId, u32>>,
    /// How often a source speaks of a concept, and its first line.
    sources: HashMap<String, (BTreeMap<NeuronId, u32>, u64)>,
    floor: u16,
    rows: Vec<Patch>,
    starts: Vec<usize>,
}

impl Triples {
    /// Reads a file. Weights are at least `floor`.
    pub fn read(
        input: &Input,
        floor: u16,
        secrets: &Secrets,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<(Self, Label), CycleError> {
        let name = input.name.clone();
        let unread = |source| CycleError::from(WorldError::Read { path: name.clone(), source });
        let opened = std::fs::File::open(&input.path).map_err(unread)?;
        let total = opened.metadata().map_err(unread)?.len();
        let mut reader = BufReader::with_capacity(1 << 20, opened);
        let mut triples = Self { floor, ..Self::default() };
        let (mut sha, mut seen, mut line) = (Sha256::new(), HashSet::new(), Vec::new());
        let (mut number, mut done) = (0_u64, 0_u64);
        loop {
            line.clear();
            let bound = limits::DELTA_BYTES as u64;
            let read = (&mut reader).take(bound).read_until(b'\n', &mut line).map_err(unread)?;
            if read == 0 {
                break;
            }
            number += 1;
            if read as u64 == bound && !line.ends_with(b"\n") {
                let message = format!("has more than {bound} bytes");
                return Err(JsonError::at(&name, number as usize, "", message).into());
            }
            sha.update(&line);
            done += read as u64;
            if !line.trim_ascii().is_empty() {
                triples.add(secrets.redact_json(&line).as_ref().unwrap_or(&line), &name, number, &mut seen)?;
            }
            if number % 10_000 == 0 {
                progress(ImportProgress::Reading(done, total));
            }
        }
        progress(ImportProgress::Reading(done, total));
        let sha256 = sha.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok((triples, Label { file: name, name: input.short(secrets), sha256 }))
    }

    fn add(&mut self, line: &[u8], name: &str, number: u64, seen: &mut HashSet<u64>) -> Result<(), CycleError> {
        let at = |e: JsonError| CycleError::Json(JsonError { line: number as usize, ..e });
        let fail = |path: &str, message: String| at(JsonError::at(name, 1, path, message));
        let triple: Triple = json::strict(line, name, limits::DELTA_BYTES).map_err(at)?;
        check_label(&triple.relation).map_err(|m| fail("relation", m))?;
        if let Some(source) = &triple.source {
            check_label(source).map_err(|m| fail("source", m))?;
        }
        let mut concept = |path: &str, given: &str| {
            let key = text::key(given);
            if key.trim().is_empty() {
                return Err(fail(path, "is empty".to_owned()));
            }
            let id = concept_id(&key);
            self.concepts.entry(id.clone()).or_insert((key, number));
            Ok(id)
        };
        let (subject, object) = (concept("subject", &triple.subject)?, concept("object", &triple.object)?);
        let source = triple.source.as_deref().unwrap_or("");
        let fields = [subject.as_str(), &triple.relation, object.as_str(), source];
        if !seen.insert(hash_fields(&fields.map(str::as_bytes))) {
            return Ok(());
        }
        if let Some(source) = triple.source {
            let (concepts, _) = self.sources.entry(source).or_insert_with(|| (BTreeMap::new(), number));
            *concepts.entry(subject.clone()).or_default() += 1;
            if subject != object {
                *concepts.entry(object.clone()).or_default() += 1;
            }
        }
        if subject != object {
            *self.edges.entry(subject).or_default().entry(object).or_default() += 1;
        }
        Ok(())
    }

    /// Finds the memories that sources name, in wake, and divides everything into parts. Says what is not there.
    pub fn find_sources(&mut self, store: &Store, dir: &Path) -> Result<Vec<String>, CycleError> {
        let tree = store.tree_of(store.need_tip(store.wake())?)?;
        let episodes = if self.sources.is_empty() { Vec::new() } else { self.episodes(dir, tree)? };
        let mut found: HashSet<&str> = HashSet::new();
        for episode in &episodes {
            let (source, (concepts, line)) =
                self.sources.get_key_value(&episode.source).expect("invariant: only wanted ones are found");
            found.insert(source);
            let mut links = Vec::new();
            for (concept, evidence) in concepts {
                for link in [Link::Recalls, Link::FeedsInto] {
                    links.push(self.wanted(concept, link, *evidence, WeightRule::IfAbsent));
                }
            }
            let wish = presence(episode.id.clone(), &episode.source, Kind::Episodic);
            self.rows.push(Patch { place: "source".to_owned(), line: *line, wish, links, mode: Mode::Link });
        }
        let mut missing: Vec<&String> = self.sources.keys().filter(|s| !found.contains(s.as_str())).collect();
        missing.sort();
        let notes = missing_note(&missing);
        self.divide();
        Ok(notes.into_iter().collect())
    }

    fn divide(&mut self) {
        for (id, (key, line)) in &self.concepts {
            let wish = presence(id.clone(), key, Kind::Semantic);
            let edges = self.edges.get(id).into_iter().flatten();
            let links = edges.map(|(to, n)| self.wanted(to, Link::FeedsInto, *n, WeightRule::AtLeast)).collect();
            let (place, line) = ("subject".to_owned(), *line);
            self.rows.push(Patch { place, line, wish, links, mode: Mode::Ensure });
        }
        self.edges.clear();
        self.rows.sort_by_cached_key(|patch| (folder_number(&patch.wish.id), patch.wish.id.clone()));
        let (mut neurons, mut links) = (0, 0);
        for (at, patch) in self.rows.iter().enumerate() {
            if at == 0 || neurons == limits::IMPORT_NEURONS || links + patch.links.len() > limits::IMPORT_LINKS {
                self.starts.push(at);
                (neurons, links) = (0, 0);
            }
            neurons += 1;
            links += patch.links.len();
        }
    }

    fn wanted(&self, target: &NeuronId, link: Link, evidence: u32, rule: WeightRule) -> Wanted {
        Wanted { target: target.clone(), link, weight: weight(evidence).max(self.floor), rule }
    }

    /// The episodic neurons of a tree that have one of our sources, sorted. Looked at on all processors, once.
    fn episodes(&self, dir: &Path, tree: TreeId) -> Result<Vec<Episode>, CycleError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(limits::PARALLEL_RUNS);
        let next = AtomicUsize::new(0);
        let found = Mutex::new(Vec::new());
        let look = || -> Result<(), CycleError> {
            let store = Store::open(dir)?;
            let mut mine = Vec::new();
            loop {
                let folder = next.fetch_add(1, Ordering::Relaxed);
                if folder > 0xff {
                    break;
                }
                store.each_file(tree, &format!("{}/{folder:02x}", layout::NEURONS), &mut |_, file| {
                    let bytes = store.blob(file.blob)?;
                    mine.extend(episode(&bytes).filter(|e| self.sources.contains_key(&e.source)));
                    Ok::<(), StoreError>(())
                })?;
            }
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(&mut mine);
            Ok(())
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(look)).collect();
            let cut_off = |_| Err(CycleError::Busy("a thread of the import was cut off".to_owned()));
            handles.into_iter().try_for_each(|handle| handle.join().unwrap_or_else(cut_off))
        })?;
        let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort();
        Ok(found)
    }
}

impl Parts for Triples {
    fn count(&self) -> usize {
        self.starts.len()
    }

    fn neurons(&self) -> usize {
        self.rows.len()
    }

    fn part(&self, index: usize) -> Result<Vec<Patch>, CycleError> {
        let end = self.starts.get(index + 1).copied().unwrap_or(self.rows.len());
        Ok(self.rows[self.starts[index]..end].to_vec())
    }

    fn brings(&self, id: &NeuronId) -> bool {
        self.concepts.contains_key(id)
    }
}

/// A memory and its source.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Episode {
    id: NeuronId,
    source: String,
}

/// The memory in a neuron's file. Most neurons have no source, and are not read.
fn episode(bytes: &[u8]) -> Option<Episode> {
    #[derive(Deserialize)]
    struct Labelled {
        id: NeuronId,
        #[serde(rename = "type")]
        kind: Kind,
        #[serde(default)]
        source: Option<String>,
    }
    let key = b"\"source\"";
    bytes.windows(key.len()).any(|window| window == key).then_some(())?;
    let read: Labelled = serde_json::from_slice(bytes).ok()?;
    let source = read.source.filter(|_| read.kind == Kind::Episodic)?;
    Some(Episode { id: read.id, source })
}

fn missing_note(missing: &[&String]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let named: Vec<String> = missing.iter().take(NAMED).map(|s| format!("{s:?}")).collect();
    let more = if missing.len() > NAMED { ", …" } else { "" };
    Some(format!("{} sources have no memory, such as {}{more}", missing.len(), named.join(", ")))
}

/// A weight for so much evidence: 34492 for one, never more than 65535.
fn weight(evidence: u32) -> u16 {
    let n = f64::from(evidence);
    (n / (n + HALF) * 65535.0).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Triples, CycleError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        Triples::read(&Input { path, name: "t.jsonl".into(), _kept: None }, 1024, &Secrets::default(), &mut |_| {})
            .map(|(triples, _)| triples)
    }

    #[test]
    fn evidence_is_summed_and_saturates() {
        assert_eq!([weight(1), weight(2), weight(1_000_000_000)], [34492, 45197, 65535]);
        let line = |relation: &str| {
            format!("{{\"subject\": \"Tea\", \"relation\": \"{relation}\", \"object\": \"caffeine\"}}\n")
        };
        let text = [line("has"), line("has"), line("contains"), "\n".to_owned()].concat();
        let triples = read(&text).unwrap();
        assert_eq!(triples.edges[&concept_id("tea")][&concept_id("caffeine")], 2, "the same line counts once");
        assert_eq!(triples.concepts[&concept_id("tea")].0, "tea");
    }

    #[test]
    fn wrong_lines_are_refused_with_their_number() {
        let good = "{\"subject\": \"a\", \"relation\": \"r\", \"object\": \"b\"}\n";
        for (bad, part) in [
            ("{\"subject\": \"a\", \"relation\": \"r\"}", "object"),
            ("{\"subject\": \" \", \"relation\": \"r\", \"object\": \"b\"}", "subject"),
            ("{\"subject\": \"a\", \"relation\": \"\", \"object\": \"b\"}", "relation"),
            ("{\"subject\": \"a\", \"relation\": \"r\", \"object\": \"b\", \"x\": 1}", "unknown field"),
            ("{\"subject\": \"a\", \"subject\": \"a\", \"relation\": \"r\", \"object\": \"b\"}", "twice"),
            ("[", ""),
        ] {
            let Err(error) = read(&format!("{good}\n{bad}\n")) else { panic!("{bad} is accepted") };
            let text = error.to_string();
            assert!(text.contains("line 3") && text.contains(part), "{text}");
            assert_eq!(error.exit_code(), 5);
        }
    }
}
