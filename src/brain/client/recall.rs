//! Recall for a client: memories with their citations and origins, page by page.

use serde::{Deserialize, Serialize};

use super::page::{Cursor, beginning, budget, cost};
use super::{Client, Desk, NOTICE};
use crate::brain::{Answer, Brain, BrainError, DayEdge, RecallRequest};
use crate::limits;
use crate::model::Stamp;
use crate::review::page::visible;

/// The part of a page that the state of the code which one memory cites may have, as one of so many.
const CODE_SHARE: usize = 4;

/// What a client asks.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// Most tokens of the answer.
    pub tokens: Option<usize>,
    /// Only memories from this date on.
    pub since: Option<String>,
    /// Only memories up to this date.
    pub until: Option<String>,
    /// Where the page begins: `next` of the answer before.
    pub cursor: Option<String>,
}

/// A page of memories, best first.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Recollection {
    /// What their words are.
    pub notice: &'static str,
    /// The memories.
    pub memories: Vec<Cited>,
    /// Where the next page begins; absent: nothing is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What is worth knowing, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notes: Vec<String>,
}

/// A memory.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Cited {
    /// `neuron@commit`.
    pub cite: String,
    /// What it says.
    pub text: String,
    /// When it happened.
    pub at: Stamp,
    /// Where it comes from.
    pub origin: String,
    /// Whether the owner trusts that, or has approved it.
    pub trusted: bool,
    /// The state of the lines of code that it cites, and the branch that it was said on if that is another one, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub code: Vec<String>,
}

impl Desk {
    /// The best memories for a question, as far as they fit into the budget.
    ///
    /// # Errors
    /// A date that is none, a budget out of bounds, or a cursor that no answer gave (exit code 2).
    pub fn recall(&self, _client: &Client, ask: &AskRequest) -> Result<Recollection, BrainError> {
        let most = budget(ask.tokens)?;
        if ask.question.len() > limits::CHAT_MESSAGE_BYTES {
            return Err(BrainError::usage(format!("the question has more than {} bytes", limits::CHAT_MESSAGE_BYTES)));
        }
        let brain = self.brain()?;
        let cursor = ask.cursor.as_deref().map(Cursor::parse).transpose()?;
        let (at, from) = match &cursor {
            Some(cursor) => (brain.commit_named(&cursor.commit)?.to_string(), cursor.at),
            None => (brain.at(None)?.to_string(), 0),
        };
        let moment = |flag, text: Option<&String>, edge| text.map(|text| brain.moment(flag, text, edge)).transpose();
        let request = RecallRequest {
            query: ask.question.clone(),
            since: moment("since", ask.since.as_ref(), DayEdge::Start)?,
            until: moment("until", ask.until.as_ref(), DayEdge::End)?,
            // The newest state is asked as such: then texts that wait are told of.
            at: cursor.is_some().then(|| at.clone()),
            ..RecallRequest::default()
        };
        let first = brain.recall(&request)?;
        let nothing_close = first.nothing_close;
        let mut notes = first.notes;
        let at = first.at;
        let is_full = first.results.len() >= brain.cycle.shared.policy.settings.recall.top;
        // Who asks for a time wants the state of then.
        let mut found = match request.since.or(request.until) {
            Some(_) => first.results,
            None => {
                let origins = &brain.cycle.shared.policy.settings.origins;
                let is_trusted = |one: &Answer| !origins.is_tainted(&one.origin);
                brain.with_newer(first.results, brain.commit_named(&at)?, |_| true, is_trusted)?
            }
        };
        let places = found.len();
        // Memories beyond the first places follow them, so that each page keeps what the settings say of origins.
        if from >= places && is_full {
            let wider = RecallRequest { top: Some(limits::CLIENT_MEMORIES), at: Some(at.clone()), ..request };
            let more = brain.recall(&wider)?.results;
            let is_new = |one: &Answer| found.iter().all(|other| other.id != one.id);
            let more: Vec<Answer> = more.into_iter().filter(is_new).collect();
            found.extend(more);
        }
        let is_last = found.len() > places || !is_full;
        if nothing_close && !found.is_empty() {
            notes.push("nothing is close to the question; these are the nearest".to_owned());
        }
        let mut page = Recollection { notice: NOTICE, memories: Vec::new(), next: None, notes };
        let commit = at[..limits::CITED_COMMIT.min(at.len())].to_owned();
        let next = |at: usize| Some(Cursor { commit: commit.clone(), at }.to_string());
        page.next = next(usize::MAX);
        page.fit_notes(most);
        let mut left = most.saturating_sub(cost(&page));
        page.next = None;
        let all = found.len();
        for (place, answer) in found.into_iter().enumerate().skip(from) {
            let mut cited = brain.cited(&answer, &commit);
            cited.fit_code(most / CODE_SHARE);
            let mut price = cost(&cited) + 1;
            if price > left && page.memories.is_empty() {
                // One that is longer than a page is cut, and `read` has the rest.
                let spare = left.saturating_sub(price - cost(&cited.text) + 2);
                cited.text = format!("{}…", beginning(&cited.text, spare));
                price = left;
            }
            if price > left {
                page.next = next(place);
                return Ok(page);
            }
            left -= price;
            page.memories.push(cited);
        }
        if !is_last {
            page.next = next(all);
        }
        Ok(page)
    }
}

impl Cited {
    /// Drops sentences on code that take more than that: what a memory says comes first.
    fn fit_code(&mut self, most: usize) {
        let all = self.code.len();
        while cost(&self.code) > most && self.code.pop().is_some() {}
        let more = all - self.code.len();
        if more > 0 {
            self.code.push(format!("{more} more: `read` has the words that cite them"));
        }
    }
}

impl Recollection {
    /// Drops notes that leave no room for memories.
    fn fit_notes(&mut self, most: usize) {
        while cost(self) > most / 2 && self.notes.pop().is_some() {}
    }
}

impl Brain {
    fn cited(&self, answer: &Answer, commit: &str) -> Cited {
        let clean = self.cycle.shared.secrets.redact(&answer.text);
        Cited {
            cite: format!("{}@{commit}", answer.id),
            text: visible(&clean),
            at: answer.at,
            origin: answer.origin.to_string(),
            trusted: !self.cycle.shared.policy.settings.origins.is_tainted(&answer.origin),
            code: answer.code.iter().flat_map(|code| code.sentences()).map(|line| visible(&line)).collect(),
        }
    }

    /// The commit of an id, whole or its beginning.
    pub(super) fn commit_named(&self, id: &str) -> Result<crate::store::CommitId, BrainError> {
        let found = self.cycle.store.resolve_id(id)?;
        found.ok_or_else(|| BrainError::usage(format!("there is no commit {id} here")))
    }
}
