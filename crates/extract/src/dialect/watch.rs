//! Whether a text ends in a string of a document, in which nothing is a marker.

use wiremend_core::{MendOptions, Outcome};

use super::{
    prefill::Prefill,
    sink::{CallEnd, CallSink, CallStart, MentionedCall, RestatedCall, UnknownTool},
};
use crate::{Finder, Scope, TextSink};

/// How much text without a bracket is kept before a document, because what is before one says whether
/// it is one: the last line, and how the line before it ended.
const BEFORE: usize = 512;
/// How much text is kept at most, until it is cut down to that, or read.
const MOST: usize = 16 << 10;

/// Follows the documents in a text. In prose it only looks for brackets and fences.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    documents: Finder,
    /// Text that `documents` has not read, because no document begins in it, or because nobody has asked.
    before: Vec<u8>,
    /// Whether `documents` has read anything.
    begun: bool,
    /// Whether it is in the middle of prose.
    in_prose: bool,
    /// Whether a document or a fence may have begun in what it has not read.
    special: bool,
    /// The steps of work that texts before took.
    steps: u64,
}

/// How many bytes there are before one with which a document or a fence may begin, in the middle of a
/// text.
#[inline]
fn before_special(text: &[u8]) -> usize {
    // `[` and `{` differ in one bit.
    let special = |byte: u8| (byte | 0x20 == b'{') | (byte == b'`') | (byte == b'~');
    let has = |block: &[u8]| block.iter().fold(0, |any, byte| any | u8::from(special(*byte))) != 0;
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<64>() {
        if has(block) {
            break;
        }
        rest = after;
    }
    while let Some((block, after)) = rest.split_first_chunk::<16>() {
        if has(block) {
            break;
        }
        rest = after;
    }
    let found = rest.iter().position(|byte| special(*byte)).unwrap_or(rest.len());
    text.len() - rest.len() + found
}

/// At most so many of the last bytes.
fn tail(text: &[u8], most: usize) -> &[u8] {
    text.get(text.len().saturating_sub(most)..).unwrap_or_default()
}

impl Watch {
    pub(super) fn new(options: MendOptions) -> Self {
        Self {
            documents: Finder::new(Scope::All, options),
            before: Vec::new(),
            begun: false,
            in_prose: false,
            special: false,
            steps: 0,
        }
    }

    /// Reads text. It is kept until somebody asks, or until it is much.
    fn text(&mut self, text: &[u8], quiet: bool) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.in_prose && !self.special {
                let length = if quiet { rest.len() } else { before_special(rest) };
                let (prose, after) = rest.split_at(length);
                self.keep(prose);
                (self.special, rest) = (!after.is_empty(), after);
                continue;
            }
            let room = MOST.saturating_sub(self.before.len()).clamp(1, rest.len());
            let (now, after) = rest.split_at(room);
            self.before.extend_from_slice(now);
            rest = after;
            if self.before.len() >= MOST {
                self.wake();
            }
        }
    }

    /// Keeps prose, as far as it matters.
    #[inline]
    fn keep(&mut self, prose: &[u8]) {
        self.before.extend_from_slice(tail(prose, MOST));
        if self.before.len() >= MOST {
            // If all of that is white space, what counts is before it.
            if tail(&self.before, BEFORE).trim_ascii().is_empty() {
                self.wake();
            } else {
                self.before.drain(..self.before.len() - BEFORE);
            }
        }
    }

    /// Reads what was kept.
    fn wake(&mut self) {
        self.documents.push(&self.before, &mut Unheard);
        self.before.clear();
        (self.begun, self.special) = (true, false);
        self.in_prose = self.documents.is_in_prose();
    }

    /// Whether the text ends in a string of a document, if this follows. `None` if that is too little to
    /// know whether a document has begun.
    fn is_in_string(&mut self, rest: &[u8], eof: bool) -> Option<bool> {
        if self.in_prose && !self.special {
            return Some(false);
        }
        self.wake();
        self.documents.is_in_string_before(rest, eof)
    }

    /// The same for whether it ends in a document.
    fn is_in_document(&mut self, rest: &[u8], eof: bool) -> Option<bool> {
        if self.in_prose && !self.special {
            return Some(false);
        }
        self.wake();
        self.documents.is_in_document_before(rest, eof)
    }

    /// The text has ended: a call, a tag or a reasoning block follows.
    fn leave(&mut self) {
        self.before.clear();
        (self.special, self.in_prose) = (false, false);
        if std::mem::take(&mut self.begun) {
            self.steps += self.documents.steps();
            self.documents.reset();
        }
    }

    /// How many steps of work were done.
    pub(super) fn steps(&self) -> u64 {
        self.steps + self.documents.steps()
    }

    /// Starts over.
    pub(super) fn reset(&mut self) {
        self.leave();
        self.steps = 0;
    }
}

/// Receives documents of which only the strings matter.
struct Unheard;

impl TextSink for Unheard {
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}

/// A sink of which the text is watched, and which does not see what the prompt has written.
pub(super) struct Watched<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) watch: &'a mut Watch,
    pub(super) prefill: &'a mut Option<Box<Prefill>>,
    /// Whether text that is passed on now is known to be [quiet](super::setup::Plain).
    pub(super) quiet: bool,
}

impl<S: CallSink> Watched<'_, S> {
    /// What follows the documents instead of the watch. It does not know what the prompt has written.
    #[inline]
    fn documents(&mut self) -> Option<&mut Finder> {
        if self.prefill.is_none() { self.sink.documents() } else { None }
    }

    /// Whether the text ends in a string of a document, if this follows. `None` if that is too little to
    /// know whether a document has begun.
    pub(super) fn is_in_string(&mut self, rest: &[u8], eof: bool) -> Option<bool> {
        match self.documents() {
            Some(documents) => documents.is_in_string_before(rest, eof),
            None => self.watch.is_in_string(rest, eof),
        }
    }

    /// The same for whether it ends in a document.
    pub(super) fn is_in_document(&mut self, rest: &[u8], eof: bool) -> Option<bool> {
        match self.documents() {
            Some(documents) => documents.is_in_document_before(rest, eof),
            None => self.watch.is_in_document(rest, eof),
        }
    }

    /// The part of the source that belongs to the input, unless there is none.
    #[inline]
    fn cut<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        match self.prefill {
            None => Some(bytes),
            Some(prefill) => prefill.cut(bytes),
        }
    }

    /// An offset in the input.
    fn offset(&self, at: usize) -> usize {
        self.prefill.as_ref().map_or(at, |prefill| prefill.offset(at))
    }
}

impl<S: CallSink> CallSink for Watched<'_, S> {
    fn text(&mut self, bytes: &[u8]) {
        if self.documents().is_none() {
            self.watch.text(bytes, self.quiet);
        }
        if let Some(bytes) = self.cut(bytes) {
            self.sink.text(bytes);
        }
    }
    fn content(&mut self, text: &[u8]) {
        self.sink.content(text);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.watch.leave();
        if let Some(bytes) = self.cut(bytes) {
            self.sink.reasoning(bytes);
        }
    }
    fn text_was_reasoning(&mut self) {
        self.watch.leave();
        self.sink.text_was_reasoning();
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.watch.leave();
        if let Some(bytes) = self.cut(bytes) {
            self.sink.markup(bytes);
        }
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.watch.leave();
        self.sink.begin(&CallStart { offset: self.offset(call.offset), ..*call });
    }
    fn raw(&mut self, bytes: &[u8]) {
        if let Some(bytes) = self.cut(bytes) {
            self.sink.raw(bytes);
        }
    }
    fn arguments(&mut self, json: &[u8]) {
        self.sink.arguments(json);
    }
    fn id(&mut self, id: &str) {
        self.sink.id(id);
    }
    fn end(&mut self, call: &CallEnd) {
        let span = self.offset(call.span.start)..self.offset(call.span.end);
        self.sink.end(&CallEnd { span, ..*call });
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        let offset = self.offset(call.offset);
        self.sink.restated(&RestatedCall { offset, ..*call });
    }
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        let offset = self.offset(call.offset);
        self.sink.mentioned(&MentionedCall { offset, ..*call });
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        let offset = self.offset(tool.offset);
        self.sink.unknown(&UnknownTool { offset, ..*tool });
    }
}
