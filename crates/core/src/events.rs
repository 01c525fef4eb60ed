//! Events of mended text.

use alloc::{string::String, vec::Vec};

use crate::{
    Output,
    lexer::{Escape, decode_escape},
    scan::string_run,
};

/// One event of a document. String content is decoded, and comes in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseEvent<'a> {
    /// `[`
    BeginArray,
    /// `{`
    BeginObject,
    /// A string value begins; its content follows as [`Text`](ParseEvent::Text).
    BeginString,
    /// `true` or `false`
    Bool(bool),
    /// `]`
    EndArray,
    /// A document has ended.
    EndDocument,
    /// `}`
    EndObject,
    /// The string value ends.
    EndString,
    /// The key of a member, complete and decoded. Its value follows.
    Key(&'a str),
    /// `null`
    Null,
    /// A number, complete and as written.
    Number(&'a str),
    /// A piece of the current string value, decoded.
    Text(&'a str),
}

/// Reads valid JSON text, in any pieces, and emits [`ParseEvent`]s.
///
/// It is meant for the output of a [`Mender`](crate::Mender), and does not validate. If the text is
/// not JSON, the reader becomes [broken](Self::is_broken) and emits no further events.
///
/// As an [`Output`], it reads what a mender emits:
///
/// ```
/// use wiremend_core::{ParseEvent, Events, Mender, MendOptions};
///
/// let mut seen = Vec::new();
/// let mut events = Events::new(|event: ParseEvent<'_>| seen.push(format!("{event:?}")));
/// let mut mender = Mender::new(MendOptions::new());
/// mender.push(b"{city: 'Par", &mut events);
/// mender.push(b"is'", &mut events);
/// mender.finish(&mut events);
/// assert_eq!(
///     seen,
///     ["BeginObject", r#"Key("city")"#, "BeginString", r#"Text("Par")"#, r#"Text("is")"#,
///      "EndString", "EndObject", "EndDocument"]
/// );
/// ```
///
/// Memory: one byte per level, and the longest key or number.
#[derive(Clone, Debug)]
pub struct Events<F> {
    reader: EventReader,
    sink: F,
}

impl<F: FnMut(ParseEvent<'_>)> Events<F> {
    /// Creates a reader that passes its events to `sink`.
    pub const fn new(sink: F) -> Self {
        Self { reader: EventReader::new(), sink }
    }

    /// Whether the text turned out not to be JSON.
    pub const fn is_broken(&self) -> bool {
        self.reader.is_broken()
    }

    /// Returns the sink.
    pub fn into_sink(self) -> F {
        self.sink
    }

    /// Reads the next piece of text. A number or literal at its end is only complete once more
    /// text, or [`end_token`](Self::end_token), ends it.
    pub fn read(&mut self, text: &[u8]) {
        let sink = &mut self.sink;
        self.reader.read(text, &mut |_, event| sink(event));
    }

    /// Ends a number or literal that is still open.
    pub fn end_token(&mut self) {
        let sink = &mut self.sink;
        self.reader.end_token(&mut |_, event| sink(event));
    }
}

impl<F: FnMut(ParseEvent<'_>)> Output for Events<F> {
    fn copy(&mut self, bytes: &[u8]) {
        self.read(bytes);
    }

    /// Ends a number or literal that is still open, because it is complete.
    fn settle(&mut self) {
        self.end_token();
    }

    /// Stops, because raw text is not read.
    fn raw(&mut self) {
        self.reader.stop();
    }
}

// Characters and escapes that arrive in parts.

/// An unfinished character or escape: at most a surrogate pair of escapes.
#[derive(Clone, Copy, Debug)]
struct Part {
    bytes: [u8; 12],
    length: usize,
}

impl Part {
    const fn new() -> Self {
        Self { bytes: [0; 12], length: 0 }
    }

    const fn length(&self) -> usize {
        self.length
    }

    const fn clear(&mut self) {
        self.length = 0;
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// How many bytes it must have at least, judging by its first ones.
    fn least(&self) -> usize {
        match self.bytes {
            [b'\\', b'u', ..] if self.length > 1 => 6,
            [b'\\', ..] => 2,
            [first, ..] => width(first),
        }
    }

    /// Decodes it if it is complete.
    fn whole(&self) -> Whole {
        if self.length < self.least() { Whole::Wait } else { whole(self.bytes()) }
    }
}

/// The result of decoding an unfinished character or escape.
enum Whole {
    Char(char),
    Bad,
    Wait,
}

/// How many bytes at the end of a run belong to a character that is incomplete there.
#[inline]
fn unfinished(run: &[u8]) -> usize {
    // Most text is ASCII.
    match run {
        [.., last] if *last >= 0x80 => {}
        _ => return 0,
    }
    let back = run.iter().rev().take(3).position(|&byte| byte >= 0xc0);
    let Some(back) = back else { return 0 };
    let lead = run.len() - 1 - back;
    if run.get(lead).is_some_and(|&byte| width(byte) > back + 1) { back + 1 } else { 0 }
}

/// The length in bytes of a character that begins with `lead`.
const fn width(lead: u8) -> usize {
    match lead {
        0xf0.. => 4,
        0xe0..0xf0 => 3,
        0xc0..0xe0 => 2,
        0..0xc0 => 1,
    }
}

/// The character at the start of string content, if it is complete and either ASCII or an escape,
/// and its length in bytes.
#[inline]
pub(crate) fn short_character(content: &[u8]) -> Option<(char, usize)> {
    match *content {
        [b'\\', ..] => match decode_escape(content) {
            Escape::Char(decoded, length) => Some((decoded, length)),
            _ => None,
        },
        [byte @ (b' '..=b'!' | b'#'..=b'[' | b']'..=b'~'), ..] => Some((char::from(byte), 1)),
        _ => None,
    }
}

/// Decodes a character or an escape. A surrogate without its other half is never in valid output.
fn whole(bytes: &[u8]) -> Whole {
    if bytes.first() == Some(&b'\\') {
        return match decode_escape(bytes) {
            Escape::Char(decoded, _) => Whole::Char(decoded),
            Escape::Half(0xdc00..) => Whole::Char(char::REPLACEMENT_CHARACTER),
            Escape::Incomplete => Whole::Wait,
            Escape::Half(_) | Escape::Invalid => Whole::Bad,
        };
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(Whole::Bad, Whole::Char),
        Err(error) if error.error_len().is_none() => Whole::Wait,
        Err(_) => Whole::Bad,
    }
}

// Reads JSON text that arrives in pieces.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between tokens. `next` of the reader says what comes.
    Between,
    /// In a key or a string value.
    Content { key: bool },
    /// In a number or a literal.
    Scalar,
    /// The text is not JSON. Nothing more is read.
    Broken,
}

/// What follows a separator or an opening bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// After a comma in an array.
    Item,
    /// After a comma or a brace: a string here is a key.
    Key,
    /// Anything else. A string here is a value.
    Other,
}

/// The state of an [`Events`](super::Events) without its sink, for callers that keep the two apart.
///
/// Each event comes with an offset into the text read so far: the first byte of something that
/// begins or continues ([`BeginObject`](ParseEvent::BeginObject), [`Text`](ParseEvent::Text)), the
/// last byte of something that ends ([`EndObject`](ParseEvent::EndObject),
/// [`Key`](ParseEvent::Key)), or the byte after a number or literal.
///
/// ```
/// use wiremend_core::{ParseEvent, EventReader};
///
/// let mut reader = EventReader::new();
/// let mut ends = Vec::new();
/// for piece in [&b"[true, \"a"[..], b"b\"]"] {
///     reader.read(piece, &mut |at, event| match event {
///         ParseEvent::Bool(_) | ParseEvent::EndString | ParseEvent::EndArray => ends.push(at),
///         _ => {}
///     });
/// }
/// assert_eq!(ends, [5, 10, 11]);
/// ```
#[derive(Clone, Debug)]
pub struct EventReader {
    state: State,
    /// The open containers: `true` is an object.
    open: Vec<bool>,
    next: Next,
    /// The key, number or literal that is being read, as far as it was in earlier pieces.
    token: String,
    /// A character or an escape of which not all bytes have arrived.
    part: Part,
    /// How many bytes were read before the current piece.
    base: usize,
}

impl EventReader {
    /// Creates a reader at the start of a text.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Between,
            open: Vec::new(),
            next: Next::Other,
            token: String::new(),
            part: Part::new(),
            base: 0,
        }
    }

    /// Whether the text turned out not to be JSON, or reading was [stopped](Self::stop).
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken)
    }

    /// How many bytes were read.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.base
    }

    /// Stops reading, because the text that follows may not be JSON.
    pub const fn stop(&mut self) {
        self.state = State::Broken;
    }

    /// Starts over with the same buffers.
    pub fn reset(&mut self) {
        self.state = State::Between;
        self.open.clear();
        self.next = Next::Other;
        self.token.clear();
        self.part.clear();
        self.base = 0;
    }

    /// Reads the next piece of text. A number or literal at its end is only complete once more
    /// text, or [`end_token`](Self::end_token), ends it.
    #[inline]
    pub fn read(&mut self, text: &[u8], sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at = match self.state {
                State::Between => self.between(text, at, byte, sink),
                State::Content { key } => self.content(text, at, key, sink),
                State::Scalar => self.scalar(text, at, sink),
                State::Broken => break,
            };
        }
        self.base += at;
    }

    /// Ends a number or literal that is still open.
    #[inline]
    pub fn end_token(&mut self, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        if self.state == State::Scalar {
            self.end_open_scalar(0, sink);
        }
    }

    /// Ends the number or literal that is still open, before `at`.
    #[inline(never)]
    fn end_open_scalar(&mut self, at: usize, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        let token = core::mem::take(&mut self.token);
        self.end_scalar(at, &token, sink);
        self.token = token;
        self.token.clear();
    }

    /// Reads a byte between tokens, and what it begins. Like the other reading functions, it
    /// returns the index of the next unread byte.
    fn between(
        &mut self,
        text: &[u8],
        at: usize,
        byte: u8,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> usize {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'"' => {
                let key = self.next == Next::Key;
                self.next = Next::Other;
                self.state = State::Content { key };
                if !key {
                    sink(self.base + at, ParseEvent::BeginString);
                }
                return self.content(text, at + 1, key, sink);
            }
            b',' => {
                self.next = if self.open.last() == Some(&true) { Next::Key } else { Next::Item }
            }
            b':' => self.next = Next::Other,
            b'{' | b'[' => {
                let object = byte == b'{';
                sink(
                    self.base + at,
                    if object { ParseEvent::BeginObject } else { ParseEvent::BeginArray },
                );
                self.open.push(object);
                self.next = if object { Next::Key } else { Next::Other };
            }
            b'}' | b']' => {
                let object = byte == b'}';
                if self.open.pop() != Some(object) {
                    self.state = State::Broken;
                    return at + 1;
                }
                sink(
                    self.base + at,
                    if object { ParseEvent::EndObject } else { ParseEvent::EndArray },
                );
                self.next = Next::Other;
                self.value_ended(at, sink);
            }
            _ if is_scalar(byte) => {
                self.next = Next::Other;
                self.state = State::Scalar;
                return self.scalar(text, at, sink);
            }
            _ => self.state = State::Broken,
        }
        at + 1
    }

    /// Continues a number or a literal.
    fn scalar(
        &mut self,
        text: &[u8],
        at: usize,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let run = rest.iter().position(|&byte| !is_scalar(byte)).unwrap_or(rest.len());
        let piece = core::str::from_utf8(rest.get(..run).unwrap_or_default()).unwrap_or_default();
        let ended = run < rest.len();
        if ended && self.token.is_empty() {
            // The whole token is in this piece, and need not be copied.
            self.end_scalar(at + run, piece, sink);
        } else {
            self.token.push_str(piece);
            if ended {
                self.end_open_scalar(at + run, sink);
            }
        }
        at + run
    }

    fn end_scalar(&mut self, at: usize, token: &str, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        self.state = State::Between;
        match token {
            "true" => sink(self.base + at, ParseEvent::Bool(true)),
            "false" => sink(self.base + at, ParseEvent::Bool(false)),
            "null" => sink(self.base + at, ParseEvent::Null),
            number if begins_number(number) => sink(self.base + at, ParseEvent::Number(number)),
            _ => {
                self.state = State::Broken;
                return;
            }
        }
        self.value_ended(at, sink);
    }

    fn value_ended(&self, at: usize, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        if self.open.is_empty() {
            sink(self.base + at, ParseEvent::EndDocument);
        }
    }

    /// Reads string content: runs and escapes, up to the closing quote or the end of the text.
    fn content(
        &mut self,
        text: &[u8],
        from: usize,
        key: bool,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> usize {
        let mut at = from;
        if self.part.length() > 0 {
            at = self.resume(text, at, key, sink);
            if self.part.length() > 0 {
                return at;
            }
        }
        loop {
            let end = string_run(text, at, b'"').end;
            if end > at {
                // Most keys are complete in one piece, and need not be copied.
                let whole_key = key && self.token.is_empty() && text.get(end) == Some(&b'"');
                let run = text.get(at..end).unwrap_or_default();
                let Some(run) = self.whole_characters(run) else { return end };
                if self.part.length() > 0 && end < text.len() {
                    // An incomplete character, and then something else.
                    self.state = State::Broken;
                    return end;
                }
                if whole_key {
                    sink(self.base + end, ParseEvent::Key(run));
                    self.state = State::Between;
                    return end + 1;
                }
                self.text(self.base + at, run, key, sink);
            }
            at = match text.get(end) {
                None => return end,
                Some(b'"') => {
                    self.end_string(end, key, sink);
                    return end + 1;
                }
                Some(b'\\') => match self.escape(text, end, key, sink) {
                    Some(after) => after,
                    None => return text.len(),
                },
                Some(_) => {
                    self.state = State::Broken;
                    return end + 1;
                }
            };
        }
    }

    fn end_string(&mut self, at: usize, key: bool, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        self.state = State::Between;
        if key {
            sink(self.base + at, ParseEvent::Key(&self.token));
            self.token.clear();
        } else {
            sink(self.base + at, ParseEvent::EndString);
            self.value_ended(at, sink);
        }
    }

    /// Reads an escape, and returns where it ends; `None` if it is incomplete or invalid.
    #[inline(never)]
    fn escape(
        &mut self,
        text: &[u8],
        at: usize,
        key: bool,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> Option<usize> {
        if let Some((decoded, length)) = short_character(text.get(at..).unwrap_or_default()) {
            self.text(self.base + at, decoded.encode_utf8(&mut [0; 4]), key, sink);
            return Some(at + length);
        }
        let after = self.resume(text, at, key, sink);
        (self.part.length() == 0).then_some(after)
    }

    /// Continues an unfinished character or escape, until it is complete or the text ends. If it is
    /// invalid, nothing more is read.
    fn resume(
        &mut self,
        text: &[u8],
        from: usize,
        key: bool,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> usize {
        for (at, &byte) in text.iter().enumerate().skip(from) {
            self.part.push(byte);
            match self.part.whole() {
                Whole::Wait => {}
                Whole::Bad => {
                    self.state = State::Broken;
                    return text.len();
                }
                Whole::Char(decoded) => {
                    let start = (self.base + at + 1).saturating_sub(self.part.length());
                    self.part.clear();
                    self.text(start, decoded.encode_utf8(&mut [0; 4]), key, sink);
                    return at + 1;
                }
            }
        }
        text.len()
    }

    /// The complete characters of a run. An incomplete one at its end is kept for later. `None` if
    /// the run is not UTF-8.
    #[inline]
    fn whole_characters<'a>(&mut self, run: &'a [u8]) -> Option<&'a str> {
        let (whole, part) = run.split_at(run.len() - unfinished(run));
        let Ok(text) = core::str::from_utf8(whole) else {
            self.state = State::Broken;
            return None;
        };
        part.iter().for_each(|byte| self.part.push(*byte));
        Some(text)
    }

    /// Reads a double quote, as most repairs insert one.
    #[inline]
    pub(crate) fn read_quote(&mut self, sink: &mut impl FnMut(usize, ParseEvent<'_>)) {
        match self.state {
            State::Content { key } if !self.is_in_part() => self.end_string(0, key, sink),
            State::Between => {
                let key = self.next == Next::Key;
                self.next = Next::Other;
                self.state = State::Content { key };
                if !key {
                    sink(self.base, ParseEvent::BeginString);
                }
            }
            State::Content { .. } | State::Scalar => return self.read(b"\"", sink),
            State::Broken => return,
        }
        self.base += 1;
    }

    /// Reads what is between two tokens, if it is a comma or colon with or without a space. That is
    /// what most repairs leave of a short piece.
    #[inline]
    pub(crate) fn read_separator(&mut self, text: &[u8]) -> bool {
        if self.state != State::Between {
            return false;
        }
        self.next = match text {
            b", " | b"," if self.open.last() == Some(&true) => Next::Key,
            b", " | b"," => Next::Item,
            b": " | b":" => Next::Other,
            _ => return false,
        };
        self.base += text.len();
        true
    }

    /// Whether the next byte continues a string value.
    #[inline]
    pub(crate) fn is_in_string(&self) -> bool {
        self.state == State::Content { key: false }
    }

    /// Whether the next byte continues a string value, and no character or escape is unfinished.
    #[inline]
    pub(crate) fn is_in_text(&self) -> bool {
        self.is_in_string() && !self.is_in_part()
    }

    /// Whether a key comes next, or is unfinished.
    pub(crate) const fn awaits_key(&self) -> bool {
        match self.state {
            State::Between => matches!(self.next, Next::Key),
            State::Content { key } => key,
            State::Scalar | State::Broken => false,
        }
    }

    /// Whether a comma in an array was read, and nothing after it.
    pub(crate) const fn awaits_item(&self) -> bool {
        matches!((self.state, self.next), (State::Between, Next::Item))
    }

    /// Whether no token is unfinished.
    pub(crate) const fn is_between(&self) -> bool {
        matches!(self.state, State::Between)
    }

    /// Whether a number or a literal is unfinished.
    pub(crate) const fn is_in_scalar(&self) -> bool {
        matches!(self.state, State::Scalar)
    }

    /// Whether a character or an escape is unfinished.
    #[inline]
    pub(crate) const fn is_in_part(&self) -> bool {
        self.part.length() > 0
    }

    /// Reads a character or an escape of the current string value, from its start or from where it
    /// was left unfinished. Returns how many bytes were read.
    pub(crate) fn read_part(
        &mut self,
        text: &[u8],
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) -> usize {
        self.resume(text, 0, false, sink)
    }

    #[inline]
    fn text(
        &mut self,
        start: usize,
        text: &str,
        key: bool,
        sink: &mut impl FnMut(usize, ParseEvent<'_>),
    ) {
        if key {
            self.token.push_str(text);
        } else if !text.is_empty() {
            sink(start, ParseEvent::Text(text));
        }
    }
}

impl Default for EventReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a token that is not a literal may be a number.
const fn begins_number(token: &str) -> bool {
    matches!(token.as_bytes(), [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..])
}

/// Whether the byte may be part of a number or a literal.
const fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}
