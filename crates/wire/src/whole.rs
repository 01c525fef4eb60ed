//! The arguments of one call, for callers that already have the whole text.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use wiremend_core::{MendOptions, Outcome, Path, Policy, Repairs};

use crate::{
    ApiFormat, Block, Call, CallKind, Decoder, Doubt, Finish, FinishReason, Framing, StreamOutcome,
    Usage, WireError, WireEvent, WireOptions,
    calls::{EmptyCall, ToolOptions, judge},
    error::coded,
    format::{self, Arguments, Delta},
    json,
    rewrite::{Empty, spliced},
};

/// The outcome of the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentsOutcome {
    /// They were cut off, or may have been: do not run the call.
    Cut,
    /// They need a repair that the policy forbids, or exceeded a limit: do not run the call.
    Refused,
    /// They were invalid, and were repaired.
    Repaired,
    /// They were valid, or empty after a clean stop.
    Whole,
}

impl ArgumentsOutcome {
    /// Every outcome, in alphabetical order of the codes.
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

    /// Whether the call may be run.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Repaired | Self::Whole)
    }
}

impl From<Outcome> for ArgumentsOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Whole,
            Outcome::Repaired => Self::Repaired,
            Outcome::Closed | Outcome::Cut | Outcome::None => Self::Cut,
            _ => Self::Refused,
        }
    }
}

coded!(ArgumentsOutcome);

/// The repaired arguments of a call. Returned by [`mend_arguments`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendedArguments {
    call: Call,
}

impl MendedArguments {
    /// Repairs arguments with other options than [`mend_arguments`]: another policy, other limits, a
    /// guide. Arguments of any length are read.
    #[must_use]
    pub fn new(raw: &str, finish: FinishReason, options: &MendOptions) -> Self {
        Self { call: judge(raw, finish, options) }
    }

    #[cfg(feature = "serde_json")]
    pub(crate) const fn call(&self) -> &Call {
        &self.call
    }

    /// The arguments as JSON text, if the call may be run with them.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.call.outcome().is_complete().then(|| self.call.arguments())
    }

    /// The outcome of the arguments.
    #[must_use]
    pub fn outcome(&self) -> ArgumentsOutcome {
        self.call.outcome().into()
    }

    /// The original arguments. The spans of the repairs are relative to their start.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.call.raw()
    }

    /// The repairs. If the arguments could not be repaired, the repairs that would have been needed.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        self.call.repairs()
    }

    /// Where the arguments were cut off, if they were.
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.call.cut_at()
    }

    /// Why they are not treated as complete, although they may look complete.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.call.doubt()
    }
}

/// Repairs the arguments of one tool call: `raw` is their text as the provider sent it, `finish` the
/// reason with which the turn ended.
///
/// This is for code that already has the whole text, from a response that was not streamed or from a
/// client library, and would otherwise replace what it cannot parse with `{}` or null. Only the
/// [`value`](MendedArguments::value) may be run. Empty arguments are `{}` after a clean stop. After any
/// other stop they count as cut off, and so do arguments that need a repair to look complete.
///
/// Arguments are repaired under [`Policy::CONSERVATIVE`]: only repairs that are certain or strongly
/// indicated.
///
/// ```
/// use wiremend_wire::{ArgumentsOutcome, FinishReason, mend_arguments};
///
/// let stop = FinishReason::from_provider("tool_calls");
/// let mended = mend_arguments("{'city': 'Oslo', 'days': 3,}", stop);
/// assert_eq!(mended.value(), Some(r#"{"city": "Oslo", "days": 3}"#));
/// assert_eq!(mended.repairs().len(), 7);
///
/// // Half a path is not a path.
/// let cut = mend_arguments(r#"{"path": "/home/ada"#, FinishReason::from_provider("max_tokens"));
/// assert_eq!((cut.value(), cut.outcome()), (None, ArgumentsOutcome::Cut));
///
/// // Missing arguments are an empty object only if the model finished.
/// assert_eq!(mend_arguments("", stop).value(), Some("{}"));
/// assert_eq!(mend_arguments("", FinishReason::Length).value(), None);
/// ```
#[must_use]
pub fn mend_arguments(raw: &str, finish: FinishReason) -> MendedArguments {
    MendedArguments::new(raw, finish, &MendOptions::new().with_policy(Policy::CONSERVATIVE))
}

/// A response body with repaired tool calls. Returned by [`mend_body`].
#[derive(Clone, Debug, PartialEq)]
pub struct MendedBody<'a> {
    body: Cow<'a, [u8]>,
    transcript: Transcript,
}

impl<'a> MendedBody<'a> {
    /// The body to forward.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body to forward, without a copy if nothing was repaired.
    #[must_use]
    pub fn into_body(self) -> Cow<'a, [u8]> {
        self.body
    }

    /// Whether anything was repaired.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }

    /// The content of the body, including the outcome of every call.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }
}

/// Reads a response body that was not streamed, and repairs the arguments of its tool calls in place.
///
/// Only the strings that hold arguments are replaced, and only if the arguments were repaired and the call is
/// complete. Empty, null and missing arguments of a complete call become an empty object. Every other byte is
/// unchanged. Arguments that were cut off, or that the policy forbids to repair, stay verbatim; the
/// [`transcript`](MendedBody::transcript) reports them. So do bodies that are not JSON and streams.
/// To repair content that must be JSON, use a [`Rewriter`](crate::Rewriter), which also accepts bodies that
/// were not streamed.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_wire::{WireOptions, mend_body};
///
/// let body = br#"{"choices": [{"index": 0, "message": {"tool_calls": [{"id": "c1", "type": "function",
///     "function": {"name": "add", "arguments": "{'a': 1,}"}}]}, "finish_reason": "tool_calls"}]}"#;
/// let mended = mend_body(body, WireOptions::new());
/// assert_eq!(mended.transcript().calls()[0].outcome(), Outcome::Repaired);
/// let text = String::from_utf8(mended.into_body().into_owned()).unwrap();
/// assert!(text.contains(r#""arguments": "{\"a\": 1}"}}]}, "finish_reason""#));
/// ```
#[must_use]
pub fn mend_body(body: &[u8], options: WireOptions) -> MendedBody<'_> {
    let tools = ToolOptions::new(&options);
    let transcript = transcribe(body, options);
    let calls = || transcript.calls().into_iter().filter(|call| call.kind() == CallKind::Function);
    let mended: Vec<&Call> = calls().filter(|it| it.outcome() == Outcome::Repaired).collect();
    // What is said without an id is known by its name only.
    let (complete, rest): (Vec<&Call>, Vec<&Call>) =
        calls().partition(|call| call.outcome().is_complete());
    let rest: BTreeSet<_> = rest.into_iter().map(|call| (call.id(), call.name())).collect();
    let empty: Vec<EmptyCall> = complete
        .into_iter()
        .filter(|it| it.arguments() == "{}" && !rest.contains(&(it.id(), it.name())))
        .filter(|it| tools.of(Some(it.name())).policy().max_risk().is_some())
        .map(EmptyCall::of)
        .collect();
    let whole = matches!(transcript.framing(), Some(Framing::Json | Framing::JsonArray));
    let replaced = match std::str::from_utf8(body) {
        Ok(text) if whole && !(mended.is_empty() && empty.is_empty()) => {
            replace(text, &transcript, &mended, &empty)
        }
        _ => None,
    };
    let body = replaced.map_or(Cow::Borrowed(body), |text| Cow::Owned(text.into_bytes()));
    MendedBody { body, transcript }
}

/// The body with new strings for the arguments of `calls`, which are in the order of the body, and an object for those of
/// the empty ones. `None` if that changes nothing.
fn replace(
    body: &str,
    transcript: &Transcript,
    calls: &[&Call],
    empty: &[EmptyCall],
) -> Option<String> {
    let wire = transcript.format()?;
    let mut format = format::start(wire)?;
    let text = body.trim_start_matches(|c: char| c == '\u{feff}' || json::is_space(c));
    let (root, _) = json::first_from(body, body.len() - text.len()).ok()?;
    let mut empty = Empty::of(empty);
    let mut edits = Vec::new();
    let mut waiting = calls.iter().peekable();
    let alone = (!root.is_array()).then_some(root);
    for payload in alone.into_iter().chain(root.items()).filter(|node| node.is_object()) {
        format.decode("", payload, &mut |delta: Delta<'_>| {
            let Delta::Call(delta) = delta else { return };
            let (Arguments::Fragment(piece) | Arguments::Final(piece)) = delta.arguments else {
                return;
            };
            // The piece of a call that was left alone matches none of the waiting calls.
            let Some(call) = waiting.next_if(|call| call.raw() == &*piece) else { return };
            edits.extend(piece.span().map(|span| (span, json::quote(call.arguments()))));
        });
        edits.extend(empty.fill(wire, payload));
    }
    (!edits.is_empty()).then(|| spliced(body, edits))
}

// A whole stream, collected.

/// Collects the events of a [`Decoder`]. Memory grows with the response.
///
/// ```
/// use wiremend_wire::{Decoder, Transcript, WireOptions};
///
/// let mut decoder = Decoder::new(WireOptions::new());
/// let mut transcript = Transcript::new();
/// for chunk in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n"[..], b"\n"] {
///     decoder.push(chunk, &mut |event| transcript.record(&event));
/// }
/// decoder.finish(&mut |event| transcript.record(&event));
/// assert_eq!(transcript.text(), "Hi");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    framing: Option<Framing>,
    wire: Option<ApiFormat>,
    text: Texts,
    reasoning: String,
    refusal: Texts,
    calls: BTreeMap<usize, Call>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    citations: Vec<String>,
    errors: Vec<WireError>,
    outcome: Option<StreamOutcome>,
}

/// Texts that grow concurrently, in the order in which they began.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts {
    places: BTreeMap<Block, usize>,
    texts: Vec<String>,
}

impl Texts {
    fn push(&mut self, block: Block, text: &str) {
        let place = *self.places.entry(block).or_insert(self.texts.len());
        match self.texts.get_mut(place) {
            Some(open) => open.push_str(text),
            None => self.texts.push(text.to_owned()),
        }
    }
}

impl Transcript {
    /// An empty transcript.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records an event.
    pub fn record(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::FramingDetected(framing) => self.framing = Some(*framing),
            WireEvent::FormatDetected(wire) => self.wire = Some(*wire),
            WireEvent::Text { block, text } => self.text.push(*block, text),
            WireEvent::Reasoning { text, .. } => self.reasoning.push_str(text),
            WireEvent::Refusal { block, text } => self.refusal.push(*block, text),
            WireEvent::CallEnded(call) => {
                self.calls.insert(call.number(), (*call).clone());
            }
            WireEvent::Finish(finish) => {
                if self.finish.as_ref().is_none_or(|known| is_main(finish.choice, known, self.wire))
                {
                    self.finish = Some((*finish).clone());
                }
            }
            WireEvent::Usage(usage) => self.usage = Some(*usage),
            WireEvent::Citation { json, .. } => self.citations.push((*json).to_owned()),
            WireEvent::Error(error) => self.errors.push((*error).clone()),
            WireEvent::Ended(outcome) => self.outcome = Some(*outcome),
            WireEvent::CallBegan { .. }
            | WireEvent::CallFragment { .. }
            | WireEvent::CallNamed { .. }
            | WireEvent::CallRaw { .. }
            | WireEvent::CallUnsure { .. }
            | WireEvent::ContentEnded { .. }
            | WireEvent::Doubted(_)
            | WireEvent::EnvelopeMended(_)
            | WireEvent::KeepAlive
            | WireEvent::Oversize { .. }
            | WireEvent::Unfinished(_) => {}
        }
    }

    /// Moves the text of a block to the reasoning: a reader of the text found that it was reasoning.
    pub fn text_was_reasoning(&mut self, block: Block) {
        let place = self.text.places.get(&block).and_then(|place| self.text.texts.get_mut(*place));
        if let Some(text) = place {
            self.reasoning.push_str(&core::mem::take(text));
        }
    }

    /// The framing, if the body was not empty.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// The format, if it was recognised.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.wire
    }

    /// The text of all blocks and choices, in the order in which they began, concatenated without a
    /// separator.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.texts.concat()
    }

    /// The text of each block or choice, in the order in which they began.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.text.texts
    }

    /// The byte offset in [`text`](Self::text) where the text of a block begins. `None` if it has none.
    #[must_use]
    pub fn text_offset(&self, block: Block) -> Option<usize> {
        let place = *self.text.places.get(&block)?;
        Some(self.text.texts.iter().take(place).map(String::len).sum())
    }

    /// The reasoning, in the order in which it arrived.
    #[must_use]
    pub fn reasoning(&self) -> &str {
        &self.reasoning
    }

    /// The refusals, concatenated like [`text`](Self::text).
    #[must_use]
    pub fn refusal(&self) -> String {
        self.refusal.texts.concat()
    }

    /// The calls that have ended, in the order in which they began.
    #[must_use]
    pub fn calls(&self) -> Vec<&Call> {
        self.calls.values().collect()
    }

    /// Why the first choice, or the last message, finished.
    #[must_use]
    pub const fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// The token counts.
    #[must_use]
    pub const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The sources that the provider cited, each as its own JSON, in the order in which they arrived.
    #[must_use]
    pub fn citations(&self) -> &[String] {
        &self.citations
    }

    /// The errors, in the order in which they arrived.
    #[must_use]
    pub fn errors(&self) -> &[WireError] {
        &self.errors
    }

    /// How the stream ended. [`StreamOutcome::Cut`] until it has ended.
    #[must_use]
    pub fn outcome(&self) -> StreamOutcome {
        self.outcome.unwrap_or(StreamOutcome::Cut)
    }
}

/// Whether the finish of `choice` takes precedence over the known one: of several choices the first
/// does, of several messages the last.
fn is_main(choice: u32, known: &Finish, wire: Option<ApiFormat>) -> bool {
    match wire {
        Some(ApiFormat::Anthropic) => choice >= known.choice,
        _ => choice <= known.choice,
    }
}

/// Decodes a whole body.
#[must_use]
pub fn transcribe(body: &[u8], options: WireOptions) -> Transcript {
    let mut decoder = Decoder::new(options);
    let mut transcript = Transcript::new();
    decoder.push(body, &mut |event| transcript.record(&event));
    decoder.finish(&mut |event| transcript.record(&event));
    transcript
}
