//! Numbers, and what models write in place of them.

mod shape;

use alloc::string::String;

use shape::without_zeros;
pub(crate) use shape::{Shape, shape_of};

use super::{
    Engine, Flow, Lex, Source, Step,
    source::{Edge, Look, is_literal, is_word},
    try_peek,
};
use crate::RepairKind;

/// The part of a long number that the engine is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Integer,
    Fraction,
    Exponent,
}

/// Whether the byte may be part of a token that begins like a number.
const fn is_number_like(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'+' | b'-' | b'.' | b'_' | b'%' | b'/' | b':' | b'$')
        || byte >= 0x80
}

impl Engine {
    pub(super) fn number(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at);
        let edge = loop {
            match look.peek() {
                // `1//note` and `1/*note*/`: the comment is not part of the number.
                Ok(b'/') if matches!(look.peek_at(1), Ok(b'/' | b'*')) => break None,
                Ok(0xc2 | 0xd8 | 0xe1..=0xe3 | 0xef) => match look.wide_sign() {
                    Ok(None) => match look.odd_space_ends() {
                        Ok(true) => break None,
                        // All of it is passed at once, so that none of it is looked at again.
                        Ok(false) => look.pass_odd_space(),
                        Err(edge) => break Some(edge),
                    },
                    Ok(Some((sign, length))) => {
                        let sign_at = at + look.passed();
                        if sign == b':' || try_peek!(self.separates(source, sign_at, length), true)
                        {
                            break None;
                        }
                        look.advance(length);
                    }
                    Err(edge) => break Some(edge),
                },
                Ok(byte) if is_number_like(byte) => look.bump(),
                Ok(_) => break None,
                Err(edge) => break Some(edge),
            }
        };
        if edge == Some(Edge::More) {
            return Ok(Flow::Wait);
        }
        let token = look.seen();
        if edge == Some(Edge::Window) {
            return self.long_number(source, token);
        }
        let mut shape = shape_of(token);
        let stops = matches!(shape, Shape::Cut(_) | Shape::Mend(RepairKind::TrailingDot, _));
        // White space before the end of the input does not show that the number is complete.
        let mut after = look;
        let ended = edge == Some(Edge::End)
            || stops
                && match after.space() {
                    Err(Edge::More) => return Ok(Flow::Wait),
                    end => end == Err(Edge::End),
                };
        // `+49 30 901820` is a number to call.
        if token.starts_with(b"+")
            && !ended
            && self.frames.len() > 0
            && try_peek!(digits_follow(look), false)
        {
            return self.open_bare(source, false);
        }
        // A number that stops at the end of the input may be incomplete.
        shape = match shape {
            Shape::Mend(RepairKind::TrailingDot, kept) if ended => Shape::Cut(kept),
            shape => shape,
        };
        if self.options.guide().is_some() && self.frames.len() > 0 && shape != Shape::Text {
            let valid = shape == Shape::Valid;
            let doubtful = try_peek!(self.may_be_text(look, valid), !valid);
            if doubtful && self.wants_text() {
                if ended && matches!(shape, Shape::Cut(_)) {
                    // Whatever it would have been, the input ends in it.
                    self.cut_off()?;
                }
                return self.open_bare(source, false);
            }
            if matches!(shape, Shape::Mend(RepairKind::LeadingZero, _)) && self.wants_number() {
                shape = Shape::Mend(RepairKind::LeadingZero, without_zeros(token));
            }
        }
        if self.frames.len() == 0 && shape == Shape::Text {
            return self.not_a_document(source, 1);
        }
        if shape != Shape::Text {
            if !ended && try_peek!(self.goes_on_as_text(look), false) {
                return self.open_bare(source, false);
            }
            if self.frames.len() == 0 && !try_peek!(self.stands_alone(look), true) {
                return self.not_a_document(source, 1);
            }
        }
        if matches!(shape, Shape::Text)
            || matches!(&shape, Shape::Cut(kept) if kept.is_empty() && !ended)
        {
            return self.open_bare(source, false);
        }
        if ended && matches!(shape, Shape::Cut(_)) {
            self.cut_off()?;
        }
        let grouped = match shape {
            Shape::Valid => try_peek!(self.grouped_digits(look), None),
            _ => None,
        };
        if grouped.is_some() && self.options.guide().is_some() && self.wants_text() {
            // The commas of a text belong to it.
            return self.open_bare(source, false);
        }
        if grouped.is_none()
            && shape == Shape::Valid
            && try_peek!(self.has_decimal_comma(look), false)
        {
            return self.open_bare(source, false);
        }
        if !matches!(&shape, Shape::Cut(kept) if kept.is_empty()) {
            self.begin_value();
        }
        match shape {
            Shape::Valid => {
                if let Some(digits) = grouped {
                    let plain: String = source
                        .slice(at, digits)
                        .iter()
                        .filter(|b| **b != b',')
                        .map(|b| *b as char)
                        .collect();
                    self.edit(RepairKind::DigitSeparator, at..digits, plain)?;
                    self.pos = digits;
                } else {
                    self.pos += token.len();
                }
            }
            Shape::Mend(kind, after) => {
                self.edit(kind, at..at + token.len(), after)?;
                self.pos += token.len();
            }
            Shape::Cut(kept) if kept.is_empty() => {
                // A lone sign at the end of the input has no value.
                self.edit(RepairKind::CutNumber, at..at + token.len(), "")?;
                self.pos += token.len();
                return Ok(Flow::Go);
            }
            Shape::Cut(kept) => {
                self.edit(RepairKind::CutNumber, at..at + token.len(), kept)?;
                self.pos += token.len();
            }
            Shape::Text => {}
        }
        self.value_ended(source)?;
        self.commit();
        Ok(Flow::Go)
    }

    /// A number that fills the window. It is read in parts, and emitted as a whole.
    fn long_number(&mut self, source: &Source<'_>, token: &[u8]) -> Step {
        let digits = token
            .iter()
            .skip(usize::from(token[0] == b'-'))
            .take_while(|b| b.is_ascii_digit())
            .count();
        let sign = usize::from(token[0] == b'-');
        if digits == 0 || (digits > 1 && token[sign] == b'0') {
            if self.frames.len() == 0 {
                return self.not_a_document(source, 1);
            }
            return self.open_bare(source, false);
        }
        self.begin_value();
        self.pos += sign + digits;
        self.lex = Lex::Digits(Part::Integer);
        Ok(Flow::Go)
    }

    /// Inside a long number.
    pub(super) fn digits(&mut self, source: &Source<'_>, part: Part) -> Step {
        let rest = source.from(self.pos);
        let run = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.pos += run;
        // Check the limit before what follows can be refused, as if the digits came one by one.
        self.check_withheld()?;
        let rest = &rest[run..];
        let (need, next) = match rest {
            [] if source.is_last() => (0, part),
            [] => return Ok(Flow::Wait),
            [b'.', ..] if part == Part::Integer => (1, Part::Fraction),
            [b'e' | b'E', sign, ..] if part != Part::Exponent => {
                (1 + usize::from(matches!(sign, b'+' | b'-')), Part::Exponent)
            }
            [b'e' | b'E'] if part != Part::Exponent => (1, Part::Exponent),
            _ => (0, part),
        };
        if need > 0 {
            match rest.get(need) {
                Some(b'0'..=b'9') => {
                    self.pos += need;
                    self.lex = Lex::Digits(next);
                    return Ok(Flow::Go);
                }
                None if !source.is_last() => return Ok(Flow::Wait),
                after => {
                    if after.is_none() {
                        self.cut_off()?;
                    }
                    self.edit(
                        RepairKind::CutNumber,
                        self.pos..self.pos + need.min(rest.len()),
                        "",
                    )?;
                    self.pos += need.min(rest.len());
                }
            }
        }
        self.lex = Lex::None;
        self.value_ended(source)?;
        self.commit();
        Ok(Flow::Go)
    }

    /// Whether words follow a scalar on its line, as in `5 apples`. Then all of it is text.
    pub(super) fn goes_on_as_text(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        if self.frames.len() == 0 {
            return Ok(false);
        }
        let from = look.passed();
        let next = look.blanks()?;
        let text = next.is_ascii_alphanumeric() || next >= 0x80 || next == b'%';
        if look.passed() == from || !text {
            return Ok(false);
        }
        if look.at_quote()? || look.odd_space_ends()? {
            return Ok(false);
        }
        let word_at = look;
        let mut word = look.word()?;
        if word.is_empty() && next == b'%' {
            look.bump();
            word = b"%";
        }
        if is_literal(word) {
            return Ok(false);
        }
        if !self.takes_text() && self.declares_member(word_at)? {
            return Ok(false);
        }
        if look.peek()? == b'"' {
            // `5 kg",` has lost its opening quote.
            let mut quote = look;
            quote.bump();
            if matches!(quote.space()?, b',' | b'}' | b']') {
                return Ok(true);
            }
        }
        let mut after = look.blanks()?;
        if self.frames.top() == Some(super::frames::Shape::Object) {
            // In `1 b: 2` a comma is missing.
            let named = word == b"%" || is_word(word.first().copied().unwrap_or(b' '));
            return Ok(after != b':' && after != b'"' && named);
        }
        // `[5 kg, 10 kg]` has texts, but in `[1 a 2 b]` and `[1 2 3]`, without commas, each word is
        // an item.
        if next.is_ascii_digit() || word.is_empty() {
            return Ok(false);
        }
        let mut times = is_times(word);
        // Where there are commas between the items, `5 January 2024` is one.
        let listed = self.member.comma.is_some_and(|comma| comma.length > 0);
        let mut numbers = false;
        let mut spaced = false;
        loop {
            if matches!(after, b'\n' | b'\r') {
                after = look.space()?;
                spaced = true;
            }
            if look.at_wide(b',')? || matches!(after, b',' | b']') {
                return Ok(!numbers || listed || after != b']');
            }
            if spaced {
                return Ok(false);
            }
            if after == b'/' && !matches!(look.peek_at(1)?, b'/' | b'*') {
                // `100 km/h`
                look.bump();
                look.word()?;
                after = look.blanks()?;
                continue;
            }
            if after.is_ascii_digit() {
                // `5 x 6 cm` has a number in it that is no item.
                while matches!(look.peek()?, b'0'..=b'9' | b'.') {
                    look.bump();
                }
                numbers |= !times;
                after = look.blanks()?;
                times = false;
                continue;
            }
            let text = (after.is_ascii_alphabetic() || after >= 0x80) && !look.at_quote()?;
            let word = if text { look.word()? } else { &[] };
            if word.is_empty() || is_literal(word) {
                return Ok(false);
            }
            times = is_times(word);
            after = look.blanks()?;
        }
    }

    /// Whether what begins like a number may be text: it is not valid and nothing follows it, or it
    /// is followed on its line by something that does not belong to another value, as in `12 (or
    /// so)`.
    fn may_be_text(&mut self, mut look: Look<'_>, valid: bool) -> Result<bool, Edge> {
        let next = look.blanks();
        match next? {
            b'(' | b'+' | b'-' | b'.' | b'*' | b'&' | b'@' | b'=' | b'%' | b'~' | b'$' => {}
            b',' | b'}' | b']' | b'\n' | b'\r' => return Ok(!valid),
            _ => return Ok(false),
        }
        // A quote or a colon before the member ends belongs to another member.
        loop {
            match look.peek() {
                Ok(b',' | b'}' | b'\n') | Err(Edge::End) => return Ok(true),
                Ok(b':') => return Ok(false),
                Ok(_) if look.at_quote()? => return Ok(false),
                Ok(_) => look.bump(),
                Err(edge) => return Err(edge),
            }
        }
    }

    /// Whether a scalar at the root is the whole document.
    pub(super) fn stands_alone(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        let token = look.seen();
        let next = match look.gap() {
            Err(Edge::End | Edge::Window) => return Ok(true),
            other => other?,
        };
        if numbers_item(token, next, look)? {
            return Ok(false);
        }
        let lines = look.seen().contains(&b'\n');
        let several = self.documents.several && lines && (next.is_ascii_digit() || next == b'-');
        let documents = self.options.trailing_documents() == crate::TrailingDocuments::All
            && (matches!(next, b'{' | b'[') || look.at_quote()? || lines);
        Ok(several || documents || matches!(next, b',' | b';' | b')' | b'}' | b']' | b'`'))
    }

    /// Whether a member's value is like `12,50`: the comma is followed by digits that are not a
    /// key.
    fn has_decimal_comma(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        if self.frames.top() != Some(super::frames::Shape::Object) || look.peek()? != b',' {
            return Ok(false);
        }
        look.bump();
        if !look.peek()?.is_ascii_digit() {
            return Ok(false);
        }
        while look.peek()?.is_ascii_digit() {
            look.bump();
        }
        Ok(matches!(look.space()?, b',' | b'}'))
    }

    /// Where the digits of a member's value like `1,234,567` or `1,234.50` end.
    fn grouped_digits(&mut self, mut look: Look<'_>) -> Result<Option<usize>, Edge> {
        let token = look.seen();
        let first = token.iter().skip(usize::from(token[0] == b'-')).count();
        if self.frames.top() != Some(super::frames::Shape::Object)
            || first > 3
            || token.trim_ascii_start().first() == Some(&b'0')
            || !token.iter().skip(usize::from(token[0] == b'-')).all(u8::is_ascii_digit)
        {
            return Ok(None);
        }
        let mut end = None;
        while look.peek()? == b',' {
            for ahead in 1..=3 {
                if !look.peek_at(ahead)?.is_ascii_digit() {
                    return Ok(end);
                }
            }
            look.advance(4);
            let fraction = look.peek()? == b'.' && look.peek_at(1)?.is_ascii_digit();
            if fraction {
                look.bump();
                while look.peek()?.is_ascii_digit() {
                    look.bump();
                }
            }
            if !matches!(look.peek()?, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(end);
            }
            let mut after = look;
            if after.space()? == b':' {
                return Ok(end);
            }
            end = Some(self.pos + look.passed());
        }
        Ok(end)
    }
}

/// Whether a word is the sign between the sides of something, as in `5 x 6 cm`.
fn is_times(word: &[u8]) -> bool {
    matches!(word, b"x" | b"X") || word == "×".as_bytes()
}

/// Whether blanks and a digit, or a parenthesis with one in it, follow on the same line.
fn digits_follow(mut look: Look<'_>) -> Result<bool, Edge> {
    let from = look.passed();
    let mut next = look.blanks()?;
    if look.passed() > from && next == b'(' {
        look.bump();
        next = look.peek()?;
    }
    Ok(look.passed() > from && next.is_ascii_digit())
}

/// Whether a scalar at the root is the number of an item in a list, `1.` or `1)`, and a bracket follows.
fn numbers_item(token: &[u8], next: u8, mut look: Look<'_>) -> Result<bool, Edge> {
    let point = token.strip_suffix(b".");
    let next = match point {
        None if next == b')' => {
            look.bump();
            match look.gap() {
                Err(Edge::End | Edge::Window) => 0,
                other => other?,
            }
        }
        None => 0,
        Some(_) => next,
    };
    let digits = point.unwrap_or(token).iter().all(u8::is_ascii_digit);
    Ok(digits && matches!(next, b'{' | b'['))
}
