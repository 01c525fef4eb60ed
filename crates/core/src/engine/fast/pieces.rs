//! Content with characters outside ASCII, or with escapes, in pieces of a few bytes, which usually
//! end inside one.

use super::{
    Delimiter, Engine, Phase,
    automaton::{ESCAPE, Rows, State, UNIT, UNIT_1, UNIT_2, UNIT_3, UNIT_D, WHOLE, WRONG},
    characters::cut_character,
    content::After,
};
use crate::{
    engine::quotes::{Last, ends_with_wide_space, may_end_wide_space},
    scan,
};

/// The longest piece that is read here, in bytes. In longer ones, runs of characters are read
/// several at a time.
pub(crate) const LONGEST: usize = 16;

static CONTENT: Rows = Rows::content();
static ESCAPES: Rows = Rows::escapes();

/// Whether a text in two parts is UTF-8 without control characters, backslashes and double quotes.
pub(super) fn is_content(before: &[u8], after: &[u8]) -> bool {
    CONTENT.read(CONTENT.read(WHOLE, before), after) == WHOLE
}

/// The content of a string from `end` on, in a text of which no more than [`LONGEST`] bytes are left.
/// It starts at `start`, and has no escape before `end`. The second value is the end of the part
/// that was read; if that is not the end of the text, and no quote is there, the rest is for others.
#[inline(always)]
pub(super) fn short_content(text: &[u8], end: usize) -> (usize, Option<After>) {
    let (mut at, mut whole, mut state) = (end, end, WHOLE);
    while let Some(byte) = text.get(at) {
        let next = CONTENT.read(state, &[*byte]);
        if next == WRONG {
            let ends = state == WHOLE && *byte == b'"';
            return (whole, ends.then_some(After::Quote));
        }
        (at, state) = (at + 1, next);
        if state == WHOLE {
            whole = at;
        }
    }
    (whole, Some(if whole == at { After::End } else { After::Cut(at - whole) }))
}

impl Engine {
    /// Where the text ends in a string, reads a piece at `base` of no more than [`LONGEST`] bytes that
    /// goes on in it, has characters outside ASCII or escapes but not both, and does not end the
    /// string. Returns whether it was one.
    #[inline(always)]
    pub(crate) fn read_odd_piece(&mut self, text: &[u8], base: usize) -> bool {
        let read = match self.fast.phase {
            Phase::Utf8 => self.read_wide(text, base),
            Phase::Escape => self.read_escaped(text, base, ESCAPE),
            Phase::Unit(digits) => self.read_escaped(text, base, self.unit_state(digits)),
            Phase::String => match text.first_chunk() {
                Some(word) if is_wide(*word) => self.read_wide(text, base),
                Some(word) if scan::has_backslash(*word) => self.read_escaped(text, base, WHOLE),
                _ => false,
            },
            _ => false,
        };
        if read {
            self.steps += text.len() as u64;
            self.emitted = self.committed;
        }
        read
    }

    /// The state after so many digits of `\u`.
    const fn unit_state(&self, digits: u8) -> State {
        match digits {
            0 => UNIT,
            1 if self.fast.partial[0] == b'd' => UNIT_D,
            1 => UNIT_1,
            2 => UNIT_2,
            _ => UNIT_3,
        }
    }

    /// Reads a piece of ASCII with escapes that begins in this state.
    fn read_escaped(&mut self, text: &[u8], base: usize, begins: State) -> bool {
        if self.fast.quote != Delimiter::Double || self.string.tail.is_some() {
            return false;
        }
        let Some((last, rest)) = text.split_last() else { return false };
        // A loop of known length has no counter.
        let before = match rest.first_chunk::<7>() {
            Some(word) => ESCAPES.read(ESCAPES.read(begins, word), &rest[7..]),
            None => ESCAPES.read(begins, rest),
        };
        let state = ESCAPES.read(before, &[*last]);
        if state == WHOLE {
            // Usually its last byte shows what the content ends with.
            let ends = match (before, *last) {
                (WHOLE, b' ') | (ESCAPE, b'n' | b'r' | b't') => None,
                // A quote may have been lost after the comma.
                (WHOLE, b',') => return false,
                (WHOLE, last) => Some(last),
                _ => Some(b'\\'),
            };
            if let Some(last) = ends {
                self.string.inner.ends_with(Last::touching(last));
                self.pos = base + text.len();
                self.committed = self.pos;
                self.fast.phase = Phase::String;
                return true;
            }
        }
        let (phase, cut) = match state {
            WRONG => return false,
            WHOLE => (Phase::String, 0),
            ESCAPE => (Phase::Escape, 1),
            UNIT => (Phase::Unit(0), 2),
            UNIT_1 | UNIT_D => (Phase::Unit(1), 3),
            UNIT_2 => (Phase::Unit(2), 4),
            _ => (Phase::Unit(3), 5),
        };
        if let Phase::Unit(1) = phase {
            self.fast.partial[0] = last.to_ascii_lowercase();
        }
        // The backslash of an escape that is not complete may be in an earlier piece.
        let Some(end) = text.len().checked_sub(cut) else {
            self.fast.phase = phase;
            return true;
        };
        // After a comma, or a comma and white space, a quote may have been lost. Before an escape,
        // none was.
        if cut == 0 && matches!(text, [b' '] | [.., b',' | b' ', b' ']) {
            return false;
        }
        let mut start = 0;
        if begins != WHOLE {
            let mut state = begins;
            while state != WHOLE && start < end {
                state = ESCAPES.read(state, &text[start..=start]);
                start += 1;
            }
            self.string.inner.escape(if begins == ESCAPE { text[0] } else { b'u' });
        }
        match text[start..end] {
            [] => {}
            [.., last] if last != b' ' && !ends_near_escape(&text[start..end]) => {
                self.string.inner.ends_with(Last::touching(last));
            }
            _ => self.string.inner.ends_escaped(&text[start..end]),
        }
        self.pos = base + end;
        self.committed = self.pos;
        self.fast.phase = phase;
        true
    }

    #[inline(always)]
    fn read_wide(&mut self, text: &[u8], base: usize) -> bool {
        if self.fast.quote != Delimiter::Double || self.string.tail.is_some() {
            return false;
        }
        let had = match self.fast.phase {
            Phase::Utf8 => usize::from(self.fast.partial_length),
            _ => 0,
        };
        match text.first_chunk() {
            Some(word) if text.len() == 8 => {
                self.is_in_triple(had) && self.read_triples(word, base, had)
                    // Many that are nothing else end the string.
                    || !scan::has_quote(*word) && self.read_characters(text, base, had)
            }
            _ => self.read_characters(text, base, had),
        }
    }

    /// Whether the character of which `had` bytes were read has three bytes, of which the second may
    /// have any value.
    #[inline(always)]
    const fn is_in_triple(&self, had: usize) -> bool {
        had == 0 || matches!(self.fast.partial[0], 0xe1..=0xec | 0xee | 0xef)
    }

    /// Reads eight bytes that are nothing but characters of three bytes, as most pieces of a text in
    /// Chinese or Japanese are.
    #[inline(always)]
    fn read_triples(&mut self, text: &[u8; 8], base: usize, had: usize) -> bool {
        let Some((triples, cut)) = TRIPLES.get(had) else { return false };
        let end = &text[..8 - cut];
        if !triples.fits(u64::from_le_bytes(*text)) || ends_with_wide_space(end) {
            return false;
        }
        self.string.inner.ends_with(Last::touching(text[7 - cut]));
        self.pos = base + 8 - cut;
        self.committed = self.pos;
        self.fast.phase = Phase::String;
        if *cut > 0 {
            self.fast.partial = cut_character(text, *cut);
            self.fast.partial_length = *cut as u8;
            self.fast.phase = Phase::Utf8;
        }
        true
    }

    #[inline(never)]
    fn read_characters(&mut self, text: &[u8], base: usize, had: usize) -> bool {
        let mut state = CONTENT.read(WHOLE, &self.fast.partial[..had]);
        // A loop of known length has no counter.
        state = match text.first_chunk::<8>() {
            Some(word) => CONTENT.read(CONTENT.read(state, word), &text[8..]),
            None => CONTENT.read(state, text),
        };
        let mut cut = 0;
        if state != WHOLE {
            if state == WRONG {
                return false;
            }
            cut = 1 + text.iter().rev().take_while(|byte| **byte < 0xc0).count();
        }
        // After a comma, or a comma and white space, a quote may have been lost.
        let (end, last) = match text.len().checked_sub(cut).map(|end| &text[..end]) {
            None | Some([] | [.., b',' | b' ']) => return false,
            Some([before @ .., last]) => (before.len() + 1, *last),
        };
        // The last character may be white space, and may have begun in an earlier piece.
        let space = match text[..end] {
            [.., _, _, _] => last >= 0x80 && ends_with_wide_space(&text[..end]),
            [.., before, _] => last >= 0x80 && may_end_wide_space(before),
            _ => had > 0 && may_end_wide_space(self.fast.partial[had - 1]),
        };
        if space {
            return false;
        }
        self.string.inner.ends_with(Last::touching(last));
        self.pos = base + end;
        self.committed = self.pos;
        self.fast.phase = Phase::String;
        if cut > 0 {
            self.fast.partial = cut_character(text, cut);
            self.fast.partial_length = cut as u8;
            self.fast.phase = Phase::Utf8;
        }
        true
    }
}

/// Eight bytes of characters of three bytes (RFC 3629, section 4), by which of them begin one.
struct Triples {
    /// The bits that say whether a byte begins a character or continues it, and their values.
    mask: u64,
    kind: u64,
    /// The lowest bit of each byte that begins a character.
    begins: u64,
}

/// By how many bytes of the first character came before; and how many bytes at the end are of a
/// character that goes on in the next piece.
static TRIPLES: [(Triples, usize); 3] = [
    (Triples::at(0x0001_0000_0100_0001), 2),
    (Triples::at(0x0000_0100_0001_0000), 0),
    (Triples::at(0x0100_0001_0000_0100), 1),
];

impl Triples {
    const fn at(begins: u64) -> Self {
        let rest = 0x0101_0101_0101_0101 - begins;
        Self { mask: 0xf0 * begins + 0xc0 * rest, kind: 0xe0 * begins + 0x80 * rest, begins }
    }

    /// Whether all bytes fit. After the bytes E0 and ED, not all values of the second are allowed:
    /// characters that begin with these are for the automaton.
    #[inline(always)]
    const fn fits(&self, word: u64) -> bool {
        let low = word & (0x0f * self.begins);
        // A digit that is not 0 carries into the next one.
        let known = low + 0x0f * self.begins;
        let other = (low ^ (0x0d * self.begins)) + 0x0f * self.begins;
        let all = 0x10 * self.begins;
        word & self.mask == self.kind && known & other & all == all
    }
}

/// Whether one of these bytes is outside ASCII.
#[inline(always)]
const fn is_wide(bytes: [u8; 8]) -> bool {
    u64::from_le_bytes(bytes) & 0x8080_8080_8080_8080 != 0
}

/// Whether the last byte of a text may be part of an escape.
#[inline(always)]
fn ends_near_escape(text: &[u8]) -> bool {
    match text.last_chunk::<6>() {
        Some(end) => end.contains(&b'\\'),
        None => text.contains(&b'\\'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_characters_of_three_bytes() {
        let leads = [0x41, 0x80, 0xbf, 0xc3, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xff];
        let rest = [0x20, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xe1];
        for (had, (triples, cut)) in TRIPLES.iter().enumerate() {
            assert_eq!((had + 8 - cut) % 3, 0);
            for lead in leads {
                for second in rest {
                    for third in rest {
                        // Each of the characters in turn is this one, and the others are usual.
                        for odd in 0..4 {
                            let mut text = "会会会会".as_bytes().to_vec();
                            text[3 * odd..3 * odd + 3].copy_from_slice(&[lead, second, third]);
                            let word = *text[had..].first_chunk().unwrap();
                            let fits = triples.fits(u64::from_le_bytes(word));
                            // The first bytes were read before, and the last ones come later.
                            let (begins, ends) = (3 * odd >= had, 3 * odd + 3 <= had + 8);
                            let whole = core::str::from_utf8(&text[3 * odd..3 * odd + 3]);
                            let wide = whole.is_ok_and(|text| text.chars().count() == 1);
                            if begins && ends {
                                let usual = !matches!(lead, 0xe0 | 0xed);
                                assert_eq!(fits, wide && usual, "{had} {text:x?}");
                            } else if wide && !matches!(lead, 0xe0 | 0xed) {
                                assert!(fits, "{had} {text:x?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
