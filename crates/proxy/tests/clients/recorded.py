"""Damages the arguments of calls in recorded bodies, in the pieces in which they came."""

import json
import re

# How a model may write a value, other than as JSON. What is left is the same value.
DAMAGES = {
    "as Python prints it": lambda value, _: repr(value),
    "a comma at the end": lambda _, text: re.sub(r"([}\]])\s*$", r", \1", text),
    "a comment": lambda _, text: re.sub(r"^\s*\{", "{ /* what was asked */ ", text),
    "keys without quotes": lambda value, text: re.sub(r'^\s*\{\s*"([A-Za-z_]+)"', r"{\1", text),
    "the end in a fence": lambda _, text: f"```json\n{text}\n```",
}


def damaged(body, group, damage):
    """The body with damaged arguments. None if it has none that can be damaged."""
    if group not in ("openai-chat", "anthropic", "openai-responses"):
        return None
    lines = body.split("\n") if "\ndata:" in body or body.startswith("data:") else [body]
    events = [(number, event_of(line)) for number, line in enumerate(lines)]
    events = [(number, event) for number, event in events if event is not None]
    pieces = {}
    for _, event in events:
        for key, holder, name in pieces_of(event):
            pieces.setdefault(key, []).append((holder, name))
    texts = {}
    for key, places in pieces.items():
        old = "".join(holder[name] for holder, name in places)
        try:
            value = json.loads(old)
        except ValueError:
            return None
        if not isinstance(value, dict) or not value:
            continue
        new = DAMAGES[damage](value, old)
        if new == old:
            continue
        texts[old] = new
        # As many pieces as before, of about the same size.
        ends = [len(new) * (at + 1) // len(places) for at in range(len(places))]
        for (holder, name), start, end in zip(places, [0, *ends], ends):
            holder[name] = new[start:end]
    if not texts:
        return None
    for number, event in events:
        repeat(event, texts)
        lines[number] = "data: " + json.dumps(event) if len(lines) > 1 else json.dumps(event)
    return "\n".join(lines)


def event_of(line):
    text = line[5:] if line.startswith("data:") else line
    try:
        event = json.loads(text)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def pieces_of(event):
    """Where an event has a piece of arguments: the call it belongs to, an object, and the name of its member."""
    for choice in event.get("choices") or []:
        said = choice.get("delta") or choice.get("message") or {}
        for place, call in enumerate(said.get("tool_calls") or []):
            function = call.get("function") or {}
            if isinstance(function.get("arguments"), str):
                yield (choice.get("index"), call.get("index", place)), function, "arguments"
    delta = event.get("delta")
    if isinstance(delta, dict) and delta.get("type") == "input_json_delta":
        yield event.get("index"), delta, "partial_json"
    if event.get("type") == "response.function_call_arguments.delta" and isinstance(delta, str):
        yield event.get("item_id"), event, "delta"
    for item in event.get("output") or [] if event.get("object") == "response" else []:
        if item.get("type") == "function_call":
            yield item.get("id"), item, "arguments"


def repeat(value, texts):
    """Changes whole arguments where an event repeats them."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, str) and name == "arguments" and item in texts:
            value[name] = texts[item]
        elif isinstance(item, (dict, list)):
            repeat(item, texts)
