//! Bytes as text.

use core::str;
use std::borrow::Cow;

use crate::work;

/// The text of some bytes, with U+FFFD for what is no UTF-8. Proper text is checked as a whole, which
/// is several times faster than looking for faults.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    work::count(bytes.len());
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
