//! Characters and escapes that arrive in parts.

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

/// The character that an escape of two bytes encodes.
pub(super) const fn simple_escape(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'"' => "\"",
        b'\\' => "\\",
        b'/' => "/",
        b'b' => "\u{8}",
        b'f' => "\u{c}",
        b'n' => "\n",
        b'r' => "\r",
        b't' => "\t",
        _ => return None,
    })
}

/// The character at the start of string content, if it is complete and either ASCII or an escape,
/// and its length in bytes. Not for surrogates.
#[inline]
pub(crate) fn short_character(content: &[u8]) -> Option<(char, usize)> {
    match *content {
        [b'\\', b'u', first, second, third, last, ..] => {
            let unit = unit(&[first, second, third, last])?;
            Some((char::from_u32(unit)?, 6))
        }
        [b'\\', escape, ..] => {
            let decoded = simple_escape(escape)?.chars().next()?;
            Some((decoded, 2))
        }
        [byte @ (b' '..=b'!' | b'#'..=b'[' | b']'..=b'~'), ..] => Some((char::from(byte), 1)),
        _ => None,
    }
}

/// The value of hexadecimal digits.
#[inline]
fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// Decodes a character or an escape. A surrogate without its other half, which is never in valid
/// output, becomes U+FFFD.
fn whole(bytes: &[u8]) -> Whole {
    let decoded = match bytes {
        [b'\\'] | [b'\\', b'u', ..] if bytes.len() < 6 => return Whole::Wait,
        [b'\\', b'u', first @ ..] => {
            let Some(high) = first.get(..4).and_then(unit) else { return Whole::Bad };
            if (0xd800..0xdc00).contains(&high) {
                match first.get(4..).unwrap_or_default() {
                    [] | [b'\\'] => return Whole::Wait,
                    [b'\\', b'u', low @ ..] if low.len() < 4 => return Whole::Wait,
                    [b'\\', b'u', low @ ..] => match unit(low) {
                        Some(low @ 0xdc00..=0xdfff) => {
                            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                        }
                        _ => return Whole::Bad,
                    },
                    _ => return Whole::Bad,
                }
            } else {
                Some(char::from_u32(high).unwrap_or('\u{fffd}'))
            }
        }
        [b'\\', escape] => simple_escape(*escape).and_then(|decoded| decoded.chars().next()),
        _ => match core::str::from_utf8(bytes) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return Whole::Wait,
            Err(_) => None,
        },
    };
    decoded.map_or(Whole::Bad, Whole::Char)
}
