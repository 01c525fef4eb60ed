//! Finds the end of a value by its brackets, without a look at anything else.

use crate::scan::string_run;

/// Counts brackets outside of strings, across any number of pieces. It checks nothing.
///
/// ```
/// use wiremend_core::lexer::Brackets;
/// let mut brackets = Brackets::default();
/// assert_eq!(brackets.advance(br#"{"a": "}"#), None);
/// assert_eq!(brackets.advance(br#"]"} and more"#), Some(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Brackets {
    /// Reads on. Returns the number of bytes up to and including the bracket that closes the value,
    /// if there is one.
    #[inline]
    pub fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.in_string {
                at = self.string(bytes, at);
            }
            match *bytes.get(at)? {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.closed = false;
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.closed = true;
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads all of `bytes`, across the ends of values.
    pub fn absorb(&mut self, mut bytes: &[u8]) {
        while let Some(used) = self.advance(bytes) {
            bytes = bytes.get(used..).unwrap_or_default();
        }
    }

    /// Whether a value was opened and closed, and none is open now.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed
    }

    /// Reads the rest of a string, and returns where it ends, after its quote or with the bytes.
    #[inline]
    fn string(&mut self, bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        if core::mem::take(&mut self.escaped) {
            at += 1;
        }
        loop {
            at = string_run(bytes, at, b'"').end;
            match bytes.get(at) {
                Some(b'"') => {
                    self.in_string = false;
                    return at + 1;
                }
                Some(b'\\') if at + 1 < bytes.len() => at += 2,
                Some(b'\\') => {
                    self.escaped = true;
                    return at + 1;
                }
                Some(_) => at += 1,
                None => return at,
            }
        }
    }
}

/// The length of the value at the start of a text that was checked. 0 at a closing bracket or at
/// the end.
///
/// ```
/// use wiremend_core::lexer::skip;
/// assert_eq!(skip(br#"[1, "]"], 2]"#), 8);
/// assert_eq!(skip(b"2]"), 1);
/// assert_eq!(skip(b"]"), 0);
/// ```
#[must_use]
#[inline]
pub fn skip(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => {
            let mut brackets = Brackets { in_string: true, ..Brackets::default() };
            brackets.string(text, 1)
        }
        Some(b'{' | b'[') => Brackets::default().advance(text).unwrap_or(text.len()),
        Some(b'}' | b']') | None => 0,
        Some(_) => text.iter().position(|byte| b",]} \t\r\n".contains(byte)).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_close_is_found_at_every_cut() {
        let text = br#"{"a}\"": [1, {"b": "]\\"}], "c\n": "\""} tail"#;
        let end = text.len() - 5;
        assert_eq!(skip(text), end);
        for cut in 0..=text.len() {
            let mut brackets = Brackets::default();
            let (head, tail) = text.split_at(cut);
            let found = brackets.advance(head).or_else(|| brackets.advance(tail).map(|n| cut + n));
            assert_eq!(found, Some(end), "{cut}");
            assert!(brackets.is_closed());
        }
        let mut brackets = Brackets::default();
        let ends = text.iter().map(|byte| brackets.advance(&[*byte])).position(|end| end.is_some());
        assert_eq!(ends, Some(end - 1));
    }

    #[test]
    fn strings_and_scalars_are_skipped() {
        for (text, length) in [
            (r#""a\"b" , 1"#, 6),
            ("-1.5e3, 2", 6),
            ("true}", 4),
            ("null", 4),
            ("[[], {}]]", 8),
            (r#"{"a": "b"#, 8),
            (r#""a\"#, 3),
            ("", 0),
        ] {
            assert_eq!(skip(text.as_bytes()), length, "{text}");
        }
    }
}
