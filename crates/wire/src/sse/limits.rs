//! Size limits for events.

/// Limits on what the decoder buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    line: usize,
    event: usize,
}

impl SseLimits {
    /// The defaults: a line of 1 MiB, an event of 8 MiB.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: 1 << 20, event: 8 << 20 }
    }

    /// Sets the maximum length of a line, in bytes without its line end.
    ///
    /// ### Default
    /// 1 MiB.
    #[must_use]
    pub const fn with_line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// Sets the maximum size of an event: its joined data, in bytes.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_event(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self
    }

    /// The maximum length of a line, in bytes.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The maximum size of an event, in bytes.
    #[must_use]
    pub const fn event(&self) -> usize {
        self.event
    }
}

impl Default for SseLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseBound {
    /// [`SseLimits::with_event`].
    Event,
    /// [`SseLimits::with_line`].
    Line,
}
