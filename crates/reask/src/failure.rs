//! Calls that brought no answer, and what follows from the words of the provider.

use core::{fmt, time::Duration};

use serde_json::Value;

use crate::{
    prompt::frame::start_of,
    refusal::{is_about_schema, refused, said},
};

/// How much of a body is kept, in bytes: as much as a model writes, which the body may contain.
const KEPT: usize = 1 << 20;

/// A call that brought no answer: the connection failed, or the provider replied with an error.
///
/// ```
/// use wiremend_reask::{Failure, FailureClass};
///
/// let busy = Failure::status(503, "upstream connect error");
/// assert_eq!(busy.class(), FailureClass::Overloaded);
/// let body = r#"{"error": {"message": "'response_format' of type 'json_schema' is not supported with this model"}}"#;
/// assert_eq!(Failure::status(400, body).class(), FailureClass::ModeRefused);
/// // The word JSON in the body of a gateway says nothing about what the model supports.
/// assert_eq!(Failure::status(524, "Expected JSON response").class(), FailureClass::Overloaded);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    status: Option<u16>,
    body: String,
    kind: Kind,
    retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Aborted,
    Network,
    Status,
    TimedOut,
}

/// What a [`Failure`] means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// The caller gave up. Nothing is tried again.
    Aborted,
    /// The provider could not use what the model wrote, and returned it: an answer to repair.
    FailedGeneration,
    /// The provider refuses the [`Mode`](crate::Mode) of the request, for this model or for this schema.
    ModeRefused,
    /// The connection failed.
    Network,
    /// The server is overloaded or broken: the same request may succeed later.
    Overloaded,
    /// There were too many requests.
    RateLimited,
    /// The request is wrong, or not allowed. The same request will fail again.
    Refused,
    /// The provider refuses a temperature for this model.
    TemperatureRefused,
    /// There was no answer in time.
    TimedOut,
}

impl FailureClass {
    /// All classes, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Aborted,
        Self::FailedGeneration,
        Self::ModeRefused,
        Self::Network,
        Self::Overloaded,
        Self::RateLimited,
        Self::Refused,
        Self::TemperatureRefused,
        Self::TimedOut,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::FailedGeneration => "failed-generation",
            Self::ModeRefused => "mode-refused",
            Self::Network => "network",
            Self::Overloaded => "overloaded",
            Self::RateLimited => "rate-limited",
            Self::Refused => "refused",
            Self::TemperatureRefused => "temperature-refused",
            Self::TimedOut => "timed-out",
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Network | Self::Overloaded | Self::RateLimited | Self::TimedOut)
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Failure {
    /// The provider replied with that HTTP status and body. Of the body, the first MiB is kept.
    #[must_use]
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self { status: Some(status), ..Self::of(Kind::Status, body) }
    }

    /// The connection failed.
    #[must_use]
    pub fn network(message: impl Into<String>) -> Self {
        Self::of(Kind::Network, message)
    }

    /// There was no answer in time.
    #[must_use]
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::of(Kind::TimedOut, message)
    }

    /// The caller gave up.
    #[must_use]
    pub fn aborted() -> Self {
        Self::of(Kind::Aborted, "aborted")
    }

    fn of(kind: Kind, body: impl Into<String>) -> Self {
        let mut body = body.into();
        body.truncate(start_of(&body, KEPT).len());
        Self { status: None, body, kind, retry_after: None }
    }

    /// Sets how long the provider asks to wait. [`retry_after`](crate::retry_after) reads the header.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The HTTP status, if there was a reply.
    #[must_use]
    pub const fn http_status(&self) -> Option<u16> {
        self.status
    }

    /// The body or the message.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// How long the provider asks to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The text of the model that the provider could not use (`failed_generation` of Groq).
    ///
    /// ```
    /// use wiremend_reask::Failure;
    /// let body = r#"{"error": {"code": "json_validate_failed", "failed_generation": "{n: 1"}}"#;
    /// assert_eq!(Failure::status(400, body).failed_generation().as_deref(), Some("{n: 1"));
    /// ```
    #[must_use]
    pub fn failed_generation(&self) -> Option<String> {
        let text = self.error_member("failed_generation")?;
        Some(text).filter(|text| !text.trim().is_empty() && self.kind == Kind::Status)
    }

    /// What it means.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self.kind {
            Kind::Aborted => return FailureClass::Aborted,
            Kind::Network => return FailureClass::Network,
            Kind::TimedOut => return FailureClass::TimedOut,
            Kind::Status => {}
        }
        if self.failed_generation().is_some() {
            return FailureClass::FailedGeneration;
        }
        let code = self.error_member("code").or_else(|| self.error_member("type"));
        let code = code.unwrap_or_default().to_ascii_lowercase();
        match self.status.unwrap_or_default() {
            408 | 425 => FailureClass::TimedOut,
            // A quota that is used up is not restored by waiting a few seconds.
            429 if code == "insufficient_quota" => FailureClass::Refused,
            429 => FailureClass::RateLimited,
            500.. => FailureClass::Overloaded,
            400 | 404 | 415 | 422 => self.refusal(),
            _ => FailureClass::Refused,
        }
    }

    /// What a request was refused for.
    fn refusal(&self) -> FailureClass {
        refused(&self.message(), &self.error_member("param").unwrap_or_default())
    }

    /// Whether the mode was refused because of the schema, which says nothing about the model.
    pub(crate) fn is_about_schema(&self) -> bool {
        is_about_schema(&self.message())
    }

    /// The message of the provider, without what is around it: some providers repeat the request there.
    fn message(&self) -> String {
        let said = serde_json::from_str(&self.body).map(|body| said(&body)).unwrap_or_default();
        if said.is_empty() { self.body.clone() } else { said }
    }

    /// A member of the error in the body, in any of the usual forms.
    fn error_member(&self, name: &str) -> Option<String> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        // Gemini puts the object into a list.
        let body = body.get(0).unwrap_or(&body);
        let found = body.get("error").and_then(|error| error.get(name)).or_else(|| body.get(name));
        match found? {
            Value::String(text) => Some(text.clone()),
            other @ (Value::Object(_) | Value::Array(_)) => Some(other.to_string()),
            _ => None,
        }
    }
}

/// The class, and the first 200 characters of the body.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class())?;
        if let Some(status) = self.status {
            write!(f, " (status {status})")?;
        }
        let end = self.body.char_indices().nth(200).map_or(self.body.len(), |(at, _)| at);
        write!(f, ": {}", self.body.get(..end).unwrap_or_default())
    }
}

impl std::error::Error for Failure {}
