//! Bytes as text.

use core::str;
use std::borrow::Cow;

use crate::work;

/// Decodes bytes as text, with U+FFFD for invalid UTF-8. Validating the whole input first is several
/// times faster for valid text than a lossy conversion.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    work::count(bytes.len());
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
