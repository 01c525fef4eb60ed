//! Calls as in Python: `f(a=1, b='x')`, alone, in a list, or one on each line.

mod atoms;
mod given;
mod scan;
mod strings;
mod words;

use std::collections::BTreeSet;

use wiremend_core::{Mender, RepairKind};

use atoms::{Atom, OpenContainer};
use given::Spread;
pub(super) use scan::{Opening, is_name, open};
use strings::Quoted;

use super::{
    arguments::{self, Mended},
    json::{CLOSE, SPACE, Step},
    markers::{Markers, MarkersHere},
    out::Ctx,
    repairs::Repairs,
    sink::{CallOutcome, CallSink},
    tools::Tools,
};

/// What Python writes otherwise than JSON is no repair.
const OWN: &[RepairKind] = &[RepairKind::PythonLiteral, RepairKind::Tuple, RepairKind::ExtraComma];

/// What is something else in Python refuses a call.
const fn is_of_json(kind: RepairKind) -> bool {
    use RepairKind::{CallWrapper, Comment, ExtraColon, Undefined};
    matches!(kind, CallWrapper | Comment | ExtraColon | Undefined)
}

/// Calls as in Python.
#[derive(Clone, Debug)]
pub(super) struct PythonCall {
    name: String,
    mender: Box<Mender>,
    state: State,
    list: bool,
    /// What comes after the name of a tool.
    method: &'static str,
    /// What closes the block, if anything does.
    stops: Markers,
    closes: bool,
    /// The brackets that are open in the value, each with what closes it in JSON.
    brackets: Vec<(u8, u8)>,
    /// How many arguments there are.
    arguments: usize,
    /// Whether one of them has a name.
    named: bool,
    /// Whether the first one was an object with all arguments.
    spread: Spread,
    /// Whether the next byte may begin a value.
    value_start: bool,
    repairs: Repairs,
    first: bool,
    /// Whether underscores are escaped, as in Markdown.
    markdown: bool,
    /// The quote that closes the string in which the call is written.
    quote: Option<u8>,
    /// Whether a brace before that string is open.
    braced: bool,
    /// The key of the argument that is being read.
    key: String,
    /// The keys of all arguments.
    given: BTreeSet<String>,
    /// The beginning of the expression that is being read, and its last byte that is no white space.
    written: Vec<u8>,
    last: u8,
    /// Whether the string that is being read is a format.
    format: bool,
    /// What the string has in it so far.
    inner: Inner,
    /// What was read of the value.
    atom: Atom,
    /// The containers around it, as far as the schema is followed.
    places: Vec<OpenContainer>,
}

/// What a string has in it that makes its end doubtful: some templates write strings as they are, with their
/// quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Inner {
    /// How many parentheses are open: those that come after a name, and once there is a call, all.
    open: usize,
    /// Whether a quote came directly after one of them, as in `print('hi')`, so that it is a call.
    calls: bool,
    /// Whether there was a quote that did not end it.
    quoted: bool,
    /// Whether a quotation in it is open: apostrophes aside, the number of such quotes is odd.
    unpaired: bool,
    /// Whether the name of a known tool and a parenthesis are in it.
    names_tool: bool,
    last: u8,
    /// Whether it ends with a comma, but for blanks.
    separated: bool,
    /// Whether the last byte is a parenthesis that counts as open.
    opened: bool,
    /// The last word of it.
    word: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Before an argument, or the end of the arguments.
    Argument,
    Value,
    /// In a string: its quote, whether there are three, and whether it is raw.
    String(u8, bool, bool),
    /// In an expression, which becomes a string.
    Expression,
    /// In a comment, before an argument or inside of one.
    Comment(bool),
    /// In a call that is written in a string.
    Quoted(Quoted),
    /// After a call.
    After,
}

impl PythonCall {
    pub(super) fn new<S>(
        opening: &Opening,
        method: &'static str,
        stops: Markers,
        closes: bool,
        ctx: &Ctx<'_, S>,
    ) -> Self {
        let mut call = Self {
            name: String::new(),
            mender: Box::new(Mender::new(ctx.options.clone())),
            state: State::Argument,
            list: opening.list,
            method,
            stops,
            closes,
            brackets: Vec::new(),
            arguments: 0,
            named: false,
            spread: Spread::None,
            value_start: true,
            repairs: Repairs::default(),
            first: true,
            markdown: false,
            quote: None,
            braced: false,
            key: String::new(),
            given: BTreeSet::new(),
            written: Vec::new(),
            last: b' ',
            format: false,
            inner: Inner::default(),
            atom: Atom::Nothing,
            places: Vec::new(),
        };
        call.start(opening, ctx.tools);
        call
    }

    fn start(&mut self, opening: &Opening, tools: &Tools) {
        self.name = tools.resolve(&opening.name).to_owned();
        self.markdown = opening.name.contains('\\');
        self.braced |= opening.braced;
        self.mender.reset();
        self.brackets.clear();
        self.places.clear();
        self.given.clear();
        self.arguments = 0;
        (self.named, self.spread) = (false, Spread::None);
        self.repairs = Repairs::default();
        self.first = true;
        self.quote = opening.quoted.or(self.quote);
        self.state = match opening.quoted {
            Some(quote) if !opening.braced => State::Quoted(Quoted::new(quote)),
            _ => State::Argument,
        };
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if std::mem::take(&mut self.first) && !matches!(self.state, State::Quoted(..)) {
            self.feed(b"{", ctx);
        }
        match std::mem::replace(&mut self.state, State::After) {
            State::Argument => self.argument(rest, eof, ctx),
            State::Value => self.value(rest, eof, ctx),
            State::String(quote, triple, raw) => self.string(quote, triple, raw, rest, eof, ctx),
            State::Expression => self.expression(rest, eof, ctx),
            State::Comment(inside) => self.comment(inside, rest, eof, ctx),
            State::Quoted(quoted) => self.quoted(quoted, rest, eof, ctx),
            State::After => self.after(rest, eof, ctx),
        }
    }

    fn feed<S: CallSink>(&mut self, json: &[u8], ctx: &mut Ctx<'_, S>) {
        self.mender.push(json, &mut Mended::new(ctx, &mut self.repairs, OWN).refusing(is_of_json));
    }

    /// Passes source bytes on unchanged.
    fn pass<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        ctx.raw(bytes);
        self.feed(bytes, ctx);
    }

    fn wait<S: CallSink>(&mut self, state: State, eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        self.state = state;
        if eof { self.cut(ctx) } else { Step::Wait }
    }

    fn cut<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> Step {
        Mended::new(ctx, &mut self.repairs, OWN).finish(&mut self.mender);
        ctx.end(CallOutcome::Cut, self.repairs.count, true);
        ctx.flush_end(false);
        Step::Done(0)
    }

    fn end_arguments<S: CallSink>(&mut self, rest: &[u8], ctx: &mut Ctx<'_, S>) -> Step {
        self.end_value(ctx);
        if self.spread == Spread::Open {
            self.repairs.count += 1;
            if !ctx.options.policy().allows(RepairKind::MissingClose) {
                ctx.refuse();
            }
        }
        self.feed(b"}", ctx);
        let mended = Mended::new(ctx, &mut self.repairs, OWN).refusing(is_of_json);
        let outcome = mended.finish(&mut self.mender);
        let closed = rest.first() == Some(&b')');
        let valid = outcome.is_valid();
        let end = if valid { CallOutcome::Whole } else { CallOutcome::Refused };
        self.repairs.count += usize::from(!closed);
        if closed {
            ctx.markup(b")");
        }
        ctx.end(end, self.repairs.count, false);
        self.state = State::After;
        Step::Read(usize::from(closed))
    }

    fn value<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let Some(&byte) = rest.first() else { return self.wait(State::Value, eof, ctx) };
        let start = self.value_start;
        self.state = State::Value;
        match byte {
            b'"' | b'\'' => self.begin_string(rest, 0, false, eof, ctx),
            b'(' | b'[' | b'{' => {
                let call = byte == b'(' && !start;
                let groups = self.note_open(byte, ctx);
                let (shown, close) = match byte {
                    b'(' if call => (b'(', (b')', b')')),
                    b'(' if groups => (b' ', (b')', b' ')),
                    b'(' => (b'[', (b')', b']')),
                    b'[' => (b'[', (b']', b']')),
                    _ => (b'{', (b'}', b'}')),
                };
                self.brackets.push(close);
                self.value_start = true;
                ctx.raw(&[byte]);
                self.feed(&[shown], ctx);
                Step::Read(1)
            }
            b')' | b']' | b'}' => match self.close_bracket(ctx) {
                None if byte == b'}' && self.spread == Spread::Open => self.end_spread(ctx),
                // A brace that closes nothing would close the arguments.
                None if byte == b'}' => {
                    ctx.refuse();
                    ctx.raw(&[byte]);
                    Step::Read(1)
                }
                None => self.end_arguments(rest, ctx),
                Some((_, close)) => {
                    self.value_start = false;
                    ctx.raw(&[byte]);
                    self.feed(&[close], ctx);
                    Step::Read(1)
                }
            },
            b',' if self.brackets.is_empty() => {
                self.end_value(ctx);
                ctx.raw(b",");
                self.state = State::Argument;
                Step::Read(1)
            }
            b',' | b':' if !self.brackets.is_empty() => {
                self.note_separator(byte, ctx);
                self.value_start = true;
                self.pass(&[byte], ctx);
                Step::Read(1)
            }
            // Numbers may begin with zeros.
            b'0' if start => match rest.get(1) {
                None if !eof => Step::Wait,
                Some(b'0'..=b'9') => {
                    // What begins with a zero may be a code, so this is not what was written.
                    self.repairs.count += 1;
                    ctx.raw(b"0");
                    Step::Read(1)
                }
                _ => {
                    self.note(b"0");
                    self.value_start = false;
                    self.pass(b"0", ctx);
                    Step::Read(1)
                }
            },
            b'-' if start => {
                self.note(b"-");
                self.pass(b"-", ctx);
                Step::Read(1)
            }
            b'#' => self.number_sign(rest, eof, ctx),
            b'.' if start => self.dots(rest, eof, ctx),
            _ if start && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'<' | b'$')) => {
                self.word(rest, eof, ctx)
            }
            _ => {
                let plain = |byte: &u8| {
                    !matches!(
                        byte,
                        b'"' | b'\'' | b'(' | b'[' | b'{' | b')' | b']' | b'}' | b',' | b':' | b'#'
                    )
                };
                let length = rest.iter().take_while(|byte| plain(byte)).count().max(1);
                let bytes = rest.get(..length).unwrap_or_default();
                let blank = bytes.iter().all(u8::is_ascii_whitespace);
                // What may begin a word or a number is looked at on its own.
                let length = if start && blank {
                    length
                } else if start {
                    1
                } else {
                    length
                };
                let bytes = rest.get(..length).unwrap_or_default();
                self.note(bytes);
                self.value_start &= bytes.iter().all(u8::is_ascii_whitespace);
                self.pass(bytes, ctx);
                Step::Read(length)
            }
        }
    }

    /// After a call: another one, or the end of the block.
    fn after<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        if self.quote.is_some() || self.braced {
            let space =
                rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = rest.get(space).filter(|_| space < SPACE);
            if next.is_none() && !eof && space < SPACE {
                self.state = State::After;
                return Step::Wait;
            }
            let brace = self.braced && next == Some(&b'}');
            let quote = next.is_some() && next == self.quote.as_ref();
            self.braced &= !brace;
            self.quote = self.quote.filter(|_| !quote);
            if brace || quote {
                ctx.markup(rest.get(..=space).unwrap_or_default());
                self.state = State::After;
                return Step::Read(space + 1);
            }
        }
        let gap = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';');
        let space = rest.iter().take(SPACE).take_while(|byte| gap(byte)).count();
        let next = rest.get(space..).unwrap_or_default();
        if space == SPACE {
            // What comes after so much white space does not count, however much of it has arrived.
            ctx.flush_end(!self.list && !self.closes);
            return Step::Done(0);
        }
        if next.is_empty() && !eof {
            self.state = State::After;
            return Step::Wait;
        }
        if self.list && next.first() == Some(&b']') {
            match next.get(1) {
                None if !eof => {
                    self.state = State::After;
                    return Step::Wait;
                }
                // The text of a link.
                Some(b'(') => ctx.refuse_ended(),
                _ => {}
            }
            self.list = false;
            ctx.markup(rest.get(..=space).unwrap_or_default());
            self.state = State::After;
            return Step::Read(space + 1);
        }
        match self.stops.at(next, eof) {
            MarkersHere::Partial => {
                self.state = State::After;
                return Step::Wait;
            }
            MarkersHere::Here(found) => {
                // Only a closing marker belongs to the call. The opener of the next one is read as such.
                let closing = found.iter().find(|(id, _)| *id == CLOSE);
                let length = closing.map_or(0, |(_, length)| space + length);
                ctx.markup(rest.get(..length).unwrap_or_default());
                ctx.flush_end(closing.is_some() || !self.closes);
                return Step::Done(length);
            }
            MarkersHere::Nothing => {}
        }
        let list = next.first() == Some(&b'[');
        if self.list && list {
            ctx.flush_end(false);
            return Step::Done(0);
        }
        let Some(opening) = open(next, eof) else {
            self.state = State::After;
            return Step::Wait;
        };
        let newline = rest.get(..space).unwrap_or_default().iter().any(|byte| *byte != b' ');
        let continues = self.list || self.closes || newline;
        let plain = |opening: Opening| {
            let name = opening.name.strip_suffix(self.method).unwrap_or(&opening.name).to_owned();
            Opening { name, ..opening }
        };
        if let Some(opening) = opening.filter(|_| continues).map(plain)
            && (self.list || self.closes || ctx.knows(&opening.name))
        {
            ctx.flush_end(true);
            if !ctx.begin(&opening.name, None) {
                return Step::Done(0);
            }
            let length = space + opening.length;
            ctx.markup(rest.get(..length).unwrap_or_default());
            self.list |= opening.list;
            self.start(&opening, ctx.tools);
            return Step::Read(length);
        }
        let separated = rest.get(..space).unwrap_or_default().contains(&b',');
        if self.list && !separated && next.first().is_some_and(u8::is_ascii_alphabetic) {
            // The items are made by a loop.
            ctx.refuse_ended();
        }
        ctx.flush_end(!self.list && !self.closes);
        Step::Done(0)
    }
}
