//! Documents in a wrapper: marks before each line, HTML entities, escapes of escapes.
//!
//! A wrapper is recognized at the first bytes of a document and taken off before the text is read:
//! [`Reader`] turns the text into the one that was wrapped, and lists its edits. The engine reads
//! that, and [`Composer`] joins the edits of both, so that each repair says what it does to the text
//! as it was given. [`Wrapper::at`] decides by bytes alone, and never by where a chunk ends.

use alloc::{borrow::Cow, collections::VecDeque, string::String, vec::Vec};
use core::ops::Range;

use crate::{
    MendOptions, Mended, Outcome, Repair, RepairKind, Repairs,
    prose::{ENTITIES, LineMark, MAX_HEAD, Marks, fence_before},
    scan,
    signs::{ESCAPE, MAX_COLOUR, colour, wide_space},
};

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
    place: Region,
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
enum Region {
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
    pub(crate) const START: Self = Self { place: Region::Start, left: WATCHED, nest: Nest::EMPTY };
    /// The state before a document.
    pub(crate) const DOCUMENT: Self =
        Self { place: Region::Document, left: WATCHED, nest: Nest::EMPTY };

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
            if self.place == Region::Document {
                if self.left == 0 {
                    return Seen::Clear;
                }
                self.left -= 1;
            }
            match (self.place, byte) {
                (Region::Fence, b'\n') => self.place = Region::Fenced,
                (Region::Fence, b'{' | b'[') => return Seen::Clear,
                (Region::Fence, _) => {}
                (Region::Comment(b""), b'\n' | b'\r') => self.place = Region::Stray,
                (Region::Comment(end @ [first, ..]), _) if byte == *first => {
                    if rest.starts_with(end) {
                        (self.place, at) = (Region::Stray, at + end.len() - 1);
                    } else if end.starts_with(rest) && !last {
                        return Seen::Open(at);
                    }
                }
                (Region::Comment(_), _) => {}
                (_, b'{' | b'[') | (Region::Document, b'}' | b']') => match self.nest.read(byte) {
                    Some(nest) => (self.place, self.nest) = (Region::Document, nest),
                    None => return Seen::Clear,
                },
                // A mark may begin with white space.
                (Region::Start | Region::Fenced, b'\n' | b'\r') => {}
                (Region::Start, b'`' | b'~' | b'\\') if rest.len() < 3 && !last => {
                    return Seen::Open(at);
                }
                // An escaped quote around a document that was escaped twice.
                (Region::Start, b'\\') if matches!(rest, [_, b'"', b'{' | b'[', ..]) => at += 1,
                (Region::Start, b'`' | b'~') if rest.starts_with(&[byte; 3]) => {
                    // A bracket in its line may be a part of its label.
                    match fence_before(rest, window, last) {
                        None => return Seen::Open(at),
                        Some(Some(length)) => {
                            self.place = Region::Fenced;
                            at += length - 1;
                        }
                        Some(None) => self.place = Region::Fence,
                    }
                }
                (Region::Start | Region::Fenced | Region::Stray, 0xC2 | 0xE1..=0xE3 | 0xEF)
                    if rest.len() < 3 && !last =>
                {
                    return Seen::Open(at);
                }
                (Region::Start | Region::Fenced | Region::Stray, 0xEF)
                    if rest.starts_with("\u{feff}".as_bytes()) =>
                {
                    at += 2;
                }
                (Region::Start | Region::Fenced | Region::Stray, ESCAPE)
                    if !last && begins_colour(rest) =>
                {
                    return Seen::Open(at);
                }
                (Region::Start | Region::Fenced | Region::Stray, _) if odd_space(rest) > 0 => {
                    (self.place, at) = (Region::Stray, at + odd_space(rest) - 1);
                }
                (Region::Stray, b' ' | b'\t' | b'\n' | b'\r') => {}
                (Region::Stray, _) => match stray(rest, last) {
                    None => return Seen::Open(at),
                    Some(Some((place, length))) => (self.place, at) = (place, at + length - 1),
                    // In a string, all of it would be the document.
                    Some(None) if begins_string(rest) => return Seen::Clear,
                    Some(None) => self.place = Region::Prose,
                },
                (Region::Prose, _) => {
                    let next = scan::find(rest, |byte| (byte == b'{') | (byte == b'['));
                    at += next.unwrap_or(rest.len()) - 1;
                }
                (Region::Start | Region::Fenced, _) => match line(rest, window, last) {
                    None => return Seen::Open(at),
                    Some(Line::Blanks(length)) => at += length - 1,
                    Some(Line::Marked(marks)) => {
                        return Seen::Wrapped(at, Wrapper::Lines { marks, within: false });
                    }
                    Some(Line::Other) => {
                        self.place = Region::Stray;
                        continue;
                    }
                },
                // In words, they are part of these.
                (Region::Document, b'&' | b'\\') if !self.nest.begins_token() => {
                    return Seen::Clear;
                }
                (Region::Document, b'&' | b'\\') => {
                    return match encoding(rest, last) {
                        None => {
                            self.left += 1;
                            Seen::Open(at)
                        }
                        Some(None) => Seen::Clear,
                        Some(Some(wrapper)) => Seen::Wrapped(at, wrapper),
                    };
                }
                (Region::Document, 0..=b' ') => self.nest.spaced = true,
                // Whatever comes before the first string.
                (
                    Region::Document,
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
                (Region::Document, 0xC2 | 0xE1..=0xE3 | 0xEF) if rest.len() < 3 && !last => {
                    self.left += 1;
                    return Seen::Open(at);
                }
                (Region::Document, _) => match wide_space(rest) {
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
fn stray(text: &[u8], last: bool) -> Option<Option<(Region, usize)>> {
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
        [b'\\', b'n' | b'r' | b't', ..] => return Some(Some((Region::Stray, 2))),
        // It begins no string.
        [b'\\', b'"', ..] => return Some(Some((Region::Prose, 2))),
        _ => {}
    }
    if !last
        && COMMENTS.iter().any(|(start, _)| start.len() > text.len() && start.starts_with(text))
    {
        return None;
    }
    if let Some((start, end)) = COMMENTS.iter().find(|(start, _)| text.starts_with(start)) {
        return Some(Some((Region::Comment(end), start.len())));
    }
    let punctuation = |byte: &&u8| byte.is_ascii_punctuation() && !b"\"'`<&{[".contains(byte);
    Some(text.first().filter(punctuation).map(|_| (Region::Stray, 1)))
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

// Joins the edits that take a wrapper off with those of the engine.

/// An edit that takes off a part of a wrapper.
#[derive(Clone, Debug)]
pub(crate) struct Unwrapped {
    kind: RepairKind,
    raw: Range<usize>,
    /// The offset in the text that was wrapped.
    inner: usize,
    /// The character that it becomes.
    text: [u8; 4],
    length: u8,
    /// How many bytes of that were emitted.
    emitted: u8,
}

impl Unwrapped {
    fn new(kind: RepairKind, raw: Range<usize>, inner: usize, after: Option<char>) -> Self {
        let mut text = [0; 4];
        let length = after.map_or(0, |after| after.encode_utf8(&mut text).len() as u8);
        Self { kind, raw, inner, text, length, emitted: 0 }
    }

    /// What the span becomes.
    fn after(&self) -> &[u8] {
        self.text.get(..usize::from(self.length)).unwrap_or_default()
    }

    fn repair(&self) -> Repair {
        let after: Cow<'static, str> = match self.after() {
            [] => "".into(),
            b"\"" => "\"".into(),
            b"\\" => "\\".into(),
            b"\n" => "\n".into(),
            text => String::from_utf8_lossy(text).into_owned().into(),
        };
        Repair::new(self.kind, self.raw.clone(), after)
    }
}

/// A part of the text that was wrapped, which is to be emitted.
pub(crate) enum Piece {
    /// This many bytes as they are.
    Copy(usize),
    /// This many bytes that replace something of the input.
    Patch(usize),
    /// A repair, which comes before the bytes that it adds.
    Repair(Repair),
}

/// Leads from the edits of the engine, whose offsets are in the text that was wrapped, to edits of
/// the text that was given.
///
/// Every edit is passed in order, and in the order of the text: [`pass`](Self::pass) up to a repair,
/// then [`repair`](Self::repair). Edits that touch the same bytes become one, of the kind that has the
/// higher risk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Composer {
    /// The offsets up to which everything was passed: in the text that was wrapped, and as it was given.
    at: usize,
    raw: usize,
    /// The edits of the wrapper after that.
    pub(crate) edits: VecDeque<Unwrapped>,
    /// Where dropped text begins whose end is not known: in both texts.
    dropping: Option<(usize, usize)>,
    /// How many bytes after `at` belong to a character of which a repair took the first bytes.
    rest: usize,
}

impl Composer {
    /// The state where nothing before `offset` was changed, and the text from `dropping` on is dropped.
    pub(crate) fn new(offset: usize, dropping: Option<usize>) -> Self {
        let dropping = dropping.map(|from| (from, from));
        Self { at: offset, raw: offset, dropping, ..Self::default() }
    }

    /// The offset in the text as it was given, up to which everything was passed.
    pub(crate) const fn raw(&self) -> usize {
        self.raw
    }

    /// Passes the next `length` bytes of the text that was wrapped.
    pub(crate) fn pass_by(&mut self, length: usize, each: impl FnMut(Piece)) {
        self.pass(self.at + length, each);
    }

    /// Passes everything up to `to`.
    pub(crate) fn pass(&mut self, to: usize, mut each: impl FnMut(Piece)) {
        let rest = self.rest.min(to.saturating_sub(self.at));
        if rest > 0 {
            each(Piece::Patch(rest));
            self.rest -= rest;
            self.at += rest;
        }
        while let Some(edit) = self.edits.front_mut() {
            let emitted = edit.inner + usize::from(edit.emitted);
            if emitted >= to {
                break;
            }
            if edit.inner > self.at {
                each(Piece::Copy(edit.inner - self.at));
                self.raw += edit.inner - self.at;
                self.at = edit.inner;
            }
            if edit.emitted == 0 {
                each(Piece::Repair(edit.repair()));
                self.raw = edit.raw.end;
            }
            let end = edit.inner + usize::from(edit.length);
            let length = end.min(to) - self.at;
            if length > 0 {
                each(Piece::Patch(length));
                self.at += length;
                edit.emitted += length as u8;
            }
            if self.at >= end {
                self.edits.pop_front();
            }
        }
        if to > self.at {
            each(Piece::Copy(to - self.at));
            self.raw += to - self.at;
            self.at = to;
        }
    }

    /// Passes what was dropped at the end of the text that was wrapped.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Piece)) {
        while let Some(edit) = self.edits.pop_front() {
            each(Piece::Repair(edit.repair()));
            self.raw = edit.raw.end;
        }
    }

    /// A repair of the engine, as one of the text that was given. Everything before its start must
    /// have been passed.
    pub(crate) fn repair(&mut self, repair: Repair, mut each: impl FnMut(Piece)) -> Repair {
        let (start, end) = (repair.start(), repair.end());
        // What is dropped directly before it is an edit of its own.
        while let Some(edit) = self.edits.front()
            && edit.length == 0
            && edit.inner <= start
        {
            each(Piece::Repair(edit.repair()));
            self.raw = edit.raw.end;
            self.edits.pop_front();
        }
        let from = match self.dropping.take() {
            Some((_, raw)) => raw,
            None => self.raw,
        };
        let kind = self.skip(end).filter(|kind| kind.risk() > repair.kind().risk());
        let repair = repair.with_span(from..self.raw);
        match kind {
            Some(kind) if !repair.is_in_doubt() => {
                let (_, span, after) = repair.into_parts();
                Repair::new(kind, span, after)
            }
            _ => repair,
        }
    }

    /// Passes text that is dropped, up to `to`. Returns the kind of an edit in it.
    fn skip(&mut self, to: usize) -> Option<RepairKind> {
        let mut kind = None;
        while let Some(edit) = self.edits.front()
            && edit.inner < to
        {
            debug_assert_eq!(edit.emitted, 0, "a repair begins inside of a character");
            kind = Some(edit.kind);
            self.at = edit.inner + usize::from(edit.length);
            self.raw = edit.raw.end;
            self.edits.pop_front();
        }
        self.rest = self.at.saturating_sub(to);
        if to > self.at {
            self.raw += to - self.at;
        }
        self.at = to;
        kind
    }

    /// Notes that the text from `from` on is dropped, and that this is known up to `to`.
    pub(crate) fn drop_text(&mut self, from: usize, to: usize, each: impl FnMut(Piece)) {
        if self.dropping.is_none() {
            self.pass(from, each);
            self.dropping = Some((from, self.raw));
        }
        self.skip(to);
    }
}

// Takes a wrapper off a text that arrives in pieces.

/// Turns text in a wrapper into the text that was wrapped.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    wrapper: Wrapper,
    /// The marks of the next line, and whether a line begins here.
    line: Option<(Marks, bool)>,
    /// What cannot be read before more has arrived: a part of a mark, an entity or an escape.
    held: Vec<u8>,
    /// The offset of the next byte in the text, and in what it becomes.
    raw: usize,
    inner: usize,
}

/// What is at the start of a text.
enum Token {
    /// This many bytes that stay as they are.
    Plain(usize),
    /// This many bytes that become this character, or are dropped.
    Wrapped(usize, Option<char>),
    /// Something of which not all has arrived.
    Part,
}

impl Reader {
    /// Takes `wrapper` off a text from `offset` on, before which nothing was changed.
    pub(crate) fn new(wrapper: Wrapper, offset: usize) -> Self {
        let line = match wrapper {
            Wrapper::Lines { marks, within } => Some((marks, !within)),
            Wrapper::Entities | Wrapper::Escapes => None,
        };
        Self { wrapper, line, held: Vec::new(), raw: offset, inner: offset }
    }

    /// How taking the wrapper off is reported.
    pub(crate) const fn kind(&self) -> RepairKind {
        self.wrapper.kind()
    }

    /// The offset of that in the text that was wrapped.
    pub(crate) const fn inner(&self) -> usize {
        self.inner
    }

    /// Reads more of the text. Appends what it becomes, and lists the edits. `last` says that it ends
    /// here.
    pub(crate) fn read(
        &mut self,
        text: &[u8],
        last: bool,
        inner: &mut Vec<u8>,
        edits: &mut VecDeque<Unwrapped>,
    ) {
        if self.held.is_empty() {
            let read = self.read_piece(text, last, inner, edits);
            self.held.extend_from_slice(text.get(read..).unwrap_or_default());
        } else {
            let mut joint = core::mem::take(&mut self.held);
            joint.extend_from_slice(text);
            let read = self.read_piece(&joint, last, inner, edits);
            joint.drain(..read);
            self.held = joint;
        }
    }

    fn read_piece(
        &mut self,
        text: &[u8],
        last: bool,
        inner: &mut Vec<u8>,
        edits: &mut VecDeque<Unwrapped>,
    ) -> usize {
        let mut at = 0;
        while let Some(rest @ [_, ..]) = text.get(at..) {
            match self.token(rest, last) {
                Token::Plain(length) => {
                    inner.extend_from_slice(rest.get(..length).unwrap_or(rest));
                    at += length;
                    self.raw += length;
                    self.inner += length;
                }
                Token::Wrapped(length, after) => {
                    let edit = Unwrapped::new(
                        self.wrapper.kind(),
                        self.raw..self.raw + length,
                        self.inner,
                        after,
                    );
                    inner.extend_from_slice(edit.after());
                    at += length;
                    self.raw += length;
                    self.inner += edit.after().len();
                    edits.push_back(edit);
                }
                Token::Part => break,
            }
        }
        at
    }

    fn token(&mut self, text: &[u8], last: bool) -> Token {
        match self.wrapper {
            Wrapper::Lines { .. } => self.mark(text, last),
            Wrapper::Entities => match text.iter().position(|byte| *byte == b'&') {
                Some(0) => entity(text, last),
                until => Token::Plain(until.unwrap_or(text.len())),
            },
            Wrapper::Escapes => match text.iter().position(|byte| *byte == b'\\') {
                Some(0) => escape(text, last),
                until => Token::Plain(until.unwrap_or(text.len())),
            },
        }
    }

    fn mark(&mut self, text: &[u8], last: bool) -> Token {
        let Some((marks, begins)) = &mut self.line else { return Token::Plain(text.len()) };
        if !*begins {
            let end = text.iter().position(|byte| *byte == b'\n');
            *begins = end.is_some();
            return Token::Plain(end.map_or(text.len(), |end| end + 1));
        }
        match marks.next(text, last) {
            LineMark::More => Token::Part,
            LineMark::None => {
                *begins = false;
                Token::Plain(0)
            }
            LineMark::Mark(length, next) => {
                (*marks, *begins) = (next, false);
                Token::Wrapped(length, None)
            }
        }
    }
}

/// The longest entity that is decoded, in bytes.
const LONGEST_ENTITY: usize = 10;

/// Decodes the entity at the start of `text`, one level of it: `&amp;lt;` becomes `&lt;`.
fn entity(text: &[u8], last: bool) -> Token {
    let seen = text.get(..LONGEST_ENTITY).unwrap_or(text);
    let name = seen.get(1..).unwrap_or_default();
    let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#');
    let Some(end) = end else {
        let open = seen.len() < LONGEST_ENTITY && !last;
        return if open { Token::Part } else { Token::Plain(1) };
    };
    let (name, after) = name.split_at(end);
    let character = match name {
        _ if after.first() != Some(&b';') => None,
        b"quot" | b"QUOT" => Some('"'),
        b"apos" => Some('\''),
        b"amp" | b"AMP" => Some('&'),
        b"lt" | b"LT" => Some('<'),
        b"gt" | b"GT" => Some('>'),
        b"nbsp" => Some('\u{a0}'),
        b"ldquo" => Some('\u{201c}'),
        b"rdquo" => Some('\u{201d}'),
        b"lsquo" => Some('\u{2018}'),
        b"rsquo" => Some('\u{2019}'),
        [b'#', b'x' | b'X', digits @ ..] => character(digits, 16),
        [b'#', digits @ ..] => character(digits, 10),
        _ => None,
    };
    match character {
        Some(character) => Token::Wrapped(end + 2, Some(character)),
        None => Token::Plain(1),
    }
}

/// The character with this number, if it may be in a text.
fn character(digits: &[u8], radix: u32) -> Option<char> {
    let mut number = 0_u32;
    for digit in digits {
        number = number.checked_mul(radix)?.checked_add((*digit as char).to_digit(radix)?)?;
    }
    let spaces = matches!(number, 9 | 10 | 13);
    char::from_u32(number).filter(|_| !digits.is_empty() && (number >= 0x20 || spaces))
}

/// Removes one level from the escape at the start of `text`.
fn escape(text: &[u8], last: bool) -> Token {
    let Some(next) = text.get(1) else {
        return if last { Token::Plain(1) } else { Token::Part };
    };
    let character = match next {
        b'"' | b'\\' | b'/' => char::from(*next),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unit(text, last),
        _ => return Token::Plain(1),
    };
    Token::Wrapped(2, Some(character))
}

/// The same for `\u` and its digits, which may be half of a character.
fn unit(text: &[u8], last: bool) -> Token {
    let value = |text: &[u8]| match text.get(..6) {
        Some([b'\\', b'u', digits @ ..]) => {
            let digit = |byte: &u8| (*byte as char).to_digit(16);
            digits.iter().try_fold(0, |value, byte| Some(value * 16 + digit(byte)?)).ok_or(true)
        }
        Some(_) => Err(true),
        None => Err(last),
    };
    match value(text) {
        Ok(high @ 0xD800..=0xDBFF) => match value(text.get(6..).unwrap_or_default()) {
            Ok(low @ 0xDC00..=0xDFFF) => {
                let number = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                Token::Wrapped(12, char::from_u32(number))
            }
            Err(false) => Token::Part,
            Ok(_) | Err(true) => Token::Plain(1),
        },
        Ok(number) => match char::from_u32(number) {
            // A control character stays escaped.
            Some(character) if number >= 0x20 => Token::Wrapped(6, Some(character)),
            _ => Token::Plain(1),
        },
        Err(true) => Token::Plain(1),
        Err(false) => Token::Part,
    }
}

// A whole text in a wrapper.

/// A text is read in pieces of so many bytes when its edits are listed, so that only theirs are kept.
const PIECE: usize = 16 << 10;

/// The text in a wrapper that begins at `at`.
pub(crate) fn unwrapped(input: &[u8], at: usize, wrapper: Wrapper) -> Vec<u8> {
    let (before, rest) = input.split_at(at);
    let mut inner = Vec::with_capacity(input.len());
    inner.extend_from_slice(before);
    let mut reader = Reader::new(wrapper, at);
    let mut edits = VecDeque::new();
    for piece in rest.chunks(PIECE) {
        reader.read(piece, false, &mut inner, &mut edits);
        edits.clear();
    }
    reader.read(&[], true, &mut inner, &mut edits);
    inner
}

/// What mending that text has led to, as a result for the text as it was given.
pub(crate) fn wrapped(input: &[u8], at: usize, wrapper: Wrapper, mended: Mended) -> Mended {
    let mut edits = Edits {
        rest: input.get(at..).unwrap_or_default(),
        reader: Some(Reader::new(wrapper, at)),
        composer: Composer::new(0, None),
        repairs: Repairs::new(),
        scratch: Vec::new(),
    };
    let cut_at = mended.cut_at().cloned();
    let (outcome, text, inner) = mended.into_parts();
    for repair in &inner {
        edits.repair(input, repair);
    }
    let valid = text.is_some();
    let repairs = if valid { edits.finish() } else { edits.repairs };
    let outcome = match outcome {
        Outcome::Unchanged if !repairs.is_empty() => Outcome::Repaired,
        outcome => outcome,
    };
    Mended::new(outcome, text, repairs, cut_at)
}

/// The repairs so far, and what the next ones need.
struct Edits<'a> {
    rest: &'a [u8],
    reader: Option<Reader>,
    composer: Composer,
    repairs: Repairs,
    scratch: Vec<u8>,
}

impl Edits<'_> {
    /// Up to where the text that was wrapped is known. `None` once that is all of it.
    fn known(&self) -> Option<usize> {
        self.reader.as_ref().map(Reader::inner)
    }

    /// Reads a piece.
    fn read(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        let (piece, rest) = self.rest.split_at(self.rest.len().min(PIECE));
        self.scratch.clear();
        reader.read(piece, rest.is_empty(), &mut self.scratch, &mut self.composer.edits);
        self.rest = rest;
        if rest.is_empty() {
            self.reader = None;
        }
    }

    fn repair(&mut self, input: &[u8], repair: Repair) {
        let (start, end) = (repair.start(), repair.end());
        self.pass(start);
        // Only the edits of one piece are kept, however much the repair drops.
        while let Some(known) = self.known().filter(|known| *known <= end) {
            let repairs = &mut self.repairs;
            self.composer.drop_text(start, known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        let repair = self.composer.repair(repair, |piece| keep(repairs, piece));
        if input.get(repair.span()) != Some(repair.after().as_bytes()) {
            self.repairs.push(&repair);
        }
    }

    /// Passes everything up to `to`, a piece at a time.
    fn pass(&mut self, to: usize) {
        while let Some(known) = self.known().filter(|known| *known <= to) {
            let repairs = &mut self.repairs;
            self.composer.pass(known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        self.composer.pass(to, |piece| keep(repairs, piece));
    }

    fn finish(mut self) -> Repairs {
        while let Some(known) = self.known() {
            let repairs = &mut self.repairs;
            self.composer.pass(known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        self.composer.finish(|piece| keep(repairs, piece));
        self.repairs
    }
}

fn keep(repairs: &mut Repairs, piece: Piece) {
    if let Piece::Repair(repair) = piece {
        repairs.push(&repair);
    }
}
