//! What follows a call, and belongs to it.

use super::{
    CallExtractor, State,
    decide::{Decision, Opening},
    ground::Seat,
    place::TextBefore,
};
use crate::dialect::{
    json::{SPACE, Step, may_be_call},
    setup::Setup,
    sink::CallSink,
};

impl CallExtractor {
    /// White space and separators after a call or a marker around calls belong to it if another marker
    /// follows.
    pub(super) fn after_call<S: CallSink>(
        &mut self,
        row: usize,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        self.state = State::Text;
        let separators = match self.block {
            // Calls in a block may be listed without the brackets of a list.
            Some(_) => b",;",
            None => setup.rows.get(row).map_or(&b""[..], |row| row.separators),
        };
        let gap = |byte: &u8| byte.is_ascii_whitespace() || separators.contains(byte);
        let space = rest.iter().take(SPACE).take_while(|byte| gap(byte)).count();
        // What comes after too much white space does not count, however much of it has arrived.
        let far = space == SPACE;
        let next = if far { b"" } else { rest.get(space..).unwrap_or_default() };
        if next.is_empty() && !eof && !far {
            return Step::Wait;
        }
        match self.next_in_block(row, next, eof, setup) {
            None => return Step::Wait,
            Some(None) => {}
            Some(Some(opening)) => {
                self.open(row, &opening, rest.get(..space).unwrap_or_default(), setup, sink);
                return Step::Read(space);
            }
        }
        let place = TextBefore { seat: self.seat, ..TextBefore::AFTER_MARKUP };
        let decision = match next {
            [] => Some(Decision::Text(0)),
            _ => self.decide(next, place, eof, setup),
        };
        let decision = match decision {
            Some(Decision::Text(_)) if !next.is_empty() => match self.ending(next, eof) {
                None => return Step::Wait,
                Some(Some(length)) => Some(Decision::Markup(length)),
                Some(None) => decision,
            },
            _ => decision,
        };
        match decision {
            None => Step::Wait,
            Some(Decision::Text(_)) => {
                (self.after, self.block) = (None, None);
                (self.around, self.seat) = (None, Seat::Free);
                self.out.unwrap(sink);
                self.emit(rest.get(..space).unwrap_or_default(), sink);
                Step::Read(space)
            }
            // What closes a call that is shown is text, like the call.
            Some(Decision::Markup(length)) if self.seat == Seat::Shown => {
                self.emit(rest.get(..space + length).unwrap_or_default(), sink);
                Step::Read(space + length)
            }
            Some(decision) => {
                let bytes = rest.get(..space).unwrap_or_default();
                if self.seat == Seat::Shown {
                    self.emit(bytes, sink);
                } else {
                    self.out.beside(bytes, sink);
                }
                if space > 0 {
                    return Step::Read(space);
                }
                let markup = matches!(decision, Decision::Markup(_) | Decision::Around(..));
                let around = |inner: &Decision| matches!(inner, Decision::Around(..));
                let shown = matches!(&decision, Decision::Shown(inner) if around(inner));
                self.around = self.around.filter(|_| markup && self.out.wrapped);
                let step = self.apply(decision, next, setup, sink);
                if !markup && !shown {
                    (self.after, self.seat) = (None, Seat::Free);
                }
                step
            }
        }
    }

    /// Another call in a block of JSON whose closing marker has not come. The outer `None` waits for more.
    fn next_in_block(
        &self,
        row: usize,
        next: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Opening>> {
        let Some(shape) = self.block else { return Some(None) };
        if !matches!(next.first(), Some(b'{' | b'[')) {
            return Some(None);
        }
        // Where the name of a tool is the key, any object may be a call.
        let keyed = setup.rows.get(row).is_some_and(|row| row.is_keyed(shape));
        let is_key = |_: &str| keyed;
        let begins = may_be_call(next, eof, Some(&is_key))?;
        Some(begins.then_some(Opening::Json(shape)))
    }

    /// The length of what ends a call at the start of `rest`, and is no part of it: a token, or brackets
    /// that nothing has opened. The outer `None` waits for more.
    fn ending(&self, rest: &[u8], eof: bool) -> Option<Option<usize>> {
        match rest.first() {
            Some(b'}' | b']') if self.alone => surplus(rest, eof),
            _ => stop_token(rest, eof),
        }
    }
}

/// How many brackets too many are read after a call.
const SURPLUS: usize = 4;

/// The length of the brackets at the start of `rest`, if the line ends after them. The outer `None` waits
/// for more.
fn surplus(rest: &[u8], eof: bool) -> Option<Option<usize>> {
    let brackets = rest.iter().take_while(|byte| matches!(byte, b'}' | b']')).take(SURPLUS).count();
    match rest.get(brackets) {
        None if eof => Some(Some(brackets)),
        None if brackets < SURPLUS => None,
        Some(b'\n' | b'\r') => Some(Some(brackets)),
        _ => Some(None),
    }
}

/// What models of many families write at the end of a turn, and servers may leave in the text.
const STOPS: [&str; 10] = [
    "</s>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
];

/// The length of such a token at the start of `rest`. The outer `None` waits for more.
fn stop_token(rest: &[u8], eof: bool) -> Option<Option<usize>> {
    let begins = |stop: &&&str| rest.starts_with(stop.as_bytes());
    if let Some(stop) = STOPS.iter().find(begins) {
        return Some(Some(stop.len()));
    }
    let may_begin = |stop: &&str| stop.as_bytes().starts_with(rest);
    (eof || !STOPS.iter().any(may_begin)).then_some(None)
}
