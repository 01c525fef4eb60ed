//! Calls on their way into the schemas of their tools.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use jsonmend_core::{Options, Outcome, Output};
use jsonmend_extract::Scope;
use jsonmend_schema::{Cursor, FitOptions, Fitted, Registry, Resolved, Rules, SharedRegistry};
use jsonmend_wire::{Call, CallKind, Guides, WireEvent};

use crate::Event;

/// What became of a call in the schema of its tool.
///
/// ```
/// use jsonmend_response::CallFit;
///
/// /// What may be run.
/// fn runnable(fit: &CallFit) -> Option<(&str, &str)> {
///     let CallFit::Fitted { tool, .. } = fit else { return None };
///     Some((tool, fit.arguments()?))
/// }
/// # let none = CallFit::Unknown { nearest: Some("add".to_owned()) };
/// # assert_eq!(runnable(&none), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFit {
    /// The tool is known, and the arguments were read by its schema. Whether they fit,
    /// [`arguments`](Self::arguments) says, and [`Fitted::issues`] why not.
    Fitted {
        /// The name under which the tool is known, which may be spelled otherwise than the call's.
        tool: String,
        /// The arguments, valid for the schema, or what is wrong with them. Its changes are edits of
        /// [`Call::raw`].
        fitted: Fitted,
    },
    /// The call is not complete, as [`Call::outcome`] says: it must not be run, whatever is left of it
    /// looks like.
    Incomplete {
        /// What became of the call.
        outcome: Outcome,
    },
    /// There is nothing to check it by: the free text of a custom tool, a tool of the provider's own
    /// that the registry does not know, or a registry with neither tools nor a default.
    Unchecked,
    /// The registry knows no such tool. So it does not know `multi_tool_use.parallel`;
    /// [`parallel_calls`](jsonmend_schema::parallel_calls) finds the calls in its arguments.
    Unknown {
        /// The tool with the name that is most like it, if one is: a suggestion.
        nearest: Option<String>,
    },
}

impl CallFit {
    /// The arguments to run the tool with: complete, and valid for its schema.
    #[must_use]
    pub fn arguments(&self) -> Option<&str> {
        match self {
            Self::Fitted { fitted, .. } => fitted.text().filter(|_| fitted.outcome().is_complete()),
            Self::Incomplete { .. } | Self::Unchecked | Self::Unknown { .. } => None,
        }
    }
}

/// The tools, and the calls that are open.
#[derive(Debug)]
pub(crate) struct Tools {
    registry: SharedRegistry,
    /// What calls are mended under.
    engine: Options,
    open: BTreeMap<usize, OpenCall>,
    /// The calls of which something came since the last chunk.
    grew: Vec<usize>,
}

/// A call that has begun.
#[derive(Debug)]
struct OpenCall {
    kind: CallKind,
    name: Option<String>,
    /// As it was when the call began.
    registry: Arc<Registry>,
    follower: Follower,
}

/// What looks at the arguments while they grow.
#[derive(Debug)]
enum Follower {
    /// The name is not known yet, or nothing has come: what has come.
    Waits(Vec<u8>),
    Along(Box<Along>),
    /// There is no schema, or too much came before the name.
    Absent,
}

/// A cursor beside the arguments.
#[derive(Debug)]
struct Along {
    cursor: Cursor,
    /// How many findings were told.
    told: usize,
}

impl Tools {
    pub(crate) fn new(registry: &SharedRegistry, engine: Options) -> Self {
        Self { registry: registry.clone(), engine, open: BTreeMap::new(), grew: Vec::new() }
    }

    /// Looks at an event of the decoder, which was queued already.
    pub(crate) fn note(&mut self, event: &WireEvent<'_>, queue: &mut VecDeque<Event>) {
        match *event {
            WireEvent::CallBegan { call, kind, name, .. } => {
                let registry = self.registry.load();
                let follower = Follower::Waits(Vec::new());
                let name = name.map(str::to_owned);
                self.open.insert(call, OpenCall { kind, name, registry, follower });
            }
            WireEvent::CallNamed { call, name } => {
                if let Some(open) = self.open.get_mut(&call) {
                    open.name = Some(name.to_owned());
                    open.push(&[], &self.engine);
                    open.tell(call, queue);
                }
            }
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                if let Some(open) = self.open.get_mut(&call) {
                    if matches!(event, WireEvent::CallRaw { .. }) {
                        open.stop();
                    }
                    open.push(bytes, &self.engine);
                    open.tell(call, queue);
                    if self.grew.last() != Some(&call) {
                        self.grew.push(call);
                    }
                }
            }
            WireEvent::CallEnded(ended) => {
                let call = ended.number();
                let open = self.open.remove(&call);
                let registry = open.map_or_else(|| self.registry.load(), |open| open.registry);
                let fit = Box::new(fit(ended, &registry, &self.engine));
                queue.push_back(Event::CallFitted { call, fit });
            }
            _ => {}
        }
    }

    /// A chunk has been read: a number or a literal that a call ends with so far is whole.
    pub(crate) fn settle(&mut self, queue: &mut VecDeque<Event>) {
        for call in self.grew.drain(..) {
            if let Some(open) = self.open.get_mut(&call) {
                open.settle();
                open.tell(call, queue);
            }
        }
    }

    /// The cursor beside a call that is open.
    pub(crate) fn cursor(&self, call: usize) -> Option<&Cursor> {
        match &self.open.get(&call)?.follower {
            Follower::Along(along) => Some(&along.cursor),
            Follower::Waits(_) | Follower::Absent => None,
        }
    }
}

impl OpenCall {
    /// Reads more of the arguments.
    fn push(&mut self, bytes: &[u8], engine: &Options) {
        if let Follower::Waits(text) = &mut self.follower {
            text.extend_from_slice(bytes);
            let Some(name) = self.name.as_deref().filter(|_| !text.is_empty()) else {
                if text.len() > engine.limits().buffer() {
                    self.follower = Follower::Absent;
                }
                return;
            };
            // A name may come in pieces, but only before the arguments.
            let text = std::mem::take(text);
            let tool = target(&self.registry, name).filter(|_| self.kind != CallKind::Custom);
            self.follower = match tool {
                Some(tool) => Follower::Along(Box::new(Along::new(&tool, engine))),
                None => Follower::Absent,
            };
            return self.read(&text);
        }
        self.read(bytes);
    }

    fn read(&mut self, bytes: &[u8]) {
        if let Follower::Along(along) = &mut self.follower {
            along.cursor.copy(bytes);
        }
    }

    fn settle(&mut self) {
        if let Follower::Along(along) = &mut self.follower {
            along.cursor.settle();
        }
    }

    /// What comes from here on is raw, and says nothing of what was meant.
    fn stop(&mut self) {
        match &mut self.follower {
            Follower::Along(along) => {
                along.cursor.settle();
                along.cursor.raw();
            }
            Follower::Waits(_) => self.follower = Follower::Absent,
            Follower::Absent => {}
        }
    }

    /// Queues what was found since the last time.
    fn tell(&mut self, call: usize, queue: &mut VecDeque<Event>) {
        let Follower::Along(along) = &mut self.follower else { return };
        let findings = along.cursor.findings();
        let new = findings.get(along.told..).unwrap_or_default();
        queue.extend(new.iter().cloned().map(|finding| Event::CallFound { call, finding }));
        along.told = findings.len();
    }
}

impl Along {
    fn new(tool: &Target<'_>, engine: &Options) -> Self {
        Self { cursor: Cursor::new(tool.schema, &tool.options(engine)), told: 0 }
    }
}

/// The schemas of the tools settle what the bytes of their arguments leave open.
pub(crate) fn guides(registry: &SharedRegistry) -> Guides {
    let registry = registry.clone();
    Guides::new(move |name| {
        let registry = registry.load();
        target(&registry, name).map(|target| target.schema.guide())
    })
}

/// What a call is brought into.
struct Target<'r> {
    name: &'r str,
    schema: &'r jsonmend_schema::Schema,
    rules: Option<&'r Rules>,
}

impl Target<'_> {
    fn options(&self, engine: &Options) -> FitOptions {
        let rules = self.rules.cloned().unwrap_or_default();
        let options = FitOptions::new().with_engine(engine.clone()).with_scope(Scope::Whole);
        options.with_name(self.name).with_rules(rules)
    }
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

/// Brings a call that has ended into the schema of its tool. It is read from what the model wrote, so
/// that the changes are one script.
fn fit(call: &Call, registry: &Registry, engine: &Options) -> CallFit {
    if call.kind() == CallKind::Custom {
        return CallFit::Unchecked;
    }
    let Some(target) = target(registry, call.name()) else {
        return match registry.resolve(Some(call.name()), None) {
            Resolved::Unknown { nearest, .. } if call.kind() != CallKind::Server => {
                CallFit::Unknown { nearest: nearest.map(str::to_owned) }
            }
            _ => CallFit::Unchecked,
        };
    };
    // A complete call that left its arguments out has `{}`. What the policy of the engine refused, and
    // what it closed, the schema may still read, or say what is wrong with it.
    let outcome = call.outcome();
    let unread =
        matches!(outcome, Outcome::Cut | Outcome::Overflow | Outcome::Abandoned | Outcome::None);
    if unread || call.raw().trim().is_empty() {
        return CallFit::Incomplete { outcome };
    }
    let fitted = target.schema.fit(call.raw().as_bytes(), &target.options(engine));
    CallFit::Fitted { tool: target.name.to_owned(), fitted }
}
