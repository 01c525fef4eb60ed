//! Finding the documents of a whole text.

use std::{cmp::Reverse, ops::Range};

use jsonmend_core::{Lead, Mended, Options, Outcome, Policy, Repairs, TrailingDocuments};

use super::{
    assemble::assemble,
    reading::{Reading, is_fenced},
};
use crate::{Extractor, Scope, TextSink};

/// The documents of a text.
pub(super) struct Documents {
    spans: Vec<Range<usize>>,
    /// How many bytes of text outside of documents were seen after the last document.
    text: usize,
    open: bool,
}

impl Documents {
    pub(super) fn find(input: &[u8], scope: Scope, options: &Options) -> Self {
        // Find documents under any policy. What may be done to them is decided later.
        let everything = options
            .clone()
            .with_policy(Policy::PERMISSIVE)
            .with_trailing_documents(TrailingDocuments::First);
        let best = scope == Scope::Best;
        let scope = match scope {
            Scope::Fenced | Scope::Whole => scope,
            Scope::All | Scope::Best | Scope::First | Scope::Last => Scope::All,
        };
        let mut documents = Self { spans: Vec::new(), text: 0, open: false };
        let mut extractor = Extractor::new(scope, everything);
        extractor.push(input, &mut documents);
        extractor.finish(&mut documents);
        documents.close(input.len());
        if best {
            documents.drop_values(input);
        }
        documents.drop_empty(input);
        documents
    }

    /// The number of documents.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
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

    /// Ignores `{}` and `[]` next to other documents.
    fn drop_empty(&mut self, input: &[u8]) {
        let is_empty = |span: &Range<usize>| {
            input.get(span.clone()).is_some_and(|text| {
                let text = text.trim_ascii();
                text.len() < 16 && text.iter().all(|b| b"{}[] \n\t".contains(b))
            })
        };
        if !self.spans.iter().all(is_empty) {
            self.spans.retain(|span| !is_empty(span));
        } else {
            self.spans.truncate(1);
        }
    }

    /// Mends the document, or the documents, that the scope asks for.
    pub(super) fn choose(&self, input: &[u8], scope: Scope, options: &Options) -> Mended {
        let read = |at: usize| {
            let span = self.spans.get(at).cloned()?;
            Some(Reading::of(input, span, self.limit(at, input), options))
        };
        let last = options.trailing_documents() == TrailingDocuments::Last;
        let best = match scope {
            Scope::Best if last => self.len().checked_sub(1).and_then(read),
            Scope::All | Scope::Fenced | Scope::First | Scope::Whole => read(0),
            Scope::Last => self.len().checked_sub(1).and_then(read),
            Scope::Best => {
                if let Some(answer) = self.answer(input).and_then(read) {
                    return assemble(input, std::iter::once(answer), &self.spans, options);
                }
                let array = options.trailing_documents() == TrailingDocuments::Array;
                if self.len() > 1 && array && self.belong_together(input) {
                    if self.len() > options.limits().documents_in(input.len()) {
                        return Mended::new(Outcome::Overflow, None, Repairs::new(), None);
                    }
                    let each = self.spans.iter().enumerate();
                    let readings = each.map(|(at, span)| {
                        Reading::of(input, span.clone(), self.limit(at, input), options)
                    });
                    return assemble(input, readings, &self.spans, options);
                }
                (0..self.len()).filter_map(read).max_by_key(|reading| {
                    let start = Reverse(reading.span().start);
                    (reading.is_fenced(), reading.rank(), reading.span().len(), start)
                })
            }
        };
        match best {
            Some(best) => assemble(input, std::iter::once(best), &self.spans, options),
            None => Mended::new(Outcome::None, None, Repairs::new(), None),
        }
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

    /// Whether there are only separators and fences between the documents, or each is in a fence of
    /// its own.
    fn belong_together(&self, input: &[u8]) -> bool {
        let thin = |gap: &[u8]| gap.iter().all(|b| b.is_ascii_whitespace() || b",;`~".contains(b));
        let ends = self.spans.iter().map(|span| span.end);
        let starts = self.spans.iter().skip(1).map(|span| span.start);
        let adjacent = ends.zip(starts).all(|(end, next)| input.get(end..next).is_some_and(thin));
        adjacent || self.spans.iter().all(|span| is_fenced(input, span.start))
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
        self.open = true;
    }
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}
