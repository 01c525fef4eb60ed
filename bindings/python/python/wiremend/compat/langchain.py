"""Takes the place of two functions of ``langchain_core.utils.json``.

``parse_partial_json`` closes what was cut off and mends what is broken; ``parse_json_markdown`` looks for the JSON in a
text. Both raise `json.JSONDecodeError` where there is none, as the originals do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .._native import Mended, find, mend

__all__ = ["parse_json_markdown", "parse_partial_json"]


def parse_partial_json(s: str, *, strict: bool = False) -> Any:
    """The value of a text that may be cut off. With ``strict``, control characters in strings are refused.

    >>> parse_partial_json('{"a": [1, {"b": "c')
    {'a': [1, {'b': 'c'}]}
    """
    return _value(s, mend(s, without=["unescaped-control"] if strict else None))


def parse_json_markdown(json_string: str, *, parser: Callable[[str], Any] | None = None) -> Any:
    """The value of the JSON in a text, such as one with a code fence.

    >>> parse_json_markdown('Here: ```json\\n{"a": 1}\\n```')
    {'a': 1}
    """
    mended = find(json_string)
    return _value(json_string, mended) if parser is None else parser(mended.text or json_string)


def _value(text: str, mended: Mended) -> Any:
    if mended.text is None:
        raise json.JSONDecodeError(str(mended.error), text, 0)
    return mended.value
