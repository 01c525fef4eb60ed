//! The payload that a delta was read from, and its original text before it was repaired.

use core::ops::Range;

use jsonmend_core::{Policy, Repair, RepairKind, Risk};

/// A payload as it is read, and its original text if it was repaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    text: &'a str,
    original: &'a str,
    /// They turn `original` into `text`.
    repairs: &'a [Repair],
}

impl<'a> Source<'a> {
    /// A payload that is read verbatim.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, original: text, repairs: &[] }
    }

    /// A payload that was repaired.
    pub(crate) const fn mended(text: &'a str, original: &'a str, repairs: &'a [Repair]) -> Self {
        Self { text, original, repairs }
    }

    /// The payload as it is read.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The original text of `part`, which is a slice of the payload as it is read. `None` if nothing was
    /// repaired, or if a repair inserted the edges of the part.
    pub(crate) fn original_of(&self, part: &str) -> Option<&'a str> {
        if self.repairs.is_empty() {
            return None;
        }
        let (start, end, _) = self.span(part)?;
        self.original.get(start..end)
    }

    /// Whether `policy` allows all repairs inside `part`.
    pub(crate) fn allows(&self, part: &str, policy: Policy) -> bool {
        self.repairs.is_empty()
            || self
                .span(part)
                .is_none_or(|(.., inside)| inside.iter().all(|repair| policy.allows(repair.kind())))
    }

    /// Whether a repair that is not exact, or that `policy` does not allow, may have changed the meaning of
    /// other members of the payload, too. Envelopes are written by programs: one that needs a guess was
    /// damaged on its way. Objects that are the arguments of a call are written by the model, and
    /// repaired under the policy for calls. They are slices of the payload, in its order.
    pub(crate) fn is_damaged(&self, policy: Policy, arguments: &[&str]) -> bool {
        // These replace one value, or a part of a string, and nothing around it.
        let local = [RepairKind::NonFinite, RepairKind::LoneSurrogate, RepairKind::InvalidUtf8];
        let mut objects = arguments.iter().filter_map(|part| self.place(part)).peekable();
        let (mut added, mut removed) = (0, 0);
        self.repairs.iter().any(|repair| {
            let start = (repair.start() + added).saturating_sub(removed);
            let end = start + repair.after().len();
            added += repair.after().len();
            removed += repair.end() - repair.start();
            while objects.next_if(|object| object.end <= start).is_some() {}
            let inside = objects.peek().is_some_and(|it| it.start < start && end < it.end);
            let allowed = policy.allows(repair.kind());
            !local.contains(&repair.kind())
                && !(allowed && (inside || repair.risk() == Risk::Exact))
        })
    }

    /// The place of `part` in the payload as it is read.
    fn place(&self, part: &str) -> Option<Range<usize>> {
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let end = start.checked_add(part.len()).filter(|end| *end <= self.text.len())?;
        Some(start..end)
    }

    /// The span of `part` in the original payload, and the repairs inside it.
    fn span(&self, part: &str) -> Option<(usize, usize, &'a [Repair])> {
        let Range { start: first, end: last } = self.place(part)?;
        // How many bytes of the repaired text the repairs so far have inserted and removed.
        let (mut added, mut removed) = (0, 0);
        let mut repairs = self.repairs;
        while let [repair, rest @ ..] = repairs {
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
            repairs = rest;
        }
        let from = (first + removed).checked_sub(added)?;
        let mut inside = 0;
        for repair in repairs {
            let start = (repair.start() + added).checked_sub(removed)?;
            if start >= last {
                break;
            }
            added += repair.after().len();
            removed += repair.end() - repair.start();
            inside += 1;
        }
        let to = (last + removed).checked_sub(added)?;
        Some((from, to, repairs.get(..inside)?))
    }
}

#[cfg(test)]
mod tests {
    use jsonmend_core::{Options, mend};

    use super::*;

    #[test]
    fn a_part_of_a_mended_payload_is_found_in_the_original() {
        let original = r#"{'a': {"x": NaN,}, "b": {y: 'z'}, "c": "d",}"#;
        let mended = mend(original.as_bytes(), &Options::new());
        let text = mended.text().unwrap();
        let source = Source::mended(text, original, mended.repairs());
        for (part, want) in [
            (r#"{"x": null}"#, r#"{"x": NaN,}"#),
            (r#"{"y": "z"}"#, "{y: 'z'}"),
            (r#""d""#, r#""d""#),
            ("null", "NaN"),
        ] {
            let at = text.find(part).unwrap();
            let part = &text[at..at + part.len()];
            assert_eq!(source.original_of(part), Some(want), "{part}");
        }
        let first = text.find("{\"x\"").unwrap();
        assert!(!source.allows(&text[first..first + 11], Policy::CONSERVATIVE));
        let second = text.find("{\"y\"").unwrap();
        assert!(source.allows(&text[second..second + 10], Policy::CONSERVATIVE));
        assert!(!source.is_damaged(Policy::CONSERVATIVE, &[]));
        assert!(source.is_damaged(Policy::STRICT, &[]));
        assert_eq!(Source::new(text).original_of(text), None);
    }

    #[test]
    fn a_repair_inside_arguments_damages_nothing_around_them() {
        for (original, damaged) in [
            (r#"{"a": {"x" 1}, "b": {"y": 2}}"#, false),
            (r#"{"a": {"x": 1}, "b": {"y" 2}}"#, false),
            (r#"{"a": {"x" 1}, "b" {"y": 2}}"#, true),
            (r#"{"a" {"x": 1}, "b": {"y": 2}}"#, true),
            (r#"{"a": {"x": 1} "b": {"y": 2}}"#, true),
            (r#"{"a": {"x": NaN}, "b": {"y": 2}}"#, false),
        ] {
            let mended = mend(original.as_bytes(), &Options::new());
            let text = mended.text().unwrap();
            let source = Source::mended(text, original, mended.repairs());
            let objects: Vec<_> = text
                .match_indices('{')
                .skip(1)
                .map(|(at, _)| &text[at..=at + text[at..].find('}').unwrap()])
                .collect();
            assert_eq!(source.is_damaged(Policy::CONSERVATIVE, &objects), damaged, "{original}");
            assert!(original.contains("NaN") || source.is_damaged(Policy::STRICT, &objects));
        }
    }
}
