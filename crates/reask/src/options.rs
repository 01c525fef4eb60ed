//! The options of a [`Reask`](crate::Reask).

use core::time::Duration;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use wiremend_core::{MendOptions, Policy};
use wiremend_schema::FitOptions;

use crate::Templates;

/// How answers are repaired, how often the model is asked, and what a loop may take.
///
/// ```
/// use wiremend_reask::ReaskOptions;
/// use core::time::Duration;
///
/// let options = ReaskOptions::new()
///     .with_attempts(1)
///     .with_deadline(Duration::from_secs(60))
///     .with_token_budget(20_000);
/// assert_eq!(options.attempts(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct ReaskOptions {
    pub(crate) fit: FitOptions,
    pub(crate) tool: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) continuations: u32,
    pub(crate) deadline: Option<Duration>,
    pub(crate) tokens: Option<u64>,
    pub(crate) request: u64,
    pub(crate) cost: Option<u64>,
    pub(crate) temperatures: (f64, f64),
    pub(crate) excerpt: usize,
    pub(crate) schema_length: usize,
    pub(crate) fields: usize,
    pub(crate) templates: Templates,
    pub(crate) mode: Mode,
    pub(crate) memory: Option<(String, ModeMemory)>,
}

impl ReaskOptions {
    /// The defaults. Each method states its own.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fit: FitOptions::new(),
            tool: None,
            attempts: 2,
            continuations: 3,
            deadline: None,
            tokens: None,
            request: 0,
            cost: None,
            temperatures: (0.0, 0.7),
            excerpt: 2_000,
            schema_length: 8_000,
            fields: 16,
            templates: Templates::new(),
            mode: Mode::JsonSchema,
            memory: None,
        }
    }

    /// The options for the arguments of a call of that tool: they are repaired under
    /// [`Policy::CONSERVATIVE`], because a call may do harm, and the prompts speak of a call. A call that the model wrote
    /// into its text is read, too, in any of the forms of prompts, if it has its lines for itself and nothing before it
    /// is JSON or quoted.
    ///
    /// ```
    /// use core::time::Duration;
    /// use wiremend_reask::{Answer, Reask, ReaskOptions, Step};
    /// use wiremend_schema::Schema;
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}"#,
    /// )?;
    /// let mut reask = Reask::new(&schema, ReaskOptions::for_tool("book"));
    /// let answer = Answer::text("I will book it.\n[book(city='Oslo', days=3)]");
    /// let Step::Done(done) = reask.answer(&answer, Duration::ZERO) else { panic!() };
    /// assert_eq!(done.json(), r#"{"city": "Oslo", "days": 3}"#);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn for_tool(name: impl Into<String>) -> Self {
        let name = name.into();
        let engine = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        let fit = FitOptions::new().with_mending(engine).with_name(name.as_str());
        Self { tool: Some(name), ..Self::new() }.with_fit(fit)
    }

    /// Sets how each answer is repaired before the model is asked again: the policy, the rules, the
    /// limits.
    ///
    /// ### Default
    /// [`FitOptions::new`], which allows repairs of any risk. Set a highest risk below *guess* if asking
    /// again is better than a guess.
    #[must_use]
    pub fn with_fit(mut self, options: FitOptions) -> Self {
        self.fit = options;
        self
    }

    /// Sets how many times the model may be asked to correct its answer.
    ///
    /// ### Default
    /// 2, so that there are at most three answers, and the continuations of answers that were cut off.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how many times the model may be asked to go on after its answer was cut off.
    ///
    /// ### Default
    /// 3.
    #[must_use]
    pub const fn with_continuations(mut self, continuations: u32) -> Self {
        self.continuations = continuations;
        self
    }

    /// Sets how long the whole loop may take, from its first step on. After that, nothing more is asked.
    /// [`Ask::time_left`](crate::Ask::time_left) says how much of it a call may take.
    ///
    /// ### Default
    /// There is no deadline.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how many tokens all calls together may read and write. Nothing more is asked if they are spent,
    /// or if the next prompt alone exceeds what is left of them.
    ///
    /// ### Default
    /// There is no limit.
    #[must_use]
    pub const fn with_token_budget(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets how many tokens the messages of the caller have, which go with each call. The budget reckons with them before
    /// it lets a call be made, and where a provider does not count.
    ///
    /// ### Default
    /// 0.
    #[must_use]
    pub const fn with_request_tokens(mut self, tokens: u64) -> Self {
        self.request = tokens;
        self
    }

    /// Sets what all calls together may cost, in the unit of [`Answer::with_cost`](crate::Answer::with_cost).
    /// Nothing more is asked if it is spent.
    ///
    /// ### Default
    /// There is no limit.
    #[must_use]
    pub const fn with_cost_budget(mut self, cost: u64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Sets the temperatures: the first one, and the one that is used after an answer was repeated or no
    /// better than the one before, and for the last attempt.
    ///
    /// ### Default
    /// 0 and 0.7.
    #[must_use]
    pub const fn with_temperatures(mut self, first: f64, changed: f64) -> Self {
        self.temperatures = (first, changed);
        self
    }

    /// Sets how much of an earlier answer a prompt repeats, in characters. With 0, it repeats nothing: then the
    /// request has to contain the answer, or the model does not know what a question for single fields is about.
    ///
    /// ### Default
    /// 2,000.
    #[must_use]
    pub const fn with_excerpt(mut self, characters: usize) -> Self {
        self.excerpt = characters;
        self
    }

    /// Sets the length in bytes up to which a schema is stated in a prompt. Of a longer one, only an example
    /// is shown.
    ///
    /// ### Default
    /// 8,000.
    #[must_use]
    pub const fn with_schema_length(mut self, bytes: usize) -> Self {
        self.schema_length = bytes;
        self
    }

    /// Sets how many fields may be asked for on their own. If more are wrong, or with 0, the model is asked
    /// for the whole value.
    ///
    /// ### Default
    /// 16.
    #[must_use]
    pub const fn with_fields(mut self, fields: usize) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the words of the prompts.
    ///
    /// ### Default
    /// [`Templates::new`].
    #[must_use]
    pub fn with_templates(mut self, templates: Templates) -> Self {
        self.templates = templates;
        self
    }

    /// Sets how the output is constrained in the first request.
    ///
    /// ### Default
    /// [`Mode::JsonSchema`].
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets which model is asked, and the memory of what models do not support. A mode that was refused
    /// lately is not tried.
    ///
    /// ### Default
    /// Nothing is remembered.
    #[must_use]
    pub fn with_memory(mut self, model: impl Into<String>, memory: &ModeMemory) -> Self {
        self.memory = Some((model.into(), memory.clone()));
        self
    }

    /// How many times the model may be asked to correct its answer.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The name of the tool, if the value is the arguments of a call.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
}

impl Default for ReaskOptions {
    fn default() -> Self {
        Self::new()
    }
}

// How the output of a model can be constrained, and what is known about models that cannot.

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
