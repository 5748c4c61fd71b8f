//! Many machines: what another repository of the brain has comes in, what this one has goes out.
//!
//! ```text
//! fetch → (1) was it rewritten? → (2) admission → (3) merge, under the trunk lock → (4) admission there → push, expecting what was fetched
//!   ▲                                                                                                      │
//!   └────────────────────────────────── somebody else pushed first ◀────────────────────────────────────────┘
//! ```
//!
//! (4) is `outgoing`: what is pushed is judged here as the other side judges it. Nothing is forced, here or there. What is pushed descends from what the remote has, and goes as a whole or not at all.
//! What (1) refuses moves nothing here; of what (2) refuses the branch is left alone, here and there, and the others go on. `trunks` has the rules by which main and wake of two machines become one.
//! No agent is started: what came in is news for the next `run`.

mod again;
mod decisions;
mod ended;
mod offer;
mod outgoing;
mod overruled;
mod owed;
mod places;
pub mod receive;
mod remedy;
mod standoff;
mod there;
mod trunks;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::admission::{Door, Fault};
use super::{Cycle, CycleError, signed};
use crate::cycle::commit::run_of;
use crate::limits;
use crate::model::layout::{self, Place};
use crate::store::{Branch, CommitId, Left, LockName, PushOutcome, Pushed, Remote, Tips};
use crate::world::progress::report;
pub use offer::Outlet;
pub use overruled::Overruled;
pub use owed::Owed;
pub use places::NearRemote;
use remedy::{WITHOUT_REFUSED, is_about_decisions};
pub use standoff::Standoff;
use trunks::Joined;

/// The folder of refs of ours that no remote has.
const OWN_REFS: &str = "refs/git-brain";

/// What a sync did.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// The remote's name here.
    pub remote: String,
    /// Commits that came in.
    pub fetched: usize,
    /// Branches that the remote got, with what they are there now; `None`: removed, because their run is in wake.
    pub pushed: Vec<(Branch, Option<CommitId>)>,
    /// Main's tip.
    pub main: Option<CommitId>,
    /// Wake's tip.
    pub wake: Option<CommitId>,
    /// Whether main or wake moved here.
    pub moved: bool,
    /// Main's old tip, where the remote's was not its descendant: kept under `refs/git-brain/rescue/`.
    pub rescued: Option<CommitId>,
    /// How often somebody else pushed first.
    pub races: usize,
    /// Decisions, remarks on them and records of councils that came in, and those that went out.
    pub decisions: (usize, usize),
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<Left>,
    /// Runs on which the remote has another decision: nothing was joined, and those here have to give way first.
    pub overruled: Option<Overruled>,
    /// Where commits here were left out, the decisions in those that are carried out again.
    pub owed: Option<Owed>,
}

impl Synced {
    /// Says something once, however many rounds there are.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What a remote has.
struct Theirs {
    /// The branches that may come in.
    tips: Tips,
    /// Those that may not, each with what is wrong with its commits.
    refused: BTreeMap<Branch, BTreeSet<Fault>>,
    /// What those are there.
    left_out: Tips,
    /// Branches of runs that were thrown away, as far as wake here or there says so.
    rejected: Tips,
    /// Wake there, where it may not come in: of its runs nothing else goes there.
    wake: Option<CommitId>,
    /// Notes on the decisions that came and went, or why they are not let in.
    reviewed: Result<Vec<String>, CycleError>,
    /// Decisions there, before this sync.
    reviews: Option<CommitId>,
    /// Runs on which wake there has another decision.
    overruled: Option<Overruled>,
    /// Whether the remote is empty.
    begins: bool,
    /// Whether main there is what was last seen of it.
    main_rests: bool,
}

/// The refusal of a remote's decisions, where what was decided here stays here with them.
fn held_back(error: CycleError) -> CycleError {
    match error {
        CycleError::Refused { message, hint } => CycleError::Refused {
            message: message.replace("all else is done", "main and wake stay here until yours can go there"),
            hint,
        },
        other => other,
    }
}

impl Cycle {
    /// Brings this brain and a remote to the same main and wake. With `without_refused`, goes on without the commits here that the remote
    /// would refuse. In a rehearsal the same is done, and nothing stays of it.
    pub fn sync(&self, asked: Option<&str>, without_refused: bool) -> Result<Synced, CycleError> {
        let remote = self.store.remote(asked)?;
        self.refuse_untrusted(&remote)?;
        if self.store.is_shallow() {
            return Err(CycleError::Refused {
                message: "this is a shallow clone: without its history nothing can be merged".to_owned(),
                hint: Some("`git fetch --unshallow`, then sync again".to_owned()),
            });
        }
        let _alone = self.store.lock(LockName::Sync)?;
        // Nobody else writes there: a sync that was killed may have left git's locks.
        self.store.outwait_below(OWN_REFS);
        let mut synced = Synced { remote: remote.name.clone(), ..Synced::default() };
        let outcome = self.exchange(&remote, without_refused, &mut synced);
        self.store.forget_incoming(&remote)?;
        match outcome {
            Ok(()) => Ok(synced),
            // What was left out is told, whatever the rest of the sync came to.
            Err(CycleError::Refused { message, hint }) if without_refused && synced.moved => {
                Err(CycleError::Refused { message: format!("{}\n{message}", synced.notes.join("\n")), hint })
            }
            Err(error) => Err(error),
        }
    }

    fn exchange(&self, remote: &Remote, without_refused: bool, synced: &mut Synced) -> Result<(), CycleError> {
        if let Some((message, hint)) = signed::unsigned_main(&self.store)? {
            return Err(CycleError::Refused { message, hint: Some(hint) });
        }
        let mut blocked = BTreeSet::new();
        for round in 0..limits::SYNC_ROUNDS {
            report("fetching", 0, 0);
            let mut theirs = self.fetched(remote, synced)?;
            self.note_waiting_there(remote, &theirs, &[])?;
            self.refuse_wake_on_main(remote, theirs.tips.get(self.store.main()).copied())?;
            if without_refused && round == 0 {
                self.leave_refused_out(remote, &mut theirs, synced)?;
            }
            if theirs.overruled.is_some() {
                synced.overruled = theirs.overruled;
                return Ok(());
            }
            let before = (self.store.tip(self.store.main())?, self.store.tip(self.store.wake())?);
            report("merging", 0, 0);
            let mut tips = theirs.tips.clone();
            if let Some(main) = tips.get(self.store.main()).copied().filter(|_| theirs.main_rests)
                && self.main_stays(remote, main)?
            {
                tips.remove(self.store.main());
            }
            let joined = match self.join(&tips, synced) {
                // Who said what is for the person who settles it.
                Err(CycleError::Refused { message, hint }) => {
                    let said = std::iter::once(message).chain(self.sides_of(&theirs.tips)?);
                    return Err(CycleError::Refused { message: said.collect::<Vec<_>>().join("\n"), hint });
                }
                joined => joined?,
            };
            if let Some(old) = synced.rescued
                && let Some(other) = self.other_line(remote, old, joined.main)?
            {
                synced.note(format!(
                    "main of {0} and main of {other} have nights of their own, and the last remote to sync with decides which main is here: \
                     sleep for one of them alone. Wake has both",
                    remote.name
                ));
            }
            self.clear_settled(joined.wake)?.iter().for_each(|cleared| synced.note(cleared.words()));
            synced.moved |= before != (Some(joined.main), Some(joined.wake));
            let mut wishes = self.allowed(remote, self.wishes(&theirs, &joined, synced)?, &theirs, synced)?;
            wishes.retain(|wish| !blocked.contains(&wish.branch));
            // Without its decision nobody could take what landed by it, and would be shut out.
            let waits = theirs.reviewed.is_err() && self.rests_on_decisions(&theirs.tips, joined.wake)?;
            if waits {
                let trunks = [self.store.main(), self.store.wake()];
                wishes.retain(|wish| wish.new.is_some() && !trunks.contains(&&wish.branch));
            }
            report("pushing", 0, 0);
            (synced.main, synced.wake) = (Some(joined.main), Some(joined.wake));
            let outcome = match wishes.is_empty() {
                true => PushOutcome::Done,
                // An empty remote with our gate takes wake with the decisions that it rests on, or neither.
                false if theirs.begins => self.store.push_with_reviews(remote, &wishes)?,
                false => self.store.push(remote, &wishes)?,
            };
            match outcome {
                PushOutcome::Done => {
                    let ours = [(self.store.main(), joined.main), (self.store.wake(), joined.wake)];
                    let there = ours.into_iter().filter(|(branch, _)| !waits && !theirs.refused.contains_key(branch));
                    let mut now = Tips::new();
                    for (branch, tip) in there {
                        now.insert(branch.clone(), self.trunk_there(&theirs.tips, branch, tip)?);
                    }
                    if self.store.is_radicle(remote)? {
                        let (shown, _) = self.store.remote_tips(remote)?;
                        now.retain(|branch, tip| shown.get(branch) == Some(tip));
                    }
                    self.store.set_seen(remote, &now)?;
                    synced.pushed = wishes.into_iter().map(|wish| (wish.branch, wish.new)).collect();
                    self.tidy_up();
                    self.note_waiting_there(remote, &theirs, &synced.pushed)?;
                    self.refusal(remote, &theirs)?;
                    let reviewed = theirs.reviewed.map_err(|error| if waits { held_back(error) } else { error });
                    reviewed?.into_iter().for_each(|note| synced.note(note));
                    return Ok(());
                }
                PushOutcome::Modified => match self.blocked_there(remote, &wishes, synced)? {
                    found if found.is_empty() => synced.races += 1,
                    found => blocked.extend(found),
                },
                PushOutcome::Refused(why) => {
                    return Err(CycleError::Refused {
                        message: format!("{} refused the push:\n{why}", remote.name),
                        hint: Some(format!(
                            "the remote's commits are merged here; none of yours were pushed. Where it names commits, `git brain sync \
                             {WITHOUT_REFUSED}` goes on without those that are refused here as well; `git brain check` lists them. Of a key that may not sign \
                             any more, docs/signing.md has the ways to let a commit in"
                        )),
                    });
                }
            }
            self.pause(round);
        }
        Err(CycleError::Busy(format!(
            "others were faster {} times, and pushed to {1} first; or a killed git left a lock there, and `git push {1} {2}` names it",
            limits::SYNC_ROUNDS,
            remote.name,
            self.store.wake()
        )))
    }

    /// The branches that a remote cannot have because another is in their place, each with a note. Without main and wake nothing can be shared.
    fn blocked_there(
        &self,
        remote: &Remote,
        wishes: &[Pushed],
        synced: &mut Synced,
    ) -> Result<Vec<Branch>, CycleError> {
        let made = wishes.iter().filter(|wish| wish.old.is_none() && wish.new.is_some());
        let made: Vec<String> = made.map(|wish| wish.branch.full()).collect();
        let mut found = Vec::new();
        for (name, other) in self.store.in_the_way(remote, &made)? {
            let Some(wish) = wishes.iter().find(|wish| wish.branch.full() == name) else { continue };
            let said = format!(
                "{} stays here: {} has {other}, and git has no ref in the place of another",
                wish.branch, remote.name
            );
            let remedy = format!("`git push {} --delete {other}` makes room, if it may go", remote.name);
            if [self.store.main(), self.store.wake()].contains(&&wish.branch) {
                return Err(CycleError::Refused { message: said, hint: Some(remedy) });
            }
            synced.note(format!("{said}; {remedy}"));
            found.push(wish.branch.clone());
        }
        Ok(found)
    }

    /// Whether wake here has runs beyond a remote's that were decided on, by those whom main names.
    fn rests_on_decisions(&self, there: &Tips, wake: CommitId) -> Result<bool, CycleError> {
        if !self.review_of_main()?.names_reviewers() {
            return Ok(false);
        }
        let theirs = there.get(self.store.wake()).map(|tip| self.store.tree_of(*tip)).transpose()?;
        for change in self.store.diff(theirs, Some(self.store.tree_of(wake)?), layout::RUNS)? {
            if let Place::Run(run) = Place::of(&change.path)
                && !self.reviews_of(&run)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Another remote that has the main which was given up here, and not the one that stands.
    fn other_line(&self, remote: &Remote, given_up: CommitId, main: CommitId) -> Result<Option<String>, CycleError> {
        for other in self.store.remotes()?.into_iter().filter(|other| other.name != remote.name) {
            if let Some(there) = self.store.seen(&other)?.get(self.store.main())
                && self.store.is_ancestor(*there, given_up)?
                && !self.store.is_ancestor(*there, main)?
            {
                return Ok(Some(other.name));
            }
        }
        Ok(None)
    }

    /// Waits a random while, longer from round to round: who lost together must not come together again.
    fn pause(&self, round: usize) {
        let longest = (limits::SYNC_PAUSE_MS << round.min(6)).max(1);
        let random = crate::world::World::default().id_bits(&[]);
        std::thread::sleep(Duration::from_millis(random % longest));
    }

    /// What the remote has, fetched and judged.
    fn fetched(&self, remote: &Remote, synced: &mut Synced) -> Result<Theirs, CycleError> {
        let ((there, reviews), seen) = (self.store.remote_tips(remote)?, self.store.seen(remote)?);
        let mut tips = match there == seen {
            // Nothing moved since it was judged. Branches of runs are not remembered, so there are none either.
            true => there.clone(),
            false => self.store.fetch(remote, &there)?,
        };
        self.refuse_rewritten(remote, &seen, &tips)?;
        let main_rests = seen.get(self.store.main()) == tips.get(self.store.main());
        // Decisions first: what lands by them is judged by them, here and there. One that is not let in stops nothing else.
        let begins = reviews.is_none() && !there.contains_key(self.store.main()) && !self.store.is_radicle(remote)?;
        let had = self.store.reviews()?;
        let reviewed = if begins { self.keep_words_back(None) } else { self.sync_reviews(remote, reviews) };
        self.drop_taken_back(had)?;
        if reviewed.is_ok() {
            let now = self.store.reviews()?;
            synced.decisions.0 += self.decided_since(had, now)?;
            synced.decisions.1 += self.decided_since(reviews, now)?;
        }
        let rejected = self.rejected_of(&tips)?;
        tips.retain(|branch, _| !rejected.contains_key(branch));
        let judged = self.judge(&tips, &self.known()?, &Door::Sync)?;
        synced.fetched += judged.commits;
        let wake = tips.get(self.store.wake()).copied();
        let overruled = self.overruled(wake, judged.refused.get(self.store.wake()))?;
        let wake = wake.filter(|_| judged.refused.contains_key(self.store.wake()));
        let (left_out, tips): (Tips, Tips) =
            tips.into_iter().partition(|(branch, _)| judged.refused.contains_key(branch));
        self.store.set_seen(remote, &tips)?;
        let refused = judged.refused;
        Ok(Theirs { tips, refused, left_out, rejected, wake, reviewed, reviews, overruled, begins, main_rests })
    }

    /// The number of files that one state of the decisions has and another one lacks.
    fn decided_since(&self, before: Option<CommitId>, now: Option<CommitId>) -> Result<usize, CycleError> {
        let tree = |tip: Option<CommitId>| tip.map(|tip| self.store.tree_of(tip)).transpose();
        let changes = self.store.diff(tree(before)?, tree(now)?, "")?;
        // One that was written again is none that came.
        Ok(changes.iter().filter(|change| change.new.is_some() && change.old.is_none()).count())
    }

    /// Of branches, those of runs that wake here or there says were thrown away.
    fn rejected_of(&self, tips: &Tips) -> Result<Tips, CycleError> {
        let wakes = [self.store.tip(self.store.wake())?, tips.get(self.store.wake()).copied()];
        let mut rejected = Tips::new();
        for wake in wakes.into_iter().flatten() {
            let tree = self.store.tree_of(wake)?;
            for (branch, tip) in tips {
                if self.is_rejected(tree, branch)? {
                    rejected.insert(branch.clone(), *tip);
                }
            }
        }
        Ok(rejected)
    }

    /// The branches of a remote that did not come in, as the error with which a sync ends that has done all the rest.
    fn refusal(&self, remote: &Remote, theirs: &Theirs) -> Result<(), CycleError> {
        let Theirs { refused, left_out, .. } = theirs;
        let Some(branch) = refused.keys().next() else { return Ok(()) };
        let good = match self.store.seen(remote)?.get(branch) {
            Some(seen) => Some(*seen),
            None => self.store.tip(branch)?,
        };
        let cause = self.decisions_missing(remote, theirs)?;
        let mut others = refused.clone();
        if cause.is_some() {
            others.values_mut().for_each(|faults| faults.retain(|fault| !is_about_decisions(fault)));
            others.retain(|_, faults| !faults.is_empty());
        }
        let hint = self.remedies(remote, &others, left_out, good)?;
        let (cause, way) = cause.map(|(cause, way)| (format!("{cause}\n"), format!("{way}\n"))).unwrap_or_default();
        let names: Vec<&str> = refused.keys().map(Branch::as_str).collect();
        Err(CycleError::Refused {
            message: format!(
                "{cause}{} of {} is not let in, and was not moved here or there; the rest is done:\n{}",
                names.join(", "),
                remote.name,
                remedy::lines(refused)
            ),
            hint: Some(format!("{way}{hint}").trim_end().to_owned()),
        })
    }

    /// (4) The wishes that the other side may grant, judged as it judges them. The branch of a run that it would refuse stays here.
    fn allowed(
        &self,
        remote: &Remote,
        wishes: Vec<Pushed>,
        theirs: &Theirs,
        synced: &mut Synced,
    ) -> Result<Vec<Pushed>, CycleError> {
        let tips: Tips = wishes.iter().filter_map(|wish| Some((wish.branch.clone(), wish.new?))).collect();
        let mut there = self.store.seen(remote)?;
        there.extend(theirs.tips.clone());
        let is_trunk = |branch: &Branch| branch == self.store.main() || branch == self.store.wake();
        let judged = self.judge_outgoing(&tips, &there, theirs.wake)?;
        for commit in judged.other_keys {
            synced.note(format!(
                "other machines may refuse the commit {commit}; docs/signing.md has the ways to let it in"
            ));
        }
        let (trunks, refused): (BTreeMap<_, _>, BTreeMap<_, _>) =
            judged.refused.into_iter().partition(|(branch, _)| is_trunk(branch));
        if !trunks.is_empty() {
            return Err(self.refused_outgoing(remote, &trunks)?);
        }
        for (branch, faults) in &refused {
            let why: Vec<String> = faults.iter().map(Fault::to_string).collect();
            synced.note(format!(
                "{branch} stays here, {} would refuse it: {}. `git brain reject {branch}` throws it away",
                remote.name,
                why.join("; ")
            ));
        }
        Ok(wishes.into_iter().filter(|wish| !refused.contains_key(&wish.branch)).collect())
    }

    /// (1) What was seen there once must still be there, or below what is there now.
    fn refuse_rewritten(&self, remote: &Remote, seen: &Tips, theirs: &Tips) -> Result<(), CycleError> {
        for (branch, last) in seen {
            let what = match theirs.get(branch) {
                Some(now) if self.store.is_ancestor(*last, *now)? => continue,
                Some(now) => format!("was rewritten: {branch} was {last} there, and {now} does not descend from it"),
                None => format!("has no branch {branch} any more, which was {last}"),
            };
            self.store.rescue(*last)?;
            return Err(CycleError::Refused {
                message: format!("{} {what}. Nothing was moved here, and {last} is kept as a rescue ref", remote.name),
                hint: Some(format!(
                    "if that was a mistake, `git push {0} +{last}:refs/heads/{branch}` brings it back there; if it was meant, \
                     `git update-ref -d refs/git-brain/remotes/{0}/{branch}` forgets what was seen, and the next sync merges \
                     what is there with what is here",
                    remote.name
                )),
            });
        }
        Ok(())
    }

    /// What the remote is to get.
    fn wishes(&self, theirs: &Theirs, joined: &Joined, synced: &mut Synced) -> Result<Vec<Pushed>, CycleError> {
        let store = &self.store;
        let (mut wishes, mut second, mut wishes_of_rejected) = (Vec::new(), Vec::new(), Vec::new());
        let Theirs { tips: theirs, refused, rejected, .. } = theirs;
        let mut wish = |branch: &Branch, new: Option<CommitId>| {
            if refused.contains_key(branch) {
                return;
            }
            let old = theirs.get(branch).copied();
            if old != new {
                wishes.push(Pushed { branch: branch.clone(), old, new });
            }
        };
        wish(store.main(), Some(self.trunk_there(theirs, store.main(), joined.main)?));
        wish(store.wake(), Some(self.trunk_there(theirs, store.wake(), joined.wake)?));
        let wake = store.tree_of(joined.wake)?;
        for (branch, tip) in rejected {
            if self.is_rejected(wake, branch)? && self.may_go_there(branch, *tip, joined.wake, synced)? {
                wishes_of_rejected.push(Pushed { branch: branch.clone(), old: Some(*tip), new: None });
            }
        }
        // What waits for a person waits on every machine; what is in wake waits nowhere.
        for (branch, tip) in theirs.iter().filter(|(branch, _)| run_of(store.runs_prefix().as_str(), branch).is_some())
        {
            let run = run_of(store.runs_prefix().as_str(), branch);
            if run.map(|run| self.has_landed(&run, *tip, joined.wake)).transpose()?.unwrap_or_default()
                && self.may_go_there(branch, *tip, joined.wake, synced)?
            {
                wish(branch, None);
            }
        }
        for (branch, tip) in self.run_branches()? {
            let there = theirs.get(&branch).copied();
            let onward = match there {
                Some(there) => store.is_ancestor(there, tip)?,
                None => true,
            };
            if !onward || store.is_ancestor(tip, joined.wake)? {
                continue;
            }
            if !self.waits_for_review(tip)? {
                if let [below] = store.commit(tip)?.parents[..]
                    && self.waits_for_review(below)?
                {
                    synced
                        .notes
                        .extend([format!("{branch} stays here: it has another commit upon the run that waits")]);
                }
                continue;
            }
            if self.is_second_record(&branch, tip, &[wake])? {
                second.push(branch);
            } else {
                wish(&branch, Some(tip));
            }
        }
        second.iter().for_each(|branch| synced.note(remedy::second_record(branch, store.wake())));
        wishes.extend(wishes_of_rejected);
        Ok(wishes)
    }
}
