//! Characters and escapes that arrive in parts.

use crate::lexer::{Escape, decode_escape};

/// An unfinished character or escape: at most a surrogate pair of escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    bytes: [u8; 12],
    length: usize,
}

impl Part {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 12], length: 0 }
    }

    pub(super) const fn length(&self) -> usize {
        self.length
    }

    pub(super) const fn clear(&mut self) {
        self.length = 0;
    }

    pub(super) fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// How many bytes it must have at least, judging by its first ones.
    fn least(&self) -> usize {
        match self.bytes {
            [b'\\', b'u', ..] if self.length > 1 => 6,
            [b'\\', ..] => 2,
            [first, ..] => width(first),
        }
    }

    /// Decodes it if it is complete.
    pub(super) fn whole(&self) -> Whole {
        if self.length < self.least() { Whole::Wait } else { whole(self.bytes()) }
    }
}

/// The result of decoding an unfinished character or escape.
pub(super) enum Whole {
    Char(char),
    Bad,
    Wait,
}

/// How many bytes at the end of a run belong to a character that is incomplete there.
#[inline]
pub(super) fn unfinished(run: &[u8]) -> usize {
    // Most text is ASCII.
    match run {
        [.., last] if *last >= 0x80 => {}
        _ => return 0,
    }
    let back = run.iter().rev().take(3).position(|&byte| byte >= 0xc0);
    let Some(back) = back else { return 0 };
    let lead = run.len() - 1 - back;
    if run.get(lead).is_some_and(|&byte| width(byte) > back + 1) { back + 1 } else { 0 }
}

/// The length in bytes of a character that begins with `lead`.
const fn width(lead: u8) -> usize {
    match lead {
        0xf0.. => 4,
        0xe0..0xf0 => 3,
        0xc0..0xe0 => 2,
        0..0xc0 => 1,
    }
}

/// The character at the start of string content, if it is complete and either ASCII or an escape,
/// and its length in bytes.
#[inline]
pub(crate) fn short_character(content: &[u8]) -> Option<(char, usize)> {
    match *content {
        [b'\\', ..] => match decode_escape(content) {
            Escape::Char(decoded, length) => Some((decoded, length)),
            _ => None,
        },
        [byte @ (b' '..=b'!' | b'#'..=b'[' | b']'..=b'~'), ..] => Some((char::from(byte), 1)),
        _ => None,
    }
}

/// Decodes a character or an escape. A surrogate without its other half is never in valid output.
fn whole(bytes: &[u8]) -> Whole {
    if bytes.first() == Some(&b'\\') {
        return match decode_escape(bytes) {
            Escape::Char(decoded, _) => Whole::Char(decoded),
            Escape::Half(0xdc00..) => Whole::Char(char::REPLACEMENT_CHARACTER),
            Escape::Incomplete => Whole::Wait,
            Escape::Half(_) | Escape::Invalid => Whole::Bad,
        };
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(Whole::Bad, Whole::Char),
        Err(error) if error.error_len().is_none() => Whole::Wait,
        Err(_) => Whole::Bad,
    }
}
