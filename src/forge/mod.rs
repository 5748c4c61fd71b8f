//! Forges: requests for review on GitHub, GitLab, Forgejo, Gitea and Radicle.
//!
//! Nothing of the brain depends on a forge: a request shows a branch that waits, and is a way to decide on it. A forge's answers are
//! data: bounded in size and time, read by a schema, never printed as they stand. A token goes to the forge's own address and to no
//! other. Must not know what a run or a neuron is: branch, title and text come in from above, and so does the push.
//!
//! Place in the flow: settings and the remote's address → [`Place`] → [`Forge`] → a request, its comment, its reviews, a status.

#![allow(clippy::disallowed_methods, reason = "the boundary to the network: waits are measured by the real clock")]

mod answer;
mod error;
mod forgejo;
mod github;
mod gitlab;
mod marker;
mod place;
mod radicle;
mod token;
mod wire;

pub use error::ForgeError;
pub use marker::COMMENT_MARKER;
pub use place::{Kind, Place};
pub use token::{Token, VARIABLES as TOKEN_VARIABLES, token};

/// The name under which the state of a run's checks stands beside its commit.
pub const STATUS_CONTEXT: &str = "brain/verify";

/// The name of a run's check run on GitHub, which has its belief diff.
pub const CHECK_RUN: &str = "brain/belief";

/// A branch that is to be reviewed, and the words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The branch, `agents/NAME/RUN`.
    pub branch: String,
    /// Its tip.
    pub commit: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
}

/// State of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits.
    Open,
    /// It was closed without a merge.
    Closed,
    /// The forge has merged it.
    Merged,
}

/// A request on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its number there; Radicle: the patch's id.
    pub id: String,
    /// The address of its page, where the forge has one.
    pub url: Option<String>,
    /// Its state.
    pub state: State,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The commit that it shows, if the forge says so.
    pub commit: Option<String>,
}

/// Opinion of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Approved.
    Approved,
    /// Changes are asked for.
    ChangesAsked,
    /// A remark, or a verdict that was dismissed.
    Comment,
}

/// A review as the forge tells it. Every text of it is a stranger's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Review {
    /// Its id on the forge.
    pub id: String,
    /// Login of the reviewer.
    pub reviewer: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The commit that the reviewer saw; null where the forge does not say.
    pub commit: Option<String>,
    /// The reviewer's words.
    pub body: String,
    /// Its time, as the forge writes it.
    pub at: String,
}

/// State of a commit's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Not decided yet.
    Pending,
    /// Good.
    Success,
    /// Refused.
    Failure,
}

/// Outcome of a write that is done only where something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// It was not there.
    Made,
    /// It was there, and is another one now.
    Updated,
    /// It stands as it should.
    Unchanged,
}

/// A push that a forge asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushOrder {
    /// Where to: `refs/for/wake`; `None`: the branch of its own name.
    pub reference: Option<String>,
    /// `git push -o`, one line each.
    pub options: Vec<String>,
}

impl PushOrder {
    /// The branch itself, without options.
    pub fn branch() -> Self {
        Self { reference: None, options: Vec::new() }
    }
}

/// Result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// False: the remote had the commit there already, and was sent nothing.
    pub moved: bool,
    /// Standard error of git, where the other side speaks.
    pub text: String,
}

/// The way to push the proposal's commit. It is asked before anything is told to the forge.
pub type Push<'a> = &'a dyn Fn(&PushOrder) -> Result<Said, ForgeError>;

/// One repository on a forge.
pub trait Forge {
    /// Which forge it is.
    fn kind(&self) -> Kind;

    /// Why this forge can open requests and not follow them: no token, or no such interface. `None`: it can do both.
    fn lacks(&self) -> Option<String>;

    /// The request for a branch whose tip is `commit`: the open one, else the newest.
    ///
    /// # Errors
    /// The forge cannot be asked, or answers something else.
    fn find(&self, branch: &str, base: &str, commit: &str) -> Result<Option<Request>, ForgeError>;

    /// Opens a request, pushing as the forge wants it.
    ///
    /// # Errors
    /// As [`Forge::find`]; and what the push says.
    fn open(&self, proposal: &Proposal, push: Push<'_>) -> Result<Request, ForgeError>;

    /// Brings commit, title and text of an open request to those of the proposal.
    ///
    /// # Errors
    /// As [`Forge::open`].
    fn update(&self, request: &Request, proposal: &Proposal, push: Push<'_>) -> Result<Written, ForgeError>;

    /// Writes the one comment of ours under a request: makes it, or changes it in place.
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn comment(&self, request: &Request, text: &str) -> Result<Written, ForgeError>;

    /// The reviews of a request, oldest first.
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn reviews(&self, request: &Request) -> Result<Vec<Review>, ForgeError>;

    /// The open requests into `base` that are from branches of the repository itself or by our own account, each with its branch.
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn open_requests(&self, base: &str) -> Result<Vec<(String, Request)>, ForgeError>;

    /// Ends an open request whose run was decided: as merged where it landed and the forge does not see that of itself, else as closed.
    /// `false`: it is left to the forge, which sees the merge.
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn settle(&self, request: &Request, landed: bool) -> Result<bool, ForgeError>;

    /// Sets the state of a commit's checks, under [`STATUS_CONTEXT`].
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn set_status(&self, commit: &str, check: Check, description: &str) -> Result<Written, ForgeError>;

    /// Writes the check run [`CHECK_RUN`] of a commit, where the forge has such: only a token of its own CI may.
    ///
    /// # Errors
    /// As [`Forge::find`].
    fn set_check_run(
        &self,
        _commit: &str,
        _check: Check,
        _title: &str,
        _summary: &str,
    ) -> Result<Option<Written>, ForgeError> {
        Ok(None)
    }
}

/// A repository on a forge, ready to be asked; nothing is sent yet.
///
/// # Errors
/// A token that would go over the network in plain text, or a machine without certificates.
pub fn open(place: Place, token: Option<Token>, timeout: std::time::Duration) -> Result<Box<dyn Forge>, ForgeError> {
    Ok(match place.kind {
        Kind::Github => Box::new(github::Github::new(&place, token, timeout)?),
        Kind::Gitlab => Box::new(gitlab::Gitlab::new(&place, token, timeout)?),
        Kind::Forgejo | Kind::Gitea => Box::new(forgejo::Forgejo::new(&place, token, timeout)?),
        Kind::Radicle => Box::new(radicle::Radicle),
    })
}
