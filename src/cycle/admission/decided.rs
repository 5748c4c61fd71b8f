//! What says that a person decided: held against the records of decisions, which came before.
//!
//! A reviewer's name in a trailer is a claim, and the id of the run that lands in place of another is known to whoever reads the record
//! that names it. Without these checks somebody else could make that run, or lend any run a reviewer.

use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::delta::RunRecord;
use crate::model::ids::RunId;
use crate::model::layout::Place;
use crate::model::{Neuron, Origin, Settings};
use crate::review::{REASON, ReviewRecord};
use crate::store::{Commit, File, FileChange, TreeId};

impl Judge<'_> {
    /// Refuses a reviewer whom a commit names and who decided nothing about its runs. For what comes from a remote this is not asked: its
    /// decisions may be refused, and that stops nothing else.
    pub(super) fn reviewers(&mut self, commit: &Commit) -> Result<(), CycleError> {
        let named: Vec<String> = commit.trailer_values("Reviewed-by").map(str::to_owned).collect();
        // Of a commit without a run, such as one of settings, the trailer says what git's users mean by it. Any line counts: `git log --grep`
        // looks at all of them.
        let names_a_run = commit.message.lines().any(|line| line.starts_with("Run: "));
        if !self.decisions_known || named.is_empty() || !names_a_run {
            return Ok(());
        }
        let about = commit.trailer_values("Run").chain(commit.trailer_values("Trigger").filter_map(about));
        let mut reviews = Vec::new();
        for run in about.filter_map(|run| RunId::parse(run).ok()).collect::<Vec<_>>() {
            reviews.extend(self.cycle.reviews_of(&run)?);
            // A merge names what landed in place of the run that was decided on.
            reviews.extend(self.landed_by(&run)?);
        }
        for name in named {
            if !reviews.iter().any(|review| !review.is_of_audit() && review.named() == name) {
                self.fault_of(
                    Kind::Reviewer,
                    commit,
                    "",
                    0,
                    format!("says that {name} reviewed it, and no decision of that name is known"),
                );
            }
        }
        Ok(())
    }

    /// Refuses a person's run that a decision lands, by anybody but who decided, and by whom the settings do not let decide.
    pub(super) fn amends(&mut self, commit: &Commit, record: &RunRecord, path: &str) -> Result<(), CycleError> {
        let Some(review) = self.landed_by(&record.run)? else { return self.takes_back(commit, record, path) };
        if review.address() != commit.email {
            let (by, of) = (review.address().to_owned(), review.run);
            self.fault_of(
                Kind::Reviewer,
                commit,
                path,
                1,
                format!("is what {by} made of {of}, and its commit is by {}", commit.email),
            );
            return Ok(());
        }
        let Some(here) = self.main.map(|main| self.settings_of(main)).transpose()?.flatten() else { return Ok(()) };
        let from = commit.parents.first().copied().unwrap_or(commit.id);
        for settings in self.settings_since(from, &here)?.iter() {
            if self.may_decide(&review, settings)? {
                return Ok(());
            }
        }
        let (by, of) = (review.address(), &review.run);
        self.fault_of(
            Kind::Reviewer,
            commit,
            path,
            1,
            format!("is what {by} made of {of}, and {by} may not decide on that"),
        );
        Ok(())
    }

    /// Refuses a person's run by which a rejection is taken back, by anybody but who says so, and by whom the settings do not let decide.
    fn takes_back(&mut self, commit: &Commit, record: &RunRecord, path: &str) -> Result<(), CycleError> {
        let Some(about) = about(&record.trigger).and_then(|run| RunId::parse(run).ok()) else { return Ok(()) };
        let Some((remark, review)) = self.cycle.taken_back_as(&about, &record.run)? else { return Ok(()) };
        let by = remark.address().to_owned();
        if by == commit.email && by == review.address() {
            return Ok(());
        }
        let here = self.settings_of_main()?;
        let from = commit.parents.first().copied().unwrap_or(commit.id);
        let settings = self.settings_since(from, &here)?;
        if by != commit.email || !settings.iter().any(|settings| settings.review.lets_decide(&by)) {
            let why =
                format!("takes the rejection of {about} back for {by}, and {} may not decide on that", commit.email);
            self.fault_of(Kind::Reviewer, commit, path, 1, why);
        }
        Ok(())
    }

    /// Refuses an approval of an origin, by anybody but the reviewers of main: it lets what they have seen once into what everybody believes.
    pub(super) fn approves(&mut self, commit: &Commit, record: &RunRecord, path: &str) -> Result<(), CycleError> {
        let mut moved = record.effects.iter().filter_map(|effect| effect.origin.as_ref()).peekable();
        if record.approves.is_empty() && moved.peek().is_none() {
            return Ok(());
        }
        let here = self.settings_of_main()?;
        if !record.approves.is_empty()
            || moved.any(|(before, after)| lets_in(&here, std::slice::from_ref(before), after))
        {
            self.may_approve(commit, path)?;
        }
        Ok(())
    }

    /// The same of neurons that a person's commit writes by hand; of a merge, beside what the other parent has too.
    pub(super) fn approves_by_hand(
        &mut self,
        commit: &Commit,
        changes: &[FileChange],
        other: Option<TreeId>,
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let mut here = None;
        for change in changes {
            let (Place::Neuron(_), Some(new)) = (Place::of(&change.path), change.new) else { continue };
            let origin = |file: File| -> Result<Option<Origin>, CycleError> {
                Ok(Neuron::decode(&store.blob(file.blob)?, &change.path).ok().map(|neuron| neuron.origin))
            };
            let there = other.map(|tree| store.file(tree, &change.path)).transpose()?.flatten();
            let mut before = Vec::new();
            for file in change.old.into_iter().chain(there) {
                before.extend(origin(file)?);
            }
            let Some(after) = origin(new)?.filter(|after| !before.contains(after)) else { continue };
            let settings = match &mut here {
                Some(known) => known,
                none => none.insert(self.settings_of_main()?),
            };
            if lets_in(settings, &before, &after) {
                return self.may_approve(commit, &change.path);
            }
        }
        Ok(())
    }

    /// The settings of main, or the defaults.
    fn settings_of_main(&self) -> Result<Settings, CycleError> {
        Ok(self.main.map(|main| self.settings_of(main)).transpose()?.flatten().unwrap_or_default())
    }

    fn may_approve(&mut self, commit: &Commit, path: &str) -> Result<(), CycleError> {
        let settings = self.settings_of_main()?;
        let may = &settings.review.reviewers;
        let from = commit.parents.first().copied().unwrap_or(commit.id);
        let lets = |settings: &Settings| {
            settings.review.reviewers.is_empty() || settings.review.reviewers.contains(&commit.email)
        };
        if !self.settings_since(from, &settings)?.iter().any(lets) {
            let why = format!("approves what is not trusted, by {}: {} may", commit.email, may.join(", "));
            self.fault_of(Kind::Reviewer, commit, path, 1, why);
        }
        Ok(())
    }

    /// The decision that a person's run carries out.
    fn landed_by(&mut self, run: &RunId) -> Result<Option<ReviewRecord>, CycleError> {
        if !run.is_a_persons() {
            return Ok(None);
        }
        if self.decisions.is_none() {
            self.decisions = Some(self.cycle.review_paths()?);
        }
        for (review, path) in self.decisions.iter().flatten() {
            // Both are named in one breath.
            if review.unix_ms() != run.unix_ms() {
                continue;
            }
            let review = self.cycle.review_at(path)?;
            if let Some(review) = review.filter(|review| review.lands.as_ref() == Some(run)) {
                return Ok(Some(review));
            }
        }
        Ok(None)
    }
}

/// The run whose review a trigger names.
fn about(trigger: &str) -> Option<&str> {
    trigger.strip_prefix(REASON)
}

fn is_approved(origin: &Origin) -> bool {
    origin.classes().any(|class| class == "approved")
}

/// Whether a change of where a neuron comes from lets in what is not trusted: none of the origins before was approved, or all of them were not trusted.
fn lets_in(settings: &Settings, before: &[Origin], after: &Origin) -> bool {
    let is_tainted = |origin: &Origin| settings.origins.is_tainted(origin);
    is_approved(after) && !before.iter().any(is_approved)
        || !before.is_empty() && before.iter().all(is_tainted) && !is_tainted(after)
}
