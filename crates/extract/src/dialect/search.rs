//! Finds where anything may begin in a long text, by blocks.
//!
//! Nearly everything that is looked for has one of a few [signs](is_special), which are rare in prose:
//! a bracket, an angle, a backtick. The name of a tool counts if a parenthesis or a brace follows it,
//! so it is found from there, and not by its first letters, which are those of many words. A block
//! without a sign costs a few instructions for sixteen bytes, however many markers and tools there are.

/// How many bytes are searched at once. Compilers make a few instructions for many bytes of a loop with
/// comparisons, which they cannot of one with a table.
const BLOCK: usize = 64;
/// How many pairs of letters are looked for at most.
const PAIRS: usize = 4;

/// Whether a marker or a bracket may begin with this byte, or have it in it: `[`, `\`, `{`, `|`, `<`, `>`
/// and a backtick.
const fn is_special(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'{') <= 1) | (byte | 2 == b'>') | (byte == b'`')
}

/// Whether a byte and the next one are a sign that something begins here, or has begun before.
const fn is_sign(byte: u8, next: u8) -> bool {
    // The second byte of `◁` is rarer than its first one, which is that of a dash and of quotes.
    is_special(byte) | (next == 0x97) | ((next == b'(') & (byte != b' '))
}

/// Whether a byte may be part of what comes before a sign: the name of a tool, in quotes or not.
const fn is_before(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b'-' | b'/' | b':' | b'\\' | b'"' | b'\'' | b']')
}

/// Where what a sign at `at` belongs to may begin: up to two words before it, but not before `floor`.
fn look_back(bytes: &[u8], at: usize, floor: usize) -> usize {
    let mut start = at;
    let is = |at: usize, test: fn(&u8) -> bool| at > floor && bytes.get(at - 1).is_some_and(test);
    for _ in 0..2 {
        while is(start, u8::is_ascii_whitespace) {
            start -= 1;
        }
        while is(start, |byte| is_before(*byte)) {
            start -= 1;
        }
    }
    start
}

/// The signs that are looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// The first two letters of markers that have no other sign.
    pairs: Vec<(u8, u8)>,
    /// Whether something may begin without a sign, so that blocks cannot be searched.
    lost: bool,
}

impl Search {
    /// Adds something that begins with this text and is nothing without it.
    pub(super) fn add(&mut self, text: &[u8]) {
        let next = |at: usize| text.get(at + 1).copied().unwrap_or_default();
        let sign = text.iter().enumerate().position(|(at, byte)| is_sign(*byte, next(at)));
        if sign.is_some_and(|at| look_back(text, at, 0) == 0) {
            return;
        }
        let [first, second, ..] = *text else {
            self.lost = true;
            return;
        };
        if !self.pairs.contains(&(first, second)) {
            self.pairs.push((first, second));
        }
    }

    /// Whether long texts can be searched in blocks.
    pub(super) fn is_ready(&self) -> bool {
        !self.lost && self.pairs.len() <= PAIRS
    }

    /// Goes through the parts of `bytes` in which something may begin, from `from` on, until `look` finds
    /// it in one. `look` is given the start and the end of a part.
    pub(super) fn find(
        &self,
        bytes: &[u8],
        from: usize,
        look: impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        match self.pairs[..] {
            [] => Self::find_with([], bytes, from, look),
            [a] => Self::find_with([a], bytes, from, look),
            [a, b] => Self::find_with([a, b], bytes, from, look),
            [a, b, c] => Self::find_with([a, b, c], bytes, from, look),
            [a, b, c, d, ..] => Self::find_with([a, b, c, d], bytes, from, look),
        }
    }

    #[inline]
    fn find_with<const N: usize>(
        pairs: [(u8, u8); N],
        bytes: &[u8],
        from: usize,
        mut look: impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        let (mut at, mut floor) = (from, from);
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let blocks = rest.first_chunk::<BLOCK>();
            let Some((block, next)) =
                blocks.zip(rest.get(1..).and_then(<[u8]>::first_chunk::<BLOCK>))
            else {
                break;
            };
            if has_sign(pairs, block, next) {
                let flags = signs(pairs, block, next);
                for (word, part) in flags.chunks_exact(8).enumerate() {
                    let mut left = part.try_into().map_or(0, u64::from_le_bytes);
                    while left != 0 {
                        let sign = at + word * 8 + left.trailing_zeros() as usize / 8;
                        left &= left - 1;
                        let start = look_back(bytes, sign, floor);
                        floor = sign + 1;
                        let found = look(start, floor);
                        if found.is_some() {
                            return found;
                        }
                    }
                }
            }
            at += BLOCK;
        }
        look(look_back(bytes, at, floor), bytes.len())
    }
}

#[inline]
fn is_one_of<const N: usize>(pairs: [(u8, u8); N], byte: u8, next: u8) -> bool {
    pairs.iter().fold(is_sign(byte, next), |any, (a, b)| any | ((byte == *a) & (next == *b)))
}

#[inline]
fn has_sign<const N: usize>(pairs: [(u8, u8); N], block: &[u8; BLOCK], next: &[u8; BLOCK]) -> bool {
    let all = block.iter().zip(next);
    all.fold(0, |any, (byte, next)| any | u8::from(is_one_of(pairs, *byte, *next))) != 0
}

/// One for every byte of a block that is a sign.
#[inline]
fn signs<const N: usize>(
    pairs: [(u8, u8); N],
    block: &[u8; BLOCK],
    next: &[u8; BLOCK],
) -> [u8; BLOCK] {
    let mut flags = [0; BLOCK];
    for ((flag, byte), next) in flags.iter_mut().zip(block).zip(next) {
        *flag = u8::from(is_one_of(pairs, *byte, *next));
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a text in which something may begin.
    fn parts(search: &Search, text: &str) -> Vec<String> {
        let mut parts = Vec::new();
        search.find(text.as_bytes(), 0, |start, end| {
            parts.push(String::from_utf8_lossy(&text.as_bytes()[start..end]).into_owned());
            None
        });
        parts
    }

    #[test]
    fn prose_has_no_sign_and_a_call_is_found_from_its_bracket() {
        let mut search = Search::default();
        for marker in ["<tool_call>", "functions.(", "functools[", "```", "Action", "RAW_OUTPUT"] {
            search.add(marker.as_bytes());
        }
        assert_eq!(search.pairs, [(b'A', b'c'), (b'R', b'A')]);
        let rest = "+".repeat(80);
        for (text, found) in [
            ("It was late (so they said); \"no one\" would, and 7 of them: hours.", &[""; 0][..]),
            ("And so a table is to book(seats=2)", &["to book"]),
            ("A name alone on its line: book\n \n{", &["line: book\n \n{"]),
            ("All of an Action", &["of an A"]),
            // Its first byte, of which the next one is the sign.
            ("◁", &["\u{fffd}"]),
        ] {
            let mut own = parts(&search, &format!("{text}{rest}"));
            assert!(own.pop().is_some_and(|last| rest.ends_with(&last)), "{text}");
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            assert_eq!(own, found, "{text}");
        }
    }

    #[test]
    fn what_has_no_sign_is_not_searched_in_blocks() {
        let mut search = Search::default();
        search.add(b" ");
        assert!(!search.is_ready());
        let mut search = Search::default();
        ["ab", "cd", "ef", "gh"].iter().for_each(|marker| search.add(marker.as_bytes()));
        assert!(search.is_ready());
        search.add(b"ij");
        assert!(!search.is_ready());
    }
}
