//! Building the edit script for a whole text.

use std::ops::Range;

use jsonmend_core::{
    Lead, Mended, Options, Outcome, Path, Repair, RepairKind, Repairs, Tail, TrailingDocuments,
    apply,
};

use super::reading::Reading;

/// Builds one edit script for the whole text. The text around the documents is deleted, and several
/// documents become the items of an array. `documents` are all documents of the text. Readings come
/// one at a time, because each keeps a text of its own.
pub(super) fn assemble(
    input: &[u8],
    readings: impl ExactSizeIterator<Item = Reading>,
    documents: &[Range<usize>],
    options: &Options,
) -> Mended {
    let policy = options.policy();
    let mut repairs = Repairs::new();
    let mut outcome = Outcome::Unchanged;
    let mut cut_at = None;
    let several = readings.len() > 1;
    // Whether the documents are part of something whose end is missing: a bracket before them was
    // never closed, or what seems to be the rest of the last one does not close it.
    let mut torn = false;
    // Whether the last document was in doubt, and whether more than its quotes was.
    let (mut doubtful, mut guessed) = (false, false);
    let mut at = 0;
    for (index, reading) in readings.enumerate() {
        let gap = at..reading.span().start;
        let text = input.get(gap.clone()).unwrap_or_default();
        if index == 0 {
            let (before, mark) = text.split_at(text.len() - reading.mark());
            if before.trim_ascii().is_empty() && !mark.is_empty() {
                repairs.push(&Repair::new(RepairKind::LineMark, gap, ""));
            } else if !text.trim_ascii().is_empty() {
                let end = gap.start + before.len();
                let lead = Lead::of(text);
                let kind = if mark.is_empty() { lead.kind() } else { lead.kind_of_lines() };
                let before = around(kind, gap.start..end, before, documents);
                torn = lead.is_torn() && is_part(&before);
                repairs.push(&before);
                if !mark.is_empty() {
                    repairs.push(&Repair::new(RepairKind::LineMark, end..gap.end, ""));
                }
            }
            if several {
                let at = reading.span().start;
                repairs.push(&Repair::new(RepairKind::LineDelimited, at..at, "["));
            }
        } else {
            repairs.push(&Repair::new(RepairKind::LineDelimited, gap, ","));
        }
        let span = reading.span().clone();
        let mended = reading.into_mended();
        // The first outcome that is not complete is kept, and replaced only by one that is not
        // valid.
        let next = mended.outcome();
        if !next.is_complete() && outcome.is_valid() {
            outcome = next;
            cut_at = mended.cut_at().cloned();
        }
        let (_, _, own) = mended.into_parts();
        guessed = own.iter().any(|repair| repair.kind().doubts_end());
        doubtful = guessed || own.iter().any(|repair| repair.kind() == RepairKind::UnescapedQuote);
        repairs.extend(own.iter().map(|repair| repair.shifted(span.start)));
        at = span.end;
    }
    if several {
        repairs.push(&Repair::new(RepairKind::LineDelimited, at..at, "]"));
    }
    let text = input.get(at..).unwrap_or_default();
    let mut refused = false;
    if !text.trim_ascii().is_empty() {
        let rest = tail(text, options.limits().lookahead());
        let tail = around(rest.kind(), at..input.len(), text, documents);
        // A fence comes after a document, and not in the middle of one.
        let line = text.trim_ascii_start();
        let is_fenced = line.starts_with(b"```") || line.starts_with(b"~~~");
        torn |= rest.lacks_end() && is_part(&tail)
            || doubtful && rest.leaves_open(guessed) && !is_fenced;
        refused = options.trailing_documents() == TrailingDocuments::Error
            && tail.kind() != RepairKind::CodeFence;
        repairs.push(&tail);
    }
    if outcome == Outcome::Unchanged && !repairs.is_empty() {
        outcome = Outcome::Repaired;
    }
    if torn && outcome.is_complete() {
        (outcome, cut_at) = (Outcome::Closed, Some(Path::default()));
        refused |= !policy.closes_cut();
    }
    refused |= !repairs.iter().all(|repair| policy.allows(repair.kind()));
    if outcome.is_valid() && refused {
        outcome = Outcome::Invalid;
    }
    let text = if outcome.is_valid() {
        apply(input, &repairs).and_then(|text| String::from_utf8(text).ok())
    } else {
        None
    };
    let outcome = if text.is_none() && outcome.is_valid() { Outcome::Invalid } else { outcome };
    let cut_at = cut_at.filter(|_| matches!(outcome, Outcome::Closed | Outcome::Cut));
    Mended::new(outcome, text, repairs, cut_at)
}

/// Classifies the text after a document. After a closing fence, only the rest counts.
fn tail(text: &[u8], lookahead: usize) -> Tail {
    let marks = text.trim_ascii_start();
    let mark = marks.first().copied().unwrap_or_default();
    let run = marks.iter().take_while(|byte| **byte == mark).count();
    let fence = matches!(mark, b'`' | b'~') && run >= 3;
    let text = if fence { marks.get(run..).unwrap_or_default() } else { text };
    Tail::of(text, lookahead)
}

/// Whether the document may be part of what this drops.
fn is_part(dropped: &Repair) -> bool {
    matches!(dropped.kind(), RepairKind::SecondDocument | RepairKind::StrayText)
}

/// The repair that deletes text around a document: a mark or a fence, prose, or other documents.
fn around(
    prose: RepairKind,
    span: Range<usize>,
    text: &[u8],
    documents: &[Range<usize>],
) -> Repair {
    let marks = text.trim_ascii();
    let info = |b: &u8| b.is_ascii_alphanumeric() || b"`~ \n".contains(b);
    // Words after a closing fence do not belong to it.
    let fence = (marks.starts_with(b"```") || marks.starts_with(b"~~~"))
        && marks.len() < 24
        && marks.iter().all(info)
        && prose != RepairKind::InlineProse;
    let kind = if fence {
        RepairKind::CodeFence
    } else if marks == "\u{feff}".as_bytes() {
        RepairKind::ByteOrderMark
    } else if documents.iter().any(|other| span.start <= other.start && other.end <= span.end) {
        RepairKind::SecondDocument
    } else {
        prose
    };
    Repair::new(kind, span, "")
}
