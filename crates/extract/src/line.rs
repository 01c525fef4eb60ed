//! What precedes a byte on its line.

/// What the rules need to know about the text that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The last byte, or a line feed at the start.
    prev: u8,
    /// The last byte on this line other than white space.
    last: Option<u8>,
    /// Whether the last line that was not blank ended in a colon.
    led: bool,
}

impl Line {
    pub(crate) const START: Self = Self { prev: b'\n', last: None, led: false };

    /// Adds a byte.
    pub(crate) fn pass(&mut self, byte: u8) {
        self.prev = byte;
        match byte {
            b'\n' => {
                if let Some(last) = self.last.take() {
                    self.led = last == b':';
                }
            }
            b' ' | b'\t' | b'\r' => {}
            // Emphasis as in `**Result:**` is closed after the colon.
            b'*' | b'_' if self.last == Some(b':') => {}
            _ => self.last = Some(byte),
        }
    }

    pub(crate) fn pass_all(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.pass(byte);
        }
    }

    /// Whether there is only white space on this line so far.
    pub(crate) const fn is_start(&self) -> bool {
        self.last.is_none()
    }

    pub(crate) const fn prev(&self) -> u8 {
        self.prev
    }

    pub(crate) const fn last(&self) -> Option<u8> {
        self.last
    }

    pub(crate) const fn is_led(&self) -> bool {
        self.led
    }
}

/// Whether `byte` is white space in JSON.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
