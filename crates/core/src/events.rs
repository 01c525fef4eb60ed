//! Events of mended text.

mod character;
mod reader;

use crate::Output;
pub(crate) use character::short_character;
pub use reader::EventReader;

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
