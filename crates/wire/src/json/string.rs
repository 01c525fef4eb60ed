//! Decodes the content of a checked string, and encodes strings.

use std::borrow::Cow;

use crate::work;

/// Decodes escapes. A surrogate without its other half becomes U+FFFD.
pub(super) fn decode(inner: &str) -> Cow<'_, str> {
    work::count(inner.len());
    let Some(at) = inner.find('\\') else { return Cow::Borrowed(inner) };
    let (head, mut rest) = inner.split_at(at);
    let mut out = String::with_capacity(inner.len());
    out.push_str(head);
    while let Some(escaped) = rest.strip_prefix('\\') {
        let mut chars = escaped.chars();
        let c = chars.next().unwrap_or('\\');
        rest = chars.as_str();
        match c {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => rest = unicode(rest, &mut out),
            other => out.push(other),
        }
        let plain = rest.find('\\').unwrap_or(rest.len());
        let (text, after) = rest.split_at(plain);
        out.push_str(text);
        rest = after;
    }
    Cow::Owned(out)
}

/// Decodes the rest of an escape after `\u`. Returns what follows the escape, or the pair.
fn unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some((unit, after)) = hex4(rest) else { return rest };
    if (0xd800..0xdc00).contains(&unit)
        && let Some((low, after_pair)) = after.strip_prefix("\\u").and_then(hex4)
        && (0xdc00..0xe000).contains(&low)
    {
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return after_pair;
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

fn hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, after) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}

/// Encodes a text as a string, with only the escapes that JSON requires.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    out.push('"');
    escape(text, &mut out);
    out.push('"');
    out
}

/// Encodes the content of a string, with only the escapes that JSON requires.
pub(crate) fn escape(text: &str, out: &mut String) {
    work::count(text.len());
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let code = usize::from(c as u8);
                out.push_str("\\u00");
                out.extend([code >> 4, code & 15].map(|digit| char::from(HEX[digit])));
            }
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, quote};

    #[test]
    fn what_is_quoted_decodes_to_the_same() {
        let text: String = (0..0x250_u32).filter_map(char::from_u32).chain(['😀']).collect();
        let quoted = quote(&text);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        assert_eq!(decode(&quoted[1..quoted.len() - 1]), text);
    }

    #[test]
    fn escapes_and_surrogates() {
        assert_eq!(decode(r#"a\"\\\/\n\u0041é"#), "a\"\\/\nAé");
        assert_eq!(decode(r"\ud83d\ude00!"), "😀!");
        assert_eq!(decode(r"x\ud83d"), "x\u{fffd}");
        assert_eq!(decode(r"\ude00\ud83d\u0041"), "\u{fffd}\u{fffd}A");
    }
}
