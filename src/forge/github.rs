//! GitHub by REST: pulls, comments of issues, reviews, statuses, check runs.

use std::cell::OnceCell;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, Pull, User};
use super::wire::{Wire, escaped};
use super::{
    CHECK_RUN, Check, Forge, ForgeError, Kind, Place, Proposal, Push, PushOrder, Request, Review, Token, Written,
    marker, token,
};

/// A repository on GitHub.
pub(super) struct Github {
    wire: Wire,
    repository: String,
    account: OnceCell<String>,
}

impl Github {
    pub(super) fn new(place: &Place, key: Option<Token>, timeout: Duration) -> Result<Self, ForgeError> {
        if key.is_none() {
            let place_of = place.api().map(ToString::to_string).unwrap_or_default();
            let hint = format!("{}; or `gh auth login`", token::places(place));
            return Err(ForgeError::Token { place: format!("GitHub at {place_of}"), hint });
        }
        let wire = Wire::new(place, ("Bearer", key), "application/vnd.github+json", timeout)?;
        Ok(Self { wire, repository: place.repository.clone(), account: OnceCell::new() })
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.repository)
    }

    /// The login of our own account. The token of a workflow may ask for it by GraphQL alone.
    fn account(&self) -> Result<&str, ForgeError> {
        if let Some(known) = self.account.get() {
            return Ok(known);
        }
        let login = match self.wire.get::<User>("/user") {
            Ok(user) => user.login,
            Err(ForgeError::Status { code: 403, .. }) => {
                let asked = json!({"query": "{ viewer { login } }"});
                let answer: Value = self.wire.send(&Method::POST, "/graphql", &asked)?;
                answer["data"]["viewer"]["login"].as_str().unwrap_or_default().to_owned()
            }
            Err(error) => return Err(error),
        };
        if login.is_empty() {
            let message = "it does not say whose token this is".to_owned();
            return Err(ForgeError::Shape { place: self.wire.place("/user"), message });
        }
        Ok(self.account.get_or_init(|| login))
    }
}

#[derive(Deserialize)]
struct CheckRuns {
    check_runs: Vec<CheckRun>,
}

#[derive(Deserialize)]
struct CheckRun {
    id: u64,
    conclusion: Option<String>,
    #[serde(default)]
    output: Output,
}

#[derive(Default, Deserialize)]
struct Output {
    title: Option<String>,
    summary: Option<String>,
}

impl CheckRun {
    fn says(&self, conclusion: Option<&str>, title: &str, summary: &str) -> bool {
        self.conclusion.as_deref() == conclusion
            && self.output.title.as_deref() == Some(answer::short(title).as_str())
            && marker::same(self.output.summary.as_deref().unwrap_or_default(), summary)
    }
}

impl Forge for Github {
    fn kind(&self) -> Kind {
        Kind::Github
    }

    fn lacks(&self) -> Option<String> {
        None
    }

    fn find(&self, branch: &str, base: &str, _commit: &str) -> Result<Option<Request>, ForgeError> {
        let owner = self.repository.split('/').next().unwrap_or_default();
        let (head, onto) = (escaped(branch), escaped(base));
        let path = self.path(&format!("pulls?state=all&head={owner}:{head}&base={onto}&{}", answer::PAGE));
        let found: Vec<Pull> = self.wire.list(&path)?;
        let ours = found.into_iter().filter(|pull| pull.head.name == branch && pull.base.name == base);
        Ok(answer::current(ours.map(Pull::request)))
    }

    fn open(&self, proposal: &Proposal, push: Push<'_>) -> Result<Request, ForgeError> {
        push(&PushOrder::branch())?;
        let Proposal { branch, base, title, body, .. } = proposal;
        let asked = json!({"head": branch, "base": base, "title": title, "body": body});
        Ok(self.wire.send::<Pull>(&Method::POST, &self.path("pulls"), &asked)?.request())
    }

    fn update(&self, request: &Request, proposal: &Proposal, push: Push<'_>) -> Result<Written, ForgeError> {
        let moved = push(&PushOrder::branch())?.moved;
        let path = self.path(&format!("pulls/{}", request.id));
        let to = (&Method::PATCH, path.as_str(), "body");
        Ok(answer::either(moved, answer::reword(&self.wire, to, request, (&proposal.title, &proposal.body))?))
    }

    fn comment(&self, request: &Request, text: &str) -> Result<Written, ForgeError> {
        let list = self.path(&format!("issues/{}/comments", request.id));
        answer::comment(&self.wire, self.account()?, (&list, &self.path("issues/comments")), text)
    }

    fn reviews(&self, request: &Request) -> Result<Vec<Review>, ForgeError> {
        answer::reviews(&self.wire, &self.path(&format!("pulls/{}/reviews?{}", request.id, answer::PAGE)))
    }

    fn open_requests(&self, base: &str) -> Result<Vec<(String, Request)>, ForgeError> {
        let path = self.path(&format!("pulls?state=open&base={}&{}", escaped(base), answer::PAGE));
        // The branch of a fork has the fork's owner in its label.
        let owner = self.repository.split('/').next().unwrap_or_default();
        let ours = |pull: &Pull| pull.base.name == base && pull.head.label == format!("{owner}:{}", pull.head.name);
        let found = self.wire.list::<Pull>(&path)?.into_iter().filter(ours);
        Ok(found.map(|pull| (pull.head.name.clone(), pull.request())).collect())
    }

    fn settle(&self, request: &Request, landed: bool) -> Result<bool, ForgeError> {
        if landed {
            return Ok(false);
        }
        answer::close(&self.wire, &self.path(&format!("pulls/{}", request.id))).map(|()| true)
    }

    fn set_check_run(
        &self,
        commit: &str,
        check: Check,
        title: &str,
        summary: &str,
    ) -> Result<Option<Written>, ForgeError> {
        let path = self.path(&format!("commits/{commit}/check-runs?check_name={}", escaped(CHECK_RUN)));
        let there = self.wire.get::<CheckRuns>(&path)?.check_runs.into_iter().next();
        let mut wanted = json!({
            "name": CHECK_RUN, "head_sha": commit, "output": {"title": answer::short(title), "summary": summary},
        });
        let conclusion = match check {
            Check::Pending => None,
            Check::Success => Some("success"),
            Check::Failure => Some("failure"),
        };
        wanted["status"] = json!(if conclusion.is_some() { "completed" } else { "in_progress" });
        if let Some(conclusion) = conclusion {
            wanted["conclusion"] = json!(conclusion);
        }
        Ok(Some(match there {
            Some(run) if run.says(conclusion, title, summary) => Written::Unchanged,
            Some(run) => {
                self.wire.send::<Value>(&Method::PATCH, &self.path(&format!("check-runs/{}", run.id)), &wanted)?;
                Written::Updated
            }
            None => {
                self.wire.send::<Value>(&Method::POST, &self.path("check-runs"), &wanted)?;
                Written::Made
            }
        }))
    }

    fn set_status(&self, commit: &str, check: Check, description: &str) -> Result<Written, ForgeError> {
        let list = self.path(&format!("commits/{commit}/statuses?{}", answer::PAGE));
        answer::set_status(&self.wire, (&list, &self.path(&format!("statuses/{commit}"))), check, description)
    }
}
