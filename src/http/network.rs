//! The network for the page: a picture as arrays, cached by what it shows; its history; and a search.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use super::look::{Id, When};
use crate::brain::{
    History, LedgerView, PictureRequest, RecallAnswer, RecallRequest, Signs, picture_bytes, picture_places,
};
use crate::limits;

/// The part of the network that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    most: Option<usize>,
    at: Option<String>,
    since: Option<String>,
    around: Option<String>,
}

/// The neurons whose names are asked for, with commas between them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    ids: String,
    at: Option<String>,
}

/// The entries of the log or the ledger that are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Span {
    number: Option<usize>,
    at: Option<String>,
}

/// A question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    question: String,
    top: Option<usize>,
    at: Option<String>,
}

/// In place of a commit to compare with: main as the last sleep before the moment left it.
const SLEPT: &str = "slept";

/// Commits, what is shown of them, and the bytes. A commit never changes, so neither does its picture.
type Kept = (String, Bytes);

/// Pictures that were asked for last.
#[derive(Clone, Default)]
pub(super) struct Pictures {
    kept: Arc<Mutex<VecDeque<Kept>>>,
    /// The picture of the network that was asked for last: the next one goes on from where its neurons stand.
    last: Arc<Mutex<Bytes>>,
}

impl Pictures {
    fn get(&self, key: &str) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == key).map(|(_, bytes)| bytes.clone())
    }

    fn last(&self) -> MutexGuard<'_, Bytes> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, key: String, bytes: Bytes) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        kept.push_front((key, bytes));
        kept.truncate(limits::HTTP_PICTURES);
        // A few of the largest are as many as many small ones.
        while kept.len() > 1 && kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > limits::HTTP_PICTURE_BYTES {
            kept.pop_back();
        }
    }
}

fn checked(id: Option<String>) -> Result<Option<String>, Failure> {
    Ok(id.as_deref().map(Id::parse).transpose()?.map(Id::into_text))
}

/// `GET /network`.
pub(super) async fn picture(
    State(shared): State<Shared>,
    part: Result<Query<Part>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(Part { most, at, since, around }) = part?;
    let slept = since.as_deref() == Some(SLEPT);
    let (at, since) = (checked(at)?, checked(since.filter(|_| !slept))?);
    let none = Failure::of(StatusCode::NOT_FOUND, "there is no such neuron at that commit");
    let pictures = shared.pictures.clone();
    let bytes = on_a_thread(move || {
        let brain = shared.serving.brain()?;
        let at = match at {
            Some(at) => at,
            None => brain.pulse()?.wake,
        };
        let since = if slept { Some(brain.slept_before(&at)?) } else { since };
        let key = format!("{at} {since:?} {most:?} {around:?}");
        let is_whole = around.is_none();
        if let Some(bytes) = pictures.get(&key) {
            if is_whole {
                *pictures.last() = bytes.clone();
            }
            return Ok(Some(bytes));
        }
        let last = if is_whole { pictures.last().clone() } else { Bytes::new() };
        let stood = picture_places(&last);
        let request = PictureRequest { about: String::new(), question: false, at: Some(at), since, most, stood };
        let picture = match &around {
            Some(id) => brain.neuron_picture(id, &request)?,
            None => Some(brain.picture(&request)?),
        };
        let bytes = picture.map(|picture| Bytes::from(picture_bytes(&picture)));
        if let Some(bytes) = &bytes {
            if is_whole {
                *pictures.last() = bytes.clone();
            }
            pictures.keep(key, bytes.clone());
        }
        Ok(bytes)
    });
    let bytes = bytes.await?.ok_or(none)?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// `GET /network/names`.
pub(super) async fn names(
    State(shared): State<Shared>,
    named: Result<Query<Named>, QueryRejection>,
) -> Result<Json<Value>, Failure> {
    let Query(Named { ids, at }) = named?;
    let at = checked(at)?;
    let names = on_a_thread(move || {
        let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
        shared.serving.brain()?.neuron_names(&ids, at.as_deref())
    });
    names.await.map(|names| Json(json!({ "neurons": names })))
}

/// `GET /history`.
pub(super) async fn history(
    State(shared): State<Shared>,
    span: Result<Query<Span>, QueryRejection>,
) -> Result<Json<History>, Failure> {
    let Query(Span { number, at }) = span?;
    let at = checked(at)?;
    let number = number.unwrap_or(limits::HTTP_HISTORY).min(limits::HTTP_HISTORY);
    on_a_thread(move || shared.serving.brain()?.log(number, None, at.as_deref())).await.map(Json)
}

/// `GET /ledger`.
pub(super) async fn ledger(
    State(shared): State<Shared>,
    span: Result<Query<Span>, QueryRejection>,
) -> Result<Json<LedgerView>, Failure> {
    let Query(Span { number, at }) = span?;
    let at = checked(at)?;
    let number = number.unwrap_or(limits::HTTP_LEDGER_USUAL).min(limits::HTTP_LEDGER);
    on_a_thread(move || shared.serving.brain()?.ledger_view(number, at.as_deref())).await.map(Json)
}

/// `GET /search`.
pub(super) async fn search(
    State(shared): State<Shared>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<RecallAnswer>, Failure> {
    let Query(Asked { question, top, at }) = asked?;
    let at = checked(at)?;
    if question.len() > limits::STIMULUS_BYTES {
        return Err(Failure::of(StatusCode::BAD_REQUEST, "the question is too long"));
    }
    let top = top.map(|top| top.min(limits::VIEW_TOUCHES));
    let request = RecallRequest { query: question, top, at, ..RecallRequest::default() };
    on_a_thread(move || shared.serving.brain()?.recall(&request)).await.map(Json)
}

/// `GET /neurons/ID/blame`.
pub(super) async fn blame(
    State(shared): State<Shared>,
    id: Result<Path<String>, PathRejection>,
    when: Result<Query<When>, QueryRejection>,
) -> Result<Json<Value>, Failure> {
    let (Path(id), Query(when)) = (id?, when?);
    let at = checked(when.at)?;
    let none = Failure::of(StatusCode::NOT_FOUND, format!("there is no neuron {id:?}"));
    let fields = on_a_thread(move || {
        let brain = shared.serving.brain()?;
        match brain.neuron_view(&id, at.as_deref())? {
            Some(view) => brain.blame(&view.neuron.id, at.as_deref()).map(Some),
            None => Ok(None),
        }
    });
    fields.await?.map(|fields| Json(json!({ "fields": fields }))).ok_or(none)
}

/// `GET /status`.
pub(super) async fn status(State(shared): State<Shared>) -> Result<Json<Value>, Failure> {
    let status = on_a_thread(move || shared.serving.brain()?.status(Signs::None)).await?;
    serde_json::to_value(status).map(Json).map_err(|_| Failure::broken())
}
