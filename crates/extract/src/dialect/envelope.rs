//! A payload of JSON while it is mended: the arguments of a call, or calls with their names in them.
//!
//! Arguments leave while they arrive if it is known whose they are: those of a call that has begun, and, between
//! markers, those after a header with the name of the tool. All else is kept within the limit, and
//! [read](parse) when it has ended.

mod follow;
mod kept;
mod keys;
mod parse;
mod payload;

use std::ops::Range;

use wiremend_core::{Outcome, RepairKind};

pub(super) use follow::Follow;
use kept::{Kept, Mark};
use keys::unescaped;
pub(super) use keys::{LONGEST_NAME, is_key_of_call, keys_of_calls};
use parse::{Found, Given, Place, Reading, Rules, parse};
use payload::Payload;

use super::{
    out::Ctx,
    repairs::Repairs,
    sink::{CallOutcome, CallSink},
};

/// How many members are looked at for the arguments of a header.
const HEADERS: usize = 4;
/// What is kept in the place of arguments that have left.
const VALUE: &[u8] = b"{}";

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The arguments of a call that has begun: an object.
    Arguments,
    /// The input of a tool, which may be any value.
    Input,
    /// Calls between markers.
    Marked,
    /// The same, where any key may be the name of a tool.
    Keyed,
    /// Calls without a marker.
    Bare,
}

/// Follows mended JSON text, and emits the calls in it.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    form: Form,
    kept: Kept,
    scan: Scan,
    repairs: Repairs,
    state: State,
    /// Where the object that is read begins, and how deep it is.
    start: usize,
    depth: usize,
    /// How often it was looked for a header in it.
    tried: usize,
    /// The call that has begun before its end.
    begun: Option<Begun>,
    /// Whether a list has messages of others than the model, so that its calls were made before.
    history: bool,
    /// Whether what was read last is no call.
    dead: bool,
    ended: Option<Ended>,
    /// Whether what follows is raw input.
    raw: bool,
}

#[derive(Clone, Debug)]
enum State {
    Kept,
    /// The arguments of the call that has begun, which end at this depth.
    Arguments(usize),
    /// What is read is more than may be kept, or no call.
    Passed,
}

/// A call that has begun.
#[derive(Clone, Debug, Default)]
struct Begun {
    /// Where its arguments are.
    at: usize,
    has_id: bool,
    payload: Payload,
}

impl Begun {
    /// Notes a repair, or what shows that one is doubtful.
    fn note<S: CallSink>(
        &mut self,
        repair: Option<RepairKind>,
        doubtful: bool,
        ctx: &mut Ctx<'_, S>,
    ) {
        self.payload.refused |= doubtful;
        repair.into_iter().for_each(|kind| self.payload.repair(kind, ctx));
    }
}

/// How a payload ends before its value does.
#[derive(Clone, Copy, Debug)]
struct Ended {
    ending: Ending,
    /// How much of the mended text there was before.
    at: usize,
    /// Whether a value is missing, or a part of one.
    short: bool,
    /// Whether a string may have run over the end of its call.
    over: bool,
    /// Whether nothing is missing but brackets, if the arguments have ended.
    whole: bool,
}

/// Why a payload ends before its value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Marker,
    Input,
}

/// Where a place of mended text is.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether a colon was read, and no value after it.
    due: bool,
}

impl Scan {
    /// Reads a byte. Returns whether a string or a container ends with it.
    fn read(&mut self, byte: u8) -> bool {
        if self.in_string {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.in_string = !ends;
            return ends;
        }
        self.due = byte == b':' || self.due && byte.is_ascii_whitespace();
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return true;
            }
            _ => {}
        }
        false
    }
}

impl Envelope {
    pub(super) fn new(form: Form) -> Self {
        let arguments = matches!(form, Form::Arguments | Form::Input);
        Self {
            form,
            kept: Kept::default(),
            scan: Scan::default(),
            repairs: Repairs::default(),
            state: if arguments { State::Arguments(0) } else { State::Kept },
            start: 0,
            depth: 0,
            tried: 0,
            begun: arguments.then(Begun::default),
            history: false,
            dead: false,
            ended: None,
            raw: false,
        }
    }

    /// Whether the payload is the arguments of a call that has begun.
    pub(super) const fn is_named(&self) -> bool {
        matches!(self.form, Form::Arguments | Form::Input)
    }

    /// Whether it has calls without a marker.
    pub(super) fn is_bare(&self) -> bool {
        self.form == Form::Bare
    }

    /// Reads mended bytes. `copied` says that they are source bytes, too.
    fn read<S: CallSink>(&mut self, bytes: &[u8], copied: bool, ctx: &mut Ctx<'_, S>) {
        if self.is_named() {
            return self.pass(bytes, copied, ctx);
        }
        let mut done = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let run = bytes.get(done..at).unwrap_or_default();
            if !self.scan.in_string && matches!(byte, b'{' | b'[') {
                let opens = self.scan.depth <= 1;
                let value = byte == b'{' && self.scan.due && self.tried < HEADERS;
                if opens || value {
                    self.pass(run, copied, ctx);
                    done = at;
                }
                match (opens, value) {
                    (true, _) if self.scan.depth == 0 => self.begin(0, ctx),
                    // The items of a list of objects are read each by itself.
                    (true, _) if byte == b'{' && self.is_first_item() => self.begin(1, ctx),
                    _ if value => self.header(ctx),
                    _ => {}
                }
            }
            if !self.scan.read(byte) {
                continue;
            }
            let run = bytes.get(done..=at).unwrap_or_default();
            match &self.state {
                State::Arguments(depth) if *depth == self.scan.depth => {
                    self.pass(run, copied, ctx);
                    done = at + 1;
                    self.arguments_end(copied, ctx);
                }
                _ if byte != b'"' && self.scan.depth == self.depth => {
                    self.pass(run, copied, ctx);
                    done = at + 1;
                    self.object_ends(ctx);
                }
                _ => {}
            }
        }
        self.pass(bytes.get(done..).unwrap_or_default(), copied, ctx);
    }

    /// Keeps mended bytes, or emits them as arguments.
    fn pass<S: CallSink>(&mut self, run: &[u8], copied: bool, ctx: &mut Ctx<'_, S>) {
        if matches!(self.state, State::Kept) {
            self.kept.keep(run, copied);
            if let Some(ended) = self.ended.as_mut().filter(|_| copied) {
                ended.at = self.kept.json.len();
            }
            return;
        }
        if copied {
            self.kept.read(run.len());
        }
        self.pass_source(ctx);
        if let (State::Arguments(_), Some(Begun { payload, .. })) = (&self.state, &mut self.begun) {
            payload.push(run, ctx);
        }
    }

    /// Emits all source that was read.
    fn pass_source<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let source = self.kept.take_read();
        match (&self.state, &mut self.begun) {
            (State::Arguments(_), Some(begun)) => begun.payload.source(&source, ctx),
            _ => self.emit_source(&source, ctx),
        }
    }

    /// Emits source that is not that of arguments.
    fn emit_source<S: CallSink>(&self, source: &[u8], ctx: &mut Ctx<'_, S>) {
        match self.dead {
            _ if source.is_empty() => {}
            true if ctx.drops() => ctx.dropped(source),
            true => ctx.text(source),
            false => ctx.markup(source),
        }
    }

    /// Whether an object that begins here is an item of a list that has nothing but objects so far.
    fn is_first_item(&self) -> bool {
        let list = self.kept.json.get(self.start..).unwrap_or_default();
        self.scan.depth == 1 && (self.depth == 1 || list.trim_ascii() == b"[")
    }

    /// Whether a list without a marker has anything but objects after the last one: it is text.
    fn has_other_item(&self) -> bool {
        let is_gap = |byte: &u8| byte.is_ascii_whitespace() || b",[]".contains(byte);
        self.is_bare() && self.depth == 1 && !self.kept.json.iter().all(is_gap)
    }

    /// An object or a list begins that is read as a whole.
    fn begin<S: CallSink>(&mut self, depth: usize, ctx: &mut Ctx<'_, S>) {
        self.dead |= self.has_other_item();
        if self.dead {
            // What is between two items goes with the first.
            self.pass_source(ctx);
            self.clear();
        }
        (self.start, self.depth) = (self.kept.json.len(), depth);
        self.tried = if self.is_bare() { HEADERS } else { 0 };
        if !matches!(self.state, State::Passed) {
            self.dead = self.history;
        }
    }

    fn parse<S>(&self, ctx: &mut Ctx<'_, S>) -> Reading {
        ctx.out.work += (self.kept.json.len() - self.start) as u64;
        let rules = Rules {
            row: ctx.row,
            tools: ctx.tools,
            auto: ctx.auto,
            strict: self.is_bare(),
            keyed: self.form == Form::Keyed,
            cut: self.ended.filter(|ended| ended.ending == Ending::Input).map(|ended| ended.at),
        };
        let place = if self.depth == 0 { Place::Whole } else { Place::Item };
        parse(&self.kept.json, self.start, place, rules)
    }

    /// The value of a member begins. If it is the arguments of a call whose name is known, they leave while they
    /// arrive.
    fn header<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.tried += 1;
        self.bound(ctx);
        if matches!(self.state, State::Passed) {
            return;
        }
        let at = self.kept.json.len();
        self.kept.json.extend_from_slice(VALUE);
        let reading = self.parse(ctx);
        self.kept.json.truncate(at);
        let [call @ Found { given: Given::Value(value, _), .. }] = &reading.calls[..] else {
            return;
        };
        if value.start != at {
            return;
        }
        let content = reading.content.filter(|content| content.start < at);
        if self.begin_call(call, content, ctx) {
            self.take_markup(at, ctx);
            self.kept.keep(VALUE, false);
            self.begun = Some(Begun { at, has_id: call.id.is_some(), payload: Payload::default() });
            self.state = State::Arguments(self.scan.depth);
        } else {
            self.give_up(ctx);
        }
    }

    /// What is kept is no call, nor what comes up to its end.
    fn give_up<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.dead = true;
        self.state = State::Passed;
        ctx.fail();
        self.pass_source(ctx);
        self.clear();
    }

    fn arguments_end<S: CallSink>(&mut self, copied: bool, ctx: &mut Ctx<'_, S>) {
        self.state = State::Kept;
        if let Some(begun) = &mut self.begun {
            begun.payload.end(true, ctx);
        }
        if let Some(ended) = self.ended.as_mut().filter(|_| copied) {
            ended.at = self.kept.json.len();
        }
    }

    /// The payload has ended before its value, unless nothing is missing of it. `short` says that it ends at a value or
    /// inside of one, `over` that a string may have run over that end, and `whole` that nothing is missing but brackets if
    /// the arguments have ended.
    pub(super) fn end(&mut self, ending: Ending, short: bool, over: bool, whole: bool) {
        // Arguments that have left are kept as an empty value, in which the payload ends.
        let open = matches!(self.state, State::Arguments(_));
        let at = self.kept.json.len().saturating_sub(usize::from(open));
        self.ended = Some(Ended { ending, at, short, over, whole });
    }

    /// The mender has ended with this outcome.
    pub(super) fn stopped(&mut self, outcome: Outcome) {
        let named = self.is_named();
        if let Some(ended) = &mut self.ended {
            match outcome {
                // Only how a quote in it is meant was not certain before the end of the text.
                Outcome::Unchanged | Outcome::Repaired if named => ended.ending = Ending::Marker,
                // Nothing was passed on raw if all of it was emitted before the policy forbade to close it.
                _ => {
                    let input = named && ended.ending == Ending::Input;
                    ended.short |= outcome == Outcome::Cut || input;
                }
            }
        }
        self.raw |= !outcome.is_valid() && outcome != Outcome::None;
    }

    /// Ends the payload.
    pub(super) fn finish<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.is_named() {
            return self.finish_arguments(ctx);
        }
        if self.scan.depth > self.depth {
            if matches!(self.state, State::Arguments(_)) {
                self.arguments_end(false, ctx);
            }
            self.object_ends(ctx);
        }
        self.dead |= self.has_other_item() || !ctx.out.made;
        if !ctx.out.made {
            ctx.fail();
        }
        self.pass_source(ctx);
    }

    /// Ends the call of which the payload is the arguments.
    fn finish_arguments<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.pass_source(ctx);
        self.state = State::Passed;
        let Some(Begun { mut payload, .. }) = self.begun.take() else { return };
        // The model may have ended the text before any arguments.
        if !(payload.is_empty() && self.raw) {
            payload.end(self.form == Form::Input, ctx);
        }
        let cut = self.ended.is_some_and(|ended| ended.short);
        let list = payload.is_list() && self.form == Form::Arguments;
        let outcome = outcome(cut, payload.refused || list || self.raw);
        self.stop_short(ctx);
        ctx.end(outcome, payload.repairs, self.at_end());
    }

    fn stop_short<S: CallSink>(&self, ctx: &mut Ctx<'_, S>) {
        if self.ended.is_some_and(|ended| ended.over) {
            ctx.stop_short();
        }
    }

    /// Whether a list is read, or nothing yet.
    pub(super) fn may_list(&self) -> bool {
        self.depth == 1 || self.kept.json.get(self.start).is_none_or(|byte| *byte == b'[')
    }

    /// Whether a list of objects is open, and nothing in it.
    pub(super) const fn is_between_items(&self) -> bool {
        self.depth == 1 && self.scan.depth == 1 && !self.scan.in_string
    }

    /// Whether what was read last is no call.
    pub(super) const fn is_dead(&self) -> bool {
        self.dead
    }

    /// What follows goes on with arguments that have ended, so that the call is refused.
    pub(super) fn refuse(&mut self) {
        self.raw = true;
    }

    /// No more is kept than the limit allows.
    pub(super) fn bound<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if !matches!(self.state, State::Kept) || !ctx.exceeds(self.kept.len()) {
        } else if self.begun.is_some() {
            self.state = State::Passed;
            self.pass_source(ctx);
        } else {
            self.give_up(ctx);
        }
        if matches!(self.state, State::Passed) {
            self.clear();
        }
    }

    /// Notes what is about to be pushed to the mender.
    pub(super) fn note(&mut self, bytes: &[u8]) {
        self.kept.note(bytes);
    }

    /// What was pushed and does not belong to the value.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.kept.rest()
    }

    /// What was pushed and is not emitted yet.
    pub(super) fn pending(&self) -> &[u8] {
        self.kept.pending()
    }

    /// The object or the list that is read has ended, or the payload in it.
    fn object_ends<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.bound(ctx);
        if matches!(self.state, State::Passed) {
            self.pass_source(ctx);
            if self.begun.take().is_some() {
                ctx.end(CallOutcome::Refused, 0, false);
            }
            self.state = State::Kept;
            return;
        }
        let Reading { calls, content, history } = self.parse(ctx);
        self.history |= history;
        if self.dead || calls.is_empty() && self.begun.is_none() {
            // An item of a list between markers that is no call means nothing if there is a call in the list.
            let void = !self.is_bare() && self.depth > 0 && !self.dead;
            if !void {
                let gap = self.kept.take_to(if ctx.out.made { self.start } else { 0 });
                ctx.markup(&gap);
                self.dead = true;
                ctx.fail();
                self.pass_source(ctx);
                self.clear();
            } else if ctx.out.made {
                self.pass_source(ctx);
                self.clear();
            }
            return;
        }
        for call in &calls {
            self.emit(call, content.as_ref(), ctx);
        }
        if self.begun.take().is_some() {
            // What came after the header says something else.
            ctx.end(CallOutcome::Refused, 0, self.at_end());
        }
        self.emit_content(content, ctx);
        self.pass_source(ctx);
        self.clear();
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.start = 0;
    }

    fn at_end(&self) -> bool {
        self.ended.is_some_and(|ended| ended.ending == Ending::Input)
    }

    /// Emits the source up to a place.
    fn take_markup<S: CallSink>(&mut self, to: usize, ctx: &mut Ctx<'_, S>) {
        let source = self.kept.take_to(to);
        self.emit_source(&source, ctx);
    }

    /// Emits the text for the user, unless that was done. What the prompt has written of it is not passed on.
    fn emit_content<S: CallSink>(&mut self, content: Option<Range<usize>>, ctx: &mut Ctx<'_, S>) {
        let Some(content) = content.filter(|content| !self.kept.is_taken(content.end)) else {
            return;
        };
        self.take_markup(content.start + 1, ctx);
        let source = self.kept.take_to(content.end);
        let prompted = ctx.prefilled(source.len());
        ctx.markup(&source);
        let text = self.kept.json.get(content.start + 1..content.end).unwrap_or_default();
        let text = text.strip_suffix(b"\"").unwrap_or(text);
        let own = unescaped(text.get(prompted..).unwrap_or_default());
        ctx.content(own.as_bytes());
    }

    /// Begins a call, after the text for the user and the source before its object. What is between two calls goes
    /// with the first.
    fn begin_call<S: CallSink>(
        &mut self,
        call: &Found,
        content: Option<Range<usize>>,
        ctx: &mut Ctx<'_, S>,
    ) -> bool {
        self.emit_content(content, ctx);
        self.take_markup(call.at.start, ctx);
        let begins = call.name.len() <= LONGEST_NAME && ctx.begin(&call.name, call.id.as_deref());
        self.dead = !begins;
        begins
    }

    /// Emits a call, and the text for the user before its arguments.
    fn emit<S: CallSink>(
        &mut self,
        call: &Found,
        content: Option<&Range<usize>>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let values = call.given.at();
        let first = values.first().map_or(call.at.start, |at| at.start);
        let mut begun = match self.begun.take_if(|begun| begun.at == first) {
            Some(begun) => {
                call.id.iter().filter(|_| !begun.has_id).for_each(|id| ctx.id(id));
                begun
            }
            None => {
                let content = content.filter(|content| content.start < first);
                if !self.begin_call(call, content.cloned(), ctx) {
                    ctx.fail();
                    return self.take_markup(call.at.end, ctx);
                }
                let mut payload = Payload::default();
                for at in &values {
                    self.take_markup(at.start, ctx);
                    payload.source(&self.kept.take_to(at.end), ctx);
                }
                payload.push(&call.given.json(&self.kept.json), ctx);
                Begun { at: first, has_id: true, payload }
            }
        };
        let end = values.last().map_or(call.at.end, |at| at.end);
        let own = begun.payload.repairs + self.kept.marks(&(call.at.start..end)).len();
        for mark in self.kept.marks(&call.at) {
            begun.note(mark.repair, mark.doubtful, ctx);
        }
        let mut payload = begun.payload;
        payload.refused |= payload.is_list();
        payload.end(!matches!(call.given, Given::Value(_, false)), ctx);
        if let Some(content) = content.filter(|content| content.start < call.at.end) {
            self.emit_content(Some(content.clone()), ctx);
        }
        self.take_markup(call.at.end, ctx);
        let (outcome, open) = (self.outcome(call, payload.refused, own), self.is_open(call));
        if open {
            self.stop_short(ctx);
        }
        ctx.end(outcome, payload.repairs, open && self.at_end());
    }

    /// Whether a call had not ended when the payload did.
    fn is_open(&self, call: &Found) -> bool {
        let unclosed = self.scan.depth > self.depth && call.at.end >= self.kept.json.len();
        self.ended.is_some_and(|ended| call.at.end > ended.at || unclosed)
    }

    /// What came of a call, which needed so many repairs before its arguments had ended.
    fn outcome(&self, call: &Found, refused: bool, own: usize) -> CallOutcome {
        let ended = self.ended.filter(|_| self.is_open(call));
        let cut = ended.is_some_and(|ended| {
            let after = match &call.given {
                Given::Value(value, _) => self.kept.json.get(value.end..ended.at),
                Given::Members(_) => None,
            };
            let whole =
                own == 0 && ended.whole && after.is_some_and(|after| after.trim_ascii().is_empty());
            ended.short || call.bare || ended.ending == Ending::Input && !whole
        });
        outcome(cut, refused || call.refused || self.raw && self.is_open(call))
    }
}

const fn outcome(cut: bool, refused: bool) -> CallOutcome {
    match (cut, refused) {
        (true, _) => CallOutcome::Cut,
        (false, true) => CallOutcome::Refused,
        (false, false) => CallOutcome::Whole,
    }
}
