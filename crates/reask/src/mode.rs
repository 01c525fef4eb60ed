//! How the output of a model can be constrained, and what is known about models that cannot.

use core::time::Duration;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How a request constrains the output, from the strongest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mode {
    /// The provider constrains the output by the schema: structured output, or a tool.
    JsonSchema,
    /// The provider only makes sure that the output is a JSON object.
    JsonObject,
    /// The output is not constrained. The schema is stated in the prompt.
    Text,
}

impl Mode {
    /// All modes, from the strongest to the weakest.
    pub const ALL: &'static [Self] = &[Self::JsonSchema, Self::JsonObject, Self::Text];

    /// The stable snake-case name, as it is used in `response_format` of OpenAI.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::JsonSchema => "json_schema",
            Self::JsonObject => "json_object",
            Self::Text => "text",
        }
    }

    /// The mode to use if this one is not supported.
    ///
    /// ```
    /// use wiremend_reask::Mode;
    /// assert_eq!(Mode::JsonSchema.weaker(), Some(Mode::JsonObject));
    /// assert_eq!(Mode::Text.weaker(), None);
    /// ```
    #[must_use]
    pub const fn weaker(self) -> Option<Self> {
        match self {
            Self::JsonSchema => Some(Self::JsonObject),
            Self::JsonObject => Some(Self::Text),
            Self::Text => None,
        }
    }
}

impl core::fmt::Display for Mode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.code())
    }
}

/// Remembers for each model which [`Mode`]s its provider refused. A clone shares the memory, so that
/// every loop of a program can use one.
///
/// What is remembered is used for an hour by default, because providers add features, and for at most 1,000 loops:
/// [`Reask::run`](crate::Reask::run) has no clock, and clocks that begin anew with each loop cannot be compared. At most
/// 256 pairs of a model and a mode are kept; the oldest is forgotten first.
///
/// ```
/// use wiremend_reask::{Mode, ModeMemory};
/// use core::time::Duration;
///
/// let memory = ModeMemory::new().with_age(Duration::from_secs(60));
/// memory.refused("small", Mode::JsonSchema, Duration::from_secs(5));
/// let mode = |seconds| memory.strongest("small", Mode::JsonSchema, Duration::from_secs(seconds));
/// assert_eq!(mode(6), Mode::JsonObject);
/// assert_eq!(mode(66), Mode::JsonSchema);
/// ```
#[derive(Clone, Debug)]
pub struct ModeMemory {
    age: Duration,
    refusals: Arc<Mutex<BTreeMap<(String, Mode), Refusal>>>,
}

/// When a mode was refused, and how many loops have not tried it since.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    at: Duration,
    used: u32,
}

impl ModeMemory {
    /// The most pairs of a model and a mode that are kept.
    pub const MOST: usize = 256;

    /// For how many loops a refusal is used.
    pub const MOST_LOOPS: u32 = 1_000;

    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self { age: Duration::from_secs(3600), refusals: Arc::default() }
    }

    /// Sets for how long a refusal is remembered, by the clock that the loops have in common.
    ///
    /// ### Default
    /// One hour.
    #[must_use]
    pub const fn with_age(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }

    /// Records that the provider of `model` refused a mode at that time.
    pub fn refused(&self, model: &str, mode: Mode, now: Duration) {
        let mut refusals = self.lock();
        refusals.insert((model.to_owned(), mode), Refusal { at: now, used: 0 });
        if refusals.len() > Self::MOST {
            let oldest = refusals.iter().min_by_key(|(_, own)| own.at).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                refusals.remove(&oldest);
            }
        }
    }

    /// The strongest mode for a loop, not stronger than `wanted`, that was not refused lately. [`Mode::Text`] if all
    /// were.
    #[must_use]
    pub fn strongest(&self, model: &str, wanted: Mode, now: Duration) -> Mode {
        let mut refusals = self.lock();
        let mut is_refused = |mode: Mode| {
            let Some(own) = refusals.get_mut(&(model.to_owned(), mode)) else { return false };
            own.used = own.used.saturating_add(1);
            own.used <= Self::MOST_LOOPS && now.saturating_sub(own.at) < self.age
        };
        let mut mode = wanted;
        while let Some(weaker) = mode.weaker().filter(|_| is_refused(mode)) {
            mode = weaker;
        }
        mode
    }

    /// Another thread that panicked cannot have left the map half changed.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, Mode), Refusal>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ModeMemory {
    fn default() -> Self {
        Self::new()
    }
}
