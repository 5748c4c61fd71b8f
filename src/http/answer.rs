//! What goes back: documents, and failures with the status that fits.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::brain::BrainError;

/// The version of the documents.
const VERSION: u32 = 1;

/// Why a request is not answered: a status, and a document as every command has it.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: StatusCode,
    pub error: String,
    pub hint: Option<String>,
    pub code: u8,
}

impl Failure {
    /// A request that is wrong, or may not be made: exit code 2 and 3 of a command.
    pub fn of(status: StatusCode, error: impl Into<String>) -> Self {
        let code = if status == StatusCode::FORBIDDEN || status == StatusCode::UNAUTHORIZED { 3 } else { 2 };
        Self { status, error: error.into(), hint: None, code }
    }

    pub fn hinting(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }

    /// A thread of ours that broke: nothing of it reaches whoever asked.
    pub fn broken() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            error: "the request could not be carried out".to_owned(),
            hint: None,
            code: 5,
        }
    }

    pub fn document(&self) -> serde_json::Value {
        json!({"version": VERSION, "error": self.error, "hint": self.hint, "code": self.code})
    }
}

impl From<BrainError> for Failure {
    fn from(error: BrainError) -> Self {
        let status = match (&error, error.exit_code()) {
            (BrainError::Absent { .. }, _) => StatusCode::NOT_FOUND,
            // Documents are what a request brings.
            (_, 2) | (BrainError::Document(_), 5) => StatusCode::BAD_REQUEST,
            (_, 3) => StatusCode::UNPROCESSABLE_ENTITY,
            (_, 4) => StatusCode::BAD_GATEWAY,
            (_, 6) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, hint: error.hint(), code: error.exit_code(), error: error.to_string() }
    }
}

impl From<PathRejection> for Failure {
    fn from(rejection: PathRejection) -> Self {
        Self::of(StatusCode::BAD_REQUEST, format!("the path of the request: {}", rejection.body_text()))
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Self::of(StatusCode::BAD_REQUEST, format!("the query of the request: {}", rejection.body_text()))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.document())).into_response();
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            _ => {}
        }
        response
    }
}

pub(super) async fn no_such_place() -> Failure {
    Failure::of(StatusCode::NOT_FOUND, "there is nothing under this path")
        .hinting("GET /openapi.json lists what there is")
}

pub(super) async fn no_such_method() -> Failure {
    Failure::of(StatusCode::METHOD_NOT_ALLOWED, "this path is not asked so")
        .hinting("GET /openapi.json lists what there is")
}

/// Does what takes time on a thread of its own, so that other requests are not held up.
pub(super) async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrainError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Failure::broken()),
    }
}
