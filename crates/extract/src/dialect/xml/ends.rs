//! Where the value of a parameter ends.

use super::{LONGEST_NAME, OpenValue, XmlCall, open};
use crate::dialect::{
    json::{SPACE, past_space},
    out::Ctx,
    shape::Layout,
    sink::CallSink,
    tags::Role,
};

/// What is at a byte that may begin a tag inside a value.
pub(super) enum AtTag {
    /// More is needed.
    Wait,
    /// It is part of the value.
    Text,
    /// The value ends here, before this many bytes of markup.
    End(usize),
    /// The body of the call is no value, but has parameters.
    Parameters,
    /// An element inside the value.
    Element,
    /// The tag of an element in the text of the value, of this length: an opening one if it has a key.
    Tag(usize, Option<String>),
    /// A closing tag of the value, of this length, in its text, and whether it may end the value.
    Stray(usize, bool),
    /// A tag of this length is part of the value.
    Part(usize),
    /// Another call begins, so the value was cut off.
    Cut,
}

impl XmlCall {
    /// What the tag at the start of `rest` is to the value. A closing tag may be part of the value:
    /// it ends the value only where something follows that may follow a value.
    pub(super) fn place<S: CallSink>(
        &self,
        reading: &mut OpenValue,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> AtTag {
        if reading.element {
            let close = format!("</{}>", reading.key);
            if let Some(after) = rest.strip_prefix(close.as_bytes()) {
                return match reading.value.is_json() {
                    true => AtTag::End(close.len()),
                    false => self.if_followed(after, close.len(), eof, ctx),
                };
            }
            if !eof && close.as_bytes().starts_with(rest) {
                return AtTag::Wait;
            }
        }
        match self.begins_element(reading, rest, eof, ctx) {
            None => return AtTag::Wait,
            Some(true) => return AtTag::Element,
            Some(false) => {}
        }
        let Some(role) = self.role(rest, eof, ctx) else { return AtTag::Wait };
        let Some((role, length)) = role else { return AtTag::Text };
        let after = rest.get(length..).unwrap_or_default();
        let special = self.xml.tag.0.len() > 1;
        let layout = self.xml.layout;
        if reading.shown > 0 {
            match role {
                Role::Call(_) | Role::Wrapper => reading.shown += 1,
                Role::CallEnd | Role::WrapperEnd => reading.shown -= 1,
                _ => {}
            }
            return AtTag::Part(length);
        }
        match role {
            // With more than one parameter, the whole body is not the value of the only one.
            Role::Parameter(..)
                if reading.key.is_empty()
                    && reading.fresh
                    && self.tool(ctx.tools).is_some_and(|tool| tool.parameters.len() > 1) =>
            {
                AtTag::Parameters
            }
            _ if reading.key.is_empty() => match role {
                Role::CallEnd
                    if rest.get(2..).is_some_and(|word| word.starts_with(self.name.as_bytes())) =>
                {
                    match ends_line(after, eof) {
                        None => AtTag::Wait,
                        Some(true) => AtTag::End(length),
                        Some(false) => AtTag::Text,
                    }
                }
                _ => AtTag::Text,
            },
            Role::ParameterEnd(key) if reading.inner.last() == Some(&key) => {
                AtTag::Tag(length, None)
            }
            Role::ParameterEnd(key) => {
                if !key.is_empty() && key != reading.key {
                    return if layout == Layout::Keys { AtTag::End(0) } else { AtTag::Text };
                }
                if special || reading.value.is_json() {
                    return AtTag::End(length);
                }
                self.closes(reading, after, length, eof, ctx)
            }
            Role::ValueEnd if special || reading.value.is_json() => AtTag::End(length),
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
                    (true, _) => AtTag::End(0),
                    (_, true) => AtTag::Element,
                    _ => AtTag::Tag(length, Some(key)),
                }
            }
            Role::Parameter(key, _) => self.next_parameter(reading, &key, after, length, eof, ctx),
            Role::Key => match self.next_key(after, eof, ctx) {
                None => AtTag::Wait,
                Some(None) => AtTag::Text,
                Some(Some(key)) => self.next_parameter(reading, &key, after, length, eof, ctx),
            },
            Role::CallEnd | Role::WrapperEnd if special => self.if_followed(after, 0, eof, ctx),
            // The tag of another value, after one that may have ended this one.
            Role::Value | Role::KeyEnd if reading.stray => AtTag::Stray(length, true),
            // The tag of this value, twice.
            Role::Value | Role::Separator if reading.fresh => AtTag::Stray(length, true),
            Role::CallEnd | Role::WrapperEnd
                if layout != Layout::Tools || !self.is_other_tool(rest) =>
            {
                match self.if_followed(after, 0, eof, ctx) {
                    // The call may have ended here, unless the value is closed later.
                    AtTag::Text if layout == Layout::Tools => AtTag::Stray(length, false),
                    place => place,
                }
            }
            Role::Call(_) | Role::Wrapper if special => AtTag::Cut,
            Role::Call(_) | Role::Wrapper
                if matches!(layout, Layout::Parameters | Layout::Pairs) =>
            {
                match self.begins_call(rest, eof, ctx) {
                    None => AtTag::Wait,
                    // A value that is text shows a call, up to where that is closed.
                    Some(true) if reading.value.is_string() => {
                        reading.shown = 1;
                        AtTag::Part(length)
                    }
                    Some(true) if reading.last == b'\n' => AtTag::Cut,
                    Some(_) => AtTag::Text,
                }
            }
            _ => AtTag::Text,
        }
    }

    /// What the tag of a parameter is to a value that is not closed. It may be text, too. `after` is what
    /// comes after the tag.
    fn next_parameter<S: CallSink>(
        &self,
        reading: &mut OpenValue,
        key: &str,
        after: &[u8],
        length: usize,
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> AtTag {
        let new = !self.object.has(key);
        let special = self.xml.tag.0.len() > 1;
        let at_line = reading.last == b'\n' || special;
        let tools = self.xml.layout == Layout::Tools;
        if reading.value.is_in_string() {
            return AtTag::Text;
        }
        match self.tool(ctx.tools) {
            Some(tool) if new && tool.has(key) && (at_line || tools || reading.value.is_json()) => {
                return AtTag::End(0);
            }
            None if new && at_line && self.xml.layout == Layout::Parameters => {
                return AtTag::End(0);
            }
            _ if tools && key != reading.key => return AtTag::Text,
            _ => {}
        }
        // Nobody calls a parameter so, or quotes the tag of one that begins.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !key.bytes().all(plain) {
            return AtTag::Text;
        }
        if matches!(reading.last, b'`' | b'"' | b'\'') {
            match after.first() {
                None if !eof => return AtTag::Wait,
                Some(byte) if *byte == reading.last => return AtTag::Text,
                _ => {}
            }
        }
        // It may begin another parameter.
        reading.open += 1;
        AtTag::Part(length)
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
        reading: &mut OpenValue,
        after: &[u8],
        length: usize,
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> AtTag {
        match self.if_followed(after, length, eof, ctx) {
            AtTag::Text if reading.open > 0 => {
                reading.open -= 1;
                AtTag::Part(length)
            }
            AtTag::Text if matches!(self.xml.layout, Layout::Parameters | Layout::Pairs) => {
                let next = after.first().copied().unwrap_or_default();
                if matches!(reading.last, b'`' | b'"' | b'\'') && next == reading.last {
                    return AtTag::Text;
                }
                // In a sentence, it is a mention. Before a line end or a tag, it may as well be the end of the
                // value, and what follows is damaged.
                let space = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let unclear = match after.get(space).copied().unwrap_or(b'\n') {
                    b'\n' | b'\r' => true,
                    next => self.begins_tag(next) || space == 0 && next.is_ascii_alphanumeric(),
                };
                AtTag::Stray(length, unclear)
            }
            AtTag::Text if self.xml.layout == Layout::Tools => {
                let again = match self.next_closes(reading, after, eof, ctx) {
                    None => return AtTag::Wait,
                    Some(again) => again,
                };
                AtTag::Stray(length, again)
            }
            place => place,
        }
    }

    /// Whether the next tag closes the same value again, with nothing in between. `None` waits for more.
    fn next_closes<S: CallSink>(
        &self,
        reading: &OpenValue,
        after: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<bool> {
        let (_, next) = past_space(after, eof)?;
        let role = self.role(next, eof, ctx)?;
        Some(matches!(role, Some((Role::ParameterEnd(key), _)) if key == reading.key))
    }

    /// Whether a call of a known tool with a known parameter begins here. `None` waits for more.
    fn begins_call<S: CallSink>(&self, rest: &[u8], eof: bool, ctx: &Ctx<'_, S>) -> Option<bool> {
        let space = |rest: &'_ [u8]| {
            rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count()
        };
        let mut at = 0;
        if let Some((Role::Wrapper, length)) = self.role(rest, eof, ctx)? {
            at = length + space(rest.get(length..).unwrap_or_default());
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
        let next = inside.get(space(inside)..).unwrap_or_default();
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
    ) -> AtTag {
        let space = after.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        let next = after.get(space..).unwrap_or_default();
        if next.is_empty() {
            return if eof || space == SPACE { AtTag::End(length) } else { AtTag::Wait };
        }
        if space == SPACE {
            return AtTag::End(length);
        }
        if eof && self.is_piece(next) {
            return AtTag::End(length);
        }
        let Some(role) = self.role(next, eof, ctx) else { return AtTag::Wait };
        match role {
            None => match self.element(next, eof, ctx) {
                None => AtTag::Wait,
                Some(Some(_)) => AtTag::End(length),
                Some(None) => AtTag::Text,
            },
            Some((Role::Other, _)) => AtTag::Text,
            Some((Role::ParameterEnd(_) | Role::ValueEnd, _)) => AtTag::Text,
            Some(_) => AtTag::End(length),
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
