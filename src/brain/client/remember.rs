//! Remembering for a client: texts become stimuli of its origin, durable when this returns; then agents run, once for all that came meanwhile.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Client, Desk};
use crate::activation::recall::Answer;
use crate::brain::{Brain, BrainError, FeedRequest, RunBounds, Source};
use crate::cycle::network::TreeNetwork;
use crate::limits;
use crate::model::{Level, NeuronId, plural};
use crate::text::same_said;
use crate::text::talk::{Act, act};

/// What a client wants to be remembered.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The texts.
    pub texts: Vec<String>,
    /// The memory that they correct, as `recall` cites it.
    #[serde(default)]
    pub corrects: Option<String>,
}

/// What became of it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Kept {
    /// Memories that are new.
    pub memories: Vec<String>,
    /// How many texts were remembered before.
    pub known: usize,
    /// The commit of wake that has them.
    pub commit: String,
    /// What is worth knowing, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notes: Vec<String>,
}

impl Desk {
    /// Remembers texts, and lets agents perceive them.
    ///
    /// # Errors
    /// No texts or too many, a text that cannot be remembered (exit code 2); an origin that is refused (3).
    pub fn remember(&self, client: &Client, request: &Remembered) -> Result<Kept, BrainError> {
        let bytes: usize = request.texts.iter().map(String::len).sum();
        if request.texts.is_empty() || request.texts.iter().all(|text| text.trim().is_empty()) {
            return Err(BrainError::usage("texts has no text"));
        }
        if request.texts.len() > limits::CLIENT_TEXTS || bytes > limits::CLIENT_BYTES {
            return Err(BrainError::usage(format!(
                "at most {} texts of {} bytes together are remembered by one call",
                limits::CLIENT_TEXTS,
                limits::CLIENT_BYTES
            )));
        }
        let texts: Vec<&String> = request.texts.iter().filter(|text| !text.trim().is_empty()).collect();
        if request.corrects.is_some() && texts.len() > 1 {
            return Err(BrainError::usage("corrects goes with one text: what stands in its place"));
        }
        if request.corrects.is_some() && texts.iter().any(|text| matches!(act(text), Act::SmallTalk(_))) {
            return Err(BrainError::usage("small talk puts nothing right: the text is to say what holds"));
        }
        let brain = self.brain()?;
        let (mut new, mut known, mut polite, mut keys) = (Vec::new(), 0, 0, BTreeSet::new());
        // What may not come in at all is refused below, whatever it says; what puts something right is looked for nowhere.
        let level = brain.cycle.shared.policy.settings.origins.level(&client.origin());
        let is_looked_at = request.corrects.is_none() && level != Level::Refused;
        for text in texts {
            if is_looked_at && matches!(act(text), Act::SmallTalk(_)) {
                polite += 1;
            } else if is_looked_at && (!keys.insert(same_said(text)) || brain.says(text)?) {
                known += 1;
            } else {
                new.push(text.clone());
            }
        }
        if new.is_empty() {
            let commit = brain.at(None)?.to_string()[..limits::CITED_COMMIT].to_owned();
            return Ok(Kept { memories: Vec::new(), known, commit, notes: not_kept(polite) });
        }
        let (_, mut kept, _) = self.store(&FeedRequest {
            sources: new.into_iter().map(Source::Text).collect(),
            origin: Some(client.origin().to_string()),
            corrects: request.corrects.clone(),
            or_beside: true,
            // Whose agent said it: the same client may work for several people.
            source: client.is_of_this_person().then(|| brain.person_here()),
            ..FeedRequest::default()
        })?;
        kept.known += known;
        kept.notes.extend(not_kept(polite));
        // Ids alone, as far as they fit into an answer.
        if kept.memories.len() > limits::CLIENT_IDS {
            kept.notes.push(format!("{} memories are new; the first are named", kept.memories.len()));
            kept.memories.truncate(limits::CLIENT_IDS);
        }
        Ok(kept)
    }

    /// Stores what is fed, and runs agents on it.
    pub(super) fn store(&self, request: &FeedRequest) -> Result<(Brain, Kept, Vec<String>), BrainError> {
        let brain = self.brain()?;
        let report = brain.feed(&FeedRequest { no_run: true, ..request.clone() }, &mut |_| ())?;
        let mut notes = report.ran.notes;
        if !report.stimuli.is_empty() {
            notes.extend(self.run(&brain));
        }
        let memory = |id: &String| crate::model::ids::StimulusId::parse(id).ok().map(|id| episode(&id));
        let memories: Vec<String> = report.stimuli.iter().filter_map(memory).collect();
        let commit = brain.at(None)?;
        let network = TreeNetwork::new(&brain.cycle.store, brain.cycle.store.tree_of(commit)?);
        let mut waiting = 0;
        for id in memories.iter().filter_map(|id| NeuronId::parse(id).ok()) {
            waiting += usize::from(network.neuron(&id)?.is_none());
        }
        if waiting > 0 {
            let texts = plural(waiting, "text is", "texts are");
            notes.push(format!("{texts} stored and cannot be recalled yet: `git brain run` says what that waits for"));
        }
        let commit = commit.to_string()[..limits::CITED_COMMIT].to_owned();
        let kept = Kept { memories, known: report.known, commit, notes };
        Ok((brain, kept, report.stimuli))
    }

    /// Runs agents until they have had all that is stored now: once for all calls that wait for it. What was stored is durable whatever
    /// becomes of this; a note says what went wrong.
    fn run(&self, brain: &Brain) -> Option<String> {
        let mine = {
            let mut stored = locked(&self.turns.stored);
            *stored += 1;
            *stored
        };
        let mut covered = locked(&self.turns.covered);
        if *covered >= mine {
            return None;
        }
        let all = *locked(&self.turns.stored);
        match brain.run(&RunBounds::default(), &mut |_| ()) {
            Ok(report) => {
                *covered = all;
                report.failures.first().map(|failed| format!("{} failed: {}", failed.agent, failed.error))
            }
            Err(error) => Some(format!("it is stored, and perceived later: {error}")),
        }
    }
}

/// A note of the texts that tell nothing.
fn not_kept(polite: usize) -> Vec<String> {
    let texts = plural(polite, "text of small talk is", "texts of small talk are");
    if polite > 0 { vec![format!("{texts} not kept")] } else { Vec::new() }
}

impl Brain {
    /// Whether a memory says a text, word by word, that is trusted or the person's of this machine: another one's says nothing for her.
    fn says(&self, text: &str) -> Result<bool, BrainError> {
        let (person, origins) = (self.person_here(), &self.cycle.shared.policy.settings.origins);
        let wanted = same_said(text);
        let is_hers = |one: &Answer| {
            !origins.is_tainted(&one.origin) || one.origin.person(one.source.as_deref()) == Some(person.as_str())
        };
        Ok(self.like(text)?.iter().any(|one| same_said(&one.text) == wanted && is_hers(one)))
    }
}

fn episode(id: &crate::model::ids::StimulusId) -> String {
    crate::model::ids::episode_id(id).to_string()
}

/// What a lock guards; a thread that broke while it held one has left a number.
fn locked(number: &std::sync::Mutex<u64>) -> std::sync::MutexGuard<'_, u64> {
    number.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
