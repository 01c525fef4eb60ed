//! What is known of the text outside of documents: before the first one, and between two.

use super::{Edit, Engine, Expect, Lex, Source};
use crate::{
    MendOptions, RepairKind,
    prose::{Block, Expected, Prose},
};

/// The text outside of documents.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    pub(super) text: Prose,
    /// The offset up to which `text` knows what was read.
    pub(super) read: usize,
    /// Where a document is known to begin.
    pub(super) begins: Option<usize>,
    /// The reasoning block that is open.
    pub(super) block: Option<Block>,
    /// Whether there was text before the first document.
    pub(super) spoke: bool,
    /// Whether a bracket before any text begins a document without being judged.
    pub(super) trusts: bool,
    /// Whether the document is part of something whose end is missing: a bracket before it was never
    /// closed, or what seems to be the rest of it does not close it.
    pub(super) torn: bool,
    /// Where a string begins that may be a document in quotes.
    pub(super) either: Option<usize>,
    /// How to drop text after a document if another one may follow.
    pub(super) kind: RepairKind,
}

impl Outside {
    pub(super) fn new(options: &MendOptions, trusts: bool) -> Self {
        let text = Prose::new(Expected::Json, options.limits().lookahead());
        let kind = RepairKind::TrailingProse;
        Self {
            text,
            read: 0,
            begins: None,
            block: None,
            spoke: false,
            trusts,
            torn: false,
            either: None,
            kind,
        }
    }
}

impl Engine {
    /// Between documents, passes what was read to `text` before it is released.
    #[inline]
    pub(super) fn note_gap(&mut self, source: &Source<'_>) {
        let between = matches!(self.expect, Expect::Document | Expect::After);
        if between && matches!(self.lex, Lex::None) {
            self.note_text(source);
        }
    }

    /// A document ended. Its bytes are no text: they may be gone when what follows is judged.
    pub(super) fn end_in_text(&mut self) {
        let outside = &mut self.outside;
        if self.whole && self.frames.deepest() == 0 {
            let before = (outside.text, outside.read);
            self.rest.get_or_insert_default().before_scalar = Some(before);
        }
        outside.text.end_document();
        outside.text.refresh();
        outside.read = self.pos;
    }

    /// Passes what was read since the last time to `text`.
    #[inline(never)]
    pub(super) fn note_text(&mut self, source: &Source<'_>) {
        if self.outside.read >= self.pos {
            return;
        }
        // Between tokens, white space and comments are not text.
        let gap = match self.lex {
            Lex::None if self.outside.text.fence().is_none() => self.gap_end(source),
            _ => self.outside.read,
        };
        self.outside.text.pass_space(source.slice(self.outside.read, gap));
        self.outside.text.pass(source.slice(gap, self.pos));
        self.outside.read = self.pos;
    }

    /// Up to where nothing but white space and comments was read since the last document.
    fn gap_end(&mut self, source: &Source<'_>) -> usize {
        let read = self.outside.read;
        if self.documents.count > 0 {
            return self.pos;
        }
        if self.outside.spoke {
            return read;
        }
        let comment = |at: usize| matches!(source.byte(at), Some(b'/' | b'#'));
        let text = |edit: &&Edit| match edit {
            Edit::Replace(repair, _) => match repair.kind() {
                RepairKind::ByteOrderMark => repair.start() > 0,
                RepairKind::Comment => !comment(repair.start()),
                _ => true,
            },
            Edit::EndDocument { .. } => false,
        };
        // Those before `read` were looked at the last time.
        let edits = self.script.edits.iter().rev();
        let is_new = |edit: &&Edit| edit.start().max(edit.end().unwrap_or_default()) >= read;
        let text = edits.take_while(is_new).filter(text).last();
        self.outside.spoke = text.is_some();
        text.map_or(self.pos, Edit::start).clamp(read, self.pos)
    }
}
