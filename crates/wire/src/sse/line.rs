//! Where a line ends, and what it says.

/// The position of the first LF or CR, eight bytes at a time.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    const LF: u64 = u64::from_ne_bytes([b'\n'; 8]);
    const CR: u64 = u64::from_ne_bytes([b'\r'; 8]);
    let mut at = 0;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut array = [0; 8];
        array.copy_from_slice(word);
        let word = u64::from_ne_bytes(array);
        if has_zero(word ^ LF) || has_zero(word ^ CR) {
            break;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map(|found| at + found)
}

/// Whether one of the eight bytes is zero.
const fn has_zero(word: u64) -> bool {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(LOW) & !word & HIGH != 0
}

/// One line, read as the specification reads it.
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
