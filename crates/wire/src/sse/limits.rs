//! What an event may cost.

/// Bounds on what the decoder keeps.
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

    /// The longest line, in bytes without its end.
    ///
    /// ### Default
    /// 1 MiB.
    #[must_use]
    pub const fn with_line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// The largest event: its data, in bytes, joined.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_event(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self
    }

    /// The longest line, in bytes.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The largest event, in bytes.
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

/// Which bound was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseBound {
    /// [`SseLimits::with_event`].
    Event,
    /// [`SseLimits::with_line`].
    Line,
}
