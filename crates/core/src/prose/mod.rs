//! Text that is not JSON, and where in it a document begins.
//!
//! [`Prose`] is the only judge of that. The engine asks it about the text before a document,
//! `wiremend-extract` about all text around documents. It reads nothing itself: its callers pass it
//! the bytes that they read, and ask what is at a byte that may be special.

mod begins;
mod fence;
mod line;
mod look;
mod marks;
pub mod reasoning;

use crate::{Guide, scan, signs};
use begins::{
    BeforeBracket, Ground, begins, begins_known, begins_known_member, begins_member, is_name_start,
};
use fence::Inside;

use line::{Head, Line};

pub(crate) use begins::ENTITIES;
pub use fence::Fence;
pub(crate) use fence::fence_before;
pub use marks::Marks;
pub(crate) use marks::{LineMark, MAX_HEAD};
pub use reasoning::{Block, is_reasoning_tag};

/// What a quote begins, where a document is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quoted {
    /// A string.
    String,
    /// A string that holds a document, or a document that is in quotes: `'{"a": 1}'`.
    Either,
    /// A document, because no language has such a string: in apostrophes on several lines, or in
    /// double quotes, `"{"a": 1}"`, with quotes that are not escaped.
    Document,
    /// A member of an object whose opening brace is missing: `"a": 1, "b": 2}`.
    Member,
}

/// Where JSON may be in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Anywhere in prose.
    Anywhere,
    /// In code fences only.
    Fenced,
    /// The text should be JSON, as in the arguments of a tool.
    Json,
}

/// What is at a byte that may be special.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Mark {
    /// This many bytes of text.
    Text(usize),
    /// The first byte of a document.
    Document,
    /// The first byte of a document whose lines are marked, after the first mark.
    Marked(Marks),
    /// A tag of this length that opens a reasoning block.
    Reasoning(Block, usize),
    /// The opening of a code fence, with its length up to the content.
    Open(Fence, usize),
    /// The closing marks of the open fence, and how many there are.
    Close(usize),
}

/// Whether a text that begins with a bracket, at the start of a line, begins a document. `None` waits
/// for more.
pub(crate) fn begins_on_a_line(text: &[u8], window: usize, last: bool) -> Option<bool> {
    let place = BeforeBracket {
        ground: Ground::Line,
        prev: b' ',
        line_start: true,
        json: true,
        joined: false,
    };
    begins(text, place, window, last)
}

/// Whether this byte may begin something in the middle of a text.
#[inline(always)]
const fn is_special(byte: u8) -> bool {
    // `[` and `{` differ in one bit.
    (byte | 0x20 == b'{') | (byte == b'`') | (byte == b'~') | begins_only_a_line(byte)
}

/// Whether this byte may begin something where a document is expected: a tuple, too.
#[inline(always)]
const fn is_opening(byte: u8) -> bool {
    is_special(byte) | (byte == b'(')
}

/// How many bytes are searched for more signs than usual, because nothing came before. After these,
/// something has come, or is looked for again.
const FRESH: usize = 64;

/// Whether this byte may begin something at the start of a line, and nothing elsewhere: a tag, or
/// the sign that some reasoning blocks begin with.
#[inline(always)]
const fn begins_only_a_line(byte: u8) -> bool {
    (byte == b'<') | (byte == 0xE2)
}

/// Whether something on the line of the last byte of `text` is certainly more than white space.
fn ends_on_begun_line(text: &[u8]) -> bool {
    let mut bytes = text.iter().rev().skip_while(|byte| **byte == b' ').peekable();
    let Some(&&last) = bytes.peek() else { return false };
    if !last.is_ascii_graphic() || matches!(last, b'*' | b'_') {
        return false;
    }
    if last.is_ascii_alphabetic() {
        bytes.next();
    } else if !matches!(last, b'[' | b';' | b'0'..=b'9') {
        return true;
    }
    // It may be the end of a sequence for a terminal, which may have begun before `text`.
    let before = bytes.find(|byte| !matches!(byte, b'[' | b';' | b'0'..=b'9'));
    !matches!(before, None | Some(&signs::ESCAPE))
}

/// The text before the current byte, as far as it matters to what begins there.
///
/// ```
/// use wiremend_core::prose::{Expected, Mark, Prose};
///
/// let text = b"See [1] and: {\"a\": 1}";
/// let mut prose = Prose::new(Expected::Anywhere, 64);
/// let mut at = 0;
/// while let Some(rest @ [_, ..]) = text.get(at..) {
///     let plain = prose.plain(rest);
///     if plain > 0 {
///         prose.pass(&rest[..plain]);
///         at += plain;
///         continue;
///     }
///     match prose.mark(rest, at, true, None) {
///         Some(Mark::Text(length)) => {
///             prose.pass(&rest[..length]);
///             at += length;
///         }
///         _ => break,
///     }
/// }
/// assert_eq!(&text[at..], br#"{"a": 1}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prose {
    expected: Expected,
    /// How many bytes after a bracket are looked at.
    window: usize,
    line: Line,
    head: Head,
    fence: Option<Fence>,
}

impl Prose {
    /// The state before the first byte. At most `window` bytes from a byte on decide what is there.
    #[must_use]
    pub const fn new(expected: Expected, window: usize) -> Self {
        Self { expected, window, line: Line::START, head: Head::START, fence: None }
    }

    /// Whether only white space, comments and stray punctuation came before, and JSON is expected.
    #[must_use]
    pub const fn is_start(&self) -> bool {
        self.line.is_fresh() && self.fence.is_none() && matches!(self.expected, Expected::Json)
    }

    /// Whether there was only white space on this line.
    #[must_use]
    pub const fn is_line_start(&self) -> bool {
        self.line.is_start()
    }

    /// Whether there was text, and no fence is open, so that nothing but a bracket or a fence can end it.
    #[must_use]
    pub const fn is_in_prose(&self) -> bool {
        !self.begins_text() && self.fence.is_none() && !self.is_start()
    }

    /// How many bytes at the start of `bytes` are text whatever follows them.
    #[must_use]
    pub fn plain(&self, bytes: &[u8]) -> usize {
        // The next byte may show that there was only white space so far.
        if self.line.is_open() && matches!(bytes, [0x80..=0xBF, ..]) {
            return 1;
        }
        let fresh = bytes.get(..FRESH).unwrap_or(bytes);
        if self.is_start() {
            // A name may begin a call.
            let special = |byte: &u8| is_opening(*byte) || is_name_start(*byte);
            return fresh.iter().position(special).unwrap_or(fresh.len());
        }
        if self.begins_json_fence() || self.begins_text() {
            // A quote may begin a member whose brace is missing.
            let special = |byte: &u8| is_opening(*byte) || matches!(byte, b'"' | b'\'');
            return fresh.iter().position(special).unwrap_or(fresh.len());
        }
        let mut from = 0;
        while let Some(found) = scan::find(bytes.get(from..).unwrap_or_default(), is_special) {
            let (plain, rest) = bytes.split_at(from + found);
            if !(begins_only_a_line(rest[0]) && ends_on_begun_line(&plain[from..])) {
                return plain.len();
            }
            from = plain.len() + 1;
        }
        bytes.len()
    }

    /// What is at the start of `ahead`, which is at `offset` of the input. `last` says that the input
    /// ends with `ahead`. `None` waits for more.
    #[must_use]
    pub fn mark(
        &self,
        ahead: &[u8],
        offset: usize,
        last: bool,
        guide: Option<&dyn Guide>,
    ) -> Option<Mark> {
        let byte = ahead.first().copied()?;
        if self.line.is_colour(byte) {
            return Some(Mark::Text(1));
        }
        let line_start = self.line.is_start();
        match &self.fence {
            Some(fence) if byte == fence.mark() => {
                let close = fence.close(ahead, line_start, self.window, last)?;
                return Some(close.map_or(Mark::Text(1), Mark::Close));
            }
            None if matches!(byte, b'`' | b'~') => {
                let open = fence::open(ahead, offset, line_start, self.window, last)?;
                let run = ahead.iter().take(self.window).take_while(|next| **next == byte).count();
                return Some(open.map_or(Mark::Text(run), |(fence, len)| Mark::Open(fence, len)));
            }
            None if line_start && matches!(byte, b'<' | b'[' | 0xE2) => {
                if let Some((block, length)) = reasoning::open(ahead, last)? {
                    return Some(Mark::Reasoning(block, length));
                }
            }
            _ => {}
        }
        // A diff is a language, too.
        let markable = match &self.fence {
            Some(fence) => self.expected == Expected::Json || fence.inside() != Inside::Other,
            None => self.expected != Expected::Fenced,
        };
        if markable
            && matches!(byte, b'{' | b'[')
            && let Some(marks) = Marks::of(self.head.text(), ahead, self.window, last)?
        {
            return Some(Mark::Marked(marks));
        }
        if matches!(byte, b'"' | b'\'') {
            let guide = guide.filter(|_| self.begins_text());
            let member = match guide {
                Some(guide) => begins_known_member(ahead, guide, self.window, last)?,
                None => {
                    let fresh = self.fence.is_some_and(|fence| !fence.has_document());
                    fresh && self.begins_json_fence() && begins_member(ahead, self.window, last)?
                }
            };
            return Some(if member { Mark::Document } else { Mark::Text(1) });
        }
        let outside = match &self.fence {
            // Where JSON is expected, a document at the start of a fence counts whatever its
            // language.
            Some(fence) if self.expected == Expected::Json && !fence.is_touched() => false,
            Some(fence) => fence.inside() == Inside::Other,
            None => self.expected == Expected::Fenced,
        };
        let start = self.is_start();
        if outside && matches!(byte, b'{' | b'[' | b'(') {
            return Some(Mark::Text(ahead.iter().take_while(|next| **next == byte).count()));
        }
        let name = start && is_name_start(byte);
        if outside || !name && !matches!(byte, b'{' | b'[' | b'(') {
            return Some(Mark::Text(1));
        }
        let place = self.place(start);
        let known = match guide {
            Some(guide) => begins_known(ahead, place, guide, self.window, last)?,
            None => false,
        };
        if known || begins(ahead, place, self.window, last)? {
            return Some(Mark::Document);
        }
        Some(Mark::Text(self.equal_brackets(ahead)))
    }

    /// What the quote at the start of `ahead` begins, which is at `offset` of the input. `None` waits
    /// for more.
    #[must_use]
    pub fn quoted(&self, ahead: &[u8], offset: usize, last: bool) -> Option<Quoted> {
        let inside = ahead.get(1..).unwrap_or_default();
        match inside.first() {
            Some(b'{' | b'[') => {}
            None if !last => return None,
            _ => {
                let member = begins_member(ahead, self.window, last)?;
                return Some(if member { Quoted::Member } else { Quoted::String });
            }
        }
        let (seen, full) = match inside.get(..self.window) {
            Some(seen) => (seen, true),
            None => (inside, last),
        };
        let double = ahead.first() == Some(&b'"');
        if double {
            // After the brackets, a quote directly before a word or a sign is not the end of a string of JSON,
            // unless another document may begin with the sign.
            let quote = marks::openers(seen, full).unwrap_or(seen.len());
            match seen.get(quote..).unwrap_or_default() {
                [b'"', next, ..] if !next.is_ascii_whitespace() && !b"\",:}]{[-".contains(next) => {
                }
                [] | [b'"'] if !full => return None,
                // No string of JSON holds a line end.
                [b'\'' | 0xC2 | 0xE2, key @ ..]
                    if seen.iter().take(quote).any(|byte| *byte == b'\n') =>
                {
                    match is_odd_key(key) {
                        Some(true) => {}
                        None if !full => return None,
                        _ => return Some(Quoted::String),
                    }
                }
                _ => return Some(Quoted::String),
            }
        }
        let mut after = *self;
        after.pass(b"'");
        if !matches!(after.mark(inside, offset + 1, last, None)?, Mark::Document) {
            return Some(Quoted::String);
        }
        // A line end at the end of the text is not in it.
        if double || signs::solid(seen).contains(&b'\n') {
            return Some(Quoted::Document);
        }
        full.then_some(Quoted::Either)
    }

    /// How many brackets are text because the one at the start of `ahead` is. Those of a run that is
    /// longer than the window have the same byte before them and the same window after them, so they
    /// are not asked about one by one.
    fn equal_brackets(&self, ahead: &[u8]) -> usize {
        let bracket = self.line.prev();
        if ahead.len() <= self.window {
            return 1;
        }
        let run = ahead.iter().take_while(|byte| **byte == bracket).count();
        run.saturating_sub(self.window).max(1)
    }

    /// Whether only white space came after the start of a fence labelled as JSON.
    fn begins_json_fence(&self) -> bool {
        self.fence.is_some_and(|fence| !fence.is_touched() && fence.inside() == Inside::Json)
    }

    /// Whether only white space came before, and no fence.
    const fn begins_text(&self) -> bool {
        self.line.is_fresh() && self.fence.is_none()
    }

    /// What precedes the current byte.
    fn place(&self, start: bool) -> BeforeBracket {
        let json = self.expected == Expected::Json;
        let line_start = self.line.is_start();
        let last = self.line.last();
        let other = |fence: &Fence| fence.inside() == Inside::Other;
        let ground = match &self.fence {
            Some(fence) if !fence.is_touched() && fence.inside() == Inside::Json => Ground::Sure,
            Some(fence) if other(fence) => Ground::Line,
            Some(fence) if !fence.is_touched() && json => Ground::Led,
            None if start => Ground::Start,
            _ if line_start && self.line.is_led() => Ground::Led,
            _ if json && matches!(last, Some(b':' | b'=' | b'!')) => Ground::Led,
            _ if line_start || json => Ground::Line,
            _ => match last {
                Some(b':' | b'=' | b'`' | b'>' | b'-' | b'*' | b'|') => Ground::Line,
                _ => Ground::Inline,
            },
        };
        let apart = start || self.line.is_after_space();
        let prev = if apart { b' ' } else { self.line.prev() };
        BeforeBracket { ground, prev, line_start, json, joined: self.line.is_joined() }
    }

    /// Records text that was read.
    pub fn pass(&mut self, text: &[u8]) {
        self.pass_line(text);
        if let Some(fence) = &mut self.fence
            && !fence.is_touched()
            && !text.iter().all(|byte| line::is_space(*byte))
        {
            fence.touch();
        }
    }

    /// Records white space or a comment around a document, which is not text.
    pub fn pass_space(&mut self, space: &[u8]) {
        let fresh = self.line.is_fresh();
        self.pass_line(space);
        if fresh {
            self.line.refresh();
        }
    }

    fn pass_line(&mut self, text: &[u8]) {
        let line_end = scan::find_last(text, |byte| byte == b'\n');
        self.line.pass_all(text, line_end);
        self.head.pass(text, line_end);
    }

    /// Records that a [`Mark::Open`] was read.
    pub const fn open_fence(&mut self, fence: Fence) {
        self.fence = Some(fence);
        self.line = self.line.next();
        self.head = Head::START;
    }

    /// Records that a [`Mark::Close`] was read, with these marks.
    pub fn close_fence(&mut self, marks: &[u8]) {
        self.fence = None;
        self.line.pass_all(marks, None);
        self.head = Head::TAKEN;
    }

    /// Records that a reasoning block has ended.
    pub const fn end_reasoning(&mut self) {
        self.line = self.line.next();
        self.line.begin();
        self.head = Head::START;
    }

    /// Records that nothing was read that matters to the next document.
    pub const fn refresh(&mut self) {
        self.line.refresh();
    }

    /// Records that what follows belongs to text.
    pub const fn begin_text(&mut self) {
        self.line.begin();
    }

    /// Records that a document has ended.
    pub fn end_document(&mut self) {
        self.line.pass(b'}');
        self.line.begin();
        self.head = Head::TAKEN;
        self.line.join();
        if let Some(fence) = &mut self.fence {
            fence.document_ended();
        }
    }

    /// The open fence.
    #[must_use]
    pub const fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }
}

/// The longest key to look for in quotes that JSON does not have, in bytes.
const MAX_ODD_KEY: usize = 64;

/// Whether this is the rest of a key in single or typographic quotes, and what is written for its
/// colon. `None` if that is not visible.
fn is_odd_key(text: &[u8]) -> Option<bool> {
    let key = &text[..text.len().min(MAX_ODD_KEY)];
    match key.iter().position(|byte| matches!(byte, b':' | b'=' | b'\n')) {
        Some(end) => {
            let closed = matches!(key[..end].trim_ascii_end(), [_, .., b'\'' | 0x80..]);
            Some(key[end] != b'\n' && closed)
        }
        None if key.len() < MAX_ODD_KEY => None,
        None => Some(false),
    }
}
