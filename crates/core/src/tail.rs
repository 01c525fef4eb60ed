//! What is after a document: text, or the rest of a document that ended too early.

use crate::{RepairKind, beside::Line};

/// What is after a document, decided byte by byte from the first one that is no white space, no
/// closer and no semicolon.
///
/// Text after a document is dropped as [`RepairKind::TrailingProse`], which is likely to lose
/// nothing. Where it reads as the rest of the document it is [`RepairKind::StrayText`], which is
/// lossy: where it begins with a quote and a separator, with a key and a colon, or with a quote that
/// touches the document and what follows it; where it holds a closer that nothing opened; and
/// where quotes in the document were in doubt, also where it begins like no sentence, with no capital
/// and no letter of another script. After such quotes, a comma, or a quote that touches the document,
/// a quote and a closer tell as well.
///
/// ```
/// use jsonmend_core::{RepairKind, Tail};
/// let kind_of = |text: &str| {
///     let mut tail = Tail::new(64);
///     text.bytes().for_each(|byte| tail.byte(byte));
///     tail.kind()
/// };
/// assert_eq!(kind_of("\nThat is the \"answer\"."), RepairKind::TrailingProse);
/// assert_eq!(kind_of("\n  \"b\": 2\n}"), RepairKind::StrayText);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// How many bytes are still looked at.
    left: usize,
    doubtful: bool,
    touched: bool,
    first: Option<u8>,
    second: Option<u8>,
    key: Key,
    /// Whether a quote was seen, and after one a closer.
    quoted: bool,
    closed: bool,
    /// Whether a bracket opened, and before one a closer.
    opened: bool,
    unmatched: bool,
    /// What is on the line of the document, and whether that line has ended.
    line: Line,
    below: bool,
}

/// How much of a key in quotes was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// Nothing, yet.
    Start,
    /// After that quote.
    Inside(u8),
    Behind,
    /// All of it, and its colon.
    Colon,
    /// There is none.
    None,
}

impl Tail {
    /// Nothing was read yet; `lookahead` bytes decide.
    #[must_use]
    pub const fn new(lookahead: usize) -> Self {
        Self {
            left: lookahead,
            doubtful: false,
            touched: false,
            first: None,
            second: None,
            key: Key::Start,
            quoted: false,
            closed: false,
            opened: false,
            unmatched: false,
            line: Line::BEHIND,
            below: false,
        }
    }

    /// All of that text was read, as far as the `lookahead` goes.
    #[must_use]
    pub const fn of(text: &[u8], lookahead: usize) -> Self {
        let mut tail = Self::new(lookahead);
        let mut rest = text;
        while let [byte, left @ ..] = rest {
            tail.byte(*byte);
            rest = left;
        }
        tail
    }

    /// The same, where [quotes in the document](crate::Mender::has_unescaped_quotes) were in doubt.
    #[must_use]
    pub const fn in_doubt(mut self, doubtful: bool) -> Self {
        self.doubtful = doubtful;
        self
    }

    /// The first byte, a quote, is directly after the document.
    pub const fn touch(&mut self) {
        self.touched = true;
    }

    /// A fence was closed: what comes next is on its line.
    pub const fn fence(&mut self) {
        (self.line, self.below) = (Line::BEHIND, false);
    }

    /// Whether further bytes change nothing.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        self.left == 0 || self.reads_on()
    }

    /// Reads a byte.
    pub const fn byte(&mut self, byte: u8) {
        match (self.first, self.second) {
            _ if self.left == 0 => return,
            (None, _) if byte.is_ascii_whitespace() => {
                self.below |= byte == b'\n';
                return;
            }
            (None, _) if matches!(byte, b';' | b'}' | b']' | b')') => return,
            (None, _) => self.first = Some(byte),
            (_, None) => self.second = Some(byte),
            _ => {}
        }
        self.left -= 1;
        self.below |= byte == b'\n';
        if !self.below {
            self.line.byte(byte);
        }
        self.key = match (self.key, byte) {
            (Key::Start, b'"' | b'\'') => Key::Inside(byte),
            (Key::Inside(quote), _) if byte == quote => Key::Behind,
            (Key::Inside(quote), _) => Key::Inside(quote),
            (Key::Behind, b':') => Key::Colon,
            (Key::Behind, _) if byte.is_ascii_whitespace() => Key::Behind,
            (Key::Colon, _) => Key::Colon,
            _ => Key::None,
        };
        let closer = matches!(byte, b'}' | b']');
        self.closed |= self.quoted && closer;
        self.unmatched |= closer && !self.opened;
        self.opened |= matches!(byte, b'{' | b'[');
        self.quoted |= byte == b'"';
    }

    /// The repair that drops it.
    #[must_use]
    pub const fn kind(&self) -> RepairKind {
        if self.reads_on() {
            RepairKind::StrayText
        } else if self.line.has_words() {
            RepairKind::InlineProse
        } else {
            RepairKind::TrailingProse
        }
    }

    const fn reads_on(&self) -> bool {
        let Some(first) = self.first else { return false };
        let code = self.doubtful && !first.is_ascii_uppercase() && first < 0x80;
        let string = match self.second {
            Some(b',' | b':' | b'}' | b']') => matches!(first, b'"' | b'\''),
            Some(second) => self.touched && !second.is_ascii_whitespace() && second != b'.',
            None => false,
        };
        let asks = self.doubtful || self.touched || first == b',';
        code || string || matches!(self.key, Key::Colon) || self.unmatched || asks && self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn reads_on(text: &str, doubtful: bool, touched: bool) -> bool {
        let mut tail = Tail::new(64).in_doubt(doubtful);
        if touched {
            tail.touch();
        }
        text.bytes().for_each(|byte| tail.byte(byte));
        tail.reads_on()
    }

    #[test]
    fn text_is_told_from_the_rest_of_a_document() {
        for (text, doubtful, touched, rest) in [
            ("That is it.", false, false, false),
            ("That is {it}, see [1].", true, false, false),
            ("and \"that\" is it", false, false, false),
            ("and that is it", true, false, true),
            ("这样就可以了", true, false, false),
            ("Use \"x\" {", true, false, false),
            ("Use \"x\" ]", false, false, true),
            ("\"b\" : 2", false, false, true),
            ("\"b\" is 2", false, false, false),
            ("\", \"b\"", false, false, true),
            ("\" he said", false, true, false),
            ("\"he said", false, true, true),
            (", \"b\" {}", false, false, true),
            ("; b: 2}", false, false, true),
            (";", true, false, false),
            (" });\n", true, false, false),
            ("'b': 2", false, false, true),
            ("” Done.", false, false, false),
            ("", true, true, false),
        ] {
            assert_eq!(reads_on(text, doubtful, touched), rest, "{text}");
        }
    }

    #[test]
    fn only_the_look_ahead_counts() {
        let far = format!("So {} \"b\": 2}}", "x".repeat(64));
        assert!(!reads_on(&far, false, false));
        assert!(reads_on(&far[64..], false, false));
    }
}
