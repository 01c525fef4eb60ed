//! What a payload adds to a response, as the formats decode it.

use core::ops::Deref;
use std::borrow::Cow;

use crate::{
    Block, CallKind, Doubt, FinishReason, Usage, WireError,
    json::{Node, Span},
};

/// What a payload adds to a channel.
#[derive(Debug)]
pub(crate) enum Delta<'a> {
    Text {
        block: Block,
        text: Piece<'a>,
    },
    Reasoning {
        block: Block,
        text: Piece<'a>,
    },
    Refusal {
        block: Block,
        text: Piece<'a>,
    },
    /// A whole text, repeated.
    TextAgain {
        block: Block,
        text: Piece<'a>,
    },
    /// The format states the end of the texts of a block.
    TextEnd {
        choice: u32,
        block: u32,
    },
    /// A piece of a tool call.
    Call(CallDelta<'a>),
    /// The format states the end of a call.
    CallEnd {
        scope: u32,
        index: i64,
    },
    /// All calls of a scope were repeated as a whole, which the format does once.
    CallsRepeated {
        scope: u32,
    },
    /// Something was lost or contradicted: no open call is complete.
    Doubt(Doubt),
    /// The payload was damaged, or not read as a whole: no call that is open or begins in it is complete.
    Damaged(Doubt),
    /// The same, where nothing is known of an object.
    Foreign,
    /// A choice or message is aborted by another one.
    Abort {
        scope: u32,
    },
    Finish {
        scope: u32,
        reason: FinishReason,
        original: Cow<'a, str>,
    },
    Usage(Usage),
    /// A source that the provider cites, as its original JSON.
    Citation {
        block: Block,
        json: &'a str,
    },
    /// An error in a place that only the format knows.
    Fail(Box<WireError>),
}

impl Delta<'_> {
    /// The content block that it belongs to: its message and index.
    pub(crate) fn block(&self) -> Option<(u32, u32)> {
        match self {
            Self::Text { block, .. } | Self::Reasoning { block, .. } => {
                Some((block.choice, block.block))
            }
            Self::Call(CallDelta { scope, index: Some(index), .. })
            | Self::CallEnd { scope, index } => Some((*scope, u32::try_from(*index).ok()?)),
            _ => None,
        }
    }
}

/// A text of the payload, and its position.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'a> {
    text: Cow<'a, str>,
    /// `None` if the payload is not JSON.
    node: Option<Node<'a>>,
}

impl<'a> Piece<'a> {
    /// The text of a string. `None` if it is empty, or if the node is not a string.
    pub(crate) fn of(node: Node<'a>) -> Option<Self> {
        let text = node.text().filter(|text| !text.is_empty())?;
        Some(Self { text, node: Some(node) })
    }

    /// The text of a string, or any other value as written.
    pub(crate) fn of_any(node: Node<'a>) -> Self {
        Self { text: node.text().unwrap_or(node.raw().into()), node: Some(node) }
    }

    /// The text of a payload that is not JSON.
    pub(crate) fn plain(text: &'a str) -> Option<Self> {
        (!text.is_empty()).then_some(Self { text: Cow::Borrowed(text), node: None })
    }

    /// The string as written in the payload, including its quotes. Empty if the payload is not JSON.
    pub(crate) fn literal(&self) -> &'a str {
        self.node.map_or("", Node::raw)
    }

    /// Where the literal is in the payload.
    pub(crate) fn span(&self) -> Option<Span> {
        self.node.map(Node::span)
    }

    /// Where the text itself is in the payload, if it is written there as it is, without an escape.
    pub(crate) fn text_span(&self) -> Option<Span> {
        let Span { start, end } = self.span().filter(|_| matches!(self.text, Cow::Borrowed(_)))?;
        let quote = usize::from(self.node.is_some_and(Node::is_string));
        Some(Span { start: start + quote, end: end - quote })
    }

    /// Whether U+FFFD is in `text`, which is what was made of the piece, in the place of half a character.
    pub(crate) fn lacks_a_half(&self, text: &str) -> bool {
        text.contains('\u{fffd}')
            && !self.literal().contains('\u{fffd}')
            && !self.literal().to_ascii_lowercase().contains("\\ufffd")
    }
}

impl Deref for Piece<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// A piece of a tool call, as the stream sends it. Everything in it is optional.
#[derive(Debug, Default)]
pub(crate) struct CallDelta<'a> {
    /// The choice or message.
    pub(crate) scope: u32,
    /// The key of the call in its scope. Servers leave it out, repeat it, or start at any number.
    pub(crate) index: Option<i64>,
    /// The format guarantees the index.
    pub(crate) exact: bool,
    /// It follows another entry of the same delta, or has a place of its own, so it repeats no other one.
    pub(crate) sibling: bool,
    /// It states the kind of the call, as the first piece does.
    pub(crate) typed: bool,
    /// It repeats earlier content, and never begins a call.
    pub(crate) repeats: bool,
    /// Why the call cannot be complete.
    pub(crate) doubt: Option<Doubt>,
    pub(crate) kind: Option<CallKind>,
    /// Never empty.
    pub(crate) id: Option<Piece<'a>>,
    /// Never empty.
    pub(crate) name: Option<Piece<'a>>,
    /// It says that the arguments are an empty object, which counts if nothing else comes.
    pub(crate) empty: bool,
    pub(crate) arguments: Arguments<'a>,
    /// Its entry in a list, where it may say nothing else of itself.
    pub(crate) entry: Option<Span>,
}

impl CallDelta<'_> {
    /// Where the payload has something about the call.
    pub(crate) fn place(&self) -> Option<Span> {
        let arguments = match &self.arguments {
            Arguments::Seed(text) => text.span(),
            Arguments::Whole(node) | Arguments::Again(node) | Arguments::Void(node) => {
                Some(node.span())
            }
            other => other.span(),
        };
        let [id, name] = [&self.id, &self.name].map(|text| text.as_ref().and_then(Piece::span));
        arguments.or(name).or(id).or(self.entry)
    }
}

/// What a piece of a tool call holds of the arguments.
#[derive(Debug, Default)]
pub(crate) enum Arguments<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// Null, where a piece of their text belongs.
    Null,
    /// Nothing, or null, where all of them belong.
    Void(Node<'a>),
    /// The next piece of their text.
    Fragment(Piece<'a>),
    /// All of them, in advance. They only count if no fragment follows.
    Seed(Piece<'a>),
    /// All of them, as a JSON value.
    Whole(Node<'a>),
    /// All of them, repeated. They only count where the fragments left something out.
    Final(Piece<'a>),
    /// All of them, repeated as a JSON value. They only count if there are no others.
    Again(Node<'a>),
    /// The next piece of a text that the format assembles itself.
    Composed(&'a str),
}

impl Arguments<'_> {
    /// What they add to the text of the arguments, or repeat of it.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Fragment(text) | Self::Final(text) => Some(text),
            Self::Again(node) | Self::Whole(node) => Some(node.raw()),
            Self::Composed(text) => Some(text),
            Self::Absent | Self::Null | Self::Seed(_) | Self::Void(_) => None,
        }
    }

    /// Whether they say nothing.
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent | Self::Null | Self::Void(_))
    }

    /// Whether they are text that may go on in the middle of others: it does not begin an object.
    pub(crate) fn goes_on(&self) -> bool {
        self.text().is_some_and(|text| !text.trim_start().starts_with('{'))
    }

    /// The string in the payload that holds them.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            Self::Fragment(piece) | Self::Final(piece) => piece.span(),
            _ => None,
        }
    }
}
