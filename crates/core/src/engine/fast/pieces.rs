//! Content with characters outside ASCII in pieces of a few bytes, which usually end inside a
//! character.

use super::{
    Delimiter, Engine, Phase,
    automaton::{Rows, WHOLE, WRONG},
    characters::cut_character,
    content::After,
};
use crate::engine::quotes::Last;

/// The longest piece that is read here, in bytes. In longer ones, runs of characters are read
/// several at a time.
pub(super) const LONGEST: usize = 16;

static CONTENT: Rows = Rows::content();

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
    /// Reads a piece at `base` that goes on in the current string, has characters outside ASCII,
    /// and ends neither it nor an escape. Returns whether it was one.
    #[inline(always)]
    pub(super) fn read_wide_piece(&mut self, text: &[u8], base: usize) -> bool {
        let inside = match self.fast.phase {
            Phase::Utf8 => true,
            Phase::String => text.first_chunk().is_some_and(|word| is_wide(*word)),
            _ => false,
        };
        inside && text.len() <= LONGEST && self.read_wide(text, base)
    }

    fn read_wide(&mut self, text: &[u8], base: usize) -> bool {
        if self.fast.quote != Delimiter::Double || self.string.tail.is_some() {
            return false;
        }
        let mut state = WHOLE;
        if self.fast.phase == Phase::Utf8 {
            state =
                CONTENT.read(state, &self.fast.partial[..usize::from(self.fast.partial_length)]);
        }
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

/// Whether one of these bytes is outside ASCII.
#[inline(always)]
const fn is_wide(bytes: [u8; 8]) -> bool {
    u64::from_le_bytes(bytes) & 0x8080_8080_8080_8080 != 0
}
