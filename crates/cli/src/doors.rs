//! Which command or option an input is for, if it is not this one.

use std::ops::Range;

use serde::de::IgnoredAny;
use wiremend_core::{RepairKind, Repairs};
use wiremend_schema::{Cause, Fitted};
use wiremend_wire::{Decoder, Framing, WireEvent, WireOptions};

/// As much of a text as is looked at.
pub(crate) const HEAD: usize = 16 << 10;

/// What to say about a body.
pub(crate) const TO_STREAM: &str =
    "this is the body of a streaming response: `wiremend stream` reads it";

/// What to say about lines.
const TO_LINES: &str = "each line begins a document: --lines reads each by itself";

/// Whether a text is the body of a streaming response: events of a known format.
pub(crate) fn is_body(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b":"].iter().any(|start| text.starts_with(start))
        && framing(text) == Some(Framing::Sse)
}

/// How a text is divided if it is in a known format of responses.
fn framing(text: &[u8]) -> Option<Framing> {
    let (mut framing, mut known) = (None, false);
    let head = text.get(..HEAD).unwrap_or(text);
    Decoder::new(WireOptions::new()).push(head, &mut |event| match event {
        WireEvent::FramingDetected(found) => framing = Some(found),
        WireEvent::FormatDetected(_) => known = true,
        _ => {}
    });
    framing.filter(|_| known)
}

/// What to say about documents that were joined, if each line begins one. Lines may also be a body, and be
/// read as documents all the same.
pub(crate) fn of_lines(text: &[u8]) -> Option<String> {
    let body = || framing(text) == Some(Framing::Ndjson);
    begins_on_lines(text).then(|| match body() {
        true => format!("{TO_LINES}; `wiremend stream`, as the body of a response"),
        false => TO_LINES.to_owned(),
    })
}

/// Whether a text has several lines, and each begins with an opener, as in JSON Lines and in no document
/// that is laid out for people.
fn begins_on_lines(text: &[u8]) -> bool {
    let mut lines = lines(text).map(|line| text.get(line)).peekable();
    let opens = |line: Option<&[u8]>| matches!(line, Some([b'{' | b'[', ..]));
    lines.next().is_some_and(opens) && lines.peek().is_some() && lines.all(opens)
}

/// The lines that are not blank, without their line feeds.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut end = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let start = end;
        end += line.len();
        start..start + line.strip_suffix(b"\n").unwrap_or(line).len()
    });
    lines.filter(|line| !text.get(line.clone()).unwrap_or_default().trim_ascii().is_empty())
}

/// What to say about a text that begins a document on each line, if one that is valid by itself was read as
/// a part of another: something in it, or at its end, was repaired. Then it is missing from the result.
pub(crate) fn taken_line(text: &[u8], edits: impl Iterator<Item = Range<usize>>) -> Option<String> {
    let mut edits = edits.peekable();
    if edits.peek().is_none() || !begins_on_lines(text) {
        return None;
    }
    let mut starts = lines(text).map(|line| line.start).skip(1).chain([text.len() + 1]);
    for line in lines(text) {
        let next = starts.next().unwrap_or_default();
        while edits.next_if(|edit| edit.end < line.start).is_some() {}
        let touched = edits.peek().is_some_and(|edit| edit.start < next);
        let valid = |line| serde_json::from_slice::<IgnoredAny>(line).is_ok();
        if touched && text.get(line.clone()).is_some_and(valid) {
            let number = text.get(..line.start).unwrap_or_default();
            let number = number.iter().filter(|byte| **byte == b'\n').count() + 1;
            return Some(format!(
                "line {number} is a document, and was read as a part of another: --lines reads each by itself"
            ));
        }
    }
    None
}

/// What joins documents, or drops them, and repairs none.
const AROUND: [RepairKind; 2] = [RepairKind::LineDelimited, RepairKind::SecondDocument];

/// Where the documents of a text were repaired.
pub(crate) fn edits(repairs: &Repairs) -> impl Iterator<Item = Range<usize>> + '_ {
    let inside = repairs.iter().filter(|repair| !AROUND.contains(&repair.kind()));
    inside.map(|repair| repair.span())
}

/// The same for a value that was fitted to a schema.
pub(crate) fn changes(fitted: &Fitted) -> impl Iterator<Item = Range<usize>> + '_ {
    let around = AROUND.map(Cause::Syntax);
    let inside = fitted.changes().iter().filter(move |change| !around.contains(&change.cause()));
    inside.map(|change| change.start()..change.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_core::{MendOptions, TrailingDocuments};
    use wiremend_extract::{Scope, find};

    fn taken(text: &str) -> bool {
        let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
        let mended = find(text.as_bytes(), Scope::Best, &options);
        taken_line(text.as_bytes(), edits(mended.repairs())).is_some()
    }

    #[test]
    fn a_line_that_became_the_rest_of_another_is_missed() {
        for text in [
            "{\"s\": \"abc\n{\"s\": \"x\"}\n",
            "{\"a\": [1, 2,\n{\"a\": [3]}\n",
            "{\"a\": [1, 2,\n\n{\"a\": [3]}",
        ] {
            assert!(taken(text), "{text}");
        }
    }

    #[test]
    fn a_line_that_is_its_own_document_is_not() {
        for text in [
            "{\"a\": 1}\n{\"a\": 2}\n",
            "{'a': 1}\n{\"a\": 2}\n{'a': 3",
            "{\"s\": \"abc\n{\"s\": \"x\"}\n{\"s\": \"y\"}\n",
            "[1 2]\n[3]\n",
            "{\"a\": 1,\n \"b\": [\n{\"c\": 2}\n]}",
            // A string may hold such lines.
            "{\"s\": \"\n{\"x\": 1}\n\"}",
            "{\"s\": \"f()\n{ g() }\"}",
            "['a']",
        ] {
            assert!(!taken(text), "{text}");
        }
    }

    #[test]
    fn lines_are_documents_and_may_be_a_body() {
        let whole = r#"{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
        assert!(!is_body(whole.as_bytes()));
        let lines = format!("{whole}\n{whole}\n");
        assert!(!is_body(lines.as_bytes()));
        assert!(of_lines(lines.as_bytes()).unwrap().ends_with("as the body of a response"));
        assert_eq!(of_lines(b"{\"a\": 1}\n{}\n").unwrap(), TO_LINES);
        assert!(is_body(format!("data: {whole}\n\n").as_bytes()));
        assert!(!is_body(b"data: {\"a\": 1}\n\n"));
    }
}
