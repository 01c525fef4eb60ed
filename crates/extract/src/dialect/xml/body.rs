//! Calls of which the arguments are one JSON text.

use super::{State, XmlCall};
use crate::dialect::{
    json::{CLOSE, JsonCall, Step},
    markers::Markers,
    out::Ctx,
    shape::{Prefix, spelled_bars},
    sink::CallSink,
    tags::Role,
};

impl XmlCall {
    /// The body of the call is its arguments in JSON.
    pub(super) fn body<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> Step {
        let (open, end, close) = self.xml.tag;
        let mut stops: Vec<String> = Vec::new();
        for name in self.xml.calls.iter().chain(&self.xml.wrappers) {
            match self.xml.prefix {
                Prefix::None => stops.extend(self.xml.closing(name)),
                Prefix::Exact(prefix) => {
                    stops.push(format!("{end}{prefix}{name}{close}"));
                    stops.push(format!("{end}{name}{close}"));
                }
                Prefix::Bars(word) => {
                    for bar in spelled_bars() {
                        stops.push(format!("{end}{bar}{word}{bar}{name}{close}"));
                        stops.push(format!("{end}{bar}{word}{bar} {name}{close}"));
                        stops.push(format!("{open}{bar}{word}{bar}/{name}{close}"));
                    }
                }
            }
        }
        let stops = Markers::new(stops.iter().map(|stop| (CLOSE, stop.as_str())));
        self.state = State::Body(Box::new(JsonCall::arguments(stops, true, ctx)), false);
        Step::Read(0)
    }

    /// All arguments are in an element of their own, after its tag.
    pub(super) fn body_element<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let own = self.xml.body.iter().flat_map(|name| self.xml.closing(name));
        let around = self.xml.calls.iter().chain(&self.xml.wrappers);
        let others = around.flat_map(|name| self.xml.closing(name)).chain(self.xml.begins());
        let stops: Vec<(usize, String)> =
            own.map(|stop| (CLOSE, stop)).chain(others.map(|stop| (CLOSE + 1, stop))).collect();
        let stops = Markers::new(stops.iter().map(|(id, stop)| (*id, stop.as_str())));
        let sealed = self.xml.tag.0.len() > 1;
        let body = JsonCall::arguments(stops, true, ctx).within(sealed);
        self.state = State::Body(Box::new(body), true);
    }

    pub(super) fn read_body<S: CallSink>(
        &mut self,
        mut body: Box<JsonCall>,
        element: bool,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        match body.step(rest, eof, ctx) {
            Step::Done(length) if element => {
                self.state = State::AfterBody;
                Step::Read(length)
            }
            Step::Done(length) => {
                // The call has ended with its arguments.
                ctx.flush_end(true);
                Step::Done(length)
            }
            step => {
                self.state = State::Body(body, element);
                step
            }
        }
    }

    /// Reads up to the end of a call whose arguments have ended.
    pub(super) fn after_body<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        self.state = State::AfterBody;
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if space > 0 {
            ctx.markup(rest.get(..space).unwrap_or_default());
            return Step::Read(space);
        }
        if rest.is_empty() {
            return if eof { Step::Done(0) } else { Step::Wait };
        }
        let Some(role) = self.role(rest, eof, ctx) else { return Step::Wait };
        let length = match role {
            Some((Role::CallEnd, length)) => {
                ctx.markup(rest.get(..length).unwrap_or_default());
                ctx.flush_end(true);
                return Step::Done(length);
            }
            Some((Role::Call(_) | Role::Wrapper | Role::WrapperEnd, _)) => return Step::Done(0),
            Some((_, length)) => length,
            None if eof && self.is_piece(rest) => {
                ctx.markup(rest);
                return Step::Done(rest.len());
            }
            None => rest.iter().skip(1).take_while(|byte| !self.begins_tag(**byte)).count() + 1,
        };
        // Whatever else is in the call may be an argument, which would be missing.
        ctx.refuse_ended();
        ctx.raw(rest.get(..length).unwrap_or_default());
        Step::Read(length)
    }
}
