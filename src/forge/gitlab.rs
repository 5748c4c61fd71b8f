//! GitLab: merge requests are opened by options of the push, all else is REST.

use std::cell::OnceCell;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, Stated};
use super::wire::{Wire, escaped};
use super::{
    Check, Forge, ForgeError, Kind, Place, Proposal, Push, PushOrder, Request, Review, STATUS_CONTEXT, State, Token,
    Verdict, Written, marker, token,
};
use crate::limits;

/// A project on GitLab.
pub(super) struct Gitlab {
    wire: Wire,
    place: Place,
    account: OnceCell<String>,
}

#[derive(Clone, Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    #[serde(default)]
    web_url: String,
    #[serde(default)]
    title: String,
    description: Option<String>,
    state: String,
    sha: Option<String>,
    source_branch: String,
    target_branch: String,
    /// A fork's branch may have the same name.
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    #[serde(default)]
    body: String,
    author: Option<User>,
    #[serde(default)]
    system: bool,
    #[serde(default)]
    created_at: String,
}

#[derive(Deserialize)]
struct Approvals {
    #[serde(default)]
    approved_by: Vec<Approval>,
}

#[derive(Deserialize)]
struct Approval {
    user: User,
    approved_at: Option<String>,
}

#[derive(Deserialize)]
struct Reviewer {
    user: User,
    state: Option<String>,
}

/// A state of the branch that the merge request has had.
#[derive(Deserialize)]
struct Version {
    head_commit_sha: Option<String>,
    #[serde(default)]
    created_at: String,
}

impl Gitlab {
    pub(super) fn new(place: &Place, key: Option<Token>, timeout: Duration) -> Result<Self, ForgeError> {
        let wire = Wire::new(place, ("Bearer", key), "application/json", timeout)?;
        Ok(Self { wire, place: place.clone(), account: OnceCell::new() })
    }

    fn path(&self, rest: &str) -> String {
        format!("/projects/{}/{rest}", self.place.repository.replace('/', "%2F"))
    }

    fn account(&self) -> Result<&str, ForgeError> {
        if let Some(known) = self.account.get() {
            return Ok(known);
        }
        let name = self.wire.get::<User>("/user")?.username;
        if name.is_empty() {
            let message = "it does not say whose token this is".to_owned();
            return Err(ForgeError::Shape { place: self.wire.place("/user"), message });
        }
        Ok(self.account.get_or_init(|| name))
    }

    fn order(proposal: &Proposal) -> PushOrder {
        // GitLab reads `\n` in the description as the end of a line.
        let body: String = proposal.body.replace('\n', "\\n").chars().take(limits::FORGE_OPTION_CHARS).collect();
        PushOrder {
            reference: None,
            options: vec![
                "merge_request.create".to_owned(),
                format!("merge_request.target={}", proposal.base),
                format!("merge_request.title={}", proposal.title),
                format!("merge_request.description={body}"),
            ],
        }
    }

    fn reword(&self, request: &Request, proposal: &Proposal) -> Result<Written, ForgeError> {
        let path = self.path(&format!("merge_requests/{}", request.id));
        let to = (&Method::PUT, path.as_str(), "description");
        answer::reword(&self.wire, to, request, (&proposal.title, &proposal.body))
    }

    fn notes(&self, request: &Request) -> Result<Vec<Note>, ForgeError> {
        let path =
            self.path(&format!("merge_requests/{}/notes?sort=asc&order_by=created_at&{}", request.id, answer::PAGE));
        self.wire.list(&path)
    }
}

impl Forge for Gitlab {
    fn kind(&self) -> Kind {
        Kind::Gitlab
    }

    fn lacks(&self) -> Option<String> {
        let why = || format!("no token was found ({}; or `glab auth login`)", token::places(&self.place));
        (!self.wire.has_token()).then(why)
    }

    fn find(&self, branch: &str, base: &str, _commit: &str) -> Result<Option<Request>, ForgeError> {
        let query =
            format!("state=all&source_branch={}&target_branch={}&{}", escaped(branch), escaped(base), answer::PAGE);
        let found: Vec<MergeRequest> = self.wire.list(&self.path(&format!("merge_requests?{query}")))?;
        let is_ours = |one: &MergeRequest| {
            one.source_branch == branch && one.target_branch == base && one.source_project_id == one.target_project_id
        };
        Ok(answer::current(found.into_iter().filter(is_ours).map(MergeRequest::request)))
    }

    fn open(&self, proposal: &Proposal, push: Push<'_>) -> Result<Request, ForgeError> {
        let said = push(&Self::order(proposal))?;
        if self.lacks().is_some() {
            return if said.moved {
                Ok(answer::pushed(proposal, &said.text))
            } else {
                Err(ForgeError::Token {
                    place: self.wire.place(&self.path("merge_requests")),
                    hint: token::places(&self.place),
                })
            };
        }
        // Nothing was pushed, or the options were not heard.
        let found = if said.moved { self.find(&proposal.branch, &proposal.base, &proposal.commit)? } else { None };
        let open = found.filter(|request| request.state == State::Open);
        if let Some(request) = open {
            self.reword(&request, proposal)?;
            return Ok(request);
        }
        let Proposal { branch, base, title, body, .. } = proposal;
        let asked = json!({"source_branch": branch, "target_branch": base, "title": title, "description": body});
        Ok(self.wire.send::<MergeRequest>(&Method::POST, &self.path("merge_requests"), &asked)?.request())
    }

    fn update(&self, request: &Request, proposal: &Proposal, push: Push<'_>) -> Result<Written, ForgeError> {
        let moved = push(&PushOrder::branch())?.moved;
        Ok(answer::either(moved, self.reword(request, proposal)?))
    }

    fn comment(&self, request: &Request, text: &str) -> Result<Written, ForgeError> {
        let account = self.account()?;
        let wanted = marker::marked(marker::COMMENT_MARKER, text);
        let is_ours = |note: &Note| {
            !note.system
                && note.author.as_ref().is_some_and(|author| author.username == account)
                && marker::begins(marker::COMMENT_MARKER, &note.body)
        };
        let list = self.path(&format!("merge_requests/{}/notes", request.id));
        let body = json!({ "body": wanted });
        match self.notes(request)?.into_iter().find(is_ours) {
            Some(note) if marker::same(&note.body, &wanted) => Ok(Written::Unchanged),
            Some(note) => {
                self.wire.send::<Value>(&Method::PUT, &format!("{list}/{}", note.id), &body)?;
                Ok(Written::Updated)
            }
            None => {
                self.wire.send::<Value>(&Method::POST, &list, &body)?;
                Ok(Written::Made)
            }
        }
    }

    fn reviews(&self, request: &Request) -> Result<Vec<Review>, ForgeError> {
        let of = |rest: &str| self.path(&format!("merge_requests/{}/{rest}", request.id));
        let notes = self.notes(request)?;
        let approvals: Approvals = self.wire.get(&of("approvals"))?;
        let versions: Vec<Version> = self.wire.list(&of(&format!("versions?{}", answer::PAGE)))?;
        let reviewers: Vec<Reviewer> = match self.wire.list(&of("reviewers")) {
            // Older ones have no such list.
            Err(ForgeError::Status { code: 404, .. }) => Vec::new(),
            found => found?,
        };
        let mut reviews = Vec::new();
        for Approval { user, approved_at } in approvals.approved_by {
            let told = system_note(&notes, &user, "approved this merge request");
            let at = approved_at.or(told.map(|note| note.created_at.clone())).unwrap_or_default();
            reviews.push(verdict(user, Verdict::Approved, at, &versions));
        }
        for Reviewer { user, state } in reviewers {
            if state.as_deref() == Some("requested_changes") {
                let told = system_note(&notes, &user, "requested changes");
                let at = told.map(|note| note.created_at.clone()).unwrap_or_default();
                let body = words_of(&notes, &user, &at);
                reviews.push(Review { body, ..verdict(user, Verdict::ChangesAsked, at, &versions) });
            }
        }
        for note in notes.into_iter().filter(|note| !note.system && !marker::begins(marker::COMMENT_MARKER, &note.body))
        {
            reviews.push(Review {
                id: note.id.to_string(),
                reviewer: note.author.map(|author| author.username).unwrap_or_default(),
                verdict: Verdict::Comment,
                commit: None,
                body: note.body,
                at: note.created_at,
            });
        }
        reviews.sort_by(|a, b| a.at.cmp(&b.at));
        Ok(reviews)
    }

    fn open_requests(&self, base: &str) -> Result<Vec<(String, Request)>, ForgeError> {
        let query = format!("state=opened&target_branch={}&{}", escaped(base), answer::PAGE);
        let found: Vec<MergeRequest> = self.wire.list(&self.path(&format!("merge_requests?{query}")))?;
        let is_ours = |one: &MergeRequest| {
            one.target_branch == base && one.source_project_id == one.target_project_id && one.state == "opened"
        };
        let ours = found.into_iter().filter(is_ours);
        Ok(ours.map(|one| (one.source_branch.clone(), one.request())).collect())
    }

    fn settle(&self, request: &Request, landed: bool) -> Result<bool, ForgeError> {
        if landed {
            return Ok(false);
        }
        let path = self.path(&format!("merge_requests/{}", request.id));
        self.wire.send::<Value>(&Method::PUT, &path, &json!({"state_event": "close"})).map(|_| true)
    }

    fn set_status(&self, commit: &str, check: Check, description: &str) -> Result<Written, ForgeError> {
        let state = match check {
            Check::Pending => "pending",
            Check::Success => "success",
            Check::Failure => "failed",
        };
        let description = answer::short(description);
        // GitLab refuses a status that says again what stands.
        let list = self
            .path(&format!("repository/commits/{commit}/statuses?name={STATUS_CONTEXT}&sort=desc&{}", answer::PAGE));
        let before = answer::stands(self.wire.list::<Stated>(&list)?, state, &description);
        if before == Some(true) {
            return Ok(Written::Unchanged);
        }
        let body = json!({"state": state, "name": STATUS_CONTEXT, "description": description});
        self.wire.send::<Value>(&Method::POST, &self.path(&format!("statuses/{commit}")), &body)?;
        Ok(if before.is_some() { Written::Updated } else { Written::Made })
    }
}

impl MergeRequest {
    fn request(self) -> Request {
        let state = match self.state.as_str() {
            "opened" | "locked" => State::Open,
            "merged" => State::Merged,
            _ => State::Closed,
        };
        Request {
            id: self.iid.to_string(),
            url: Some(self.web_url).filter(|url| !url.is_empty()),
            state,
            title: self.title,
            body: self.description.unwrap_or_default(),
            commit: self.sha,
        }
    }
}

/// The newest note of GitLab's own about a user.
fn system_note<'n>(notes: &'n [Note], user: &User, begins: &str) -> Option<&'n Note> {
    let by = |note: &&Note| note.author.as_ref().is_some_and(|author| author.username == user.username);
    notes.iter().rev().find(|note| note.system && by(note) && note.body.starts_with(begins))
}

/// Words that a reviewer submits with a verdict become a note beside it: the newest one by that person of the moment of the verdict.
fn words_of(notes: &[Note], user: &User, at: &str) -> String {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok().map(|time| time.as_second());
    let Some(then) = time(at) else { return String::new() };
    let is_of_then = |note: &&Note| {
        !note.system
            && note.author.as_ref().is_some_and(|author| author.username == user.username)
            && time(&note.created_at).is_some_and(|made| made.abs_diff(then) <= limits::FORGE_SAME_MOMENT_SECONDS)
            && !marker::begins(marker::COMMENT_MARKER, &note.body)
    };
    notes
        .iter()
        .filter(is_of_then)
        .max_by_key(|note| time(&note.created_at))
        .map(|note| note.body.clone())
        .unwrap_or_default()
}

/// A verdict, for the commit that the merge request showed at that time. GitLab itself keeps no commit with it.
fn verdict(user: User, verdict: Verdict, at: String, versions: &[Version]) -> Review {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let then = time(&at);
    let shown = versions.iter().filter(|version| then.is_some() && time(&version.created_at) <= then);
    let commit =
        shown.max_by_key(|version| time(&version.created_at)).and_then(|version| version.head_commit_sha.clone());
    let word = if verdict == Verdict::Approved { "approval" } else { "changes" };
    Review {
        id: format!("{word}:{}:{at}", user.username),
        reviewer: user.username,
        verdict,
        commit,
        body: String::new(),
        at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_come_with_a_verdict_are_its_reason() {
        let note = |who: &str, body: &str, at: &str, system: bool| Note {
            id: 1,
            body: body.to_owned(),
            author: Some(User { username: who.to_owned() }),
            system,
            created_at: at.to_owned(),
        };
        let notes = [
            note("ann", "hello", "2026-01-01T09:00:00Z", false),
            note("bob", "not mine", "2026-01-01T10:00:00Z", false),
            note("ann", "no source for the bread", "2026-01-01T10:00:01.300Z", false),
            note("ann", "requested changes", "2026-01-01T10:00:02Z", true),
        ];
        let ann = User { username: "ann".to_owned() };
        assert_eq!(words_of(&notes, &ann, "2026-01-01T10:00:02Z"), "no source for the bread");
        assert_eq!(words_of(&notes, &ann, "2026-01-01T11:00:00Z"), "");
        assert_eq!(words_of(&notes, &ann, ""), "");
    }

    #[test]
    fn an_approval_is_of_the_commit_that_was_shown_then() {
        let version =
            |sha: &str, at: &str| Version { head_commit_sha: Some(sha.to_owned()), created_at: at.to_owned() };
        let versions = [version("new", "2026-01-02T10:00:00.000Z"), version("old", "2026-01-01T10:00:00.000Z")];
        let at =
            |at: &str| verdict(User { username: "ann".to_owned() }, Verdict::Approved, at.to_owned(), &versions).commit;
        assert_eq!(at("2026-01-01T12:00:00Z").as_deref(), Some("old"));
        assert_eq!(at("2026-01-02T12:00:00.000+01:00").as_deref(), Some("new"));
        assert_eq!((at(""), at("2025-12-31T00:00:00Z"), at("garbage")), (None, None, None));
    }
}
