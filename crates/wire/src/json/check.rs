//! Checks the grammar, and skips over text that was checked.

use super::scan::string_run;
use crate::work;

/// Why a text does not start with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ends inside the value.
    Incomplete,
    /// It is not JSON, or nested too deeply.
    Invalid,
}

/// Envelopes are nested about ten levels deep. Text that is nested much deeper is not an envelope.
const MAX_DEPTH: usize = 512;

/// What the grammar expects next.
#[derive(Clone, Copy)]
enum Want {
    Value,
    ValueOrClose,
    KeyOrClose,
    Key,
    Colon,
    CommaOrClose,
}

/// The open brackets, one bit each: set for an object.
#[derive(Default)]
struct Open {
    bits: [u64; MAX_DEPTH / 64],
    depth: usize,
}

impl Open {
    /// Opens a bracket. `None` if there are too many.
    fn push(&mut self, object: bool) -> Option<()> {
        let word = self.bits.get_mut(self.depth / 64)?;
        let bit = 1 << (self.depth % 64);
        *word = if object { *word | bit } else { *word & !bit };
        self.depth += 1;
        Some(())
    }

    /// Whether the innermost open bracket is an object. `None` if none is open.
    fn last(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.bits.get(at / 64)? >> (at % 64) & 1 == 1)
    }

    /// Closes the innermost bracket.
    fn pop(&mut self) -> Option<bool> {
        let last = self.last()?;
        self.depth -= 1;
        Some(last)
    }
}

/// The end of the value that starts at the first byte.
pub(super) fn value_end(bytes: &[u8]) -> Result<usize, Fault> {
    let mut open = Open::default();
    let mut want = Want::Value;
    let mut at = 0;
    loop {
        let space = spaces(bytes, at);
        work::count(1 + space);
        at += space;
        let byte = *bytes.get(at).ok_or(Fault::Incomplete)?;
        match (want, byte) {
            (Want::Value | Want::ValueOrClose, b'{' | b'[') => {
                open.push(byte == b'{').ok_or(Fault::Invalid)?;
                want = if byte == b'{' { Want::KeyOrClose } else { Want::ValueOrClose };
                at += 1;
                continue;
            }
            (Want::ValueOrClose, b']')
            | (Want::KeyOrClose, b'}')
            | (Want::CommaOrClose, b'}' | b']') => {
                if open.pop() != Some(byte == b'}') {
                    return Err(Fault::Invalid);
                }
                at += 1;
            }
            (Want::KeyOrClose | Want::Key, b'"') => {
                at = string_end(bytes, at)?;
                want = Want::Colon;
                continue;
            }
            (Want::Colon, b':') => {
                at += 1;
                want = Want::Value;
                continue;
            }
            (Want::CommaOrClose, b',') => {
                at += 1;
                want = if open.last() == Some(true) { Want::Key } else { Want::Value };
                continue;
            }
            (Want::Value | Want::ValueOrClose, _) => at = scalar_end(bytes, at)?,
            _ => return Err(Fault::Invalid),
        }
        if open.depth == 0 {
            return Ok(at);
        }
        want = Want::CommaOrClose;
    }
}

fn spaces(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

fn scalar_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first() {
        Some(b'"') => string_end(bytes, at),
        Some(b'-' | b'0'..=b'9') => number_len(rest).map(|len| at + len),
        _ => {
            for word in ["true", "false", "null"] {
                if rest.starts_with(word.as_bytes()) {
                    return Ok(at + word.len());
                }
                if word.as_bytes().starts_with(rest) {
                    return Err(Fault::Incomplete);
                }
            }
            Err(Fault::Invalid)
        }
    }
}

/// The position after the closing quote. `at` is the opening quote.
fn string_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let mut at = at + 1;
    loop {
        at = string_run(bytes, at);
        match *bytes.get(at).ok_or(Fault::Incomplete)? {
            b'"' => return Ok(at + 1),
            b'\\' => match *bytes.get(at + 1).ok_or(Fault::Incomplete)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let digits = bytes.get(at + 2..).unwrap_or_default();
                    let digits = digits.get(..4).unwrap_or(digits);
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Fault::Invalid);
                    }
                    if digits.len() < 4 {
                        return Err(Fault::Incomplete);
                    }
                    at += 6;
                }
                _ => return Err(Fault::Invalid),
            },
            0..=0x1f => return Err(Fault::Invalid),
            _ => at += 1,
        }
    }
}

fn number_len(text: &[u8]) -> Result<usize, Fault> {
    let digits = |at: usize| -> Result<usize, Fault> {
        let rest = text.get(at..).unwrap_or_default();
        match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 if rest.is_empty() => Err(Fault::Incomplete),
            0 => Err(Fault::Invalid),
            n => Ok(at + n),
        }
    };
    let start = usize::from(text.first() == Some(&b'-'));
    let mut at = digits(start)?;
    if text.get(start) == Some(&b'0') && at > start + 1 {
        return Err(Fault::Invalid);
    }
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    Ok(at)
}

/// The length of the value at the start of a checked text. 0 at a closing bracket or at the end.
pub(super) fn skip(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        work::count(1);
        match byte {
            b'"' => at = skip_string(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                if depth == 0 {
                    return 0;
                }
                depth -= 1;
                at += 1;
            }
            _ if depth == 0 => {
                let scalar = bytes.get(at..).unwrap_or_default();
                return scalar
                    .iter()
                    .position(|byte| b",]} \t\r\n".contains(byte))
                    .unwrap_or(scalar.len());
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn skip_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = string_run(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_serde_json() {
        let texts = [
            "{}",
            "[]",
            "[1,]",
            "{,}",
            "{\"a\":1,}",
            "[01]",
            "[-]",
            "[-0.5e+3]",
            "[1.]",
            "[.5]",
            "tru",
            "true",
            "nul",
            "\"\\u12",
            "\"\\u12G4\"",
            "\"\\x\"",
            "\"\n\"",
            "{\"a\" 1}",
            "{a:1}",
            "[1 2]",
            "[1}",
            "{\"a\":[{}]}",
            "-",
            "1e",
            "\"abc",
            "{\"a\":",
            "[[",
            "]",
            "",
            "[\"\\\"]\"]",
            "nope",
        ];
        for text in texts {
            let ours = value_end(text.as_bytes()).ok() == Some(text.len());
            let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(ours, theirs, "{text}");
        }
    }

    #[test]
    fn every_prefix_of_a_container_is_incomplete() {
        let text = r#"{"a":[1.5e3,"x\"\u00e9",true,null,{}],"b":-1}"#;
        for cut in 0..text.len() {
            assert_eq!(value_end(&text.as_bytes()[..cut]), Err(Fault::Incomplete), "{cut}");
        }
        assert_eq!(skip(text.as_bytes()), text.len());
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(value_end("[".repeat(100_000).as_bytes()), Err(Fault::Invalid));
    }
}
