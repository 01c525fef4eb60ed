#!/usr/bin/env python3
"""Eight threads, each with a reader of its own, and all with the same schema, tools, transport, result and mender.

    python threads.py [SECONDS]

It ends with 1 if anything comes out otherwise than with one thread. It needs `httpx`.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import httpx
from measure import ASK, BROKEN, PARAMETERS, TOOLS, bound, end, request, transport

import wiremend
import wiremend.httpx

from bodies import call, in_pieces  # isort: skip

THREADS = 8
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
asked = {**ASK, "tools": TOOLS}
body = call(*(BROKEN[start : start + 8] for start in range(0, len(BROKEN), 8)), "}")
schema, tools = wiremend.Schema(json.dumps(PARAMETERS)), wiremend.Tools(json.dumps(TOOLS))
of = transport(wiremend.httpx, httpx, lambda: in_pieces(body, 40), mending={"mode": "validated"})
long = "[" + ", ".join([BROKEN + "}"] * 1000) + "]"


def own() -> Any:
    mender = wiremend.Mender()
    text = "".join(mender.feed(BROKEN[start : start + 5]) for start in range(0, len(BROKEN), 5))
    return text, mender.close().value


def events() -> Any:
    return [repr(event) for event in wiremend.stream(in_pieces(body, 40), tools=tools)]


def fitted() -> Any:
    made = schema.fit(BROKEN + "}")
    return made.value, [repr(change) for change in made.changes]


def exchanged() -> Any:
    return b"".join(of.handle_request(request(httpx, asked)).stream)


def released() -> Any:
    return len(wiremend.loads(long))


ACTS = (own, events, fitted, exchanged, released)
expected = [act() for act in ACTS]
rounds, wrong = [0] * THREADS, []
results = [wiremend.mend(BROKEN + "}") for _ in range(2000)]
values: list[list[int]] = [[] for _ in range(THREADS)]
shared, fed = wiremend.Mender(), [0] * THREADS
shared.feed("[")
start = threading.Barrier(THREADS)


def work(number: int) -> None:
    start.wait()
    # All ask for the same values, which are built when they are first asked for.
    values[number] = [id(result.value) for result in results]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for act, right in zip(ACTS, expected, strict=True):
            if act() != right:
                wrong.append(act.__name__)
        shared.feed("1, ")
        shared.snapshot() if rounds[number] % 100 == 0 else None
        fed[number] += 1
        rounds[number] += 1


workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(THREADS)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join(seconds + 60)
bound("threads that hang", sum(worker.is_alive() for worker in workers), 0, "")
bound("what came out otherwise", len(wrong), 0, "")
bound("results with two values", sum(seen != values[0] for seen in values), 0, "")
lost = sum(fed) - len(shared.close().value)
bound("chunks that a shared mender lost", abs(lost), 0, "")
lock = getattr(sys, "_is_gil_enabled", lambda: True)()
print(f"{THREADS} threads, {sum(rounds):,} rounds in {seconds:g} s, {'with' if lock else 'without'} a global lock")
end()
