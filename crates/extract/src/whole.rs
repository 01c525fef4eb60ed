//! The whole-text path: several readings of a text, and how to choose among them.

use std::{cmp::Reverse, ops::Range};

use crate::{Finder, Scope, TextSink};
use wiremend_core::{
    Lead, MendOptions, Mended, Outcome, Path, Policy, Repair, RepairKind, Repairs, Risk, Tail,
    TrailingDocuments, apply,
    lines::{self, Opening},
    mend, mend_document, mend_marked,
    prose::Marks,
};

/// Finds the JSON in a whole text and mends it. The result is one edit script for the whole text,
/// in which prose, fences and reasoning are deleted.
///
/// The text is read twice: as one document, and as prose that contains documents. With
/// [`Scope::Whole`] and [`Scope::Best`], the first reading is chosen if nothing around the document
/// has to be dropped; with the other scopes, the document must also begin where the second reading
/// finds one. Valid JSON is left unchanged. If neither reading finds JSON, the outcome is
/// [`Outcome::None`]. [`Scope`] says what becomes of several documents.
///
/// ```
/// use wiremend_core::{MendOptions, Outcome};
/// use wiremend_extract::{Scope, find};
///
/// let mended = find(b"Here it is: {name: 'Ada'} Enjoy!", Scope::Best, &MendOptions::new());
/// assert_eq!(mended.text(), Some(r#"{"name": "Ada"}"#));
/// let two = find(b"{\"a\": 1} and {\"b\": 2}", Scope::All, &MendOptions::new());
/// assert_eq!(two.text(), Some(r#"[{"a": 1}, {"b": 2}]"#));
/// let prose = find(b"if (x) { return 1; }", Scope::Best, &MendOptions::new());
/// assert_eq!(prose.outcome(), Outcome::None);
/// ```
#[must_use]
pub fn find(input: &[u8], scope: Scope, options: &MendOptions) -> Mended {
    if scope == Scope::Fenced {
        return Documents::find(input, scope, options).choose(input, scope, options);
    }
    let channel = matches!(scope, Scope::Best | Scope::Whole);
    let strict = options.trailing_documents() == TrailingDocuments::Error;
    // The scope decides which of several documents counts.
    let one = options.clone().with_trailing_documents(TrailingDocuments::First);
    let whole = mend(input, if channel || strict { options } else { &one });
    if whole.outcome() == Outcome::Unchanged {
        return whole;
    }
    let misread = swallows_fence(input, &whole)
        || is_code_span(input, &whole)
        || joins_labels(input, &whole, true);
    if channel && is_settled(input, &whole) && !misread {
        return whole;
    }
    // A channel of JSON is one document, whatever follows it.
    if scope == Scope::Whole
        && (whole.text().is_some() || strict && whole.outcome() == Outcome::Invalid)
        && !drops_lead(input, &whole)
        && !misread
    {
        return whole;
    }
    // Text that begins as an object and was refused, or cut off, contains no other document. What was refused
    // because another reading is as likely would be another one by itself.
    let refused = matches!(whole.outcome(), Outcome::Cut | Outcome::Invalid | Outcome::Overflow);
    let doubted = whole.repairs().last().is_some_and(|repair| repair.is_in_doubt());
    if channel && refused && (begins_as_object(input) || doubted) {
        return whole;
    }
    if channel && is_escaped_document(input, &whole) {
        return whole;
    }
    let found = Documents::find(input, scope, options);
    let Some(first) = found.first() else {
        return if channel && is_convincing(input, &whole, scope) {
            whole
        } else {
            Mended::new(Outcome::None, None, Repairs::new(), None)
        };
    };
    let start = document_start(input, &whole);
    // Only a channel of JSON has comments before the document.
    let begins = first == start || channel && first < start;
    // A text that begins with its only document needs no other reading.
    let alone = found.is_alone()
        && whole.text().is_some()
        && !drops_lead(input, &whole)
        && !joins_labels(input, &whole, false);
    // The last of several documents is not what begins the text.
    let last = scope == Scope::Last && found.len() > 1;
    if begins && !misread && !last && (is_settled(input, &whole) || alone) {
        return whole;
    }
    found.choose(input, scope, options)
}

/// Whether the text begins with a brace and a quoted key.
fn begins_as_object(input: &[u8]) -> bool {
    let text = input.trim_ascii_start();
    let key = text.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    matches!(key.first(), Some(b'"' | b'\''))
}

/// Whether the reading is of a document in quotes whose own quotes are escaped, which no document of
/// a text is.
fn is_escaped_document(input: &[u8], whole: &Mended) -> bool {
    let quoted = input.trim_ascii_start().starts_with(b"\\\"");
    let lead = || whole.repairs().iter().next().and_then(|repair| input.get(..repair.end()));
    let begins = if drops_lead(input, whole) {
        (quoted || whole.repairs().contains(RepairKind::EscapedDocument))
            && lead().is_some_and(|lead| lead.ends_with(b"\""))
    } else {
        quoted
    };
    begins && whole.text().is_some()
}

/// Whether text before the document was dropped.
fn drops_lead(input: &[u8], whole: &Mended) -> bool {
    let start = document_start(input, whole);
    let before = |repair: &Repair| repair.start() <= start && start < repair.end();
    whole.repairs().iter().find(before).is_some_and(|repair| {
        matches!(
            repair.kind(),
            RepairKind::InlineProse | RepairKind::LeadingProse | RepairKind::StrayText
        )
    })
}

/// Whether a document in backticks, or in three quotes as Python writes a text of several lines, was
/// read as one string.
fn is_code_span(input: &[u8], whole: &Mended) -> bool {
    let text = input.trim_ascii_start();
    let span = [b"`".as_slice(), b"\"\"\"", b"'''"].into_iter();
    let span = span.filter_map(|quote| text.strip_prefix(quote)).next().unwrap_or_default();
    matches!(span.trim_ascii_start().first(), Some(b'{' | b'['))
        && whole.text().is_some_and(|text| text.trim_start().starts_with('"'))
}

/// Whether a label around a document, like `[TOOL_CALLS]`, was made an item of an array with it. If
/// `words` is false, `[1]` is a label as well.
fn joins_labels(input: &[u8], whole: &Mended, words: bool) -> bool {
    let starts = |kind: RepairKind| {
        let of_kind = whole.repairs().iter().filter(move |repair| repair.kind() == kind);
        of_kind.map(|repair| repair.start()).collect::<Vec<usize>>()
    };
    if !whole.repairs().contains(RepairKind::LineDelimited) {
        return false;
    }
    let ends = starts(RepairKind::LineDelimited);
    let unquoted = if words { starts(RepairKind::UnquotedString) } else { Vec::new() };
    // A label contains no quotes or brackets.
    let is_label = |from: usize, to: usize| {
        let item = input.get(from..to).unwrap_or_default().trim_ascii();
        let inside = item.strip_prefix(b"[").and_then(|item| item.strip_suffix(b"]"));
        let first = unquoted.partition_point(|start| *start < from);
        inside.is_some_and(|inside| !inside.iter().any(|byte| b"\"'{}[],".contains(byte)))
            && (!words || unquoted.get(first).is_some_and(|start| *start < to))
    };
    let items = ends.len().saturating_sub(1);
    let labels = ends.windows(2).filter(|ends| is_label(ends[0], ends[1])).count();
    (1..items).contains(&labels)
}

/// Whether a reading of the whole text dropped only fences around the document.
fn is_settled(input: &[u8], whole: &Mended) -> bool {
    const AROUND: &[RepairKind] = &[
        RepairKind::InlineProse,
        RepairKind::LeadingProse,
        RepairKind::TrailingProse,
        RepairKind::SecondDocument,
    ];
    !matches!(whole.outcome(), Outcome::None | Outcome::Invalid)
        && !AROUND.iter().any(|kind| whole.repairs().contains(*kind))
        && !drops_lead(input, whole)
}

/// Where the document of a reading of the whole text begins: after white space, and after fences,
/// comments, stray signs and other documents that were dropped. If prose comes before it, at the start
/// of the text.
fn document_start(input: &[u8], whole: &Mended) -> usize {
    let mut start = 0;
    let space = |from: usize| {
        let rest = input.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_ascii_start().len()
    };
    for repair in whole.repairs() {
        let around = matches!(
            repair.kind(),
            RepairKind::ByteOrderMark
                | RepairKind::CodeFence
                | RepairKind::Comment
                | RepairKind::ExtraClose
                | RepairKind::ExtraColon
                | RepairKind::ExtraComma
                | RepairKind::LineMark
                | RepairKind::OddSpace
                | RepairKind::SecondDocument
        ) || repair.kind() == RepairKind::EscapedDocument && repair.after() == " ";
        if !around || repair.start() > space(start) {
            break;
        }
        start = repair.end();
    }
    space(start)
}

/// Whether to accept a reading of the whole text although the search for documents found none.
fn is_convincing(input: &[u8], whole: &Mended, scope: Scope) -> bool {
    let Some(text) = whole.text() else {
        // It was refused, cut off or too large. That says more than "none" would.
        let first = input.trim_ascii_start().first();
        return scope == Scope::Whole || first.is_some_and(|byte| matches!(byte, b'{' | b'['));
    };
    if drops_lead(input, whole) {
        let text = text.trim();
        // Where JSON is expected, an array among words is not a citation.
        let expected = scope == Scope::Whole && text.len() > 2 && text.starts_with(['{', '[']);
        return expected || ends_with_object(input, text);
    }
    // Brackets alone are empty documents.
    if input.iter().all(|byte| b"{}[] \t\r\n".contains(byte)) {
        return true;
    }
    // `"Hello," she said` and `[docs](x) …` are not JSON.
    const AFTER: &[RepairKind] =
        &[RepairKind::InlineProse, RepairKind::TrailingProse, RepairKind::SecondDocument];
    !AFTER.iter().any(|kind| whole.repairs().contains(*kind))
}

/// Whether the input is words followed by the object `text`, which is then not code or a citation.
fn ends_with_object(input: &[u8], text: &str) -> bool {
    let words = input.trim_ascii_end().strip_suffix(text.as_bytes());
    let is_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || !byte.is_ascii();
    text.starts_with('{') && words.is_some_and(|words| words.iter().all(is_word))
}

// Building the edit script for a whole text.

/// Builds one edit script for the whole text. The text around the documents is deleted, and several
/// documents become the items of an array, or a sequence. `documents` are all documents of the text; `torn`
/// says that one of them was cut off that is no part of the result.
/// Readings come one at a time, because each keeps a text of its own.
fn assemble(
    input: &[u8],
    readings: impl ExactSizeIterator<Item = MendedDocument>,
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
    refused |= !repairs.iter().all(|repair| policy.permits(&repair));
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
        self.torn |= doubt.doubtful && rest.leaves_open(doubt.guessed) && !begins_with_fence(text);
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
        self.torn |= doubt.doubtful && rest.leaves_open(doubt.guessed) && !begins_with_fence(text);
        Some(dropped)
    }

    /// The repair that deletes text around a document: a mark or a fence, prose, or other documents.
    fn dropped(&self, prose: RepairKind, span: Range<usize>) -> Repair {
        let marks = self.input.get(span.clone()).unwrap_or_default().trim_ascii();
        let info = |b: &u8| b.is_ascii_alphanumeric() || b"`~ \n".contains(b);
        // Words after a closing fence do not belong to it.
        let fence = begins_with_fence(marks)
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
fn begins_with_fence(text: &[u8]) -> bool {
    let line = text.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

// A document of a whole text, mended.

/// A document, mended.
struct MendedDocument {
    span: Range<usize>,
    mended: Mended,
    fenced: bool,
    /// The length of the mark before it on its line, if its lines are marked.
    mark: usize,
}

impl MendedDocument {
    /// Mends the document at `span`. The whole-text path may find that the document goes on after
    /// the span that the search has found, but only up to `limit`.
    fn of(input: &[u8], span: Range<usize>, limit: usize, options: &MendOptions) -> Self {
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

    const fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// The length of the mark before it on its line. 0 if its lines are not marked.
    const fn mark(&self) -> usize {
        self.mark
    }

    /// The result of mending. The spans of its repairs count from the start of its own span.
    fn into_mended(self) -> Mended {
        self.mended
    }

    /// Whether the document is in a fence.
    const fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// For comparison: a document that could be mended ranks higher, and so do repairs of lower
    /// risk.
    fn rank(&self) -> (bool, Reverse<Option<Risk>>) {
        let worst = self.mended.repairs().risk();
        (self.mended.outcome().is_valid(), Reverse(worst))
    }
}

/// Where the text from `start` on is without the white space around it.
fn bare(text: &[u8], start: usize) -> Range<usize> {
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
fn swallows_fence(input: &[u8], mended: &Mended) -> bool {
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

// Finding the documents of a whole text.

/// The documents of a text.
struct Documents {
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
    fn find(input: &[u8], scope: Scope, options: &MendOptions) -> Self {
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
    fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is one document, and no other that is ignored.
    fn is_alone(&self) -> bool {
        self.all.len() == 1
    }

    /// Where the first document begins.
    fn first(&self) -> Option<usize> {
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
    fn choose(&self, input: &[u8], scope: Scope, options: &MendOptions) -> Mended {
        let read = |at: usize| {
            let span = self.spans.get(at).cloned()?;
            // A channel of JSON is one document, whatever follows it.
            let limit = if scope == Scope::Whole { input.len() } else { self.limit(at, input) };
            Some(MendedDocument::of(input, span, limit, options))
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
                MendedDocument::of(input, span, self.limit(at, input), options)
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
