//! The options and the outcome of a rewriter.

use crate::{CallFinders, FitHook, WireOptions};

/// When the arguments of a call are emitted. In each mode they are repaired if the call is complete when it ends, and
/// verbatim if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RewriteMode {
    /// Valid arguments are emitted as they arrive, at the latest one token, key or look-ahead later. From the first
    /// byte that needs a repair, the events wait until the call has ended.
    #[default]
    Eager,
    /// The events of a call, and everything after them, wait until the call has ended, so that a
    /// [hook](RewriteOptions::with_fit_hook) can change all of its arguments.
    Validated,
}

/// The options of a [`Rewriter`](crate::Rewriter).
///
/// ```
/// use wiremend_wire::{RewriteMode, RewriteOptions};
/// let options = RewriteOptions::new().with_mode(RewriteMode::Validated).with_held(1 << 20);
/// assert_eq!(options.mode(), RewriteMode::Validated);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteOptions {
    wire: WireOptions,
    mode: RewriteMode,
    json_content: bool,
    finders: Option<CallFinders>,
    withholds: bool,
    fitter: Option<FitHook>,
    encoded: bool,
    held: usize,
}

impl RewriteOptions {
    /// Arguments are repaired under [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE),
    /// content passes through, and the mode is [`RewriteMode::Eager`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            mode: RewriteMode::Eager,
            json_content: false,
            finders: None,
            withholds: false,
            fitter: None,
            encoded: false,
            held: 8 << 20,
        }
    }

    /// Sets how the body is decoded and the arguments are repaired.
    ///
    /// ### Default
    /// [`WireOptions::new`].
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// Sets when the content of the body is emitted.
    ///
    /// ### Default
    /// [`RewriteMode::Eager`].
    #[must_use]
    pub const fn with_mode(mut self, mode: RewriteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the content must be JSON (JSON mode, structured outputs), and is repaired, too.
    ///
    /// ### Default
    /// No: content is text, and passes through.
    #[must_use]
    pub const fn with_json_content(mut self, yes: bool) -> Self {
        self.json_content = yes;
        self
    }

    /// Looks for calls in the text, and sends those that are complete on in the shape of the provider:
    /// their text is removed, and `tool_calls`, `tool_use` or `functionCall` comes before the end of the
    /// choice. Where that end says that the model stopped by itself, it says afterwards that it stopped for
    /// tool calls. See docs/streams.md.
    ///
    /// From the first call in a text on, the events wait for the end of the choice. A call that is cut
    /// off or refused stays in the text, and so do all calls of a turn that does not end, of a body that
    /// lost something, and of a format other than OpenAI Chat, Anthropic Messages, Cohere's version 2, Gemini and Ollama.
    /// Does nothing for content that is [JSON](Self::with_json_content).
    ///
    /// ### Default
    /// Text passes through.
    #[must_use]
    pub fn with_calls_in_text(mut self, finders: CallFinders) -> Self {
        self.finders = Some(finders);
        self
    }

    /// Sets whether calls are withheld that were cut off: those whose outcome is [`Outcome::Cut`](wiremend_core::Outcome::Cut)
    /// or `Closed`, because their arguments, their turn or the body stopped within them, and what the model was
    /// writing when its turn ended for another reason than a stop or a call for tools, also if its arguments are valid
    /// JSON. Such a call is taken out of the body, and its outcome is not complete; the finish reason stays. A client
    /// that runs whatever calls it finds then runs none that was cut off. Calls that ended before that leave.
    ///
    /// All that follows the beginning of a call waits until it is known how its turn goes on, within
    /// [`with_held`](Self::with_held). In formats other than OpenAI Chat and Responses, Anthropic Messages, Gemini and
    /// Ollama, nothing is withheld.
    ///
    /// ### Default
    /// No: they leave as they came.
    ///
    /// ```
    /// use wiremend_wire::{RewriteOptions, Rewriter, Rewritten};
    ///
    /// let entry = r#"{"id":"c","type":"function","function":{"name":"rm","arguments":"{\"path\":\"/tmp\"}"}}"#;
    /// let body = format!(
    ///     r#"{{"choices":[{{"message":{{"tool_calls":[{entry}]}},"finish_reason":"length"}}]}}"#
    /// );
    /// let mut rewriter = Rewriter::new(RewriteOptions::new().with_cut_calls_withheld(true));
    /// let mut out = Vec::new();
    /// let mut take = |piece: Rewritten<'_>| {
    ///     if let Rewritten::Bytes(bytes) = piece {
    ///         out.extend_from_slice(bytes);
    ///     }
    /// };
    /// rewriter.push(body.as_bytes(), &mut take);
    /// rewriter.finish(&mut take);
    /// assert_eq!(String::from_utf8(out).unwrap(), body.replace(entry, ""));
    /// ```
    #[must_use]
    pub const fn with_cut_calls_withheld(mut self, yes: bool) -> Self {
        self.withholds = yes;
        self
    }

    /// Whether calls are withheld that were cut off.
    #[must_use]
    pub const fn withholds_cut_calls(&self) -> bool {
        self.withholds
    }

    /// Sets what changes the arguments of complete calls, and complete content that is
    /// [JSON](Self::with_json_content), beyond repairs. Only in [`RewriteMode::Validated`], because nothing that was
    /// emitted is taken back.
    ///
    /// ### Default
    /// Nothing does.
    #[must_use]
    pub fn with_fit_hook(mut self, fitter: FitHook) -> Self {
        self.fitter = Some(fitter);
        self
    }

    /// Sets the `Content-Encoding` of the response. With any value other than `identity`, the body passes
    /// through verbatim, and the outcome is [`RewriteOutcome::Encoded`].
    ///
    /// ### Default
    /// None. A body that starts like gzip or Zstandard data is still treated as encoded.
    #[must_use]
    pub fn with_content_encoding(mut self, encoding: &str) -> Self {
        let name = encoding.trim_ascii();
        self.encoded = !(name.is_empty() || name.eq_ignore_ascii_case("identity"));
        self
    }

    /// Sets how many bytes of events may be queued. Beyond that, everything open is forwarded verbatim,
    /// and the outcome is [`RewriteOutcome::Overflow`].
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

    /// When the content of the body is emitted.
    #[must_use]
    pub const fn mode(&self) -> RewriteMode {
        self.mode
    }

    /// Whether the content is JSON.
    #[must_use]
    pub const fn json_content(&self) -> bool {
        self.json_content
    }

    /// What looks for calls in the text.
    #[must_use]
    pub const fn calls_in_text(&self) -> Option<&CallFinders> {
        self.finders.as_ref()
    }

    /// What changes the arguments of complete calls, and complete content.
    #[must_use]
    pub const fn fit_hook(&self) -> Option<&FitHook> {
        self.fitter.as_ref()
    }

    /// Whether the response has a `Content-Encoding`.
    #[must_use]
    pub const fn is_encoded(&self) -> bool {
        self.encoded
    }

    /// How many bytes of events may be queued.
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

/// The result of rewriting a body. It says nothing about the calls in it; the events do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RewriteOutcome {
    /// The body is compressed. It was forwarded verbatim.
    Encoded,
    /// Something was changed.
    Mended,
    /// The queue exceeded [`RewriteOptions::with_held`], or JSON content a limit of
    /// [`WireLimits`](crate::WireLimits): what was open then was forwarded verbatim.
    Overflow,
    /// [`Rewriter::stop`](crate::Rewriter::stop) was called.
    Stopped,
    /// Every byte was forwarded verbatim.
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
