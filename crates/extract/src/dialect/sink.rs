//! What is found: text, reasoning and calls.

use std::ops::Range;

use super::Dialect;

/// Receives what a [`CallExtractor`](super::CallExtractor) finds, in the order of the input.
///
/// Slices may end anywhere, even inside a character. Every byte of the input is passed to exactly one
/// of [`text`](Self::text), [`reasoning`](Self::reasoning), [`markup`](Self::markup) and
/// [`raw`](Self::raw), in order. All methods do nothing by default.
pub trait CallSink {
    /// Receives text that is neither reasoning nor a call, unchanged.
    fn text(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// Receives the text for the user that an object has next to its list of calls, as in
    /// `{"toolCalls": [...], "content": "On it."}`, decoded. Its source is markup. It comes before the
    /// first call if it was before the list, and after the last one otherwise.
    fn content(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// Receives the content of a reasoning block, unchanged.
    fn reasoning(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// A reasoning block ended that was never opened, because the prompt had opened it: all text so
    /// far was reasoning, and so were the calls in it.
    /// [`CallExtractor::with_start`](super::CallExtractor::with_start) avoids this.
    fn text_was_reasoning(&mut self) {}
    /// Receives what is neither text nor arguments: markers, names, the white space between them.
    fn markup(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// A call begins. Its name is known.
    fn begin(&mut self, call: &CallStart<'_>) {
        let _ = call;
    }
    /// Receives the arguments of the open call, as the model wrote them.
    fn raw(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// Receives the arguments of the open call as JSON text.
    fn arguments(&mut self, json: &[u8]) {
        let _ = json;
    }
    /// The identifier of the open call, which the model wrote after the arguments.
    /// One that it wrote before them is [`CallStart::id`].
    fn id(&mut self, id: &str) {
        let _ = id;
    }
    /// The open call has ended.
    fn end(&mut self, call: &CallEnd) {
        let _ = call;
    }
    /// A call repeats an earlier one, so it is none: see [`RestatedCall`]. Its source follows, as text or
    /// as markup.
    fn restated(&mut self, call: &RestatedCall<'_>) {
        let _ = call;
    }
    /// A call is only mentioned, because of where it is: see [`MentionedCall`]. It is text, which follows.
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        let _ = call;
    }
    /// A call names a tool that does not exist, so it is text, which follows.
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        let _ = tool;
    }
}

/// The beginning of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallStart<'a> {
    /// The number of the call in this text, from 0.
    pub index: usize,
    /// The name of the tool.
    pub name: &'a str,
    /// The identifier that the model gave the call.
    pub id: Option<&'a str>,
    /// The dialect in which it is written.
    pub dialect: &'a Dialect,
    /// Whether the name is that of a known tool. `true` if no tools were given.
    pub known: bool,
    /// The known tool with the most similar name, if the name is not known.
    pub nearest: Option<&'a str>,
    /// The offset of the call in the input, with its markers.
    pub offset: usize,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// What came of it.
    pub outcome: CallOutcome,
    /// The place of the call in the input, with its markers.
    pub span: Range<usize>,
    /// How many repairs its arguments needed, beyond what its dialect calls for.
    pub repairs: usize,
    /// Whether the marker that should end it is missing.
    pub unclosed: bool,
    /// Whether the end of the input ended it.
    pub at_end: bool,
}

/// What came of a call. Only a call that [can run](Self::can_run) may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The input ended inside the call, or its markers did where a value was due. Its arguments are
    /// valid JSON text, as far as they came, unless the policy forbids to close them.
    Cut,
    /// It is not clear what is meant, or the arguments are no JSON and cannot be made so within the
    /// policy and the limits.
    Refused,
    /// The arguments were mended.
    Repaired,
    /// The arguments are what the model wrote.
    Whole,
}

impl CallOutcome {
    /// All outcomes, in alphabetical order.
    pub const ALL: &'static [Self] = &[Self::Cut, Self::Refused, Self::Repaired, Self::Whole];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Refused => "refused",
            Self::Repaired => "repaired",
            Self::Whole => "whole",
        }
    }

    /// Whether the arguments are complete.
    #[must_use]
    pub const fn can_run(self) -> bool {
        matches!(self, Self::Repaired | Self::Whole)
    }
}

/// A call of a tool that does not exist.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UnknownTool<'a> {
    /// The name in the call.
    pub name: &'a str,
    /// The known tool with the most similar name, if any is close.
    pub nearest: Option<&'a str>,
    /// The dialect in which the call is written.
    pub dialect: &'a Dialect,
    /// Where it begins.
    pub offset: usize,
}

/// A call of a known tool that is not made where it is written: in code, in a quotation, in a comment, in the
/// turn of another, after text of its line, or, without a marker, among other text.
///
/// It is reported so that nothing is lost in silence. A tool may be named more than once for one call, and
/// the arguments are not read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MentionedCall<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The dialect in which it is written.
    pub dialect: &'a Dialect,
    /// Where it begins.
    pub offset: usize,
}

/// A call that is stated again, with the same arguments.
///
/// Models write a call as a draft and then for good, or explain one that they have made. Such a call
/// is to be run once. It is restated if there is prose between the two, three words or more, and if
/// one of them is not between the markers of a dialect: a model that writes the markers twice calls
/// twice. As many equal calls in one place as there are in an earlier one repeat those.
///
/// The source of a restated call is text, so that it is there to be read, unless it is between markers
/// or next to other calls.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RestatedCall<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The number of the call that it repeats.
    pub index: usize,
    /// The dialect in which it is written.
    pub dialect: &'a Dialect,
    /// Where it begins.
    pub offset: usize,
}

/// Collects everything that is found. Its size grows with the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundCalls {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    calls: Vec<FoundCall>,
    unknown: Vec<(String, Option<String>)>,
    restated: Vec<usize>,
    mentioned: Vec<String>,
}

impl FoundCalls {
    /// The text outside of calls and reasoning, with the [content](CallSink::content) of envelopes.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The content of the reasoning blocks.
    #[must_use]
    pub fn reasoning(&self) -> &[u8] {
        &self.reasoning
    }

    /// The calls, in the order of the input.
    #[must_use]
    pub fn calls(&self) -> &[FoundCall] {
        &self.calls
    }

    /// The names of tools that do not exist, each with the nearest one that does.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.unknown.iter().map(|(name, nearest)| (name.as_str(), nearest.as_deref()))
    }

    /// The names of the tools of calls that are only [mentioned](MentionedCall).
    pub fn mentioned(&self) -> impl Iterator<Item = &str> {
        self.mentioned.iter().map(String::as_str)
    }

    /// For each call that was [restated](RestatedCall), the number of the call that it repeats.
    #[must_use]
    pub fn restated(&self) -> &[usize] {
        &self.restated
    }
}

impl CallSink for FoundCalls {
    fn text(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn content(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.reasoning.extend_from_slice(bytes);
    }
    fn text_was_reasoning(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.reasoning.splice(0..0, text);
        self.calls.iter_mut().for_each(|call| call.in_reasoning = true);
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.calls.push(FoundCall {
            name: call.name.to_owned(),
            id: call.id.map(str::to_owned),
            dialect: call.dialect.name().to_owned(),
            known: call.known,
            raw: Vec::new(),
            arguments: Vec::new(),
            in_reasoning: false,
            end: None,
        });
    }
    fn raw(&mut self, bytes: &[u8]) {
        if let Some(call) = self.calls.last_mut() {
            call.raw.extend_from_slice(bytes);
        }
    }
    fn arguments(&mut self, json: &[u8]) {
        if let Some(call) = self.calls.last_mut() {
            call.arguments.extend_from_slice(json);
        }
    }
    fn id(&mut self, id: &str) {
        if let Some(call) = self.calls.last_mut() {
            call.id = Some(id.to_owned());
        }
    }
    fn end(&mut self, end: &CallEnd) {
        if let Some(call) = self.calls.last_mut() {
            call.end = Some(end.clone());
        }
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        self.restated.push(call.index);
    }
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        self.mentioned.push(call.name.to_owned());
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        self.unknown.push((tool.name.to_owned(), tool.nearest.map(str::to_owned)));
    }
}

/// One call of [`FoundCalls`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCall {
    name: String,
    id: Option<String>,
    dialect: String,
    known: bool,
    raw: Vec<u8>,
    arguments: Vec<u8>,
    in_reasoning: bool,
    end: Option<CallEnd>,
}

impl FoundCall {
    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The identifier that the model gave the call.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the dialect.
    #[must_use]
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// Whether the name is that of a known tool. `true` if no tools were given.
    #[must_use]
    pub const fn known(&self) -> bool {
        self.known
    }

    /// The arguments as the model wrote them.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The arguments as JSON text. `{}` if there are none.
    #[must_use]
    pub fn arguments(&self) -> &[u8] {
        if self.arguments.is_empty() { b"{}" } else { &self.arguments }
    }

    /// Whether the text before turned out to be reasoning, so that this is a draft and no call: see
    /// [`CallSink::text_was_reasoning`].
    #[must_use]
    pub const fn in_reasoning(&self) -> bool {
        self.in_reasoning
    }

    /// How it ended. `None` while it is open.
    #[must_use]
    pub const fn end(&self) -> Option<&CallEnd> {
        self.end.as_ref()
    }

    /// What came of it. [`CallOutcome::Cut`] while it is open.
    #[must_use]
    pub fn outcome(&self) -> CallOutcome {
        self.end.as_ref().map_or(CallOutcome::Cut, |end| end.outcome)
    }
}
