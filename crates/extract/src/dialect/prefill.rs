//! What the prompt has written of the answer.

use super::sink::{CallEnd, CallSink, CallStart, MentionedCall, RestatedCall, UnknownTool};

/// What the prompt has written of the answer. It is read like the rest, but it is no part of the input.
#[derive(Clone, Debug)]
pub(super) struct Prefill {
    pub(super) text: Vec<u8>,
    /// Whether it was read.
    pub(super) read: bool,
    /// How much of it no sink can have seen yet.
    left: usize,
}

impl Prefill {
    pub(super) fn new(text: Vec<u8>) -> Self {
        Self { left: text.len(), text, read: false }
    }

    /// Starts over.
    pub(super) fn reset(&mut self) {
        (self.left, self.read) = (self.text.len(), false);
    }

    /// How much of what was read and not emitted is no part of the input.
    pub(super) const fn held(&self) -> usize {
        if self.read { self.left } else { 0 }
    }

    /// The part of the source that belongs to the input, unless there is none.
    #[inline]
    pub(super) fn cut<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if self.left == 0 {
            return Some(bytes);
        }
        let length = self.left.min(bytes.len());
        self.left -= length;
        bytes.get(length..).filter(|rest| !rest.is_empty())
    }

    /// An offset in the input.
    pub(super) const fn offset(&self, at: usize) -> usize {
        at.saturating_sub(self.text.len())
    }
}

/// A sink that does not see what the prompt has written.
pub(super) struct Prefilled<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) prefill: &'a mut Option<Box<Prefill>>,
}

impl<S: CallSink> Prefilled<'_, S> {
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

impl<S: CallSink> CallSink for Prefilled<'_, S> {
    fn text(&mut self, bytes: &[u8]) {
        if let Some(bytes) = self.cut(bytes) {
            self.sink.text(bytes);
        }
    }
    fn content(&mut self, text: &[u8]) {
        self.sink.content(text);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        if let Some(bytes) = self.cut(bytes) {
            self.sink.reasoning(bytes);
        }
    }
    fn text_was_reasoning(&mut self) {
        self.sink.text_was_reasoning();
    }
    fn markup(&mut self, bytes: &[u8]) {
        if let Some(bytes) = self.cut(bytes) {
            self.sink.markup(bytes);
        }
    }
    fn begin(&mut self, call: &CallStart<'_>) {
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
