//! Calls in the text of a response: through the reader, and written again in the shape of the provider.

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_extract::{CallExtractor, Dialect, FoundCalls, Scope, Tools};
use wiremend_response::{Event, Response, ResponseOptions, ResponseReader, TextCalls};
use wiremend_testkit::{
    Seed,
    bodies::Shape,
    cuts::{self, Cut},
    laws::{self, wire::rewritten},
};
use wiremend_wire::{
    ApiFormat, Encoder, FinishReason, Framing, RewriteMode, RewriteOptions, RewriteOutcome,
    StreamOutcome, Transcript, WireLimits, WireOptions, transcribe,
};

fn tools() -> Tools {
    Tools::new().with_tool("book", ["seats", "name"], None).with_tool(
        "write_file",
        ["path", "content"],
        None,
    )
}

fn named(name: &str) -> TextCalls {
    TextCalls::of_dialect(Dialect::by_name(name).unwrap().clone()).with_tools(tools())
}

fn options(calls: &TextCalls) -> ResponseOptions {
    ResponseOptions::new().with_calls_in_text(calls.clone())
}

/// A text in pieces of about five bytes.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = (5..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// The bodies into which a call can be written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    Anthropic,
    AnthropicWhole,
    Chat,
    ChatLines,
    ChatWhole,
    Cohere,
    CohereWhole,
    Gemini,
    GeminiWhole,
    Ollama,
    OllamaWhole,
}

impl Body {
    const ALL: [Self; 11] = [
        Self::Anthropic,
        Self::AnthropicWhole,
        Self::Chat,
        Self::ChatLines,
        Self::ChatWhole,
        Self::Cohere,
        Self::CohereWhole,
        Self::Gemini,
        Self::GeminiWhole,
        Self::Ollama,
        Self::OllamaWhole,
    ];

    /// A body with that text, in pieces, which ends by itself, or at the limit of its length.
    fn of(self, text: &str, stopped: bool) -> Vec<u8> {
        let events = match self {
            Self::Anthropic => {
                let delta = |piece: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}});
                let start = json!({"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 9}}});
                let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
                let mut events = vec![start, block];
                events.extend(pieces(text).into_iter().map(delta));
                events.push(json!({"type": "content_block_stop", "index": 0}));
                let reason = if stopped { "end_turn" } else { "max_tokens" };
                events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}));
                events.push(json!({"type": "message_stop"}));
                events
            }
            Self::AnthropicWhole => {
                let reason = if stopped { "end_turn" } else { "max_tokens" };
                vec![
                    json!({"id": "m1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": reason, "usage": {"input_tokens": 9}}),
                ]
            }
            Self::Chat | Self::ChatLines => {
                let chunk = |delta: Value, reason: Value| json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": null});
                let mut events: Vec<Value> = pieces(text)
                    .into_iter()
                    .map(|piece| chunk(json!({"content": piece}), Value::Null))
                    .collect();
                let reason = if stopped { "stop" } else { "length" };
                events.push(chunk(json!({}), json!(reason)));
                events
            }
            Self::ChatWhole => {
                let reason = if stopped { "stop" } else { "length" };
                vec![
                    json!({"id": "c1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "tool_calls": null}, "finish_reason": reason}]}),
                ]
            }
            Self::Cohere => {
                let content = |kind: &str, content: Value| json!({"type": kind, "index": 0, "delta": {"message": {"content": content}}});
                let start = json!({"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}});
                let begin = content("content-start", json!({"type": "text", "text": ""}));
                let mut events = vec![start, begin];
                let delta = |piece| content("content-delta", json!({"text": piece}));
                events.extend(pieces(text).into_iter().map(delta));
                events.push(json!({"type": "content-end", "index": 0}));
                let reason = if stopped { "COMPLETE" } else { "MAX_TOKENS" };
                let usage = json!({"tokens": {"input_tokens": 9, "output_tokens": 7}});
                events.push(json!({"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}}));
                events
            }
            Self::CohereWhole => {
                let reason = if stopped { "COMPLETE" } else { "MAX_TOKENS" };
                let content = json!([{"type": "text", "text": text}]);
                vec![
                    json!({"id": "m1", "finish_reason": reason, "message": {"role": "assistant", "content": content}}),
                ]
            }
            Self::Gemini | Self::GeminiWhole => {
                let reason = if stopped { "STOP" } else { "MAX_TOKENS" };
                let part = |piece: &str| json!({"role": "model", "parts": [{"text": piece}]});
                let texts = if self == Self::Gemini { pieces(text) } else { vec![text] };
                let mut events: Vec<Value> = texts
                    .into_iter()
                    .map(|piece| json!({"candidates": [{"content": part(piece), "index": 0}]}))
                    .collect();
                // The last piece comes with the end.
                events.last_mut().unwrap()["candidates"][0]["finishReason"] = json!(reason);
                events
            }
            Self::Ollama => {
                let mut events: Vec<Value> = pieces(text)
                    .into_iter()
                    .map(|piece| json!({"model": "m", "message": {"role": "assistant", "content": piece}, "done": false}))
                    .collect();
                let reason = if stopped { "stop" } else { "length" };
                events.push(json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done_reason": reason, "done": true}));
                events
            }
            Self::OllamaWhole => {
                let reason = if stopped { "stop" } else { "length" };
                vec![
                    json!({"model": "m", "message": {"role": "assistant", "content": text}, "done_reason": reason, "done": true}),
                ]
            }
        };
        let framing = match self {
            Self::Anthropic | Self::Chat | Self::Cohere | Self::Gemini => Framing::Sse,
            Self::ChatLines | Self::Ollama => Framing::Ndjson,
            Self::AnthropicWhole
            | Self::ChatWhole
            | Self::CohereWhole
            | Self::GeminiWhole
            | Self::OllamaWhole => Framing::Json,
        };
        let mut out = Vec::new();
        let mut encoder = Encoder::new(framing);
        for event in events {
            let name = event["type"].as_str().unwrap_or_default().to_owned();
            encoder.event(&name, &event.to_string(), &mut out);
        }
        if self == Self::Chat {
            encoder.event("", "[DONE]", &mut out);
        }
        encoder.finish(&mut out);
        out
    }

    /// Whether its end says that the model stopped for tool calls.
    const fn says_tool_calls(self) -> bool {
        !matches!(self, Self::Gemini | Self::GeminiWhole | Self::Ollama | Self::OllamaWhole)
    }
}

/// What the reader of text finds on its own: names and arguments, and the text around them.
fn expected(name: &str, text: &str) -> (Vec<(String, String)>, String) {
    let row = Dialect::by_name(name).unwrap().clone();
    let mending = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let mut reader = CallExtractor::new(mending).with_dialect(row).with_tools(tools());
    let mut found = FoundCalls::default();
    reader.push(text.as_bytes(), &mut found);
    reader.finish_at_eos(&mut found);
    let calls = found.calls().iter().map(|call| {
        assert!(call.outcome().can_run(), "{name}: {call:?}");
        (call.name().to_owned(), String::from_utf8(call.arguments().to_vec()).unwrap())
    });
    (calls.collect(), String::from_utf8(found.text().to_vec()).unwrap())
}

fn calls_of(transcript: &Transcript) -> Vec<(String, String)> {
    let calls = transcript.calls();
    let complete = calls.iter().filter(|call| call.outcome().is_complete());
    complete.map(|call| (call.name().to_owned(), call.arguments().to_owned())).collect()
}

fn read(body: &[u8], options: &ResponseOptions, cut: &Cut) -> Response {
    let mut reader = ResponseReader::new(options.clone());
    let mut response = Response::default();
    let mut record = |event| response.record(event);
    for chunk in cut.chunks(body) {
        reader.push(chunk, &mut record);
    }
    reader.finish(&mut record);
    response
}

#[test]
fn every_dialect_is_read_in_every_body() {
    for row in Dialect::all() {
        let (want, text) = expected(row.name(), row.example());
        assert!(!want.is_empty());
        let options = options(&named(row.name()));
        for body in Body::ALL {
            let bytes = body.of(row.example(), true);
            let response = Response::read(&bytes, options.clone());
            let transcript = response.transcript();
            assert_eq!(calls_of(transcript), want, "{} {body:?}", row.name());
            assert_eq!(transcript.text(), text, "{} {body:?}", row.name());
            assert_eq!(transcript.outcome(), StreamOutcome::Complete);
            for call in transcript.calls() {
                let said = wiremend_core::apply(call.raw().as_bytes(), call.repairs());
                assert_eq!(said.as_deref(), Some(call.arguments().as_bytes()));
                assert_eq!(call.dialect(), Some(row.name()));
            }
        }
    }
}

#[test]
fn no_cut_of_the_body_makes_a_difference() {
    for (number, row) in Dialect::all().iter().enumerate() {
        let options = options(&named(row.name()));
        let body = Body::ALL[number % Body::ALL.len()];
        let text = format!("{}\nDone.", row.example());
        let bytes = body.of(&text, true);
        let whole = Response::read(&bytes, options.clone());
        let cuts = cuts::few(bytes.len(), &mut Seed::of(&bytes));
        for cut in cuts.iter().chain([&Cut::bytes(bytes.len())]) {
            assert_eq!(read(&bytes, &options, cut), whole, "{} {body:?}", row.name());
        }
    }
}

#[test]
fn every_format_is_read() {
    let text =
        "Let me see. <tool_call>{'name': 'book', 'arguments': {'seats': 2,}}</tool_call> Done.";
    for shape in Shape::IN_PIECES {
        let body = shape.body(&pieces(text), &[&["{\"a\"", ": 1}"]]);
        let response = Response::read(&body, options(&named("hermes")));
        let transcript = response.transcript();
        let mut calls = calls_of(transcript);
        calls.sort();
        assert_eq!(
            calls,
            [("book", "{\"seats\": 2}"), ("tool_0", "{\"a\": 1}")]
                .map(|(name, json)| (name.to_owned(), json.to_owned())),
            "{shape:?}"
        );
        let numbers: Vec<usize> = transcript.calls().iter().map(|call| call.number()).collect();
        assert_eq!(numbers, [0, 1], "{shape:?}");
        assert_eq!(transcript.text(), "Let me see.  Done.", "{shape:?}");
        let off = Response::read(&body, ResponseOptions::new());
        assert_eq!(off.transcript().text(), text);
        assert_eq!(off.transcript(), &transcribe(&body, WireOptions::new()));
    }
}

#[test]
fn calls_come_while_they_arrive_and_reasoning_comes_apart() {
    let text = "<think>Two seats.</think>On it.\n<tool_call>\n<function=write_file>\n<parameter=content>\nIt is written, line by line";
    let mut reader = ResponseReader::new(options(&named("qwen3_coder_xml")));
    let body = Body::Chat.of(text, true);
    // Everything but the end of the turn.
    let end = body.len() - 130;
    let (mut said, mut thought, mut json, mut began) =
        (String::new(), String::new(), Vec::new(), 0);
    reader.push(&body[..end], &mut |event| match event {
        Event::Text { text, .. } => said.push_str(&text),
        Event::Reasoning { text, .. } => thought.push_str(&text),
        Event::CallFragment { json: more, .. } => json.extend(more),
        Event::CallBegan { name, .. } => {
            assert_eq!(name.as_deref(), Some("write_file"));
            began += 1;
        }
        _ => {}
    });
    assert_eq!((said.as_str(), thought.as_str(), began), ("On it.\n", "Two seats.", 1));
    let json = String::from_utf8(json).unwrap();
    assert!(json.starts_with("{\"content\": \"It is written, line"), "{json}");
}

#[test]
fn calls_that_do_not_end_are_reported_and_cannot_run() {
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2, \"name\": \"A";
    for body in Body::ALL {
        for stopped in [true, false] {
            let response = Response::read(&body.of(text, stopped), options(&named("hermes")));
            let calls = response.transcript().calls();
            assert_eq!((calls.len(), calls[0].name()), (1, "book"));
            assert_eq!(calls[0].outcome(), Outcome::Cut);
            assert_eq!(calls[0].raw(), "{\"seats\": 2, \"name\": \"A");
            assert_eq!(response.transcript().text(), "");
        }
    }
}

/// L10: what is left of a body never has a complete call that the whole body does not have.
#[test]
fn a_body_that_lost_something_completes_no_call() {
    lost_something(0);
}

/// The other half of the rows, so that two cores share the work.
#[test]
fn a_body_that_lost_something_completes_no_call_in_the_other_rows() {
    lost_something(1);
}

fn lost_something(half: usize) {
    let rows = Dialect::all().iter().enumerate();
    for (number, row) in rows.filter(|(number, _)| number % 2 == half) {
        let body = [Body::Chat, Body::Anthropic, Body::Ollama][number % 3];
        let text = format!("{}\n{}", row.example(), row.example());
        let bytes = body.of(&text, true);
        let options = options(&named(row.name()));
        let read = |body: &[u8], limits: WireLimits| {
            let wire = WireOptions::new().with_limits(limits);
            let response = Response::read(body, options.clone().with_wire(wire));
            response.transcript().clone()
        };
        let mut seed = Seed::of(&bytes);
        let read = (&read as laws::Read<'_>, WireLimits::new());
        laws::cut_calls_read(&bytes, read, &mut seed)
            .unwrap_or_else(|e| panic!("{}: {e}", row.name()));
        laws::lost_events_read(&bytes, read, &mut seed)
            .unwrap_or_else(|e| panic!("{}: {e}", row.name()));
    }
}

/// L10, for a body that is written again: what leaves as a call is one for the reader, too.
#[test]
fn no_call_leaves_that_a_turn_without_a_clean_end_leaves_open() {
    let mut sent = 0;
    for row in Dialect::all() {
        let calls = named(row.name());
        let text = row.example();
        let ends = (0..text.len()).rev().step_by(4).take(12);
        for end in ends.filter(|end| text.is_char_boundary(*end)) {
            let bytes = Body::ChatWhole.of(&text[..end], false);
            let written = rewritten(&bytes, &rewriting(&calls), &Cut::at(Vec::new()));
            let response = Response::read(&bytes, options(&calls));
            let known = calls_of(response.transcript());
            for call in calls_of(&written.said) {
                assert!(known.contains(&call), "{} cut at {end}: {call:?}", row.name());
                sent += 1;
            }
        }
    }
    assert!(sent > 50, "{sent}");
}

fn rewriting(calls: &TextCalls) -> RewriteOptions {
    let finders = calls.finders(WireOptions::new().mending());
    RewriteOptions::new().with_calls_in_text(finders)
}

#[test]
fn a_call_leaves_in_the_shape_of_the_provider() {
    for row in Dialect::all() {
        let (want, _) = expected(row.name(), row.example());
        let calls = named(row.name());
        for body in Body::ALL {
            for mode in [RewriteMode::Eager, RewriteMode::Validated] {
                let bytes = body.of(row.example(), true);
                let options = rewriting(&calls).with_mode(mode);
                let written = rewritten(&bytes, &options, &Cut::at(Vec::new()));
                let context = || {
                    let text = String::from_utf8_lossy(&written.bytes);
                    format!("{} {body:?} {mode:?}: {text}", row.name())
                };
                assert_eq!(written.outcome, RewriteOutcome::Mended, "{}", context());
                let said = transcribe(&written.bytes, WireOptions::new());
                assert_eq!(calls_of(&said), want, "{}", context());
                assert_eq!(calls_of(&written.said), want, "{}", context());
                assert_eq!(said.outcome(), StreamOutcome::Complete, "{}", context());
                assert!(!said.text().contains("book"), "{}", context());
                let reason = said.finish().unwrap().reason();
                let for_calls = reason == FinishReason::ToolCalls;
                assert_eq!(for_calls, body.says_tool_calls(), "{}", context());
                // Nothing is left to be found.
                let again = rewritten(&written.bytes, &options, &Cut::at(Vec::new()));
                assert_eq!(again.bytes, written.bytes, "{}", context());
                assert_eq!(again.outcome, RewriteOutcome::Unchanged, "{}", context());
            }
        }
    }
}

#[test]
fn a_call_that_was_printed_over_lines_leaves_on_one() {
    let text = "<tool_call>\n{\n \"name\": \"book\",\n \"arguments\": {\r\n  \"seats\": 2\n }\n}\n</tool_call>";
    for body in [Body::ChatLines, Body::Gemini, Body::Ollama] {
        let options = rewriting(&named("hermes"));
        let written = rewritten(&body.of(text, true), &options, &Cut::at(Vec::new()));
        assert_eq!(calls_of(&written.said).len(), 1, "{body:?}");
        let written = String::from_utf8(written.bytes).unwrap();
        for line in written.lines().filter(|line| !line.is_empty()) {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{body:?}: {written}");
        }
    }
}

#[test]
fn no_cut_of_the_body_changes_what_is_written() {
    let text = "One. <tool_call>{'name': 'book', 'arguments': {'seats': 2}}</tool_call>\n<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"é\"}}</tool_call> Two.";
    for body in Body::ALL {
        let bytes = body.of(text, true);
        let options = rewriting(&named("hermes"));
        let whole = rewritten(&bytes, &options, &Cut::at(Vec::new()));
        assert_eq!(calls_of(&whole.said).len(), 2, "{body:?}");
        let said = transcribe(&whole.bytes, WireOptions::new());
        assert_eq!(said.text(), "One.  Two.", "{body:?}");
        for cut in
            cuts::few(bytes.len(), &mut Seed::of(&bytes)).iter().chain([&Cut::bytes(bytes.len())])
        {
            assert_eq!(rewritten(&bytes, &options, cut), whole, "{body:?}");
        }
    }
}

#[test]
fn calls_come_after_those_of_the_format() {
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>";
    for shape in
        [Shape::Chat, Shape::ChatBody, Shape::Anthropic, Shape::AnthropicChunks, Shape::CohereV2]
    {
        let body = shape.body(&pieces(text), &[&["{\"a\"", ": 1}"], &["{}"]]);
        let written = rewritten(&body, &rewriting(&named("hermes")), &Cut::at(Vec::new()));
        let said = transcribe(&written.bytes, WireOptions::new());
        let names: Vec<&str> = said.calls().iter().map(|call| call.name()).collect();
        assert_eq!(names, ["tool_0", "tool_1", "book"], "{shape:?}");
        assert_eq!(calls_of(&said).len(), 3, "{shape:?}");
        assert_eq!(said.text(), "", "{shape:?}");
        let mut ids: Vec<&str> = said.calls().iter().filter_map(|call| call.id()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3, "{shape:?}");
    }
}

/// Whatever cannot be sent on as a complete call of a turn that ended stays as it came.
#[test]
fn what_cannot_be_sent_on_stays_as_it_came() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>";
    let options = rewriting(&named("hermes"));
    let stays = |body: &[u8], what: &str| {
        for cut in [Cut::at(Vec::new()), Cut::bytes(body.len())] {
            let written = rewritten(body, &options, &cut);
            assert!(written.bytes == body, "{what}: {}", String::from_utf8_lossy(&written.bytes));
        }
    };
    for body in Body::ALL {
        let cut = "So: <tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2";
        stays(&body.of(cut, true), "a cut call");
        stays(&body.of(cut, false), "a cut call");
        stays(&body.of("No <tool_call> here, {\"a\": 1} and [1](2).", true), "no call");
        let whole = body.of(call, true);
        let all = String::from_utf8(whole.clone()).unwrap();
        if let Some(at) = ["finish_reason\":\"stop", "message_delta", "message-end"]
            .iter()
            .find_map(|end| all.rfind(end))
        {
            let start = all[..at].rfind("\n\n").map_or(0, |at| at + 2);
            if start > 0 {
                stays(&whole[..start], "a turn without an end");
                let lost = [&whole[..start], b"data: {\"cho\n\n", &whole[start..]].concat();
                stays(&lost, "a body that lost something");
            }
        }
        // A limit on the length says nothing about a call that has ended.
        let written = rewritten(&body.of(call, false), &options, &Cut::at(Vec::new()));
        let said = transcribe(&written.bytes, WireOptions::new());
        assert_eq!(calls_of(&said).len(), 1, "{body:?}");
        assert_eq!(said.finish().unwrap().reason(), FinishReason::Length, "{body:?}");
    }
    for shape in Shape::IN_PIECES {
        let body = shape.body(&pieces(call), &[]);
        let format = transcribe(&body, WireOptions::new()).format();
        if !matches!(
            format,
            Some(ApiFormat::OpenAiChat | ApiFormat::Anthropic | ApiFormat::CohereV2)
        ) {
            stays(&body, "another format");
        }
    }
    let held = rewriting(&named("hermes")).with_held(64);
    let body = Body::Chat.of(call, true);
    let written = rewritten(&body, &held, &Cut::at(Vec::new()));
    assert_eq!((written.bytes == body, written.outcome), (true, RewriteOutcome::Overflow));
}

/// Text that comes before any call is not held back.
#[test]
fn text_leaves_at_once() {
    let text = format!("{}<tool_call>", "Some words <b>and tags</b> first. ".repeat(20));
    let body = Body::Chat.of(&text, true);
    let mut rewriter = wiremend_wire::Rewriter::new(rewriting(&named("hermes")));
    let end = body.len() - 400;
    let mut most = 0;
    for chunk in body[..end].chunks(50) {
        rewriter.push(chunk, &mut |_| {});
        most = most.max(rewriter.withheld());
    }
    assert!(most < 400, "{most}");
}

/// Nothing in a string of an object is a call, whether objects are looked for or not.
#[test]
fn nothing_in_a_string_of_an_object_is_a_call() {
    let text = "{\"note\": \"<tool_call>{'name': 'book', 'arguments': {'seats': 2}}</tool_call>\"}";
    for calls in [named("hermes"), TextCalls::detected().with_tools(tools())] {
        for body in Body::ALL {
            let bytes = body.of(text, true);
            let response = Response::read(&bytes, options(&calls));
            assert!(response.transcript().calls().is_empty(), "{body:?}");
            assert_eq!(response.transcript().text(), text, "{body:?}");
            let options = options(&calls).with_objects(Scope::First);
            let response = Response::read(&bytes, options.clone());
            assert!(response.transcript().calls().is_empty(), "{body:?}");
            assert_eq!(response.objects()[0].json(), Some(text), "{body:?}");
            for cut in cuts::few(bytes.len(), &mut Seed::of(&bytes)) {
                assert_eq!(read(&bytes, &options, &cut), response, "{body:?}");
            }
        }
    }
}

/// A call in the provider's reasoning is mentioned, or made where the caller says so.
#[test]
fn a_call_in_the_reasoning_of_the_provider_is_mentioned_or_made() {
    let call = "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>";
    let thought = format!("Two seats, then.\n{call}\n");
    let body: String = pieces(&thought)
        .iter()
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"reasoning_content": piece}}]}))
        .chain([json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})])
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    for calls in [named("hermes"), TextCalls::detected().with_tools(tools())] {
        let (mut mentioned, mut reasoning) = (Vec::new(), String::new());
        let mut take = |event: Event| match event {
            Event::CallMentioned { name, .. } => mentioned.push(name),
            Event::Reasoning { text, .. } => reasoning.push_str(&text),
            Event::CallEnded(call) => panic!("{call:?}"),
            _ => {}
        };
        let mut reader = ResponseReader::new(options(&calls));
        reader.push(body.as_bytes(), &mut take);
        reader.finish(&mut take);
        assert_eq!((mentioned, reasoning), (vec!["book".to_owned()], thought.clone()));

        let made = calls.with_calls_in_reasoning();
        let response = Response::read(body.as_bytes(), options(&made));
        let found = response.transcript().calls();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name(), found[0].arguments()), ("book", "{\"seats\": 2}"));
        assert!(response.transcript().reasoning().starts_with("Two seats, then.\n"));
        assert!(!response.transcript().reasoning().contains("tool_call"));
    }
}
