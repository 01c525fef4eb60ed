"""A column mended."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from ._columns import ArrowArray, ArrowStream, Type, column_of, like
from ._native import Mending

Policy: TypeAlias = Literal["strict", "exact", "likely", "lossy", "guess", "conservative", "permissive"]
"""Which repairs are allowed: those up to a risk; ``"conservative"`` up to *likely*, and nothing that was cut off is closed."""

Documents: TypeAlias = Literal["array", "first", "last", "error"]
"""What becomes of several documents in one text."""

Scope: TypeAlias = Literal["all", "best", "fenced", "first", "last", "whole"]
"""Where in a text to look for JSON."""

SchemaLike: TypeAlias = str | Mapping[str, Any] | type[Any] | Any
"""A JSON Schema as a dict or as JSON text, a `wiremend.Schema`, or a type that pydantic knows."""


def mend_array(
    column: ArrowArray | ArrowStream,
    *,
    schema: SchemaLike | None = None,
    typed: bool = False,
    edits: bool = False,
    scope: Scope = "best",
    policy: Policy = "permissive",
    without: Iterable[str] | None = None,
    documents: Documents = "array",
    depth: int = 127,
    search: bool = True,
    threads: int | None = None,
) -> Any:
    """Mends each text of a column, on all cores, or on so many ``threads``.

    The result has the same rows in the same chunks. It is a column of the library that ``column`` is from (Polars,
    PyArrow, pandas), and else a `Column`. Each row is a struct: ``json``, ``outcome``, ``risk``, ``message``,
    ``repairs`` and, with ``edits``, ``edits``. A null stays null.

    With a ``schema``, values are made to fit it. With ``typed``, they are in the struct as ``value``, with the types
    of the schema, in place of ``json``.

    >>> import pyarrow as pa
    >>> schema = {"properties": {"days": {"type": "integer"}}}
    >>> mended = mend_array(pa.array(["{days: '3'}", "{days: 'a few'}"]), schema=schema, typed=True)
    >>> mended.field("value").to_pylist()
    [{'days': 3}, None]
    >>> mended.field("message")[1].as_py()
    '/days: expected integer, got string "a few"'
    """
    mending = _mending(_text(schema), typed, edits, scope, policy, tuple(without or ()), documents, depth, search, threads)
    return like(column, column_of(mending.mend(column)))


def result_type(
    text: str = "string", *, schema: SchemaLike | None = None, typed: bool = False, edits: bool = False
) -> Type:
    """The type of the results for a column of ``text``: ``string``, ``large_string`` or ``string_view``.

    Engines want to know it before they call a function.

    >>> import pyarrow as pa
    >>> [field.name for field in pa.field(result_type()).type]
    ['json', 'outcome', 'risk', 'message', 'repairs']
    """
    mending = _mending(_text(schema), typed, edits, "best", "permissive", (), "array", 127, True, None)
    return Type(mending.kind(text))


# A schema takes longer to compile than a batch of an engine to mend.
@functools.lru_cache(maxsize=64)
def _mending(
    schema: str | None,
    typed: bool,
    edits: bool,
    scope: str,
    policy: str,
    without: tuple[str, ...],
    documents: str,
    depth: int,
    search: bool,
    threads: int | None,
) -> Mending:
    return Mending(schema, typed, edits, scope, policy, list(without), documents, depth, search, threads)


def _text(schema: SchemaLike | None) -> str | None:
    """A schema as JSON text."""
    if schema is None or isinstance(schema, str):
        return schema
    if isinstance(schema, Mapping):
        return json.dumps(schema)
    source = getattr(schema, "source", None)
    if isinstance(source, str):
        return source
    return _of_type(schema)


def _of_type(kind: Any) -> str:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise TypeError(f"{kind!r} needs pydantic, which is not installed") from None
    return json.dumps(TypeAdapter(kind).json_schema())
