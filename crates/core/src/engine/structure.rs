//! Between tokens: carries out what the table says.

use super::{
    Action, Comma, Engine, Expect, Flow, Source, Step, Stop, Token, decide,
    frames::Shape,
    quote::Quote,
    source::{Edge, Look},
    try_peek,
};
use crate::RepairKind;

impl Engine {
    pub(super) fn structure(&mut self, source: &Source<'_>) -> Step {
        if let Some(flow) = self.gap(source)? {
            return Ok(flow);
        }
        if self.expect == Expect::Document
            && let Some(flow) = self.at_document(source)?
        {
            return Ok(flow);
        }
        if let Some(flow) = self.string_prefix(source)? {
            return Ok(flow);
        }
        let Ok(token) = self.token(source) else { return Ok(Flow::Wait) };
        let at = self.pos;
        match decide(self.expect, token) {
            Action::Accept => self.accept(source, token),
            Action::Close => self.close(source, token),
            Action::Defer => self.defer(source, token),
            Action::Finish => self.finish_document(source),
            Action::InsertComma if self.expect == Expect::ItemEnd && token == Token::GroupOpen => {
                self.defer_item_end(source)
            }
            Action::InsertComma => {
                self.insert_comma()?;
                Ok(Flow::Go)
            }
            Action::InsertColon => {
                let after = if source.byte(at.wrapping_sub(1)) == Some(b' ') { ": " } else { ":" };
                let key_end = self.missing_colon_place(at);
                if self.holds_colon(source, key_end) {
                    // `{"a:" 1}`: the quote was written after the colon.
                    self.edit(RepairKind::MissingColon, key_end - 2..key_end, "\":")?;
                    self.frames.shorten_key();
                } else {
                    self.edit(RepairKind::MissingColon, key_end..key_end, after.trim_end())?;
                }
                self.member.without_colon = Some(at);
                self.expect = Expect::MemberValue;
                Ok(Flow::Go)
            }
            Action::InsertKey => {
                let colon = matches!(token, Token::Colon | Token::Equals);
                self.begin_key();
                let after = if colon { "\"\"" } else { "\"\": " };
                self.edit(RepairKind::MissingKey, at..at, after)?;
                self.frames.set_key(b"");
                self.expect = if token == Token::Colon || token == Token::Equals {
                    Expect::Colon
                } else {
                    Expect::MemberValue
                };
                Ok(Flow::Go)
            }
            Action::InsertValue
                if matches!(token, Token::Comma | Token::Semicolon)
                    && self.expect == Expect::Colon =>
            {
                match self.comma_for_colon(source) {
                    Err(Edge::More) => Ok(Flow::Wait),
                    Ok(true) => {
                        self.edit(RepairKind::MissingColon, at..at + 1, ":")?;
                        self.pos += 1;
                        self.expect = Expect::MemberValue;
                        Ok(Flow::Go)
                    }
                    _ => self.insert_value(token),
                }
            }
            Action::InsertValue => self.insert_value(token),
            Action::Leave => {
                self.frames.pop();
                self.value_ended(source)?;
                Ok(Flow::Go)
            }
            Action::ReadAsComma => {
                let end =
                    if token == Token::Equals { self.equals_end(source)? } else { Some(at + 1) };
                let Some(end) = end else { return Ok(Flow::Wait) };
                let edits = self.script.serial;
                // Items have no keys: it is more likely that the bracket before them is wrong.
                let kind = match token {
                    Token::Colon => RepairKind::MismatchedOpen,
                    _ => RepairKind::MissingComma,
                };
                self.edit(kind, at..end, ",")?;
                self.pos = end;
                self.pend_comma(Comma { at, length: end - at }, edits);
                Ok(Flow::Go)
            }
            Action::ReadAsColon => {
                let Some(end) = self.equals_end(source)? else { return Ok(Flow::Wait) };
                self.edit(RepairKind::MissingColon, at..end, ":")?;
                self.pos = end;
                self.expect = Expect::MemberValue;
                Ok(Flow::Go)
            }
            Action::Skip => self.skip(source, token),
            Action::Tail => self.open_tail(source, token),
        }
    }

    /// Drops the `u` of `u'text'`.
    fn string_prefix(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        use Expect as E;
        let opens =
            matches!(self.expect, E::FirstKey | E::Key | E::MemberValue | E::FirstItem | E::Item);
        let prefix = matches!(
            source.byte(self.pos),
            Some(b'u' | b'U' | b'b' | b'B' | b'f' | b'F' | b'r' | b'R')
        );
        if !opens || !prefix {
            return Ok(None);
        }
        match self.look(source, self.pos).at_prefix() {
            Ok(true) => {
                self.edit(RepairKind::StringPrefix, self.pos..self.pos + 1, "")?;
                self.pos += 1;
                Ok(Some(Flow::Go))
            }
            Err(Edge::More) => Ok(Some(Flow::Wait)),
            _ => Ok(None),
        }
    }

    /// Where to insert a missing colon: directly after the key if possible.
    fn missing_colon_place(&self, at: usize) -> usize {
        if self.gap.start > self.committed && self.gap.start <= at { self.gap.start } else { at }
    }

    /// Whether the key before its closing quote, which ends at `key_end`, ends with a colon.
    fn holds_colon(&self, source: &Source<'_>, key_end: usize) -> bool {
        let Some(start) = key_end.checked_sub(2) else { return false };
        start > self.lex_start
            && self.reaches(start)
            && source.slice(start, key_end) == b":\""
            && self.script.before(start) == self.script.edits.len()
    }

    fn accept(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Comma => {
                let at = self.pos;
                self.pos += 1;
                self.pend_comma(Comma::read(at), self.script.serial);
                Ok(Flow::Go)
            }
            Token::Colon => {
                self.pos += 1;
                self.expect = Expect::MemberValue;
                Ok(Flow::Go)
            }
            Token::ObjectOpen => self.open(Shape::Object),
            Token::ArrayOpen => self.open(Shape::Array),
            Token::GroupOpen => {
                // `(555) 010-0199` is a number to call.
                let look = self.look(source, self.pos + 1);
                if self.frames.len() > 0 && try_peek!(area_code(look), false) {
                    return self.open_bare(source, false);
                }
                self.open(Shape::Tuple)
            }
            Token::Quote => self.accept_quote(source),
            Token::Number if matches!(self.expect, Expect::FirstKey | Expect::Key) => {
                self.open_bare(source, true)
            }
            Token::Number => self.number(source),
            Token::GroupClose => {
                self.edit(RepairKind::CallWrapper, self.pos..self.pos + 1, "")?;
                self.document.wrapped = true;
                self.pos += 1;
                self.frames.pop();
                self.value_ended(source)?;
                Ok(Flow::Go)
            }
            Token::ObjectClose => {
                self.edit(RepairKind::DuplicateOpen, self.pos..self.pos + 1, "")?;
                self.pos += 1;
                self.frames.pop();
                self.value_ended(source)?;
                Ok(Flow::Go)
            }
            Token::ArrayClose
            | Token::Equals
            | Token::Semicolon
            | Token::Plus
            | Token::Ellipsis
            | Token::Fence
            | Token::Word
            | Token::End => {
                debug_assert!(false, "the table accepts {token:?}");
                Err(Stop::Refused)
            }
        }
    }

    fn accept_quote(&mut self, source: &Source<'_>) -> Step {
        let Some((quote, length)) = Quote::of(source.from(self.pos)) else {
            debug_assert!(false, "a quote was seen");
            return Err(Stop::Refused);
        };
        let is_key = matches!(self.expect, Expect::FirstKey | Expect::Key);
        if is_key {
            self.begin_key();
            return self.open_string(source, quote, length, true);
        }
        let before = (self.frames.items(), self.document.start);
        self.begin_value();
        let flow = self.open_string(source, quote, length, false)?;
        if flow == Flow::Wait {
            // Nothing was read. The value begins once the quote is understood.
            self.undo_begin_value(before);
        }
        Ok(flow)
    }

    /// Decides about a token by what follows it.
    fn defer(&mut self, source: &Source<'_>, token: Token) -> Step {
        match self.expect {
            Expect::Document => self.defer_document(source, token),
            Expect::FirstItem | Expect::Item | Expect::MemberValue => {
                self.defer_value(source, token)
            }
            Expect::ItemEnd => match token {
                Token::Plus => self.join(source),
                Token::Word => self.defer_item_end(source),
                _ => {
                    self.insert_comma()?;
                    Ok(Flow::Go)
                }
            },
            Expect::FirstKey | Expect::Key => match token {
                Token::ObjectOpen => self.double_open(),
                _ => self.word_as_key(source),
            },
            Expect::MemberEnd => self.defer_member_end(source, token),
            Expect::After => self.defer_after(source, token),
            Expect::Colon | Expect::CallEnd | Expect::DoubledEnd => {
                debug_assert!(false, "the table defers {token:?} at {:?}", self.expect);
                Err(Stop::Refused)
            }
        }
    }

    pub(super) fn defer_document(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Word => self.word(source),
            Token::GroupOpen => {
                // Code puts a value in parentheses: `({"a": 1})`. A stream must decide before it
                // can see whether others follow, as in a tuple of Python.
                let mut look = self.look(source, self.pos + 1);
                let next = if self.whole { 0 } else { try_peek!(look.gap(), 0) };
                if next == b'{' || next == b'[' && !try_peek!(self.is_listed(look), false) {
                    return self.open_call(self.pos, 1);
                }
                self.open(Shape::Tuple)
            }
            _ => self.not_a_document(source, 1),
        }
    }

    /// Whether a comma follows the array at `look`. No if that is not visible.
    fn is_listed(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        self.pass_container(&mut look)?;
        Ok(look.gap()? == b',')
    }
}

/// Whether digits, the end of the parentheses they are in, and more digits or a sign follow.
fn area_code(mut look: Look<'_>) -> Result<bool, Edge> {
    let from = look.passed();
    while look.peek()?.is_ascii_digit() {
        look.bump();
    }
    if look.passed() == from || look.peek()? != b')' {
        return Ok(false);
    }
    look.bump();
    Ok(look.blanks()?.is_ascii_digit())
}
