//! Calls as in Python: `f(a=1, b='x')`, alone, in a list, or one on each line.
//!
//! A call is kept up to its end, and its arguments are read as a whole.

mod parse;
mod scan;

use wiremend_core::{Mender, RepairKind};

use parse::{Arguments, Form, parse};
use scan::Balance;
pub(super) use scan::{Opening, is_name, open};

use super::{
    arguments::Mended,
    json::{CLOSE, SPACE, Step, past_space},
    markers::{Markers, MarkersHere},
    out::Ctx,
    repairs::Repairs,
    sink::{CallOutcome, CallSink},
};

/// What Python writes otherwise than JSON is no repair.
const OWN: &[RepairKind] = &[RepairKind::PythonLiteral, RepairKind::Tuple, RepairKind::ExtraComma];

/// What is something else in Python refuses a call.
const fn is_of_json(kind: RepairKind) -> bool {
    use RepairKind::{CallWrapper, Comment, ExtraColon, Undefined};
    matches!(kind, CallWrapper | Comment | ExtraColon | Undefined)
}

/// How many bytes may be read again for each that was kept, where a call did not end where it seemed to.
const AGAIN: usize = 4;

/// Calls as in Python.
#[derive(Clone, Debug)]
pub(super) struct PythonCall {
    opening: Opening,
    state: State,
    list: bool,
    /// What comes after the name of a tool.
    method: &'static str,
    /// What closes the block, if anything does.
    stops: Markers,
    closes: bool,
    /// The quote that closes the string in which the call is written.
    quote: Option<u8>,
    /// Whether a brace before that string is open.
    braced: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// The arguments are kept. How many bytes were read in vain so far.
    Kept(Balance, usize),
    /// The arguments were longer than the limit, and are passed over.
    Over(Balance),
    /// After a call.
    After,
}

impl PythonCall {
    pub(super) fn new(
        opening: &Opening,
        method: &'static str,
        stops: Markers,
        closes: bool,
    ) -> Self {
        let mut call = Self {
            opening: opening.clone(),
            state: State::After,
            list: opening.list,
            method,
            stops,
            closes,
            quote: None,
            braced: false,
        };
        call.start(opening.clone());
        call
    }

    fn start(&mut self, opening: Opening) {
        self.braced |= opening.braced;
        self.quote = opening.quoted.or(self.quote);
        self.opening = opening;
        self.state = State::Kept(Balance::new(self.quoted()), 0);
    }

    /// The quote of the string that has the call in it, with its quotes escaped.
    fn quoted(&self) -> Option<u8> {
        self.opening.quoted.filter(|_| !self.opening.braced)
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        match std::mem::replace(&mut self.state, State::After) {
            State::Kept(balance, again) => self.kept(balance, again, rest, eof, ctx),
            State::Over(balance) => self.over(balance, rest, eof, ctx),
            State::After => self.after(rest, eof, ctx),
        }
    }

    /// Keeps the arguments up to where they seem to end, and reads them if they do.
    fn kept<S: CallSink>(
        &mut self,
        mut balance: Balance,
        mut again: usize,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let most = ctx.options.limits().buffer();
        let text = rest.get(..most).unwrap_or(rest);
        while let Some(end) = balance.end(text, eof) {
            // What follows shows whether they have ended.
            let Some((space, _)) = past_space(rest.get(end..).unwrap_or_default(), eof) else {
                self.state = State::Kept(balance, again);
                return Step::Wait;
            };
            let seen = rest.get(..end + space + 1).unwrap_or(rest);
            if again <= AGAIN * end {
                again += end;
                ctx.out.work += end as u64;
                let arguments = self.read(seen.get(..end).unwrap_or(seen), seen, ctx);
                // A string that has the call in it has no more of it.
                if arguments.close.is_some() || self.quoted().is_some() {
                    return self.made(&arguments, end, rest, ctx);
                }
            }
            balance.goes_on(end);
        }
        if rest.len() <= most && !eof {
            self.state = State::Kept(balance, again);
            return Step::Wait;
        }
        let arguments = self.read(text, text, ctx);
        if arguments.close.is_some() || rest.len() <= most {
            return self.made(&arguments, text.len(), rest, ctx);
        }
        ctx.raw(text);
        self.state = State::Over(balance.after(text.len()));
        Step::Read(text.len())
    }

    /// Reads arguments. A call in a string has its quotes escaped, and ends with its text.
    fn read<S: CallSink>(&self, text: &[u8], seen: &[u8], ctx: &Ctx<'_, S>) -> Arguments {
        let form = Form {
            name: ctx.tools.resolve(&self.opening.name),
            tools: ctx.tools,
            options: ctx.options,
            list: self.list,
            braced: self.braced,
            markdown: self.opening.name.contains('\\'),
        };
        match self.quoted() {
            Some(quote) => parse(&scan::unquoted(text, quote), form),
            None => parse(seen, form),
        }
    }

    /// Emits the arguments of a call, which take so many bytes if it is written in a string.
    fn made<S: CallSink>(
        &mut self,
        arguments: &Arguments,
        whole: usize,
        rest: &[u8],
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let closed = arguments.close == Some(b')');
        let (length, close) = match self.quoted() {
            Some(_) => (whole, 0),
            None => (arguments.length, usize::from(closed)),
        };
        let (raw, after) = rest.split_at(length.min(rest.len()));
        ctx.raw(raw);
        if arguments.refused {
            ctx.refuse();
        }
        let mut repairs = Repairs::default();
        repairs.count = arguments.repairs;
        let mut mender = Mender::new(ctx.options.clone());
        let mut mended = Mended::new(ctx, &mut repairs, OWN).refusing(is_of_json);
        mender.push(&arguments.json, &mut mended);
        let outcome = mended.finish(&mut mender);
        ctx.markup(after.get(..close).unwrap_or_default());
        let end = match arguments.close {
            None => CallOutcome::Cut,
            Some(_) if outcome.is_valid() => CallOutcome::Whole,
            Some(_) => CallOutcome::Refused,
        };
        ctx.end(end, repairs.count, arguments.close.is_none());
        if arguments.close.is_none() && self.quoted().is_none() {
            ctx.flush_end(false);
            return Step::Done(length);
        }
        Step::Read(length + close)
    }

    /// Passes over the rest of arguments that were too long.
    fn over<S: CallSink>(
        &mut self,
        mut balance: Balance,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let end = balance.end(rest, eof);
        let length = end.unwrap_or(balance.at);
        ctx.raw(rest.get(..length).unwrap_or(rest));
        match end {
            Some(_) => {
                ctx.end(CallOutcome::Refused, 0, false);
                Step::Read(length)
            }
            None if eof => {
                ctx.end(CallOutcome::Cut, 0, true);
                ctx.flush_end(false);
                Step::Done(length)
            }
            None => {
                self.state = State::Over(balance.after(length));
                if length > 0 { Step::Read(length) } else { Step::Wait }
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
                return Step::Wait;
            }
            let brace = self.braced && next == Some(&b'}');
            let quote = next.is_some() && next == self.quote.as_ref();
            self.braced &= !brace;
            self.quote = self.quote.filter(|_| !quote);
            if brace || quote {
                ctx.markup(rest.get(..=space).unwrap_or_default());
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
            return Step::Wait;
        }
        if self.list && next.first() == Some(&b']') {
            match next.get(1) {
                None if !eof => return Step::Wait,
                // The text of a link.
                Some(b'(') => ctx.refuse_ended(),
                _ => {}
            }
            self.list = false;
            ctx.markup(rest.get(..=space).unwrap_or_default());
            return Step::Read(space + 1);
        }
        match self.stops.at(next, eof) {
            MarkersHere::Partial => return Step::Wait,
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
        let Some(opening) = open(next, eof) else { return Step::Wait };
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
            self.start(opening);
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
