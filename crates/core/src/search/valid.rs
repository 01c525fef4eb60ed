//! Valid JSON between two places that need a search, read without one.

use super::{After, Kind, Mode, Reading, Search, arena::Stack, frontier::Next, token};
use crate::engine::is_command;

/// How far before an error the search begins again, in bytes.
const BACK: usize = 64;

/// How many bytes must have been free.
const FREE: usize = 8;

/// How many bytes must be valid from there on.
const AHEAD: usize = 12;

/// How much dearer all others must be.
pub(super) const APART: u32 = 400;

/// A place after a comma, from which a reading can go on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    at: usize,
    stack: Stack,
}

/// Text that is valid.
#[derive(Clone, Copy)]
pub(super) struct Valid {
    from: Place,
    /// The last place that is far enough before its end.
    last: Place,
    end: usize,
}

impl Valid {
    pub(super) const NOTHING: Self = {
        let start = Place { at: 0, stack: Stack::EMPTY };
        Self { from: start, last: start, end: 0 }
    };
}

/// Whether the text was free for some bytes up to here, behind a comma.
pub(super) fn settles(next: &mut Next) -> bool {
    let Next { reading, at, .. } = next;
    if !matches!(reading.mode, Mode::Key(After::Comma) | Mode::Value(After::Comma))
        || reading.comma as usize + 1 != *at
    {
        return false;
    }
    if reading.cost != reading.paid {
        (reading.paid, reading.since) = (reading.cost, *at as u32);
        return false;
    }
    *at - reading.since as usize >= FREE
}

impl Search<'_> {
    /// Whether the text is valid for some bytes from here on.
    pub(super) fn is_free(&mut self, reading: &Reading) -> bool {
        if self.at >= self.valid.end {
            self.valid = self.read_valid(reading.stack);
        }
        self.valid.end - self.at >= AHEAD
    }

    /// Reads on as long as the text is valid, and returns the reading at a place well before it no longer
    /// is.
    pub(super) fn skip_valid(&mut self, mut reading: Reading) -> Reading {
        let here = Place { at: self.at, stack: reading.stack };
        if self.valid.from != here {
            self.valid = self.read_valid(reading.stack);
        }
        let Place { at, stack } = self.valid.last;
        if at > self.at {
            self.at = at;
            reading.stack = stack;
            (reading.comma, reading.last, reading.since) =
                (at as u32 - 1, at as u32 - 1, at as u32);
            let members = self.top(&reading).is_some_and(Kind::has_members);
            reading.mode = Mode::after_comma(members);
        }
        reading
    }

    /// The text that is valid from here on, in containers that are open here.
    fn read_valid(&mut self, stack: Stack) -> Valid {
        let from = Place { at: self.at, stack };
        let (mut older, mut newer, mut stack) = (from, from, stack);
        let mut wants_key = self.stacks.top(stack).is_some_and(Kind::has_members);
        let limit = self.next_repair();
        while self.valid_item(&mut stack, wants_key) && self.at < limit {
            // After a value: closers, and then a comma.
            self.pass_space();
            while let Some(top) = self.stacks.top(stack) {
                let plain = matches!(top, Kind::Object | Kind::Array);
                if !plain || self.byte() != top.closer() || self.stacks.depth(stack) == 1 {
                    break;
                }
                stack = self.stacks.below(stack);
                self.at += 1;
                self.pass_space();
            }
            if self.byte() != b',' || self.at >= limit {
                break;
            }
            self.at += 1;
            wants_key = self.stacks.top(stack).is_some_and(Kind::has_members);
            if self.at >= newer.at + BACK {
                older = newer;
                newer = Place { at: self.at, stack };
            }
        }
        let end = core::mem::replace(&mut self.at, from.at);
        let last = if end >= newer.at + BACK { newer } else { older };
        Valid { from, last, end }
    }

    /// Where the next repair begins, if only some may be made.
    fn next_repair(&self) -> usize {
        let only = self.only.unwrap_or_default();
        let next = only.partition_point(|repair| repair.start < self.at);
        only.get(next).map_or(usize::MAX, |repair| repair.start)
    }

    /// Passes a member or an item. Containers that it opens stay open if something is in them.
    fn valid_item(&mut self, stack: &mut Stack, mut wants_key: bool) -> bool {
        loop {
            self.pass_space();
            if wants_key {
                if !self.pass_string() {
                    return false;
                }
                self.pass_space();
                if self.byte() != b':' {
                    return false;
                }
                self.at += 1;
                self.pass_space();
            }
            let kind = match self.byte() {
                b'{' => Kind::Object,
                b'[' => Kind::Array,
                b'"' => return self.pass_string(),
                _ => return self.pass_scalar(),
            };
            if self.stacks.depth(*stack) >= self.depth {
                return false;
            }
            let indent = self.layout.indent(self.at);
            self.at += 1;
            self.pass_space();
            if self.byte() == kind.closer() {
                self.at += 1;
                return true;
            }
            *stack = self.stacks.push(*stack, kind, indent);
            wants_key = kind.has_members();
        }
    }

    fn pass_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn pass_scalar(&mut self) -> bool {
        let rest = self.rest_of_text();
        let scalar = token::number(rest).or_else(|| token::word_literal(rest));
        match scalar.filter(|scalar| scalar.mended.is_none()) {
            Some(scalar) => {
                self.at += scalar.length;
                true
            }
            None => false,
        }
    }

    /// Passes a string in which nothing is in doubt.
    fn pass_string(&mut self) -> bool {
        let rest = self.rest_of_text();
        if rest.first() != Some(&b'"') {
            return false;
        }
        let mut at = 1;
        loop {
            at = crate::scan::string_run(rest, at, b'"').end;
            match rest.get(at..) {
                Some([b'"', ..]) => {
                    self.at += at + 1;
                    return core::str::from_utf8(&rest[..at]).is_ok();
                }
                Some([b'\\', b'"' | b'\\' | b'/', ..]) => at += 2,
                Some([b'\\', b'n' | b'r' | b't', ..]) if !is_command(&rest[at + 1..]) => at += 2,
                Some([b'\\', b'u', digits @ ..])
                    if digits.len() > 3
                        && digits[..4].iter().all(u8::is_ascii_hexdigit)
                        && !matches!(
                            digits[..2],
                            [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']
                        ) =>
                {
                    at += 6;
                }
                _ => return false,
            }
        }
    }
}
