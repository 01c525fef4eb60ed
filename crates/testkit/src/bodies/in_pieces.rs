//! Formats in which the arguments of a call are text, and come in pieces.

use serde_json::{Value, json};

use super::{Events, call_id, tool};

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

pub(super) fn anthropic(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn assistants(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn chat(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn chat_body(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn cohere_v1(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn cohere_v2(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn converse(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn interactions(text: &[&str], calls: &[&[&str]]) -> Events {
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

pub(super) fn responses(text: &[&str], calls: &[&[&str]]) -> Events {
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
