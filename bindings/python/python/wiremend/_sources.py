"""Where chunks come from: responses of HTTP clients and SDKs, files, and anything that is iterated over."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeAlias

Chunk: TypeAlias = str | bytes | bytearray | memoryview

Source: TypeAlias = Any
"""A response of ``httpx``, ``requests``, ``urllib`` or an SDK, a file, or an iterable of chunks."""

_SIZE = 65536


def _nothing() -> None:
    pass


def chunks_of(source: Source) -> tuple[Iterator[Chunk], Callable[[], object]]:
    """The chunks of a source, and how to close it."""
    if isinstance(source, str | bytes | bytearray | memoryview):
        return iter((source,)), _nothing
    close = getattr(source, "close", _nothing)
    if hasattr(source, "iter_bytes"):
        # httpx, and the streaming responses of SDKs.
        return iter(source.iter_bytes()), close
    for inner in ("http_response", "response"):
        # The raw responses of SDKs, and their streams.
        held = getattr(source, inner, None)
        if hasattr(held, "iter_bytes"):
            return chunks_of(held)
    if hasattr(source, "iter_content"):
        # requests
        return iter(source.iter_content(chunk_size=None)), close
    read = getattr(source, "read1", None) or getattr(source, "read", None)
    if read is not None:
        return iter(lambda: read(_SIZE) or None, None), close
    if isinstance(source, Iterable):
        return iter(source), close
    message = f"no chunks are known of {type(source).__name__!r}; pass an iterable of bytes"
    raise TypeError(message)


def achunks_of(source: Source) -> tuple[AsyncIterator[Chunk], Callable[[], Awaitable[object]]]:
    """The chunks of an asynchronous source, and how to close it."""

    async def close() -> None:
        for name in ("aclose", "close", "release"):
            end = getattr(source, name, None)
            if end is not None:
                ended = end()
                if inspect.isawaitable(ended):
                    await ended
                return

    if hasattr(source, "aiter_bytes"):
        return aiter(source.aiter_bytes()), close
    if hasattr(source, "iter_bytes") and isinstance(source, AsyncIterable):
        # The streaming responses of asynchronous SDKs.
        return aiter(source), close
    for inner in ("http_response", "response"):
        held = getattr(source, inner, None)
        if hasattr(held, "aiter_bytes"):
            return achunks_of(held)
    content: Any = getattr(source, "content", None)
    if content is not None and hasattr(content, "iter_any"):
        # aiohttp
        return aiter(content.iter_any()), close
    if isinstance(source, AsyncIterable):
        return aiter(source), close
    if hasattr(source, "iter_bytes"):
        chunks = source.iter_bytes()
        if isinstance(chunks, AsyncIterable):
            return aiter(chunks), close
    message = f"no asynchronous chunks are known of {type(source).__name__!r}; pass an asynchronous iterable of bytes"
    raise TypeError(message)
