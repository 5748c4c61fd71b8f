//! `sync`: this brain and another repository of it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::sync::{Overruled, Owed};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::review::Review;
use crate::model::{layout, plural};
use crate::review::{LESSON, ReviewRecord, Verdict};
use crate::store::CommitId;

/// What `sync` did.
#[derive(Clone, Debug, Serialize)]
pub struct SyncReport {
    /// The remote's name here.
    pub remote: String,
    /// Commits that came in.
    pub fetched: usize,
    /// Branches that the remote got, with what they are there now; null: removed, because their run is in wake.
    pub pushed: Vec<PushedBranch>,
    /// The same of a dry run: what the remote would get.
    pub would_push: Vec<PushedBranch>,
    /// Main's tip.
    pub main: Option<String>,
    /// Wake's tip.
    pub wake: Option<String>,
    /// Whether main or wake moved here.
    pub moved: bool,
    /// Main's old tip, where the remote's was not its descendant: kept under `refs/git-brain/rescue/`.
    pub rescued: Option<String>,
    /// How often somebody else pushed first.
    pub races: usize,
    /// Decisions, remarks on them and records of councils that came in.
    pub decisions_in: usize,
    /// The same that went out; of a dry run, that would.
    pub decisions_out: usize,
    /// Whether nothing was moved.
    pub dry_run: bool,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<String>,
    /// Why other machines may refuse what is committed here.
    pub warnings: Vec<String>,
    /// Where commits here were left out, the decisions in those that are carried out again.
    #[serde(skip)]
    pub owed: Option<Owed>,
}

/// A branch that the remote got.
#[derive(Clone, Debug, Serialize)]
pub struct PushedBranch {
    /// The branch.
    pub branch: String,
    /// What it is there now.
    pub commit: Option<String>,
}

/// Who may decide now that might not before, and which rules are others, in words.
fn other_rules(before: &Review, now: &Review) -> Vec<String> {
    let people = |may: &[String]| if may.is_empty() { "everybody here".to_owned() } else { may.join(", ") };
    let mut said = Vec::new();
    if before.reviewers != now.reviewers {
        said.push(format!("{} may decide, before {}", people(&now.reviewers), people(&before.reviewers)));
    }
    if before.bots != now.bots {
        let bots = |bots: &[String]| if bots.is_empty() { "no bot".to_owned() } else { bots.join(", ") };
        said.push(format!("on forges the word of {} counts, before that of {}", bots(&now.bots), bots(&before.bots)));
    }
    if before.council != now.council {
        let named =
            |path: &str| if path.is_empty() { "no council".to_owned() } else { format!("the council of {path}") };
        said.push(format!("{} decides, before {}", named(&now.council), named(&before.council)));
    }
    let others =
        now.seats.iter().filter(|(path, seats)| before.seats.get(*path).is_some_and(|before| before != *seats));
    said.extend(others.map(|(path, _)| format!("the council of {path} has other members or thresholds")));
    let names: BTreeSet<&str> = before.rule.iter().chain(&now.rule).map(|rule| rule.name.as_str()).collect();
    for name in names {
        let of = |review: &Review| review.rule.iter().find(|rule| rule.name == name).cloned();
        let who = |review: &Review| people(review.reviewers_of(Some(name)));
        match (of(before), of(now)) {
            (None, Some(_)) => said.push(format!("the rule {name} is new, and {} may decide", who(now))),
            (Some(_), None) => said.push(format!("the rule {name} is gone")),
            (old, new) if old != new && who(before) != who(now) => {
                said.push(format!("by the rule {name} {} may decide, before {}", who(now), who(before)));
            }
            (old, new) if old != new => said.push(format!("the rule {name} is another one")),
            _ => {}
        }
    }
    if said.is_empty() {
        said.push("the order of its rules".to_owned());
    }
    said
}

impl Brain {
    /// Brings this brain and a remote to the same main and wake; with `without_refused`, after leaving out the commits here that the remote
    /// would refuse. A dry run does the same, judged by the same, and nothing of it stays but objects that no ref names.
    pub fn sync(&self, remote: Option<&str>, without_refused: bool, dry_run: bool) -> Result<SyncReport, BrainError> {
        if !dry_run {
            let (base, was_cut_off) = self.before_meeting(remote)?;
            let synced = self.synced(remote, without_refused);
            let forgotten = || self.end_forgotten_keys().unwrap_or_else(|error| vec![error.to_string()]);
            return match synced.and_then(|report| self.met(remote, report, base, was_cut_off)) {
                Ok(mut report) => {
                    report.notes.extend(self.take_notes());
                    report.notes.extend(forgotten());
                    Ok(report)
                }
                // Main may have come in, with a night that brought a tombstone.
                Err(BrainError::Refused { message, hint }) => {
                    let said: Vec<String> = std::iter::once(message).chain(forgotten()).collect();
                    Err(BrainError::Refused { message: said.join("\n"), hint })
                }
                Err(error) => Err(error),
            };
        }
        let rehearsal = self.cycle.store.rehearse();
        let rehearsed = self.synced(remote, without_refused);
        drop(rehearsal);
        let store = &self.cycle.store;
        let tip = |branch| Ok::<_, BrainError>(store.tip(branch)?.map(|tip| tip.to_string()));
        match rehearsed {
            Ok(report) => Ok(SyncReport {
                would_push: report.pushed,
                pushed: Vec::new(),
                main: tip(store.main())?,
                wake: tip(store.wake())?,
                moved: false,
                dry_run: true,
                ..report
            }),
            Err(BrainError::Refused { message, hint }) => Err(BrainError::Refused {
                message: format!("a dry run, so nothing was moved or pushed; the sync would end with this:\n{message}"),
                hint,
            }),
            Err(error) => Err(error),
        }
    }

    /// Settles what both sides corrected before they met, and brings that to the remote as well.
    fn met(
        &self,
        remote: Option<&str>,
        mut report: SyncReport,
        base: Option<CommitId>,
        was_cut_off: bool,
    ) -> Result<SyncReport, BrainError> {
        let has_met = report.fetched > 0 || was_cut_off;
        let mut settled = match report.owed.take() {
            Some(owed) => self.decided_again(&owed),
            None => Vec::new(),
        };
        settled.extend(self.settle_meeting(base, has_met)?);
        if settled.is_empty() {
            return Ok(report);
        }
        report.notes.extend(settled);
        match self.synced(remote, false) {
            Ok(again) => {
                let known: BTreeSet<String> = again.pushed.iter().map(|pushed| pushed.branch.clone()).collect();
                report.pushed.retain(|pushed| !known.contains(&pushed.branch));
                report.pushed.extend(again.pushed);
                report.notes.extend(again.notes);
                (report.main, report.wake, report.moved) = (again.main, again.wake, true);
                report.fetched += again.fetched;
                report.races += again.races;
                report.decisions_in += again.decisions_in;
                report.decisions_out += again.decisions_out;
            }
            // What was met is settled here, and goes out with the next sync.
            Err(error) => report.notes.push(format!("it goes to the remote with the next sync: {error}")),
        }
        Ok(report)
    }

    fn synced(&self, remote: Option<&str>, without_refused: bool) -> Result<SyncReport, BrainError> {
        let (mut given_way, review) = (self.finish_left(), self.cycle.review_of_main()?);
        let (wake, decided) = (self.at(None).ok(), self.cycle.store.reviews()?);
        let waited = self.cycle.branches_of_runs()?.len();
        let mut synced = self.cycle.sync(remote, without_refused)?;
        while let Some(overruled) = synced.overruled.take() {
            let before = self.at(None)?;
            self.give_way(&overruled, &mut given_way)?;
            if self.at(None)? == before {
                let runs: Vec<&str> = overruled.runs.iter().map(RunId::as_str).collect();
                return Err(BrainError::refused(format!("{} had another decision here and there", runs.join(", "))));
            }
            let (decisions, fetched, owed) = (synced.decisions, synced.fetched, synced.owed.take());
            synced = self.cycle.sync(remote, without_refused)?;
            synced.owed = synced.owed.or(owed);
            // The same commits, judged again or known by now.
            synced.fetched = synced.fetched.max(fetched);
            synced.decisions.0 += decisions.0;
            synced.decisions.1 += decisions.1;
        }
        self.decided_first_elsewhere(decided, &mut given_way)?;
        synced.notes.splice(0..0, given_way);
        if let (Some(before), Some(now)) = (wake, synced.wake) {
            synced.notes.extend(self.cycle.words_that_gave_way(before, now)?);
        }
        // Who may push to main decides who reviews: that is never done in silence.
        let now = self.cycle.review_of_main()?;
        if now != review {
            synced.notes.push(format!(
                "[review] of {main} is another one now, and holds: {}; `git log -p {main} -- {}` shows who changed it",
                other_rules(&review, &now).join("; "),
                layout::SETTINGS,
                main = self.cycle.store.main()
            ));
        }
        if synced.fetched > 0 && self.cycle.branches_of_runs()?.len() > waited {
            let waiting = self.reviews()?.waiting.len();
            synced.notes.push(format!("{}: `git brain review`", plural(waiting, "run waits", "runs wait")));
        }
        let text = |id: crate::store::CommitId| id.to_string();
        let pushed = |(branch, commit): (crate::store::Branch, Option<_>)| PushedBranch {
            branch: branch.to_string(),
            commit: commit.map(text),
        };
        Ok(SyncReport {
            remote: synced.remote,
            fetched: synced.fetched,
            pushed: synced.pushed.into_iter().map(pushed).collect(),
            would_push: Vec::new(),
            main: synced.main.map(text),
            wake: synced.wake.map(text),
            moved: synced.moved,
            rescued: synced.rescued.map(text),
            races: synced.races,
            decisions_in: synced.decisions.0,
            decisions_out: synced.decisions.1,
            dry_run: false,
            notes: synced.notes,
            warnings: self.warnings()?,
            owed: synced.owed,
            left: synced.left.into_iter().map(|left| format!("{} ({})", left.path, left.reason)).collect(),
        })
    }

    /// Says of decisions here that another one stands which came in, where nothing of theirs had to be taken back.
    fn decided_first_elsewhere(&self, before: Option<CommitId>, notes: &mut Vec<String>) -> Result<(), BrainError> {
        let store = &self.cycle.store;
        let (Some(before), Some(now)) = (before, store.reviews()?) else { return Ok(()) };
        if before == now {
            return Ok(());
        }
        let wake = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let known = store.tree_of(before)?;
        for change in store.diff(Some(known), Some(store.tree_of(now)?), "")? {
            let run = ReviewRecord::run_in(&change.path).filter(|_| change.old.is_none() && change.new.is_some());
            let Some(run) = run.filter(|run| !notes.iter().any(|note| note.contains(run.as_str()))) else { continue };
            if store.folder(known, &ReviewRecord::folder_of(&run))?.is_none() {
                continue;
            }
            let Some(first) = self.cycle.decision_that_stands(&wake, &run)? else { continue };
            let own = self.cycle.reviews_of(&run)?.into_iter().find(|own| {
                own.review != first.review && store.file(known, &own.path()).is_ok_and(|file| file.is_some())
            });
            if let Some(own) = own.filter(|own| own.verdict != first.verdict || own.lands != first.lands)
                && first.path() == change.path
                && self.cycle.stands(&wake, &first)?
            {
                let words = self.cycle.with_remarks(first)?.words();
                notes.push(format!(
                    "{run} was decided on elsewhere first ({words}), and that decision stands, not that it was {} by {}; \
                     `git brain review --decided` lists both",
                    own.verdict.done(),
                    own.reviewer
                ));
            }
        }
        Ok(())
    }

    /// Takes back the nights, newest first, that brought a run to main of which the remote has another record.
    fn undo_nights_of(&self, run: &RunId, there: CommitId, notes: &mut Vec<String>) -> Result<(), BrainError> {
        let (store, path) = (&self.cycle.store, layout::run(run));
        let theirs = store.file(store.tree_of(there)?, &path)?;
        for _ in 0..limits::SYNC_ROUNDS {
            let main = store.file(store.tree_of(store.need_tip(store.main())?)?, &path)?;
            if main.is_none() || main == theirs {
                break;
            }
            let undone = self.undo_sleep(false)?;
            notes.push(format!(
                "the night {} is taken back, because it brought {run} to {}",
                undone.undone,
                store.main()
            ));
        }
        Ok(())
    }

    /// The decision on a run that another wake has: an amendment whose run is there leaves of the run itself what a rejection leaves.
    fn decided_there(&self, run: &RunId, theirs: &TreeNetwork<'_>) -> Result<Option<ReviewRecord>, BrainError> {
        let is_left = theirs.record(run)?.is_some_and(|record| record.is_left_over());
        let mut rejection = None;
        for review in self.cycle.reviews_of(run)? {
            let landed = review.lands.as_ref().map(|landed| theirs.record(landed)).transpose()?.flatten().is_some();
            let is_its = match review.verdict {
                Verdict::Approve => !is_left,
                Verdict::Amend => is_left && landed,
                Verdict::Reject => is_left && rejection.is_none(),
            };
            if is_its && self.cycle.counts_for_its_run(&review)? {
                let review = self.cycle.with_remarks(review)?;
                if review.verdict != Verdict::Reject {
                    return Ok(Some(review));
                }
                rejection = Some(review);
            }
        }
        Ok(rejection)
    }

    /// Takes back what was decided here on runs that were decided on otherwise there first: what landed by it, what was learnt from it, and
    /// the record of the run.
    fn give_way(&self, overruled: &Overruled, notes: &mut Vec<String>) -> Result<(), BrainError> {
        let store = &self.cycle.store;
        let theirs = TreeNetwork::new(store, store.tree_of(overruled.there)?);
        for run in &overruled.runs {
            self.undo_nights_of(run, overruled.there, notes)?;
            for landed in self.cycle.reviews_of(run)?.into_iter().filter_map(|review| review.lands) {
                self.undo_nights_of(&landed, overruled.there, notes)?;
            }
            let here = store.tree_of(self.at(None)?)?;
            let ours = TreeNetwork::new(store, here);
            let path = layout::run(run);
            let is_other = store.file(here, &path)? != store.file(store.tree_of(overruled.there)?, &path)?;
            let record = ours.record(run)?.filter(|record| is_other && !record.effects.is_empty());
            let mut own: Vec<RunId> =
                self.cycle.reviews_of(run)?.into_iter().filter_map(|review| review.lands).collect();
            own.extend(overruled.made.iter().filter(|(_, about)| about == run).map(|(made, _)| made.clone()));
            own.sort();
            own.dedup();
            let had_landed = own.iter().any(|landed| ours.record(landed).is_ok_and(|record| record.is_some()));
            for entry in self.entries_of(run)? {
                let is_lesson = ours.record(&entry.run)?.is_some_and(|record| record.trigger == LESSON);
                let stays = self.cycle.takes_rejection_back(here, &entry.run, run)?;
                own.extend(Some(entry.run).filter(|_| is_lesson && !stays));
            }
            let mut taken_back: Vec<_> = record.into_iter().collect();
            for own in own {
                if theirs.record(&own)?.is_none()
                    && let Ok(chosen) = self.cycle.run_to_revert(&own, here)
                {
                    taken_back.extend(chosen);
                }
            }
            // What archived the memories that it replaces goes with it, whatever let it in.
            for archival in self.archivals_beside(&taken_back)?.0 {
                taken_back
                    .extend(Some(archival).filter(|one| theirs.record(&one.run).is_ok_and(|known| known.is_none())));
            }
            taken_back.sort_by(|a, b| b.run.cmp(&a.run));
            if !taken_back.is_empty() {
                self.revert_but(taken_back, overruled.there)?;
            }
            if is_other {
                self.cycle.give_way(run, overruled.there)?;
            }
            let there = self.decided_there(run, &theirs)?;
            let first = there.as_ref().map(|review| format!(" ({})", review.words())).unwrap_or_default();
            let is_whole = theirs.record(run)?.is_some_and(|record| !record.is_left_over());
            if there.is_none() && is_whole {
                notes.push(format!(
                    "{run} was merged elsewhere first, without a decision, and that stands: what was decided here is taken back; \
                     `git brain revert {run}` takes back what it did"
                ));
                continue;
            }
            let landed_there = there.is_some_and(|review| review.verdict != Verdict::Reject);
            notes.push(match is_other || had_landed || landed_there {
                true => format!(
                    "{run} was decided on elsewhere first{first}, and that decision stands: what landed and was learnt here by ours is taken \
                     back; `git brain review --decided` lists both"
                ),
                false => format!("{run} was decided on elsewhere first{first}: the lesson of the decision here is taken back, so that one teaches"),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::review::ReviewRule;

    #[test]
    fn a_rule_that_changes_is_told() {
        let rule = |name: &str, may: &[&str]| ReviewRule {
            name: name.to_owned(),
            reviewers: may.iter().map(|one| (*one).to_owned()).collect(),
            ..ReviewRule::default()
        };
        let review = |rule: Vec<ReviewRule>| Review { reviewers: vec!["anna".to_owned()], rule, ..Review::default() };
        let before = review(vec![rule("web", &[]), rule("old", &[])]);
        let now = review(vec![rule("web", &["mallory"]), rule("new", &["ben"])]);
        assert_eq!(
            other_rules(&before, &now),
            [
                "the rule new is new, and ben may decide",
                "the rule old is gone",
                "by the rule web mallory may decide, before anna"
            ]
        );
        assert_eq!(
            other_rules(&before, &Review { reviewers: vec!["mallory".to_owned()], ..before.clone() })[0],
            "mallory may decide, before anna"
        );
    }
}
