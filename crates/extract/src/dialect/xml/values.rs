//! The values of parameters: where they end.

use super::{Reading, State, XmlCall};
use crate::dialect::{
    json::{SPACE, Step},
    nested::Nested,
    out::Ctx,
    shape::Layout,
    sink::{CallOutcome, CallSink},
    tags::Role,
};

const VERBATIM: &[u8] = b"<![CDATA[";
const VERBATIM_END: &[u8] = b"]]>";

/// What is at a byte that may begin a tag inside a value.
enum Place {
    /// More is needed.
    Wait,
    /// It is part of the value.
    Text,
    /// The value ends here, before this many bytes of markup.
    End(usize),
    /// An element inside the value.
    Element,
    /// The tag of an element in the text of the value, of this length: an opening one if it has a key.
    Tag(usize, Option<String>),
}

/// How many elements may be open in the text of a value.
const DEEPEST: usize = 32;

impl XmlCall {
    pub(super) fn value<S: CallSink>(
        &mut self,
        mut reading: Box<Reading>,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let stop =
            |byte: &u8| if reading.verbatim { *byte == b']' } else { self.begins_tag(*byte) };
        let clear = rest.iter().position(stop).unwrap_or(rest.len());
        if clear > 0 {
            self.pass(&mut reading, rest.get(..clear).unwrap_or_default(), ctx);
            self.state = State::Value(reading);
            return Step::Read(clear);
        }
        if rest.is_empty() && !eof {
            self.state = State::Value(reading);
            return Step::Wait;
        }
        if rest.is_empty() {
            self.finish_value(*reading, ctx);
            return self.cut(ctx);
        }
        if reading.verbatim || self.xml.layout == Layout::Tools && reading.fresh {
            let (mark, inside) =
                if reading.verbatim { (VERBATIM_END, false) } else { (VERBATIM, true) };
            if rest.starts_with(mark) {
                ctx.raw(rest.get(..mark.len()).unwrap_or_default());
                reading.verbatim = inside;
                reading.fresh = false;
                self.state = State::Value(reading);
                return Step::Read(mark.len());
            }
            if mark.starts_with(rest) && !eof {
                self.state = State::Value(reading);
                return Step::Wait;
            }
            if reading.verbatim {
                self.pass(&mut reading, rest.get(..1).unwrap_or_default(), ctx);
                self.state = State::Value(reading);
                return Step::Read(1);
            }
        }
        match self.place(&reading, rest, eof, ctx) {
            Place::Wait => {
                self.state = State::Value(reading);
                Step::Wait
            }
            Place::Text => {
                self.pass(&mut reading, rest.get(..1).unwrap_or_default(), ctx);
                self.state = State::Value(reading);
                Step::Read(1)
            }
            Place::Element => {
                let guide = self.tool(ctx.tools).and_then(|tool| tool.parameter(&reading.key));
                let nested = Nested::new(&reading.key, guide);
                self.state = State::Nested(Box::new(nested));
                Step::Read(0)
            }
            Place::Tag(length, key) => {
                if !reading.value.is_string() || reading.inner.len() == DEEPEST {
                    // Only a string has a place for text next to elements.
                    ctx.refuse();
                }
                match key {
                    Some(key) if reading.inner.len() < DEEPEST => reading.inner.push(key),
                    Some(_) => {}
                    None => drop(reading.inner.pop()),
                }
                self.pass(&mut reading, rest.get(..length).unwrap_or_default(), ctx);
                self.state = State::Value(reading);
                Step::Read(length)
            }
            Place::End(length) => {
                let whole = reading.key.is_empty();
                self.repairs += usize::from(length == 0);
                if length == 0 && reading.fresh {
                    // What comes next is there before the value is.
                    ctx.stop_short();
                }
                self.finish_value(*reading, ctx);
                ctx.markup(rest.get(..length).unwrap_or_default());
                if !whole {
                    return Step::Read(length);
                }
                self.end(CallOutcome::Whole, false, ctx);
                ctx.flush_end(true);
                Step::Done(length)
            }
        }
    }

    fn pass<S: CallSink>(&mut self, reading: &mut Reading, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        let blank = bytes.iter().all(u8::is_ascii_whitespace);
        if reading.fresh && self.is_late(reading) {
            // Whether the value is text or elements shows only now.
            if blank && reading.text.len() <= SPACE {
                reading.text.extend_from_slice(bytes);
                ctx.raw(bytes);
                return;
            }
            self.begin_late(reading, ctx);
        }
        reading.fresh &= blank;
        reading.last = bytes.last().copied().unwrap_or(reading.last);
        ctx.raw(bytes);
        reading.value.push(bytes, ctx);
    }

    /// Whether the key of the value was not emitted yet.
    fn is_late(&self, reading: &Reading) -> bool {
        self.xml.layout == Layout::Keys || reading.key.is_empty()
    }

    fn begin_late<S: CallSink>(&mut self, reading: &mut Reading, ctx: &mut Ctx<'_, S>) {
        if reading.key.is_empty() {
            let own = self.tool(ctx.tools).and_then(|tool| tool.parameters.first().cloned());
            self.object.key(own.as_deref().unwrap_or("result"), ctx);
        } else {
            self.object.key(&reading.key, ctx);
        }
        reading.fresh = false;
        let text = std::mem::take(&mut reading.text);
        reading.value.push(&text, ctx);
    }

    fn finish_value<S: CallSink>(&mut self, mut reading: Reading, ctx: &mut Ctx<'_, S>) {
        if reading.fresh && self.is_late(&reading) {
            self.begin_late(&mut reading, ctx);
        }
        let valid = reading.value.finish(ctx);
        self.repairs += reading.value.repairs;
        if !valid {
            ctx.refuse();
        }
    }

    /// What the tag at the start of `rest` is to the value. A closing tag may be part of the value:
    /// it ends the value only where something follows that may follow a value.
    fn place<S: CallSink>(
        &self,
        reading: &Reading,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Place {
        let Some(role) = self.role(rest, eof, ctx) else { return Place::Wait };
        let Some((role, length)) = role else { return Place::Text };
        let after = rest.get(length..).unwrap_or_default();
        let special = self.xml.tag.0.len() > 1;
        let layout = self.xml.layout;
        match role {
            _ if reading.key.is_empty() => match role {
                Role::CallEnd
                    if rest.get(2..).is_some_and(|word| word.starts_with(self.name.as_bytes())) =>
                {
                    match ends_line(after, eof) {
                        None => Place::Wait,
                        Some(true) => Place::End(length),
                        Some(false) => Place::Text,
                    }
                }
                _ => Place::Text,
            },
            Role::ParameterEnd(key) if reading.inner.last() == Some(&key) => {
                Place::Tag(length, None)
            }
            Role::ParameterEnd(key) => {
                if !key.is_empty() && key != reading.key {
                    return if layout == Layout::Keys { Place::End(0) } else { Place::Text };
                }
                if special || reading.value.is_json() {
                    return Place::End(length);
                }
                self.if_followed(after, length, eof, ctx)
            }
            Role::ValueEnd if special || reading.value.is_json() => Place::End(length),
            Role::ValueEnd => self.if_followed(after, length, eof, ctx),
            Role::Parameter(key, _) if layout == Layout::Keys => {
                let text = reading.value.is_string();
                let tool = self.tool(ctx.tools).filter(|_| text && reading.inner.is_empty());
                // A string has no elements, so the next parameter ends it.
                let next = tool.is_some_and(|tool| tool.has(&key)) && !self.object.has(&key);
                match (next && key != reading.key, reading.fresh && !text) {
                    (true, _) => Place::End(0),
                    (_, true) => Place::Element,
                    _ => Place::Tag(length, Some(key)),
                }
            }
            Role::Parameter(key, _) => {
                let new = !self.object.has(&key);
                let at_line = reading.last == b'\n' || special;
                match self.tool(ctx.tools) {
                    Some(tool) if new && tool.has(&key) && (at_line || layout == Layout::Tools) => {
                        Place::End(0)
                    }
                    Some(_) => Place::Text,
                    None if new && at_line => Place::End(0),
                    None => Place::Text,
                }
            }
            Role::CallEnd | Role::WrapperEnd if special => Place::End(0),
            Role::CallEnd | Role::WrapperEnd
                if layout != Layout::Tools || !self.is_other_tool(rest) =>
            {
                self.if_followed(after, 0, eof, ctx)
            }
            Role::Call(_) | Role::Wrapper if special => Place::End(0),
            _ => Place::Text,
        }
    }

    fn is_other_tool(&self, rest: &[u8]) -> bool {
        !rest.get(2..).unwrap_or_default().starts_with(self.name.as_bytes())
    }

    /// Ends the value if what follows a closing tag may follow a value: the next parameter, the end
    /// of the call or of the calls, another call, or the end of the input.
    fn if_followed<S: CallSink>(
        &self,
        after: &[u8],
        length: usize,
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Place {
        let space = after.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        let next = after.get(space..).unwrap_or_default();
        if next.is_empty() {
            return if eof || space == SPACE { Place::End(length) } else { Place::Wait };
        }
        if space == SPACE {
            return Place::End(length);
        }
        let Some(role) = self.role(next, eof, ctx) else { return Place::Wait };
        match role {
            Some((Role::Other, _)) | None => Place::Text,
            Some((Role::ParameterEnd(_) | Role::ValueEnd, _)) => Place::Text,
            Some(_) => Place::End(length),
        }
    }
}

/// Whether nothing but white space follows on the line. `None` if more is needed to say.
fn ends_line(after: &[u8], eof: bool) -> Option<bool> {
    let space =
        after.iter().take(SPACE).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match after.get(space) {
        None => eof.then_some(true),
        Some(byte) => Some(*byte == b'\n' || *byte == b'<'),
    }
}
