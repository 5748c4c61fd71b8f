//! Who may ask: every request is judged here before anything else sees it.
//!
//! A page of another site can make a browser send requests here: it cannot choose `Host` (a name that an enemy points at this
//! machine is not ours: DNS rebinding), cannot hide `Origin`, and does not know the token. Each of the three alone keeps it
//! out.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::answer::Failure;

/// What needs no token, because there is nothing in it: the page's own files, the description of the rest, a sign of life.
const OPEN: [&str; 3] = ["/", "/healthz", "/openapi.json"];
const ASSETS: &str = "/assets/";
/// Doors of programs. No decision of a person is among them: else a program could approve its own proposal.
const PROGRAMS: [&str; 5] = ["/feed", "/recall", "/apply", "/outcome", "/mcp"];
/// Where forges ring.
pub(super) const WEBHOOK: &str = "/forge/webhook";

/// What a browser says of whoever makes it ask.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What every answer tells a browser: no script, style or connection but ours, no frame, no guess of types, nothing kept.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Who is let in.
pub(super) struct Guard {
    /// `Host` as whoever really asks this server says it.
    hosts: Vec<String>,
    /// Names by which a proxy may ask; without a port, with any.
    allowed: Vec<String>,
    /// The token's digest: comparing digests tells nothing of how much of a guess was right.
    token: [u8; 32],
    /// The same of the token that is for programs, which opens [`PROGRAMS`] alone.
    programs: [u8; 32],
    /// Whether forges may ring: what they send is held against a secret of its own.
    webhook: bool,
}

impl Guard {
    /// The guard of a server at an address.
    pub fn new(addr: SocketAddr, token: &str, programs: &str, webhook: bool) -> Self {
        let hosts = vec![addr.to_string(), format!("localhost:{}", addr.port())];
        let digest = |token: &str| Sha256::digest(token.as_bytes()).into();
        Self { hosts, allowed: Vec::new(), token: digest(token), programs: digest(programs), webhook }
    }

    /// The same for a server behind proxies that are asked by these names.
    pub fn allowing(self, hosts: &[String]) -> Self {
        Self { allowed: hosts.to_vec(), ..self }
    }

    /// True for a host and port of ours, in any case.
    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host)) || self.is_allowed(host)
    }

    /// True for a name of a proxy's. A name that was allowed without a port has any.
    fn is_allowed(&self, host: &str) -> bool {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let fits = |allowed: &String| allowed.eq_ignore_ascii_case(if allowed.contains(':') { host } else { name });
        self.allowed.iter().any(fits)
    }

    /// True for an origin of ours: plain HTTP of this machine, and what a proxy makes of it.
    fn is_our_origin(&self, origin: &str) -> bool {
        match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
            (Some(host), _) => self.is_ours(host),
            (_, Some(host)) => self.is_allowed(host),
            _ => false,
        }
    }

    /// Why a request is not let in.
    fn refuses(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Failure> {
        // A forge knows no token and, behind a proxy, another name; the HMAC of its body is what lets it in.
        if self.webhook && *method == Method::POST && path == WEBHOOK {
            return None;
        }
        if !one(headers, &header::HOST).is_some_and(|host| self.is_ours(host)) {
            let why = "the Host is not this server's";
            return Some(Failure::of(StatusCode::FORBIDDEN, why).hinting("ask it by the address that it printed"));
        }
        if headers.contains_key(header::ORIGIN)
            && !one(headers, &header::ORIGIN).is_some_and(|origin| self.is_our_origin(origin))
        {
            return Some(Failure::of(StatusCode::FORBIDDEN, "pages of other origins may not ask here"));
        }
        let is_open =
            matches!(*method, Method::GET | Method::HEAD) && (OPEN.contains(&path) || path.starts_with(ASSETS));
        if is_open {
            return None;
        }
        if headers.contains_key(FETCH_SITE) && !matches!(one(headers, &FETCH_SITE), Some("same-origin" | "none")) {
            return Some(Failure::of(StatusCode::FORBIDDEN, "pages of other sites may not ask here"));
        }
        let said = token_of(headers);
        if said == Some(self.programs) && !PROGRAMS.contains(&path) {
            let failure = Failure::of(StatusCode::FORBIDDEN, "the token of programs does not open that");
            return Some(failure.hinting("a person decides, with the token of the page"));
        }
        if said.is_none_or(|said| said != self.token && said != self.programs) {
            let failure = Failure::of(StatusCode::UNAUTHORIZED, "the token is missing, or is not this server's");
            return Some(failure.hinting("send `Authorization: Bearer TOKEN`; the token is in the address that `git brain serve` printed, or in BRAIN_TOKEN"));
        }
        if *method == Method::POST && !is_json(headers) {
            return Some(Failure::of(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body has to be application/json"));
        }
        None
    }
}

/// The digest of the token that a request shows.
fn token_of(headers: &HeaderMap) -> Option<[u8; 32]> {
    let said = one(headers, &header::AUTHORIZATION).and_then(|value| value.split_once(' '));
    let token = said.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    token.map(|token| Sha256::digest(token.as_bytes()).into())
}

/// The value of a header that is there once; a second one could be read by somebody else.
pub(super) fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = one(headers, &header::CONTENT_TYPE).map(|said| said.split(';').next().unwrap_or_default().trim());
    said.is_some_and(|said| said.eq_ignore_ascii_case("application/json"))
}

/// Judges a request, and gives every answer the headers that keep a browser from more than was meant.
pub(super) async fn judge(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let refused = guard.refuses(request.method(), request.uri().path(), request.headers());
    let mut response = match refused {
        Some(failure) => failure.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "127.0.0.1:7433";

    fn judged(method: &str, path: &str, given: &[(&str, &str)]) -> u16 {
        let guard = Guard::new(OURS.parse().unwrap(), "open-sesame", "open-barley", false);
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        guard.refuses(&method, path, &headers).map_or(200, |failure| failure.status.as_u16())
    }

    /// Every combination of what a browser or an enemy may send: who is asked, who makes it ask, and with which token.
    #[test]
    fn every_combination_of_headers_is_judged() {
        let hosts =
            [(OURS, true), ("localhost:7433", true), ("127.0.0.1", false), ("evil.example:7433", false), ("", false)];
        let origins = [
            (None, true),
            (Some("http://127.0.0.1:7433"), true),
            (Some("https://127.0.0.1:7433"), false),
            (Some("http://evil.example"), false),
            (Some("null"), false),
        ];
        let tokens = [
            (Some("Bearer open-sesame"), true),
            (Some("Bearer open"), false),
            (Some("Basic open-sesame"), false),
            (None, false),
        ];
        let mut count = 0;
        for (host, host_ok) in hosts {
            for (origin, origin_ok) in origins {
                for (token, token_ok) in tokens {
                    let mut given = vec![("host", host), ("content-type", "application/json")];
                    given.extend(origin.map(|origin| ("origin", origin)));
                    given.extend(token.map(|token| ("authorization", token)));
                    let expected = match (host_ok && origin_ok, token_ok) {
                        (false, _) => 403,
                        (true, false) => 401,
                        (true, true) => 200,
                    };
                    assert_eq!(judged("POST", "/chat", &given), expected, "{given:?}");
                    // The page itself has nothing to hide, and still is nobody else's.
                    let page = if host_ok && origin_ok { 200 } else { 403 };
                    assert_eq!(judged("GET", "/", &given), page, "{given:?}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, 100);
    }

    #[test]
    fn token_of_programs_decides_nothing() {
        let given = [("host", OURS), ("content-type", "application/json"), ("authorization", "Bearer open-barley")];
        for path in PROGRAMS {
            assert_eq!(judged("POST", path, &given), 200, "{path}");
        }
        for (method, path) in [
            ("POST", "/reviews"),
            ("POST", "/confirm"),
            ("POST", "/councils"),
            ("POST", "/chat"),
            ("GET", "/reviews"),
            ("POST", "/feed/"),
        ] {
            assert_eq!(judged(method, path, &given), 403, "{path}");
        }
    }

    #[test]
    fn names_of_proxies_are_ours_and_no_others() {
        let guard = Guard::new(OURS.parse().unwrap(), "open-sesame", "open-barley", false);
        let guard = guard.allowing(&["brain.example".to_owned(), "other.example:8443".to_owned()]);
        for (host, origin, ours) in [
            ("brain.example", "https://brain.example", true),
            ("Brain.Example:9000", "http://brain.example:9000", true),
            ("other.example:8443", "https://other.example:8443", true),
            (OURS, "http://127.0.0.1:7433", true),
            ("other.example", "https://other.example", false),
            ("other.example:80", "https://other.example:80", false),
            ("evil.brain.example", "https://evil.brain.example", false),
            ("brain.example.evil", "https://brain.example.evil", false),
            ("brain.example", "ftp://brain.example", false),
            (OURS, "https://127.0.0.1:7433", false),
        ] {
            assert_eq!(guard.is_ours(host) && guard.is_our_origin(origin), ours, "{host} {origin}");
        }
    }

    #[test]
    fn what_is_said_twice_or_oddly_is_not_believed() {
        let token = ("authorization", "Bearer open-sesame");
        let json = ("content-type", "application/json");
        let host = ("host", OURS);
        assert_eq!(judged("POST", "/chat", &[host, token, json]), 200);
        assert_eq!(judged("POST", "/chat", &[token, json]), 403, "no host");
        assert_eq!(judged("POST", "/chat", &[host, host, token, json]), 403, "two hosts");
        assert_eq!(judged("POST", "/chat", &[host, token, token, json]), 401, "two tokens");
        let ours = ("origin", "http://127.0.0.1:7433");
        assert_eq!(judged("POST", "/chat", &[host, ours, ours, token, json]), 403, "two origins");
        assert_eq!(judged("POST", "/chat", &[host, token, ("sec-fetch-site", "cross-site"), json]), 403);
        assert_eq!(judged("POST", "/chat", &[host, token, ("sec-fetch-site", "same-site"), json]), 403);
        assert_eq!(judged("POST", "/chat", &[host, token, ("sec-fetch-site", "same-origin"), json]), 200);
        for other in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"]
        {
            assert_eq!(judged("POST", "/chat", &[host, token, ("content-type", other)]), 415, "{other}");
        }
        assert_eq!(judged("POST", "/chat", &[host, token]), 415, "no type");
        assert_eq!(judged("POST", "/chat", &[host, token, ("content-type", "Application/JSON; charset=utf-8")]), 200);
        // What is open for reading is not open for anything else.
        assert_eq!(judged("POST", "/", &[host, json]), 401);
        assert_eq!(judged("DELETE", "/assets/page.css", &[host]), 401);
        assert_eq!(judged("GET", "/healthz", &[host]), 200);
        assert_eq!(judged("GET", "/neurons/a", &[host]), 401);
        assert_eq!(judged("GET", "/confirm", &[host]), 401);
        assert_eq!(judged("GET", "//", &[host]), 401);
    }
}
