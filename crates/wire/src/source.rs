//! The payload that a delta was read from, and its original text before it was repaired.

use core::iter::Take;

use jsonmend_core::{Policy, Repair, RepairKind, Repairs, RepairsIter};

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
                .is_none_or(|(.., mut inside)| inside.all(|repair| policy.allows(repair.kind())))
    }

    /// Whether the payload was damaged on its way. Programs write valid JSON, so every repair is a sign of
    /// that, except for three groups:
    ///
    /// - repairs of single values that programs are known to write in another way;
    /// - single quotes, if `is_python`: the server writes all its payloads as Python literals;
    /// - repairs inside `arguments`, the objects that are the arguments of calls: the model writes them, and
    ///   they are repaired under the policy for calls. They are in the order of the payload.
    pub(crate) fn is_damaged(&self, policy: Policy, is_python: bool, arguments: &[Span]) -> bool {
        let mut objects = arguments.iter().peekable();
        let (mut added, mut removed) = (0, 0);
        self.repairs.iter().any(|repair| {
            let start = (repair.start() + added).saturating_sub(removed);
            let end = start + repair.after().len();
            added += repair.after().len();
            removed += repair.end() - repair.start();
            while objects.next_if(|object| object.end <= start).is_some() {}
            let inside = objects.peek().is_some_and(|it| it.start < start && end < it.end);
            let kind = repair.kind();
            let explained = match kind {
                RepairKind::NonFinite | RepairKind::LoneSurrogate => return false,
                RepairKind::PythonLiteral => true,
                RepairKind::SingleQuote if is_python => true,
                _ => inside && !self.is_transport_damage(&repair),
            };
            !(explained && policy.allows(kind))
        })
    }

    /// Whether that defect, inside an object of the payload, shows damage rather than the hand of the model.
    /// A server that copies what the model wrote has parsed it, or found its end; what it then sends holds no
    /// raw line ends and no half of a pair of quotes. Bytes that were lost or inserted on the way leave both.
    fn is_transport_damage(&self, repair: &Repair) -> bool {
        match repair.kind() {
            RepairKind::UnescapedControl
            | RepairKind::UnquotedString
            | RepairKind::UnterminatedString => true,
            // A key without quotes is JavaScript. One that only lacks the first of them is not.
            RepairKind::UnquotedKey => {
                let rest = self.original.get(repair.start()..).unwrap_or_default();
                let ends = |c: char| c.is_ascii_whitespace() || "\":,{}[]".contains(c);
                rest.find(ends).is_some_and(|at| rest[at..].starts_with('"'))
            }
            _ => false,
        }
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
    use jsonmend_core::{Options, mend};

    use super::*;

    #[test]
    fn a_part_of_a_mended_payload_is_found_in_the_original() {
        let original = r#"{'a': {"x": NaN,}, "b": {y: 'z'}, "c": "d",}"#;
        let mended = mend(original.as_bytes(), &Options::new());
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

    /// The objects of the payload are taken for arguments.
    fn is_damaged(original: &str, policy: Policy, is_python: bool) -> bool {
        let mended = mend(original.as_bytes(), &Options::new());
        let text = mended.text().unwrap();
        let objects: Vec<_> = text
            .match_indices('{')
            .skip(1)
            .map(|(at, _)| Span { start: at, end: at + text[at..].find('}').unwrap() + 1 })
            .collect();
        let source = Source::mended(original, mended.repairs());
        source.is_damaged(policy, is_python, &objects)
    }

    #[test]
    fn a_repair_inside_arguments_damages_nothing_around_them() {
        for (original, damaged) in [
            (r#"{"a": {"x" 1}, "b": {"y": 2}}"#, false),
            (r#"{"a": {"x": 1}, "b": {"y" 2}}"#, false),
            (r#"{"a": {x: 'y',}, "b": {"y": True}}"#, false),
            (r#"{"a": {"x" 1}, "b" {"y": 2}}"#, true),
            (r#"{"a" {"x": 1}, "b": {"y": 2}}"#, true),
            (r#"{"a": {"x": 1} "b": {"y": 2}}"#, true),
            (r#"{"a": {"x": NaN}, "b": {"y": 2}}"#, false),
        ] {
            assert_eq!(is_damaged(original, Policy::CONSERVATIVE, false), damaged, "{original}");
            assert!(original.contains("NaN") || is_damaged(original, Policy::STRICT, false));
        }
    }

    #[test]
    fn every_other_repair_of_an_envelope_is_damage() {
        for original in [
            "{\"a\": 1,, \"b\": 2}",
            "{\"a\": 1,}",
            "{\"a\0\": 1}",
            "{\"a\": \"x\n\"}",
            "{\"\\a\": 1}",
            "{\"a\": 1, b\": 2}",
            "{\"a\": TRUE}",
            "{'a': 1}",
        ] {
            assert!(is_damaged(original, Policy::CONSERVATIVE, false), "{original}");
        }
        assert!(!is_damaged("{\"a\": None}", Policy::CONSERVATIVE, false));
        let python = "{'a': True, 'b': \"it's\", 'c': None}";
        assert!(is_damaged(python, Policy::CONSERVATIVE, false));
        assert!(is_damaged(python, Policy::STRICT, true));
        assert!(!is_damaged(python, Policy::CONSERVATIVE, true));
        assert!(is_damaged("{'a': True,, 'b': 1}", Policy::CONSERVATIVE, true));
    }

    #[test]
    fn what_only_transport_leaves_inside_arguments_is_damage() {
        for object in [
            "{\"x\": \"y\nz\"}",
            "{\"x\": \"y\tz\"}",
            "{\"x\":y\", \"z\": 1}",
            "{\"x\":\"y, \"z\": 1}",
            "{\"x\":y, \"z\": 1}",
            "{\"x\": 1, z\": 1}",
            "{z\": 1}",
        ] {
            let original = format!("{{\"a\": {object}}}");
            assert!(is_damaged(&original, Policy::CONSERVATIVE, false), "{object}");
        }
    }
}
