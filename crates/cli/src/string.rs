//! The strings of JSON that others wrote.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// The bytes of a JSON string. A lone surrogate escape, which UTF-8 cannot represent, becomes the three
/// bytes that its number would have in UTF-8. Invalid UTF-8 is kept, because the engine, and not the
/// reader of the line, has to handle it.
#[derive(Debug)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(bytes)))
    }
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(bytes.to_vec())))
    }
    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(bytes)))
    }
}
