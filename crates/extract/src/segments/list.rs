//! All segments of a text, as a list.

use std::ops::Range;

use wiremend_core::{Outcome, Repairs};

use super::{SegmentEvent, SegmentSink};
use crate::{CallSink, FoundCall, FoundCalls};

/// One segment of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// A tool call, with its markers and those around it that precede it.
    Call(Range<usize>, Box<FoundCall>),
    /// Markers around calls and reasoning blocks.
    Markup(Range<usize>),
    /// A JSON document.
    Payload(Box<Payload>),
    /// The content of a reasoning block.
    Reasoning(Range<usize>),
    /// Text.
    Text(Range<usize>),
}

impl Segment {
    /// Where it is in the input.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Call(span, _) | Self::Markup(span) | Self::Reasoning(span) | Self::Text(span) => {
                span.clone()
            }
            Self::Payload(payload) => payload.span.clone(),
        }
    }

    /// The kind of the segment: `call`, `markup`, `payload`, `reasoning` or `text`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Call(..) => "call",
            Self::Markup(_) => "markup",
            Self::Payload(_) => "payload",
            Self::Reasoning(_) => "reasoning",
            Self::Text(_) => "text",
        }
    }
}

/// A JSON document in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    span: Range<usize>,
    json: Vec<u8>,
    repairs: Repairs,
    outcome: Option<Outcome>,
}

impl Payload {
    /// Its mended text, or raw text if the outcome is not valid.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Its repairs, sorted. Their spans are in the input.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Its outcome, or `None` while it is open.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }
}

/// Collects the segments of a text. Its size grows with the input.
///
/// Their spans follow one another without gaps, and cover the input once it has ended. See
/// [`SegmentReader`](super::SegmentReader).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    list: Vec<Segment>,
    calls: FoundCalls,
    /// Whether a call is open.
    in_call: bool,
}

impl Segments {
    /// The segments, in the order of the input.
    #[must_use]
    pub fn list(&self) -> &[Segment] {
        &self.list
    }

    /// The segments, in the order of the input.
    pub fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.list.iter()
    }

    /// The names of tools that do not exist, each with the nearest one that does.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.calls.unknown()
    }

    /// For each call that was [restated](crate::RestatedCall), the number of the call that it repeats.
    #[must_use]
    pub fn restated(&self) -> &[usize] {
        self.calls.restated()
    }

    /// The [content](crate::CallSink::content) of objects that list calls, decoded. Its source is in the
    /// segments of markup.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, SegmentReader, Segments, Tools};
    /// let tools = Tools::new().with_tool("ls", [""; 0], None);
    /// let mut reader = SegmentReader::new(CallExtractor::new(MendOptions::new()).with_tools(tools));
    /// let mut found = Segments::default();
    /// reader.push(br#"{"content": "On it.", "toolCalls": [{"name": "ls", "arguments": {}}]}"#, &mut found);
    /// reader.finish_at_eos(&mut found);
    /// assert_eq!(found.content(), b"On it.");
    /// ```
    #[must_use]
    pub fn content(&self) -> &[u8] {
        self.calls.text()
    }

    /// Source of a kind that is joined with what precedes it.
    fn extend(&mut self, span: Range<usize>, segment: fn(Range<usize>) -> Segment) {
        let next = segment(span);
        match (self.list.last_mut(), &next) {
            (Some(Segment::Text(last)), Segment::Text(span))
            | (Some(Segment::Reasoning(last)), Segment::Reasoning(span))
            | (Some(Segment::Markup(last)), Segment::Markup(span)) => last.end = span.end,
            _ => self.list.push(next),
        }
    }

    /// The source of the open call.
    fn extend_call(&mut self, span: &Range<usize>) {
        if let Some(Segment::Call(own, _)) = self.list.last_mut() {
            own.end = span.end;
        }
    }

    /// The open call, as it is now.
    fn refresh(&mut self) {
        if let (Some(Segment::Call(_, own)), Some(call)) =
            (self.list.last_mut(), self.calls.calls().last())
        {
            (**own).clone_from(call);
        }
    }

    fn payload(&mut self) -> Option<&mut Payload> {
        match self.list.last_mut() {
            Some(Segment::Payload(payload)) => Some(payload),
            _ => None,
        }
    }
}

impl SegmentSink for Segments {
    fn event(&mut self, event: SegmentEvent<'_>) {
        match event {
            SegmentEvent::Text(span, _) => self.extend(span, Segment::Text),
            SegmentEvent::Reasoning(span, _) => self.extend(span, Segment::Reasoning),
            SegmentEvent::Markup(span, _) if self.in_call => self.extend_call(&span),
            SegmentEvent::Markup(span, _) => self.extend(span, Segment::Markup),
            SegmentEvent::Raw(span, bytes) => {
                self.extend_call(&span);
                self.calls.raw(bytes);
            }
            SegmentEvent::CallBegan(call) => {
                self.in_call = true;
                self.calls.begin(&call);
                let start = self.list.last().map_or(0, |last| last.span().end);
                if let Some(call) = self.calls.calls().last() {
                    self.list.push(Segment::Call(start..start, Box::new(call.clone())));
                }
            }
            SegmentEvent::Arguments(json) => self.calls.arguments(json),
            SegmentEvent::Content(text) => self.calls.content(text),
            SegmentEvent::CallId(id) => self.calls.id(id),
            SegmentEvent::CallEnded(end) => {
                self.in_call = false;
                self.calls.end(&end);
                self.refresh();
            }
            SegmentEvent::Restated(call) => CallSink::restated(&mut self.calls, &call),
            SegmentEvent::Unknown(tool) => CallSink::unknown(&mut self.calls, &tool),
            SegmentEvent::TextWasReasoning => {
                // The tag that closes the block is not a part of it.
                let tag = self.list.pop();
                let end = self.list.last().map_or(0, |last| last.span().end);
                self.list.clear();
                if end > 0 {
                    self.list.push(Segment::Reasoning(0..end));
                }
                self.list.extend(tag);
            }
            SegmentEvent::PayloadBegan(offset) => {
                self.list.push(Segment::Payload(Box::new(Payload {
                    span: offset..offset,
                    json: Vec::new(),
                    repairs: Repairs::new(),
                    outcome: None,
                })));
            }
            SegmentEvent::PayloadJson(bytes) => {
                if let Some(payload) = self.payload() {
                    payload.json.extend_from_slice(bytes);
                }
            }
            SegmentEvent::PayloadRepaired(repair) => {
                if let Some(payload) = self.payload() {
                    payload.repairs.push(&repair);
                }
            }
            SegmentEvent::PayloadEnded(span, outcome) => {
                if let Some(payload) = self.payload() {
                    (payload.span, payload.outcome) = (span, Some(outcome));
                }
            }
            SegmentEvent::PayloadRaw => {}
        }
    }
}
