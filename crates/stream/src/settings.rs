//! Options from the environment.

use std::{error::Error, fmt};

use wiremend_core::{Options, Policy, Risk};
use wiremend_response::ResponseOptions;
use wiremend_wire::{RewriteOptions, ToolPolicies, WireOptions};

use crate::{AcceptOptions, JsonOptions, Oversized};

/// Options as an operator sets them, from the environment or any other table of names and texts.
///
/// | name | values | default | what it does |
/// |---|---|---|---|
/// | `JSON_REPAIR_ENABLED` | a switch | on | off: no repair is allowed; what needs one is `invalid`, and raw |
/// | `JSON_REPAIR_BUFFER_CAP_BYTES` | a number of bytes above 0 | 65536 | how large an object in the text may be, and what a hook receives; see [`with_oversized`](Settings::with_oversized) |
/// | `JSON_REPAIR_STRICT_MODE` | a switch | off | on: only repairs for which there is one reading, and cut objects are not closed |
/// | `JSON_COERCION_ENABLED` | a switch | on | off: a schema only validates, and its rules change nothing |
/// | `JSON_REPAIR_SCHEMA` | a text | none | the schema, or where it is: the caller reads it |
///
/// A switch is `1`, `true`, `yes` or `on`, or `0`, `false`, `no` or `off`, in any case. An empty text counts as
/// unset.
///
/// ```
/// use wiremend_stream::{ResponseOptions, Settings};
///
/// // In a program: `Settings::from_lookup(|name| std::env::var(name).ok())?`.
/// let settings = Settings::from_lookup(|name| match name {
///     "JSON_REPAIR_BUFFER_CAP_BYTES" => Some("4096".to_owned()),
///     _ => None,
/// })?;
/// let options = settings.apply(ResponseOptions::new());
/// assert_eq!(options.object_limit(), 4096);
///
/// let wrong = Settings::from_lookup(|name| Some(name.to_owned())).unwrap_err();
/// assert_eq!(wrong.name(), "JSON_REPAIR_ENABLED");
/// # Ok::<(), wiremend_stream::SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    enabled: bool,
    cap: usize,
    oversized: Oversized,
    strict: bool,
    coerces: bool,
    schema: Option<String>,
}

impl Settings {
    /// Reads the settings. `lookup` gives the text of a name, or `None` if it is not set; nothing else is asked.
    ///
    /// # Errors
    /// The first name whose text is not one of its values.
    pub fn from_lookup(
        mut lookup: impl FnMut(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let mut text = |name| {
            let text = lookup(name).map(|text| text.trim().to_owned());
            (name, text.filter(|text| !text.is_empty()))
        };
        Ok(Self {
            enabled: switch(text("JSON_REPAIR_ENABLED"), true)?,
            cap: match text("JSON_REPAIR_BUFFER_CAP_BYTES") {
                (_, None) => 65_536,
                (name, Some(text)) => {
                    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                    let bytes = text.parse().ok().filter(|bytes| is_number && *bytes > 0);
                    bytes.ok_or(SettingsError { name, value: text, wants: "a number above 0" })?
                }
            },
            oversized: Oversized::Error,
            strict: switch(text("JSON_REPAIR_STRICT_MODE"), false)?,
            coerces: switch(text("JSON_COERCION_ENABLED"), true)?,
            schema: text("JSON_REPAIR_SCHEMA").1,
        })
    }

    /// Sets what happens to a call or an object that is longer than the [cap](Self::cap), for
    /// [`apply`](Self::apply) and [`accept_options`](Self::accept_options). No setting says that: whether something may
    /// pass without a check is for the program to decide.
    ///
    /// ```
    /// use wiremend_stream::{Oversized, ResponseOptions, Settings};
    ///
    /// let settings = Settings::from_lookup(|_| None)?;
    /// assert_eq!(settings.apply(ResponseOptions::new()).object_limit(), 65_536);
    /// // An object that may pass has to be kept.
    /// let settings = settings.with_oversized(Oversized::PassRaw);
    /// let options = settings.apply(ResponseOptions::new());
    /// assert_eq!((options.object_limit(), options.keeps_raw_objects()), (8 << 20, true));
    /// # Ok::<(), wiremend_stream::SettingsError>(())
    /// ```
    ///
    /// ### Default
    /// [`Oversized::Error`].
    #[must_use]
    pub const fn with_oversized(mut self, oversized: Oversized) -> Self {
        self.oversized = oversized;
        self
    }

    /// Whether anything is repaired. A program may skip the adapters if not.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// How large an object may be, in bytes.
    #[must_use]
    pub const fn cap(&self) -> usize {
        self.cap
    }

    /// The schema, or where it is.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The options with these settings: the policies for calls, for the calls of single tools and for objects, never a
    /// wider one than theirs; whether rules of schemas may change a value; and how large an object may be. The buffer
    /// limit for objects becomes the cap if that is larger, so that each object up to the cap is fitted to its schema.
    ///
    /// The object limit becomes the cap, unless what is longer [may pass](Self::with_oversized): then it stays as it is,
    /// and bounds what may.
    #[must_use]
    pub fn apply(&self, options: ResponseOptions) -> ResponseOptions {
        #[cfg(feature = "schema")]
        let options = if self.coerces { options } else { options.without_rules() };
        let (wire, objects) = (self.wire(options.wire()), self.mending(options.mending()));
        let limits = objects.limits();
        let buffer = limits.buffer().max(self.cap);
        let objects = objects.clone().with_limits(limits.with_buffer(buffer));
        let options = options.with_wire(wire).with_mending(objects);
        match self.oversized {
            Oversized::Error => options.with_object_limit(self.cap),
            Oversized::PassUnchecked => options,
            Oversized::PassRaw => options.with_raw_objects(),
        }
    }

    /// The same for a channel of text or JSON: the policy and the object limit.
    ///
    /// The options for items and typed values are made from these, or from those for a response.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_stream::{JsonEvent, JsonOptions, MendExt, Settings};
    ///
    /// let settings = Settings::from_lookup(|name| {
    ///     (name == "JSON_REPAIR_ENABLED").then(|| "off".to_owned())
    /// })?;
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("{'a': 1}")]);
    /// let events = chunks.mend_json(settings.apply_to_json(JsonOptions::new()));
    /// let events: Vec<_> = block_on(events.collect());
    /// let ended = |event: &Result<JsonEvent, _>| {
    ///     matches!(event, Ok(JsonEvent::Ended(object)) if object.outcome().is_valid())
    /// };
    /// assert!(!events.iter().any(ended));
    /// # Ok::<(), wiremend_stream::SettingsError>(())
    /// ```
    #[must_use]
    pub fn apply_to_json(&self, options: JsonOptions) -> JsonOptions {
        let mending = self.mending(options.mending());
        options.with_mending(mending).with_object_limit(self.cap)
    }

    /// The same for a body that is written again: the policies. A fitter, which may change values, is the caller's own
    /// to leave out if [`coerces`](Self::coerces) is false.
    #[must_use]
    pub fn apply_to_rewrite(&self, options: RewriteOptions) -> RewriteOptions {
        let wire = self.wire(options.wire());
        options.with_wire(wire)
    }

    fn wire(&self, options: &WireOptions) -> WireOptions {
        let mut wire = options.clone();
        if let Some(own) = wire.policies().cloned() {
            let settings = self.clone();
            let narrower = move |tool: &str| own.find(tool).map(|policy| settings.policy(policy));
            wire = wire.with_policies(ToolPolicies::new(narrower));
        }
        let calls = self.mending(wire.mending());
        wire.with_mending(calls)
    }

    fn mending(&self, options: &Options) -> Options {
        options.clone().with_policy(self.policy(options.policy()))
    }

    fn policy(&self, policy: Policy) -> Policy {
        match (self.enabled, self.strict) {
            (false, _) => Policy::STRICT,
            (true, true) => policy.at_most(Risk::Exact),
            (true, false) => policy,
        }
    }

    /// The options of a hook with this cap, and with what happens to [what is longer](Self::with_oversized).
    #[must_use]
    pub const fn accept_options(&self) -> AcceptOptions {
        AcceptOptions::new().with_cap(self.cap, self.oversized)
    }

    /// The options for a schema: all rules, or none, and the repairs that are allowed.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn fit_options(&self) -> wiremend_schema::FitOptions {
        let options = wiremend_schema::FitOptions::new();
        let engine = options.engine().clone();
        let policy = self.policy(engine.policy());
        let options = options.with_engine(engine.with_policy(policy));
        if self.coerces { options } else { options.with_rules(wiremend_schema::Rules::none()) }
    }

    /// Whether the rules of a schema may change a value.
    #[must_use]
    pub const fn coerces(&self) -> bool {
        self.coerces
    }
}

fn switch(
    (name, text): (&'static str, Option<String>),
    default: bool,
) -> Result<bool, SettingsError> {
    let Some(value) = text else { return Ok(default) };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(SettingsError { name, value, wants: "a switch" }),
    }
}

/// A setting whose text is not one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    name: &'static str,
    value: String,
    wants: &'static str,
}

impl SettingsError {
    /// The name of the setting.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its text.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:?}, which is not {}", self.name, self.value, self.wants)
    }
}

impl Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_lookup(|name| {
            set.iter().find(|(set, _)| *set == name).map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn nothing_is_set_by_default() {
        let settings = read(&[("JSON_REPAIR_ENABLED", " "), ("JSON_REPAIR_SCHEMA", "")]);
        let settings = settings.expect("empty texts count as unset");
        assert_eq!(Ok(settings.clone()), read(&[]));
        assert!(settings.is_enabled() && settings.coerces());
        assert_eq!((settings.cap(), settings.schema()), (65_536, None));
        let options = settings.apply(ResponseOptions::new());
        assert_eq!(options.mending().policy(), Policy::PERMISSIVE);
        assert_eq!(options.wire().mending().policy(), Policy::CONSERVATIVE);
    }

    #[cfg(feature = "schema")]
    #[test]
    fn a_schema_is_fitted_within_the_policy() {
        let schema = wiremend_schema::Schema::from_text(r#"{"type": "object"}"#).expect("a schema");
        for (set, text, is_valid) in [
            ("JSON_REPAIR_ENABLED=off", "{n: 3}", false),
            ("JSON_REPAIR_ENABLED=off", "{\"n\": 3}", true),
            ("JSON_REPAIR_STRICT_MODE=on", "{'n': 3}", true),
            ("JSON_REPAIR_STRICT_MODE=on", "{'n': }", false),
        ] {
            let settings = read(&[set.split_once('=').expect("a name")]).expect("a switch");
            let fitted = schema.fit(text.as_bytes(), &settings.fit_options());
            assert_eq!(fitted.outcome().is_complete(), is_valid, "{set} {text}");
        }
    }

    #[test]
    fn policies_only_become_narrower() {
        let off = read(&[("JSON_REPAIR_ENABLED", "Off")]).expect("a switch");
        let strict = read(&[("JSON_REPAIR_STRICT_MODE", "1")]).expect("a switch");
        let own = ResponseOptions::new()
            .with_mending(wiremend_core::Options::new().with_policy(Policy::STRICT));
        assert_eq!(strict.apply(own).mending().policy(), Policy::STRICT);
        for (settings, text, outcome) in [
            (&off, "{'a': 1}", wiremend_core::Outcome::Invalid),
            (&strict, "{'a': 1}", wiremend_core::Outcome::Repaired),
            (&strict, "{'a': 1", wiremend_core::Outcome::Cut),
            (&strict, "{'a': 1, 'b': }", wiremend_core::Outcome::Invalid),
            (&off, "{\"a\": 1}", wiremend_core::Outcome::Unchanged),
        ] {
            let options = settings.apply(ResponseOptions::new());
            let mended = wiremend_core::mend(text.as_bytes(), options.mending());
            assert_eq!(mended.outcome(), outcome, "{text}");
        }
    }

    #[test]
    fn policies_of_single_tools_become_narrower_too() {
        let body = br#"{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",
            "function":{"name":"add","arguments":"{'a': 1, 'b': }"}}]},"finish_reason":"tool_calls"}]}"#;
        let own = ToolPolicies::new(|_| Some(Policy::PERMISSIVE));
        let wire = wiremend_wire::WireOptions::new().with_policies(own);
        let options = ResponseOptions::new().with_wire(wire);
        for (set, complete) in [
            (&[][..], true),
            (&[("JSON_REPAIR_STRICT_MODE", "on")], false),
            (&[("JSON_REPAIR_ENABLED", "off")], false),
        ] {
            let settings = read(set).expect("switches");
            let response = crate::Response::read(body, settings.apply(options.clone()));
            let calls = response.transcript().calls();
            assert_eq!(calls[0].outcome().is_complete(), complete, "{set:?}");
        }
    }

    #[test]
    fn bodies_that_are_written_again_follow_the_switches() {
        for (set, policy) in [
            (&[][..], Policy::CONSERVATIVE),
            (&[("JSON_REPAIR_STRICT_MODE", "on")], Policy::CONSERVATIVE.at_most(Risk::Exact)),
            (&[("JSON_REPAIR_ENABLED", "off")], Policy::STRICT),
        ] {
            let options = read(set).expect("switches").apply_to_rewrite(RewriteOptions::new());
            assert_eq!(options.wire().mending().policy(), policy, "{set:?}");
        }
        let cap = read(&[("JSON_REPAIR_BUFFER_CAP_BYTES", "7")]).expect("a number");
        let options = cap.apply_to_json(JsonOptions::new());
        assert_eq!(options, JsonOptions::new().with_object_limit(7));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, text) in [
            ("JSON_REPAIR_BUFFER_CAP_BYTES", "64 KB"),
            ("JSON_REPAIR_BUFFER_CAP_BYTES", "-1"),
            ("JSON_REPAIR_BUFFER_CAP_BYTES", "0"),
            ("JSON_REPAIR_BUFFER_CAP_BYTES", "+5"),
            ("JSON_COERCION_ENABLED", "maybe"),
        ] {
            let wrong = read(&[(name, text)]).expect_err(text);
            assert_eq!((wrong.name(), wrong.value()), (name, text));
            assert!(wrong.to_string().contains(name));
        }
    }
}
