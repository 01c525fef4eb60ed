//! Searching, eight bytes at a time, without unsafe code.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of every byte of `word` that is zero. Exact up to and including the first one.
#[inline]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// A run of string content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The index of the byte that ended it, or the length of the text.
    pub(crate) end: usize,
    /// Whether all its bytes are ASCII.
    pub(crate) ascii: bool,
}

/// The run of bytes at `from` without control characters, backslashes, `"` and `quote`.
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

/// The end of the run of bytes at `from` without control characters, backslashes and `"`, in a text
/// in which few bytes are ASCII.
#[inline(always)]
pub(crate) fn content_run(text: &[u8], from: usize) -> usize {
    let Some(mut rest) = text.get(from..) else { return text.len() };
    while let Some((bytes, tail)) = rest.split_first_chunk() {
        let odd = lanes(bytes, |byte| (byte == b'"') | (byte == b'\\') | (byte < 0x20));
        if let Some(first) = first_lane(odd) {
            return text.len() - rest.len() + first;
        }
        rest = tail;
    }
    let inside = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | ..0x20);
    text.len() - rest.len() + rest.iter().take_while(inside).count()
}

/// Like [`content_run`], for one that usually ends in its first eight bytes.
#[inline(always)]
pub(crate) fn short_content_run(text: &[u8], from: usize) -> usize {
    let Some(word) = text.get(from..).and_then(|rest| rest.first_chunk()) else {
        return content_run(text, from);
    };
    let word = u64::from_le_bytes(*word);
    let odd = special(word) & !word & HIGHS;
    if odd == 0 { content_run(text, from + 8) } else { from + (odd.trailing_zeros() / 8) as usize }
}

/// All bits of every byte that `wanted` accepts. If it has no branch, this becomes vector
/// instructions.
#[inline(always)]
fn lanes(bytes: &[u8; 16], wanted: impl Fn(u8) -> bool) -> [u8; 16] {
    let mut lanes = [0; 16];
    for (lane, byte) in lanes.iter_mut().zip(bytes) {
        *lane = if wanted(*byte) { 0xff } else { 0 };
    }
    lanes
}

/// How many words are read one by one. After that, a run is read in blocks.
const SHORT_RUN: usize = 2;

/// The index of the first byte from `from` on that is not plain text: a control character, a
/// backslash, `"`, or a byte outside ASCII.
#[inline(always)]
pub(crate) fn plain_run(text: &[u8], from: usize) -> usize {
    // A branch that is never taken costs less than a choice between two slices.
    let Some(mut rest) = text.get(from..) else { return text.len() };
    for _ in 0..SHORT_RUN {
        let Some((word, tail)) = rest.split_first_chunk() else { break };
        let odd = not_plain(u64::from_le_bytes(*word));
        if odd != 0 {
            return text.len() - rest.len() + (odd.trailing_zeros() / 8) as usize;
        }
        rest = tail;
    }
    if rest.len() < 8 { short_end(text, rest) } else { long_run(text, rest) }
}

/// Like [`plain_run`], for one that is usually long.
#[inline(always)]
pub(crate) fn long_plain_run(text: &[u8]) -> usize {
    match first_odd(text, 0) {
        Some(odd) => odd,
        None => long_run(text, text.get(8..).unwrap_or_default()),
    }
}

/// Like [`plain_run`], for a string in single quotes: `'` is not plain text either.
#[inline]
pub(crate) fn single_run(text: &[u8], from: usize) -> usize {
    let Some(mut rest) = text.get(from..) else { return text.len() };
    while let Some((word, tail)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let single = (word ^ (ONES * b'\'' as u64)).wrapping_sub(ONES);
        let odd = (not_plain(word) | single) & HIGHS;
        if odd != 0 {
            return text.len() - rest.len() + (odd.trailing_zeros() / 8) as usize;
        }
        rest = tail;
    }
    let plain = |byte: &&u8| is_plain(**byte) && **byte != b'\'';
    text.len() - rest.len() + rest.iter().take_while(plain).count()
}

/// Like [`plain_run`], but only in the eight bytes from `from` on, or as many as there are. `None`
/// if all eight are plain text.
#[inline(always)]
pub(crate) fn first_odd(text: &[u8], from: usize) -> Option<usize> {
    let Some(rest) = text.get(from..) else { return Some(text.len()) };
    let Some(word) = rest.first_chunk() else { return Some(short_end(text, rest)) };
    let odd = not_plain(u64::from_le_bytes(*word));
    (odd != 0).then_some(from + (odd.trailing_zeros() / 8) as usize)
}

/// Like [`plain_run`], for runs that are equally likely to end in their first or second word, as
/// between escapes. Both words are checked before any branch.
#[inline(always)]
pub(crate) fn plain_run_between(text: &[u8], from: usize) -> usize {
    let Some(words) = text.get(from..).and_then(|rest| rest.first_chunk::<16>()) else {
        return plain_run(text, from);
    };
    let words = u128::from_le_bytes(*words);
    let (first, second) = (not_plain(words as u64), not_plain((words >> 64) as u64));
    let (odd, before) = if first != 0 { (first, 0) } else { (second, 8) };
    if odd == 0 {
        return plain_run(text, from + 16);
    }
    from + before + (odd.trailing_zeros() / 8) as usize
}

/// Like [`plain_run`], for less than a word at the end of a text.
#[inline(always)]
fn short_end(text: &[u8], rest: &[u8]) -> usize {
    let start = text.len() - rest.len();
    let Some(word) = text.last_chunk() else {
        return start + rest.iter().take_while(|byte| is_plain(**byte)).count();
    };
    if rest.is_empty() {
        return start;
    }
    // The shift adds zero bytes, which are not plain text.
    let word = u64::from_le_bytes(*word) >> (64 - 8 * rest.len());
    start + (not_plain(word).trailing_zeros() / 8) as usize
}

/// Like [`plain_run`], for long runs, such as a file in a string. Reads 64 bytes at a time.
#[inline(never)]
fn long_run(text: &[u8], rest: &[u8]) -> usize {
    let mut rest = rest;
    while let Some((block, tail)) = rest.split_first_chunk::<64>() {
        // Without a branch in the loop, it becomes vector instructions.
        if block.iter().fold(false, |odd, byte| odd | !is_plain(*byte)) {
            break;
        }
        rest = tail;
    }
    while let Some((bytes, tail)) = rest.split_first_chunk() {
        let odd = lanes(bytes, |byte| !is_plain(byte));
        if let Some(first) = first_lane(odd) {
            return text.len() - rest.len() + first;
        }
        rest = tail;
    }
    while let Some((word, tail)) = rest.split_first_chunk() {
        let odd = not_plain(u64::from_le_bytes(*word));
        if odd != 0 {
            return text.len() - rest.len() + (odd.trailing_zeros() / 8) as usize;
        }
        rest = tail;
    }
    short_end(text, rest)
}

#[inline]
const fn is_plain(byte: u8) -> bool {
    (byte >= 0x20) & (byte < 0x80) & (byte != b'"') & (byte != b'\\')
}

/// The index of the first of these that is set.
#[inline(always)]
fn first_lane(lanes: [u8; 16]) -> Option<usize> {
    // That any is set shows without a way through memory.
    let any = lanes.iter().fold(0, |all, lane| all | lane) != 0;
    any.then(|| (u128::from_le_bytes(lanes).trailing_zeros() / 8) as usize)
}

/// The high bit of every byte of `word` that is not plain text. Exact up to and including the first
/// one.
#[inline]
const fn not_plain(word: u64) -> u64 {
    (word | special(word)) & HIGHS
}

/// The high bit of every ASCII byte of `word` that is a control character, a backslash or `"`. Exact
/// up to and including the first one. The other bits mean nothing.
#[inline]
const fn special(word: u64) -> u64 {
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    quote | slash | control
}

/// Whether a text is all plain. It is usually the length of a token.
#[inline(always)]
pub(crate) fn is_plain_text(text: &[u8]) -> bool {
    match text.first_chunk() {
        Some(word) if text.len() == 8 => not_plain(u64::from_le_bytes(*word)) == 0,
        _ => is_plain_run(text),
    }
}

fn is_plain_run(text: &[u8]) -> bool {
    let plain = |bytes: [u8; 8]| not_plain(u64::from_le_bytes(bytes)) == 0;
    match (text.first_chunk(), text.last_chunk()) {
        // The two words may overlap.
        (Some(first), Some(last)) if text.len() <= 16 => plain(*first) && plain(*last),
        (None, _) => text.iter().all(|byte| is_plain(*byte)),
        _ => plain_run(text, 0) == text.len(),
    }
}

/// The index of the first byte that `wanted` accepts, which is called for every byte of a block. If
/// it has no branch, it becomes vector instructions.
#[inline(always)]
pub(crate) fn find(text: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let mut rest = text;
    while let Some((block, tail)) = rest.split_first_chunk::<32>() {
        // With a `bool`, it would not.
        if block.iter().fold(0, |any, byte| any | u8::from(wanted(*byte))) != 0 {
            break;
        }
        rest = tail;
    }
    while let Some((block, tail)) = rest.split_first_chunk::<8>() {
        if block.iter().fold(0, |any, byte| any | u8::from(wanted(*byte))) != 0 {
            break;
        }
        rest = tail;
    }
    let found = rest.iter().position(|byte| wanted(*byte))?;
    Some(text.len() - rest.len() + found)
}

/// Like [`find`], for the last such byte.
#[inline(always)]
pub(crate) fn find_last(text: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let mut rest = text;
    while let Some((before, block)) = rest.split_last_chunk::<32>() {
        if block.iter().fold(0, |any, byte| any | u8::from(wanted(*byte))) != 0 {
            break;
        }
        rest = before;
    }
    while let Some((before, block)) = rest.split_last_chunk::<8>() {
        if block.iter().fold(0, |any, byte| any | u8::from(wanted(*byte))) != 0 {
            break;
        }
        rest = before;
    }
    rest.iter().rposition(|byte| wanted(*byte))
}

/// Whether there is a backslash among these bytes.
#[inline(always)]
pub(crate) const fn has_backslash(bytes: [u8; 8]) -> bool {
    zeros(u64::from_le_bytes(bytes) ^ (ONES * b'\\' as u64)) != 0
}

/// Whether there is a double quote among these bytes.
#[inline(always)]
pub(crate) const fn has_quote(bytes: [u8; 8]) -> bool {
    zeros(u64::from_le_bytes(bytes) ^ (ONES * b'"' as u64)) != 0
}

/// How many of these bytes are spaces and line ends, if something else than white space and
/// control characters follows them.
#[inline(always)]
pub(crate) const fn indentation(bytes: [u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(bytes);
    // A byte above a space has its high bit, or gets it.
    let seen = (((word & !HIGHS) + ONES * (0x7f - b' ' as u64)) | word) & HIGHS;
    let bits = seen.trailing_zeros() & !7;
    // What makes a space a line end, in the bytes before that one.
    let end = (b' ' ^ b'\n') as u64;
    let other = (word ^ (ONES * b' ' as u64)) & !u64::MAX.unbounded_shl(bits);
    let ends = (other >> 1 & ONES) * end;
    if seen != 0 && ends == other { Some(bits as usize / 8) } else { None }
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

    #[test]
    fn indentation_is_spaces_and_line_ends() {
        for length in 0..8 {
            for at in 0..8 {
                for byte in 0..=255 {
                    let mut text = [b'"'; 8];
                    text[..length].fill(b' ');
                    text[0] = if length > 2 { b'\n' } else { text[0] };
                    text[at] = byte;
                    let spaces = text.iter().take_while(|b| matches!(b, b' ' | b'\n')).count();
                    let follows = text.get(spaces).is_some_and(|byte| *byte > b' ');
                    let want = follows.then_some(spaces);
                    assert_eq!(indentation(text), want, "{text:?}");
                }
            }
        }
    }

    fn naive(text: &[u8], quote: u8) -> Run {
        let end = text
            .iter()
            .position(|&b| b == quote || b == b'"' || b == b'\\' || b < 0x20)
            .unwrap_or(text.len());
        Run { end, ascii: text[..end].is_ascii() }
    }

    #[test]
    fn every_byte_in_long_runs() {
        for length in [0, 7, 31, 32, 63, 96, 97, 160, 200] {
            for at in 0..=length {
                for byte in [0, 0x1f, b' ', b'"', b'#', b'\'', b'[', b'\\', b']', 0x7f, 0x80, 0xff]
                {
                    for fill in [b'a', b' ', 0x7f] {
                        let mut text = vec![fill; length];
                        text.splice(at..length.min(at + 1), [byte]);
                        let first = text.iter().position(|byte| !is_plain(*byte));
                        let want = first.unwrap_or(text.len());
                        assert_eq!(plain_run(&text, 0), want, "{text:?}");
                        assert_eq!(plain_run(&text, at), want.max(at), "{text:?} from {at}");
                        let near = first_odd(&text, at).unwrap_or_else(|| plain_run(&text, at + 8));
                        assert_eq!(near, want.max(at), "{text:?} from {at}");
                        assert_eq!(plain_run_between(&text, 0), want, "{text:?}");
                        assert_eq!(plain_run_between(&text, at), want.max(at), "{text:?}, {at}");
                        let odd = |byte: &u8| !is_plain(*byte) || *byte == b'\'';
                        let single = text.iter().skip(at).position(odd).map(|found| at + found);
                        assert_eq!(single_run(&text, at), single.unwrap_or(text.len()), "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_and_the_last_wanted_byte_are_found() {
        for length in [0, 1, 31, 32, 33, 64, 70, 100] {
            for first in 0..=length {
                for second in [first, first + 1, first + 32, length] {
                    let mut text = vec![b'.'; length];
                    for at in [first, second] {
                        text.splice(at.min(length)..length.min(at + 1), [b'x']);
                    }
                    let is_x = |byte: u8| byte == b'x';
                    let want = text.iter().position(|byte| is_x(*byte));
                    assert_eq!(find(&text, is_x), want, "{text:?}");
                    let want = text.iter().rposition(|byte| is_x(*byte));
                    assert_eq!(find_last(&text, is_x), want, "{text:?}");
                }
            }
        }
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
                        assert_eq!(is_plain_text(&text), plain, "{text:?}");
                        assert_eq!(content_run(&text, 0), naive(&text, b'"').end, "{text:?}");
                        assert_eq!(short_content_run(&text, 0), content_run(&text, 0), "{text:?}");
                    }
                }
            }
        }
    }
}
