//! The settings of a gateway: where it listens, where it sends requests, and what it mends.

mod text;
mod upstream;

use std::{
    net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use wiremend_exchange::Mending;

use crate::hosts::Hosts;

pub use text::{ConfigError, Setting, settings};
pub use upstream::Upstream;

/// The settings of a gateway.
///
/// They come from a TOML text, from the environment, or from code. [`settings`] lists them.
///
/// ```
/// use wiremend_proxy::Config;
///
/// let file = r#"
///     listen = "127.0.0.1:0"
///     [[upstream]]
///     prefix = "/openai"
///     url = "https://api.openai.com"
/// "#;
/// let environment = [("WIREMEND_MENDING_MODE".to_owned(), "validated".to_owned())];
/// let config = Config::read(file, environment)?;
/// assert_eq!(config.upstreams()[0].prefix(), "/openai");
/// # Ok::<(), wiremend_proxy::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    #[serde(deserialize_with = "listen_on")]
    listen: SocketAddr,
    #[serde(deserialize_with = "listen_admin")]
    admin: String,
    hosts: Hosts,
    upstream: Vec<Upstream>,
    mending: Mending,
    tls: Tls,
    reask: Reask,
    limits: Limits,
    record: Record,
    log: Logged,
}

/// What is kept about answers, for `/repairs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Record {
    /// How many answers.
    pub(crate) answers: usize,
    /// Whether arguments are kept, too.
    pub(crate) content: bool,
}

/// What is said while the gateway runs, beside what failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Logged {
    /// Every exchange.
    pub(crate) access: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self { answers: 100, content: false }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8484)),
            admin: "127.0.0.1:8485".to_owned(),
            hosts: Hosts::default(),
            upstream: Vec::new(),
            mending: Mending::default(),
            tls: Tls::default(),
            reask: Reask::default(),
            limits: Limits::default(),
            record: Record::default(),
            log: Logged::default(),
        }
    }
}

impl Config {
    /// The defaults, without an upstream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the address for clients.
    ///
    /// ### Default
    /// 127.0.0.1:8484.
    #[must_use]
    pub const fn with_listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Sets the address for `/health`, `/ready`, `/metrics` and `/repairs`, or none.
    ///
    /// ### Default
    /// 127.0.0.1:8485.
    #[must_use]
    pub fn with_admin(mut self, address: Option<SocketAddr>) -> Self {
        self.admin = address.map_or_else(|| "off".to_owned(), |address| address.to_string());
        self
    }

    /// Sets by which names clients may call the gateway, beside addresses and `localhost`; `*` is any name. It
    /// matters where the gateway listens on loopback, or sends requests to a server on this machine: a page of a
    /// website could otherwise reach that server under its own name.
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub fn with_hosts(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.hosts = Hosts::new(names);
        self
    }

    pub(crate) const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Adds an upstream.
    #[must_use]
    pub fn with_upstream(mut self, upstream: Upstream) -> Self {
        self.upstream.push(upstream);
        self
    }

    /// Replaces all upstreams.
    #[must_use]
    pub fn with_upstreams(mut self, upstreams: Vec<Upstream>) -> Self {
        self.upstream = upstreams;
        self
    }

    /// Sets what is mended where an upstream does not say otherwise.
    #[must_use]
    pub fn with_mending(mut self, mending: Mending) -> Self {
        self.mending = mending;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Encrypts the connections of clients, with the certificates and the private key in these files, in
    /// PEM. They are read when a [`Server`](crate::Server) is made, and not again.
    ///
    /// ### Default
    /// They are not encrypted.
    #[must_use]
    pub fn with_tls(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.tls = Tls::new(certificate.as_ref(), key.as_ref());
        self
    }

    /// Whether the connections of clients are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_on()
    }

    pub(crate) const fn tls(&self) -> &Tls {
        &self.tls
    }

    /// Sets whether a model is asked again.
    ///
    /// ### Default
    /// It is not.
    #[must_use]
    pub const fn with_reask(mut self, reask: Reask) -> Self {
        self.reask = reask;
        self
    }

    /// Sets how many answers `/repairs` lists, and whether with the arguments of their calls.
    ///
    /// ### Default
    /// 100, without arguments.
    #[must_use]
    pub const fn with_record(mut self, answers: usize, content: bool) -> Self {
        self.record = Record { answers, content };
        self
    }

    /// Sets whether every exchange is a line of the [log](crate::Server::with_log), and not only one that failed.
    ///
    /// ### Default
    /// No.
    #[must_use]
    pub const fn with_access_log(mut self, yes: bool) -> Self {
        self.log = Logged { access: yes };
        self
    }

    pub(crate) const fn log(&self) -> Logged {
        self.log
    }

    /// The address for clients.
    #[must_use]
    pub const fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The address of the admin pages, if there are any.
    ///
    /// # Errors
    /// If it is neither an address nor `off`.
    pub fn admin(&self) -> Result<Option<SocketAddr>, ConfigError> {
        if self.admin == "off" {
            return Ok(None);
        }
        address(&self.admin).map(Some).map_err(|error| error.about("admin"))
    }

    /// Where requests are sent.
    #[must_use]
    pub fn upstreams(&self) -> &[Upstream] {
        &self.upstream
    }

    /// What is mended where an upstream does not say otherwise.
    #[must_use]
    pub const fn mending(&self) -> &Mending {
        &self.mending
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether a model is asked again.
    #[must_use]
    pub const fn reask(&self) -> &Reask {
        &self.reask
    }

    /// Looks for values that no file may have, because code may have set them. Those of an upstream come from a
    /// file.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.admin()?;
        self.limits.check()?;
        let calls = self.mending.calls_in_text().check();
        calls.map_err(|error| ConfigError::from(error).about("mending.calls_in_text"))
    }

    pub(crate) const fn record(&self) -> Record {
        self.record
    }
}

/// Whether the model is asked again for arguments that cannot be made to fit, and how much that may take.
/// It is off by default.
///
/// ```
/// use wiremend_proxy::{Config, Reask};
/// let config = Config::new().with_reask(Reask::new().with_attempts(2));
/// assert_eq!(config.reask().attempts(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reask {
    attempts: u32,
    seconds: u64,
    tokens: u64,
}

impl Default for Reask {
    fn default() -> Self {
        Self { attempts: 0, seconds: 60, tokens: 50_000 }
    }
}

impl Reask {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many further requests one answer may cause.
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how long all of them may take.
    ///
    /// ### Default
    /// 60 seconds.
    #[must_use]
    pub const fn with_seconds(mut self, seconds: u64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Sets after how many tokens, of all of them, nothing more is asked.
    ///
    /// ### Default
    /// 50,000.
    #[must_use]
    pub const fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// How many further requests one answer may cause.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// After how many tokens nothing more is asked.
    pub(crate) const fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(crate) const fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// The files of a certificate and its key. Without them, connections of clients are not encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tls {
    certificate: String,
    key: String,
}

impl Tls {
    pub(crate) fn new(certificate: &Path, key: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self { certificate: text(certificate), key: text(key) }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.certificate.is_empty() || !self.key.is_empty()
    }

    /// Reads the files, if connections are to be encrypted. No message repeats what is in them.
    pub(crate) fn load(&self) -> Result<Option<Arc<ServerConfig>>, ConfigError> {
        if !self.is_on() {
            return Ok(None);
        }
        let wrong = |file: &str, what: &str| ConfigError::new(format!("{file:?} {what}"));
        let chain = CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain: Vec<_> =
            chain.map_err(|_| wrong(&self.certificate, "cannot be read as certificates"))?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|_| wrong(&self.key, "cannot be read as a private key"))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
        let mut config =
            config.map_err(|_| wrong(&self.certificate, "and the key do not fit together"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Some(Arc::new(config)))
    }
}

/// Reads an address to listen on: `127.0.0.1:8484`, `localhost:8484`, or `:8484`, which is on loopback. A name
/// is looked up; of its addresses, the first one of IPv4 counts, or else the first.
///
/// ```
/// let address = wiremend_proxy::address(":8484")?;
/// assert_eq!(address.to_string(), "127.0.0.1:8484");
/// assert!(wiremend_proxy::address("8484").is_err());
/// # Ok::<(), wiremend_proxy::ConfigError>(())
/// ```
///
/// # Errors
/// If it has no port, or its name is not known.
pub fn address(text: &str) -> Result<SocketAddr, ConfigError> {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let wrong = || {
        let such = "such as 127.0.0.1:8484, localhost:8484 or :8484";
        ConfigError::new(format!("no address with a port, {such}, or its name is not known"))
    };
    if let Some(port) = text.strip_prefix(':') {
        let port = port.parse().map_err(|_| wrong())?;
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| wrong())?.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(wrong)
}

/// Reads an address for the pages of the admin port, or `off`.
fn admin_address(text: &str) -> Result<String, ConfigError> {
    match text.trim() {
        "off" => Ok("off".to_owned()),
        text => Ok(address(text)?.to_string()),
    }
}

fn listen_on<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(from)?).map_err(D::Error::custom)
}

fn listen_admin<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    admin_address(&String::deserialize(from)?).map_err(D::Error::custom)
}

// How much a client or a provider may ask of a gateway.

/// The limits of a gateway. All are finite; `docs/limits.md` says what happens at each.
///
/// ```
/// use wiremend_proxy::Limits;
/// assert_eq!(Limits::new().with_held_bytes(1 << 20).held_bytes(), 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    #[serde(deserialize_with = "at_least_one")]
    connections: usize,
    #[serde(deserialize_with = "at_least_one")]
    open_answers: usize,
    head_bytes: usize,
    body_bytes: usize,
    held_bytes: usize,
    all_held_bytes: usize,
    head_seconds: u64,
    connect_seconds: u64,
    answer_seconds: u64,
    idle_seconds: u64,
    total_seconds: u64,
    drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            open_answers: 8192,
            head_bytes: 64 << 10,
            body_bytes: 32 << 20,
            held_bytes: 8 << 20,
            all_held_bytes: 512 << 20,
            head_seconds: 30,
            connect_seconds: 10,
            answer_seconds: 600,
            idle_seconds: 300,
            total_seconds: 3600,
            drain_seconds: 30,
        }
    }
}

macro_rules! limits {
    ($($(#[$doc:meta])* $with:ident $name:ident: $type:ty,)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub const fn $with(mut self, value: $type) -> Self {
                self.$name = value;
                self
            }

            $(#[$doc])*
            #[must_use]
            pub const fn $name(&self) -> $type {
                self.$name
            }
        )*
    };
}

impl Limits {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    limits! {
        /// The number of connections of clients that are open at the same time. More wait.
        with_connections connections: usize,
        /// The number of requests that are answered at the same time. More get the status 503.
        with_open_answers open_answers: usize,
        /// The number of bytes of the head of a request, or of an answer of the provider.
        with_head_bytes head_bytes: usize,
        /// The number of bytes of a request with JSON, which is read as a whole. More get the status 413.
        with_body_bytes body_bytes: usize,
        /// The number of bytes of one answer that are held: of a body that was not streamed, or of events
        /// that wait until a call is certain. What is longer passes.
        with_held_bytes held_bytes: usize,
        /// The number of bytes of all requests and answers that are held. Beyond, requests with JSON get the
        /// status 503, and answers pass as they come.
        with_all_held_bytes all_held_bytes: usize,
        /// The time in which the head of a request arrives, and in which a connection is used again, in seconds.
        with_head_seconds head_seconds: u64,
        /// The time in which the provider accepts a connection, in seconds.
        with_connect_seconds connect_seconds: u64,
        /// The time in which the provider begins its answer, in seconds.
        with_answer_seconds answer_seconds: u64,
        /// The longest silence within a body, of the provider or of the client, and the longest time for
        /// which a client takes nothing, in seconds.
        with_idle_seconds idle_seconds: u64,
        /// The time for one answer, in seconds.
        with_total_seconds total_seconds: u64,
        /// The time for which answers go on after the gateway was asked to stop, in seconds.
        with_drain_seconds drain_seconds: u64,
    }

    /// With none of these, nobody is ever answered.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let each =
            [("limits.connections", self.connections), ("limits.open_answers", self.open_answers)];
        match each.iter().find(|(_, limit)| *limit == 0) {
            Some((name, _)) => Err(ConfigError::new(AT_LEAST_ONE).about(name)),
            None => Ok(()),
        }
    }

    pub(crate) const fn head(&self) -> Duration {
        seconds(self.head_seconds)
    }

    pub(crate) const fn connect(&self) -> Duration {
        seconds(self.connect_seconds)
    }

    pub(crate) const fn answer(&self) -> Duration {
        seconds(self.answer_seconds)
    }

    pub(crate) const fn idle(&self) -> Duration {
        seconds(self.idle_seconds)
    }

    pub(crate) const fn total(&self) -> Duration {
        seconds(self.total_seconds)
    }

    pub(crate) const fn drain(&self) -> Duration {
        seconds(self.drain_seconds)
    }
}

const AT_LEAST_ONE: &str = "it is at least 1";

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match usize::deserialize(from)? {
        0 => Err(D::Error::custom(AT_LEAST_ONE)),
        limit => Ok(limit),
    }
}

/// A time that a clock can be moved by.
const fn seconds(given: u64) -> Duration {
    const LONGEST: u64 = 366 * 24 * 60 * 60;
    Duration::from_secs(if given > LONGEST { LONGEST } else { given })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_exchange::CallsInText;

    /// What no file may say, code may not either.
    #[test]
    fn values_that_code_has_set_are_looked_at() {
        let of = |limits| Config::new().with_limits(limits);
        let named = || CallsInText::Named("hermez".into());
        let upstream = r#"{"url": "http://a", "calls_in_text": "hermes"}"#;
        let upstream: Upstream = serde_json::from_str(upstream).unwrap();
        assert_eq!(Config::new().with_upstream(upstream).check(), Ok(()));
        for (config, want) in [
            (of(Limits::new().with_connections(0)), "limits.connections: it is at least 1"),
            (of(Limits::new().with_open_answers(0)), "limits.open_answers: it is at least 1"),
            (
                Config::new().with_mending(Mending::new().with_calls_in_text(named())),
                "mending.calls_in_text: no dialect",
            ),
        ] {
            let error = config.check().unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }

    #[test]
    fn an_address_may_have_a_name_or_no_host() {
        let of = |text: &str| address(text).ok().map(|address| address.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("127.0.0.1:0"), some("127.0.0.1:0"));
        assert_eq!(of("[::1]:80"), some("[::1]:80"));
        assert_eq!(of(":8484"), some("127.0.0.1:8484"));
        assert!(address("localhost:8484").unwrap().ip().is_loopback());
        for wrong in ["", ":", "8484", "127.0.0.1", "localhost", ":x", ":70000", "::1", "a b:1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
