//! Bytes that arrive in pieces, as texts.

use std::{collections::HashMap, hash::Hash};

/// What pieces have of a character that is not whole yet, by what they are pieces of.
///
/// ```
/// let mut pieces = wiremend_plain::Pieces::default();
/// assert_eq!(pieces.whole(1, b"a\xC3".to_vec()), "a");
/// assert_eq!(pieces.whole(2, b"b".to_vec()), "b");
/// assert_eq!(pieces.whole(1, b"\xA4".to_vec()), "ä");
/// ```
#[derive(Debug)]
pub struct Pieces<K>(HashMap<K, Vec<u8>>);

impl<K> Default for Pieces<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> Pieces<K> {
    /// The text of a piece, up to its last whole character.
    pub fn whole(&mut self, key: K, mut piece: Vec<u8>) -> String {
        if let Some(mut tail) = self.0.remove(&key) {
            tail.append(&mut piece);
            piece = tail;
        }
        if let Err(error) = std::str::from_utf8(&piece)
            && error.error_len().is_none()
        {
            self.0.insert(key, piece.split_off(error.valid_up_to()));
        }
        String::from_utf8(piece)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Forgets what is not whole.
    pub fn end(&mut self, key: &K) {
        self.0.remove(key);
    }
}
