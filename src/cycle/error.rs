//! What can go wrong in the cycle. A refused delta, a conflict, a failing agent are values, not errors: see
//! [`super::Outcome`].

use std::path::Path;

use super::file::{Level, examine};
use crate::delta::DocumentError;
use crate::forge::ForgeError;
use crate::llm::LlmError;
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::model::settings::SettingsError;
use crate::store::{Store, StoreError, permission_hint};
use crate::world::{TrustError, WorldError};

/// A failure of the cycle, naming its place.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The repository.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the brain that does not parse.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A document that is not accepted.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Settings that cannot be read.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The world outside.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The record of trust.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A model that gave no answer.
    #[error(transparent)]
    Model(Box<LlmError>),
    /// A forge.
    #[error(transparent)]
    Forge(Box<ForgeError>),
    /// A file of a branch that cannot be read.
    #[error("{}: {}", .0.on.join(", "), .0.error)]
    Broken(Box<Broken>),
    /// A side of a merge that cannot be merged.
    #[error("cannot merge: {0}")]
    Merge(String),
    /// Well formed, and not allowed.
    #[error("{message}")]
    Refused {
        /// What, and why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The command line asks for something that is not there.
    #[error("{message}")]
    Usage {
        /// What, and why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// There is nothing of that name.
    #[error("{message}")]
    Absent {
        /// What, and why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// No model answered.
    #[error("{0}")]
    Unanswered(String),
    /// Whoever wanted the answer has stopped listening.
    #[error("cancelled: the client disconnected")]
    Unheard,
    /// Nothing but the budget stops it.
    #[error("{0}")]
    Exhausted(String),
    /// Somebody else holds what is needed.
    #[error("{0}")]
    Busy(String),
}

/// A file that cannot be read, and where.
#[derive(Debug)]
pub struct Broken {
    /// The branches that have it.
    pub on: Vec<String>,
    /// The file, and what is wrong with it.
    pub error: JsonError,
    /// Whether it is in wake or main, which cannot be thrown away.
    pub stays: bool,
}

impl From<LlmError> for CycleError {
    fn from(error: LlmError) -> Self {
        Self::Model(Box::new(error))
    }
}

impl From<ForgeError> for CycleError {
    fn from(error: ForgeError) -> Self {
        Self::Forge(Box::new(error))
    }
}

/// The content of a file of the brain, unless it cannot be read: then a note names it, and the others go on.
///
/// # Errors
/// Every failure but that of a file.
pub(super) fn left_alone<T>(store: &Store, read: Result<T, impl Into<CycleError>>) -> Result<Option<T>, CycleError> {
    match read.map_err(Into::into) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_of_a_file() => {
            store.add_note(format!("left alone: {error}; `git brain doctor` says what to do"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl CycleError {
    /// Whether it may be gone the next time: a disk that is full or failed, a lock that somebody held. An object that is missing as
    /// well: a folder of packs that could not be listed looks no other, and no stimulus is at fault.
    pub fn is_passing(&self) -> bool {
        match self {
            // A cycle under way has found the repository before: that it is not found again is the disk's fault.
            Self::Store(StoreError::NoRepository { .. } | StoreError::NoBrain { .. } | StoreError::Missing { .. })
            | Self::World(_)
            | Self::Busy(_) => true,
            Self::Store(error) => error.is_of_the_system() || matches!(error, StoreError::Busy { .. }),
            Self::Model(error) => error.may_pass() || matches!(**error, LlmError::Timeout { .. }),
            _ => false,
        }
    }

    /// True for a file of the brain that cannot be read: whatever needs it fails until a person has corrected it, and nothing else
    /// has to.
    pub fn is_of_a_file(&self) -> bool {
        match self {
            Self::Json(error) => Place::of(&error.what) != Place::Other,
            Self::Broken(_) | Self::Merge(_) | Self::Store(StoreError::BadObject { .. }) => true,
            _ => false,
        }
    }

    /// Refused, without a hint.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: None }
    }

    /// A wrong request, without a hint.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// The exit code that the command line contract gives this failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Refused { .. } | Self::Document(DocumentError::Limit(_)) | Self::Store(StoreError::Secret { .. }) => {
                3
            }
            Self::Forge(error) => error.exit_code(),
            Self::Unanswered(_) | Self::Unheard => 4,
            Self::Json(_) | Self::Document(DocumentError::Json(_)) | Self::Settings(_) | Self::Merge(_) => 5,
            Self::Broken(_) => 5,
            Self::Model(error) => match **error {
                LlmError::Settings { .. } | LlmError::Cassette { .. } => 2,
                _ => 4,
            },
            Self::Trust(TrustError::Damaged { .. }) => 5,
            Self::Store(StoreError::Busy { .. }) | Self::Busy(_) | Self::Exhausted(_) => 6,
            Self::Store(StoreError::BadObject { .. } | StoreError::BadPath { .. } | StoreError::Missing { .. }) => 5,
            Self::Store(StoreError::Link { .. } | StoreError::Irregular { .. } | StoreError::Oversized { .. }) => 5,
            Self::Store(_) | Self::World(_) | Self::Trust(_) | Self::Usage { .. } | Self::Absent { .. } => 2,
        }
    }

    /// Whether what history has cannot be read: no fault of this machine.
    pub fn is_of_the_history(&self) -> bool {
        match self {
            Self::Store(error @ StoreError::Git { .. }) => !error.is_of_the_system(),
            error => error.exit_code() == 5,
        }
    }

    /// The same, with branch and line where it is that the settings of main cannot be read.
    pub(super) fn of_settings(self, store: &Store) -> Self {
        if !matches!(self, Self::Settings(_) | Self::Json(_)) {
            return self;
        }
        let text = || {
            let file = store.file(store.tree_of(store.tip(store.main()).ok()??).ok()?, layout::SETTINGS).ok()??;
            store.content(file.blob).ok()
        };
        let found = text().map(|text| examine(layout::SETTINGS, &text).findings).unwrap_or_default();
        let Some(fault) = found.into_iter().find(|finding| finding.level == Level::Error) else { return self };
        let error = JsonError::at(&fault.path, fault.line, "", fault.message);
        Self::Broken(Box::new(Broken { on: vec![store.main().to_string()], error, stays: true }))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { hint, .. } | Self::Usage { hint, .. } | Self::Absent { hint, .. } => hint.clone(),
            Self::Store(error) => error.hint(),
            Self::Forge(error) => error.hint(),
            Self::World(WorldError::Read { path, source }) => permission_hint(Path::new(path), source),
            Self::Broken(broken) => broken.on.first().map(|branch| remedy(branch, &broken.error.what, broken.stays)),
            // Not for a file from elsewhere, such as one that is imported.
            Self::Json(error) if Place::of(&error.what) != Place::Other => Some(
                "`git brain check` lists what is wrong with files of wake, `git brain check main` of main".to_owned(),
            ),
            Self::Settings(error) if error.place.starts_with(layout::SETTINGS) => {
                Some("correct it on main and commit it; `git brain check main` lists what is wrong".to_owned())
            }
            Self::Busy(_) => Some("try again when the other command has ended".to_owned()),
            Self::Exhausted(_) => {
                Some("the next day (UTC) has a budget of its own; or raise it in brain.toml".to_owned())
            }
            _ => None,
        }
    }
}

/// The way out of a file of a branch that cannot be read; a branch that need not stay can go.
pub fn remedy(branch: &str, path: &str, stays: bool) -> String {
    match stays {
        true => format!(
            "correct it on {branch} and commit it; `git log {branch} -- {path}` names the commits that changed it, and \
             `git show COMMIT~1:{path}` prints what it was"
        ),
        false => format!("correct it on {branch} and commit it, or throw the run away: `git brain reject {branch}`"),
    }
}
