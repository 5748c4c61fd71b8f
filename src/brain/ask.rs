//! Questions: recall and propagation. Nothing is written, but for a recall that is asked to learn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::explain::why;
use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::activation::recall::{Answer, CLOSE, Filters, Found, closeness};
use crate::activation::{Cue, Index, NodeIx, Profile, Snapshot, learn, propagate, ways};
use crate::cycle::count;
use crate::cycle::network::{TreeNetwork, all_neurons};
use crate::cycle::recall::{Asker, Recalled, keep_fitting};
use crate::cycle::snapshot::snapshot;
use crate::cycle::{EmbeddingProgress, Meaning};
use crate::delta::{Document, Prediction};
use crate::model::ids::{AgentName, NeuronId};
use crate::model::{Neuron, Origin, Stamp, json, layout, plural};
use crate::store::CommitId;
use crate::text::talk::Said;

/// What `recall` is asked for.
#[derive(Clone, Debug, Default)]
pub struct RecallRequest {
    /// The question.
    pub query: String,
    /// How many memories; the setting by default.
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    pub at: Option<String>,
    /// Only memories from this time on.
    pub since: Option<Stamp>,
    /// Only memories up to this time.
    pub until: Option<Stamp>,
    /// The best memories that fit into so many tokens together.
    pub tokens: Option<usize>,
    /// Search what was said in conversations and is no evidence, instead of memories. Not together with `learn`.
    pub talk: bool,
    /// Only what belongs to this session.
    pub session: Option<String>,
    /// Activate what was answered, as a run of `human`. Not together with `at`.
    pub learn: bool,
    /// Say why each was found.
    pub explain: bool,
    /// Only memories that come at least so close to the question, each by itself, 0..=1.
    pub close: Option<f64>,
    /// The sessions of the person who asks: what she said in them herself is as good as trusted to her.
    pub own: Option<Origin>,
    /// Also sealed memories that keys of this machine open: for a person alone, since programs and models pass on what they read.
    pub sealed: bool,
}

/// The best memories, best first.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RecallAnswer {
    /// The memories.
    pub results: Vec<Answer>,
    /// How close the best of them come to the question, 0..=1; null where talk is searched.
    pub closeness: Option<f64>,
    /// Whether nothing is close: the brain knows nothing about that, as far as words tell.
    pub nothing_close: bool,
    /// The commit that was asked.
    pub at: String,
    /// Why embeddings play no part that should, or no full one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The run that learnt from it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt: Option<String>,
}

/// What `propagate` found.
#[derive(Clone, Debug, Serialize)]
pub struct Propagated {
    /// Activation, summed over cues and passes.
    pub activation: BTreeMap<String, f64>,
    /// Context, summed over passes.
    pub context: BTreeMap<String, f64>,
    /// Activation of each pass.
    pub passes: Vec<BTreeMap<String, f64>>,
    /// What the beam cut, and passes that were not run though something was left.
    pub cut: u64,
}

impl Brain {
    /// The best memories for a question.
    ///
    /// # Errors
    /// A revision that names no commit, and learning from a past one (exit code 2).
    pub fn recall(&self, request: &RecallRequest) -> Result<RecallAnswer, BrainError> {
        self.recall_showing(request, &mut |_, _| ())
    }

    /// [`Brain::recall`], telling how far memories are with embeddings: done, of all.
    ///
    /// # Errors
    /// The same.
    pub fn recall_showing(
        &self,
        request: &RecallRequest,
        progress: EmbeddingProgress<'_>,
    ) -> Result<RecallAnswer, BrainError> {
        if request.learn && request.at.is_some() {
            return Err(BrainError::usage("--learn cannot be combined with --at: the past does not learn"));
        }
        if request.top == Some(0) {
            return Err(BrainError::usage("--top 0: one memory at least is asked for"));
        }
        if let (Some(since), Some(until)) = (request.since, request.until)
            && since > until
        {
            return Err(BrainError::usage(format!("--since {since} is later than --until {until}")));
        }
        if request.learn && request.talk {
            return Err(BrainError::usage("--learn cannot be combined with --talk: talk is no evidence"));
        }
        let commit = self.at(request.at.as_deref())?;
        let snapshot = self.snapshot_of(commit)?;
        let session = request.session.as_deref().map(|label| self.session_named(&snapshot.index(), label));
        let (session, unknown) = session.map_or((None, None), |(label, unknown)| (Some(label), unknown));
        let filters =
            Filters { top: request.top, since: request.since, until: request.until, session, ..Filters::default() };
        let (mut found, mut notes) = if request.talk {
            let mut found = self.cycle.recall_talk(commit, &snapshot, &request.query, &filters, Said::ByBoth)?;
            let notes = keep_fitting(&mut found, request.tokens).into_iter().collect();
            (found, notes)
        } else {
            let (now, query) = (self.cycle.shared.world.now(), &request.query);
            let asker = Asker { now, tokens: request.tokens, own: request.own.as_ref() };
            self.cycle.recall_fitting(commit, &snapshot, query, filters, asker, progress)?
        };
        notes.extend(unknown);
        if let Some(least) = request.close {
            let index = snapshot.index();
            found.retain(|recalled| closeness(&index, &request.query, std::iter::once(&recalled.found)) >= least);
        }
        notes.extend(if request.at.is_none() { self.waiting_texts(commit)? } else { None });
        let closeness = (!request.talk)
            .then(|| closeness(&snapshot.index(), &request.query, found.iter().map(|recalled| &recalled.found)));
        let learnt = if request.learn { self.learn(&snapshot.index(), &found)? } else { None };
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(commit)?);
        let read = |id: &str| network.neuron(&NeuronId::parse(id).ok()?).ok()?;
        let here = self.cycle.here(self.cycle.store.tree_of(commit)?);
        let explained = |recalled: Recalled| {
            let why = if request.explain { why(&request.query, &recalled, read) } else { Vec::new() };
            let code = here.as_ref().and_then(|here| here.seen(&recalled.neuron));
            Answer { why, code, ..Answer::of(recalled.found, &recalled.neuron, &recalled.copies) }
        };
        let ranked: Vec<Found> = found.iter().filter(|_| request.sealed).map(|one| one.found.clone()).collect();
        let mut results: Vec<Answer> = found.into_iter().map(explained).collect();
        self.name_older(commit, &mut results)?;
        let nothing_close = closeness.is_some_and(|closeness| closeness < CLOSE);
        let mut answer = RecallAnswer { results, closeness, nothing_close, at: commit.to_string(), notes, learnt };
        if request.sealed && !request.talk {
            self.add_sealed(&mut answer, request, commit, &snapshot, &ranked)?;
        }
        Ok(answer)
    }

    /// A note of the texts that were fed and are not perceived yet, as after a feed that was cut off.
    fn waiting_texts(&self, commit: CommitId) -> Result<Option<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(commit)?;
        if store.folder(tree, layout::QUEUE)?.is_none() {
            return Ok(None);
        }
        let waiting = count::counts(store, tree)?.get("queue").copied().unwrap_or(0);
        // What a run that waits for review has perceived waits for a person.
        let waiting = if waiting > 0 { waiting.saturating_sub(self.cycle.claimed_stimuli()?.all.len()) } else { 0 };
        let texts = plural(waiting, "text waits", "texts wait");
        Ok((waiting > 0).then(|| {
            format!("{texts} to be perceived and could not be asked: `git brain run` goes on, or says why they wait")
        }))
    }

    /// The session that a label, a path or the end of one names; where none is, a note on those that are near.
    fn session_named(&self, index: &Index<'_>, label: &str) -> (String, Option<String>) {
        const NEAR: usize = 5;
        if index.session(label).is_some() {
            return (label.to_owned(), None);
        }
        let place = self.label_of(Path::new(label));
        if index.session(&place).is_some() {
            return (place, None);
        }
        let all: BTreeSet<&str> = index.session_labels().filter(|session| index.session(session).is_some()).collect();
        let end = format!("/{}", label.trim_start_matches("./").trim_matches('/'));
        let ends: Vec<&str> = all.iter().copied().filter(|session| session.ends_with(&end)).collect();
        if let [one] = ends[..] {
            return (one.to_owned(), None);
        }
        let name = end.rsplit('/').next().unwrap_or(&end).to_lowercase();
        let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name);
        let is_near = |session: &&str| session.to_lowercase().contains(stem);
        let near: Vec<String> = match ends.is_empty() {
            true => all.into_iter().filter(is_near).take(NEAR).map(|session| format!("{session:?}")).collect(),
            false => ends.into_iter().take(NEAR).map(|session| format!("{session:?}")).collect(),
        };
        let near = if near.is_empty() { String::new() } else { format!("; near it are {}", near.join(", ")) };
        (label.to_owned(), Some(format!("no memory belongs to the session {label:?}{near}")))
    }

    /// How alike a question and the memories of wake are by the embeddings that the settings ask for: for measurements.
    ///
    /// # Errors
    /// Neurons that cannot be read. An endpoint that fails is a note.
    pub fn meaning(&self, snapshot: &Snapshot, question: &str) -> Result<Meaning, BrainError> {
        self.cycle.meaning(self.at(None)?, snapshot, question, &mut |_, _| ())
    }

    /// One run that activates what a recall answered, and predicts the best of it, by the ways that led there; none if it answered nothing.
    fn learn(&self, index: &Index<'_>, answers: &[Recalled]) -> Result<Option<String>, BrainError> {
        let ops = learn(index, answers.iter().map(|recalled| &recalled.found));
        if ops.is_empty() {
            return Ok(None);
        }
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let expected = answers.first().map(|best| best.neuron.concept.clone());
        let pathway = ways(index, answers.iter().map(|recalled| &recalled.found));
        let prediction = Some(Prediction { text: expected, pathway, ..Prediction::default() });
        let document = Document { agent: Some(agent.clone()), prediction, ops };
        let bytes = json::pretty(&document);
        let given =
            Given { document, bytes, lines: Vec::new(), agent, reason: "recall", cognition: "recall".to_owned() };
        Ok(Some(self.apply_given(given, false, false)?.run))
    }

    /// The snapshot of the brain at a revision, wake's tip by default: for many questions at once, and for measurements.
    ///
    /// # Errors
    /// A revision that names no commit (exit code 2), and neurons that cannot be read.
    pub fn snapshot(&self, at: Option<&str>) -> Result<Snapshot, BrainError> {
        self.snapshot_of(self.at(at)?)
    }

    /// Every neuron of a revision, wake's tip by default.
    pub fn neurons(&self, at: Option<&str>) -> Result<Vec<Neuron>, BrainError> {
        self.neurons_of(self.at(at)?)
    }

    fn neurons_of(&self, commit: CommitId) -> Result<Vec<Neuron>, BrainError> {
        let store = &self.cycle.store;
        all_neurons(store, store.tree_of(commit)?)
    }

    pub(super) fn snapshot_of(&self, commit: CommitId) -> Result<Snapshot, BrainError> {
        let store = &self.cycle.store;
        snapshot(store, store.tree_of(commit)?)
    }

    /// Spreads activation from neurons by plain propagation.
    pub fn propagate(&self, from: &[(NeuronId, f64)], at: Option<&str>) -> Result<Propagated, BrainError> {
        let snapshot = self.snapshot_of(self.at(at)?)?;
        let graph = snapshot.graph();
        let mut cues = Vec::new();
        for (id, strength) in from {
            let Some(node) = graph.find(id) else {
                return Err(BrainError::refused(format!("there is no neuron {id}")));
            };
            cues.push(Cue::new(node, *strength));
        }
        let profile = Profile::seed(&self.cycle.shared.policy.settings.activation);
        let found = propagate(&graph, &cues, self.cycle.shared.world.now(), &profile);
        let named = |list: &[(NodeIx, f64)]| list.iter().map(|(n, x)| (graph.id(*n).to_string(), *x)).collect();
        Ok(Propagated {
            activation: named(&found.activation),
            context: named(&found.context),
            passes: found.passes.iter().map(|pass| named(pass)).collect(),
            cut: found.cut.beam + u64::from(found.cut.passes),
        })
    }
}
