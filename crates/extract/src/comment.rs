//! Comments before the document of a channel of JSON.

/// A comment that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comment {
    /// Up to `*/`; `star` right after a star.
    Block { star: bool },
    /// Up to the end of the line, which does not belong to it.
    Line,
}

/// How long the mark is that opens a comment.
pub(crate) const MARK: usize = 2;

impl Comment {
    /// The comment that `bytes` begin with; the outer `None` waits for more.
    pub(crate) fn begin(bytes: &[u8], eof: bool) -> Option<Option<Self>> {
        match bytes {
            [b'/', b'*', ..] => Some(Some(Self::Block { star: false })),
            [b'/', b'/', ..] => Some(Some(Self::Line)),
            [b'/'] if !eof => None,
            _ => Some(None),
        }
    }

    /// How many of `bytes` belong to the comment, and how it goes on after them; `None` if it
    /// ended.
    pub(crate) fn read(mut self, bytes: &[u8]) -> (usize, Option<Self>) {
        for (at, &byte) in bytes.iter().enumerate() {
            match (self, byte) {
                (Self::Line, b'\n') => return (at, None),
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
    fn a_comment_ends_where_its_mark_says() {
        let block = Comment::Block { star: false };
        assert_eq!(block.read(b" a **/ b"), (6, None));
        assert_eq!(block.read(b"/ *"), (3, Some(Comment::Block { star: true })));
        assert_eq!(Comment::Line.read(b" a */\nb"), (5, None));
        assert_eq!(Comment::begin(b"/", false), None);
        assert_eq!(Comment::begin(b"/", true), Some(None));
        assert_eq!(Comment::begin(b"/ 2", false), Some(None));
    }
}
