//! What the calls of a loop have cost.

use wiremend_wire::Usage;

/// Characters per token, where a provider does not count tokens. Four is the usual estimate for English
/// and for JSON.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// The sum of what all calls of a loop took.
///
/// ```
/// use wiremend_reask::{Answer, Reask, ReaskOptions};
/// use wiremend_schema::Schema;
/// use core::time::Duration;
///
/// let mut reask = Reask::new(&Schema::from_text("{}")?, ReaskOptions::new());
/// reask.answer(&Answer::text("[1]").with_tokens(12, 3).with_cost(40), Duration::ZERO);
/// assert_eq!((reask.spent().tokens(), reask.spent().cost()), (15, 40));
/// assert!(!reask.spent().is_estimated());
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    calls: u32,
    input: u64,
    output: u64,
    cost: u64,
    estimated: bool,
}

impl Spent {
    /// How many answers there were.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Tokens read.
    #[must_use]
    pub const fn input(&self) -> u64 {
        self.input
    }

    /// Tokens written.
    #[must_use]
    pub const fn output(&self) -> u64 {
        self.output
    }

    /// Tokens read and written.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The cost, in the unit in which the caller states it.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether some of the tokens were not counted by the provider, but estimated from the length of the
    /// texts: four characters are one token.
    #[must_use]
    pub const fn is_estimated(&self) -> bool {
        self.estimated
    }

    /// Adds a call. Counts that are not known are estimated: `prompt` tokens were read, and the answer has `answer`
    /// bytes.
    pub(crate) fn add(&mut self, taken: Taken, prompt: u64, answer: usize) {
        self.calls = self.calls.saturating_add(1);
        self.estimated |= taken.input.is_none() || taken.output.is_none();
        let input = taken.input.unwrap_or(prompt);
        let output = taken.output.unwrap_or_else(|| tokens(answer));
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cost = self.cost.saturating_add(taken.cost);
    }
}

/// What one call took, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cost: u64,
}

impl Taken {
    pub(crate) const fn of(usage: Usage) -> Self {
        Self { input: usage.input(), output: usage.output(), cost: 0 }
    }
}

/// An estimate of the tokens of a text of that length.
pub(crate) fn tokens(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX).div_ceil(CHARACTERS_PER_TOKEN)
}
