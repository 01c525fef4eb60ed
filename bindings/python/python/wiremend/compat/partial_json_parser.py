"""Takes the place of ``partial_json_parser``: ``from wiremend.compat import partial_json_parser``.

JSON that was cut off is closed; ``allow_partial`` says which types of value may be shown in part. JSON that is broken is
mended as well, where that package raises ``MalformedJSON``.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from typing import Any

from .._native import Mender

__all__ = ["Allow", "JSONDecodeError", "MalformedJSON", "PartialJSON", "ensure_json", "loads", "parse_json"]


class Allow(enum.IntFlag):
    """The types of value that may be shown in part."""

    STR = 1
    NUM = 2
    ARR = 4
    OBJ = 8
    NULL = 16
    BOOL = 32
    NAN = 64
    INFINITY = 128
    _INFINITY = 256

    INF = INFINITY | _INFINITY
    SPECIAL = NULL | BOOL | INF | NAN
    ATOM = STR | NUM | SPECIAL
    COLLECTION = ARR | OBJ
    ALL = ATOM | COLLECTION


class JSONDecodeError(ValueError):
    """There is no value."""


class PartialJSON(JSONDecodeError):
    """The value was cut off, and its type may not be shown in part."""


class MalformedJSON(JSONDecodeError):
    """There is no JSON."""


_MISSING = object()


def parse_json(
    json_string: str,
    allow_partial: Allow | int = Allow.ALL,
    parser: Callable[[str], Any] | None = None,
    use_fast_fix: bool = True,
) -> Any:
    """The value of a text that may be cut off.

    >>> parse_json('{"a": [1, "tex')
    {'a': [1, 'tex']}
    >>> parse_json('{"a": [1, "tex', Allow.OBJ | Allow.ARR)
    {'a': [1]}
    """
    if not isinstance(json_string, str):
        raise TypeError(f"expecting str, got {type(json_string).__name__}")
    if not json_string.strip():
        raise MalformedJSON(f"{json_string!r} is empty")
    if parser is not None:
        return parser(ensure_json(json_string, allow_partial))
    value = _allowed(json_string, Allow(allow_partial))
    if value is _MISSING:
        raise PartialJSON(f"{json_string!r} was cut off in a value that may not be shown in part")
    return value


loads = decode = parse_json


def ensure_json(json_string: str, allow_partial: Allow | int = Allow.ALL, use_fast_fix: bool = True) -> str:
    """The text as JSON.

    >>> ensure_json('{"a": [1, "tex')
    '{"a": [1, "tex"]}'
    """
    if Allow(allow_partial) == Allow.ALL:
        mended = _closed(json_string).close()
        if mended.text is None:
            raise MalformedJSON(f"{json_string!r} is no JSON")
        return mended.text
    return json.dumps(parse_json(json_string, allow_partial))


def _closed(text: str) -> Mender:
    mender = Mender()
    mender.feed(text)
    return mender


def _allowed(text: str, allow: Allow) -> Any:
    mender = _closed(text)
    completion = mender.completion or ""
    mended = mender.close()
    if mended.text is None:
        raise MalformedJSON(f"{text!r} is no JSON")
    value = mended.value
    if mended.is_complete or allow == Allow.ALL:
        return value
    # What is open is the last of what is around it.
    depth = max(len(completion) - len(completion.rstrip("]}")), isinstance(value, dict | list))
    root: list[Any] = [value]
    path: list[tuple[Any, Any]] = [(root, 0)]
    for _ in range(depth):
        around, key = path[-1]
        inner = around[key]
        if not inner:
            break
        path.append((inner, next(reversed(inner)) if isinstance(inner, dict) else len(inner) - 1))
    around, key = path[-1]
    leaf = around[key]
    if not isinstance(leaf, dict | list) and _is_part(text, leaf, completion) and not _kind(leaf) & allow:
        del around[key]
    for around, key in reversed(path[: depth if len(path) > depth else len(path)]):
        if isinstance(around[key], dict | list) and not _kind(around[key]) & allow:
            del around[key]
    return root[0] if root else _MISSING


def _is_part(text: str, leaf: Any, completion: str) -> bool:
    """Whether the last scalar of a text that was cut off may go on."""
    if isinstance(leaf, str):
        end = text.rstrip()
        slashes = len(end[:-1]) - len(end[:-1].rstrip("\\"))
        ended = len(end) > 1 and end.endswith('"') and slashes % 2 == 0
        return not ended and completion[:1] in ('"', "")
    return text[-1:].isalnum() or text[-1:] in (".", "+", "-")


def _kind(value: Any) -> Allow:
    match value:
        case dict():
            return Allow.OBJ
        case list():
            return Allow.ARR
        case str():
            return Allow.STR
        case bool():
            return Allow.BOOL
        case None:
            return Allow.NULL
        case _:
            return Allow.NUM
