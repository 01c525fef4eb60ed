//! Between tokens: carries out what the table says.

use super::{
    Action, Engine, Expect, Flow, Source, Step, Stop, Token, decide, frames::Shape, quote::Quote,
    source::Edge,
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
            Action::InsertComma => {
                self.insert_comma()?;
                Ok(Flow::Go)
            }
            Action::InsertColon => {
                let after = if source.byte(at.wrapping_sub(1)) == Some(b' ') { ": " } else { ":" };
                let key_end = self.missing_colon_place(at);
                self.edit(RepairKind::MissingColon, key_end..key_end, after.trim_end())?;
                self.missing_colon_at = at;
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
            Action::InsertValue if token == Token::Comma && self.expect == Expect::Colon => {
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
            Action::ReadAsComma if token == Token::Colon && self.opens_lost_object(source)? => {
                Ok(Flow::Go)
            }
            Action::ReadAsComma => {
                let end =
                    if token == Token::Equals { self.equals_end(source)? } else { Some(at + 1) };
                let Some(end) = end else { return Ok(Flow::Wait) };
                let edits = self.serial;
                self.edit(RepairKind::MissingComma, at..end, ",")?;
                self.pos = end;
                self.pend_comma(at, edits, end - at);
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
        let prefix = matches!(source.byte(self.pos), Some(b'u' | b'U' | b'b' | b'B' | b'f' | b'F'));
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

    /// The end of `=` or `=>`, if all of it has arrived.
    fn equals_end(&mut self, source: &Source<'_>) -> Result<Option<usize>, Stop> {
        Ok(match source.byte(self.pos + 1) {
            Some(b'>' | b'=') => Some(self.pos + 2),
            None if !source.is_last() => None,
            _ => Some(self.pos + 1),
        })
    }

    /// Where to insert a missing colon: directly after the key if possible.
    fn missing_colon_place(&self, at: usize) -> usize {
        if self.gap_start > self.committed && self.gap_start <= at { self.gap_start } else { at }
    }

    fn accept(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Comma => {
                let at = self.pos;
                self.pos += 1;
                self.pend_comma(at, self.serial, 1);
                Ok(Flow::Go)
            }
            Token::Colon => {
                self.pos += 1;
                self.expect = Expect::MemberValue;
                Ok(Flow::Go)
            }
            Token::ObjectOpen => self.open(Shape::Object),
            Token::ArrayOpen => self.open(Shape::Array),
            Token::GroupOpen => self.open(Shape::Tuple),
            Token::Quote => self.accept_quote(source),
            Token::Number if matches!(self.expect, Expect::FirstKey | Expect::Key) => {
                if self.reopens_as_set(source)? {
                    return Ok(Flow::Go);
                }
                self.open_bare(source, true)
            }
            Token::Number => self.number(source),
            Token::GroupClose => {
                self.edit(RepairKind::CallWrapper, self.pos..self.pos + 1, "")?;
                self.wrapped = true;
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
            if self.reopens_as_set(source)? {
                return Ok(Flow::Go);
            }
            self.begin_key();
            return self.open_string(source, quote, length, true);
        }
        let before = (self.frames.items(), self.document_start);
        self.begin_value();
        let flow = self.open_string(source, quote, length, false)?;
        if flow == Flow::Wait {
            // Nothing was read. The value begins once the quote is understood.
            self.undo_begin_value(before);
        }
        Ok(flow)
    }

    /// Opens a container.
    pub(super) fn open(&mut self, shape: Shape) -> Step {
        if shape.is_visible() && self.frames.depth() >= self.options.limits().depth() {
            return Err(Stop::Overflow);
        }
        if self.frames.len() >= 2 * self.options.limits().depth() + 16 {
            return Err(Stop::Overflow);
        }
        let at = self.pos;
        self.begin_value();
        if shape == Shape::Tuple {
            self.edit(RepairKind::Tuple, at..at + 1, "[")?;
        }
        self.pos += 1;
        self.frames.push(shape, at);
        self.comma = usize::MAX;
        self.comma_length = 1;
        self.expect = if shape == Shape::Object { Expect::FirstKey } else { Expect::FirstItem };
        self.gap_start = self.pos;
        if shape.is_visible() {
            self.commit();
        }
        Ok(Flow::Go)
    }

    /// A key begins here.
    pub(super) fn begin_key(&mut self) {
        self.key_start = self.pos;
        if self.comma == usize::MAX {
            self.member_edits = self.serial;
        }
    }

    /// Begins a value. Whatever was uncertain before it is kept.
    pub(super) fn begin_value(&mut self) {
        if self.frames.top().is_some_and(Shape::is_list) {
            self.frames.begin_item();
        }
        if self.frames.len() == 0 {
            self.document_start = self.pos;
        }
    }

    fn undo_begin_value(&mut self, (items, start): (usize, usize)) {
        self.frames.set_items(items);
        self.document_start = start;
    }

    /// Ends a value at `pos`.
    pub(super) fn value_ended(&mut self, source: &Source<'_>) -> Result<(), Stop> {
        self.gap_start = self.pos;
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Array | Shape::Tuple) => Expect::ItemEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            None => {
                self.commit();
                if self.over {
                    return Err(Stop::Overflow);
                }
                if self.documents >= self.most_documents {
                    return Err(Stop::Overflow);
                }
                self.documents += 1;
                if !self.is_scalar() {
                    self.outside.text.end_document();
                    self.outside.text.refresh();
                    self.outside.read = self.pos;
                }
                (self.escaped, self.fenced) = (false, false);
                self.document_end = Some(self.pos);
                let start = self.document_start;
                self.edits.push(super::Edit::EndDocument { start, end: self.pos });
                self.committed_edits = self.edits.len();
                let _ = source;
                Expect::After
            }
        };
        Ok(())
    }

    /// Records a comma at `at`. It is kept only if something follows it.
    pub(super) fn pend_comma(&mut self, at: usize, edits: usize, length: usize) {
        self.comma = at;
        self.comma_length = length;
        self.member_edits = edits;
        if self.frames.top() == Some(Shape::Object) {
            self.frames.clear_key();
            self.expect = Expect::Key;
        } else {
            self.expect = Expect::Item;
        }
    }

    /// Inserts a comma, directly after the previous value if that is not committed.
    pub(super) fn insert_comma(&mut self) -> Result<(), Stop> {
        let at = if self.reaches(self.gap_start) && self.gap_start <= self.pos {
            self.gap_start
        } else {
            self.pos
        };
        let at = if at < self.committed && !self.whole { self.pos } else { at };
        let edits = self.serial;
        self.edit(RepairKind::MissingComma, at..at, ",")?;
        self.pend_comma(at, edits, 0);
        Ok(())
    }

    pub(super) fn insert_value(&mut self, token: Token) -> Step {
        let at = self.pos;
        let after = if self.expect == Expect::Colon { ": null" } else { "null" };
        self.edit(RepairKind::MissingValue, at..at, after)?;
        if token == Token::Ellipsis {
            // The ellipsis itself is dropped after the value.
            self.expect = Expect::MemberEnd;
        }
        self.expect = Expect::MemberEnd;
        self.gap_start = at;
        self.commit();
        Ok(Flow::Go)
    }

    /// Drops a token that has no meaning here.
    pub(super) fn skip(&mut self, source: &Source<'_>, token: Token) -> Step {
        let at = self.pos;
        let kind = match token {
            Token::Ellipsis => return self.skip_ellipsis(source),
            Token::Fence => {
                // After a document, the line end before a fence is dropped with it.
                let after = self.expect == Expect::After
                    && self.options.trailing_documents() != crate::TrailingDocuments::All
                    && self.gap_start >= self.committed;
                let blank = source.slice(self.gap_start, at).iter().all(|b| b" \t\r\n".contains(b));
                let from = if after && blank { self.gap_start } else { at };
                self.edit(RepairKind::CodeFence, from..at + 3, "")?;
                self.pos += 3;
                self.fenced = self.expect == Expect::After;
                if !self.is_scalar() {
                    self.outside.text.close_fence(b"");
                    self.outside.read = self.pos;
                }
                return Ok(Flow::Go);
            }
            Token::Semicolon if self.expect == Expect::After && self.wrapped => {
                RepairKind::CallWrapper
            }
            Token::Semicolon if self.expect == Expect::After => RepairKind::TrailingProse,
            Token::Comma | Token::Semicolon => RepairKind::ExtraComma,
            Token::Colon | Token::Equals => RepairKind::ExtraColon,
            Token::ObjectClose | Token::ArrayClose | Token::GroupClose => RepairKind::ExtraClose,
            Token::ObjectOpen | Token::GroupOpen => RepairKind::DuplicateOpen,
            Token::ArrayOpen
            | Token::Plus
            | Token::Quote
            | Token::Number
            | Token::Word
            | Token::End => RepairKind::StrayText,
        };
        let end = if token == Token::Equals {
            let Some(end) = self.equals_end(source)? else { return Ok(Flow::Wait) };
            end
        } else {
            at + 1
        };
        self.edit(kind, at..end, "")?;
        self.pos = end;
        Ok(Flow::Go)
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
}
