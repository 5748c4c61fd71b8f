//! The relay: what stands between the library that speaks the providers' protocols and the network.
//!
//! That library reads an answer to its end, however long it is, and tells failures as text. So it talks to a small server inside
//! this process, on a loopback port and under a path that nobody can guess, and the relay talks to the endpoint: with our own
//! client, no redirect, a bound on what is read, and failures kept as values. Keys pass through and are kept nowhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use reqwest::Url;

use super::client::client;
use super::{LlmError, reason};
use crate::limits;

/// Headers that go on to the endpoint: what the protocols need, and nothing that tells of the relay. Those of a key only if there is
/// one.
const PASSED: [&str; 4] = ["anthropic-version", "anthropic-beta", "content-type", "accept"];
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// A relay to one endpoint. It ends when it is dropped.
pub(super) struct Relay {
    base: String,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

struct Shared {
    secret: String,
    place: String,
    has_key: bool,
    upstream: Url,
    client: reqwest::Client,
    /// What went wrong, by the number of the call.
    failures: Mutex<BTreeMap<u64, LlmError>>,
}

impl Relay {
    /// Starts one, in the runtime that this is called in. `upstream` is an address that ends with `/`.
    pub async fn start(place: &str, upstream: &Url, has_key: bool) -> Result<Self, LlmError> {
        let fail = |message: String| LlmError::Unreachable { place: place.to_owned(), message };
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|e| fail(e.to_string()))?;
        let secret: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.map_err(|e| fail(e.to_string()))?;
        let port = listener.local_addr().map_err(|e| fail(e.to_string()))?.port();
        let shared = Arc::new(Shared {
            place: place.to_owned(),
            has_key,
            upstream: upstream.clone(),
            client: client(upstream).map_err(fail)?,
            failures: Mutex::default(),
            secret: secret.clone(),
        });
        let router = Router::new().fallback(pass).with_state(Arc::clone(&shared));
        let router = router.layer(axum::extract::DefaultBodyLimit::disable());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { base: format!("http://127.0.0.1:{port}/{secret}"), shared, server })
    }

    /// The address by which one call reaches the endpoint.
    pub fn base(&self, call: u64) -> String {
        format!("{}/{call}/", self.base)
    }

    /// What went wrong with a call, if the relay knows.
    pub fn failure(&self, call: u64) -> Option<LlmError> {
        self.shared.failures.lock().ok()?.remove(&call)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn fail(&self, call: u64, error: LlmError) -> Response {
        let retry_after = match &error {
            LlmError::Status { retry_after: Some(seconds), .. } => Some(*seconds),
            _ => None,
        };
        self.note(call, error);
        let mut headers = HeaderMap::new();
        headers.extend(retry_after.map(|seconds| (header::RETRY_AFTER, seconds.into())));
        (StatusCode::BAD_GATEWAY, headers).into_response()
    }

    fn note(&self, call: u64, error: LlmError) {
        if let Ok(mut failures) = self.failures.lock() {
            failures.entry(call).or_insert(error);
        }
    }
}

/// The call's number and where it goes: `/<secret>/<call>/<path>?<query>`.
fn destination(shared: &Shared, request: &Request) -> Option<(u64, Url)> {
    let rest = request.uri().path().strip_prefix('/')?.strip_prefix(shared.secret.as_str())?.strip_prefix('/')?;
    let (call, path) = rest.split_once('/')?;
    let mut url = shared.upstream.join(path).ok().filter(|url| url.origin() == shared.upstream.origin())?;
    url.set_query(request.uri().query());
    Some((call.parse().ok()?, url))
}

async fn pass(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let Some((call, url)) = destination(&shared, &request) else { return StatusCode::NOT_FOUND.into_response() };
    let unreachable = |e: &reqwest::Error| LlmError::Unreachable { place: shared.place.clone(), message: reason(e) };
    let mut asked = shared.client.request(request.method().clone(), url);
    let keys = KEYS.iter().filter(|_| shared.has_key);
    for name in PASSED.iter().chain(keys).map(|name| HeaderName::from_static(name)) {
        if let Some(value) = request.headers().get(&name) {
            asked = asked.header(name, value);
        }
    }
    let Ok(body) = axum::body::to_bytes(request.into_body(), usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let response = match asked.body(body).send().await {
        Ok(response) => response,
        Err(e) => return shared.fail(call, unreachable(&e)),
    };
    let status = response.status();
    if !status.is_success() {
        return shared.fail(call, LlmError::of_status(&shared.place, status, response.headers()));
    }
    let large = LlmError::Large { place: shared.place.clone(), max: limits::MODEL_REPLY_BYTES };
    if response.content_length().is_some_and(|length| length > limits::MODEL_REPLY_BYTES as u64) {
        return shared.fail(call, large);
    }
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    let (mut left, mut ended) = (limits::MODEL_REPLY_BYTES, false);
    let noting = Arc::clone(&shared);
    let bytes = response.bytes_stream().map(move |chunk| -> Result<Bytes, std::io::Error> {
        let cut_off = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        if ended {
            return Err(cut_off());
        }
        let error = match chunk {
            Ok(chunk) if chunk.len() <= left => {
                left -= chunk.len();
                return Ok(chunk);
            }
            Ok(_) => large.clone(),
            Err(e) => LlmError::Cut { place: noting.place.clone(), message: reason(&e) },
        };
        ended = true;
        noting.note(call, error);
        Err(cut_off())
    });
    let mut answer = Response::new(Body::from_stream(bytes));
    answer.headers_mut().extend(kind.map(|kind| (header::CONTENT_TYPE, kind)));
    answer
}
