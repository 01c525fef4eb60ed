//! Settings as text: in a file and in the environment, all of them in a list, and what is wrong with one.

use std::collections::BTreeMap;

use serde_json::Value;
use wiremend_exchange::SettingError;

use super::{Config, Upstream};

/// What the names of all variables begin with.
const VARIABLES: &str = "WIREMEND_";

/// The list of upstreams. It is no setting, because a file has tables of them.
const UPSTREAM: &str = "WIREMEND_UPSTREAM";

impl Config {
    /// Reads a TOML text, which may be empty, and then the variables of the environment, which go before it.
    /// A setting `limits.held_bytes` is `WIREMEND_LIMITS_HELD_BYTES` there; `WIREMEND_UPSTREAM` is a list as in
    /// [`Upstream::parse`], separated by commas, and replaces the upstreams of the file. Variables with other
    /// names are not looked at, and neither are those that Kubernetes makes for a service with such a name, as
    /// `WIREMEND_SERVICE_HOST`.
    ///
    /// # Errors
    /// If a setting is unknown, in the text or as a variable, or its value cannot be read. The error says the
    /// line and the key, or the variable; [`ConfigError::in_file`] adds the name of the file.
    pub fn read(
        toml: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut config: Self =
            toml::from_str(toml).map_err(|error| ConfigError::of_toml(toml, error))?;
        let known = settings();
        // In their order, so that of several mistakes always the same one is said.
        let own = environment.into_iter().filter(|(name, _)| name.starts_with(VARIABLES));
        for (name, text) in own.collect::<BTreeMap<_, _>>() {
            if name == UPSTREAM {
                let each = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                let upstreams = each.map(Upstream::parse).collect::<Result<_, _>>();
                config.upstream = upstreams.map_err(|error| error.about(UPSTREAM))?;
            } else if let Some(setting) = known.iter().find(|known| known.variable() == name) {
                config = with(&config, setting, text.trim()).map_err(|error| error.about(&name))?;
            } else if !is_of_a_service(&name) {
                return Err(ConfigError::new("there is no such setting").about(&name));
            }
        }
        Ok(config)
    }
}

/// The same settings, but for one.
fn with(config: &Config, setting: &Setting, text: &str) -> Result<Config, ConfigError> {
    let given = match setting.default_value() {
        Value::Number(_) => text.parse::<u64>().ok().map(Value::from),
        Value::Bool(_) => text.parse::<bool>().ok().map(Value::from),
        _ => Some(Value::from(text)),
    };
    let wanted =
        if setting.default_value().is_boolean() { "true or false" } else { "a number from 0" };
    let given = given.ok_or_else(|| ConfigError::new(format!("expected {wanted}")))?;
    let wrong = |error: serde_json::Error| ConfigError::of_value(&error);
    let mut value = serde_json::to_value(config).map_err(wrong)?;
    let pointer = format!("/{}", setting.key().replace('.', "/"));
    if let Some(place) = value.pointer_mut(&pointer) {
        *place = given;
    }
    serde_json::from_value(value).map_err(wrong)
}

/// Whether Kubernetes makes a variable for a service whose name begins with `wiremend`: its host, its ports,
/// and what Docker called its links.
fn is_of_a_service(name: &str) -> bool {
    let of_port = |(_, port): (&str, &str)| port.starts_with(|first: char| first.is_ascii_digit());
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_PORT")
        || name.contains("_SERVICE_PORT_")
        || name.split_once("_PORT_").is_some_and(of_port)
}

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

/// A setting that cannot be used. The message repeats no value, because that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    what: String,
    /// It is in the text of a file, in this line.
    line: Option<usize>,
}

impl ConfigError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), line: None }
    }

    /// The same, about a variable of the environment or a setting.
    pub(crate) fn about(self, name: &str) -> Self {
        Self { what: format!("{name}: {}", self.what), ..self }
    }

    /// What a TOML text has instead of settings, with the line and the key.
    pub(crate) fn of_toml(text: &str, mut error: toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.unwrap_or_default().matches('\n').count() + 1;
        let what = without_value(error.message());
        // Only without the text does it say the key; with it, it repeats the line.
        error.set_input(None);
        let shown = error.to_string();
        let key = shown.trim_end().rsplit_once("\nin `").and_then(|(_, key)| key.strip_suffix('`'));
        let key = key.map_or_else(String::new, |key| format!(", `{key}`"));
        Self { what: format!("line {line}{key}: {what}"), line: Some(line) }
    }

    /// What a single value is instead of what a setting wants.
    pub(crate) fn of_value(error: &serde_json::Error) -> Self {
        Self::new(without_value(&error.to_string()))
    }

    /// Names the file in which the error is, if it is in the text of one.
    ///
    /// ```
    /// use wiremend_proxy::Config;
    /// let error = Config::read("[limits]\nbody_bytes = \"many\"", []).unwrap_err();
    /// let want = "gateway.toml, line 2, `limits.body_bytes`: expected a number from 0";
    /// assert_eq!(error.in_file("gateway.toml").to_string(), want);
    /// ```
    #[must_use]
    pub fn in_file(self, name: &str) -> Self {
        if self.line.is_none() {
            return self;
        }
        Self { what: format!("{name}, {}", self.what), ..self }
    }

    /// The line of the text that was read, if the error is there.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }
}

impl From<SettingError> for ConfigError {
    fn from(error: SettingError) -> Self {
        Self::new(error.to_string())
    }
}

/// The message of a deserializer without the value, which it repeats before what it expected.
fn without_value(message: &str) -> String {
    let repeats = ["invalid type: ", "invalid value: ", "unknown variant "];
    if !repeats.iter().any(|start| message.starts_with(start)) {
        return message.to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((_, "u32" | "u64" | "usize")) => "expected a number from 0".to_owned(),
        Some((_, expected)) => format!("expected {expected}"),
        None => "a value of another type is expected".to_owned(),
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use wiremend_exchange::{CallsInText, Mode};

    use super::*;
    use crate::Config;

    fn read(file: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        Config::read(file, variables.iter().map(owned))
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let file = "[limits]\nheld_bytes = 1\nidle_seconds = 2\n[[upstream]]\nurl = \"http://a\"";
        let config = read(
            file,
            &[
                ("WIREMEND_LIMITS_HELD_BYTES", " 7 "),
                ("WIREMEND_UPSTREAM", "/x=http://b, http://c"),
                ("WIREMEND_MENDING_MODE", "validated"),
                ("WIREMEND_MENDING_CALLS_IN_TEXT", "hermes"),
                ("WIREMEND_LISTEN", ":1"),
                ("WIREMEND_ADMIN", "off"),
                ("HOME", "/"),
            ],
        );
        let config = config.unwrap();
        assert_eq!(config.limits().held_bytes(), 7);
        assert_eq!(config.limits().idle().as_secs(), 2);
        let prefixes: Vec<&str> = config.upstreams().iter().map(Upstream::prefix).collect();
        assert_eq!(prefixes, ["/x", "/"]);
        assert_eq!(config.mending().mode(), Mode::Validated);
        assert_eq!(*config.mending().calls_in_text(), CallsInText::Named("hermes".into()));
        assert_eq!(config.listen().to_string(), "127.0.0.1:1");
        assert_eq!(config.admin().unwrap(), None);
    }

    /// All settings of a file are kept where one comes from the environment.
    #[test]
    fn a_variable_changes_nothing_else() {
        let file = "admin = \"off\"\n[mending]\ncalls_in_text = \"auto\"\n[[mending.tool]]\nname = \"f\"\n\
                    policy = \"exact\"\n[[upstream]]\nprefix = \"/a\"\nurl = \"https://a/b\"\nmode = \"validated\"\n\
                    calls_in_text = \"off\"\n[[upstream.tool]]\nname = \"g\"\narguments = \"pass\"\n[record]\ncontent = true";
        let same = read(file, &[("WIREMEND_RECORD_ANSWERS", "100")]);
        assert_eq!(same, read(file, &[]));
        assert!(same.is_ok());
    }

    #[test]
    fn an_error_names_the_variable_and_not_its_value() {
        for (name, text, want) in [
            ("WIREMEND_LIMITS_HELD_BYTES", "sk-1", "expected a number"),
            ("WIREMEND_LIMITS_CONNECTIONS", "0", "it is at least 1"),
            ("WIREMEND_LIMITS_OPEN_ANSWERS", "0", "it is at least 1"),
            ("WIREMEND_RECORD_CONTENT", "sk-1", "expected true or false"),
            ("WIREMEND_MENDING_POLICY", "sk-1", "expected one of `exact`"),
            ("WIREMEND_MENDING_CALLS_IN_TEXT", "sk-1", "no dialect"),
            ("WIREMEND_LISTEN", "sk-1", "no address with a port"),
            ("WIREMEND_ADMIN", "sk-1", "no address with a port"),
            ("WIREMEND_UPSTREAM", "http://a,ftp://sk-1@b", "the URL of the upstream"),
            ("WIREMEND_UPSTREAM", "sk-1=http://b", "a prefix begins with a slash"),
            ("WIREMEND_LISTN", "sk-1", "there is no such setting"),
            ("WIREMEND_", "sk-1", "there is no such setting"),
        ] {
            let error = read("", &[(name, text)]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}: {want}")), "{error}");
            assert!(!error.contains("sk-1"), "{error}");
        }
    }

    #[test]
    fn variables_of_kubernetes_are_no_settings() {
        let variables = [
            "WIREMEND_SERVICE_HOST",
            "WIREMEND_SERVICE_PORT",
            "WIREMEND_SERVICE_PORT_HTTP",
            "WIREMEND_PORT",
            "WIREMEND_PORT_8484_TCP",
            "WIREMEND_PORT_8484_TCP_PROTO",
            "WIREMEND_PORT_8484_TCP_PORT",
            "WIREMEND_PORT_8484_TCP_ADDR",
            "WIREMEND_ADMIN_SERVICE_HOST",
            "WIREMEND_ADMIN_PORT_8485_TCP_ADDR",
        ];
        let given: Vec<(&str, &str)> = variables.iter().map(|name| (*name, "tcp://x")).collect();
        assert_eq!(read("", &given), Ok(Config::new()));
        for setting in settings() {
            assert!(!is_of_a_service(&setting.variable()), "{}", setting.variable());
        }
    }

    #[test]
    fn no_settings_are_the_defaults() {
        assert_eq!(read("", &[]), Ok(Config::new()));
    }

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

    /// The place of each mistake is said, and none of what is behind it.
    #[test]
    fn a_mistake_in_a_file_is_found_by_its_line_and_its_key() {
        let secret = "sk-12345";
        for (text, want) in [
            ("lisen = \"sk-12345\"", "line 1: unknown field `lisen`, expected one of"),
            (
                "\n[limits]\n\nheld_bytes = \"sk-12345\"",
                "line 4, `limits.held_bytes`: expected a number from 0",
            ),
            (
                "[limits]\nbody_bytes = -12345",
                "line 2, `limits.body_bytes`: expected a number from 0",
            ),
            ("[limits]\nheld = 1", "line 2, `limits`: unknown field `held`, expected one of"),
            (
                "[mending]\nmode = \"sk-12345\"",
                "line 2, `mending.mode`: expected `eager` or `validated`",
            ),
            (
                "[mending]\ncalls_in_text = \"sk-12345\"",
                "line 2, `mending.calls_in_text`: no dialect",
            ),
            (
                "mending.comment = \"sk-12345, expected x\"",
                "line 1, `mending.comment`: expected a boolean",
            ),
            ("[limits]\nconnections = 0", "line 2, `limits.connections`: it is at least 1"),
            ("[limits]\nopen_answers = 0", "line 2, `limits.open_answers`: it is at least 1"),
            ("listen = \"sk-12345\"", "line 1, `listen`: no address with a port"),
            ("admin = \"sk-12345\"", "line 1, `admin`: no address with a port"),
            ("a = 1\n[[upstream]]\nurl = \"http://a\"", "line 1: unknown field"),
            (
                "\n[[upstream]]\nurl = \"ftp://sk-12345@a\"",
                "line 2, `upstream`: the URL of the upstream",
            ),
            ("[[upstream]]\nprefix = \"/a\"", "line 1, `upstream`: missing field `url`"),
            (
                "[[upstream]]\nurl = \"http://a\"\n[[upstream.tool]]\nname = \"\"",
                "line 4, `upstream.tool.name`: the name of a tool",
            ),
            ("x =", "line 1: "),
            ("x = 1\ny = sk-12345", "line 2: "),
            ("x = 1\ny = \"sk-12345", "line 2: "),
            ("tls.key = \"sk-12345\"\ntls.key = \"sk-12345\"", "line 2: "),
        ] {
            let error = Config::read(text, []).unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with(want), "{text:?}: {said}");
            assert!(!said.contains(secret) && !said.contains("12345"), "{text:?}: {said}");
            assert!(!said.contains('\n'), "{said}");
            assert_eq!(error.in_file("f.toml").to_string(), format!("f.toml, {said}"));
        }
    }

    #[test]
    fn an_error_of_a_variable_is_in_no_file() {
        let given = [("WIREMEND_LIMITS_HELD_BYTES".to_owned(), "sk-12345".to_owned())];
        let error = Config::read("", given).unwrap_err();
        assert_eq!(error.line(), None);
        assert!(!error.in_file("f.toml").to_string().contains("f.toml"));
    }
}
