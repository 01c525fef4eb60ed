"""Replies of a provider, made by hand, and what a model may break in the calls of a reply."""

import copy
import dataclasses
import json

TOOL = "search"
ARGUMENTS = '{"city": "Lisbon", "days": 3, "tags": ["sea", "sun"], "exact": true}'
PIECES = ['{"city": "Lis', 'bon", "days": 3, "ta', 'gs": ["sea", "s', 'un"], "exact": tr', "ue}"]


class Unsuited(Exception):
    """The format has no way to say it: the provider itself reads the arguments, and sends an object."""


@dataclasses.dataclass
class Turn:
    """What the model says: calls, each a name and the pieces of its arguments, or a text in pieces, and how it ends.

    `None` for the pieces of a call is an argument text that is `null`. The finish is `stop` (of a turn with calls, that
    of calls), `length`, or `lost`: the body ends before it.
    """

    calls: list = dataclasses.field(default_factory=list)
    text: list = dataclasses.field(default_factory=list)
    finish: str = "stop"
    # What an answer repeats of its request.
    repeated: dict = dataclasses.field(default_factory=dict)

    def ends(self, calls, stop, length):
        """The word for its finish in a format."""
        return length if self.finish == "length" else calls if self.calls else stop


def sse(events, named=False, done=False):
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


def joined(pieces):
    return None if pieces is None else "".join(pieces)


def parsed(pieces):
    """Arguments as an object, for formats in which the provider reads them."""
    try:
        value = json.loads(joined(pieces) or "null")
    except ValueError:
        raise Unsuited from None
    if value is not None and not isinstance(value, dict):
        raise Unsuited
    return value


def openai_chat_stream(turn):
    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": "" if turn.text else None})]
    events += [chunk({"content": piece}) for piece in turn.text]
    for at, (name, pieces) in enumerate(turn.calls):
        call = {"index": at, "id": f"call_{at + 1}", "type": "function", "function": {"name": name, "arguments": None if pieces is None else ""}}
        events.append(chunk({"tool_calls": [call]}))
        events += [chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}) for piece in pieces or []]
    if turn.finish == "lost":
        return sse(events)
    events.append(chunk({}, turn.ends("tool_calls", "stop", "length")))
    return sse(events, done=True)


def openai_chat_whole(turn):
    if turn.finish == "lost":
        raise Unsuited
    message = {"role": "assistant", "content": joined(turn.text) if turn.text else None}
    if turn.calls:
        message["tool_calls"] = [
            {"id": f"call_{at + 1}", "type": "function", "function": {"name": name, "arguments": joined(pieces)}}
            for at, (name, pieces) in enumerate(turn.calls)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": turn.ends("tool_calls", "stop", "length")}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})


def responses_object(turn, output, status):
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0, "usage": usage if output else None, **turn.repeated,
    }


def responses_items(turn, status):
    """The items of the answer. Only the last one is one that a limit cut off."""
    items = []
    if turn.text:
        part = {"type": "output_text", "text": joined(turn.text), "annotations": []}
        items.append({"type": "message", "id": "item_1", "role": "assistant", "content": [part]})
    for at, (name, pieces) in enumerate(turn.calls):
        items.append({"type": "function_call", "id": f"fc_{at + 1}", "call_id": f"call_{at + 1}", "name": name, "arguments": joined(pieces)})
    return [{**item, "status": status if item is items[-1] else "completed"} for item in items]


def responses_stream(turn):
    status = turn.ends("completed", "completed", "incomplete")
    items = responses_items(turn, status)
    events = [{"type": "response.created", "response": responses_object(turn, [], "in_progress")}]
    for number, item in enumerate(items):
        at = {"item_id": item["id"], "output_index": number}
        empty = {"content": []} if item["type"] == "message" else {"arguments": ""}
        events.append({"type": "response.output_item.added", "output_index": number, "item": {**item, **empty, "status": "in_progress"}})
        if item["type"] == "message":
            part = item["content"][0]
            at["content_index"] = 0
            events.append({"type": "response.content_part.added", **at, "part": {**part, "text": ""}})
            events += [{"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []} for piece in turn.text]
            events.append({"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []})
            events.append({"type": "response.content_part.done", **at, "part": part})
        else:
            pieces = turn.calls[number - len(items)][1] or []
            events += [{"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces]
            if turn.finish == "lost":
                break
            events.append({"type": "response.function_call_arguments.done", **at, "name": item["name"], "arguments": item["arguments"]})
        events.append({"type": "response.output_item.done", "output_index": number, "item": item})
    if turn.finish != "lost":
        events.append({"type": f"response.{status}", "response": responses_object(turn, items, status)})
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return sse(events, named=True)


def responses_whole(turn):
    if turn.finish == "lost":
        raise Unsuited
    status = turn.ends("completed", "completed", "incomplete")
    return json.dumps(responses_object(turn, responses_items(turn, status), status))


def anthropic_stream(turn):
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    blocks = [({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in turn.text])] if turn.text else []
    for at, (name, pieces) in enumerate(turn.calls):
        if pieces is None:
            raise Unsuited
        block = {"type": "tool_use", "id": f"toolu_{at + 1}", "name": name, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]))
    events = [{"type": "message_start", "message": message}]
    for at, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        if turn.finish == "lost" and at + 1 == len(blocks):
            return sse(events, named=True)
        events.append({"type": "content_block_stop", "index": at})
    reason = turn.ends("tool_use", "end_turn", "max_tokens")
    events += [
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return sse(events, named=True)


def anthropic_whole(turn):
    if turn.finish == "lost":
        raise Unsuited
    content = [{"type": "text", "text": joined(turn.text)}] if turn.text else []
    for at, (name, pieces) in enumerate(turn.calls):
        value = parsed(pieces)
        if value is None and pieces is not None:
            raise Unsuited
        content.append({"type": "tool_use", "id": f"toolu_{at + 1}", "name": name, "input": value})
    return json.dumps({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": turn.ends("tool_use", "end_turn", "max_tokens"), "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 9},
    })


def gemini_events(turn):
    parts = [{"text": piece} for piece in turn.text]
    for name, pieces in turn.calls:
        value = parsed(pieces)
        parts.append({"functionCall": {"name": name, "args": value} if value is not None or pieces is None else {"name": name}})
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
    return [
        {
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0, **end}],
            "usageMetadata": usage, "modelVersion": "m", "responseId": "r",
        }
        for number, part in enumerate(parts)
        for end in [{"finishReason": turn.ends("STOP", "STOP", "MAX_TOKENS")} if number + 1 == len(parts) and turn.finish != "lost" else {}]
    ]


def gemini_whole(turn):
    if turn.finish == "lost":
        raise Unsuited
    events = gemini_events(turn)
    parts = [event["candidates"][0]["content"]["parts"][0] for event in events]
    if turn.text:
        parts = [{"text": joined(turn.text)}, *parts[len(turn.text) :]]
    events[-1]["candidates"][0]["content"]["parts"] = parts
    return json.dumps(events[-1])


def ollama_events(turn):
    calls = []
    for name, pieces in turn.calls:
        value = parsed(pieces)
        calls.append({"function": {"name": name, "arguments": value} if value is not None or pieces is None else {"name": name}})
    said = [{"content": piece} for piece in turn.text] + ([{"content": "", "tool_calls": calls}] if calls else [])
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    events = [{**head, "message": {"role": "assistant", **one}, "done": False} for one in said]
    if turn.finish != "lost":
        end = {"done_reason": turn.ends("stop", "stop", "length"), "eval_count": 2, "prompt_eval_count": 1}
        events.append({**head, "message": {"role": "assistant", "content": ""}, "done": True, **end})
    return events


def ollama_stream(turn):
    return "".join(json.dumps(event) + "\n" for event in ollama_events(turn))


def ollama_whole(turn):
    if turn.finish == "lost":
        raise Unsuited
    *said, whole = ollama_events(turn)
    whole["message"]["content"] = joined(turn.text)
    if turn.calls:
        whole["message"]["tool_calls"] = said[-1]["message"]["tool_calls"]
    return json.dumps(whole)


# Name of the format: whether it streams, its media type, and what makes a body of a turn.
FORMATS = {
    "openai-chat": (True, "text/event-stream", openai_chat_stream),
    "openai-chat-whole": (False, "application/json", openai_chat_whole),
    "openai-responses": (True, "text/event-stream", responses_stream),
    "openai-responses-whole": (False, "application/json", responses_whole),
    "anthropic": (True, "text/event-stream", anthropic_stream),
    "anthropic-whole": (False, "application/json", anthropic_whole),
    "gemini": (True, "text/event-stream", lambda turn: sse(gemini_events(turn))),
    "gemini-whole": (False, "application/json", gemini_whole),
    "ollama": (True, "application/x-ndjson", ollama_stream),
    "ollama-whole": (False, "application/json", ollama_whole),
}

# What a model may break, a piece at a time, so that it works for any division. What is left is the same value.
DAMAGES = {
    "single-quotes": lambda piece: piece.replace('"', "'"),
    "python-literals": lambda piece: piece.replace("tr", "Tr"),
    "trailing-comma": lambda piece: piece.replace("}", ", }"),
    "comment": lambda piece: piece.replace(" [", " /* both */ ["),
}


def body(name, pieces, finish="stop"):
    """A reply with one call, or None where the format cannot have these arguments."""
    try:
        return FORMATS[name][2](Turn(calls=[(TOOL, pieces)], finish=finish))
    except Unsuited:
        return None


def cases():
    """Bodies that are clean, damaged, cut off, and whole with the finish of a limit. `want` is the value of the arguments, if they are complete."""
    value = [json.loads(ARGUMENTS)]
    for name, (stream, kind, _) in FORMATS.items():
        base = {"format": name.removesuffix("-whole"), "stream": stream, "kind": kind, "want": value}
        yield {**base, "name": f"{name}, clean", "what": "clean", "body": body(name, PIECES)}
        for damage, change in DAMAGES.items():
            damaged = body(name, [change(piece) for piece in PIECES])
            if damaged:
                yield {**base, "name": f"{name}, {damage}", "what": "damaged", "body": damaged}
        cut = copy.deepcopy(base)
        cut.update(name=f"{name}, cut off", what="cut", want=None, body=body(name, PIECES[:3]))
        if cut["body"]:
            # A model that reached its limit says so; a server may still say that all is well.
            yield cut
        # All of it has come, and the finish says that more would have.
        yield {**base, "name": f"{name}, with the finish of a limit", "what": "limit", "want": None, "body": body(name, PIECES, "length")}
