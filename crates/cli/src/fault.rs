//! Where and why an input could not be repaired, or was cut off.

use std::iter::once;

use serde::Serialize;
use wiremend_core::{
    MendOptions, Mended, Mender, Outcome, Path, Policy, Repair, TrailingDocuments,
};
use wiremend_extract::{Finder, Scope, TextSink, find};

use crate::{
    paint::{BAD, BOLD, Paint},
    position::{Locator, Position, excerpt},
    visible::{Shown, shown},
};

/// The problem with an input, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    message: String,
    byte: usize,
    line: usize,
    column: usize,
    #[serde(skip)]
    end: usize,
}

impl Fault {
    /// The fault of an input that was refused or cut off; `None` if it was valid or repaired.
    pub(crate) fn of(text: &[u8], mended: &Mended, options: &MendOptions) -> Option<Self> {
        Self::ending(text, mended.outcome(), mended.cut_at(), options)
    }

    /// The fault of an input with this outcome. `cut_at` is where it was cut off.
    pub(crate) fn ending(
        text: &[u8],
        outcome: Outcome,
        cut_at: Option<&Path>,
        options: &MendOptions,
    ) -> Option<Self> {
        let path = || cut_at.map(|path| format!(" at {path}")).unwrap_or_default();
        let end = text.len();
        match outcome {
            Outcome::Unchanged | Outcome::Repaired => None,
            Outcome::Closed => {
                Some(Self::at(text, end..end, format!("the input is cut off{}", path())))
            }
            Outcome::Cut => Some(Self::at(
                text,
                end..end,
                format!("the input is cut off{}; the policy forbids closing it", path()),
            )),
            Outcome::None => Some(Self::at(text, 0..0, "no JSON found".to_owned())),
            Outcome::Overflow => {
                let limits = options.limits();
                let depth = format!("{} levels of nesting (--depth)", limits.depth());
                let (start, passed) = match stop(text, options) {
                    Some((start, true)) => (start, depth),
                    Some((start, false)) => {
                        let held = limits.buffer().max(text.len() / 16);
                        (start, format!("{held} bytes held back (--buffer)"))
                    }
                    // Only the whole-text path exceeds a limit, so it is not known which.
                    None => {
                        let most = limits.documents();
                        let joined = format!("{most} short documents (--max-documents)");
                        (end, format!("{depth}, or {joined}"))
                    }
                };
                Some(Self::at(text, start..start, format!("a limit was exceeded: {passed}")))
            }
            _ => Some(Self::refused(text, options)),
        }
    }

    /// The fault of a refused input: the first repair that the policy forbids. The refusal does not
    /// say which it was, so the text is repaired again under a policy that allows everything.
    fn refused(text: &[u8], options: &MendOptions) -> Self {
        let policy = options.policy();
        let needed = find(text, Scope::Best, &options.clone().with_policy(Policy::PERMISSIVE));
        if let Some(repair) = needed.repairs().iter().find(|repair| !policy.allows(repair.kind())) {
            return Self::at(text, repair.start()..repair.end(), reason(&repair, options));
        }
        if options.trailing_documents() == TrailingDocuments::Error {
            let start = needed.repairs().last().map_or(text.len(), |repair| repair.start());
            return Self::at(text, start..start, FOLLOWED.to_owned());
        }
        let start = stop(text, options).map_or(text.len(), |stop| stop.0);
        Self::at(text, start..start, "not valid JSON, and it could not be repaired".to_owned())
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }

    fn at(text: &[u8], span: std::ops::Range<usize>, message: String) -> Self {
        let Position { line, column } = Locator::new(text).at(span.start);
        Self { message, byte: span.start, line, column, end: span.end }
    }

    /// `error: name:1:7: byte 6: message`, an excerpt and carets.
    pub(crate) fn paragraph(&self, paint: Paint, label: &str, name: &str, text: &[u8]) -> Shown {
        let position = Position { line: self.line, column: self.column };
        let [source, carets] = excerpt(text, once(self.byte..self.end), position);
        shown!(
            "{}: {}: byte {}: {}\n{}\n{}",
            paint.paint(BAD, label),
            paint.paint(BOLD, shown!("{}:{}:{}", name, self.line, self.column)),
            self.byte,
            Shown::message(&self.message),
            source,
            paint.paint(BAD, carets)
        )
    }
}

const FOLLOWED: &str = "there is something after the document, which --trailing error forbids";

/// The limits of the push path, one of which was exceeded.
pub(crate) fn overflow(options: &MendOptions) -> String {
    let (depth, buffer) = (options.limits().depth(), options.limits().buffer());
    format!(
        "a limit was exceeded: {depth} levels of nesting (--depth), or {buffer} bytes held back \
         (--buffer); the rest is as received"
    )
}

/// Why this repair was refused.
pub(crate) fn reason(refused: &Repair, options: &MendOptions) -> String {
    if options.policy().allows(refused.kind()) {
        return FOLLOWED.to_owned();
    }
    let (kind, risk) = (refused.kind(), refused.risk());
    format!("not valid JSON: it needs the repair {kind} ({risk}), which the policy forbids")
}

/// The byte at which the push path gives up on the first document of the text, and whether the
/// nesting is at its limit there. Of a whole text that is read piece by piece, a sixteenth may be held
/// back.
fn stop(text: &[u8], options: &MendOptions) -> Option<(usize, bool)> {
    let mut first = FirstDocument(None);
    let mut extractor = Finder::new(Scope::First, options.clone());
    extractor.push(text, &mut first);
    extractor.finish(&mut first);
    let from = first.0.unwrap_or(0);
    let limits = options.limits();
    let limits = limits.with_buffer(limits.buffer().max(text.len() / 16));
    let mut mender = Mender::new(options.clone().with_limits(limits));
    for (at, byte) in text.iter().enumerate().skip(from) {
        let piece = std::slice::from_ref(byte);
        // A document begins here, so there is nothing to judge first.
        if mender.push_document(piece, &mut ()).is_some() {
            mender.push(piece, &mut ());
        }
        if mender.outcome().is_some() {
            return Some((at, mender.depth() >= limits.depth()));
        }
    }
    None
}

/// Where the first document begins.
struct FirstDocument(Option<usize>);

impl TextSink for FirstDocument {
    fn begin(&mut self, offset: usize) {
        self.0.get_or_insert(offset);
    }
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}

#[cfg(test)]
mod tests {
    use wiremend_core::{Limits, mend};

    use super::*;

    fn fault(text: &str, options: &MendOptions) -> Option<Fault> {
        Fault::of(text.as_bytes(), &mend(text.as_bytes(), options), options)
    }

    #[test]
    fn valid_and_repaired_texts_have_none() {
        assert_eq!(fault("[1]", &MendOptions::new()), None);
        assert_eq!(fault("['a']", &MendOptions::new()), None);
    }

    #[test]
    fn a_refusal_points_at_the_repair_that_was_needed() {
        let strict = MendOptions::new().with_policy(Policy::STRICT);
        let fault = fault("{\"a\":\n 'b'}", &strict).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (7, 2, 2));
        assert!(fault.message.contains("single-quote"), "{}", fault.message);
    }

    #[test]
    fn a_depth_limit_points_at_the_bracket_too_many() {
        let options = MendOptions::new().with_limits(Limits::new().with_depth(2));
        let fault = fault("[[\n[1]]]", &options).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (3, 2, 1));
    }

    #[test]
    fn a_cut_points_at_the_end() {
        let fault = fault("[1,\n2", &MendOptions::new()).unwrap();
        assert_eq!((fault.byte, fault.line, fault.column), (5, 2, 2));
    }
}
