//! The laws of the extractor: L1, L2, L4, L5, L7, L8 and L9 for text with JSON somewhere in it.

use std::ops::Range;

use wiremend_core::{
    MendOptions, Mended, Outcome, Policy, Repair, RepairKind, Repairs, TrailingDocuments, apply,
    mend_document, mend_marked, prose::Marks,
};
use wiremend_extract::{
    CallExtractor, Finder, Scope, Segment, SegmentEvent, SegmentReader, SegmentSink, Segments, find,
};

use super::{Check, Law, Shown, Violation, push::offsets};
use crate::{
    Seed,
    cuts::{self, Cut},
    extracted::{Document, Extraction, Found, Part},
    oracle,
};

/// Checks the extractor and [`find`] on `input`: split invariance, valid documents, an edit
/// script, nothing lost, idempotence, and the same end when asked again.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_laws(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let cuts = if input.len() <= 300 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    text_laws_at(input, scope, options, &cuts)?;
    let mut heads = offsets(input.len()).map(|at| input.get(..at).unwrap_or_default());
    heads.try_for_each(|head| text_abandoned(head, scope, options))
}

/// [`text_laws`], with split invariance at the given cuts, and without giving up.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_laws_at(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
    cuts: &[Cut],
) -> Result<(), Violation> {
    let bytes = Extraction::new(input, &Cut::bytes(input.len()), scope, options);
    split_invariance(input, scope, options, cuts, &bytes)?;
    valid_documents(input, &bytes)?;
    valid_so_far(input, &bytes)?;
    nothing_lost(input, scope, &bytes)?;
    same_end(input, scope, options)?;
    whole_text(input, scope, options)
}

fn split_invariance(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
    cuts: &[Cut],
    bytes: &Extraction,
) -> Result<(), Violation> {
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts {
        let run = Extraction::new(input, cut, scope, options);
        let at =
            || format!("{scope:?} cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(run.found() == bytes.found() && run.outcome() == bytes.outcome(), || {
            format!(
                "{}: {:?} {:?} instead of {:?} {:?}",
                at(),
                run.outcome(),
                run.found(),
                bytes.outcome(),
                bytes.found()
            )
        })?;
        for progress in run.progress() {
            let Some(same) = progress.offset.checked_sub(1).and_then(|k| bytes.progress().get(k))
            else {
                continue;
            };
            check.same(&format!("after byte {}, {}", progress.offset, at()), progress, same)?;
        }
    }
    Ok(())
}

fn valid_documents(input: &[u8], run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::AlwaysValid, input);
    check.same("calls about a document where none is open", &run.found().strays(), &0)?;
    let mut last = None;
    for document in run.found().documents() {
        let Some(outcome) = document.outcome else {
            return check.that(false, || format!("{document:?} never ended"));
        };
        let json = Shown(&document.json);
        check.that(!outcome.is_valid() || oracle::is_json(&document.json), || {
            format!("a document, {outcome}: {json}")
        })?;
        last = Some(outcome);
    }
    let outcome = run.outcome();
    check.that(last.is_some() || !outcome.is_valid(), || format!("{outcome}, with no document"))
}

/// L2: at every byte, the document that is open is valid JSON with its completion.
fn valid_so_far(input: &[u8], run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::AlwaysValid, input);
    for progress in run.progress() {
        let Some(completion) = &progress.completion else { continue };
        let begun: Vec<_> = run.found().documents().take(progress.documents).collect();
        let Some((open, before)) = begun.split_last() else { continue };
        let earlier: usize = before.iter().map(|document| document.json.len()).sum();
        let open = open.json.get(..progress.json - earlier).unwrap_or_default();
        let text = [open, completion.as_bytes()].concat();
        check.that(oracle::is_json(&text), || {
            let (open, closed) = (Shown(open), Shown(completion.as_bytes()));
            format!("{open} completed by {closed} after byte {}", progress.offset)
        })?;
    }
    Ok(())
}

/// L8: nothing is lost, and nothing stays open, if the extractor is abandoned after `input`.
///
/// # Errors
/// What was lost, or the document that did not end.
pub fn text_abandoned(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let run = Extraction::abandoned(input, scope, options);
    check.same("the outcome of abandon", &run.outcome(), &Outcome::Abandoned)?;
    let open = run.found().documents().find(|document| document.outcome.is_none());
    check.that(open.is_none(), || format!("abandoned, with {open:?}"))?;
    nothing_lost(input, scope, &run)
}

/// L5 and L8: text, reasoning and the sources of the documents are the input, divided into pieces; the
/// repairs of a document turn its piece into its text, and those of a single document the whole
/// input.
fn nothing_lost(input: &[u8], scope: Scope, run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let parts = run.found().parts();
    let mut at = 0;
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(bytes) | Part::Reasoning(bytes) => {
                let source = input.get(at..at + bytes.len()).unwrap_or_default();
                check.same_text(&format!("the text at byte {at}"), bytes, source)?;
                at += bytes.len();
            }
            Part::Document(document) => {
                check.same("where a document begins", &document.offset, &at)?;
                at = source_end(input, parts.get(index + 1..).unwrap_or_default());
                let source = input.get(document.offset..at);
                check.that(source.is_some(), || format!("{document:?} ends at byte {at}"))?;
                let inside =
                    |repair: &&Repair| document.offset <= repair.start() && repair.end() <= at;
                let inside = document.repairs.iter().filter(inside).map(|repair| {
                    repair
                        .clone()
                        .with_span(repair.start() - document.offset..repair.end() - document.offset)
                });
                let inside: Vec<Repair> = inside.collect();
                let mended = apply(source.unwrap_or_default(), &inside).unwrap_or_default();
                check.same_text("a document", &document.json, &mended)?;
            }
        }
    }
    check.same("how far the parts reach", &at, &input.len())?;
    let single = !matches!(scope, Scope::All | Scope::Fenced);
    for document in run
        .found()
        .documents()
        .filter(|document| single && document.outcome.is_some_and(Outcome::is_valid))
    {
        let script = Check::new(Law::EditScript, input);
        let mended = apply(input, &document.repairs);
        script.that(mended.is_some(), || format!("no script: {:?}", document.repairs))?;
        script.same_text("the only document", &document.json, &mended.unwrap_or_default())?;
    }
    Ok(())
}

/// Where the source of a document ends: what follows it is text, up to the next document or the end.
fn source_end(input: &[u8], following: &[Part]) -> usize {
    let mut text = 0;
    for part in following {
        match part {
            Part::Text(bytes) | Part::Reasoning(bytes) => text += bytes.len(),
            Part::Document(next) => return next.offset.saturating_sub(text),
        }
    }
    input.len().saturating_sub(text)
}

fn same_end(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NoPanic, input);
    let mut extractor = Finder::new(scope, options.clone());
    let mut found = Found::default();
    extractor.push(input, &mut found);
    check.that(extractor.withheld() <= input.len(), || "more withheld than pushed".to_owned())?;
    let outcome = extractor.finish(&mut found);
    check.same("withheld after the end", &extractor.withheld(), &0)?;
    extractor.push(input, &mut found);
    extractor.push(b"", &mut found);
    check.same("a settled outcome", &extractor.finish(&mut found), &outcome)
}

fn whole_text(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::EditScript, input);
    let mended = find(input, scope, options);
    check.same("text and outcome", &mended.text().is_some(), &mended.outcome().is_valid())?;
    let Some(text) = mended.text() else { return Ok(()) };
    let applied = apply(input, mended.repairs());
    check.that(applied.is_some(), || format!("no script: {:?}", mended.repairs()))?;
    check.same_text("find", &applied.unwrap_or_default(), text.as_bytes())?;
    let valid = match scope {
        Scope::All => oracle::are_documents(text.as_bytes()),
        _ => oracle::is_json(text.as_bytes()) || oracle::are_documents(text.as_bytes()),
    };
    check.that(valid, || format!("find gives {text:?}"))?;
    let check = Check::new(Law::Idempotence, input);
    let again = find(text.as_bytes(), Scope::Whole, options);
    if oracle::is_json(text.as_bytes()) {
        check.same("find, again", &again.outcome(), &Outcome::Unchanged)?;
        check.same("find, again", &again.repairs(), &&Repairs::new())?;
    }
    Ok(())
}

/// Text without JSON: it is emitted unchanged, as text, and no document is found in it.
///
/// # Errors
/// What was found or changed.
pub fn untouched(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Identity, input);
    for cut in [Cut::whole(), Cut::bytes(input.len()), Cut::every(3, input.len())] {
        let run = Extraction::new(input, &cut, scope, options);
        check.same("Finder", &run.outcome(), &Outcome::None)?;
        check.that(run.found().documents().next().is_none(), || format!("{:?}", run.found()))?;
        check.same_text("Finder", &run.found().text(), input)?;
    }
    let mended = find(input, scope, options);
    check.same("find", &mended.outcome(), &Outcome::None)?;
    check.same("find", &mended.text(), &None)
}

// L11 for text with JSON somewhere in it: the extractor and the whole text find the same documents.

/// L11 between [`Finder`](wiremend_extract::Finder), in any pieces, and [`find`]: what is
/// text for one is text for the other, and a document reads the same, except for
/// [the list](https://github.com/wiremend/wiremend/blob/main/docs/repairs.md#whole-text-only). Each
/// exception is recognized by what the whole text made of the input:
///
/// * all of it is valid JSON, which is never changed, however many brackets it begins with;
/// * the braces around all of it were lost, so that a brace was added;
/// * a scalar, alone but for fences, comments and stray punctuation, or in backticks;
/// * an empty document is ignored if another one is not;
/// * a bracket before the document was taken for stray text, where a stream has begun there;
/// * the document needs a repair that only whole texts allow: [`mend_document`], which has all of it,
///   reads it differently from a [`Mender`](wiremend_core::Mender);
/// * a closing fence ends a string that was left open;
/// * a string begins the text and is open for longer than the buffer, for which a stream does not wait;
/// * a bracket before the document was never closed, so that the document is part of something cut off.
///
/// # Errors
/// The difference.
pub fn text_agreement(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Agreement, input);
    let options = &options.clone().with_trailing_documents(TrailingDocuments::First);
    let whole = find(input, scope, options);
    if matches!(scope, Scope::All | Scope::Fenced) && whole.outcome() != Outcome::Unchanged {
        let run = Extraction::new(input, &Cut::every(3, input.len()), scope, options);
        let found: Vec<&Document> = run.found().documents().collect();
        if found.len() > 1 {
            return joins(check, &whole, &found);
        }
    }
    for cut in [Cut::whole(), Cut::every(3, input.len())] {
        agrees(check, &whole, scope, options, &cut)?;
    }
    Ok(())
}

/// All documents are the items of an array. Those that need no repair are compared.
fn joins(check: Check<'_>, whole: &Mended, found: &[&Document]) -> Result<(), Violation> {
    let solid = |text: &[u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    let plain = |one: &&Document| {
        one.outcome == Some(Outcome::Unchanged) && one.json.iter().any(u8::is_ascii_alphanumeric)
    };
    // Otherwise, the whole text has read on behind a document.
    let around = |repair: Repair| {
        use RepairKind::{
            CodeFence, ExtraComma, InlineProse, LeadingProse, LineDelimited, TrailingProse,
        };
        let kinds =
            [CodeFence, ExtraComma, InlineProse, LeadingProse, LineDelimited, TrailingProse];
        kinds.contains(&repair.kind())
    };
    let same = found.iter().all(plain) && whole.repairs().iter().all(around);
    let Some(text) = whole.text().filter(|_| same) else { return Ok(()) };
    let items: Vec<Vec<u8>> = found.iter().map(|one| solid(&one.json)).collect();
    let want = [b"[".as_slice(), &items.join(&b','), b"]"].concat();
    check.same_text("all documents", &solid(text.as_bytes()), &want)
}

fn agrees(
    check: Check<'_>,
    whole: &Mended,
    scope: Scope,
    options: &MendOptions,
    cut: &Cut,
) -> Result<(), Violation> {
    let input = check.input;
    let found = candidates(input, scope, options, cut);
    let about = |what: &str| {
        let (outcome, text, repairs) = (whole.outcome(), whole.text(), whole.repairs());
        format!("{scope:?}, {what}: find {outcome} {text:?} {repairs:?}; found {found:?}")
    };
    let Some(text) = whole.text() else {
        let allowed =
            options.policy() == Policy::PERMISSIVE && whole.outcome() != Outcome::Overflow;
        // In a text that may be anything, only what is one wherever it is counts.
        let sure = if scope == Scope::Best { Scope::All } else { scope };
        let sure = candidates(input, sure, options, cut);
        // A string that is longer than the buffer is a document, whatever follows it.
        let buffer = options.limits().buffer();
        let missed = sure.iter().any(|document| {
            document.outcome.is_some_and(Outcome::is_valid)
                && !is_open_for(input, document.offset, buffer)
        });
        return check.that(!allowed || !missed, || about("a document is text"));
    };
    if is_exempt(text, whole) || whole.outcome() == Outcome::Unchanged {
        return Ok(());
    }
    // A line whose end is out of sight may be another document for a stream only.
    let window = options.limits().lookahead();
    let long =
        |line: &[u8]| line.len() >= window && line.starts_with(b"{") | line.starts_with(b"[");
    if input.split(|byte| *byte == b'\n').skip(1).any(long) {
        return Ok(());
    }
    let start = start_of(input, 0, whole.repairs().iter());
    let same = found.iter().find(|document| {
        start_of(input, document.offset, document.repairs.iter().cloned()) == start
    });
    let brackets = |document: &Document| document.json.iter().all(|b| b"{}[] \t\r\n".contains(b));
    let empty = found.first().is_some_and(brackets);
    let Some(document) = same else {
        let skipped = scope != Scope::Best && empty;
        // Brackets before the document that seem never to be closed are stray text for the whole text, or
        // the document was begun again.
        let stray = |repair: Repair| {
            let kinds = [RepairKind::StrayText, RepairKind::DuplicateOpen];
            kinds.contains(&repair.kind()) && repair.start() < start
        };
        let outside = found.iter().any(|document| document.offset < start)
            && whole.repairs().iter().any(stray);
        let buffer = options.limits().buffer();
        let long = found.first().is_some_and(|first| is_open_for(input, first.offset, buffer));
        return check.that(skipped || outside || long, || {
            about(&format!("nothing begins at byte {start}"))
        });
    };
    // Where others may follow, the whole text may read it up to the next one.
    let next = match scope {
        Scope::Whole => None,
        _ => candidates(input, Scope::Best, options, cut)
            .iter()
            .map(|other| other.offset)
            .filter(|offset| *offset > start)
            .min(),
    };
    let permissive = options.clone().with_policy(Policy::PERMISSIVE);
    let json = document.json.trim_ascii();
    let complete = document.outcome.is_some_and(Outcome::is_complete);
    let marked = document.repairs.iter().any(|repair| repair.kind() == RepairKind::LineMark);
    let marks = marked.then(|| Marks::before(input, start, window)).flatten();
    let own = [input.len(), next.unwrap_or(input.len())].iter().all(|end| {
        let text = input.get(start..*end).unwrap_or_default();
        let all = match marks {
            Some(marks) => mend_marked(text, marks, &permissive),
            None => mend_document(text, &permissive),
        };
        all.text().is_some_and(|all| all.as_bytes().trim_ascii() == json)
            && all.outcome().is_complete() == complete
    });
    let fence = input.trim_ascii_end().ends_with(b"```");
    if !own || fence || !document.outcome.is_some_and(Outcome::is_valid) {
        return Ok(());
    }
    check.that(text.as_bytes().trim_ascii() == json, || about("another text"))?;
    // Whether the text around the document belongs to it, and is never closed, is reported only where
    // one document is wanted.
    let around = |repair: &Repair| {
        repair.end() <= start || repair.end() == input.len() && repair.start() > start
    };
    let guessed = document.repairs.iter().any(|repair| repair.kind().doubts_end());
    let part = |kind| matches!(kind, RepairKind::SecondDocument | RepairKind::StrayText);
    let stray = |repair: Repair| around(&repair) && (part(repair.kind()) || guessed);
    let torn = whole.outcome() == Outcome::Closed && whole.repairs().iter().any(stray);
    check.that(torn || complete == whole.outcome().is_complete(), || about("another end"))
}

/// The documents that the extractor finds, of which the whole text may take one.
fn candidates(input: &[u8], scope: Scope, options: &MendOptions, cut: &Cut) -> Vec<Document> {
    let options = options.clone().with_policy(Policy::PERMISSIVE);
    let find = |scope: Scope| -> Vec<Document> {
        Extraction::new(input, cut, scope, &options).found().documents().cloned().collect()
    };
    match scope {
        // A text that is JSON from its first byte on, or the best document in it.
        Scope::Best => [find(Scope::Whole), find(Scope::All)].concat(),
        Scope::Last => find(Scope::All).split_off(find(Scope::All).len().saturating_sub(1)),
        Scope::All => find(Scope::First),
        Scope::Fenced => find(Scope::Fenced),
        _ => find(scope),
    }
}

/// Whether a string begins at `offset` that is still open after the first `buffer` bytes of the input.
fn is_open_for(input: &[u8], offset: usize, buffer: usize) -> bool {
    let Some([b'"', string @ ..]) = input.get(offset..buffer.max(offset)) else { return false };
    let mut escaped = false;
    input.len() > buffer
        && string.iter().all(|&byte| {
            let inside = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            inside
        })
}

/// Whether the whole text found something that only whole texts show.
fn is_exempt(text: &str, whole: &Mended) -> bool {
    let scalar = !text.trim_start().starts_with(['{', '[']);
    let braces = |repair: Repair| repair.kind() == RepairKind::MissingOpen;
    scalar || whole.repairs().iter().any(braces)
}

/// The first byte at or after `at` that is neither white space nor deleted.
fn start_of(input: &[u8], at: usize, repairs: impl Iterator<Item = Repair>) -> usize {
    let space = |from: usize| {
        let rest = input.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_ascii_start().len()
    };
    let mut at = space(at);
    for repair in repairs {
        if repair.start() > at {
            break;
        }
        // Of one value in parentheses, with a name or not, they are where it begins.
        let parens = matches!(repair.kind(), RepairKind::Tuple | RepairKind::CallWrapper);
        let dropped = repair.after().trim().is_empty() && !parens;
        if dropped && repair.end() > at {
            at = space(repair.end());
        }
    }
    at
}

// The laws of the reader of segments: L1, L5 and L8.

/// How many prefixes of an input are read.
const LONGEST_PREFIX: usize = 160;

/// What a reader of segments emits, and what it says that it emits.
#[derive(Clone, Debug, Default)]
struct Trace {
    found: Segments,
    /// How much of the input is in spans.
    covered: usize,
    /// The first span that does not follow the last, or that has another length than its source.
    stray: Option<String>,
    /// Whether a document is open.
    in_payload: bool,
    source: Vec<u8>,
    /// Where the documents are, of which the source is not emitted.
    payloads: Vec<Range<usize>>,
}

impl SegmentSink for Trace {
    fn event(&mut self, event: SegmentEvent<'_>) {
        match &event {
            SegmentEvent::Text(span, bytes)
            | SegmentEvent::Reasoning(span, bytes)
            | SegmentEvent::Markup(span, bytes)
            | SegmentEvent::Raw(span, bytes) => {
                if span.start != self.covered || span.len() != bytes.len() {
                    self.stray.get_or_insert_with(|| format!("{event:?} at {}", self.covered));
                }
                self.covered = span.end;
                self.source.extend_from_slice(bytes);
            }
            SegmentEvent::PayloadBegan(offset) => {
                if *offset != self.covered {
                    self.stray.get_or_insert_with(|| format!("{event:?} at {}", self.covered));
                }
                self.in_payload = true;
            }
            SegmentEvent::PayloadEnded(span, _) => {
                if span.start != self.covered {
                    self.stray.get_or_insert_with(|| format!("{event:?} at {}", self.covered));
                }
                self.in_payload = false;
                self.covered = span.end;
                self.source.resize(span.end, 0);
                self.payloads.push(span.clone());
            }
            _ => {}
        }
        self.found.event(event);
    }
}

fn read<'p>(reader: &SegmentReader, pieces: impl IntoIterator<Item = &'p [u8]>) -> Trace {
    let (mut reader, mut trace) = (reader.clone(), Trace::default());
    for piece in pieces {
        reader.push(piece, &mut trace);
    }
    reader.finish_at_eos(&mut trace);
    trace
}

/// Checks a reader of segments on `input`: their spans give the input back, no cut makes a difference, the
/// repairs of a document turn its source into its JSON, and a reset gives back what was not decided.
///
/// # Errors
/// The first law that `input` breaks.
pub fn segments(input: &[u8], calls: &CallExtractor) -> Result<(), Violation> {
    let reader = &SegmentReader::new(calls.clone());
    let mut whole = read(reader, [input]);
    for span in whole.payloads.clone() {
        if let (Some(kept), Some(own)) = (whole.source.get_mut(span.clone()), input.get(span)) {
            kept.copy_from_slice(own);
        }
    }
    let check = Check::new(Law::NothingLost, input);
    check.that(whole.stray.is_none(), || format!("a stray span: {:?}", whole.stray))?;
    check.same("how much is covered", &whole.covered, &input.len())?;
    let mut end = 0;
    for segment in whole.found.iter() {
        let span = segment.span();
        check.same("where a segment begins", &span.start, &end)?;
        end = span.end;
        let Segment::Payload(payload) = segment else {
            check.same_text("a segment", &whole.source[span.clone()], &input[span])?;
            continue;
        };
        if payload.outcome().is_some_and(wiremend_core::Outcome::is_valid) {
            let mut json = Vec::new();
            let mut at = span.start;
            for repair in payload.repairs() {
                json.extend_from_slice(input.get(at..repair.start()).unwrap_or_default());
                json.extend_from_slice(repair.after().as_bytes());
                at = repair.end();
            }
            json.extend_from_slice(input.get(at..span.end).unwrap_or_default());
            Check::new(Law::EditScript, input).same_text("a document", payload.json(), &json)?;
        }
    }
    check.same("where the segments end", &end, &input.len())?;
    let (mut prefix, mut trace) = (reader.clone(), Trace::default());
    for (at, byte) in input.iter().take(LONGEST_PREFIX).enumerate() {
        prefix.push(std::slice::from_ref(byte), &mut trace);
        let (rest, known) = (prefix.clone().reset(), &input[..=at]);
        check.same("what is withheld", &prefix.withheld(), &rest.len())?;
        let covered = trace.covered + rest.len() == known.len() || trace.in_payload;
        let undecided = || format!("{} bytes in spans, and {rest:?} after {at}", trace.covered);
        check.that(covered && known.ends_with(&rest), undecided)?;
    }
    let cuts = if input.len() <= 120 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts.iter().chain([&Cut::bytes(input.len())]) {
        let found = read(reader, cut.chunks(input)).found;
        let at = || format!("cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(found == whole.found, || {
            format!("{}: {found:?} instead of {:?}", at(), whole.found)
        })?;
    }
    Ok(())
}
