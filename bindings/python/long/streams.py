#!/usr/bin/env python3
"""How much memory 10,000 streams take that are open in the middle of a broken call.

    python streams.py [COUNT]

It ends with 1 if one of them takes more than its bound. It needs `httpx`, and Linux.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from measure import ASK, BROKEN, TOOLS, bound, end, request, resident, transport

import wiremend
import wiremend.httpx

from bodies import call  # isort: skip

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
whole = call(*(BROKEN[start : start + 8] for start in range(0, len(BROKEN), 8)), finish=None, done=False)
half = whole[: whole.rindex(b"ok") + 1]


def forever() -> Iterator[bytes]:
    """A body of which no more comes: the one who reads it has to stop here."""
    yield half
    raise AssertionError("nobody asks for more")


def mender() -> Any:
    made = wiremend.Mender()
    made.feed(BROKEN)
    return made


def stream() -> Any:
    made = wiremend.stream(forever(), tools=tools)
    for event in made:
        if isinstance(event, wiremend.events.CallFragment):
            break
    return made


def partial() -> Any:
    made = wiremend.partial(iter([BROKEN, "never"]))
    assert next(made).value["city"] == "Oslo"
    return made


tools = wiremend.Tools(json.dumps(TOOLS))
eager = transport(wiremend.httpx, httpx, forever)
held = transport(wiremend.httpx, httpx, forever, mending={"mode": "validated"})
ask = {**ASK, "tools": TOOLS}


def answer(of: Any) -> Callable[[], Any]:
    def opened() -> Any:
        response = of.handle_request(request(httpx, ask))
        body = iter(response.stream)
        assert b"Oslo" not in (came := next(body)) or of is eager, came
        return response, body

    return opened


KINDS = {
    "Mender": (mender, 6),
    "stream": (stream, 24),
    "partial": (partial, 16),
    "an answer through the transport": (answer(eager), 32),
    "an answer through the transport, its call held": (answer(held), 32),
}


def each(name: str) -> float:
    opened, _ = KINDS[name]
    opened()
    before = resident()
    kept = [opened() for _ in range(count)]
    return (resident() - before) / len(kept) / 1024


for name, (_, most) in KINDS.items():
    # In a process of its own: what one kind gave back, the next would take.
    with multiprocessing.get_context("fork").Pool(1) as pool:
        bound(f"{count:,} × {name}", pool.apply(each, (name,)), most, "KiB each")
end()
