//! Calls in JSON: between markers, after a name, or on their own.

mod begins;
mod bounds;
mod items;
mod space;
mod trail;

use wiremend_core::Mender;

use super::{
    envelope::{Ending, Envelope, Follow, Form},
    markers::{Markers, MarkersHere},
    out::Ctx,
    shape::Text,
    sink::{CallOutcome, CallSink},
};

use begins::fence;
pub(super) use begins::may_be_call;
pub(super) use bounds::{Quotes, goes_on};
use space::is_within;
pub(super) use space::{SPACE, past_space, window};
use trail::Closing;

/// What an engine did with the bytes that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It read this many bytes.
    Read(usize),
    /// It needs more.
    Wait,
    /// It read this many bytes, and these, which it read before, are to be read again.
    Back(usize, Vec<u8>),
    /// It is done, after this many bytes.
    Done(usize),
}

/// A payload of JSON.
#[derive(Clone, Debug)]
pub(super) struct JsonCall {
    mender: Box<Mender>,
    envelope: Envelope,
    phase: Phase,
    quotes: Quotes,
    /// What closes the block. What opens another, and what is around it, ends it, too.
    stops: Markers,
    closing: Closing,
    /// The backticks around it, if the text has shown them.
    fenced: &'static [u8],
    /// Whether the block is a part of the call, so that its end is not that of the call.
    within: bool,
    /// Whether anything was read that is no JSON.
    junk: bool,
    /// Whether its markers are control tokens.
    sealed: bool,
    /// What is written before the arguments. Where it comes again, nobody knows which of both are meant.
    mark: Text,
    /// How many bytes are passed to the mender at once.
    portion: usize,
}

/// How many bytes are passed to a mender first, and at most. What a short call does not need of them is
/// read again after it.
const PORTIONS: (usize, usize) = (64, 4096);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// White space and a fence before the value.
    Lead,
    Value,
    /// After an item of a list of calls.
    Item,
    /// A value that has ended, unless what follows goes on with it.
    Follow,
    /// What is no value, up to a marker.
    Junk,
    /// What goes on with arguments that have ended, up to a marker.
    Surplus,
    /// White space, a fence and the closing marker after the value.
    Trail,
}

/// The number of the marker that closes a block; others only end it.
pub(super) const CLOSE: usize = 0;

impl JsonCall {
    /// A payload between markers. `stops` are the markers that may end it, the closing ones with the
    /// number [`CLOSE`].
    pub(super) fn between<S>(stops: Markers, closes: bool, keyed: bool, ctx: &Ctx<'_, S>) -> Self {
        Self::new(if keyed { Form::Keyed } else { Form::Marked }, stops, closes, ctx)
    }

    /// A payload without markers.
    pub(super) fn bare<S>(ctx: &Ctx<'_, S>) -> Self {
        // The fence around it ends it, too.
        let fence = Markers::new([(CLOSE + 1, "```")]);
        Self::new(Form::Bare, fence, false, ctx)
    }

    /// The arguments of a call that has begun.
    pub(super) fn arguments<S>(stops: Markers, closes: bool, ctx: &Ctx<'_, S>) -> Self {
        Self::new(Form::Arguments, stops, closes, ctx)
    }

    /// The arguments of a call that lacks its opener, which only its closing marker makes one that may run.
    pub(super) fn unopened<S>(stops: Markers, ctx: &Ctx<'_, S>) -> Self {
        Self { closing: Closing::Required, ..Self::arguments(stops, true, ctx) }
    }

    fn closes(&self) -> bool {
        self.closing != Closing::None
    }

    /// Says what is written before the arguments.
    pub(super) fn after_mark(self, mark: &Text) -> Self {
        Self { mark: mark.clone(), ..self }
    }

    /// The input of a tool, which need not be an object.
    pub(super) fn input<S>(stops: Markers, closes: bool, ctx: &Ctx<'_, S>) -> Self {
        Self::new(Form::Input, stops, closes, ctx)
    }

    /// The same as a part of a call that goes on: who reads the call says that it has ended. If its markers are
    /// control tokens, two in a row in a string refuse the call: the string was not closed before them.
    pub(super) fn within(self, sealed: bool) -> Self {
        Self { within: true, sealed, ..self }
    }

    /// What is written where the arguments of a call that has begun should be, and cannot be read.
    pub(super) fn unread<S>(stops: Markers, closes: bool, ctx: &Ctx<'_, S>) -> Self {
        let new = Self::arguments(stops, closes, ctx);
        Self { phase: Phase::Junk, ..new }
    }

    fn new<S>(form: Form, stops: Markers, closes: bool, ctx: &Ctx<'_, S>) -> Self {
        Self {
            mender: Box::new(Mender::new(ctx.options.clone())),
            envelope: Envelope::new(form),
            phase: Phase::Lead,
            quotes: Quotes::default(),
            stops,
            closing: if closes { Closing::Due } else { Closing::None },
            fenced: b"",
            within: false,
            junk: false,
            sealed: false,
            mark: Text::default(),
            portion: PORTIONS.0,
        }
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        match self.phase {
            Phase::Lead => self.lead(rest, eof, ctx),
            Phase::Value => self.value(rest, eof, ctx),
            Phase::Item => self.item(rest, eof, ctx),
            Phase::Follow => self.follow(rest, eof, ctx),
            Phase::Junk | Phase::Surplus => self.junk(rest, eof, ctx),
            Phase::Trail => self.trail(rest, eof, ctx),
        }
    }

    /// What was read and is not emitted yet.
    pub(super) fn pending(&self) -> &[u8] {
        self.envelope.pending()
    }

    fn lead<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if space > 0 {
            ctx.markup(rest.get(..space).unwrap_or_default());
            return Step::Read(space);
        }
        if rest.is_empty() && !eof {
            return Step::Wait;
        }
        if self.fenced.is_empty() && rest.first() == Some(&b'`') {
            match fence(rest, eof) {
                None => return Step::Wait,
                Some(0) => {}
                Some(length) => {
                    self.fenced = if length == 1 { b"`" } else { b"```" };
                    ctx.markup(rest.get(..length).unwrap_or_default());
                    return Step::Read(length);
                }
            }
        }
        match self.stops.at(rest, eof) {
            MarkersHere::Partial => return Step::Wait,
            MarkersHere::Here(found) => {
                // There are no arguments. Only the marker that ends a call says that there are to be none.
                if !found.iter().any(|(id, _)| *id == CLOSE) {
                    ctx.stop_short();
                }
                ctx.arguments(b"{}");
                ctx.end(CallOutcome::Whole, 1, false);
                self.give_up_unmade(ctx);
                self.phase = Phase::Trail;
                return Step::Read(0);
            }
            MarkersHere::Nothing => {}
        }
        self.phase = match rest.first() {
            Some(b'{' | b'[' | b'"' | b'\'') | None => Phase::Value,
            _ => Phase::Junk,
        };
        Step::Read(0)
    }

    /// Ends a call of which the payload is the arguments.
    fn end_arguments<S: CallSink>(
        &mut self,
        outcome: CallOutcome,
        at_end: bool,
        ctx: &mut Ctx<'_, S>,
    ) {
        if self.phase == Phase::Surplus {
            self.envelope.refuse();
            self.envelope.finish(ctx);
        } else {
            ctx.end(outcome, 0, at_end);
        }
        if !ctx.out.made {
            ctx.fail();
        }
    }

    /// Decides whether a payload has ended with its value.
    fn follow<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let Some(more) = self.has_more(rest, eof) else { return Step::Wait };
        if more && self.envelope.is_named() {
            self.phase = Phase::Surplus;
            return Step::Read(0);
        }
        self.envelope.finish(ctx);
        self.give_up_unmade(ctx);
        self.phase = Phase::Trail;
        if more && ctx.out.made && !self.envelope.is_dead() {
            // Keys that follow the object of a call are missing in it.
            ctx.refuse_ended();
            self.phase = if self.closes() { Phase::Junk } else { Phase::Trail };
        }
        Step::Read(0)
    }

    /// Whether what follows a value goes on with it, or, after arguments, is another object in place of the marker,
    /// or more arguments. `None` waits for more.
    fn has_more(&self, rest: &[u8], eof: bool) -> Option<bool> {
        if self.runs_on(rest, eof)? {
            return Some(true);
        }
        if !self.envelope.is_named() {
            return if self.closes() { goes_on(rest, eof) } else { Some(false) };
        }
        let (_, next) = past_space(rest, eof)?;
        let mark = self.mark.trim().as_bytes();
        if (self.closes() || !mark.is_empty()) && next.starts_with(b"{") {
            return Some(true);
        }
        if mark.len() > 1 {
            if !eof && !next.is_empty() && next.len() < mark.len() && mark.starts_with(next) {
                return None;
            }
            if next.starts_with(mark) {
                return Some(true);
            }
        }
        goes_on(rest, eof)
    }

    /// Reads what should be arguments and is no JSON.
    fn junk<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let mut at = 0;
        while let Some(byte) = rest.get(at) {
            if self.stops.begins_with(*byte) {
                match self.stops.at(rest.get(at..).unwrap_or_default(), eof) {
                    MarkersHere::Partial => {
                        ctx.raw(rest.get(..at).unwrap_or_default());
                        return if at > 0 { Step::Read(at) } else { Step::Wait };
                    }
                    MarkersHere::Here(_) => {
                        ctx.raw(rest.get(..at).unwrap_or_default());
                        self.end_arguments(CallOutcome::Refused, false, ctx);
                        self.phase = Phase::Trail;
                        return Step::Read(at);
                    }
                    MarkersHere::Nothing => {}
                }
            }
            // Without a marker that may follow, what goes on with arguments ends with its line.
            if self.phase == Phase::Surplus && self.stops.is_empty() && *byte == b'\n' {
                ctx.raw(rest.get(..at).unwrap_or_default());
                self.end_arguments(CallOutcome::Refused, false, ctx);
                self.phase = Phase::Trail;
                return Step::Read(at);
            }
            at += 1;
        }
        ctx.raw(rest);
        self.junk |= !rest.is_empty();
        if eof {
            // The text is cut off after the name, or where the model did not end it.
            let outcome =
                if self.junk && ctx.eos { CallOutcome::Refused } else { CallOutcome::Cut };
            self.end_arguments(outcome, true, ctx);
            return Step::Done(rest.len());
        }
        if ctx.is_full() {
            ctx.fail();
            return Step::Done(rest.len());
        }
        if rest.is_empty() { Step::Wait } else { Step::Read(rest.len()) }
    }

    fn value<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        if rest.is_empty() {
            return if eof { self.end_value(Ending::Input, false, ctx) } else { Step::Wait };
        }
        let begins = |byte: &u8| self.stops.begins_with(*byte);
        let portion = rest.get(..self.portion).unwrap_or(rest);
        let clear = portion.iter().position(begins).unwrap_or(portion.len());
        if clear > 0 {
            return self.feed_items(rest, clear, ctx);
        }
        match self.stops.at(rest, eof) {
            MarkersHere::Partial => Step::Wait,
            MarkersHere::Nothing
                if eof && self.is_half_a_marker(rest) && !self.is_inside_string() =>
            {
                self.end_value(Ending::Input, false, ctx)
            }
            MarkersHere::Nothing => self.feed(rest, 1, ctx),
            MarkersHere::Here(found) => {
                let length = found.first().map_or(1, |(_, length)| *length);
                // A fence that closes a block is at the end of its line. Others are inside of it.
                if rest.first() == Some(&b'`') {
                    match rest.get(length) {
                        None if !eof => return Step::Wait,
                        Some(next) if !next.is_ascii_whitespace() => {
                            return self.feed(rest, 1, ctx);
                        }
                        _ => {}
                    }
                    if self.envelope.is_bare() && self.is_inside_string() {
                        return self.feed(rest, 1, ctx);
                    }
                }
                if !self.is_inside_string() {
                    return match is_within(rest, eof) {
                        None => Step::Wait,
                        Some(true) => self.feed(rest, 1, ctx),
                        Some(false) => self.end_value(Ending::Marker, false, ctx),
                    };
                }
                // One that was not closed runs over the end of its call into the next one.
                match self.next_call_follows(rest, eof) {
                    None => return Step::Wait,
                    Some(true) => return self.end_value(Ending::Marker, true, ctx),
                    Some(false) => {}
                }
                // A bracket or parenthesis is too common in strings to end one.
                if length == 1 {
                    return self.feed(rest, 1, ctx);
                }
                // A string that was not closed runs into the markers at the end.
                match self.nothing_follows(rest, eof) {
                    None => Step::Wait,
                    Some(true) => self.end_value(Ending::Marker, self.quotes.ran_over(), ctx),
                    Some(false) => {
                        let after = rest.get(length..).unwrap_or_default();
                        match if self.sealed {
                            self.stops.at(after, eof)
                        } else {
                            MarkersHere::Nothing
                        } {
                            MarkersHere::Partial => return Step::Wait,
                            // One control token may be quoted. Two are the end of the call.
                            MarkersHere::Here(_) => ctx.refuse(),
                            MarkersHere::Nothing => {}
                        }
                        self.feed(rest, 1, ctx)
                    }
                }
            }
        }
    }

    /// Passes the first bytes of `rest` to the mender.
    fn feed<S: CallSink>(&mut self, rest: &[u8], length: usize, ctx: &mut Ctx<'_, S>) -> Step {
        let length = length.min(self.portion);
        self.portion = (2 * self.portion).min(PORTIONS.1);
        ctx.out.work += length as u64;
        let bytes = rest.get(..length).unwrap_or_default();
        self.quotes.read(bytes);
        self.envelope.note(bytes);
        let mut follow = Follow { envelope: &mut self.envelope, ctx };
        let ended = self.mender.push_document(bytes, &mut follow);
        if ended.is_some() {
            let back = self.envelope.rest();
            self.phase = Phase::Follow;
            let (kept, unread) = (length.saturating_sub(back.len()), back.len().min(length));
            let before = back.get(..back.len() - unread).unwrap_or_default().to_vec();
            return if before.is_empty() { Step::Read(kept) } else { Step::Back(kept, before) };
        }
        self.envelope.bound(ctx);
        Step::Read(length)
    }

    fn give_up_unmade<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if !ctx.out.made {
            ctx.fail();
        }
    }

    /// Ends the value, although it may be open. A string may have run `over` the end of it.
    fn end_value<S: CallSink>(&mut self, ending: Ending, over: bool, ctx: &mut Ctx<'_, S>) -> Step {
        // The end of the text may stand for a marker, but not for what is missing of the value.
        let short = self.phase == Phase::Value && self.quotes.stops_short();
        let short = short && !self.is_inside_string();
        let input = ending == Ending::Input;
        // Where the model ended the text, and no marker was to come, nothing is missing after the arguments
        // but brackets.
        let may_lack = input && ctx.eos && !self.closes() && self.mender.repair_count() == 0;
        let whole = may_lack && self.quotes.is_after_bracket() && !self.quotes.inside;
        self.envelope.end(ending, short, over, whole);
        let mut follow = Follow { envelope: &mut self.envelope, ctx };
        let outcome = self.mender.finish(&mut follow);
        self.envelope.stopped(outcome);
        let back = self.envelope.rest();
        self.envelope.finish(ctx);
        self.give_up_unmade(ctx);
        self.phase = Phase::Trail;
        if back.is_empty() { Step::Read(0) } else { Step::Back(0, back) }
    }
}
