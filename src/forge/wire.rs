//! The wire to a forge: one address, bounded answers, bounded waits, pages.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LINK, RETRY_AFTER};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ForgeError, Place, Token};
use crate::limits;
use crate::llm::{client, is_this_machine, reason};

/// How long to wait where the forge says only that there were too many requests.
const USUAL_WAIT: Duration = Duration::from_secs(2);
/// Characters of a forge's own words in an error.
const SAID_CHARS: usize = 200;

/// Asks one forge. Blocks, and must not be called inside an asynchronous task.
pub(super) struct Wire {
    forge: &'static str,
    base: Url,
    authorization: Option<(HeaderValue, Token)>,
    accept: &'static str,
    timeout: Duration,
    client: reqwest::Client,
    /// Taken when it is dropped.
    runtime: Option<tokio::runtime::Runtime>,
}

/// An answer that was read to its end.
struct Answer {
    body: Vec<u8>,
    /// The query of the next page.
    next: Option<String>,
}

impl Wire {
    /// Ready to ask; `scheme` stands before the token.
    pub(super) fn new(
        place: &Place,
        (scheme, token): (&str, Option<Token>),
        accept: &'static str,
        timeout: Duration,
    ) -> Result<Self, ForgeError> {
        let forge = place.kind.name();
        let base = place
            .api()
            .cloned()
            .ok_or_else(|| ForgeError::Lacks { forge, message: "has no interface over the network".to_owned() })?;
        if token.is_some() && base.scheme() == "http" && !is_this_machine(&base) {
            return Err(ForgeError::Settings {
                message: format!("{base} is not encrypted, and a token would be sent there"),
                hint: "`git config brain.forge.url https://…`".to_owned(),
            });
        }
        let fail = |message: String| ForgeError::Unreachable { place: format!("{forge} at {base}"), message };
        let authorization = match token {
            None => None,
            Some(token) => {
                let value = HeaderValue::from_str(&format!("{scheme} {}", token.secret()));
                let mut value = value.map_err(|_| fail("its token has characters that no token has".to_owned()))?;
                value.set_sensitive(true);
                Some((value, token))
            }
        };
        let client = client(&base).map_err(fail)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| fail(e.to_string()))?;
        Ok(Self { forge, base, authorization, accept, timeout, client, runtime: Some(runtime) })
    }

    /// Whether requests carry a token.
    pub(super) fn has_token(&self) -> bool {
        self.authorization.is_some()
    }

    /// One document.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ForgeError> {
        let answer = self.ask(&Method::GET, &self.url(path)?, None)?;
        self.read(path, &answer.body)
    }

    /// All entries of a list, page by page. Of the link to the next page the query alone is taken: the address stays ours.
    pub(super) fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ForgeError> {
        match self.pages(path)? {
            (found, true) => Ok(found),
            _ => Err(ForgeError::Pages { place: self.place(path), max: limits::FORGE_PAGES }),
        }
    }

    /// The first entries of a list that may have more pages than are read.
    pub(super) fn first<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ForgeError> {
        Ok(self.pages(path)?.0)
    }

    /// Entries of a list, and whether those are all.
    fn pages<T: DeserializeOwned>(&self, path: &str) -> Result<(Vec<T>, bool), ForgeError> {
        let mut url = self.url(path)?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        for _ in 0..limits::FORGE_PAGES {
            let answer = self.ask(&Method::GET, &url, None)?;
            bytes += answer.body.len();
            if bytes > limits::FORGE_LIST_BYTES {
                return Err(ForgeError::Large { place: self.place(path), max: limits::FORGE_LIST_BYTES });
            }
            found.extend(self.read::<Vec<T>>(path, &answer.body)?);
            match answer.next {
                Some(query) if url.query() != Some(&query) => url.set_query(Some(&query)),
                _ => return Ok((found, true)),
            }
        }
        Ok((found, false))
    }

    /// Sends a document, and reads the one that comes back.
    pub(super) fn send<T: DeserializeOwned>(&self, method: &Method, path: &str, body: &Value) -> Result<T, ForgeError> {
        let answer = self.ask(method, &self.url(path)?, Some(body))?;
        self.read(path, &answer.body)
    }

    /// Forge and path, for errors.
    pub(super) fn place(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        format!("{} at {}{path}", self.forge, self.base.as_str().trim_end_matches('/'))
    }

    fn url(&self, path: &str) -> Result<Url, ForgeError> {
        let text = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let url = Url::parse(&text).ok().filter(|url| url.origin() == self.base.origin());
        url.ok_or_else(|| ForgeError::Shape { place: self.place(""), message: "a path that is none".to_owned() })
    }

    fn read<T: DeserializeOwned>(&self, path: &str, body: &[u8]) -> Result<T, ForgeError> {
        let body = if body.is_empty() { b"null" } else { body };
        let read = &mut serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(read).map_err(|error| {
            let (line, column) = (error.inner().line(), error.inner().column());
            let at = error.path().to_string();
            let at: String = at.chars().filter(|c| !c.is_control()).take(SAID_CHARS).collect();
            let message = format!("line {line}, column {column}, field {at}");
            ForgeError::Shape { place: self.place(path), message }
        })
    }

    /// Asks until there is an answer, an error that stays, or no time left to wait for the forge.
    fn ask(&self, method: &Method, url: &Url, body: Option<&Value>) -> Result<Answer, ForgeError> {
        let runtime = self.runtime.as_ref().expect("invariant: taken only when dropped");
        let path = url.path().strip_prefix(self.base.path().trim_end_matches('/')).unwrap_or(url.path());
        let mut waited = Duration::ZERO;
        for tries in 1_u32.. {
            let once = async { tokio::time::timeout(self.timeout, self.once(method, url, body)).await };
            let late = |_| ForgeError::Timeout { place: self.place(path), timeout_ms: self.timeout.as_millis() };
            let pause = match runtime.block_on(once).map_err(late)?? {
                Outcome::Answered(answer) => return Ok(answer),
                Outcome::Limited(pause) => pause.unwrap_or(USUAL_WAIT * tries),
            };
            waited += pause;
            if tries >= limits::FORGE_TRIES || waited > Duration::from_millis(limits::FORGE_WAIT_MS) {
                return Err(ForgeError::Limited { place: self.place(path), seconds: pause.as_secs().max(1) });
            }
            tracing::info!("{} asks to wait for {pause:?}", self.place(path));
            std::thread::sleep(pause);
        }
        unreachable!("invariant: the number of tries is bounded")
    }

    async fn once(&self, method: &Method, url: &Url, body: Option<&Value>) -> Result<Outcome, ForgeError> {
        let path = url.path().strip_prefix(self.base.path().trim_end_matches('/')).unwrap_or(url.path()).to_owned();
        let unreachable = |e: reqwest::Error| ForgeError::Unreachable { place: self.place(&path), message: reason(&e) };
        let mut request = self.client.request(method.clone(), url.clone()).header(ACCEPT, self.accept);
        if let Some((value, _)) = &self.authorization {
            request = request.header(AUTHORIZATION, value.clone());
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let began = Instant::now();
        let mut response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let large = || ForgeError::Large { place: self.place(&path), max: limits::FORGE_ANSWER_BYTES };
        if response.content_length().is_some_and(|length| length > limits::FORGE_ANSWER_BYTES as u64) {
            return Err(large());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if bytes.len() + chunk.len() > limits::FORGE_ANSWER_BYTES {
                return Err(large());
            }
            bytes.extend_from_slice(&chunk);
        }
        tracing::debug!("{method} {} answered {status} after {:?}", self.place(&path), began.elapsed());
        if status.is_success() {
            return Ok(Outcome::Answered(Answer { body: bytes, next: next_query(&headers) }));
        }
        if is_limit(status, &headers) {
            return Ok(Outcome::Limited(pause(&headers)));
        }
        if status.is_redirection() {
            let message = "the forge redirects, and redirects are not followed".to_owned();
            return Err(ForgeError::Shape { place: self.place(&path), message });
        }
        let (status, code) = (status.to_string(), status.as_u16());
        Err(ForgeError::Status { place: self.place(&path), status, code, said: self.said(&bytes) })
    }

    /// A forge's own words about an error: one line, cut, without the token.
    fn said(&self, body: &[u8]) -> String {
        let read: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let words = ["message", "error", "errors"].iter().filter_map(|key| read.get(*key)).map(text);
        let mut words = words.collect::<Vec<_>>().join("; ");
        if let Some((_, token)) = &self.authorization {
            words = words.replace(token.secret(), "…");
        }
        let words: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SAID_CHARS).collect();
        if words.is_empty() { words } else { format!(": {words}") }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // A name that is still being looked up must not hold back the answer.
        self.runtime.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}

enum Outcome {
    Answered(Answer),
    /// Too many requests, and after how long to come again.
    Limited(Option<Duration>),
}

/// A text as a part of a query.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Whether the answer says that there were too many requests. GitHub says so by 403 as well.
fn is_limit(status: StatusCode, headers: &HeaderMap) -> bool {
    let spent = ["x-ratelimit-remaining", "ratelimit-remaining"].iter().any(|name| number(headers, name) == Some(0));
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::FORBIDDEN && (spent || headers.contains_key(RETRY_AFTER))
}

/// The pause that the forge asks for.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    let reset = || {
        let at = ["x-ratelimit-reset", "ratelimit-reset"].iter().find_map(|name| number(headers, name))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        Some(at.saturating_sub(now).max(1))
    };
    number(headers, RETRY_AFTER.as_str()).or_else(reset).map(Duration::from_secs)
}

/// The query of `<…?page=2>; rel="next"`.
fn next_query(headers: &HeaderMap) -> Option<String> {
    let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    let next = links.flat_map(|line| line.split(',')).find_map(|link| {
        let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|part| part.trim().replace('"', "") == "rel=next").then(|| address.to_owned())
    })?;
    let query = next.split_once('?')?.1;
    let query = query.split('#').next().unwrap_or_default();
    (!query.is_empty()).then(|| query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn the_next_page_is_a_query_and_never_an_address() {
        let link = |text: &str| next_query(&headers(&[("link", text)]));
        let both = "<https://api.github.com/x?page=1>; rel=\"prev\", <https://evil.example/y?page=3&a=b>; rel=\"next\"";
        assert_eq!(link(both).as_deref(), Some("page=3&a=b"));
        for none in ["", "<https://h/x?page=2>; rel=\"last\"", "<https://h/x>; rel=\"next\"", "garbage", "<; rel=next"]
        {
            assert_eq!(link(none), None, "{none}");
        }
    }

    #[test]
    fn limits_are_told_from_other_refusals() {
        let limit = |code: u16, pairs: &[(&str, &str)]| is_limit(StatusCode::from_u16(code).unwrap(), &headers(pairs));
        assert!(limit(429, &[]) && limit(403, &[("retry-after", "3")]));
        assert!(limit(403, &[("x-ratelimit-remaining", "0")]));
        assert!(!limit(403, &[("x-ratelimit-remaining", "7")]) && !limit(404, &[("x-ratelimit-remaining", "0")]));
        assert_eq!(pause(&headers(&[("retry-after", "3"), ("x-ratelimit-reset", "1")])), Some(Duration::from_secs(3)));
        assert_eq!(pause(&headers(&[("x-ratelimit-reset", "1")])), Some(Duration::from_secs(1)));
        assert_eq!(pause(&headers(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")])), None);
    }
}
