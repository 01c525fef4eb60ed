//! The formats of the providers: from one payload to deltas on channels.
//!
//! A format is one file, one variant of [`Wire`], and one row of [`FORMATS`].

mod anthropic;
mod errors;
mod openai_chat;

use core::{fmt, ops::Deref};
use std::borrow::Cow;

use crate::{Block, CallKind, FinishReason, Usage, json::Node};
pub(crate) use errors::{excerpt, read_error, read_exception, read_plain_error};

/// The format of a provider's stream.
///
/// ```
/// use jsonmend_wire::Wire;
/// assert_eq!(Wire::OpenAiChat.code(), "openai-chat");
/// assert_eq!(Wire::from_code("anthropic"), Some(Wire::Anthropic));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and the servers compatible with it.
    OpenAiChat,
}

impl Wire {
    /// All formats, in alphabetical order of their codes.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAiChat];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.code() == code)
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// One format: its recognition, and its decoder.
struct Entry {
    wire: Wire,
    /// Whether a payload belongs to the format.
    recognise: fn(event: &str, payload: Node<'_>) -> bool,
    start: fn() -> Box<dyn Format>,
}

/// In the order in which they are tried: the one whose marks are most distinct comes first.
const FORMATS: [Entry; 2] = [
    Entry {
        wire: Wire::Anthropic,
        recognise: anthropic::recognise,
        start: || Box::new(anthropic::Anthropic::default()),
    },
    Entry {
        wire: Wire::OpenAiChat,
        recognise: openai_chat::recognise,
        start: || Box::new(openai_chat::OpenAiChat::default()),
    },
];

/// The format a payload belongs to.
pub(crate) fn detect(event: &str, payload: Node<'_>) -> Option<Wire> {
    FORMATS.iter().find(|entry| (entry.recognise)(event, payload)).map(|entry| entry.wire)
}

/// The decoder of a format.
pub(crate) fn start(wire: Wire) -> Option<Box<dyn Format>> {
    FORMATS.iter().find(|entry| entry.wire == wire).map(|entry| (entry.start)())
}

/// Reads the payloads of one stream. It keeps what the format needs to read the next payload, and
/// leaves calls and texts to its caller.
pub(crate) trait Format: fmt::Debug + Send {
    /// Reads a payload. `event` is the name of its event, empty where there was none. An error in
    /// the payload was read already.
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>));

    /// The sentinel `[DONE]` came.
    fn sentinel(&mut self);

    /// Whether the stream may end here.
    fn is_ended(&self) -> bool;
}

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
    /// A piece of a tool call.
    Call(CallDelta<'a>),
    /// The format says that a call has ended.
    CallEnd {
        scope: u32,
        index: i64,
    },
    /// A choice or message is broken off by another one.
    Abort {
        scope: u32,
    },
    Finish {
        scope: u32,
        reason: FinishReason,
        original: Cow<'a, str>,
    },
    Usage(Usage),
}

/// A piece of a channel's text, and where it stands.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    text: Cow<'a, str>,
    literal: &'a str,
}

impl<'a> Piece<'a> {
    /// The text of a string; `None` where it is empty, or the node is something else.
    pub(crate) fn of(node: Node<'a>) -> Option<Self> {
        let text = node.text().filter(|text| !text.is_empty())?;
        Some(Self { text, literal: node.raw() })
    }

    /// What stands in the payload: the string with its quotes. It is a slice of the payload, so that
    /// its place in there can be told.
    pub(crate) const fn literal(&self) -> &'a str {
        self.literal
    }
}

impl Deref for Piece<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// A piece of a tool call, as the stream gives it: nothing in it needs to be there.
#[derive(Debug, Default)]
pub(crate) struct CallDelta<'a> {
    /// The choice or message.
    pub(crate) scope: u32,
    /// The key of the call in its scope; servers leave it out, repeat it, or count from anywhere.
    pub(crate) index: Option<i64>,
    /// The format guarantees the index.
    pub(crate) exact: bool,
    /// It stands behind another entry of the same delta.
    pub(crate) sibling: bool,
    pub(crate) kind: Option<CallKind>,
    /// Never empty.
    pub(crate) id: Option<Cow<'a, str>>,
    /// Never empty.
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) arguments: Arguments<'a>,
}

/// What a piece of a tool call says about the arguments.
#[derive(Debug, Default)]
pub(crate) enum Arguments<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// The next piece of their text.
    Fragment(Piece<'a>),
    /// All of them, as a JSON value. It counts only where no fragment comes.
    Seed(&'a str),
    /// All of them, as a JSON value.
    Whole(&'a str),
}

/// The piece of text in a member that is a string and not empty.
fn piece(node: Option<Node<'_>>) -> Option<Piece<'_>> {
    Piece::of(node?)
}

/// The text of a member that is a string and not empty.
fn non_empty(node: Option<Node<'_>>) -> Option<Cow<'_, str>> {
    node?.text().filter(|text| !text.is_empty())
}

/// A count.
fn count(node: Option<Node<'_>>) -> Option<u64> {
    u64::try_from(node?.integer()?).ok()
}

/// A small number that names a choice or a block; 0 where it is missing or out of range.
fn ordinal(node: Option<Node<'_>>) -> u32 {
    count(node).and_then(|n| u32::try_from(n).ok()).unwrap_or_default()
}
