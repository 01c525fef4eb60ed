//! Objects, lists and quotations in a string whose quotes were not escaped.
//!
//! In `"x = {"a": "b", "c": 1};"` a member seems to follow `"b"`. The brace before the first quote
//! tells that it belongs to the text: until it closes, no quote ends the string. In `"say "a", "b""`
//! the quote that touches `a` begins a quotation, and the next one ends it.

/// What the open string holds. It is kept byte for byte, since a stream cannot look back.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Inner {
    /// The last byte that is no white space.
    last: u8,
    /// Whether that byte is alone behind an inner quote, as the brace in `"{"` is.
    alone: bool,
    /// How many brackets are open, from the one on that a quote followed.
    open: u32,
    /// Whether there was one.
    any: bool,
    /// Whether an odd number of quotes followed it: a string of the text is open.
    quoted: bool,
    /// Whether a quotation is open, which a quote began that touches what follows it.
    quoting: bool,
    /// A bracket at the start of a string of the text, until it shows whether it is all of it.
    held: Option<u8>,
}

impl Inner {
    /// Whether an object or a list of the text is open.
    pub(in crate::engine) const fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Whether all that were opened are closed.
    pub(in crate::engine) const fn is_closed(&self) -> bool {
        self.any && self.open == 0
    }

    /// Whether the next quote ends a quotation in the string.
    pub(in crate::engine) const fn is_quoting(&self) -> bool {
        self.quoting || self.alone && matches!(self.last, b'{' | b'[' | b'}' | b']')
    }

    /// Content without escapes.
    pub(in crate::engine) fn content(&mut self, run: &[u8]) {
        let mut run = run;
        while self.open > 0
            && let [byte, rest @ ..] = run
        {
            self.byte(*byte);
            run = rest;
        }
        let mut solid = run.iter().rev().filter(|byte| !byte.is_ascii_whitespace());
        if let Some(&last) = solid.next() {
            self.alone = self.last == b'"' && solid.next().is_none();
            self.last = last;
        }
    }

    /// Content that ends with `last`, which is no white space, in a string without inner quotes.
    #[inline(always)]
    pub(in crate::engine) const fn ends_with(&mut self, last: u8) {
        self.last = last;
    }

    /// Valid content that ends with an escape, in a string without inner quotes.
    pub(in crate::engine) fn ends_escaped(&mut self, content: &[u8]) {
        let mut rest = content;
        loop {
            rest = match rest {
                [] => return,
                [before @ .., b' '] => before,
                [before @ .., b'\\', b'n' | b'r' | b't'] if ends_whole(before) => before,
                // Of an escape it matters only that it is no bracket.
                [.., last] => return self.ends_with(if *last == b'"' { b'\\' } else { *last }),
            };
        }
    }

    /// A backslash and that byte.
    #[inline]
    pub(in crate::engine) fn escape(&mut self, byte: u8) {
        match byte {
            // Those are white space.
            b'n' | b'r' | b't' => {}
            _ if self.open > 0 => self.byte(b'\\'),
            _ => (self.last, self.alone) = (b'\\', false),
        }
    }

    /// A quote that is part of the string, and the byte behind it.
    pub(in crate::engine) fn quote(&mut self, next: Option<u8>) {
        // Behind a quote that opens nothing, such as that of `5" tall`, stands what ends a word.
        let opens = next.is_some_and(|byte| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b',' | b'.' | b';' | b':' | b'!' | b'?' | b')' | b']' | b'}')
        });
        self.quoting = !self.is_quoting() && opens;
        // A bracket between two quotes is text.
        self.held = None;
        if self.open == 0 && matches!(self.last, b'{' | b'[') && !self.alone {
            (self.open, self.any, self.quoted) = (1, true, false);
        }
        self.quoted = !self.quoted;
        (self.last, self.alone) = (b'"', false);
    }

    fn byte(&mut self, byte: u8) {
        if let Some(held) = self.held.take() {
            self.bracket(held);
        }
        if matches!(byte, b'{' | b'[' | b'}' | b']') {
            if self.quoted && self.last == b'"' {
                self.held = Some(byte);
            } else {
                self.bracket(byte);
            }
        }
        if !byte.is_ascii_whitespace() {
            (self.last, self.alone) = (byte, false);
        }
    }

    const fn bracket(&mut self, byte: u8) {
        if matches!(byte, b'{' | b'[') {
            self.open = self.open.saturating_add(1);
        } else {
            self.open = self.open.saturating_sub(1);
        }
    }
}

/// Whether no backslash at the end of `content` escapes what follows.
fn ends_whole(content: &[u8]) -> bool {
    content.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}
