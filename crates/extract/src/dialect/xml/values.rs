//! The values of parameters: where they end.

use super::{LONGEST_NAME, Reading, Section, State, XmlCall, open};
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
    /// A tag in the text of the value, of this length, that may begin another parameter.
    Opens(usize),
    /// One that may close what began so.
    Closes(usize),
    /// Another call begins, so the value was cut off.
    Cut,
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
        let verbatim = reading.section == Section::Open;
        let stop = |byte: &u8| if verbatim { *byte == b']' } else { self.begins_tag(*byte) };
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
            // Of the tags that are named like tools and parameters, models leave out the closes at their end.
            // Everywhere else, and if not the model but the transport has ended, the value has not.
            let closes = self.xml.layout == Layout::Tools && ctx.end_closes() && !reading.fresh;
            match closes {
                true => self.repairs += 1,
                false => ctx.stop_short(),
            }
            self.finish_value(*reading, ctx);
            return self.cut(ctx);
        }
        if eof && !verbatim && self.is_piece(rest) {
            ctx.stop_short();
            ctx.raw(rest);
            self.state = State::Value(reading);
            return Step::Read(rest.len());
        }
        if verbatim || self.may_open_section(&reading) {
            let mark = if verbatim { VERBATIM_END } else { VERBATIM };
            if rest.starts_with(mark) {
                ctx.raw(rest.get(..mark.len()).unwrap_or_default());
                if !verbatim && self.is_late(&reading) && reading.fresh {
                    self.begin_late(&mut reading, ctx);
                }
                reading.section = if verbatim { Section::Closed } else { Section::Open };
                reading.fresh = false;
                if self.xml.sections {
                    reading.value.as_it_is();
                    reading.text.clear();
                }
                self.state = State::Value(reading);
                return Step::Read(mark.len());
            }
            if mark.starts_with(rest) && !eof {
                self.state = State::Value(reading);
                return Step::Wait;
            }
            if verbatim {
                self.pass(&mut reading, rest.get(..1).unwrap_or_default(), ctx);
                self.state = State::Value(reading);
                return Step::Read(1);
            }
        }
        let place = self.place(&mut reading, rest, eof, ctx);
        match place {
            Place::Wait => {
                self.state = State::Value(reading);
                Step::Wait
            }
            Place::Text => {
                let (open, end, _) = self.xml.tag;
                let mark = open.trim_end_matches('<').as_bytes();
                if open.len() > 1 && (rest.starts_with(mark) || rest.starts_with(end.as_bytes())) {
                    // A control sequence is never text.
                    ctx.refuse();
                }
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
            Place::Opens(length) | Place::Closes(length) => {
                let opens = matches!(place, Place::Opens(_));
                reading.open =
                    if opens { reading.open + 1 } else { reading.open.saturating_sub(1) };
                self.pass(&mut reading, rest.get(..length).unwrap_or_default(), ctx);
                self.state = State::Value(reading);
                Step::Read(length)
            }
            Place::Cut => {
                ctx.stop_short();
                self.repairs += 1;
                self.finish_value(*reading, ctx);
                Step::Read(0)
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
        if self.xml.sections && reading.section == Section::Closed {
            ctx.raw(bytes);
            reading.last = bytes.last().copied().unwrap_or(reading.last);
            // White space after a section is around it, unless text follows.
            reading.text.extend_from_slice(bytes);
            if !blank || reading.text.len() > SPACE {
                reading.section = Section::None;
                let text = std::mem::take(&mut reading.text);
                reading.value.push(&text, ctx);
            }
            return;
        }
        if self.xml.sections && reading.fresh && !self.is_late(reading) {
            // So is that before one.
            if blank && reading.text.len() + bytes.len() <= SPACE {
                ctx.raw(bytes);
                reading.last = bytes.last().copied().unwrap_or(reading.last);
                reading.text.extend_from_slice(bytes);
                return;
            }
            reading.fresh = false;
            let text = std::mem::take(&mut reading.text);
            reading.value.push(&text, ctx);
        }
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

    /// Whether a `CDATA` section may begin here.
    fn may_open_section(&self, reading: &Reading) -> bool {
        match self.xml.layout {
            Layout::Tools => reading.fresh,
            // A text with the end of a section in it is written as two.
            _ => self.xml.sections && (reading.fresh || reading.section == Section::Closed),
        }
    }

    /// Whether the key of the value was not emitted yet.
    fn is_late(&self, reading: &Reading) -> bool {
        self.xml.layout == Layout::Keys || reading.key.is_empty()
    }

    fn begin_late<S: CallSink>(&mut self, reading: &mut Reading, ctx: &mut Ctx<'_, S>) {
        if reading.key.is_empty() {
            let own = self.tool(ctx.tools).and_then(|tool| tool.parameters.first().cloned());
            self.member(own.as_deref().unwrap_or("result"), ctx);
        } else {
            self.member(&reading.key, ctx);
        }
        reading.fresh = false;
        let text = std::mem::take(&mut reading.text);
        reading.value.push(&text, ctx);
    }

    fn finish_value<S: CallSink>(&mut self, mut reading: Reading, ctx: &mut Ctx<'_, S>) {
        if reading.fresh && self.is_late(&reading) {
            self.begin_late(&mut reading, ctx);
        }
        if reading.section == Section::None {
            let text = std::mem::take(&mut reading.text);
            reading.value.push(&text, ctx);
        }
        let valid = reading.value.finish(ctx);
        self.repairs += reading.value.repairs;
        if !valid || reading.open > 0 {
            // Another parameter may have begun in it.
            ctx.refuse();
        }
        if reading.value.begins_list() {
            self.list = Some(reading.key);
        }
    }

    /// What the tag at the start of `rest` is to the value. A closing tag may be part of the value:
    /// it ends the value only where something follows that may follow a value.
    fn place<S: CallSink>(
        &self,
        reading: &mut Reading,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Place {
        if reading.element {
            let close = format!("</{}>", reading.key);
            if let Some(after) = rest.strip_prefix(close.as_bytes()) {
                return match reading.value.is_json() {
                    true => Place::End(close.len()),
                    false => self.if_followed(after, close.len(), eof, ctx),
                };
            }
            if !eof && close.as_bytes().starts_with(rest) {
                return Place::Wait;
            }
        }
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
                self.closes(reading, after, length, eof, ctx)
            }
            Role::ValueEnd if special || reading.value.is_json() => Place::End(length),
            Role::ValueEnd => self.closes(reading, after, length, eof, ctx),
            Role::Parameter(key, _) if layout == Layout::Keys => {
                let text = reading.value.is_string();
                let tool = self.tool(ctx.tools).filter(|_| text && reading.inner.is_empty());
                // A string has no elements, so the next parameter ends it.
                let mut next = tool.is_some_and(|tool| tool.has(&key)) && !self.object.has(&key);
                if reading.value.is_scalar() && !reading.fresh {
                    let known = self.tool(ctx.tools).is_some_and(|tool| tool.has(&key));
                    next |= known && !self.object.has(&key);
                }
                match (next && key != reading.key, reading.fresh && !text) {
                    (true, _) => Place::End(0),
                    (_, true) => Place::Element,
                    _ => Place::Tag(length, Some(key)),
                }
            }
            Role::Parameter(key, _) => self.next_parameter(reading, &key, after, length, eof, ctx),
            Role::Key => match self.next_key(after, eof, ctx) {
                None => Place::Wait,
                Some(None) => Place::Text,
                Some(Some(key)) => self.next_parameter(reading, &key, after, length, eof, ctx),
            },
            Role::CallEnd | Role::WrapperEnd if special => Place::End(0),
            Role::CallEnd | Role::WrapperEnd
                if layout != Layout::Tools || !self.is_other_tool(rest) =>
            {
                self.if_followed(after, 0, eof, ctx)
            }
            Role::Call(_) | Role::Wrapper if special => Place::Cut,
            Role::Call(_) | Role::Wrapper
                if reading.last == b'\n'
                    && matches!(layout, Layout::Parameters | Layout::Pairs) =>
            {
                match self.begins_call(rest, eof, ctx) {
                    None => Place::Wait,
                    Some(true) => Place::Cut,
                    Some(false) => Place::Text,
                }
            }
            _ => Place::Text,
        }
    }

    /// What the tag of a parameter is to a value that is not closed. It may be text, too. `after` is what
    /// comes after the tag.
    fn next_parameter<S: CallSink>(
        &self,
        reading: &mut Reading,
        key: &str,
        after: &[u8],
        length: usize,
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Place {
        let new = !self.object.has(key);
        let special = self.xml.tag.0.len() > 1;
        let at_line = reading.last == b'\n' || special;
        let tools = self.xml.layout == Layout::Tools;
        if reading.value.is_in_string() {
            return Place::Text;
        }
        match self.tool(ctx.tools) {
            Some(tool) if new && tool.has(key) && (at_line || tools || reading.value.is_json()) => {
                return Place::End(0);
            }
            None if new && at_line && self.xml.layout == Layout::Parameters => {
                return Place::End(0);
            }
            _ if tools => return Place::Text,
            _ => {}
        }
        // Nobody calls a parameter so, or quotes the tag of one that begins.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !key.bytes().all(plain) {
            return Place::Text;
        }
        if matches!(reading.last, b'`' | b'"' | b'\'') {
            match after.first() {
                None if !eof => return Place::Wait,
                Some(byte) if *byte == reading.last => return Place::Text,
                _ => {}
            }
        }
        Place::Opens(length)
    }

    /// The key of the pair that begins after the tag of a key. The outer `None` waits for more.
    fn next_key<S: CallSink>(
        &self,
        after: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<Option<String>> {
        let is_key = |byte: &&u8| !self.begins_tag(**byte);
        let length = after.iter().take(LONGEST_NAME).take_while(is_key).count();
        let next = after.get(length..).unwrap_or_default();
        if next.is_empty() || length == LONGEST_NAME {
            return if eof || length == LONGEST_NAME { Some(None) } else { None };
        }
        let ends = matches!(self.role(next, eof, ctx)?, Some((Role::KeyEnd, _)));
        let key = after.get(..length).unwrap_or_default().trim_ascii();
        Some(ends.then(|| String::from_utf8_lossy(key).into_owned()))
    }

    /// What a closing tag of a value is: its end, or a part of it.
    fn closes<S: CallSink>(
        &self,
        reading: &Reading,
        after: &[u8],
        length: usize,
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Place {
        match self.if_followed(after, length, eof, ctx) {
            Place::Text if reading.open > 0 => Place::Closes(length),
            place => place,
        }
    }

    /// Whether a call of a known tool with a known parameter begins here. `None` waits for more.
    fn begins_call<S: CallSink>(&self, rest: &[u8], eof: bool, ctx: &Ctx<'_, S>) -> Option<bool> {
        let past_space = |rest: &'_ [u8]| {
            rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count()
        };
        let mut at = 0;
        if let Some((Role::Wrapper, length)) = self.role(rest, eof, ctx)? {
            at = length + past_space(rest.get(length..).unwrap_or_default());
            if at == rest.len() {
                return eof.then_some(false);
            }
        }
        let call = rest.get(at..).unwrap_or_default();
        let Some(opening) = open(call, &self.xml, ctx.tools, false, eof)? else {
            return Some(false);
        };
        let Some(tool) = ctx.tools.known(&opening.name) else { return Some(false) };
        let inside = call.get(opening.length..).unwrap_or_default();
        let next = inside.get(past_space(inside)..).unwrap_or_default();
        if next.is_empty() {
            return eof.then_some(false);
        }
        Some(match self.role(next, eof, ctx)? {
            Some((Role::Parameter(key, _), _)) => tool.has(&key),
            Some((Role::Key, length)) => {
                let key = self.next_key(next.get(length..).unwrap_or_default(), eof, ctx)?;
                key.is_some_and(|key| tool.has(&key))
            }
            _ => false,
        })
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
        if eof && self.is_piece(next) {
            return Place::End(length);
        }
        let Some(role) = self.role(next, eof, ctx) else { return Place::Wait };
        match role {
            None => match self.element(next, eof, ctx) {
                None => Place::Wait,
                Some(Some(_)) => Place::End(length),
                Some(None) => Place::Text,
            },
            Some((Role::Other, _)) => Place::Text,
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
