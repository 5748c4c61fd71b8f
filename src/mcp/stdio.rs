//! The protocol over standard input and output, until the client leaves.
//!
//! The library ends a server whose client sends something else than a request before it has introduced itself, and waits a few seconds
//! only for calls that are under way when the input ends. Here the first is passed over, and every call is answered before the end.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::Door;
use crate::brain::client::{Client, Desk};
use crate::brain::{BrainError, Ended};
use crate::limits;

/// Serves a brain on standard input and output until the client leaves or somebody ends it.
///
/// # Errors
/// No thread can be started.
pub fn speak(desk: Desk, client: Option<Client>) -> Result<Ended, BrainError> {
    let failed = |e: std::io::Error| BrainError::Busy(format!("cannot start threads: {e}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let ended = runtime.block_on(listen(Door::new(desk, client)));
    // Standard input cannot be given up while it is read; calls that have begun are done when `listen` returns.
    runtime.shutdown_background();
    ended
}

async fn listen(door: Door) -> Result<Ended, BrainError> {
    let failed = |e: std::io::Error| BrainError::Busy(format!("cannot wait for signals: {e}"));
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let calls = Arc::clone(&door.calls);
    let (input, output) = rmcp::transport::stdio_pipes();
    let lines = AsyncRwTransport::new_server(input, output).with_max_line_length(limits::MCP_LINE_BYTES);
    let speaks = async {
        // A client that leaves before it has introduced itself has asked for nothing.
        if let Ok(service) = door.serve(Patient::new(lines)).await {
            let _ = service.waiting().await;
        }
    };
    let ended = tokio::select! {
        () = speaks => Ended::Asked,
        _ = interrupted.recv() => Ended::Interrupted,
        _ = terminated.recv() => Ended::Asked,
    };
    // What is being written is finished: all permits are back.
    let all = u32::try_from(limits::MCP_CALLS).expect("invariant: few");
    let _ = calls.acquire_many(all).await;
    Ok(ended)
}

/// A transport that passes over what comes too early, and ends only when every request is answered.
struct Patient<T> {
    inner: T,
    has_begun: bool,
    has_ended: bool,
    open: Arc<Open>,
}

/// Requests that are not answered yet.
#[derive(Default)]
struct Open {
    ids: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl Open {
    fn change(&self, change: impl FnOnce(&mut HashSet<RequestId>)) {
        change(&mut self.ids.lock().unwrap_or_else(PoisonError::into_inner));
        self.answered.notify_one();
    }

    fn is_empty(&self) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl<T> Patient<T> {
    fn new(inner: T) -> Self {
        Self { inner, has_begun: false, has_ended: false, open: Arc::default() }
    }

    /// Whether a message may be passed on now: before the client has introduced itself, requests alone.
    fn passes(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else { return self.has_begun };
        let introduces = match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => {
                let meta = other.get_meta();
                let version = meta.protocol_version();
                let is_known = version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                is_known && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
            }
        };
        self.has_begun |= introduces;
        true
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answers = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let sent = self.inner.send(item);
        let open = Arc::clone(&self.open);
        async move {
            let sent = sent.await;
            if let Some(id) = answers {
                open.change(|ids| _ = ids.remove(&id));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while !self.has_ended {
            let Some(message) = self.inner.receive().await else {
                self.has_ended = true;
                break;
            };
            if !self.passes(&message) {
                continue;
            }
            match &message {
                JsonRpcMessage::Request(request) => self.open.change(|ids| _ = ids.insert(request.id.clone())),
                // A request that is taken back gets no answer.
                JsonRpcMessage::Notification(notification) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.change(|ids| _ = ids.remove(id));
                    }
                }
                _ => {}
            }
            return Some(message);
        }
        while !self.open.is_empty() {
            self.open.answered.notified().await;
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
