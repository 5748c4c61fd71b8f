//! Connections: how many are open, how long one may be silent, and which gives way to a new one.
//!
//! Whoever can open connections needs no token for it. So a head has to come within a time, no more than a number of connections is open,
//! and beyond it the one that has been silent for longest is dropped: a client that asks something is served however many others wait
//! with half a request, be it a head or a body.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::limits;

/// Serves connections until it is told to leave, and then those requests that are under way.
pub(super) async fn serve(listener: TcpListener, router: Router, mut leave: watch::Receiver<bool>) {
    let open = Arc::new(Open::default());
    let most = most();
    let mut serving = JoinSet::new();
    loop {
        while serving.try_join_next().is_some() {}
        let accepted = tokio::select! {
            _ = leave.wait_for(|leave| *leave) => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, mostly: one less is a beginning, and others may close theirs.
                tracing::warn!("a connection was not accepted: {error}");
                open.drop_oldest_idle();
                tokio::time::sleep(Duration::from_millis(limits::HTTP_PAUSE_MS)).await;
                continue;
            }
        };
        // Where all of them are being answered, it waits for the first that has been.
        while open.count() >= most {
            open.drop_oldest_idle();
            tokio::select! {
                _ = leave.wait_for(|leave| *leave) => break,
                () = open.changed.notified() => {}
            }
        }
        let entry = Entry::of(&open);
        serving.spawn(one(stream, router.clone(), entry, leave.clone()));
    }
    drop(listener);
    while serving.join_next().await.is_some() {}
}

/// Connections at a time: of the files that the process may have open most are for the brain.
fn most() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = files.map_or(limits::HTTP_CONNECTIONS, |files| usize::try_from(files / 4).unwrap_or(usize::MAX));
    share.clamp(1, limits::HTTP_CONNECTIONS)
}

async fn one(stream: TcpStream, router: Router, entry: Entry, mut leave: watch::Receiver<bool>) {
    let connection = entry.connection.clone();
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Bodies { connection: connection.clone(), open: entry.open.clone() });
        let busy = Busy::of(&connection, &entry.open);
        let answer = router.call(request);
        async move {
            let Ok(response) = answer.await;
            Ok::<_, Infallible>(response.map(|body| Answering { body, _busy: busy }))
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(limits::HTTP_HEAD_MS));
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut leaving = false;
    loop {
        tokio::select! {
            _ = served.as_mut() => break,
            () = connection.dropped.notified() => break,
            _ = leave.wait_for(|leave| *leave), if !leaving => {
                leaving = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The connections that are open, the oldest first.
#[derive(Default)]
struct Open {
    connections: Mutex<BTreeMap<usize, Arc<Connection>>>,
    next: AtomicUsize,
    /// One was closed, or has been answered.
    changed: Notify,
}

#[derive(Default)]
struct Connection {
    /// Requests that are being answered.
    busy: AtomicUsize,
    /// Those of them whose body is still to come.
    reading: AtomicUsize,
    dropped: Notify,
}

impl Open {
    fn count(&self) -> usize {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Drops the connection that has asked nothing for longest, or where there is none, the oldest that has not yet asked all.
    fn drop_oldest_idle(&self) {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = connections.values().find(|connection| connection.busy.load(Ordering::Acquire) == 0);
        let half = || connections.values().find(|connection| connection.reading.load(Ordering::Acquire) > 0);
        // Told again, it is still the same one that goes.
        idle.or_else(half).inspect(|connection| connection.dropped.notify_one());
    }
}

/// Where a route says that it waits for the body of a request.
#[derive(Clone)]
pub(super) struct Bodies {
    connection: Arc<Connection>,
    open: Arc<Open>,
}

impl Bodies {
    /// Until the value goes, the connection may be dropped for another one.
    pub fn wait(self) -> Waiting {
        self.connection.reading.fetch_add(1, Ordering::AcqRel);
        self.open.changed.notify_one();
        Waiting(self.connection)
    }
}

/// A body that is still to come.
pub(super) struct Waiting(Arc<Connection>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.reading.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A place among the open connections, for as long as one is served.
struct Entry {
    open: Arc<Open>,
    number: usize,
    connection: Arc<Connection>,
}

impl Entry {
    fn of(open: &Arc<Open>) -> Self {
        let (number, connection) = (open.next.fetch_add(1, Ordering::Relaxed), Arc::<Connection>::default());
        let mut connections = open.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.insert(number, connection.clone());
        Self { open: open.clone(), number, connection }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.open.connections.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
        self.open.changed.notify_one();
    }
}

/// A request that is being answered, to the last byte of its body.
struct Busy {
    connection: Arc<Connection>,
    open: Arc<Open>,
}

impl Busy {
    fn of(connection: &Arc<Connection>, open: &Arc<Open>) -> Self {
        connection.busy.fetch_add(1, Ordering::AcqRel);
        Self { connection: connection.clone(), open: open.clone() }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.connection.busy.fetch_sub(1, Ordering::AcqRel);
        self.open.changed.notify_one();
    }
}

/// The body of an answer, which knows that it is one.
struct Answering {
    body: Body,
    _busy: Busy,
}

impl hyper::body::Body for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
