//! Counts brackets outside of strings, across any number of pieces.

use crate::work;

/// Tracks the brackets of one value. It checks nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Balance {
    /// Reads on. Returns the number of bytes up to and including the bracket that closes the value, if any.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                match byte {
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => {
                        self.depth += 1;
                        self.closed = false;
                    }
                    b'}' | b']' if self.depth > 0 => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            self.closed = true;
                            work::count(at + 1);
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
            }
        }
        work::count(bytes.len());
        None
    }

    /// Reads all of `bytes`, across the ends of values.
    pub(crate) fn absorb(&mut self, mut bytes: &[u8]) {
        while let Some(used) = self.advance(bytes) {
            bytes = bytes.get(used..).unwrap_or_default();
        }
    }

    /// Whether a value was opened and closed, and none is open now.
    pub(crate) const fn is_closed(self) -> bool {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::Balance;

    #[test]
    fn the_close_is_found_at_every_cut() {
        let text = br#"{"a}\"": [1, {"b": "]"}]} tail"#;
        for cut in 0..=text.len() {
            let mut balance = Balance::default();
            let (head, tail) = text.split_at(cut);
            let end = balance.advance(head).or_else(|| balance.advance(tail).map(|n| cut + n));
            assert_eq!(end, Some(text.len() - 5), "{cut}");
            assert!(balance.is_closed());
        }
    }
}
