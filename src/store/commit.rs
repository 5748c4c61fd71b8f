//! Commits: their bytes, their trailers, and reading both back.

use git2::{ObjectType, Oid};

use super::{CommitId, Store, StoreError, TreeId};
use crate::limits;
use crate::model::AgentName;

/// Committer of a machine without `user.name`.
pub(super) const FALLBACK_NAME: &str = "git-brain";
/// Its address. `.invalid` is reserved: nobody owns it.
pub(super) const FALLBACK_EMAIL: &str = "git-brain@git-brain.invalid";
/// What the addresses of agents end with.
const AGENT_DOMAIN: &str = "@git-brain.invalid";
/// The address of sleep.
const SLEEPS: &str = "sleep@git-brain.invalid";

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
    /// The committer's address.
    pub committer: String,
    /// The committer's time, seconds since 1970.
    pub committed: i64,
    /// The whole message.
    pub message: String,
    /// The trailers, unescaped, in order.
    pub trailers: Vec<Trailer>,
    /// The encoding that its header names, if it does.
    pub encoding: Option<String>,
    /// Whether its header names one author and one committer, each with one address, so that all programs read the same.
    pub is_by_one: bool,
}

impl Commit {
    /// Why git reads its message otherwise than this program does, if it does: in another encoding, or with other trailers under one of
    /// those keys.
    pub fn read_otherwise<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Option<String> {
        if !self.is_by_one {
            return Some("names several authors or committers, or one with several addresses".to_owned());
        }
        if let Some(encoding) =
            self.encoding.as_deref().filter(|name| !["utf-8", "utf8"].contains(&name.to_ascii_lowercase().as_str()))
        {
            return Some(format!("says that its message is in {encoding}, and messages are in UTF-8"));
        }
        if self.message.contains('\0') {
            return Some("has a NUL in its message, where git stops to read it".to_owned());
        }
        let ours = raw_trailers(&self.message);
        let gits = gits_trailers(&self.message);
        if ours.len().max(gits.len()) > limits::TRAILERS {
            return Some(format!("has more than {} trailers", limits::TRAILERS));
        }
        let key = keys.into_iter().find(|key| !values(&ours, key).eq(values(&gits, key)))?;
        Some(format!("has a trailer {key} that git and this program do not read alike"))
    }

    /// The first value of a trailer. Keys compare as git compares them, without case.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        self.trailers.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// All values of a trailer, in order.
    pub fn trailer_values<'c>(&'c self, key: &'c str) -> impl Iterator<Item = &'c str> {
        values(&self.trailers, key)
    }

    /// The agent that its author's address names.
    pub fn agent(&self) -> Option<AgentName> {
        let name = self.email.strip_suffix(AGENT_DOMAIN)?;
        AgentName::parse(name).ok().filter(|_| self.email != FALLBACK_EMAIL)
    }

    /// Whether its author's address is one of those that agents have, whatever stands before the `@`.
    pub fn is_of_agents_domain(&self) -> bool {
        is_agents_address(&self.email)
    }

    /// The addresses of agents, sleep included, that its author and its committer have.
    pub fn agents_hands(&self) -> impl Iterator<Item = &str> {
        [&self.email, &self.committer].into_iter().map(String::as_str).filter(|hand| is_agents_address(hand))
    }

    /// The address of an agent by which somebody made this commit.
    pub fn agents_hand(&self) -> Option<&str> {
        self.agents_hands().next()
    }

    /// The same of an agent other than sleep.
    pub fn waking_hand(&self) -> Option<&str> {
        self.agents_hands().find(|hand| *hand != SLEEPS)
    }

    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

fn values<'t>(trailers: &'t [Trailer], key: &'t str) -> impl Iterator<Item = &'t str> {
    trailers.iter().filter(move |(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
}

/// The address of an agent.
pub fn address_of_agent(name: &AgentName) -> String {
    format!("{name}{AGENT_DOMAIN}")
}

/// Whether an address is one of those that agents have, whatever stands before the `@`.
pub fn is_agents_address(address: &str) -> bool {
    let address = address.trim();
    address != FALLBACK_EMAIL && address.to_ascii_lowercase().trim_end_matches('.').ends_with(AGENT_DOMAIN)
}

/// Whether an address is the one of commits for which git names no committer.
pub fn is_unnamed(address: &str) -> bool {
    address == FALLBACK_EMAIL
}

impl CommitSpec {
    pub(super) fn encode(&self, user: &(String, String)) -> Result<Vec<u8>, StoreError> {
        let (author, email) = match &self.author {
            Author::Agent(name) => (name.to_string(), address_of_agent(name)),
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
    /// Reads a commit. One that was [passed over](Store::pass_over) is no parent of it; the newest one behind that is.
    pub fn commit(&self, id: CommitId) -> Result<Commit, StoreError> {
        let mut commit = self.commit_as_it_is(id)?;
        commit.parents.iter_mut().for_each(|parent| *parent = self.stand_in(*parent));
        Ok(commit)
    }

    fn commit_as_it_is(&self, id: CommitId) -> Result<Commit, StoreError> {
        let bytes = self.object(id.0, ObjectType::Commit, "commit")?;
        let bad = |reason: String| StoreError::BadObject { what: "commit", id: id.to_string(), reason };
        if bytes.len() > limits::COMMIT_BYTES {
            return Err(bad(format!("it has {} bytes", bytes.len())));
        }
        parse(id, &bytes).ok_or_else(|| bad("its header does not parse".to_owned()))
    }

    /// Whether there is no commit of that id: nothing, or an object of another kind.
    pub fn has_no_commit(&self, id: CommitId) -> bool {
        let kind = self.with_objects(|r| Ok(r.odb()?.read_header(id.0)?.1));
        kind.map_or_else(|error| error.class() != git2::ErrorClass::Os, |kind| kind != ObjectType::Commit)
    }

    /// The parents that the header of a commit names, whatever else it says.
    pub(super) fn parents_named(&self, id: CommitId) -> Result<Vec<CommitId>, StoreError> {
        if let Ok(commit) = self.commit_as_it_is(id) {
            return Ok(commit.parents);
        }
        let read = self.with_objects(|r| {
            let (odb, mut named) = (r.odb()?, Vec::new());
            let object = odb.read(id.0)?;
            // Parents stand at the beginning, however long the rest is.
            let header = object.data().split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
            for line in header.filter_map(|line| line.strip_prefix(b"parent ")) {
                named.extend(std::str::from_utf8(line).ok().and_then(|line| Oid::from_str(line).ok()));
            }
            Ok(if object.kind() == ObjectType::Commit { named } else { Vec::new() })
        });
        let named = read.map_err(|e| StoreError::git(format!("commit {id}"), e))?;
        Ok(named.into_iter().map(CommitId).collect())
    }

    /// Whether there is no object of that id.
    pub fn has_no_object(&self, id: CommitId) -> bool {
        !self.has(id.0)
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
    let (mut authors, mut committers, mut encoding) = (Vec::new(), Vec::new(), None);
    for line in lines {
        if let Some(parent) = line.strip_prefix("parent ") {
            parents.push(CommitId(object(parent)?));
        } else if let Some(rest) = line.strip_prefix("author ") {
            authors.push(rest);
        } else if let Some(rest) = line.strip_prefix("committer ") {
            committers.push(rest);
        } else if let (None, Some(rest)) = (encoding, line.strip_prefix("encoding ")) {
            encoding = Some(rest);
        }
    }
    let is_plain = |line: &&str| line.matches('<').count() == 1 && line.matches('>').count() == 1;
    let is_by_one = authors.len() == 1 && committers.len() == 1 && authors.iter().chain(&committers).all(is_plain);
    // Of several, git shows the last.
    let (author, email, when) = identity(authors.last()?)?;
    let (_, committer, committed) = committers.last().and_then(|line| identity(line)).unwrap_or_default();
    let seconds = |when: &str| when.trim_start().split(' ').next().and_then(|s| s.parse().ok()).unwrap_or(0);
    let at = seconds(when);
    Some(Commit {
        id,
        tree,
        parents,
        author: author.trim_end().to_owned(),
        email: email.to_owned(),
        at,
        committer: committer.to_owned(),
        committed: seconds(committed),
        message: message.to_owned(),
        trailers: parse_trailers(message),
        encoding: encoding.map(|name| name.chars().take(40).collect()),
        is_by_one,
    })
}

/// Name, address and time of a line of a commit's header, as git takes them apart.
fn identity(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once('<')?;
    let (address, _) = rest.split_once('>')?;
    Some((name, address, rest.rsplit_once('>')?.1))
}

/// The trailers of a message: the last paragraph after the first, if each of its lines is one, or what `git cherry-pick -x` writes. Stricter
/// than git, which takes a paragraph with some other lines too: a body must not be able to pass for trailers.
fn parse_trailers(message: &str) -> Vec<Trailer> {
    raw_trailers(message).into_iter().map(|(key, value)| (key, unescape(&value))).take(limits::TRAILERS).collect()
}

fn raw_trailers(message: &str) -> Vec<Trailer> {
    let Some((_, last)) = message.trim_end().rsplit_once("\n\n") else { return Vec::new() };
    let lines = last.lines().filter(|line| !line.starts_with(PICKED)).map(trailer_line);
    // One more than there may be tells that there are too many.
    lines.take(limits::TRAILERS + 1).collect::<Option<Vec<Trailer>>>().unwrap_or_default()
}

fn trailer_line(line: &str) -> Option<Trailer> {
    let (key, value) = line.split_once(':')?;
    let good = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    good.then(|| (key.to_owned(), value.trim().to_owned()))
}

/// The trailers that git's own `%(trailers)` sees, by the rules of its `trailer.c`: spaces before the colon, values that go on in the next line,
/// and other lines in the paragraph, where a line of git's own is among them.
fn gits_trailers(message: &str) -> Vec<Trailer> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    let is_blank = |line: &&str| line.chars().all(is_space);
    let mut lines: Vec<&str> = message.split('\n').skip_while(is_blank).collect();
    lines.truncate(end_of_message(&lines));
    let title = lines.iter().position(|line| !line.starts_with('#') && is_blank(line)).unwrap_or(lines.len());
    let (mut trailers, mut others, mut continued) = (0_usize, 0_usize, 0_usize);
    let (mut of_git, mut only_spaces, mut start) = (false, true, None);
    for (index, line) in lines.iter().enumerate().skip(title).rev() {
        if line.starts_with('#') {
            others += std::mem::take(&mut continued);
        } else if is_blank(line) {
            if only_spaces {
                continue;
            }
            others += continued;
            let is_block = (of_git && trailers * 3 >= others) || (trailers > 0 && others == 0);
            start = is_block.then_some(index + 1);
            break;
        } else {
            only_spaces = false;
            if ["Signed-off-by: ", PICKED].iter().any(|own| line.starts_with(own)) {
                (trailers, continued, of_git) = (trailers + 1, 0, true);
            } else if line.starts_with(is_space) {
                continued += 1;
            } else if separated(line).is_some() {
                (trailers, continued) = (trailers + 1, 0);
            } else {
                others += 1 + std::mem::take(&mut continued);
            }
        }
    }
    let mut found: Vec<Trailer> = Vec::new();
    let mut goes_on = false;
    for line in start.map_or(&[][..], |start| &lines[start..]).iter().filter(|line| !line.starts_with('#')) {
        if found.len() > limits::TRAILERS {
            break;
        }
        if line.starts_with(is_space) {
            if let Some((_, value)) = found.last_mut().filter(|_| goes_on) {
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        let trailer = separated(line);
        goes_on = trailer.is_some();
        found.extend(trailer.map(|(key, value)| (key.to_owned(), value.trim().to_owned())));
    }
    found
}

/// The number of lines that git counts: comments, blank lines and the list of conflicts that older ones wrote end a message, and are none of it.
fn end_of_message(lines: &[&str]) -> usize {
    let (mut end, mut in_conflicts) = (None, false);
    for (index, line) in lines.iter().enumerate() {
        let begins = *line == "Conflicts:";
        if begins || line.is_empty() || line.starts_with('#') {
            in_conflicts |= begins;
            end.get_or_insert(index);
        } else if !(in_conflicts && line.starts_with('\t')) {
            (end, in_conflicts) = (None, false);
        }
    }
    end.unwrap_or(lines.len())
}

/// A line that git takes for a trailer: a word, spaces or none, a colon.
fn separated(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end_matches([' ', '\t']);
    let good = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    good.then_some((key, value))
}

/// The beginning of the line that `git cherry-pick -x` adds.
const PICKED: &str = "(cherry picked from commit ";

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

    /// Trailers as git itself prints them, message by message.
    #[test]
    fn messages_are_read_as_git_reads_them_or_it_is_said() {
        let repository = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| super::super::sandbox::git(repository.path(), args);
        git(&["init", "-q"]);
        let tree = git(&["hash-object", "-t", "tree", "-w", "/dev/null"]).trim().to_owned();
        let mut alike = 0;
        for message in [
            "t\n\nRun: x\n",
            "t\n\nRun : x\n",
            "t\n\nRun\t: x\n",
            "t\n\nRun: x\n y\n",
            "t\n\nRun: x\n\n\n",
            "t\n \nRun: x\n",
            "Run: x\n",
            "\n\nRun: x\n",
            "t\n\nother\nRun: x\n",
            "t\n\nRun: x\n(cherry picked from commit 1)\n",
            "t\n\nRun: x\n\nConflicts:\n\tfoo\n",
            "t\n\nRun: x\n\nConflicts:\n\tfoo\n# c\n\tbar\n\n",
            "t\n\nRun: x\n\nConflicts:\n\tfoo\nbar\n",
            "t\n\nRun: x\n\nConflicts: \n\tfoo\n",
            "t\n\nRun: x\nConflicts:\n\tfoo\n",
            "t\n\nConflicts:\n\tfoo\n\nRun: x\n",
            "t\n\nother\nRun: x\nSigned-off-by: a\n",
            "t\n\na\nb\nc\nd\nRun: x\nSigned-off-by: a\n",
            "t\n\nRun: x\n# said\n",
            "t\n\n# said\nRun: x\n",
            "t\n\nRun: x\nAgent: y\n",
            "t\r\n\r\nRun: x\r\n",
            "t\n\nRun: x\n\nmore\n",
            "t\n\n Run: x\n",
            "t\n\nRun: x\n\u{2003}\n",
            "t\n\nother\n\u{b}\nRun: x\n",
            "t\n\nRun:x\n",
            "t\n\nrun: x\nRUN: y\n",
            "t\n\nr\u{fc}n: x\nRun: y\n",
            "t\n\n---\nRun: x\n",
            "t\n\n---\n\nRun: x\n",
            "# t\n\nRun: x\n",
            "t",
            "",
            "t\n\n:\nRun: x\n",
            "t\n\nRun: x\n:\n",
        ] {
            let file = repository.path().join("commit");
            std::fs::write(
                &file,
                format!("tree {tree}\nauthor a <a@x> 0 +0000\ncommitter a <a@x> 0 +0000\n\n{message}"),
            )
            .unwrap();
            let id = git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]).trim().to_owned();
            let said = git(&["log", "-1", "--format=%(trailers:key=Run,valueonly,unfold)", &id]);
            let gits: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let commit = parse(CommitId(Oid::ZERO_SHA1), &std::fs::read(&file).unwrap()).unwrap();
            let ours: Vec<&str> = commit.trailer_values("Run").collect();
            let says = commit.read_otherwise(["Run"]);
            assert_eq!(ours == gits, says.is_none(), "{message:?}: git {gits:?}, here {ours:?}, {says:?}");
            alike += usize::from(says.is_none() && !ours.is_empty());
        }
        assert!(alike >= 6, "{alike}");
    }
}
