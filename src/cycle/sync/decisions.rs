//! Decisions here that no remote has, written again before they go out: without those that no other machine takes, made while the clock was ahead for
//! example, and without words that were taken back meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Theirs;
use super::remedy::is_about_decisions;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::plural;
use crate::review::{Remark, ReviewRecord};
use crate::store::{Author, Commit, CommitId, CommitSpec, REVIEWS, Remote, Trailer, TreeEdit};

impl Cycle {
    /// The error of decisions that cannot be pushed, as often as it was tried.
    pub(in crate::cycle) fn reviews_busy(remote: &Remote) -> CycleError {
        CycleError::Busy(format!(
            "others pushed reviews to {0} first, again and again; or a killed git left a lock there, and `git push {0} {REVIEWS}` names it",
            remote.name
        ))
    }

    /// Why a remote that has no reviews cannot have any: another ref is in their place.
    pub(in crate::cycle) fn reviews_blocked(
        &self,
        remote: &Remote,
        there: Option<CommitId>,
    ) -> Result<Option<String>, CycleError> {
        let made = there.is_none().then(|| REVIEWS.to_owned());
        Ok(self.store.in_the_way(remote, made.as_slice())?.into_iter().next().map(|(_, other)| {
            format!(
                "reviews stay here: {0} has {other}, and git has no ref in the place of another; `git push {0} --delete {other}` makes room, if it may go",
                remote.name
            )
        }))
    }

    /// The reason that decisions of a remote did not come, where something of it is refused for want of them, and the way on.
    pub(super) fn decisions_missing(
        &self,
        remote: &Remote,
        theirs: &Theirs,
    ) -> Result<Option<(String, String)>, CycleError> {
        if !theirs.refused.values().flatten().any(is_about_decisions) {
            return Ok(None);
        }
        let name = &remote.name;
        let again = format!("nothing has to be taken back at {name}: sync again once the decisions are there");
        let mends = format!("`git push {name} +{REVIEWS}:{REVIEWS}` from a clone whose sync was good brings them");
        if let Err(error) = &theirs.reviewed {
            let why = error.to_string().replace("; all else is done", "");
            let way = error.hint().unwrap_or(mends);
            return Ok(Some((format!("decisions are missing here, because {why}"), format!("{way}\n{again}"))));
        }
        if theirs.reviews.is_some() {
            return Ok(None);
        }
        let other = self.store.in_the_way(remote, &[REVIEWS.to_owned()])?.into_iter().next();
        Ok(Some(match other {
            Some((_, other)) => (
                format!("decisions are missing here: {name} has {other} in the place of {REVIEWS}"),
                format!("`git push {name} --delete {other}` makes room, then {mends}\n{again}"),
            ),
            // A team that has not decided on anything: no decision is missing.
            None if self.store.reviews()?.is_none() => return Ok(None),
            None => (
                format!("decisions are missing here: {name} has no {REVIEWS}"),
                format!("the next sync of a machine that has them brings them; {mends} as well\n{again}"),
            ),
        }))
    }

    /// The reason that decisions stay here: no other machine would take them, and at the remote they were in the way of all later ones. `None`: they may go.
    pub(in crate::cycle) fn stay_here(
        &self,
        remote: &Remote,
        ours: CommitId,
        there: Option<CommitId>,
    ) -> Result<Option<String>, CycleError> {
        let known: Vec<CommitId> = there.into_iter().collect();
        let since = self.store.requires_signatures()?.then(|| self.store.signed_since()).transpose()?;
        for id in self.store.commits_beyond(ours, &known)? {
            if let Some((path, why)) = self.faults_of_decision(id, since.as_ref())?.into_iter().next() {
                let place = if path.is_empty() { id.to_string() } else { path };
                return Ok(Some(format!(
                    "reviews stay here, no machine would take them: {place} {why}; \
                     `git brain sync {} --without-refused` goes on without those that are refused",
                    remote.name
                )));
            }
        }
        Ok(None)
    }

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
            match self.decision_again(tip, *id, &Replaced::new())? {
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
            None => self.decisions_of(
                None,
                Vec::new(),
                ("no decisions", String::new(), Vec::new()),
                self.shared.world.commit_seconds(),
            )?,
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

    /// Writes the decisions that `there` lacks again, where words of them were taken back since: each as people are told of it by now, so that those
    /// words go nowhere. What another remote may have, or another person's commit lies upon, stays as it was. Notes on what was done.
    pub(in crate::cycle) fn keep_words_back(&self, there: Option<CommitId>) -> Result<Vec<String>, CycleError> {
        let Some(here) = self.store.reviews()? else { return Ok(Vec::new()) };
        let known: Vec<CommitId> = there.into_iter().collect();
        let mut new = Vec::new();
        for id in self.store.commits_beyond(here, &known)? {
            let commit = self.store.commit(id)?;
            if commit.parents.len() < 2 {
                new.push(commit);
            }
        }
        let replaced = self.words_taken_back(&new)?;
        if replaced.is_empty() {
            return Ok(Vec::new());
        }
        let (_, own) = self.store.user();
        if self.store.remotes()?.len() > 1 || new.iter().any(|commit| commit.email != own) {
            return Ok(vec![
                "words that were taken back go out with their decision: another remote may have it, or another person's commit lies upon it".to_owned(),
            ]);
        }
        let mut tip = there;
        for commit in &new {
            match self.decision_again(tip, commit.id, &replaced)? {
                None => {}
                Some(Ok(made)) => tip = Some(made),
                // Whoever receives them says what is wrong.
                Some(Err(_)) => return Ok(Vec::new()),
            }
        }
        let count = replaced.keys().filter(|path| !Self::is_remark(path)).count();
        match tip {
            Some(tip) if self.store.advance_reviews(Some(here), tip)? => Ok(vec![format!(
                "{} out without the words that were taken back",
                plural(count, "decision goes", "decisions go")
            )]),
            _ => Ok(Vec::new()),
        }
    }

    /// Of the files that commits of decisions add: decisions as people are told of them, where a remark among those files takes words back, and nothing
    /// in place of its remarks; of one that takes a rejection back what it says besides.
    fn words_taken_back(&self, commits: &[Commit]) -> Result<Replaced, CycleError> {
        let (mut reviews, mut remarks) = (Vec::new(), Vec::new());
        for commit in commits {
            for path in self.added(commit)? {
                let Some(file) = self.store.file(commit.tree, &path)? else { continue };
                let bytes = self.store.read_file(file, &path)?;
                if Self::is_remark(&path) {
                    remarks.extend(Remark::decode(&bytes, &path));
                } else {
                    reviews.extend(ReviewRecord::decode(&bytes, &path));
                }
            }
        }
        remarks.sort_by(|a, b| a.remark.cmp(&b.remark));
        let mut replaced = Replaced::new();
        for review in reviews {
            let mut own = Vec::new();
            for remark in remarks.iter().filter(|remark| remark.review == review.review) {
                if self.remark_counts(remark, &review)? {
                    own.push(remark.clone());
                }
            }
            if own.iter().all(|remark| remark.forgets.is_empty()) {
                continue;
            }
            for remark in own.iter().filter(|remark| remark.again.is_some()) {
                let kept = Remark { forgets: Vec::new(), ..remark.clone() };
                replaced.insert(kept.path(), Some((kept.encode(), kept.why)));
            }
            let folded: Vec<Remark> = own.into_iter().map(Remark::without_again).collect();
            for remark in &folded {
                replaced.entry(remark.path()).or_insert(None);
            }
            let path = review.path();
            let review = review.with(&folded);
            replaced.insert(path, Some((review.encode(), review.why)));
        }
        Ok(replaced)
    }

    /// What a commit of decisions adds, with other files in place of some, upon another commit, or what is wrong with that; `None`: it adds nothing that
    /// is not there.
    fn decision_again(
        &self,
        upon: Option<CommitId>,
        id: CommitId,
        replaced: &Replaced,
    ) -> Result<Option<Result<CommitId, Faults>>, CycleError> {
        let store = &self.store;
        let commit = store.commit(id)?;
        if commit.parents.len() > 1 {
            return Ok(None);
        }
        let there = upon.map(|tip| store.tree_of(tip)).transpose()?;
        let (mut edits, mut why) = (Vec::new(), String::new());
        for path in self.added(&commit)? {
            match replaced.get(&path) {
                Some(None) => continue,
                Some(Some((bytes, reason))) => {
                    why.clone_from(reason);
                    edits.push(TreeEdit::new(path, Some(bytes.clone())));
                    continue;
                }
                None => {}
            }
            let is_there = match there {
                Some(tree) => store.file(tree, &path)?.is_some(),
                None => false,
            };
            if let (false, Some(file)) = (is_there, store.file(commit.tree, &path)?) {
                let bytes = store.read_file(file, &path)?;
                if let Ok(review) = ReviewRecord::decode(&bytes, &path) {
                    why = review.why;
                }
                edits.push(TreeEdit::new(path, Some(bytes)));
            }
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let at = commit.at.min(self.shared.world.commit_seconds());
        let made = self.decisions_of(upon, edits, (commit.subject(), why, commit.trailers.clone()), at)?;
        let since = store.requires_signatures()?.then(|| store.signed_since()).transpose()?;
        let faults = self.faults_of_decision(made, since.as_ref())?;
        Ok(Some(if faults.is_empty() { Ok(made) } else { Err(faults) }))
    }

    fn decisions_of(
        &self,
        upon: Option<CommitId>,
        edits: Vec<TreeEdit>,
        (subject, body, trailers): (&str, String, Vec<Trailer>),
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
            body,
            trailers,
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

    /// One commit that has the files of both; the one here, where the two differ by seams alone and the other side makes the next one.
    pub(in crate::cycle) fn joined_reviews(
        &self,
        here: Option<CommitId>,
        there: CommitId,
    ) -> Result<CommitId, CycleError> {
        let store = &self.store;
        let Some(here) = here else { return Ok(there) };
        if store.is_ancestor(here, there)? {
            return Ok(there);
        }
        if store.leaves_seam(here, there)? {
            return Ok(here);
        }
        let (ours, theirs) = (store.tree_of(here)?, store.tree_of(there)?);
        let writer = store.writer()?;
        if let Some(seam) = writer.seam(here, there)? {
            return writer.publish().map(|()| seam).map_err(CycleError::from);
        }
        let mut edits = Vec::new();
        for change in store.diff(Some(ours), Some(theirs), "")? {
            if let (None, Some(file)) = (change.old, change.new) {
                edits.push(TreeEdit::new(change.path.clone(), Some(store.read_file(file, &change.path)?)));
            }
        }
        let mut trailers = Vec::new();
        trailers.extend(self.shared.clock_trailer());
        let commit = writer.commit(&CommitSpec {
            tree: writer.edit(Some(ours), edits)?,
            parents: vec![here, there],
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject: "merge reviews".to_owned(),
            body: String::new(),
            trailers,
        })?;
        writer.publish()?;
        Ok(commit)
    }
}

/// Bytes in place of those of a path, with the reason in them; `None`: nothing is put in place of the file.
type Replaced = BTreeMap<String, Option<(Vec<u8>, String)>>;

/// What is wrong with a commit of decisions, each with its path.
type Faults = Vec<(String, String)>;
