//! A document of a whole text, mended.

use std::{cmp::Reverse, ops::Range};

use wiremend_core::{
    MendOptions, Mended, Outcome, Repair, RepairKind, Repairs, Risk, TrailingDocuments,
    mend_document, mend_marked, prose::Marks,
};

/// A document, mended.
pub(super) struct Reading {
    span: Range<usize>,
    mended: Mended,
    fenced: bool,
    /// The length of the mark before it on its line, if its lines are marked.
    mark: usize,
}

impl Reading {
    /// Mends the document at `span`. The whole-text path may find that the document goes on after
    /// the span that the search has found, but only up to `limit`.
    pub(super) fn of(
        input: &[u8],
        span: Range<usize>,
        limit: usize,
        options: &MendOptions,
    ) -> Self {
        let options = options.clone().with_trailing_documents(TrailingDocuments::First);
        let fenced = is_fenced(input, span.start);
        let text = input.get(span.start..limit).unwrap_or_default();
        // White space before another document belongs to neither.
        let text = if limit < input.len() { text.get(bare(text, 0)).unwrap_or(text) } else { text };
        let marks = Marks::before(input, span.start, options.limits().lookahead());
        let mark = marks.map_or(0, |marks| marks.head());
        let mended = match marks {
            Some(marks) => mend_marked(text, marks, &options),
            None => mend_document(text, &options),
        };
        if marks.is_none()
            && swallows_fence(text, &mended)
            && let Some((mended, length)) = within_fence(text, &options)
        {
            return Self { span: span.start..span.start + length, mended, fenced, mark };
        }
        let (mended, end) = without_tail(mended, text);
        let end = if mended.text().is_some() { span.start + end } else { span.end };
        // Nor does white space after the last one, unless that was closed after it.
        let own = bare(input.get(..end).unwrap_or_default(), span.start);
        let closed = mended.repairs().last().map_or(0, |last| span.start + last.end());
        Self { span: own.start..own.end.max(closed), mended, fenced, mark }
    }

    pub(super) const fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// The length of the mark before it on its line. 0 if its lines are not marked.
    pub(super) const fn mark(&self) -> usize {
        self.mark
    }

    /// The result of mending. The spans of its repairs count from the start of its own span.
    pub(super) fn into_mended(self) -> Mended {
        self.mended
    }

    /// Whether the document is in a fence.
    pub(super) const fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// For comparison: a document that could be mended ranks higher, and so do repairs of lower
    /// risk.
    pub(super) fn rank(&self) -> (bool, Reverse<Option<Risk>>) {
        let worst = self.mended.repairs().risk();
        (self.mended.outcome().is_valid(), Reverse(worst))
    }
}

/// Where the text from `start` on is without the white space around it.
pub(super) fn bare(text: &[u8], start: usize) -> Range<usize> {
    let solid = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let inside = text.get(start..).unwrap_or_default();
    let first = inside.iter().position(solid).unwrap_or(inside.len());
    let end = inside.iter().rposition(solid).map_or(first, |last| last + 1);
    start + first..start + end
}

/// Removes the repairs that drop the text after the document. Returns the rest, and where it ends.
fn without_tail(mended: Mended, text: &[u8]) -> (Mended, usize) {
    let tail = |repair: &Repair, end: usize| {
        repair.end() >= end
            && matches!(
                repair.kind(),
                RepairKind::InlineProse | RepairKind::TrailingProse | RepairKind::SecondDocument
            )
    };
    // Text after it, and another document after that.
    let (mut end, mut dropped) = (bare(text, 0).end, 0);
    let before = mended.repairs().len().saturating_sub(2);
    let mut last: Vec<Repair> = mended.repairs().iter().skip(before).collect();
    while let Some(last) = last.pop().filter(|last| tail(last, end)) {
        (end, dropped) = (last.start(), dropped + 1);
    }
    if dropped == 0 {
        return (mended, text.len());
    }
    let cut_at = mended.cut_at().cloned();
    let (outcome, text, repairs) = mended.into_parts();
    let repairs: Repairs = repairs.iter().take(repairs.len() - dropped).collect();
    let untouched = outcome == Outcome::Repaired && repairs.is_empty();
    let outcome = if untouched { Outcome::Unchanged } else { outcome };
    (Mended::new(outcome, text, repairs, cut_at), end)
}

/// Whether the line directly before `start` opens a fence.
fn is_fenced(input: &[u8], start: usize) -> bool {
    /// How far to look back, in bytes. No line that opens a fence is longer, but other lines may
    /// be.
    const LONGEST: usize = 128;
    let before = input.get(start.saturating_sub(LONGEST)..start).unwrap_or_default();
    let before = before.trim_ascii_end();
    let line = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line = before.get(line..).unwrap_or_default().trim_ascii();
    line.starts_with(b"```") || line.starts_with(b"~~~") || line.ends_with(b"```json")
}

/// Whether a string that was never closed contains the closing fence.
pub(super) fn swallows_fence(input: &[u8], mended: &Mended) -> bool {
    let (repairs, kind) = (mended.repairs(), RepairKind::UnterminatedString);
    mended.outcome() == Outcome::Closed
        && closing_fence(input).is_some()
        && repairs.contains(kind)
        && repairs.iter().skip(repairs.len().saturating_sub(2)).any(|repair| repair.kind() == kind)
}

/// The start of the closing fence at the end of `text`.
fn closing_fence(text: &[u8]) -> Option<usize> {
    let text = text.trim_ascii_end();
    let marks = text.iter().rev().take_while(|byte| **byte == b'`').count();
    (marks >= 3).then_some(text.len() - marks)
}

/// Mends the text before the closing fence. Also returns how long that is.
///
/// Closers before the fence close containers, and are not content of a string that was never closed.
/// Whether the string was cut off there cannot be known.
fn within_fence(text: &[u8], options: &MendOptions) -> Option<(Mended, usize)> {
    let length = closing_fence(text)?;
    let inside = text.get(..length)?;
    let closed = close_string(inside, options);
    Some((closed.unwrap_or_else(|| mend_document(inside, options)), length))
}

/// Closes a string as in `{"a": "b}`, by inserting the quote before the closers at the end.
fn close_string(text: &[u8], options: &MendOptions) -> Option<Mended> {
    let kind = RepairKind::UnterminatedString;
    let closers =
        text.iter().rev().take_while(|b| b.is_ascii_whitespace() || b"}]".contains(b)).count();
    let at = text.len() - closers;
    let (head, tail) = text.split_at_checked(at)?;
    let policy = options.policy();
    if tail.trim_ascii().is_empty() || !policy.allows(kind) || !policy.closes_cut() {
        return None;
    }
    let mended = mend_document(&[head, b"\"", tail].concat(), options);
    let apart = |repair: Repair| repair.end() <= at || repair.start() > at;
    if !mended.outcome().is_complete() || !mended.repairs().iter().all(apart) {
        return None;
    }
    // The string is the last value.
    let path = mend_document(head, options).cut_at().cloned();
    let (_, output, old) = mended.into_parts();
    let mut old = old.iter().peekable();
    let mut repairs = Repairs::new();
    while let Some(repair) = old.next_if(|repair| repair.end() <= at) {
        repairs.push(&repair);
    }
    repairs.push(&Repair::new(kind, at..at, "\""));
    // Subtract the inserted quote from the offsets after it.
    repairs.extend(old.map(|repair| {
        let span = repair.start() - 1..repair.end() - 1;
        repair.with_span(span)
    }));
    Some(Mended::new(Outcome::Closed, output, repairs, path))
}
