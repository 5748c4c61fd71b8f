//! The place of a council among others: asked again since, about a run that is decided, or after earlier ones on the same question.

use std::collections::BTreeSet;

use super::DOCUMENT;
use super::outlines::CouncilOutline;
use crate::council::question::{open_word, topic};
use crate::council::record::{Council, CouncilRecord};
use crate::council::vote::Decision;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::Stamp;

/// The reason that a council, which left its decision to a person, waits no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The same question was asked again, by the council of this id.
    AskedAgain(String),
    /// People decided on the run that it is about.
    ByRun,
}

/// An earlier council on the same question.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Earlier {
    /// Its id.
    pub id: String,
    /// `decided`, `pending`, `approved` or `rejected`.
    pub state: &'static str,
    /// The decision that holds.
    pub decision: Decision,
    /// The person that closed it, else the one that asked: `Name <address>`.
    pub by: String,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// The reason of a person.
    pub why: String,
}

impl Earlier {
    fn of(council: &Council) -> Self {
        let (record, ruling) = (&council.record, council.ruling().filter(|_| council.record.verdict.escalates()));
        Self {
            id: record.id.clone(),
            state: council.state(),
            decision: council.decision(),
            by: ruling.map_or(&record.by, |ruling| &ruling.by).clone(),
            at_ms: ruling.map_or(record.at_ms, |ruling| ruling.at_ms),
            why: ruling.map_or(String::new(), |ruling| ruling.why.clone()),
        }
    }

    /// The council in a sentence.
    pub fn sentence(&self) -> String {
        let Self { id, state, decision, by, at_ms, why } = self;
        let day = Stamp::from_unix(at_ms.div_euclid(1000)).to_string();
        let day = day.get(..10).unwrap_or(&day);
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        match *state {
            "pending" => format!("council {id} of {day} had the same question and no answer; it waits no more"),
            "decided" => format!("council {id} decided the same question on {day}: {decision}"),
            state => format!("council {id} on the same question was {state} on {day} by {by}{why}"),
        }
    }
}

impl Cycle {
    /// The reason that a pending council waits for no person any more; `None`: it waits, or is not pending. `outlines` are all, oldest first.
    ///
    /// # Errors
    /// A decision that cannot be read.
    pub fn waits_no_more(&self, council: &Council, outlines: &[CouncilOutline]) -> Result<Option<Settled>, CycleError> {
        if council.state() != "pending" {
            return Ok(None);
        }
        let record = &council.record;
        if record.run.is_some() {
            return Ok(self.is_run_decided(record)?.then_some(Settled::ByRun));
        }
        let topic = topic(&record.question);
        let again = outlines
            .iter()
            .rev()
            .find(|other| other.run.is_none() && other.topic == topic && other.council > record.council);
        Ok(again.map(|other| Settled::AskedAgain(other.id.clone())))
    }

    /// Whether people, or a council, decided on the commit that a council is about.
    ///
    /// # Errors
    /// A decision that cannot be read.
    pub fn is_run_decided(&self, record: &CouncilRecord) -> Result<bool, CycleError> {
        let Some(run) = &record.run else { return Ok(false) };
        let is_its = |commit: &str| record.commit.as_deref() == Some(commit);
        Ok(self.reviews_of(run)?.iter().any(|review| !review.is_of_audit() && is_its(&review.commit)))
    }

    /// Earlier councils on the same question, newest first: the newest that a person answered, the newest that decided by itself, and the newest
    /// without an answer. However often a question was repeated, its answer is among them.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn earlier_councils(&self, question: &str) -> Result<Vec<Earlier>, CycleError> {
        let (topic, outlines) = (topic(question), self.council_outlines()?);
        let same = outlines.iter().rev().filter(|outline| outline.run.is_none() && outline.topic == topic);
        let councils = self.councils_of(same.take(limits::COUNCIL_HISTORY))?;
        let mut told = BTreeSet::new();
        let kind = |council: &Council| match council.state() {
            kind @ ("pending" | "decided") => kind,
            _ => "answered",
        };
        Ok(councils.iter().filter(|council| told.insert(kind(council))).map(Earlier::of).collect())
    }

    /// Notes for a person who relies on the answer to a question: that yes or no are no answer to it, and that a document of members lies in the
    /// work tree that nobody was asked by.
    ///
    /// # Errors
    /// The work tree or main cannot be read.
    pub fn council_notes(&self, question: &str, document: Option<&str>) -> Result<Vec<String>, CycleError> {
        let mut notes = Vec::new();
        if let Some(word) = open_word(question) {
            notes.push(format!("members answer yes or no, and {word:?} asks for something else"));
        }
        let (path, main) = (document.unwrap_or(DOCUMENT), self.store.main());
        let tree = self.store.tree_of(self.store.need_tip(main)?)?;
        let there = self.store.file(tree, path)?.map(|file| self.store.read_file(file, path)).transpose()?;
        match (self.store.read_work_file(path)?, there) {
            (Some(_), None) => notes.push(format!(
                "{path} lies in the work tree and is not committed on {main}, so its members were not asked: `git add {path}`, `git commit`"
            )),
            (Some(here), Some(there)) if here != there => notes.push(format!(
                "{path} differs in the work tree: the members that {main} names were asked, until the change is committed there"
            )),
            _ => {}
        }
        Ok(notes)
    }
}
