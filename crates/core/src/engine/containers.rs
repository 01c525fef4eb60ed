//! Opening containers, and the keys, values and commas in them.

use super::{
    Comma, Engine, Expect, Flow, Source, Step, Stop, Token, edits::writes_comma, frames::Shape,
};
use crate::RepairKind;

impl Engine {
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
        self.member.comma = None;
        self.expect = if shape == Shape::Object { Expect::FirstKey } else { Expect::FirstItem };
        self.gap.start = self.pos;
        if shape.is_visible() {
            self.commit();
        }
        Ok(Flow::Go)
    }

    /// Opens an object whose brace is missing before the key at `pos`.
    pub(super) fn open_before_key(&mut self) -> Result<(), Stop> {
        self.edit(RepairKind::MissingOpen, self.pos..self.pos, "{")?;
        self.begin_value();
        self.frames.push(Shape::Object, self.pos);
        self.expect = Expect::FirstKey;
        // A scalar that turned out to be text may have ended after this place.
        self.gap.start = self.pos;
        self.commit();
        Ok(())
    }

    /// Whether there was no container so far.
    pub(super) fn is_scalar(&self) -> bool {
        self.frames.deepest() == 0
    }

    /// A key begins here.
    pub(super) fn begin_key(&mut self) {
        if !self.member.is_unpaired {
            self.member.last_pair = self.member.key_start;
        }
        self.member.is_unpaired = false;
        self.member.key_start = self.pos;
        if self.member.comma.is_none() {
            self.member.edits_before = self.script.serial;
        }
    }

    /// Begins a value. Whatever was uncertain before it is kept.
    pub(super) fn begin_value(&mut self) {
        if self.frames.top().is_some_and(Shape::is_list) {
            self.frames.begin_item();
        }
        if self.frames.len() == 0 {
            self.document.start = self.pos;
        }
    }

    pub(super) fn undo_begin_value(&mut self, (items, start): (usize, usize)) {
        self.frames.set_items(items);
        self.document.start = start;
    }

    /// Ends a value at `pos`.
    pub(super) fn value_ended(&mut self, source: &Source<'_>) -> Result<(), Stop> {
        self.gap.start = self.pos;
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Array | Shape::Tuple) => Expect::ItemEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            None => {
                self.commit();
                if self.ending.over {
                    return Err(Stop::Overflow);
                }
                if self.documents.count >= self.documents.most {
                    return Err(Stop::Overflow);
                }
                self.documents.count += 1;
                self.end_in_text();
                (self.document.escaped, self.document.fenced) = (false, false);
                self.document.end = Some(self.pos);
                let start = self.document.start;
                self.documents.last = Some((start, self.pos));
                self.script.end_document(start, self.pos);
                let _ = source;
                Expect::After
            }
        };
        Ok(())
    }

    /// Records a comma. It is kept only if something follows it.
    pub(super) fn pend_comma(&mut self, comma: Comma, edits: usize) {
        self.member.comma = Some(comma);
        self.member.edits_before = edits;
        if self.frames.top() == Some(Shape::Object) {
            self.frames.clear_key();
            self.expect = Expect::Key;
        } else {
            self.expect = Expect::Item;
        }
    }

    /// Inserts a comma, directly after the previous value if that is not committed.
    pub(super) fn insert_comma(&mut self) -> Result<(), Stop> {
        let at = if self.reaches(self.gap.start) && self.gap.start <= self.pos {
            self.gap.start
        } else {
            self.pos
        };
        let at = if at < self.committed && !self.whole { self.pos } else { at };
        let edits = self.script.serial;
        self.edit(RepairKind::MissingComma, at..at, ",")?;
        self.pend_comma(Comma { at, length: 0 }, edits);
        Ok(())
    }

    pub(super) fn insert_value(&mut self, token: Token) -> Step {
        let at = self.pos;
        let after = if self.expect == Expect::Colon { ": null" } else { "null" };
        self.edit(RepairKind::MissingValue, at..at, after)?;
        self.member.is_unpaired = self.expect == Expect::Colon;
        if token == Token::Ellipsis {
            // The ellipsis itself is dropped after the value.
            self.expect = Expect::MemberEnd;
        }
        self.expect = Expect::MemberEnd;
        self.gap.start = at;
        self.commit();
        Ok(Flow::Go)
    }

    /// Drops the comma before a closer, if there is one.
    pub(super) fn drop_comma(&mut self) -> Result<(), Stop> {
        if matches!(self.expect, Expect::Item | Expect::Key) {
            self.expect =
                if self.expect == Expect::Item { Expect::ItemEnd } else { Expect::MemberEnd };
            // If an edit inserted the comma, remove that edit.
            let Some(comma) = self.member.comma else { return Ok(()) };
            let made = self.member.edits_before + 1;
            let first = self.script.before(comma.at).max(self.script.committed);
            let wrote = self.script.edits[first..].iter().rposition(|edit| {
                matches!(edit, super::Edit::Replace(repair, serial)
                    if writes_comma(repair.kind) && *serial == made)
            });
            if let Some(wrote) = wrote {
                self.script.remove(first + wrote);
            }
            if comma.length > 0 {
                self.edit(RepairKind::ExtraComma, comma.at..comma.end(), "")?;
            }
        }
        Ok(())
    }
}
