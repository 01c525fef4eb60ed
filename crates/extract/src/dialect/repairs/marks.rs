//! The quotation marks and escapes in a string, which show what a repair may have got wrong.

use wiremend_core::RepairKind;

/// What was read of a string of mended JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    in_string: bool,
    escaped: bool,
    /// The last character of the content, or 0 before the first.
    last: u8,
    /// The character before a quotation mark that was just read.
    before: Option<u8>,
    /// Whether the last quotation mark opens a quotation that is not closed.
    open: bool,
    /// Whether a repair says how a quotation mark is meant.
    repaired: bool,
    /// Whether there is an escape of which the letter may be meant, because nobody types its character.
    rare: bool,
}

impl Marks {
    /// Notes a repair, before what is emitted after it. Returns whether it is a doubtful one.
    pub(super) fn note(&mut self, kind: RepairKind) -> bool {
        match kind {
            RepairKind::UnescapedQuote => self.repaired = true,
            RepairKind::UnterminatedString => {
                self.repaired = true;
                // A backslash that ends a path has made the quote after it one of the content. Inches have
                // such a quote, too.
                return !self.open && self.before.is_some_and(|before| !before.is_ascii_digit());
            }
            // The string was written without escapes.
            RepairKind::BadEscape => return self.rare,
            _ => {}
        }
        false
    }

    /// Reads mended JSON. Returns whether a string ends with a quotation that is not closed, although
    /// quotation marks in it were repaired.
    pub(super) fn read(&mut self, bytes: &[u8]) -> bool {
        let mut doubtful = false;
        for &byte in bytes {
            if !self.in_string {
                if byte == b'"' {
                    *self = Self { in_string: true, ..Self::default() };
                }
            } else if self.escaped {
                self.escaped = false;
                self.rare |= matches!(byte, b'b' | b'f' | b'/');
                let blank = matches!(byte, b'n' | b'r' | b't');
                self.follows(if blank { b' ' } else { byte });
                if byte == b'"' {
                    self.before = Some(self.last);
                }
                self.last = if blank { b' ' } else { byte };
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.follows(b' ');
                doubtful |= self.open && self.repaired;
                self.in_string = false;
            } else {
                self.follows(byte);
                self.last = byte;
            }
        }
        doubtful
    }

    /// Reads a part of a string without escapes.
    pub(super) fn read_plain(&mut self, text: &[u8]) {
        if let [first, .., last] | [first @ last] = text {
            self.follows(*first);
            self.last = *last;
        }
    }

    /// A character comes after the last quotation mark.
    fn follows(&mut self, next: u8) {
        if let Some(before) = self.before.take() {
            let begins = matches!(before, 0 | b'(' | b'[' | b'{' | b'=' | b':' | b',')
                || before.is_ascii_whitespace();
            let ends = matches!(next, b',' | b'.' | b';' | b':' | b')' | b']' | b'}')
                || next.is_ascii_whitespace();
            self.open = begins && !ends;
        }
    }
}
