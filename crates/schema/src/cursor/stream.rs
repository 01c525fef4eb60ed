//! Shows a value while it grows, and fits it at the end.

use wiremend_core::{Outcome, Output, Repair, buffer::BoundedBuffer};
use wiremend_extract::{Extractor, Scope, TextSink};

use super::Cursor;
use crate::{FitOptions, Fitted, Schema};

/// Finds, mends and follows a value while its text arrives, and [fits](Schema::fit) it at the end.
///
/// Call [`push`](Self::push) any number of times, [`cursor`](Self::cursor) at any time, and
/// [`finish`](Self::finish) at the end. `finish` returns what [`Schema::fit`] returns for the whole
/// text. For that, the input is kept, up to the buffer limit of the engine's options.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_schema::{FitOptions, FitStream, Schema};
///
/// let schema = Schema::from_text(r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#)?;
/// let mut stream = FitStream::new(&schema, FitOptions::new());
/// stream.push(b"{\"n\": \"12\", \"note\": \"words that come slowly, one by one, until there is no");
/// let root = stream.cursor().root().unwrap();
/// assert_eq!(root.member("n").unwrap().as_number(), Some("12"));
/// stream.push(b"ne\"}");
/// let fitted = stream.finish();
/// assert_eq!(fitted.outcome(), Outcome::Repaired);
/// assert!(fitted.text().unwrap().starts_with(r#"{"n": 12, "note""#));
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FitStream {
    schema: Schema,
    options: FitOptions,
    extractor: Extractor,
    cursor: Cursor,
    raw: BoundedBuffer,
    /// The number of bytes received.
    length: usize,
    /// Whether anything but white space has been received.
    begun: bool,
    ended: bool,
}

impl FitStream {
    /// Creates a stream at the start of a text.
    #[must_use]
    pub fn new(schema: &Schema, options: FitOptions) -> Self {
        // Which document is the last or the best is only known at the end, so the first one is
        // shown until then.
        let scope = match options.scope() {
            Scope::Best | Scope::Last | Scope::All => Scope::First,
            scope => scope,
        };
        Self {
            extractor: Extractor::new(scope, options.engine_for(schema)),
            cursor: Cursor::new(schema, &options),
            schema: schema.clone(),
            raw: BoundedBuffer::new(options.engine().limits().buffer()),
            options,
            length: 0,
            begun: false,
            ended: false,
        }
    }

    /// Reads a chunk, which may end anywhere, even inside a character. Nothing is read after the
    /// end of the text.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.ended {
            return;
        }
        self.length += chunk.len();
        self.raw.push(chunk);
        if !self.begun
            && let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            self.begun = true;
            if *first == b'"' && self.read_as_string() {
                return;
            }
        }
        self.extractor.push(chunk, &mut self.cursor);
    }

    /// A text that begins with a quote is a single string, and a document inside it is part of its
    /// content. Only white space has been read so far, so reading can start again.
    fn read_as_string(&mut self) -> bool {
        let Some(raw) = self.raw.get().filter(|_| self.options.scope() == Scope::Best) else {
            return false;
        };
        self.extractor = Extractor::new(Scope::Whole, self.options.engine_for(&self.schema));
        self.extractor.push(raw, &mut self.cursor);
        true
    }

    /// What is known so far. If the text contains several values, this is the first one: even if
    /// [`lost`](Cursor::lost) reports it, a later value may fit, or XML around it.
    #[must_use]
    pub const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Why the cursor follows the text no further, if it does not: a limit, or a repair that the
    /// policy forbids. Once the text has exceeded the buffer limit, this is [`Outcome::Overflow`], as
    /// [`finish`](Self::finish) will return, even if the cursor still follows it.
    ///
    /// ```
    /// use wiremend_core::{Limits, Options, Outcome};
    /// use wiremend_schema::{FitOptions, FitStream, Schema};
    /// let schema = Schema::from_text("{}")?;
    /// let limits = Limits::new().with_depth(1);
    /// let options = FitOptions::new().with_engine(Options::new().with_limits(limits));
    /// let mut stream = FitStream::new(&schema, options);
    /// stream.push(b"[1, ");
    /// assert_eq!(stream.stopped(), None);
    /// stream.push(b"[2");
    /// assert_eq!(stream.stopped(), Some(Outcome::Overflow));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn stopped(&self) -> Option<Outcome> {
        if self.raw.is_whole() { self.extractor.stopped() } else { Some(Outcome::Overflow) }
    }

    /// Ends the text for the cursor. [`finish`](Self::finish) does this as well.
    pub fn end(&mut self) {
        if !self.ended {
            self.extractor.finish(&mut self.cursor);
            self.ended = true;
        }
    }

    /// Ends the text and returns the fitted value. If the text exceeded the buffer limit, the
    /// outcome is [`Outcome::Overflow`]: it was shown, but cannot be read again.
    #[must_use]
    pub fn finish(mut self) -> Fitted {
        self.end();
        match self.raw.get() {
            Some(raw) => self.schema.fit(raw, &self.options),
            None => Fitted::overflow(self.length),
        }
    }
}

impl TextSink for Cursor {
    fn begin(&mut self, offset: usize) {
        if self.reader.offset() == 0 {
            self.walk.begins_at(offset);
        }
    }
    fn json(&mut self, bytes: &[u8]) {
        Output::copy(self, bytes);
    }
    fn settle(&mut self) {
        Output::settle(self);
    }
    fn raw(&mut self) {
        Output::raw(self);
    }
    fn repair(&mut self, repair: Repair) {
        Output::repair(self, repair);
    }
    fn end(&mut self, _: Outcome) {}
}
