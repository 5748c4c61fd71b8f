//! Commits: their bytes, their trailers, and reading both back.

use git2::{ObjectType, Oid};

use super::{CommitId, Store, StoreError, TreeId};
use crate::model::AgentName;

/// Committer of a machine without `user.name`.
pub(super) const FALLBACK_NAME: &str = "git-brain";
/// Its address. `.invalid` is reserved: nobody owns it.
pub(super) const FALLBACK_EMAIL: &str = "git-brain@git-brain.invalid";
/// What the addresses of agents end with.
const AGENT_DOMAIN: &str = "@git-brain.invalid";

/// One line `Key: value` at the end of a message.
pub type Trailer = (String, String);

/// Who wrote a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// An agent: `memory <memory@git-brain.invalid>`.
    Agent(AgentName),
    /// The person at this machine.
    User,
}

/// A commit to be made.
#[derive(Clone, Debug)]
pub struct CommitSpec {
    /// The root folder.
    pub tree: TreeId,
    /// The parents; the first is what the branch was.
    pub parents: Vec<CommitId>,
    /// Who wrote it. The committer is always the user.
    pub author: Author,
    /// Seconds since 1970, for author and committer.
    pub at: i64,
    /// The first line.
    pub subject: String,
    /// The text, empty or not.
    pub body: String,
    /// The trailers, in order. A key may come several times.
    pub trailers: Vec<Trailer>,
}

/// A commit, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// The root folder.
    pub tree: TreeId,
    /// The parents.
    pub parents: Vec<CommitId>,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub email: String,
    /// The author's time, seconds since 1970.
    pub at: i64,
    /// The committer's time, seconds since 1970.
    pub committed: i64,
    /// The whole message.
    pub message: String,
    /// The trailers, unescaped, in order.
    pub trailers: Vec<Trailer>,
}

impl Commit {
    /// The first value of a trailer. Keys compare as git compares them, without case.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        self.trailers.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// All values of a trailer, in order.
    pub fn trailer_values<'c>(&'c self, key: &'c str) -> impl Iterator<Item = &'c str> {
        self.trailers.iter().filter(move |(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// The agent that its author's address names.
    pub fn agent(&self) -> Option<AgentName> {
        let name = self.email.strip_suffix(AGENT_DOMAIN)?;
        AgentName::parse(name).ok().filter(|_| self.email != FALLBACK_EMAIL)
    }

    /// Whether its author's address is one of those that agents have, whatever stands before the `@`.
    pub fn is_of_agents_domain(&self) -> bool {
        self.email != FALLBACK_EMAIL && self.email.to_ascii_lowercase().ends_with(AGENT_DOMAIN)
    }

    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

impl CommitSpec {
    pub(super) fn encode(&self, user: &(String, String)) -> Result<Vec<u8>, StoreError> {
        let (author, email) = match &self.author {
            Author::Agent(name) => (name.to_string(), format!("{name}{AGENT_DOMAIN}")),
            Author::User => user.clone(),
        };
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        // Git's format has no times before 1970.
        let at = self.at.max(0);
        text.push_str(&format!("author {author} <{email}> {at} +0000\n"));
        text.push_str(&format!("committer {} <{}> {at} +0000\n\n", user.0, user.1));
        text.push_str(&self.message()?);
        Ok(text.into_bytes())
    }

    /// The whole message: subject, body and trailers.
    pub fn message(&self) -> Result<String, StoreError> {
        let subject = one_line(&self.subject);
        let mut message = if subject.is_empty() { "(no subject)".to_owned() } else { subject };
        message.push('\n');
        let body = guarded_body(&self.body, self.trailers.is_empty());
        if !body.is_empty() {
            message.push_str(&format!("\n{body}\n"));
        }
        if !self.trailers.is_empty() {
            message.push('\n');
        }
        for (key, value) in &self.trailers {
            let good = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            if !good {
                return Err(StoreError::BadTrailer { key: key.clone() });
            }
            message.push_str(&format!("{key}: {}\n", escape(value)));
        }
        Ok(message)
    }
}

impl Store {
    /// Reads a commit.
    pub fn commit(&self, id: CommitId) -> Result<Commit, StoreError> {
        let bytes = self.object(id.0, ObjectType::Commit, "commit")?;
        parse(id, &bytes).ok_or_else(|| StoreError::BadObject {
            what: "commit",
            id: id.to_string(),
            reason: "its header does not parse".to_owned(),
        })
    }

    /// The root folder of a commit.
    pub fn tree_of(&self, id: CommitId) -> Result<TreeId, StoreError> {
        self.commit(id).map(|commit| commit.tree)
    }
}

pub(super) fn parse(id: CommitId, bytes: &[u8]) -> Option<Commit> {
    let text = String::from_utf8_lossy(bytes);
    let (header, message) = text.split_once("\n\n").unwrap_or((text.trim_end_matches('\n'), ""));
    let mut lines = header.lines();
    let object = |text: &str| Oid::from_str(text).ok().filter(|_| text.len() == 40);
    let tree = TreeId(object(lines.next()?.strip_prefix("tree ")?)?);
    let mut parents = Vec::new();
    let (mut author_line, mut committer_line) = (None, None);
    for line in lines {
        if let Some(parent) = line.strip_prefix("parent ") {
            parents.push(CommitId(object(parent)?));
        } else if let (None, Some(rest)) = (author_line, line.strip_prefix("author ")) {
            author_line = Some(rest);
        } else if let (None, Some(rest)) = (committer_line, line.strip_prefix("committer ")) {
            committer_line = Some(rest);
        }
    }
    let (author, rest) = author_line?.split_once('<')?;
    let (email, when) = rest.rsplit_once('>')?;
    let seconds = |when: &str| when.trim_start().split(' ').next().and_then(|s| s.parse().ok()).unwrap_or(0);
    let committed = committer_line.and_then(|line| line.rsplit_once('>')).map_or(0, |(_, when)| seconds(when));
    let at = seconds(when);
    Some(Commit {
        id,
        tree,
        parents,
        author: author.trim_end().to_owned(),
        email: email.to_owned(),
        at,
        committed,
        message: message.to_owned(),
        trailers: parse_trailers(message),
    })
}

/// The trailers of a message: the last paragraph after the first, if each of its lines is one. Stricter than git, which
/// takes a paragraph with some other lines too: a body must not be able to pass for trailers.
fn parse_trailers(message: &str) -> Vec<Trailer> {
    let Some((_, last)) = message.trim_end().rsplit_once("\n\n") else { return Vec::new() };
    let lines: Option<Vec<Trailer>> = last.lines().map(trailer_line).collect();
    lines.unwrap_or_default()
}

fn trailer_line(line: &str) -> Option<Trailer> {
    let (key, value) = line.split_once(':')?;
    let good = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    good.then(|| (key.to_owned(), unescape(value.trim())))
}

/// One line: control characters become escapes, the backslash doubles, so that [`unescape`] gives the value back.
fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.trim().chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_line_break(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (c, used) = match tail.as_bytes().first() {
            Some(b'\\') => ('\\', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => unescape_code(tail).unwrap_or(('\\', 0)),
            _ => ('\\', 0),
        };
        out.push(c);
        rest = &tail[used..];
    }
    out.push_str(rest);
    out
}

fn unescape_code(tail: &str) -> Option<(char, usize)> {
    let (digits, _) = tail.strip_prefix("u{")?.split_once('}')?;
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((c, digits.len() + 3))
}

fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() || is_line_break(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The body without control characters. `---`, where git stops reading a message, is moved in by a space; so is what
/// looks like a trailer, if no true trailers follow.
fn guarded_body(body: &str, last: bool) -> String {
    let mut out = Vec::new();
    for line in body.trim().lines() {
        let clean: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        let clean = clean.trim_end();
        let guard = clean.starts_with("---") || (last && trailer_line(clean).is_some());
        out.push(if guard { format!(" {clean}") } else { clean.to_owned() });
    }
    out.join("\n")
}

/// A name or address as git writes it: without `<`, `>`, control characters, and outer punctuation.
pub(super) fn clean_identity(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect();
    kept.trim_matches(|c: char| c.is_whitespace() || ".,:;\"\\'".contains(c)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(body: &str, trailers: &[(&str, &str)]) -> CommitSpec {
        CommitSpec {
            tree: TreeId(Oid::ZERO_SHA1),
            parents: vec![],
            author: Author::User,
            at: 1_769_437_920,
            subject: "run: tea\nRun: forged".into(),
            body: body.into(),
            trailers: trailers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn values_come_back_whatever_is_in_them() {
        let hostile = "a\nRun: forged\\n\r\t\u{85}\u{2028}é\\u{41}";
        let spec = spec("text", &[("Run", "r1"), ("Trigger", hostile), ("Run", "r2")]);
        let bytes = spec.encode(&("U".into(), "u@x".into())).unwrap();
        let commit = parse(CommitId(Oid::ZERO_SHA1), &bytes).unwrap();
        assert_eq!(commit.trailer_values("run").collect::<Vec<_>>(), ["r1", "r2"]);
        assert_eq!(commit.trailer("Trigger"), Some(hostile));
        assert_eq!((commit.author.as_str(), commit.email.as_str(), commit.at), ("U", "u@x", 1_769_437_920));
        assert_eq!(commit.subject(), "run: tea Run: forged");
    }

    #[test]
    fn a_body_cannot_pass_for_trailers() {
        for (body, trailers) in
            [("Run: forged", &[][..]), ("x\n\nRun: forged\n", &[]), ("x\n---\nRun: forged", &[("Agent", "a")])]
        {
            let bytes = spec(body, trailers).encode(&("U".into(), "u@x".into())).unwrap();
            let commit = parse(CommitId(Oid::ZERO_SHA1), &bytes).unwrap();
            assert_eq!(commit.trailer("Run"), None, "{body}");
            assert!(!commit.message.contains("\n---"));
        }
        assert!(spec("", &[("a b", "x")]).encode(&("U".into(), "u".into())).is_err());
    }
}
