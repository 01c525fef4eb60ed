//! Text from bytes that are split anywhere.

/// Turns bytes into strings, and holds back an incomplete character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragments {
    /// The first bytes of a character: at most three.
    open: Vec<u8>,
}

impl Fragments {
    /// The text that `bytes` complete. Invalid UTF-8 becomes U+FFFD.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut joined = std::mem::take(&mut self.open);
        joined.extend_from_slice(bytes);
        let mut text = String::with_capacity(joined.len());
        let mut chunks = joined.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            // Only at the end can the rest of the character still arrive.
            if chunks.peek().is_none() && may_continue(invalid) {
                self.open = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// U+FFFD if the input ended inside a character.
    pub(crate) fn finish(&mut self) -> String {
        if std::mem::take(&mut self.open).is_empty() {
            String::new()
        } else {
            char::REPLACEMENT_CHARACTER.to_string()
        }
    }
}

/// Whether `bytes` are the beginning of a character.
fn may_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(pieces: &[&[u8]]) -> String {
        let mut fragments = Fragments::default();
        let mut text: String = pieces.iter().map(|piece| fragments.push(piece)).collect();
        text.push_str(&fragments.finish());
        text
    }

    #[test]
    fn every_cut_gives_the_same_text() {
        for bytes in ["aé漢𝄞z".as_bytes(), b"a\xff\xe6\xbcz\xf0\x9d\x84", b"\xed\xa0\xbd\xe6"]
        {
            let expected = String::from_utf8_lossy(bytes);
            for cut in 0..=bytes.len() {
                assert_eq!(whole(&[&bytes[..cut], &bytes[cut..]]), expected, "cut {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(whole(&single), expected);
        }
    }

    #[test]
    fn whole_characters_are_not_kept_back() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.push("aé".as_bytes()), "aé");
        assert_eq!(fragments.push(b"\xc3"), "");
        assert_eq!(fragments.push(b"\xa9"), "é");
    }
}
