//! What one response may cost, and what the caller asks for.

use jsonmend_core::{Options, Policy};

use crate::{ApiFormat, Framing, Guides, sse::SseLimits};

/// Bounds on what a [`Decoder`](crate::Decoder) keeps. Passing one has a typed outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLimits {
    sse: SseLimits,
    calls: usize,
    arguments: usize,
}

impl WireLimits {
    /// The defaults: lines of 1 MiB, events of 8 MiB, 4,096 calls, 8 MiB of arguments a call.
    #[must_use]
    pub const fn new() -> Self {
        Self { sse: SseLimits::new(), calls: 4096, arguments: 8 << 20 }
    }

    /// The longest line and the largest event; the latter holds for every framing.
    #[must_use]
    pub const fn with_sse(mut self, limits: SseLimits) -> Self {
        self.sse = limits;
        self
    }

    /// How many tool calls one response may begin. What goes beyond is reported as an error.
    ///
    /// ### Default
    /// 4,096.
    #[must_use]
    pub const fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// How long the arguments of one call may be, in bytes. Beyond, the call ends as
    /// [`Outcome::Overflow`](jsonmend_core::Outcome::Overflow).
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_arguments(mut self, bytes: usize) -> Self {
        self.arguments = bytes;
        self
    }

    /// The bounds of lines and events.
    #[must_use]
    pub const fn sse(&self) -> SseLimits {
        self.sse
    }

    /// The largest number of calls.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.calls
    }

    /// The longest arguments of a call, in bytes.
    #[must_use]
    pub const fn arguments(&self) -> usize {
        self.arguments
    }
}

impl Default for WireLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The names under which JSON values one after another are sent.
const NDJSON: [&str; 6] = [
    "application/json-lines",
    "application/jsonl",
    "application/ndjson",
    "application/stream+json",
    "application/x-json-stream",
    "application/x-ndjson",
];

/// Everything a [`Decoder`](crate::Decoder) is told.
///
/// ```
/// use jsonmend_core::{Options, Policy};
/// use jsonmend_wire::{ApiFormat, WireOptions};
/// let options = WireOptions::new()
///     .with_format(ApiFormat::Anthropic)
///     .with_mending(Options::new().with_policy(Policy::PERMISSIVE));
/// assert_eq!(options.format(), Some(ApiFormat::Anthropic));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireOptions {
    mending: Options,
    framing: Option<Framing>,
    hint: Option<Framing>,
    wire: Option<ApiFormat>,
    limits: WireLimits,
    guides: Option<Guides>,
}

impl WireOptions {
    /// Framing and format are detected; arguments are mended under [`Policy::CONSERVATIVE`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            mending: Options::new().with_policy(Policy::CONSERVATIVE),
            framing: None,
            hint: None,
            wire: None,
            limits: WireLimits::new(),
            guides: None,
        }
    }

    /// How the arguments of tool calls are mended.
    ///
    /// ### Default
    /// [`Policy::CONSERVATIVE`], default limits, first document.
    #[must_use]
    pub fn with_mending(mut self, options: Options) -> Self {
        self.mending = options;
        self
    }

    /// With what is known of the arguments of each tool. A call whose tool has a guide is mended with
    /// it; others as [`with_mending`](Self::with_mending) says.
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub fn with_guides(mut self, guides: Guides) -> Self {
        self.guides = Some(guides);
        self
    }

    /// The framing, where the caller knows it.
    ///
    /// ### Default
    /// The first bytes tell.
    #[must_use]
    pub const fn with_framing(mut self, framing: Framing) -> Self {
        self.framing = Some(framing);
        self
    }

    /// The `Content-Type` of the response. It counts only where the first bytes leave two readings:
    /// words are no stream, unless it is `text/event-stream`; one JSON value is a body that was not
    /// streamed, unless it is `application/x-ndjson` or another name of that.
    ///
    /// ### Default
    /// None.
    ///
    /// ```
    /// use jsonmend_wire::{Framing, WireOptions, transcribe};
    /// let body = b"slow today\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    /// assert_eq!(transcribe(body, WireOptions::new()).framing(), Some(Framing::Text));
    /// let options = WireOptions::new().with_content_type("text/event-stream; charset=utf-8");
    /// assert_eq!(transcribe(body, options).text(), "Hi");
    /// ```
    #[must_use]
    pub fn with_content_type(mut self, content_type: &str) -> Self {
        let name = content_type.split(';').next().unwrap_or_default().trim_ascii();
        let is_name = |known: &&str| name.eq_ignore_ascii_case(known);
        self.hint = if is_name(&"text/event-stream") {
            Some(Framing::Sse)
        } else {
            NDJSON.iter().any(is_name).then_some(Framing::Ndjson)
        };
        self
    }

    /// The provider's format, where the caller knows it.
    ///
    /// ### Default
    /// The first payload that belongs to a known format tells.
    #[must_use]
    pub const fn with_format(mut self, wire: ApiFormat) -> Self {
        self.wire = Some(wire);
        self
    }

    /// The bounds.
    #[must_use]
    pub const fn with_limits(mut self, limits: WireLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How arguments are mended.
    #[must_use]
    pub const fn mending(&self) -> &Options {
        &self.mending
    }

    /// What is known of the arguments of each tool.
    #[must_use]
    pub const fn guides(&self) -> Option<&Guides> {
        self.guides.as_ref()
    }

    /// The framing, if it is fixed.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// What the header says of the framing.
    pub(crate) const fn hint(&self) -> Option<Framing> {
        self.hint
    }

    /// The format, if it is fixed.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.wire
    }

    /// The bounds.
    #[must_use]
    pub const fn limits(&self) -> WireLimits {
        self.limits
    }
}

impl Default for WireOptions {
    fn default() -> Self {
        Self::new()
    }
}
