//! A scalar that may be all of a channel of JSON.

use wiremend_core::{MendOptions, Mender, Outcome, RepairKind, mend};

/// The state of reading such a scalar. Only white space may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// A number or a word.
    Bare,
    /// Inside quotes. `escaped` is true directly after a backslash.
    Quoted { mark: u8, escaped: bool },
    /// After a double quote that may be an inner one, or in a string that a typographic quote may
    /// have opened. The end of the input decides what it is. `broken` is true after a line end.
    Doubtful { broken: bool },
    /// After the scalar.
    Done,
}

/// The longest number or literal to wait for, in bytes. Anything longer is more likely prose.
const LONGEST: usize = 4096;

impl Scalar {
    /// The state after `first`, if that may begin a scalar.
    pub(crate) const fn begin(first: u8) -> Option<Self> {
        match first {
            b'"' | b'\'' => Some(Self::Quoted { mark: first, escaped: false }),
            0xE2 => Some(Self::Doubtful { broken: false }),
            b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'A'..=b'Z' => Some(Self::Bare),
            _ => None,
        }
    }

    /// Reads a byte, after `held` bytes of the scalar. `None` if the scalar is not alone.
    pub(crate) fn step(self, byte: u8, held: usize) -> Option<Self> {
        match self {
            Self::Quoted { mark, escaped: true } => Some(Self::Quoted { mark, escaped: false }),
            Self::Quoted { mark, .. } if byte == b'\\' => {
                Some(Self::Quoted { mark, escaped: true })
            }
            Self::Quoted { mark: b'"', .. } if byte == b'"' => {
                Some(Self::Doubtful { broken: false })
            }
            Self::Quoted { mark, .. } if byte == mark => Some(Self::Done),
            Self::Doubtful { broken } if byte.is_ascii_whitespace() => {
                Some(Self::Doubtful { broken: broken || byte == b'\n' })
            }
            Self::Doubtful { broken } => (!broken && held < LONGEST).then_some(self),
            Self::Quoted { .. } => Some(self),
            Self::Bare | Self::Done if byte.is_ascii_whitespace() => Some(Self::Done),
            Self::Bare if held < LONGEST => {
                let bare =
                    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
                bare.then_some(self)
            }
            Self::Bare | Self::Done => None,
        }
    }

    /// Whether it is a string in double quotes that was not closed.
    pub(crate) const fn is_open_string(self) -> bool {
        matches!(self, Self::Quoted { mark: b'"', .. })
    }

    /// Whether the input, which ends here, was such a scalar. `text` is all of it except the white
    /// space before.
    pub(crate) fn is_value(self, text: &[u8], options: &MendOptions) -> bool {
        self.looks_like_value(text.trim_ascii_end()) && is_read(text, options.clone())
    }

    fn looks_like_value(self, text: &[u8]) -> bool {
        match self {
            Self::Quoted { mark, .. } => mark == b'"',
            Self::Doubtful { .. } => mends_alone(text),
            Self::Bare | Self::Done => match text.first() {
                Some(b'"' | b'\'') => true,
                _ => is_literal(text) || is_number(text),
            },
        }
    }
}

/// Whether a mender finds anything in `text`.
fn is_read(text: &[u8], options: MendOptions) -> bool {
    let mut mender = Mender::new(options);
    mender.push(text, &mut ());
    mender.finish(&mut ()) != Outcome::None
}

/// Whether all of `text` is mended to one string, without any prose around it.
fn mends_alone(text: &[u8]) -> bool {
    const PROSE: &[RepairKind] = &[
        RepairKind::InlineProse,
        RepairKind::LeadingProse,
        RepairKind::TrailingProse,
        RepairKind::MissingOpen,
    ];
    let mended = mend(text, &MendOptions::new());
    mended.text().is_some_and(|text| text.starts_with('"'))
        && !PROSE.iter().any(|kind| mended.repairs().contains(*kind))
}

/// Whether `text` is a literal in any case or language, or enough of one that was cut off.
fn is_literal(text: &[u8]) -> bool {
    const WORDS: &[&str] = &["true", "false", "null", "none", "undefined"];
    const NUMBERS: &[&str] = &["nan", "infinity"];
    let is = |word: &[u8], names: &[&str]| {
        names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
    };
    let number = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    is(text, WORDS) || is(number, NUMBERS) || [&b"tru"[..], b"fal", b"fals", b"nul"].contains(&text)
}

/// Whether `text` is a number as in JSON or a programming language, or one that was cut off.
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    if let Some(hex) = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X")) {
        return !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit);
    }
    let (mantissa, exponent) = match text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    };
    let points = mantissa.iter().filter(|byte| **byte == b'.').count();
    let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit()).count();
    let groups = mantissa.iter().filter(|byte| **byte == b'_').count();
    let exponent = exponent.is_none_or(|exponent| {
        let digits =
            exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        digits.iter().all(u8::is_ascii_digit)
    });
    points <= 1 && digits > 0 && points + digits + groups == mantissa.len() && exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_recognized() {
        for yes in ["true", "TRUE", "None", "NaN", "-Infinity", "fals"] {
            assert!(is_literal(yes.as_bytes()), "{yes}");
        }
        for no in ["-true", "+null", "t", "fa", "yes", "nothing", ""] {
            assert!(!is_literal(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn numbers_are_recognized() {
        for yes in ["0", "-2", "+5", ".5", "5.", "2e-3", "2e+", "0x1F", "1_000", "007", "1E400"] {
            assert!(is_number(yes.as_bytes()), "{yes}");
        }
        for no in ["-", ".", "1.2.3", "e5", "1-2", "0x", "10kg", "1e5e5", ""] {
            assert!(!is_number(no.as_bytes()), "{no}");
        }
    }
}
