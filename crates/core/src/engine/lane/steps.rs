//! The automaton of the lane: one arm a phase, and every byte once.

use super::{Digits, End, Engine, Lane, PLAIN, Phase, SHORT, taken::number_end};
use crate::{engine::frames::Shape, grammar::Expect, scan};

impl Engine {
    #[inline]
    pub(super) fn lane_steps(&mut self, text: &[u8], base: usize, lane: &mut Lane) -> End {
        let mut at = 0;
        // Passes white space, at most so many bytes of it: the byte behind.
        macro_rules! gap {
            ($most:expr) => {{
                at = scan::skip_space(text, at);
                if base + at - lane.since >= $most {
                    return End::Odd(lane.since + $most);
                }
                byte!()
            }};
        }
        macro_rules! byte {
            () => {
                match text.get(at) {
                    Some(&byte) => byte,
                    None => return End::More,
                }
            };
        }
        loop {
            match lane.phase {
                Phase::Between => {
                    at = scan::skip_space(text, at);
                    if base + at - self.anchor > self.window {
                        self.pos = base + at;
                        self.settle_content();
                    }
                    let byte = byte!();
                    let object = self.frames.top() == Some(Shape::Object);
                    lane.since = base + at + 1;
                    match (self.expect, byte) {
                        (Expect::MemberEnd, b',') => {
                            lane.comma = base + at;
                            at += 1;
                            lane.phase = Phase::BeforeKey;
                        }
                        (Expect::FirstKey, b'"') => {
                            lane.comma = usize::MAX;
                            lane.since = base + at;
                            lane.phase = Phase::BeforeKey;
                        }
                        (Expect::ItemEnd, b',') => {
                            lane.comma = base + at;
                            at += 1;
                            lane.phase = Phase::BeforeItem;
                        }
                        (Expect::FirstKey | Expect::MemberEnd, b'}') if object => {
                            if !self.lane_close(base + at) {
                                return End::Odd(base + at);
                            }
                            at += 1;
                        }
                        (Expect::FirstItem | Expect::ItemEnd, b']') if !object => {
                            if !self.lane_close(base + at) {
                                return End::Odd(base + at);
                            }
                            at += 1;
                        }
                        (Expect::FirstItem, _) => {
                            lane.comma = usize::MAX;
                            lane.since = base + at;
                            lane.phase = Phase::BeforeItem;
                        }
                        _ => return End::Odd(base + at),
                    }
                }
                Phase::BeforeKey => {
                    if gap!(SHORT) != b'"' {
                        return End::Odd(base + at);
                    }
                    at += 1;
                    lane.since = base + at;
                    lane.key = (base + at, base + at);
                    (lane.has_key, lane.kept, lane.ascii) = (true, false, true);
                    lane.phase = Phase::Key;
                }
                Phase::Key => {
                    let run = scan::string_run(text, at, b'"');
                    lane.ascii &= run.ascii;
                    if lane.kept {
                        self.lane_key.extend_from_slice(&text[at..run.end]);
                    }
                    at = run.end;
                    let length = base + at - lane.since;
                    if length >= SHORT {
                        return End::Odd(lane.since + SHORT);
                    }
                    if byte!() != b'"' || length == 0 {
                        return End::Odd(base + at);
                    }
                    lane.key.1 = base + at;
                    if !lane.ascii && core::str::from_utf8(self.lane_key(text, base, lane)).is_err()
                    {
                        return End::Odd(base + at);
                    }
                    at += 1;
                    lane.since = base + at;
                    lane.phase = Phase::BeforeColon;
                }
                Phase::BeforeColon => {
                    if gap!(SHORT) != b':' {
                        return End::Odd(base + at);
                    }
                    at += 1;
                    lane.since = base + at;
                    lane.phase = Phase::BeforeValue;
                }
                Phase::BeforeValue | Phase::BeforeItem => {
                    let byte = gap!(SHORT);
                    if lane.doubt {
                        self.lane_string_ended(lane);
                    }
                    lane.value = base + at;
                    lane.phase = match byte {
                        b'"' => Phase::Quote,
                        b'{' => Phase::Brace,
                        b'[' => {
                            if !self.lane_open(Shape::Array, text, base, lane) {
                                return End::Odd(base + at);
                            }
                            Phase::Between
                        }
                        b'-' => Phase::Number(Digits::Minus),
                        b'0' => Phase::Number(Digits::Zero),
                        b'1'..=b'9' => Phase::Number(Digits::Integer),
                        b't' => Phase::Literal(b"true", 1),
                        b'f' => Phase::Literal(b"false", 1),
                        b'n' => Phase::Literal(b"null", 1),
                        _ => return End::Odd(base + at),
                    };
                    at += 1;
                }
                Phase::Brace => {
                    if byte!() == b'{' || !self.lane_open(Shape::Object, text, base, lane) {
                        return End::Odd(lane.value);
                    }
                    lane.phase = Phase::Between;
                }
                Phase::Quote => match byte!() {
                    b'"' => {
                        at += 1;
                        lane.phase = Phase::Empty;
                    }
                    b'{' | b'[' => {
                        at += 1;
                        lane.phase = Phase::Bracket;
                    }
                    _ => {
                        self.lane_open_string(text, base, lane);
                        lane.phase = Phase::String;
                    }
                },
                Phase::Bracket => {
                    if byte!() == b'"' {
                        return End::Odd(lane.value);
                    }
                    self.lane_open_string(text, base, lane);
                    self.pos += 1;
                    self.settle_content();
                    lane.phase = Phase::String;
                }
                Phase::Empty => {
                    if !matches!(byte!(), b',' | b'}' | b']') {
                        return End::Odd(lane.value);
                    }
                    self.lane_open_string(text, base, lane);
                    lane.end = self.pos;
                    lane.since = self.pos + 1;
                    lane.phase = Phase::Behind;
                }
                Phase::String => {
                    if let Some(end) = self.lane_string(text, base, &mut at, lane) {
                        return end;
                    }
                }
                Phase::Escape => {
                    match byte!() {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                            at += 1;
                            self.pos = base + at;
                            self.settle_text(PLAIN);
                            lane.phase = Phase::String;
                        }
                        b'u' => {
                            at += 1;
                            lane.phase = Phase::Unit(0);
                        }
                        _ => return End::Odd(self.pos),
                    };
                }
                Phase::Unit(digits) => {
                    let byte = byte!();
                    // `\uD800` to `\uDFFF` are halves of a pair, or lone.
                    let half = digits == 1
                        && lane.partial[0] == b'd'
                        && !matches!(byte, b'0'..=b'7');
                    if !byte.is_ascii_hexdigit() || half {
                        return End::Odd(self.pos);
                    }
                    at += 1;
                    if digits == 0 {
                        lane.partial[0] = byte.to_ascii_lowercase();
                    }
                    lane.phase = Phase::Unit(digits + 1);
                    if digits == 3 {
                        self.pos = base + at;
                        self.settle_text(PLAIN);
                        lane.phase = Phase::String;
                    }
                }
                Phase::Utf8 => {
                    let byte = byte!();
                    let length = usize::from(lane.partial_length);
                    let Some(slot) = lane.partial.get_mut(length) else {
                        return End::Odd(self.pos);
                    };
                    *slot = byte;
                    match core::str::from_utf8(&lane.partial[..=length]) {
                        Ok(_) => {
                            at += 1;
                            self.pos = base + at;
                            self.settle_text(PLAIN);
                            lane.phase = Phase::String;
                        }
                        Err(error) if error.error_len().is_none() => {
                            at += 1;
                            lane.partial_length += 1;
                        }
                        Err(_) => return End::Odd(self.pos),
                    }
                }
                Phase::Behind => {
                    let byte = gap!(self.window);
                    let object = self.frames.top() == Some(Shape::Object);
                    lane.doubt = true;
                    (lane.has_key, lane.kept) = (false, false);
                    match byte {
                        b',' => {
                            lane.comma = base + at;
                            at += 1;
                            lane.since = base + at;
                            lane.phase =
                                if object { Phase::BeforeKey } else { Phase::BehindComma };
                        }
                        b'}' | b']' if (byte == b'}') == object => {
                            if self.frames.depth() > 1 {
                                lane.close = base + at;
                                at += 1;
                                lane.since = base + at;
                                lane.phase = Phase::BehindClose;
                            } else {
                                self.lane_string_ended(lane);
                                lane.phase = Phase::Between;
                            }
                        }
                        _ => return End::Odd(base + at),
                    }
                }
                Phase::BehindComma => {
                    if !matches!(gap!(SHORT), b'"' | b'{' | b'[' | b'-' | b'0'..=b'9') {
                        return End::Odd(base + at);
                    }
                    lane.phase = Phase::BeforeItem;
                }
                Phase::BehindClose => {
                    if !matches!(gap!(self.window), b',' | b'}' | b']') {
                        return End::Odd(base + at);
                    }
                    self.lane_string_ended(lane);
                    self.lane_close(lane.close);
                    lane.phase = Phase::Between;
                }
                Phase::Number(part) => {
                    let part = number_end(text, &mut at, part);
                    if base + at - lane.value + 2 >= self.window {
                        return End::Odd(lane.value);
                    }
                    lane.phase = Phase::Number(part);
                    let _ = byte!();
                    if !matches!(
                        part,
                        Digits::Zero | Digits::Integer | Digits::Fraction | Digits::Exponent
                    ) {
                        return End::Odd(lane.value);
                    }
                    lane.end = base + at;
                    lane.since = base + at;
                    lane.phase = Phase::Scalar;
                }
                Phase::Literal(word, length) => {
                    let have = usize::from(length);
                    let want = &word[have..];
                    let Some(found) = text.get(at..at + want.len()) else {
                        // Byte by byte at the end of a chunk.
                        if byte!() != want[0] {
                            return End::Odd(lane.value);
                        }
                        at += 1;
                        lane.phase = Phase::Literal(word, length + 1);
                        continue;
                    };
                    if found != want {
                        return End::Odd(lane.value);
                    }
                    at += want.len();
                    lane.end = base + at;
                    lane.since = base + at;
                    lane.phase = Phase::Scalar;
                }
                Phase::Scalar => {
                    let byte = gap!(self.window);
                    match byte {
                        // `1,234` may be one number.
                        b',' if lane.has_key && lane.end == base + at => {
                            at += 1;
                            lane.phase = Phase::ScalarComma;
                            continue;
                        }
                        b',' | b'}' | b']' => self.lane_scalar_ended(text, base, lane),
                        _ => return End::Odd(lane.value),
                    }
                    lane.phase = Phase::Between;
                }
                Phase::ScalarComma => {
                    if byte!().is_ascii_digit() {
                        return End::Odd(lane.value);
                    }
                    self.lane_scalar_ended(text, base, lane);
                    lane.comma = lane.end;
                    lane.since = lane.end + 1;
                    lane.phase = Phase::BeforeKey;
                }
                Phase::Left => return End::Odd(base),
            }
        }
    }
}
