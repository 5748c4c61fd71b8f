//! Serving a brain to browsers and programs of this machine.

use clap::Args;

/// `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address to listen at: one of this machine that no other one can reach, and a port; 0 is any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7433")]
    pub addr: String,
    /// The name of a host by which a proxy on this machine may ask; may be given several times.
    #[arg(long, value_name = "HOST")]
    pub allowed_host: Vec<String>,
}

/// `mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// The client's name, whatever it says of itself.
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
}
