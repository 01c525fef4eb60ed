//! Searching, eight bytes at a time, without unsafe code.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of every byte of `word` that is zero. Exact up to and including the first one.
#[inline]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// What a run of string content ended at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Index of the byte that ended it, or the length of the text.
    pub(crate) end: usize,
    /// Whether all its bytes are ASCII.
    pub(crate) ascii: bool,
}

/// The run of bytes from `from` on that are no control character, no backslash, no `"` and not
/// `quote`.
#[inline]
pub(crate) fn string_run(text: &[u8], from: usize, quote: u8) -> Run {
    if quote == b'"' {
        run_of::<false>(text, from, quote)
    } else {
        run_of::<true>(text, from, quote)
    }
}

#[inline]
fn run_of<const BOTH: bool>(text: &[u8], from: usize, quote: u8) -> Run {
    let quotes = ONES * quote as u64;
    let doubles = ONES * b'"' as u64;
    let slashes = ONES * b'\\' as u64;
    let mut at = from;
    let mut high = 0u64;
    let tail = text.get(from..).unwrap_or_default();
    for chunk in tail.chunks_exact(8) {
        let Ok(bytes) = chunk.try_into() else { break };
        let word = u64::from_le_bytes(bytes);
        // A control character is a byte below 0x20 whose high bit is clear.
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let mut special = zeros(word ^ quotes) | zeros(word ^ slashes) | control;
        if BOTH {
            special |= zeros(word ^ doubles);
        }
        if special != 0 {
            let skip = (special.trailing_zeros() / 8) as usize;
            let before = (1u64 << (skip * 8)) - 1;
            high |= word & before & HIGHS;
            return Run { end: at + skip, ascii: high == 0 };
        }
        high |= word & HIGHS;
        at += 8;
    }
    while let Some(&byte) = text.get(at) {
        if byte == quote || byte == b'\\' || byte < 0x20 || BOTH && byte == b'"' {
            break;
        }
        high |= u64::from(byte & 0x80);
        at += 1;
    }
    Run { end: at, ascii: high == 0 }
}

/// Whether a text of at most 16 bytes is all ASCII, without `"`, backslash and control character.
#[inline]
pub(crate) fn is_short_and_plain(text: &[u8]) -> bool {
    let plain = |bytes: [u8; 8]| {
        let word = u64::from_le_bytes(bytes);
        (specials(word) | word & HIGHS) == 0
    };
    match (text.first_chunk(), text.last_chunk()) {
        // The two may overlap.
        (Some(first), Some(last)) => text.len() <= 16 && plain(*first) && plain(*last),
        _ => text.iter().all(|&byte| matches!(byte, 0x20..0x80) && byte != b'"' && byte != b'\\'),
    }
}

/// The high bit of every byte of `word` that is `"`, a backslash or a control character. Exact up to
/// and including the first one.
#[inline]
const fn specials(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64)) | control
}

/// The index of the first byte from `from` on that is not JSON white space.
#[inline]
pub(crate) fn skip_space(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn naive(text: &[u8], quote: u8) -> Run {
        let end = text
            .iter()
            .position(|&b| b == quote || b == b'"' || b == b'\\' || b < 0x20)
            .unwrap_or(text.len());
        Run { end, ascii: text[..end].is_ascii() }
    }

    #[test]
    fn every_byte_at_every_place() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255 {
                    for fill in [b'a', 0x80, 0xff, b' '] {
                        let mut text = vec![fill; length];
                        text[at] = byte;
                        assert_eq!(string_run(&text, 0, b'"'), naive(&text, b'"'), "{text:?}");
                        assert_eq!(string_run(&text, 0, b'\''), naive(&text, b'\''), "{text:?}");
                        let plain = naive(&text, b'"') == Run { end: length, ascii: true };
                        assert_eq!(is_short_and_plain(&text), plain && length <= 16, "{text:?}");
                    }
                }
            }
        }
    }
}
