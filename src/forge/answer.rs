//! Forms of answers that GitHub, Forgejo and Gitea share, and what is written only where something differs.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::wire::Wire;
use super::{Check, ForgeError, Proposal, Request, Review, STATUS_CONTEXT, State, Verdict, Written, marker};

#[derive(Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) login: String,
}

#[derive(Deserialize)]
pub(super) struct End {
    #[serde(default, rename = "ref")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) sha: String,
    /// GitHub: `OWNER:BRANCH`.
    #[serde(default)]
    pub(super) label: String,
}

/// A pull request.
#[derive(Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    title: String,
    pub(super) body: Option<String>,
    state: String,
    merged_at: Option<String>,
    pub(super) user: Option<User>,
    pub(super) head: End,
    pub(super) base: End,
}

impl Pull {
    pub(super) fn request(self) -> Request {
        let state = match (self.merged_at, self.state.as_str()) {
            (Some(_), _) => State::Merged,
            (None, "open") => State::Open,
            _ => State::Closed,
        };
        let said = |text: String| (!text.is_empty()).then_some(text);
        Request {
            id: self.number.to_string(),
            url: said(self.html_url),
            state,
            title: self.title,
            body: self.body.unwrap_or_default(),
            commit: said(self.head.sha),
        }
    }
}

/// Of the requests for one branch the open one, else the newest.
pub(super) fn current(requests: impl IntoIterator<Item = Request>) -> Option<Request> {
    let rank = |request: &Request| (request.state == State::Open, request.id.parse::<u64>().unwrap_or_default());
    requests.into_iter().max_by_key(rank)
}

#[derive(Deserialize)]
struct Comment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
}

/// A review of a pull request.
#[derive(Deserialize)]
struct Reviewed {
    id: u64,
    user: Option<User>,
    body: Option<String>,
    state: String,
    commit_id: Option<String>,
    submitted_at: Option<String>,
    #[serde(default)]
    dismissed: bool,
}

/// The reviews of a pull request. One that was dismissed, or is of a kind that is not known, decides nothing.
pub(super) fn reviews(wire: &Wire, path: &str) -> Result<Vec<Review>, ForgeError> {
    let found: Vec<Reviewed> = wire.list(path)?;
    let review = |one: Reviewed| {
        let verdict = match one.state.as_str() {
            _ if one.dismissed => Verdict::Comment,
            "PENDING" | "REQUEST_REVIEW" => return None,
            "APPROVED" => Verdict::Approved,
            "CHANGES_REQUESTED" | "REQUEST_CHANGES" => Verdict::ChangesAsked,
            _ => Verdict::Comment,
        };
        Some(Review {
            id: one.id.to_string(),
            reviewer: one.user.map(|user| user.login).unwrap_or_default(),
            verdict,
            commit: one.commit_id.filter(|commit| !commit.is_empty()),
            body: one.body.unwrap_or_default(),
            at: one.submitted_at.unwrap_or_default(),
        })
    };
    Ok(found.into_iter().filter_map(review).collect())
}

/// Writes the one comment of `account`: `list` has the comments and takes a new one, `one` is the folder of each.
pub(super) fn comment(
    wire: &Wire,
    account: &str,
    (list, one): (&str, &str),
    text: &str,
) -> Result<Written, ForgeError> {
    let wanted = marker::marked(marker::COMMENT_MARKER, text);
    let is_ours = |comment: &Comment| {
        comment.user.as_ref().is_some_and(|user| user.login == account)
            && marker::begins(marker::COMMENT_MARKER, comment.body.as_deref().unwrap_or_default())
    };
    let found: Vec<Comment> = wire.list(&format!("{list}?{PAGE}"))?;
    let body = json!({ "body": wanted });
    match found.into_iter().find(is_ours) {
        Some(comment) if marker::same(comment.body.as_deref().unwrap_or_default(), &wanted) => Ok(Written::Unchanged),
        Some(comment) => {
            wire.send::<Value>(&Method::PATCH, &format!("{one}/{}", comment.id), &body)?;
            Ok(Written::Updated)
        }
        None => {
            wire.send::<Value>(&Method::POST, list, &body)?;
            Ok(Written::Made)
        }
    }
}

/// The size of a page: as many long comments still are an answer within its bound. GitHub and GitLab call it the one way, Forgejo the
/// other.
pub(super) const PAGE: &str = "per_page=30&limit=30";

/// Changes title and text of a request by `method`, where they differ. `field` is the name of the text.
pub(super) fn reword(
    wire: &Wire,
    (method, path, field): (&Method, &str, &str),
    request: &Request,
    (title, body): (&str, &str),
) -> Result<Written, ForgeError> {
    if request.title == title && marker::same(&request.body, body) {
        return Ok(Written::Unchanged);
    }
    wire.send::<Value>(method, path, &json!({ "title": title, field: body }))?;
    Ok(Written::Updated)
}

/// Closes a pull request.
pub(super) fn close(wire: &Wire, path: &str) -> Result<(), ForgeError> {
    wire.send::<Value>(&Method::PATCH, path, &json!({"state": "closed"})).map(|_| ())
}

/// A status of a commit.
#[derive(Deserialize)]
pub(super) struct Stated {
    /// Forgejo calls it `status`.
    #[serde(alias = "status")]
    state: String,
    #[serde(alias = "name")]
    context: Option<String>,
    description: Option<String>,
}

/// Whether the newest status of ours, of those that a list with the newest first has, says this already.
pub(super) fn stands(statuses: Vec<Stated>, state: &str, description: &str) -> Option<bool> {
    let ours = statuses.into_iter().find(|status| status.context.as_deref() == Some(STATUS_CONTEXT))?;
    Some(ours.state == state && ours.description.unwrap_or_default() == description)
}

/// Sets a status, at a forge whose list of them begins with the newest.
pub(super) fn set_status(
    wire: &Wire,
    (list, make): (&str, &str),
    check: Check,
    description: &str,
) -> Result<Written, ForgeError> {
    let state = match check {
        Check::Pending => "pending",
        Check::Success => "success",
        Check::Failure => "failure",
    };
    let description = short(description);
    let before = stands(wire.list(list)?, state, &description);
    if before == Some(true) {
        return Ok(Written::Unchanged);
    }
    let body = json!({"state": state, "context": STATUS_CONTEXT, "description": description});
    wire.send::<Value>(&Method::POST, make, &body)?;
    Ok(if before.is_some() { Written::Updated } else { Written::Made })
}

/// A description as every forge takes it.
pub(super) fn short(description: &str) -> String {
    description.chars().take(crate::limits::FORGE_STATUS_CHARS).collect()
}

/// Whether a request shows the commit of a proposal.
pub(super) fn shows(request: &Request, proposal: &Proposal) -> bool {
    request.commit.as_deref() == Some(proposal.commit.as_str())
}

/// The greater of two: something was written.
pub(super) fn either(moved: bool, reworded: Written) -> Written {
    if moved { Written::Updated } else { reworded }
}

/// A request of which nothing is known but what the push said.
pub(super) fn pushed(proposal: &Proposal, said: &str) -> Request {
    Request {
        id: String::new(),
        url: address(said),
        state: State::Open,
        title: proposal.title.clone(),
        body: String::new(),
        commit: Some(proposal.commit.clone()),
    }
}

/// The first address that the other side names.
fn address(said: &str) -> Option<String> {
    let words = said.lines().filter_map(|line| line.strip_prefix("remote:")).flat_map(str::split_whitespace);
    let is_address = |word: &&str| word.starts_with("https://") || word.starts_with("http://");
    words.filter(is_address).map(|word| word.chars().take(500).collect()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_request_is_what_the_other_side_names() {
        let said = "warning: https://no\nremote: \nremote: Visit the existing pull request:\nremote:   https://h/a/b/pulls/3 merges\n";
        assert_eq!(address(said).as_deref(), Some("https://h/a/b/pulls/3"));
        assert_eq!(address("remote: nothing\n"), None);
    }
}
