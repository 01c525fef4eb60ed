"""The loops over chunks, each plain and asynchronous. What is done with a chunk is in the steps, which know no IO."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from typing import Protocol, TypeVar

from ._sources import Chunk, Source, achunks_of, chunks_of

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
In = TypeVar("In")
Out = TypeVar("Out")


class Steps(Protocol[In_contra, Out_co]):
    """Makes something of chunks. `close` may raise after what it gives."""

    def feed(self, chunk: In_contra, /) -> Iterable[Out_co]: ...
    def close(self) -> Iterable[Out_co]: ...


class Breaking(Steps[In_contra, Out_co], Protocol[In_contra, Out_co]):
    """Steps that hold something back, which leaves as it came if the chunks break off."""

    def stop(self) -> Iterable[Out_co]: ...


def read(source: Source, steps: Steps[Chunk, Out]) -> Generator[Out, None, None]:
    """What is made of a source, which is closed when that is left."""
    chunks, close = chunks_of(source)
    try:
        for chunk in chunks:
            yield from steps.feed(chunk)
        yield from steps.close()
    finally:
        close()


async def aread(source: Source, steps: Steps[Chunk, Out]) -> AsyncGenerator[Out, None]:
    """The same as `read`, for an asynchronous source."""
    chunks, close = achunks_of(source)
    try:
        async for chunk in chunks:
            for made in steps.feed(chunk):
                yield made
        for made in steps.close():
            yield made
    finally:
        await close()


def passed(chunks: Iterable[In], steps: Breaking[In, Out]) -> Generator[Out, None, None]:
    """What leaves of chunks that pass, to the error with which they break off."""
    try:
        for chunk in chunks:
            yield from steps.feed(chunk)
    except Exception:
        yield from steps.stop()
        raise
    yield from steps.close()


async def apassed(chunks: AsyncIterable[In], steps: Breaking[In, Out]) -> AsyncGenerator[Out, None]:
    """The same as `passed`, for asynchronous chunks."""
    try:
        async for chunk in chunks:
            for made in steps.feed(chunk):
                yield made
    except Exception:
        for made in steps.stop():
            yield made
        raise
    for made in steps.close():
        yield made
