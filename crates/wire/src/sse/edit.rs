//! Replaces the data in the bytes of an event.

use core::ops::Range;

use super::line::{self, Line};
use crate::utf8;

/// A data line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DataLine {
    /// From its first byte to its line end.
    line: Range<usize>,
    value: Range<usize>,
    /// The position after its line end.
    end: usize,
}

/// The data lines of the last event in `raw`.
fn data_lines(raw: &[u8]) -> Vec<DataLine> {
    let mut found: Vec<DataLine> = Vec::new();
    let mut ended = false;
    let mut at = if raw.starts_with(&super::BOM) { super::BOM.len() } else { 0 };
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let length = line::end(rest).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(length);
        let line_end = match tail {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let end = at + length + line_end;
        if text.is_empty() {
            ended = true;
        } else if let Line::Data(value) = line::read_indented(text) {
            if core::mem::take(&mut ended) {
                found.clear();
            }
            let value = at + length - value.len()..at + length;
            found.push(DataLine { line: at..at + length, value, end });
        }
        at = end;
    }
    found
}

/// The data of the last event in `raw`, as the decoder returns it.
pub(crate) fn data(raw: &[u8]) -> String {
    let lines = data_lines(raw);
    let parts: Vec<&[u8]> =
        lines.iter().map(|line| raw.get(line.value.clone()).unwrap_or_default()).collect();
    utf8::text(&parts.join(&b'\n')).into_owned()
}

/// Writes `raw` with other data in its last event. Everything else is unchanged. Returns `false`, and
/// writes nothing, if there is no data in it.
pub(crate) fn write_with_data(raw: &[u8], data: &str, out: &mut Vec<u8>) -> bool {
    let lines = data_lines(raw);
    let Some(last) = lines.len().checked_sub(1) else { return false };
    let mut new = data.split('\n');
    let mut at = 0;
    for (number, line) in lines.iter().enumerate() {
        out.extend_from_slice(raw.get(at..line.line.start).unwrap_or_default());
        at = line.end;
        let prefix = raw.get(line.line.start..line.value.start).unwrap_or_default();
        let line_end = raw.get(line.line.end..line.end).unwrap_or_default();
        let mut put = |text: &str| {
            out.extend_from_slice(prefix);
            out.extend_from_slice(text.as_bytes());
        };
        let Some(text) = new.next() else { continue };
        put(text);
        if number == last {
            for text in new.by_ref() {
                out.extend_from_slice(if line_end.is_empty() { b"\n" } else { line_end });
                out.extend_from_slice(prefix);
                out.extend_from_slice(text.as_bytes());
            }
        }
        out.extend_from_slice(line_end);
    }
    out.extend_from_slice(raw.get(at..).unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(raw: &str, data: &str) -> String {
        let mut out = Vec::new();
        assert!(write_with_data(raw.as_bytes(), data, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn everything_but_the_data_stays() {
        for (raw, old, new, want) in [
            ("data: a\n\n", "a", "b", "data: b\n\n"),
            (
                "event: x\r\ndata:a\r\nid: 1\r\n\r\n",
                "a",
                "b",
                "event: x\r\ndata:b\r\nid: 1\r\n\r\n",
            ),
            (": hi\rdata: a\r\r", "a", "b", ": hi\rdata: b\r\r"),
            ("data: a\n\ndata: b\n\n", "b", "c", "data: a\n\ndata: c\n\n"),
            ("data: a\ndata: b\n\n", "a\nb", "x\ny", "data: x\ndata: y\n\n"),
            ("data: a\n: c\ndata: b\n\n", "a\nb", "x", "data: x\n: c\n\n"),
            ("data: a\n\n", "a", "x\ny", "data: x\ndata: y\n\n"),
            ("\u{feff} data: a", "a", "x\ny", "\u{feff} data: x\n data: y"),
        ] {
            assert_eq!(data(raw.as_bytes()), old, "{raw:?}");
            assert_eq!(with(raw, new), want, "{raw:?}");
            assert_eq!(with(raw, old), raw, "{raw:?}");
        }
        assert!(!write_with_data(b": hi\n\n", "x", &mut Vec::new()));
    }
}
