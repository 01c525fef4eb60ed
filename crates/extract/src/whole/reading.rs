//! One document of a whole text, mended.

use std::{cmp::Reverse, ops::Range};

use jsonmend_core::{
    Mended, Options, Outcome, Path, Repair, RepairKind, Risk, TrailingDocuments, mend,
};

/// One document, mended.
pub(super) struct Reading {
    span: Range<usize>,
    mended: Mended,
    fenced: bool,
}

impl Reading {
    /// Mends the document at `span`. Where the whole-text rules read on beyond the span that prose
    /// search saw, up to `limit`, they know better.
    pub(super) fn of(input: &[u8], span: Range<usize>, limit: usize, options: &Options) -> Self {
        let options = options.clone().with_trailing_documents(TrailingDocuments::First);
        let fenced = is_fenced(input, span.start);
        let text = input.get(span.start..limit).unwrap_or_default();
        let mended = mend(text, &options);
        if swallows_fence(text, &mended)
            && let Some((mended, length)) = within_fence(text, &options)
        {
            return Self { span: span.start..span.start + length, mended, fenced };
        }
        let (mended, end) = without_tail(mended, text.len());
        let end = if mended.text().is_some() { span.start + end } else { span.end };
        Self { span: span.start..end.max(span.start), mended, fenced }
    }

    pub(super) const fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// Its repairs count from the start of its span.
    pub(super) fn into_mended(self) -> Mended {
        self.mended
    }

    /// Whether it is in a fence.
    pub(super) const fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// Less doubtful repairs rank higher; a document that could not be mended ranks lowest.
    pub(super) fn rank(&self) -> (bool, Reverse<Option<Risk>>) {
        let worst = self.mended.repairs().iter().map(Repair::risk).max();
        (self.mended.outcome().is_valid(), Reverse(worst))
    }
}

/// What was dropped after the document stays outside its span: the rest, and where it ends.
fn without_tail(mended: Mended, length: usize) -> (Mended, usize) {
    let tail = |repair: &Repair| {
        repair.end() == length
            && matches!(
                repair.kind(),
                RepairKind::InlineProse | RepairKind::TrailingProse | RepairKind::SecondDocument
            )
    };
    let Some(end) = mended.repairs().last().filter(|last| tail(last)).map(Repair::start) else {
        return (mended, length);
    };
    let cut_at = mended.cut_at().cloned();
    let (outcome, text, mut repairs) = mended.into_parts();
    repairs.pop();
    let untouched = outcome == Outcome::Repaired && repairs.is_empty();
    let outcome = if untouched { Outcome::Unchanged } else { outcome };
    (Mended::new(outcome, text, repairs, cut_at), end)
}

/// Whether a line that opens a fence is directly before `start`.
pub(super) fn is_fenced(input: &[u8], start: usize) -> bool {
    /// How far back is looked, in bytes: no line that opens a fence is longer, and lines may be.
    const LONGEST: usize = 128;
    let before = input.get(start.saturating_sub(LONGEST)..start).unwrap_or_default();
    let before = before.trim_ascii_end();
    let line = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line = before.get(line..).unwrap_or_default().trim_ascii();
    line.starts_with(b"```") || line.starts_with(b"~~~") || line.ends_with(b"```json")
}

/// Whether a string that was never closed took the closing fence for content.
pub(super) fn swallows_fence(input: &[u8], mended: &Mended) -> bool {
    let open = |repair: &Repair| repair.kind() == RepairKind::UnterminatedString;
    mended.outcome() == Outcome::Closed
        && closing_fence(input).is_some()
        && mended.repairs().iter().rev().take(2).any(open)
}

/// Where the fence at the end of `text` begins that closes what is before it.
fn closing_fence(text: &[u8]) -> Option<usize> {
    let text = text.trim_ascii_end();
    let marks = text.iter().rev().take_while(|byte| **byte == b'`').count();
    (marks >= 3).then_some(text.len() - marks)
}

/// Mends what is before the closing fence; also returns how long that is.
///
/// The fence says that nothing was cut off: closers before it close what they look like, and are
/// not content of the string that is open.
fn within_fence(text: &[u8], options: &Options) -> Option<(Mended, usize)> {
    let length = closing_fence(text)?;
    let inside = text.get(..length)?;
    let closed = close_string(inside, options);
    Some((closed.unwrap_or_else(|| mend(inside, options)), length))
}

/// `{"a": "b}`, with nothing cut off: puts the quote before the closers at the end.
fn close_string(text: &[u8], options: &Options) -> Option<Mended> {
    let kind = RepairKind::UnterminatedString;
    let closers =
        text.iter().rev().take_while(|b| b.is_ascii_whitespace() || b"}]".contains(b)).count();
    let at = text.len() - closers;
    let (head, tail) = text.split_at_checked(at)?;
    if tail.trim_ascii().is_empty() || !options.policy().allows(kind) {
        return None;
    }
    let mended = mend(&[head, b"\"", tail].concat(), options);
    let apart = |repair: &Repair| repair.end() <= at || repair.start() > at;
    if !mended.outcome().is_complete() || !mended.repairs().iter().all(apart) {
        return None;
    }
    let (_, output, mut repairs) = mended.into_parts();
    // Offsets after the quote count one too many.
    let index = repairs.partition_point(|repair| repair.end() <= at);
    for repair in repairs.iter_mut().skip(index) {
        *repair = repair.clone().with_span(repair.start() - 1..repair.end() - 1);
    }
    repairs.insert(index, Repair::new(kind, at..at, "\"", Path::default()));
    Some(Mended::new(Outcome::Repaired, output, repairs, None))
}
