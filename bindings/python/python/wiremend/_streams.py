"""Responses, items and values while they arrive."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

from ._errors import MendError, SchemaMismatch, refusal
from ._loops import aread, read
from ._native import (
    Call,
    CallBegan,
    CallEnded,
    CallFragment,
    Ended,
    Error,
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
from ._sources import Chunk, Source
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
    return read(source, reader(**options))


def astream(source: Source, **options: Unpack[StreamOptions]) -> AsyncGenerator[Event, None]:
    """The same as `stream`, for an asynchronous source. Leaving the loop closes the source, as soon as the event loop
    runs; ``contextlib.aclosing`` closes it at once."""
    return aread(source, reader(**options))


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
        self.failed: Error | None = None
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
                case Error() as failed:
                    self.failed = failed
                case Ended(outcome) if self.result is None:
                    self.result = _Nothing(outcome, self.failed)
                case _:
                    pass
        return "".join(json)

    @property
    def error(self) -> MendError | None:
        """Why the value is not complete. `None` before it has ended, too."""
        error: MendError | None = None if self.result is None else self.result.error
        return error


@dataclass(frozen=True)
class _Nothing:
    """What came of a response without a value."""

    ended: str
    failed: Error | None

    @property
    def outcome(self) -> str:
        return {"cut": "cut", "lossy": "cut", "overflow": "overflow"}.get(self.ended, "none")

    @property
    def why(self) -> str | None:
        if self.failed is None:
            return None
        kind, said = self.failed.kind, self.failed.message[:200]
        if kind == "provider":
            return f"the provider reported an error: {said}"
        return f"the body is no response of a provider ({kind}; the text of a model is passed as str): {said}"

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

    def feed(self, chunk: Chunk) -> Iterator[Any]:
        return self.read(self.json.feed(chunk))

    def close(self) -> Iterator[Any]:
        yield from self.read(self.json.close())
        if self.json.error is not None:
            raise self.json.error

    def read(self, json: str) -> Iterator[Any]:
        cut_at: str | None = getattr(self.json.result, "cut_at", None)
        for text, path in self.items.feed(json):
            if cut_at is not None and f"{cut_at}.".startswith((f"{path}.", f"{path}[")):
                # What closed it is not what the model wrote.
                continue
            if self.shape is None:
                yield loads(text)
                continue
            try:
                row = self.shape.value(self.shape.schema.fit(text, scope="whole"))
            except SchemaMismatch as error:
                error.place = path + (error.place or "$").removeprefix("$")
                if self.mismatch is None:
                    raise
                self.mismatch(error)
            else:
                yield row


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
    return read(source, _Rows(pointer, kind, mismatch, options))


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
    return aread(source, _Rows(pointer, kind, mismatch, options))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A value that is still arriving. A later snapshot never contradicts it: types stay, strings and lists only grow,
    numbers and words appear whole. (A key that is written twice has the value that was written last.)"""

    value: Any
    """The value so far, an object of its own."""

    closed: frozenset[str]
    """The paths of what has ended, such as ``$.rows[0]``, and not only because the value was cut off."""

    is_complete: bool
    """Whether it is the whole value: only the last snapshot is."""


class _Grown:
    """The snapshots of a value."""

    def __init__(self, options: JsonOptions) -> None:
        self.json = _Json(options)
        self.growing = Growing()
        # What had ended when the value was cut off.
        self.ended: frozenset[str] | None = None

    def feed(self, chunk: Chunk) -> Iterator[Snapshot]:
        if self.read(self.json.feed(chunk)):
            yield self.snapshot(False)

    def read(self, json: str) -> bool:
        if self.ended is None and self.json.error is not None:
            self.ended = self.growing.closed
        return self.growing.feed(json)

    def close(self) -> Iterator[Snapshot]:
        changed = self.read(self.json.close())
        error = self.json.error
        if changed or error is None:
            yield self.snapshot(error is None)
        if error is not None:
            raise error

    def snapshot(self, complete: bool) -> Snapshot:
        closed = self.growing.closed if self.ended is None else self.ended
        return Snapshot(self.growing.value, closed, complete)


def partial(source: Source, **options: Unpack[JsonOptions]) -> Generator[Snapshot, None, None]:
    """The value of a source while it grows: a snapshot for each chunk that changes it, and one that is complete.

    A `MendError` is raised after the last one if the value was cut off. A snapshot costs as much as the value is large.

    >>> [snapshot.value for snapshot in partial(["{city: 'Os", "lo'}"])]
    [{'city': 'Os'}, {'city': 'Oslo'}, {'city': 'Oslo'}]
    """
    return read(source, _Grown(options))


def apartial(source: Source, **options: Unpack[JsonOptions]) -> AsyncGenerator[Snapshot, None]:
    """The same as `partial`, for an asynchronous source."""
    return aread(source, _Grown(options))
