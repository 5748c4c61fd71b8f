//! A message in, an answer out: whole, or as it comes; and what waits for a person to confirm.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Shared;
use super::answer::{Failure, on_a_thread};
use super::connections::Bodies;
use crate::brain::{ChainNode, ChatAnswer, ChatEvent, ChatRequest, ToolUse};
use crate::limits;
use crate::model::json as strict;

/// The answer as one document.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Answered {
    /// The answer.
    reply: String,
    /// Who answered: one step, `simple`; several, `reflexive`; or the `council`.
    mode: &'static str,
    /// Calls of models, all steps together.
    turns: u32,
    /// The steps that ran, in order.
    chain: Vec<ChainNode>,
    /// The tools that they called.
    tools_used: Vec<ToolUse>,
}

/// What a person says to a call that waits.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirmation {
    /// What waits.
    id: String,
    /// Whether it may be done; true by default.
    #[serde(default = "yes")]
    allow: bool,
}

/// An answer to a question of a deliberation.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HandoffAnswer {
    /// The question.
    id: String,
    /// The answer, of the schema that the question names.
    answer: Value,
}

fn yes() -> bool {
    true
}

/// The header that says which conversation an answer belongs to.
const CONVERSATION: HeaderName = HeaderName::from_static("conversation");
/// The body of a request, in errors.
pub(super) const BODY: &str = "the body";
/// The media type of events as they come.
const EVENTS: &str = "text/event-stream";

/// `POST /chat`.
pub(super) async fn chat(State(shared): State<Shared>, request: Request) -> Result<Response, Failure> {
    let streams = wants_events(request.headers());
    let asked: ChatRequest = body(request).await?;
    let Ok(permit) = shared.chats.clone().try_acquire_owned() else {
        let why = format!("{} answers are on their way already", limits::HTTP_CHATS);
        return Err(Failure::of(StatusCode::TOO_MANY_REQUESTS, why).hinting("ask again when one of them is there"));
    };
    if !streams {
        let listener = Listener::default();
        let here = listener.clone();
        let answer = on_a_thread(move || {
            let _permit = permit;
            shared.serving.chat(&asked, &mut |_| here.is_there())
        });
        let answer = answer.await;
        drop(listener);
        return Ok(whole(answer?));
    }
    let (sender, events) = mpsc::channel::<Event>(limits::HTTP_EVENTS);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        // Whoever has gone is not waited for: the channel is closed then, and sending fails at once.
        let send = |event: Event| match sender.blocking_send(event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let answered = shared.serving.chat(&asked, &mut |event| match event {
            // A model that is silent: nothing to say, and a moment to see whether anybody still waits.
            ChatEvent::Text { text, .. } if text.is_empty() && !sender.is_closed() => ControlFlow::Continue(()),
            event => send(worded(&event)),
        });
        let _ = send(match answered {
            Ok(answer) => named("remembered", json!({ "notes": answer.notes })),
            Err(error) => named("failed", Failure::from(error).document()),
        });
    });
    let events = stream::unfold(events, |mut events| async {
        let event = events.recv().await?;
        Some((Ok::<_, Infallible>(event), events))
    });
    let alive = KeepAlive::new().interval(Duration::from_millis(limits::HTTP_ALIVE_MS));
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

/// Whoever waits for a whole answer. A request that its client has left is dropped, and this with it.
#[derive(Clone, Default)]
struct Listener {
    waits: Arc<()>,
}

impl Listener {
    /// Goes on as long as the request holds the other one.
    fn is_there(&self) -> ControlFlow<()> {
        if Arc::strong_count(&self.waits) > 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// `POST /confirm`.
pub(super) async fn confirm(State(shared): State<Shared>, request: Request) -> Result<Json<Value>, Failure> {
    let Confirmation { id, allow } = body(request).await?;
    if !shared.serving.confirmations().answer(&id, allow) {
        let failure = Failure::of(StatusCode::NOT_FOUND, "nothing waits under this id");
        return Err(failure.hinting("it was answered already, or its time is over"));
    }
    Ok(Json(json!({"id": id, "allowed": allow})))
}

/// `GET /confirm`.
pub(super) async fn waiting(State(shared): State<Shared>) -> Json<Value> {
    Json(json!({ "waiting": shared.serving.confirmations().waiting() }))
}

/// `POST /handoffs`.
pub(super) async fn answer_handoff(State(shared): State<Shared>, request: Request) -> Result<Json<Value>, Failure> {
    let HandoffAnswer { id, answer } = body(request).await?;
    let asked = id.clone();
    on_a_thread(move || {
        let brain = shared.serving.brain()?;
        match brain.handoffs()?.iter().any(|one| one.id == asked) {
            true => brain.answer_handoff(&asked, &answer.to_string(), None).map(|()| true),
            false => Ok(false),
        }
    })
    .await?
    .then(|| Json(json!({"id": id})))
    .ok_or_else(|| Failure::of(StatusCode::NOT_FOUND, "no question waits under this id, or it has its answer"))
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types =
        accepted.flat_map(|value| value.split(',')).map(|one| one.split(';').next().unwrap_or_default().trim());
    types.any(|one| one.eq_ignore_ascii_case(EVENTS))
}

/// The body of a request, read as strictly as a file.
pub(super) async fn body<T: serde::de::DeserializeOwned>(request: Request) -> Result<T, Failure> {
    let bytes = bounded(request).await?;
    strict::strict(&bytes, BODY, limits::HTTP_BODY_BYTES).map_err(|e| Failure {
        status: StatusCode::BAD_REQUEST,
        error: e.to_string(),
        hint: Some("GET /openapi.json describes it".to_owned()),
        code: 5,
    })
}

/// The raw body of a request, bounded in size and time.
pub(super) async fn bounded(mut request: Request) -> Result<axum::body::Bytes, Failure> {
    let most = limits::HTTP_BODY_BYTES;
    let large = || Failure::of(StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {most} bytes"));
    let said =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|length| length > most as u64) {
        return Err(large());
    }
    let waiting = request.extensions_mut().remove::<Bodies>().map(Bodies::wait);
    let reading = axum::body::to_bytes(Body::new(request.into_body()), most);
    let read = tokio::time::timeout(Duration::from_millis(limits::HTTP_BODY_MS), reading).await;
    let bytes =
        read.map_err(|_| Failure::of(StatusCode::REQUEST_TIMEOUT, "the body did not come"))?.map_err(|_| large())?;
    drop(waiting);
    Ok(bytes)
}

/// An answer as one document, exactly; the conversation and what is cited stand in its headers.
fn whole(answer: ChatAnswer) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(name) = HeaderValue::from_str(&percent_encoded(&answer.conversation)) {
        headers.insert(CONVERSATION, name);
    }
    for cited in &answer.citations {
        let link = format!("</neurons/{}?at={}>; rel=\"cite-as\"; title=\"{}\"", cited.id, cited.commit, cited.n);
        headers.extend(HeaderValue::from_str(&link).ok().map(|link| (header::LINK, link)));
    }
    let ChatAnswer { reply, mode, turns, chain, tools_used, .. } = answer;
    (headers, Json(Answered { reply, mode: mode.as_str(), turns, chain, tools_used })).into_response()
}

/// A text as a path has it: what is no letter, digit, `-`, `.`, `_` or `~` becomes `%XX`.
fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// What happens, as an event of its name.
fn worded(event: &ChatEvent) -> Event {
    let data = serde_json::to_value(event).expect("invariant: events are JSON");
    let name = data["event"].as_str().unwrap_or_default().to_owned();
    event_of(&name, &data)
}

fn named(name: &str, mut data: Value) -> Event {
    data["event"] = name.into();
    event_of(name, &data)
}

fn event_of(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sent_to_who_asks_for_them() {
        let wants = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_str(accept).unwrap());
            wants_events(&headers)
        };
        assert!(wants("text/event-stream") && wants("application/json;q=0.5, Text/Event-Stream; q=1"));
        assert!(!wants("application/json") && !wants("*/*") && !wants("text/event-streams"));
        assert!(!wants_events(&HeaderMap::new()));
    }

    #[test]
    fn names_fit_into_headers() {
        assert_eq!(percent_encoded("c-1f~_."), "c-1f~_.");
        assert_eq!(percent_encoded("a b/é\n"), "a%20b%2F%C3%A9%0A");
    }
}
