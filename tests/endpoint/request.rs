//! Connections and requests of HTTP as scripted endpoints take them, in tests and in benchmarks.

use std::io::{BufRead, Error, ErrorKind, Result};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::Value;

/// A request.
pub struct Request {
    /// Its first line.
    pub line: String,
    /// The value of `authorization`.
    pub key: Option<String>,
    /// The body.
    pub body: Value,
}

/// Serves every connection to a free port of this machine in a thread of its own, until the process ends.
pub fn listen(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            std::thread::spawn(move || serve(connection));
        }
    });
    Ok(address)
}

/// The next request of a connection; `None` at its end.
pub fn read(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let bad = |error: String| Error::new(ErrorKind::InvalidData, error);
    let (mut first, mut key, mut length) = (String::new(), None, 0);
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| bad(line.clone()))?,
            "authorization" => key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))?;
    Ok(Some(Request { line: first.trim().to_owned(), key, body }))
}
