//! The start of the current line.

use super::MAX_HEAD;

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
