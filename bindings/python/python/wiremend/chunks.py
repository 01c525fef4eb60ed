"""Chunk objects of a stream, where its body cannot be reached: those in the shape of Chat Completions.

``for chunk in mend_chunks(client.chat.completions.create(…, stream=True)): …``
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, TypeVar

from ._loops import apassed, passed
from ._native import Answer, Exchanges
from ._transport import Mending

T = TypeVar("T")

__all__ = ["amend_chunks", "mend_chunks"]


class _Chunks:
    """Takes chunks apart, and puts those together again that were mended."""

    def __init__(self, mending: Mending | None) -> None:
        exchanges = Exchanges(json.dumps(mending or {}))
        head = [("content-type", b"application/json")]
        exchange = exchanges.request("POST", "/v1/chat/completions", head).read(b'{"stream":true}')
        self.answer: Answer = exchange.answer(200, [("content-type", b"text/event-stream")])
        self.waiting: deque[tuple[bytes, Any]] = deque()
        self.kind: Any = None
        self.left = b""

    def feed(self, chunk: Any, /) -> list[Any]:
        self.kind = type(chunk)
        payload: bytes = chunk.model_dump_json().encode()
        self.waiting.append((payload, chunk))
        return self.take(self.answer.push(b"data: " + payload + b"\n\n"))

    def close(self) -> list[Any]:
        return self.take(self.answer.push(b"data: [DONE]\n\n") + self.answer.finish())

    def stop(self) -> list[Any]:
        return self.take(self.answer.stop())

    def take(self, out: bytes) -> list[Any]:
        *events, self.left = (self.left + out).split(b"\n\n")
        return [chunk for event in events for chunk in self.made(event.removeprefix(b"data: "))]

    def made(self, payload: bytes) -> list[Any]:
        if payload == b"[DONE]":
            return []
        # One that left as it came is the object that it was; what came before it was mended.
        at = next((at for at, (own, _) in enumerate(self.waiting) if own == payload), None)
        if at is None:
            return [self.kind.model_validate_json(payload)]
        for _ in range(at):
            self.waiting.popleft()
        return [self.waiting.popleft()[1]]


def mend_chunks(chunks: Iterable[T], *, mending: Mending | None = None) -> Iterator[T]:
    """The chunks, with their calls mended as the gateway does it. A call that is broken is held to its end."""
    return passed(chunks, _Chunks(mending))


def amend_chunks(chunks: AsyncIterable[T], *, mending: Mending | None = None) -> AsyncIterator[T]:
    """The same as `mend_chunks`, for an asynchronous stream."""
    return apassed(chunks, _Chunks(mending))
