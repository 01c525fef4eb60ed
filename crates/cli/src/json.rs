//! JSON that this program writes: what cannot be seen in its strings is written as `\u` escapes.
//!
//! The value is the same, and a line of it can be shown on any terminal.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};

use serde::Serialize;
use serde_json::{Serializer, ser::Formatter};

use crate::visible::is_invisible;

/// Writes a value, without a line end.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible)).map_err(io::Error::from)
}

/// JSON text in which what cannot be seen is escaped. White space remains.
///
/// It occurs in strings only, so the value is the same.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    let plain = |c: char| !is_invisible(c) || matches!(c, '\t' | '\n' | '\r');
    if json.chars().all(plain) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if plain(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

/// Compact JSON with escapes.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(escaped(fragment).as_bytes())
    }

    /// Values that are passed on as they came: the `id` of a request, and citations.
    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(escaped(fragment).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::*;

    #[test]
    fn the_value_is_the_same_and_everything_can_be_seen() {
        let text = "a\"\\\n\x1b\x7f\u{9b}\u{202e}\u{2028}\u{200b}\u{e0041}é漢";
        let value = json!({ text: [text, 1.5, null] });
        let mut line = Vec::new();
        write(&mut line, &value).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(!line.chars().any(is_invisible), "{line}");
        assert!(
            line.contains("\\u202e") && line.contains("\\udb40\\udc41") && line.contains("é漢")
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn raw_values_are_escaped_too() {
        let raw = RawValue::from_string("[1.10, \"\u{202e}\"]".to_owned()).unwrap();
        let mut line = Vec::new();
        write(&mut line, &raw).unwrap();
        assert_eq!(line, b"[1.10, \"\\u202e\"]");
        assert!(matches!(escaped("[1,\r\n\t\"é\"]"), Cow::Borrowed(_)));
    }
}
