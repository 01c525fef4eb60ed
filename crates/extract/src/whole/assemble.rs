//! Building the edit script for a whole text.

use std::ops::Range;

use wiremend_core::{
    Lead, MendOptions, Mended, Outcome, Path, Repair, RepairKind, Repairs, Tail, TrailingDocuments,
    apply, mend,
};

use super::reading::{Reading, bare};

/// Builds one edit script for the whole text. The text around the documents is deleted, and several
/// documents become the items of an array, or a sequence. `documents` are all documents of the text; `torn`
/// says that one of them was cut off that is no part of the result.
/// Readings come one at a time, because each keeps a text of its own.
pub(super) fn assemble(
    input: &[u8],
    readings: impl ExactSizeIterator<Item = Reading>,
    documents: &[Range<usize>],
    torn: bool,
    options: &MendOptions,
) -> Mended {
    let policy = options.policy();
    let mut repairs = Repairs::new();
    let mut outcome = Outcome::Unchanged;
    let mut cut_at = None;
    let sequence = options.trailing_documents() == TrailingDocuments::All;
    let array = readings.len() > 1 && !sequence;
    let joint =
        |at: usize, sign: &'static str| Repair::new(RepairKind::LineDelimited, at..at, sign);
    let window = options.limits().lookahead();
    let mut around = Around { input, documents, window, torn };
    let mut at = 0;
    let mut previous = None;
    for reading in readings {
        let gap = at..reading.span().start;
        match previous {
            None => repairs.extend(around.before(gap, reading.mark())),
            Some(doubt) => {
                let text = bare(input.get(..gap.end).unwrap_or_default(), at);
                match (input.get(text.clone()).unwrap_or_default(), sequence) {
                    (b"", true) if gap.is_empty() => repairs.push(&joint(at, "\n")),
                    (b"", true) | (b",", false) => {}
                    (b"", false) => repairs.push(&joint(at, ",")),
                    (b",", true) => repairs.push(&Repair::new(RepairKind::ExtraComma, text, "")),
                    _ => {
                        if array {
                            repairs.push(&joint(at, ","));
                        }
                        repairs.push(&around.between(gap, doubt));
                    }
                }
            }
        }
        if array && previous.is_none() {
            repairs.push(&joint(reading.span().start, "["));
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
        previous = Some(Doubt::of(&own));
        repairs.extend(own.iter().map(|repair| repair.shifted(span.start)));
        at = span.end;
    }
    if array {
        repairs.push(&joint(at, "]"));
    }
    let mut refused = false;
    if let Some(tail) = around.after(at, previous.unwrap_or_default()) {
        refused = options.trailing_documents() == TrailingDocuments::Error
            && tail.kind() != RepairKind::CodeFence;
        repairs.push(&tail);
    }
    if outcome == Outcome::Unchanged && !repairs.is_empty() {
        outcome = Outcome::Repaired;
    }
    if around.torn && outcome.is_complete() {
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
    // The array may be one level too many.
    let is_too_deep =
        |text: &String| array && mend(text.as_bytes(), options).outcome() == Outcome::Overflow;
    let (text, outcome) = if text.as_ref().is_some_and(is_too_deep) {
        (None, Outcome::Overflow)
    } else {
        (text, outcome)
    };
    let cut_at = cut_at.filter(|_| matches!(outcome, Outcome::Closed | Outcome::Cut));
    Mended::new(outcome, text, repairs, cut_at)
}

/// Whether the end of a document was in doubt, and whether more than its quotes was.
#[derive(Clone, Copy, Default)]
struct Doubt {
    doubtful: bool,
    guessed: bool,
}

impl Doubt {
    fn of(repairs: &Repairs) -> Self {
        let guessed = repairs.iter().any(|repair| repair.kind().doubts_end());
        let quotes = repairs.contains(RepairKind::UnescapedQuote);
        Self { doubtful: guessed || quotes, guessed }
    }
}

/// The text around the documents.
struct Around<'a> {
    input: &'a [u8],
    /// All documents of the text.
    documents: &'a [Range<usize>],
    window: usize,
    /// Whether the documents are part of something whose end is missing: a bracket before one of them
    /// was never closed, or what seems to be the rest of one does not close it.
    torn: bool,
}

impl Around<'_> {
    /// The repairs that delete the text before the first document, which may end with a mark.
    fn before(&mut self, gap: Range<usize>, mark: usize) -> Vec<Repair> {
        let text = self.input.get(gap.clone()).unwrap_or_default();
        let (before, mark) = text.split_at(text.len() - mark);
        let end = gap.start + before.len();
        let mut repairs = Vec::new();
        if !bare(before, 0).is_empty() {
            let lead = Lead::of(text);
            let kind = if mark.is_empty() { lead.kind() } else { lead.kind_of_lines() };
            let dropped = self.dropped(kind, gap.start..end);
            self.torn |= lead.is_torn() && is_part(&dropped);
            repairs.push(dropped);
        }
        if !mark.is_empty() {
            let start = if repairs.is_empty() { gap.start } else { end };
            repairs.push(Repair::new(RepairKind::LineMark, start..gap.end, ""));
        }
        repairs
    }

    /// The repair that deletes the text between two documents, but for the white space at its start.
    fn between(&mut self, gap: Range<usize>, doubt: Doubt) -> Repair {
        let text = self.input.get(gap.clone()).unwrap_or_default();
        let start = bare(self.input.get(..gap.end).unwrap_or_default(), gap.start).start;
        let (lead, rest) = (Lead::of(text), tail(text, self.window));
        let kind = if lead.kind().risk() < rest.kind().risk() { rest.kind() } else { lead.kind() };
        let dropped = self.dropped(kind, start..gap.end);
        self.torn |= is_part(&dropped) && (lead.is_torn() || rest.lacks_end());
        self.torn |= doubt.doubtful && rest.leaves_open(doubt.guessed) && !is_fenced(text);
        let apart = if start == gap.start { "\n" } else { "" };
        Repair::new(dropped.kind(), dropped.span(), apart)
    }

    /// The repair that deletes the text after the last document.
    fn after(&mut self, at: usize, doubt: Doubt) -> Option<Repair> {
        let text = self.input.get(at..).unwrap_or_default();
        if bare(self.input, at).is_empty() {
            return None;
        }
        let rest = tail(text, self.window);
        let dropped = self.dropped(rest.kind(), at..self.input.len());
        self.torn |= rest.lacks_end() && is_part(&dropped);
        self.torn |= doubt.doubtful && rest.leaves_open(doubt.guessed) && !is_fenced(text);
        Some(dropped)
    }

    /// The repair that deletes text around a document: a mark or a fence, prose, or other documents.
    fn dropped(&self, prose: RepairKind, span: Range<usize>) -> Repair {
        let marks = self.input.get(span.clone()).unwrap_or_default().trim_ascii();
        let info = |b: &u8| b.is_ascii_alphanumeric() || b"`~ \n".contains(b);
        // Words after a closing fence do not belong to it.
        let fence = is_fenced(marks)
            && marks.len() < 24
            && marks.iter().all(info)
            && prose != RepairKind::InlineProse;
        let next = self.documents.partition_point(|other| other.start < span.start);
        let another = self.documents.get(next).is_some_and(|other| other.end <= span.end);
        let kind = if fence {
            RepairKind::CodeFence
        } else if marks == "\u{feff}".as_bytes() {
            RepairKind::ByteOrderMark
        } else if another {
            RepairKind::SecondDocument
        } else {
            prose
        };
        Repair::new(kind, span, "")
    }
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

/// Whether text after a document begins with a fence, which comes after one and not in the middle of it.
fn is_fenced(text: &[u8]) -> bool {
    let line = text.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}
