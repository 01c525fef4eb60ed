//! The limits for one response, and the options of the caller.

use wiremend_core::{MendOptions, Policy};

use crate::{ApiFormat, Framing, Guides, ToolPolicies, sse::SseLimits};

/// Limits on what a [`Decoder`](crate::Decoder) buffers. Exceeding one has a typed outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLimits {
    sse: SseLimits,
    calls: usize,
    arguments: usize,
    open_arguments: usize,
}

impl WireLimits {
    /// The defaults: lines of 1 MiB, events of 8 MiB, 4,096 calls, 8 MiB of arguments per call, 16 MiB of
    /// arguments of all open calls.
    #[must_use]
    pub const fn new() -> Self {
        Self { sse: SseLimits::new(), calls: 4096, arguments: 8 << 20, open_arguments: 16 << 20 }
    }

    /// Sets the limits for lines and events. The limit for events applies to every framing.
    #[must_use]
    pub const fn with_sse(mut self, limits: SseLimits) -> Self {
        self.sse = limits;
        self
    }

    /// Sets how many tool calls one response may begin. Further calls are reported as an error.
    ///
    /// ### Default
    /// 4,096.
    #[must_use]
    pub const fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Sets how long the arguments of one call may be, in bytes. A call with longer arguments ends as
    /// [`Outcome::Overflow`](wiremend_core::Outcome::Overflow), with their beginning; the rest is emitted
    /// verbatim.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_arguments(mut self, bytes: usize) -> Self {
        self.arguments = bytes;
        self
    }

    /// Sets how many bytes of arguments are kept of all open calls together. The call that exceeds it ends
    /// as for [`with_arguments`](Self::with_arguments). Where a stream sends the text of a call again and
    /// again, both readings of it count. A [`Rewriter`](crate::Rewriter) keeps as much again of JSON content
    /// and of texts that have ended.
    ///
    /// ### Default
    /// 16 MiB.
    #[must_use]
    pub const fn with_open_arguments(mut self, bytes: usize) -> Self {
        self.open_arguments = bytes;
        self
    }

    /// The limits for lines and events.
    #[must_use]
    pub const fn sse(&self) -> SseLimits {
        self.sse
    }

    /// The maximum number of calls.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.calls
    }

    /// The maximum length of the arguments of a call, in bytes.
    #[must_use]
    pub const fn arguments(&self) -> usize {
        self.arguments
    }

    /// The maximum number of bytes of arguments of all open calls.
    #[must_use]
    pub const fn open_arguments(&self) -> usize {
        self.open_arguments
    }
}

impl Default for WireLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The media types of streams of JSON values.
const NDJSON: [&str; 6] = [
    "application/json-lines",
    "application/jsonl",
    "application/ndjson",
    "application/stream+json",
    "application/x-json-stream",
    "application/x-ndjson",
];

/// The options of a [`Decoder`](crate::Decoder).
///
/// ```
/// use wiremend_core::{MendOptions, Policy};
/// use wiremend_wire::{ApiFormat, WireOptions};
/// let options = WireOptions::new()
///     .with_format(ApiFormat::Anthropic)
///     .with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
/// assert_eq!(options.format(), Some(ApiFormat::Anthropic));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireOptions {
    mending: MendOptions,
    framing: Option<Framing>,
    hint: Option<Framing>,
    wire: Option<ApiFormat>,
    limits: WireLimits,
    guides: Option<Guides>,
    policies: Option<ToolPolicies>,
}

impl WireOptions {
    /// Framing and format are detected; arguments are repaired under [`Policy::CONSERVATIVE`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            mending: MendOptions::new().with_policy(Policy::CONSERVATIVE).without_search(),
            framing: None,
            hint: None,
            wire: None,
            limits: WireLimits::new(),
            guides: None,
            policies: None,
        }
    }

    /// Sets how the arguments of tool calls are repaired. They are read without a search, so that they are the
    /// same however they arrive.
    ///
    /// ### Default
    /// [`Policy::CONSERVATIVE`], default limits, first document.
    #[must_use]
    pub fn with_mending(mut self, options: MendOptions) -> Self {
        self.mending = options.without_search();
        self
    }

    /// Sets the guides to the arguments of each tool. A call whose tool has a guide is repaired with it,
    /// other calls as set by [`with_mending`](Self::with_mending).
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub fn with_guides(mut self, guides: Guides) -> Self {
        self.guides = Some(guides);
        self
    }

    /// Sets the policies for the arguments of single tools.
    ///
    /// ### Default
    /// That of [`with_mending`](Self::with_mending) for every tool.
    #[must_use]
    pub fn with_policies(mut self, policies: ToolPolicies) -> Self {
        self.policies = Some(policies);
        self
    }

    /// Sets the framing, if the caller knows it.
    ///
    /// ### Default
    /// It is detected from the first bytes.
    #[must_use]
    pub const fn with_framing(mut self, framing: Framing) -> Self {
        self.framing = Some(framing);
        self
    }

    /// Sets the `Content-Type` of the response. It only matters if the first bytes are ambiguous. Plain
    /// words are not a stream, unless it is `text/event-stream`. A single JSON value is a body that was not
    /// streamed, unless it is `application/x-ndjson` or a synonym.
    ///
    /// ### Default
    /// None.
    ///
    /// ```
    /// use wiremend_wire::{Framing, WireOptions, transcribe};
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

    /// Sets the provider's format, if the caller knows it.
    ///
    /// ### Default
    /// It is detected from the first payload that matches a known format.
    #[must_use]
    pub const fn with_format(mut self, wire: ApiFormat) -> Self {
        self.wire = Some(wire);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: WireLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How arguments are repaired.
    #[must_use]
    pub const fn mending(&self) -> &MendOptions {
        &self.mending
    }

    /// The guides to the arguments of each tool.
    #[must_use]
    pub const fn guides(&self) -> Option<&Guides> {
        self.guides.as_ref()
    }

    /// The policies for the arguments of single tools.
    #[must_use]
    pub const fn policies(&self) -> Option<&ToolPolicies> {
        self.policies.as_ref()
    }

    /// The framing, if it is fixed.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// The framing according to the `Content-Type` header.
    pub(crate) const fn hint(&self) -> Option<Framing> {
        self.hint
    }

    /// The format, if it is fixed.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.wire
    }

    /// The limits.
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
