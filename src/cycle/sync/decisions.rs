//! Decisions that no other machine takes, made while the clock was ahead for example: the ref of reviews again without them.

use std::collections::{BTreeSet, HashSet};

use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::plural;
use crate::store::{Author, CommitId, CommitSpec, Remote, TreeEdit};

impl Cycle {
    /// Puts upon the decisions of a remote, `there`, what it lacks of those here and may take; what it would refuse, and all that lies upon that, was
    /// in the way of every later one. The decisions as they were are kept as a rescue ref. Notes on what is left out; none where all is good.
    pub(super) fn leave_decisions_out(
        &self,
        remote: &Remote,
        there: Option<CommitId>,
    ) -> Result<Vec<String>, CycleError> {
        let Some(here) = self.store.reviews()? else { return Ok(Vec::new()) };
        let known: Vec<CommitId> = there.into_iter().collect();
        let since = self.store.requires_signatures()?.then(|| self.store.signed_since()).transpose()?;
        let new = self.store.commits_beyond(here, &known)?;
        let (mut bad, mut good, mut notes) = (HashSet::new(), Vec::new(), Vec::new());
        for id in &new {
            let faults = self.faults_of_decision(*id, since.as_ref())?;
            if !faults.is_empty() {
                notes.push(self.left_out_decision(*id, &faults)?);
            }
            if !faults.is_empty() || self.store.commit(*id)?.parents.iter().any(|parent| bad.contains(parent)) {
                bad.insert(*id);
            } else {
                good.push(*id);
            }
        }
        if bad.is_empty() {
            return Ok(notes);
        }
        let mut tip = there;
        for id in good {
            tip = Some(self.joined_reviews(tip, id)?);
        }
        let mut again = 0;
        for id in new.iter().filter(|id| bad.contains(id)) {
            match self.decision_again(tip, *id)? {
                None => {}
                Some(Ok(commit)) => {
                    tip = Some(commit);
                    again += 1;
                }
                // Those that are bad by themselves are named already.
                Some(Err(faults)) if self.faults_of_decision(*id, since.as_ref())?.is_empty() => {
                    notes.push(self.left_out_decision(*id, &faults)?);
                }
                Some(Err(_)) => {}
            }
        }
        let tip = match tip {
            Some(tip) => tip,
            None => self.decisions_of(None, Vec::new(), "no decisions", self.shared.world.commit_seconds())?,
        };
        self.store.rescue(here)?;
        if !self.store.advance_reviews(Some(here), tip)? {
            return Err(CycleError::Busy(format!("decisions were made meanwhile; sync with {} again", remote.name)));
        }
        if again > 0 {
            notes.push(format!(
                "{} put upon those of {} again",
                plural(again, "decision is", "decisions are"),
                remote.name
            ));
        }
        notes.push(format!("refs/brain/reviews is {tip} now; as it was it is kept as refs/git-brain/rescue/{here}"));
        Ok(notes)
    }

    /// What a commit of decisions adds, upon another one, or what is wrong with that; `None`: it adds nothing that is not there.
    fn decision_again(
        &self,
        upon: Option<CommitId>,
        id: CommitId,
    ) -> Result<Option<Result<CommitId, Faults>>, CycleError> {
        let store = &self.store;
        let commit = store.commit(id)?;
        if commit.parents.len() > 1 {
            return Ok(None);
        }
        let there = upon.map(|tip| store.tree_of(tip)).transpose()?;
        let mut edits = Vec::new();
        for path in self.added(&commit)? {
            let is_there = match there {
                Some(tree) => store.file(tree, &path)?.is_some(),
                None => false,
            };
            if let (false, Some(file)) = (is_there, store.file(commit.tree, &path)?) {
                edits.push(TreeEdit::new(path.clone(), Some(store.read_file(file, &path)?)));
            }
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let at = commit.at.min(self.shared.world.commit_seconds());
        let made = self.decisions_of(upon, edits, commit.subject(), at)?;
        let since = store.requires_signatures()?.then(|| store.signed_since()).transpose()?;
        let faults = self.faults_of_decision(made, since.as_ref())?;
        Ok(Some(if faults.is_empty() { Ok(made) } else { Err(faults) }))
    }

    fn decisions_of(
        &self,
        upon: Option<CommitId>,
        edits: Vec<TreeEdit>,
        subject: &str,
        at: i64,
    ) -> Result<CommitId, CycleError> {
        let base = upon.map(|tip| self.store.tree_of(tip)).transpose()?;
        let writer = self.store.writer()?;
        let commit = writer.commit(&CommitSpec {
            tree: writer.edit(base, edits)?,
            parents: upon.into_iter().collect(),
            author: Author::User,
            at,
            subject: subject.to_owned(),
            body: String::new(),
            trailers: Vec::new(),
        })?;
        writer.publish()?;
        Ok(commit)
    }

    fn left_out_decision(&self, id: CommitId, faults: &Faults) -> Result<String, CycleError> {
        let commit = self.store.commit(id)?;
        let why: BTreeSet<&str> = faults.iter().map(|(_, why)| why.as_str()).collect();
        let why: Vec<&str> = why.into_iter().take(limits::NAMED_FAULTS).collect();
        Ok(format!(
            "left out: the decision \"{}\" by {}, which {}",
            commit.subject(),
            commit.author,
            why.join(", and ")
        ))
    }
}

/// What is wrong with a commit of decisions, each with its path.
type Faults = Vec<(String, String)>;
