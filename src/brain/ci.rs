//! `ci`: the bot that lands what people approved. One command for any CI, a timer, or a webhook.
//!
//! It syncs, merges what waits for no person, and holds each run that waits for one against the gate: what a sync would refuse, what the
//! typed merge would leave undecided. On a forge it keeps the request of each run, with its belief diff, and its status, and reads the reviews. What a
//! reviewer of the settings approved lands, what one asked changes of is rejected with the reviewer's words; then it syncs again.

use serde::Serialize;

use super::decision::ReviewRequest;
use super::pr::PrEntry;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::{PENDING, Verified, WaitingRun};
use crate::cycle::sync::Outlet;
use crate::forge::{self, Check, Forge, Kind, Written};
use crate::model::ids::RunId;
use crate::review::{ReviewRecord, Verdict};
use crate::store::CommitId;

/// Work for the bot.
#[derive(Clone, Debug, Default)]
pub struct CiRequest {
    /// The remote; by default the one to sync with.
    pub remote: Option<String>,
    /// Ask no forge: sync, merge, and land what reviews of the brain approve.
    pub no_forge: bool,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// Result of the bot's work.
#[derive(Clone, Debug, Serialize)]
pub struct CiReport {
    /// The remote's name here.
    pub remote: String,
    /// Which forge it is; null: none was asked.
    pub forge: Option<Kind>,
    /// Runs that waited for no person, and are merged now.
    pub merged: Vec<String>,
    /// Runs that waited for a person.
    pub runs: Vec<CiRun>,
    /// The commit of a merge queue, if the bot was called for one.
    pub queue: Option<CiQueue>,
    /// Requests of decided runs that it closed, by address or number.
    pub closed: Vec<String>,
    /// Wake's tip.
    pub wake: String,
    /// Sentences worth knowing.
    pub notes: Vec<String>,
    /// False if a sync refused commits, here or there: the notes name them.
    pub synced: bool,
    /// False if the forge was asked and failed at something: the notes name it.
    pub answered: bool,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// One run that waited.
#[derive(Clone, Debug, Serialize)]
pub struct CiRun {
    /// Its branch.
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// Whether it would land as it is.
    pub verified: bool,
    /// The tree that wake would have with it; null: it cannot land.
    pub tree: Option<String>,
    /// Its problems, one sentence each.
    pub problems: Vec<String>,
    /// Its request on the forge.
    pub request: Option<PrEntry>,
    /// Outcome of writing its status.
    pub status: Option<Written>,
    /// Outcome of writing its check run: inside GitHub Actions alone.
    pub check_run: Option<Written>,
    /// The decision; null: it waits on.
    pub decided: Option<Verdict>,
    /// By whom.
    pub by: Option<String>,
    /// Why it waits on.
    pub waits_for: Option<String>,
}

/// The commit of a merge queue, which the forge would make the next wake.
#[derive(Clone, Debug, Serialize)]
pub struct CiQueue {
    /// The commit.
    pub commit: String,
    /// Whether our gate would take it as wake.
    pub verified: bool,
    /// Its problems, one sentence each.
    pub problems: Vec<String>,
    /// Outcome of writing its status.
    pub status: Option<Written>,
}

impl CiReport {
    /// A status that could not be written: one that the token may not set keeps nobody from deciding.
    fn not_written(&mut self, error: &forge::ForgeError, about: &str) {
        self.answered &= matches!(error, forge::ForgeError::Status { code: 403 | 404, .. });
        self.notes.push(format!("{about}: {error}"));
    }
}

/// Set inside GitHub Actions, whose token alone may write check runs.
const IN_ACTIONS: &str = "GITHUB_ACTIONS";

/// A forge that can be asked, and the remote that it shows.
struct Desk {
    forge: Box<dyn Forge>,
    outlet: Outlet,
}

/// A decision that was found.
struct Found {
    verdict: Verdict,
    by: Option<String>,
    why: String,
    via: String,
}

impl Brain {
    /// Does what the bot does, once.
    ///
    /// # Errors
    /// As those of a sync. What one run or the forge fails at is told, and stops no other.
    pub fn ci(&self, wanted: &CiRequest) -> Result<CiReport, BrainError> {
        let remote = self.cycle.store.remote(wanted.remote.as_deref())?.name;
        let mut report = CiReport {
            remote,
            forge: None,
            merged: Vec::new(),
            runs: Vec::new(),
            queue: None,
            closed: Vec::new(),
            wake: String::new(),
            notes: Vec::new(),
            synced: true,
            answered: true,
            dry_run: wanted.dry_run,
        };
        self.exchange(wanted, wanted.dry_run, &mut report)?;
        if !wanted.dry_run {
            report.notes.extend(self.cycle.adopt_pending(wanted.remote.as_deref())?);
        }
        for line in self.merge(&[], wanted.dry_run)?.merges {
            match line.refused {
                None if line.merged => report.merged.push(line.branch),
                None => report.notes.push(format!("{} conflicts with wake, and waits for a person now", line.branch)),
                Some(why) => report.notes.push(format!("{} is not merged: {why}", line.branch)),
            }
        }
        let desk = self.desk(wanted, &mut report)?;
        report.forge = desk.as_ref().map(|desk| desk.forge.kind());
        report.queue = self.judge_queue(desk.as_ref(), wanted, &mut report)?;
        for waiting in self.cycle.waiting_runs()? {
            if waiting.waits == PENDING {
                continue;
            }
            let run = self.attend(&waiting, desk.as_ref(), wanted, &mut report)?;
            report.runs.push(run);
        }
        if !wanted.dry_run {
            self.exchange(wanted, false, &mut report)?;
            if let Some(desk) = &desk {
                self.close_decided(desk, &mut report)?;
            }
        }
        report.wake = self.at(None)?.to_string();
        Ok(report)
    }

    /// Syncs. A commit that is not let in, here or there, stops nothing else: the rest is done, and it is told.
    fn exchange(&self, wanted: &CiRequest, dry_run: bool, report: &mut CiReport) -> Result<(), BrainError> {
        match self.sync(wanted.remote.as_deref(), false, dry_run) {
            Ok(synced) => report.notes.extend(synced.notes),
            Err(BrainError::Refused { message, .. }) => {
                report.synced = false;
                if !report.notes.contains(&message) {
                    report.notes.push(message);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Closes the requests of runs that were decided, here or elsewhere: not every forge sees that a branch went or landed.
    fn close_decided(&self, desk: &Desk, report: &mut CiReport) -> Result<(), BrainError> {
        let wake = self.cycle.store.wake().to_string();
        let open = match desk.forge.open_requests(&wake) {
            Ok(open) => open,
            Err(error) => {
                report.answered = false;
                report.notes.push(format!("no request is closed: {error}"));
                return Ok(());
            }
        };
        let here: Vec<String> = self.cycle.run_branches()?.into_iter().map(|(branch, _)| branch.to_string()).collect();
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        for (branch, request) in open.into_iter().filter(|(branch, _)| !here.contains(branch)) {
            let run = branch.rsplit('/').next().and_then(|run| RunId::parse(run).ok());
            let Some(record) = run.map(|run| network.record(&run)).transpose()?.flatten() else { continue };
            match desk.forge.settle(&request, !record.effects.is_empty()) {
                Ok(true) => report.closed.push(request.url.unwrap_or(request.id)),
                Ok(false) => {}
                Err(error) => {
                    report.answered = false;
                    report.notes.push(format!("{branch}: its request stays open: {error}"));
                }
            }
        }
        Ok(())
    }

    /// The forge of a remote, if it is one that can be asked here.
    fn desk(&self, wanted: &CiRequest, report: &mut CiReport) -> Result<Option<Desk>, BrainError> {
        if wanted.no_forge {
            return Ok(None);
        }
        let outlet = self.cycle.outlet(wanted.remote.as_deref())?;
        let is_unsaid = |error: &forge::ForgeError| {
            matches!(error, forge::ForgeError::Settings { .. })
                && self.cycle.shared.policy.settings.forge.kind.is_empty()
        };
        let why = match self.forge(&outlet.address) {
            Ok(forge) => match forge.lacks() {
                None => return Ok(Some(Desk { forge, outlet })),
                Some(why) => why,
            },
            // A bare repository is no forge, and needs none.
            Err(BrainError::Forge(error)) if is_unsaid(&error) => return Ok(None),
            Err(error) => error.to_string(),
        };
        report.answered = false;
        report.notes.push(format!("no forge is asked: {why}; `--no-forge` asks none"));
        Ok(None)
    }

    /// Judges the commit of a merge queue of GitHub as our gate judges the next wake, and says so by its status.
    fn judge_queue(
        &self,
        desk: Option<&Desk>,
        wanted: &CiRequest,
        report: &mut CiReport,
    ) -> Result<Option<CiQueue>, BrainError> {
        let world = &self.cycle.shared.world;
        let named =
            world.key("GITHUB_SHA").filter(|_| world.key("GITHUB_EVENT_NAME").as_deref() == Some("merge_group"));
        let Some(named) = named else { return Ok(None) };
        let (store, wake) = (&self.cycle.store, self.at(None)?);
        let here = CommitId::parse(&named).ok().filter(|commit| store.commit(*commit).is_ok());
        let problems = match here {
            None => vec![format!("the commit {named} of the merge queue is not here: fetch it first")],
            Some(commit) if commit != wake && store.is_ancestor(commit, wake)? => {
                vec![format!("{named} is in {} already, which only goes on", store.wake())]
            }
            Some(commit) => self.cycle.judge_as_wake(commit)?,
        };
        let mut queue = CiQueue { commit: named, verified: problems.is_empty(), problems, status: None };
        if let Some(desk) = desk.filter(|_| !wanted.dry_run) {
            let (check, text) = match queue.problems.first() {
                None => (Check::Success, "our gate takes it".to_owned()),
                Some(problem) => (Check::Failure, problem.clone()),
            };
            match desk.forge.set_status(&queue.commit, check, &text) {
                Ok(written) => queue.status = Some(written),
                Err(error) => report.not_written(&error, "the merge queue"),
            }
        }
        Ok(Some(queue))
    }

    /// Verifies a run, shows it on the forge, and carries out what was decided about it.
    fn attend(
        &self,
        waiting: &WaitingRun,
        desk: Option<&Desk>,
        wanted: &CiRequest,
        report: &mut CiReport,
    ) -> Result<CiRun, BrainError> {
        let Verified { tree, problems } = self.cycle.verify(waiting)?;
        let mut run = CiRun {
            branch: waiting.branch.to_string(),
            commit: waiting.commit.id.to_string(),
            verified: problems.is_empty(),
            tree: tree.map(|tree| tree.to_string()),
            problems,
            request: None,
            status: None,
            check_run: None,
            decided: None,
            by: None,
            waits_for: None,
        };
        let mut found = self.decided_here(waiting)?;
        if let Some(desk) = desk {
            match self.attend_on(desk, waiting, &mut run, wanted, report) {
                Ok(there) => found = found.or(there),
                // A forge that fails stops neither the others nor what was decided without it.
                Err(error) => {
                    report.answered = false;
                    report.notes.push(format!("{}: {error}", waiting.branch));
                }
            }
        }
        let Some(found) = found else {
            run.waits_for = Some(self.awaited(waiting)?);
            return Ok(run);
        };
        if found.verdict != Verdict::Reject && !run.verified {
            run.waits_for = Some(format!("it is approved, and cannot land: {}", run.problems.join("; ")));
            return Ok(run);
        }
        if wanted.dry_run {
            (run.decided, run.by) = (Some(found.verdict), found.by);
            return Ok(run);
        }
        let request = ReviewRequest {
            seen: Some(waiting.commit.id.to_string()),
            via: found.via,
            on_behalf: found.by.clone(),
            ..ReviewRequest::new(waiting.branch.as_str(), found.verdict, &found.why)
        };
        match self.decide_run(&request) {
            Ok(done) => {
                run.by = Some(found.by.unwrap_or(done.reviewer));
                run.decided = Some(done.verdict);
            }
            Err(error) => run.waits_for = Some(error.to_string()),
        }
        Ok(run)
    }

    /// The newest decision on the commit of a run that waits, if it counts: it was not carried out yet.
    pub(super) fn decision_on_waiting(&self, waiting: &WaitingRun) -> Result<Option<ReviewRecord>, BrainError> {
        let newest = self.cycle.reviews_of(&waiting.run)?.into_iter().next_back();
        let Some(newest) = newest.filter(|review| review.commit == waiting.commit.id.to_string()) else {
            return Ok(None);
        };
        let settings = self.cycle.review_of_main()?;
        let counts = self.cycle.counts(&newest, &settings, self.cycle.rule_of(waiting)?.as_deref())?;
        Ok(Some(newest).filter(|_| counts))
    }

    /// A decision of the brain's own reviews that was not carried out yet; of an amendment only its own machine has all.
    fn decided_here(&self, waiting: &WaitingRun) -> Result<Option<Found>, BrainError> {
        let decision = self.decision_on_waiting(waiting)?.filter(|review| review.verdict != Verdict::Amend);
        Ok(decision.map(|review| Found { verdict: review.verdict, by: None, why: review.why, via: review.via }))
    }

    /// Keeps a run's request, status and comment on the forge, and reads what people say there.
    fn attend_on(
        &self,
        Desk { forge, outlet }: &Desk,
        waiting: &WaitingRun,
        run: &mut CiRun,
        wanted: &CiRequest,
        report: &mut CiReport,
    ) -> Result<Option<Found>, BrainError> {
        let (entry, request) = self.request(forge.as_ref(), outlet, (&waiting.branch, waiting.tip), wanted.dry_run)?;
        run.request = Some(entry);
        if !wanted.dry_run {
            let (check, text) = match (&run.tree, run.problems.first()) {
                (Some(tree), None) => (Check::Success, format!("lands as tree {}", &tree[..tree.len().min(10)])),
                (_, Some(problem)) => (Check::Failure, problem.clone()),
                (None, None) => (Check::Pending, "not verified".to_owned()),
            };
            // A status that cannot be set keeps nobody from deciding.
            match forge.set_status(&waiting.tip.to_string(), check, &text) {
                Ok(written) => run.status = Some(written),
                Err(error) => report.not_written(&error, &format!("{}: no status", waiting.branch)),
            }
            if self.cycle.shared.world.key(IN_ACTIONS).is_some() {
                let (title, body) = self.belief_markdown(waiting.branch.as_str())?;
                let problems: String = run.problems.iter().map(|problem| format!("- {problem}\n")).collect();
                let summary = self.body(&format!("{problems}\n{body}"));
                match forge.set_check_run(&waiting.tip.to_string(), check, &title, &summary) {
                    Ok(written) => run.check_run = written,
                    Err(error) => report.not_written(&error, &format!("{}: no check run", waiting.branch)),
                }
            }
        }
        let Some(request) = request else { return Ok(None) };
        let settings = self.cycle.review_of_main()?;
        let may = settings.reviewers_of(self.cycle.rule_of(waiting)?.as_deref());
        let kind = forge.kind().word();
        let is_current = |commit: &Option<String>| {
            commit
                .as_deref()
                .is_some_and(|commit| commit == waiting.tip.to_string() || commit == waiting.commit.id.to_string())
        };
        // The last word of each reviewer who may decide, about the commit that is here.
        let mut last: std::collections::BTreeMap<String, &forge::Review> = std::collections::BTreeMap::new();
        let reviews = forge.reviews(&request)?;
        for review in reviews.iter().filter(|review| is_current(&review.commit)) {
            // Logins know no case; the settings' spelling is the one that counts afterwards.
            let name = format!("{kind}:{}", review.reviewer);
            let named = may.iter().find(|may| may.eq_ignore_ascii_case(&name));
            if let Some(name) = named.filter(|_| review.verdict != forge::Verdict::Comment) {
                last.insert(name.clone(), review);
            }
        }
        let url = request.url.unwrap_or_else(|| format!("{kind} {}", request.id));
        let of = |wanted: forge::Verdict, verdict: Verdict| {
            let (name, review) = last.iter().find(|(_, review)| review.verdict == wanted)?;
            Some(Found { verdict, by: Some(name.clone()), why: review.body.clone(), via: url.clone() })
        };
        Ok(of(forge::Verdict::ChangesAsked, Verdict::Reject).or_else(|| of(forge::Verdict::Approved, Verdict::Approve)))
    }

    /// For whom a run waits, in words.
    fn awaited(&self, waiting: &WaitingRun) -> Result<String, BrainError> {
        let settings = self.cycle.review_of_main()?;
        let may = settings.reviewers_of(self.cycle.rule_of(waiting)?.as_deref());
        Ok(match may.is_empty() {
            true => {
                "a decision by `git brain approve` or `reject`; `[review] reviewers` names who may decide on a forge"
                    .to_owned()
            }
            false => format!("a decision of {}", may.join(" or ")),
        })
    }
}
