//! Variant spellings of a tool's name.

use crate::issue::folded;

/// Prefixes that providers and templates put before a name.
const PREFIXES: [&str; 6] = ["functions", "function", "default_api", "tools", "tool", "api"];

/// A name without its case and separators.
pub(super) fn key(name: &str) -> String {
    folded(name)
}

/// The names that a name may refer to: the name itself, and the name without a prefix before a dot
/// and without the number of the call after a colon.
pub(super) fn keys(name: &str) -> Vec<String> {
    let bare = match name.rsplit_once(':') {
        Some((bare, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => name,
    };
    let mut keys = vec![key(bare)];
    let prefix = bare.split_once('.').or_else(|| bare.split_once('/'));
    if let Some((_, rest)) = prefix.filter(|(prefix, _)| PREFIXES.contains(prefix)) {
        keys.push(key(rest));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::{key, keys};

    #[test]
    fn a_name_is_known_in_every_spelling() {
        for name in [
            "functions.get_weather",
            "getWeather",
            "get-weather",
            "get.weather",
            "get_weather:0",
            "default_api.get_weather",
            "Get Weather",
            "functions.get_weather:12",
        ] {
            assert!(keys(name).contains(&key("get_weather")), "{name}");
        }
        for name in ["get_weathers", "my.get_weather", "weather", "get_weather:x"] {
            assert!(!keys(name).contains(&key("get_weather")), "{name}");
        }
    }
}
