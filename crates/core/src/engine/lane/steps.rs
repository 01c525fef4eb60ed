//! The automaton of the fast path, with one branch for each phase. The branches are in an order,
//! from strings to the start of a value, in which most phases fall through to the next one, so
//! that the loop runs about once per value.

use super::{Digits, End, Engine, PLAIN, Phase, SHORT, stride::Halt, taken::number_end, tokens};
use crate::{
    engine::{frames::Shape, quotes::Last},
    grammar::Expect,
    scan,
};

/// The shortest text for which reading in bulk is worth its setup.
const STRIDE: usize = 32;

impl Engine {
    /// Runs the automaton on `text`.
    #[inline(always)]
    pub(super) fn lane_steps(&mut self, held: &[u8], text: &[u8], base: usize) -> End {
        // A local variable, so that it is kept in a register.
        let mut phase = self.lane.phase;
        let end = self.lane_phases(held, text, base, &mut phase);
        self.lane.phase = phase;
        end
    }

    #[inline(always)]
    fn lane_phases(&mut self, held: &[u8], text: &[u8], base: usize, phase: &mut Phase) -> End {
        let mut at = 0;
        // How much of the current white space came in earlier chunks.
        let mut passed = core::mem::take(&mut self.lane.passed);
        macro_rules! byte {
            () => {
                match text.get(at) {
                    Some(&byte) => byte,
                    None => return End::More,
                }
            };
        }
        // Skips white space, and yields the byte after it. Stops if there are `$most` bytes of it.
        macro_rules! gap {
            ($most:expr) => {
                match text.get(at) {
                    Some(&byte) if byte > b' ' => {
                        passed = 0;
                        byte
                    }
                    _ => {
                        let from = at;
                        at = scan::skip_space(text, at);
                        passed += at - from;
                        if passed >= $most {
                            return End::Odd(base + at - (passed - $most));
                        }
                        let Some(&byte) = text.get(at) else {
                            self.lane.passed = passed;
                            return End::More;
                        };
                        passed = 0;
                        byte
                    }
                }
            };
        }
        loop {
            if matches!(*phase, Phase::String) {
                let content = tokens::short_content(text, at);
                match self.lane_string(text, base, at, content) {
                    Ok(next) => (*phase, at) = next,
                    Err(odd) => return odd,
                }
                if at == text.len() {
                    return End::More;
                }
            }
            if matches!(*phase, Phase::Behind) {
                gap!(self.window);
                match self.lane_behind(text, base, at) {
                    Ok(next) => (*phase, at) = next,
                    Err(odd) => return odd,
                }
            }
            match *phase {
                // The blocks above and below this match handle these.
                Phase::Between
                | Phase::BeforeKey
                | Phase::Key
                | Phase::BeforeColon
                | Phase::BeforeValue
                | Phase::BeforeItem
                | Phase::String
                | Phase::Behind => {}
                Phase::BehindComma => {
                    if !matches!(gap!(SHORT), b'"' | b'{' | b'[' | b'-' | b'0'..=b'9') {
                        return End::Odd(base + at);
                    }
                    *phase = Phase::BeforeItem;
                }
                Phase::Number(part) => {
                    let (part, end) = number_end(text, at, part);
                    at = end;
                    if base + at - self.lane.value + 2 >= self.window {
                        return End::Odd(self.lane.value);
                    }
                    *phase = Phase::Number(part);
                    let _ = byte!();
                    if !matches!(
                        part,
                        Digits::Zero | Digits::Integer | Digits::Fraction | Digits::Exponent
                    ) {
                        return End::Odd(self.lane.value);
                    }
                    self.lane.end = base + at;
                    (*phase, at) = self.lane_behind_scalar(text, base, at);
                }
                Phase::Scalar => {
                    let byte = gap!(self.window);
                    match byte {
                        // `1,234` may be one number.
                        b',' if self.lane.end == base + at && !self.in_list() => {
                            at += 1;
                            *phase = Phase::ScalarComma;
                            continue;
                        }
                        b',' | b'}' | b']' => self.lane_scalar_ended(),
                        _ => return End::Odd(self.lane.value),
                    }
                    *phase = Phase::Between;
                }
                Phase::ScalarComma => {
                    if byte!().is_ascii_digit() {
                        return End::Odd(self.lane.value);
                    }
                    self.lane_scalar_ended();
                    self.lane.comma = self.lane.end;
                    (*phase, at) = self.lane_member(text, base, at);
                }
                Phase::Literal(length) => {
                    let word: &[u8] = match self.lane.first {
                        b't' => b"true",
                        b'f' => b"false",
                        _ => b"null",
                    };
                    let mut length = usize::from(length);
                    while let Some(&want) = word.get(length) {
                        let Some(&byte) = text.get(at) else {
                            *phase = Phase::Literal(length as u8);
                            return End::More;
                        };
                        if byte != want {
                            return End::Odd(self.lane.value);
                        }
                        at += 1;
                        length += 1;
                    }
                    self.lane.end = base + at;
                    (*phase, at) = self.lane_behind_scalar(text, base, at);
                }
                Phase::Brace => {
                    if byte!() == b'{' || !self.lane_open(Shape::Object) {
                        return End::Odd(self.lane.value);
                    }
                    *phase = Phase::Between;
                }
                Phase::Quote => match byte!() {
                    b'"' => {
                        at += 1;
                        *phase = Phase::Empty;
                    }
                    _ => {
                        self.lane_open_string();
                        *phase = Phase::String;
                    }
                },
                Phase::Empty => {
                    if !matches!(byte!(), b',' | b'}' | b']') {
                        return End::Odd(self.lane.value);
                    }
                    self.lane_open_string();
                    self.lane.end = self.pos;
                    *phase = Phase::Behind;
                }
                Phase::Escape => {
                    match byte!() {
                        byte @ (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            at += 1;
                            self.inner.escape(byte);
                            self.pos = base + at;
                            self.settle_text(PLAIN);
                            *phase = Phase::String;
                        }
                        b'u' => {
                            at += 1;
                            *phase = Phase::Unit(0);
                        }
                        _ => return End::Odd(self.pos),
                    };
                }
                Phase::Unit(digits) => {
                    let byte = byte!();
                    // `\uD800` to `\uDFFF` are one half of a surrogate pair.
                    let half =
                        digits == 1 && self.lane.partial[0] == b'd' && !matches!(byte, b'0'..=b'7');
                    if !byte.is_ascii_hexdigit() || half {
                        return End::Odd(self.pos);
                    }
                    at += 1;
                    if digits == 0 {
                        self.lane.partial[0] = byte.to_ascii_lowercase();
                    }
                    *phase = Phase::Unit(digits + 1);
                    if digits == 3 {
                        self.inner.escape(b'u');
                        self.pos = base + at;
                        self.settle_text(PLAIN);
                        *phase = Phase::String;
                    }
                }
                Phase::Utf8 => {
                    let byte = byte!();
                    let length = usize::from(self.lane.partial_length);
                    let Some(slot) = self.lane.partial.get_mut(length) else {
                        return End::Odd(self.pos);
                    };
                    *slot = byte;
                    match core::str::from_utf8(&self.lane.partial[..=length]) {
                        Ok(_) => {
                            at += 1;
                            self.inner.ends_with(Last::touching(byte));
                            self.pos = base + at;
                            self.settle_text(PLAIN);
                            *phase = Phase::String;
                        }
                        Err(error) if error.error_len().is_none() => {
                            at += 1;
                            self.lane.partial_length += 1;
                        }
                        Err(_) => return End::Odd(self.pos),
                    }
                }
                Phase::BehindClose => {
                    if !matches!(gap!(self.window), b',' | b'}' | b']') {
                        return End::Odd(base + at);
                    }
                    self.lane_string_ended();
                    self.lane_close(self.lane.close);
                    *phase = Phase::Between;
                }
                Phase::Left => return End::Odd(base),
            }
            if matches!(*phase, Phase::Between) {
                at = scan::skip_space(text, at);
                if base + at - self.anchor > self.window {
                    self.pos = base + at;
                    self.settle_content();
                }
                match (self.expect, byte!()) {
                    (Expect::MemberEnd, b',') => {
                        self.lane.comma = base + at;
                        (*phase, at) = self.lane_member(text, base, at + 1);
                    }
                    (Expect::ItemEnd, b',') => {
                        self.lane.comma = base + at;
                        at += 1;
                        *phase = Phase::BeforeItem;
                    }
                    (Expect::FirstKey, b'"') => {
                        self.lane.comma = usize::MAX;
                        (*phase, at) = self.lane_member(text, base, at);
                    }
                    (Expect::FirstKey | Expect::MemberEnd, b'}')
                    | (Expect::FirstItem | Expect::ItemEnd, b']') => {
                        if !self.lane_close(base + at) {
                            return End::Odd(base + at);
                        }
                        at += 1;
                    }
                    (Expect::FirstItem, _) => {
                        self.lane.comma = usize::MAX;
                        *phase = Phase::BeforeItem;
                    }
                    _ => return End::Odd(base + at),
                }
            }
            if matches!(*phase, Phase::BeforeKey) {
                if gap!(SHORT) != b'"' {
                    return End::Odd(base + at);
                }
                at += 1;
                self.lane.key.0 = base + at;
                self.lane.ascii = true;
                *phase = Phase::Key;
            }
            if matches!(*phase, Phase::Key) {
                at = tokens::short_run(text, at);
                let mut behind = text.get(at);
                if let Some(0x80..) = behind {
                    self.lane.ascii = false;
                    at = tokens::wide_run(text, at);
                    behind = text.get(at);
                }
                let length = base + at - self.lane.key.0;
                if length >= SHORT {
                    return End::Odd(self.lane.key.0 + SHORT);
                }
                match behind {
                    Some(b'"') if length > 0 => {}
                    Some(_) => return End::Odd(base + at),
                    None => return End::More,
                }
                self.lane.key.1 = base + at;
                if !self.lane.ascii && !self.lane_key_is_text(held, text, base) {
                    return End::Odd(base + at);
                }
                at += 1;
                // Usually the colon directly follows the key.
                if text.get(at) == Some(&b':') {
                    at += 1;
                    *phase = Phase::BeforeValue;
                } else {
                    *phase = Phase::BeforeColon;
                }
            }
            if matches!(*phase, Phase::BeforeColon) {
                if gap!(SHORT) != b':' {
                    return End::Odd(base + at);
                }
                at += 1;
                *phase = Phase::BeforeValue;
            }
            if matches!(*phase, Phase::BeforeValue | Phase::BeforeItem) {
                let mut byte = gap!(SHORT);
                if self.lane.doubt {
                    self.lane_string_ended();
                }
                if !self.in_list() && self.expect != Expect::MemberValue {
                    self.lane_member_begins(held, text, base, base + at);
                }
                if text.len() - at >= STRIDE && self.window > tokens::NEAR {
                    match self.stride(text, base, at) {
                        Halt::Value(value) => {
                            at = value;
                            byte = text[at];
                        }
                        Halt::Between(end) => {
                            at = end;
                            *phase = Phase::Between;
                            continue;
                        }
                        Halt::String(value, content) => {
                            self.lane.value = base + value;
                            self.lane_open_string();
                            match self.lane_string(text, base, value + 1, content) {
                                Ok(next) => (*phase, at) = next,
                                Err(odd) => return odd,
                            }
                            continue;
                        }
                    }
                }
                self.lane.value = base + at;
                *phase = match byte {
                    b'"' => match text.get(at + 1) {
                        None | Some(b'"') => Phase::Quote,
                        Some(_) => {
                            self.lane_open_string();
                            Phase::String
                        }
                    },
                    // The value of a member may be a placeholder, as in `{{name}}`.
                    b'{' if !self.in_list() => Phase::Brace,
                    b'{' => {
                        if !self.lane_open(Shape::Object) {
                            return End::Odd(base + at);
                        }
                        Phase::Between
                    }
                    b'[' => {
                        if !self.lane_open(Shape::Array) {
                            return End::Odd(base + at);
                        }
                        Phase::Between
                    }
                    b'-' => Phase::Number(Digits::Minus),
                    b'0' => Phase::Number(Digits::Zero),
                    b'1'..=b'9' => Phase::Number(Digits::Integer),
                    b't' | b'f' | b'n' => {
                        self.lane.first = byte;
                        Phase::Literal(1)
                    }
                    _ => return End::Odd(base + at),
                };
                at += 1;
            }
        }
    }
}
