//! Forgejo and Gitea: requests are opened by a push to `refs/for/BASE` (AGit), all else is REST.
//!
//! Such a request has no branch at the forge, and its interface does not tell the topic. So it is found again by the first line of its
//! text or by its commit, which count in requests of our own account alone.

use std::cell::OnceCell;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::answer::{self, Pull, User};
use super::wire::Wire;
use super::{
    Check, Forge, ForgeError, Kind, Place, Proposal, Push, PushOrder, Request, Review, Token, Written, marker, token,
};

/// A repository on Forgejo or Gitea.
pub(super) struct Forgejo {
    wire: Wire,
    place: Place,
    account: OnceCell<String>,
}

impl Forgejo {
    pub(super) fn new(place: &Place, key: Option<Token>, timeout: Duration) -> Result<Self, ForgeError> {
        let wire = Wire::new(place, ("token", key), "application/json", timeout)?;
        Ok(Self { wire, place: place.clone(), account: OnceCell::new() })
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.place.repository)
    }

    fn account(&self) -> Result<&str, ForgeError> {
        if let Some(known) = self.account.get() {
            return Ok(known);
        }
        let login = self.wire.get::<User>("/user")?.login;
        if login.is_empty() {
            let message = "it does not say whose token this is".to_owned();
            return Err(ForgeError::Shape { place: self.wire.place("/user"), message });
        }
        Ok(self.account.get_or_init(|| login))
    }

    fn order(proposal: &Proposal) -> PushOrder {
        let Proposal { branch, base, title, .. } = proposal;
        // The text has many lines, and an option has one: it is written once the request is there.
        let description = marker::of_branch(branch);
        PushOrder {
            reference: Some(format!("refs/for/{base}")),
            options: vec![format!("topic={branch}"), format!("title={title}"), format!("description={description}")],
        }
    }

    fn reword(&self, request: &Request, proposal: &Proposal) -> Result<Written, ForgeError> {
        let path = self.path(&format!("pulls/{}", request.id));
        let body = marker::marked(&marker::of_branch(&proposal.branch), &proposal.body);
        answer::reword(&self.wire, (&Method::PATCH, &path, "body"), request, (&proposal.title, &body))
    }
}

impl Forge for Forgejo {
    fn kind(&self) -> Kind {
        self.place.kind
    }

    fn lacks(&self) -> Option<String> {
        let why = || format!("no token was found ({})", token::places(&self.place));
        (!self.wire.has_token()).then(why)
    }

    fn find(&self, branch: &str, base: &str, commit: &str) -> Result<Option<Request>, ForgeError> {
        let account = self.account()?;
        let mark = marker::of_branch(branch);
        let is_ours = |pull: &Pull| {
            let by_us = pull.user.as_ref().is_some_and(|user| user.login == account);
            // Who edits the text may take the mark away.
            let is_marked = marker::begins(&mark, pull.body.as_deref().unwrap_or_default());
            pull.base.name == base && (by_us && (is_marked || pull.head.sha == commit) || pull.head.name == branch)
        };
        let list = |state: &str| self.path(&format!("pulls?state={state}&sort=recentupdate&{}", answer::PAGE));
        let open = self.wire.list::<Pull>(&list("open"))?.into_iter().find(is_ours);
        if let Some(open) = open {
            return Ok(Some(open.request()));
        }
        // A repository has thousands of closed ones. What was decided long ago is no branch that waits.
        let closed = self.wire.first::<Pull>(&list("closed"))?;
        Ok(answer::current(closed.into_iter().filter(is_ours).map(Pull::request)))
    }

    fn open(&self, proposal: &Proposal, push: Push<'_>) -> Result<Request, ForgeError> {
        let said = push(&Self::order(proposal))?;
        if self.lacks().is_some() {
            return Ok(answer::pushed(proposal, &said.text));
        }
        let Some(request) = self.find(&proposal.branch, &proposal.base, &proposal.commit)? else {
            let message = "the push opened no request".to_owned();
            return Err(ForgeError::Shape { place: self.wire.place(&self.path("pulls")), message });
        };
        self.reword(&request, proposal)?;
        Ok(request)
    }

    fn update(&self, request: &Request, proposal: &Proposal, push: Push<'_>) -> Result<Written, ForgeError> {
        let moved = !answer::shows(request, proposal);
        if moved {
            push(&Self::order(proposal))?;
        }
        Ok(answer::either(moved, self.reword(request, proposal)?))
    }

    fn comment(&self, request: &Request, text: &str) -> Result<Written, ForgeError> {
        let list = self.path(&format!("issues/{}/comments", request.id));
        answer::comment(&self.wire, self.account()?, (&list, &self.path("issues/comments")), text)
    }

    fn reviews(&self, request: &Request) -> Result<Vec<Review>, ForgeError> {
        answer::reviews(&self.wire, &self.path(&format!("pulls/{}/reviews?{}", request.id, answer::PAGE)))
    }

    fn open_requests(&self, base: &str) -> Result<Vec<(String, Request)>, ForgeError> {
        let account = self.account()?;
        let path = self.path(&format!("pulls?state=open&sort=recentupdate&{}", answer::PAGE));
        let ours = self
            .wire
            .list::<Pull>(&path)?
            .into_iter()
            .filter(|pull| pull.base.name == base && pull.user.as_ref().is_some_and(|user| user.login == account));
        let named = |pull: Pull| {
            let branch = marker::branch_in(pull.body.as_deref().unwrap_or_default())?.to_owned();
            Some((branch, pull.request()))
        };
        Ok(ours.filter_map(named).collect())
    }

    fn settle(&self, request: &Request, landed: bool) -> Result<bool, ForgeError> {
        let path = self.path(&format!("pulls/{}", request.id));
        if let Some(commit) = request.commit.as_ref().filter(|_| landed) {
            let merged = json!({"Do": "manually-merged", "MergeCommitID": commit});
            match self.wire.send::<Value>(&Method::POST, &format!("{path}/merge"), &merged) {
                // A repository allows this only if it is set so.
                Err(ForgeError::Status { .. }) => {}
                done => return done.map(|_| true),
            }
        }
        answer::close(&self.wire, &path).map(|()| true)
    }

    fn set_status(&self, commit: &str, check: Check, description: &str) -> Result<Written, ForgeError> {
        let path = self.path(&format!("statuses/{commit}"));
        let list = format!("{path}?sort=recentupdate&{}", answer::PAGE);
        answer::set_status(&self.wire, (&list, &path), check, description)
    }
}
