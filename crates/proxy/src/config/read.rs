//! Reads settings from a file and from the environment.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Config, ConfigError, Setting, Upstream, settings};

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

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_exchange::{CallsInText, Mode};

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
}
