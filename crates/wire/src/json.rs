//! Access to the JSON of an envelope, without a tree.
//!
//! A payload is checked once. After that a [`Node`] is a span of its text, and a lookup skips what
//! precedes the match. Only strings with escapes are allocated, and numbers keep their spelling. This
//! module is all that the formats use to read JSON.

use core::{hash::Hasher as _, str};
use std::{borrow::Cow, hash::DefaultHasher};

use wiremend_core::lexer::{Escape, Fault, Lexer, decode_escape, join_surrogates, skip, unescape};

use crate::work;

/// One value of a checked payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    text: &'a str,
    /// Where it starts in the payload.
    at: usize,
}

/// Where something is in a payload, in bytes. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// The same span, `bytes` further on.
    pub(crate) const fn shifted(self, bytes: usize) -> Self {
        Self { start: self.start + bytes, end: self.end + bytes }
    }

    /// What is there.
    pub(crate) fn of(self, payload: &str) -> Option<&str> {
        payload.get(self.start..self.end)
    }
}

/// Envelopes are nested about ten levels deep. Text that is nested much deeper is not an envelope.
const MAX_DEPTH: usize = 512;

/// The first value in `text`, and what follows it, without white space around it.
pub(crate) fn first(text: &str) -> Result<(Node<'_>, &str), Fault> {
    first_from(text, 0)
}

/// Like [`first`], for what follows the byte at `at` of a payload.
pub(crate) fn first_from(payload: &str, at: usize) -> Result<(Node<'_>, &str), Fault> {
    let text = payload.get(at..).unwrap_or_default().trim_start_matches(is_space);
    let mut lexer = Lexer::new(text, MAX_DEPTH);
    let end = loop {
        match lexer.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(lexer.position()),
            Err(fault) => break Err(fault),
        }
    };
    work::count(1 + lexer.position());
    let (value, rest) = text.split_at_checked(end?).ok_or(Fault::Invalid)?;
    let node = Node { text: value, at: payload.len() - text.len() };
    Ok((node, rest.trim_start_matches(is_space)))
}

/// JSON white space.
pub(crate) const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

impl<'a> Node<'a> {
    /// The empty object.
    pub(crate) const EMPTY: Node<'static> = Node { text: "{}", at: 0 };

    /// The text of the value, as written in the payload.
    pub(crate) const fn raw(self) -> &'a str {
        self.text
    }

    /// Where it is in the payload.
    pub(crate) const fn span(self) -> Span {
        Span { start: self.at, end: self.at + self.text.len() }
    }

    /// Whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.text.starts_with('{')
    }

    /// Whether it is an array.
    pub(crate) fn is_array(self) -> bool {
        self.text.starts_with('[')
    }

    /// Whether it is null.
    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// Whether it is a string.
    pub(crate) fn is_string(self) -> bool {
        self.text.starts_with('"')
    }

    /// Whether it has no content: null, false, or an empty string, object or array.
    pub(crate) fn is_blank(self) -> bool {
        match self.text.strip_prefix(['{', '[']) {
            Some(inside) => inside.trim_start_matches(is_space).len() == 1,
            None => matches!(self.text, "null" | "false" | "\"\""),
        }
    }

    /// The decoded text of a string. `None` for any other value.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        work::count(inner.len());
        Some(unescape(inner))
    }

    /// The decoded text of a string, or the spelling of a number.
    pub(crate) fn scalar(self) -> Option<Cow<'a, str>> {
        match self.text.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Some(Cow::Borrowed(self.text)),
            _ => self.text(),
        }
    }

    /// The value of an integer that is written as one.
    pub(crate) fn integer(self) -> Option<i64> {
        self.text.parse().ok()
    }

    /// The members of an object, in order. Empty for any other value.
    pub(crate) fn fields(self) -> Fields<'a> {
        Fields { values: Values::of(self, self.is_object()) }
    }

    /// The items of an array, in order. Empty for any other value.
    pub(crate) fn items(self) -> Items<'a> {
        Items { values: Values::of(self, self.is_array()) }
    }

    /// Whether the object has a member of that name, whatever its value.
    pub(crate) fn has(self, name: &str) -> bool {
        self.fields().any(|(key, _)| key == name)
    }

    /// The members with those names, in one pass. Null counts as absent. The last of several duplicates wins.
    pub(crate) fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Node<'a>>; N] {
        let mut found = [None; N];
        for (key, value) in self.fields() {
            for (slot, name) in found.iter_mut().zip(names) {
                if key == name {
                    *slot = (value.text != "null").then_some(value);
                }
            }
        }
        found
    }

    /// The member with that name; see [`pick`](Self::pick).
    pub(crate) fn field(self, name: &str) -> Option<Node<'a>> {
        let [found] = self.pick([name]);
        found
    }
}

/// The members of an object.
pub(crate) struct Fields<'a> {
    values: Values<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.values.take()?.text()?;
        let value = self.values.take()?;
        Some((key, value))
    }
}

/// The items of an array.
pub(crate) struct Items<'a> {
    values: Values<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.values.take()
    }
}

/// The keys and values in a container.
struct Values<'a> {
    /// What follows the last one.
    rest: &'a str,
    /// Where that ends in the payload.
    end: usize,
}

impl<'a> Values<'a> {
    /// Those of a node; none if it is not such a container.
    fn of(node: Node<'a>, container: bool) -> Self {
        let inside = node.text.get(1..).filter(|_| container);
        Self { rest: inside.unwrap_or_default(), end: node.span().end }
    }

    /// Takes the next one. `None` at the closing bracket.
    fn take(&mut self) -> Option<Node<'a>> {
        let text = self.rest.trim_start_matches(|c| is_space(c) || matches!(c, ',' | ':'));
        let end = skip(text.as_bytes());
        work::count(1 + end);
        if end == 0 {
            return None;
        }
        let (value, after) = text.split_at_checked(end)?;
        self.rest = after;
        Some(Node { text: value, at: self.end - text.len() })
    }
}

/// Joins the texts of consecutive strings. If one ends with the first half of a pair, that half waits for
/// the second half at the start of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    high: Option<u32>,
}

/// Replaces a surrogate without its other half.
const LONE: char = char::REPLACEMENT_CHARACTER;

impl Halves {
    /// Whether a half is waiting.
    pub(crate) const fn is_waiting(self) -> bool {
        self.high.is_some()
    }

    /// The text that is certain. `literal` is the string as written in the payload, `text` its decoded
    /// text, with U+FFFD for every lone half.
    pub(crate) fn join<'a>(&mut self, literal: &str, text: &'a str) -> Cow<'a, str> {
        let waiting = self.high.take();
        self.high = high_at_end(literal);
        let low = waiting.and_then(|_| low_at_start(literal));
        let mut rest = text;
        if self.high.is_some() {
            rest = rest.strip_suffix(LONE).unwrap_or(rest);
        }
        let Some(high) = waiting else { return Cow::Borrowed(rest) };
        let head = match low {
            Some(low) => {
                rest = rest.strip_prefix(LONE).unwrap_or(rest);
                join_surrogates(high, low).unwrap_or(LONE)
            }
            None => LONE,
        };
        Cow::Owned(format!("{head}{rest}"))
    }

    /// The remaining text at the end.
    pub(crate) fn finish(&mut self) -> &'static str {
        if self.high.take().is_some() { "\u{fffd}" } else { "" }
    }
}

/// The first half of a pair, if a string ends with one.
fn high_at_end(literal: &str) -> Option<u32> {
    // The quote after it shows that the other half does not follow.
    let (before, escape) = literal.split_at_checked(literal.len().checked_sub(7)?)?;
    // After an odd number of backslashes, the one that seems to open the escape is itself escaped.
    let escaped = before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    match decode_escape(escape.as_bytes()) {
        Escape::Half(unit @ 0xd800..=0xdbff) if !escaped => Some(unit),
        _ => None,
    }
}

/// The second half of a pair, if a string starts with one.
fn low_at_start(literal: &str) -> Option<u32> {
    match decode_escape(literal.strip_prefix('"')?.as_bytes()) {
        Escape::Half(unit @ 0xdc00..) => Some(unit),
        _ => None,
    }
}

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

/// Encodes a text as a string, with only the escapes that JSON requires.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    out.push('"');
    escape(text, &mut out);
    out.push('"');
    out
}

/// Encodes the content of a string, with only the escapes that JSON requires.
pub(crate) fn escape(text: &str, out: &mut String) {
    work::count(text.len());
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let code = usize::from(c as u8);
                out.push_str("\\u00");
                out.extend([code >> 4, code & 15].map(|digit| char::from(HEX[digit])));
            }
            _ => out.push(c),
        }
    }
}

// Bytes as text.

/// Decodes bytes as text, with U+FFFD for invalid UTF-8. Validating the whole input first is several
/// times faster for valid text than a lossy conversion.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    work::count(bytes.len());
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node<'_> {
        first(text).unwrap().0
    }

    #[test]
    fn members_are_found_at_any_position() {
        let node =
            node(r#" {"a" : [1, {"b": "]}"}], "c":null , "n\u0061me": 1.10, "a": "\u00e9\n"} "#);
        let [a, c, name] = node.pick(["a", "c", "name"]);
        assert_eq!(a.unwrap().text().unwrap(), "é\n");
        assert!(c.is_none());
        assert!(node.has("c"));
        assert_eq!(name.unwrap().scalar().unwrap(), "1.10");
        assert_eq!(node.fields().count(), 4);
    }

    #[test]
    fn every_value_has_its_span() {
        fn check(node: Node<'_>, payload: &str) -> usize {
            assert_eq!(node.span().of(payload), Some(node.raw()));
            let fields = node.fields().map(|(_, value)| check(value, payload));
            let items = node.items().map(|item| check(item, payload));
            1 + fields.sum::<usize>() + items.sum::<usize>()
        }
        let payload = " {\"a\" : [1, {\"b\": \"é]}\"} ],\n\"c\": {}, \"d\": -1.5 } [true, [ ]]";
        let (first, rest) = first(payload).unwrap();
        assert_eq!(check(first, payload), 7);
        let (second, rest) = first_from(payload, payload.len() - rest.len()).unwrap();
        assert_eq!((check(second, payload), rest), (3, ""));
    }

    #[test]
    fn items_keep_their_spelling() {
        let raw: Vec<_> =
            node("[ 1e400 ,\"x\", {\"k\" : 1}, [], true]").items().map(Node::raw).collect();
        assert_eq!(raw, ["1e400", "\"x\"", "{\"k\" : 1}", "[]", "true"]);
        assert!(node("[]").is_blank() && node("{ }").is_blank() && !node("[0]").is_blank());
    }

    #[test]
    fn two_values_in_one_text() {
        let (one, rest) = first("{\"a\":1} \n{\"b\":2}").unwrap();
        assert_eq!((one.raw(), rest), ("{\"a\":1}", "{\"b\":2}"));
    }

    fn joined(literals: &[&str]) -> String {
        let mut halves = Halves::default();
        let mut out = String::new();
        for literal in literals {
            let text = first(literal).unwrap().0.text().unwrap();
            out.push_str(&halves.join(literal, &text));
        }
        out + halves.finish()
    }

    #[test]
    fn a_pair_is_joined_over_two_strings() {
        assert_eq!(joined(&[r#""a\ud83d""#, r#""\ude00b""#]), "a😀b");
        assert_eq!(joined(&[r#""\ud83d""#, r#""\ude00\ud83d""#, r#""\uDE00""#]), "😀😀");
        assert_eq!(joined(&[r#""\ud83d""#, r#""x""#]), "\u{fffd}x");
        assert_eq!(joined(&[r#""\ud83d""#, r#""\ud83d""#, r#""\ude00""#]), "\u{fffd}😀");
        assert_eq!(joined(&[r#""a\ud83d""#]), "a\u{fffd}");
        assert_eq!(joined(&[r#""\ude00a""#]), "\u{fffd}a");
    }

    #[test]
    fn what_only_looks_like_a_half_is_left_alone() {
        assert_eq!(joined(&[r#""\\ud83d""#, r#""\ude00""#]), "\\ud83d\u{fffd}");
        assert_eq!(joined(&[r#""a\\\ud83d""#, r#""\ude00""#]), "a\\😀");
        assert_eq!(joined(&[r#""\ud83d\ude00""#, r#""\ude00""#]), "😀\u{fffd}");
        assert_eq!(joined(&["\"\u{fffd}\"", "\"\u{fffd}\""]), "\u{fffd}\u{fffd}");
    }

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

    #[test]
    fn what_is_quoted_reads_as_the_same() {
        let text: String = (0..0x250_u32).filter_map(char::from_u32).chain(['😀']).collect();
        let quoted = quote(&text);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}
