//! Lines and columns.

/// A line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// From 1; lines end with a line feed.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
}

/// Counts lines and columns of bytes that arrive in pieces, split anywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    offset: usize,
    position: Position,
}

impl Counter {
    pub(crate) const fn new() -> Self {
        Self { offset: 0, position: Position { line: 1, column: 1 } }
    }

    /// Bytes counted so far.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// The position of the next byte.
    pub(crate) const fn position(&self) -> Position {
        self.position
    }

    pub(crate) fn advance(&mut self, bytes: &[u8]) {
        self.offset += bytes.len();
        for &byte in bytes {
            if byte == b'\n' {
                self.position.line += 1;
                self.position.column = 1;
            } else if byte & 0xC0 != 0x80 {
                // The bytes 10xxxxxx continue a character that was counted at its first byte.
                self.position.column += 1;
            }
        }
    }
}

/// Finds positions in a whole text. Looking up increasing offsets takes a single pass over the text.
#[derive(Clone, Debug)]
pub(crate) struct Locator<'a> {
    text: &'a [u8],
    counter: Counter,
}

impl<'a> Locator<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Self { text, counter: Counter::new() }
    }

    /// The position of the byte at `offset`, or of the end if the text is shorter.
    pub(crate) fn at(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        if offset < self.counter.offset() {
            self.counter = Counter::new();
        }
        let passed = self.text.get(self.counter.offset()..offset).unwrap_or_default();
        self.counter.advance(passed);
        self.counter.position()
    }
}

/// Finds positions in a text that is not kept. It remembers only the bytes that are not settled yet.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    /// Counts up to the first byte of `open`.
    base: Counter,
    /// Counts up to the last lookup, so that the next one can continue there.
    last: Counter,
    open: Vec<u8>,
}

impl Tracker {
    pub(crate) const fn new() -> Self {
        Self { base: Counter::new(), last: Counter::new(), open: Vec::new() }
    }

    /// Remembers a chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.open.extend_from_slice(chunk);
    }

    /// Forgets all but the last `withheld` bytes.
    pub(crate) fn settle(&mut self, withheld: usize) {
        let settled = self.open.len().saturating_sub(withheld);
        self.base.advance(self.open.get(..settled).unwrap_or_default());
        self.last = self.base;
        self.open.drain(..settled);
    }

    /// The position of the byte at `offset`, and those of the bytes `offset..end` that are remembered.
    /// `None` if `offset` has been forgotten.
    pub(crate) fn look(&mut self, offset: usize, end: usize) -> Option<(Position, &[u8])> {
        let base = self.base.offset();
        let from = offset.checked_sub(base)?;
        if offset < self.last.offset() {
            self.last = self.base;
        }
        self.last.advance(self.open.get(self.last.offset() - base..from)?);
        let to = end.saturating_sub(base).min(self.open.len()).max(from);
        Some((self.last.position(), self.open.get(from..to)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ab\r\ncé𝄞d\n\nx";

    /// Counts the plain way: lines by splitting, columns by characters.
    fn counted(offset: usize) -> Position {
        let before = &TEXT[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn offsets() -> Vec<usize> {
        TEXT.char_indices().map(|(at, _)| at).chain([TEXT.len()]).collect()
    }

    #[test]
    fn forwards_and_backwards_agree_with_plain_counting() {
        let mut locator = Locator::new(TEXT.as_bytes());
        for at in offsets().into_iter().chain(offsets().into_iter().rev()) {
            assert_eq!(locator.at(at), counted(at), "byte {at}");
        }
        assert_eq!(locator.at(0), Position { line: 1, column: 1 });
        assert_eq!(locator.at(1000), counted(TEXT.len()));
    }

    #[test]
    fn cuts_inside_characters_change_nothing() {
        for cut in 0..=TEXT.len() {
            let mut counter = Counter::new();
            counter.advance(&TEXT.as_bytes()[..cut]);
            counter.advance(&TEXT.as_bytes()[cut..]);
            assert_eq!(counter.position(), counted(TEXT.len()), "cut {cut}");
            assert_eq!(counter.offset(), TEXT.len());
        }
    }

    #[test]
    fn a_tracker_forgets_what_is_settled() {
        for step in 1..=TEXT.len() {
            let mut tracker = Tracker::new();
            let mut pushed = 0;
            for chunk in TEXT.as_bytes().chunks(step) {
                tracker.push(chunk);
                pushed += chunk.len();
                let open = pushed.min(3);
                tracker.settle(open);
                for at in offsets().into_iter().filter(|&at| at <= pushed) {
                    let seen = tracker.look(at, at + 1);
                    if at < pushed - open {
                        assert_eq!(seen, None, "byte {at} of {pushed}");
                    } else {
                        let byte = TEXT.as_bytes().get(at..at + 1).filter(|_| at < pushed);
                        assert_eq!(seen, Some((counted(at), byte.unwrap_or_default())));
                    }
                }
            }
        }
    }
}
