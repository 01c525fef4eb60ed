//! Whether a model is asked again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whether the model is asked again for arguments that cannot be made to fit, and how much that may take.
/// It is off by default.
///
/// ```
/// use wiremend_proxy::{Config, Reask};
/// let config = Config::new().with_reask(Reask::new().with_attempts(2));
/// assert_eq!(config.reask().attempts(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reask {
    attempts: u32,
    seconds: u64,
    tokens: u64,
}

impl Default for Reask {
    fn default() -> Self {
        Self { attempts: 0, seconds: 60, tokens: 50_000 }
    }
}

impl Reask {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many further requests one answer may cause.
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how long all of them may take.
    ///
    /// ### Default
    /// 60 seconds.
    #[must_use]
    pub const fn with_seconds(mut self, seconds: u64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Sets after how many tokens, of all of them, nothing more is asked.
    ///
    /// ### Default
    /// 50,000.
    #[must_use]
    pub const fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// How many further requests one answer may cause.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// After how many tokens nothing more is asked.
    pub(crate) const fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(crate) const fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}
