//! The whole-text path: several readings of one text, and the choice among them.

use std::ops::Range;

use jsonmend_core::{
    Following, Mended, Options, Outcome, Path, Policy, Repair, RepairKind, Risk, apply, mend,
};

use crate::{Extractor, Parts, Scope};

/// Finds the JSON in a whole text and mends it: one edit script over the whole text, in which the
/// prose, the fences and the reasoning around are deleted.
///
/// The text is read twice: as one document from its first byte to its last, and as prose that holds
/// documents. The first reading wins when nothing needs to be dropped around it; a text in which
/// neither finds JSON is left alone, with [`Outcome::None`].
///
/// ```
/// use jsonmend_core::{Options, Outcome};
/// use jsonmend_extract::{Scope, mend_text};
///
/// let mended = mend_text(b"Here it is: {name: 'Ada'} Enjoy!", Scope::Best, &Options::new());
/// assert_eq!(mended.text(), Some(r#"{"name": "Ada"}"#));
/// let prose = mend_text(b"if (x) { return 1; }", Scope::Best, &Options::new());
/// assert_eq!(prose.outcome(), Outcome::None);
/// ```
#[must_use]
pub fn mend_text(input: &[u8], scope: Scope, options: &Options) -> Mended {
    let whole = (scope != Scope::Fenced).then(|| mend(input, options));
    if let Some(whole) = &whole
        && is_settled(whole)
    {
        return whole.clone();
    }
    // A channel that is JSON is one document, whatever follows it.
    if let (Scope::Whole, Some(whole)) = (scope, &whole)
        && whole.text().is_some()
        && !whole.repairs().iter().any(|repair| repair.kind == RepairKind::LeadingProse)
    {
        return whole.clone();
    }
    let mut found = Documents::find(input, scope, options);
    found.drop_empty(input);
    if found.spans.is_empty() {
        return match whole {
            Some(whole) if stands_for_itself(input, &whole, scope) => whole,
            _ => Mended::new(Outcome::None, None, Vec::new(), None),
        };
    }
    // A text that begins with its document needs no other reading of it.
    if let Some(whole) = whole
        && begins_at_once(input, &whole, &found)
    {
        return whole;
    }
    found.choose(input, scope, options)
}

/// Whether a reading of the whole text dropped nothing but fences around the document.
fn is_settled(whole: &Mended) -> bool {
    whole.outcome() != Outcome::None
        && !whole.repairs().iter().any(|repair| {
            matches!(
                repair.kind,
                RepairKind::LeadingProse
                    | RepairKind::TrailingProse
                    | RepairKind::SecondDocument
                    | RepairKind::LineDelimited
            )
        })
        && whole.outcome() != Outcome::Invalid
}

/// Whether a reading of the whole text, in which prose search found nothing, is to be trusted: its
/// document is a container that holds something, and only words stand around it.
fn stands_for_itself(input: &[u8], whole: &Mended, scope: Scope) -> bool {
    let Some(text) = whole.text() else {
        // Refused, cut or too large: the outcome says more than "none" would.
        return scope == Scope::Whole
            || first_byte(input).is_some_and(|b| matches!(b, b'{' | b'['));
    };
    let text = text.trim();
    let container = text.starts_with(['{', '[']);
    let prose = |kind| whole.repairs().iter().any(|repair| repair.kind == kind);
    if prose(RepairKind::LeadingProse) {
        return container && text.len() > 2 || input.trim_ascii_end().ends_with(text.as_bytes());
    }
    if prose(RepairKind::TrailingProse) || prose(RepairKind::SecondDocument) {
        // `"Hello," she said` and `[docs](x) …` hold no JSON.
        return container && scope == Scope::Whole;
    }
    true
}

fn first_byte(input: &[u8]) -> Option<u8> {
    input.trim_ascii_start().first().copied()
}

/// Whether the whole text begins with the document that prose search found first, and holds
/// nothing better further on.
fn begins_at_once(input: &[u8], whole: &Mended, found: &Documents) -> bool {
    let start = input.len() - input.trim_ascii_start().len();
    let Some(first) = found.spans.first() else { return false };
    let dropped = |kind| whole.repairs().iter().any(|repair| repair.kind == kind);
    whole.text().is_some()
        && first.start <= start
        && found.spans.len() == 1
        && !dropped(RepairKind::LeadingProse)
}

/// The documents of a text.
struct Documents {
    spans: Vec<Range<usize>>,
    /// Where text begins that belongs to no document, while the next one is not known.
    text: usize,
    open: bool,
}

impl Documents {
    fn find(input: &[u8], scope: Scope, options: &Options) -> Self {
        // Where documents stand is asked without policy; what may be done to them comes later.
        let everything = options.with_policy(Policy::PERMISSIVE).with_following(Following::First);
        let scope = if scope == Scope::Fenced { Scope::Fenced } else { Scope::All };
        let mut documents = Self { spans: Vec::new(), text: 0, open: false };
        let mut extractor = Extractor::new(scope, everything);
        extractor.push(input, &mut documents);
        extractor.finish(&mut documents);
        documents.close(input.len());
        documents
    }

    /// The document that was open, if any, ends where the text behind it begins.
    fn close(&mut self, next: usize) {
        if self.open {
            if let Some(last) = self.spans.last_mut() {
                last.end = next.saturating_sub(self.text);
            }
            self.open = false;
        }
        self.text = 0;
    }

    /// `{}` and `[]` beside other documents carry nothing.
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

    /// The document, or the documents, that the text is about.
    fn choose(&self, input: &[u8], scope: Scope, options: &Options) -> Mended {
        let readings: Vec<Reading> = (0..self.spans.len())
            .map(|at| {
                Reading::of(input, self.spans[at].clone(), self.next_start(at, input), options)
            })
            .collect();
        let several = readings.len() > 1
            && options.following() == Following::Array
            && scope == Scope::Best
            && self.belong_together(input);
        if several {
            return assemble(input, &readings, options);
        }
        let best = match scope {
            Scope::Last => readings.last(),
            Scope::Best => readings.iter().max_by_key(|reading| {
                let first = std::cmp::Reverse(reading.span.start);
                (is_fenced(input, reading.span.start), reading.rank(), reading.span.len(), first)
            }),
            Scope::All | Scope::Fenced | Scope::First | Scope::Whole => readings.first(),
        };
        match best {
            Some(best) => assemble(input, std::slice::from_ref(best), options),
            None => Mended::new(Outcome::None, None, Vec::new(), None),
        }
    }

    fn next_start(&self, at: usize, input: &[u8]) -> usize {
        self.spans.get(at + 1).map_or(input.len(), |next| next.start)
    }

    /// Whether nothing but separators and fences stands between the documents, or each has a fence
    /// of its own.
    fn belong_together(&self, input: &[u8]) -> bool {
        let thin = |gap: &[u8]| gap.iter().all(|b| b.is_ascii_whitespace() || b",;`~".contains(b));
        let adjacent = self
            .spans
            .windows(2)
            .all(|pair| input.get(pair[0].end..pair[1].start).is_some_and(thin));
        adjacent || self.spans.iter().all(|span| is_fenced(input, span.start))
    }
}

impl Parts for Documents {
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

/// Whether a line that opens a JSON fence stands directly before `start`.
fn is_fenced(input: &[u8], start: usize) -> bool {
    let before = input.get(..start).unwrap_or_default().trim_ascii_end();
    let line = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line = before.get(line..).unwrap_or_default().trim_ascii();
    line.starts_with(b"```") || line.starts_with(b"~~~") || line.ends_with(b"```json")
}

/// One document, mended.
struct Reading {
    span: Range<usize>,
    mended: Mended,
}

impl Reading {
    /// Mends the document at `span`. Where the whole-text rules read on beyond the span that prose
    /// search saw, up to `limit`, they know better.
    fn of(input: &[u8], span: Range<usize>, limit: usize, options: &Options) -> Self {
        let options = options.with_following(Following::First);
        let text = input.get(span.start..limit).unwrap_or_default();
        let mut mended = mend(text, &options);
        let mut end = limit;
        // What it dropped behind the document stays outside the span.
        let (outcome, output, mut repairs) = mended.clone().into_parts();
        let tail = |repair: &Repair| {
            repair.end == text.len()
                && matches!(repair.kind, RepairKind::TrailingProse | RepairKind::SecondDocument)
        };
        if let Some(last) = repairs.last()
            && tail(last)
        {
            end = span.start + last.start;
            repairs.pop();
            let outcome = if repairs.is_empty() { Outcome::Unchanged } else { outcome };
            mended = Mended::new(outcome, output, repairs, None);
        }
        if mended.text().is_none() {
            end = span.end.max(span.start);
        }
        Self { span: span.start..end, mended }
    }

    /// Less doubtful repairs rank higher; a document that could not be mended ranks lowest.
    fn rank(&self) -> (bool, std::cmp::Reverse<Option<Risk>>) {
        let worst = self.mended.repairs().iter().map(Repair::risk).max();
        (self.mended.outcome().is_valid(), std::cmp::Reverse(worst))
    }
}

/// One edit script over the whole text: what stands around the documents is deleted, and several
/// become the items of an array.
fn assemble(input: &[u8], readings: &[Reading], options: &Options) -> Mended {
    let policy = options.policy();
    let mut repairs: Vec<Repair> = Vec::new();
    let mut outcome = Outcome::Unchanged;
    let mut cut_at = None;
    let several = readings.len() > 1;
    let mut at = 0;
    for (index, reading) in readings.iter().enumerate() {
        let gap = at..reading.span.start;
        let text = input.get(gap.clone()).unwrap_or_default();
        if index == 0 {
            if !text.is_empty() {
                repairs.push(around(RepairKind::LeadingProse, gap, text));
            }
            if several {
                let at = reading.span.start;
                repairs.push(Repair::new(RepairKind::LineDelimited, at..at, "[", Path::default()));
            }
        } else {
            repairs.push(Repair::new(RepairKind::LineDelimited, gap, ",", Path::default()));
        }
        let shifted = |repair: &Repair| repair.clone().shifted(reading.span.start);
        repairs.extend(reading.mended.repairs().iter().map(shifted));
        match reading.mended.outcome() {
            Outcome::Unchanged | Outcome::Repaired => {}
            other => {
                outcome = other;
                cut_at = reading.mended.cut_at().cloned();
            }
        }
        at = reading.span.end;
    }
    if several {
        repairs.push(Repair::new(RepairKind::LineDelimited, at..at, "]", Path::default()));
    }
    let text = input.get(at..).unwrap_or_default();
    if !text.trim_ascii().is_empty() {
        repairs.push(around(RepairKind::TrailingProse, at..input.len(), text));
    }
    if outcome == Outcome::Unchanged && !repairs.is_empty() {
        outcome = Outcome::Repaired;
    }
    if outcome.is_valid() && !repairs.iter().all(|repair| policy.allows(repair.kind)) {
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

/// What was deleted around a document: a fence alone, or words too.
fn around(prose: RepairKind, span: Range<usize>, text: &[u8]) -> Repair {
    let marks = text.trim_ascii();
    let info = |b: &u8| b.is_ascii_alphanumeric() || b"`~ \n".contains(b);
    let fence = (marks.starts_with(b"```") || marks.starts_with(b"~~~"))
        && marks.len() < 24
        && marks.iter().all(info);
    let kind = if fence { RepairKind::CodeFence } else { prose };
    Repair::new(kind, span, "", Path::default())
}
