"""Transports that mend what passes, for each HTTP client of the family of ``httpx``."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypedDict, TypeVar

from ._loops import apassed, passed
from ._native import Answer, Exchange, Exchanges


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
"""Called with what was done to an answer, once, when it has ended or was left. What passes unread is no answer."""


def _pairs(message: Any) -> list[tuple[str, bytes]]:
    """The headers of a request or an answer."""
    return [(name.decode("latin-1"), value) for name, value in message.headers.raw]


def _edited(message: Any, edits: list[tuple[str, list[bytes]]]) -> list[tuple[bytes, bytes]]:
    """Its headers, with the lines that they have from now on."""
    lines = {name.encode(): values for name, values in edits}
    kept = [(name, value) for name, value in message.headers.raw if name.lower() not in lines]
    return kept + [(name, value) for name, values in lines.items() for value in values]


class Body:
    """The body of an answer, mended while it passes, or as a whole: the steps of a loop."""

    def __init__(self, answer: Answer, on_answer: OnAnswer | None) -> None:
        self.answer, self.on_answer = answer, on_answer
        self.unpacker: Any = None
        if answer.coding in ("gzip", "deflate"):
            answer.unpack(answer.coding)
            self.unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def feed(self, chunk: bytes, /) -> Iterable[bytes]:
        return _some(self.answer.push(chunk if self.unpacker is None else self.unpacker.decompress(chunk)))

    def close(self) -> Iterable[bytes]:
        rest = b"" if self.unpacker is None else self.answer.push(self.unpacker.flush())
        return self.ended(rest + self.answer.finish())

    def stop(self) -> Iterable[bytes]:
        return self.ended(self.answer.stop())

    def ended(self, last: bytes) -> Iterable[bytes]:
        told, self.on_answer, self.unpacker = self.on_answer, None, None
        if told is not None:
            told(self.answer)
        return _some(last)


def _some(piece: bytes) -> tuple[bytes, ...]:
    """A piece, unless it is empty: that would end a body in chunks."""
    return (piece,) if piece else ()


async def _achained(first: list[bytes], rest: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in first:
        yield chunk
    async for chunk in rest:
        yield chunk


class _PlainStream:
    def __init__(self, first: list[bytes], rest: Any, body: Body, inner: Any) -> None:
        self._pieces, self._body, self._inner = passed(chain(first, rest), body), body, inner

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._inner.close()
        # Whoever reads events leaves after the last one, before the end of the body.
        self._body.close()


class _AsyncStream:
    def __init__(self, first: list[bytes], rest: Any, body: Body, inner: Any) -> None:
        self._pieces, self._body, self._inner = apassed(_achained(first, rest), body), body, inner

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        await self._inner.aclose()
        self._body.close()


async def _now(value: Any) -> Any:
    return value


async def _later(value: Awaitable[Any]) -> Any:
    return await value


class _Way(NamedTuple):
    """How a transport waits, and what it calls for that."""

    wait: Callable[[Any], Awaitable[Any]]
    read: str
    send: str
    close: str
    chunks: Callable[[Any], Any]
    next: Callable[[Any, None], Any]
    stream: type
    transport: str
    streams: str


_PLAIN = _Way(_now, "read", "handle_request", "close", iter, next, _PlainStream, "HTTPTransport", "SyncByteStream")
_ASYNC = _Way(
    _later, "aread", "handle_async_request", "aclose", aiter, anext, _AsyncStream, "AsyncHTTPTransport", "AsyncByteStream"
)

Inner = TypeVar("Inner")


class _Transport(Generic[Inner]):
    """What a plain transport and an asynchronous one have in common: all but how to wait."""

    _httpx: Any
    """The module of its requests and answers."""
    _way: ClassVar[_Way]

    def __init__(
        self,
        inner: Inner | None = None,
        *,
        mending: Mending | None = None,
        held_bytes: int = 8 << 20,
        on_answer: OnAnswer | None = None,
    ) -> None:
        self._exchanges = Exchanges(json.dumps(mending or {}), held_bytes)
        self._inner: Any = getattr(self._httpx, self._way.transport)() if inner is None else inner
        self._held_bytes = held_bytes
        self._on_answer = on_answer

    async def _exchange(self, request: Any) -> Any:
        """Sends a request, and gives its answer."""

        def wait(on: Any, name: str, *arguments: Any) -> Awaitable[Any]:
            return way.wait(getattr(on, name)(*arguments))

        way = self._way
        asked = self._exchanges.request(request.method, request.url.path, _pairs(request))
        exchange = asked.read(await wait(request, way.read) if asked.reads_body else None)
        response = await wait(self._inner, way.send, self._sent(request, exchange))
        body = Body(exchange.answer(response.status_code, _pairs(response)), self._on_answer)
        inner, treatment = response.stream, body.answer.treatment
        if treatment == "pass":
            return self._answered(response, body, inner)
        held: list[bytes] = []
        rest, size = way.chunks(inner), 0
        try:
            while treatment == "whole" and size <= self._held_bytes:
                chunk = await way.wait(way.next(rest, None))
                if chunk is None:
                    await wait(inner, way.close)
                    whole = b"".join(passed(held, body))
                    return self._answered(response, body, self._httpx.ByteStream(whole))
                held.append(chunk)
                size += len(chunk)
        except BaseException:
            await wait(inner, way.close)
            body.stop()
            raise
        body.answer.begin_stream()
        return self._answered(response, body, _stream_of(way, self._httpx)(held, rest, body, inner))

    def _sent(self, request: Any, exchange: Exchange) -> Any:
        """The request as it is sent."""
        body: Any = {"stream": request.stream} if exchange.body is None else {"content": exchange.body}
        headers = _edited(request, exchange.header_edits)
        return self._httpx.Request(request.method, request.url, headers=headers, extensions=request.extensions, **body)

    def _answered(self, response: Any, body: Body, stream: Any) -> Any:
        """The answer as the client has it."""
        headers = _edited(response, body.answer.header_edits)
        extensions = {**response.extensions, "wiremend": body.answer}
        return self._httpx.Response(response.status_code, headers=headers, stream=stream, extensions=extensions)


@cache
def _stream_of(way: _Way, module: Any) -> Any:
    """The stream of a module that is made of the pieces that leave."""
    return type("Stream", (way.stream, getattr(module, way.streams)), {})


class PlainTransport(_Transport[Inner]):
    """Mends what passes through another transport."""

    _way = _PLAIN

    def handle_request(self, request: Any) -> Any:
        # The exchange is written once, for transports that wait: this one does not.
        try:
            self._exchange(request).send(None)
        except StopIteration as done:
            return done.value

    def close(self) -> None:
        self._inner.close()


class AsynchronousTransport(_Transport[Inner]):
    """The same, asynchronous."""

    _way = _ASYNC

    async def handle_async_request(self, request: Any) -> Any:
        return await self._exchange(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class MendingClient:
    """A client with a transport around each that it has made of its options."""

    _around: Any
    """The transport that mends."""

    def __init__(self, *, mending: Mending | None = None, on_answer: OnAnswer | None = None, **options: Any) -> None:
        client: Any = super()
        # As the clients that SDKs make for themselves.
        client.__init__(**{"timeout": 600.0, "follow_redirects": True, **options})
        own = self._around

        def around(inner: Any) -> Any:
            if inner is not None and not isinstance(inner, own):
                return own(inner, mending=mending, on_answer=on_answer)
            if inner is not None and (mending or on_answer):
                raise ValueError("mending and on_answer are options of the transport that was given")
            return inner

        self._transport: Any = around(self._transport)
        self._mounts: Any = {pattern: around(inner) for pattern, inner in self._mounts.items()}
