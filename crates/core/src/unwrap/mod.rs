//! Documents in a wrapper: marks before each line, HTML entities, escapes of escapes.
//!
//! A wrapper is recognized at the first bytes of a document and taken off before the text is read:
//! [`Reader`] turns the text into the one that was wrapped, and lists its edits. The engine reads
//! that, and [`Composer`] joins the edits of both, so that each repair says what it does to the text
//! as it was given. [`Wrapper::at`] decides by bytes alone, and never by where a chunk ends.

mod compose;
mod reader;
mod whole;

use crate::{
    MendOptions, RepairKind,
    prose::{ENTITIES, MAX_HEAD, Marks, fence_before},
    scan,
    signs::{ESCAPE, MAX_COLOUR, colour, wide_space},
};

pub(crate) use compose::{Composer, Piece, Unwrapped};
pub(crate) use reader::Reader;
pub(crate) use whole::{unwrapped, wrapped};

/// What is around a document, and inside of it in many places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    /// Marks before each line. `within` says that the text begins after the first one.
    Lines { marks: Marks, within: bool },
    /// `{&quot;a&quot;: 1}`.
    Entities,
    /// `{\\\"a\\\": 1}`: a document that was escaped twice. One level is removed, and the other is
    /// left to the engine.
    Escapes,
}

impl Wrapper {
    /// How taking it off is reported.
    pub(crate) const fn kind(self) -> RepairKind {
        match self {
            Self::Lines { .. } => RepairKind::LineMark,
            Self::Entities => RepairKind::HtmlEntity,
            Self::Escapes => RepairKind::EscapedDocument,
        }
    }
}

/// Watches the first bytes of a text, until it is known whether a wrapper begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    place: Place,
    /// How many bytes may still be watched.
    left: usize,
    nest: Nest,
}

/// The brackets that are open in what a [`Gate`] was shown.
///
/// The watch ends where they do not match, or where the engine would drop one of them: only while
/// both agree is it certain that the document has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Nest {
    /// A bit for each, set for a brace, below a bit that is set for the end.
    open: u64,
    /// The last byte that is no white space, and whether white space follows it.
    last: u8,
    spaced: bool,
}

impl Nest {
    const EMPTY: Self = Self { open: 1, last: 0, spaced: false };

    /// Whether a key, an item or a value may begin here.
    const fn begins_token(self) -> bool {
        self.spaced || matches!(self.last, 0 | b'{' | b'[' | b',' | b':')
    }

    /// Reads a bracket inside of the document. `None` if the watch ends there.
    const fn read(self, bracket: u8) -> Option<Self> {
        let Self { open, last, .. } = self;
        let brace = bracket == b'{' || bracket == b'}';
        let in_object = open > 1 && open & 1 == 1;
        let begins = match last {
            _ if open == 1 => true,
            b'[' | b',' => !in_object,
            last => in_object && last == b':',
        };
        let open = match bracket {
            b'{' | b'[' if begins && open.leading_zeros() > 0 => open << 1 | brace as u64,
            b'}' | b']' if open > 3 && in_object == brace => open >> 1,
            _ => return None,
        };
        Some(Self { open, last: bracket, spaced: false })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the text, where lines may be marked, and a fence may be opened.
    Start,
    /// In a line that begins like a fence, and opens none.
    Fence,
    /// After that line.
    Fenced,
    /// After punctuation or a comment before the document, which the engine drops.
    Stray,
    /// In words before the document, up to a bracket.
    Prose,
    /// In a comment before the document that ends with this, or at a line end if it is empty.
    Comment(&'static [u8]),
    /// Where a document is known to begin, or after its first bracket.
    Document,
}

/// What is known of the bytes that a [`Gate`] was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// No wrapper, whatever follows.
    Clear,
    /// The first of them are not in a wrapper, and the others cannot be decided yet.
    Open(usize),
    /// A wrapper begins after the first of them.
    Wrapped(usize, Wrapper),
}

/// How far from its start a document may have its first quote, in bytes.
const WATCHED: usize = 64;

impl Gate {
    /// The state before a text.
    pub(crate) const START: Self = Self { place: Place::Start, left: WATCHED, nest: Nest::EMPTY };
    /// The state before a document.
    pub(crate) const DOCUMENT: Self =
        Self { place: Place::Document, left: WATCHED, nest: Nest::EMPTY };

    /// Looks at `bytes`, which follow those that were decided before. `last` says that the input ends
    /// with them.
    pub(crate) fn watch(&mut self, bytes: &[u8], options: &MendOptions, last: bool) -> Seen {
        let window = options.limits().lookahead();
        match self.look(bytes, window, last) {
            Seen::Wrapped(_, Wrapper::Lines { marks, .. })
                if marks.are_taken_for_documents(options) =>
            {
                Seen::Clear
            }
            seen => seen,
        }
    }

    fn look(&mut self, bytes: &[u8], window: usize, last: bool) -> Seen {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(&byte) = rest.first() else {
                return if last { Seen::Clear } else { Seen::Open(at) };
            };
            if self.place == Place::Document {
                if self.left == 0 {
                    return Seen::Clear;
                }
                self.left -= 1;
            }
            match (self.place, byte) {
                (Place::Fence, b'\n') => self.place = Place::Fenced,
                (Place::Fence, b'{' | b'[') => return Seen::Clear,
                (Place::Fence, _) => {}
                (Place::Comment(b""), b'\n' | b'\r') => self.place = Place::Stray,
                (Place::Comment(end @ [first, ..]), _) if byte == *first => {
                    if rest.starts_with(end) {
                        (self.place, at) = (Place::Stray, at + end.len() - 1);
                    } else if end.starts_with(rest) && !last {
                        return Seen::Open(at);
                    }
                }
                (Place::Comment(_), _) => {}
                (_, b'{' | b'[') | (Place::Document, b'}' | b']') => match self.nest.read(byte) {
                    Some(nest) => (self.place, self.nest) = (Place::Document, nest),
                    None => return Seen::Clear,
                },
                // A mark may begin with white space.
                (Place::Start | Place::Fenced, b'\n' | b'\r') => {}
                (Place::Start, b'`' | b'~' | b'\\') if rest.len() < 3 && !last => {
                    return Seen::Open(at);
                }
                // An escaped quote around a document that was escaped twice.
                (Place::Start, b'\\') if matches!(rest, [_, b'"', b'{' | b'[', ..]) => at += 1,
                (Place::Start, b'`' | b'~') if rest.starts_with(&[byte; 3]) => {
                    // A bracket in its line may be a part of its label.
                    match fence_before(rest, window, last) {
                        None => return Seen::Open(at),
                        Some(Some(length)) => {
                            self.place = Place::Fenced;
                            at += length - 1;
                        }
                        Some(None) => self.place = Place::Fence,
                    }
                }
                (Place::Start | Place::Fenced | Place::Stray, 0xC2 | 0xE1..=0xE3 | 0xEF)
                    if rest.len() < 3 && !last =>
                {
                    return Seen::Open(at);
                }
                (Place::Start | Place::Fenced | Place::Stray, 0xEF)
                    if rest.starts_with("\u{feff}".as_bytes()) =>
                {
                    at += 2;
                }
                (Place::Start | Place::Fenced | Place::Stray, ESCAPE)
                    if !last && begins_colour(rest) =>
                {
                    return Seen::Open(at);
                }
                (Place::Start | Place::Fenced | Place::Stray, _) if odd_space(rest) > 0 => {
                    (self.place, at) = (Place::Stray, at + odd_space(rest) - 1);
                }
                (Place::Stray, b' ' | b'\t' | b'\n' | b'\r') => {}
                (Place::Stray, _) => match stray(rest, last) {
                    None => return Seen::Open(at),
                    Some(Some((place, length))) => (self.place, at) = (place, at + length - 1),
                    // In a string, all of it would be the document.
                    Some(None) if begins_string(rest) => return Seen::Clear,
                    Some(None) => self.place = Place::Prose,
                },
                (Place::Prose, _) => {
                    let next = scan::find(rest, |byte| (byte == b'{') | (byte == b'['));
                    at += next.unwrap_or(rest.len()) - 1;
                }
                (Place::Start | Place::Fenced, _) => match line(rest, window, last) {
                    None => return Seen::Open(at),
                    Some(Line::Blanks(length)) => at += length - 1,
                    Some(Line::Marked(marks)) => {
                        return Seen::Wrapped(at, Wrapper::Lines { marks, within: false });
                    }
                    Some(Line::Other) => {
                        self.place = Place::Stray;
                        continue;
                    }
                },
                // In words, they are part of these.
                (Place::Document, b'&' | b'\\') if !self.nest.begins_token() => return Seen::Clear,
                (Place::Document, b'&' | b'\\') => {
                    return match encoding(rest, last) {
                        None => {
                            self.left += 1;
                            Seen::Open(at)
                        }
                        Some(None) => Seen::Clear,
                        Some(Some(wrapper)) => Seen::Wrapped(at, wrapper),
                    };
                }
                (Place::Document, 0..=b' ') => self.nest.spaced = true,
                // Whatever comes before the first string.
                (
                    Place::Document,
                    b','
                    | b':'
                    | b'.'
                    | b'+'
                    | b'-'
                    | b'_'
                    | b'0'..=b'9'
                    | b'a'..=b'z'
                    | b'A'..=b'Z',
                ) => (self.nest.last, self.nest.spaced) = (byte, false),
                (Place::Document, 0xC2 | 0xE1..=0xE3 | 0xEF) if rest.len() < 3 && !last => {
                    self.left += 1;
                    return Seen::Open(at);
                }
                (Place::Document, _) => match wide_space(rest) {
                    Some((_, length)) => (at, self.nest.spaced) = (at + length - 1, true),
                    None => return Seen::Clear,
                },
            }
            at += 1;
        }
    }
}

/// What begins with `text` that the engine drops before a document, and how long its start is. `None`
/// waits for more.
fn stray(text: &[u8], last: bool) -> Option<Option<(Place, usize)>> {
    const COMMENTS: [(&[u8], &[u8]); 7] = [
        (b"//", b""),
        (b"# ", b""),
        (b"##", b""),
        (b"#!", b""),
        (b"#\t", b""),
        (b"/*", b"*/"),
        (b"<!--", b"-->"),
    ];
    match text {
        [b'\\'] if !last => return None,
        [b'\\', b'n' | b'r' | b't', ..] => return Some(Some((Place::Stray, 2))),
        // It begins no string.
        [b'\\', b'"', ..] => return Some(Some((Place::Prose, 2))),
        _ => {}
    }
    if !last
        && COMMENTS.iter().any(|(start, _)| start.len() > text.len() && start.starts_with(text))
    {
        return None;
    }
    if let Some((start, end)) = COMMENTS.iter().find(|(start, _)| text.starts_with(start)) {
        return Some(Some((Place::Comment(end), start.len())));
    }
    let punctuation = |byte: &&u8| byte.is_ascii_punctuation() && !b"\"'`<&{[".contains(byte);
    Some(text.first().filter(punctuation).map(|_| (Place::Stray, 1)))
}

/// Whether a string may begin with `text`, in quotes of any kind.
fn begins_string(text: &[u8]) -> bool {
    matches!(text, [b'"' | b'\'' | b'`', ..] | [0xC2 | 0xE2 | 0xE3, ..])
}

/// The length of a control character, of the sequence that sets a colour on a terminal, or of white space
/// outside JSON's at the start of `text`, or 0.
fn odd_space(text: &[u8]) -> usize {
    match text {
        [ESCAPE, b'[', ..] => colour(text).unwrap_or_default(),
        [b'\t' | b'\n' | b'\r', ..] => 0,
        [0..=0x1f | 0x7f, ..] => 1,
        _ => match wide_space(text) {
            Some((_, length)) => length,
            None => 0,
        },
    }
}

/// Whether more is needed to tell whether `text` begins with such a sequence.
fn begins_colour(text: &[u8]) -> bool {
    let Some(after) = text.get(1..).filter(|_| text.len() < MAX_COLOUR) else { return false };
    let Some(parameters) = after.strip_prefix(b"[") else { return after.is_empty() };
    parameters.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'))
}

/// What a line before the document begins with.
enum Line {
    /// This much white space, and a bracket or a line end.
    Blanks(usize),
    Marked(Marks),
    Other,
}

/// Looks at the start of a line that may be marked. `None` waits for more.
fn line(text: &[u8], window: usize, last: bool) -> Option<Line> {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match text.get(blanks) {
        _ if blanks > MAX_HEAD => return Some(Line::Other),
        Some(b'{' | b'[' | b'\n' | b'\r') if blanks > 0 => return Some(Line::Blanks(blanks)),
        Some(_) => {}
        None if last => return Some(Line::Other),
        None => return None,
    }
    let head = text.iter().take(MAX_HEAD + 1).position(|byte| b"{[\n\"'`\\".contains(byte));
    match head {
        Some(at) if matches!(text.get(at), Some(b'{' | b'[')) => {
            let (head, ahead) = text.split_at(at);
            let marks = Marks::of(head, ahead, window, last)?;
            Some(marks.map_or(Line::Other, Line::Marked))
        }
        None if text.len() <= MAX_HEAD && !last && Marks::may_begin(text) => None,
        _ => Some(Line::Other),
    }
}

/// How the document is encoded that has these bytes where its first string may begin. `None` waits
/// for more.
fn encoding(text: &[u8], last: bool) -> Option<Option<Wrapper>> {
    const TWICE: [&[u8]; 5] = [br#"\\\""#, br"\\n", br"\\t", br"\\r", br"\u0022"];
    let begins = |tokens: &[&[u8]]| tokens.iter().any(|token| text.starts_with(token));
    let may_begin = |tokens: &[&[u8]]| !last && tokens.iter().any(|token| token.starts_with(text));
    if begins(&ENTITIES) {
        return Some(Some(Wrapper::Entities));
    }
    if begins(&TWICE) {
        return Some(Some(Wrapper::Escapes));
    }
    (!may_begin(&ENTITIES) && !may_begin(&TWICE)).then_some(None)
}
