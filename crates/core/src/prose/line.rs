//! What precedes a byte on its line.

use super::MAX_HEAD;
use crate::{
    lines::joins,
    signs::{Colour, ESCAPE, wide_space},
};

/// What the rules need to know about the text that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The last three bytes, or line feeds at the start.
    recent: [u8; 3],
    /// The last byte on this line other than white space, or [`DOCUMENT`](Self::DOCUMENT).
    last: Option<u8>,
    /// Whether the last line that was not blank ended in a colon.
    led: bool,
    /// Whether there was anything but white space and stray punctuation.
    begun: bool,
    /// `last` and `begun` before a character outside ASCII, which may be white space.
    before: (Option<u8>, bool),
    /// Whether the last byte is in a sequence for a terminal, which counts as nothing.
    colour: Colour,
}

impl Line {
    pub(super) const START: Self = Self {
        recent: [b'\n'; 3],
        last: None,
        led: false,
        begun: false,
        before: (None, false),
        colour: Colour::NONE,
    };

    /// The last byte after a document and commas: one that no line has.
    const DOCUMENT: u8 = b'\n';

    /// The start of a line after other text.
    pub(super) const fn next(&self) -> Self {
        Self { begun: self.begun, ..Self::START }
    }

    /// Adds a byte.
    pub(super) fn pass(&mut self, byte: u8) {
        if self.colour.read(byte) {
            return;
        }
        self.recent = [self.recent[1], self.recent[2], byte];
        self.part(&[byte]);
        match byte {
            b'\n' => {
                if let Some(last) = self.last.take() {
                    self.led = last == b':';
                }
            }
            b' ' | b'\t' | b'\r' => {}
            b',' if self.is_joined() => {}
            // Emphasis as in `**Result:**` is closed after the colon.
            b'*' | b'_' if self.last == Some(b':') => {}
            b',' | b';' | b':' | b'=' | b'}' | b']' | b')' => self.last = Some(byte),
            0x80..=0xBF if self.ends_space() => (self.last, self.begun) = self.before,
            0x80..=0xBF if self.recent == *"：".as_bytes() => self.last = Some(b':'),
            _ => {
                if byte >= 0xC0 {
                    self.before = (self.last, self.begun);
                }
                self.last = Some(byte);
                self.begun = true;
            }
        }
    }

    /// Whether the last bytes are white space outside ASCII, or a byte order mark.
    fn ends_space(&self) -> bool {
        let [_, two @ ..] = &self.recent;
        let is_space = |bytes: &[u8]| wide_space(bytes).is_some_and(|(_, len)| len == bytes.len());
        is_space(&self.recent) || is_space(two)
    }

    /// Adds text, in which the last line end is there.
    pub(super) fn pass_all(&mut self, text: &[u8], line_end: Option<usize>) {
        if self.colour.is_open() || text.contains(&ESCAPE) {
            return text.iter().for_each(|byte| self.pass(*byte));
        }
        match line_end.and_then(|end| text.split_at_checked(end)) {
            Some((lines, rest)) => {
                self.pass_part(lines);
                self.pass(b'\n');
                self.pass_part(rest.get(1..).unwrap_or_default());
            }
            None => self.pass_part(text),
        }
    }

    /// Adds the part of a line that decides the state after it, or of several lines, of which only the
    /// last one that is not blank does.
    fn pass_part(&mut self, text: &[u8]) {
        let mut rest = text;
        while let [byte, tail @ ..] = rest {
            // A character that has not ended may be white space.
            if self.begun && (self.before.1 || self.prev().is_ascii()) {
                break;
            }
            self.pass(*byte);
            rest = tail;
        }
        self.part(rest);
        for &byte in rest.get(Self::solid(rest)..).unwrap_or_default() {
            self.pass(byte);
        }
    }

    /// The start of the last character of `text` that is neither white space nor emphasis. 0 if
    /// there is none.
    fn solid(text: &[u8]) -> usize {
        let solid = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b'*' | b'_');
        let mut rest = text;
        loop {
            let Some(mut at) = rest.iter().rposition(solid) else { return 0 };
            while at > 0 && matches!(rest.get(at), Some(0x80..=0xBF)) {
                at -= 1;
            }
            let (before, last) = rest.split_at(at);
            // The rest of a character that may be white space may follow.
            let open = at + last.len() == text.len() && last.len() < 3 && last[0] >= 0xC0;
            if at == 0 || wide_space(last).is_none() && !open {
                return at;
            }
            rest = before;
        }
    }

    /// Whether there is only white space on this line so far.
    pub(super) const fn is_start(&self) -> bool {
        self.last.is_none()
    }

    /// Whether there was nothing but white space and stray punctuation.
    pub(super) const fn is_fresh(&self) -> bool {
        !self.begun
    }

    /// Forgets that there was anything.
    pub(super) const fn refresh(&mut self) {
        self.begun = false;
        self.before.1 = false;
    }

    /// Whether the last byte may be part of white space outside ASCII, with nothing before it.
    pub(super) const fn is_open(&self) -> bool {
        self.begun && !self.before.1 && !self.recent[2].is_ascii()
    }

    /// Notes that there was something.
    pub(super) const fn begin(&mut self) {
        self.begun = true;
    }

    /// Notes that a document has ended here.
    pub(super) const fn join(&mut self) {
        self.last = Some(Self::DOCUMENT);
    }

    /// Whether nothing but blanks and commas came after a document.
    pub(super) const fn is_joined(&self) -> bool {
        matches!(self.last, Some(Self::DOCUMENT))
    }

    /// Forgets the document, if anything else is in this text.
    fn part(&mut self, text: &[u8]) {
        if self.is_joined() && !joins(text) {
            self.last = Some(b'}');
        }
    }

    /// Whether the byte that follows is in a sequence for a terminal.
    pub(super) const fn is_colour(&self, next: u8) -> bool {
        let mut colour = self.colour;
        colour.is_open() && colour.read(next)
    }

    pub(super) const fn prev(&self) -> u8 {
        self.recent[2]
    }

    /// Whether the last character is white space, or there is none.
    pub(super) fn is_after_space(&self) -> bool {
        self.prev().is_ascii_whitespace() || self.ends_space()
    }

    pub(super) const fn last(&self) -> Option<u8> {
        self.last
    }

    pub(super) const fn is_led(&self) -> bool {
        self.led
    }
}

/// Whether `byte` is white space in JSON.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

// The start of the current line.

/// The text before the current byte on its line, if it is short enough for a mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    text: [u8; MAX_HEAD],
    /// Its length. More than fits if it is too long.
    length: u8,
}

impl Head {
    pub(super) const START: Self = Self { text: [0; MAX_HEAD], length: 0 };
    /// No mark can come before what follows on this line.
    pub(super) const TAKEN: Self = Self { length: MAX_HEAD as u8 + 1, ..Self::START };

    /// Adds text, in which the last line end is there.
    pub(super) fn pass(&mut self, text: &[u8], line_end: Option<usize>) {
        let line = match line_end {
            Some(end) => {
                self.length = 0;
                text.get(end + 1..).unwrap_or_default()
            }
            None if usize::from(self.length) > MAX_HEAD => return,
            None => text,
        };
        let length = usize::from(self.length);
        match self.text.get_mut(length..length + line.len()) {
            Some(own) => {
                own.copy_from_slice(line);
                self.length = (length + line.len()) as u8;
            }
            None => *self = Self::TAKEN,
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        self.text.get(..usize::from(self.length)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn text_at_once_is_text_byte_by_byte() {
        const PARTS: [&str; 16] = [
            "a",
            ":",
            "*",
            "_",
            " ",
            "\n",
            "\u{a0}",
            "\u{feff}",
            "：",
            "结",
            "\n\n",
            ".",
            "\t",
            "x y z",
            "\x1b[1;39m",
            "\x1b",
        ];
        let mut seed = 7_u32;
        for round in 0..4000 {
            let mut text = Vec::new();
            for _ in 0..1 + round % 40 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.extend_from_slice(PARTS[(seed >> 16) as usize % PARTS.len()].as_bytes());
                if seed.is_multiple_of(11) {
                    text.extend_from_slice(&[b'w'; 70]);
                }
            }
            let (mut bytes, mut runs) = (Line::START, Line::START);
            text.iter().for_each(|byte| bytes.pass(*byte));
            text.chunks(1 + round % 17).for_each(|chunk| {
                runs.pass_all(chunk, chunk.iter().rposition(|byte| *byte == b'\n'));
            });
            let state = |line: Line| {
                (line.prev(), line.is_after_space(), line.last, line.led, line.begun, line.colour)
            };
            assert_eq!(state(bytes), state(runs), "{}", text.escape_ascii());
        }
    }
}
