//! How calls end, and which of them are complete.

use core::hash::Hasher;
use std::hash::DefaultHasher;

use jsonmend_core::Outcome;

use super::{
    Call, CallKind, Calls, Doubt, Sink, Target, arguments::Closed, fragment,
    reading::is_whole_value,
};
use crate::{FinishReason, WireEvent, work};

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

/// What is kept of a call that has ended: enough to distinguish a repetition from something new.
#[derive(Debug)]
pub(super) struct Ended {
    id: Option<String>,
    name: String,
    /// A hash of the arguments without white space.
    hash: u64,
    /// The arguments have only one spelling, apart from white space.
    plain: bool,
    /// It ended because the next call began, so the stream may still repeat it.
    early: bool,
}

impl Ended {
    /// Whether `text` equals the arguments, apart from white space.
    pub(super) fn matches(&self, text: &str) -> bool {
        hash(text) == self.hash
    }

    /// Whether `text` certainly differs from the arguments.
    pub(super) fn contradicts(&self, text: &str) -> bool {
        self.plain && is_plain(text) && !self.matches(text)
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
    for part in text.split_ascii_whitespace() {
        hasher.write(part.as_bytes());
    }
    hasher.finish()
}

/// Whether the strings in it have only one spelling, that is, no character is or could be escaped.
fn is_plain(text: &str) -> bool {
    text.is_ascii() && !text.contains('\\')
}

impl Calls {
    /// Something that may have belonged to any open call was lost, damaged or contradicted: none of them
    /// is complete.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.lossy |= doubt != Doubt::StreamError;
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

    /// The format states the end of the call. A call without a name waits: the next event may hold
    /// it.
    pub(crate) fn stop(&mut self, scope: u32, index: i64, sink: Sink<'_>) {
        let Some(&call) = self.keys.get(&(scope, index)) else { return };
        let Some(open) = self.open.get_mut(&(scope, call)) else { return };
        if open.name.is_none() {
            return;
        }
        // Providers state the end of a block that a limit cut off, too. What would have to be supplied or
        // repaired waits to see how the turn goes on.
        if open.arguments.is_blank() || !open.arguments.has_ended_valid() {
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

    /// Another call begins in that scope. If the format states no ends, this ends the previous call, unless
    /// some of its arguments are missing.
    pub(super) fn close_last(&mut self, scope: u32, sink: Sink<'_>) {
        let Some(&call) = self.last.get(&scope) else { return };
        let Some(open) = self.open.get_mut(&(scope, call)) else { return };
        if open.doubt.is_some() || open.name.is_none() || !open.arguments.has_ended() {
            return;
        }
        self.end((scope, call), End::Stated, sink);
        if let Some(ended) = self.ended.get_mut(&(scope, call)) {
            ended.early = true;
        }
    }

    /// A scope has finished.
    pub(crate) fn finish(&mut self, scope: u32, end: End, sink: Sink<'_>) {
        let pending = self.pending.take_if(|key| key.0 == scope);
        let open: Vec<_> =
            self.open.range((scope, 0)..=(scope, usize::MAX)).map(|(key, _)| *key).collect();
        for key in open {
            let stated = pending == Some(key);
            if end == End::Clean && self.states_ends && !stated {
                // The event that states the end of the call is missing.
                if let Some(open) = self.open.get_mut(&key) {
                    open.doubt.get_or_insert(Doubt::LostEvent);
                }
            }
            self.end(key, end, sink);
        }
    }

    /// Whether a call of that scope has ended.
    pub(crate) fn has_ended(&self, scope: u32) -> bool {
        self.ended.range((scope, 0)..=(scope, usize::MAX)).next().is_some()
    }

    /// Sets whether the format states the end of each call.
    pub(crate) const fn set_states_ends(&mut self, states_ends: bool) {
        self.states_ends = states_ends;
    }

    /// The stream has ended.
    pub(crate) fn finish_all(&mut self, end: End, sink: Sink<'_>) {
        while let Some((&(scope, _), _)) = self.open.first_key_value() {
            self.finish(scope, end, sink);
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
        let nameless = open.name.is_none() && open.kind != CallKind::Custom;
        let doubt = open
            .doubt
            .or_else(|| nameless.then_some(Doubt::MissingStart))
            .or_else(|| open.arguments.doubt())
            .or_else(|| (end == End::Broken).then_some(Doubt::BodyEnded));
        let closed = open.arguments.close(&mut |piece| sink(fragment(call, piece)));
        let name = open.name.unwrap_or_default();
        let ended = Call::new(call, key.0, open.kind, open.id.clone(), name.clone());
        let mut ended = ended.closed(closed, end, doubt);
        if end != End::Unclean && open.after_loss && ended.outcome() == Outcome::Repaired {
            // What looks like a defect may be the position of the lost event.
            ended = ended.doubted(Doubt::LostEvent);
        }
        open.arguments.decide(&ended, &mut |piece| sink(fragment(call, piece)));
        sink(WireEvent::CallEnded(&ended));
        let (hash, plain) = (hash(ended.raw()), is_plain(ended.raw()));
        let kept = Ended { id: open.id, name, hash, plain, early: false };
        self.ended.insert(key, kept);
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
