//! Mended text as events.

use alloc::{string::String, vec::Vec};

use crate::Output;

/// One step through a document. String content comes decoded, in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// `[`
    BeginArray,
    /// `{`
    BeginObject,
    /// A string value begins; its content follows as [`Text`](Event::Text).
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
    /// A member's key, whole and decoded; its value follows.
    Key(&'a str),
    /// `null`
    Null,
    /// A number, whole, as it was written.
    Number(&'a str),
    /// A piece of the string value that is open, decoded.
    Text(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between tokens; a string here is a key if the flag of the reader says so.
    Between,
    /// In a key or a string value.
    Content { key: bool },
    /// In a number or a literal.
    Scalar,
    /// The text is no JSON: nothing more is read.
    Broken,
}

/// Reads valid JSON text, in any pieces, as [`Event`]s.
///
/// It is made for what a [`Mender`](crate::Mender) puts out, and does not judge: text that is not
/// JSON makes it [broken](Self::is_broken), and no further events come.
///
/// As an [`Output`] it reads what a mender is certain of:
///
/// ```
/// use jsonmend_core::{Event, Events, Mender, Options};
///
/// let mut seen = Vec::new();
/// let mut events = Events::new(|event: Event<'_>| seen.push(format!("{event:?}")));
/// let mut mender = Mender::new(Options::new());
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
/// Memory: a byte a level, and the longest key or number.
#[derive(Clone, Debug)]
pub struct Events<F> {
    reader: EventReader,
    sink: F,
}

impl<F: FnMut(Event<'_>)> Events<F> {
    /// A reader that hands its events to `sink`.
    pub const fn new(sink: F) -> Self {
        Self { reader: EventReader::new(), sink }
    }

    /// Whether the text turned out to be no JSON.
    pub const fn is_broken(&self) -> bool {
        self.reader.is_broken()
    }

    /// The sink.
    pub fn into_sink(self) -> F {
        self.sink
    }

    /// Reads the next piece of text. A number or literal at its end is open until more text, or
    /// [`end_token`](Self::end_token), ends it.
    pub fn read(&mut self, text: &[u8]) {
        let sink = &mut self.sink;
        self.reader.read(text, &mut |_, event| sink(event));
    }

    /// What was read so far ends a number or literal that is open.
    pub fn end_token(&mut self) {
        let sink = &mut self.sink;
        self.reader.end_token(&mut |_, event| sink(event));
    }
}

/// A mender never puts out a part of a number or literal: the end of each piece ends it.
impl<F: FnMut(Event<'_>)> Output for Events<F> {
    fn copy(&mut self, bytes: &[u8]) {
        self.read(bytes);
        self.end_token();
    }
}

/// The state of an [`Events`], without its sink: for a caller who keeps both in one place.
///
/// With each event comes an offset into the text read so far. It is the first byte of what begins or
/// goes on ([`BeginObject`](Event::BeginObject), [`Text`](Event::Text)), the last byte of what ends
/// ([`EndObject`](Event::EndObject), [`Key`](Event::Key)), and the byte behind a number or literal.
///
/// ```
/// use jsonmend_core::{Event, EventReader};
///
/// let mut reader = EventReader::new();
/// let mut ends = Vec::new();
/// for piece in [&b"[true, \"a"[..], b"b\"]"] {
///     reader.read(piece, &mut |at, event| match event {
///         Event::Bool(_) | Event::EndString | Event::EndArray => ends.push(at),
///         _ => {}
///     });
/// }
/// assert_eq!(ends, [5, 9, 10]);
/// ```
#[derive(Clone, Debug)]
pub struct EventReader {
    state: State,
    /// The open containers: `true` is an object.
    open: Vec<bool>,
    /// Whether a string read now would be a key.
    key_next: bool,
    /// The key, number or literal that is being read.
    token: String,
    /// A character or an escape that has not arrived whole.
    part: Part,
    /// How many bytes were read, up to the step that is being taken.
    at: usize,
}

/// An unfinished character or escape: at most a surrogate pair of escapes.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    bytes: [u8; 12],
    length: usize,
}

impl Part {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// What an unfinished character or escape has come to.
enum Whole {
    Char(char),
    Bad,
    Wait,
}

impl EventReader {
    /// A reader at the start of a text.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Between,
            open: Vec::new(),
            key_next: false,
            token: String::new(),
            part: Part { bytes: [0; 12], length: 0 },
            at: 0,
        }
    }

    /// Whether the text turned out to be no JSON.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken)
    }

    /// How many bytes were read.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Starts over with the same buffers.
    pub fn reset(&mut self) {
        self.state = State::Between;
        self.open.clear();
        self.key_next = false;
        self.token.clear();
        self.part.length = 0;
        self.at = 0;
    }

    /// Reads the next piece of text. A number or literal at its end is open until more text, or
    /// [`end_token`](Self::end_token), ends it.
    pub fn read(&mut self, text: &[u8], sink: &mut impl FnMut(usize, Event<'_>)) {
        let mut rest = text;
        while let Some(&byte) = rest.first() {
            let used = match self.state {
                State::Between => self.between(byte, sink),
                State::Content { key } => self.content(rest, key, sink),
                State::Scalar if is_scalar(byte) => {
                    self.token.push(byte as char);
                    1
                }
                State::Scalar => {
                    self.end_token(sink);
                    0
                }
                State::Broken => return,
            };
            self.at += used;
            rest = &rest[used..];
        }
    }

    /// What was read so far ends a number or literal that is open.
    pub fn end_token(&mut self, sink: &mut impl FnMut(usize, Event<'_>)) {
        if self.state != State::Scalar {
            return;
        }
        self.state = State::Between;
        match self.token.as_str() {
            "true" => sink(self.at, Event::Bool(true)),
            "false" => sink(self.at, Event::Bool(false)),
            "null" => sink(self.at, Event::Null),
            number => sink(self.at, Event::Number(number)),
        }
        self.token.clear();
        self.value_ended(sink);
    }

    fn value_ended(&mut self, sink: &mut impl FnMut(usize, Event<'_>)) {
        if self.open.is_empty() {
            sink(self.at, Event::EndDocument);
        }
    }

    /// Reads a byte between tokens.
    fn between(&mut self, byte: u8, sink: &mut impl FnMut(usize, Event<'_>)) -> usize {
        match byte {
            b'{' | b'[' => {
                let object = byte == b'{';
                sink(self.at, if object { Event::BeginObject } else { Event::BeginArray });
                self.open.push(object);
                self.key_next = object;
            }
            b'}' | b']' => {
                let object = byte == b'}';
                if self.open.pop() != Some(object) {
                    self.state = State::Broken;
                    return 1;
                }
                sink(self.at, if object { Event::EndObject } else { Event::EndArray });
                self.key_next = false;
                self.value_ended(sink);
            }
            b',' => self.key_next = self.open.last() == Some(&true),
            b':' => self.key_next = false,
            b'"' => {
                let key = self.key_next;
                self.state = State::Content { key };
                if !key {
                    sink(self.at, Event::BeginString);
                }
            }
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ if is_scalar(byte) => {
                self.state = State::Scalar;
                return 0;
            }
            _ => self.state = State::Broken,
        }
        1
    }

    /// Reads string content.
    fn content(
        &mut self,
        rest: &[u8],
        key: bool,
        sink: &mut impl FnMut(usize, Event<'_>),
    ) -> usize {
        if self.part.length > 0 {
            self.part.push(rest[0]);
            return self.join(key, sink);
        }
        let run = rest.iter().take_while(|b| !matches!(b, b'"' | b'\\')).count();
        if run > 0 {
            return self.plain(&rest[..run], key, sink);
        }
        if rest[0] == b'\\' {
            self.part.push(b'\\');
            return 1;
        }
        self.state = State::Between;
        if key {
            sink(self.at, Event::Key(&self.token));
            self.token.clear();
        } else {
            sink(self.at, Event::EndString);
            self.value_ended(sink);
        }
        1
    }

    /// Reads content without escapes: the part of it that is whole.
    fn plain(&mut self, run: &[u8], key: bool, sink: &mut impl FnMut(usize, Event<'_>)) -> usize {
        let whole = match core::str::from_utf8(run) {
            Ok(text) => text,
            Err(error) if error.valid_up_to() > 0 => {
                core::str::from_utf8(&run[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) if error.error_len().is_none() => {
                run.iter().for_each(|byte| self.part.push(*byte));
                return run.len();
            }
            Err(_) => {
                self.state = State::Broken;
                return run.len();
            }
        };
        self.text(self.at, whole, key, sink);
        whole.len()
    }

    fn text(&mut self, at: usize, text: &str, key: bool, sink: &mut impl FnMut(usize, Event<'_>)) {
        if key {
            self.token.push_str(text);
        } else {
            sink(at, Event::Text(text));
        }
    }

    /// A byte was added to an unfinished character or escape.
    fn join(&mut self, key: bool, sink: &mut impl FnMut(usize, Event<'_>)) -> usize {
        match whole(self.part.bytes()) {
            Whole::Wait => {}
            Whole::Bad => self.state = State::Broken,
            Whole::Char(decoded) => {
                let start = (self.at + 1).saturating_sub(self.part.length);
                self.part.length = 0;
                self.text(start, decoded.encode_utf8(&mut [0; 4]), key, sink);
            }
        }
        1
    }
}

impl Default for EventReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the byte may belong to a number or a literal.
const fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// Decodes a character or an escape. A surrogate without its other half, which valid output does
/// not hold, becomes U+FFFD.
fn whole(bytes: &[u8]) -> Whole {
    let unit = |hex: &[u8]| -> Option<u32> {
        let hex = core::str::from_utf8(hex).ok()?;
        u32::from_str_radix(hex, 16).ok()
    };
    let decoded = match bytes {
        [b'\\'] | [b'\\', b'u', ..] if bytes.len() < 6 => return Whole::Wait,
        [b'\\', b'u', first @ ..] => {
            let Some(high) = first.get(..4).and_then(unit) else { return Whole::Bad };
            if (0xd800..0xdc00).contains(&high) {
                match first.get(4..).unwrap_or_default() {
                    [] | [b'\\'] => return Whole::Wait,
                    [b'\\', b'u', low @ ..] if low.len() < 4 => return Whole::Wait,
                    [b'\\', b'u', low @ ..] => match unit(low) {
                        Some(low @ 0xdc00..=0xdfff) => {
                            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                        }
                        _ => return Whole::Bad,
                    },
                    _ => return Whole::Bad,
                }
            } else {
                Some(char::from_u32(high).unwrap_or('\u{fffd}'))
            }
        }
        [b'\\', escape] => match escape {
            b'"' | b'\\' | b'/' => Some(*escape as char),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            _ => None,
        },
        _ => match core::str::from_utf8(bytes) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return Whole::Wait,
            Err(_) => None,
        },
    };
    decoded.map_or(Whole::Bad, Whole::Char)
}
