//! The list of all settings, for the documentation and for the environment.

use serde_json::Value;

use super::Config;

/// A setting: its name, its default, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: String,
    default: Value,
    what: &'static str,
}

impl Setting {
    /// The key in a file; a dot separates it from that of its table.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name of the variable in the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("WIREMEND_{}", self.key.to_uppercase().replace('.', "_"))
    }

    /// The default, as JSON.
    #[must_use]
    pub fn default_value(&self) -> &Value {
        &self.default
    }

    /// What it is, in a sentence.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        self.what
    }
}

/// What each setting is.
const WHAT: &[(&str, &str)] = &[
    (
        "listen",
        "the address for clients, such as `127.0.0.1:8484`, `localhost:8484` or `:8484`, which is on loopback",
    ),
    (
        "admin",
        "the address of the live page, `/health`, `/ready`, `/metrics` and `/repairs`, or `off`",
    ),
    (
        "hosts",
        "names by which clients may call the gateway, beside addresses and `localhost`, where it or the upstream is on loopback; a list, or with commas between them. `*` is any name",
    ),
    (
        "tls.certificate",
        "a file with the certificate for clients and those that sign it, in PEM; empty: connections of clients are not encrypted",
    ),
    ("tls.key", "a file with its private key, in PEM"),
    (
        "mending.policy",
        "the highest risk of a repair: `exact`, `likely` or `lossy`; `off` mends nothing",
    ),
    (
        "mending.mode",
        "`eager`: what is valid of a call leaves while it arrives, and the rest when it has ended. `validated`: all of it leaves when it has ended",
    ),
    (
        "mending.arguments",
        "`fit`: arguments are fitted to the schema of their tool, in the mode `validated`. `mend`: they are only repaired. `pass`: they pass",
    ),
    (
        "mending.content",
        "whether content is mended as JSON: `asked`, if the request asks for JSON; `json`, always; `text`, never",
    ),
    (
        "mending.calls_in_text",
        "whether calls in the text are sent on as calls: `off`, `auto`, or the name of a dialect or a model",
    ),
    ("mending.history", "whether calls in the history of a request are mended"),
    (
        "mending.cut",
        "what becomes of a call that was cut off, by a finish such as `length` or without one: `pass`, it leaves as it came; `withhold`, it is taken out",
    ),
    (
        "mending.comment",
        "whether a stream of server-sent events ends with a comment that says what was changed",
    ),
    (
        "reask.attempts",
        "further requests for one answer, to ask for arguments that cannot be made to fit; 0 asks for none",
    ),
    ("reask.seconds", "time for all of them"),
    ("reask.tokens", "tokens of all of them, after which nothing more is asked"),
    (
        "limits.connections",
        "connections of clients that are open at the same time, at least 1; more wait",
    ),
    (
        "limits.open_answers",
        "requests that are answered at the same time, at least 1; more get the status 503",
    ),
    ("limits.head_bytes", "bytes of the head of a request or of an answer"),
    ("limits.body_bytes", "bytes of a request with JSON; more get the status 413"),
    (
        "limits.held_bytes",
        "bytes of one answer that are held: of a whole body, or of events that wait; what is longer passes",
    ),
    (
        "limits.all_held_bytes",
        "bytes of all requests and answers that are held; beyond, requests get the status 503, and answers pass",
    ),
    ("limits.head_seconds", "time for the head of a request, and until a connection is used again"),
    ("limits.connect_seconds", "time in which the provider accepts a connection"),
    ("limits.answer_seconds", "time in which the provider begins its answer"),
    (
        "limits.idle_seconds",
        "longest silence within a body, and longest time for which a client takes nothing",
    ),
    ("limits.total_seconds", "time for one answer"),
    ("limits.drain_seconds", "time for which answers go on after a request to stop"),
    ("record.answers", "answers that `/repairs` and the live page list"),
    ("record.content", "whether they have the arguments of calls, too"),
    (
        "log.access",
        "whether every exchange is a line on standard error, and not only one that failed",
    ),
];

/// Every setting but the upstreams, in the order in which a file has them.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let setting = |(key, what): &(&str, &'static str)| {
        let pointer = format!("/{}", key.replace('.', "/"));
        let default = defaults.pointer(&pointer).cloned().unwrap_or_default();
        Setting { key: (*key).to_owned(), default, what }
    };
    WHAT.iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_listed_and_no_other() {
        let listed: Vec<Setting> = settings();
        for setting in &listed {
            assert!(!setting.default_value().is_null(), "{} does not exist", setting.key());
        }
        let mut known = 0;
        let Value::Object(root) = serde_json::to_value(Config::default()).unwrap() else {
            panic!()
        };
        for (key, value) in root {
            match value {
                Value::Object(table) => known += table.len(),
                Value::Array(_) => assert_eq!(key, "upstream"),
                _ => known += 1,
            }
        }
        assert_eq!(listed.len(), known);
    }
}
