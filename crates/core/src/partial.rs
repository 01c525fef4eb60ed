//! A value that grows: what a document holds so far.

use alloc::{string::String, vec::Vec};
use core::{fmt, ops::Range};

use crate::{Event, EventReader, Output};

/// The kind of a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Kind {
    /// A list of items.
    Array,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// A number, as it was written.
    Number,
    /// Members, in the order of the input.
    Object,
    /// A string.
    String,
}

/// One value of the tree. Children are linked, so that a tree of any depth is flat in memory.
#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    key: Option<Range<usize>>,
    text: Range<usize>,
    first: Option<usize>,
    last: Option<usize>,
    next: Option<usize>,
    open: bool,
}

/// The partial value of a document that is still arriving.
///
/// Feed it what a [`Mender`](crate::Mender) puts out: it is an [`Output`]. At every moment
/// [`root`](Self::root) is a prefix of the final value: the type at a place never changes, numbers
/// and literals appear whole, strings only grow, arrays only append, only the last open item
/// changes, and a key appears with its value. Members keep their order, duplicates included.
/// Cloning it makes an owned snapshot.
///
/// ```
/// use jsonmend_core::{Mender, Options, Partial};
///
/// let mut mender = Mender::new(Options::new());
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
/// Memory: the strings, keys and numbers of the document, and some words a value. Nothing recurses,
/// whatever the depth.
#[derive(Clone, Debug)]
pub struct Partial {
    tree: Tree,
    reader: EventReader,
}

/// The values, flat; the first is the root.
#[derive(Clone, Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    text: String,
    stack: Vec<usize>,
    key: Option<Range<usize>>,
    done: bool,
}

impl Default for Partial {
    fn default() -> Self {
        Self::new()
    }
}

impl Partial {
    /// Nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self { tree: Tree::default(), reader: EventReader::new() }
    }

    /// The value so far; `None` before its type is known.
    #[must_use]
    pub fn root(&self) -> Option<Value<'_>> {
        (!self.tree.nodes.is_empty()).then_some(Value { tree: &self.tree, at: 0 })
    }

    /// Whether the document has ended.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.tree.done
    }

    /// Forgets the value, for the next document; keeps the buffers.
    pub fn clear(&mut self) {
        self.tree.nodes.clear();
        self.tree.text.clear();
        self.tree.stack.clear();
        self.tree.key = None;
        self.tree.done = false;
        self.reader.reset();
    }
}

impl Output for Partial {
    fn copy(&mut self, bytes: &[u8]) {
        let tree = &mut self.tree;
        self.reader.read(bytes, &mut |_, event| tree.apply(event));
        self.reader.end_token(&mut |_, event| tree.apply(event));
    }
}

impl Tree {
    /// Takes one step. Of several documents the first is kept.
    fn apply(&mut self, event: Event<'_>) {
        if self.done {
            return;
        }
        match event {
            Event::BeginArray => self.open(Kind::Array),
            Event::BeginObject => self.open(Kind::Object),
            Event::BeginString => self.open(Kind::String),
            Event::Bool(value) => self.scalar(Kind::Bool, if value { "true" } else { "false" }),
            Event::EndArray | Event::EndObject | Event::EndString => {
                if let Some(node) = self.stack.pop().and_then(|at| self.nodes.get_mut(at)) {
                    node.open = false;
                }
            }
            Event::EndDocument => self.done = true,
            Event::Key(key) => self.key = Some(self.keep(key)),
            Event::Null => self.scalar(Kind::Null, "null"),
            Event::Number(number) => self.scalar(Kind::Number, number),
            Event::Text(text) => {
                // No other text is kept while a string is open, so that its own stays together.
                let end = self.keep(text).end;
                if let Some(node) = self.stack.last().and_then(|&at| self.nodes.get_mut(at)) {
                    node.text.end = end;
                }
            }
        }
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn open(&mut self, kind: Kind) {
        let at = self.append(kind, self.text.len()..self.text.len());
        self.stack.push(at);
    }

    fn scalar(&mut self, kind: Kind, text: &str) {
        let text = self.keep(text);
        let at = self.append(kind, text);
        if let Some(node) = self.nodes.get_mut(at) {
            node.open = false;
        }
    }

    /// Appends a value to the container that is open.
    fn append(&mut self, kind: Kind, text: Range<usize>) -> usize {
        let at = self.nodes.len();
        let key = self.key.take();
        let node = Node { kind, key, text, first: None, last: None, next: None, open: true };
        self.nodes.push(node);
        if let Some(&parent) = self.stack.last() {
            let before = self.nodes.get_mut(parent).and_then(|parent| {
                parent.first = parent.first.or(Some(at));
                parent.last.replace(at)
            });
            if let Some(before) = before.and_then(|before| self.nodes.get_mut(before)) {
                before.next = Some(at);
            }
        }
        at
    }

    fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    fn text(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// A borrowed view of one value in a [`Partial`].
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    tree: &'a Tree,
    at: usize,
}

impl<'a> Value<'a> {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.tree.node(self.at).kind
    }

    /// Whether more may come: a string or container that has not been closed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tree.node(self.at).open
    }

    /// The key, where this is a member of an object.
    #[must_use]
    pub fn key(&self) -> Option<&'a str> {
        self.tree.node(self.at).key.as_ref().map(|key| self.tree.text(key))
    }

    /// The content of a string, as far as it has come.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        (self.kind() == Kind::String).then(|| self.tree.text(&self.tree.node(self.at).text))
    }

    /// The text of a number, as it was written.
    #[must_use]
    pub fn as_number(&self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.tree.text(&self.tree.node(self.at).text))
    }

    /// The value of a literal.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        let text = self.tree.text(&self.tree.node(self.at).text);
        (self.kind() == Kind::Bool).then_some(text == "true")
    }

    /// The items of an array, or the values of an object's members, in order.
    pub fn children(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let tree = self.tree;
        let first = tree.node(self.at).first;
        core::iter::successors(first, move |&at| tree.node(at).next)
            .map(move |at| Value { tree, at })
    }

    /// The last member of that key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Value<'a>> {
        self.children().filter(|child| child.key() == Some(key)).last()
    }

    /// The item at that position.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Value<'a>> {
        (self.kind() == Kind::Array).then(|| self.children().nth(index)).flatten()
    }
}

/// As JSON text, without white space, what is open closed.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let mut stack = Vec::new();
        let mut at = self.at;
        loop {
            let value = Value { tree: self.tree, at };
            if at != self.at
                && let Some(key) = value.key()
            {
                write_string(f, key)?;
                f.write_char(':')?;
            }
            let node = self.tree.node(at);
            match node.kind {
                Kind::String => write_string(f, self.tree.text(&node.text))?,
                Kind::Bool | Kind::Null | Kind::Number => {
                    f.write_str(self.tree.text(&node.text))?;
                }
                Kind::Array | Kind::Object => {
                    let object = node.kind == Kind::Object;
                    f.write_char(if object { '{' } else { '[' })?;
                    if let Some(first) = node.first {
                        stack.push(at);
                        at = first;
                        continue;
                    }
                    f.write_char(if object { '}' } else { ']' })?;
                }
            }
            // On to the next sibling, or up.
            loop {
                if at == self.at {
                    return Ok(());
                }
                if let Some(next) = self.tree.node(at).next {
                    f.write_char(',')?;
                    at = next;
                    break;
                }
                let Some(parent) = stack.pop() else { return Ok(()) };
                let object = self.tree.node(parent).kind == Kind::Object;
                f.write_char(if object { '}' } else { ']' })?;
                at = parent;
            }
        }
    }
}

/// The value so far as JSON text; empty before there is one.
impl fmt::Display for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().map_or(Ok(()), |root| root.fmt(f))
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    use fmt::Write as _;
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
        let (plain, special) = rest.split_at(at);
        f.write_str(plain)?;
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => f.write_str("\\\"")?,
            Some('\\') => f.write_str("\\\\")?,
            Some('\n') => f.write_str("\\n")?,
            Some('\r') => f.write_str("\\r")?,
            Some('\t') => f.write_str("\\t")?,
            Some(control) => write!(f, "\\u{:04x}", control as u32)?,
            None => {}
        }
        rest = chars.as_str();
    }
    f.write_str(rest)?;
    f.write_char('"')
}
