//! Decisions and councils: files that are written once, each by its own author, and votes that are counted again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Auditor;
use crate::audit::{Finding, Rule, ballot};
use crate::council::document::CouncilDocument;
use crate::council::gate::{Asked, Gate};
use crate::council::record::{COUNCILS, Closing, CouncilRecord, address};
use crate::council::vote::Decision;
use crate::cycle::CycleError;
use crate::cycle::review_commits::void_mark;
use crate::cycle::reviews::{WRITTEN_ONCE, is_of_reviewer};
use crate::limits;
use crate::model::Settings;
use crate::model::ids::RunId;
use crate::model::json;
use crate::model::models::KnownMind;
use crate::model::review::Review;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{BlobId, Commit, CommitId};
use crate::world::is_signed;

impl Auditor<'_> {
    /// Audits decisions that are new, and councils; the runs that they are about.
    pub(super) fn decisions(&mut self) -> Result<BTreeSet<RunId>, CycleError> {
        let store = &self.cycle.store;
        let Some(tip) = store.reviews()? else { return Ok(BTreeSet::new()) };
        let known: Vec<CommitId> = self.audited.reviews().into_iter().filter(|id| store.commit(*id).is_ok()).collect();
        let since = store.requires_signatures()?.then(|| store.signed_since()).transpose()?;
        let mut decided: BTreeSet<RunId> =
            self.audited.disputed.iter().filter_map(|run| RunId::parse(run).ok()).collect();
        let new = store.commits_within(tip, &known, limits::AUDIT_WALK);
        let new = self.goes_on(tip, new.map_err(CycleError::from))?.unwrap_or_default();
        self.audited.decisions += new.len();
        let old: Vec<CommitId> = self.audited.doubtful(store).into_iter().filter(|id| !new.contains(id)).collect();
        for id in old.into_iter().chain(new) {
            let faults = self.cycle.faults_of_decision(id, since.as_ref());
            let Some(faults) = self.goes_on_with_decisions(id, faults)? else { continue };
            for (path, why) in faults {
                let rule = match path.as_str() {
                    _ if why == WRITTEN_ONCE => Rule::WrittenOnce,
                    path if CouncilRecord::is_at(path) => Rule::CouncilVerdict,
                    "" if why.contains("sign") => Rule::Signature,
                    _ if why.contains("ahead of the clock") => Rule::Clock,
                    _ => Rule::ReviewForged,
                };
                self.audited.doubt(id);
                self.audited.add(Finding::new(rule, id, why).at(&path, 0));
            }
            let commit = self.cycle.store.commit(id)?;
            if commit.parents.len() < 2 {
                let found = self.decision(&commit, &mut decided);
                self.goes_on_with_decisions(id, found)?;
            }
        }
        Ok(decided)
    }

    /// Audits what decisions say together, and the story.
    pub(super) fn after_decisions(&mut self, decided: &BTreeSet<RunId>) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        if let Some(tip) = store.reviews()? {
            let found = self.contradictions(decided).and_then(|()| self.bypasses());
            self.goes_on(tip, found)?;
        }
        let found = self.story_gap();
        self.goes_on(store.need_tip(store.wake())?, found).map(drop)
    }

    /// Goes on where a commit of decisions cannot be read, and judges it again at the next audit.
    fn goes_on_with_decisions<T>(
        &mut self,
        id: CommitId,
        found: Result<T, CycleError>,
    ) -> Result<Option<T>, CycleError> {
        let found = self.goes_on(id, found)?;
        if found.is_none() {
            self.audited.doubt(id);
        }
        Ok(found)
    }

    fn decision(&mut self, commit: &Commit, decided: &mut BTreeSet<RunId>) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let mut found = Vec::new();
        for path in self.cycle.added(commit)? {
            let Some(bytes) = store.read(commit.tree, &path)? else { continue };
            if !path.starts_with(COUNCILS) {
                let Ok(review) = ReviewRecord::decode(&bytes, &path) else { continue };
                if !self.may_decide(&review, commit) {
                    // Of one who had an older main; it counts no more, and what landed by it would be found by itself.
                    let (rule, others) = match self.might_decide_before(&review) {
                        true => (Rule::ReviewLate, "main names others since"),
                        false if review.council.is_some() => {
                            (Rule::ReviewForged, "its council does not decide so by main")
                        }
                        false => (Rule::ReviewForged, "main names others as reviewers"),
                    };
                    let by = if review.council.is_some() { &review.via } else { review.address() };
                    let message = format!("is a decision of {by}, and {others}");
                    found.push(Finding::new(rule, commit.id, message).at(&path, 1).of_run(&review.run));
                    self.audited.void.insert(void_mark(&review));
                }
                decided.insert(review.run);
            } else if CouncilRecord::is_at(&path) {
                let Ok(council) = CouncilRecord::decode(&bytes, &path) else { continue };
                let verdict = ballot::fault(&council).map(|why| (Rule::CouncilVerdict, why));
                let members = self.members_fault(&council)?.map(|why| (Rule::CouncilMembers, why));
                let run = council.run.as_ref().map(ToString::to_string).unwrap_or_default();
                for (rule, why) in verdict.into_iter().chain(members) {
                    found.push(Finding::new(rule, commit.id, why).at(&path, 1).of_run(&run));
                }
                self.asked_again(&council)?;
            } else if let Ok(closing) = Closing::decode(&bytes, &path) {
                let eras = self.historian.eras_between(closing.at_ms / 1000, commit.committed);
                let mut settings = eras.iter().filter_map(|era| self.historian.settings(era));
                if !settings.any(|settings| settings.review.lets_decide(address(&closing.by))) {
                    let message = format!("is closed by {}, and main names others as reviewers", address(&closing.by));
                    found.push(Finding::new(Rule::ReviewForged, commit.id, message).at(&path, 1));
                }
            }
        }
        if !found.is_empty() {
            self.audited.doubt(commit.id);
        }
        found.into_iter().for_each(|finding| self.audited.add(finding));
        Ok(())
    }

    /// Whether main, at the time of a decision, let its author decide.
    pub(super) fn may_decide(&self, review: &ReviewRecord, commit: &Commit) -> bool {
        let at = review.review.unix_ms() / 1000;
        // Nobody decides on what is not there yet, whatever a date says.
        let about = CommitId::parse(&review.commit).ok().and_then(|id| self.cycle.store.commit(id).ok());
        let made = about.as_ref().map_or(i64::MIN, |about| about.committed).max(review.run.unix_ms() / 1000);
        let since = made.saturating_sub(limits::FUTURE_SECONDS);
        let [from, until] = [at.min(commit.committed), at.max(commit.committed)].map(|time| time.max(since));
        if review.council.is_some() {
            return self.lets_decide(review, from, until, |_| true);
        }
        // Nor before the version of main that it stands upon. An author whom every version since lets decide needs no look at that.
        let mut eras = self.historian.eras_between(from, i64::MAX).iter().map(|era| self.historian.settings(era));
        if eras.all(|settings| settings.is_some_and(|settings| decides(&settings.review, review))) {
            return true;
        }
        let behind = about.and_then(|about| self.main_behind(&about)).unwrap_or(i64::MIN);
        self.lets_decide(review, from.max(behind), until.max(behind), |_| true)
    }

    /// The time of the newest version of main at or behind a commit.
    fn main_behind(&self, commit: &Commit) -> Option<i64> {
        let behind = self.main_behind.get_or_init(|| self.each_main_behind().unwrap_or_default());
        // A run that was thrown away is behind no branch, and what it stood upon is.
        behind.get(&commit.id).copied().or_else(|| commit.parents.iter().filter_map(|id| behind.get(id)).max().copied())
    }

    fn each_main_behind(&self) -> Result<HashMap<CommitId, i64>, CycleError> {
        let store = &self.cycle.store;
        let line = store.first_parents(store.need_tip(store.main())?, None).take(limits::AUDIT_WALK);
        let mut behind: HashMap<CommitId, i64> =
            line.filter_map(Result::ok).map(|commit| (commit.id, commit.committed)).collect();
        let mut walked = Vec::new();
        for tip in self.tips.values() {
            // Parents come before children.
            for id in store.commits_within(*tip, &walked, limits::AUDIT_WALK)? {
                let parents = store.commit(id).map(|commit| commit.parents).unwrap_or_default();
                let newest = parents.iter().filter_map(|parent| behind.get(parent)).max().copied();
                if let Some(newest) = newest {
                    behind.entry(id).or_insert(newest);
                }
            }
            walked.push(*tip);
        }
        Ok(behind)
    }

    /// Whether main let its author decide at some time before: who was away may not know of the change.
    fn might_decide_before(&self, review: &ReviewRecord) -> bool {
        let names = |review: &Review| review.names_reviewers();
        self.lets_decide(review, 0, review.review.unix_ms() / 1000, names)
    }

    fn lets_decide(&self, review: &ReviewRecord, from: i64, until: i64, is_asked: fn(&Review) -> bool) -> bool {
        let eras = self.historian.eras_between(from, until);
        // A council decides by the votes of its members, whoever asked it.
        if let Some(council) = &review.council {
            return eras.iter().filter_map(|era| self.settings_with_councils(era.commit)).any(|settings| {
                let is_by = |rule: Option<&str>| self.cycle.is_by_council(review, council, &settings.review, rule);
                is_asked(&settings.review) && by_some_rule(&settings.review, |rule| is_by(rule).unwrap_or(false))
            });
        }
        let settings = eras.iter().filter_map(|era| self.historian.settings(era));
        let mut asked = settings.filter(|settings| is_asked(&settings.review));
        asked.any(|settings| decides(&settings.review, review))
    }

    /// The settings of a commit of main, with the documents of its councils.
    fn settings_with_councils(&self, main: CommitId) -> Option<Settings> {
        self.cycle.settings_at(main).ok()
    }

    /// Why the members of a council are not those of the document that it names.
    fn members_fault(&self, council: &CouncilRecord) -> Result<Option<String>, CycleError> {
        let store = &self.cycle.store;
        let document = match council.document.split_once('@') {
            None => CouncilDocument::of_reflexes(),
            Some((path, blob)) => {
                let Ok(blob) = BlobId::parse(blob) else { return Ok(Some("names no document".to_owned())) };
                // Of main's own line: another object can come along, and nobody looked at it.
                let mut last = None;
                let mut is_there = false;
                for commit in store.first_parents(store.need_tip(store.main())?, None).take(limits::AUDIT_WALK) {
                    let file = store.file(commit?.tree, path)?.map(|file| file.blob);
                    if last == Some(file) {
                        continue;
                    }
                    last = Some(file);
                    if file == Some(blob) {
                        is_there = true;
                        break;
                    }
                }
                if !is_there {
                    return Ok(Some(format!("names {}, which main never had", council.document)));
                }
                match json::strict(&store.content(blob)?, path, limits::COUNCIL_DOCUMENT_BYTES) {
                    Ok(document) => document,
                    Err(error) => return Ok(Some(error.to_string())),
                }
            }
        };
        // A model's family is said by settings of then.
        let Ok((members, seats)) = document.seated(|model| {
            let seat = council.members.iter().find(|seat| seat.mind == format!("model:{model}"));
            Some(KnownMind { family: seat.map(|seat| seat.family.to_string()), mind: model.to_owned() })
        }) else {
            return Ok(Some("has members that its document does not seat".to_owned()));
        };
        let is: BTreeMap<&str, &str> =
            council.members.iter().map(|seat| (seat.id.as_str(), seat.family.as_str())).collect();
        let of: BTreeMap<&str, &str> =
            members.iter().map(|member| (member.id.as_str(), member.family.as_str())).collect();
        if is != of || is.len() != council.members.len() {
            let names = |of: &BTreeMap<&str, &str>| of.keys().copied().collect::<Vec<_>>().join(", ");
            return Ok(Some(format!("has the members {}, and its document {}", names(&is), names(&of))));
        }
        let other = seats.iter().find(|seat| {
            let its = council.members.iter().find(|member| member.id == seat.member.id);
            its.is_some_and(|its| its.mind != seat.mind.name() || its.role != seat.role.name)
        });
        Ok(other.map(|seat| format!("has another mind or role for {} than its document", seat.member.id)))
    }

    /// Councils of one document on the commit that a council is about, after the first that had its say: nothing follows from them.
    fn asked_again(&mut self, council: &CouncilRecord) -> Result<(), CycleError> {
        let (Some(run), Some(commit)) = (&council.run, &council.commit) else { return Ok(()) };
        let councils = self.cycle.councils_on(run, commit)?;
        if councils.len() < 2 {
            return Ok(());
        }
        let eras = self.historian.eras_between(0, council.at_ms / 1000).iter().rev();
        let mut settings = eras.filter_map(|era| self.settings_with_councils(era.commit));
        let is_asked = |settings: &Settings| {
            settings.review.seats.values().find(|seats| seats.source == council.document).map(Gate::read)
        };
        let Some(Ok(gate)) = settings.find_map(|settings| is_asked(&settings)) else { return Ok(()) };
        let records = councils.into_iter().map(|council| council.record);
        let mut whole = records.filter(|record| gate.asked(record, &is_signed) == Asked::Whole);
        let Some(first) = whole.next() else { return Ok(()) };
        for later in whole {
            let Some(by) = self.cycle.decision_added_by(&later.path())? else { continue };
            let message = format!("asks {} about {run} again, and council {} had its say", council.document, first.id);
            self.audited.add(Finding::new(Rule::CouncilTwice, by, message).at(&later.path(), 1).of_run(run));
        }
        Ok(())
    }

    /// Two people that decided otherwise on one run.
    fn contradictions(&mut self, decided: &BTreeSet<RunId>) -> Result<(), CycleError> {
        for run in decided {
            let mut reviews = self.cycle.reviews_of(run)?;
            reviews.retain(|review| !review.is_of_audit());
            let Some(first) = reviews.first() else { continue };
            let lands = |review: &ReviewRecord| review.verdict != Verdict::Reject;
            let other = reviews.iter().find(|other| other.address() != first.address() && lands(other) != lands(first));
            if let Some(other) = other
                && let Some(by) = self.cycle.decision_added_by(&other.path())?
            {
                let (mut by, mut other, mut first) = (by, other, first);
                if let Some(newer) = self.cycle.decision_added_by(&first.path())?
                    && newer != by
                    && self.cycle.store.is_ancestor(by, newer)?
                {
                    (by, other, first) = (newer, first, other);
                }
                self.audited.disputed.insert(run.to_string());
                let message =
                    format!("{} on {run}, and {} {} it", other.verdict.done(), first.address(), first.verdict.done());
                self.audited.add(Finding::new(Rule::ReviewTwice, by, message).at(&other.path(), 1).of_run(run));
            }
        }
        Ok(())
    }

    /// Runs of wake that a council did not approve, and on which no person decided.
    fn bypasses(&mut self) -> Result<(), CycleError> {
        // A record that cannot be read was told already.
        let Ok(councils) = self.cycle.councils() else { return Ok(()) };
        let store = &self.cycle.store;
        let wake = store.need_tip(store.wake())?;
        let tree = store.tree_of(wake)?;
        let mut of_run: BTreeMap<RunId, Vec<_>> = BTreeMap::new();
        for council in &councils {
            if let Some(run) = &council.record.run {
                of_run.entry(run.clone()).or_default().push(council);
            }
        }
        for (run, councils) in of_run {
            let Some(record) = self.cycle.record_in(tree, &run)? else { continue };
            if record.is_left_over() || record.effects.is_empty() {
                continue;
            }
            // One that is asked afterwards lets nothing in.
            let landed = self.cycle.landed_in(wake, &run)?;
            let until = store.commit(landed)?.committed.saturating_add(1).saturating_mul(1000);
            let before = councils.into_iter().rfind(|council| council.record.at_ms < until);
            let Some(council) = before.filter(|council| council.decision() != Decision::Approve) else { continue };
            let lets = |review: &ReviewRecord| review.verdict != Verdict::Reject && !review.is_of_audit();
            if self.cycle.reviews_of(&run)?.iter().any(lets) {
                continue;
            }
            let message = format!(
                "lands {run}, which the council {} did not approve ({}), and no person decided on it",
                council.record.id,
                council.state()
            );
            self.audited.add(Finding::new(Rule::CouncilBypass, landed, message).of_run(&run));
        }
        Ok(())
    }
}

/// Whether some rule, or the absence of one, says so.
fn by_some_rule(settings: &Review, says: impl Fn(Option<&str>) -> bool) -> bool {
    let rules = settings.rule.iter().map(|rule| Some(rule.name.as_str()));
    std::iter::once(None).chain(rules).any(says)
}

/// Whether those settings let the author of a decision decide.
fn decides(settings: &Review, review: &ReviewRecord) -> bool {
    by_some_rule(settings, |rule| is_of_reviewer(review, settings, rule))
}
