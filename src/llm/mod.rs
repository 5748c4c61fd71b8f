//! Models behind endpoints: what goes out over the network, and what comes back.
//!
//! Off unless a setting names a model that is trusted here. A call has a deadline, a bound on what it reads, and a bounded number of
//! tries; it follows no redirect, and uses no proxy. What comes back is data: it is checked, and nothing of it is printed. Must
//! not know where texts come from, or what is done with the answers.
//!
//! Place in the flow: settings and the environment's key → [`Endpoint`] → [`Provider`] → a reply, or → [`Embedder`] → vectors.

#![allow(clippy::disallowed_methods, reason = "the boundary to the network: deadlines are measured by the real clock")]

mod cassette;
mod client;
pub mod embeddings;
mod endpoint;
mod provider;
mod relay;

pub(crate) use client::client;
pub(crate) use endpoint::is_this_machine;

pub use cassette::Cassette;
pub use embeddings::Embedder;
pub use endpoint::{Endpoint, key_in_environment};
pub use provider::{Hear, Piece, Provider};

/// Why a model gave no answer. No text holds a key, or anything that the endpoint said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The settings name a model that cannot be called.
    #[error("models.{name}: {message}")]
    Settings {
        /// The model's name in the settings.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The endpoint answered with an error.
    #[error("{place} answered {status}")]
    Status {
        /// Model and address.
        place: String,
        /// The status, as `429 Too Many Requests`.
        status: String,
        /// The code alone.
        code: u16,
        /// After how many seconds it wants to be asked again.
        retry_after: Option<u64>,
    },
    /// The endpoint could not be reached, or the connection broke.
    #[error("{place} cannot be reached: {message}")]
    Unreachable {
        /// Model and address.
        place: String,
        /// Why.
        message: String,
    },
    /// The connection broke in the middle of an answer.
    #[error("{place} broke off in the middle of its answer: {message}")]
    Cut {
        /// Model and address.
        place: String,
        /// Why.
        message: String,
    },
    /// It took too long.
    #[error("{place} did not answer within {timeout_ms} ms")]
    Timeout {
        /// Model and address.
        place: String,
        /// The deadline.
        timeout_ms: u128,
    },
    /// It said too much.
    #[error("{place} answered more than {max} bytes")]
    Large {
        /// Model and address.
        place: String,
        /// The bound.
        max: usize,
    },
    /// The cassette has no such exchange, or cannot be used.
    #[error("cassette: {message}")]
    Cassette {
        /// What is wrong.
        message: String,
    },
    /// It said something else than what was asked for.
    #[error("{place} answered something else than it was asked for: {message}")]
    Shape {
        /// Model and address.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl LlmError {
    /// An answer that is an error, by its status and headers.
    fn of_status(place: &str, status: reqwest::StatusCode, headers: &reqwest::header::HeaderMap) -> Self {
        if status.is_redirection() {
            let message = "it wants to send the request elsewhere, which is not done".to_owned();
            return Self::Shape { place: place.to_owned(), message };
        }
        let seconds = |value: &reqwest::header::HeaderValue| value.to_str().ok()?.trim().parse().ok();
        Self::Status {
            place: place.to_owned(),
            status: status.to_string(),
            code: status.as_u16(),
            retry_after: headers.get(reqwest::header::RETRY_AFTER).and_then(seconds),
        }
    }

    /// Whether the same request may well succeed a moment later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Status { code, .. } => *code == 429 || *code >= 500,
            Self::Unreachable { .. } | Self::Cut { .. } => true,
            _ => false,
        }
    }

    /// Whether the endpoint refuses what was sent, not who sends it or how often.
    #[must_use]
    pub fn refuses_input(&self) -> bool {
        matches!(self, Self::Status { code: 400 | 413 | 422, .. })
    }

    /// The pause that the endpoint asks for.
    fn pause(&self) -> Option<std::time::Duration> {
        match self {
            Self::Status { retry_after: Some(seconds), .. } => Some(std::time::Duration::from_secs(*seconds)),
            _ => None,
        }
    }
}

/// What went wrong, down to its cause, without the address, which may be long and is said already.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    if text.contains("://") { "the request failed".to_owned() } else { text }
}
