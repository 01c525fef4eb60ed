//! By which names the gateway may be called.
//!
//! A page of a website can make its own name point to this machine. A browser then sends requests here as to that
//! site, with its name in `Host`, which is all that tells them from others.

use std::net::IpAddr;

use http::{Request, Version, header::HOST, uri::Authority};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name in `Host`, without a port. Only a request of HTTP/1.0 may have none. An error, if nobody can say which
/// one it is: there is no such header, it is there twice, or what it has is no host.
pub(crate) fn host<B>(request: &Request<B>) -> Result<Option<String>, ()> {
    let mut lines = request.headers().get_all(HOST).iter();
    let line = match (lines.next(), lines.next()) {
        (Some(line), None) => line,
        (None, _) if request.version() < Version::HTTP_11 => return Ok(None),
        _ => return Err(()),
    };
    let authority = line.to_str().ok().and_then(|text| text.parse::<Authority>().ok()).ok_or(())?;
    let host = authority.host();
    // After the host there is nothing, or a port.
    let rest = authority.as_str().strip_prefix(host).ok_or(())?;
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if host.is_empty() || !(rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)) {
        return Err(());
    }
    Ok(Some(host.trim_matches(['[', ']']).to_ascii_lowercase()))
}

/// Whether a name is an address, which no website can have as its name, or one of this machine.
pub(crate) fn is_own(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok() || is_localhost(name)
}

/// Whether a host, as it is written in a URL, is on this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let is_here = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    host.parse().map_or_else(|_| is_localhost(&host.to_ascii_lowercase()), is_here)
}

fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// The names by which clients may call the gateway, beside addresses and `localhost`.
///
/// As a setting, they are a list, or a text with commas between them; `*` is any name. Written, `localhost` is the first
/// of them, so that what is shown is what holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let trimmed = |name: &str| name.trim().to_ascii_lowercase();
        let names = names.into_iter().map(|name| trimmed(name.as_ref()));
        Self(names.filter(|name| !name.is_empty() && !is_own(name)).collect())
    }

    pub(crate) fn allow(&self, name: &str) -> bool {
        is_own(name) || self.0.iter().any(|known| known == name || known == "*")
    }
}

impl Serialize for Hosts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let names: Vec<&str> =
            std::iter::once("localhost").chain(self.0.iter().map(String::as_str)).collect();
        to.serialize_str(&names.join(","))
    }
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a list of names")]
        enum Written {
            Text(String),
            List(Vec<String>),
        }
        Ok(match Written::deserialize(from)? {
            Written::Text(text) => Self::new(text.split(',')),
            Written::List(names) => Self::new(names),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: Version, lines: &[&str]) -> Result<Option<String>, ()> {
        let mut request = Request::builder().version(version);
        for line in lines {
            request = request.header(HOST, *line);
        }
        host(&request.body(()).unwrap())
    }

    #[test]
    fn a_request_has_one_host_that_can_be_read() {
        for (line, name) in [
            ("localhost", "localhost"),
            ("LocalHost:8484", "localhost"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:1", "::1"),
            ("[::1]", "::1"),
            ("evil.example", "evil.example"),
        ] {
            assert_eq!(of(Version::HTTP_11, &[line]), Ok(Some(name.to_owned())), "{line}");
        }
        for line in [
            "",
            ":1",
            "a b",
            "evil.example\\localhost",
            "http://localhost",
            "localhost/x",
            "x@localhost",
            "localhost:x",
            "localhost:1:2",
            "[::1",
            "[::1]x",
            "a\u{e9}",
        ] {
            assert_eq!(of(Version::HTTP_11, &[line]), Err(()), "{line}");
        }
        assert_eq!(of(Version::HTTP_11, &[]), Err(()));
        assert_eq!(of(Version::HTTP_10, &[]), Ok(None));
        assert_eq!(of(Version::HTTP_10, &["a", "a"]), Err(()));
    }

    #[test]
    fn names_of_this_machine_are_known_and_others_are_named() {
        let hosts = Hosts::new(["Models.example", " "]);
        for name in ["localhost", "a.localhost", "10.0.0.1", "::1", "models.example"] {
            assert!(hosts.allow(name), "{name}");
        }
        for name in ["evil.example", "localhost.evil.example", "evillocalhost", "*", "127.0.0.1.a"]
        {
            assert!(!hosts.allow(name), "{name}");
        }
        assert!(Hosts::new(["*"]).allow("evil.example"));
        for host in ["127.0.0.1", "[::1]", "localhost", "0.0.0.0", "X.localhost"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["10.0.0.1", "models.example", "localhost.example"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn they_are_a_list_or_a_text() {
        let want = Hosts::new(["a", "b"]);
        for text in [r#"["a", "B"]"#, r#"" a,b ,""#] {
            assert_eq!(serde_json::from_str::<Hosts>(text).unwrap(), want, "{text}");
        }
        assert_eq!(serde_json::to_string(&want).unwrap(), r#""localhost,a,b""#);
        assert!(serde_json::from_str::<Hosts>("1").is_err());
    }
}
