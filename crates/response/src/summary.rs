//! What was done to a response, as metadata for whoever receives it.

use std::{fmt::Write as _, ops::Range};

use wiremend_core::{
    KindSet, MendOptions, Outcome, Policy, RepairKind, Repairs, lexer::unescape, mend,
};
use wiremend_wire::WireEvent;

use crate::{Event, Response};

/// What was repaired in a response: metadata that a gateway can put into what it sends on, or next to it.
///
/// ```
/// use wiremend_response::{RepairSummary, Response, ResponseOptions};
///
/// let body = br#"{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",
///     "function":{"name":"add","arguments":"{'a': 1,}"}}]},"finish_reason":"tool_calls"}]}"#;
/// let response = Response::read(body, ResponseOptions::new());
/// let summary = RepairSummary::of(&response).with_schema_id("urn:add");
/// assert_eq!(
///     summary.to_json(),
///     r#"{"wiremend":{"repaired":true,"coerced":false,"schema_id":"urn:add","incomplete":0,"invalid":0,"repairs":3,"codes":["extra-comma","single-quote"],"risk":"exact"}}"#
/// );
/// let merged = summary.merged_into("{\"id\": 7}").unwrap();
/// assert!(merged.starts_with("{\"id\": 7,\"wiremend\":{\"repaired\":true,"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairSummary {
    schema_id: Option<String>,
    codes: KindSet,
    repairs: usize,
    incomplete: usize,
    invalid: usize,
    coerced: bool,
}

impl RepairSummary {
    /// Nothing has been read.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was done to a response that has been read.
    #[must_use]
    pub fn of(response: &Response) -> Self {
        let mut summary = Self::new();
        for call in response.transcript().calls() {
            summary.note_text(call.outcome(), call.repairs());
        }
        for object in response.objects() {
            summary.note_text(object.outcome(), object.repairs());
        }
        #[cfg(feature = "schema")]
        {
            for call in response.fitted_calls() {
                summary.note_fitted_call(call);
            }
            for object in response.fitted_objects() {
                summary.note_fitted_object(object);
            }
        }
        summary
    }

    /// Sets what identifies the schema.
    ///
    /// ### Default
    /// `null`.
    #[must_use]
    pub fn with_schema_id(mut self, id: impl Into<String>) -> Self {
        self.schema_id = Some(id.into());
        self
    }

    /// Adds an event of a response that is being read.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::CallEnded(call) => self.note_text(call.outcome(), call.repairs()),
            Event::ObjectEnded(object) => self.note_text(object.outcome(), object.repairs()),
            #[cfg(feature = "schema")]
            Event::CallFitted(call) => self.note_fitted_call(call),
            #[cfg(feature = "schema")]
            Event::ObjectFitted(object) => self.note_fitted_object(object),
            _ => {}
        }
    }

    /// Adds an event of a body that is being written again.
    pub fn note_wire(&mut self, event: &WireEvent<'_>) {
        if let WireEvent::CallEnded(call) = event {
            self.note_text(call.outcome(), call.repairs());
        }
    }

    /// A text that needed repairs which were not made was not repaired.
    fn note_text(&mut self, outcome: Outcome, repairs: &Repairs) {
        self.incomplete += usize::from(!outcome.is_complete());
        if outcome.is_valid() {
            self.repairs += repairs.len();
            self.codes = repairs.kinds().fold(self.codes, |codes, (kind, _)| codes.with(kind));
        }
    }

    #[cfg(feature = "schema")]
    fn note_fitted_call(&mut self, call: &crate::FittedCall) {
        if let crate::CallCheck::Fitted { fitted, .. } = call.check() {
            self.note_fitted(fitted, fitted.outcome());
        }
    }

    #[cfg(feature = "schema")]
    fn note_fitted_object(&mut self, object: &crate::FittedObject) {
        if let Some(fitted) = object.fitted() {
            self.note_fitted(fitted, object.outcome());
        }
    }

    #[cfg(feature = "schema")]
    fn note_fitted(&mut self, fitted: &wiremend_schema::Fitted, outcome: Outcome) {
        self.coerced |= outcome.is_complete() && !fitted.applied().is_empty();
        self.invalid += usize::from(outcome == Outcome::Invalid);
    }

    /// Whether any text was repaired.
    #[must_use]
    pub const fn is_repaired(&self) -> bool {
        self.repairs > 0
    }

    /// Whether the rules of a schema changed any value.
    #[must_use]
    pub const fn is_coerced(&self) -> bool {
        self.coerced
    }

    /// How many calls and objects are not complete, and so must not be used.
    #[must_use]
    pub const fn incomplete(&self) -> usize {
        self.incomplete
    }

    /// How many calls and objects are not valid for their schema, and so must not be used, whether complete or not.
    #[must_use]
    pub const fn invalid(&self) -> usize {
        self.invalid
    }

    /// An object with one member, `wiremend`. It holds nothing of what the model wrote.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{{{}}}", self.member())
    }

    /// The text of a JSON object with that member added at its end, in place of those it had before. `None` if
    /// the text is no object in valid JSON. Nothing else is changed.
    #[must_use]
    pub fn merged_into(&self, object: &str) -> Option<String> {
        let strict = MendOptions::new().with_policy(Policy::STRICT);
        if mend(object.as_bytes(), &strict).outcome() != Outcome::Unchanged {
            return None;
        }
        let mut object = object.to_owned();
        while let Some(member) = member_named(&object, "wiremend") {
            object.replace_range(member, "");
        }
        let inside = object.trim_end().strip_suffix('}')?;
        let begun = inside.trim_start().strip_prefix('{')?;
        let comma = if begun.trim().is_empty() { "" } else { "," };
        let end = object.get(inside.len()..).unwrap_or_default();
        Some(format!("{inside}{comma}{}{end}", self.member()))
    }

    fn member(&self) -> String {
        let kinds = || RepairKind::ALL.iter().filter(|kind| self.codes.contains(**kind));
        let codes: Vec<String> = kinds().map(|kind| format!("\"{}\"", kind.code())).collect();
        let risk = kinds().map(|kind| kind.risk()).max();
        format!(
            "\"wiremend\":{{\"repaired\":{},\"coerced\":{},\"schema_id\":{},\"incomplete\":{},\"invalid\":{},\"repairs\":{},\"codes\":[{}],\"risk\":{}}}",
            self.is_repaired(),
            self.coerced,
            self.schema_id.as_deref().map_or("null".to_owned(), quoted),
            self.incomplete,
            self.invalid,
            self.repairs,
            codes.join(","),
            risk.map_or("null".to_owned(), |risk| format!("\"{}\"", risk.code())),
        )
    }
}

/// Where a member with this name, which may be written with escapes, is in the text of an object, with a comma.
fn member_named(object: &str, name: &str) -> Option<Range<usize>> {
    let bytes = object.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    // The start of the member, the key in quotes that was read last, and whether the member has this name.
    let (mut start, mut key, mut is_named) = (0, 0..0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let from = at + 1;
                at = from;
                while !matches!(bytes.get(at), None | Some(b'"')) {
                    at += 1 + usize::from(bytes.get(at) == Some(&b'\\'));
                }
                key = from..at;
            }
            b':' if depth == 1 => {
                is_named = object.get(key.clone()).is_some_and(|key| unescape(key) == name);
            }
            b'{' | b'[' => {
                depth += 1;
                start = if depth == 1 { at + 1 } else { start };
            }
            b',' if depth == 1 && is_named => return Some(start..at + 1),
            b',' if depth == 1 => start = at + 1,
            // The last member takes the comma before it along.
            b'}' if depth == 1 && is_named => {
                let comma = start.checked_sub(1).filter(|comma| bytes.get(*comma) == Some(&b','));
                return Some(comma.unwrap_or(start)..at);
            }
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_valid_json_and_changes_nothing_else() {
        let summary = RepairSummary::new().with_schema_id("a\"\\\n\u{1}é");
        let strict = MendOptions::new().with_policy(Policy::STRICT);
        let is_json = |text: &str| mend(text.as_bytes(), &strict).outcome() == Outcome::Unchanged;
        assert!(is_json(&summary.to_json()), "{}", summary.to_json());
        for object in ["{}", " { } \n", "{\"a\": {}}", "{\"a\": 1 }"] {
            let merged = summary.merged_into(object).unwrap_or_else(|| panic!("{object}"));
            assert!(is_json(&merged), "{merged}");
            let inside = object.trim_end().strip_suffix('}').unwrap_or_default();
            assert!(merged.starts_with(inside), "{merged}");
        }
        for (object, without) in [
            ("{\"wiremend\": {\"a\": [1, \"}\"]}}", "{"),
            ("{\"a\": 1, \"wiremend\": 2, \"b\": \"wiremend\"}", "{\"a\": 1, \"b\": \"wiremend\","),
            ("{\"wiremend\":1,\"wiremend\":2,\"b\":{\"wiremend\":3}}", "{\"b\":{\"wiremend\":3},"),
            ("{\"\\\"wiremend\": 1}", "{\"\\\"wiremend\": 1,"),
            // The same name with escapes, and another one.
            (
                "{\"wire\\u006dend\": 1, \"\\u0077iremend\": 2, \"wire\\\\u006dend\": 3}",
                "{ \"wire\\\\u006dend\": 3,",
            ),
        ] {
            let merged = summary.merged_into(object).unwrap_or_else(|| panic!("{object}"));
            assert!(is_json(&merged), "{merged}");
            assert_eq!(merged, format!("{without}{}}}", summary.member()));
            assert_eq!(summary.merged_into(&merged), Some(merged));
        }
        for other in ["", "[]", "{", "}", "{}{}", "{a: 1}", "{\"a\": 1,}", "{} x"] {
            assert_eq!(summary.merged_into(other), None, "{other}");
        }
    }
}
