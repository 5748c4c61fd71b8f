//! For programs that speak no tool protocol: to feed, recall, apply a delta and report an outcome, by the same functions as the tools of `mcp`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use super::chat::{BODY, body, bounded};
use crate::brain::BrainError;
use crate::brain::client::{
    AskRequest, Came, CameRequest, Client, Desk, Kept, Proposal, Recollection, Remembered, Via,
};

/// The header in which a program says its name.
const CLIENT: HeaderName = HeaderName::from_static("client");

/// `POST /feed`.
pub(super) async fn feed(State(shared): State<Shared>, request: Request) -> Result<Json<Kept>, Failure> {
    let client = named(request.headers())?;
    let texts: Remembered = body(request).await?;
    shared.ask(move |desk| desk.remember(&client, &texts)).await
}

/// `GET /recall`.
pub(super) async fn recall(
    State(shared): State<Shared>,
    headers: HeaderMap,
    question: Result<Query<AskRequest>, QueryRejection>,
) -> Result<Json<Recollection>, Failure> {
    let (client, Query(question)) = (named(&headers)?, question?);
    shared.ask(move |desk| desk.recall(&client, &question)).await
}

/// `POST /apply`.
pub(super) async fn apply(State(shared): State<Shared>, request: Request) -> Result<Json<Proposal>, Failure> {
    let client = named(request.headers())?;
    let delta = bounded(request).await?;
    shared.ask(move |desk| desk.propose(&client, &delta, BODY)).await
}

/// `POST /outcome`.
pub(super) async fn outcome(State(shared): State<Shared>, request: Request) -> Result<Json<Came>, Failure> {
    let client = named(request.headers())?;
    let outcome: CameRequest = body(request).await?;
    shared.ask(move |desk| desk.outcome(&client, &outcome)).await
}

impl Shared {
    /// Asks the brain on a thread of its own, as many at a time as may be. What has begun is finished, whoever has left.
    async fn ask<T: Send + 'static>(
        self,
        question: impl FnOnce(&Desk) -> Result<T, BrainError> + Send + 'static,
    ) -> Result<Json<T>, Failure> {
        let permit = self.calls.acquire_owned().await.map_err(|_| Failure::broken())?;
        let desk = self.desk;
        let answer = on_a_thread(move || {
            let answer = question(&desk);
            drop(permit);
            answer
        });
        answer.await.map(Json)
    }
}

/// The program that asks, by the name that it says.
fn named(headers: &HeaderMap) -> Result<Client, Failure> {
    let mut names = headers.get_all(CLIENT).iter();
    let wrong = |why| Failure::of(StatusCode::BAD_REQUEST, format!("the header Client {why}"));
    match (names.next(), names.next()) {
        (None, _) => Ok(Client::named("", Via::Http)),
        (Some(name), None) => {
            let name = name.to_str().map_err(|_| wrong("is no name of letters, digits and hyphens"))?;
            Ok(Client::named(name, Via::Http))
        }
        _ => Err(wrong("is given more than once")),
    }
}
