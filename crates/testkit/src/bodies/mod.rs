//! Bodies of providers' responses: generated ones in every format, and the places in any body that
//! hold arguments.

mod in_pieces;
mod payloads;
mod places;
mod reply;
mod text_only;
mod whole_calls;

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use wiremend_wire::{Encoder, Framing};

pub use payloads::Payloads;
pub use places::Places;
pub use reply::Reply;

/// How a provider writes a text and some calls.
///
/// ```
/// use wiremend_testkit::bodies::Shape;
/// use wiremend_wire::{StreamOutcome, WireOptions, transcribe};
///
/// for shape in Shape::ALL {
///     let body = shape.body(&["so ", "far"], &[&["{\"a\"", ":1}"], &["{}"]]);
///     let said = transcribe(&body, WireOptions::new());
///     assert_eq!((said.text().as_str(), said.outcome()), ("so far", StreamOutcome::Complete));
///     assert_eq!(said.calls().len(), if shape.has_calls() { 2 } else { 0 });
///     assert!(said.calls().iter().all(|call| call.outcome().is_complete()));
/// }
/// assert_eq!("ollama".parse(), Ok(Shape::Ollama));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Anthropic Messages.
    Anthropic,
    /// The same in the chunks of Bedrock's `InvokeModelWithResponseStream`.
    AnthropicChunks,
    /// Anthropic Text Completions.
    AnthropicComplete,
    /// OpenAI Assistants, with the calls repeated where they are required.
    Assistants,
    /// An agent of Bedrock.
    BedrockAgent,
    /// Titan under `InvokeModelWithResponseStream`.
    BedrockText,
    /// OpenAI Chat Completions.
    Chat,
    /// The same as the items of an array.
    ChatArray,
    /// A Chat Completion that was not streamed, with every text in one piece.
    ChatBody,
    /// Chunks of Chat Completions, one per line.
    ChatLines,
    /// Cohere Chat, version 1.
    CohereV1,
    /// Cohere Chat, version 2.
    CohereV2,
    /// OpenAI Completions.
    Completions,
    /// Bedrock ConverseStream.
    Converse,
    /// Google Gemini, as events with the line ends of that server.
    Gemini,
    /// The same as the items of an array.
    GeminiArray,
    /// Google Gemini Interactions.
    Interactions,
    /// Ollama, `/api/chat`.
    Ollama,
    /// Ollama, `/api/generate`.
    OllamaGenerate,
    /// Replicate.
    Replicate,
    /// OpenAI Responses, with text and calls repeated when they are done.
    Responses,
    /// Text Generation Inference.
    Tgi,
    /// watsonx.ai.
    Watsonx,
}

/// Events: their names and their payloads.
type Events = Vec<(&'static str, Value)>;

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 23] = [
        Self::Anthropic,
        Self::AnthropicChunks,
        Self::AnthropicComplete,
        Self::Assistants,
        Self::BedrockAgent,
        Self::BedrockText,
        Self::Chat,
        Self::ChatArray,
        Self::ChatBody,
        Self::ChatLines,
        Self::CohereV1,
        Self::CohereV2,
        Self::Completions,
        Self::Converse,
        Self::Gemini,
        Self::GeminiArray,
        Self::Interactions,
        Self::Ollama,
        Self::OllamaGenerate,
        Self::Replicate,
        Self::Responses,
        Self::Tgi,
        Self::Watsonx,
    ];

    /// Those whose calls come as text, so that their arguments may be in pieces and may be broken.
    pub const IN_PIECES: [Self; 12] = [
        Self::Anthropic,
        Self::AnthropicChunks,
        Self::Assistants,
        Self::Chat,
        Self::ChatArray,
        Self::ChatBody,
        Self::ChatLines,
        Self::CohereV1,
        Self::CohereV2,
        Self::Converse,
        Self::Interactions,
        Self::Responses,
    ];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::AnthropicChunks => "anthropic-chunks",
            Self::AnthropicComplete => "anthropic-complete",
            Self::Assistants => "openai-assistants",
            Self::BedrockAgent => "bedrock-agent",
            Self::BedrockText => "bedrock-text",
            Self::Chat => "openai-chat",
            Self::ChatArray => "openai-chat-array",
            Self::ChatBody => "openai-chat-body",
            Self::ChatLines => "openai-chat-lines",
            Self::CohereV1 => "cohere-v1",
            Self::CohereV2 => "cohere-v2",
            Self::Completions => "openai-completions",
            Self::Converse => "bedrock-converse",
            Self::Gemini => "gemini",
            Self::GeminiArray => "gemini-array",
            Self::Interactions => "gemini-interactions",
            Self::Ollama => "ollama",
            Self::OllamaGenerate => "ollama-generate",
            Self::Replicate => "replicate",
            Self::Responses => "openai-responses",
            Self::Tgi => "tgi",
            Self::Watsonx => "watsonx",
        }
    }

    /// Whether there are calls in this format. Where there are none, those that are given are left out.
    #[must_use]
    pub const fn has_calls(self) -> bool {
        !matches!(
            self,
            Self::AnthropicComplete
                | Self::BedrockText
                | Self::Completions
                | Self::OllamaGenerate
                | Self::Replicate
                | Self::Tgi
                | Self::Watsonx
        )
    }

    /// A body with `text`, and with calls whose arguments come in those pieces. Pieces of several
    /// calls alternate. In a format whose arguments are values instead of text, those of a call come
    /// at once, as the value that the text is.
    #[must_use]
    pub fn body(self, text: &[&str], calls: &[&[&str]]) -> Vec<u8> {
        let events = match self {
            Self::Anthropic | Self::AnthropicChunks => in_pieces::anthropic(text, calls),
            Self::AnthropicComplete => text_only::anthropic_complete(text),
            Self::Assistants => in_pieces::assistants(text, calls),
            Self::BedrockAgent => whole_calls::bedrock_agent(text, calls),
            Self::BedrockText => text_only::bedrock_text(text),
            Self::Chat | Self::ChatArray | Self::ChatLines => in_pieces::chat(text, calls),
            Self::ChatBody => in_pieces::chat_body(text, calls),
            Self::CohereV1 => in_pieces::cohere_v1(text, calls),
            Self::CohereV2 => in_pieces::cohere_v2(text, calls),
            Self::Completions => text_only::completions(text),
            Self::Converse => in_pieces::converse(text, calls),
            Self::Gemini | Self::GeminiArray => whole_calls::gemini(text, calls),
            Self::Interactions => in_pieces::interactions(text, calls),
            Self::Ollama => whole_calls::ollama(text, calls),
            Self::OllamaGenerate => text_only::ollama_generate(text),
            Self::Replicate => text_only::replicate(text),
            Self::Responses => in_pieces::responses(text, calls),
            Self::Tgi => text_only::tgi(text),
            Self::Watsonx => text_only::watsonx(text),
        };
        let mut out = Vec::new();
        let mut encoder = Encoder::new(self.framing());
        for (name, payload) in events {
            let payload = match payload {
                Value::String(text) if self == Self::Replicate => text,
                payload => payload.to_string(),
            };
            if matches!(self, Self::AnthropicChunks | Self::BedrockText) {
                let bytes = json!({ "bytes": STANDARD.encode(payload), "p": "abc" });
                encoder.event("chunk", &bytes.to_string(), &mut out);
            } else {
                encoder.event(name, &payload, &mut out);
            }
        }
        if matches!(self, Self::Chat | Self::Completions) {
            encoder.event("", "[DONE]", &mut out);
        }
        encoder.finish(&mut out);
        if self == Self::Gemini { with_crlf(&out) } else { out }
    }

    /// The framing of its bodies.
    #[must_use]
    pub const fn framing(self) -> Framing {
        match self {
            Self::AnthropicChunks | Self::BedrockAgent | Self::BedrockText | Self::Converse => {
                Framing::EventStream
            }
            Self::ChatArray | Self::GeminiArray => Framing::JsonArray,
            Self::ChatBody => Framing::Json,
            Self::ChatLines | Self::CohereV1 | Self::Ollama | Self::OllamaGenerate => {
                Framing::Ndjson
            }
            Self::Anthropic
            | Self::AnthropicComplete
            | Self::Assistants
            | Self::Chat
            | Self::CohereV2
            | Self::Completions
            | Self::Gemini
            | Self::Interactions
            | Self::Replicate
            | Self::Responses
            | Self::Tgi
            | Self::Watsonx => Framing::Sse,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A name that no shape has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownShape;

impl fmt::Display for UnknownShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Shape::ALL.iter().map(|shape| shape.code()).collect();
        write!(f, "expected one of {}", known.join(", "))
    }
}

impl std::error::Error for UnknownShape {}

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(code: &str) -> Result<Self, UnknownShape> {
        Self::ALL.into_iter().find(|shape| shape.code() == code).ok_or(UnknownShape)
    }
}

/// The body with CRLF as its line ends.
fn with_crlf(body: &[u8]) -> Vec<u8> {
    let lines = body.split(|byte| *byte == b'\n');
    lines.collect::<Vec<_>>().join(&b"\r\n"[..])
}

fn call_id(call: usize) -> String {
    format!("call_{call}")
}

fn tool(call: usize) -> String {
    format!("tool_{call}")
}

#[cfg(test)]
mod tests {
    use wiremend_wire::{ApiFormat, StreamOutcome, WireOptions, transcribe};

    use super::*;
    use crate::Seed;

    #[test]
    fn every_format_has_a_shape() {
        let formats = Shape::ALL.map(|shape| {
            let body = shape.body(&["so ", "far"], &[&["{}"]]);
            transcribe(&body, WireOptions::new()).format().unwrap()
        });
        let missing: Vec<_> = ApiFormat::ALL.iter().filter(|one| !formats.contains(one)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn names_are_read_again() {
        for shape in Shape::ALL {
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
        assert!("chat".parse::<Shape>().is_err());
    }

    #[test]
    fn a_body_says_what_the_reply_says() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for number in 0..800 {
            let reply = Reply::random(&mut Seed::new(number));
            let said = transcribe(&reply.body(), WireOptions::new());
            assert_eq!(said.text(), reply.text(), "{reply:?}");
            assert_eq!(said.outcome(), StreamOutcome::Complete, "{reply:?}");
            let calls: Vec<_> = said.calls().iter().map(|call| value(call.arguments())).collect();
            let wanted: Vec<_> = reply.arguments().iter().map(|text| value(text)).collect();
            assert_eq!(calls, wanted, "{reply:?}");
            assert!(said.calls().iter().all(|call| call.outcome().is_complete()), "{reply:?}");
        }
    }
}
