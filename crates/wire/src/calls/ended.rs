//! What is kept of a call that has ended, and what the stream still says about it.

use core::hash::Hasher as _;
use std::hash::DefaultHasher;

use super::{
    Call, CallKind, Calls, Doubt, Target,
    reading::{after_placeholder, mended_meaning},
};
use crate::{
    ErrorKind, WireError,
    format::{Arguments, CallDelta, excerpt},
    json::meaning,
    source::Source,
    work,
};

/// What is kept of a call that has ended: enough to distinguish a repetition from something new.
#[derive(Debug)]
pub(super) struct Ended {
    id: Option<String>,
    name: String,
    /// The arguments are free text, not JSON.
    free: bool,
    /// A hash of the arguments as they were received.
    spelling: u64,
    /// What the arguments say, once they are repaired.
    meaning: u64,
    complete: bool,
    /// It ended because the next call began, so the stream may still repeat it.
    early: bool,
}

impl Ended {
    pub(super) fn new(call: &Call) -> Self {
        let free = call.kind() == CallKind::Custom;
        Self {
            id: call.id().map(Into::into),
            name: call.name().to_owned(),
            free,
            spelling: hash(call.raw()),
            meaning: match call.outcome().is_complete() {
                _ if free => 0,
                true => meaning(call.arguments()),
                // The repaired arguments were discarded.
                false => mended_meaning(call.raw()).unwrap_or_else(|| meaning(call.raw())),
            },
            complete: call.outcome().is_complete(),
            early: false,
        }
    }

    /// Whether `text` says what the arguments say.
    pub(super) fn matches(&self, text: &str) -> bool {
        hash(text) == self.spelling || (!self.free && meaning(text) == self.meaning)
    }

    /// Whether `text` says something else, even once it is repaired.
    pub(super) fn contradicts(&self, text: &str) -> bool {
        !self.matches(text) && (self.free || mended_meaning(text) != Some(self.meaning))
    }

    /// The next call ended it.
    pub(super) const fn end_early(&mut self) {
        self.early = true;
    }

    /// The id of the call.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the call.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether that id and that name are those of the call.
    pub(super) fn is(&self, id: Option<&str>, name: Option<&str>) -> bool {
        id.is_some() && id == self.id.as_deref() && name.is_none_or(|name| self.name == name)
    }

    /// Whether a piece with that id and that name may repeat a call that ended early.
    pub(super) fn may_repeat(&self, id: Option<&str>, name: Option<&str>) -> bool {
        self.early
            && id.is_none_or(|id| self.id.as_deref() == Some(id))
            && name.is_none_or(|name| self.name == name)
    }
}

fn hash(text: &str) -> u64 {
    work::count(text.len());
    let mut hasher = DefaultHasher::new();
    hasher.write(text.trim().as_bytes());
    hasher.finish()
}

/// The error for a repetition that says something else.
pub(super) fn contradiction(call: usize, text: &str) -> Box<WireError> {
    let message = format!("other arguments of call {call} after its end: {text}");
    Box::new(WireError::new(ErrorKind::Contradiction, message))
}

impl Calls {
    /// Reads a piece of a call that has ended. It either repeats the call or comes too late.
    pub(super) fn repeat(
        &mut self,
        call: usize,
        delta: &CallDelta<'_>,
        source: Source<'_>,
    ) -> Result<(), Box<WireError>> {
        let Some(ended) = self.ended.get(&(delta.scope, call)) else { return Ok(()) };
        if source.is_mended()
            && !ended.complete
            && let Some(tracking) = &mut self.tracking
        {
            tracking.keep_envelope();
        }
        if let Some(tracking) = &mut self.tracking {
            tracking.touch(Target::Call(delta.scope, call), delta.place());
        }
        let (text, span) = match &delta.arguments {
            Arguments::Final(text) => (&**text, Some(text.span())),
            Arguments::Again(node) => (node.raw(), None),
            Arguments::Fragment(text) if !text.trim().is_empty() && !ended.matches(text) => {
                return Err(Box::new(WireError::new(
                    ErrorKind::LateArguments,
                    format!("arguments of call {call} after its end: {}", excerpt(text)),
                )));
            }
            _ => return Ok(()),
        };
        let renamed = delta.name.as_deref().is_some_and(|name| name != ended.name());
        // An empty object that was dropped before the arguments may come once more with them.
        let rest = after_placeholder(text).filter(|rest| !ended.contradicts(rest));
        // An empty object may hold the place of what was said.
        let differs = rest.is_none() && text.trim() != "{}" && ended.contradicts(text);
        if let (Some(span), Some(tracking)) = (span, &mut self.tracking) {
            tracking.repeat(Target::Call(delta.scope, call), span);
        }
        if renamed || differs {
            return Err(contradiction(call, &excerpt(text)));
        }
        Ok(())
    }

    /// All calls of a scope were repeated. What is not among them is not a call, or is a part of one.
    pub(crate) fn check_repeated(&mut self, scope: u32) {
        for (&(scope, call), open) in self.open.range_mut((scope, 0)..=(scope, usize::MAX)) {
            if !open.repeated {
                open.doubt.get_or_insert(Doubt::Contradiction);
            } else if let Some(tracking) = self.tracking.as_mut().filter(|_| open.lacks_arguments())
            {
                open.hold_event(tracking, Target::Call(scope, call), None);
            }
        }
    }
}
