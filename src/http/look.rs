//! Looking: a sign of life, a conversation again, and what citations lead to.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use crate::brain::{CommitView, Conversation, NeuronView};

/// Which state of the network is looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    #[serde(default)]
    at: Option<String>,
}

pub(super) async fn health() -> Json<Value> {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
}

pub(super) async fn conversation(
    State(shared): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<Conversation>, Failure> {
    on_a_thread(move || shared.serving.brain()?.conversation(&name)).await.map(Json)
}

pub(super) async fn neuron(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(when): Query<When>,
) -> Result<Json<NeuronView>, Failure> {
    let none = Failure::of(StatusCode::NOT_FOUND, format!("there is no neuron {id:?}"));
    let found = on_a_thread(move || shared.serving.brain()?.neuron_view(&id, when.at.as_deref())).await?;
    found.map(Json).ok_or(none)
}

pub(super) async fn commit(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Json<CommitView>, Failure> {
    let none = Failure::of(StatusCode::NOT_FOUND, format!("{id:?} names no commit"));
    let found = on_a_thread(move || shared.serving.brain()?.commit_view(&id)).await?;
    found.map(Json).ok_or(none)
}
