//! What is wrong with settings, and where.

use wiremend_exchange::SettingError;

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
    use crate::Config;

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
