//! Lines and columns, and a line of the source with carets below the bytes in question.

use std::ops::Range;

use crate::visible::{Shown, push_visible, shown, width};

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
struct Counter {
    offset: usize,
    position: Position,
}

impl Counter {
    const fn new() -> Self {
        Self { offset: 0, position: Position { line: 1, column: 1 } }
    }

    /// Bytes counted so far.
    const fn offset(&self) -> usize {
        self.offset
    }

    /// The position of the next byte.
    const fn position(&self) -> Position {
        self.position
    }

    fn advance(&mut self, bytes: &[u8]) {
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

/// How many characters are shown before the first caret, and from it on.
const BEFORE: usize = 36;
const AFTER: usize = 44;

/// Two lines: the source around the first span, and carets below it and below those of the other
/// spans that are on the same line and close enough to be shown.
///
/// ```text
///    3 | {"name": 'Ada', "age": 36}
///      |          ^   ^
/// ```
///
/// `spans` are in order, and `position` is where the first begins. Only the bytes near it are read,
/// however long the line is.
pub(crate) fn excerpt(
    text: &[u8],
    spans: impl IntoIterator<Item = Range<usize>>,
    position: Position,
) -> [Shown; 2] {
    let mut spans = spans.into_iter().peekable();
    let start = spans.peek().map_or(0, |span| span.start).min(text.len());
    let before = line_before(text, start);
    let (after, clipped) = line_after(text, start);

    let mut source = String::new();
    let mut carets = String::new();
    if before.clipped {
        source.push('…');
        carets.push(' ');
    }
    for c in before.text.chars() {
        push_visible(&mut source, c);
        carets.push_str(&" ".repeat(width(c)));
    }
    let mut at = start;
    for (c, length) in after {
        push_visible(&mut source, c);
        let width = width(c);
        // An insertion is an empty span. It marks the character that it precedes.
        while spans.next_if(|span| span.end <= at && span.start < at).is_some() {}
        let inserted = spans.peek().is_some_and(|span| span.start == at && span.end <= at);
        let covered = spans.peek().is_some_and(|span| span.start < at + length && at < span.end);
        if inserted {
            carets.push('^');
            carets.push_str(&" ".repeat(width.saturating_sub(1)));
        } else {
            carets.push_str(&(if covered { "^" } else { " " }).repeat(width));
        }
        at += length;
    }
    let at_end = at == text.len() && !text.ends_with(b"\n");
    if !carets.contains('^') || (at_end && spans.any(|span| span.start == at)) {
        carets.push('^');
    }
    if clipped {
        source.push('…');
    }
    let number = position.line;
    let gutter = number.to_string().len().max(4);
    [
        shown!("{} | {}", format!("{number:gutter$}"), source),
        shown!("{} | {}", " ".repeat(gutter), carets.trim_end()),
    ]
}

struct Before {
    text: String,
    clipped: bool,
}

fn line_before(text: &[u8], start: usize) -> Before {
    // A character takes at most four bytes.
    let reach = start.saturating_sub(BEFORE * 4);
    let near = text.get(reach..start).unwrap_or_default();
    let line = near.iter().rposition(|&byte| byte == b'\n');
    let line_bytes = near.get(line.map_or(0, |at| at + 1)..).unwrap_or_default();
    let decoded = String::from_utf8_lossy(line_bytes);
    let count = decoded.chars().count();
    let skipped = count.saturating_sub(BEFORE);
    Before {
        text: decoded.chars().skip(skipped).collect(),
        clipped: skipped > 0 || (line.is_none() && reach > 0),
    }
}

/// The rest of the line: its characters, with their lengths in the source.
fn line_after(text: &[u8], start: usize) -> (Vec<(char, usize)>, bool) {
    let reach = text.len().min(start.saturating_add(AFTER * 4));
    let near = text.get(start..reach).unwrap_or_default();
    let line = near.iter().position(|&byte| byte == b'\n');
    // The line feed itself is shown: it may be what is wrong.
    let line_bytes = near.get(..line.map_or(near.len(), |at| at + 1)).unwrap_or_default();
    let mut chars = line_bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = chunk.invalid().len();
        let replaced = (invalid > 0).then_some((char::REPLACEMENT_CHARACTER, invalid));
        chunk.valid().chars().map(|c| (c, c.len_utf8())).chain(replaced)
    });
    let shown = chars.by_ref().take(AFTER).collect();
    let clipped = chars.next().is_some() || (line.is_none() && reach < text.len());
    (shown, clipped)
}

#[cfg(test)]
mod tests {
    use std::iter::once;

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

    fn at(text: &str, start: usize, end: usize) -> [String; 2] {
        let position = Locator::new(text.as_bytes()).at(start);
        excerpt(text.as_bytes(), once(start..end), position).map(|line| line.as_str().to_owned())
    }

    #[test]
    fn carets_are_below_the_span() {
        let text = "{\n  \"a\": True\n}";
        let start = text.find("True").unwrap();
        assert_eq!(
            at(text, start, start + 4),
            ["   2 |   \"a\": True␊".to_owned(), "     |        ^^^^".to_owned()]
        );
    }

    #[test]
    fn an_insertion_and_the_end_get_one_caret() {
        assert_eq!(at("[1 2]", 2, 2), ["   1 | [1 2]", "     |   ^"]);
        assert_eq!(at("[1", 2, 2), ["   1 | [1", "     |   ^"]);
    }

    #[test]
    fn wide_characters_and_controls_keep_the_caret_in_place() {
        assert_eq!(at("漢\t'", 4, 5), ["   1 | 漢␉'", "     |    ^"]);
    }

    #[test]
    fn invalid_bytes_count_with_their_length_in_the_source() {
        let position = Position { line: 1, column: 2 };
        let [source, carets] = excerpt(b"[\xff\xff, 1]", once(1..3), position);
        assert_eq!(source.as_str(), "   1 | [\u{fffd}\u{fffd}, 1]");
        assert_eq!(carets.as_str(), "     |  ^^");
    }

    #[test]
    fn other_spans_on_the_line_are_marked_too() {
        let position = Position { line: 1, column: 2 };
        let [_, carets] =
            excerpt(b"{a: 'b', c: 1}", [1..1, 2..2, 4..5, 6..7, 9..9, 40..41], position);
        assert_eq!(carets.as_str(), "     |  ^^ ^ ^  ^");
        // An insertion in front of a replacement, and one at the end.
        let [_, carets] = excerpt(b"['a", [1..1, 1..2, 3..3], position);
        assert_eq!(carets.as_str(), "     |  ^ ^");
    }

    #[test]
    fn long_lines_are_clipped_on_both_sides() {
        let text = format!("{}'{}", "x".repeat(5000), "y".repeat(5000));
        let [source, carets] = at(&text, 5000, 5001);
        assert_eq!(source, format!("   1 | …{}'{}…", "x".repeat(BEFORE), "y".repeat(AFTER - 1)));
        assert_eq!(carets.find('^'), Some("   1 | ".len() + 1 + BEFORE));
    }
}
