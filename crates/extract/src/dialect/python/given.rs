//! The arguments of a call, each up to its value.

use wiremend_core::RepairKind;

use super::{
    PythonCall, State,
    atoms::Atom,
    scan::{Cursor, is_name, key},
};
use crate::dialect::{
    arguments,
    json::{Step, past_space},
    out::Ctx,
    sink::CallSink,
};

/// How many keys are compared with those before them.
const MOST_KEYS: usize = 4096;

/// An object that is all arguments, as in `book(**{"seats": 2})`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    None,
    Open,
    Closed,
}

impl PythonCall {
    /// Before an argument, or the end of the arguments.
    pub(super) fn argument<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if space > 0 {
            ctx.raw(rest.get(..space).unwrap_or_default());
            self.state = State::Argument;
            return Step::Read(space);
        }
        let Some(&first) = rest.first() else { return self.wait(State::Argument, eof, ctx) };
        if matches!(first, b')' | b']') {
            return self.end_arguments(rest, ctx);
        }
        if first == b'}' && self.spread == Spread::Open {
            return self.end_spread(ctx);
        }
        if first == b',' {
            ctx.raw(b",");
            self.state = State::Argument;
            return Step::Read(1);
        }
        if first == b'#' {
            return self.comment(false, rest, eof, ctx);
        }
        let mut cursor = Cursor { rest, at: 0, eof };
        let Some(key) = key(&mut cursor) else { return self.wait(State::Argument, eof, ctx) };
        if self.arguments > 0 {
            self.feed(b", ", ctx);
        }
        self.state = State::Value;
        self.value_start = true;
        if let Some(key) = key {
            self.arguments += 1;
            let written = rest.get(..cursor.at).unwrap_or_default();
            self.markdown |= written.contains(&b'\\');
            self.named = true;
            ctx.raw(written);
            self.member(&key, ctx);
            return Step::Read(cursor.at);
        }
        // An object that is spread is the arguments, and so is one on its own, if its first key is that of a
        // parameter.
        let alone = self.arguments == 0 && self.spread == Spread::None;
        let spread = if alone { spread(rest, eof) } else { Some(0) };
        let Some(spread) = spread else { return self.wait(State::Argument, eof, ctx) };
        if (first == b'{' || spread > 0) && alone {
            cursor.at = spread + 1;
            cursor.space();
            let quote = cursor.peek();
            let Some(quote) = quote else { return self.wait(State::Argument, eof, ctx) };
            let begins = match quote {
                Some(b'}') => spread > 0,
                Some(b'"' | b'\'') => {
                    cursor.at += 1;
                    let Some(word) = cursor.word() else {
                        return self.wait(State::Argument, eof, ctx);
                    };
                    let word = String::from_utf8_lossy(word);
                    spread > 0 || ctx.tools.get(&self.name).is_none_or(|tool| tool.has(&word))
                }
                // As JavaScript writes it.
                Some(byte) if is_name(byte) => {
                    let Some(word) = cursor.word() else {
                        return self.wait(State::Argument, eof, ctx);
                    };
                    cursor.space();
                    let Some(next) = cursor.peek() else {
                        return self.wait(State::Argument, eof, ctx);
                    };
                    let word = String::from_utf8_lossy(word);
                    let own = ctx.tools.get(&self.name).is_some_and(|tool| tool.has(&word));
                    let begins = next == Some(b':') && own;
                    if begins && !ctx.options.policy().allows(RepairKind::UnquotedKey) {
                        ctx.refuse();
                    }
                    begins
                }
                _ => false,
            };
            if begins {
                // Its members are read like arguments with names.
                self.spread = Spread::Open;
                ctx.raw(rest.get(..=spread).unwrap_or_default());
                self.state = State::Argument;
                return Step::Read(spread + 1);
            }
        }
        let tool = ctx.tools.get(&self.name);
        let own = tool.and_then(|tool| tool.parameters.get(self.arguments));
        // Python allows neither a value without a name after one with a name, nor more values than there
        // are parameters. A comma in `seats=2,000` would set another argument.
        // What a variable holds that is spread is not known.
        let wrong = self.named || tool.is_some() && own.is_none() || first == b'*';
        let key = own.cloned().unwrap_or_else(|| format!("arg{}", self.arguments));
        if wrong {
            ctx.refuse();
        }
        self.arguments += 1;
        self.member(&key, ctx);
        Step::Read(0)
    }

    /// The object that is all arguments ends.
    pub(super) fn end_spread<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> Step {
        self.end_value(ctx);
        self.spread = Spread::Closed;
        ctx.raw(b"}");
        self.state = State::Argument;
        Step::Read(1)
    }

    fn member<S: CallSink>(&mut self, key: &str, ctx: &mut Ctx<'_, S>) {
        let mut json = Vec::new();
        arguments::quote(key.as_bytes(), &mut json);
        json.extend_from_slice(b": ");
        self.feed(&json, ctx);
        key.clone_into(&mut self.key);
        self.atom = Atom::Nothing;
        // Of two values of one argument, neither is known to be meant. After too many arguments, or an
        // object with some, it is not known whether there are two.
        if self.spread == Spread::Closed
            || self.given.contains(key)
            || self.given.len() >= MOST_KEYS
        {
            ctx.refuse();
        } else {
            self.given.insert(key.to_owned());
        }
    }
}

/// The length of what spreads a dictionary over the arguments, before its bracket. Zero if none does. `None`
/// waits for more.
fn spread(rest: &[u8], eof: bool) -> Option<usize> {
    const MARK: &[u8] = b"**";
    let Some(after) = rest.strip_prefix(MARK) else {
        return if MARK.starts_with(rest) && !eof { None } else { Some(0) };
    };
    let (space, next) = past_space(after, eof)?;
    Some(if next.first() == Some(&b'{') { MARK.len() + space } else { 0 })
}
