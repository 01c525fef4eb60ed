"""What the long scripts measure with, and what they send."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

ASK: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Book it."}]}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}, "seats": {"type": "integer"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "book", "parameters": PARAMETERS}}]
BROKEN = "{'city': 'Oslo', seats: '2', 'notes': ['near the window', 'no smoking',], 'paid': None, ok: True"
"""Arguments as Python prints them, in the middle."""
failed = False


def resident() -> int:
    """The bytes of this process that are in memory, without the pages of files: how many of these are there, the machine
    decides."""
    gc.collect()
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def bound(what: str, figure: float, most: float, unit: str) -> None:
    """Prints a figure, and remembers whether it is too high."""
    global failed
    broken = figure > most
    failed |= broken
    print(f"{what}: {figure:,.1f} {unit} (at most {most:,g}){' BROKEN' if broken else ''}", flush=True)


def end() -> None:
    sys.exit(1 if failed else 0)


def transport(ours: Any, module: Any, chunks: Any, kind: str = "text/event-stream", **options: Any) -> Any:
    """A transport around a provider that answers with `chunks()`."""

    class Body(module.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return iter(chunks())

    class Inner(module.BaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            request.read()
            return module.Response(200, headers={"content-type": kind}, stream=Body())

    return ours.Transport(Inner(), **options)


def request(module: Any, ask: dict[str, Any]) -> Any:
    return module.Request("POST", "http://test/v1/chat/completions", content=json.dumps(ask), headers={"content-type": "application/json"})
