//! The text after a document: prose, or the rest of a document that ended too early.

use crate::{
    RepairKind,
    lead::Line,
    signs::{Colour, is_word},
};

/// Classifies the text after a document, byte by byte from the first one that is not white space, a
/// closer or a semicolon.
///
/// Text after a document is dropped. It is [`RepairKind::TrailingProse`], which is likely to lose
/// nothing, or [`RepairKind::InlineProse`] if there are words on the document's line. It is
/// [`RepairKind::StrayText`], which is lossy, if it looks like the rest of the document:
///
/// * it begins with a quote and a separator, with a key and a colon, with a comma before a quote or
///   before a word and a colon, or with a quote that has no white space on either side;
/// * it contains a closer without an opening bracket;
/// * quotes in the document were in doubt, and it does not begin like a sentence, with a capital
///   letter or a letter outside ASCII;
/// * quotes in the document were in doubt, or it begins with a comma or with a quote directly after
///   the document, and it contains a quote and then a closer.
///
/// ```
/// use wiremend_core::{RepairKind, Tail};
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
    /// How many further bytes are considered.
    left: usize,
    doubtful: bool,
    touched: bool,
    first: Option<u8>,
    second: Option<u8>,
    key: Key,
    /// Whether it begins with a comma before a quote; or before a bracket, if closers come before that.
    listed: bool,
    /// Whether closers came before the first byte.
    stray: bool,
    /// Whether the last byte is in a sequence for a terminal.
    colour: Colour,
    /// Whether a quote was seen, and whether a closer was seen after it.
    quoted: bool,
    closed: bool,
    /// Whether an opening bracket was seen, and whether a closer was seen before one.
    opened: bool,
    unmatched: bool,
    /// What all of the text leaves open.
    rest: Remainder,
    /// The text on the line of the document, and whether that line has ended.
    line: Line,
    below: bool,
}

/// How much of a key in quotes was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// Nothing yet.
    Start,
    /// Inside of this quote.
    Inside(u8),
    /// In a word after a comma, which may be a key.
    Word,
    /// After the closing quote.
    After,
    /// The key and its colon.
    Colon,
    /// There is no key.
    None,
}

impl Tail {
    /// The state before the first byte. At most `lookahead` bytes are considered.
    #[must_use]
    pub const fn new(lookahead: usize) -> Self {
        Self {
            left: lookahead,
            doubtful: false,
            touched: false,
            first: None,
            second: None,
            key: Key::Start,
            listed: false,
            stray: false,
            colour: Colour::NONE,
            quoted: false,
            closed: false,
            opened: false,
            unmatched: false,
            rest: Remainder::NOTHING,
            line: Line::AFTER,
            below: false,
        }
    }

    /// The state after `text`, of which at most `lookahead` bytes are considered.
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

    /// Sets whether [quotes in the document](crate::Mender::has_unescaped_quotes) were in doubt.
    #[must_use]
    pub const fn in_doubt(mut self, doubtful: bool) -> Self {
        self.doubtful = doubtful;
        self
    }

    /// Notes that the first byte is a quote directly after the document.
    pub const fn touch(&mut self) {
        self.touched = true;
    }

    /// Notes that closers come before it.
    pub const fn closers(&mut self) {
        self.stray = true;
    }

    /// Notes that a fence was closed. What follows is on its line.
    pub const fn fence(&mut self) {
        (self.line, self.below) = (Line::AFTER, false);
    }

    /// Whether further bytes make no difference to what it is.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        self.left == 0 || self.belongs()
    }

    /// Reads one byte.
    pub const fn byte(&mut self, byte: u8) {
        if self.first.is_none() {
            self.rest.inline = !self.below;
        }
        if self.colour.read(byte) {
            return;
        }
        match (self.first, self.second) {
            (None, _) if byte.is_ascii_whitespace() => {
                self.below |= byte == b'\n';
                return;
            }
            (None, _) if matches!(byte, b';' | b'}' | b']' | b')') => {
                self.stray |= matches!(byte, b'}' | b']');
                return;
            }
            _ => self.rest.byte(byte),
        }
        match (self.first, self.second) {
            _ if self.left == 0 => return,
            (None, _) => self.first = Some(byte),
            (_, None) => self.second = Some(byte),
            _ => {}
        }
        self.left -= 1;
        self.below |= byte == b'\n';
        if !self.below {
            self.line.byte(byte);
        }
        let list = matches!(self.first, Some(b','));
        let item = matches!(byte, b'"' | b'\'')
            || (self.stray || self.doubtful) && matches!(byte, b'{' | b'[');
        self.listed |= list && matches!(self.key, Key::Start) && item;
        self.key = match (self.key, byte) {
            (Key::Start, b'"' | b'\'') => Key::Inside(byte),
            (Key::Start, b'`') if list => Key::Inside(byte),
            (Key::Start, b',' | b' ' | b'\t' | b'\r' | b'\n') if list => Key::Start,
            // Other quotes and letters are parts of words, and a diff has a mark before them.
            (Key::Start, b'+') if list => Key::Start,
            (Key::Start | Key::Word, _) if list && is_word(byte) => Key::Word,
            (Key::Word, b':' | b'=') => Key::Colon,
            (Key::Word, b' ' | b'\t') => Key::After,
            (Key::Inside(quote), _) if byte == quote => Key::After,
            (Key::Inside(quote), _) => Key::Inside(quote),
            (Key::After, b':') => Key::Colon,
            (Key::After, _) if byte.is_ascii_whitespace() => Key::After,
            (Key::Colon, _) => Key::Colon,
            _ => Key::None,
        };
        let closer = matches!(byte, b'}' | b']');
        self.closed |= self.quoted && closer;
        self.unmatched |= closer && !self.opened;
        self.opened |= matches!(byte, b'{' | b'[');
        self.quoted |= byte == b'"';
    }

    /// Whether it looks like the rest of the document, and does not hold the bracket that closes that:
    /// then the end is missing. All of the text must have been read.
    ///
    /// ```
    /// use wiremend_core::Tail;
    /// assert!(Tail::of(b", \"b\": [1, ", 64).lacks_end());
    /// assert!(!Tail::of(b", \"b\": [1]}", 64).lacks_end());
    /// assert!(!Tail::of(b"\nThat is [1", 64).lacks_end());
    /// ```
    #[must_use]
    pub const fn lacks_end(&self) -> bool {
        self.goes_on() && !self.rest.has_end()
    }

    /// Whether it is left open: a bracket in it is not closed, or, after a document of which more than
    /// quotes was `guessed`, it is on the document's line and ends in a word. Where the end of the
    /// document was in doubt, the text may have been cut off there. All of the text must have been read.
    ///
    /// ```
    /// use wiremend_core::Tail;
    /// assert!(Tail::of(b", {\"b\": [1, ", 64).leaves_open(false));
    /// assert!(Tail::of(b" and \"b", 64).leaves_open(true));
    /// assert!(!Tail::of(b"\nThat is it", 64).leaves_open(true));
    /// ```
    #[must_use]
    pub const fn leaves_open(&self, guessed: bool) -> bool {
        self.rest.is_open(guessed)
    }

    /// Reads text that counts only for [`lacks_end`](Self::lacks_end) and
    /// [`leaves_open`](Self::leaves_open): another document.
    pub fn pass(&mut self, text: &[u8]) {
        self.rest.pass(text);
    }

    /// The repair that drops this text.
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
        code || self.belongs()
    }

    /// Whether it has signs of a document.
    const fn belongs(&self) -> bool {
        let list = matches!(self.first, Some(b','));
        self.goes_on() || list && self.closed
    }

    /// Whether it has signs of the rest of the document, and not only of another one.
    pub(crate) const fn goes_on(&self) -> bool {
        let Some(first) = self.first else { return false };
        let string = match self.second {
            Some(b',' | b':' | b'}' | b']') => matches!(first, b'"' | b'\''),
            // An escaped backslash is in a string.
            Some(b'\\') if first == b'\\' => true,
            Some(second) => self.touched && !second.is_ascii_whitespace() && second != b'.',
            None => false,
        };
        let asks = self.doubtful || self.touched;
        let member = self.listed || matches!(self.key, Key::Colon);
        string || member || self.unmatched || asks && self.closed
    }
}

/// What text after a document leaves open. Brackets in strings do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remainder {
    /// How many brackets were closed, less those that were opened.
    closers: i32,
    quoted: Quoted,
    /// The last byte that is no white space.
    last: u8,
    /// Whether it begins on the document's line.
    inline: bool,
}

/// Where a byte is in a string, or what may be one: a quote where a value or a key begins opens it, and
/// one before a comma, a colon or a closer closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoted {
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
    /// After a quote that may have closed it.
    Closing,
    /// After the line on which it was open. A string that goes on below was more likely not closed.
    Below,
}

impl Remainder {
    pub(crate) const NOTHING: Self =
        Self { closers: 0, quoted: Quoted::Outside, last: 0, inline: false };

    /// At the beginning of a text, which may be on the document's line.
    pub(crate) const fn beginning(inline: bool) -> Self {
        Self { inline, ..Self::NOTHING }
    }

    const fn byte(&mut self, byte: u8) {
        self.quoted = match (self.quoted, byte) {
            (Quoted::Below, _) if byte.is_ascii_whitespace() => Quoted::Below,
            (Quoted::Outside | Quoted::Below, b'"')
                if matches!(self.last, b',' | b':' | b'[' | b'{') =>
            {
                Quoted::Inside
            }
            (Quoted::Inside | Quoted::Escaped, b'\n') => Quoted::Below,
            (Quoted::Closing, b'\n') | (Quoted::Below, _) => Quoted::Outside,
            (Quoted::Inside, b'\\') => Quoted::Escaped,
            (Quoted::Inside | Quoted::Closing, b'"') => Quoted::Closing,
            (Quoted::Closing, b',' | b':' | b'}' | b']') => Quoted::Outside,
            (Quoted::Closing, _) if byte.is_ascii_whitespace() => Quoted::Closing,
            (Quoted::Escaped | Quoted::Closing, _) => Quoted::Inside,
            (state, _) => state,
        };
        match (self.quoted, byte) {
            (Quoted::Outside, b'}' | b']') => self.closers = self.closers.saturating_add(1),
            (Quoted::Outside, b'{' | b'[') => self.closers = self.closers.saturating_sub(1),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.last = byte;
        }
    }

    pub(crate) fn pass(&mut self, text: &[u8]) {
        text.iter().for_each(|byte| self.byte(*byte));
    }

    /// Whether more brackets are closed in it than opened.
    pub(crate) const fn closes(self) -> bool {
        self.closers > 0
    }

    /// Whether it holds the bracket that closes the document, if it is the rest of that.
    pub(crate) const fn has_end(self) -> bool {
        self.closes() && !matches!(self.quoted, Quoted::Inside | Quoted::Escaped | Quoted::Below)
    }

    /// Whether the end of the text is missing after a document whose end was in doubt.
    pub(crate) const fn is_open(self, guessed: bool) -> bool {
        let word =
            self.last.is_ascii_alphanumeric() || matches!(self.last, b'"' | b',' | b':' | b'\\');
        self.closers < 0 || guessed && self.inline && word
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
    fn prose_and_the_rest_of_a_document_are_distinguished() {
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
            (",\n  \"b\": 2,\n", false, false, true),
            (", b and \"c\"", false, false, false),
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
    fn the_end_is_missing_unless_a_bracket_outside_of_strings_closes_it() {
        for (text, lacks) in [
            (", \"b\": 2", true),
            (", \"b\": 2}", false),
            ("}], \"b\": 2", true),
            ("}], \"b\": 2}", false),
            (", \"b\": \"see :]\", \"c\": 2", true),
            (", \"b\": \"see :[\", \"c\": 2}", false),
            (", \"b\": \"x\\\": }", true),
            (", \"b\": \"say \"hi\" [\", \"c\": 2}", false),
            (", \"b\": [1, \u{1b}[31m2\u{1b}[0m]}", false),
            (", \"b\": \"not closed,\n\"c\": 2}", false),
            ("\"}", false),
            ("\"},\"", true),
            ("\"},\"\n ", true),
        ] {
            let mut tail = Tail::of(text.as_bytes(), 64);
            tail.touch();
            assert_eq!(tail.lacks_end(), lacks, "{text}");
        }
    }

    #[test]
    fn only_the_look_ahead_counts() {
        let far = format!("So {} \"b\": 2}}", "x".repeat(64));
        assert!(!reads_on(&far, false, false));
        assert!(reads_on(&far[64..], false, false));
    }
}
