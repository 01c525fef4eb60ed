//! The payload that a delta was read from, and its original text before it was repaired.

use core::iter::Take;

use wiremend_core::{Policy, RepairKind, Repairs, RepairsIter};

use crate::json::Span;

/// The payload that is read, by its original text if that was repaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    original: &'a str,
    /// They turn `original` into the payload.
    repairs: &'a Repairs,
}

static NONE: Repairs = Repairs::new();

impl<'a> Source<'a> {
    /// A payload that is read verbatim.
    pub(crate) const VERBATIM: Source<'static> = Source { original: "", repairs: &NONE };

    /// A payload that was repaired.
    pub(crate) const fn mended(original: &'a str, repairs: &'a Repairs) -> Self {
        Self { original, repairs }
    }

    /// Whether it was repaired.
    pub(crate) const fn is_mended(&self) -> bool {
        !self.repairs.is_empty()
    }

    /// The original text of a part of the payload as it is read. `None` if nothing was repaired, or if a
    /// repair inserted the edges of the part.
    pub(crate) fn original_of(&self, part: Span) -> Option<&'a str> {
        if self.repairs.is_empty() {
            return None;
        }
        let (start, end, _) = self.span(part)?;
        self.original.get(start..end)
    }

    /// Whether `policy` allows all repairs inside `part`.
    pub(crate) fn allows(&self, part: Span, policy: Policy) -> bool {
        self.repairs.is_empty()
            || self
                .span(part)
                .is_none_or(|(.., mut inside)| inside.all(|repair| policy.permits(&repair)))
    }

    /// Whether the payload was damaged on its way. Programs write valid JSON, also where they write arguments
    /// that are an object, so every repair is a sign of that, except for two groups:
    ///
    /// - repairs of single values that programs are known to write in another way;
    /// - single quotes, if `is_python`: the server writes all its payloads as Python literals.
    pub(crate) fn is_damaged(&self, policy: Policy, is_python: bool) -> bool {
        self.repairs.iter().any(|repair| match repair.kind() {
            RepairKind::NonFinite | RepairKind::LoneSurrogate => false,
            RepairKind::SingleQuote if !is_python => true,
            kind @ (RepairKind::PythonLiteral | RepairKind::SingleQuote) => !policy.allows(kind),
            _ => true,
        })
    }

    /// The span of `part` in the original payload, and the repairs inside it.
    fn span(&self, part: Span) -> Option<(usize, usize, Take<RepairsIter<'a>>)> {
        let Span { start: first, end: last } = part;
        // How many bytes of the repaired text the repairs so far have inserted and removed.
        let (mut added, mut removed) = (0, 0);
        let mut repairs = self.repairs.iter();
        let mut rest = repairs.clone();
        while let Some(repair) = rest.next() {
            let start = (repair.start() + added).checked_sub(removed)?;
            let end = start + repair.after().len();
            if end > first {
                // If a repair inserted the first byte of the part after other bytes, the part has no place in
                // the original.
                if start < first {
                    return None;
                }
                break;
            }
            added += repair.after().len();
            removed += repair.end() - repair.start();
            repairs = rest.clone();
        }
        let from = (first + removed).checked_sub(added)?;
        let mut inside = 0;
        for repair in repairs.clone() {
            let start = (repair.start() + added).checked_sub(removed)?;
            if start >= last {
                break;
            }
            added += repair.after().len();
            removed += repair.end() - repair.start();
            inside += 1;
        }
        let to = (last + removed).checked_sub(added)?;
        Some((from, to, repairs.take(inside)))
    }
}

#[cfg(test)]
mod tests {
    use wiremend_core::{MendOptions, mend};

    use super::*;

    #[test]
    fn a_part_of_a_mended_payload_is_found_in_the_original() {
        let original = r#"{'a': {"x": NaN,}, "b": {y: 'z'}, "c": "d",}"#;
        let mended = mend(original.as_bytes(), &MendOptions::new());
        let text = mended.text().unwrap();
        let source = Source::mended(original, mended.repairs());
        let span = |part: &str| {
            let start = text.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        for (part, want) in [
            (r#"{"x": null}"#, r#"{"x": NaN,}"#),
            (r#"{"y": "z"}"#, "{y: 'z'}"),
            (r#""d""#, r#""d""#),
            ("null", "NaN"),
        ] {
            assert_eq!(source.original_of(span(part)), Some(want), "{part}");
        }
        assert!(!source.allows(span(r#"{"x": null}"#), Policy::CONSERVATIVE));
        assert!(source.allows(span(r#"{"y": "z"}"#), Policy::CONSERVATIVE));
        assert_eq!(Source::VERBATIM.original_of(span(text)), None);
    }

    fn is_damaged(original: &str, policy: Policy, is_python: bool) -> bool {
        let mended = mend(original.as_bytes(), &MendOptions::new());
        Source::mended(original, mended.repairs()).is_damaged(policy, is_python)
    }

    #[test]
    fn every_repair_of_an_envelope_is_damage_but_those_that_programs_cause() {
        for original in [
            "{\"a\": 1,, \"b\": 2}",
            "{\"a\": 1,}",
            "{\"a\0\": 1}",
            "{\"a\": \"x\n\"}",
            "{\"\\a\": 1}",
            "{\"a\": 1, b\": 2}",
            "{\"a\": TRUE}",
            "{'a': 1}",
            "{\"a\": {\"x\" 1}}",
            "{\"a\": {x: 1}}",
            "{\"a\": {\"x\": \"y\nz\"}}",
        ] {
            assert!(is_damaged(original, Policy::CONSERVATIVE, false), "{original}");
        }
        assert!(!is_damaged("{\"a\": None}", Policy::CONSERVATIVE, false));
        assert!(!is_damaged("{\"a\": {\"x\": NaN}}", Policy::CONSERVATIVE, false));
        let python = "{'a': True, 'b': \"it's\", 'c': None}";
        assert!(is_damaged(python, Policy::CONSERVATIVE, false));
        assert!(is_damaged(python, Policy::STRICT, true));
        assert!(!is_damaged(python, Policy::CONSERVATIVE, true));
        assert!(is_damaged("{'a': True,, 'b': 1}", Policy::CONSERVATIVE, true));
    }
}
