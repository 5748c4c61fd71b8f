//! An endpoint of OpenAI's chat protocol inside a benchmark: it answers at once, by a function of what it is asked, and notes when it
//! was asked and when it had answered.

#[path = "../../tests/endpoint/request.rs"]
#[allow(dead_code, reason = "tests read the first line and the key")]
mod request;

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

/// What a model does.
pub enum Does {
    /// Says this.
    Says(String),
    /// Calls a tool with arguments.
    Calls(&'static str, Value),
}

/// One exchange.
pub struct Exchange {
    /// When the request was read to its end.
    pub asked: Instant,
    /// When the last byte of the answer was written.
    pub answered: Instant,
    /// The tool that was called; empty for a text.
    pub called: &'static str,
}

type Behaviour = dyn Fn(&Value) -> Does + Send + Sync;

/// The endpoint; its threads end with the process.
pub struct Endpoint {
    address: SocketAddr,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

impl Endpoint {
    pub fn start(behaviour: impl Fn(&Value) -> Does + Send + Sync + 'static) -> Result<Self> {
        let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
        let (noted, behaviour): (_, Arc<Behaviour>) = (Arc::clone(&exchanges), Arc::new(behaviour));
        // A client goes away when its answer is there.
        let address = request::listen(move |connection| drop(serve(connection, &*behaviour, &noted)))?;
        Ok(Self { address, exchanges })
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The exchanges since the last call.
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.exchanges.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(connection: TcpStream, behaviour: &Behaviour, noted: &Mutex<Vec<Exchange>>) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut out = connection;
    loop {
        let Some(request::Request { body, .. }) = request::read(&mut reader)? else { return Ok(()) };
        let asked = Instant::now();
        let does = behaviour(&body);
        let (delta, finish, called) = match does {
            Does::Says(text) => (json!({"content": text}), "stop", ""),
            Does::Calls(name, arguments) => {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call = json!({"index": 0, "id": "call-1", "type": "function", "function": function});
                (json!({"tool_calls": [call]}), "tool_calls", name)
            }
        };
        let length = body.to_string().len();
        let usage = json!({"prompt_tokens": length / 4, "completion_tokens": 20, "total_tokens": length / 4 + 20});
        let first = json!({"choices": [{"index": 0, "delta": delta}]});
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage});
        let text = format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n");
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", text.len());
        out.write_all((head + &text).as_bytes())?;
        let exchange = Exchange { asked, answered: Instant::now(), called };
        noted.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
    }
}
