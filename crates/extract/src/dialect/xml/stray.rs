//! What is between parameters and is no tag of a call.

use super::{State, XmlCall};
use crate::dialect::{
    json::Step,
    out::Ctx,
    shape::Layout,
    sink::{CallOutcome, CallSink},
    tags::{Lexed, tag},
};

impl XmlCall {
    /// Between parameters is something that is no tag of a call.
    pub(super) fn no_tag<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if eof && self.is_piece(rest) {
            // The text ends in a tag, so it is not the model that ended it.
            ctx.stop_short();
            ctx.raw(rest);
            return Step::Read(rest.len());
        }
        let Some(element) = self.element(rest, eof, ctx) else { return Step::Wait };
        if let Some((key, length)) = element {
            self.repairs += 1;
            ctx.markup(rest.get(..length).unwrap_or_default());
            self.begin(key, None, ctx);
            if let State::Value(reading) = &mut self.state {
                reading.element = true;
            }
            return Step::Read(length);
        }
        if self.xml.layout == Layout::Tools && !self.junk {
            // Only tags of the tool are in a call, so its own closing tag is missing, and this is text.
            ctx.stop_short();
            self.end(CallOutcome::Whole, false, ctx);
            ctx.flush_end(false);
            return Step::Done(0);
        }
        let next = rest
            .iter()
            .skip(1)
            .position(|byte| self.begins_tag(*byte) || byte.is_ascii_whitespace());
        let length = next.map_or(rest.len(), |next| next + 1);
        self.stray(rest.get(..length).unwrap_or_default(), ctx);
        Step::Read(length)
    }

    /// What is between parameters may be one that was damaged.
    pub(super) fn stray<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        self.junk = true;
        ctx.refuse();
        ctx.raw(bytes);
    }

    /// Whether the text is the beginning of a tag, and ends inside of it.
    pub(super) fn is_piece(&self, rest: &[u8]) -> bool {
        tag(rest, &self.xml, false) == Lexed::Wait
    }

    /// The parameter of which there is an element in place of its tag, and the length of that. The
    /// outer `None` waits for more.
    pub(super) fn element<S>(
        &self,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<Option<(String, usize)>> {
        let tags = matches!(self.xml.layout, Layout::Parameters | Layout::Pairs);
        let Some(after) = rest.strip_prefix(b"<").filter(|_| tags && self.xml.tag.0 == "<") else {
            return Some(None);
        };
        let mut partial = false;
        let found =
            self.tool(ctx.tools).into_iter().flat_map(|tool| &tool.parameters).find(|name| {
                let name = name.as_bytes();
                partial |= after.len() <= name.len() && name.starts_with(after);
                after.strip_prefix(name).is_some_and(|after| after.starts_with(b">"))
            });
        match found {
            Some(name) => Some(Some((name.clone(), name.len() + 2))),
            None if partial && !eof => None,
            None => Some(None),
        }
    }
}
