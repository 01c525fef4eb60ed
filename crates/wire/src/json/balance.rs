//! Counting brackets outside strings, over any number of pieces.

use crate::work;

/// Follows the brackets of one value. It checks nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    /// Reads on; the number of bytes up to and with the bracket that closes the value, if it is here.
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
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' if self.depth > 0 => {
                        self.depth -= 1;
                        if self.depth == 0 {
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
        }
    }
}
