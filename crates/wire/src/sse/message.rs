//! One event.

use std::borrow::Cow;

use crate::utf8;

/// One dispatched event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SseMessage<'a> {
    pub(super) event: &'a [u8],
    pub(super) data: &'a [u8],
    pub(super) has_data: bool,
    pub(super) id: &'a str,
    pub(super) retry: Option<u64>,
    pub(super) terminated: bool,
}

impl<'a> SseMessage<'a> {
    /// The name of the event. `message` if the stream sent none.
    #[must_use]
    pub fn event(&self) -> Cow<'a, str> {
        if self.event.is_empty() { Cow::Borrowed("message") } else { self.event_field() }
    }

    /// The value of the `event` field. Empty if there was none.
    #[must_use]
    pub fn event_field(&self) -> Cow<'a, str> {
        utf8::text(self.event)
    }

    /// The data lines, joined by LF. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn data(&self) -> Cow<'a, str> {
        utf8::text(self.data)
    }

    /// The data lines, joined by LF, without decoding.
    #[must_use]
    pub const fn data_bytes(&self) -> &'a [u8] {
        self.data
    }

    /// Whether the event has a data line, if only an empty one.
    pub(crate) const fn has_data(&self) -> bool {
        self.has_data
    }

    /// The current last event ID.
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }

    /// The current reconnection time, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Whether a blank line ended it. `false` if the end of the input flushed it.
    #[must_use]
    pub const fn is_terminated(&self) -> bool {
        self.terminated
    }
}
