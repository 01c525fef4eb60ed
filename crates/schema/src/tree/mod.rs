//! A parsed JSON text in which every value knows its bytes.
//!
//! It is a tree of borrowed nodes. Strings and numbers are decoded on demand, and the spelling of numbers, the order
//! of keys and duplicate keys are preserved.

mod json;

use std::{borrow::Cow, error::Error, fmt, ops::Range};

pub(crate) use json::{Instance, TreeJson, equals, is_unique, value};
pub(crate) use wiremend_core::JsonType;
use wiremend_core::{
    Limits,
    lexer::{Fault, Lexer, Token, unescape},
};

/// The deepest nesting that a [`Tree`] supports, in levels.
pub const MAX_DEPTH: usize = 127;

/// A JSON text, parsed into nodes with byte ranges.
///
/// ```
/// use wiremend_core::JsonType;
/// use wiremend_schema::Tree;
///
/// let tree = Tree::read(r#"{"price": 1.10, "tags": ["a", "b"]}"#)?;
/// let price = tree.root().member("price").unwrap();
/// assert_eq!((price.kind(), price.raw()), (JsonType::Number, "1.10"));
/// assert_eq!(price.span(), 10..14);
/// let tags = tree.at("/tags/1").unwrap();
/// assert_eq!(tags.as_str().as_deref(), Some("b"));
/// # Ok::<(), wiremend_schema::TreeError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Entry>,
    deepest: usize,
    surrogates: bool,
    loose: bool,
}

/// One node. Offsets are 32 bits, so longer texts are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: JsonType,
    /// Whether the value is a string with escapes.
    escaped: bool,
    /// Whether the key has escapes.
    key_escaped: bool,
    start: u32,
    end: u32,
    /// The bytes of the key, with its quotes; empty for a value that is not a member.
    key: (u32, u32),
    /// The index after the last node inside this one.
    next: u32,
    /// The index of the container; its own for the root.
    parent: u32,
    /// How many members or items it holds.
    len: u32,
}

impl<'t> Tree<'t> {
    /// Parses a JSON text (RFC 8259), which may be surrounded by white space.
    ///
    /// # Errors
    /// If the text is not JSON, is nested deeper than [`MAX_DEPTH`], or is longer than 4 GiB.
    pub fn read(text: &'t str) -> Result<Self, TreeError> {
        let Read { nodes, deepest, surrogates, loose } = read(text)?;
        Ok(Self { text, nodes, deepest, surrogates, loose })
    }

    /// Whether mending within these limits would leave the text as it is: nothing is too deep, and
    /// no escape of a surrogate can lack its other half.
    pub(crate) fn needs_no_mending(&self, limits: Limits) -> bool {
        self.is_within(limits) && !self.surrogates
    }

    /// Whether no value is too deep for these limits.
    pub(crate) fn is_within(&self, limits: Limits) -> bool {
        self.deepest <= limits.depth()
    }

    /// The text that the tree was parsed from.
    #[must_use]
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// The root.
    #[must_use]
    pub const fn root(&self) -> Node<'_> {
        Node { tree: self, index: 0 }
    }

    /// The node with that index, if there is one.
    pub(crate) fn node(&self, index: u32) -> Option<Node<'_>> {
        ((index as usize) < self.nodes.len()).then_some(Node { tree: self, index })
    }

    /// The whole numbers that are not plain digits (`3.0`, `1e3`, `-0`), in document order.
    pub(crate) fn loose_integers(&self) -> impl Iterator<Item = Node<'_>> {
        let nodes = if self.loose { self.nodes.as_slice() } else { &[] };
        let numbers = nodes.iter().zip(0..).filter(|(entry, _)| entry.kind == JsonType::Number);
        let nodes = numbers.map(|(_, index)| Node { tree: self, index });
        nodes.filter(|node| {
            let raw = node.raw();
            (raw.contains(['.', 'e', 'E']) || raw == "-0") && is_integer(raw)
        })
    }

    /// The number of nodes, which is at least one.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node at a JSON Pointer (RFC 6901). If a key is repeated, its last member counts.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<Node<'_>> {
        let mut node = self.root();
        if pointer.is_empty() {
            return Some(node);
        }
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node.kind() {
                JsonType::Object => node.member(&step)?,
                JsonType::Array => node.children().nth(step.parse().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

impl fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").field("text", &self.text).field("nodes", &self.nodes.len()).finish()
    }
}

/// A node of a [`Tree`]: a value and its location. It is cheap to copy.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree<'t>,
    index: u32,
}

impl<'t> Node<'t> {
    #[inline]
    fn entry(&self) -> &'t Entry {
        // An index always comes from the tree itself.
        &self.tree.nodes[self.index as usize]
    }

    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> JsonType {
        self.entry().kind
    }

    /// The byte range of the value in the text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        let entry = self.entry();
        entry.start as usize..entry.end as usize
    }

    /// The value as it is written.
    #[must_use]
    pub fn raw(&self) -> &'t str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// The byte range of the key with its quotes, if the value is a member.
    #[must_use]
    pub fn key_span(&self) -> Option<Range<usize>> {
        let (start, end) = self.entry().key;
        (start < end).then_some(start as usize..end as usize)
    }

    /// The decoded key, if the value is a member.
    #[must_use]
    pub fn key(&self) -> Option<Cow<'t, str>> {
        let Entry { key: (start, end), key_escaped, .. } = *self.entry();
        (start < end).then(|| self.content(start, end, key_escaped))
    }

    /// The bytes of the key, unless it has escapes or there is none.
    #[inline]
    pub(crate) fn plain_key(&self) -> Option<&'t [u8]> {
        let Entry { key: (start, end), key_escaped, .. } = *self.entry();
        let inside = start as usize + 1..(end as usize).max(1) - 1;
        self.tree.text.as_bytes().get(inside).filter(|_| !key_escaped && start < end)
    }

    /// The decoded string, if the value is one.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'t, str>> {
        let Entry { kind, start, end, escaped, .. } = *self.entry();
        (kind == JsonType::String).then(|| self.content(start, end, escaped))
    }

    /// The text between the quote at `start` and the one before `end`.
    #[inline]
    fn content(&self, start: u32, end: u32, escaped: bool) -> Cow<'t, str> {
        let inside = start as usize + 1..end as usize - 1;
        let content = self.tree.text.get(inside).unwrap_or_default();
        if escaped { unescape(content) } else { Cow::Borrowed(content) }
    }

    /// The boolean, if the value is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == JsonType::Boolean).then(|| self.raw() == "true")
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether the value is a number without a fractional part, however it is written (`1.0`,
    /// `1e3`).
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.kind() == JsonType::Number && is_integer(self.raw())
    }

    /// The number of members or items; 0 for a scalar.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.entry().len as usize
    }

    /// Whether the value is an object or an array.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.kind().is_container()
    }

    /// The members or items, in order.
    #[must_use]
    pub fn children(&self) -> Children<'t> {
        let entry = self.entry();
        Children { tree: self.tree, at: self.index + 1, end: entry.next }
    }

    /// The members or items, starting from the one with index `from` if it is given.
    pub(crate) fn children_from(&self, from: Option<u32>) -> Children<'t> {
        let all = self.children();
        Children { at: from.unwrap_or(all.at), ..all }
    }

    /// The member with that key; the last one, if there are several.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Node<'t>> {
        if self.kind() != JsonType::Object {
            return None;
        }
        self.children().filter(|member| member.has_key(key)).last()
    }

    /// The parent; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Node<'t>> {
        (self.index != 0).then(|| Node { tree: self.tree, index: self.entry().parent })
    }

    pub(crate) fn has_key(&self, key: &str) -> bool {
        match self.plain_key() {
            Some(own) => own == key.as_bytes(),
            None => self.key().is_some_and(|own| own == key),
        }
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    pub(crate) const fn tree(&self) -> &'t Tree<'t> {
        self.tree
    }

    /// The JSON Pointer (RFC 6901) from the root.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut node = *self;
        while let Some(parent) = node.parent() {
            steps.push(match node.key() {
                Some(key) => key.replace('~', "~0").replace('/', "~1"),
                None => parent
                    .children()
                    .position(|item| item.index == node.index)
                    .unwrap_or_default()
                    .to_string(),
            });
            node = parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} at {:?})", self.kind(), self.span())
    }
}

/// The members or items of a node.
#[derive(Clone, Debug)]
pub struct Children<'t> {
    tree: &'t Tree<'t>,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node { tree: self.tree, index: self.at };
        self.at = node.entry().next;
        Some(node)
    }
}

/// The most nodes that memory is reserved for in advance.
const MOST_RESERVED: usize = 1024;

/// Why a text could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeError {
    /// The text is not JSON from this byte on.
    #[non_exhaustive]
    NotJson {
        /// An offset into the text, in bytes.
        at: usize,
    },
    /// The text is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// The text is longer than 4 GiB.
    TooLong,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { at } => write!(f, "not JSON at byte {at}"),
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::TooLong => f.write_str("longer than 4 GiB"),
        }
    }
}

impl Error for TreeError {}

/// The result of parsing.
struct Read {
    nodes: Vec<Entry>,
    /// The most containers that were open at the same time.
    deepest: usize,
    /// Whether a string or key has an escaped surrogate, paired or not.
    surrogates: bool,
    /// Whether a number has a fraction, an exponent or a sign before a zero.
    loose: bool,
}

fn read(text: &str) -> Result<Read, TreeError> {
    if u32::try_from(text.len()).is_err() {
        return Err(TreeError::TooLong);
    }
    // The number of nodes is only estimated, with an upper bound.
    let nodes = Vec::with_capacity((text.len() / 16 + 1).min(MOST_RESERVED));
    let mut reader = Reader { nodes, inner: None, outer: Vec::new() };
    let mut lexer = Lexer::new(text, MAX_DEPTH);
    let (mut key, mut deepest) = (Key::default(), 0);
    loop {
        let token = match lexer.next_token() {
            Ok(Some(token)) => token,
            Ok(None) if lexer.is_at_end() => break,
            Err(Fault::TooDeep) => return Err(TreeError::TooDeep),
            _ => return Err(TreeError::NotJson { at: lexer.position() }),
        };
        let (start, end) = (offset(lexer.start()), offset(lexer.end()));
        match token {
            Token::Key => key = Key { start, end, escaped: lexer.is_escaped() },
            Token::Scalar(kind) => {
                let escaped = kind == JsonType::String && lexer.is_escaped();
                reader.push(kind, start..end, escaped, std::mem::take(&mut key));
            }
            Token::Begin(kind) => {
                deepest = deepest.max(lexer.depth());
                reader.open(kind, start, std::mem::take(&mut key));
            }
            Token::End => reader.close(end),
        }
    }
    let (surrogates, loose) = (lexer.has_surrogates(), lexer.has_loose_numbers());
    Ok(Read { nodes: reader.nodes, deepest, surrogates, loose })
}

#[allow(clippy::cast_possible_truncation, reason = "the length of the text was checked")]
const fn offset(at: usize) -> u32 {
    at as u32
}

/// The bytes of a member's key, with its quotes.
#[derive(Clone, Copy, Default)]
struct Key {
    start: u32,
    end: u32,
    escaped: bool,
}

/// An open container.
#[derive(Clone, Copy)]
struct Open {
    index: u32,
    /// How many members or items it has so far.
    len: u32,
}

struct Reader {
    nodes: Vec<Entry>,
    /// The innermost open container.
    inner: Option<Open>,
    /// The containers around it, innermost last.
    outer: Vec<Open>,
}

impl Reader {
    /// Adds a node for a value that has ended or is open, and returns its index.
    #[inline]
    fn push(&mut self, kind: JsonType, span: Range<u32>, escaped: bool, key: Key) -> u32 {
        // There are fewer nodes than bytes.
        let index = offset(self.nodes.len());
        let parent = match &mut self.inner {
            Some(open) => {
                open.len += 1;
                open.index
            }
            None => index,
        };
        self.nodes.push(Entry {
            kind,
            escaped,
            key_escaped: key.escaped,
            start: span.start,
            end: span.end,
            key: (key.start, key.end),
            next: index + 1,
            parent,
            len: 0,
        });
        index
    }

    fn open(&mut self, kind: JsonType, start: u32, key: Key) {
        let index = self.push(kind, start..start, false, key);
        self.outer.extend(self.inner.replace(Open { index, len: 0 }));
    }

    fn close(&mut self, end: u32) {
        let next = offset(self.nodes.len());
        let open = std::mem::replace(&mut self.inner, self.outer.pop());
        let Some(Open { index, len }) = open else { return };
        if let Some(entry) = self.nodes.get_mut(index as usize) {
            entry.end = end;
            entry.next = next;
            entry.len = len;
        }
    }
}

/// The most zeros that an exponent may expand to. No integer type of a common language can
/// represent a number with more.
const MOST_ZEROS: usize = 64;

/// Encodes a text as a JSON string, with quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match escaped(c) {
            Some(escape) => out.push_str(&escape),
            None => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The escape for a character that a JSON string cannot contain as it is.
pub(crate) fn escaped(c: char) -> Option<Cow<'static, str>> {
    Some(match c {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)).into(),
        _ => return None,
    })
}

/// Whether a JSON number has no fractional part. The text is examined, so that large and precise
/// numbers are not rounded.
pub(crate) fn is_integer(number: &str) -> bool {
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (number, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.trim_matches(['-', '0']).is_empty() && fraction.is_empty() {
        return true;
    }
    // If the exponent is too large to parse, only its sign matters.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    });
    let digits = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    if exponent >= 0 || !fraction.is_empty() {
        return digits(fraction) <= exponent;
    }
    // In `1200e-2`, the exponent may only remove zeros.
    digits(whole) - digits(whole.trim_end_matches('0')) >= exponent.saturating_neg()
}

/// The digits of a whole number that is written with a fraction, an exponent or as `-0`: `3.0`
/// becomes `3`, and `12e2` becomes `1200`. `None` for a number that is not whole, consists of
/// digits already, or would get more than [`MOST_ZEROS`] zeros.
pub(crate) fn plain_integer(number: &str) -> Option<String> {
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    if !rest.contains(['.', 'e', 'E']) {
        return (number == "-0").then(|| "0".to_owned());
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut digits = [whole, fraction].concat().trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // The number consists of the digits, with this many zeros added or removed.
    let zeros = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    match usize::try_from(zeros) {
        Ok(zeros) if zeros <= MOST_ZEROS => digits.extend(std::iter::repeat_n('0', zeros)),
        Ok(_) => return None,
        Err(_) => {
            let ending = digits.len() - digits.trim_end_matches('0').len();
            let taken =
                usize::try_from(zeros.unsigned_abs()).ok().filter(|taken| *taken <= ending)?;
            digits.truncate(digits.len() - taken);
        }
    }
    Some(format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_spans_and_paths() {
        let text = " {\"a\": [1, {\"b/c\": null}], \"a\": \"\\u00e9\"} ";
        let tree = Tree::read(text).unwrap();
        let root = tree.root();
        assert_eq!((root.kind(), root.len()), (JsonType::Object, 2));
        assert_eq!(root.member("a").unwrap().as_str().unwrap(), "é", "the last one counts");
        let first = root.children().next().unwrap();
        let null = first.children().nth(1).unwrap().member("b/c").unwrap();
        assert_eq!(null.pointer(), "/a/1/b~1c");
        assert_eq!(null.raw(), "null");
        assert_eq!(null.parent().unwrap().raw(), "{\"b/c\": null}");
        assert_eq!(first.children().next().unwrap().raw(), "1");
        assert_eq!(&text[first.key_span().unwrap()], "\"a\"");
    }

    #[test]
    fn pointers_lead_to_nodes() {
        let tree = Tree::read(r#"{"a~b": [[], {"": 7}]}"#).unwrap();
        assert_eq!(tree.at("/a~0b/1/").unwrap().raw(), "7");
        assert_eq!(tree.at("").unwrap().len(), 1);
        assert!(tree.at("/a~0b/2").is_none());
        assert!(tree.at("a").is_none());
    }

    #[test]
    fn keys_with_escapes_are_found() {
        let tree = Tree::read(r#"{"\u0061": 1, "a\"b": 2}"#).unwrap();
        assert_eq!(tree.root().member("a").unwrap().raw(), "1");
        assert_eq!(tree.root().member("a\"b").unwrap().raw(), "2");
        assert!(tree.root().member("\\u0061").is_none());
    }

    #[test]
    fn valid_json_is_read_and_anything_else_is_refused() {
        for text in [
            "null",
            " [ ] ",
            "{}",
            "[1,2.5,-0,1e400,1E-2]",
            r#"{"a":{"b":[true,false]}}"#,
            r#""a\u00e9\n""#,
            "[[[]],{}]",
        ] {
            assert!(read(text).is_ok(), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            " ",
            "[",
            "[1",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "tru",
            "nulll",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1}",
            "{]",
            "1 2",
            "[1 2]",
            "]",
            "}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)).err(), Some(TreeError::TooDeep));
        assert_eq!(read(&"[".repeat(1 << 20)).err(), Some(TreeError::TooDeep));
    }

    #[test]
    fn strings_are_written() {
        for text in ["", "a", "é\u{1F600}", "\"\\/\n\r\t\u{8}\u{c}\u{0}\u{7f}"] {
            assert_eq!(serde_json::from_str::<String>(&quoted(text)).unwrap(), text);
        }
    }

    #[test]
    fn integers_are_recognised_by_their_digits() {
        for number in [
            "0", "-0", "0.0", "1", "-12", "1.0", "1.50e1", "1e3", "1200e-2", "1e400", "0e-9",
            "0.10e1",
        ] {
            assert!(is_integer(number), "{number}");
        }
        for number in ["0.5", "1.5", "15e-1", "1.25e1", "1e-1", "-1.0000000000000000000001"] {
            assert!(!is_integer(number), "{number}");
        }
        assert!(is_integer("123456789012345678901234567890"));
        assert!(is_integer("1e99999999999999999999"));
        assert!(!is_integer("1e-99999999999999999999"));
    }

    #[test]
    fn whole_numbers_are_written_as_plain_digits() {
        for (number, digits) in [
            ("3.0", "3"),
            ("-3.000", "-3"),
            ("3e0", "3"),
            ("300e-2", "3"),
            ("300.00E-2", "3"),
            ("1.50e1", "15"),
            ("12e+2", "1200"),
            ("0.10e1", "1"),
            ("0.001e3", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e999999999999999999999", "0"),
            ("9007199254740993.0", "9007199254740993"),
            ("123456789012345678901234567890.0", "123456789012345678901234567890"),
        ] {
            assert_eq!(plain_integer(number).as_deref(), Some(digits), "{number}");
        }
        assert_eq!(plain_integer("1e64").map(|digits| digits.len()), Some(65));
        for number in [
            "3",
            "-3",
            "0",
            "3.5",
            "35e-1",
            "1e-1",
            "1.25e1",
            "1e65",
            "1e999999999",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "1e-9223372036854775808",
            "0.5",
        ] {
            assert_eq!(plain_integer(number), None, "{number}");
        }
    }
}
