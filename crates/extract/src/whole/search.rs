//! Finding the documents of a whole text.

use std::{cmp::Reverse, ops::Range};

use wiremend_core::{
    Lead, MendOptions, Mended, Outcome, Policy, RepairKind, Repairs, Tail, TrailingDocuments,
    lines::{self, Opening},
};

use super::{
    assemble::assemble,
    reading::{Reading, bare},
};
use crate::{Finder, Scope, TextSink};

/// The documents of a text.
pub(super) struct Documents {
    spans: Vec<Range<usize>>,
    /// Those, and the ones that count only if there is no other: see [`ignore_empty`](Self::ignore_empty).
    all: Vec<Range<usize>>,
    /// Of each, whether anything but brackets was read of it, and whether it was cut off.
    filled: Vec<bool>,
    cut: Vec<bool>,
    /// What the lines of the text begin with, if most are a document each.
    lines: Option<Opening>,
    /// Whether one of those that are ignored was cut off.
    torn: bool,
    /// How many bytes of text outside of documents were seen after the last document.
    text: usize,
    open: bool,
}

impl Documents {
    pub(super) fn find(input: &[u8], scope: Scope, options: &MendOptions) -> Self {
        // White space after the text is no part of it.
        let input = input.get(..bare(input, 0).end).unwrap_or_default();
        // Find documents under any policy. What may be done to them is decided later.
        let everything = options
            .clone()
            .with_policy(Policy::PERMISSIVE)
            .with_trailing_documents(TrailingDocuments::All);
        let within = match scope {
            Scope::Fenced | Scope::Whole => scope,
            Scope::All | Scope::Best | Scope::First | Scope::Last => Scope::All,
        };
        let mut documents = Self {
            spans: Vec::new(),
            all: Vec::new(),
            filled: Vec::new(),
            cut: Vec::new(),
            lines: lines::opening(input),
            torn: false,
            text: 0,
            open: false,
        };
        let mut extractor = Finder::new(within, everything).with_lines(documents.lines);
        extractor.push(input, &mut documents);
        extractor.finish(&mut documents);
        documents.close(input.len());
        documents.all.clone_from(&documents.spans);
        documents.ignore_empty(input, scope, options.trailing_documents());
        if scope == Scope::Best {
            documents.drop_values(input);
        }
        documents
    }

    /// Where all documents are wanted, `{}` and `[]` count, unless one was cut off before anything of it
    /// was read, at the end of the text, or they are on the line of the only other one: then they are what a joint of pieces leaves.
    /// Where one is wanted, it is not an empty one.
    fn ignore_empty(&mut self, input: &[u8], scope: Scope, trailing: TrailingDocuments) {
        let several = scope.takes_several(trailing);
        let filled = self.filled.iter().filter(|filled| **filled).count();
        let whole = self.cut.iter().filter(|cut| !**cut).count();
        if several && trailing == TrailingDocuments::All || filled == 0 && whole == 0 {
            return;
        }
        let gap =
            |spans: &[Range<usize>]| input.get(spans[0].end..spans[1].start).unwrap_or_default();
        let joined = self.spans.windows(2).all(|spans| lines::joins(gap(spans)));
        let one = !several || filled <= 1 && joined;
        let last = self.spans.len().saturating_sub(1);
        let mut marks = self.filled.iter().zip(&self.cut).enumerate();
        let mut first = true;
        let torn = &mut self.torn;
        self.spans.retain(|_| {
            let Some((at, (is_filled, is_cut))) = marks.next() else { return true };
            let stays = *is_filled
                || !(*is_cut && (!several || at == last))
                    && (!one || filled == 0 && core::mem::take(&mut first));
            *torn |= several && !stays && *is_cut;
            stays
        });
    }

    /// The number of documents.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is one document, and no other that is ignored.
    pub(super) fn is_alone(&self) -> bool {
        self.all.len() == 1
    }

    /// Where the first document begins.
    pub(super) fn first(&self) -> Option<usize> {
        self.spans.first().map(|span| span.start)
    }

    /// Ends the open document, if any, where the text after it begins.
    fn close(&mut self, next: usize) {
        if self.open {
            if let Some(last) = self.spans.last_mut() {
                last.end = next.saturating_sub(self.text);
            }
            self.open = false;
        }
        self.text = 0;
    }

    /// In `{"a": 1}, "b": [2]}`, the second one is the value of a member: a brace came too early.
    fn drop_values(&mut self, input: &[u8]) {
        let mut end = None;
        self.spans.retain(|span| {
            let gap = end.and_then(|end| input.get(end..span.start)).unwrap_or_default();
            let value = is_key(gap);
            // An object goes on after its values.
            let object = input.get(span.start) == Some(&b'{');
            end = (object || value && end.is_some()).then_some(span.end);
            !value
        });
    }

    /// Mends the document, or the documents, that the scope and the options ask for.
    pub(super) fn choose(&self, input: &[u8], scope: Scope, options: &MendOptions) -> Mended {
        let read = |at: usize| {
            let span = self.spans.get(at).cloned()?;
            // A channel of JSON is one document, whatever follows it.
            let limit = if scope == Scope::Whole { input.len() } else { self.limit(at, input) };
            Some(Reading::of(input, span, limit, options))
        };
        let trailing = options.trailing_documents();
        let answer = self.answer(input).filter(|_| scope == Scope::Best);
        // What is left of one document that was damaged is not several.
        let parts = scope == Scope::Best && self.lines.is_none() && self.are_parts(input, options);
        let one = parts || answer.is_some();
        if !one && self.len() > 1 && scope.takes_several(trailing) {
            if self.len() > options.limits().documents_in(input.len()) {
                return Mended::new(Outcome::Overflow, None, Repairs::new(), None);
            }
            let apart = (0..self.len()).filter(|at| !self.is_mentioned(*at, input));
            let mut wanted: Vec<usize> = apart.filter(|_| scope == Scope::Best).collect();
            if wanted.is_empty() {
                wanted = (0..self.len()).collect();
            }
            let readings = wanted.into_iter().map(|at| {
                let span = self.spans.get(at).cloned().unwrap_or_default();
                Reading::of(input, span, self.limit(at, input), options)
            });
            return assemble(input, readings, &self.all, self.torn, options);
        }
        let best = if scope == Scope::Last || trailing == TrailingDocuments::Last {
            self.len().checked_sub(1).and_then(read)
        } else if scope == Scope::Best {
            answer.and_then(read).or_else(|| {
                (0..self.len()).filter_map(read).max_by_key(|reading| {
                    let start = Reverse(reading.span().start);
                    (reading.is_fenced(), reading.rank(), reading.span().len(), start)
                })
            })
        } else {
            read(0)
        };
        match best {
            Some(best) => assemble(input, std::iter::once(best), &self.all, self.torn, options),
            None => Mended::new(Outcome::None, None, Repairs::new(), None),
        }
    }

    /// Whether the text between two documents seems to be the rest of one.
    fn are_parts(&self, input: &[u8], options: &MendOptions) -> bool {
        let window = options.limits().lookahead();
        self.spans.windows(2).any(|spans| {
            let gap = input.get(spans[0].end..spans[1].start).unwrap_or_default();
            let kinds = [Lead::of(gap).kind(), Tail::of(gap, window).kind()];
            kinds.contains(&RepairKind::StrayText)
        })
    }

    /// Whether a sentence that has not ended leads to the document, on its line: it is only mentioned.
    fn is_mentioned(&self, at: usize, input: &[u8]) -> bool {
        let start = at.checked_sub(1).and_then(|at| self.spans.get(at)).map_or(0, |span| span.end);
        let end = self.spans.get(at).map_or(start, |span| span.start);
        let gap = input.get(start..end).unwrap_or_default();
        let line = gap.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let ended = matches!(line.trim_ascii_end().last(), Some(b'.' | b'!' | b'?' | b':'));
        Lead::of(line).kind() == RepairKind::InlineProse && !ended
    }

    /// The last document that the text before it calls the answer, after others that are drafts.
    fn answer(&self, input: &[u8]) -> Option<usize> {
        let leads = |at: usize| {
            let start =
                at.checked_sub(1).and_then(|at| self.spans.get(at)).map_or(0, |span| span.end);
            let gap = input.get(start..self.spans.get(at)?.start)?;
            Some(Lead::announces_answer(gap))
        };
        let first = leads(0)?;
        // A draft is of the same type as the answer.
        let bracket = |at: usize| input.get(self.spans.get(at)?.start);
        let mut later = (1..self.len()).rev();
        later.find(|at| !first && bracket(*at) == bracket(0) && leads(*at) == Some(true))
    }

    /// How far the document at that position may be read: to the next one.
    fn limit(&self, at: usize, input: &[u8]) -> usize {
        self.spans.get(at + 1).map_or(input.len(), |next| next.start)
    }
}

/// Whether `gap` begins with a comma and a quote, and ends with a key in quotes and its colon.
fn is_key(gap: &[u8]) -> bool {
    let members = gap.trim_ascii().strip_prefix(b",").map(<[u8]>::trim_ascii);
    let key = members.and_then(|members| members.strip_suffix(b":")).map(<[u8]>::trim_ascii);
    key.is_some_and(|key| key.len() > 1 && key.starts_with(b"\"") && key.ends_with(b"\""))
}

impl TextSink for Documents {
    fn text(&mut self, bytes: &[u8]) {
        self.text += bytes.len();
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.text += bytes.len();
    }
    fn begin(&mut self, offset: usize) {
        self.close(offset);
        self.spans.push(offset..offset);
        self.filled.push(false);
        self.cut.push(false);
        self.open = true;
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(filled) = self.filled.last_mut() {
            *filled = *filled || !bytes.iter().all(|byte| b"{}[] \t\r\n".contains(byte));
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(cut) = self.cut.last_mut() {
            *cut = !outcome.is_complete();
        }
    }
}
