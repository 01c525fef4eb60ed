//! Valid JSON between two places that need a search, read without one.

use super::{After, Kind, Mode, Reading, Search, arena::Stack, token};
use crate::engine::is_command;

/// How far before an error the search begins again, in bytes.
const BACK: usize = 96;

/// How many bytes must have been free.
const FREE: usize = 24;

/// How much dearer all others must be.
const APART: u32 = 260;

/// A place after a comma, from which a reading can go on.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    stack: Stack,
    line: (Option<u16>, usize),
    indents: u16,
}

impl Search<'_> {
    /// Whether nothing has a chance against a reading that is directly behind a comma.
    pub(super) fn settles(&self, reading: &mut Reading) -> bool {
        if !matches!(reading.mode, Mode::Key(After::Comma) | Mode::Value(After::Comma))
            || reading.comma as usize + 1 != self.at
        {
            return false;
        }
        if reading.cost != reading.paid {
            (reading.paid, reading.since) = (reading.cost, self.at as u32);
            return false;
        }
        let apart = |other: &Reading| other.cost >= reading.cost.saturating_add(APART);
        self.at - reading.since as usize >= FREE
            && self.here.iter().all(apart)
            && self.near.iter().flatten().all(apart)
            && self.far.values().flatten().all(apart)
    }

    /// Reads on as long as the text is valid, and returns the reading at a place well before it no longer
    /// is. All other readings are dropped.
    pub(super) fn skip_valid(&mut self, mut reading: Reading) -> Reading {
        self.here.clear();
        self.near.iter_mut().for_each(alloc::vec::Vec::clear);
        self.far.clear();
        if self.at < self.invalid_at {
            return reading;
        }
        let begin = self.at;
        let place = self.last_valid(reading.stack);
        (self.at, self.line, self.indents) = (place.at, place.line, place.indents);
        if place.at > begin {
            reading.stack = place.stack;
            reading.comma = place.at as u32 - 1;
            reading.last = place.at as u32 - 1;
            reading.since = place.at as u32;
            let members = self.top(&reading).is_some_and(Kind::has_members);
            reading.mode =
                if members { Mode::Key(After::Comma) } else { Mode::Value(After::Comma) };
        }
        reading
    }

    /// The last place behind a comma that is far enough before what is not valid.
    fn last_valid(&mut self, stack: Stack) -> Place {
        let _ = self.indent();
        let here = Place { at: self.at, stack, line: self.line, indents: self.indents };
        let (mut older, mut newer, mut stack) = (here, here, stack);
        let mut wants_key = self.stacks.top(stack).is_some_and(Kind::has_members);
        let limit = self.next_repair();
        loop {
            let value_at = self.at;
            if !self.valid_item(&mut stack, wants_key) || self.at > limit {
                break;
            }
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
            if self.byte() != b',' || self.at <= value_at {
                break;
            }
            self.at += 1;
            wants_key = self.stacks.top(stack).is_some_and(Kind::has_members);
            if self.at >= newer.at + BACK {
                let _ = self.indent();
                older = newer;
                newer = Place { at: self.at, stack, line: self.line, indents: self.indents };
            }
        }
        self.invalid_at = self.at;
        if self.at >= newer.at + BACK { newer } else { older }
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
            let indent = self.indent();
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
