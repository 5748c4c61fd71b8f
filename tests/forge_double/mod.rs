//! A double of a forge on this machine: its interface in threads of the test, and a bare repository whose hooks tell it what was pushed.
//!
//! It answers in the forms that the forges document, two entries a page, and its links to the next page name another host.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::machines::World;
use crate::sandbox::{Answer, Sandbox};

/// The account that the token is of.
pub const ACCOUNT: &str = "brain-bot";
/// The token.
pub const TOKEN: &str = "forge-token-0123456789";

/// What is done with a request instead of answering it.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Sends this, as it stands.
    Sends(String),
    /// A body of so many bytes, without a length before it.
    Floods(usize),
    /// Begins an answer, then one byte now and then.
    Drips,
    /// Reads and says nothing.
    Hangs,
}

/// An answer with a status line, headers and a body.
pub fn status(line: &str, headers: &str, body: &str) -> Manner {
    let length = body.len();
    Manner::Sends(format!(
        "HTTP/1.1 {line}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    ))
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub key: String,
    pub body: Value,
}

/// A request for review.
#[derive(Clone, Debug)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: String,
    /// The branch; AGit: the topic.
    pub head: String,
    /// AGit: the commit. Else it is the branch's.
    pub commit: Option<String>,
    pub base: String,
    pub state: &'static str,
    pub author: String,
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    pub id: u64,
    pub author: String,
    pub body: String,
}

#[derive(Default)]
pub struct Inner {
    kind: &'static str,
    remote: PathBuf,
    read: usize,
    pub pulls: Vec<Pull>,
    pub comments: Vec<Comment>,
    /// As the forge writes them.
    pub reviews: Vec<Value>,
    pub statuses: Vec<Value>,
    pub check_runs: Vec<Value>,
    /// Other documents: the end of a path, and the answer.
    pub others: Vec<(&'static str, Value)>,
    pub takes_no_status: bool,
    pub asked: Vec<Asked>,
    pub manners: VecDeque<Manner>,
}

/// The double.
#[derive(Clone)]
pub struct Double {
    pub address: SocketAddr,
    pub held: Arc<Mutex<Inner>>,
}

const POST_RECEIVE: &str = r#"#!/bin/sh
while read -r old new ref; do
    printf '%s\t%s' "$ref" "$new"
    i=0
    while [ "$i" -lt "${GIT_PUSH_OPTION_COUNT:-0}" ]; do
        eval "printf '\t%s' \"\$GIT_PUSH_OPTION_$i\""
        i=$((i + 1))
    done
    echo
done >> pushed
"#;

/// The protocol of git's `proc-receive`: versions, then orders, then options, then what became of each order.
const PROC_RECEIVE: &str = r#"#!/bin/sh
packet() {
    size=$(dd bs=1 count=4 2> /dev/null)
    size=$((0x$size))
    [ "$size" -ge 4 ] || return 1
    line=$(dd bs=1 count=$((size - 4)) 2> /dev/null | tr '\0' ' ')
}
say() { printf '%04x%s\n' $((${#1} + 5)) "$1"; }
while packet; do :; done
printf '%04xversion=1\0push-options\n0000' 27
orders=
while packet; do orders="$orders$line
"; done
options=
while packet; do options="$options	$line"; done
printf '%s' "$orders" | while read -r old new ref; do
    printf '%s\t%s%s\n' "$ref" "$new" "$options" >> pushed
    case $ref in refs/patches) echo "Patch $new opened" >&2 ;; esac
    say "ok $ref"
done
printf 0000
"#;

impl Double {
    /// A forge of that kind for the repository `remote.git` of a world.
    pub fn at(world: &World, kind: &'static str) -> Self {
        let remote = world.dir("remote.git");
        let hooks = if kind == "gitlab" { [("post-receive", POST_RECEIVE)] } else { [("proc-receive", PROC_RECEIVE)] };
        if kind != "github" {
            world.git("remote.git", &["config", "receive.advertisePushOptions", "true"]);
            for (name, text) in hooks {
                let path = remote.join("hooks").join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        if ["forgejo", "gitea"].contains(&kind) {
            world.git("remote.git", &["config", "receive.procReceiveRefs", "refs/for"]);
        }
        Self::over(kind, remote)
    }

    /// One without a repository.
    pub fn alone(kind: &'static str) -> Self {
        Self::over(kind, PathBuf::new())
    }

    fn over(kind: &'static str, remote: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Mutex::new(Inner { kind, remote, ..Inner::default() }));
        let double = Self { address, held: Arc::clone(&inner) };
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let inner = Arc::clone(&inner);
                std::thread::spawn(move || drop(serve(connection, &inner)));
            }
        });
        double
    }

    pub fn inner(&self) -> MutexGuard<'_, Inner> {
        self.held.lock().unwrap()
    }

    /// How many requests and comments there are.
    pub fn sizes(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.pulls.len(), inner.comments.len())
    }

    /// Requests since the last call that changed something, as `METHOD PATH`.
    pub fn written(&self) -> Vec<String> {
        let asked = std::mem::take(&mut self.inner().asked);
        assert!(asked.iter().all(|one| one.key.ends_with(TOKEN)), "{asked:?}");
        let writes = asked.into_iter().filter(|one| one.method != "GET");
        writes.map(|one| format!("{} {}", one.method, one.path)).collect()
    }

    /// The address of the interface.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gives `pr` to brain `a` of a world, with settings for this forge.
    pub fn pr(&self, world: &World, args: &[&str]) -> Answer {
        let kind = format!("forge.kind={}", self.inner().kind);
        let (url, dir) = (format!("forge.url={}", self.url()), world.dir("a").display().to_string());
        let settings = ["-C", &dir, "--json", "-c", &kind, "-c", &url, "-c", "forge.repository=ann/brain"];
        let short = ["-c", "forge.timeout_ms=4000", "pr"];
        world.sandbox.brain(&[&settings[..], &short[..], args].concat())
    }
}

/// A world with the token in the environment.
pub fn world(variable: &str) -> World {
    let world = World { sandbox: Sandbox::empty().with(variable, TOKEN) };
    world.git(".", &["init", "-q", "--bare", "-b", "main", "remote.git"]);
    world.first();
    world
}

/// A run that waits for review: its branch.
pub fn held(world: &World, text: &str) -> String {
    world.json("a", &["feed", "--origin", "stranger:x", text]);
    let all =
        world.git("a", &["for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads/agents"]);
    all.lines().max_by_key(|name| name.rsplit('/').next().unwrap().to_owned()).expect("a branch").to_owned()
}

fn serve(connection: TcpStream, inner: &Mutex<Inner>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut out = connection;
    loop {
        let (mut line, mut length, mut key) = (String::new(), 0, String::new());
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line)?;
            let (name, value) = line.split_once(':').unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => key = value.trim().to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let asked = Asked { method, path, key, body };
        let (manner, answer) = {
            let mut inner = inner.lock().unwrap();
            inner.asked.push(asked.clone());
            match inner.manners.pop_front() {
                Some(manner) => (manner, None),
                None => (Manner::Hangs, Some(inner.answer(&asked))),
            }
        };
        if let Some((code, headers, value)) = answer {
            let body = value.to_string();
            let head = format!("HTTP/1.1 {code} X\r\ncontent-type: application/json\r\n{headers}");
            out.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
            continue;
        }
        match manner {
            Manner::Sends(text) => out.write_all(text.as_bytes())?,
            Manner::Floods(bytes) => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[\"")?;
                (0..bytes / 1024).try_for_each(|_| out.write_all(&[b'x'; 1024]))?;
                out.write_all(b"\"]")?;
                return Ok(());
            }
            Manner::Drips => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n[")?;
                loop {
                    out.write_all(b" ")?;
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            }
            Manner::Hangs => {
                while reader.read_line(&mut line)? > 0 {}
                return Ok(());
            }
        }
    }
}

type Reply = (u16, String, Value);

impl Inner {
    fn answer(&mut self, asked: &Asked) -> Reply {
        self.hear();
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if let Some((_, value)) = self.others.iter().find(|(end, _)| path.ends_with(end)) {
            return (200, String::new(), value.clone());
        }
        match self.kind {
            "gitlab" => self.gitlab(&asked.method, &parts, query, &asked.body),
            _ => self.github(&asked.method, &parts, query, &asked.body),
        }
    }

    /// Takes in what the hooks have written.
    fn hear(&mut self) {
        let text = std::fs::read_to_string(self.remote.join("pushed")).unwrap_or_default();
        for line in text.lines().skip(self.read) {
            let fields: Vec<&str> = line.split('\t').collect();
            let said = |name: &str| fields[2..].iter().find_map(|option| option.strip_prefix(name)).map(str::to_owned);
            let commit = fields[1].to_owned();
            if let Some(base) = fields[0].strip_prefix("refs/for/") {
                let topic = said("topic=").expect("a topic");
                match self.pulls.iter_mut().find(|pull| pull.head == topic) {
                    Some(pull) => {
                        assert_ne!(pull.commit.as_deref(), Some(commit.as_str()), "a forge refuses the same commit");
                        pull.commit = Some(commit);
                    }
                    None => {
                        let body = said("description=").unwrap_or_default();
                        self.open(said("title=").unwrap_or_default(), body, topic, base.to_owned());
                        self.pulls.last_mut().unwrap().commit = Some(commit);
                    }
                }
            } else if fields[2..].contains(&"merge_request.create") {
                let body = said("merge_request.description=").unwrap_or_default().replace("\\n", "\n");
                let head = fields[0].strip_prefix("refs/heads/").unwrap().to_owned();
                let base = said("merge_request.target=").expect("a target");
                self.open(said("merge_request.title=").unwrap_or_default(), body, head, base);
            }
        }
        self.read = text.lines().count();
    }

    fn open(&mut self, title: String, body: String, head: String, base: String) -> Pull {
        let number = self.pulls.len() as u64 + 1;
        let pull = Pull { number, title, body, head, commit: None, base, state: "open", author: ACCOUNT.to_owned() };
        self.pulls.push(pull.clone());
        pull
    }

    fn sha(&self, pull: &Pull) -> Option<String> {
        let tip = || {
            let name = format!("refs/heads/{}", pull.head);
            let mut git = std::process::Command::new("git");
            let said =
                git.arg("--git-dir").arg(&self.remote).args(["rev-parse", "--verify", "-q", &name]).output().unwrap();
            said.status.success().then(|| String::from_utf8(said.stdout).unwrap().trim().to_owned())
        };
        pull.commit.clone().or_else(tip)
    }

    fn github(&mut self, method: &str, parts: &[&str], query: &str, body: &Value) -> Reply {
        let parts = if parts.starts_with(&["repos", "ann", "brain"]) { &parts[3..] } else { parts };
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        match (method, parts) {
            ("GET", ["user"]) => (200, String::new(), json!({"login": ACCOUNT, "id": 1})),
            ("GET", ["pulls"]) => {
                let is_open = query.contains("state=open");
                let head = query.split('&').find_map(|part| part.strip_prefix("head=ann:"));
                let fits = |pull: &&Pull| {
                    (query.contains("state=all") || is_open == (pull.state == "open"))
                        && head.is_none_or(|head| head == pull.head)
                };
                let found = self.pulls.iter().filter(fits).map(|pull| self.pull(pull)).collect();
                page(found, query)
            }
            ("POST", ["pulls"]) => {
                let (head, base) = (text("head"), text("base"));
                if self.pulls.iter().any(|pull| pull.head == head && pull.state == "open") {
                    let errors = json!([{"message": "A pull request already exists"}]);
                    return (422, String::new(), json!({"message": "Validation Failed", "errors": errors}));
                }
                let pull = self.open(text("title"), text("body"), head, base);
                match self.sha(&pull) {
                    Some(_) => (201, String::new(), self.pull(&pull)),
                    None => (422, String::new(), json!({"message": "Validation Failed: head"})),
                }
            }
            ("PATCH", ["pulls", number]) => {
                let at = number.parse::<usize>().unwrap() - 1;
                if body["state"] == "closed" {
                    self.pulls[at].state = "closed";
                } else {
                    (self.pulls[at].title, self.pulls[at].body) = (text("title"), text("body"));
                }
                (200, String::new(), self.pull(&self.pulls[at]))
            }
            ("POST", ["pulls", number, "merge"]) if self.kind != "github" => {
                let at = number.parse::<usize>().unwrap() - 1;
                if self.kind == "gitea" {
                    return (405, String::new(), json!({"message": "manual merges are not allowed"}));
                }
                let is = (body["Do"].as_str(), body["MergeCommitID"].as_str());
                assert_eq!(is, (Some("manually-merged"), self.pulls[at].commit.as_deref()));
                self.pulls[at].state = "merged";
                (200, String::new(), Value::Null)
            }
            ("GET", ["issues", _, "comments"]) => {
                let one = |c: &Comment| json!({"id": c.id, "body": c.body, "user": {"login": c.author}});
                page(self.comments.iter().map(one).collect(), query)
            }
            ("POST", ["issues", _, "comments"]) => self.commented(text("body")),
            ("PATCH", ["issues", "comments", id]) => self.changed(id, text("body")),
            ("GET", ["pulls", _, "reviews"]) => page(self.reviews.clone(), query),
            ("GET", ["commits", commit, "check-runs"]) => {
                let of = |run: &&Value| run["head_sha"] == *commit;
                (200, String::new(), json!({"check_runs": self.check_runs.iter().filter(of).collect::<Vec<_>>()}))
            }
            ("POST", ["check-runs"]) => {
                let mut body = body.clone();
                body["id"] = json!(self.check_runs.len() + 1);
                self.check_runs.push(body.clone());
                (201, String::new(), body)
            }
            ("PATCH", ["check-runs", id]) => {
                let at = id.parse::<usize>().unwrap() - 1;
                let mut body = body.clone();
                body["id"] = json!(at + 1);
                self.check_runs[at] = body.clone();
                (200, String::new(), body)
            }
            ("GET", ["commits", _, "statuses"] | ["statuses", _]) => page(self.statuses.clone(), query),
            ("POST", ["statuses", _]) if self.takes_no_status => {
                (403, String::new(), json!({"message": "token lacks the scope"}))
            }
            ("POST", ["statuses", _]) => {
                let mut body = body.clone();
                if self.kind != "github" {
                    body["status"] = body["state"].take();
                    body.as_object_mut().unwrap().remove("state");
                }
                self.statuses.insert(0, body.clone());
                (201, String::new(), body)
            }
            _ => (404, String::new(), json!({"message": "Not Found"})),
        }
    }

    fn pull(&self, pull: &Pull) -> Value {
        // Of a request by AGit the forges do not tell the topic.
        let (head, name) =
            if pull.commit.is_some() { ("", "refs/pull/1/head") } else { (pull.head.as_str(), pull.head.as_str()) };
        let label = if self.kind == "github" { format!("ann:{head}") } else { head.to_owned() };
        json!({
            "number": pull.number, "title": pull.title, "body": pull.body, "state": if pull.state == "open" { "open" } else { "closed" },
            "merged_at": if pull.state == "merged" { json!("2026-01-26T14:32:00Z") } else { Value::Null },
            "html_url": format!("https://forge.example/ann/brain/pulls/{}", pull.number),
            "user": {"login": pull.author, "id": 1}, "draft": false,
            "head": {"label": label, "ref": name, "sha": self.sha(pull).unwrap_or_default()}, "base": {"ref": pull.base, "sha": "0"},
        })
    }

    fn commented(&mut self, body: String) -> Reply {
        let id = self.comments.len() as u64 + 100;
        self.comments.push(Comment { id, author: ACCOUNT.to_owned(), body });
        (201, String::new(), json!({ "id": id }))
    }

    fn changed(&mut self, id: &str, body: String) -> Reply {
        let comment = self.comments.iter_mut().find(|comment| comment.id.to_string() == id).expect("a comment");
        comment.body = body;
        (200, String::new(), json!({ "id": comment.id }))
    }

    fn gitlab(&mut self, method: &str, parts: &[&str], query: &str, body: &Value) -> Reply {
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        if parts == ["user"] {
            return (200, String::new(), json!({"username": ACCOUNT, "id": 1}));
        }
        assert_eq!(parts[..2], ["projects", "ann%2Fbrain"], "{parts:?}");
        match (method, &parts[2..]) {
            ("GET", ["merge_requests"]) => {
                let head = query.split('&').find_map(|part| part.strip_prefix("source_branch="));
                let fits = |pull: &&Pull| head.is_none_or(|head| head == pull.head);
                page(self.pulls.iter().filter(fits).map(|pull| self.merge_request(pull)).collect(), query)
            }
            ("POST", ["merge_requests"]) => {
                let pull = self.open(text("title"), text("description"), text("source_branch"), text("target_branch"));
                (201, String::new(), self.merge_request(&pull))
            }
            ("PUT", ["merge_requests", number]) => {
                let at = number.parse::<usize>().unwrap() - 1;
                if body["state_event"] == "close" {
                    self.pulls[at].state = "closed";
                } else {
                    (self.pulls[at].title, self.pulls[at].body) = (text("title"), text("description"));
                }
                (200, String::new(), self.merge_request(&self.pulls[at]))
            }
            ("GET", ["merge_requests", _, "notes"]) => {
                let one = |c: &Comment| {
                    let system = c.body.starts_with("approved this") || c.body.starts_with("requested changes");
                    json!({"id": c.id, "body": c.body, "system": system, "author": {"username": c.author},
                        "created_at": format!("2026-01-26T14:{:02}:00.000Z", c.id % 60)})
                };
                page(self.comments.iter().map(one).collect(), query)
            }
            ("POST", ["merge_requests", _, "notes"]) => self.commented(text("body")),
            ("PUT", ["merge_requests", _, "notes", id]) => self.changed(id, text("body")),
            ("GET", ["repository", "commits", _, "statuses"]) => page(self.statuses.clone(), query),
            ("POST", ["statuses", _]) => {
                let status = json!({"status": body["state"], "name": body["name"], "description": body["description"]});
                if self.statuses.first() == Some(&status) {
                    return (400, String::new(), json!({"message": "Cannot transition status"}));
                }
                self.statuses.insert(0, status.clone());
                (201, String::new(), status)
            }
            _ => (404, String::new(), json!({"message": "404 Not Found"})),
        }
    }

    fn merge_request(&self, pull: &Pull) -> Value {
        json!({
            "iid": pull.number, "title": pull.title, "description": pull.body, "source_branch": pull.head,
            "state": if pull.state == "open" { "opened" } else { pull.state }, "target_branch": pull.base, "sha": self.sha(pull),
            "web_url": format!("https://forge.example/ann/brain/-/merge_requests/{}", pull.number),
            "author": {"username": pull.author}, "source_project_id": 7, "target_project_id": 7,
        })
    }
}

/// Two entries of a list, and the link to the next two. It names another host, which nobody must ask.
fn page(all: Vec<Value>, query: &str) -> Reply {
    let at: usize =
        query.split('&').find_map(|part| part.strip_prefix("page=")).map_or(1, |page| page.parse().unwrap());
    let rest = query.split('&').filter(|part| !part.starts_with("page=")).collect::<Vec<_>>().join("&");
    let header = match all.len() > at * 2 {
        true => format!("link: <http://other.invalid/x?page={}&{rest}>; rel=\"next\"\r\n", at + 1),
        false => String::new(),
    };
    (200, header, all.into_iter().skip((at - 1) * 2).take(2).collect())
}
