//! What a rewriter is told, and what it comes to.

use crate::WireOptions;

/// When what a body says leaves again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RewriteMode {
    /// Every event leaves as soon as all that it says is certain: at the latest a token, a key or a
    /// look-ahead later. Bytes that have left are never taken back.
    #[default]
    Append,
    /// For bytes that were forwarded already: only what may still be appended comes out, at the
    /// end.
    Suffix,
    /// The events of a call, and what follows them, wait until the call has ended. Its arguments
    /// leave mended if they are complete then, else as they came.
    Validated,
}

/// Everything a [`Rewriter`](crate::Rewriter) is told.
///
/// ```
/// use jsonmend_wire::{RewriteMode, RewriteOptions};
/// let options = RewriteOptions::new().with_mode(RewriteMode::Validated).with_held(1 << 20);
/// assert_eq!(options.mode(), RewriteMode::Validated);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteOptions {
    wire: WireOptions,
    mode: RewriteMode,
    json_content: bool,
    encoded: bool,
    held: usize,
}

impl RewriteOptions {
    /// Arguments are mended under [`Policy::CONSERVATIVE`](jsonmend_core::Policy::CONSERVATIVE),
    /// content passes through, [`RewriteMode::Append`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            mode: RewriteMode::Append,
            json_content: false,
            encoded: false,
            held: 8 << 20,
        }
    }

    /// How the body is decoded and the arguments are mended.
    ///
    /// ### Default
    /// [`WireOptions::new`].
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// When what a body says leaves again.
    ///
    /// ### Default
    /// [`RewriteMode::Append`].
    #[must_use]
    pub const fn with_mode(mut self, mode: RewriteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Whether the content is JSON by contract (JSON mode, structured outputs), and is mended, too.
    ///
    /// ### Default
    /// No: content is text, and passes through.
    #[must_use]
    pub const fn with_json_content(mut self, yes: bool) -> Self {
        self.json_content = yes;
        self
    }

    /// The `Content-Encoding` of the response. With any but `identity` the body passes through as it
    /// comes, and the outcome is [`RewriteOutcome::Encoded`].
    ///
    /// ### Default
    /// None. A body that begins as gzip or Zstandard data do is taken for encoded all the same.
    #[must_use]
    pub fn with_content_encoding(mut self, encoding: &str) -> Self {
        let name = encoding.trim_ascii();
        self.encoded = !(name.is_empty() || name.eq_ignore_ascii_case("identity"));
        self
    }

    /// How many bytes of events may wait. Beyond, what is open leaves as it came, and the outcome is
    /// [`RewriteOutcome::Overflow`].
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_held(mut self, bytes: usize) -> Self {
        self.held = bytes;
        self
    }

    /// How the body is decoded.
    #[must_use]
    pub const fn wire(&self) -> &WireOptions {
        &self.wire
    }

    /// When what a body says leaves again.
    #[must_use]
    pub const fn mode(&self) -> RewriteMode {
        self.mode
    }

    /// Whether the content is JSON.
    #[must_use]
    pub const fn json_content(&self) -> bool {
        self.json_content
    }

    /// Whether the response has a `Content-Encoding`.
    #[must_use]
    pub const fn is_encoded(&self) -> bool {
        self.encoded
    }

    /// How many bytes of events may wait.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What rewriting a body came to. It says nothing about the calls in it; the events do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RewriteOutcome {
    /// The body is compressed. It left as it came.
    Encoded,
    /// Something was changed.
    Mended,
    /// More had to wait than [`RewriteOptions::with_held`] allows: what was open then left as it came.
    Overflow,
    /// [`Rewriter::stop`](crate::Rewriter::stop) was called.
    Stopped,
    /// Every byte left as it came.
    Unchanged,
}

impl RewriteOutcome {
    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Encoded => "encoded",
            Self::Mended => "mended",
            Self::Overflow => "overflow",
            Self::Stopped => "stopped",
            Self::Unchanged => "unchanged",
        }
    }
}
