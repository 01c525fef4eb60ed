//! Where a string without quotes ends.

use crate::engine::{
    Engine, PLAIN, Source, Text, follows::begins_member, frames::Shape, source::Edge,
};

impl Engine {
    /// Whether a comma or colon of another script, `length` bytes long, ends an unquoted string.
    pub(super) fn wide_sign_ends(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<bool, Edge> {
        match self.frames.top() {
            _ if text.is_key => Ok(true),
            _ if text.nested > 0 => Ok(false),
            Some(Shape::Object) => self.comma_ends_bare(source, text, length),
            _ => Ok(true),
        }
    }

    /// Whether a comma of another script, `length` bytes long at `at`, separates values. In an
    /// object it does if a member or the end follows it.
    pub(in crate::engine) fn separates(
        &mut self,
        source: &Source<'_>,
        at: usize,
        length: usize,
    ) -> Result<bool, Edge> {
        if self.frames.top() != Some(Shape::Object) {
            return Ok(true);
        }
        let here = core::mem::replace(&mut self.pos, at);
        let follows = self.comma_ends_bare(source, PLAIN, length);
        self.pos = here;
        follows
    }

    /// Whether another member, or the end, follows the comma after an unquoted value of an object.
    pub(super) fn comma_ends_bare(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<bool, Edge> {
        let at = self.pos;
        let mut look = self.look(source, at + length);
        let next = look.gap()?;
        if matches!(next, b'}' | b']' | b',' | b'.') {
            return Ok(true);
        }
        if text.nested == 0 && look.at_quote()? {
            return Ok(true);
        }
        self.pos = at + length + look.passed();
        let follows = self.key_follows(source);
        self.pos = at;
        if follows? {
            return Ok(true);
        }
        // Without a colon it is only a member if its neighbour has none either: `Home, page 3` is
        // text.
        Ok(text.nested == 0 && self.lacks_colon() && self.declares_member(look)?)
    }

    /// Whether the string lost only its opening quote, because its closing one follows. Then its
    /// escapes were written as those of JSON. Text that goes on out of sight on the same line, and
    /// has an escape, was too: a path or a pattern is not as long.
    pub(super) fn lost_opening_quote(
        &mut self,
        source: &Source<'_>,
        text: Text,
    ) -> Result<bool, Edge> {
        let list = self.frames.top() != Some(Shape::Object);
        let mut look = self.look(source, self.pos);
        let mut read = || {
            loop {
                match look.peek()? {
                    b'\n' | b'\r' => return Ok(false),
                    b'\\' => {
                        look.peek_at(1)?;
                        look.advance(2);
                    }
                    b',' if list && text.nested == 0 => return Ok(false),
                    b',' => {
                        look.bump();
                        let mut member = look;
                        member.gap()?;
                        if member.at_quote()?
                            || !member.word()?.is_empty() && member.blanks()? == b':'
                        {
                            return Ok(false);
                        }
                    }
                    b'"' => {
                        look.bump();
                        return Ok(matches!(look.space()?, b',' | b'}' | b']'));
                    }
                    _ => look.bump(),
                }
            }
        };
        match read() {
            Err(Edge::Window) => Ok(true),
            Err(Edge::End) => Ok(false),
            found => found,
        }
    }

    /// Whether a key and a colon follow.
    pub(in crate::engine) fn key_follows(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        begins_member(self.look(source, self.pos))
    }

    /// Whether a word ends directly before `pos`. The guide is asked only there, once per word:
    /// asking again at a later blank would make the answer depend on how the input was divided.
    pub(super) fn word_ended(&self, source: &Source<'_>, text: Text) -> bool {
        self.pos > self.lex_start
            && match text.is_key {
                true => !matches!(source.byte(self.pos - 1), Some(b' ' | b'\t')),
                // Bytes before the committed position may be gone, and that is the end of the last
                // word.
                false => self.pos == self.committed,
            }
    }
}
