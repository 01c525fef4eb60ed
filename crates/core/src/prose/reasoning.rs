//! Reasoning blocks, and the tags that models put around them.

/// The tags that open and close a block. An opening tag counts only at the start of a line, because
/// prose may mention it.
const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<antthinking>", "</antthinking>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<seed:think>", "</seed:think>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

/// Whether tags of this name enclose reasoning, as `think` does in `<think>…</think>`.
///
/// ```
/// assert!(wiremend_core::prose::is_reasoning_tag("think"));
/// assert!(!wiremend_core::prose::is_reasoning_tag("answer"));
/// ```
#[must_use]
pub fn is_reasoning_tag(name: &str) -> bool {
    TAGS.iter().any(|(open, _)| {
        let own = open.strip_prefix('<').and_then(|open| open.strip_suffix('>'));
        own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    })
}

/// A reasoning block that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    close: &'static str,
}

/// The block that is opened by a tag at the start of `bytes`, and the length of the tag. The outer
/// `None` waits for more.
#[must_use]
pub fn open(bytes: &[u8], eof: bool) -> Option<Option<(Block, usize)>> {
    let mut partial = false;
    for (open, close) in TAGS {
        if starts_with(bytes, open.as_bytes()) {
            return Some(Some((Block { close }, open.len())));
        }
        partial |= bytes.len() < open.len() && starts_with(open.as_bytes(), bytes);
    }
    (!partial || eof).then_some(None)
}

/// The length of a closing tag at the start of `bytes`, which closes a block that the prompt has
/// opened. The outer `None` waits for more.
#[must_use]
pub fn stray_close(bytes: &[u8], eof: bool) -> Option<Option<usize>> {
    let mut partial = false;
    for (_, close) in TAGS {
        if starts_with(bytes, close.as_bytes()) {
            return Some(Some(close.len()));
        }
        partial |= bytes.len() < close.len() && starts_with(close.as_bytes(), bytes);
    }
    (!partial || eof).then_some(None)
}

impl Block {
    /// The closing tag.
    #[must_use]
    pub const fn close(self) -> &'static str {
        self.close
    }

    /// How many of `bytes` are certain to come before the closing tag, and the length of the tag if
    /// it follows them.
    #[must_use]
    pub fn inside(self, bytes: &[u8], eof: bool) -> (usize, Option<usize>) {
        let close = self.close.as_bytes();
        let lead = close.first().copied().unwrap_or_default();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let Some(found) = rest.iter().position(|&byte| byte == lead) else { break };
            at += found;
            let rest = bytes.get(at..).unwrap_or_default();
            if starts_with(rest, close) {
                return (at, Some(close.len()));
            }
            if !eof && starts_with(close, rest) {
                return (at, None);
            }
            at += 1;
        }
        (bytes.len(), None)
    }
}

/// Whether `text` starts with `tag`, ignoring the case of ASCII letters.
fn starts_with(text: &[u8], tag: &[u8]) -> bool {
    text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_lower_case_and_none_begins_another() {
        for (at, (open, close)) in TAGS.iter().enumerate() {
            assert_eq!(*open, open.to_ascii_lowercase());
            assert_eq!(*close, close.to_ascii_lowercase());
            let clash = TAGS.iter().enumerate().any(|(i, (o, _))| i != at && o.starts_with(open));
            assert!(!clash, "{open}");
        }
    }

    #[test]
    fn an_incomplete_tag_waits() {
        assert_eq!(open(b"<thi", false), None);
        assert_eq!(open(b"<thi", true), Some(None));
        assert_eq!(open(b"<thin air", false), Some(None));
        assert_eq!(open(b"<THINK>x", false).flatten().map(|found| found.1), Some(7));
    }
}
