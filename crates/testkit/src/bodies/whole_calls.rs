//! Formats in which the arguments of a call are a value, and come all at once.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Events, call_id, tool};

/// The arguments as a value. Text that is no JSON is a string.
fn value(pieces: &[&str]) -> Value {
    let text = pieces.concat();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Text, calls and a control event, as the agents of Bedrock send them. Each parameter is a text with
/// a type, so arguments that are no object have no parameters.
pub(super) fn bedrock_agent(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn gemini(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn ollama(text: &[&str], calls: &[&[&str]]) -> Events {
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
