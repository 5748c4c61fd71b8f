//! What a page shows beside a conversation: its turns, a neuron with its life, a commit with what it changed. Nothing is
//! written.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::why::Change;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::delta::{Effect, render};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::{Connection, Neuron, Stamp, layout};
use crate::store::{Commit, CommitId};

/// What was said in a conversation, as the network remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Conversation {
    /// Its name.
    pub conversation: String,
    /// Its newest turns, oldest first.
    pub turns: Vec<Said>,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Said {
    /// `person` or `brain`.
    pub who: String,
    /// What was said.
    pub text: String,
    /// The neuron that remembers it.
    pub id: String,
    /// When it was said.
    pub at: String,
}

/// A neuron, and the commits of wake that made it what it is.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct NeuronView {
    /// The commit in which it was read.
    pub at: String,
    /// Its file.
    pub path: String,
    /// The neuron, as its file has it.
    pub neuron: Neuron,
    /// Its salience now, 0 to 65,535.
    pub salience_now: u16,
    /// Its salience at the time of that commit.
    pub salience_then: u16,
    /// The connections of others that lead to it, strongest first; where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incoming: Vec<Incoming>,
    /// Concepts, by id and cut to a line, of the neurons that its strongest connections lead to, and of those whose connections lead to it.
    pub concepts: BTreeMap<String, String>,
    /// The commits that changed it, newest first; as many as a person reads.
    pub history: Vec<Touch>,
}

/// A connection of another neuron that leads to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Incoming {
    /// The neuron that has it.
    pub source: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its weight, 1 to 65,535.
    pub weight: u16,
}

/// A commit that changed a neuron.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Touch {
    /// The commit.
    pub commit: String,
    /// Its first line.
    pub subject: String,
    /// The agent, or who else made it.
    pub author: String,
    /// When.
    pub at: String,
    /// What it changed, in the brain's words.
    pub changes: Vec<String>,
}

/// A commit, and what it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CommitView {
    /// The commit.
    pub commit: String,
    /// Its first line.
    pub subject: String,
    /// Who made it.
    pub author: String,
    /// When.
    pub at: String,
    /// The whole message, trailers included.
    pub message: String,
    /// Its parents.
    pub parents: Vec<String>,
    /// What it changed against its first parent, in the brain's words.
    pub changes: Vec<String>,
    /// Lines of `changes` that are left out.
    pub left_out: usize,
}

impl Brain {
    /// What was said in a conversation, as far as agents have perceived it.
    ///
    /// # Errors
    /// No name of a conversation (exit code 2).
    pub fn conversation(&self, name: &str) -> Result<Conversation, BrainError> {
        let turns = self.cycle.said_in(self.at(None)?, name, limits::VIEW_TURNS)?;
        let said = |(is_own, neuron): (bool, Neuron)| Said {
            who: if is_own { "brain" } else { "person" }.to_owned(),
            id: neuron.id.to_string(),
            at: neuron.created_at.to_string(),
            text: neuron.concept,
        };
        Ok(Conversation { conversation: name.to_owned(), turns: turns.into_iter().map(said).collect() })
    }

    /// A neuron as the commit of that id has it (wake's tip by default), and its life until then; `None` if there is none.
    ///
    /// # Errors
    /// No id of a neuron, or no commit of that id (exit code 2).
    pub fn neuron_view(&self, id: &str, at: Option<&str>) -> Result<Option<NeuronView>, BrainError> {
        let id = NeuronId::parse(id).map_err(|e| BrainError::usage(e.to_string()))?;
        let at = match at {
            None => self.at(None)?,
            Some(id) => {
                let found = self.cycle.store.resolve_id(id)?;
                found.ok_or_else(|| BrainError::usage(format!("there is no commit {id}")))?
            }
        };
        let tree = self.cycle.store.tree_of(at)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let Some(neuron) = network.neuron(&id)? else { return Ok(None) };
        let mut strongest: Vec<&Connection> = neuron.connections.iter().collect();
        strongest.sort_by_key(|connection| Reverse(connection.weight));
        let mut concepts = BTreeMap::new();
        for connection in strongest.into_iter().take(limits::VIEW_CONCEPTS) {
            if let Some(target) = network.neuron(&connection.target)? {
                concepts.insert(target.id.to_string(), render::clip(&target.concept));
            }
        }
        let history = self.touches(&id, at)?;
        let salience_now = neuron.salience_at(self.cycle.shared.world.now());
        let incoming = Vec::new();
        let salience_then = neuron.salience_at(Stamp::from_unix(self.cycle.store.commit(at)?.at));
        let path = layout::neuron(&id);
        Ok(Some(NeuronView {
            at: at.to_string(),
            path,
            salience_now,
            salience_then,
            incoming,
            concepts,
            neuron,
            history,
        }))
    }

    /// The same with the connections of others that lead to it, as the index of that commit has them.
    ///
    /// # Errors
    /// As for [`Brain::neuron_view`].
    pub fn neuron_view_with_incoming(&self, id: &str, at: Option<&str>) -> Result<Option<NeuronView>, BrainError> {
        let Some(mut view) = self.neuron_view(id, at)? else { return Ok(None) };
        let commit = self.at(Some(&view.at))?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(commit)?);
        let snapshot = self.snapshot_of(commit)?;
        let graph = snapshot.graph();
        let Some(node) = graph.find(&view.neuron.id) else { return Ok(Some(view)) };
        for (source, link, weight) in crate::picture::choice::leading_to(&graph, node) {
            let source = graph.id(source).to_owned();
            if view.incoming.len() < limits::VIEW_CONCEPTS
                && let Ok(id) = NeuronId::parse(&source)
                && let Some(neuron) = network.neuron(&id)?
            {
                view.concepts.insert(source.clone(), render::clip(&neuron.concept));
            }
            view.incoming.push(Incoming { source, kind: link.to_string(), weight });
        }
        Ok(Some(view))
    }

    /// A commit of the brain's branches, by its id or the beginning of it; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn commit_view(&self, id: &str) -> Result<Option<CommitView>, BrainError> {
        let Some(id) = self.cycle.store.resolve_id(id)? else { return Ok(None) };
        let commit = self.cycle.store.commit(id)?;
        // Beside code there are commits of code: what they say is nothing that the brain remembers.
        if self.cycle.store.folder(self.cycle.store.tree_of(id)?, layout::NETWORK)?.is_none() {
            return Ok(None);
        }
        let mut changes = match commit.parents.first() {
            Some(parent) => self.differences(*parent, commit.id)?.lines,
            None => Vec::new(),
        };
        let left_out = changes.len().saturating_sub(limits::VIEW_LINES);
        changes.truncate(limits::VIEW_LINES);
        let (subject, author) = self.made_by(&commit)?;
        Ok(Some(CommitView {
            commit: commit.id.to_string(),
            subject,
            author,
            at: Stamp::from_unix(commit.at).to_string(),
            parents: commit.parents.iter().map(ToString::to_string).collect(),
            message: commit.message,
            changes,
            left_out,
        }))
    }

    /// What made a neuron what it is at a commit, newest first.
    fn touches(&self, id: &NeuronId, at: CommitId) -> Result<Vec<Touch>, BrainError> {
        let changes = self.changes_of(id, at, Some((limits::VIEW_COMMITS, limits::VIEW_TOUCHES)))?;
        let touch = |(commit, before, after): Change| {
            let changes = match &after {
                Some(after) => render::effect(&Effect::between(before.as_ref(), after), Some(after)),
                None => vec![format!("- {id}")],
            };
            let (subject, author) = self.made_by(&commit)?;
            let at = Stamp::from_unix(commit.at).to_string();
            Ok(Touch { commit: commit.id.to_string(), subject, author, at, changes })
        };
        changes.into_iter().map(touch).collect()
    }

    /// What a commit says it is, and who made it. A merge of a run is told as the run.
    fn made_by(&self, commit: &Commit) -> Result<(String, String), BrainError> {
        let run = match commit.parents.get(1) {
            Some(run) => self.cycle.store.commit(*run)?,
            None => commit.clone(),
        };
        let agent = run.trailer("Agent").or_else(|| commit.trailer("Agent"));
        Ok((run.subject().to_owned(), agent.unwrap_or("git-brain").to_owned()))
    }
}
