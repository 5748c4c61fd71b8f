//! A server of the program under test, and a client that sends exactly what a test says.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::{PROGRAM, Sandbox};

/// The token of a server that a test starts.
pub const TOKEN: &str = "a-token-of-the-tests";

/// A server that runs; it is killed at the end.
pub struct Server {
    child: Child,
    /// What it printed when it was ready.
    pub printed: String,
    /// Host and port.
    pub host: String,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in small letters, and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body, chunks put together.
    pub body: String,
}

impl Response {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The body as events: names and data.
    #[track_caller]
    pub fn events(&self) -> Vec<(String, Value)> {
        let of = |block: &str| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let data = serde_json::from_str(field("data:")?).unwrap_or_else(|e| panic!("{e}: {block}"));
            Some((field("event:")?.to_owned(), data))
        };
        self.body.split("\n\n").filter_map(of).collect()
    }

    /// Fails unless the status is this.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl Server {
    /// Starts one for the sandbox's brain, at a free port, with [`TOKEN`].
    pub fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &[("BRAIN_TOKEN", TOKEN)], &["serve", "--addr", "127.0.0.1:0"])
    }

    /// Starts one for the brain of another folder of the sandbox's world.
    pub fn start_in(sandbox: &Sandbox, dir: &Path) -> Self {
        let dir = dir.display().to_string();
        Self::start_with(sandbox, &[("BRAIN_TOKEN", TOKEN)], &["-C", &dir, "serve", "--addr", "127.0.0.1:0"])
    }

    /// Starts one with other variables and arguments.
    #[track_caller]
    pub fn start_with(sandbox: &Sandbox, variables: &[(&str, &str)], args: &[&str]) -> Self {
        Self::of(sandbox.command(PROGRAM, args), variables)
    }

    /// Starts one that may have so many files open.
    #[track_caller]
    pub fn start_with_files(sandbox: &Sandbox, files: usize) -> Self {
        let limited = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
        let command = sandbox.command("sh", &["-c", &limited, PROGRAM, "serve", "--addr", "127.0.0.1:0"]);
        Self::of(command, &[("BRAIN_TOKEN", TOKEN)])
    }

    #[track_caller]
    fn of(mut command: Command, variables: &[(&str, &str)]) -> Self {
        command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut printed = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut printed).expect("it prints where it listens");
        let address =
            printed.split("http://").nth(1).unwrap_or_else(|| panic!("it said {printed:?}, and {}", said(&mut child)));
        let host = address.split(['/', '"']).next().expect("a host").trim().to_owned();
        Self { child, printed: printed.trim().to_owned(), host }
    }

    /// A request as a well-behaved client makes it.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.ask_accepting("application/json", method, path, body)
    }

    /// The same with what is accepted.
    pub fn ask_accepting(&self, accept: &str, method: &str, path: &str, body: Option<&Value>) -> Response {
        let token = format!("Bearer {TOKEN}");
        let mut headers = vec![("host", self.host.as_str()), ("authorization", &token), ("accept", accept)];
        let text = body.map(Value::to_string).unwrap_or_default();
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        self.send(method, path, &headers, text.as_bytes())
    }

    /// A request with exactly these headers, and those that frame it.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut stream = self.open(method, path, headers, body);
        let mut bytes = Vec::new();
        // Who is refused may be cut off before it has sent all.
        let _ = stream.read_to_end(&mut bytes);
        parsed(&bytes)
    }

    /// The body of what a well-behaved client is answered, as bytes.
    pub fn bytes(&self, method: &str, path: &str) -> Vec<u8> {
        let token = format!("Bearer {TOKEN}");
        let mut stream = self.open(method, path, &[("host", &self.host), ("authorization", &token)], b"");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let body = bytes.windows(4).position(|at| at == b"\r\n\r\n").expect("a head") + 4;
        assert!(bytes.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&bytes[..body]));
        bytes.split_off(body)
    }

    /// The connection after a message was sent to it, with nothing read.
    pub fn say(&self, accept: &str, message: &Value) -> TcpStream {
        let token = format!("Bearer {TOKEN}");
        let headers = [
            ("host", self.host.as_str()),
            ("authorization", &token),
            ("content-type", "application/json"),
            ("accept", accept),
        ];
        self.open("POST", "/chat", &headers, message.to_string().as_bytes())
    }

    /// The connection after a request was sent, with nothing read.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        let _ = stream.write_all(body);
        stream
    }

    /// Sends a signal, waits for the end, and says how it ended.
    pub fn stop(mut self, signal: &str) -> i32 {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().expect("kill").success());
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(child: &mut Child) -> String {
    let _ = child.kill();
    let mut text = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut text);
    }
    text
}

fn parsed(bytes: &[u8]) -> Response {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok()).unwrap_or(0);
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { unchunked(body.as_bytes()) } else { body.to_owned() };
    Response { status, headers, body }
}

fn unchunked(mut rest: &[u8]) -> String {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let (Some(size), from) = (size.filter(|size| *size > 0), end + 2) else { break };
        body.extend_from_slice(&rest[from..(from + size).min(rest.len())]);
        rest = rest.get(from + size + 2..).unwrap_or_default();
    }
    String::from_utf8_lossy(&body).into_owned()
}
