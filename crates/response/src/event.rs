//! The events of a [`ResponseReader`](crate::ResponseReader).

use std::{collections::VecDeque, sync::Arc};

use wiremend_core::Mended;
use wiremend_wire::{
    ApiFormat, Block, Call, CallKind, Doubt, Finish, Framing, StreamOutcome, Usage, WireError,
    WireEvent,
};

use crate::Object;

/// What happened in a response, in the order of its bytes.
///
/// Calls and objects are numbered separately, from 0, in the order in which they begin. The sizes of
/// text pieces and fragments depend on how the input is split into chunks; their concatenation does not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A tool call began.
    #[non_exhaustive]
    CallBegan {
        /// Which call.
        call: usize,
        /// The choice or message it belongs to.
        choice: u32,
        /// What kind of tool.
        kind: CallKind,
        /// Its id, if the stream has sent it yet.
        id: Option<String>,
        /// Its name, if the stream has sent it yet.
        name: Option<String>,
    },
    /// A tool call ended: its name, arguments, outcome and repairs.
    CallEnded(Arc<Call>),
    /// The same call, with the arguments that fit the schema of its tool, or why there are none; directly
    /// after its [`CallEnded`](Self::CallEnded). Only with
    /// [`with_tools`](crate::ResponseOptions::with_tools).
    #[cfg(feature = "schema")]
    CallFitted(Box<crate::FittedCall>),
    /// Something is wrong with a call that no further text can fix. It follows the fragment that decided
    /// it. With [`Standing::Lost`](wiremend_schema::Standing::Lost) no rule can fix it either, so reading
    /// on is pointless for this call. Only with
    /// [`with_tools`](crate::ResponseOptions::with_tools).
    #[cfg(feature = "schema")]
    #[non_exhaustive]
    CallIssue {
        /// Which call.
        call: usize,
        /// What is wrong. Positions refer to the repaired text: the concatenated fragments of the call.
        issue: wiremend_schema::EarlyIssue,
    },
    /// More of the arguments of a call, repaired. For display only: [`CallEnded`](Self::CallEnded) decides.
    #[non_exhaustive]
    CallFragment {
        /// Which call.
        call: usize,
        /// JSON text. It may end inside a character.
        json: Vec<u8>,
    },
    /// A call in the text is only mentioned, because of where it is: see
    /// [`MentionedCall`](wiremend_extract::MentionedCall). Its text follows. So is one in the reasoning, where none is
    /// [made](crate::TextCalls::with_calls_in_reasoning): its text comes before. Only with
    /// [`with_calls_in_text`](crate::ResponseOptions::with_calls_in_text).
    #[non_exhaustive]
    CallMentioned {
        /// Which text.
        block: Block,
        /// The name of the tool.
        name: String,
    },
    /// The name of a call became known, or grew.
    #[non_exhaustive]
    CallNamed {
        /// Which call.
        call: usize,
        /// The whole name so far.
        name: String,
    },
    /// More of a call, verbatim: the text of a custom tool, which is not JSON, or arguments from the point
    /// where repair stopped because of a limit or of a repair that the policy forbids.
    #[non_exhaustive]
    CallRaw {
        /// Which call.
        call: usize,
        /// Text that need not be JSON. It may end inside a character.
        text: Vec<u8>,
    },
    /// A call in the text repeats an earlier one, so it is none: see
    /// [`RestatedCall`](wiremend_extract::RestatedCall). Only with
    /// [`with_calls_in_text`](crate::ResponseOptions::with_calls_in_text).
    #[non_exhaustive]
    CallRestated {
        /// Which text.
        block: Block,
        /// The number of the call that it repeats.
        call: usize,
        /// The name of the tool.
        name: String,
    },
    /// A source that the provider cites for the text of that block.
    #[non_exhaustive]
    Citation {
        /// Which text.
        block: Block,
        /// The provider's own JSON, verbatim.
        json: String,
    },
    /// Something of the response was lost, damaged or contradicted. No call that is open here is complete, and
    /// after a [loss](Doubt::is_loss) no object that ends later in a text. It comes before what was read next.
    Doubted(Doubt),
    /// The stream ended. The last event.
    Ended(StreamOutcome),
    /// An envelope was invalid JSON and was repaired before it was read, as this says.
    EnvelopeMended(Box<Mended>),
    /// An error inside the response.
    Error(WireError),
    /// A choice or message finished.
    Finish(Finish),
    /// The framing was detected, or refined.
    FramingDetected(Framing),
    /// A comment or an empty payload, sent to keep the connection open.
    KeepAlive,
    /// An object began in the text.
    #[non_exhaustive]
    ObjectBegan {
        /// Which object.
        object: usize,
        /// The text that holds it.
        block: Block,
    },
    /// An object ended: its text, outcome and repairs.
    ObjectEnded(Box<Object>),
    /// More of an object, repaired.
    #[non_exhaustive]
    ObjectFragment {
        /// Which object.
        object: usize,
        /// JSON text. It may end inside a character.
        json: Vec<u8>,
    },
    /// Something is wrong with an object that no further text can fix. It follows the fragment that decided
    /// it, and comes before the end of the object. With [`Standing::Lost`](wiremend_schema::Standing::Lost) no
    /// rule can fix it either, so reading on is pointless for this object; a
    /// [policy](crate::ResponseOptions::with_mending) that allows guesses, as the default one does, gives nothing
    /// up before the end. Only with [`with_schema`](crate::ResponseOptions::with_schema).
    ///
    /// An object may have no early issues and not fit: what is only known at its end is in its
    /// [fit](Self::ObjectFitted). Nothing is found past a limit, or after something of the response was lost.
    #[cfg(feature = "schema")]
    #[non_exhaustive]
    ObjectIssue {
        /// Which object.
        object: usize,
        /// What is wrong. Positions refer to the repaired text: the concatenated fragments of the object.
        issue: Box<wiremend_schema::EarlyIssue>,
    },
    /// The result of fitting an object to the schema for the text, directly after its
    /// [`ObjectEnded`](Self::ObjectEnded); or of a text in which no object was found, at its end. Only
    /// with [`with_schema`](crate::ResponseOptions::with_schema).
    #[cfg(feature = "schema")]
    ObjectFitted(Box<crate::FittedObject>),
    /// More of an object, verbatim, from the point where repair stopped.
    #[non_exhaustive]
    ObjectRaw {
        /// Which object.
        object: usize,
        /// Text that need not be JSON. It may end inside a character.
        text: Vec<u8>,
    },
    /// A line or an event exceeded a limit and was dropped. Reading continues.
    #[non_exhaustive]
    Oversize {
        /// The limit, in bytes.
        limit: usize,
    },
    /// More of the model's reasoning: from a separate channel, or from a block in the text.
    #[non_exhaustive]
    Reasoning {
        /// Which text.
        block: Block,
        /// The text.
        text: String,
    },
    /// More of a refusal.
    #[non_exhaustive]
    Refusal {
        /// Which text.
        block: Block,
        /// The text.
        text: String,
    },
    /// More text. [`without_objects_in_text`](crate::ResponseOptions::without_objects_in_text) removes
    /// objects from it.
    #[non_exhaustive]
    Text {
        /// Which text.
        block: Block,
        /// The text.
        text: String,
    },
    /// All text of the block so far was reasoning: it ends with the closing tag of a block that the prompt
    /// opened. Only with [`with_calls_in_text`](crate::ResponseOptions::with_calls_in_text);
    /// [`TextCalls::with_start`](crate::TextCalls::with_start) avoids it.
    #[non_exhaustive]
    TextWasReasoning {
        /// Which text.
        block: Block,
    },
    /// The payload in which the stream was cut off, verbatim.
    Unfinished(String),
    /// A call in the text names a tool that does not exist, so it is text, which follows. Only with
    /// [`with_calls_in_text`](crate::ResponseOptions::with_calls_in_text).
    #[non_exhaustive]
    UnknownTool {
        /// Which text.
        block: Block,
        /// The name in the call.
        name: String,
        /// The known tool with the most similar name, if any is close.
        nearest: Option<String>,
    },
    /// Token counts, merged over the stream so far.
    Usage(Usage),
    /// The provider's format was detected.
    FormatDetected(ApiFormat),
}

impl Event {
    /// The event as an owned one. `None` for a kind this version does not know.
    pub(crate) fn owned(event: &WireEvent<'_>) -> Option<Self> {
        Some(match *event {
            WireEvent::CallBegan { call, choice, kind, id, name } => Self::CallBegan {
                call,
                choice,
                kind,
                id: id.map(str::to_owned),
                name: name.map(str::to_owned),
            },
            WireEvent::CallEnded(call) => Self::CallEnded(Arc::new(call.clone())),
            WireEvent::CallFragment { call, bytes } => {
                Self::CallFragment { call, json: bytes.to_vec() }
            }
            WireEvent::CallRaw { call, bytes } => Self::CallRaw { call, text: bytes.to_vec() },
            WireEvent::CallNamed { call, name } => Self::CallNamed { call, name: name.to_owned() },
            WireEvent::Citation { block, json } => Self::Citation { block, json: json.to_owned() },
            WireEvent::Doubted(doubt) => Self::Doubted(doubt),
            WireEvent::Ended(outcome) => Self::Ended(outcome),
            WireEvent::EnvelopeMended(mended) => Self::EnvelopeMended(Box::new((*mended).clone())),
            WireEvent::Error(error) => Self::Error(error.clone()),
            WireEvent::Finish(finish) => Self::Finish(finish.clone()),
            WireEvent::FramingDetected(framing) => Self::FramingDetected(framing),
            WireEvent::KeepAlive => Self::KeepAlive,
            WireEvent::Oversize { limit } => Self::Oversize { limit },
            WireEvent::Reasoning { block, text } => {
                Self::Reasoning { block, text: text.to_owned() }
            }
            WireEvent::Refusal { block, text } => Self::Refusal { block, text: text.to_owned() },
            WireEvent::Text { block, text } => Self::Text { block, text: text.to_owned() },
            WireEvent::Unfinished(text) => Self::Unfinished(text.to_owned()),
            WireEvent::Usage(usage) => Self::Usage(usage),
            WireEvent::FormatDetected(wire) => Self::FormatDetected(wire),
            _ => return None,
        })
    }

    /// The decoder's event that this is a copy of. `None` for events that only a response reader emits:
    /// objects, fits, early issues, and what is said about calls in text.
    #[must_use]
    pub fn to_wire(&self) -> Option<WireEvent<'_>> {
        Some(match self {
            Self::CallBegan { call, choice, kind, id, name } => WireEvent::CallBegan {
                call: *call,
                choice: *choice,
                kind: *kind,
                id: id.as_deref(),
                name: name.as_deref(),
            },
            Self::CallEnded(call) => WireEvent::CallEnded(call),
            Self::CallFragment { call, json } => {
                WireEvent::CallFragment { call: *call, bytes: json }
            }
            Self::CallNamed { call, name } => WireEvent::CallNamed { call: *call, name },
            Self::CallRaw { call, text } => WireEvent::CallRaw { call: *call, bytes: text },
            Self::Citation { block, json } => WireEvent::Citation { block: *block, json },
            Self::Doubted(doubt) => WireEvent::Doubted(*doubt),
            Self::Ended(outcome) => WireEvent::Ended(*outcome),
            Self::EnvelopeMended(mended) => WireEvent::EnvelopeMended(mended),
            Self::Error(error) => WireEvent::Error(error),
            Self::Finish(finish) => WireEvent::Finish(finish),
            Self::FormatDetected(format) => WireEvent::FormatDetected(*format),
            Self::FramingDetected(framing) => WireEvent::FramingDetected(*framing),
            Self::KeepAlive => WireEvent::KeepAlive,
            Self::Oversize { limit } => WireEvent::Oversize { limit: *limit },
            Self::Reasoning { block, text } => WireEvent::Reasoning { block: *block, text },
            Self::Refusal { block, text } => WireEvent::Refusal { block: *block, text },
            Self::Text { block, text } => WireEvent::Text { block: *block, text },
            Self::Unfinished(text) => WireEvent::Unfinished(text),
            Self::Usage(usage) => WireEvent::Usage(*usage),
            Self::CallMentioned { .. }
            | Self::CallRestated { .. }
            | Self::ObjectBegan { .. }
            | Self::ObjectEnded(_)
            | Self::ObjectFragment { .. }
            | Self::ObjectRaw { .. }
            | Self::TextWasReasoning { .. }
            | Self::UnknownTool { .. } => return None,
            #[cfg(feature = "schema")]
            Self::CallFitted(_)
            | Self::CallIssue { .. }
            | Self::ObjectFitted(_)
            | Self::ObjectIssue { .. } => return None,
        })
    }

    /// Appends `next` if it continues this event; otherwise returns it.
    pub(crate) fn join(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Text { block, text }, Self::Text { block: more_of, text: more })
            | (Self::Reasoning { block, text }, Self::Reasoning { block: more_of, text: more })
            | (Self::Refusal { block, text }, Self::Refusal { block: more_of, text: more })
                if *block == more_of =>
            {
                text.push_str(&more);
                None
            }
            (
                Self::ObjectFragment { object: number, json },
                Self::ObjectFragment { object: more_of, json: more },
            )
            | (
                Self::CallFragment { call: number, json },
                Self::CallFragment { call: more_of, json: more },
            ) if *number == more_of => {
                json.extend_from_slice(&more);
                None
            }
            (
                Self::ObjectRaw { object: number, text },
                Self::ObjectRaw { object: more_of, text: more },
            )
            | (Self::CallRaw { call: number, text }, Self::CallRaw { call: more_of, text: more })
                if *number == more_of =>
            {
                text.extend_from_slice(&more);
                None
            }
            (Self::KeepAlive, Self::KeepAlive) => None,
            (_, next) => Some(next),
        }
    }
}

/// Appends an event to the queue, or to the last event in it.
pub(crate) fn queue(queue: &mut VecDeque<Event>, event: Event) {
    let rest = match queue.back_mut() {
        Some(last) => last.join(event),
        None => Some(event),
    };
    queue.extend(rest);
}
