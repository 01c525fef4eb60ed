//! The laws of the reader of segments: L1, L5 and L8.

use std::ops::Range;

use wiremend_extract::{
    CallExtractor, Segment, SegmentEvent, SegmentReader, SegmentSink, Segments,
};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
};

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
