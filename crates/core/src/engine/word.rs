//! Words: literals, calls, strings and keys without quotes.

use super::{
    Engine, Flow, Source, Step,
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_word},
    try_peek,
};
use crate::{RepairKind, prose::Mark};

/// The JSON literal for a word: a literal, one of another language, or one that was cut off.
pub(crate) fn literal(word: &[u8], ended: bool) -> Option<(Option<RepairKind>, &'static str)> {
    const JSON: [&str; 3] = ["true", "false", "null"];
    if let Some(exact) = JSON.into_iter().find(|json| json.as_bytes() == word) {
        return Some((None, exact));
    }
    match word {
        b"True" => return Some((Some(RepairKind::PythonLiteral), "true")),
        b"False" => return Some((Some(RepairKind::PythonLiteral), "false")),
        b"None" => return Some((Some(RepairKind::PythonLiteral), "null")),
        b"undefined" | b"nil" | b"Nil" | b"NIL" => {
            return Some((Some(RepairKind::Undefined), "null"));
        }
        b"NaN" | b"nan" | b"Infinity" | b"-Infinity" | b"inf" | b"-inf" => {
            return Some((Some(RepairKind::NonFinite), "null"));
        }
        _ => {}
    }
    if let Some(json) = JSON.into_iter().find(|json| json.as_bytes().eq_ignore_ascii_case(word)) {
        return Some((Some(RepairKind::LiteralCase), json));
    }
    if ended && !word.is_empty() {
        for (whole, json) in [
            ("true", "true"),
            ("false", "false"),
            ("null", "null"),
            ("True", "true"),
            ("False", "false"),
            ("None", "null"),
        ] {
            if whole.as_bytes().starts_with(word) {
                return Some((Some(RepairKind::CutLiteral), json));
            }
        }
    }
    None
}

/// A cursor after the literal at `look`, if odd space ends it.
fn literal_before_space(mut look: Look<'_>) -> Result<Option<Look<'_>>, Edge> {
    let rest = look.rest();
    let length = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    if literal(&rest[..length], false).is_none() {
        return Ok(None);
    }
    look.advance(length);
    Ok(look.odd_space_ends()?.then_some(look))
}

/// `text` without the white space of JSON at its end (RFC 8259, section 2).
pub(super) fn without_json_space(text: &[u8]) -> &[u8] {
    let solid = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    &text[..solid.map_or(0, |at| at + 1)]
}

/// Whether one word is between `look` and the next separator: `true x,` is a literal, and
/// `true to the end,` a text. A capital letter begins a name.
fn one_word_follows(mut look: Look<'_>) -> Result<bool, Edge> {
    if look.blanks()?.is_ascii_uppercase() {
        return Ok(false);
    }
    look.word()?;
    Ok(matches!(look.blanks()?, b',' | b'}' | b']' | b'\n' | b'\r'))
}

/// Modules whose calls appear when Python prints values.
const MODULES: [&[u8]; 10] = [
    b"bson",
    b"collections",
    b"datetime",
    b"decimal",
    b"fractions",
    b"np",
    b"numpy",
    b"pd",
    b"torch",
    b"uuid",
];

/// Whether calls in a module of this name are printed by Python for values.
pub(crate) fn is_module(word: &[u8]) -> bool {
    MODULES.contains(&word)
}

impl Engine {
    /// Handles a word where a value is expected.
    pub(super) fn word(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        let root = self.frames.len() == 0;
        let mut look = self.look(source, at);
        let (word, ended) = match look.word() {
            Ok(word) => (word, false),
            Err(Edge::More) => return Ok(Flow::Wait),
            Err(Edge::End) => (look.rest_from_start(), true),
            Err(Edge::Window) => (&[][..], false),
        };
        let start = self.look(source, at);
        let (word, ended, spaced) = match try_peek!(literal_before_space(start), None) {
            Some(after) => {
                look = after;
                (look.seen(), false, true)
            }
            None => (word, ended, false),
        };
        let next = if ended { b' ' } else { look.peek().unwrap_or(b' ') };
        let closes = spaced
            || next == b'\\' && !ended && try_peek!(look.at_escaped_space(), false)
            || next.is_ascii_whitespace()
            || matches!(
                next,
                b',' | b'}' | b']' | b')' | b':' | b';' | b'/' | b'#' | b'"' | b'`' | b'{' | b'['
            )
            || !ended && matches!(look.wide_sign(), Ok(Some(_)))
            || matches!(next, b'.' | b'?' | b'!')
                && matches!(try_peek!(look.peek_at(1), 0), b',' | b'}' | b']' | b'\n' | b'\r');
        if !word.is_empty()
            && closes
            && let Some((kind, after)) = literal(word, ended)
        {
            if !ended
                && try_peek!(self.goes_on_as_text(look), false)
                && (kind.is_some()
                    || self.frames.top() != Some(Shape::Object)
                    || self.wants_text()
                    || !try_peek!(one_word_follows(look), false))
            {
                return self.open_bare(source, false);
            }
            if kind == Some(RepairKind::NonFinite) && self.wants_text() {
                return self.open_bare(source, false);
            }
            if root && !ended && !try_peek!(self.stands_alone(look), true) {
                return self.not_a_document(source, 1);
            }
            self.begin_value();
            if let Some(kind) = kind {
                if kind == RepairKind::CutLiteral {
                    self.cut_off()?;
                }
                self.edit(kind, at..at + word.len(), after)?;
            }
            self.pos += word.len();
            self.value_ended(source)?;
            self.commit();
            return Ok(Flow::Go);
        }
        let mut next = next;
        if root && next == b' ' && !ended && !word.is_empty() {
            next = try_peek!(look.blanks(), 0);
        }
        if word == b"new" && next == b' ' && !ended {
            // `new Date(…)`.
            let mut name = look;
            try_peek!(name.blanks(), 0);
            if try_peek!(name.word(), b"") != b"" && try_peek!(name.peek(), 0) == b'(' {
                (look, next) = (name, b'(');
            }
        }
        let mut dotted = false;
        while next == b'.' && !root && !ended && MODULES.contains(&word) {
            // `np.float64(…)`.
            let mut name = look;
            name.bump();
            if try_peek!(name.word(), b"").first().is_none_or(u8::is_ascii_digit) {
                break;
            }
            (look, next) = (name, try_peek!(name.peek(), 0));
            dotted = true;
        }
        if next == b'(' && !word.is_empty() && !word[0].is_ascii_digit() {
            if root {
                match self.what_begins(source) {
                    Some(Mark::Document) => {}
                    Some(_) => return self.not_a_document(source, 1),
                    None => return Ok(Flow::Wait),
                }
            }
            let mut inside = look;
            inside.bump();
            let first = try_peek!(inside.gap(), 0);
            if !root && !try_peek!(self.holds_one_value(inside, dotted), !dotted) {
                return self.open_bare(source, false);
            }
            let value = matches!(first, b'{' | b'[')
                || !root
                    && (first == b')'
                        || first.is_ascii_digit()
                        || first == b'-'
                        || try_peek!(inside.at_quote(), false));
            if value {
                return self.open_call(at, look.passed() + 1);
            }
        }
        if root { self.not_a_document(source, 1) } else { self.open_bare(source, false) }
    }

    /// Whether there is one value in the parentheses that `look` is in. The closing one may be
    /// missing before the closer of the container. After a call in a module, `dotted`, nothing may
    /// follow.
    fn holds_one_value(&mut self, mut look: Look<'_>, dotted: bool) -> Result<bool, Edge> {
        let from = look.passed();
        let container = matches!(look.peek()?, b'{' | b'[');
        if let Some((quote, length)) = look.quote()? {
            look.advance(length);
            look.through(quote)?;
        } else if container {
            self.pass_container(&mut look)?;
        } else {
            while !(matches!(look.peek()?, b',' | b')' | b'}' | b']' | b'\n')
                || look.at_wide(b',')?)
            {
                look.bump();
            }
        }
        let empty = look.passed() == from;
        let closer = look.space()?;
        if !dotted && container {
            // `[Point({"x": 1} , 2]` lacks its closer; `array([1, 2], dtype=int)` has two
            // arguments.
            while !matches!(look.peek()?, b')' | b'}' | b']') {
                look.bump();
            }
            return Ok(closer != b',' || look.peek()? != b')');
        }
        if !dotted {
            return Ok(matches!(closer, b')' | b'}' | b']'));
        }
        look.bump();
        Ok(closer == b')' && !empty && look.peek()? != b'.')
    }

    /// Skips an array or object.
    pub(super) fn pass_container(&mut self, look: &mut Look<'_>) -> Result<(), Edge> {
        let mut depth = 0_usize;
        loop {
            let byte = look.peek()?;
            if let Some((quote @ (Quote::Double | Quote::Single), length)) = look.quote()? {
                look.advance(length);
                look.through(quote)?;
                continue;
            }
            look.bump();
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => return Ok(()),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
    }

    /// Opens a call around a value: `name(`, or only its parenthesis.
    pub(super) fn open_call(&mut self, at: usize, length: usize) -> Step {
        self.edit(RepairKind::CallWrapper, at..at + length, "")?;
        self.pos = at + length - 1;
        let root = self.frames.len() == 0;
        let flow = self.open(Shape::Call)?;
        if root {
            // The document begins with the name.
            self.document.start = at;
        }
        Ok(flow)
    }

    /// Handles a word where a key is expected.
    pub(super) fn word_as_key(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        if let Some(length) = try_peek!(self.words_before_key(source), None) {
            self.pos = at + length;
            let key = self.key_follows(source);
            self.pos = at;
            if try_peek!(key, false) {
                let words = without_json_space(source.slice(at, at + length)).len();
                self.edit(RepairKind::StrayText, at..at + words, "")?;
                self.pos = at + length;
                return Ok(Flow::Go);
            }
        }
        self.open_bare(source, true)
    }

    /// The length of words before a key in quotes that do not belong to it, as in `oops "key": 1`,
    /// or in `-- a note` with a key on the next line.
    fn words_before_key(&mut self, source: &Source<'_>) -> Result<Option<usize>, Edge> {
        let mut look = self.look(source, self.pos);
        look.word()?;
        while !matches!(look.peek()?, b',' | b':' | b'=' | b'{' | b'}' | b'[' | b']')
            && !look.at_quote()?
        {
            look.bump();
        }
        let quoted = look.at_quote()?;
        // In a word, other quotes are letters.
        let double = look.peek()? == b'"';
        let words = look.seen();
        let apart = words.last().is_some_and(|byte| {
            byte.is_ascii_whitespace() || double && is_word(*byte) || *byte == b'>'
        });
        Ok((quoted && apart).then_some(words.len()))
    }
}
