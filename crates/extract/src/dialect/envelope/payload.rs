//! The arguments of the open call, as mended JSON in any pieces.

use wiremend_core::RepairKind;

use crate::dialect::{arguments::Inner, out::Ctx, sink::CallSink};

/// Arguments that leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload {
    form: Form,
    /// Whether there is a quote in their source that is not escaped.
    quoted: bool,
    /// Whether it is not clear what is meant.
    pub(super) refused: bool,
    pub(super) repairs: usize,
}

#[derive(Clone, Debug, Default)]
enum Form {
    #[default]
    Nothing,
    Object,
    List,
    /// A literal, which leaves as a whole.
    Literal(Vec<u8>),
    /// A string, which may have them in it.
    String(Box<Inner>),
}

impl Payload {
    /// The source of what comes next.
    pub(super) fn source<S: CallSink>(&mut self, source: &[u8], ctx: &mut Ctx<'_, S>) {
        let quote = source.iter().position(|byte| *byte == b'"');
        let escaped = |at: usize| at > 0 && source.get(at - 1) == Some(&b'\\');
        self.quoted = self.quoted || quote.is_some_and(|at| !escaped(at));
        ctx.raw(source);
    }

    pub(super) fn push<S: CallSink>(&mut self, json: &[u8], ctx: &mut Ctx<'_, S>) {
        let Some(first) = json.first() else { return };
        if self.is_empty() {
            self.form = match first {
                b'"' => Form::String(Box::new(Inner::new(ctx.options))),
                b'{' => Form::Object,
                b'[' => Form::List,
                _ => Form::Literal(Vec::new()),
            };
        }
        match &mut self.form {
            Form::Nothing | Form::Object | Form::List => ctx.arguments(json),
            Form::Literal(text) => text.extend_from_slice(json),
            Form::String(inner) => inner.push(json, ctx),
        }
    }

    /// Whether nothing was read.
    pub(super) const fn is_empty(&self) -> bool {
        matches!(self.form, Form::Nothing)
    }

    /// Whether they are a list, which names no parameter.
    pub(super) const fn is_list(&self) -> bool {
        matches!(self.form, Form::List)
    }

    /// Notes a repair.
    pub(super) fn repair<S: CallSink>(&mut self, kind: RepairKind, ctx: &mut Ctx<'_, S>) {
        self.repairs += 1;
        match kind {
            RepairKind::MissingClose => ctx.lacks_bracket(),
            // Where other quotes are not escaped, those that are belong to a string.
            RepairKind::EscapedDocument => self.refused |= self.quoted,
            // `"arguments": "a": "b"}` lacks a brace, and is no string; a word is none either.
            RepairKind::UnescapedQuote | RepairKind::UnquotedString => {
                self.refused |= matches!(&self.form, Form::String(inner) if !inner.is_object());
            }
            _ => {}
        }
    }

    /// The value has ended. A string that has no object in it is taken as it is where a key has `said` that it is the
    /// arguments.
    pub(super) fn end<S: CallSink>(&mut self, said: bool, ctx: &mut Ctx<'_, S>) {
        let form = if self.is_list() { Form::List } else { Form::Object };
        match std::mem::replace(&mut self.form, form) {
            // No arguments are none.
            Form::Literal(text) if text.trim_ascii() == b"null" => ctx.arguments(b"{}"),
            Form::Literal(text) => ctx.arguments(&text),
            Form::String(mut inner) => {
                let (repairs, complete) = inner.finish(ctx);
                self.repairs += repairs;
                self.refused |= !complete.unwrap_or(said);
            }
            Form::Nothing => ctx.arguments(b"{}"),
            Form::Object | Form::List => {}
        }
    }
}
