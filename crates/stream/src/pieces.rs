//! The bytes of one event, joined from pieces.

use bytes::{Bytes, BytesMut};

/// Joined pieces: a slice of the caller's chunk as long as they are adjacent in it, otherwise a copy.
#[derive(Debug)]
pub(crate) enum Joined {
    Slice(Bytes),
    Copy(BytesMut),
}

impl Joined {
    /// Starts with one piece, which may lie in `chunk`.
    pub(crate) fn new(chunk: &Bytes, piece: &[u8]) -> Self {
        place(chunk, piece).map_or_else(
            || Self::Copy(BytesMut::from(piece)),
            |at| Self::Slice(chunk.slice(at..at + piece.len())),
        )
    }

    /// Appends a piece.
    pub(crate) fn push(&mut self, chunk: &Bytes, piece: &[u8]) {
        match self {
            Self::Slice(slice) => {
                let start = place(chunk, slice);
                let after = start.map(|start| start + slice.len());
                match (start, after.filter(|_| place(chunk, piece) == after)) {
                    (Some(start), Some(after)) => {
                        *slice = chunk.slice(start..after + piece.len());
                    }
                    _ => {
                        let mut copy = BytesMut::with_capacity(slice.len() + piece.len());
                        copy.extend_from_slice(slice);
                        copy.extend_from_slice(piece);
                        *self = Self::Copy(copy);
                    }
                }
            }
            Self::Copy(copy) => copy.extend_from_slice(piece),
        }
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Slice(slice) => slice,
            Self::Copy(copy) => copy.freeze(),
        }
    }
}

/// The position of a piece in the chunk, if it is part of it.
fn place(chunk: &Bytes, piece: &[u8]) -> Option<usize> {
    let at = piece.as_ptr().addr().checked_sub(chunk.as_ptr().addr())?;
    (at.checked_add(piece.len())? <= chunk.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_side_by_side_are_not_copied() {
        let chunk = Bytes::from(b"some text of a chunk".to_vec());
        let mut joined = Joined::new(&chunk, &chunk[5..9]);
        joined.push(&chunk, &chunk[9..12]);
        let bytes = joined.into_bytes();
        assert_eq!(&bytes[..], b"text of");
        assert_eq!(bytes.as_ptr(), chunk[5..].as_ptr());
    }

    #[test]
    fn other_pieces_are_copied() {
        let chunk = Bytes::from(b"some text of a chunk".to_vec());
        for (first, second) in
            [(&chunk[..4], &b"!"[..]), (b"!", &chunk[..4]), (&chunk[..4], &chunk[9..])]
        {
            let mut joined = Joined::new(&chunk, first);
            joined.push(&chunk, second);
            joined.push(&chunk, b"?");
            assert_eq!(joined.into_bytes(), [first, second, b"?"].concat());
        }
    }
}
