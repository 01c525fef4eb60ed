//! Bodies of providers' responses: generated ones in every format, and the places in any body that
//! hold arguments.

mod places;

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use wiremend_wire::{Encoder, Framing};

use crate::Choices;

pub use places::{Payloads, Places};

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
            Self::Anthropic | Self::AnthropicChunks => anthropic(text, calls),
            Self::AnthropicComplete => anthropic_complete(text),
            Self::Assistants => assistants(text, calls),
            Self::BedrockAgent => bedrock_agent(text, calls),
            Self::BedrockText => bedrock_text(text),
            Self::Chat | Self::ChatArray | Self::ChatLines => chat(text, calls),
            Self::ChatBody => chat_body(text, calls),
            Self::CohereV1 => cohere_v1(text, calls),
            Self::CohereV2 => cohere_v2(text, calls),
            Self::Completions => completions(text),
            Self::Converse => converse(text, calls),
            Self::Gemini | Self::GeminiArray => gemini(text, calls),
            Self::Interactions => interactions(text, calls),
            Self::Ollama => ollama(text, calls),
            Self::OllamaGenerate => ollama_generate(text),
            Self::Replicate => replicate(text),
            Self::Responses => responses(text, calls),
            Self::Tgi => tgi(text),
            Self::Watsonx => watsonx(text),
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

/// Why the model stopped: to have its calls run, or because it is done.
const fn reason(calls: &[&[&str]], to_call: &'static str, done: &'static str) -> &'static str {
    if calls.is_empty() { done } else { to_call }
}

/// The pieces of all calls in turn, each with the number of its call.
fn in_turn<'a>(calls: &'a [&[&'a str]]) -> impl Iterator<Item = (usize, &'a str)> {
    let rounds = calls.iter().map(|pieces| pieces.len()).max().unwrap_or_default();
    (0..rounds).flat_map(move |round| {
        let piece =
            move |(call, pieces): (usize, &&'a [&'a str])| Some((call, *pieces.get(round)?));
        calls.iter().enumerate().filter_map(piece)
    })
}

fn anthropic(text: &[&str], calls: &[&[&str]]) -> Events {
    let block = |index: usize, block: Value| {
        let payload =
            json!({"type": "content_block_start", "index": index, "content_block": block});
        ("content_block_start", payload)
    };
    let delta = |index: usize, delta: Value| {
        let payload = json!({"type": "content_block_delta", "index": index, "delta": delta});
        ("content_block_delta", payload)
    };
    let stop = |index: usize| {
        ("content_block_stop", json!({"type": "content_block_stop", "index": index}))
    };
    let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}});
    let mut events = vec![("message_start", start), block(0, json!({"type": "text", "text": ""}))];
    events.extend(text.iter().map(|text| delta(0, json!({"type": "text_delta", "text": text}))));
    events.push(stop(0));
    events.extend((0..calls.len()).map(|call| {
        let (id, name) = (call_id(call), tool(call));
        block(call + 1, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
    }));
    events.extend(in_turn(calls).map(|(call, piece)| {
        delta(call + 1, json!({"type": "input_json_delta", "partial_json": piece}))
    }));
    events.extend((0..calls.len()).map(|call| stop(call + 1)));
    let (delta, usage) = (
        json!({"stop_reason": reason(calls, "tool_use", "end_turn")}),
        json!({"output_tokens": 7}),
    );
    let end = json!({"type": "message_delta", "delta": delta, "usage": usage});
    events.extend([("message_delta", end), ("message_stop", json!({"type": "message_stop"}))]);
    events
}

fn assistants(text: &[&str], calls: &[&[&str]]) -> Events {
    let mut events: Events = Vec::new();
    events.extend(text.iter().map(|text| {
        let content = json!([{"index": 0, "type": "text", "text": {"value": text}}]);
        let delta = json!({"object": "thread.message.delta", "delta": {"content": content}});
        ("thread.message.delta", delta)
    }));
    let step = |entry: Value| {
        let details = json!({"type": "tool_calls", "tool_calls": [entry]});
        let delta = json!({"object": "thread.run.step.delta", "delta": {"step_details": details}});
        ("thread.run.step.delta", delta)
    };
    events.extend((0..calls.len()).map(|call| {
        let function = json!({"name": tool(call), "arguments": ""});
        step(json!({"index": call, "id": call_id(call), "type": "function", "function": function}))
    }));
    events.extend(in_turn(calls).map(|(call, piece)| {
        step(json!({"index": call, "type": "function", "function": {"arguments": piece}}))
    }));
    let wanted: Vec<Value> = (calls.iter().enumerate())
        .map(|(call, pieces)| {
            let function = json!({"name": tool(call), "arguments": pieces.concat()});
            json!({"id": call_id(call), "type": "function", "function": function})
        })
        .collect();
    let content = json!([{"type": "text", "text": {"value": text.concat()}}]);
    let message = json!({"object": "thread.message", "status": "completed", "content": content});
    events.push(("thread.message.completed", message));
    if wanted.is_empty() {
        let run = json!({"object": "thread.run", "status": "completed"});
        events.push(("thread.run.completed", run));
        return events;
    }
    let action = json!({"submit_tool_outputs": {"tool_calls": wanted}});
    let run =
        json!({"object": "thread.run", "status": "requires_action", "required_action": action});
    events.push(("thread.run.requires_action", run));
    events
}

fn chat(text: &[&str], calls: &[&[&str]]) -> Events {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        ("", json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    events.extend(text.iter().map(|text| chunk(json!({"content": text}), Value::Null)));
    events.extend((0..calls.len()).map(|call| {
        let function = json!({"name": tool(call), "arguments": ""});
        let call =
            json!({"index": call, "id": call_id(call), "type": "function", "function": function});
        chunk(json!({"tool_calls": [call]}), Value::Null)
    }));
    events.extend(in_turn(calls).map(|(call, piece)| {
        let call = json!({"index": call, "function": {"arguments": piece}});
        chunk(json!({"tool_calls": [call]}), Value::Null)
    }));
    events.push(chunk(json!({}), reason(calls, "tool_calls", "stop").into()));
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 7});
    events.push(("", json!({"choices": [], "usage": usage})));
    events
}

fn chat_body(text: &[&str], calls: &[&[&str]]) -> Events {
    let reason = reason(calls, "tool_calls", "stop");
    let calls: Vec<Value> = (calls.iter().enumerate())
        .map(|(call, pieces)| {
            let function = json!({"name": tool(call), "arguments": pieces.concat()});
            json!({"id": call_id(call), "type": "function", "function": function})
        })
        .collect();
    let message = json!({"role": "assistant", "content": text.concat(), "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    vec![("", json!({"object": "chat.completion", "choices": [choice]}))]
}

fn cohere_v1(text: &[&str], calls: &[&[&str]]) -> Events {
    let event = |kind: &str, rest: Value| {
        let mut event = json!({"is_finished": kind == "stream-end", "event_type": kind});
        if let (Some(event), Value::Object(rest)) = (event.as_object_mut(), rest) {
            event.extend(rest);
        }
        ("", event)
    };
    let mut events = vec![event("stream-start", json!({"generation_id": "g"}))];
    events.extend(text.iter().map(|text| event("text-generation", json!({"text": text}))));
    let piece = |delta: Value| event("tool-calls-chunk", json!({"tool_call_delta": delta}));
    for (call, pieces) in calls.iter().enumerate() {
        events.push(piece(json!({"index": call, "name": tool(call)})));
        let parts = pieces.iter().map(|text| json!({"index": call, "parameters": text}));
        events.extend(parts.map(piece));
    }
    let response = json!({"text": text.concat()});
    let end = json!({"finish_reason": "COMPLETE", "response": response});
    events.push(event("stream-end", end));
    events
}

fn cohere_v2(text: &[&str], calls: &[&[&str]]) -> Events {
    let event = |kind: &'static str, index: usize, message: Value| {
        (kind, json!({"type": kind, "index": index, "delta": {"message": message}}))
    };
    let mut events = vec![event("content-start", 0, json!({"content": {"text": ""}}))];
    let texts = text.iter().map(|text| json!({"content": {"text": text}}));
    events.extend(texts.map(|message| event("content-delta", 0, message)));
    events.extend((0..calls.len()).map(|call| {
        let function = json!({"name": tool(call), "arguments": ""});
        let call_start = json!({"id": call_id(call), "type": "function", "function": function});
        event("tool-call-start", call, json!({"tool_calls": call_start}))
    }));
    events.extend(in_turn(calls).map(|(call, piece)| {
        event("tool-call-delta", call, json!({"tool_calls": {"function": {"arguments": piece}}}))
    }));
    events.extend((0..calls.len()).map(|call| event("tool-call-end", call, Value::Null)));
    let end = json!({"type": "message-end", "delta": {"finish_reason": reason(calls, "TOOL_CALL", "COMPLETE")}});
    events.push(("message-end", end));
    events
}

fn converse(text: &[&str], calls: &[&[&str]]) -> Events {
    let delta = |index: usize, delta: Value| {
        ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
    };
    let stop = |index: usize| ("contentBlockStop", json!({"contentBlockIndex": index}));
    let mut events = vec![("messageStart", json!({"role": "assistant"}))];
    events.extend(text.iter().map(|text| delta(0, json!({"text": text}))));
    events.push(stop(0));
    events.extend((0..calls.len()).map(|call| {
        let start = json!({"toolUse": {"toolUseId": call_id(call), "name": tool(call)}});
        ("contentBlockStart", json!({"contentBlockIndex": call + 1, "start": start}))
    }));
    events.extend(
        in_turn(calls).map(|(call, piece)| delta(call + 1, json!({"toolUse": {"input": piece}}))),
    );
    events.extend((0..calls.len()).map(|call| stop(call + 1)));
    let usage = json!({"usage": {"inputTokens": 9, "outputTokens": 7}});
    events.extend([
        ("messageStop", json!({"stopReason": reason(calls, "tool_use", "end_turn")})),
        ("metadata", usage),
    ]);
    events
}

fn interactions(text: &[&str], calls: &[&[&str]]) -> Events {
    let event = |kind: &'static str, index: usize, member: &str, step: Value| {
        let mut event = json!({"event_type": kind, "index": index});
        if let Some(event) = event.as_object_mut() {
            event.insert(member.to_owned(), step);
        }
        (kind, event)
    };
    let mut events = Vec::new();
    events.extend(
        text.iter()
            .map(|text| event("content.delta", 0, "delta", json!({"type": "text", "text": text}))),
    );
    events.extend((0..calls.len()).map(|call| {
        let (id, name) = (call_id(call), tool(call));
        let step = json!({"type": "function_call", "id": id, "name": name, "arguments": {}});
        event("step.start", call + 1, "step", step)
    }));
    events.extend(in_turn(calls).map(|(call, piece)| {
        let delta = json!({"type": "arguments_delta", "partial_arguments": piece});
        event("step.delta", call + 1, "delta", delta)
    }));
    events.extend((0..calls.len()).map(|call| event("step.stop", call + 1, "step", Value::Null)));
    let outputs = json!([{"type": "text", "text": text.concat()}]);
    let usage = json!({"total_input_tokens": 9});
    let done = json!({"status": "completed", "outputs": outputs, "usage": usage});
    events.push(event("interaction.complete", 0, "interaction", done));
    events
}

fn responses(text: &[&str], calls: &[&[&str]]) -> Events {
    let event = |kind: &'static str, index: usize, member: &str, value: Value| {
        let mut event = json!({"type": kind, "output_index": index, "content_index": 0});
        if let Some(event) = event.as_object_mut() {
            event.insert(member.to_owned(), value);
        }
        (kind, event)
    };
    let item = |call: usize, arguments: String| {
        let (id, name) = (call_id(call), tool(call));
        json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
    };
    let message = json!({
        "type": "message", "content": [{"type": "output_text", "text": text.concat()}]
    });
    let mut events = Vec::new();
    let deltas = text.iter().map(|text| (*text).into());
    events.extend(deltas.map(|text| event("response.output_text.delta", 0, "delta", text)));
    events.push(event("response.output_text.done", 0, "text", text.concat().into()));
    let part = json!({"type": "output_text", "text": text.concat()});
    events.push(event("response.content_part.done", 0, "part", part));
    events.push(event("response.output_item.done", 0, "item", message.clone()));
    let items = (0..calls.len()).map(|call| (call, item(call, String::new())));
    events.extend(
        items.map(|(call, item)| event("response.output_item.added", call + 1, "item", item)),
    );
    let kind = "response.function_call_arguments.delta";
    events.extend(in_turn(calls).map(|(call, piece)| event(kind, call + 1, "delta", piece.into())));
    let mut output = vec![message];
    for (call, pieces) in calls.iter().enumerate() {
        let kind = "response.function_call_arguments.done";
        events.push(event(kind, call + 1, "arguments", pieces.concat().into()));
        let item = item(call, pieces.concat());
        events.push(event("response.output_item.done", call + 1, "item", item.clone()));
        output.push(item);
    }
    let response = json!({"status": "completed", "output": output});
    events.push(event("response.completed", 0, "response", response));
    events
}

/// The arguments as a value. Text that is no JSON is a string.
fn value(pieces: &[&str]) -> Value {
    let text = pieces.concat();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Text, calls and a control event, as the agents of Bedrock send them. Each parameter is a text with
/// a type, so arguments that are no object have no parameters.
fn bedrock_agent(text: &[&str], calls: &[&[&str]]) -> Events {
    let chunk = |text: &&str| ("chunk", json!({"bytes": STANDARD.encode(text)}));
    let mut events: Events = text.iter().map(chunk).collect();
    let parameter = |(name, value): (&String, &Value)| {
        let (kind, text) = match value {
            Value::String(text) => ("string", text.clone()),
            Value::Array(_) => ("array", value.to_string()),
            Value::Bool(_) => ("boolean", value.to_string()),
            Value::Null | Value::Number(_) => ("number", value.to_string()),
            Value::Object(_) => ("object", value.to_string()),
        };
        json!({"name": name, "type": kind, "value": text})
    };
    let inputs: Vec<Value> = (calls.iter().enumerate())
        .map(|(call, pieces)| {
            let value = value(pieces);
            let parameters: Vec<Value> =
                value.as_object().into_iter().flatten().map(parameter).collect();
            let function =
                json!({"actionGroup": "tools", "function": tool(call), "parameters": parameters});
            json!({"functionInvocationInput": function})
        })
        .collect();
    if !inputs.is_empty() {
        let control = json!({"invocationId": "inv_1", "invocationInputs": inputs});
        events.push(("returnControl", control));
    }
    events
}

fn gemini(text: &[&str], calls: &[&[&str]]) -> Events {
    let event = |parts: Value| {
        let candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        json!({"candidates": [candidate], "modelVersion": "m"})
    };
    let texts = text.iter().map(|text| event(json!([{"text": text}])));
    let calls = calls.iter().enumerate().map(|(call, pieces)| {
        let call = json!({"name": tool(call), "args": value(pieces)});
        event(json!([{"functionCall": call}]))
    });
    let mut end = event(json!([{"text": ""}]));
    if let Some(candidate) = end.pointer_mut("/candidates/0").and_then(Value::as_object_mut) {
        candidate.insert("finishReason".to_owned(), "STOP".into());
    }
    if let Some(end) = end.as_object_mut() {
        let usage = json!({"promptTokenCount": 9, "candidatesTokenCount": 7});
        end.insert("usageMetadata".to_owned(), usage);
    }
    texts.chain(calls).chain([end]).map(|event| ("", event)).collect()
}

fn ollama(text: &[&str], calls: &[&[&str]]) -> Events {
    let line = |content: &str, calls: Option<Value>| {
        let mut message = json!({"role": "assistant", "content": content});
        if let (Some(message), Some(calls)) = (message.as_object_mut(), calls) {
            message.insert("tool_calls".to_owned(), calls);
        }
        ("", json!({"model": "m", "message": message, "done": false}))
    };
    let mut events: Events = text.iter().map(|text| line(text, None)).collect();
    events.extend(calls.iter().enumerate().map(|(call, pieces)| {
        let function = json!({"index": call, "name": tool(call), "arguments": value(pieces)});
        line("", Some(json!([{"id": call_id(call), "function": function}])))
    }));
    let message = json!({"role": "assistant", "content": ""});
    let counts = (9, 7);
    let end = json!({"model": "m", "message": message, "done": true, "done_reason": "stop",
        "prompt_eval_count": counts.0, "eval_count": counts.1});
    events.push(("", end));
    events
}

// Formats without calls.

fn anthropic_complete(text: &[&str]) -> Events {
    let event = |text: &str, reason: Value| {
        ("completion", json!({"type": "completion", "completion": text, "stop_reason": reason}))
    };
    let texts = text.iter().map(|text| event(text, Value::Null));
    texts.chain([event("", "stop_sequence".into())]).collect()
}

fn bedrock_text(text: &[&str]) -> Events {
    let event = |text: &str, reason: Value| {
        ("chunk", json!({"outputText": text, "index": 0, "completionReason": reason}))
    };
    let mut end = event("", "FINISH".into());
    if let Some(end) = end.1.as_object_mut() {
        let metrics = json!({"inputTokenCount": 9, "outputTokenCount": 7});
        end.insert("amazon-bedrock-invocationMetrics".to_owned(), metrics);
    }
    text.iter().map(|text| event(text, Value::Null)).chain([end]).collect()
}

fn completions(text: &[&str]) -> Events {
    let event = |text: &str, reason: Value| {
        let choice = json!({"index": 0, "text": text, "finish_reason": reason});
        ("", json!({"object": "text_completion", "choices": [choice]}))
    };
    text.iter().map(|text| event(text, Value::Null)).chain([event("", "stop".into())]).collect()
}

fn ollama_generate(text: &[&str]) -> Events {
    let line = |text: &str| ("", json!({"model": "m", "response": text, "done": false}));
    let end = json!({"model": "m", "response": "", "done": true, "done_reason": "stop"});
    text.iter().map(|text| line(text)).chain([("", end)]).collect()
}

/// The payload of an `output` is the text itself; here it is a string.
fn replicate(text: &[&str]) -> Events {
    let texts = text.iter().map(|text| ("output", Value::from(*text)));
    texts.chain([("done", json!({}))]).collect()
}

fn tgi(text: &[&str]) -> Events {
    let token = |(number, text): (usize, &str)| {
        let token = json!({"id": number + 1, "text": text, "logprob": -0.5, "special": false});
        ("", json!({"index": number + 1, "token": token, "generated_text": null, "details": null}))
    };
    let mut events: Events = text.iter().copied().enumerate().map(token).collect();
    let token = json!({"id": 0, "text": "</s>", "logprob": -0.1, "special": true});
    let details = json!({"finish_reason": "eos_token", "generated_tokens": text.len() + 1});
    let end = json!({"index": text.len() + 1, "token": token, "generated_text": text.concat(),
        "details": details});
    events.push(("", end));
    events
}

fn watsonx(text: &[&str]) -> Events {
    let event = |text: &str, reason: &str| {
        let result = json!({"generated_text": text, "stop_reason": reason});
        ("message", json!({"model_id": "m", "results": [result]}))
    };
    let texts = text.iter().map(|text| event(text, "not_finished"));
    texts.chain([event("", "eos_token")]).collect()
}

// What a model says, apart from how its provider writes it.

/// What the pieces of texts are made of. Some have characters of several bytes or need escapes.
const WORDS: [&str; 16] = [
    "a",
    "the north ",
    "room",
    ", ",
    "é",
    "ü and ö ",
    "語",
    "👍🏽",
    "\n",
    "\"so\" ",
    "\\",
    "x}",
    "7",
    ": ",
    " ",
    "data: ",
];

/// Members whose beginnings are easily taken for the whole, and others.
const MEMBERS: [&str; 8] = [
    r#""path": "/srv/data/old""#,
    r#""count": 120"#,
    r#""all": true"#,
    r#""note": "é, \"ü\" and \\ 語""#,
    r#""tags": ["x", "y z", null]"#,
    r#""size": {"w": 1.5, "h": [2, 30]}"#,
    r#""to": "mara@example.com""#,
    r#""n": -4e2"#,
];

/// A reply of a model: a text and some calls, each in pieces, in the shape of a provider.
///
/// ```
/// use wiremend_testkit::{Seed, bodies::Reply};
///
/// let reply = Reply::random(&mut Seed::new(7));
/// assert_eq!(reply.body(), Reply::random(&mut Seed::new(7)).body());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    shape: Shape,
    text: Vec<String>,
    calls: Vec<Vec<String>>,
}

impl Reply {
    /// A reply in that shape that says nothing.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self { shape, text: Vec::new(), calls: Vec::new() }
    }

    /// A reply in a shape that is chosen.
    #[must_use]
    pub fn random(choices: &mut impl Choices) -> Self {
        let shape = choices.one_of(&Shape::ALL).copied().unwrap_or(Shape::Chat);
        Self::random_in(shape, choices)
    }

    /// A reply in that shape, with a text in up to five pieces and up to two calls, the arguments of
    /// which are objects.
    #[must_use]
    pub fn random_in(shape: Shape, choices: &mut impl Choices) -> Self {
        let word = |choices: &mut _| Choices::one_of(choices, &WORDS).copied().unwrap_or_default();
        let mut reply = Self::new(shape);
        for _ in 0..1 + choices.below(5) {
            let words: String = (0..1 + choices.below(3)).map(|_| word(choices)).collect();
            reply.text.push(words);
        }
        let calls = if shape.has_calls() { choices.below(3) } else { 0 };
        for _ in 0..calls {
            let first = choices.below(MEMBERS.len());
            let count = choices.below(4);
            let members = MEMBERS.iter().cycle().skip(first).take(count);
            let arguments = format!("{{{}}}", members.copied().collect::<Vec<_>>().join(", "));
            let most = 1 + choices.below(9);
            reply.calls.push(pieces(&arguments, |len| 1 + choices.below(len.min(most))));
        }
        reply
    }

    /// One more piece of the text.
    #[must_use]
    pub fn with_text(mut self, piece: impl Into<String>) -> Self {
        self.text.push(piece.into());
        self
    }

    /// One more call, with its arguments in pieces. The calls are named `tool_0`, `tool_1`, …
    #[must_use]
    pub fn with_call(mut self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.calls.push(pieces.into_iter().map(Into::into).collect());
        self
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.concat()
    }

    /// The arguments of each call, as a whole.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        self.calls.iter().map(|pieces| pieces.concat()).collect()
    }

    /// The body, as the provider sends it.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let text: Vec<&str> = self.text.iter().map(String::as_str).collect();
        let calls: Vec<Vec<&str>> =
            (self.calls.iter()).map(|pieces| pieces.iter().map(String::as_str).collect()).collect();
        let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
        self.shape.body(&text, &calls)
    }
}

/// `text` in pieces; `len` says how long the next one is, of the bytes that are left. A piece ends
/// at the end of a character.
fn pieces(text: &str, mut len: impl FnMut(usize) -> usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let wanted = len(rest.len());
        let end = (wanted..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use wiremend_wire::{ApiFormat, StreamOutcome, WireOptions, transcribe};

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
