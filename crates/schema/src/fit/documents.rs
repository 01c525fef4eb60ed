//! The documents in a text: each one as a reading, and all of them together as a list.

use std::ops::Range;

use wiremend_core::{
    Lead, Options, Outcome, Path, Repair, RepairKind, Tail, TrailingDocuments, mend,
};
use wiremend_extract::{Extractor, Findings, Found, Scope};

use super::reading::Reading;
use crate::{Cause, Change, apply_changes};

/// The most documents that are tried individually.
const MOST: usize = 16;

/// The documents in a text, with their byte ranges.
pub(super) struct Documents<'i> {
    input: &'i [u8],
    options: Options,
    /// Whether a document with anything after it is rejected.
    alone: bool,
    /// All documents, including those that were cut off.
    spans: Vec<Range<usize>>,
    /// The complete documents.
    found: Vec<Range<usize>>,
}

impl<'i> Documents<'i> {
    pub(super) fn find(input: &'i [u8], options: Options) -> Self {
        let alone = options.trailing_documents() == TrailingDocuments::Error;
        let options = options.with_trailing_documents(TrailingDocuments::First);
        let mut extractor = Extractor::new(Scope::All, options.clone());
        let mut findings = Findings::default();
        extractor.push(input, &mut findings);
        extractor.finish(&mut findings);
        let spans = findings.documents().iter().map(span).collect();
        let complete = |found: &&Found| found.outcome().is_some_and(Outcome::is_complete);
        let complete = findings.documents().iter().filter(complete);
        let found = complete.map(span).collect();
        Self { input, options, alone, spans, found }
    }

    /// One reading for each document that the policy allows to be used alone. It deletes the
    /// surrounding text.
    pub(super) fn each(&self) -> Vec<Reading<'static>> {
        let alone = |span: &Range<usize>| {
            let mut changes = self.around(RepairKind::LeadingProse, 0..span.start)?;
            changes.extend(self.inside(span)?);
            changes.extend(self.around(RepairKind::TrailingProse, span.end..self.input.len())?);
            Some(Reading::repaired(apply_changes(self.input, &changes)?, changes))
        };
        let (answers, others): (Vec<_>, Vec<_>) =
            self.found.iter().take(MOST).partition(|span| self.is_answer(span));
        answers.into_iter().rev().chain(others).filter_map(alone).collect()
    }

    /// Whether the text before a document calls it the answer, after others that are drafts.
    fn is_answer(&self, span: &Range<usize>) -> bool {
        let lead = |span: &Range<usize>| {
            let before = self.spans.partition_point(|other| other.start < span.start);
            let start = before.checked_sub(1).and_then(|at| self.spans.get(at));
            let gap = self.input.get(start.map_or(0, |span| span.end)..span.start);
            Lead::announces_answer(gap.unwrap_or_default())
        };
        let first = self.spans.first();
        first.is_some_and(|first| first.start < span.start && !lead(first)) && lead(span)
    }

    /// The repairs of a document. As the only content of the text, its end may decide how it
    /// begins.
    fn inside(&self, span: &Range<usize>) -> Option<Vec<Change>> {
        let mended = mend(self.input.get(span.clone())?, &self.options);
        mended.text().filter(|_| mended.outcome().is_complete())?;
        let mut changes = Change::of_repairs(self.input.get(span.clone())?, mended.repairs());
        for change in &mut changes {
            change.start += span.start;
            change.end += span.start;
        }
        Some(changes)
    }

    /// Deletes the text around a document. White space needs no change; `None` if the policy
    /// forbids the deletion.
    fn around(&self, prose: RepairKind, span: Range<usize>) -> Option<Vec<Change>> {
        if self.input.get(span.clone())?.trim_ascii().is_empty() {
            return Some(Vec::new());
        }
        let kind = self.kind(prose, &span);
        let second = kind == RepairKind::SecondDocument;
        let follows = self.alone && (second || prose != RepairKind::LeadingProse);
        let allowed = self.options.policy().allows(kind) && !follows;
        allowed.then(|| vec![change(kind, span, "")])
    }

    /// What is deleted with a part of the text: `prose`, or another document.
    fn kind(&self, prose: RepairKind, span: &Range<usize>) -> RepairKind {
        // The spans are in order and do not overlap.
        let first = self.spans.partition_point(|other| other.start < span.start);
        let another = self.spans.get(first).is_some_and(|other| other.end <= span.end);
        let text = self.input.get(span.clone()).unwrap_or_default();
        match prose {
            _ if another => RepairKind::SecondDocument,
            RepairKind::LeadingProse => Lead::of(text).kind(),
            RepairKind::TrailingProse => Tail::of(text, self.options.limits().lookahead()).kind(),
            other => other,
        }
    }

    /// A reading of all documents as the items of one list, if there are several.
    pub(super) fn list(&self) -> Option<Reading<'static>> {
        if self.found.len() < 2 {
            return None;
        }
        let joined = RepairKind::LineDelimited;
        // The text around the list is prose, unless it is white space.
        let outer = |prose: RepairKind, span: &Range<usize>| {
            let blank = self.input.get(span.clone())?.trim_ascii().is_empty();
            Some(if blank { joined } else { self.kind(prose, span) })
        };
        let mut changes = Vec::new();
        let mut at = 0;
        for (index, span) in self.found.iter().enumerate() {
            let gap = at..span.start;
            changes.push(match index {
                0 => change(outer(RepairKind::LeadingProse, &gap)?, gap, "["),
                _ => change(self.kind(joined, &gap), gap, ", "),
            });
            changes.extend(self.inside(span)?);
            at = span.end;
        }
        let tail = at..self.input.len();
        changes.push(change(outer(RepairKind::TrailingProse, &tail)?, tail, "]"));
        let allowed = |change: &Change| match change.cause {
            Cause::Syntax(kind) => self.options.policy().allows(kind),
            Cause::Rule(_) => true,
        };
        let allowed = changes.iter().all(allowed);
        allowed.then(|| Some(Reading::repaired(apply_changes(self.input, &changes)?, changes)))?
    }
}

/// The byte range of a document in the input: the length of its text, corrected for its repairs.
fn span(found: &Found) -> Range<usize> {
    let (mut added, mut removed) = (0, 0);
    for repair in found.repairs() {
        added += repair.after().len();
        removed += repair.end() - repair.start();
    }
    let length = (found.json().len() + removed).saturating_sub(added);
    found.offset()..found.offset() + length
}

fn change(kind: RepairKind, span: Range<usize>, after: &'static str) -> Change {
    Change::syntax(&Repair::new(kind, span, after), Path::default())
}
