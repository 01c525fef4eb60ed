"""Transports that mend what passes, for each HTTP client of the family of ``httpx``."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from types import ModuleType
from typing import Any, Literal, TypedDict

from ._native import Answer, Exchange, Exchanges

Headers = list[tuple[bytes, bytes]]


class ToolRule(TypedDict, total=False):
    """Settings for the tools of a name, which may end or begin with ``*``."""

    name: str
    arguments: Literal["pass", "mend", "fit"]
    policy: Literal["off", "exact", "likely", "lossy"]


class Mending(TypedDict, total=False):
    """The settings of the gateway's section ``mending``."""

    policy: Literal["off", "exact", "likely", "lossy"]
    """Which repairs are made: ``"likely"`` by default."""
    mode: Literal["eager", "validated"]
    """Whether valid arguments leave at once, or a call leaves when it has ended, fitted to its tool."""
    arguments: Literal["pass", "mend", "fit"]
    content: Literal["asked", "json", "text"]
    """Whether the text of an answer is mended as JSON: where the request asks for it, always, or never."""
    calls_in_text: str
    """``"auto"``, or a dialect or model, whose calls are looked for in the text. ``"off"`` by default."""
    cut: Literal["pass", "withhold"]
    """What becomes of a call that was cut off: it leaves as it came, or not at all."""
    history: bool
    comment: bool
    tool: list[ToolRule]


OnAnswer = Callable[[Answer], object]
"""Called with what was done to an answer, when it has ended."""


def edited(headers: Headers, edits: list[tuple[str, list[bytes]]]) -> Headers:
    """Headers with the lines that they have from now on."""
    lines = {name.encode(): values for name, values in edits}
    kept = [(name, value) for name, value in headers if name.lower() not in lines]
    return kept + [(name, value) for name, values in lines.items() for value in values]


class Body:
    """The body of an answer, mended while it passes, or as a whole."""

    def __init__(self, answer: Answer, on_answer: OnAnswer | None) -> None:
        self.answer, self.on_answer = answer, on_answer
        self.unpacker: Any = None
        if answer.coding in ("gzip", "deflate"):
            answer.unpack(answer.coding)
            self.unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def push(self, chunk: bytes) -> bytes:
        return self.answer.push(chunk if self.unpacker is None else self.unpacker.decompress(chunk))

    def end(self) -> bytes:
        last = b"" if self.unpacker is None else self.answer.push(self.unpacker.flush())
        last += self.answer.finish()
        self.ended()
        return last

    def stop(self) -> bytes:
        last = self.answer.stop()
        self.ended()
        return last

    def ended(self) -> None:
        if self.on_answer is not None:
            self.on_answer(self.answer)

    def pieces(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for chunk in chunks:
                if piece := self.push(chunk):
                    yield piece
        except Exception:
            # It broke off: what waits leaves as it came, before the error.
            if piece := self.stop():
                yield piece
            raise
        if piece := self.end():
            yield piece

    async def apieces(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for chunk in chunks:
                if piece := self.push(chunk):
                    yield piece
        except Exception:
            if piece := self.stop():
                yield piece
            raise
        if piece := self.end():
            yield piece


async def _achained(first: list[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for chunk in first:
        yield chunk
    async for chunk in rest:
        yield chunk


def _chained(first: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from first
    yield from rest


class _Side:
    """What both transports of a module do."""

    def __init__(
        self, module: ModuleType, mending: Mending | None, held_bytes: int, on_answer: OnAnswer | None
    ) -> None:
        self.module: Any = module
        self.exchanges = Exchanges(json.dumps(mending or {}), held_bytes)
        self.held_bytes = held_bytes
        self.on_answer = on_answer

    def asked(self, request: Any) -> Any:
        headers = [(name.decode("latin-1"), value) for name, value in request.headers.raw]
        return self.exchanges.request(request.method, request.url.path, headers)

    def request(self, request: Any, exchange: Exchange) -> Any:
        """The request as it is sent."""
        body: Any = {"stream": request.stream} if exchange.body is None else {"content": exchange.body}
        headers = edited(request.headers.raw, exchange.header_edits)
        return self.module.Request(request.method, request.url, headers=headers, extensions=request.extensions, **body)

    def body(self, exchange: Exchange, response: Any) -> Body:
        headers = [(name.decode("latin-1"), value) for name, value in response.headers.raw]
        return Body(exchange.answer(response.status_code, headers), self.on_answer)

    def response(self, response: Any, body: Body, stream: Any) -> Any:
        """The answer as the client has it."""
        headers = edited(response.headers.raw, body.answer.header_edits)
        extensions = {**response.extensions, "wiremend": body.answer}
        return self.module.Response(response.status_code, headers=headers, stream=stream, extensions=extensions)

    def whole(self, response: Any, body: Body, chunks: list[bytes]) -> Any:
        mended = b"".join([*map(body.push, chunks), body.end()])
        return self.response(response, body, self.module.ByteStream(mended))


def transports(module: ModuleType) -> tuple[Any, Any, Any, Any]:
    """`Client`, `AsyncClient`, `Transport` and `AsyncTransport` for a module of the family."""
    of: Any = module

    class Stream(of.SyncByteStream):  # type: ignore[misc]
        def __init__(self, pieces: Iterator[bytes], inner: Any) -> None:
            self.pieces, self.inner = pieces, inner

        def __iter__(self) -> Iterator[bytes]:
            return self.pieces

        def close(self) -> None:
            self.inner.close()

    class AsyncStream(of.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, pieces: AsyncIterator[bytes], inner: Any) -> None:
            self.pieces, self.inner = pieces, inner

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self.pieces

        async def aclose(self) -> None:
            await self.inner.aclose()

    class Transport(of.BaseTransport):  # type: ignore[misc]
        def __init__(
            self,
            inner: Any = None,
            *,
            mending: Mending | None = None,
            held_bytes: int = 8 << 20,
            on_answer: OnAnswer | None = None,
        ) -> None:
            self._inner = of.HTTPTransport() if inner is None else inner
            self._side = _Side(module, mending, held_bytes, on_answer)

        def handle_request(self, request: Any) -> Any:
            side = self._side
            asked = side.asked(request)
            exchange = asked.read(request.read() if asked.reads_body else None)
            response = self._inner.handle_request(side.request(request, exchange))
            body, inner = side.body(exchange, response), response.stream
            treatment = body.answer.treatment
            if treatment == "pass":
                return side.response(response, body, inner)
            chunks: list[bytes] = []
            rest, size = iter(inner), 0
            try:
                while treatment == "whole" and size <= side.held_bytes:
                    chunk = next(rest, None)
                    if chunk is None:
                        inner.close()
                        return side.whole(response, body, chunks)
                    chunks.append(chunk)
                    size += len(chunk)
            except BaseException:
                inner.close()
                raise
            body.answer.begin_stream()
            return side.response(response, body, Stream(body.pieces(_chained(chunks, rest)), inner))

        def close(self) -> None:
            self._inner.close()

    class AsyncTransport(of.AsyncBaseTransport):  # type: ignore[misc]
        def __init__(
            self,
            inner: Any = None,
            *,
            mending: Mending | None = None,
            held_bytes: int = 8 << 20,
            on_answer: OnAnswer | None = None,
        ) -> None:
            self._inner = of.AsyncHTTPTransport() if inner is None else inner
            self._side = _Side(module, mending, held_bytes, on_answer)

        async def handle_async_request(self, request: Any) -> Any:
            side = self._side
            asked = side.asked(request)
            exchange = asked.read(await request.aread() if asked.reads_body else None)
            response = await self._inner.handle_async_request(side.request(request, exchange))
            body, inner = side.body(exchange, response), response.stream
            treatment = body.answer.treatment
            if treatment == "pass":
                return side.response(response, body, inner)
            chunks: list[bytes] = []
            rest, size = aiter(inner), 0
            try:
                while treatment == "whole" and size <= side.held_bytes:
                    chunk = await anext(rest, None)
                    if chunk is None:
                        await inner.aclose()
                        return side.whole(response, body, chunks)
                    chunks.append(chunk)
                    size += len(chunk)
            except BaseException:
                await inner.aclose()
                raise
            body.answer.begin_stream()
            return side.response(response, body, AsyncStream(body.apieces(_achained(chunks, rest)), inner))

        async def aclose(self) -> None:
            await self._inner.aclose()

    def wrapped(client: Any, kind: Any, mending: Mending | None, on_answer: OnAnswer | None) -> None:
        """Puts a transport around each that a client has made of its options."""

        def around(inner: Any) -> Any:
            done = inner is None or isinstance(inner, kind)
            return inner if done else kind(inner, mending=mending, on_answer=on_answer)

        client._transport = around(client._transport)
        client._mounts = {pattern: around(inner) for pattern, inner in client._mounts.items()}

    # As the clients that SDKs make for themselves.
    defaults = {"timeout": 600.0, "follow_redirects": True}

    class Client(of.Client):  # type: ignore[misc]
        def __init__(
            self, *, mending: Mending | None = None, on_answer: OnAnswer | None = None, **options: Any
        ) -> None:
            super().__init__(**{**defaults, **options})
            wrapped(self, Transport, mending, on_answer)

    class AsyncClient(of.AsyncClient):  # type: ignore[misc]
        def __init__(
            self, *, mending: Mending | None = None, on_answer: OnAnswer | None = None, **options: Any
        ) -> None:
            super().__init__(**{**defaults, **options})
            wrapped(self, AsyncTransport, mending, on_answer)

    made = (Client, AsyncClient, Transport, AsyncTransport)
    for kind in made:
        kind.__module__, kind.__qualname__ = f"wiremend.{module.__name__}", kind.__name__
    return made
