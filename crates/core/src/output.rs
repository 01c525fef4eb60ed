//! Where mended text goes.

use alloc::{string::String, vec::Vec};

use crate::{Repair, Repairs};

/// Receives what a [`Mender`](crate::Mender) emits: text in order, and the repairs in it.
///
/// The concatenation of all bytes passed to [`copy`](Self::copy) and [`patch`](Self::patch) is the
/// mended text. Slices may end anywhere, even inside a character.
pub trait Output {
    /// Receives bytes of the input, unchanged: a slice of the pushed chunk whenever possible.
    fn copy(&mut self, bytes: &[u8]);

    /// Like [`copy`](Self::copy), for bytes that are all ASCII and plain content of a string value,
    /// as most small chunks are. An output that reads JSON need not look at them again.
    #[inline]
    fn copy_plain(&mut self, bytes: &[u8]) {
        self.copy(bytes);
    }

    /// Receives bytes that replace input, or are inserted into it.
    fn patch(&mut self, bytes: &[u8]) {
        self.copy(bytes);
    }

    /// Receives a repair that is certain. Repairs come in the order of the input, each one before
    /// the first output byte after it.
    fn repair(&mut self, repair: Repair) {
        let _ = repair;
    }

    /// The document has ended. What follows is white space, or belongs to another document.
    fn end_document(&mut self) {}

    /// Mending has stopped. What follows is raw input, and may not be JSON. May be called more than
    /// once.
    fn raw(&mut self) {}

    /// Called at the end of each push, when everything that is certain was emitted. If the text
    /// ends with a number, a literal or a key, it is complete, even if it came in several slices.
    fn settle(&mut self) {}
}

impl Output for Vec<u8> {
    fn copy(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Discards everything.
impl Output for () {
    fn copy(&mut self, _: &[u8]) {}
}

impl<O: Output> Output for &mut O {
    fn copy(&mut self, bytes: &[u8]) {
        (**self).copy(bytes);
    }
    #[inline]
    fn copy_plain(&mut self, bytes: &[u8]) {
        (**self).copy_plain(bytes);
    }
    fn patch(&mut self, bytes: &[u8]) {
        (**self).patch(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        (**self).repair(repair);
    }
    fn end_document(&mut self) {
        (**self).end_document();
    }
    fn raw(&mut self) {
        (**self).raw();
    }
    fn settle(&mut self) {
        (**self).settle();
    }
}

/// Two outputs, both of which receive everything.
///
/// ```
/// use wiremend_core::{Mender, MendOptions, Partial};
/// let mut mender = Mender::new(MendOptions::new());
/// let (mut text, mut value) = (Vec::new(), Partial::new());
/// mender.push(b"{'a': 1, 'b", &mut (&mut text, &mut value));
/// assert_eq!(text, br#"{"a": 1"#);
/// assert_eq!(value.root().unwrap().member("a").unwrap().as_number(), Some("1"));
/// ```
impl<A: Output, B: Output> Output for (A, B) {
    fn copy(&mut self, bytes: &[u8]) {
        self.0.copy(bytes);
        self.1.copy(bytes);
    }
    fn copy_plain(&mut self, bytes: &[u8]) {
        self.0.copy_plain(bytes);
        self.1.copy_plain(bytes);
    }
    fn patch(&mut self, bytes: &[u8]) {
        self.0.patch(bytes);
        self.1.patch(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.0.repair(repair.clone());
        self.1.repair(repair);
    }
    fn end_document(&mut self) {
        self.0.end_document();
        self.1.end_document();
    }
    fn raw(&mut self) {
        self.0.raw();
        self.1.raw();
    }
    fn settle(&mut self) {
        self.0.settle();
        self.1.settle();
    }
}

/// Keeps text and repairs.
///
/// ```
/// use wiremend_core::{Collected, Mender, MendOptions};
/// let mut mender = Mender::new(MendOptions::new());
/// let mut out = Collected::default();
/// mender.push(b"{'a': 1", &mut out);
/// mender.finish(&mut out);
/// assert_eq!(out.text(), br#"{"a": 1}"#);
/// assert_eq!(out.repairs().len(), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    text: Vec<u8>,
    repairs: Repairs,
    documents: usize,
}

impl Collected {
    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text so far, as a string. Bytes that are not UTF-8 (in raw text) become U+FFFD.
    #[must_use]
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// The repairs so far.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// How many documents have ended.
    #[must_use]
    pub const fn documents(&self) -> usize {
        self.documents
    }

    /// Text and repairs.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Repairs) {
        (self.text, self.repairs)
    }
}

impl Output for Collected {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.push(&repair);
    }
    fn end_document(&mut self) {
        self.documents += 1;
    }
}
