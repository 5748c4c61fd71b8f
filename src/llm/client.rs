//! The one HTTP client: rustls with ring, no redirect, no proxy, nothing of the machine's settings.

use reqwest::Url;

use super::reason;

/// A client for an address. Where nothing is encrypted, the machine's certificates are not read.
pub(crate) fn client(url: &Url) -> Result<reqwest::Client, String> {
    // Another part of the process may have chosen one before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = reqwest::Client::builder()
        .user_agent(concat!("git-brain/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    if url.scheme() == "http" {
        let none = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty());
        client = client.tls_backend_preconfigured(none.with_no_client_auth());
    }
    client.build().map_err(|e| reason(&e))
}
