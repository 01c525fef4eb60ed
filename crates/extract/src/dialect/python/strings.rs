//! The strings of calls in Python, and calls that are written in strings.

use super::{
    Inner, PythonCall, State,
    given::Spread,
    scan::{Cursor, LONGEST_NAME, escape, is_name},
};
use crate::dialect::{arguments, json::Step, out::Ctx, sink::CallSink, tools::Tools};

impl Inner {
    /// Text of the string.
    fn pass(&mut self, text: &[u8]) {
        for &byte in text {
            self.opened = false;
            match byte {
                b'(' if self.calls || self.last.is_ascii_alphanumeric() || self.last == b'_' => {
                    self.open += 1;
                    self.opened = true;
                }
                b')' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            self.calls &= self.open > 0;
            self.separated = byte == b',' || byte == b' ' && self.separated;
            self.last = byte;
        }
    }

    /// Keeps the last word of `text`, which is about to be passed, or of what was passed and it.
    fn note_word(&mut self, text: &[u8]) {
        let tail = text.strip_suffix(b"=").unwrap_or(text);
        let length =
            tail.iter().rev().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
        let word = tail.get(tail.len() - length..).unwrap_or_default();
        if length < tail.len() || !is_name(self.last) || self.word.len() > LONGEST_NAME {
            self.word.clear();
        }
        self.word.extend_from_slice(word);
    }

    /// Whether the name of a known tool and a parenthesis are in `text`, which is about to be passed.
    fn calls_tool(&self, text: &[u8], tools: &Tools) -> bool {
        let opens = text.iter().enumerate().filter(|(_, byte)| **byte == b'(');
        opens.map(|(at, _)| text.get(..at).unwrap_or_default()).any(|before| {
            let letters = before.iter().rev().take_while(|byte| is_name(**byte)).take(LONGEST_NAME);
            let (_, name) = before.split_at(before.len() - letters.count());
            let begun = name.len() == before.len() && is_name(self.last);
            let name = [if begun { &self.word } else { &b""[..] }, name].concat();
            core::str::from_utf8(&name).is_ok_and(|name| tools.contains(name))
        })
    }

    /// A quote that does not end the string.
    fn quote(&mut self, quote: u8) {
        if self.last == b'(' {
            self.open += usize::from(!self.opened);
            self.calls = true;
        }
        self.quoted = true;
        self.last = quote;
        self.opened = false;
    }
}

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
        let Some(is_key) =
            self.is_key(quotes.get(length - prefix..).unwrap_or_default(), quote, triple, eof)
        else {
            return Step::Wait;
        };
        self.format = rest.iter().take(prefix).any(|byte| byte.eq_ignore_ascii_case(&b'f'));
        ctx.raw(rest.get(..length).unwrap_or_default());
        let continues = self.note_string();
        if is_key {
            self.note_key(ctx);
        }
        self.feed(
            match (is_key, continues) {
                // The mender does not look as far ahead for the colon.
                (true, _) => b", \"",
                (_, true) => b"+ \"",
                _ => b"\"",
            },
            ctx,
        );
        self.value_start = false;
        self.inner = Inner::default();
        self.state = State::String(quote, triple, raw);
        Step::Read(length)
    }

    /// Whether a string, with `text` after its quote, is the next key of a dictionary whose comma is
    /// missing, and not a piece of the string before it. `None` waits for more.
    fn is_key(&self, text: &[u8], quote: u8, triple: bool, eof: bool) -> Option<bool> {
        if triple || !self.may_be_key() {
            return Some(false);
        }
        let mut cursor = Cursor { rest: text, at: 0, eof };
        while cursor.at < LONGEST_NAME {
            match cursor.peek()? {
                Some(b'\\') => cursor.at += 2,
                Some(byte) if byte == quote => {
                    cursor.at += 1;
                    cursor.space();
                    return Some(cursor.peek()? == Some(b':'));
                }
                Some(b'\n') | None => break,
                Some(_) => cursor.at += 1,
            }
        }
        Some(false)
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
            // What a format is filled with is not known.
            if self.format && bytes.contains(&b'{') {
                ctx.refuse();
            }
            // The string may have ended before the call of another tool.
            let names = !triple && self.inner.calls_tool(bytes, ctx.tools);
            self.inner.names_tool |= names;
            if names && self.inner.quoted {
                ctx.refuse();
            }
            ctx.raw(bytes);
            self.feed(&json, ctx);
            self.inner.note_word(bytes);
            self.inner.pass(bytes);
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
                    self.repairs.count += usize::from(json == b"_");
                    ctx.raw(rest.get(..length).unwrap_or_default());
                    self.feed(&json, ctx);
                    self.inner.last = 0;
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
            match self.closes_string(rest, eof, ctx.tools) {
                None => return Step::Wait,
                Some(closes) => closes.then_some(1),
            }
        };
        match length {
            Some(length) => {
                if self.inner.unpaired {
                    // The string may have ended before.
                    ctx.refuse();
                }
                ctx.raw(rest.get(..length).unwrap_or_default());
                self.feed(b"\"", ctx);
                self.state = State::Value;
                Step::Read(length)
            }
            None => {
                let text = if triple { Some(true) } else { self.is_text(rest, eof, ctx.tools) };
                match text {
                    None => return Step::Wait,
                    Some(true) => {}
                    // The string may have ended here, or before another argument that begins here.
                    Some(false) => ctx.refuse(),
                }
                self.repairs.count += usize::from(!triple);
                if !triple {
                    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                    let apostrophe = letter(Some(&self.inner.last)) && letter(rest.get(1));
                    self.inner.unpaired ^= !(byte == b'\'' && apostrophe);
                    if self.inner.names_tool {
                        ctx.refuse();
                    }
                }
                self.inner.quote(byte);
                let mut json = Vec::new();
                arguments::escape(&[byte], &mut json);
                ctx.raw(&[byte]);
                self.feed(&json, ctx);
                Step::Read(1)
            }
        }
    }

    /// Whether the quote at the start of `rest` ends its string, by what follows it.
    fn closes_string(&self, rest: &[u8], eof: bool, tools: &Tools) -> Option<bool> {
        if self.inner.calls {
            // The call of a program that the string holds.
            return Some(false);
        }
        let mut cursor = Cursor { rest, at: 1, eof };
        let doubtful = self.inner.quoted || self.inner.last == b'(';
        if doubtful && cursor.peek()? == rest.first().copied() {
            return Some(false);
        }
        cursor.space();
        let next = cursor.peek()?;
        let spaced = cursor.at > 1;
        Some(match next {
            // A comment.
            Some(b'#') => spaced,
            // A string is repeated.
            Some(b'*') => {
                cursor.at += 1;
                cursor.space();
                cursor.peek()?.is_some_and(|byte| byte.is_ascii_digit())
            }
            // In a list, the bracket of a call is followed by neither a bracket nor a quote.
            Some(b')') if self.list && self.brackets.is_empty() => {
                cursor.at += 1;
                cursor.space();
                match cursor.peek()? {
                    Some(b')') => false,
                    Some(b'"' | b'\'') => self.braced,
                    None | Some(b',' | b']') => true,
                    // The comma between two calls may be missing, but then this string is in no doubt.
                    Some(_) => !self.inner.quoted,
                }
            }
            // The parenthesis of the call may be missing, but then nothing goes on after the bracket.
            Some(b']') if self.brackets.is_empty() => {
                cursor.at += 1;
                cursor.space();
                match cursor.peek()? {
                    None | Some(b'<') => true,
                    Some(b')' | b',' | b'"' | b'\'' | b'+' | b'.') => false,
                    // An item of a container in a program, as in `d['a'] = 1`.
                    Some(_) => !self.inner.quoted,
                }
            }
            // After a quote in the string, the call ends with its line.
            Some(b')') if !self.list && self.brackets.is_empty() && self.inner.quoted => {
                cursor.at += 1;
                cursor.blanks();
                matches!(cursor.peek()?, None | Some(b'\n' | b'\r' | b'<' | b'`' | b')'))
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
                        if self.inner.quoted && self.lacks(word, tools) {
                            return Some(false);
                        }
                        let literal = matches!(word, b"True" | b"False" | b"None");
                        let next = cursor.peek()?;
                        let key = next == Some(b':') && self.spread == Spread::Open;
                        literal || key || matches!(next, Some(b'=' | b'"' | b'\''))
                    }
                    _ => true,
                }
            }
            Some(b',') => true,
            Some(_) => false,
        })
    }

    /// Whether the quote at the start of `rest`, which does not end its string, is a part of it: there is
    /// neither an argument before or after it, nor an operator. `None` waits for more.
    fn is_text(&self, rest: &[u8], eof: bool, tools: &Tools) -> Option<bool> {
        const OPERATORS: [&[u8]; 6] = [b"if", b"or", b"and", b"in", b"not", b"is"];
        if self.inner.calls {
            return Some(true);
        }
        let known = tools.get(&self.name);
        let takes = |word: &[u8]| {
            let name = core::str::from_utf8(word);
            known.is_some_and(|tool| name.is_ok_and(|name| tool.has(name)))
        };
        if self.inner.last == b'=' && takes(&self.inner.word) {
            return Some(false);
        }
        // In a list, the next item may begin here.
        if !self.brackets.is_empty() && self.inner.separated {
            return Some(false);
        }
        let mut cursor = Cursor { rest, at: 1, eof };
        cursor.space();
        if matches!(cursor.peek()?, Some(b'=' | b'!')) {
            cursor.at += 1;
            return Some(self.inner.quoted || cursor.peek()? != Some(b'='));
        }
        let word = cursor.word()?;
        cursor.space();
        let next = cursor.peek()?;
        let argument = next == Some(b'=') && takes(word);
        // After the first quote. Between later ones, there are words in quotes.
        let operator = OPERATORS.contains(&word) && !self.inner.quoted;
        Some(!(argument || operator))
    }

    /// Whether the tool is known, and has no parameter of that name.
    fn lacks(&self, word: &[u8], tools: &Tools) -> bool {
        let has = |name: &str| tools.get(&self.name).is_none_or(|tool| tool.has(name));
        !core::str::from_utf8(word).is_ok_and(has)
    }

    /// Reads a call that is written in a string up to its closing parenthesis, and then the call.
    pub(super) fn quoted<S: CallSink>(
        &mut self,
        mut quoted: Quoted,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if rest.is_empty() && eof {
            self.feed(b"{", ctx);
            self.inner(&quoted.text, ctx);
            return Step::Done(0);
        }
        let most = ctx.options.limits().buffer();
        let mut at = 0;
        let mut ended = false;
        // It is read up to the limit, however much of it has arrived.
        while let Some(&byte) = rest.get(at).filter(|_| !ended && quoted.text.len() <= most) {
            if byte == b'\\' {
                let Some(&next) = rest.get(at + 1) else { break };
                if next != quoted.quote && next != b'\\' {
                    quoted.push(b'\\');
                }
                ended = quoted.push(next);
                at += 2;
                continue;
            }
            if byte == quoted.quote && quoted.is_left_open() {
                let mut cursor = Cursor { rest, at: at + 1, eof };
                cursor.space();
                let Some(next) = cursor.peek() else { break };
                if matches!(next, None | Some(b',' | b']' | b'}' | b';')) {
                    ended = true;
                    break;
                }
            }
            ended = quoted.push(byte);
            at += 1;
        }
        ctx.raw(rest.get(..at).unwrap_or_default());
        if ended || quoted.text.len() > most {
            self.feed(b"{", ctx);
            self.inner(&quoted.text, ctx);
            return Step::Read(at);
        }
        self.state = State::Quoted(quoted);
        match at {
            0 if eof => self.cut(ctx),
            0 => Step::Wait,
            at => Step::Read(at),
        }
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

/// A call that is written in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    /// The quote of the string around it.
    quote: u8,
    /// What was read of it, without the escapes of that string.
    text: Vec<u8>,
    /// How many parentheses are open.
    depth: usize,
    /// The quote of the string in the call that is open.
    inside: Option<u8>,
    escaped: bool,
}

impl Quoted {
    pub(super) const fn new(quote: u8) -> Self {
        Self { quote, text: Vec::new(), depth: 1, inside: None, escaped: false }
    }

    /// Adds a byte. Returns whether it ends the call.
    fn push(&mut self, byte: u8) -> bool {
        self.text.push(byte);
        match (self.inside, byte) {
            (Some(_), _) if self.escaped => self.escaped = false,
            (Some(_), b'\\') => self.escaped = true,
            (Some(quote), _) if byte == quote => self.inside = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => self.inside = Some(byte),
            (None, b'(') => self.depth += 1,
            (None, b')') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
        self.depth == 0
    }

    /// Whether a string in the call was not closed before what may be the end of the string around it.
    fn is_left_open(&self) -> bool {
        let other = self.inside.is_some_and(|inside| inside != self.quote);
        other && self.text.last() == Some(&b')')
    }
}
