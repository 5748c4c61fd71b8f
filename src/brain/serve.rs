//! What a front door that serves a brain to other programs is given by the one that starts it, and how it opens the brain.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::client::{Client, Desk};
use super::{Asks, Brain, BrainError, ChatAnswer, ChatEvent, ChatRequest, CiRequest, Confirmations, Override, World};
use crate::model::Origin;

/// The origin of what comes in by HTTP: tainted until somebody says otherwise in `[origins]`.
const ORIGIN: &str = "http";
/// Shortest token that nobody guesses, characters.
const STRONG_TOKEN: usize = 16;

/// A brain to serve, and where.
#[derive(Clone, Debug)]
pub struct Serving {
    dir: PathBuf,
    world: World,
    flags: Vec<Override>,
    confirmations: Confirmations,
    addr: SocketAddr,
    token: String,
    made: bool,
    webhook: Option<String>,
    allowed_hosts: Vec<String>,
}

/// What a server says once it listens.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Listening {
    /// Where it listens.
    pub address: String,
    /// The address for a browser: with the token, if it was made for this server.
    pub page: String,
    /// The token for programs, by which nothing is decided.
    pub programs: String,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to.
    Asked,
    /// Somebody interrupted it at the terminal.
    Interrupted,
}

/// A front door that serves until it is stopped, and tells once where it listens.
pub type Server = fn(Serving, &mut dyn FnMut(&Listening)) -> Result<Ended, BrainError>;

/// The front doors that a command opens: they do not know each other.
#[derive(Clone, Copy, Debug)]
pub struct Doors {
    /// HTTP, for `serve`.
    pub serve: Server,
    /// The Model Context Protocol on standard input and output, for `mcp`; the client, if it is named.
    pub speak: fn(Desk, Option<Client>) -> Result<Ended, BrainError>,
}

impl Serving {
    /// The brain around a folder, at an address of this machine, for whoever has the token that `BRAIN_TOKEN` holds, or else a
    /// new one.
    ///
    /// # Errors
    /// An address that is none (exit code 2), or that other machines can reach (3); a token that no header can carry (2); no brain.
    pub fn new(dir: PathBuf, world: World, flags: Vec<Override>, addr: &str) -> Result<Self, BrainError> {
        let addr = loopback(addr)?;
        Brain::open(&dir, world.clone(), &flags)?;
        let given = world.token();
        let made = given.is_none();
        let token = match given {
            Some(token) => token,
            None => world.secret()?,
        };
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BrainError::usage("BRAIN_TOKEN has characters that no header can carry"));
        }
        let webhook = world.webhook_secret();
        if webhook.as_ref().is_some_and(|secret| secret.len() < STRONG_TOKEN) {
            return Err(BrainError::Refused {
                message: format!("BRAIN_WEBHOOK_SECRET has less than {STRONG_TOKEN} characters, and can be guessed"),
                hint: Some("`openssl rand -hex 32` makes one".to_owned()),
            });
        }
        Ok(Self {
            dir,
            world,
            flags,
            confirmations: Confirmations::default(),
            addr,
            token,
            made,
            webhook,
            allowed_hosts: Vec::new(),
        })
    }

    /// The same for requests that name other hosts as well: those of proxies on this machine, each a name, with or without a port.
    ///
    /// # Errors
    /// A name that is none (exit code 2).
    pub fn allowing(self, hosts: Vec<String>) -> Result<Self, BrainError> {
        let is_name = |host: &&String| {
            let (name, port) = host.split_once(':').unwrap_or((host, "1"));
            let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            name.split('.').all(is_part) && port.parse::<u16>().is_ok()
        };
        if let Some(host) = hosts.iter().find(|host| !is_name(host)) {
            return Err(BrainError::Usage {
                message: format!("--allowed-host {host:?} is no name of a host"),
                hint: Some("such as brain.example.org or brain.example.org:8443, without http://".to_owned()),
            });
        }
        Ok(Self { allowed_hosts: hosts, ..self })
    }

    /// Names of hosts by which a proxy may ask, beside the address itself.
    #[must_use]
    pub fn allowed_hosts(&self) -> &[String] {
        &self.allowed_hosts
    }

    /// The brain for clients of the tool protocol.
    #[must_use]
    pub fn desk(&self) -> Desk {
        Desk::new(self.dir.clone(), self.world.clone(), self.flags.clone())
    }

    /// Where to listen.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What whoever asks has to show.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The token for programs: it follows from the other one, and says nothing of it.
    #[must_use]
    pub fn programs_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(format!("git-brain programs\0{}", self.token)))
    }

    /// The secret by which forges sign what they send; none: nothing is taken from them.
    #[must_use]
    pub fn webhook_secret(&self) -> Option<&str> {
        self.webhook.as_deref()
    }

    /// Lets the bot look what happened at the remote and on the forge; what it did, in a sentence.
    ///
    /// # Errors
    /// Those of [`Brain::ci`].
    pub fn look_around(&self) -> Result<String, BrainError> {
        let report = self.brain()?.ci(&CiRequest::default())?;
        let decided = report.runs.iter().filter(|run| run.decided.is_some()).count();
        Ok(format!("{} merged, {} decided, {} waiting", report.merged.len(), decided, report.runs.len() - decided))
    }

    /// Whether the token is one that can be guessed.
    #[must_use]
    pub fn has_weak_token(&self) -> bool {
        self.token.len() < STRONG_TOKEN
    }

    /// What to say once it listens at that address.
    #[must_use]
    pub fn listening(&self, addr: SocketAddr) -> Listening {
        let address = format!("http://{addr}/");
        let page = if self.made { format!("{address}#token={}", self.token) } else { address.clone() };
        Listening { address, page, programs: self.programs_token() }
    }

    /// What waits for a person, in all requests.
    #[must_use]
    pub fn confirmations(&self) -> &Confirmations {
        &self.confirmations
    }

    /// Opens the brain for one request: settings, agents and trust may have changed since the last one.
    ///
    /// # Errors
    /// The brain cannot be opened.
    pub fn brain(&self) -> Result<Brain, BrainError> {
        let brain = Brain::open(&self.dir, self.world.clone(), &self.flags)?;
        Ok(brain.sharing(self.confirmations.clone()))
    }

    /// Answers a message that came in by HTTP.
    ///
    /// # Errors
    /// Those of [`Brain::chat_with`].
    pub fn chat(
        &self,
        request: &ChatRequest,
        hear: &mut dyn FnMut(ChatEvent) -> ControlFlow<()>,
    ) -> Result<ChatAnswer, BrainError> {
        let brain = self.brain()?;
        let origin = Origin::parse(ORIGIN).expect("invariant: it is an origin");
        let mut models = brain.cycle.asking()?;
        let models: &mut dyn Asks = &mut models;
        brain.chat_with(request, &origin, models, hear)
    }
}

/// An address of this machine that no other machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, BrainError> {
    let plain = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let addr: SocketAddr = plain.as_deref().unwrap_or(text).parse().map_err(|_| BrainError::Usage {
        message: format!("{text:?} is no address"),
        hint: Some("such as 127.0.0.1:7433; port 0 takes any that is free".to_owned()),
    })?;
    if !addr.ip().is_loopback() {
        return Err(BrainError::Refused {
            message: format!("{addr} can be reached from other machines; the server has no encryption and one token"),
            hint: Some("listen at 127.0.0.1, and forward the port: ssh -L 7433:127.0.0.1:7433 HOST".to_owned()),
        });
    }
    Ok(addr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_to() {
        for good in ["127.0.0.1:0", "localhost:7433", "[::1]:80", "127.8.8.8:1"] {
            assert!(loopback(good).is_ok(), "{good}");
        }
        for (bad, code) in [
            ("0.0.0.0:80", 3),
            ("[::]:80", 3),
            ("192.168.1.4:80", 3),
            ("[::ffff:10.0.0.1]:80", 3),
            ("127.0.0.1", 2),
            ("localhost", 2),
            ("example.org:80", 2),
            (":80", 2),
            ("127.0.0.1:70000", 2),
        ] {
            assert_eq!(loopback(bad).unwrap_err().exit_code(), code, "{bad}");
        }
    }
}
