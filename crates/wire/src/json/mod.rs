//! Access to the JSON of an envelope, without a tree.
//!
//! A payload is checked once. After that a [`Node`] is a span of its text, and a lookup skips what
//! precedes the match. Only strings with escapes are allocated, and numbers keep their spelling. This
//! module is all that the formats use to read JSON.

mod halves;
mod meaning;
mod string;

use std::borrow::Cow;

use wiremend_core::lexer::{Fault, Lexer, skip, unescape};

use crate::work;

pub(crate) use halves::Halves;
pub(crate) use meaning::meaning;
pub(crate) use string::{escape, quote};

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
}
