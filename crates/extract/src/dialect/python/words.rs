//! Values of arguments that are neither strings nor containers, and comments.

use super::{
    PythonCall, State, arguments,
    scan::{is_name, unescaped},
};
use crate::dialect::{
    json::Step,
    out::Ctx,
    sink::CallSink,
    tools::{Typing, typing},
};

/// What an expression of a program begins with, and no text does.
const CODE: [&[u8]; 4] = [b"self.", b"this.", b"lambda ", b"lambda:"];

/// The longest expression that may be a name, in bytes.
const LONGEST_NAME: usize = 128;

impl PythonCall {
    /// A word: a literal, the prefix of a string, or an expression.
    pub(super) fn word<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let length = rest.iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let Some(next) = rest.get(length) else {
            if eof {
                return self.begin_expression(rest, eof, ctx);
            }
            return Step::Wait;
        };
        let word = rest.get(..length).unwrap_or_default();
        if matches!(next, b'"' | b'\'')
            && (1..=2).contains(&length)
            && word.iter().all(|byte| b"rRbBuUfF".contains(byte))
        {
            let raw = word.iter().any(|byte| byte.eq_ignore_ascii_case(&b'r'));
            return self.begin_string(rest, length, raw, eof, ctx);
        }
        let literals: [&[u8]; 6] = [b"True", b"False", b"None", b"true", b"false", b"null"];
        if literals.contains(&word) && !is_name(*next) {
            self.note_whole();
            self.value_start = false;
            self.pass(word, ctx);
            return Step::Read(length);
        }
        self.begin_expression(rest, eof, ctx)
    }

    fn begin_expression<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if !self.brackets.is_empty() {
            // Inside of a list or a dictionary, the mender decides.
            self.note_word();
            self.value_start = false;
            let length = rest.iter().take_while(|byte| is_name(**byte)).count().max(1);
            self.pass(rest.get(..length).unwrap_or_default(), ctx);
            return Step::Read(length);
        }
        self.repairs.count += 1;
        self.note_whole();
        self.written.clear();
        self.last = b' ';
        self.feed(b"\"", ctx);
        self.state = State::Expression;
        self.expression(rest, eof, ctx)
    }

    pub(super) fn expression<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let mut at = 0;
        let mut json = Vec::new();
        let mut ended = false;
        for &byte in rest {
            match byte {
                b'(' | b'[' | b'{' => {
                    // What a function returns, and what a list holds, is not known.
                    if byte != b'{' {
                        ctx.refuse();
                    }
                    self.brackets.push((byte, byte));
                }
                b')' | b']' | b'}' | b',' if self.brackets.is_empty() => {
                    ended = true;
                    break;
                }
                b')' | b']' | b'}' => {
                    self.brackets.pop();
                }
                _ => {}
            }
            at += 1;
            arguments::escape(&[byte], &mut json);
        }
        let read = rest.get(..at).unwrap_or_default();
        // One byte more than a name has shows that it is none.
        let room = (LONGEST_NAME + 1).saturating_sub(self.written.len());
        self.written.extend(read.iter().take(room));
        let last = read.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        self.last = last.copied().unwrap_or(self.last);
        ctx.raw(read);
        self.feed(&json, ctx);
        if ended {
            if self.is_unknown_value(ctx) {
                ctx.refuse();
            }
            self.feed(b"\"", ctx);
            self.state = State::Value;
            return Step::Read(at);
        }
        if eof {
            ctx.refuse();
            return match self.cut(ctx) {
                Step::Done(_) => Step::Done(at),
                other => other,
            };
        }
        self.state = State::Expression;
        if at > 0 { Step::Read(at) } else { Step::Wait }
    }

    /// Whether the expression that was read cannot be the text of a value: the schema wants no string
    /// there, it is a placeholder in brackets, or a variable with the name of a parameter.
    fn is_unknown_value<S: CallSink>(&self, ctx: &Ctx<'_, S>) -> bool {
        let written = self.written.trim_ascii();
        let placeholder = written.starts_with(b"<") && self.last == b'>'
            || written.starts_with(b"${") && self.last == b'}'
            // The quote before it is missing, or somewhere else.
            || matches!(self.last, b'"' | b'\'')
            || CODE.iter().any(|code| written.starts_with(code));
        let Some(tool) = ctx.tools.get(&self.name) else { return placeholder };
        let guide = tool.parameter(&self.key);
        let name = unescaped(written);
        placeholder || typing(guide.as_ref()) == Typing::Json || name == self.key || tool.has(&name)
    }

    /// Three dots in place of a value leave it out.
    pub(super) fn dots<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let run = rest.iter().take(3).take_while(|byte| **byte == b'.').count();
        if run == rest.len() && run < 3 && !eof {
            return Step::Wait;
        }
        if run == 3 {
            ctx.refuse();
        }
        self.note(rest.get(..run).unwrap_or_default());
        self.value_start = false;
        self.pass(rest.get(..run).unwrap_or_default(), ctx);
        Step::Read(run)
    }

    /// A number sign in a value begins a comment, except at the start of an argument, where it may
    /// begin the name of a color.
    pub(super) fn number_sign<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if !self.value_start || !self.brackets.is_empty() {
            return self.comment(true, rest, eof, ctx);
        }
        match rest.get(1) {
            None if !eof => Step::Wait,
            Some(byte) if !byte.is_ascii_whitespace() => self.begin_expression(rest, eof, ctx),
            _ => self.comment(true, rest, eof, ctx),
        }
    }

    /// Skips a comment, which ends with its line. `inside` says that it is in the value of an argument.
    pub(super) fn comment<S: CallSink>(
        &mut self,
        inside: bool,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let length = rest.iter().take_while(|byte| **byte != b'\n').count();
        ctx.raw(rest.get(..length).unwrap_or_default());
        if length < rest.len() {
            self.state = if inside { State::Value } else { State::Argument };
            return Step::Read(length);
        }
        self.state = State::Comment(inside);
        match length {
            0 => self.wait(State::Comment(inside), eof, ctx),
            length => Step::Read(length),
        }
    }
}
