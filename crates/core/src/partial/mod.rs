//! The value of a document so far.

mod delta;
#[cfg(feature = "serde_json")]
mod json;
mod tree;
mod value;

use core::fmt;

use crate::{
    EventReader, JsonType, Output, Path, Step, events::short_character, scan::is_plain_text,
};
use tree::LONG;

pub use delta::{Delta, DeltaOp, Deltas, Revision};
#[cfg(feature = "serde_json")]
pub use json::Unrepresentable;
pub use tree::Tree;
pub use value::Value;

/// The partial value of a document that is still arriving.
///
/// It is an [`Output`]: pass it to a [`Mender`](crate::Mender). At every moment,
/// [`root`](Self::root) is a prefix of the final value. The type of a value never changes, numbers
/// and literals appear whole, strings and arrays only grow at the end, only the last item can be
/// open, and a key appears together with its value. Members keep their order, and duplicate keys
/// are kept.
///
/// ```
/// use wiremend_core::{Mender, MendOptions, Partial};
///
/// let mut mender = Mender::new(MendOptions::new());
/// let mut partial = Partial::new();
/// mender.push(b"{'city': 'Par", &mut partial);
/// assert_eq!(partial.to_string(), r#"{"city":"Par"}"#);
/// let city = partial.root().unwrap().member("city").unwrap();
/// assert_eq!(city.as_str(), Some("Par"));
/// assert!(city.is_open());
/// mender.push(b"is', 'zip': 75", &mut partial);
/// assert_eq!(partial.to_string(), r#"{"city":"Paris"}"#);
/// mender.finish(&mut partial);
/// assert_eq!(partial.to_string(), r#"{"city":"Paris","zip":75}"#);
/// ```
///
/// There are four ways to read it, from the cheapest to the most expensive:
/// * [`root`](Self::root) borrows any part of it, at no cost;
/// * [`since`](Self::since) iterates over what changed, at the cost of the change;
/// * [`to_owned_value`](Self::to_owned_value) copies it;
/// * its `Display` implementation prints it as JSON text, for any parser.
///
/// Text that passes through raw, because mending has stopped, is not read: the value stays as it
/// is.
///
/// Memory: the strings, keys and numbers of the document, and a few words per value. Nothing is
/// recursive, whatever the depth.
#[derive(Clone)]
pub struct Partial {
    tree: Tree,
    /// Its offset is not used, because content of strings may bypass it.
    reader: EventReader,
    /// How many times it was cleared, to recognize revisions of earlier documents.
    epoch: usize,
}

impl Default for Partial {
    fn default() -> Self {
        Self::new()
    }
}

impl Partial {
    /// Creates a partial value without any content.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self { tree: Tree::default(), reader: EventReader::new(), epoch: 0 }
    }

    /// The value so far. `None` before its type is known.
    #[must_use]
    #[inline]
    pub fn root(&self) -> Option<Value<'_>> {
        (!self.tree.nodes.is_empty()).then_some(Value { tree: &self.tree, at: 0 })
    }

    /// The innermost value that is open, which is where the document grows. `None` before it
    /// begins, and after it has ended.
    #[must_use]
    #[inline]
    pub fn open(&self) -> Option<Value<'_>> {
        self.tree.open.map(|at| Value { tree: &self.tree, at })
    }

    /// Copies the value so far. Costs O(its size).
    #[must_use]
    #[inline]
    pub fn to_owned_value(&self) -> OwnedValue {
        self.root().map(OwnedValue::from).unwrap_or_default()
    }

    /// The current moment, to ask later what has changed [since](Self::since).
    #[must_use]
    #[inline]
    pub fn revision(&self) -> Revision {
        Revision::new(&self.tree, self.epoch)
    }

    /// The changes since an earlier moment, in order. Applying them to the value of that moment
    /// gives the current value. They are derived from the value instead of being recorded, and cost
    /// O(what has changed). A string that grew in many pieces has one [`Append`](DeltaOp::Append).
    ///
    /// For a moment before the last [`clear`](Self::clear), these are all changes since that call.
    ///
    /// ```
    /// use wiremend_core::{DeltaOp, Revision, Mender, MendOptions, Partial};
    ///
    /// let mut mender = Mender::new(MendOptions::new());
    /// let (mut partial, mut seen) = (Partial::new(), Revision::default());
    /// mender.push(b"{'say': 'He", &mut partial);
    /// seen = partial.revision();
    /// mender.push(b"llo'}", &mut partial);
    /// mender.finish(&mut partial);
    ///
    /// let deltas: Vec<_> = partial.since(&seen).collect();
    /// assert_eq!(deltas[0].path().to_string(), "$.say");
    /// assert_eq!(deltas[0].op(), DeltaOp::Append("llo".into()));
    /// assert_eq!(deltas[1].op(), DeltaOp::Close);
    /// assert_eq!(deltas[2].path().to_string(), "$");
    /// assert_eq!(deltas.len(), 3);
    /// ```
    #[must_use]
    #[inline]
    pub fn since(&self, moment: &Revision) -> Deltas<'_> {
        Deltas::new(&self.tree, self.epoch, moment)
    }

    /// Whether the document has ended, either by itself or because it was closed where it was cut
    /// off.
    /// [`Outcome::is_complete`](crate::Outcome::is_complete) distinguishes the two.
    #[must_use]
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.tree.is_complete()
    }

    /// Removes the value to prepare for the next document, keeping the buffers.
    pub fn clear(&mut self) {
        self.tree.clear();
        self.reader.reset();
        self.epoch += 1;
    }
}

impl Output for Partial {
    #[inline]
    fn copy_plain(&mut self, bytes: &[u8]) {
        if self.reader.is_in_text() {
            self.tree.extend_ascii(bytes);
        } else {
            self.read(bytes);
        }
    }

    #[inline]
    fn copy(&mut self, bytes: &[u8]) {
        // Most pieces are short, and plain content of a string.
        if self.reader.is_in_text() && is_plain_text(bytes) {
            self.tree.extend_ascii(bytes);
        } else if self.reader.is_in_string() && bytes.len() < LONG {
            self.read_content(bytes);
        } else if bytes.len() > 2 || !self.reader.read_separator(bytes) {
            self.read(bytes);
        }
    }

    #[inline]
    fn patch(&mut self, bytes: &[u8]) {
        if bytes == b"\"" {
            let tree = &mut self.tree;
            self.reader.read_quote(&mut |_, event| tree.take(event));
        } else {
            self.copy(bytes);
        }
    }

    #[inline]
    fn settle(&mut self) {
        let tree = &mut self.tree;
        self.reader.end_token(&mut |_, event| tree.take(event));
    }

    fn raw(&mut self) {
        self.reader.stop();
    }
}

impl Partial {
    /// Reads a short piece that begins inside a string, character by character and without creating
    /// events.
    fn read_content(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [first, ..] = *rest {
            let whole = if self.reader.is_in_part() { None } else { short_character(rest) };
            let length = if let Some((character, length)) = whole {
                self.tree.push(character);
                length
            } else if self.reader.is_in_part() || first == b'\\' {
                let tree = &mut self.tree;
                self.reader.read_part(rest, &mut |_, event| tree.take(event))
            } else {
                return self.read(rest);
            };
            rest = &rest[length..];
        }
    }

    /// Reads any piece of mended text.
    fn read(&mut self, bytes: &[u8]) {
        let tree = &mut self.tree;
        self.reader.read(bytes, &mut |_, event| tree.take(event));
    }
}

/// Prints the value so far as JSON text. Empty if there is none.
impl fmt::Display for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().map_or(Ok(()), |root| fmt::Display::fmt(&root, f))
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial").field("root", &self.root()).finish_non_exhaustive()
    }
}

// A partial value that is owned.

/// A partial value that is owned: a snapshot that may outlive its [`Partial`](super::Partial), be
/// sent to another thread, and be kept up to date there by applying [changes](DeltaOp).
///
/// The tree is flat: cloning, comparing, printing and dropping are not recursive.
///
/// ```
/// use wiremend_core::{Revision, Mender, MendOptions, OwnedValue, Partial};
///
/// let mut mender = Mender::new(MendOptions::new());
/// let (mut partial, mut seen) = (Partial::new(), Revision::default());
/// let mut elsewhere = OwnedValue::new();
/// for piece in ["{'city': 'Par", "is', 'zip': 75", "001}"] {
///     mender.push(piece.as_bytes(), &mut partial);
///     for delta in partial.since(&seen) {
///         elsewhere.apply(&delta.path(), &delta.op()).unwrap();
///     }
///     seen = partial.revision();
///     assert_eq!(elsewhere, partial.to_owned_value());
/// }
/// assert_eq!(elsewhere.to_string(), r#"{"city":"Paris","zip":75001}"#);
/// ```
#[derive(Clone, Default)]
pub struct OwnedValue {
    tree: Tree,
}

/// A [`DeltaOp`] does not fit the value it was applied to, because another one is missing or was
/// applied in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misplaced;

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the change does not fit the value")
    }
}

impl core::error::Error for Misplaced {}

impl OwnedValue {
    /// Creates one without a value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value, or `None` if there is none yet.
    #[must_use]
    pub fn root(&self) -> Option<Value<'_>> {
        (!self.tree.nodes.is_empty()).then_some(Value { tree: &self.tree, at: 0 })
    }

    /// Whether there is a value that has ended, either by itself or because it was closed where it
    /// was cut off.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.tree.is_complete()
    }

    /// Applies a change. Costs O(depth) and the size of the change.
    ///
    /// # Errors
    /// [`Misplaced`] if the path is not where the value grows, or the value there does not allow
    /// this change. The value then stays as it is.
    pub fn apply(&mut self, path: &Path, change: &DeltaOp<'_>) -> Result<(), Misplaced> {
        let steps = path.steps();
        if matches!(change, DeltaOp::Append(_) | DeltaOp::Close) {
            let at = self.tree.open.filter(|&at| self.tree.is_at(at, steps)).ok_or(Misplaced)?;
            match change {
                DeltaOp::Append(text) if self.tree.node(at).kind == JsonType::String => {
                    self.tree.extend(text);
                }
                DeltaOp::Close => self.tree.close(),
                _ => return Err(Misplaced),
            }
            return Ok(());
        }
        self.step_into(steps)?;
        match change {
            DeltaOp::AddArray => _ = self.tree.begin(JsonType::Array),
            DeltaOp::AddBool(true) => _ = self.tree.scalar(JsonType::Boolean, "true"),
            DeltaOp::AddBool(false) => _ = self.tree.scalar(JsonType::Boolean, "false"),
            DeltaOp::AddNull => _ = self.tree.scalar(JsonType::Null, "null"),
            DeltaOp::AddNumber(number) => _ = self.tree.scalar(JsonType::Number, number),
            DeltaOp::AddObject => _ = self.tree.begin(JsonType::Object),
            DeltaOp::AddString => _ = self.tree.begin(JsonType::String),
            DeltaOp::Append(_) | DeltaOp::Close => {}
        }
        Ok(())
    }

    /// Makes sure that the next value is added at this path.
    fn step_into(&mut self, steps: &[Step]) -> Result<(), Misplaced> {
        let Some((step, container)) = steps.split_last() else {
            return if self.tree.nodes.is_empty() { Ok(()) } else { Err(Misplaced) };
        };
        let at = self.tree.open.filter(|&at| self.tree.is_at(at, container)).ok_or(Misplaced)?;
        let open = Value { tree: &self.tree, at };
        match (open.kind(), step) {
            (JsonType::Object, Step::Key(key)) => self.tree.key(key),
            (JsonType::Array, Step::Index(index)) if *index == open.len() => {}
            _ => return Err(Misplaced),
        }
        Ok(())
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        value.to_owned_value()
    }
}

impl PartialEq for OwnedValue {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

/// Prints JSON text without white space, as if everything open were closed. Empty if there is no
/// value.
impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().map_or(Ok(()), |root| fmt::Display::fmt(&root, f))
    }
}

impl fmt::Debug for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedValue").field(&self.root()).finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    /// Short pieces of strings, quotes and separators bypass the reader, which must make no
    /// difference.
    #[test]
    fn short_pieces_are_read_as_by_the_reader() {
        let texts: [&[u8]; 15] = [
            br#"{"a": {"b": 1, "c":[2, "d","e"]},"f": null} 1"#,
            br#"["a" , "b"], 1, "c": 2"#,
            b"[\"a\xe6\"]",
            br#"["a line\nwith \"quotes\" and \u00e9, \\ and \/ and \b\f\r\t", "next"]"#,
            br#"["\ud83d\ude00 is one, \u0041\u00df\uFFFF are three", 1]"#,
            "[\"Ça va très bien 👍 \\n世界\", {\"k\\n\": \"v\\n\"}]".as_bytes(),
            br#"["lone \ud83d half", 1]"#,
            br#"["lone \ude00 half", 1]"#,
            br#"["no \x escape", 1]"#,
            br#"["no \u00g1 unit", 1]"#,
            br#"["no \u+041 unit", 1]"#,
            b"[\"a \x01 byte\", 1]",
            b"[\"del \x7f\\n\", 1]",
            b"[\"no \xff\\n text\", 1]",
            b"[\"no \xf0\x9f\\n text\", 1]",
        ];
        for text in texts {
            for size in 1..=text.len() {
                let (mut partial, mut tree) = (Partial::new(), Tree::default());
                let mut reader = EventReader::new();
                for piece in text.chunks(size) {
                    if piece == b"\"" {
                        partial.patch(piece);
                    } else {
                        partial.copy(piece);
                    }
                    reader.read(piece, &mut |_, event| tree.take(event));
                    assert_eq!(partial.reader.is_broken(), reader.is_broken(), "{size}: {piece:?}");
                    if !reader.is_broken() {
                        let of_reader = Partial { tree: tree.clone(), ..Partial::new() };
                        assert_eq!(partial.to_string(), of_reader.to_string(), "{size}: {piece:?}");
                    }
                }
            }
        }
    }
}
