//! Commits on wake that are no runs: stimuli that arrive, queue entries that are put right.

use super::{Cycle, CycleError, signed};
use crate::model::ids::StimulusId;
use crate::store::{Author, CommitId, CommitSpec, RefChange, RefOutcome, Trailer, TreeEdit, TreeId};

/// Most `Stimulus:` trailers of one commit; the tree has all of them.
const STIMULUS_TRAILERS: usize = 64;

impl Cycle {
    /// Commits what `make` changes in wake's tree, and does it again on the new tip if wake was moved meanwhile. Call it
    /// under the trunk lock. The message is a subject, or a subject, an empty line and a body. `None`: there was nothing to change.
    pub fn change_wake(
        &self,
        message: &str,
        make: &mut dyn FnMut(TreeId) -> Result<(Vec<TreeEdit>, Vec<Trailer>), CycleError>,
    ) -> Result<Option<CommitId>, CycleError> {
        let store = &self.store;
        let mut races = store.races(store.wake());
        let (subject, body) = message.split_once("\n\n").unwrap_or((message, ""));
        loop {
            let tip = store.need_tip(store.wake())?;
            let tree = store.tree_of(tip)?;
            let (edits, mut trailers) = make(tree)?;
            if edits.is_empty() {
                return Ok(None);
            }
            trailers.extend(self.newest_run(tip)?.map(|run| ("Newest-Run".to_owned(), run.to_string())));
            trailers.extend(self.shared.clock_trailer());
            let writer = store.writer()?;
            let commit = writer.commit(&CommitSpec {
                tree: writer.edit(Some(tree), edits)?,
                parents: vec![tip],
                author: Author::User,
                at: self.shared.world.commit_seconds(),
                subject: subject.to_owned(),
                body: body.to_owned(),
                trailers,
            })?;
            writer.publish()?;
            self.refuse_unsigned(commit)?;
            let change = RefChange::advance(store.wake().clone(), tip, commit);
            match store.update_refs(&[change], "git-brain: wake")? {
                RefOutcome::Done { .. } => return Ok(Some(commit)),
                RefOutcome::Modified { .. } => races.lost()?,
            }
        }
    }
}

impl Cycle {
    /// Refuses a commit of a person before anything names it, where signatures are required and it has not the one it needs.
    pub(super) fn refuse_unsigned(&self, commit: CommitId) -> Result<(), CycleError> {
        let store = &self.store;
        if store.requires_signatures()?
            && let Some(why) = signed::unsigned_commit(store, &store.commit(commit)?)?
        {
            return Err(unrecorded(&format!("the commit of it {why}")));
        }
        Ok(())
    }

    /// Refuses a person whose key would not be taken, before anything is made with it.
    pub fn refuse_key(&self) -> Result<(), CycleError> {
        self.store.refused_key()?.map_or(Ok(()), |why| Err(unrecorded(&why)))
    }
}

/// The refusal of what no machine would take.
fn unrecorded(why: &str) -> CycleError {
    CycleError::Refused {
        message: format!("nothing was recorded, since no machine would take it: {why}"),
        hint: Some("`git config brain.signingKey` names the key, `git config user.email` whose it is".to_owned()),
    }
}

/// The trailers that name stimuli.
pub fn stimulus_trailers<'a>(ids: impl IntoIterator<Item = &'a StimulusId>) -> Vec<Trailer> {
    ids.into_iter().take(STIMULUS_TRAILERS).map(|id| ("Stimulus".to_owned(), id.to_string())).collect()
}
