//! Values that are made of elements.

use wiremend_core::{JsonType, Member};

use super::{OpenValue, State, XmlCall};
use crate::dialect::{
    json::Step,
    nested::Nested,
    out::Ctx,
    shape::Layout,
    sink::CallSink,
    tags::{Lexed, Role, tag},
};

impl XmlCall {
    pub(super) fn nested<S: CallSink>(
        &mut self,
        mut nested: Box<Nested>,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let (open, ..) = self.xml.tag;
        let first = open.as_bytes().first().copied();
        let length = rest.iter().take_while(|byte| Some(**byte) != first).count();
        if length > 0 {
            return self.nested_text(nested, rest.get(..length).unwrap_or_default(), ctx);
        }
        if rest.is_empty() && !eof {
            self.state = State::Nested(nested);
            return Step::Wait;
        }
        if rest.is_empty() {
            self.end_nested(&mut nested, ctx);
            ctx.stop_short();
            return self.cut(ctx);
        }
        let Some(role) = self.nested_role(rest, eof, ctx) else {
            self.state = State::Nested(nested);
            return Step::Wait;
        };
        match role {
            Some((Role::Parameter(key, _), length)) if !nested.is_full(ctx.options) => {
                nested.open(&key);
                ctx.raw(rest.get(..length).unwrap_or_default());
                self.state = State::Nested(nested);
                Step::Read(length)
            }
            Some((Role::ParameterEnd(key), length)) => {
                let bytes = rest.get(..length).unwrap_or_default();
                if nested.close(&key) {
                    self.end_nested(&mut nested, ctx);
                    ctx.markup(bytes);
                } else {
                    ctx.raw(bytes);
                    self.state = State::Nested(nested);
                }
                Step::Read(length)
            }
            Some((
                Role::Parameter(..)
                | Role::CallEnd
                | Role::WrapperEnd
                | Role::Wrapper
                | Role::Call(_),
                _,
            )) => {
                nested.end();
                if self.xml.layout == Layout::Tools
                    && self
                        .tool(ctx.tools)
                        .is_some_and(|tool| nested.begins_any(|key| tool.has(key)))
                {
                    // It may be a parameter that follows a value without a closing tag.
                    ctx.refuse();
                }
                self.end_nested(&mut nested, ctx);
                Step::Read(0)
            }
            _ => self.nested_text(nested, rest.get(..1).unwrap_or_default(), ctx),
        }
    }

    /// What the tag at the start of `rest` is, in a value with elements in it. The outer `None` waits for more.
    fn nested_role<S>(
        &self,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<Option<(Role, usize)>> {
        let role = self.role(rest, eof, ctx)?;
        if self.xml.layout != Layout::Tools
            || matches!(role, Some((Role::Call(_) | Role::CallEnd, _)))
        {
            return Some(role);
        }
        match tag(rest, &self.xml, eof) {
            Lexed::Wait => None,
            Lexed::Tag(tag) if tag.is_plain() => Some(Some(match tag.end {
                true => (Role::ParameterEnd(tag.word), tag.length),
                false => (Role::Parameter(tag.word, None), tag.length),
            })),
            Lexed::Tag(_) | Lexed::No => Some(None),
        }
    }

    /// Whether a value that can only be an object or a list begins with an element at the start of `rest`.
    /// `None` waits for more.
    pub(super) fn begins_element<S>(
        &self,
        reading: &OpenValue,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<bool> {
        let tools = self.xml.layout == Layout::Tools;
        let Some(tool) = self.tool(ctx.tools).filter(|_| tools && reading.fresh) else {
            return Some(false);
        };
        let Some(guide) = tool.parameter(&reading.key) else { return Some(false) };
        let made = guide.allows(JsonType::Object) || guide.allows(JsonType::Array);
        if !made || guide.allows(JsonType::String) {
            return Some(false);
        }
        match tag(rest, &self.xml, eof) {
            Lexed::Wait => None,
            Lexed::Tag(tag) => {
                let own = tool.has(&tag.word) || ctx.tools.known(&tag.word).is_some();
                let free = !own || matches!(guide.member(&tag.word), Member::Declared(_));
                Some(!tag.end && tag.is_plain() && free)
            }
            Lexed::No => Some(false),
        }
    }

    /// Reads text of a value with elements in it.
    fn nested_text<S: CallSink>(
        &mut self,
        mut nested: Box<Nested>,
        bytes: &[u8],
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        nested.text(bytes);
        ctx.raw(bytes);
        self.state = State::Nested(nested);
        Step::Read(bytes.len())
    }

    /// Emits a value with elements in it.
    fn end_nested<S: CallSink>(&mut self, nested: &mut Nested, ctx: &mut Ctx<'_, S>) {
        if self.xml.layout == Layout::Keys {
            self.member(nested.key(), ctx);
        }
        ctx.arguments(&nested.json(&self.xml, ctx.options));
        let (repairs, unclear) = nested.doubts();
        self.repairs += repairs;
        if unclear {
            ctx.refuse();
        }
    }
}
