//! What a question means: how alike its vector is to those of the memories. Off unless a setting names a trusted model.
//!
//! A text is sent once: its vector is kept by the hash of the text, whichever memory, branch or state of the brain has it. Memories
//! that have none yet are brought in by batches, as long as there is time; the next recall goes on. One process at a time
//! asks, so that two never pay for the same text. Each batch is reserved and settled as a call of a model is. Whatever fails is a note, and recall answers with what there is.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::budget::Payer;
use super::network::TreeNetwork;
use super::policy::HUMAN;
use super::{Cycle, CycleError};
use crate::activation::reading::{said, text_hash};
use crate::activation::{NodeIx, Snapshot};
use crate::limits;
use crate::llm::{Embedder, Endpoint, LlmError};
use crate::model::ids::{AgentName, NeuronId};
use crate::model::models::Model;
use crate::model::plural;
use crate::store::{CommitId, LockName, OtherLength, StoreError, Vectors};
use crate::text::tokens;

/// How alike a question and memories are.
#[derive(Debug, Default)]
pub struct Meaning {
    /// Cosines, of the memories that have a vector.
    pub alike: Vec<(NodeIx, f64)>,
    /// What a person should know: why it is not used, or what is left to do.
    pub notes: Vec<String>,
}

/// How far memories are with vectors: done, of all.
pub type EmbeddingProgress<'p> = &'p mut dyn FnMut(usize, usize);

impl Cycle {
    /// How alike a question and the memories of a commit are. Empty, and nothing is sent, unless a setting asks for it.
    ///
    /// # Errors
    /// The neurons of the commit cannot be read. An endpoint that fails is a note.
    pub fn meaning(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        question: &str,
        progress: EmbeddingProgress<'_>,
    ) -> Result<Meaning, CycleError> {
        let policy = &self.shared.policy;
        let inert = |notes| Ok(Meaning { alike: Vec::new(), notes });
        let (name, model) = match policy.embeddings() {
            Ok(None) => return inert(Vec::new()),
            Ok(Some(_)) if question.trim().is_empty() => return inert(Vec::new()),
            Ok(Some(named)) => named,
            Err(refused) => return inert(vec![with_hint(&refused)]),
        };
        let endpoint = match Endpoint::embeddings(name, model, &self.shared.world) {
            Ok(endpoint) => endpoint,
            Err(error) => return inert(vec![without(&error)]),
        };
        let wait = Duration::from_millis(policy.settings.recall.embeddings_timeout_ms);
        let payer = Payer::beside_runs(&AgentName::parse(HUMAN).expect("invariant: a name"));
        let mut search =
            Search { cycle: self, commit, snapshot, model, payer, end: Instant::now() + wait, notes: Vec::new() };
        let identity = endpoint.identity();
        let mut vectors = self.store.vectors(&identity);
        let asked = text_hash(question);
        let has_all = vectors.has(asked) && search.missing(&vectors).is_empty();
        if !has_all {
            // A folder that cannot be written to has no lock, and keeps no vectors either.
            match self.store.lock_within(LockName::Vectors, search.left()) {
                Err(busy @ StoreError::Busy { .. }) => {
                    search.notes.push(format!("{busy}, so embeddings play no full part"))
                }
                _lock if search.left().is_zero() => search.notes.push(
                    "another process was getting embeddings until the time was over, so embeddings play no full part"
                        .to_owned(),
                ),
                _lock => {
                    vectors = self.store.vectors(&identity);
                    search.fill(&mut vectors, endpoint, question, progress)?;
                }
            }
        }
        let index = snapshot.index();
        let alike = index.said().filter_map(|(node, text)| Some((node, vectors.cosine(asked, text)?))).collect();
        Ok(Meaning { alike, notes: search.notes })
    }
}

/// One question's way to vectors.
struct Search<'c> {
    cycle: &'c Cycle,
    commit: CommitId,
    snapshot: &'c Snapshot,
    model: &'c Model,
    payer: Payer,
    end: Instant,
    notes: Vec<String>,
}

impl Search<'_> {
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// One memory of each text that has no vector, in the order of the network.
    fn missing(&self, vectors: &Vectors) -> Vec<(NodeIx, u64)> {
        let mut seen = HashSet::new();
        let index = self.snapshot.index();
        let new = index.said().filter(|(_, text)| *text != 0 && !vectors.has(*text));
        new.filter(|(_, text)| seen.insert(*text)).collect()
    }

    /// Gets the vector of the question, then of memories, and keeps each batch as it comes.
    fn fill(
        &mut self,
        vectors: &mut Vectors,
        endpoint: Endpoint,
        question: &str,
        progress: EmbeddingProgress<'_>,
    ) -> Result<(), CycleError> {
        let embedder = match Embedder::new(endpoint) {
            Ok(embedder) => embedder,
            Err(error) => {
                self.notes.push(without(&error));
                return Ok(());
            }
        };
        let asked = (text_hash(question), question.to_owned());
        if !vectors.has(asked.0)
            && let Err(why) = self.embed(vectors, &embedder, std::slice::from_ref(&asked))
        {
            self.notes.push(without(&why));
            return Ok(());
        }
        let missing = self.missing(vectors);
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.commit)?);
        let index = self.snapshot.index();
        let mut batches: VecDeque<Vec<(u64, String)>> = VecDeque::new();
        let (mut done, of) = (0, missing.len());
        for part in missing[..missing.len().min(limits::EMBEDDED_PER_RECALL)].chunks(limits::EMBEDDING_BATCH) {
            let mut batch = Vec::new();
            for (node, text) in part {
                let neuron = NeuronId::parse(index.graph.id(*node)).ok().map(|id| network.neuron(&id)).transpose()?;
                let said = neuron.flatten().map(|neuron| said(&neuron.concept).to_owned());
                match said.filter(|said| !said.trim().is_empty()) {
                    Some(said) => batch.push((*text, said)),
                    None => {
                        vectors.refuse(*text);
                        done += 1;
                    }
                }
            }
            batches.push_back(batch);
        }
        self.cycle.store.keep_vectors(vectors);
        while let Some(batch) = batches.pop_front() {
            if self.left().is_zero() {
                break;
            }
            match self.embed(vectors, &embedder, &batch) {
                Ok(()) => done += batch.len(),
                Err(Why::Llm(error)) if error.refuses_input() && batch.len() > 1 => {
                    // Some text of it is too long for the model, or the batch is too large: halves tell.
                    let (one, other) = batch.split_at(batch.len() / 2);
                    batches.push_front(other.to_vec());
                    batches.push_front(one.to_vec());
                }
                Err(Why::Llm(error)) if error.refuses_input() => {
                    batch.iter().for_each(|(text, _)| vectors.refuse(*text));
                    self.cycle.store.keep_vectors(vectors);
                    done += batch.len();
                }
                // The question had its answer: what takes longer than is left is only not finished.
                Err(Why::Llm(LlmError::Timeout { .. })) => break,
                Err(why) => {
                    self.notes.push(why.to_string());
                    break;
                }
            }
            progress(done, of);
        }
        if done < of {
            self.notes.push(format!(
                "{} no embedding yet; the next recall goes on",
                plural(of - done, "memory has", "memories have")
            ));
        }
        Ok(())
    }

    fn embed(&self, vectors: &mut Vectors, embedder: &Embedder, batch: &[(u64, String)]) -> Result<(), Why> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let found = self.paid(&texts, |texts| embedder.embed(texts, self.left()))?;
        for ((text, _), vector) in batch.iter().zip(&found) {
            vectors.add(*text, vector)?;
        }
        self.cycle.store.keep_vectors(vectors);
        Ok(())
    }
}

impl Search<'_> {
    /// Reserves what texts cost, sends them, and settles it.
    fn paid<T>(&self, texts: &[&str], send: impl FnOnce(&[&str]) -> Result<T, LlmError>) -> Result<T, Why> {
        let shared = &self.cycle.shared;
        let read: usize = texts.iter().map(|text| tokens(text)).sum();
        let cost = self.model.cost(read as u64, 0);
        let fail = |error: CycleError| Why::Budget(error.to_string());
        let reservation = shared.reserve(&self.payer, cost).map_err(fail)?;
        let reservation = reservation.map_err(|exhausted| Why::Budget(exhausted.to_string()))?;
        let sent = send(texts);
        match &sent {
            // Nothing was read, so nothing is paid.
            Err(LlmError::Settings { .. } | LlmError::Unreachable { .. } | LlmError::Status { .. }) => {
                shared.release(reservation).map_err(fail)?;
            }
            _ => shared.settle(reservation, Some(cost)).map_err(fail)?,
        }
        Ok(sent?)
    }
}

/// Why a batch has no vectors.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error(transparent)]
    Llm(#[from] LlmError),
    #[error(transparent)]
    Length(#[from] OtherLength),
    /// The budget, or its account.
    #[error("{0}")]
    Budget(String),
}

fn without(why: &impl std::fmt::Display) -> String {
    format!("recall does without embeddings: {why}")
}

fn with_hint(error: &CycleError) -> String {
    let hint = error.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}{hint}", without(error))
}
