//! The arguments of a call in Python, read as a whole: the text is kept until they have ended.

use std::{collections::BTreeSet, sync::Arc};

use wiremend_core::{Guide, JsonType, MendOptions, RepairKind};

use super::scan::{LONGEST_NAME, is_name};
use crate::dialect::{
    arguments,
    tools::{Tool, Tools, Typing, typing},
};

/// What an expression of a program begins with, and no text does.
const CODE: [&[u8]; 4] = [b"self.", b"this.", b"lambda ", b"lambda:"];
/// What joins two values of a program.
const OPERATORS: [&[u8]; 6] = [b"if", b"or", b"and", b"in", b"not", b"is"];

/// What is known of a call before its arguments are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<'f> {
    pub(super) name: &'f str,
    pub(super) tools: &'f Tools,
    pub(super) options: &'f MendOptions,
    /// Whether it is in a list.
    pub(super) list: bool,
    /// Whether it is in a string that is in braces.
    pub(super) braced: bool,
    /// Whether underscores are escaped, as in Markdown.
    pub(super) markdown: bool,
}

/// Arguments as they were read.
#[derive(Debug)]
pub(super) struct Arguments {
    /// As JSON, which is still to be mended.
    pub(super) json: Vec<u8>,
    /// How much of the text they take, without what closes them.
    pub(super) length: usize,
    /// What closes them: a parenthesis, or the bracket of the list. `None` if the text ends before.
    pub(super) close: Option<u8>,
    pub(super) repairs: usize,
    /// Whether it is not known what is meant.
    pub(super) refused: bool,
}

/// Reads the arguments at the start of a text.
pub(super) fn parse(text: &[u8], form: Form<'_>) -> Arguments {
    let mut parser = Parser {
        text,
        at: 0,
        form,
        tool: form.tools.get(form.name),
        json: b"{".to_vec(),
        repairs: 0,
        refused: false,
        markdown: form.markdown,
        atom: Atom::Nothing,
        places: Vec::new(),
        key: String::new(),
        given: BTreeSet::new(),
        named: false,
        spread: Spread::None,
    };
    let close = parser.arguments();
    let Parser { json, at, repairs, refused, .. } = parser;
    Arguments { json, length: at, close, repairs, refused }
}

/// What was read of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atom {
    Nothing,
    Number,
    /// A number with something after it: a calculation, a date, a number with its unit. Where a string is
    /// allowed, it is the text.
    Calculation,
    /// Words and signs. Where a string is allowed, they are the text.
    Bare,
    /// A string, after which another piece of it may follow.
    Text,
    /// A string and a plus sign, after which another piece must follow.
    Plus,
    /// A literal or a container.
    Whole,
    /// What is no value, or a value with something after it that is no part of it.
    Several,
}

/// An object that is all arguments, as in `book(**{"seats": 2})`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    None,
    Open,
    Closed,
}

/// A container that is open.
#[derive(Debug)]
struct Container {
    guide: Option<Arc<dyn Guide>>,
    form: Brackets,
    items: usize,
    /// Whether there was a colon in it, and whether there was one since the last comma.
    keyed: bool,
    in_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brackets {
    List,
    /// Parentheses around what may be one value, or a tuple.
    Tuple,
    /// Parentheses around one value.
    Group,
    Dict,
}

/// What a string has in it that makes its end doubtful: some templates write strings as they are, with their
/// quotes.
#[derive(Debug, Default)]
struct Inner {
    /// Where it begins.
    start: usize,
    /// Whether there was a quote that did not end it.
    quoted: bool,
    /// Whether a quotation in it is open: apostrophes aside, the number of such quotes is odd.
    unpaired: bool,
    /// How many parentheses are open: those that come after a name, and once there is a call, all.
    open: usize,
    /// Whether a quote came directly after one of them, as in `print('hi')`, so that it is a call.
    calls: bool,
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    form: Form<'t>,
    tool: Option<&'t Tool>,
    json: Vec<u8>,
    repairs: usize,
    refused: bool,
    markdown: bool,
    atom: Atom,
    places: Vec<Container>,
    /// The key of the argument that is being read, and those of all arguments.
    key: String,
    given: BTreeSet<String>,
    /// Whether an argument has a name.
    named: bool,
    spread: Spread,
}

impl<'t> Parser<'t> {
    fn rest(&self, at: usize) -> &'t [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The next place that has no white space.
    fn past(&self, at: usize) -> usize {
        at + self.rest(at).iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The name at a place, in which Markdown may have escaped underscores.
    fn word(&self, at: usize) -> &'t [u8] {
        let rest = self.rest(at);
        let mut length = 0;
        loop {
            length += match rest.get(length..) {
                Some([byte, ..]) if is_name(*byte) => 1,
                Some([b'\\', b'_', ..]) => 2,
                _ => return rest.get(..length).unwrap_or_default(),
            };
        }
    }

    /// Passes source bytes on unchanged.
    fn pass(&mut self, length: usize) {
        let rest = self.rest(self.at);
        let bytes = rest.get(..length).unwrap_or(rest);
        self.json.extend_from_slice(bytes);
        self.at += bytes.len();
    }

    /// A repair that is made only if that is allowed.
    fn repair(&mut self, kind: RepairKind) {
        self.repairs += 1;
        self.refused |= !self.form.options.policy().allows(kind);
    }

    fn has(&self, name: &[u8]) -> bool {
        let name = std::str::from_utf8(name);
        self.tool.is_some_and(|tool| name.is_ok_and(|name| tool.has(name)))
    }

    /// Reads all arguments. Returns what closes them.
    fn arguments(&mut self) -> Option<u8> {
        let mut first = true;
        loop {
            self.at = self.past(self.at);
            match self.byte(self.at)? {
                close @ (b')' | b']') => return Some(self.end(close)),
                b'}' if self.spread == Spread::Open => self.end_spread(),
                b',' => self.at += 1,
                b'#' => self.comment(),
                byte => {
                    if !std::mem::take(&mut first) {
                        self.json.extend_from_slice(b", ");
                    }
                    if self.begin_argument(byte) {
                        if let Some(close) = self.value()? {
                            return Some(self.end(close));
                        }
                    } else {
                        first = true;
                    }
                }
            }
        }
    }

    fn end(&mut self, close: u8) -> u8 {
        self.end_value();
        if self.spread == Spread::Open {
            self.repair(RepairKind::MissingClose);
        }
        if close != b')' {
            // Without any arguments, the call was to go on.
            self.repairs += 1;
            self.refused |= self.given.is_empty();
        }
        self.json.push(b'}');
        close
    }

    /// The object that is all arguments ends.
    fn end_spread(&mut self) {
        self.end_value();
        self.spread = Spread::Closed;
        self.at += 1;
    }

    /// A comment ends with its line.
    fn comment(&mut self) {
        self.at += self.rest(self.at).iter().take_while(|byte| **byte != b'\n').count();
    }

    /// The key of an argument, with the sign after it, and the place after both.
    fn argument_key(&self) -> Option<(String, usize)> {
        let quote = self.byte(self.at).filter(|byte| matches!(byte, b'"' | b'\''));
        let start = self.at + usize::from(quote.is_some());
        let in_key = |byte: &&u8| is_name(**byte) || matches!(**byte, b'\\' | 0x80..);
        let length = self.rest(start).iter().take_while(in_key).count();
        let name = unescaped(self.rest(start).get(..length)?);
        if name.is_empty() || name.len() > LONGEST_NAME || name.as_bytes()[0].is_ascii_digit() {
            return None;
        }
        let mut at = start + length;
        if quote.is_some() {
            if self.byte(at) != quote {
                return None;
            }
            at += 1;
        }
        at = self.past(at);
        match self.rest(at) {
            [b'=', b'=', ..] => None,
            [b'=' | b':', ..] => Some((name, at + 1)),
            _ => None,
        }
    }

    /// Reads an argument up to its value. Returns `false` for the bracket of an object with all arguments.
    fn begin_argument(&mut self, first: u8) -> bool {
        if let Some((key, at)) = self.argument_key() {
            self.markdown |= self.text.get(self.at..at).is_some_and(|key| key.contains(&b'\\'));
            self.named = true;
            self.at = at;
            self.member(key);
            return true;
        }
        if self.given.is_empty() && self.spread == Spread::None && self.begins_spread() {
            return false;
        }
        let own = self.tool.and_then(|tool| tool.parameters.get(self.given.len()));
        // Python allows neither a value without a name after one with a name, nor more values than there
        // are parameters. A comma in `seats=2,000` would set another argument. What a variable holds that is
        // spread is not known.
        self.refused |= self.named || self.tool.is_some() && own.is_none() || first == b'*';
        self.member(own.cloned().unwrap_or_else(|| format!("arg{}", self.given.len())));
        true
    }

    /// Reads the bracket of an object that is all arguments: one that is spread, or one on its own, if its first
    /// key is that of a parameter. Its members are read like arguments with names.
    fn begins_spread(&mut self) -> bool {
        let spread = self.rest(self.at).starts_with(b"**");
        let open = if spread { self.past(self.at + 2) } else { self.at };
        if self.byte(open) != Some(b'{') {
            return false;
        }
        let at = self.past(open + 1);
        let begins = match self.byte(at) {
            Some(b'}') => spread,
            Some(b'"' | b'\'') => spread || self.tool.is_none() || self.has(self.word(at + 1)),
            // As JavaScript writes it.
            Some(byte) if is_name(byte) => {
                let word = self.word(at);
                let begins = self.byte(self.past(at + word.len())) == Some(b':') && self.has(word);
                self.refused |=
                    begins && !self.form.options.policy().allows(RepairKind::UnquotedKey);
                begins
            }
            _ => false,
        };
        if begins {
            self.spread = Spread::Open;
            self.at = open + 1;
        }
        begins
    }

    fn member(&mut self, key: String) {
        arguments::quote(key.as_bytes(), &mut self.json);
        self.json.extend_from_slice(b": ");
        self.atom = Atom::Nothing;
        // Of two values of one argument, neither is known to be meant. After an object with some, it is not
        // known whether there are two.
        self.refused |= self.spread == Spread::Closed || !self.given.insert(key.clone());
        self.key = key;
    }

    /// Reads the value of an argument. The inner `None` says that another argument may follow.
    fn value(&mut self) -> Option<Option<u8>> {
        // Whether a value may begin.
        let mut start = true;
        loop {
            let byte = self.byte(self.at)?;
            let inside = !self.places.is_empty();
            start = match byte {
                b'"' | b'\'' => {
                    self.string(0)?;
                    false
                }
                b'(' | b'[' | b'{' => {
                    self.open(byte);
                    true
                }
                b')' | b']' | b'}' if inside => {
                    self.close();
                    false
                }
                b'}' if self.spread == Spread::Open => {
                    self.end_spread();
                    return Some(None);
                }
                // A brace that closes nothing would close the arguments.
                b'}' => {
                    self.refused = true;
                    self.at += 1;
                    start
                }
                b')' | b']' => return Some(Some(byte)),
                b',' if !inside => {
                    self.end_value();
                    self.at += 1;
                    return Some(None);
                }
                b',' | b':' if inside => {
                    self.separator(byte);
                    self.pass(1);
                    true
                }
                // At the start of an argument, it may begin the name of a color.
                b'#' => {
                    let next = self.byte(self.at + 1);
                    match start && !inside && !next.is_none_or(|byte| byte.is_ascii_whitespace()) {
                        true => self.expression()?,
                        false => self.comment(),
                    }
                    start
                }
                _ if byte.is_ascii_whitespace() => {
                    self.pass(self.past(self.at) - self.at);
                    start
                }
                _ if start && (byte.is_ascii_alphabetic() || b"_<$".contains(&byte)) => {
                    self.literal()?;
                    false
                }
                _ => {
                    self.run(start);
                    false
                }
            };
        }
    }

    /// A number, or signs and words after something else.
    fn run(&mut self, start: bool) {
        let inside = !self.places.is_empty();
        let ends = |byte: &u8| b"\"'([{)]},#".contains(byte) || inside && *byte == b':';
        let rest = self.rest(self.at);
        let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
        let run = rest.get(..length).unwrap_or_default();
        // Numbers may begin with zeros. What does may be a code, so this is not what was written.
        let sign = usize::from(start && run.starts_with(b"-"));
        let zero = |pair: &&[u8]| start && pair[0] == b'0' && pair[1].is_ascii_digit();
        let zeros =
            run.get(sign..).unwrap_or_default().windows(2).take_while(|pair| zero(pair)).count();
        self.repairs += zeros;
        // Three dots in place of a value leave it out.
        self.refused |= start && run.starts_with(b"...");
        self.pass(sign);
        self.at += zeros;
        self.pass(length - sign - zeros);
        let run = run.trim_ascii();
        self.atom = match (self.atom, run) {
            (atom, []) => atom,
            // Arguments that are kept in a variable.
            (Atom::Nothing, [b'*', ..]) => Atom::Several,
            (Atom::Nothing, [b'-', b'-' | b'+', ..]) => Atom::Calculation,
            (Atom::Nothing, [b'0'..=b'9' | b'.' | b'+' | b'-', ..]) => {
                number(run.get(sign..).and_then(|run| run.get(zeros..)).unwrap_or_default())
            }
            (Atom::Nothing, _) => Atom::Bare,
            (Atom::Text, b"+") => Atom::Plus,
            (Atom::Number | Atom::Calculation, _) => Atom::Calculation,
            (Atom::Bare, _) => Atom::Bare,
            (Atom::Text | Atom::Plus | Atom::Whole | Atom::Several, _) => Atom::Several,
        };
    }

    /// What begins with a letter: a literal, the prefix of a string, or an expression.
    fn literal(&mut self) -> Option<()> {
        const LITERALS: [&[u8]; 6] = [b"True", b"False", b"None", b"true", b"false", b"null"];
        let rest = self.rest(self.at);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (word, after) = rest.split_at(length);
        match after.first() {
            Some(b'"' | b'\'')
                if (1..=2).contains(&length) && word.iter().all(|b| b"rRbBuUfF".contains(b)) =>
            {
                self.string(length)
            }
            Some(next) if LITERALS.contains(&word) && !is_name(*next) => {
                self.note_whole();
                self.pass(length);
                Some(())
            }
            _ if self.places.is_empty() => self.expression(),
            // Inside of a list or a dictionary, the mender decides.
            _ => {
                self.atom = match self.atom {
                    Atom::Nothing | Atom::Bare => Atom::Bare,
                    Atom::Number | Atom::Calculation => Atom::Calculation,
                    _ => Atom::Several,
                };
                let length = rest.iter().take_while(|byte| is_name(**byte)).count();
                self.pass(length.max(1));
                Some(())
            }
        }
    }

    /// What is neither a string nor a literal nor a number becomes a string.
    fn expression(&mut self) -> Option<()> {
        self.repairs += 1;
        self.note_whole();
        let rest = self.rest(self.at);
        let mut depth = 0_usize;
        let end = rest.iter().position(|byte| match byte {
            b')' | b']' | b'}' | b',' if depth == 0 => true,
            b'(' | b'[' | b'{' => {
                // What a function returns, and what a list holds, is not known.
                self.refused |= *byte != b'{';
                depth += 1;
                false
            }
            b')' | b']' | b'}' => {
                depth -= 1;
                false
            }
            _ => false,
        });
        let written = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.json.push(b'"');
        arguments::escape(written, &mut self.json);
        self.at += written.len();
        // Without a name before it, it is a variable, or what is left of a name and its value.
        self.refused |= end.is_none() || !self.named || self.is_unknown(written.trim_ascii());
        end?;
        self.json.push(b'"');
        Some(())
    }

    /// Whether an expression cannot be the text of a value: the schema wants no string there, it is a
    /// placeholder in brackets, or a variable with the name of a parameter.
    fn is_unknown(&self, written: &[u8]) -> bool {
        let placeholder = match written {
            [b'<', .., b'>'] | [b'$', b'{', .., b'}'] => true,
            // The quote before it is missing, or somewhere else.
            [.., b'"' | b'\''] => true,
            _ => CODE.iter().any(|code| written.starts_with(code)),
        };
        let Some(tool) = self.tool else { return placeholder };
        let name = unescaped(written);
        placeholder
            || typing(tool.parameter(&self.key).as_ref()) == Typing::Json
            || name == self.key
            || tool.has(&name)
    }

    /// A literal or an expression was read as a whole.
    fn note_whole(&mut self) {
        self.atom = if self.atom == Atom::Nothing { Atom::Whole } else { Atom::Several };
    }

    /// A bracket opens.
    fn open(&mut self, bracket: u8) {
        // An index, a call, or part of a calculation.
        let after = std::mem::replace(&mut self.atom, Atom::Nothing) != Atom::Nothing;
        self.refused |= after;
        let guide = self.guide();
        let allows = |kind| guide.as_ref().is_none_or(|guide| guide.allows(kind));
        let others = [JsonType::Boolean, JsonType::Number, JsonType::Object, JsonType::String];
        let form = match bracket {
            b'{' => Brackets::Dict,
            b'[' => Brackets::List,
            _ if !allows(JsonType::Array) => Brackets::Group,
            _ if others.into_iter().any(allows) => Brackets::Tuple,
            _ => Brackets::List,
        };
        self.at += 1;
        self.json.push(match form {
            _ if bracket == b'(' && after => b'(',
            Brackets::Dict => b'{',
            Brackets::List | Brackets::Tuple => b'[',
            Brackets::Group => b' ',
        });
        self.places.push(Container { guide, form, items: 0, keyed: false, in_value: false });
    }

    /// A comma or a colon in a container.
    fn separator(&mut self, byte: u8) {
        self.end_value();
        if let Some(place) = self.places.last_mut() {
            place.items += usize::from(byte == b',');
            place.keyed |= byte == b':';
            // The second of two colons is after a key that was read as a piece of the value before it.
            let joined = byte == b':' && place.in_value && place.form == Brackets::Dict;
            place.in_value = byte == b':';
            self.refused |= joined || place.form == Brackets::Group;
        }
    }

    /// The innermost container closes.
    fn close(&mut self) {
        let empty = self.atom == Atom::Nothing;
        self.end_value();
        self.atom = Atom::Whole;
        self.at += 1;
        let Some(place) = self.places.pop() else { return };
        let (wrong, close) = match place.form {
            // Without a comma, parentheses are no tuple.
            Brackets::Tuple => (place.items == 0 && !empty, b']'),
            Brackets::Group => (empty, b' '),
            // A set, or a placeholder in braces.
            Brackets::Dict => (!place.keyed && !empty, b'}'),
            Brackets::List => (false, b']'),
        };
        self.refused |= wrong;
        self.json.push(close);
    }

    /// Ends a value. It must be one value, or text where the schema allows a string: the result of a
    /// calculation is not known.
    fn end_value(&mut self) {
        let atom = std::mem::replace(&mut self.atom, Atom::Nothing);
        let known = match atom {
            Atom::Nothing | Atom::Text | Atom::Whole | Atom::Number => true,
            Atom::Bare => self.typing() != Typing::Json,
            Atom::Calculation => match self.typing() {
                Typing::Text | Typing::Either => true,
                Typing::Unknown => self.places.is_empty(),
                Typing::Json => false,
            },
            Atom::Plus | Atom::Several => false,
        };
        self.refused |= !known;
    }

    /// What the schema says about the value that is being read.
    fn typing(&self) -> Typing {
        let guide = self.guide();
        let misplaced = match self.places.last() {
            Some(Container { guide: Some(guide), form: Brackets::List, .. }) => {
                !guide.allows(JsonType::Array)
            }
            _ => false,
        };
        if guide.is_none() && misplaced { Typing::Json } else { typing(guide.as_ref()) }
    }

    fn guide(&self) -> Option<Arc<dyn Guide>> {
        match self.places.last() {
            None => self.tool?.parameter(&self.key),
            Some(place) => match place.form {
                Brackets::List | Brackets::Tuple => place.guide.as_ref()?.item(place.items),
                Brackets::Group => place.guide.clone(),
                Brackets::Dict => None,
            },
        }
    }

    /// Reads a string after so many bytes of its prefix.
    fn string(&mut self, prefix: usize) -> Option<()> {
        let letters = self.rest(self.at).get(..prefix).unwrap_or_default().to_ascii_lowercase();
        let (raw, format) = (letters.contains(&b'r'), letters.contains(&b'f'));
        self.at += prefix;
        let rest = self.rest(self.at);
        let quote = rest.first().copied().unwrap_or(b'"');
        let triple = rest.starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { 1 };
        let place = self.places.last().map(|place| place.form);
        let key = place == Some(Brackets::Dict)
            && self.atom == Atom::Text
            && !triple
            && self.ends_before_colon(quote);
        // In a list, a comma may be missing between two strings.
        let continues = self.atom == Atom::Text
            && matches!(place, None | Some(Brackets::Dict | Brackets::Group));
        self.atom = match self.atom {
            Atom::Nothing | Atom::Text | Atom::Plus => Atom::Text,
            _ => Atom::Several,
        };
        if key {
            // The comma before it is missing. The mender does not look as far ahead for the colon.
            self.repair(RepairKind::MissingComma);
            if let Some(place) = self.places.last_mut() {
                place.in_value = false;
            }
        }
        self.json.extend_from_slice(match (key, continues) {
            (true, _) => b", \"",
            (_, true) => b"+ \"",
            _ => b"\"",
        });
        let mut inner = Inner { start: self.at, ..Inner::default() };
        loop {
            let rest = self.rest(self.at);
            let special = |byte: &u8| *byte == quote || *byte == b'\\';
            let clear = rest.iter().position(special).unwrap_or(rest.len());
            let (bytes, rest) = rest.split_at(clear);
            arguments::escape(bytes, &mut self.json);
            self.at += clear;
            // What a format is filled with is not known.
            self.refused |= format && bytes.contains(&b'{');
            inner.read(bytes);
            match rest {
                [] => return None,
                [b'\\', ..] => {
                    let (length, json) = escape(rest, raw, self.markdown);
                    self.repairs += usize::from(json == b"_");
                    self.json.extend_from_slice(&json);
                    self.at += length;
                }
                _ if triple && rest.starts_with(&[quote; 3]) => {
                    self.at += 3;
                    break;
                }
                _ if !triple && self.closes_string(&inner) => {
                    self.at += 1;
                    break;
                }
                _ => {
                    if !triple {
                        self.repairs += 1;
                        // The string may have ended here, or before another argument that begins here.
                        self.refused |= !self.is_text(&inner);
                        let letter =
                            |at: usize| self.byte(at).is_some_and(|b| b.is_ascii_alphanumeric());
                        let apostrophe = quote == b'\''
                            && self.at > inner.start
                            && letter(self.at - 1)
                            && letter(self.at + 1);
                        inner.unpaired ^= !apostrophe;
                    }
                    inner.quote(self.text.get(inner.start..self.at).unwrap_or_default());
                    arguments::escape(&[quote], &mut self.json);
                    self.at += 1;
                }
            }
        }
        // It may have ended before, as it may where the call of another tool is in it after a quote.
        let text = self.text.get(inner.start..self.at).unwrap_or_default();
        self.refused |= inner.unpaired || inner.quoted && !triple && self.calls_tool(text);
        self.json.push(b'"');
        Some(())
    }

    /// Whether the string that begins here is followed by a colon.
    fn ends_before_colon(&self, quote: u8) -> bool {
        let mut at = self.at;
        while at - self.at < LONGEST_NAME {
            match self.byte(at) {
                Some(b'\\') => at += 2,
                Some(byte) if byte == quote => {
                    return self.byte(self.past(at + 1)) == Some(b':');
                }
                Some(b'\n') | None => break,
                Some(_) => at += 1,
            }
        }
        false
    }

    /// Whether the quote here ends its string, by what follows it.
    fn closes_string(&self, inner: &Inner) -> bool {
        if inner.calls {
            // The call of a program that the string holds.
            return false;
        }
        let quote = self.byte(self.at);
        let paren = self.at > inner.start && self.byte(self.at - 1) == Some(b'(');
        if (inner.quoted || paren) && self.byte(self.at + 1) == quote {
            return false;
        }
        let at = self.past(self.at + 1);
        let next = self.byte(self.past(at + 1));
        let outermost = self.places.is_empty();
        match self.byte(at) {
            // A comment.
            Some(b'#') => at > self.at + 1,
            // A string is repeated.
            Some(b'*') => next.is_some_and(|byte| byte.is_ascii_digit()),
            // In a list, the bracket of a call is followed by neither a bracket nor a quote.
            Some(b')') if self.form.list && outermost => match next {
                Some(b')') => false,
                Some(b'"' | b'\'') => self.form.braced,
                None | Some(b',' | b']') => true,
                // The comma between two calls may be missing, but then this string is in no doubt.
                Some(_) => !inner.quoted,
            },
            // The parenthesis of the call may be missing, but then nothing goes on after the bracket.
            Some(b']') if outermost => match next {
                None | Some(b'<') => true,
                Some(b')' | b',' | b'"' | b'\'' | b'+' | b'.') => false,
                // An item of a container in a program, as in `d['a'] = 1`.
                Some(_) => !inner.quoted,
            },
            // After a quote in the string, the call ends with its line.
            Some(b')') if !self.form.list && outermost && inner.quoted => {
                let rest = self.rest(at + 1);
                let after = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
                matches!(after, None | Some(b'\n' | b'\r' | b'<' | b'`' | b')'))
            }
            None | Some(b')' | b']' | b'}' | b':' | b'"' | b'\'' | b'+' | b'%' | b'.') => true,
            // After a comma, there is another argument.
            Some(b',') if outermost => match next {
                Some(byte) if is_name(byte) && !byte.is_ascii_digit() && byte != b'-' => {
                    let start = self.past(at + 1);
                    let word = self.word(start);
                    if inner.quoted && self.tool.is_some() && !self.has(word) {
                        return false;
                    }
                    let after = self.byte(self.past(start + word.len()));
                    matches!(word, b"True" | b"False" | b"None")
                        || after == Some(b':') && self.spread == Spread::Open
                        || matches!(after, Some(b'=' | b'"' | b'\''))
                }
                _ => true,
            },
            Some(b',') => true,
            Some(_) => false,
        }
    }

    /// Whether the quote here, which does not end its string, is a part of it: there is neither an argument
    /// before or after it, nor an operator.
    fn is_text(&self, inner: &Inner) -> bool {
        if inner.calls {
            return true;
        }
        let before = self.text.get(inner.start..self.at).unwrap_or_default();
        if let Some(before) = before.strip_suffix(b"=")
            && self.has(name_at_end(before))
        {
            return false;
        }
        // In a list, the next item may begin here.
        if !self.places.is_empty() && before.trim_ascii_end().ends_with(b",") {
            return false;
        }
        let at = self.past(self.at + 1);
        if matches!(self.byte(at), Some(b'=' | b'!')) {
            return inner.quoted || self.byte(at + 1) != Some(b'=');
        }
        let word = self.word(at);
        let argument = self.byte(self.past(at + word.len())) == Some(b'=') && self.has(word);
        // After the first quote. Between later ones, there are words in quotes.
        !(argument || OPERATORS.contains(&word) && !inner.quoted)
    }

    /// Whether the name of a known tool and a parenthesis are in a text.
    fn calls_tool(&self, text: &[u8]) -> bool {
        let opens = text.iter().enumerate().filter(|(_, byte)| **byte == b'(');
        opens
            .map(|(at, _)| name_at_end(text.get(..at).unwrap_or_default()))
            .any(|name| std::str::from_utf8(name).is_ok_and(|name| self.form.tools.contains(name)))
    }
}

impl Inner {
    /// Reads text of the string, in which there is neither a quote nor an escape.
    fn read(&mut self, text: &[u8]) {
        let mut last = b' ';
        for &byte in text {
            match byte {
                b'(' if self.calls || is_word(last) => self.open += 1,
                b')' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            self.calls &= self.open > 0;
            last = byte;
        }
    }

    /// A quote that does not end the string comes after this text of it.
    fn quote(&mut self, text: &[u8]) {
        if let [before @ .., b'('] = text {
            let counted = self.calls || before.last().is_some_and(|byte| is_word(*byte));
            self.open += usize::from(!counted);
            self.calls = true;
        }
        self.quoted = true;
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The name that a text ends with.
fn name_at_end(text: &[u8]) -> &[u8] {
    let length = text.iter().rev().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
    text.split_at(text.len() - length).1
}

/// A name without the backslashes with which Markdown escapes its underscores.
fn unescaped(name: &[u8]) -> String {
    let plain: Vec<u8> = name.iter().copied().filter(|byte| *byte != b'\\').collect();
    String::from_utf8_lossy(&plain).into_owned()
}

/// What a text that begins like a number is.
fn number(text: &[u8]) -> Atom {
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let head = text.strip_suffix(b"-").or_else(|| text.strip_suffix(b"+")).unwrap_or(text);
    match head {
        _ if is_number(text) => Atom::Number,
        // It is not complete.
        [] | b"." => Atom::Several,
        [head @ .., b'e' | b'E' | b'_'] if is_number(head) => Atom::Several,
        [b'0', b'x' | b'X'] => Atom::Several,
        _ => Atom::Calculation,
    }
}

/// Whether a text is a number without a sign, which JSON can express.
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let groups = |text: &[u8], digit: fn(&u8) -> bool| {
        text.split(|byte| *byte == b'_').all(|part| !part.is_empty() && part.iter().all(digit))
    };
    if let [b'0', b'x' | b'X', hex @ ..] = text {
        return groups(hex, u8::is_ascii_hexdigit);
    }
    let end = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
    let (mantissa, power) = text.split_at(end);
    let power = match power {
        [] => &b"0"[..],
        [_, b'+' | b'-', power @ ..] | [_, power @ ..] => power,
    };
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = mantissa.split_at(point);
    let whole = match whole {
        [] => fraction.len() > 1,
        [b'0', rest @ ..] => rest.is_empty(),
        _ => groups(whole, u8::is_ascii_digit),
    };
    whole && digits(fraction.get(1..).unwrap_or_default()) && !power.is_empty() && digits(power)
}

/// The JSON for an escape of Python, and its length. If the text is Markdown, an escaped underscore is one.
fn escape(rest: &[u8], raw: bool, markdown: bool) -> (usize, Vec<u8>) {
    let Some(&byte) = rest.get(1) else { return (1, b"\\\\".to_vec()) };
    let mut json = Vec::new();
    if markdown && byte == b'_' {
        return (2, b"_".to_vec());
    }
    if raw {
        arguments::escape(rest.get(..2).unwrap_or_default(), &mut json);
        return (2, json);
    }
    let digits = match byte {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    let hex = rest.get(2..2 + digits).and_then(|hex| std::str::from_utf8(hex).ok());
    let hex = hex.filter(|hex| digits > 0 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if let Some(hex) = hex {
        let code = u32::from_str_radix(hex, 16).unwrap_or(0xFFFD);
        match char::from_u32(code) {
            Some(c) => arguments::escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut json),
            // Half of a pair, which may be completed by the next escape.
            None => json.extend_from_slice(format!("\\u{:04x}", code & 0xFFFF).as_bytes()),
        }
        return (2 + digits, json);
    }
    let (length, plain): (usize, &[u8]) = match byte {
        b'n' => (2, b"\n"),
        b't' => (2, b"\t"),
        b'r' => (2, b"\r"),
        b'b' => (2, b"\x08"),
        b'f' => (2, b"\x0c"),
        b'a' => (2, b"\x07"),
        b'v' => (2, b"\x0b"),
        b'0' => (2, b"\0"),
        b'\n' => (2, b""),
        b'\\' | b'\'' | b'"' => (2, rest.get(1..2).unwrap_or_default()),
        // Python keeps a backslash that begins no escape.
        _ => (1, b"\\"),
    };
    arguments::escape(plain, &mut json);
    (length, json)
}
