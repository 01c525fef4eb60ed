"""Replies of a provider, made by hand, and what a model may break in the calls of a reply."""

import copy
import json

TOOL = "search"
ARGUMENTS = '{"city": "Lisbon", "days": 3, "tags": ["sea", "sun"], "exact": true}'
PIECES = ['{"city": "Lis', 'bon", "days": 3, "ta', 'gs": ["sea", "s', 'un"], "exact": tr', "ue}"]


def sse(events, named=False, done=False):
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


def openai_chat_stream(pieces):
    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": ""}}
    events = [chunk({"role": "assistant", "content": None, "tool_calls": [call]})]
    events += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    events.append(chunk({}, "tool_calls"))
    return sse(events, done=True)


def openai_chat_whole(pieces):
    call = {"id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": "".join(pieces)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})


def responses_item(arguments, status):
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": TOOL, "arguments": arguments, "status": status}


def responses_object(output, status):
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0, "usage": None,
    }


def responses_stream(pieces):
    whole = "".join(pieces)
    events = [
        {"type": "response.created", "response": responses_object([], "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": responses_item("", "in_progress")},
    ]
    at = {"item_id": "fc_1", "output_index": 0}
    events += [{"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces]
    item = responses_item(whole, "completed")
    events += [
        {"type": "response.function_call_arguments.done", **at, "name": TOOL, "arguments": whole},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": responses_object([item], "completed")},
    ]
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return sse(events, named=True)


def responses_whole(pieces):
    return json.dumps(responses_object([responses_item("".join(pieces), "completed")], "completed"))


def anthropic_stream(pieces):
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    block = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": {}}
    events = [{"type": "message_start", "message": message}, {"type": "content_block_start", "index": 0, "content_block": block}]
    for piece in pieces:
        events.append({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}})
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return sse(events, named=True)


def anthropic_whole(_):
    block = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": json.loads(ARGUMENTS)}
    return json.dumps({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 9},
    })


def gemini_part(last):
    part = {"functionCall": {"name": TOOL, "args": json.loads(ARGUMENTS)}}
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}


def ollama_message(done):
    call = {"function": {"name": TOOL, "arguments": json.loads(ARGUMENTS)}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    end = {"done_reason": "stop", "eval_count": 2} if done else {}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done, **end}


# Name of the format: whether it streams, its media type, and what makes a body of pieces of arguments.
FORMATS = {
    "openai-chat": (True, "text/event-stream", openai_chat_stream),
    "openai-chat-whole": (False, "application/json", openai_chat_whole),
    "openai-responses": (True, "text/event-stream", responses_stream),
    "openai-responses-whole": (False, "application/json", responses_whole),
    "anthropic": (True, "text/event-stream", anthropic_stream),
    "anthropic-whole": (False, "application/json", anthropic_whole),
    "gemini": (True, "text/event-stream", lambda _: sse([gemini_part(True)])),
    "gemini-whole": (False, "application/json", lambda _: json.dumps(gemini_part(True))),
    "ollama": (True, "application/x-ndjson", lambda _: json.dumps(ollama_message(False)) + "\n" + json.dumps(ollama_message(True)) + "\n"),
    "ollama-whole": (False, "application/json", lambda _: json.dumps(ollama_message(True))),
}

# Formats whose arguments are text, which a model can break.
TEXTUAL = ["openai-chat", "openai-chat-whole", "openai-responses", "openai-responses-whole", "anthropic"]

# What a model may break, a piece at a time, so that it works for any division. What is left is the same value.
DAMAGES = {
    "single-quotes": lambda piece: piece.replace('"', "'"),
    "python-literals": lambda piece: piece.replace("tr", "Tr"),
    "trailing-comma": lambda piece: piece.replace("}", ", }"),
    "comment": lambda piece: piece.replace(" [", " /* both */ ["),
}


def cases():
    """Bodies that are clean, damaged and cut off. `want` is the value of the arguments, if they are complete."""
    value = [json.loads(ARGUMENTS)]
    for name, (stream, kind, make) in FORMATS.items():
        base = {"format": name.removesuffix("-whole"), "stream": stream, "kind": kind, "want": value}
        yield {**base, "name": f"{name}, clean", "what": "clean", "body": make(PIECES)}
        if name not in TEXTUAL:
            continue
        for damage, change in DAMAGES.items():
            body = make([change(piece) for piece in PIECES])
            yield {**base, "name": f"{name}, {damage}", "what": "damaged", "body": body}
        cut = copy.deepcopy(base)
        cut.update(name=f"{name}, cut off", what="cut", want=None, body=make(PIECES[:3]))
        # A model that reached its limit says so; a server may still say that all is well.
        yield cut
