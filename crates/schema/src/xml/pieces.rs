//! JSON that is assembled from pieces of its source text.

use std::{borrow::Cow, ops::Range};

use wiremend_core::Path;

use crate::{Cause, Change, Rule, tree::escaped};

/// A piece of a JSON text.
enum Piece {
    /// Bytes of the source text.
    Source(Range<usize>),
    /// Content that is not in the source text.
    Own(Cow<'static, str>),
    /// The quote before or after the content at this byte. It is a change of its own, so that a
    /// position in the string maps to the content and not to the tags.
    Quote(Side, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// A JSON text that consists of pieces.
#[derive(Default)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    pub(super) fn own(text: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![Piece::Own(text.into())])
    }

    pub(super) fn source(span: Range<usize>) -> Self {
        Self(vec![Piece::Source(span)])
    }

    /// A string with the content at `span` of `text`. Only characters that need an escape are
    /// replaced.
    pub(super) fn string(text: &str, span: Range<usize>) -> Self {
        let content = text.get(span.clone()).unwrap_or_default();
        let mut pieces = Self(vec![Piece::Quote(Side::Before, span.start)]);
        let mut from = span.start;
        for (at, c) in content.char_indices() {
            if let Some(escape) = escaped(c) {
                let at = span.start + at;
                pieces.0.push(Piece::Source(from..at));
                pieces.0.push(Piece::Own(escape));
                from = at + c.len_utf8();
            }
        }
        pieces.0.push(Piece::Source(from..span.end));
        pieces.0.push(Piece::Quote(Side::Behind, span.end));
        pieces
    }

    pub(super) fn push(&mut self, text: impl Into<Cow<'static, str>>) {
        self.0.push(Piece::Own(text.into()));
    }

    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Joins items to `[a, b]`.
    pub(super) fn list(items: Vec<Self>) -> Self {
        let mut list = Self::own("[");
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                list.push(", ");
            }
            list.append(item);
        }
        list.push("]");
        list
    }

    /// Returns the JSON text, and the script that produces it from `text`. Pieces that are out of
    /// order are inserted as new text.
    pub(super) fn written(self, text: &str) -> (String, Vec<Change>) {
        let mut script = Script::default();
        for piece in self.0 {
            match piece {
                Piece::Own(own) => script.own.push_str(&own),
                Piece::Quote(side, at) => {
                    if side == Side::Before && at >= script.at {
                        script.change(at);
                    }
                    script.own.push('"');
                    if side == Side::Behind && at >= script.at {
                        script.change(at);
                    }
                }
                Piece::Source(span) => {
                    let source = text.get(span.clone()).unwrap_or_default();
                    if span.start < script.at {
                        script.own.push_str(source);
                    } else {
                        script.change(span.start);
                        script.out.push_str(source);
                        script.at = span.end;
                    }
                }
            }
        }
        script.change(text.len());
        (script.out, script.changes)
    }
}

#[derive(Default)]
struct Script {
    out: String,
    changes: Vec<Change>,
    /// The end of the text that has been processed.
    at: usize,
    /// The replacement for the text from there on.
    own: String,
}

impl Script {
    /// Replaces the text up to `end` by what has been collected.
    fn change(&mut self, end: usize) {
        if self.at < end || !self.own.is_empty() {
            let own = std::mem::take(&mut self.own);
            self.out.push_str(&own);
            let cause = Cause::Rule(Rule::XmlFields);
            self.changes.push(Change::new(cause, self.at..end, own, Path::default()));
            self.at = end;
        }
    }
}
