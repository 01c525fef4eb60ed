#!/usr/bin/env python3
"""Does everything again and again, and looks whether anything stays behind.

    python soak.py [ROUNDS]

After some rounds and after ten times as many, it counts objects, allocations of Python and memory, and it ends with 1 if
they grow, or if an object is still there of which nothing is held. It needs `httpx` and `pydantic`, and Linux.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pydantic
from measure import ASK, BROKEN, PARAMETERS, TOOLS, bound, end, request, resident, transport

import wiremend
import wiremend.httpx

from bodies import call, in_pieces, text  # isort: skip

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100


class Row(pydantic.BaseModel):
    city: str
    seats: int = 1


@dataclass
class Trip:
    city: str
    seats: int = 1


class Probe:
    """Something of which a weak reference says whether it is still there."""


calls = call(*(BROKEN[start : start + 8] for start in range(0, len(BROKEN), 8)), "}")
words = text("Here: ", "{'rows': [{'city': 'Oslo'}, ", "{city: 'Bergen', seats: '2'}]}")
function = {"name": "book", "arguments": BROKEN + "}"}
message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
answered = json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
asked = {**ASK, "tools": TOOLS, "messages": [*ASK["messages"], message, {"role": "tool", "tool_call_id": "c", "content": "ok"}]}


def refused(act: Any) -> None:
    try:
        act()
    except wiremend.MendError as error:
        assert error.for_model and error.result is not None
        return
    raise AssertionError("it was not refused")


def texts() -> None:
    wiremend.loads('{"a": [1, 2.5, null, "x"]}')
    mended = wiremend.mend(BROKEN + "}")
    assert mended.value["paid"] is None and mended.repairs and repr(mended)
    refused(lambda: wiremend.loads('{"path": "/home'))
    refused(lambda: wiremend.mend("nothing").value)
    refused(lambda: wiremend.parse("{city: 1, seats: 'a few'}", Row))
    assert wiremend.parse("{city: 'Oslo', seats: '2'}", Trip) == Trip("Oslo", 2)
    assert wiremend.fit("{city: 'Oslo', seats: '2'}", {**PARAMETERS, "title": "T"}).changes
    assert wiremend.mend_arguments(BROKEN + "}", "tool_calls", PARAMETERS).value["seats"] == 2
    refused(lambda: wiremend.mend_arguments(BROKEN, "length").value)
    assert wiremend.find_calls(f"<tool_call>{{'name': 'book', 'arguments': {BROKEN}}}}}</tool_call>", tools=TOOLS)
    mender = wiremend.Mender()
    mender.feed(BROKEN)
    mender.snapshot()
    mender.close()


def streams() -> None:
    assert any(isinstance(event, wiremend.events.CallFitted) and event.call.value for event in wiremend.stream(in_pieces(calls, 50), tools=TOOLS))
    for _ in wiremend.stream(in_pieces(calls, 50)):
        break
    assert len(list(wiremend.items(in_pieces(words, 50), "/rows", Row))) == 2
    refused(lambda: list(wiremend.partial([BROKEN])))

    def breaks() -> Iterator[bytes]:
        yield calls[:200]
        raise OSError("gone")

    try:
        list(wiremend.stream(breaks()))
    except OSError:
        pass


def exchanges() -> None:
    for chunks, kind in ((in_pieces(calls, 50), "text/event-stream"), ([answered], "application/json")):
        for mending in ({}, {"mode": "validated", "cut": "withhold"}):
            of = transport(wiremend.httpx, httpx, lambda chunks=chunks: chunks, kind, mending=mending, on_answer=lambda answer: answer.account)
            with httpx.Client(transport=of) as client:
                response = client.post("http://test/v1/chat/completions", json=asked)
                assert response.extensions["wiremend"].verdict == "repaired", response.extensions["wiremend"]
            left = iter(of.handle_request(request(httpx, asked)).stream)
            next(left)


def gone(what: str, make: Any) -> None:
    """Whether an object is gone when nothing holds it. `make` gives the object and what it came of."""
    probe, *rest = make()
    seen = weakref.ref(probe)
    del probe, rest
    gc.collect()
    bound(f"{what}: still there", seen() is not None, 0, "objects")


def error() -> Any:
    mended = wiremend.mend("{'a': ")
    return mended.error, mended


def source() -> Any:
    def chunks() -> Iterator[bytes]:
        yield calls[:200]
        yield calls[200:]

    of = chunks()
    stream = wiremend.stream(of)
    next(stream)
    return of, stream


def mismatch() -> Any:
    def told(error: Any) -> None: ...

    list(wiremend.items(["[{city: 1, seats: 'a few'}]"], "", Row, mismatch=told))
    return (told,)


def kept_in(result: Any, owner: Any = None) -> Any:
    """A result, or what owns it, that someone puts into its own value."""
    probe = Probe()
    result.value["owner"], result.value["probe"] = owner or result, probe
    return probe, result


def models() -> int:
    """How many of models that were parsed with are kept."""
    seen = []
    for _ in range(600):
        made = pydantic.create_model("Made", city=(str, ...))
        wiremend.parse("{city: 'Oslo'}", made)
        seen.append(weakref.ref(made))
    del made
    gc.collect()
    return sum(model() is not None for model in seen)


def answer() -> Any:
    told = Probe()
    of = transport(wiremend.httpx, httpx, lambda: in_pieces(calls, 50), on_answer=lambda answer, told=told: None)
    with httpx.Client(transport=of) as client, client.stream("POST", "http://test/v1/chat/completions", json=asked) as response:
        for _ in response.iter_bytes():
            break
    return told, response


def collected() -> None:
    for _ in range(3):
        gc.collect()


def counts() -> tuple[int, int]:
    """Objects, and bytes that Python has allocated. The list of all objects takes memory itself."""
    collected()
    return len(gc.get_objects()), tracemalloc.get_traced_memory()[0]


def memory() -> int:
    collected()
    return resident()


def main() -> None:
    def some(count: int) -> None:
        for turn in range(count):
            texts()
            streams()
            exchanges()
            if turn % 50 == 0:
                # Otherwise the most that has ever waited for the collector decides what is in memory.
                gc.collect()

    some(rounds)
    plain = memory()
    some(9 * rounds)
    bound(f"memory after {10 * rounds} rounds, more than after {rounds}", (memory() - plain) / 1024, 512, "KiB")
    tracemalloc.start()
    some(rounds // 3)
    objects, allocated = counts()
    some(rounds // 3)
    more, later = counts()
    bound(f"objects after {rounds // 3} rounds more", more - objects, 20, "")
    bound("memory of Python's objects", (later - allocated) / 1024, 32, "KiB")
    tracemalloc.stop()
    gone("an error", error)
    gone("the source of a stream that was left", source)
    gone("a function for what does not fit", mismatch)
    bound("models that are kept, of 600 that were parsed with", models(), 256, "")
    gone("the function of a transport", answer)
    gone("a result in its own value", lambda: kept_in(wiremend.mend("{a: 1}")))
    gone("arguments in their own value", lambda: kept_in(wiremend.mend_arguments("{a: 1}", "stop")))
    gone("what fits, in its own value", lambda: kept_in(wiremend.fit("{a: 1}", {})))
    found = "<tool_call>{name: 'a', arguments: {a: 1}}</tool_call>"
    gone("found calls in the value of one", lambda: kept_in((every := wiremend.find_calls(found))[0], every))
    for kind in (wiremend.events.CallEnded, wiremend.events.CallFitted):
        of = lambda kind=kind: next(event for event in wiremend.stream(calls, tools=TOOLS) if isinstance(event, kind))
        gone(f"a {kind.__name__} in the value of its call", lambda of=of: kept_in((event := of()).call, event))
    mender = wiremend.Mender()
    mender.feed("{a: 1}")
    closed = [mender, mender.close()]
    del mender
    gone("a mender in its own value", lambda: kept_in(closed.pop(), closed.pop()))
    end()


if __name__ == "__main__":
    main()
