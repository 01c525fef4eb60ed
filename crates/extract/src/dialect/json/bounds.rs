//! Where arguments end: whether a string has run over its end, and whether they go on after theirs.

use super::{CLOSE, JsonCall, SPACE, past_space, window};
use crate::dialect::{envelope::LONGEST_NAME, markers::MarkersHere};

/// Whether a place of JSON text is inside a string, as long as the text is valid.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::dialect) struct Quotes {
    pub(in crate::dialect) inside: bool,
    escaped: bool,
    /// Whether there is a line break after the last quote.
    line: bool,
    /// The last bytes before white space, the last one lowest.
    word: u64,
    /// Whether there is white space after them.
    space: bool,
    /// How many brackets are open.
    pub(in crate::dialect) depth: u32,
}

impl Quotes {
    pub(in crate::dialect) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'"' {
                self.inside = !self.inside;
            } else if byte == b'\\' {
                self.escaped = self.inside;
            }
            match byte {
                b'{' | b'[' if !self.inside => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.inside => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            match byte {
                b'"' | b'\'' => (self.line, self.space, self.word) = (false, false, byte.into()),
                b'\n' => (self.line, self.space) = (true, true),
                b' ' | b'\t' | b'\r' => self.space = true,
                _ if self.space => (self.space, self.word) = (false, byte.into()),
                _ => self.word = self.word << 8 | u64::from(byte),
            }
        }
    }

    /// Whether a string that ends here has run over what was meant to come after it: over the end of
    /// its line, or over the brackets that close the call.
    pub(super) const fn ran_over(&self) -> bool {
        self.line || self.is_after_bracket()
    }

    /// Whether the last byte but white space closes an object or a list.
    pub(in crate::dialect) const fn is_after_bracket(&self) -> bool {
        matches!(self.word.to_be_bytes()[7], b'}' | b']')
    }

    /// Whether the text ends inside of a number or a literal, or after one of them and white space.
    pub(in crate::dialect) fn stops_short(&self) -> bool {
        let bytes = self.word.to_be_bytes();
        let letters = bytes.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (before, word) = bytes.split_at(bytes.len() - letters);
        match (before.last(), word) {
            (Some(last), []) => matches!(last, b'-' | b'+' | b'.'),
            (Some(b'0'..=b'9' | b'.'), [b'e' | b'E']) => true,
            _ => {
                LITERALS.iter().any(|literal| literal.len() > letters && literal.starts_with(word))
            }
        }
    }
}

const LITERALS: &[&[u8]] = &[b"true", b"false", b"null", b"True", b"False", b"None"];

/// How much of a line is looked at after a value, in bytes.
const LONGEST_LINE: usize = 256;

/// How many markers one after the other end a call and what is around it, or begin another one.
const MARKERS: usize = 4;

impl JsonCall {
    /// Whether a text that ends here ends inside of a marker.
    pub(super) fn is_half_a_marker(&self, rest: &[u8]) -> bool {
        rest.len() > 1 && self.stops.may_begin(rest)
    }

    /// Whether the next byte is inside a string. If the text needs repairs, its quotes cannot simply
    /// be counted: what the mender would make of the text if it ended here decides. A repair may not be
    /// certain yet.
    pub(super) fn is_inside_string(&mut self) -> bool {
        if self.mender.repair_count() == 0 && self.quotes.inside {
            return true;
        }
        self.mender.ends_in_string()
    }

    /// Whether the rest of a string follows the value, up to a quote that would end it: a quote in the string
    /// was taken for its end. `None` waits for more.
    pub(super) fn runs_on(&self, rest: &[u8], eof: bool) -> Option<bool> {
        let (line, ended) = window(rest, LONGEST_LINE, eof);
        // Brackets of the string come first, if its last quote was in front of some.
        let closers = line.iter().take_while(|byte| matches!(byte, b'}' | b']')).count();
        let mut quoted = false;
        for (at, byte) in line.iter().enumerate().skip(closers) {
            match byte {
                b'"' => quoted = true,
                b'}' | b']' | b',' | b':' if quoted => return Some(true),
                b' ' | b'\t' if quoted => {}
                // Another value, or another line.
                b'{' | b'[' | b'\n' => return Some(false),
                _ if self.stops.begins_with(*byte) => {
                    match self.stops.at(rest.get(at..).unwrap_or_default(), eof) {
                        MarkersHere::Partial => return None,
                        MarkersHere::Here(_) => return Some(false),
                        MarkersHere::Nothing => quoted = false,
                    }
                }
                _ => quoted = false,
            }
            // Only what follows directly can be the rest of a string.
            if at == closers
                && !matches!(byte, b'"' | b'\'' | b'\\')
                && !byte.is_ascii_alphanumeric()
            {
                return Some(false);
            }
        }
        if ended || line.len() == LONGEST_LINE { Some(false) } else { None }
    }

    /// Whether the text ends after the markers at the start of `rest`. `None` waits for more.
    pub(super) fn nothing_follows(&self, rest: &[u8], eof: bool) -> Option<bool> {
        let mut after = rest;
        for _ in 0..MARKERS {
            match self.stops.at(after, eof) {
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => return Some(false),
                MarkersHere::Here(found) => {
                    let length = found.first().map_or(1, |(_, length)| *length);
                    after = after.get(length..).unwrap_or_default();
                }
            }
            let space = after.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace());
            let space = space.count();
            after = after.get(space..).unwrap_or_default();
            if after.is_empty() {
                return if eof {
                    Some(true)
                } else if space < SPACE {
                    None
                } else {
                    Some(false)
                };
            }
        }
        Some(false)
    }

    /// Whether the markers at the start of `rest`, which may be in a string, end one call and begin
    /// another. In a string, the quotes of the other call would be escaped. `None` waits for more.
    pub(super) fn next_call_follows(&self, rest: &[u8], eof: bool) -> Option<bool> {
        let (mut at, mut opens) = (0, false);
        for marker in 0..MARKERS {
            let (space, next) = past_space(rest.get(at..).unwrap_or_default(), eof)?;
            match self.stops.at(next, eof) {
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => break,
                MarkersHere::Here(found) => {
                    let (id, length) = found.first().copied().unwrap_or_default();
                    if marker == 0 && id != CLOSE && self.closes() {
                        return Some(false);
                    }
                    opens |= id != CLOSE;
                    at += space + length;
                }
            }
        }
        if !opens {
            return Some(false);
        }
        let after = rest.get(at..).unwrap_or_default();
        let (header, over) = window(after, LONGEST_NAME, eof);
        let sign = |byte: &u8| matches!(byte, b'{' | b'"' | b'\'' | b'\\');
        match header.iter().position(sign) {
            None if over => Some(false),
            None => None,
            Some(at) if header.get(at) == Some(&b'{') => {
                let (_, next) = past_space(after.get(at + 1..).unwrap_or_default(), eof)?;
                Some(matches!(next.first(), Some(b'"' | b'\'')))
            }
            Some(_) => Some(false),
        }
    }
}

/// Whether what follows a complete value goes on with the object that it was taken for: surplus
/// brackets may come first, then a further key. `None` waits for more.
pub(in crate::dialect) fn goes_on(rest: &[u8], eof: bool) -> Option<bool> {
    let (rest, eof) = window(rest, SPACE, eof);
    let none = || if eof { Some(false) } else { None };
    let (mut at, mut comma, mut same_line) = (0, false, true);
    let first = loop {
        match rest.get(at) {
            None => return none(),
            Some(b'\n') => same_line = false,
            Some(byte) if byte.is_ascii_whitespace() => {}
            Some(b'}' | b']') if !comma => {}
            Some(b',') if !comma => comma = true,
            Some(byte) => break *byte,
        }
        at += 1;
    };
    let text = rest.get(at..).unwrap_or_default();
    let length = match first {
        b'"' | b'\'' if comma || same_line => {
            let inside = text.get(1..).unwrap_or_default();
            match inside.iter().position(|byte| *byte == first) {
                Some(length) => length + 2,
                None => return none(),
            }
        }
        b'_' | b'a'..=b'z' | b'A'..=b'Z' if comma => {
            text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        }
        _ => return Some(false),
    };
    let after = text.get(length..).unwrap_or_default();
    match after.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => none(),
        Some(byte) => Some(*byte == b':'),
    }
}
