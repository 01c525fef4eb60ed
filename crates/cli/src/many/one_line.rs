//! JSON without white space, on one line.

/// Appends the documents of a valid text, without white space. If there are several, each is on its own
/// line.
pub(super) fn push(json: &str, out: &mut Vec<u8>) {
    let bytes = json.as_bytes();
    let mut at = 0;
    let mut depth = 0_usize;
    // Whether the last document has ended, so that another would need a new line.
    let mut ended = false;
    while let Some(&byte) = bytes.get(at) {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            ended |= depth == 0 && out.last().is_some_and(|last| *last != b'\n');
            at += 1;
            continue;
        }
        if depth == 0 && std::mem::take(&mut ended) && !out.is_empty() {
            out.push(b'\n');
        }
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = string_end(bytes, at),
            b',' | b':' => {}
            _ => at = word_end(bytes, at),
        }
        out.extend_from_slice(bytes.get(start..at).unwrap_or_default());
        ended = depth == 0;
    }
}

/// Where the string ends whose opening quote is before `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| {
        matches!(
            byte,
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"'
        )
    });
    end.map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        let mut out = Vec::new();
        push(json, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_white_space_goes() {
        let text = " {\"a b\\\" c\" : [ 1.10,\r\n\t-2e5 , true , \"\\\\\" ] , \"é\":{ } }\n";
        assert_eq!(line(text), r#"{"a b\" c":[1.10,-2e5,true,"\\"],"é":{}}"#);
        assert_eq!(line(" 1.50 "), "1.50");
        assert_eq!(line("\"\\u0020 \""), "\"\\u0020 \"");
    }

    #[test]
    fn each_document_has_its_line() {
        assert_eq!(line("{\"a\": 1}\n[2 ]{} 1 2\"x\""), "{\"a\":1}\n[2]\n{}\n1\n2\n\"x\"");
        assert_eq!(line(""), "");
    }

    #[test]
    fn a_line_after_others_adds_none() {
        let mut out = b"[1]\n".to_vec();
        push(" [2] ", &mut out);
        assert_eq!(out, b"[1]\n[2]");
    }
}
