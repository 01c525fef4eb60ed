//! Values that are made of elements.

use super::{State, XmlCall};
use crate::dialect::{json::Step, nested::Nested, out::Ctx, sink::CallSink, tags::Role};

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
        let Some(role) = self.role(rest, eof, ctx) else {
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
                self.end_nested(&mut nested, ctx);
                Step::Read(0)
            }
            _ => self.nested_text(nested, rest.get(..1).unwrap_or_default(), ctx),
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
        self.member(nested.key(), ctx);
        ctx.arguments(&nested.json(&self.xml, ctx.options));
        let (repairs, unclear) = nested.doubts();
        self.repairs += repairs;
        if unclear {
            ctx.refuse();
        }
    }
}
