//! HTTP clients: one for each kind of target, made when it is first needed and then kept, so that
//! connections stay alive between requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};

const CONNECT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The clients of a manager.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transport {
    clients: Arc<Mutex<BTreeMap<Target, Client>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    tls: bool,
    loopback: bool,
}

impl Transport {
    /// The client for an address. Fails where the trust store of the system cannot be read.
    pub fn client(&self, url: &Url) -> Result<Client> {
        let target = Target { tls: url.scheme() == "https", loopback: is_loopback(url) };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&target) {
            return Ok(client.clone());
        }
        let client = build(target)?;
        clients.insert(target, client.clone());
        Ok(client)
    }
}

fn build(target: Target) -> Result<Client> {
    let mut builder = Client::builder()
        .user_agent(concat!("aircoding/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect would carry the key to wherever it points.
        .redirect(Policy::none())
        .referer(false)
        .tcp_keepalive(KEEP_ALIVE)
        .pool_max_idle_per_host(4);
    if target.loopback {
        builder = builder.no_proxy();
    }
    let builder = if target.tls { trust_the_system(builder) } else { trust_nobody(builder)? };
    builder.build().map_err(|error| {
        AirError::new(codes::PROVIDER_NETWORK, format!("the HTTP client cannot be made: {}", cause(error)))
            .hint("https needs certificates: install ca-certificates, or set SSL_CERT_FILE for the daemon")
    })
}

/// TLS by rustls with ring, and the certificates of the system (or of `SSL_CERT_FILE`).
fn trust_the_system(builder: ClientBuilder) -> ClientBuilder {
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    builder.http2_keep_alive_interval(KEEP_ALIVE).http2_keep_alive_timeout(KEEP_ALIVE)
}

/// Plain HTTP: no certificate is loaded, which saves a megabyte and some milliseconds. Should a proxy
/// ask for TLS after all, nobody is trusted and the connection fails.
fn trust_nobody(builder: ClientBuilder) -> Result<ClientBuilder> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| AirError::internal(format!("TLS cannot be set up: {error}")))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

/// Whether an address is this machine: such a server is reached without proxies, and without a key.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An address without what may be secret in it: user information and query.
pub(crate) fn shown_url(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that cannot have user information at all.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// What went wrong with a connection, without the address: it may hold a key.
pub(crate) fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut deepest: &dyn std::error::Error = &error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    if error.is_timeout() { format!("{deepest} (timed out)") } else { deepest.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_recognised_and_secrets_are_cut() {
        let check = |text: &str, loopback: bool, shown: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!((is_loopback(&url), shown_url(&url).as_str()), (loopback, shown), "{text}");
        };
        check("http://127.0.0.1:8080/", true, "http://127.0.0.1:8080");
        check("http://[::1]:1/v1", true, "http://[::1]:1/v1");
        check("https://user:pw@localhost/?key=k", true, "https://localhost");
        check("https://api.anthropic.com", false, "https://api.anthropic.com");
        check("http://127.0.0.1.example.org", false, "http://127.0.0.1.example.org");
    }
}
