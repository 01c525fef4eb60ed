//! `Action:` and `Action Input:`, as in the prompt of the ReAct paper.

use super::{
    json::Step,
    markers::{Found, Markers},
    out::Ctx,
    shape::{Trim, Xml},
    sink::{CallOutcome, CallSink},
    value::Value,
};

const LONGEST_NAME: usize = 256;

/// What ends the input of an action.
pub(super) const STOPS: [&str; 5] =
    ["\nObservation:", "\nThought:", "\nAction:", "\nFinal Answer:", "\nAnswer:"];
/// The labels of a thought, and of what is for the user.
pub(super) const THOUGHT: &str = "Thought:";
pub(super) const ANSWERS: [&str; 2] = ["Final Answer:", "Answer:"];

/// Finds the action at the start of `rest`: its name, and the length up to its input. The outer
/// `None` waits for more.
pub(super) fn open(rest: &[u8], eof: bool) -> Option<Option<(String, usize)>> {
    let mut cursor = Cursor { rest, at: 0, eof };
    if !cursor.label(&["Action"])? {
        return Some(None);
    }
    cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
    let start = cursor.at;
    loop {
        match cursor.peek()? {
            None => return Some(None),
            Some(b'\n') => break,
            Some(_) if cursor.at - start > LONGEST_NAME => return Some(None),
            Some(_) => cursor.at += 1,
        }
    }
    let name = String::from_utf8_lossy(rest.get(start..cursor.at)?).into_owned();
    let name = name.trim().trim_matches(['"', '\'', '`', '*']).to_owned();
    cursor.skip(u8::is_ascii_whitespace);
    if name.is_empty() || !cursor.label(&["Action", "Input"])? {
        return Some(None);
    }
    cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
    Some(Some((name, cursor.at)))
}

struct Cursor<'r> {
    rest: &'r [u8],
    at: usize,
    eof: bool,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<Option<u8>> {
        match self.rest.get(self.at) {
            Some(byte) => Some(Some(*byte)),
            None => self.eof.then_some(None),
        }
    }

    fn skip(&mut self, space: impl Fn(&u8) -> bool) {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take(64).take_while(|byte| space(byte)).count();
    }

    /// Reads words, each with a number after it, and a colon.
    fn label(&mut self, words: &[&str]) -> Option<bool> {
        for word in words {
            self.skip(|byte| *byte == b' ');
            for expected in word.bytes() {
                if self.peek()? != Some(expected) {
                    return Some(false);
                }
                self.at += 1;
            }
            self.skip(|byte| *byte == b' ' || byte.is_ascii_digit());
        }
        if self.peek()? != Some(b':') {
            return Some(false);
        }
        self.at += 1;
        Some(true)
    }
}

/// The input of an action that is no JSON: a string up to the next label.
#[derive(Clone, Debug)]
pub(super) struct Input {
    value: Value,
    stops: Markers,
}

impl Input {
    pub(super) fn new() -> Self {
        let stops = Markers::new(STOPS.iter().map(|stop| (0, *stop)));
        Self { value: Value::new(None, &Xml::new(&[], &[]).trim(Trim::Space), Some(true)), stops }
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let clear = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        if clear > 0 {
            return self.pass(rest.get(..clear).unwrap_or_default(), ctx);
        }
        if rest.is_empty() {
            return if eof { self.end(true, ctx) } else { Step::Wait };
        }
        match self.stops.at(rest, eof) {
            Found::Partial => Step::Wait,
            Found::Here(_) => self.end(false, ctx),
            Found::Nothing => self.pass(rest.get(..1).unwrap_or_default(), ctx),
        }
    }

    fn pass<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) -> Step {
        ctx.raw(bytes);
        self.value.push(bytes, ctx);
        Step::Read(bytes.len())
    }

    fn end<S: CallSink>(&mut self, at_end: bool, ctx: &mut Ctx<'_, S>) -> Step {
        self.value.finish(ctx);
        let cut = at_end && !ctx.end_closes();
        ctx.end(if cut { CallOutcome::Cut } else { CallOutcome::Whole }, 0, at_end);
        ctx.flush_end(true);
        Step::Done(0)
    }
}
