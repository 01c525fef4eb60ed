//! What a JSON text says, as a number: the same for every way to write the same value.

use core::hash::Hasher as _;
use std::hash::DefaultHasher;

use wiremend_core::lexer::{skip, unescape};

use crate::work;

/// Integers up to this size have one value as a number of any kind.
const EXACT: u64 = 1 << 53;

/// A container that is open, or the text itself.
#[derive(Debug, Default)]
struct Frame {
    /// The members of an object have no order, so their hashes are added.
    object: bool,
    hash: u64,
    key: Option<u64>,
}

impl Frame {
    const fn add(&mut self, value: u64) {
        self.hash = match (self.object, self.key.take()) {
            (false, _) => mix(self.hash, value),
            (true, Some(key)) => self.hash.wrapping_add(mix(key, value)),
            (true, None) => {
                self.key = Some(value);
                return;
            }
        };
    }

    /// The value of the container. `end` is the bracket that closes it, or 0.
    fn close(self, end: u8) -> u64 {
        mix(mix(self.hash, self.key.unwrap_or_default()), u64::from(end) << 1 | 1)
    }
}

/// A hash of what a JSON text says. It does not depend on white space between the values, on the escapes
/// in strings, on the order of members, or on how a number is written. In a text that is not JSON, what
/// looks like a value counts as one. Needs time and, for its open brackets, memory that are linear in the
/// length of the text.
pub(crate) fn meaning(text: &str) -> u64 {
    work::count(text.len());
    let bytes = text.as_bytes();
    let (mut open, mut frame, mut at) = (Vec::new(), Frame::default(), 0);
    while let Some(&byte) = bytes.get(at) {
        let value = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {
                at += 1;
                continue;
            }
            b'{' | b'[' => {
                at += 1;
                let inner = Frame { object: byte == b'{', ..Frame::default() };
                open.push(core::mem::replace(&mut frame, inner));
                continue;
            }
            b'}' | b']' => {
                at += 1;
                match open.pop() {
                    Some(outer) => core::mem::replace(&mut frame, outer).close(byte),
                    None => hash(6, ""),
                }
            }
            _ => {
                let rest = text.get(at..).unwrap_or_default();
                let end = skip(rest.as_bytes()).max(1);
                at += end;
                scalar(rest.get(..end).unwrap_or(rest))
            }
        };
        frame.add(value);
    }
    while let Some(outer) = open.pop() {
        let value = core::mem::replace(&mut frame, outer).close(0);
        frame.add(value);
    }
    frame.close(0)
}

fn scalar(token: &str) -> u64 {
    if let Some(rest) = token.strip_prefix('"') {
        return match rest.strip_suffix('"') {
            Some(inner) => hash(1, &unescape(inner)),
            None => hash(2, rest),
        };
    }
    if !token.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        return hash(3, token);
    }
    let value: Option<f64> = match token.contains(['.', 'e', 'E']) {
        true => token.parse().ok(),
        // A larger integer may have no equal among the numbers of that kind.
        false => token.parse::<i64>().ok().filter(|n| n.unsigned_abs() <= EXACT).map(|n| n as f64),
    };
    match value.filter(|value| value.is_finite()) {
        // Adding 0 makes 0 of -0.
        Some(value) => mix(4, (value + 0.0).to_bits()),
        None => hash(5, token),
    }
}

fn hash(kind: u8, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.write_u8(kind);
    hasher.finish()
}

const fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ b;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn texts_that_say_the_same_are_equal() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, " {\"b\" : [ true, null ],\n\"a\": 1}"),
            (r#"{"a":"caf\u00e9 \/\n"}"#, "{\"a\":\"café /\\u000a\"}"),
            (r#"{"\u0061":1.0,"b":-0}"#, r#"{"a":1,"b":0.0}"#),
            ("[1e2, 0.5]", "[100,5E-1]"),
            ("9007199254740993", " 9007199254740993"),
        ] {
            assert_eq!(meaning(one), meaning(other), "{one} {other}");
        }
    }

    #[test]
    fn texts_that_say_something_else_differ() {
        let texts = [
            "",
            "{}",
            "[]",
            "[[]]",
            "[[],[]]",
            "[{}]",
            "{",
            "}",
            "null",
            "\"null\"",
            "\"\"",
            "1",
            "\"1\"",
            "12",
            "[1,2]",
            "[2,1]",
            "[[1],2]",
            "[[1,2]]",
            "9007199254740993",
            "9007199254740992",
            "1e999",
            "2e999",
            r#"{"a":1}"#,
            r#"{"a":1"#,
            r#"{"a"}"#,
            r#"{"a":"b"}"#,
            r#"{"b":"a"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":2}}"#,
            r#"{"a":[{"b":2}]}"#,
            r#"{"a":"rm -rf /tmp"}"#,
            r#"{"a":"rm -rf / tmp"}"#,
            r#"{"a":"C:\\dir"}"#,
            r#"{"a":"C:\\dir\\sub"}"#,
            r#"{"a":"é"}"#,
            r#"{"a":"é"#,
            r#"{"a":"\"#,
        ];
        for (number, one) in texts.iter().enumerate() {
            for other in texts.iter().skip(number + 1) {
                assert_ne!(meaning(one), meaning(other), "{one} {other}");
            }
        }
    }
}
