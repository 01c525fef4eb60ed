//! Defects of real streams: one test per entry of `docs/providers.md`, named by its number.

mod arguments;
mod envelope;
mod errors;
mod framing;
mod identity;

use crate::support::decode;
use wiremend_wire::Transcript;

/// A chunk of chat completions with one delta.
fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

/// A chunk with a text delta.
fn text_delta(text: &str) -> String {
    chunk(&format!("{{\"content\":{text:?}}}"))
}

/// A chunk with entries of tool calls.
fn tools(entries: &str) -> String {
    chunk(&format!("{{\"tool_calls\":[{entries}]}}"))
}

/// The end of a choice, and of the stream.
fn end(reason: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )
}

/// A turn with one call whose arguments arrive in those pieces.
fn turn(pieces: &[&str]) -> String {
    let mut body = tools(r#"{"index":0,"id":"c","function":{"name":"f","arguments":""}}"#);
    for piece in pieces {
        let text = serde_json::Value::from(*piece);
        body += &tools(&format!(r#"{{"index":0,"function":{{"arguments":{text}}}}}"#));
    }
    body + &end("tool_calls")
}

/// The arguments and the outcome of the only call of such a turn.
fn outcome(pieces: &[&str]) -> (String, &'static str) {
    let transcript = decode(&turn(pieces));
    let calls = transcript.calls();
    assert_eq!(calls.len(), 1, "{pieces:?}");
    (calls[0].arguments().to_owned(), calls[0].outcome().code())
}

/// An expected pair.
fn is(arguments: &str, outcome: &'static str) -> (String, &'static str) {
    (arguments.to_owned(), outcome)
}

/// The text, and how the stream ended.
fn result(transcript: &Transcript) -> (String, &'static str) {
    (transcript.text(), transcript.outcome().code())
}
