//! Places in a document.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{
    borrow::Borrow,
    fmt::{self, Write as _},
};

use crate::{EventReader, Output, ParseEvent, Repair};

/// One step from a container to one of its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Step {
    /// The member with this (decoded) key.
    Key(Box<str>),
    /// The item at this index, from 0.
    Index(usize),
}

/// A place in a document: the steps from the root. It prints as `$.a[0]["b c"]`.
///
/// ```
/// use wiremend_core::{Path, Step};
/// let path = Path::from(vec![Step::Key("a".into()), Step::Index(0), Step::Key("b c".into())]);
/// assert_eq!(path.to_string(), r#"$.a[0]["b c"]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// The steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The path as a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    ///
    /// ```
    /// use wiremend_core::{Path, Step};
    /// let path = Path::from(vec![Step::Key("a/b".into()), Step::Index(0)]);
    /// assert_eq!(path.to_pointer(), "/a~1b/0");
    /// ```
    #[must_use]
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            pointer.push('/');
            match step {
                Step::Index(index) => {
                    // Writing to a string does not fail.
                    let _ = write!(pointer, "{index}");
                }
                Step::Key(key) => key.chars().for_each(|c| match c {
                    '~' => pointer.push_str("~0"),
                    '/' => pointer.push_str("~1"),
                    c => pointer.push(c),
                }),
            }
        }
        pointer
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in &self.steps {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

// The paths of repairs, found from the text that they made.

/// Follows mended text, and knows the path of the place that it has reached.
///
/// As an [`Output`] beside another one, it says where each repair was made: ask for the
/// [path](Self::path_of) of a repair when it arrives, before the text after it. For repairs that
/// were kept, use [`Located`].
///
/// ```
/// use wiremend_core::{Mender, MendOptions, Output, Paths, Repair};
///
/// #[derive(Default)]
/// struct Places(Paths, Vec<String>);
///
/// impl Output for Places {
///     fn copy(&mut self, bytes: &[u8]) {
///         self.0.copy(bytes);
///     }
///     fn repair(&mut self, repair: Repair) {
///         self.1.push(self.0.path_of(&repair).to_string());
///     }
/// }
///
/// let mut places = Places::default();
/// let mut mender = Mender::new(MendOptions::new());
/// mender.push(br#"{"a": [1, None], "b": True}"#, &mut places);
/// mender.finish(&mut places);
/// assert_eq!(places.1, ["$.a[1]", "$.b"]);
/// ```
///
/// Time: linear in the text, whatever its depth; a path takes time when it is made. Memory: the
/// current keys, and a few words per level.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    reader: EventReader,
    open: OpenContainers,
}

/// The open containers, outermost first.
#[derive(Clone, Debug, Default)]
struct OpenContainers {
    stack: Vec<Container>,
    /// The last key of each object, one after the other.
    keys: String,
}

#[derive(Clone, Copy, Debug)]
struct Container {
    /// Where its last key starts in the keys, or would start.
    key_start: usize,
    last: Last,
}

/// The child of a container that was read last.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// The key of the last member, if there was one.
    Key(bool),
    /// How many items have begun, not counting a number or literal that has not ended.
    Items(usize),
}

impl Paths {
    /// Begins at the start of a text.
    #[must_use]
    pub const fn new() -> Self {
        let open = OpenContainers { stack: Vec::new(), keys: String::new() };
        Self { reader: EventReader::new(), open }
    }

    /// Reads the next piece of mended text.
    pub fn read(&mut self, text: &[u8]) {
        let Self { reader, open } = self;
        reader.read(text, &mut |_, event| open.event(event));
    }

    /// Starts over with the same buffers.
    pub fn reset(&mut self) {
        self.reader.reset();
        self.open.stack.clear();
        self.open.keys.clear();
    }

    /// The path of the place that the text has reached. It has a key once that is complete, and an
    /// index from the start of the item or the comma before it. Outside of documents it is `$`. Once
    /// the text turned out not to be JSON, it stays as it is.
    #[must_use]
    pub fn path(&self) -> Path {
        self.at(false)
    }

    /// The path of a repair that was made here: the value that it inserts, if it inserts one.
    #[must_use]
    pub fn path_of(&self, repair: &Repair) -> Path {
        self.at(begins_value(repair.after()))
    }

    fn at(&self, begins_value: bool) -> Path {
        let mut steps = Vec::with_capacity(self.open.stack.len());
        let innermost = self.open.stack.len().wrapping_sub(1);
        for (at, container) in self.open.stack.iter().enumerate() {
            match container.last {
                Last::Key(false) => {}
                Last::Key(true) => {
                    if at != innermost || !self.reader.awaits_key() {
                        steps.push(Step::Key(self.open.key(at).into()));
                    }
                }
                Last::Items(ended) => {
                    let begins = begins_value && self.reader.is_between();
                    let more = at == innermost
                        && (begins || self.reader.awaits_item() || self.reader.is_in_scalar());
                    steps.extend((ended + usize::from(more)).checked_sub(1).map(Step::Index));
                }
            }
        }
        Path::from(steps)
    }
}

impl Output for Paths {
    fn copy(&mut self, bytes: &[u8]) {
        self.read(bytes);
    }

    /// Stops, because raw text is not read.
    fn raw(&mut self) {
        self.reader.stop();
    }
}

impl OpenContainers {
    fn event(&mut self, event: ParseEvent<'_>) {
        match event {
            ParseEvent::BeginArray => self.begin(Last::Items(0)),
            ParseEvent::BeginObject => self.begin(Last::Key(false)),
            ParseEvent::EndArray | ParseEvent::EndObject => {
                if let Some(container) = self.stack.pop() {
                    self.keys.truncate(container.key_start);
                }
            }
            ParseEvent::Key(key) => {
                if let Some(container) = self.stack.last_mut() {
                    self.keys.truncate(container.key_start);
                    self.keys.push_str(key);
                    container.last = Last::Key(true);
                }
            }
            ParseEvent::BeginString
            | ParseEvent::Bool(_)
            | ParseEvent::Null
            | ParseEvent::Number(_) => self.item(),
            ParseEvent::EndDocument | ParseEvent::EndString | ParseEvent::Text(_) => {}
        }
    }

    fn begin(&mut self, last: Last) {
        self.item();
        self.stack.push(Container { key_start: self.keys.len(), last });
    }

    /// Counts a value, if it is an item.
    fn item(&mut self) {
        if let Some(Container { last: Last::Items(items), .. }) = self.stack.last_mut() {
            *items += 1;
        }
    }

    /// The last key of a container.
    fn key(&self, at: usize) -> &str {
        let Some(container) = self.stack.get(at) else { return "" };
        let end = self.stack.get(at + 1).map_or(self.keys.len(), |inner| inner.key_start);
        self.keys.get(container.key_start..end).unwrap_or_default()
    }
}

/// Whether the text that a repair inserts begins with a value.
fn begins_value(after: &str) -> bool {
    let first = after.trim_ascii_start().bytes().next();
    first.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'"' | b'-' | b'[' | b'{'))
}

/// Repairs and the path of each. An iterator over the repairs; [`path`](Self::path) gives the path
/// of the one that it returned last. A path is only made when it is asked for, and all of them
/// together take one pass over the text.
///
/// ```
/// use wiremend_core::{MendOptions, RepairKind, mend};
/// let input = b"{'a': [1, None]}";
/// let mended = mend(input, &MendOptions::new());
/// let mut repairs = mended.located(input);
/// let literal = repairs.find(|repair| repair.kind() == RepairKind::PythonLiteral);
/// assert_eq!(literal.unwrap().span(), 10..14);
/// assert_eq!(repairs.path().to_string(), "$.a[1]");
/// ```
#[derive(Clone, Debug)]
pub struct Located<'t, I> {
    repairs: I,
    text: Text<'t>,
    /// Where the last repair ends in the input.
    at: usize,
    paths: Paths,
    /// What the last repair inserted, which was not read yet.
    after: String,
}

/// Where the bytes between the repairs are found.
#[derive(Clone, Copy, Debug)]
enum Text<'t> {
    Input(&'t [u8]),
    /// The mended text that was not read yet.
    Mended(&'t [u8]),
}

impl<'t, R: Borrow<Repair>, I: Iterator<Item = R>> Located<'t, I> {
    /// The repairs of `input`, in order. They need not lead to valid JSON.
    #[must_use]
    pub fn in_input(input: &'t [u8], repairs: impl IntoIterator<IntoIter = I>) -> Self {
        Self::new(Text::Input(input), 0, repairs.into_iter())
    }

    /// The repairs that led to `mended`, in order, if that begins at offset `start` of the input.
    #[must_use]
    pub fn in_mended(
        mended: &'t [u8],
        start: usize,
        repairs: impl IntoIterator<IntoIter = I>,
    ) -> Self {
        Self::new(Text::Mended(mended), start, repairs.into_iter())
    }

    const fn new(text: Text<'t>, at: usize, repairs: I) -> Self {
        Self { repairs, text, at, paths: Paths::new(), after: String::new() }
    }

    /// The path of the repair that was returned last; `$` before the first one.
    #[must_use]
    pub fn path(&self) -> Path {
        self.paths.at(begins_value(&self.after))
    }
}

impl<R: Borrow<Repair>, I: Iterator<Item = R>> Iterator for Located<'_, I> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let next = self.repairs.next()?;
        let repair = next.borrow();
        self.paths.read(self.after.as_bytes());
        let gap = repair.start().saturating_sub(self.at);
        match &mut self.text {
            Text::Input(input) => {
                self.paths.read(input.get(self.at..self.at + gap).unwrap_or_default());
            }
            Text::Mended(rest) => {
                let (inserted, length) = (self.after.len(), rest.len());
                let gap_end = (inserted + gap).min(length);
                self.paths.read(rest.get(inserted..gap_end).unwrap_or_default());
                *rest = rest.get(gap_end..).unwrap_or_default();
            }
        }
        self.at = self.at.max(repair.end());
        self.after.clear();
        self.after.push_str(repair.after());
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.repairs.size_hint()
    }
}
