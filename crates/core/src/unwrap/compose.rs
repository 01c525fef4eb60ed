//! Joins the edits that take a wrapper off with those of the engine.

use alloc::{borrow::Cow, collections::VecDeque, string::String};
use core::ops::Range;

use crate::{Repair, RepairKind};

/// An edit that takes off a part of a wrapper.
#[derive(Clone, Debug)]
pub(crate) struct Unwrapped {
    kind: RepairKind,
    raw: Range<usize>,
    /// The offset in the text that was wrapped.
    inner: usize,
    /// The character that it becomes.
    text: [u8; 4],
    length: u8,
    /// How many bytes of that were emitted.
    emitted: u8,
}

impl Unwrapped {
    pub(super) fn new(
        kind: RepairKind,
        raw: Range<usize>,
        inner: usize,
        after: Option<char>,
    ) -> Self {
        let mut text = [0; 4];
        let length = after.map_or(0, |after| after.encode_utf8(&mut text).len() as u8);
        Self { kind, raw, inner, text, length, emitted: 0 }
    }

    /// What the span becomes.
    pub(super) fn after(&self) -> &[u8] {
        self.text.get(..usize::from(self.length)).unwrap_or_default()
    }

    fn repair(&self) -> Repair {
        let after: Cow<'static, str> = match self.after() {
            [] => "".into(),
            b"\"" => "\"".into(),
            b"\\" => "\\".into(),
            b"\n" => "\n".into(),
            text => String::from_utf8_lossy(text).into_owned().into(),
        };
        Repair::new(self.kind, self.raw.clone(), after)
    }
}

/// A part of the text that was wrapped, which is to be emitted.
pub(crate) enum Piece {
    /// This many bytes as they are.
    Copy(usize),
    /// This many bytes that replace something of the input.
    Patch(usize),
    /// A repair, which comes before the bytes that it adds.
    Repair(Repair),
}

/// Leads from the edits of the engine, whose offsets are in the text that was wrapped, to edits of
/// the text that was given.
///
/// Every edit is passed in order, and in the order of the text: [`pass`](Self::pass) up to a repair,
/// then [`repair`](Self::repair). Edits that touch the same bytes become one, of the kind that has the
/// higher risk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Composer {
    /// The offsets up to which everything was passed: in the text that was wrapped, and as it was given.
    at: usize,
    raw: usize,
    /// The edits of the wrapper after that.
    pub(crate) edits: VecDeque<Unwrapped>,
    /// Where dropped text begins whose end is not known: in both texts.
    dropping: Option<(usize, usize)>,
    /// How many bytes after `at` belong to a character of which a repair took the first bytes.
    rest: usize,
}

impl Composer {
    /// The state where nothing before `offset` was changed, and the text from `dropping` on is dropped.
    pub(crate) fn new(offset: usize, dropping: Option<usize>) -> Self {
        let dropping = dropping.map(|from| (from, from));
        Self { at: offset, raw: offset, dropping, ..Self::default() }
    }

    /// The offset in the text as it was given, up to which everything was passed.
    pub(crate) const fn raw(&self) -> usize {
        self.raw
    }

    /// Passes the next `length` bytes of the text that was wrapped.
    pub(crate) fn pass_by(&mut self, length: usize, each: impl FnMut(Piece)) {
        self.pass(self.at + length, each);
    }

    /// Passes everything up to `to`.
    pub(crate) fn pass(&mut self, to: usize, mut each: impl FnMut(Piece)) {
        let rest = self.rest.min(to.saturating_sub(self.at));
        if rest > 0 {
            each(Piece::Patch(rest));
            self.rest -= rest;
            self.at += rest;
        }
        while let Some(edit) = self.edits.front_mut() {
            let emitted = edit.inner + usize::from(edit.emitted);
            if emitted >= to {
                break;
            }
            if edit.inner > self.at {
                each(Piece::Copy(edit.inner - self.at));
                self.raw += edit.inner - self.at;
                self.at = edit.inner;
            }
            if edit.emitted == 0 {
                each(Piece::Repair(edit.repair()));
                self.raw = edit.raw.end;
            }
            let end = edit.inner + usize::from(edit.length);
            let length = end.min(to) - self.at;
            if length > 0 {
                each(Piece::Patch(length));
                self.at += length;
                edit.emitted += length as u8;
            }
            if self.at >= end {
                self.edits.pop_front();
            }
        }
        if to > self.at {
            each(Piece::Copy(to - self.at));
            self.raw += to - self.at;
            self.at = to;
        }
    }

    /// Passes what was dropped at the end of the text that was wrapped.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Piece)) {
        while let Some(edit) = self.edits.pop_front() {
            each(Piece::Repair(edit.repair()));
            self.raw = edit.raw.end;
        }
    }

    /// A repair of the engine, as one of the text that was given. Everything before its start must
    /// have been passed.
    pub(crate) fn repair(&mut self, repair: Repair, mut each: impl FnMut(Piece)) -> Repair {
        let (start, end) = (repair.start(), repair.end());
        // What is dropped directly before it is an edit of its own.
        while let Some(edit) = self.edits.front()
            && edit.length == 0
            && edit.inner <= start
        {
            each(Piece::Repair(edit.repair()));
            self.raw = edit.raw.end;
            self.edits.pop_front();
        }
        let from = match self.dropping.take() {
            Some((_, raw)) => raw,
            None => self.raw,
        };
        let kind = self.skip(end).filter(|kind| kind.risk() > repair.kind().risk());
        let (own, _, after) = repair.into_parts();
        Repair::new(kind.unwrap_or(own), from..self.raw, after)
    }

    /// Passes text that is dropped, up to `to`. Returns the kind of an edit in it.
    fn skip(&mut self, to: usize) -> Option<RepairKind> {
        let mut kind = None;
        while let Some(edit) = self.edits.front()
            && edit.inner < to
        {
            debug_assert_eq!(edit.emitted, 0, "a repair begins inside of a character");
            kind = Some(edit.kind);
            self.at = edit.inner + usize::from(edit.length);
            self.raw = edit.raw.end;
            self.edits.pop_front();
        }
        self.rest = self.at.saturating_sub(to);
        if to > self.at {
            self.raw += to - self.at;
        }
        self.at = to;
        kind
    }

    /// Notes that the text from `from` on is dropped, and that this is known up to `to`.
    pub(crate) fn drop_text(&mut self, from: usize, to: usize, each: impl FnMut(Piece)) {
        if self.dropping.is_none() {
            self.pass(from, each);
            self.dropping = Some((from, self.raw));
        }
        self.skip(to);
    }
}
