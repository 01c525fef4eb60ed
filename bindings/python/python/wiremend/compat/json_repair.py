"""Takes the place of ``json_repair`` 0.64: ``from wiremend.compat import json_repair``.

The signatures and the defaults are those of that package: several documents are a list, a missing value is an empty
string, and so is a text without JSON. What differs is listed in the documentation for Python, with reasons.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

from .._native import Mended, Repair, find
from .._native import loads as _loads
from .._shapes import shape_of

JSONReturnType: TypeAlias = dict[str, Any] | list[Any] | str | float | int | bool | None
Mode: TypeAlias = Literal["standard", "salvage"]

__all__ = ["JSONReturnType", "from_file", "load", "loads", "repair_json"]


def repair_json(
    json_str: str = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Mode = "standard",
    **json_dumps_args: Any,
) -> Any:
    """The text, repaired; its value with ``return_objects``; value and a log with ``logging``.

    ``strict`` raises where a repair is more than a certain one. ``stream_stable`` keeps the white space at the end of
    strings. ``chunk_length`` and ``schema_repair_mode`` are taken, and change nothing.

    >>> repair_json("{'a': [1, 2], 'b': }")
    '{"a": [1, 2], "b": ""}'
    """
    if schema is not None and strict:
        raise ValueError("schema and strict cannot be used together.")
    if schema is None and schema_repair_mode == "salvage":
        raise ValueError("schema_repair_mode='salvage' requires schema.")
    text = json_str if json_fd is None else json_fd.read()
    value, log, found = _read(text, skip_json_loads, stream_stable, strict, schema)
    if logging:
        return value, log
    if return_objects:
        return value
    return json.dumps(value, **json_dumps_args) if found else ""


def loads(
    json_str: str,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Mode = "standard",
) -> Any:
    """The value of a text, repaired.

    >>> loads("{'a': 1,}")
    {'a': 1}
    """
    return repair_json(
        json_str,
        return_objects=True,
        skip_json_loads=skip_json_loads,
        logging=logging,
        stream_stable=stream_stable,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
    )


def load(
    fd: TextIO,
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Mode = "standard",
) -> Any:
    """The value of a file, repaired."""
    return loads(fd.read(), skip_json_loads, logging, False, strict, schema, schema_repair_mode)


def from_file(
    filename: str | Path,
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Mode = "standard",
) -> Any:
    """The value of a file with that name, repaired."""
    with Path(filename).open() as file:
        return load(file, skip_json_loads, logging, chunk_length, strict, schema, schema_repair_mode)


def _read(
    text: str, skip_json_loads: bool, stream_stable: bool, strict: bool, schema: Any
) -> tuple[Any, list[dict[str, str]], bool]:
    """The value, what was done, and whether there is one."""
    if schema is not None:
        shape = shape_of(schema)
        fitted = shape.schema.fit(text)
        if fitted.text is None:
            assert fitted.error is not None
            raise fitted.error
        return fitted.value, [_entry(text, change) for change in fitted.changes], True
    if not skip_json_loads:
        try:
            return json.loads(text), [], True
        except ValueError:
            pass
    mended = find(text)
    if mended.text is None or not mended.text.lstrip().startswith(("{", "[")):
        return "", [], False
    if strict and (mended.risk not in (None, "exact") or not mended.is_complete):
        raise ValueError(f"it needs repairs that may be wrong: {', '.join({r.kind for r in mended.repairs})}")
    log = [_entry(text, repair) for repair in mended.repairs]
    value = _loads(_in_their_words(text, mended))
    return (value if stream_stable else _stripped(value)), log, True


def _entry(text: str, repair: Any) -> dict[str, str]:
    context = text[max(0, repair.start - 10) : repair.end + 10]
    return {"text": f"{repair.kind} at {repair.path}: {repair.before!r} became {repair.after!r}", "context": context}


def _in_their_words(text: str, mended: Mended) -> str:
    """The mended text, with what json_repair puts where a value is missing or is no word of JSON."""

    def after(repair: Repair) -> str:
        if repair.kind == "missing-value":
            return repair.after.replace("null", '""')
        if repair.kind in ("non-finite", "undefined"):
            return json.dumps(repair.before)
        return repair.after

    pieces, at = [], 0
    for repair in mended.repairs:
        pieces += [text[at : repair.start], after(repair)]
        at = repair.end
    return "".join([*pieces, text[at:]])


def _stripped(value: Any) -> Any:
    """Without white space at the end of strings that end with a line."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        around = todo.pop()
        for key, item in list(around.items() if isinstance(around, dict) else enumerate(around)):
            if isinstance(item, str) and item.endswith("\n"):
                around[key] = item.rstrip()
            elif isinstance(item, dict | list):
                todo.append(item)
    return root[0]
