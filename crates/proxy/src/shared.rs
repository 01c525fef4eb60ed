//! What all connections of a gateway share.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use http::Request;
use http_body_util::combinators::UnsyncBoxBody;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Builder, Client, ResponseFuture, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{ClientConfig, crypto::ring};
use tokio::sync::Semaphore;
use wiremend_exchange::Exchanges;

use crate::{
    config::{Config, Upstream},
    live::Live,
    log::Log,
    metrics::Metrics,
    recent::Recent,
    timed::BoxError,
};

pub(crate) type Outgoing = UnsyncBoxBody<Bytes, BoxError>;

/// Connections of a thread to one provider that wait to be used again.
const IDLE_CONNECTIONS: usize = 64;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    /// The longest prefix first.
    pub(crate) upstreams: Vec<Upstream>,
    /// What is mended in the exchanges with each of them.
    pub(crate) exchanges: Vec<Exchanges>,
    /// How providers are encrypted, if one is.
    encryption: Option<ClientConfig>,
    pub(crate) metrics: Metrics,
    pub(crate) recent: Recent,
    pub(crate) live: Live,
    pub(crate) log: Log,
    pub(crate) open: Arc<Semaphore>,
    pub(crate) draining: AtomicBool,
    /// Whether clients reach it only from this machine.
    pub(crate) on_loopback: AtomicBool,
}

impl Shared {
    pub(crate) fn new(config: Config) -> io::Result<Self> {
        let limits = *config.limits();
        let mut upstreams = config.upstreams().to_vec();
        upstreams.sort_by_key(|upstream| core::cmp::Reverse(upstream.prefix().len()));
        let encrypted = upstreams.iter().any(Upstream::is_https);
        let encryption = encrypted.then(encryption).transpose()?;
        let exchanges = Exchanges::new(config.mending().clone())
            .with_held_bytes(limits.held_bytes())
            .with_content_recorded(config.record().content);
        let own = |upstream: &Upstream| upstream.mending(config.mending());
        let exchanges = upstreams.iter().map(|one| exchanges.clone().with_mending(own(one)));
        Ok(Self {
            exchanges: exchanges.collect(),
            upstreams,
            encryption,
            metrics: Metrics::default(),
            recent: Recent::new(config.record().answers),
            live: Live::new(config.record().content),
            log: Log::default(),
            open: Arc::new(Semaphore::new(limits.open_answers().min(Semaphore::MAX_PERMITS))),
            draining: AtomicBool::new(false),
            on_loopback: AtomicBool::new(false),
            config,
        })
    }

    /// The bytes that the head of a request or of an answer may have.
    pub(crate) fn longest_head(&self) -> usize {
        self.config.limits().head_bytes().max(LEAST_HEAD)
    }

    /// Room for what a request or an answer holds.
    pub(crate) fn held(self: &Arc<Self>) -> Held {
        Held { shared: Arc::clone(self), bytes: 0 }
    }
}

/// Checks the certificates of providers by the list of the system.
fn encryption() -> io::Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(config.with_native_roots()?.with_no_client_auth())
}

/// The connections to the providers. Each thread has its own: the task of a connection stays in the runtime in which it
/// began.
pub(crate) enum Providers {
    /// Where none is encrypted, none has room for a state of encryption, and there may be no certificates.
    Plain(Client<HttpConnector, Outgoing>),
    Encrypted(Client<HttpsConnector<HttpConnector>, Outgoing>),
}

impl Providers {
    pub(crate) fn new(shared: &Shared) -> Self {
        let limits = shared.config.limits();
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.set_connect_timeout(Some(limits.connect()));
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(limits.head())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(shared.longest_head());
        let Some(encryption) = shared.encryption.clone() else {
            return Self::Plain(builder.build(http));
        };
        http.enforce_http(false);
        let connector = HttpsConnectorBuilder::new().with_tls_config(encryption);
        let connector = connector.https_or_http().enable_http1().wrap_connector(http);
        Self::Encrypted(builder.build(connector))
    }

    pub(crate) fn request(&self, request: Request<Outgoing>) -> ResponseFuture {
        match self {
            Self::Plain(client) => client.request(request),
            Self::Encrypted(client) => client.request(request),
        }
    }
}

/// The smallest limit for a head that the server has.
const LEAST_HEAD: usize = 8192;

/// How many bytes one request or answer holds, of those that all may hold.
pub(crate) struct Held {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Held {
    /// Says how many bytes are held now, and returns whether there is room for them.
    pub(crate) fn set(&mut self, bytes: usize) -> bool {
        if bytes == self.bytes {
            return true;
        }
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let grows = bytes > self.bytes;
        let gauge = &self.shared.metrics.held_bytes;
        gauge.add(signed(bytes).saturating_sub(signed(self.bytes)));
        self.bytes = bytes;
        !grows || gauge.get() <= signed(self.shared.config.limits().all_held_bytes())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}
