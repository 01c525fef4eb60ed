//! The formats of the providers: they decode a payload into deltas on channels.
//!
//! A format is one file, and one row of the table below.

mod anthropic;
mod anthropic_complete;
mod bedrock_agent;
mod bedrock_converse;
mod bedrock_text;
mod cohere_v1;
mod cohere_v2;
mod delta;
mod errors;
mod gemini;
mod gemini_interactions;
mod items;
mod ollama;
mod openai_assistants;
mod openai_chat;
mod openai_completions;
mod openai_responses;
mod place;
mod replicate;
mod tgi;
mod watsonx;

use core::fmt;
use std::borrow::Cow;

use crate::{Block, Doubt, FinishReason, Framing, Usage, error::coded, json, json::Node};
pub(crate) use delta::{Arguments, CallDelta, Delta, Piece};
pub(crate) use errors::{
    excerpt, read_error, read_exception, read_foreign, read_plain_error, read_unshaped,
};
pub(crate) use openai_chat::LEGACY;
use place::{
    ANY, ARGUMENTS, FLAG, LIST, NULL, NUMBER, OBJECT, OBJECTS, Place, TEXT, entries, is_of_a_call,
};

/// One format: its detection, and its decoder.
struct Entry {
    wire: ApiFormat,
    /// Whether a payload belongs to the format.
    recognise: fn(event: &str, payload: &Members<'_>) -> bool,
    start: fn() -> Box<dyn Format>,
}

/// Each row of the table below becomes a variant with a code, and an entry with the functions of its module.
macro_rules! formats {
    ($($module:ident $variant:ident $code:literal $about:literal;)*) => {
        /// The format of a provider's stream.
        ///
        /// ```
        /// use wiremend_wire::ApiFormat;
        /// assert_eq!(ApiFormat::OpenAiChat.code(), "openai-chat");
        /// assert_eq!(ApiFormat::from_code("anthropic"), Some(ApiFormat::Anthropic));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ApiFormat {
            $(#[doc = $about] $variant,)*
        }

        impl ApiFormat {
            /// All formats, in alphabetical order of their codes.
            pub const ALL: &'static [Self] = &by_code([$(Self::$variant),*]);

            /// The stable kebab-case name.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The format with that code.
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|format| format.code() == code)
            }
        }

        const FORMATS: &[Entry] = &[$(Entry {
            wire: ApiFormat::$variant,
            recognise: $module::recognise,
            start: || Box::new($module::$variant::default()),
        }),*];
    };
}

/// Sorts the rows by their codes, when the crate is compiled.
const fn by_code<const N: usize>(mut rows: [ApiFormat; N]) -> [ApiFormat; N] {
    let mut sorted = 1;
    while sorted < N {
        let mut at = sorted;
        while at > 0 && is_before(rows[at].code().as_bytes(), rows[at - 1].code().as_bytes()) {
            rows.swap(at, at - 1);
            at -= 1;
        }
        sorted += 1;
    }
    rows
}

const fn is_before(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] < right[at];
        }
        at += 1;
    }
    left.len() < right.len()
}

// In the order in which they are tried: formats with more distinctive marks come first.
formats! {
    openai_responses OpenAiResponses "openai-responses" "OpenAI Responses.";
    openai_assistants OpenAiAssistants "openai-assistants" "OpenAI Assistants: the events of a run.";
    anthropic Anthropic "anthropic" "Anthropic Messages.";
    anthropic_complete AnthropicComplete "anthropic-complete" "Anthropic Text Completions, the API before Messages.";
    cohere_v2 CohereV2 "cohere-v2" "Cohere Chat, version 2.";
    bedrock_converse BedrockConverse "bedrock-converse" "Amazon Bedrock ConverseStream. Also Amazon Nova under InvokeModel.";
    openai_completions OpenAiCompletions "openai-completions" "OpenAI Completions, the API before Chat Completions.";
    openai_chat OpenAiChat "openai-chat" "OpenAI Chat Completions, and compatible servers, including Mistral.";
    gemini Gemini "gemini" "Google Gemini and Vertex AI, `streamGenerateContent`.";
    gemini_interactions GeminiInteractions "gemini-interactions" "Google Gemini Interactions.";
    cohere_v1 CohereV1 "cohere-v1" "Cohere Chat, version 1.";
    ollama Ollama "ollama" "Ollama, `/api/chat` and `/api/generate`.";
    watsonx Watsonx "watsonx" "IBM watsonx.ai, `/text/generation_stream`.";
    tgi Tgi "tgi" "Text Generation Inference, `/generate_stream`.";
    bedrock_text BedrockText "bedrock-text" "The text models of Amazon Bedrock under InvokeModel: Titan, Llama, Mistral, Command.";
    bedrock_agent BedrockAgent "bedrock-agent" "Agents, knowledge bases and flows of Amazon Bedrock.";
    replicate Replicate "replicate" "Replicate: the payload is the text itself.";
}

coded!(ApiFormat);

impl Entry {
    /// Whether bodies with that framing can have the format. It separates event names that several
    /// services use.
    fn is_framed_as(&self, framing: Option<Framing>) -> bool {
        self.wire != ApiFormat::BedrockAgent || framing == Some(Framing::EventStream)
    }
}

/// The format that a payload belongs to: if one is known, that one or none.
pub(crate) fn recognise(
    known: Option<ApiFormat>,
    (framing, event): (Option<Framing>, &str),
    payload: &Members<'_>,
) -> Option<ApiFormat> {
    let may_be = |entry: &Entry| match known {
        Some(wire) => entry.wire == wire,
        None => entry.is_framed_as(framing),
    };
    let belongs = |entry: &&Entry| may_be(entry) && (entry.recognise)(event, payload);
    FORMATS.iter().find(belongs).map(|entry| entry.wire)
}

/// The format of a payload that need not be JSON.
pub(crate) fn detect_plain(framing: Option<Framing>, event: &str, data: &str) -> Option<ApiFormat> {
    let plain = match framing {
        Some(Framing::EventStream) => {
            bedrock_agent::recognise_plain(event, data).then_some(ApiFormat::BedrockAgent)
        }
        _ => replicate::recognise_plain(event).then_some(ApiFormat::Replicate),
    };
    let of_json = || {
        let (node, _) = json::first(data).ok().filter(|(node, _)| node.is_object())?;
        recognise(None, (framing, event), &Members::of(node))
    };
    plain.map(|plain| of_json().unwrap_or(plain))
}

/// Whether the payload of an event that no format recognises may be text: that of an agent of Bedrock that
/// answers with an object.
pub(crate) fn may_be_text(framing: Option<Framing>, event: &str) -> bool {
    framing == Some(Framing::EventStream) && bedrock_agent::is_text(event)
}

/// Creates the decoder of a format.
pub(crate) fn start(wire: ApiFormat) -> Option<Box<dyn Format>> {
    FORMATS.iter().find(|entry| entry.wire == wire).map(|entry| (entry.start)())
}

/// Receives what a payload adds.
type Out<'o> = &'o mut dyn FnMut(Delta<'_>);

/// Decodes the payloads of one stream. It only keeps what the format needs for the next payload, and
/// leaves calls and texts to its caller.
pub(crate) trait Format: fmt::Debug + Send {
    /// Decodes a payload. `event` is the name of its event, or empty. The caller has already read any
    /// error in the payload.
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>));

    /// Decodes a payload that is not JSON by design. `false` if it is for [`decode`](Self::decode).
    fn decode_plain(&mut self, event: &str, data: &str, out: &mut dyn FnMut(Delta<'_>)) -> bool {
        let _ = (event, data, out);
        false
    }

    /// The sentinel `[DONE]` arrived. It does not replace the marker of a format that has its own.
    fn sentinel(&mut self) {}

    /// How the format says that a call has ended.
    fn call_ends(&self) -> CallEnds {
        CallEnds::Unstated
    }

    /// The names of the events that hold a part of a call, if the format names its events.
    fn names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the stream may end here.
    fn is_ended(&self) -> bool;
}

/// How a format says that a call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnds {
    /// At the end of the turn, it repeats all calls as a whole.
    Repeated,
    /// An event states the end of every call.
    Stated,
    /// It does not.
    Unstated,
}

/// The type that a payload states, or the name of its event if it states none.
fn kind_of<'a>(event: &'a str, kind: Option<Node<'a>>) -> Cow<'a, str> {
    kind.and_then(Node::text).unwrap_or(Cow::Borrowed(event))
}

/// Whether the name of an event is one of `names`, the beginning of one, or holds one: part of a line, or
/// what is left of two.
pub(crate) fn is_part(event: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.starts_with(event) || event.contains(name))
}

/// Whether the name of an event contradicts the type of its payload: the name is one of `names`, so that the
/// type is wrong, or it is what is left of one or two of them, so that the payload may be of another event.
/// Servers give their events other names, too, such as `message`, and words that a name begins with.
fn is_misnamed(event: &str, kind: &str, names: &[&str]) -> bool {
    event != kind
        && !event.is_empty()
        && names.iter().any(|name| {
            event.contains(name)
                || name.strip_prefix(event).is_some_and(|rest| {
                    rest.starts_with(char::is_alphanumeric)
                        && event.ends_with(char::is_alphanumeric)
                })
        })
}

/// The text of a member, if it is a non-empty string.
fn piece(node: Option<Node<'_>>) -> Option<Piece<'_>> {
    Piece::of(node?)
}

/// Reports the repetition of a text.
fn again(block: Block, text: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    if let Some(text) = piece(text) {
        out(Delta::TextAgain { block, text });
    }
}

/// Arguments that are a string, or exceptionally the value itself.
fn arguments(node: Option<Node<'_>>) -> Arguments<'_> {
    match node {
        Some(node) if node.is_object() || node.is_array() => Arguments::Whole(node),
        Some(node) if node.is_null() => Arguments::Null,
        node => piece(node).map_or(Arguments::Absent, Arguments::Fragment),
    }
}

/// Whether a member is an object without members.
fn is_empty_object(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| node.is_object() && node.is_blank())
}

/// Arguments that repeat earlier fragments.
fn final_arguments(node: Option<Node<'_>>) -> Arguments<'_> {
    match node {
        Some(node) if node.is_object() || node.is_array() => Arguments::Again(node),
        Some(node) => piece(Some(node)).map_or(Arguments::Void(node), Arguments::Final),
        None => Arguments::Absent,
    }
}

/// The first of some members that is not null, or else one that is.
fn said<'a>(nodes: impl IntoIterator<Item = Option<Node<'a>>>) -> Option<Node<'a>> {
    nodes.into_iter().flatten().min_by_key(|node| node.is_null())
}

/// The text of a member, if it is a non-empty string.
fn non_empty(node: Option<Node<'_>>) -> Option<Cow<'_, str>> {
    node?.text().filter(|text| !text.is_empty())
}

/// The end of a choice for the reason in a member, if it holds one.
fn finish<'a>(scope: u32, reason: Option<Node<'a>>) -> Option<Delta<'a>> {
    let original = non_empty(reason)?;
    Some(Delta::Finish { scope, reason: FinishReason::from_provider(&original), original })
}

/// The token counts in the members with those names: input, output, cached, reasoning. Names that a
/// format does not have are left out.
fn usage<const N: usize>(node: Option<Node<'_>>, names: [&str; N]) -> Option<Delta<'static>> {
    let counts = node.filter(|node| node.is_object())?.pick(names);
    let at = |place: usize| count(counts.get(place).copied().flatten());
    Some(Delta::Usage(Usage { input: at(0), output: at(1), cached: at(2), reasoning: at(3) }))
}

/// A piece for the call at that index in which nothing is known, so that what it held is lost. It says nothing
/// if no call is open there.
fn unread(scope: u32, index: i64) -> Delta<'static> {
    Delta::Call(CallDelta {
        scope,
        index: Some(index),
        exact: true,
        repeats: true,
        doubt: Some(Doubt::LostEvent),
        ..CallDelta::default()
    })
}

/// Choices beyond this number share one scope, so that the number of scopes is bounded.
const MAX_CHOICE: u32 = 0xffff;

/// A count.
fn count(node: Option<Node<'_>>) -> Option<u64> {
    u64::try_from(node?.integer()?).ok()
}

/// A small number that identifies a choice or a block. 0 if it is missing or out of range.
pub(crate) fn ordinal(node: Option<Node<'_>>) -> u32 {
    count(node).and_then(|n| u32::try_from(n).ok()).unwrap_or_default()
}

/// Every name that is asked for, in order.
const NAMES: [&str; 34] = [
    "amazon-bedrock-invocationMetrics",
    "candidates",
    "choices",
    "completion",
    "content",
    "contentBlockDelta",
    "contentBlockStart",
    "contentBlockStop",
    "done",
    "event_type",
    "finish_reason",
    "generated_text",
    "generation",
    "generation_id",
    "generations",
    "is_finished",
    "message",
    "messageStart",
    "messageStop",
    "metadata",
    "object",
    "output",
    "outputText",
    "outputs",
    "promptFeedback",
    "response",
    "results",
    "role",
    "stopReason",
    "stop_reason",
    "text",
    "token",
    "type",
    "usageMetadata",
];

/// The members of a payload with such names. They are found in one pass: the payload may be a whole body, and every
/// format is asked about it.
pub(crate) struct Members<'a> {
    payload: Node<'a>,
    /// By the number of the name; the last of several.
    found: [Option<Node<'a>>; NAMES.len()],
}

impl<'a> Members<'a> {
    pub(crate) fn of(payload: Node<'a>) -> Self {
        let mut found = [None; NAMES.len()];
        for (name, value) in payload.fields() {
            if let Ok(number) = NAMES.binary_search(&name.as_ref()) {
                found[number] = Some(value);
            }
        }
        Self { payload, found }
    }

    /// Whether they only say that there are no choices, in whatever format.
    pub(crate) fn say_nothing(&self) -> bool {
        self.has("choices") && self.field("choices").is_none_or(Node::is_blank)
    }

    /// As [`Node::has`].
    fn has(&self, name: &str) -> bool {
        match NAMES.binary_search(&name) {
            Ok(number) => self.found[number].is_some(),
            Err(_) => self.payload.has(name),
        }
    }

    /// As [`Node::field`].
    fn field(&self, name: &str) -> Option<Node<'a>> {
        match NAMES.binary_search(&name) {
            Ok(number) => self.found[number].filter(|value| value.raw() != "null"),
            Err(_) => self.payload.field(name),
        }
    }

    /// As [`Node::pick`].
    fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Node<'a>>; N] {
        names.map(|name| self.field(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::first;

    #[test]
    fn members_are_those_of_the_payload() {
        assert!(NAMES.is_sorted());
        let text =
            r#"{"type": 1, "own": 2, "done": null, "text": 3, "type": null, "text": 4, "own": 5}"#;
        let (node, _) = first(text).unwrap();
        let members = Members::of(node);
        for name in NAMES.into_iter().chain(["own", "other"]) {
            assert_eq!(members.has(name), node.has(name), "{name}");
            let [one, same] = [members.field(name), node.field(name)];
            assert_eq!(one.map(Node::raw), same.map(Node::raw), "{name}");
        }
    }
}
