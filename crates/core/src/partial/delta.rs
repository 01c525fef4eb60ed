//! What changed between two moments.

use alloc::borrow::Cow;
use core::fmt::{self, Write as _};

use super::{tree::Tree, value::write_string};
use crate::{JsonType, Path};

/// A moment in the growth of a [`Partial`](super::Partial), to ask what has changed
/// [since](super::Partial::since). The default is the moment before anything was read.
///
/// It is a few numbers. There may be any number of them, and the partial value keeps track of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// How many documents were cleared before this one.
    epoch: usize,
    nodes: usize,
    open: Option<usize>,
    /// How much of the text belonged to values. Anything after it in the open string is new.
    text: usize,
}

impl Revision {
    #[inline]
    pub(super) fn new(tree: &Tree, epoch: usize) -> Self {
        let text = tree.open.map_or(0, |at| tree.end_of(at));
        Self { epoch, nodes: tree.nodes.len(), open: tree.open, text }
    }
}

/// One change of a value: what to do at a [path](Delta::path).
///
/// Changes happen only at the end of a document: a value is added after its siblings, the innermost
/// open string grows, or the innermost open value is closed. If a key is repeated, the path refers
/// to its last member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaOp<'a> {
    /// An empty array appears, and is open.
    AddArray,
    /// `true` or `false` appears.
    AddBool(bool),
    /// `null` appears.
    AddNull,
    /// A number appears, as it was written.
    AddNumber(Cow<'a, str>),
    /// An empty object appears, and is open.
    AddObject,
    /// An empty string appears, and is open.
    AddString,
    /// The string grows by this text.
    Append(Cow<'a, str>),
    /// The string, array or object has ended, or was closed because the input was cut off.
    Close,
}

impl DeltaOp<'_> {
    /// Converts into an operation that borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> DeltaOp<'static> {
        match self {
            Self::AddArray => DeltaOp::AddArray,
            Self::AddBool(value) => DeltaOp::AddBool(value),
            Self::AddNull => DeltaOp::AddNull,
            Self::AddNumber(number) => DeltaOp::AddNumber(Cow::Owned(number.into_owned())),
            Self::AddObject => DeltaOp::AddObject,
            Self::AddString => DeltaOp::AddString,
            Self::Append(text) => DeltaOp::Append(Cow::Owned(text.into_owned())),
            Self::Close => DeltaOp::Close,
        }
    }
}

/// A [`DeltaOp`] with its path. It borrows from the value, and computes the path on demand.
///
/// It prints as a JSON object on one line. `add` is an operation of JSON Patch ([RFC 6902]).
/// `append` and `close` are extensions, because JSON Patch can only replace a whole string. The
/// path is a JSON Pointer ([RFC 6901]).
///
/// ```
/// use wiremend_core::{Revision, Mender, MendOptions, Partial};
///
/// let mut mender = Mender::new(MendOptions::new());
/// let mut partial = Partial::new();
/// mender.push(b"{'a/b': ['x", &mut partial);
/// let printed: Vec<_> = partial.since(&Revision::default()).map(|delta| delta.to_string()).collect();
/// assert_eq!(printed, [
///     r#"{"op":"add","path":"","value":{}}"#,
///     r#"{"op":"add","path":"/a~1b","value":[]}"#,
///     r#"{"op":"add","path":"/a~1b/0","value":""}"#,
///     r#"{"op":"append","path":"/a~1b/0","text":"x"}"#,
/// ]);
/// ```
///
/// [RFC 6901]: https://www.rfc-editor.org/rfc/rfc6901
/// [RFC 6902]: https://www.rfc-editor.org/rfc/rfc6902
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    tree: &'a Tree,
    at: usize,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add,
    Append { from: usize, end: usize },
    Close,
}

impl<'a> Delta<'a> {
    /// The path of the value that is added, grows or is closed. Costs O(depth).
    #[must_use]
    pub fn path(&self) -> Path {
        self.tree.path(self.at)
    }

    /// What happens there.
    #[must_use]
    #[inline]
    pub fn op(&self) -> DeltaOp<'a> {
        match self.step {
            Step::Append { from, end } => {
                DeltaOp::Append(Cow::Borrowed(self.tree.slice(from, end)))
            }
            Step::Add => self.added(),
            Step::Close => DeltaOp::Close,
        }
    }

    fn added(&self) -> DeltaOp<'a> {
        match self.tree.node(self.at).kind {
            JsonType::Array => DeltaOp::AddArray,
            JsonType::Boolean => DeltaOp::AddBool(self.tree.text_of(self.at) == "true"),
            JsonType::Null => DeltaOp::AddNull,
            JsonType::Number => DeltaOp::AddNumber(Cow::Borrowed(self.tree.text_of(self.at))),
            JsonType::Object => DeltaOp::AddObject,
            JsonType::String => DeltaOp::AddString,
        }
    }
}

impl fmt::Display for Delta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, field) = match self.step {
            Step::Add => ("add", ",\"value\":"),
            Step::Append { .. } => ("append", ",\"text\":"),
            Step::Close => ("close", ""),
        };
        write!(f, "{{\"op\":\"{op}\",\"path\":")?;
        write_string(f, &self.path().to_pointer())?;
        f.write_str(field)?;
        match self.op() {
            DeltaOp::AddArray => f.write_str("[]")?,
            DeltaOp::AddBool(value) => write!(f, "{value}")?,
            DeltaOp::AddNull => f.write_str("null")?,
            DeltaOp::AddNumber(number) => f.write_str(&number)?,
            DeltaOp::AddObject => f.write_str("{}")?,
            DeltaOp::AddString => f.write_str("\"\"")?,
            DeltaOp::Append(text) => write_string(f, &text)?,
            DeltaOp::Close => {}
        }
        f.write_char('}')
    }
}

/// The changes since a [`Revision`], in order. See [`Partial::since`](super::Partial::since).
#[derive(Clone, Debug)]
pub struct Deltas<'a> {
    tree: &'a Tree,
    /// The innermost value that is open after the changes returned so far.
    open: Option<usize>,
    /// How much of the text of the open string was returned.
    text: usize,
    /// The next value to begin.
    next: usize,
}

impl<'a> Deltas<'a> {
    #[inline]
    pub(super) fn new(tree: &'a Tree, epoch: usize, since: &Revision) -> Self {
        // A moment in another document: start from the beginning.
        let since = if since.epoch == epoch { *since } else { Revision::default() };
        Self { tree, open: since.open, text: since.text, next: since.nodes }
    }
}

impl<'a> Iterator for Deltas<'a> {
    type Item = Delta<'a>;

    #[inline]
    fn next(&mut self) -> Option<Delta<'a>> {
        let tree = self.tree;
        let delta = |at, step| Some(Delta { tree, at, step });
        if self.next == tree.nodes.len() && self.open == tree.open {
            // No further value begins or closes. At most, the open string has grown.
            let at = self.open?;
            let end = tree.text.len();
            if self.text >= end || tree.node(at).kind != JsonType::String {
                return None;
            }
            let from = core::mem::replace(&mut self.text, end);
            return delta(at, Step::Append { from, end });
        }
        let begins = tree.nodes.get(self.next);
        if let Some(at) = self.open {
            let node = tree.nodes.get(at)?;
            if node.kind == JsonType::String {
                let end = if node.open { tree.text.len() } else { tree.end_of(at) };
                if self.text < end {
                    let from = core::mem::replace(&mut self.text, end);
                    return delta(at, Step::Append { from, end });
                }
            }
            if begins.map_or(!node.open, |begins| begins.parent != at) {
                self.open = (at > 0).then_some(node.parent);
                return delta(at, Step::Close);
            }
        }
        let begins = begins?;
        let at = self.next;
        self.next += 1;
        if matches!(begins.kind, JsonType::Array | JsonType::Object | JsonType::String) {
            self.open = Some(at);
            self.text = begins.text;
        }
        delta(at, Step::Add)
    }
}

impl core::iter::FusedIterator for Deltas<'_> {}
