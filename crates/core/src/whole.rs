//! The whole-text path: the engine without emitting anything early, and the readings that need the
//! whole text.

mod reading;

use alloc::vec::Vec;

use crate::{
    MendOptions, Mended, Outcome, Policy, Repair, Repairs, TrailingDocuments,
    engine::{Engine, Part, Stop},
    mender::cut_lines,
    prose::Marks,
    signs::solid,
    unwrap::{Gate, Seen, Wrapper, unwrapped, wrapped},
};
use reading::Reading;

/// Mends a whole text, with the same rules as [`Mender`](crate::Mender). Because nothing is emitted
/// early, a repair may also change text far before the place where the need for it was found.
///
/// Memory: the text, the result, and at most twice the text while it is read; see
/// [`Limits::with_report`](crate::Limits::with_report).
#[must_use]
pub fn mend(input: &[u8], options: &MendOptions) -> Mended {
    mend_counting(input, options, false).0
}

/// Like [`mend`], for a text whose first byte is known to begin a document: it is not asked whether
/// that is prose.
///
/// ```
/// use wiremend_core::{MendOptions, mend, mend_document};
/// let options = MendOptions::new();
/// assert_eq!(mend(b"[x] done", &options).text(), None);
/// assert_eq!(mend_document(b"[x] done", &options).text(), Some(r#"["x"]"#));
/// ```
#[must_use]
pub fn mend_document(input: &[u8], options: &MendOptions) -> Mended {
    mend_counting(input, options, true).0
}

/// Like [`mend_document`], for a document whose lines are marked, after the first mark.
///
/// ```
/// use wiremend_core::{MendOptions, mend_marked, prose::Marks};
/// let input = b"I meant:\n> {\n>   \"a\": 1\n> }";
/// let marks = Marks::before(input, 11, 64).unwrap();
/// let mended = mend_marked(&input[11..], marks, &MendOptions::new());
/// assert_eq!(mended.text(), Some("{\n  \"a\": 1\n}"));
/// ```
#[must_use]
pub fn mend_marked(input: &[u8], marks: Marks, options: &MendOptions) -> Mended {
    let wrapper = Wrapper::Lines { marks, within: true };
    mend_wrapped(input, 0, wrapper, options, true).0
}

/// How many steps [`mend`] takes, for tests of linearity.
#[cfg(feature = "coverage")]
#[must_use]
pub fn steps(input: &[u8], options: &MendOptions) -> u64 {
    mend_counting(input, options, false).1
}

/// The result, and how many steps that took.
fn mend_counting(input: &[u8], options: &MendOptions, begun: bool) -> (Mended, u64) {
    let mut gate = if begun { Gate::DOCUMENT } else { Gate::START };
    match gate.watch(input, options, true) {
        Seen::Wrapped(at, wrapper) => mend_wrapped(input, at, wrapper, options, begun),
        Seen::Clear | Seen::Open(_) => mend_plain(input, options, begun),
    }
}

/// Mends a text from which a wrapper is taken off first, which begins at `at`.
fn mend_wrapped(
    input: &[u8],
    at: usize,
    wrapper: Wrapper,
    options: &MendOptions,
    begun: bool,
) -> (Mended, u64) {
    if !options.policy().allows(wrapper.kind()) {
        let refused = core::iter::once(Repair::new(wrapper.kind(), at..at, ""));
        return (Mended::new(Outcome::Invalid, None, refused.collect(), None), 0);
    }
    let inner = unwrapped(input, at, wrapper);
    let (mended, steps) = mend_plain(&inner, options, begun);
    (wrapped(input, at, wrapper, mended), steps + 2 * input.len() as u64)
}

/// The result for a text that is in no wrapper, and how many steps the engine took for all readings.
fn mend_plain(input: &[u8], options: &MendOptions, begun: bool) -> (Mended, u64) {
    let begin = |mut engine: Engine| {
        if begun {
            engine.begin_document();
        }
        engine
    };
    // Valid JSON gets no other reading, however unusual it is. Neither does the beginning of valid
    // JSON, because a reading that closes it would make a text that was cut off look complete.
    let strict = options.clone().with_policy(Policy::STRICT);
    let mut engine = begin(Engine::streaming(strict));
    engine.bound_documents(input.len());
    // A line end after the text does not make it anything else.
    let end = engine.run(Part::new(solid(input), 0, true));
    let mut steps = engine.steps();
    match end {
        Ok(()) if engine.outcome(0) == Outcome::Unchanged && engine.documents() == 1 => {
            if let Ok(text) = core::str::from_utf8(input) {
                let repairs = Repairs::new();
                let mended = Mended::new(Outcome::Unchanged, Some(text.into()), repairs, None);
                return (mended, steps);
            }
        }
        Err(Stop::Cut) => {
            if let Some(reading) = Reading::of_lost_quote(&engine, options, input) {
                return (reading.finish(input, options), steps + input.len() as u64);
            }
            let engine = begin(Engine::streaming(options.clone()));
            let all = options.trailing_documents() == TrailingDocuments::All;
            let (cuts, work) = if all { cut_lines(input, options) } else { (Vec::new(), 0) };
            let reading = Reading::new().by_pieces(engine, input, &cuts);
            steps += reading.steps + work;
            return (reading.finish(input, options), steps);
        }
        Ok(()) | Err(Stop::Crowded | Stop::Nothing | Stop::Overflow | Stop::Refused) => {}
    }
    drop(engine);
    // A text that is nothing but a dialect of JSON gets no other reading either.
    match Reading::in_dialect(options, input) {
        Ok(reading) => {
            steps += reading.steps;
            return (reading.finish(input, options), steps);
        }
        Err(wasted) => steps += wasted,
    }
    let mut read = |cuts: &[usize]| {
        let reading = match Reading::whole(begin(Engine::whole(options.clone())), input, cuts) {
            Ok(reading) => reading,
            Err(wasted) => {
                steps += wasted;
                let mut engine = begin(Engine::streaming(options.clone()));
                engine.keep_documents(input.len());
                Reading::new().by_pieces(engine, input, cuts)
            }
        };
        steps += reading.steps;
        reading
    };
    let mut reading = read(&[]);
    // Where each line is a document, one that is broken may have taken others with it.
    if reading.is_repaired() && input.windows(2).any(|line| matches!(line, b"\n{" | b"\n[")) {
        let (cuts, work) = cut_lines(input, options);
        if !cuts.is_empty() {
            reading = read(&cuts);
        }
        steps += work;
    }
    match reading.outer_braces_lost(input, options) {
        Some(better) => {
            steps += better.steps;
            (better.finish(input, options), steps)
        }
        None => (reading.finish(input, options), steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn the_array_around_several_documents_is_a_level() {
        let options = |depth| {
            let limits = Limits::default().with_depth(depth);
            MendOptions::new().with_limits(limits).with_trailing_documents(TrailingDocuments::Array)
        };
        let input = b"[[1]]\n[2]";
        assert_eq!(mend(input, &options(3)).text(), Some("[[[1]],\n[2]]"));
        assert_eq!(mend(input, &options(2)).outcome(), Outcome::Overflow);
    }

    #[test]
    fn a_member_may_lead_the_document_after_a_string_that_turned_out_to_be_text() {
        // The string ends after the place where the document begins.
        for (input, text) in [
            ("'```json\n\"a\": ['b", r#"{"a": ["b"]}"#),
            ("\"Yes, [\"\n```json\n\"a\": \"b", r#"{"a": "b"}"#),
        ] {
            let mended = mend(input.as_bytes(), &MendOptions::new());
            assert_eq!(mended.text(), Some(text), "{input}");
            assert!(!mended.outcome().is_complete(), "{input}");
        }
    }

    #[test]
    fn the_refused_repair_is_reported_once() {
        let options = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        for input in [&br#"{"t": "if "a" {", "n": 1}"#[..], b"[1, NaN]", b"{'a': [\"x\", ...]}"] {
            let mended = mend(input, &options);
            assert_eq!(mended.outcome(), Outcome::Invalid);
            let kinds = |repair: &Repair| !Policy::CONSERVATIVE.allows(repair.kind);
            assert_eq!(mended.repairs().iter().filter(kinds).count(), 1, "{:?}", mended.repairs());
        }
    }
}
