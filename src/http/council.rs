//! Councils that wait for a person's word: what they are about, and the word.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use super::chat::body;

/// The word of a person on a council.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CouncilWord {
    /// The council.
    id: String,
    /// Whether the answer to its question is yes.
    approve: bool,
    /// Why.
    #[serde(default)]
    why: String,
}

/// `GET /councils`.
pub(super) async fn waiting(State(shared): State<Shared>) -> Result<Json<Value>, Failure> {
    let councils = on_a_thread(move || shared.serving.brain()?.pending_councils()).await?;
    Ok(Json(json!({ "councils": councils })))
}

/// `POST /councils`.
pub(super) async fn close(State(shared): State<Shared>, request: Request) -> Result<Json<Value>, Failure> {
    let CouncilWord { id, approve, why } = body(request).await?;
    let report = on_a_thread(move || {
        let brain = shared.serving.brain()?;
        // Another id is a place where nothing waits.
        if !brain.is_council(&id)? {
            return Ok(None);
        }
        brain.close_council(&id, approve, &why, false).map(Some)
    });
    let Some(report) = report.await? else {
        return Err(Failure::of(StatusCode::NOT_FOUND, "no council waits under this id"));
    };
    Ok(Json(json!({"id": report.id, "state": report.state})))
}
