//! Looking: a sign of life, a conversation again, and what citations lead to.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use crate::brain::{CommitView, Conversation, NeuronView};

/// A commit's id, whole or the beginning of it. Nothing else that git takes for a revision, such as `:/TEXT`, is asked for: it may
/// walk all of the history, and name what is no memory.
#[derive(Debug)]
pub(super) struct Id(String);

impl Id {
    const SHORTEST: usize = 4;
    const LONGEST: usize = 40;

    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let fits = (Self::SHORTEST..=Self::LONGEST).contains(&text.len());
        if !fits || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let failure = Failure::of(StatusCode::BAD_REQUEST, "this is no id of a commit");
            return Err(failure.hinting("4 to 40 digits and letters a to f, such as `git log` prints"));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Which state of the network is looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    #[serde(default)]
    pub(super) at: Option<String>,
}

pub(super) async fn health() -> Json<Value> {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
}

pub(super) async fn conversation(
    State(shared): State<Shared>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Conversation>, Failure> {
    let Path(name) = name?;
    on_a_thread(move || shared.serving.brain()?.conversation(&name)).await.map(Json)
}

/// `GET /handoffs`.
pub(super) async fn handoffs(State(shared): State<Shared>) -> Result<Json<Value>, Failure> {
    let waiting = on_a_thread(move || shared.serving.brain()?.handoffs()).await?;
    Ok(Json(json!({ "handoffs": waiting })))
}

pub(super) async fn neuron(
    State(shared): State<Shared>,
    id: Result<Path<String>, PathRejection>,
    when: Result<Query<When>, QueryRejection>,
) -> Result<Json<NeuronView>, Failure> {
    let (Path(id), Query(when)) = (id?, when?);
    let none = Failure::of(StatusCode::NOT_FOUND, format!("there is no neuron {id:?}"));
    let at = when.at.as_deref().map(Id::parse).transpose()?;
    let found = on_a_thread(move || {
        shared.serving.brain()?.neuron_view_with_incoming(&id, at.as_ref().map(|at| at.0.as_str()))
    })
    .await?;
    found.map(Json).ok_or(none)
}

pub(super) async fn commit(
    State(shared): State<Shared>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<CommitView>, Failure> {
    let Path(id) = id?;
    let id = Id::parse(&id)?;
    let none = Failure::of(StatusCode::NOT_FOUND, format!("there is no commit {}", id.0));
    let found = on_a_thread(move || shared.serving.brain()?.commit_view(&id.0)).await?;
    found.map(Json).ok_or(none)
}
