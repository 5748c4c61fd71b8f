//! Reading for a client: a neuron, run, stimulus or commit by its id, and why a neuron is as it is.

use std::fmt::Write;

use serde::Deserialize;

use super::page::{Cursor, Page, beginning, budget, cost};
use super::{Client, Desk, NOTICE};
use crate::brain::{Brain, BrainError, NeuronView, Shown};
use crate::cognition::llm;
use crate::limits;
use crate::model::ids::{NeuronId, RunId, StimulusId};
use crate::review::page::visible;

/// The id by which a client reads which operations its deltas may use.
const SYNTAX: &str = "delta";

/// What a client wants to read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRequest {
    /// An id of a neuron, run, stimulus or commit, with or without `@commit`; `delta`, or that of a question that waits.
    pub id: String,
    /// Of a neuron, the runs that made it.
    #[serde(default)]
    pub why: bool,
    /// Most tokens of the answer.
    pub tokens: Option<usize>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

impl Desk {
    /// A page of what an id names.
    ///
    /// # Errors
    /// An id that names nothing, a budget out of bounds, a cursor that no answer gave (exit code 2).
    pub fn read(&self, client: &Client, request: &ReadRequest) -> Result<Page, BrainError> {
        let most = budget(request.tokens)?;
        let brain = self.brain()?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let (id, at) = match request.id.split_once('@') {
            Some((id, commit)) => (id, Some(commit)),
            None => (request.id.as_str(), None),
        };
        let at = match cursor.as_ref().map(|cursor| cursor.commit.as_str()).or(at) {
            Some(commit) => brain.commit_named(commit)?,
            None => brain.at(None)?,
        };
        let at = at.to_string();
        let (kind, text) = match id {
            SYNTAX => ("syntax".to_owned(), brain.syntax_for(client)?),
            id if id.starts_with("h-")
                && let Some(text) = brain.question_text(id)? =>
            {
                ("question".to_owned(), text)
            }
            id => brain.text_of(id, &at, request.why)?,
        };
        let clean = brain.cycle.shared.secrets.redact(&text);
        let text = visible(&clean);
        let from = cursor.map_or(0, |cursor| cursor.at);
        let rest = text.get(from..).ok_or_else(|| BrainError::usage("the cursor is none that an answer gave"))?;
        let commit = at[..limits::CITED_COMMIT.min(at.len())].to_owned();
        let mut page = Page { notice: NOTICE, cite: format!("{id}@{commit}"), kind, text: String::new(), next: None };
        let next = |at: usize| Some(Cursor { commit: commit.clone(), at }.to_string());
        page.next = next(usize::MAX);
        let shown = beginning(rest, most.saturating_sub(cost(&page)));
        page.next = if shown.len() < rest.len() { next(from + shown.len()) } else { None };
        page.text = shown.to_owned();
        Ok(page)
    }
}

/// Digits of the id of a council: a shorter name is the beginning of a commit.
const COUNCIL_ID: usize = 12;

impl Brain {
    /// The operations that a client's deltas may use, an example each.
    fn syntax_for(&self, client: &Client) -> Result<String, BrainError> {
        let (_, limits) = self.cycle.shared.policy.authority(&client.agent())?;
        let lines = limits.map(|limits| llm::syntax(limits.capabilities())).unwrap_or_default();
        Ok(format!("{{\"ops\": [ … ]}} with\n{}\n", lines.join("\n")))
    }

    /// A question of a deliberation that waits, with the form of its answer.
    fn question_text(&self, id: &str) -> Result<Option<String>, BrainError> {
        let asked = self.handoffs()?.into_iter().find(|one| one.id == id);
        Ok(asked.map(|one| {
            let about = serde_json::to_string_pretty(&one.about).unwrap_or_default();
            let (role, goal, tree, schema) = (one.role.as_str(), one.goal, one.tree, one.schema);
            format!("to the {role} of {goal}, on {tree}\n{about}\n`propose` takes `question` and an `answer` of the form {schema}\n")
        }))
    }

    /// What an id names at a commit, as text.
    fn text_of(&self, id: &str, at: &str, why: bool) -> Result<(String, String), BrainError> {
        let is_run = RunId::parse(id).is_ok();
        if !is_run
            && NeuronId::parse(id).is_ok()
            && let Some(view) = self.neuron_view(id, Some(at))?
        {
            return Ok(("neuron".to_owned(), if why { reasons(&view) } else { neuron(&view) }));
        }
        if id.len() == COUNCIL_ID && self.is_council(id)? {
            let council = self.council_of(id)?;
            return Ok(("council".to_owned(), council.in_words()));
        }
        let is_commit = (4..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_commit && let Some(view) = self.commit_view(id)? {
            let changes = view.changes.join("\n");
            let text = format!("{} by {}\n\n{}\n{changes}\n", view.at, view.author, view.message.trim_end());
            return Ok(("commit".to_owned(), text));
        }
        // No other revision that git understands is asked for: it may walk all of the history, and name what is no memory.
        let is_stimulus = id.starts_with("s-") && StimulusId::parse(id).is_ok();
        if !is_run && !is_stimulus {
            return Err(BrainError::Usage {
                message: format!("{} is no neuron, run, stimulus or commit here", super::clip(id)),
                hint: Some("`recall` cites neurons, and `why` names their runs; `delta` explains `propose`".to_owned()),
            });
        }
        let shown = self.show(id, Some(at))?;
        Ok((shown.kind.to_owned(), fields(&shown)))
    }
}

/// A document as its facts and then its fields, one a line, without what the facts say already.
fn fields(shown: &Shown) -> String {
    let mut text: String = shown.facts.iter().map(|fact| format!("{fact}\n")).collect();
    for (name, value) in shown.document.as_object().into_iter().flatten() {
        let is_told = name == "effects" || name.starts_with('$') || value.is_null();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !is_told && value != "[]" {
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    text
}

/// A neuron: what it says, where it comes from, what it is linked with.
fn neuron(view: &NeuronView) -> String {
    let of = &view.neuron;
    let archived = if of.is_archived() { ", archived" } else { "" };
    let mut text = format!("{}\n\n{} of {}, origin {}{archived}\n", of.concept, of.kind, of.created_at, of.origin);
    let mut connections: Vec<_> = of.connections.iter().collect();
    connections.sort_by_key(|connection| std::cmp::Reverse(connection.weight));
    for connection in connections {
        let concept = view.concepts.get(connection.target.as_str()).map(|concept| format!(" {concept:?}"));
        let (link, target, weight) = (&connection.link, &connection.target, connection.weight);
        let _ = writeln!(text, "{link} {weight} → {target}{}", concept.unwrap_or_default());
    }
    text
}

/// The commits that made a neuron what it is, newest first.
fn reasons(view: &NeuronView) -> String {
    let mut text = String::new();
    for touch in &view.history {
        let commit = &touch.commit[..limits::CITED_COMMIT.min(touch.commit.len())];
        let _ = writeln!(text, "{commit} {} {}: {}", touch.at, touch.author, touch.subject);
        for change in &touch.changes {
            let _ = writeln!(text, "  {change}");
        }
    }
    text
}
