//! The front door for browsers and programs of this machine: `git brain serve`.
//!
//! ```text
//! request ─▶ guard (Host, Origin, token) ─▶ chat | confirm | look | network | review | changes | memory | page | webhook ─▶ brain ─▶ JSON, or events as they come
//! ```
//!
//! It listens on this machine alone. Everything but the page's own files, [`openapi`] and `/healthz` needs the token. [`guard`]
//! judges every request before anything else sees it; the page holds no data, and asks for all that it shows. [`connections`] bounds
//! what comes before a request: how many connections there are, and how long they are silent.

mod answer;
mod changes;
mod chat;
mod connections;
mod council;
mod guard;
mod look;
mod memory;
mod network;
mod openapi;
mod page;
mod review;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

use crate::brain::client::Desk;
use crate::brain::{BrainError, Ended, Listening, Serving};
use crate::limits;
use guard::Guard;

/// What all requests share.
#[derive(Clone)]
struct Shared {
    serving: Arc<Serving>,
    /// The brain for programs.
    desk: Desk,
    /// Calls of programs that may still begin.
    calls: Arc<Semaphore>,
    /// Answers that may still begin.
    chats: Arc<Semaphore>,
    /// Pages that may still watch.
    watchers: Arc<Semaphore>,
    /// Whether the server is told to leave: who watches is let go at once.
    left: watch::Receiver<bool>,
    /// Pictures of the network that were asked for last.
    pictures: network::Pictures,
    /// What forges rang for.
    bell: Arc<webhook::Bell>,
}

/// Serves a brain until it is stopped, and tells once where it listens. `tools` makes the routes of the tool protocol, behind the same guard.
///
/// # Errors
/// The address is taken; no thread can be started.
pub fn serve(
    serving: Serving,
    tools: fn(Desk) -> Router,
    announce: &mut dyn FnMut(&Listening),
) -> Result<Ended, BrainError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| BrainError::Busy(format!("cannot start threads: {e}")))?;
    let ended = runtime.block_on(listen(serving, tools, announce));
    // Who still answers has made durable what it was told; the next command goes on from there.
    runtime.shutdown_background();
    ended
}

async fn listen(
    serving: Serving,
    tools: fn(Desk) -> Router,
    announce: &mut dyn FnMut(&Listening),
) -> Result<Ended, BrainError> {
    let asked = serving.addr();
    let taken = |e: std::io::Error| BrainError::Usage {
        message: format!("cannot listen at {asked}: {e}"),
        hint: Some("`--addr 127.0.0.1:0` takes any port that is free".to_owned()),
    };
    let listener = tokio::net::TcpListener::bind(asked).await.map_err(taken)?;
    let addr = listener.local_addr().map_err(taken)?;
    let failed = |e: std::io::Error| BrainError::Busy(format!("cannot wait for signals: {e}"));
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let (leave, left) = watch::channel(false);
    let guard = Guard::new(addr, serving.token(), &serving.programs_token(), serving.webhook_secret().is_some())
        .allowing(serving.allowed_hosts());
    let listening = serving.listening(addr);
    let mut server = tokio::spawn(connections::serve(listener, router(serving, tools, guard, left.clone()), left));
    announce(&listening);
    let ended = tokio::select! {
        _ = interrupted.recv() => Ended::Interrupted,
        _ = terminated.recv() => Ended::Asked,
        stopped = &mut server => {
            let why = stopped.map_or_else(|e| e.to_string(), |()| "it ended without a request to".to_owned());
            return Err(BrainError::Busy(format!("the server stopped: {why}")));
        }
    };
    let _ = leave.send(true);
    let _ = tokio::time::timeout(Duration::from_millis(limits::HTTP_LEAVE_MS), server).await;
    Ok(ended)
}

/// Every route, behind the guard.
fn router(serving: Serving, tools: fn(Desk) -> Router, guard: Guard, left: watch::Receiver<bool>) -> Router {
    let desk = serving.desk();
    let tools = tools(desk.clone());
    let shared = Shared {
        desk,
        calls: Arc::new(Semaphore::new(limits::MCP_CALLS)),
        serving: Arc::new(serving),
        chats: Arc::new(Semaphore::new(limits::HTTP_CHATS)),
        watchers: Arc::new(Semaphore::new(limits::HTTP_WATCHERS)),
        left,
        pictures: network::Pictures::default(),
        bell: Arc::default(),
    };
    let router = Router::new()
        .route("/", get(page::page))
        .route("/assets/{file}", get(page::asset))
        .route("/healthz", get(look::health))
        .route("/openapi.json", get(openapi::document))
        .route("/chat", post(chat::chat))
        .route("/feed", post(memory::feed))
        .route("/recall", get(memory::recall))
        .route("/apply", post(memory::apply))
        .route("/outcome", post(memory::outcome))
        .route("/confirm", post(chat::confirm).get(chat::waiting))
        .route("/handoffs", post(chat::answer_handoff).get(look::handoffs))
        .route("/councils", post(council::close).get(council::waiting))
        .route("/reviews", post(review::decide).get(review::waiting))
        .route("/reviews/{run}", get(review::one))
        .route("/network", get(network::picture))
        .route("/network/names", get(network::names))
        .route("/history", get(network::history))
        .route("/ledger", get(network::ledger))
        .route("/search", get(network::search))
        .route("/status", get(network::status))
        .route("/changes", get(changes::changes))
        .route("/conversations/{name}", get(look::conversation))
        .route("/neurons/{id}", get(look::neuron))
        .route("/neurons/{id}/blame", get(network::blame))
        .route("/commits/{id}", get(look::commit))
        .route(guard::WEBHOOK, post(webhook::ring).get(webhook::last))
        .fallback(answer::no_such_place)
        .method_not_allowed_fallback(answer::no_such_method)
        .with_state(shared)
        .merge(tools);
    router.layer(axum::middleware::from_fn_with_state(Arc::new(guard), guard::judge))
}
