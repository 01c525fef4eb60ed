//! The strings of calls in Python, and calls that are written in strings.

use super::{
    PythonCall, State,
    scan::{Cursor, escape, is_name},
};
use crate::dialect::{arguments, json::Step, out::Ctx, sink::CallSink};

impl PythonCall {
    pub(super) fn begin_string<S: CallSink>(
        &mut self,
        rest: &[u8],
        prefix: usize,
        raw: bool,
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let quotes = rest.get(prefix..).unwrap_or_default();
        let quote = quotes.first().copied().unwrap_or(b'"');
        let run = quotes.iter().take(3).take_while(|byte| **byte == quote).count();
        if run == quotes.len() && run < 3 && !eof {
            return Step::Wait;
        }
        let triple = run == 3;
        let length = prefix + if triple { 3 } else { 1 };
        ctx.raw(rest.get(..length).unwrap_or_default());
        self.feed(b"\"", ctx);
        self.value_start = false;
        self.state = State::String(quote, triple, raw);
        Step::Read(length)
    }

    pub(super) fn string<S: CallSink>(
        &mut self,
        quote: u8,
        triple: bool,
        raw: bool,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        self.state = State::String(quote, triple, raw);
        let special = |byte: &u8| *byte == quote || *byte == b'\\';
        let clear = rest.iter().position(special).unwrap_or(rest.len());
        if clear > 0 {
            let bytes = rest.get(..clear).unwrap_or_default();
            let mut json = Vec::with_capacity(clear);
            arguments::escape(bytes, &mut json);
            ctx.raw(bytes);
            self.feed(&json, ctx);
            return Step::Read(clear);
        }
        let Some(&byte) = rest.first() else {
            let state = self.state.clone();
            return self.wait(state, eof, ctx);
        };
        if byte == b'\\' {
            return match escape(rest, raw, self.markdown, eof) {
                None => Step::Wait,
                Some((length, json)) => {
                    self.repairs += usize::from(json == b"_");
                    ctx.raw(rest.get(..length).unwrap_or_default());
                    self.feed(&json, ctx);
                    Step::Read(length)
                }
            };
        }
        let length = if triple {
            let run = rest.iter().take(3).take_while(|byte| **byte == quote).count();
            if run == rest.len() && run < 3 && !eof {
                return Step::Wait;
            }
            if run == 3 { Some(3) } else { None }
        } else {
            match self.closes_string(rest, eof) {
                None => return Step::Wait,
                Some(closes) => closes.then_some(1),
            }
        };
        match length {
            Some(length) => {
                ctx.raw(rest.get(..length).unwrap_or_default());
                self.feed(b"\"", ctx);
                self.state = State::Value;
                Step::Read(length)
            }
            None => {
                self.repairs += usize::from(!triple);
                let mut json = Vec::new();
                arguments::escape(&[byte], &mut json);
                ctx.raw(&[byte]);
                self.feed(&json, ctx);
                Step::Read(1)
            }
        }
    }

    /// Whether the quote at the start of `rest` ends its string, by what follows it.
    fn closes_string(&self, rest: &[u8], eof: bool) -> Option<bool> {
        let mut cursor = Cursor { rest, at: 1, eof };
        cursor.space();
        let next = cursor.peek()?;
        let spaced = cursor.at > 1;
        Some(match next {
            // A comment.
            Some(b'#') => spaced,
            // In a list, the bracket of a call is followed by neither a bracket nor a quote.
            Some(b')') if self.list && self.brackets.is_empty() => {
                cursor.at += 1;
                cursor.space();
                match cursor.peek()? {
                    Some(b')') => false,
                    Some(b'"' | b'\'') => self.braced,
                    _ => true,
                }
            }
            None | Some(b')' | b']' | b'}' | b':' | b'"' | b'\'' | b'+' | b'%' | b'.') => true,
            Some(b',') if self.brackets.is_empty() => {
                // After a comma, there is another argument.
                cursor.at += 1;
                cursor.space();
                match cursor.peek()? {
                    Some(byte) if is_name(byte) && !byte.is_ascii_digit() && byte != b'-' => {
                        let word = cursor.word()?;
                        cursor.space();
                        let literal = matches!(word, b"True" | b"False" | b"None");
                        literal || matches!(cursor.peek()?, Some(b'=' | b'"' | b'\''))
                    }
                    _ => true,
                }
            }
            Some(b',') => true,
            Some(_) => false,
        })
    }

    /// Reads a call that is written in a string, until the string ends, and then the call.
    pub(super) fn quoted<S: CallSink>(
        &mut self,
        quote: u8,
        mut text: Vec<u8>,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let Some(&byte) = rest.first() else {
            if !eof {
                self.state = State::Quoted(quote, text);
                return Step::Wait;
            }
            self.feed(b"{", ctx);
            self.inner(&text, ctx);
            return Step::Done(0);
        };
        if text.len() > ctx.options.limits().buffer() {
            self.feed(b"{", ctx);
            self.inner(&text, ctx);
            return Step::Done(0);
        }
        if byte == b'\\' {
            let Some(&next) = rest.get(1) else {
                self.state = State::Quoted(quote, text);
                return if eof { self.cut(ctx) } else { Step::Wait };
            };
            if next != quote && next != b'\\' {
                text.push(b'\\');
            }
            text.push(next);
            ctx.raw(rest.get(..2).unwrap_or_default());
            self.state = State::Quoted(quote, text);
            return Step::Read(2);
        }
        if byte == quote && text.last() == Some(&b')') {
            let mut cursor = Cursor { rest, at: 1, eof };
            cursor.space();
            let Some(next) = cursor.peek() else {
                self.state = State::Quoted(quote, text);
                return Step::Wait;
            };
            if matches!(next, None | Some(b',' | b']' | b';')) {
                self.feed(b"{", ctx);
                self.inner(&text, ctx);
                ctx.markup(&[byte]);
                self.state = State::After;
                return Step::Read(1);
            }
        }
        let clear = rest.iter().skip(1).position(|next| *next == quote || *next == b'\\');
        let length = clear.map_or(rest.len(), |clear| clear + 1);
        text.extend_from_slice(rest.get(..length).unwrap_or_default());
        ctx.raw(rest.get(..length).unwrap_or_default());
        self.state = State::Quoted(quote, text);
        Step::Read(length)
    }

    /// Reads the arguments of a call that was written in a string. Their source was emitted.
    fn inner<S: CallSink>(&mut self, text: &[u8], ctx: &mut Ctx<'_, S>) {
        self.state = State::Argument;
        let mut at = 0;
        let offset = ctx.out.at;
        ctx.out.muted = true;
        // Each step reads something or changes the state, so this ends.
        for _ in 0..=2 * text.len() + 8 {
            if self.state == State::After {
                break;
            }
            let step = match std::mem::replace(&mut self.state, State::After) {
                State::Argument => self.argument(text.get(at..).unwrap_or_default(), true, ctx),
                State::Value => self.value(text.get(at..).unwrap_or_default(), true, ctx),
                State::String(quote, triple, raw) => {
                    self.string(quote, triple, raw, text.get(at..).unwrap_or_default(), true, ctx)
                }
                State::Expression => self.expression(text.get(at..).unwrap_or_default(), true, ctx),
                State::Comment(inside) => {
                    self.comment(inside, text.get(at..).unwrap_or_default(), true, ctx)
                }
                State::Quoted(..) | State::After => Step::Done(0),
            };
            match step {
                Step::Read(length) => at += length,
                _ => break,
            }
        }
        ctx.out.muted = false;
        ctx.out.rewind(offset);
        self.state = State::After;
    }
}
