//! What is asked about a row and its shapes.

use super::{Block, Dialect, Frames, Input, Layout, Shape, Text};

impl Dialect {
    /// Whether an answer may begin with a name, because prompts end inside of a header, or because the token
    /// before it is one that servers remove.
    pub(in crate::dialect) fn is_prompted(&self) -> bool {
        let prompted = |shape: &Shape| match shape {
            Shape::Named(named) => named.prompted,
            Shape::Python(block) => !block.method.is_empty(),
            _ => false,
        };
        matches!(self.frames, Some(Frames::Inkling | Frames::Muse))
            || self.shapes.iter().any(prompted)
    }

    /// Whether one of its shapes is a block of JSON with a marker before it.
    pub(in crate::dialect) fn is_block(&self, shape: usize) -> bool {
        matches!(self.shapes.get(shape), Some(Shape::Json(block)) if !block.open.is_empty())
    }

    /// The block of JSON with this marker before it.
    pub(in crate::dialect) fn block_of(&self, open: &str) -> Option<usize> {
        let is = |shape: &Shape| matches!(shape, Shape::Json(block) if block.open == open);
        self.shapes.iter().position(is).filter(|_| !open.is_empty())
    }

    /// Whether a text is one of its markers outside of calls, or begins a call.
    pub(in crate::dialect) fn has_marker(&self, text: &str) -> bool {
        let around = self.ornaments.iter().chain(&self.ends).chain(&self.tokens);
        let mut markers = around.map(|text| &**text).chain(self.shapes.iter().map(Shape::open));
        markers.any(|own| own == text)
    }

    /// Whether the key of a member names the tool in one of its shapes.
    pub(in crate::dialect) fn is_keyed(&self, shape: usize) -> bool {
        matches!(self.shapes.get(shape), Some(Shape::Json(block)) if block.keyed)
    }

    /// What a call of one of its shapes has after its marker, without which it is none.
    pub(in crate::dialect) fn sign_after(&self, shape: usize) -> &str {
        match self.shapes.get(shape) {
            Some(Shape::Json(_)) => "[",
            Some(Shape::Named(named)) if named.name_end == "(" => "(",
            _ => "",
        }
    }
}

impl Block {
    pub(in crate::dialect) fn new<T: Into<Text>>(
        open: impl Into<Text>,
        close: impl IntoIterator<Item = T>,
    ) -> Self {
        let close = close.into_iter().map(Into::into).collect();
        Self { open: open.into(), close, keyed: false, method: "" }
    }

    /// The tool that a call of this function is one of.
    pub(in crate::dialect) fn function<'n>(&self, name: &'n str) -> &'n str {
        name.strip_suffix(self.method).unwrap_or(name)
    }

    /// Whether a function is the method with which tools are called.
    pub(in crate::dialect) fn is_method(&self, name: &str) -> bool {
        !self.method.is_empty() && name.ends_with(self.method)
    }
}

impl Shape {
    /// What follows the name of a tool in a call, by which it is one where its opener is missing.
    pub(in crate::dialect) fn name_ends(&self) -> Vec<String> {
        match self {
            Self::Named(named)
                if named.name_end.len() > 3 && named.name_end.starts_with(['<', '[']) =>
            {
                vec![named.name_end.to_string()]
            }
            Self::Named(named) if named.name_end == ">" => vec!["{".to_owned(), ">{".to_owned()],
            Self::Xml(xml) if xml.layout == Layout::Pairs => {
                ["arg_key", "tool_sep"].map(|part| [xml.tag.0, part, xml.tag.2].concat()).into()
            }
            _ => Vec::new(),
        }
    }

    /// The markers that close a call.
    pub(in crate::dialect) fn closers(&self) -> &[Text] {
        match self {
            Self::Json(block) | Self::Python(block) => &block.close,
            Self::Named(named) => &named.close,
            Self::Brace(brace) => std::slice::from_ref(&brace.close),
            Self::Input(_) | Self::Xml(_) | Self::React | Self::Line => &[],
        }
    }

    /// The text that begins a call. Empty if the shape of what follows begins it.
    pub(in crate::dialect) fn open(&self) -> &str {
        match self {
            Self::Json(block) | Self::Python(block) | Self::Input(Input { block, .. }) => {
                &block.open
            }
            Self::Named(named) => &named.open,
            Self::Brace(brace) => &brace.open,
            Self::Xml(_) | Self::React | Self::Line => "",
        }
    }
}
