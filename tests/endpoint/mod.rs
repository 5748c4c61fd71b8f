//! A scripted endpoint of OpenAI's chat protocol on this machine, in threads of the test: what it is asked is kept, and it answers
//! by script, faults included.

pub mod request;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What the endpoint does with a request.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Answers with this text, and the newest signal that it was told of in place of `@SIGNAL@`.
    Says(String),
    /// Calls a tool: its name, and its arguments.
    Calls(&'static str, Value),
    /// Streams this again and again, until nobody reads it.
    Streams(String),
    /// The same, as thoughts that are no part of the answer.
    Thinks(String),
    /// Sends this, as it stands.
    Sends(String),
    /// Reads and says nothing.
    Hangs,
    /// Says that an answer comes, and sends none of it.
    HalfOpen,
    /// Begins an answer, then one byte now and then.
    Drips,
    /// Closes the connection in the middle of an answer.
    Cuts,
    /// An answer of a hundred megabytes.
    Floods,
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// The value of `authorization`.
    pub key: String,
    /// The body.
    pub body: Value,
}

/// The endpoint.
pub struct Endpoint {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    script: Arc<Mutex<(VecDeque<Manner>, Manner)>>,
    left: Arc<AtomicBool>,
}

impl Endpoint {
    /// One that answers by the script, and then always as the last line says.
    pub fn new(script: &[Manner]) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let left: Arc<AtomicBool> = Arc::default();
        let last = script.last().expect("a script").clone();
        let script = Arc::new(Mutex::new((script.iter().cloned().collect::<VecDeque<Manner>>(), last)));
        let shared = (Arc::clone(&asked), Arc::clone(&script), Arc::clone(&left));
        // A client may go away at any moment.
        let address = request::listen(move |connection| drop(serve(connection, &shared.0, &shared.1, &shared.2)));
        Self { address: address.unwrap(), asked, script, left }
    }

    /// A new script.
    pub fn behaves(&self, script: &[Manner]) {
        let last = script.last().expect("a script").clone();
        *self.script.lock().unwrap() = (script.iter().cloned().collect(), last);
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What was asked since the last call.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Endpoint {
    /// Waits until whoever was streamed to, or waited for an answer, has gone away. It hangs if nobody does.
    pub fn is_left(&self) -> bool {
        while !self.left.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        true
    }
}

type Script = Mutex<(VecDeque<Manner>, Manner)>;

fn serve(connection: TcpStream, asked: &Mutex<Vec<Asked>>, script: &Script, left: &AtomicBool) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut out = connection;
    loop {
        let Some(request::Request { line, key, body, .. }) = request::read(&mut reader)? else { return Ok(()) };
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut line, key) = (String::new(), key.unwrap_or_default());
        let streamed = body["stream"] == true;
        let signal = signal_in(&body.to_string());
        asked.lock().unwrap().push(Asked { path, key, body });
        let manner = {
            let mut script = script.lock().unwrap();
            let (next, last) = &mut *script;
            next.pop_front().unwrap_or_else(|| last.clone())
        };
        let manner = match manner {
            Manner::Says(text) => Manner::Says(text.replace("@SIGNAL@", &signal)),
            other => other,
        };
        match manner {
            Manner::Says(text) if streamed => out.write_all(streaming(&text).as_bytes())?,
            Manner::Says(text) => out.write_all(whole(&json!({"role": "assistant", "content": text})).as_bytes())?,
            Manner::Calls(name, arguments) if streamed => {
                let call = json!({"index": 0, "id": "call-1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
                out.write_all(events(vec![json!({"tool_calls": [call]})], "tool_calls").as_bytes())?;
            }
            Manner::Calls(name, arguments) => {
                let call = json!({"id": "call-1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
                out.write_all(whole(&json!({"role": "assistant", "content": null, "tool_calls": [call]})).as_bytes())?;
            }
            Manner::Streams(ref text) | Manner::Thinks(ref text) => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
                let part = if matches!(manner, Manner::Thinks(_)) { "reasoning_content" } else { "content" };
                let event = json!({"choices": [{"index": 0, "delta": {part: text}}]});
                while out.write_all(format!("data: {event}\n\n").as_bytes()).is_ok() {}
                left.store(true, Ordering::SeqCst);
                return Ok(());
            }
            Manner::Sends(text) => out.write_all(text.as_bytes())?,
            // Waits until the other side has closed the connection.
            Manner::Hangs => {
                while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {}
                left.store(true, Ordering::SeqCst);
                return Ok(());
            }
            Manner::HalfOpen => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n")?;
                let _ = reader.read_line(&mut line)?;
            }
            Manner::Drips => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{")?;
                loop {
                    out.write_all(b" ")?;
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
            }
            Manner::Cuts => {
                let answer = if streamed { streaming("{\"ops\": []}") } else { whole(&json!({"content": "x"})) };
                out.write_all(&answer.as_bytes()[..answer.len() * 2 / 3])?;
                return Ok(());
            }
            Manner::Floods => {
                out.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
                )?;
                let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
                for _ in 0..100 {
                    out.write_all(chunk.as_bytes())?;
                }
                out.write_all(b"0\r\n\r\n")?;
            }
        }
    }
}

/// The newest signal that a request tells of.
fn signal_in(body: &str) -> String {
    let told = body.rsplit("signal g-").next().filter(|rest| rest.len() < body.len());
    told.map_or(String::new(), |rest| format!("g-{}", &rest[..rest.find(' ').unwrap_or(0)]))
}

/// An answer with a status and a body.
pub fn status(line: &str, headers: &str, body: &str) -> Manner {
    let length = body.len();
    Manner::Sends(format!(
        "HTTP/1.1 {line}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    ))
}

fn whole(message: &Value) -> String {
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let body = json!({
        "id": "x", "object": "chat.completion", "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    let body = body.to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn streaming(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let part = |part: &[char]| json!({"content": part.iter().collect::<String>()});
    events(letters.chunks(7).map(part).collect(), "stop")
}

fn events(deltas: Vec<Value>, finish: &str) -> String {
    let mut body = String::new();
    let mut event = |value: Value| body.push_str(&format!("data: {value}\n\n"));
    deltas.into_iter().for_each(|delta| event(json!({"choices": [{"index": 0, "delta": delta}]})));
    event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}],
                 "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}));
    body.push_str("data: [DONE]\n\n");
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
