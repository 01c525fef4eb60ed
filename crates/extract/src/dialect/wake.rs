//! Where in a text anything may begin, judged by a few bytes.

use wiremend_core::prose::reasoning;

use super::names::Names;

/// It may begin anywhere.
const ANYWHERE: u8 = 1;
/// It may begin at the start of a word.
const START: u8 = 2;

/// Whether a byte is part of a word, so that no name begins after it.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'\\')
}

/// What may begin with a byte of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wake {
    Nothing,
    /// The name of a tool, and nothing else.
    Name,
    /// A quoted name of a tool, and nothing else.
    Quote,
    /// A marker that is a word, or the name of a tool.
    Word,
    /// A marker, a tag or a bracket.
    Marker,
}

/// The first two bytes of everything that is looked for. Nearly all text is skipped by them.
#[derive(Clone, Debug)]
pub(super) struct Wakes {
    kinds: Box<[Wake; 256]>,
    /// For a byte, whether anything may begin with it: [`ANYWHERE`], or at the [`START`] of a word.
    places: Box<[u8; 256]>,
    /// For the byte before, which of these count.
    counts: Box<[u8; 256]>,
    /// For a byte, a set of the bytes that may follow it.
    seconds: Box<[[u64; 4]; 256]>,
    /// The pairs of bytes with which reasoning tags begin.
    tags: Vec<(u8, u8)>,
    /// The only bytes with which anything may begin, if there are no more than these and they count
    /// anywhere.
    few: Option<[u8; FEW]>,
}

/// How many bytes are looked for in whole blocks. Compilers turn a comparison with each of them into a
/// few instructions for many bytes, which a table cannot be.
const FEW: usize = 3;
const BLOCK: usize = 64;

impl Wakes {
    pub(super) fn new() -> Self {
        let mut wakes = Self {
            kinds: Box::new([Wake::Nothing; 256]),
            places: Box::new([0; 256]),
            counts: Box::new([ANYWHERE | START; 256]),
            seconds: Box::new([[0; 4]; 256]),
            tags: Vec::new(),
            few: None,
        };
        // A sentence may end before a name.
        for byte in (0..=u8::MAX).filter(|byte| is_word(*byte) && *byte != b'.') {
            wakes.counts[usize::from(byte)] = ANYWHERE;
        }
        // Reasoning tags of every kind.
        for first in [b'<', b'[', 0xE2] {
            for second in 0..=u8::MAX {
                let bytes = [first, second];
                let opens = reasoning::open(&bytes, false) != Some(None);
                if opens || reasoning::stray_close(&bytes, false) != Some(None) {
                    wakes.add(first, second, Wake::Marker);
                    wakes.tags.push((first, second));
                }
            }
        }
        wakes
    }

    /// Whether a reasoning tag may begin with these bytes.
    pub(super) fn is_tag(&self, first: u8, second: u8) -> bool {
        self.tags.contains(&(first, second))
    }

    /// Adds a pair of bytes.
    fn add(&mut self, first: u8, second: u8, kind: Wake) {
        let at = usize::from(first);
        self.kinds[at] = kind.max(self.kinds[at]);
        self.places[at] = if first.is_ascii_alphanumeric() { START } else { ANYWHERE };
        self.seconds[at][usize::from(second >> 6)] |= 1 << (second & 63);
    }

    /// Adds a byte, whatever follows.
    pub(super) fn any(&mut self, first: u8, kind: Wake) {
        (0..=u8::MAX).for_each(|second| self.add(first, second, kind));
    }

    /// Adds a marker.
    pub(super) fn text(&mut self, text: &str) {
        match *text.as_bytes() {
            [first, second, ..] => self.add(first, second, Self::kind(first)),
            [first] => self.any(first, Self::kind(first)),
            [] => {}
        }
    }

    const fn kind(first: u8) -> Wake {
        if first.is_ascii_alphabetic() { Wake::Word } else { Wake::Marker }
    }

    /// Adds the names of tools.
    pub(super) fn names(&mut self, names: &Names) {
        for first in 0..=u8::MAX {
            if !names.may_begin(&[first]) || first == b'\\' {
                continue;
            }
            for second in 0..=u8::MAX {
                if names.may_begin(&[first, second]) {
                    self.add(first, second, Wake::Name);
                }
            }
            self.add(b'\'', first, Wake::Quote);
            self.add(b'"', first, Wake::Quote);
        }
    }

    /// Makes the search in blocks ready, once everything was added.
    pub(super) fn ready(mut self) -> Self {
        let firsts: Vec<u8> =
            (0..=u8::MAX).filter(|first| self.places[usize::from(*first)] != 0).collect();
        let anywhere = |first: &u8| self.places[usize::from(*first)] == ANYWHERE;
        self.few = match firsts[..] {
            [a] => Some([a; FEW]),
            [a, b] => Some([a, b, b]),
            [a, b, c] => Some([a, b, c]),
            _ => None,
        };
        self.few = self.few.filter(|few| few.iter().all(anywhere));
        self
    }

    /// Whether so few bytes count that they are all looked for.
    pub(super) const fn are_few(&self) -> bool {
        self.few.is_some()
    }

    /// What may begin with a byte.
    pub(super) fn of(&self, first: u8) -> Wake {
        self.kinds[usize::from(first)]
    }

    /// How many bytes there are before one with which anything may begin. `before` is the byte before them.
    #[inline]
    pub(super) fn clear(&self, before: u8, bytes: &[u8]) -> usize {
        match self.few {
            Some(few) if bytes.len() >= BLOCK => self.clear_blocks(few, bytes),
            _ => self.clear_bytes(before, bytes),
        }
    }

    fn clear_blocks(&self, [a, b, c]: [u8; FEW], bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
            let is = |byte: &u8| *byte == a || *byte == b || *byte == c;
            if block.iter().fold(false, |found, byte| found | is(byte)) {
                // The byte after the block says whether anything begins with its last one.
                let window = bytes.get(at..=at + BLOCK).unwrap_or(block);
                let clear = self.clear_bytes(b' ', window);
                if clear < BLOCK {
                    return at + clear;
                }
            }
            at += BLOCK;
        }
        at + self.clear_bytes(b' ', bytes.get(at..).unwrap_or_default())
    }

    /// The same, byte by byte.
    #[inline]
    pub(super) fn clear_bytes(&self, mut before: u8, bytes: &[u8]) -> usize {
        let begins = |before: u8, byte: u8| {
            self.places[usize::from(byte)] & self.counts[usize::from(before)] != 0
        };
        let mut rest = bytes;
        while let Some((&first, after)) = rest.split_first() {
            if begins(before, first) {
                let seconds = &self.seconds[usize::from(first)];
                let may_follow =
                    |next: &u8| seconds[usize::from(next >> 6)] & (1 << (next & 63)) != 0;
                if after.first().is_none_or(may_follow) {
                    return bytes.len() - rest.len();
                }
            }
            let pairs = rest.iter().zip(after);
            let found = pairs.map(|(before, byte)| begins(*before, *byte)).position(|found| found);
            let Some(at) = found else { break };
            before = rest.get(at).copied().unwrap_or_default();
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tools;

    #[test]
    fn text_is_skipped_up_to_what_may_begin() {
        let tools = Tools::new().with_tool("book", [""; 0], None);
        let mut wakes = Wakes::new();
        wakes.names(&Names::new(&tools));
        wakes.text("<tool_call>");
        wakes.text("Action");
        for (text, clear) in [
            ("no one was there", 16),
            ("a bo", 2),
            ("abook", 5),
            ("a by", 4),
            ("a 'b", 2),
            ("a < b <t", 6),
            ("a < b <", 6),
            ("x</think>", 1),
            ("He is in Action", 9),
            ("", 0),
        ] {
            assert_eq!(wakes.clear(b' ', text.as_bytes()), clear, "{text}");
        }
        assert_eq!(wakes.clear(b'a', b"book"), 4);
        assert!(wakes.ready().few.is_none());
    }

    /// A search in blocks finds the same places, wherever they are in a block.
    #[test]
    fn blocks_are_searched_like_bytes() {
        let mut wakes = Wakes::new();
        wakes.text("<tool_call>");
        let ready = wakes.clone().ready();
        assert!(ready.few.is_some());
        let parts: [&[u8]; 8] = [b"a", b" ", b"<", b"<t", b"[", b"</", b"word by word ", b"\xE2"];
        let mut seed = 1u32;
        for length in 0..400 {
            let mut text = Vec::new();
            while text.len() < length {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Most of it is plain, so that there are whole blocks.
                let part = if seed >> 29 == 0 { (seed >> 8) as usize % parts.len() } else { 6 };
                text.extend_from_slice(parts[part]);
            }
            for from in 0..text.len().min(70) {
                let here = &text[from..];
                assert_eq!(ready.clear(b'x', here), wakes.clear(b'x', here), "{here:?}");
            }
        }
    }
}
