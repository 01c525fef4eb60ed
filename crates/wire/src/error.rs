//! Errors inside a response.

pub use wiremend_core::UnknownCode;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A call that had already ended was sent again with different arguments.
    Contradiction,
    /// Arguments arrived for a call that had already ended.
    LateArguments,
    /// A payload that is not JSON.
    Malformed,
    /// The body is not a stream: an HTML page, plain text, or a framing that is not supported.
    NotAStream,
    /// The provider reported an error inside the response.
    Provider,
    /// More calls than [`WireLimits::with_calls`](crate::WireLimits::with_calls) allows.
    TooManyCalls,
    /// No payload matched a known format.
    Unrecognised,
}

impl ErrorKind {
    /// Every kind, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Contradiction,
        Self::LateArguments,
        Self::Malformed,
        Self::NotAStream,
        Self::Provider,
        Self::TooManyCalls,
        Self::Unrecognised,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::LateArguments => "late-arguments",
            Self::Malformed => "malformed",
            Self::NotAStream => "not-a-stream",
            Self::Provider => "provider",
            Self::TooManyCalls => "too-many-calls",
            Self::Unrecognised => "unrecognised",
        }
    }
}

/// An error inside a response whose HTTP status was a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The kind.
    pub(crate) kind: ErrorKind,
    /// The message.
    pub(crate) message: String,
    /// The provider's code, or the status, as text.
    pub(crate) code: Option<String>,
    /// The provider's error type.
    pub(crate) error_type: Option<String>,
    /// The parameter that caused it.
    pub(crate) param: Option<String>,
    /// The raw text of the model that the server could not use.
    pub(crate) failed_generation: Option<String>,
}

/// The kind, the message, and the provider's code if there is one.
impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.message)?;
        match &self.code {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for WireError {}

impl WireError {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The provider's code, or the status, as text.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The provider's error type.
    #[must_use]
    pub fn error_type(&self) -> Option<&str> {
        self.error_type.as_deref()
    }

    /// The parameter that caused it.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// The raw text of the model that the server could not use.
    #[must_use]
    pub fn failed_generation(&self) -> Option<&str> {
        self.failed_generation.as_deref()
    }

    /// The same error with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// An error with only a message.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            error_type: None,
            param: None,
            failed_generation: None,
        }
    }
}

coded!(ErrorKind);

/// Implements `Display` with `code()`, and `FromStr` with the codes of `ALL`.
macro_rules! coded {
    ($($name:ident),+) => {$(
        /// The code.
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.code())
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::UnknownCode;

            fn from_str(code: &str) -> Result<Self, $crate::UnknownCode> {
                Self::ALL.iter().copied().find(|one| one.code() == code).ok_or($crate::UnknownCode::new("code"))
            }
        }
    )+};
}
pub(crate) use coded;
