//! Calls with braces and quotes of their own: `call:f{k:<|"|>v<|"|>,n:42}`.

use wiremend_core::{Mender, RepairKind};

use super::{
    arguments::{self, Mended},
    json::{Quotes, SPACE, Step, goes_on},
    markers::{Markers, MarkersHere},
    out::Ctx,
    repairs::Repairs,
    shape::Brace,
    sink::{CallOutcome, CallSink},
};

const LONGEST_NAME: usize = 256;
const QUOTE: usize = 1;
const CLOSE: usize = 0;
const OPEN: usize = 2;
/// Keys and words without quotes are no repair here.
const OWN: &[RepairKind] = &[RepairKind::UnquotedKey, RepairKind::UnquotedString];

/// The beginning of a call: its name, and the length of everything before the brace.
pub(super) fn open(rest: &[u8], brace: &Brace, eof: bool) -> Option<Option<(String, usize)>> {
    let mut at = brace.open.len();
    let after = |at: usize| rest.get(at..).unwrap_or_default();
    for part in [&b"call"[..], b":"] {
        at += after(at).iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        if after(at).starts_with(part) {
            at += part.len();
        } else if part.starts_with(after(at)) && !eof {
            return None;
        }
    }
    let name = after(at);
    let close = brace.close.as_bytes();
    let mut length = 0;
    loop {
        let here = name.get(length..).unwrap_or_default();
        match here.first() {
            Some(b'{' | b'(') => break,
            Some(byte) if close.first() == Some(byte) => {
                if here.starts_with(close) {
                    break;
                }
                if close.starts_with(here) && !eof {
                    return None;
                }
                return Some(None);
            }
            None if eof => return Some(None),
            None => return None,
            Some(byte) if byte.is_ascii_control() || length > LONGEST_NAME => return Some(None),
            Some(_) => length += 1,
        }
    }
    let name = String::from_utf8_lossy(name.get(..length).unwrap_or_default()).trim().to_owned();
    Some((!name.is_empty()).then_some((name, at + length)))
}

/// A call with braces.
#[derive(Clone, Debug)]
pub(super) struct BraceCall {
    mender: Box<Mender>,
    marks: Markers,
    state: State,
    brackets: Vec<u8>,
    repairs: Repairs,
    /// What begins the next call.
    open: Vec<u8>,
    /// Whether there is a line break in the string that is open, and its last byte.
    line: bool,
    last: u8,
    /// Whether there are strings with the quotes of the dialect.
    quoted: bool,
    /// Whether such a string has ended, and nothing but white space was read since.
    separable: bool,
    quotes: Quotes,
    /// The last byte of the body that is no white space.
    solid: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Body,
    /// In a string with the quotes of the dialect.
    String,
    /// In a string with the quotes of JSON.
    Plain,
    /// After the last bracket, unless what follows goes on with the arguments.
    Follow,
    /// In what goes on with them.
    Surplus,
    After,
}

impl BraceCall {
    pub(super) fn new<S>(brace: &Brace, ctx: &Ctx<'_, S>) -> Self {
        Self {
            mender: Box::new(Mender::new(ctx.options.clone())),
            marks: Markers::new([
                (CLOSE, &*brace.close),
                (QUOTE, &*brace.quote),
                (OPEN, &*brace.open),
            ]),
            state: State::Body,
            brackets: Vec::new(),
            repairs: Repairs::default(),
            open: brace.open.as_bytes().to_vec(),
            line: false,
            last: 0,
            quoted: false,
            separable: false,
            quotes: Quotes::default(),
            solid: b'{',
        }
    }

    fn feed<S: CallSink>(&mut self, json: &[u8], ctx: &mut Ctx<'_, S>) {
        self.quotes.read(json);
        let refused = self.refused();
        let mended = Mended::new(ctx, &mut self.repairs, OWN);
        self.mender.push(json, &mut mended.refusing(refused));
    }

    /// Strings with the quotes of the dialect do not go on after them.
    fn refused(&self) -> fn(RepairKind) -> bool {
        if self.quoted { |kind| kind == RepairKind::UnescapedQuote } else { |_| false }
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        match self.state {
            State::Body => self.body(rest, eof, ctx),
            State::String => self.string(rest, eof, ctx),
            State::Plain => self.plain(rest, eof, ctx),
            State::Follow => self.follow(rest, eof, ctx),
            State::Surplus => self.surplus(rest, eof, ctx),
            State::After => self.after(rest, eof, ctx),
        }
    }

    fn end<S: CallSink>(&mut self, at_end: bool, ctx: &mut Ctx<'_, S>) {
        if self.state == State::Body && self.quotes.stops_short() {
            ctx.stop_short();
        }
        let empty = self.mender.offset() == 0;
        let refused = self.refused();
        let mended = Mended::new(ctx, &mut self.repairs, OWN).refusing(refused);
        let outcome = mended.finish(&mut self.mender);
        if empty {
            ctx.arguments(b"{}");
        }
        // The end of the text may stand for the marker, but not for what is missing of the value.
        let end = if at_end {
            CallOutcome::Cut
        } else if empty || outcome.is_valid() {
            CallOutcome::Whole
        } else {
            CallOutcome::Refused
        };
        ctx.end(end, self.repairs.count, at_end);
        self.state = State::After;
    }

    fn body<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let Some(&byte) = rest.first() else {
            if eof {
                self.end(true, ctx);
                return Step::Read(0);
            }
            return Step::Wait;
        };
        if self.marks.begins_with(byte) {
            match self.marks.at(rest, eof) {
                MarkersHere::Partial => return Step::Wait,
                MarkersHere::Here(found) => {
                    let (id, length) = found.first().copied().unwrap_or_default();
                    if id != QUOTE {
                        // The next call begins where more of this one was due.
                        if id == OPEN {
                            ctx.stop_short();
                        }
                        self.end(false, ctx);
                        return Step::Read(0);
                    }
                    // After a word, it closes a string whose first quote is missing.
                    if !self.separable && !matches!(self.solid, b':' | b',' | b'[' | b'{' | b'(') {
                        ctx.refuse();
                    }
                    self.separate(ctx);
                    ctx.raw(rest.get(..length).unwrap_or_default());
                    self.feed(b"\"", ctx);
                    self.state = State::String;
                    self.quoted = true;
                    (self.line, self.last) = (false, 0);
                    return Step::Read(length);
                }
                MarkersHere::Nothing => {}
            }
        }
        let mut length = 1;
        let json = match byte {
            b'{' | b'[' => {
                self.brackets.push(byte);
                &[byte]
            }
            // The body may be in parentheses.
            b'(' if self.brackets.is_empty() => {
                self.brackets.push(byte);
                b"{"
            }
            b'}' | b']' | b')' if self.brackets.pop() == Some(b'(') => b"}",
            b'}' | b']' | b')' => &[byte],
            b'"' => {
                self.state = State::Plain;
                b"\""
            }
            _ => {
                // A comma that is missing comes after the white space, however much of it has arrived.
                let space = byte.is_ascii_whitespace() && self.separable;
                let ends = |byte: &u8| match space {
                    true => !byte.is_ascii_whitespace(),
                    false => self.is_sign(*byte),
                };
                let next = rest.iter().skip(1).position(ends);
                length = next.map_or(rest.len(), |next| next + 1);
                rest.get(..length).unwrap_or_default()
            }
        };
        if self.separable && !json.iter().all(u8::is_ascii_whitespace) {
            let first = json.trim_ascii_start().first().copied().unwrap_or_default();
            if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'"' | b'{' | b'[') {
                self.separate(ctx);
            }
            self.separable = false;
        }
        let solid = json.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        self.solid = solid.copied().unwrap_or(self.solid);
        // The bracket of a list is missing before the members.
        if self.brackets.last() == Some(&b'[') && json.contains(&b':') {
            ctx.refuse();
        }
        ctx.raw(rest.get(..length).unwrap_or_default());
        self.feed(json, ctx);
        if matches!(byte, b'}' | b']' | b')') && self.brackets.is_empty() {
            self.state = State::Follow;
        }
        Step::Read(length)
    }

    /// Adds the comma that is missing after a string. The quotes of the dialect leave no doubt that it has ended.
    fn separate<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if !std::mem::take(&mut self.separable) {
            return;
        }
        self.repairs.count += 1;
        if ctx.options.policy().allows(RepairKind::MissingComma) {
            self.feed(b",", ctx);
        } else {
            ctx.refuse();
        }
    }

    fn follow<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        match goes_on(rest, eof) {
            None => return Step::Wait,
            Some(true) => {
                ctx.refuse();
                self.state = State::Surplus;
            }
            Some(false) => self.end(false, ctx),
        }
        Step::Read(0)
    }

    /// Reads what goes on with arguments that have ended, up to a marker.
    fn surplus<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let may_end = |byte: &u8| self.marks.begins_with(*byte);
        let clear = rest.iter().position(may_end).unwrap_or(rest.len());
        let length = match self.marks.at(rest.get(clear..).unwrap_or_default(), eof) {
            _ if clear > 0 => clear,
            _ if rest.is_empty() && eof => {
                self.end(false, ctx);
                return Step::Read(0);
            }
            _ if rest.is_empty() => return Step::Wait,
            MarkersHere::Partial => return Step::Wait,
            MarkersHere::Here(found) if found.iter().any(|(id, _)| *id != QUOTE) => {
                self.end(false, ctx);
                return Step::Read(0);
            }
            _ => 1,
        };
        ctx.raw(rest.get(..length).unwrap_or_default());
        Step::Read(length)
    }

    /// Whether a byte of the body is more than part of a key, a number or a word.
    fn is_sign(&self, byte: u8) -> bool {
        matches!(byte, b'{' | b'[' | b'(' | b'}' | b']' | b')' | b'"')
            || self.marks.begins_with(byte)
    }

    fn string<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let clear =
            rest.iter().position(|byte| self.marks.begins_with(*byte)).unwrap_or(rest.len());
        if clear > 0 {
            return self.pass(rest.get(..clear).unwrap_or_default(), ctx);
        }
        if rest.is_empty() {
            if eof {
                self.end(true, ctx);
                return Step::Read(0);
            }
            return Step::Wait;
        }
        match self.marks.at(rest, eof) {
            MarkersHere::Partial => Step::Wait,
            MarkersHere::Here(found) if found.iter().any(|(id, _)| *id == QUOTE) => {
                let length = found.first().map_or(1, |(_, length)| *length);
                ctx.raw(rest.get(..length).unwrap_or_default());
                self.feed(b"\"", ctx);
                self.state = State::Body;
                self.separable = true;
                Step::Read(length)
            }
            MarkersHere::Here(found) if found.first().is_some_and(|(id, _)| *id == OPEN) => {
                self.pass(rest.get(..1).unwrap_or_default(), ctx)
            }
            MarkersHere::Here(found) => {
                // A string that was not closed runs into the marker at the end, or into the next call.
                let length = found.first().map_or(1, |(_, length)| *length);
                let after = rest.get(length..).unwrap_or_default();
                let space = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let next = after.get(space..).unwrap_or_default();
                let opens = next.starts_with(&self.open);
                if !next.is_empty() && self.open.starts_with(next) && !opens && !eof {
                    return Step::Wait;
                }
                match (space == after.len(), eof) {
                    _ if opens && space < SPACE => {
                        ctx.stop_short();
                        self.end(false, ctx);
                        Step::Read(0)
                    }
                    (true, true) => {
                        if self.line || matches!(self.last, b'}' | b']') {
                            ctx.stop_short();
                        }
                        self.end(false, ctx);
                        Step::Read(0)
                    }
                    (true, false) if space < SPACE => Step::Wait,
                    _ => self.pass(rest.get(..1).unwrap_or_default(), ctx),
                }
            }
            MarkersHere::Nothing => self.pass(rest.get(..1).unwrap_or_default(), ctx),
        }
    }

    fn pass<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) -> Step {
        let mut json = Vec::with_capacity(bytes.len());
        arguments::escape(bytes, &mut json);
        self.line |= bytes.contains(&b'\n');
        let last = bytes.iter().rfind(|byte| !byte.is_ascii_whitespace());
        self.last = last.copied().unwrap_or(self.last);
        ctx.raw(bytes);
        self.feed(&json, ctx);
        Step::Read(bytes.len())
    }

    fn plain<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let stops = |byte: &u8| matches!(byte, b'"' | b'\\') || self.marks.begins_with(*byte);
        let clear = rest.iter().position(stops).unwrap_or(rest.len());
        let length = match rest.get(clear) {
            Some(byte) if clear == 0 && self.marks.begins_with(*byte) => {
                match self.marks.at(rest, eof) {
                    MarkersHere::Partial => return Step::Wait,
                    // A string that was begun with other quotes may have been meant to end here.
                    MarkersHere::Here(found) if found.iter().any(|(id, _)| *id == QUOTE) => {
                        ctx.refuse();
                    }
                    MarkersHere::Here(_) | MarkersHere::Nothing => {}
                }
                1
            }
            Some(byte) if self.marks.begins_with(*byte) => clear,
            Some(b'"') => {
                self.state = State::Body;
                clear + 1
            }
            Some(_) if clear + 2 > rest.len() && !eof => clear,
            Some(_) => (clear + 2).min(rest.len()),
            None => clear,
        };
        if length == 0 {
            if eof {
                self.end(true, ctx);
                return Step::Read(0);
            }
            return Step::Wait;
        }
        let bytes = rest.get(..length).unwrap_or_default();
        ctx.raw(bytes);
        self.feed(bytes, ctx);
        Step::Read(length)
    }

    fn after<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let space = rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        let next = rest.get(space..).unwrap_or_default();
        if next.is_empty() && !eof && space < SPACE {
            return Step::Wait;
        }
        // What comes after so much white space does not count, however much of it has arrived.
        if space < SPACE && matches!(next.first(), Some(b'}' | b')')) {
            ctx.markup(rest.get(..=space).unwrap_or_default());
            return Step::Read(space + 1);
        }
        match self.marks.at(next, eof) {
            MarkersHere::Partial => Step::Wait,
            MarkersHere::Here(found) if found.iter().any(|(id, _)| *id == CLOSE) => {
                let length = space + found.first().map_or(0, |(_, length)| *length);
                ctx.markup(rest.get(..length).unwrap_or_default());
                ctx.flush_end(true);
                Step::Done(length)
            }
            _ => {
                ctx.flush_end(false);
                Step::Done(0)
            }
        }
    }
}
