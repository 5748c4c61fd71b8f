//! `pr`: runs that wait for a person, as requests for review on a forge.
//!
//! Each branch is judged before anything of it leaves. What is there already as it should be is left alone, so that the command can be
//! given again at any moment.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::merge::waits_because;
use crate::cycle::sync::Outlet;
use crate::forge::{self, Forge, ForgeError, Kind, Place, Proposal, PushOrder, Request, Said, State, Written};
use crate::limits;
use crate::model::secret::Secrets;
use crate::store::{Branch, CommitId};

/// A wish for requests.
#[derive(Clone, Debug, Default)]
pub struct PrRequest {
    /// Branches or runs; none: all that wait for review.
    pub branches: Vec<String>,
    /// The remote; by default the one to sync with.
    pub remote: Option<String>,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// Requests for review.
#[derive(Clone, Debug, Serialize)]
pub struct PrReport {
    /// The remote's name here.
    pub remote: String,
    /// Which forge it is.
    pub forge: Kind,
    /// One for each branch.
    pub requests: Vec<PrEntry>,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Why requests here cannot be followed; null: they can.
    pub lacks: Option<String>,
}

/// The request of one branch.
#[derive(Clone, Debug, Serialize)]
pub struct PrEntry {
    /// The branch.
    pub branch: String,
    /// Its tip here.
    pub commit: String,
    /// Number of the request; null where there is none yet, or the forge does not say.
    pub id: Option<String>,
    /// The address of its page.
    pub url: Option<String>,
    /// State of the request before the command; null: there was none.
    pub state: Option<State>,
    /// Outcome: made, updated, or unchanged.
    pub request: Written,
    /// The same of the comment; null where none was written.
    pub comment: Option<Written>,
    /// Whether the remote lacks commits of wake that the run starts from, so that the request shows those too.
    pub shows_more: bool,
}

impl Brain {
    /// Opens or updates a request for each branch, with the one comment of ours.
    pub fn pr(&self, wanted: &PrRequest) -> Result<PrReport, BrainError> {
        let branches = self.to_review(&wanted.branches)?;
        let outlet = self.cycle.outlet(wanted.remote.as_deref())?;
        let forge = self.forge(&outlet.address)?;
        let lacks = forge.lacks();
        let mut report = PrReport {
            remote: outlet.remote.name.clone(),
            forge: forge.kind(),
            requests: Vec::new(),
            dry_run: wanted.dry_run,
            lacks,
        };
        for (branch, commit) in branches {
            let (one, _) = self.request(forge.as_ref(), &outlet, (&branch, commit), wanted.dry_run)?;
            report.requests.push(one);
        }
        Ok(report)
    }

    /// Opens or updates the request of one branch; the request, where the forge can be asked for it.
    pub(super) fn request(
        &self,
        forge: &dyn Forge,
        outlet: &Outlet,
        (branch, commit): (&Branch, CommitId),
        dry_run: bool,
    ) -> Result<(PrEntry, Option<Request>), BrainError> {
        let shows_more = self.cycle.judge_offer(outlet, branch, commit)?;
        let (mut entry, request) = match forge.lacks() {
            None => self.followed(forge, outlet, (branch, commit), dry_run)?,
            Some(_) => (self.told_once(forge, outlet, (branch, commit), dry_run)?, None),
        };
        entry.shows_more = shows_more;
        Ok((entry, request))
    }

    /// The forge behind a remote's address, with the token that is at hand for it; nothing is sent yet.
    pub fn forge(&self, address: &str) -> Result<Box<dyn Forge>, BrainError> {
        let shared = &self.cycle.shared;
        let settings = shared.policy.forge()?;
        let place = Place::of(address, settings)?;
        let token = forge::token(&place, &shared.world);
        Ok(forge::open(place, token, std::time::Duration::from_millis(settings.timeout_ms))?)
    }

    /// The branches of runs that are named; else all that wait for review, the oldest first.
    fn to_review(&self, named: &[String]) -> Result<Vec<(Branch, CommitId)>, BrainError> {
        if named.is_empty() {
            let pending: Vec<Branch> = self.cycle.pending()?.into_iter().filter_map(|one| one.branch).collect();
            let held = self.cycle.run_branches()?.into_iter().filter(|(branch, _)| !pending.contains(branch));
            let mut held: Vec<_> = held.collect();
            let age = |branch: &Branch| branch.as_str().rsplit('/').next().unwrap_or_default().to_owned();
            held.sort_by_key(|(branch, _)| age(branch));
            held.truncate(limits::FORGE_REQUESTS);
            return Ok(held);
        }
        let mut found = Vec::new();
        for name in named {
            let candidate = self.cycle.candidate(name)?;
            let Some(branch) = candidate.branch else {
                return Err(BrainError::Refused {
                    message: format!("{name} is no branch of a run that waits"),
                    hint: Some("`git brain status` lists the runs that wait".to_owned()),
                });
            };
            found.push((branch, candidate.commit));
        }
        Ok(found)
    }

    fn proposal(&self, branch: &Branch, commit: CommitId) -> Result<Proposal, BrainError> {
        let (title, body) = self.belief_markdown(branch.as_str())?;
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Proposal {
            branch: branch.to_string(),
            commit: commit.to_string(),
            base: self.cycle.store.wake().to_string(),
            title: cut(&self.clean(&title), limits::FORGE_TITLE_CHARS, "…"),
            body: self.body(&body),
        })
    }

    /// Markdown of a belief diff, as long as a forge takes it.
    pub(super) fn body(&self, text: &str) -> String {
        cut(&self.clean(text), limits::FORGE_BODY_CHARS, "\n\n… cut: `git brain review RUN --all` shows all of it\n")
    }

    fn clean(&self, text: &str) -> String {
        let secrets: &Secrets = &self.cycle.shared.secrets;
        secrets.redact(text).into_owned()
    }

    /// The text of the comment: what waits, and how to decide.
    fn remark(&self, branch: &Branch, commit: CommitId) -> Result<String, BrainError> {
        let (why, hint) = waits_because(&self.cycle.store.commit(commit)?, branch);
        Ok(format!("`{branch}` {why}, at commit {commit}.\n\nHere it is decided by a review. In the brain: {hint}.\n"))
    }

    fn followed(
        &self,
        forge: &dyn Forge,
        outlet: &Outlet,
        (branch, commit): (&Branch, CommitId),
        dry_run: bool,
    ) -> Result<(PrEntry, Option<Request>), BrainError> {
        let proposal = self.proposal(branch, commit)?;
        let push =
            |order: &PushOrder| -> Result<Said, ForgeError> { self.cycle.offer(outlet, (branch, commit), order) };
        let found = forge.find(&proposal.branch, &proposal.base, &proposal.commit)?;
        let state = found.as_ref().map(|request| request.state);
        // What people closed, or the forge merged, is not opened again for the same commit.
        let is_decided = |request: &Request| {
            request.state != State::Open && request.commit.as_deref() == Some(proposal.commit.as_str())
        };
        let (request, written) = match found {
            Some(request) if is_decided(&request) => (Some(request), None),
            Some(request) if request.state == State::Open && dry_run => {
                let same = request.commit.as_deref() == Some(&proposal.commit);
                (Some(request), Some(if same { Written::Unchanged } else { Written::Updated }))
            }
            Some(request) if request.state == State::Open => {
                let written = forge.update(&request, &proposal, &push)?;
                (Some(request), Some(written))
            }
            _ if dry_run => (None, Some(Written::Made)),
            _ => (Some(forge.open(&proposal, &push)?), Some(Written::Made)),
        };
        let comment = match (&request, written) {
            (Some(request), Some(_)) if !dry_run => Some(forge.comment(request, &self.remark(branch, commit)?)?),
            _ => None,
        };
        let entry = PrEntry {
            branch: proposal.branch,
            commit: proposal.commit,
            id: request.as_ref().map(|request| request.id.clone()).filter(|id| !id.is_empty()),
            url: request.as_ref().and_then(|request| request.url.clone()),
            state,
            request: written.unwrap_or(Written::Unchanged),
            comment,
            shows_more: false,
        };
        Ok((entry, request))
    }

    /// Opens a request where it can be pushed and not read back. That it was done is remembered here.
    fn told_once(
        &self,
        forge: &dyn Forge,
        outlet: &Outlet,
        (branch, commit): (&Branch, CommitId),
        dry_run: bool,
    ) -> Result<PrEntry, BrainError> {
        let proposal = self.proposal(branch, commit)?;
        let before = self.cycle.offered(outlet, branch)?;
        let mut entry = PrEntry {
            branch: branch.to_string(),
            commit: commit.to_string(),
            id: None,
            url: None,
            state: before.map(|_| State::Open),
            request: Written::Made,
            comment: None,
            shows_more: false,
        };
        if before == Some(commit) {
            entry.request = Written::Unchanged;
        } else if before.is_some() && forge.kind() == Kind::Radicle {
            return Err(BrainError::Refused {
                message: format!(
                    "{branch} was opened as a patch before and has moved since, and Radicle is not asked which patch it is"
                ),
                hint: Some(format!("`git push REMOTE {branch}:patches/PATCH` moves it; `rad patch list` names it")),
            });
        } else if !dry_run {
            let push = |order: &PushOrder| self.cycle.offer(outlet, (branch, commit), order);
            let request = forge.open(&proposal, &push)?;
            self.cycle.note_offered(outlet, branch, commit)?;
            entry.id = Some(request.id).filter(|id| !id.is_empty());
            entry.url = request.url;
        }
        Ok(entry)
    }
}

/// The text, cut to so many characters with `end` in their place.
fn cut(text: &str, most: usize, end: &str) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = most - end.chars().count();
    text.chars().take(kept).collect::<String>() + end
}
