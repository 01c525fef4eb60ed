"""Responses, items and values while they arrive."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

from ._errors import MendError, SchemaMismatch, refusal
from ._native import (
    Call,
    CallBegan,
    CallEnded,
    CallFragment,
    Ended,
    Growing,
    Items,
    Mender,
    Object,
    ObjectBegan,
    ObjectEnded,
    ObjectFragment,
    Reader,
    loads,
)
from ._shapes import SchemaLike, ToolsLike, shape_of, tools_of
from ._sources import Chunk, Source, achunks_of, chunks_of
from ._words import Policy, Scope
from .events import Event

T = TypeVar("T")


class StreamOptions(TypedDict, total=False):
    """How a response is read."""

    tools: ToolsLike | None
    """The tools of the request: each call is then fitted to its schema (``CallFitted``)."""
    schema: SchemaLike | None
    """What the text of the answer should be: each object in it is then fitted (``ObjectFitted``)."""
    objects: Scope | None
    """Where in the text to look for objects. By default they are not looked for."""
    calls_in_text: bool
    """Whether to look for calls in the text. Then tools are needed."""
    dialect: str | None
    """The dialect or model whose calls are looked for in the text."""
    format: str | None
    """The provider's format, if it is not to be recognised."""
    content_type: str | None
    policy: Policy
    """Of calls: ``"conservative"`` by default."""
    without: Iterable[str] | None
    text_policy: Policy
    """Of objects in the text: ``"permissive"`` by default."""
    depth: int


def reader(**options: Unpack[StreamOptions]) -> Reader:
    """A reader without IO: `feed` it chunks of the body, then `close` it."""
    tools, wanted = options.get("tools"), options.get("schema")
    schema = None if wanted is None else shape_of(wanted).schema
    compiled: dict[str, Any] = {**options, "tools": tools_of(tools), "schema": schema}
    return Reader(**compiled)


def stream(source: Source, **options: Unpack[StreamOptions]) -> Generator[Event, None, None]:
    """The events of a response, while it arrives. Leaving the loop closes the source.

    >>> body = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n'
    >>> from wiremend.events import Text
    >>> [event.text for event in stream(body) if isinstance(event, Text)]
    ['Hi']
    """
    return _events(source, reader(**options))


def _events(source: Source, reader: Reader) -> Generator[Event, None, None]:
    chunks, close = chunks_of(source)
    try:
        for chunk in chunks:
            yield from reader.feed(chunk)
        yield from reader.close()
    finally:
        close()


def astream(source: Source, **options: Unpack[StreamOptions]) -> AsyncGenerator[Event, None]:
    """The same as `stream`, for an asynchronous source. Leaving the loop closes the source, as soon as the event loop
    runs; ``contextlib.aclosing`` closes it at once."""
    return _aevents(source, reader(**options))


async def _aevents(source: Source, reader: Reader) -> AsyncGenerator[Event, None]:
    chunks, close = achunks_of(source)
    try:
        async for chunk in chunks:
            for event in reader.feed(chunk):
                yield event
        for event in reader.close():
            yield event
    finally:
        await close()


class JsonOptions(TypedDict, total=False):
    """How the one JSON value of a source is mended."""

    policy: Policy
    without: Iterable[str] | None
    depth: int


class _Json:
    """The mended text of the one value of a source.

    Chunks of `str` are the text of a model; bytes are the body of a response, and the value is the first object in its
    text, or the arguments of its first call.
    """

    def __init__(self, options: JsonOptions) -> None:
        self.options = options
        self.mender: Mender | None = None
        self.reader: Reader | None = None
        self.chosen: tuple[type[Any], int] | None = None
        self.returned = 0
        self.result: Any = None

    def feed(self, chunk: Chunk) -> str:
        if self.mender is None and self.reader is None:
            if isinstance(chunk, str):
                self.mender = Mender(**self.options)
            else:
                policy = self.options.get("policy", "permissive")
                without, depth = self.options.get("without"), self.options.get("depth", 127)
                self.reader = Reader(objects="first", policy=policy, text_policy=policy, without=without, depth=depth)
        if self.reader is not None:
            return self.read(self.reader.feed(chunk))
        assert self.mender is not None
        text = self.mender.feed(chunk)
        self.returned += len(text)
        return text

    def close(self) -> str:
        if self.reader is not None:
            return self.read(self.reader.close())
        self.result = (self.mender or Mender(**self.options)).close()
        text: str = self.result.text or ""
        return text[self.returned :]

    def read(self, events: list[Event]) -> str:
        json: list[str] = []
        for event in events:
            match event:
                case CallBegan(number) if self.chosen is None:
                    self.chosen = (Call, number)
                case ObjectBegan(number) if self.chosen is None:
                    self.chosen = (Object, number)
                case CallFragment(number, text) if self.chosen == (Call, number):
                    json.append(text)
                case ObjectFragment(number, text) if self.chosen == (Object, number):
                    json.append(text)
                case CallEnded(ended) if self.chosen == (Call, ended.number):
                    self.result = ended
                case ObjectEnded(found) if self.chosen == (Object, found.number):
                    self.result = found
                case Ended(outcome) if self.result is None:
                    known = {"cut": "cut", "lossy": "cut", "overflow": "overflow"}
                    self.result = _Nothing(known.get(outcome, "none"))
                case _:
                    pass
        return "".join(json)

    @property
    def error(self) -> MendError | None:
        """Why the value is not complete."""
        error: MendError | None = self.result.error
        return error


@dataclass(frozen=True)
class _Nothing:
    """What came of a response without a value."""

    outcome: str

    @property
    def error(self) -> MendError:
        return refusal(self)


Mismatch = Callable[[SchemaMismatch], object]
"""What is called for an item that does not fit, instead of raising."""


class _Rows:
    """The items of an array, as a type."""

    def __init__(self, pointer: str, kind: Any, mismatch: Mismatch | None, options: JsonOptions) -> None:
        self.json = _Json(options)
        self.items = Items(pointer)
        self.shape = None if kind is None else shape_of(kind)
        self.mismatch = mismatch

    def feed(self, chunk: Chunk) -> list[Any]:
        return self.read(self.json.feed(chunk))

    def close(self) -> list[Any]:
        return self.read(self.json.close())

    def read(self, json: str) -> list[Any]:
        rows: list[Any] = []
        cut_at: str | None = getattr(self.json.result, "cut_at", None)
        for text, path in self.items.feed(json):
            if cut_at is not None and f"{cut_at}.".startswith((f"{path}.", f"{path}[")):
                # What closed it is not what the model wrote.
                continue
            if self.shape is None:
                rows.append(loads(text))
                continue
            fitted = self.shape.schema.fit(text, scope="whole")
            error = fitted.error
            if error is None:
                rows.append(self.shape.read(fitted.text or ""))
            elif self.mismatch is not None and isinstance(error, SchemaMismatch):
                self.mismatch(error)
            else:
                raise error
        return rows


@overload
def items(
    source: Source, pointer: str, kind: type[T], *, mismatch: Mismatch | None = None, **options: Unpack[JsonOptions]
) -> Generator[T, None, None]: ...
@overload
def items(
    source: Source,
    pointer: str,
    kind: SchemaLike | None = None,
    *,
    mismatch: Mismatch | None = None,
    **options: Unpack[JsonOptions],
) -> Generator[Any, None, None]: ...
def items(
    source: Source, pointer: str, kind: Any = None, *, mismatch: Mismatch | None = None, **options: Unpack[JsonOptions]
) -> Generator[Any, None, None]:
    """The items of one array in the value of a source, each as soon as it is whole, as a type.

    The array is where the JSON Pointer says: ``"/rows"``, or ``""`` for the value itself. After the last item, a
    `MendError` is raised if the value was cut off. An item that does not fit raises `SchemaMismatch`, or is passed to
    ``mismatch`` and left out.

    Chunks of `str` are the text of a model; bytes are the body of a response.

    >>> list(items(["{rows: [{a: 1}, {a", ": 2}]}"], "/rows"))
    [{'a': 1}, {'a': 2}]
    """
    return _items(source, _Rows(pointer, kind, mismatch, options))


def _items(source: Source, rows: _Rows) -> Generator[Any, None, None]:
    chunks, close = chunks_of(source)
    try:
        for chunk in chunks:
            yield from rows.feed(chunk)
        yield from rows.close()
    finally:
        close()
    if rows.json.error is not None:
        raise rows.json.error


@overload
def aitems(
    source: Source, pointer: str, kind: type[T], *, mismatch: Mismatch | None = None, **options: Unpack[JsonOptions]
) -> AsyncGenerator[T, None]: ...
@overload
def aitems(
    source: Source,
    pointer: str,
    kind: SchemaLike | None = None,
    *,
    mismatch: Mismatch | None = None,
    **options: Unpack[JsonOptions],
) -> AsyncGenerator[Any, None]: ...
def aitems(
    source: Source, pointer: str, kind: Any = None, *, mismatch: Mismatch | None = None, **options: Unpack[JsonOptions]
) -> AsyncGenerator[Any, None]:
    """The same as `items`, for an asynchronous source."""
    return _aitems(source, _Rows(pointer, kind, mismatch, options))


async def _aitems(source: Source, rows: _Rows) -> AsyncGenerator[Any, None]:
    chunks, close = achunks_of(source)
    try:
        async for chunk in chunks:
            for row in rows.feed(chunk):
                yield row
        for row in rows.close():
            yield row
    finally:
        await close()
    if rows.json.error is not None:
        raise rows.json.error


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A value that is still arriving. A later snapshot never contradicts it: types stay, strings and lists only grow,
    numbers and words appear whole. (A key that is written twice has the value that was written last.)"""

    value: Any
    """The value so far, an object of its own."""

    closed: frozenset[str]
    """The paths of what will not change any more, such as ``$.rows[0]``."""

    is_complete: bool
    """Whether it is the whole value: only the last snapshot is."""


class _Grown:
    def __init__(self, options: JsonOptions) -> None:
        self.json = _Json(options)
        self.growing = Growing()

    def feed(self, chunk: Chunk) -> list[Snapshot]:
        return [self.snapshot(False)] if self.growing.feed(self.json.feed(chunk)) else []

    def close(self) -> list[Snapshot]:
        changed = self.growing.feed(self.json.close())
        complete = self.json.error is None
        return [self.snapshot(complete)] if changed or complete else []

    def snapshot(self, complete: bool) -> Snapshot:
        return Snapshot(self.growing.value, self.growing.closed, complete)


def partial(source: Source, **options: Unpack[JsonOptions]) -> Generator[Snapshot, None, None]:
    """The value of a source while it grows: a snapshot for each chunk that changes it, and one that is complete.

    A `MendError` is raised after the last one if the value was cut off. A snapshot costs as much as the value is large.

    >>> [snapshot.value for snapshot in partial(["{city: 'Os", "lo'}"])]
    [{'city': 'Os'}, {'city': 'Oslo'}, {'city': 'Oslo'}]
    """
    return _partial(source, _Grown(options))


def _partial(source: Source, grown: _Grown) -> Generator[Snapshot, None, None]:
    chunks, close = chunks_of(source)
    try:
        for chunk in chunks:
            yield from grown.feed(chunk)
        yield from grown.close()
    finally:
        close()
    if grown.json.error is not None:
        raise grown.json.error


def apartial(source: Source, **options: Unpack[JsonOptions]) -> AsyncGenerator[Snapshot, None]:
    """The same as `partial`, for an asynchronous source."""
    return _apartial(source, _Grown(options))


async def _apartial(source: Source, grown: _Grown) -> AsyncGenerator[Snapshot, None]:
    chunks, close = achunks_of(source)
    try:
        async for chunk in chunks:
            for snapshot in grown.feed(chunk):
                yield snapshot
        for snapshot in grown.close():
            yield snapshot
    finally:
        await close()
    if grown.json.error is not None:
        raise grown.json.error
