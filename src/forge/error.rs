//! What can go wrong with a forge. No text holds a token.

use crate::store::StoreError;

/// A failure of a forge, naming the forge and the path.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// The forge cannot be told, or its address is no use.
    #[error("{message}")]
    Settings {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// There is no token.
    #[error("{place} needs a token, and none was found")]
    Token {
        /// The forge.
        place: String,
        /// Where a token is looked for.
        hint: String,
    },
    /// The forge has no such interface.
    #[error("{forge} {message}")]
    Lacks {
        /// The forge.
        forge: &'static str,
        /// What it lacks.
        message: String,
    },
    /// The forge answered with an error.
    #[error("{place} answered {status}{said}")]
    Status {
        /// Forge and path.
        place: String,
        /// The status, as `404 Not Found`.
        status: String,
        /// The code alone.
        code: u16,
        /// The forge's own words, cut and cleaned; empty: none.
        said: String,
    },
    /// The forge asks to wait longer than a command waits.
    #[error("{place} takes no more requests for {seconds} s")]
    Limited {
        /// Forge and path.
        place: String,
        /// How long.
        seconds: u64,
    },
    /// The forge could not be reached, or the connection broke.
    #[error("{place} cannot be reached: {message}")]
    Unreachable {
        /// Forge and path.
        place: String,
        /// Why.
        message: String,
    },
    /// It took too long.
    #[error("{place} did not answer within {timeout_ms} ms")]
    Timeout {
        /// Forge and path.
        place: String,
        /// The deadline.
        timeout_ms: u128,
    },
    /// It said too much.
    #[error("{place} answered more than {max} bytes")]
    Large {
        /// Forge and path.
        place: String,
        /// The bound.
        max: usize,
    },
    /// It has more pages than are read.
    #[error("{place} has more than {max} pages")]
    Pages {
        /// Forge and path.
        place: String,
        /// The bound.
        max: usize,
    },
    /// It said something else than what was asked for.
    #[error("{place} answered something else than it was asked for: {message}")]
    Shape {
        /// Forge and path.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The other side does not take a push.
    #[error("the push to {reference} was refused:\n{message}")]
    Push {
        /// Where to.
        reference: String,
        /// Its words.
        message: String,
    },
    /// Git.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ForgeError {
    /// The exit code that the command line contract gives this failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Lacks { .. } | Self::Push { .. } | Self::Token { .. } => 3,
            Self::Status { code, .. } if (400..500).contains(code) => 3,
            Self::Shape { .. } | Self::Large { .. } | Self::Pages { .. } => 5,
            Self::Limited { .. } | Self::Store(StoreError::Busy { .. }) => 6,
            _ => 2,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Settings { hint, .. } | Self::Token { hint, .. } => Some(hint.clone()),
            Self::Status { code: 401, .. } => {
                Some("the token is not valid there; `git brain pr` looks for it in the environment first".to_owned())
            }
            Self::Status { code: 403 | 404, .. } => {
                Some("the token must be allowed to read and write requests of that repository".to_owned())
            }
            Self::Limited { .. } => Some("give the command again then: it goes on where it stopped".to_owned()),
            Self::Store(error) => error.hint(),
            _ => None,
        }
    }
}
