//! What the lane takes: the engine's state moves on to where the lane is sure.

use super::{Digits, End, Engine, Lane, PLAIN, Phase};
use crate::{
    engine::{Lex, frames::Shape},
    grammar::Expect,
    scan,
};

impl Engine {
    /// The bytes of the pending key.
    pub(super) fn lane_key<'a>(&'a self, text: &'a [u8], base: usize, lane: &Lane) -> &'a [u8] {
        if lane.kept { &self.lane_key } else { &text[lane.key.0 - base..lane.key.1 - base] }
    }

    /// What was pending before a value stays: its key, or the place of an item.
    #[inline]
    fn lane_begin(&mut self, text: &[u8], base: usize, lane: &mut Lane) {
        self.member_edits = self.serial;
        if lane.comma != usize::MAX {
            self.comma = lane.comma;
            self.comma_length = 1;
            lane.comma = usize::MAX;
        }
        if lane.has_key {
            self.key_start = lane.key.0 - 1;
            if lane.kept {
                self.frames.set_key(&self.lane_key);
            } else {
                self.frames.set_key(&text[lane.key.0 - base..lane.key.1 - base]);
            }
            lane.has_key = false;
        } else {
            self.frames.begin_item();
        }
    }

    /// A value has ended at `pos`.
    #[inline]
    fn lane_ended(&mut self) {
        self.mark = self.pos;
        self.anchor = self.pos;
        self.mark_in_string = false;
        self.closed_string = None;
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            Some(Shape::Array | Shape::Tuple) | None => Expect::ItemEnd,
        };
    }

    /// Opens a container, unless it lies too deep.
    #[inline]
    pub(super) fn lane_open(
        &mut self,
        shape: Shape,
        text: &[u8],
        base: usize,
        lane: &mut Lane,
    ) -> bool {
        if self.frames.depth() >= self.options.limits().depth() {
            return false;
        }
        self.lane_begin(text, base, lane);
        self.frames.push(shape, lane.value);
        self.pos = lane.value + 1;
        self.lane_ended();
        self.comma = usize::MAX;
        self.comma_length = 1;
        self.expect = if shape == Shape::Object { Expect::FirstKey } else { Expect::FirstItem };
        true
    }

    /// Closes the innermost container, unless it is the document.
    #[inline]
    pub(super) fn lane_close(&mut self, at: usize) -> bool {
        if self.frames.len() < 2 {
            return false;
        }
        self.closed_items = self.frames.pop().map_or(0, |frame| frame.items);
        self.pos = at + 1;
        self.lane_ended();
        // Frames that leave no trace are for the other rules.
        matches!(self.frames.top(), Some(Shape::Object | Shape::Array))
    }

    /// A number or a literal has ended.
    #[inline]
    pub(super) fn lane_scalar_ended(&mut self, text: &[u8], base: usize, lane: &mut Lane) {
        self.lane_begin(text, base, lane);
        self.pos = lane.end;
        self.lane_ended();
    }

    /// Opens a string.
    #[inline]
    pub(super) fn lane_open_string(&mut self, text: &[u8], base: usize, lane: &mut Lane) {
        self.lane_begin(text, base, lane);
        self.pos = lane.value + 1;
        self.lex_start = self.pos;
        self.inner_quotes = 0;
        self.definite_end = None;
        self.tail = None;
        self.lex = Lex::Text(PLAIN);
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberValue,
            _ => Expect::Item,
        };
        self.settle_content();
    }

    /// The quote behind which the lane stands ends its string. It may be taken back until the next
    /// value begins.
    #[inline]
    pub(super) fn lane_string_ended(&mut self, lane: &mut Lane) {
        self.lex = Lex::None;
        self.pos = lane.end + 1;
        self.lane_ended();
        self.mark = lane.end;
        self.mark_in_string = true;
        self.closed_string = Some(lane.end);
        lane.doubt = false;
    }

    /// Reads the content of a string.
    #[inline]
    pub(super) fn lane_string(
        &mut self,
        text: &[u8],
        base: usize,
        at: &mut usize,
        lane: &mut Lane,
    ) -> Option<End> {
        let mut from = *at;
        loop {
            let run = scan::string_run(text, from, b'"');
            let next = text.get(run.end);
            let mut end = run.end;
            if !run.ascii
                && let Err(error) = core::str::from_utf8(&text[from..end])
            {
                end = from + error.valid_up_to();
                self.lane_content(text, base, *at, from, end);
                let rest = &text[end..run.end];
                if error.error_len().is_some() || next.is_some() {
                    return Some(End::Odd(base + end));
                }
                lane.partial[..rest.len()].copy_from_slice(rest);
                lane.partial_length = u8::try_from(rest.len()).unwrap_or_default();
                lane.phase = Phase::Utf8;
                return Some(End::More);
            }
            match next {
                None => {
                    self.lane_content(text, base, *at, from, end);
                    return Some(End::More);
                }
                Some(b'"') => {
                    self.lane_content(text, base, *at, from, end);
                    if self.tail.is_some() {
                        // A comma before the quote may have followed a lost one.
                        return Some(End::Odd(base + end));
                    }
                    lane.end = base + end;
                    lane.since = lane.end + 1;
                    lane.phase = Phase::Behind;
                    *at = end + 1;
                    return None;
                }
                Some(b'\\') => {
                    if let Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') =
                        text.get(end + 1)
                    {
                        from = end + 2;
                        continue;
                    }
                    self.lane_content(text, base, *at, from, end);
                    lane.phase = Phase::Escape;
                    *at = end + 1;
                    return None;
                }
                Some(_) => {
                    self.lane_content(text, base, *at, from, end);
                    return Some(End::Odd(base + end));
                }
            }
        }
    }

    /// Content was read from `start` to `end`; `from` is behind its last escape.
    #[inline]
    fn lane_content(&mut self, text: &[u8], base: usize, start: usize, from: usize, end: usize) {
        if from > start {
            self.pos = base + from;
            self.settle_text(PLAIN);
        }
        self.consume_text(&text[from..end], end - from, PLAIN);
    }
}

/// Reads a number on from `part`, as far as the grammar goes (RFC 8259, section 6).
#[inline]
pub(super) fn number_end(text: &[u8], at: &mut usize, mut part: Digits) -> Digits {
    while let Some(&byte) = text.get(*at) {
        part = match (part, byte) {
            (Digits::Integer | Digits::Fraction | Digits::Exponent, b'0'..=b'9') => part,
            (Digits::Minus, b'0') => Digits::Zero,
            (Digits::Minus, b'1'..=b'9') => Digits::Integer,
            (Digits::Zero | Digits::Integer, b'.') => Digits::Point,
            (Digits::Point, b'0'..=b'9') => Digits::Fraction,
            (Digits::Zero | Digits::Integer | Digits::Fraction, b'e' | b'E') => Digits::Mark,
            (Digits::Mark, b'+' | b'-') => Digits::Sign,
            (Digits::Mark | Digits::Sign, b'0'..=b'9') => Digits::Exponent,
            _ => return part,
        };
        *at += 1;
    }
    part
}
