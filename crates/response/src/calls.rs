//! Fitting calls to the schemas of their tools.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use wiremend_core::{MendOptions, Mended, Outcome, buffer::BoundedBuffer};
use wiremend_extract::Scope;
use wiremend_schema::{
    Cursor, FitOptions, Fitted, Registry, Resolved, Rules, Schema, SharedRegistry,
};
use wiremend_wire::{
    ArgumentsOutcome, Call, CallKind, FinishReason, Guides, MendedArguments, ToolPolicies,
    WireEvent, WireOptions,
};

use crate::{Event, along::Along};

/// A call that has ended, and how its arguments fit the schema of its tool.
///
/// ```
/// use wiremend_response::{CallCheck, FittedCall};
///
/// /// What may be run, or what is wrong.
/// fn runnable(call: &FittedCall) -> Result<(&str, &str), String> {
///     match (call.check(), call.arguments()) {
///         (CallCheck::Fitted { tool, .. }, Some(arguments)) => Ok((tool, arguments)),
///         (CallCheck::Fitted { fitted, .. }, None) => Err(format!("{:?}", fitted.issues())),
///         (CallCheck::Unknown { .. }, _) => Err(format!("there is no tool {}", call.call().name())),
///         _ => Err("the call is not complete, or its tool has no schema".to_owned()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedCall {
    call: Arc<Call>,
    check: CallCheck,
}

/// What the schemas of the tools say about a call: [`FittedCall::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallCheck {
    /// The tool is known, and the arguments were read with its schema. [`FittedCall::arguments`]
    /// returns them if they fit, and [`Fitted::issues`] says why not otherwise.
    #[non_exhaustive]
    Fitted {
        /// The name under which the tool is registered. The call may spell it differently.
        tool: String,
        /// The arguments, valid for the schema, or what is wrong with them. The changes are edits of
        /// [`Call::raw`].
        fitted: Fitted,
    },
    /// The call was cut off, passed a limit, or has no arguments, according to [`Call::outcome`]. It must
    /// not be run, whatever its arguments look like.
    Incomplete,
    /// There is nothing to check the call against: it is the free text of a custom tool, or a tool of the
    /// provider that is not in the registry, or the registry has neither tools nor a default.
    Unchecked,
    /// The registry has no such tool. This is also the result for `multi_tool_use.parallel`;
    /// [`parallel_calls`](wiremend_schema::parallel_calls) finds the calls in its arguments.
    #[non_exhaustive]
    Unknown {
        /// The tool with the most similar name, if there is one: a suggestion.
        nearest: Option<String>,
    },
}

impl FittedCall {
    /// The call, as it was before the schema was applied. It is the one of the event
    /// [`CallEnded`](Event::CallEnded), and not a copy.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Whether the tool is known, and how the arguments fit its schema.
    #[must_use]
    pub const fn check(&self) -> &CallCheck {
        &self.check
    }

    /// The arguments to run the tool with: complete, and valid for its schema.
    #[must_use]
    pub fn arguments(&self) -> Option<&str> {
        let CallCheck::Fitted { fitted, .. } = &self.check else { return None };
        fitted.text().filter(|_| fitted.outcome().is_complete())
    }

    /// Reads the [`arguments`](Self::arguments) as a `T`. [`Call::parse`](wiremend_wire::Call::parse) reads them as
    /// they were before the schema was applied.
    ///
    /// # Errors
    /// [`ParseError::Unfitted`](wiremend_wire::ParseError::Unfitted) if there is no tool of that name, or none with a
    /// schema, [`ParseError::Incomplete`](wiremend_wire::ParseError::Incomplete) if there are no arguments to run it with,
    /// [`ParseError::Type`](wiremend_wire::ParseError::Type) if they are of another type.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, wiremend_wire::ParseError> {
        let outcome = match &self.check {
            CallCheck::Fitted { fitted, .. } => fitted.outcome(),
            CallCheck::Incomplete => self.call.outcome(),
            CallCheck::Unchecked | CallCheck::Unknown { .. } => {
                return Err(wiremend_wire::ParseError::Unfitted);
            }
        };
        wiremend_wire::ParseError::check(self.arguments(), outcome, None)
    }
}

/// The tools, and the open calls.
#[derive(Debug)]
pub(crate) struct Tools {
    registry: SharedRegistry,
    engine: Engine,
    open: BTreeMap<usize, OpenCall>,
    /// Whether the guides of calls are those of the registry.
    guided: bool,
    /// The calls that received arguments since the last chunk.
    grew: Vec<usize>,
}

/// How calls are repaired, and whether the rules of a schema may change them.
#[derive(Debug)]
pub(crate) struct Engine {
    mending: MendOptions,
    policies: Option<ToolPolicies>,
    coerces: bool,
}

impl Engine {
    pub(crate) fn new(wire: &WireOptions, coerces: bool) -> Self {
        let policies = wire.policies().cloned();
        Self { mending: wire.mending().clone(), policies, coerces }
    }

    /// The options for fitting a call. Policies of single tools are not for calls in a text.
    fn fit_options(&self, target: &Target<'_>, in_text: bool) -> FitOptions {
        let policies = self.policies.as_ref().filter(|_| !in_text);
        let engine = match policies.and_then(|policies| policies.find(target.name)) {
            Some(policy) => self.mending.clone().with_policy(policy),
            None => self.mending.clone(),
        };
        let own = target.rules.cloned().unwrap_or_default();
        let rules = if self.coerces { own } else { Rules::none() };
        let options = FitOptions::new().with_mending(engine).with_scope(Scope::Whole);
        options.with_name(target.name).with_rules(rules)
    }
}

/// A call that has begun.
#[derive(Debug)]
struct OpenCall {
    kind: CallKind,
    name: Option<String>,
    /// The registry as of the start of the call.
    registry: Arc<Registry>,
    /// It is written in a text.
    in_text: bool,
    /// The arguments may be read in another way in the end.
    unsure: bool,
    follower: Follower,
}

/// Follows the arguments while they grow.
#[derive(Debug)]
enum Follower {
    /// The name is not known yet, or there are no arguments: the arguments so far.
    Waits(BoundedBuffer),
    Along(Box<Along>),
    /// There is no schema, or too many arguments came before the name.
    Absent,
}

impl Tools {
    pub(crate) fn new(registry: &SharedRegistry, engine: Engine, guided: bool) -> Self {
        let registry = registry.clone();
        Self { registry, engine, open: BTreeMap::new(), guided, grew: Vec::new() }
    }

    /// Looks at an event of the decoder, which has already been queued.
    /// `in_text`: it is about a call that is written in a text.
    pub(crate) fn note(
        &mut self,
        event: &WireEvent<'_>,
        in_text: bool,
        queue: &mut VecDeque<Event>,
    ) {
        match *event {
            WireEvent::CallBegan { call, kind, name, .. } => {
                let registry = self.registry.load();
                let kept = BoundedBuffer::new(self.engine.mending.limits().buffer());
                let follower = Follower::Waits(kept);
                let name = name.map(str::to_owned);
                let open = OpenCall { kind, name, registry, in_text, unsure: false, follower };
                self.open.insert(call, open);
            }
            WireEvent::CallNamed { call, name, .. } => {
                if let Some(open) = self.open.get_mut(&call) {
                    open.name = Some(name.to_owned());
                    open.push(&[], &self.engine);
                    open.report_issues(call, queue);
                }
            }
            WireEvent::CallFragment { call, bytes, .. }
            | WireEvent::CallRaw { call, bytes, .. } => {
                if let Some(open) = self.open.get_mut(&call) {
                    if matches!(event, WireEvent::CallRaw { .. }) {
                        open.stop();
                    }
                    open.push(bytes, &self.engine);
                    open.report_issues(call, queue);
                    if self.grew.last() != Some(&call) {
                        self.grew.push(call);
                    }
                }
            }
            WireEvent::CallUnsure { call } => {
                if let Some(open) = self.open.get_mut(&call) {
                    open.doubt_reading();
                }
            }
            WireEvent::CallEnded(ended) => {
                let open = self.open.remove(&ended.number());
                let registry = open.map_or_else(|| self.registry.load(), |open| open.registry);
                // The event that was queued last.
                let Some(Event::CallEnded(call)) = queue.back() else { return };
                let (call, check) =
                    (Arc::clone(call), check(ended, &registry, &self.engine, self.guided));
                queue.push_back(Event::CallFitted(Box::new(FittedCall { call, check })));
            }
            _ => {}
        }
    }

    /// Ends a chunk: a number or a literal that a call ends with so far is complete.
    pub(crate) fn settle(&mut self, queue: &mut VecDeque<Event>) {
        for call in self.grew.drain(..) {
            if let Some(open) = self.open.get_mut(&call) {
                open.settle();
                open.report_issues(call, queue);
            }
        }
    }

    /// The cursor of an open call.
    pub(crate) fn cursor(&self, call: usize) -> Option<&Cursor> {
        match &self.open.get(&call)?.follower {
            Follower::Along(along) => Some(along.cursor()),
            Follower::Waits(_) | Follower::Absent => None,
        }
    }
}

impl OpenCall {
    /// Reads more of the arguments.
    fn push(&mut self, bytes: &[u8], engine: &Engine) {
        if let Follower::Waits(text) = &mut self.follower {
            let begun = text.held() + bytes.len() > 0 || !text.is_whole();
            let Some(name) = self.name.as_deref().filter(|_| begun) else {
                return text.push(bytes);
            };
            // A name may come in pieces, but only before the arguments.
            let Some(earlier) = text.get().map(<[u8]>::to_vec) else {
                self.follower = Follower::Absent;
                return;
            };
            let tool = target(&self.registry, name).filter(|_| self.kind != CallKind::Custom);
            self.follower = match tool {
                Some(tool) => {
                    let options = engine.fit_options(&tool, self.in_text);
                    let mut along = Box::new(Along::new(tool.schema, &options));
                    if self.unsure {
                        along.doubt_reading();
                    }
                    Follower::Along(along)
                }
                None => Follower::Absent,
            };
            self.read(&earlier);
        }
        self.read(bytes);
    }

    fn read(&mut self, bytes: &[u8]) {
        if let Follower::Along(along) = &mut self.follower {
            along.read(bytes);
        }
    }

    fn doubt_reading(&mut self) {
        self.unsure = true;
        if let Follower::Along(along) = &mut self.follower {
            along.doubt_reading();
        }
    }

    fn settle(&mut self) {
        if let Follower::Along(along) = &mut self.follower {
            along.settle();
        }
    }

    /// The arguments from here on are raw, and say nothing about what was meant.
    fn stop(&mut self) {
        match &mut self.follower {
            Follower::Along(along) => along.stop(),
            Follower::Waits(_) => self.follower = Follower::Absent,
            Follower::Absent => {}
        }
    }

    /// Queues the early issues since the last call.
    fn report_issues(&mut self, call: usize, queue: &mut VecDeque<Event>) {
        let Follower::Along(along) = &mut self.follower else { return };
        let new = along.take_issues().iter().cloned();
        queue.extend(new.map(|issue| Event::CallIssue { call, issue }));
    }
}

/// Lets the schemas of the tools decide what the bytes of the arguments leave open.
pub(crate) fn guides(registry: &SharedRegistry) -> Guides {
    let [guided, declared] = [registry.clone(), registry.clone()];
    Guides::new(move |name| {
        let registry = guided.load();
        target(&registry, name).map(|target| target.schema.guide())
    })
    .with_declared(move |name| {
        let registry = declared.load();
        target(&registry, name).filter(|it| it.rules.is_some()).map(|it| it.name.to_owned())
    })
}

/// What a call is fitted to.
struct Target<'r> {
    name: &'r str,
    schema: &'r wiremend_schema::Schema,
    rules: Option<&'r Rules>,
}

fn target<'r>(registry: &'r Registry, name: &'r str) -> Option<Target<'r>> {
    match registry.resolve(Some(name), None) {
        Resolved::Tool { name, schema, rules, .. } => {
            Some(Target { name, schema, rules: Some(rules) })
        }
        Resolved::Default { schema, .. } => Some(Target { name, schema, rules: None }),
        _ => None,
    }
}

/// Fits a call that has ended to the schema of its tool. It reads what the model wrote, so that all
/// changes form one edit script. `guided`: the guides of calls are those of the registry.
fn check(call: &Call, registry: &Registry, engine: &Engine, guided: bool) -> CallCheck {
    if call.kind() == CallKind::Custom {
        return CallCheck::Unchecked;
    }
    let Some(target) = target(registry, call.name()) else {
        return match registry.resolve(Some(call.name()), None) {
            Resolved::Unknown { nearest, .. } if call.kind() != CallKind::Server => {
                CallCheck::Unknown { nearest: nearest.map(str::to_owned) }
            }
            _ => CallCheck::Unchecked,
        };
    };
    // A complete call without arguments has `{}`. Arguments that the engine's policy refused, or that the
    // engine closed, may still be read with the schema, or the schema says what is wrong with them.
    let outcome = call.outcome();
    let unread =
        matches!(outcome, Outcome::Cut | Outcome::Overflow | Outcome::Abandoned | Outcome::None);
    if unread || call.raw().trim().is_empty() {
        return CallCheck::Incomplete;
    }
    let input = call.raw().as_bytes();
    let options = engine.fit_options(&target, call.dialect().is_some());
    // What was mended with the same guide is not mended once more. A longer text was mended as it arrived.
    let known = guided && call.is_guided() && outcome == Outcome::Repaired;
    let fitted = if known && input.len() <= engine.mending.limits().buffer() {
        let text = Some(call.arguments().to_owned());
        let mended = Mended::new(outcome, text, call.repairs().clone(), None);
        target.schema.fit_mended(input, mended, &options)
    } else {
        target.schema.fit(input, &options)
    };
    CallCheck::Fitted { tool: target.name.to_owned(), fitted }
}

// The arguments of one call and the schema of its tool, for callers that already have the whole text.

/// The arguments of a call, repaired and fitted to a schema. Returned by [`fit_arguments`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedArguments {
    mended: MendedArguments,
    fitted: Option<Fitted>,
}

impl FittedArguments {
    /// The arguments as JSON text that is valid for the schema, if the call may be run with them.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        let fitted = self.fitted.as_ref().filter(|fitted| fitted.outcome().is_complete())?;
        fitted.text()
    }

    /// The outcome. Arguments that do not fit the schema are refused.
    #[must_use]
    pub fn outcome(&self) -> ArgumentsOutcome {
        match &self.fitted {
            None => self.mended.outcome(),
            Some(fitted) if fitted.text().is_some() => fitted.outcome().into(),
            Some(_) => ArgumentsOutcome::Refused,
        }
    }

    /// Reads the arguments as a `T`, if they are complete and fit the schema.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`](wiremend_wire::ParseError::Incomplete) if the call may not be run with
    /// them, [`ParseError::Type`](wiremend_wire::ParseError::Type) if they are of another type.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, wiremend_wire::ParseError> {
        let outcome = self.fitted.as_ref().map_or(wiremend_core::Outcome::Cut, Fitted::outcome);
        wiremend_wire::ParseError::check(self.value(), outcome, self.mended.doubt())
    }

    /// The result of the repair alone, without the schema.
    #[must_use]
    pub const fn mended(&self) -> &MendedArguments {
        &self.mended
    }

    /// The result of fitting: the changes, or what is wrong. `None` if the arguments were cut off.
    #[must_use]
    pub const fn fitted(&self) -> Option<&Fitted> {
        self.fitted.as_ref()
    }
}

/// Repairs the arguments of one tool call and fits them to the schema of the tool; see
/// [`mend_arguments`](wiremend_wire::mend_arguments).
///
/// The policy of `options` applies to the repairs and to the rules. Its scope is set to the whole text.
/// Set the [name](FitOptions::with_name) of the tool, and
/// [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE) for calls with side effects.
///
/// ```
/// use wiremend_core::{MendOptions, Policy};
/// use wiremend_response::fit_arguments;
/// use wiremend_schema::{FitOptions, Schema};
/// use wiremend_wire::{ArgumentsOutcome, FinishReason};
///
/// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#)?;
/// let options = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
/// let fit = |raw, finish| fit_arguments(raw, finish, &schema, &options);
///
/// assert_eq!(fit("{'days': '3'}", FinishReason::ToolCalls).value(), Some("{\"days\": 3}"));
/// let wrong = fit("{'days': 'a few'}", FinishReason::ToolCalls);
/// assert_eq!(wrong.outcome(), ArgumentsOutcome::Refused);
/// assert_eq!(wrong.fitted().unwrap().issues().len(), 1);
/// assert_eq!(fit("{'days': 3", FinishReason::Length).outcome(), ArgumentsOutcome::Cut);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[must_use]
pub fn fit_arguments(
    raw: &str,
    finish: FinishReason,
    schema: &Schema,
    options: &FitOptions,
) -> FittedArguments {
    let engine = options.mending().clone();
    let guided = engine.with_guide(schema.guide());
    let mended = MendedArguments::new(raw, finish, &guided);
    let fitted = (mended.outcome() != ArgumentsOutcome::Cut)
        .then(|| schema.fit(mended.raw().as_bytes(), &options.clone().with_scope(Scope::Whole)));
    FittedArguments { mended, fitted }
}
