//! Finds where anything may begin in a long text, by blocks.
//!
//! Nearly everything that is looked for has one of a few [signs](is_special), which are rare in prose:
//! a bracket, an angle, a backtick. The name of a tool counts if a parenthesis or a brace follows it,
//! so it is found from there, and not by its first letters, which are those of many words. A block
//! without a sign costs a few instructions for sixteen bytes, however many markers and tools there are.

/// How many bytes are searched at once, in a long text and at its end. Compilers make a few instructions
/// for many bytes of a loop with comparisons, which they cannot of one with a table.
const BLOCK: usize = 4 * LANES;
const LANES: usize = 16;
/// How many pairs of letters are looked for at most.
const PAIRS: usize = 4;

/// Whether a marker or a bracket may begin with this byte, or have it in it: `[`, `{`, `<`, `>`, `\`, `|`
/// and a backtick. A few rare bytes count, too, because that is one comparison less.
const fn is_special(byte: u8) -> bool {
    // `[` and `{` differ in one bit, and `<`, `>`, `\` and `|` are `~` but for three bits, as is `^`.
    (byte | 0x20 == b'{') | (byte | 0x62 == b'~') | (byte == b'`')
}

/// Whether a byte and the next one are a sign that something begins here, or has begun before.
const fn is_sign(byte: u8, next: u8) -> bool {
    // The second byte of `◁` is rarer than its first one, which is that of a dash and of quotes.
    is_special(byte) | (next == 0x97) | ((next == b'(') & (byte != b' '))
}

/// What may come before a sign: [`SPACE`], or [a part](NAME) of the name of a tool, in quotes or not, or
/// the asterisks of a label in bold.
static BEFORE: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0u8;
    loop {
        kinds[byte as usize] = match byte {
            b'_' | b'.' | b'-' | b'/' | b':' | b'\\' | b'"' | b'\'' | b']' | b'*' | b'=' => NAME,
            _ if byte.is_ascii_alphanumeric() => NAME,
            _ if byte.is_ascii_whitespace() => SPACE,
            _ => 0,
        };
        if byte == u8::MAX {
            break kinds;
        }
        byte += 1;
    }
};
const SPACE: u8 = 1;
const NAME: u8 = 2;

/// Where what a sign at `at` belongs to may begin: up to two words before it, but not before `floor`.
fn look_back(bytes: &[u8], at: usize, floor: usize) -> usize {
    let mut before = bytes.get(floor..at).unwrap_or_default();
    for kind in [SPACE, NAME, SPACE, NAME] {
        while let [rest @ .., last] = before
            && BEFORE[usize::from(*last)] == kind
        {
            before = rest;
        }
    }
    floor + before.len()
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
        let next = |at: usize| text.get(at + 1).copied().unwrap_or(b' ');
        let known = |byte: u8, next: u8| self.pairs.contains(&(byte, next));
        let is_sign = |at: usize, byte: u8| is_sign(byte, next(at)) || known(byte, next(at));
        let sign = text.iter().enumerate().position(|(at, byte)| is_sign(at, *byte));
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
        let mut read = Read { bytes, at: from, floor: from };
        let mut at = read.blocks::<N, BLOCK>(pairs, &mut look);
        if at.is_none() && read.has_sign(pairs) {
            at = read.blocks::<N, LANES>(pairs, &mut look).or_else(|| read.end(pairs, &mut look));
        }
        at.or_else(|| read.last(&mut look))
    }
}

/// A text of which a part was searched.
struct Read<'a> {
    bytes: &'a [u8],
    /// Up to where it was.
    at: usize,
    /// After the last sign.
    floor: usize,
}

impl Read<'_> {
    /// Searches all whole blocks of a size.
    #[inline]
    fn blocks<const N: usize, const SIZE: usize>(
        &mut self,
        pairs: [(u8, u8); N],
        look: &mut impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let block = rest.first_chunk::<SIZE>();
            let next = rest.get(1..).and_then(<[u8]>::first_chunk::<SIZE>);
            let (block, next) = block.zip(next)?;
            if has_sign(pairs, block, next) {
                let found = self.block(self.at, signs(pairs, block, next), look);
                if found.is_some() {
                    return found;
                }
            }
            self.at += SIZE;
        }
    }

    /// Looks at the signs of a block that begins at `from`.
    fn block<const SIZE: usize>(
        &mut self,
        from: usize,
        flags: [u8; SIZE],
        look: &mut impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        for (word, part) in flags.chunks_exact(8).enumerate() {
            let mut left = part.try_into().map_or(0, u64::from_le_bytes);
            while left != 0 {
                let sign = from + word * 8 + left.trailing_zeros() as usize / 8;
                left &= left - 1;
                let start = look_back(self.bytes, sign, self.floor);
                self.floor = sign + 1;
                let found = look(start, self.floor);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Whether the rest of the text, which is shorter than a block, has a sign in it.
    #[inline]
    fn has_sign<const N: usize>(&mut self, pairs: [(u8, u8); N]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some((_, next)) = rest.split_first() else { return false };
        let mut any = [0; LANES];
        let (blocks, nexts) = (rest.as_chunks().0, next.as_chunks().0);
        for (block, next) in blocks.iter().zip(nexts) {
            mark(&mut any, pairs, block, next);
        }
        // The end is read as that of a block that was read in part.
        let before = self.bytes.get(..self.bytes.len() - 1).and_then(<[u8]>::last_chunk::<LANES>);
        let Some((block, next)) = before.zip(self.bytes.last_chunk::<LANES>()) else { return true };
        mark(&mut any, pairs, block, next);
        let found = u128::from_le_bytes(any) != 0;
        if !found {
            self.at = self.bytes.len() - 1;
        }
        found
    }

    /// Searches the bytes after the last block, but for the last one of them.
    fn end<const N: usize>(
        &mut self,
        pairs: [(u8, u8); N],
        look: &mut impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        let end = self.bytes.len() - 1;
        let mut flags = [0; LANES];
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let next = rest.get(1..).unwrap_or_default();
        for ((flag, byte), next) in flags.iter_mut().zip(rest).zip(next) {
            *flag = u8::from(is_one_of(pairs, *byte, *next));
        }
        let from = std::mem::replace(&mut self.at, end);
        self.block(from, flags, look)
    }

    /// Looks at the end of the text: what follows the last byte may be a sign, or make one of it.
    #[inline]
    fn last(&mut self, look: &mut impl FnMut(usize, usize) -> Option<usize>) -> Option<usize> {
        let end = self.bytes.len();
        look(look_back(self.bytes, self.at, self.floor), end)
    }
}

#[inline]
fn is_one_of<const N: usize>(pairs: [(u8, u8); N], byte: u8, next: u8) -> bool {
    pairs.iter().fold(is_sign(byte, next), |any, (a, b)| any | ((byte == *a) & (next == *b)))
}

#[inline]
fn has_sign<const N: usize, const SIZE: usize>(
    pairs: [(u8, u8); N],
    block: &[u8; SIZE],
    next: &[u8; SIZE],
) -> bool {
    let mut any = [0; LANES];
    for (block, next) in block.as_chunks().0.iter().zip(next.as_chunks().0) {
        mark(&mut any, pairs, block, next);
    }
    u128::from_le_bytes(any) != 0
}

/// Marks the places of signs.
#[inline]
fn mark<const N: usize>(
    any: &mut [u8; LANES],
    pairs: [(u8, u8); N],
    block: &[u8; LANES],
    next: &[u8; LANES],
) {
    for ((any, byte), next) in any.iter_mut().zip(block).zip(next) {
        *any |= u8::from(is_one_of(pairs, *byte, *next));
    }
}

/// One for every byte of a block that is a sign.
#[inline]
fn signs<const N: usize, const SIZE: usize>(
    pairs: [(u8, u8); N],
    block: &[u8; SIZE],
    next: &[u8; SIZE],
) -> [u8; SIZE] {
    let mut flags = [0; SIZE];
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

    /// Every sign is in a part that is looked at, wherever it is in a block.
    #[test]
    fn no_sign_is_missed() {
        let mut search = Search::default();
        search.add(b"Action");
        let parts = ["a", " ", "it ", "book(", "{", "<", "`", ": ", "Action", "and so on "];
        let mut seed = 7u32;
        for length in 0..300 {
            let mut text = String::new();
            while text.len() < length {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Most of it is plain, so that there are whole blocks.
                let part = if seed >> 29 == 0 { (seed >> 8) as usize % parts.len() } else { 9 };
                text.push_str(parts[part]);
            }
            let bytes = text.as_bytes();
            for from in 0..bytes.len().min(70) {
                let mut seen = vec![false; bytes.len()];
                let found = search.find(bytes, from, |start, end| {
                    seen[start..end].fill(true);
                    None
                });
                assert_eq!(found, None);
                let pairs = bytes.iter().zip(&bytes[1..]).enumerate().skip(from);
                let mut signs = pairs.filter(|(_, (a, b))| is_one_of([(b'A', b'c')], **a, **b));
                assert!(signs.all(|(at, _)| seen[at]), "{text:?} from {from}");
            }
        }
    }
}
