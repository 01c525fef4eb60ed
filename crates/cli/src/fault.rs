//! Where and why an input could not be repaired, or was cut off.

use std::{iter::once, ops::Range};

use serde::Serialize;
use wiremend_core::{
    MendOptions, Mended, Mender, Outcome, Path, Policy, Repair, RepairKind, TrailingDocuments,
};
use wiremend_extract::{Finder, Scope, TextSink, find};

use crate::visible::{BAD, BOLD, Paint, Shown, push_visible, shown, width};

/// The problem with an input, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    message: String,
    byte: usize,
    line: usize,
    column: usize,
    #[serde(skip)]
    end: usize,
}

impl Fault {
    /// The fault of an input that was refused or cut off; `None` if it was valid or repaired.
    pub(crate) fn of(text: &[u8], mended: &Mended, options: &MendOptions) -> Option<Self> {
        let fault = Self::ending(text, mended.outcome(), mended.cut_at(), options);
        // Other documents may follow the one that was cut off.
        let close = |repair: &Repair| repair.kind() == RepairKind::MissingClose;
        let closed = mended.repairs().iter().filter(close).last();
        match (fault, mended.outcome(), closed) {
            (Some(fault), Outcome::Closed, Some(closed)) => {
                Some(Self::at(text, closed.span(), fault.message))
            }
            (fault, ..) => fault,
        }
    }

    /// The fault of an input with this outcome. `cut_at` is where it was cut off.
    pub(crate) fn ending(
        text: &[u8],
        outcome: Outcome,
        cut_at: Option<&Path>,
        options: &MendOptions,
    ) -> Option<Self> {
        let path = || cut_at.map(|path| format!(" at {path}")).unwrap_or_default();
        let end = text.len();
        match outcome {
            Outcome::Unchanged | Outcome::Repaired => None,
            Outcome::Closed => {
                Some(Self::at(text, end..end, format!("the input is cut off{}", path())))
            }
            Outcome::Cut => Some(Self::at(
                text,
                end..end,
                format!("the input is cut off{}; the policy forbids closing it", path()),
            )),
            Outcome::None => Some(Self::at(text, 0..0, "no JSON found".to_owned())),
            Outcome::Overflow => {
                let limits = options.limits();
                let depth = format!("{} levels of nesting (--depth)", limits.depth());
                let (start, passed) = match stop(text, options) {
                    Some((start, true)) => (start, depth),
                    Some((start, false)) => {
                        let held = limits.buffer().max(text.len() / 16);
                        (start, format!("{held} bytes held back (--buffer)"))
                    }
                    // Only the whole-text path exceeds a limit, so it is not known which.
                    None => {
                        let most = limits.documents();
                        let joined = format!("{most} short documents (--max-documents)");
                        (end, format!("{depth}, or {joined}"))
                    }
                };
                Some(Self::at(text, start..start, format!("a limit was exceeded: {passed}")))
            }
            _ => Some(Self::refused(text, options)),
        }
    }

    /// The fault of a refused input: the first repair that the policy forbids. The refusal does not
    /// say which it was, so the text is repaired again under a policy that allows everything.
    fn refused(text: &[u8], options: &MendOptions) -> Self {
        let policy = options.policy();
        let needed = find(text, Scope::Best, &options.clone().with_policy(Policy::PERMISSIVE));
        if let Some(repair) = needed.repairs().iter().find(|repair| !policy.permits(repair)) {
            return Self::at(text, repair.start()..repair.end(), reason(&repair, options));
        }
        if options.trailing_documents() == TrailingDocuments::Error {
            let start = needed.repairs().last().map_or(text.len(), |repair| repair.start());
            return Self::at(text, start..start, FOLLOWED.to_owned());
        }
        let start = stop(text, options).map_or(text.len(), |stop| stop.0);
        Self::at(text, start..start, "not valid JSON, and it could not be repaired".to_owned())
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }

    fn at(text: &[u8], span: std::ops::Range<usize>, message: String) -> Self {
        let Position { line, column } = Locator::new(text).at(span.start);
        Self { message, byte: span.start, line, column, end: span.end }
    }

    /// `error: name:1:7: byte 6: message`, an excerpt and carets.
    pub(crate) fn paragraph(&self, paint: Paint, label: &str, name: &str, text: &[u8]) -> Shown {
        let position = Position { line: self.line, column: self.column };
        let [source, carets] = excerpt(text, once(self.byte..self.end), position);
        shown!(
            "{}: {}: byte {}: {}\n{}\n{}",
            paint.paint(BAD, label),
            paint.paint(BOLD, shown!("{}:{}:{}", name, self.line, self.column)),
            self.byte,
            Shown::message(&self.message),
            source,
            paint.paint(BAD, carets)
        )
    }
}

const FOLLOWED: &str = "there is something after the document, which --trailing error forbids";

/// The limits of the push path, one of which was exceeded.
pub(crate) fn overflow(options: &MendOptions) -> String {
    let (depth, buffer) = (options.limits().depth(), options.limits().buffer());
    format!(
        "a limit was exceeded: {depth} levels of nesting (--depth), or {buffer} bytes held back \
         (--buffer); the rest is as received"
    )
}

/// Why this repair was refused.
pub(crate) fn reason(refused: &Repair, options: &MendOptions) -> String {
    if options.policy().permits(refused) {
        return FOLLOWED.to_owned();
    }
    let (kind, risk) = (refused.kind(), refused.risk());
    format!("not valid JSON: it needs the repair {kind} ({risk}), which the policy forbids")
}

/// The byte at which the push path gives up on the first document of the text, and whether the
/// nesting is at its limit there. Of a whole text that is read piece by piece, a sixteenth may be held
/// back.
fn stop(text: &[u8], options: &MendOptions) -> Option<(usize, bool)> {
    let mut first = FirstDocument(None);
    let mut extractor = Finder::new(Scope::First, options.clone());
    extractor.push(text, &mut first);
    extractor.finish(&mut first);
    let from = first.0.unwrap_or(0);
    let limits = options.limits();
    let limits = limits.with_buffer(limits.buffer().max(text.len() / 16));
    let mut mender = Mender::new(options.clone().with_limits(limits));
    for (at, byte) in text.iter().enumerate().skip(from) {
        let piece = std::slice::from_ref(byte);
        // A document begins here, so there is nothing to judge first.
        if mender.push_document(piece, &mut ()).is_some() {
            mender.push(piece, &mut ());
        }
        if mender.outcome().is_some() {
            return Some((at, mender.depth() >= limits.depth()));
        }
    }
    None
}

/// Where the first document begins.
struct FirstDocument(Option<usize>);

impl TextSink for FirstDocument {
    fn begin(&mut self, offset: usize) {
        self.0.get_or_insert(offset);
    }
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}

// Lines and columns, and a line of the source with carets below the bytes in question.

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
    use super::*;
    use std::iter::once;
    use wiremend_core::{Limits, mend};

    fn fault(text: &str, options: &MendOptions) -> Option<Fault> {
        Fault::of(text.as_bytes(), &mend(text.as_bytes(), options), options)
    }

    #[test]
    fn valid_and_repaired_texts_have_none() {
        assert_eq!(fault("[1]", &MendOptions::new()), None);
        assert_eq!(fault("['a']", &MendOptions::new()), None);
    }

    #[test]
    fn a_refusal_points_at_the_repair_that_was_needed() {
        let strict = MendOptions::new().with_policy(Policy::STRICT);
        let fault = fault("{\"a\":\n 'b'}", &strict).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (7, 2, 2));
        assert!(fault.message.contains("single-quote"), "{}", fault.message);
    }

    #[test]
    fn a_depth_limit_points_at_the_bracket_too_many() {
        let options = MendOptions::new().with_limits(Limits::new().with_depth(2));
        let fault = fault("[[\n[1]]]", &options).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (3, 2, 1));
    }

    #[test]
    fn a_cut_points_at_the_end() {
        let fault = fault("[1,\n2", &MendOptions::new()).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (5, 2, 2));
    }

    #[test]
    fn a_cut_points_at_the_document_that_was_cut_off() {
        let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
        let fault = fault("{\"a\": 1}\n{\"a\": 2\n{\"a\": 3}\n", &options).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (16, 2, 8));
    }

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
