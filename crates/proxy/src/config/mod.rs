//! The settings of a gateway: where it listens, where it sends requests, and what it mends.

mod address;
mod again;
mod error;
mod limits;
mod read;
mod reference;
mod tls;
mod upstream;

use std::{net::SocketAddr, path::Path};

use serde::{Deserialize, Serialize};

pub use address::address;
pub use again::Reask;
pub use error::ConfigError;
pub use limits::Limits;
pub use reference::{Setting, settings};
pub(crate) use tls::Tls;
pub use upstream::Upstream;

use wiremend_exchange::Mending;

use crate::hosts::Hosts;

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
    #[serde(deserialize_with = "address::deserialize")]
    listen: SocketAddr,
    #[serde(deserialize_with = "address::deserialize_admin")]
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

#[cfg(test)]
mod tests {
    use wiremend_exchange::CallsInText;

    use super::*;

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
}
