//! Secrets: what no object of the repository may hold, and its removal from text that comes in.
//!
//! Two kinds of knowledge. **Rules**: formats that vendors document for their keys, and assignments whose value looks like
//! one. **Known values**: what variables of this machine hold, in every encoding that a program would print them in. Text is
//! redacted where it enters, before ids are made of it; the store refuses what still holds one when it makes an object.
//!
//! Git hashes, UUIDs, run ids and images in base64 are no secrets: nothing here goes by looks alone.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex as TextRegex;
use regex::bytes::Regex;

use crate::limits;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub kind: &'static str,
    /// Where it stands, bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The kind of what a variable of this machine holds.
pub const KNOWN: &str = "known-value";

struct Rule {
    kind: &'static str,
    pattern: Regex,
    /// True: the first group is the secret, and only if it looks made by a machine.
    doubtful: bool,
}

/// Kind, beginnings that tell where to look (case does not matter), pattern, doubtful. A pattern's first group is the secret,
/// if it has one. Sources: the vendors' own pages on the formats of their tokens; RFC 7468 and RFC 7519.
const RULES: [(&str, &[&str], &str, bool); 25] = [
    ("aws-access-key", &["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", false),
    ("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b", false),
    ("github-token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,255}", false),
    ("gitlab-token", &["glpat-", "gldt-", "glrt-"], r"\bgl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,255}", false),
    ("slack-token", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}", false),
    (
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/services/T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9_]{16,64}",
        false,
    ),
    (
        "stripe-key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}",
        false,
    ),
    ("stripe-webhook", &["whsec_"], r"\bwhsec_[A-Za-z0-9+/=]{24,255}", false),
    ("google-key", &["AIza"], r"\bAIza[A-Za-z0-9_-]{35}", false),
    ("google-secret", &["GOCSPX-"], r"\bGOCSPX-[A-Za-z0-9_-]{20,64}", false),
    ("google-token", &["ya29."], r"\bya29\.[A-Za-z0-9_-]{20,512}", false),
    ("anthropic-key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{24,255}", false),
    (
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{24,255}",
        false,
    ),
    ("openai-key", &["sk-"], r"\bsk-[A-Za-z0-9]{32,255}\b", false),
    ("huggingface-token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,255}\b", false),
    ("npm-token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b", false),
    ("pypi-token", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{50,512}", false),
    ("sendgrid-key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{32,128}", false),
    ("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"\bdo[por]_v1_[a-f0-9]{64}\b", false),
    ("age-key", &["AGE-SECRET-KEY-1"], r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b", false),
    ("jwt", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", false),
    (
        "private-key",
        &["PRIVATE KEY"],
        r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
        false,
    ),
    (
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'\\<>\[\]]{0,64}:([^\s/@"'\\<>\[\]{}$*]{3,128})@"#,
        false,
    ),
    (
        "authorization",
        &["authorization"],
        r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+([A-Za-z0-9+/._~=-]{12,4096})"#,
        true,
    ),
    (
        "assigned",
        &["passw", "passphrase", "secret", "token", "api_key", "api-key", "apikey", "access_key", "private_key"],
        r#"(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[a-z0-9_-]{0,20}\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["']?([^\s"'\\,;<>\[\]{}()$*]{8,256})"#,
        true,
    ),
];

struct Rules {
    rules: Vec<Rule>,
    anchors: AhoCorasick,
    /// The rule of each anchor.
    of_anchor: Vec<usize>,
}

static KNOWN_FORMATS: LazyLock<Rules> = LazyLock::new(|| {
    let rule = |(kind, _, pattern, doubtful): &(&'static str, &[&str], &str, bool)| Rule {
        kind,
        pattern: regex::bytes::RegexBuilder::new(pattern).unicode(false).build().expect("invariant: tested patterns"),
        doubtful: *doubtful,
    };
    let mut anchors = Vec::new();
    let mut of_anchor = Vec::new();
    for (number, (_, of_rule, _, _)) in RULES.iter().enumerate() {
        anchors.extend_from_slice(of_rule);
        of_anchor.extend(of_rule.iter().map(|_| number));
    }
    let anchors = AhoCorasick::builder().ascii_case_insensitive(true).build(anchors);
    Rules {
        rules: RULES.iter().map(rule).collect(),
        anchors: anchors.expect("invariant: a few short anchors"),
        of_anchor,
    }
});

/// What counts as a secret here.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Values of this machine, in every encoding.
    known: Option<Arc<AhoCorasick>>,
    kinds: BTreeSet<String>,
    patterns: Vec<TextRegex>,
}

impl Secrets {
    /// The rules, less what is allowed (a kind, or a pattern that the whole secret matches), and the values of variables.
    /// Values shorter than [`limits::SECRET_BYTES`] are passed over.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn new(allow: &[String], values: &[String]) -> Result<Self, String> {
        let is_kind = |text: &str| text == KNOWN || RULES.iter().any(|(kind, ..)| *kind == text);
        let mut secrets = Self::default();
        for text in allow {
            if is_kind(text) {
                secrets.kinds.insert(text.clone());
                continue;
            }
            let whole = TextRegex::new(&format!("^(?:{text})$"));
            secrets
                .patterns
                .push(whole.map_err(|e| format!("secrets.allow: {text:?} is no kind and no pattern: {e}"))?);
        }
        let values = values.iter().map(String::as_str).filter(|value| value.len() >= limits::SECRET_BYTES);
        let needles: BTreeSet<Vec<u8>> = values.flat_map(encodings).collect();
        if !needles.is_empty() {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&needles);
            secrets.known = Some(Arc::new(built.map_err(|e| e.to_string())?));
        }
        Ok(secrets)
    }

    /// The secrets of a text, in order, none over another.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(known) = &self.known {
            found.extend(known.find_iter(text).map(|m| Found { kind: KNOWN, start: m.start(), end: m.end() }));
        }
        let mut asked = 0_u64;
        for hit in KNOWN_FORMATS.anchors.find_overlapping_iter(text) {
            let number = KNOWN_FORMATS.of_anchor[hit.pattern().as_usize()];
            if asked & (1 << number) != 0 {
                continue;
            }
            asked |= 1 << number;
            let rule = &KNOWN_FORMATS.rules[number];
            for captures in rule.pattern.captures_iter(text) {
                let Some(m) = captures.get(1).or_else(|| captures.get(0)) else { continue };
                if !rule.doubtful || looks_made(m.as_bytes()) {
                    found.push(Found { kind: rule.kind, start: m.start(), end: m.end() });
                }
            }
        }
        found.retain(|f| !self.is_allowed(f, text));
        found.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end)));
        let mut end = 0;
        found.retain(|f| {
            let apart = f.start >= end;
            end = end.max(f.end);
            apart
        });
        found
    }

    fn is_allowed(&self, found: &Found, text: &[u8]) -> bool {
        if self.kinds.contains(found.kind) {
            return true;
        }
        let text = String::from_utf8_lossy(&text[found.start..found.end]);
        self.patterns.iter().any(|pattern| pattern.is_match(&text))
    }

    /// The text with `[redacted:KIND]` in place of each secret.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut at = 0;
        for secret in &found {
            // Secrets begin and end at characters: patterns are of ASCII, and values are whole texts.
            clean.push_str(text.get(at..secret.start).unwrap_or_default());
            clean.push_str("[redacted:");
            clean.push_str(secret.kind);
            clean.push(']');
            at = secret.end;
        }
        clean.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(clean)
    }

    /// The same for every text inside a JSON document, names of fields included, and nothing else of it is changed; `None`: it
    /// holds no secret, or is no JSON.
    #[must_use]
    pub fn redact_json(&self, document: &[u8]) -> Option<Vec<u8>> {
        // Only an escape that was not needed can hide a secret from a look at the bytes.
        let hides = document.windows(2).any(|pair| matches!(pair, [b'\\', b'u' | b'/']));
        if !hides && self.find(document).is_empty() {
            return None;
        }
        serde_json::from_slice::<serde::de::IgnoredAny>(document).ok()?;
        self.redact_texts(document)
    }

    /// One text after the other, so that all around them stays where it is: what else is wrong with the document is told with
    /// its own line, and a key that stands twice still does.
    fn redact_texts(&self, document: &[u8]) -> Option<Vec<u8>> {
        let mut clean = Vec::new();
        let (mut at, mut any) = (0, false);
        let mut before = String::new();
        while let Some(start) = document[at..].iter().position(|b| *b == b'"').map(|offset| at + offset) {
            let between = document[at..start].trim_ascii();
            clean.extend_from_slice(&document[at..start]);
            at = end_of_text(document, start)?;
            let literal = &document[start..at];
            let text: String = serde_json::from_slice(literal).ok()?;
            // `{"password": "…"}`: the field says what its text is, which neither says alone.
            let field = (between == b":").then_some(before.as_str());
            let redacted = self.redact_field(field, &text);
            match &redacted {
                Cow::Borrowed(_) => clean.extend_from_slice(literal),
                Cow::Owned(redacted) => {
                    any = true;
                    clean.extend_from_slice(super::json::inline(redacted).as_bytes());
                }
            }
            before = redacted.into_owned();
        }
        clean.extend_from_slice(&document[at..]);
        any.then_some(clean)
    }

    /// A text by itself, and as the value of its field.
    fn redact_field<'t>(&self, field: Option<&str>, text: &'t str) -> Cow<'t, str> {
        let alone = self.redact(text);
        let Some(field) = field else { return alone };
        let start = format!("{field}=");
        match self.redact(&format!("{start}{alone}")) {
            Cow::Borrowed(_) => alone,
            Cow::Owned(both) => both.strip_prefix(&start).unwrap_or(&both).to_owned().into(),
        }
    }
}

/// Where the text that begins at a quotation mark has ended.
fn end_of_text(document: &[u8], start: usize) -> Option<usize> {
    let mut escaped = false;
    let end = document[start + 1..].iter().position(|b| match b {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        b => *b == b'"',
    })?;
    Some(start + end + 2)
}

/// True for a value that no person would think of as a word: letters and figures mixed, and many different ones.
fn looks_made(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let (letters, figures) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
    let different: BTreeSet<u8> = value.iter().copied().collect();
    letters && figures && different.len() * 2 >= value.len().min(16)
}

/// How a program would print a value: as it is, and in the encodings of the web.
fn encodings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex = |upper: bool, before: &str, part: &[u8]| -> String {
        part.iter().map(|b| if upper { format!("{before}{b:02X}") } else { format!("{before}{b:02x}") }).collect()
    };
    let percent = |upper: bool| -> String {
        let one = |b: &u8| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(*b).to_string(),
            other => hex(upper, "%", &[*other]),
        };
        bytes.iter().map(one).collect()
    };
    let escaped = |text: &str| -> String {
        let quoted = serde_json::to_string(text).expect("invariant: a text is JSON");
        quoted[1..quoted.len() - 1].to_owned()
    };
    let once = escaped(value);
    let mut all: Vec<String> = vec![
        value.to_owned(),
        escaped(&once),
        hex(false, "", bytes),
        hex(true, "", bytes),
        hex(false, "%", bytes),
        hex(true, "%", bytes),
        percent(true),
        percent(false),
        percent(true).replace("%20", "+"),
        once,
    ];
    for alphabet in [STANDARD, URL_SAFE] {
        all.extend((0..3).map(|shift| base64_within(bytes, shift, alphabet)));
    }
    all.into_iter().filter(|text| text.len() >= limits::SECRET_BYTES).map(String::into_bytes).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is the same of a value in base64 whatever stands before and after it, where `shift` bytes do before. Source: RFC 4648.
fn base64_within(value: &[u8], shift: usize, alphabet: &[u8; 64]) -> String {
    let bit = |at: usize| value[at / 8] >> (7 - at % 8) & 1;
    let (from, to) = ((shift * 8).div_ceil(6), (shift + value.len()) * 8 / 6);
    let sixth = |at: usize| (0..6).fold(0_u8, |n, k| n << 1 | bit(at * 6 + k - shift * 8));
    (from..to).map(|at| char::from(alphabet[usize::from(sixth(at))])).collect()
}

/// True if a variable that an agent may see holds a secret by its name, or by its looks.
#[must_use]
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    const NAMES: [&str; 11] =
        ["KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "COOKIE", "SESSION", "PRIVATE", "DSN"];
    let upper = name.to_ascii_uppercase();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-+=".contains(&b);
    NAMES.iter().any(|part| upper.contains(part))
        || (value.len() >= 16 && value.bytes().all(plain) && looks_made(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind, made up.
    fn samples() -> Vec<(&'static str, String)> {
        let fill = |n: usize| "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA".chars().cycle().take(n).collect::<String>();
        vec![
            ("aws-access-key", "AKIAIOSFODNN7EXAMPLE".to_owned()),
            ("github-token", format!("ghp_{}", fill(36))),
            ("github-token", format!("github_pat_{}", fill(60))),
            ("gitlab-token", format!("glpat-{}", fill(20))),
            ("slack-token", format!("xoxb-{}", fill(24))),
            ("slack-webhook", format!("hooks.slack.com/services/T0AB/B0CD/{}", fill(24))),
            ("stripe-key", format!("sk_live_{}", fill(24))),
            ("google-key", format!("AIza{}", fill(35))),
            ("google-secret", format!("GOCSPX-{}", fill(28))),
            ("anthropic-key", format!("sk-ant-api03-{}", fill(90))),
            ("openai-key", format!("sk-proj-{}", fill(60))),
            ("openai-key", format!("sk-{}", fill(48))),
            ("huggingface-token", format!("hf_{}", fill(34))),
            ("npm-token", format!("npm_{}", fill(36))),
            ("pypi-token", format!("pypi-{}", fill(80))),
            ("sendgrid-key", format!("SG.{}.{}", fill(22), fill(43))),
            ("digitalocean-token", format!("dop_v1_{}", "0a1b2c3d".repeat(8))),
            ("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{}", fill(43))),
        ]
    }

    #[test]
    fn every_kind_is_redacted_and_the_text_around_it_stays() {
        let secrets = Secrets::default();
        for (kind, secret) in samples() {
            let text = format!("Take {secret}, and thé tea.");
            assert_eq!(secrets.redact(&text), format!("Take [redacted:{kind}], and thé tea."), "{text}");
            let clean = secrets.redact(&text).into_owned();
            assert_eq!(secrets.redact(&clean), clean, "once is enough");
        }
        let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(secrets.redact(&format!("a\n{pem}\nb")), "a\n[redacted:private-key]\nb");
        for (text, clean) in [
            ("postgres://ann:s3cret9@db/x", "postgres://ann:[redacted:url-password]@db/x"),
            ("Authorization: Bearer aB3dE5gH7jK9mN", "Authorization: Bearer [redacted:authorization]"),
            ("DB_PASSWORD=Tr0ub4dor&3x", "DB_PASSWORD=[redacted:assigned]"),
            ("\"api_key\": \"9f8e7d6c5b4a39281706\"", "\"api_key\": \"[redacted:assigned]\""),
        ] {
            assert_eq!(secrets.redact(text), clean);
        }
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        let secrets = Secrets::default();
        for text in [
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "550e8400-e29b-41d4-a716-446655440000",
            "20260126t143500000z-wc26zddr-notary",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
            "my password: correct horse battery staple",
            "the secret: never give up",
            "https://example.com/path:8080?x=1",
            "tokens_per_day = 10000",
            "a task-oriented sk-learn risk-averse person",
            "password=$PASSWORD and token: <your-token-1>",
            "ghp_short, AKIA, eyJ",
        ] {
            assert_eq!(secrets.redact(text), text);
        }
    }

    #[test]
    fn known_values_are_found_in_every_encoding() {
        let value = "s\"cr ét/+1xyz";
        let secrets = Secrets::new(&[], &[value.to_owned(), "short".to_owned()]).unwrap();
        let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<String>();
        let encode = |text: &str, alphabet: &[u8; 64]| {
            let padded = [text.as_bytes(), &vec![0; (3 - text.len() % 3) % 3]].concat();
            base64_within(&padded, 0, alphabet)
        };
        let mut all =
            vec![value.to_owned(), serde_json::to_string(value).unwrap(), hex(value), hex(value).to_uppercase()];
        all.push("s%22cr%20%C3%A9t%2F%2B1xyz".to_owned());
        all.push("s%22cr+%c3%a9t%2f%2b1xyz".replace('+', "%20"));
        for before in ["", "a", "ab", "abc"] {
            for alphabet in [STANDARD, URL_SAFE] {
                all.push(encode(&format!("{before}{value}and more"), alphabet));
            }
        }
        for text in all {
            let clean = secrets.redact(&text).into_owned();
            assert!(clean.contains("[redacted:known-value]"), "{text} → {clean}");
        }
        assert_eq!(secrets.redact("short is no secret"), "short is no secret");
    }

    #[test]
    fn json_is_redacted_inside_its_texts() {
        let secrets = Secrets::default();
        let token = &samples()[1].1;
        let hidden = format!("\\u0067{}", &token[1..]);
        let text = format!(r#"{{"a": ["x {hidden}"], "{token}": 1, "password": "Tr0ub4dor&3x", "n": 1.5}}"#);
        let clean = String::from_utf8(secrets.redact_json(text.as_bytes()).unwrap()).unwrap();
        assert!(!clean.contains(&token[4..]) && !clean.contains("Tr0ub"), "{clean}");
        assert!(clean.contains("x [redacted:github-token]") && clean.contains("1.5"), "{clean}");
        assert_eq!(secrets.redact_json(br#"{"a": "t\u0065a\n"}"#), None);
        // What stands around it stays as it is: lines, numbers, a key that stands twice, an escape.
        let text =
            format!("{{ \"n\":1.50,\n\n\"n\" : [\"t\\u0065a \\\"\", \"{token}\"],\n\"secret\":\n\"Tr0ub4dor&3x\"}}\n");
        let clean = String::from_utf8(secrets.redact_json(text.as_bytes()).unwrap()).unwrap();
        let expected =
            text.replace(token.as_str(), "[redacted:github-token]").replace("Tr0ub4dor&3x", "[redacted:assigned]");
        assert_eq!(clean, expected);
        assert_eq!(secrets.redact_json(format!("{{\"a\": \"{token}\"").as_bytes()), None, "no JSON");
    }

    #[test]
    fn what_is_allowed_is_let_through() {
        let (kind, token) = &samples()[0];
        for allow in [(*kind).to_owned(), "AKIA.*EXAMPLE".to_owned()] {
            assert_eq!(Secrets::new(&[allow], &[]).unwrap().redact(token), token.as_str());
        }
        assert_ne!(Secrets::new(&["AKIA".to_owned()], &[]).unwrap().redact(token), token.as_str(), "whole, or not");
        assert!(Secrets::new(&["(".to_owned()], &[]).is_err());
    }
}
