//! The shape of calls as tags.

use super::Shape;
use crate::dialect::Tools;

/// Calls as tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialect) struct Xml {
    /// What begins an opening and a closing tag, and what ends it.
    pub(in crate::dialect) tag: (&'static str, &'static str, &'static str),
    pub(in crate::dialect) prefix: Prefix,
    /// The elements that are a call.
    pub(in crate::dialect) calls: Vec<&'static str>,
    /// The elements around calls.
    pub(in crate::dialect) wrappers: Vec<&'static str>,
    /// The element that may have all arguments as one JSON text.
    pub(in crate::dialect) body: Option<&'static str>,
    pub(in crate::dialect) layout: Layout,
    pub(in crate::dialect) trim: Trim,
    pub(in crate::dialect) untyped: Untyped,
    /// Whether entities in values are decoded.
    pub(in crate::dialect) entities: bool,
    /// Whether values may be in `CDATA` sections, in which they are as they are.
    pub(in crate::dialect) sections: bool,
}

/// What may be before the name of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Prefix {
    None,
    /// This, or nothing.
    Exact(&'static str),
    /// This between bars, which may be doubled, spaced, or full-width.
    Bars(&'static str),
}

/// What is written as a bar: the full-width one of the templates, and what models make of it.
pub(in crate::dialect) const BARS: [&str; 4] = ["｜", "|", "‖", "∥"];

/// A bar as it is spelled before a name: of any kind, doubled or not, or with blanks.
pub(in crate::dialect) fn spelled_bars() -> impl Iterator<Item = String> {
    let double = |bar: &str| BARS.map(|other| [bar, other].concat());
    let spaced = |bar: &str| [format!("{bar} "), format!(" {bar} ")];
    let all = move |bar| double(bar).into_iter().chain(spaced(bar)).chain([bar.to_owned()]);
    BARS.into_iter().flat_map(all)
}

/// Where the parameters of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Layout {
    /// `<function=f><parameter=k>v</parameter>`, or with the attribute `name`.
    Parameters,
    /// `<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value>`.
    Pairs,
    /// `<invoke name="f"><k>v</k>`, with elements inside of values.
    Keys,
    /// `<f><k>v</k></f>`.
    Tools,
}

/// What is removed on each side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Trim {
    Nothing,
    Newline,
    /// A line break at the end only if there is one at the start: the template writes none.
    Lines,
    Space,
}

/// What a value is of which the schema says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Untyped {
    /// JSON if it is valid, otherwise a string.
    Json,
    /// A number or a literal if it is one, otherwise a string.
    Scalars,
    /// A string.
    Text,
}

impl Xml {
    /// Tags as in XML, with these elements as calls.
    pub(in crate::dialect) fn new(calls: &[&'static str], wrappers: &[&'static str]) -> Self {
        Self {
            tag: ("<", "</", ">"),
            prefix: Prefix::None,
            calls: calls.to_vec(),
            wrappers: wrappers.to_vec(),
            body: None,
            layout: Layout::Parameters,
            trim: Trim::Newline,
            untyped: Untyped::Json,
            entities: false,
            sections: false,
        }
    }

    pub(in crate::dialect) fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    pub(in crate::dialect) fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    pub(in crate::dialect) fn trim(mut self, trim: Trim) -> Self {
        self.trim = trim;
        self
    }

    pub(in crate::dialect) fn untyped(mut self, untyped: Untyped) -> Self {
        self.untyped = untyped;
        self
    }

    pub(in crate::dialect) fn tag(
        mut self,
        open: &'static str,
        end: &'static str,
        close: &'static str,
    ) -> Self {
        self.tag = (open, end, close);
        self
    }

    pub(in crate::dialect) fn body(mut self, element: &'static str) -> Self {
        self.body = Some(element);
        self
    }

    pub(in crate::dialect) fn sections(mut self) -> Self {
        self.sections = true;
        self
    }

    pub(in crate::dialect) fn entities(mut self) -> Self {
        self.entities = true;
        self
    }

    /// The texts with which a call or what is around it may begin.
    pub(in crate::dialect) fn begins(&self) -> Vec<String> {
        let (open, ..) = self.tag;
        match self.prefix {
            Prefix::Bars(word) => spelled_bars()
                .map(|bar| format!("{open}{bar}{word}"))
                .chain([format!("||{word}||")])
                .collect(),
            Prefix::Exact(prefix) => {
                let both = |name: &&str| [format!("{open}{prefix}{name}"), format!("{open}{name}")];
                self.calls.iter().flat_map(both).collect()
            }
            Prefix::None => self.calls.iter().flat_map(|name| self.spelled(open, name)).collect(),
        }
    }

    /// The tags that begin a call of a tool, without their bracket.
    pub(in crate::dialect) fn without_bracket(&self, tools: &Tools) -> Vec<String> {
        let bars = matches!(self.prefix, Prefix::Bars(_));
        let tags = self.tag.0 == "<" && self.layout == Layout::Parameters && !bars;
        let calls = || self.calls.iter().filter(|_| tags);
        let both = |tool: &str| {
            let spelled =
                |call: &&str| [format!("{call}={tool}>"), format!("{call} name=\"{tool}\">")];
            calls().flat_map(spelled).collect::<Vec<_>>()
        };
        tools.names().flat_map(both).collect()
    }

    /// The spellings of a mark and the name after it. Where the mark is a control token, which ends with
    /// a sign of its own, servers write a blank after it.
    pub(in crate::dialect) fn spelled(&self, mark: &str, name: &str) -> Vec<String> {
        let mut all = vec![format!("{mark}{name}")];
        if mark.ends_with('>') {
            all.push(format!("{mark} {name}"));
        }
        all
    }

    /// The closing tags of an element, without a prefix.
    pub(in crate::dialect) fn closing(&self, name: &str) -> Vec<String> {
        let (_, end, close) = self.tag;
        let mut all = vec![format!("{end}{name}{close}")];
        if end.ends_with('>') {
            all.push(format!("{end} {name} {close}"));
        }
        all
    }
}

impl From<Xml> for Shape {
    fn from(xml: Xml) -> Self {
        Self::Xml(Box::new(xml))
    }
}
