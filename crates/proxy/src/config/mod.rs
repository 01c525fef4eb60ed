//! The settings of a gateway: where it listens, where it sends requests, and what it mends.

mod again;
mod limits;
mod mending;
mod reference;
mod tls;
mod tools;
mod upstream;

use std::{net::SocketAddr, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use again::Reask;
pub use limits::Limits;
pub use mending::{Arguments, CallsInText, Content, Mending, Mode, Repair};
pub use reference::{Setting, settings};
pub(crate) use tls::Tls;
pub use tools::ToolRule;
pub use upstream::Upstream;

/// The settings of a gateway.
///
/// They come from a TOML text, from the environment, or from code. [`settings`] lists them.
///
/// ```
/// use jsonmend_proxy::Config;
///
/// let file = r#"
///     listen = "127.0.0.1:0"
///     [[upstream]]
///     prefix = "/openai"
///     url = "https://api.openai.com"
/// "#;
/// let environment = |name: &str| (name == "JSONMEND_MENDING_MODE").then(|| "validated".to_owned());
/// let config = Config::read(file, environment)?;
/// assert_eq!(config.upstreams()[0].prefix(), "/openai");
/// # Ok::<(), jsonmend_proxy::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    listen: SocketAddr,
    admin: String,
    upstream: Vec<Upstream>,
    mending: Mending,
    tls: Tls,
    reask: Reask,
    limits: Limits,
    record: Record,
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
            upstream: Vec::new(),
            mending: Mending::default(),
            tls: Tls::default(),
            reask: Reask::default(),
            limits: Limits::default(),
            record: Record::default(),
        }
    }
}

impl Config {
    /// The defaults, without an upstream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a TOML text, which may be empty, and then the environment, which goes before it. A setting
    /// `limits.held_bytes` is `JSONMEND_LIMITS_HELD_BYTES` there; `JSONMEND_UPSTREAM` is a list as in
    /// [`Upstream::parse`], separated by commas, and replaces the upstreams of the file.
    ///
    /// # Errors
    /// If a setting is unknown, or its value cannot be read.
    pub fn read(
        toml: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut value: Value =
            toml::from_str(toml).map_err(|error| ConfigError(error.message().to_owned()))?;
        for setting in settings() {
            let name = setting.variable();
            let Some(text) = environment(&name) else { continue };
            let given = match setting.default_value() {
                Value::Number(_) => text.trim().parse::<u64>().ok().map(Value::from),
                Value::Bool(_) => text.trim().parse::<bool>().ok().map(Value::from),
                _ => Some(Value::from(text.trim())),
            };
            let given =
                given.ok_or_else(|| ConfigError(format!("{name} has no value of its type")))?;
            put(&mut value, setting.key(), given)
                .ok_or_else(|| ConfigError(format!("{} is not in a table", setting.key())))?;
        }
        let mut config: Self =
            serde_json::from_value(value).map_err(|error| ConfigError(error.to_string()))?;
        if let Some(list) = environment("JSONMEND_UPSTREAM") {
            let each = list.split(',').map(str::trim).filter(|text| !text.is_empty());
            config.upstream = each.map(Upstream::parse).collect::<Result<_, _>>()?;
        }
        Ok(config)
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
        let address = self.admin.parse();
        address.map(Some).map_err(|_| ConfigError("`admin` is no address, nor `off`".to_owned()))
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

    pub(crate) const fn record(&self) -> Record {
        self.record
    }
}

/// Sets the value of a key with dots.
fn put(root: &mut Value, key: &str, given: Value) -> Option<()> {
    let mut place = root;
    for part in key.split('.') {
        place = place
            .as_object_mut()?
            .entry(part)
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    *place = given;
    Some(())
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub(crate) String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_before_the_file() {
        let file = "[limits]\nheld_bytes = 1\nidle_seconds = 2\n[[upstream]]\nurl = \"http://a\"";
        let environment = |name: &str| match name {
            "JSONMEND_LIMITS_HELD_BYTES" => Some("7".to_owned()),
            "JSONMEND_UPSTREAM" => Some("/x=http://b, http://c".to_owned()),
            _ => None,
        };
        let config = Config::read(file, environment).unwrap();
        assert_eq!(config.limits().held_bytes(), 7);
        assert_eq!(config.limits().idle().as_secs(), 2);
        let prefixes: Vec<&str> = config.upstreams().iter().map(Upstream::prefix).collect();
        assert_eq!(prefixes, ["/x", "/"]);
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for file in [
            "lisen = \"x\"",
            "[limits]\nheld = 1",
            "[mending]\nmode = \"fast\"",
            "[[upstream]]\nurl = \"ftp://a\"",
            "x =",
        ] {
            assert!(Config::read(file, |_| None).is_err(), "{file}");
        }
        let wrong = |name: &str| (name == "JSONMEND_LIMITS_HELD_BYTES").then(|| "many".to_owned());
        assert!(Config::read("", wrong).is_err());
        assert_eq!(Config::read("", |_| None), Ok(Config::new()));
    }
}
