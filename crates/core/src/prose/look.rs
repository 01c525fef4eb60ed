//! Bounded look-ahead that distinguishes what is certain from what is not.

use crate::signs::{ESCAPE, wide_space};

/// The result of look-ahead. `Ok` is certain, whatever follows. `Err` is what to assume if nothing
/// more can be seen.
///
/// A certain result for a text never contradicts a certain result for the beginning of that text.
/// So the extractor does not depend on how the input is divided into chunks.
pub(super) type Verdict<T = bool> = Result<T, T>;

/// A cursor over the bytes from an uncertain place on, at most a window of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the input ends after `bytes`.
    ends: bool,
    /// Whether the window ends after `bytes`.
    full: bool,
}

impl<'a> Look<'a> {
    pub(super) fn new(bytes: &'a [u8], window: usize, eof: bool) -> Self {
        match bytes.get(..window) {
            Some(seen) => {
                Self { bytes: seen, at: 0, ends: eof && bytes.len() == window, full: true }
            }
            None => Self { bytes, at: 0, ends: eof, full: false },
        }
    }

    /// The answer, or `None` if more bytes may change it.
    pub(super) fn settle<T>(&self, verdict: Verdict<T>) -> Option<T> {
        match verdict {
            Ok(answer) => Some(answer),
            Err(answer) => (self.full || self.ends).then_some(answer),
        }
    }

    /// The next byte, or `None` at the end of the input. If neither is known, the error is `or`.
    pub(super) fn peek<T>(&self, or: T) -> Result<Option<u8>, T> {
        match self.bytes.get(self.at) {
            Some(&byte) => Ok(Some(byte)),
            None if self.ends => Ok(None),
            None => Err(or),
        }
    }

    /// How many bytes were skipped.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Skips the bytes that `of` accepts, and returns how many there were.
    pub(super) fn skip(&mut self, of: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.iter().position(|&byte| !of(byte)).unwrap_or(rest.len());
        self.at += taken;
        taken
    }

    /// Skips what the engine takes for white space.
    pub(super) fn skip_space(&mut self) {
        loop {
            // Control characters as well: the engine drops them between tokens.
            self.skip(|byte| (byte <= b' ' || byte == 0x7F) && byte != ESCAPE);
            if self.bytes.get(self.at) == Some(&ESCAPE) {
                self.at += 1;
                self.skip_colour();
                continue;
            }
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest {
                [0xC2 | 0xE1..=0xE3 | 0xEF, ..] => {}
                _ => return,
            }
            match wide_space(rest) {
                Some((_, length)) => self.at += length,
                // The rest of the character has not arrived: nothing is certain.
                None if is_cut(rest) && !self.ends => {
                    self.at = self.bytes.len();
                    return;
                }
                None => return,
            }
        }
    }

    /// Skips what follows the first byte of a sequence for a terminal, as in `ESC[1;39m`.
    fn skip_colour(&mut self) {
        let parameter = |byte| matches!(byte, b'[' | b';' | b'0'..=b'9');
        self.skip(parameter);
        if self.bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
    }

    pub(super) fn skip_blank(&mut self) -> usize {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }

    /// The bytes skipped since `from`.
    pub(super) fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.at).unwrap_or_default()
    }

    /// Skips `text` if it comes next. Returns whether it does.
    pub(super) fn eat<T>(&mut self, text: &[u8], or: T) -> Result<bool, T> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(text) {
            self.at += text.len();
            return Ok(true);
        }
        if text.starts_with(rest) && !self.ends {
            return Err(or);
        }
        Ok(false)
    }

    /// Whether only blanks follow on this line. Backticks close inline code, and count as blanks.
    pub(super) fn is_last_on_line(&mut self) -> Verdict {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'`'));
        Ok(matches!(self.peek(true)?, None | Some(b'\n')))
    }
}

/// Whether these are the first bytes of a character that may be white space, and not all of them.
const fn is_cut(bytes: &[u8]) -> bool {
    let need = match bytes {
        [0xC2, ..] => 2,
        _ => 3,
    };
    bytes.len() < need
}

/// Whether `byte` can be part of a name. Every byte outside ASCII counts.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}
