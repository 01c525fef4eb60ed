//! The input of a tool that is no JSON: a string, up to a marker.

use std::borrow::Cow;

use super::{
    json::Step,
    markers::{Markers, MarkersHere},
    out::Ctx,
    react,
    shape::{Trim, Xml},
    sink::{CallOutcome, CallSink},
    tags::Stated,
    value::Value,
};

/// The input that is being read.
#[derive(Clone, Debug)]
pub(super) struct TextInput {
    value: Value,
    stops: Markers,
    /// Whether what ends it belongs to the call.
    closed: bool,
    /// Whether nothing but white space was read.
    empty: bool,
    /// What was read, as long as it may say that a tool without parameters gets nothing.
    nothing: Option<Vec<u8>>,
}

/// What models write where a tool gets no input.
const NOTHING: [&str; 9] = ["", "none", "null", "nil", "n/a", "empty", "no input", "{}", "\"\""];
/// How much of an input is compared with that, in bytes.
const LONGEST: usize = 32;

impl TextInput {
    /// The input of an action of the ReAct prompt, up to the next label.
    pub(super) fn of_action<S: CallSink>(ctx: &Ctx<'_, S>) -> Self {
        let nothing = ctx.takes_nothing().then(Vec::new);
        Self { nothing, ..Self::new(react::STOPS.into_iter(), Trim::Space, false) }
    }

    /// A block that one of these closes.
    pub(super) fn between(close: &[Cow<'static, str>]) -> Self {
        Self::new(close.iter().map(|close| &**close), Trim::Newline, true)
    }

    fn new<'s>(stops: impl Iterator<Item = &'s str>, trim: Trim, closed: bool) -> Self {
        let stops = Markers::new(stops.map(|stop| (0, stop)));
        Self {
            value: Value::new(None, &Xml::new(&[], &[]).trim(trim), Some(Stated::String)),
            stops,
            closed,
            empty: true,
            nothing: None,
        }
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let may_stop = |byte: &u8| self.stops.begins_with(*byte);
        let clear = rest.iter().position(may_stop).unwrap_or(rest.len());
        if clear > 0 {
            return self.pass(rest.get(..clear).unwrap_or_default(), ctx);
        }
        if rest.is_empty() {
            return if eof { self.end(&[], true, ctx) } else { Step::Wait };
        }
        match self.stops.at(rest, eof) {
            MarkersHere::Partial => Step::Wait,
            MarkersHere::Here(found) => {
                let length = found.first().filter(|_| self.closed).map_or(0, |(_, length)| *length);
                self.end(rest.get(..length).unwrap_or_default(), false, ctx)
            }
            MarkersHere::Nothing => self.pass(rest.get(..1).unwrap_or_default(), ctx),
        }
    }

    fn pass<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) -> Step {
        self.empty &= bytes.iter().all(u8::is_ascii_whitespace);
        ctx.raw(bytes);
        if let Some(nothing) = &mut self.nothing {
            nothing.extend_from_slice(bytes);
            if nothing.trim_ascii().len() > LONGEST {
                self.is_something(ctx);
            }
        } else {
            self.value.push(bytes, ctx);
        }
        Step::Read(bytes.len())
    }

    fn is_something<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let text = self.nothing.take().unwrap_or_default();
        self.value.push(&text, ctx);
    }

    fn end<S: CallSink>(&mut self, marker: &[u8], at_end: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let text = self.nothing.as_deref().map(|text| text.trim_ascii().to_ascii_lowercase());
        let nothing = text.is_some_and(|text| NOTHING.iter().any(|word| text == word.as_bytes()));
        if nothing {
            ctx.arguments(b"{}");
        } else {
            self.is_something(ctx);
            self.value.finish(false, ctx);
        }
        // A text that ends where the input is due may have been cut off there.
        let cut = at_end && (self.empty && !nothing || !ctx.end_closes());
        ctx.end(if cut { CallOutcome::Cut } else { CallOutcome::Whole }, 0, at_end);
        ctx.markup(marker);
        ctx.flush_end(true);
        Step::Done(marker.len())
    }
}
