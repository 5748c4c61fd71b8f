//! `POST /forge/webhook`: a forge says that something happened, and the bot looks what it was.
//!
//! Nothing of a request is believed but that it came: what changed is read from the remote and the forge itself. So a forged or replayed
//! request could at most make the bot look once more, and even that takes the secret: the raw body's HMAC, in constant time. One look runs at
//! a time, and at most one more waits, however many requests come.

#![allow(
    clippy::disallowed_methods,
    reason = "the boundary to the network: what came lately is measured by the real clock"
)]

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Shared;
use super::answer::Failure;
use super::guard::one;
use crate::limits;

/// Headers with the hexadecimal HMAC-SHA256 of the body: GitHub's, Gitea's and Forgejo's.
static SIGNATURES: [HeaderName; 3] = [
    HeaderName::from_static("x-hub-signature-256"),
    HeaderName::from_static("x-gitea-signature"),
    HeaderName::from_static("x-forgejo-signature"),
];
/// GitLab sends the secret itself.
static GITLAB_TOKEN: HeaderName = HeaderName::from_static("x-gitlab-token");

/// What a server remembers of the bot.
#[derive(Debug, Default)]
pub(super) struct Bell {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    running: bool,
    waiting: bool,
    /// Digests of bodies that came lately.
    seen: VecDeque<(Instant, [u8; 32])>,
    last: Option<Look>,
}

/// One look of the bot.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Look {
    /// Whether it could be carried out.
    ok: bool,
    /// What it did, or why it failed.
    said: String,
}

/// What a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Rung {
    /// The bot looks now.
    Started,
    /// It looks once more when it is done.
    Waits,
    /// That request came before.
    Known,
}

impl Bell {
    fn with<R>(&self, f: impl FnOnce(&mut Kept) -> R) -> R {
        f(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rings once for a body.
    fn ring(&self, body: &[u8], now: Instant) -> Rung {
        let digest: [u8; 32] = Sha256::digest(body).into();
        let window = Duration::from_millis(limits::WEBHOOK_WINDOW_MS);
        self.with(|state| {
            while state.seen.front().is_some_and(|(at, _)| now.duration_since(*at) > window)
                || state.seen.len() >= limits::WEBHOOK_REMEMBERED
            {
                state.seen.pop_front();
            }
            if state.seen.iter().any(|(_, known)| *known == digest) {
                return Rung::Known;
            }
            state.seen.push_back((now, digest));
            if state.running {
                state.waiting = true;
                return Rung::Waits;
            }
            state.running = true;
            Rung::Started
        })
    }

    /// Notes what a look came to; true if another one waits.
    fn done(&self, look: Look) -> bool {
        self.with(|state| {
            state.last = Some(look);
            state.running = std::mem::take(&mut state.waiting);
            state.running
        })
    }
}

/// Whether a request has the secret: the HMAC of its raw body, or on GitLab the secret itself.
fn is_signed(secret: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let mut said = SIGNATURES.iter().filter_map(|name| one(headers, name));
    if let Some(signature) = said.next() {
        let signature = signature.strip_prefix("sha256=").unwrap_or(signature);
        let Some(bytes) = unhex(signature) else { return false };
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
        mac.update(body);
        return mac.verify_slice(&bytes).is_ok();
    }
    // Digests are compared, so that the time tells nothing of how much of a guess was right.
    one(headers, &GITLAB_TOKEN)
        .is_some_and(|token| Sha256::digest(token.as_bytes()) == Sha256::digest(secret.as_bytes()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()).collect()
}

/// `POST /forge/webhook`.
pub(super) async fn ring(State(shared): State<Shared>, request: Request) -> Result<Json<serde_json::Value>, Failure> {
    let Some(secret) = shared.serving.webhook_secret() else { return Err(super::answer::no_such_place().await) };
    let headers = request.headers().clone();
    let bytes = super::chat::bounded(request).await?;
    if !is_signed(secret, &headers, &bytes) {
        return Err(Failure::of(StatusCode::UNAUTHORIZED, "the signature of the body is missing or wrong"));
    }
    let rung = shared.bell.ring(&bytes, Instant::now());
    if rung == Rung::Started {
        let shared = shared.clone();
        tokio::task::spawn_blocking(move || while shared.bell.done(look(&shared)) {});
    }
    Ok(Json(serde_json::json!({"version": 1, "rung": rung})))
}

/// `GET /forge/webhook`: what the last look came to.
pub(super) async fn last(State(shared): State<Shared>) -> Json<serde_json::Value> {
    let (running, last) = shared.bell.with(|state| (state.running, state.last.clone()));
    Json(serde_json::json!({"version": 1, "running": running, "last": last}))
}

fn look(shared: &Shared) -> Look {
    match shared.serving.look_around() {
        Ok(said) => Look { ok: true, said },
        Err(error) => {
            tracing::warn!("webhook: {error}");
            Look { ok: false, said: error.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    /// RFC 4231, test case 2.
    const KEY: &str = "Jefe";
    const BODY: &[u8] = b"what do ya want for nothing?";
    const MAC: &str = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

    fn signed(given: &[(&str, &str)], body: &[u8]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        is_signed(KEY, &headers, body)
    }

    #[test]
    fn only_the_hmac_of_the_raw_body_is_a_signature() {
        let github = format!("sha256={MAC}");
        for (given, fits) in [
            (&[("x-hub-signature-256", github.as_str())][..], true),
            (&[("x-gitea-signature", MAC)], true),
            (&[("x-forgejo-signature", &MAC.to_uppercase())], true),
            (&[("x-gitlab-token", KEY)], true),
            (&[("x-gitlab-token", "jefe")], false),
            (&[("x-hub-signature-256", "sha256=")], false),
            (&[("x-hub-signature-256", &MAC[1..])], false),
            (&[("x-hub-signature", MAC)], false),
            // The first signature that is there counts, and a second value of it makes it none.
            (&[("x-hub-signature-256", "sha256=00"), ("x-gitlab-token", KEY)], false),
            (&[], false),
        ] {
            assert_eq!(signed(given, BODY), fits, "{given:?}");
        }
        assert!(!signed(&[("x-gitea-signature", MAC)], b"what do ya want for nothing!"));
    }

    #[test]
    fn one_look_runs_and_one_waits_however_often_it_rings() {
        let (bell, now) = (Bell::default(), Instant::now());
        let done = || Look { ok: true, said: String::new() };
        assert_eq!(bell.ring(b"a", now), Rung::Started);
        assert_eq!(bell.ring(b"a", now), Rung::Known, "a replay");
        assert_eq!((bell.ring(b"b", now), bell.ring(b"c", now)), (Rung::Waits, Rung::Waits));
        assert!(bell.done(done()) && !bell.done(done()));
        let later = now + Duration::from_millis(limits::WEBHOOK_WINDOW_MS + 1);
        assert_eq!(bell.ring(b"a", later), Rung::Started);
        for number in 0..limits::WEBHOOK_REMEMBERED * 2 {
            bell.ring(&number.to_be_bytes(), later);
        }
        assert!(bell.with(|kept| kept.seen.len()) <= limits::WEBHOOK_REMEMBERED);
    }
}
