//! Finds the ends of lines, and parses lines.

use crate::work;

/// How many bytes are checked together.
const BLOCK: usize = 32;

/// The position of the first LF or CR. Whole blocks are searched without branching.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    if bytes.first().is_some_and(|&byte| ends(byte) != 0) {
        work::count(1);
        return Some(0);
    }
    let mut at = 0;
    for block in bytes.chunks_exact(BLOCK) {
        if block.iter().fold(0, |found, &byte| found | ends(byte)) != 0 {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest.iter().position(|&byte| ends(byte) != 0).map(|found| at + found);
    work::count(1 + found.unwrap_or(bytes.len()));
    found
}

/// 1 for a byte that ends a line, otherwise 0.
const fn ends(byte: u8) -> u8 {
    (byte == b'\n') as u8 | (byte == b'\r') as u8
}

/// One line, parsed according to the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Blank,
    Comment(&'a [u8]),
    Data(&'a [u8]),
    Event(&'a [u8]),
    Id(&'a [u8]),
    Retry(&'a [u8]),
    Other { name: &'a [u8], value: &'a [u8] },
}

/// Splits a line into field and value.
pub(super) fn read(line: &[u8]) -> Line<'_> {
    // Nearly all lines.
    if let Some(value) = line.strip_prefix(b"data:") {
        return Line::Data(value.strip_prefix(b" ").unwrap_or(value));
    }
    if line.is_empty() {
        return Line::Blank;
    }
    let (name, value) = match line.iter().position(|&byte| byte == b':') {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => (line, &line[line.len()..]),
    };
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match name {
        b"" => Line::Comment(value),
        b"data" => Line::Data(value),
        b"event" => Line::Event(value),
        b"id" => Line::Id(value),
        b"retry" => Line::Retry(value),
        _ => Line::Other { name, value },
    }
}

/// The lenient reading of a line that is not a field: a known field after white space is that field.
pub(super) fn read_indented(line: &[u8]) -> Line<'_> {
    match read(line.trim_ascii_start()) {
        Line::Other { .. } => read(line),
        known => known,
    }
}

/// Whether `line` is the beginning of the name of a known field, and not all of it.
pub(super) fn begins_field_name(line: &[u8]) -> bool {
    let names: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
    !line.is_empty() && names.iter().any(|name| name.starts_with(line) && name.len() > line.len())
}

/// Whether `name` could be the name of a field, and not the start of JSON, markup or prose.
pub(crate) fn is_field_name(name: &[u8]) -> bool {
    (1..=32).contains(&name.len())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_found_at_every_position() {
        for len in 0..40 {
            for at in 0..len {
                for byte in [b'\n', b'\r'] {
                    let mut text = vec![0x8b_u8; len];
                    text[at] = byte;
                    assert_eq!(end(&text), Some(at));
                }
            }
            assert_eq!(end(&vec![b'\x0b'; len]), None);
        }
    }

    #[test]
    fn one_space_is_dropped() {
        assert_eq!(read(b"data:  x"), Line::Data(b" x"));
        assert_eq!(read(b"data"), Line::Data(b""));
        assert_eq!(read(b":"), Line::Comment(b""));
        assert_eq!(read(b"Data: x"), Line::Other { name: b"Data", value: b"x" });
    }
}
