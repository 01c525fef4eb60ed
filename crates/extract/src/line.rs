//! What is before a byte on its line.

/// The little that the rules need to know of the text already read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The byte directly before; a newline at the start.
    prev: u8,
    /// The last byte on this line that is no white space.
    last: Option<u8>,
    /// Whether the last line with anything on it ended in a colon.
    led: bool,
}

impl Line {
    pub(crate) const START: Self = Self { prev: b'\n', last: None, led: false };

    /// Moves past `byte`.
    pub(crate) fn pass(&mut self, byte: u8) {
        self.prev = byte;
        match byte {
            b'\n' => {
                if let Some(last) = self.last.take() {
                    self.led = last == b':';
                }
            }
            b' ' | b'\t' | b'\r' => {}
            // Emphasis closes after the colon of `**Result:**`.
            b'*' | b'_' if self.last == Some(b':') => {}
            _ => self.last = Some(byte),
        }
    }

    pub(crate) fn pass_all(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.pass(byte);
        }
    }

    /// Whether only white space is before, on this line.
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
