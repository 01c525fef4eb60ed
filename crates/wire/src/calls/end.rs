//! How calls end, and which of them are complete.

use core::hash::Hasher as _;
use std::hash::DefaultHasher;

use wiremend_core::Outcome;

use super::{
    Call, CallKind, Calls, Doubt, EmptyCall, Entry, Piece, Sink, Target,
    arguments::{Closed, after_placeholder, is_whole_value, mended_meaning},
    fragment,
};
use crate::{
    ErrorKind, FinishReason, Fittable, WireError, WireEvent,
    format::{Arguments, CallDelta, CallEnds, excerpt},
    json::meaning,
    source::Source,
    tools::is_foreign,
    work,
};

/// What ends a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The format states the end of the call itself.
    Stated,
    /// The turn ended with a clean stop.
    Clean,
    /// The turn ended for another reason, or without one: anything missing may have been cut off.
    Unclean,
    /// The body ended, or another message began: no end was stated.
    Broken,
}

impl End {
    /// The end that corresponds to a finish reason.
    pub(crate) const fn of(reason: FinishReason) -> Self {
        if reason.is_clean() { Self::Clean } else { Self::Unclean }
    }

    /// Whether anything missing at this end was cut off.
    pub(crate) const fn is_cut(self) -> bool {
        matches!(self, Self::Unclean | Self::Broken)
    }
}

impl Calls {
    /// Something that may have belonged to any open call was lost, damaged or contradicted: none of them
    /// is complete.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.lossy |= doubt != Doubt::StreamError;
        self.unreported.get_or_insert(doubt);
        for open in self.open.values_mut() {
            open.doubt.get_or_insert(doubt);
        }
    }

    /// Sets whether what is read from here on may be damaged. This affects every open call and every call
    /// that begins.
    pub(crate) fn damage(&mut self, damage: Option<Doubt>) {
        self.damage = damage;
        if let Some(doubt) = damage {
            self.doubt(doubt);
        }
    }

    /// Whether what is read now may be damaged.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.damage.is_some()
    }

    /// The format states the end of the call. A call without a name waits: the next event may hold
    /// it.
    pub(crate) fn stop(&mut self, scope: u32, index: i64, sink: Sink<'_>) {
        let Some(&call) = self.keys.get(&(scope, index)) else { return };
        if let Some(tracking) = &mut self.tracking {
            tracking.touch(Target::Call(scope, call), None);
        }
        let Some(open) = self.open.get_mut(&(scope, call)) else { return };
        if open.name.is_none() {
            return;
        }
        // Whatever is said twice about its end, how the turn goes on decides whether it leaves.
        let withholds = self.tracking.as_ref().is_some_and(|tracking| tracking.withholds());
        if withholds && self.pending == Some((scope, call)) {
            return;
        }
        // Providers state the end of a block that a limit cut off, too. What would have to be supplied or
        // repaired waits to see how the turn goes on.
        let is_blank = open.arguments.is_blank();
        if withholds || is_blank || !open.arguments.has_ended_valid() {
            if let Some(tracking) = self.tracking.as_mut().filter(|_| open.lacks_arguments()) {
                // Its arguments are written before this event, or into it.
                open.hold_event(tracking, Target::Call(scope, call), None);
            }
            self.end_pending(sink);
            self.pending = Some((scope, call));
        } else {
            self.end((scope, call), End::Stated, sink);
        }
    }

    /// The response continues: a call that ended without arguments has none.
    pub(crate) fn end_pending(&mut self, sink: Sink<'_>) {
        if let Some(key) = self.pending.take() {
            self.end(key, End::Stated, sink);
        }
    }

    /// Another call begins in that scope. If the format neither states ends nor repeats the calls, this ends
    /// the previous call, unless some of its arguments are missing.
    pub(super) fn close_last(&mut self, scope: u32, sink: Sink<'_>) {
        if self.ends == CallEnds::Repeated {
            return;
        }
        let Some(&call) = self.last.get(&scope) else { return };
        // Its arguments may be those of a call before it that still has none.
        if self.open.range((scope, 0)..(scope, call)).next().is_some() {
            return;
        }
        let Some(open) = self.open.get_mut(&(scope, call)) else { return };
        if open.doubt.is_some() || open.name.is_none() || !open.arguments.has_ended() {
            return;
        }
        self.end((scope, call), End::Stated, sink);
        if let Some(ended) = self.ended.get_mut(&(scope, call)) {
            ended.end_early();
        }
    }

    /// If pieces of a call that never began are left, they may belong to any other call.
    fn doubt_beside_strays(&mut self) {
        if self.open.values().any(|open| open.is_stray()) {
            self.lossy = true;
            for open in self.open.values_mut().filter(|open| !open.is_stray()) {
                open.doubt.get_or_insert(Doubt::LostEvent);
            }
        }
    }

    /// A scope has finished.
    pub(crate) fn finish(&mut self, scope: u32, end: End, sink: Sink<'_>) {
        self.doubt_beside_strays();
        let pending = self.pending.take_if(|key| key.0 == scope);
        let open: Vec<_> =
            self.open.range((scope, 0)..=(scope, usize::MAX)).map(|(key, _)| *key).collect();
        for key in open {
            let stated = pending == Some(key);
            if end == End::Clean && self.ends == CallEnds::Stated && !stated {
                // The event that states the end of the call is missing.
                if let Some(open) = self.open.get_mut(&key) {
                    open.doubt.get_or_insert(Doubt::LostEvent);
                }
            }
            self.end(key, end, sink);
        }
    }

    /// Whether there was a call in that scope.
    pub(crate) fn has_any(&self, scope: u32) -> bool {
        self.last.contains_key(&scope)
    }

    /// Whether a call of that scope has ended.
    pub(crate) fn has_ended(&self, scope: u32) -> bool {
        self.ended.range((scope, 0)..=(scope, usize::MAX)).next().is_some()
    }

    /// Sets how the format says that a call has ended.
    pub(crate) const fn set_ends(&mut self, ends: CallEnds) {
        self.ends = ends;
    }

    /// Whether the format states the end of every call.
    pub(crate) fn are_stated(&self) -> bool {
        self.ends == CallEnds::Stated
    }

    /// The stream has ended. `is_over`: whether the turn of a scope had ended before.
    pub(crate) fn finish_all(&mut self, end: End, is_over: impl Fn(u32) -> bool, sink: Sink<'_>) {
        while let Some((&(scope, _), _)) = self.open.first_key_value() {
            // What begins after the end of its turn, and has no other, has no end.
            self.finish(scope, if is_over(scope) { End::Broken } else { end }, sink);
        }
    }

    /// Ends a call, and decides whether it is complete.
    fn end(&mut self, key: (u32, usize), end: End, sink: Sink<'_>) {
        let Some(mut open) = self.open.remove(&key) else { return };
        self.kept = self.kept.saturating_sub(open.kept);
        let call = key.1;
        let half = open.halves.finish();
        if !half.is_empty() {
            open.doubt.get_or_insert(Doubt::DamagedEvent);
        }
        open.arguments.push(half, &mut |piece| sink(fragment(call, piece)));
        let (nameless, is_filled) = (open.name.is_none(), open.is_filled());
        let name = open.name.take().unwrap_or_default();
        let (name, is_damaged) = match self.tools.declared(&name) {
            Some(declared) => (declared, false),
            None => {
                let is_damaged = name.contains(is_foreign);
                (name, is_damaged)
            }
        };
        let doubt = open
            .doubt
            .or_else(|| is_damaged.then_some(Doubt::DamagedEvent))
            .or_else(|| nameless.then_some(Doubt::MissingStart))
            .or_else(|| open.arguments.doubt())
            .or_else(|| (end == End::Broken).then_some(Doubt::BodyEnded));
        let closed = open.arguments.close(&mut |piece| sink(fragment(call, piece)));
        let ended = Call::new(call, key.0, open.kind, open.id, name);
        let ended = ended.guided(open.arguments.is_guided());
        let blank = matches!(closed, Closed::Empty);
        let mut ended = ended.closed(closed, end, doubt);
        // It lost the number that others have, and with that what came under it.
        let numbered = (key.0, 0)..=(key.0, i64::MAX);
        let lost_number =
            open.index.is_none() && !open.exact && self.keys.range(numbered).next().is_some();
        if (open.after_loss || lost_number)
            && (blank || (end != End::Unclean && ended.outcome() == Outcome::Repaired))
        {
            // What looks like a defect may be the position of the lost event, and it may have held all of the
            // arguments.
            ended = ended.doubted(Doubt::LostEvent);
        }
        // Valid arguments are those of a complete call, unless they are not to leave after such a finish.
        let cut = matches!(ended.outcome(), Outcome::Closed | Outcome::Cut);
        if let Some(tracking) = &mut self.tracking
            && tracking.settle(Target::Call(key.0, call), cut || end == End::Unclean)
            && !cut
        {
            ended = ended.doubted(Doubt::UncleanStop);
        }
        // What the stream may still repeat is what it has said, and not what is made of it.
        self.ended.insert(key, Ended::new(&ended));
        let fitter = self.tracking.as_ref().and_then(|tracking| tracking.fitter());
        let is_fit = ended.kind() == CallKind::Function
            && ended.outcome().is_complete()
            && !blank
            && open.arguments.is_held();
        let fitted =
            fitter.filter(|_| is_fit).and_then(|fitter| fitter.fit(&Fittable::Call(&ended)));
        let mut script = None;
        if let Some((text, edits)) = fitted {
            ended = ended.fitted(text);
            script = Some(edits);
        }
        if blank && ended.outcome().is_complete() {
            script = open.arguments.fill();
        }
        if blank && is_filled && ended.outcome().is_complete() {
            // Whose a piece is that comes now, with that index.
            let next = match open.index {
                Some(index) => self.keys.get(&(key.0, index)),
                None => self.last.get(&key.0),
            };
            let is_addressed = open.precedes || next == Some(&call);
            if let Some(tracking) = &mut self.tracking {
                tracking.enter(Entry::Empty(Box::new(EmptyCall {
                    index: open.index,
                    is_addressed,
                    is_written: script.is_some(),
                    ..EmptyCall::of(&ended)
                })));
            }
        }
        let mut show = |piece: Piece<'_>| sink(fragment(call, piece));
        open.arguments.decide(&ended, script.as_ref(), &mut show);
        sink(WireEvent::CallEnded(&ended));
        let edit_log = open.arguments.into_edit_log();
        if let (Some(edit_log), Some(tracking)) = (edit_log, &mut self.tracking) {
            tracking.end(Target::Call(key.0, call), edit_log);
        }
    }
}

impl Call {
    /// Sets the arguments, and decides their outcome from what ended the call.
    pub(super) fn closed(self, closed: Closed, end: End, doubt: Option<Doubt>) -> Self {
        let custom = self.kind() == CallKind::Custom;
        let ended = match closed {
            Closed::Empty if custom || doubt.is_some() => {
                self.with_text(String::new(), Outcome::Unchanged)
            }
            // The turn ended before any arguments arrived.
            Closed::Empty if end == End::Unclean => self.with_text(String::new(), Outcome::None),
            Closed::Empty => self.with_text("{}".to_owned(), Outcome::Unchanged),
            Closed::Free(text) => self.with_text(text, Outcome::Unchanged),
            Closed::Overflow(text) => self.with_text(text, Outcome::Overflow),
            Closed::Json { raw, mended: Some(mended), resent } => {
                let whole = is_whole_value(&raw, &mended);
                let call = self.with_json(raw, mended, resent);
                let lost = call.outcome() == Outcome::Repaired && !whole && doubt.is_none();
                if lost { call.doubted(Doubt::NoObject) } else { call }
            }
            Closed::Json { raw, mended: None, resent } => self.with_valid(raw, resent),
        };
        let ended = match doubt {
            Some(doubt) => ended.doubted(doubt),
            None => ended,
        };
        if end == End::Unclean { ended.stopped() } else { ended }
    }
}

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
    const fn end_early(&mut self) {
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
