//! Between tokens: does what the table says.

use super::{
    Action, Engine, Expect, Flow, Lex, Source, Step, Stop, Token, decide,
    frames::Shape,
    look,
    source::{Edge, is_word},
    strings::Quote,
};
use crate::RepairKind;

impl Engine {
    pub(super) fn structure(&mut self, source: &Source<'_>) -> Step {
        if let Some(flow) = self.gap(source)? {
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
                let key_end = self.lex_start_of_gap(at);
                self.edit(RepairKind::MissingColon, key_end..key_end, after.trim_end())?;
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

    /// Whole text only. `["k": "v"]`: the item is a key, and the brace before it was lost.
    fn opens_lost_object(&mut self, source: &Source<'_>) -> Result<bool, Stop> {
        let Some(closed) = self.closed_string.filter(|_| self.whole) else { return Ok(false) };
        let start = self.lex_start.wrapping_sub(1);
        let edited = self.edits.iter().any(
            |edit| matches!(edit, super::Edit::Replace(repair, _) if repair.end == self.lex_start),
        );
        if edited
            || start >= closed
            || source.byte(start) != Some(b'"')
            || self.frames.depth() >= self.options.limits().depth()
        {
            return Ok(false);
        }
        let behind_comma = self.comma.saturating_add(self.comma_length);
        let directly = self.comma_length > 0
            && behind_comma <= start
            && source.slice(behind_comma, start).iter().all(u8::is_ascii_whitespace);
        if directly && self.frames.parent() == Some(Shape::Object) && self.frames.items() > 1 {
            // `{"a": [1, 2, "b": 3}`: the list around ended before the key.
            let comma = self.comma;
            self.edit(RepairKind::MissingClose, comma..comma, "]")?;
            self.frames.pop();
            self.frames.set_key(source.slice(self.lex_start, closed));
            self.key_start = start;
            self.member_edits = self.serial;
            self.expect = Expect::Colon;
            return Ok(true);
        }
        self.edit(RepairKind::MissingOpen, start..start, "{")?;
        self.frames.push(Shape::Object, start);
        self.frames.set_key(source.slice(self.lex_start, closed));
        self.comma = usize::MAX;
        self.key_start = start;
        self.member_edits = self.serial;
        self.expect = Expect::Colon;
        Ok(true)
    }

    /// Behind `=` or `=>`, if it has arrived.
    fn equals_end(&mut self, source: &Source<'_>) -> Result<Option<usize>, Stop> {
        Ok(match source.byte(self.pos + 1) {
            Some(b'>' | b'=') => Some(self.pos + 2),
            None if !source.is_last() => None,
            _ => Some(self.pos + 1),
        })
    }

    /// The colon goes directly behind the key.
    fn lex_start_of_gap(&self, at: usize) -> usize {
        if self.anchor > self.mark && self.anchor <= at { self.anchor } else { at }
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
        if is_key && self.whole && self.expect == Expect::FirstKey && self.reads_set(source) {
            // `{'a', 'b'}` is a list in braces.
            let Some(frame) = self.frames.pop() else { return Err(Stop::Refused) };
            self.edit(RepairKind::Tuple, frame.start..frame.start + 1, "[")?;
            self.frames.push(Shape::Array, frame.start);
            self.expect = Expect::FirstItem;
            return Ok(Flow::Go);
        }
        if is_key {
            self.begin_key();
            return self.open_string(source, quote, length, true);
        }
        let before = (self.frames.items(), self.document_start);
        self.begin_value();
        let flow = self.open_string(source, quote, length, false)?;
        if flow == Flow::Wait {
            // Nothing was read; the value begins when the quote is understood.
            self.unbegin_value(before);
        }
        Ok(flow)
    }

    /// Whether strings and commas, two at least, go on to a `}`.
    fn reads_set(&mut self, source: &Source<'_>) -> bool {
        let mut look = self.look(source, self.pos);
        let mut strings = 0;
        loop {
            let Ok(Some((quote, length))) = look.quote() else { return false };
            look.advance(length);
            while let Ok(None) = look.closer(quote) {
                if look.peek().is_err() {
                    return false;
                }
                look.bump();
            }
            look.bump();
            strings += 1;
            self.steps += look.passed() as u64;
            match look.space() {
                Ok(b',') => look.bump(),
                Ok(b'}') => return strings > 1,
                _ => return false,
            }
            if look.space().is_err() {
                return false;
            }
        }
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
        self.anchor = self.pos;
        if shape.is_visible() {
            self.settle();
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

    /// A value begins here: what was pending before it stays.
    pub(super) fn begin_value(&mut self) {
        if self.frames.top().is_some_and(Shape::is_list) {
            self.frames.begin_item();
        }
        if self.frames.len() == 0 {
            self.document_start = self.pos;
        }
    }

    fn unbegin_value(&mut self, (items, start): (usize, usize)) {
        self.frames.set_items(items);
        self.document_start = start;
    }

    /// A value has been read up to `pos`.
    pub(super) fn value_ended(&mut self, source: &Source<'_>) -> Result<(), Stop> {
        self.anchor = self.pos;
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Array | Shape::Tuple) => Expect::ItemEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            None => {
                self.documents += 1;
                self.document_end = Some(self.pos);
                let start = self.document_start;
                self.edits.push(super::Edit::EndDocument { start, end: self.pos });
                self.settle();
                let _ = source;
                Expect::After
            }
        };
        Ok(())
    }

    /// A comma was read at `at`; it stays only if something follows it.
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

    /// Inserts the comma directly behind the value before, if that has not left yet.
    pub(super) fn insert_comma(&mut self) -> Result<(), Stop> {
        let at = if self.reaches(self.anchor) && self.anchor <= self.pos {
            self.anchor
        } else {
            self.pos
        };
        let at = if at < self.mark && !self.whole { self.pos } else { at };
        let edits = self.serial;
        self.edit(RepairKind::MissingComma, at..at, ",")?;
        self.pend_comma(at, edits, 0);
        Ok(())
    }

    fn insert_value(&mut self, token: Token) -> Step {
        let at = self.pos;
        let after = if self.expect == Expect::Colon { ": null" } else { "null" };
        self.edit(RepairKind::MissingValue, at..at, after)?;
        if token == Token::Ellipsis {
            // The ellipsis itself is dropped behind the value.
            self.expect = Expect::MemberEnd;
        }
        self.expect = Expect::MemberEnd;
        self.anchor = at;
        self.settle();
        Ok(Flow::Go)
    }

    /// Drops a token that means nothing here.
    pub(super) fn skip(&mut self, source: &Source<'_>, token: Token) -> Step {
        let at = self.pos;
        let kind = match token {
            Token::Ellipsis => return self.skip_ellipsis(source),
            Token::Fence => {
                // Behind a document, the line end before it is the fence's.
                let behind = self.expect == Expect::After
                    && self.options.following() != crate::Following::All
                    && self.anchor >= self.mark;
                let blank = source.slice(self.anchor, at).iter().all(u8::is_ascii_whitespace);
                let from = if behind && blank { self.anchor } else { at };
                self.edit(RepairKind::CodeFence, from..at + 3, "")?;
                self.pos += 3;
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

    /// The bytes behind the token decide.
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

    /// `{{"a": 1}}`
    fn double_open(&mut self) -> Step {
        if self.expect == Expect::Key
            && self.comma_length > 0
            && self.edits.len() == self.firm
            && self.frames.parent().is_some_and(Shape::is_list)
        {
            // `[{"i": 1, {"i": 2}]`: the brace before the comma was lost.
            let comma = self.comma;
            self.edit(RepairKind::MissingClose, comma..comma, "}")?;
            self.frames.pop();
            self.mark = self.mark.max(comma);
            self.mark_in_string = false;
            self.closed_string = None;
            self.firm = self.edits.len();
            self.pend_comma(comma, self.serial, self.comma_length);
            return Ok(Flow::Go);
        }
        self.edit(RepairKind::DuplicateOpen, self.pos..self.pos + 1, "")?;
        if self.expect == Expect::FirstKey && self.frames.len() < 2 * self.options.limits().depth()
        {
            self.frames.double();
        }
        self.pos += 1;
        Ok(Flow::Go)
    }

    fn defer_value(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::ObjectOpen => {
                // `{{name}}` is a placeholder when nothing but a word stands in it.
                let mut look = self.look(source, self.pos + 1);
                if look!(look.peek(), 0) == b'{' {
                    look.bump();
                    look!(look.blanks(), 0);
                    let word = look!(look.word(), &[][..]);
                    if !word.is_empty() {
                        while matches!(look!(look.peek(), 0), b' ' | b'.' | b'|' | b'_') {
                            look.bump();
                            look!(look.word(), &[][..]);
                        }
                        if look!(look.starts_with(b"}}"), false) {
                            return self.open_bare(source, false);
                        }
                    }
                }
                self.open(Shape::Object)
            }
            _ => self.word(source),
        }
    }

    fn defer_member_end(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Plus => self.join(source),
            Token::ObjectOpen if self.frames.parent().is_some_and(Shape::is_list) => {
                // `[{"i": 1{"i": 2}]`: the brace before was lost.
                let at = if self.reaches(self.anchor) { self.anchor } else { self.pos };
                self.edit(RepairKind::MissingClose, at..at, "}")?;
                self.frames.pop();
                self.settle();
                self.value_ended(source)?;
                Ok(Flow::Go)
            }
            Token::ObjectOpen | Token::ArrayOpen => {
                self.insert_comma()?;
                Ok(Flow::Go)
            }
            _ => {
                if look!(self.key_follows(source), true) {
                    self.insert_comma()?;
                    return Ok(Flow::Go);
                }
                if token == Token::Quote && look!(self.key_and_value_follow(source), false) {
                    self.insert_comma()?;
                    return Ok(Flow::Go);
                }
                if token == Token::Quote && self.closed_string.is_some_and(|at| self.reaches(at)) {
                    return self.join(source);
                }
                self.lex_start = self.pos;
                self.lex = Lex::Stray;
                Ok(Flow::Go)
            }
        }
    }

    /// Whether a string and, without a colon, a value that is no string follow.
    fn key_and_value_follow(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        let mut look = self.look(source, self.pos);
        let Some((quote, length)) = look.quote()? else { return Ok(false) };
        look.advance(length);
        let found = look.through(quote);
        self.steps += look.passed() as u64;
        found?;
        let next = look.blanks()?;
        Ok(next.is_ascii_digit() || matches!(next, b'-' | b'{' | b'['))
    }

    /// Whether a key and a colon follow.
    pub(super) fn key_follows(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        let mut look = self.look(source, self.pos);
        if let Some((quote, length)) = look.quote()? {
            look.advance(length);
            let found = look.through(quote);
            self.steps += look.passed() as u64;
            found?;
            // A second key without a colon is still a key when a value follows it directly.
            return Ok(matches!(look.space()?, b':' | b'='));
        }
        if !is_word(look.peek()?) {
            return Ok(false);
        }
        look.word()?;
        if look.peek()? == b'"' {
            look.bump();
        }
        Ok(look.blanks()? == b':')
    }

    /// `"a" + "b"`, `"a" "b"`: takes the quotes between away.
    pub(super) fn join(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at);
        let plus = look!(look.peek(), 0) == b'+';
        if plus {
            look.bump();
            look!(look.gap(), 0);
        }
        if let Some(from) = self.closed_string.filter(|&from| self.reaches(from))
            && let Some((quote, length)) = look!(look.quote(), None)
        {
            let behind = at + look.passed() + length;
            self.forget(from);
            self.edit(RepairKind::StringConcatenation, from..behind, "")?;
            self.pos = behind;
            self.lex_start = behind;
            self.tail = None;
            self.closed_string = None;
            let text = super::Text { quote, is_key: false, quotes: 1, nested: 0, embedded: 0 };
            self.lex = Lex::Text(text);
            return Ok(Flow::Go);
        }
        self.lex_start = at;
        self.lex = Lex::Stray;
        self.pos += usize::from(plus);
        Ok(Flow::Go)
    }

    /// Words between members: dropped up to the next separator, quote or line end.
    pub(super) fn stray(&mut self, source: &Source<'_>) -> Step {
        let rest = source.from(self.pos);
        let first = usize::from(self.pos == self.lex_start);
        let found = rest
            .iter()
            .skip(first)
            .position(|b| matches!(b, b',' | b'}' | b']' | b'{' | b'[' | b'"' | b'\n'));
        match found {
            Some(at) => self.pos += at + first,
            None => self.pos += rest.len(),
        }
        if found.is_none() && !source.is_last() {
            return Ok(Flow::Wait);
        }
        let stray = source.slice(self.lex_start, self.pos);
        let blank = stray.iter().rev().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        let kept = stray.len() - blank;
        self.edit(RepairKind::StrayText, self.lex_start..self.lex_start + kept, "")?;
        self.lex = Lex::None;
        Ok(Flow::Go)
    }
}
