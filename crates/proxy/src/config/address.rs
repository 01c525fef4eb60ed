//! Addresses to listen on.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};

use serde::{Deserialize, Deserializer, de::Error};

use super::ConfigError;

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
fn admin(text: &str) -> Result<String, ConfigError> {
    match text.trim() {
        "off" => Ok("off".to_owned()),
        text => Ok(address(text)?.to_string()),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(from)?).map_err(D::Error::custom)
}

pub(super) fn deserialize_admin<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    admin(&String::deserialize(from)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

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
