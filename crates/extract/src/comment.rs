//! Comments before the document in a channel of JSON.

/// A comment that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comment {
    /// Ends with `*/`. `star` is true directly after a star.
    Block { star: bool },
    /// Ends before the end of the line.
    Line,
}

/// The length of the mark that opens a comment.
pub(crate) const MARK: usize = 2;

impl Comment {
    /// The comment at the start of `bytes`. The outer `None` waits for more.
    pub(crate) fn begin(bytes: &[u8], eof: bool) -> Option<Option<Self>> {
        match bytes {
            [b'/', b'*', ..] => Some(Some(Self::Block { star: false })),
            [b'/', b'/', ..] => Some(Some(Self::Line)),
            // As in the engine, where a value is expected.
            [b'#', b' ' | b'#' | b'!' | b'\t', ..] => Some(Some(Self::Line)),
            [b'/' | b'#'] if !eof => None,
            _ => Some(None),
        }
    }

    /// How many of `bytes` belong to the comment, and its state after them; `None` if it has ended.
    pub(crate) fn read(mut self, bytes: &[u8]) -> (usize, Option<Self>) {
        for (at, &byte) in bytes.iter().enumerate() {
            match (self, byte) {
                (Self::Line, b'\n' | b'\r') => return (at, None),
                (Self::Block { star: true }, b'/') => return (at + 1, None),
                (Self::Block { .. }, _) => self = Self::Block { star: byte == b'*' },
                (Self::Line, _) => {}
            }
        }
        (bytes.len(), Some(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_ends_at_its_mark() {
        let block = Comment::Block { star: false };
        assert_eq!(block.read(b" a **/ b"), (6, None));
        assert_eq!(block.read(b"/ *"), (3, Some(Comment::Block { star: true })));
        assert_eq!(Comment::Line.read(b" a */\nb"), (5, None));
        assert_eq!(Comment::begin(b"/", false), None);
        assert_eq!(Comment::begin(b"/", true), Some(None));
        assert_eq!(Comment::begin(b"/ 2", false), Some(None));
    }
}
