//! Encodes strings.

use crate::work;

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
    use super::quote;

    #[test]
    fn what_is_quoted_reads_as_the_same() {
        let text: String = (0..0x250_u32).filter_map(char::from_u32).chain(['😀']).collect();
        let quoted = quote(&text);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}
