//! Searches strings, eight bytes at a time.

use crate::work;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Has a bit set for every zero byte, and is 0 if there is no such byte.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Whether one of the eight bytes is a quote, a backslash, or a control character.
const fn is_special(word: u64) -> bool {
    let quotes = zeros(word ^ (ONES * b'"' as u64));
    let slashes = zeros(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    quotes | slashes | controls != 0
}

/// The first position from `at` on of a quote, a backslash, or a control character, or the length of
/// the text if there is none.
pub(super) fn string_run(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut run = 0;
    for word in rest.chunks_exact(8) {
        let mut array = [0; 8];
        array.copy_from_slice(word);
        if is_special(u64::from_ne_bytes(array)) {
            break;
        }
        run += 8;
    }
    let tail = rest.get(run..).unwrap_or_default();
    let more = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
    let run = run + more.unwrap_or(tail.len());
    work::count(1 + run);
    at + run
}

#[cfg(test)]
mod tests {
    use super::string_run;

    #[test]
    fn the_first_special_byte_is_found_at_every_position() {
        for len in 0..40 {
            for at in 0..len {
                for byte in [b'"', b'\\', 0, 0x1f] {
                    let mut text = vec![0xa0; len];
                    text[at] = byte;
                    for from in 0..=at {
                        assert_eq!(string_run(&text, from), at);
                    }
                }
            }
            assert_eq!(string_run(&vec![b' '; len], 0), len);
        }
    }
}
