//! A whole stream, collected.

use std::collections::BTreeMap;

use crate::{
    ApiFormat, Block, Call, Decoder, Finish, Framing, StreamOutcome, Usage, WireError, WireEvent,
    WireOptions,
};

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
