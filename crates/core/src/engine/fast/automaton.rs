//! The content of strings as automata without a branch: UTF-8 in nine states (RFC 3629, section 4),
//! and ASCII with escapes in eight (RFC 8259, section 7).
//!
//! Its rows are words: a state is the offset of its next state in the row of a byte, so that a step
//! is a load and a shift.

/// Which bytes may come next.
pub(super) type State = u32;

/// None: the text is wrong.
pub(super) const WRONG: State = 0;
/// The first byte of a character.
pub(super) const WHOLE: State = 6;

/// After a backslash, and after the `u`.
pub(super) const ESCAPE: State = 12;
pub(super) const UNIT: State = 18;
/// After one digit of `\u`, after one that may begin half of a pair, and after two and three digits.
pub(super) const UNIT_1: State = 24;
pub(super) const UNIT_D: State = 30;
pub(super) const UNIT_2: State = 36;
pub(super) const UNIT_3: State = 42;

/// One, two and three bytes that continue the character.
const ONE: State = 12;
const TWO: State = 18;
const THREE: State = 24;
/// The second byte, of which not all values are allowed, after the bytes E0, ED, F0 and F4.
const AFTER_E0: State = 30;
const AFTER_ED: State = 36;
const AFTER_F0: State = 42;
const AFTER_F4: State = 48;

/// For every byte, the next state for each state.
pub(super) struct Rows([u64; 256]);

impl Rows {
    /// UTF-8 without control characters, backslashes and double quotes.
    pub(super) const fn content() -> Self {
        Self::of::<false>()
    }

    /// ASCII without control characters and double quotes, with escapes except for halves of
    /// surrogate pairs.
    pub(super) const fn escapes() -> Self {
        Self::of::<true>()
    }

    const fn of<const ESCAPES: bool>() -> Self {
        let mut rows = [0; 256];
        let mut byte = 0;
        while byte < rows.len() {
            rows[byte] = if ESCAPES { escape_row(byte as u8) } else { row(byte as u8) };
            byte += 1;
        }
        Self(rows)
    }

    #[inline(always)]
    pub(super) fn read(&self, state: State, text: &[u8]) -> State {
        let end = text.iter().fold(u64::from(state), |state, byte| self.step(state, *byte));
        (end & 0x3f) as State
    }

    /// Only the lowest bits of a word are the state, and only they say how far to shift.
    #[inline(always)]
    fn step(&self, state: u64, byte: u8) -> u64 {
        self.0[usize::from(byte)].wrapping_shr(state as u32)
    }
}

/// The row of a byte in the content of a string.
const fn row(byte: u8) -> u64 {
    match byte {
        b'"' | b'\\' | ..0x20 => 0,
        0x20..=0x7f => to(WHOLE, WHOLE),
        0x80..=0x8f => continues() | to(AFTER_ED, ONE) | to(AFTER_F4, TWO),
        0x90..=0x9f => continues() | to(AFTER_ED, ONE) | to(AFTER_F0, TWO),
        0xa0..=0xbf => continues() | to(AFTER_E0, ONE) | to(AFTER_F0, TWO),
        0xc2..=0xdf => to(WHOLE, ONE),
        0xe0 => to(WHOLE, AFTER_E0),
        0xed => to(WHOLE, AFTER_ED),
        0xe1..=0xef => to(WHOLE, TWO),
        0xf0 => to(WHOLE, AFTER_F0),
        0xf1..=0xf3 => to(WHOLE, THREE),
        0xf4 => to(WHOLE, AFTER_F4),
        0xc0 | 0xc1 | 0xf5.. => 0,
    }
}

/// The row of a byte in content with escapes.
const fn escape_row(byte: u8) -> u64 {
    let plain = match byte {
        ..0x20 | b'"' | b'\\' | 0x80.. => 0,
        _ => to(WHOLE, WHOLE),
    };
    let escaped = match byte {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => to(ESCAPE, WHOLE),
        b'u' => to(ESCAPE, UNIT),
        _ => 0,
    };
    let begins = if byte == b'\\' { to(WHOLE, ESCAPE) } else { 0 };
    let digit = match byte {
        b'd' | b'D' => to(UNIT, UNIT_D),
        _ => to(UNIT, UNIT_1),
    };
    // `\ud800` to `\udfff` are halves.
    let second = match byte {
        b'0'..=b'7' => to(UNIT_1, UNIT_2) | to(UNIT_D, UNIT_2),
        _ => to(UNIT_1, UNIT_2),
    };
    let digits = digit | second | to(UNIT_2, UNIT_3) | to(UNIT_3, WHOLE);
    plain | escaped | begins | if byte.is_ascii_hexdigit() { digits } else { 0 }
}

const fn to(state: State, next: State) -> u64 {
    (next as u64) << state
}

const fn continues() -> u64 {
    to(ONE, WHOLE) | to(TWO, ONE) | to(THREE, TWO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_read() {
        let escapes = Rows::escapes();
        let bytes = b"\0 \"/\\bfnrtuU0789adDfFgx'\x7f\x80";
        let is_valid = |text: &[u8]| {
            let json = [b"\"", text, b"\""].concat();
            let read = serde_json::from_slice::<alloc::string::String>(&json);
            read.is_ok_and(|text| text.is_ascii() || text.chars().count() == 1)
        };
        for first in *bytes {
            for second in *bytes {
                for third in *bytes {
                    for text in [
                        &[first, second, third][..],
                        &[b'\\', first, second, third],
                        &[b'\\', b'u', b'0', first, second, third],
                        &[b'\\', b'u', first, second, third, b'0'],
                    ] {
                        let valid = is_valid(text);
                        for cut in 0..=text.len() {
                            let (before, after) = text.split_at(cut);
                            let state = escapes.read(escapes.read(WHOLE, before), after);
                            assert_eq!(state == WHOLE, valid, "{text:x?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_character_is_read() {
        let content = Rows::content();
        let bytes = [
            0, 0x1f, b' ', b'"', b'\\', 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1,
            0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        let special = |byte: &u8| matches!(*byte, b'"' | b'\\' | ..0x20);
        for first in 0..=0xff {
            for second in bytes {
                for third in bytes {
                    for fourth in bytes {
                        let text = [first, second, third, fourth];
                        let valid = core::str::from_utf8(&text).is_ok();
                        let plain = valid && !text.iter().any(special);
                        for cut in 0..=4 {
                            let (before, after) = text.split_at(cut);
                            let state = content.read(content.read(WHOLE, before), after);
                            assert_eq!(state == WHOLE, plain, "{text:x?}");
                        }
                    }
                }
            }
        }
    }
}
