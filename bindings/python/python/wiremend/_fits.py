"""Texts and types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, TypeVar, Unpack

from . import _native
from ._native import Fitted, FoundCalls, MendedArguments
from ._shapes import SchemaLike, Shape, ToolsLike, shape_of, tools_of
from ._words import Documents, Policy, Scope, Text

T = TypeVar("T")


class FitOptions(TypedDict, total=False):
    """How a text is mended before its value is made to fit."""

    scope: Scope
    policy: Policy
    without: Iterable[str] | None
    documents: Documents
    depth: int
    search: bool


class CallOptions(TypedDict, total=False):
    """How the arguments of calls are mended."""

    policy: Policy
    without: Iterable[str] | None
    depth: int


def fit(text: Text, schema: SchemaLike, **options: Unpack[FitOptions]) -> Fitted:
    """Mends a text, and makes its value fit a schema: a dict, or a type.

    >>> fitted = fit("{days: '3'}", {"properties": {"days": {"type": "integer"}}})
    >>> fitted.value
    {'days': 3}
    """
    return shape_of(schema).schema.fit(text, **options)


def parse(text: Text, kind: type[T], **options: Unpack[FitOptions]) -> T:
    """The value of a text as a type: a pydantic model, a dataclass, a ``TypedDict``, ``list[Model]`` …

    Raises a `MendError` if there is no complete value that fits.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Trip:
    ...     city: str
    ...     days: int = 1
    >>> parse("Here: {city: 'Oslo', days: '3'}", Trip)
    Trip(city='Oslo', days=3)
    """
    shape: Shape[T] = shape_of(kind)
    return shape.value(shape.schema.fit(text, **options))


def mend_arguments(
    raw: Text, finish_reason: str, schema: SchemaLike | None = None, **options: Unpack[CallOptions]
) -> MendedArguments:
    """Mends the arguments of a call. ``finish_reason`` is the provider's word for how the turn ended.

    Only the value of a call that is complete can be had: what was cut off raises.

    >>> mend_arguments("{'city': 'Oslo', days: 3}", "tool_calls").value
    {'city': 'Oslo', 'days': 3}
    >>> mend_arguments('{"path": "/home/ada', "length").is_complete
    False
    """
    compiled = None if schema is None else shape_of(schema).schema
    return _native.mend_arguments(raw, finish_reason, compiled, **options)


def find_calls(
    text: Text,
    *,
    tools: ToolsLike | None = None,
    dialect: str | None = None,
    cut: bool = False,
    **options: Unpack[CallOptions],
) -> FoundCalls:
    """Finds the calls in a text, in the syntax of any model, or in that of a dialect or a model.

    ``tools`` are those of the request. Without a dialect they are needed for all calls that have no markers.
    ``cut`` says that the text was cut off.

    >>> found = find_calls('<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>')
    >>> [(call.name, call.value) for call in found]
    [('add', {'a': 1})]
    """
    return _native.find_calls(text, tools=tools_of(tools), dialect=dialect, cut=cut, **options)


__all__ = ["fit", "find_calls", "mend_arguments", "parse"]
