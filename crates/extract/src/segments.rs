//! Text, reasoning, JSON and tool calls in the text of a model, from one reader.

use std::ops::Range;

use crate::{
    CallEnd, CallExtractor, CallSink, CallStart, Finder, FoundCall, FoundCalls, MentionedCall,
    RestatedCall, Scope, TextSink, UnknownTool,
};
use wiremend_core::{MendOptions, Outcome, Repair, Repairs};

/// What a [`SegmentReader`] finds, in the order of the input.
///
/// Every byte of the input is in exactly one of the spans of [`Text`](Self::Text),
/// [`Reasoning`](Self::Reasoning), [`Markup`](Self::Markup), [`Raw`](Self::Raw) and
/// [`PayloadEnded`](Self::PayloadEnded), in order. Slices may end anywhere, even inside a character.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SegmentEvent<'a> {
    /// A piece of the arguments of the open call, as JSON text.
    Arguments(&'a [u8]),
    /// A call begins. Its name is known.
    CallBegan(CallStart<'a>),
    /// The open call has ended.
    CallEnded(CallEnd),
    /// The identifier of the open call, which came after the arguments: see [`CallSink::id`].
    CallId(&'a str),
    /// The text for the user that an object has next to its list of calls, decoded. Its source is in
    /// `Markup`: see [`CallSink::content`].
    Content(&'a [u8]),
    /// A call is only mentioned, so it is text, which follows.
    Mentioned(MentionedCall<'a>),
    /// Markers: in a call if one is open, and around calls and reasoning blocks otherwise.
    Markup(Range<usize>, &'a [u8]),
    /// A JSON document begins at this offset.
    PayloadBegan(usize),
    /// The open document has ended. The span is where it is in the input.
    PayloadEnded(Range<usize>, Outcome),
    /// A piece of the open document, mended.
    PayloadJson(&'a [u8]),
    /// What follows of the open document is raw input, and may not be JSON.
    PayloadRaw,
    /// A repair in the open document. Its span is in the input.
    PayloadRepaired(Repair),
    /// A piece of the arguments of the open call, as the model wrote them.
    Raw(Range<usize>, &'a [u8]),
    /// The content of a reasoning block.
    Reasoning(Range<usize>, &'a [u8]),
    /// A call repeats an earlier one, so it is none.
    Restated(RestatedCall<'a>),
    /// Text, with the fences and tags in it.
    Text(Range<usize>, &'a [u8]),
    /// Everything so far was reasoning: a block has ended that the prompt had opened.
    TextWasReasoning,
    /// A call names a tool that does not exist, so it is text, which follows.
    Unknown(UnknownTool<'a>),
}

/// Receives what a [`SegmentReader`] finds. A closure is one.
pub trait SegmentSink {
    /// Receives an event.
    fn event(&mut self, event: SegmentEvent<'_>);
}

impl<F: FnMut(SegmentEvent<'_>)> SegmentSink for F {
    fn event(&mut self, event: SegmentEvent<'_>) {
        self(event);
    }
}

/// Divides the text of a model into text, reasoning, JSON documents and tool calls while it arrives.
///
/// It is a [`CallExtractor`], with a [`Finder`] on the text that is left. Calls are looked for
/// first: a call between the tokens of a document ends it, so the document is not complete.
///
/// Call [`push`](Self::push) any number of times, then one of [`finish`](Self::finish) and
/// [`finish_at_eos`](Self::finish_at_eos). It makes no difference how the input is divided into
/// chunks.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_extract::{CallExtractor, Dialect, Segment, SegmentReader, Segments};
///
/// let dialect = Dialect::by_name("hermes").unwrap().clone();
/// let calls = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
/// let mut reader = SegmentReader::new(calls);
/// let mut found = Segments::default();
/// let text = br#"<think>Two?</think>So: {"seats": 2,} <tool_call>{"name": "book", "arguments": {}}</tool_call>"#;
/// reader.push(text, &mut found);
/// reader.finish_at_eos(&mut found);
///
/// let kinds: Vec<&str> = found.iter().map(|segment| segment.kind()).collect();
/// assert_eq!(kinds, ["markup", "reasoning", "markup", "text", "payload", "text", "call"]);
/// let Segment::Payload(payload) = &found.list()[4] else { panic!() };
/// assert_eq!(payload.json(), br#"{"seats": 2}"#);
/// // The spans cover the input.
/// let joined: Vec<&[u8]> = found.iter().map(|segment| &text[segment.span()]).collect();
/// assert_eq!(joined.concat(), text);
/// ```
#[derive(Clone, Debug)]
pub struct SegmentReader {
    calls: CallExtractor,
    texts: Texts,
}

/// The texts between calls, each of which is searched for documents.
#[derive(Clone, Debug)]
struct Texts {
    payloads: Finder,
    /// How much of the input is in spans.
    done: usize,
    /// Where the text begins that is being searched. `None` before its first byte.
    base: Option<usize>,
    /// Where the open document begins.
    open: Option<usize>,
    /// The end of the text, as far as it is withheld.
    tail: Vec<u8>,
}

impl SegmentReader {
    /// Creates a reader. Dialects, tools, start and options are those of `calls`; documents are looked
    /// for everywhere.
    #[must_use]
    pub fn new(calls: CallExtractor) -> Self {
        let payloads = Finder::new(Scope::All, calls.options().clone());
        Self { calls, texts: Texts::new(payloads) }
    }

    /// Looks for documents with other options, for example in fences only. [`Scope::All`] and
    /// [`Scope::Fenced`] are possible; the others, which mean one document, are read as `All`.
    #[must_use]
    pub fn with_payloads(mut self, scope: Scope, options: MendOptions) -> Self {
        let scope = if scope == Scope::Fenced { scope } else { Scope::All };
        self.texts = Texts::new(Finder::new(scope, options));
        self
    }

    /// Reads a chunk, and emits what is certain now.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl SegmentSink) {
        self.calls.push(chunk, &mut Route { texts: &mut self.texts, sink });
    }

    /// Ends the text where the transport ended: a call that is open was cut off.
    pub fn finish(&mut self, sink: &mut impl SegmentSink) {
        self.calls.finish(&mut Route { texts: &mut self.texts, sink });
        self.texts.leave(sink);
    }

    /// Ends the text where the model ended it itself: see [`CallExtractor::finish_at_eos`].
    pub fn finish_at_eos(&mut self, sink: &mut impl SegmentSink) {
        self.calls.finish_at_eos(&mut Route { texts: &mut self.texts, sink });
        self.texts.leave(sink);
    }

    /// Starts over. Returns the bytes that were not decided: those that were received and are neither in
    /// a span nor part of what was emitted of an open document.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, SegmentReader, Segments};
    /// let mut reader = SegmentReader::new(CallExtractor::new(MendOptions::new()));
    /// reader.push(b"A list: [", &mut Segments::default());
    /// assert_eq!(reader.reset(), b"[");
    /// ```
    pub fn reset(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.texts.tail);
        rest.extend(self.calls.reset());
        self.texts.payloads.reset();
        (self.texts.done, self.texts.base, self.texts.open) = (0, None, None);
        rest
    }

    /// How many bytes were received but not emitted yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.texts.tail.len() + self.calls.withheld()
    }
}

impl Texts {
    const fn new(payloads: Finder) -> Self {
        Self { payloads, done: 0, base: None, open: None, tail: Vec::new() }
    }

    /// Searches text.
    fn push(&mut self, bytes: &[u8], sink: &mut impl SegmentSink) {
        let (base, done) = (*self.base.get_or_insert(self.done), &mut self.done);
        self.payloads.push(bytes, &mut Within { base, done, open: &mut self.open, sink });
        let withheld = self.payloads.withheld();
        if withheld == 0 {
            self.tail.clear();
            return;
        }
        self.tail.extend_from_slice(
            bytes.get(bytes.len().saturating_sub(withheld)..).unwrap_or_default(),
        );
        self.tail.drain(..self.tail.len().saturating_sub(withheld));
    }

    /// Ends the text that is being searched.
    fn leave(&mut self, sink: &mut impl SegmentSink) {
        let Some(base) = self.base.take() else { return };
        let done = &mut self.done;
        self.payloads.finish(&mut Within { base, done, open: &mut self.open, sink });
        self.payloads.reset();
        self.tail.clear();
    }

    /// The span of the next bytes of the input.
    fn next(&mut self, length: usize) -> Range<usize> {
        let start = self.done;
        self.done += length;
        start..self.done
    }
}

/// Passes on what a [`CallExtractor`] finds.
struct Route<'a, S> {
    texts: &'a mut Texts,
    sink: &'a mut S,
}

impl<S: SegmentSink> CallSink for Route<'_, S> {
    fn text(&mut self, bytes: &[u8]) {
        self.texts.push(bytes, self.sink);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.texts.leave(self.sink);
        let span = self.texts.next(bytes.len());
        self.sink.event(SegmentEvent::Reasoning(span, bytes));
    }
    fn text_was_reasoning(&mut self) {
        self.texts.leave(self.sink);
        self.sink.event(SegmentEvent::TextWasReasoning);
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.texts.leave(self.sink);
        let span = self.texts.next(bytes.len());
        self.sink.event(SegmentEvent::Markup(span, bytes));
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.texts.leave(self.sink);
        self.sink.event(SegmentEvent::CallBegan(*call));
    }
    fn content(&mut self, text: &[u8]) {
        self.texts.leave(self.sink);
        self.sink.event(SegmentEvent::Content(text));
    }
    fn raw(&mut self, bytes: &[u8]) {
        let span = self.texts.next(bytes.len());
        self.sink.event(SegmentEvent::Raw(span, bytes));
    }
    fn arguments(&mut self, json: &[u8]) {
        self.sink.event(SegmentEvent::Arguments(json));
    }
    fn id(&mut self, id: &str) {
        self.sink.event(SegmentEvent::CallId(id));
    }
    fn end(&mut self, call: &CallEnd) {
        self.sink.event(SegmentEvent::CallEnded(call.clone()));
    }
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        self.sink.event(SegmentEvent::Mentioned(*call));
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        self.sink.event(SegmentEvent::Restated(*call));
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        self.sink.event(SegmentEvent::Unknown(*tool));
    }
}

/// Passes on what a [`Finder`] finds in a text that begins at `base`.
struct Within<'a, S> {
    base: usize,
    done: &'a mut usize,
    open: &'a mut Option<usize>,
    sink: &'a mut S,
}

impl<S: SegmentSink> Within<'_, S> {
    fn next(&mut self, length: usize) -> Range<usize> {
        let start = *self.done;
        *self.done += length;
        start..*self.done
    }
}

impl<S: SegmentSink> TextSink for Within<'_, S> {
    fn text(&mut self, bytes: &[u8]) {
        let span = self.next(bytes.len());
        self.sink.event(SegmentEvent::Text(span, bytes));
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        let span = self.next(bytes.len());
        self.sink.event(SegmentEvent::Reasoning(span, bytes));
    }
    fn begin(&mut self, offset: usize) {
        *self.open = Some(self.base + offset);
        self.sink.event(SegmentEvent::PayloadBegan(self.base + offset));
    }
    fn json(&mut self, bytes: &[u8]) {
        self.sink.event(SegmentEvent::PayloadJson(bytes));
    }
    fn raw(&mut self) {
        self.sink.event(SegmentEvent::PayloadRaw);
    }
    fn repair(&mut self, repair: Repair) {
        self.sink.event(SegmentEvent::PayloadRepaired(repair.shifted(self.base)));
    }
    fn end_at(&mut self, offset: usize) {
        *self.done = self.base + offset;
    }
    fn end(&mut self, outcome: Outcome) {
        let start = self.open.take().unwrap_or(*self.done);
        self.sink.event(SegmentEvent::PayloadEnded(start..*self.done, outcome));
    }
}

// All segments of a text, as a list.

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

    /// The names of the tools of calls that are only [mentioned](crate::MentionedCall).
    pub fn mentioned(&self) -> impl Iterator<Item = &str> {
        self.calls.mentioned()
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
            SegmentEvent::Mentioned(call) => CallSink::mentioned(&mut self.calls, &call),
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
