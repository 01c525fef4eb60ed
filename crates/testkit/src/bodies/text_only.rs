//! Formats without calls.

use serde_json::{Value, json};

use super::Events;

pub(super) fn anthropic_complete(text: &[&str]) -> Events {
    let event = |text: &str, reason: Value| {
        ("completion", json!({"type": "completion", "completion": text, "stop_reason": reason}))
    };
    let texts = text.iter().map(|text| event(text, Value::Null));
    texts.chain([event("", "stop_sequence".into())]).collect()
}

pub(super) fn bedrock_text(text: &[&str]) -> Events {
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

pub(super) fn completions(text: &[&str]) -> Events {
    let event = |text: &str, reason: Value| {
        let choice = json!({"index": 0, "text": text, "finish_reason": reason});
        ("", json!({"object": "text_completion", "choices": [choice]}))
    };
    text.iter().map(|text| event(text, Value::Null)).chain([event("", "stop".into())]).collect()
}

pub(super) fn ollama_generate(text: &[&str]) -> Events {
    let line = |text: &str| ("", json!({"model": "m", "response": text, "done": false}));
    let end = json!({"model": "m", "response": "", "done": true, "done_reason": "stop"});
    text.iter().map(|text| line(text)).chain([("", end)]).collect()
}

/// The payload of an `output` is the text itself; here it is a string.
pub(super) fn replicate(text: &[&str]) -> Events {
    let texts = text.iter().map(|text| ("output", Value::from(*text)));
    texts.chain([("done", json!({}))]).collect()
}

pub(super) fn tgi(text: &[&str]) -> Events {
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

pub(super) fn watsonx(text: &[&str]) -> Events {
    let event = |text: &str, reason: &str| {
        let result = json!({"generated_text": text, "stop_reason": reason});
        ("message", json!({"model_id": "m", "results": [result]}))
    };
    let texts = text.iter().map(|text| event(text, "not_finished"));
    texts.chain([event("", "eos_token")]).collect()
}
