//! The text for the user that an envelope has next to its calls.

use super::{Envelope, EnvelopePart, Role};
use crate::dialect::{arguments::Unescape, out::Ctx, sink::CallSink};

/// The key of that text.
const CONTENT: &str = "content";

/// The content of an envelope, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// Whether the object lists calls, so that its content is text.
    listed: bool,
    place: ContentState,
    decoder: Unescape,
    escaped: bool,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum ContentState {
    #[default]
    Outside,
    /// Before the quote that opens it.
    Before,
    Inside,
}

impl Content {
    /// Reads a part of the string, with its quotes. What is in the first bytes is not kept.
    fn read(&mut self, json: &[u8], dropped: usize) {
        for (at, &byte) in json.iter().enumerate() {
            match self.place {
                ContentState::Outside => return,
                ContentState::Before => self.place = ContentState::Inside,
                ContentState::Inside if byte == b'"' && !self.escaped => {
                    self.place = ContentState::Outside;
                }
                ContentState::Inside => {
                    self.escaped = byte == b'\\' && !self.escaped;
                    let length = self.text.len();
                    self.decoder.push(byte, &mut self.text);
                    if at < dropped {
                        self.text.truncate(length);
                    }
                }
            }
        }
    }
}

impl Envelope {
    /// Whether the object that is read is the whole answer, or a message in a list of them.
    fn is_message(&self) -> bool {
        match &self.levels[..] {
            [_] => true,
            [list, message] => list.role == Role::List && message.role == Role::Call,
            _ => false,
        }
    }

    /// A message begins.
    pub(super) fn begin_message(&mut self) {
        if self.is_message() {
            self.content = Content::default();
        }
    }

    /// A member of the object around the list of calls begins, which means nothing to the calls.
    pub(super) fn begin_content(&mut self, key: &str, byte: u8) {
        let free = self.content.listed || self.call.name.is_none();
        if key == CONTENT && byte == b'"' && self.is_message() && free {
            let (listed, text) = (self.content.listed, std::mem::take(&mut self.content.text));
            self.content =
                Content { listed, text, place: ContentState::Before, ..Content::default() };
        }
    }

    /// The object lists calls, in a member that begins here.
    pub(super) fn list_begins<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.is_message() {
            self.content.listed = true;
            self.flush_content(ctx);
        }
    }

    /// The object is a call that begins. Its content is text, too, unless it is an argument.
    pub(super) fn call_begins<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let argument = self.tool(ctx).is_some_and(|tool| tool.has(CONTENT));
        if self.strict && !argument {
            self.list_begins(ctx);
        }
    }

    /// A value that means nothing to the calls goes on.
    pub(super) fn read_content<S: CallSink>(&mut self, json: &[u8], ctx: &mut Ctx<'_, S>) {
        if self.content.place != ContentState::Outside
            && matches!(self.reading, EnvelopePart::Other(_))
        {
            self.content.read(json, ctx.prefilled(json.len()));
            self.flush_content(ctx);
        }
    }

    fn flush_content<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.content.listed && !self.content.text.is_empty() {
            ctx.content(&self.content.text);
            self.content.text.clear();
        }
    }
}
