//! Content with characters outside ASCII, or with escapes, in pieces of a few bytes, which usually
//! end inside one.

use super::{
    Delimiter, Engine, Phase,
    automaton::{ESCAPE, Rows, State, UNIT, UNIT_1, UNIT_2, UNIT_3, UNIT_D, WHOLE, WRONG},
    characters::cut_character,
    content::After,
};
use crate::engine::quotes::{Last, ends_with_wide_space, may_end_wide_space};

/// The longest piece that is read here, in bytes. In longer ones, runs of characters are read
/// several at a time.
pub(super) const LONGEST: usize = 16;

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
    /// Reads a piece at `base` that goes on in the current string, has characters outside ASCII or
    /// escapes but not both, and does not end the string. Returns whether it was one.
    #[inline(always)]
    pub(super) fn read_odd_piece(&mut self, text: &[u8], base: usize) -> bool {
        if text.len() > LONGEST {
            return false;
        }
        match self.fast.phase {
            Phase::Utf8 => self.read_wide(text, base),
            Phase::Escape => self.read_escaped(text, base, ESCAPE),
            Phase::Unit(digits) => self.read_escaped(text, base, self.unit_state(digits)),
            Phase::String => match text.first_chunk() {
                Some(word) if is_wide(*word) => self.read_wide(text, base),
                Some(word) if has_escape(*word) => self.read_escaped(text, base, WHOLE),
                _ => false,
            },
            _ => false,
        }
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
        // A loop of known length has no counter.
        let state = match text.first_chunk::<8>() {
            Some(word) => ESCAPES.read(ESCAPES.read(begins, word), &text[8..]),
            None => ESCAPES.read(begins, text),
        };
        let (phase, cut) = match state {
            WRONG => return false,
            WHOLE => (Phase::String, 0),
            ESCAPE => (Phase::Escape, 1),
            UNIT => (Phase::Unit(0), 2),
            UNIT_1 | UNIT_D => (Phase::Unit(1), 3),
            UNIT_2 => (Phase::Unit(2), 4),
            _ => (Phase::Unit(3), 5),
        };
        if let Phase::Unit(1) = phase
            && let Some(digit) = text.last()
        {
            self.fast.partial[0] = digit.to_ascii_lowercase();
        }
        // The backslash of an escape that is not complete may be in an earlier piece.
        let Some(end) = text.len().checked_sub(cut) else {
            self.fast.phase = phase;
            return true;
        };
        // After a comma, or a comma and white space, a quote may have been lost. Before an escape,
        // none was.
        if cut == 0 && matches!(text, [] | [.., b','] | [b' '] | [.., b',' | b' ', b' ']) {
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

    #[inline(never)]
    fn read_wide(&mut self, text: &[u8], base: usize) -> bool {
        if self.fast.quote != Delimiter::Double || self.string.tail.is_some() {
            return false;
        }
        let had = match self.fast.phase {
            Phase::Utf8 => usize::from(self.fast.partial_length),
            _ => 0,
        };
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

/// Whether one of these bytes is outside ASCII.
#[inline(always)]
const fn is_wide(bytes: [u8; 8]) -> bool {
    u64::from_le_bytes(bytes) & 0x8080_8080_8080_8080 != 0
}

/// Whether there is a backslash among these bytes.
#[inline(always)]
fn has_escape(bytes: [u8; 8]) -> bool {
    bytes.contains(&b'\\')
}

/// Whether the last byte of a text may be part of an escape.
#[inline(always)]
fn ends_near_escape(text: &[u8]) -> bool {
    match text.last_chunk::<6>() {
        Some(end) => end.contains(&b'\\'),
        None => text.contains(&b'\\'),
    }
}
