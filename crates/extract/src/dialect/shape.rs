//! What a row of the table says: the markers of a dialect, and the shape of a call.

mod asks;
mod tags;

use std::borrow::Cow;

pub(super) use tags::{BARS, Layout, Prefix, Trim, Untyped, Xml, spelled_bars};

pub(super) type Text = Cow<'static, str>;

/// One way in which models write calls as text: a row of markers and shapes.
///
/// The rows of this crate are in [`Dialect::all`]. A caller can add its own, made of the same parts:
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_extract::{CallExtractor, Dialect, FoundCalls};
///
/// let own = Dialect::json("ours", "RUN_START", ["RUN_END"]);
/// let mut reader = CallExtractor::new(MendOptions::new()).with_dialect(own);
/// let mut found = FoundCalls::default();
/// reader.push(b"On it. RUN_START{\"tool\": \"ls\", \"input\": {}}RUN_END", &mut found);
/// reader.finish(&mut found);
/// assert_eq!(found.calls()[0].name(), "ls");
/// assert_eq!(found.text(), b"On it. ");
/// ```
#[derive(Clone, Debug)]
pub struct Dialect {
    name: Text,
    pub(super) shapes: Vec<Shape>,
    /// Markers around calls, which mean nothing by themselves.
    pub(super) ornaments: Vec<Text>,
    /// Markers after calls, which mean nothing by themselves.
    pub(super) ends: Vec<Text>,
    /// Control tokens which are never text.
    pub(super) tokens: Vec<Text>,
    /// Reasoning blocks of this dialect alone: the tags that open and close one.
    pub(super) reasoning: Vec<(Text, Text)>,
    /// The tags around what is for the user.
    pub(super) answer: Option<(Text, Text)>,
    /// Further keys of the parts of a call in JSON.
    pub(super) keys: Keys,
    pub(super) unknown: Unknown,
    /// Whether the end of an answer ends a call that has no closing marker.
    pub(super) end_closes: bool,
    /// Whether a call may have no arguments at all.
    pub(super) bare_name: bool,
    /// Bytes between calls that mean nothing.
    pub(super) separators: &'static [u8],
    /// Messages with headers.
    pub(super) frames: Option<Frames>,
    pub(super) about: Text,
    pub(super) example: Text,
}

/// Keys of the parts of a call in JSON.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    pub(super) names: Vec<Text>,
    pub(super) arguments: Vec<Text>,
    pub(super) lists: Vec<Text>,
}

impl Keys {
    /// Whether any part has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.all().any(|own| own == key)
    }

    /// The keys of all parts.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        [&self.names, &self.arguments, &self.lists].into_iter().flatten().map(|key| &**key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// What a call of a tool that does not exist is, if the dialect was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A call.
    Call,
    /// Text.
    Text,
    /// Neither.
    Drop,
}

/// The shape of a call: one of five families.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// JSON, with the name in it.
    Json(Block),
    /// A name, and the arguments as JSON.
    Named(Named),
    /// Tags.
    Xml(Box<Xml>),
    /// Function calls as in Python.
    Python(Block),
    /// A call with braces and its own quotes.
    Brace(Brace),
    /// `Action:` and `Action Input:`.
    React,
    /// The name of a known tool on a line of its own, and the arguments as JSON on the next.
    Line,
    /// A block that is the input of one tool.
    Input(Input),
}

/// What is between two markers, as the input of a tool whose name is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) tool: Text,
    pub(super) block: Block,
    /// Whether it is text, and not JSON.
    pub(super) is_text: bool,
}

/// A block between markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What opens it. Empty if nothing does.
    pub(super) open: Text,
    pub(super) close: Vec<Text>,
    /// Whether a member of which neither key nor value is that of a call names the tool by its key.
    pub(super) keyed: bool,
    /// What comes after the name of a tool, if its calls are written as those of a method.
    pub(super) method: &'static str,
}

/// A name between markers, followed by the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) open: Text,
    /// What ends the name.
    pub(super) name_end: Text,
    /// What may be before the name.
    pub(super) prefixes: Vec<Text>,
    pub(super) close: Vec<Text>,
    /// Names that address the user.
    pub(super) text_names: Vec<Text>,
    /// Whether prompts end with `open`, so that an answer begins with the name.
    pub(super) prompted: bool,
}

/// Messages with a header, which says to whom they are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frames {
    Harmony,
    Muse,
    /// Kimi K3: `<|open|>response<|sep|>`.
    Sections,
    /// Inkling: `<|message_model|>name<|content_text|>`.
    Inkling,
}

/// A call with its own quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Brace {
    pub(super) open: Text,
    pub(super) close: Text,
    pub(super) quote: Text,
}

impl Dialect {
    /// A dialect without any shape.
    pub(super) fn empty(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            shapes: Vec::new(),
            ornaments: Vec::new(),
            ends: Vec::new(),
            tokens: Vec::new(),
            reasoning: Vec::new(),
            answer: None,
            keys: Keys::default(),
            unknown: Unknown::Call,
            end_closes: false,
            bare_name: false,
            separators: b"",
            frames: None,
            about: Text::Borrowed(""),
            example: Text::Borrowed(""),
        }
    }

    /// A dialect in which calls are JSON after the marker `open`. A call is an object that contains
    /// the name and the arguments, or a list of these. Any of `close` ends a block; without one, it
    /// ends with the JSON value.
    #[must_use]
    pub fn json<T: Into<Text>>(
        name: impl Into<Text>,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::empty(name).and_json(open, close)
    }

    /// A dialect in which a call is `open`, the name of the tool, `name_end`, and the arguments as
    /// JSON.
    ///
    /// `open` and `name_end` are found as they are, with the white space in them, and are not empty. White space
    /// around the name, the arguments and the closing marker does not matter.
    ///
    /// ```
    /// use wiremend_extract::Dialect;
    /// let own = Dialect::named("ours", "@@", ":", ["@@"]);
    /// assert_eq!(own.name(), "ours");
    /// ```
    #[must_use]
    pub fn named<T: Into<Text>>(
        name: impl Into<Text>,
        open: impl Into<Text>,
        name_end: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::empty(name).and_named(open, name_end, &[], close)
    }

    /// A dialect in which a block between two markers contains calls as in Python, such as
    /// `f(a=1)`, alone, on lines of their own, or in a list.
    #[must_use]
    pub fn python<T: Into<Text>>(
        name: impl Into<Text>,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::empty(name).and_python(open, close)
    }

    /// A dialect in which everything between `open` and any of `close` is the input of one tool, whose
    /// name is not written, as JSON. The tool need not be among those of the reader. Without JSON after
    /// it, `open` is text.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, Dialect, FoundCalls};
    ///
    /// let chart = Dialect::json_block("chart", "draw", "CHART_START", ["CHART_END"]);
    /// let steps = Dialect::text_block("steps", "note", "STEPS_START", ["STEPS_END"]);
    /// let reader = CallExtractor::new(MendOptions::new()).with_registered(chart);
    /// let mut reader = reader.with_registered(steps);
    /// let mut found = FoundCalls::default();
    /// let text = b"CHART_START\n{'mark': 'bar'}\nCHART_END\nSTEPS_START\nAdd a title\nSTEPS_END\n";
    /// reader.push(text, &mut found);
    /// reader.finish_at_eos(&mut found);
    /// let calls: Vec<_> = found.calls().iter().map(|call| (call.name(), call.arguments())).collect();
    /// assert_eq!(calls, [("draw", &br#"{"mark": "bar"}"#[..]), ("note", br#""Add a title""#)]);
    /// ```
    #[must_use]
    pub fn json_block<T: Into<Text>>(
        name: impl Into<Text>,
        tool: impl Into<Text>,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        let (tool, block) = (tool.into(), Block::new(open, close));
        Self::empty(name).and(Shape::Input(Input { tool, block, is_text: false }))
    }

    /// A dialect in which everything between `open` and the first of `close` is the input of one tool, as
    /// text: its arguments are a string, without one line break on each side. Without a closing marker,
    /// the text goes on to the end. See [`json_block`](Self::json_block).
    #[must_use]
    pub fn text_block<T: Into<Text>>(
        name: impl Into<Text>,
        tool: impl Into<Text>,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        let (tool, block) = (tool.into(), Block::new(open, close));
        let mut row = Self::empty(name);
        row.end_closes = block.close.iter().all(|close| close.is_empty());
        row.and(Shape::Input(Input { tool, block, is_text: true }))
    }

    /// Whether a block of its own is the input of this tool.
    pub(super) fn declares(&self, tool: &str) -> bool {
        self.shapes.iter().any(|shape| matches!(shape, Shape::Input(input) if input.tool == tool))
    }

    /// The name of the dialect.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its text consists of messages with headers, which say to whom they are addressed.
    #[must_use]
    pub const fn has_messages(&self) -> bool {
        self.frames.is_some()
    }

    /// The family of the shape of its calls.
    #[must_use]
    pub fn family(&self) -> &'static str {
        if self.has_messages() {
            return "messages";
        }
        match self.shapes.last() {
            Some(Shape::Json(block)) if block.open.is_empty() => "JSON",
            Some(Shape::Json(_) | Shape::Input(_)) => "JSON between markers",
            Some(Shape::Named(_) | Shape::Line) => "name, then JSON",
            Some(Shape::Xml(_)) => "tags",
            Some(Shape::Python(_)) => "Python",
            Some(Shape::Brace(_)) => "braces",
            Some(Shape::React) | None => "prose",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// A text with a call.
    #[must_use]
    pub fn example(&self) -> &str {
        &self.example
    }

    /// Adds a pair of markers around calls that mean nothing by themselves, such as those around
    /// several calls. Without a call, they are text.
    #[must_use]
    pub fn around(mut self, open: impl Into<Text>, close: impl Into<Text>) -> Self {
        self.ornaments.push(open.into());
        self.ends.push(close.into());
        self
    }

    /// Adds a reasoning block.
    #[must_use]
    pub fn with_reasoning(mut self, open: impl Into<Text>, close: impl Into<Text>) -> Self {
        self.reasoning.push((open.into(), close.into()));
        self
    }

    /// Adds keys of calls in JSON, next to those that models use (`name`, `arguments`, `tool_calls` and
    /// the like): of the name of the tool, of the arguments, and of a list of calls.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, Dialect, FoundCalls, Tools};
    ///
    /// let own = Dialect::json("ours", "", [""]).with_keys(["do"], ["with"], ["steps"]);
    /// let tools = Tools::new().with_tool("ls", ["path"], None);
    /// let mut reader = CallExtractor::new(MendOptions::new()).with_dialect(own).with_tools(tools);
    /// let mut found = FoundCalls::default();
    /// reader.push(br#"{"steps": [{"do": "ls", "with": {"path": "/"}}]}"#, &mut found);
    /// reader.finish_at_eos(&mut found);
    /// assert_eq!(found.calls()[0].arguments(), br#"{"path": "/"}"#);
    /// ```
    #[must_use]
    pub fn with_keys<T: Into<Text>>(
        mut self,
        names: impl IntoIterator<Item = T>,
        arguments: impl IntoIterator<Item = T>,
        lists: impl IntoIterator<Item = T>,
    ) -> Self {
        self.keys.names.extend(names.into_iter().map(Into::into));
        self.keys.arguments.extend(arguments.into_iter().map(Into::into));
        self.keys.lists.extend(lists.into_iter().map(Into::into));
        self
    }

    pub(super) fn and(mut self, shape: Shape) -> Self {
        self.shapes.push(shape);
        self
    }

    pub(super) fn and_json<T: Into<Text>>(
        self,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        let close = close.into_iter().map(|close| without_space(close.into()));
        self.and(Shape::Json(Block::new(open, close)))
    }

    pub(super) fn and_python<T: Into<Text>>(
        self,
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        let close = close.into_iter().map(|close| without_space(close.into()));
        self.and(Shape::Python(Block::new(open, close)))
    }

    pub(super) fn and_named<T: Into<Text>>(
        self,
        open: impl Into<Text>,
        name_end: impl Into<Text>,
        prefixes: &[&'static str],
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        self.and(Shape::Named(Named {
            open: open.into(),
            name_end: name_end.into(),
            prefixes: prefixes.iter().map(|prefix| Text::Borrowed(*prefix)).collect(),
            close: close.into_iter().map(|close| without_space(close.into())).collect(),
            text_names: Vec::new(),
            prompted: false,
        }))
    }

    pub(super) fn tokens(mut self, tokens: &[&'static str]) -> Self {
        self.tokens.extend(tokens.iter().map(|token| Text::Borrowed(*token)));
        self
    }

    pub(super) fn answer(mut self, open: &'static str, close: &'static str) -> Self {
        self.answer = Some((open.into(), close.into()));
        self
    }

    pub(super) fn unknown(mut self, unknown: Unknown) -> Self {
        self.unknown = unknown;
        self
    }

    pub(super) fn end_closes(mut self) -> Self {
        self.end_closes = true;
        self
    }

    pub(super) fn bare_name(mut self) -> Self {
        self.bare_name = true;
        self
    }

    pub(super) fn separators(mut self, bytes: &'static [u8]) -> Self {
        self.separators = bytes;
        self
    }

    pub(super) fn frames(mut self, frames: Frames) -> Self {
        self.frames = Some(frames);
        self
    }

    /// Where it comes from, and a call in it.
    pub(super) fn shown(mut self, about: &'static str, example: &'static str) -> Self {
        self.about = Text::Borrowed(about);
        self.example = Text::Borrowed(example);
        self
    }
}

/// A closing marker without the white space before it, which is skipped before markers are looked for.
fn without_space(close: Text) -> Text {
    match close.trim_start() {
        "" => close,
        trimmed if trimmed.len() == close.len() => close,
        trimmed => Text::Owned(trimmed.to_owned()),
    }
}
